"""What an engine finds in its cache: the leading segments that are, byte for byte, those of the turn before (N-06)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

Kind = Literal["layer", "tools", "message"]
How = Literal["changed", "added", "removed", "cut", "anew", "left", "reply", "calls"]


@dataclass(frozen=True, slots=True)
class Segment:
    """One stretch of a request in the order an engine sees it; `sha256` is empty when nobody knows it any more.

    A layer's `id` is its own; a message is `past`, `message`, `since` (said with tools in that turn) or `reply`.
    """

    kind: Kind
    id: str
    sha256: str
    tokens: int
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Break:
    """Where two requests part, and how: a layer or the tools changed, came or went; or the messages did.

    `cut` says that the oldest messages gave way (N-18), by so many; `anew`, that there are none any more; `left`, that
    the message before is not sent again; `reply`, that the answer is not sent as the model said it; `calls`, that what
    was said with tools is not sent again.
    """

    kind: Kind
    id: str
    how: How
    count: int = 0


@dataclass(frozen=True, slots=True)
class Prediction:
    """What of a request is in the cache, in tokens as we count them; `kept` is in segments.

    `cached` is found there; `beyond` is the same too, but behind the last end the provider keeps; `lost` stood in the
    request before and is paid again because something above it changed; `below` is the part of it that are layers.
    """

    kept: int
    total: int
    cached: int
    beyond: int
    lost: int
    below: int
    broke: Break | None

    @property
    def fresh(self) -> int:
        """What was not in the request before."""
        return self.total - self.cached - self.beyond - self.lost

    @property
    def share(self) -> float:
        return self.cached / self.total if self.total else 0.0


def predict(
    previous: Sequence[Segment], this: Sequence[Segment], *, inside: int = 0, ends: Collection[int] | None = None
) -> Prediction:
    """What an engine that has just done `previous` has in its cache of `this`.

    `inside` is how many tokens of the first segment that differs are the same; `ends` are the counts of leading
    segments after which the provider keeps a prefix, None when it may end anywhere.
    """
    kept = common(previous, this)
    broke = _broke(previous, this, kept)
    rest = list(this[kept:]) if broke else []
    inside = min(inside, rest[0].tokens) if rest else 0
    same = sum(segment.tokens for segment in this[:kept]) + inside
    last = max((end for end in ends if end <= kept), default=0) if ends is not None else kept
    cached = same if ends is None else sum(segment.tokens for segment in this[:last])
    if rest:
        rest[0] = replace(rest[0], tokens=rest[0].tokens - inside)
    again = _again(previous[kept:], rest)
    return Prediction(
        kept=kept,
        total=sum(segment.tokens for segment in this),
        cached=cached,
        beyond=same - cached,
        lost=sum(segment.tokens for segment in again),
        below=sum(segment.tokens for segment in again if segment.kind == "layer"),
        broke=broke,
    )


def common(previous: Sequence[Segment], this: Sequence[Segment]) -> int:
    """How many leading segments are the same."""
    for number, (one, other) in enumerate(zip(previous, this, strict=False)):
        if not one.sha256 or one.sha256 != other.sha256:
            return number
    return min(len(previous), len(this))


def _again(previous: Sequence[Segment], this: Sequence[Segment]) -> list[Segment]:
    """What stood in the request before, wherever; each as often as it stood there."""
    there = Counter(segment.sha256 for segment in previous if segment.sha256)
    found = []
    for segment in this:
        if there[segment.sha256] > 0:
            there[segment.sha256] -= 1
            found.append(segment)
    return found


# ── how they part ─────────────────────────────────────────────────────────────────────────────────────────────────


def _broke(previous: Sequence[Segment], this: Sequence[Segment], kept: int) -> Break | None:
    """None when one is the beginning of the other: then nothing that was in the cache is missed."""
    if kept >= min(len(previous), len(this)):
        return None
    was, now = previous[kept], this[kept]
    if was.kind == now.kind == "message":
        return _between_messages(previous[kept:], this[kept:])
    if was.kind == now.kind and was.id == now.id:
        return Break(now.kind, now.id, "changed")
    later = {(segment.kind, segment.id) for segment in previous[kept:]}
    gone = now.kind == "message" or (now.kind, now.id) in later
    return Break(was.kind, was.id, "removed") if gone else Break(now.kind, now.id, "added")


_ENDED: Final[Mapping[str, How]] = {"reply": "reply", "since": "calls"}  # what a turn ends with, and is not past yet


def _between_messages(previous: Sequence[Segment], this: Sequence[Segment]) -> Break:
    was, now = previous[0], this[0]
    if was.id in _ENDED:
        return Break("message", now.id, _ENDED[was.id])
    for number, segment in enumerate(previous):
        if now.sha256 and segment.sha256 == now.sha256:
            return Break("message", now.id, "cut", number)
    if now.id != "message":
        return Break("message", now.id, "changed")
    return Break("message", now.id, "anew" if was.id == "past" else "left")
