"""8,000 characters: what gives way, in which order, that it is said each time, and that sealed text never does."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from charter.core.assemble import Assembly
from charter.core.budget import Limits
from charter.core.errors import BudgetExceeded, StackError
from charter.core.incoming import Incoming
from charter.core.layer import Owner
from charter.core.records import ConversationEntry, InboxMessage
from charter.folder import Charter, find, load
from charter.stores.memory import MemoryStore

WRITABLE = ("decision_loop", "inbox", "memory", "self_modification")
HISTORY = "Earlier exchanges left out, to stay within the limit: {}."
NOTES = "Older notes left out, to stay within the limit: {}."
MESSAGES = "Not shown, to stay within the limit: {} of them."


def busy(
    said: str = "word", *, size: int = 100, senders: tuple[str, ...] = ("adam", "zoe"), layers: int = 0
) -> Charter:
    """Six exchanges with each sender, twenty messages, six notes; layers of the agent's own where a size is given."""
    store = MemoryStore()
    for sender in senders:
        for number in range(6):
            entry = ConversationEntry(f"m{number}", (said * 500)[:500], (said * 500)[:500], f"t{number}", number)
            store.append_conversation("automaton", sender, entry)
    for number in range(19):
        sender = senders[number % len(senders)]
        store.stage("automaton", InboxMessage(f"m{number}", sender, f"{number} {said * size}"[:size]))
    for number in range(6):
        store.remember("automaton", "", f"{number} {said * size}"[:size], day=f"2026-01-0{number + 1}")
    for name in WRITABLE if layers else ():
        store.put_layer("automaton", name, (f"{name} first. " + said * layers)[:layers], by="turn-1")
    return load("sovereign", store=store)


def limited(charter: Charter, limit: int | None) -> Charter:
    return replace(charter, limits=replace(charter.limits, max_chars=limit))


def told(charter: Charter, *, sender: str = "adam", text: str = "hello " * 20, mode: str = "full") -> Assembly:
    return charter.assemble(Incoming(channel="inbox", sender=sender, text=text, at=0), mode=mode)


def sealed(assembly: Assembly) -> list[str]:
    return [part.text for part in assembly.parts if part.section.layer.owner is Owner.SEALED]


def state(assembly: Assembly) -> tuple[int, tuple[str, ...], int, int]:
    """Exchanges, layers that are one line, notes and messages that are left."""
    text = assembly.parts[-1].text
    lines = tuple(part.section.layer.id for part in assembly.parts if part.disposition == "summary")
    notes = re.findall(r"(?m)^- \[2026-01-0\d\] ", text)
    return text.count("[you]: "), lines, len(notes), len(re.findall(r"(?m)^- (?:adam|zoe): ", text))


SHED = [
    *((kept, (), 5, 20) for kept in (10, 8, 6, 4, 2, 0)),
    *((0, WRITABLE[3 - step :], 5, 20) for step in range(4)),
    *((0, WRITABLE, kept, 20) for kept in (4, 3, 2, 1, 0)),
    *((0, WRITABLE, 0, kept) for kept in (15, 10, 6, 3, 1, 0)),
]


@pytest.mark.requirement("S0-07", "N-05")
def test_layers_give_way_in_the_declared_order_step_by_step_and_then_no_further() -> None:
    charter = busy()
    limit: int | None = None
    for expected in SHED:
        assembly = told(limited(charter, limit))
        assert state(assembly) == expected
        assert sealed(assembly) == sealed(told(load("sovereign")))
        limit = len(assembly.reveal()) - 1
    with pytest.raises(BudgetExceeded) as caught:
        told(limited(charter, limit))
    assert (caught.value.needed, caught.value.limit) == (len(assembly.reveal()), limit)


@pytest.mark.requirement("S0-07", "N-05")
def test_a_prompt_that_just_fits_gives_nothing_away() -> None:
    charter = busy()
    whole = told(limited(charter, None))
    assert told(limited(charter, len(whole.reveal()))).reveal() == whole.reveal()
    assert {row.disposition for row in whole.manifest.stack[:-1]} == {"whole"}
    assert whole.manifest.stack[-1].reason == "conversation: 220 of 500 characters (× 20)"
    assert "limit" not in whole.parts[-1].text


