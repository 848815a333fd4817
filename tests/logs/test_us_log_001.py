"""US-LOG-001: a canary in every layer, message, call, reply and error, and no sink that is not meant to has one.

Logged are hashes, codes and counts; never what a model was told, what a person or a tool said, or a key (S1-07).
"""

from __future__ import annotations

import json
import logging
import urllib.parse
import warnings
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import structlog

from charter import logs
from charter.core.dialogue import Reply, Said, Talk, Usage
from charter.core.errors import CharterError
from charter.core.incoming import Incoming
from charter.course import Course
from charter.folder import BUILT_IN
from charter.providers import quiet
from charter.testing import FAULTS, ScriptedProvider
from charter.turn import take_turn
from providers.rigs import SocketRig

from .canaries import Canaries, cells, told_by
from .scene import MO, Scene, broken, scene, script

LOUD = ("", *quiet.QUIET, "openai._base_client", "anthropic._base_client", "anthropic._response", "httpcore2.http11")
NAMES = {"sender"}
SHOWN = {"sender", "made up"}  # what a repr may show: who someone is, and the name of a tool, even of one made up
WRITTEN = {"file", "stored", "arguments"}
# Every column that is meant to hold text, and whose. What is not here holds none: turn_records above all.
MAY_HOLD: dict[str, dict[str, set[str]]] = {
    "prompt_layers": {"content": WRITTEN},
    "layer_versions": {"content": WRITTEN, "user_id": NAMES, "updated_by": NAMES},
    "proposals": {"content": WRITTEN, "reason": {"reason", "arguments"}, "user_id": NAMES, "proposed_by": NAMES},
    "agent_configurations": {"soul": WRITTEN, "identity": WRITTEN},
    "user_agent_prompt_customizations": {"instructions": WRITTEN, "user_id": NAMES, "updated_by": NAMES},
    "inbox_messages": {"body": {"message"}, "sender": NAMES, "user_id": NAMES},
    "outbox_messages": {"body": {"reply"}, "recipient": NAMES},
    "turn_leases": {"lane": NAMES},
    "conversations": {"sender": NAMES},
    "conversation_entries": {"sender_body": {"message"}, "agent_reply": {"reply"}, "sender": NAMES},
    "memory_owners": {"user_id": NAMES},
    "agent_long_term_memory": {"notes": {"note", "arguments"}, "user_id": NAMES, "said_by": NAMES, "source": NAMES},
    "memory_terms": {"term": {"note", "arguments"}},
    "memory_sources": {"source": NAMES},
    "turn_records": {"sender": NAMES, "user_id": NAMES},
    "tool_approvals": {"arguments": {"arguments"}, "user_id": NAMES},
    "agent_controls": {"reason": {"reason"}},
}


@dataclass
class Sinks:
    """Everything that could tell: loggers, structlog, warnings, the log file, both outputs, errors and reprs."""

    log: Path
    records: list[str] = field(default_factory=list)
    structured: list[str] = field(default_factory=list)
    warned: list[warnings.WarningMessage] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def heard(self, _: Any, __: str, said: Any) -> str:
        self.structured.append(repr(said))
        return ""

    def all(self) -> list[str]:
        file = self.log.read_text() if self.log.exists() else ""
        said = [str(warning.message) for warning in self.warned]
        return [*self.records, *self.structured, *said, *self.printed, *self.errors, file]


class Capturing(logging.Handler):
    def __init__(self, told: list[str]) -> None:
        super().__init__(logging.DEBUG)
        self._told = told

    def emit(self, record: logging.LogRecord) -> None:
        self._told.append(f"{self.format(record)} {record.args} {record.__dict__}")


