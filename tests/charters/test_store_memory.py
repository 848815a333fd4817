"""The store in memory: the design's limits, every key with its owner in it, and both under many threads."""

from __future__ import annotations

from collections.abc import Callable
from threading import Barrier, Thread

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from charter.core.errors import BadValue
from charter.core.ports import ConversationEntry, ConversationLog, InboxMessage, Memory
from charter.stores.memory import MemoryStore

ADDRESS = "0xAbCdEf0000000000000000000000000000001234"


def entry(number: int, *, at: int | None = None, body: str = "q", reply: str = "a") -> ConversationEntry:
    return ConversationEntry(f"m{number}", body, reply, f"t{number}", number if at is None else at)


# ── conversations (S0-12) ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("S0-12")
def test_a_log_keeps_the_last_20_exchanges_the_oldest_first() -> None:
    store = MemoryStore()
    for number in range(21):
        store.append_conversation("a", "mira", entry(number))
        log = store.conversation("a", "mira")
        assert log is not None
        assert len(log.entries) == min(number + 1, 20)
    assert log == ConversationLog("mira", tuple(entry(number) for number in range(1, 21)), 20)


@pytest.mark.requirement("S0-12")
@pytest.mark.parametrize(("size", "kept"), [(499, 499), (500, 500), (501, 500), (9000, 500)])
def test_500_characters_stay_of_each_side(size: int, kept: int) -> None:
    store = MemoryStore()
    store.append_conversation("a", "mira", entry(1, body="é" * size, reply="日" * size))
    log = store.conversation("a", "mira")
    assert log is not None
    assert log.entries == (entry(1, body="é" * kept, reply="日" * kept),)


@pytest.mark.requirement("S0-12")
@pytest.mark.parametrize(
    ("sender", "key"),
    [
        (ADDRESS, ADDRESS.lower()),
        (f"  {ADDRESS}\n", ADDRESS.lower()),
        (ADDRESS.replace("0x", "0X"), ADDRESS.lower()),
        (" Mira ", "Mira"),
        ("0xyz", "0xyz"),
        ("ÄÖ", "ÄÖ"),
    ],
)
def test_a_sender_is_known_by_a_trimmed_key_and_an_address_in_lower_case(sender: str, key: str) -> None:
    store = MemoryStore()
    store.append_conversation("a", sender, entry(1))
    store.append_conversation("a", key, entry(2))
    store.stage("a", InboxMessage("m", sender, "hi"))
    assert [log.sender for log in store.conversations("a")] == [key]
    assert (
        store.conversation("a", sender) == store.conversation("a", key) == ConversationLog(key, (entry(1), entry(2)), 2)
    )
    assert [message.sender for message in store.staged("a")] == [key]


@pytest.mark.requirement("S0-12")
@pytest.mark.parametrize("sender", ["0x12", ADDRESS[:-1], ADDRESS + "0"])
def test_an_address_of_the_wrong_length_is_refused_everywhere(sender: str) -> None:
    store, size = MemoryStore(), len(sender) - 2
    calls: tuple[Callable[[], object], ...] = (
        lambda: store.append_conversation("a", sender, entry(1)),
        lambda: store.stage("a", InboxMessage("m", sender, "hi")),
        lambda: store.conversation("a", sender),
    )
    for call in calls:
        with pytest.raises(
            BadValue, match=f"^sender: an Ethereum address is 0x and 40 hex digits; this one has {size}$"
        ):
            call()
    assert store.conversations("a") == []


@pytest.mark.requirement("S0-12")
def test_200_senders_stay_and_the_least_recently_active_goes() -> None:
    store = MemoryStore()
    for number in range(200):
        store.append_conversation("a", f"s{number:03}", entry(number, at=1000 + number))
    store.append_conversation("a", "s000", entry(500, at=5000))
    store.append_conversation("a", "new", entry(501, at=6000))
    logs = store.conversations("a")
    assert len(logs) == 200
    assert store.conversation("a", "s001") is None
    assert [log.sender for log in logs[:3]] == ["new", "s000", "s199"]
    assert [log.last_activity_ns for log in logs] == sorted((log.last_activity_ns for log in logs), reverse=True)


