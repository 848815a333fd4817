"""The command line does what its help says, and its errors tell the next step."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from charter import cli

AT = "2026-02-26T14:30:00+00:00"
EXAMPLES = Path(__file__).parent.parent / "examples"


class Ran(NamedTuple):
    code: int
    out: str
    err: str


class Run:
    """Runs a command in this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Ran:
        self._monkeypatch.setattr(sys, "argv", ["charter", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        code = ended.value.code
        captured = self._capsys.readouterr()
        return Ran(code if isinstance(code, int) else 0, captured.out, captured.err)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("COLUMNS", "200")
    return Run(monkeypatch, capsys)


@pytest.mark.requirement("N-11")
def test_plain_show_prints_exactly_the_bytes_the_engine_reveals(run: Run) -> None:
    from charter.core.incoming import Incoming
    from charter.folder import load

    shown = run("show", "assistant", "--channel", "telegram", "--at", AT, "--plain")
    live = load("assistant").assemble(Incoming(channel="telegram", at=AT)).reveal()
    assert (shown.code, shown.out) == (0, live)


@pytest.mark.requirement("N-11")
def test_show_draws_every_layer_with_its_owner_and_says_what_was_left_out(run: Run) -> None:
    out = run("show", "workspace", "--at", AT, "--mode", "minimal").out
    assert "▎ ## Tool Usage Guidelines" in out
    assert "identity      operator" in out
    assert "left out: not in mode minimal" in out
    assert "owners: ■ sealed" in out


@pytest.mark.requirement("N-11")
def test_show_json_has_prompt_layers_notices_and_manifest(run: Run) -> None:
    view = json.loads(run("show", "contract", "--message", "hi", "--at", AT, "--json").out)
    assert list(view) == ["prompt", "layers", "notices", "manifest"]
    assert view["layers"]["user_input"] == "> hi"
    assert "\n\n".join(view["layers"].values()) == view["prompt"]


@pytest.mark.requirement("N-11", "S1-03")
@pytest.mark.parametrize("dialect", ["openai", "openai-responses", "anthropic", "ollama", "completion"])
def test_show_with_a_provider_prints_that_payload(run: Run, dialect: str) -> None:
    from charter.core.incoming import Incoming
    from charter.folder import load

    shown = json.loads(run("show", "contract", "--message", "hi", "--at", AT, "--provider", dialect, "--json").out)
    assert shown == load("contract").assemble(Incoming(text="hi", at=AT)).payload(dialect)


@pytest.mark.requirement("N-11")
def test_diff_names_the_layers_that_differ_between_two_channels(run: Run) -> None:
    out = json.loads(run("diff", "assistant@channel=web", "assistant@channel=telegram", "--json").out)
    assert out["changed"] == ["channel"]
    text = run("diff", "assistant@channel=web", "assistant@channel=telegram").out
    assert "-You are responding via web." in text
    assert "+You are responding via telegram." in text


@pytest.mark.requirement("N-11")
def test_diff_of_a_view_with_itself_says_there_is_no_difference(run: Run) -> None:
    assert "no difference" in run("diff", "sovereign", "sovereign").out


def test_a_view_with_an_unknown_key_is_refused_with_the_known_ones(run: Run) -> None:
    refused = run("diff", "sovereign@colour=red", "sovereign")
    assert refused.code == 2
    assert refused.err.startswith("error: view: write NAME@key=value,key=value with keys from: agent, at, channel")


@pytest.mark.requirement("S1-04")
def test_manifest_prints_hashes_and_no_text(run: Run) -> None:
    out = run("manifest", "contract", "--message", "CANARY-77", "--at", AT).out
    assert [row["layer"] for row in json.loads(out)["stack"]] == ["L1", "L2", "L3", "L4", "L6"]
    assert "CANARY-77" not in out
    assert "You work under a fixed stack" not in out


def test_the_tour_shows_all_five_with_hashes(run: Run) -> None:
    out = run("tour").out
    for name in ("1 · sovereign", "2 · contract", "3 · workspace", "4 · gateway", "5 · assistant"):
        assert name in out
    assert "## Layer 1: Constitution — Safety & Non-Harm" in out
    assert "whole prompt" in out
    manifests = json.loads(run("tour", "--json").out)
    assert [len(row["stack"]) for row in manifests.values()] == [11, 6, 6, 6, 7]


def test_list_names_the_five(run: Run) -> None:
    rows = json.loads(run("list", "--json").out)
    assert [(row["name"], row["layers"]) for row in rows] == [
        ("sovereign", 11), ("contract", 6), ("workspace", 6), ("gateway", 12), ("assistant", 7),
    ]  # fmt: skip


@pytest.mark.requirement("S1-09", "N-02")
def test_new_then_lock_then_a_changed_byte_fails_verify_and_show(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    assert "charter show" in run("new", str(folder), "--from", "contract").out
    assert run("lock", str(folder)).out == "locked 21 files at version 1.1.0\n"
    assert run("verify", str(folder)).code == 0
    base = folder / "prompts" / "base" / "base_system.md"
    base.write_text(base.read_text().replace("fixed", "flexible"))
    verified = run("verify", str(folder))
    assert (verified.code, "changed or gone: prompts/base/base_system.md" in verified.out) == (1, True)
    shown = run("show", str(folder), "--message", "hi")
    assert (shown.code, shown.out) == (2, "")
    assert "1 locked file(s) differ from charter.lock: prompts/base/base_system.md; restore them" in shown.err
    again = run("lock", str(folder))
    assert (again.code, "bump the version, then lock" in again.err) == (2, True)


def test_new_refuses_a_folder_that_exists(run: Run, tmp_path: Path) -> None:
    refused = run("new", str(tmp_path), "--from", "contract")
    assert (refused.code, "exists already; choose a new name" in refused.err) == (2, True)


@pytest.mark.requirement("N-21")
@pytest.mark.parametrize("name", ["sovereign", "contract", "workspace", "gateway", "assistant"])
def test_every_built_in_charter_passes_its_own_cases(run: Run, name: str) -> None:
    ran = run("test", name)
    assert (ran.code, ran.out.splitlines()[-1].endswith("passed, 0 failed")) == (0, True)


@pytest.mark.requirement("N-21")
def test_a_case_that_does_not_hold_fails_the_run_and_is_named(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    run("new", str(folder), "--from", "assistant")
    (folder / "cases" / "basic.toml").write_text('[[case]]\nname = "it sings"\ncontains = ["la la"]\n')
    ran = run("test", str(folder))
    assert ran.code == 1
    assert ran.out == "FAILED it sings\n       the prompt lacks 'la la'\n0 passed, 1 failed\n"


@pytest.mark.requirement("N-12")
def test_check_exits_with_one_on_errors_and_zero_without(run: Run, tmp_path: Path) -> None:
    assert run("check", "sovereign").code == 0
    folder = tmp_path / "mine"
    run("new", str(folder), "--from", "assistant")
    toml = folder / "charter.toml"
    toml.write_text(toml.read_text().replace("required = true", "required = false"))
    assert run("check", str(folder)).code == 1
    found = json.loads(run("check", str(folder), "--format", "json").out)
    assert found["findings"][0]["rule"] == "missing-base"


@pytest.mark.requirement("S3-12")
def test_report_sets_the_five_configurations_beside_the_design(run: Run) -> None:
    rows = json.loads(run("report", "gateway", "--json").out)["configurations"]
    assert [row["design_characters"] for row in rows] == ["200", "2,000", "5,000", "7,000-10,000", "12,000-15,000"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("show", "nowhere"), "unknown charter 'nowhere'; known: sovereign, contract"),
        (("show", "assistant", "--channel", "pigeon"), "unknown channel 'pigeon'; known: terminal, cli_local"),
        (("show", "sovereign", "--mode", "tiny"), "unknown mode 'tiny'; known: full, compact"),
        (("show", "workspace", "--agent", "nobody"), "unknown agent 'nobody'; known: main"),
        (("show", "workspace", "--workspace", "missing-folder"), "missing-folder: missing"),
        (("show", "assistant", "--at", "tomorrow"), "at: not a time; use ISO-8601"),
        (("show", "assistant", "--timezone", "Mars/Base"), "timezone: not an IANA time zone"),
        (("show", "assistant", "--tokens", "guess"), "unknown counter 'guess'; known: estimate, o200k_base"),
        (("show", "contract", "--provider", "smoke", "--json"), "unknown dialect 'smoke'; known: openai"),
        (("show", "sovereign", "--soul", "x" * 65), "soul: one line of at most 64 characters"),
    ],
)
def test_an_error_is_one_line_that_says_what_is_known(run: Run, arguments: tuple[str, ...], said: str) -> None:
    ran = run(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error: {said}")
    assert ran.err.count("\n") == 1


def test_exact_tokens_are_counted_when_asked(run: Run) -> None:
    estimate = json.loads(run("manifest", "assistant", "--at", AT).out)
    exact = json.loads(run("manifest", "assistant", "--at", AT, "--tokens", "o200k_base").out)
    assert estimate["notes"] == ["tokens: ceil(utf8 bytes / 4)"]
    assert exact["notes"] == ["tokens: o200k_base"]
    assert exact["stack_sha256"] == estimate["stack_sha256"]


def test_the_module_is_a_command_too() -> None:
    done = subprocess.run([sys.executable, "-m", "charter", "--help"], capture_output=True, text=True, check=True)
    assert "Assemble, preview, check and verify" in done.stdout


def test_a_reader_that_leaves_early_is_no_traceback() -> None:
    command = f"{sys.executable} -m charter tour | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stderr == ""
