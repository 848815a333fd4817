"""What the embedded models do of themselves: how often each calls the right tool at temperature 0, as it is."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Final

from charter import Charter, Incoming, load, weights
from charter.app import make_agent
from charter.core.dialogue import Reply, Said, Talk, ToolCall
from charter.core.errors import CharterError, TurnError
from charter.core.ports import Request
from charter.providers.embedded import Embedded
from charter.stores.memory import MemoryStore
from charter.tools.fallback import parse
from charter.turn import take_turn

STEPS: Final = 3
AT: Final = 1_767_261_600  # 2026-01-01 10:00 UTC

# What is said, and a word that must be in the arguments for the call to be of any use.
WORDINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "save_memory": {
        "Remember that my dog is called Rex.": "Rex",
        "Please remember that my sister's birthday is on the 4th of May.": "May",
        "Remember: the garage code is 4471.": "4471",
        "Keep in mind that I am allergic to peanuts.": "peanut",
        "Don't forget that I parked on level 3.": "3",
        "Make a note that the plumber comes on Tuesday.": "Tuesday",
        "Note that my passport expires in March.": "March",
        "Save this: my shoe size is 43.": "43",
        "I want you to remember that I work at Nordwind.": "Nordwind",
        "For later: Anna's phone number is 555-0142.": "555-0142",
        "My favourite tea is oolong, remember that.": "oolong",
        "Store this in your memory: the wifi password is on the fridge.": "fridge",
    },
    "update_instructions": {
        "Always answer in bullet points.": "bullet",
        "From now on, always answer in bullet points.": "bullet",
        "Never use emojis.": "emoji",
        "From now on, keep every answer under three sentences.": "sentence",
        "Always reply in German.": "German",
        "Always call me Captain.": "Captain",
        "In future, always end your answers with a short summary.": "summary",
        "Never mention the weather again.": "weather",
        "Please always use metric units from now on.": "metric",
        "Change your instructions: always be formal.": "formal",
    },
    "read_memory": {
        "What is my dog called?": "",
        "What do you know about me?": "",
        "Where did I park?": "",
        "What is my favourite tea?": "",
        "When is my sister's birthday?": "",
        "Am I allergic to anything?": "",
        "Where do I work?": "",
        "What did I ask you to remember?": "",
        "Which projects am I working on?": "",
        "Do you remember my shoe size?": "",
    },
}
# What is kept, what is asked in a later chat, and a word that must be in the answer.
RECALLS: Final = (
    ("My dog is called Rex.", "What is my dog called?", "Rex"),
    ("I parked on level 3.", "Where did I park?", "3"),
    ("My favourite tea is oolong.", "What is my favourite tea?", "oolong"),
    ("My sister's birthday is on the 4th of May.", "When is my sister's birthday?", "May"),
    ("I am allergic to peanuts.", "Am I allergic to anything?", "peanut"),
    ("I work at Nordwind.", "Where do I work?", "Nordwind"),
    ("My shoe size is 43.", "Do you remember my shoe size?", "43"),
    ("The garage code is 4471.", "What is the code of the garage?", "4471"),
)
# What is given to each charter, and the name its agent must give when somebody asks for it.
IDENTITIES: Final[Mapping[str, tuple[Mapping[str, Any], str]]] = {
    "assistant": ({}, "Ada"),
    "workspace": ({}, "Main"),
    "sovereign": ({"given": {"soul": "Lantern, keeper of tide tables"}}, "Lantern"),
    "gateway": ({"given": {"identity_fields": {"name": "Rook"}}}, "Rook"),
    "contract": ({}, "assistant"),
}
WHO: Final = (
    "Who are you?",
    "What is your name?",
    "Who am I talking to?",
    "Introduce yourself.",
    "Hello! And you are?",
    "Tell me who you are.",
    "Hi, what should I call you?",
)
ANSWERS: Final = {
    "read_memory": "Nothing is kept yet, and no standing instructions are set.",
    "save_memory": "Kept.",
    "update_instructions": "The instructions are replaced; they hold from the next message on.",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a model did with one wording: the tools it called, in order, and whether a call was written as text."""

    wording: str
    wanted: str
    word: str
    calls: tuple[ToolCall, ...]
    written: bool
    seconds: float

    @property
    def first(self) -> bool:
        return bool(self.calls) and self.calls[0].name == self.wanted

    @property
    def at_all(self) -> bool:
        return any(call.name == self.wanted for call in self.calls)

    @property
    def useful(self) -> bool:
        """Whether the call also says what it should."""
        return any(call.name == self.wanted and self.word.lower() in call.arguments.lower() for call in self.calls)


