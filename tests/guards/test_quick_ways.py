"""Quick ways give what slow ways give: a pattern that was turned round is held against the one that says it plainly."""

import base64
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from charter.guards import (
    decode,
    disclosure_scene,
    hidden,
    joining,
    override_shape,
    override_things,
    reading_cuts,
    turning,
    views,
)
from charter.guards.joining import joined, words_of
from charter.guards.lexicon import Lexicon, tokens_of
from charter.guards.override_rules import RULES
from charter.guards.reading import Reading
from charter.guards.views import plain, views_of

from .measure import cases

_ALONE = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\uff66-\uff9f\U00020000-\U0003ffff"
)
_SPELT = r"\u0900-\u0963\u0966-\u0dff\u0300-\u036f"
_WORD = re.compile(rf"[{_ALONE}]|[^\W_{_ALONE}](?:[^\W_{_ALONE}{_SPELT}]|[{_SPELT}]|'(?=[^\W_]))*+")
_MASKS = r"[0134578@$!|+€]"
_BETWEEN = r"[ \t\-._*~·•|/\\,+=:]{1,3}|\n"

_END = (
    r"(?<!\A\d)(?<!\n\d)(?<!\n\d\d)(?<!\n[ \t]\d)(?<!\n[ \t][ \t]\d)(?<!\n[ \t][ \t][ \t]\d)"
    r"(?<![\s.](?:e|i)\.(?:g|e))(?<!\bvs)(?<!\betc)(?<!\bno)(?<!\bapprox)[.!?]+(?=[\"'”’»)\]*_」]*(?:\s|\Z))"
    r"|[。！？!?｡।؟۔](?=[^\s\d.,;:)\"'”’»」』])|[。।۔]|\n[ \t]*\n"
    rf"|(?<=[:.!?;,])[ \t*_]*\n|\n(?={reading_cuts._ITEM})|\n(?=[ \t]*[\w.-]+:[ \t])"
)
_CLAUSE = r"[;:؛；：]|\s[-–—]+\s|—|\n|\.{2,}|[()→⇒]|[-=]>"

_SAID_END = (
    r"[.!?…]+(?=[\s\"'”’»)\]]|\Z)|[。！？؟।۔]+|;(?=\s)|\n[ \t]*\n"
    r"|\n(?=[ \t]*(?:[-*+•>#]|\d{1,3}[.)])[ \t])|(?<=[:.!?,;])[ \t]*\n"
)

# What a pattern says plainly, and over which letters it is tried.
PLAINLY = {
    "base32": (decode._BASE32, r"(?<![A-Z2-7])[A-Z2-7]{16,}+={0,6}", "AZ27= b"),
    "numbers": (decode._NUMBERS, r"(?<!\d)\d{1,3}+(?:[ \t,;.:|/-]{1,3}+\d{1,3}+){6,}+", "019٣ ,;-a"),
    "morse": (decode._MORSE, r"(?<![\w.\-])[.\-]{1,6}+(?:(?:[ ]{1,3}(?=[.\-])|[ ]?[/|][ ]?|\n)[.\-]{1,6}+){5,}+",
              ".-  /|\na"),
    "inside": (joining._INSIDE, r"(?<=[^\W\d_])(?:[-._*~`/\\|+=·•^]{1,2}|-\n)(?=[^\W\d_])", "aé-.·\n_1"),
    "masked": (views._MASKED, rf"(?<=[a-z])[0134578@$€]++|(?<!{_MASKS}){_MASKS}++(?=[a-z])", "ab01@!| "),
    "sentence": (views._SENTENCE, r"[.!?。！？।؟]++\s|\n", "a.!。؟ \n"),
    "end": (reading_cuts._END, _END, "a1。！？!?｡।؟۔.:;,_* \n\t-)\"'vsetcnoapprox」"),
    "said": (disclosure_scene._END, _SAID_END, "a1.!?…。！？؟।۔;:, \n\t-)'"),
    "clause": (reading_cuts._CLAUSE, _CLAUSE, "a;：-–— \n.=>(→"),
}  # fmt: skip


