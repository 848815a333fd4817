"""An empty reply is not sent, however it is spelled and however it comes in; anything else is, whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter.core.silence import Quiet, is_silent

from .texts import HIDDEN, anything

pytestmark = pytest.mark.requirement("S3-10")

TOKENS = ("", "NO_REPLY", "[SILENT]", "...", "Stille ß", "沈黙", "a")
tokens = st.sampled_from(TOKENS)
near = st.lists(
    st.sampled_from(
        (*TOKENS[1:], "no_", "NO_REP", "LY", " ", "\n", "`", "**", '"', "“", "。", ".", "!", "STILLE SS", "ß", "s",
         "ok", "\u200b")
    ),
    max_size=6,
).map("".join)  # fmt: skip


@pytest.mark.parametrize("text", ["", " ", "\n\t \r\n", "\u3000\xa0", *HIDDEN, "".join(HIDDEN), "\ud800"])
def test_a_reply_with_nothing_to_see_is_silent(text: str) -> None:
    assert is_silent(text)
    assert is_silent(text, "NO_REPLY")


@pytest.mark.parametrize(
    "text",
    ["NO_REPLY", "no_reply", "  No_Reply\n", "`NO_REPLY`", '"NO_REPLY"', "“NO_REPLY”", "**NO_REPLY**", "NO_REPLY.",
     "(no_reply)", "```\nNO_REPLY\n```", "_NO_REPLY_", "«NO_REPLY»", "NO_REPLY。", "\ufeffNO_REPLY\u200b"],
)  # fmt: skip
def test_the_token_alone_is_silent_whatever_stands_around_it(text: str) -> None:
    assert is_silent(text, "NO_REPLY")
    assert not is_silent(text)


@pytest.mark.parametrize(
    "text",
    ["NO_REPLY to that", "I say NO_REPLY", "NO_REPLY NO_REPLY", "NO_REPL", "NOREPLY", "NO REPLY", "NO_REPLY 🙂", "...",
     "`", "👍", "NO_REPLY1"],
)  # fmt: skip
def test_a_reply_that_only_contains_the_token_is_sent(text: str) -> None:
    assert not is_silent(text, "NO_REPLY")


def test_a_token_in_brackets_is_met_without_them_and_one_of_dots_only_by_the_same_dots() -> None:
    assert is_silent("silent", "[SILENT]")
    assert is_silent(" ...\n", "...")
    assert not is_silent("..", "...")
    assert not is_silent("`...`", "...")
    assert not is_silent("!!!", "...")


@given(near | anything, tokens, st.data())
def test_a_stream_shows_the_whole_reply_or_nothing_however_it_is_split(
    text: str, token: str, data: st.DataObject
) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    quiet, shown = Quiet(token), ""
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        shown += quiet.feed(text[start:end])
    shown += quiet.end()
    assert shown == ("" if is_silent(text, token) else text)
    assert quiet.end() == ""


def endings(token: str) -> list[str]:
    return [token[start:] for start in range(len(token) + 1)] + ["s"]


@given(near | anything, tokens)
def test_a_stream_holds_back_only_what_could_still_turn_out_silent(text: str, token: str) -> None:
    for end in range(1, len(text) + 1):
        quiet = Quiet(token)
        if quiet.feed(text[:end]) == "":
            assert any(is_silent(text[:end] + rest, token) for rest in endings(token))
        else:
            assert not any(is_silent(text[:end] + rest, token) for rest in endings(token))


def test_a_stream_lets_go_with_the_first_letter_that_makes_it_a_reply() -> None:
    quiet = Quiet("NO_REPLY")
    fed = [quiet.feed(part) for part in ("\n `no", "_rep", "l", "ies", " are", "")]
    assert fed == ["", "", "", "\n `no_replies", " are", ""]
    assert quiet.end() == ""


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("nox", 2),
        ("no reply", 2),
        ("Hello", 0),
        ("`x", 1),
        ("no_reply.x", 9),
        ("no_replY NO", 9),
        ("\u200b", 1),
        ("NO_RE.", 5),
    ],
)
def test_letter_by_letter_it_holds_back_to_the_last_letter_that_could_be_the_tokens(text: str, held: int) -> None:
    quiet = Quiet("NO_REPLY")
    assert [quiet.feed(letter) for letter in text][: held + 1] == [""] * held + [text[: held + 1]] * (held < len(text))


def test_work_on_a_long_silence_grows_with_its_length_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def steps(length: int) -> int:
        quiet, count = Quiet("NO_REPLY"), 0
        step = Quiet._may_follow

        def counted(self: Quiet, letter: str) -> bool:
            nonlocal count
            count += 1
            return step(self, letter)

        with monkeypatch.context() as patch:
            patch.setattr(Quiet, "_may_follow", counted)
            assert all(quiet.feed(" ") == "" for _ in range(length))
        return count

    assert [steps(n) for n in (100, 400, 1600)] == [100, 400, 1600]


def test_a_quiet_stream_shows_sizes_and_never_what_it_holds() -> None:
    quiet = Quiet("NO_REPLY")
    assert quiet.feed("no_re") == ""
    assert repr(quiet) == "Quiet(holding, 5 characters held)"
    quiet.feed("cipe")
    assert repr(quiet) == "Quiet(open, 0 characters held)"
