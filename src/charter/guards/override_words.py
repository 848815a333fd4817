"""The words of overrides, made ready once: tables by language, English verbs in all their forms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from .lexicon import Lexicon, read_tables

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
def lexicon() -> Lexicon:
    """All tables, every `~verb` spelled out; a category carries its language, since two may share a word."""
    return Lexicon({language: _spelled(language, table) for language, table in read_tables(FOLDER).items()})


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


def _spelled(language: str, table: Mapping[str, Sequence[str]]) -> Mapping[str, Sequence[str]]:
    return {
        f"{language}:{category}": [spelled for pattern in patterns for spelled in _forms(pattern)]
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
