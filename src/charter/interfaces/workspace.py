"""The entry point of the workspace design (seed 002)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from ..core.incoming import Incoming, moment
from ..core.ports import Store
from ..sources import AgentDef, World
from .loaded import loaded


class PromptBuilder:
    """Prompts from a workspace folder (S2-02)."""

    def __init__(
        self,
        workspace: Path | str,
        *,
        user: str | None = None,
        now: datetime | str | None = None,
        store: Store | None = None,
    ) -> None:
        self.workspace = Path(workspace)
        self._user = user
        self._now = now
        self._store = store

    def build(
        self, agent: str | AgentDef, channel: str = "terminal", user_message: str = "", mode: str = "full"
    ) -> str:
        """The system prompt for this agent, channel and message."""
        given = {"agent": agent} if isinstance(agent, AgentDef) else {}
        incoming = Incoming(
            channel=channel,
            text=user_message,
            at=moment(self._now) or datetime.now(UTC),
            agent=agent if isinstance(agent, str) else agent.id,
            user=self._user or "",
        )
        world = World(workspace=self.workspace, store=self._store, given=given)
        return loaded("workspace").assemble(incoming, mode=mode, world=world).reveal()