@pytest.mark.parametrize("name", PLAINLY)
@settings(max_examples=300)
@given(data=st.data())
def test_a_pattern_that_begins_with_what_is_rare_finds_the_same(name: str, data: st.DataObject) -> None:
    quick, plainly, letters = PLAINLY[name]
    text = data.draw(st.text(st.sampled_from(letters), max_size=80) | st.text(max_size=40))
    assert [found.span() for found in quick.finditer(text)] == [found.span() for found in re.finditer(plainly, text)]


# A pattern that is looked for only where its need is met: no text has the one without the other.
NEEDS = {
    "folded base64": (decode._LONG_LINE, decode._FOLDED, "aZ0+/\r\n="),
    "hex": (decode._SOME_HEX, decode._HEX, "0aFx\\ :,;-"),
    "bits": (decode._SOME_BITS, decode._BITS, "01 ,\t"),
    "tags": (decode._SMUGGLED, decode._TAGS, "\U000e0041\U000e0042a"),
    "selectors": (decode._SMUGGLED, decode._SELECTORS, "\ufe01\U000e0100a"),
    "blanks": (decode._SMUGGLED, decode._BLANKS, "\u200b\u2060\ufeff"),
    "spaced": (joining._ALONE, joining._SPACED, "ab1 -.\n"),
    "hidden": (hidden._SOME, hidden._HIDDEN, "\u200b\u200d😀a\x00\U000e0041"),
}


@pytest.mark.parametrize("name", NEEDS)
@given(data=st.data())
def test_what_is_passed_over_has_nothing_to_be_found(name: str, data: st.DataObject) -> None:
    need, pattern, letters = NEEDS[name]
    text = data.draw(st.text(st.sampled_from(letters), max_size=120) | st.text(max_size=40))
    if need.search(text) is None:
        assert not [found for found in pattern.finditer(text) if name != "hidden" or found[1]]


@pytest.mark.parametrize("guard", ["override", "files"])
def test_a_shape_an_address_and_a_link_are_looked_for_where_their_sign_is(guard: str) -> None:
    sought = [shape.pattern for shape in override_shape._SHAPES]
    ways = [(one.sign, one.others) for one in sought if one.others is not None]
    ways += [(one.sign, one.pattern) for one in (override_things.ADDRESS, override_things.LINK)]
    for case in cases(guard, "tune")[::4]:
        text = plain(case["text"])
        for sign, pattern in ways:
            assert sign.search(text) or not pattern.search(text)


def test_a_rule_sees_nothing_without_what_it_needs() -> None:
    for case in cases("override", "tune")[::8]:
        reading = Reading(plain(case["text"]))
        for sentence, found in zip(reading.sentences, reading.by, strict=True):
            for rule, needs in RULES:
                assert not needs.isdisjoint(found) or not [*rule(reading, sentence, found)]


@settings(max_examples=400)
@given(
    st.text(st.sampled_from("aB7Q %&\\\\u+;.-_/|\n"), max_size=60)
    | st.text(st.characters(max_codepoint=127), max_size=80)
    | st.binary(max_size=24).map(lambda data: base64.b64encode(data).decode())
    | st.binary(max_size=24).map(lambda data: base64.b32encode(data).decode())
    | st.lists(st.sampled_from([".-", "-...", "-.-.", "..", "/", "\n"]), max_size=14).map(" ".join)
)
def test_no_decoder_finds_anything_in_a_text_without_a_sign_of_a_code(text: str) -> None:
    found = [name for name, decoder in decode.DECODERS if any(decoder(text))]
    assert decode.may_be_coded(text) or not found


@given(st.text(st.sampled_from("aZ1_- ") | st.just("\n"), max_size=40))
def test_a_code_needs_a_digit_or_two_cases(text: str) -> None:
    assert (decode._CODED.search(text) is None) == (re.search(r"[a-z][A-Z]|[A-Z]{2}[a-z]|[0-9]", text) is None)


@given(st.text(st.sampled_from("aZ1+= \n"), max_size=200))
def test_codes_stand_in_lines_that_have_a_sign_of_one(text: str) -> None:
    for pattern in (decode._BASE64, decode._BLOCKS):
        all_ = [found.span() for found in pattern.finditer(text) if decode._CODED.search(found.group())]
        lines = [found for line in decode._coded_lines(text) for found in pattern.finditer(text, *line)]
        assert [found.span() for found in lines if decode._CODED.search(found.group())] == all_


