"""Running a server: one process with everything open in it, or several that share a database."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import msgspec
import uvicorn

from .. import app as root
from .. import home
from ..channels.inbox import Postman
from ..core.errors import BadValue, CharterError
from ..house import House, open_house
from ..providers.absent import Absent
from ..stores.notices import listen
from .server import Settings, make_app
from .who import hash_of, make_token

if TYPE_CHECKING:
    from fastapi import FastAPI

PLAN_VARIABLE: Final = "CHARTER_SERVE"
TOKEN_FILE: Final = "operator.token"
USUAL_PORT: Final = 8420
HTTP_PORT: Final = 80
ANY_PORT: Final = -1  # the usual one, or one that is free when somebody has it
GRACE_SECONDS: Final = 10
BACKLOG: Final = 2048

Say = Callable[["Plan", House, str], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """What was asked for on the command line."""

    charters: tuple[str, ...] = ()
    database: str = field(default="", repr=False)
    model: str = ""
    address: str = "127.0.0.1"
    port: int = ANY_PORT
    workers: int = 1
    names: tuple[str, ...] = ()
    secure: bool = False
    schedules: bool = True
    lease_s: float = 30.0

    @property
    def origin(self) -> str:
        """Where a browser on this machine finds it."""
        name = "127.0.0.1" if self.address in EVERYWHERE else self.address
        return f"http://{_in_address(name)}:{self.port}"

    @property
    def hosts(self) -> frozenset[str]:
        """The names this server answers to: its own address and those it was told."""
        here = self.address in LOOPBACK | EVERYWHERE
        own = {"127.0.0.1", "localhost", "[::1]"} if here else {_in_address(self.address)}
        bare = own if self.port == HTTP_PORT else set()  # a browser leaves out the port that goes without saying
        return frozenset(f"{name}:{self.port}" for name in own) | bare | {name.lower() for name in self.names}


def _in_address(name: str) -> str:
    return f"[{name}]" if ":" in name else name


LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
EVERYWHERE: Final = frozenset({"0.0.0.0", "::"})


def run(plan: Plan, *, say: Say) -> None:
    """Serves until it is told to stop."""
    if plan.address not in LOOPBACK and not plan.names:
        raise BadValue("--address", "open to others, it needs to know its name: --host-name NAME:PORT")
    plan = _for_its_store(plan)
    listening = _listen(plan)
    plan = replace(plan, port=listening.getsockname()[1])
    with opened(plan) as house:
        secret = operator_token(house)
        say(plan, house, f"{plan.origin}/enter#{secret}")
        if plan.workers == 1:
            with listening, at_work(house, plan):
                _server(plan, served(house, plan)).run(sockets=[listening])
            return
    _workers(plan, listening)


def _for_its_store(plan: Plan) -> Plan:
    """A store in memory is one process's own, and nothing that is planned in it outlives it."""
    if root.lasting(plan.database):
        return plan
    if plan.workers > 1:
        raise BadValue("--workers", "a store in memory is one process's own; name a file, or better PostgreSQL")
    return replace(plan, schedules=False)


@contextlib.contextmanager
def opened(plan: Plan) -> Iterator[House]:
    with open_house(
        database=plan.database, charters=plan.charters, model=plan.model, absent=Absent,
        lease_ns=int(plan.lease_s * 10**9),
    ) as house:  # fmt: skip
        yield house


def served(house: House, plan: Plan) -> FastAPI:
    return make_app(house, root.signing_key(), Settings(hosts=plan.hosts, secure=plan.secure))


@contextlib.contextmanager
def at_work(house: House, plan: Plan) -> Iterator[None]:
    """What goes on beside the requests: the postman, and what is planned by the clock."""
    with contextlib.ExitStack() as parts:
        postman = Postman(house)
        postman.start()
        parts.callback(postman.close)
        parts.enter_context(_told(plan, postman.wake))
        if plan.schedules and (worker := _scheduler(house, plan)) is not None:
            parts.enter_context(worker)
        yield


@contextlib.contextmanager
def _told(plan: Plan, wake: Callable[[], None]) -> Iterator[None]:
    """On PostgreSQL, has this called whenever another worker says that something changed; elsewhere one looks again."""
    with listen(root.database(plan.database)) as notices:

        def hear() -> None:
            for _ in notices:
                wake()

        thread = threading.Thread(target=hear, name="notices", daemon=True)
        thread.start()
        yield
    thread.join()


def _scheduler(house: House, plan: Plan) -> Any:
    """The worker that runs schedules; None where their part is not installed."""
    from ..scheduler import installed, working

    return working(house, database=plan.database) if installed() else None


def _listen(plan: Plan) -> socket.socket:
    family = socket.AF_INET6 if ":" in plan.address else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    tries = (USUAL_PORT, 0) if plan.port == ANY_PORT else (plan.port,)
    for port in tries:
        try:
            listening.bind((plan.address, port))
            break
        except (OSError, OverflowError) as error:
            if port == tries[-1]:
                listening.close()
                why = getattr(error, "strerror", "") or "it is out of range"
                raise BadValue("--port", f"{port} cannot be had ({why}); name another, or 0") from None
    listening.listen(BACKLOG)  # who comes before the server is ready waits a moment and is not turned away
    listening.set_inheritable(True)
    return listening


def _config(plan: Plan, app: Any, **more: Any) -> uvicorn.Config:
    """Nothing of a request is logged: an address may hold what a person wrote."""
    return uvicorn.Config(
        app, host=plan.address, port=plan.port, log_config=None, log_level="critical", access_log=False,
        server_header=False, timeout_graceful_shutdown=GRACE_SECONDS, **more,
    )  # fmt: skip


def _server(plan: Plan, app: FastAPI) -> uvicorn.Server:
    return uvicorn.Server(_config(plan, app))


# ── several processes ─────────────────────────────────────────────────────────────────────────────────────────────


def _workers(plan: Plan, listening: socket.socket) -> None:
    """Worker processes over one socket; one that dies is replaced."""
    from uvicorn.supervisors import Multiprocess

    from .. import scheduler

    if plan.schedules and scheduler.installed():
        scheduler.prepare(plan.database)
    os.environ[PLAN_VARIABLE] = msgspec.json.encode(plan).decode()
    config = _config(plan, "charter.web.running:worker", factory=True, workers=plan.workers)
    Multiprocess(config, [listening]).run()


def worker() -> FastAPI:
    """The application of one worker process, opened here and closed when the process ends."""
    import atexit

    plan = msgspec.json.decode(os.environ[PLAN_VARIABLE], type=Plan)
    parts = contextlib.ExitStack()
    try:
        house = parts.enter_context(opened(plan))
        parts.enter_context(at_work(house, plan))
    except CharterError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    atexit.register(parts.close)
    return served(house, plan)


# ── the operator's token ──────────────────────────────────────────────────────────────────────────────────────────


def operator_token(house: House) -> str:
    """The token of whoever runs this; made on first use, kept in a file only they can read."""
    path = home.home() / TOKEN_FILE
    with contextlib.suppress(FileNotFoundError):
        secret = home.read_private(path).decode("ascii", "replace").strip()
        if house.store.token_of(hash_of(secret)) is not None:
            return secret
        path.unlink(missing_ok=True)  # of another database, or revoked
    by = root.operator()
    _, secret = make_token(house.store, "operator", by.name, by=by.mark)
    home.replace_private(path, f"{secret}\n".encode())
    return secret
