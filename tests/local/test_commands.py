"""charter model: which and why, fetching with something to look at, listing, removing; keys are never printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import Progress
from typer.testing import CliRunner, Result

from charter import choice, weights
from charter.commands import model
from charter.core.errors import ProviderDown

from .hub import FILE, NAME, know, serving

pytestmark = pytest.mark.requirement("N-16")

DATA = bytes(range(256)) * 40


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without keys and without an Ollama."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "CHARTER_MODEL", "CHARTER_PROVIDER", "CHARTER_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CHARTER_MODELS", str(tmp_path))
    monkeypatch.setattr(choice, "ollama_models", lambda: ())
    monkeypatch.setattr(weights, "DEFAULT", NAME)
    know(monkeypatch, DATA)
    return tmp_path


def run(*words: str) -> Result:
    return CliRunner().invoke(model.app, words, catch_exceptions=False)


def test_it_says_which_model_why_its_window_and_where_its_weights_are(place: Path) -> None:
    (place / FILE).write_bytes(DATA)
    assert run().stdout == (
        "embedded/tiny-model\n"
        "  why      no key is set and no Ollama answers, and its weights are here\n"
        "  window   8,192 tokens\n"
        f"  weights  {place}/tiny.gguf (0 MB, needs 1 MB of memory)\n"
    )
    said = json.loads(run("--json").stdout)
    assert (said["model"], said["window"], said["weights"]["here"]) == ("embedded/tiny-model", 8192, True)


def test_of_a_hosted_model_it_says_the_host_and_neither_key_nor_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHARTER_BASE_URL", "https://me:hunter2@models.example:8443/v1?token=hunter3")
    monkeypatch.setenv("CHARTER_API_KEY", "sk-hunter4")
    said = run("--model", "m").stdout
    assert (
        said == "openai/m\n  why      CHARTER_BASE_URL is set\n  window   not known\n  at       models.example:8443\n"
    )
    assert "hunter" not in run("--model", "m", "--json").stdout


def test_with_no_model_at_all_it_is_an_error_that_says_what_to_run() -> None:
    with pytest.raises(ProviderDown, match="run: charter model fetch tiny-model"):
        run()


def test_fetch_tells_its_way_in_plain_lines_when_nobody_watches(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    with serving(DATA) as hub, serving(DATA[::-1]) as false:
        know(monkeypatch, DATA, false, hub)
        done = run("fetch", NAME)
    assert done.stdout == f"tiny-model is here: {place}/tiny.gguf\nnext: charter model\n"
    assert done.stderr.splitlines() == [
        "fetching tiny-model, 0 MB, from hub 1",
        "100 %",
        "hub 1: what it sent is not what the publisher made (its hash is wrong); deleted",
        "fetching tiny-model, 0 MB, from hub 2",
        "100 %",
    ]


def test_the_default_to_fetch_is_the_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    (argument,) = [param for param in model.app.registered_commands if param.name == "fetch"]
    assert argument.callback is not None
    assert argument.callback.__defaults__ == (weights.DEFAULT,)


def test_lines_come_at_every_tenth_and_a_bar_shows_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    lines = model.Lines()
    for done in range(0, 101, 5):
        lines.at(done, 100)
    assert capsys.readouterr().err.split("\n")[:-1] == [f"{tenth}0 %" for tenth in range(1, 11)]
    console = Console(record=True, force_terminal=True, width=80)
    with Progress(console=console) as progress:
        bar = model.Bar(progress)
        bar.say("fetching [red]it[/red]")
        bar.at(30, 100)
        bar.at(60, 100)
        assert [(task.completed, task.total) for task in progress.tasks] == [(60, 100)]
    assert "fetching [red]it[/red]" in console.export_text()


def test_list_says_what_is_here_and_remove_frees_it(place: Path) -> None:
    assert run("list").stdout == "tiny-model               0 MB  not fetched  CC0-1.0, for tests\n"
    (place / FILE).write_bytes(DATA)
    assert [row["here"] for row in json.loads(run("list", "--json").stdout)] == [True]
    assert run("remove", NAME).stdout == "tiny-model: 0 MB are free again\n"
    assert not (place / FILE).exists()
