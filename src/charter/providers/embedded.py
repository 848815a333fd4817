"""A model inside this process: its server hears loopback alone, starts on the first request, and is one per machine."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import secrets
import signal
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from time import monotonic, sleep
from types import ModuleType
from typing import IO, Any, Final

from ..core.dialogue import Reply
from ..core.errors import FileRefused, MissingExtra, ProviderDown
from ..core.ports import Request
from .openai_chat import OpenAIChat, streaming

try:
    import fcntl
except ImportError:  # a platform without it: nobody waits for anybody
    fcntl = None  # type: ignore[assignment]

CONTEXT: Final = 8192
THREADS: Final = 2
LOCK: Final = ".server.lock"
# Threads that wait for each other by spinning lose everything to another busy process: on two cores that were busy
# 46 tokens a second became 2, and two servers at once made 0.4. With a short spin it is 44, 13 and 10.
SPIN: Final = ("GOMP_SPINCOUNT", "2000")
CACHE_MB: Final = 256
WAIT_STEP_S: Final = 0.2


def tell_stderr(line: str) -> None:
    print(line, file=sys.stderr)


class Embedded:
    """A model of weights.toml, behind the same format and guard as any OpenAI-compatible server.

    `weights` gives the file, proved by its hash, when the server starts. Providers of one model share the process's
    server; `close` gives it up, and the last to do so stops it.
    """

    name = "embedded"
    dialect = "openai"
    native_tools = True

    def __init__(
        self,
        model: str,
        *,
        weights: Callable[[], Path],
        window: int = CONTEXT,
        threads: int = THREADS,
        options: Mapping[str, Any] | None = None,
        tell: Callable[[str], None] = tell_stderr,
    ) -> None:
        self.model = f"embedded/{model.removeprefix('embedded/')}"
        self.window = window
        self._wanted = (weights, max(1, min(threads, os.cpu_count() or 1)))
        self._options = {"temperature": 0, **(options or {})}
        self._tell = tell
        self._lock = threading.Lock()
        self._chat: OpenAIChat | None = None
        self._process = os.getpid()

    def __repr__(self) -> str:
        return f"Embedded({self.model!r}, window={self.window}, running={self._chat is not None})"

    def options(self, *, stream: bool, max_tokens: int) -> Mapping[str, Any]:
        return {**streaming(stream), "max_tokens": max_tokens, "cache_prompt": True, **self._options}

    def converse(self, request: Request, hear: Callable[[str], None]) -> Reply:
        return self._started(request.timeout_s).converse(request, hear)

    def close(self) -> None:
        """Gives the server up; the next request would start one again."""
        with self._lock:
            chat, self._chat = self._chat, None
            if chat is not None and self._process == os.getpid():
                chat.close()
                _give_up()

    def __enter__(self) -> Embedded:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _started(self, seconds: float) -> OpenAIChat:
        if self._process != os.getpid():
            raise ProviderDown("embedded", "this process was forked from the one that has it", "open the model anew")
        with self._lock:
            if self._chat is None:
                weights, threads = self._wanted
                server = _share(_Key(self.model, self.window, threads), weights, seconds, self._tell)
                _OPEN.add(self)
                self._chat = OpenAIChat(
                    self.model, base_url=f"{server.address}/v1", api_key=server.secret, window=self.window,
                    name=self.name,
                )  # fmt: skip
            return self._chat


# ── the one server of this process ────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Key:
    model: str
    window: int
    threads: int


@dataclass(slots=True)
class _Running:
    """A server, who it is for, and the machine's lock that it holds. It stops when it is let go of."""

    key: _Key
    server: Any
    address: str
    secret: str = field(repr=False)
    lock: IO[str] | IO[bytes]
    users: int = 1


_GATE = threading.RLock()
_HERE: list[_Running] = []  # one at the most
_OPEN: weakref.WeakSet[Embedded] = weakref.WeakSet()


def _share(key: _Key, weights: Callable[[], Path], seconds: float, tell: Callable[[str], None]) -> _Running:
    """The process's server, started when there is none; there is never a second one."""
    with _GATE:
        if not _HERE:
            library = _library()
            path = weights()
            lock = _only_one(path, monotonic() + seconds, tell)
            try:
                _HERE.append(_start(library, path, key, lock))
            except BaseException:
                _unlock(lock)
                raise
            return _HERE[0]
        running = _HERE[0]
        if running.key != key:
            problem = f"{running.key.model} runs in this process already, and one at a time is enough for a machine"
            raise ProviderDown(key.model, problem, "close that one first")
        running.users += 1
        return running


