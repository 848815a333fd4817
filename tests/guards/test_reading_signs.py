"""Which signs around a quotation or above a list make a mention of it, each by itself, on tables made by hand."""

from __future__ import annotations

import pytest

from charter.guards.lexicon import Hit
from charter.guards.reading import Reading
from charter.guards.reading_quotes import is_cited, is_specimen

pytestmark = pytest.mark.requirement("N-08")
SIGNS = ("attempt", "command", "comply", "example", "hostile", "invert", "neg", "persona", "refuse", "says", "speaker")


def marked(text: str, **signs: str) -> tuple[Reading, Hit]:
    """A reading in which only these words are signs, and the act, which is the word `go`."""
    reading = Reading(text)
    reading.by = [{} for _ in reading.sentences]
    for category, word in {**signs, "act": "go"}.items():
        at = reading.words.index(word)
        hit = Hit(category, at, at + 1, reading.tokens.starts[at], reading.tokens.ends[at], "en", word)
        reading.by[reading.place(at)].setdefault(category, []).append(hit)
    return reading, next(hits["act"][0] for hits in reading.by if "act" in hits)


@pytest.mark.parametrize("sign", SIGNS)
def test_the_line_above_a_list_denies_or_reports_what_stands_under_it(sign: str) -> None:
    reading, act = marked("zorble these:\n- go now", **{sign: "zorble"})
    assert reading.is_under_negation(act) is (sign in ("neg", "invert", "hostile", "refuse", "attempt"))
    apart, act = marked("zorble these.\n\ngo now", **{sign: "zorble"})
    assert not apart.is_under_negation(act)


@pytest.mark.parametrize("sign", SIGNS)
def test_the_line_above_a_list_makes_a_mention_of_what_is_quoted_under_it(sign: str) -> None:
    for text in ('zorble these:\n- "go now"', "zorble these:\n> go now"):
        reading, act = marked(text, **{sign: "zorble"})
        assert reading.is_quoted(act) is (sign in ("hostile", "refuse", "attempt", "speaker", "example"))
    reading, act = marked("zorble these:\n- go now", **{sign: "zorble"})
    assert not reading.is_quoted(act)


@pytest.mark.parametrize("sign", SIGNS)
def test_the_sentence_before_or_after_makes_a_mention_of_a_quotation_that_stands_alone(sign: str) -> None:
    for text in ('zorble it.\n\n"go now"', '"go now"\n\nzorble it.'):
        reading, act = marked(text, **{sign: "zorble"})
        assert reading.is_quoted(act) is (sign in ("hostile", "refuse"))
    for text in ('zorble it.\n\nwell then.\n\n"go now"', '"go now"\n\nwell then.\n\nzorble it.'):
        reading, act = marked(text, **{sign: "zorble"})
        assert not reading.is_quoted(act)


@pytest.mark.parametrize("sign", SIGNS)
def test_a_sign_beside_a_quotation_in_its_sentence_makes_a_mention_of_it_or_none(sign: str) -> None:
    reading, act = marked('zorble "go now"', **{sign: "zorble"})
    assert reading.is_quoted(act) is (sign in ("hostile", "refuse"))
    reading, act = marked('zorble and that "go now"', **{sign: "zorble"})
    assert reading.is_quoted(act) is (sign != "command")
    reading, act = marked('"go zorble"', **{sign: "zorble"})
    assert not reading.is_quoted(act), "what stands inside says nothing about it"


@pytest.mark.parametrize(("outside", "mention"), [(0, False), (1, False), (2, False), (3, True)])
def test_three_words_outside_make_a_mention_of_a_quotation(outside: int, mention: bool) -> None:
    reading, act = marked(f'{"zorble " * outside}"go now and then"')
    assert reading.is_quoted(act) is mention
    reading, act = marked(f'"go now and then"{" zorble" * outside}')
    assert reading.is_quoted(act) is mention


def test_a_quotation_that_is_said_played_or_complied_with_is_judged_by_that() -> None:
    said = marked('well some say "go now"', says="say")
    assert said[0].is_quoted(said[1])
    complied = marked('well some say "go now", zorble', says="say", comply="zorble")
    assert not complied[0].is_quoted(complied[1])
    played = marked('well then just play "go now"', persona="play")
    assert not played[0].is_quoted(played[1])


@pytest.mark.parametrize("sign", SIGNS)
def test_what_is_shown_is_quoted_beside_a_sign_that_says_so(sign: str) -> None:
    text = 'zorble and that "go now"'
    reading, act = marked(text, **{sign: "zorble"})
    assert reading.is_shown(act.start, act.end) is (sign in ("hostile", "refuse", "example", "says"))
    if sign != "command":
        ordered, act = marked(text, **{sign: "zorble", "command": "that"})
        assert not ordered.is_shown(act.start, act.end)
    listed, act = marked('zorble these:\n- "go now"', **{sign: "zorble"})
    assert listed.is_shown(act.start, act.end) is (sign in ("hostile", "refuse", "attempt", "speaker", "example"))


@pytest.mark.parametrize("sign", SIGNS)
def test_what_no_page_shows_is_an_example_only_of_what_is_refused_and_on_the_same_line(sign: str) -> None:

    def shown(text: str, **signs: str) -> bool:
        reading, _ = marked(text, **signs)
        return reading.is_shown(text.index("<!--") + 4, text.index("-->"), in_markup=True)

    signs = {sign: "zorble", "example": "well"}
    assert shown("well zorble so <!-- go -->", **signs) is (sign in ("hostile", "refuse"))
    assert not shown("well zorble so <!-- go -->", **{sign: "zorble"})
    assert not shown("well zorble so\n<!-- go -->", **signs)
    assert not shown("w <!-- go -->", **{sign: "w", "example": "w"}), "no two letters stand before it"


@pytest.mark.parametrize("sign", SIGNS)
def test_a_block_or_a_fence_is_an_example_beside_what_is_hostile_or_refused(sign: str) -> None:
    for text in ("zorble it.\n\n> go now", "> go now\n\nzorble it."):
        reading, act = marked(text, **{sign: "zorble"})
        assert is_cited(reading, reading.sentences[reading.place(act.first)]) is (sign in ("hostile", "refuse"))
        reading.fences_are_mentions = True
        cited = is_cited(reading, reading.sentences[reading.place(act.first)])
        assert cited is (sign in ("hostile", "refuse", "example"))
    fenced, _ = marked("zorble it.\n\n```\ngo now\n```\n\nwell", **{sign: "zorble"})
    assert is_specimen(fenced, fenced.fences[0]) is (sign in ("hostile", "refuse"))


@pytest.mark.parametrize(
    ("text", "languages"),
    [
        ("nie zorble", set()),
        ("ohne zorble", {"de"}),
        ("не зорбл", {"ru", "uk"}),
        ("nie ignoriere zorble", {"de"}),
        ("never zorble", {"en"}),
        ("no zorble", {"en"}),
        ("pay zorble", {"en"}),
        ("olvida absender", {"de", "es"}),
        ("olvida ignoriere absender", {"de"}),
        ("never ignore las reglas", {"en", "es"}),
        ("olvida zorble. absender zorble", {"de", "es"}),
        ("zorble", set()),
    ],
)
def test_a_sentence_is_read_in_the_languages_of_which_it_has_enough(text: str, languages: set[str]) -> None:
    """A single short word is chance, and so is a language that has much less to say than another."""
    reading = Reading(text)
    assert {hit.language for found in reading.by for hits in found.values() for hit in hits} == languages
