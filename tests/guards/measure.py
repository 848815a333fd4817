"""Guards are measured, not praised: each corpus run through its guard, group by group, with intervals and times.

`make guards` prints the figures of both halves; tests assert floors on the held-out one. What five other authors wrote
later ("third", a random half of it, and those after) is counted by itself; nobody tuned on it.
"""

from __future__ import annotations

import json
import math
import random
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from charter.guards import Screen, check_message, check_update, scan_file, scan_reply

CORPUS = Path(__file__).parent / "corpus"
HALVES = ("tune", "held")
# Held-out texts of other authors, counted by themselves: one far from all wordings that were known, and four who were
# only told what the guards are for, of whose texts none was learned from.
OTHERS = ("third", "fourth", "fifth", "sixth", "seventh")
WITH_OTHERS = ("disclosure", "override")
FITTED = frozenset(("direct", "twins", "varied"))  # files of the tuning half that are for the table of weights
Case = Mapping[str, Any]
Key = tuple[str, str]


@cache
def cases(guard: str, half: str) -> tuple[Case, ...]:
    """The cases of one half of a corpus, in the order of their files."""
    folder = CORPUS / guard / ("held" if half in OTHERS else half)
    names = sorted(file.stem for file in folder.glob("*.jsonl"))
    wanted = [half] if half in OTHERS else [name for name in names if name not in OTHERS]
    return tuple(
        {"file": name, **json.loads(line)}
        for name in wanted
        for line in (folder / f"{name}.jsonl").read_text("utf-8").splitlines()
        if line.strip()
    )


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
    return check_message(case["text"], history=case.get("history", ())).decision != "allow"


def stopped_override(case: Case) -> bool:
    versions = tuple(case.get("history", ()))
    context = {"current": versions[-1] if versions else "", "history": versions[:-1]}
    return check_update(case["target"], case["text"], context=context).decision != "allow"


def found_in_file(case: Case) -> bool:
    """An attack counts as found only where a span touches the very passage."""
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


def rates(guard: str, half: str) -> dict[Key, Rate]:
    """(label, group) → how many of its cases the guard stopped; the group "*" is all of them together."""
    if guard == "leak":
        return leak_rates(half)
    return counted((case["label"], case["group"], GUARDS[guard](case)) for case in cases(guard, half))


def counted(judged: Iterable[tuple[str, str, bool]]) -> dict[Key, Rate]:
    seen: dict[Key, list[bool]] = defaultdict(list)
    for label, group, stopped in judged:
        seen[label, group].append(stopped)
        seen[label, "*"].append(stopped)
    return {key: Rate(sum(found), len(found)) for key, found in sorted(seen.items())}


# ── leaks: hidden prompts, and replies to hold against them ───────────────────────────────────────────────────────


def rows(name: str, half: str) -> tuple[Case, ...]:
    return tuple(case for case in cases("leak", half) if case["file"] == name)


def prompts(half: str) -> dict[str, str]:
    return {row["id"]: row["text"] for row in rows("prompts", half)}


def leak_rates(half: str) -> dict[Key, Rate]:
    return counted([*made_leaks(half), *written_replies(half)])


def made_leaks(half: str) -> Iterator[tuple[str, str, bool]]:
    """Pieces of each prompt by every technique: verbatim, Unicode, decodable and lossy ones."""
    from .leaks import leaks, pieces

    for name, hidden in prompts(half).items():
        for seed, piece in enumerate(pieces(hidden, random.Random(name))):
            for leak in leaks(piece, seed=seed):
                found = scan_reply(leak.reply, hidden, history=[("assistant", said) for said in leak.earlier])
                yield "attack", leak.group, found.decision != "allow"


def written_replies(half: str) -> Iterator[tuple[str, str, bool]]:
    """Replies that people wrote: paraphrases, translations and summaries; and innocent ones of the same agents."""
    hidden = prompts(half)
    for file in ("semantic", "innocent", "user_said"):
        for row in rows(file, half):
            history = [tuple(said) for said in row.get("history", ())]
            found = scan_reply(row["text"], hidden[row["prompt"]], history=history)
            group = "semantic" if file == "semantic" else row.get("group", file)
            yield row["label"], group, found.decision != "allow"


