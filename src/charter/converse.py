"""Model ⇄ tools: a model is asked, what it calls passes the gate, and it is asked again until it calls nothing."""

from __future__ import annotations

import hmac
import json
import threading
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, Final

from .core.dialogue import Reply, Said, Talk, ToolCall
from .core.errors import CharterError, OverLimit, ProviderRefused
from .core.policy import ToolClass, Verdict, decide
from .core.ports import Request, Tool
from .core.records import Approval, Exchange
from .core.state import State
from .core.text import cap, framed, spoken
from .core.window import within
from .course import Course

RESULT_CHARS: Final = 16_000
APPROVAL_NS: Final = 24 * 3600 * 10**9
UNKNOWN_WINDOW: Final = 16_000
MARGIN: Final = 1.15  # our counts are estimates, and every message has a few tokens of its own
MESSAGE_TOKENS: Final = 8

Hear = Callable[[str], None]


def converse(course: Course, hear: Hear) -> None:
    """Asks until the model calls nothing more; its words are in `course.texts`, in order."""
    asked_again = False
    while True:
        reply = _ask(course, hear)
        if course.state is State.INFERRING:
            course.to(State.ACTING)
        parsed = course.agent.read_calls(reply, tuple(course.tools))
        if parsed.problem and not asked_again:
            asked_again = True
            course.judged("format", Verdict("ask", parsed.problem))
            course.after += [Said("assistant", spoken(reply.text)), Said("user", _again(parsed.problem))]
            continue
        if parsed.text.strip():
            course.texts.append(parsed.text.strip())
        if not parsed.calls:
            return
        native = course.agent.provider.native_tools
        said = Said("assistant", spoken(parsed.text if native else reply.text), parsed.calls if native else ())
        results = [(call, _act(course, call)) for call in parsed.calls]
        course.after += [said, *([_native(*one) for one in results] if native else [_written(results)])]


def _again(problem: str) -> str:
    return (
        f"Your tool call could not be read ({problem}). Write it again as one JSON object in a fenced block marked "
        "tool_call, or answer without one."
    )


def _native(call: ToolCall, text: str) -> Said:
    return Said("tool", text, call_id=call.id, name=call.name)


def _written(results: list[tuple[ToolCall, str]]) -> Said:
    """Results for a model without tool calling: a message of ours, each in its frame."""
    return Said("user", "\n\n".join(f"Result of {spoken(call.name)}:\n{framed(text)}" for call, text in results))


# ── asking ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _ask(course: Course, hear: Hear) -> Reply:
    """One call of the model, with as much of the chat as its window has room for."""
    course.may_go_on()
    agent, assembly = course.agent, course.assembly
    assert assembly is not None
    course.before = _before(course)
    talk = Talk(course.before, tuple(course.after))
    stream = streams(course)
    provider = agent.provider
    body = assembly.payload(
        provider.dialect,
        model=provider.model,
        max_tokens=agent.max_reply_tokens,
        talk=talk,
        options=provider.options(stream=stream, max_tokens=agent.max_reply_tokens),
    )
    request = Request(body, assembly.expected(provider.dialect, body, talk), max(course.seconds_left, 0.1), stream)
    reply = provider.converse(request, hear)
    course.stepped(request, reply.usage, reply.stop)
    if reply.stop == "refused" and not reply.text.strip():
        raise ProviderRefused(provider.name, "the model refused to answer", "say it another way")
    return reply


def streams(course: Course) -> bool:
    """Whether words leave as they come: the channel streams, and its form needs no second look at the whole."""
    policy = course.policy
    whole = course.tools and not course.agent.provider.native_tools
    return policy.stream and policy.markdown and policy.max_chars is None and not whole


def _before(course: Course) -> tuple[Said, ...]:
    """Past exchanges as messages, as many as fit beside the layers and what was said in this turn (N-18)."""
    agent, assembly = course.agent, course.assembly
    assert assembly is not None
    count = assembly.settings.counter

    def tokens(text: str) -> int:
        return count(text.encode(errors="replace")) + MESSAGE_TOKENS if text else 0

    used = assembly.tokens + tokens(assembly.message) + sum(tokens(said.text) for said in course.after)
    window = agent.provider.window
    room = (UNKNOWN_WINDOW if window is None else int(window / MARGIN) - agent.max_reply_tokens) - used
    if window is not None and room < 0:
        raise OverLimit(f"about {used:,} tokens do not fit beside a reply in the window of {window:,} tokens")
    kept = within(course.past, room, lambda exchange: tokens(exchange.text) + tokens(exchange.reply))
    return tuple(said for exchange in kept for said in _said(course, exchange))


