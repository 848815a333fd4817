"""Which layer or message ended the cached prefix of a turn, at which byte, and what was paid again for it (N-06)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from .core.layer import Role, Volatility
from .core.payload import Block, breakpoints
from .kept import Kept, counted_by, read_back
from .prefix import Prediction, Segment, common, predict
from .tokens import EXACT

if TYPE_CHECKING:
    from .charter import Charter
    from .replay import Replay
    from .stores.store import SqlStore

FRAME: Final = 5  # tokens that a chat template puts around a message, about
JSON: Final = 1.4  # how much a quarter of the bytes falls short for tool schemas, measured with the embedded model
_ALIKE: Final = ("provider", "model", "dialect", "key")  # else there is no cache in common, or no hash to compare


@dataclass(frozen=True, slots=True)
class Caching:
    """How a provider caches: whether tools stand before the layers, after which layers a prefix may end (None:
    anywhere), and from how many tokens on."""

    tools_first: bool = False
    ends: Collection[str] | None = None
    minimum: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """One call of the model: the tokens it was sent, how many of them we expect in the cache, how many were."""

    input: int
    predicted: int
    cached: int | None


@dataclass(frozen=True, slots=True)
class Why:
    """What is known of a turn's cached prefix. `byte` is where in the prompt it ends, `exact` when both texts were
    built again and compared, else at the start of its layer; None when the layers are the same."""

    turn: str
    previous: str
    prediction: Prediction
    byte: int | None
    exact: bool
    steps: tuple[Step, ...]

    @property
    def predicted(self) -> float:
        """The share of the turn's input that we expect in the cache."""
        return _share(sum(step.predicted for step in self.steps), self.steps)

    @property
    def measured(self) -> float | None:
        """The share the provider reported; None when it did not."""
        known = [step.cached for step in self.steps if step.cached is not None]
        return _share(sum(known), self.steps) if len(known) == len(self.steps) else None


def _share(tokens: int, steps: Sequence[Step]) -> float:
    total = sum(step.input for step in steps)
    return tokens / total if total else 0.0


Rebuilt = Callable[[Kept, str], str | None]


def explain(store: SqlStore, charter: Charter | None, this: Kept) -> Why | None:
    """Compares a turn with the one before it that reached a model: of the same sender, or of the agent where it takes
    one turn at a time. None when there is none, or it was another model's or made with another key. Without the
    charter, a byte is the one where its layer starts."""
    from .replay import replay
    from .stores.past import before

    if not this.steps:
        return None
    record = before(store.db, this.record, same_sender=charter is None or not charter.one_at_a_time)
    previous = read_back(record) if record else None
    if previous is None or any(previous.detail.get(name) != this.detail.get(name) for name in _ALIKE):
        return None

    @cache
    def again(turn: str) -> Replay | None:
        kept = this if turn == this.record.id else previous
        return replay(store, charter, kept) if charter is not None else None

    def text(kept: Kept, layer_id: str) -> str | None:
        found = again(kept.record.id)
        return found.text(layer_id) if found else None

    volatility = {layer.id: layer.volatility for layer in charter.stack.layers} if charter else {}
    return why(this, previous, caching=caching_of(this, volatility), text=text)


def caching_of(kept: Kept, volatility: Mapping[str, Volatility]) -> Caching:
    """How the provider of a turn caches, as far as is known; one that we know by its format alone has no minimum."""
    from .providers.facts import all_facts

    rows, name = all_facts(), kept.detail.get("provider", "")
    row = rows.get(name) or rows.get(kept.detail.get("dialect", ""))
    if row is None:
        return Caching()
    ends = marked(kept, volatility) if row.breakpoints else None
    minimum = row.cacheable_from(kept.detail.get("model", "")) if name in rows else 0
    return Caching(row.tools_first, ends, minimum)


def why(this: Kept, previous: Kept, *, caching: Caching, text: Rebuilt) -> Why:
    """Compares a turn with the one before it; `text` gives a layer as it was sent, or None when it is not proved."""
    before, now = ended(previous, caching), sent(this, 0, caching)
    ends = _ends(this, caching)
    byte, inside, exact = _place(this, previous, before, now, text)
    first = predict(before, now, inside=inside, ends=ends)
    later = [_within(this, number, caching) for number in range(1, len(this.steps))]
    steps = [_step(this, number, one, caching) for number, one in enumerate((first, *later))]
    return Why(this.record.id, previous.record.id, first, byte, exact, tuple(steps))


def _step(kept: Kept, number: int, found: Prediction, caching: Caching) -> Step:
    """Our counts are estimates, so the share is ours and the total the provider's."""
    said = kept.steps[number]
    total = int(said["input"]) or found.total
    expected = round(total * found.share)
    return Step(total, expected if expected >= caching.minimum else 0, said["cached"])


