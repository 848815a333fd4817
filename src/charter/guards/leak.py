"""A reply that gives away hidden text does not leave: in any view, order or writing, and in pieces over a session.

What the person said themselves is no secret, and what anyone may say is no leak: overlaps are weighed, rare words and
long runs much, common words and stock phrases little. A finding names the layer, the place and the way, never the text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote_plus

from .finding import Finding, Span
from .leak_scan import scan_of
from .leak_stream import Screen
from .quiet import quietly

__all__ = ["Screen", "scan_call", "scan_reply"]


@quietly
def scan_reply(
    reply: str, hidden: str | Mapping[str, str], *, history: Iterable[Any] = (), canaries: Iterable[str] = ()
) -> Finding:
    """Whether a reply may leave; deny names the layer, the place in the reply and the way it was hidden."""
    return scan_of(hidden, history=history, canaries=canaries).reply(reply)


@quietly
def scan_call(
    arguments: str | Mapping[str, Any],
    hidden: str | Mapping[str, str],
    *,
    history: Iterable[Any] = (),
    canaries: Iterable[str] = (),
) -> Finding:
    """The same for what a tool is called with: arguments as JSON or text, a memory, a file's content, an address.

    They are read as written, and again with every string of theirs decoded and joined; a leak that only shows there has
    the whole text for its place.
    """
    text = arguments if isinstance(arguments, str) else json.dumps(dict(arguments), ensure_ascii=False, default=str)
    scan = scan_of(hidden, history=history, canaries=canaries)
    found = scan.reply(text)
    if found.decision != "allow":
        return found
    strings = list(_strings(_parsed(text)))
    for joined in ("\n".join(strings), "".join(strings)):
        found = scan.reply(unquote_plus(joined))
        if found.decision != "allow":
            place = Span(0, len(text), found.code, found.reason)
            return Finding(found.decision, found.code, found.reason, (place,), found.signs, found.layer)
    return found


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _strings(value: Any) -> Iterator[str]:
    """Every string in a value, keys too, in their order."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping):
            waiting += [part for pair in item.items() for part in pair][::-1]
        elif isinstance(item, list | tuple):
            waiting += reversed(item)
        elif item is not None and not isinstance(item, bool):
            yield str(item)
