"""A file is opened once, inside its root, and is either read whole or refused with a reason; never read in part.

Names are relative to a root. A symbolic link counts only when it resolves inside that root; the resolved name is then
walked one directory at a time without following links, so a link swapped in meanwhile is refused, not followed.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final

from charter.core.errors import FileRefused

MAX_BYTES: Final = 8_388_608
_SHOWN: Final = 120
_CHUNK: Final = 65_536

# O_PATH needs only search permission on a directory, as the kernel's own path lookup does (Linux).
_ROOT: Final = os.O_DIRECTORY | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
_STEP: Final = _ROOT | os.O_NOFOLLOW
_LIST: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

_MISSING: Final = (FileNotFoundError, NotADirectoryError)
_REASONS: Final = {
    errno.ENOENT: "not there",
    errno.ENOTDIR: "not a directory",
    errno.EACCES: "not readable",
    errno.EPERM: "not readable",
    errno.ELOOP: "a link that loops, changed, or is too deep to follow",
    errno.ENAMETOOLONG: "name too long for this system",
}
_NOT_PLAIN: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\\]")


@dataclass(frozen=True, slots=True)
class FileText:
    """One file: `sha256` and `size` are of the bytes as read, `text` has no byte-order mark and LF line ends."""

    path: str
    text: str = field(repr=False)
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class OpenRoot:
    """A directory held open, so that everything read under it is under that very directory."""

    path: str
    fd: int


class _LinkFound(Exception):
    """A component is a symbolic link; `last` when it is the final one."""

    def __init__(self, *, last: bool) -> None:
        super().__init__()
        self.last = last


def read_file(root: Path, name: str, *, max_bytes: int = MAX_BYTES) -> FileText | None:
    """The text of `name` inside `root`; None when there is no such file; FileRefused when it may not be read."""
    _plain_parts(name)
    with _opened(root, name) as opened:
        return read_in(opened, name, max_bytes=max_bytes) if opened else None


def list_dir(root: Path, name: str, *, limit: int = 1000, folders_only: bool = False) -> list[str]:
    """Sorted names of the entries of a directory inside `root` (`.` is the root itself); [] when it is missing.

    Names come as the system has them: they may hold control characters, newlines or undecodable bytes
    (surrogateescape). `read_file` refuses such names and `show_name` makes them printable. More than `limit` entries,
    or something that is not a directory, is FileRefused.
    """
    _plain_parts(name)
    with _opened(root, name) as opened:
        return list_in(opened, name, limit=limit, folders_only=folders_only) if opened else []


def read_in(root: OpenRoot, name: str, *, max_bytes: int = MAX_BYTES) -> FileText | None:
    """`read_file` under a root that is already open."""
    parts = _plain_parts(name)
    shown = show_name(name)
    if not parts:
        raise FileRefused(shown, "not a plain relative path")
    try:
        with _reached(root, parts, _open_regular) as fd:
            data = _read_whole(fd, shown, max_bytes)
    except _MISSING:
        return None
    except OSError as problem:
        raise FileRefused(shown, refusal(problem)) from problem
    return FileText("/".join(parts), _decode(data, shown), hashlib.sha256(data).hexdigest(), len(data))


def list_in(root: OpenRoot, name: str, *, limit: int = 1000, folders_only: bool = False) -> list[str]:
    """`list_dir` under a root that is already open."""
    shown = show_name(name)
    try:
        with _reached(root, _plain_parts(name), _open_listing) as fd, os.scandir(fd) as entries:
            found = list(islice(entries, limit + 1))
            names = sorted(entry.name for entry in found if not folders_only or _is_folder(entry))
    except _MISSING:
        return []
    except OSError as problem:
        raise FileRefused(shown, refusal(problem)) from problem
    if len(found) > limit:
        raise FileRefused(shown, f"more than {limit:,} entries")
    return names


def open_root(path: str) -> OpenRoot:
    """Hold a directory open; the caller closes `fd`. Raises OSError."""
    return OpenRoot(path, os.open(path, _ROOT))


def open_child(parent: OpenRoot, name: str) -> OpenRoot:
    """Hold a directory of an open one, never through a link; the caller closes `fd`. Raises OSError."""
    return OpenRoot(os.path.join(parent.path, name), os.open(name, _STEP, dir_fd=parent.fd))


def refusal(problem: OSError) -> str:
    """The fixed phrase for an error of the operating system."""
    code = problem.errno or 0
    return _REASONS.get(code, f"cannot be read ({errno.errorcode.get(code, 'unknown error')})")


def printable(name: str) -> str:
    """A file name on one line: whatever is not printable, and the backslash, as escapes."""
    return "".join(char if char.isprintable() and char != "\\" else _escape(char) for char in name)


def show_name(name: str) -> str:
    """`printable`, at most 120 characters; a longer name keeps its head and its tail."""
    shown = printable(name)
    if len(shown) <= _SHOWN:
        return shown
    half = (_SHOWN - 1) // 2
    return f"{shown[:half]}…{shown[-half:]}"


def _escape(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that was not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return char.encode("unicode_escape").decode("ascii")


def _plain_parts(name: str) -> tuple[str, ...]:
    parts = tuple(part for part in name.split("/") if part not in ("", "."))
    if not name or name.startswith("/") or ".." in parts or _NOT_PLAIN.search(name):
        raise FileRefused(show_name(name), "not a plain relative path")
    return parts


@contextmanager
def _opened(root: Path, name: str) -> Iterator[OpenRoot | None]:
    try:
        opened = open_root(os.fspath(root))
    except _MISSING:
        opened = None
    except OSError as problem:
        raise FileRefused(show_name(name), f"root {refusal(problem)}") from problem
    try:
        yield opened
    finally:
        if opened:
            os.close(opened.fd)


@contextmanager
def _reached(root: OpenRoot, parts: tuple[str, ...], opener: Callable[[int, str, str], int]) -> Iterator[int]:
    fd = _reach(root, parts, opener)
    try:
        yield fd
    finally:
        os.close(fd)


def _reach(root: OpenRoot, parts: tuple[str, ...], opener: Callable[[int, str, str], int]) -> int:
    """Open what `parts` name below `root`; links are resolved once, and only inside the root."""
    try:
        return _open_below(root.fd, parts, opener)
    except _LinkFound as link:
        last = link.last
    shown = show_name("/".join(parts))
    try:
        return _open_below(root.fd, _resolve(root.path, parts), opener)
    except _LinkFound:
        raise FileRefused(shown, _REASONS[errno.ELOOP]) from None
    except _MISSING:
        if last:
            raise FileRefused(shown, "a link to nothing") from None
        raise


def _resolve(root: str, parts: tuple[str, ...]) -> tuple[str, ...]:
    base = os.path.realpath(root)
    real = os.path.realpath(os.path.join(base, *parts))
    if real == base:
        return ()
    prefix = base.rstrip("/") + "/"
    if not real.startswith(prefix):
        raise FileRefused(show_name("/".join(parts)), "a link that leads outside its root")
    return tuple(real.removeprefix(prefix).split("/"))


def _open_below(root_fd: int, parts: tuple[str, ...], opener: Callable[[int, str, str], int]) -> int:
    here = os.dup(root_fd)
    try:
        for part in parts[:-1]:
            child = _step(here, part)
            os.close(here)
            here = child
        return opener(here, parts[-1] if parts else ".", show_name("/".join(parts)))
    finally:
        os.close(here)


def _step(fd: int, part: str) -> int:
    try:
        return os.open(part, _STEP, dir_fd=fd)
    except OSError as problem:
        if problem.errno in (errno.ENOTDIR, errno.ELOOP) and stat.S_ISLNK(_mode(fd, part)):
            raise _LinkFound(last=False) from None
        raise


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link in a circle, say: listed, so that reading it gives the reason
        return True


def _mode(fd: int, part: str) -> int:
    return os.stat(part, dir_fd=fd, follow_symlinks=False).st_mode


def _open_regular(fd: int, part: str, shown: str) -> int:
    # Asked before opening, so that no device or pipe is touched; asked again of the open file in `_read_whole`.
    mode = _mode(fd, part)
    if stat.S_ISLNK(mode):
        raise _LinkFound(last=True)
    if not stat.S_ISREG(mode):
        raise FileRefused(shown, "not a regular file")
    return os.open(part, _FILE, dir_fd=fd)


def _open_listing(fd: int, part: str, shown: str) -> int:
    mode = _mode(fd, part)
    if stat.S_ISLNK(mode):
        raise _LinkFound(last=True)
    if not stat.S_ISDIR(mode):
        raise FileRefused(shown, "not a directory")
    return os.open(part, _LIST, dir_fd=fd)


def _read_whole(fd: int, shown: str, max_bytes: int) -> bytes:
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode):
        raise FileRefused(shown, "not a regular file")
    if status.st_size > max_bytes:
        raise FileRefused(shown, f"{status.st_size:,} bytes, the limit is {max_bytes:,}")
    data = bytearray()
    while len(data) <= max_bytes and (chunk := os.read(fd, min(_CHUNK, max_bytes + 1 - len(data)))):
        data += chunk
    if len(data) > max_bytes:
        raise FileRefused(shown, f"grew while it was read, the limit is {max_bytes:,} bytes")
    return bytes(data)


def _decode(data: bytes, shown: str) -> str:
    nul = data.find(b"\0")
    if nul >= 0:
        raise FileRefused(shown, f"NUL at byte {nul}")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as problem:
        at = problem.start
    else:
        return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    raise FileRefused(shown, f"not UTF-8 at byte {at}")  # outside `except`: that error carries the content
