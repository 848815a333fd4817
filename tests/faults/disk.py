"""A disk that fails at the i-th call, for every i: what is there is the state before or after, and it is sound.

Runs with `shim.c` loaded before libc; a child arms it for one operation, the parent looks at what that left.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

from charter.core.errors import CharterError

from . import work
from .killed import integrity
from .processes import Lines, answer, ended, fork, say
from .whole import rows_of, shape_of, wrong
from .work import CANARY, OPERATIONS, opened

MODES: Final = {"eio": 1, "eio lasting": 2, "full": 3, "short, then full": 4, "killed": 5, "torn": 6}
KILLING: Final = ("killed", "torn")
SHIM = Path(__file__).with_name("shim.c")


def built(folder: Path) -> Path:
    """The shim, compiled."""
    library = folder / "shim.so"
    command = ["gcc", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", "-o", str(library), str(SHIM), "-ldl"]
    subprocess.run(command, check=True)
    return library


@cache
def _shim() -> ctypes.CDLL:
    return ctypes.CDLL(os.environ["LD_PRELOAD"])


def arm(folder: str, number: int, mode: str) -> None:
    """From here on this process counts its calls on files of this folder, and the one of this number fails."""
    _shim().faults_arm(folder.encode(), ctypes.c_long(number), MODES[mode])


def disarm() -> bool:
    """Whether it came to the failure."""
    return bool(_shim().faults_disarm())


# ── one operation after the other ─────────────────────────────────────────────────────────────────────────────────


def failing(folder: str, step: str, opening: str, *names: str) -> dict[str, Any]:
    """Operations in every mode, of a store that is open, or with its opening; by a step above 1 each mode has a share.

    All the shares together are all the calls, when the step is not above the number of modes.
    """
    problems, calls, faults = list[str](), 0, 0
    for which, name in enumerate(names or OPERATIONS):
        url = f"sqlite:///{folder}/disk-{which}.db"
        with opened(url) as store:
            OPERATIONS[name].prepare(store, f"{name} done")
            OPERATIONS[name].act(store, f"{name} done")
            after = shape_of(store, f"{name} done")
        for share, mode in enumerate(MODES):
            number = 1 + share * int(step) // len(MODES)
            while _failed(folder, url, name, number, mode, opening == "opening", after, problems):
                faults += 1
                calls = max(calls, number)
                number += int(step)
        problems += integrity(url)
        if int(step) <= len(MODES):
            say(f"{faults} failures, up to call {calls}, now {name!r}, {len(problems)} wrong")
    return {"faults": faults, "calls": calls, "wrong": problems}


def _failed(
    folder: str, url: str, name: str, number: int, mode: str, reopened: bool, after: object, problems: list[str]
) -> bool:  # fmt: skip
    """One operation, its call of this number failing; whether it had so many."""
    agent, lines = f"{name} {mode} {number} {reopened}", Lines()
    what = f"{name}, {mode} at call {number}{' of a store just opened' if reopened else ''}"
    child = fork(lambda: _try(folder, url, name, agent, number, mode, reopened, lines.tell))
    told = list(lines)
    lines.close()
    status = ended(child)
    if status not in ((0, -9) if mode in KILLING else (0,)):
        problems.append(f"{what}: ended with {status}")
    before: Any = told[0]
    result: Any = told[1] if len(told) > 1 else {"error": "", "fired": True}
    problems += [f"{what}: {problem}" for problem in result.get("wrong", ())]
    with opened(url) as store:
        done = shape_of(store, agent) == after
        if not done and (_plain(rows_of(store, agent)) != before or result["error"] is None):
            problems.append(f"{what}: neither the state before nor after; it said {result['error']}")
        problems += [f"{what}: {problem}" for problem in wrong(store, agent) + integrity(url)]
    return bool(result["fired"])


def _plain(rows: Any) -> Any:
    """As JSON gives it back."""
    return {table: [list(row) for row in found] for table, found in rows.items()}


def _try(
    folder: str, url: str, name: str, agent: str, number: int, mode: str, reopened: bool, tell: Callable[[object], None]
) -> None:  # fmt: skip
    store = opened(url)
    OPERATIONS[name].prepare(store, agent)
    tell(_plain(rows_of(store, agent)))
    if reopened:
        store.close()
    error, problems = None, list[str]()
    arm(folder, number, mode)
    try:
        if reopened:
            store = opened(url)
        OPERATIONS[name].act(store, agent)
    except CharterError as raised:
        error = f"{type(raised).__name__}: {raised}"
    except BaseException as raised:
        error = repr(raised)
        problems.append(f"raised {error}")
    fired = disarm()
    if error is not None and CANARY in error:
        problems.append("says a text")
    if error is not None and not fired:
        problems.append(f"failed by itself: {error}")
    with suppress(CharterError):
        store = opened(url) if reopened and error else store
    work.stage(store, f"{agent} again", 1)  # usable, without a restart
    tell({"error": error, "fired": fired, "wrong": problems})
    store.close()


# ── the first opening ─────────────────────────────────────────────────────────────────────────────────────────────


def creating(folder: str, step: str) -> dict[str, Any]:
    """The making of a database, its i-th call failing: it is there and whole, or not there; nothing is left over."""
    problems, faults = list[str](), 0
    for share, mode in enumerate(MODES):
        number = 1 + share * int(step) // len(MODES)
        while _created(Path(folder, f"{mode}-{number}"), number, mode, problems):
            faults += 1
            number += int(step)
        if step == "1":
            say(f"{faults} failures while a database was made, now {mode!r}, {len(problems)} wrong")
    return {"faults": faults, "wrong": problems}


def _created(place: Path, number: int, mode: str, problems: list[str]) -> bool:
    lines, url = Lines(), f"sqlite:///{place}/charter.db"
    what = f"making it, {mode} at call {number}"
    child = fork(lambda: _create(place, url, number, mode, lines.tell))
    told = list(lines)
    lines.close()
    status = ended(child)
    if status not in ((0, -9) if mode in KILLING else (0,)):
        problems.append(f"{what}: ended with {status}")
    result: Any = told[0] if told else {"fired": True, "wrong": [], "made": False}
    problems += [f"{what}: {problem}" for problem in result["wrong"]]
    with opened(url) as store:
        work.amend(store, "first", 1)
        problems += [f"{what}: {problem}" for problem in wrong(store, "first") + integrity(url)]
    left = sorted(file.name for file in place.iterdir() if file.name != "charter.db")
    unremoved = mode == "eio" and result["made"] and len(left) == 1  # the call that failed was to remove it
    if left and not unremoved and mode not in (*KILLING, "eio lasting"):  # such a disk does not remove either
        problems.append(f"{what}: left {left}")
    return bool(result["fired"])


def _create(place: Path, url: str, number: int, mode: str, tell: Callable[[object], None]) -> None:
    problems, made = list[str](), False
    arm(str(place), number, mode)
    try:
        opened(url).close()
        made = True
    except CharterError:
        pass
    except BaseException as raised:
        problems.append(f"raised {raised!r}")
    tell({"fired": disarm(), "wrong": problems, "made": made})


if __name__ == "__main__":
    answer({"failing": failing, "creating": creating})
