"""charter telegram: a bot for one agent, and who may write to it; its token is in no command line, log or error."""

from __future__ import annotations

import os
import secrets
import signal
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer

from ..core.errors import BadValue, ConfigError
from .common import Database, Json, at, opened, print_json

if TYPE_CHECKING:
    import socket

    from ..channels.telegram import Desk, Telegram, Wire
    from ..core.served import Peer
    from ..house import House

app = typer.Typer(help="A Telegram bot, and who may write to it.", rich_markup_mode=None)

TOKEN_FILE: Final = "telegram.token"
API_VARIABLE: Final = "CHARTER_TELEGRAM_API"
PORT: Final = 8443


class Hooked(NamedTuple):
    """Where Telegram delivers, the path of it, and the socket that is behind it."""

    url: str
    path: str
    place: socket.socket


AgentName = Annotated[str, typer.Option("--agent", help="The agent that answers.")]


# ── running ───────────────────────────────────────────────────────────────────────────────────────────────────────


@app.callback(invoke_without_command=True)
def begin(context: typer.Context) -> None:
    """A Telegram bot, and who may write to it; without a command it runs."""
    if context.invoked_subcommand is None:
        run()


@app.command()
def run(
    agent: AgentName = "assistant",
    model: Annotated[str, typer.Option("--model", help="The model; see: charter model.")] = "",
    webhook: Annotated[str, typer.Option("--webhook", help="Have Telegram deliver to https://host/path.")] = "",
    address: Annotated[str, typer.Option("--address", help="With --webhook: where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="With --webhook: the port to listen on.")] = PORT,
    database: Database = "",
) -> None:
    """Answer on Telegram until Ctrl-C. The token: CHARTER_TELEGRAM_TOKEN, or the file telegram.token in its home."""
    import asyncio

    from ..channels.telegram import Wire
    from ..channels.telegram_hook import listening, path_of
    from ..channels.telegram_wire import API, checked_api
    from ..house import open_house

    charters = _charters(agent)
    path = path_of(webhook) if webhook else ""
    wire = Wire(bot_token(), api=checked_api(os.environ.get(API_VARIABLE, "") or API))
    hooked = Hooked(webhook, path, listening(address, port)) if webhook else None
    with open_house(database=database, model=model, charters=charters) as house:
        asyncio.run(answer_until_stopped(desk(house, agent), wire, hooked))
    typer.echo("stopped; what waits is answered at the next start")


def _charters(agent: str) -> tuple[str, ...]:
    """What to open so that this agent is served: its charter alone, or all of config.toml, which names it."""
    from ..core.errors import UnknownAgent
    from ..house import wanted

    rows = wanted()
    if agent not in rows:
        raise UnknownAgent("agent", agent, tuple(rows))
    return (agent,) if rows[agent].charter == agent and not rows[agent].world else ()


def bot_token() -> str:
    """The bot's token, from where only its owner can read it."""
    from .. import home
    from ..channels.telegram_wire import TOKEN_VARIABLE, checked_token

    if named := os.environ.get(TOKEN_VARIABLE, ""):
        return checked_token(named.strip(), TOKEN_VARIABLE)
    path = home.home() / TOKEN_FILE
    try:
        return checked_token(home.read_private(path).decode("utf-8", "replace").strip(), str(path))
    except FileNotFoundError:
        raise ConfigError(
            TOKEN_VARIABLE, f"no bot's token; ask @BotFather for one, and put it there or into {path} (chmod 600)"
        ) from None


def desk(house: House, name: str) -> Desk:
    """What the bot of one agent needs of this house."""
    from ..channels.telegram import Desk
    from ..turn import code_of

    agent = house.agent(name)
    return Desk(
        agent.name, house.store,
        ask=lambda incoming, watch, approver: house.ask(name, incoming, watch, approver=approver),
        code_of=code_of, note=agent.note, clock=agent.clock,
    )  # fmt: skip


async def answer_until_stopped(desk: Desk, wire: Wire, hooked: Hooked | None = None) -> None:
    """The life of a bot: it asks for messages, or is handed them where a webhook is; Ctrl-C ends it."""
    from ..channels.telegram import CHANNEL, Telegram
    from ..channels.telegram_hook import Hook, serving

    bot = Telegram(desk, wire)
    _stop_on_signals(bot)
    secret = secrets.token_urlsafe(32)
    try:
        if name := await bot.opened(url=hooked.url if hooked else "", secret=secret):
            typer.echo(_greeting(desk.agent, name, len(desk.store.peers(desk.agent, CHANNEL))))
            hook = Hook(bot, path=hooked.path, secret=secret) if hooked else None
            await bot.run(serving(hook, hooked.place) if hook and hooked else None)
    finally:
        await bot.close()
        if hooked:
            hooked.place.close()


def _greeting(agent: str, name: str, known: int) -> str:
    who = f"{known} paired" if known else f"nobody is paired yet: charter telegram pair --agent {agent} --user NAME"
    return f"{agent} answers as @{name} on Telegram; {who}. Ctrl-C stops it."


def _stop_on_signals(bot: Telegram) -> None:
    """The first Ctrl-C ends it in order; a second one at once, which loses nothing either."""
    import asyncio

    loop = asyncio.get_running_loop()

    def stop() -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        bot.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)


# ── who may write ─────────────────────────────────────────────────────────────────────────────────────────────────


@app.command()
def pair(
    user: Annotated[str, typer.Option("--user", help="Who they will be for the agent: their memory, their settings.")],
    agent: AgentName = "assistant",
    database: Database = "",
    as_json: Json = False,
) -> None:
    """Make a code for one person: whoever sends it to the bot within 15 minutes is this user from then on."""
    from ..app import now_ns, operator
    from ..channels.telegram_door import CODE_MINUTES, code_hash, new_code
    from ..channels.telegram_lanes import CHANNEL

    code, now = new_code(), now_ns()
    expires = now + CODE_MINUTES * 60 * 10**9
    with opened(database) as store:
        store.add_pairing(
            code_hash(code), agent=agent, channel=CHANNEL, user=user, by=operator(), at_ns=now, expires_at_ns=expires
        )
    if as_json:
        print_json({"code": code, "agent": agent, "user": user, "expires": at(expires)})
        return
    typer.echo(f"{code}\n")
    typer.echo(f"Send this to the bot of {agent} by {at(expires)}; who does is {user} there. It works once.")


@app.command("list")
def list_peers(
    agent: Annotated[str, typer.Option("--agent", help="Of this agent; all when left out.")] = "",
    database: Database = "",
    as_json: Json = False,
) -> None:
    """List who may write: their chat, and which user they are."""
    from ..channels.telegram_lanes import CHANNEL

    with opened(database) as store:
        found = store.peers(agent, CHANNEL)
    if as_json:
        print_json([_row(one) for one in found])
        return
    for one in found:
        typer.echo(f"{one.agent}  {one.peer}  {one.user}  since {at(one.at_ns)}, by {one.by}")
    if not found:
        typer.echo("nobody may write; let one in with: charter telegram pair --user NAME")


def _row(one: Peer) -> dict[str, str]:
    return {"agent": one.agent, "chat": one.peer, "user": one.user, "by": one.by, "at": at(one.at_ns)}


@app.command()
def remove(
    chat: Annotated[str, typer.Argument(help="The chat, or the user all of whose chats are meant.")],
    agent: AgentName = "assistant",
    database: Database = "",
    as_json: Json = False,
) -> None:
    """Make somebody a stranger again: nothing of theirs is answered, and nothing more is sent to them."""
    from ..channels.telegram_lanes import CHANNEL

    with opened(database) as store:
        found = [one for one in store.peers(agent, CHANNEL) if chat in (one.peer, one.user)]
        if not found:
            raise BadValue("chat", "nobody of this chat or name is paired; see: charter telegram list")
        gone = [store.remove_peer(agent, CHANNEL, one.peer) for one in found]
    if as_json:
        print_json([_row(one) for one in gone])
        return
    for one in gone:
        typer.echo(f"removed: chat {one.peer}, who was {one.user}")
