"""Prompts with one value in one place: a function for each place, from the value to the prompt."""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, Final

from charter.core import text
from charter.core.assemble import Assembly
from charter.core.incoming import Incoming
from charter.core.ports import ToolSpec
from charter.core.records import ConversationEntry, InboxMessage, Memory
from charter.core.text import Piece, Structure, encode
from charter.folder import Charter, load
from charter.interfaces import assemble_system_prompt, build_dynamic_context
from charter.sources import AgentDef, World
from charter.sources.skills import Skill
from charter.sources.vitals import StaticVitals

from .oracle import MARKER
from .raw_store import RawStore

AT: Final = "2026-02-26T14:30:00+00:00"


AGENT: Final = "automaton"


class NotHere(Exception):
    """This value cannot exist in this slot (a file name with a slash, say)."""


@cache
def charter(name: str) -> Charter:
    """A charter without a limit on the whole, so that a long value pushes nothing out (see test_truncation)."""
    loaded = load(name)
    return replace(loaded, limits=replace(loaded.limits, max_chars=None, max_tokens=None))


def assembled(name: str, world: World, mode: str | None = None, **incoming: Any) -> Assembly:
    request = Incoming(**{"channel": "web", "at": AT, **incoming})
    return charter(name).assemble(request, mode=mode, world=world)


# ── contract and the messages of payloads ────────────────────────────────────────────────────────────────────────────


def user_input(value: str) -> str:
    return assembled("contract", World(), text=value).reveal()


def payload(name: str, dialect: str, value: str) -> str:
    """System text, a line of ours, and what the user role carries; a completion is one text."""
    body = assembled(name, _QUIET[name], text=value).payload(dialect)
    if dialect == "completion":
        return str(body["prompt"])
    system = body.get("instructions") or body.get("system") or body["messages"][0]["content"]
    user = body["input"] if dialect == "openai-responses" else body["messages"]
    content = user[-1]["content"] if user else ""
    return f"{_joined(system)}\n=== user ===\n{_joined(content)}\n=== end ==="


