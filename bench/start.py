"""Start-up is measured in fresh processes, beside a Python that does nothing."""

import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter_ns

ROUNDS = 15
BARE = "python -c pass"


def commands() -> dict[str, list[str]]:
    """What is started, by the name it is reported under."""
    script = Path(sys.executable).parent / "charter"
    return {
        BARE: [sys.executable, "-c", "pass"],
        "import charter": [sys.executable, "-c", "import charter"],
        "charter --help": [str(script), "--help"],
    }


def wall_time(command: list[str]) -> float:
    """Milliseconds from start to exit; a failing command raises."""
    begin = perf_counter_ns()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return (perf_counter_ns() - begin) / 1_000_000


def measure(wanted: dict[str, list[str]]) -> dict[str, float]:
    """Median milliseconds per command; one round untimed, then interleaved."""
    for command in wanted.values():
        wall_time(command)
    names = list(wanted)
    samples: dict[str, list[float]] = {name: [] for name in names}
    for number in range(ROUNDS):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            samples[name].append(wall_time(wanted[name]))
    return {name: median(values) for name, values in samples.items()}


def main() -> int:
    wanted = commands()
    try:
        medians = measure(wanted)
    except FileNotFoundError as error:
        print(f"{error.filename} is missing; run: pip install -e .", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as error:
        print(f"{error.cmd} exited with {error.returncode}", file=sys.stderr)
        return 2
    print(f"start-up, median of {ROUNDS} fresh processes, milliseconds")
    print(f"  {'command':<16}{'wall':>8}{'over bare':>11}")
    for name, wall in medians.items():
        print(f"  {name:<16}{wall:>8.1f}{wall - medians[BARE]:>11.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
