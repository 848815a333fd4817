"""Stores that break a promise about messages, turns or conversations, each in one place."""

from __future__ import annotations

from dataclasses import replace
from threading import Barrier

from charter.core.records import InboxMessage, OutboxMessage, Settled
from charter.stores import controls, conversations, log, messages, notes, outbox, proposals, reading, turns
from charter.stores.memory import MemoryStore

from .surgery import Make, Patch, Twins, of, without

# ── messages and turns ────────────────────────────────────────────────────────────────────────────────────────────


class Restages(MemoryStore):
    """Takes the newer of two messages of one id."""

    def stage(self, agent: str, message: InboxMessage) -> bool:
        with self.db.writing() as run:
            run("DELETE FROM inbox_messages WHERE agent_name = ? AND message_id = ?", agent, message.id)
        return super().stage(agent, message)


def any_senders(patch: Patch) -> Make:
    without(patch, messages, "_choose", "len(senders) < max_senders", "True")
    return MemoryStore


def no_lease(patch: Patch) -> Make:
    patch.setattr(messages, "_lease_held", lambda *_: "")
    return MemoryStore


def nothing_given_back(patch: Patch) -> Make:
    patch.setattr(messages, "_give_back", lambda *_: None)
    return MemoryStore


def lease_of_any_clock(patch: Patch) -> Make:
    without(patch, messages, "_lease_held", "if until > at_ns + lease_ns:", "if False:")
    return MemoryStore


def settles_without_a_lease(patch: Patch) -> Make:
    patch.setattr(messages, "_end_lease", lambda *_: None)
    return MemoryStore


class SettlesInSteps(MemoryStore):
    """Remembers first, and ends the turn after that."""

    def settle(self, settled: Settled) -> None:
        for sender, entry in settled.entries:
            self.append_conversation(settled.turn.agent, sender, entry)
        super().settle(replace(settled, entries=()))


def failed_turns_are_done(patch: Patch) -> Make:
    without(patch, messages, "fail", "_give_back(run, turn.agent, turn.id)", "pass")
    return MemoryStore


def turns_twice(patch: Patch) -> Make:
    without(patch, turns, "record_in", "if not written:", "if False:")
    return MemoryStore


def sent_twice(patch: Patch) -> Make:
    without(patch, outbox, "mark_sent", "AND sent_at_ns = 0", "")
    return MemoryStore


class LooksThenSends(MemoryStore):
    """Looks whether a reply waits, and marks it when everyone has looked."""

    def __init__(self) -> None:
        super().__init__()
        self.looked = Barrier(8)

    def mark_sent(self, agent: str, turn_id: str, reply: OutboxMessage, at_ns: int) -> bool:
        waits = (turn_id, reply) in self.unsent(agent)
        self.looked.wait()
        super().mark_sent(agent, turn_id, reply, at_ns)
        return waits


# ── conversations ─────────────────────────────────────────────────────────────────────────────────────────────────


def no_eviction(patch: Patch) -> Make:
    patch.setattr(conversations, "_evict", lambda *_: None)
    return MemoryStore


def evicts_who_spoke(patch: Patch) -> Make:
    without(patch, conversations, "_evict", "agent, newest, count", "agent, '', count")
    return MemoryStore


def evicts_any_of_equals(patch: Patch) -> Make:
    without(
        patch, conversations, "_evict", "ORDER BY last_activity_ns, sender", "ORDER BY last_activity_ns, sender DESC"
    )
    return MemoryStore


def endless_conversations(patch: Patch) -> Make:
    patch.setattr(conversations, "MAX_ENTRIES", 10**6)
    return MemoryStore


def whole_bodies(patch: Patch) -> Make:
    patch.setattr(conversations, "MAX_STORED_CHARS", 10**6)
    return MemoryStore


def addresses_as_written(patch: Patch) -> Make:
    patch.setattr(conversations, "sender_key", str.strip)
    return MemoryStore


# ── what tools changed, chats and the stop switch ─────────────────────────────────────────────────────────────────


class ChangesInSteps(MemoryStore):
    """Writes what tools changed before the turn ends."""

    def settle(self, settled: Settled) -> None:
        for change in settled.changes:
            self.commit(change)
        super().settle(replace(settled, changes=()))


def notes_are_lost(patch: Patch) -> Make:
    patch.setattr(notes, "remember_in", lambda *_: None)
    return MemoryStore


def proposals_are_lost(patch: Patch) -> Make:
    patch.setattr(proposals, "propose_in", lambda *_: None)
    return MemoryStore


def changes_any_agent(patch: Patch) -> Make:
    without(patch, messages, "_locks", "place.agent != turn.agent", "False")
    return MemoryStore


def forgets_the_detail(patch: Patch) -> Make:
    without(patch, turns, "turn_of", ", detail=row[16]", "")
    return MemoryStore


def begins_when_paused(patch: Patch) -> Make:
    patch.setattr(controls, "refuse_paused", lambda *_: None)
    return MemoryStore


def begins_unasked(patch: Patch) -> Make:
    without(patch, messages, "take", "if may is not None:", "if False:")
    return MemoryStore


def costs_nothing(patch: Patch) -> Make:
    patch.setattr(controls, "cost", lambda turn: 0)
    return MemoryStore


def one_endless_day(patch: Patch) -> Make:
    patch.setattr(controls, "day_of", lambda at_ns: "1970-01-01")
    return MemoryStore


def switches_unsaid(patch: Patch) -> Make:
    patch.setattr(controls, "log", Silent())
    return MemoryStore


class Silent:
    """A log that keeps nothing."""

    actor_of = staticmethod(log.actor_of)

    def append(self, *_: object, **__: object) -> None:
        pass


