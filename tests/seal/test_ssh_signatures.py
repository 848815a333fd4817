"""SSH signatures verify without ssh-keygen, byte for byte, for us alone; signing goes through it and asks nobody."""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from charter import keys
from charter.core.errors import KeyRefused

pytestmark = pytest.mark.requirement("S1-09")

# Made once with `ssh-keygen -Y sign -n charter` (OpenSSH 9.2) by a throwaway key that is gone.
PUBLIC = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPDheg1MQ/Mb3JRV+JpUJQj+rSFFCdd7Gf7QkuqSEdJz throwaway"
MESSAGE = (
    b'{"charter":"golden","contract":"charter-approval-1",'
    b'"lock_sha256":"abababababababababababababababababababababababababababababababab","version":"1.2.3"}'
)
SHA512 = """-----BEGIN SSH SIGNATURE-----
U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAg8OF6DUxD8xvclFX4mlQlCP6tIU
UJ13sZ/tCS6pIR0nMAAAAHY2hhcnRlcgAAAAAAAAAGc2hhNTEyAAAAUwAAAAtzc2gtZWQy
NTUxOQAAAEBfOLEC2h5l7VbX65vfk7A1WpAR/iEFG9T+urGo26/6VMySrdG6ee9tkpfarV
W37EZfmVImF00j6uXMGdpyo9QC
-----END SSH SIGNATURE-----
"""
SHA256 = """-----BEGIN SSH SIGNATURE-----
U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAg8OF6DUxD8xvclFX4mlQlCP6tIU
UJ13sZ/tCS6pIR0nMAAAAHY2hhcnRlcgAAAAAAAAAGc2hhMjU2AAAAUwAAAAtzc2gtZWQy
NTUxOQAAAEBHZj5i5FZiaWPuiTOa0AS5rlRXooZR8BL0VibxdyWQG/q0GRE3cTaqU1Dz0R
9F3+bDBfz519HWNT3pJzUOLIYO
-----END SSH SIGNATURE-----
"""
BLOB = base64.b64decode("".join(SHA512.splitlines()[1:-1]))
ALICE = Ed25519PrivateKey.generate()


def armour(blob: bytes) -> str:
    return f"-----BEGIN SSH SIGNATURE-----\n{base64.b64encode(blob).decode()}\n-----END SSH SIGNATURE-----"


def joined(*parts: bytes) -> bytes:
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def signed_by_alice(
    message: bytes,
    *,
    namespace: bytes = b"charter",
    algorithm: str = "sha512",
    reserved: bytes = b"",
    start: bytes = b"SSHSIG\0\0\0\1",
    kinds: tuple[bytes, bytes] = (b"ssh-ed25519", b"ssh-ed25519"),
    end: bytes = b"",
) -> str:
    """A signature that is true to what it says of itself, whatever that is."""
    digest = hashlib.new(algorithm, message).digest()
    covered = b"SSHSIG" + joined(namespace, reserved, algorithm.encode(), digest)
    public = joined(kinds[0], ALICE.public_key().public_bytes_raw())
    signature = joined(kinds[1], ALICE.sign(covered))
    return armour(start + joined(public, namespace, reserved, algorithm.encode(), signature) + end)


def alice() -> str:
    return keys.PublicKey("alice", "ssh-ed25519", ALICE.public_key().public_bytes_raw()).line


# ── verifying, without the program ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("signature", [SHA512, SHA256, SHA512.strip()])
def test_a_signature_made_by_openssh_verifies_without_openssh(signature: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert keys.verify(PUBLIC, MESSAGE, signature)
    assert not keys.verify(PUBLIC, MESSAGE + b" ", signature)
    assert not keys.verify(alice(), MESSAGE, signature)


def test_a_signature_put_together_here_verifies_when_nothing_is_wrong_with_it() -> None:
    assert keys.verify(alice(), b"message", signed_by_alice(b"message"))
    assert keys.verify(alice(), b"message", signed_by_alice(b"message", algorithm="sha256"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"namespace": b"file"},
        {"namespace": b""},
        {"namespace": b"charter2"},
        {"namespace": b"\xff"},
        {"algorithm": "sha1"},
        {"algorithm": "sha384"},
        {"algorithm": "md5"},
        {"reserved": b"x"},
        {"start": b"SSHSIG\0\0\0\2"},
        {"start": b"SSHSIG\0\0\0\0"},
        {"start": b"sshsig\0\0\0\1"},
        {"start": b""},
        {"kinds": (b"ssh-rsa", b"ssh-ed25519")},
        {"kinds": (b"ssh-ed25519", b"rsa-sha2-512")},
        {"end": b"\0"},
        {"end": b"\0\0\0\0"},
    ],
    ids=str,
)
def test_a_true_signature_for_something_else_or_of_another_form_does_not_verify(wrong: dict[str, bytes]) -> None:
    assert not keys.verify(alice(), b"message", signed_by_alice(b"message", **wrong))  # type: ignore[arg-type]


