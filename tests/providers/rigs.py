"""Every provider with something behind it that does what it is told: five over a socket, and the scripted one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from charter.core.dialogue import Reply
from charter.core.errors import (
    ProviderAuth,
    ProviderDown,
    ProviderError,
    ProviderNonsense,
    ProviderOverflow,
    ProviderRate,
    ProviderRefused,
)
from charter.core.ports import Provider, Request
from charter.providers.anthropic import AnthropicMessages
from charter.providers.completion import Completion
from charter.providers.ollama import Ollama
from charter.providers.openai_chat import OpenAIChat
from charter.providers.openai_responses import OpenAIResponses
from charter.testing import WAIT_SECONDS, CutOff, Fault, Rig, ScriptedProvider

from .stub import Stub

MAKERS: Final[Mapping[str, Callable[..., Any]]] = {
    "openai": OpenAIChat,
    "openai-responses": OpenAIResponses,
    "anthropic": AnthropicMessages,
    "ollama": Ollama,
    "completion": Completion,
}
ROOTS: Final = {"openai": "/v1", "openai-responses": "/v1", "completion": "/v1"}


class SocketRig:
    """A real provider, its official client, and a server on a socket."""

    def __init__(self, dialect: str, **given: Any) -> None:
        self.stub = Stub(dialect)
        root = f"{self.stub.url}{ROOTS.get(dialect, '')}"
        self.made = MAKERS[dialect]("m-1", base_url=root, **{"api_key": "sk-test", **given})
        self.provider: Provider = self.made
        self.tells_cached = dialect != "ollama"
        self.patience = 10.0

    def answer(self, *answers: Reply | Fault) -> None:
        self.stub.answers[:] = answers

    def asked(self) -> Sequence[Mapping[str, Any]]:
        return [json.loads(body) for body in self.stub.bodies]

    def left(self) -> bool:
        return self.stub.hung_up.wait(self.patience)

    def close(self) -> None:
        self.made.close()
        self.stub.close()


_RAISED: Final[Mapping[str, ProviderError]] = {
    "wrong key": ProviderAuth("scripted", "the key is wrong", "set it"),
    "forbidden": ProviderAuth("scripted", "not allowed", "ask"),
    "too many": ProviderRate("scripted", "too many", "wait", retry_after=WAIT_SECONDS),
    "no credit": ProviderRate("scripted", "no credit left", "add some"),
    "too long": ProviderOverflow("scripted", "too long", "shorten it"),
    "bad request": ProviderRefused("scripted", "refused", "change it"),
    "broken": ProviderDown("scripted", "broken", "wait"),
    "overloaded": ProviderDown("scripted", "overloaded", "wait"),
    "slow": ProviderDown("scripted", "slow", "wait"),
    "gone": ProviderDown("scripted", "gone", "wait"),
}


class ScriptedRig:
    """The scripted provider; what a server would do is what its script says."""

    tells_cached = True

    def __init__(self, dialect: str) -> None:
        self._next: list[Reply | Fault] = []
        self.made = ScriptedProvider([self._line] * 99, dialect=dialect, native_tools=dialect != "completion")
        self.provider: Provider = self.made

    def _line(self, request: Request) -> Any:
        answer = self._next.pop(0)
        if isinstance(answer, Reply):
            return answer
        if answer == "endless":
            return tuple(["on and on "] * 9)
        nonsense = ProviderNonsense("scripted", "half an answer", "try again")
        return _RAISED.get(answer) or CutOff(("so far ", "and then"), nonsense)

    def answer(self, *answers: Reply | Fault) -> None:
        self._next[:] = answers

    def asked(self) -> Sequence[Mapping[str, Any]]:
        return [dict(payload) for payload in self.made.payloads]

    def left(self) -> bool:
        return True  # there is no connection to close

    def close(self) -> None:
        self.made.close()


RIGS: Final[dict[str, Callable[[], Rig]]] = {
    **{dialect: lambda dialect=dialect: SocketRig(dialect) for dialect in MAKERS},  # type: ignore[misc]
    **{f"scripted-{dialect}": lambda dialect=dialect: ScriptedRig(dialect) for dialect in MAKERS},  # type: ignore[misc]
}
