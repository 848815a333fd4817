"""The way back is exact: what nobody touched comes back to the byte, and what was written since is not lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import charter.stores
from charter.core.errors import StoreError
from charter.core.policy import Actor
from charter.core.records import Author, Change, Head, Place
from charter.stores.migrate import current, downgrade, upgrade
from charter.stores.revisions import HEAD

from . import databases
from .databases import KINDS, contents, run
from .test_legacy import ADA, FARID, GRACE, HIRO, MILO, TEXTS

pytestmark = pytest.mark.requirement("S4-08")

NEW_USER = "000000aa-0000-4000-8000-0000000000aa"
OPERATOR = Author(Actor.OPERATOR, "tim")
OLD = ("agent_configurations", "agent_long_term_memory", "agent_tools", "user_agent_prompt_customizations")


@pytest.fixture(params=KINDS)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return databases.old(request.param, tmp_path)


def settings_of(url: str, user: str, agent: str = "assistant") -> list[tuple[Any, ...]]:
    """Type, content, priority and whether it is on, of a user's old rows."""
    rows = run(
        url,
        """SELECT customization_type, CAST(content AS TEXT), priority, is_active FROM user_agent_prompt_customizations
        WHERE CAST(user_id AS TEXT) = ? AND agent_name = ? ORDER BY 1""",
        user, agent,
    )  # fmt: skip
    return [(kind, content and json.loads(content), priority, bool(on)) for kind, content, priority, on in rows]


def notes_of(url: str, user: str, agent: str = "assistant") -> list[str | None]:
    sql = "SELECT notes FROM agent_long_term_memory WHERE CAST(user_id AS TEXT) = ? AND agent_name = ?"
    return [row[0] for row in run(url, sql, user, agent)]


def write(url: str, head: Head, text: str, *, agent: str = "assistant", user: str = "") -> None:
    """Changes a text as the store does."""
    place = Place(agent, head.value, user, head)
    with charter.stores.open(url) as store:
        now = store.head(place)
        store.commit(Change(place, text, expected_version=now.version if now else 0, by=OPERATOR, at_ns=1))


def test_old_rows_come_back_to_the_byte_with_columns_keys_views_and_triggers_we_know_nothing_of(old: str) -> None:
    rows, built = contents(old), databases.catalogue(old)
    assert (upgrade(old), downgrade(old, "0001"), current(old)) == (
        ["0002", "0003", "0004"],
        ["0004", "0003", "0002"],
        "0001",
    )
    after = contents(old)
    assert after.pop("alembic_version") in ([("(0001)",)], [("text", b"0001")])
    assert after == rows
    ours = ("alembic_version", "sqlite_sequence")
    assert {
        what: [row for row in some if row[0] not in ours] for what, some in databases.catalogue(old).items()
    } == built


def test_up_and_down_and_up_again_ends_where_the_first_time_did(old: str) -> None:
    upgrade(old)
    rows, built = contents(old), databases.catalogue(old)
    assert (downgrade(old, "0001"), upgrade(old)) == (["0004", "0003", "0002"], ["0002", "0003", "0004"])
    assert (contents(old), databases.catalogue(old)) == (rows, built)


def test_what_others_built_on_the_old_tables_works_before_between_and_after(old: str) -> None:
    asked = "SELECT count(*) FROM active_customizations"
    joined = "SELECT count(*) FROM agent_tools t JOIN {} a ON a.id = t.agent_id"
    before = run(old, asked)
    upgrade(old)
    assert run(old, asked) == before
    assert run(old, joined.format("legacy_agent_configurations")) == [(3,)]
    downgrade(old, "0001")
    assert (run(old, asked), run(old, joined.format("agent_configurations"))) == (before, [(3,)])
    run(old, "DELETE FROM agent_configurations WHERE agent_name = 'email_digest'")
    assert run(old, "SELECT count(*) FROM agent_tools") == [(2,)]


def test_changed_instructions_stand_in_one_row_in_place_of_the_old_ones(old: str) -> None:
    ids = (
        "SELECT CAST(id AS TEXT) FROM user_agent_prompt_customizations WHERE CAST(user_id AS TEXT) = ? AND priority = ?"
    )
    top = run(old, ids, ADA, 10)
    untouched = settings_of(old, ADA, "email_digest")
    upgrade(old)
    write(old, Head.INSTRUCTIONS, 'Only this: "now" – ☕\nnothing else.', user=ADA)
    downgrade(old, "0001")
    new = {"instructions": 'Only this: "now" – ☕\nnothing else.'}
    assert settings_of(old, ADA) == [("instructions", new, 0, True)]
    assert run(old, ids, ADA, 0) == top
    assert settings_of(old, ADA, "email_digest") == untouched
    upgrade(old)
    with charter.stores.open(old) as store:
        assert store.instructions("assistant", ADA) == 'Only this: "now" – ☕\nnothing else.'


def test_instructions_that_were_changed_and_changed_back_are_the_old_rows_again(old: str) -> None:
    before = contents(old)
    upgrade(old)
    write(old, Head.INSTRUCTIONS, "For a while.", user=ADA)
    write(old, Head.INSTRUCTIONS, TEXTS[ADA, "assistant"], user=ADA)
    downgrade(old, "0001")
    assert {name: contents(old)[name] for name in OLD} == before


