"""Commands over the turns that were taken: list them, look at one, compare two, prove one, and why it cost so much."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ..core.errors import BadValue, ConfigError, NotStored
from .common import Database, Json, opened, print_json

if TYPE_CHECKING:
    from ..charter import Charter
    from ..core.ports import ToolSpec
    from ..kept import Kept
    from ..stores.store import SqlStore

app = typer.Typer(add_completion=False)
Turn = Annotated[str, typer.Argument(help="A turn's id, or the first 6 or more characters of it.")]
Agent = Annotated[str, typer.Option("--agent", help="Only turns of this agent; of all when left out.")]
CharterName = Annotated[
    str, typer.Option("--charter", help="The charter's folder, for a turn of a charter that is not built in.")
]
WORLD: Final = ("soul", "workspace", "data_dir", "project", "skills", "tools", "vitals", "timezone")


def is_turn(text: str) -> bool:
    """Whether `charter diff` is asked about a turn: an id or its beginning, and no charter's folder of that name."""
    return bool(re.fullmatch(r"[0-9a-f]{6,64}", text)) and not (Path(text) / "charter.toml").is_file()


def in_world(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the options that say what a charter's layers read; it receives them as `options`."""
    from ..views import View

    help_of = {item.name: item.metadata["help"] for item in fields(View) if item.name in WORLD}
    own = [p for p in inspect.signature(command, eval_str=True).parameters.values() if p.name != "options"]
    own = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own]
    world = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default="",
            annotation=Annotated[str, typer.Option(f"--{name.replace('_', '-')}", help=help_of[name])],
        )
        for name in WORLD
    ]  # fmt: skip

    @functools.wraps(command)
    def run(**values: Any) -> None:
        options = {name: values.pop(name) for name in WORLD}
        command(**values, options=options)

    run.__signature__ = inspect.Signature(own + world)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in own + world}
    return run


# ── finding ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _find(store: SqlStore, turn: str, agent: str) -> Kept:
    """The turn of this id; the newest when none is named."""
    from ..kept import read_back
    from ..stores import past

    if turn:
        return read_back(past.find(store.db, turn, agent))
    newest = past.newest(store.db, agent, 1)
    if not newest:
        raise NotStored("turn yet", "take one: charter chat")
    return read_back(newest[0])


def _charter(store: SqlStore, kept: Kept, target: str, options: dict[str, Any]) -> Charter:
    """The charter a turn was made with, in the world the options describe."""
    from ..folder import BUILT_IN
    from ..views import View

    name = target or kept.record.charter
    if not target and name not in BUILT_IN:
        raise BadValue("charter", f"this turn was made with {name!r}, which is not built in; give --charter FOLDER")
    charter = View(name, **options).charter()
    return charter.within(tools=[*_tools(store, charter), *_given(charter)])


def _given(charter: Charter) -> list[ToolSpec]:
    """Tools from a file, with the calls a turn has of them."""
    policies = charter.tool_policies
    tools = charter.world.tools or ()
    return [replace(spec, left=policies[spec.name].max_per_turn) if spec.name in policies else spec for spec in tools]


def _tools(store: SqlStore, charter: Charter) -> list[ToolSpec]:
    """The tools an agent of this charter has by itself; they are made for nobody and never called."""
    from ..acting import InTurn
    from ..app import toolbox
    from ..core.incoming import Incoming
    from ..guards import check_update

    nobody = InTurn(charter, store, Incoming(at=0), agent=charter.agent(), turn="replay", guard=check_update)
    try:
        made = toolbox(charter)(nobody)
    except ConfigError:  # it has tools of somebody's own: those come from --tools
        return list(charter.home.tools)
    return [replace(tool.spec, left=tool.policy.max_per_turn) for tool in made.values()]


# ── commands ──────────────────────────────────────────────────────────────────────────────────────────────────────


@app.command("turns")
def list_turns(
    agent: Agent = "",
    limit: Annotated[int, typer.Option("--limit", help="How many, the newest first.")] = 20,
    database: Database = "",
    as_json: Json = False,
) -> None:
    """List the newest turns: when, on which channel, what came of them, the model, tokens, the stack's hash."""
    from ..stores import past
    from .turn_lines import brief, turn_line

    with opened(database) as store:
        rows = past.newest(store.db, agent, limit)
    if as_json:
        print_json([brief(row) for row in rows])
        return
    for row in rows:
        typer.echo(turn_line(row))
    if not rows:
        typer.echo("no turns yet")


@app.command("turn")
def show_turn(turn: Turn, agent: Agent = "", database: Database = "", as_json: Json = False) -> None:
    """Show everything that is kept of a turn: its layers with their hashes, every call, verdict and count."""
    from .turn_lines import everything, turn_table

    with opened(database) as store:
        kept = _find(store, turn, agent)
    if as_json:
        print_json(everything(kept))
        return
    from rich.console import Console

    turn_table(Console(highlight=False), kept)


def turn_diff(first: str, second: str, *, agent: str, database: str, as_json: bool) -> None:
    """What `charter diff TURN TURN` prints: what changed between them, and who changed it."""
    from ..compare import compare
    from .turn_lines import difference_lines

    with opened(database) as store:
        found = compare(store, _find(store, first, agent), _find(store, second, agent))
    if as_json:
        print_json(asdict(found))
    else:
        typer.echo("\n".join(difference_lines(found)))


@app.command("replay")
@in_world
def replay_turn(
    turn: Turn,
    options: dict[str, Any],
    reveal: Annotated[bool, typer.Option("--reveal", help="Print the prompt as it was built again.")] = False,
    charter: CharterName = "",
    agent: Agent = "",
    database: Database = "",
    as_json: Json = False,
) -> None:
    """Build a turn's prompt again and prove every hash of it; exit code 1 and why, when something cannot be proved."""
    from ..replay import replay
    from .turn_lines import replay_dict, replay_lines

    with opened(database) as store:
        kept = _find(store, turn, agent)
        found = replay(store, _charter(store, kept, charter, options), kept)
    if as_json:
        print_json(replay_dict(found, reveal=reveal))
    else:
        typer.echo("\n".join(replay_lines(found)))
        if reveal and found.assembly is not None:
            typer.echo(f"\n{found.assembly.reveal()}")
    raise typer.Exit(int(not found.proved))


@app.command("why")
@in_world
def why_turn(
    options: dict[str, Any],
    turn: Annotated[str, typer.Argument(help="A turn's id or its beginning; the newest when left out.")] = "",
    charter: CharterName = "",
    agent: Agent = "",
    database: Database = "",
    as_json: Json = False,
) -> None:
    """Say which layer or message ended the cached prefix, at which byte, what was paid again, and what was measured."""
    from ..why import explain
    from .turn_lines import why_dict, why_told

    with opened(database) as store:
        kept = _find(store, turn, agent)
        found = explain(store, _charter(store, kept, charter, options), kept)
    if as_json:
        print_json(why_dict(kept, found))
    else:
        typer.echo("\n".join(why_told(kept, found)))


def why_lines(store: SqlStore, agent: str, turn: str, charter: Charter | None = None) -> list[str]:
    """The same for a chat under way; without its charter and for one that is not built in, a layer's start is told."""
    from ..folder import BUILT_IN
    from ..why import explain
    from .turn_lines import why_told

    kept = _find(store, turn, agent)
    if charter is not None:
        charter = charter.within(tools=_tools(store, charter))
    elif kept.record.charter in BUILT_IN:
        charter = _charter(store, kept, "", {})
    return why_told(kept, explain(store, charter, kept))
