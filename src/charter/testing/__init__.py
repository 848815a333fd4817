"""What Charter gives to test with: `check_store` holds a store of your own to every contract ours are held to.

    from charter.testing import check_store

    def test_my_store() -> None:
        check_store(lambda: MyStore(fresh_database()))

`STORE_CONTRACTS` are the same contracts one by one, for a test of each: a contract is called with a new, empty store,
returns when the store keeps it and raises otherwise. `check_provider` and `PROVIDER_CONTRACTS` are the same for a
model: a contract is called with a `Rig`, a provider and a server behind it that can be told what to do.

    from charter.testing import ScriptedProvider

    model = ScriptedProvider(["Hello.", Reply(calls=(ToolCall("c1", "save_memory", '{"text": "tea"}'),)), "Noted."])

is a model for tests of your own: it says its script, checks what it is sent as the real ones do, and keeps it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..core.ports import Store
from . import (
    approvals,
    chats,
    concurrency,
    controls,
    conversations,
    layers,
    log,
    memory,
    messages,
    peers,
    people,
    proposals,
    reading,
    schedules,
    tokens,
    turns,
    values,
    workers,
)
from .check import Contract, sentence
from .providers import PROVIDER_CONTRACTS, check_provider
from .rig import CANARY, FAULTS, WAIT_SECONDS, Fault, ProviderContract, Rig
from .scripted import CutOff, ScriptedProvider, request_for, small_prompt

__all__ = [
    "CANARY", "FAULTS", "PROVIDER_CONTRACTS", "STORE_CONTRACTS", "WAIT_SECONDS", "Contract", "CutOff", "Fault",
    "ProviderContract", "Rig", "ScriptedProvider", "check_provider", "check_store", "request_for", "sentence",
    "small_prompt",
]  # fmt: skip

_TOPICS = (
    layers, log, proposals, approvals, messages, turns, controls, conversations, chats, memory, people, reading, values,
    tokens, schedules, peers, workers, concurrency,
)  # fmt: skip
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
