"""Model ⇄ tools: a model is asked, what it calls passes the gate, and it is asked again until it calls nothing."""

from __future__ import annotations

import contextlib
import hmac
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final, NamedTuple

from .agent import may_approve
from .beside import beside
from .core.carried import in_words, with_options
from .core.dialogue import Reply, Said, Talk, ToolCall
from .core.errors import CharterError, OverLimit, ProviderRefused, Refused
from .core.policy import ToolClass, Verdict, decide
from .core.ports import Request, Tool
from .core.records import Approval
from .core.state import State
from .core.text import block, cap, inline, spoken
from .core.window import within
from .course import Course
from .screening import hidden_in
from .sent import sent, tokens_of

RESULT_CHARS: Final = 16_000
APPROVAL_NS: Final = 24 * 3600 * 10**9
UNKNOWN_WINDOW: Final = 16_000
MARGIN: Final = 1.15  # our counts are estimates, and every message has a few tokens of its own
REREAD: Final = 2  # the same reading, one after the other; more is a circle
DEPTH: Final = 64  # of a call's arguments: what is nested deeper cannot be written on every wire
LOOK_SECONDS: Final = 0.1  # how soon a turn that waits for a tool knows that nobody wants it any more
LATER: Final = Verdict("deny", "TOOL_LATER", "this tool is the caller's; call it again in a reply of its own")
REPEATED: Final = Verdict(
    "deny", "TOOL_REPEATED", "this very call was just made; now answer in words, or the turn ends"
)
OUR_WORDS: Final = frozenset({"TOOL_BAD_ARGUMENTS", "TOOL_FAILED"})  # reasons that no tool wrote
_CANONICAL: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode
_CODE: Final = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
_UNFIT: Final = re.compile("[\0\ud800-\udfff]")

Hear = Callable[[str], None]


def converse(course: Course, hear: Hear) -> None:
    """Asks until the model calls nothing more; its words are in `course.texts`, in order."""
    asked_again = asked_for_words = False
    while True:
        reply = _ask(course, hear, words=asked_for_words)
        if course.state is State.INFERRING:
            course.to(State.ACTING)
        parsed = course.agent.read_calls(reply, tuple(course.tools))
        if parsed.problem and not asked_again:
            asked_again = True
            course.judged("format", Verdict("ask", parsed.problem))
            course.after += [Said("assistant", spoken(reply.text)), Said("user", parsed.again)]
            continue
        if parsed.text.strip():
            course.texts.append(parsed.text.strip())
        if not parsed.calls:
            return
        results = _act_on(course, parsed.calls)
        if course.handed or (course.circling and (asked_for_words or course.texts)):
            return
        native = course.agent.provider.native_tools
        calls = tuple(map(readable, parsed.calls)) if native else ()
        if course.circling:  # and nobody has heard a word yet
            asked_for_words, course.circling, calls = True, False, calls[: len(results)]
        said = Said("assistant", spoken(parsed.text if native else reply.text), calls)
        course.after += [said, *([_native(*one) for one in results] if native else [_written(results)])]


def _native(call: ToolCall, text: str) -> Said:
    return Said("tool", text, call_id=call.id, name=call.name)


def _written(results: list[tuple[ToolCall, str]]) -> Said:
    """Results for a model without tool calling: a message of ours, each in its frame."""
    return Said("user", "\n\n".join(result_message(call.name, text) for call, text in results))


def result_message(name: str, text: str) -> str:
    """What a tool answered, as a message of the user's role; its lines stand in the frame of outside text."""
    return f"Result of the tool {inline(name)}:\n{block(text or '(nothing)')}"


# ── asking ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _ask(course: Course, hear: Hear, *, words: bool) -> Reply:
    """One call of the model, with as much of the chat as its window has room for; in `words` it may call no tool."""
    course.may_go_on()
    agent, assembly = course.agent, course.assembly
    assert assembly is not None
    look_back(course)
    talk = Talk(course.before, tuple(course.after))
    stream = streams(course)
    provider = agent.provider
    body = assembly.payload(
        provider.dialect,
        model=provider.model,
        max_tokens=course.reply_tokens,
        talk=talk,
        options=_options(course, stream, words),
    )
    request = Request(body, assembly.expected(provider.dialect, body, talk), max(course.seconds_left, 0.1), stream)
    reply = provider.converse(request, hear)
    course.stepped(request, reply.usage, reply.stop)
    if reply.stop == "refused" and not reply.text.strip():
        raise ProviderRefused(provider.name, "the model refused to answer", "say it another way")
    return reply


