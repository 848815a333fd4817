"""Change control: a charter's files, version and golden stack hashes agree with its lock, or what does not is named."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .config import read_config
from .core.assemble import Assembly
from .core.errors import CharterError, ConfigError, Tampered
from .core.incoming import Incoming
from .folder import CONFIG, find, load
from .lock import LOCK, Lock, differing, locked_names, read_lock, unlocked, write_lock
from .sources import World
from .sources.files import FileText, read_file

# The request whose stack hash a lock keeps for every mode; it depends on nothing outside the charter.
REFERENCE = Incoming(channel="terminal", sender="reference", text="reference", at="2026-01-01T00:00:00+00:00")
REFERENCE_WORLD = World(given={"no_host": True})


@dataclass(frozen=True, slots=True)
class Verified:
    """What was verified: problems in words, none when all is well."""

    charter: str
    version: str
    files: int
    problems: tuple[str, ...]


def reference(target: str, mode: str) -> Assembly:
    """The prompt of the reference request."""
    return load(target).assemble(REFERENCE, mode=mode, world=REFERENCE_WORLD)


def golden(target: str) -> dict[str, str]:
    """The stack hash of the reference request in every mode."""
    return {mode: reference(target, mode).stack_sha256 for mode in load(target).stack.modes}


def lock(target: str) -> Lock:
    """Locks a charter as it is; a change under the same version is refused (S1-09)."""
    root = find(target)
    files = _files(root)
    config = read_config(files[CONFIG].text, CONFIG)
    before = read_lock(root)
    if before is not None and before.version == config.version:
        if changed := differing(before, files) + unlocked(before, files):
            raise ConfigError(
                CONFIG,
                f"version is still {before.version}, but {', '.join(changed)} changed; bump the version, then lock",
            )
        return before
    kept = (root / LOCK).read_bytes() if before is not None else None
    (root / LOCK).unlink(missing_ok=True)
    try:
        return write_lock(root, config.version, golden(target))
    except CharterError:
        if kept is not None:
            (root / LOCK).write_bytes(kept)
        raise


def verify(target: str) -> Verified:
    """Everything the lock promises, checked anew."""
    root = find(target)
    kept = read_lock(root)
    if kept is None:
        return Verified(root.name, "", 0, (f"no {LOCK}; run 'charter lock {target}'",))
    files = _files(root)
    problems = [f"changed or gone: {name}" for name in differing(kept, files)]
    problems += [f"not in the lock: {name}" for name in unlocked(kept, files)]
    if not problems:
        problems += _verify_golden(target, kept)
    return Verified(root.name, kept.version, len(kept.files), tuple(problems))


def _verify_golden(target: str, kept: Lock) -> list[str]:
    try:
        now, version = golden(target), load(target).version
    except Tampered:
        raise
    except CharterError as error:
        return [f"the reference prompt cannot be made: {error}"]
    problems = [f"version is {version}, the lock says {kept.version}"] if version != kept.version else []
    modes = sorted(set(now) | set(kept.golden))
    return problems + [
        f"mode {mode}: another stack hash than locked" for mode in modes if now.get(mode) != kept.golden.get(mode)
    ]


def _files(root: Path) -> dict[str, FileText]:
    return {name: found for name in locked_names(root) if (found := read_file(root, name)) is not None}
