"""Lint for prompts: a charter is read as it would be used, and what will go wrong is said before it does (N-12)."""

from __future__ import annotations

import os
from pathlib import Path

from ..core.errors import CharterError, FileRefused, NoBase, StackError, UnknownCharter
from ..core.incoming import Incoming
from ..folder import CONFIG, find
from ..sources import World
from ..sources.files import read_file
from .render import Form, render
from .report import LEVELS, Finding, Hit, Level, Report, exit_code
from .rules import BY_ID, RULES, Rule
from .stack_rules import NO_VIEW
from .subject import hit_of, read_subject

__all__ = ["RULES", "Finding", "Form", "Level", "Report", "Rule", "check", "exit_code", "render"]


def check(
    name_or_path: str | os.PathLike[str], *, incoming: Incoming | None = None, world: World | None = None
) -> Report:
    """Every finding on a charter and the files its world reaches; one that cannot load is a finding, not an error.

    The default view is the charter's own world at a fixed time; host facts are left out, so that the findings are the
    same on every machine.
    """
    try:
        subject = read_subject(name_or_path, incoming, world)
    except CharterError as error:
        return Report(Path(name_or_path).name or str(name_or_path), (_loading(error, name_or_path),))
    found = [_finding(rule, hit) for rule in RULES for hit in rule.check(subject)]
    return Report(subject.charter.name, _sorted(found))


def _finding(rule: Rule, hit: Hit) -> Finding:
    return Finding(rule.id, hit.level, hit.file, hit.line, hit.message, hit.help or rule.help)


def _sorted(found: list[Finding]) -> tuple[Finding, ...]:
    """The gravest first, then by place; the failure to assemble gives way to the finding that explains it."""
    others = [f.message for f in found if f.rule != "assemble"]
    kept = [f for f in found if f.rule != "assemble" or not _explained(f.message.removeprefix(NO_VIEW), others)]
    return tuple(sorted(dict.fromkeys(kept), key=lambda f: (LEVELS.index(f.level), f.file, f.line, f.rule, f.message)))


def _explained(problem: str, others: list[str]) -> bool:
    return any(message.endswith(problem) for message in others)


def _loading(error: CharterError, name_or_path: str | os.PathLike[str]) -> Finding:
    rule = "missing-base" if isinstance(error, NoBase) else "layer-order" if isinstance(error, StackError) else "load"
    hit = hit_of(error, _config_text(name_or_path))
    return _finding(BY_ID[rule], hit if rule == "load" else hit._replace(help=""))


def _config_text(name_or_path: str | os.PathLike[str]) -> str:
    """The text of charter.toml, to find lines in; empty when there is none to read."""
    try:
        found = read_file(find(name_or_path), CONFIG)
    except (UnknownCharter, FileRefused):
        return ""
    return found.text if found else ""
