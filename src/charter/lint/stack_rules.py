"""Rules about the layers themselves: order, size, cost, and what a layer must have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from .. import lock as locks
from ..core.assemble import Section, assemble
from ..core.errors import BadValue, BudgetExceeded, LayerEmpty, RequestError
from ..core.layer import Layer, Owner, Volatility
from ..core.section import SUMMARY_CHARS
from ..core.text import Form, Piece, Trust
from ..folder import CONFIG
from .prose import without_frontmatter, without_tags
from .report import Hit, Level
from .subject import Subject, hit_of

NEARLY_FULL: Final = 0.8
NO_VIEW: Final = "the default view cannot be assembled: "
_WHEN: Final = {
    Volatility.TURN: "on every turn",
    Volatility.SESSION: "for every new session",
    Volatility.STORED: "whenever they are rewritten",
}


def assembles(subject: Subject) -> Iterator[Hit]:
    """The default view can be made; what the request or the world lacks is not the charter's fault."""
    failure = subject.failure
    if failure is None or isinstance(failure, BudgetExceeded | LayerEmpty):
        return
    hit = hit_of(failure, subject.charter.home.text(CONFIG))
    level: Level = "warning" if isinstance(failure, RequestError | BadValue) else "error"
    file = next((page.file for page in subject.pages if page.file.endswith(f"/{hit.file}")), hit.file)
    yield hit._replace(level=level, file=file, message=f"{NO_VIEW}{hit.message}")


# ── size ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def over_budget(subject: Subject) -> Iterator[Hit]:
    """The default view stays well inside the limits, and what can be written can be shown."""
    line = subject.line("budget")
    if isinstance(subject.failure, BudgetExceeded):
        yield hit_of(subject.failure, "")._replace(line=line)
    if subject.assembly is None:
        return
    gave_way = [part.section.layer.id for part in subject.assembly.parts if "over the limit" in part.reason]
    gave_way += [left.id for left in subject.assembly.left_out if left.reason == "over the limit"]
    if gave_way:
        yield Hit("warning", CONFIG, line, f"already in the default view these give way: {', '.join(gave_way)}")
    yield from _nearly_full(subject, line)
    for layer in subject.charter.stack.layers:
        yield from _never_fits(subject, layer)


def _nearly_full(subject: Subject, line: int) -> Iterator[Hit]:
    assert subject.assembly is not None
    limits = subject.charter.limits
    sizes = (
        ("characters", len(subject.assembly.reveal()), limits.max_chars),
        ("tokens", subject.assembly.manifest.tokens_est, limits.max_tokens),
    )
    for unit, size, limit in sizes:
        if limit and size > limit * NEARLY_FULL:
            share = f"{size / limit:.0%}"
            yield Hit("note", CONFIG, line, f"the default view has {size:,} {unit}, {share} of the limit of {limit:,}")


def _never_fits(subject: Subject, layer: Layer) -> Iterator[Hit]:
    """A layer that changes must be showable whole once everything else has given way."""
    text = next((s.facts.get("text") for s in subject.sections if s.layer is layer), None)
    if layer.owner not in (Owner.AGENT, Owner.USER) or not isinstance(text, Piece):
        return
    if not _fits(subject, layer, text):
        size = len(text.text)
        line = subject.layer_line(layer.id)
        yield Hit("error", CONFIG, line, f"layer {layer.id!r} has {size:,} characters and can never be shown whole")
    elif layer.max_content is not None:
        largest = Piece("x" * layer.max_content, "lint", Trust.OPERATOR, Form.MARKDOWN)
        if not _fits(subject, layer, largest):
            line = subject.layer_line(layer.id, "max_content")
            said = f"layer {layer.id!r} may hold {layer.max_content:,} characters, but so many can never be shown whole"
            yield Hit("warning", CONFIG, line, said)


