"""A section is what one layer has to say this time; rendered, it is bytes, a hash and what became of it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, NamedTuple

from . import ports
from .budget import Limits
from .errors import BadValue, MisplacedContent
from .layer import Layer, Stack
from .manifest import Disposition, Entry, content_hash
from .ports import Template
from .text import Facts, Piece, Structure, Trust, encode, inline, least_trust, shorten, texts_in
from .wire import Write, canonical

SUMMARY_CHARS: Final = 160
NAMED_CUTS: Final = 5
NO_LIMITS: Final = Limits()


class Estimate:
    """Tokens by size alone: a quarter of the UTF-8 bytes, rounded up."""

    name = "ceil(utf8 bytes / 4)"

    def __call__(self, data: bytes) -> int:
        return (len(data) + 3) // 4


ESTIMATE: Final = Estimate()


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for every prompt of an installation; `write` gives a request's canonical bytes, quicker or not."""

    charter: str = ""
    version: str = ""
    limits: Limits = NO_LIMITS
    counter: ports.Counter = ESTIMATE
    key: bytes | None = field(default=None, repr=False)
    write: Write = field(default=canonical, repr=False, compare=False)
    special: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.key == b"":
            raise BadValue("key", "an empty key protects nothing; use at least one byte, or None")
        object.__setattr__(self, "special", self.key is not None or self.counter is not ESTIMATE)


class About(NamedTuple):
    """What the manifest says of a section's facts: where they came from and which version they are.

    `foreign` names whose text it is when it is neither the operator's, the agent's nor that of who is speaking (N-09).
    """

    file: str = "inline"
    source: str = "inline"
    origin: str = ""
    version: str = ""
    amended: bool = False
    foreign: str = ""


NOWHERE: Final = About()


class Section:
    """What one layer has to say this time: its facts and where they came from.

    One that is used again (`keep`) remembers how it was rendered, and then costs nothing.
    """

    __slots__ = ("_texts", "about", "facts", "keep", "kept", "layer")

    def __init__(self, layer: Layer, facts: Facts, *, about: About = NOWHERE, keep: bool = False) -> None:
        self.layer = layer
        self.facts = facts
        self.about = about
        self.keep = keep
        self.kept: Kept | None = None
        self._texts: list[str | Piece] | None = None

    @property
    def texts(self) -> list[str | Piece]:
        """The texts inside its facts, in order; looked for once."""
        if self._texts is None:
            self._texts = texts_in(self.facts)
        return self._texts

    def __repr__(self) -> str:
        return f"Section({self.layer.id!r}, {len(self.facts)} facts)"


class Rendered(NamedTuple):
    """A section's bytes as they will be sent, and what is kept of them; `line` is its line of the stack hash."""

    section: Section
    text: str
    line: str
    sha256: str
    bytes: int
    tokens: int
    keyed: bool
    disposition: Disposition
    reason: str

    def __repr__(self) -> str:
        return f"Rendered({self.section.layer.id!r}, {self.bytes} bytes, {self.disposition})"


# In the hot path a Rendered is made and read as the bare tuple it is: a class around it would cost a tenth of a turn.
Raw = tuple[Section, str, str, str, int, int, bool, Disposition, str]
TEXT: Final = 1
LINE: Final = 2
TOKENS: Final = 5


class Kept:
    """How a section was rendered under some settings."""

    __slots__ = ("entry", "settings", "whole")

    def __init__(self, settings: Settings, whole: Raw) -> None:
        self.settings = settings
        self.whole = whole
        self.entry: Entry | None = None


