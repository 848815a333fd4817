"""The judge: a prompt with a hostile value has the lines of the prompt with a benign one, and the value stays inside.

It knows nothing of the encoder. It compares two prompts line by line: every line without the value must be equal byte
for byte; a line with the value must keep its beginning, its end and its Markdown kind; and what stands between must
read back as the value, hide nothing and hold no token, tag, comment or fence.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from .characters import has_joiner, hidden_in, is_plain, may_stand_bare

MARKER: Final = "Zqmarker"
Form = Literal["line", "quoted", "xml", "json", "block", "spoken", "absent"]
Expect = Callable[[str], Any]


@dataclass(frozen=True)
class Rules:
    """What a slot promises: its form, what must be read back (None: anything), and its special cases."""

    form: Form
    expect: Expect | None = None
    free: bool = False  # what is read back is some part of the value
    limit: int | None = None  # a cut value ends with … inside this many characters
    quoted_if: str = ""  # plain characters that this slot quotes all the same
    titles: frozenset[str] = frozenset()  # headings of ours that a value which fills a heading may not take
    opens: bool = False  # the value opens a line elsewhere in this template: what means something there is quoted
    quarantine: bool = False  # spans of it may have given way to a notice
    around: tuple[str, str] | None = None  # what of the line is ours, where the value is only a part of what is encoded


@dataclass(frozen=True)
class Line:
    """A line of the benign prompt: all of it, or what stands around the value."""

    before: str
    after: str | None = None
    opens: bool = False  # in this slot the value opens a line, an item or a speaker's brackets somewhere

    @property
    def kind(self) -> tuple[str, ...]:
        return kind_of(self.before if self.after is None else f"{self.before}{MARKER}{self.after}")


@dataclass(frozen=True)
class Shape:
    """The benign prompt, ready to be compared with."""

    text: str
    lines: tuple[Line, ...]
    rules: Rules

    @classmethod
    def of(cls, prompt: str, rules: Rules) -> Shape:
        lines = []
        for line in prompt.split("\n"):
            before, found, after = line.partition(MARKER)
            assert MARKER not in after, "the marker stands twice in a line"
            lines.append(_around(before, after, rules) if found else Line(before))
        opens = rules.opens or any(line.after is not None and _OPENING.fullmatch(line.before) for line in lines)
        lines = [line if line.after is None else replace(line, opens=opens) for line in lines]
        assert (rules.form == "absent") == (MARKER not in prompt), "the marker is not where the slot says it is"
        return cls(prompt, tuple(lines), rules)

    @property
    def slots(self) -> list[int]:
        return [number for number, line in enumerate(self.lines) if line.after is not None]


def _around(before: str, after: str, rules: Rules) -> Line:
    """What stands around the encoded value: quotes belong to the value."""
    if rules.around:
        return Line(*rules.around)
    if rules.form == "quoted":
        assert before.endswith('"'), "the value is not quoted"
        assert after.startswith('"'), "the value is not quoted"
        return Line(before[:-1], after[1:])
    return Line(before, after)


_OPENING: Final = re.compile(r"\s*(?:[-+*]\s+|[0-9]{1,9}[.)]\s+)?\[?")

# ── kinds of lines ────────────────────────────────────────────────────────────────────────────────────────────────

_HEADING = re.compile(r"\s{0,3}(#{1,6})(?:\s|$)")
_RULE = re.compile(r"\s{0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_UNDERLINE = re.compile(r"\s{0,3}(?:=+|-+)[ \t]*$")
_ITEM = re.compile(r"\s{0,3}([-+*•]|[0-9]{1,9}[.)])(?:[ \t]+|$)")
_FENCE = re.compile(r"\s{0,3}(?:`{3,}|~{3,})")
_FRAME = re.compile(r"\s{0,3}>")
_TAG_LINE = re.compile(r"\s{0,3}</?[A-Za-z!?]")
_TABLE = re.compile(r"\s{0,3}\|")
_SPEAKER = re.compile(r'\s*\[("(?:[^"\\]|\\.)*"|[^\]"]*)\]:')
_ROLES = frozenset(
    ("system", "developer", "user", "assistant", "human", "ai", "bot", "tool", "function", "model", "you", "ipython")
)
# Punctuation around a role does not make it less of one; inside our quotes it is a value.
_ROLE_LINE = re.compile(rf'(?!\s*")[\W_]*(?:{"|".join(sorted(_ROLES))})[\W_]*?:', re.IGNORECASE)


def is_role(text: str) -> bool:
    """Whether the text is the name of a role, or opens with one and a colon."""
    return _folded(text) in _ROLES or _ROLE_LINE.match(text) is not None


def kind_of(line: str) -> tuple[str, ...]:
    """What a line is to a Markdown reader and to a model, outermost first; a list item goes on with its content."""
    if not line.strip():
        return ("blank",)
    if _RULE.match(line):
        return ("rule",)
    if _UNDERLINE.match(line):
        return ("underline",)
    if found := _HEADING.match(line):
        return (f"heading {len(found[1])}",)
    for name, pattern in (("fence", _FENCE), ("frame", _FRAME), ("tag", _TAG_LINE), ("table", _TABLE)):
        if pattern.match(line):
            return (name,)
    if found := _ITEM.match(line):
        return ("item", *_kind_inside(line[found.end(1) :]))
    if found := _SPEAKER.match(line):
        return ("you speak",) if found[1].strip().casefold() == "you" else ("someone speaks",)
    if _ROLE_LINE.match(line):
        return ("role line",)
    return ("text",)


def _kind_inside(content: str) -> tuple[str, ...]:
    """What a list item holds; a name and a colon there are what our own lists are made of."""
    if content.startswith(" " * 5):
        return ("code",)
    inner = kind_of(content.strip(" "))
    return ("text",) if inner == ("role line",) else inner


# ── what may stand nowhere ────────────────────────────────────────────────────────────────────────────────────────

_TOKENS: Final[Mapping[str, re.Pattern[str]]] = {
    "chat token": re.compile(
        r"<[|｜]|<</?SYS>>|</?(?:s|bos|eos|pad|unk|mask|sop|eop|think|start_of_turn|end_of_turn|start_of_image|tool_call"
        r"|tool_response|tools|function_calls?|invoke|im_start|im_end|endoftext|system|user|assistant)\b[^<\n]{0,80}>"
    ),
    "bracket token": re.compile(r"\[/?[A-Z][A-Z_]{1,30}\]"),
    "comment": re.compile(r"<!--|-->"),
    "tag of ours": re.compile(r"</?\s*(?:available_skills|skill|skills)\b", re.IGNORECASE),
    "fence": re.compile(r"`{3}"),
}
_QUOTED_ONLY: Final = re.compile(r"[<>`]")


def tokens_in(text: str) -> list[str]:
    """The names of the things in a text that no value may bring."""
    return [name for name, pattern in _TOKENS.items() if pattern.search(text)]


# ── judging ───────────────────────────────────────────────────────────────────────────────────────────────────────


def escapes(prompt: str, shape: Shape, value: str) -> list[str]:
    """Everything by which the value left its place; empty when it did not."""
    if shape.rules.form == "absent":
        return [] if prompt == shape.text else ["the prompt changed"]
    lines = prompt.split("\n")
    if shape.rules.form in ("block", "spoken"):
        return list(_judge_block(lines, shape, value))
    if len(lines) != len(shape.lines):
        return [f"{len(lines)} lines, not {len(shape.lines)}"]
    problems: list[str] = []
    for line, model in zip(lines, shape.lines, strict=True):
        if model.after is None:
            if line != model.before:
                problems.append(f"a line of ours changed: {line[:120]!r}")
        else:
            problems += _judge_line(line, model, shape.rules, value)
    return problems


def escapes_normalised(prompt: str, shape: Shape) -> list[str]:
    """What a reader finds who normalises the prompt (NFKC) before reading it, and does not find in the benign one."""
    read, benign = (unicodedata.normalize("NFKC", text) for text in (prompt, shape.text))
    problems = [name for name, pattern in _TOKENS.items() if len(pattern.findall(read)) != len(pattern.findall(benign))]
    if shape.rules.form not in ("block", "spoken"):
        kinds, wanted = ([kind_of(line) for line in text.split("\n")] for text in (read, benign))
        problems += [f"{' > '.join(kind)} among the lines" for kind in kinds if kind not in wanted]
    return problems


def _judge_line(line: str, model: Line, rules: Rules, value: str) -> Iterator[str]:
    after = model.after or ""
    if not line.startswith(model.before) or not line.endswith(after) or len(line) < len(model.before) + len(after):
        yield f"the line around the value changed: {line[:160]!r}"
        return
    shown = line[len(model.before) : len(line) - len(after)]
    if kind_of(line) != model.kind:
        yield f"the line became {' > '.join(kind_of(line))}, not {' > '.join(model.kind)}: {line[:120]!r}"
    yield from _judge_inside(shown)
    if re.fullmatch(r"#{1,6} ", model.before) and _folded(shown) in rules.titles:
        yield f"it took a heading of ours: {line[:120]!r}"
    if model.before.endswith("[") and after.startswith("]:") and _folded(shown) in _ROLES:
        yield f"it speaks as {_folded(shown)}: {line[:120]!r}"
    yield from _READERS[rules.form](shown, model, rules, value)


def _judge_inside(text: str) -> Iterator[str]:
    if hidden := hidden_in(text):
        yield f"hidden {', '.join(hidden[:5])} in {text[:120]!r}"
    for name in tokens_in(text):
        yield f"{name} in {text[:120]!r}"


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _read_line(shown: str, model: Line, rules: Rules, value: str) -> Iterator[str]:
    if shown.startswith('"'):
        yield from _read_quoted(shown, model, rules, value)
        if _should_be_bare(shown, model, rules, value):
            yield f"quoted though plain: {shown[:120]}"
        return
    if shown and not may_stand_bare(shown):
        yield f"bare though not plain: {shown[:120]!r}"
    yield from _same(shown, rules, value)


def _should_be_bare(shown: str, model: Line, rules: Rules, value: str) -> bool:
    """Plain, whole, and nowhere in this slot at a place where it would mean something."""
    if rules.expect is None or rules.free or (rules.quarantine and "[quarantined: " in shown):
        return False
    wanted = str(rules.expect(value))
    cut = rules.limit is not None and len(wanted) > rules.limit
    letter_first = unicodedata.normalize("NFKC", wanted)[:1].isalpha()
    special = set(wanted) & set(rules.quoted_if) or (model.opens and (not letter_first or is_role(wanted)))
    return is_plain(wanted) and not cut and not special


def _read_quoted(shown: str, model: Line, rules: Rules, value: str) -> Iterator[str]:
    try:
        read = json.loads(shown)
    except ValueError:
        yield f"not a JSON string: {shown[:120]!r}"
        return
    if not isinstance(read, str):
        yield f"JSON, but not a string: {shown[:120]!r}"
        return
    if found := _QUOTED_ONLY.search(shown):
        yield f"{found.group()} inside a JSON string: {shown[:120]!r}"
    yield from _same(read, rules, value)


def _read_xml(shown: str, model: Line, rules: Rules, value: str) -> Iterator[str]:
    if re.search(r"[<>\"]|&(?!(?:amp|lt|gt|quot);)", shown):
        yield f"markup in XML text: {shown[:120]!r}"
    yield from _read_line(html.unescape(shown), model, rules, value)


def _read_json(shown: str, model: Line, rules: Rules, value: str) -> Iterator[str]:
    try:
        read = json.loads(shown)
    except ValueError:
        yield f"not JSON: {shown[:120]!r}"
        return
    if found := _QUOTED_ONLY.search(shown):
        yield f"{found.group()} inside JSON: {shown[:120]!r}"
    if rules.expect and _paired(read) != _paired(rules.expect(value)):
        yield f"reads back as {str(read)[:120]!r}"


_READERS: Final[Mapping[str, Callable[[str, Line, Rules, str], Iterator[str]]]] = {
    "line": _read_line,
    "quoted": _read_quoted,
    "xml": _read_xml,
    "json": _read_json,
}


def _same(read: str, rules: Rules, value: str) -> Iterator[str]:
    if rules.expect is None or rules.free:
        return
    wanted = rules.expect(value)
    if _paired(read) == _paired(wanted):
        return
    if rules.limit is not None and len(wanted) > rules.limit and _is_cut(read, wanted, rules.limit):
        return
    if rules.quarantine and _is_quarantined(read, value):
        return
    yield f"reads back as {read[:120]!r}"


_LEFT_OUT: Final = re.compile(r"\[quarantined: [0-9,]+ characters, [A-Z_]+\]")


def _is_quarantined(read: str, value: str) -> bool:
    """The value, white space aside, but for the spans that a notice stands for."""
    parts = _LEFT_OUT.split(read)
    words = (r"\s*".join(map(re.escape, part.split())) for part in parts)
    pattern = r"\s*" + r"\s*.*?\s*".join(words) + r"\s*"
    return len(parts) > 1 and re.fullmatch(pattern, _paired(value), re.DOTALL) is not None


LONGEST_CHARACTER: Final = 16


def _is_cut(read: str, wanted: str, limit: int) -> bool:
    """A preview: the beginning of the value, then …; white space and a split character may be missing before it."""
    if len(read) > limit:
        return False
    room = max(limit - 1, 0)
    for end in range(room, -1, -1):
        missing = wanted[end:room]
        if missing.strip() and len(missing) > LONGEST_CHARACTER:
            return False
        if _paired(wanted[:end]) + "…"[:limit] == read:
            return True
    return False


def _paired(value: Any) -> Any:
    """Two surrogates that follow each other are one character to JSON."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    if isinstance(value, Mapping):
        return {_paired(key): _paired(inner) for key, inner in value.items()}
    return [_paired(inner) for inner in value] if isinstance(value, list) else value


