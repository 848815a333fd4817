"""Commands that change a stored layer, look at its history, and decide about proposals."""

from __future__ import annotations

import difflib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..core.errors import BadValue, FileRefused, NotStored
from .common import Agent, CharterName, Database, Json, User, at, author, keeper, opened, parse_version, print_json

if TYPE_CHECKING:
    from ..core.records import Place, Proposal, Version
    from ..stores.store import SqlStore

app = typer.Typer(add_completion=False)
Layer = Annotated[str, typer.Argument(help="The layer's id, such as inbox, soul or instructions.")]
MAX_BYTES = 1_000_000


def _content(file: str, text: str) -> str:
    if text:
        return text
    if file in ("", "-"):
        return sys.stdin.read(MAX_BYTES)
    path = Path(file)
    if not path.is_file() or path.stat().st_size > MAX_BYTES:
        raise FileRefused(path.name, f"not a file of at most {MAX_BYTES:,} bytes")
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise FileRefused(path.name, f"not UTF-8 at byte {error.start}") from None


@app.command()
def amend(
    layer: Layer,
    file: Annotated[str, typer.Argument(help="A file with the new text; standard input when left out or '-'.")] = "",
    text: Annotated[str, typer.Option("--text", help="The new text itself.")] = "",
    expect: Annotated[int, typer.Option("--expect", help="The version it was made on; the newest when left out.")] = -1,
    reason: Annotated[str, typer.Option("--reason", help="Why; kept with a proposal.")] = "",
    charter: CharterName = "",
    agent: Agent = "",
    user: User = "",
    database: Database = "",
    as_json: Json = False,
) -> None:
    """Write the next version of a layer, through every gate; nothing is overwritten."""
    from .. import amend as amending
    from ..app import now_ns
    from ..core.records import Proposal

    governed = keeper(layer, charter)
    content = _content(file, text)
    with opened(database) as store:
        place = governed.stored(layer, agent=agent, user=user)[1]
        amending.seed(store, governed, place, now_ns())
        head = store.head(place)
        version = expect if expect >= 0 else (head.version if head else 0)
        edit = amending.Edit(layer, content, version, agent, user, reason)
        done = amending.amend(store, governed, edit, by=author(user), at_ns=now_ns())
    if isinstance(done, Proposal):
        _print_proposal(done, as_json)
    elif as_json:
        print_json({"layer": layer, "version": done.version, "by": done.updated_by_turn})
    else:
        typer.echo(f"{governed.name} {layer} is at version {done.version}, by {done.updated_by_turn}")


@app.command()
def history(
    layer: Layer,
    charter: CharterName = "",
    agent: Agent = "",
    user: User = "",
    database: Database = "",
    as_json: Json = False,
) -> None:
    """List every version of a layer: when, by whom, how long, its hash and labels."""
    governed = keeper(layer, charter)
    with opened(database) as store:
        place = governed.stored(layer, agent=agent, user=user)[1]
        rows = store.history(place)
        names: dict[int, list[str]] = {}
        for label_ in store.labels(place.agent):
            if label_.layer_id == layer and not place.user:
                names.setdefault(label_.version, []).append(label_.label)
    if as_json:
        print_json([_version(row, names.get(row.version, [])) for row in rows])
        return
    if not rows:
        typer.echo(f"{layer} has no version yet: it stands as the charter ships it")
    for row in rows:
        size = "erased" if row.content is None else f"{len(row.content):,} characters"
        marks = "".join(f"  [{name}]" for name in names.get(row.version, []))
        back = f"  as version {row.restores}" if row.restores else ""
        typer.echo(f"{layer}@{row.version:<4} {at(row.at_ns)}  {row.by:<20} {size:>18}  {row.sha256[:12]}{back}{marks}")


def _version(row: Version, labels: list[str]) -> dict[str, Any]:
    return {
        "version": row.version, "at_ns": row.at_ns, "by": row.by, "actor": row.actor, "sha256": row.sha256,
        "key_id": row.key_id, "restores": row.restores, "labels": labels,
        "characters": None if row.content is None else len(row.content),
    }  # fmt: skip


def find_version(store: SqlStore, place: Place, wanted: str) -> Version:
    """A version by number or label; the newest when nothing is said."""
    if wanted.isdigit():
        return store.version(place, int(wanted))
    if wanted:
        for label_ in store.labels(place.agent):
            if label_.label == wanted and label_.layer_id == place.layer_id:
                return store.version(place, label_.version)
        raise NotStored(f"version of {place.layer_id} labelled so", f"see: charter history {place.layer_id}")
    rows = store.history(place)
    if not rows:
        raise NotStored(f"version of {place.layer_id} yet", f"write one: charter amend {place.layer_id}")
    return rows[-1]


