"""Sections stand in the stack's order or nothing is assembled; each refusal names the layer and no more."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter.core.assemble import Section, Settings, assemble
from charter.core.errors import (
    AssemblyError,
    LayerEmpty,
    LayerMissing,
    LayerOrder,
    MisplacedContent,
    UnknownLayer,
    UnknownMode,
)  # fmt: skip
from charter.core.layer import Layer, Mode, Owner, Role, Stack
from charter.core.text import Form, Piece, Trust
from charter.templates import Compiled

pytestmark = pytest.mark.requirement("S1-02")

TEXT = Compiled("{% if text %}{{ text }}{% endif %}", "text.md")


def words(text: str, trust: Trust = Trust.OPERATOR) -> Piece:
    return Piece(text, "test", trust, Form.LINE if trust is Trust.OUTSIDE else Form.MARKDOWN)


BASE = Layer("base", "L1", TEXT, "## Base", Owner.SEALED, required=True, accepts=Trust.OPERATOR)
ROLE = Layer("role", "L2", TEXT, "## Role", required=True, accepts=Trust.OPERATOR)
SKILLS = Layer("skills", "L3", TEXT, accepts=Trust.PROJECT)
TASK = Layer("task", "L4", TEXT)
SAID = Layer("said", "L5", TEXT, role=Role.USER, owner=Owner.TURN, required=True)
LAYERS = (BASE, ROLE, SKILLS, TASK, SAID)
ALL = frozenset(layer.id for layer in LAYERS)
STACK = Stack(LAYERS, {"full": Mode("full", ALL), "short": Mode("short", ALL - {"task"})})
FOREIGN = Layer("foreign", "L9", TEXT)
LOOKALIKE = replace(ROLE)  # equal in every field, and still not the stack's


def section(layer: Layer) -> Section:
    trust = Trust.OPERATOR if layer in (BASE, ROLE) else Trust.PROJECT
    return Section(layer, {"text": words(f"{layer.id} text", trust)})


def expected(layers: list[Layer]) -> type[AssemblyError] | None:
    last = -1
    for layer in layers:
        if layer is FOREIGN or layer is LOOKALIKE:
            return UnknownLayer
        here = LAYERS.index(layer)
        if here <= last:
            return LayerOrder
        last = here
    return None if {BASE, ROLE, SAID} <= set(layers) else LayerMissing


@given(st.lists(st.sampled_from((*LAYERS, FOREIGN, LOOKALIKE)), max_size=7))
def test_any_sections_give_the_stack_order_or_a_typed_error(layers: list[Layer]) -> None:
    error = expected(layers)
    if error is not None:
        with pytest.raises(error):
            assemble(STACK, map(section, layers), mode="full", settings=Settings())
        return
    assembly = assemble(STACK, map(section, layers), mode="full", settings=Settings())
    assert [entry.id for entry in assembly.manifest.stack] == [layer.id for layer in LAYERS if layer in layers]


@given(st.permutations(LAYERS))
def test_all_sections_in_any_other_order_are_refused(layers: list[Layer]) -> None:
    if layers == list(LAYERS):
        whole = assemble(STACK, map(section, layers), mode="full", settings=Settings())
        assert whole.reveal() == (
            "## Base\n\nbase text\n\n## Role\n\nrole text\n\nskills text\n\ntask text\n\nsaid text"
        )
        return
    with pytest.raises(LayerOrder, match=r"^layer '\w+' came after '\w+'; the order is the stack's$"):
        assemble(STACK, map(section, layers), mode="full", settings=Settings())


def test_a_section_that_comes_twice_is_out_of_order() -> None:
    with pytest.raises(LayerOrder, match=r"^layer 'role' came after 'role'; the order is the stack's$"):
        assemble(STACK, map(section, (BASE, ROLE, ROLE, SAID)), mode="full", settings=Settings())


@pytest.mark.parametrize("stranger", [FOREIGN, LOOKALIKE])
def test_a_layer_that_is_not_the_stacks_own_is_unknown_even_if_it_is_equal(stranger: Layer) -> None:
    with pytest.raises(UnknownLayer, match=f"^layer '{stranger.id}' is not in this stack$"):
        assemble(STACK, map(section, (BASE, stranger, SKILLS, TASK, SAID)), mode="full", settings=Settings())


@pytest.mark.parametrize("missing", [BASE, ROLE, SAID])
def test_a_required_layer_without_a_section_is_missing(missing: Layer) -> None:
    rest = [section(layer) for layer in LAYERS if layer is not missing]
    with pytest.raises(LayerMissing, match=f"^the required layer '{missing.id}' is missing$"):
        assemble(STACK, rest, mode="full", settings=Settings())


@pytest.mark.parametrize("text", ["", "\n", "\n\n\n"])
@pytest.mark.parametrize("empty", [BASE, ROLE, SAID])
def test_a_required_layer_with_nothing_to_say_is_empty(empty: Layer, text: str) -> None:
    sections = [
        Section(layer, {"text": words(text, Trust.OPERATOR)}) if layer is empty else section(layer) for layer in LAYERS
    ]
    with pytest.raises(LayerEmpty, match=f"^the required layer '{empty.id}' is empty$"):
        assemble(STACK, sections, mode="full", settings=Settings())


def test_an_optional_layer_with_nothing_to_say_leaves_neither_heading_nor_joiner() -> None:
    sections = [section(BASE), section(ROLE), Section(SKILLS, {"text": None}), section(SAID)]
    assembly = assemble(STACK, sections, mode="full", settings=Settings())
    assert assembly.reveal() == "## Base\n\nbase text\n\n## Role\n\nrole text\n\nsaid text"
    assert [left.to_dict() for left in assembly.manifest.left_out] == [
        {"layer": "L3", "id": "skills", "disposition": "dropped", "reason": "nothing to say"}
    ]


def test_a_prompt_tells_which_layer_has_which_text() -> None:
    assembly = assemble(STACK, map(section, (BASE, ROLE, SAID)), mode="full", settings=Settings())
    told = [(layer.id, text) for layer, text in assembly.texts()]
    assert told == [("base", "## Base\n\nbase text"), ("role", "## Role\n\nrole text"), ("said", "said text")]


def test_a_kept_section_stands_the_same_beside_one_that_has_nothing_to_say() -> None:
    kept = [Section(layer, section(layer).facts, keep=True) for layer in (BASE, ROLE, SAID)]
    settings = Settings()
    first, again = (
        assemble(STACK, [*kept[:2], Section(TASK, {"text": None}), kept[2]], mode="full", settings=settings)
        for _ in range(2)
    )
    assert first.reveal() == again.reveal() == "## Base\n\nbase text\n\n## Role\n\nrole text\n\nsaid text"
    assert [part.sha256 for part in first.parts] == [part.sha256 for part in again.parts]


@pytest.mark.requirement("N-05")
def test_a_layer_the_mode_leaves_out_is_named_with_the_mode() -> None:
    assembly = assemble(STACK, map(section, LAYERS), mode="short", settings=Settings())
    assert assembly.reveal() == "## Base\n\nbase text\n\n## Role\n\nrole text\n\nskills text\n\nsaid text"
    assert [left.to_dict() for left in assembly.manifest.left_out] == [
        {"layer": "L4", "id": "task", "disposition": "dropped", "reason": "not in mode short"}
    ]


@pytest.mark.requirement("N-05")
def test_a_mode_goes_by_names_and_not_by_how_many_sections_came() -> None:
    assembly = assemble(STACK, map(section, (BASE, ROLE, TASK, SAID)), mode="short", settings=Settings())
    assert assembly.reveal() == "## Base\n\nbase text\n\n## Role\n\nrole text\n\nsaid text"
    assert [(left.id, left.reason) for left in assembly.manifest.left_out] == [("task", "not in mode short")]


def test_a_mode_the_stack_does_not_have_is_an_error_that_lists_those_it_has() -> None:
    with pytest.raises(UnknownMode, match=r"^unknown mode 'ful'; known: full, short$") as caught:
        assemble(STACK, map(section, LAYERS), mode="ful", settings=Settings())
    assert caught.value.known == ("full", "short")


@pytest.mark.requirement("N-07")
@pytest.mark.parametrize(
    ("layer", "trust", "refused"),
    [
        (BASE, Trust.OUTSIDE, "layer 'base' takes operator text only, but was given outside text"),
        (BASE, Trust.PROJECT, "layer 'base' takes operator text only, but was given project text"),
        (BASE, Trust.OPERATOR, None),
        (ROLE, Trust.OUTSIDE, "layer 'role' takes operator text only, but was given outside text"),
        (SKILLS, Trust.OUTSIDE, "layer 'skills' takes project text only, but was given outside text"),
        (SKILLS, Trust.PROJECT, None),
        (SKILLS, Trust.OPERATOR, None),
        (TASK, Trust.OUTSIDE, None),
        (SAID, Trust.OUTSIDE, None),
    ],
)
def test_a_layer_takes_no_text_of_less_trust_than_it_accepts(layer: Layer, trust: Trust, refused: str | None) -> None:
    sections = [Section(each, {"text": words("hello", trust)}) if each is layer else section(each) for each in LAYERS]
    if refused is None:
        assert "hello" in assemble(STACK, sections, mode="full", settings=Settings()).reveal()
        return
    with pytest.raises(MisplacedContent, match=f"^{refused}$"):
        assemble(STACK, sections, mode="full", settings=Settings())


@pytest.mark.requirement("N-07")
@pytest.mark.parametrize("mode", ["full", "short"])
def test_user_content_hidden_deep_in_a_layers_facts_is_found_in_every_mode(mode: str) -> None:
    deep = Section(BASE, {"text": words("base"), "rows": [{"n": 1, "inner": [{"who": "user text"}]}]})
    with pytest.raises(MisplacedContent, match=r"^layer 'base' takes operator text only, but was given outside text$"):
        assemble(STACK, [deep, *map(section, LAYERS[1:])], mode=mode, settings=Settings())


def test_numbers_and_switches_are_no_text_of_anyone() -> None:
    plain = Section(BASE, {"text": words("base"), "n": 1, "share": 0.5, "on": True, "off": None, "cut": {"n": 0}})
    assembly = assemble(STACK, [plain, *map(section, LAYERS[1:])], mode="full", settings=Settings())
    assert assembly.parts[0].text == "## Base\n\nbase"
