"""What a person may ask of a chat beside talking: a word after a slash, each a few lines over the library."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, cast

from ..channels.terminal import Terminal, one_line, pretty, shown
from ..core.errors import BadValue
from ..core.records import Approval, Proposal

if TYPE_CHECKING:
    from ..core.assemble import Assembly
    from ..core.incoming import Incoming
    from ..folder import Charter
    from ..stores.store import SqlStore
    from ..turn import Agent, Turn

NOTES: Final = 10
Waiting = Proposal | Approval


@dataclass
class Chat:
    """A chat under way: with whom, through which terminal, the last turn, and what was last listed as waiting."""

    agent: Agent
    incoming: Incoming
    terminal: Terminal
    last: Turn | None = None
    listed: list[Waiting] = field(default_factory=list, repr=False)

    @property
    def user(self) -> str:
        return self.incoming.owner

    def print(self, text: str, style: str = "") -> None:
        self.terminal.console.print(shown(text), style=style, markup=False, highlight=False, soft_wrap=True)


def run(chat: Chat, line: str) -> bool:
    """Does what the line says; whether the chat goes on."""
    word, _, rest = line[1:].partition(" ")
    command = COMMANDS.get(word)
    if command is None:
        chat.print(f"there is no /{one_line(word, 20)}; there are: {' '.join(f'/{name}' for name in COMMANDS)}")
    elif command is _quit:
        return False
    else:
        command(chat, rest.strip())
    return True


# ── what the model was told ───────────────────────────────────────────────────────────────────────────────────────


def assembly(chat: Chat) -> Assembly:
    """The prompt as it was sent last; before the first turn, as it would be."""
    if chat.last is not None:
        return chat.last.assembly
    from ..acting import InTurn

    agent, charter = chat.agent, chat.agent.charter
    incoming = replace(
        chat.incoming, text="(your message)", at=agent.clock() / 10**9, agent=agent.name, model=agent.provider.model
    )
    acting = InTurn(
        charter, agent.store, incoming, agent=agent.name, turn="preview", guard=agent.guards.update, skills=agent.skills
    )
    world = charter.with_tools(list(agent.tools(acting).values()), agent.provider.native_tools, agent.store)
    chat.terminal.dim("no turn yet: this is what would be sent")
    return charter.assemble(incoming, mode=charter.choose_mode(incoming), world=world, reads=None)


def _layers(chat: Chat, _: str) -> None:
    """The layers: who owns them, their version, bytes and tokens."""
    from rich.table import Table
    from rich.text import Text

    from ..draw import COLOURS

    made = assembly(chat)
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("", "layer", "owner", "version", "bytes", "tokens", ""):
        table.add_column(name, justify="right" if name in ("bytes", "tokens") else "left", no_wrap=bool(name))
    for part, entry in zip(made.parts, made.manifest.stack, strict=True):
        became = "" if entry.disposition == "whole" else entry.disposition
        table.add_row(
            entry.layer, Text(entry.id, style=COLOURS[part.section.layer.owner]), entry.owner, entry.version,
            f"{entry.bytes:,}", f"{entry.tokens_est:,}", became,
        )  # fmt: skip
    for left in made.left_out:
        table.add_row(left.layer, Text(left.id, style="dim"), "", "", "", "", f"left out: {left.reason}")
    manifest = made.manifest
    table.add_row("", "whole prompt", "", manifest.version, f"{manifest.bytes:,}", f"{manifest.tokens_est:,}", "")
    chat.terminal.console.print(table)


def _show(chat: Chat, _: str) -> None:
    """The prompt as it was sent, whole."""
    from ..draw import show

    made = assembly(chat)
    show(chat.terminal.console, made, f"{made.settings.charter} · {made.mode} · {chat.incoming.channel}")


def _manifest(chat: Chat, _: str) -> None:
    """Its hashes and counts, as they are kept."""
    chat.print(json.dumps(assembly(chat).manifest.to_dict(), indent=2, ensure_ascii=False))


def _why(chat: Chat, rest: str) -> None:
    """What broke the cached prefix of the last turn, and what it cost."""
    from .turns import why_lines

    if chat.last is None and not rest:
        chat.print("no turn yet; say something first")
        return
    store, charter = cast("SqlStore", chat.agent.store), cast("Charter", chat.agent.charter)
    for line in why_lines(store, chat.agent.name, rest or (chat.last.id if chat.last else ""), charter):
        chat.print(line)


# ── what is remembered ────────────────────────────────────────────────────────────────────────────────────────────


def _memory(chat: Chat, query: str) -> None:
    """What is remembered: the newest notes, or those that fit the words after it."""
    store, agent = chat.agent.store, chat.agent.name
    whose = "" if chat.agent.charter.own_memory else chat.user
    notes = store.recall(agent, whose, query, NOTES) if query else store.recent(agent, whose, NOTES)
    for note in notes:
        chat.print(f"{note.day}  {note.text}")
    if not notes:
        chat.print("no notes" + (" that fit" if query else ""))


def _instructions(chat: Chat, text: str) -> None:
    """Your standing instructions; the words after it replace them."""
    from ..amend import Edit, amend
    from ..core.policy import Actor
    from ..core.records import Author

    agent, user = chat.agent, chat.user
    if not text:
        chat.print(agent.store.instructions(agent.name, user) or "no instructions yet; write some: /instructions TEXT")
        return
    _, place = agent.charter.stored("instructions", agent=agent.name, user=user)
    head = agent.store.head(place)
    edit = Edit("instructions", text, head.version if head else 0, agent.name, user)
    by = Author(Actor.USER, user)
    done = amend(agent.store, agent.charter, edit, by=by, at_ns=agent.clock(), guard=agent.guards.update)
    if isinstance(done, Proposal):
        chat.print(f"they wait for a person: {done.id}")
    else:
        chat.print(f"instructions are at version {done.version}, used from the next turn on")


def _new(chat: Chat, _: str) -> None:
    """Begin the conversation anew; what was said stays in the log."""
    chat.agent.store.fresh_start(chat.agent.name, chat.user, chat.agent.clock())
    chat.last = None
    chat.print("a new conversation")


# ── what waits for a person ───────────────────────────────────────────────────────────────────────────────────────


def waiting(agent: Agent) -> list[Waiting]:
    """Proposals and calls of this agent that wait, oldest first."""
    agent.store.expire(agent.clock())
    found: list[Waiting] = [*agent.store.proposals(agent.name, "open"), *agent.store.approvals(agent.name, "open")]
    return sorted(found, key=lambda one: one.at_ns)


def _named(chat: Chat, name: str) -> Waiting:
    """One that waits: by its number in the list that was shown, or by how its id begins."""
    if len(name) <= 3 and name.isdecimal() and 0 < int(name) <= len(chat.listed):
        return chat.listed[int(name) - 1]
    found = [one for one in waiting(chat.agent) if one.id.startswith(name)]
    if len(found) != 1:
        raise BadValue("id", f"{len(found)} that wait begin so; see: /approve")
    return found[0]


def _approve(chat: Chat, name: str) -> None:
    """What waits for your word; with a number or id, see it whole and approve it."""
    if not name:
        _list_waiting(chat)
        return
    found = _named(chat, name)
    if (found.arguments if isinstance(found, Approval) else found.content) is None:
        raise BadValue("id", "its text was erased, so nobody can see what it would do; /reject it")
    chat.print(_whole(chat.agent, found))
    if not chat.terminal.confirm("approve this?"):
        chat.print("it still waits; to end it: /reject")
    elif isinstance(found, Approval):
        _decide(chat, found, True)
        chat.print(f"approved; {found.tool} may be called so once: ask for it again")
    else:
        from ..amend import approve
        from ..app import authorizer

        governed = cast("Charter", chat.agent.charter)
        done = approve(chat.agent.store, governed, _decision(chat, found), authorize=authorizer(governed))
        chat.print(f"applied: {found.place.layer_id} is at version {done.version}")


def _reject(chat: Chat, name: str) -> None:
    """Say no to one of them, by its number or id."""
    if not name:
        raise BadValue("id", "name one of those that wait; see: /approve")
    found = _named(chat, name)
    if isinstance(found, Approval):
        _decide(chat, found, False)
    else:
        from ..amend import reject

        reject(chat.agent.store, _decision(chat, found))
    chat.print(f"rejected: {found.id}")


def _decide(chat: Chat, found: Approval, yes: bool) -> None:
    from .control import decide_call

    decide_call(
        chat.agent.store, found, yes, by=chat.terminal.by, at_ns=chat.agent.clock(), seen=found.sha256
    )  # fmt: skip


def _decision(chat: Chat, found: Proposal) -> Any:
    from ..core.records import Decision

    return Decision(found.id, found.sha256, chat.terminal.by, chat.agent.clock())


def _list_waiting(chat: Chat) -> None:
    chat.listed = waiting(chat.agent)
    for number, one in enumerate(chat.listed, 1):
        if isinstance(one, Approval):
            said = f"call of {one.tool} for {one.user or one.agent}: {one_line(one.arguments or 'erased', 80)}"
        else:
            said = f"{one.place.layer_id}@{one.base_version} by {one.by.mark} {one_line(one.reason, 80)}"
        chat.print(f"{number:>3}  {one.id}  {said}")
    chat.print("approve or reject one by its number: /approve 1" if chat.listed else "nothing waits")


def _whole(agent: Agent, found: Waiting) -> str:
    """Everything a person decides about."""
    if isinstance(found, Approval):
        return f"{found.tool}\n{pretty(found.arguments or '')}"
    head = agent.store.head(found.place)
    before = head.content.splitlines() if head else []
    return "\n".join(difflib.unified_diff(before, (found.content or "").splitlines(), "now", "proposed", lineterm=""))


def _help(chat: Chat, _: str) -> None:
    """This list."""
    for name, command in COMMANDS.items():
        chat.print(f"  /{name:<13} {command.__doc__}")
    chat.print("  Ctrl-C stops an answer, Ctrl-D ends the chat; a space before a slash sends it as a message")


def _quit(chat: Chat, _: str) -> None:
    """End the chat."""


COMMANDS: Final[Mapping[str, Callable[[Chat, str], None]]] = {
    "layers": _layers,
    "show": _show,
    "manifest": _manifest,
    "why": _why,
    "memory": _memory,
    "instructions": _instructions,
    "approve": _approve,
    "reject": _reject,
    "new": _new,
    "help": _help,
    "quit": _quit,
}
