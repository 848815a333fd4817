"""Contracts of stored layers: one writer wins, nothing is overwritten, every text it was can be read (S0-03, N-03)."""

from __future__ import annotations

import hashlib
import json

from ..core.errors import Conflict, NotStored
from ..core.ports import Store, Wanted
from ..core.records import INIT, Change, Label, Place, StoredLayer, Version
from .check import Contract, alike, refused, same, there
from .parts import AGENT, IDENTITY, OPERATOR, RULES, SOUL, agent_in, put, untouched, user, wishes

OTHER = Place(AGENT, "tone")
TEXTS = (
    "plain", " spaces kept \t", "a\r\nb\nc\u2028d", "'; DROP TABLE prompt_layers; --", "%s ? ?? $1 {x} \\x00 \\u0000",
    "grüße, 東京, ไทย, עברית, 👩‍👩‍👧, e\u0301 ≠ é", "\ufeffmark", "\u202eright to left", "x" * 100_000,
)  # fmt: skip


def a_layer_that_was_never_written_is_not_there(store: Store) -> None:
    for place in (RULES, SOUL, IDENTITY, wishes("ana")):
        same(store.head(place), None, f"the text of {place.layer_id}")
        alike(store.history(place), [], f"the history of {place.layer_id}")
        refused(NotStored, store.version, place, 1)
    same(store.layer(AGENT, "rules"), None, "the layer")
    alike(store.labels(AGENT), [], "the labels")
    alike(store.chains(), [], "the chains of the log")


def the_first_text_is_version_1_by_init_and_a_later_start_does_not_overwrite_it(store: Store) -> None:
    first = store.commit(Change(RULES, "shipped", 0, INIT, 7, "seed"))
    same(first, StoredLayer("rules", "shipped", 7, "init", 1), "the first text")
    told = refused(Conflict, store.commit, Change(RULES, "newer", 0, INIT, 8, "seed"))
    same(told.current, 1, "the version the conflict names")
    same(store.layer(AGENT, "rules"), first, "the layer")
    put(store, RULES, "the agent's own", by=agent_in("t1"))
    refused(Conflict, store.commit, Change(RULES, "shipped", 0, INIT, 9, "seed"))
    same(there(store.layer(AGENT, "rules")).content, "the agent's own", "the layer")


def a_change_made_on_another_version_is_a_conflict_and_writes_nothing(store: Store) -> None:
    for place in (RULES, SOUL, wishes("ana")):
        for text in ("one", "two"):
            put(store, place, text)
        with untouched(store, "ana"):
            for expected in (0, 1, 3, 99, -1):
                told = refused(Conflict, store.commit, Change(place, "lost", expected, OPERATOR, 9))
                same((told.expected, told.current), (expected, 2), "the versions the conflict names")
    told = refused(Conflict, store.commit, Change(OTHER, "lost", 1, OPERATOR, 9))
    same(told.current, 0, "the version of a layer that is not there")


def versions_follow_each_other_and_history_keeps_every_text_with_its_hash(store: Store) -> None:
    authors = (INIT, agent_in("t1"), OPERATOR, user("ana"), agent_in("t2"))
    wanted = []
    for number, by in enumerate(authors, 1):
        text = f"text {number}"
        written = store.commit(Change(RULES, text, number - 1, by, number * 10))
        same(written, StoredLayer("rules", text, number * 10, by.mark, number), "what was written")
        same(store.head(RULES), written, "the text now")
        digest = hashlib.sha256(text.encode()).hexdigest()
        wanted.append(Version(number, text, digest, "", str(by.actor), by.mark, number * 10))
        alike(store.history(RULES), wanted, "the history")
    for version in wanted:
        same(store.version(RULES, version.version), version, "one version")
    for number in (0, 6, -1):
        refused(NotStored, store.version, RULES, number)


def what_a_text_was_at_any_time_can_be_read(store: Store) -> None:
    for place in (RULES, SOUL, wishes("ana")):
        for number, at_ns in enumerate((10, 20, 20, 15)):
            put(store, place, f"text {number}", at_ns=at_ns)
        for at_ns, version in ((9, None), (10, 1), (14, 1), (15, 4), (19, 4), (20, 4), (2**62, 4)):
            found = store.version_at(place, at_ns)
            same(found and found.version, version, f"the version at {at_ns}")
        same(store.version_at(place, 12), store.version(place, 1), "the version, whole")
    same(store.version_at(OTHER, 99), None, "the version of a text that is not there")
    same(store.version_at(wishes("bob"), 99), None, "the version of another's text")


def going_back_is_a_new_version_that_says_what_it_restores(store: Store) -> None:
    put(store, RULES, "one")
    put(store, RULES, "two")
    store.commit(Change(RULES, "one", 2, OPERATOR, 5, "rollback", 1))
    alike([row.content for row in store.history(RULES)], ["one", "two", "one"], "the texts")
    alike([row.restores for row in store.history(RULES)], [None, None, 1], "what each restores")
    row = store.log(AGENT)[-1]
    same((row.kind, row.version), ("rollback", 3), "the log's last row")


def every_text_comes_back_to_the_byte(store: Store) -> None:
    for place in (RULES, SOUL, wishes("ana")):
        for text in TEXTS:
            put(store, place, text)
            same(there(store.head(place)).content, text, f"the text of {place.layer_id}")
        alike([row.content for row in store.history(place)], TEXTS, f"the history of {place.layer_id}")
        for row in store.history(place):
            if not row.key_id:
                same(row.sha256, hashlib.sha256((row.content or "").encode()).hexdigest(), "its hash")


