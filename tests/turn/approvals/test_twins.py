"""The twins of the attempts: take one control away, and they are found out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from charter import converse
from charter.core.policy import ToolPolicy, Verdict
from charter.stores import approvals
from charter.stores.store import SqlStore

from ..faults.rooms import opened
from .attempts import Driver

pytestmark = pytest.mark.requirement("S1-08")

use = approvals.use_approval


def any_arguments(name: str, arguments: object, key: object) -> str:
    return f"hash of {name}"


def any_order_of_values(name: str, arguments: Any, key: object) -> str:
    return f"{name} {sorted(str(value).strip().lower() for value in arguments.values())}"


def again_and_again(db: Any, agent: str, user: str, tool: str, sha256: str, turn_id: str, at_ns: int) -> Any:
    """One approval, as many executions as you like."""
    found = use(db, agent, user, tool, sha256, turn_id, at_ns)
    used = db.read(
        f"SELECT 1 FROM tool_approvals WHERE {approvals._CALL} AND state = 'used'", agent, user, tool, sha256
    )
    return found or (used or None)


def for_ever(db: Any, agent: str, user: str, tool: str, sha256: str, turn_id: str, at_ns: int) -> Any:
    return use(db, agent, user, tool, sha256, turn_id, 0)


def for_anyone(db: Any, agent: str, user: str, tool: str, sha256: str, turn_id: str, at_ns: int) -> Any:
    found = (use(db, agent, who, tool, sha256, turn_id, at_ns) for who in ("ana", "bo", "Ana"))
    return next((one for one in found if one is not None), None)


def for_any_agent(db: Any, agent: str, user: str, tool: str, sha256: str, turn_id: str, at_ns: int) -> Any:
    found = (use(db, f"agent-7-{who}", user, tool, sha256, turn_id, at_ns) for who in "ab")
    return next((one for one in found if one is not None), None)


def allow_all(tool: str, policies: dict[str, ToolPolicy], *, state: str, calls: int) -> Verdict:
    return Verdict("allow")


TWINS: dict[str, tuple[Any, str, Any]] = {
    "the arguments are not in the hash": (converse, "call_hash", any_arguments),
    "values are hashed as words": (converse, "call_hash", any_order_of_values),
    "an approval can be used again": (approvals, "use_approval", again_and_again),
    "an approval never ends": (approvals, "use_approval", for_ever),
    "an approval is good for every user": (approvals, "use_approval", for_anyone),
    "an approval is good for every agent": (approvals, "use_approval", for_any_agent),
    "anything may say yes": (converse, "may_approve", lambda by, user: True),
    "nobody is asked": (converse, "decide", allow_all),
    "the store's word does not count": (SqlStore, "use_approval", lambda *_: True),
}


@pytest.mark.parametrize("twin", TWINS)
def test_without_this_control_something_is_executed_that_nobody_approved(
    twin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where, name, instead = TWINS[twin]
    monkeypatch.setattr(where, name, instead)
    with opened("memory", tmp_path) as store:
        driver = Driver(store, 7)
        while not driver.book.wrong and driver.attempts < 5_000:
            driver.go(driver.attempts + 50)
        assert [what for what in driver.book.wrong if what.startswith("executed without a yes")]
