"""Every place where outside text, or a project's, enters a prompt, and what is promised there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Final, Literal, NamedTuple

from charter.core import text
from charter.core.errors import CharterError
from charter.core.payload import spoken_message
from charter.core.ports import ToolSpec

from . import makers
from .oracle import MARKER, Form, Rules, Shape, escapes, escapes_normalised


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
        except makers.NotHere:
            return Outcome("not here")
        except CharterError as error:
            return Outcome("refused", (type(error).__name__,))
        except Exception as error:
            return Outcome("escaped", (f"{type(error).__name__} instead of a prompt or a typed error",))
        blank = self.rules.expect is not None and self.rules.expect(value) == ""
        if blank and prompt == self.make(""):
            return Outcome("contained")
        if blank and not self.rules.quarantine:
            return Outcome("escaped", ("an empty value changed the prompt",))
        problems = escapes(prompt, self.shape, value)
        return Outcome("escaped" if problems else "contained", tuple(problems))

    def judge_normalised(self, value: str) -> list[str]:
        """What appears when the prompt is normalised by its reader."""
        return escapes_normalised(self.make(value), self.shape)


# ── what must be read back ───────────────────────────────────────────────────────────────────────────────────────────


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


# ── the slots ────────────────────────────────────────────────────────────────────────────────────────────────────────


SENTENCE: Final = Rules("line", one_line)
TOOL_NAME: Final = Rules("line", as_is, quoted_if=", :", opens=True)


def _messages() -> Iterator[Slot]:
    yield Slot("contract.user_input", makers.user_input, Rules("block", said))
    dialects = ("openai", "openai-responses", "anthropic", "ollama", "completion")
    for name in ("contract", "assistant", "workspace", "gateway"):
        for dialect in dialects if name in ("contract", "assistant") else ("openai", "completion"):
            form: Form = "block" if name == "contract" or dialect == "completion" else "spoken"
            yield Slot(f"{name}.payload.{dialect}", partial(makers.payload, name, dialect), Rules(form, said))


# ── sovereign ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _sovereign() -> Iterator[Slot]:
    preview, shown = Rules("quoted", as_is, limit=140), Rules("quoted", as_is, limit=220)
    who = Rules("line", sender, limit=80)
    yield Slot("sovereign.inbox.sender", partial(makers.scene, field="sender", staged=False), who, room=80)
    yield Slot("sovereign.inbox.body", partial(makers.scene, field="body", staged=False), preview, room=140)
    yield Slot("sovereign.staged.sender", partial(makers.scene, field="sender"), who, room=80)
    yield Slot("sovereign.staged.body", partial(makers.scene, field="body"), preview, room=140)
    yield Slot("sovereign.history.sender", partial(makers.scene, field="sender", history=True), who, room=80)
    yield Slot("sovereign.history.body", partial(makers.scene, field="said", history=True), shown, room=220)
    yield Slot("sovereign.history.reply", partial(makers.scene, field="replied", history=True), shown, room=220)
    compact = partial(makers.scene, field="sender", history=True, mode="compact")
    yield Slot("sovereign.compact.sender", compact, who, room=80)
    yield Slot("sovereign.memory.text", partial(makers.scene, field="note"), Rules("quoted", as_is), room=500)
    yield Slot("sovereign.memory.day", partial(makers.scene, field="day"), Rules("line", as_is))
    yield Slot("sovereign.tool.name", partial(makers.sovereign_tool, 2), TOOL_NAME)
    yield Slot("sovereign.tool.name_alone", partial(makers.sovereign_tool, None), TOOL_NAME)
    yield Slot("sovereign.tool.description", makers.sovereign_tool_description, Rules("absent"))
    for key in ("base_wallet", "eth_balance", "state"):
        yield Slot(f"sovereign.vitals.{key}", partial(makers.vital, key), Rules("line", as_is))
    yield Slot("sovereign.soul", partial(makers.soul, "full"), Rules("line", one_line), room=64)
    yield Slot("sovereign.soul_in_a_line", partial(makers.soul, "compact"), Rules("line", one_line), room=64)
    yield Slot("sovereign.skill.name", partial(makers.enabled_skill, 0), Rules("line", one_line))
    yield Slot("sovereign.skill.instructions", partial(makers.enabled_skill, 1), Rules("line", one_line))
    yield Slot("sovereign.amended_line", makers.amended_line, Rules("line", stripped, free=True), room=160)
    yield Slot("sovereign.dynamic_context.sender", partial(makers.dynamic_context, "sender"), who, room=80)
    yield Slot("sovereign.dynamic_context.body", partial(makers.dynamic_context, "body"), preview, room=140)


# ── workspace ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _settled_name(value: str) -> str:
    """S2-05: a name that is no printable line gives way to the folder's."""
    name = value.strip()
    return name if name and name.isprintable() else "tides"


