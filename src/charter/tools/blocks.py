"""Where the blocks of a reply begin that may be calls; quoted ones and ones shown inside other blocks are examples."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Final, NamedTuple

LEAD: Final = 64  # how far back a line is looked at
MARKED: Final = frozenset({"tool_call", "tool-call", "toolcall", "tool_calls", "function_call", "tool"})
UNMARKED: Final = frozenset({"", "json", "json5", "jsonc"})
TAGS: Final = r"(?:tool_call|function_call)"

_BEGIN: Final = re.compile(rf"(?P<fence>`{{3,}}|~{{3,}})[ \t]*+(?P<label>[A-Za-z0-9_+#.-]*+)|<(?P<tag>{TAGS})>")


class Begin(NamedTuple):
    """Where a block begins, where its content does, what its first line calls it, and whether it stands indented."""

    at: int
    inside: int
    label: str = ""
    indented: bool = False


def begins(text: str) -> Iterator[Begin]:
    """Every beginning that stands free, in order."""
    found = [(match, _lead(text, match.start())) for match in _BEGIN.finditer(text)]
    for (match, lead), shown in zip(found, _shown(text, found), strict=True):
        label = "tool_call" if match["tag"] else match["label"].lower()
        ticked = match["tag"] and text[match.start() - 1 : match.start()] == "`"
        if shown or ticked or ">" in (lead or "") or (lead is None and label not in MARKED):
            continue
        yield Begin(match.start(), match.end(), label, len((lead or "").expandtabs(4)) > 3)


def _lead(text: str, at: int) -> str | None:
    """What stands before a block on its line: white space and quotation marks; None when there are words."""
    _, newline, lead = text[max(0, at - LEAD) : at].rpartition("\n")
    return lead if not lead.strip(" \t>") and (newline or at <= LEAD) else None


def _shown(text: str, found: list[tuple[re.Match[str], str | None]]) -> list[bool]:
    """For every beginning, whether it lies in a block of another sort that has an end, or is itself such an end."""
    depth = [0] * (len(found) + 1)
    ends = [False] * len(found)
    waiting: list[tuple[int, str, str]] = []
    for number, (match, lead) in enumerate(found):
        fence, label = match["fence"] or "", (match["label"] or "").lower()
        if not fence or (lead is None and label not in MARKED):
            continue
        bare = not label and text[match.end() : match.end() + 1] in ("", "\n", "\r")
        if not (bare and waiting and fence.startswith(waiting[-1][1])):
            waiting.append((number, fence, label))
            continue
        begun, _, sort = waiting.pop()
        ends[number] = True
        if sort not in MARKED:
            depth[begun + 1] += 1
            depth[number] -= 1
    return [end or inside > 0 for end, inside in zip(ends, accumulate(depth), strict=False)]
