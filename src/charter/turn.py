"""The line: a message is staged, taken, answered and recorded; a turn that fails leaves its messages waiting."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Final

from .agent import Agent, Unwatched, Watch, unheard
from .caller import refuse_unplaced, their_talk, their_tools
from .converse import converse, may_stream, streams
from .core.dialogue import Usage
from .core.errors import Answered, BadValue, Busy, CharterError, OverSpend, Paused
from .core.incoming import EPOCH, Incoming
from .core.records import ConversationEntry, InboxMessage, OutboxMessage, Settled, TurnRecord
from .core.shape import shape
from .core.silence import is_silent
from .core.state import State
from .course import Course, acting_for, day_of, policy_of, refuse_spent
from .screening import hidden_in
from .voice import Voice

if TYPE_CHECKING:
    from .core.assemble import Assembly
    from .core.dialogue import ToolCall

__all__ = ["Agent", "Turn", "take_turn"]

UNWATCHED: Final = Unwatched()
MESSAGES: Final = 20  # of one sender, answered together


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn that came to its end: what was sent, in the form of its channel, and what is kept of it.

    `calls` are those of the caller's own tools, for the caller to make; `stop` is why the model stopped.
    """

    id: str
    outcome: str
    code: str
    parts: tuple[str, ...] = field(repr=False)
    usage: Usage
    record: TurnRecord
    assembly: Assembly
    calls: tuple[ToolCall, ...] = ()
    stop: str = "end"

    @property
    def reply(self) -> str:
        return "\n\n".join(self.parts)


def take_turn(agent: Agent, incoming: Incoming, watch: Watch = UNWATCHED) -> Turn:
    """Carries a message through: gather → assemble → guard → converse → screen → shape → record.

    Without a text, the oldest message that waits is answered; when none waits, the agent acts by itself. An error means
    that nothing of the turn is kept but its record, and that its messages wait again.
    """
    course = _begin(agent, incoming, watch)
    with agent.keep(course.id):
        return _go(course, incoming)


def _go(course: Course, incoming: Incoming) -> Turn:
    """The turn from here on is under way: whatever happens, it ends in a record."""
    try:
        course.to(State.LOADING)
        _hear(course, incoming)
        assembly = _assemble(course)
        course.to(State.INFERRING)
        text = _answer(course)
        parts = _shape(course, text)
        course.to(State.PERSISTING)
        record = _record(course, text, parts)
    except BaseException as error:
        _fault(course, error)
        raise
    with contextlib.suppress(Exception):  # it is written: who looks on cannot make it fail any more
        course.to(State.SLEEPING)
        _note(course, record)
    stop = course.steps[-1]["stop"] if course.steps else "end"
    return Turn(
        course.id, record.outcome, record.code, tuple(parts), course.usage, record, assembly, course.handed, stop
    )


# ── gather and assemble ───────────────────────────────────────────────────────────────────────────────────────────


