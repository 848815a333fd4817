"""What the guards are known to judge wrongly, case by case: a change for better or worse shows in known.txt.

`UPDATE_GOLDEN=1 pytest tests/guards/test_known.py` writes the lists anew; read the difference before you commit it.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import pytest

from charter.guards import scan_reply

from .leaks import leaks, pieces
from .measure import CORPUS, GUARDS, HALVES, missed, prompts, rows

pytestmark = pytest.mark.requirement("N-08")
LEARNED = {
    "batches",
    "fresh",
    "later",
    "latest",
    "made",
    "pairs",
    "recent",
}  # files that the table of weights is mostly made from: rates say enough of them
SOME = 6  # of the hidden prompts, every so-manieth


def wrong(guard: str) -> Iterator[str]:
    if guard != "leak":
        yield from (case["id"] for half in HALVES for case in missed(guard, half, without=LEARNED))
        return
    for half in HALVES:
        hidden = prompts(half)
        for file in ("semantic", "innocent", "user_said"):
            for row in rows(file, half)[::2]:
                history = [tuple(said) for said in row.get("history", ())]
                found = scan_reply(row["text"], hidden[row["prompt"]], history=history)
                if (found.decision != "allow") != (row["label"] == "attack"):
                    yield row["id"]
        for name, text in list(hidden.items())[::SOME]:
            for seed, piece in enumerate(pieces(text, random.Random(name))):
                for leak in leaks(piece, seed=seed):
                    found = scan_reply(leak.reply, text, history=[("assistant", said) for said in leak.earlier])
                    if found.decision == "allow":
                        yield f"{name}, {seed}, {leak.technique}"


@pytest.mark.parametrize("guard", [*GUARDS, "leak"])
def test_these_cases_and_no_others_are_judged_wrongly(guard: str) -> None:
    path, found = CORPUS / guard / "known.txt", sorted(wrong(guard))
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text("".join(f"{one}\n" for one in found), encoding="utf-8")
    assert found == path.read_text("utf-8").splitlines()
