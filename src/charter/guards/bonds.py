"""What a writable text says of what stands above it must keep to it: without a protective word, a person decides.

Ways to weaken are without number, ways to keep are few. So a sentence that names the constitution, the safeguards or
the sealed layers is asked for what ties it to them: following, checking, asking, refusing. One without any such tie, or
with the tie denied, is marked; so is one that claims freedom from limits, or a rank that only those above can give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from .bonds_rank import compared, posing, ranked, unapproved
from .bonds_scene import LINK, Found, Scene, found_in, gap, mark_of, overlaps
from .lexicon import Hit
from .override_acts import Mark
from .reading import Reading

_TRIGGERS: Final = frozenset(
    "core mid solemn norm leash wall loose boss free rid bar top status promote claim crown unapproved safe".split()
)
_OTHERS: Final = frozenset("who which whom".split())
_SOON: Final = frozenset("when once after if as until".split())
_HOW: Final = frozenset("blindly only just merely simply alone yet literally".split())


def bonds(reading: Reading, known: Iterable[Found] | None = None) -> Iterator[Mark]:
    """The first thing each sentence of a text does to its bond with what stands above."""
    for sentence, found in zip(reading.sentences, known or found_in(reading), strict=True):
        if not _TRIGGERS.isdisjoint(found) and "hostile" not in reading.by[sentence.number]:
            scene = Scene(reading, sentence, found)
            yield from next(([mark] for rule in _RULES for mark in rule(scene)), ())


def _bare(scene: Scene) -> Iterator[Mark]:
    """It is named, and nothing ties the sentence to it."""
    if any(_counts(scene, neg) for neg in scene.all("neg")):
        return
    for thing in scene.all("core", "mid", "solemn"):
        ours = thing.category == "core" or _is_ours(scene, thing)
        if ours and not scene.is_tied(thing) and scene.is_meant(thing):
            yield mark_of("OVERRIDE", thing)


def _is_ours(scene: Scene, thing: Hit) -> bool:
    """Whether the sentence is of its reader's own affairs, or takes the thing's force."""
    signs = scene.all("self", "where", "origin", "weak", "clash", "money")
    return any(not overlaps(hit, [thing]) for hit in signs)


def _counts(scene: Scene, neg: Hit) -> bool:
    """Whether a negation may be one of a weakening: not quoted, not what others never did, not a last "it isn't"."""
    if neg.last >= scene.sentence.last or scene.reading.quote_of(neg):
        return False
    return not neg.first or scene.reading.words[neg.first - 1] not in _OTHERS


def _placed(scene: Scene) -> Iterator[Mark]:
    """A rule or a rein that is said to be up there, or of the makers, and nothing that ties the sentence to it."""
    if any(_counts(scene, neg) for neg in scene.all("neg")):
        return
    for thing in scene.all("norm", "leash", "wall"):
        signs = scene.all("where", "origin", *(["self"] if thing.category == "leash" else []))
        apart = (hit for hit in signs if not overlaps(hit, [thing]) and not scene.is_measure(hit))
        beside = [hit for hit in apart if gap(hit, thing) <= scene.wide(thing, LINK)]
        if beside and not scene.is_tied(thing) and scene.is_meant(thing):
            yield mark_of("OVERRIDE", thing, beside[0])


def _unkept(scene: Scene) -> Iterator[Mark]:
    """What would keep to it is denied."""
    things = scene.all("core", "mid")
    if not things or scene.is_careful():
        return
    for tie in scene.all("near", "hold"):
        if not scene.is_denied(tie) or _is_denied_twice(scene, tie) or scene.reading.is_supposed(tie):
            continue
        if not _HOW.isdisjoint(scene.reading.words[tie.last : tie.last + LINK]):
            continue  # "I do not follow it blindly"
        for thing in things:
            near = gap(tie, thing) <= scene.wide(thing, LINK) and not overlaps(tie, [thing])
            if near and scene.is_joined(tie, thing) and scene.is_meant(thing):
                yield mark_of("OVERRIDE", tie, thing)


def _is_denied_twice(scene: Scene, tie: Hit) -> bool:
    """ "Nothing is done that does not follow it"."""
    first = min(neg.first for neg in scene.denials(tie))
    earlier = [neg for neg in scene.all("neg", "invert") if 0 < first - neg.first <= LINK]
    return any("and" not in scene.reading.words[neg.first : first] for neg in earlier)


def _weakened(scene: Scene) -> Iterator[Mark]:
    """It is said to be void, decoration, a burden, over."""
    for weak in scene.all("weak"):
        if scene.is_denied(weak) or scene.is_told(weak):
            continue
        for thing in scene.all("core", "mid", "solemn", "norm", "leash", "loose", "boss"):
            said = _is_said_of(scene, thing, weak) and (thing.category == "core" or _is_plain(scene, thing))
            if said and not scene.is_supposed(thing) and scene.is_meant(thing):
                yield mark_of("AUTHORITY" if thing.category == "boss" else "OVERRIDE", thing, weak)


def _is_plain(scene: Scene, thing: Hit) -> bool:
    """Nothing careful in the sentence, nor "I do not pretend that the rules are gone"."""
    return not scene.is_careful() and not any(0 < thing.first - neg.first <= LINK for neg in scene.all("neg"))


def _is_said_of(scene: Scene, thing: Hit, weak: Hit) -> bool:
    if thing.language != weak.language or overlaps(thing, [weak]):
        return False
    if not scene.reading.same_clause(thing.first, weak.first):  # a name and its value: "Safety: off"
        return scene.reading.text[thing.end : weak.start].strip() in (":", "=", "：", "->", "→")
    if weak.first < thing.first and (thing.language == "en" or thing.category in ("loose", "boss")):
        return False
    return gap(thing, weak) <= scene.wide(thing, LINK) and scene.is_joined(thing, weak)


def _lacking(scene: Scene) -> Iterator[Mark]:
    """Something is done without it, whatever it says, or free from it."""
    if scene.is_careful():
        return
    for lack in scene.all("lack"):
        if any(not overlaps(neg, [lack]) for neg in scene.all("neg", "invert")):
            continue
        for thing in scene.all("core", *(["norm"] if "exempt" in lack.entry else [])):
            near = lack.first < thing.first <= lack.last + 2 and scene.is_joined(lack, thing)
            if near and scene.is_meant(thing):
                yield mark_of("OVERRIDE", lack, thing)


def _none(scene: Scene) -> Iterator[Mark]:
    """ "No vetoes", "I carry no fetters"."""
    for rid in scene.all("rid"):
        if any(not overlaps(hit, [rid]) for hit in scene.all("neg", "invert", "care")):
            continue
        for thing in scene.all("core", "solemn", "leash"):
            whole = thing.first == rid.last and scene.reading.ends_clause(thing.last)
            if whole and not scene.is_supposed(thing) and scene.is_meant(thing):
                yield mark_of("OVERRIDE", rid, thing)


def _freed(scene: Scene) -> Iterator[Mark]:
    """The reader is said to be free of limits."""
    if "topic" in scene.found:
        return
    for free in _freedoms(scene):
        said = free[0]
        subjects = [hit for hit in scene.of("persona", said.language) if _is_subject(scene, hit, free)]
        if not subjects or scene.is_told(said) or scene.reading.is_supposed(said):
            continue
        outer = [neg for neg in scene.all("neg", "invert") if not overlaps(neg, free) and neg.first < said.first]
        if not outer and not scene.is_careful(but=free):
            yield mark_of("ROLE_CHANGE", subjects[0], *free)


def _freedoms(scene: Scene) -> Iterator[tuple[Hit, ...]]:
    yield from ((hit,) for hit in scene.all("free"))
    for rid in scene.all("rid"):
        yield from ((rid, hit) for hit in scene.of("bound", rid.language) if 0 <= hit.first - rid.last <= 1)


def _is_subject(scene: Scene, hit: Hit, free: tuple[Hit, ...]) -> bool:
    said = free[0]
    near = -2 <= said.first - hit.last <= scene.wide(said, 8) and not overlaps(hit, free)
    return near and (hit.last >= said.first or scene.reading.same_clause(hit.first, said.first))


def _flipped(scene: Scene) -> Iterator[Mark]:
    """No is to be read as yes."""
    for turn in scene.all("turn") if "topic" not in scene.found else ():
        no = [hit for hit in scene.of("bar", turn.language) if 0 <= turn.first - hit.last <= scene.wide(turn, 8)]
        yes = [hit for hit in scene.of("pass", turn.language) if 0 <= hit.first - turn.last <= 1]
        if (
            not no
            or not yes
            or scene.word(yes[0].last) in _SOON
            or not scene.reading.same_clause(no[-1].first, yes[0].first)
        ):
            continue
        if all(overlaps(neg, no) for neg in scene.denials(turn)) and not scene.is_told(turn):
            yield mark_of("OVERRIDE", no[-1], turn, yes[0])


_RULES: Final[tuple[Callable[[Scene], Iterator[Mark]], ...]] = (
    ranked, compared, posing, unapproved, _flipped, _unkept, _weakened, _lacking, _freed, _none, _bare, _placed,
)  # fmt: skip
