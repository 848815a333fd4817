"""A house takes turns for many at once: in line for one sender, side by side for others, and its lanes stay its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from charter.core.errors import Answered, Busy, ConfigError, ProviderDown, UnknownAgent
from charter.core.incoming import Incoming
from charter.core.ports import Request
from charter.core.records import InboxMessage
from charter.folder import BUILT_IN
from charter.house import House, open_house, wanted
from charter.providers.absent import Absent
from charter.stores.memory import MemoryStore
from charter.testing import ScriptedProvider
from turn.places import agent_of, said, scripted


@contextmanager
def housed(provider: ScriptedProvider, **more: Any) -> Iterator[House]:
    house = House(MemoryStore(), {}, **more)
    agent = agent_of("assistant", provider, store=house.store)
    house.close()
    house = House(house.store, {"assistant": agent}, **more)
    try:
        yield house
    finally:
        house.close()


def message(text: str, sender: str = "ana", **more: Any) -> Incoming:
    return Incoming(channel="web", sender=sender, user=sender, text=text, **more)


class Held:
    """A line of a script that is said when the test lets it."""

    def __init__(self, text: str) -> None:
        self.text, self.begun, self.go = text, threading.Event(), threading.Event()

    def __call__(self, _: Request) -> Any:
        self.begun.set()
        assert self.go.wait(30)
        return said(self.text)


def test_an_agent_that_is_not_served_is_an_error_that_lists_those_that_are() -> None:
    with housed(scripted()) as house, pytest.raises(UnknownAgent, match="known: assistant"):
        house.ask("nobody", message("hello"))


@pytest.mark.requirement("S0-15", "N-17")
def test_the_second_message_of_a_sender_waits_and_is_answered_after_the_first() -> None:
    first = Held("One.")
    with housed(scripted(first, said("Two."))) as house:
        replies: list[str] = []
        one = threading.Thread(target=lambda: replies.append(house.ask("assistant", message("1", id="a")).reply))
        one.start()
        assert first.begun.wait(30)
        two = threading.Thread(target=lambda: replies.append(house.ask("assistant", message("2", id="b")).reply))
        two.start()
        while not house.store.staged("assistant"):  # the second one waits in the inbox
            pass
        first.go.set()
        one.join()
        two.join()
        assert replies == ["One.", "Two."]
        assert [turn.outcome for turn in house.store.turns("assistant")] == ["done", "done"]
        assert house.under_way == 0


@pytest.mark.requirement("S0-15")
def test_another_sender_is_answered_while_one_is_being_answered() -> None:
    first = Held("To Ana.")
    with housed(scripted(first, said("To Ben."))) as house:
        ana = threading.Thread(target=lambda: house.ask("assistant", message("1")))
        ana.start()
        assert first.begun.wait(30)
        assert house.ask("assistant", message("2", "ben")).reply == "To Ben."
        first.go.set()
        ana.join()


def test_who_is_not_patient_is_told_that_another_turn_is_under_way() -> None:
    first = Held("One.")
    with housed(scripted(first)) as house:
        ana = threading.Thread(target=lambda: house.ask("assistant", message("1")))
        ana.start()
        assert first.begun.wait(30)
        with pytest.raises(Busy, match="longer than 0 s"):
            house.ask("assistant", message("2", id="b"), patience_s=0)
        first.go.set()
        ana.join()
        assert [one.id for one in house.store.staged("assistant")] == ["b"]  # nothing is lost


@pytest.mark.requirement("N-17")
def test_a_message_that_a_turn_elsewhere_answered_is_answered_once_and_its_reply_can_be_had() -> None:
    first = Held("One.")
    with housed(scripted(first, said("Both."))) as house:
        ana = threading.Thread(target=lambda: house.ask("assistant", message("1", id="a")))
        ana.start()
        assert first.begun.wait(30)
        house.store.stage("assistant", InboxMessage("b", "ana", "2", 1, "web", "ana"))
        problems: list[BaseException] = []

        def ask(name: str) -> None:
            try:
                house.ask("assistant", message("3", id=name))
            except Answered as error:
                problems.append(error)

        late = [threading.Thread(target=ask, args=(name,)) for name in ("c", "d")]
        for one in late:
            one.start()
        while len(house.store.staged("assistant")) < 3:
            pass
        first.go.set()
        for one in (ana, *late):
            one.join()
        assert len(problems) == 1  # one of the two took the turn, with all that waited
        assert [house.given("assistant", name) for name in "abcd"] == [("One.",), ("Both.",), ("Both.",), ("Both.",)]
        assert house.given("assistant", "e") is None


@pytest.mark.requirement("S0-15", "N-17")
def test_a_turn_that_takes_longer_than_its_lease_keeps_its_lane() -> None:
    slow = Held("At last.")
    with housed(scripted(slow), lease_ns=30_000_000) as house:
        ana = threading.Thread(target=lambda: house.ask("assistant", message("1")))
        ana.start()
        assert slow.begun.wait(30)
        until = _until(house)
        while _until(house) < until + 300_000_000:  # ten leases long
            pass
        slow.go.set()
        ana.join()
        assert [turn.outcome for turn in house.store.turns("assistant")] == ["done"]


def test_a_turn_nobody_keeps_alive_loses_its_lane_leaves_nothing_and_is_taken_again() -> None:
    """The twin of the test before: without the house's hold the lane lapses, and what was said then is not kept."""
    slow = Held("Too late.")
    with housed(scripted(slow, said("Again.")), lease_ns=30_000_000) as house:
        house._leases.close()
        replies: list[str] = []
        ana = threading.Thread(target=lambda: replies.append(house.ask("assistant", message("1", id="a")).reply))
        ana.start()
        assert slow.begun.wait(30)
        assert house.store.lapse("assistant", _until(house)) == 1
        assert [one.id for one in house.store.staged("assistant")] == ["a"]
        slow.go.set()
        ana.join()
        assert replies == ["Again."]
        assert [turn.outcome for turn in house.store.turns("assistant")] == ["done"]
        assert [one.body for _, one in house.store.replies("assistant", "ana")] == ["Again."]