def _options(course: Course, stream: bool, words: bool) -> Mapping[str, Any]:
    """The provider's own fields, with those that a caller who keeps its chat may set."""
    provider, carried = course.agent.provider, course.incoming.carried
    own = provider.options(stream=stream, max_tokens=course.reply_tokens)
    own = own if carried is None else with_options(provider.dialect, own, carried.options)
    return in_words(provider.dialect, own) if words else own


def streams(course: Course) -> bool:
    """Whether words leave as they come: they may, and a guard looks at them as they go."""
    return course.screen is not None


def may_stream(course: Course) -> bool:
    """Whether words may leave as they come: the channel streams, and its form needs no second look at the whole."""
    policy = course.policy
    whole = course.tools and not course.agent.provider.native_tools
    return policy.stream and policy.markdown and policy.max_chars is None and not whole


def look_back(course: Course) -> None:
    """Past exchanges as messages, as many as fit beside the layers and what was said in this turn (N-18).

    A chat that its caller keeps is sent whole: what of it could be missed, only the caller knows.
    """
    agent, assembly = course.agent, course.assembly
    assert assembly is not None
    count = assembly.settings.counter
    carried = course.before if course.incoming.carried is not None else ()
    since = sum(
        tokens_of(said.text, count) + sum(tokens_of(call.arguments, count) for call in said.calls)
        for said in (*carried, *course.after)
    )
    used = assembly.tokens + tokens_of(assembly.message, count) + since
    window = agent.provider.window
    room = (UNKNOWN_WINDOW if window is None else int(window / MARGIN) - course.reply_tokens) - used
    if window is not None and room < 0:
        raise OverLimit(f"about {used:,} tokens do not fit beside a reply in the window of {window:,} tokens")
    if carried:
        return
    if course.sent is None:
        course.sent = sent(assembly, course.past)
    kept = course.sent[within(course.past, [one.tokens for one in course.sent], room) :]  # the newest
    course.before = tuple([said for one in kept for said in one.said])
    course.rows_before = tuple([row for one in kept for row in one.rows])


# ── acting ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _act_on(course: Course, calls: Sequence[ToolCall]) -> list[tuple[ToolCall, str]]:
    """What the calls of one reply come to: ours are made; those of the caller's tools go back to it, in a reply of
    their own, and then there is nothing to answer here."""
    if course.theirs and all(call.name in course.theirs for call in calls):
        return _hand_back(course, calls)
    results = []
    for call in calls:
        later = call.name in course.theirs
        results.append((call, _denied(course.judged("tool", LATER, call.name)) if later else _act(course, call)))
        if course.circling:
            break
    return results


def _hand_back(course: Course, calls: Sequence[ToolCall]) -> list[tuple[ToolCall, str]]:
    """All of these calls for the caller to make; when one may not leave, none does, and the model is told.

    A caller that wants one call at a time gets the first.
    """
    carried = course.incoming.carried
    calls = calls if carried is None or carried.options.get("parallel_tool_calls", True) else calls[:1]
    verdicts = []
    for call in calls:
        course.may_go_on()
        verdict, _ = _gate(course, call, course.tools[call.name])
        verdicts.append(course.judged("tool", verdict, call.name))
        course.watch.called(call, verdict)
    if all(verdict.decision == "allow" for verdict in verdicts):
        course.handed = tuple(calls)
        return []
    answers = [LATER if verdict.decision == "allow" else verdict for verdict in verdicts]
    return [(call, _denied(verdict)) for call, verdict in zip(calls, answers, strict=True)]


def _act(course: Course, call: ToolCall) -> str:
    """One call through the gate: what it answers, or a code the model can read; none in a turn that may not go on."""
    course.may_go_on()
    tool = course.tools.get(call.name)
    verdict, arguments = _gate(course, call, tool)
    course.judged("tool", verdict, call.name if tool else "unknown")
    course.watch.called(call, verdict)
    text = _run(course, call, tool, arguments) if tool and verdict.decision == "allow" else _denied(verdict)
    course.watch.answered(call, text)
    return text


