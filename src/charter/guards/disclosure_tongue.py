"""Which languages a sentence is in is read from its script and its small words, so tables do not meet by accident."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Final

from .fold import plain
from .lexicon import apart, read_tables

# Small words tell languages apart; a word that several share tells less.
_TELLING: Final = (
    "fill",
    "you",
    "your",
    "my",
    "ask",
    "verb",
    "not",
    "adj",
    "this",
    "any",
    "mild",
    "copy",
    "again",
    "per",
)
_TELLS: Final = 6  # letters of a name that tell its language
_MOST: Final = 400  # words that are looked at
_KEPT: Final = 128  # sentences of which it is remembered
_SCRIPTS: Final = (
    (re.compile("[\u3040-\u30ff]"), "ja"),
    (re.compile("[\uac00-\ud7a3]"), "ko"),
    (re.compile("[\u0e00-\u0e7f]"), "th"),
    (re.compile("[\u0370-\u03ff]"), "el"),
    (re.compile("[\u0590-\u05ff]"), "he"),
    (re.compile("[\u0980-\u09ff]"), "bn"),
    (re.compile("[\u0900-\u097f]"), "hi"),
    (re.compile("[\u3400-\u9fff]"), "zh"),
)
_ANY_SCRIPT: Final = re.compile("|".join(pattern.pattern for pattern, _ in _SCRIPTS))
# Alphabets that several languages share, asked when no small word tells.
_ALPHABETS: Final = (
    (re.compile("[\u0400-\u04ff]"), ("ru", "uk")),
    (re.compile("[\u0620-\u06ff]"), ("ar", "fa")),
)


def _parts(language: str, categories: Iterable[str]) -> Iterable[str]:
    """What stands between brackets and bars in the patterns of these categories, folded, each once."""
    table = read_tables("disclosure")[language]
    whole = "\n".join(pattern for category in categories for pattern in table.get(category, ()))
    return dict.fromkeys(re.split(r"[()|\n]", plain(whole)))


@cache
def _small_words() -> dict[str, tuple[float, tuple[str, ...]]]:
    """Each small word, what it tells, and of which languages."""
    found: dict[str, set[str]] = {}
    for language in read_tables("disclosure"):
        for part in _parts(language, _TELLING):
            words = apart(part)[1::2]
            if len(words) == 1 and "*" not in part:
                found.setdefault(words[0], set()).add(language)
    return {word: (1.0 / len(languages), tuple(sorted(languages))) for word, languages in found.items()}


@cache
def _names() -> dict[str, tuple[str, ...]]:
    """The beginnings of names of hidden text → the languages that call it so."""
    found: dict[str, set[str]] = {}
    for language in read_tables("disclosure"):
        for part in _parts(language, ("soft", "soft_yours", "hard", "hard_yours")):
            for word in apart(part)[1::2]:
                if len(word) >= _TELLS:
                    found.setdefault(word[:_TELLS], set()).add(language)
    return {word: tuple(sorted(languages)) for word, languages in found.items()}


def _by_names(words: Sequence[str]) -> dict[str, float]:
    """Where no small word tells: the languages of the names."""
    known, scores = _names(), dict[str, float]()
    for word in words:
        languages = known.get(word[:_TELLS], ())
        for language in () if "en" in languages else languages:
            scores[language] = scores.get(language, 0.0) + 1.0 / len(languages)
    return scores


def spoken(words: Sequence[str]) -> Sequence[str]:
    """The one or two languages these words are most likely in; English when nothing tells."""
    return _spoken(tuple(words if len(words) <= _MOST else words[:_MOST]))


@lru_cache(maxsize=_KEPT)
def _spoken(words: tuple[str, ...]) -> Sequence[str]:
    """The same, remembered: a sentence is read for its rules, for its weight, and when the chat goes on."""
    scores: dict[str, float] = defaultdict(float)
    for weight, languages in filter(None, map(_small_words().get, words)):
        for language in languages:
            scores[language] += weight
    text = " ".join(words)
    if not text.isascii():
        _by_script(text, scores)
    if not scores:
        scores = _by_names(words)
    if not scores:
        return ("en",)
    least = 0.6 * max(scores.values())
    likely = [language for language, score in scores.items() if score >= least]
    if len(likely) > 1:
        likely = sorted(likely, key=lambda language: (-scores[language], language))[:2]
    return tuple(likely)


def _by_script(text: str, scores: dict[str, float]) -> None:
    """Scores of the languages whose letters stand in a text."""
    if _ANY_SCRIPT.search(text) is not None:
        for pattern, language in _SCRIPTS:
            if pattern.search(text) and language in read_tables("disclosure"):
                scores[language] = scores.get(language, 0.0) + len(pattern.findall(text)) / 4
                if language == "ja":
                    scores.pop("zh", None)
                    break
    for pattern, languages in _ALPHABETS:
        if not any(language in scores for language in languages) and pattern.search(text):
            scores.update(dict.fromkeys(languages, 1.0))