def _said(course: Course, exchange: Exchange) -> list[Said]:
    assert course.assembly is not None
    said = [Said("user", course.assembly.past(exchange.text))] if exchange.text else []
    return said + ([Said("assistant", spoken(exchange.reply))] if exchange.reply else [])


# ── acting ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _act(course: Course, call: ToolCall) -> str:
    """One call through the gate: what it answers, or a code the model can read."""
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
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        return Verdict("deny", "TOOL_BAD_ARGUMENTS", "the arguments are not a JSON object; write them again"), {}
    if verdict.decision == "allow" and _sensitive(course, tool):
        verdict = Verdict("ask", "TOOL_TAINTED", "text of others entered this turn, so a person has to approve this")
    course.calls[call.name] += 1
    return (_approved(course, call, arguments, verdict) if verdict.decision == "ask" else verdict), arguments


def _sensitive(course: Course, tool: Tool) -> bool:
    """Whether taint makes a person's approval necessary; a tool that stages its change needs none."""
    if tool.policy.kind not in (ToolClass.WRITE, ToolClass.EXECUTE) or tool.stages:
        return False
    if tool.own and not course.acting.memory_of and not course.acting.may_amend:
        return True  # the memory is the agent's own, and someone else is speaking
    return course.acting.tainted


def call_hash(name: str, arguments: Mapping[str, Any], key: bytes | None) -> str:
    """What an approval is bound to: the tool and its arguments in canonical JSON, keyed where there is a key."""
    data = json.dumps([name, arguments], sort_keys=True, separators=(",", ":")).encode()
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
    if said.decision == "ask":
        return Verdict("deny", verdict.code, f"{verdict.reason}; it waits as approval {wanted.id}")
    decision = "approved" if said.decision == "allow" else "denied"
    agent.store.decide_approval(wanted.id, digest, decision, by=agent.approver.by, at_ns=agent.clock())
    if decision == "denied":
        return Verdict("deny", "TOOL_NOT_APPROVED", "a person said no to this call")
    used = agent.store.use_approval(agent.name, who, call.name, digest, course.id, agent.clock())
    return Verdict("allow", "TOOL_APPROVED") if used else Verdict("deny", "TOOL_NOT_APPROVED", "it was used already")


def _run(course: Course, call: ToolCall, tool: Tool, arguments: Mapping[str, Any]) -> str:
    """The tool's answer, capped and defused; a tool that fails or hangs answers with a code, and the turn goes on."""
    try:
        found = tool.call(arguments) if tool.inside else _in_time(course, tool, arguments)
    except CharterError as error:
        code = getattr(error, "code", "TOOL_REFUSED")
        return _denied(course.judged("tool", Verdict("deny", code, str(error)), call.name))
    except TimeoutError:
        return _denied(course.judged("tool", Verdict("deny", "TOOL_TOO_SLOW", "it took too long"), call.name))
    except Exception as error:  # a tool is somebody's code: whatever it raises is an answer to the model
        reason = f"the tool failed ({type(error).__name__})"
        return _denied(course.judged("tool", Verdict("deny", "TOOL_FAILED", reason), call.name))
    if getattr(found, "foreign", tool.foreign):
        course.acting.entered(f"tool:{call.name}")
    return spoken(cap(str(found), RESULT_CHARS).text)


def _in_time(course: Course, tool: Tool, arguments: Mapping[str, Any]) -> str:
    """Runs a tool beside the turn, so that one which hangs does not hang the turn."""
    box: list[Any] = []

    def work() -> None:
        try:
            box.append(tool.call(arguments))
        except BaseException as error:  # handed over to the turn, which answers
            box.append(error)

    thread = threading.Thread(target=work, daemon=True, name=f"tool {tool.spec.name}")
    thread.start()
    thread.join(max(course.seconds_left, 0.1))
    if not box:
        raise TimeoutError
    if isinstance(box[0], BaseException):
        raise box[0]
    return box[0]  # type: ignore[no-any-return]


def _denied(verdict: Verdict) -> str:
    return json.dumps({"error": verdict.code, "reason": verdict.reason})
