"""Sources about who is speaking and to whom: soul, identity, the user and what they asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec

from ..core.errors import BadValue
from ..core.ports import Part
from ..core.records import Head
from ..core.text import Form, Piece, Value
from ..zones import time_zone
from .ask import Ask, Gathered, operator_line, operator_markdown
from .frontmatter import split, text_field
from .known import read_file
from .pages import FILE_CHARS

SOUL_TAG_CHARS = 64


class SoulTag(msgspec.Struct, tag_field="kind", tag="soul_tag", forbid_unknown_fields=True, frozen=True):
    """An operator's one-line tag, a piece of its own inside a sealed layer (S0-05)."""

    def gather(self, ask: Ask) -> Gathered:
        tag = str(ask.world.given.get("soul") or ask.home.defaults.get("soul", ""))
        if len(tag) > SOUL_TAG_CHARS or "\n" in tag.strip():
            raise BadValue("soul", f"one line of at most {SOUL_TAG_CHARS} characters; this one has {len(tag)}")
        return Gathered({"soul": operator_line(tag, "operator:soul") if tag.strip() else None})


class Soul(msgspec.Struct, tag_field="kind", tag="soul", forbid_unknown_fields=True, frozen=True):
    """The agent's character: handed in, else the one stored, else SOUL.md, else the charter's own (S3-03, S4-02).

    With `beside_identity` it is shown only when there is an identity or a SOUL.md of one's own.
    """

    reads: ClassVar[tuple[Part, ...]] = ("agent",)
    head: ClassVar[Head] = Head.SOUL
    default: str = ""
    file: str = ""
    beside_identity: bool = False
    max_chars: int = FILE_CHARS

    def gather(self, ask: Ask) -> Gathered:
        if "soul" in ask.world.given:
            given = str(ask.world.given["soul"] or "").strip()
            soul = operator_markdown(given, "operator:soul", self.max_chars) if given else None
            return Gathered({"text": soul}, file="inline", source="inline")
        kept = ask.reads.agent_configuration(ask.agent) if ask.reads else None
        if kept is not None and kept.soul.strip():
            text = operator_markdown(kept.soul.strip(), f"store:soul@{kept.soul_version}", self.max_chars)
            version = str(kept.soul_version)
            return Gathered({"text": text}, file="store:soul", source="inline", origin="operator", version=version)
        own = read_file(ask.world.data_dir, self.file) if self.file and ask.world.data_dir else None
        if own is not None and own.text.strip():
            own_text = operator_markdown(own.text.strip(), self.file, self.max_chars)
            return Gathered({"text": own_text}, file=self.file, source="file")
        if not self.default or (self.beside_identity and not identity_fields(ask).keys() - {"emoji"}):
            return Gathered({"text": None})
        default = operator_markdown(ask.home.text(self.default).strip(), self.default)
        return Gathered({"text": default}, file=self.default, source="file")


def identity_fields(ask: Ask, name: str = "IDENTITY.md") -> dict[str, str]:
    """The fields of IDENTITY.md that say something, or those handed in."""
    if "identity_fields" in ask.world.given:
        return dict(ask.world.given["identity_fields"])
    return _fields(ask, name, ("name", "emoji", "creature", "vibe"))


def user_fields(ask: Ask, name: str = "USER.md") -> dict[str, str]:
    """The fields of USER.md that say something; a time zone that does not exist is an error."""
    fields = _fields(ask, name, ("name", "timezone", "location"))
    if "timezone" in fields:
        time_zone(fields["timezone"])
    return fields


def _fields(ask: Ask, name: str, wanted: tuple[str, ...]) -> dict[str, str]:
    found = read_file(ask.world.data_dir, name) if ask.world.data_dir else None
    if found is None:
        return {}
    fields = split(found.text, name).fields
    return {key: value for key in wanted if (value := text_field(fields, key, name))}


class IdentityFile(msgspec.Struct, tag_field="kind", tag="identity_file", forbid_unknown_fields=True, frozen=True):
    """IDENTITY.md's frontmatter (S3-03)."""

    def gather(self, ask: Ask) -> Gathered:
        fields = identity_fields(ask)
        facts = {key: _line(fields.get(key), f"IDENTITY.md:{key}") for key in ("name", "emoji", "creature", "vibe")}
        return Gathered(facts, file="IDENTITY.md", source="file")


