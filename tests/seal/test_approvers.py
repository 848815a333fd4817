"""Who may approve is listed; what cannot be approved says why; keys that are kept elsewhere have the last word."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from charter import keys, seal
from charter.core.errors import ApprovalRefused, BadValue, ConfigError, KeyRefused, MissingExtra
from charter.core.incoming import Incoming
from charter.folder import BUILT_IN, find, load
from charter.lock import locked_names, read_lock
from charter.verify import lock, verify

pytestmark = pytest.mark.requirement("S1-09")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of a shipped charter, and a home with the keys of three people."""
    monkeypatch.setenv("CHARTER_HOME", str(tmp_path / "home"))
    for name in ("alice", "bob", "mallory"):
        keys.new_key(name)
    shutil.copytree(find("contract"), tmp_path / "contract")
    return tmp_path / "contract"


def line(name: str) -> str:
    return f"{name} {keys.public_key(name).line}"


def write_approvers(root: Path, *approvers: str, version: str = "2.0.0") -> None:
    """Lists these approvers and no other, and bumps the version."""
    text = re.sub(r"(?m)^approvers = .*\n", "", (root / "charter.toml").read_text())
    listed = f"approvers = [{', '.join(repr(one) for one in approvers)}]\n" if approvers else ""
    text = re.sub(r'(?m)^version = ".*"\n', f'version = "{version}"\n{listed}', text, count=1)
    (root / "charter.toml").write_text(text)


def govern(root: Path, *approvers: str, version: str = "2.0.0") -> None:
    write_approvers(root, *approvers, version=version)
    lock(str(root))


def problems(root: Path, *pinned: str) -> tuple[str, ...]:
    return verify(str(root), approvers=pinned).problems


# ── the list ──────────────────────────────────────────────────────────────────────────────────────────────────────

KEY = "ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
OTHER = "ed25519:A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg="
KEY_AS_SSH = keys.PublicKey("", "ssh-ed25519", keys.read_public(KEY).raw).line


def test_approvers_are_names_with_keys_of_either_form() -> None:
    listed = seal.read_approvers([f"alice {OTHER}", f"bob {KEY_AS_SSH} bob@laptop"])
    assert listed == (seal.Approver("alice", OTHER), seal.Approver("bob", KEY_AS_SSH))
    assert seal.read_approvers([]) == ()


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([""], "approver 1 is not a name and a public key, such as 'alice ed25519:…'"),
        ([KEY], "approver 1 is not a name and a public key, such as 'alice ed25519:…'"),
        ([f"alice {KEY}", f".bob {OTHER}"], "approver 2 is not a name and a public key, such as 'alice ed25519:…'"),
        (["alice"], "approver 'alice': a public key is one line: ed25519:… or ssh-ed25519 AAAA…"),
        (["alice ssh-rsa AAAA"], "approver 'alice': only ed25519 and ssh-ed25519 keys are taken, this is ssh-rsa"),
        ([f"alice {KEY[:-2]}"], "approver 'alice': not an ed25519 public key: it is damaged, or a weak one"),
        ([f"alice {KEY}", f"alice {OTHER}"], "approver 'alice': a second one with this name; keep one of them"),
        ([f"alice {KEY}", f"Alice {OTHER}"], "approver 'Alice': a second one with this name; keep one of them"),
        ([f"alice {KEY}", f"bob {KEY}"], "approver 'bob': a second one with this key; keep one of them"),
        ([f"alice {KEY}", f"bob {KEY_AS_SSH}"], "approver 'bob': a second one with this key; keep one of them"),
    ],
)
def test_a_list_that_is_not_names_with_keys_once_each_is_an_error_when_locking_and_verifying(
    root: Path, lines: list[str], said: str
) -> None:
    write_approvers(root, *lines)
    where = next(n for n, text in enumerate((root / "charter.toml").read_text().split("\n"), 1) if "approvers" in text)
    with pytest.raises(ConfigError, match=re.escape(f"charter.toml:{where}: {said}")):
        lock(str(root))
    write_approvers(root)
    lock(str(root))
    write_approvers(root, *lines)
    # As if someone had also rewritten the hash in the lock by hand.
    digest = hashlib.sha256((root / "charter.toml").read_bytes()).hexdigest()
    path = root / "charter.lock"
    path.write_text(re.sub(r'("charter.toml" = .*sha256 = )"\w+"', rf'\1"{digest}"', path.read_text()))
    with pytest.raises(ConfigError, match=re.escape(f"charter.toml:{where}: {said}")):
        verify(str(root))


# ── what cannot be approved ───────────────────────────────────────────────────────────────────────────────────────


def refusal(root: Path, key_name: str) -> str:
    before = sorted(path.name for path in root.iterdir())
    with pytest.raises(ApprovalRefused) as caught:
        seal.approve(str(root), key_name=key_name)
    assert sorted(path.name for path in root.iterdir()) == before
    return str(caught.value)


def test_a_charter_without_a_lock_cannot_be_approved(root: Path) -> None:
    (root / "charter.lock").unlink()
    assert refusal(root, "alice") == f"contract has no charter.lock; run 'charter lock {root}' first"


def test_a_charter_that_lists_nobody_cannot_be_approved(root: Path) -> None:
    assert refusal(root, "alice").startswith('charter.toml lists no approvers; put approvers = ["NAME KEY"] at its top')


def test_a_key_that_is_not_listed_cannot_approve_and_is_told_what_to_do(root: Path) -> None:
    govern(root, line("alice"), line("bob"))
    assert refusal(root, "mallory") == (
        "this key is none of the approvers that charter.toml lists (alice, bob); sign with one of theirs, "
        "or list yours ('charter key show NAME' has the line), bump the version and lock again"
    )


