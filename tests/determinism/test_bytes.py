"""S1-03, S1-05, N-01: the same request gives the same bytes, hashes and manifests in whatever process."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

pytestmark = pytest.mark.requirement("S1-03", "S1-05", "N-01")

SCRIPT: Final = Path(__file__).with_name("prompts.py")
VIEWS: Final = Path(__file__).with_name("views.py")
SEEDS: Final = tuple(range(20))
LOCALES: Final = tuple({name: locale} for name in ("LC_ALL", "LANG") for locale in ("C", "C.utf8", "POSIX"))
ZONES: Final = ("UTC", "America/St_Johns", "Asia/Kathmandu", "Pacific/Kiritimati", "Europe/Lisbon")


def surroundings(seed: int, **more: str) -> dict[str, str]:
    """Another combination for each seed: hash seed, locale, time zone, directory order, and how text files are read."""
    kept = {key: os.environ[key] for key in ("PATH", "VIRTUAL_ENV", "PYTHONPATH") if key in os.environ}
    return {
        **kept,
        **LOCALES[seed % len(LOCALES)],
        "TZ": ZONES[seed % len(ZONES)],
        "PYTHONHASHSEED": str(seed * 7919),
        "PYTHONUTF8": str(seed % 2),
        "CHARTER_TEST_ORDER": f"order {seed}",
        "HOME": "/nonexistent" if seed % 3 else os.environ.get("HOME", "/"),
        **more,
    }


def run(seed: int, *script: str, **more: str) -> str:
    command = [sys.executable, "-W", "error", *(script or (str(SCRIPT),))]
    here, around = "/" if seed % 2 else None, surroundings(seed, **more)
    done = subprocess.run(command, env=around, capture_output=True, text=True, check=False, cwd=here)
    assert done.returncode == 0, f"run {seed}: {done.stderr[-2000:]}"
    return done.stdout


@cache
def runs() -> tuple[str, ...]:
    with ThreadPoolExecutor(2) as pool:
        return tuple(pool.map(run, SEEDS))


@cache
def first() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(runs()[0])
    return read


def test_every_combination_of_hash_seed_locale_zone_and_directory_order_gives_the_same_bytes() -> None:
    assert len({surroundings(seed)["PYTHONHASHSEED"] for seed in SEEDS}) == 20
    for seed, out in zip(SEEDS, runs(), strict=True):
        differing = [key for key, made in json.loads(out).items() if made != first()[key]]
        assert differing == [], surroundings(seed)
    assert len(set(runs())) == 1


def test_the_runs_cover_every_charter_and_mode() -> None:
    modes = {key.rpartition("/")[0] for key in first()}
    assert modes == {
        "sovereign/full", "sovereign/compact", "contract/full", "workspace/full", "workspace/minimal", "workspace/none",
        "gateway/full", "gateway/minimal", "assistant/full",
    }  # fmt: skip


def test_different_modes_give_different_prompts_so_the_hashes_say_something() -> None:
    prompts = [made["prompt"] for key, made in first().items() if key.endswith("/native")]
    assert len(set(prompts)) == len(prompts)


def test_the_stack_hash_is_the_documented_one_in_every_run() -> None:
    for made in first().values():
        manifest = made["manifest"]
        lines = "".join(f"{entry['layer']}:{entry['id']}:{entry['sha256']}\n" for entry in manifest["stack"])
        assert manifest["stack_sha256"] == hashlib.sha256(lines.encode()).hexdigest()


def test_the_golden_views_are_the_same_bytes_in_every_combination_too() -> None:
    assert len({run(seed, str(VIEWS), str(seed)) for seed in SEEDS[::3]}) == 1


def test_the_shuffled_directories_would_show_if_their_order_mattered() -> None:
    made = {run(seed, CHARTER_TEST_UNSORTED="yes") for seed in range(6)}
    assert len(made) > 1