def test_a_bare_signature_by_an_ssh_key_does_not_verify_in_either_form() -> None:
    raw = ALICE.public_key().public_bytes_raw()
    bare = "ed25519:" + base64.b64encode(ALICE.sign(b"message")).decode()
    assert keys.verify("ed25519:" + base64.b64encode(raw).decode(), b"message", bare)
    assert not keys.verify(alice(), b"message", bare)
    assert not keys.verify("ed25519:" + base64.b64encode(raw).decode(), b"message", signed_by_alice(b"message"))


def test_no_changed_or_missing_byte_of_the_blob_verifies() -> None:
    for at in range(len(BLOB)):
        changed = BLOB[:at] + bytes([BLOB[at] ^ 1]) + BLOB[at + 1 :]
        assert not keys.verify(PUBLIC, MESSAGE, armour(changed)), at
        assert not keys.verify(PUBLIC, MESSAGE, armour(BLOB[:at])), at
    assert keys.verify(PUBLIC, MESSAGE, armour(BLOB))


def test_no_changed_character_of_the_armour_verifies() -> None:
    for at in range(len(SHA512) - 1):
        for char in "Bb+= \r":
            changed = SHA512[:at] + char + SHA512[at + 1 :]
            assert keys.verify(PUBLIC, MESSAGE, changed) == (changed == SHA512), at


@settings(deadline=None)
@given(st.binary())
def test_no_bytes_make_verify_raise_or_agree(data: bytes) -> None:
    assert keys.verify(PUBLIC, MESSAGE, armour(data)) is False
    assert keys.verify(PUBLIC, MESSAGE, armour(b"SSHSIG\0\0\0\1" + data)) is False


@settings(deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=6), st.lists(st.binary(max_size=40), max_size=3))
def test_no_parts_in_the_right_form_make_verify_raise_or_agree(parts: list[bytes], inner: list[bytes]) -> None:
    made = armour(b"SSHSIG\0\0\0\1" + joined(joined(*inner), *parts))
    assert keys.verify(PUBLIC, MESSAGE, made) is False
    assert keys.verify("ssh-ed25519 " + base64.b64encode(joined(*parts)).decode(), MESSAGE, SHA512) is False


def test_bytes_in_the_place_that_openssh_does_not_sign_are_refused() -> None:
    filled = BLOB.replace(b"charter\0\0\0\0", b"charter\0\0\0\1x")
    assert len(filled) == len(BLOB) + 1
    assert not keys.verify(PUBLIC, MESSAGE, armour(filled))


def test_a_huge_signature_is_not_even_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[str] = []
    monkeypatch.setattr("charter.sshsig.unbase64", decoded.append)
    assert not keys.verify(PUBLIC, MESSAGE, armour(b"SSHSIG\0\0\0\1" + bytes(4_000_000)))
    assert decoded == []


# ── signing, through the program ──────────────────────────────────────────────────────────────────────────────────


def make_key(path: Path, *, kind: str = "ed25519", passphrase: str = "") -> Path:
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-C", "test", "-f", path], check=True)
    return path


def test_ssh_keygen_signs_for_us_and_no_other_use_of_the_key_counts(tmp_path: Path) -> None:
    key = make_key(tmp_path / "id")
    public = (tmp_path / "id.pub").read_text()
    assert keys.verify(public, b"message", keys.sign_ssh(key, b"message"))
    assert not keys.verify(public, b"another", keys.sign_ssh(key, b"message"))
    assert not keys.verify(public, b"message", keys.sign_ssh(key, b"message", "file"))