def _fits(subject: Subject, layer: Layer, text: Piece) -> bool:
    assert subject.assembly is not None
    charter, view = subject.charter, subject.assembly
    limits = replace(charter.limits, shed=tuple(step for step in charter.limits.shed if step.layer != layer.id))
    sections = [Section(layer, {**s.facts, "text": text}) if s.layer is layer else s for s in subject.sections]
    settings = replace(charter.settings, limits=limits)
    try:
        assemble(charter.stack, sections, mode=view.mode, settings=settings, tools=view.tools)
    except BudgetExceeded:
        return False
    return True


# ── cost ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def volatile_above_stable(subject: Subject) -> Iterator[Hit]:
    """What changes stands below what does not; else a provider's cache ends where the change is (N-06)."""
    assembly = subject.assembly
    if assembly is None:
        return
    shown = subject.charter.stack.mode(assembly.mode)
    layers = [layer for layer in subject.charter.stack.layers if shown.shows(layer.id)]
    tokens = {part.section.layer.id: part.tokens for part in assembly.parts}
    for volatility, when in _WHEN.items():
        changing = [i for i, layer in enumerate(layers) if layer.volatility == volatility]
        below = [layer for layer in layers[changing[0] :] if layer.volatility < volatility] if changing else []
        if not below:
            continue
        last = layers.index(below[-1])
        above = [layers[i] for i in changing if i < last]
        cost = sum(tokens.get(layer.id, 0) for layer in below)
        level: Level = "warning" if volatility is Volatility.TURN and cost else "note"
        stands = f"{'stands' if len(above) == 1 else 'stand'} above the more stable {_names(below)}"
        said = f"{_names(above)} ({volatility.name.lower()}) {stands}: {cost:,} tokens are paid for again {when}"
        yield Hit(level, CONFIG, subject.layer_line(above[0].id), said)


def _names(layers: list[Layer]) -> str:
    return ", ".join(repr(layer.id) for layer in layers)


# ── what a layer must have ────────────────────────────────────────────────────────────────────────────────────────


def required_empty(subject: Subject) -> Iterator[Hit]:
    """A required layer has something to say."""
    kinds = {row.id: "template" if row.template else "text" for row in subject.config.layer if row.required}
    made_from = [page for page in subject.pages if kinds.get(page.layer) == page.kind]
    empty = [page for page in made_from if (page.fields or page.kind == "template") and not _says(page.text)]
    for page in empty:
        yield Hit("error", page.file, 1, f"the required layer {page.layer!r} is made from this file, which is empty")
    if isinstance(subject.failure, LayerEmpty) and not empty:
        yield hit_of(subject.failure, subject.charter.home.text(CONFIG))


def _says(text: str) -> bool:
    body = without_frontmatter(text)
    return bool(without_tags(body).strip() or re.search(r"\{\{", body))


def summary_too_long(subject: Subject) -> Iterator[Hit]:
    """A summary is one short line."""
    for index, row in enumerate(subject.config.layer):
        size = len(" ".join(without_tags(row.summary).split()))
        if size > SUMMARY_CHARS:
            line = subject.line(f"layer[{index}].summary")
            said = f"the summary of layer {row.id!r} has {size} characters, the limit is {SUMMARY_CHARS}"
            yield Hit("warning", CONFIG, line, said)


def title_not_heading(subject: Subject) -> Iterator[Hit]:
    """A title is a Markdown heading, so that it is seen as ours and nobody else can write it."""
    for index, row in enumerate(subject.config.layer):
        if row.title and not re.fullmatch(r"#{1,6} \S[^\n]*", row.title):
            line = subject.line(f"layer[{index}].title")
            yield Hit("warning", CONFIG, line, f"the title of layer {row.id!r} is not a heading such as '## Title'")


def sealed_without_lock(subject: Subject) -> Iterator[Hit]:
    """Sealed means locked: without charter.lock a changed byte goes unseen (N-02)."""
    sealed = [row.id for row in subject.config.layer if row.owner == "sealed"]
    if sealed and locks.read_lock(subject.charter.home.root) is None:
        line = subject.layer_line(sealed[0], "owner")
        yield Hit("warning", CONFIG, line, f"{len(sealed)} sealed layers, but there is no charter.lock")
