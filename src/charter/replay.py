"""A turn's prompt is rebuilt from what is kept and proved hash by hash; what cannot be proved is named, with why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from .core.dialogue import Said, Talk
from .core.errors import BadValue, CharterError
from .core.manifest import content_hash
from .core.wire import payload_hash
from .kept import Kept, counted_by
from .past import Past
from .sent import answered, row_of, sent
from .unproved import Found, reason, unkept

if TYPE_CHECKING:
    from .charter import Charter
    from .core.assemble import Assembly, Rendered
    from .core.ports import ToolSpec
    from .stores.store import SqlStore


@dataclass(frozen=True, slots=True)
class Proof:
    """One thing of a turn: it has the recorded hash when it is built again, or why not."""

    what: str
    reason: str = ""

    @property
    def proved(self) -> bool:
        return not self.reason


_THEIRS: Final = Proof("messages", "the caller kept its chat; of its messages only hashes are kept")


@dataclass(frozen=True, slots=True)
class Replay:
    """What could be proved of a turn: its layers, and what was made of them (stack, tools, messages, request)."""

    kept: Kept
    layers: tuple[Proof, ...] = ()
    whole: tuple[Proof, ...] = ()
    assembly: Assembly | None = field(default=None, repr=False)

    @property
    def proved(self) -> bool:
        return all(proof.proved for proof in (*self.layers, *self.whole))

    def text(self, layer_id: str) -> str | None:
        """A layer's text as it was sent; None when it is not proved."""
        if self.assembly is None or not any(proof.what == layer_id and proof.proved for proof in self.layers):
            return None
        return next(part.text for part in self.assembly.parts if part.section.layer.id == layer_id)


def replay(store: SqlStore, charter: Charter, kept: Kept) -> Replay:
    """Builds the prompt of this turn again, with this charter in its world, and compares."""
    record = kept.record
    if charter.name != record.charter:
        raise BadValue("charter", f"turn {record.id} was made with {record.charter!r}; say where it is with --charter")
    if not kept.stack:
        return Replay(kept, whole=(Proof("prompt", f"the turn ended before a prompt was made ({record.code})"),))
    past = Past(store, kept)
    key, lost_key = _key(store, kept)
    specs, unknown = _tools(charter, kept)
    world = replace(charter.world, tools=specs, native_tools=bool(kept.detail.get("native", True)), store=past)
    there = replace(charter, key=key, counter=counted_by(kept), world=world)
    try:
        assembly = there.assemble(past.incoming, mode=record.mode)
    except CharterError as error:
        return Replay(kept, tuple(Proof(entry["id"], f"it cannot be built here: {error}") for entry in kept.stack))
    built = _Built(kept, there, past, assembly, lost_key)
    layers = tuple(_layers(built))
    whole = (_stack(built, layers), _schemas(built, unknown))
    return Replay(kept, layers, (*whole, *_wire(built, whole)), assembly)


@dataclass(frozen=True, slots=True)
class _Built:
    """A prompt that was built again, and what it was built from; `lost_key` says why keyed hashes prove nothing."""

    kept: Kept
    charter: Charter
    past: Past
    assembly: Assembly = field(repr=False)
    lost_key: str


# ── what it is built with ─────────────────────────────────────────────────────────────────────────────────────────


def _key(store: SqlStore, kept: Kept) -> tuple[bytes | None, str]:
    """The key that made the keyed hashes; else why there is none."""
    name = kept.detail.get("key", "")
    key = dict(store.db.keys.keys).get(name)
    if name and key is None:
        return None, f"its hash was made with the key {name}, which is not on this installation's ring"
    return key, ""


def _tools(charter: Charter, kept: Kept) -> tuple[list[ToolSpec], list[str]]:
    """The tools by the names the record has; those nobody knows here any more are named."""
    known = {spec.name: spec for spec in (*charter.home.tools, *(charter.world.tools or ()))}
    names: Sequence[str] = kept.detail.get("tools", ())
    return [known[name] for name in names if name in known], [name for name in names if name not in known]


# ── what is proved ────────────────────────────────────────────────────────────────────────────────────────────────


