"""A model that fails: the error says so in its type, and nothing is kept of the turn but that it failed."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import pytest

from charter.core.dialogue import Reply, Usage
from charter.core.errors import (
    CharterError,
    OverLimit,
    ProviderAuth,
    ProviderDown,
    ProviderNonsense,
    ProviderOverflow,
    ProviderRate,
    ProviderRefused,
    WireMismatch,
)
from charter.testing import CutOff, ScriptedProvider
from charter.turn import take_turn

from ..places import MODEL, Looking, said
from .rooms import CANARY, KINDS, agent_in, answered_whole, asked, busy_step, codes, failed_alone, left, limited, opened

pytestmark = pytest.mark.requirement("S0-13", "S0-15")

FAILURES: list[tuple[Any, type[CharterError], str]] = [
    (ProviderDown("scripted", "out of reach"), ProviderDown, "PROVIDER_DOWN"),
    (ProviderAuth("scripted", "the key is wrong"), ProviderAuth, "PROVIDER_AUTH"),
    (ProviderRate("scripted", "too many", retry_after=12.0), ProviderRate, "PROVIDER_RATE"),
    (ProviderOverflow("scripted", "too long"), ProviderOverflow, "PROVIDER_OVERFLOW"),
    (ProviderRefused("scripted", "no"), ProviderRefused, "PROVIDER_REFUSED"),
    (ProviderNonsense("scripted", "cannot be read"), ProviderNonsense, "PROVIDER_NONSENSE"),
    (WireMismatch("scripted", "a layer moved"), WireMismatch, "WIRE_MISMATCH"),
    (CutOff((f"{CANARY} so ", "far"), ProviderDown("scripted", "cut")), ProviderDown, "PROVIDER_DOWN"),
    (Reply("", (), Usage(9, 0), "refused"), ProviderRefused, "PROVIDER_REFUSED"),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("failure", "error", "code"), FAILURES, ids=lambda value: getattr(value, "__name__", None))
def test_a_model_that_fails_after_tools_wrote_leaves_one_failed_record_and_the_message(
    failure: Any, error: type[CharterError], code: str, kind: str, tmp_path: Path
) -> None:
    with opened(kind, tmp_path) as store:
        agent = agent_in(store, busy_step(), failure, said("Here I am."))
        before = left(store, agent.name)
        with pytest.raises(error) as caught:
            take_turn(agent, asked(1))
        assert type(caught.value) is error
        assert CANARY not in "".join(traceback.format_exception(caught.value))
        failed_alone(agent, before, code, waiting=[f"{CANARY} asks 1"])
        assert take_turn(agent, asked(2)).reply == "Here I am."
        answered_whole(agent, [f"{CANARY} asks 1", f"{CANARY} asks 2"])
        assert codes(agent) == [("failed", code), ("done", "OK")]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("failure", "error", "code"), FAILURES, ids=lambda value: getattr(value, "__name__", None))
def test_a_model_that_fails_at_once_leaves_the_same(
    failure: Any, error: type[CharterError], code: str, kind: str, tmp_path: Path
) -> None:
    with opened(kind, tmp_path) as store:
        agent = agent_in(store, failure, said("Here I am."), charter="assistant")
        before = left(store, agent.name)
        with pytest.raises(error):
            take_turn(agent, asked(1))
        failed_alone(agent, before, code, waiting=[f"{CANARY} asks 1"])
        take_turn(agent, asked(1))  # delivered again: the message is there once
        answered_whole(agent, [f"{CANARY} asks 1"])


def test_what_was_shown_of_half_an_answer_is_remembered_nowhere(tmp_path: Path) -> None:
    half = CutOff((f"{CANARY} so ", "far"), ProviderDown("scripted", "cut"))
    with opened("memory", tmp_path) as store:
        agent, looking = agent_in(store, half, said("Whole."), charter="assistant"), Looking()
        with pytest.raises(ProviderDown):
            take_turn(agent, asked(1), looking)
        assert looking.parts == [f"{CANARY} so ", "far"]
        assert (store.unsent(agent.name), store.conversations(agent.name)) == ([], [])
        take_turn(agent, asked(2))
        sent: Any = agent.provider
        assert [one["role"] for one in sent.payloads[1]["messages"]] == ["system", "user"]


# ── an error that is not ours ─────────────────────────────────────────────────────────────────────────────────────


class Broken(ScriptedProvider):
    """A provider that does not keep to its contract: it raises what it likes, with the prompt in it."""

    def converse(self, request: Any, hear: Any) -> Reply:
        hear("A word. ")
        raise ValueError(str(request.payload))


@pytest.mark.parametrize("kind", KINDS)
def test_a_strangers_error_comes_out_as_it_is_and_its_words_are_kept_nowhere(kind: str, tmp_path: Path) -> None:
    notes: list[Any] = []
    with opened(kind, tmp_path) as store:
        agent = agent_in(store, provider=Broken([], model=MODEL), note=lambda *said: notes.append(said))
        before = left(store, agent.name)
        with pytest.raises(ValueError, match=CANARY) as caught:
            take_turn(agent, asked(1))
        assert (caught.value.__cause__, caught.value.__context__) == (None, None)
        failed_alone(agent, before, "INTERNAL_ERROR", waiting=[f"{CANARY} asks 1"])
        [turn] = store.turns(agent.name)
        assert notes == [("turn failed", {"agent": agent.name, "turn": turn.id, "code": "INTERNAL_ERROR"})]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_a_program_that_is_ended_in_the_middle_of_a_turn_gives_the_message_back_first(
    stop: type[BaseException], kind: str, tmp_path: Path
) -> None:
    with opened(kind, tmp_path) as store:
        agent = agent_in(store, busy_step(), stop(CANARY), said("Here I am."))
        before = left(store, agent.name)
        with pytest.raises(stop):
            take_turn(agent, asked(1))
        failed_alone(agent, before, "TURN_CANCELLED", waiting=[f"{CANARY} asks 1"])
        take_turn(agent, asked(2))
        answered_whole(agent, [f"{CANARY} asks 1", f"{CANARY} asks 2"])


# ── limits of one turn ────────────────────────────────────────────────────────────────────────────────────────────


class Clock:
    """Time that passes when it is told to."""

    def __init__(self, now_ns: int) -> None:
        self.now_ns = now_ns

    def __call__(self) -> int:
        return self.now_ns


def ended(agent: Any, store: Any, match: str, calls: int) -> None:
    """Asserts that the turn ends over its limit, after so many calls of the model, and that the next one is fine."""
    before = left(store, agent.name)
    with pytest.raises(OverLimit, match=match):
        take_turn(agent, asked(1))
    assert len(agent.provider.requests) == calls
    failed_alone(agent, before, "TURN_OVER_LIMIT", waiting=[f"{CANARY} asks 1"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_turn_over_its_steps_tokens_or_window_leaves_one_failed_record(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as store:
        steps = limited(agent_in(store, busy_step(), busy_step()), max_steps=2)
        ended(steps, store, "2 calls of the model are the limit of a turn on terminal", 2)
        tokens = limited(agent_in(store, busy_step()), max_tokens=110)
        ended(tokens, store, "110 tokens were used; 110 tokens are the limit of a turn on terminal", 1)
        small = ScriptedProvider([], model=MODEL, window=2_000)
        ended(agent_in(store, provider=small), store, r"tokens do not fit beside a reply in the window of 2,000", 0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_turn_over_its_time_leaves_one_failed_record(kind: str, tmp_path: Path) -> None:
    clock = Clock(10**18)

    def slow(_: Any) -> Reply:
        clock.now_ns += 301 * 10**9
        return busy_step()

    with opened(kind, tmp_path) as store:
        agent = agent_in(store, slow, clock=clock)
        ended(agent, store, "300 s are the limit of a turn on terminal", 1)


def test_a_model_that_says_word_after_word_is_ended_at_its_deadline(tmp_path: Path) -> None:
    clock = Clock(10**18)

    class Endless(ScriptedProvider):
        def converse(self, request: Any, hear: Any) -> Reply:
            self.requests.append(request)
            for _ in range(400):
                clock.now_ns += 10**9
                hear("on and on ")
            return Reply("That was all.")

    with opened("memory", tmp_path) as store:
        agent = agent_in(store, provider=Endless([], model=MODEL), clock=clock)
        ended(agent, store, "300 s are the limit of a turn on terminal", 1)
