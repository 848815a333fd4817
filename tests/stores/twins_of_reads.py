"""Stores that break a promise about memory, people, reading or bad values, each in one place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from charter.core.ports import Wanted
from charter.core.records import Provenance
from charter.stores import conversations, layers, log, messages, notes, proposals, reading, sqlite, turns
from charter.stores.memory import MemoryStore

from .surgery import Make, Patch, Twins, of, without

# ── memory and reading ────────────────────────────────────────────────────────────────────────────────────────────


def recalls_of_everyone(patch: Patch) -> Make:
    patch.setattr(notes, "_POSTINGS", notes._POSTINGS.replace("o.user_id = ?", "? IS NOT NULL"))
    return MemoryStore


def turns_recall_of_everyone(patch: Patch) -> Make:
    patch.setitem(reading._PARTS, "recall", reading._PARTS["recall"].replace("user_id = ?", "user_id >= substr(?, 9)"))
    return MemoryStore


def recent_of_everyone(patch: Patch) -> Make:
    without(patch, notes, "recent", "AND user_id = ?", "AND ? IS NOT NULL")
    return MemoryStore


def ties_to_the_older(patch: Patch) -> Make:
    rank = notes.rank

    def turned(postings: Iterable[Any], limit: int) -> list[int]:
        return [-note for note in rank([(row[0], -row[1], *row[2:]) for row in postings], limit)]

    for module in (notes, reading):
        patch.setattr(module, "rank", turned)
    return MemoryStore


def sources_are_not_inherited(patch: Patch) -> Make:
    inherited = notes._lineage

    def own(run: Any, agent: str, user: str, provenance: Provenance) -> Any:
        return inherited(run, agent, user, provenance)[0], sorted({provenance.source} - {""})

    patch.setattr(notes, "_lineage", own)
    return MemoryStore


def trust_as_claimed(patch: Patch) -> Make:
    without(patch, notes, "_lineage", "trust = min(trust, Trust(found[0]))", "pass")
    return MemoryStore


def derived_from_anyone(patch: Patch) -> Make:
    without(patch, notes, "_lineage", "AND user_id = ?", "AND ? IS NOT NULL")
    return MemoryStore


def revoked_is_recalled(patch: Patch) -> Make:
    patch.setattr(notes, "unindex", lambda *_: None)
    return MemoryStore


def revoked_is_recent(patch: Patch) -> Make:
    without(patch, notes, "recent", "AND revoked_at_ns = 0", "")
    return MemoryStore


class ReadsLive(MemoryStore):
    """Gives itself to a turn instead of what the turn asked for."""

    def for_turn(self, want: Wanted) -> Any:
        return self


def reads_for_anyone(patch: Patch) -> Make:
    patch.setattr(reading.TurnReads, "_same", staticmethod(lambda *_: None))
    return MemoryStore


def reads_any_part(patch: Patch) -> Make:
    without(patch, reading.TurnReads, "_asked", "if part not in self.want.parts:", "if False:")
    return MemoryStore


class OneTextForAll(MemoryStore):
    """Keeps a user's instructions as the agent's."""

    def instructions(self, agent: str, user: str) -> str:
        found = [row[0] for row in self.db.read("SELECT instructions FROM user_agent_prompt_customizations")]
        return found[-1] if found else ""


class AnyZone(MemoryStore):
    """Keeps whatever is called a time zone."""

    def set_timezone(self, user: str, zone: str) -> None:
        with self.db.writing() as run:
            run(
                "INSERT INTO user_settings VALUES (?, ?) ON CONFLICT DO UPDATE SET timezone = excluded.timezone",
                user,
                zone,
            )


def any_text(patch: Patch) -> Make:
    patch.setattr(sqlite, "fit", lambda values: values)
    for module in (conversations, layers, log, messages, notes, proposals):
        patch.setattr(module, "storable", lambda field, text: text)
    return MemoryStore


def any_time(patch: Patch) -> Make:
    for module in (conversations, layers, messages, notes, proposals, turns):
        patch.setattr(module, "when", lambda field, at_ns: at_ns)
    return MemoryStore


def any_note(patch: Patch) -> Make:
    patch.setattr(notes, "_number", lambda name: int(name) if name.isdigit() else 1)
    return MemoryStore


TWINS: Twins = {
    "recalls notes of everyone": (recalls_of_everyone, "a_note_is_found_by_its_owner_alone"),
    "recalls notes of everyone in a turn": (turns_recall_of_everyone, "a_note_is_found_by_its_owner_alone"),
    "lists notes of everyone": (recent_of_everyone, "a_note_is_found_by_its_owner_alone"),
    "gives ties to the older": (ties_to_the_older, "recall_gives_the_best_first_and_among_equals_the_newer"),
    "forgets where a note is from": (
        sources_are_not_inherited,
        "revoking_a_source_takes_back_all_that_came_of_it_and_nothing_else",
    ),
    "trusts as claimed": (trust_as_claimed, "a_note_is_trusted_no_more_than_what_it_is_made_from"),
    "derives from anyone's notes": (
        derived_from_anyone,
        "a_note_can_be_made_only_from_notes_of_its_owner_that_are_there",
    ),
    "recalls what was revoked": (
        revoked_is_recalled,
        "revoking_a_source_takes_back_all_that_came_of_it_and_nothing_else",
    ),
    "lists what was revoked": (revoked_is_recent, "revoking_a_source_takes_back_all_that_came_of_it_and_nothing_else"),
    "reads live": (of(ReadsLive), "what_a_turn_has_read_does_not_change_under_it"),
    "reads for anyone": (reads_for_anyone, "a_turn_cannot_read_for_another_agent_user_or_question"),
    "reads any part": (reads_any_part, "a_turn_cannot_read_a_part_it_did_not_ask_for"),
    "has one text for all users": (of(OneTextForAll), "instructions_belong_to_one_user_with_one_agent"),
    "keeps any time zone": (of(AnyZone), "a_time_zone_exists_or_is_refused"),
    "keeps any text": (any_text, "a_message_with_a_bad_value_is_refused"),
    "keeps any time": (any_time, "a_turn_that_ends_with_a_bad_value_is_refused"),
    "takes any note for a number": (any_note, "a_note_is_not_taken_back_with_a_bad_value"),
}
