"""charter.toml: what is not known is an error with its file and line; what is no stack is refused at load."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from charter.core import errors
from charter.core.incoming import Incoming
from charter.folder import BUILT_IN, load

SIX = """\
name = "six"
version = "1.0.0"
gap = "\\n"

[budget]
max_chars = 4000

[[budget.shed]]
layer = "place"
to = "summary"

[modes.full]

[modes.small]
whole = ["base", "said"]
summary = ["place"]
channels = ["scheduled"]
tools = false

[channels.telegram]
stream = true
max_chars = 100

[[layer]]
id = "base"
label = "B"
title = "## Base"
owner = "sealed"
required = true
template = "base.md"

[[layer]]
id = "place"
label = "P"
title = "## Place"
template = "place.md"
summary = "At {{ channel }}."
volatility = "turn"

[[layer.source]]
kind = "channel"

[[layer.source]]
kind = "recent"
limit = 2

[[layer]]
id = "said"
label = "U"
role = "user"
owner = "turn"
required = true

[[layer.source]]
kind = "user_input"

[[tool]]
name = "look"
kind = "READ"
max_per_turn = 2

[[tool]]
name = "send"
kind = "WRITE"
"""


def folder(tmp_path: Path, toml: str = SIX, files: Mapping[str, str] | None = None) -> Path:
    root = tmp_path / "six"
    root.mkdir()
    written = {"charter.toml": toml, "base.md": "Be kind.", "place.md": "At {{ channel }}."}
    for name, text in (written | dict(files or {})).items():
        (root / name).write_text(text)
    return root


def swapped(old: str, new: str) -> str:
    assert SIX.count(old) == 1
    return SIX.replace(old, new)


def line_of(text: str, toml: str = SIX) -> int:
    assert toml.count(text) == 1
    return toml[: toml.index(text)].count("\n") + 1


def test_a_name_that_is_no_charter_lists_those_there_are(tmp_path: Path) -> None:
    for name in ("seventh", str(tmp_path)):
        with pytest.raises(errors.UnknownCharter) as caught:
            load(name)
        assert caught.value.known == (*BUILT_IN, "or a folder with a charter.toml")


# ── unknown keys and wrong values, by file and line ───────────────────────────────────────────────────────────────

LAST_KEYS = {
    "top level": 'gap = "\\n"',
    "budget": "max_chars = 4000",
    "shed": 'to = "summary"',
    "mode": "tools = false",
    "channel": "max_chars = 100",
    "first layer": 'template = "base.md"',
    "second layer": 'volatility = "turn"',
    "first source": 'kind = "channel"',
    "second source": "limit = 2",
    "last source": 'kind = "user_input"',
    "first tool": "max_per_turn = 2",
    "second tool": 'kind = "WRITE"',
}


@pytest.mark.requirement("S1-02", "N-12")
@pytest.mark.parametrize("after", LAST_KEYS.values(), ids=LAST_KEYS.keys())
def test_a_key_nobody_knows_is_an_error_with_its_file_and_line(tmp_path: Path, after: str) -> None:
    with pytest.raises(errors.ConfigError) as caught:
        load(folder(tmp_path, swapped(after, f'{after}\ncolour = "red"')))
    assert caught.value.where == f"charter.toml:{line_of(after) + 1}"
    assert str(caught.value).startswith(f"{caught.value.where}: unknown key 'colour' (at ")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('version = "1.0.0"', 'version = "1.0"', "version is three numbers such as 1.0.0"),
        ('version = "1.0.0"', 'version = "1.0.0\\n"', "version is three numbers such as 1.0.0"),
        ('version = "1.0.0"', 'version = "１.0.0"', "version is three numbers such as 1.0.0"),
        ('version = "1.0.0"', "version = 1", "Expected `str`, got `int` (at version)"),
        ('kind = "channel"', 'kind = "telepathy"', "Invalid value 'telepathy' (at layer[1].source[0].kind)"),
        ('role = "user"', 'role = "king"', "Invalid enum value 'king' (at layer[2].role)"),
        ('kind = "WRITE"', 'kind = "write"', "Invalid enum value 'write' (at tool[1].kind)"),
        ("max_chars = 4000", 'max_chars = "many"', "Expected `int | null`, got `str` (at budget.max_chars)"),
        ("limit = 2", "limit = 2.5", "Expected `int`, got `float` (at layer[1].source[1].limit)"),
        ('id = "place"', "id = place", "not TOML: Invalid value"),
        ('label = "P"', 'label = "P', "not TOML: Illegal character '\\n'"),
    ],
)
def test_a_wrong_value_is_an_error_with_its_file_and_line(tmp_path: Path, old: str, new: str, problem: str) -> None:
    with pytest.raises(errors.ConfigError) as caught:
        load(folder(tmp_path, swapped(old, new)))
    assert str(caught.value) == f"charter.toml:{line_of(old)}: {problem}"


TWO_MODES = '[modes.full]\n\n[modes.small]\nwhole = ["base", "said"]'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("whole = [", 'whole = "base" #['),
        ("stream = true", 'stream = "yes"'),
        (TWO_MODES, '[modes.full]\nwhole = ["base"]\n[modes.small]\nwhole = 1'),
    ],
)
def test_a_wrong_value_in_a_named_table_has_its_line_too(tmp_path: Path, old: str, new: str) -> None:
    with pytest.raises(errors.ConfigError) as caught:
        load(folder(tmp_path, swapped(old, new)))
    assert caught.value.where == f"charter.toml:{line_of(old) + new.count(chr(10))}"


def test_a_file_that_ends_too_early_is_an_error_on_its_last_line(tmp_path: Path) -> None:
    with pytest.raises(errors.ConfigError) as caught:
        load(folder(tmp_path, SIX + "parameters = {"))
    assert caught.value.where == f"charter.toml:{SIX.count(chr(10)) + 1}"


def test_a_missing_key_is_an_error_on_the_line_of_its_table(tmp_path: Path) -> None:
    toml = swapped('label = "P"\n', "")
    with pytest.raises(errors.ConfigError) as caught:
        load(folder(tmp_path, toml))
    line = line_of('id = "place"', toml) - 1
    assert str(caught.value) == f"charter.toml:{line}: Object missing required field `label` (at layer[1])"


# ── layers that are no stack ──────────────────────────────────────────────────────────────────────────────────────

NO_BASE = "a stack needs a base: its first required layer must be a system layer owned by sealed or operator"


@pytest.mark.requirement("S1-02")
@pytest.mark.parametrize(
    ("old", "new", "kind", "message"),
    [
        ('id = "place"', 'id = "base"', errors.DuplicateLayer, "layer 'base' or label 'P' stands twice"),
        ('label = "P"', 'label = "B"', errors.DuplicateLayer, "layer 'place' or label 'B' stands twice"),
        ('owner = "sealed"\nrequired = true', 'owner = "sealed"', errors.NoBase, NO_BASE),
        ('owner = "sealed"', 'owner = "agent"', errors.NoBase, NO_BASE),
        (
            'volatility = "turn"',
            'role = "user"',
            errors.UserLayerNotLast,
            "layer 'place' has the user role but is not last",
        ),
        (
            'whole = ["base", "said"]',
            'whole = ["said"]',
            errors.ModeDropsLayer,
            "mode 'small' drops the required layer 'base'",
        ),
        (
            'whole = ["base", "said"]',
            'whole = ["base"]',
            errors.ModeDropsLayer,
            "mode 'small' drops the required layer 'said'",
        ),
        (
            'summary = ["place"]',
            'summary = ["plaice"]',
            errors.StackError,
            "mode 'small' names layers that do not exist: plaice",
        ),
        (
            'layer = "place"',
            'layer = "plaice"',
            errors.StackError,
            "[budget] names a layer that does not exist: 'plaice'",
        ),
        ('gap = "\\n"', 'mode = "big"', errors.UnknownMode, "unknown mode 'big'; known: full, small"),
        ("max_chars = 4000", "max_chars = -1", errors.BadValue, "max_chars: -1 is negative; use 0 or more"),
    ],
)
def test_what_is_no_stack_is_refused_at_load(
    tmp_path: Path, old: str, new: str, kind: type[errors.CharterError], message: str
) -> None:
    with pytest.raises(kind) as caught:
        load(folder(tmp_path, swapped(old, new)))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("old", "new"), [("[channels.telegram]", "[channels.fax]"), ('channels = ["scheduled"]', 'channels = ["fax"]')]
)
def test_a_channel_nobody_knows_is_refused_at_load(tmp_path: Path, old: str, new: str) -> None:
    with pytest.raises(errors.UnknownChannel, match=r"^unknown channel 'fax'; known: terminal, cli_local, web, "):
        load(folder(tmp_path, swapped(old, new)))


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ('"place.md"', '"nowhere.md"', "nowhere.md"),
        ('"place.md"', '"../place.md"', "../place.md"),
        ('kind = "channel"', 'kind = "prompt"\npath = "x.md"', "x.md"),
        ('kind = "channel"', 'kind = "stored"\ndefault = "x.md"', "x.md"),
    ],
)
def test_a_file_the_charter_names_and_does_not_have_is_refused_at_load(
    tmp_path: Path, old: str, new: str, name: str
) -> None:
    with pytest.raises(errors.FileMissing) as caught:
        load(folder(tmp_path, swapped(old, new)))
    assert str(caught.value) == f"{name}: missing, needed by layer 'place' in charter.toml; create it or name another"


def test_a_source_that_chooses_by_what_no_request_has_is_a_typed_error(tmp_path: Path) -> None:
    root = folder(tmp_path, swapped('kind = "channel"', 'kind = "prompt"\npath = "{banana}.md"\nby = "banana"'))
    with pytest.raises(errors.CharterError):
        load(root).assemble(Incoming(text="hi", at=0))


# ── templates ─────────────────────────────────────────────────────────────────────────────────────────────────────

SLOT = "a slot holds a name such as {{ sender }}; filters and calls are not allowed"
TAG = "only if, elif, else, endif, for and endfor are allowed here"


@pytest.mark.requirement("N-07")
@pytest.mark.parametrize(
    ("template", "line", "problem"),
    [
        ("a\nb {{ channel | upper }}", 2, SLOT),
        ("a\n\n{% include 'x' %}", 3, TAG),
        ("{% autoescape false %}", 1, TAG),
        ("a\n{{ channel", 2, "'{{' is never closed"),
        ("a\n{% if channel", 2, "'{%' is never closed"),
        ("a\n{% if channel %}\nb", 3, "the template does not compile; check its {% %} tags"),
        ("a\n\n{{ nobody }}", 3, "no value for nobody; add the source that gives it"),
    ],
)
def test_a_template_that_does_what_prompts_may_not_is_refused_with_its_line(
    tmp_path: Path, template: str, line: int, problem: str
) -> None:
    with pytest.raises(errors.TemplateRefused) as caught:
        load(folder(tmp_path, files={"place.md": template})).assemble(Incoming(text="hi", at=0))
    assert str(caught.value) == f"place.md:{line}: {problem}"
    assert caught.value.where == f"place.md:{line}"
