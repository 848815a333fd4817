"""What was read from a file is used again while it, and every folder on the way to it, is the same and unchanged."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from .files import MAX_BYTES, FileText
from .files import read_file as read_anew

SETTLED_NS: Final = 2 * 10**9  # a change within one tick of a file system's clock leaves its time as it was
MOST: Final = 512

_PLAIN: Final = re.compile(r"\w[\w.-]*(?:/\w[\w.-]*)*", re.ASCII)  # any other name is looked at by who may refuse it

Sign = tuple[tuple[int, ...], ...]
Looks = dict[str, tuple[int, ...] | None]  # how files and folders were when they were looked at, by path
MISSING: Final[Sign] = ()
Made = TypeVar("Made")


class Kept(NamedTuple):
    """A file's text, and the signs by which it is known again."""

    signs: Sign
    text: FileText


_kept: dict[tuple[str, str, int], Kept] = {}


def read_file(root: Path, name: str, *, max_bytes: int = MAX_BYTES, looks: Looks | None = None) -> FileText | None:
    """As `files.read_file`, which does the reading; a file that did not change since is not opened again.

    Who reads several files at once hands the same `looks` to each, and no folder is looked at twice.
    """
    key = (os.fspath(root), name, max_bytes)
    signs = _signs(key[0], name, {} if looks is None else looks)
    kept = _kept.get(key)
    if kept is not None and signs is not None and kept.signs == signs:
        return kept.text
    if signs is MISSING and _PLAIN.fullmatch(name):
        return None
    found = read_anew(root, name, max_bytes=max_bytes)
    if found is None or not signs or _fresh(signs):
        _kept.pop(key, None)
    elif signs == _signs(key[0], name, {}):  # it did not change while it was read
        if len(_kept) >= MOST:
            _kept.clear()
        _kept[key] = Kept(signs, found)
    return found


_made: dict[tuple[str, str], tuple[Sign, dict[str, Sign], object]] = {}


def made_of(
    root: Path,
    folder: str,
    file: str,
    make: Callable[[], tuple[Made, Sequence[str]]],
    looks: Looks | None = None,
) -> Made:
    """What was made of the files `folder/*/file`, used again while the folder and those files are as they were.

    `make` gives it anew, with the names of the folders it looked into.
    """
    base = os.fspath(root)
    looks = {} if looks is None else looks
    key, now = (base, f"{folder}/*/{file}"), _signs(base, folder, looks)
    kept = _made.get(key)
    if kept and kept[0] == now and all(_signs(base, name, looks) == signs for name, signs in kept[1].items()):
        return kept[2]  # type: ignore[return-value]
    made, names = make()
    anew: Looks = {}
    signs = {name: _signs(base, name, anew) for name in (f"{folder}/{one}/{file}" for one in names)}
    if not now or not all(signs.values()) or now != _signs(base, folder, anew) or _fresh(now, *signs.values()):
        _made.pop(key, None)
    else:
        if len(_made) >= MOST:
            _made.clear()
        _made[key] = now, signs, made  # type: ignore[assignment]
    looks.update(anew)
    return made


def same(looks: Looks) -> bool:
    """Whether everything that was looked at is now as it was then."""
    look = os.lstat
    for path, sign in looks.items():
        try:
            one = look(path)
        except FileNotFoundError:
            if sign is None or sign:
                return False
        except (OSError, ValueError):
            if sign is not None:
                return False
        else:  # what is the same is no link, for it was none then
            if sign != (one.st_dev, one.st_ino, one.st_mtime_ns, one.st_ctime_ns, one.st_size):
                return False
    return True


def telling(looks: Looks) -> Looks:
    """Those of these looks that have to be taken again: what a folder had not, it has not while it is unchanged."""
    return {path: sign for path, sign in looks.items() if sign != () or not _folder_of(path, looks)}


def _folder_of(path: str, looks: Looks) -> object:
    """How the folder was that this was looked for in; nothing when nobody looked."""
    above = path.rpartition("/")[0]
    return looks.get(above) or looks.get(f"{above}/")


def settled(looks: Looks, since_ns: int) -> bool:
    """Whether whatever changes from now on will show in these looks, the first of which was taken `since_ns`."""
    return all(sign is not None and (not sign or since_ns - max(sign[2:4]) >= SETTLED_NS) for sign in looks.values())


def _fresh(*found: Sign | None) -> bool:
    return time.time_ns() - max(max(signs[-1][2:4]) for signs in found if signs) < SETTLED_NS


def _signs(root: str, name: str, looks: Looks) -> Sign | None:
    """Which file this is and how it is now, folder by folder; None when a link leads to it, or nobody can tell."""
    found = []
    for path in _way(root, name):
        if path not in looks:
            looks[path] = _look(path)
        sign = looks[path]
        if not sign:
            return None if sign is None else MISSING
        found.append(sign)
    return tuple(found)


@lru_cache(maxsize=MOST)
def _way(root: str, name: str) -> tuple[str, ...]:
    """The root, which may be a link (hence its slash), and every step from there to a file."""
    parts = name.split("/")
    return (f"{root}/", *(f"{root}/{'/'.join(parts[:count])}" for count in range(1, len(parts) + 1)))


def _look(path: str) -> tuple[int, ...] | None:
    """How a file or folder is; empty when there is none, None for a link or when nobody can tell."""
    try:
        one = os.lstat(path)
    except FileNotFoundError:
        return ()
    except (OSError, ValueError):
        return None
    if stat.S_ISLNK(one.st_mode):
        return None
    return one.st_dev, one.st_ino, one.st_mtime_ns, one.st_ctime_ns, one.st_size
