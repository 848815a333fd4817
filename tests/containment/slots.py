"""Every place where outside text, or a project's, enters a prompt: a function from a value to the prompt with it."""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import count
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from charter.core import text
from charter.core.assemble import Assembly
from charter.core.errors import CharterError
from charter.core.incoming import Incoming
from charter.core.payload import spoken_message
from charter.core.ports import ConversationEntry, InboxMessage, Memory, ToolSpec
from charter.core.text import Piece, Structure, encode
from charter.folder import Charter, load
from charter.interfaces import assemble_system_prompt, build_dynamic_context
from charter.sources import AgentDef, World
from charter.sources.skills import Skill
from charter.sources.vitals import StaticVitals
from charter.stores.memory import MemoryStore

from .oracle import MARKER, Form, Rules, Shape, escapes, escapes_normalised

AT: Final = "2026-02-26T14:30:00+00:00"
AGENT: Final = "automaton"


class NotHere(Exception):
    """This value cannot exist in this slot (a file name with a slash, say)."""


class Outcome(NamedTuple):
    """Contained, refused with a typed error, escaped with the ways it did, or impossible here."""

    what: Literal["contained", "refused", "escaped", "not here"]
    why: tuple[str, ...] = ()


@dataclass(frozen=True)
class Slot:
    """One place for a value; `make` gives the prompt, or raises what the engine raises."""

    name: str
    make: Callable[[str], str]
    rules: Rules
    disk: bool = False
    room: int | None = None  # what fits without a cut
    picky: bool = False  # takes only ids, so that most values are refused

    def __str__(self) -> str:
        return self.name

    @cached_property
    def shape(self) -> Shape:
        return Shape.of(self.make(MARKER), self.rules)

    def judge(self, value: str) -> Outcome:
        """What becomes of this value here."""
        try:
            prompt = self.make(value)
        except NotHere:
            return Outcome("not here")
        except CharterError as error:
            return Outcome("refused", (type(error).__name__,))
        except Exception as error:
            return Outcome("escaped", (f"{type(error).__name__} instead of a prompt or a typed error",))
        if self.rules.expect is not None and self.rules.expect(value) == "":
            problems = [] if prompt == self.make("") else ["an empty value changed the prompt"]
        else:
            problems = escapes(prompt, self.shape, value)
        return Outcome("escaped" if problems else "contained", tuple(problems))

    def judge_normalised(self, value: str) -> list[str]:
        """What appears when the prompt is normalised by its reader."""
        return escapes_normalised(self.make(value), self.shape)


# ── what must be read back ────────────────────────────────────────────────────────────────────────────────────────


def as_is(value: str) -> str:
    return value


def said(value: str) -> str:
    """A message that says nothing is none."""
    return value if value.strip() else ""


def stripped(value: str) -> str:
    return value.strip()


def one_line(value: str) -> str:
    return " ".join(value.split())


def sender(value: str) -> str:
    """S0-12: trimmed; an Ethereum address in lower case."""
    key = value.strip()
    return key.lower() if re.fullmatch("0[xX][0-9a-fA-F]{40}", key) else key


# ── the charters ──────────────────────────────────────────────────────────────────────────────────────────────────


@cache
def charter(name: str) -> Charter:
    """A charter without a limit on the whole, so that a long value pushes nothing out (see test_truncation)."""
    loaded = load(name)
    return replace(loaded, limits=replace(loaded.limits, max_chars=None, max_tokens=None))


def assembled(name: str, world: World, mode: str | None = None, **incoming: Any) -> Assembly:
    request = Incoming(**{"channel": "web", "at": AT, **incoming})
    return charter(name).assemble(request, mode=mode, world=world)


# ── contract and the messages of payloads ─────────────────────────────────────────────────────────────────────────


def _user_input(value: str) -> str:
    return assembled("contract", World(), text=value).reveal()


def _payload(name: str, dialect: str, value: str) -> str:
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


def _messages() -> Iterator[Slot]:
    yield Slot("contract.user_input", _user_input, Rules("block", said))
    dialects = ("openai", "openai-responses", "anthropic", "ollama", "completion")
    for name in ("contract", "assistant", "workspace", "gateway"):
        for dialect in dialects if name in ("contract", "assistant") else ("openai", "completion"):
            form: Form = "block" if name == "contract" or dialect == "completion" else "spoken"
            yield Slot(f"{name}.payload.{dialect}", partial(_payload, name, dialect), Rules(form, said))


