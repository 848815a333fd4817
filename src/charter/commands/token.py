"""`charter token`: who may come through the doors of a server; a secret is shown once and kept as a hash."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .common import Database, Json, at, opened, print_json

if TYPE_CHECKING:
    from ..core.served import Token

app = typer.Typer(help="Make, list and revoke the tokens of a server.", no_args_is_help=True)


@app.command()
def add(
    name: Annotated[str, typer.Option(help="Who bears it: an operator's, approver's, user's or sender's name.")],
    role: Annotated[str, typer.Option(help="operator, approver, user or sender.")] = "user",
    agent: Annotated[str, typer.Option(help="For this agent alone; every one when left out.")] = "",
    channel: Annotated[str, typer.Option(help="The channel its messages come by; web when left out.")] = "",
    days: Annotated[float, typer.Option(min=0, help="How long it opens the door; 0 is until it is revoked.")] = 0,
    database: Database = "",
    as_json: Json = False,
) -> None:
    """Make a token. Its secret is shown now and never again."""
    from ..app import operator
    from ..web.who import make_token

    with opened(database) as store:
        token, secret = make_token(
            store, role, name, agent=agent, channel=channel, by=operator().mark, days=days  # type: ignore[arg-type]
        )  # fmt: skip
    if as_json:
        print_json({**_told(token), "secret": secret})
        return
    typer.echo(f"{secret}\n\ntoken {token.id}: {token.role} {token.name}; the secret is shown this once")
    typer.echo(f"in a browser: the server's address, /enter# and the secret; revoke: charter token revoke {token.id}")


@app.command("list")
def list_tokens(database: Database = "", as_json: Json = False) -> None:
    """List the tokens; never their secrets."""
    with opened(database) as store:
        found = store.tokens()
    if as_json:
        print_json([_told(token) for token in found])
        return
    if not found:
        typer.echo("no tokens; charter serve makes the operator's, charter token add another")
    for token in found:
        state = "revoked" if token.revoked_at_ns else f"until {at(token.expires_at_ns)}" if token.expires_at_ns else ""
        typer.echo(f"{token.id}  {token.role:<8} {token.name:<20} {token.agent or 'every agent':<12} {state}".rstrip())


@app.command()
def revoke(
    token_id: Annotated[str, typer.Argument(help="The token's id.")], database: Database = "", as_json: Json = False
) -> None:
    """Revoke a token: from here on it opens nothing."""
    from ..app import now_ns, operator

    with opened(database) as store:
        token = store.revoke_token(token_id, by=operator(), at_ns=now_ns())
    print_json(_told(token)) if as_json else typer.echo(f"revoked: {token.id}, {token.role} {token.name}")


def _told(token: Token) -> dict[str, Any]:
    return {
        "id": token.id, "role": token.role, "name": token.name, "agent": token.agent, "channel": token.channel,
        "by": token.by, "at": at(token.at_ns), "expires": at(token.expires_at_ns) if token.expires_at_ns else None,
        "revoked": at(token.revoked_at_ns) if token.revoked_at_ns else None,
    }  # fmt: skip
