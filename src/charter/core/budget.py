"""What gives way when a prompt is too big: declared steps, in order, each one visible; required text never."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from .errors import BadValue, StackError
from .layer import Layer, Owner, Stack
from .text import Facts, Value


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that can give way: a layer to its line or to nothing, or a list among its facts, oldest first.

    `within` names a list inside each item of the fact (the exchanges of each sender); `keep` is how many items stay,
    tried from the left; `drop` is the end that is cut.
    """

    layer: str
    to: Literal["summary", "nothing", "fewer"]
    fact: str = ""
    within: str = ""
    keep: tuple[int, ...] = (0,)
    drop: Literal["front", "back"] = "front"


@dataclass(frozen=True, slots=True)
class Limits:
    """The whole prompt's limits; None is no limit. Tokens include the tool schemas sent beside the prompt."""

    max_chars: int | None = None
    max_tokens: int | None = None
    shed: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        for name, value in (("max_chars", self.max_chars), ("max_tokens", self.max_tokens)):
            if value is not None and value < 0:
                raise BadValue(name, f"{value} is negative; use 0 or more")


def check_steps(limits: Limits, stack: Stack) -> None:
    """Refuses steps that would cut what may never be cut."""
    for step in limits.shed:
        if step.layer not in stack.position:
            raise StackError(f"[budget] names a layer that does not exist: {step.layer!r}")
        layer = stack.layers[stack.position[step.layer]]
        _check_step(step, layer)


def _check_step(step: Step, layer: Layer) -> None:
    if layer.owner is Owner.SEALED:
        raise StackError(f"[budget] may not cut the sealed layer {layer.id!r}")
    if step.to == "fewer":
        if not step.fact or list(step.keep) != sorted(set(step.keep), reverse=True) or min(step.keep, default=-1) < 0:
            raise StackError(f"[budget] {layer.id!r}: name a fact, and in keep fewer and fewer, none below 0")
        return
    if layer.required:
        raise StackError(f"[budget] may not take the required layer {layer.id!r} away")
    if step.to == "summary" and layer.summary is None:
        raise StackError(f"[budget] {layer.id!r} has no summary to fall back to")


def fewer(facts: Facts, step: Step) -> Iterator[tuple[Facts, int]]:
    """The facts with less and less of the step's list, each with how many items are left out; equal ones skipped."""
    whole = facts.get(step.fact)
    cut = facts.get("cut")
    if not isinstance(whole, Sequence) or isinstance(whole, str) or not isinstance(cut, Mapping):
        return
    before = 0
    for keep in step.keep:
        kept, left = _cut_within(whole, keep, step) if step.within else _cut(whole, keep, step)
        if left > before:
            before = left
            yield {**facts, step.fact: kept, "cut": {**cut, step.fact: left + _number(cut.get(step.fact))}}, left


def _number(value: Value) -> int:
    return value if isinstance(value, int) else 0


def _cut(items: Sequence[Value], keep: int, step: Step) -> tuple[list[Value], int]:
    left = max(len(items) - keep, 0)
    return list(items[left:] if step.drop == "front" else items[:keep]), left


def _cut_within(items: Sequence[Value], keep: int, step: Step) -> tuple[list[Value], int]:
    """Each item with less inside; an item with nothing left inside goes too."""
    kept: list[Value] = []
    total = 0
    for item in items:
        assert isinstance(item, Mapping)
        inner = item[step.within]
        assert isinstance(inner, Sequence)
        some, left = _cut(inner, keep, step)
        total += left
        if some:
            kept.append({**item, step.within: some})
    return kept, total
