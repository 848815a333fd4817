"""What is sent at random, by someone with a token, never breaks the server, and every answer is as the OpenAPI says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from charter.core.policy import Actor
from charter.core.records import Author
from charter.web import api
from charter.web.server import Settings

from .rooms import QUICK, Person, house, person, served

pytestmark = pytest.mark.requirement("S0-10", "S0-11", "S0-17", "N-11", "N-19")

MO = Author(Actor.OPERATOR, "mo")
CHECKS = [
    not_a_server_error, status_code_conformance, content_type_conformance, response_headers_conformance,
    response_schema_conformance,
]  # fmt: skip
BOUNDED = settings(
    max_examples=20,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.generate,),
)


def operations() -> list[tuple[str, str]]:
    """Method and path of every route."""
    bare = FastAPI()
    bare.include_router(api.router)
    return [(method, path) for path, row in bare.openapi()["paths"].items() for method in row]


@dataclass
class Scene:
    """A served house in which something happened, its people, and names of what is there."""

    app: FastAPI
    people: dict[str, Person]
    names: dict[str, Any]
    schema: Any

    def begin(self) -> None:
        """Whatever the route before did, the agents may act."""
        for name in ("assistant", "sovereign"):
            store = self.app.state.house.store
            store.resume(name, by=MO, at_ns=1)
            store.limit(name, by=MO, at_ns=1, tokens_per_day=None, turns_per_day=None)


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    found = house(charters=("assistant", "sovereign"))
    app = served(found, Settings(limits=QUICK))
    people = {"operator": person(app, "operator", "mo"), "user": person(app, "user", "mira")}
    turn = people["user"]("POST", "/api/agents/assistant/chat", {"text": "Hello", "id": "one"}).json()["turn"]
    soul = people["operator"](
        "PUT", "/api/agents/assistant/layers/soul", {"content": "Be kind.", "expected_version": 0}
    )
    assert soul.status_code == 200
    body = {"layer": "soul", "content": "Be calm.", "expected_version": 1}
    proposal = people["operator"]("POST", "/api/agents/assistant/proposals", body).json()["proposal"]
    names = {
        "agent": "assistant", "layer": "soul", "version": 1, "sender": "mira", "turn": turn, "first": turn,
        "second": turn, "proposal": proposal, "message": "one",
    }  # fmt: skip
    yield Scene(app, people, names, schemathesis.openapi.from_asgi("/api/openapi.json", app))
    found.close()


def hammer(scene: Scene, method: str, path: str, role: str) -> None:
    """Sends what fits the schema and what does not, to what is there and to what is not, and looks at every answer."""
    operation = scene.schema[path][method.upper()]
    modes = [operation.as_strategy(mode) for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)]
    who = scene.people[role]
    scene.begin()

    @BOUNDED
    @given(case=st.one_of(modes), there=st.booleans())
    def sent(case: Any, there: bool) -> None:
        if there:
            case.path_parameters = {name: scene.names.get(name, value) for name, value in case.path_parameters.items()}
        answer = case.call(headers=who.headers)
        case.validate_response(answer, checks=CHECKS)

    sent()


@pytest.mark.parametrize("role", ["operator", "user"])
@pytest.mark.parametrize(("method", "path"), operations())
def test_nothing_that_is_sent_breaks_the_server_or_the_contract(
    scene: Scene, method: str, path: str, role: str
) -> None:  # fmt: skip
    hammer(scene, method, path, role)


def test_a_route_that_breaks_would_be_found(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("charter.web.api.own.now_ns", lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        hammer(scene, "put", "/api/agents/{agent}/instructions", "user")


def test_an_answer_that_is_not_as_declared_would_be_found(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("charter.web.api.preview.msgspec.json.encode", lambda _: b'{"mode": 5}')
    with pytest.raises((FailureGroup, Failure)):
        hammer(scene, "post", "/api/agents/{agent}/preview", "operator")