def layer_diff(first: str, second: str, *, charter: str, agent: str, user: str, database: str, as_json: bool) -> None:
    """What `charter diff LAYER@1 LAYER@2` prints."""
    (layer, one), (other, two) = parse_version(first), parse_version(second)
    if layer != other:
        raise BadValue("diff", "compare two versions of one layer: charter diff inbox@1 inbox@2")
    governed = keeper(layer, charter)
    with opened(database) as store:
        place = governed.stored(layer, agent=agent, user=user)[1]
        a, b = find_version(store, place, one), find_version(store, place, two)
    if a.content is None or b.content is None:
        raise NotStored("text of an erased version", "its hash is still in: charter history")
    lines = list(
        difflib.unified_diff(
            a.content.splitlines(), b.content.splitlines(), f"{layer}@{a.version} by {a.by}",
            f"{layer}@{b.version} by {b.by}", lineterm="",
        )
    )  # fmt: skip
    if as_json:
        sides = {"first": _version(a, []), "second": _version(b, [])}
        print_json({"layer": layer, **sides, "changed": a.content != b.content, "diff": lines})
    else:
        typer.echo("\n".join(lines) if lines else "no difference")


@app.command()
def rollback(
    layer: Layer,
    to: Annotated[int, typer.Argument(help="The version whose text to take.")],
    bury: Annotated[bool, typer.Option("--bury", help="Even over a later edit by a person.")] = False,
    charter: CharterName = "",
    agent: Agent = "",
    user: User = "",
    database: Database = "",
    as_json: Json = False,
) -> None:
    """Take an older text as a new version."""
    from .. import amend as amending
    from ..app import now_ns

    governed = keeper(layer, charter)
    with opened(database) as store:
        head = store.head(governed.stored(layer, agent=agent, user=user)[1])
        edit = amending.Edit(layer, "", head.version if head else 0, agent, user)
        done = amending.rollback(store, governed, edit, to=to, by=author(user), at_ns=now_ns(), bury=bury)
    if as_json:
        print_json({"layer": layer, "version": done.version, "restores": to, "by": done.updated_by_turn})
    else:
        typer.echo(f"{layer} is at version {done.version}, with the text of version {to}")


@app.command()
def label(
    name: Annotated[str, typer.Argument(help="The label, such as staging or production.")],
    layers: Annotated[
        list[str] | None, typer.Argument(help="LAYER or LAYER@VERSION; every stored layer as it is when left out.")
    ] = None,
    charter: Annotated[str, typer.Option("--charter", help="The charter.")] = "sovereign",
    agent: Agent = "",
    database: Database = "",
    as_json: Json = False,
) -> None:
    """Give versions a name; a prompt can be assembled at it (charter show --label NAME)."""
    from .. import amend as amending
    from ..app import now_ns, operator
    from ..folder import load

    governed = load(charter)
    with opened(database) as store:
        amending.seed_all(store, governed, agent, now_ns())
        chosen = {}
        for text in layers or governed.seeded():
            layer, wanted = parse_version(text)
            chosen[layer] = find_version(store, governed.stored(layer, agent=agent)[1], wanted).version
        amending.label(store, governed, name, chosen, agent=agent, by=operator(), at_ns=now_ns())
    if as_json:
        print_json({"label": name, "layers": chosen})
    else:
        typer.echo(f"{name}: " + ", ".join(f"{layer}@{version}" for layer, version in chosen.items()))


# ── proposals ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _proposal(found: Proposal) -> dict[str, Any]:
    return {
        "id": found.id, "agent": found.place.agent, "layer": found.place.layer_id, "base_version": found.base_version,
        "sha256": found.sha256, "by": found.by.mark, "reason": found.reason, "state": found.state,
        "expires": at(found.expires_at_ns), "decided_by": found.decided_by,
    }  # fmt: skip


def _print_proposal(found: Proposal, as_json: bool) -> None:
    if as_json:
        print_json(_proposal(found))
        return
    typer.echo(f"{found.id} waits for a person: {found.place.layer_id}, made on version {found.base_version}")
    typer.echo(
        f"  look:  charter proposals {found.id}\n  then:  charter approve {found.id}   or   charter reject {found.id}"
    )


