"""charter key: a newcomer is told what to do next, machines get JSON, and nobody sees a private key."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from typer.testing import CliRunner

from charter import keys
from charter.commands.keys import app
from charter.core.errors import KeyRefused

pytestmark = pytest.mark.requirement("S1-09")


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHARTER_HOME", str(tmp_path / "house"))
    return tmp_path / "house"


def test_a_newcomer_is_told_the_line_for_charter_toml_and_the_next_commands(house: Path) -> None:
    ran = CliRunner().invoke(app, ["new", "alice"])
    assert str(house / "keys/alice.key") in ran.stdout
    assert ran.stdout.splitlines()[-5:] == [
        f'approvers = ["alice {keys.public_key("alice").line}"]',
        "",
        "then bump its version, and",
        "  charter lock DIR",
        "  charter approve DIR --key alice",
    ]


def test_list_and_show_print_what_charter_toml_takes(house: Path) -> None:
    assert CliRunner().invoke(app, ["list"]).stdout == "no keys yet; make one with: charter key new NAME\n"
    assert CliRunner().invoke(app, ["list", "--json"]).stdout == "[]\n"
    alice, bob = keys.new_key("alice"), keys.new_key("bob")
    assert CliRunner().invoke(app, ["list"]).stdout == f"alice {alice.line}\nbob {bob.line}\n"
    assert CliRunner().invoke(app, ["show", "bob"]).stdout == f"bob {bob.line}\n"


def test_every_command_speaks_json(house: Path) -> None:
    made = json.loads(CliRunner().invoke(app, ["new", "alice", "--json"]).stdout)
    line = keys.public_key("alice").line
    row = {"name": "alice", "public": line, "approver": f"alice {line}"}
    assert made == {**row, "private_file": str(house / "keys/alice.key")}
    assert json.loads(CliRunner().invoke(app, ["list", "--json"]).stdout) == [row]
    assert json.loads(CliRunner().invoke(app, ["show", "alice", "--json"]).stdout) == row


def test_a_private_key_shows_in_no_output_repr_or_error(house: Path) -> None:
    said = [CliRunner().invoke(app, ["new", "alice"]).output, repr(keys.list_keys()), keys.sign("alice", b"")]
    said += [CliRunner().invoke(app, [*command]).output for command in (["list"], ["show", "alice", "--json"])]
    with pytest.raises(KeyRefused) as caught:
        keys.new_key("alice")
    said.append(str(caught.value))
    pem = (house / "keys/alice.key").read_text()
    private = load_pem_private_key(pem.encode(), password=None)
    assert isinstance(private, ed25519.Ed25519PrivateKey)
    seed = private.private_bytes_raw()
    secrets = [pem.splitlines()[1], base64.b64encode(seed).decode(), seed.hex(), repr(seed)]
    assert [secret for secret in secrets for text in said if secret in text] == []
