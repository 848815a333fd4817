"""A prompt is the same bytes whatever the process's surroundings are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "views.py"
LOCALES = ("C", "C.utf8", "POSIX")
ZONES = ("UTC", "Asia/Kathmandu", "America/St_Johns", "Pacific/Chatham", "Europe/Lisbon")


def hashes(seed: int) -> dict[str, str]:
    """The views' hashes in a process of its own; the seed chooses hash seed, locale, zone and directory order."""
    surroundings = {
        **os.environ,
        "PYTHONHASHSEED": str(seed),
        "LC_ALL": LOCALES[seed % 3],
        "LANG": LOCALES[(seed + 1) % 3],
        "TZ": ZONES[seed % 5],
    }
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(seed)], env=surroundings, capture_output=True, text=True, check=True
    )
    seen: dict[str, str] = json.loads(done.stdout)
    return seen


@pytest.mark.requirement("S1-03", "S1-05", "S2-06", "S0-14")
def test_every_charter_and_mode_is_byte_equal_over_20_hash_seeds_3_locales_5_zones_and_shuffled_directories() -> None:
    first = hashes(0)
    assert len(first) == 18
    for seed in range(1, 20):
        assert hashes(seed) == first, f"seed {seed}"