def _joined(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


_QUIET: Final[Mapping[str, World]] = {
    "contract": World(),
    "sovereign": World(),
    "workspace": World(),
    "gateway": World(tools=(), given={"no_host": True}),
    "assistant": World(),
}


# ── sovereign ────────────────────────────────────────────────────────────────────────────────────────────────────────


PING: Final = ToolSpec("ping", left=2)


@dataclass(frozen=True)
class Scene:
    """One turn of the sovereign charter with everything in it; a slot replaces one value."""

    sender: str = "bob"
    body: str = "hello"
    said: str = "earlier"
    replied: str = "noted"
    note: str = "a fact"
    day: str = "2026-01-02"
    tool: ToolSpec = PING
    staged: bool = True
    history: bool = False
    mode: str = "full"
    given: tuple[tuple[str, Any], ...] = ()
    vitals: tuple[tuple[str, str], ...] = ()

    def prompt(self) -> str:
        store = RawStore()
        store.remember(AGENT, "", self.note, day=self.day)
        if self.staged:
            store.stage(AGENT, InboxMessage("1", self.sender, self.body))
        if self.history:
            store.append_conversation(AGENT, self.sender, ConversationEntry("1", self.said, self.replied, "t", 1))
        world = World(
            store=store,
            tools=(self.tool,),
            given=dict(self.given),
            vitals=StaticVitals(dict(self.vitals)) if self.vitals else None,
        )
        message = {} if self.staged else {"sender": self.sender, "text": self.body}
        return assembled("sovereign", world, self.mode, channel="inbox", **message).reveal()


def scene(value: str, field: str, **fixed: Any) -> str:
    return Scene(**{**fixed, field: value}).prompt()


def vital(key: str, value: str) -> str:
    return Scene(vitals=((key, value),)).prompt()


def soul(mode: str, value: str) -> str:
    return Scene(given=(("soul", value),), mode=mode).prompt()


def sovereign_tool(left: int | None, value: str) -> str:
    return Scene(tool=ToolSpec(value, left=left)).prompt()


def sovereign_tool_description(value: str) -> str:
    return Scene(tool=ToolSpec("ping", value)).prompt()


def enabled_skill(part: int, value: str) -> str:
    pair = ["watch-tides", "Read the table first."]
    pair[part] = value
    return Scene(given=(("skills", (tuple(pair),)),)).prompt()


def amended_line(value: str) -> str:
    """A rewritten layer in compact mode: its own first sentence and its version."""
    store = RawStore()
    store.put_layer(AGENT, "memory", "old", by="init")
    store.put_layer(AGENT, "memory", value, by="turn-1")
    return assembled("sovereign", World(store=store), "compact", channel="inbox").reveal()


def dynamic_context(field: str, value: str) -> str:
    told = {"sender": "bob", "body": "hello", field: value}
    message = InboxMessage("1", told["sender"], told["body"])
    return assemble_system_prompt(build_dynamic_context({"turn_number": 1}, [message], at=AT))


# ── workspace ────────────────────────────────────────────────────────────────────────────────────────────────────────


class Recalling(RawStore):
    """A store in which every question recalls the one note it holds."""

    def __init__(self, note: Memory) -> None:
        super().__init__()
        self._note = note

    def recall(self, agent: str, user: str, query: str, limit: int) -> list[Memory]:
        return [self._note]


@cache
def scratch() -> Path:
    folder = tempfile.mkdtemp(prefix="charter-slots-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


@cache
def _bare_workspace() -> Path:
    (scratch() / "bare").mkdir()
    return scratch() / "bare"


_PICKLE: Final = AgentDef("pickle", "You are Pickle.", model="claude-sonnet-4", allow_skills=True)


def workspace(value: str, field: str = "", store: RawStore | None = None, **given: Any) -> str:
    changed: dict[str, Any] = {field: value} if field else {}
    agent = replace(_PICKLE, **changed)
    world = World(workspace=_bare_workspace(), store=store, given={"skills": (), "agent": agent, **given})
    return assembled("workspace", world, text="what do you know?", user="u").reveal()


def workspace_memory(field: str, value: str) -> str:
    note = replace(Memory("1", "likes tea", "2026-01-02"), **{field: value})  # type: ignore[arg-type]
    return workspace("", store=Recalling(note))


def workspace_model(value: str) -> str:
    world = World(workspace=_bare_workspace(), given={"skills": (), "agent": replace(_PICKLE, model=None)})
    return assembled("workspace", world, model=value).reveal()


def _skill(field: str, value: str) -> Skill:
    changed: dict[str, Any] = {field: value}
    return replace(Skill("tides", "Reads tide tables.", "", "skills/tides"), **changed)


def workspace_skill(field: str, value: str) -> str:
    return workspace("", skills=(_skill(field, value),))


def _yaml(value: str) -> str:
    """A YAML string in which every character is an escape; what YAML refuses cannot be there."""
    if re.search("[\x00\ud800-\udfff]", value):
        raise NotHere
    return '"' + "".join(f"\\U{ord(character):08x}" for character in value) + '"'


_numbers = count()


def _folder() -> Path:
    """An empty folder of its own, the one before it removed."""
    number = next(_numbers)
    shutil.rmtree(scratch() / f"w{os.getpid()}-{number - 1}", ignore_errors=True)
    made = scratch() / f"w{os.getpid()}-{number}"
    made.mkdir()
    return made


def skill_file(field: str, value: str) -> Path:
    folder = _folder()
    values = {"name": "tides", "description": "Reads tide tables.", field: value}
    lines = [f"{key}: {_yaml(text)}" for key, text in values.items()]
    (folder / "skills/tides").mkdir(parents=True)
    (folder / "skills/tides/SKILL.md").write_text("\n".join(["---", *lines, "---", "Body."]))
    return folder


def named_folder(value: str) -> Path:
    """A skills folder with a folder of this name that holds no skill."""
    folder = _folder()
    (folder / "skills").mkdir()
    _create(folder / "skills", value, Path.mkdir)
    return folder


def _create(parent: Path, name: str, create: Callable[[Path], object]) -> None:
    if not name or "/" in name or "\x00" in name or name.startswith("."):
        raise NotHere
    try:
        create(parent / name)
    except (OSError, UnicodeEncodeError):
        raise NotHere from None


def workspace_on_disk(folder: Path) -> str:
    world = World(workspace=folder, given={"agent": _PICKLE})
    return assembled("workspace", world, text="what do you know?", user="u").reveal()


# ── gateway ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def gateway(given: Mapping[str, Any], *, native: bool = True, tool: ToolSpec | None = None, **incoming: Any) -> str:
    world = World(tools=(tool,) if tool else (), native_tools=native, given={"no_host": True, **given})
    return assembled("gateway", world, **incoming).reveal()


def host(key: str, value: str) -> str:
    return gateway({"runtime": {"os": "linux", "arch": "x86_64", key: value}})


def sandbox(key: str, value: str) -> str:
    return gateway({"runtime": {"os": "linux", "sandbox": {"mode": "all", "scope": "session", key: value}}})


def fact(key: str, value: str) -> str:
    return gateway({}, facts={"location": "Porto", key: value})


def request(key: str, value: str) -> str:
    changed: dict[str, Any] = {key: value}
    return gateway({}, **changed)


def tool_in_gateway(native: bool, field: str, value: str) -> str:
    changed: dict[str, Any] = {field: value}
    return gateway({}, native=native, tool=replace(ToolSpec("exec", "Runs a command."), **changed))


def parameters(value: str) -> dict[str, Any]:
    return {"properties": {"command": {"description": value, "enum": [value, "b"], "type": "string"}}, "type": "object"}


def named_parameters(value: str) -> dict[str, Any]:
    return {"properties": {value: {"type": "string"}}, "required": [value], "type": "object"}


def schema(make: Callable[[str], dict[str, Any]], value: str) -> str:
    """The line `Parameters: …`; the marker may stand in it several times, so the oracle is given the schema alone."""
    prompt = gateway({}, native=False, tool=ToolSpec("exec", "Runs a command.", make(value)))
    benign = gateway({}, native=False, tool=ToolSpec("exec", "Runs a command.", make("benign")))
    before, _, after = benign.partition(_BENIGN_SCHEMAS[make])
    assert after, "the benign schema stands as it was given"
    if not prompt.startswith(before) or not prompt.endswith(after):
        return prompt
    return MARKER if value == MARKER else prompt[len(before) : len(prompt) - len(after)]


_BENIGN_SCHEMAS: Final[Mapping[Callable[[str], dict[str, Any]], str]] = {
    parameters: '{"properties": {"command": {"description": "benign", "enum": ["benign", "b"], "type": "string"}}, '
    '"type": "object"}',
    named_parameters: '{"properties": {"benign": {"type": "string"}}, "required": ["benign"], "type": "object"}',
}


def xml_skill(field: str, value: str) -> str:
    return gateway({"skills": (_skill(field, value),)})


def data_file(name: str, field: str, value: str) -> str:
    folder = _folder()
    fields = {"name": "Juniper"} if name == "IDENTITY.md" and field == "emoji" else {}
    lines = [f"{key}: {_yaml(text)}" for key, text in {**fields, field: value}.items()]
    (folder / name).write_text("\n".join(["---", *lines, "---", ""]))
    (folder / "SOUL.md").write_text("Be kind.")
    world = World(data_dir=folder, tools=(), given={"no_host": True, "runtime": {"os": "linux"}})
    return assembled("gateway", world).reveal()


def _gateway_on_disk(**world: Any) -> str:
    return assembled("gateway", World(tools=(), given={"no_host": True}, **world)).reveal()


def skills_on_disk(folder: Path) -> str:
    return _gateway_on_disk(skills_dir=folder / "skills")


def rule_file(value: str) -> str:
    """A project whose rules hold a file of this name, which stands in a heading."""
    if re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\\]", value):
        raise NotHere
    return _project(f"{value}.md")


def refused_rule_file(value: str) -> str:
    """A file of a name that may not be read: it stands in a notice."""
    return _project(f"\x01{value}.md")


def _project(name: str) -> str:
    folder = _folder()
    (folder / ".claude/rules").mkdir(parents=True)
    _create(folder / ".claude/rules", name, lambda path: path.write_text("Be brief."))
    return _gateway_on_disk(project_dir=folder, project_root=folder)


# ── assistant ────────────────────────────────────────────────────────────────────────────────────────────────────────


def identity(field: str, value: str) -> str:
    identity = {"name": "Wren", "description": "an office assistant", "vibe": "Calm.", field: value}
    return assembled("assistant", World(given={"identity": identity})).reveal()


def instructions(value: str) -> str:
    return assembled("assistant", World(given={"instructions": value})).reveal()


def stored_instructions(value: str) -> str:
    store = RawStore()
    store.set_instructions("assistant", "u", value)
    return assembled("assistant", World(store=store), user="u").reveal()


def tool_names(index: int, value: str) -> str:
    tools = [ToolSpec("read_memory"), ToolSpec("save_memory"), ToolSpec("ping")]
    tools[index] = ToolSpec(value)
    return assembled("assistant", World(tools=tools)).reveal()


def assistant_note(value: str) -> str:
    store = RawStore()
    store.remember("assistant", "u", value, day="2026-01-02")
    return assembled("assistant", World(store=store), user="u", text="hello").reveal()


def with_timezone(value: str) -> str:
    """A time zone is no slot: what is not one is an error."""
    return assembled("assistant", World(given={"timezone": value})).reveal()


# ── the encoder by itself ────────────────────────────────────────────────────────────────────────────────────────────


_NO_HEADINGS: Final = Structure([], "\n\n")


def encoded(form: text.Form, start: bool, value: str) -> str:
    shown = encode(Piece(value, "test", form=form), _NO_HEADINGS, frozenset({"slot"} if start else ()), "slot")
    return f"above\n{shown}\nbelow" if start else f"above\nkey: {shown} end\nbelow"


def encoded_json(value: str) -> str:
    return encoded(text.Form.JSON, False, json.dumps({"key": value}, ensure_ascii=False))
