"""Honest prose in many languages, for the guards to learn what asks for nothing: what packages say of themselves.

    pip install --no-deps --target FOLDER -r tools/prose.txt
    python tools/prose.py FOLDER > FILE

Docstrings, descriptions, licences, pages and message catalogues, cut into pieces of 1 to 130 words, each once, in an
order that is the same for the same packages. One JSON object with a "text" per line, for `tools/train_guard.py`.
The pieces belong to those who wrote them and are not in this repository.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator, Sequence
from email import message_from_string
from hashlib import sha256
from pathlib import Path
from typing import Final

MOST: Final = 130  # words of a piece
OF_A_FOLDER: Final = 2_500  # pieces, so that no package drowns the others
PAGES: Final = (".md", ".rst", ".txt")
SAID: Final = re.compile(r'^msgstr(?:\[\d\])? ((?:"(?:[^"\\\n]|\\.)*"\s*)+)', re.MULTILINE)
PART: Final = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
BREAK: Final = re.compile(r"\n\s*\n")
MARKUP: Final = re.compile(r"%\(\w+\)\w|%\w|\{\w*\}|[*`_#=<>|~^]{2,}|:\w+:`|^\s*\.\. .*$", re.MULTILINE)


def texts_of(path: Path) -> Iterator[str]:
    """What a file says to people."""
    text = path.read_text("utf-8", errors="ignore")
    if path.suffix == ".py":
        yield from _docstrings(text)
    elif path.suffix == ".po":
        for found in SAID.finditer(text):
            yield "".join(PART.findall(found[1])).replace("\\n", "\n").replace('\\"', '"')
    elif path.name == "METADATA":
        yield str(message_from_string(text).get_payload())
    elif path.suffix in PAGES or path.name.startswith(("LICENSE", "COPYING", "README")):
        yield text


def _docstrings(source: str) -> Iterator[str]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return  # for another Python, or a template of one
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""


def pieces_of(text: str) -> Iterator[str]:
    for part in BREAK.split(text):
        piece = " ".join(MARKUP.sub(" ", part).split())
        letters = sum(one.isalpha() for one in piece)
        if letters > 0.6 * len(piece) and 1 <= len(piece.split()) <= MOST and letters > 3:
            yield piece


def gathered(root: Path) -> Iterator[str]:
    """The pieces of every package below a folder, those with the smallest hashes first."""
    seen: set[str] = set()
    for folder in sorted(root.iterdir()):
        files = sorted(folder.rglob("*")) if folder.is_dir() else [folder]
        found = {piece for file in files if file.is_file() for text in texts_of(file) for piece in pieces_of(text)}
        some = sorted(found - seen, key=lambda piece: sha256(piece.encode()).digest())[:OF_A_FOLDER]
        seen.update(some)
        yield from some


def main(arguments: Sequence[str]) -> None:
    for root in arguments:
        for piece in gathered(Path(root)):
            print(json.dumps({"text": piece}, ensure_ascii=False))


if __name__ == "__main__":
    main(sys.argv[1:])