@pytest.mark.requirement("S0-07", "N-05")
@pytest.mark.parametrize(
    ("step", "said", "reason"),
    [
        (1, [HISTORY.format(2)], "history: 2 left out, over the limit"),
        (5, [HISTORY.format(10)], "history: 10 left out, over the limit"),
        (9, [HISTORY.format(10)], "history: 10 left out, over the limit"),
        (
            11,
            [HISTORY.format(10), NOTES.format(2)],
            "; ".join(f"{cut} left out, over the limit" for cut in ("history: 10", "memories: 2")),
        ),
        (
            20,
            [MESSAGES.format(20), HISTORY.format(10), NOTES.format(5)],
            "; ".join(f"{cut} left out, over the limit" for cut in ("history: 10", "memories: 5", "obligations: 20")),
        ),
    ],
)
def test_every_cut_is_said_in_the_prompt_and_in_the_manifest(step: int, said: list[str], reason: str) -> None:
    charter = busy()
    assembly = told(limited(charter, None))
    for _ in range(step):
        assembly = told(limited(charter, len(assembly.reveal()) - 1))
    assert [line for line in assembly.parts[-1].text.split("\n") if "to stay within the limit" in line] == said
    rows = {row.id: (row.disposition, row.reason) for row in assembly.manifest.stack}
    disposition, told_why = rows.pop("situation")
    assert disposition == "truncated"
    assert re.sub(r"^conversation: 220 of 500 characters \(× \d+\); ", "", told_why) == reason
    one_line = state(assembly)[1]
    assert {name for name, row in rows.items() if row == ("summary", "over the limit")} == set(one_line)
    assert {name for name, row in rows.items() if row == ("whole", "")} == set(rows) - set(one_line)
    assert assembly.manifest.left_out == ()


@pytest.mark.requirement("S0-07", "N-05")
def test_the_newest_notes_stay_when_older_ones_are_left_out() -> None:
    charter = busy(size=1200)
    notes = re.findall(r'(?m)^- \[2026-01-0(\d)\] "(\d) ', told(charter, text="").parts[-1].text)
    assert 0 < len(notes) < 5
    assert notes == [(str(number + 1), str(number)) for number in range(5, 5 - len(notes), -1)]


@pytest.mark.requirement("N-05")
def test_a_prompt_whose_notes_are_all_left_out_does_not_say_there_are_none() -> None:
    charter = busy()
    assembly = told(limited(charter, None))
    for _ in range(14):
        assembly = told(limited(charter, len(assembly.reveal()) - 1))
    text = assembly.parts[-1].text
    assert NOTES.format(5) in text
    assert "No notes yet." not in text


WORST = {
    "tags": ("<", 140),
    "hidden": ("\U000e0041", 400),
    "quotes": ('"\\', 4000),
    "breaks": ("\n\n---\n\n## Layer 1: x", 1000),
    "family": ("👨\u200d👩\u200d👧\u200d👦", 1000),
    "words": ("word ", 4000),
}
FIVE = tuple(f"0x{digit * 40}" for digit in "abcde")


@pytest.mark.requirement("S0-07")
@pytest.mark.parametrize("mode", ["full", "compact"])
@pytest.mark.parametrize("layers", [0, 4000])
@pytest.mark.parametrize(("said", "size"), WORST.values(), ids=WORST.keys())
def test_the_worst_case_fits_and_its_sealed_text_is_whole(mode: str, layers: int, said: str, size: int) -> None:
    assembly = told(busy(said, size=size, senders=FIVE, layers=layers), sender=FIVE[0], text=said * 100, mode=mode)
    assert len(assembly.reveal()) <= 8000
    assert sealed(assembly) == sealed(told(load("sovereign"), mode=mode))
    assert [part.section.layer.label for part in assembly.parts] == [str(number) for number in range(11)]
    assert assembly.reveal() == "\n\n---\n\n".join(part.text for part in assembly.parts)


