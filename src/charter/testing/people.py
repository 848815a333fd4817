"""Contracts of people and agents: one text per user and agent, a time zone that exists, an operator's settings (S4)."""

from __future__ import annotations

import json
from dataclasses import replace

from ..core.errors import BadValue, Conflict
from ..core.ports import AgentConfiguration, Store
from ..core.records import Change, Place
from .check import Contract, alike, refused, same, there
from .parts import AGENT, IDENTITY, OPERATOR, RULES, SOUL, put, untouched, user, wishes

NO_IDENTITIES = (
    "", "no", "[]", "1", '"x"', "{", "{'a': 1}", '{"a": NaN}', '{"a": Infinity}', '{"a": 1e999}', '{"a": "\\u0000"}',
    '{"a": "\\ud800"}', '{"\\u0000": 1}', '{"a": 1} {"b": 2}', "[" * 50_000, '{"a":' * 20_000,
)  # fmt: skip


def instructions_belong_to_one_user_with_one_agent(store: Store) -> None:
    pairs = [("ada", "ana"), ("ada", "bob"), ("bob", "ana"), ("ada", "Ana"), ("ana", "ada"), ("ada", "ana ")]
    for agent, name in pairs:
        put(store, wishes(name, agent), f"{agent} for {name}", by=user(name))
    for agent, name in pairs:
        same(store.instructions(agent, name), f"{agent} for {name}", "the instructions")
        same(len(store.history(wishes(name, agent))), 1, "how many versions there are")
    for agent, name in (("ada", ""), ("", "ana"), ("ada", "ANA"), ("eve", "ana"), ("ada", "%"), ("ada", "an_")):
        same(store.instructions(agent, name), "", "the instructions of nobody")


def instructions_are_replaced_whole_and_empty_ones_clear_them(store: Store) -> None:
    texts = ("one", "two " * 20_000, "", "three")
    for number, text in enumerate(texts, 1):
        written = put(store, wishes("ana"), text, by=user("ana"), at_ns=number)
        same((written.version, written.updated_by_turn), (number, "user:ana"), "what was written")
        same(store.instructions(AGENT, "ana"), text, "the instructions")
    alike([row.content for row in store.history(wishes("ana"))], texts, "every text there was")
    refused(Conflict, store.commit, Change(wishes("ana"), "lost", 3, user("ana"), 9))


def only_instructions_belong_to_a_user_and_they_always_do(store: Store) -> None:
    put(store, RULES, "for all")
    wrong = [wishes("")] + [replace(place, user="ana") for place in (RULES, SOUL, IDENTITY)]
    with untouched(store, "ana"):
        for place in wrong:
            for expected in (0, 1):
                refused(BadValue, store.commit, Change(place, "{}", expected, OPERATOR, 5))
        refused(BadValue, store.set_label, wishes("ana"), "prod", 1, by=OPERATOR, at_ns=5)


def a_time_zone_exists_or_is_refused(store: Store) -> None:
    same(store.timezone("ana"), None, "a zone that was not set")
    for zone in ("Europe/Lisbon", "UTC", "America/Argentina/Buenos_Aires"):
        store.set_timezone("ana", zone)
        same(store.timezone("ana"), zone, "the zone")
    for zone in (
        "",
        "Mars/Base",
        "Europe/",
        "../../etc/passwd",
        "/etc/localtime",
        "GMT+25",
        "Europe/Lisbon\0",
        "\ud800",
    ):
        refused(BadValue, store.set_timezone, "ana", zone)
    for name in ("", "x" * 201, "a\nb", "a\0"):
        refused(BadValue, store.set_timezone, name, "UTC")
    same((store.timezone("ana"), store.timezone("Ana")), ("America/Argentina/Buenos_Aires", None), "the zones")


def an_agents_configuration_is_its_soul_and_identity_with_their_versions(store: Store) -> None:
    same(store.agent_configuration(AGENT), None, "a configuration that was not set")
    put(store, SOUL, "calm")
    same(store.agent_configuration(AGENT), AgentConfiguration("calm", "", 1, 0), "with a soul alone")
    put(store, SOUL, "bold")
    put(store, IDENTITY, '{"name": "Ada"}')
    found = there(store.agent_configuration(AGENT))
    same((found.soul, found.soul_version, found.identity_version), ("bold", 2, 1), "the configuration")
    same(json.loads(found.identity), {"name": "Ada"}, "the identity")
    same(store.agent_configuration("Ada"), None, "another agent's")
    put(store, Place("bob", "identity", head=IDENTITY.head), "{}")
    same(there(store.agent_configuration("bob")).soul, "", "the soul of one with an identity alone")


def an_identity_is_a_json_object_or_refused(store: Store) -> None:
    put(store, IDENTITY, "{}")
    with untouched(store):
        for text in NO_IDENTITIES:
            refused(BadValue, store.commit, Change(IDENTITY, text, 1, OPERATOR, 5))


CONTRACTS: tuple[Contract, ...] = (
    instructions_belong_to_one_user_with_one_agent,
    instructions_are_replaced_whole_and_empty_ones_clear_them,
    only_instructions_belong_to_a_user_and_they_always_do,
    a_time_zone_exists_or_is_refused,
    an_agents_configuration_is_its_soul_and_identity_with_their_versions,
    an_identity_is_a_json_object_or_refused,
)