# ── sovereign ─────────────────────────────────────────────────────────────────────────────────────────────────────


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
        store = MemoryStore()
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


def _scene(value: str, field: str, **fixed: Any) -> str:
    return Scene(**{**fixed, field: value}).prompt()


def _vital(key: str, value: str) -> str:
    return Scene(vitals=((key, value),)).prompt()


def _soul(mode: str, value: str) -> str:
    return Scene(given=(("soul", value),), mode=mode).prompt()


def _sovereign_tool(left: int | None, value: str) -> str:
    return Scene(tool=ToolSpec(value, left=left)).prompt()


def _enabled_skill(part: int, value: str) -> str:
    pair = ["watch-tides", "Read the table first."]
    pair[part] = value
    return Scene(given=(("skills", (tuple(pair),)),)).prompt()


def _amended_line(value: str) -> str:
    """A rewritten layer in compact mode: its own first sentence and its version."""
    store = MemoryStore()
    store.seed_layer(AGENT, "memory", "old")
    store.put_layer(AGENT, "memory", value, by="turn-1")
    return assembled("sovereign", World(store=store), "compact", channel="inbox").reveal()


def _dynamic_context(field: str, value: str) -> str:
    told = {"sender": "bob", "body": "hello", field: value}
    message = InboxMessage("1", told["sender"], told["body"])
    return assemble_system_prompt(build_dynamic_context({"turn_number": 1}, [message], at=AT))


def _sovereign() -> Iterator[Slot]:
    preview, shown = Rules("quoted", as_is, limit=140), Rules("quoted", as_is, limit=220)
    who = Rules("line", sender, limit=80)
    yield Slot("sovereign.inbox.sender", partial(_scene, field="sender", staged=False), who, room=80)
    yield Slot("sovereign.inbox.body", partial(_scene, field="body", staged=False), preview, room=140)
    yield Slot("sovereign.staged.sender", partial(_scene, field="sender"), who, room=80)
    yield Slot("sovereign.staged.body", partial(_scene, field="body"), preview, room=140)
    yield Slot("sovereign.history.sender", partial(_scene, field="sender", history=True), who, room=80)
    yield Slot("sovereign.history.body", partial(_scene, field="said", history=True), shown, room=220)
    yield Slot("sovereign.history.reply", partial(_scene, field="replied", history=True), shown, room=220)
    yield Slot("sovereign.compact.sender", partial(_scene, field="sender", history=True, mode="compact"), who, room=80)
    yield Slot("sovereign.memory.text", partial(_scene, field="note"), Rules("quoted", as_is))
    yield Slot("sovereign.memory.day", partial(_scene, field="day"), Rules("line", as_is))
    yield Slot("sovereign.tool.name", partial(_sovereign_tool, 2), Rules("line", as_is, quoted_if=", :", opens=True))
    yield Slot("sovereign.tool.name_alone", partial(_sovereign_tool, None), Rules("line", as_is, quoted_if=", :"))
    yield Slot("sovereign.tool.description", lambda v: Scene(tool=ToolSpec("ping", v)).prompt(), Rules("absent"))
    for key in ("base_wallet", "eth_balance", "state"):
        yield Slot(f"sovereign.vitals.{key}", partial(_vital, key), Rules("line", as_is))
    yield Slot("sovereign.soul", partial(_soul, "full"), Rules("line", one_line), room=64)
    yield Slot("sovereign.soul_in_a_line", partial(_soul, "compact"), Rules("line", one_line), room=64)
    yield Slot("sovereign.skill.name", partial(_enabled_skill, 0), Rules("line", one_line))
    yield Slot("sovereign.skill.instructions", partial(_enabled_skill, 1), Rules("line", one_line))
    yield Slot("sovereign.amended_line", _amended_line, Rules("line", stripped, free=True), room=160)
    yield Slot("sovereign.dynamic_context.sender", partial(_dynamic_context, "sender"), who, room=80)
    yield Slot("sovereign.dynamic_context.body", partial(_dynamic_context, "body"), preview, room=140)


# ── workspace ─────────────────────────────────────────────────────────────────────────────────────────────────────


class Recalling(MemoryStore):
    """A store in which every question recalls the one note it holds."""

    def __init__(self, note: Memory) -> None:
        super().__init__()
        self._note = note

    def recall(self, agent: str, user: str, query: str, limit: int) -> tuple[Memory, ...]:
        return (self._note,)


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


