"""charter model: which model is used and why, and the weights of those that run here."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from .common import Json, print_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import Progress, TaskID

    from ..choice import Choice
    from ..weights import Watcher

app = typer.Typer(help="Which model is used and why; fetch one that runs here.", rich_markup_mode=None)

Name = Annotated[str, typer.Argument(help="The model's name, as 'charter model list' shows it.")]
Wanted = Annotated[str, typer.Option("--model", help="As if this model were asked for.")]


@app.callback(invoke_without_command=True)
def which(context: typer.Context, model: Wanted = "", as_json: Json = False) -> None:
    """Say which model is used and why; with a subcommand, fetch, list or remove those that run here."""
    if context.invoked_subcommand:
        return
    from ..choice import choose

    choice = choose(model)
    row: dict[str, Any] = {"model": choice.name, "why": choice.why, "window": _window(choice)}
    if choice.base_url:
        row["place"] = _place(choice.base_url)
    if choice.kind == "embedded":
        row["weights"] = _weights(choice.model)
    if as_json:
        print_json(row)
        return
    typer.echo(f"{row['model']}\n  why      {row['why']}")
    typer.echo(f"  window   {row['window']:,} tokens" if row["window"] else "  window   not known")
    if "place" in row:
        typer.echo(f"  at       {row['place']}")
    if "weights" in row:
        found = row["weights"]
        typer.echo(f"  weights  {found['file']} ({_size(found['bytes'])}, needs {found['memory_mb']:,} MB of memory)")


@app.command("fetch")
def fetch_model(name: Name = "qwen2.5-coder-0.5b") -> None:
    """Fetch a model's weights: resumed where it stopped, verified by hash, from the first mirror that has them."""
    from ..weights import fetch

    with _watching() as watch:
        path = fetch(name, progress=watch)
    typer.echo(f"{name} is here: {path}\nnext: charter model")


@app.command("list")
def list_models(as_json: Json = False) -> None:
    """List the models that can run here, and which are fetched."""
    from ..weights import known

    rows = [_weights(name) for name in known()]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        here = "here" if row["here"] else "not fetched"
        typer.echo(f"{row['name']:<20} {_size(row['bytes']):>8}  {here:<11}  {row['licence']}, {row['about']}")


@app.command("remove")
def remove_model(name: Name) -> None:
    """Delete a model's weights, and what a fetch left of them."""
    from ..weights import remove

    typer.echo(f"{name}: {_size(remove(name))} are free again")


# ── what is shown ─────────────────────────────────────────────────────────────────────────────────────────────────


def _window(choice: Choice) -> int | None:
    if choice.kind == "embedded":
        from ..providers.embedded import CONTEXT

        return CONTEXT
    from ..providers.facts import facts_of

    return facts_of(choice.kind).window(choice.model)


def _weights(name: str) -> dict[str, Any]:
    from ..weights import file_of, present, weights_of

    row = weights_of(name)
    shown = ("name", "bytes", "memory_mb", "licence", "about", "sha256")
    return {key: getattr(row, key) for key in shown} | {"file": str(file_of(row)), "here": present(name)}


def _place(address: str) -> str:
    """Host and port of an address: what may be shown of it."""
    parts = urlsplit(address)
    return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)


def _size(count: int) -> str:
    return f"{count / 1e6:,.0f} MB"


# ── how a fetch is told ───────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def _watching() -> Iterator[Watcher]:
    """A bar where there is a terminal, else plain lines; both beside the output, on stderr."""
    if not sys.stderr.isatty():
        yield Lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True, highlight=False), transient=True) as progress:
        yield Bar(progress)


class Lines:
    """A line for what happens, and one for every tenth of the way."""

    def __init__(self) -> None:
        self._tenth = 0

    def say(self, line: str) -> None:
        self._tenth = 0
        typer.echo(line, err=True)

    def at(self, done: int, total: int) -> None:
        tenth = done * 10 // total
        if tenth != self._tenth:
            typer.echo(f"{tenth * 10} %", err=True)
        self._tenth = tenth


class Bar:
    """A bar, and above it a line for what happens."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task: TaskID | None = None

    def say(self, line: str) -> None:
        self._progress.console.print(line, markup=False)

    def at(self, done: int, total: int) -> None:
        if self._task is None:
            self._task = self._progress.add_task("", total=total)
        self._progress.update(self._task, completed=done)
