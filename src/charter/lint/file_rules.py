"""Rules about files: what is never read, what is too big, what hides, and what breaks the page around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ..core.errors import ConfigError
from ..core.policy import CHANNELS
from ..core.text import Trust
from ..folder import CONFIG
from ..guards.files import scan_file
from ..guards.hidden import find_hidden
from ..sources.frontmatter import split
from ..sources.listing import WorkspaceSkills
from .pages import pattern
from .prose import fences, line_at, without_frontmatter
from .report import Hit, Level
from .subject import Subject, channel_paths, hit_of, used_names

SKILL_TOKENS: Final = 5_000
DESCRIPTION_CHARS: Final = 1_024
LISTING_SHARE: Final = 0.1
_FOR_PEOPLE: Final = re.compile(r"(?:README|LICENSE|CHANGELOG|NOTICE)(?:\.[a-z]+)?", re.IGNORECASE)
_TURNS: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")  # they reorder what is seen


def dead_include(subject: Subject) -> Iterator[Hit]:
    """Every file is used, and every import leads somewhere."""
    used = used_names(subject)
    for name in subject.charter.home.files:
        named = name == CONFIG or _FOR_PEOPLE.fullmatch(name) or any(wanted.fullmatch(name) for wanted in used)
        if not named:
            yield Hit("warning", name, 1, "nothing in charter.toml names this file, so no model ever sees it")
    yield from subject.dead


def unreadable_file(subject: Subject) -> Iterator[Hit]:
    """Files that are there can be read, and their frontmatter is well formed."""
    yield from subject.unreadable
    for page in subject.pages:
        if page.fields:
            try:
                split(page.text, page.file)
            except ConfigError as error:
                yield hit_of(error, "")


# ── channels ──────────────────────────────────────────────────────────────────────────────────────────────────────


def unknown_channel_file(subject: Subject) -> Iterator[Hit]:
    """A file for a channel is named like a channel."""
    for _, _, path in channel_paths(subject.config):
        for name in subject.charter.home.files:
            match = pattern(path).fullmatch(name)
            if match and match.group(1) not in CHANNELS:
                yield Hit("warning", name, 1, f"no channel has this name; known: {', '.join(CHANNELS)}")


# ── skills ────────────────────────────────────────────────────────────────────────────────────────────────────────


def oversize_skill(subject: Subject) -> Iterator[Hit]:
    """A skill and the list of skills are small."""
    for file, skill in subject.skills:
        tokens = subject.charter.counter(skill.instructions.encode())
        if tokens > SKILL_TOKENS:
            yield Hit("warning", file, 1, f"its instructions have {tokens:,} tokens, more than {SKILL_TOKENS:,}")
        if len(skill.description) > DESCRIPTION_CHARS:
            said = f"its description has {len(skill.description):,} characters, more than {DESCRIPTION_CHARS:,}"
            yield Hit("warning", file, 1, said)
    listing = {row.id for row in subject.config.layer if any(isinstance(s, WorkspaceSkills) for s in row.source)}
    parts = subject.assembly.parts if subject.assembly else ()
    whole = sum(part.tokens for part in parts)
    for part in parts:
        if part.section.layer.id in listing and part.tokens > whole * LISTING_SHARE:
            said = f"the list of skills has {part.tokens:,} of the default view's {whole:,} tokens"
            yield Hit("note", CONFIG, subject.layer_line(part.section.layer.id), f"{said}, {part.tokens / whole:.0%}")


def skill_format(subject: Subject) -> Iterator[Hit]:
    """A skill keeps to the Agent Skills format."""
    for file, skill in subject.skills:
        for warning in skill.warnings:
            if not warning.startswith("description of"):
                yield Hit("note", file, 1, warning)


# ── what a file smuggles in ───────────────────────────────────────────────────────────────────────────────────────


def injection_in_file(subject: Subject) -> Iterator[Hit]:
    """No file commands the model; an owner's is kept whole all the same, others' spans are quarantined (N-07, N-08)."""
    for page in subject.pages:
        if not page.is_prose and not page.file.endswith(".md"):
            continue
        owner = page.trust is Trust.OPERATOR
        level: Level = "warning" if owner else "error"
        kept = "it is the owner's and stays whole" if owner else "others wrote it, so it is to be quarantined"
        for span in scan_file(page.text, trust=page.trust, pinned=subject.charter.home.accepted).spans:
            if span.code != "HIDDEN_TEXT":  # hidden-characters names those
                said = f"this text {span.reason} ({span.code}, {span.end - span.start:,} characters); {kept}"
                yield Hit(level, page.file, line_at(page.text, span.start), said)


def hidden_characters(subject: Subject) -> Iterator[Hit]:
    """Nothing in a file is invisible; a run of such characters can carry a text of its own."""
    for page in subject.pages:
        if page.trust is Trust.OUTSIDE:  # encoded wherever it is shown
            continue
        for number, line in enumerate(page.text.split("\n"), 1):
            if runs := [line[start:end] for start, end in find_hidden(line)]:
                grave = any(len(run) > 1 or set(run) & _TURNS for run in runs)
                yield Hit("error" if grave else "warning", page.file, number, _hidden("".join(runs)))


def _hidden(found: str) -> str:
    points = [f"U+{ord(char):04X}" for char in dict.fromkeys(found)]
    shown = [*points[:8], "…"] if len(points) > 8 else points
    return f"{len(found):,} hidden character{'s' * (len(found) > 1)}: {', '.join(shown)}"


# ── what breaks the page around it ────────────────────────────────────────────────────────────────────────────────


def our_heading_in_file(subject: Subject) -> Iterator[Hit]:
    """No file writes a heading or separator of ours; one that does is escaped."""
    stack = subject.charter.stack
    ours = [h for layer in stack.layers for h in (layer.title, *layer.template.headings) if h]
    for page in subject.pages:
        if page.kind != "text" or page.trust is Trust.OUTSIDE:
            continue
        before = without_frontmatter(page.text) if page.fields else page.text
        lines = zip(before.split("\n"), stack.structure.escape(before).split("\n"), strict=True)
        for number, (line, escaped) in enumerate(lines, 1):
            if line != escaped:
                said = f"this line reads as our {_which(line, ours)} and will be escaped with a backslash"
                yield Hit("warning", page.file, number, said)


def _which(line: str, ours: list[str]) -> str:
    text = _bare(line)
    found = next((heading for heading in ours if text and text.startswith(_bare(heading))), None)
    return f"heading {found.strip()!r}" if found else "separator"


def _bare(heading: str) -> str:
    return " ".join(heading.strip().strip("#").casefold().split())


def unclosed_fence(subject: Subject) -> Iterator[Hit]:
    """A code fence is closed, or everything below it in the prompt reads as code."""
    for page in subject.pages:
        if page.is_prose:
            for start, end in fences(page.text):
                if end is None:
                    yield Hit("error", page.file, line_at(page.text, start), "this code fence is never closed")
