"""A request for the assistant's hidden text is refused in every disguise; a question about it is answered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import filterfalse, islice
from typing import Any, Final

from .disclosure_about import About, Past
from .disclosure_allowed import is_allowed
from .disclosure_found import Found
from .disclosure_news import brings_news
from .disclosure_past import asked_together, follows, spelled_out
from .disclosure_rules import find
from .disclosure_scene import Scene, read
from .disclosure_score import Weighed, asks_alone, believed, weigh
from .disclosure_typos import respelled
from .finding import ALLOWED, Finding, Sign, Span, said
from .lexicon import Hit, tokens_of
from .quiet import quietly
from .views import View, plain, views_of

CODE: Final = "REFUSE_SYSTEM_PROMPT"
_MENDED: Final = 4  # views in which spelling is mended
_TYPED: Final = 1_000  # characters of a message in which spelling is mended
_MUCH: Final = 1_000  # characters of a message from which on only views are read that bring news
_SPOKEN: Final = 0.5  # how much more must speak for a request when something was said before
_POINTED: Final = 1.5  # and when it names no text: what it points at may be what was said
_UNMASKED: Final = 0.5  # and when it stands in a disguise
_HIDDEN: Final = 2  # words that a disguise must have hidden
_WEIGHED: Final = 12  # views that are weighed
_SHORT: Final = 240  # characters of a message that may be written with its words in reverse
_TURNED: Final = re.compile(
    r"\b(?:prompt|message|instructions?|rules|guidelines|policies)\s+(?:system|your|hidden|initial|secret)\b"
)
# A command as programs take them, with nothing else: "/system", "!prompt", "--show-instructions".
_COMMAND: Final = re.compile(
    r"\s{0,9}(?:[/!\\]|--)(?:show|print|get|dump|reveal|view|cat|display|export|debug)?[ _-]?"
    r"((?:(?:full|my|your|the|system|sys|initial|hidden)[ _-]?){0,2}"
    r"(?:prompt|system|instructions|sysprompt|directives))\s{0,9}\Z",
    re.IGNORECASE,
)
_ADVICE: Final = re.compile(r"^\s*(?:\d{1,2}[.)]|[-*•])\s+\w|\b(?:step|rule)s?\s+\d", re.IGNORECASE | re.MULTILINE)
_OWN: Final = ("", "user", "human")  # roles under which a person speaks


@quietly
def check_message(text: str, *, history: Iterable[Any] = ()) -> Finding:
    """Denies a message that asks for hidden text; `history` holds what was said before, oldest first."""
    if is_allowed(text):
        return ALLOWED
    spoken = said(history)
    past = _past(spoken)
    known: set[str] = set()
    whole: About | None = None
    plainly: Weighed | None = None
    folded: str | None = None
    first: Scene | None = None
    for number, view in enumerate(_readings(text)):
        scene = read(view.text, known=known)
        found = find(scene, past=past, within=whole)
        whole = whole or About(scene, past)
        first = first or scene
        plainly = plainly or weigh(scene)
        folded = view.text if folded is None else folded  # the first view is the plain one
        if found is not None and (view.name == "plain" or _tells(found, view, folded)):
            weighed = plainly if view.name == "plain" else weigh(read(view.text))
            if believed(found.rule, weighed) or asks_alone(scene, found.hits[0][1].start):
                return _denied(found, view)
        if view.name == "plain":
            if plainly.over > (0.0 if past == "none" else _SPOKEN if plainly.named else _SPOKEN + _POINTED):
                return _outweighed(plainly, view)
        elif number <= _WEIGHED and len(view.text) <= _TYPED and _differs(view, folded):
            weighed = weigh(read(view.text))
            if weighed.over > max(0.0, plainly.over) + _UNMASKED:
                return _outweighed(weighed, view)
    if (command := _COMMAND.match(text)) is not None:
        hit = Hit("hard", 0, 1, command.start(1), command.end(1), "en", "")
        return _denied(Found("command", "unsaid", (("name", hit),)), views_of(text).plain)
    earlier = [line for role, line in spoken if role.casefold() in _OWN]
    joined = spelled_out(text, earlier)
    put = find(scene := read(joined), past=past) if joined is not None else None
    if joined is not None and put is not None and believed(put.rule, weigh(scene)):
        return _denied(put, View("put together", joined, lambda _, __: (0, len(text))))
    if earlier and (found := follows(text, earlier, scene=first)) is not None:
        return _denied(found, views_of(text).plain)
    if earlier and (both := asked_together(text, earlier)) is not None:
        return _outweighed(both, View("with the message before", plain(text), lambda _, __: (0, len(text))))
    return ALLOWED


def _differs(view: View, folded: str) -> bool:
    """Whether a disguise hid words, so that the view says what the plain text does not."""
    hidden = filterfalse(_said(folded).__contains__, tokens_of(view.text).words)
    return sum(1 for _ in islice(hidden, _HIDDEN)) >= _HIDDEN


@lru_cache(maxsize=1)
def _said(folded: str) -> frozenset[str]:
    return frozenset(tokens_of(folded).words)


def _tells(found: Found, view: View, folded: str) -> bool:
    """Whether a disguise hid a word of the request; else the plain text has been judged with the same words."""
    return any(view.text[hit.start : hit.end] not in folded for _, hit in found.hits)


def _past(spoken: Sequence[tuple[str, str]]) -> Past:
    for role, line in spoken[-4:]:
        if role.casefold() not in _OWN and _ADVICE.search(line):
            return "advice"
    return "some" if spoken else "none"


def _readings(text: str) -> Iterator[View]:
    """Every view, of a long text those that say something else, and those with misspelled names mended."""
    views = views_of(text)
    for number, view in enumerate(views.all):
        if number and len(text) > _MUCH and not brings_news(view.text, views.plain.text):
            continue
        yield view
        mended = respelled(view) if number < _MENDED and len(view.text) <= _TYPED else None
        if mended is not None:
            yield mended
    if len(text) <= _SHORT and _TURNED.search(folded := plain(text)):
        yield View("words reversed", " ".join(reversed(folded.split())), lambda _, __: (0, len(text)))


def _outweighed(weighed: Weighed, view: View) -> Finding:
    weight = f"{weighed.score:.1f} of {weighed.needed:.1f}"
    reason = f"asks for hidden text (rule: weighed; weight: {weight}; view: {view.name})"
    signs = [Sign("weight", f"{feature} {weight:+.2f}", view.name) for feature, weight in weighed.carried]
    signs.append(Sign("rule", "weighed", view.name))
    return Finding(
        "deny", CODE, reason, spans=(Span(*view.at(weighed.start, weighed.end), CODE, reason),), signs=tuple(signs)
    )


def _denied(found: Found, view: View) -> Finding:
    reason = f"asks for hidden text (rule: {found.rule}; whose: {found.whose}; view: {view.name})"
    signs = [Sign(name, view.text[hit.start : hit.end], view.name) for name, hit in found.hits]
    language = found.hits[0][1].language
    signs += [
        Sign("owner", found.whose, view.name),
        Sign("rule", found.rule, view.name),
        Sign("language", language, view.name),
    ]
    start = min(hit.start for _, hit in found.hits)
    end = max(hit.end for _, hit in found.hits)
    return Finding("deny", CODE, reason, spans=(Span(*view.at(start, end), CODE, reason),), signs=tuple(signs))
