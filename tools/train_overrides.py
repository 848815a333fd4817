"""Weights of `charter.guards.override_weighed` from the tuning half and honest prose: same texts, same table.

A linear machine with squared hinge loss, fitted by coordinate descent in its dual, over the features that the guard
itself reads. Which sentence of a hostile text is the hostile one nobody says: the heaviest of each text, by a first
fit, is an example of its own in the second. The features that matter most are kept and fitted once more. `--check`
leaves out one source at a time (never single texts, whose siblings would tell) and says how many of its attacks are
stopped at 3 % of its honest texts. It needs scikit-learn, which the package does not.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import log, sqrt
from pathlib import Path
from typing import Any, Final, NamedTuple

from charter.guards.bonds_scene import found_in
from charter.guards.override_weighed import Bag, bags_of, stretches_of
from charter.guards.reading import Reading
from charter.guards.views import views_of
from charter.guards.weighing import Weights, piece_features, weight_of

ROOT: Final = Path(__file__).resolve().parent.parent
CORPUS: Final = ROOT / "tests" / "guards" / "corpus"
TABLE: Final = ROOT / "src" / "charter" / "guards" / "words" / "weights" / "override.tsv"
BIAS: Final = "(bias)"
COST: Final = 0.02
KEPT: Final = 200_000  # features of the table
AGAIN: Final = {"stated": 4}  # what the tests state must hold: its texts count so many times
QUOTED: Final = 3  # times that an honest text counts which quotes or forbids an attack: the dearest mistake
PROSE: Final = 12_000  # pieces of honest prose
RARE: Final = 0.3
OFTEN: Final = 2  # texts in which a feature must stand
PASSES: Final = 25
SAYING: Final = 3  # words of a sentence that says something by itself
APART: Final = frozenset(("erosion", "hidden"))  # judged by history, or by other signs than words
EASY: Final = 0.03  # of honest texts may be stopped


class Example(NamedTuple):
    """A text, or a stretch of one: how often each feature stands in it, over the root of its words."""

    values: Mapping[str, float]
    hostile: bool
    source: str


class Text(NamedTuple):
    """What a text is learned from: stretches of it, and its sentences, if it has several."""

    stretches: Sequence[Example]
    sentences: Sequence[Example]


def cases(guard: str) -> Iterator[Mapping[str, Any]]:
    for path in sorted((CORPUS / guard / "tune").glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            if line.strip():
                yield {"file": path.stem, **json.loads(line)}


def prose(file: Path) -> Iterator[Text]:
    """Some of the pieces that `tools/prose.py` gathers: what is said of things lifts no rule."""
    texts = [json.loads(line)["text"] for line in file.read_text("utf-8").splitlines()]
    for text in random.Random(0).sample(texts, min(PROSE, len(texts))):
        yield read(text, False, "prose")


def texts() -> Iterator[Text]:
    """Edits as they are; of files, the hostile passage, and all stretches of honest ones."""
    for case in cases("override"):
        if case["group"] not in APART:
            again = QUOTED if case["group"] == "quoting" else AGAIN.get(case["file"], 1)
            yield read(case["text"], case["label"] == "attack", case.get("batch", case["file"]), again)
    for case in cases("files"):
        if case["group"] not in ("hidden", "encoded", "token"):
            yield read(case.get("needle", case["text"]), case["label"] == "attack", f"files {case['file']}")


def read(text: str, hostile: bool, source: str, again: int = 1) -> Text:
    """A hostile text is one example, wherever its sting is; of an honest one every stretch must pass."""
    reading = Reading(views_of(text).plain.text)
    bags = bags_of(reading, list(found_in(reading)))
    stretches = [(0, len(bags), len(reading.words))] if hostile else list(stretches_of(bags))
    whole = [Example(_values(bags[first:last], size), hostile, source) for first, last, size in stretches]
    sizes = [bag.sentence.last - bag.sentence.first for bag in bags]
    single = [
        Example(_values([bag], size), hostile, source)
        for bag, size in zip(bags, sizes, strict=True)
        if len(bags) > 1 and size >= SAYING
    ]
    return Text(whole * again, single)


def _values(bags: Sequence[Bag], size: int) -> Mapping[str, float]:
    one = weight_of(1.0, size, Weights(0.0, {}))
    counted = Counter(feature for bag in bags for feature in (*bag.features, *piece_features(bag.words)))
    return {BIAS: 1.0, **{feature: one * often for feature, often in counted.items()}}


# ── fitting ───────────────────────────────────────────────────────────────────────────────────────────────────────


def trained(texts: Sequence[Text], kept: int = KEPT) -> dict[str, float]:
    """Feature → weight, of the features that matter most; rare ones may weigh more than those that all texts have."""
    found = [example for text in texts for example in text.stretches]
    often = Counter(feature for example in found for feature in example.values)
    scales = {name: RARE * log(len(found) / count) for name, count in often.items() if count >= OFTEN}
    scales[BIAS] = 1.0
    first = fitted(found, scales)
    found += [max(text.sentences, key=lambda one: said(one, first)) for text in texts if text.sentences]
    second = fitted(found, scales)
    matter = sorted(second, key=lambda name: (-abs(second[name]) * sqrt(often[name]), name))
    return fitted(found, {name: scales[name] for name in {BIAS, *matter[:kept]}})


def said(example: Example, weights: Mapping[str, float]) -> float:
    """What an example weighs."""
    return sum(weights.get(name, 0.0) * value for name, value in example.values.items())


def fitted(found: Sequence[Example], scales: Mapping[str, float]) -> dict[str, float]:
    """Dual coordinate descent; both classes weigh the same."""
    import numpy
    from scipy.sparse import csr_matrix
    from sklearn.svm import LinearSVC

    names = sorted(scales)
    place = {name: at for at, name in enumerate(names)}
    scale = numpy.array([scales[name] for name in names])
    held = [[name for name in example.values if name in place] for example in found]
    ends = numpy.cumsum([0, *map(len, held)])
    columns = numpy.fromiter((place[name] for row in held for name in row), numpy.int32, ends[-1])
    counts = (example.values[name] for example, row in zip(found, held, strict=True) for name in row)
    values = numpy.fromiter(counts, float, ends[-1]) * scale[columns]
    rows = csr_matrix((values, columns, ends), shape=(len(found), len(names)))
    rows.sort_indices()
    machine = LinearSVC(C=COST, class_weight="balanced", fit_intercept=False, random_state=7, max_iter=PASSES)
    machine.fit(rows, [example.hostile for example in found])
    return dict(zip(names, (machine.coef_[0] * scale).tolist(), strict=True))


# ── what came of it ───────────────────────────────────────────────────────────────────────────────────────────────


def write(weights: Mapping[str, float]) -> None:
    rounded = {name: round(weight, 3) for name, weight in weights.items()}
    lines = [f"{name}\t{weight:g}" for name, weight in sorted(rounded.items(), key=_order) if weight or name == BIAS]
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text("\n".join(["# feature<TAB>weight, by tools/train_overrides.py", *lines, ""]), encoding="utf-8")


def _order(pair: tuple[str, float]) -> tuple[bool, float, str]:
    return pair[0] != BIAS, -abs(pair[1]), pair[0]


def check(found: Sequence[Text]) -> None:
    sources = defaultdict(list)
    for text in found:
        for example in text.stretches:
            sources[example.source].append(example)
    for source, left_out in sources.items():
        weights = trained([text for text in found if all(one.source != source for one in text.stretches)])
        sums: dict[bool, list[float]] = {True: [], False: []}
        for example in left_out:
            sums[example.hostile].append(said(example, weights))
        honest = sorted(sums[False])
        limit = honest[int(len(honest) * (1 - EASY))] if honest else 0.0
        stopped = sum(weight > limit for weight in sums[True])
        print(f"{source:24} {stopped:4} of {len(sums[True]):4} at {limit:6.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--prose", type=Path, help="honest prose, one JSON object with a text per line")
    asked = parser.parse_args()
    found = [*texts(), *(prose(asked.prose) if asked.prose else ())]
    if asked.check:
        check(found)
    else:
        write(trained(found))


if __name__ == "__main__":
    main()
