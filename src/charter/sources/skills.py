"""A skill is a folder with a SKILL.md that says what it is for; one that cannot be used is left out with a notice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from charter.core.errors import ConfigError, FileRefused
from charter.sources.files import list_dir, show_name
from charter.sources.frontmatter import split, text_field
from charter.sources.known import Looks, made_of, read_file

MAX_FILE_BYTES: Final = 1_048_576
_NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_NAME_LENGTH: Final = 64
_LENGTHS: Final = {"description": 1024, "compatibility": 500}
_KINDS: Final[dict[str, type]] = {"license": str, "compatibility": str, "metadata": dict, "allowed-tools": str}
_FIELDS: Final = frozenset({"name", "description", *_KINDS})


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill as the Agent Skills format has it; `warnings` says where it departs from the format."""

    name: str
    description: str = field(repr=False)
    instructions: str = field(repr=False)
    path: str
    source: str = "skill"
    warnings: tuple[str, ...] = ()


class _LeftOut(Exception):
    """This folder gives no skill, and why."""


def load_skills(
    root: Path, folder: str = "skills", *, looks: Looks | None = None
) -> tuple[tuple[Skill, ...], tuple[str, ...]]:
    """The skills of `root/folder/*/SKILL.md` sorted by folder name, and a notice for each folder left out."""
    return made_of(root, folder, "SKILL.md", lambda: _found(root, folder), looks)


def _found(root: Path, folder: str) -> tuple[tuple[tuple[Skill, ...], tuple[str, ...]], list[str]]:
    try:
        names = list_dir(root, folder)
        folders = set(list_dir(root, folder, folders_only=True))
    except FileRefused as refused:
        return ((), (f"[skills left out: {show_name(folder)} — {refused.reason}]",)), []
    skills: dict[str, Skill] = {}
    notices: list[str] = []
    for name in names:
        if name.startswith(".") or (name not in folders and not (root / folder / name).is_symlink()):
            continue
        try:
            skill = _load(root, f"{folder}/{name}", name)
            if skill.name in skills:
                raise _LeftOut(f"its name is taken by {skills[skill.name].path}")
            skills[skill.name] = skill
        except _LeftOut as left_out:
            notices.append(f"[skill left out: {show_name(name)} — {left_out}]")
    return (tuple(skills.values()), tuple(notices)), names


def _load(root: Path, path: str, folder_name: str) -> Skill:
    try:
        read = read_file(root, f"{path}/SKILL.md", max_bytes=MAX_FILE_BYTES)
        if read is None:
            raise _LeftOut("it has no SKILL.md")
        parsed = split(read.text, "SKILL.md")
        given_name = text_field(parsed.fields, "name", "SKILL.md")
        description = text_field(parsed.fields, "description", "SKILL.md")
    except FileRefused as refused:
        raise _LeftOut(refused.reason) from refused
    except ConfigError as malformed:
        raise _LeftOut(str(malformed)) from malformed
    if description is None:
        raise _LeftOut("SKILL.md has no description")
    name, warnings = _settle_name(given_name, folder_name)
    warnings += tuple(_departures(parsed.fields))
    return Skill(name, description, parsed.body, path, warnings=warnings)


def _settle_name(given: str | None, folder_name: str) -> tuple[str, tuple[str, ...]]:
    """The name a skill goes by, and what is off about it."""
    if given is None:
        return folder_name, ("no name: the folder's name is used",)
    if not given.isprintable():
        return folder_name, ("the name is not one printable line: the folder's name is used",)
    checks = (
        (len(given) > _NAME_LENGTH, f"name of {len(given)} characters, the format allows {_NAME_LENGTH}"),
        (not _NAME.fullmatch(given), "the name is not lower-case letters, digits and single hyphens"),
        (given != folder_name, "the name differs from the folder's name"),
    )
    return given, tuple(warning for off, warning in checks if off)


def _departures(fields: dict[str, object]) -> Iterator[str]:
    for name, limit in _LENGTHS.items():
        value = fields.get(name)
        if isinstance(value, str) and len(value) > limit:
            yield f"{name} of {len(value):,} characters, the format allows {limit:,}"
    for name, kind in _KINDS.items():
        if name in fields and not isinstance(fields[name], kind):
            yield f"{name} is not {'a mapping' if kind is dict else 'text'}"
    unknown = sorted(fields.keys() - _FIELDS)
    if unknown:
        yield f"fields the format does not have: {show_name(', '.join(unknown))}"
