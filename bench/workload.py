"""A workload is made from its name alone: same bytes on every machine, every run."""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple

JOINER = "\n\n---\n\n"
SLOT = re.compile(r"\{\{ (\w+) \}\}")
SLOTS_PER_LAYER = 16
VALUE_SETS = 64
STATIC_SHARE = 0.60
VALUE_SHARE = 0.40  # of a dynamic layer's bytes; the rest is text around the slots
SIZE_TOLERANCE = 0.02
MEAN_AT_MOST = 100  # a plain value of up to 200 characters stands bare in every contender's output
PATIENCE = 20  # draws that may fail to fit before digits fill the rest

PROSE_SEPARATORS = (" ",) * 12 + (", ", "; ", ".\n", ".\n\n")
VALUE_SEPARATORS = (" ",) * 12 + tuple(".,;:'-_/@+(!?%&") + (") ", ", ", ". ")

WORD_LIST = """
able account after agent answer archive before between borrow branch budget
calendar careful channel charter clear closing colour common context copper
daily decide detail draft early east eleven engine evening every field final
follow garden gentle harbour history hold index island journal keep kettle
ladder language layer letter listen margin market meadow memory morning narrow
never north note number office open orchard order paper pattern person plain
project promise quiet reader reason record river room schedule season shelf
short signal simple south speak station steady summer table teach thread ticket
today tools train turn under user valley version visit water weather west window
winter word write yellow yesterday
"""
ASCII_WORDS = tuple(WORD_LIST.split())
# Code points, not literals: letters of these scripts look like Latin ones.
LETTER_RANGES = ((0x0430, 0x0450), (0x03B1, 0x03CA), (0x4E00, 0x4F00))


class Layer(NamedTuple):
    """One layer; its `template` holds `{{ name }}` slots when it is `dynamic`."""

    id: str
    label: str
    template: str
    dynamic: bool


class Outline(NamedTuple):
    """A layer before it has text; `weight` shares out the bytes of its kind."""

    id: str
    title: str
    dynamic: bool
    weight: int


OUTLINES = (
    Outline("identity", "Who is speaking", dynamic=False, weight=2),
    Outline("safety", "What never changes", dynamic=False, weight=3),
    Outline("policy", "What the house allows", dynamic=False, weight=4),
    Outline("tone", "How it sounds", dynamic=False, weight=1),
    Outline("tools", "What it can call", dynamic=False, weight=5),
    Outline("skills", "What it has learned", dynamic=False, weight=3),
    Outline("project", "Where it works", dynamic=False, weight=4),
    Outline("user", "Who is asking", dynamic=True, weight=1),
    Outline("memory", "What it remembers", dynamic=True, weight=1),
    Outline("channel", "Where the answer goes", dynamic=False, weight=1),
    Outline("turn", "What is asked now", dynamic=True, weight=1),
)


@dataclass(frozen=True)
class Workload:
    """Layers in order and the value sets that are cycled through them."""

    name: str
    size: int
    layers: tuple[Layer, ...]
    value_sets: tuple[dict[str, str], ...]


@dataclass(frozen=True)
class Recipe:
    """Everything a workload is made from."""

    name: str
    size: int
    words: tuple[str, ...]


def byte_count(text: str) -> int:
    return len(text.encode())


