"""This installation: its keys are made once and kept shut, its database is found, made and brought up to date."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from charter import app, home, stores
from charter.core.errors import ConfigError, FileRefused, StoreOutdated, StoreUnavailable
from charter.core.policy import Actor
from charter.stores.migrate import downgrade, upgrade
from charter.stores.revisions import HEAD


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHARTER_HOME", str(tmp_path / "deep" / "home"))
    return tmp_path / "deep" / "home"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.requirement("N-01", "N-20")
def test_the_key_is_made_on_first_use_and_only_its_owner_may_read_it(place: Path) -> None:
    first = app.keys()
    assert app.keys() == first
    assert len(first.keys) == 1
    assert (mode(place), mode(place.parent), mode(place / "secret.keys")) == (0o700, 0o700, 0o600)
    assert first.keys[0][1].hex() not in repr(first)


@pytest.mark.requirement("N-01")
def test_a_key_others_may_read_is_refused_until_it_is_shut(place: Path) -> None:
    app.keys()
    (place / "secret.keys").chmod(0o644)
    with pytest.raises(FileRefused, match="others may read this secret; run: chmod 600 "):
        app.keys()
    (place / "secret.keys").chmod(0o600)
    assert len(app.keys().keys) == 1


@pytest.mark.requirement("N-20")
def test_a_rotated_key_is_new_and_the_old_one_still_proves(place: Path) -> None:
    digest, old = app.keys().text_hash("hi", personal=True)
    ring = app.rotate_keys()
    assert ring.keys[0][0] == old != ring.current[0]
    assert app.keys() == ring
    assert app.keys().proves("hi", digest, old) is True
    assert mode(place / "secret.keys") == 0o600


@pytest.mark.parametrize("text", ["", "nonsense\n", "abc 00\n", f"12345678 {'00' * 32}\n", "\xff\n"])
def test_a_damaged_key_file_is_reported_and_never_made_anew(place: Path, text: str) -> None:
    home.write_private(place / "secret.keys", text.encode("latin-1"))
    with pytest.raises(ConfigError, match="restore this file from a backup"):
        app.keys()
    assert (place / "secret.keys").read_bytes() == text.encode("latin-1")


def test_a_home_that_is_not_a_folder_is_an_error_with_its_place(place: Path) -> None:
    place.parent.mkdir()
    place.write_text("a file")
    with pytest.raises(FileRefused, match=r"secret\.keys: Not a directory; check that folder, or set CHARTER_HOME"):
        app.open_store()
    with pytest.raises(StoreUnavailable, match="check the folder and its permissions"):
        stores.open(f"sqlite:///{place / 'charter.db'}")


@pytest.mark.requirement("N-01")
def test_processes_that_start_at_once_agree_on_one_key_and_one_database(place: Path) -> None:
    script = (
        "from charter import app\nstore = app.open_store()\n"
        "print(app.keys().current[0], store.db.read('SELECT version_num FROM alembic_version'))"
    )
    started = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(6)]
    said = {process.communicate()[0] for process in started}
    assert [process.returncode for process in started] == [0] * 6
    assert len(said) == 1
    assert sorted(name for name in os.listdir(place) if not name.startswith("charter.db-")) == [
        "charter.db",
        "secret.keys",
    ]


def test_the_database_is_as_named_else_of_the_environment_else_the_embedded_one(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert app.database() == f"sqlite:///{place / 'charter.db'}"
    monkeypatch.setenv("CHARTER_DATABASE", "sqlite://")
    assert (app.database(), app.database("sqlite:///x")) == ("sqlite://", "sqlite:///x")


def test_an_older_embedded_database_is_brought_up_to_date_and_another_is_not(place: Path, tmp_path: Path) -> None:
    other = f"sqlite:///{tmp_path / 'other.db'}"
    for url in (app.embedded(), other):
        home.private_folder(place)
        upgrade(url)
        downgrade(url, "0001")
    with app.open_store() as store:
        assert store.db.read("SELECT version_num FROM alembic_version") == [(HEAD,)]
    with pytest.raises(StoreOutdated, match="run: charter db upgrade"):
        app.open_store(other)
    with pytest.raises(StoreOutdated, match="run: charter db upgrade"):
        stores.open(other)


def test_the_operator_is_the_login_of_this_machine() -> None:
    by = app.operator()
    assert by.actor is Actor.OPERATOR
    assert by.name
