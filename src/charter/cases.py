"""`charter test`: an author's own cases, a message and what must be in its prompt, run by the live engine (N-21)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from .config import parse
from .core.assemble import Assembly
from .core.errors import CharterError, ConfigError
from .core.incoming import Incoming
from .core.policy import Verdict
from .folder import Charter, find, load
from .guards import check_message, scan_reply
from .screening import hidden_in
from .sources.files import list_dir, read_file


class Case(msgspec.Struct, forbid_unknown_fields=True):
    """One [[case]]: a request, and what must hold of its prompt."""

    name: str
    channel: str = "terminal"
    sender: str = "someone"
    text: str = ""
    at: str = "2026-01-01T12:00:00+00:00"
    agent: str = ""
    user: str = ""
    mode: str = ""
    tool_policy: str = ""
    task: str = ""
    model: str = ""
    provider: str = ""
    layers: list[str] | None = None
    contains: list[str] = []
    lacks: list[str] = []
    in_layer: dict[str, list[str]] = {}
    in_payload: list[str] = []
    max_chars: int | None = None
    verdict: str = ""
    reply: str = ""
    reply_verdict: str = ""
    error: str = ""


class CaseFile(msgspec.Struct, forbid_unknown_fields=True):
    """A file of cases."""

    case: list[Case]


@dataclass(frozen=True, slots=True)
class Result:
    """How one case went; `problems` is empty when it held."""

    file: str
    name: str
    problems: tuple[str, ...]


def read_cases(root: Path) -> list[tuple[str, Case]]:
    """Every case of a charter's cases/ folder, in order."""
    found: list[tuple[str, Case]] = []
    for name in list_dir(root, "cases"):
        if name.endswith(".toml"):
            file = read_file(root, f"cases/{name}")
            if file is not None:
                found += [(f"cases/{name}", case) for case in parse(file.text, f"cases/{name}", CaseFile).case]
    if not found:
        raise ConfigError("cases/", "no cases yet; write cases/first.toml with a [[case]] (docs/charters.md shows one)")
    return found


def run_cases(name_or_path: str) -> Iterator[Result]:
    """Runs the cases of a charter one by one."""
    cases = read_cases(find(name_or_path))
    charter = load(name_or_path)
    for file, case in cases:
        yield Result(file, case.name, tuple(problems(charter, case)))


def problems(charter: Charter, case: Case) -> Iterator[str]:
    """What does not hold, in words that name the expectation and never the prompt."""
    incoming = Incoming(
        channel=case.channel, sender=case.sender, text=case.text, at=case.at, agent=case.agent, user=case.user,
        mode=case.mode or None, tool_policy=case.tool_policy, task=case.task, model=case.model,
    )  # fmt: skip
    try:
        assembly = charter.assemble(incoming)
    except CharterError as error:
        if type(error).__name__ != case.error:
            yield f"raised {type(error).__name__}: {error}"
        return
    if case.error:
        yield f"expected {case.error}, but a prompt was made"
        return
    try:
        yield from _expectations(case, assembly)
    except CharterError as error:
        yield f"raised {type(error).__name__}: {error}"


def _expectations(case: Case, assembly: Assembly) -> Iterator[str]:
    text = assembly.reveal()
    parts = {part.section.layer.id: part.text for part in assembly.parts}
    if case.layers is not None and case.layers != list(parts):
        yield f"layers are {', '.join(parts)}; expected {', '.join(case.layers)}"
    yield from (f"the prompt lacks {wanted!r}" for wanted in case.contains if wanted not in text)
    yield from (f"the prompt contains {wanted!r}" for wanted in case.lacks if wanted in text)
    for layer, wanted_texts in case.in_layer.items():
        yield from (f"layer {layer} lacks {wanted!r}" for wanted in wanted_texts if wanted not in parts.get(layer, ""))
    if case.max_chars is not None and len(text) > case.max_chars:
        yield f"the prompt has {len(text):,} characters; expected at most {case.max_chars:,}"
    yield from _verdicts(case, assembly)
    if case.in_payload:
        payload = _strings(assembly.payload(case.provider or "openai"))
        yield from (f"the payload lacks {wanted!r}" for wanted in case.in_payload if wanted not in payload)


def _verdicts(case: Case, assembly: Assembly) -> Iterator[str]:
    """What the guards say of the message, and of a reply to it; expected is a decision or a code."""
    heard = [("user", case.text)] if case.text else []
    judged: list[tuple[str, str, Verdict]] = []
    if case.verdict:
        judged.append(("message", case.verdict, check_message(case.text)))
    if case.reply_verdict:
        judged.append(("reply", case.reply_verdict, scan_reply(case.reply, hidden_in(assembly), history=heard)))
    for what, expected, said in judged:
        if expected not in (said.decision, said.code):
            yield f"the guard says {said.decision} ({said.code}) to the {what}; expected {expected}"


def _strings(payload: dict[str, Any]) -> str:
    """The payload as JSON a person would write, so that cases can quote it."""
    return json.dumps(payload, ensure_ascii=False)
