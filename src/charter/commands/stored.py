"""Commands over what is stored: conversations, memory, the database itself, and a person's data."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .common import Agent, Database, Json, User, at, opened, print_json

if TYPE_CHECKING:
    from ..stores.audit import Audit

app = typer.Typer(add_completion=False)
memory_app = typer.Typer(help="Notes: what is remembered, of whom, and from where.", no_args_is_help=True)
database_app = typer.Typer(help="The database: its revision, its health, what is old.", no_args_is_help=True)
CharterName = Annotated[str, typer.Option("--charter", help="The charter whose agent is meant.")]
DAY_NS = 24 * 3600 * 10**9


def _agent(agent: str, charter: str) -> str:
    from ..folder import load

    return load(charter).agent(agent)


@app.command()
def conversations(
    sender: Annotated[str, typer.Argument(help="Whose conversation to read; a list of all when left out.")] = "",
    charter: CharterName = "sovereign",
    agent: Agent = "",
    database: Database = "",
    as_json: Json = False,
) -> None:
    """List who the agent talks with, newest first, or read what was said with one."""
    name = _agent(agent, charter)
    with opened(database) as store:
        if not sender:
            rows = store.conversations(name)
            if as_json:
                print_json([asdict(row) for row in rows])
                return
            for row in rows:
                typer.echo(f"{row.sender:<44} {row.count:>3} exchanges  last {at(row.last_activity_ns)}")
            if not rows:
                typer.echo("no conversations yet")
            return
        found = store.conversation(name, sender)
    entries = found.entries if found else ()
    if as_json:
        print_json([asdict(entry) for entry in entries])
        return
    for entry in entries:
        typer.echo(f"{at(entry.timestamp_ns)}  turn {entry.turn_id}")
        typer.echo(f"  {json.dumps(entry.sender_body, ensure_ascii=False)}")
        typer.echo(f"  you: {json.dumps(entry.agent_reply, ensure_ascii=False)}")
    if not entries:
        typer.echo("nothing was said with this sender yet")


# ── memory ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _notes(notes: Any, as_json: bool) -> None:
    if as_json:
        rows = [{**asdict(note), "provenance": {**asdict(note.provenance), "trust": note.provenance.trust.name.lower()}}
                for note in notes]  # fmt: skip
        print_json(rows)
        return
    for note in notes:
        origin = note.provenance
        said = " · ".join(part for part in (origin.said_by, origin.channel, origin.source_class, origin.source) if part)
        typer.echo(f"{note.id:>6}  {note.day}  {json.dumps(note.text, ensure_ascii=False)}")
        typer.echo(f"        {said} · {origin.trust.name.lower()}")
    if not notes:
        typer.echo("no notes")


@memory_app.command("list")
def list_notes(
    user: User = "",
    limit: Annotated[int, typer.Option("--limit", help="How many, the newest first.")] = 20,
    charter: CharterName = "assistant",
    agent: Agent = "",
    database: Database = "",
    as_json: Json = False,
) -> None:
    """List the newest notes of a user with an agent; without --user, the agent's own."""
    with opened(database) as store:
        notes = store.recent(_agent(agent, charter), user, limit)
    _notes(notes, as_json)


@memory_app.command("add")
def add_note(
    text: Annotated[str, typer.Argument(help="What to remember.")],
    user: User = "",
    source: Annotated[str, typer.Option("--source", help="Where it comes from; it can be revoked by this.")] = "",
    charter: CharterName = "assistant",
    agent: Agent = "",
    database: Database = "",
    as_json: Json = False,
) -> None:
    """Remember something about a user, as their operator."""
    from ..app import now_ns, operator
    from ..core.records import Provenance
    from ..core.text import Trust

    by = operator()
    origin = Provenance(by.mark, "cli_local", "operator", source or by.mark, Trust.OPERATOR)
    with opened(database) as store:
        day = at(now_ns())[:10]
        note = store.remember(_agent(agent, charter), user, text, day=day, at_ns=now_ns(), provenance=origin)
    _notes([note], as_json)


