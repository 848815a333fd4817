"""S0-14: another sender's bytes never enter a prompt; nor do another user's notes or instructions."""

from __future__ import annotations

import json
import random
from typing import Final, NamedTuple

import pytest

from charter.core.assemble import Assembly
from charter.core.incoming import Incoming
from charter.core.records import ConversationEntry, InboxMessage
from charter.folder import load
from charter.sources import World
from charter.stores.memory import MemoryStore

from .makers import AGENT, AT

pytestmark = pytest.mark.requirement("S0-14", "S0-04", "S0-12", "S2-06", "S4-07", "N-07")

SOVEREIGN: Final = load("sovereign")
SENDERS: Final = 250
SCHEDULES: Final = 300


class Sender(NamedTuple):
    """A sender and a word that stands in everything of theirs and nowhere else."""

    name: str
    word: str


def senders(chance: random.Random) -> list[Sender]:
    """Names that look alike on purpose: prefixes of each other, cases, addresses, names of scripts and tricks."""
    stems = ("bob", "Bob", "bo", "bobby", "system", "operator", "0", "日本", "a b", "x\ny", "[z]", "\u202ebob")
    names = [f"{chance.choice(stems)}{number}" for number in range(SENDERS - 30)]
    names += [f"0x{chance.getrandbits(160):040x}" for _ in range(30)]
    return [Sender(name, f"w{chance.getrandbits(64):016x}w") for name in names]


def world_of(everyone: list[Sender], chance: random.Random) -> MemoryStore:
    store = MemoryStore()
    for at, (name, word) in enumerate(everyone):
        for number in range(chance.randint(0, 7)):
            told = f"said {word} {number}", f"answered {word} {number}"
            entry = ConversationEntry(f"{at}", *told, "t", at * 100 + number)
            store.append_conversation(AGENT, name, entry)
    return store


def taken(staged: list[Sender]) -> set[str]:
    """The words of the senders a turn takes: the first five, within the first messages there is room for."""
    chosen: list[Sender] = []
    messages = 0
    for sender in staged:
        if messages == 20:
            break
        if sender in chosen or len(chosen) < 5:
            chosen = chosen if sender in chosen else [*chosen, sender]
            messages += 1
    return {sender.word for sender in chosen}


def everything(assembly: Assembly) -> str:
    """All that leaves or is kept: prompt, payloads, manifest, what prints."""
    payloads = [assembly.payload(dialect) for dialect in ("openai", "anthropic", "completion")]
    return json.dumps([assembly.reveal(), payloads, assembly.manifest.to_dict(), repr(assembly)], ensure_ascii=False)


@pytest.mark.parametrize("seed", range(SCHEDULES))
def test_no_byte_of_another_sender_enters_the_prompt(seed: int) -> None:
    chance = random.Random(seed)
    everyone = senders(chance)
    store = world_of(everyone, chance)
    staged = chance.choices(everyone, k=chance.choice((0, 1, 1, 2, 3, 5, 6, 9, 30)))
    for number, sender in enumerate(staged):
        shown = sender.name.upper().replace("0X", "0x") if sender.name.startswith("0x") else f" {sender.name} "
        store.stage(AGENT, InboxMessage(str(number), shown, f"asks {sender.word} {number}"))
    for other in ("other-agent", "an-agent"):
        store.stage(other, InboxMessage("x", everyone[0].name, f"elsewhere {everyone[0].word}x"))
        store.append_conversation(other, everyone[1].name, ConversationEntry("x", "elsewhere", "elsewhere", "t", 1))
    mode = chance.choice(("full", "compact"))
    assembly = SOVEREIGN.assemble(Incoming(channel="inbox", at=AT), mode=mode, world=World(store=store))
    shown = everything(assembly)
    allowed = taken(staged)
    assert {sender.word for sender in everyone if sender.word in shown} <= allowed
    assert "elsewhere" not in shown
    if staged:
        assert staged[0].word in assembly.reveal()


@pytest.mark.parametrize("mode", ["full", "compact"])
def test_only_the_last_exchanges_of_a_sender_of_this_turn_are_shown(mode: str) -> None:
    store = MemoryStore()
    for number in range(9):
        entry = ConversationEntry("1", f"body-{number}.", f"reply-{number}.", "t", number)
        store.append_conversation(AGENT, "bob", entry)
    store.stage(AGENT, InboxMessage("1", "bob", "hello"))
    prompt = SOVEREIGN.assemble(Incoming(channel="inbox", at=AT), mode=mode, world=World(store=store)).reveal()
    last = 2 if mode == "compact" else 5
    assert [number for number in range(9) if f"body-{number}." in prompt] == list(range(9 - last, 9))
    assert [number for number in range(9) if f"reply-{number}." in prompt] == list(range(9 - last, 9))


def test_a_message_that_comes_now_brings_its_own_sender_alone() -> None:
    chance = random.Random(1)
    everyone = senders(chance)
    store = world_of(everyone, chance)
    for sender in everyone[::10]:
        incoming = Incoming(channel="inbox", at=AT, sender=sender.name, text="hello")
        shown = everything(SOVEREIGN.assemble(incoming, world=World(store=store)))
        assert {other.word for other in everyone if other.word in shown} <= {sender.word}


@pytest.mark.parametrize("name", ["workspace", "assistant", "sovereign"])
def test_notes_and_instructions_of_another_user_or_agent_never_enter(name: str) -> None:
    charter, store = load(name), MemoryStore()
    agent = charter.home.defaults["agent"]
    words = {(who, user): f"w{who}{user}w" for who in (agent, "other") for user in ("", "ann", "ben")}
    for (who, user), word in words.items():
        store.remember(who, user, f"tea {word}", day="2026-01-02")
        if user:
            store.set_instructions(who, user, f"always {word}")
    incoming = Incoming(channel="web", at=AT, user="ann", text="tea?")
    shown = everything(charter.assemble(incoming, world=World(store=store)))
    mine = {"workspace": {words[agent, "ann"]}, "assistant": {words[agent, "ann"]}, "sovereign": {words[agent, ""]}}
    assert {word for word in words.values() if word in shown} == mine[name]
