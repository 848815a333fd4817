"""Text and its trust: outside text never leaves its frame, and there is one encoder that sees to it.

Trust comes from where a text came from, never from a flag in a template:

- OPERATOR  charter and workspace files: verbatim Markdown; our own headings and separators in it are escaped
- PROJECT   project files, skills, what an agent wrote: Markdown kept; hidden characters and chat tokens defused too
- OUTSIDE   everything else: encoded, always

A bare `str` among a layer's facts is outside text. Cap first, then encode: a frame that was cut open is no frame.
"""

from __future__ import annotations

import enum
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter
from typing import Any

from .cutting import Capped as Capped
from .cutting import cap as cap
from .cutting import shorten as shorten
from .errors import BadValue
from .unicode import EMOJI, JOINING, SEEN, WORD

BARE_LIMIT = 200
ROLES = (
    "system",
    "developer",
    "user",
    "assistant",
    "human",
    "ai",
    "bot",
    "tool",
    "function",
    "model",
    "you",
    "ipython",
)
MARK = "> "


class Trust(enum.IntEnum):
    """How far a text's origin is trusted; a larger number is trusted more."""

    OUTSIDE = 0
    PROJECT = 1
    OPERATOR = 2


class Form(enum.Enum):
    """How a text stands in the prompt."""

    LINE = "line"  # bare when plain, else a JSON string
    QUOTED = "quoted"  # a JSON string, always
    BLOCK = "block"  # every line carries our mark
    JSON = "json"  # the text is JSON on one line already; its strings are defused
    XML = "xml"  # as LINE, for inside a tag of ours
    MARKDOWN = "markdown"  # for operator and project text only


@dataclass(frozen=True, slots=True)
class Piece:
    """A text with its origin; `original` is its length before any cap, `kept` how much of it the text still has."""

    text: str = field(repr=False)
    origin: str
    trust: Trust = Trust.OUTSIDE
    form: Form = Form.LINE
    original: int | None = None
    kept: int | None = None

    def __post_init__(self) -> None:
        if self.form is Form.MARKDOWN and self.trust is Trust.OUTSIDE:
            raise BadValue(self.origin, "outside text has no Markdown form; use LINE, QUOTED or BLOCK")


Value = str | int | float | bool | None | Piece | Sequence["Value"] | Mapping[str, "Value"]
Facts = Mapping[str, Value]

# ── what may be seen ──────────────────────────────────────────────────────────────────────────────────────────────
# Characters that are invisible alone stay where they are part of something readable: emoji sequences, keycaps, the
# three flags made of tag characters, and joiners between letters of scripts that need them.
_FLAG = "\U0001f3f4(?:{})\U000e007f".format(
    "|".join("".join(chr(0xE0000 + ord(c)) for c in code) for code in ("gbeng", "gbsct", "gbwls"))
)
_ONE = rf"[{EMOJI}][\ufe0e\ufe0f]?[\U0001f3fb-\U0001f3ff]?"
_KEEP = rf"{_FLAG}|{_ONE}(?:\u200d{_ONE})*|(?<=[0-9#*])\ufe0f(?=\u20e3)|(?<=[{JOINING}])[\u200c\u200d](?=[{JOINING}])"
_VISIBLE = rf"{WORD}{SEEN}{EMOJI} \u3000"

_PLAIN_CLASS = rf"[{WORD} .,;:'\-_/@+()!?%&—]"
_PLAIN = re.compile(rf"(?:{_PLAIN_CLASS}++|{_KEEP})*+\Z")
_PLAIN_LINES = re.compile(rf"(?:{_PLAIN_CLASS[:-1]}\n]++|{_KEEP})*+\Z")
_PLAIN_ASCII = bytes(point for point in range(128) if _PLAIN.match(chr(point)))
# At the start of a line even plain characters can be structure: a list, a rule, an underline, a role.
_STRUCTURAL = re.compile(
    rf"[-+—_:]|\d{{1,9}}[.)]|[\W_]*(?:{'|'.join(ROLES)})[\W_]*?:",
    re.IGNORECASE,
)

