"""What a check found: findings name ids, files and sizes, never prompt text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

Level = Literal["error", "warning", "note"]
LEVELS: Final[tuple[Level, ...]] = ("error", "warning", "note")


class Hit(NamedTuple):
    """What a rule saw and where; `help` when the rule's own next step does not fit."""

    level: Level
    file: str
    line: int
    message: str
    help: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to look at; `file` is relative to the charter's folder, `help` is the next step."""

    rule: str
    level: Level
    file: str
    line: int
    message: str
    help: str


@dataclass(frozen=True, slots=True)
class Report:
    """Everything a check found, the gravest first."""

    charter: str
    findings: tuple[Finding, ...]

    def count(self, level: Level) -> int:
        return sum(finding.level == level for finding in self.findings)


def exit_code(report: Report, *, strict: bool = False) -> int:
    """1 when there is an error, or with `strict` a warning; else 0."""
    return int(report.count("error") > 0 or (strict and report.count("warning") > 0))
