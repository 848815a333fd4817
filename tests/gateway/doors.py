"""What the tests of the gateway share: a house behind a real server on loopback, and the official clients of it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import anthropic
import openai
import uvicorn
from starlette.applications import Starlette

from charter.agent import Agent
from charter.app import toolbox
from charter.core.dialogue import Reply, ToolCall, Usage
from charter.folder import load
from charter.house import House
from charter.stores.memory import MemoryStore
from charter.testing import ScriptedProvider
from charter.web.gateway import routes
from charter.web.who import Door, make_token

KEY = b"k" * 32
CHARTERS = ("sovereign", "contract", "workspace", "gateway", "assistant")
WEATHER: dict[str, Any] = {
    "name": "weather",
    "description": "The weather of a town.",
    "parameters": {"type": "object", "properties": {"town": {"type": "string"}}, "required": ["town"]},
}
OPENAI_TOOL: Any = {"type": "function", "function": WEATHER}
RESPONSES_TOOL: Any = {"type": "function", "strict": False, **WEATHER}
ANTHROPIC_TOOL: Any = {
    "name": "weather", "description": WEATHER["description"], "input_schema": WEATHER["parameters"],
}  # fmt: skip


def said(text: str, *calls: ToolCall, stop: Any = "") -> Reply:
    """A reply of the model, with what it cost."""
    return Reply(text, calls, Usage(100, 10, 60), stop or ("tools" if calls else "end"))


def asks_weather(number: int = 1) -> ToolCall:
    return ToolCall(f"call_{number}", "weather", '{"town": "Porto"}')


def house_of(*script: Any, names: tuple[str, ...] = ("assistant",), **options: Any) -> House:
    """A house of agents of shipped charters, all with this one scripted model."""
    provider = ScriptedProvider(script, **{"model": "scripted-70b", **options})
    store = MemoryStore()
    charters = {name: replace(load(name), key=KEY) for name in names}
    agents = {
        name: Agent(name, charter, store, provider, tools=toolbox(charter), key=KEY)
        for name, charter in charters.items()
    }
    return House(store, agents)


@dataclass(frozen=True)
class Served:
    """A server that listens, and the tokens of those who may come in."""

    base: str
    house: House
    key: Callable[..., str]

    @property
    def bodies(self) -> list[Mapping[str, Any]]:
        """What the model was sent."""
        provider: Any = next(iter(self.house.agents.values())).provider
        return list(provider.payloads)

    def openai(self, role: str = "user", name: str = "ana", **headers: str) -> openai.OpenAI:
        return openai.OpenAI(
            api_key=self.key(role, name), base_url=f"{self.base}/v1", max_retries=0, default_headers=_named(headers)
        )

    def anthropic(self, role: str = "user", name: str = "ana", **headers: str) -> anthropic.Anthropic:
        return anthropic.Anthropic(
            api_key=self.key(role, name), base_url=self.base, max_retries=0, default_headers=_named(headers)
        )


def _named(headers: Mapping[str, str]) -> dict[str, str]:
    return {f"X-Charter-{name.title()}": value for name, value in headers.items()}


@contextmanager
def served(house: House, *, patience_s: float = 5.0) -> Iterator[Served]:
    """The gateway of this house on a port of its own, until the test is over."""
    door = Door(house.store, KEY)
    app = Starlette(routes=routes(house, door.who, threads=8, patience_s=patience_s))
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off", access_log=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]})
    thread.start()

    def key(role: str, name: str, **more: str) -> str:
        return make_token(house.store, role, name, **more)[1]  # type: ignore[arg-type]

    try:
        yield Served(f"http://127.0.0.1:{sock.getsockname()[1]}", house, key)
    finally:
        server.should_exit = True
        thread.join()
        sock.close()
        house.close()
