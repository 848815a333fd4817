"""A manifest in JSON: the same whether its entries were written before or not."""

from __future__ import annotations

import json
from dataclasses import replace

from charter import Incoming, load
from charter.core.manifest import Manifest
from charter.told import MOST, _written, as_json, told


def manifest() -> Manifest:
    return load("workspace").assemble(Incoming(channel="web", text="hello", at=0)).manifest


def written(manifest: Manifest) -> str:
    return as_json(told(manifest))


def test_a_manifest_is_written_as_it_is_told_again_and_again() -> None:
    made = manifest()
    for _ in range(2):
        assert written(made) == as_json(made.to_dict())


def test_half_a_character_in_a_name_is_written_the_slow_way() -> None:
    made = manifest()
    odd = replace(made, mode="\udc80", stack=(replace(made.stack[0], file="\udc81"), *made.stack[1:]))
    assert json.loads(written(odd)) == odd.to_dict()
    assert json.loads(written(replace(odd, mode="full")))["stack"][0]["file"] == "\udc81"


def test_what_is_known_stays_small() -> None:
    made = manifest()
    for number in range(MOST + 10):
        written(replace(made, stack=(replace(made.stack[0], file=f"{number}.md"),)))
    assert len(_written) <= MOST
