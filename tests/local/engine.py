"""An engine in the place of xllamacpp that answers one word: what the server is told, and when it lives and dies."""

from __future__ import annotations

import json
import sys
import threading
import weakref
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from charter.core.ports import Request
from charter.providers.embedded import Embedded
from charter.testing import request_for, small_prompt

ANSWER = {
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Yes."}}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 1},
    "timings": {"cache_n": 4},
}


class Parameters:
    def __init__(self) -> None:
        self.model = SimpleNamespace(path="")
        self.cpuparams, self.cpuparams_batch = SimpleNamespace(n_threads=0), SimpleNamespace(n_threads=0)


class Engine(ModuleType):
    """The module; `servers` are the parameters of every server that was made, `alive` counts those that still run."""

    def __init__(self) -> None:
        super().__init__("xllamacpp")
        self.servers: list[Any] = []
        self.alive = 0
        self.fails = False
        self.keys: list[str] = []
        self.CommonParams = Parameters
        self.Server = self._server

    def _server(self, parameters: Any) -> Any:
        if self.fails:
            raise RuntimeError("Failed to init server, please check the input params.")
        engine = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                engine.keys.append(self.headers["Authorization"])
                self.rfile.read(int(self.headers["Content-Length"]))
                body = json.dumps(ANSWER).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: object) -> None: ...

        http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        server = _Server(f"http://127.0.0.1:{http.server_port}")
        self.servers.append(parameters)
        self.alive += 1
        weakref.finalize(server, self._stop, http, thread)
        return server

    def _stop(self, http: ThreadingHTTPServer, thread: threading.Thread) -> None:
        self.alive -= 1
        http.shutdown()
        http.server_close()
        thread.join()


class _Server:
    def __init__(self, address: str) -> None:
        self.listening_address = address


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    """The engine, in the place of the real one."""
    made = Engine()
    monkeypatch.setitem(sys.modules, "xllamacpp", made)
    return made


def request(model: Embedded, *, seconds: float = 60.0) -> Request:
    """A request as a turn makes it."""
    return request_for(model, small_prompt(), timeout_s=seconds)


def silent(part: str) -> None: ...
