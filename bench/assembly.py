"""Every contender returns the same bytes before any of them is timed."""

import argparse
import gc
import json
import platform
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter_ns

from contenders import (
    Contender,
    Maker,
    PeerError,
    make_floor_cold,
    make_floor_warm,
    make_haystack,
    make_jinja2,
    make_langchain,
    make_minijinja,
)
from workload import Workload, byte_count, expected, static_share, workloads

CALLS = 64  # per contender and round
WARM_UP_ROUNDS = 3
PEERS = ("jinja2", "minijinja", "langchain-core", "haystack-ai")
BASELINES = ("floor warm", "floor cold", "jinja2", "langchain")
WITH_MANIFEST = ("ours warm", "ours cold")


@dataclass(frozen=True)
class Timing:
    """Microseconds per call over all rounds of one contender."""

    median: float
    low: float  # first quartile
    high: float  # third quartile


@dataclass(frozen=True)
class Result:
    """What one workload showed."""

    workload: str
    bytes: int
    static_share: float
    timings: dict[str, Timing]
    ratios: dict[str, dict[str, float]]


@dataclass(frozen=True)
class Target:
    """`contender` takes at most `limit` times what `baseline` takes."""

    contender: str
    baseline: str
    limit: float


TARGETS = (
    Target("ours warm", "jinja2", 1.0),
    Target("ours warm", "langchain", 0.1),
    Target("ours warm", "floor warm", 2.0),
    Target("ours cold", "floor cold", 2.0),
)


class EqualityError(ValueError):
    """A contender returned other bytes than the reference."""


def makers() -> dict[str, Maker]:
    """All contenders by the name they are reported under."""
    from ours import make_cold, make_warm

    return {
        "floor warm": make_floor_warm,
        "floor cold": make_floor_cold,
        "ours warm": make_warm,
        "ours cold": make_cold,
        "jinja2": make_jinja2,
        "minijinja": make_minijinja,
        "haystack": make_haystack,
        "langchain": make_langchain,
    }


def check_equal(workload: Workload, contenders: dict[str, Contender]) -> None:
    """Refuse to time anything while one contender differs in one byte."""
    for index, values in enumerate(workload.value_sets):
        wanted = expected(workload, values).encode()
        for name, contender in contenders.items():
            got = contender(values).encode()
            if got != wanted:
                raise EqualityError(
                    f"{workload.name}: {name} returned {len(got)} bytes for value set "
                    f"{index}, not the {len(wanted)} expected; they part at byte "
                    f"{first_difference(got, wanted)}"
                )


def first_difference(left: bytes, right: bytes) -> int:
    pairs = enumerate(zip(left, right, strict=False))
    shorter = min(len(left), len(right))
    return next((place for place, (a, b) in pairs if a != b), shorter)


@contextmanager
def quiet_collector() -> Iterator[None]:
    """No collection inside a timed slice; what exists already is never walked."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()


def time_slice(contender: Contender, batch: Sequence[dict[str, str]]) -> float:
    """Microseconds per call over the batch."""
    begin = perf_counter_ns()
    for values in batch:
        contender(values)
    return (perf_counter_ns() - begin) / len(batch) / 1000


def batch_of(workload: Workload, number: int) -> list[dict[str, str]]:
    """The value sets of a round, going on where the last round stopped."""
    sets = workload.value_sets
    return [sets[(number * CALLS + call) % len(sets)] for call in range(CALLS)]


def order_of(names: Sequence[str], number: int) -> list[str]:
    """Rotated every round and turned around every other, so neighbours change."""
    turn = number % len(names)
    rotated = [*names[turn:], *names[:turn]]
    return rotated[::-1] if number % 2 else rotated


def run_rounds(workload: Workload, contenders: dict[str, Contender], rounds: int) -> dict[str, list[float]]:
    """Microseconds per call, per contender and round."""
    samples: dict[str, list[float]] = {name: [] for name in contenders}
    with quiet_collector():
        for number in range(-WARM_UP_ROUNDS, rounds):
            batch = batch_of(workload, number)
            for name in order_of(list(contenders), number):
                sample = time_slice(contenders[name], batch)
                if number >= 0:
                    samples[name].append(sample)
            gc.collect()
    return samples


def measure(workload: Workload, rounds: int) -> Result:
    """One workload: built, checked for equality, timed."""
    contenders = {name: make(workload) for name, make in makers().items()}
    check_equal(workload, contenders)
    samples = run_rounds(workload, contenders, rounds)
    timings = {name: timing_of(values) for name, values in samples.items()}
    return Result(
        workload=workload.name,
        bytes=byte_count(expected(workload, workload.value_sets[0])),
        static_share=static_share(workload),
        timings=timings,
        ratios={
            name: {base: timing.median / timings[base].median for base in BASELINES} for name, timing in timings.items()
        },
    )


def timing_of(samples: Sequence[float]) -> Timing:
    low, _, high = quantiles(samples, n=4)
    return Timing(median(samples), low, high)


def cpu_model() -> str:
    """The processor's name; never the machine's."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if "model name" in line]
    return names[0] if names else platform.processor() or platform.machine()


