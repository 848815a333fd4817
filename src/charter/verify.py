"""Change control: a charter's files, version and golden stack hashes agree with its lock, or what does not is named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from . import seal
from .config import CharterConfig, line_of, read_config
from .core.errors import CharterError, ConfigError
from .core.incoming import Incoming
from .folder import CONFIG, Charter, build, find, load, read_files
from .keys import read_public
from .lock import LOCK, Lock, differing, file_version, read_lock, unlocked, write_lock
from .sources import World
from .sources.files import FileText

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


def golden(charter: Charter) -> dict[str, str]:
    """The stack hash of the reference request in every mode."""
    return {
        mode: charter.assemble(REFERENCE, mode=mode, world=REFERENCE_WORLD).stack_sha256 for mode in charter.stack.modes
    }


def lock(target: str) -> Lock:
    """Locks a charter as it is; a change without a higher version is refused (S1-09)."""
    root = find(target)
    files = read_files(root, verified=False)
    charter = build(root, files, World())
    _config(files)
    before = read_lock(root)
    if before is not None:
        changed = differing(before, files) + unlocked(before, files)
        if not changed and charter.version == before.version:
            return before
        if _numbers(charter.version) <= _numbers(before.version):
            still = "still" if charter.version == before.version else "below the locked one:"
            raise ConfigError(
                CONFIG,
                f"version is {still} {charter.version}, but {', '.join(changed)} changed; bump the version, then lock",
            )
        _refuse_same_version(before, files, charter.version)
    return write_lock(root, charter.version, golden(charter), files)


def _refuse_same_version(before: Lock, files: Mapping[str, FileText], version: str) -> None:
    """A file with a version of its own that changed needs a higher one."""
    for name in differing(before, files):
        if name in files and name in before.versions:
            own = file_version(files[name], version)
            if own != version and _numbers(own) <= _numbers(before.versions[name]):
                raise ConfigError(
                    name, f"changed, but its version is still {own}; bump it in its frontmatter, then lock"
                )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _config(files: Mapping[str, FileText]) -> CharterConfig:
    """charter.toml, with approvers that are who they should be."""
    text = files[CONFIG].text
    config = read_config(text, CONFIG)
    seal.read_approvers(config.approvers, f"{CONFIG}:{line_of(text, '$.approvers')}")
    return config


def verify(target: str, *, approvers: Sequence[str] = ()) -> Verified:
    """Everything the lock promises, checked anew, and that an approver signed it.

    `approvers` are public keys one of which must have signed, whatever the folder says of its approvers: who can
    write the folder can also write that list, so where that matters the keys are kept elsewhere and given here.
    """
    pinned = [read_public(key) for key in approvers]
    root = find(target)
    kept = read_lock(root)
    if kept is None:
        return Verified(root.name, "", 0, (f"no {LOCK}; run 'charter lock {target}'",))
    files = read_files(root, verified=False)
    changed = differing(kept, files)
    problems = [f"changed or gone: {name}" for name in changed]
    problems += [f"not in the lock: {name}" for name in unlocked(kept, files)]
    if not problems:
        problems += _verify_golden(target, kept)
    if CONFIG not in changed:  # in a changed one neither the name nor the approvers are what was signed
        config = _config(files)
        problems += seal.check(root, config, kept) + seal.check_keys(root, config, kept, pinned)
    return Verified(root.name, kept.version, len(kept.files), tuple(problems))


def _verify_golden(target: str, kept: Lock) -> list[str]:
    try:
        charter = load(target)
        now, version = golden(charter), charter.version
    except CharterError as error:
        return [f"the reference prompt cannot be made: {error}"]
    problems = [f"version is {version}, the lock says {kept.version}"] if version != kept.version else []
    modes = sorted(set(now) | set(kept.golden))
    return problems + [
        f"mode {mode}: another stack hash than locked" for mode in modes if now.get(mode) != kept.golden.get(mode)
    ]
