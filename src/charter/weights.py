"""The weights of embedded models: asked of several mirrors, resumed where they stopped, whole or not there at all."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final, Protocol

import msgspec

from . import home
from .core.errors import FileRefused, ProviderDown, RequestError
from .mirrors import MODELS_VARIABLE, Mirror, NotFrom, disk, fill, size_of, wheels_folder

try:
    import fcntl
except ImportError:  # a platform without it: two fetches at once are then one too many
    fcntl = None  # type: ignore[assignment]

DEFAULT: Final = "qwen2.5-coder-0.5b"
PREFIX: Final = "embedded/"


class Weights(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A model's file: what it is called, how it is known, and who has it."""

    name: str
    about: str
    file: str
    bytes: int
    sha256: str
    licence: str
    context: int
    memory_mb: int
    mirror: tuple[Mirror, ...]


class _Table(msgspec.Struct, forbid_unknown_fields=True):
    model: tuple[Weights, ...]


@cache
def known() -> Mapping[str, Weights]:
    """Every model of weights.toml by its name, the smallest first."""
    from .config import parse

    text = (files(__package__) / "weights.toml").read_text(encoding="utf-8")
    return {row.name: row for row in sorted(parse(text, "weights.toml", _Table).model, key=lambda row: row.bytes)}


def weights_of(name: str) -> Weights:
    """The model of this name, with or without `embedded/` before it."""
    table = known()
    bare = name.removeprefix(PREFIX)
    if bare not in table:
        raise RequestError("embedded model", name, tuple(table))
    return table[bare]


def models_folder(env: Mapping[str, str] = os.environ) -> Path:
    """Where weights are kept: CHARTER_MODELS, else the platform's cache directory. Not made by asking."""
    named = env.get(MODELS_VARIABLE)
    if named:
        return Path(named).expanduser().resolve()
    from platformdirs import user_cache_path

    return user_cache_path("charter", appauthor=False) / "models"


def file_of(row: Weights, folder: Path | None = None) -> Path:
    """The final name of a model's file."""
    return (folder or models_folder()) / row.file


def present(name: str, *, folder: Path | None = None) -> bool:
    """Whether a file of the right size has the final name; its hash is checked before it is used."""
    row = weights_of(name)
    path = file_of(row, folder)
    with disk(path):
        return size_of(path) == row.bytes


def verified(name: str, *, folder: Path | None = None) -> Path:
    """The file, proved by its hash; quick when nothing touched it since it was last proved."""
    row = weights_of(name)
    path = file_of(row, folder)
    with disk(path):
        if not path.exists():
            raise ProviderDown(f"{PREFIX}{row.name}", "its weights are not here", _fetch_it(row))
        if _proved(path, row):
            return path
    raise FileRefused(path.name, f"not what its publisher made (size or hash); {_fetch_it(row)}")


def remove(name: str, *, folder: Path | None = None) -> int:
    """Deletes what is here of a model, half files too; how many bytes that were."""
    row = weights_of(name)
    path = file_of(row, folder)
    with disk(path):
        freed = size_of(path) + size_of(_part(path))
        for one in (path, _part(path), _stamp_file(path)):
            one.unlink(missing_ok=True)
        shutil.rmtree(wheels_folder(_part(path)), ignore_errors=True)
    return freed


# ── fetching ──────────────────────────────────────────────────────────────────────────────────────────────────────


class Watcher(Protocol):
    """Who is told how a fetch goes on."""

    def say(self, line: str) -> None: ...

    def at(self, done: int, total: int) -> None: ...


class Unwatched:
    """Nobody is told."""

    def say(self, line: str) -> None: ...

    def at(self, done: int, total: int) -> None: ...