def _begin(agent: Agent, incoming: Incoming, watch: Watch) -> Course:
    """Stages the message and takes what this turn answers; one turn in flight per sender, or per agent (S0-15).

    Of a caller that keeps its own chat nothing is staged: it has the message, and sends it again if it wants to.
    """
    at = incoming.at or EPOCH + timedelta(microseconds=agent.clock() // 1000)
    asked = bool(incoming.text.strip())
    sender = incoming.sender or incoming.user or ("unknown" if asked else "")
    model = incoming.model or agent.provider.model
    heard = incoming.heard(at, agent.name, model, sender)
    course = Course(agent, heard, agent.new_id(), watch)
    if not 0 <= course.acting.at_ns < 2**63:
        raise BadValue("at", "a time that can be kept lies between 1970 and 2262")
    if incoming.carried is not None and not asked:
        raise BadValue("text", "a chat that its caller keeps has a message to answer")
    name, at_ns = incoming.id or agent.new_id(), course.started_ns
    stages = asked and incoming.carried is None
    message = InboxMessage(name, sender, incoming.text, at_ns, incoming.channel, incoming.user) if stages else None
    try:
        _take(course, message)
    except (Paused, OverSpend):
        if message is not None:  # it waits until the agent goes on
            agent.store.stage(agent.name, message)
        raise
    return course


def _take(course: Course, message: InboxMessage | None) -> None:
    """Takes the lane of who speaks or is named, else of whoever waits longest and has no turn under way, if it may
    (N-19)."""
    agent, sender = course.agent, course.incoming.sender
    day, may = day_of(course.incoming), partial(refuse_spent, agent.name)
    most = MESSAGES if course.incoming.carried is None else 0
    lanes = [""] if agent.charter.one_at_a_time else [sender] if sender else _lanes(course)
    for number, lane in enumerate(lanes, 1):
        try:
            course.taken = agent.store.take(
                agent.name, course.id, lane=lane, sender=sender or lane, message=message,
                at_ns=course.started_ns, lease_ns=agent.lease_ns, max_senders=1, max_messages=most, day=day, may=may,
            )  # fmt: skip
            break
        except Busy:
            if number == len(lanes):
                raise


def _lanes(course: Course) -> list[str]:
    """Senders whose messages wait, the one that waits longest first; without any, the agent's own lane.

    What a turn that died had taken waits again once its lease is over.
    """
    agent = course.agent
    agent.store.lapse(agent.name, course.started_ns)
    return list(dict.fromkeys(message.sender for message in agent.store.staged(agent.name))) or [""]


def _hear(course: Course, asked: Incoming) -> None:
    """What is answered: everything this sender said that waits, in order and whole.

    Words that came another way, or under another name, are not those of who is speaking now.
    """
    incoming, taken = course.incoming, course.taken
    if incoming.carried is not None:
        return
    if asked.text.strip() and not taken:
        raise Answered("this message was answered before; nothing was done again")
    if not taken:
        if not course.agent.charter.autonomous:
            raise Answered("nobody is waiting, and this charter has no line for an agent that acts by itself")
        return
    if not asked.text.strip():
        first = taken[0]
        incoming = replace(incoming, sender=first.sender, user=first.user, channel=first.channel, operator=False)
        course.policy = policy_of(course.agent, first.channel)
    same = all((message.user, message.channel) == (incoming.user, incoming.channel) for message in taken)
    text = "\n\n".join(message.body for message in taken)
    if same and text == course.incoming.text:
        return
    course.incoming = replace(incoming, text=text, operator=incoming.operator and same)
    course.acting = acting_for(course)
    if not same:
        course.acting.entered("other senders")


def _assemble(course: Course) -> Assembly:
    """The prompt, from one reading of the store; the tools are made for this turn and closed over who speaks."""
    agent, incoming = course.agent, course.incoming
    charter = agent.charter
    own, carried = agent.tools(course.acting), incoming.carried
    theirs = their_tools(carried, own)
    course.tools, course.theirs = {**own, **theirs} if theirs else own, frozenset(theirs)
    world = charter.with_tools(list(course.tools.values()), agent.provider.native_tools, agent.store)
    course.mode = charter.choose_mode(incoming)
    talks = charter.talks and bool(incoming.text.strip()) and carried is None
    reads = charter.read(incoming, mode=course.mode, world=world, also=("talk",) if talks else ())
    if talks and reads is not None:
        course.past = reads.exchanges(agent.name, incoming.sender or incoming.user)
    course.assembly = assembly = charter.assemble(incoming, mode=course.mode, world=world, reads=reads)
    course.acting.versions = partial(_version_seen, assembly)
    if carried is not None:
        refuse_unplaced(carried, assembly)
        talk = their_talk(carried, assembly, native=agent.provider.native_tools)
        course.before, course.after = talk.before, list(talk.after)
        if carried.foreign:
            course.acting.entered("tool:caller")
    for whose in assembly.foreign:
        course.acting.entered(whose)
    return assembly


def _version_seen(assembly: Assembly, name: str) -> int | None:
    """The version of a layer that this prompt shows; None when it shows none that counts."""
    return next((int(one.version) for one in assembly.entries if one.id == name and one.version.isdigit()), None)


# ── guard, converse and screen ────────────────────────────────────────────────────────────────────────────────────


def _answer(course: Course) -> str:
    """What is said: the model's words, or the charter's refusal where a guard denies the question or the answer."""
    agent, incoming = course.agent, course.incoming
    history = course.said()
    verdict = course.judged("message", agent.guards.message(incoming.text, history[:-1]))
    if verdict.decision == "deny":
        course.to(State.ACTING)
        return _refuse(course, verdict.code)
    assert course.assembly is not None
    hidden = hidden_in(course.assembly)
    course.screen = agent.guards.reply.stream(hidden, history=history) if may_stream(course) else None
    voice = Voice(course)
    converse(course, voice.hear)
    text = "\n\n".join(course.texts)
    if course.handed:
        course.code = "TOOL_CALLS"
    if is_silent(text, agent.charter.silence):
        if not course.handed:
            course.outcome, course.code = "silent", "SILENT"
        return ""
    said = voice.end() if streams(course) else agent.guards.reply.whole(text, hidden, history=history)
    verdict = course.judged("reply", said)
    return _refuse(course, verdict.code) if verdict.decision == "deny" else text


def _refuse(course: Course, code: str) -> str:
    course.outcome, course.code = "refused", code
    course.handed = ()  # what is said no to does not leave in a call either
    return course.agent.charter.refusal


def _shape(course: Course, text: str) -> list[str]:
    """The reply in the form of its channel; where words did not leave as they came, they leave now, whole."""
    via = course.incoming.via
    parts = shape(text, policy_of(course.agent, via) if via else course.policy) if text else []
    if course.policy.stream and text and (not streams(course) or course.outcome == "refused"):
        course.watch.text(f"\n\n{text}" if course.spoken else text)
    return parts


# ── record ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _record(course: Course, text: str, parts: Sequence[str]) -> TurnRecord:
    """Writes everything at once: messages done, replies to send, the exchange, what tools changed, the record."""
    incoming, acting = course.incoming, course.acting
    to = incoming.sender or incoming.user
    record = course.record()
    by = incoming.via or incoming.channel
    sends = to and incoming.carried is None  # who keeps its chat is handed the reply, and nobody sends it
    replies = [OutboxMessage(to, part, by, number) for number, part in enumerate(parts)] if sends else []
    entries = _exchange(course, text, record.at_ns)
    course.agent.store.settle(
        Settled(
            record, replies, entries if text else (),
            changes=tuple(acting.changes.values()), notes=tuple(acting.notes), proposals=tuple(acting.proposals),
        )
    )  # fmt: skip
    return record


def _exchange(course: Course, reply: str, at_ns: int) -> list[tuple[str, ConversationEntry]]:
    """What was said, for the log of this chat: every message, the reply beside the last."""
    incoming = course.incoming
    if incoming.carried is not None:
        name = incoming.id or course.agent.new_id()
        return [(incoming.sender, ConversationEntry(name, incoming.text, reply, course.id, at_ns))]
    last = len(course.taken) - 1
    return [
        (message.sender, ConversationEntry(message.id, message.body, reply if number == last else "", course.id, at_ns))
        for number, message in enumerate(course.taken)
    ]


def code_of(error: BaseException) -> str:
    """The code a record gives an error: its own, or its class's name."""
    if not isinstance(error, Exception):
        return "TURN_CANCELLED"
    if not isinstance(error, CharterError):
        return "INTERNAL_ERROR"
    return getattr(error, "code", "") or re.sub(r"(?<!^)(?=[A-Z])", "_", type(error).__name__).upper()


def _fault(course: Course, error: BaseException) -> None:
    """The turn failed: its messages wait again, the record says why; a store that is gone cannot be told."""
    course.state = State.FAULTED
    course.outcome, course.code = "failed", code_of(error)
    with contextlib.suppress(Exception):  # who looks on cannot hide why it failed, and stops interrupting
        course.watch.moved(State.FAULTED)
    with contextlib.suppress(CharterError):
        course.agent.store.fail(course.record())
    with contextlib.suppress(Exception):
        course.agent.note("turn failed", {"agent": course.agent.name, "turn": course.id, "code": course.code})


def _note(course: Course, record: TurnRecord) -> None:
    """What a log may say of a turn: hashes and counts (S1-07)."""
    if course.agent.note is unheard:
        return
    course.agent.note(
        "turn",
        {
            "agent": record.agent,
            "turn": record.id,
            "charter": record.charter,
            "channel": record.channel,
            "outcome": record.outcome,
            "code": record.code,
            "stack_sha256": record.stack_sha256,
            "payload_sha256": record.payload_sha256,
            "layers": {entry.id: entry.sha256 for entry in course.assembly.entries} if course.assembly else {},
            **record.counts,
        },
    )