def _workspace(value: str, field: str = "", store: MemoryStore | None = None, **given: Any) -> str:
    changed: dict[str, Any] = {field: value} if field else {}
    agent = replace(_PICKLE, **changed)
    world = World(workspace=_bare_workspace(), store=store, given={"skills": (), "agent": agent, **given})
    return assembled("workspace", world, text="what do you know?", user="u").reveal()


def _workspace_memory(field: str, value: str) -> str:
    note = Memory(**{"id": "1", "text": "likes tea", "day": "2026-01-02", field: value})
    return _workspace("", store=Recalling(note))


def _workspace_model(value: str) -> str:
    world = World(workspace=_bare_workspace(), given={"skills": (), "agent": replace(_PICKLE, model=None)})
    return assembled("workspace", world, model=value).reveal()


def _skill(field: str, value: str) -> Skill:
    changed: dict[str, Any] = {field: value}
    return replace(Skill("tides", "Reads tide tables.", "", "skills/tides"), **changed)


def _workspace_skill(field: str, value: str) -> str:
    return _workspace("", skills=(_skill(field, value),))


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


def _skill_file(field: str, value: str) -> Path:
    folder = _folder()
    values = {"name": "tides", "description": "Reads tide tables.", field: value}
    lines = [f"{key}: {_yaml(text)}" for key, text in values.items()]
    (folder / "skills/tides").mkdir(parents=True)
    (folder / "skills/tides/SKILL.md").write_text("\n".join(["---", *lines, "---", "Body."]))
    return folder


def _named_folder(value: str) -> Path:
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


def _workspace_on_disk(folder: Path) -> str:
    world = World(workspace=folder, given={"agent": _PICKLE})
    return assembled("workspace", world, text="what do you know?", user="u").reveal()


def _settled_name(value: str) -> str:
    """S2-05: a name that is no printable line gives way to the folder's."""
    name = value.strip()
    return name if name and name.isprintable() else "tides"


SKILL_TEXT: Final = Rules("line", one_line, quarantine=True)
NOTICE: Final = Rules("line", around=("(", ")"))  # a name inside a sentence of ours, encoded with it


def _workspaces() -> Iterator[Slot]:
    yield Slot("workspace.memory.text", partial(_workspace_memory, "text"), Rules("quoted", as_is))
    yield Slot("workspace.memory.day", partial(_workspace_memory, "day"), Rules("line", as_is))
    yield Slot("workspace.skill.name", partial(_workspace_skill, "name"), Rules("line", one_line))
    yield Slot("workspace.skill.description", partial(_workspace_skill, "description"), SKILL_TEXT)
    yield Slot("workspace.model", _workspace_model, Rules("line", as_is))
    yield Slot("workspace.agent.model", partial(_workspace, field="model"), Rules("line", as_is))
    yield Slot("workspace.agent.id", partial(_workspace, field="id"), Rules("line", as_is), picky=True)
    yield Slot("workspace.agent.name", partial(_workspace, field="name"), Rules("absent"))
    yield Slot(
        "workspace.disk.skill.name",
        lambda v: _workspace_on_disk(_skill_file("name", v)),
        Rules("line", lambda v: one_line(_settled_name(v))),
        disk=True,
    )
    yield Slot(
        "workspace.disk.skill.description",
        lambda v: _workspace_on_disk(_skill_file("description", v)),
        SKILL_TEXT,
        disk=True,
    )
    yield Slot("workspace.disk.notice", lambda v: _workspace_on_disk(_named_folder(v)), NOTICE, disk=True)


# ── gateway ───────────────────────────────────────────────────────────────────────────────────────────────────────

HOST_KEYS: Final = (
    "host", "os", "arch", "shell", "provider", "model", "session", "sudo_non_interactive", "timezone",
    "accept_language", "location",
)  # fmt: skip
SANDBOX_KEYS: Final = ("enabled", "mode", "backend", "scope", "image", "workspace_mount", "network")
TITLES: Final = frozenset(
    ("soul", "project context", "runtime", "available skills", "workspace files", "long-term memory", "available tools",
     "how to call tools", "guidelines", "agents.md", "tools.md")
)  # fmt: skip


def _gateway(given: Mapping[str, Any], *, native: bool = True, tool: ToolSpec | None = None, **incoming: Any) -> str:
    world = World(tools=(tool,) if tool else (), native_tools=native, given={"no_host": True, **given})
    return assembled("gateway", world, **incoming).reveal()


def _host(key: str, value: str) -> str:
    return _gateway({"runtime": {"os": "linux", "arch": "x86_64", key: value}})


