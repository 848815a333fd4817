"""Whatever is done through the store, in whatever order, an audit of it is clean; and a copy of it is, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from charter.core.keyring import NO_KEYS
from charter.stores.audit import audit
from charter.stores.backup import backup, restore
from charter.stores.memory import MemoryStore

from .databases import KINDS
from .filled import KEYS, new
from .histories import DEEDS, History


@pytest.mark.requirement("N-03", "N-04", "N-10", "N-20")
@given(seed=st.integers(0, 2**32), steps=st.integers(1, 90), keyed=st.booleans())
@settings(max_examples=40, deadline=None)
def test_an_audit_of_any_history_is_clean(seed: int, steps: int, keyed: bool) -> None:
    with MemoryStore(KEYS if keyed else NO_KEYS) as store:
        History(store, seed).go_on(steps)
        assert audit(store.db).problems == ()


@pytest.mark.requirement("N-03", "N-20")
@pytest.mark.parametrize("kind", KINDS)
def test_a_long_history_is_clean_at_every_stage_and_so_is_its_copy(kind: str, tmp_path: Path) -> None:
    _, store = new(kind, tmp_path / "one")
    with store:
        history, done = History(store, 7), set()
        anchor: dict[str, str] = {}
        for _ in range(6):
            done |= set(history.go_on(60))
            found = audit(store.db, heads=anchor)
            assert found.problems == ()
            anchor = found.heads
        backup(store.db, tmp_path / "copy", at_ns=1)
    other = {"sqlite": "postgres", "postgres": "sqlite"}[kind]
    _, copy = new(other, tmp_path / "two")
    with copy:
        restore(copy.db, tmp_path / "copy")
        assert audit(copy.db, heads=anchor).problems == ()
        History(copy, 8).go_on(60)
        assert audit(copy.db, heads=anchor).problems == ()
    assert done == {deed.__name__ for deed in DEEDS}
