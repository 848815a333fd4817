"""A page is drawn from a template that escapes every value; files beside it are read once and named by their hash."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import jinja2
from starlette.responses import HTMLResponse, RedirectResponse, Response

from ...core.errors import NotStored
from .prose import calm, exact, markdown

if TYPE_CHECKING:
    from starlette.requests import Request

HERE: Final = Path(__file__).parent.parent
KINDS: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".LICENSE": "text/plain"}
FOREVER: Final = "public, max-age=31536000, immutable"
# A form of a page that sends no referrer names no origin either, and would be taken for a stranger's.
PRIVATE: Final = {"cache-control": "no-store", "vary": "HX-Request, Cookie", "referrer-policy": "same-origin"}


# ── pages ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def page(name: str, values: Mapping[str, Any], *, status: int = 200) -> HTMLResponse:
    """A page or a part of one; it is somebody's, so nobody keeps it."""
    return HTMLResponse(_environment().get_template(name).render(values), status, dict(PRIVATE))


def go(path: str) -> RedirectResponse:
    """Another page, to be asked for with GET."""
    return RedirectResponse(path, 303, {"cache-control": "no-store"})


def is_part(request: Request) -> bool:
    """Whether a script asks for a part to put into the page that is there."""
    return request.headers.get("hx-request") == "true" and request.headers.get("hx-history-restore-request") != "true"


@cache
def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    made.filters |= {"calm": calm, "exact": exact, "markdown": markdown, "when": when, "clock": clock, "short": short}
    made.globals["file"] = address
    return made


def when(ns: int) -> str:
    """A moment for people."""
    return datetime.fromtimestamp(ns // 10**9, UTC).strftime("%-d %b %Y, %H:%M UTC") if ns else "never"


def clock(ns: int) -> str:
    """A moment for machines."""
    return datetime.fromtimestamp(ns // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def short(text: str, length: int = 12) -> str:
    """The beginning of a hash or an id."""
    return text[:length]


# ── files ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class File:
    """A file that every page may name."""

    body: bytes = field(repr=False)
    kind: str
    digest: str


@cache
def files() -> Mapping[str, File]:
    """Everything in `static`, by name; a name that is not here is no file."""
    found = {}
    for path in sorted((HERE / "static").iterdir()):
        if path.suffix in KINDS:
            body = path.read_bytes()
            found[path.name] = File(body, KINDS[path.suffix], sha256(body).hexdigest()[:16])
    return found


def address(name: str) -> str:
    """Where a file is: its name and its hash, so that a new one is never taken for the old one."""
    return f"/static/{name}?{files()[name].digest}"


def serve_file(name: str, query: str) -> Response:
    found = files().get(name)
    if found is None:
        raise NotStored("file of this name")
    keep = FOREVER if query == found.digest else "no-cache"
    return Response(found.body, headers={"cache-control": keep, "etag": f'"{found.digest}"'}, media_type=found.kind)
