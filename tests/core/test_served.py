"""What a served house keeps: plain values that never change, and whose text no repr shows."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import pytest

from charter.core.served import Peer, Run, Schedule, Token

pytestmark = pytest.mark.requirement("S1-07", "S4-10")

THINGS = (
    Token("k1", "operator", "olga"),
    Schedule("s1", "ada", "0 7 * * *", "UTC", "the canary sings"),
    Run("s1", 5, "begun"),
    Peer("ada", "telegram", "77", "mira"),
)


@pytest.mark.parametrize("thing", THINGS, ids=lambda thing: type(thing).__name__)
def test_a_record_of_the_house_is_a_value(thing: object) -> None:
    assert "canary" not in repr(thing)
    assert not hasattr(thing, "__dict__")
    for field in fields(thing):  # type: ignore[arg-type]
        with pytest.raises(FrozenInstanceError):
            setattr(thing, field.name, "another")


def test_what_nobody_says_of_a_token_or_a_schedule_gives_no_more_than_it_must() -> None:
    token, schedule = THINGS[0], THINGS[1]
    assert (token.agent, token.channel, token.by, token.expires_at_ns, token.revoked_at_ns) == ("", "", "", 0, 0)
    assert (schedule.channel, schedule.recipient, schedule.user, schedule.catch_up) == ("scheduled", "", "", "one")
