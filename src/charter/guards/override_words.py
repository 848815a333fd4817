"""The words of overrides, made ready once: tables by language, English verbs in all their forms."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, compress
from operator import itemgetter
from typing import Final, NamedTuple, cast

from .fold import plain
from .kept import Met
from .lexicon import Hit, Lexicon, Tokens, read_tables, tokens_of

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
    "WEIGHED": "is worded, as a whole, like texts that lift what stands above",
    "DISGUISED": "is written so that a person reads less of it than a model does",
    "EROSION": "weakens what earlier versions promised",
}
_VOWELS: Final = "aeiou"
_NOT_PAST: Final = frozenset(
    "need shed feed heed speed exceed proceed embed seed read set put cast let cut shut rid quit beat".split()
)


class Table(NamedTuple):
    """One language made ready: words that are a sign by themselves, and a lexicon of all longer patterns."""

    words: Mapping[str, Sequence[tuple[str, str]]]
    longer: Lexicon


@cache
def _table(language: str) -> Table:
    words: dict[str, list[tuple[str, str]]] = {}
    longer: dict[str, list[str]] = {}
    for category, patterns in _spelled(read_tables(FOLDER)[language]).items():
        for pattern in patterns:
            for one in _ALONE.findall(pattern) if _ALONE.fullmatch(pattern) else _choices(pattern):
                tokens = tokens_of(plain(one)).words
                if len(tokens) == 1 and (category, pattern) not in words.setdefault(tokens[0], []):
                    words[tokens[0]].append((category, pattern))
            if not _is_short(pattern):
                longer.setdefault(category, []).append(pattern)
    # Tuples, because the collector of garbage takes no notice of them.
    return Table({word: tuple(signs) for word, signs in words.items()}, Lexicon({language: longer}))


_ALONE: Final = re.compile(r"[^\s()|*.]+")
_ANY_OF: Final = re.compile(r"\(([^()*. ]+)\)")


def _choices(pattern: str) -> Sequence[str]:
    found = _ANY_OF.fullmatch(pattern)
    return [one for one in found[1].split("|") if one] if found else ()


def _is_short(pattern: str) -> bool:
    parts = [pattern] if _ALONE.fullmatch(pattern) else _choices(pattern)
    return bool(parts) and all(len(tokens_of(plain(part)).words) == 1 for part in parts)


def find(language: str, tokens: Tokens) -> list[Hit]:
    """Every sign of one language in these words, in their order; at one place the longest of a category."""
    table = _table(language)
    hits = table.longer.find(tokens)
    taken = {(hit[0], hit[1]) for hit in hits}
    longer = {hit[1] for hit in hits}
    _, starts, ends = tokens
    known = [*map(table.words.get, tokens.words)]
    for at, signs in cast("Iterator[tuple[int, Sequence[tuple[str, str]]]]", compress(enumerate(known), known)):
        start, end = starts[at], ends[at]
        for category, entry in signs:
            if at not in longer or (category, at) not in taken:
                hits.append(_new(Hit, (category, at, at + 1, start, end, language, entry)))
    hits.sort(key=_first)
    return hits


_first: Final = itemgetter(1)
_new: Final = tuple.__new__  # a hit is made very often


@cache
def _whole_words() -> Mapping[str, Sequence[str]]:
    """Word → the languages, English apart, whose tables have it; English words tell nothing."""
    english = set(_words("en"))
    found: dict[str, list[str]] = {}
    for language in read_tables(FOLDER):
        for word in set(_words(language)) - english if language != "en" else ():
            found.setdefault(word, []).append(language)
    return {word: tuple(languages) for word, languages in found.items()}


@cache
def _stems() -> Mapping[int, Mapping[str, Sequence[str]]]:
    """Length → beginning of a word → languages."""
    found: dict[int, dict[str, list[str]]] = {}
    for language, table in read_tables(FOLDER).items():
        whole = "\n".join(pattern for patterns in table.values() for pattern in patterns)
        stems = set(_STEM.findall(plain(whole))) if language != "en" else ()
        for stem in stems:
            if len(stem) > 3 or not stem.isascii():
                found.setdefault(len(stem), {}).setdefault(stem, []).append(language)
    return found


_STEM: Final = re.compile(r"([^\W\d_]+)\*")
_SHARED: Final = tuple(
    "action admin agent alarm assistant audit alternative client conversation document email guard incident injection "
    "jailbreak mail message model operator page paragraph param persona phishing prompt refus resum seed site spelling "
    "table token tool transaction transfer trick valid regular reserve revision simple strong unique plus parallel "
    "instance histor complete monitor profit logging".split()
)  # words that English has too show no other language
_ENGLISH: Final = frozenset("the to of and is are you your my with in for it i do not this that be a".split())
_FEW: Final = 12  # in so few words one is enough
_TELLING: Final = 2  # words of a language that show it is one of a text's


def _words(language: str) -> Sequence[str]:
    table = read_tables(FOLDER)[language]
    forms = [
        form
        for category, patterns in table.items()
        for pattern in patterns
        for form in (_forms(pattern) if category != "spell" else (pattern,))
    ]
    parts = dict.fromkeys(re.split(r"[\s()|]+", "\n".join(forms)))
    return tokens_of(plain("\n".join(part for part in parts if not part.endswith("*")))).words


@cache
def _telling_words() -> frozenset[str]:
    return frozenset(word for word in _words("en") if len(word) > 3) | frozenset(_whole_words())


def is_telling(word: str) -> bool:
    """Whether a word could be part of a sign; one that is not ASCII always could."""
    return (
        word in _telling_words() or not word.isascii() or any(word[:size] in table for size, table in _stems().items())
    )


def _spoken_in(word: str) -> tuple[str, ...]:
    """The languages, English apart, whose tables have a word, or a beginning of it, unless English has it too."""
    if word.isascii() and word.startswith(_SHARED):
        return ()
    begins = (table.get(word[:size], ()) for size, table in _stems().items() if len(word) >= size)
    return (*_whole_words().get(word, ()), *(language for found in begins for language in found))


_TONGUES: Final = Met(_spoken_in, 1 << 14)


def languages_of(words: Collection[str]) -> list[str]:
    """English, and the languages of which these words show enough."""
    least_size = 4 if len(words) > _FEW or not _ENGLISH.isdisjoint(words) else 3
    long = [word for word in set(words) if len(word) >= least_size or not word.isascii()]
    seen = Counter(chain.from_iterable(map(_TONGUES.__getitem__, long)))
    most = max(seen.values(), default=0)
    least = _TELLING if len(words) > _FEW else 1
    return ["en", *(language for language, count in seen.items() if count >= max(least, most / 4))]


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
    "ignore disregard forget override bypass previous instructions instruction constitution guidelines "
    "restrictions policies "
    "rules system prompt safety operator approval confirmation whatever everything unrestricted reveal "
    "conversation password "
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
