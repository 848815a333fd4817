"""What the embedded models do of themselves: how often each calls the right tool at temperature 0, as it is."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Final

from charter import Charter, Incoming, load, weights
from charter.core.dialogue import Reply, Said, Talk, ToolCall
from charter.core.ports import Request
from charter.providers.embedded import Embedded
from charter.tools.fallback import parse

STEPS: Final = 3
AT: Final = 1_767_261_600  # 2026-01-01 10:00 UTC

WORDINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "save_memory": (
        "Remember that my dog is called Rex.",
        "Please remember that my sister's birthday is on the 4th of May.",
        "Remember: the garage code is 4471.",
        "Keep in mind that I am allergic to peanuts.",
        "Don't forget that I parked on level 3.",
        "Make a note that the plumber comes on Tuesday.",
        "Note that my passport expires in March.",
        "Save this: my shoe size is 43.",
        "I want you to remember that I work at Nordwind.",
        "For later: Anna's phone number is 555-0142.",
        "My favourite tea is oolong, remember that.",
        "Store this in your memory: the wifi password is on the fridge.",
    ),
    "update_instructions": (
        "Always answer in bullet points.",
        "From now on, always answer in bullet points.",
        "Never use emojis.",
        "From now on, keep every answer under three sentences.",
        "Always reply in German.",
        "Always call me Captain.",
        "In future, always end your answers with a short summary.",
        "Never mention the weather again.",
        "Please always use metric units from now on.",
        "Change your instructions: always be formal.",
    ),
    "read_memory": (
        "What is my dog called?",
        "What do you know about me?",
        "Where did I park?",
        "What is my favourite tea?",
        "When is my sister's birthday?",
        "Am I allergic to anything?",
        "Where do I work?",
        "What did I ask you to remember?",
        "Which projects am I working on?",
        "Do you remember my shoe size?",
    ),
}
ANSWERS: Final = {
    "read_memory": "Nothing is kept yet, and no standing instructions are set.",
    "save_memory": "Kept.",
    "update_instructions": "The instructions are replaced; they hold from the next message on.",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a model did with one wording: the tools it called, in order, and whether it wrote a call as text."""

    wording: str
    wanted: str
    called: tuple[str, ...]
    arguments: tuple[str, ...] = field(repr=False)
    written: bool
    seconds: float

    @property
    def first(self) -> bool:
        return self.called[:1] == (self.wanted,)

    @property
    def at_all(self) -> bool:
        return self.wanted in self.called


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
    called, arguments = tuple(call.name for call in calls), tuple(call.arguments for call in calls)
    return Outcome(text, wanted, called, arguments, written, perf_counter() - begin)


def _calls(reply: Reply, names: Sequence[str]) -> tuple[ToolCall, ...]:
    return reply.calls or parse(reply.text, names).calls


def measure(model: Embedded, charter: Charter) -> list[Outcome]:
    """Every wording once; at temperature 0 a second time would be the same."""
    return [converse(model, charter, text, wanted) for wanted, wordings in WORDINGS.items() for text in wordings]


def rates(outcomes: Sequence[Outcome]) -> dict[str, dict[str, int]]:
    table = {}
    for wanted in WORDINGS:
        rows = [outcome for outcome in outcomes if outcome.wanted == wanted]
        table[wanted] = {
            "wordings": len(rows),
            "first": sum(row.first for row in rows),
            "at_all": sum(row.at_all for row in rows),
            "written": sum(row.written for row in rows),
        }
    return table


def report(name: str, outcomes: Sequence[Outcome], verbose: bool) -> str:
    seconds = sum(outcome.seconds for outcome in outcomes) / len(outcomes)
    lines = [
        f"{name}, temperature 0, {seconds:.1f} s a wording",
        f"  {'tool':<22}{'at once':>9}{'at all':>9}{'as text':>9}",
    ]
    for tool, row in rates(outcomes).items():
        counts = [f"{row[key]} of {row['wordings']}" for key in ("first", "at_all", "written")]
        lines.append(f"  {tool:<22}" + "".join(f"{count:>9}" for count in counts))
    if verbose:
        lines += [
            f"  {'ok' if row.at_all else '--'} {row.wording}  →  {', '.join(row.called) or 'words'}" for row in outcomes
        ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=list(weights.known()), help="models of 'charter model list'")
    parser.add_argument("--charter", default="assistant")
    parser.add_argument("--verbose", action="store_true", help="a line for every wording")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    for name in chosen.models:
        path = weights.fetch(name)
        with Embedded(name, weights=lambda path=path: path) as model:  # type: ignore[misc]
            outcomes = measure(model, load(chosen.charter))
        print(
            json.dumps({name: rates(outcomes)}) if chosen.json else report(name, outcomes, chosen.verbose), flush=True
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
