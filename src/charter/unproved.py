"""Why a layer cannot be proved: what differs from the record, by where its texts came from, and never the texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from .core.manifest import PieceEntry

if TYPE_CHECKING:
    from .charter import Charter
    from .kept import Kept
    from .past import Past

# What a piece's origin begins with, and why texts from there may not be the ones of then.
_PIECES: Final = (
    ("memory:", "notes of then are not the ones kept now"),
    ("conversation", "what was said before is not kept as it was: a log has the last 20 exchanges, in short"),
    ("inbox", "messages that waited are not kept as they were"),
    ("user:instructions", "the user's instructions of then are not in their history"),
    ("user_input", "the message is not the one it answered"),
    ("store:", "the stored text is not the one of then"),
    ("identity:", "the identity of then is not in its history"),
    ("operator:", "what the operator handed in is not kept; give it again"),
    ("tool", "the tools are not the ones of then; give them with --tools"),
    ("skill:", "the skills are not the ones of then; name their folder"),
)
# What a layer's sources leave out of the record, for layers whose pieces are all as they were.
_SOURCES: Final = {
    "vitals": "the vitals of then are not kept; give them with --vitals",
    "host": "what the host said of itself then is not kept",
    "clock": "the user's time zone of then is not kept, only the one now",
    "soul_tag": "the operator's tag of then is not kept; give it with --soul",
    "inbox": "the inbox of then is not kept whole",
    "history": "who had talked with the agent then is not kept whole",
    "tools": "the tools are not the ones of then; give them with --tools",
    "tool_flags": "the tools are not the ones of then; give them with --tools",
    "runtime": "the agent or the model is described in another way now",
    "identity": "the identity of then was handed in, or is not in its history",
}
_MESSAGE: Final = frozenset({"user_input", "recall", "inbox", "history"})


@dataclass(frozen=True, slots=True)
class Found:
    """A layer as it was rebuilt: its pieces by origin and hash, and what became of it; None when it is not there."""

    id: str
    pieces: Sequence[PieceEntry] = field(repr=False)
    disposition: str = ""


def reason(kept: Kept, charter: Charter, past: Past, entry: Mapping[str, Any], found: Found | None) -> str:
    """The first thing that explains it, the surest first."""
    name = entry["id"]
    kinds = [_kind(source) for source in charter.sources.get(name, ())]
    if name in past.gone:
        return past.gone[name]
    if _MESSAGE & set(kinds) and (gone := unkept(kept, past)):
        return gone
    if charter.version != kept.record.charter_version and not charter.sources.get(name):
        return f"{entry['file']}: {_versions(kept, charter)}"
    if found is None:
        return f"it is not in this prompt when it is built now; {_versions(kept, charter)}"
    if found.disposition != entry["disposition"]:
        return f"it was sent {entry['disposition']} and would be {found.disposition} now: the prompt has another size"
    return _pieces(entry, found) or _rest(kept, charter, entry, kinds)


def unkept(kept: Kept, past: Past) -> str:
    """How much of what the turn answered is gone; empty when nothing is."""
    if past.whole:
        return ""
    had = kept.record.counts.get("messages", 0)
    who = "; who sent them was forgotten" if past.forgotten else ""
    return f"{had - len(past.taken)} of {had} messages it answered are not kept any more{who}"


def _versions(kept: Kept, charter: Charter) -> str:
    then, now = kept.record.charter_version, charter.version
    if then == now:
        return f"the charter is at {now} as it was then, with another text"
    return f"the charter was at {then} then and is at {now}"


def _pieces(entry: Mapping[str, Any], found: Found) -> str:
    """What differs among the texts inside the layer, by where they came from."""
    then = Counter((piece["origin"], piece["sha256"]) for piece in entry["pieces"])
    now = Counter((piece.origin, piece.sha256) for piece in found.pieces)
    origins = dict.fromkeys(origin for origin, _ in (then - now) or (now - then))
    said = dict.fromkeys(_of_piece(origin) for origin in origins)
    return "; ".join(said)


def _of_piece(origin: str) -> str:
    known = next((words for start, words in _PIECES if origin.startswith(start)), "")
    return known or f"{origin} has changed since"


def _rest(kept: Kept, charter: Charter, entry: Mapping[str, Any], kinds: Sequence[str]) -> str:
    """The texts inside are as they were, so it is something a record does not hold, or the words around them."""
    told = [_SOURCES[kind] for kind in kinds if kind in _SOURCES]
    if told:
        return "; or ".join(dict.fromkeys(told))
    return f"{entry['file']}: {_versions(kept, charter)}"


def _kind(source: object) -> str:
    config: Any = getattr(source, "__struct_config__", None)
    return config.tag if config is not None else ""
