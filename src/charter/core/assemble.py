"""Assembly: sections in, one prompt and its manifest out; pure, and the only way a prompt is made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from . import payload as wire
from .budget import Step, check_steps, fewer
from .dialogue import NO_TALK, Talk
from .errors import BudgetExceeded, LayerEmpty, LayerMissing, LayerOrder, UnknownLayer
from .layer import Layer, Role, Stack
from .manifest import Entry, LeftOut, Manifest, PieceEntry, content_hash, hash_lines, text_hash
from .ports import ToolSpec
from .section import (
    ESTIMATE,
    LINE,
    TEXT,
    TOKENS,
    About,
    Estimate,
    Raw,
    Rendered,
    Section,
    Settings,
    fill,
    one_line,
    render,
    whole,
)
from .text import Piece, Trust, block, spoken
from .wire import Expected, Hashed

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
    shown, layers = stack.modes.get(mode) or stack.mode(mode), stack.layers
    given = sections if isinstance(sections, list) else list(sections)
    if len(given) != len(layers):
        _check_order(stack, given)
    parts: list[Raw] = []
    left_out: list[LeftOut] = []
    every_one = len(shown.whole) == len(layers)
    for section, layer in zip(given, layers, strict=False):
        if section.layer is not layer:
            _check_order(stack, given)
            layer = section.layer
        if every_one or layer.id in shown.whole:
            kept = section.kept
            part = kept.whole if kept is not None and kept.settings is settings else whole(section, stack, settings)
        elif layer.id in shown.summary:
            part = one_line(section, stack, settings)
        else:
            left_out.append(LeftOut(layer.label, layer.id, "dropped", f"not in mode {mode}"))
            continue
        if part[TEXT]:
            parts.append(part)
        elif layer.required:
            raise LayerEmpty(f"the required layer {layer.id!r} is empty")
        else:
            left_out.append(LeftOut(layer.label, layer.id, "dropped", "nothing to say"))
    prompt = stack.joiner.join([part[TEXT] for part in parts])
    beside = Beside(tuple(tools), schemas := wire.tools_json(tools), settings.counter(schemas)) if tools else NO_TOOLS
    limits = settings.limits
    near = limits.max_tokens is not None or (limits.max_chars is not None and len(prompt) > limits.max_chars)
    if near and _over(stack, prompt, parts, settings, beside) is not None:
        prompt = _fit(stack, parts, left_out, settings, beside)
    digest = hash_lines("".join([part[LINE] for part in parts]))
    return Assembly(stack, mode, settings, prompt, parts, left_out, message, beside, digest)


class Beside(NamedTuple):
    """The tools sent beside a prompt: their schemas in canonical JSON, counted."""

    tools: tuple[ToolSpec, ...] = ()
    schemas: bytes = b""
    tokens: int = 0


NO_TOOLS: Final = Beside()


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


# ── fitting ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _joint_tokens(stack: Stack, parts: Sequence[Raw], settings: Settings) -> int:
    return settings.counter(stack.joiner.encode()) * (len(parts) - 1)


def _over(stack: Stack, text: str, parts: list[Raw], settings: Settings, beside: Beside) -> BudgetExceeded | None:
    """The error this prompt would be, when it is over a limit."""
    limits = settings.limits
    if limits.max_chars is not None and len(text) > limits.max_chars:
        return BudgetExceeded(needed=len(text), limit=limits.max_chars)
    if limits.max_tokens is not None:
        tokens = sum([part[TOKENS] for part in parts]) + _joint_tokens(stack, parts, settings) + beside.tokens
        if tokens > limits.max_tokens:
            return BudgetExceeded(needed=tokens, limit=limits.max_tokens, unit="tokens")
    return None


def _fit(stack: Stack, parts: list[Raw], left_out: list[LeftOut], settings: Settings, beside: Beside) -> str:
    """Takes as few steps as needed, in the declared order, and gives the text that fits; or the error."""
    text = stack.joiner.join([part[TEXT] for part in parts])
    over = _over(stack, text, parts, settings, beside)
    for smaller, index in _steps(stack, parts, settings):
        if isinstance(smaller, LeftOut):
            del parts[index]
            left_out.append(smaller)
        else:
            parts[index] = smaller
        text = stack.joiner.join([part[TEXT] for part in parts])
        over = _over(stack, text, parts, settings, beside)
        if over is None:
            return text
    assert over is not None
    raise over


def _steps(stack: Stack, parts: list[Raw], settings: Settings) -> Iterator[tuple[Raw | LeftOut, int]]:
    """What can give way, smaller and smaller, with the place it stands at; `parts` changes between steps."""
    check_steps(settings.limits, stack)
    said: dict[str, str] = {}
    for step in settings.limits.shed:
        for index, part in enumerate(parts):
            if part[0].layer.id == step.layer:
                for smaller, reason in _smaller(stack, Rendered._make(part), step, settings, said.get(step.layer, "")):
                    yield smaller, index
                    said[step.layer] = reason
                break


def _smaller(
    stack: Stack, part: Rendered, step: Step, settings: Settings, said: str
) -> Iterator[tuple[Raw | LeftOut, str]]:
    """A part with less and less in it, each with all the reasons so far."""
    section, layer = part.section, part.section.layer
    if step.to == "nothing":
        yield LeftOut(layer.label, layer.id, "dropped", "over the limit"), ""
    elif step.to == "summary":
        yield one_line(section, stack, settings, "over the limit", " (shortened to fit)"), ""
    elif part.disposition != "summary":
        for facts, left in fewer(section.facts, step):
            reason = "; ".join(filter(None, (said, f"{step.fact}: {left} left out, over the limit")))
            smaller = render(Section(layer, facts, about=section.about), stack, settings, reason)
            if smaller[TEXT]:
                yield smaller, reason
            elif layer.required:
                raise LayerEmpty(f"the required layer {layer.id!r} would be empty within the limit")
            else:
                yield LeftOut(layer.label, layer.id, "dropped", reason), ""
                break  # there is nothing less than nothing


# ── the result ────────────────────────────────────────────────────────────────────────────────────────────────────


class Assembly:
    """A prompt ready to send. Its text shows only where a call says so: `reveal()` and `payload()`."""

    __slots__ = (
        "_blocks", "_entries", "_joints", "_parts", "_text", "beside", "has_user_layer", "left_out", "message", "mode",
        "settings", "stack", "stack_sha256",
    )  # fmt: skip

    def __init__(
        self,
        stack: Stack,
        mode: str,
        settings: Settings,
        text: str,
        parts: Sequence[Raw],
        left_out: Sequence[LeftOut],
        message: str,
        beside: Beside,
        stack_sha256: str,
    ) -> None:
        self.stack = stack
        self.mode = mode
        self.settings = settings
        self._text = text
        self._parts = parts
        self.left_out = left_out
        self.message = message
        self.beside = beside
        self.stack_sha256 = stack_sha256
        # Whether the message is a layer of its own; else it stands beside the layers.
        self.has_user_layer = bool(parts) and parts[-1][0].layer.role is Role.USER
        self._entries: tuple[Entry, ...] | None = None
        self._blocks: tuple[wire.Block, ...] | None = None
        self._joints: int | None = None

    @property
    def parts(self) -> list[Rendered]:
        """The layers that are sent, in order."""
        return [Rendered._make(part) for part in self._parts]

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        return self.beside.tools

    def __repr__(self) -> str:
        name, layers = self.settings.charter, len(self._parts)
        return f"Assembly({name!r}, mode={self.mode!r}, layers={layers}, stack={self.stack_sha256[:12]})"

    def reveal(self) -> str:
        """The system text, then the user-role layer where the charter has one."""
        return self._text

    def payload(
        self,
        dialect: str,
        *,
        model: str | None = None,
        max_tokens: int = 4096,
        talk: Talk = NO_TALK,
        options: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """What is sent to a provider of this dialect; the texts of its layers concatenate to `reveal()`."""
        return wire.payload(
            dialect, self.blocks(), talk=talk, tools=self.tools, model=model, max_tokens=max_tokens, options=options
        )

    def expected(self, dialect: str, body: Mapping[str, Any], talk: Talk = NO_TALK) -> Expected:
        """What must be found in this body when it leaves (`core/wire.py`)."""
        data, key = self.settings.write(body), self.settings.key
        hashed = Hashed(data, key, content_hash(data, key))
        return Expected(
            dialect,
            self.entries,
            self.stack.joiner,
            hashed.sha256,
            user=self.has_user_layer,
            before=wire.messages_before(dialect, talk),
            lead=len(wire.completion_talk(talk.before).encode(errors="surrogatepass"))
            if dialect == "completion"
            else 0,
            key=key,
            write=self.settings.write,
            hashed=hashed,
        )

    @property
    def tokens(self) -> int:
        """Everything paid for: the layers, what joins them, the tool schemas."""
        return sum([part[TOKENS] for part in self._parts]) + self._joint_tokens() + self.beside.tokens

    def _joint_tokens(self) -> int:
        """What joins the layers, counted once."""
        if self._joints is None:
            self._joints = _joint_tokens(self.stack, self._parts, self.settings)
        return self._joints

    @property
    def foreign(self) -> tuple[str, ...]:
        """Whose text is in this prompt beside the operator's, the agent's and the speaker's own (N-09)."""
        return tuple(dict.fromkeys([whose for part in self._parts if (whose := part[0].about.foreign)]))

    def texts(self) -> list[tuple[Layer, str]]:
        """The layers that are sent, in order, each with its text."""
        return [(part[0].layer, part[TEXT]) for part in self._parts]

    def past(self, text: str) -> str:
        """An earlier message of a person, in the form this prompt gives the one it answers."""
        return past(text, self.has_user_layer)

    def blocks(self) -> tuple[wire.Block, ...]:
        """The prompt as blocks in order, the joiners inside them, and the message that is answered last; made once."""
        if self._blocks is None:
            self._blocks = self._joined()
        return self._blocks

    def _joined(self) -> tuple[wire.Block, ...]:
        blocks = [
            ((one := part[0].layer).id, one.role, part[TEXT], one.volatility, part[TOKENS], False)
            for part in self._parts
        ]
        joined = wire.with_joiners(blocks, self.stack.joiner)
        return joined if self.has_user_layer or not self.message else (*joined, wire.spoken_message(self.message))

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The layers as the manifest lists them; made once."""
        if self._entries is None:
            self._entries = tuple([_entry_of(part, self.settings) for part in self._parts])
        return self._entries

    @property
    def manifest(self) -> Manifest:
        """Hashes and counts of what is sent."""
        return Manifest(
            charter=self.settings.charter,
            version=self.settings.version,
            mode=self.mode,
            stack=self.entries,
            left_out=tuple(self.left_out),
            stack_sha256=self.stack_sha256,
            tools_sha256=content_hash(self.beside.schemas, None) if self.tools else None,
            tools_tokens=self.beside.tokens,
            counter=self.settings.counter.name,
            joint_bytes=len(self.stack.joiner.encode()) * (len(self._parts) - 1),
            joint_tokens=self._joint_tokens(),
        )


def past(text: str, framed: bool) -> str:
    """An earlier message of a person as it is sent, in a frame where the message that is answered has one."""
    return block(text) if framed else spoken(text)


def _entry_of(part: Raw, settings: Settings) -> Entry:
    """A layer's entry; that of a section which is used again is made once."""
    kept = part[0].kept
    if kept is None or kept.whole is not part:
        return _entry(Rendered._make(part), settings.key)
    if kept.entry is None:
        kept.entry = _entry(Rendered._make(part), settings.key)
    return kept.entry


def _entry(part: Rendered, key: bytes | None) -> Entry:
    section, layer = part.section, part.section.layer
    pieces = tuple(
        [
            PieceEntry(
                piece.origin,
                text_hash(piece.text, key if piece.trust is Trust.OUTSIDE else None),
            )
            for piece in section.texts
            if isinstance(piece, Piece)
        ]
    )
    about = section.about
    return Entry(
        layer=layer.label, id=layer.id, file=about.file, sha256=part.sha256, bytes=part.bytes,
        tokens_est=part.tokens, source=about.source, version=about.version, owner=layer.owner,
        origin=about.origin or about.file, disposition=part.disposition, reason=part.reason, keyed=part.keyed,
        pieces=pieces,
    )  # fmt: skip
