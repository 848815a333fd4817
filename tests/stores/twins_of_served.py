"""Stores that break a promise about tokens, schedules, peers or other workers, each in one place."""

from __future__ import annotations

from threading import Barrier
from types import ModuleType
from typing import Any

from charter.core.records import InboxMessage, OutboxMessage
from charter.core.served import Peer
from charter.stores import messages, outbox, peers, schedules, tokens
from charter.stores.memory import MemoryStore

from .surgery import Make, Patch, Twins, of, without


def patched(owner: ModuleType, name: str, old: str, new: str) -> Any:
    """A store one of whose statements lost a condition."""

    def take_out(patch: Patch) -> Make:
        assert old in getattr(owner, name)
        patch.setattr(owner, name, getattr(owner, name).replace(old, new))
        return MemoryStore

    return take_out


# ── tokens ────────────────────────────────────────────────────────────────────────────────────────────────────────


class AnySecret(MemoryStore):
    """Keeps two tokens of one secret."""

    def __init__(self) -> None:
        super().__init__()
        with self.db.writing() as run:
            run("DROP INDEX tokens_by_hash")


def any_hash(patch: Patch) -> Make:
    patch.setattr(tokens, "hashed", lambda sha256: sha256)
    patch.setattr(peers, "hashed", lambda sha256: sha256)
    return MemoryStore


# ── schedules ─────────────────────────────────────────────────────────────────────────────────────────────────────


class LooksThenBegins(MemoryStore):
    """Looks whether a tick was begun, and begins it when everyone has looked."""

    def __init__(self) -> None:
        super().__init__()
        self.looked = Barrier(8)

    def begin_run(self, schedule_id: str, tick_ns: int, *, at_ns: int) -> bool:
        begun = [run for run in self.runs(schedule_id) if run.tick_ns == tick_ns]
        self.looked.wait()
        super().begin_run(schedule_id, tick_ns, at_ns=at_ns)
        return not begun


class BeginsAnything(MemoryStore):
    """Begins runs of schedules that are not there."""

    def begin_run(self, schedule_id: str, tick_ns: int, *, at_ns: int) -> bool:
        sql = """INSERT INTO schedule_runs VALUES (?, ?, 'begun', '', '', ?)
            ON CONFLICT (schedule_id, tick_ns) DO NOTHING RETURNING 1"""
        with self.db.writing() as run:
            return bool(run(sql, schedule_id, tick_ns, at_ns))


def runs_stay(patch: Patch) -> Make:
    line = 'run("DELETE FROM schedule_runs WHERE schedule_id = ?", schedule_id)'
    without(patch, schedules, "remove_schedule", line, "pass")
    return MemoryStore


def any_rule(patch: Patch) -> Make:
    without(patch, schedules, "_checked", "made.catch_up not in get_args(CatchUp)", "False")
    return MemoryStore


# ── peers ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def used_again(patch: Patch) -> Make:
    used = peers._USE.replace("DELETE FROM", "SELECT user_id, made_by FROM").replace("RETURNING user_id, made_by", "")
    patch.setattr(peers, "_USE", used)
    return MemoryStore


class LooksThenPairs(MemoryStore):
    """Looks whether a code is there, and uses it when everyone has looked."""

    def __init__(self) -> None:
        super().__init__()
        self.looked = Barrier(8)

    def pair(self, agent: str, channel: str, peer: str, code_sha256: str, *, at_ns: int) -> Peer | None:
        found = self.db.read("SELECT user_id FROM channel_pairings WHERE channel = ?", channel)
        self.looked.wait()
        super().pair(agent, channel, peer, code_sha256, at_ns=at_ns)
        return Peer(agent, channel, peer, found[0][0]) if found else None


# ── other workers ─────────────────────────────────────────────────────────────────────────────────────────────────


_LONGER = "CASE WHEN until_ns < ? THEN ? ELSE until_ns END"


class RenewsAlways(MemoryStore):
    """Says that every turn has its lease."""

    def renew(self, agent: str, turn_id: str, *, until_ns: int) -> bool:
        return super().renew(agent, turn_id, until_ns=until_ns) or True


def never_longer(patch: Patch) -> Make:
    without(patch, messages, "renew", _LONGER, "CASE ? WHEN ? THEN until_ns END")
    return MemoryStore


def shorter(patch: Patch) -> Make:
    without(patch, messages, "renew", _LONGER, "CASE ? WHEN 0 THEN 0 ELSE ? END")
    return MemoryStore


def of_any_turn(patch: Patch) -> Make:
    without(patch, messages, "renew", "AND turn_id = ?", "AND ? <> ''")
    return MemoryStore


def answered_in_hand(patch: Patch) -> Make:
    without(patch, messages, "answered_by", "CASE WHEN state = 'done' THEN turn_id ELSE '' END", "turn_id")
    return MemoryStore


