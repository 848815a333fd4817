"""A turn's own cost, all but the model, beside three frameworks with a stub model and beside the usual way to build it."""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from assembly import Target
from charter import Incoming, load, stores
from charter.core.dialogue import Reply, Usage
from charter.core.ports import Request
from charter.core.wire import check
from charter.stores.store import SqlStore
from charter.tokens import counter
from charter.turn import Agent, take_turn
from contenders import PeerError
from recall import make_notes, vocabulary
from rounds import (
    KEYS,
    Call,
    Comparison,
    comparison_data,
    comparison_text,
    environment,
    environment_text,
    file_system,
    folder,
    interleave,
    say,
)
from turn_peers import REPLY, make_langchain, make_openai_agents, make_pydantic_ai
from turn_usual import EXACT, make_usual

NOTES = 200
CHATS = 150  # in turn, so that a chat is a few exchanges long
PEERS = ("pydantic-ai-slim", "langchain", "openai-agents", "scikit-learn", "tiktoken")
ABOUT = """\
Ours is a whole turn of the `workspace` charter: the message staged and taken, layers from files and 200 notes recalled
from, past exchanges as messages, exact tokens (o200k_base), the payload looked over at the wire, the reply, the record
with its hash-chained log row, all in SQLite with synchronous=FULL on a memory file system. The frameworks get the
finished prompt and keep nothing. `usual` keeps messages and a row per turn through an ORM. Stub models answer at once."""


class Stub:
    """A model that answers at once; it looks at the wire as the real ones do."""

    name, dialect, model, native_tools, window = "stub", "openai", "stub-70b", True, None

    def options(self, *, stream: bool, max_tokens: int) -> Mapping[str, Any]:
        return {"stream": stream, "max_tokens": max_tokens}

    def converse(self, request: Request, hear: Callable[[str], None]) -> Reply:
        check(request.payload, request.expected)
        return Reply(REPLY, usage=Usage(600, 12, 500))


@contextmanager
def ours(path: Path) -> Iterator[tuple[Callable[[str, int], str], SqlStore, str]]:
    """Our turn, its store, and the prompt it makes."""
    with stores.open(f"sqlite:///{path}", keys=KEYS) as store:
        for text in notes():
            store.remember("main", "ana", text, day="2026-01-15")
        charter = replace(load("workspace"), counter=counter(EXACT), key=KEYS.current[1])
        agent = Agent("main", charter, store, Stub(), key=KEYS.current[1])

        def turn(message: str, chat: int) -> str:
            said = Incoming(channel="telegram", sender=f"chat{chat}", user="ana", text=message)
            return take_turn(agent, said).reply

        view = charter.within(store=store).assemble(Incoming(channel="telegram", sender="ana", text="a plan", at=0))
        yield turn, store, view.reveal()


def notes() -> list[str]:
    """What the user asked to be remembered: words by Zipf's law, as in English."""
    return [text for _, text in make_notes(vocabulary(), NOTES, 1, "notes")]


def messages() -> Callable[[int], str]:
    """A message for every number, about something that was noted; the same for all."""
    known, rng = notes(), random.Random("messages")
    texts = [f"Make me a plan for {' '.join(rng.sample(rng.choice(known).split(), 4))}" for _ in range(64)]
    return lambda number: texts[number % len(texts)]


def measure(rounds: int, calls: int) -> Iterator[Comparison]:
    message = messages()
    with folder("memory", need=10**8) as place, ours(place / "ours.db") as (turn, _, prompt):
        say(f"on {file_system(place)}")
        usual = make_usual(place / "usual.db", prompt.split("\n\n"), notes())
        kept = {"ours": turn, "usual": usual}
        bare = {
            "pydantic-ai": make_pydantic_ai(prompt),
            "langchain": make_langchain(prompt),
            "openai-agents": make_openai_agents(prompt),
        }
        sides: dict[str, Call] = {
            "ours": lambda number: kept["ours"](message(number), number % CHATS),
            **{name: (lambda number, side=side: side(message(number))) for name, side in bare.items()},
            "usual": lambda number: kept["usual"](message(number), number % CHATS),
        }
        for name, call in sides.items():
            if call(0) != REPLY:
                raise PeerError(f"{name} did not answer as the stub does")
        timings = interleave(sides, rounds=rounds, calls=calls)
        peers = ("pydantic-ai", "langchain", "openai-agents")
        yield Comparison(
            "one turn with a stub model",
            timings,
            (*(Target("ours", name, 0.2) for name in peers), Target("ours", "usual", 0.04)),
        )
    with folder("disk") as place, ours(place / "ours.db") as (turn, _, _):
        alone: dict[str, Call] = {"ours": lambda number: turn(message(number), number % CHATS)}
        timings = interleave(alone, rounds=max(rounds // 4, 5), calls=2)
        yield Comparison(f"the same on {file_system(place)}: what durable commits add; no target", timings)


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare one turn with other ways to take one, interleaved.")
    parser.add_argument("--json", action="store_true", help="print numbers as JSON")
    parser.add_argument("--quick", action="store_true", help="fewer rounds: shows that it runs, not how fast")
    options = parser.parse_args()
    rounds = 10 if options.quick else 60
    try:
        results = list(measure(rounds, 8))
    except (PeerError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    peers = ", ".join(f"{name} {version(name)}" for name in PEERS)
    if options.json:
        facts = {**environment(), "peers": peers}
        print(json.dumps({"environment": facts, "rounds": rounds, "results": comparison_data(results)}, indent=2))
    else:
        head = f"{environment_text()}\n{peers}\n{rounds} interleaved rounds"
        print(head, ABOUT, *(comparison_text(result) for result in results), sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
