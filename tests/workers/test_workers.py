"""Several processes over one database: nothing is lost, nothing is answered twice, and each sender's order holds."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections import Counter
from pathlib import Path

import httpx2
import pytest

from charter.web.api.common import owned

from .places import Serving, serving, upstream

AGENT = "assistant"
SENDERS = 200
EACH = 2
DEADLINE_SECONDS = 120.0


async def post(client: httpx2.AsyncClient, path: str, token: str, body: dict[str, str]) -> httpx2.Response:
    """Sends until somebody answers: a worker that was killed answers nobody, and a client tries again."""
    ends = time.monotonic() + DEADLINE_SECONDS
    while True:
        try:
            return await client.post(path, json=body, headers={"authorization": f"Bearer {token}"})
        except httpx2.TransportError:
            if time.monotonic() > ends:
                raise


async def write(client: httpx2.AsyncClient, name: str, token: str, sent: list[str]) -> None:
    """One sender: message after message, each posted when the last one was taken in."""
    for number in range(EACH):
        message = f"{name}-{number}"
        answer = await post(client, f"/api/agents/{AGENT}/inbox", token, {"text": f"Text {message}", "id": message})
        assert answer.status_code in (200, 202), answer.text
        sent.append(owned(name, message))


async def load(made: Serving, tokens: dict[str, str], *, kill: bool) -> list[str]:
    sent: list[str] = []
    limits = httpx2.Limits(max_connections=SENDERS)
    client = httpx2.AsyncClient(base_url=made.address, timeout=DEADLINE_SECONDS, limits=limits)
    async with client, asyncio.TaskGroup() as group:
        for name, token in tokens.items():
            group.create_task(write(client, name, token, sent))
        if kill:
            while len(sent) < SENDERS // 2:
                await asyncio.sleep(0)
            os.kill(made.workers()[0], signal.SIGKILL)
    return sent


def wait_until_answered(made: Serving, messages: list[str]) -> None:
    ends = time.monotonic() + DEADLINE_SECONDS
    waiting = set(messages)
    while waiting:
        waiting -= {name for name in waiting if made.store.answered_by(AGENT, name)}
        assert time.monotonic() < ends, f"{len(waiting)} messages were not answered"


def wait_until_replaced(made: Serving, before: list[int]) -> None:
    """The one that died has a successor, and the other one is still there."""
    ends = time.monotonic() + DEADLINE_SECONDS
    while len(now := made.workers()) < 2 or now == before:
        assert time.monotonic() < ends, "nobody took the place of the worker that died"
    assert len(now) == 2
    assert set(before) & set(now) == {before[1]}


def wait_until_free(made: Serving) -> None:
    """No lane stays taken: a worker that came too late for a message lets go of its lane a moment after it was
    answered, and one that was killed has its lease for some seconds more."""
    ends = time.monotonic() + DEADLINE_SECONDS
    while made.store.db.read("SELECT count(*) FROM turn_leases") != [(0,)]:
        assert time.monotonic() < ends, "a lane is taken and nobody is in it"


def check(made: Serving, messages: list[str]) -> None:
    """Every message was dealt with by one turn, in its sender's order, and its reply was sent once."""
    wait_until_answered(made, messages)
    turns = {name: made.store.answered_by(AGENT, name) for name in messages}
    for sender in (f"s{number}" for number in range(SENDERS)):
        log = made.store.conversation(AGENT, sender)
        assert log is not None
        mine = [owned(sender, f"{sender}-{number}") for number in range(EACH)]
        assert [entry.inbox_message_id for entry in log.entries] == mine
        replies = Counter(turn for turn, _ in made.store.replies(AGENT, sender))
        assert replies == dict.fromkeys({turns[name] for name in mine}, 1)
    done = [turn for turn in made.store.turns(AGENT, 10_000) if turn.outcome == "done"]
    assert sorted(turn.id for turn in done) == sorted({str(turn) for turn in turns.values()})
    wait_until_free(made)


@pytest.mark.requirement("N-17", "S0-15")
@pytest.mark.parametrize("kill", [False, True], ids=["both live", "one is killed"])
def test_two_workers_answer_200_senders_in_order_without_loss_and_without_doubles(tmp_path: Path, kill: bool) -> None:
    with upstream() as port, serving(tmp_path, port) as made:
        tokens = {f"s{number}": made.token("sender", f"s{number}") for number in range(SENDERS)}
        before = made.workers()
        assert len(before) == 2
        check(made, asyncio.run(load(made, tokens, kill=kill)))
        if kill:
            wait_until_replaced(made, before)


@pytest.mark.requirement("N-17")
def test_an_amendment_through_one_worker_is_in_the_next_prompt_of_every_worker(tmp_path: Path) -> None:
    with upstream() as port, serving(tmp_path, port) as made:
        token = made.token("user", "ana")
        headers = {"authorization": f"Bearer {token}"}
        for number in range(8):  # each by a connection of its own, so both workers have their share
            text = f"Answer with the word tide{number}."
            body = {"instructions": text, "expected_version": number}
            place, wait = f"{made.address}/api/agents/{AGENT}/instructions", DEADLINE_SECONDS
            saved = httpx2.put(place, json=body, headers=headers, timeout=wait)
            assert saved.status_code == 200, saved.text
            seen = [httpx2.get(place, headers=headers, timeout=wait).json()["instructions"] for _ in range(4)]
            assert seen == [text] * 4
