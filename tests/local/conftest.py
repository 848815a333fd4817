"""Tests with a real model run in one process; workers leave them to it."""

from __future__ import annotations

import os

import pytest

from models import _model_servers, embedded_model, larger_model

__all__ = ["_model_servers", "embedded_model", "larger_model"]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return
    left = [item for item in items if item.get_closest_marker("model")]
    items[:] = [item for item in items if item not in left]
    if left:
        config.hook.pytest_deselected(items=left)