class OldestAlone(MemoryStore):
    """Looks for who waits among the oldest messages alone."""

    def next_of_each(self, agent: str) -> list[InboxMessage]:
        found = {(one.sender, one.channel): one for one in reversed(self.staged(agent))}
        return list(reversed(found.values()))


class AnyChannel(MemoryStore):
    """Sends what waits for any channel."""

    def unsent_of(self, agent: str, channel: str) -> list[tuple[str, OutboxMessage]]:
        return self.unsent(agent)


_REVOKED = "CASE WHEN revoked_at_ns = 0 THEN ? ELSE revoked_at_ns END"
TWINS: Twins = {
    "opens with what was revoked": (
        patched(tokens, "_OF", "AND revoked_at_ns = 0", ""), "a_token_that_was_revoked_opens_nothing",
    ),
    "revokes anew": (patched(tokens, "_REVOKE", _REVOKED, "?"), "a_token_that_was_revoked_opens_nothing"),
    "keeps two tokens of one secret": (of(AnySecret), "a_token_has_an_id_and_a_secret_of_its_own"),
    "makes many tokens of one secret": (of(AnySecret), "of_many_who_make_a_token_of_one_secret_one_does"),
    "keeps a secret as it is": (any_hash, "a_token_with_a_bad_value_is_refused"),
    "keeps a code as it is": (any_hash, "a_peer_or_code_with_a_bad_value_is_refused"),
    "begins a tick again": (
        patched(schedules, "_BEGIN", "DO NOTHING", "DO UPDATE SET at_ns = excluded.at_ns"), "a_tick_is_begun_once",
    ),
    "looks, then begins": (of(LooksThenBegins), "of_many_who_begin_one_tick_one_does"),
    "begins what is not there": (of(BeginsAnything), "a_tick_is_begun_once"),
    "leaves runs behind": (of(BeginsAnything), "no_run_is_left_of_a_schedule_that_is_taken_away_meanwhile"),
    "keeps runs of what is gone": (runs_stay, "a_schedule_that_is_taken_away_goes_with_its_runs"),
    "ends a run again": (patched(schedules, "_END", "AND state = 'begun'", ""), "a_run_ends_once"),
    "ends a run for everyone": (
        patched(schedules, "_END", "AND state = 'begun'", ""), "of_many_who_end_one_run_one_does",
    ),
    "tells old runs first": (patched(schedules, "_RUNS", "tick_ns DESC", "tick_ns"), "runs_are_told_newest_first"),
    "takes any rule": (any_rule, "a_schedule_or_run_with_a_bad_value_is_refused"),
    "uses a code again": (used_again, "a_code_is_used_once"),
    "uses a code for all": (used_again, "of_many_peers_that_use_one_code_one_is_paired"),
    "looks, then pairs": (of(LooksThenPairs), "of_many_peers_that_use_one_code_one_is_paired"),
    "uses any code": (
        patched(peers, "_USE", "code_sha256 = ?", "? <> ''"), "a_peer_is_a_stranger_until_a_code_says_who_they_are",
    ),
    "uses a code of another agent": (
        patched(peers, "_USE", "agent_name = ?", "? <> ''"), "a_code_is_good_for_its_agent_its_channel_and_its_time",
    ),
    "uses a code of another channel": (
        patched(peers, "_USE", "channel = ?", "? <> ''"), "a_code_is_good_for_its_agent_its_channel_and_its_time",
    ),
    "uses a code that is late": (
        patched(peers, "_USE", "expires_at_ns > ?", "? > 0"), "a_code_is_good_for_its_agent_its_channel_and_its_time",
    ),
    "knows peers of other channels": (
        patched(peers, "_WHO", "channel = ?", "? <> ''"), "a_peer_is_a_stranger_until_a_code_says_who_they_are",
    ),
    "renews always": (of(RenewsAlways), "a_lease_that_was_lost_is_not_renewed"),
    "renews nothing": (never_longer, "a_turn_that_renews_its_lease_keeps_its_lane"),
    "renews to less": (shorter, "a_turn_that_renews_its_lease_keeps_its_lane"),
    "renews the leases of all": (of_any_turn, "a_turn_renews_its_own_lease_alone"),
    "answers what is in hand": (answered_in_hand, "a_message_tells_which_turn_answered_it"),
    "sees the oldest alone": (of(OldestAlone), "whoever_waits_is_seen_however_many_messages_others_have"),
    "tells what others were sent": (
        patched(outbox, "_SENT_TO", "AND recipient = ?", "AND ? <> ''"), "one_can_read_again_what_one_was_sent",
    ),
    "sends on any channel": (of(AnyChannel), "what_waits_to_be_sent_is_known_by_its_channel"),
}  # fmt: skip