def fetch(name: str, *, folder: Path | None = None, progress: Watcher | None = None) -> Path:
    """The model's file, fetched when it is not here; what came before a failure is kept, and the next fetch goes on."""
    row, watch = weights_of(name), progress or Unwatched()
    path = file_of(row, folder)
    with disk(path):
        if path.exists() and _proved(path, row):
            return path
        home.private_folder(path.parent)
    with _alone(path, watch):
        problems = [] if _kept(path, row, watch) else _ask_all(row, path, watch)
        if path.exists():
            return path
    tried = "; ".join(problems)
    raise ProviderDown(f"{PREFIX}{row.name}", f"its weights could not be fetched ({tried})", _fetch_it(row))


def _fetch_it(row: Weights) -> str:
    return f"run: charter model fetch {row.name}"


def _kept(path: Path, row: Weights, watch: Watcher) -> bool:
    """Whether the file is here after all; one that is not the publisher's goes."""
    with disk(path):
        if not path.exists() or _proved(path, row):
            return path.exists()
        watch.say(f"{path.name} is not what its publisher made; it is deleted and fetched again")
        path.unlink()
    return False


def _ask_all(row: Weights, path: Path, watch: Watcher) -> list[str]:
    """Asks the mirrors in their order until the file is there; the problem with each that was asked in vain."""
    problems = []
    for mirror in row.mirror:
        problem = _ask(row, mirror, path, watch)
        if not problem:
            break
        watch.say(f"{mirror.name}: {problem}")
        problems.append(f"{mirror.name}: {problem}")
    return problems


def _ask(row: Weights, mirror: Mirror, path: Path, watch: Watcher) -> str:
    """Has one mirror fill what is missing; the file is there under its name, or this is the problem."""
    part = _part(path)
    began = size_of(part)
    watch.say(f"{'going on with' if began else 'fetching'} {row.name}, {row.bytes / 1e6:,.0f} MB, from {mirror.name}")
    try:
        fill(mirror, part, row.bytes, lambda done: watch.at(done, row.bytes))
    except NotFrom as problem:
        return str(problem)
    with disk(path):
        if _right(part, row):
            with part.open("rb+") as file:
                os.fsync(file.fileno())  # the name must not outlive the bytes when the power goes
            part.replace(path)
            home.sync_folder(path.parent)
            _write_stamp(path, row)
            shutil.rmtree(wheels_folder(part), ignore_errors=True)
            return ""
        part.unlink()
    if began:  # the beginning came from an earlier fetch, so this mirror is asked once more for the whole
        watch.say(f"{mirror.name}: the hash is wrong; what came is deleted, and asked for once more from the start")
        return _ask(row, mirror, path, watch)
    return "what it sent is not what the publisher made (its hash is wrong); deleted"


# ── the disk ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _part(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


def _stamp_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.verified")


def _proved(path: Path, row: Weights) -> bool:
    """Whether these are the publisher's bytes: by the stamp of an earlier proof, else by the hash."""
    stamp = _stamp_file(path)
    if stamp.exists() and stamp.read_bytes() == _stamp(path, row):
        return True
    right = _right(path, row)
    if right:
        _write_stamp(path, row)
    return right


def _right(path: Path, row: Weights) -> bool:
    if size_of(path) != row.bytes:
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == row.sha256


def _stamp(path: Path, row: Weights) -> bytes:
    """What a proved file looks like from outside; a write to it, or another file in its place, changes this."""
    status = path.stat()
    seen = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    return f"{row.sha256} {' '.join(map(str, seen))}\n".encode()


def _write_stamp(path: Path, row: Weights) -> None:
    with contextlib.suppress(OSError):  # a folder that may only be read: proved anew each time
        home.replace_private(_stamp_file(path), _stamp(path, row))


@contextlib.contextmanager
def _alone(path: Path, watch: Watcher) -> Iterator[None]:
    """One fetch of a file at a time on this machine; the second waits, and then finds it there."""
    with disk(path), path.with_name(f".{path.name}.lock").open("a") as handle:
        if fcntl is not None:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                watch.say(f"another process fetches {path.name}; waiting for it")
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield
