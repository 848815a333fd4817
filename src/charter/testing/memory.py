"""Contracts of memory: a note is its owner's alone, found by its words, and gone with its source (S2-06, N-10)."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from ..core.errors import BadValue, CharterError, NotStored
from ..core.ports import Store, Wanted
from ..core.records import UNKNOWN, Memory, Provenance
from ..core.text import Trust
from .check import Contract, alike, at_once, must, of, refused, same
from .parts import AGENT, DAY, OPERATOR, untouched, user

# Notes, a query, and the notes it finds, the best first.
CASES: tuple[tuple[tuple[str, ...], str, tuple[int, ...]], ...] = (
    (
        ("plans for the move", "tea", "a plan", "the cat", "a plan", "move the plan", "of the and"),
        "Plan the MOVE!", (5, 0, 4, 2),
    ),
    (("tea tea tea", "tea", "tea and coffee and cake and jam and bread and milk"), "tea?", (0, 1, 2)),
    (("red car", "red car", "red car", "red boat"), "a red boat", (3, 2, 1, 0)),
    (("rain", "rain", "sun", "rain"), "RAIN rain", (3, 1, 0)),
    (("Die Straße vor dem Haus", "GRÜSSE aus der Strasse", "Tee", "grüße an Jörg"), "straße", (1, 0)),
    (("Die Straße vor dem Haus", "GRÜSSE aus der Strasse", "Tee", "grüße an Jo\u0308rg"), "Grüße Jörg", (3, 1)),
    (("東京タワーに行きたい", "京都の寺", "東京駅で会う", "我喜欢喝茶", "서울에서 만나요"), "東京", (2, 0)),
    (("東京タワーに行きたい", "京都の寺", "東京駅で会う", "我喜欢喝茶", "서울에서 만나요"), "你喝茶吗", (3,)),
    (("東京タワーに行きたい", "京都の寺", "東京駅で会う", "我喜欢喝茶", "서울에서 만나요"), "서울", (4,)),
    (("私のiPhoneは東京で買った", "iPhone", "京都"), "iphone 東京", (0, 1)),
    (("แมวชอบกินปลา", "หมาชอบวิ่ง", "ฉันมีแมวสองตัว", "ปลาอยู่ในน้ำ"), "แมว", (0, 2)),
    (("แมวชอบกินปลา", "หมาชอบวิ่ง", "ฉันมีแมวสองตัว", "ปลาอยู่ในน้ำ"), "แมวปลา", (0, 3, 2)),
    (("हिन्दी भाषा", "चाय पीना", "दिल्ली"), "चाय", (1,)),
    (("Ｔｏｋｙｏ ﬁne", "CAFÉ", "cafe\u0301", "cafe"), "tokyo café", (0, 2, 1)),
    (("order 12345 shipped", "room 7", "born 1984-05-06"), "1984 or 7?", (1, 2)),
    (("tea", "the cat"), "the of and", ()),
    (("tea", "the cat"), "", ()),
    (("tea", "the cat"), "?! \n\0", ()),
    (("tea", "the cat"), "zebra", ()),
    (("a" * 30_000, "tea"), "a" * 30_000, (0,)),
)  # fmt: skip


def notes(store: Store, *texts: str, who: str = "ana", provenance: Provenance = UNKNOWN) -> list[str]:
    """Keeps notes; their ids."""
    return [store.remember(AGENT, who, text, day=DAY, provenance=provenance).id for text in texts]


def recalled(store: Store, query: str, *, who: str = "ana", limit: int = 20) -> list[str]:
    """What a query finds, asked alone and as a turn asks."""
    alone = store.recall(AGENT, who, query, limit)
    reads = store.for_turn(Wanted(AGENT, ("recall",), user=who, query=query))
    alike(reads.recall(AGENT, who, query, limit), alone, "what a turn recalls")
    return [note.id for note in alone]


def a_note_comes_back_as_it_was_said_with_where_it_is_from(store: Store) -> None:
    given = Provenance("mira", "telegram", "sender", "telegram:mira", Trust.PROJECT)
    text = "  tea, not coffee\r\n'%s' 東京 "
    made = store.remember(AGENT, "ana", text, day=DAY, at_ns=7, provenance=given)
    same(made, Memory(made.id, text, DAY, given), "the note")
    plain = store.remember(AGENT, "ana", "tea", day=DAY)
    same(plain.provenance, UNKNOWN, "where a note is from that nobody told of")
    alike(store.recent(AGENT, "ana", 5), [plain, made], "the newest notes")
    alike(store.recall(AGENT, "ana", "coffee", 5), [made], "what is recalled")


def recall_gives_the_best_first_and_among_equals_the_newer(store: Store) -> None:
    for number, (texts, query, wanted) in enumerate(CASES):
        ids = notes(store, *texts, who=f"user{number}")
        found = recalled(store, query, who=f"user{number}")
        alike([ids.index(one) for one in found], wanted, f"what case {number} recalls")
        for limit in (1, 2):
            alike(recalled(store, query, who=f"user{number}", limit=limit), found[:limit], "the best of them")
        for limit in (0, -1):
            alike(recalled(store, query, who=f"user{number}", limit=limit), [], "none of them")


def recall_finds_every_note_with_a_word_of_the_query_and_no_other(store: Store) -> None:
    words = ("cat", "dog", "plan", "rain", "東京", "the")
    for seed in range(8):
        chance, who = Random(seed), f"user{seed}"
        texts = [chance.choices(words, k=chance.randint(1, 6)) for _ in range(12)]
        ids = notes(store, *map(" ".join, texts), who=who)
        found = recalled(store, "cat plan 東京", who=who)
        hit = [name for name, text in zip(ids, texts, strict=True) if {"cat", "plan", "東京"} & set(text)]
        alike(sorted(found, key=int), hit, "the notes it finds")
        alike(recalled(store, "東京 plan? CAT cat", who=who, limit=3), found[:3], "the best of them, asked otherwise")


def notes_of_others_change_neither_what_is_recalled_nor_its_order(store: Store) -> None:
    texts, query, wanted = CASES[0]
    ids = []
    for number, text in enumerate(texts):
        ids += notes(store, text)
        notes(store, "plan plan plan", "move", "tea " * (number + 1), "the", who="bob")
        store.remember("bob", "ana", "plan the move", day=DAY)
    alike([ids.index(one) for one in recalled(store, query)], wanted, "what is recalled")


def the_newest_notes_come_first_and_no_more_than_asked_for(store: Store) -> None:
    ids = notes(store, "one", "two", "three", who="")
    alike([note.id for note in store.recent(AGENT, "", 2)], ids[:0:-1], "two of them")
    alike([note.id for note in store.recent(AGENT, "", 9)], ids[::-1], "all of them")
    alike([*store.recent(AGENT, "", 0), *store.recent(AGENT, "", -1)], [], "none of them")


def a_note_is_found_by_its_owner_alone(store: Store) -> None:
    notes(store, "the cat is called Biscuit")
    for agent, who in (("bob", "ana"), (AGENT, "bob"), (AGENT, ""), ("ana", AGENT), ("", "ana"), (AGENT, "Ana")):
        alike(store.recent(agent, who, 5), [], "the newest notes of another")
        alike(store.recall(agent, who, "cat Biscuit", 5), [], "what another recalls")
        reads = store.for_turn(Wanted(agent, ("recall", "recent"), user=who, query="cat", recent_of=who))
        alike([*reads.recall(agent, who, "cat", 5), *reads.recent(agent, who, 5)], [], "what another's turn reads")
    same(len(recalled(store, "cat")), 1, "what the owner recalls")


# ── where notes come from ─────────────────────────────────────────────────────────────────────────────────────────


def a_note_is_trusted_no_more_than_what_it_is_made_from(store: Store) -> None:
    levels = (Trust.OPERATOR, Trust.PROJECT, Trust.OUTSIDE)
    ids = [notes(store, f"level {level}", provenance=Provenance(trust=level))[0] for level in levels]
    for said in levels:
        for depth in range(1, 4):
            given = Provenance(trust=said, derived_from=tuple(ids[:depth]))
            made = store.remember(AGENT, "ana", "made of them", day=DAY, provenance=given)
            same(made.provenance.trust, min(said, levels[depth - 1]), "the trust of what was made")
            same(store.recent(AGENT, "ana", 1)[0], made, "the note, read again")
            again = Provenance(trust=Trust.OPERATOR, derived_from=(made.id,))
            below = store.remember(AGENT, "ana", "made of that", day=DAY, provenance=again)
            same(below.provenance.trust, made.provenance.trust, "the trust of what was made of that")


def a_note_can_be_made_only_from_notes_of_its_owner_that_are_there(store: Store) -> None:
    mine, gone = notes(store, "mine", "gone")
    (theirs,) = notes(store, "theirs", who="bob")
    store.forget_note(AGENT, "ana", gone, by=OPERATOR, at_ns=5)
    with untouched(store, "ana", "bob"):
        for derived in ((theirs,), (gone,), ("999999",), (mine, theirs)):
            refused(NotStored, store.remember, AGENT, "ana", "x", day=DAY, provenance=Provenance(derived_from=derived))
        refused(NotStored, store.remember, "bob", "ana", "x", day=DAY, provenance=Provenance(derived_from=(mine,)))


def revoking_a_source_takes_back_all_that_came_of_it_and_nothing_else(store: Store) -> None:
    bad, good = Provenance(source="web:evil"), Provenance(source="web:good")
    (root,) = notes(store, "tea root", provenance=bad)
    (child,) = notes(store, "tea child", provenance=Provenance(derived_from=(root,)))
    notes(store, "tea grandchild", provenance=Provenance(source="web:third", derived_from=(child,)))
    kept = notes(store, "tea kept", "tea too", provenance=good)
    kept += notes(store, "tea plain")
    notes(store, "tea of bob", who="bob", provenance=bad)
    elsewhere = store.remember("bob", "ana", "tea elsewhere", day=DAY, provenance=bad)
    alike(store.sources(AGENT), [("web:evil", 4), ("web:good", 2), ("web:third", 1)], "the sources")
    same(store.revoke(AGENT, "web:never", by=OPERATOR, at_ns=8), 0, "how many came of an unknown source")
    same(store.revoke(AGENT, "web:evil", by=OPERATOR, at_ns=9), 4, "how many were taken back")
    same(store.revoke(AGENT, "web:evil", by=OPERATOR, at_ns=9), 0, "how many were taken back again")
    same(sorted(recalled(store, "tea"), key=int), kept, "what is recalled")
    alike([note.id for note in store.recent(AGENT, "ana", 9)], kept[::-1], "the newest notes")
    alike(store.recent(AGENT, "bob", 9), [], "what bob has left")
    alike(store.recent("bob", "ana", 9), [elsewhere], "another agent's note of the same source")
    alike(store.sources(AGENT), [("web:good", 2)], "the sources that are left")


def a_note_that_was_taken_back_does_not_count_in_what_is_recalled(store: Store) -> None:
    texts, query, wanted = CASES[0]
    bad = Provenance(source="bad")
    ids = []
    for text in texts:
        notes(store, "plan plan plan move", "move", provenance=bad)
        ids += notes(store, text)
        store.forget_note(AGENT, "ana", notes(store, "plan " * 9)[0], by=OPERATOR, at_ns=4)
    store.revoke(AGENT, "bad", by=OPERATOR, at_ns=5)
    alike([ids.index(one) for one in recalled(store, query)], wanted, "what is recalled")


def a_note_can_be_forgotten_by_its_owner_once(store: Store) -> None:
    one, two = notes(store, "tea one", "tea two")
    (theirs,) = notes(store, "tea", who="bob")
    for who, name in (("bob", one), ("ana", theirs), ("", one), ("ana", "999999")):
        refused(NotStored, store.forget_note, AGENT, who, name, by=user("ana"), at_ns=5)
    refused(NotStored, store.forget_note, "bob", "ana", one, by=user("ana"), at_ns=5)
    store.forget_note(AGENT, "ana", one, by=user("ana"), at_ns=5)
    refused(NotStored, store.forget_note, AGENT, "ana", one, by=user("ana"), at_ns=6)
    alike(recalled(store, "tea"), [two], "what is recalled")
    alike([note.id for note in store.recent(AGENT, "ana", 9)], [two], "the newest notes")
    alike(recalled(store, "tea", who="bob"), [theirs], "what bob recalls")


def a_day_is_a_day_of_the_calendar(store: Store) -> None:
    for day in ("", "today", "2026-13-01", "2026-02-30", "26-1-1", "2026-01-01T00:00", "2026-01-0\0"):
        refused(BadValue, store.remember, AGENT, "ana", "tea", day=day)
    alike(store.recent(AGENT, "ana", 5), [], "what was kept")
    made = store.remember(AGENT, "ana", "tea", day="20260102")
    same((made.day, store.recent(AGENT, "ana", 1)[0].day), (DAY, DAY), "another way to write a day")


def eight_threads_lose_no_note_and_find_each(store: Store) -> None:
    def keep(thread: int) -> list[str]:
        bad = Provenance(source=f"s{thread % 2}")
        return [note for number in range(10) for note in notes(store, f"tea {thread} x{number}", provenance=bad)]

    ends = at_once(8, keep)
    alike(of(CharterError, ends), [], "what went wrong")
    ids = sorted((int(name) for names in of(list, ends) for name in names), reverse=True)
    alike([int(note.id) for note in store.recent(AGENT, "ana", 100)], ids, "the newest notes")
    alike([int(name) for name in recalled(store, "tea", limit=100)], ids, "what is recalled")
    counts = at_once(8, lambda _: store.revoke(AGENT, "s0", by=OPERATOR, at_ns=9))
    same(sum(of(int, counts)), 40, "how many were taken back, by whoever it was")
    must(all(note.provenance == replace(UNKNOWN, source="s1") for note in store.recent(AGENT, "ana", 100)), "the rest")


CONTRACTS: tuple[Contract, ...] = (
    a_note_comes_back_as_it_was_said_with_where_it_is_from,
    recall_gives_the_best_first_and_among_equals_the_newer,
    recall_finds_every_note_with_a_word_of_the_query_and_no_other,
    notes_of_others_change_neither_what_is_recalled_nor_its_order,
    the_newest_notes_come_first_and_no_more_than_asked_for,
    a_note_is_found_by_its_owner_alone,
    a_note_is_trusted_no_more_than_what_it_is_made_from,
    a_note_can_be_made_only_from_notes_of_its_owner_that_are_there,
    revoking_a_source_takes_back_all_that_came_of_it_and_nothing_else,
    a_note_that_was_taken_back_does_not_count_in_what_is_recalled,
    a_note_can_be_forgotten_by_its_owner_once,
    a_day_is_a_day_of_the_calendar,
    eight_threads_lose_no_note_and_find_each,
)
