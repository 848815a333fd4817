"""Where this installation keeps what is its own, the database and its secrets: one folder, closed to others."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from .core.errors import FileRefused

HOME_VARIABLE = "CHARTER_HOME"


def home() -> Path:
    """The folder: CHARTER_HOME, else the platform's data directory for a user's programs. Not made by asking."""
    named = os.environ.get(HOME_VARIABLE)
    if named:
        return Path(named).expanduser().resolve()
    from platformdirs import user_data_path

    return user_data_path("charter", appauthor=False)


def private_folder(path: Path) -> Path:
    """This folder, made when it is missing, and what is missing above it; only its owner may enter."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
    return path


def write_private(path: Path, data: bytes) -> None:
    """A file only its owner may read, whole or not at all; one that is there stays as it is (FileExistsError)."""
    private_folder(path.parent)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.link(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


def replace_private(path: Path, data: bytes) -> None:
    """The same, in place of what is there."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    write_private(temporary, data)
    temporary.replace(path)
    sync_folder(path.parent)


def read_private(path: Path) -> bytes:
    """A secret file; refused when others may read it, so that a slip is seen before it is used."""
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        if os.name == "posix" and status.st_mode & 0o077:
            raise FileRefused(path.name, f"others may read this secret; run: chmod 600 {path}")
        return file.read()


def sync_folder(folder: Path) -> None:
    """What was named in this folder stays named when the power goes."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