@app.command()
def proposals(
    proposal: Annotated[str, typer.Argument(help="One proposal, with its text; all when left out.")] = "",
    state: Annotated[str, typer.Option("--state", help="open, applied, rejected or expired; empty is all.")] = "open",
    agent: Agent = "",
    database: Database = "",
    as_json: Json = False,
) -> None:
    """List the changes that wait for a person, or show one."""
    from ..app import now_ns

    with opened(database) as store:
        store.expire(now_ns())
        found = [store.proposal(proposal)] if proposal else store.proposals(agent, state)
        heads = {one.id: store.head(one.place) for one in found} if proposal else {}
    if as_json:
        print_json([{**_proposal(one), **({"content": one.content} if proposal else {})} for one in found])
        return
    if not found:
        typer.echo("no proposals" + (f" in state {state}" if state else ""))
    for one in found:
        typer.echo(
            f"{one.id}  {one.state:<8} {one.place.agent}/{one.place.layer_id}@{one.base_version}  by {one.by.mark}"
        )
        typer.echo(f"  {one.sha256[:16]}  expires {at(one.expires_at_ns)}" + (f"  {one.reason}" if one.reason else ""))
        if proposal and one.content is not None:
            head = heads[one.id]
            now = head.content.splitlines() if head else []
            typer.echo("\n".join(difflib.unified_diff(now, one.content.splitlines(), "now", "proposed", lineterm="")))


@app.command()
def approve(
    target: Annotated[str, typer.Argument(help="A proposal's id, or a charter folder whose lock to sign.")],
    seen: Annotated[str, typer.Option("--sha256", help="The hash you saw; it must be the proposal's.")] = "",
    key: Annotated[str, typer.Option("--key", help="Sign with this key of yours (charter key list).")] = "",
    ssh_key: Annotated[
        Path | None, typer.Option("--ssh-key", help="Sign with this SSH key through ssh-keygen.")
    ] = None,
    charter: CharterName = "",
    database: Database = "",
    as_json: Json = False,
) -> None:
    """Approve a proposal or a tool's call (one approval, one execution), or sign a charter's lock as an approver."""
    if _is_call(target):
        _decide_call(target, True, seen, database, as_json)
        return
    if not target.startswith("p-"):
        _approve_lock(target, key, ssh_key, as_json)
        return
    from .. import amend as amending
    from ..app import authorizer

    with opened(database) as store:
        found = store.proposal(target)
        governed = keeper(found.place.layer_id, charter)
        decision = _decision(found, seen, key, ssh_key, "approve")
        done = amending.approve(store, governed, decision, authorize=authorizer(governed))
    if as_json:
        print_json({"id": target, "layer": found.place.layer_id, "version": done.version})
    else:
        typer.echo(f"applied: {found.place.layer_id} is at version {done.version}")


def _is_call(target: str) -> bool:
    """Whether this is the id of a call that waits, or the beginning of one; a folder of that name goes first."""
    return re.fullmatch(r"[0-9a-f]{8,28}", target) is not None and not Path(target).exists()


def _decide_call(target: str, yes: bool, seen: str, database: str, as_json: bool) -> None:
    from ..app import now_ns, operator
    from .control import call_told, decide_call, find_call

    with opened(database) as store:
        done = decide_call(store, find_call(store, target), yes, by=operator(), at_ns=now_ns(), seen=seen)
    if as_json:
        print_json(call_told(done))
    else:
        typer.echo(f"{done.state}: {done.tool}, call {done.id}")


@app.command()
def reject(
    proposal: Annotated[str, typer.Argument(help="The proposal's id.")],
    database: Database = "",
    as_json: Json = False,
) -> None:
    """Reject a proposal or a tool's call; nothing changes."""
    if _is_call(proposal):
        _decide_call(proposal, False, "", database, as_json)
        return
    from .. import amend as amending

    with opened(database) as store:
        found = store.proposal(proposal)
        done = amending.reject(store, _decision(found, "", "", None, "reject"))
    if as_json:
        print_json(_proposal(done))
    else:
        typer.echo(f"rejected: {done.id}")


def _decision(found: Proposal, seen: str, key: str, ssh_key: Path | None, what: Any) -> Any:
    from .. import keys, seal
    from ..app import now_ns, operator
    from ..core.records import Decision

    sha256 = found.sha256 if not seen or (len(seen) >= 8 and found.sha256.startswith(seen)) else seen
    signature = ""
    if key or ssh_key:
        message = seal.proposal_statement(
            found.place.agent, found.id, layer_id=found.place.layer_id, sha256=sha256,
            base_version=found.base_version, decision=what,
        )  # fmt: skip
        signature = keys.sign(key, message) if key else keys.sign_ssh(str(ssh_key), message)
    return Decision(found.id, sha256, operator(), now_ns(), signature)


def _approve_lock(target: str, key: str, ssh_key: Path | None, as_json: bool) -> None:
    import msgspec

    from .. import seal

    done = seal.approve(target, key_name=key, ssh_key=ssh_key)
    if as_json:
        print_json(msgspec.structs.asdict(done))
    else:
        typer.echo(f"{done.by} approved version {done.version}; next: charter verify {target}")