def _sandbox(key: str, value: str) -> str:
    return _gateway({"runtime": {"os": "linux", "sandbox": {"mode": "all", "scope": "session", key: value}}})


def _fact(key: str, value: str) -> str:
    return _gateway({}, facts={"location": "Porto", key: value})


def _request(key: str, value: str) -> str:
    changed: dict[str, Any] = {key: value}
    return _gateway({}, **changed)


def _tool(native: bool, field: str, value: str) -> str:
    changed: dict[str, Any] = {field: value}
    return _gateway({}, native=native, tool=replace(ToolSpec("exec", "Runs a command."), **changed))


def _parameters(value: str) -> dict[str, Any]:
    return {"properties": {"command": {"description": value, "enum": [value, "b"], "type": "string"}}, "type": "object"}


def _named_parameters(value: str) -> dict[str, Any]:
    return {"properties": {value: {"type": "string"}}, "required": [value], "type": "object"}


def _schema(make: Callable[[str], dict[str, Any]], value: str) -> str:
    """The line `Parameters: …`; the marker may stand in it several times, so the oracle is given the schema alone."""
    prompt = _gateway({}, native=False, tool=ToolSpec("exec", "Runs a command.", make(value)))
    benign = _gateway({}, native=False, tool=ToolSpec("exec", "Runs a command.", make("benign")))
    before, _, after = benign.partition(_BENIGN_SCHEMAS[make])
    assert after, "the benign schema stands as it was given"
    if not prompt.startswith(before) or not prompt.endswith(after):
        return prompt
    return MARKER if value == MARKER else prompt[len(before) : len(prompt) - len(after)]


_BENIGN_SCHEMAS: Final[Mapping[Callable[[str], dict[str, Any]], str]] = {
    _parameters: '{"properties": {"command": {"description": "benign", "enum": ["benign", "b"], "type": "string"}}, '
    '"type": "object"}',
    _named_parameters: '{"properties": {"benign": {"type": "string"}}, "required": ["benign"], "type": "object"}',
}


def _xml_skill(field: str, value: str) -> str:
    return _gateway({"skills": (_skill(field, value),)})


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


def _skills_on_disk(folder: Path) -> str:
    return _gateway_on_disk(skills_dir=folder / "skills")


def _rule_file(value: str) -> str:
    """A project whose rules hold a file of this name, which stands in a heading."""
    if re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\\]", value):
        raise NotHere
    return _project(f"{value}.md")


def _refused_rule_file(value: str) -> str:
    """A file of a name that may not be read: it stands in a notice."""
    return _project(f"\x01{value}.md")


def _project(name: str) -> str:
    folder = _folder()
    (folder / ".claude/rules").mkdir(parents=True)
    _create(folder / ".claude/rules", name, lambda path: path.write_text("Be brief."))
    return _gateway_on_disk(project_dir=folder, project_root=folder)


def _gateways() -> Iterator[Slot]:
    text = Rules("line", stripped)
    yield from (Slot(f"gateway.host.{key}", partial(_host, key), text) for key in HOST_KEYS)
    yield from (Slot(f"gateway.sandbox.{key}", partial(_sandbox, key), text) for key in SANDBOX_KEYS)
    facts, request = ("timezone", "location", "accept_language"), ("session", "provider", "model")
    yield from (Slot(f"gateway.facts.{key}", partial(_fact, key), text) for key in facts)
    yield from (Slot(f"gateway.request.{key}", partial(_request, key), text) for key in request)
    name = Rules("line", as_is, quoted_if=", :", titles=TITLES, opens=True)
    yield Slot("gateway.native.name", partial(_tool, True, "name"), name)
    yield Slot("gateway.native.name_alone", lambda v: _gateway({}, tool=ToolSpec(v)), name)
    described = Rules("line", one_line, limit=160)
    yield Slot("gateway.native.description", partial(_tool, True, "description"), described, room=160)
    yield Slot("gateway.fallback.name", partial(_tool, False, "name"), name)
    yield Slot("gateway.fallback.description", partial(_tool, False, "description"), Rules("line", one_line))
    yield Slot("gateway.fallback.schema", partial(_schema, _parameters), Rules("json", _parameters))
    yield Slot("gateway.fallback.schema_name", partial(_schema, _named_parameters), Rules("json", _named_parameters))
    for field in ("name", "path", "source"):
        yield Slot(f"gateway.skill.{field}", partial(_xml_skill, field), Rules("xml", one_line))
    yield Slot("gateway.skill.description", partial(_xml_skill, "description"), replace(SKILL_TEXT, form="xml"))
    yield from _gateway_files()