# ── what is escaped, by form (group 1 stays; `re` compiles these on first use) ────────────────────────────────────
# [INST], [/INST], [TOOL_CALLS], [gMASK], [|system|], [control_8] …, also in the wide letters that some readers fold
_WIDE = r"A-Z\uff21-\uff3a"
_CONTROL_WORD = (
    rf"[\[\uff3b](?=[/\uff0f]?[a-z]?[{_WIDE}][{_WIDE}0-9_\uff10-\uff19\uff3f]{{1,40}}[\]\uff3d]"
    r"|[|\uff5c]|/?[A-Za-z]{1,20}_[A-Za-z0-9_]{1,20}\])"
)
_LOOKS_LIKE_TAG = r"[<\uff1c\ufe64](?=[!/?|\uff5cA-Za-z<\uff1c])"
_QUOTED = rf"({_KEEP})|[^{_VISIBLE}]|[\"\\<>`\uff1c\uff1e\ufe64\ufe65\uff40\u1fef]|{_CONTROL_WORD}"
_JSON = rf"({_KEEP})|[^{_VISIBLE}]|[<>`\uff1c\uff1e\ufe64\ufe65\uff40\u1fef]|{_CONTROL_WORD}"
_SPOKEN = (
    rf"({_KEEP})|[^{_VISIBLE}\n]|{_LOOKS_LIKE_TAG}|--[>\uff1e]|[`\uff40\u1fef]{{3,}}|[~\uff5e]{{3,}}|{_CONTROL_WORD}"
)
_PROJECT = (
    rf"({_KEEP})|[^{_VISIBLE}\n\t]|<(?=[|\uff5c]|</?SYS)|{_CONTROL_WORD}|"
    r"<(?=/?(?:s|bos|eos|pad|unk|mask|sop|eop|think|system|user|assistant|im_start|im_end|start_of_turn|end_of_turn"
    r"|start_of_image|endoftext|tools?|tool_call|tool_response|function_calls?|invoke|available_skills|skill)\b)"
)
_BREAK = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Text of these characters alone is as it should be in each form; most text is, and then no pattern goes through it.
_PRINTED = bytes(range(32, 127))
_QUOTED_AS_IT_IS = _PRINTED.translate(None, b'"\\<>`[')
_JSON_AS_IT_IS = _PRINTED.translate(None, b"<>`[")
_SPOKEN_AS_IT_IS = b"\n" + _PRINTED.translate(None, b"<[`~")
_PROJECT_AS_IT_IS = b"\n\t" + _PRINTED.translate(None, b"<[")
_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f"
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_DEFUSED = (
    dict.fromkeys("<\uff1c\ufe64", "&lt;")
    | dict.fromkeys(("-->", "--\uff1e"), "--&gt;")
    | dict.fromkeys(_SPACES, " ")
    | dict.fromkeys("[\uff3b", "&#91;")
    | {"\t": "    "}
)


def _json_escape(match: re.Match[str]) -> str:
    found = match.group()
    if match.lastindex:
        return found
    return _SHORT.get(found) or (f"\\u{ord(found):04x}" if found.isascii() else json.dumps(found)[1:-1])


def _defuse(match: re.Match[str]) -> str:
    found = match.group()
    if match.lastindex:
        return found
    if found in _DEFUSED:
        return _DEFUSED[found]
    if found[0] in "`~\uff40\u1fef\uff5e":
        return "".join("\\" + c for c in found)
    return f"\\u{{{ord(found):x}}}"


# ── the one encoder ───────────────────────────────────────────────────────────────────────────────────────────────


def is_plain(value: str) -> bool:
    """Whether a value may stand bare inside a line: short, one line, plain characters of any script."""
    return len(value) <= BARE_LIMIT and (_only(value, _PLAIN_ASCII) or _PLAIN.match(value) is not None)


