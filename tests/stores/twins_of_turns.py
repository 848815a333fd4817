"""Stores that break a promise about messages, turns or conversations, each in one place."""

from __future__ import annotations

from dataclasses import replace
from threading import Barrier

from charter.core.records import InboxMessage, OutboxMessage, Settled
from charter.stores import messages, turns
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
    patch.setattr(messages, "_lease", lambda *_: "")
    return MemoryStore


def nothing_given_back(patch: Patch) -> Make:
    patch.setattr(messages, "_give_back", lambda *_: None)
    return MemoryStore


def lease_of_any_clock(patch: Patch) -> Make:
    without(patch, messages, "_lease", "if until > at_ns + lease_ns:", "if False:")
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
    without(patch, messages, "mark_sent", "AND sent_at_ns = 0", "")
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
    patch.setattr(messages, "_evict", lambda *_: None)
    return MemoryStore


def evicts_who_spoke(patch: Patch) -> Make:
    without(patch, messages, "_evict", "agent, newest, count", "agent, '', count")
    return MemoryStore


def evicts_any_of_equals(patch: Patch) -> Make:
    without(patch, messages, "_evict", "ORDER BY last_activity_ns, sender", "ORDER BY last_activity_ns, sender DESC")
    return MemoryStore


def endless_conversations(patch: Patch) -> Make:
    patch.setattr(messages, "MAX_ENTRIES", 10**6)
    return MemoryStore


def whole_bodies(patch: Patch) -> Make:
    patch.setattr(messages, "MAX_STORED_CHARS", 10**6)
    return MemoryStore


def addresses_as_written(patch: Patch) -> Make:
    patch.setattr(messages, "sender_key", str.strip)
    return MemoryStore


TWINS: Twins = {
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
