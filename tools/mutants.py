"""Changes the code a little, many times over: a change that no test notices is a promise nobody keeps.

Each change is tried in a copy of the tree, in an interpreter of its own, against the tests that are the file's promises:
the working tree is never touched. Left alone are docstrings, annotations, decorators, asserts, imports and the names of
types. First shown, per file: the tests pass on the copy, and fail when the copied file does nothing but raise.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from functools import cache
from itertools import count
from math import sqrt
from pathlib import Path
from queue import SimpleQueue
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = 40  # of a property, where a test does not ask for more itself
MEMORY = 4 << 30  # bytes of addresses: a change may make a loop that never stops taking
Function = ast.FunctionDef | ast.AsyncFunctionDef

# What is changed → its promises, those that notice soonest first, and which of them (as pytest's -k).
CORE = "test_encoder test_cutting test_structure test_fill test_quiet test_budget test_order test_manifest test_hashing"
SHARED = ("test_views", "test_fold", "test_decode", "test_lexicon", "test_reading*", "test_files*")
GUARDS = ("test_disclosure*", "test_override*", "test_leak*", "test_rates")
TARGETS: dict[str, tuple[str, Sequence[str], str]] = {
    "core/text.py": ("core", CORE.split(), ""),
    "core/budget.py": ("core", ("test_budget", "test_order", "test_summary", "test_quiet"), ""),
    "core/manifest.py": ("core", ("test_manifest", "test_hashing", "test_quiet"), ""),
    "guards/disclosure*.py": ("guards", ("test_disclosure*", "test_rates"), "disclosure"),
    "guards/leak*.py": ("guards", ("test_leak*", "test_rates"), "leak"),
    "guards/override*.py": ("guards", ("test_override*", "test_rates"), "override"),
    "guards/files.py": ("guards", ("test_files*", "test_rates"), "file"),
    **{f"guards/{name}.py": ("guards", (*SHARED, *GUARDS), "") for name in ("views", "decode", "fold", "lexicon")},
    "guards/reading.py": ("guards", ("test_reading*", *GUARDS, *SHARED), ""),
}

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.Break: ast.Continue, ast.Continue: ast.Break,
}  # fmt: skip
CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}
DEFAULTS = {"bool": "False", "int": "0", "float": "0.0", "str": "''", "list": "[]", "dict": "{}", "tuple": "()"}
TURNED = (ast.Eq, ast.NotEq, ast.In, ast.NotIn, ast.Is, ast.IsNot)  # their swap negates the condition already


@dataclass(frozen=True, slots=True)
class Point:
    """A place in a tree where something else could stand."""

    file: str
    line: int
    kind: str
    holder: ast.AST
    field: str
    index: int | None
    new: ast.AST | None


@dataclass(frozen=True, slots=True)
class Mutant:
    """One changed file; `before` and `after` are the first line that differs."""

    file: str
    line: int
    kind: str
    before: str
    after: str
    source: str


# ── what could stand elsewhere ────────────────────────────────────────────────────────────────────────────────────


def points_of(file: str, node: ast.AST, line: int = 1, within: Function | None = None) -> Iterator[Point]:
    """Every point below a node, in the order of the text."""
    line = getattr(node, "lineno", line)
    within = node if isinstance(node, Function) else within
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for index, child in enumerate(value) if isinstance(value, list) else ((None, value),):
            if isinstance(child, ast.AST) and not is_left_alone(child):
                for kind, new in changes(child, node, name, within):
                    yield Point(file, getattr(child, "lineno", line), kind, node, name, index, new)
                yield from points_of(file, child, line, within)


def is_left_alone(node: ast.AST) -> bool:
    """What says something to a reader or a type checker, and nothing to whoever runs it."""
    match node:
        case ast.Assert() | ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.Subscript(value=ast.Name(id="Literal")):
            return True
        case ast.Call(func=ast.Name(id="TypeVar" | "NewType" | "cast")):
            return True
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            is_type = name.lstrip("_")[:1].isupper() and not name.isupper()
            return is_type or name.startswith("__")
    return False


def changes(node: ast.AST, holder: ast.AST, field: str, within: Function | None) -> Iterator[tuple[str, ast.AST]]:
    """What could stand in a node's place, each with the name of its kind."""
    if type(node) in SWAPS:
        yield "operator" if not isinstance(node, ast.stmt) else "jump", SWAPS[type(node)]()
    if field in ("test", "ifs") and isinstance(node, ast.expr) and not is_turned_elsewhere(node):
        yield "condition", ast.UnaryOp(ast.Not(), node)
    match node:
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield "sign", operand
        case ast.Constant(value=value):
            for other in constants(value):
                yield "constant", ast.Constant(other)
        case ast.Name(id=name) if name in CALLS and field == "func":
            yield "call", ast.Name(CALLS[name], ast.Load())
        case ast.Slice(lower=lower, upper=upper, step=step):
            ends = ((None, upper, step), (lower, None, step), (lower, upper, None))
            yield from (("slice", ast.Slice(*end)) for end in ends if end != (lower, upper, step))
        case ast.Return(value=ast.expr() as value) if within is not None:
            usual = DEFAULTS.get(ast.unparse(within.returns).partition("[")[0] if within.returns else "", "None")
            if ast.unparse(value) != usual:
                yield "return", ast.Return(ast.parse(usual, mode="eval").body)
        case ast.Expr() | ast.AugAssign() | ast.Raise() | ast.Delete():
            yield "dropped", ast.Pass()
        case ast.Assign(targets=[target]) if within and (not isinstance(target, ast.Name) or is_set(target, within)):
            yield "dropped", ast.Pass()


