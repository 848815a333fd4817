"""A house with a server over it, and people who call it; everything in this process, nothing on a wire."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import httpx2
from fastapi import FastAPI

from charter.app import make_agent
from charter.core.dialogue import Reply, ToolCall, Usage
from charter.core.policy import ToolClass, ToolPolicy
from charter.core.ports import Tool, ToolSpec
from charter.core.served import Role
from charter.folder import BUILT_IN, load
from charter.house import House
from charter.stores.memory import MemoryStore
from charter.testing.scripted import Script, ScriptedProvider
from charter.web.outside import Limits
from charter.web.server import Settings, make_app
from charter.web.who import make_token

HOST = "house.test"
QUICK = Limits(per_second=1e9, burst=10**9)
SETTINGS = Settings(hosts=frozenset({HOST}), limits=QUICK)
ORIGIN = {"origin": f"http://{HOST}"}


def house(*script: Script, charters: Sequence[str] = ("assistant",), tools: Sequence[Any] = ()) -> House:
    """A house whose agents say what the script says, and then that it is sunny."""
    store = MemoryStore()
    provider = ScriptedProvider([*script, *["It is sunny."] * 5000])
    return House(
        store, {name: make_agent(load(name), store, provider, name=name, tools=list(tools)) for name in charters}
    )


def whole_house() -> House:
    return house(charters=BUILT_IN)


def model(found: House) -> ScriptedProvider:
    """The model of a house."""
    provider: Any = next(iter(found.agents.values())).provider
    return provider  # type: ignore[no-any-return]


def calls(name: str, arguments: str = "{}", text: str = "") -> Reply:
    """A reply that calls a tool."""
    return Reply(text, (ToolCall("call_1", name, arguments),), Usage(100, 5), "tools")


def tool(name: str, answer: Callable[[Mapping[str, Any]], str], kind: ToolClass = ToolClass.EXECUTE) -> Tool:
    return Tool(ToolSpec(name, "A tool."), ToolPolicy(name, kind), answer, inside=True)


class Person:
    """Someone with a token, or with none."""

    def __init__(self, app: FastAPI, secret: str = "", headers: Mapping[str, str] | None = None) -> None:
        self.app = app
        self.secret = secret
        self.headers = {**({"authorization": f"Bearer {secret}"} if secret else {}), **(headers or {})}

    def __call__(self, method: str, path: str, body: Any = None, /, **more: Any) -> httpx2.Response:
        """One request; a body that is bytes is sent as it is."""
        return asyncio.run(self.asking(method, path, body, **more))

    async def asking(self, method: str, path: str, body: Any = None, /, **more: Any) -> httpx2.Response:
        headers = {**self.headers, **more.pop("headers", {})}
        said = {"content": body} if isinstance(body, bytes) else {"json": body} if body is not None else {}
        transport = httpx2.ASGITransport(app=self.app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url=f"http://{HOST}", trust_env=False) as client:
            return await client.request(method, path, headers=headers, **said, **more)

    def get(self, path: str, **more: Any) -> Any:
        """The JSON of an answer that must be good."""
        answer = self("GET", path, **more)
        assert answer.status_code == 200, (path, answer.status_code, answer.text)
        return answer.json()


def served(found: House, settings: Settings = SETTINGS) -> FastAPI:
    return make_app(found, b"a key of tests, thirty-two bytes", settings)


def person(app: FastAPI, role: Role, name: str, **more: Any) -> Person:
    """Someone with a new token of this role."""
    return Person(app, make_token(app.state.house.store, role, name, **more)[1])


def code(answer: httpx2.Response) -> tuple[int, str]:
    """Status and code of an error, whose body is in the one form."""
    body = answer.json()
    assert set(body) == {"error"}
    assert set(body["error"]) == {"code", "message"}
    assert body["error"]["message"]
    return answer.status_code, body["error"]["code"]


# ── a stream, event by event ──────────────────────────────────────────────────────────────────────────────────────


class Listening:
    """One streaming request: its events as they leave, and a client that can go away."""

    def __init__(self, who: Person, path: str, body: Any, accept: str = "text/event-stream") -> None:
        self._said: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._heard: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        headers = {"host": HOST, "accept": accept, "content-type": "application/json", **who.headers}
        scope = {
            "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1", "method": "POST",
            "scheme": "http", "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": ("127.0.0.1", 1), "server": (HOST, 80),
        }  # fmt: skip
        self._said.put_nowait({"type": "http.request", "body": json.dumps(body).encode(), "more_body": False})
        self._task = asyncio.create_task(who.app(scope, self._said.get, self._heard.put))  # type: ignore[arg-type]

    async def start(self) -> int:
        """The status of the answer."""
        return int((await self._heard.get())["status"])

    async def event(self) -> tuple[str, dict[str, Any]]:
        """The next event: its kind and its data."""
        return _parsed((await self._heard.get())["body"].decode())

    async def ping(self) -> bytes:
        """What is sent while nothing is said."""
        return bytes((await self._heard.get())["body"])

    async def rest(self) -> list[tuple[str, dict[str, Any]]]:
        """Every event up to the end of the answer."""
        found = []
        while (message := await self._heard.get()).get("more_body"):
            if not message["body"].startswith(b":"):
                found.append(_parsed(message["body"].decode()))
        await self._task
        return found

    def go_away(self) -> None:
        self._said.put_nowait({"type": "http.disconnect"})


def events(answer: httpx2.Response) -> list[tuple[str, dict[str, Any]]]:
    """The events of a stream that came whole."""
    return [_parsed(chunk) for chunk in answer.text.removesuffix("\n\n").split("\n\n")]


def _parsed(chunk: str) -> tuple[str, dict[str, Any]]:
    kind, data = chunk.removesuffix("\n\n").split("\n")
    return kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))
