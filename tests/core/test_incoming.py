"""What a channel hands in is checked at the door: times, senders, ids."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter.core.carried import Carried
from charter.core.errors import BadValue
from charter.core.incoming import Incoming, moment, nanoseconds, sender_key

NOON = datetime(2026, 2, 26, 12, 30, tzinfo=UTC)
EAST = timezone(timedelta(hours=2))
ADDRESS = "0x" + "aBcD" * 10


@pytest.mark.requirement("S0-04")
@pytest.mark.parametrize(
    ("given_as", "time"),
    [
        (NOON, NOON),
        (NOON.astimezone(EAST), NOON),
        (NOON.replace(tzinfo=None), NOON),
        ("2026-02-26T12:30:00+00:00", NOON),
        ("2026-02-26T14:30:00+02:00", NOON),
        ("2026-02-26T12:30:00Z", NOON),
        ("2026-02-26T12:30", NOON),
        ("2026-02-26 12:30", NOON),
        ("2026-02-26", NOON.replace(hour=0, minute=0)),
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        (1772109000, NOON),
        (0.5, datetime(1970, 1, 1, 0, 0, 0, 500_000, tzinfo=UTC)),
        (-1, datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_a_time_is_taken_as_a_datetime_iso_text_or_seconds(given_as: Any, time: datetime) -> None:
    found = Incoming(at=given_as).time
    assert found == time
    assert found.tzinfo is not None


def test_a_time_keeps_the_zone_it_came_with() -> None:
    assert Incoming(at="2026-02-26T14:30:00+02:00").time.utcoffset() == timedelta(hours=2)
    assert Incoming(at=NOON.astimezone(EAST)).at.tzinfo is EAST


@given(st.datetimes(timezones=st.just(UTC) | st.just(EAST)))
def test_iso_text_gives_the_very_moment_it_names(time: datetime) -> None:
    assert moment(time.isoformat()) == moment(time) == time


@pytest.mark.parametrize("given_as", ["", "soon", "2026-13-01", "12:30", float("nan"), float("inf"), 10**20, -(10**20)])
def test_what_is_not_a_time_is_refused_with_an_example(given_as: Any) -> None:
    with pytest.raises(BadValue) as caught:
        Incoming(at=given_as)
    assert str(caught.value) == "at: not a time; use ISO-8601 such as 2026-02-26T14:30:00+00:00"
    assert caught.value.field == "at"


@pytest.mark.parametrize(
    ("given_as", "kind"),
    [(date(2026, 2, 26), "date"), ([2026], "list"), (b"2026-02-26", "bytes"), (object(), "object")],
)
def test_what_cannot_be_a_time_is_refused_by_its_type(given_as: Any, kind: str) -> None:
    with pytest.raises(BadValue, match=f"^at: a {kind} is not a time; use a datetime or ISO-8601 text$"):
        Incoming(at=given_as)


def test_a_message_without_a_time_has_none_and_says_so_when_asked() -> None:
    assert Incoming().at is None
    assert moment(None) is None
    with pytest.raises(BadValue, match=r"^at: the message has no time; give Incoming\(at=…\)$"):
        _ = Incoming().time


@pytest.mark.requirement("S0-12")
@pytest.mark.parametrize(
    ("sender", "key"),
    [
        ("", ""),
        ("   ", ""),
        (" zoe ", "zoe"),
        ("Zoë", "Zoë"),
        ("a@b.co", "a@b.co"),
        (ADDRESS, ADDRESS.lower()),
        (f"\t{ADDRESS.upper()}\n", ADDRESS.lower()),
        ("0x", "0x"),
        ("0xyz", "0xyz"),
        ("10x" + "a" * 40, "10x" + "a" * 40),
    ],
)
def test_a_sender_is_known_by_one_key(sender: str, key: str) -> None:
    assert sender_key(sender) == key
    assert Incoming(sender=sender).sender == key


@pytest.mark.requirement("S0-12")
@pytest.mark.parametrize("digits", [1, 39, 41, 64])
def test_an_address_of_another_length_is_refused_by_its_length_alone(digits: int) -> None:
    with pytest.raises(BadValue) as caught:
        Incoming(sender="0x" + "c" * digits)
    assert str(caught.value) == f"sender: an Ethereum address is 0x and 40 hex digits; this one has {digits}"


@pytest.mark.requirement("S0-12")
@given(st.text())
def test_a_key_is_its_own_key(sender: str) -> None:
    try:
        key = sender_key(sender)
    except BadValue:
        assert sender.strip()[:2].lower() == "0x"
        return
    assert sender_key(key) == key == key.strip()


@pytest.mark.requirement("S2-08")
@pytest.mark.parametrize("field", ["agent", "tool_policy", "task"])
@pytest.mark.parametrize(
    "value", ["../x", "a/b", "a\\b", ".hidden", "a b", "a\n", "é", "-a", "x" * 129, "{agent}", "a\x00", " "]
)
def test_an_id_that_could_be_a_path_or_a_pattern_is_refused_without_showing_it(field: str, value: str) -> None:
    with pytest.raises(BadValue) as caught:
        Incoming(**{field: value})  # type: ignore[arg-type]
    assert str(caught.value) == (
        f"{field}: an id is 1 to 128 letters, digits and _ . @ : - and starts with a letter or digit"
    )


@pytest.mark.parametrize("field", ["agent", "tool_policy", "task"])
@pytest.mark.parametrize("value", ["", "a", "Agent-7_x.y@z:1", "0", "x" * 128])
def test_a_plain_id_or_none_is_taken(field: str, value: str) -> None:
    assert getattr(Incoming(**{field: value}), field) == value  # type: ignore[arg-type]


@pytest.mark.requirement("S4-07")
def test_the_owner_of_a_message_is_its_user_else_its_sender() -> None:
    assert Incoming(user="u1", sender="zoe").owner == "u1"
    assert Incoming(sender=f" {ADDRESS} ").owner == ADDRESS.lower()
    assert Incoming().owner == ""


def test_nanoseconds_are_exact_to_the_microsecond() -> None:
    at = datetime(2026, 2, 26, 14, 30, 0, 123_457, tzinfo=UTC)
    assert nanoseconds(at) == 1_772_116_200_123_457_000
    assert nanoseconds(at.astimezone(timezone(timedelta(hours=5)))) == nanoseconds(at)


def test_a_message_that_was_heard_is_the_same_in_everything_else() -> None:
    given: dict[str, Any] = {field.name: f"a {field.name}" for field in fields(Incoming)}
    given |= {"agent": "ada", "tool_policy": "some", "task": "one"}
    said = Incoming(**{**given, "at": NOON, "facts": {"a": "b"}, "operator": True, "carried": Carried("be brief")})
    heard = said.heard(NOON.astimezone(EAST), "bob", "m-7b", f" {ADDRESS} ")
    assert heard == replace(said, at=NOON.astimezone(EAST), agent="bob", model="m-7b", sender=ADDRESS)
    assert heard.sender == ADDRESS.lower()
