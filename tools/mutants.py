"""Changes the code a little, many times over: a change that no test notices is a promise nobody keeps.

Each is tried in a copy of the tree, in an interpreter of its own, against the tests that are the file's promises; the
working tree is never touched. Left alone are docstrings, annotations, decorators, asserts, imports and names of types.
First it is shown, per file, that the tests pass on the copy, and fail when the copied file does nothing but raise.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from itertools import count
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = 40  # of a property, where its test does not ask for more
MEMORY = 4 << 30  # bytes of addresses: a changed loop may never stop taking
SECONDS = "MUTANT_SECONDS"  # of work that a process may do, however long it has to wait for its turn
PATIENCE = 20  # times as long may it take
Function = ast.FunctionDef | ast.AsyncFunctionDef
Stage = tuple[str, ...]  # what pytest is told
Tests = Mapping[str, Sequence[Stage]]  # of each file
Mutant = tuple["Point", str]  # with the changed source of its file
Tried = tuple[Mutant, str]  # with its fate

# What is changed → the folder of its promises; their names, those after | only if it lives on; which of them (-k).
STEADY = "not work_grows"  # a test of time could fail for another reason
GUARDS = "views* reading* disclosure* override* leak* files*"
SHARED = ("bonds", "decode", "fold", "joining", "lexicon", "reading", "views")
TARGETS = {
    "core/text.py": ("core", "encoder structure fill | *", STEADY),
    "core/cutting.py": ("core", "cutting findings | *", STEADY),
    "core/budget.py": ("core", "budget | *", STEADY),
    "core/manifest.py": ("core", "manifest hashing | *", STEADY),
    "guards/disclosure*.py": ("guards", "known | disclosure*", "disclosure"),
    "guards/override*.py": ("guards", "known | override* weighing*", "override or weighing"),
    "guards/leak*.py": ("guards", "known | leak*", "leak"),
    "guards/files*.py": ("guards", "known | files*", "file"),
    **{f"guards/{name}*.py": ("guards", f"known | {name}* quick_ways | {GUARDS}", "") for name in SHARED},
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


class Point(NamedTuple):
    """A place in a tree where something else could stand."""

    file: str
    line: int
    kind: str
    holder: ast.AST
    field: str
    at: int | None
    new: ast.AST


def points_of(file: str, node: ast.AST, line: int = 1, within: Function | None = None) -> Iterator[Point]:
    """Every point below a node."""
    line = getattr(node, "lineno", line)
    within = node if isinstance(node, Function) else within
    for name in sorted({*node._fields} - {"annotation", "returns", "decorator_list"}):
        value = getattr(node, name)
        for index, child in enumerate(value) if isinstance(value, list) else ((None, value),):
            if isinstance(child, ast.AST) and not is_left_alone(child):
                for kind, new in changes(child, name, within):
                    yield Point(file, getattr(child, "lineno", line), kind, node, name, index, new)
                yield from points_of(file, child, line, within)


def is_left_alone(node: ast.AST) -> bool:
    """What says something to a reader or a type checker, and nothing to whoever runs it."""
    match node:
        case ast.Assert() | ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.Subscript(value=ast.Name(id="Literal")):
            return True
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name.startswith("__") or (name.lstrip("_")[:1].isupper() and not name.isupper())
    return isinstance(node, ast.Call) and ast.unparse(node.func) in ("TypeVar", "NewType", "cast")


def changes(node: ast.AST, field: str, within: Function | None) -> Iterator[tuple[str, ast.AST]]:
    """What could stand in a node's place, each with the name of its kind."""
    if type(node) in SWAPS:
        yield "swapped", SWAPS[type(node)]()
    if field in ("test", "ifs", "guard") and isinstance(node, ast.expr) and not is_negated_elsewhere(node):
        yield "negated", ast.UnaryOp(ast.Not(), node)
    match node:
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield "sign", operand
        case ast.Constant(value=bool() | str() as value):
            yield "constant", ast.Constant(not value if isinstance(value, bool) else "" if value else "x")
        case ast.Constant(value=int() | float() as value):
            yield from (("constant", ast.Constant(other)) for other in (value + 1, value - 1))
        case ast.Name(id=name) if name in CALLS and field == "func":
            yield "swapped", ast.Name(CALLS[name], ast.Load())
        case ast.Slice(lower=lower, upper=upper, step=step):
            ends = ((None, upper, step), (lower, None, step), (lower, upper, None))
            yield from (("slice", ast.Slice(*end)) for end in ends if end != (lower, upper, step))
        case ast.Return(value=ast.expr() as given) if within is not None:
            usual = DEFAULTS.get(ast.unparse(within.returns).partition("[")[0] if within.returns else "", "None")
            if ast.unparse(given) != usual:
                yield "return", ast.Return(ast.parse(usual, mode="eval").body)
        case ast.Expr() | ast.AugAssign() | ast.Raise() | ast.Delete():
            yield "dropped", ast.Pass()
        case ast.Assign(targets=[target]) if within and (not isinstance(target, ast.Name) or is_set(target, within)):
            yield "dropped", ast.Pass()