@memory_app.command()
def recall(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    user: User = "",
    limit: Annotated[int, typer.Option("--limit", help="At most this many.")] = 5,
    charter: CharterName = "assistant",
    agent: Agent = "",
    database: Database = "",
    as_json: Json = False,
) -> None:
    """Show what an agent would recall for a message of this user."""
    with opened(database) as store:
        notes = store.recall(_agent(agent, charter), user, query, limit)
    _notes(notes, as_json)


@memory_app.command()
def sources(
    charter: CharterName = "assistant", agent: Agent = "", database: Database = "", as_json: Json = False
) -> None:
    """List where an agent's notes come from."""
    with opened(database) as store:
        rows = store.sources(_agent(agent, charter))
    if as_json:
        print_json([{"source": source, "notes": count} for source, count in rows])
        return
    for source, count in rows:
        typer.echo(f"{count:>6}  {source}")
    if not rows:
        typer.echo("no sources")


@memory_app.command()
def revoke(
    source: Annotated[str, typer.Argument(help="The source, as `charter memory sources` names it.")],
    charter: CharterName = "assistant",
    agent: Agent = "",
    database: Database = "",
    as_json: Json = False,
) -> None:
    """Take back everything a source said, and what was made from it."""
    from ..app import now_ns, operator

    with opened(database) as store:
        count = store.revoke(_agent(agent, charter), source, by=operator(), at_ns=now_ns())
    print_json({"revoked": count}) if as_json else typer.echo(f"{count} notes taken back")


# ── the database ──────────────────────────────────────────────────────────────────────────────────────────────────


@database_app.command("upgrade")
def upgrade_database(database: Database = "", as_json: Json = False) -> None:
    """Bring the database up to this Charter; nothing happens when it is."""
    from ..app import database as address
    from ..stores.migrate import upgrade
    from ..stores.revisions import HEAD

    done = upgrade(address(database))
    if as_json:
        print_json({"applied": done, "revision": HEAD})
    else:
        typer.echo(f"at revision {HEAD}" + (f"; applied {', '.join(done)}" if done else "; nothing to do"))


@database_app.command("downgrade")
def downgrade_database(
    to: Annotated[str, typer.Argument(help="The revision to go back to.")],
    database: Database = "",
    as_json: Json = False,
) -> None:
    """Take the database back to an older revision; back it up first."""
    from ..app import database as address
    from ..stores.migrate import downgrade

    done = downgrade(address(database), to)
    print_json({"undone": done, "revision": to}) if as_json else typer.echo(f"at revision {to}")


@database_app.command("status")
def database_status(database: Database = "", as_json: Json = False) -> None:
    """Say where the database is, its revision, and whether this Charter fits it."""
    from ..app import database as address
    from ..stores.migrate import current
    from ..stores.revisions import HEAD

    url = address(database)
    found = current(url)
    shown = url if url.startswith("sqlite") else "postgresql"
    if as_json:
        print_json({"database": shown, "revision": found, "head": HEAD})
    elif found is None:
        typer.echo(f"{shown}: no tables yet; they are made on first use, or by: charter db upgrade")
    else:
        typer.echo(f"{shown}: revision {found}" + ("" if found == HEAD else f", this Charter needs {HEAD}"))


@database_app.command("verify")
def verify_database(
    anchor: Annotated[
        Path | None, typer.Option("--anchor", help="A file with the output of an earlier --json, kept elsewhere.")
    ] = None,
    database: Database = "",
    as_json: Json = False,
) -> None:
    """Verify every chain, version, label, proposal, note and turn. Exit code 1 when something was tampered with."""
    from ..core.errors import ConfigError
    from ..stores.audit import audit

    heads = None
    if anchor is not None:
        try:
            heads = dict(json.loads(anchor.read_text())["heads"])
        except (OSError, ValueError, KeyError, TypeError):
            raise ConfigError(anchor.name, "not the output of: charter db verify --json") from None
    with opened(database) as store:
        found = audit(store.db, heads=heads)
    print_json(asdict(found)) if as_json else print_audit(found)
    raise typer.Exit(int(bool(found.problems)))


