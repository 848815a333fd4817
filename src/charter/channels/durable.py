"""The one place that knows DBOS: a queue that outlives its process, of ids and numbers, never of a word."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..core.errors import BadValue, Busy, MissingExtra, StoreError, StoreUnavailable

if TYPE_CHECKING:
    from dbos import DBOS, DBOSConfig, WorkflowStatus

QUEUES: Final = "charter-ticks-"
SCHEMA: Final = "charter_dbos"
VERSION: Final = "charter-ticks-1"  # what is queued by one release is run by the next; a new form has a new name
AT_ONCE: Final = 8
POLL_SECONDS: Final = 0.5
PATIENCE_SECONDS: Final = 10  # for what is under way when the worker stops
LAST_SECONDS: Final = 5.0  # and then, when it was told to stop
LISTED: Final = 500

_one_at_a_time = threading.Lock()


class Queue:
    """Things to do, each a name and a number; of two that are the same, one is done. Those of one name go in order.

    They come in kinds, and a worker does those of the kinds it knows.
    """

    def __init__(self, worker: str, kinds: Collection[str], workflow: Callable[[str, int], None]) -> None:
        self.worker = worker
        self._workflow = workflow
        self._queues = [QUEUES + kind for kind in kinds]
        self._made: set[str] = set()

    def put(self, kind: str, name: str, number: int) -> None:
        """Queues it, unless it was queued before, by whichever worker."""
        from dbos import DBOS, SetEnqueueOptions, SetWorkflowID

        queue = QUEUES + kind
        with _told():
            if queue not in self._made:
                DBOS.register_queue(
                    queue, worker_concurrency=AT_ONCE, partition_concurrency=1, polling_interval_sec=POLL_SECONDS
                )
                self._made.add(queue)
            with SetWorkflowID(f"{name}:{number}"), SetEnqueueOptions(queue_partition_key=name):
                DBOS.enqueue_workflow(queue, self._workflow, name, number)

    def lost(self, older_than_s: float) -> list[tuple[str, int]]:
        """What other workers began so long ago and did not end; whether they live, who asks has to find out."""
        before = datetime.now(UTC) - timedelta(seconds=older_than_s)
        found = self._list(["PENDING"], dequeued_before=before.isoformat())
        ids = [one.workflow_id.rpartition(":") for one in found if one.executor_id != self.worker]
        return [(name, int(number)) for name, _, number in ids]

    def forget(self, name: str, number: int) -> None:
        """Ends what another worker left behind, so that those after it can go on."""
        from dbos import DBOS

        with _told():
            DBOS.cancel_workflow(f"{name}:{number}")

    def tidy(self, before: datetime) -> int:
        """Takes away what ended before this time, a part of it; how many there were."""
        from dbos import DBOS

        found = self._list(["SUCCESS", "ERROR", "CANCELLED"], completed_before=before.isoformat())
        with _told():
            DBOS.delete_workflows([one.workflow_id for one in found])
        return len(found)

    def _list(self, status: list[str], **times: str) -> list[WorkflowStatus]:
        from dbos import DBOS

        with _told():
            return DBOS.list_workflows(
                status=status, queue_name=self._queues, limit=LISTED, load_input=False, load_output=False,
                dequeued_before=times.get("dequeued_before"), completed_before=times.get("completed_before"),
            )  # fmt: skip


def prepare(address: str) -> None:
    """Makes the tables of the queue: workers that come up together would do it at once, and some of them would fail."""
    dbos = _dbos()
    _hush()
    with _told():
        dbos.migrate(_beside(address), schema=SCHEMA)


@contextmanager
def open_queue(
    address: str, kinds: Collection[str], work: Callable[[str, int], None], *, worker: str, give_up: Callable[[], None]
) -> Iterator[Queue]:
    """A queue in this database, and threads that do what is in it until the end of the block.

    Then what is under way has some seconds; after them `give_up` is called, and `work` should end soon. DBOS is one to
    a process, so this is too.
    """
    if not _one_at_a_time.acquire(blocking=False):
        raise Busy("this process has a worker for schedules already; one is enough, it takes several turns at a time")
    try:
        _hush()
        yield from _opened(_config(address, worker), kinds, work, give_up)
    finally:
        _one_at_a_time.release()


def _opened(
    config: DBOSConfig, kinds: Collection[str], work: Callable[[str, int], None], give_up: Callable[[], None]
) -> Iterator[Queue]:
    dbos = _dbos()
    under_way = _Count()

    def tick(name: str, number: int) -> None:
        with under_way:
            work(name, number)

    try:
        with _told():
            dbos(config=config)
            done = dbos.workflow(name="tick", max_recovery_attempts=None)(tick)
            dbos.listen_queues([QUEUES + kind for kind in kinds])
            dbos.launch()
        yield Queue(str(config["executor_id"]), kinds, done)
    finally:
        dbos.destroy(destroy_registry=True, workflow_completion_timeout_sec=PATIENCE_SECONDS if under_way.now else 0)
        give_up()
        under_way.wait(LAST_SECONDS)


class _Count:
    """How many are inside right now."""

    def __init__(self) -> None:
        self.now = 0
        self._changed = threading.Condition()

    def __enter__(self) -> None:
        with self._changed:
            self.now += 1

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self.now -= 1
            self._changed.notify_all()

    def wait(self, seconds: float) -> None:
        """Until nobody is inside, but not longer."""
        with self._changed:
            self._changed.wait_for(lambda: self.now == 0, seconds)


def _dbos() -> type[DBOS]:
    try:
        from dbos import DBOS
    except ImportError:
        raise MissingExtra("schedule", "a worker for schedules") from None
    return DBOS


def _config(address: str, worker: str) -> DBOSConfig:
    _dbos()
    from dbos import DBOSPortableJSONSerializer

    return {
        "name": "charter",
        "system_database_url": _beside(address),
        "dbos_system_schema": SCHEMA,
        "executor_id": worker,
        "application_version": VERSION,
        "serializer": DBOSPortableJSONSerializer(),
        "use_listen_notify": False,
        "sys_db_pool_size": 5,
    }


def _beside(address: str) -> str:
    """The same PostgreSQL, in a schema of its own; or a file beside the one that is the store."""
    if address.startswith("postgres"):
        return address.replace("postgres://", "postgresql://", 1)
    if not address.startswith("sqlite:///") or address.endswith(":memory:"):
        raise BadValue("database", "schedules need one that stays: a file, or PostgreSQL")
    store = Path(address.removeprefix("sqlite:///")).expanduser()
    file = store.with_name(f"{store.stem}.ticks.db")
    file.touch(mode=0o600)
    return f"sqlite:///{file}"


@contextmanager
def _told() -> Iterator[None]:
    """Errors of DBOS and its driver may show what they were given; ours name what is wrong."""
    from dbos import error
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (SQLAlchemyError, OSError):
        raise StoreUnavailable(
            "the queue of schedules cannot be used; it is beside the store, on PostgreSQL in a schema charter_dbos, "
            "which whoever connects must be able to make"
        ) from None
    except error.DBOSException as problem:
        raise StoreError(f"the queue of schedules: {type(problem).__name__}") from None


def _hush() -> None:
    """DBOS logs ids and errors to the console; what is worth knowing of a turn is in our own log."""
    logger = logging.getLogger("dbos")
    logger.disabled = True
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())  # else it makes one for the console
