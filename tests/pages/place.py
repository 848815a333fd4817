"""A place to look at: a real server in a thread over agents that say what the test says, and people who come in."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from http.client import HTTPConnection, HTTPResponse
from queue import SimpleQueue
from typing import Any, Final

import uvicorn

from charter.acting import InTurn
from charter.agent import Agent
from charter.amend import seed_all
from charter.app import toolbox
from charter.core.dialogue import Reply, ToolCall, Usage
from charter.core.policy import Actor, ToolClass, ToolPolicy
from charter.core.ports import Request, Tool, ToolSpec
from charter.core.records import Author
from charter.core.served import Role
from charter.folder import load
from charter.house import House
from charter.stores.memory import MemoryStore
from charter.stores.store import SqlStore
from charter.testing import ScriptedProvider
from charter.web.outside import Limits
from charter.web.server import Settings, make_app
from charter.web.who import COOKIE, Door, make_token

KEY: Final = b"k" * 32
PATIENCE_SECONDS: Final = 20
Tools = Callable[[InTurn], Mapping[str, Tool]]
Notes = SimpleQueue[tuple[str, Mapping[str, Any]]]


class Place:
    """A server that runs, and the house behind it."""

    def __init__(self, house: House, address: str, notes: Notes) -> None:
        self.house = house
        self._notes = notes
        self.store = house.store
        self.address = address
        self.operator = Author(Actor.OPERATOR, "mo")
        self._open: list[HTTPConnection] = []

    def token(self, name: str, role: Role = "user", **bound: Any) -> str:
        return make_token(self.store, role, name, **bound)[1]

    def ended(self) -> tuple[str, str]:
        """How the next turn ended, once it has: what the log says, and its code."""
        event, fields = self._notes.get(timeout=PATIENCE_SECONDS)
        return event, fields["code"]

    def cookie(self, name: str, role: Role = "user") -> str:
        """What a browser of this person would send."""
        return f"{COOKIE}={Door(self.store, KEY).cookie(self.token(name, role))}"

    def ask(self, method: str, path: str, body: str = "", headers: Mapping[str, str] | None = None) -> HTTPResponse:
        """One plain request, as a program makes it."""
        connection = HTTPConnection(self.address.removeprefix("http://"), timeout=PATIENCE_SECONDS)
        self._open.append(connection)
        connection.request(method, path, body.encode(), dict(headers or {}))
        return connection.getresponse()

    def close(self) -> None:
        for connection in self._open:
            connection.close()


class Halting(ScriptedProvider):
    """A model that says the first half, waits for the test to let it go on, and says the rest."""

    def __init__(self, first: str, rest: str) -> None:
        super().__init__([])
        self._first, self._rest = first, rest
        self.go_on = threading.Event()

    def converse(self, request: Request, hear: Callable[[str], None]) -> Reply:
        hear(self._first)
        assert self.go_on.wait(PATIENCE_SECONDS)
        hear(self._rest)
        return said(self._first + self._rest)


class Endless(ScriptedProvider):
    """A model that goes on until nobody wants to hear it any more."""

    def __init__(self, first: str) -> None:
        super().__init__([])
        self._first = first
        self._never = threading.Event()

    def converse(self, request: Request, hear: Callable[[str], None]) -> Reply:
        hear(self._first)
        for number in range(100 * PATIENCE_SECONDS):
            self._never.wait(0.01)
            hear(f"Wave {number}. ")
        raise AssertionError("nobody stopped it")


def said(text: str, *calls: ToolCall) -> Reply:
    """A reply of the model, with what it cost."""
    return Reply(text, calls, Usage(100, 10, 60), "tools" if calls else "end")


def call(name: str, arguments: str = "{}") -> ToolCall:
    return ToolCall("call_1", name, arguments)


def sending(done: list[Any]) -> Tools:
    """A tool that needs a person's yes, and keeps what it was called with."""

    def send(arguments: Mapping[str, Any]) -> str:
        done.append(arguments)
        return "sent"

    tool = Tool(ToolSpec("send_mail", "Sends a mail."), ToolPolicy("send_mail", ToolClass.EXECUTE), send, inside=True)
    return lambda _: {"send_mail": tool}


def agents(
    store: SqlStore, provider: Any, names: tuple[str, ...], tools: Tools | None, notes: Notes
) -> dict[str, Agent]:
    found = {}
    for name in names:
        charter = replace(load(name), key=KEY)
        seed_all(store, charter, name, 1_772_116_200 * 10**9)
        found[name] = Agent(
            name, charter, store, provider, tools=tools or toolbox(charter), key=KEY, note=lambda *note: notes.put(note)
        )
    return found


@contextmanager
def serving(
    *script: Any,
    names: tuple[str, ...] = ("assistant",),
    tools: Tools | None = None,
    provider: Any = None,
    secure: bool = False,
) -> Iterator[Place]:
    """The pages over agents of these charters; all of them speak from one script."""
    with MemoryStore() as store, socket.socket() as listening:
        notes: Notes = SimpleQueue()
        house = House(store, agents(store, provider or ScriptedProvider(script), names, tools, notes))
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        settings = Settings(hosts=frozenset({address}), limits=Limits(per_second=1000, burst=1000), secure=secure)
        config = uvicorn.Config(
            make_app(house, KEY, settings), log_config=None, access_log=False, timeout_graceful_shutdown=1
        )
        server = uvicorn.Server(config)
        running = threading.Thread(target=server.run, args=([listening],))
        running.start()
        place = Place(house, f"http://{address}", notes)
        try:
            yield place
        finally:
            place.close()
            server.should_exit = True
            running.join()
            house.close()
