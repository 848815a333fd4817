"""What rules see in a sentence, as people read it: a list of sentences, each with what is seen below it.

`UPDATE_GOLDEN=1 pytest tests/guards -k 'seen or reach'` writes them anew; read the difference before you commit it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

FOLDER = Path(__file__).parent / "seen"
BREAK = "⏎"  # a line break in a sentence
BELOW = "    "  # begins a line that says what was seen
Look = Callable[[str], Iterable[str]]


def sights(name: str, look: Look) -> tuple[list[str], list[str]]:
    """What a list says is seen, and what is: line by line, as it is written."""
    path = FOLDER / f"{name}.txt"
    lines = path.read_text("utf-8").splitlines()
    head = [line for line in lines if line.startswith("# ")]
    texts = [line for line in lines if line and not line.startswith(("# ", BELOW))]
    found = [*head, *(line for text in texts for line in (text, *(BELOW + seen for seen in _seen(text, look))))]
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text("".join(f"{line}\n" for line in found), encoding="utf-8")
        lines = path.read_text("utf-8").splitlines()
    return lines, found


def _seen(text: str, look: Look) -> list[str]:
    return [seen.replace("\n", BREAK) for seen in look(text.replace(BREAK, "\n"))] or ["nothing"]


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.txt"))