def the_four_heads_of_an_agent_do_not_touch_each_other(store: Store) -> None:
    texts = {RULES: "rules", SOUL: "soul", IDENTITY: '{"name": "Ada"}', wishes("ana"): "wishes"}
    for number, (place, text) in enumerate(texts.items(), 1):
        put(store, place, text, by=agent_in(f"t{number}"), at_ns=number)
    heads = {place: store.head(place) for place in texts}
    same([head and head.version for head in heads.values()], [1, 1, 1, 1], "their versions")
    for number, (place, text) in enumerate(texts.items(), 10):
        before = {other: (store.head(other), list(store.history(other))) for other in texts if other is not place}
        put(store, place, text, by=agent_in(f"t{number}"), at_ns=number)
        after = {other: (store.head(other), list(store.history(other))) for other in before}
        same(after, before, f"the others after a change of {place.layer_id}")
        head = there(store.head(place))
        same((head.version, head.updated_at_ns, head.updated_by_turn), (2, number, f"t{number}"), place.layer_id)


def an_identity_is_kept_as_the_json_it_is(store: Store) -> None:
    for identity in (
        {"name": "Ada", "vibe": 'quiet "x" \\ é 東京'},
        {},
        {"b": 1, "aa": [1.5, None, {"c": True}]},
        None,
    ):
        put(store, IDENTITY, json.dumps(identity))
        same(json.loads(there(store.head(IDENTITY)).content), identity, "the identity")
        same(json.loads(there(store.agent_configuration(AGENT)).identity), identity, "the agent's configuration")


def layers_of_one_agent_are_not_those_of_another(store: Store) -> None:
    for agent in ("ada", "Ada", "ad", "ada ", "ada/x"):
        put(store, Place(agent, "rules"), f"of {agent}")
    for agent in ("ada", "Ada", "ad", "ada ", "ada/x"):
        found = there(store.layer(agent, "rules"))
        same((found.content, found.version), (f"of {agent}", 1), f"the layer of {agent!r}")
    for agent in ("", "ADA", "a%", "ada_"):
        same(store.layer(agent, "rules"), None, f"the layer of {agent!r}")


# ── labels ────────────────────────────────────────────────────────────────────────────────────────────────────────


def a_label_names_one_version_of_one_layer_and_moves(store: Store) -> None:
    for text in ("one", "two"):
        put(store, RULES, text)
        put(store, OTHER, text)
    given = store.set_label(RULES, "prod", 1, by=OPERATOR, at_ns=5)
    same(given, Label("rules", "prod", 1, "admin:olga", 5), "the label")
    store.set_label(OTHER, "prod", 2, by=OPERATOR, at_ns=6)
    store.set_label(RULES, "next", 2, by=OPERATOR, at_ns=7)
    moved = store.set_label(RULES, "prod", 2, by=OPERATOR, at_ns=8)
    wanted = [Label("rules", "next", 2, "admin:olga", 7), moved, Label("tone", "prod", 2, "admin:olga", 6)]
    alike(store.labels(AGENT), wanted, "the labels, by name and layer")
    alike(store.labels("bob"), [], "another agent's labels")
    same(there(store.layer(AGENT, "rules")).version, 2, "the layer's own version")


def a_label_for_a_version_that_is_not_there_is_refused(store: Store) -> None:
    put(store, RULES, "one")
    with untouched(store):
        for place, number in ((RULES, 2), (RULES, 0), (OTHER, 1), (Place("bob", "rules"), 1)):
            refused(NotStored, store.set_label, place, "prod", number, by=OPERATOR, at_ns=5)


def with_a_label_a_turn_reads_labelled_versions_and_nothing_else(store: Store) -> None:
    for text in ("one", "two", "three"):
        put(store, RULES, text, at_ns=4)
        put(store, OTHER, text)
        put(store, Place("bob", "tone"), text)
    store.set_label(RULES, "prod", 2, by=OPERATOR, at_ns=5)
    store.set_label(OTHER, "next", 1, by=OPERATOR, at_ns=5)
    store.set_label(Place("bob", "tone"), "prod", 1, by=OPERATOR, at_ns=5)
    reads = store.for_turn(Wanted(AGENT, ("layers",), label="prod"))
    same(reads.layer(AGENT, "rules"), StoredLayer("rules", "two", 4, "admin:olga", 2), "the labelled layer")
    refused(NotStored, reads.layer, AGENT, "tone")
    refused(NotStored, reads.layer, AGENT, "never")
    same(
        there(store.for_turn(Wanted(AGENT, ("layers",))).layer(AGENT, "rules")).version, 3, "the layer without a label"
    )


CONTRACTS: tuple[Contract, ...] = (
    a_layer_that_was_never_written_is_not_there,
    the_first_text_is_version_1_by_init_and_a_later_start_does_not_overwrite_it,
    a_change_made_on_another_version_is_a_conflict_and_writes_nothing,
    versions_follow_each_other_and_history_keeps_every_text_with_its_hash,
    what_a_text_was_at_any_time_can_be_read,
    going_back_is_a_new_version_that_says_what_it_restores,
    every_text_comes_back_to_the_byte,
    the_four_heads_of_an_agent_do_not_touch_each_other,
    an_identity_is_kept_as_the_json_it_is,
    layers_of_one_agent_are_not_those_of_another,
    a_label_names_one_version_of_one_layer_and_moves,
    a_label_for_a_version_that_is_not_there_is_refused,
    with_a_label_a_turn_reads_labelled_versions_and_nothing_else,
)
