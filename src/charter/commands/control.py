"""Commands that stop an agent, let it go on, limit what it spends, and decide about calls that wait for a person."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..core.errors import BadValue, NotStored
from .common import Database, Json, at, opened, print_json

if TYPE_CHECKING:
    from ..core.ports import Store
    from ..core.records import Approval, Author, Control
    from ..stores.store import SqlStore

app = typer.Typer(add_completion=False)
AgentName = Annotated[str, typer.Argument(help="The agent, or a charter whose own agent is meant.")]


def known_agent(store: SqlStore, name: str) -> tuple[str, bool]:
    """The agent of this name, else the own agent of the built-in charter so named; and whether it ever acted here."""
    from ..folder import BUILT_IN, load

    acted = {chain.partition("/")[0] for chain in store.chains()}
    if name not in acted and name in BUILT_IN:
        name = load(name).agent()
    return name, name in acted


# ── the stop switch ───────────────────────────────────────────────────────────────────────────────────────────────


def _control(store: SqlStore, agent: str) -> Control:
    return store.control(agent, datetime.now(UTC).date().isoformat())


def _told(agent: str, found: Control) -> dict[str, Any]:
    return {
        "agent": agent, "paused": found.paused, "by": found.by, "at_ns": found.at_ns, "reason": found.reason,
        "tokens_per_day": found.tokens_per_day, "turns_per_day": found.turns_per_day,
        "tokens_today": found.tokens_today, "turns_today": found.turns_today,
    }  # fmt: skip


def _print_control(agent: str, found: Control, as_json: bool) -> None:
    if as_json:
        print_json(_told(agent, found))
        return
    paused = f"paused by {found.by} at {at(found.at_ns)}" + (f": {found.reason}" if found.reason else "")
    typer.echo(f"{agent}: {paused if found.paused else 'may act'}")
    for unit, used, limit in (
        ("tokens", found.tokens_today, found.tokens_per_day),
        ("turns", found.turns_today, found.turns_per_day),
    ):
        typer.echo(f"  {unit:<6} {used:,} today (UTC), " + ("no limit" if limit is None else f"limit {limit:,}"))


@app.command()
def pause(
    agent: AgentName,
    reason: Annotated[str, typer.Option("--reason", help="Why; kept with the switch.")] = "",
    database: Database = "",
    as_json: Json = False,
) -> None:
    """Stop an agent at once: no turn of it begins, and one under way ends at its next step."""
    from ..app import now_ns, operator

    with opened(database) as store:
        name, acted = known_agent(store, agent)
        store.pause(name, by=operator(), at_ns=now_ns(), reason=reason)
        _print_control(name, _control(store, name), as_json)
    if not acted:
        typer.echo(f"note: no agent named {name} has acted here yet; is this the name?", err=True)


@app.command()
def resume(agent: AgentName, database: Database = "", as_json: Json = False) -> None:
    """Let a paused agent act again."""
    from ..app import now_ns, operator

    with opened(database) as store:
        name, _ = known_agent(store, agent)
        store.resume(name, by=operator(), at_ns=now_ns())
        _print_control(name, _control(store, name), as_json)


@app.command()
def limit(
    agent: AgentName,
    tokens: Annotated[int, typer.Option("--tokens", help="Tokens a day, read and written together.")] = -1,
    turns: Annotated[int, typer.Option("--turns", help="Turns a day.")] = -1,
    none: Annotated[bool, typer.Option("--none", help="No limits; with another option, only that one stays.")] = False,
    database: Database = "",
    as_json: Json = False,
) -> None:
    """Set what an agent may spend in a day (UTC), or show it; a limit that is not named stays as it is."""
    from ..app import now_ns, operator

    if tokens < -1 or turns < -1:
        raise BadValue("limit", "a number of at least 0; --none takes the limits away")
    with opened(database) as store:
        name, _ = known_agent(store, agent)
        if none or tokens >= 0 or turns >= 0:
            now = _control(store, name)
            store.limit(
                name, by=operator(), at_ns=now_ns(),
                tokens_per_day=tokens if tokens >= 0 else None if none else now.tokens_per_day,
                turns_per_day=turns if turns >= 0 else None if none else now.turns_per_day,
            )  # fmt: skip
        _print_control(name, _control(store, name), as_json)


# ── calls that wait ───────────────────────────────────────────────────────────────────────────────────────────────


def find_call(store: Store, wanted: str, agent: str = "") -> Approval:
    """A call by its id, or the one that waits whose id begins so."""
    found = [one for one in store.approvals(agent, "open") if one.id.startswith(wanted)]
    if len(found) > 1 and all(one.id != wanted for one in found):
        raise BadValue("call", f"{len(found)} calls that wait begin so; write more of the id")
    return found[0] if len(found) == 1 else store.approval(wanted)


def decide_call(store: Store, call: Approval, yes: bool, *, by: Author, at_ns: int, seen: str = "") -> Approval:
    """A person's word about a call, over the hash they saw (the call's own when they name none)."""
    sha256 = call.sha256 if not seen or (len(seen) >= 8 and call.sha256.startswith(seen)) else seen
    return store.decide_approval(call.id, sha256, "approved" if yes else "denied", by=by, at_ns=at_ns)


def call_told(found: Approval) -> dict[str, Any]:
    """A call as JSON; its arguments are shown to who asks for that one."""
    return {
        "id": found.id, "agent": found.agent, "user": found.user, "tool": found.tool, "turn": found.turn_id,
        "sha256": found.sha256, "state": found.state, "expires": at(found.expires_at_ns),
        "decided_by": found.decided_by,
    }  # fmt: skip


@app.command()
def approvals(
    call: Annotated[str, typer.Argument(help="One call, with its arguments; all when left out.")] = "",
    approve: Annotated[str, typer.Option("--approve", help="Say yes to this call; it can be made once.")] = "",
    deny: Annotated[str, typer.Option("--deny", help="Say no to this call.")] = "",
    seen: Annotated[str, typer.Option("--sha256", help="The hash you saw; it must be the call's.")] = "",
    state: Annotated[
        str, typer.Option("--state", help="open, approved, denied, used or expired; empty is all.")
    ] = "open",
    agent: Annotated[str, typer.Option("--agent", help="Of this agent; all when left out.")] = "",
    database: Database = "",
    as_json: Json = False,
) -> None:
    """List the calls of tools that wait for a person, show one, or decide about one."""
    from ..app import now_ns, operator

    if bool(call) + bool(approve) + bool(deny) > 1:
        raise BadValue("approvals", "show one call, approve one or deny one")
    with opened(database) as store:
        store.expire(now_ns())
        if approve or deny:
            one = find_call(store, approve or deny, agent)
            done = decide_call(store, one, bool(approve), by=operator(), at_ns=now_ns(), seen=seen)
            print_json(call_told(done)) if as_json else typer.echo(_decided(done))
            return
        found = [find_call(store, call, agent)] if call else store.approvals(agent, state)
    if as_json:
        print_json([{**call_told(one), **({"arguments": one.arguments} if call else {})} for one in found])
        return
    if not found:
        typer.echo("no calls" + (f" in state {state}" if state else ""))
    for one in found:
        _print_call(one, whole=bool(call))


def _decided(done: Approval) -> str:
    if done.state == "denied":
        return f"denied: {done.id}"
    return f"approved: {done.id}; {done.tool} may be called so once, until {at(done.expires_at_ns)}: ask for it again"


def _print_call(one: Approval, *, whole: bool) -> None:
    from ..channels.terminal import pretty, shown

    whose = f"{one.agent}/{one.user}" if one.user else one.agent
    typer.echo(shown(f"{one.id}  {one.state:<8} {one.tool}  {whose}"))
    typer.echo(f"  {one.sha256[:16]}  expires {at(one.expires_at_ns)}")
    if whole and one.arguments is None:
        raise NotStored("arguments of this call any more: they were erased")
    if whole and one.arguments is not None:
        typer.echo(shown(pretty(one.arguments)))
