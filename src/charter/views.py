"""A view: what would the model see for this charter, agent, channel, sender, provider and time (N-11)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .core.errors import BadValue, ConfigError, FileMissing

if TYPE_CHECKING:  # the parts are imported where they are used, so that `charter --help` stays quick
    from .core.assemble import Assembly
    from .core.incoming import Incoming
    from .core.ports import ToolSpec
    from .folder import Charter
    from .sources import World
    from .stores.store import SqlStore


def _option(help_text: str, default: Any = "") -> Any:
    return field(default=default, metadata={"help": help_text})


@dataclass(frozen=True, slots=True)
class View:
    """Everything a preview can be asked with; every field is also an option of `charter show`."""

    target: str
    mode: str = _option("A mode of the charter (full, compact, minimal …).")
    agent: str = _option("Which agent.")
    channel: str = _option("Where the message comes from.", "terminal")
    sender: str = _option("Who sent the message.")
    user: str = _option("Whose instructions and memory.")
    message: str = _option("The message being answered.")
    at: str = _option("The time of the message, ISO-8601; now when left out.")
    provider: str = _option(
        "Show what is sent in this dialect: openai, openai-responses, anthropic, ollama, completion."
    )
    model: str = _option("The model, for charters that choose their mode by it.")
    tool_policy: str = _option("contract: which tool policy.")
    task: str = _option("contract: which task.")
    soul: str = _option("sovereign: the operator's one-line tag.")
    workspace: str = _option("workspace: the folder to read.")
    data_dir: str = _option("gateway: the folder with IDENTITY.md, SOUL.md, USER.md …")
    project: str = _option("gateway: the project whose CLAUDE.md and rules apply.")
    skills: str = _option("gateway: the folder with skills.")
    tools: str = _option("A JSON file with tools: a list of {name, description, parameters}.")
    fallback: bool = _option("Write tool schemas into the prompt, for models without tool calling.", False)
    vitals: str = _option("sovereign: a JSON file with balance, burn and wallet.")
    timezone: str = _option("assistant: the user's time zone, IANA.")
    instructions: str = _option("assistant: a file with the user's instructions.")
    stored: bool = _option("With what this installation's store holds.", False)
    label: str = _option("With the stored layers as this label names them (charter label).")
    database: str = _option("With what this store holds; an address such as sqlite:///path.")
    tokens: str = _option("How tokens are counted: estimate, o200k_base, cl100k_base.", "estimate")

    def charter(self) -> Charter:
        from .folder import load
        from .tokens import counter

        return replace(load(self.target), world=self.world(), counter=counter(self.tokens))

    def world(self) -> World:
        from .sources import World
        from .sources.vitals import JsonVitals

        given: dict[str, Any] = {}
        if self.soul:
            given["soul"] = self.soul
        if self.timezone:
            given["timezone"] = self.timezone
        if self.instructions:
            given["instructions"] = _read(self.instructions)
        return World(
            workspace=_folder(self.workspace),
            data_dir=_folder(self.data_dir),
            project_dir=_folder(self.project),
            skills_dir=_folder(self.skills),
            store=_store(self.database) if self.stored or self.label or self.database else None,
            label=self.label,
            tools=_tools(self.tools) if self.tools else None,
            native_tools=not self.fallback,
            vitals=JsonVitals(Path(self.vitals).absolute()) if self.vitals else None,
            given=given,
        )

    def incoming(self) -> Incoming:
        from .core.incoming import Incoming

        return Incoming(
            channel=self.channel, sender=self.sender, text=self._message(), at=self.at or None, agent=self.agent,
            user=self.user, mode=self.mode or None, tool_policy=self.tool_policy, task=self.task, model=self.model,
        )  # fmt: skip

    def _message(self) -> str:
        """The message; a charter whose last layer is the user's needs one, so a preview without has a stand-in."""
        from .folder import load

        needs_one = load(self.target).stack.layers[-1].role == "user"
        return self.message or ("(your message)" if needs_one else "")

    def assembly(self) -> Assembly:
        return self.charter().assemble(self.incoming())

    def notices(self) -> list[str]:
        """What was left out on the way, and why."""
        charter, incoming = self.charter(), self.incoming()
        incoming = replace(incoming, at=incoming.at or 0)
        gathered = charter.gather(incoming, mode=charter.choose_mode(incoming))
        return [notice for _, notices in gathered for notice in notices]


@cache
def _store(database: str) -> SqlStore:
    from .app import open_store

    return open_store(database)


_NAMES = {item.name for item in fields(View)} - {"target"}


def parse_view(text: str, common: View) -> View:
    """A view from `NAME` or `NAME@key=value,key=value`; what it does not say is taken from `common`."""
    target, _, rest = text.partition("@")
    said: dict[str, Any] = {}
    for part in re.split(r",(?=[a-z_]+=)", rest) if rest else ():
        key, equals, value = part.partition("=")
        if not equals or key not in _NAMES:
            raise BadValue("view", f"write NAME@key=value,key=value with keys from: {', '.join(sorted(_NAMES))}")
        said[key] = value.lower() in ("1", "true", "yes") if key == "fallback" else value
    return replace(common, target=target or common.target, **said)


def _folder(path: str) -> Path | None:
    if not path:
        return None
    folder = Path(path).absolute()
    if not folder.is_dir():
        raise FileMissing(path, "the folder named on the command line")
    return folder


def _read(path: str) -> str:
    from .sources.files import read_file

    where = Path(path).absolute()
    found = read_file(where.parent, where.name)
    if found is None:
        raise FileMissing(path, "the file named on the command line")
    return found.text


def _tools(path: str) -> tuple[ToolSpec, ...]:
    from .core.ports import ToolSpec

    try:
        rows = json.loads(_read(path))
        return tuple(
            ToolSpec(str(row["name"]), str(row.get("description", "")), dict(row.get("parameters") or {}))
            for row in rows
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        raise ConfigError(path, 'tools are a JSON list of {"name": …, "description": …, "parameters": {…}}') from None
