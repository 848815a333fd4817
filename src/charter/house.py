"""Every agent of this installation in one process: turns wait in line, and one under way keeps its lane."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from . import app, home
from .core.errors import Answered, BadValue, Busy, CharterError, StoreError, UnknownAgent
from .turn import UNWATCHED, Turn, take_turn

if TYPE_CHECKING:
    from .agent import Agent, Watch
    from .core.incoming import Incoming
    from .core.ports import Approver, Provider
    from .stores.store import SqlStore

LEASE_NS: Final = 30 * 10**9  # so soon is a turn of a process that died taken over
PATIENCE_SECONDS: Final = 120.0
FIRST_WAIT: Final = 0.01
LONGEST_WAIT: Final = 0.25
FOLDERS: Final = ("workspace", "data_dir", "project_dir", "skills_dir")
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


class House:
    """The agents that are served, their store, and the turns under way in this process."""

    def __init__(self, store: SqlStore, agents: Mapping[str, Agent], *, lease_ns: int = LEASE_NS) -> None:
        self.store = store
        self._leases = _Leases(store, lease_ns)
        self.agents = {
            name: replace(agent, lease_ns=lease_ns, keep=partial(self._leases.keep, agent.name))
            for name, agent in agents.items()
        }

    def __repr__(self) -> str:
        return f"House({', '.join(self.agents)})"

    def agent(self, name: str) -> Agent:
        found = self.agents.get(name)
        if found is None:
            raise UnknownAgent("agent", name, tuple(self.agents))
        return found

    @property
    def under_way(self) -> int:
        """How many turns this process is taking right now."""
        return len(self._leases)

    def ask(
        self,
        name: str,
        incoming: Incoming,
        watch: Watch = UNWATCHED,
        *,
        approver: Approver | None = None,
        patience_s: float = PATIENCE_SECONDS,
    ) -> Turn:
        """One turn, when it is this sender's turn; Busy when that takes longer than one is patient.

        A message that a turn elsewhere answered meanwhile raises Answered, and `given` has what was said.
        """
        agent = self.agent(name)
        agent = agent if approver is None else replace(agent, approver=approver)
        if incoming.text.strip() and not incoming.id:
            incoming = replace(incoming, id=agent.new_id())
        ends, wait = time.monotonic() + patience_s, FIRST_WAIT
        try:
            return take_turn(agent, incoming, watch)
        except Busy:
            pass
        while True:
            if time.monotonic() > ends or watch.stopped():
                raise Busy(f"another turn of this sender is under way; it took longer than {patience_s:.0f} s")
            self._leases.wait(wait)
            wait = min(wait * 2, LONGEST_WAIT)
            if incoming.id and self.store.answered_by(agent.name, incoming.id):
                raise Answered("this message was answered together with another; nothing was done again")
            try:
                turn = take_turn(agent, incoming, watch)
            except Busy:
                continue
            if incoming.carried or not incoming.id or self._has(agent, turn, incoming.id):
                return turn

    def _has(self, agent: Agent, turn: Turn, message_id: str) -> bool:
        """Whether a turn that had to wait answered this very message, and not one that came after it."""
        return any(message.id == message_id for message in self.store.messages_of(agent.name, turn.id))

    def given(self, name: str, message_id: str) -> tuple[str, ...] | None:
        """What was answered to a message, part by part; None while nobody has."""
        agent = self.agent(name)
        turn = self.store.answered_by(agent.name, message_id)
        if not turn:
            return None
        taken = next(one for one in self.store.messages_of(agent.name, turn) if one.id == message_id)
        return tuple(reply.body for _, reply in self.store.replies(agent.name, taken.sender, turn_id=turn))

    def close(self) -> None:
        self._leases.close()


class _Leases:
    """Holds the lanes of the turns that run here; a thread prolongs them while there are any."""

    def __init__(self, store: SqlStore, lease_ns: int) -> None:
        self._store = store
        self._lease_ns = lease_ns
        self._held: set[tuple[str, str]] = set()
        self._lock = threading.Condition()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def __len__(self) -> int:
        return len(self._held)

    @contextmanager
    def keep(self, agent: str, turn_id: str) -> Iterator[None]:
        with self._lock:
            self._held.add((agent, turn_id))
            if self._thread is None and not self._closed.is_set():
                self._thread = threading.Thread(target=self._prolong, name="leases", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._held.discard((agent, turn_id))
                self._lock.notify_all()

    def wait(self, seconds: float) -> None:
        """Until a turn of this process is over, or this long: one of another process tells nobody here."""
        with self._lock:
            self._lock.wait(seconds)

    def _prolong(self) -> None:
        while not self._closed.wait(self._lease_ns / 3e9):
            with self._lock:
                held = tuple(self._held)
            for agent, turn_id in held:
                with contextlib.suppress(StoreError):  # it is tried again long before the lease is over
                    self._store.renew(agent, turn_id, until_ns=time.time_ns() + self._lease_ns)

    def close(self) -> None:
        self._closed.set()
        if self._thread is not None:
            self._thread.join()


# ── opening ───────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Served:
    """One agent to serve: its charter, and where its layers read (`workspace=`, `data_dir=` …)."""

    charter: str
    world: Mapping[str, Any]


def wanted(names: tuple[str, ...] = ()) -> dict[str, Served]:
    """Which agents are served: charters that were named, else those of config.toml, else the five that ship."""
    from .choice import CONFIG, read_config
    from .folder import BUILT_IN

    if names:
        return {_served_as(name): Served(name, {}) for name in names}
    rows = read_config(home.home() / CONFIG).agents
    if not rows:
        return {name: Served(name, {}) for name in BUILT_IN}
    if wrong := [name for name in rows if not _NAME.fullmatch(name)]:
        raise BadValue(f"[agents.{wrong[0]}]", "an agent's name has small letters, digits, _ and -")
    return {
        name: Served(row.charter, {key: Path(path).expanduser() for key in FOLDERS if (path := getattr(row, key))})
        for name, row in rows.items()
    }


def _served_as(charter: str) -> str:
    """The name an agent is served under: its charter's, or that of the folder it lies in."""
    name = Path(charter).name
    if not _NAME.fullmatch(name):
        raise BadValue("charter", "an agent is served under the name of its folder: small letters, digits, _ and -")
    return name


@contextmanager
def open_house(
    *,
    database: str = "",
    charters: tuple[str, ...] = (),
    model: str = "",
    provider: Provider | None = None,
    lease_ns: int = LEASE_NS,
    absent: Callable[[CharterError], Provider] | None = None,
) -> Iterator[House]:
    """A house with its store, its agents and one model for all of them; closed in order.

    Without a model this is an error, or what `absent` makes of it.
    """
    from .folder import load

    with contextlib.ExitStack() as parts:
        store = parts.enter_context(app.open_store(database))
        if provider is None:
            provider = parts.enter_context(contextlib.closing(_provider(model, absent)))
        agents = {}
        for name, row in wanted(charters).items():
            charter = load(row.charter, **row.world)
            others = [parts.enter_context(app.connected(server)) for server in app.servers(charter.name)]
            tools = [tool for one in others for tool in one.tools]
            agents[name] = app.make_agent(charter, store, provider, name=name, tools=tools)
        house = House(store, agents, lease_ns=lease_ns)
        parts.callback(house.close)
        yield house


def _provider(model: str, absent: Callable[[CharterError], Provider] | None) -> Provider:
    from .choice import choose, open_chosen

    try:
        return open_chosen(choose(model))
    except CharterError as error:
        if absent is None:
            raise
        return absent(error)
