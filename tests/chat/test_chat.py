"""A person talks with an agent: words as they come, a line for a call, and a word of theirs where it needs one."""

from __future__ import annotations

import io
import signal
import stat
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from charter import home
from charter.channels.terminal import Terminal
from charter.core.dialogue import Reply, Usage
from charter.core.errors import ProviderDown
from charter.core.policy import ChannelPolicy, ToolClass
from charter.core.records import Approval, Author

from .room import AT, MO, calls, keeping, made, talk, tool

HEAD = "assistant · scripted scripted · /help tells what you can do\n"


@pytest.mark.requirement("N-16", "S1-08")
def test_a_reply_is_followed_by_a_line_that_says_what_it_was() -> None:
    agent = made(Reply("Two things are due.", usage=Usage(200, 10, 50)))
    assert talk(agent, "What is due?") == (
        f"{HEAD}Two things are due.\n"
        "assistant · full · 6 layers · 200 tokens in, 10 out · 25% cached · turn 000000000000\n\n"
    )


@pytest.mark.requirement("S1-08")
def test_words_are_shown_as_they_come_and_a_terminal_that_waits_shows_the_same_once() -> None:
    agent = made(("One ", "two ", "three."), Reply("One two three."))
    streamed = talk(agent, "Count.")
    waits = replace(agent.charter, channels={"terminal": ChannelPolicy("terminal")})  # type: ignore[type-var]
    whole = talk(replace(agent, charter=waits), "Count.")
    assert streamed.splitlines()[1] == whole.splitlines()[1] == "One two three."
    assert whole.count("three") == 1


@pytest.mark.requirement("S3-10")
def test_a_silent_reply_is_shown_as_none() -> None:
    assert talk(made("  \n"), "Anything?").splitlines()[1] == "(no reply)"


def test_an_empty_line_is_no_message_and_a_slash_after_a_space_is_one() -> None:
    agent = made("A path.")
    assert "A path." in talk(agent, "", "   ", " /etc/hosts?")
    assert len(agent.store.turns(agent.name)) == 1


# ── when it does not work ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("S0-13")
def test_a_failed_turn_says_why_in_one_line_and_its_message_is_answered_with_the_next() -> None:
    agent = made(ProviderDown("scripted", "no answer within 3 s", "try again later"), "Both.")
    said = talk(agent, "First.", "Second.").splitlines()
    assert said[1] == (
        "scripted: no answer within 3 s; try again later; your message is kept and is answered with your next one"
    )
    assert said[2] == "Both."
    assert agent.provider.payloads[1]["messages"][-1]["content"] == "First.\n\nSecond."  # type: ignore[attr-defined]


@pytest.mark.requirement("N-19")
def test_a_paused_agent_says_how_to_go_on_and_whether_the_message_is_kept_as_the_store_has_it() -> None:
    agent = made()
    agent.store.pause(agent.name, by=MO, at_ns=AT)
    said = talk(agent, "Hello?").splitlines()
    assert said[1].startswith("assistant is paused; start it again with: charter resume assistant")
    assert ("your message is kept" in said[1]) is bool(agent.store.staged(agent.name))


@pytest.mark.requirement("S1-07")
def test_an_error_nobody_foresaw_is_told_by_its_kind_and_never_in_its_words() -> None:
    broken = iter([ValueError("what the model was told")])

    def tools(_: object) -> dict[str, Any]:
        for error in broken:
            raise error
        return {}

    said = talk(made("Fine.", tools=tools), "One.", "Two.").splitlines()
    assert said[1].startswith("something failed that should not (ValueError); your message is kept")
    assert "what the model" not in "".join(said)
    assert said[2] == "Fine."


def press(_: object) -> str:
    signal.raise_signal(signal.SIGINT)
    return "Too late."


@pytest.mark.requirement("S0-13", "S0-15")
def test_ctrl_c_ends_the_answer_and_not_the_chat_and_the_message_waits() -> None:
    agent = made(press, "Still here.")
    said = talk(agent, "A long story.", "Are you there?").splitlines()
    assert said[1] == "cancelled; your message is kept and is answered with your next one"
    assert said[2] == "Still here."
    assert [turn.code for turn in agent.store.turns(agent.name)] == ["OK", "TURN_CANCELLED"]


def test_ctrl_c_at_the_prompt_clears_the_line_and_the_end_of_input_ends_the_chat() -> None:
    assert "Yes." in talk(made("Yes."), KeyboardInterrupt, "Still there?")


def test_a_handler_of_ctrl_c_that_was_there_before_a_turn_is_there_after_it() -> None:
    before = signal.getsignal(signal.SIGINT)
    talk(made("Hi."), "Hi.")
    assert signal.getsignal(signal.SIGINT) is before


# ── calls and approvals ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("S1-08")
def test_a_call_is_a_line_with_its_name_and_what_became_of_it_never_its_arguments() -> None:
    look = tool("look", lambda _: "a found secret", ToolClass.READ)
    said = talk(made(calls("look", '{"at": "a hidden place"}'), calls("nothing"), "Done.", tools=look), "Look.")
    assert said.splitlines()[1:4] == ["  · look: done", "  · nothing: refused, TOOL_UNKNOWN", "Done."]
    assert "hidden" not in said
    assert "secret" not in said


