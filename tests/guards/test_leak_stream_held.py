"""What of a stream is held, from which letter to which, and when the whole of it is looked at again."""

from __future__ import annotations

import base64
from functools import partial

import pytest

from charter.guards.finding import ALLOWED, Finding
from charter.guards.leak import Screen
from charter.guards.leak_scan import Scan

from .test_leak import CANARY, HIDDEN, OTHER, RUSSIAN, SENTENCE

pytestmark = pytest.mark.requirement("N-08", "S1-06")
CODED = base64.b64encode(SENTENCE.encode()).decode()


def left(screen: Screen, text: str) -> str:
    """What has left when a text has come, letter by letter."""
    return "".join(map(screen.feed, text))


# ── where a leak stands ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("before", ["", "Well: ", "Well, my friend, since you ask me so very nicely, here we go, ok: "])
def test_a_leak_in_a_stream_is_shown_from_its_first_letter_to_the_last_that_came(before: str) -> None:
    screen = Screen(HIDDEN)
    text = before + SENTENCE
    left(screen, text)
    (span,) = screen.finding.spans
    assert text[span.start : span.end] == "When a guest complains twice, offer a breakfast vouc"


@pytest.mark.parametrize("before", ["", "Well: ", "so it is " * 8])
def test_a_code_in_a_stream_is_shown_from_its_first_character_to_the_space_behind_it(before: str) -> None:
    screen = Screen({"poems": OTHER, "house": HIDDEN})
    text = f"{before}{CODED} "
    left(screen, text)
    (span,) = screen.finding.spans
    assert text[span.start : span.end] == CODED
    assert (screen.finding.code, screen.finding.layer) == ("LEAK", "house")
    assert screen.finding.reason == span.reason == "18 hidden words by letters, view base64"
    assert [(sign.name, sign.view) for sign in screen.finding.signs] == [("letters", "base64")]


def test_of_a_very_short_hidden_text_thirty_letters_are_a_leak_in_a_stream_and_fewer_are_none() -> None:
    words = "zalor bexim cuvot dwipa evqun flonk gruxa hizbo".split()
    for first in (0, 2):
        screen = Screen(" ".join(words))
        assert left(screen, " ".join(words[first : first + 6])[:-1]) == " ".join(words[first : first + 3])[:13]
        assert screen.finding == ALLOWED
        screen.feed(words[first + 5][-1])
        assert screen.finding.reason == "6 hidden words by letters, in the stream"


def test_a_canary_in_a_stream_is_shown_where_it_stands() -> None:
    screen = Screen(OTHER, canaries=[CANARY])
    text = f"Well, it is {CANARY}"
    left(screen, text)
    (span,) = screen.finding.spans
    assert (text[span.start : span.end], span.code) == (CANARY, "LEAK_CANARY")


# ── what is held ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_at_most_a_hundred_and_sixty_letters_of_a_run_that_weighs_nothing_are_held() -> None:
    """The person said it, so it may leave; but what follows might be more than they said."""
    letters = [at for at, char in enumerate(HIDDEN) if char.isalnum()]
    screen = Screen(HIDDEN, history=[("user", HIDDEN)])
    for count in (12, 160, 161, 300):
        screen = Screen(HIDDEN, history=[("user", HIDDEN)])
        assert screen.feed(HIDDEN[: letters[count - 1] + 1]) == HIDDEN[: letters[max(count - 160, 0)]]
    assert screen.finding.decision == "allow"


def test_eleven_letters_of_a_run_are_not_held_and_twelve_are_from_the_first() -> None:
    screen = Screen(HIDDEN)
    assert screen.feed("Zu: when a guest c") == "Zu: when a guest c"
    screen = Screen(HIDDEN)
    assert screen.feed("Zu: when a guest co") == "Zu: "


@pytest.mark.parametrize("before", ["", "so it is " * 80, "so it is " * 200])
@pytest.mark.parametrize("size", [24, 25, 40])
def test_of_a_word_that_may_be_code_twenty_four_characters_leave_wherever_it_begins(before: str, size: int) -> None:
    word = ("a1" * size)[:size]
    assert Screen(OTHER).feed(before + word) == before + word[:24]
    assert left(Screen(OTHER), before + word) == before + word[:24]


