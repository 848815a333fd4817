"""A turn's own cost, all but the model, beside three frameworks with a stub model and the usual way to build one."""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import perf_counter_ns, process_time_ns
from typing import Any

from assembly import Target
from charter import Incoming, load, stores
from charter.agent import Guards
from charter.app import toolbox
from charter.core.dialogue import Reply, ToolCall, Usage
from charter.core.policy import Verdict
from charter.core.ports import Request
from charter.core.wire import check
from charter.screening import Hidden, History
from charter.stores.store import SqlStore
from charter.tokens import counter
from charter.tools import tool
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
from turn_peers import REPLY, Turn, make_langchain, make_openai_agents, make_pydantic_ai, tide
from turn_usual import EXACT, make_usual

NOTES = 200
CHATS = 150  # in turn, so that a chat is a few exchanges long
MAKERS = {"pydantic-ai": make_pydantic_ai, "langchain": make_langchain, "openai-agents": make_openai_agents}
USUAL = ("usual",)
PEERS = ("pydantic-ai-slim", "langchain", "langgraph-checkpoint-sqlite", "openai-agents", "scikit-learn", "tiktoken")
ABOUT = """\
Ours is a whole turn of the `workspace` charter: the message staged and taken, layers from files and 200 notes recalled
from, past exchanges as messages, exact tokens (o200k_base), the payload looked over at the wire, the reply, the record
with its hash-chained log row, all in SQLite with synchronous=FULL on a memory file system. The frameworks get the
finished prompt. Bare, they keep nothing and know of nothing that was said before; `kept` is the same agent with its
chat in SQLite, as safe as ours, in the way its project ships or documents: LangGraph's SqliteSaver, the Agents SDK's
SQLiteSession, for pydantic-ai the rows of its chat example. None of them recalls, counts, looks over a payload or keeps
a record, and their tracing is off. `usual` keeps messages and a row per turn through an ORM. Stub models answer at
once. The frameworks look at no word of what is asked and answered: `ours` is without guards too, `ours, guarded` is
what everyone gets. The targets are about `ours`; what it is without its durable commits is told on standard error."""
OPEN = Verdict("allow")
Clock = Callable[[], int]


class NoGuard:
    """A gate over what leaves that looks at nothing."""

    def whole(self, text: str, hidden: Hidden, *, history: History) -> Verdict:
        return OPEN

    def call(self, arguments: Mapping[str, Any], hidden: Hidden, *, history: History) -> Verdict:
        return OPEN

    def stream(self, hidden: Hidden, *, history: History) -> None:
        return None


class Stub:
    """A model that answers at once, after a tool's answer when it is told to call one; it looks at the wire first."""

    name, dialect, model, native_tools = "stub", "openai", "stub-70b", True
    window: int | None = None

    def __init__(self, call: bool) -> None:
        self.call = call

    def options(self, *, stream: bool, max_tokens: int) -> Mapping[str, Any]:
        return {"stream": stream, "max_tokens": max_tokens}

    def converse(self, request: Request, hear: Callable[[str], None]) -> Reply:
        check(request.payload, request.expected)
        if self.call and request.payload["messages"][-1]["role"] != "tool":
            return Reply("", (ToolCall("c1", "tide", '{"harbor": "Porto"}'),), Usage(600, 12, 500), "tools")
        return Reply(REPLY, usage=Usage(600, 12, 500))

    def close(self) -> None: ...


@contextmanager
def ours(
    path: Path, call: bool = False, *, guarded: bool = True
) -> Iterator[tuple[Callable[[str, int], str], SqlStore, str]]:
    """Our turn, its store, and the prompt it makes."""
    with stores.open(f"sqlite:///{path}", keys=KEYS) as store:
        for text in notes():
            store.remember("main", "ana", text, day="2026-01-15")
        charter = replace(load("workspace"), counter=counter(EXACT), key=KEYS.current[1])
        tools = toolbox(replace(charter, agent_tools=()), [tool(foreign=False)(tide)] if call else [])
        guards = Guards() if guarded else Guards(message=lambda *_: OPEN, reply=NoGuard())
        agent = Agent("main", charter, store, Stub(call), tools=tools, key=KEYS.current[1], guards=guards)

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