@pytest.mark.requirement("S1-08")
@pytest.mark.parametrize(
    ("answers", "ran", "line"),
    [
        (["y"], True, "  · exec: approved"),
        (["maybe", "", "YES"], True, "  · exec: approved"),
        (["n"], False, "  · exec: refused, TOOL_NOT_APPROVED"),
        ([EOFError], False, "  · exec: refused, TOOL_NEEDS_APPROVAL"),
    ],
)
def test_a_call_that_needs_a_person_is_made_only_after_their_yes(answers: list[Any], ran: bool, line: str) -> None:
    done: list[Any] = []
    run = tool("exec", keeping(done))
    said = talk(made(calls("exec", '{"command": "ls"}'), "So.", tools=run), "List.", answers=answers).splitlines()
    assert said[1:3] == ["exec wants to act and needs your word", '  {"command": "ls"}']
    assert line in said
    assert done == ([{"command": "ls"}] if ran else [])


@pytest.mark.requirement("S1-08")
def test_what_was_not_shown_whole_is_shown_before_a_yes_counts() -> None:
    done: list[Any] = []
    run = tool("exec", keeping(done))
    long = '{"command": "' + "echo " * 60 + 'rm -rf"}'
    said = talk(made(calls("exec", long), "So.", tools=run), "Run.", answers=["y", "n"])
    assert "rm -rf" in said
    assert done == []
    assert "rm -rf" not in talk(made(calls("exec", long), "So.", tools=run), "Run.", answers=["n"])


@pytest.mark.requirement("S1-08")
def test_yes_to_a_tool_is_yes_to_that_tool_alone() -> None:
    done: list[Any] = []
    run = tool("exec", keeping(done))
    said = talk(made(calls("exec"), "So.", tools=run), "Run.", yes_to=["exec"])
    assert "needs your word" not in said
    assert done == [{}]
    talk(made(calls("exec"), "So.", tools=run), "Run.", yes_to=["exe", "execute"], answers=["n"])
    assert done == [{}]


@pytest.mark.requirement("S1-08")
def test_ctrl_c_at_the_question_ends_the_turn_and_the_call_waits() -> None:
    run = tool("exec", lambda _: "never")
    agent = made(calls("exec"), tools=run)
    said = talk(agent, "Run.", answers=[KeyboardInterrupt])
    assert "cancelled; your message is kept" in said
    assert [one.state for one in agent.store.approvals(agent.name)] == ["open"]


@pytest.mark.requirement("S1-08")
def test_a_call_whose_arguments_were_erased_is_not_put_to_a_person_who_cannot_see_it() -> None:
    out = io.StringIO()
    terminal = Terminal(Console(file=out), MO, read=lambda _: "y")
    wanted = Approval("a1", "assistant", "t1", "exec", None, "c" * 64, AT, AT + 1)
    assert terminal.ask(wanted).decision == "ask"
    assert out.getvalue() == "exec: what it would be called with was erased; it waits\n"


def test_a_question_that_nobody_answers_is_answered_with_no() -> None:
    def gone(_: str) -> str:
        raise EOFError

    assert not Terminal(Console(file=io.StringIO()), MO, read=gone).confirm("approve this?")


def test_who_said_yes_is_in_the_record() -> None:
    agent = made(calls("exec"), "So.", tools=tool("exec", lambda _: "done"))
    talk(agent, "Run.", answers=["y"])
    (approval,) = agent.store.approvals(agent.name)
    assert (approval.state, approval.decided_by) == ("used", Author(MO.actor, "mo").mark)


@pytest.mark.requirement("S1-08", "N-04")
def test_what_waits_for_a_person_is_counted_in_the_line_after_each_answer() -> None:
    agent = made(calls("exec"), "So.", "Yes.", tools=tool("exec", lambda _: "done"))
    said = talk(agent, "Run.", "And?", answers=[EOFError])
    assert said.splitlines()[-2].endswith("turn 000000000000 · 1 call waits: /approve")


# ── what is shown, and kept ───────────────────────────────────────────────────────────────────────────────────────


def test_what_a_model_says_cannot_move_the_cursor_or_write_to_the_clipboard() -> None:
    said = talk(made("\x1b[2J\x1b]52;c;aGk=\x07 \u202eevil\x9b1m\r\nend\r."), "Go.")
    assert said.splitlines()[1:3] == ["␛[2J␛]52;c;aGk=␇ �evil�1m", "end␍."]
    assert "\x1b" not in said


def test_a_name_of_a_tool_the_model_made_up_cannot_either() -> None:
    said = talk(made(calls("\x1b[31m" + "x" * 100), "So."), "Go.")
    assert f"  · ␛[31m{'x' * 58}…: refused, TOOL_UNKNOWN" in said.splitlines()


def test_a_reply_that_was_shown_is_marked_as_sent() -> None:
    agent = made("Shown.")
    talk(agent, "Hi.")
    assert agent.store.unsent(agent.name) == []


def test_messages_are_kept_for_the_arrow_keys_where_only_their_owner_reads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from charter.channels.lines import Lines
    from charter.commands import chat

    said = iter(["Is it due?", "Is it due?", "n", "  "])
    monkeypatch.setattr("builtins.input", lambda _: next(said))
    lines = Lines(["before"])
    assert [lines.message(""), lines.message(""), lines.answer(""), lines.message("")][2] == "n"
    chat._keep(lines)
    path = home.home() / chat.HISTORY
    assert path.read_text() == "before\nIs it due?\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert chat._lines().history == ["before", "Is it due?"]


def test_a_history_that_others_may_read_is_not_used_and_that_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    from charter.commands import chat

    path = home.private_folder(home.home()) / chat.HISTORY
    path.write_text("seen by all\n")
    path.chmod(0o644)
    assert chat._lines().history == []
    assert "chmod 600" in capsys.readouterr().err
    path.unlink()
