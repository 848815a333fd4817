"""`charter chat`: a person and an agent at a terminal, or a program and an agent through a pipe."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ..channels.handed import handed
from ..core.errors import BadValue, CharterError, FileMissing, FileRefused
from .answering import Outcome, answer
from .common import Agent as AgentName
from .common import Database, Json

if TYPE_CHECKING:
    from ..channels.lines import Lines
    from ..channels.terminal import Terminal, Unattended
    from ..core.incoming import Incoming
    from ..core.records import Author
    from ..turn import Agent, Turn
    from .slash import Chat

app = typer.Typer(add_completion=False)
HISTORY: Final = "chat.history"
MAX_CHARS: Final = 1_000_000
SHORT_ID: Final = 12
FAILED, SILENT, CANCELLED = 1, 3, 130


Target = Annotated[str, typer.Argument(help="A built-in charter's name, or a folder with a charter.toml.")]
Once = Annotated[str | None, typer.Option("--once", help="One message and its reply; '-' reads it from a pipe, whole.")]
YesTo = Annotated[list[str] | None, typer.Option("--yes-to", help="Approve every call of this tool; can be repeated.")]
Project = Annotated[str, typer.Option("--project", help="gateway: the project whose CLAUDE.md and rules apply.")]
Debug = Annotated[bool, typer.Option("--debug", help="Hashes, codes and counts of every turn, on standard error.")]


@app.command()
def chat(
    target: Target = "assistant",
    agent: AgentName = "",
    user: Annotated[str, typer.Option("--user", help="Who speaks; you when left out.")] = "",
    model: Annotated[str, typer.Option("--model", help="The model; see: charter model.")] = "",
    once: Once = None,
    yes_to: YesTo = None,
    workspace: Annotated[str, typer.Option("--workspace", help="workspace: the folder to read.")] = "",
    data_dir: Annotated[str, typer.Option("--data-dir", help="gateway: the folder with IDENTITY.md, SOUL.md …")] = "",
    project: Project = "",
    skills: Annotated[str, typer.Option("--skills", help="gateway: the folder with skills.")] = "",
    debug: Debug = False,
    database: Database = "",
    as_json: Json = False,
) -> None:
    """Talk with an agent. Piped, each line is a message. Exit code 1: a turn failed; 3: --once got no reply."""
    from .. import app as root
    from .. import logs
    from ..core.incoming import Incoming

    by = root.operator()
    who = user or by.name
    logs.start(os.environ.get(logs.LOG_VARIABLE, ""), debug=debug)
    world = _world(workspace=workspace, data_dir=data_dir, project_dir=project, skills_dir=skills)
    running = functools.partial(root.running, target, agent=agent, database=database, model=model, **world)
    if once is None and not as_json and sys.stdin.isatty() and sys.stdout.isatty():
        lines = _lines()
        terminal = _terminal(by, lines, yes_to or [])
        with running(approver=terminal) as found:
            talk(found, Incoming(channel="terminal", sender=who, user=who, operator=True), terminal, lines)
        return
    person = _unattended(by, yes_to or [])
    typed = once is not None and once != "-"  # what comes through a pipe may be anybody's words
    incoming = Incoming(channel="terminal", sender=who, user=who, operator=typed)
    with running(approver=person) as found:
        code = pipe(found, incoming, person, messages=_messages(once), as_json=as_json, once=once is not None)
    raise typer.Exit(code)


def _world(**folders: str) -> dict[str, Any]:
    world: dict[str, Any] = {}
    for name, path in folders.items():
        if path and not Path(path).is_dir():
            raise FileMissing(path, "the folder named on the command line")
        if path:
            world[name] = Path(path).absolute()
    return world


# ── at a terminal ─────────────────────────────────────────────────────────────────────────────────────────────────


def _terminal(by: Author, lines: Lines, yes_to: list[str]) -> Terminal:
    from rich.console import Console

    from ..channels.terminal import Terminal

    return Terminal(Console(highlight=False), by, read=lines.answer, yes_to=yes_to)


def _lines() -> Lines:
    from .. import home
    from ..channels.lines import Lines

    try:
        return Lines(home.read_private(home.home() / HISTORY).decode("utf-8", "replace").splitlines())
    except FileNotFoundError:
        return Lines()
    except (FileRefused, OSError) as error:
        typer.echo(f"the history of earlier chats is not used: {error}", err=True)
        return Lines()


def _keep(lines: Lines) -> None:
    from .. import home

    try:
        home.replace_private(home.home() / HISTORY, "".join(f"{line}\n" for line in lines.history).encode())
    except OSError as error:
        typer.echo(f"the history of this chat is not kept ({error.strerror})", err=True)


def talk(agent: Agent, incoming: Incoming, terminal: Terminal, lines: Lines) -> None:
    """Reads and answers until the person has said all."""
    from .slash import Chat

    chat = Chat(agent, incoming, terminal)
    terminal.dim(f"{agent.charter.name} · {agent.provider.name} {agent.provider.model} · /help tells what you can do")
    try:
        while True:
            try:
                line = lines.message("› ")
                if line.strip() and not _line(chat, line):
                    return
            except KeyboardInterrupt:
                terminal.console.print()
    except EOFError:
        terminal.console.print()
    finally:
        _keep(lines)


def _line(chat: Chat, line: str) -> bool:
    """One line of a person: a command, or a message; whether the chat goes on."""
    from . import slash

    try:
        if line.startswith("/"):
            return slash.run(chat, line)
        _reply(chat, line.strip())
    except CharterError as error:
        chat.print(str(error), "yellow")
    return True


def _reply(chat: Chat, text: str) -> None:
    terminal = chat.terminal
    done = answer(chat.agent, replace(chat.incoming, text=text), terminal)
    turn = done.turn
    if turn is None:
        terminal.end()
        kept = "; your message is kept and is answered with your next one" if done.waits else ""
        chat.print(f"{done.problem}{kept}", "yellow")
        return
    chat.last = turn
    if turn.reply and not terminal.said:  # a charter may have its terminal wait for the whole
        terminal.text(turn.reply)
    terminal.end()
    if not turn.reply:
        terminal.dim("(no reply)")
    handed(chat.agent, turn)
    terminal.dim(status(turn, chat.agent))


def status(turn: Turn, agent: Agent) -> str:
    """What a turn was, in a line: charter, mode, layers, tokens, cache, its id, and what waits for a person."""
    usage = turn.usage
    share = f"{usage.cached / usage.input:.0%} cached" if usage.cached is not None and usage.input else ""
    proposals = len(agent.store.proposals(agent.name, "open"))
    calls = len(agent.store.approvals(agent.name, "open"))
    said = (
        agent.charter.name,
        turn.assembly.mode,
        f"{len(turn.assembly.parts)} layers",
        f"{usage.input:,} tokens in, {usage.output:,} out",
        share,
        f"turn {turn.id[:SHORT_ID]}",
        f"{proposals} proposal{' waits' if proposals == 1 else 's wait'}: /approve" if proposals else "",
        f"{calls} call{' waits' if calls == 1 else 's wait'}: /approve" if calls else "",
    )
    return " · ".join(part for part in said if part)


# ── through a pipe ────────────────────────────────────────────────────────────────────────────────────────────────


def _unattended(by: Author, yes_to: list[str]) -> Unattended:
    from ..channels.terminal import Unattended

    return Unattended(by, warn=lambda text: typer.echo(text, err=True), yes_to=yes_to)


def _messages(once: str | None) -> Iterator[str]:
    """The messages of a pipe: the one that was given, all there is, or a line each."""
    if once is None:
        yield from (line.strip() for line in iter(lambda: sys.stdin.readline(MAX_CHARS), "") if line.strip())
        return
    text = (sys.stdin.read(MAX_CHARS + 1) if once == "-" else once).strip()
    if not 0 < len(text) <= MAX_CHARS:
        raise BadValue("--once", f"a message has 1 to {MAX_CHARS:,} characters; this one has {len(text):,}")
    yield text


def pipe(
    agent: Agent, incoming: Incoming, person: Unattended, *, messages: Iterator[str], as_json: bool, once: bool
) -> int:
    """Answers message by message, and stops at the first turn that fails: its message waits, and the next one's
    answer would be for both."""
    from ..channels.terminal import shown

    code = 0
    for text in messages:
        done = answer(agent, replace(incoming, text=text), person)
        if as_json:
            typer.echo(json.dumps(told(done, person), ensure_ascii=False))
        elif done.turn is not None and done.turn.reply:
            typer.echo(shown(done.turn.reply))  # a pipe often ends at a terminal; --json has it as it is
        if done.turn is not None:
            handed(agent, done.turn)
        else:
            typer.echo(f"error: {done.problem}" + ("; the message waits" if done.waits else ""), err=True)
            return CANCELLED if done.code == "TURN_CANCELLED" else FAILED
        code = 0 if done.turn.reply or not once else SILENT
    return code


def told(done: Outcome, person: Unattended) -> dict[str, Any]:
    """A turn for a program."""
    turn = done.turn
    return {
        "reply": turn.reply if turn else "",
        "outcome": turn.outcome if turn else "failed",
        "code": done.code,
        **({} if turn else {"problem": done.problem, "waits": done.waits}),
        "turn": done.id,
        "stack_sha256": turn.record.stack_sha256 if turn else "",
        "usage": {"input": turn.usage.input, "output": turn.usage.output, "cached": turn.usage.cached} if turn else {},
        "calls": [
            {"name": call.name, "decision": call.verdict.decision, "code": call.verdict.code} for call in person.calls
        ],
    }
