"""A server on a real socket that speaks a dialect and does what it is told: answers, errors, half answers, silence."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from charter.core.dialogue import Reply, Usage
from charter.testing import CANARY, WAIT_SECONDS, Fault

from .spoken import EVENTS, WHOLE, said_forever, sse

Answer = Reply | Fault | tuple[int, str, bytes]  # the last: a status, a content type and a body, as they are

HALF: Final = Reply(f"{CANARY} this much was said and then", usage=Usage(300, 9))
_MEDIA: Final = {"ollama": "application/x-ndjson"}


def _openai_error(code: str, kind: str = "invalid_request_error") -> dict[str, Any]:
    return {"error": {"message": f"about {CANARY}", "type": kind, "param": None, "code": code}}


def _anthropic_error(kind: str, words: str = "") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": f"{words} about {CANARY}"}}


# What servers really answer, by dialect: status and body.
_OPENAI: Final[dict[str, tuple[int, object]]] = {
    "wrong key": (401, _openai_error("invalid_api_key")),
    "forbidden": (403, _openai_error("model_not_allowed")),
    "too many": (429, _openai_error("rate_limit_exceeded", "requests")),
    "no credit": (429, _openai_error("insufficient_quota", "insufficient_quota")),
    "too long": (400, _openai_error("context_length_exceeded")),
    "bad request": (422, _openai_error("unknown_parameter")),
    "overloaded": (503, _openai_error("server_error", "server_error")),
}
_ERRORS: Final[dict[str, dict[str, tuple[int, object]]]] = {
    "openai": _OPENAI,
    "openai-responses": _OPENAI,
    "completion": {
        **_OPENAI,
        "too long": (400, {"error": {"code": 400, "message": CANARY, "type": "exceed_context_size_error"}}),
    },
    "anthropic": {
        "wrong key": (401, _anthropic_error("authentication_error")),
        "forbidden": (403, _anthropic_error("permission_error")),
        "too many": (429, _anthropic_error("rate_limit_error")),
        "no credit": (400, _anthropic_error("invalid_request_error", "Your credit balance is too low")),
        "too long": (400, _anthropic_error("invalid_request_error", "prompt is too long: 2 tokens > 1 maximum")),
        "bad request": (400, _anthropic_error("invalid_request_error", "tools.0: no such field")),
        "overloaded": (529, _anthropic_error("overloaded_error")),
    },
    "ollama": {
        "wrong key": (401, {"error": f"unauthorized {CANARY}"}),
        "forbidden": (403, {"error": CANARY}),
        "too many": (429, {"error": CANARY}),
        "no credit": (402, {"error": CANARY}),
        "too long": (400, {"error": f"the input length exceeds the context length {CANARY}"}),
        "bad request": (404, {"error": f"model {CANARY} not found"}),
        "overloaded": (503, {"error": f"server busy {CANARY}"}),
    },
}
_ODD: Final[dict[str, object]] = {
    "openai": {"choices": [{"message": [CANARY], "delta": [CANARY], "finish_reason": "stop"}]},
    "openai-responses": {"type": "response.completed", "response": CANARY, "output": CANARY, "status": "completed"},
    "anthropic": {"type": "content_block_delta", "delta": CANARY, "content": CANARY, "stop_reason": "end_turn"},
    "ollama": {"message": CANARY, "done": True},
    "completion": {"choices": [{"text": [CANARY], "finish_reason": "stop"}]},
}
_EMPTY: Final[dict[str, object]] = {
    "openai": {"choices": []},
    "openai-responses": {"status": "completed"},
    "anthropic": {"role": "assistant"},
    "ollama": {"done": False},
    "completion": {"choices": []},
}


class Stub:
    """The server: `answers` are given in order, `bodies` and `paths` are what arrived."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        self.answers: list[Answer] = []
        self.bodies: list[bytes] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.hung_up = threading.Event()
        self.over = threading.Event()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (_Handler,), {"stub": self}))
        self._server.daemon_threads = False
        self._server.block_on_close = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def take(self, path: str, headers: dict[str, str], body: bytes) -> Answer:
        with self._lock:
            self.paths.append(path)
            self.headers.append(headers)
            self.bodies.append(body)
            return self.answers.pop(0)

    def close(self) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def serving(dialect: str) -> Iterator[Stub]:
    stub = Stub(dialect)
    try:
        yield stub
    finally:
        stub.close()


