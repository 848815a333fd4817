"""Ways around the core that were tried and are shut."""

from __future__ import annotations

import pytest

from charter.core.assemble import Section, Settings, assemble
from charter.core.budget import Limits, Step
from charter.core.errors import BadValue, BudgetExceeded, LayerEmpty, StackError, TemplateRefused
from charter.core.incoming import Incoming
from charter.core.layer import Layer, Mode, Owner, Stack
from charter.core.payload import tools_json
from charter.core.ports import ToolSpec
from charter.core.text import Capped, Facts, Form, Piece, Structure, Trust, cap, encode, shorten
from charter.templates import Compiled

NOTHING_OURS = Structure([], "\n\n")


def stack_of(*layers: Layer, summary: frozenset[str] = frozenset()) -> Stack:
    whole = frozenset(layer.id for layer in layers) - summary
    return Stack(layers, {"full": Mode("full", whole, summary)})


@pytest.mark.requirement("N-07")
@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("{% if a %}label {% endif %}{{ name }}", {"name"}),
        ("{% if a %}label {% else %}{{ name }}{% endif %}", {"name"}),
        ("{% for x in a %}\n{{ x }}\n{% endfor %}\n{% for x in b %}\n- {{ x }}\n{% endfor %}", {"x", "a", "b"}),
        ("- {{ name }}", {"name"}),
        ("- label: {{ name }}", set()),
        ("{{ a }} {{ b }}", {"a", "b"}),
        ("label {% if a %}and {{ b }}{% endif %}", set()),
    ],
)
def test_a_slot_that_may_come_first_on_a_line_is_known(text: str, starts: set[str]) -> None:
    assert Compiled(text, "t.md").starts == starts


@pytest.mark.requirement("N-07")
def test_a_key_of_a_mapping_is_encoded_like_any_value() -> None:
    encoded = encode({"## Base\n---": "x", "plain": "y"}, NOTHING_OURS)
    assert encoded == {'"## Base\\n---"': "x", "plain": "y"}


@pytest.mark.requirement("N-07")
@pytest.mark.parametrize("text", ["Base\n=", "Base\n-", "Base\r\n---", "a\r## Base", "## Base\r\n"])
def test_a_short_underline_and_an_old_line_end_make_no_heading_of_ours(text: str) -> None:
    escaped = Structure(["## Base"], "\n\n").escape(text)
    assert "\\" in escaped
    assert "\r" not in escaped


@pytest.mark.requirement("N-07")
@pytest.mark.parametrize("name", ["range", "dict", "debug", "namespace", "cycler", "joiner"])
def test_the_template_engines_own_names_have_no_value(name: str) -> None:
    with pytest.raises(TemplateRefused, match=f"no value for {name}"):
        Compiled(f"x {{{{ {name} }}}}", "t.md").render({})


@pytest.mark.parametrize("name", ["true", "none", "loop"])
def test_a_word_of_the_template_language_is_no_slot(name: str) -> None:
    with pytest.raises(TemplateRefused, match="a slot holds a name"):
        Compiled(f"x {{{{ {name} }}}}", "t.md")


BASE = Layer("base", "1", Compiled("Be good.", "b.md"), "## Base", Owner.SEALED, required=True)
LISTED = "{% for n in notes %}\n- {{ n }}\n{% endfor %}\n"
LIST = Compiled(LISTED + "{% if cut.notes %}\nleft out: {{ cut.notes }}\n{% endif %}", "n.md")
BARE = Compiled("{% for n in notes %}\n- {{ n }}\n{% endfor %}", "n.md")
NOTES: Facts = {"notes": ["one " * 20, "two " * 20, "three " * 20], "cut": {"notes": 0}}


@pytest.mark.requirement("N-05")
def test_two_steps_on_one_list_tell_the_sum_of_what_is_left_out() -> None:
    layer = Layer("notes", "2", LIST, owner=Owner.TURN)
    steps = (Step("notes", "fewer", "notes", keep=(2,)), Step("notes", "fewer", "notes", keep=(0,)))
    settings = Settings(limits=Limits(60, shed=steps))
    made = assemble(stack_of(BASE, layer), [Section(BASE, {}), Section(layer, NOTES)], mode="full", settings=settings)
    assert made.reveal().endswith("left out: 3")
    assert made.parts[1].reason == "notes: 1 left out, over the limit; notes: 2 left out, over the limit"


