"""A stub of the Bot API for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .stub import Stub, bot_api


@pytest.fixture
def stub() -> Iterator[Stub]:
    with bot_api() as made:
        yield made