@pytest.mark.requirement("S0-12")
def test_among_equally_inactive_senders_the_smallest_key_goes() -> None:
    store = MemoryStore()
    for number in (*range(100, 200), *range(100)):
        store.append_conversation("a", f"s{number:03}", entry(1, at=7))
    for number in range(3):
        store.append_conversation("a", f"t{number}", entry(1, at=8))
    gone = {f"s{number:03}" for number in range(200)} - {log.sender for log in store.conversations("a")}
    assert gone == {"s000", "s001", "s002"}


@pytest.mark.requirement("S0-12")
def test_an_exchange_that_comes_late_does_not_make_its_sender_look_inactive() -> None:
    store = MemoryStore()
    store.append_conversation("a", "mira", entry(1, at=9))
    store.append_conversation("a", "mira", entry(2, at=3))
    assert store.conversation("a", "mira") == ConversationLog("mira", (entry(1, at=9), entry(2, at=3)), 9)


@pytest.mark.requirement("S0-12")
def test_the_limit_of_senders_holds_for_each_agent_alone() -> None:
    store = MemoryStore()
    for number in range(200):
        store.append_conversation("a", f"s{number}", entry(number))
    store.append_conversation("b", "mira", entry(1000))
    assert (len(store.conversations("a")), len(store.conversations("b"))) == (200, 1)
    assert store.conversation("a", "mira") is None


@pytest.mark.requirement("S0-12")
@settings(max_examples=25, deadline=None, phases=(Phase.generate,))  # shrinking such lists takes minutes
@given(st.lists(st.tuples(st.integers(0, 260), st.integers(0, 50)), min_size=200, max_size=300))
def test_the_limits_are_those_of_a_plain_model_whatever_is_appended(appended: list[tuple[int, int]]) -> None:
    store = MemoryStore()
    model: dict[str, tuple[list[int], int]] = {}
    for number, (who, at) in enumerate(appended):
        key = f"s{who}"
        store.append_conversation("a", key, entry(number, at=at))
        kept, last = model.get(key, ([], 0))
        model[key] = ([*kept, number][-20:], max(last, at))
        if len(model) > 200:
            del model[min((last, name) for name, (_, last) in model.items() if name != key)[1]]
    found = {
        log.sender: ([int(e.turn_id[1:]) for e in log.entries], log.last_activity_ns)
        for log in store.conversations("a")
    }
    assert found == model


