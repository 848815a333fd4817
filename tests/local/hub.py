"""A mirror on loopback: one file, ranges, and every way to fail on purpose."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from charter import weights
from charter.mirrors import UrlMirror, WheelMirror
from charter.weights import Weights

NAME = "tiny-model"
FILE = "tiny.gguf"


@dataclass
class Hub:
    """What it serves and how; `ranges` are the Range headers it was sent, empty where there was none."""

    data: bytes = field(repr=False)
    url: str = ""
    cut: int | None = None
    status: int = 200
    whole: bool = False  # pays no attention to ranges
    chunked: bool = False  # does not say how long it is
    open: threading.Event = field(default_factory=threading.Event)
    stall: threading.Event | None = None  # stays on the line after what it sends
    ranges: list[str] = field(default_factory=list)


@contextmanager
def serving(data: bytes) -> Iterator[Hub]:
    """A hub with this file; it answers as its fields say at the time."""
    hub = Hub(data)
    hub.open.set()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hub.ranges.append(self.headers.get("Range", ""))
            hub.open.wait()
            begin = 0 if hub.whole else int(hub.ranges[-1].removeprefix("bytes=").rstrip("-") or 0)
            self.send_response(206 if begin and hub.status == 200 else hub.status)
            if begin:
                self.send_header("Content-Range", f"bytes {begin}-{len(hub.data) - 1}/{len(hub.data)}")
            if not hub.chunked:
                self.send_header("Content-Length", str(len(hub.data) - begin))
            self.end_headers()
            self.wfile.write(hub.data[begin:][: hub.cut])
            if hub.stall is not None:
                hub.stall.wait()

        def log_message(self, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    hub.url = f"http://127.0.0.1:{server.server_port}/{FILE}"
    try:
        yield hub
    finally:
        hub.open.set()
        if hub.stall is not None:
            hub.stall.set()
        server.shutdown()
        server.server_close()
        thread.join()


def know(monkeypatch: pytest.MonkeyPatch, data: bytes, *mirrors: UrlMirror | WheelMirror | Hub) -> Weights:
    """Makes this file the one model there is, with these mirrors in this order."""
    listed = tuple(
        UrlMirror(f"hub {number}", mirror.url) if isinstance(mirror, Hub) else mirror
        for number, mirror in enumerate(mirrors, 1)
    )
    digest = hashlib.sha256(data).hexdigest()
    row = Weights(NAME, "for tests", FILE, len(data), digest, "CC0-1.0", 100, 1, listed)
    monkeypatch.setattr(weights, "known", lambda: {NAME: row})
    return row


def names(folder: Path) -> list[str]:
    """What is in the folder, but for locks."""
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".lock"))


class Heard:
    """A watcher that keeps what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.sizes: list[int] = []

    def say(self, line: str) -> None:
        self.lines.append(line)

    def at(self, done: int, total: int) -> None:
        self.sizes.append(done)