def pair_rate(half: str, every: int = 1) -> Rate:
    """Ordinary texts against prompts they have nothing to do with: how many are blocked."""
    pairs = [(row["text"], hidden) for row in rows("ordinary", half) for hidden in prompts(half).values()]
    found = [scan_reply(text, hidden).decision != "allow" for text, hidden in pairs[::every]]
    return Rate(sum(found), len(found))


# ── time ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def times() -> dict[str, tuple[float, float]]:
    """What → the median and the 99th percentile in milliseconds, for texts of the size the goals name.

    Each guard has judged as many texts before: what is measured is neither reading tables nor meeting words at first.
    """
    ordinary = [row["text"] for half in HALVES for row in rows("ordinary", half)]
    messages = [case["text"] for case in cases("disclosure", "tune") if case["group"] == "lookalike"]
    edits = [case["text"] for case in cases("override", "tune") if case["label"] == "honest"]
    rng = random.Random(5)

    def long(size: int, texts: Sequence[str] = ordinary, between: str = "\n\n") -> str:
        return between.join(rng.sample(texts, min(len(texts), size // 8)))[:size]

    hidden = "\n\n".join(prompts("tune").values())[:15_000]
    work: dict[str, tuple[Callable[[str], object], Callable[[], str], int]] = {
        "message of 4 KB": (check_message, lambda: long(4096), 200),
        "message of a line": (check_message, lambda: rng.choice(ordinary)[:80], 200),
        "look-alikes of 4 KB": (check_message, lambda: long(4096, messages, "\n"), 200),
        "update of 4 KB": (_updated, lambda: long(4096), 200),
        "honest edits of 4 KB": (_updated, lambda: long(4096, edits, "\n"), 200),
        "file of 16 KB": (lambda text: scan_file(text, trust="project"), lambda: long(16_384), 100),
        "reply of 8 KB": (lambda text: scan_reply(text, hidden), lambda: long(8192), 200),
    }
    found = {}
    for what, (judge, make, count) in work.items():
        for _ in range(count):
            judge(make())
        found[what] = percentiles(judge, [make() for _ in range(count)])
    found["one word of a stream"] = percentiles(Screen(hidden).feed, _words(long(8192)))
    return found


def _updated(text: str) -> object:
    return check_update("decision_loop", text)


def _words(text: str) -> list[str]:
    return [f"{word} " for word in text.split(" ")]


def percentiles(work: Callable[[Any], object], inputs: Sequence[Any]) -> tuple[float, float]:
    """The median and the 99th percentile of the milliseconds a call takes."""
    times = []
    for value in inputs:
        start = time.perf_counter()
        work(value)
        times.append((time.perf_counter() - start) * 1e3)
    times.sort()
    return times[len(times) // 2], times[min(len(times) - 1, math.ceil(len(times) * 0.99) - 1)]


def missed(guard: str, half: str, *, without: Collection[str] = ()) -> Iterator[Case]:
    """The cases a guard judged wrongly, but for those of some files; of what a table was fitted on, every fifth."""
    for number, case in enumerate(cases(guard, half)):
        passed_over = case["file"] in without or (case["file"] in FITTED and number % 5)
        if not passed_over and GUARDS[guard](case) != (case["label"] == "attack"):
            yield case


def show(title: str, table: Mapping[tuple[str, str], Rate]) -> None:
    print(f"\n{title}")
    for (label, group), rate in table.items():
        print(f"  {label:9} {group:12} stopped {rate}")


def main(arguments: Sequence[str]) -> None:
    for guard in arguments or (*GUARDS, "leak"):
        for half in (*HALVES, *OTHERS) if guard in WITH_OTHERS else HALVES:
            show(f"{guard}, {half}", rates(guard, half))
            if guard == "leak":
                print(f"  innocent  pairs        stopped {pair_rate(half)}", flush=True)
    print("\nmilliseconds                      median     p99")
    for what, (median, worst) in times().items():
        print(f"  {what:26} {median:12.3f} {worst:7.3f}")


if __name__ == "__main__":
    main(sys.argv[1:])
