"""Every provider keeps every contract that Charter ships: five through their clients over a socket, and the double."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from charter.testing import PROVIDER_CONTRACTS, ProviderContract, Rig, check_provider

from .rigs import RIGS

pytestmark = pytest.mark.requirement("S1-03", "S1-07")


@pytest.fixture(params=list(RIGS))
def rig(request: pytest.FixtureRequest) -> Iterator[Rig]:
    made = RIGS[request.param]()
    yield made
    made.close()


@pytest.mark.parametrize("contract", PROVIDER_CONTRACTS, ids=lambda contract: contract.__name__)
def test_a_provider_keeps_its_contract(contract: ProviderContract, rig: Rig) -> None:
    contract(rig)


@pytest.mark.parametrize("name", ["openai", "scripted-anthropic"])
def test_the_whole_suite_runs_with_one_call(name: str) -> None:
    check_provider(RIGS[name])
