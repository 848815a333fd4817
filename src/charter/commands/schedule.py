"""charter schedule: turns that come again by the clock; who adds one says when, to whom, and what if it is late."""

from __future__ import annotations

import enum
import secrets
import signal
import sys
import threading
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ..core.errors import BadValue, NotStored, UnknownAgent
from .common import Database, Json, at, opened, print_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..core.served import Run, Schedule
    from ..stores.store import SqlStore

app = typer.Typer(
    add_completion=False, no_args_is_help=True, rich_markup_mode=None, help="Turns that come again by the clock."
)
MAX_BYTES: Final = 100_000
SHOWN: Final = 72
FAILED: Final = 1

AgentName = Annotated[str, typer.Argument(help="The agent, under the name it is served by.")]
ScheduleId = Annotated[str, typer.Argument(help="The schedule's id, or how it begins.")]
Model = Annotated[str, typer.Option("--model", help="The model; see: charter model.")]


class Way(enum.Enum):
    """How what is said leaves."""

    SCHEDULED = "scheduled"
    TELEGRAM = "telegram"
    WEB = "web"
    INBOX = "inbox"


OF_USERS: Final = (Way.TELEGRAM, Way.WEB)  # who is written to there is a user


class Late(enum.Enum):
    """Which ticks are made up after a time when nobody ran them."""

    SKIP = "skip"
    ONE = "one"
    ALL = "all"


# ── adding, listing, removing ─────────────────────────────────────────────────────────────────────────────────────


@app.command()
def add(
    agent: AgentName,
    cron: Annotated[str, typer.Argument(help="Minute hour day month weekday, and seconds if wanted.")],
    text: Annotated[str, typer.Option("--text", help="What the agent is told; - reads it from standard input.")],
    timezone: Annotated[str, typer.Option("--timezone", help="An IANA zone; the user's own, else UTC.")] = "",
    user: Annotated[str, typer.Option("--user", help="Whose instructions and memory it has.")] = "",
    to: Annotated[str, typer.Option("--to", help="Who is written to; the user when left out.")] = "",
    channel: Annotated[
        Way, typer.Option("--channel", help="How it reaches them; scheduled: it stays in the conversation.")
    ] = Way.SCHEDULED,
    catch_up: Annotated[
        Late,
        typer.Option("--catch-up", help="After a time when nobody ran it: none, the newest, or all (100 at most)."),
    ] = Late.ONE,
    database: Database = "",
    as_json: Json = False,
) -> None:
    """Add a schedule: a message the agent is sent again and again, by the clock of a time zone."""
    from ..app import now_ns, operator
    from ..channels.schedule_cron import rule
    from ..core.served import Schedule
    from ..house import wanted

    known = wanted()
    if agent not in known:
        raise UnknownAgent("agent", agent, tuple(known))
    if channel is not Way.SCHEDULED and not (to or user):
        raise BadValue("to", f"who is written to on {channel.value}? name them with --to or --user")
    if channel in OF_USERS:
        user = user or to
    with opened(database) as store:
        zone = timezone or (user and store.timezone(user)) or "UTC"
        rule(cron, zone)
        made = Schedule(
            f"s{secrets.token_hex(4)}", agent, cron, zone, _read(text), channel.value, to or user, user,
            catch_up.value, operator().mark, now_ns(),
        )  # fmt: skip
        store.add_schedule(made)
        paired = channel is not Way.TELEGRAM or any(one.user == (to or user) for one in store.peers(agent, "telegram"))
    print_json(_told(made, None)) if as_json else typer.echo(f"added {made.id}: next {_next(made)}")
    if not paired:
        typer.echo(f"note: {to or user} is not paired; run: charter telegram pair --user {to or user}", err=True)


@app.command("list")
def list_schedules(
    agent: Annotated[str, typer.Option("--agent", help="Of this agent; all when left out.")] = "",
    database: Database = "",
    as_json: Json = False,
) -> None:
    """List schedules: when each comes next in its own zone, and how its last run ended."""
    with opened(database) as store:
        found = [(one, store.last_run(one.id)) for one in store.schedules(agent)]
    if as_json:
        print_json([_told(*one) for one in found])
        return
    if not found:
        typer.echo('no schedules; add one: charter schedule add assistant "0 9 * * 1-5" --text "…"')
    for made, last in found:
        _print(made, last)


@app.command()
def remove(schedule: ScheduleId, database: Database = "", as_json: Json = False) -> None:
    """Remove a schedule and what is known of its runs; a run under way comes to its end."""
    with opened(database) as store:
        gone = store.remove_schedule(find(store, schedule).id)
    print_json(_told(gone, None)) if as_json else typer.echo(f"removed {gone.id}")


