"""Stores that break a promise about approvals, each in one place."""

from __future__ import annotations

from threading import Barrier

from charter.core.records import Approval
from charter.stores import approvals
from charter.stores.memory import MemoryStore

from .surgery import Make, Patch, Twins, of, without


def patched(patch: Patch, name: str, old: str, new: str) -> Make:
    assert old in getattr(approvals, name)
    patch.setattr(approvals, name, getattr(approvals, name).replace(old, new))
    return MemoryStore


def used_again(patch: Patch) -> Make:
    without(patch, approvals, "use_approval", "SET state = 'used', used_by_turn = ?", "SET used_by_turn = ?")
    return MemoryStore


class LooksThenUses(MemoryStore):
    """Looks whether a call was approved, and uses it when everyone has looked."""

    def __init__(self) -> None:
        super().__init__()
        self.looked = Barrier(8)

    def use_approval(self, agent: str, user: str, tool: str, sha256: str, turn_id: str, at_ns: int) -> Approval | None:
        found = [one for one in self.approvals(agent, "approved") if (one.user, one.sha256) == (user, sha256)]
        self.looked.wait()
        super().use_approval(agent, user, tool, sha256, turn_id, at_ns)
        return found[0] if found else None


def of_any_call(patch: Patch) -> Make:
    patch.setattr(approvals, "_CALL", approvals._CALL.replace("sha256 = ?", "? IS NOT NULL"))
    return patched(patch, "_GIVEN", "sha256 = ?", "? IS NOT NULL")


def of_anyone(patch: Patch) -> Make:
    patch.setattr(approvals, "_CALL", approvals._CALL.replace("user_id = ?", "? IS NOT NULL"))
    return patched(patch, "_GIVEN", "user_id = ?", "? IS NOT NULL")


def used_when_late(patch: Patch) -> Make:
    without(patch, approvals, "use_approval", "AND expires_at_ns > ? RETURNING", "AND ? > 0 RETURNING")
    return patched(patch, "_GIVEN", "expires_at_ns > ?", "? > 0")


def used_without_a_yes(patch: Patch) -> Make:
    without(patch, approvals, "use_approval", "AND state = 'approved'", "")
    return patched(patch, "_GIVEN", "state = 'approved'", "state <> 'used'")


def decided_again(patch: Patch) -> Make:
    without(patch, approvals, "_must_wait", 'found.state != "open"', "False")
    return MemoryStore


def decided_late(patch: Patch) -> Make:
    without(patch, approvals, "_must_wait", "at_ns >= found.expires_at_ns", "False")
    return MemoryStore


def decided_over_anything(patch: Patch) -> Make:
    without(patch, approvals, "_must_wait", "sha256 != found.sha256", "False")
    return MemoryStore


def approved_when_asked(patch: Patch) -> Make:
    without(patch, approvals, "request_approval", 'state="open", ', "")
    return MemoryStore


class AsksAnew(MemoryStore):
    """Forgets what waits when it is asked about again."""

    def request_approval(self, wanted: Approval) -> Approval:
        with self.db.writing() as run:
            run("DELETE FROM tool_approvals WHERE state = 'open' AND sha256 = ?", wanted.sha256)
        return super().request_approval(wanted)


def asked_once_for_ever(patch: Patch) -> Make:
    without(patch, approvals, "request_approval", "wanted.at_ns < found.expires_at_ns", "True")
    return MemoryStore


def never_ends(patch: Patch) -> Make:
    patch.setattr(approvals, "expire", lambda *_: 0)
    return MemoryStore


TWINS: Twins = {
    "uses an approval again": (used_again, "one_approval_is_one_execution_of_exactly_that_call"),
    "looks, then uses": (of(LooksThenUses), "of_many_turns_that_use_one_approval_one_does"),
    "uses an approval for any call": (of_any_call, "one_approval_is_one_execution_of_exactly_that_call"),
    "uses an approval for anyone": (of_anyone, "one_approval_is_one_execution_of_exactly_that_call"),
    "uses an approval that is late": (used_when_late, "one_approval_is_one_execution_of_exactly_that_call"),
    "uses what nobody approved": (used_without_a_yes, "a_call_waits_for_a_person_and_is_not_made_meanwhile"),
    "uses what was denied": (used_without_a_yes, "a_call_that_was_denied_is_not_made"),
    "decides again": (decided_again, "a_decision_is_made_once_about_what_was_seen_and_in_time"),
    "decides again at once": (decided_again, "of_a_yes_and_a_no_at_once_one_counts"),
    "decides late": (decided_late, "a_decision_is_made_once_about_what_was_seen_and_in_time"),
    "decides over anything": (decided_over_anything, "a_decision_is_made_once_about_what_was_seen_and_in_time"),
    "believes who asks": (approved_when_asked, "a_call_waits_for_a_person_and_is_not_made_meanwhile"),
    "asks anew each time": (of(AsksAnew), "a_call_that_waits_already_is_not_asked_about_twice"),
    "asks once for ever": (asked_once_for_ever, "a_call_that_waits_already_is_not_asked_about_twice"),
    "never ends an approval": (never_ends, "an_approval_ends_with_its_time"),
}
