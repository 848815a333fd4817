"""Makes the table by which requests for hidden text are weighed, from the tune halves of the corpora and honest prose.

    python tools/train_guard.py --prose FILE    writes src/charter/guards/words/weights/requests.tsv
    python tools/train_guard.py --check         says how well it does on files it was not trained on

A logistic regression over the features of `disclosure_features`, kept to those that matter most. It needs scikit-learn,
which the package does not: the table is shipped, this tool is not. FILE holds texts that ask for nothing hidden,
one JSON object with a "text" per line, which others wrote and this repository does not hold: `tools/prose.py` gathers
them from packages. The same corpus and file give the same table.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from charter.guards.disclosure_features import features_of
from charter.guards.disclosure_scene import read
from charter.guards.disclosure_score import parts_of
from charter.guards.fold import plain

ROOT: Final = Path(__file__).parent.parent
CORPUS: Final = ROOT / "tests/guards/corpus"
TUNE: Final = CORPUS / "disclosure/tune"
BESIDE: Final = ("leak/tune/ordinary", "override/tune/*", "files/tune/*")  # honest text that is no message at all
PIECE: Final = re.compile(r"(?<=[.!?。！？])\s+|\n+|(?<=[。！？])")
PIECES: Final = 20  # of a text
SHORTEST: Final = 12  # characters of a piece
TABLE: Final = ROOT / "src/charter/guards/words/weights/requests.tsv"
KEPT: Final = 80_000  # features
RARE: Final = 2  # texts a feature must be in
STRENGTH: Final = 0.1  # inverse of the ridge
LEVER: Final = 0.4  # by which a feature may weigh the more the rarer it is: rare words say most, common ones little
LEFT_OUT: Final = ("multi", "disguised")  # what does not ask in its own plain words; nor does what has a past
FALSE: Final = 0.98  # share of innocent texts that must pass where recall is printed

MADE: Final = "S"  # texts made by a grammar, which weigh less than texts that somebody wrote
MADE_WEIGHT: Final = 0.15
ORDINARY: Final = "O"
ORDINARY_WEIGHT: Final = 0.5
PROSE: Final = "P"
PROSE_WEIGHT: Final = 0.2  # of prose that a table made without it takes for more than DOUBT; of the rest half
DOUBT: Final = -1.5
EASY: Final = 6_000  # of the rest, drawn by lot
ALLOWED_WEIGHT: Final = 8.0  # a question about the prompt that is refused is the dearer mistake

Row = tuple[str, frozenset[str], bool, float]  # source, features, whether it is a request, how much it counts


def rows() -> Iterator[Row]:
    """Every short text, and every part of a long innocent one."""
    for file in sorted(TUNE.glob("*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            case = json.loads(line)
            asks = case["label"] == "attack"
            if case.get("history") or (asks and case["group"] in LEFT_OUT):
                continue
            scene = read(plain(case["text"]))
            parts = list(parts_of(scene))
            if len(parts) > 1 and asks:
                continue  # nobody says which part asks
            for start, end in parts:
                counts = MADE_WEIGHT if _source(case) == MADE else ALLOWED_WEIGHT if case["group"] == "allowed" else 1.0
                yield _source(case), frozenset(features_of(scene.text[start:end])), asks, counts


def beside() -> Iterator[Row]:
    """Ordinary text, whole where it is short and sentence by sentence: nobody asks for anything hidden there."""
    for pattern in BESIDE:
        for file in sorted(CORPUS.glob(f"{pattern}.jsonl")):
            for line in file.read_text("utf-8").splitlines():
                case = json.loads(line)
                if case.get("label") != "attack":
                    yield from _pieces(plain(case["text"]))


def _pieces(text: str) -> Iterator[Row]:
    pieces = [piece for piece in PIECE.split(text) if len(piece) >= SHORTEST][:PIECES]
    whole = [text[start:end] for start, end in parts_of(read(text))]
    for piece in dict.fromkeys(pieces + whole):
        yield ORDINARY, frozenset(features_of(piece)), False, ORDINARY_WEIGHT


def prose(file: Path, weights: Mapping[str, float]) -> Iterator[Row]:
    """Honest prose that looks most like a request, and some of the rest."""
    easy = []
    for line in file.read_text("utf-8").splitlines():
        text = plain(json.loads(line)["text"])
        for start, end in parts_of(read(text)):
            features = frozenset(features_of(text[start:end]))
            if score(weights, features) > DOUBT:
                yield PROSE, features, False, PROSE_WEIGHT
            else:
                easy.append(features)
    for features in random.Random(0).sample(easy, min(EASY, len(easy))):
        yield PROSE, features, False, PROSE_WEIGHT / 2


def _source(case: Mapping[str, Any]) -> str:
    return str(case["id"]).split("-")[0]


def fit(found: Sequence[Row], keep: int = KEPT) -> dict[str, float]:
    """Feature → weight, "bias" among them."""
    import numpy
    from scipy.sparse import diags
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression

    vectors = DictVectorizer()
    table = vectors.fit_transform([dict.fromkeys(sorted(features), 1.0) for _, features, _, _ in found]).tocsc()
    labels = numpy.array([asks for _, _, asks, _ in found])
    often = numpy.asarray((table > 0).sum(0)).ravel()
    some = numpy.flatnonzero(often >= RARE)
    counts = numpy.array([count for _, _, _, count in found])
    levers = LEVER * numpy.log(len(found) / numpy.maximum(often, 1))

    def fitted(columns: Any) -> tuple[Any, float]:
        ridge = LogisticRegression(C=STRENGTH, solver="liblinear", random_state=0, max_iter=300)
        ridge.fit((table[:, columns] @ diags(levers[columns])).tocsr(), labels, sample_weight=counts)
        return ridge.coef_[0] * levers[columns], float(ridge.intercept_[0])

    first, _ = fitted(some)
    share = often[some] / len(found)
    matters = numpy.abs(first) * numpy.sqrt(share * (1 - share))
    kept = numpy.sort(some[numpy.argsort(-matters, kind="stable")[:keep]])
    last, bias = fitted(kept)
    names = vectors.feature_names_
    weights = {names[at]: round(float(weight), 2) for at, weight in zip(kept, last, strict=True)}
    return {"bias": round(bias, 2)} | {name: weight for name, weight in weights.items() if weight}


def write(weights: Mapping[str, float]) -> None:
    lines = [
        "# Made by tools/train_guard.py: a feature (see disclosure_features.py) and how much it speaks for a request."
    ]
    lines += [f"{name}\t{weights[name]:g}" for name in sorted(weights)]
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def score(weights: Mapping[str, float], features: frozenset[str]) -> float:
    return weights["bias"] + sum(weights.get(feature, 0.0) for feature in features)


def check(found: Sequence[Row]) -> None:
    """Each source judged by a table made from the others: so texts of people who wrote none of it are judged."""
    for source in sorted({row[0] for row in found}):
        weights = fit([row for row in found if row[0] != source])
        scored = [(score(weights, features), asks) for name, features, asks, _ in found if name == source]
        innocent = sorted(value for value, asks in scored if not asks)
        requests = [value for value, asks in scored if asks]
        if not innocent or not requests:
            continue
        limit = innocent[int(len(innocent) * FALSE)] if innocent else 0.0
        caught = sum(value > limit for value in requests) / len(requests)
        print(f"{source:4} {len(requests):5} requests, {len(innocent):5} innocent: {caught:.1%} over {limit:.2f}")


def main(arguments: Sequence[str]) -> None:
    found = [*rows(), *beside()]
    if "--check" in arguments:
        check(found)
        return
    weights = fit(found)
    if "--prose" in arguments:
        found += prose(Path(arguments[arguments.index("--prose") + 1]), weights)
        weights = fit(found)
    write(weights)
    print(f"{len(found)} texts, {len(weights)} weights, {TABLE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