def converse(model: Embedded, charter: Charter, text: str, wanted: str) -> Outcome:
    """One message and what follows from it, tools answering as empty ones would, until the tool or the end."""
    begin = perf_counter()
    assembly = charter.assemble(Incoming(channel="terminal", text=text, at=AT, sender="zoe", model=model.model))
    names = [tool.name for tool in assembly.tools]
    after: list[Said] = []
    calls: list[ToolCall] = []
    written = False
    for _ in range(STEPS):
        talk = Talk(after=tuple(after))
        options = model.options(stream=False, max_tokens=200)
        body = assembly.payload(model.dialect, model=model.model, talk=talk, options=options)
        request = Request(body, assembly.expected(model.dialect, body, talk), timeout_s=600)
        reply = model.converse(request, lambda part: None)
        found = _calls(reply, names)
        written = written or bool(found and not reply.calls)
        calls += found
        if not found or wanted in [call.name for call in found]:
            break
        after.append(Said("assistant", reply.text, found))
        after += [Said("tool", ANSWERS.get(call.name, "Done."), call_id=call.id, name=call.name) for call in found]
    return Outcome(text, wanted, WORDINGS[wanted][text], tuple(calls), written, perf_counter() - begin)


def _calls(reply: Reply, names: Sequence[str]) -> tuple[ToolCall, ...]:
    return reply.calls or parse(reply.text, names).calls


def measure(model: Embedded, charter: Charter) -> list[Outcome]:
    """Every wording once; at temperature 0 a second time would be the same."""
    return [converse(model, charter, text, wanted) for wanted, wordings in WORDINGS.items() for text in wordings]


def recalled(model: Embedded, charter: Charter) -> int:
    """How many of the notes come back in the answer to a question, in whole turns with the real tools."""
    found = 0
    for note, question, word in RECALLS:
        agent = replace(make_agent(charter, MemoryStore(), model), max_reply_tokens=128)
        agent.store.remember(agent.name, "zoe", note, day="2026-01-01")
        asked = Incoming(channel="terminal", sender="zoe", user="zoe", text=question)
        try:
            found += word.lower() in take_turn(agent, asked).reply.lower()
        except TurnError:  # it called tools until it was stopped
            continue
    return found


def named(model: Embedded) -> dict[str, int]:
    """Charter → how many ways of asking who the agent is are answered with its name, all layers in full."""
    found = dict.fromkeys(IDENTITIES, 0)
    for name, (world, who) in IDENTITIES.items():
        for question in WHO:
            agent = replace(make_agent(load(name, **world), MemoryStore(), model), max_reply_tokens=512)
            asked = Incoming(channel="terminal", sender="zoe", user="zoe", operator=True, text=question, mode="full")
            with contextlib.suppress(CharterError):  # it called tools until it was stopped, or half a call
                found[name] += who in take_turn(agent, asked).reply
    return found


COLUMNS: Final = {"at once": "first", "at all": "at_all", "useful": "useful", "as text": "written"}


def rates(outcomes: Sequence[Outcome]) -> dict[str, dict[str, int]]:
    """How many wordings of each tool led where."""
    table = {}
    for wanted, wordings in WORDINGS.items():
        rows = [outcome for outcome in outcomes if outcome.wanted == wanted]
        counts = {name: sum(getattr(row, name) for row in rows) for name in COLUMNS.values()}
        table[wanted] = {"wordings": len(wordings), **counts}
    return table


def report(name: str, outcomes: Sequence[Outcome], verbose: bool) -> str:
    seconds = sum(outcome.seconds for outcome in outcomes) / len(outcomes)
    lines = [f"{name}, temperature 0, {seconds:.1f} s a wording"]
    lines.append(f"  {'tool':<22}" + "".join(f"{column:>10}" for column in COLUMNS))
    for tool, row in rates(outcomes).items():
        counts = [f"{row[key]} of {row['wordings']}" for key in COLUMNS.values()]
        lines.append(f"  {tool:<22}" + "".join(f"{count:>10}" for count in counts))
    for outcome in outcomes if verbose else ():
        did = ", ".join(f"{call.name} {call.arguments}" for call in outcome.calls) or "words"
        lines.append(f"  {'ok' if outcome.useful else '--'} {outcome.wording}  →  {did}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=list(weights.known()), help="models of 'charter model list'")
    parser.add_argument("--charter", default="assistant")
    parser.add_argument("--verbose", action="store_true", help="a line for every wording")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    charter = load(chosen.charter)
    for name in chosen.models:
        path = weights.fetch(name)
        with Embedded(name, weights=lambda path=path: path) as model:  # type: ignore[misc]
            outcomes, back, names = measure(model, charter), recalled(model, charter), named(model)
        if chosen.json:
            other = {"recalled": {"notes": len(RECALLS), "answered": back}, "named": {"questions": len(WHO), **names}}
            print(json.dumps({name: {**rates(outcomes), **other}}))
        else:
            print(report(name, outcomes, chosen.verbose))
            print(f"  a note is in the answer to a question about it: {back} of {len(RECALLS)}")
            said = ", ".join(f"{who} {count}" for who, count in names.items())
            print(f"  asked in {len(WHO)} ways who it is, the agent gives its name: {said}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
