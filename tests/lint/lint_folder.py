"""A charter folder for a test, and what a check says of it."""

from __future__ import annotations

from pathlib import Path

from charter.lint import Finding, check
from charter.sources import World

BASE = """name = "small"
version = "1.0.0"

[[layer]]
id = "base"
label = "1"
title = "## Base"
owner = "operator"
required = true
template = "base.md"
"""
TEXT = "You answer questions about gardens.\n"


def folder(root: Path, toml: str = "", files: dict[str, str] | None = None, *, base: str = BASE) -> Path:
    """A folder with a base layer, more TOML below it, and more files beside it."""
    for name, text in {"charter.toml": base + toml, "base.md": TEXT, **(files or {})}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def layer(name: str, label: str, *more: str) -> str:
    """One more [[layer]] with these lines."""
    return "\n".join(["\n[[layer]]", f'id = "{name}"', f'label = "{label}"', *more, ""])


def found(root: Path, rule: str, *, world: World | None = None) -> list[Finding]:
    """The findings of one rule."""
    return [finding for finding in check(root, world=world).findings if finding.rule == rule]
