"""N-07, the whole of it: a million generated values over all slots, and every code point in every slot."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any, Final

import pytest

from .deep import Haul, among_code_points, among_generated, among_joints
from .slots import ENCODERS, SLOTS

pytestmark = [pytest.mark.deep, pytest.mark.requirement("N-07", "S0-16", "S0-04", "S3-05", "S3-06", "S3-09", "S4-06")]

SEED: Final = 7
VALUES: Final = 1_000_000
CHUNK: Final = 5_000
PARTS: Final = 4
PROCESSES: Final = 2
JOINTS: Final = ("\u200c", "\u200d", "\ufe0e", "\ufe0f", "\ufe0f\u200d", "\u200d\u200d", "\u2060", "\U000e0067")


def hunt(work: Callable[..., Haul], pieces: list[tuple[Any, ...]], say: Callable[[str], None]) -> tuple[int, list[str]]:
    """Every piece on two cores; how much was looked at, and what was found."""
    looked_at, found, started = 0, list[str](), time.monotonic()
    with ProcessPoolExecutor(PROCESSES, mp_context=multiprocessing.get_context("spawn")) as pool:
        waiting = [pool.submit(work, *piece) for piece in pieces]
        for done, future in enumerate(as_completed(waiting), 1):
            haul = future.result()
            looked_at += haul.looked_at
            found += haul.found
            for line in haul.found[:3]:
                say(line)
            if done % 20 == 0 or done == len(pieces):
                seconds = time.monotonic() - started
                say(f"{done}/{len(pieces)} pieces, {looked_at:,} looked at, {seconds:.0f} s, {len(found)} found")
    return looked_at, found


def test_a_million_generated_values_stay_in_their_place(capsys: pytest.CaptureFixture[str]) -> None:
    pieces = [(SEED, range(start, min(start + CHUNK, VALUES))) for start in range(0, VALUES, CHUNK)]
    with capsys.disabled():
        looked_at, found = hunt(among_generated, pieces, print)
    assert looked_at == VALUES
    assert not found, "\n".join(found[:50])


def test_every_code_point_stays_in_its_place_in_every_slot(capsys: pytest.CaptureFixture[str]) -> None:
    pieces = [(index, part, PARTS) for index in range(len(SLOTS)) for part in range(PARTS)]
    with capsys.disabled():
        looked_at, found = hunt(among_code_points, pieces, print)
    assert looked_at == 0x110000 * len(SLOTS)
    assert not found, "\n".join(found[:50])


def test_what_joins_characters_stays_between_those_it_joins(capsys: pytest.CaptureFixture[str]) -> None:
    encoders = range(len(ENCODERS))
    pieces = [(index, joint, part, PARTS) for index in encoders for joint in JOINTS for part in range(PARTS)]
    with capsys.disabled():
        looked_at, found = hunt(among_joints, pieces, print)
    assert looked_at >= 0x110000 * len(ENCODERS) * len(JOINTS)
    assert not found, "\n".join(found[:50])