def _until(house: House) -> int:
    rows = house.store.db.read("SELECT until_ns FROM turn_leases")
    return int(rows[0][0]) if rows else 0


# ── opening ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("S4-11")
def test_all_five_charters_are_served_by_one_house_and_each_answers_as_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHARTER_HOME", str(tmp_path))
    provider = scripted(*(said(f"I am {name}.") for name in BUILT_IN))
    with open_house(provider=provider) as house:
        assert tuple(house.agents) == BUILT_IN
        for name in BUILT_IN:
            assert house.ask(name, message("Who are you?")).reply == f"I am {name}."
            (record,) = house.store.turns(name)
            assert (record.agent, record.charter) == (name, name)


def test_the_agents_of_config_toml_are_served_under_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHARTER_HOME", str(tmp_path))
    (tmp_path / "config.toml").write_text('[agents.ada]\ncharter = "assistant"\n[agents.bob]\ncharter = "contract"\n')
    assert {name: row.charter for name, row in wanted().items()} == {"ada": "assistant", "bob": "contract"}
    assert list(wanted(("assistant",))) == ["assistant"]
    (tmp_path / "config.toml").write_text('[agents.ada]\nworkspace = "x"\n')
    with pytest.raises(ConfigError, match=r"config\.toml:1: .*charter"):
        wanted()


def test_a_house_without_a_model_opens_and_says_what_to_do_on_the_first_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHARTER_HOME", str(tmp_path))
    monkeypatch.setenv("CHARTER_MODEL_DIR", str(tmp_path / "none"))
    missing = ProviderDown("embedded", "its weights are not here", "run: charter model fetch")
    with open_house(provider=Absent(missing), charters=("assistant",)) as house:
        with pytest.raises(ProviderDown, match="charter model fetch"):
            house.ask("assistant", message("hello", id="a"))
        assert [one.id for one in house.store.staged("assistant")] == ["a"]
