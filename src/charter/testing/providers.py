"""Contracts of providers: what any model behind any wire format does, held to with a server that can be told to fail.

A contract is called with a `Rig`: a provider, and the server behind it. `check_provider` makes a new one for each.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from ..core.dialogue import Reply, Said, Talk, ToolCall, Usage
from ..core.errors import (
    ProviderAuth,
    ProviderDown,
    ProviderError,
    ProviderNonsense,
    ProviderOverflow,
    ProviderRate,
    ProviderRefused,
    WireMismatch,
)
from ..core.payload import payload
from ..core.ports import Request, ToolSpec
from ..core.wire import payload_hash
from .check import alike, at_once, must, of, refused, same
from .rig import CANARY, WAIT_SECONDS, Fault, ProviderContract, Rig
from .scripted import request_for, small_prompt

_ENDS: Final[Mapping[Fault, tuple[type[ProviderError], ...]]] = {
    "wrong key": (ProviderAuth,),
    "forbidden": (ProviderAuth,),
    "too many": (ProviderRate,),
    "no credit": (ProviderRate,),
    "too long": (ProviderOverflow,),
    "bad request": (ProviderRefused,),
    "broken": (ProviderDown,),
    "overloaded": (ProviderDown,),
    "slow": (ProviderDown,),
    "gone": (ProviderDown,),
    "cut": (ProviderDown, ProviderNonsense),
    "unfinished": (ProviderNonsense,),
    "page": (ProviderNonsense,),
    "no json": (ProviderNonsense,),
    "nothing": (ProviderNonsense,),
    "odd": (ProviderNonsense,),
    "error in 200": (ProviderNonsense,),
}
_TEXT: Final = "The tide is high at six, Zoë — 潮 ☂ and low\u0085at noon.\n\n- Bring boots."
_TOOL: Final = ToolSpec("note", "Keeps a note.", {"type": "object", "properties": {"text": {"type": "string"}}})


def check_provider(make_rig: Callable[[], Rig], *, contracts: Sequence[ProviderContract] | None = None) -> None:
    """Holds a provider to its contracts; AssertionError names the first one that it breaks."""
    for contract in PROVIDER_CONTRACTS if contracts is None else contracts:
        rig, told = make_rig(), contract.__name__.replace("_", " ")
        try:
            contract(rig)
        except Exception as error:  # whatever a provider does instead of what it should
            raise AssertionError(f"the provider breaks a contract: {told} ({error})") from error
        finally:
            rig.close()


def _ask(rig: Rig, *, stream: bool = False, message: str = CANARY, timeout_s: float = 10.0) -> Request:
    tools = (_TOOL,) if rig.provider.native_tools else ()
    return request_for(rig.provider, small_prompt(message, tools), stream=stream, timeout_s=timeout_s)


def _deaf(part: str) -> None:
    raise AssertionError("nobody asked to hear it")


# ── what is said ──────────────────────────────────────────────────────────────────────────────────────────────────


def a_text_comes_back_whole_and_nobody_hears_its_parts(rig: Rig) -> None:
    rig.answer(Reply(_TEXT, usage=Usage(300, 20)))
    same(rig.provider.converse(_ask(rig), _deaf).text, _TEXT, "the text")


def a_streamed_text_is_heard_in_parts_that_are_the_whole(rig: Rig) -> None:
    rig.answer(Reply(_TEXT, usage=Usage(300, 20)))
    parts: list[str] = []
    reply = rig.provider.converse(_ask(rig, stream=True), parts.append)
    same(("".join(parts), reply.text), (_TEXT, _TEXT), "the parts together, and the text")
    must(len(parts) > 1, "a text that streams should come in more than one part")
    must(all(parts), "an empty part should not be heard")


def a_stream_nobody_listens_to_gives_the_same_reply(rig: Rig) -> None:
    rig.answer(Reply(_TEXT, usage=Usage(300, 20)))
    request = replace(_ask(rig, stream=True), stream=False)
    same(rig.provider.converse(request, _deaf).text, _TEXT, "the text")


def an_empty_text_is_a_reply_too(rig: Rig) -> None:
    for stream in (False, True):
        rig.answer(Reply("", usage=Usage(300, 1)))
        reply = rig.provider.converse(_ask(rig, stream=stream), _deaf)
        same((reply.text, reply.calls, reply.stop), ("", (), "end"), "the reply")


def the_body_that_arrives_is_the_body_that_was_assembled(rig: Rig) -> None:
    rig.answer(Reply("one", usage=Usage(300, 1)), Reply("two", usage=Usage(300, 1)))
    sent = [_ask(rig), _ask(rig, stream=True)]
    for request in sent:
        rig.provider.converse(request, lambda part: None)
    alike(rig.asked(), [dict(request.payload) for request in sent], "what arrived")


def why_a_model_stopped_is_told(rig: Rig) -> None:
    for stream in (False, True):
        for stop in ("end", "length", "refused"):
            if (rig.provider.dialect, stop) == ("ollama", "refused"):
                continue  # it has no word for it
            rig.answer(Reply("so far", usage=Usage(300, 2), stop=stop))
            same(rig.provider.converse(_ask(rig, stream=stream), lambda part: None).stop, stop, "why it stopped")


def usage_is_told_with_what_came_from_a_cache(rig: Rig) -> None:
    wanted = Usage(300, 7, 256 if rig.tells_cached else None)
    for stream in (False, True):
        rig.answer(Reply("ok", usage=Usage(300, 7, 256)))
        same(rig.provider.converse(_ask(rig, stream=stream), lambda part: None).usage, wanted, "the usage")


# ── calls ─────────────────────────────────────────────────────────────────────────────────────────────────────────

_ONE: Final = ToolCall("c-1", "note", '{"text": "Zoë said \\"six\\" — 潮"}')
_TWO: Final = ToolCall("c-2", "note", '{"text": "boots", "tags": ["a", {"b": null}], "much": 1.5}')


def _called(rig: Rig, *calls: ToolCall, text: str = "", stream: bool = False) -> Reply:
    rig.answer(Reply(text, calls, Usage(300, 9), "tools"))
    return rig.provider.converse(_ask(rig, stream=stream), lambda part: None)


def calls_are_handed_on_one_or_several_beside_a_text_or_alone(rig: Rig) -> None:
    if not rig.provider.native_tools:
        return
    for stream in (False, True):
        for calls, text in (((_ONE,), ""), ((_ONE, _TWO), ""), ((_TWO, _ONE), "I note that.")):
            reply = _called(rig, *calls, text=text, stream=stream)
            same((reply.text, reply.stop), (text, "tools"), "text and stop")
            alike(
                [(call.name, _value(call)) for call in reply.calls], [(c.name, _value(c)) for c in calls], "the calls"
            )
            same(len({call.id for call in reply.calls}), len(calls), "how many ids there are")


def _value(call: ToolCall) -> tuple[str, object]:
    return call.name, json.loads(call.arguments)


def arguments_that_are_no_json_are_handed_on_as_they_are(rig: Rig) -> None:
    if not rig.provider.native_tools:
        return
    for stream in (False, True):
        for broken in ('{"text": "bo', "{'text': 1,}", "boots"):
            reply = _called(rig, ToolCall("c-1", "note", broken), stream=stream)
            alike([call.arguments for call in reply.calls], [broken], "the arguments")


def a_call_without_an_id_is_numbered_on_from_the_calls_before(rig: Rig) -> None:
    if not rig.provider.native_tools:
        return
    earlier = Talk(after=(Said("assistant", calls=(_ONE,)), Said("tool", "kept", call_id="c-1", name="note")))
    for stream in (False, True):
        reply = _called(rig, replace(_ONE, id=""), replace(_TWO, id=""), stream=stream)
        alike([call.id for call in reply.calls], ["call_1", "call_2"], "the ids")
        rig.answer(Reply("", (replace(_TWO, id=""),), Usage(300, 9), "tools"))
        assembly = small_prompt(CANARY, (_TOOL,))
        again = request_for(rig.provider, assembly, stream=stream, talk=earlier)
        alike([c.id for c in rig.provider.converse(again, lambda part: None).calls], ["call_2"], "the next id")


# ── what goes wrong ───────────────────────────────────────────────────────────────────────────────────────────────


def _fails(rig: Rig, fault: Fault, *, stream: bool) -> ProviderError:
    before = len(rig.asked())
    rig.answer(fault)
    request = _ask(rig, stream=stream, timeout_s=0.3 if fault == "slow" else 10.0)
    error = refused(ProviderError, rig.provider.converse, request, lambda part: None)
    ends = _ENDS[fault]
    must(isinstance(error, ends), f"{fault}: ended with {type(error).__name__}, should be {ends[0].__name__}")
    arrived = len(rig.asked()) - before
    must(arrived == 1 or (fault == "slow" and not arrived), f"{fault}: {arrived} requests arrived, should be 1")
    must(error.__cause__ is None and error.__context__ is None, f"{fault}: another error stands behind it")
    must(CANARY not in f"{error} {error!r} {error.args}", f"{fault}: the error holds what was said")
    must(";" in str(error), f"{fault}: the error does not say what to do next")
    return error


def every_fault_is_an_error_of_its_kind_told_once_and_without_content(rig: Rig) -> None:
    for stream in (False, True):
        for fault in _ENDS:
            if stream or fault not in ("unfinished", "cut"):
                _fails(rig, fault, stream=stream)
    rig.answer(Reply("fine", usage=Usage(300, 1)))
    same(rig.provider.converse(_ask(rig), _deaf).text, "fine", "what comes after the faults")


def too_many_requests_say_how_long_to_wait_and_no_credit_says_so(rig: Rig) -> None:
    error = _fails(rig, "too many", stream=False)
    same(getattr(error, "retry_after", None), WAIT_SECONDS, "how long to wait")
    must("credit" in str(_fails(rig, "no credit", stream=False)), "no credit left should be said")


def half_a_stream_is_no_reply_whatever_was_heard_of_it(rig: Rig) -> None:
    for fault in ("cut", "unfinished"):
        rig.answer(fault)
        parts: list[str] = []
        refused(ProviderError, rig.provider.converse, _ask(rig, stream=True), parts.append)
        must(parts, f"{fault}: something should have been heard before")


class _Enough(Exception):
    """What a listener raises."""


def whoever_listens_can_stop_it_and_the_connection_is_closed(rig: Rig) -> None:
    rig.answer("endless")
    enough, heard = _Enough(), []

    def hear(part: str) -> None:
        heard.append(part)
        if len(heard) == 3:
            raise enough

    try:
        rig.provider.converse(_ask(rig, stream=True), hear)
    except _Enough as told:
        must(told is enough, "what was raised should pass as it is")
    else:
        raise AssertionError("what a listener raises was swallowed")
    must(rig.left(), "the connection should be closed")
    rig.answer(Reply("fine", usage=Usage(300, 1)))
    same(rig.provider.converse(_ask(rig), _deaf).text, "fine", "what comes after it")


# ── the wire guard ────────────────────────────────────────────────────────────────────────────────────────────────


def swapped_layers_are_refused_before_anything_is_sent(rig: Rig) -> None:
    assembly, dialect = small_prompt(), rig.provider.dialect
    first, second, *rest = assembly.blocks()
    texts = (first._replace(text=second.text), second._replace(text=first.text), *rest)
    options = rig.provider.options(stream=False, max_tokens=64)
    body = payload(dialect, texts, model=rig.provider.model, max_tokens=64, options=options)
    good = request_for(rig.provider, assembly)
    hashed = replace(good.expected, payload_sha256=payload_hash(body, good.expected.key))
    _refuses(rig, replace(good, payload=body, expected=hashed), "base")


def a_body_that_was_changed_after_it_was_assembled_is_refused(rig: Rig) -> None:
    good = request_for(rig.provider, small_prompt())
    for change in ({"model": "another"}, {"temperature": 1.9}, {"stream": True}):
        _refuses(rig, replace(good, payload={**good.payload, **change}), "changed")


def a_body_of_another_dialect_is_refused(rig: Rig) -> None:
    other = "anthropic" if rig.provider.dialect != "anthropic" else "openai"
    assembly = small_prompt()
    body = assembly.payload(other, model=rig.provider.model)
    _refuses(rig, Request(body, assembly.expected(other, body)), rig.provider.dialect)


def _refuses(rig: Rig, request: Request, word: str) -> None:
    rig.answer(Reply("it should not have come to this", usage=Usage(300, 1)))
    before = len(rig.asked())
    error = refused(WireMismatch, rig.provider.converse, request, _deaf)
    same(type(error), WireMismatch, "the error")
    same(len(rig.asked()), before, "how many requests arrived")
    must(word in str(error), f"the error should name {word}")
    must(error.__cause__ is None and error.__context__ is None, "another error stands behind it")


# ── many, and what shows ──────────────────────────────────────────────────────────────────────────────────────────


def requests_of_many_threads_pass_each_with_its_own_body(rig: Rig) -> None:
    rig.answer(*[Reply("ok", usage=Usage(300, 1))] * 8)
    requests = [_ask(rig, message=f"I am number {number}") for number in range(8)]
    ends = at_once(8, lambda number: rig.provider.converse(requests[number], _deaf))
    alike([reply.text for reply in of(Reply, ends)], ["ok"] * 8, "what came back")
    arrived = sorted(str(body) for body in rig.asked())
    alike(arrived, sorted(str(dict(request.payload)) for request in requests), "what arrived")


def nothing_that_was_said_shows_in_a_repr(rig: Rig) -> None:
    rig.answer(Reply(f"{CANARY} {_TEXT}", usage=Usage(300, 20)))
    request = _ask(rig)
    reply = rig.provider.converse(request, _deaf)
    shown = f"{rig.provider!r} {request!r} {reply!r}"
    must(CANARY not in shown and "tide" not in shown, "a repr shows what was said")


PROVIDER_CONTRACTS: tuple[ProviderContract, ...] = (
    a_text_comes_back_whole_and_nobody_hears_its_parts,
    a_streamed_text_is_heard_in_parts_that_are_the_whole,
    a_stream_nobody_listens_to_gives_the_same_reply,
    an_empty_text_is_a_reply_too,
    the_body_that_arrives_is_the_body_that_was_assembled,
    why_a_model_stopped_is_told,
    usage_is_told_with_what_came_from_a_cache,
    calls_are_handed_on_one_or_several_beside_a_text_or_alone,
    arguments_that_are_no_json_are_handed_on_as_they_are,
    a_call_without_an_id_is_numbered_on_from_the_calls_before,
    every_fault_is_an_error_of_its_kind_told_once_and_without_content,
    too_many_requests_say_how_long_to_wait_and_no_credit_says_so,
    half_a_stream_is_no_reply_whatever_was_heard_of_it,
    whoever_listens_can_stop_it_and_the_connection_is_closed,
    swapped_layers_are_refused_before_anything_is_sent,
    a_body_that_was_changed_after_it_was_assembled_is_refused,
    a_body_of_another_dialect_is_refused,
    requests_of_many_threads_pass_each_with_its_own_body,
    nothing_that_was_said_shows_in_a_repr,
)