def compare(place: Path, rounds: int, calls: int, call: bool, clock: Clock = perf_counter_ns) -> Comparison:
    """All of them in one run, each called with the same messages."""
    message = messages()
    with (
        ours(place / f"ours{call}.db", call, guarded=False) as (turn, store, prompt),
        ours(place / f"guarded{call}.db", call) as (guarded, _, _),
    ):
        peers = {name: make(prompt, call) for name, make in MAKERS.items()} | {
            f"{name}, kept": make(prompt, call, place / f"{name}{call}.db") for name, make in MAKERS.items()
        }
        sides: dict[str, Call] = {
            "ours": lambda number: turn(message(number), number % CHATS),
            "ours, guarded": lambda number: guarded(message(number), number % CHATS),
        }
        for name, side in peers.items():
            sides[name] = partial(_ask, side, message)
        if not call:
            usual = make_usual(place / "usual.db", prompt.split("\n\n"), notes())
            sides["usual"] = lambda number: usual(message(number), number % CHATS)
        for name, one in sides.items():
            if one(0) != REPLY:
                raise PeerError(f"{name} did not answer as the stub does")
        timings = interleave(sides, rounds=rounds, calls=calls, clock=clock)
        with committing(store) as spent:
            for number in range(200):
                sides["ours"](number)
        commits = spent[0] / 200 / 1000
        for name in ("ours", "ours, guarded"):
            own = timings[name].median - commits
            beside = ", ".join(
                f"{peer} {timings[peer].median / own:.2f} ×" for peer in (*peers, *USUAL) if peer in sides
            )
            say(f"{name}: {commits:.0f} µs of it are durable commits; the other {own:.0f} µs are 1, {beside}")
    targets = (*(Target("ours", name, 0.2) for name in peers), *([] if call else [Target("ours", "usual", 0.04)]))
    return Comparison(f"a turn {'that calls a tool once' if call else 'without tools'}, stub model", timings, targets)


def _ask(side: Turn, message: Callable[[int], str], number: int) -> str:
    return side(message(number), number % CHATS)


@contextmanager
def committing(store: SqlStore) -> Iterator[list[int]]:
    """Counts the nanoseconds that COMMIT takes."""
    spent, writer = [0], store.db._writer  # type: ignore[attr-defined]

    class Timed:
        def execute(self, sql: str, *values: Any) -> Any:
            begin = perf_counter_ns()
            found = writer.execute(sql, *values)
            spent[0] += perf_counter_ns() - begin if sql == "COMMIT" else 0
            return found

        def __getattr__(self, name: str) -> Any:
            return getattr(writer, name)

    store.db._writer = Timed()  # type: ignore[attr-defined]
    try:
        yield spent
    finally:
        store.db._writer = writer  # type: ignore[attr-defined]


def measure(rounds: int, calls: int, clock: Clock) -> Iterator[Comparison]:
    message = messages()
    with folder("memory", need=10**8) as place:
        say(f"on {file_system(place)}")
        yield compare(place, rounds, calls, False, clock)
        yield compare(place, rounds, calls, True, clock)
    with folder("disk") as place, ours(place / "ours.db") as (turn, _, _):
        alone: dict[str, Call] = {"ours": lambda number: turn(message(number), number % CHATS)}
        timings = interleave(alone, rounds=max(rounds // 4, 5), calls=2)
        yield Comparison(f"the same on {file_system(place)}: what durable commits add; no target", timings)


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare one turn with other ways to take one, interleaved.")
    parser.add_argument("--json", action="store_true", help="print numbers as JSON")
    parser.add_argument("--cpu", action="store_true", help="processor time of all threads, where a machine is shared")
    parser.add_argument("--quick", action="store_true", help="fewer rounds: shows that it runs, not how fast")
    options = parser.parse_args()
    rounds = 10 if options.quick else 60
    try:
        results = list(measure(rounds, 8, process_time_ns if options.cpu else perf_counter_ns))
    except (PeerError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    peers = ", ".join(f"{name} {version(name)}" for name in PEERS)
    if options.json:
        facts = {**environment(), "peers": peers}
        print(json.dumps({"environment": facts, "rounds": rounds, "results": comparison_data(results)}, indent=2))
    else:
        timed = "processor time" if options.cpu else "time gone by"
        head = f"{environment_text()}\n{peers}\n{rounds} interleaved rounds, {timed}"
        print(head, ABOUT, *(comparison_text(result) for result in results), sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