def test_a_key_that_only_an_agent_holds_signs_by_its_public_file(tmp_path: Path) -> None:
    key = make_key(tmp_path / "id")
    script = (
        "import subprocess, sys, pathlib; from charter import keys; key = pathlib.Path(sys.argv[1]);"
        "subprocess.run(['ssh-add', '-q', key], check=True); key.unlink();"
        "sys.stdout.write(keys.sign_ssh(f'{key}.pub', b'message'))"
    )
    inside_an_agent = ["ssh-agent", sys.executable, "-c", script, str(key)]  # the agent ends with the command
    done = subprocess.run(inside_an_agent, capture_output=True, text=True, check=True)
    assert keys.verify((tmp_path / "id.pub").read_text(), b"message", done.stdout)


def refusal(path: Path) -> str:
    with pytest.raises(KeyRefused) as caught:
        keys.sign_ssh(path, b"message")
    return str(caught.value)


def test_a_locked_key_is_refused_at_once_and_nobody_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    asked = tmp_path / "asked"
    (tmp_path / "askpass").write_text(f"#!/bin/sh\ntouch {asked}\necho secret\n")
    (tmp_path / "askpass").chmod(0o700)
    monkeypatch.setenv("SSH_ASKPASS", str(tmp_path / "askpass"))
    monkeypatch.setenv("DISPLAY", ":0")
    assert refusal(make_key(tmp_path / "id", passphrase="secret")) == (
        "id: a passphrase locks it; run 'ssh-add' with this file, then again: the agent signs without asking"
    )
    assert not asked.exists()


def test_a_key_that_cannot_sign_is_refused_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    give = "give the file of an SSH key, or its .pub file when an agent holds the key"
    assert refusal(tmp_path / "none") == f"none: no such file; {give}"
    (tmp_path / "junk").write_text("junk")
    assert refusal(tmp_path / "junk") == f"junk: not an SSH key; {give}"
    make_key(tmp_path / "id")
    (tmp_path / "id").chmod(0o644)
    assert refusal(tmp_path / "id") == "id: others may read this private key; run 'chmod 600' on it"
    (tmp_path / "id").unlink()
    assert refusal(tmp_path / "id.pub").startswith("id.pub: its private key is not here and no agent holds it")
    make_key(tmp_path / "curve", kind="ecdsa")
    assert refusal(tmp_path / "curve") == "curve: only ssh-ed25519 keys are taken, this is ecdsa-sha2-nistp256"


@pytest.fixture
def key(tmp_path: Path) -> Path:
    (tmp_path / "id").write_text("not read by these programs")
    return tmp_path / "id"


def program(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Puts an ssh-keygen of our own first in the path."""
    (folder / "ssh-keygen").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "ssh-keygen").chmod(0o700)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)


def test_without_ssh_keygen_the_error_says_what_to_install(key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert refusal(key) == "ssh-keygen cannot be run; install OpenSSH's client, or sign with a key of ours"


def test_an_agent_that_never_answers_is_given_up(key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, object] = {}

    def silent(command: list[str], **options: object) -> None:
        given.update(options)
        raise subprocess.TimeoutExpired(command, keys.PATIENCE)

    monkeypatch.setattr(subprocess, "run", silent)
    assert refusal(key) == "id: no signature after 120 seconds; is the agent waiting for you?"
    assert (given["input"], given["timeout"], given["start_new_session"]) == (b"message", keys.PATIENCE, True)


KEYLESS = armour(
    b"SSHSIG\0\0\0\1"
    + joined(joined(b"ssh-ed25519"), b"charter", b"", b"sha512", joined(b"ssh-ed25519", b"no signature"))
)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo secret-detail >&2; exit 9", "id: ssh-keygen could not sign with it"),
        ("echo hello", "id: ssh-keygen gave something that is not a signature"),
        ("true", "id: ssh-keygen gave something that is not a signature"),
        (f"cat <<E\n{SHA512}E", "id: ssh-keygen gave a signature of something else"),
        (f"cat <<E\n{KEYLESS}\nE", "id: ssh-keygen gave a signature of something else"),
    ],
)
def test_what_a_strange_program_gives_is_not_taken_for_a_signature(
    key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, said: str
) -> None:
    program(tmp_path, monkeypatch, f"cat >/dev/null\n{script}")
    assert refusal(key) == said
