"""A bot in a process of its own, to be killed: `python child.py DATABASE API REPLY…`; the reply "hang" never comes."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import Any

from charter.channels.telegram import Wire
from charter.commands.telegram import answer_until_stopped, desk
from charter.house import open_house
from charter.testing import ScriptedProvider

TOKEN = "4711:canary-token-0123456789abcdefghij"


def hang(request: Any) -> str:
    threading.Event().wait()
    return ""


def main(database: str, api: str, *replies: str) -> None:
    model = ScriptedProvider([hang if reply == "hang" else reply for reply in replies])
    with open_house(database=database, charters=("assistant",), provider=model) as house:
        asyncio.run(answer_until_stopped(desk(house, "assistant"), Wire(TOKEN, api=api)))


if __name__ == "__main__":
    main(*sys.argv[1:])
