"""Names of hidden text are known by a letter too few, too many, wrong or out of place, or without their vowels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Final

from .decode import vocabulary
from .lexicon import tokens_of
from .views import View

_KEYS: Final = (
    "system", "prompt", "prompts", "instruction", "instructions", "configuration", "guidelines", "verbatim", "initial",
    "previous", "reveal", "repeat", "developer", "policies", "hidden", "directives", "sistema", "systeme",
    "instrucciones", "anweisungen", "istruzioni", "instrucoes",
)  # fmt: skip
_SHORT: Final = {"sys": "system", "prmpt": "prompt", "pmt": "prompt", "instr": "instructions", "urs": "yours"}
# Words of their own that lie one letter away.
_OTHERS: Final = frozenset(
    "systems systemd systemic promo promote promoted prompted prompter promptly instruct instructor instructors"
    " initially initials initiate hiding ridden bidden midden repeal repent repeats repeated revel reveals prevail"
    " previously developed develops developers polices police politics directive directions direct construction"
    " constructions destruction obstruction instructional configurations guideline repeater revealed".split()
)
# Words whose letters may come in any order, as long as the first or the last stays.
_MIXED: Final = (
    *_KEYS, "rules", "your", "what", "given", "were", "word", "show", "full", "before", "chatting", "type", "them",
    "tell", "list", "the", "print", "message", "received", "secret", "write",
)  # fmt: skip
_LONGEST: Final = 16
_DRAWN: Final = re.compile(r"(.)\1{2,}")


def _shorter(word: str) -> set[str]:
    return {word[:at] + word[at + 1 :] for at in range(len(word))}


@cache
def _near() -> dict[str, str]:
    """A form with a letter or the vowels left out → the name it comes from."""
    near: dict[str, str] = {}
    for key in _KEYS:
        bare = key[0] + "".join(char for char in key[1:] if char not in "aeiou")
        for form in {key, bare, *_shorter(key)} | (_shorter(bare) if len(bare) > 5 else set()):
            near.setdefault(form, key)
    return near


@cache
def _mixed() -> dict[str, str]:
    return {"".join(sorted(key)): key for key in reversed(_MIXED)}


@lru_cache(maxsize=16_384)
def meant(word: str) -> str:
    """The key name this word was meant to be, or the word."""
    if word in _SHORT:
        return _SHORT[word]
    if not word.isascii():
        return word
    if _DRAWN.search(word):
        word = _DRAWN.sub(r"\1", word)
    if 2 < len(word) <= _LONGEST and word not in vocabulary(1) and word not in _OTHERS:
        key = _mixed().get("".join(sorted(word)), word)
        if key != word and (key[0] == word[0] or key[-1] == word[-1]):
            return key
    if not 4 <= len(word) <= _LONGEST or word in _OTHERS or word in _KEYS or not word.isascii():
        return word
    near = _near()
    if word in near:
        return near[word]
    if len(word) > 4:
        forms = near.keys() & _shorter(word)
        return near[min(forms)] if forms else word
    return word


def respelled(view: View) -> View | None:
    """The view with key names spelled as they were meant; nothing when all are."""
    words, starts, ends = tokens_of(view.text)
    keys = tuple(map(meant, words))
    if keys == words:
        return None
    changed = [
        (key, start, end) for word, key, start, end in zip(words, keys, starts, ends, strict=True) if key != word
    ]
    parts: list[str] = []
    at = 0
    for key, start, end in changed:
        parts += [view.text[at:start], key]
        at = end
    parts.append(view.text[at:])

    def back(first: int, last: int) -> tuple[int, int]:
        places = _places(changed, len(view.text))
        return view.at(places[first][0], places[max(last - 1, first)][1])

    name = "typos" if view.name == "plain" else f"{view.name}>typos"
    return View(name, "".join(parts), back)


def _places(changed: Sequence[tuple[str, int, int]], size: int) -> list[tuple[int, int]]:
    """Of each character, the stretch of the view it came from; `changed`: what stands there now, for which stretch."""
    places: list[tuple[int, int]] = []
    at = 0
    for key, start, end in changed:
        places += [(one, one + 1) for one in range(at, start)] + [(start, end)] * len(key)
        at = end
    return places + [(one, one + 1) for one in range(at, size)]
