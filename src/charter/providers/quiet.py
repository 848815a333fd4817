"""The clients' own loggers say nothing: at DEBUG some of them print whole prompts (S1-07)."""

from __future__ import annotations

import logging
from typing import Final

QUIET: Final = ("openai", "anthropic", "httpx", "httpx2", "httpcore", "httpcore2")


def hush() -> None:
    """Turns the clients' loggers off, whatever level or handlers someone gave them since.

    One that is made later passes its records up to a logger that keeps them.
    """
    for name in QUIET:
        top = logging.getLogger(name)
        top.propagate = False
        if not top.handlers:
            top.addHandler(logging.NullHandler())  # else Python prints warnings that reach no handler
    for name, logger in list(logging.root.manager.loggerDict.items()):
        if isinstance(logger, logging.Logger) and name.partition(".")[0] in QUIET:
            logger.disabled = True
