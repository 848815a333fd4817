"""What the commands over the store share: their options, who is asking, and how a line is written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..core.errors import BadValue, CharterError, Refused, UnknownLayer

if TYPE_CHECKING:
    from ..core.records import Author
    from ..folder import Charter
    from ..stores.store import SqlStore

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Database = Annotated[str, typer.Option("--database", help="The store's address; the embedded one when left out.")]
Agent = Annotated[str, typer.Option("--agent", help="The agent; the charter's own when left out.")]
User = Annotated[str, typer.Option("--user", help="The user whose text it is.")]
CharterName = Annotated[
    str, typer.Option("--charter", help="The charter; the built-in one that keeps this layer when left out.")
]
KEEPERS = ("sovereign", "assistant", "gateway")


def print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def at(ns: int) -> str:
    """A time for people."""
    return datetime.fromtimestamp(ns / 10**9, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


@contextmanager
def opened(database: str) -> Iterator[SqlStore]:
    """The store of this installation, closed at the end."""
    from ..app import open_store

    with open_store(database) as store:
        yield store


def keeper(layer_id: str, charter: str) -> Charter:
    """The charter named, else the first built-in one that keeps this layer in the store."""
    from ..folder import load

    if charter:
        return load(charter)
    refused: CharterError | None = None
    for name in KEEPERS:
        found = load(name)
        try:
            found.stored(layer_id)
        except Refused as error:
            refused = refused or error
        except UnknownLayer:
            continue
        else:
            return found
    raise refused or BadValue("layer", "no built-in charter keeps a layer of this name; say which with --charter")


def author(user: str) -> Author:
    """The user whose text it is, else the operator at this machine."""
    from ..app import operator
    from ..core.policy import Actor
    from ..core.records import Author

    return Author(Actor.USER, user) if user else operator()


def parse_version(text: str) -> tuple[str, str]:
    """`LAYER@3` or `LAYER@production` in two; `LAYER` alone is its newest version."""
    layer, _, wanted = text.partition("@")
    return layer, wanted
