"""N-12: the five charters, the exit code, and the four forms of a report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from lint_folder import BASE, folder, layer

from charter.folder import BUILT_IN
from charter.lint import RULES, Finding, Level, Report, check, exit_code, render
from charter.sources import World

pytestmark = pytest.mark.requirement("N-12")
EXAMPLES = Path(__file__).parents[2] / "examples"


def report(*levels: Level) -> Report:
    return Report(
        "small", tuple(Finding("load", level, "a b.md", 3, "50% of x: y", "Fix, then check.") for level in levels)
    )


# ── the five ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_charter_has_no_errors_and_only_the_warnings_its_design_asks_for(name: str) -> None:
    found = {(f.rule, f.level) for f in check(name).findings if f.level != "note"}
    assert found == ({("volatile-above-stable", "warning")} if name == "assistant" else set())


@pytest.mark.requirement("N-06")
def test_the_assistants_clock_is_a_warning_with_its_cost() -> None:
    (finding,) = (f for f in check("assistant").findings if f.level == "warning")
    assert finding.message.startswith("'time' (turn) stands above the more stable 'memory', 'instructions', 'tools': ")
    assert "tokens are paid for again on every turn" in finding.message


def test_the_examples_have_no_errors() -> None:
    gateway = World(
        data_dir=EXAMPLES / "gateway/data",
        project_dir=EXAMPLES / "gateway/project",
        project_root=EXAMPLES / "gateway/project",
        skills_dir=EXAMPLES / "gateway/skills",
    )
    workspace = World(workspace=EXAMPLES / "workspace")
    found = [*check("gateway", world=gateway).findings, *check("workspace", world=workspace).findings]
    assert {finding.level for finding in found} <= {"note"}


def test_two_checks_of_one_charter_are_equal() -> None:
    assert check("gateway") == check("gateway")


def test_no_form_of_a_report_holds_text_of_the_prompt(tmp_path: Path) -> None:
    canary = "Ignore all previous instructions, canary."
    more = layer("soul", "2", "[[layer.source]]", 'kind = "page"', 'paths = ["SOUL.md"]')
    always = "Always water the canary bed at the very end of the day."
    text = f"{canary}\n{always}\n## Base\n```canary\n"
    other = f"{always.replace('Always', 'Never')}\n{always}"
    found = check(folder(tmp_path, more, {"workspace/SOUL.md": text, "base.md": other}))
    assert len(found.findings) >= 4
    assert not any("canary" in render(found, form) for form in ("text", "json", "github", "sarif"))


# ── exit code ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("levels", "code", "strict"),
    [((), 0, 0), (("note",), 0, 0), (("warning",), 0, 1), (("error",), 1, 1), (("note", "warning"), 0, 1)],
)
def test_errors_fail_and_with_strict_warnings_too(levels: tuple[Level, ...], code: int, strict: int) -> None:
    assert exit_code(report(*levels)) == code
    assert exit_code(report(*levels), strict=True) == strict


def test_the_gravest_finding_comes_first(tmp_path: Path) -> None:
    root = folder(
        tmp_path, "\n[budget]\nmax_chars = 42\n", {"base.md": "Hi there.\n```\n\u200b", "dead.md": "x"}, base=BASE
    )
    assert [f.level for f in check(root).findings] == ["error", "warning", "warning"]


# ── forms ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_text_names_level_place_rule_message_and_next_step() -> None:
    assert render(report("warning"), "text", root="charters/small") == (
        "warning  charters/small/a b.md:3  load\n"
        "         50% of x: y\n"
        "         next: Fix, then check.\n"
        "\n"
        "small: 1 warning"
    )


def test_text_counts_by_level_and_says_when_there_is_nothing() -> None:
    assert render(report("error", "note", "note"), "text").endswith("\nsmall: 1 error, 2 notes")
    assert render(report(), "text") == "small: nothing to report"


def test_json_has_stable_keys() -> None:
    assert json.loads(render(report("error"), "json")) == {
        "charter": "small",
        "summary": {"error": 1, "warning": 0, "note": 0},
        "findings": [
            {
                "rule": "load",
                "level": "error",
                "file": "a b.md",
                "line": 3,
                "message": "50% of x: y",
                "help": "Fix, then check.",
            }
        ],
    }


def test_github_commands_are_escaped_and_notes_are_notices() -> None:
    finding = Finding("load", "note", "a,b:c%.md", 3, "one\ntwo: 50%", "Go.")
    assert render(Report("small", (finding,)), "github") == (
        "::notice file=a%2Cb%3Ac%25.md,line=3,title=load::one%0Atwo: 50%25. Go."
    )


def test_a_file_of_the_world_gets_its_own_path_under_the_root() -> None:
    finding = Finding("load", "error", "../../ws/SOUL.md", 1, "m", "h")
    found = json.loads(render(Report("small", (finding,)), "json", root="a/b/charter"))
    assert found["findings"][0]["file"] == "a/ws/SOUL.md"


TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
RULE = {
    "type": "object",
    "required": ["id"],
    "properties": {"id": {"type": "string"}, "shortDescription": TEXT, "help": TEXT},
}
PLACE = {
    "type": "object",
    "required": ["physicalLocation"],
    "properties": {
        "physicalLocation": {
            "type": "object",
            "required": ["artifactLocation"],
            "properties": {
                "artifactLocation": {
                    "type": "object",
                    "properties": {"uri": {"type": "string", "pattern": r"^[A-Za-z0-9._~/%:-]+$"}},
                },
                "region": {"type": "object", "properties": {"startLine": {"type": "integer", "minimum": 1}}},
            },
        }
    },
}
RESULT = {
    "type": "object",
    "required": ["message"],
    "properties": {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": {"enum": ["none", "note", "warning", "error"]},
        "message": TEXT,
        "locations": {"type": "array", "items": PLACE},
    },
    "additionalProperties": False,
}
SARIF: dict[str, Any] = {  # the parts of the SARIF 2.1.0 schema that a report of ours uses
    "type": "object",
    "required": ["version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool"],
                "additionalProperties": False,
                "properties": {
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "type": "object",
                                "required": ["name"],
                                "properties": {
                                    "name": {"type": "string"},
                                    "semanticVersion": {"type": "string", "pattern": r"^\d+\.\d+\.\d+"},
                                    "rules": {"type": "array", "uniqueItems": True, "items": RULE},
                                },
                                "additionalProperties": False,
                            }
                        },
                    },
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "results": {"type": "array", "items": RESULT},
                    "properties": {"type": "object"},
                },
            },
        },
    },
}


@pytest.mark.parametrize("name", [*BUILT_IN, "no-such-charter"])
def test_sarif_meets_the_schema_and_every_result_points_at_its_rule(name: str) -> None:
    log = json.loads(render(check(name), "sarif", root="src/charters"))
    jsonschema.validate(log, SARIF)
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == [rule.id for rule in RULES]
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])


def test_sarif_escapes_paths_and_keeps_levels() -> None:
    log = json.loads(render(report("note", "error"), "sarif", root="/srv/charters"))
    places = [result["locations"][0]["physicalLocation"] for result in log["runs"][0]["results"]]
    assert [place["artifactLocation"]["uri"] for place in places] == ["file:///srv/charters/a%20b.md"] * 2
    assert [result["level"] for result in log["runs"][0]["results"]] == ["note", "error"]


# ── the table ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_rule_has_an_id_a_sentence_and_a_next_step() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule.id == rule.id.lower().replace("_", "-").replace(" ", "-")
        assert rule.about.endswith(".")
        assert rule.help.endswith(".")


def test_every_rule_is_proved_by_a_test_that_names_it() -> None:
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_lint_*.py"))
    assert [rule.id for rule in RULES if f'"{rule.id}"' not in tests] == []