def _gate(course: Course, call: ToolCall, tool: Tool | None) -> tuple[Verdict, Mapping[str, Any]]:
    """Whether this call may be made now (S1-08, N-09); the first that does not allow it decides."""
    policies = {name: one.policy for name, one in course.tools.items()}
    verdict = decide(call.name, policies, state=str(course.state), calls=course.calls[call.name])
    if tool is None or verdict.decision == "deny":
        return verdict, {}
    arguments = _arguments(call)
    if arguments is None:
        return Verdict("deny", "TOOL_BAD_ARGUMENTS", "the arguments are not a plain JSON object; write them again"), {}
    theirs = call.name in course.theirs
    if _leaks(course, arguments, outside=theirs):
        return Verdict("deny", "TOOL_LEAKS", "the arguments repeat hidden text; leave it out, or answer in words"), {}
    if verdict.decision == "allow" and _sensitive(course, tool):
        verdict = Verdict("ask", "TOOL_TAINTED", "text of others entered this turn, so a person has to approve this")
    course.calls[call.name] += 1
    if not theirs and _repeated(course, call, arguments, tool):
        course.circling = True
        return REPEATED, {}
    return (_approved(course, call, arguments, verdict) if verdict.decision == "ask" else verdict), arguments


def _leaks(course: Course, arguments: Mapping[str, Any], *, outside: bool) -> bool:
    """Whether a call's arguments carry hidden text: into a note, a file, an address, to somebody's server.

    A call that goes `outside` to the caller is as good as a reply: there the agent's own layers are hidden too.
    """
    if course.assembly is None or not arguments:
        return False
    hidden = hidden_in(course.assembly, from_agent=not outside)
    verdict = course.agent.guards.reply.call(arguments, hidden, history=course.said())
    return verdict.decision != "allow" and course.judged("arguments", verdict).decision == "deny"


def _repeated(course: Course, call: ToolCall, arguments: Mapping[str, Any], tool: Tool) -> bool:
    """Whether a model goes round in circles: the very call it made last, again; a reading may be done twice."""
    digest = call_hash(call.name, arguments, None)
    times = course.last_call[1] + 1 if course.last_call[0] == digest else 1
    course.last_call = (digest, times)
    return times > (REREAD if tool.policy.kind is ToolClass.READ else 1)


def _arguments(call: ToolCall) -> dict[str, Any] | None:
    """A call's arguments; None when they are no object, or one that not every store and wire can hold."""
    try:
        found = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and _fits(found, DEPTH) else None


def _fits(value: object, depth: int) -> bool:
    if isinstance(value, str):
        return _UNFIT.search(value) is None
    if isinstance(value, float):
        return math.isfinite(value)
    inside = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else ()
    return not inside or (depth > 0 and all(_fits(one, depth - 1) for one in inside))


def readable(call: ToolCall) -> ToolCall:
    """A call as the model is told it made it; what cannot be read is not sent again, its error is in the result."""
    return call if _arguments(call) is not None else replace(call, arguments="{}")


def _sensitive(course: Course, tool: Tool) -> bool:
    """Whether taint makes a person's approval necessary; a tool that stages its change needs none."""
    if tool.policy.kind not in (ToolClass.WRITE, ToolClass.EXECUTE) or tool.stages:
        return False
    if tool.own and not course.acting.memory_of and not course.acting.may_amend:
        return True  # the memory is the agent's own, and someone else is speaking
    return course.acting.tainted


def call_hash(name: str, arguments: Mapping[str, Any], key: bytes | None) -> str:
    """What an approval is bound to: the tool and its arguments in canonical JSON, keyed where there is a key."""
    data = _CANONICAL([name, arguments]).encode()
    return (sha256(data) if key is None else hmac.new(key, data, sha256)).hexdigest()


