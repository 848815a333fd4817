"""A private key signs and stays in its file; only the key's own signature of exactly this message verifies."""

from __future__ import annotations

import base64
import stat
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization as form
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from hypothesis import given, settings
from hypothesis import strategies as st

from charter import keys
from charter.core.errors import BadValue, FileRefused, KeyRefused, MissingExtra
from charter.home import write_private

pytestmark = pytest.mark.requirement("S1-09")

PEM, PKCS8 = form.Encoding.PEM, form.PrivateFormat.PKCS8
RFC_8032 = "ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="  # the RFC's first test key and its signature of ""
RFC_8032_SIGNATURE = "ed25519:5VZDAMNgrHKQhuLMgG6CioSHfx645dl02HPgZSJJAVVfuIIVkKM7rMYeOXAc+bRr0lv18FlbviRlUUFDjnoQCw=="


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHARTER_HOME", str(tmp_path / "house"))
    return tmp_path / "house"


# ── making and finding ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_new_key_is_a_private_file_and_one_public_line(house: Path) -> None:
    made = keys.new_key("alice")
    path = house / "keys/alice.key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in (house, house / "keys")] == [0o700, 0o700]
    private = form.load_pem_private_key(path.read_bytes(), password=None)
    assert isinstance(private, ed25519.Ed25519PrivateKey)
    assert made.line == "ed25519:" + base64.b64encode(private.public_key().public_bytes_raw()).decode()
    assert keys.read_public(made.line, "alice") == made == keys.public_key("alice")


def test_keys_are_listed_by_name_and_nothing_else_in_the_folder_is(house: Path) -> None:
    assert keys.list_keys() == []
    made = [keys.new_key(name) for name in ("bob", "a.key", "alice@example.org")]
    for stray in (".hidden.key", "notes.txt", "not a name.key"):
        (house / "keys" / stray).write_text("x")
    assert keys.list_keys() == sorted(made, key=lambda key: key.name)


def test_a_name_that_is_taken_is_refused_and_the_key_stays(house: Path) -> None:
    keys.new_key("alice")
    before = (house / "keys/alice.key").read_bytes()
    with pytest.raises(KeyRefused, match="a key named 'alice' is there already; choose another name"):
        keys.new_key("alice")
    assert [path.name for path in (house / "keys").iterdir()] == ["alice.key"]
    assert (house / "keys/alice.key").read_bytes() == before


@pytest.mark.parametrize("name", ["a", "A.b_c@d-e", "x" * 64])
def test_a_plain_name_is_taken(house: Path, name: str) -> None:
    assert keys.new_key(name).name == name


@pytest.mark.parametrize("name", ["", ".a", "..", "a/b", "../a", "a b", "a\n", "ä", "a\0", "x" * 65])
def test_a_name_that_could_be_a_path_or_misread_is_refused(house: Path, name: str) -> None:
    for use in (keys.new_key, keys.public_key, lambda name: keys.sign(name, b"")):
        with pytest.raises(BadValue, match="key name: takes 1 to 64 of"):
            use(name)
    assert not house.exists()


def test_a_key_that_is_not_there_is_refused_with_the_next_step(house: Path) -> None:
    with pytest.raises(
        KeyRefused, match="no key named 'alice'; see 'charter key list', or run 'charter key new alice'"
    ):
        keys.sign("alice", b"")


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_key_file_that_others_may_read_is_refused(house: Path, mode: int) -> None:
    keys.new_key("alice")
    (house / "keys/alice.key").chmod(mode)
    for use in (keys.list_keys, lambda: keys.public_key("alice"), lambda: keys.sign("alice", b"")):
        with pytest.raises(FileRefused, match=r"others may read this secret; run: chmod 600 .*alice\.key"):
            use()


def other_private_keys() -> dict[str, bytes]:
    ours, curve = ed25519.Ed25519PrivateKey.generate(), ec.generate_private_key(ec.SECP256R1())
    return {
        "junk": b"junk",
        "another kind": curve.private_bytes(PEM, PKCS8, form.NoEncryption()),
        "a passphrase": ours.private_bytes(PEM, PKCS8, form.BestAvailableEncryption(b"secret")),
        "a public key": ours.public_key().public_bytes(PEM, form.PublicFormat.SubjectPublicKeyInfo),
    }


@pytest.mark.parametrize("what", other_private_keys())
def test_a_file_that_is_not_one_of_our_keys_is_refused_without_its_content(house: Path, what: str) -> None:
    content = other_private_keys()[what]
    write_private(house / "keys/alice.key", content)
    with pytest.raises(KeyRefused, match=r"alice\.key is not one of our keys") as caught:
        keys.sign("alice", b"")
    assert not any(line in str(caught.value) for line in content.decode().splitlines())


def test_a_home_that_cannot_be_written_is_an_error_with_its_place(house: Path) -> None:
    house.write_text("a file where the folder should be")
    with pytest.raises(
        KeyRefused,
        match=r"cannot write .*alice\.key: (File exists|Not a directory); check that folder, or set ",
    ):
        keys.new_key("alice")


def test_a_key_that_cannot_be_read_is_an_error_with_its_place(house: Path) -> None:
    (house / "keys/alice.key").mkdir(parents=True)
    with pytest.raises(KeyRefused, match=r"cannot read .*alice\.key: Is a directory"):
        keys.public_key("alice")


# ── public forms ──────────────────────────────────────────────────────────────────────────────────────────────────

SSH = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPDheg1MQ/Mb3JRV+JpUJQj+rSFFCdd7Gf7QkuqSEdJz"


