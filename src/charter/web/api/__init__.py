"""The API: everything an operator, an approver, a user or a sender may see and do, under /api."""

from __future__ import annotations

from fastapi import APIRouter

from . import agents, approvals, chat, control, conversations, inbox, layers, own, preview, proposals, tokens, turns

router = APIRouter()
for part in (agents, chat, inbox, conversations, layers, proposals, approvals, own, turns, preview, control, tokens):
    router.include_router(part.router)