def talks(patch: Patch, old: str, new: str) -> Make:
    assert old in reading._PARTS["talk"]
    patch.setitem(reading._PARTS, "talk", reading._PARTS["talk"].replace(old, new))
    return MemoryStore


def whoever_sent_it(patch: Patch) -> Make:
    return talks(patch, "AND i.sender || '' = e.sender AND i.turn_id = e.turn_id", "")


def whoever_it_was_sent_to(patch: Patch) -> Make:
    return talks(patch, "AND o.recipient || '' = e.sender", "")


def never_begins_anew(patch: Patch) -> Make:
    return talks(patch, "e.seq > c.fresh_from", "e.seq > 0")


def half_replies(patch: Patch) -> Make:
    without(patch, conversations, "_whole", "len(whole) == len(bodies)", "True")
    return MemoryStore


def replies_to_all(patch: Patch) -> Make:
    without(patch, conversations, "woven", "if reply and first[8] >= 0", "if first[8] >= 0")
    patch.setattr(reading, "woven", conversations.woven)
    return talks(patch, "e.agent_reply <> '' AND ", "")


def sees_what_came_later(patch: Patch) -> Make:
    patch.setattr(conversations, "_BEFORE", conversations._BEFORE.replace("e.seq < ?", "e.seq <> ?"))
    return MemoryStore


def takes_of_anyone(patch: Patch) -> Make:
    patch.setattr(messages, "_OF_ONE", messages._OF_ONE.replace("AND sender || '' = ?", "AND ? IS NOT NULL"))
    return MemoryStore


TWINS: Twins = {
    "changes in steps": (of(ChangesInSteps), "a_turn_whose_text_somebody_else_changed_leaves_nothing"),
    "loses notes of tools": (notes_are_lost, "a_turn_leaves_what_its_tools_changed_with_all_else"),
    "loses proposals of tools": (proposals_are_lost, "a_turn_leaves_what_its_tools_changed_with_all_else"),
    "changes any agent": (changes_any_agent, "a_turn_that_makes_a_bad_change_note_or_proposal_leaves_nothing"),
    "forgets the detail": (forgets_the_detail, "a_turns_record_comes_back_as_it_was"),
    "begins when paused": (begins_when_paused, "an_agent_that_is_paused_begins_no_turn"),
    "begins unasked": (begins_unasked, "a_turn_that_may_not_begin_takes_and_stages_nothing"),
    "begins when paused and busy": (begins_when_paused, "a_turn_that_is_under_way_when_its_agent_is_paused_can_end"),
    "costs nothing": (costs_nothing, "every_turn_counts_to_the_day_of_its_time"),
    "has one endless day": (one_endless_day, "every_turn_counts_to_the_day_of_its_time"),
    "switches without a word": (switches_unsaid, "every_switch_is_a_row_of_its_agents_chain"),
    "shows what another sent": (whoever_sent_it, "a_chat_has_no_byte_of_another_sender"),
    "shows what another was sent": (whoever_it_was_sent_to, "a_chat_has_no_byte_of_another_sender"),
    "never begins a chat anew": (never_begins_anew, "a_chat_that_begins_anew_has_what_is_said_from_then_on"),
    "shows half of a reply": (half_replies, "what_was_never_sent_or_staged_is_as_short_as_the_log_has_it"),
    "repeats a reply": (replies_to_all, "of_several_messages_that_are_answered_together_the_last_has_the_reply"),
    "sees what came later": (sees_what_came_later, "what_a_turn_saw_of_its_chat_can_be_read_again"),
    "takes messages of anyone": (takes_of_anyone, "a_turn_of_a_whole_agent_can_be_for_one_sender"),
    "stages twice": (of(Restages), "a_message_is_staged_once_by_its_id"),
    "takes of any number of senders": (any_senders, "a_turn_takes_5_senders_and_20_messages_at_most_the_oldest_first"),
    "has no lease": (no_lease, "while_a_turn_is_under_way_its_lane_is_busy_and_no_other_is"),
    "keeps what a dead turn took": (
        nothing_given_back,
        "a_turn_that_died_gives_its_messages_back_when_its_lease_is_over",
    ),
    "believes any clock": (lease_of_any_clock, "a_clock_that_went_back_holds_a_lane_for_one_lease_at_most"),
    "settles without a lease": (settles_without_a_lease, "a_turn_that_lost_its_lane_leaves_nothing"),
    "settles in steps": (of(SettlesInSteps), "a_turn_that_cannot_leave_everything_leaves_nothing"),
    "loses what a failed turn took": (
        failed_turns_are_done,
        "a_failed_turn_leaves_its_messages_waiting_and_only_its_record",
    ),
    "records a turn twice": (turns_twice, "no_two_turns_of_an_agent_have_one_id"),
    "sends twice": (sent_twice, "a_reply_goes_out_once"),
    "looks, then sends": (of(LooksThenSends), "a_reply_that_many_send_is_sent_by_one"),
    "evicts nobody": (no_eviction, "of_200_senders_the_least_recently_active_goes"),
    "evicts who just spoke": (evicts_who_spoke, "the_one_who_just_spoke_stays_however_old_their_clock"),
    "evicts any of equals": (evicts_any_of_equals, "among_equally_inactive_senders_the_smallest_key_goes"),
    "keeps every exchange": (endless_conversations, "a_conversation_keeps_the_last_20_exchanges_the_oldest_first"),
    "keeps whole bodies": (whole_bodies, "of_each_side_500_characters_stay"),
    "keeps addresses as written": (
        addresses_as_written,
        "a_sender_is_known_by_a_trimmed_key_and_an_address_in_lower_case",
    ),
}