@pytest.mark.parametrize("written", [SSH, f"{SSH} alice@laptop", f"  {SSH}  a comment of words\n"])
def test_an_ssh_key_is_taken_as_its_file_has_it_and_written_one_way(written: str) -> None:
    assert keys.read_public(written).line == SSH


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQ", "ssh-rsa"),
        ("ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTI", "ecdsa-sha2-nistp256"),
        ("sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5", "sk-ssh-ed25519@openssh.com"),
        ("-----BEGIN secret", "something else"),
        ("0123456789abcdef0123456789abcdef", "something else"),
        ("ed25519", "something else"),
        (RFC_8032.replace(":", " "), "something else"),
    ],
)
def test_a_key_of_another_kind_is_refused_by_its_name_and_nothing_of_it_is_repeated(written: str, kind: str) -> None:
    with pytest.raises(KeyRefused) as caught:
        keys.read_public(written)
    assert str(caught.value) == f"only ed25519 and ssh-ed25519 keys are taken, this is {kind}"


@pytest.mark.parametrize("written", ["", " ", f"{SSH}\n{SSH}", f"{RFC_8032}\u2028more", "x" * 20_000])
def test_what_is_not_one_line_is_no_key(written: str) -> None:
    with pytest.raises(KeyRefused, match="a public key is one line"):
        keys.read_public(written)


@pytest.mark.parametrize(
    "written",
    [
        "ed25519:",
        RFC_8032[:-1],
        RFC_8032[:-4],
        RFC_8032 + "A",
        RFC_8032 + " comment",
        RFC_8032.replace("o=", "p="),  # other spelling of the same bytes
        "ed25519:" + SSH.split()[1],
        "ssh-ed25519",
        SSH[:-4],
        SSH + "AAAA",
        "ssh-ed25519 " + RFC_8032.split(":")[1],
        "ssh-ed25519 " + base64.b64encode(b"\0\0\0\x07ssh-rsa\0\0\0\x20" + bytes(range(32))).decode(),
    ],
)
def test_a_damaged_key_is_refused(written: str) -> None:
    with pytest.raises(KeyRefused, match="public key: it is damaged"):
        keys.read_public(written)


PRIME = 2**255 - 19
ORDER_8 = 2707385501144840649318225287225658788936804267575313519463743609750303402022
WEAK = [0, 1, PRIME - 1, ORDER_8, PRIME - ORDER_8, PRIME, PRIME + 1, 2**255 - 1]


def public_line(y: int, sign: int) -> str:
    return "ed25519:" + base64.b64encode((y + (sign << 255)).to_bytes(32, "little")).decode()


@pytest.mark.parametrize("sign", [0, 1])
@pytest.mark.parametrize("y", WEAK)
def test_a_weak_key_that_anybody_can_sign_for_is_refused(y: int, sign: int) -> None:
    with pytest.raises(KeyRefused, match="a weak one that anybody can sign for"):
        keys.read_public(public_line(y, sign))


def test_the_signature_anybody_can_make_for_the_neutral_point_does_not_verify() -> None:
    neutral = (1).to_bytes(32, "little")
    forged = neutral + bytes(32)
    ed25519.Ed25519PublicKey.from_public_bytes(neutral).verify(forged, b"anything")  # the library alone would take it
    assert not keys.verify(public_line(1, 0), b"anything", "ed25519:" + base64.b64encode(forged).decode())


# ── signing and verifying ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_signature_verifies_with_its_key_and_message_and_with_no_other(house: Path) -> None:
    alice, bob = keys.new_key("alice"), keys.new_key("bob")
    signature = keys.sign("alice", b"message")
    assert keys.verify(alice.line, b"message", signature)
    assert not keys.verify(bob.line, b"message", signature)
    assert not keys.verify(alice.line, b"Message", signature)
    assert not keys.verify(alice.line, b"", signature)


def test_a_published_test_vector_verifies() -> None:
    assert keys.verify(RFC_8032, b"", RFC_8032_SIGNATURE)
    assert not keys.verify(RFC_8032, b"x", RFC_8032_SIGNATURE)


@pytest.mark.parametrize("at", range(len(RFC_8032_SIGNATURE)))
def test_no_changed_character_of_a_signature_verifies(at: int) -> None:
    for char in "AQgw059+/=: \n":
        changed = RFC_8032_SIGNATURE[:at] + char + RFC_8032_SIGNATURE[at + 1 :]
        assert keys.verify(RFC_8032, b"", changed) == (changed == RFC_8032_SIGNATURE)
    assert not keys.verify(RFC_8032, b"", RFC_8032_SIGNATURE[:at])


@settings(deadline=None)
@given(st.one_of(st.text(), st.just(RFC_8032), st.just(SSH)), st.binary(), st.text())
def test_no_text_makes_verify_raise_or_agree(public: str, message: bytes, signature: str) -> None:
    assert keys.verify(public, message, signature) is False


@settings(deadline=None)
@given(st.binary(max_size=80))
def test_no_bytes_in_the_right_form_make_verify_raise_or_agree(data: bytes) -> None:
    written = "ed25519:" + base64.b64encode(data).decode()
    assert keys.verify(RFC_8032, b"message", written) is False
    assert keys.verify(written, b"message", RFC_8032_SIGNATURE) is False


def test_without_the_extra_signing_and_verifying_say_what_to_install(
    house: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys.new_key("alice")
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric.ed25519", None)
    uses = (
        lambda: keys.new_key("bob"),
        lambda: keys.sign("alice", b""),
        lambda: keys.verify(RFC_8032, b"", RFC_8032_SIGNATURE),
    )
    for use in uses:
        with pytest.raises(MissingExtra, match=r"pip install 'charter\[sign\]'"):
            use()
