"""Commands that ask the guards: what they see in a text, and why; nothing is stored and no model is asked."""

from __future__ import annotations

import enum
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..core.errors import BadValue
from .common import Json, print_json

if TYPE_CHECKING:
    from ..guards import Finding

app = typer.Typer(add_completion=False, help="Ask the guards about a text, and see why they say so.")
MAX_BYTES = 1_048_576
SHOWN = 160


class Kind(enum.Enum):
    """What a text is taken for."""

    MESSAGE = "message"
    REPLY = "reply"
    UPDATE = "update"
    FILE = "file"


class Whose(enum.Enum):
    """Who wrote a file."""

    OPERATOR = "operator"
    PROJECT = "project"
    OUTSIDE = "outside"


Text = Annotated[str, typer.Argument(help="The text; - reads it from standard input, @PATH from a file.")]
Trusted = Annotated[Whose, typer.Option("--trust", help="For a file: who wrote it.")]


@app.command()
def check(
    text: Text,
    kind: Annotated[Kind, typer.Option("--as", help="What the text is.")] = Kind.MESSAGE,
    history: Annotated[list[str] | None, typer.Option("--history", help="What was said before, oldest first.")] = None,
    hidden: Annotated[str, typer.Option("--hidden", help="For a reply: the charter it is held against.")] = "",
    target: Annotated[str, typer.Option("--target", help="For an update: a layer, or instructions.")] = "instructions",
    trust: Trusted = Whose.PROJECT,
    as_json: Json = False,
) -> None:
    """What the guard says of a text: its decision, the views it was read in, and the signs that led to it."""
    said = _read(text)
    found = _judged(said, kind, history or [], hidden, target, trust)
    if as_json:
        print_json(_told(said, found))
    else:
        _print(said, found)
    raise typer.Exit(0 if found.decision == "allow" and not found.spans else 1)


@app.command()
def pin(path: Annotated[Path, typer.Argument(help="The file.")], trust: Trusted = Whose.PROJECT) -> None:
    """The hashes of what a file was found to hold; put those you accept under `accepted` in your charter.toml."""
    from ..guards import pin as hash_of
    from ..guards import scan_file

    text = _read(f"@{path}")
    spans = scan_file(text, trust=trust.value).spans
    for span in spans:
        line = text.count("\n", 0, span.start) + 1
        typer.echo(f"{hash_of(text, span)}  # {path.name}:{line} {span.code}, {span.end - span.start:,} characters")
    if not spans:
        typer.echo(f"{path.name}: nothing found, nothing to accept", err=True)


def _read(text: str) -> str:
    if text != "-" and not text.startswith("@"):
        return text
    try:
        data = sys.stdin.buffer.read(MAX_BYTES + 1) if text == "-" else _file(Path(text[1:]))
        if len(data) > MAX_BYTES:
            raise BadValue("text", f"at most {MAX_BYTES:,} bytes are looked at")
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise BadValue("text", f"not UTF-8 at byte {problem.start:,}") from None
    except OSError as problem:
        raise BadValue("text", f"{text[1:]} cannot be read: {problem.strerror}") from None


def _file(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)


def _judged(text: str, kind: Kind, history: list[str], hidden: str, target: str, trust: Whose) -> Finding:
    from .. import guards

    if kind is Kind.MESSAGE:
        return guards.check_message(text, history=history)
    if kind is Kind.UPDATE:
        around = {"current": history[-1] if history else "", "history": history}
        return guards.check_update(target, text, context=around)
    if kind is Kind.FILE:
        return guards.scan_file(text, trust=trust.value)
    if not hidden:
        raise BadValue("hidden", "a reply is held against a prompt; name its charter, e.g. --hidden contract")
    return guards.scan_reply(text, _layers(hidden), history=history)


def _layers(charter: str) -> dict[str, str]:
    """The hidden layers of a charter, as its demonstration shows them."""
    from ..screening import hidden_in
    from ..views import View

    return dict(hidden_in(View(charter).assembly()))


def _told(text: str, found: Finding) -> dict[str, Any]:
    from ..guards.views import views_of

    return {
        "decision": found.decision, "code": found.code, "reason": found.reason, "layer": found.layer,
        "spans": [{"start": span.start, "end": span.end, "code": span.code} for span in found.spans],
        "signs": [{"name": sign.name, "value": sign.value, "view": sign.view} for sign in found.signs],
        "views": [{"name": view.name, "text": view.text} for view in views_of(text).all],
    }  # fmt: skip


def _print(text: str, found: Finding) -> None:
    from ..guards.views import views_of

    typer.echo(f"{found.decision:<6} {found.code}" + (f" in {found.layer}" if found.layer else ""))
    if found.reason:
        typer.echo(f"       {found.reason}")
    for span in found.spans:
        typer.echo(f"  at {span.start:,}–{span.end:,}: {span.code}, {span.reason}")
    typer.echo("views")
    for view in views_of(text).all:
        typer.echo(f"  {view.name:<12} {_short(view.text)}")
    if found.signs:
        typer.echo("signs")
    for sign in found.signs:
        typer.echo(f"  {sign.name:<12} {_short(sign.value)}" + (f"  ({sign.view})" if sign.view != "plain" else ""))


def _short(text: str) -> str:
    """One line of a text, what cannot be printed spelled out."""
    line = "".join(char if char.isprintable() else "␤" if char == "\n" else "·" for char in text)
    return line if len(line) <= SHOWN else f"{line[:SHOWN]}… ({len(line):,} characters)"
