"""The pages: a chat for people, and for operators a view of what an agent is told."""

from __future__ import annotations

from fastapi import FastAPI


def join(app: FastAPI) -> None:
    """Adds the pages to a server."""
    from . import agents, chat, enter

    for part in (enter, chat, agents):
        app.include_router(part.router)
