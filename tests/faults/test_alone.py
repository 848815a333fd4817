"""Forks, limits and permissions: a clear error or a way on, and nothing that was acknowledged is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from .places import KINDS, folder_for_others, new
from .processes import ask
from .work import CANARY, amend, opened

pytestmark = pytest.mark.requirement("N-17", "N-03")


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_child_of_a_fork_acknowledges_is_there_though_its_parent_closed_the_store(
    kind: str, tmp_path: Path
) -> None:
    assert ask("alone", "orphan", new(kind, tmp_path)) == {"versions": 5, "wrong": []}


@pytest.mark.parametrize("kind", KINDS)
def test_a_child_of_a_fork_leaves_its_parents_connections_alone(kind: str, tmp_path: Path) -> None:
    told = ask("alone", "shared", new(kind, tmp_path))
    assert told == {
        "child": ["done", "StoreUnavailable: the store is closed; open it again"],
        "same": True,
        "wrong": [],
    }


@pytest.mark.parametrize("kind", KINDS)
def test_forks_amid_threads_that_write_lose_nothing(kind: str, tmp_path: Path) -> None:
    assert ask("alone", "amid_threads", new(kind, tmp_path), 8) == {"errors": [], "wrong": [], "children": 8}


def test_a_file_that_was_in_a_transaction_when_its_process_forked_is_not_for_the_child(tmp_path: Path) -> None:
    told = ask("alone", "inside", new("sqlite", tmp_path))
    assert [line.partition(" this process was ")[2] for line in told["child"]] == [
        "forked while the database was in use; start it in another way"
    ] * 3
    assert (told["kept"], told["wrong"]) == ("Europe/Berlin", [])


def test_a_store_in_memory_goes_on_in_a_child_and_a_closed_one_stays_closed() -> None:
    assert ask("alone", "in_memory") == ["done", "StoreUnavailable: the store is closed; open it again"]


def test_a_file_that_may_grow_no_further_is_an_error_and_the_store_goes_on_when_it_may(tmp_path: Path) -> None:
    told = ask("alone", "no_room", new("sqlite", tmp_path))
    assert told["full"].startswith("StoreUnavailable: ")
    assert CANARY not in told["full"]
    assert (told["again"], told["wrong"]) == ("done", [])


def test_a_process_that_may_open_no_more_files_is_told_so_and_goes_on_when_it_may(tmp_path: Path) -> None:
    told = ask("alone", "no_handles", new("sqlite", tmp_path))
    assert told["answers"][0].startswith("StoreUnavailable: ")
    assert told["answers"][-1] == "done"
    assert {line.partition(":")[0] for line in told["answers"]} == {"StoreUnavailable", "done"}
    assert told["wrong"] == []


def test_a_folder_that_may_not_be_written_gets_no_database() -> None:
    with folder_for_others() as place:
        place.chmod(0o555)
        told = ask("alone", "as_nobody", f"sqlite:///{place / 'charter.db'}")
        place.chmod(0o755)
        assert told.startswith("StoreUnavailable: ")
        assert list(place.iterdir()) == []


@pytest.mark.parametrize(("file", "folder"), [(0o444, 0o777), (0o666, 0o555), (0o444, 0o555), (0o600, 0o711)])
def test_a_file_or_folder_that_may_not_be_written_is_an_error_and_stays_as_it_is(file: int, folder: int) -> None:
    with folder_for_others() as place:
        url = f"sqlite:///{place / 'charter.db'}"
        with opened(url) as store:
            amend(store, "agent", 1)
        before = (place / "charter.db").read_bytes()
        (place / "charter.db").chmod(file)
        place.chmod(folder)
        told = ask("alone", "as_nobody", url)
        place.chmod(0o755)
        (place / "charter.db").chmod(0o600)
        assert told.startswith("StoreUnavailable: ")
        assert CANARY not in told
        assert (place / "charter.db").read_bytes() == before
        with opened(url) as store:
            amend(store, "agent", 2)


def test_a_store_named_by_a_relative_path_stays_where_it_was_opened(tmp_path: Path) -> None:
    assert ask("alone", "elsewhere", tmp_path) == {"answers": ["done"], "made": [], "wrong": []}
