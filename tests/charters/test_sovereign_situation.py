"""Layer 10, built anew each turn: its five subsections line by line, and the limits of what it shows."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from charter.core.assemble import Assembly
from charter.core.incoming import Incoming
from charter.core.payload import DIALECTS
from charter.core.ports import ToolSpec
from charter.core.records import ConversationEntry, InboxMessage
from charter.folder import load
from charter.sources.vitals import StaticVitals
from charter.stores.memory import MemoryStore

AT = "2026-02-26T14:30:00+00:00"
MIRA = "0x5aa0000000000000000000000000000000001234"
OTTO = "0x77b0000000000000000000000000000000005678"
WALLET = "0x11d0000000000000000000000000000000009abc"
LIVE: dict[str, str | int | float] = {
    "cycles_balance": 4_200_000_000_000,
    "burn_per_hour": 9_800_000_000,
    "base_wallet": WALLET,
    "turn_number": 42,
}
SUBSECTIONS = ["Current State", "Pending Obligations", "Conversation History", "Recent Memory", "Available Tools"]
AUTONOMOUS = "No one is waiting for an answer. Review your state and take the next sensible step, or rest."


def told(text: str = "", *, sender: str = "", at: Any = AT, mode: str = "full", **world: Any) -> Assembly:
    incoming = Incoming(channel="inbox", sender=sender, text=text, at=at)
    return load("sovereign", **world).assemble(incoming, mode=mode)


def situation(text: str = "", **said: Any) -> str:
    return told(text, **said).parts[-1].text


def subsection(layer: str, name: str) -> str:
    """The lines under one of the five headings."""
    found = re.search(rf"(?ms)^### {name}\n(.*?)(?=\n\n### (?:{'|'.join(SUBSECTIONS)})\n|\Z)", layer)
    assert found
    return found[1]


def talk(store: MemoryStore, sender: str, count: int = 1, body: str = "q{}", reply: str = "a{}") -> None:
    for number in range(count):
        said = ConversationEntry(f"m{number}", body.format(number), reply.format(number), f"t{number}", number)
        store.append_conversation("automaton", sender, said)


@pytest.mark.requirement("S0-04")
def test_a_busy_turn_is_told_line_by_line() -> None:
    store = MemoryStore()
    talk(store, MIRA, 1, "What does a tide table cost?", "0.002 ETH.")
    store.stage("automaton", InboxMessage("m2", OTTO.upper().replace("0X", "0x"), "gm\n## Layer 1"))
    store.remember("automaton", "", "Porto costs 3 % more on Mondays.", day="2026-02-23")
    tools = (ToolSpec("update_prompt_layer", left=1), ToolSpec("look"))
    vitals = StaticVitals({**LIVE, "eth_balance": "0.0183", "state": "LoadingContext"})
    assert situation("I take March.", sender=MIRA, store=store, vitals=vitals, tools=tools) == (
        "## Layer 10: Dynamic Context\n\n"
        "### Current State\n"
        "- cycles_balance: 4200000000000\n"
        "- cycles_runway_hours: 428.6\n"
        "- survival_tier: Normal\n"
        f"- base_wallet: {WALLET}\n"
        "- eth_balance: 0.0183\n"
        "- turn_number: 42\n"
        "- timestamp: 2026-02-26T14:30:00Z\n"
        "- state: LoadingContext\n\n"
        "### Pending Obligations\n"
        "Messages to answer this turn: 2.\n"
        f'- {OTTO}: "gm\\n## Layer 1"\n'
        f'- {MIRA}: "I take March."\n\n'
        "### Conversation History\n\n"
        f"### Conversation with {MIRA}\n"
        f'[{MIRA}]: "What does a tide table cost?"\n'
        '[you]: "0.002 ETH."\n\n'
        "### Recent Memory\n"
        '- [2026-02-23] "Porto costs 3 % more on Mondays."\n\n'
        "### Available Tools\n"
        "- update_prompt_layer: 1 left this turn\n"
        "- look"
    )


@pytest.mark.requirement("S0-04")
def test_an_empty_turn_says_of_each_subsection_that_it_is_empty() -> None:
    layer = situation(tools=())
    assert re.findall(r"(?m)^### (.+)$", layer) == SUBSECTIONS
    assert subsection(layer, "Pending Obligations") == "No messages are waiting. Nobody expects an answer this turn."
    assert subsection(layer, "Conversation History") == "Nothing was said before with the senders of this turn."
    assert subsection(layer, "Recent Memory") == "No notes yet."
    assert subsection(layer, "Available Tools") == "No tools this turn."


@pytest.mark.requirement("S0-04")
@pytest.mark.parametrize(("cached", "lines"), [({}, []), ({"eth_balance": "0.5"}, ["- eth_balance: 0.5"])])
def test_the_eth_balance_is_told_only_when_it_is_cached(cached: dict[str, str], lines: list[str]) -> None:
    layer = situation(vitals=StaticVitals({**LIVE, **cached}))
    assert [line for line in layer.split("\n") if "eth" in line] == lines


@pytest.mark.requirement("S0-04")
@pytest.mark.parametrize(
    ("at", "told_as"),
    [("2026-02-26T16:30:59.9+02:00", "2026-02-26T14:30:59Z"), ("2026-02-26T14:30:00", "2026-02-26T14:30:00Z")],
)
def test_the_timestamp_is_iso_8601_in_utc_to_the_second(at: str, told_as: str) -> None:
    assert f"\n- timestamp: {told_as}\n" in situation(at=at)


@pytest.mark.requirement("S0-04")
def test_layer_10_of_an_agent_with_an_empty_inbox_is_about_200_tokens() -> None:
    for mode in ("full", "compact"):
        part = told(vitals=StaticVitals({**LIVE, "eth_balance": "0.0183"}), mode=mode).parts[-1]
        assert part.tokens == -(-len(part.text.encode()) // 4)
        assert 150 <= part.tokens <= 250


# ── limits of what is shown ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("S0-04")
@pytest.mark.parametrize(("size", "shown"), [(140, "x" * 140), (141, "x" * 139 + "…"), (9000, "x" * 139 + "…")])
def test_a_preview_has_at_most_140_characters_its_mark_counted(size: int, shown: str) -> None:
    pending = subsection(situation("x" * size, sender=MIRA), "Pending Obligations")
    assert pending == f'Messages to answer this turn: 1.\n- {MIRA}: "{shown}"'


@pytest.mark.requirement("S0-04")
@pytest.mark.parametrize(("size", "shown"), [(220, "x" * 220), (221, "x" * 219 + "…"), (500, "x" * 219 + "…")])
def test_each_side_of_an_exchange_shows_at_most_220_characters(size: int, shown: str) -> None:
    store = MemoryStore()
    talk(store, MIRA, 1, "x" * size, "y" * size)
    history = subsection(situation("hi", sender=MIRA, store=store), "Conversation History")
    yours = shown.replace("x", "y")
    assert history == f'\n### Conversation with {MIRA}\n[{MIRA}]: "{shown}"\n[you]: "{yours}"'


@pytest.mark.requirement("S0-04")
def test_at_most_20_messages_are_taken_and_the_rest_are_counted() -> None:
    store = MemoryStore()
    for number in range(23):
        store.stage("automaton", InboxMessage(f"m{number}", OTTO, f"text {number}"))
    lines = subsection(situation(store=store), "Pending Obligations").split("\n")
    assert lines[0] == "Messages to answer this turn: 20, with 3 more waiting for a later turn."
    assert lines[1:] == [f'- {OTTO}: "text {number}"' for number in range(20)]


@pytest.mark.requirement("S0-04")
def test_at_most_5_senders_are_taken_and_a_taken_sender_may_go_on() -> None:
    store = MemoryStore()
    for place, number in enumerate((0, 1, 2, 3, 4, 5, 6, 1, 5)):
        store.stage("automaton", InboxMessage(f"m{place}", f"sender {number}", "hi"))
    lines = subsection(situation(store=store), "Pending Obligations").split("\n")
    assert lines[0] == "Messages to answer this turn: 6, with 3 more waiting for a later turn."
    assert lines[1:] == [f'- sender {number}: "hi"' for number in (0, 1, 2, 3, 4, 1)]


@pytest.mark.requirement("S0-04")
@pytest.mark.parametrize(("count", "senders"), [(20, 1), (6, 6)])
def test_the_message_being_answered_is_among_the_obligations_however_many_wait(count: int, senders: int) -> None:
    store = MemoryStore()
    talk(store, MIRA)
    for number in range(count):
        store.stage("automaton", InboxMessage(f"m{number}", f"sender {number % senders}", "hi"))
    layer = situation("Now me.", sender=MIRA, store=store)
    assert f'- {MIRA}: "Now me."' in subsection(layer, "Pending Obligations").split("\n")
    assert f"### Conversation with {MIRA}" in subsection(layer, "Conversation History")


@pytest.mark.requirement("S0-04")
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("mode", ["full", "compact"])
def test_the_message_being_answered_is_whole_in_the_users_message(dialect: str, mode: str) -> None:
    message = "line one\n" + "word " * 3000 + "end"
    body = told(message, sender=MIRA, mode=mode).payload(dialect)
    if dialect == "anthropic":
        said = body["messages"][-1]["content"][0]["text"]
    elif dialect == "openai-responses":
        said = body["input"][-1]["content"][0]["text"]
    elif dialect == "completion":
        said = re.sub(r"(?m)^> ", "", body["prompt"][body["prompt"].index("> line one") :])
    else:
        said = body["messages"][-1]["content"]
    assert said == message


@pytest.mark.requirement("S0-15")
@pytest.mark.parametrize("mode", ["full", "compact"])
def test_an_autonomous_turn_sends_one_fixed_user_line(mode: str) -> None:
    body = told(mode=mode).payload("openai")
    assert body["messages"][1:] == [{"role": "user", "content": AUTONOMOUS}]
    assert told(mode=mode).payload("completion")["prompt"].endswith(f"\n\n> {AUTONOMOUS}")
    assert AUTONOMOUS not in json.dumps(told("hello", sender=MIRA, mode=mode).payload("openai"))
    assert AUTONOMOUS not in told(mode=mode).reveal()


@pytest.mark.requirement("S0-04")
def test_the_five_newest_notes_are_told_the_newest_first() -> None:
    store = MemoryStore()
    for number in range(7):
        store.remember("automaton", "", f"note {number}", day=f"2026-01-0{number + 1}")
    store.remember("automaton", "mira", "a note of a user", day="2026-01-09")
    store.remember("other", "", "a note of another agent", day="2026-01-09")
    lines = [f'- [2026-01-0{number + 1}] "note {number}"' for number in (6, 5, 4, 3, 2)]
    assert subsection(situation(store=store), "Recent Memory") == "\n".join(lines)


# ── whose words (S0-14) ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("S0-14")
def test_history_is_the_last_five_of_each_sender_of_this_turn_senders_sorted() -> None:
    store = MemoryStore()
    for sender in ("zoe", "adam", "eve"):
        talk(store, sender, 7, f"{sender} {{}}", f"to {sender} {{}}")
    store.stage("automaton", InboxMessage("m", "zoe", "hi"))
    blocks = [
        "\n".join([f"\n### Conversation with {name}"] + [
            f'[{name}]: "{name} {number}"\n[you]: "to {name} {number}"' for number in range(2, 7)
        ])
        for name in ("adam", "zoe")
    ]  # fmt: skip
    assert subsection(situation("hi", sender="adam", store=store), "Conversation History") == "\n".join(blocks)


SENDERS = ("adam", "ada", "zoe", "Zoe", *(f"0x{'aBcDeF'[n:] + '0' * (34 + n)}" for n in range(4)))


@pytest.mark.requirement("S0-14")
@settings(max_examples=60, deadline=None)
@given(
    known=st.sets(st.integers(0, 7)),
    staged=st.lists(st.integers(0, 7), max_size=4),
    answered=st.none() | st.integers(0, 7),
    mode=st.sampled_from(("full", "compact")),
)
def test_no_byte_of_a_sender_who_is_not_in_this_turn_is_in_the_prompt(
    known: set[int], staged: list[int], answered: int | None, mode: str
) -> None:
    store = MemoryStore()
    for number in known:
        talk(store, SENDERS[number], 6, f"BODY-{number}-{{}}", f"REPLY-{number}-{{}}")
    for place, number in enumerate(staged):
        store.stage("automaton", InboxMessage(f"m{place}", SENDERS[number], "hi"))
    active = {str(number) for number in [*staged, answered] if number in known}
    text, sender = ("", "") if answered is None else ("hello", SENDERS[answered])
    prompt = told(text, sender=sender, store=store, mode=mode).reveal()
    assert set(re.findall(r"(?:BODY|REPLY)-(\d)-", prompt)) == active
    for who in active:
        exchanges = re.findall(rf"BODY-{who}-(\d)", prompt)
        assert exchanges == [str(entry) for entry in range(1 if mode == "full" else 4, 6)]


@pytest.mark.requirement("S0-14")
def test_with_its_sender_staged_the_same_bytes_would_be_there() -> None:
    store = MemoryStore()
    talk(store, "eve", 1, "SECRET", "KEPT")
    assert "SECRET" not in told("hi", sender="adam", store=store).reveal()
    store.stage("automaton", InboxMessage("m", "eve", "hi"))
    assert "SECRET" in told("hi", sender="adam", store=store).reveal()