def phrase(rng: random.Random, words: Sequence[str], *, separators: Sequence[str], size: int) -> str:
    """Exactly `size` bytes of UTF-8: words, separators, digits where no word fits."""
    text, left, misses = "", size, 0
    while misses < PATIENCE:
        piece = (rng.choice(separators) if text else "") + rng.choice(words)
        cost = byte_count(piece)
        if cost > left:
            misses += 1
            continue
        text += piece
        left -= cost
    return text + ("0123456789" * (left // 10 + 1))[:left]


def foreign_words() -> tuple[str, ...]:
    """Words of one script each: Cyrillic, Greek and CJK letters in turn."""
    rng = random.Random("foreign words")
    longest = (7, 7, 3)
    return tuple(
        "".join(chr(rng.randrange(*letters)) for _ in range(rng.randint(2, most)))
        for _ in range(40)
        for letters, most in zip(LETTER_RANGES, longest, strict=True)
    )


def slot_names(layer_id: str) -> list[str]:
    return [f"{layer_id}_{number:02d}" for number in range(SLOTS_PER_LAYER)]


def shares(total: int, weights: Sequence[int]) -> list[int]:
    """`total` split by weight with nothing lost to rounding."""
    edges = [total * part // sum(weights) for part in accumulate(weights, initial=0)]
    return [after - before for before, after in pairwise(edges)]


def layer_sizes(size: int) -> list[int]:
    """Rendered bytes per layer; joiners count as static."""
    static_total = round(size * STATIC_SHARE)
    joiners = byte_count(JOINER) * (len(OUTLINES) - 1)
    totals = {False: static_total - joiners, True: size - static_total}
    split = {
        kind: iter(shares(total, [o.weight for o in OUTLINES if o.dynamic is kind])) for kind, total in totals.items()
    }
    return [next(split[outline.dynamic]) for outline in OUTLINES]


def value_sizes(rng: random.Random, budget: int) -> list[int]:
    """Slot lengths around their mean, the longest thrice the shortest, all short enough to stand bare."""
    return shares(min(budget, SLOTS_PER_LAYER * MEAN_AT_MOST), [rng.randint(50, 150) for _ in range(SLOTS_PER_LAYER)])


def dynamic_body(rng: random.Random, recipe: Recipe, names: list[str], size: int) -> str:
    """One line per slot; everything but the values takes `size` bytes."""
    around = byte_count("- : \n")
    text_sizes = shares(size - around * len(names) + 1, [1] * len(names))
    texts = [phrase(rng, recipe.words, separators=(" ",), size=length) for length in text_sizes]
    return "\n".join(f"- {text}: {{{{ {name} }}}}" for text, name in zip(texts, names, strict=True))


def varied(rng: random.Random, size: int) -> int:
    """A length near `size`, so that no two value sets are cut alike."""
    return size + rng.randint(-(size // 8), size // 8)


def build(recipe: Recipe) -> Workload:
    """The workload of a recipe; raises if a prompt misses its size by over 2 %."""
    rng = random.Random(recipe.name)
    layers: list[Layer] = []
    slots: dict[str, int] = {}
    sizes = layer_sizes(recipe.size)
    for number, (outline, size) in enumerate(zip(OUTLINES, sizes, strict=True), 1):
        heading = f"## Layer {number}: {outline.title}\n\n"
        left = size - byte_count(heading)
        if outline.dynamic:
            names = slot_names(outline.id)
            values = value_sizes(rng, round(size * VALUE_SHARE))
            slots.update(zip(names, values, strict=True))
            body = dynamic_body(rng, recipe, names, left - sum(values))
        else:
            body = phrase(rng, recipe.words, separators=PROSE_SEPARATORS, size=left)
        layers.append(Layer(outline.id, f"L{number}", heading + body, outline.dynamic))
    value_sets = tuple(
        {
            name: phrase(rng, recipe.words, separators=VALUE_SEPARATORS, size=varied(rng, size))
            for name, size in slots.items()
        }
        for _ in range(VALUE_SETS)
    )
    workload = Workload(recipe.name, recipe.size, tuple(layers), value_sets)
    check_shape(workload)
    return workload


def check_shape(workload: Workload) -> None:
    """Refuse a workload that is not what the requirement describes."""
    for index, values in enumerate(workload.value_sets):
        size = byte_count(expected(workload, values))
        if abs(size - workload.size) > workload.size * SIZE_TOLERANCE:
            raise ValueError(
                f"{workload.name}: value set {index} renders {size} bytes, "
                f"not {workload.size} within {SIZE_TOLERANCE:.0%}"
            )
    for layer in workload.layers:
        distinct = {fill(layer.template, values) for values in workload.value_sets}
        if len(distinct) != (len(workload.value_sets) if layer.dynamic else 1):
            raise ValueError(
                f"{workload.name}: layer {layer.id} has {len(distinct)} texts "
                f"over {len(workload.value_sets)} value sets"
            )


def fill(template: str, values: dict[str, str]) -> str:
    """The reference rendering of one layer: plain replacement, nothing escaped."""
    return SLOT.sub(lambda slot: values[slot[1]], template)


def expected(workload: Workload, values: dict[str, str]) -> str:
    """The prompt every contender must return for these values."""
    return JOINER.join(fill(layer.template, values) for layer in workload.layers)


def whole_template(workload: Workload) -> str:
    """All layers as one `{{ name }}` template, for engines without layers."""
    return JOINER.join(layer.template for layer in workload.layers)


def static_share(workload: Workload) -> float:
    """The share of a prompt's bytes outside its dynamic layers."""
    texts = (layer.template for layer in workload.layers if not layer.dynamic)
    joiners = byte_count(JOINER) * (len(workload.layers) - 1)
    whole = byte_count(expected(workload, workload.value_sets[0]))
    return (sum(map(byte_count, texts)) + joiners) / whole


def workloads() -> list[Workload]:
    """The three that are reported; the first is the one the targets speak of."""
    recipes = (
        Recipe("8 KB ASCII", 8 * 1024, ASCII_WORDS),
        Recipe("64 KB ASCII", 64 * 1024, ASCII_WORDS),
        Recipe("8 KB non-ASCII", 8 * 1024, foreign_words()),
    )
    return [build(recipe) for recipe in recipes]
