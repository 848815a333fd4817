"""Templates: Markdown with slots, compiled once, strict about names, and with no way around the encoder."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import minijinja

from .core.errors import TemplateRefused
from .core.text import Facts, plain_filler

_TAG = re.compile(r"\{\{(?P<slot>.*?)\}\}|\{%(?P<tag>.*?)%\}|\{#.*?#\}", re.DOTALL)
_SLOT = re.compile(r"\s*([a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)*)\s*\Z")
_FOR = re.compile(r"\s*for\s+([a-z_][a-z0-9_]*)\s+in\s+([a-z_][a-z0-9_.]*)\s*\Z")
_IF = re.compile(r"\s*(?:el)?if\s+(?:[a-z0-9_. <>=!]|\"[A-Za-z0-9_ ]*\")+\Z")
_RESERVED = {"true", "false", "none", "not", "and", "or", "in", "is", "if", "else", "for", "loop", "self", "super"}
_ENGINE_NAMES = ("range", "dict", "debug", "namespace", "cycler", "joiner", "lipsum")
_OPENS = re.compile(r"[\s>\[]*(?:(?:[-*+]|\d+[.)])[\s>\[]+)*")
_PLAIN_TAGS = {"else", "endif", "endfor"}


class Compiled:
    """One template. It holds no values and is safe to share between threads."""

    __slots__ = ("_env", "_where", "headings", "quick", "starts", "text")

    def __init__(self, text: str, where: str) -> None:
        text = text.strip("\n")
        _refuse_ways_around(text, where)
        self._where = where
        self.text = text
        self.starts = _line_starts(text)
        self.headings = _headings(text)
        self.quick = _quick(text, self.starts)
        self._env = minijinja.Environment(
            undefined_behavior="strict", trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=False, debug=False
        )
        self._env.auto_escape_callback = lambda name: False
        for name in _ENGINE_NAMES:
            self._env.remove_global(name)
        try:
            self._env.add_template("t", text)
        except minijinja.TemplateError as error:
            raise TemplateRefused(
                f"{where}:{error.line}", "the template does not compile; check its {% %} tags"
            ) from None

    def __repr__(self) -> str:
        return f"Compiled({self._where!r})"

    def render(self, values: Mapping[str, object]) -> str:
        try:
            return self._env.render_template("t", **values)
        except minijinja.TemplateError as error:
            names = sorted(self._env.undeclared_variables_in_template("t") - values.keys())
            missing = f"no value for {', '.join(names)}" if names else f"{error.kind}"
            raise TemplateRefused(f"{self._where}:{error.line}", f"{missing}; add the source that gives it") from None


def _refuse_ways_around(text: str, where: str) -> None:
    for match in _TAG.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        slot, tag = match.group("slot"), match.group("tag")
        if slot is not None and (not _SLOT.match(slot) or slot.strip() in _RESERVED):
            raise TemplateRefused(
                f"{where}:{line}", "a slot holds a name such as {{ sender }}; filters and calls are not allowed"
            )
        if tag is not None and not (tag.strip() in _PLAIN_TAGS or _FOR.match(tag) or _IF.match(tag)):
            raise TemplateRefused(f"{where}:{line}", "only if, elif, else, endif, for and endfor are allowed here")
    rest = _TAG.sub("", text)
    for mark in ("{{", "{%", "{#"):
        if mark in rest:
            line = text.count("\n", 0, text.rindex(mark)) + 1
            raise TemplateRefused(f"{where}:{line}", f"{mark!r} is never closed")


def _line_starts(text: str) -> frozenset[str]:
    """Slots that may come first on a line, in a list item or in a bracket there; a loop's list for its variable.

    What stands before a slot counts only when nothing can take it away: text since the last tag on the same line, or
    at the line's start when the slot is not in another branch.
    """
    starts: set[str] = set()
    loops: dict[str, set[str]] = {}
    for tag in _TAG.finditer(text):
        if loop := _FOR.match(tag["tag"] or ""):
            loops.setdefault(loop.group(1), set()).add(loop.group(2).rpartition(".")[2])
    for match in _TAG.finditer(text):
        slot = match.group("slot")
        before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        sure = before.rpartition("%}")[2] + (before.partition("{%")[0] if _in_one_block(before) else "")
        if slot is None or not _OPENS.fullmatch(_TAG.sub("", sure)):
            continue
        name = slot.strip().rpartition(".")[2]
        starts |= {name, *loops.get(name, ())}
    return frozenset(starts)


def _in_one_block(before: str) -> bool:
    """Whether no branch that was open where this text begins ends in it."""
    depth = 0
    for tag in _TAG.finditer(before):
        word = ((tag["tag"] or "").split() or [""])[0]
        depth += (word in ("if", "for")) - (word in ("endif", "endfor"))
        if depth < 0 or (depth == 0 and word in ("else", "elif")):
            return False
    return True


def _headings(text: str) -> tuple[str, ...]:
    found = []
    for line in text.split("\n"):
        line = re.sub(r"\{%.*?%\}|\{#.*?#\}", "", line).lstrip()
        if re.match(r"#{1,6} ", line):
            opening, slot, _ = line.partition("{{")
            found.append(opening.rstrip() + " " if slot else opening.rstrip())
    return tuple(found)


def _quick(text: str, starts: frozenset[str]) -> Callable[[Facts], str | None]:
    """For a template of text and slots inside lines, what fills it without the template engine."""
    pieces = re.split(r"\{\{\s*(.*?)\s*\}\}", text)
    names = pieces[1::2]
    if "{%" in text or "{#" in text or starts or any("." in name for name in names):
        return lambda facts: None
    return plain_filler(pieces[::2], names) if names else lambda facts: text
