"""What is asked at every request costs the same however much there is: each statement goes by an index (N-17)."""

from __future__ import annotations

import pytest

from charter.core.served import Schedule, Token
from charter.stores import outbox, peers, schedules, tokens
from charter.stores.memory import MemoryStore

pytestmark = pytest.mark.requirement("N-17")

ASKED = {
    "whose token": (tokens._OF, ("a",), "api_tokens USING INDEX tokens_by_hash (sha256=?)"),
    "the last runs": (schedules._RUNS, ("s", 1), "schedule_runs USING PRIMARY KEY (schedule_id=?)"),
    "the end of a run": (
        schedules._END, ("done", "", "", 1, "s", 1), "schedule_runs USING PRIMARY KEY (schedule_id=? AND tick_ns=?)",
    ),
    "a code": (peers._USE, ("c", "a", "b", 1), "channel_pairings USING INDEX sqlite_autoindex_channel_pairings_1"),
    "what one was sent": (
        outbox._SENT_TO, ("a", "m", 1), "outbox_messages USING INDEX outbox_by_recipient (agent",
    ),
    "what one was sent in a turn": (
        outbox._SENT_IN, ("a", "t", "m", 1), "outbox_messages USING INDEX sqlite_autoindex_outbox_messages_1 (agent",
    ),
    "what waits for a channel": (
        outbox._UNSENT.format(which="AND channel = ?"), ("a", "web"),
        "outbox_messages USING INDEX outbox_unsent (agent_name=?)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", ASKED)
def test_a_statement_goes_by_its_index(what: str) -> None:
    sql, values, index = ASKED[what]
    with MemoryStore() as store:
        plan = [row[3] for row in store.db.read(f"EXPLAIN QUERY PLAN {sql}", *values)]
    assert f"SEARCH {index}" in " ".join(plan)
    assert not [step for step in plan if step.startswith("SCAN")]


def test_a_thousand_tokens_and_runs_are_read_in_one_statement_each() -> None:
    with MemoryStore() as store:
        store.add_schedule(Schedule("s1", "ada", "* * * * *", "UTC", "tick"))
        for number in range(1_000):
            store.add_token(Token(f"k{number}", "user", f"u{number}", at_ns=number), f"{number:064x}")
            store.begin_run("s1", number, at_ns=number)
        found = store.token_of(f"{500:064x}")
        assert found is not None
        assert (found.name, len(store.tokens())) == ("u500", 1_000)
        assert [run.tick_ns for run in store.runs("s1", 3)] == [999, 998, 997]
