"""What a request costs over the network: previews and gateway turns beside a trivial endpoint of the same server.

Needs `wrk` (Debian: apt-get install wrk). `--minutes 10` watches the memory of a server under load instead.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from charter.core.dialogue import Reply, Usage
from charter.core.ports import Request
from charter.core.wire import check
from rounds import environment_text, file_system, folder

REPLY = "High tide in Porto is at six in the evening; the harbour is calm until then."
MESSAGE = "When is high tide in Porto today?"
SESSIONS = 997  # a chat has one turn at a time, so a load comes from many
ABOUT = """\
One worker of `charter serve` with the assistant charter, guards on, rate limits off, SQLite (synchronous=FULL). A turn
is POST /v1/chat/completions: token looked up, prompt assembled, guards, model, record with its hash-chained row.
`same bytes` is a Starlette route of the same server, behind the same checks, that returns what the other returned. The
stub model answers in the process at once; the upstream is a second process on loopback that gives the message back."""


class Stub:
    """A model in the process that answers at once; it looks at the wire first, as every provider does."""

    name, dialect, model, native_tools = "stub", "openai", "stub-70b", True
    window: int | None = None

    def options(self, *, stream: bool, max_tokens: int) -> Mapping[str, Any]:
        return {"stream": stream, "max_tokens": max_tokens}

    def converse(self, request: Request, hear: Callable[[str], None]) -> Reply:
        check(request.payload, request.expected)
        return Reply(REPLY, usage=Usage(600, 12, 500))

    def close(self) -> None: ...


# ── the server, a process of its own ──────────────────────────────────────────────────────────────────────────────


def run_server(database: str, upstream: int) -> None:
    """Serves until its input ends; says its port and the operator's token."""
    import threading

    import uvicorn
    from starlette.responses import Response
    from starlette.routing import Route

    from charter.app import signing_key
    from charter.house import open_house
    from charter.providers import open_provider
    from charter.web.outside import Limits
    from charter.web.running import operator_token
    from charter.web.server import Settings, make_app

    kept: dict[str, bytes] = {}

    async def same(request: Any) -> Response:
        if request.method == "PUT":
            kept[request.path_params["name"]] = await request.body()
        elif request.method == "POST":
            await request.body()
        return Response(kept.get(request.path_params["name"], b""), media_type="application/json")

    provider: Any = Stub()
    if upstream:
        provider = open_provider("openai", model="stub-70b", base_url=f"http://127.0.0.1:{upstream}/v1", api_key="none")
    with open_house(database=database, charters=("assistant",), provider=provider) as house:
        app = make_app(house, signing_key(), Settings(limits=Limits(per_second=1e9, burst=10**9)))
        app.router.routes.insert(0, Route("/same/{name}", same, methods=["GET", "POST", "PUT"]))
        server = uvicorn.Server(
            uvicorn.Config(app, port=0, log_level="critical", access_log=False, log_config=None)
        )  # fmt: skip
        threading.Thread(target=_end_with_input, args=(server,), daemon=True).start()
        threading.Thread(target=_say_port, args=(server, operator_token(house)), daemon=True).start()
        server.run()


def _end_with_input(server: Any) -> None:
    sys.stdin.read()
    server.should_exit = True


def _say_port(server: Any, token: str) -> None:
    import time

    while not server.started:
        time.sleep(0.01)
    print(json.dumps({"port": server.servers[0].sockets[0].getsockname()[1], "token": token}), flush=True)