def _give_up() -> None:
    with _GATE:
        if not _HERE:
            return
        _HERE[0].users -= 1
        if _HERE[0].users == 0:
            running = _HERE.pop()
            running.server = None  # its last reference: it stops here, and its memory is free
            _unlock(running.lock)


def _start(library: ModuleType, path: Path, key: _Key, lock: IO[str] | IO[bytes]) -> _Running:
    secret = secrets.token_hex(16)  # loopback is open to every user of a machine; the server is not
    try:
        with _signals_kept():
            server = library.Server(_parameters(library, path, key, secret))
    except RuntimeError:
        raise ProviderDown(key.model, "its server did not start", "free some memory and try again") from None
    return _Running(key, server, server.listening_address, secret, lock)


def _parameters(library: ModuleType, path: Path, key: _Key, secret: str) -> Any:
    made = library.CommonParams()
    made.model.path = str(path)
    made.model_alias = key.model
    made.hostname = "127.0.0.1"
    made.port = 0
    made.api_keys = [secret]
    made.n_ctx = key.window
    made.n_parallel = 1
    made.cpuparams.n_threads = made.cpuparams_batch.n_threads = key.threads
    made.cache_ram_mib = CACHE_MB
    made.ctx_shift = False  # a prompt that is too long is an error, never one that was cut
    made.use_jinja = True
    made.verbosity = 0  # its logs hold prompts
    made.endpoint_slots = made.endpoint_metrics = made.endpoint_props = made.webui = False
    made.fit_params = made.warmup = False
    return made


@contextlib.contextmanager
def _signals_kept() -> Iterator[None]:
    """The library takes the process's signals for its own, and Ctrl-C would stop the model instead of whoever asks.

    Python sets handlers in its main thread only; this way they are put back from any.
    """
    read, write = ctypes.pythonapi.PyOS_getsig, ctypes.pythonapi.PyOS_setsig
    read.argtypes, read.restype = [ctypes.c_int], ctypes.c_void_p
    write.argtypes, write.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_void_p
    before = {number: read(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            write(number, handler)


def _library() -> ModuleType:
    """xllamacpp; what its threads do while they wait is read from the environment when it is loaded."""
    name, value = SPIN
    ours = name not in os.environ and "OMP_WAIT_POLICY" not in os.environ
    if ours:
        os.environ[name] = value
    try:
        return import_module("xllamacpp")
    except ImportError:
        raise MissingExtra("local", "the embedded model") from None
    finally:
        if ours:
            del os.environ[name]


# ── the one server of this machine ────────────────────────────────────────────────────────────────────────────────


def _only_one(path: Path, deadline: float, tell: Callable[[str], None]) -> IO[str] | IO[bytes]:
    """The machine's lock; who does not get it says once what they wait for, and gives up at the deadline."""
    try:
        handle = _lock_file(path)
    except OSError as error:
        raise FileRefused(str(path.parent), f"{error.strerror}; check that folder, or set CHARTER_MODELS") from None
    told = False
    while fcntl is not None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if monotonic() > deadline:
                handle.close()
                problem = "another process runs a model on this machine, and two at once would both crawl"
                raise ProviderDown("embedded", problem, "end that process, or try again later") from None
        except OSError:  # a file system without locks
            break
        if not told:
            tell("waiting: another process runs a model on this machine; two at once would both crawl")
            told = True
        sleep(WAIT_STEP_S)
    return handle


def _lock_file(path: Path) -> IO[str] | IO[bytes]:
    try:
        return path.with_name(LOCK).open("a")
    except PermissionError:  # a folder that may only be read
        return path.open("rb")


def _unlock(lock: IO[str] | IO[bytes]) -> None:
    if fcntl is not None:
        with contextlib.suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_UN)  # not by closing alone: a child of a fork has the handle too
    lock.close()


def _forget() -> None:
    """In the child of a fork: the server's threads stayed behind, and taking it down would wait for them for ever."""
    global _GATE
    _GATE = threading.RLock()
    while _HERE:
        running = _HERE.pop()
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(running.server))
        running.lock.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


@atexit.register
def _leave() -> None:
    """A server that is taken down with the interpreter takes the process with it; so who has one gives it up before."""
    for one in list(_OPEN):
        one.close()
