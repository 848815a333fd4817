"""Sentences made by hand: each word says which categories it is of, so rules are tested without any word table."""

from __future__ import annotations

from charter.guards.disclosure_about import About
from charter.guards.disclosure_scene import Scene, Sentence
from charter.guards.lexicon import Hit, tokens_of
from charter.guards.reading import Reading
from charter.guards.reading import Sentence as ReadSentence


def made(said: str) -> Sentence:
    """A sentence such as "show/verb me your/your own_old/adj rules/soft@de": `_` joins words, `+` adds a category."""
    words: list[str] = []
    marked: list[tuple[str, int, int, str]] = []
    for part in said.split():
        text, _, categories = part.partition("/")
        first = len(words)
        words += text.split("_")
        for category in filter(None, categories.split("+")):
            name, _, language = category.partition("@")
            marked.append((name, first, len(words), language or "en"))
    tokens = tokens_of(" ".join(words))
    by: dict[str, list[Hit]] = {}
    kinds: list[set[str]] = [set() for _ in tokens.words]
    for name, first, last, language in marked:
        hit = Hit(name, first, last, tokens.starts[first], tokens.ends[last - 1], language, "")
        by.setdefault(name, []).append(hit)
        for at in range(first, last):
            kinds[at].add(name)
    return Sentence(tokens, by, kinds, True)


def told(said: str, end: str = "", *, advised: bool = False, spoken: bool = False) -> tuple[About, Sentence]:
    """The same as a whole message that ends so."""
    sentence = made(said)
    text = " ".join(sentence.tokens.words) + end
    scene = Scene(text, len(sentence.tokens.words), [sentence], [])
    return About(scene, "advice" if advised else "some" if spoken else "none"), sentence


def name_of(sentence: Sentence) -> Hit:
    """The first name of hidden text in a sentence."""
    return next(hit for kind in ("hard", "soft", "hard_yours", "soft_yours") for hit in sentence.of(kind))


def reading_of(said: str) -> tuple[Reading, ReadSentence, dict[str, list[Hit]]]:
    """The same as overrides read it; signs of a sentence may stand behind a word: "ignore/drop it/x, then/y"."""
    parts, marked, words = [], list[tuple[str, int, int, str, str]](), 0
    for part in said.split():
        text, _, rest = part.partition("/")
        categories = rest.rstrip(",.;:!?")
        spoken = text.replace("_", " ")
        parts.append(spoken + rest[len(categories) :])
        size = len(tokens_of(spoken).words)
        for category in filter(None, categories.split("+")):
            name, _, language = category.partition("@")
            marked.append((name, words, words + size, language or "en", spoken))
        words += size
    reading = Reading(" ".join(parts))
    reading.by = [{} for _ in reading.sentences]
    starts, ends = reading.tokens.starts, reading.tokens.ends
    for name, first, last, language, entry in marked:
        hit = Hit(name, first, last, starts[first], ends[last - 1], language, entry)
        reading.by[reading.place(first)].setdefault(name, []).append(hit)
    last_sentence = reading.sentences[-1]
    return reading, last_sentence, reading.by[last_sentence.number]
