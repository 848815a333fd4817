"""Revision 0004: an older database comes along untouched, and the way back takes what was served and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from charter import stores
from charter.core.errors import StoreDamaged, StoreOutdated
from charter.stores.audit import audit
from charter.stores.migrate import current, downgrade, upgrade

from . import databases
from .databases import KINDS
from .filled import ADA, KEYS, LATER, OLGA, filled, serve

pytestmark = pytest.mark.requirement("S4-08", "N-17")

SERVED = {"api_tokens", "schedules", "schedule_runs", "channel_peers", "channel_pairings"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_database_at_0003_comes_up_with_every_row_it_had_and_its_chains_still_verify(
    kind: str, tmp_path: Path
) -> None:
    (tmp_path / "plain").mkdir()
    other = databases.empty(kind, tmp_path / "plain")
    upgrade(other, "0003")
    url, store = filled(kind, tmp_path)
    with store:
        anchor = audit(store.db).heads
    full = databases.contents(url)
    assert all(full[table] for table in SERVED)
    assert downgrade(url, "0003") == ["0004"]
    assert databases.catalogue(url) == databases.catalogue(other)
    before = databases.contents(url)
    assert before | {"alembic_version": []} == {
        table: rows for table, rows in full.items() if table not in SERVED
    } | {"alembic_version": []}  # fmt: skip
    with pytest.raises(StoreOutdated, match="at revision 0003, this Charter needs 0004; run: charter db upgrade"):
        stores.open(url)
    assert (upgrade(url), current(url)) == (["0004"], "0004")
    after = databases.contents(url)
    assert {table for table in after if table not in before} == SERVED
    assert all(after[table] == before[table] for table in before.keys() - {"alembic_version"})
    with stores.open(url, keys=KEYS) as store:
        assert (store.tokens(), store.schedules(), store.peers()) == ([], [], [])
        serve(store, "mira", "marzipan")
        assert len(store.replies(ADA, "mira")) == 4
        assert audit(store.db, heads=anchor).problems == ()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("table", sorted(SERVED))
def test_a_table_of_another_under_our_name_stops_the_way_there_and_nothing_was_changed(
    kind: str, table: str, tmp_path: Path
) -> None:
    url = databases.empty(kind, tmp_path)
    upgrade(url, "0003")
    databases.run(url, f"CREATE TABLE {table} (id TEXT)")
    built = databases.catalogue(url)
    with pytest.raises(StoreDamaged, match=f"already has other tables named {table}; nothing was changed"):
        upgrade(url)
    assert (databases.catalogue(url), current(url)) == (built, "0003")


@pytest.mark.parametrize("kind", KINDS)
def test_a_token_opens_nothing_when_its_table_went_and_came_again(kind: str, tmp_path: Path) -> None:
    url, store = filled(kind, tmp_path)
    with store:
        (digest,) = (row[0] for row in databases.run(url, "SELECT sha256 FROM api_tokens WHERE name = 'mira'"))
        found = store.token_of(digest)
        assert found is not None
        assert (found.name, found.agent, found.expires_at_ns) == ("mira", ADA, LATER)
    downgrade(url, "0003")
    upgrade(url)
    with stores.open(url, keys=KEYS) as store:
        assert store.token_of(digest) is None
        assert OLGA.name not in repr(store.tokens())
