"""Values that no store can keep, each kind for itself; contracts hold a store to refuse them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..core.records import Author, ConversationEntry, OutboxMessage, Place, TurnRecord
from .parts import ADDRESS, AGENT, OPERATOR, agent_in, wishes

BAD_TEXTS = ("a\0b", "\0", "\ud800", "x\udfffy", "\ud83d")
BAD_NAMES = ("", "x" * 201, "two\nlines", "tab\t", "\u2028", *BAD_TEXTS)
BAD_KEYS = ("x" * 201, "two\nlines", *BAD_TEXTS)  # where empty means: nobody
BAD_SENDERS = ("", " \n", "x" * 501, "👋" * 251, ADDRESS[:-2], *BAD_TEXTS)
BAD_TIMES = (-1, -(2**63), -(2**70), 2**63, 2**70)
BAD_NOTES = ("", "x", "-1", "1.5", " 1", "1 ", "١", "9" * 19, "1e3", "0x1", *BAD_TEXTS)
TURN_TEXTS = (
    "channel",
    "sender",
    "user",
    "charter",
    "charter_version",
    "mode",
    "code",
    "stack_sha256",
    "manifest",
    "detail",
)


def bad_records(good: TurnRecord) -> Iterator[TurnRecord]:
    yield from (replace(good, agent=name) for name in BAD_NAMES)
    yield from (replace(good, id=name) for name in BAD_NAMES)
    yield from (replace(good, at_ns=time) for time in BAD_TIMES)
    for field in TURN_TEXTS:
        yield from (replace(good, **_given(field, text)) for text in BAD_TEXTS)


def bad_replies(good: OutboxMessage) -> Iterator[OutboxMessage]:
    yield from (replace(good, recipient=name) for name in BAD_SENDERS)
    yield from (replace(good, part=part) for part in BAD_TIMES)
    for text in BAD_TEXTS:
        yield from (replace(good, body=text), replace(good, channel=text))


def bad_entries(good: ConversationEntry) -> Iterator[tuple[str, ConversationEntry]]:
    yield from ((name, good) for name in BAD_SENDERS)
    yield from (("mira", replace(good, timestamp_ns=time)) for time in BAD_TIMES)
    for field in ("inbox_message_id", "sender_body", "agent_reply", "turn_id"):
        yield from (("mira", replace(good, **_given(field, text))) for text in BAD_TEXTS)


def bad_places() -> list[Place]:
    places = [place for name in BAD_NAMES for place in (Place(name, "rules"), Place(AGENT, name))]
    return places + [wishes(name) for name in BAD_KEYS]


def bad_authors_and_times() -> Iterator[dict[str, Any]]:
    for text in BAD_TEXTS:
        yield from ({"by": Author(OPERATOR.actor, text)}, {"by": agent_in(text)})
    yield from ({"at_ns": time} for time in BAD_TIMES)


def _given(field: str, value: Any) -> dict[str, Any]:
    return {field: value}