def is_turned_elsewhere(test: ast.expr) -> bool:
    match test:
        case ast.UnaryOp(op=ast.Not()) | ast.Constant():
            return True
        case ast.Compare(ops=[op]):
            return isinstance(op, TURNED)
    return False


def is_set(target: ast.Name, within: Function) -> bool:
    """Whether the name has another value too; without its only one, a name is an error that any test would see."""
    named = [node.id for node in ast.walk(within) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    named += [node.arg for node in ast.walk(within.args) if isinstance(node, ast.arg)]
    return named.count(target.id) > 1


def constants(value: object) -> tuple[object, ...]:
    match value:
        case bool():
            return (not value,)
        case int() | float():
            return (value + 1, value - 1)
        case str():
            return ("" if value else "x",)
        case bytes():
            return (b"" if value else b"x",)
    return ()


def mutant_at(point: Point, tree: ast.Module, plain: str) -> Mutant:
    """The file with this one change; the tree is put back as it was."""
    old = getattr(point.holder, point.field)
    at = point.index
    setattr(point.holder, point.field, point.new if at is None else [*old[:at], point.new, *old[at + 1 :]])
    source = ast.unparse(tree)
    setattr(point.holder, point.field, old)
    lines = zip(plain.split("\n"), source.split("\n"), strict=False)
    before, after = next(((a, b) for a, b in lines if a != b), ("", ""))
    start = max(len(os.path.commonprefix((before.strip(), after.strip()))) - 60, 0)
    shown = ("…" * bool(start) + text.strip()[start : start + 120] for text in (before, after))
    return Mutant(point.file, point.line, point.kind, *shown, source)


# ── trying them ───────────────────────────────────────────────────────────────────────────────────────────────────


def pytest_configure() -> None:
    """Inside a mutant's own process (`-p mutants`): few examples, the same every time, none made small."""
    from hypothesis import HealthCheck, Phase, settings

    settings.register_profile(
        "mutants",
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )
    settings.load_profile("mutants")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


class House:
    """A copy of the tree in which one file at a time is another."""

    def __init__(self, folder: Path, plain: dict[str, str]) -> None:
        self.folder, self.plain = folder, plain
        self.times = count(1)  # a time of its own for each writing: a compiled file is never taken for another's
        for name in ("src", "tests"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        for path in (ROOT / "pyproject.toml", Path(__file__)):
            shutil.copy(path, folder)
        (folder / "tmp").mkdir()
        for file, source in plain.items():  # as `ast` writes them, so that the writing alone is shown to change nothing
            self.write(file, source)

    def write(self, file: str, source: str) -> None:
        path = self.folder / "src/charter" / file
        path.write_text(source)
        os.utime(path, (stamp := next(self.times), stamp))

    def run(self, tests: Sequence[str], limit: float | None = None) -> subprocess.CompletedProcess[str]:
        quiet = [
            word for plugin in ("cacheprovider", "randomly", "xdist", "pytest_cov") for word in ("-p", f"no:{plugin}")
        ]
        environment = os.environ | {"PYTHONPATH": str(self.folder / "src"), "TMPDIR": str(self.folder / "tmp")}
        command = [sys.executable, "-m", "pytest", "-x", "-q", *quiet, "-p", "mutants", *tests]
        return subprocess.run(
            command, cwd=self.folder, env=environment, timeout=limit, capture_output=True, text=True, check=False
        )

    def fate(self, mutant: Mutant, tests: Sequence[str], limit: float) -> str:
        """`killed`, `hung` (which is killed too) or `survived`."""
        self.write(mutant.file, mutant.source)
        try:
            return "killed" if self.run(tests, limit).returncode else "survived"
        except subprocess.TimeoutExpired:
            return "hung"
        finally:
            self.write(mutant.file, self.plain[mutant.file])


def stop(problem: str) -> NoReturn:
    print(problem, file=sys.stderr)
    sys.exit(2)


def limits_of(house: House, tests: dict[str, tuple[str, ...]]) -> dict[str, float]:
    """Seconds a mutant of each file may take: a multiple of what its tests take when nothing is changed."""

    @cache
    def measured(names: tuple[str, ...]) -> float:
        start = time.perf_counter()
        if (done := house.run(names)).returncode:
            stop(f"{done.stdout[-2000:]}{done.stderr[-2000:]}\nthe tests fail before anything is changed: {names}")
        return 10 + 5 * (time.perf_counter() - start)

    found = {file: measured(names) for file, names in tests.items()}
    for file, limit in found.items():
        raising = Mutant(file, 1, "raising", "", "", "raise RuntimeError('this is the copy')")
        if house.fate(raising, tests[file], limit) != "killed":
            stop(f"{file}: its tests pass even when it cannot be imported, so they say nothing about it")
    return found


def try_all(mutants: Sequence[Mutant], tests: dict[str, tuple[str, ...]], jobs: int) -> list[str]:
    """The fate of each, in order."""
    plain = {file: ast.unparse(ast.parse((ROOT / "src/charter" / file).read_text())) for file in tests}
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        houses: SimpleQueue[House] = SimpleQueue()
        first = House(Path(folder, "0"), plain)
        limits = limits_of(first, tests)
        for house in (first, *(House(Path(folder, str(job)), plain) for job in range(1, jobs))):
            houses.put(house)

        def tried(mutant: Mutant) -> str:
            house = houses.get()
            try:
                return house.fate(mutant, tests[mutant.file], limits[mutant.file])
            finally:
                houses.put(house)

        fates: list[str] = []
        with ThreadPoolExecutor(jobs) as pool:
            for mutant, fate in zip(mutants, pool.map(tried, mutants), strict=True):
                fates.append(fate)
                print(f"{len(fates)}/{len(mutants)} {fate} {mutant.file}:{mutant.line}", file=sys.stderr, flush=True)
    return fates


# ── telling ───────────────────────────────────────────────────────────────────────────────────────────────────────


def tests_of(row: tuple[str, Sequence[str], str]) -> tuple[str, ...]:
    folder, names, words = row
    found = [path for name in names for path in sorted((ROOT / "tests" / folder).glob(f"{name}.py"))]
    return (*dict.fromkeys(str(path.relative_to(ROOT)) for path in found), *(("-k", words) if words and found else ()))


def interval(killed: int, total: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's: where the share of all possible changes lies, 95 times of 100."""
    share, spread = killed / total, z * z / total
    half = z * sqrt(share * (1 - share) / total + spread / (4 * total))
    return (share + spread / 2 - half) / (1 + spread), (share + spread / 2 + half) / (1 + spread)


def tell(mutants: Sequence[Mutant], fates: Sequence[str], *, of: int, as_json: bool) -> float:
    """Prints what became of them; the share that was noticed."""
    lost = [mutant for mutant, fate in zip(mutants, fates, strict=True) if fate == "survived"]
    rows = {file: [f for m, f in zip(mutants, fates, strict=True) if m.file == file] for file in
            sorted({mutant.file for mutant in mutants})}  # fmt: skip
    total, killed = len(mutants), len(mutants) - len(lost)
    low, high = interval(killed, total)
    if as_json:
        survivors = [{k: v for k, v in asdict(mutant).items() if k != "source"} for mutant in lost]
        files = {file: {"killed": len(f) - f.count("survived"), "hung": f.count("hung"), "total": len(f)}
                 for file, f in rows.items()}  # fmt: skip
        print(json.dumps({"killed": killed, "total": total, "points": of, "interval": [low, high], "files": files,
                          "survivors": survivors}, indent=2))  # fmt: skip
        return killed / total
    for mutant in lost:
        print(f"src/charter/{mutant.file}:{mutant.line}  {mutant.kind}\n    {mutant.before}\n  → {mutant.after}")
    for file, found in rows.items():
        print(f"{len(found) - found.count('survived'):4} of {len(found):3}  {file}")
    print(f"{killed:4} of {total:3}  killed: {killed / total:.1%} ({low:.1%} to {high:.1%}), of {of} possible changes")
    return killed / total


def main() -> None:
    asked = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    asked.add_argument("--sample", type=int, default=300, help="how many changes are tried at most")
    asked.add_argument("--seed", type=int, default=1, help="which ones")
    asked.add_argument("--only", action="append", help="a file or pattern such as core/text.py, or core/text.py:120")
    asked.add_argument("--jobs", type=int, default=2)
    asked.add_argument("--floor", type=float, default=0.85, help="the share that must be killed")
    asked.add_argument("--json", action="store_true")
    told = asked.parse_args()

    tests = {
        str(path.relative_to(ROOT / "src/charter")): names
        for pattern, row in TARGETS.items()
        for path in sorted((ROOT / "src/charter").glob(pattern))
        if (names := tests_of(row))
    }
    trees = {file: ast.parse((ROOT / "src/charter" / file).read_text()) for file in tests}
    points = [point for file, tree in trees.items() for point in points_of(file, tree)]
    if told.only:
        points = [p for p in points if any(fnmatch(n, o) for o in told.only for n in (p.file, f"{p.file}:{p.line}"))]
    if not points:
        stop("nothing to change; name a file as it stands in src/charter, such as core/text.py")
    chosen = random.Random(told.seed).sample(points, min(told.sample, len(points)))
    mutants = [mutant_at(point, trees[point.file], ast.unparse(trees[point.file])) for point in chosen]
    fates = try_all(mutants, {file: tests[file] for file in sorted({m.file for m in mutants})}, told.jobs)
    sys.exit(tell(mutants, fates, of=len(points), as_json=told.json) < told.floor)


if __name__ == "__main__":
    main()