def is_negated_elsewhere(test: ast.expr) -> bool:
    if isinstance(test, ast.Compare):
        return isinstance(test.ops[0], ast.Eq | ast.NotEq | ast.In | ast.NotIn | ast.Is | ast.IsNot)
    return isinstance(test, ast.Constant) or isinstance(getattr(test, "op", None), ast.Not)


def is_set(target: ast.Name, within: Function) -> bool:
    """Whether the name has another value too: without its only one, it is an error that any test would see."""
    named = [node.id for node in ast.walk(within) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return (named + [node.arg for node in ast.walk(within.args) if isinstance(node, ast.arg)]).count(target.id) > 1


def changed(point: Point, tree: ast.Module) -> str:
    """The file with this one change; the tree is put back as it was."""
    old, at = getattr(point.holder, point.field), point.at
    setattr(point.holder, point.field, point.new if at is None else [*old[:at], point.new, *old[at + 1 :]])
    source = ast.unparse(tree)
    setattr(point.holder, point.field, old)
    return source


def pytest_configure() -> None:
    """Inside a mutant's own process (`-p mutants`): few examples, the same every time, none made small."""
    from hypothesis import HealthCheck, Phase, settings

    few = settings(max_examples=EXAMPLES, derandomize=True, deadline=None, phases=(Phase.explicit, Phase.generate))
    settings.register_profile("mutants", few, suppress_health_check=list(HealthCheck))
    settings.load_profile("mutants")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    if limit := os.environ.get(SECONDS):
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 1))


