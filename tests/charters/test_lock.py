"""Change control: files, version and golden stack hashes agree with charter.lock, or what does not is named."""

from __future__ import annotations

import hashlib
import re
import shutil
import tomllib
from pathlib import Path

import pytest

from charter.core.errors import ConfigError, LayerEmpty, Tampered
from charter.core.incoming import Incoming
from charter.folder import BUILT_IN, find, load
from charter.lock import Lock, file_version, locked_names, read_lock
from charter.sources import World
from charter.verify import Verified, golden, lock, verify

pytestmark = pytest.mark.requirement("S1-09")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    shutil.copytree(find("contract"), tmp_path / "contract")
    return tmp_path / "contract"


ROLE = "prompts/agents/assistant.md"
CHANGED = "---\nversion: 1.2.0\n---\nYou are a quiet assistant.\n"


def bump(root: Path, version: str = "1.2.0") -> None:
    text = (root / "charter.toml").read_text()
    (root / "charter.toml").write_text(re.sub(r'(?m)^version = ".*"$', f'version = "{version}"', text, count=1))


def files(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_shipped_charter_verifies(name: str) -> None:
    charter = load(name)
    assert verify(name) == Verified(name, charter.version, len(charter.home.files), ())


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_lock_holds_the_version_the_hash_of_every_file_and_a_stack_hash_for_every_mode(name: str) -> None:
    home, charter = find(name), load(name)
    kept = tomllib.loads((home / "charter.lock").read_text())
    hashed = {path: hashlib.sha256((home / path).read_bytes()).hexdigest() for path in locked_names(home)}
    reference = Incoming(channel="terminal", sender="reference", text="reference", at="2026-01-01T00:00:00+00:00")
    world = World(given={"no_host": True})
    stacks = {m: charter.assemble(reference, mode=m, world=world).stack_sha256 for m in charter.stack.modes}
    versions = {path: file_version(charter.home.files[path], charter.version) for path in hashed}
    rows = {path: {"version": versions[path], "sha256": digest} for path, digest in hashed.items()}
    assert kept == {"version": charter.version, "files": rows, "golden": stacks}
    assert not any(path.startswith(("cases/", "workspace/")) or path == "charter.lock" for path in hashed)
    assert "charter.toml" in hashed


def test_a_change_without_a_version_bump_fails_verify_and_cannot_be_locked(root: Path) -> None:
    (root / ROLE).write_text(CHANGED)
    before = files(root)
    assert verify(str(root)) == Verified("contract", "1.1.0", 21, (f"changed or gone: {ROLE}",))
    with pytest.raises(ConfigError) as caught:
        lock(str(root))
    assert str(caught.value) == (
        f"charter.toml: version is still 1.1.0, but {ROLE} changed; bump the version, then lock"
    )
    assert files(root) == before


def test_a_change_with_a_bump_and_a_new_lock_passes(root: Path) -> None:
    (root / ROLE).write_text(CHANGED)
    bump(root)
    assert verify(str(root)).problems == ("changed or gone: charter.toml", f"changed or gone: {ROLE}")
    made = lock(str(root))
    assert made == read_lock(root) == Lock("1.2.0", made.files, golden(load(root)), made.versions)
    assert verify(str(root)) == Verified("contract", "1.2.0", 21, ())
    assert "You are a quiet assistant." in load(root).assemble(Incoming(text="hi", at=0)).reveal()


def test_a_bump_alone_is_not_enough_without_a_new_lock(root: Path) -> None:
    bump(root)
    assert verify(str(root)).problems == ("changed or gone: charter.toml",)
    with pytest.raises(Tampered):
        load(root)


def test_a_version_that_goes_back_is_not_a_bump(root: Path) -> None:
    (root / ROLE).write_text(CHANGED)
    bump(root, "0.9.0")
    before = files(root)
    with pytest.raises(ConfigError):
        lock(str(root))
    assert files(root) == before


@pytest.mark.parametrize("name", ["extra.md", "prompts/agents/new.md"])
def test_a_new_file_needs_a_bump_too(root: Path, name: str) -> None:
    (root / name).write_text(CHANGED)
    assert verify(str(root)).problems == (f"not in the lock: {name}",)
    with pytest.raises(ConfigError, match=f"version is still 1.1.0, but {re.escape(name)} changed"):
        lock(str(root))
    bump(root)
    lock(str(root))
    assert verify(str(root)).problems == ()


def test_a_missing_file_is_named(root: Path) -> None:
    (root / ROLE).unlink()
    assert verify(str(root)).problems == (f"changed or gone: {ROLE}",)


def test_locking_what_is_locked_changes_nothing(root: Path) -> None:
    before = files(root)
    assert lock(str(root)) == read_lock(root)
    assert files(root) == before


def test_a_stack_hash_that_is_not_the_locked_one_is_found(root: Path) -> None:
    path = root / "charter.lock"
    path.write_text(re.sub('"full" = "[0-9a-f]{64}"', f'"full" = "{"0" * 64}"', path.read_text()))
    assert verify(str(root)) == Verified("contract", "1.1.0", 21, ("mode full: another stack hash than locked",))


def test_a_mode_the_lock_does_not_know_or_knows_alone_is_found(root: Path) -> None:
    path = root / "charter.lock"
    path.write_text(re.sub('"full" = ', '"old" = ', path.read_text()))
    problems = ("mode full: another stack hash than locked", "mode old: another stack hash than locked")
    assert verify(str(root)).problems == problems


def test_a_version_in_the_lock_that_is_not_the_charters_is_found(root: Path) -> None:
    path = root / "charter.lock"
    path.write_text(path.read_text().replace('version = "1.1.0"', 'version = "1.1.1"'))
    assert verify(str(root)).problems == ("version is 1.1.0, the lock says 1.1.1",)


def test_a_missing_lock_is_reported_with_the_command_that_makes_one(root: Path) -> None:
    (root / "charter.lock").unlink()
    assert verify(str(root)) == Verified("contract", "", 0, (f"no charter.lock; run 'charter lock {root}'",))
    made = lock(str(root))
    assert made == read_lock(find("contract"))
    assert verify(str(root)).problems == ()


def test_a_lock_made_from_the_same_files_is_the_same_bytes(root: Path) -> None:
    shipped = (root / "charter.lock").read_bytes()
    (root / "charter.lock").unlink()
    lock(str(root))
    assert (root / "charter.lock").read_bytes() == shipped


def test_a_charter_that_makes_no_prompt_cannot_be_locked_and_keeps_its_lock(root: Path) -> None:
    (root / "prompts/base/base_system.md").write_text("")
    bump(root)
    before = files(root)
    with pytest.raises(LayerEmpty, match=r"^the required layer 'base_system' is empty$"):
        lock(str(root))
    assert files(root) == before


def test_a_lock_that_could_not_be_made_for_any_reason_leaves_the_old_one(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bump(root)
    before = files(root)

    def interrupted(target: str) -> dict[str, str]:
        raise KeyboardInterrupt

    monkeypatch.setattr("charter.verify.golden", interrupted)
    with pytest.raises(KeyboardInterrupt):
        lock(str(root))
    assert files(root) == before


def test_a_golden_that_cannot_be_made_is_a_problem_and_not_a_crash(root: Path) -> None:
    (root / "prompts/channels/terminal.md").unlink()
    bump(root)
    path = root / "charter.lock"
    text = re.sub(r'(?m)^"prompts/channels/terminal.md" = .*\n', "", path.read_text())
    digest = hashlib.sha256((root / "charter.toml").read_bytes()).hexdigest()
    text = re.sub(r'(?m)^"charter.toml" = .*$', f'"charter.toml" = {{ version = "1.2.0", sha256 = "{digest}" }}', text)
    path.write_text(text.replace('version = "1.1.0"', 'version = "1.2.0"'))
    (problem,) = verify(str(root)).problems
    assert problem == (
        "the reference prompt cannot be made: prompts/channels/terminal.md: missing, "
        "needed by layer 'channel_policy' in charter.toml; create it or name another"
    )


def test_cases_and_a_workspace_are_not_locked(root: Path) -> None:
    (root / "cases/basic.toml").write_text("")
    (root / "workspace").mkdir()
    (root / "workspace/SOUL.md").write_text("x")
    (root / ".gitignore").write_text("x")
    assert verify(str(root)).problems == ()


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_shipped_charter_lists_no_approvers(name: str) -> None:
    assert "approvers" not in tomllib.loads((find(name) / "charter.toml").read_text())
