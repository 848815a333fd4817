"""The inbox: a message is left, and answered when the agent comes to it; its sender alone reads what was said."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final, Literal

from fastapi import Header, Path, Query
from pydantic import Field

from ...app import now_ns
from ...core.errors import BadValue, NotAllowed, NotStored
from ...core.incoming import sender_key
from ...core.records import InboxMessage
from ..ethereum import Signed, known
from ..who import Caller
from .common import SIGNER, WRITING, At, Body, Here, Id, Name, Told, Words, open_to, owned, room

router = room("inbox")
CHANNEL: Final = "inbox"
SENDERS: Final = ("sender", "user", "operator", SIGNER)
Seconds = Annotated[int, Field(ge=0, lt=2**40)]


class Letter(Body):
    """A message. A token says who sends it; an operator may name another; an Ethereum address without a token signs
    (`sender`, `id`, `at` and `signature`, over the statement of docs/api.md)."""

    text: Words
    id: Id = ""
    sender: Annotated[Name, Field(max_length=500)] = ""
    at: Seconds = 0
    signature: Name = ""


class Posted(Told):
    """A message that is in the inbox; `new` says that this request put it there."""

    id: str
    state: Literal["waits", "answered"]
    new: bool


class State(Told):
    """What became of a message: `reply` is what was said to it, part by part, once it is answered."""

    id: str
    state: Literal["waits", "answered"]
    reply: list[str]


@router.post(
    "/agents/{agent}/inbox", response_model=Posted, status_code=202, **open_to(*SENDERS, fails=(*WRITING, 501))
)
def post(here: At, body: Letter) -> Posted:
    """Leave a message. The same id again, by the same sender, is the same message."""
    here = _known(here, Signed("message", here.name, body.id, body.sender, body.at, body.text), body.signature)
    sender = _sender(here, body.sender)
    name = body.id or here.agent.new_id()
    channel = here.caller.channel or CHANNEL
    if channel not in here.charter.channels:
        raise BadValue("channel", "the token's channel is not one of this agent's")
    user = sender if here.caller.role == "user" else ""
    message = InboxMessage(owned(sender, name), sender, body.text, now_ns(), channel, user)
    new = here.store.stage(here.name, message)
    return Posted(id=name, state="answered" if here.store.answered_by(here.name, message.id) else "waits", new=new)


@router.get("/agents/{agent}/inbox/{message}", response_model=State, **open_to(*SENDERS, fails=(404, 501)))
def state(
    here: At,
    message: Annotated[str, Path(min_length=1, max_length=128, description="The message's id.")],
    sender: Annotated[str, Query(max_length=500, description="Whose message; for operators.")] = "",
    x_charter_sender: Annotated[str, Header(max_length=42, description="An Ethereum address that signs.")] = "",
    x_charter_at: Annotated[int, Header(ge=0, lt=2**40, description="When it signed, in seconds.")] = 0,
    x_charter_signature: Annotated[str, Header(max_length=200, description="Its signature.")] = "",
) -> State:
    """Whether a message was answered, and what was said; for its sender and operators."""
    here = _known(here, Signed("reading", here.name, message, x_charter_sender, x_charter_at), x_charter_signature)
    whose = _sender(here, sender)
    key = owned(whose, message)
    turn = here.store.answered_by(here.name, key)
    if turn is None:
        raise NotStored("message of this id from this sender")
    said = here.store.replies(here.name, whose, turn_id=turn) if turn else []
    if here.caller.role != "operator":
        for name, reply in said:
            if reply.channel == CHANNEL:  # on any other channel, who carries it there says that it was sent
                here.store.mark_sent(here.name, name, reply, now_ns())
    return State(id=message, state="answered" if turn else "waits", reply=[reply.body for _, reply in said])


def _known(here: Here, signed: Signed, signature: str) -> Here:
    """The same request with a caller: the token's, or who signed."""
    found: Caller | None = here.caller
    if found is not None:
        return here
    return replace(here, caller=Caller("sender", known(signed, signature, at_ns=now_ns())))


def _sender(here: Here, named: str) -> str:
    """Whose message it is: the caller's own; an operator may say whose."""
    own = sender_key(here.caller.name)
    if not named or sender_key(named) == own:
        return own
    if here.caller.role != "operator":
        raise NotAllowed("the token says who sends; leave out sender")
    return sender_key(named)