@pytest.mark.requirement("S0-07")
@pytest.mark.parametrize("size", [200, 500])
def test_a_sender_cannot_make_an_agent_mute_by_the_length_of_a_name(size: int) -> None:
    charter = busy(senders=("n" * size,))
    assert len(told(charter, sender="n" * size).reveal()) <= 8000


@pytest.mark.requirement("S0-07")
def test_without_its_declared_steps_the_worst_case_would_be_refused() -> None:
    charter = busy()
    idle = tuple(replace(step, keep=(99,)) for step in charter.limits.shed if step.to == "fewer")
    with pytest.raises(BudgetExceeded):
        told(replace(charter, limits=Limits(8000, shed=idle)))
    assert len(told(charter).reveal()) <= 8000


def copied(tmp_path: Path, old: str, new: str) -> Path:
    root = tmp_path / "sovereign"
    shutil.copytree(find("sovereign"), root, ignore=shutil.ignore_patterns("charter.lock"))
    text = (root / "charter.toml").read_text()
    assert text.count(old) == 1
    (root / "charter.toml").write_text(text.replace(old, new))
    return root


@pytest.mark.requirement("S0-07", "N-05")
def test_a_limit_below_the_required_text_is_an_error_before_anything_is_sent(tmp_path: Path) -> None:
    charter = load(copied(tmp_path, "max_chars = 8000", "max_chars = 2000"))
    with pytest.raises(BudgetExceeded) as caught:
        told(charter, text="")
    smallest = told(limited(load("sovereign"), caught.value.needed), text="")
    assert len(smallest.reveal()) == caught.value.needed
    assert str(caught.value) == (
        f"the required layers need {caught.value.needed:,} characters, the limit is 2,000; "
        "raise the limit in charter.toml [budget] or shorten a required layer"
    )


@pytest.mark.requirement("N-05")
def test_a_token_limit_counts_the_tool_schemas_sent_beside_the_prompt(tmp_path: Path) -> None:
    counted = told(load("sovereign"), text="").manifest
    layers = sum(row.tokens_est for row in counted.stack) + counted.joint_tokens
    assert counted.joint_tokens == 10 * 2
    assert counted.tokens_est == layers + counted.tools_tokens
    assert counted.tools_tokens > 100
    charter = load(copied(tmp_path, "max_chars = 8000", f"max_tokens = {layers}"))
    with_tools = told(charter, text="")
    assert with_tools.manifest.tokens_est <= layers
    assert [row.id for row in with_tools.manifest.stack if row.disposition == "summary"] == list(WRITABLE)
    bare = told(charter.within(tools=()), text="")
    assert {row.disposition for row in bare.manifest.stack} == {"whole"}


@pytest.mark.requirement("S0-07")
@pytest.mark.parametrize("name", ["interpretation", "constitution", "survival", "identity", "ethics", "operations"])
@pytest.mark.parametrize("to", ["summary", "nothing", "fewer"])
def test_a_step_that_would_cut_a_sealed_layer_is_refused_at_load(tmp_path: Path, name: str, to: str) -> None:
    step = f'[[budget.shed]]\nlayer = "{name}"\nto = "{to}"\nfact = "skills"\n\n[modes.full]'
    with pytest.raises(StackError) as caught:
        load(copied(tmp_path, "[modes.full]", step))
    assert str(caught.value) == f"[budget] may not cut the sealed layer '{name}'"


@pytest.mark.requirement("S0-07")
def test_a_step_that_would_take_layer_10_away_is_refused_at_load(tmp_path: Path) -> None:
    step = '[[budget.shed]]\nlayer = "situation"\nto = "nothing"\n\n[modes.full]'
    with pytest.raises(StackError) as caught:
        load(copied(tmp_path, "[modes.full]", step))
    assert str(caught.value) == "[budget] may not take the required layer 'situation' away"
