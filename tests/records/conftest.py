"""Tests with a real model run in one process; workers leave them to it."""

from __future__ import annotations

from local.conftest import pytest_collection_modifyitems
from models import _model_servers, embedded_model

__all__ = ["_model_servers", "embedded_model", "pytest_collection_modifyitems"]
