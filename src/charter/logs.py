"""What a log may say: events and fields from a list, and of their values numbers, names, codes and hashes (S1-07)."""

from __future__ import annotations

import contextlib
import math
import os
import re
import sys
from collections.abc import Callable, Mapping, MutableMapping
from pathlib import Path
from typing import Any, BinaryIO, Final

from .core.errors import CharterError, FileRefused

LOG_VARIABLE: Final = "CHARTER_LOG"
DROPPED: Final = "<dropped>"
EVENTS: Final = frozenset({"turn", "turn failed", "error"})
OUTCOMES: Final = frozenset({"done", "failed", "silent", "refused"})

Fits = Callable[[Any], bool]


def _matches(pattern: str) -> Fits:
    compiled = re.compile(pattern)
    return lambda value: isinstance(value, str) and (not value or compiled.fullmatch(value) is not None)


def _number(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and abs(value) < 2**63


_name = _matches(r"[A-Za-z0-9_.:@/-]{1,128}")
_code = _matches(r"[A-Z][A-Z0-9_]{0,63}")
_hash = _matches(r"[0-9a-f]{32,64}")


def _hashes(value: Any) -> bool:
    return isinstance(value, Mapping) and all(_name(name) and _hash(digest) for name, digest in value.items())


# Every field a log may have, and what its value must look like. A name here is one an operator or our code gave.
FIELDS: Final[Mapping[str, Fits]] = {
    **dict.fromkeys(("agent", "turn", "charter", "channel", "mode", "provider", "model", "error", "where"), _name),
    **dict.fromkeys(("stack_sha256", "payload_sha256", "tools_sha256"), _hash),
    **dict.fromkeys(("input", "output", "cached", "steps", "calls", "messages", "bytes", "tokens_est"), _number),
    **dict.fromkeys(("duration_ms", "dropped"), _number),
    "code": _code,
    "outcome": lambda value: isinstance(value, str) and value in OUTCOMES,
    "layers": _hashes,
}


def allowed(_: Any, __: str, said: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """The processor that every line passes: what the list does not name is left out and counted."""
    event = said.pop("event", "")
    kept = {name: value if FIELDS[name](value) else DROPPED for name, value in said.items() if name in FIELDS}
    dropped = len(said) - len(kept) + list(kept.values()).count(DROPPED)
    before = kept.pop("dropped", 0)
    total = dropped + (before if isinstance(before, int) else 0)
    known = isinstance(event, str) and event in EVENTS
    return {"event": event if known else DROPPED, **kept, **({"dropped": total} if total else {})}


def of_error(_: Any, __: str, said: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """An error as its class, its code and the line it came from; its words may be somebody's text, and stay out."""
    error = said.pop("exc_info", None)
    if isinstance(error, BaseException):
        said.update({"error": type(error).__name__, "where": _where(error)})
        if isinstance(error, CharterError):
            said["code"] = getattr(error, "code", "")
    return said


def _where(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else ""


# ── where it goes ─────────────────────────────────────────────────────────────────────────────────────────────────

_logs: list[Any] | None = None  # None: nobody has asked yet whether there is one
_files: list[BinaryIO] = []


def start(path: str = "", *, debug: bool = False) -> None:
    """Writes to this file, a JSON object a line, and with `debug` to stderr for people; neither is no log at all."""
    global _logs
    stop()
    _logs = []
    if not path and not debug:
        return
    from .providers.quiet import hush

    hush()
    if path:
        _logs.append(_to_file(path))
    if debug:
        _logs.append(_to_people())


def stop() -> None:
    """Closes the log; the next note looks for one again."""
    global _logs
    _logs = None
    while _files:
        _files.pop().close()


def _to_file(path: str) -> Any:
    import structlog

    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError as error:
        raise FileRefused(path, f"{error.strerror}; set {LOG_VARIABLE} to a file that can be written") from None
    file = open(handle, "ab", buffering=0)  # noqa: SIM115 - open until `stop`; a line is one write
    _files.append(file)
    render = structlog.processors.JSONRenderer(ensure_ascii=False)
    return _logger(structlog.BytesLogger(file), render, lambda _, __, text: text.encode())


def _to_people() -> Any:
    import structlog

    render = structlog.processors.LogfmtRenderer(key_order=["at", "event"])
    return _logger(structlog.PrintLogger(sys.stderr), render)


def _logger(sink: Any, *render: Any) -> Any:
    """A logger of our own: what somebody configured for structlog elsewhere changes nothing here."""
    import structlog

    stamp = structlog.processors.TimeStamper(fmt="iso", utc=True, key="at")
    made = structlog.make_filtering_bound_logger("debug")
    return structlog.wrap_logger(sink, processors=[of_error, allowed, stamp, *render], wrapper_class=made)


# ── writing ───────────────────────────────────────────────────────────────────────────────────────────────────────


def note(event: str, fields: Mapping[str, Any]) -> None:
    """Writes a line where there is a log; a log that cannot be written is said once and ends no turn."""
    try:
        if _logs is None:
            start(os.environ.get(LOG_VARIABLE, ""))
        known = {name: value for name, value in fields.items() if name in FIELDS or name == "exc_info"}
        more = len(fields) - len(known)
        for log in _logs or ():
            log.info(event, **known, **({"dropped": more} if more else {}))
    except (FileRefused, OSError) as error:
        start()
        with contextlib.suppress(OSError):
            why = error.reason if isinstance(error, FileRefused) else error.strerror
            print(f"the log cannot be written ({why}); going on without it", file=sys.stderr)


def failed(error: BaseException) -> None:
    """Writes that something failed which nobody foresaw."""
    note("error", {"exc_info": error})