class UserFile(msgspec.Struct, tag_field="kind", tag="user_file", forbid_unknown_fields=True, frozen=True):
    """USER.md's name (S3-03)."""

    def gather(self, ask: Ask) -> Gathered:
        name = _line(user_fields(ask).get("name"), "USER.md:name")
        return Gathered({"name": name}, file="USER.md", source="file")


def _line(text: str | None, origin: str) -> Value:
    return operator_line(text, origin) if text else None


class Identity(msgspec.Struct, tag_field="kind", tag="identity", forbid_unknown_fields=True, frozen=True):
    """The agent's name, description and vibe from its configuration; None leaves the section out (S4-02)."""

    reads: ClassVar[tuple[Part, ...]] = ("agent",)
    head: ClassVar[Head] = Head.IDENTITY
    no_name: str
    no_description: str

    def gather(self, ask: Ask) -> Gathered:
        identity = ask.world.given["identity"] if "identity" in ask.world.given else _configured(ask)
        if identity is None:
            return Gathered({"name": None, "description": None, "vibe": None})
        if not isinstance(identity, Mapping):
            raise BadValue("identity", f"a mapping of name, description and vibe, not {type(identity).__name__}")
        return Gathered(
            {
                "name": _field(identity, "name") or operator_line(self.no_name, "charter:identity"),
                "description": _field(identity, "description")
                or operator_line(self.no_description, "charter:identity"),
                "vibe": _field(identity, "vibe"),
            },
            file="inline",
            source="inline",
            version=_identity_version(ask),
        )


def _identity_version(ask: Ask) -> str:
    """The version of the identity an operator stored; empty when it is another one that is shown."""
    kept = ask.reads.agent_configuration(ask.agent) if ask.reads and "identity" not in ask.world.given else None
    return str(kept.identity_version) if kept is not None and kept.identity else ""


def _configured(ask: Ask) -> Any:
    """What an operator stored for this agent, else what the charter ships."""
    kept = ask.reads.agent_configuration(ask.agent) if ask.reads else None
    if kept is None or not kept.identity:
        return _shipped(ask)
    try:
        return json.loads(kept.identity)
    except ValueError:
        raise BadValue("identity", "the stored identity is not JSON; set it anew: charter amend identity") from None


def _shipped(ask: Ask) -> dict[str, str] | None:
    """The identity of the charter's own [defaults], when it has one."""
    shipped = {key: ask.home.defaults[key] for key in ("name", "description", "vibe") if key in ask.home.defaults}
    return shipped or None


def _field(identity: Mapping[str, object], key: str) -> Value:
    """A field of a request's identity: outside text, one line."""
    value = identity.get(key)
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if not isinstance(value, str):
        raise BadValue(f"identity.{key}", f"text, not {type(value).__name__}")
    return Piece(value.strip(), f"identity:{key}")


class Instructions(msgspec.Struct, tag_field="kind", tag="instructions", forbid_unknown_fields=True, frozen=True):
    """The user's own standing instructions for this agent (S4-06)."""

    reads: ClassVar[tuple[Part, ...]] = ("instructions",)
    head: ClassVar[Head] = Head.INSTRUCTIONS
    max_chars: int = 2000

    def gather(self, ask: Ask) -> Gathered:
        given, version = ask.world.given, ""
        if "instructions" in given:
            text = str(given["instructions"] or "")
        else:
            text = ask.reads.instructions(ask.agent, ask.incoming.owner) if ask.reads else ""
            version = str(ask.reads.instructions_version(ask.agent, ask.incoming.owner)) if ask.reads else ""
        text = text.strip()
        shown = Piece(text[: self.max_chars], "user:instructions", form=Form.BLOCK, original=len(text))
        facts: dict[str, Value] = {
            "instructions": shown if text else None,
            "left_out": max(len(text) - self.max_chars, 0),
            "shown": self.max_chars,
        }
        source = "user" if text else "inline"
        return Gathered(facts, file="instructions", source=source, origin="user:instructions", version=version)
