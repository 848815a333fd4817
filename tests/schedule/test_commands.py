"""charter schedule: what a person types, and what they read."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from charter import app, choice, home
from charter.commands import schedule
from charter.core.errors import BadValue, NotStored, ProviderDown, RequestError
from charter.core.policy import Actor
from charter.core.records import Author
from charter.testing import ScriptedProvider

pytestmark = pytest.mark.requirement("S4-10")

WEEKDAYS = "0 9 * * 1-5"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(home.HOME_VARIABLE, str(tmp_path / "home"))
    monkeypatch.setattr(app, "now_ns", lambda: 1_794_830_400 * 10**9)  # Monday 2026-11-16, noon in UTC


def typed(*words: str, said: str = "", code: int = 0) -> str:
    """What a command prints; its exit code is as expected, and an error is raised as it is."""
    done = CliRunner().invoke(schedule.app, list(words), input=said)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == code, done.output
    return done.output


def added(*words: str, cron: str = WEEKDAYS) -> str:
    """The id of a schedule that was added so."""
    found = re.match(
        r"added (s[0-9a-f]{8}): next ", typed("add", "assistant", cron, "--text", "Read the news.", *words)
    )
    assert found is not None
    return found[1]


def speaking(monkeypatch: pytest.MonkeyPatch, *script: Any) -> None:
    monkeypatch.setattr(choice, "choose", lambda named: named)
    monkeypatch.setattr(choice, "open_chosen", lambda chosen: ScriptedProvider(script))


def test_who_adds_a_schedule_is_told_when_it_comes_next_by_its_own_clock() -> None:
    told = typed("add", "assistant", WEEKDAYS, "--timezone", "Europe/Lisbon", "--text", "Read the news.")
    assert re.fullmatch(r"added s[0-9a-f]{8}: next Tue 2026-11-17 09:00:00 \(Europe/Lisbon\)\n", told)


def test_the_list_says_when_how_and_to_whom() -> None:
    assert typed("list").startswith("no schedules; add one: charter schedule add")
    name = added("--user", "ana", "--to", "ana", "--channel", "web", "--catch-up", "all")
    assert typed("list") == (
        f"{name}  assistant  0 9 * * 1-5  (UTC)\n"
        "  next  Tue 2026-11-17 09:00:00 (UTC)\n"
        "  last  not yet\n"
        f"  for ana  to ana on web  catch-up all  by {app.operator().mark}\n"
        "  Read the news.\n"
    )


def test_a_list_for_programs_has_everything() -> None:
    name = added("--user", "ana")
    (told,) = json.loads(typed("list", "--json"))
    assert told == {
        "id": name, "agent": "assistant", "cron": WEEKDAYS, "timezone": "UTC", "text": "Read the news.",
        "channel": "scheduled", "to": "ana", "user": "ana", "catch_up": "one", "by": app.operator().mark,
        "added": "2026-11-16 12:00:00 UTC", "next_ns": 1_794_906_000 * 10**9,
        "next": "Tue 2026-11-17 09:00:00 (UTC)", "last": None,
    }  # fmt: skip


def test_a_user_s_own_time_zone_is_taken_when_none_is_named() -> None:
    with app.open_store() as store:
        store.set_timezone("ana", "Asia/Tokyo")
    added("--user", "ana")
    assert "(Asia/Tokyo)" in typed("list")


def test_a_text_can_come_from_a_pipe() -> None:
    typed("add", "assistant", WEEKDAYS, "--text", "-", said="Line one.\nLine two.\n")
    assert json.loads(typed("list", "--json"))[0]["text"] == "Line one.\nLine two.\n"


@pytest.mark.parametrize(
    ("words", "error", "says"),
    [
        (("assistent", WEEKDAYS), RequestError, "unknown agent 'assistent'; known: sovereign, contract"),
        (("assistant", "9am"), BadValue, "cron: not a rule; five fields, minute hour day month weekday"),
        (("assistant", WEEKDAYS, "--timezone", "Lisbon"), BadValue, "use a name such as Europe/Berlin"),
        (("assistant", WEEKDAYS, "--channel", "telegram"), BadValue, "who is written to on telegram?"),
    ],
)
def test_what_is_wrong_is_refused_with_what_is_right(words: tuple[str, ...], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=re.escape(says)) as raised:
        typed("add", *words, "--text", "canary")
    assert "canary" not in str(raised.value)
    assert json.loads(typed("list", "--json")) == []


def test_who_is_written_to_on_a_channel_of_users_is_the_user_it_is_for() -> None:
    added("--to", "ana", "--channel", "web")
    added("--to", "0x" + "a" * 40, "--channel", "inbox")
    assert {one["channel"]: one["user"] for one in json.loads(typed("list", "--json"))} == {"web": "ana", "inbox": ""}


def test_somebody_who_is_not_paired_is_named_at_once() -> None:
    told = typed("add", "assistant", WEEKDAYS, "--text", "x", "--channel", "telegram", "--user", "ana")
    assert "note: ana is not paired; run: charter telegram pair --user ana" in told
    with app.open_store() as store:
        by = Author(Actor.OPERATOR, "mo")
        store.add_pairing(
            "b" * 64, agent="assistant", channel="telegram", user="ana", by=by, at_ns=1, expires_at_ns=9
        )  # fmt: skip
        store.pair("assistant", "telegram", "4711", "b" * 64, at_ns=2)
    told = typed("add", "assistant", WEEKDAYS, "--text", "x", "--channel", "telegram", "--user", "ana")
    assert "note" not in told


def test_a_schedule_is_removed_by_how_its_id_begins() -> None:
    name = added()
    assert typed("remove", name[:5]) == f"removed {name}\n"
    with pytest.raises(NotStored, match="see: charter schedule list"):
        typed("remove", name)
    added(), added()
    with pytest.raises(BadValue, match="2 schedules begin so"):
        typed("remove", "s")


def test_a_run_by_hand_prints_what_is_said_and_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    name = added()
    assert typed("runs", name) == f"{name} has not run yet: next Tue 2026-11-17 09:00:00 (UTC)\n"
    speaking(monkeypatch, "Here is the news.")
    assert typed("run", name) == "Here is the news.\n"
    assert re.fullmatch(r"Mon 2026-11-16 12:00:00 \(UTC\)  done    OK  [0-9a-f]+\n", typed("runs", name))
    assert "last  Mon 2026-11-16 12:00:00 (UTC)  done    OK" in typed("list")
    (told,) = json.loads(typed("runs", name, "--json"))
    assert (told["state"], told["code"], told["tick_ns"]) == ("done", "OK", app.now_ns())


def test_a_run_by_hand_that_fails_says_its_code_and_ends_so(monkeypatch: pytest.MonkeyPatch) -> None:
    name = added()
    speaking(monkeypatch, ProviderDown("stub", "out of reach"))
    assert typed("run", name, code=1) == "failed  PROVIDER_DOWN\n"
    assert "failed  PROVIDER_DOWN" in typed("runs", name)


@pytest.mark.requirement("N-17")
def test_a_worker_works_until_it_is_told_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    added()
    speaking(monkeypatch)
    monkeypatch.setattr(schedule, "_wait", lambda: None)
    told = typed("work")
    assert told.startswith("working: 1 schedule of sovereign, contract, workspace, gateway, assistant;")
    assert told.endswith("stopping\n")


def test_nothing_heavy_is_loaded_before_it_is_needed() -> None:
    look = "import sys, charter.commands.schedule; print({'dbos', 'croniter', 'sqlalchemy'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", look], capture_output=True, text=True).stdout == "set()\n"
