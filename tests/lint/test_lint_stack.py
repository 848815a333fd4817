"""N-12, N-05, N-06: rules about the layers themselves."""

from __future__ import annotations

from pathlib import Path

import pytest
from lint_folder import BASE, folder, found, layer

from charter.core.incoming import Incoming
from charter.folder import read_files
from charter.lint import check, exit_code
from charter.lock import write_lock
from charter.sources import World
from charter.stores.memory import MemoryStore

pytestmark = pytest.mark.requirement("N-12")
STORED = ('owner = "agent"', 'volatility = "stored"', 'summary = "Notes."', "max_content = 4000")
SHED = '[[budget.shed]]\nlayer = "notes"\nto = "summary"\n'


def notes(*more: str) -> str:
    return layer("notes", "2", *STORED, *more, "[[layer.source]]", 'kind = "stored"', 'default = "notes.md"')


def test_a_sound_charter_has_nothing_to_report(tmp_path: Path) -> None:
    assert check(folder(tmp_path)).findings == ()


# ── what keeps a charter from loading ─────────────────────────────────────────────────────────────────────────────


def test_a_charter_without_a_base_is_one_error_that_says_so(tmp_path: Path) -> None:
    report = check(folder(tmp_path, base=BASE.replace("required = true\n", "")))
    (finding,) = report.findings
    assert (finding.rule, finding.level, finding.file, finding.line) == ("missing-base", "error", "charter.toml", 4)
    assert exit_code(report) == 1


def test_a_user_layer_above_another_is_named_with_its_line(tmp_path: Path) -> None:
    more = layer("said", "2", 'role = "user"', 'template = "said.md"') + layer("end", "3", 'template = "end.md"')
    (finding,) = check(folder(tmp_path, more, {"said.md": "a", "end.md": "b"})).findings
    assert (finding.rule, finding.file, finding.line) == ("layer-order", "charter.toml", 13)


def test_a_budget_that_names_no_layer_is_found_at_its_line(tmp_path: Path) -> None:
    (finding,) = check(folder(tmp_path, f"\n[budget]\nmax_chars = 99\n{SHED}")).findings
    assert (finding.rule, finding.file, finding.line) == ("layer-order", "charter.toml", 15)


def test_a_mode_that_drops_the_base_is_an_order_problem(tmp_path: Path) -> None:
    assert [f.rule for f in check(folder(tmp_path, "\n[modes.none]\nwhole = []\n")).findings] == ["layer-order"]


@pytest.mark.parametrize(
    ("change", "file", "line"),
    [
        (('version = "1.0.0"', 'version = "one"'), "charter.toml", 2),
        (("required = true", "requird = true"), "charter.toml", 9),
        (('"base.md"', '"gone.md"'), "charter.toml", 10),
        (('name = "small"', 'name = "small'), "charter.toml", 1),
    ],
)
def test_a_charter_that_cannot_load_is_a_finding_at_its_line(
    tmp_path: Path, change: tuple[str, str], file: str, line: int
) -> None:
    (finding,) = check(folder(tmp_path, base=BASE.replace(*change))).findings
    assert (finding.rule, finding.level, finding.file, finding.line) == ("load", "error", file, line)
    assert finding.help


def test_a_template_that_does_not_compile_is_a_finding_in_its_file(tmp_path: Path) -> None:
    (finding,) = check(folder(tmp_path, files={"base.md": "Hello.\n{% include 'x' %}\n"})).findings
    assert (finding.rule, finding.file, finding.line) == ("load", "base.md", 2)


def test_a_changed_locked_file_is_a_finding_in_that_file(tmp_path: Path) -> None:
    folder(tmp_path)
    write_lock(tmp_path, "1.0.0", {}, read_files(tmp_path))
    (tmp_path / "base.md").write_text("Something else.")
    (finding,) = check(tmp_path).findings
    assert (finding.rule, finding.file) == ("load", "base.md")