def audited(database: str, *, always: bool) -> Audit | None:
    """The audit of this store; None when nobody named one and this installation has none yet."""
    from ..app import database as address
    from ..app import embedded
    from ..stores import sqlite_path
    from ..stores.audit import audit

    url = address(database)
    path = sqlite_path(url) if url.startswith("sqlite") else None
    if not always and url == embedded() and path is not None and not path.exists():
        return None
    with opened(database) as store:
        return audit(store.db)


def print_audit(found: Audit) -> None:
    """What an audit found, for people."""
    said = "FAILED" if found.problems else "ok    "
    typer.echo(
        f"{said} store: {found.chains} chains, {found.entries} entries, {found.versions} versions, "
        f"{found.turns} turns, {found.notes} notes"
    )
    for line in (*found.problems, *(f"note: {notice}" for notice in found.notices)):
        typer.echo(f"       {line}")


@database_app.command("prune")
def prune_database(
    inbox: Annotated[int, typer.Option("--inbox-days", help="Answered messages older than this go.")] = 0,
    outbox: Annotated[int, typer.Option("--outbox-days", help="Sent replies older than this go.")] = 0,
    turns: Annotated[int, typer.Option("--turn-days", help="Turn records older than this go.")] = 0,
    database: Database = "",
    as_json: Json = False,
) -> None:
    """Delete what is older than its retention period; what is not named stays."""
    from ..app import now_ns
    from ..stores.prune import prune

    now = now_ns()
    before = {
        f"{name}_before_ns": now - days * DAY_NS
        for name, days in (("inbox", inbox), ("outbox", outbox), ("turns", turns))
        if days > 0
    }
    with opened(database) as store:
        gone = prune(store.db, at_ns=now, **before)
    _counts(gone, as_json, "nothing was old enough; name a period, such as --inbox-days 30")


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(help="The file to write.")],
    replace: Annotated[bool, typer.Option("--replace", help="Even if it is there.")] = False,
    database: Database = "",
    as_json: Json = False,
) -> None:
    """Write everything to a file, consistent while in use. The keys are apart: keep a copy of them too."""
    from ..app import keys_file, now_ns
    from ..stores.backup import backup

    with opened(database) as store:
        done = backup(store.db, file, at_ns=now_ns(), replace=replace)
    if as_json:
        print_json(asdict(done))
    else:
        typer.echo(f"{done.rows:,} rows of {done.tables} tables in {file}")
        typer.echo(f"the keys are not in it; keep a copy of {keys_file()} where the backup is not")


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="A file that `charter backup` wrote.")],
    database: Database = "",
    as_json: Json = False,
) -> None:
    """Read a backup into an empty database; it is checked whole before anything is kept."""
    from ..stores.backup import restore

    with opened(database) as store:
        done = restore(store.db, file)
    if as_json:
        print_json(asdict(done))
    else:
        typer.echo(f"{done.rows:,} rows of {done.tables} tables; next: charter db verify")


# ── a person's data (N-20) ────────────────────────────────────────────────────────────────────────────────────────

Person = Annotated[str, typer.Argument(help="The user or sender.")]


@app.command()
def export(person: Person, database: Database = "") -> None:
    """Print everything kept of one user or sender, as JSON."""
    from ..stores.people import export

    with opened(database) as store:
        print_json(export(store.db, person))


@app.command()
def forget(
    person: Person,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    database: Database = "",
    as_json: Json = False,
) -> None:
    """Erase one user or sender everywhere; the log keeps hashes and still verifies. There is no way back."""
    from ..app import now_ns, operator
    from ..stores.people import forget

    if not yes:
        typer.confirm("Erase everything of this person? There is no way back.", abort=True)
    with opened(database) as store:
        gone = forget(store.db, person, by=operator(), at_ns=now_ns())
    _counts(gone, as_json, "nothing was kept of this person")


def _counts(gone: dict[str, int], as_json: bool, nothing: str) -> None:
    if as_json:
        print_json(gone)
        return
    for table, count in gone.items():
        if count:
            typer.echo(f"{count:>8}  {table}")
    if not any(gone.values()):
        typer.echo(nothing)