def _only(text: str, characters: bytes) -> bool:
    """Whether a text is of these ASCII characters alone."""
    return text.isascii() and not text.encode().translate(None, characters)


def plain_filler(texts: Sequence[str], names: Sequence[str]) -> Callable[[Facts], str | None]:
    """Fills slots between texts when every value is plain text, the same bytes as any way; else None.

    This is the hot path of a turn: one pass over all values together instead of one each.
    """
    around = [""] * (2 * len(names) + 1)
    around[::2] = texts
    pick: Callable[[Facts], Any] = itemgetter(*names) if len(names) > 1 else lambda facts: (facts[names[0]],)

    def fill(facts: Facts) -> str | None:
        try:
            values = pick(facts)
            together = "".join(values)
            rest = together.encode().translate(None, _PLAIN_ASCII)
        except (KeyError, TypeError, UnicodeEncodeError):  # a value is missing, is not text, or cannot be sent
            return None
        if rest and (rest.isascii() or not _plain_lines(values)):
            return None
        if len(together) > BARE_LIMIT:
            for value in values:
                if len(value) > BARE_LIMIT:
                    return None
        filled = around.copy()
        filled[1::2] = values
        return "".join(filled)

    return fill


def _plain_lines(values: Sequence[str]) -> bool:
    """Apart from each other, so that one value cannot end what another began."""
    lines = "\n".join(values)
    return lines.count("\n") == len(values) - 1 and _PLAIN_LINES.match(lines) is not None


def inline(value: str, *, starts_line: bool = False) -> str:
    """A value inside a line of ours: bare when plain, else a JSON string."""
    if is_plain(value) and not (starts_line and _is_structure(value)):
        return value
    return quote(value)


@lru_cache(maxsize=1024)
def _is_structure(value: str) -> bool:
    """Whether a plain value could be taken for structure where a line begins, however it is written."""
    folded = (value if value.isascii() else unicodedata.normalize("NFKC", value)).lstrip()
    return value[:1] == " " or _STRUCTURAL.match(folded) is not None or " ".join(folded.casefold().split()) in ROLES


def quote(value: str) -> str:
    """A value as a one-line JSON string in which nothing is hidden and no tag, fence or chat token survives."""
    return f'"{value if _only(value, _QUOTED_AS_IT_IS) else re.sub(_QUOTED, _json_escape, value)}"'


def json_line(text: str) -> str:
    """JSON text on one line, its strings defused; it still parses to the same value."""
    return text if _only(text, _JSON_AS_IT_IS) else re.sub(_JSON, _json_escape, text)


def spoken(text: str) -> str:
    """Longer text without a frame, for where a message role is the frame: its lines stay, its tricks do not."""
    if _only(text, _SPOKEN_AS_IT_IS) and "--" not in text:
        return text
    return re.sub(_SPOKEN, _defuse, _BREAK.sub("\n", text))


def block(text: str) -> str:
    """Longer text in a frame: every line carries our mark."""
    return framed(spoken(text)) if text else ""


def framed(text: str) -> str:
    """Our mark before every line; an empty line is the mark alone."""
    return "\n".join(MARK + line if line else MARK.rstrip() for line in text.split("\n"))


def defused(text: str) -> str:
    """Project Markdown with hidden characters shown and chat tokens and tags of ours broken."""
    return text if _only(text, _PROJECT_AS_IT_IS) else re.sub(_PROJECT, _defuse, _BREAK.sub("\n", text))