def test_an_unknown_charter_is_a_finding() -> None:
    report = check("no-such-charter")
    assert (report.charter, report.findings[0].rule, exit_code(report)) == ("no-such-charter", "load", 1)


# ── assemble ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_view_that_the_world_cannot_fill_is_a_warning(tmp_path: Path) -> None:
    root = folder(tmp_path, layer("who", "2", "[[layer.source]]", 'kind = "agent"'))
    (finding,) = found(root, "assemble")
    assert finding.level == "warning"


def test_a_template_that_lacks_a_value_is_an_error_in_the_template(tmp_path: Path) -> None:
    root = folder(tmp_path, layer("who", "2", 'template = "who.md"'), {"who.md": "Hello.\n\nYou are {{ nobody }}."})
    (finding,) = found(root, "assemble")
    assert (finding.level, finding.file, finding.line) == ("error", "who.md", 3)


def test_a_first_agent_stands_in_for_a_default_that_the_workspace_lacks(tmp_path: Path) -> None:
    root = folder(
        tmp_path,
        layer("who", "2", "[[layer.source]]", 'kind = "agent"'),
        {"workspace/agents/ben/AGENT.md": "You are Ben."},
    )
    assert check(root).findings == ()


# ── over-budget ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("N-05")
@pytest.mark.parametrize(("limit", "levels"), [(40, ["error"]), (50, ["note"]), (100, [])])
def test_a_default_view_near_or_over_its_limit_is_reported(tmp_path: Path, limit: int, levels: list[str]) -> None:
    root = folder(tmp_path, f"\n[budget]\nmax_chars = {limit}\n")  # the view has 44 characters
    assert [finding.level for finding in found(root, "over-budget")] == levels


@pytest.mark.requirement("N-05")
def test_tokens_are_measured_too(tmp_path: Path) -> None:
    (finding,) = found(folder(tmp_path, "\n[budget]\nmax_tokens = 13\n"), "over-budget")
    assert (finding.level, "tokens" in finding.message, finding.line) == ("note", True, 12)


def test_a_layer_that_gives_way_in_the_default_view_is_a_warning(tmp_path: Path) -> None:
    more = f"\n[budget]\nmax_chars = 210\n{SHED}" + notes()
    (finding,) = (
        f for f in found(folder(tmp_path, more, {"notes.md": "n" * 170}), "over-budget") if "give way" in f.message
    )
    assert (finding.level, finding.message.endswith("notes")) == ("warning", True)


@pytest.mark.parametrize(
    ("size", "limit", "levels"), [(300, 250, ["error"]), (100, 1000, ["warning"]), (100, 9000, [])]
)
def test_what_a_writable_layer_may_hold_must_be_showable(
    tmp_path: Path, size: int, limit: int, levels: list[str]
) -> None:
    root = folder(tmp_path, f"\n[budget]\nmax_chars = {limit}\n{SHED}" + notes(), {"notes.md": "n" * size})
    hits = [f for f in found(root, "over-budget") if "'notes'" in f.message]
    assert [finding.level for finding in hits] == levels


# ── volatile-above-stable ─────────────────────────────────────────────────────────────────────────────────────────

CLOCK = ('volatility = "turn"', 'template = "clock.md"', "[[layer.source]]", 'kind = "clock"')


@pytest.mark.requirement("N-06")
def test_a_clock_above_a_stable_layer_is_a_warning_with_its_cost(tmp_path: Path) -> None:
    more = layer("clock", "2", *CLOCK) + layer("end", "3", 'template = "end.md"')
    (finding,) = found(
        folder(tmp_path, more, {"clock.md": "It is {{ utc }}.", "end.md": "e" * 40}), "volatile-above-stable"
    )
    assert (finding.level, finding.line) == ("warning", 13)
    assert "10 tokens" in finding.message
    assert "on every turn" in finding.message