# ── blocks ────────────────────────────────────────────────────────────────────────────────────────────────────────

_BREAKS: Final = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_TOUCHED: Final = re.compile(r"[<＜﹤\[［~`｀\u1fef]|--[>＞]|[^\S \n]")


def _judge_block(lines: list[str], shape: Shape, value: str) -> Iterator[str]:
    (at,) = shape.slots
    rest = len(shape.lines) - at - 1
    if len(lines) < len(shape.lines):
        yield f"{len(lines)} lines, fewer than {len(shape.lines)}"
        return
    around = lines[:at] + lines[len(lines) - rest :]
    ours = [line.before for number, line in enumerate(shape.lines) if number != at]
    if around != ours:
        changed = next((found for found, wanted in zip(around, ours, strict=True) if found != wanted), "")
        yield f"a line of ours changed: {changed[:120]!r}"
    framed = shape.rules.form == "block"
    body = []
    for line in lines[at : len(lines) - rest]:
        if framed and line != ">" and not line.startswith("> "):
            yield f"a line without our mark: {line[:120]!r}"
        body.append(line[2:] if framed else line)
        if _FENCE.match(body[-1]):
            yield f"a fence: {line[:120]!r}"
        yield from _judge_inside(body[-1])
    yield from _verbatim("\n".join(body), shape.rules, value, framed)


def _verbatim(body: str, rules: Rules, value: str, framed: bool) -> Iterator[str]:
    """Text in which nothing had to be touched stands as it was written."""
    if rules.expect is None:
        return
    wanted = _BREAKS.sub("\n", rules.expect(value))
    if _TOUCHED.search(wanted) or has_joiner(wanted) or hidden_in(wanted.replace("\n", " ")):
        return
    if framed:
        wanted, body = _trimmed(wanted), _trimmed(body)
    if body != wanted:
        yield f"plain text was changed: {body[:120]!r}"


def _trimmed(text: str) -> str:
    """Without blank lines around it and without spaces at the ends of its lines: a frame need not keep those."""
    return "\n".join(line.rstrip(" ") for line in text.split("\n")).strip("\n")
