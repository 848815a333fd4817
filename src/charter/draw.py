"""Pictures of prompts for a terminal: layers coloured by who owns them, sizes beside them, cuts said aloud."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from .core.assemble import Assembly
from .core.layer import Owner

COLOURS = {
    Owner.SEALED: "red",
    Owner.OPERATOR: "blue",
    Owner.AGENT: "green",
    Owner.USER: "magenta",
    Owner.TURN: "cyan",
}


def legend() -> Text:
    line = Text("owners: ")
    for owner, colour in COLOURS.items():
        line.append("■ ", style=colour).append(f"{owner}  ", style="dim")
    return line


def sizes(assembly: Assembly) -> Table:
    """A row per layer: owner, characters, tokens, hash, and what became of it."""
    table = Table(box=None, pad_edge=False, header_style="dim", show_edge=False)
    for name, side in (("", "left"), ("layer", "left"), ("owner", "left"), ("chars", "right"), ("tokens", "right")):
        table.add_column(name, justify=side, no_wrap=True)  # type: ignore[arg-type]
    table.add_column("sha256", style="dim", no_wrap=True)
    table.add_column("", overflow="fold")
    for part in assembly.parts:
        layer = part.section.layer
        became = "" if part.disposition == "whole" else f"{part.disposition}: {part.reason}"
        table.add_row(
            layer.label, Text(layer.id, style=COLOURS[layer.owner]), layer.owner, f"{len(part.text):,}",
            f"{part.tokens:,}", part.sha256[:12], Text(became, style="yellow"),
        )  # fmt: skip
    for left in assembly.left_out:
        table.add_row(
            left.layer, Text(left.id, style="dim"), "", "", "", "", Text(f"left out: {left.reason}", style="dim")
        )
    text = assembly.reveal()
    table.add_row(
        "", Text("whole prompt", style="bold"), "", f"{len(text):,}", f"{assembly.manifest.tokens_est:,}",
        assembly.stack_sha256[:12], _tools(assembly),
    )  # fmt: skip
    return table


def _tools(assembly: Assembly) -> Text:
    count = len(assembly.tools)
    return Text(f"tokens include {assembly.beside.tokens:,} for {count} tool schemas" if count else "", style="dim")


def prompt(console: Console, assembly: Assembly) -> None:
    """The prompt as the model will see it, a bar in its owner's colour beside each layer."""
    joint = assembly.stack.joiner.strip("\n")
    for index, part in enumerate(assembly.parts):
        if index:
            console.print(Text(f"\n  {joint}\n" if joint else "", style="dim"))
        colour = COLOURS[part.section.layer.owner]
        for line in part.text.split("\n"):
            text = Text(line, style="bold" if line.startswith("#") else "")
            for row in text.wrap(console, max(console.width - 2, 20)) or [Text()]:
                console.print(Text.assemble(("▎ ", colour), row))


def show(console: Console, assembly: Assembly, title: str, notices: Iterable[str] = ()) -> None:
    """A whole view: prompt, sizes, what was cut."""
    console.print(Rule(Text(title, style="bold"), align="left"))
    prompt(console, assembly)
    if assembly.message and assembly.parts[-1].section.layer.role != "user":
        console.print(Text(f"\nuser message: {len(assembly.message):,} characters, sent in its own role", style="dim"))
    console.print()
    console.print(sizes(assembly))
    for notice in notices:
        console.print(Text(f"notice: {notice}", style="yellow"))
    console.print(legend())


def difference(console: Console, first: Assembly, second: Assembly) -> bool:
    """What differs between two views, layer by layer; whether anything does."""
    texts_a = {part.section.layer.id: part for part in first.parts}
    texts_b = {part.section.layer.id: part for part in second.parts}
    order = list(dict.fromkeys([*texts_a, *texts_b]))
    differs = False
    for name in order:
        a, b = texts_a.get(name), texts_b.get(name)
        if a and b and a.sha256 == b.sha256:
            continue
        differs = True
        said = "only in the second" if a is None else "only in the first" if b is None else "changed"
        console.print(Text(f"{name}: {said}", style="bold"))
        lines = difflib.unified_diff(a.text.split("\n") if a else [], b.text.split("\n") if b else [], lineterm="", n=1)
        for line in list(lines)[2:]:
            style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "dim")
            console.print(Text(f"  {line}", style=style), soft_wrap=True)
    console.print(Text(f"first  {first.stack_sha256}\nsecond {second.stack_sha256}", style="dim"))
    return differs


def chapter(console: Console, number: int, about: str, assembly: Assembly) -> None:
    """One charter of the tour: what it is, its prompt, its sizes and hashes."""
    heading = f"{number} · {assembly.settings.charter} {assembly.settings.version} · {assembly.mode}"
    console.print(Rule(Text(heading, style="bold"), align="left"))
    console.print(Text(about, style="italic"))
    console.print()
    prompt(console, assembly)
    console.print()
    console.print(sizes(assembly))
    console.print()