def test_cleared_and_erased_instructions_do_not_come_back(old: str) -> None:
    upgrade(old)
    write(old, Head.INSTRUCTIONS, "", user=ADA)
    run(old, "DELETE FROM user_agent_prompt_customizations WHERE user_id = ?", HIRO)
    downgrade(old, "0001")
    assert settings_of(old, ADA) == [("instructions", {"instructions": ""}, 0, True)]
    assert settings_of(old, HIRO) == [
        ("instructions", {"instructions": ""}, 0, True),
        ("z_off", "Not at all.", 9, False),
    ]


def test_new_instructions_get_a_row_and_rows_that_were_switched_off_stay(old: str) -> None:
    upgrade(old)
    for user in (FARID, GRACE, NEW_USER):
        write(old, Head.INSTRUCTIONS, f"I am {user[:8]}.", user=user)
    downgrade(old, "0001")
    assert settings_of(old, FARID) == [
        ("instructions", {"instructions": "I am 00000015."}, 0, True),
        ("instructions_old", {"instructions": "Switched off, must not speak."}, 50, False),
        ("style", {"tone": "switched off too"}, 5, False),
    ]
    assert settings_of(old, GRACE) == [("instructions", {"instructions": "I am 00000016."}, 0, True)]
    assert settings_of(old, NEW_USER) == [("instructions", {"instructions": "I am 000000aa."}, 0, True)]


def test_changed_and_new_souls_are_system_prompts(old: str) -> None:
    upgrade(old)
    write(old, Head.SOUL, "Be kinder.")
    write(old, Head.SOUL, "I route.", agent="router")
    write(old, Head.SOUL, "I am new.", agent="newcomer")
    config = "SELECT CAST(id AS TEXT), CAST(llm_config AS TEXT), created_at FROM {} WHERE agent_name = 'assistant'"
    kept = run(old, config.format("legacy_agent_configurations"))
    downgrade(old, "0001")
    found = {row[0]: row[1] for row in run(old, "SELECT agent_name, system_prompt FROM agent_configurations")}
    assert {name: found[name] for name in ("assistant", "router", "newcomer", "blank")} == {
        "assistant": "Be kinder.", "router": "I route.", "newcomer": "I am new.", "blank": "",
    }  # fmt: skip
    assert run(old, config.format("agent_configurations")) == kept


def test_new_notes_go_under_the_old_text_and_those_taken_back_do_not_return(old: str) -> None:
    milo = notes_of(old, MILO)
    upgrade(old)
    with charter.stores.open(old) as store:
        for user, text in ((ADA, "Moved to Turin."), (ADA, "Has a cat."), (FARID, "Sails."), (NEW_USER, "Hello.")):
            store.remember("assistant", user, text, day="2026-02-18")
        store.forget_note("assistant", MILO, "1", by=OPERATOR, at_ns=1)
        store.remember("assistant", MILO, "No allergy after all.", day="2026-02-18")
        store.revoke("email_digest", "import:agent_long_term_memory", by=OPERATOR, at_ns=1)
    downgrade(old, "0001")
    assert milo == ["Allergic to peanuts. Allergic to cats."]
    assert notes_of(old, MILO) == ["No allergy after all."]
    assert notes_of(old, ADA) == [
        "- Likes tea, not coffee\n- Sister: Grace\n- Project Babbage ships in June\n\nMoved to Turin.\n\nHas a cat."
    ]
    assert notes_of(old, ADA, "email_digest") == [""]
    assert (notes_of(old, FARID), notes_of(old, NEW_USER)) == (["Sails."], ["Hello."])
    assert notes_of(old, HIRO) == ["  \n"]


def test_what_the_old_tables_cannot_hold_stops_the_way_back_before_anything_changes(tmp_path: Path) -> None:
    url = databases.old("postgres", tmp_path)
    upgrade(url)
    write(url, Head.INSTRUCTIONS, "secret words", user="telegram:42")
    before = contents(url)
    with pytest.raises(StoreError) as raised:
        downgrade(url, "0001")
    assert str(raised.value) == "PostgreSQL: the database does not take the change (22P02); nothing was changed"
    assert (current(url), contents(url)) == (HEAD, before)


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_database_goes_back_to_the_first_revision_with_what_was_written_in_it(kind: str, tmp_path: Path) -> None:
    url = databases.empty(kind, tmp_path)
    assert upgrade(url) == ["0001", "0002", "0003", "0004"]
    write(url, Head.SOUL, "Be brief.")
    write(url, Head.INSTRUCTIONS, "Only facts.", user="mira")
    with charter.stores.open(url) as store:
        store.remember("assistant", "", "A note of the agent's own.", day="2026-02-18")
    assert downgrade(url, "0001") == ["0004", "0003", "0002"]
    assert databases.tables(url) == ["agent_configurations", "agent_long_term_memory", "alembic_version",
                                     "user_agent_prompt_customizations"]  # fmt: skip
    assert run(url, "SELECT agent_name, system_prompt FROM agent_configurations") == [("assistant", "Be brief.")]
    assert run(url, "SELECT user_id, agent_name, notes FROM agent_long_term_memory") == [
        ("", "assistant", "A note of the agent's own.")
    ]
    assert upgrade(url) == ["0002", "0003", "0004"]
    with charter.stores.open(url) as store:
        assert store.instructions("assistant", "mira") == "Only facts."
        assert [note.text for note in store.recall("assistant", "", "notes", 3)] == ["A note of the agent's own."]
