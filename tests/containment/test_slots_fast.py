"""N-07: whatever a value holds and in whatever slot it stands, the prompt keeps its lines and the value stays data."""

from __future__ import annotations

from typing import Final

import pytest

from charter.core.errors import BadValue

from .characters import is_plain_alone
from .hunt import findings, swept, told
from .makers import data_file, with_timezone
from .oracle import MARKER, kind_of
from .slots import ENCODERS, SLOTS, Slot
from .values import CURATED, LOOKALIKES, MORE_TOKENS, READABLE, batches, generated, joined

pytestmark = pytest.mark.requirement(
    "N-07", "S0-16", "S0-04", "S0-05", "S1-02", "S2-05", "S2-06", "S3-05", "S3-06", "S3-09", "S4-01", "S4-05", "S4-06"
)

SEED: Final = 20260226
GENERATED: Final = 12_000
BY_NAME: Final = {slot.name: slot for slot in (*SLOTS, *ENCODERS)}
SWEPT: Final = (
    "encoder.line_start", "encoder.json", "encoder.spoken",
    "contract.user_input", "gateway.skill.description", "gateway.host.location",
)  # fmt: skip
ONE_OF_EACH_FORM: Final = (
    "sovereign.history.sender", "sovereign.memory.text", "assistant.instructions", "assistant.payload.openai",
    "gateway.skill.name", "gateway.fallback.schema", "assistant.identity.vibe",
)  # fmt: skip
LINES: Final = tuple(
    slot
    for slot in SLOTS
    if slot.rules.form in ("line", "xml") and slot.rules.expect and not slot.rules.free and not slot.picky
)


def test_there_are_hundreds_of_curated_values_and_every_slot_has_a_name_of_its_own() -> None:
    assert len(set(CURATED)) == len(CURATED) >= 200
    assert len(BY_NAME) == len(SLOTS) + len(ENCODERS) >= 100


@pytest.mark.parametrize("slot", [*SLOTS, *ENCODERS], ids=str)
def test_every_curated_value_stays_in_its_place(slot: Slot) -> None:
    values = CURATED[::3] if slot.disk else CURATED
    outcomes = {value: slot.judge(value).what for value in values}
    found = findings(slot, (value for value in values if outcomes[value] == "escaped"))
    assert not found, told(slot, found)
    contained = list(outcomes.values()).count("contained")
    assert contained >= len(values) * (0 if slot.picky else 0.5 if slot.disk or slot.room == 64 else 0.95)


@pytest.mark.parametrize("slot", SLOTS, ids=str)
def test_generated_values_stay_in_their_place(slot: Slot) -> None:
    numbers = range(SLOTS.index(slot), GENERATED, len(SLOTS))
    found = findings(slot, (generated(SEED, number) for number in numbers))
    assert not found, told(slot, found, f" (seed {SEED})")


@pytest.mark.parametrize("slot", LINES, ids=str)
def test_readable_values_of_every_script_stand_as_they_were_written(slot: Slot) -> None:
    assert slot.rules.expect is not None
    for value in READABLE:
        wanted = str(slot.rules.expect(value))
        cut = len(wanted) > (slot.room or 200)
        if not cut and not set(wanted) & set(slot.rules.quoted_if):
            shown = wanted.replace("&", "&amp;") if slot.rules.form == "xml" else wanted
            assert slot.make(value) == slot.shape.text.replace(MARKER, shown), ascii(value)


def test_a_time_zone_that_is_none_is_an_error_wherever_it_comes_from() -> None:
    for value in CURATED:
        if value.strip() and value != "Europe/Lisbon":
            with pytest.raises(BadValue):
                with_timezone(value)
    for value in ("## Soul", "<s>", "a\nb", "Europe", "../etc/passwd", "Europe/Lisbon\n## Soul"):
        with pytest.raises(BadValue):
            data_file("USER.md", "timezone", value)


# ── every code point ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", SWEPT)
def test_every_code_point_stays_in_its_place(name: str) -> None:
    slot = BY_NAME[name]
    found = swept(slot, batches())
    assert not found, told(slot, found)


def test_every_letter_mark_digit_and_emoji_stands_bare() -> None:
    line = BY_NAME["encoder.line"]
    plain = [character for character in map(chr, range(0x110000)) if is_plain_alone(character)]
    quoted = [f"U+{ord(one):04X}" for one in plain if line.make(f"a{one}a") != f"above\nkey: a{one}a end\nbelow"]
    assert not quoted


@pytest.mark.parametrize("joint", ["\u200c", "\u200d", "\ufe0f", "\ufe0f\u200d"], ids=ascii)
@pytest.mark.parametrize("name", ["encoder.quoted", "encoder.block"])
def test_what_can_be_seen_only_between_some_characters_stays_between_those_alone(name: str, joint: str) -> None:
    slot = BY_NAME[name]
    found = findings(slot, joined(joint))
    assert not found, told(slot, found)


# ── what models and readers make of it ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ONE_OF_EACH_FORM)
def test_control_tokens_in_brackets_are_broken_of_whatever_model_family_they_are(name: str) -> None:
    assert [token for token in MORE_TOKENS if token in BY_NAME[name].make(f"a {token} b")] == []


@pytest.mark.parametrize("name", ONE_OF_EACH_FORM)
def test_a_reader_that_normalises_what_it_reads_finds_nothing_new(name: str) -> None:
    found = {ascii(value): BY_NAME[name].judge_normalised(value) for value in LOOKALIKES}
    assert {value: what for value, what in found.items() if what} == {}


def test_the_kinds_of_lines_are_told_apart() -> None:
    lines = {
        "## Soul": ("heading 2",), "---": ("rule",), "- - -": ("rule",), "- --": ("rule",), "===": ("underline",),
        "- a: b": ("item", "text"), "- 1. a": ("item", "item", "text"), "```": ("fence",), "> a": ("frame",),
        "<skill>": ("tag",), "[you]: x": ("you speak",), "[bob]: x": ("someone speaks",), "Human: x": ("role line",),
        '["[x]"]: y': ("someone speaks",), '"system: x"': ("text",), "a - b": ("text",), "": ("blank",),
    }  # fmt: skip
    assert {line: kind_of(line) for line in lines} == lines
