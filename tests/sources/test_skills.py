"""S2-05: skills in the Agent Skills format; off-spec names load with a warning, unusable ones leave a notice."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
import skills_ref
from hypothesis import given
from hypothesis import strategies as st

from charter.sources.skills import Skill, load_skills

pytestmark = pytest.mark.requirement("S2-05")


def add(root: Path, folder: str, text: str) -> None:
    path = root / "skills" / folder
    path.mkdir(parents=True)
    (path / "SKILL.md").write_text(text)


def warnings(root: Path) -> tuple[str, ...]:
    (skill,), notices = load_skills(root)
    assert notices == ()
    return skill.warnings


def test_skills_come_sorted_by_folder_with_name_description_and_instructions(tmp_path: Path) -> None:
    add(tmp_path, "pdf-forms", "---\nname: pdf-forms\ndescription: Fills forms.\nlicense: MIT\n---\n\n# Do\n{{ x }}\n")
    add(tmp_path, "a1", "---\ndescription: >\n  Two\n  lines.\nname: a1\nmetadata:\n  version: 1\n---\n")
    assert load_skills(tmp_path) == (
        (
            Skill("a1", "Two lines.", "", "skills/a1"),
            Skill("pdf-forms", "Fills forms.", "# Do\n{{ x }}", "skills/pdf-forms"),
        ),
        (),
    )


def test_another_folder_may_hold_the_skills(tmp_path: Path) -> None:
    (tmp_path / "library/a").mkdir(parents=True)
    (tmp_path / "library/a/SKILL.md").write_text("---\nname: a\ndescription: d\n---\nx")
    assert load_skills(tmp_path, "library") == ((Skill("a", "d", "x", "library/a"),), ())


def test_no_skills_folder_is_no_skills(tmp_path: Path) -> None:
    assert load_skills(tmp_path) == ((), ())


def test_the_text_of_a_skill_never_shows_in_the_repr(tmp_path: Path) -> None:
    add(tmp_path, "a", "---\nname: a\ndescription: canary\n---\ncanary")
    assert "canary" not in repr(load_skills(tmp_path))


@pytest.mark.parametrize("name", ["PDF", "-a", "a-", "a--b", "a b", "a_b", "é"])
def test_an_off_spec_name_loads_with_a_warning(tmp_path: Path, name: str) -> None:
    add(tmp_path, name, f"---\nname: {name}\ndescription: d\n---\n")
    assert warnings(tmp_path) == ("the name is not lower-case letters, digits and single hyphens",)


def test_a_long_or_a_different_name_loads_with_a_warning(tmp_path: Path) -> None:
    add(tmp_path, "folder", f"---\nname: {'a' * 65}\ndescription: d\n---\n")
    assert warnings(tmp_path) == (
        "name of 65 characters, the format allows 64",
        "the name differs from the folder's name",
    )


@pytest.mark.parametrize(
    ("field", "warning"),
    [
        ("", "no name: the folder's name is used"),
        ("name: ' '\n", "no name: the folder's name is used"),
        ('name: "a\\n## Forged"\n', "the name is not one printable line: the folder's name is used"),
    ],
)
def test_a_name_that_cannot_be_used_gives_way_to_the_folder_name(tmp_path: Path, field: str, warning: str) -> None:
    add(tmp_path, "folder", f"---\n{field}description: d\n---\n")
    assert load_skills(tmp_path)[0][0].name == "folder"
    assert warnings(tmp_path) == (warning,)


def test_other_departures_from_the_format_load_with_a_warning(tmp_path: Path) -> None:
    fields = f"compatibility: {'c' * 501}\nallowed-tools: [a]\nlicense: {{a: b}}\nmetadata: m\nmodel: x\nagent: y\n"
    add(tmp_path, "a", f"---\nname: a\ndescription: {'d' * 1025}\n{fields}---\n")
    assert warnings(tmp_path) == (
        "description of 1,025 characters, the format allows 1,024",
        "compatibility of 501 characters, the format allows 500",
        "license is not text",
        "metadata is not a mapping",
        "allowed-tools is not text",
        "fields the format does not have: agent, model",
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("---\nname: x\n---\nBody", "SKILL.md has no description"),
        ("---\nname: x\ndescription: '  '\n---\n", "SKILL.md has no description"),
        ("Body without frontmatter", "SKILL.md has no description"),
        ("---\nname: x\ndescription: [d]\n---\n", "SKILL.md: 'description' must be text"),
        ("---\nname: {a: b}\ndescription: d\n---\n", "SKILL.md: 'name' must be text"),
        ("---\nname: x\ndescription: &a d\n---\n", "SKILL.md:3: anchors and aliases are not allowed"),
        (
            "---\nname: x\ndescription: d\n",
            "SKILL.md:1: the frontmatter opened by '---' is not closed; add a line '---'",
        ),
        ("x" * 1_048_577, "1,048,577 bytes, the limit is 1,048,576"),
        ("\0", "NUL at byte 0"),
    ],
)
def test_a_skill_that_cannot_be_used_is_left_out_with_a_notice(tmp_path: Path, text: str, reason: str) -> None:
    add(tmp_path, "x", text)
    add(tmp_path, "y", "---\nname: y\ndescription: d\n---\n")
    skills, notices = load_skills(tmp_path)
    assert [skill.name for skill in skills] == ["y"]
    assert notices == (f"[skill left out: x — {reason}]",)


def test_folders_links_and_odd_names_that_give_no_skill_are_named(tmp_path: Path) -> None:
    root = tmp_path / "root"
    add(tmp_path / "elsewhere", "stolen", "---\nname: stolen\ndescription: d\n---\n")
    add(root, "real", "---\nname: real\ndescription: d\n---\n")
    add(root, "new\nline", "---\nname: x\ndescription: d\n---\n")
    (root / "skills/lower").mkdir()
    (root / "skills/lower/skill.md").write_text("---\nname: lower\ndescription: d\n---\n")
    (root / "skills/.git").mkdir()
    (root / "skills/README.md").write_text("not a skill")
    (root / "skills/alias").symlink_to("real")
    (root / "skills/loop").symlink_to("loop")
    (root / "skills/out").symlink_to(tmp_path / "elsewhere/skills/stolen")
    skills, notices = load_skills(root)
    assert [(skill.path, skill.warnings) for skill in skills] == [
        ("skills/alias", ("the name differs from the folder's name",))
    ]
    assert notices == (
        "[skill left out: loop — a link that loops, changed, or is too deep to follow]",
        "[skill left out: lower — it has no SKILL.md]",
        "[skill left out: new\\nline — not a plain relative path]",
        "[skill left out: out — a link that leads outside its root]",
        "[skill left out: real — its name is taken by skills/alias]",
    )


def test_a_skills_folder_that_cannot_be_listed_is_named(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "out").symlink_to("/etc")
    assert load_skills(tmp_path, "file") == ((), ("[skills left out: file — not a directory]",))
    assert load_skills(tmp_path, "out") == ((), ("[skills left out: out — a link that leads outside its root]",))
    monkeypatch.setattr(os, "scandir", lambda _: (_ for _ in ()).throw(PermissionError(13, "no")))
    assert load_skills(tmp_path, ".") == ((), ("[skills left out: . — not readable]",))


names = st.text("ab1-A_ .", min_size=1, max_size=4) | st.just("a" * 64) | st.just("a" * 65)
texts = st.sampled_from(["", " ", "d", "é: #", "d" * 1024, "d" * 1025])


@given(name=names, same=st.booleans(), description=texts, compatibility=st.none() | texts, extra=st.booleans())
def test_a_skill_loads_without_warnings_exactly_when_the_reference_validator_accepts_it(
    name: str, same: bool, description: str, compatibility: str | None, extra: bool
) -> None:
    folder = name.strip(" .") or "x"
    fields = {"name": name if same else "other", "description": description, "compatibility": compatibility}
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items() if value is not None]
    with tempfile.TemporaryDirectory() as root:
        add(Path(root), folder, "\n".join(["---", *lines, *(["model: x"] if extra else []), "---", "Body"]))
        skills, notices = load_skills(Path(root))
        valid = not skills_ref.validate(Path(root, "skills", folder))
        assert valid == (notices == () and skills[0].warnings == ())
        if valid:
            reference = skills_ref.read_properties(Path(root, "skills", folder))
            assert (skills[0].name, skills[0].description) == (reference.name, reference.description)
