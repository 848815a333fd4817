"""The schedules of a house: their worker is handed an agent to ask, a store and a log, and knows no more of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

from . import app, logs
from .channels import durable
from .channels.schedule import STALE_SECONDS
from .channels.schedule import working as working_at
from .channels.schedule_run import Desk
from .stores.withdrawn import withdraw
from .turn import code_of

if TYPE_CHECKING:
    from .house import House


def installed() -> bool:
    """Whether the optional part that schedules need is here."""
    return find_spec("dbos") is not None and find_spec("croniter") is not None


def prepare(database: str = "") -> None:
    """Makes ready what workers share, before there are any."""
    durable.prepare(app.database(database))


def desk(house: House, *, clock: Callable[[], int] = time.time_ns) -> Desk:
    """What runs need of this house."""
    return Desk(
        house.store,
        {name: agent.name for name, agent in house.agents.items()},
        ask=lambda name, incoming, watch, patience_s: house.ask(name, incoming, watch, patience_s=patience_s),
        withdraw=partial(withdraw, house.store.db),
        code_of=code_of,
        failed=logs.failed,
        clock=clock,
    )


@contextmanager
def working(house: House, *, database: str = "", stale_s: float = STALE_SECONDS) -> Iterator[None]:
    """Runs the schedules of this house's agents, in threads, until the end of the block."""
    with working_at(desk(house), app.database(database), stale_s=stale_s):
        yield