SKILL_TEXT: Final = Rules("line", one_line, quarantine=True)


NOTICE: Final = Rules("line", around=("(", ")"))  # a name inside a sentence of ours, encoded with it


def _workspaces() -> Iterator[Slot]:
    yield Slot("workspace.memory.text", partial(makers.workspace_memory, "text"), Rules("quoted", as_is), room=500)
    yield Slot("workspace.memory.day", partial(makers.workspace_memory, "day"), Rules("line", as_is))
    yield Slot("workspace.skill.name", partial(makers.workspace_skill, "name"), Rules("line", one_line))
    yield Slot("workspace.skill.description", partial(makers.workspace_skill, "description"), SKILL_TEXT)
    yield Slot("workspace.model", makers.workspace_model, Rules("line", as_is))
    yield Slot("workspace.agent.model", partial(makers.workspace, field="model"), Rules("line", as_is))
    yield Slot("workspace.agent.id", partial(makers.workspace, field="id"), Rules("line", as_is), picky=True)
    yield Slot("workspace.agent.name", partial(makers.workspace, field="name"), Rules("absent"))
    yield Slot(
        "workspace.disk.skill.name",
        lambda v: makers.workspace_on_disk(makers.skill_file("name", v)),
        Rules("line", lambda v: one_line(_settled_name(v))),
        disk=True,
        room=1000,
    )
    yield Slot(
        "workspace.disk.skill.description",
        lambda v: makers.workspace_on_disk(makers.skill_file("description", v)),
        SKILL_TEXT,
        disk=True,
        room=1000,
    )
    yield Slot("workspace.disk.notice", lambda v: makers.workspace_on_disk(makers.named_folder(v)), NOTICE, disk=True)


# ── gateway ──────────────────────────────────────────────────────────────────────────────────────────────────────────


HOST_KEYS: Final = (
    "host", "os", "arch", "shell", "provider", "model", "session", "sudo_non_interactive", "timezone",
    "accept_language", "location",
)  # fmt: skip


SANDBOX_KEYS: Final = ("enabled", "mode", "backend", "scope", "image", "workspace_mount", "network")


TITLES: Final = frozenset(
    ("soul", "project context", "runtime", "available skills", "workspace files", "long-term memory", "available tools",
     "how to call tools", "guidelines", "agents.md", "tools.md")
)  # fmt: skip