@app.command()
def runs(
    schedule: ScheduleId,
    limit: Annotated[int, typer.Option("--limit", help="How many, newest first.")] = 20,
    database: Database = "",
    as_json: Json = False,
) -> None:
    """Show the runs of a schedule: the tick, how it ended, and the turn that came of it."""
    with opened(database) as store:
        made = find(store, schedule)
        found = store.runs(made.id, limit)
    if as_json:
        print_json([_run_told(one) for one in found])
        return
    if not found:
        typer.echo(f"{made.id} has not run yet: next {_next(made)}")
    for one in found:
        typer.echo(f"{local(one.tick_ns, made.timezone)}  {_ended(one)}" + (f"  {one.turn_id}" if one.turn_id else ""))


# ── running ───────────────────────────────────────────────────────────────────────────────────────────────────────


@app.command()
def run(schedule: ScheduleId, model: Model = "", database: Database = "", as_json: Json = False) -> None:
    """Run a schedule now, here, and print what it says. Exit code 1 when it fails."""
    from ..app import now_ns
    from ..channels.schedule_run import take_up
    from ..house import open_house
    from ..scheduler import desk

    with opened(database) as store:
        made = find(store, schedule)
    with open_house(database=database, model=model) as house:
        house.agent(made.agent)
        ended = take_up(desk(house, clock=now_ns), made.id, now_ns())
    if ended is None:
        raise NotStored("schedule of this id any more")
    if as_json:
        print_json({**_run_told(ended.run), "reply": ended.turn.reply if ended.turn else ""})
    elif ended.turn is not None and ended.turn.reply:
        typer.echo(ended.turn.reply)
    else:
        typer.echo(_ended(ended.run), err=ended.run.state == "failed")
    raise typer.Exit(FAILED if ended.run.state == "failed" else 0)


@app.command()
def work(model: Model = "", database: Database = "") -> None:
    """Run schedules when they are due, until Ctrl-C, as charter serve does; several workers may share a database."""
    from ..channels.schedule import served
    from ..house import open_house
    from ..scheduler import desk, working

    with open_house(database=database, model=model) as house, working(house, database=database):
        count = len(served(desk(house)))
        said = f"working: {count} schedule{'s' if count != 1 else ''} of {', '.join(house.agents)}"
        typer.echo(f"{said}; stop with Ctrl-C")
        _wait()
        typer.echo("stopping")


def _wait() -> None:
    """Until somebody wants an end."""
    over = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: over.set())
    over.wait()


# ── words ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def find(store: SqlStore, wanted: str) -> Schedule:
    """A schedule by its id, or the one whose id begins so."""
    found = [one for one in store.schedules() if one.id.startswith(wanted)] if wanted else []
    if len(found) > 1 and all(one.id != wanted for one in found):
        raise BadValue("schedule", f"{len(found)} schedules begin so; write more of the id")
    return found[0] if len(found) == 1 else store.schedule(wanted)


def local(ns: int, timezone: str) -> str:
    """A moment as the clocks of a zone show it."""
    from ..zones import time_zone

    return f"{datetime.fromtimestamp(ns // 10**9, time_zone(timezone)):%a %Y-%m-%d %H:%M:%S} ({timezone})"


def _read(text: str) -> str:
    if text != "-":
        return text
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise BadValue("text", f"at most {MAX_BYTES:,} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise BadValue("text", f"not UTF-8 at byte {problem.start:,}") from None


def _next(made: Schedule) -> str:
    tick = _next_ns(made)
    return "never" if tick is None else local(tick, made.timezone)


def _next_ns(made: Schedule) -> int | None:
    from ..app import now_ns
    from ..channels.schedule_cron import rule_of

    return rule_of(made).after(now_ns())


def _ended(one: Run) -> str:
    return f"{one.state:<6}" + (f"  {one.code}" if one.code else "")


def _print(made: Schedule, last: Run | None) -> None:
    from ..channels.terminal import shown

    typer.echo(f"{made.id}  {made.agent}  {made.cron}  ({made.timezone})")
    typer.echo(f"  next  {_next(made)}")
    typer.echo("  last  " + (f"{local(last.tick_ns, made.timezone)}  {_ended(last)}" if last else "not yet"))
    typer.echo("  " + "  ".join(_facts(made)))
    line = " ".join(made.text.split())
    typer.echo("  " + shown(line if len(line) <= SHOWN else f"{line[:SHOWN]}…"))


def _facts(made: Schedule) -> Iterator[str]:
    if made.user:
        yield f"for {made.user}"
    yield f"to {made.recipient} on {made.channel}" if made.recipient else "stays in its own conversation"
    yield f"catch-up {made.catch_up}"
    yield f"by {made.by}"


def _told(made: Schedule, last: Run | None) -> dict[str, Any]:
    return {
        "id": made.id, "agent": made.agent, "cron": made.cron, "timezone": made.timezone, "text": made.text,
        "channel": made.channel, "to": made.recipient, "user": made.user, "catch_up": made.catch_up, "by": made.by,
        "added": at(made.at_ns), "next_ns": _next_ns(made), "next": _next(made),
        "last": _run_told(last) if last else None,
    }  # fmt: skip


def _run_told(one: Run) -> dict[str, Any]:
    return {"tick_ns": one.tick_ns, "state": one.state, "code": one.code, "turn": one.turn_id, "at": at(one.at_ns)}
