"""What Charter gives to test with: `check_store` holds a store of your own to every contract ours are held to.

    from charter.testing import check_store

    def test_my_store() -> None:
        check_store(lambda: MyStore(fresh_database()))

`STORE_CONTRACTS` are the same contracts one by one, for a test of each: a contract is called with a new, empty store,
returns when the store keeps it and raises otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..core.ports import Store
from . import (
    concurrency,
    conversations,
    layers,
    log,
    memory,
    messages,
    people,
    proposals,
    reading,
    turns,
    values,
)
from .check import Contract, sentence

__all__ = ["STORE_CONTRACTS", "Contract", "check_store", "sentence"]

_TOPICS = (layers, log, proposals, messages, turns, conversations, memory, people, reading, values, concurrency)
STORE_CONTRACTS: tuple[Contract, ...] = tuple(contract for topic in _TOPICS for contract in topic.CONTRACTS)


def check_store(make_store: Callable[[], Store], *, contracts: Sequence[Contract] = STORE_CONTRACTS) -> None:
    """Holds a store to its contracts; AssertionError names the first one that it breaks.

    `make_store` gives a new, empty store each time it is called; it is closed when its contract is done.
    """
    for contract in contracts:
        store = make_store()
        try:
            contract(store)
        except Exception as error:  # whatever a store does instead of what it should
            raise AssertionError(f"the store breaks a contract: {sentence(contract)} ({error})") from error
        finally:
            store.close()