@pytest.mark.parametrize("sign", [*"09+/=%&#;\\_-", "\u200b", "\u2064", "\ufe0f", "\U000e0001"])
def test_a_word_may_be_code_when_one_of_its_first_characters_is_a_sign_of_one(sign: str) -> None:
    assert Screen(OTHER).feed(f"{'z' * 23}{sign}{'z' * 6}") == f"{'z' * 23}{sign}"
    assert Screen(OTHER).feed(f"{'z' * 24}{sign}{'z' * 6}") == f"{'z' * 24}{sign}{'z' * 6}"
    assert Screen(OTHER).feed("z" * 22 + "zZ" + "z" * 6) == "z" * 22 + "zZ"
    assert Screen(OTHER).feed("Z" * 23 + "z" * 7) == "Z" * 23 + "z" * 7


def test_a_word_is_looked_at_when_it_is_longer_than_twenty_four_characters_with_its_space() -> None:
    coded = base64.b64encode(CANARY.encode()).decode()
    assert len(coded) == 24
    assert Screen(OTHER, canaries=[CANARY]).feed(f"{coded} ") == ""
    screen = Screen(OTHER, canaries=[CANARY])
    assert screen.feed(f"{coded.rstrip('=')} ") == f"{coded.rstrip('=')} "
    assert (screen.end(), screen.finding.code) == ("", "LEAK_CANARY"), "it was too short to be held"


def test_a_word_of_a_thousand_and_twenty_four_characters_is_looked_at_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    whole = Scan.runs

    def runs(self: Scan, text: str) -> Finding:
        seen.append(text)
        return whole(self, text)

    monkeypatch.setattr(Scan, "runs", runs)
    for feed in (Screen(OTHER).feed, partial(left, Screen(OTHER))):
        assert feed("z1" * 511 + "z") == "z1" * 12
        assert seen == []
        assert feed("1 ok") == ("z1" * 512)[24:] + " ok"
        assert seen == ["z1" * 512]
        assert feed("z1" * 600 + " ") == "z1" * 600 + " "
        assert seen == ["z1" * 512, "ok" + "z1" * 511, "z1" * 89 + " "]
        seen.clear()


def test_a_reply_is_looked_at_to_its_last_whole_word_each_time_it_has_grown_by_half(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[int] = []
    whole = Scan.reply

    def reply(self: Scan, text: str) -> Finding:
        seen.append(len(text))
        return whole(self, text)

    monkeypatch.setattr(Scan, "reply", reply)
    screen = Screen(OTHER)
    left(screen, "a sea " * 40)
    assert seen == [62, 96, 144, 216], "when 64, 96, 144 and 216 characters had come"
    screen = Screen(OTHER)
    screen.feed("a sea " * 40)
    screen.feed("a sea " * 19)
    screen.feed("a sea")
    assert seen[4:] == [240]
    screen.feed(" ")
    assert seen[5:] == [360]
    assert screen.end() == ""
    assert seen[6:] == [360]


def test_a_leak_in_another_order_is_stopped_on_its_way() -> None:
    backwards = " ".join(HIDDEN.split()[::-1])
    screen = Screen(HIDDEN)
    assert len(left(screen, backwards)) < 200
    assert "reversed" in screen.finding.reason
    assert screen.end() == ""


# ── however it is cut ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("so it is " * 30, ""),
        (f"so it is {'z1' * 20}", "z1" * 8),
        (f"so it is {'z1' * 20} ok", ""),
        (f"{'z' * 1_022}1", ""),
        (f"z1{'z' * 1_021}", "z" * 999),
        (f"z1{'z' * 1_022}", ""),
        (f"z1{'z' * 1_022}1{'z' * 40}", "z" * 17),
        ("Good evening, when a guest co", "when a guest co"),
        ("Good evening, when a guest came, when a guest co", "when a guest co"),
        (f"{'so it is ' * 7}when a guest co", "s when a guest co"),
        (f"{'so it is ' * 6}so it when a guest co", "when a guest co"),
        ("so it is \\", ""),
        ("so it, \\u0077hen a guest co", "7hen a guest co"),
        ("so it, \\nwhen a\\tguest co", "when a\\tguest co"),
        ("it is qua", "qua"),
        ("it is quartz-7f31-hero", "quartz-7f31-hero"),
        ("it is quartz-7f31-heroine, well", ""),
        ("it is quartz-7f31-heroine, quartz", "quartz"),
    ],
)
def test_what_comes_at_once_is_held_to_the_letter_and_leaves_whole_however_it_comes(text: str, held: str) -> None:
    at_once, by_letter = (Screen(HIDDEN, canaries=[CANARY]) for _ in range(2))
    assert at_once.feed(text) == text.removesuffix(held)
    assert at_once.end() == held
    assert left(by_letter, text) + by_letter.end() == text
    assert at_once.finding == by_letter.finding == ALLOWED


