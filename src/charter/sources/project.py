"""What a project tells its agents: its files, outermost directory first, imports in place and every hole marked."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from charter.core.errors import BadValue, FileRefused
from charter.sources.files import OpenRoot, list_in, open_child, open_root, printable, read_in, refusal, show_name
from charter.sources.frontmatter import tidy

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_FILE_BYTES: Final = 262_144
MAX_HOPS: Final = 4
MAX_IMPORTS: Final = 50
MAX_IMPORTED_BYTES: Final = 1_048_576
_RULES: Final = ".claude/rules"

# After white space or at a line start; closing punctuation belongs to the sentence, not to the path.
_IMPORT: Final = re.compile(r"""(?<!\S)@(\S*[^\s.,;:!?)\]}>'"])""")
_MARK: Final = re.compile("\ue000([0-9]{1,7})\ue001")
_LITERAL_HTML: Final = re.compile(r"\s*<(?:!--|pre|script|style|textarea)", re.IGNORECASE)
_LINE_REST: Final = re.compile(r"\A[ \t]*\n*")


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """One file with its imports in place; `notices` repeats those that stand in `text`."""

    path: str
    text: str = field(repr=False)
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """The files, outermost first, and a notice for everything that was found but left out."""

    files: tuple[ProjectFile, ...]
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Place:
    """A directory of the walk: held open, how its files are shown, and its name below a declared root."""

    at: OpenRoot
    prefix: str
    base: OpenRoot
    below: str


def project_files(directory: Path, *, root: Path | None = None) -> Found:
    """Walk down to `directory` from `root`, or from the top of the file system, along the physical path."""
    files: list[ProjectFile] = []
    notices: list[str] = []
    for place in _places(directory, root, notices):
        for name in _names(place, notices):
            found = _load(place, name, notices)
            if found:
                files.append(found)
    return Found(tuple(files), tuple(notices))


def _places(directory: Path, root: Path | None, notices: list[str]) -> Iterator[_Place]:
    top, parts = _span(directory, root)
    here = first = _open_top(top)
    try:
        for depth in range(len(parts) + 1):
            below = "/".join(parts[:depth])
            prefix = "../" * (len(parts) - depth) if root is None else below and f"{below}/"
            yield _Place(here, prefix, here if root is None else first, "" if root is None else below)
            if depth == len(parts):
                return
            child = _enter(here, parts[depth], notices)
            if child is None:
                return
            if here is not first:
                os.close(here.fd)
            here = child
    finally:
        for fd in {here.fd, first.fd}:
            os.close(fd)


def _span(directory: Path, root: Path | None) -> tuple[str, tuple[str, ...]]:
    """The physical top of the walk and the directory names below it."""
    try:
        real = os.path.realpath(directory)
        top = os.path.realpath(root) if root is not None else "/"
    except OSError as problem:  # the working directory is gone
        raise BadValue("directory", refusal(problem)) from problem
    prefix = top.rstrip("/") + "/"
    if real != top and not real.startswith(prefix):
        raise BadValue("root", "does not contain the project directory")
    return top, tuple(part for part in real.removeprefix(top).split("/") if part)


def _open_top(top: str) -> OpenRoot:
    try:
        return open_root(top)
    except OSError as problem:
        raise BadValue("root", f"not a directory that can be opened: {refusal(problem)}") from problem


def _enter(here: OpenRoot, name: str, notices: list[str]) -> OpenRoot | None:
    try:
        return open_child(here, name)
    except FileNotFoundError as problem:
        raise BadValue("directory", "does not exist") from problem
    except NotADirectoryError as problem:
        raise BadValue("directory", "is not a directory, or was replaced during the walk") from problem
    except OSError as problem:
        notices.append(f"[left out: {show_name(name)} and below — {refusal(problem)}]")
        return None


def _names(place: _Place, notices: list[str]) -> Iterator[str]:
    yield "CLAUDE.md"
    yield "CLAUDE.local.md"
    try:
        rules = list_in(place.at, _RULES)
    except FileRefused as refused:
        notices.append(_left_out(place, _RULES, refused.reason))
        rules = []
    yield from (f"{_RULES}/{name}" for name in rules if name.endswith(".md") and not name.startswith("."))
    yield "AGENTS.md"