def _gateway_files() -> Iterator[Slot]:
    for file, fields in (("IDENTITY.md", ("name", "emoji", "creature", "vibe")), ("USER.md", ("name", "location"))):
        for field in fields:
            rules = Rules("line", stripped if field == "location" else one_line)
            yield Slot(f"gateway.disk.{file}.{field}", partial(data_file, file, field), rules, disk=True)
    yield Slot(
        "gateway.disk.skill.description",
        lambda v: _skills_on_disk(_skill_file("description", v)),
        replace(SKILL_TEXT, form="xml"),
        disk=True,
    )
    yield Slot("gateway.disk.skill.notice", lambda v: _skills_on_disk(_named_folder(v)), NOTICE, disk=True)
    yield Slot("gateway.disk.project.path", _rule_file, Rules("line", around=("### ", "")), disk=True)
    yield Slot("gateway.disk.project.notice", _refused_rule_file, NOTICE, disk=True)


# ── assistant ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _identity(field: str, value: str) -> str:
    identity = {"name": "Wren", "description": "an office assistant", "vibe": "Calm.", field: value}
    return assembled("assistant", World(given={"identity": identity})).reveal()


def _instructions(value: str) -> str:
    return assembled("assistant", World(given={"instructions": value})).reveal()


def _stored_instructions(value: str) -> str:
    store = MemoryStore()
    store.set_instructions("assistant", "u", value)
    return assembled("assistant", World(store=store), user="u").reveal()


def _tool_names(index: int, value: str) -> str:
    tools = [ToolSpec("read_memory"), ToolSpec("save_memory"), ToolSpec("ping")]
    tools[index] = ToolSpec(value)
    return assembled("assistant", World(tools=tools)).reveal()


def _assistant_note(value: str) -> str:
    store = MemoryStore()
    store.remember("assistant", "u", value, day="2026-01-02")
    return assembled("assistant", World(store=store), user="u", text="hello").reveal()


def with_timezone(value: str) -> str:
    """A time zone is no slot: what is not one is an error."""
    return assembled("assistant", World(given={"timezone": value})).reveal()


def _assistants() -> Iterator[Slot]:
    for field in ("name", "description", "vibe"):
        yield Slot(f"assistant.identity.{field}", partial(_identity, field), Rules("line", stripped))
    yield Slot("assistant.instructions", _instructions, Rules("block", stripped), room=2000)
    yield Slot("assistant.stored_instructions", _stored_instructions, Rules("block", stripped), room=2000)
    for index, place in ((0, "first"), (2, "last")):
        rules = Rules("line", as_is, quoted_if=", :", opens=True)
        yield Slot(f"assistant.tool.{place}", partial(_tool_names, index), rules)
    yield Slot("assistant.memory", _assistant_note, Rules("absent"))


# ── the encoder by itself, one slot for each form ─────────────────────────────────────────────────────────────────

_NO_HEADINGS: Final = Structure([], "\n\n")


def _encoded(form: text.Form, start: bool, value: str) -> str:
    shown = encode(Piece(value, "test", form=form), _NO_HEADINGS, frozenset({"slot"} if start else ()), "slot")
    return f"above\n{shown}\nbelow" if start else f"above\nkey: {shown} end\nbelow"


def _encoded_json(value: str) -> str:
    return _encoded(text.Form.JSON, False, json.dumps({"key": value}, ensure_ascii=False))


def _encoders() -> Iterator[Slot]:
    yield Slot("encoder.line", partial(_encoded, text.Form.LINE, False), Rules("line", as_is))
    yield Slot("encoder.line_start", partial(_encoded, text.Form.LINE, True), Rules("line", as_is))
    yield Slot("encoder.quoted", partial(_encoded, text.Form.QUOTED, False), Rules("quoted", as_is))
    yield Slot("encoder.xml", partial(_encoded, text.Form.XML, True), Rules("xml", as_is))
    yield Slot("encoder.block", partial(_encoded, text.Form.BLOCK, True), Rules("block", as_is))
    yield Slot("encoder.json", _encoded_json, Rules("json", lambda value: {"key": value}, around=("key: ", " end")))
    yield Slot("encoder.spoken", lambda value: f"above\n{spoken_message(value).text}\nbelow", Rules("spoken", as_is))


ENCODERS: Final = tuple(_encoders())
SLOTS: Final = (*_messages(), *_sovereign(), *_workspaces(), *_gateways(), *_assistants())
