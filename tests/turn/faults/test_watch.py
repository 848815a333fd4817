"""Who looks on can end a turn, by stopping it or by breaking; once it is written, nobody can."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from charter.core.dialogue import Reply, ToolCall
from charter.core.errors import Cancelled, ProviderDown
from charter.core.policy import Verdict
from charter.core.state import State
from charter.testing import CutOff
from charter.turn import take_turn

from ..places import Looking, said
from .rooms import (
    CANARY,
    KINDS,
    agent_in,
    answered_whole,
    asked,
    bodies,
    busy_step,
    codes,
    failed_alone,
    left,
    opened,
    tools_of,
)

pytestmark = pytest.mark.requirement("S0-13", "S0-15")


class Breaking(Looking):
    """Somebody whose program breaks when this is shown."""

    def __init__(self, at: str) -> None:
        super().__init__()
        self.at = at
        self.seen: list[str] = []

    def _look(self, what: str) -> None:
        self.seen.append(what)
        if what == self.at:
            raise OSError(f"{CANARY}: nobody reads any more")

    def moved(self, state: State) -> None:
        self._look(state)

    def text(self, part: str) -> None:
        self._look("text")

    def called(self, call: ToolCall, verdict: Verdict) -> None:
        self._look("called")

    def answered(self, call: ToolCall, text: str) -> None:
        self._look("answered")

    def stopped(self) -> bool:
        self._look("stopped")
        return False


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "at", ["LoadingContext", "Inferring", "stopped", "text", "ExecutingActions", "called", "answered", "Persisting"]
)
def test_a_watch_that_breaks_fails_the_turn_and_its_own_error_comes_out(at: str, kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as store:
        agent = agent_in(store, busy_step(), said("never"), said("Here I am."))
        before, watch = left(store, agent.name), Breaking(at)
        with pytest.raises(OSError, match="nobody reads any more"):
            take_turn(agent, asked(1), watch)
        assert watch.seen[-1] == "Faulted"
        failed_alone(agent, before, "INTERNAL_ERROR", waiting=[f"{CANARY} asks 1"])
        take_turn(agent, asked(2))
        assert bodies(agent) == []


@pytest.mark.parametrize("kind", KINDS)
def test_once_a_turn_is_written_neither_watch_nor_log_make_it_fail(kind: str, tmp_path: Path) -> None:
    def no_log(event: str, fields: Any) -> None:
        raise OSError(CANARY)

    with opened(kind, tmp_path) as store:
        agent = agent_in(store, busy_step(""), said("Done."), said("Again."), note=no_log)
        assert take_turn(agent, asked(1), Breaking("Sleeping")).reply == "Done."
        assert take_turn(agent, asked(2)).reply == "Again."
        assert codes(agent) == [("done", "OK")] * 2
        assert [reply.body for _, reply in store.unsent(agent.name)] == ["Done.", "Again."]


@pytest.mark.parametrize("breaks", ["watch", "log"])
def test_what_breaks_while_a_turn_fails_does_not_hide_why_it_failed(breaks: str, tmp_path: Path) -> None:
    def no_log(event: str, fields: Any) -> None:
        if breaks == "log":
            raise OSError(CANARY)

    with opened("memory", tmp_path) as store:
        agent = agent_in(store, ProviderDown("scripted", "gone"), note=no_log)
        with pytest.raises(ProviderDown):
            take_turn(agent, asked(1), Breaking("Faulted" if breaks == "watch" else ""))
        assert codes(agent) == [("failed", "PROVIDER_DOWN")]
        assert bodies(agent) == [f"{CANARY} asks 1"]


# ── stopping ──────────────────────────────────────────────────────────────────────────────────────────────────────


class Stopping(Looking):
    """Somebody who has heard enough after so many words."""

    def __init__(self, words: int) -> None:
        super().__init__()
        self.words = words

    def stopped(self) -> bool:
        return len(self.parts) >= self.words


@pytest.mark.parametrize("kind", KINDS)
def test_a_turn_that_is_stopped_in_the_middle_of_its_words_says_no_more_and_leaves_its_message(
    kind: str, tmp_path: Path
) -> None:
    with opened(kind, tmp_path) as store:
        agent = agent_in(store, busy_step(""), said("one two three four"), said("Here I am."))
        before, watch = left(store, agent.name), Stopping(2)
        with pytest.raises(Cancelled, match="the turn was cancelled; its message waits"):
            take_turn(agent, asked(1), watch)
        assert watch.parts == ["one ", "two "]
        failed_alone(agent, before, "TURN_CANCELLED", waiting=[f"{CANARY} asks 1"])
        take_turn(agent, asked(2))
        answered_whole(agent, [f"{CANARY} asks 1", f"{CANARY} asks 2"])


def test_a_turn_that_is_stopped_makes_no_further_call(tmp_path: Path) -> None:
    ran: list[int] = []

    class Once(Looking):
        def stopped(self) -> bool:
            return bool(ran)

    calls = [ToolCall(f"c{number}", "count", f'{{"at": {number}}}') for number in range(3)]
    with opened("memory", tmp_path) as store:
        agent = agent_in(store, said("", *calls), tools=tools_of(count=lambda _: ran.append(1)))
        with pytest.raises(Cancelled):
            take_turn(agent, asked(1), Once())
        assert ran == [1]


def test_a_turn_that_waits_for_a_tool_that_hangs_can_be_stopped(tmp_path: Path) -> None:
    begun, over = threading.Event(), threading.Event()

    class Impatient(Looking):
        def stopped(self) -> bool:
            return begun.is_set()

    def hang(_: Any) -> str:
        begun.set()
        over.wait()
        return "late"

    with opened("memory", tmp_path) as store:
        agent = agent_in(store, said("", ToolCall("c1", "hang", "{}")), tools=tools_of(hang=hang))
        with pytest.raises(Cancelled):
            take_turn(agent, asked(1), Impatient())
        over.set()
        assert codes(agent) == [("failed", "TURN_CANCELLED")]


def test_a_stop_in_the_middle_of_half_an_answer_is_a_stop(tmp_path: Path) -> None:
    half: Any = CutOff(("one ", "two ", "three "), ProviderDown("scripted", "cut"))
    with opened("memory", tmp_path) as store:
        agent = agent_in(store, half, Reply("Here I am."))
        with pytest.raises(Cancelled):
            take_turn(agent, asked(1), Stopping(1))
        assert codes(agent) == [("failed", "TURN_CANCELLED")]
