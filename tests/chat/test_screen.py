"""A real terminal: keys are pressed, and what is on the screen is what a person sees."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import stat
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path

import pytest

CHILD = """
import fcntl, os, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from contextlib import contextmanager
from dataclasses import replace
import charter.app, typer
from chat.room import made
from charter.commands import chat

def story(request):
    os.write(1, b"WAITING")
    signal.pause()

agent = made(story, ("Here ", "I am."), "Again.")

@contextmanager
def running(target, *, approver, **_):
    yield replace(agent, approver=approver)

charter.app.running = running
sys.argv = ["charter", "chat", "--user", "mo"]
app = typer.Typer()
app.add_typer(chat.app)
app()
"""


class Screen:
    """A terminal with a chat on it."""

    def __init__(self, home: Path) -> None:
        self._us, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, b"\x32\x00\xc8\x00\x00\x00\x00\x00")  # 50 lines of 200 characters
        tests = str(Path(__file__).parent.parent)
        env = {**os.environ, "CHARTER_HOME": str(home), "PYTHONPATH": tests, "TERM": "xterm"}
        self.child = subprocess.Popen(
            [sys.executable, "-c", CHILD], stdin=theirs, stdout=theirs, stderr=theirs, env=env, start_new_session=True
        )
        os.close(theirs)
        self.seen = b""

    def until(self, wanted: str) -> None:
        """Reads until this is on the screen, after what was read before."""
        while wanted.encode() not in self.seen:
            more = b""
            with suppress(OSError):  # the other side is closed
                if select.select([self._us], [], [], 30)[0]:
                    more = os.read(self._us, 65536)
            assert more, f"{wanted!r} did not come, but {self.seen.decode(errors='replace')!r}"
            self.seen += more
        self.seen = self.seen.partition(wanted.encode())[2]

    def press(self, keys: str) -> None:
        os.write(self._us, keys.encode())

    def end(self) -> int:
        code = self.child.wait(30)
        os.close(self._us)
        return code


@pytest.mark.requirement("N-16", "S0-13")
def test_a_chat_at_a_real_terminal_is_interrupted_goes_on_remembers_and_ends(tmp_path: Path) -> None:
    screen = Screen(tmp_path)
    screen.until("› ")
    screen.press("Tell me a story.\n")
    screen.until("WAITING")
    screen.press("\x03")
    screen.until("cancelled; your message is kept and is answered with your next one")
    screen.until("› ")
    screen.press("Are you there?\n")
    screen.until("Here I am.")
    screen.until("turn 000000000000")
    screen.until("› ")
    screen.press("\x1b[A\n")
    screen.until("Are you there?")
    screen.until("Again.")
    screen.until("› ")
    screen.press("\x04")
    assert screen.end() == 0
    kept = tmp_path / "chat.history"
    assert kept.read_text() == "Tell me a story.\nAre you there?\n"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
