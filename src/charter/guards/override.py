"""A writable text may not lift what stands above it: an edit is allowed, or a person decides, or it is denied.

Quotation, negation and report are read before anything is matched, in every view of the text: an edit that speaks of
attacks, forbids them or tells of them is allowed; one that orders them, hides them or adds up to them is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ..core.policy import Decision, Verdict
from .finding import ALLOWED, Finding, Sign, Span
from .override_acts import DENY, Mark
from .override_erosion import is_eroded
from .override_rules import marks_of
from .override_shape import shapes_of, unseen
from .reading import Reading
from .views import View, views_of

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
    "EROSION": "weakens what earlier versions promised",
}
_SHOWN: Final = 80


@dataclass(frozen=True, slots=True)
class Context:
    """What is known around an edit: the text it replaces, earlier ones (oldest first), and who writes."""

    current: str = field(default="", repr=False)
    history: tuple[str, ...] = field(default=(), repr=False)
    by: str = ""


def check_update(target: str, content: str, *, context: Context | Mapping[str, Any] | None = None) -> Finding:
    """Whether a text may be written to a layer, or to `instructions`; "ask" makes it a proposal for a person."""
    around = _context(context)
    views = views_of(content)
    found = [(view, mark) for view in views.all for mark in _marks(view)]
    if any(end - start > 1 for start, end in views.hidden):
        start, end = next(run for run in views.hidden if run[1] - run[0] > 1)
        span = Span(start, end, "HIDDEN_TEXT", REASONS["HIDDEN_TEXT"])
        return _finding(target, "deny", span, "plain", (Sign("hidden characters", f"{end - start}"),))
    if found:
        view, mark = max(found, key=lambda pair: pair[1].weight)
        span = Span(*view.at(mark.start, mark.end), mark.code, REASONS[mark.code])
        signs = tuple(Sign("+".join(one.factors), seen.text[one.start : one.end][:_SHOWN], seen.name) for seen, one in found)
        return _finding(target, "deny" if mark.weight == DENY else "ask", span, view.name, signs)
    if (around.current or around.history) and is_eroded(content, [*around.history, around.current]):
        return Finding("ask", "EROSION", f"{target}: this text {REASONS['EROSION']}", layer=target)
    return ALLOWED


def plain_refusals(target: str, content: str) -> Verdict:
    """The same question where nothing is known around the edit."""
    return check_update(target, content)


def _context(context: Context | Mapping[str, Any] | None) -> Context:
    if context is None or isinstance(context, Context):
        return context or Context()
    return Context(str(context.get("current", "")), tuple(context.get("history", ())), str(context.get("by", "")))


def _finding(target: str, decision: Decision, span: Span, view: str, signs: tuple[Sign, ...]) -> Finding:
    seen = "" if view == "plain" else f" (read as {view})"
    return Finding(decision, span.code, f"{target}: this text {span.reason}{seen}", (span,), signs, target)


def _marks(view: View) -> Iterator[Mark]:
    """What all rules see in one view, also inside what a rendered page would not show."""
    reading = Reading(view.text)
    yield from marks_of(reading)
    yield from (mark for mark in shapes_of(view.text) if not reading.is_shown(mark.start, mark.end))
    for start, end in unseen(view.text):
        if reading.is_shown(start, end, in_markup=True):
            continue
        for mark in marks_of(Reading(view.text[start:end])):
            yield Mark("HIDDEN_TEXT", DENY, start + mark.start, start + mark.end, mark.factors)