def test_an_approval_names_exactly_one_key(root: Path, tmp_path: Path) -> None:
    govern(root, line("alice"))
    with pytest.raises(BadValue, match="key: name one key"):
        seal.approve(str(root))
    with pytest.raises(BadValue, match="key: name one key"):
        seal.approve(str(root), key_name="alice", ssh_key=tmp_path / "id")
    with pytest.raises(KeyRefused, match="no key named 'carol'"):
        seal.approve(str(root), key_name="carol")


def test_an_approval_that_could_not_be_written_leaves_the_old_ones(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    govern(root, line("alice"), line("bob"))
    seal.approve(str(root), key_name="alice")
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}

    def full(self: Path, target: Path) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="no space left"):
        seal.approve(str(root), key_name="bob")
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


# ── keys kept elsewhere ───────────────────────────────────────────────────────────────────────────────────────────


def test_approvals_without_a_list_of_approvers_are_a_problem(root: Path) -> None:
    govern(root, line("alice"))
    seal.approve(str(root), key_name="alice")
    govern(root, version="2.1.0")
    (problem,) = problems(root)
    assert problem == (
        "charter.approvals is here, but charter.toml lists no approvers; list them, "
        "or delete charter.approvals if that is meant"
    )


def test_who_takes_away_list_and_approvals_passes_unless_the_keys_are_kept_elsewhere(root: Path) -> None:
    alice = keys.public_key("alice").line
    govern(root, line("alice"))
    seal.approve(str(root), key_name="alice")
    assert problems(root, alice) == ()
    govern(root, version="2.1.0")
    (root / "charter.approvals").unlink()
    assert problems(root) == ()  # the limit that seal.py tells of
    assert problems(root, alice) == ("not signed by any of the keys that were asked for (1)",)


def test_who_puts_their_own_key_in_passes_unless_the_keys_are_kept_elsewhere(root: Path) -> None:
    alice, bob, mallory = (keys.public_key(name).line for name in ("alice", "bob", "mallory"))
    govern(root, line("alice"))
    seal.approve(str(root), key_name="alice")
    govern(root, f"alice {mallory}", version="2.1.0")
    assert len(problems(root)) == 2
    seal.approve(str(root), key_name="mallory")
    assert problems(root) == ()  # the limit again
    assert problems(root, alice, bob) == ("not signed by any of the keys that were asked for (2)",)
    assert problems(root, alice, mallory) == ()


def test_a_key_asked_for_is_one_more_demand_and_not_another_list(root: Path) -> None:
    govern(root, line("alice"), line("bob"))
    seal.approve(str(root), key_name="bob")
    assert problems(root, keys.public_key("alice").line) == ("not signed by any of the keys that were asked for (1)",)
    rewritten = (root / "charter.approvals").read_text().replace('by = "bob"', 'by = "alice"')
    (root / "charter.approvals").write_text(rewritten)
    assert len(problems(root, keys.public_key("bob").line)) == 2


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_shipped_charter_needs_no_approval_but_has_none_when_one_is_asked_for(name: str) -> None:
    assert verify(name).problems == ()
    assert verify(name, approvers=[KEY]).problems == ("not signed by any of the keys that were asked for (1)",)


@pytest.mark.parametrize("key", ["", "alice", f"alice {KEY}", "ssh-rsa AAAA"])
def test_a_key_asked_for_that_is_no_key_is_an_error_and_not_a_pass(key: str) -> None:
    with pytest.raises(KeyRefused):
        verify("contract", approvers=[key])


# ── what the lock and a prompt have to do with it ─────────────────────────────────────────────────────────────────


def test_the_lock_covers_every_file_but_itself_and_the_approvals_beside_it(root: Path) -> None:
    govern(root, line("alice"))
    kept = read_lock(root)
    seal.approve(str(root), key_name="alice")
    (root / "prompts/charter.approvals").write_text("")
    assert kept is not None
    assert set(locked_names(root)) - set(kept.files) == {"prompts/charter.approvals"}
    assert problems(root) == ("not in the lock: prompts/charter.approvals",)


def test_a_lock_knows_the_hash_of_its_own_bytes_when_made_and_when_read(root: Path) -> None:
    write_approvers(root, line("alice"))
    made, read = lock(str(root)), read_lock(root)
    assert read is not None
    assert made.sha256 == read.sha256 == hashlib.sha256((root / "charter.lock").read_bytes()).hexdigest()


def test_locking_what_is_locked_keeps_lock_and_approval(root: Path) -> None:
    govern(root, line("alice"))
    seal.approve(str(root), key_name="alice")
    kept = read_lock(root)
    made = lock(str(root))
    assert kept is not None
    assert made.sha256 == kept.sha256
    assert problems(root) == ()


@pytest.mark.requirement("N-02")
def test_a_prompt_checks_the_files_and_asks_for_no_signature(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    govern(root, line("alice"))
    monkeypatch.setattr("charter.keys.verify", None)
    monkeypatch.setattr("charter.seal.read_approvals", None)
    before = load(root).assemble(Incoming(text="hi", at=0)).reveal()
    (root / "charter.approvals").write_text("not even TOML")
    assert load(root).assemble(Incoming(text="hi", at=0)).reveal() == before


def test_loading_a_charter_imports_nothing_that_signs() -> None:
    script = (
        "import sys; from charter.folder import load; load('contract');"
        "print(sorted({'charter.keys', 'charter.seal', 'cryptography', 'rfc8785'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("module", ["rfc8785", "cryptography.hazmat.primitives.asymmetric.ed25519"])
def test_without_the_extra_an_approved_charter_is_not_taken_for_verified(
    root: Path, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    govern(root, line("alice"))
    seal.approve(str(root), key_name="alice")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=r"pip install 'charter\[sign\]'"):
        verify(str(root))
    assert verify("contract").problems == ()