class _Handler(BaseHTTPRequestHandler):
    """One connection, one request: what a client does with the next one is not what is tested."""

    protocol_version = "HTTP/1.1"
    stub: Stub

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is theirs
        pass

    def do_POST(self) -> None:
        self.close_connection = True
        body = self.rfile.read(int(self.headers["content-length"]))
        answer = self.stub.take(self.path, {k.lower(): v for k, v in self.headers.items()}, body)
        try:
            self._do(answer, bool(json.loads(body).get("stream")))
        except OSError:  # the client has left
            self.stub.hung_up.set()

    def _do(self, answer: Answer, stream: bool) -> None:
        dialect = self.stub.dialect
        if isinstance(answer, tuple):
            self._send(*answer)
        elif isinstance(answer, Reply) and stream:
            self._stream(EVENTS[dialect](answer))
        elif isinstance(answer, Reply):
            self._json(200, WHOLE[dialect](answer))
        elif answer in _ERRORS[dialect]:
            self._json(*_ERRORS[dialect][answer])
        else:
            self._fault(str(answer), stream)

    def _fault(self, fault: str, stream: bool) -> None:
        dialect, half = self.stub.dialect, EVENTS[self.stub.dialect](HALF)
        error = {"error": {"message": f"about {CANARY}"}} if dialect != "ollama" else {"error": CANARY}
        name = b"event: content_block_delta\n" if dialect == "anthropic" else b""
        start = b"" if dialect == "ollama" else name + b"data: "
        if fault == "broken":
            self._send(500, "text/html", f"<h1>{CANARY}</h1>".encode())
        elif fault == "slow":
            self.stub.over.wait()
        elif fault == "cut":
            self._stream(half[: len(half) // 2], end=False)
        elif fault == "unfinished":
            self._stream(half[: len(half) // 2])
        elif fault == "page":
            self._send(200, "text/html", f"<html>{CANARY}</html>".encode())
        elif fault == "no json":
            self._stream([start + b'{"' + CANARY.encode() + b"\n\n"]) if stream else self._send(
                200, "application/json", b'{"' + CANARY.encode()
            )
        elif fault in ("nothing", "odd", "error in 200"):
            told = {"nothing": _EMPTY[dialect], "odd": _ODD[dialect], "error in 200": error}[fault]
            line = start + json.dumps(told).encode() + b"\n\n"
            self._stream([] if fault == "nothing" else [line]) if stream else self._json(200, told)
        elif fault == "endless":
            self._stream(said_forever(dialect))
        else:
            assert fault == "gone", fault  # closes without a word

    def _json(self, status: int, body: object) -> None:
        self._send(status, "application/json", json.dumps(body).encode())

    def _send(self, status: int, media: str, body: bytes) -> None:
        self.send_response(status)
        if status == 429:
            self.send_header("retry-after", f"{WAIT_SECONDS:g}")
        self.send_header("connection", "close")
        self.send_header("content-type", media)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, events: Any, *, end: bool = True) -> None:
        """Events in chunks that end in the middle of one, as networks like to do it."""
        self.send_response(200)
        self.send_header("content-type", _MEDIA.get(self.stub.dialect, "text/event-stream"))
        self.send_header("connection", "close")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in events:
            for piece in (event[: len(event) // 2], event[len(event) // 2 :]):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        if end:
            self.wfile.write(b"0\r\n\r\n")


__all__ = ["Answer", "Stub", "serving", "sse"]
