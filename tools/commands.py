"""Writes docs/commands.md from the commands' own help, so that the page cannot lie."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from charter.cli import app

TARGET = Path(__file__).parent.parent / "docs" / "commands.md"


def every(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """A command, or each of a group's."""
    if not hasattr(command, "commands"):
        yield name, command
        return
    for child in sorted(command.commands):
        yield from every(command.commands[child], f"{name} {child}")


def page() -> str:
    """The page as it should be."""
    lines = ["# Commands", "", "Made by `tools/commands.py`; a test keeps it true.", ""]
    for name, command in every(get_command(app), "charter"):
        lines += [f"## {name}", "", (command.help or "").strip(), "", "| | |", "|---|---|"]
        for parameter in command.params:
            if parameter.name != "help":
                shown = ", ".join(parameter.opts) if parameter.param_type_name == "option" else parameter.name.upper()
                about = getattr(parameter, "help", "") or ""
                lines.append(f"| `{shown}` | {about} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    TARGET.write_text(page())
