"""A writer that goes on whatever happens to its server: says what it writes, what it lost, and what it then found."""

from __future__ import annotations

import json
import sys

from charter.core.errors import StoreError

from .killed import counts, write_on
from .work import opened


def tell(value: object) -> None:
    print(json.dumps(value), flush=True)


def main(url: str, agent: str) -> None:
    with opened(url) as store:
        for attempt in range(1, 10**6):
            try:
                tell({"have": dict(counts(store, agent))})
                write_on(store, agent, attempt, tell)
            except StoreError as error:
                tell({"lost": f"{type(error).__name__}: {error}"})


if __name__ == "__main__":
    main(*sys.argv[1:])
