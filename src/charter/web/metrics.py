"""Counts for Prometheus: routes, codes and times; no name of a person and no content is ever a label."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import defaultdict
from typing import Final

BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)

Labels = tuple[tuple[str, str], ...]


class Metrics:
    """What one process counted since it began."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: defaultdict[tuple[str, Labels], int] = defaultdict(int)
        self._times: dict[tuple[str, Labels], list[float]] = {}

    def count(self, name: str, **labels: str) -> None:
        with self._lock:
            self._counts[name, tuple(sorted(labels.items()))] += 1

    def took(self, name: str, seconds: float, **labels: str) -> None:
        """One more time of this kind: the bucket it falls in, the sum, the number."""
        key = name, tuple(sorted(labels.items()))
        with self._lock:
            row = self._times.setdefault(key, [0.0] * (len(BUCKETS) + 2))
            place = bisect_left(BUCKETS, seconds)
            row[place] += 1
            row[-1] += seconds

    def text(self, now: dict[str, float] | None = None) -> str:
        """Everything in Prometheus' text form; `now` are values as they are this moment."""
        with self._lock:
            counts, times = dict(self._counts), {key: list(row) for key, row in self._times.items()}
        lines = [f"{name} {value:g}" for name, value in sorted((now or {}).items())]
        lines += [f"{name}{_labels(labels)} {value}" for (name, labels), value in sorted(counts.items())]
        for (name, labels), row in sorted(times.items()):
            so_far = 0.0
            for edge, number in zip((*map(str, BUCKETS), "+Inf"), row[:-1], strict=True):
                so_far += number
                lines.append(f"{name}_bucket{_labels((*labels, ('le', edge)))} {so_far:g}")
            lines += [f"{name}_sum{_labels(labels)} {row[-1]:.6f}", f"{name}_count{_labels(labels)} {so_far:g}"]
        return "\n".join(lines) + "\n"


def _labels(labels: Labels) -> str:
    inner = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels)
    return "{" + inner + "}" if inner else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