@dataclass(frozen=True)
class Served:
    """A server under test."""

    port: int
    token: str
    pid: int

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def call(self, path: str, body: bytes | None, method: str = "POST") -> bytes:
        request = urllib.request.Request(
            self.base + path,
            body,
            {"authorization": f"Bearer {self.token}", "content-type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request) as answer:
            found: bytes = answer.read()
        return found


@contextlib.contextmanager
def served(path: Path, upstream: int = 0) -> Iterator[Served]:
    env = {**os.environ, "CHARTER_HOME": str(path / "home"), "CHARTER_DATABASE": ""}
    command = [sys.executable, __file__, "--server", f"sqlite:///{path / 'charter.db'}", "--upstream", str(upstream)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        line = process.stdout.readline()
        if not line:
            raise RuntimeError("the server did not start; run: python bench/served.py --server sqlite:////tmp/x.db")
        yield Served(**json.loads(line), pid=process.pid)
        process.stdin.close()


@contextlib.contextmanager
def upstream_server() -> Iterator[int]:
    command = [sys.executable, "-m", "charter.testing.upstream", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline())
        process.terminate()


# ── the load ──────────────────────────────────────────────────────────────────────────────────────────────────────

LUA = """\
wrk.method = "POST"
wrk.body = [==[%(body)s]==]
wrk.headers["content-type"] = "application/json"
wrk.headers["authorization"] = "Bearer %(token)s"
local n = 0
request = function()
  n = n + 1
  wrk.headers["x-charter-session"] = "s" .. (n %% %(sessions)d)
  return wrk.format()
end
"""


@dataclass(frozen=True)
class Load:
    """What wrk saw: answers a second, milliseconds at the middle and at the 99th percentile, and what went wrong."""

    rate: float
    p50: float
    p99: float
    wrong: int


def _asked_once(url: str, body: bytes, token: str) -> None:
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
        answer.read()


def load(where: Path, url: str, body: bytes, token: str, *, connections: int, seconds: float) -> Load:
    for _ in range(20):  # a server that has just begun reads word tables and imports clients first
        _asked_once(url, body, token)
    script = where / "load.lua"
    script.write_text(LUA % {"body": body.decode(), "token": token, "sessions": SESSIONS})
    command = ["wrk", "-t", "1", "-c", str(connections), "-d", f"{seconds:g}s", "--latency", "-s", str(script), url]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", said)[1])  # type: ignore[index]
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", said)
    wrong = int(bad[1]) if bad else 0
    times = {int(share): _ms(value) for share, value in re.findall(r"^\s+(50|99)%\s+(\S+)$", said, re.MULTILINE)}
    return Load(rate, times[50], times[99], wrong)


def _ms(text: str) -> float:
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s|m)", text).groups()  # type: ignore[union-attr]
    return float(number) * {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60_000.0}[unit]


# ── what is compared ──────────────────────────────────────────────────────────────────────────────────────────────


def chat_body() -> bytes:
    messages = [{"role": "user", "content": MESSAGE}]
    return json.dumps({"model": "assistant", "messages": messages}).encode()


def compare(seconds: float) -> dict[str, Any]:
    rows: dict[str, Load] = {}
    with folder("memory") as path, served(path) as one:
        place = file_system(path)
        asked = {
            "preview": ("/api/agents/assistant/preview", json.dumps({"channel": "web", "message": MESSAGE}).encode()),
            "turn": ("/v1/chat/completions", chat_body()),
        }
        for name, (route, body) in asked.items():
            one.call(f"/same/{name}", one.call(route, body), "PUT")
        for connections in (1, 8):
            for name, (route, body) in asked.items():
                for label, target in ((f"{name}: same bytes", f"/same/{name}"), (name, route)):
                    found = load(path, one.base + target, body, one.token, connections=connections, seconds=seconds)
                    rows[f"{label}, {connections}"] = found
    with folder("disk") as path, served(path) as one:
        rows["turn, on the disk, 1"] = load(
            path, f"{one.base}/v1/chat/completions", chat_body(), one.token, connections=1, seconds=seconds
        )
    with folder("memory") as path, upstream_server() as port, served(path, port) as one:
        direct = f"http://127.0.0.1:{port}/v1/chat/completions"
        rows["upstream alone, 1"] = load(path, direct, chat_body(), one.token, connections=1, seconds=seconds)
        rows["upstream through the gateway, 1"] = load(
            path, f"{one.base}/v1/chat/completions", chat_body(), one.token, connections=1, seconds=seconds
        )
    return {"file_system": place, "rows": {name: vars(row) for name, row in rows.items()}}


def told(found: dict[str, Any]) -> str:
    rows = {name: Load(**row) for name, row in found["rows"].items()}
    lines = [f"{'':<34}{'requests/s':>11}{'p50 ms':>9}{'p99 ms':>9}{'wrong':>7}"]
    lines += [f"{name:<34}{row.rate:>11,.0f}{row.p50:>9.2f}{row.p99:>9.2f}{row.wrong:>7}" for name, row in rows.items()]
    lines.append("")
    for name, aim in (("preview", ""), ("turn", "  (aim 0.2)")):
        for connections in (1, 8):
            ratio = rows[f"{name}, {connections}"].rate / rows[f"{name}: same bytes, {connections}"].rate
            lines.append(f"{name} / same bytes, {connections} connection(s): {ratio:.3f} of its rate{aim}")
    added = rows["upstream through the gateway, 1"].p99 - rows["upstream alone, 1"].p99
    lines.append(f"p99 the gateway adds to the upstream's: {added:.2f} ms  (aim < 5)")
    commit = 1000 / rows["turn, on the disk, 1"].rate - 1000 / rows["turn, 1"].rate
    lines.append(f"a turn on the disk takes {commit:.2f} ms longer than on {found['file_system']}: its durable commits")
    return "\n".join(lines)


def memory(minutes: float) -> None:
    """The size of a server under load, every tenth of the time."""
    with folder("memory") as path, served(path) as one:
        for step in range(11):
            print(f"{minutes * step / 10:5.1f} min {_rss(one.pid):8,.1f} MB", flush=True)
            if step < 10:
                load(path, f"{one.base}/v1/chat/completions", chat_body(), one.token,
                     connections=8, seconds=minutes * 6)  # fmt: skip


def _rss(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="of every load")
    parser.add_argument("--minutes", type=float, default=0.0, help="watch the memory for so long instead")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--server", default="", help=argparse.SUPPRESS)
    parser.add_argument("--upstream", type=int, default=0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.server:
        run_server(given.server, given.upstream)
        return
    if shutil.which("wrk") is None:
        sys.exit("this needs wrk; on Debian: apt-get install wrk")
    if given.minutes:
        memory(given.minutes)
        return
    found = compare(given.seconds)
    print(json.dumps(found, indent=2) if given.json else f"{environment_text()}\n{ABOUT}\n\n{told(found)}")


if __name__ == "__main__":
    main()
