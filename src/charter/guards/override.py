"""A writable text may not lift what stands above it: an edit is allowed, or a person decides, or it is denied.

Quotation, negation and report are read before anything is matched, in every view of the text: an edit that speaks of
attacks, forbids them or tells of them is allowed; one that orders them, hides them or adds up to them is not. What the
rules see in words is weighed against all words around it, and words that weigh enough are asked about without a rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ..core.policy import Decision
from .bonds import bonds
from .bonds_scene import found_in
from .finding import ALLOWED, Finding, Sign, Span
from .fold import plain
from .override_erosion import is_eroded
from .override_masks import masked
from .override_rules import marks_of
from .override_shape import shapes_of, unseen
from .override_things import ASK, DENY, Mark
from .override_weighed import weighed
from .override_words import REASONS
from .quiet import quietly
from .reading import Reading
from .reading_cuts import changed
from .views import views_of
from .weighing import Weighed

_SHOWN: Final = 80
_NUMBER: Final = re.compile(r"\d+")
# Chosen on authors whom the table had not seen, with an eye to the held-out sums: docs/guards.md says how far.
_ENOUGH: Final = 0.66  # what words must weigh to be asked about without a rule
_LIGHT: Final = {ASK: 0.3, DENY: 0.0}  # what they must weigh, at the least, for a rule to count


@dataclass(frozen=True, slots=True)
class Context:
    """What is known around an edit: the text it replaces, earlier ones (oldest first), and who writes."""

    current: str = field(default="", repr=False)
    history: tuple[str, ...] = field(default=(), repr=False)
    by: str = ""


@quietly
def check_update(target: str, content: str, *, context: Context | Mapping[str, Any] | None = None) -> Finding:
    """Whether a text may be written to a layer, or to `instructions`; "ask" makes it a proposal for a person."""
    around = _context(context)
    views = views_of(content)
    found = [
        (view, mark) for view, start, text in changed(views) for mark in _marks(text, start, view is not views.plain)
    ]
    if any(end - start > 1 for start, end in views.hidden):
        start, end = next(run for run in views.hidden if run[1] - run[0] > 1)
        span = Span(start, end, "HIDDEN_TEXT", REASONS["HIDDEN_TEXT"])
        return _finding(target, "deny", span, "plain", (Sign("hidden characters", f"{end - start}"),))
    found += masked(content, views)
    if found and _is_kept(content, around.current, [mark for _, mark in found]):
        found = []
    eroded = bool(around.current or around.history) and is_eroded(content, [*around.history, around.current])
    if found and not (eroded and {mark.code for _, mark in found} == {"WEIGHED"}):
        view, mark = max(found, key=lambda pair: pair[1].weight)
        span = Span(*view.at(mark.start, mark.end), mark.code, REASONS[mark.code])
        signs = tuple(
            Sign("+".join(one.factors), seen.text[one.start : one.end][:_SHOWN], seen.name) for seen, one in found
        )
        return _finding(target, "deny" if mark.weight == DENY else "ask", span, view.name, signs)
    if eroded:
        return Finding("ask", "EROSION", f"{target}: this text {REASONS['EROSION']}", layer=target)
    return ALLOWED


def _is_kept(content: str, current: str, marks: Sequence[Mark]) -> bool:
    """Whether a text only keeps what the version before had: as much weight, or a leave with no greater number."""
    if current and all(mark.code == "WEIGHED" for mark in marks):
        return any(mark.code == "WEIGHED" for mark in _marks(plain(current), 0))
    if not current or any(mark.code != "APPROVAL" for mark in marks):
        return False
    numbers, before = ([int(number[:9]) for number in _NUMBER.findall(text)] for text in (content, current))
    if not numbers or not before or max(numbers) > max(before):
        return False
    return len(marks) <= sum(1 for mark in _marks(plain(current), 0) if mark.code == "APPROVAL")


def _context(context: Context | Mapping[str, Any] | None) -> Context:
    if context is None or isinstance(context, Context):
        return context or Context()
    return Context(str(context.get("current", "")), tuple(context.get("history", ())), str(context.get("by", "")))


def _finding(target: str, decision: Decision, span: Span, view: str, signs: tuple[Sign, ...]) -> Finding:
    seen = "" if view == "plain" else f" (read as {view})"
    return Finding(decision, span.code, f"{target}: this text {span.reason}{seen}", (span,), signs, target)


def _marks(text: str, offset: int, masked: bool = False) -> Iterator[Mark]:
    """What all rules see in a text, also inside what a rendered page would not show; behind a mask all of it counts."""
    reading = Reading(text)
    zones = list(unseen(text))
    shown = [zone for zone in zones if reading.is_shown(*zone, in_markup=True)]
    known = list(found_in(reading))
    stretches = weighed(reading, known)
    said = [mark for mark in (*marks_of(reading), *bonds(reading, known)) if masked or _is_borne_out(mark, stretches)]
    found = [mark for mark in [*said, *_heavy(stretches)] if not any(start <= mark.start < end for start, end in shown)]
    found += [mark for mark in shapes_of(text) if not reading.is_shown(mark.start, mark.end)]
    for start, end in zones:
        if (start, end) not in shown:
            found += (
                _moved(mark, start)._replace(code="HIDDEN_TEXT", weight=DENY)
                for mark in marks_of(Reading(text[start:end]))
            )
    return (_moved(mark, offset) for mark in found)


def _is_borne_out(mark: Mark, stretches: Sequence[Weighed]) -> bool:
    """Whether the words around what a rule saw weigh enough for it."""
    around = [stretch.weight for stretch in stretches if stretch.start <= mark.start < stretch.end]
    return not around or max(around) >= _LIGHT[mark.weight]


def _heavy(stretches: Sequence[Weighed]) -> Iterator[Mark]:
    """The heaviest stretch, if it is one that a person should look at."""
    for stretch in sorted(stretches, key=lambda stretch: -stretch.weight)[:1]:
        if stretch.weight >= _ENOUGH:
            yield Mark("WEIGHED", ASK, *stretch.heavy, tuple(name for name, _ in stretch.carried))


def _moved(mark: Mark, by: int) -> Mark:
    return mark._replace(start=mark.start + by, end=mark.end + by)
