"""What every test shares: the deep ones run only when asked for."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """No test reads or writes the home of whoever runs it."""
    home = tempfile.mkdtemp(prefix="charter-home-")
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    os.environ["CHARTER_HOME"] = home
    os.environ.pop("CHARTER_DATABASE", None)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--deep", action="store_true", help="also run the tests that take minutes")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--deep"):
        return
    deep = [item for item in items if item.get_closest_marker("deep")]
    items[:] = [item for item in items if item not in deep]
    if deep:
        config.hook.pytest_deselected(items=deep)
