"""Stores that break a promise about layers, the log or proposals, each in one place."""

from __future__ import annotations

from dataclasses import replace
from threading import Barrier
from typing import Any

from charter.core.chain import START
from charter.core.records import Change, Decision, Head, StoredLayer
from charter.stores import layers, log, proposals, reading
from charter.stores.memory import MemoryStore

from .surgery import Make, Patch, Twins, of, without

# ── layers and the log ────────────────────────────────────────────────────────────────────────────────────────────


class BlindWrites(MemoryStore):
    """Writes on whatever version is there."""

    def commit(self, change: Change) -> StoredLayer:
        head = self.head(change.place)
        return super().commit(replace(change, expected_version=head.version if head else 0))


def shared_heads(patch: Patch) -> Make:
    soul = layers._HEADS[Head.SOUL]
    read = soul.read.replace("v.at_ns", "c.updated_at_ns").replace("v.updated_by", "c.updated_by")
    patch.setitem(layers._HEADS, Head.SOUL, replace(soul, read=read))
    return MemoryStore


def no_history(patch: Patch) -> Make:
    patch.setattr(layers, "_VERSIONS", layers._VERSIONS + " AND version > 1")
    return MemoryStore


def labels_for_all_layers(patch: Patch) -> Make:
    patch.setitem(reading._PARTS, "labelled", reading._PARTS["labelled"].replace("AND v.layer_id = l.layer_id", ""))
    return MemoryStore


def label_falls_back(patch: Patch) -> Make:
    without(patch, reading.TurnReads, "layer", "if self.want.label:", "if False:")
    return MemoryStore


def names_in_the_log(patch: Patch) -> Make:
    patch.setattr(log, "actor_of", lambda db, by, *, personal: by.mark)
    return MemoryStore


def names_of_chains(patch: Patch) -> Make:
    patch.setattr(log, "chain_of", lambda db, agent, person="": f"{agent}/{person}" if person else agent)
    return MemoryStore


def loose_chain(patch: Patch) -> Make:
    without(patch, log, "append", "(head[0][0] + 1, head[0][1])", f"(head[0][0] + 1, {START!r})")
    return MemoryStore


def rewritten_log(patch: Patch) -> Make:
    patch.setattr(log, "_ROWS", log._ROWS.replace("at_ns, detail", "at_ns + 1, detail"))
    return MemoryStore


# ── proposals ─────────────────────────────────────────────────────────────────────────────────────────────────────


def blind_apply(patch: Patch) -> Make:
    line = "if found.content is None or decision.sha256 != found.sha256:"
    without(patch, proposals, "_unswapped", line, "if found.content is None:")
    return MemoryStore


def applied_again(patch: Patch) -> Make:
    patch.setattr(proposals, "_must_be_open", lambda found: None)
    return MemoryStore


def applied_late(patch: Patch) -> Make:
    without(patch, proposals, "_open", "if decision.at_ns >= found.expires_at_ns:", "if False:")
    return MemoryStore


def applied_on_any_version(patch: Patch) -> Make:
    instead = "Change(found.place, content, _now(run, found.place), found.by, decision.at_ns)"
    patch.setattr(proposals, "_now", _version_now, raising=False)
    without(
        patch, proposals, "apply", "Change(found.place, content, found.base_version, found.by, decision.at_ns)", instead
    )
    return MemoryStore


def _version_now(run: Any, place: Any) -> int:
    head = layers._head(run, place)
    return head.version if head else 0


def expires_everything(patch: Patch) -> Make:
    without(patch, proposals, "expire", "if found.expires_at_ns <= at_ns", "")
    return MemoryStore


class LooksThenApplies(MemoryStore):
    """Looks whether a proposal is open, and writes when everyone has looked."""

    def __init__(self) -> None:
        super().__init__()
        self.looked = Barrier(12)

    def apply(self, decision: Decision) -> StoredLayer:
        found = self.proposal(decision.proposal_id)
        self.looked.wait()
        return self._put(found.place, found.content or "", found.by, decision.at_ns)


TWINS: Twins = {
    "writes on any version": (of(BlindWrites), "a_change_made_on_another_version_is_a_conflict_and_writes_nothing"),
    "one author for soul and identity": (shared_heads, "the_four_heads_of_an_agent_do_not_touch_each_other"),
    "forgets the first version": (no_history, "versions_follow_each_other_and_history_keeps_every_text_with_its_hash"),
    "one label for all layers": (labels_for_all_layers, "with_a_label_a_turn_reads_labelled_versions_and_nothing_else"),
    "falls back from a label": (label_falls_back, "with_a_label_a_turn_reads_labelled_versions_and_nothing_else"),
    "names people in the log": (names_in_the_log, "no_row_of_the_log_names_a_person"),
    "names chains after people": (names_of_chains, "no_row_of_the_log_names_a_person"),
    "does not chain the log": (loose_chain, "the_log_follows_and_only_grows_whatever_is_done"),
    "rewrites the log": (rewritten_log, "the_log_follows_and_only_grows_whatever_is_done"),
    "applies another text": (blind_apply, "an_approval_of_another_text_is_refused"),
    "applies twice": (applied_again, "an_approval_applies_a_proposal_once_exactly_as_it_was_seen"),
    "applies when it is over": (applied_late, "a_proposal_cannot_be_approved_when_its_time_is_over"),
    "applies on any version": (applied_on_any_version, "a_proposal_made_on_another_version_is_stale"),
    "expires what is not over": (expires_everything, "what_is_over_expires_once_and_nothing_else_does"),
    "looks, then applies": (of(LooksThenApplies), "of_many_approvals_at_once_exactly_one_applies"),
}