@contextmanager
def loud(sinks: Sinks, capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """Everything at DEBUG, into sinks that keep it; and as it was before, afterwards."""
    handler, before = Capturing(sinks.records), {}
    for name in LOUD:
        logger = logging.getLogger(name)
        before[name] = (logger.level, logger.disabled, logger.propagate, list(logger.handlers))
        logger.setLevel(logging.DEBUG)
        logger.disabled, logger.propagate = False, True
        logger.addHandler(handler)
    structlog.configure(processors=[sinks.heard])
    logs.start(str(sinks.log), debug=True)
    for name in LOUD[1:]:
        logging.getLogger(name).disabled, logging.getLogger(name).propagate = False, True
    try:
        with warnings.catch_warnings(record=True) as sinks.warned:
            warnings.simplefilter("always")
            yield
    finally:
        logs.stop()
        structlog.reset_defaults()
        for name, (level, disabled, propagate, handlers) in before.items():
            logger = logging.getLogger(name)
            logger.setLevel(level)
            logger.disabled, logger.propagate, logger.handlers[:] = disabled, propagate, handlers
        sinks.printed += [*capfd.readouterr()]


def misplaced(made: Scene) -> list[tuple[str, str, list[str]]]:
    """The columns that hold a canary which is not meant to be there."""
    columns: dict[tuple[str, str], list[object]] = {}
    for table, column, value in cells(made.store):
        columns.setdefault((table, column), []).append(value)
    found = {
        (table, column): made.canaries.kinds_in(*held) - MAY_HOLD.get(table, {}).get(column, set())
        for (table, column), held in columns.items()
    }
    return [(*place, sorted(kinds)) for place, kinds in sorted(found.items()) if kinds]


def values(made: Scene) -> list[str]:
    """What every value of ours says of itself."""
    store, agent = made.store, made.agent
    turns = store.turns(agent.name)
    said = Incoming(text=made.canaries.plant("message"), at=0)
    course = Course(agent, said, "t1", made.person)
    replies = [line for line in script(made.canaries) if isinstance(line, Reply)]
    talk = Talk((Said("user", said.text),), tuple(Said("assistant", reply.text, reply.calls) for reply in replies))
    sender = turns[0].sender
    kept: list[Any] = [
        *replies, talk, said, course, course.acting, *agent.tools(course.acting).values(), *made.said, *turns,
        agent, agent.provider, agent.charter, agent.store, made.person, store.agent_configuration(agent.name),
        *store.approvals(), *store.proposals(), *store.staged(agent.name),
        *store.unsent(agent.name), *(row for turn in turns for row in store.messages_of(agent.name, turn.id)),
        *store.exchanges(agent.name, sender), store.conversation(agent.name, sender), *store.recent(agent.name, "", 50),
        *(row for chain in store.chains() for row in store.log(chain)), getattr(agent.provider, "requests", ()),
        *(outcome.turn.assembly for outcome in made.said if outcome.turn), *agent.charter.stack.layers,  # type: ignore[attr-defined]
    ]  # fmt: skip
    return [text for value in kept for text in (repr(value), str(value))]


# ── the story ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("S1-07", "S1-10", "N-01")
@pytest.mark.parametrize("name", BUILT_IN)
def test_us_log_001_no_sink_tells_what_was_said_in_any_turn_of_any_charter(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    sinks, canaries = Sinks(tmp_path / "log"), Canaries()
    provider = ScriptedProvider(script(canaries))
    with loud(sinks, capfd):
        made = scene(name, tmp_path, provider, canaries=canaries, warn=sinks.printed.append)
        first, _, _ = made.say(), made.say("message:second"), made.say("message:third")
        (waits,) = [one for one in made.store.approvals(state="open") if one.tool == "send"]
        made.store.decide_approval(waits.id, waits.sha256, "approved", by=MO, at_ns=made.agent.clock())
        made.say("message:last")
        made.agent, whole = replace(made.agent, tools=broken(canaries)), made.agent
        made.say("message:broken")
        made.agent = whole
    assert [outcome.turn is not None for outcome in made.said] == [True, False, False, True, False]
    assert [outcome.code for outcome in made.said[2:]] == ["TURN_CANCELLED", "OK", "INTERNAL_ERROR"]
    assert first.turn is not None
    assert [part.section.layer.id for part in first.turn.assembly.parts if not canaries.found_in(part.text)] == []
    assert canaries.kinds_in(provider.payloads) >= {"file", "message", "arguments", "result", "reply"}
    assert canaries.found_in(*sinks.all(), *(outcome.problem for outcome in made.said)) == set()
    assert canaries.kinds_in(*values(made)) <= SHOWN
    assert misplaced(made) == []
    events = [json.loads(line)["event"] for line in sinks.log.read_text().splitlines()]
    assert [event for event in events if event != "error"] == [
        "turn", "turn failed", "turn failed", "turn", "turn failed",
    ]  # fmt: skip
    assert events[-1] == "error"


@pytest.mark.requirement("S1-07", "S1-10")
@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_us_log_001_no_sink_tells_what_a_server_said_nor_the_key(
    dialect: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    sinks, canaries, key = Sinks(tmp_path / "log"), Canaries(), "sk-" + "ghjkmnpq" * 4
    rig = SocketRig(dialect, api_key=key)
    try:
        with loud(sinks, capfd):
            made = scene("assistant", tmp_path, rig.provider, canaries=canaries, warn=sinks.printed.append)
            words = Reply(f"I say {canaries.plant('reply')}.", usage=Usage(300, 5))
            body = json.dumps({"error": {"message": canaries.plant("provider error:body")}}).encode()
            page = f"<html>{canaries.plant('provider error:page')}</html>".encode()
            answers = [(400, "application/json", body), (500, "text/html", page), (200, "text/html", page)]
            faults = [fault for fault in FAULTS if fault not in ("slow", "endless")]
            for one in (*answers, *faults):
                rig.stub.answers[:] = [one]
                with pytest.raises(CharterError) as caught:
                    take_turn(made.agent, Incoming(sender="zoe", text=f"Hello {canaries.plant('message')}."))
                sinks.errors += told_by(caught.value)
            rig.stub.answers[:] = [words]
            assert made.say().code == "OK"
        assert canaries.kinds_in(*rig.stub.bodies) >= {"file", "stored", "message"}
        assert canaries.found_in(*sinks.all()) == set()
        assert canaries.kinds_in(*values(made)) <= SHOWN
        assert key not in "".join([*sinks.all(), *values(made), *map(repr, cells(made.store))])
        assert "canary-7f3a" not in "".join(sinks.all())
        assert misplaced(made) == []
    finally:
        rig.close()


# ── the twins: what is planted where it must not be is found ──────────────────────────────────────────────────────

FORMS: dict[str, Callable[[str], str]] = {
    "plain": lambda text: text,
    "as JSON": json.dumps,
    "as a repr": lambda text: repr({"said": text}),
    "as ASCII": ascii,
    "as bytes": lambda text: repr(text.encode()),
    "in a URL": urllib.parse.quote,
    "in Base64": lambda text: b64encode(f"say {text}.".encode()).decode(),
    "in Base64, one later": lambda text: b64encode(f"says {text}.".encode()).decode(),
    "in hex": lambda text: text.encode().hex(),
    "in capitals": str.upper,
    "cut": lambda text: text[:16],
}


@pytest.mark.requirement("S1-07")
@pytest.mark.parametrize("form", FORMS)
def test_the_search_finds_a_canary_in_every_form_and_none_where_there_is_none(form: str) -> None:
    canaries = Canaries()
    text = canaries.plant("message")
    assert canaries.found_in(f"x {FORMS[form](text)} y") == {"message"}
    canaries.plant("reply")
    assert canaries.found_in(f"x {FORMS[form]('a plain word that nobody planted')} y") == set()


@pytest.mark.requirement("S1-07")
def test_a_text_under_a_name_the_log_allows_is_found_in_the_file(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    sinks, canaries = Sinks(tmp_path / "log"), Canaries()
    with loud(sinks, capfd):
        logs.note("turn", {"agent": canaries.plant("message")[:14]})
    assert canaries.found_in(sinks.log.read_text()) == {"message"}
    assert canaries.found_in(*sinks.printed) == {"message"}


@pytest.mark.requirement("S1-07")
def test_a_text_in_an_error_or_behind_one_is_found() -> None:
    canaries = Canaries()

    def fail() -> None:
        try:
            raise KeyError(canaries.plant("message"))
        except KeyError:
            raise CharterError("nothing to see here") from None

    with pytest.raises(CharterError) as caught:
        fail()
    assert canaries.found_in(str(caught.value), repr(caught.value)) == set()
    assert canaries.found_in(*told_by(caught.value)) == {"message"}


@pytest.mark.requirement("S1-07")
def test_a_text_in_a_column_that_is_not_meant_to_hold_it_is_found(tmp_path: Path) -> None:
    canaries = Canaries()
    provider = ScriptedProvider(script(canaries))
    made = scene("assistant", tmp_path, provider, canaries=canaries, warn=lambda _: None)
    made.say()
    assert misplaced(made) == []
    with made.store.db.writing() as run:
        run("UPDATE turn_records SET detail = ?", json.dumps({"said": made.canaries.plant("message")}))
        run("UPDATE outbox_messages SET body = ?", made.canaries.plant("file:layers/soul.md"))
    assert misplaced(made) == [("outbox_messages", "body", ["file"]), ("turn_records", "detail", ["message"])]


@pytest.mark.requirement("S1-07")
def test_a_client_that_was_not_silenced_is_found_to_log_the_prompt(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("charter.providers.line.hush", "charter.providers.quiet.hush"):
        monkeypatch.setattr(place, lambda: None)
    sinks, rig = Sinks(tmp_path / "log"), SocketRig("anthropic")
    try:
        with loud(sinks, capfd):
            made = scene("assistant", tmp_path, rig.provider, canaries=Canaries(), warn=lambda _: None)
            rig.stub.answers[:] = [Reply("Hi.")]
            made.say()
        assert made.canaries.kinds_in(*sinks.records) >= {"file", "message"}
    finally:
        rig.close()


@pytest.mark.requirement("S1-07")
def test_every_column_that_may_hold_text_is_one_of_the_schema() -> None:
    from charter.stores.tables import schema_tables

    tables = schema_tables()
    assert [(t, c) for t, columns in MAY_HOLD.items() for c in columns if c not in tables[t]] == []