def _within(kept: Kept, number: int, caching: Caching) -> Prediction:
    """A later call of the same turn: the call before it, and what the model answered to that, are in the cache."""
    seen = [*sent(kept, number - 1, caching), *_answer(kept, number - 1)]
    return predict(seen, sent(kept, number, caching), ends=_ends(kept, caching))


# ── a turn as an engine sees it ───────────────────────────────────────────────────────────────────────────────────


def sent(kept: Kept, number: int, caching: Caching) -> list[Segment]:
    """The segments of one call of the model, in order."""
    step = kept.steps[number]
    past, message, since = _rows(kept)
    lost = max(step["before"] - len(past), 0)  # sent with this call, then cut; a record has the last call's messages
    unknown = [Segment("message", "past", "", 0)] * lost
    named = (("past", past), ("message", message), ("since", since[: step["after"]]))
    messages = [_message(name, row) for name, rows in named for row in rows]
    tools = _tools(kept)
    head = [*tools, *_layers(kept)] if caching.tools_first else [*_layers(kept), *tools]
    return [*head, *unknown, *messages]


def ended(kept: Kept, caching: Caching) -> list[Segment]:
    """Everything the engine had seen or said when the turn ended."""
    last = len(kept.steps) - 1
    return [*sent(kept, last, caching), *_answer(kept, last)]


def _answer(kept: Kept, number: int) -> list[Segment]:
    """What the model said to a call: the turn's reply, or what the next call has of it.

    Calls of tools that travel beside the text go back in another form than the model wrote them in.
    """
    if number + 1 == len(kept.steps):
        row = kept.detail.get("reply")
        return [_message("reply", row)] if row else []
    if kept.detail.get("native"):
        return []
    since, place = _rows(kept)[2], kept.steps[number]["after"]
    return [_message("since", row) for row in since[place : place + 1]]


Rows = Sequence[Sequence[Any]]


def _rows(kept: Kept) -> tuple[Rows, Rows, Rows]:
    """The messages before the one that is answered, that one, and those since."""
    rows, past = kept.beside, int(kept.detail["before"])
    middle = past + (len(rows) > past and rows[past][0] == "user")
    return rows[:past], rows[past:middle], rows[middle:]


def _message(name: str, row: Sequence[Any]) -> Segment:
    return Segment("message", name, row[1], row[2] + FRAME)


def _layers(kept: Kept) -> list[Segment]:
    """The system's layers, each with what joins it to the one above."""
    size, tokens = kept.joint
    return [
        Segment("layer", entry["id"], entry["sha256"], entry["tokens_est"] + tokens * (number > 0),
                entry["bytes"] + size * (number > 0))
        for number, entry in enumerate(kept.system)
    ]  # fmt: skip


def _tools(kept: Kept) -> list[Segment]:
    digest = kept.record.tools_sha256
    tokens = kept.tools_tokens if kept.counter in EXACT else round(kept.tools_tokens * JSON)
    return [Segment("tools", "tools", digest, tokens)] if digest else []


# ── where it ends ─────────────────────────────────────────────────────────────────────────────────────────────────


def _ends(kept: Kept, caching: Caching) -> frozenset[int] | None:
    """After how many segments the provider keeps a prefix."""
    if caching.ends is None:
        return None
    tools = 1 if caching.tools_first and kept.record.tools_sha256 else 0
    return frozenset(tools + number for number, entry in enumerate(kept.system, 1) if entry["id"] in caching.ends)


def marked(kept: Kept, volatility: Mapping[str, Volatility]) -> frozenset[str]:
    """The layers after which this turn's request was marked for a cache that keeps marked prefixes alone."""
    blocks = [
        Block(entry["id"], Role.SYSTEM, "", volatility.get(entry["id"], Volatility.TURN)) for entry in kept.system
    ]
    return frozenset(blocks[number].id for number in breakpoints(blocks))


def _place(
    this: Kept, previous: Kept, before: Sequence[Segment], now: Sequence[Segment], text: Rebuilt
) -> tuple[int | None, int, bool]:
    """The byte of the prompt where the two part, the tokens up to it inside its layer, and whether that is exact."""
    kept = common(before, now)
    here = now[kept] if kept < len(now) else None
    was = before[kept] if kept < len(before) else None
    if here is None or was is None or "layer" not in (here.kind, was.kind):
        return None, 0, False
    above = [segment for segment in now[:kept] if segment.kind == "layer"]
    start = sum(segment.bytes for segment in above) + (this.joint[0] if above and here.kind == "layer" else 0)
    if here.kind != was.kind:
        return start, 0, True
    one, other = text(previous, was.id), text(this, here.id)
    if one is None or other is None:
        return start, 0, False
    same = _same(one, other)
    return start + len(same), min(counted_by(this)(same), here.tokens), True


def _same(one: str, other: str) -> bytes:
    """What two texts have in common from their start."""
    pairs = enumerate(zip(one, other, strict=False))
    end = next((number for number, (a, b) in pairs if a != b), min(len(one), len(other)))
    return one[:end].encode(errors="surrogatepass")
