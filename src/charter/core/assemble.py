"""Assembly: sections in, one prompt and its manifest out; pure, and the only way a prompt is made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from . import payload as wire
from .budget import Step, fewer
from .errors import BudgetExceeded, LayerEmpty, LayerMissing, LayerOrder, UnknownLayer
from .layer import Mode, Role, Stack
from .manifest import Entry, LeftOut, Manifest, PieceEntry, content_hash, hash_lines
from .ports import ToolSpec
from .section import ESTIMATE, About, Estimate, Rendered, Section, Settings, fill, one_line, render, whole
from .text import Trust, pieces_of

__all__ = ["ESTIMATE", "About", "Assembly", "Estimate", "Rendered", "Section", "Settings", "assemble", "fill"]


def assemble(
    stack: Stack,
    sections: Iterable[Section],
    *,
    mode: str,
    settings: Settings,
    message: str = "",
    tools: Sequence[ToolSpec] = (),
) -> Assembly:
    """The prompt of these sections, or a typed error and nothing."""
    shown = stack.mode(mode)
    given = list(sections)
    if [section.layer for section in given] != stack.in_order:
        _check_order(stack, given)
    parts, texts, left_out = _render_all(stack, shown, given, settings)
    schemas = wire.tools_json(tools) if tools else b""
    tokens = settings.counter(schemas) if tools else 0
    text = stack.joiner.join(texts)
    if _over(text, parts, settings, tokens) is not None:
        text = _fit(stack, parts, left_out, settings, tokens)
    return Assembly(stack, mode, settings, text, parts, left_out, message, tools, schemas, tokens)


def _check_order(stack: Stack, sections: list[Section]) -> None:
    last = -1
    for section in sections:
        layer = section.layer
        here = stack.position.get(layer.id, -1)
        if here < 0 or stack.layers[here] is not layer:
            raise UnknownLayer(f"layer {layer.id!r} is not in this stack")
        if here <= last:
            raise LayerOrder(f"layer {layer.id!r} came after {stack.layers[last].id!r}; the order is the stack's")
        last = here
    present = {section.layer.id for section in sections}
    for layer in stack.layers:
        if layer.required and layer.id not in present:
            raise LayerMissing(f"the required layer {layer.id!r} is missing")


def _render_all(
    stack: Stack, mode: Mode, sections: list[Section], settings: Settings
) -> tuple[list[Rendered], list[str], list[LeftOut]]:
    """What is sent, its texts, and what is left out; mostly every layer is whole and says something."""
    if len(mode.whole) == len(sections):
        parts = [
            section.kept_whole if section.whole_for is settings else whole(section, stack, settings)
            for section in sections
        ]
        texts = [part.text for part in parts]
        if "" not in texts:
            return parts, texts, []
    parts, left_out = _render_some(stack, mode, sections, settings)
    return parts, [part.text for part in parts], left_out


def _render_some(
    stack: Stack, mode: Mode, sections: list[Section], settings: Settings
) -> tuple[list[Rendered], list[LeftOut]]:
    parts: list[Rendered] = []
    left_out: list[LeftOut] = []
    for section in sections:
        layer = section.layer
        if layer.id in mode.whole:
            part = whole(section, stack, settings)
        elif layer.id in mode.summary:
            part = one_line(section, stack, settings)
        else:
            left_out.append(LeftOut(layer.label, layer.id, "dropped", f"not in mode {mode.name}"))
            continue
        if part.text:
            parts.append(part)
        elif layer.required:
            raise LayerEmpty(f"the required layer {layer.id!r} is empty")
        else:
            left_out.append(LeftOut(layer.label, layer.id, "dropped", "nothing to say"))
    return parts, left_out


# ── fitting ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _over(text: str, parts: list[Rendered], settings: Settings, tools_tokens: int) -> BudgetExceeded | None:
    """The error this prompt would be, when it is over a limit."""
    limits = settings.limits
    if limits.max_chars is not None and len(text) > limits.max_chars:
        return BudgetExceeded(needed=len(text), limit=limits.max_chars)
    if limits.max_tokens is not None:
        tokens = sum([part.tokens for part in parts]) + tools_tokens
        if tokens > limits.max_tokens:
            return BudgetExceeded(needed=tokens, limit=limits.max_tokens, unit="tokens")
    return None


def _fit(stack: Stack, parts: list[Rendered], left_out: list[LeftOut], settings: Settings, tools_tokens: int) -> str:
    """Takes as few steps as needed, in the declared order, and gives the text that fits; or the error."""
    text = stack.joiner.join([part.text for part in parts])
    over = _over(text, parts, settings, tools_tokens)
    for smaller, index in _steps(stack, parts, settings):
        if isinstance(smaller, LeftOut):
            del parts[index]
            left_out.append(smaller)
        else:
            parts[index] = smaller
        text = stack.joiner.join([part.text for part in parts])
        over = _over(text, parts, settings, tools_tokens)
        if over is None:
            return text
    assert over is not None
    raise over


def _steps(stack: Stack, parts: list[Rendered], settings: Settings) -> Iterator[tuple[Rendered | LeftOut, int]]:
    """What can give way, smaller and smaller, with the place it stands at; `parts` changes between steps."""
    for step in settings.limits.shed:
        for index, part in enumerate(parts):
            if part.section.layer.id == step.layer:
                for smaller in _smaller(stack, part, step, settings):
                    yield smaller, index
                break


def _smaller(stack: Stack, part: Rendered, step: Step, settings: Settings) -> Iterable[Rendered | LeftOut]:
    section, layer = part.section, part.section.layer
    if step.to == "nothing":
        yield LeftOut(layer.label, layer.id, "dropped", "over the limit")
    elif step.to == "summary":
        yield one_line(section, stack, settings)._replace(reason="over the limit")
    else:
        earlier = f"{part.reason}; " if part.disposition == "truncated" else ""
        for facts, left in fewer(section.facts, step):
            reason = f"{earlier}{step.fact}: {left} left out, over the limit"
            yield render(Section(layer, facts, about=section.about), stack, settings, reason)


# ── the result ────────────────────────────────────────────────────────────────────────────────────────────────────


class Assembly:
    """A prompt ready to send. Its text shows only where a call says so: `reveal()` and `payload()`."""

    __slots__ = (
        "_schemas", "_text", "left_out", "message", "mode", "parts", "settings", "stack", "stack_sha256", "tools",
        "tools_tokens",
    )  # fmt: skip

    def __init__(
        self,
        stack: Stack,
        mode: str,
        settings: Settings,
        text: str,
        parts: Sequence[Rendered],
        left_out: Sequence[LeftOut],
        message: str,
        tools: Sequence[ToolSpec],
        schemas: bytes,
        tools_tokens: int,
    ) -> None:
        self.stack = stack
        self.mode = mode
        self.settings = settings
        self._text = text
        self.parts = parts
        self.left_out = left_out
        self.message = message
        self.tools = tools
        self._schemas = schemas
        self.tools_tokens = tools_tokens
        self.stack_sha256 = hash_lines("".join([part.line for part in parts]))

    def __repr__(self) -> str:
        name, layers = self.settings.charter, len(self.parts)
        return f"Assembly({name!r}, mode={self.mode!r}, layers={layers}, stack={self.stack_sha256[:12]})"

    def reveal(self) -> str:
        """The system text, then the user-role layer where the charter has one."""
        return self._text

    def payload(self, dialect: str, *, model: str | None = None, max_tokens: int = 4096) -> dict[str, Any]:
        """What is sent to a provider of this dialect; its texts concatenate to `reveal()`."""
        return wire.payload(dialect, self.blocks(), tools=self.tools, model=model, max_tokens=max_tokens)

    def blocks(self) -> tuple[wire.Block, ...]:
        """The prompt as blocks in order, the joiners inside them, and the message that is answered last."""
        blocks = [
            wire.Block(
                part.section.layer.id, part.section.layer.role, part.text, part.section.layer.volatility, part.tokens
            )
            for part in self.parts
        ]
        joined = wire.with_joiners(blocks, self.stack.joiner)
        has_user = bool(blocks) and blocks[-1].role is Role.USER
        return joined if has_user or not self.message else (*joined, wire.spoken_message(self.message))

    @property
    def manifest(self) -> Manifest:
        """Hashes and counts of what is sent."""
        return Manifest(
            charter=self.settings.charter,
            version=self.settings.version,
            mode=self.mode,
            stack=tuple(_entry(part, self.settings.key) for part in self.parts),
            left_out=tuple(self.left_out),
            stack_sha256=self.stack_sha256,
            tools_sha256=content_hash(self._schemas, None) if self.tools else None,
            tools_tokens=self.tools_tokens,
            counter=self.settings.counter.name,
        )


def _entry(part: Rendered, key: bytes | None) -> Entry:
    section, layer = part.section, part.section.layer
    pieces = tuple(
        PieceEntry(
            piece.origin,
            content_hash(piece.text.encode(errors="surrogatepass"), key if piece.trust is Trust.OUTSIDE else None),
        )
        for piece in pieces_of(section.facts)
    )
    about = section.about
    return Entry(
        layer=layer.label, id=layer.id, file=about.file, sha256=part.sha256, bytes=part.bytes,
        tokens_est=part.tokens, source=about.source, version=about.version, owner=layer.owner,
        origin=about.origin or about.file, disposition=part.disposition, reason=part.reason, keyed=part.keyed,
        pieces=pieces,
    )  # fmt: skip
