"""Rules about wording: contracts where they can be rewritten, the same thing said twice, and opposites."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from ..folder import CONFIG
from .pages import Page, pattern
from .prose import line_at, normal, sentences
from .report import Hit, Level
from .subject import Subject, channel_paths

SAME_CHARS: Final = 40

# ── machine contracts ─────────────────────────────────────────────────────────────────────────────────────────────
_CONTRACTS: Final = (
    ("the format of a tool call", re.compile(r"(?:```|~~~)[ \t]*tool_call\b|</?tool_call>|\"(?:arguments|tool)\"\s*:")),
    ("a JSON schema", re.compile(r"\"(?:properties|\$schema|required)\"\s*:|\"type\"\s*:\s*\"(?:object|array)\"")),
    ("a refusal code", re.compile(r"\bREFUSE_[A-Z_]+\b")),
)


def machine_contract_in_writable(subject: Subject) -> Iterator[Hit]:
    """What a program reads is never in a layer that an agent or a user can rewrite."""
    tools = [tool.name for tool in subject.config.tool]
    for page in subject.pages:
        if not page.writable:
            continue
        for what, wanted in _CONTRACTS:
            if found := wanted.search(page.text):
                yield _contract("error", page, found, what)
        for name in tools:
            if found := _tool_name(name).search(page.text):
                yield _contract("warning", page, found, f"the tool name {name!r}")


def _contract(level: Level, page: Page, found: re.Match[str], what: str) -> Hit:
    line = line_at(page.text, found.start())
    return Hit(level, page.file, line, f"layer {page.layer!r} can be rewritten, but this line holds {what}")


def _tool_name(name: str) -> re.Pattern[str]:
    """A tool's name as a word; a name that is an ordinary word counts only as code or as a call."""
    exact = re.escape(name)
    return re.compile(rf"`{exact}`|\b{exact}\(" if name.isalpha() else rf"(?<![\w-]){exact}(?![\w-])")


# ── twice ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Place(NamedTuple):
    page: Page
    line: int


class _Shared(NamedTuple):
    """What two files have in common: how much, and where it starts in each."""

    times: int
    chars: int
    line: int
    first: _Place


def duplicate_text(subject: Subject) -> Iterator[Hit]:
    """A sentence stands once; two copies cost twice and drift apart."""
    seen: dict[str, list[_Place]] = {}
    shared: dict[tuple[str, str], _Shared] = {}
    for page in _prose(subject):
        for line, sentence in sentences(page.text):
            same = normal(sentence)
            if len(same) < SAME_CHARS:
                continue
            places = seen.setdefault(same, [])
            first = next((place for place in places if place.page.stands_with(page)), None)
            if first is not None:
                before = shared.get((page.file, first.page.file), _Shared(0, 0, line, first))
                shared[page.file, first.page.file] = before._replace(
                    times=before.times + 1, chars=before.chars + len(sentence)
                )
            places.append(_Place(page, line))
    for (file, _), found in shared.items():
        what = "sentence stands" if found.times == 1 else "sentences stand"
        where = f"{found.first.page.file}:{found.first.line}"
        said = f"{found.times} {what} in {where} too, {found.chars:,} characters"
        yield Hit("warning", file, found.line, said)


def _prose(subject: Subject) -> Iterator[Page]:
    return (page for page in subject.pages if page.is_prose)


# ── opposites ─────────────────────────────────────────────────────────────────────────────────────────────────────
_RULE: Final = re.compile(
    r"\b(?:(?P<no>never|do not|don['’]t|must (?:not|never))|(?P<yes>always|must always|must))\s+"
    r"(?P<what>[^.,;:!?()—–]{3,120})",
    re.IGNORECASE,
)
_SMALL: Final = frozenset("a an the your their its his her any all this that these those to please ever".split())
_NEGATION: Final = re.compile(r"\b(?:no|not|nothing|never|without|nor|neither|isn['’]t|doesn['’]t)\b", re.IGNORECASE)
_STREAM: Final = re.compile(r"\bstream(?:s|ed|ing)?\b", re.IGNORECASE)


def contradiction(subject: Subject) -> Iterator[Hit]:
    """No file asks for what another forbids."""
    yield from _opposites(subject)
    yield from _streaming(subject)


def _opposites(subject: Subject) -> Iterator[Hit]:
    said: dict[tuple[str, ...], list[tuple[bool, str, _Place]]] = {}
    for page in _prose(subject):
        for line, sentence in sentences(page.text):
            for match in _RULE.finditer(sentence):
                what = _object(match.group("what"))
                if len("".join(what)) < 4:
                    continue
                asks, word, here = match.group("no") is None, (match.group("no") or match.group("yes")).lower(), page
                rules = said.setdefault(what, [])
                clash = next((r for r in rules if r[0] != asks and r[2].page.stands_with(here)), None)
                if clash:
                    yield _clash(_Place(page, line), word, clash[2], clash[1], len(what))
                rules.append((asks, word, _Place(page, line)))


def _clash(here: _Place, word: str, there: _Place, other: str, words: int) -> Hit:
    where = f"{there.page.file}:{there.line}"
    about = "the same word" if words == 1 else f"the same {words} words"
    return Hit("warning", here.page.file, here.line, f"{word!r} here, {other!r} in {where}, about {about}")


def _object(phrase: str) -> tuple[str, ...]:
    words = [word for word in normal(phrase).split() if word not in _SMALL]
    return tuple(word.removesuffix("s") if len(word) > 3 else word for word in words)


def _streaming(subject: Subject) -> Iterator[Hit]:
    """What a channel's file says of streaming is what the channel's policy does (S1-08)."""
    for _, _, path in channel_paths(subject.config):
        for page in subject.pages:
            match = pattern(path).fullmatch(page.file)
            policy = subject.charter.channels.get(match.group(1)) if match else None
            if policy is None:
                continue
            for line, says in _stream_claims(page.text):
                if says != policy.stream:
                    claim, truth = ("streams", "does not") if says else ("does not stream", "does")
                    message = f"this file says the channel {policy.name!r} {claim}, but by its policy it {truth}"
                    yield Hit("warning", page.file, line, message, _STREAM_HELP.format(policy.name, CONFIG))


_STREAM_HELP: Final = "Change the file, or set stream in [channels.{}] of {}."


def _stream_claims(text: str) -> Iterator[tuple[int, bool]]:
    for line, sentence in sentences(text):
        for clause in re.split(r"[,;:]", sentence):
            if _STREAM.search(clause):
                yield line, _NEGATION.search(clause) is None
