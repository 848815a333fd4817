"""charter key: people's keys, made and shown; a private key is never printed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..keys import PublicKey

app = typer.Typer(help="Keys that people sign approvals with.", no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(help="The key's name: 1 to 64 of A-Z a-z 0-9 . _ @ -")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def _row(key: PublicKey) -> dict[str, str]:
    return {"name": key.name, "public": key.line, "approver": f"{key.name} {key.line}"}


@app.command("new")
def new_key(name: Name, as_json: Json = False) -> None:
    """Make a key pair; the private half stays in a file only you can read."""
    from ..keys import key_file, new_key

    key = new_key(name)
    if as_json:
        typer.echo(json.dumps({**_row(key), "private_file": str(key_file(name))}, indent=2))
        return
    typer.echo(f"made the key {name}; its private half is in {key_file(name)}, keep it as you keep a password\n")
    typer.echo(
        "To be an approver, put this line into charter.toml above its first [table], or add to the list there:\n"
    )
    typer.echo(f'approvers = ["{name} {key.line}"]\n')
    typer.echo(f"then bump its version, and\n  charter lock DIR\n  charter approve DIR --key {name}")


@app.command("list")
def list_keys(as_json: Json = False) -> None:
    """List your keys, each as charter.toml's approvers take it."""
    from ..keys import list_keys

    rows = [_row(key) for key in list_keys()]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    for row in rows:
        typer.echo(row["approver"])
    if not rows:
        typer.echo("no keys yet; make one with: charter key new NAME")


@app.command("show")
def show_key(name: Name, as_json: Json = False) -> None:
    """Show the public half of a key, as charter.toml's approvers take it."""
    from ..keys import public_key

    row = _row(public_key(name))
    typer.echo(json.dumps(row, indent=2) if as_json else row["approver"])


@app.command("rotate")
def rotate(as_json: Json = False) -> None:
    """Make a new secret for this installation's hashes and seals; the old ones stay, to prove what they made."""
    from ..app import keys_file, rotate_keys

    ring = rotate_keys()
    if as_json:
        typer.echo(json.dumps({"current": ring.current[0], "keys": len(ring.keys)}))
    else:
        typer.echo(f"new hashes and seals use {ring.current[0]}; {len(ring.keys)} keys, keep a copy of {keys_file()}")
