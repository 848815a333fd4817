"""The change log's chain and the keys: what was written can be proved, and what was changed is named."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter.core.chain import START, broken, pseudonym, row_hash, row_seal
from charter.core.errors import Conflict, NotStored, Refused
from charter.core.keyring import NO_KEYS, KeyRing, key_id
from charter.core.policy import Actor
from charter.core.records import INIT, Author, LogRow

OLD, NEW = b"o" * 32, b"n" * 32
RING = KeyRing(((key_id(OLD), OLD), (key_id(NEW), NEW)))


def chain(count: int) -> list[LogRow]:
    rows: list[LogRow] = []
    for seq in range(1, count + 1):
        prev = rows[-1].sha256 if rows else START
        row = LogRow("a", seq, "amend", "inbox", seq, f"{seq:064}", f"turn-{seq}", seq * 10, "é", prev, "")
        rows.append(replace(row, sha256=row_hash(row)))
    return rows


@pytest.mark.requirement("N-03")
def test_a_rows_hash_is_the_documented_json_array() -> None:
    row = chain(1)[0]
    text = f'["charter-log-1","{START}","a",1,"amend","inbox",1,"{1:064}","turn-1",10,"\\u00e9"]'
    assert json.loads(text)[0] == "charter-log-1"
    assert row.sha256 == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.requirement("N-03")
def test_a_chain_as_it_was_written_has_nothing_wrong() -> None:
    assert list(broken([])) == []
    assert list(broken(chain(5))) == []


@pytest.mark.requirement("N-03")
@given(st.integers(0, 5), st.sampled_from(("kind", "place", "content_sha256", "actor", "detail", "chain")))
def test_a_changed_field_is_named_by_its_entry(at: int, field: str) -> None:
    rows = chain(6)
    rows[at] = replace(rows[at], **{field: "other"})  # type: ignore[arg-type]
    assert list(broken(rows)) == [(at + 1, "was changed after it was written")]


@pytest.mark.requirement("N-03")
def test_a_row_changed_with_its_hash_breaks_the_next_one() -> None:
    rows = chain(3)
    forged = replace(rows[1], detail="other")
    rows[1] = replace(forged, sha256=row_hash(forged))
    assert list(broken(rows)) == [(3, "does not follow from the entry before it")]


@pytest.mark.requirement("N-03")
def test_a_missing_and_a_doubled_entry_are_named() -> None:
    rows = chain(4)
    assert list(broken([rows[0], rows[2], rows[3]])) == [(3, "entry 2 is missing")]
    assert list(broken(rows[1:])) == [(2, "entry 1 is missing")]
    assert list(broken([rows[0], rows[0]])) == [(1, "an entry stands twice")]


@pytest.mark.requirement("N-03", "N-20")
def test_a_seal_and_a_pseudonym_need_the_key() -> None:
    row = chain(1)[0]
    assert row_seal(row.sha256, OLD) == hmac.new(OLD, bytes.fromhex(row.sha256), hashlib.sha256).hexdigest()
    assert RING.seal(row.sha256) == (row_seal(row.sha256, NEW), key_id(NEW))
    assert NO_KEYS.seal(row.sha256) == ("", "")
    assert RING.person("ana") == pseudonym("ana", OLD) != pseudonym("ana", None) == NO_KEYS.person("ana")
    assert "ana" not in RING.person("ana")


@pytest.mark.requirement("N-01")
def test_only_a_persons_text_is_keyed_and_older_keys_still_prove_what_they_made() -> None:
    assert RING.text_hash("x", personal=False) == (hashlib.sha256(b"x").hexdigest(), "")
    digest, key = RING.text_hash("x", personal=True)
    assert (digest, key) == (hmac.new(NEW, b"x", hashlib.sha256).hexdigest(), key_id(NEW))
    assert NO_KEYS.text_hash("x", personal=True) == (hashlib.sha256(b"x").hexdigest(), "")
    assert RING.proves("x", hmac.new(OLD, b"x", hashlib.sha256).hexdigest(), key_id(OLD)) is True
    assert RING.proves("y", digest, key) is False
    assert RING.proves("x", hashlib.sha256(b"x").hexdigest(), "") is True
    assert NO_KEYS.proves("x", digest, key) is None


@pytest.mark.requirement("S0-03")
def test_an_author_is_marked_by_turn_admin_user_or_init() -> None:
    marks = [
        Author(Actor.AGENT, turn="turn-7").mark, Author(Actor.OPERATOR, "mo").mark, Author(Actor.USER, "ana").mark,
        INIT.mark,
    ]  # fmt: skip
    assert marks == ["turn-7", "admin:mo", "user:ana", "init"]


def test_a_ring_shows_no_key() -> None:
    assert repr(RING) == "KeyRing()"


def test_errors_of_a_store_say_what_is_there_and_what_to_do() -> None:
    conflict = Conflict("inbox", expected=2, current=3)
    assert str(conflict).startswith("inbox is at version 3, not 2: someone changed it first; read it again")
    assert (conflict.expected, conflict.current) == (2, 3)
    assert str(NotStored("turn of this id")) == "there is no turn of this id"
    assert str(NotStored("turn of this id", "see: charter turns")) == "there is no turn of this id; see: charter turns"
    refused = Refused("LAYER_SEALED", "constitution is sealed")
    assert (str(refused), refused.code) == ("LAYER_SEALED: constitution is sealed", "LAYER_SEALED")