@pytest.mark.parametrize(
    ("written", "held"),
    [
        ("\\u0077hen a guest co", True),
        ("\\u0057hen a guest co", True),
        ("w\\u0068\\u0065n a guest co", True),
        ("w\\u00e9n a guest co", False),
        ("wh\\u00e9n a guest co", True),
        ("when a gu\\rest co", True),
        ("when a gu\\best co", False),
        ("when a gu\\u12-est co", False),
        ("\\when a guest co", True),
        ("wh\\en a guest co", True),
        ("\\\\when a guest co", True),
        ("\\nwhen a guest c", False),
        ("n when a guest co", True),
    ],
)
def test_an_escape_stands_for_its_character_in_a_stream(written: str, held: bool) -> None:
    """Twelve letters of the hidden text are held, and eleven are not."""
    assert (Screen(HIDDEN).feed(written) != written) is held


@pytest.mark.parametrize("written", ["\\u004g", "\\u00ez", "\\u123²"])
def test_an_escape_that_is_none_is_its_letters(written: str) -> None:
    screen = Screen(HIDDEN)
    assert screen.feed(f"so {written} it") + screen.end() == f"so {written} it"


def test_a_stream_reads_letters_that_only_look_like_those_of_a_hidden_text_in_its_alphabet() -> None:
    assert Screen(HIDDEN).feed("whеn а guеst со") == "", "these vowels are Cyrillic"
    assert Screen(RUSSIAN).feed("ключ от нижней лестницы") == ""
    assert Screen(RUSSIAN).feed("when a guest complains twice") == "when a guest complains twice"


# ── canaries ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("secret", "said", "found"),
    [
        ("abc", "so abc", False),
        ("abcd", "abcd", True),
        ("abca", "abca", True),
        ("abcd", "bcd", False),
        ("abcd", "so a-b-c-d", True),
        ("abcd", "xabcd", False),
        ("abcd", "x-abcd", True),
        ("abcdefg", "so xabcdefg", False),
        ("abcdefg", "so abcdefg", True),
        ("abcdefgh", "so xabcdefgh", True),
        ("aabaabaa", "so aabaabaabaa", True),
        ("aabaaac", "so aabaaabaaac", False),
        ("abcabd", "so abcabcabd", False),
        ("abcabdab", "so abcabcabdab", True),
    ],
)
def test_a_short_canary_begins_a_word_of_a_stream_and_a_long_one_may_stand_anywhere(
    secret: str, said: str, found: bool
) -> None:
    screen = Screen(OTHER, canaries=[secret])
    left(screen, said)
    assert (screen.finding.code == "LEAK_CANARY") is found


def test_a_canary_of_three_letters_is_only_found_when_the_reply_ends() -> None:
    screen = Screen(OTHER, canaries=["abc"])
    assert screen.feed("so abc") == "so abc"
    assert (screen.end(), screen.finding.code) == ("", "LEAK_CANARY")


def test_a_canary_that_the_reply_before_began_is_held_from_the_first_letter() -> None:
    history = [("assistant", "it begins quartz-")]
    screen = Screen(OTHER, history=history, canaries=[CANARY])
    assert [screen.feed(char) for char in "7f31-heron"] == [""] * 10
    assert screen.finding.code == "LEAK_CANARY"
    screen = Screen(OTHER, history=history, canaries=[CANARY])
    assert [screen.feed(char) for char in "7f32 ok"] == ["", "", "", "7f32", " ", "o", "k"]
    screen = Screen(OTHER, history=[("assistant", "it begins qu")], canaries=[CANARY])
    assert [screen.feed(char) for char in "ad"] == ["", "ad"]


@pytest.mark.parametrize("text", ["so quart", "so quartz qua", "so qua", "qua"])
def test_of_several_canaries_all_are_held(text: str) -> None:
    begun = text.rindex("qua")
    assert Screen(OTHER, canaries=["basalt-90aa", CANARY]).feed(text) == text[:begun]
    assert Screen(OTHER, canaries=[CANARY, "basalt-90aa"]).feed(text) == text[:begun]