def _layers(built: _Built) -> Iterator[Proof]:
    """Every layer of the record, in order; then those that were not sent then."""
    parts = {part.section.layer.id: part for part in built.assembly.parts}
    for entry in built.kept.stack:
        yield _layer(built, entry, parts.pop(entry["id"], None))
    for name in parts:
        yield Proof(name, "it was not sent then, and would be now")


def _layer(built: _Built, entry: Mapping[str, Any], part: Rendered | None) -> Proof:
    name, keyed = entry["id"], entry["layer"] in built.kept.keyed
    if keyed and built.lost_key:
        return Proof(name, built.past.gone.get(name) or built.lost_key)
    data = b"" if part is None else part.text.encode(errors="surrogatepass")
    if part is not None and content_hash(data, built.charter.key if keyed else None) == entry["sha256"]:
        return Proof(name)
    return Proof(name, reason(built.kept, built.charter, built.past, entry, _found(built.assembly, name)))


def _found(assembly: Assembly, layer_id: str) -> Found | None:
    entry = next((entry for entry in assembly.manifest.stack if entry.id == layer_id), None)
    return Found(entry.id, entry.pieces, entry.disposition) if entry else None


def _stack(built: _Built, layers: Sequence[Proof]) -> Proof:
    if built.assembly.stack_sha256 == built.kept.record.stack_sha256:
        return Proof("stack")
    missing = sum(not proof.proved for proof in layers)
    return Proof("stack", f"{missing} of {len(layers)} layers are not proved" if missing else "the order has changed")


def _schemas(built: _Built, unknown: Sequence[str]) -> Proof:
    if (built.assembly.manifest.tools_sha256 or "") == built.kept.record.tools_sha256:
        return Proof("tools")
    if unknown:
        return Proof("tools", f"not known here: {', '.join(unknown)}; give them with --tools FILE")
    return Proof("tools", "the tools are described in another way now; give them as they were with --tools FILE")


def _wire(built: _Built, whole: Sequence[Proof]) -> tuple[Proof, ...]:
    """The messages beside the layers, and the first request: every byte that left for the model."""
    kept, past, assembly = built.kept, built.past, built.assembly
    if not kept.steps:
        return ()
    before, missing = _before(kept, past, assembly)
    differs = missing or unkept(kept, past) or _differs(kept, before, assembly)
    messages = _THEIRS if kept.carried else Proof("messages", built.lost_key or differs)
    unproved = [proof.what for proof in (*whole, messages) if not proof.proved]
    if unproved:
        return messages, Proof("request", f"not tried: {', '.join(unproved)} not proved")
    body = assembly.payload(
        kept.detail["dialect"], max_tokens=1, talk=Talk(tuple(before)), options=kept.detail.get("sent", {})
    )
    same = payload_hash(body, assembly.settings.key, assembly.settings.write) == kept.record.payload_sha256
    return messages, Proof("request", "" if same else "it had something that is neither a layer, a tool nor a message")


def _before(kept: Kept, past: Past, assembly: Assembly) -> tuple[list[Said], str]:
    """The past messages that were sent with the first request: the newest of those that were read."""
    record, count = kept.record, int(kept.steps[0]["before"])
    exchanges = past.exchanges(record.agent, record.sender or record.user)
    said = [message for one in sent(assembly, exchanges) for message in one.said]
    if len(said) < count:
        return said, f"{count - len(said)} of {count} past messages are not kept any more"
    return said[len(said) - count :], ""


def _differs(kept: Kept, before: Sequence[Said], assembly: Assembly) -> str:
    """Which message is not as it was, by its place."""
    settings, sent = assembly.settings, kept.detail["before"]
    rebuilt = [*before[len(before) - sent :], *answered(assembly)]
    for number, (said, row) in enumerate(zip(rebuilt, kept.beside, strict=False), 1):
        if row_of(said, settings.counter, settings.key)[1] != row[1]:
            which = "the message it answered" if number > sent else f"past message {number} of {sent}"
            return f"{which} is not kept as it was"
    return ""