class House:
    """A copy of the tree in which one file at a time is another."""

    def __init__(self, folder: Path, plain: Mapping[str, str]) -> None:
        self.folder, self.plain = folder, plain
        self.times = count(1)  # each writing has a time of its own, so no compiled file is taken for another's
        for name in ("src", "tests"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        for path in (ROOT / "pyproject.toml", Path(__file__)):
            shutil.copy(path, folder)
        for file, source in plain.items():  # as `ast` writes them: that this alone changes nothing is shown too
            self.write(file, source)

    def write(self, file: str, source: str) -> None:
        path = self.folder / "src/charter" / file
        path.write_text(source)
        os.utime(path, (stamp := next(self.times), stamp))

    def run(self, stage: Stage, limit: int | None = None) -> subprocess.CompletedProcess[str]:
        without = [f"-pno:{plugin}" for plugin in ("cacheprovider", "randomly", "xdist", "pytest_cov")]
        command = [sys.executable, "-m", "pytest", "-x", "-q", *without, "-pmutants", *stage]
        places = {"PYTHONPATH": str(self.folder / "src"), "TMPDIR": str(self.folder), SECONDS: str(limit or "")}
        patience = PATIENCE * limit if limit else None
        given: dict[str, Any] = {"cwd": self.folder, "env": os.environ | places, "timeout": patience}
        return subprocess.run(command, capture_output=True, text=True, check=False, **given)

    def fate(self, file: str, source: str, stages: Mapping[Stage, int]) -> str:
        """`killed`, `hung` (which is killed too) or `survived`."""
        self.write(file, source)
        try:
            code = next(filter(None, (self.run(*stage).returncode for stage in stages.items())), 0)
            return "hung" if code in (-signal.SIGXCPU, -signal.SIGKILL) else "killed" if code else "survived"
        except subprocess.TimeoutExpired:
            return "hung"
        finally:
            self.write(file, self.plain[file])


def limits_of(house: House, tests: Tests) -> dict[str, dict[Stage, int]]:
    """Seconds of work a mutant of each file may do: a multiple of what its tests do when nothing is changed.

    The quickest tests come first: most changes need no others.
    """
    limits: dict[Stage, int] = {}
    for stage in dict.fromkeys(stage for stages in tests.values() for stage in stages):
        before = worked()
        if (done := house.run(stage)).returncode:
            sys.exit(f"{done.stdout[-2000:]}{done.stderr[-2000:]}\nthe tests fail before any change: {stage}")
        limits[stage] = int(10 + 4 * (worked() - before))
    found = {
        file: {stage: limits[stage] for stage in sorted(stages, key=limits.__getitem__)}
        for file, stages in tests.items()
    }
    for file, stages in found.items():
        if house.fate(file, "raise RuntimeError('the copy is what is imported')", stages) != "killed":
            sys.exit(f"{file}: its tests pass when it cannot even be imported, so they say nothing about it")
    return found


def worked() -> float:
    """Seconds of work that processes which have ended did."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def try_all(mutants: Sequence[Mutant], tests: Tests, plain: Mapping[str, str], jobs: int) -> list[Tried]:
    """Each with its fate, in the order of the files."""
    done = count(1)

    def tried(house: House, point: Point, source: str) -> Tried:
        fate = house.fate(point.file, source, limits[point.file])
        print(f"{next(done)}/{len(mutants)} {fate} {point.file}:{point.line}", file=sys.stderr, flush=True)
        return (point, source), fate

    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(jobs) as pool:
        houses = [House(Path(folder, str(job)), plain) for job in range(jobs)]
        limits = limits_of(houses[0], {file: tests[file] for file in plain})
        shares = pool.map(lambda job: [tried(houses[job], *mutant) for mutant in mutants[job::jobs]], range(jobs))
        return sorted((each for share in shares for each in share), key=lambda each: each[0][0][:2])


def stages_of(folder: str, names: str, word: str) -> list[Stage]:
    """The tests of a target that are there, each in one stage."""
    stages: dict[str, int] = {}
    for number, some in enumerate(names.split("|")):
        for path in (path for name in some.split() for path in sorted(ROOT.glob(f"tests/{folder}/test_{name}.py"))):
            stages.setdefault(str(path.relative_to(ROOT)), number)
    parts = ([path for path, stage in stages.items() if stage == number] for number in sorted({*stages.values()}))
    return [(*part, "-k", word) if word else tuple(part) for part in parts]


def shown(point: Point, source: str, plain: str) -> dict[str, str]:
    """A change as a reader wants it: where, of what kind, and the first line that differs."""
    pairs = zip(plain.split("\n"), source.split("\n"), strict=False)
    before, after = next(((one.strip(), other.strip()) for one, other in pairs if one != other), ("", ""))
    same = next((n for n, (one, other) in enumerate(zip(before, after, strict=False)) if one != other), 0)
    seen = slice(max(same - 70, 0), same + 50)
    return {"at": f"{point.file}:{point.line}", "kind": point.kind, "before": before[seen], "after": after[seen]}


def result(tried: Sequence[Tried], plain: Mapping[str, str], points: int) -> dict[str, Any]:
    lost = [shown(point, source, plain[point.file]) for (point, source), fate in tried if fate == "survived"]
    fates = {file: [fate for (point, _), fate in tried if point.file == file] for file in plain}
    killed, total = len(tried) - len(lost), len(tried)
    share, spread = killed / total, 1.96**2 / total  # Wilson's interval: where the share of all changes lies, at 95 %
    middle, half = share + spread / 2, sqrt(spread * share * (1 - share) + spread**2 / 4)
    interval = [(middle - half) / (1 + spread), (middle + half) / (1 + spread)]
    files = {file: {"total": len(found)} | Counter(found) for file, found in fates.items()}
    counts = {"killed": killed, "total": total, "points": points, "share": share, "interval": interval}
    return counts | {"files": files, "survivors": lost}


def tell(found: Mapping[str, Any]) -> None:
    for one in found["survivors"]:
        print(f"src/charter/{one['at']}  {one['kind']}\n    {one['before']}\n  → {one['after']}")
    for file, row in found["files"].items():
        print(f"{row['total'] - row.get('survived', 0):4} of {row['total']:3}  {file}  ({row.get('hung', 0)} hung)")
    print(f"{found['killed']:4} of {found['total']:3}  of {found['points']:,} possible changes:", end=" ")
    print("{:.1%} killed, 95 % interval {:.1%} to {:.1%}".format(found["share"], *found["interval"]))


def main() -> None:
    asked = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    asked.add_argument("--sample", type=int, default=300, help="how many changes are tried at most")
    asked.add_argument("--seed", type=int, default=1, help="which ones")
    asked.add_argument(
        "--only", action="append", help="core/text.py, guards/leak*.py, core/text.py:120; again for more"
    )
    asked.add_argument("--jobs", type=int, default=2)
    asked.add_argument("--floor", type=float, default=0.85, help="the share that must be killed")
    asked.add_argument("--json", action="store_true")
    told = asked.parse_args()
    code = ROOT / "src/charter"
    rows = ((path, row) for name, row in TARGETS.items() for path in sorted(code.glob(name)))
    tests = {str(path.relative_to(code)): stages_of(*row) for path, row in rows}
    trees = {file: ast.parse((code / file).read_text()) for file in tests}
    wanted = [only if ":" in only else f"{only}:*" for only in told.only or ("*",)]
    points = [point for file, tree in trees.items() for point in points_of(file, tree)]
    points = [one for one in points if any(fnmatch(f"{one.file}:{one.line}", pattern) for pattern in wanted)]
    if not points:
        sys.exit("nothing to change; name files as they stand in src/charter, such as core/text.py")
    if untested := {point.file for point in points if not tests[point.file]}:
        sys.exit(f"no tests are there for {', '.join(sorted(untested))}; write them, or name other files with --only")
    chosen = random.Random(told.seed).sample(points, min(told.sample, len(points)))
    mutants = [(point, changed(point, trees[point.file])) for point in chosen]
    plain = {file: ast.unparse(trees[file]) for file in sorted({point.file for point in chosen})}
    found = result(try_all(mutants, tests, plain, told.jobs), plain, len(points))
    print(json.dumps(found, indent=2)) if told.json else tell(found)
    sys.exit(found["share"] < told.floor)


if __name__ == "__main__":
    main()
