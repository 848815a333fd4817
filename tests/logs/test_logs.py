"""A log says what its list allows: events, names, codes, hashes and counts; everything else is left out and counted."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter import logs
from charter.core.errors import FileRefused, ProviderDown


@pytest.fixture(autouse=True)
def no_log() -> Iterator[None]:
    yield
    logs.stop()


def line(event: str = "turn", **fields: Any) -> dict[str, Any]:
    return dict(logs.allowed(None, "info", {"event": event, **fields}))


@pytest.mark.requirement("S1-07")
def test_a_turn_is_logged_with_its_hashes_codes_and_counts(tmp_path: Path) -> None:
    logs.start(str(tmp_path / "log"))
    fields = {
        "agent": "assistant", "turn": "00ab", "charter": "assistant", "channel": "terminal", "outcome": "done",
        "code": "OK", "stack_sha256": "a" * 64, "payload_sha256": "", "input": 200, "output": 7, "cached": 50,
        "steps": 1, "calls": 0, "messages": 1, "bytes": 1656, "tokens_est": 418, "layers": {"soul": "b" * 64},
    }  # fmt: skip
    logs.note("turn", fields)
    said = json.loads((tmp_path / "log").read_text())
    assert said.pop("at").endswith("Z")
    assert said == {"event": "turn", **fields}


@pytest.mark.requirement("S1-07")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("agent", "a name with spaces"),
        ("agent", "x" * 129),
        ("agent", "tab\tbed"),
        ("code", "what the user said"),
        ("code", "lowercase"),
        ("outcome", "a sentence"),
        ("stack_sha256", "not-a-hash"),
        ("input", "12"),
        ("input", 2**80),
        ("duration_ms", float("nan")),
        ("layers", {"soul": "its text"}),
        ("layers", ["soul"]),
        ("where", b"bytes"),
        ("mode", None),
    ],
)
def test_a_value_that_does_not_look_like_its_field_is_dropped_and_counted(name: str, value: Any) -> None:
    assert line(**{name: value}) == {"event": "turn", name: "<dropped>", "dropped": 1}


@pytest.mark.requirement("S1-07")
def test_a_field_or_an_event_that_is_not_on_the_list_is_left_out(tmp_path: Path) -> None:
    assert line(message="hello", prompt="You are", input=1) == {"event": "turn", "input": 1, "dropped": 2}
    assert line("the user said hello") == {"event": "<dropped>"}
    logs.start(str(tmp_path / "log"))
    logs.note("turn", {"self": "x", "event": "y", "text": "z", "input": 1})
    said = json.loads((tmp_path / "log").read_text())
    assert {**said, "at": ""} == {"event": "turn", "input": 1, "dropped": 3, "at": ""}


@pytest.mark.requirement("S1-07")
@given(st.dictionaries(st.text(min_size=1), st.text() | st.binary() | st.lists(st.text()) | st.none()), st.text())
def test_no_text_gets_through_whatever_it_is_called(fields: dict[str, Any], event: str) -> None:
    said = line(**{"event": event} | {name: value for name, value in fields.items() if name != "event"})
    assert set(said) <= {"event", "dropped", *logs.FIELDS}
    assert all(isinstance(value, int) or value == logs.DROPPED or " " not in value for value in said.values())


@pytest.mark.requirement("S1-07")
def test_an_error_is_its_class_its_code_and_its_line_never_its_words(tmp_path: Path) -> None:
    logs.start(str(tmp_path / "log"))
    for error in (ProviderDown("openai", "what the model was told"), KeyError("a message")):
        try:
            raise error
        except Exception as caught:
            logs.failed(caught)
    first, second = map(json.loads, (tmp_path / "log").read_text().splitlines())
    assert (first["error"], first["code"]) == ("ProviderDown", "PROVIDER_DOWN")
    assert (second["error"], second["where"].partition(":")[0]) == ("KeyError", "test_logs.py")
    assert "told" not in (tmp_path / "log").read_text()
    assert "message" not in (tmp_path / "log").read_text()


@pytest.mark.requirement("S1-07")
def test_an_error_of_a_stranger_has_no_code_of_ours(tmp_path: Path) -> None:
    stranger = RuntimeError("x")
    stranger.code = "TEXT_OF_A_SERVER"  # type: ignore[attr-defined]
    assert "code" not in logs.of_error(None, "info", {"event": "error", "exc_info": stranger})


def test_there_is_no_log_unless_somebody_asks_and_structlog_is_not_imported_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = "import sys; from charter import logs; logs.note('turn', {}); print('structlog' in sys.modules)"
    for path, imported in (("", "False"), (str(tmp_path / "log"), "True")):
        monkeypatch.setenv("CHARTER_LOG", path)
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == imported
    assert json.loads((tmp_path / "log").read_text())["event"] == "turn"


@pytest.mark.requirement("S1-07")
def test_a_log_is_added_to_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "log"
    for _ in range(2):
        logs.start(str(path))
        logs.note("turn", {"input": 1})
    assert len(path.read_text().splitlines()) == 2
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_debug_is_a_line_for_people_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    logs.start(debug=True)
    logs.note("turn failed", {"agent": "assistant", "code": "PROVIDER_DOWN", "text": "x"})
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.partition(" ")[2] == 'event="turn failed" agent=assistant code=PROVIDER_DOWN dropped=1\n'


def test_a_log_that_cannot_be_opened_is_an_error_where_it_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match="set CHARTER_LOG to a file that can be written"):
        logs.start(str(tmp_path))


def test_a_log_that_cannot_be_written_any_more_is_said_once_and_ends_no_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CHARTER_LOG", str(tmp_path))
    logs.note("turn", {})
    logs.note("turn", {})
    said = capsys.readouterr().err
    assert said == (
        "the log cannot be written (Is a directory; set CHARTER_LOG to a file that can be written); "
        "going on without it\n"
    )
    logs.start("/dev/full")
    logs.note("turn", {})
    logs.note("turn", {})
    assert capsys.readouterr().err == "the log cannot be written (No space left on device); going on without it\n"


@pytest.mark.requirement("S1-07")
def test_what_somebody_configured_for_structlog_changes_nothing_in_our_log(tmp_path: Path) -> None:
    import structlog

    logs.start(str(tmp_path / "log"))
    structlog.configure(processors=[lambda *_: "leaked"])
    try:
        structlog.contextvars.bind_contextvars(prompt="what the model was told")
        logs.note("turn", {"input": 1})
    finally:
        structlog.reset_defaults()
        structlog.contextvars.clear_contextvars()
    assert set(json.loads((tmp_path / "log").read_text())) == {"event", "input", "at"}