@given(st.text(st.sampled_from("aAyYſdo1_ é"), max_size=60))
def test_words_of_pig_latin_are_found_from_their_ends(text: str) -> None:
    assert turning._piglike(text) == turning._PIG.findall(text)


@given(st.text(max_size=80) | st.text(st.sampled_from("aé'’_ 中กक्ि९०\u0301かﾊ.漢ु한-\U00020000ʼ"), max_size=40))
def test_words_are_those_of_the_plain_pattern(text: str) -> None:
    found = [(match.group(), *match.span()) for match in _WORD.finditer(text.replace("’", "'"))]
    assert [*zip(*tokens_of(text), strict=True)] == found


PIECES = ["sys", "tem", "in", "struc", "tions", "the", "a", "pro", "mpt", "prompt", "s", "your", "ру", "ле"]


@settings(deadline=None)  # the first text waits for the word tables
@given(st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join))
@example("a in struc tions sys tem")
def test_neighbours_are_put_together_as_when_every_pair_is_tried(text: str) -> None:
    words, known = words_of(text), decode.vocabulary()
    slow = [
        (at, more) for more in (2, 3) for at in range(len(words) - more + 1) if "".join(words[at : at + more]) in known
    ]
    spans = [found.span() for found in re.finditer(r"[^\W\d_]+", text)]
    wanted = [
        (spans[at][0], spans[at + more - 1][1], "".join(words[at : at + more]))
        for at, more in slow
        if known.isdisjoint(words[at : at + more]) and len("".join(words[at : at + more])) > 5
    ]
    assert sorted(joining._pieced(text, words)) == sorted(wanted)
    assert joined(text, words)[0] == joined(text, words_of(text))[0]


WORDS = ["spell", "it", "out", "print", "printing", "system", "prompt", "text", "a", "p", "po"]
PATTERNS = [
    "print*", "spell .. out", "system", "system prompt(s|)", "system .. text", "p*", "po*", "a (print|text)", "it",
    "(it|) system", "(a text|po) print", "(print|spell) (it|a)", "(system|print*) .. out", "(a|..) prompt",
    "spell .. (out|)", "(a|) it .. (po|) text",
]  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=14), st.lists(st.sampled_from(PATTERNS), unique=True))
def test_a_lexicon_finds_the_longest_of_each_category_at_each_place(words: list[str], patterns: list[str]) -> None:
    tokens = tokens_of(" ".join(words))
    ways = [(pattern, _spelled(pattern)) for pattern in patterns]
    wanted = set()
    for category in ("even", "odd"):
        mine = [
            spelled
            for number, (_, all_) in enumerate(ways)
            if (number % 2 == 0) == (category == "even")
            for spelled in all_
        ]
        for first in range(len(words)):
            lasts = [last for spelled in mine if (last := _matched(words, first, spelled))]
            if lasts:
                wanted.add((category, first, max(lasts)))
    lexicon = Lexicon({"en": {"even": patterns[::2], "odd": patterns[1::2]}})
    assert {(hit.category, hit.first, hit.last) for hit in lexicon.find(tokens)} == wanted


def _spelled(pattern: str) -> list[list[str]]:
    if "(" not in pattern:
        words = pattern.removesuffix(" ..").split()  # dots at the end are none
        return [words] if not pattern.startswith("..") else []
    before, inner, after = re.split(r"[()]", pattern, maxsplit=2)
    return [words for one in inner.split("|") for words in _spelled(" ".join(f"{before}{one}{after}".split()))]


def _matched(words: list[str], at: int, spelled: list[str]) -> int:
    """Past the last word of the longest match; nothing where there is none."""
    if not spelled:
        return at
    head, *rest = spelled
    if head == "..":
        return max((_matched(words, at + skip, rest) for skip in range(5) if at + skip <= len(words)), default=0)
    if at >= len(words) or not (words[at].startswith(head[:-1]) if head.endswith("*") else words[at] == head):
        return 0
    return _matched(words, at + 1, rest)


def test_numbers_in_other_digits_are_read_without_a_stumble() -> None:
    assert views_of("1: ٠١ ٢٣ ٤٥ ٦٧ ٨٩ ٠١ ٢٣ ٤٥").plain.text == plain("1: ٠١ ٢٣ ٤٥ ٦٧ ٨٩ ٠١ ٢٣ ٤٥")
