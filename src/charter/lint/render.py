"""A report for people, for programs, and for the places that show findings beside the code; none of them adds text."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any, Final, Literal
from urllib.parse import quote

from .. import __version__
from .report import LEVELS, Finding, Report
from .rules import BY_ID, RULES

Form = Literal["text", "json", "github", "sarif"]
SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def render(report: Report, form: Form, *, root: str = "") -> str:
    """The report in this form; `root` is the path of the charter's folder, put before every file."""
    return _FORMS[form](report, root)


def _path(file: str, root: str) -> str:
    return posixpath.normpath(posixpath.join(root, file)) if root else file


def _summary(report: Report) -> str:
    counts = [(report.count(level), level) for level in LEVELS]
    said = [f"{count} {level}{'s' * (count != 1)}" for count, level in counts if count]
    return f"{report.charter}: {', '.join(said) or 'nothing to report'}"


def _text(report: Report, root: str) -> str:
    blocks = [
        f"{finding.level:<8} {_path(finding.file, root)}:{finding.line}  {finding.rule}\n"
        f"         {finding.message}\n"
        f"         next: {finding.help}\n"
        for finding in report.findings
    ]
    return "\n".join([*blocks, _summary(report)])


def _json(report: Report, root: str) -> str:
    findings = [
        {
            "rule": finding.rule,
            "level": finding.level,
            "file": _path(finding.file, root),
            "line": finding.line,
            "message": finding.message,
            "help": finding.help,
        }
        for finding in report.findings
    ]
    summary = {level: report.count(level) for level in LEVELS}
    out = {"charter": report.charter, "summary": summary, "findings": findings}
    return json.dumps(out, indent=2, ensure_ascii=False)


# ── GitHub: workflow commands ─────────────────────────────────────────────────────────────────────────────────────
_COMMANDS: Final = {"error": "error", "warning": "warning", "note": "notice"}


def _github(report: Report, root: str) -> str:
    return "\n".join(_command(finding, root) for finding in report.findings)


def _command(finding: Finding, root: str) -> str:
    values = {"file": _path(finding.file, root), "line": str(finding.line), "title": finding.rule}
    properties = ",".join(f"{key}={_property(value)}" for key, value in values.items())
    return f"::{_COMMANDS[finding.level]} {properties}::{_data(f'{finding.message}. {finding.help}')}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


# ── SARIF 2.1.0 ───────────────────────────────────────────────────────────────────────────────────────────────────


def _sarif(report: Report, root: str) -> str:
    driver = {
        "name": "charter check",
        "semanticVersion": __version__,
        "rules": [
            {"id": rule.id, "shortDescription": {"text": rule.about}, "help": {"text": rule.help}} for rule in RULES
        ],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, root) for finding in report.findings],
        "properties": {"charter": report.charter},
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False)


def _result(finding: Finding, root: str) -> dict[str, Any]:
    location = {
        "artifactLocation": {"uri": _uri(_path(finding.file, root))},
        "region": {"startLine": finding.line},
    }
    return {
        "ruleId": finding.rule,
        "ruleIndex": RULES.index(BY_ID[finding.rule]),
        "level": finding.level,
        "message": {"text": f"{finding.message}. {finding.help}"},
        "locations": [{"physicalLocation": location}],
    }


def _uri(path: str) -> str:
    """A file as a URI reference: absolute ones with their scheme, a colon in the first part of others escaped."""
    return PurePosixPath(path).as_uri() if path.startswith("/") else quote(path, safe="/")


_FORMS: Final[dict[Form, Callable[[Report, str], str]]] = {
    "text": _text,
    "json": _json,
    "github": _github,
    "sarif": _sarif,
}
