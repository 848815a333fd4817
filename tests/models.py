"""The embedded models for tests: fetched once into the cache, one server at a time, in one process."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from charter import weights
from charter.providers.embedded import Embedded

SMALL = "qwen2.5-coder-0.5b"
LARGE = "qwen2.5-coder-1.5b"
_OPEN: dict[str, Embedded] = {}


def opened(name: str) -> Embedded:
    """The model of this name, the same one all through the run; another one that runs is stopped first."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        pytest.fail("tests with a model run in one process: pytest -m model")
    for other in [other for other in _OPEN if other != name]:
        _OPEN.pop(other).close()
    if name not in _OPEN:
        weights.fetch(name)
        _OPEN[name] = Embedded(name, weights=lambda: weights.verified(name))
    return _OPEN[name]


@pytest.fixture(scope="session")
def _model_servers() -> Iterator[None]:
    yield
    for name in list(_OPEN):
        _OPEN.pop(name).close()


@pytest.fixture
def embedded_model(_model_servers: None) -> Embedded:
    """The small model, running from its first request to the end of the run. Mark the test `model`."""
    return opened(SMALL)


@pytest.fixture
def larger_model(_model_servers: None) -> Embedded:
    """The larger one. Mark the test `model` and `deep`."""
    return opened(LARGE)
