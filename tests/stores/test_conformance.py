"""Every store keeps every contract that Charter ships: in memory, in a file, on PostgreSQL, with keys and without."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final, cast

import pytest

import charter.testing
from charter.core.chain import pseudonym, row_seal
from charter.core.errors import Refused
from charter.core.keyring import KeyRing
from charter.core.manifest import content_hash
from charter.core.policy import Actor
from charter.core.ports import Store
from charter.core.records import INIT, Author, Change, Decision, Head, Place, StoredLayer
from charter.stores.memory import MemoryStore
from charter.stores.sqlite import Sqlite
from charter.stores.store import SqlStore
from charter.testing import STORE_CONTRACTS, Contract, check_store, concurrency, sentence

from .held import KINDS, RINGS, Workers, new_store

REQUIRED: Final = {
    "layers": pytest.mark.requirement("S0-03", "S0-18", "N-03"),
    "log": pytest.mark.requirement("N-03", "N-20"),
    "proposals": pytest.mark.requirement("N-04"),
    "approvals": pytest.mark.requirement("S1-08", "N-09"),
    "controls": pytest.mark.requirement("N-19"),
    "chats": pytest.mark.requirement("N-18", "S0-12"),
    "messages": pytest.mark.requirement("S0-04", "S0-12", "S0-13", "S0-15", "N-17"),
    "turns": pytest.mark.requirement("S0-13", "N-01", "N-18"),
    "conversations": pytest.mark.requirement("S0-11", "S0-12"),
    "memory": pytest.mark.requirement("S0-04", "S2-06", "S4-09", "N-10"),
    "people": pytest.mark.requirement("S4-04", "S4-06", "S4-07", "S4-08"),
    "reading": pytest.mark.requirement("S0-14", "S2-06", "S1-07"),
    "values": pytest.mark.requirement("N-17"),
    "tokens": pytest.mark.requirement("S0-10", "N-17"),
    "schedules": pytest.mark.requirement("S4-10", "N-17"),
    "peers": pytest.mark.requirement("S4-10", "N-17"),
    "workers": pytest.mark.requirement("S0-15", "N-17"),
    "concurrency": pytest.mark.requirement("S0-12", "S0-15", "S1-08", "N-04", "N-17", "N-19"),
}


AT_ONCE: Final = [
    one for one in STORE_CONTRACTS if one in concurrency.CONTRACTS or "at_once(" in inspect.getsource(one)
]


def topic(contract: Contract) -> str:
    return contract.__module__.rpartition(".")[2]


@pytest.fixture(params=[f"{kind}-{ring}" for kind in KINDS for ring in RINGS])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    kind, _, ring = request.param.partition("-")
    with new_store(kind, tmp_path, RINGS[ring]) as opened:
        yield opened


@pytest.mark.parametrize(
    "contract", [pytest.param(one, id=one.__name__, marks=REQUIRED[topic(one)]) for one in STORE_CONTRACTS]
)
def test_a_store_keeps_its_contract(contract: Contract, store: Store) -> None:
    contract(store)


@pytest.mark.requirement("S0-12", "N-04", "N-17")
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
@pytest.mark.parametrize("contract", AT_ONCE, ids=lambda contract: contract.__name__)
def test_workers_that_share_a_database_and_nothing_else_keep_the_contract(
    contract: Contract, kind: str, tmp_path: Path
) -> None:
    with closing(Workers(kind, tmp_path)) as workers:
        contract(cast(Store, workers))


@pytest.mark.requirement("N-01", "N-03", "N-20")
@pytest.mark.parametrize("kind", KINDS)
def test_with_keys_every_row_is_sealed_and_what_is_a_persons_has_a_keyed_hash(kind: str, tmp_path: Path) -> None:
    mine, all_of_us = Place("ada", "instructions", "ana", Head.INSTRUCTIONS), Place("ada", "rules")
    with new_store(kind, tmp_path, RINGS["keyed"]) as store:
        for place in (mine, all_of_us):
            store.commit(Change(place, "be brief", 0, INIT, 5))
        (personal,), (plain,) = store.history(mine), store.history(all_of_us)
        assert (personal.key_id, plain.key_id) == ("new", "")
        assert personal.sha256 == content_hash(b"be brief", b"2" * 32) != plain.sha256
        rows = [row for chain in store.chains() for row in store.log(chain)]
        assert {row.content_sha256 for row in rows} == {personal.sha256, plain.sha256}
        assert [row.seal for row in rows] == [row_seal(row.sha256, b"2" * 32) for row in rows]
        assert store.chains() == ["ada", f"ada/{pseudonym('ana', b'1' * 32)}"]


@pytest.mark.requirement("N-04", "N-20")
def test_a_proposal_made_under_an_older_key_can_be_approved_while_that_key_is_there(tmp_path: Path) -> None:
    place, by = Place("ada", "instructions", "ana", Head.INSTRUCTIONS), Author(Actor.USER, "ana")
    old, both, new = (KeyRing(RINGS["keyed"].keys[part]) for part in (slice(1), slice(2), slice(1, 2)))
    with new_store("sqlite", tmp_path, old) as store:
        waits = store.propose(place, "be brief", base_version=0, by=by, reason="", at_ns=1, expires_at_ns=9)
        path = store.db.path  # type: ignore[attr-defined]
    decision = Decision(waits.id, waits.sha256, by, 2)
    with SqlStore(Sqlite(path, new)) as store, pytest.raises(Refused, match="PROPOSAL_SWAPPED"):
        store.apply(decision)
    with SqlStore(Sqlite(path, both)) as store:
        assert store.apply(decision).content == "be brief"


def test_every_contract_of_every_topic_is_listed_once() -> None:
    listed = [contract.__name__ for contract in STORE_CONTRACTS]
    assert len(set(listed)) == len(listed)
    for name, module in vars(charter.testing).items():
        written = (
            [key for key, value in vars(module).items() if _is_contract(value, module)] if name in REQUIRED else []
        )
        assert set(written) <= set(listed), name
    assert {topic(contract) for contract in STORE_CONTRACTS} == set(REQUIRED)


def _is_contract(value: object, module: object) -> bool:
    """A function of this module with one parameter, a store, that is not one of its small tools."""
    here = getattr(value, "__module__", "") == getattr(module, "__name__", None)
    notes = getattr(value, "__annotations__", {})
    return here and notes == {"store": "Store", "return": "None"} and getattr(value, "__name__", "") != "fill"


def test_check_store_runs_every_contract_on_a_store_of_its_own_and_closes_it() -> None:
    made: list[MemoryStore] = []

    def make() -> MemoryStore:
        made.append(MemoryStore())
        return made[-1]

    check_store(make)
    assert len(made) == len(STORE_CONTRACTS)
    assert {store.db._closed for store in made} == {True}  # type: ignore[attr-defined]


def test_a_broken_contract_is_named_and_its_store_closed_also_without_asserts() -> None:
    script = """
