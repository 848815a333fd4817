"""A model that says what it was told to say, and is otherwise strict: it reads the wire like every provider does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

from ..core.assemble import Assembly, Section, Settings, assemble
from ..core.dialogue import NO_TALK, Reply, Talk
from ..core.errors import WireMismatch
from ..core.layer import Layer, Mode, Owner, Stack, Volatility
from ..core.ports import Provider, Request, ToolSpec
from ..core.text import Facts, Form, Piece, Trust
from ..core.wire import check
from ..providers.heard import calls_in, numbered


@dataclass(frozen=True, slots=True)
class CutOff:
    """Says these parts when it streams, then fails."""

    parts: tuple[str, ...] = field(repr=False)
    error: Exception


# A reply; a text; a text in the parts it is streamed in; something that fails; or a function that looks first.
Line = Reply | str | tuple[str, ...] | CutOff | BaseException
Script = Line | Callable[[Request], Line]


class ScriptedProvider:
    """A provider for tests: answers with the script, line by line, and keeps every request it was sent.

    A body that is not what was assembled is refused as the real ones refuse it; when the script is over, that is an
    AssertionError, because it is the test that is wrong.
    """

    name = "scripted"

    def __init__(
        self,
        script: Iterable[Script],
        *,
        dialect: str = "openai",
        model: str = "scripted",
        native_tools: bool = True,
        window: int | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._script = list(script)
        self._options = dict(options or {})
        self._lock = Lock()
        self.dialect = dialect
        self.model = model
        self.native_tools = native_tools
        self.window = window
        self.requests: list[Request] = []

    def __repr__(self) -> str:
        return f"ScriptedProvider({self.dialect!r}, {len(self.requests)} of {len(self._script)} lines said)"

    @property
    def payloads(self) -> list[Mapping[str, Any]]:
        """The bodies it was sent, in order."""
        return [request.payload for request in self.requests]

    def options(self, *, stream: bool, max_tokens: int) -> Mapping[str, Any]:
        return {"stream": stream, **self._options}

    def converse(self, request: Request, hear: Callable[[str], None]) -> Reply:
        if request.expected.dialect != self.dialect:
            raise WireMismatch(self.name, f"this was not assembled for {self.dialect}; nothing was sent")
        check(request.payload, request.expected, self.name)
        line = self._next(request)
        if isinstance(line, BaseException):
            raise line
        if isinstance(line, CutOff):
            _say(line.parts if request.stream else (), hear)
            raise line.error
        reply = line if isinstance(line, Reply) else Reply(line if isinstance(line, str) else "".join(line))
        reply = replace(reply, calls=numbered(reply.calls, calls_in(request.payload)))
        if request.stream:
            _say(line if isinstance(line, tuple) else words(reply.text), hear)
        return reply

    def close(self) -> None:
        """Nothing is open."""

    def _next(self, request: Request) -> Line:
        with self._lock:
            number = len(self.requests)
            if number >= len(self._script):
                raise AssertionError(f"the script has {len(self._script)} lines and was asked for one more")
            self.requests.append(request)
        line = self._script[number]
        return line(request) if callable(line) else line


def words(text: str) -> list[str]:
    """A text in words, as a model would stream it; together they are the text."""
    return re.findall(r"\S+\s*|\s+", text)


def _say(parts: Sequence[str], hear: Callable[[str], None]) -> None:
    for part in parts:
        hear(part)


# ── something to say to a provider ────────────────────────────────────────────────────────────────────────────────


class _Verbatim:
    """A template that is its text."""

    starts: frozenset[str] = frozenset()
    headings: tuple[str, ...] = ()

    def quick(self, facts: Facts) -> str | None:
        return None

    def render(self, values: Mapping[str, object]) -> str:
        return str(values["text"])


def small_prompt(message: str = "What is due?", tools: Sequence[ToolSpec] = ()) -> Assembly:
    """A prompt of three layers and a message, to send to a provider in a test."""
    texts = {"base": "Never lie about a tide.", "rules": "Look, then act.", "now": "It is Monday in Porto."}
    layers = tuple(
        Layer(name, f"L{number}", _Verbatim(), f"## {name}", Owner.SEALED, required=True, volatility=Volatility(number))
        for number, name in enumerate(texts)
    )
    stack = Stack(layers, {"full": Mode("full", frozenset(texts))}, "\n\n")
    pieces = [Piece(text, name, Trust.OPERATOR, Form.MARKDOWN) for name, text in texts.items()]
    sections = [Section(layer, {"text": piece}) for layer, piece in zip(layers, pieces, strict=True)]
    settings = Settings(key=b"a key of tests")
    return assemble(stack, sections, mode="full", settings=settings, message=message, tools=tools)


def request_for(
    provider: Provider,
    assembly: Assembly,
    *,
    stream: bool = False,
    talk: Talk = NO_TALK,
    max_tokens: int = 64,
    timeout_s: float = 10.0,
) -> Request:
    """The request a turn would make of this prompt."""
    options = provider.options(stream=stream, max_tokens=max_tokens)
    body = assembly.payload(provider.dialect, model=provider.model, max_tokens=max_tokens, talk=talk, options=options)
    return Request(body, assembly.expected(provider.dialect, body, talk), timeout_s, stream)
