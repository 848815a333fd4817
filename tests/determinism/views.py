"""Prints the hashes of rich views of all five charters; run in many surroundings by test_bytes.py.

The first argument is a seed: it shuffles every directory listing the process sees.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent


def shuffle_directories(seed: int) -> None:
    """From now on directories list in an order of this seed's."""
    real_listdir, real_scandir, real_walk = os.listdir, os.scandir, os.walk
    rng = random.Random(seed)

    def listdir(*arguments: Any) -> Any:
        names = list(real_listdir(*arguments))
        rng.shuffle(names)
        return names

    class Scanned:
        def __init__(self, *arguments: Any) -> None:
            with real_scandir(*arguments) as entries:
                self._entries = list(entries)
            rng.shuffle(self._entries)
            self._next = iter(self._entries)

        def __iter__(self) -> Iterator[Any]:
            return self._next

        def __next__(self) -> Any:
            return next(self._next)

        def __enter__(self) -> Scanned:
            return self

        def __exit__(self, *exception: object) -> None:
            return None

        def close(self) -> None:
            return None

    def walk(*arguments: Any, **named: Any) -> Any:
        for folder, folders, files in real_walk(*arguments, **named):
            rng.shuffle(files)
            yield folder, folders, files

    replace: Callable[[str, Any], None] = lambda name, value: setattr(os, name, value)  # noqa: E731
    replace("listdir", listdir)
    replace("scandir", Scanned)
    replace("walk", walk)


def main() -> None:
    shuffle_directories(int(sys.argv[1]))
    sys.path.insert(0, str(ROOT / "tests" / "charters"))
    from golden_views import VIEWS

    seen = {}
    for name, view in VIEWS.items():
        assembly = view()
        manifest = json.dumps(assembly.manifest.to_dict(), ensure_ascii=True)
        payloads = json.dumps([assembly.payload(d) for d in ("openai", "anthropic", "completion")], ensure_ascii=True)
        whole = "\0".join([assembly.reveal(), manifest, payloads]).encode()
        seen[name] = hashlib.sha256(whole).hexdigest()
    print(json.dumps(seen, sort_keys=True))


if __name__ == "__main__":
    main()
