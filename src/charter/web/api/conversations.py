"""Conversations: to operators everyone's, to a person their own and no other."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path

from ...core.errors import NotStored
from ...interfaces import get_conversation, list_conversations
from .common import At, Told, open_to, room

router = room("conversations")


class Talk(Told):
    """A conversation in a list."""

    sender: str
    last_activity_ns: int
    count: int


class Entry(Told):
    """One exchange as the log keeps it: the first characters of each side."""

    id: str
    turn: str
    at_ns: int
    text: str
    reply: str


class Log(Told):
    """What was said with one sender, oldest first."""

    sender: str
    last_activity_ns: int
    entries: list[Entry]


class Exchange(Told):
    """One exchange, whole."""

    turn: str
    at_ns: int
    text: str
    reply: str


@router.get("/agents/{agent}/conversations", response_model=list[Talk], **open_to("operator"))
def conversations(here: At) -> list[Talk]:
    """Everyone the agent talks with, newest first."""
    found = list_conversations(here.store, agent=here.name, charter=here.charter)
    return [Talk(sender=one.sender, last_activity_ns=one.last_activity_ns, count=one.count) for one in found]


@router.get("/agents/{agent}/conversations/{sender:path}", response_model=Log, **open_to("operator"))
def conversation(here: At, sender: Annotated[str, Path(max_length=500, description="With whom.")]) -> Log:
    """What was said with one sender."""
    found = get_conversation(sender, store=here.store, agent=here.name, charter=here.charter)
    if found is None:
        raise NotStored("conversation with this sender")
    entries = [
        Entry(id=one.inbox_message_id, turn=one.turn_id, at_ns=one.timestamp_ns, text=one.sender_body,
              reply=one.agent_reply)
        for one in found.entries
    ]  # fmt: skip
    return Log(sender=found.sender, last_activity_ns=found.last_activity_ns, entries=entries)


@router.get("/agents/{agent}/conversation", response_model=list[Exchange], **open_to("user", "operator"))
def own(here: At) -> list[Exchange]:
    """One's own chat since it began anew, whole, oldest first."""
    log = here.store.conversation(here.name, here.caller.name)
    times = {entry.turn_id: entry.timestamp_ns for entry in log.entries} if log else {}
    return [
        Exchange(turn=one.turn_id, at_ns=times.get(one.turn_id, 0), text=one.text, reply=one.reply)
        for one in here.store.exchanges(here.name, here.caller.name)
    ]
