"""The words of overrides, made ready once: tables by language, English verbs in all their forms."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from .fold import plain
from .lexicon import Lexicon, read_tables, tokens_of

FOLDER: Final = "override"
REASONS: Final[Mapping[str, str]] = {
    "OVERRIDE": "sets aside what stands above it",
    "AUTHORITY": "puts itself, or someone, above what stands above it",
    "ROLE_CHANGE": "gives its reader a role without rules",
    "FAKE_STRUCTURE": "forges a part of the prompt that is not its own",
    "HIDDEN_TEXT": "holds text that no reader sees",
    "EXFILTRATE": "sends private things to an address",
    "CONTROL_GRANT": "gives control to an address or a person",
    "APPROVAL": "skips a person's approval",
    "CONTRACT": "holds a machine contract, which only code may write",
    "CONCEAL": "wants something kept from those who watch",
    "TAMPER": "switches off what watches",
    "TRIGGER": "waits for a word to do what is not allowed",
    "DISCLOSE": "orders sealed text to be shown",
    "CHAT_TOKEN": "writes a control token of a chat format",
    "FAKE_ROLE": "poses as a message of the system",
    "COMMENT_ORDER": "gives orders in a comment that a rendered page does not show",
    "EROSION": "weakens what earlier versions promised",
}
_VOWELS: Final = "aeiou"
_NOT_PAST: Final = frozenset("need shed feed heed speed exceed proceed embed seed read set put cast let cut shut rid quit beat".split())


@cache
def lexicon(language: str) -> Lexicon:
    """One language's tables, every `~verb` spelled out."""
    return Lexicon({language: _spelled(read_tables(FOLDER)[language])})


@cache
def _whole_words() -> Mapping[str, Sequence[str]]:
    """Word → the languages, English apart, whose tables have it; English words tell nothing."""
    english = set(_words("en")) | _SMALL
    found: dict[str, list[str]] = {}
    for language in read_tables(FOLDER):
        for word in set(_words(language)) - english if language != "en" else ():
            found.setdefault(word, []).append(language)
    return found


@cache
def _stems() -> Mapping[int, Mapping[str, Sequence[str]]]:
    """Length → beginning of a word → languages."""
    found: dict[int, dict[str, list[str]]] = {}
    for language, table in read_tables(FOLDER).items():
        stems = {stem for patterns in table.values() for pattern in patterns for stem in _STEM.findall(plain(pattern))}
        for stem in stems if language != "en" else ():
            if len(stem) > 3 or not stem.isascii():
                found.setdefault(len(stem), {}).setdefault(stem, []).append(language)
    return found


_STEM: Final = re.compile(r"([^\W\d_]+)\*")
_SMALL: Final = frozenset("am an as at be by die do du el en es et im in is it la le les me mit no nu o on or per pro se so son te to tu un und we".split())
_TELLING: Final = 2  # words of a language that show it is one of a text's


def _words(language: str) -> Iterator[str]:
    for category, patterns in read_tables(FOLDER)[language].items():
        for pattern in patterns:
            for form in _forms(pattern) if category != "spell" else (pattern,):
                for part in re.split(r"[\s()|]+", form):
                    if not part.endswith("*"):
                        yield from tokens_of(plain(part)).words


def languages_of(words: Collection[str]) -> list[str]:
    """English, and the languages of which these words show enough."""
    seen: dict[str, int] = {}
    whole, stems = _whole_words(), _stems()
    for word in set(words):
        for language in whole.get(word, ()):
            seen[language] = seen.get(language, 0) + 1
        for size, table in stems.items():
            for language in table.get(word[:size], ()) if len(word) >= size else ():
                seen[language] = seen.get(language, 0) + 1
    most = max(seen.values(), default=0)
    return ["en", *(language for language, count in seen.items() if count >= max(_TELLING, most / 4))]


@cache
def irregular() -> Mapping[str, Sequence[str]]:
    """Base → its forms, for the verbs that are not regular."""
    return {line.split()[0]: line.split() for line in read_tables(FOLDER).get("en", {}).get("forms", ())}


@cache
def _past_forms() -> frozenset[str]:
    return frozenset(
        form for base, forms in irregular().items() for form in forms[2:] if form != base and not form.endswith("ing")
    )


@cache
def form_of(word: str) -> str:
    """Which form an English verb is in: "base", "s", "ing" or "past"."""
    if word.endswith("ing"):
        return "ing"
    if word in _NOT_PAST:
        return "base"
    if word in _past_forms() or word.endswith("ed"):
        return "past"
    return "s" if word.endswith("s") and not word.endswith("ss") else "base"


def _spelled(table: Mapping[str, Sequence[str]]) -> Mapping[str, Sequence[str]]:
    return {
        category: [spelled for pattern in patterns for spelled in _forms(pattern)]
        for category, patterns in table.items()
        if category not in ("forms", "spell")
    }


def _forms(pattern: str) -> Iterator[str]:
    if not pattern.startswith("~"):
        yield pattern
        return
    base, _, rest = pattern[1:].partition(" ")
    yield f"({'|'.join(dict.fromkeys(_inflected(base)))}) {rest}".strip()


def _inflected(base: str) -> Sequence[str]:
    if base in irregular():
        return irregular()[base]
    hissing = base.endswith(("s", "x", "z", "ch", "sh", "o"))
    if base.endswith("y") and base[-2] not in _VOWELS:
        return base, base[:-1] + "ies", base[:-1] + "ied", base + "ing"
    if base.endswith("e"):
        return base, base + "s", base + "d", (base if base.endswith("ee") else base[:-1]) + "ing"
    return base, base + ("es" if hissing else "s"), base + "ed", base + "ing"


# ── words spelled badly ───────────────────────────────────────────────────────────────────────────────────────────
_KEYS: Final = (
    "ignore disregard forget override bypass previous instructions instruction constitution guidelines restrictions policies "
    "rules system prompt safety operator approval confirmation whatever everything unrestricted reveal conversation password "
    "forward transfer pretend developer"
)


@cache
def _slips() -> Mapping[str, str]:
    """What a key word becomes by one slip: a letter left out, or two that changed places."""
    found: dict[str, str] = {}
    for word in (key for key in _KEYS.split() if len(key) > 5):
        for at in range(1, len(word)):
            found[word[:at] + word[at + 1 :]] = word
            found[word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :]] = word
            found[word[:at] + word[at] + word[at:]] = word
    known = {form for word in _KEYS.split() for form in (word, word + "s", word[:-1])}
    found = {slip: word for slip, word in found.items() if slip not in known}
    return found | dict(line.split() for line in read_tables(FOLDER).get("en", {}).get("spell", ()))


def respelled(words: Sequence[str]) -> Sequence[str]:
    """Words with slips put right."""
    slips = _slips()
    return [slips.get(word, word) for word in words] if not slips.keys().isdisjoint(words) else words