from charter.testing import STORE_CONTRACTS, check_store, sentence
from charter.stores.memory import MemoryStore

class Forgetful(MemoryStore):
    closed = 0
    def layer(self, agent, layer_id):
        return None
    def close(self):
        Forgetful.closed += 1
        super().close()

try:
    check_store(Forgetful)
except AssertionError as error:
    print(Forgetful.closed, error)
"""
    done = subprocess.run([sys.executable, "-O", "-c", script], capture_output=True, text=True, check=True)
    second = sentence(STORE_CONTRACTS[1])
    assert done.stdout.startswith(f"2 the store breaks a contract: {second} (the layer: None, should be StoredLayer(")


def test_what_is_shipped_to_test_with_needs_no_test_tools() -> None:
    script = (
        "import sys, charter.testing; print(sorted({'pytest', 'hypothesis', 'psycopg', 'sqlite3'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# ── the store in memory, which demonstrations write to without a gate ─────────────────────────────────────────────


@pytest.mark.requirement("S0-03", "S4-07", "S1-07")
def test_the_store_in_memory_can_be_written_without_a_gate_and_shows_no_text() -> None:
    store = MemoryStore()
    assert repr(store) == "MemoryStore()"
    store.seed_layer("ada", "rules", "SECRET", at_ns=5)
    store.seed_layer("ada", "rules", "again")
    first = StoredLayer("rules", "SECRET", 5, INIT.mark, 1)
    assert store.layer("ada", "rules") == first
    assert store.put_layer("ada", "rules", "SECRET", by="t1").version == 2
    for text in ("SECRET", ""):
        store.set_instructions("ada", "ana", text)
        assert store.instructions("ada", "ana") == text
    assert "SECRET" not in repr((store, first, store.layer("ada", "rules")))
    store.close()
