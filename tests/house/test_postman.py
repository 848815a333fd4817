"""The postman answers what waits and nobody answers, leaves alone what is somebody's, and rests after a failure."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from charter.channels.inbox import FIRST_REST, GRACE_NS, HANDS, LOOK_SECONDS, Postman
from charter.core.errors import ProviderDown
from charter.core.records import InboxMessage
from charter.house import House
from charter.stores.memory import MemoryStore
from turn.places import agent_of, said, scripted

NOW = 1_772_116_200 * 10**9


class Round:
    """A postman who goes when the test says so, and a clock that stands."""

    def __init__(self, *script: Any) -> None:
        store = MemoryStore()
        self.now = NOW
        self.house = House(store, {"assistant": agent_of("assistant", scripted(*script), store=store)})
        self.postman = Postman(self.house, clock=lambda: self.now)
        self.store = store

    def stage(self, name: str, sender: str = "ana", channel: str = "inbox", at_ns: int = NOW) -> None:
        self.store.stage("assistant", InboxMessage(name, sender, f"Text of {name}", at_ns, channel, sender))

    def go(self) -> list[str]:
        """One round; who was answered."""
        due = self.postman.due()
        for name, sender in due:
            self.postman.answer(name, sender)
        return [sender for _, sender in due]


@contextmanager
def a_round(*script: Any) -> Iterator[Round]:
    made = Round(*script)
    try:
        yield made
    finally:
        made.postman.close()
        made.house.close()


@pytest.mark.requirement("S0-15", "N-17")
def test_everybody_who_waits_is_answered_once() -> None:
    with a_round(said("To Ana."), said("To Ben.")) as made:
        made.stage("a")
        made.stage("b", "ben")
        made.stage("c")
        assert made.go() == ["ana", "ben"]
        assert made.go() == []
        assert [one.body for _, one in made.store.replies("assistant", "ana")] == ["To Ana."]
        assert made.house.given("assistant", "c") == ("To Ana.",)


def test_who_waits_for_an_answer_at_a_page_has_a_moment_to_take_the_turn_themselves() -> None:
    with a_round(said("Late.")) as made:
        made.stage("a", channel="web")
        assert made.go() == []
        made.now += GRACE_NS
        assert made.go() == ["ana"]


@pytest.mark.requirement("N-20")
def test_what_is_read_at_a_page_does_not_wait_to_be_sent_and_what_is_fetched_does() -> None:
    """A reply that nobody ever says was sent is kept for ever: what is pruned is what was sent."""
    with a_round(said("At the page."), said("To be fetched.")) as made:
        made.stage("a", channel="web", at_ns=NOW - GRACE_NS)
        made.stage("b", "ben")
        assert made.go() == ["ana", "ben"]
        assert [(reply.recipient, reply.body) for _, reply in made.store.unsent("assistant")] == [
            ("ben", "To be fetched.")
        ]


def test_a_message_of_a_terminal_is_left_to_who_sits_there() -> None:
    with a_round() as made:
        made.stage("a", channel="terminal", at_ns=NOW - 10 * GRACE_NS)
        assert made.go() == []


@pytest.mark.requirement("N-17")
def test_what_a_process_that_died_had_taken_is_answered_when_its_lease_is_over() -> None:
    with a_round(said("By another.")) as made:
        message = InboxMessage("a", "ana", "Hello", NOW, "inbox", "ana")
        made.store.take("assistant", "dead", lane="ana", message=message, at_ns=NOW, lease_ns=10**9)
        assert made.go() == []
        made.now += 10**9
        assert made.go() == ["ana"]
        assert made.house.given("assistant", "a") == ("By another.",)


def test_a_lane_that_fails_rests_longer_each_time_and_holds_up_nobody_else() -> None:
    down = ProviderDown("scripted", "out of reach")
    with a_round(down, said("To Ben."), down, said("At last.")) as made:
        made.stage("a")
        made.stage("b", "ben")
        assert made.go() == ["ana", "ben"]
        assert made.go() == []
        made.now += int(FIRST_REST * 10**9)
        assert made.go() == ["ana"]
        made.now += int(FIRST_REST * 10**9)
        assert made.go() == []  # twice as long now
        made.now += int(FIRST_REST * 10**9)
        assert made.go() == ["ana"]
        assert made.house.given("assistant", "a") == ("At last.",)


@pytest.mark.requirement("S0-15", "N-17")
def test_very_many_messages_that_cannot_be_answered_hide_nobody_who_waits_behind_them() -> None:
    """Anyone may leave messages that fail, or a terminal was left with some: more than one looks at, and all older."""
    down = ProviderDown("scripted", "out of reach")
    with a_round(down, said("To Ben.")) as made:
        for number in range(150):
            made.stage(f"a{number}")
            made.stage(f"t{number}", "olga", channel="terminal")
        made.stage("b", "ben")
        assert made.go() == ["ana", "ben"]
        assert made.house.given("assistant", "b") == ("To Ben.",)


@pytest.mark.requirement("N-17")
def test_no_more_lanes_are_taken_than_there_are_hands_and_the_oldest_first_whoever_they_wait_for() -> None:
    """A lane kept for later would be an empty turn by then, where another worker answered it."""
    with a_round(*(said(f"Reply {number}.") for number in range(6))) as made:
        for number in range(6):
            made.stage(f"m{number}", f"s{5 - number}", at_ns=NOW - number)
        first = made.postman.due()
        assert first == [("assistant", f"s{number}") for number in range(HANDS)]
        assert made.postman.due() == []
        made.postman.answer(*first[0])
        assert made.postman.due() == [("assistant", "s4")]


def test_a_lane_that_another_worker_has_rests_until_one_looks_again() -> None:
    with a_round(said("At last.")) as made:
        made.store.take("assistant", "theirs", lane="ana", at_ns=NOW, lease_ns=10**18)
        made.stage("a")
        assert made.go() == ["ana"]
        assert made.go() == []
        made.now += int((LOOK_SECONDS + 1) * 10**9)
        assert made.go() == ["ana"]
        assert made.house.given("assistant", "a") is None


def test_a_postman_who_goes_by_himself_stops_when_he_is_told() -> None:
    with a_round(said("Hello.")) as made:
        made.stage("a")
        made.postman.start()
        made.postman.wake()
        while made.house.given("assistant", "a") is None:
            pass
    assert not made.postman._thread.is_alive()