@pytest.mark.requirement("S0-12")
def test_eight_threads_keep_the_limits_and_lose_nothing() -> None:
    store, start, errors = MemoryStore(), Barrier(8), list[BaseException]()

    def work(thread: int) -> None:
        try:
            start.wait()
            for number in range(200):
                store.append_conversation("a", "shared", entry(thread * 1000 + number, at=10**6))
                store.append_conversation("a", f"s{thread}-{number}", entry(number))
                store.put_layer("a", "inbox", f"{thread}.{number}", by=f"turn-{thread}")
                store.remember("a", "", f"note {thread}.{number}", day="2026-01-01")
                store.stage("a", InboxMessage(f"{thread}.{number}", "mira", "hi"))
                assert len(store.conversations("a")) <= 200
                assert len(store.recent("a", "", 5)) <= 5
        except BaseException as error:
            errors.append(error)

    threads = [Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    logs = store.conversations("a")
    assert len(logs) == 200
    assert (logs[0].sender, len(logs[0].entries)) == ("shared", 20)
    record = store.layer("a", "inbox")
    assert record is not None
    assert record.version == 1600
    assert [note.id for note in store.recent("a", "", 2000)] == [str(number) for number in range(1600, 0, -1)]
    assert len({message.id for message in store.staged("a")}) == len(store.staged("a")) == 1600


# ── whose (S0-14, S2-06, S4-07) ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("S0-14", "S2-06")
def test_nothing_of_one_agent_or_user_is_found_under_another() -> None:
    store = MemoryStore()
    store.append_conversation("a", "mira", entry(1))
    store.stage("a", InboxMessage("m", "mira", "hi"))
    store.put_layer("a", "inbox", "x", by="t")
    store.remember("a", "ana", "the cat is called Biscuit", day="2026-01-01")
    store.set_instructions("a", "ana", "Be brief.")
    store.set_timezone("ana", "Europe/Lisbon")
    for agent, user in (("b", "ana"), ("a", "bob"), ("a", ""), ("ana", "a"), ("", "ana")):
        assert store.recent(agent, user, 5) == ()
        assert store.recall(agent, user, "cat Biscuit", 5) == ()
        assert store.instructions(agent, user) == ""
    assert (store.conversation("b", "mira"), store.staged("b"), store.layer("b", "inbox")) == (None, (), None)
    assert (store.conversation("a", "Mira"), store.timezone("bob")) == (None, None)
    assert [note.text for note in store.recall("a", "ana", "cat", 5)] == ["the cat is called Biscuit"]
    assert (store.instructions("a", "ana"), store.timezone("ana")) == ("Be brief.", "Europe/Lisbon")


@pytest.mark.requirement("S4-07")
def test_instructions_belong_to_a_user_and_are_replaced_whole() -> None:
    store = MemoryStore()
    store.set_instructions("a", "ana", "One.")
    store.set_instructions("a", "ana", "Two.")
    assert store.instructions("a", "ana") == "Two."
    store.set_instructions("a", "ana", "")
    assert store.instructions("a", "ana") == ""
    with pytest.raises(BadValue, match=r"^user: instructions belong to a user; none was named$"):
        store.set_instructions("a", "", "For all.")


# ── memory ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("S2-06")
def test_recall_gives_the_best_first_ties_to_the_newer_and_no_note_without_a_hit() -> None:
    store = MemoryStore()
    for text in ("plans for the move", "tea", "a plan", "the cat", "a plan", "move the plan", "of the and"):
        store.remember("a", "ana", text, day="2026-01-01")
    assert [note.id for note in store.recall("a", "ana", "Plan the MOVE!", 5)] == ["6", "1", "5", "3"]
    assert [note.id for note in store.recall("a", "ana", "Plan the MOVE!", 2)] == ["6", "1"]
    assert store.recall("a", "ana", "the of and", 5) == ()
    assert store.recall("a", "ana", "", 5) == store.recall("a", "ana", "zebra", 5) == ()


@pytest.mark.requirement("S2-06")
@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.sampled_from(("cat", "dog", "plan", "rain", "東京", "the")), max_size=6), max_size=12))
def test_recall_is_the_same_every_time_and_a_shorter_list_is_its_beginning(notes: list[list[str]]) -> None:
    stores = MemoryStore(), MemoryStore()
    for store in stores:
        for words in notes:
            store.remember("a", "ana", " ".join(words), day="2026-01-01")
    first, second = (store.recall("a", "ana", "cat plan 東京", 12) for store in stores)
    assert first == second
    assert stores[0].recall("a", "ana", "東京 plan cat cat", 3) == first[:3]
    held = {note.id for note in first}
    assert held == {str(n) for n, words in enumerate(notes, 1) if {"cat", "plan", "東京"} & set(words)}


@pytest.mark.requirement("S0-04")
def test_recent_gives_the_newest_first_and_no_more_than_asked_for() -> None:
    store = MemoryStore()
    for number in range(3):
        store.remember("a", "", f"note {number}", day=f"2026-01-0{number + 1}")
    assert store.recent("a", "", 2) == (Memory("3", "note 2", "2026-01-03"), Memory("2", "note 1", "2026-01-02"))
    assert (store.recent("a", "", 0), store.recent("a", "", -1)) == ((), ())


@pytest.mark.requirement("S1-07")
def test_a_store_and_what_it_holds_show_no_text_when_they_are_printed() -> None:
    store = MemoryStore()
    store.append_conversation("a", "mira", entry(1, body="SECRET", reply="SECRET"))
    store.stage("a", InboxMessage("m", "mira", "SECRET"))
    store.put_layer("a", "inbox", "SECRET", by="t")
    store.remember("a", "", "SECRET", day="2026-01-01")
    shown = (store, store.conversations("a"), store.staged("a"), store.layer("a", "inbox"), store.recent("a", "", 1))
    assert "SECRET" not in repr(shown)
    assert repr(store) == "MemoryStore(1 layers, 1 conversations)"