def _approved(course: Course, call: ToolCall, arguments: Mapping[str, Any], verdict: Verdict) -> Verdict:
    """One approval, one execution: an earlier yes to this very call is used up, else a person is asked now."""
    agent, who = course.agent, course.acting.user
    digest = call_hash(call.name, arguments, agent.key)
    at_ns = agent.clock()
    if agent.store.use_approval(agent.name, who, call.name, digest, course.id, at_ns) is not None:
        return Verdict("allow", "TOOL_APPROVED")
    wanted = agent.store.request_approval(
        Approval(
            agent.new_id(), agent.name, course.id, call.name, json.dumps(arguments, ensure_ascii=False), digest,
            at_ns, at_ns + APPROVAL_NS, who,
        )
    )  # fmt: skip
    said = agent.approver.ask(wanted)
    course.waited_ns += agent.clock() - at_ns
    course.may_go_on()
    if said.decision == "ask" or not may_approve(agent.approver.by, who):
        return Verdict("deny", verdict.code, f"{verdict.reason}; it waits as approval {wanted.id}")
    yes = said.decision == "allow"
    with contextlib.suppress(Refused):  # someone else decided meanwhile, or its time is over: what is stored holds
        agent.store.decide_approval(
            wanted.id, digest, "approved" if yes else "denied", by=agent.approver.by, at_ns=agent.clock()
        )
    if not yes:
        return Verdict("deny", "TOOL_NOT_APPROVED", "a person said no to this call")
    if agent.store.use_approval(agent.name, who, call.name, digest, course.id, agent.clock()) is None:
        return Verdict("deny", "TOOL_NOT_APPROVED", "the approval does not hold")
    return Verdict("allow", "TOOL_APPROVED")


def _run(course: Course, call: ToolCall, tool: Tool, arguments: Mapping[str, Any]) -> str:
    """The tool's answer, defused, and capped unless it is ours (S4-09: instructions in full); a tool that fails answers
    with a code, and the turn goes on."""
    answer = _called(tool, arguments) if tool.inside else _beside(course, tool, arguments)
    if answer.error is not None:
        return _denied(course.judged("tool", _failure(course, tool, answer.error), call.name))
    if answer.foreign:
        course.acting.entered(f"tool:{call.name}")
    return spoken(answer.text if tool.inside else cap(answer.text, RESULT_CHARS).text)


class _Answer(NamedTuple):
    """What a tool came to: a text and whether it is of others, or what it raised."""

    text: str = ""
    foreign: bool = False
    error: BaseException | None = None


def _called(tool: Tool, arguments: Mapping[str, Any]) -> _Answer:
    try:
        found = tool.call(arguments)
        return _Answer(str(found), getattr(found, "foreign", tool.foreign))
    except Exception as error:  # a tool is somebody's code: whatever it raises is an answer to the model
        return _Answer(error=error)


def _beside(course: Course, tool: Tool, arguments: Mapping[str, Any]) -> _Answer:
    """Runs a tool beside the turn: one that hangs hangs no turn, and one that exits ends no program."""
    box: list[_Answer] = []

    def work() -> None:
        try:
            box.append(_called(tool, arguments))
        except BaseException as error:
            box.append(_Answer(error=error))

    done = beside(work, f"tool {tool.spec.name}")
    while not done.acquire(timeout=LOOK_SECONDS):
        if not box and course.seconds_left <= 0:
            course.judged("tool", Verdict("deny", "TOOL_TOO_SLOW"), tool.spec.name)
        if not box:
            course.may_stop()
    return box[0]


def _failure(course: Course, tool: Tool, error: BaseException) -> Verdict:
    """What a model is told of a tool that raised: its kind; a reason that is meant for it is text of the tool's."""
    if not isinstance(error, CharterError):
        return Verdict("deny", "TOOL_FAILED", f"the tool failed ({type(error).__name__})")
    code = getattr(error, "code", "")
    code = code if _CODE.fullmatch(code) else "TOOL_REFUSED"
    if tool.foreign and not tool.inside and code not in OUR_WORDS:
        course.acting.entered(f"tool:{tool.spec.name}")
    return Verdict("deny", code, spoken(cap(str(error), RESULT_CHARS).text))


def _denied(verdict: Verdict) -> str:
    return json.dumps({"error": verdict.code, "reason": verdict.reason})