def _load(place: _Place, name: str, notices: list[str]) -> ProjectFile | None:
    try:
        read = read_in(place.at, name, max_bytes=MAX_FILE_BYTES)
    except FileRefused as refused:
        notices.append(_left_out(place, name, refused.reason))
        return None
    if read is None or not read.text.strip():
        return None
    imports = _Imports(place.base)
    text = imports.expand(tidy(read.text), (posixpath.join(place.below, name),))
    return ProjectFile(printable(place.prefix + name), text, tuple(imports.notices))


def _left_out(place: _Place, name: str, reason: str) -> str:
    return f"[left out: {show_name(place.prefix + name)} — {reason}]"


@dataclass(slots=True)
class _Imports:
    """The imports of one file: what they may still take, and what was left out."""

    base: OpenRoot
    count: int = 0
    room: int = MAX_IMPORTED_BYTES
    notices: list[str] = field(default_factory=list)

    def expand(self, text: str, chain: tuple[str, ...]) -> str:
        """`text` with its imports in place; `chain` names the files that led here, the first one first."""
        paragraphs: list[str] = []
        around: list[str] = []
        end = 0
        for match in _imports(text):
            around.append(text[end : match.start()])
            end = match.end()
            block, notice = self._fetch(match[1], chain)
            if notice:
                self.notices.append(notice)
                around.append(notice)
            else:
                paragraphs += ["".join(around), block]
                around = []
        paragraphs.append("".join([*around, text[end:]]))
        return _join(paragraphs)

    def _fetch(self, path: str, chain: tuple[str, ...]) -> tuple[str, str]:
        """(text, "") or ("", notice)."""
        target = posixpath.normpath(posixpath.join(posixpath.dirname(chain[-1]), path))
        reason = self._why_not(path, target, chain)
        if not reason:
            try:
                read = read_in(self.base, target, max_bytes=min(MAX_FILE_BYTES, self.room))
            except FileRefused as refused:
                reason = refused.reason
            else:
                if read is not None:
                    self.count += 1
                    self.room -= read.size
                    return self.expand(tidy(read.text), (*chain, target)), ""
                reason = "no such file"
        return "", f"[import left out: {show_name(path)} — {reason}]"

    def _why_not(self, path: str, target: str, chain: tuple[str, ...]) -> str:
        rules = (
            (path.startswith("/"), "an absolute path"),
            (path.startswith("~"), "a path in a home directory"),
            (target.split("/", 1)[0] == "..", "outside the root"),
            (target in chain, "it imports itself"),
            (len(chain) > MAX_HOPS, f"more than {MAX_HOPS} hops"),
            (self.count >= MAX_IMPORTS, f"more than {MAX_IMPORTS} imports"),
        )
        return next((reason for broken, reason in rules if broken), "")


def _join(paragraphs: list[str]) -> str:
    """Imported text stands as paragraphs of its own: odd entries are imports, even ones what stood around them."""
    last = len(paragraphs) - 1
    for index in range(0, last + 1, 2):
        if index > 0:
            paragraphs[index] = _LINE_REST.sub("", paragraphs[index])
        if index < last:
            paragraphs[index] = paragraphs[index].rstrip()
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)


def _imports(text: str) -> list[re.Match[str]]:
    found = [match for match in _IMPORT.finditer(text) if "/" in match[1] or "." in match[1]]
    prose = _in_prose(text, [match.start() for match in found]) if found else set()
    return [match for number, match in enumerate(found) if number in prose]


def _in_prose(text: str, at_signs: list[int]) -> set[int]:
    """Which of the @ signs stand in prose: each is marked, and Markdown says where the marks come out."""
    pieces = [text[start:end] for start, end in zip([0, *(at + 1 for at in at_signs)], [*at_signs, None], strict=True)]
    marked = "".join(f"{piece}\ue000{number}\ue001" for number, piece in enumerate(pieces[:-1])) + pieces[-1]
    prose: set[int] = set()
    for token in _markdown().parse(marked):
        if token.type == "inline" or (token.type == "html_block" and not _LITERAL_HTML.match(token.content)):
            prose |= _marks(token)
            prose -= {mark for child in token.children or () if child.type == "code_inline" for mark in _marks(child)}
    return prose


def _marks(token: Token) -> set[int]:
    return {int(number) for number in _MARK.findall(token.content)}


@cache
def _markdown() -> MarkdownIt:
    """Only what tells code from prose: the rules left out here are slow on hostile text."""
    from markdown_it import MarkdownIt  # 50 ms to import, needed only when a file has an import

    return MarkdownIt("commonmark").disable(["link", "image", "emphasis", "entity"])
