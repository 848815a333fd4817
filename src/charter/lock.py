"""charter.lock: the version and hash of every file of a charter; what is locked and differs makes no prompt."""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .core.errors import ConfigError, Tampered
from .sources.files import FileText, read_file

LOCK = "charter.lock"
APPROVALS = "charter.approvals"  # signs the lock, so the lock cannot cover it
SHIPPED = Path(__file__).parent / "charters"
NOT_LOCKED = ("workspace", "cases")


@dataclass(frozen=True, slots=True)
class Lock:
    """What charter.lock says; `sha256` is of its bytes, the thing an approver signs."""

    version: str
    files: Mapping[str, str]
    golden: Mapping[str, str]
    versions: Mapping[str, str] = field(default_factory=dict)
    sha256: str = field(default="", compare=False)


def locked_names(root: Path) -> list[str]:
    """Every file of the charter that a lock covers, in one order on every machine."""
    names = []
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
        here = Path(folder).relative_to(root).as_posix()
        for name in files:
            path = name if here == "." else f"{here}/{name}"
            if path not in (LOCK, APPROVALS) and not name.startswith(".") and path.split("/")[0] not in NOT_LOCKED:
                names.append(path)
    return sorted(names)


def read_lock(root: Path) -> Lock | None:
    """The lock of a charter folder; None when it has none."""
    found = read_file(root, LOCK)
    if found is None:
        return None
    try:
        data = tomllib.loads(found.text)
        hashes = _hashes({name: row["sha256"] for name, row in data["files"].items()})
        versions = {name: str(row["version"]) for name, row in data["files"].items()}
        return Lock(str(data["version"]), hashes, _hashes(data.get("golden", {})), versions, found.sha256)
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError):
        raise ConfigError(LOCK, "not a lock file; run 'charter lock' to make it anew") from None


def _hashes(table: Mapping[str, str]) -> dict[str, str]:
    for value in table.values():
        if not re.fullmatch(r"[0-9a-f]{64}", value):
            raise ValueError
    return dict(table)


def file_version(file: FileText, charter_version: str) -> str:
    """A file's own version from its frontmatter, else its charter's."""
    found = re.match(r"---\n(?:(?!---\n).*\n)*?version:[ \t]*([0-9][0-9.]*)[ \t]*\n", file.text)
    return found.group(1) if found else charter_version


def write_lock(root: Path, version: str, golden: Mapping[str, str], files: Mapping[str, FileText]) -> Lock:
    """Locks the folder as these files are."""
    hashes = {name: file.sha256 for name, file in files.items()}
    versions = {name: file_version(file, version) for name, file in files.items()}
    lines = [
        "# Made by 'charter lock': each file with its version and hash, and the stack hash of each mode for the",
        "# reference request. Change a file, bump the version in charter.toml, then lock again.",
        f'version = "{version}"',
        "",
        "[files]",
        *(f'"{name}" = {{ version = "{versions[name]}", sha256 = "{hashes[name]}" }}' for name in files),
        "",
        "[golden]",
        *(f'"{mode}" = "{digest}"' for mode, digest in golden.items()),
    ]
    data = ("\n".join(lines) + "\n").encode()
    write_whole(root / LOCK, data)
    return Lock(version, hashes, dict(golden), versions, hashlib.sha256(data).hexdigest())


def write_whole(path: Path, data: bytes) -> None:
    """These bytes in place of what is there, all or none; the name on the way is a hidden one, which no lock covers."""
    temporary = path.with_name(f".{path.name}.{os.urandom(6).hex()}")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def differing(lock: Lock, files: Mapping[str, FileText]) -> tuple[str, ...]:
    """Locked files that changed or are gone."""
    return tuple(name for name, digest in lock.files.items() if name not in files or files[name].sha256 != digest)


def unlocked(lock: Lock, files: Mapping[str, FileText]) -> tuple[str, ...]:
    """Files the lock does not know."""
    return tuple(sorted(set(files) - set(lock.files)))


def verify_files(root: Path, lock: Lock | None, files: Mapping[str, FileText]) -> None:
    """Fails closed: a locked file that differs, or one the lock does not know, means no prompt."""
    if lock is None:
        return
    if bad := differing(lock, files) + unlocked(lock, files):
        raise Tampered(root.name, bad)


# ── the files themselves ──────────────────────────────────────────────────────────────────────────────────────────


def read_files(root: Path, *, verified: bool = True) -> dict[str, FileText]:
    """Every file of a charter folder, each opened once; verified against the lock unless a new lock is being made."""
    files: dict[str, FileText] = {}
    for name in locked_names(root):
        found = read_file(root, name)
        if found is not None:
            files[name] = found
    if verified:
        lock = read_lock(root)
        if lock is None and root.parent == SHIPPED:
            raise Tampered(root.name, (LOCK,))
        verify_files(root, lock, files)
    return files


def folders(files: Mapping[str, FileText]) -> set[str]:
    """The folders of these files; a file that is added or taken away changes its folder's stamp."""
    return {parent.as_posix() for name in files for parent in Path(name).parents}


def unchanged(root: Path, known: Mapping[str, tuple[int, int, int]]) -> bool:
    """Whether all of these are there with the stamps they had."""
    base, look = os.fspath(root), os.stat
    try:
        for name, (at, size, inode) in known.items():
            now = look(f"{base}/{name}")
            if now.st_mtime_ns != at or now.st_size != size or now.st_ino != inode:
                return False
    except OSError:
        return False
    return True


def stamps(root: Path, names: Mapping[str, object]) -> dict[str, tuple[int, int, int]]:
    found = {}
    base = os.fspath(root)
    for name in names:
        try:
            stat = os.stat(f"{base}/{name}")
        except OSError:
            continue
        found[name] = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
    return found
