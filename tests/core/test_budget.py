"""The budget never lies: inside its limits or an error; required text whole; every cut has an entry and a reason."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter.core.assemble import ESTIMATE, Assembly, Section, Settings, assemble
from charter.core.budget import Limits, Step, check_steps, fewer
from charter.core.errors import BadValue, BudgetExceeded, StackError
from charter.core.layer import Layer, Mode, Owner, Stack
from charter.core.ports import ToolSpec
from charter.core.text import Facts, Piece, Value
from charter.templates import Compiled

pytestmark = pytest.mark.requirement("N-05", "S0-07")

LIST = Compiled(
    "Notes.\n{% if cut.notes %}\nLeft out: {{ cut.notes }}.\n{% endif %}\n"
    "{% for note in notes %}\n- {{ note }}\n{% endfor %}",
    "notes.md",
)
BASE = Layer("base", "L1", Compiled("Never lie.", "base.md"), "## Base", Owner.SEALED, required=True)
ROLE = Layer("role", "L2", Compiled("You help.", "role.md"), "## Role", required=True)
LOOPING, ACT = (
    Compiled("Look, think, act, rest, look again, and write down what was seen.", "loop.md"),
    Compiled("Act.", "charter.toml:7"),
)
LOOP = Layer("loop", "L3", LOOPING, "## Loop", Owner.AGENT, summary=ACT)
EXTRA = Layer("extra", "L4", Compiled("This may go when there is no room.", "extra.md"))
NOTES = Layer("notes", "L5", LIST, "## Notes", Owner.TURN, required=True)
EVERY = frozenset({"base", "role", "loop", "extra", "notes"})
STACK = Stack((BASE, ROLE, LOOP, EXTRA, NOTES), {"full": Mode("full", EVERY)})
SHED = (Step("notes", "fewer", "notes", keep=(2, 1, 0)), Step("loop", "summary"), Step("extra", "nothing"))
NOTED = ["one, and a word more", "two, and a word more", "three, and a word more"]
HEAD = "## Base\n\nNever lie.\n\n## Role\n\nYou help.\n\n"
LOOP_WHOLE = "## Loop\n\nLook, think, act, rest, look again, and write down what was seen.\n\n"
EXTRA_WHOLE = "This may go when there is no room.\n\n"
NOTE = "## Notes\n\nNotes.\n"
WHOLE = f"{HEAD}{LOOP_WHOLE}{EXTRA_WHOLE}{NOTE}- {NOTED[0]}\n- {NOTED[1]}\n- {NOTED[2]}"
LINE = "## Loop — Act. (shortened to fit)\n\n"
LEAST = f"{HEAD}{LINE}{NOTE}Left out: 3."


def build(notes: list[str], limits: Limits, tools: tuple[ToolSpec, ...] = ()) -> Assembly:
    check_steps(limits, STACK)
    facts: dict[str, Facts] = {"notes": {"notes": notes, "cut": {"notes": 0}}}
    sections = [Section(layer, facts.get(layer.id, {})) for layer in STACK.layers]
    return assemble(STACK, sections, mode="full", settings=Settings(limits=limits), tools=tools)


def tried(notes: list[str], limits: Limits) -> Assembly | BudgetExceeded:
    try:
        return build(notes, limits)
    except BudgetExceeded as error:
        return error


def became(assembly: Assembly) -> dict[str, tuple[str, str]]:
    sent = {entry.id: (str(entry.disposition), entry.reason) for entry in assembly.manifest.stack}
    return sent | {left.id: (left.disposition, left.reason) for left in assembly.manifest.left_out}


UNCUT = dict.fromkeys(EVERY, ("whole", ""))


def test_a_prompt_that_fits_exactly_is_sent_whole() -> None:
    exact = build(NOTED, Limits(len(WHOLE), shed=SHED))
    assert exact.reveal() == WHOLE
    assert became(exact) == UNCUT


@pytest.mark.parametrize(
    ("text", "notes", "loop", "extra"),
    [
        (f"{HEAD}{LOOP_WHOLE}{EXTRA_WHOLE}{NOTE}Left out: 1.\n- {NOTED[1]}\n- {NOTED[2]}", 1, "whole", "whole"),
        (f"{HEAD}{LOOP_WHOLE}{EXTRA_WHOLE}{NOTE}Left out: 2.\n- {NOTED[2]}", 2, "whole", "whole"),
        (f"{HEAD}{LOOP_WHOLE}{EXTRA_WHOLE}{NOTE}Left out: 3.", 3, "whole", "whole"),
        (f"{HEAD}{LINE}{EXTRA_WHOLE}{NOTE}Left out: 3.", 3, "summary", "whole"),
        (LEAST, 3, "summary", "dropped"),
    ],
)
def test_what_gives_way_gives_way_in_the_declared_order_and_no_more_than_needed(
    text: str, notes: int, loop: str, extra: str
) -> None:
    small = build(NOTED, Limits(len(text), shed=SHED))
    assert small.reveal() == text
    assert became(small) == UNCUT | {
        "notes": ("truncated", f"notes: {notes} left out, over the limit"),
        "loop": (loop, "over the limit" if loop != "whole" else ""),
        "extra": (extra, "over the limit" if extra != "whole" else ""),
    }


def test_one_character_less_than_the_least_is_an_error_before_any_call() -> None:
    with pytest.raises(BudgetExceeded) as caught:
        build(NOTED, Limits(len(LEAST) - 1, shed=SHED))
    assert (caught.value.needed, caught.value.limit) == (len(LEAST), len(LEAST) - 1)
    assert str(caught.value) == (
        f"the required layers need {len(LEAST)} characters, the limit is {len(LEAST) - 1}; "
        "raise the limit in charter.toml [budget] or shorten a required layer"
    )


@pytest.mark.parametrize("limit", [0, 1, 10])
def test_a_limit_of_zero_or_next_to_it_is_an_error_not_an_empty_prompt(limit: int) -> None:
    for limits in (Limits(max_chars=limit, shed=SHED), Limits(max_tokens=limit, shed=SHED)):
        with pytest.raises(BudgetExceeded, match=f"the limit is {limit};"):
            build([], limits)


def test_a_negative_limit_is_refused_by_name() -> None:
    with pytest.raises(BadValue, match=r"^max_chars: -1 is negative; use 0 or more$"):
        Limits(max_chars=-1)
    with pytest.raises(BadValue, match=r"^max_tokens: -20 is negative; use 0 or more$"):
        Limits(max_tokens=-20)
    assert (Limits(max_chars=0).max_chars, Limits(max_tokens=0).max_tokens) == (0, 0)


def test_without_a_limit_nothing_is_cut() -> None:
    whole = build(["n" * 200] * 200, Limits(shed=SHED))
    assert became(whole) == UNCUT
    assert len(whole.reveal()) > 40_000


def test_tool_schemas_count_against_the_tokens() -> None:
    tool = ToolSpec("send", "Sends a letter.", {"type": "object"})
    bare = build(NOTED, Limits())
    schema = b'[{"description":"Sends a letter.","name":"send","parameters":{"type":"object"}}]'
    room = bare.manifest.tokens_est + ESTIMATE(schema)
    assert became(build(NOTED, Limits(max_tokens=room, shed=SHED), (tool,))) == UNCUT
    tight = build(NOTED, Limits(max_tokens=room - 1, shed=SHED), (tool,))
    assert became(tight)["notes"] == ("truncated", "notes: 1 left out, over the limit")
    assert tight.manifest.tokens_est <= room - 1


def test_too_many_tokens_are_named_as_tokens() -> None:
    with pytest.raises(BudgetExceeded, match=r"^the required layers need \d+ tokens, the limit is 9; raise the limit"):
        build([], Limits(max_tokens=9))


@given(
    st.lists(st.text("ab c", max_size=40), max_size=6),
    st.integers(0, 300),
    st.none() | st.integers(0, 70),
    st.permutations(SHED).flatmap(lambda steps: st.integers(0, 3).map(lambda n: tuple(steps[:n]))),
)
def test_no_limit_is_passed_no_required_byte_cut_and_no_cut_left_unsaid(
    notes: list[str], chars: int, tokens: int | None, shed: tuple[Step, ...]
) -> None:
    small = tried(notes, Limits(chars, tokens, shed))
    if isinstance(small, BudgetExceeded):
        assert small.needed > small.limit
        assert small.limit in (chars, tokens)
        return
    text, manifest = small.reveal(), small.manifest
    assert len(text) <= chars
    assert tokens is None or manifest.tokens_est <= tokens
    assert text.startswith("## Base\n\nNever lie.\n\n## Role\n\nYou help.\n\n")
    assert became(small)["base"] == became(small)["role"] == ("whole", "")
    uncut = build(notes, Limits())
    for layer, (disposition, reason) in became(small).items():
        same = next((part.text for part in small.parts if part.section.layer.id == layer), None) == next(
            part.text for part in uncut.parts if part.section.layer.id == layer
        )
        assert (disposition == "whole") is same
        assert (reason == "") is same
        assert same or any(step.layer == layer for step in shed)


KEEP = "'notes': name a fact, and in keep fewer and fewer, none below 0"


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        (Step("none", "nothing"), "names a layer that does not exist: 'none'"),
        (Step("base", "fewer", "notes"), "may not cut the sealed layer 'base'"),
        (Step("base", "nothing"), "may not cut the sealed layer 'base'"),
        (Step("role", "nothing"), "may not take the required layer 'role' away"),
        (Step("role", "summary"), "may not take the required layer 'role' away"),
        (Step("extra", "summary"), "'extra' has no summary to fall back to"),
        (Step("notes", "fewer"), KEEP),
        (Step("notes", "fewer", "notes", keep=()), KEEP),
        (Step("notes", "fewer", "notes", keep=(1, 2)), KEEP),
        (Step("notes", "fewer", "notes", keep=(1, 1)), KEEP),
        (Step("notes", "fewer", "notes", keep=(0, -1)), KEEP),
    ],
)
def test_a_step_that_would_cut_what_may_never_be_cut_is_refused(step: Step, problem: str) -> None:
    with pytest.raises(StackError) as caught:
        check_steps(Limits(shed=(*SHED, step)), STACK)
    assert str(caught.value) == f"[budget] {problem}"


def test_the_oldest_items_go_first_and_equal_steps_are_skipped() -> None:
    facts: Facts = {"notes": ["a", "b", "c"], "cut": {"notes": 0, "other": 7}, "n": 1}
    steps = list(fewer(facts, Step("notes", "fewer", "notes", keep=(9, 3, 2, 2, 0))))
    assert steps == [
        ({"notes": ["b", "c"], "cut": {"notes": 1, "other": 7}, "n": 1}, 1),
        ({"notes": [], "cut": {"notes": 3, "other": 7}, "n": 1}, 3),
    ]


@pytest.mark.parametrize(("cut", "said"), [({"notes": 4}, 6), ({"notes": 0}, 2), ({"notes": None}, 2), ({}, 2)])
def test_what_was_left_out_before_is_counted_with_what_is_left_out_now(cut: dict[str, Value], said: int) -> None:
    facts: Facts = {"notes": ["a", "b", "c"], "cut": cut}
    assert list(fewer(facts, Step("notes", "fewer", "notes", keep=(1,)))) == [
        ({"notes": ["c"], "cut": {"notes": said}}, 2)
    ]


def test_a_step_that_does_not_say_how_many_stay_leaves_none() -> None:
    facts: Facts = {"notes": ["a"], "cut": {"notes": 0}}
    assert list(fewer(facts, Step("notes", "fewer", "notes"))) == [({"notes": [], "cut": {"notes": 1}}, 1)]


@pytest.mark.requirement("S0-04")
def test_a_list_with_the_newest_first_gives_way_at_its_back() -> None:
    newest_first: Facts = {"notes": ["c", "b", "a"], "cut": {"notes": 0}}
    assert list(fewer(newest_first, Step("notes", "fewer", "notes", keep=(9, 3, 2, 0), drop="back"))) == [
        ({"notes": ["c", "b"], "cut": {"notes": 1}}, 1),
        ({"notes": [], "cut": {"notes": 3}}, 3),
    ]
    talks: Facts = {"talks": [{"said": [3, 2, 1]}, {"said": [4]}], "cut": {"talks": 0}}
    assert list(fewer(talks, Step("notes", "fewer", "talks", "said", (1,), "back"))) == [
        ({"talks": [{"said": [3]}, {"said": [4]}], "cut": {"talks": 2}}, 2)
    ]


@pytest.mark.parametrize("within", ["", "said"])
def test_a_list_that_is_short_enough_does_not_give_way(within: str) -> None:
    facts: Facts = {"notes": [{"said": [1, 2]}, {"said": []}], "cut": {"notes": 0}}
    assert list(fewer(facts, Step("notes", "fewer", "notes", within, keep=(9, 3, 2)))) == []


@pytest.mark.requirement("S0-08")
def test_a_list_inside_each_item_gives_way_in_every_item_and_an_emptied_item_goes() -> None:
    facts: Facts = {"talks": [{"who": "a", "said": [1, 2, 3]}, {"who": "b", "said": [4]}], "cut": {"talks": 0}}
    assert list(fewer(facts, Step("notes", "fewer", "talks", "said", (2, 0)))) == [
        ({"talks": [{"who": "a", "said": [2, 3]}, {"who": "b", "said": [4]}], "cut": {"talks": 1}}, 1),
        ({"talks": [], "cut": {"talks": 4}}, 4),
    ]


@pytest.mark.parametrize(
    "facts", [{}, {"cut": {}}, {"notes": ["a"]}, {"notes": "abc", "cut": {}}, {"notes": 3, "cut": {}}]
)
def test_what_is_no_list_or_could_not_be_shown_as_cut_does_not_give_way(facts: Facts) -> None:
    assert list(fewer(facts, Step("notes", "fewer", "notes"))) == []


def test_a_step_for_a_layer_that_is_not_there_is_passed_over() -> None:
    sections = [Section(BASE, {}), Section(ROLE, {}), Section(NOTES, {"notes": ["x" * 50], "cut": {"notes": 0}})]
    limits = Limits(80, shed=(Step("extra", "nothing"), *SHED))
    small = assemble(STACK, sections, mode="full", settings=Settings(limits=limits))
    assert small.reveal() == "## Base\n\nNever lie.\n\n## Role\n\nYou help.\n\n## Notes\n\nNotes.\nLeft out: 1."


@pytest.mark.requirement("S2-04")
@pytest.mark.parametrize(
    ("piece", "became"),
    [
        (Piece("x" * 1200, "SOUL.md", original=2000), ("truncated", "SOUL.md: 1,200 of 2,000 characters")),
        (Piece("x" * 1200, "SOUL.md", original=2000, kept=1160), ("truncated", "SOUL.md: 1,160 of 2,000 characters")),
        (Piece("x" * 1200, "SOUL.md", original=1190, kept=1150), ("truncated", "SOUL.md: 1,150 of 1,190 characters")),
        (Piece("x" * 1200, "SOUL.md", original=1200), ("whole", "")),
        (Piece("x" * 1200, "SOUL.md", original=1200, kept=1200), ("whole", "")),
        (Piece("x" * 1200, "SOUL.md"), ("whole", "")),
    ],
)
def test_a_text_that_came_capped_is_named_with_what_is_left_of_it(piece: Piece, became: tuple[str, str]) -> None:
    said = Layer("said", "L2", Compiled("{{ a }} {{ b }}", "said.md"))
    stack = Stack((BASE, said), {"full": Mode("full", frozenset({"base", "said"}))})
    sections = [Section(BASE, {}), Section(said, {"a": piece, "b": Piece("y", "TOOLS.md", original=1)})]
    entry = assemble(stack, sections, mode="full", settings=Settings()).manifest.stack[1]
    assert (entry.disposition, entry.reason) == became
