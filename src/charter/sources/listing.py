"""Sources that list skills: the sovereign's enabled ones, a workspace's, a gateway's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import msgspec

from ..core.text import Form, Piece, Trust, Value
from .ask import Ask, Gathered, quarantined
from .pages import looks_of, read_agent
from .skills import Skill, load_skills


class EnabledSkills(msgspec.Struct, tag_field="kind", tag="enabled_skills", forbid_unknown_fields=True, frozen=True):
    """Skills an operator switched on, a line each (S0-05); handed in as (name, instructions)."""

    def gather(self, ask: Ask) -> Gathered:
        skills: list[Value] = [
            {"name": _piece(name, "skill:name"), "instructions": _piece(text, "skill:instructions")}
            for name, text in ask.world.given.get("skills", ())
        ]
        return Gathered({"skills": skills})


class WorkspaceSkills(msgspec.Struct, tag_field="kind", tag="skills", forbid_unknown_fields=True, frozen=True):
    """Skills of the workspace, for an agent that may use them (S2-05); or those of a skills folder (S3-06)."""

    agent_must_allow: bool = True
    xml: bool = False

    @property
    def still(self) -> bool:
        """A skills folder of its own is not among what a prompt looks at."""
        return self.agent_must_allow

    def gather(self, ask: Ask) -> Gathered:
        if self.agent_must_allow and not read_agent(ask).allow_skills:
            return Gathered({"skills": [], "notices": []})
        found, left_out = self._find(ask)
        form = Form.XML if self.xml else Form.LINE
        return _listed(tuple(found), tuple(left_out), form, ask.home.accepted)

    def whole(self, ask: Ask, name: str) -> str | None:
        """A skill's whole text, suspicious spans quarantined; None when this agent has none of this name."""
        if self.agent_must_allow and not read_agent(ask).allow_skills:
            return None
        found = [skill for skill in self._find(ask)[0] if skill.name == name]
        return quarantined(found[0].instructions, found[0].path, ask.home.accepted)[0] if found else None

    def _find(self, ask: Ask) -> tuple[Sequence[Skill], Sequence[str]]:
        if "skills" in ask.world.given:
            return list(ask.world.given["skills"]), ()
        if self.agent_must_allow:
            return load_skills(ask.workspace, looks=looks_of(ask))
        folder = ask.world.skills_dir
        return load_skills(folder.parent, folder.name) if folder else ((), ())


@lru_cache(maxsize=16)
def _listed(found: tuple[Skill, ...], left_out: tuple[str, ...], form: Form, accepted: frozenset[str]) -> Gathered:
    notices = [*left_out, *(f"{skill.path}: {warning}" for skill in found for warning in skill.warnings)]
    skills: list[Value] = []
    for skill in found:
        description, caught = quarantined(skill.description, skill.path, accepted)
        skills.append(_skill(replace(skill, description=description), form))
        notices += caught
    facts: dict[str, Value] = {"skills": skills, "notices": list(left_out)}
    return Gathered(facts, file="skills", source="file", notices=tuple(notices))


def _skill(skill: Skill, form: Form) -> Value:
    values = {"name": skill.name, "description": skill.description, "source": skill.source, "path": skill.path}
    return {key: _piece(value, f"skill:{skill.path}", form) for key, value in values.items()}


def _piece(text: str, origin: str, form: Form = Form.LINE) -> Piece:
    return Piece(" ".join(text.split()), origin, Trust.PROJECT, form)