@pytest.mark.requirement("N-05", "S1-02")
def test_a_budget_never_empties_a_required_layer_and_drops_one_that_is_not() -> None:
    steps = (Step("notes", "fewer", "notes", keep=(0,)),)
    settings = Settings(limits=Limits(60, shed=steps))
    for required in (True, False):
        layer = Layer("notes", "2", BARE, owner=Owner.TURN, required=required)
        stack, sections = stack_of(BASE, layer), [Section(BASE, {}), Section(layer, NOTES)]
        if required:
            with pytest.raises(LayerEmpty, match="'notes' would be empty within the limit"):
                assemble(stack, sections, mode="full", settings=settings)
        else:
            made = assemble(stack, sections, mode="full", settings=settings)
            assert made.reveal() == "## Base\n\nBe good."
            assert made.manifest.left_out[0].reason == "notes: 3 left out, over the limit"
            tiny = Settings(limits=Limits(5, shed=(Step("notes", "fewer", "notes", keep=(0,)),)))
            with pytest.raises(BudgetExceeded, match="need 17 characters, the limit is 5"):
                assemble(stack, sections, mode="full", settings=tiny)


@pytest.mark.requirement("N-05")
def test_a_layer_shown_as_one_line_is_not_made_whole_by_a_budget() -> None:
    layer = Layer("notes", "2", LIST, "## Notes", Owner.TURN, summary=Compiled("Some notes. " * 5, "s.md"))
    other = Layer("other", "3", Compiled("This may go. " * 5, "o.md"))
    steps = (Step("notes", "fewer", "notes", keep=(2, 0)), Step("other", "nothing"))
    settings = Settings(limits=Limits(100, shed=steps))
    stack = stack_of(BASE, layer, other, summary=frozenset({"notes"}))
    sections = [Section(BASE, {}), Section(layer, NOTES), Section(other, {})]
    made = assemble(stack, sections, mode="full", settings=settings)
    assert [(part.section.layer.id, part.disposition) for part in made.parts] == [
        ("base", "whole"),
        ("notes", "summary"),
    ]


@pytest.mark.requirement("S0-07")
def test_steps_that_would_cut_sealed_text_are_refused_before_they_cut() -> None:
    settings = Settings(limits=Limits(1, shed=(Step("base", "nothing"),)))
    with pytest.raises(StackError, match="may not cut the sealed layer 'base'"):
        assemble(stack_of(BASE), [Section(BASE, {})], mode="full", settings=settings)


@pytest.mark.requirement("S0-08")
def test_an_empty_line_is_no_line() -> None:
    layer = Layer("notes", "2", BARE, "## Notes", Owner.TURN, summary=Compiled("{{ said }}", "s.md"))
    stack = stack_of(BASE, layer, summary=frozenset({"notes"}))
    sections = [Section(BASE, {}), Section(layer, {"said": "", "notes": []})]
    assert assemble(stack, sections, mode="full", settings=Settings()).reveal() == "## Base\n\nBe good."


@pytest.mark.requirement("N-07")
def test_a_cut_never_parts_a_flag_or_a_family() -> None:
    assert cap("🇩🇪" * 60, 41).kept % 2 == 0
    assert shorten("a👨\u200d👩\u200d👧b", 4) == "a…"
    assert shorten("🇩🇪🇫🇷", 4) == "🇩🇪🇫🇷"
    assert shorten("🇩🇪🇫🇷!", 4) == "🇩🇪…"
    with pytest.raises(BadValue, match="-1 is negative"):
        shorten("x", -1)


def test_a_tool_with_a_broken_character_is_hashed_all_the_same() -> None:
    assert b"\\ud800" in tools_json([ToolSpec("t", "\ud800")])


def test_no_repr_shows_the_text_of_a_tool_or_a_cut() -> None:
    assert repr(ToolSpec("t", "canary", {"canary": 1})) == "ToolSpec(name='t', left=None)"
    assert repr(Capped("canary", 9, 6)) == "Capped(6 of 9 characters)"
    assert "canary" not in repr(Piece("canary", "o", Trust.OPERATOR, Form.MARKDOWN))


def test_an_empty_key_and_a_time_that_is_a_switch_are_refused() -> None:
    with pytest.raises(BadValue, match="an empty key protects nothing"):
        Settings(key=b"")
    with pytest.raises(BadValue, match="a bool is not a time"):
        Incoming(at=True)


def test_a_mode_shows_a_layer_whole_or_as_one_line_not_both() -> None:
    with pytest.raises(StackError, match="both whole and as one line: base"):
        Stack((BASE,), {"full": Mode("full", frozenset({"base"}), frozenset({"base"}))})
