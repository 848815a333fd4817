"""An approver signs a charter's lock; what nobody listed has signed, or what changed since, does not verify."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization as form
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from charter import keys, seal
from charter.config import read_config
from charter.core.errors import (
    BadValue,
    ConfigError,
    FileRefused,
    Tampered,
)
from charter.folder import find
from charter.home import write_private
from charter.lock import locked_names, read_lock
from charter.verify import lock, verify

pytestmark = pytest.mark.requirement("S1-09")

ROLE = "prompts/agents/assistant.md"


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


def govern(root: Path, *approvers: str, version: str = "2.0.0") -> None:
    """Lists these approvers and no other, bumps the version and locks."""
    text = re.sub(r"(?m)^approvers = .*\n", "", (root / "charter.toml").read_text())
    listed = f"approvers = [{', '.join(repr(one) for one in approvers)}]\n" if approvers else ""
    text = re.sub(r'(?m)^version = ".*"\n', f'version = "{version}"\n{listed}', text, count=1)
    (root / "charter.toml").write_text(text)
    lock(str(root))


def problems(root: Path, *pinned: str) -> tuple[str, ...]:
    return verify(str(root), approvers=pinned).problems


def rewrite(root: Path, old: str, new: str) -> None:
    path = root / "charter.approvals"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def not_approved(root: Path, *names: str) -> str:
    return f"not approved by any of {', '.join(names)}; one of them runs 'charter approve {root} --key NAME'"


# ── what is signed ────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_statement_and_its_signature_are_the_golden_ones(root: Path, tmp_path: Path) -> None:
    said = seal.statement("golden", "1.2.3", lock_sha256="ab" * 32)
    assert said == (
        b'{"charter":"golden","contract":"charter-approval-1","lock_sha256":"' + b"ab" * 32 + b'","version":"1.2.3"}'
    )
    private = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))  # nobody's: the bytes 0 to 31
    pem = private.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    write_private(tmp_path / "home/keys/golden.key", pem)
    signature = "ed25519:epg4tpmqS0Yq2iaq7bGe/RnfnyRDDM2+m0hBs0/hDsMR6pozNiMP4mXGWcGFr99UQmz+KZDt6hUCQr+b8m6+CQ=="
    assert keys.public_key("golden").line == "ed25519:A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg="
    assert keys.sign("golden", said) == signature
    assert keys.verify("ed25519:A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=", said, signature)


@pytest.mark.requirement("N-04")
def test_a_decision_about_a_proposal_is_signed_over_everything_it_decides() -> None:
    def said(agent: str = "nova", proposal: str = "p-1", **other: Any) -> bytes:
        given = {"layer_id": "mission", "sha256": "cd" * 32, "base_version": 4, "decision": "approve", **other}
        return seal.proposal_statement(agent, proposal, **given)

    assert said() == (
        b'{"agent":"nova","base_version":4,"contract":"charter-proposal-1","decision":"approve",'
        b'"layer_id":"mission","proposal_id":"p-1","sha256":"' + b"cd" * 32 + b'"}'
    )
    others = {said(layer_id="soul"), said(sha256="ce" * 32), said(base_version=5), said(decision="reject")}
    assert len({said(), *others, said("ada"), said("nova", "p-2")}) == 7


@pytest.mark.parametrize(("agent", "version"), [("\ud800", 1), ("nova", 2**60)])
def test_a_statement_that_has_no_canonical_form_is_refused(agent: str, version: int) -> None:
    with pytest.raises(BadValue, match="statement: holds a number or characters that JSON cannot carry"):
        seal.proposal_statement(agent, "p", layer_id="l", sha256="", base_version=version, decision="reject")


# ── approving and verifying ───────────────────────────────────────────────────────────────────────────────────────


def test_a_charter_that_lists_approvers_verifies_only_once_one_of_them_signed(root: Path) -> None:
    govern(root, line("alice"), line("bob"))
    assert problems(root) == (not_approved(root, "alice", "bob"),)
    made = seal.approve(str(root), key_name="bob")
    kept = read_lock(root)
    assert kept is not None
    assert (made.by, made.version, made.lock_sha256) == ("bob", "2.0.0", kept.sha256)
    assert problems(root) == ()


def test_two_approvers_stand_side_by_side_and_a_second_approval_replaces_the_first(root: Path) -> None:
    govern(root, line("alice"), line("bob"))
    first = seal.approve(str(root), key_name="bob")
    seal.approve(str(root), key_name="alice")
    rewrite(root, first.signature, "ed25519:damaged")
    assert problems(root) == ()
    assert seal.approve(str(root), key_name="bob") == first
    assert [one.by for one in seal.read_approvals(root) or ()] == ["alice", "bob"]


def test_an_approval_that_does_not_count_is_dropped_by_the_next_one(root: Path) -> None:
    govern(root, line("alice"), line("bob"))
    made = seal.approve(str(root), key_name="alice")
    rewrite(root, f'"{made.signature}"', """'''x"\n[[approval]]\nby = "mallory"'''""")
    seal.approve(str(root), key_name="bob")
    assert [one.by for one in seal.read_approvals(root) or ()] == ["bob"]


def test_the_name_of_an_approval_is_the_listed_one_not_the_name_of_the_key_file(root: Path) -> None:
    govern(root, f"chief {keys.public_key('alice').line}")
    assert seal.approve(str(root), key_name="alice").by == "chief"
    assert problems(root) == ()


def test_a_change_that_is_locked_anew_needs_a_new_approval_and_the_old_one_is_dropped(root: Path) -> None:
    govern(root, line("alice"), line("bob"))
    seal.approve(str(root), key_name="alice")
    (root / ROLE).write_text("---\nversion: 1.2.0\n---\nYou are a quiet assistant.\n")
    govern(root, line("alice"), line("bob"), version="2.1.0")
    first, second = problems(root)
    assert first == not_approved(root, "alice", "bob")
    assert second.startswith("the approval by alice: of another charter.lock, ")
    seal.approve(str(root), key_name="bob")
    assert [one.by for one in seal.read_approvals(root) or ()] == ["bob"]
    assert problems(root) == ()


def test_an_ssh_key_of_an_approver_signs_too(root: Path, tmp_path: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "id"], check=True)
    public = (tmp_path / "id.pub").read_text().strip()
    govern(root, f"alice {public}")
    assert seal.approve(str(root), ssh_key=tmp_path / "id").by == "alice"
    assert problems(root, public) == ()
    rewrite(root, "SIGNATURE-----\nU1NI", "SIGNATURE-----\nU1NJ")
    assert problems(root)[1:] == ("the approval by alice: not a signature of this lock by their key",)


# ── every byte that may not change ────────────────────────────────────────────────────────────────────────────────


def change_a_letter(path: Path) -> None:
    data = bytearray(path.read_bytes())
    at = next(n for n in range(len(data) // 2, len(data)) if chr(data[n]).isascii() and chr(data[n]).isalpha())
    data[at] ^= 0x20
    path.write_bytes(data)


@pytest.mark.requirement("N-02")
@pytest.mark.parametrize("name", locked_names(find("contract")))
def test_a_changed_letter_in_any_file_of_an_approved_charter_is_named_and_cannot_be_approved(
    root: Path, name: str
) -> None:
    govern(root, line("alice"))
    seal.approve(str(root), key_name="alice")
    change_a_letter(root / name)
    assert f"changed or gone: {name}" in problems(root)
    with pytest.raises(Tampered):
        seal.approve(str(root), key_name="alice")


def test_a_changed_letter_in_the_lock_makes_its_approval_void(root: Path) -> None:
    govern(root, line("alice"))
    seal.approve(str(root), key_name="alice")
    path = root / "charter.lock"
    path.write_text(path.read_text().replace("# Made by", "# made by"))
    assert problems(root)[0] == not_approved(root, "alice")
    assert re.fullmatch("the approval by alice: of another charter.lock, .{13}; this one is .{13}", problems(root)[1])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('by = "alice"', 'by = "bob"', "the approval by bob: not a signature of this lock by their key"),
        ('by = "alice"', 'by = "mallory"', "the approval by mallory: not an approver that charter.toml lists"),
        ('by = "alice"', 'by = "Alice"', "the approval by Alice: not an approver that charter.toml lists"),
        ('"2.0.0"', '"1.0.0"', "the approval by alice: of version 1.0.0, the lock says 2.0.0"),
        ('signature = "ed25519:', 'signature = "', "the approval by alice: not a signature of this lock by their key"),
        ("==", "", "the approval by alice: not a signature of this lock by their key"),
    ],
)
def test_a_changed_field_of_an_approval_is_named(root: Path, old: str, new: str, said: str) -> None:
    govern(root, line("alice"), line("bob"))
    seal.approve(str(root), key_name="alice")
    rewrite(root, old, new)
    assert problems(root) == (not_approved(root, "alice", "bob"), said)


def test_every_changed_character_of_hash_and_signature_is_named(root: Path) -> None:
    govern(root, line("alice"))
    made = seal.approve(str(root), key_name="alice")
    config, kept = read_config((root / "charter.toml").read_text(), "charter.toml"), read_lock(root)
    good = (root / "charter.approvals").read_text()
    assert kept is not None
    for value in (made.lock_sha256, made.signature):
        for at, char in enumerate(value):
            changed = value[:at] + ("0" if char != "0" else "1") + value[at + 1 :]
            (root / "charter.approvals").write_text(good.replace(value, changed))
            assert len(seal.check(root, config, kept)) == 2


@pytest.mark.parametrize("other", ["name", "version", "lock", "key", "contract"])
def test_a_true_signature_of_something_else_is_not_an_approval(root: Path, other: str) -> None:
    govern(root, line("alice"))
    made = seal.approve(str(root), key_name="alice")
    signer = "mallory" if other == "key" else "alice"
    said = seal.statement(
        "other" if other == "name" else "contract",
        "2.0.1" if other == "version" else "2.0.0",
        lock_sha256="0" * 64 if other == "lock" else made.lock_sha256,
    )
    said = said.replace(b"approval-1", b"approval-2") if other == "contract" else said
    rewrite(root, made.signature, keys.sign(signer, said))
    assert problems(root)[1:] == ("the approval by alice: not a signature of this lock by their key",)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda text: text + 'note = "x"\n', r"charter\.approvals:\d+: unknown key 'note'"),
        (lambda text: "note = 1\n" + text, r"charter\.approvals:1: unknown key 'note'"),
        (lambda text: text.replace("by = ", "# by = "), "missing required field `by`"),
        (lambda text: text.replace('by = "alice"', 'by = "a\\u001bb"'), r"charter\.approvals:\d+: .*regex"),
        (lambda text: text.replace('"2.0.0"', "1"), r"charter\.approvals:\d+: Expected `str`, got `int`"),
        (lambda text: re.sub("[0-9a-f]{64}", "x" * 64, text), r"charter\.approvals:\d+: .*regex"),
        (lambda text: text + text, "two approvals by one person"),
        (lambda text: text[:-3], "not TOML"),
    ],
)
def test_approvals_that_are_not_what_approve_writes_are_an_error(
    root: Path, damage: Callable[[str], str], said: str
) -> None:
    govern(root, line("alice"))
    seal.approve(str(root), key_name="alice")
    path = root / "charter.approvals"
    path.write_text(damage(path.read_text()))
    with pytest.raises(ConfigError, match=said):
        verify(str(root))
    with pytest.raises(ConfigError, match=said):
        seal.approve(str(root), key_name="alice")


def test_approvals_of_any_size_or_behind_a_link_are_not_read(root: Path, tmp_path: Path) -> None:
    govern(root, line("alice"))
    (root / "charter.approvals").write_text("#" * (seal.MAX_BYTES + 1))
    with pytest.raises(FileRefused, match="the limit is 262,144"):
        verify(str(root))
    (root / "charter.approvals").unlink()
    (tmp_path / "elsewhere").write_text("")
    (root / "charter.approvals").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileRefused, match="a link that leads outside its root"):
        verify(str(root))
