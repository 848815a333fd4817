"""What changed between two turns, layer by layer, and who changed it; hashes, versions and names, never text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from .core.records import Place, Version
from .kept import Kept
from .past import Past

if TYPE_CHECKING:
    from .stores.store import SqlStore

How = Literal["same", "changed", "only in the first", "only in the second"]
Kind = Literal["stored", "file", "turn", "given"]
_ABOUT: Final = ("agent", "charter", "charter_version", "mode", "channel", "sender", "user")


@dataclass(frozen=True, slots=True)
class Written:
    """A version that came between two turns: who wrote it, and when."""

    version: int
    by: str
    at_ns: int
    restores: int | None = None


@dataclass(frozen=True, slots=True)
class LayerChange:
    """One layer in two turns: `kind` says where its text lies, `first` and `second` its versions, `why` the rest."""

    layer: str
    id: str
    how: How
    kind: Kind
    first: str = ""
    second: str = ""
    written: tuple[Written, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something else that differs: the model, the mode, the tools …"""

    name: str
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class Difference:
    """What two turns have and have not in common."""

    first: str
    second: str
    layers: tuple[LayerChange, ...]
    facts: tuple[Fact, ...]

    @property
    def changed(self) -> tuple[LayerChange, ...]:
        return tuple(layer for layer in self.layers if layer.how != "same")


def compare(store: SqlStore, first: Kept, second: Kept) -> Difference:
    """The difference of two turns; who changed a stored layer is in its history."""
    order = [entry["id"] for entry in (*second.stack, *first.stack)]
    layers = tuple(_layer(store, first, second, name) for name in dict.fromkeys(order))
    return Difference(first.record.id, second.record.id, layers, tuple(_facts(first, second)))


# ── layers ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _layer(store: SqlStore, first: Kept, second: Kept, name: str) -> LayerChange:
    a, b = first.entry(name), second.entry(name)
    there: Any = b or a
    kind = _kind(store, second if b else first, there)
    if a is None or b is None:
        how: How = "only in the second" if a is None else "only in the first"
        return LayerChange(there["layer"], name, how, kind, why=_left_out(first if a is None else second, name))
    if a["sha256"] == b["sha256"] and first.detail.get("key") == second.detail.get("key"):
        return LayerChange(there["layer"], name, "same", kind, a["version"], b["version"])
    if kind == "stored":
        return _stored(store, first, second, there)
    return LayerChange(there["layer"], name, "changed", kind, a["version"], b["version"], why=_why(kind, a, b))


def _left_out(kept: Kept, name: str) -> str:
    """Why a layer was not sent, where the manifest says so."""
    return next((left["reason"] for left in kept.manifest.get("left_out", ()) if left["id"] == name), "")


def _kind(store: SqlStore, kept: Kept, entry: Mapping[str, Any]) -> Kind:
    if entry["owner"] == "turn":
        return "turn"
    if store.history(_place(kept, entry)):
        return "stored"
    return "file" if entry["source"] == "file" else "given"


def _place(kept: Kept, entry: Mapping[str, Any]) -> Place:
    """Where a stored layer's history lies: the agent's, or that of whose instructions they are."""
    record = kept.record
    return Place(record.agent, entry["id"], (record.user or record.sender) if entry["owner"] == "user" else "")


def _why(kind: Kind, a: Mapping[str, Any], b: Mapping[str, Any]) -> str:
    if kind == "turn":
        return "built each turn"
    if a["disposition"] != b["disposition"]:
        return f"sent {a['disposition']}, then {b['disposition']}: {b['reason'] or a['reason']}"
    if kind == "given":
        return "handed in by a program"
    if a["file"] != b["file"]:
        return f"{a['file']}, then {b['file']}"
    if a["version"] == b["version"]:
        return f"{b['file']} changed without a new version; see: charter verify"
    return str(b["file"])


def _stored(store: SqlStore, first: Kept, second: Kept, entry: Mapping[str, Any]) -> LayerChange:
    """The versions the two turns saw, and everyone who wrote one in between."""
    name = entry["id"]
    one, two = _place(first, entry), _place(second, entry)
    if one != two:
        return LayerChange(entry["layer"], name, "changed", "stored", why="another person's, or another agent's")
    a, b = Past(store, first).version(one), Past(store, second).version(two)
    low, high = sorted((_number(a), _number(b)))
    written = tuple(
        Written(row.version, row.by, row.at_ns, row.restores) for row in store.history(two) if low < row.version <= high
    )
    ids: Any = first.entry(name), second.entry(name)
    why = "" if written else _why("file", *ids)
    return LayerChange(
        entry["layer"], name, "changed", "stored", str(_number(a)), str(_number(b)), written,
        "back to an older version" if _number(a) > _number(b) else why,
    )  # fmt: skip


def _number(found: Version | None) -> int:
    return found.version if found else 0


# ── the rest ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _facts(first: Kept, second: Kept) -> list[Fact]:
    pairs = [(name, getattr(first.record, name), getattr(second.record, name)) for name in _ABOUT]
    pairs += [(name, first.detail.get(name, ""), second.detail.get(name, "")) for name in ("provider", "model", "key")]
    found = [Fact(name, str(a), str(b)) for name, a, b in pairs if a != b]
    return found + _tools(first, second)


def _tools(first: Kept, second: Kept) -> list[Fact]:
    """Tools by name where one came or went; else that they are described in another way."""
    a: Sequence[str] = first.detail.get("tools", ())
    b: Sequence[str] = second.detail.get("tools", ())
    if list(a) != list(b):
        return [Fact("tools", ", ".join(a) or "none", ", ".join(b) or "none")]
    if first.record.tools_sha256 != second.record.tools_sha256:
        return [Fact("tool schemas", first.record.tools_sha256[:12], second.record.tools_sha256[:12])]
    return []
