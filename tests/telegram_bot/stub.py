"""A small Bot API on a real socket: it keeps updates until they are confirmed, and does what it is told to do wrong."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Literal
from urllib.parse import parse_qs

TOKEN: Final = "4711:canary-token-0123456789abcdefghij"
ANA: Final = 1001

# What goes wrong with a call: a status, a wait, or a connection that ends before or after the call had its effect.
Fault = int | Literal["before", "after", "nonsense", "hold"] | tuple[Literal["wait"], int] | None
_SAID: Final = {400: "Bad Request: chat not found", 403: "Forbidden: bot was blocked by the user", 401: "Unauthorized",
                409: "Conflict: terminated by other getUpdates request", 500: "Internal Server Error"}  # fmt: skip


class Stub:
    """`sent` is what people got, in order; `faults` of a method are used up one by one; `calls` is every call."""

    def __init__(self) -> None:
        self.token = TOKEN
        self.sent: list[tuple[int, str]] = []
        self.bodies: list[dict[str, Any]] = []
        self.calls: list[str] = []
        self.typing: list[int] = []
        self.updates: list[dict[str, Any]] = []
        self.offsets: list[int] = []
        self.hook: dict[str, Any] = {}
        self.faults: dict[str, list[Fault]] = {}
        self.accepted: Callable[[str], None] = lambda text: None
        self.changed = threading.Condition()
        self.over = False
        self._next = 500
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (_Handler,), {"stub": self}))
        self._server.daemon_threads = False
        self._server.block_on_close = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def texts(self, chat: int = ANA) -> list[str]:
        return [text for one, text in self.sent if one == chat]

    def says(self, text: str | None, chat: int = ANA, *, number: int = 0, more: Any = None) -> dict[str, Any]:
        """Somebody writes; `more` is of the message (a photo, a caption …)."""
        message = {
            "message_id": number or self._next, "date": 1_772_116_200, "chat": {"id": chat, "type": "private"},
            "from": {"id": chat, "is_bot": False, "first_name": "A"},
            **({} if text is None else {"text": text}), **(more or {}),
        }  # fmt: skip
        return self.puts({"message": message})

    def puts(self, update: dict[str, Any]) -> dict[str, Any]:
        with self.changed:
            self._next += 1
            self.updates.append({"update_id": self._next, **update})
            self.changed.notify_all()
            return self.updates[-1]

    def wait(self, ready: Callable[[], object], *, seconds: float = 30) -> None:
        """Until this is so, here or in a database; the time is only there to end a test that fails."""
        end = time.monotonic() + seconds
        with self.changed:
            while not ready():
                assert time.monotonic() < end, "it did not come to this"
                self.changed.wait(0.05)

    def close(self) -> None:
        with self.changed:
            self.over = True
            self.changed.notify_all()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    # ── what a call does ──────────────────────────────────────────────────────────────────────────────────────────

    def do(self, method: str, given: dict[str, Any]) -> Any:
        with self.changed:
            result = getattr(self, f"_{method}")(given)
            self.changed.notify_all()
        if method == "sendMessage":
            self.accepted(given["text"])
        return result

    def _getMe(self, given: dict[str, Any]) -> Any:
        return {"id": 4711, "is_bot": True, "first_name": "Charter", "username": "charter_test_bot"}

    def _getUpdates(self, given: dict[str, Any]) -> Any:
        offset = int(given.get("offset", 0))
        self.offsets.append(offset)
        self.updates = [one for one in self.updates if one.get("update_id", offset) >= offset]
        if int(given.get("timeout", 0)):
            self.changed.wait_for(lambda: self.updates or self.over, 30)
        return self.updates[:100]

    def _sendMessage(self, given: dict[str, Any]) -> Any:
        self.bodies.append(given)
        self.sent.append((int(given["chat_id"]), given["text"]))
        chat = {"id": int(given["chat_id"]), "type": "private"}
        return {"message_id": 9000 + len(self.sent), "date": 1_772_116_200, "chat": chat, "text": given["text"]}

    def _sendChatAction(self, given: dict[str, Any]) -> Any:
        self.typing.append(int(given["chat_id"]))
        return True

    def _setWebhook(self, given: dict[str, Any]) -> Any:
        self.hook = given
        return True

    def _deleteWebhook(self, given: dict[str, Any]) -> Any:
        self.hook = {}
        return True


@contextmanager
def bot_api() -> Iterator[Stub]:
    stub = Stub()
    try:
        yield stub
    finally:
        stub.close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    stub: Stub

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is theirs
        pass

    def do_POST(self) -> None:
        self.close_connection = True
        body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        given = {key: values[0] for key, values in parse_qs(body).items()}
        bot, _, method = self.path.lstrip("/").partition("/")
        with self.stub.changed:
            self.stub.calls.append(method)
            faults = self.stub.faults.get(method, [])
            fault = faults.pop(0) if faults else None
            self.stub.changed.notify_all()
        with suppress(OSError):  # the client has left
            self._do(bot, method, given, fault)

    def _do(self, bot: str, method: str, given: dict[str, Any], fault: Fault) -> None:
        if fault == "hold":
            self.stub.wait(lambda: self.stub.over)
        if fault in ("before", "hold"):
            return
        if bot != f"bot{self.stub.token}" or isinstance(fault, int):
            status = fault if isinstance(fault, int) else 401
            self._send(status, {"ok": False, "error_code": status, "description": _SAID[status]})
        elif isinstance(fault, tuple):
            told = {
                "ok": False,
                "error_code": 429,
                "description": "Too Many Requests",
                "parameters": {"retry_after": fault[1]},
            }
            self._send(429, told)
        else:
            result = self.stub.do(method, given)
            if fault == "nonsense":
                self._write(200, b"<html>not what you asked for</html>")
            elif fault != "after":
                self._send(200, {"ok": True, "result": result})

    def _send(self, status: int, body: object) -> None:
        self._write(status, json.dumps(body).encode())

    def _write(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(body)
