"""A stack that exists is valid: each way to be wrong is a typed error at the door."""

from __future__ import annotations

from typing import Any

import pytest

from charter.core.errors import DuplicateLayer, ModeDropsLayer, NoBase, StackError, UnknownMode, UserLayerNotLast
from charter.core.layer import Layer, Mode, Owner, Role, Stack
from charter.core.text import Trust
from charter.templates import Compiled

pytestmark = pytest.mark.requirement("S1-02")

TEXT = Compiled("{{ text }}", "text.md")
BASE = Layer("base", "L1", TEXT, owner=Owner.SEALED, required=True)
USER = Layer("said", "L6", TEXT, role=Role.USER)


def stack(*layers: Layer, **options: Any) -> Stack:
    whole = frozenset(layer.id for layer in layers)
    return Stack(layers, options.pop("modes", {"full": Mode("full", whole)}), **options)


def test_the_base_is_the_first_required_layer() -> None:
    intro = Layer("intro", "L0", TEXT)
    made = stack(intro, BASE, USER)
    assert made.base is BASE
    assert made.position == {"intro": 0, "base": 1, "said": 2}
    assert made.mode("full").shows("said")
    assert not made.mode("full").shows("other")


@pytest.mark.parametrize(
    "layers",
    [
        (),
        (Layer("base", "L1", TEXT),),
        (Layer("base", "L1", TEXT, required=True, role=Role.USER),),
        (Layer("loop", "L0", TEXT, required=True, owner=Owner.AGENT), BASE),
        (Layer("base", "L1", TEXT, required=True, owner=Owner.USER),),
        (Layer("base", "L1", TEXT, required=True, owner=Owner.TURN),),
    ],
)
def test_a_stack_without_a_base_of_its_shippers_is_refused(layers: tuple[Layer, ...]) -> None:
    message = "a stack needs a base: its first required layer must be a system layer owned by sealed or operator"
    with pytest.raises(NoBase, match=f"^{message}$"):
        stack(*layers)


@pytest.mark.parametrize("owner", [Owner.SEALED, Owner.OPERATOR])
def test_sealed_and_operator_may_own_the_base(owner: Owner) -> None:
    base = Layer("base", "L1", TEXT, owner=owner, required=True)
    assert stack(base).base is base


@pytest.mark.parametrize(
    ("id_", "label", "named"),
    [("base", "L2", "layer 'base' or label 'L2'"), ("other", "L1", "layer 'other' or label 'L1'")],
)
def test_two_layers_may_share_neither_id_nor_label(id_: str, label: str, named: str) -> None:
    with pytest.raises(DuplicateLayer, match=f"^{named} stands twice$"):
        stack(BASE, Layer(id_, label, TEXT))


def test_a_label_may_not_be_another_layers_id() -> None:
    with pytest.raises(DuplicateLayer, match=r"^layer 'other' or label 'base' stands twice$"):
        stack(BASE, Layer("other", "base", TEXT))
    assert stack(Layer("base", "base", TEXT, required=True)).position == {"base": 0}


@pytest.mark.requirement("S1-05")
@pytest.mark.parametrize(
    ("id_", "label"),
    [
        ("", "L2"), ("Upper", "L2"), ("1st", "L2"), ("a:b", "L2"), ("a\n", "L2"), ("a-b", "L2"), ("x" * 65, "L2"),
        ("ok", ""), ("ok", "L:2"), ("ok", "L2\n"), ("ok", "-L"), ("ok", "L 2"), ("ok", "x" * 17),
    ],
)  # fmt: skip
def test_an_id_or_label_that_could_blur_a_hash_line_is_refused(id_: str, label: str) -> None:
    with pytest.raises(StackError, match=r"an id is lower-case letters, digits and _, a label is short and plain$"):
        stack(BASE, Layer(id_, label, TEXT))


@pytest.mark.parametrize(("id_", "label"), [("a", "0"), ("x" * 64, "y" * 16), ("a_1", "L2.b-c_d")])
def test_ids_and_labels_up_to_their_length_are_taken(id_: str, label: str) -> None:
    assert stack(BASE, Layer(id_, label, TEXT)).position == {"base": 0, id_: 1}


def test_a_user_layer_above_another_is_refused() -> None:
    with pytest.raises(UserLayerNotLast, match=r"^layer 'said' has the user role but is not last$"):
        stack(BASE, USER, Layer("after", "L7", TEXT))
    assert stack(BASE, USER).layers[-1] is USER


def test_a_mode_that_drops_a_required_layer_is_refused() -> None:
    role = Layer("role", "L2", TEXT, required=True)
    with pytest.raises(ModeDropsLayer, match=r"^mode 'tiny' drops the required layer 'role'$"):
        stack(BASE, role, modes={"tiny": Mode("tiny", frozenset({"base"}))})


def test_a_mode_may_drop_an_optional_layer_and_show_a_required_one_as_its_line() -> None:
    role = Layer("role", "L2", TEXT, required=True, summary=Compiled("Help.", "role.md"))
    made = stack(BASE, role, USER, modes={"tiny": Mode("tiny", frozenset({"base"}), frozenset({"role"}))})
    assert [made.mode("tiny").shows(layer.id) for layer in made.layers] == [True, True, False]


def test_a_mode_that_names_layers_no_one_has_is_refused() -> None:
    modes = {"odd": Mode("odd", frozenset({"base", "zeta"}), frozenset({"alpha"}))}
    with pytest.raises(StackError, match=r"^mode 'odd' names layers that do not exist: alpha, zeta$"):
        stack(BASE, modes=modes)


def test_a_mode_that_needs_a_summary_no_one_wrote_is_refused() -> None:
    modes = {"c": Mode("c", frozenset(), frozenset({"base"}))}
    with pytest.raises(StackError, match=r"^mode 'c' shows 'base' as one line, but the layer has no summary$"):
        stack(BASE, modes=modes)


def test_a_stack_without_modes_is_refused() -> None:
    with pytest.raises(StackError, match=r"^a stack needs at least one mode$"):
        stack(BASE, modes={})


def test_an_unknown_mode_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownMode, match=r"^unknown mode 'x'; known: full$"):
        stack(BASE).mode("x")


@pytest.mark.requirement("N-07")
def test_the_structure_of_a_stack_is_its_titles_its_templates_headings_and_its_joiner() -> None:
    talk = Compiled("### Talk with {{ who }}\n#### Notes\n# {{ who }}", "talk.md")
    made = stack(Layer("base", "L1", TEXT, "## Base", required=True), Layer("talk", "L2", talk), joiner="\n\n---\n\n")
    text = "## Base\n### Talk with eve\n# Notes\n---\n## Talk\n# eve"
    assert made.structure.escape(text) == "\\## Base\n\\### Talk with eve\n\\# Notes\n\\---\n## Talk\n# eve"
    assert made.structure is made.structure


@pytest.mark.parametrize("trust", list(Trust))
def test_a_layer_accepts_outside_text_unless_it_says_otherwise(trust: Trust) -> None:
    assert Layer("a", "L1", TEXT).accepts is Trust.OUTSIDE
    assert Layer("a", "L1", TEXT, accepts=trust).accepts is trust
