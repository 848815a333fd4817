"""A real server of several processes for tests: PostgreSQL under it, a stub model behind it, tokens for everyone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from charter import app
from charter.stores.migrate import upgrade
from charter.stores.store import SqlStore
from charter.web.who import make_token
from stores.pg import fresh_database

LEASE_SECONDS: Final = 2.0


class Serving:
    """A server that runs: its address, its processes, and a look at its store."""

    def __init__(self, process: subprocess.Popen[str], address: str, store: SqlStore) -> None:
        self.process = process
        self.address = address
        self.store = store

    def workers(self) -> list[int]:
        """The worker processes, as the system lists the children of the one that was started."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [int(pid) for pid in children if b"spawn_main" in _command(pid)]

    def token(self, role: str, name: str) -> str:
        return make_token(self.store, role, name)[1]  # type: ignore[arg-type]


def _command(pid: str) -> bytes:
    """What a process runs; nothing of one that is gone meanwhile."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


@contextmanager
def upstream(seconds: float = 0.0) -> Iterator[int]:
    """A model server on loopback that gives back what it was told."""
    command = [sys.executable, "-m", "charter.testing.upstream", "0", str(seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.terminate()


@contextmanager
def serving(home: Path, port: int, *, workers: int = 2) -> Iterator[Serving]:
    """`charter serve` with this many workers over a fresh PostgreSQL database and the model at this port."""
    url = fresh_database()
    upgrade(url)
    env = {
        **os.environ, "CHARTER_HOME": str(home), "CHARTER_BASE_URL": f"http://127.0.0.1:{port}/v1",
        "CHARTER_MODEL": "stub-70b", "CHARTER_DATABASE": url, "COLUMNS": "200",
    }  # fmt: skip
    command = [sys.executable, "-m", "charter.cli", "serve", "--port", "0", "--workers", str(workers)]
    command += ["--charter", "assistant", "--lease", str(LEASE_SECONDS), "--no-schedules"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=env, text=True) as process:
        try:
            assert process.stdout is not None
            address = next(found[1] for line in process.stdout if (found := re.search(r"(http://\S+?)/enter#", line)))
            before = os.environ.get("CHARTER_HOME", "")
            os.environ["CHARTER_HOME"] = str(home)
            try:
                store = app.open_store(url)
            finally:
                os.environ["CHARTER_HOME"] = before
            with store:
                yield Serving(process, address, store)
        finally:
            process.terminate()
