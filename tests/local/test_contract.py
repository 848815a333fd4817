"""The embedded model keeps every contract that Charter ships for providers, with a server that fails as it is told."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from charter.core.ports import Provider
from charter.providers.embedded import Embedded
from charter.testing import PROVIDER_CONTRACTS, ProviderContract
from providers.rigs import SocketRig

from .engine import Parameters

pytestmark = pytest.mark.requirement("N-16", "S1-03", "S1-07")


class EmbeddedRig(SocketRig):
    """The same stub that the OpenAI provider is tested with, in the place of the model's server."""

    def __init__(self, weights: Path) -> None:
        super().__init__("openai")
        self.made.close()
        self.made: Any = Embedded("m-1", weights=lambda: weights)
        self.provider: Provider = self.made


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddedRig]:
    made = EmbeddedRig(tmp_path / "m-1.gguf")
    library: Any = ModuleType("xllamacpp")
    library.CommonParams = Parameters
    library.Server = lambda parameters: SimpleNamespace(listening_address=made.stub.url)
    monkeypatch.setitem(sys.modules, "xllamacpp", library)
    yield made
    made.close()


@pytest.mark.parametrize("contract", PROVIDER_CONTRACTS, ids=lambda contract: contract.__name__)
def test_the_embedded_model_keeps_its_contract(contract: ProviderContract, rig: EmbeddedRig) -> None:
    contract(rig)