def environment() -> dict[str, str]:
    """What is compared, and on what."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return {
        "cpu": cpu_model(),
        "python": python,
        **{name: version(name) for name in PEERS},
    }


def environment_text(rounds: int) -> str:
    facts = environment()
    peers = ", ".join(f"{name} {facts[name]}" for name in PEERS)
    return (
        f"{facts['python']} on {facts['cpu']}\n{peers}\n{rounds} interleaved rounds of {CALLS} calls each; µs per call"
    )


def result_text(result: Result, shape: Workload) -> str:
    dynamic = sum(layer.dynamic for layer in shape.layers)
    slots = len(shape.value_sets[0])
    head = (
        f"{result.workload}: {result.bytes:,} bytes, {result.static_share:.0%} static, "
        f"{len(shape.layers)} layers ({dynamic} dynamic), {slots} slots, "
        f"{len(shape.value_sets)} value sets"
    )
    columns = "".join(f"{'/ ' + base:>13}" for base in BASELINES)
    title = f"  {'contender':<11}{'manifest':>9}{'median':>9}{'quartiles':>17}{columns}"
    return "\n".join([head, title, *(row_text(name, result) for name in result.timings)])


def row_text(name: str, result: Result) -> str:
    timing, ratios = result.timings[name], result.ratios[name]
    manifest = "yes" if name in WITH_MANIFEST else "-"
    spread = f"{timing.low:.1f}-{timing.high:.1f}"
    columns = "".join(f"{ratios[base]:>13.2f}" for base in BASELINES)
    return f"  {name:<11}{manifest:>9}{timing.median:>9.2f}{spread:>17}{columns}"


def target_text(target: Target, result: Result) -> str:
    ratio = result.ratios[target.contender][target.baseline]
    verdict = "met" if ratio <= target.limit else "MISSED"
    return f"  {verdict:<7} {target.contender} / {target.baseline} <= {target.limit:g}: {ratio:.3f}"


def report_text(results: Sequence[Result], shapes: Sequence[Workload]) -> str:
    tables = [result_text(*pair) for pair in zip(results, shapes, strict=True)]
    verdicts = [target_text(target, results[0]) for target in TARGETS]
    targets = "\n".join([f"Targets, on {results[0].workload}:", *verdicts])
    return "\n\n".join([*tables, targets])


def report_json(results: Sequence[Result], rounds: int) -> str:
    report = {
        "environment": environment(),
        "rounds": rounds,
        "calls": CALLS,
        "results": [asdict(result) for result in results],
    }
    return json.dumps(report, indent=2)


def positive(text: str) -> int:
    number = int(text)
    if number < 2:
        raise argparse.ArgumentTypeError("at least 2 rounds are needed for quartiles")
    return number


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare prompt assembly, interleaved.")
    parser.add_argument("--rounds", type=positive, default=200)
    parser.add_argument("--json", action="store_true", help="print numbers as JSON")
    options = parser.parse_args()
    shapes = workloads()
    try:
        results = [measure(shape, options.rounds) for shape in shapes]
    except (PeerError, EqualityError) as error:
        print(error, file=sys.stderr)
        return 2
    if options.json:
        print(report_json(results, options.rounds))
    else:
        print(environment_text(options.rounds), report_text(results, shapes), sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
