"""Prints what every charter and mode makes of one rich request: run by test_bytes.py in other processes.

Directory orders are shuffled by CHARTER_TEST_ORDER, so that nothing can lean on the order of a file system.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

ORDER = random.Random(os.environ.get("CHARTER_TEST_ORDER", "0"))
_listdir, _scandir, _walk = os.listdir, os.scandir, os.walk


class Shuffled:
    """A directory's entries in an order of our choice, closed like the real iterator."""

    def __init__(self, path: Any) -> None:
        with _scandir(path) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        ORDER.shuffle(found)
        self._entries = iter(found)

    def __enter__(self) -> Shuffled:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[os.DirEntry[Any]]:
        return self._entries

    def __next__(self) -> os.DirEntry[Any]:
        return next(self._entries)

    def close(self) -> None:
        pass


def shuffled_names(path: Any = ".") -> list[Any]:
    names = sorted(_listdir(path))
    ORDER.shuffle(names)
    return names


def shuffled_walk(*args: Any, **kwargs: Any) -> Iterator[tuple[Any, list[Any], list[Any]]]:
    for here, folders, names in _walk(*args, **kwargs):
        ORDER.shuffle(folders)
        ORDER.shuffle(names)
        yield here, folders, names


os.listdir, os.scandir, os.walk = shuffled_names, Shuffled, shuffled_walk  # type: ignore[assignment]

from charter.core.assemble import Assembly  # noqa: E402
from charter.core.incoming import Incoming  # noqa: E402
from charter.core.ports import ToolSpec  # noqa: E402
from charter.core.records import ConversationEntry, InboxMessage  # noqa: E402
from charter.folder import BUILT_IN, load  # noqa: E402
from charter.sources import World, files  # noqa: E402
from charter.sources.vitals import JsonVitals  # noqa: E402
from charter.stores.memory import MemoryStore  # noqa: E402

if os.environ.get("CHARTER_TEST_UNSORTED"):  # the negative twin: an engine that takes directories as they come
    files.__dict__["sorted"] = list

EXAMPLES = Path(__file__).parents[2] / "examples"
DIALECTS = ("openai", "openai-responses", "anthropic", "ollama", "completion")
AT = "2026-02-26T14:30:00+00:00"
TOOLS = (
    ToolSpec("exec", "Runs a command.", {"type": "object", "properties": {"z": {}, "a": {}, "ä": {}}}, 3),
    ToolSpec("read_memory", "Looks something up.", {"properties": {"query": {"type": "string"}}, "type": "object"}, 5),
)


def store() -> MemoryStore:
    """Some of everything a turn reads, in several scripts."""
    held = MemoryStore()
    for number, sender in enumerate(("Zoë", "bob", "0x7a3e91c04b5d28f6e0a1c9d8347b62f05e1d9c4a", "日本", "ann")):
        body = f"Message {number} from {sender}: İstanbul, straße, Ǆ."
        held.stage("automaton", InboxMessage(str(number), sender, body))
        for turn in range(3):
            entry = ConversationEntry(str(turn), f"said {turn}", f"answered {turn} — ✓", "t", number * 10 + turn)
            held.append_conversation("automaton", sender, entry)
    for agent, user in (("automaton", ""), ("pickle", "u"), ("assistant", "u")):
        for number in range(8):
            note = f"Note {number}: jars of plum jam, {number * 7} of them, for İpek"
            held.remember(agent, user, note, day=f"2026-01-{number + 1:02}")
    held.put_layer("automaton", "memory", "Keep what was measured. Forget the rest.", by="turn-9")
    held.set_instructions("assistant", "u", (EXAMPLES / "assistant/instructions.md").read_text(encoding="utf-8"))
    held.set_timezone("u", "America/St_Johns")
    return held


def worlds() -> dict[str, tuple[World, dict[str, Any]]]:
    held = store()
    identity = json.loads((EXAMPLES / "assistant/identity.json").read_text(encoding="utf-8"))
    soul = (EXAMPLES / "sovereign/soul.txt").read_text(encoding="utf-8").strip()
    gateway = {"no_host": True, "runtime": {"host": "owl", "os": "linux", "sandbox": {"mode": "all", "enabled": True}}}
    skills = [("tides", "Read the table first."), ("wind", "Ask twice.")]
    return {
        "sovereign": (
            World(
                store=held,
                tools=TOOLS,
                vitals=JsonVitals(EXAMPLES / "sovereign/vitals.json"),
                given={"soul": soul, "skills": skills},
            ),
            {"channel": "inbox"},
        ),
        "contract": (World(tools=TOOLS), {"agent": "researcher", "task": "summarize", "tool_policy": "read_only"}),
        "workspace": (World(workspace=EXAMPLES / "workspace", store=held, tools=TOOLS), {"agent": "pickle"}),
        "gateway": (
            World(
                data_dir=EXAMPLES / "gateway/data",
                project_dir=EXAMPLES / "gateway/project",
                project_root=EXAMPLES / "gateway/project",
                skills_dir=EXAMPLES / "gateway/skills",
                tools=TOOLS,
                given=gateway,
            ),
            {"facts": {"accept_language": "pt", "location": "Porto"}, "session": "s-1"},
        ),
        "assistant": (World(store=held, given={"identity": identity}), {}),
    }


def made(assembly: Assembly) -> dict[str, Any]:
    payloads = [assembly.payload(dialect) for dialect in DIALECTS]
    return {
        "prompt": hashlib.sha256(assembly.reveal().encode()).hexdigest(),
        "payloads": hashlib.sha256(json.dumps(payloads).encode()).hexdigest(),
        "manifest": assembly.manifest.to_dict(),
    }


def main() -> None:
    """One line of JSON: for every charter and mode the hashes of the prompt and its payloads, and the manifest."""
    out: dict[str, Any] = {}
    for name, (world, request) in worlds().items():
        charter = load(name)
        said = {"channel": "web", "at": AT, "user": "u", "text": "How many jars of plum jam?"}
        incoming = Incoming(**{**said, **request})
        for mode in charter.stack.modes:
            for native in (True, False):
                assembly = charter.assemble(incoming, mode=mode, world=replace(world, native_tools=native))
                out[f"{name}/{mode}/{'native' if native else 'fallback'}"] = made(assembly)
    assert {key.partition("/")[0] for key in out} == set(BUILT_IN)
    sys.stdout.write(json.dumps(out))


if __name__ == "__main__":
    main()
