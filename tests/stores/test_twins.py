"""The contracts can fail: of a store with one control taken out, they name the promise it breaks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest

from charter.core.records import INIT, Place
from charter.stores import notes, reading
from charter.stores.memory import MemoryStore
from charter.testing import STORE_CONTRACTS, check_store, sentence

from . import twins_of_calls, twins_of_layers, twins_of_reads, twins_of_served, twins_of_turns

pytestmark = pytest.mark.requirement(
    "S0-03",
    "S0-10",
    "S0-12",
    "S0-13",
    "S0-14",
    "S1-08",
    "S2-06",
    "S4-10",
    "N-03",
    "N-04",
    "N-10",
    "N-17",
    "N-18",
    "N-19",
)

CONTRACTS: Final = {contract.__name__: contract for contract in STORE_CONTRACTS}
TWINS: Final = (
    twins_of_layers.TWINS | twins_of_turns.TWINS | twins_of_reads.TWINS | twins_of_calls.TWINS | twins_of_served.TWINS
)


@pytest.fixture(autouse=True)
def _statements_made_anew() -> Iterator[None]:
    yield
    reading._plan.cache_clear()
    notes._postings.cache_clear()


@pytest.mark.parametrize("name", sorted({contract for _, contract in TWINS.values()}))
def test_a_store_with_every_control_keeps_the_contract(name: str) -> None:
    check_store(MemoryStore, contracts=[CONTRACTS[name]])


@pytest.mark.parametrize("twin", TWINS)
def test_a_store_without_one_control_breaks_the_contract_of_it(twin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    take_out, name = TWINS[twin]
    contract, make = CONTRACTS[name], take_out(monkeypatch)
    reading._plan.cache_clear()
    notes._postings.cache_clear()
    with pytest.raises(AssertionError) as told:
        check_store(make, contracts=[contract])
    assert str(told.value).startswith(f"the store breaks a contract: {sentence(contract)} (")
    assert "SQLITE_" not in str(told.value)  # a twin breaks a promise, not its own statements


@pytest.mark.parametrize("twin", ["writes on any version", "sends twice", "evicts nobody", "reads any part"])
def test_a_store_without_one_control_does_not_pass_the_whole_suite(twin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make = TWINS[twin][0](monkeypatch)
    with pytest.raises(AssertionError, match=r"^the store breaks a contract: "):
        check_store(make)


def test_a_store_that_writes_half_of_a_change_is_found_out() -> None:
    class Halves(MemoryStore):
        """Keeps what was written before something was refused."""

        def remember(self, agent: str, user: str, text: str, **given: Any) -> Any:
            self.refuse(Place(agent, "memory"), "BEGUN", by=INIT, at_ns=0)
            return super().remember(agent, user, text, **given)

    with pytest.raises(AssertionError, match="log, after what was refused"):
        check_store(Halves, contracts=[CONTRACTS["a_note_can_be_made_only_from_notes_of_its_owner_that_are_there"]])