@pytest.mark.requirement("N-06")
def test_a_layer_of_the_session_above_a_stable_one_is_a_note(tmp_path: Path) -> None:
    more = layer("a", "2", 'volatility = "session"', 'template = "a.md"') + layer("b", "3", 'template = "b.md"')
    (finding,) = found(folder(tmp_path, more, {"a.md": "a", "b.md": "b"}), "volatile-above-stable")
    assert finding.level == "note"


@pytest.mark.requirement("N-06")
def test_a_clock_at_the_end_costs_nothing(tmp_path: Path) -> None:
    root = folder(tmp_path, layer("clock", "2", *CLOCK), {"clock.md": "It is {{ utc }}."})
    assert found(root, "volatile-above-stable") == []


# ── what a layer must have ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("text", ["", "\n \n", "{# later #}", "{% if true %}{% endif %}"])
def test_a_required_layer_with_an_empty_template_is_an_error(tmp_path: Path, text: str) -> None:
    (finding,) = found(folder(tmp_path, files={"base.md": text}), "required-empty")
    assert (finding.level, finding.file) == ("error", "base.md")


def test_a_required_file_with_frontmatter_alone_is_empty(tmp_path: Path) -> None:
    base = BASE.replace('template = "base.md"', '[[layer.source]]\nkind = "prompt"\npath = "base.md"')
    root = folder(tmp_path, base=base, files={"base.md": "---\nversion: 1.0.0\n---\n"})
    assert [finding.file for finding in found(root, "required-empty")] == ["base.md"]


def test_a_required_layer_that_only_this_message_leaves_empty_is_named_by_its_line(tmp_path: Path) -> None:
    said = layer("said", "2", 'role = "user"', "required = true", "[[layer.source]]", 'kind = "user_input"')
    report = check(folder(tmp_path, said), incoming=Incoming())
    assert [(f.rule, f.line) for f in report.findings] == [("required-empty", 13)]


def test_a_template_of_one_slot_is_not_empty(tmp_path: Path) -> None:
    base = BASE + '[[layer.source]]\nkind = "clock"\n'
    assert found(folder(tmp_path, base=base, files={"base.md": "{{ utc }}"}), "required-empty") == []


@pytest.mark.parametrize(("size", "count"), [(160, 0), (161, 1)])
def test_a_summary_is_at_most_160_characters(tmp_path: Path, size: int, count: int) -> None:
    text = "{% if true %}" + "s" * size + "{% endif %}"
    root = folder(tmp_path, base=f'{BASE}summary = "{text}"\n')
    assert [finding.line for finding in found(root, "summary-too-long")] == [11] * count


@pytest.mark.parametrize(("title", "count"), [("## Base", 0), ("Base", 1), ("##Base", 1), ("####### Base", 1)])
def test_a_title_is_a_heading(tmp_path: Path, title: str, count: int) -> None:
    root = folder(tmp_path, base=BASE.replace("## Base", title))
    assert [finding.line for finding in found(root, "title-not-heading")] == [7] * count


def test_a_sealed_layer_wants_a_lock(tmp_path: Path) -> None:
    root = folder(tmp_path, base=BASE.replace('owner = "operator"', 'owner = "sealed"'))
    (finding,) = found(root, "sealed-without-lock")
    assert (finding.level, finding.line) == ("warning", 8)
    write_lock(root, "1.0.0", {}, read_files(root))
    assert found(root, "sealed-without-lock") == []


def test_what_an_agent_stored_is_checked_too(tmp_path: Path) -> None:
    root = folder(tmp_path, notes(), {"notes.md": "Keep notes."})
    store = MemoryStore()
    store.seed_layer("main", "notes", "Keep notes.")
    store.put_layer("main", "notes", 'Answer {"arguments": 1}.', by="turn-1")
    (finding,) = found(root, "machine-contract-in-writable", world=World(store=store))
    assert finding.file == "store:notes@2"
