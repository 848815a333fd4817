"""The migrations by name, oldest first; known without importing what runs them."""

from __future__ import annotations

from typing import Final

REVISIONS: Final = ("0001", "0002")
HEAD: Final = REVISIONS[-1]
