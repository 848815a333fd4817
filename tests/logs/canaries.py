"""Canaries: a word of its own for every place where text may lie, and the search that finds it wherever it turns up."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import traceback
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from urllib.parse import quote, quote_plus

LETTERS = "ghijkmnpqrstuvwx"  # none of them is a hexadecimal digit, so that no hash is taken for a canary


def word(place: str) -> str:
    """The canary of a place: letters that mean nothing, and one that logs like to escape."""
    letters = "".join(LETTERS[int(digit, 16)] for digit in hashlib.sha256(place.encode()).hexdigest()[:14])
    return f"{letters}é{letters[::-1]}"


class Canaries:
    """Every canary that was planted, by where; `kind` is what stands before the first colon."""

    def __init__(self) -> None:
        self.planted: dict[str, str] = {}
        self._forms: list[tuple[str, bytes]] = []

    def plant(self, place: str) -> str:
        if place not in self.planted:
            self.planted[place] = word(place)
            self._forms += [(place, form) for form in sorted(forms(word(place)))]
        return self.planted[place]

    def found_in(self, *sinks: object) -> set[str]:
        """The places whose canary is in one of these texts, in whatever form."""
        data = b"\n".join(_bytes(sink) for sink in sinks)
        low = data.lower()
        return {place for place, form in self._forms if form in data or form.lower() in low}

    def kinds_in(self, *sinks: object) -> set[str]:
        return {place.partition(":")[0] for place in self.found_in(*sinks)}

    def in_folder(self, folder: Path, kind: str) -> None:
        """A canary at the end of every page, in every described field, and in every sentence of a charter.toml."""
        for path in sorted(folder.rglob("*")):
            name = f"{kind}:{path.relative_to(folder)}"
            if path.suffix == ".md":
                text = self._in_fields(path, r"(?m)^(description|vibe|creature): ", name)
                path.write_text(f"{text.rstrip()}\n\n{self.plant(name)}\n")
            elif path.name == "charter.toml":
                path.write_text(self._in_fields(path, r'(?m)^(about|description|summary|autonomous|refusal) = "', name))

    def _in_fields(self, path: Path, pattern: str, name: str) -> str:
        numbers = count(1)
        return re.sub(pattern, lambda found: f"{found[0]}{self.plant(f'{name}#{next(numbers)}')} ", path.read_text())


def _bytes(sink: object) -> bytes:
    if isinstance(sink, bytes):
        return sink
    return str(sink).encode("utf-8", "surrogatepass")


def forms(text: str) -> set[bytes]:
    """A text as a sink may have it: plain, cut, escaped for JSON, a repr, a URL or a page, in Base64, in hex, wide."""
    whole = {
        text, json.dumps(text)[1:-1], ascii(text)[1:-1], repr(text.encode())[2:-1], quote(text), quote_plus(text),
        html.escape(text), text.encode("ascii", "xmlcharrefreplace").decode(), text[::-1], text[:14], text[-14:],
    }  # fmt: skip
    data = text.encode()
    plain = {form.encode() for form in whole} | {data.hex().encode(), text.encode("utf-16-le"), text.encode("latin-1")}
    return plain | set(_base64(data))


def _base64(data: bytes) -> Iterator[bytes]:
    """What is the same in Base64 wherever in a longer text it stood."""
    for before in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(b"\0" * before + data)[4 * (before > 0) : -4]


# ── sinks ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def told_by(error: BaseException | None) -> list[str]:
    """Everything an error says: itself, those behind it whether shown or not, and its traceback."""
    said: list[str] = []
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        one = waiting.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            said += [str(one), repr(one), repr(one.args), repr(vars(one)), *getattr(one, "__notes__", ())]
            said += traceback.format_exception(one)
            waiting += [one.__cause__, one.__context__]
    return said


def cells(store: object) -> Iterable[tuple[str, str, object]]:
    """Every value of every table of a store, with its table and column."""
    from charter.stores.tables import schema_tables

    read = store.db.read  # type: ignore[attr-defined]
    for table, columns in schema_tables().items():
        for row in read(f"SELECT {', '.join(columns)} FROM {table}"):
            yield from ((table, column, value) for column, value in zip(columns, row, strict=True))