def _gateways() -> Iterator[Slot]:
    text = Rules("line", stripped)
    yield from (Slot(f"gateway.host.{key}", partial(makers.host, key), text) for key in HOST_KEYS)
    yield from (Slot(f"gateway.sandbox.{key}", partial(makers.sandbox, key), text) for key in SANDBOX_KEYS)
    facts, request = ("timezone", "location", "accept_language"), ("session", "provider", "model")
    yield from (Slot(f"gateway.facts.{key}", partial(makers.fact, key), text) for key in facts)
    yield from (Slot(f"gateway.request.{key}", partial(makers.request, key), text) for key in request)
    name = replace(TOOL_NAME, titles=TITLES)
    yield Slot("gateway.native.name", partial(makers.tool_in_gateway, True, "name"), name)
    yield Slot("gateway.native.name_alone", lambda v: makers.gateway({}, tool=ToolSpec(v)), name)
    described = Rules("line", one_line, limit=160)
    yield Slot("gateway.native.description", partial(makers.tool_in_gateway, True, "description"), described, room=160)
    yield Slot("gateway.fallback.name", partial(makers.tool_in_gateway, False, "name"), name)
    yield Slot("gateway.fallback.description", partial(makers.tool_in_gateway, False, "description"), SENTENCE)
    for place, schema in (("schema", makers.parameters), ("schema_name", makers.named_parameters)):
        yield Slot(f"gateway.fallback.{place}", partial(makers.schema, schema), Rules("json", schema))
    for field in ("name", "path", "source"):
        yield Slot(f"gateway.skill.{field}", partial(makers.xml_skill, field), Rules("xml", one_line))
    yield Slot("gateway.skill.description", partial(makers.xml_skill, "description"), replace(SKILL_TEXT, form="xml"))
    yield from _gateway_files()


def _gateway_files() -> Iterator[Slot]:
    for file, fields in (("IDENTITY.md", ("name", "emoji", "creature", "vibe")), ("USER.md", ("name", "location"))):
        for field in fields:
            rules = Rules("line", stripped if field == "location" else one_line)
            yield Slot(f"gateway.disk.{file}.{field}", partial(makers.data_file, file, field), rules, disk=True)
    yield Slot(
        "gateway.disk.skill.description",
        lambda v: makers.skills_on_disk(makers.skill_file("description", v)),
        replace(SKILL_TEXT, form="xml"),
        disk=True,
        room=1000,
    )
    yield Slot("gateway.disk.skill.notice", lambda v: makers.skills_on_disk(makers.named_folder(v)), NOTICE, disk=True)
    yield Slot("gateway.disk.project.path", makers.rule_file, Rules("line", around=("### ", "")), disk=True)
    yield Slot("gateway.disk.project.notice", makers.refused_rule_file, NOTICE, disk=True)


# ── assistant ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _assistants() -> Iterator[Slot]:
    for field in ("name", "description", "vibe"):
        yield Slot(f"assistant.identity.{field}", partial(makers.identity, field), Rules("line", stripped))
    yield Slot("assistant.instructions", makers.instructions, Rules("block", stripped), room=2000)
    yield Slot("assistant.stored_instructions", makers.stored_instructions, Rules("block", stripped), room=2000)
    for index, place in ((0, "first"), (2, "last")):
        yield Slot(f"assistant.tool.{place}", partial(makers.tool_names, index), TOOL_NAME)
    yield Slot("assistant.memory", makers.assistant_note, Rules("absent"))


# ── the encoder by itself, one slot for each form ────────────────────────────────────────────────────────────────────


def _encoders() -> Iterator[Slot]:
    yield Slot("encoder.line", partial(makers.encoded, text.Form.LINE, False), Rules("line", as_is))
    yield Slot("encoder.line_start", partial(makers.encoded, text.Form.LINE, True), Rules("line", as_is))
    yield Slot("encoder.quoted", partial(makers.encoded, text.Form.QUOTED, False), Rules("quoted", as_is))
    yield Slot("encoder.xml", partial(makers.encoded, text.Form.XML, True), Rules("xml", as_is))
    yield Slot("encoder.block", partial(makers.encoded, text.Form.BLOCK, True), Rules("block", as_is))
    as_json = Rules("json", lambda value: {"key": value}, around=("key: ", " end"))
    yield Slot("encoder.json", makers.encoded_json, as_json)
    yield Slot("encoder.spoken", lambda value: f"above\n{spoken_message(value).text}\nbelow", Rules("spoken", as_is))


ENCODERS: Final = tuple(_encoders())


SLOTS: Final = (*_messages(), *_sovereign(), *_workspaces(), *_gateways(), *_assistants())