def whole(section: Section, stack: Stack, settings: Settings) -> Raw:
    """The section in full, heading and text. The hot path of a turn: plain values, no key, no heading of its own."""
    layer = section.layer
    quick = layer.quick
    part: Raw
    text = None if quick is None or settings.special else quick(section.facts)
    if text is None:
        refuse_misplaced(section)
        part = render(section, stack, settings)
    else:
        data = text.encode()
        digest = sha256(data).hexdigest()
        size = len(data)
        line = f"{layer.prefix}{digest}\n"
        part = (section, text, line, digest, size, (size + 3) // 4, False, "whole", "")
    if section.keep:
        section.kept = Kept(settings, part)
    return part


def one_line(
    section: Section, stack: Stack, settings: Settings, reason: str = "one line in this mode", mark: str = ""
) -> Raw:
    """The section as its one line; `mark` says in the prompt why it is short, where the mode does not."""
    refuse_misplaced(section)
    return _hashed(section, _summary(section, stack.structure) + mark, settings, "summary", reason)


def refuse_misplaced(section: Section) -> None:
    """A layer takes no text that is trusted less than it asks for (S1-02)."""
    layer = section.layer
    if layer.accepts is Trust.OUTSIDE:
        return
    trust = least_trust(section.texts)
    if trust < layer.accepts:
        raise MisplacedContent(
            f"layer {layer.id!r} takes {layer.accepts.name.lower()} text only, but was given {trust.name.lower()} text"
        )


def render(section: Section, stack: Stack, settings: Settings, cut: str = "") -> Raw:
    """The section's bytes now; `cut` says what a budget took from its facts."""
    layer = section.layer
    text = layer.template.quick(section.facts)
    if text is None:
        text = _full(layer.template, section.facts, stack.structure)
        cut = "; ".join(filter(None, (_cut_pieces(section.texts), cut)))
    if layer.title and text:
        text = f"{layer.title}{stack.gap}{text}"
    return _hashed(section, text, settings, "truncated" if cut else "whole", cut)


def fill(template: Template, facts: Facts, structure: Structure) -> str:
    """The template with these facts, every value encoded before it is placed."""
    body = template.quick(facts)
    return body if body is not None else _full(template, facts, structure)


def _full(template: Template, facts: Facts, structure: Structure) -> str:
    encoded = {name: encode(value, structure, template.starts, name) for name, value in facts.items()}
    return template.render(encoded).strip("\n")


def _summary(section: Section, structure: Structure) -> str:
    """A layer as one line: its author's summary, or its own first sentence once it was amended (S0-08)."""
    layer = section.layer
    text = section.facts.get("text")
    if section.about.amended and isinstance(text, Piece):
        line = f"{inline(first_sentence(text.text, SUMMARY_CHARS))} (version {section.about.version})"
    else:
        assert layer.summary is not None  # a mode or step that asks for a line without one does not exist
        line = fill(layer.summary, section.facts, structure).replace("\n", " ")
    return f"{layer.title} — {line}" if layer.title and line else line


def _cut_pieces(texts: Iterable[str | Piece]) -> str:
    """Which pieces are shown in part; pieces cut alike are told once, and not more than a few."""
    cut: dict[str, int] = {}
    for piece in texts:
        if not isinstance(piece, Piece) or piece.original is None:
            continue
        kept = len(piece.text) if piece.kept is None else piece.kept
        if piece.original > kept:
            what = f"{piece.origin}: {kept:,} of {piece.original:,} characters"
            cut[what] = cut.get(what, 0) + 1
    if not cut:
        return ""
    told = [f"{what} (× {times})" if times > 1 else what for what, times in cut.items()]
    more = [f"{len(told) - NAMED_CUTS} more"] if len(told) > NAMED_CUTS else []
    return "; ".join(told[:NAMED_CUTS] + more)


def _hashed(section: Section, text: str, settings: Settings, disposition: Disposition, reason: str) -> Raw:
    data = text.encode()
    keyed = settings.key is not None and least_trust(section.texts) is Trust.OUTSIDE
    digest = content_hash(data, settings.key) if keyed else sha256(data).hexdigest()
    size = len(data)
    tokens = (size + 3) // 4 if settings.counter is ESTIMATE else settings.counter(data)
    line = f"{section.layer.prefix}{digest}\n"
    return (section, text, line, digest, size, tokens, keyed, disposition, reason)


def first_sentence(text: str, limit: int) -> str:
    """The first sentence of a Markdown text as one line of at most `limit` characters."""
    line = " ".join(text.replace("#", " ").split())
    number = re.match(r"\d+[.)]\s", line)  # the number of a list is not a sentence
    found = re.compile(r"[.!?](?=\s|$)|[。！？]").search(line, number.end() if number else 0)
    return shorten(line[: found.end()] if found else line, limit)
