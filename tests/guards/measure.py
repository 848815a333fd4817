"""Guards are measured, not praised: each corpus run through its guard, group by group, with intervals and times.

`make guards` prints the figures of both halves; tests assert floors on the held-out one.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parent / "corpus"
Case = Mapping[str, Any]


@cache
def cases(guard: str, half: str) -> tuple[Case, ...]:
    """The cases of one half of a corpus, in the order of their files."""
    files = sorted((CORPUS / guard / half).glob("*.jsonl"))
    return tuple(json.loads(line) for file in files for line in file.read_text("utf-8").splitlines() if line.strip())


@dataclass(frozen=True)
class Rate:
    """So many of so many, with the 95 % interval of Wilson."""

    hits: int
    of: int

    @property
    def share(self) -> float:
        return self.hits / self.of if self.of else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        if not self.of:
            return 0.0, 1.0
        z, n, p = 1.96, self.of, self.share
        middle, reach = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return (middle - reach) / (1 + z * z / n), (middle + reach) / (1 + z * z / n)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.hits:>6,} of {self.of:>6,}  {self.share:7.2%}  [{low:6.1%} – {high:6.1%}]"


def stopped_disclosure(case: Case) -> bool:
    from charter.guards import check_message

    return check_message(case["text"], history=case.get("history", ())).decision != "allow"


def stopped_override(case: Case) -> bool:
    from charter.guards import check_update

    versions = tuple(case.get("history", ()))
    context = {"current": versions[-1] if versions else "", "history": versions}
    return check_update(case["target"], case["text"], context=context).decision != "allow"


def found_in_file(case: Case) -> bool:
    """An attack counts as found only where a span touches the very passage."""
    from charter.guards import scan_file

    found = scan_file(case["text"], trust=case.get("trust", "project"))
    if "needle" not in case:
        return found.decision != "allow"
    start = case["text"].index(case["needle"])
    return any(span.start < start + len(case["needle"]) and start < span.end for span in found.spans)


GUARDS: Mapping[str, Callable[[Case], bool]] = {
    "disclosure": stopped_disclosure,
    "override": stopped_override,
    "files": found_in_file,
}


def rates(guard: str, half: str, judge: Callable[[Case], bool] | None = None) -> dict[tuple[str, str], Rate]:
    """(label, group) → how many of its cases the guard stopped; the group "*" is all of them together."""
    return counted(cases(guard, half), judge or GUARDS[guard])


def counted(rows: Iterable[Case], judge: Callable[[Case], bool]) -> dict[tuple[str, str], Rate]:
    seen: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for case in rows:
        stopped = judge(case)
        seen[case["label"], case["group"]].append(stopped)
        seen[case["label"], "*"].append(stopped)
    return {key: Rate(sum(found), len(found)) for key, found in sorted(seen.items())}


def percentiles(work: Callable[[Any], object], inputs: Sequence[Any]) -> tuple[float, float]:
    """The median and the 99th percentile of the milliseconds a call takes."""
    times = []
    for value in inputs:
        start = time.perf_counter()
        work(value)
        times.append((time.perf_counter() - start) * 1e3)
    times.sort()
    return times[len(times) // 2], times[min(len(times) - 1, math.ceil(len(times) * 0.99) - 1)]


def missed(guard: str, half: str) -> Iterable[Case]:
    """The cases a guard judged wrongly."""
    for case in cases(guard, half):
        if GUARDS[guard](case) != (case["label"] == "attack"):
            yield case


def show(title: str, table: Mapping[tuple[str, str], Rate]) -> None:
    print(f"\n{title}")
    for (label, group), rate in table.items():
        print(f"  {label:9} {group:12} stopped {rate}")


def main(arguments: Sequence[str]) -> None:
    halves = ("tune", "held")
    for guard in arguments or (*GUARDS, "leak"):
        for half in halves:
            if guard in GUARDS:
                show(f"{guard}, {half}", rates(guard, half))


if __name__ == "__main__":
    main(sys.argv[1:])
