"""No deadline for one example: the encoder's patterns compile on first use, and that is not what is measured here."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("core", deadline=None)
settings.load_profile("core")
