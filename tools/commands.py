"""Writes docs/commands.md from the commands' own help, so that the page cannot lie."""

from __future__ import annotations

from pathlib import Path

from typer.main import get_command

from charter.cli import app

TARGET = Path(__file__).parent.parent / "docs" / "commands.md"


def page() -> str:
    """The page as it should be."""
    root = get_command(app)
    lines = ["# Commands", "", "Made by `tools/commands.py`; a test keeps it true.", ""]
    for name, command in sorted(root.commands.items()):  # type: ignore[attr-defined]
        lines += [f"## charter {name}", "", (command.help or "").strip(), "", "| | |", "|---|---|"]
        for parameter in command.params:
            if parameter.name != "help":
                shown = ", ".join(parameter.opts) if parameter.param_type_name == "option" else parameter.name.upper()
                about = getattr(parameter, "help", "") or ""
                lines.append(f"| `{shown}` | {about} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    TARGET.write_text(page())