def _xml(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


class Structure:
    """The headings and separators that are ours, so that Markdown of others cannot write them."""

    __slots__ = ("_heading", "_rule", "_underline")

    def __init__(self, headings: Iterable[str], joiner: str) -> None:
        whole, opening = set[str](), set[str]()
        for heading in headings:
            title = heading.lstrip("#").strip()
            if not title:  # a heading that is a value alone: the name of a file
                whole.add(r"[\w./-]+\.md")
                continue
            (opening if heading.endswith(" ") else whole).add(r"[ \t]+".join(map(re.escape, title.split())))
        names = "|".join(sorted(whole)) or "(?!)"
        starts = "|".join(sorted(opening)) or "(?!)"
        self._heading = re.compile(
            rf"^([ \t]*)(#{{1,6}}[ \t]*(?:(?:{names})[ \t]*#*[ \t]*$|(?:{starts})))", re.MULTILINE | re.IGNORECASE
        )
        self._underline = re.compile(rf"^([ \t]*(?:{names})[ \t]*\n[ \t]*)([=-]+[ \t]*)$", re.MULTILINE | re.IGNORECASE)
        self._rule = re.compile(r"^([ \t]*)(-{3,}[ \t]*)$", re.MULTILINE) if "---" in joiner else None

    def escape(self, text: str) -> str:
        """The text with our headings and separators made ordinary by a backslash."""
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        if "#" in text:
            text = self._heading.sub(r"\1\\\2", text)
        if "-" in text or "=" in text:
            text = self._underline.sub(r"\1\\\2", text)
            if self._rule is not None:
                text = self._rule.sub(r"\1\\\2", text)
        return text


_FORMS: dict[Form, Callable[[str], str]] = {
    Form.BLOCK: block,
    Form.JSON: json_line,
}


def encode(value: Value, structure: Structure, starts: frozenset[str] = frozenset(), name: str = "") -> object:
    """A fact as a template may print it; `starts` names the slots that stand at the start of a line."""
    if isinstance(value, str):
        return inline(value, starts_line=name in starts)
    if isinstance(value, Piece):
        return _encode_piece(value, structure, name in starts)
    if isinstance(value, (dict, Mapping)):  # the first is what it nearly always is, and costs less
        return {
            key if key.isidentifier() else inline(key, starts_line=True): encode(inner, structure, starts, key)
            for key, inner in value.items()
        }
    if isinstance(value, (list, tuple, Sequence)):
        return [encode(inner, structure, starts, name) for inner in value]
    return value


def _encode_piece(piece: Piece, structure: Structure, starts_line: bool) -> str:
    if piece.form is Form.QUOTED:
        return quote(piece.text)
    if piece.form is Form.LINE:
        return inline(piece.text, starts_line=starts_line)
    if piece.form is Form.XML:
        return _xml(inline(piece.text, starts_line=starts_line))
    if piece.form is Form.MARKDOWN:
        return structure.escape(piece.text if piece.trust is Trust.OPERATOR else defused(piece.text))
    return _FORMS[piece.form](piece.text)


def pieces_of(value: Value) -> list[Piece]:
    """The pieces inside a fact, in order."""
    return [inner for inner in texts_in(value) if isinstance(inner, Piece)]


def least_trust(texts: Iterable[str | Piece]) -> Trust:
    """The smallest trust among these texts; where there is none, numbers and switches are ours."""
    least = Trust.OPERATOR
    for text in texts:
        trust = text.trust if isinstance(text, Piece) else Trust.OUTSIDE
        if trust is Trust.OUTSIDE:
            return trust
        least = min(least, trust)
    return least


def texts_in(value: Value) -> list[str | Piece]:
    """The texts and pieces inside a fact, in order."""
    found: list[str | Piece] = []
    _find((value,), found)
    return found


def _find(values: Iterable[Value], found: list[str | Piece]) -> None:
    """Adds the texts and pieces inside some facts; what they are is asked in the order of what they mostly are."""
    for value in values:
        if isinstance(value, (str, Piece)):
            found.append(value)
        elif isinstance(value, (dict, Mapping)):
            _find(value.values(), found)
        elif isinstance(value, (list, tuple, Sequence)):
            _find(value, found)
