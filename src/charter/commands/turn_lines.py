"""How turns are told in a terminal and in JSON: hashes, names and counts, never text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from .common import at

if TYPE_CHECKING:
    from rich.console import Console

    from ..compare import Difference, LayerChange
    from ..core.records import TurnRecord
    from ..kept import Kept
    from ..prefix import Break
    from ..replay import Replay
    from ..why import Why

SHORT: Final = 12  # characters of an id or a hash that are shown


# ── turns ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def turn_line(row: TurnRecord) -> str:
    from ..kept import read_back

    outcome = row.outcome if row.code in ("OK", row.outcome.upper()) else f"{row.outcome} {row.code}"
    model = read_back(row).detail.get("model", "")
    return (
        f"{at(row.at_ns)}  {row.id[:SHORT]:<{SHORT}}  {row.agent:<12} {row.channel:<10} {outcome:<10} "
        f"{model:<16} {tokens(row)}  {row.stack_sha256[:SHORT] or 'no prompt'}"
    )


def tokens(row: TurnRecord) -> str:
    counts = row.counts
    share = f", {counts['cached']:,} cached" if "cached" in counts else ""
    return f"{counts.get('input', 0):,} in{share}, {counts.get('output', 0):,} out"


def brief(row: TurnRecord) -> dict[str, Any]:
    """A record without its manifest."""
    from ..kept import read_back

    detail = read_back(row).detail
    plain = {name: value for name, value in asdict(row).items() if name not in ("manifest", "detail")}
    return {**plain, "provider": detail.get("provider", ""), "model": detail.get("model", "")}


def everything(kept: Kept) -> dict[str, Any]:
    return {**asdict(kept.record), "manifest": kept.manifest, "detail": kept.detail}


def turn_table(console: Console, kept: Kept) -> None:
    """Everything that is kept of a turn."""
    from rich.text import Text

    from ..draw import COLOURS

    for line in _about(kept):
        console.print(Text(line), soft_wrap=True)
    table = _columns()
    colours = {str(owner): colour for owner, colour in COLOURS.items()}
    for entry in kept.stack:
        became = "" if entry["disposition"] == "whole" else f"{entry['disposition']}: {entry['reason']}"
        mark = "keyed" if entry["layer"] in kept.keyed else ""
        table.add_row(
            entry["layer"], Text(entry["id"], style=colours[entry["owner"]]), entry["owner"], entry["version"],
            f"{entry['bytes']:,}", f"{entry['tokens_est']:,}", entry["sha256"][:SHORT], mark, Text(became),
        )  # fmt: skip
    for left in kept.manifest.get("left_out", ()):
        table.add_row(left["layer"], Text(left["id"], style="dim"), *[""] * 6, Text(f"left out: {left['reason']}"))
    console.print(table)
    for line in (*_steps(kept), *_verdicts(kept)):
        console.print(Text(line), soft_wrap=True)


def _columns() -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("", "layer", "owner", "version", "bytes", "tokens", "sha256", ""):
        table.add_column(name, justify="right" if name in ("bytes", "tokens") else "left", no_wrap=True)
    table.add_column("", overflow="fold")
    return table


def _about(kept: Kept) -> Iterator[str]:
    row, detail = kept.record, kept.detail
    yield f"turn {row.id} of {row.agent}, {at(row.at_ns)}"
    yield f"{row.outcome} ({row.code}) on {row.channel}, for {row.user or row.sender or 'nobody'}"
    model = " ".join(filter(None, (detail.get("provider"), detail.get("model"))))
    yield f"{row.charter} {row.charter_version}, mode {row.mode or 'none'}; {model}"
    yield f"{tokens(row)}; {row.counts.get('steps', 0)} calls of the model, {row.counts.get('calls', 0)} of tools"
    for name in ("stack_sha256", "payload_sha256", "tools_sha256"):
        if digest := getattr(row, name):
            yield f"{name.removesuffix('_sha256'):<8} {digest}"
    if tools := detail.get("tools"):
        yield f"tools    {', '.join(tools)}"
    wrote = detail.get("wrote") or {}
    changes = [f"{layer} → version {version}" for layer, version in wrote.get("layers", {}).items()]
    changes += [f"{count} {name}" for name in ("notes", "proposals") if (count := wrote.get(name))]
    if changes:
        yield f"wrote    {', '.join(changes)}"
    if foreign := detail.get("foreign"):
        yield f"foreign  {', '.join(foreign)}"


def _steps(kept: Kept) -> Iterator[str]:
    for number, step in enumerate(kept.steps, 1):
        cached = "" if step["cached"] is None else f", {step['cached']:,} cached"
        yield (
            f"call {number}: {step['input']:,} in{cached}, {step['output']:,} out, ended with {step['stop']}; "
            f"{step['before']} past messages; {step['sha256'][:SHORT]}"
        )


def _verdicts(kept: Kept) -> Iterator[str]:
    for verdict in kept.detail.get("verdicts", ()):
        what = " ".join(filter(None, (verdict["gate"], verdict["name"])))
        yield f"verdict: {what}: {verdict['decision']} {verdict['code']}"


# ── two turns ─────────────────────────────────────────────────────────────────────────────────────────────────────


def difference_lines(found: Difference) -> list[str]:
    lines = [f"{fact.name}: {fact.first} → {fact.second}" for fact in found.facts]
    for layer in found.changed:
        lines += _layer_lines(layer)
    same = [layer.id for layer in found.layers if layer.how == "same"]
    lines.append(f"the same: {', '.join(same)}" if same else "no layer is the same")
    return lines if found.changed or found.facts else ["no difference"]


def _layer_lines(layer: LayerChange) -> list[str]:
    moved = f"version {layer.first} → {layer.second}" if layer.first != layer.second else ""
    told = "; ".join(filter(None, (moved, layer.why)))
    lines = [f"{layer.id}: {layer.how}" + (f"; {told}" if told else "")]
    for row in layer.written:
        back = f", the text of version {row.restores}" if row.restores else ""
        lines.append(f"  version {row.version} by {row.by}, {at(row.at_ns)}{back}")
    return lines


# ── proofs ────────────────────────────────────────────────────────────────────────────────────────────────────────


def replay_lines(found: Replay) -> list[str]:
    proofs = (*found.layers, *found.whole)
    lines = [f"{'proved' if proof.proved else 'NOT   '} {proof.what}" + _because(proof.reason) for proof in proofs]
    open_ones = sum(not proof.proved for proof in proofs)
    told = f"{open_ones} of {len(proofs)} not proved" if open_ones else f"all {len(proofs)} proved"
    return [*lines, f"turn {found.kept.record.id}: {told}"]


def _because(reason: str) -> str:
    return f": {reason}" if reason else ""


def replay_dict(found: Replay, *, reveal: bool) -> dict[str, Any]:
    told: dict[str, Any] = {"turn": found.kept.record.id, "proved": found.proved}
    for name, proofs in (("layers", found.layers), ("whole", found.whole)):
        told[name] = [{"what": proof.what, "proved": proof.proved, "reason": proof.reason} for proof in proofs]
    if reveal and found.assembly is not None:
        told["prompt"] = found.assembly.reveal()
    return told


# ── the cached prefix ─────────────────────────────────────────────────────────────────────────────────────────────

_HOW: Final = {
    "changed": "{what} changed",
    "added": "{what} was not there before",
    "removed": "{what} is not there any more",
    "cut": "the oldest {count} messages gave way to the window (N-18)",
    "anew": "the chat began anew, or nothing of it fits the window",
    "left": "the message of the turn before is not sent again",
    "reply": "the reply is not sent again as the model said it: its channel gave it another form",
    "calls": "what the turn before said with tools is not sent again",
}


def broke_line(broke: Break) -> str:
    what = {"layer": f"layer {broke.id}", "tools": "the tool schemas", "message": "a past message"}[broke.kind]
    return _HOW[broke.how].format(what=what, count=broke.count)


def why_told(kept: Kept, found: Why | None) -> list[str]:
    if found is None:
        return [f"turn {kept.record.id[:SHORT]}: {_nothing_before(kept)}"]
    prediction = found.prediction
    lines = [f"turn {found.turn[:SHORT]} after {found.previous[:SHORT]}"]
    if prediction.broke is None:
        lines.append("nothing broke the cached prefix: this turn goes on where the one before ended")
    else:
        lines.append(f"the cached prefix ends: {broke_line(prediction.broke)}{_place(found)}")
    lines.append(f"predicted  {_count(found, 'predicted')} ({found.predicted:.1%})")
    measured = (
        "the provider did not say" if found.measured is None else f"{_count(found, 'cached')} ({found.measured:.1%})"
    )
    lines.append(f"measured   {measured}")
    lines.append(
        f"by our count: {prediction.cached:,} cached, {prediction.lost:,} unchanged but paid again, "
        f"{prediction.fresh:,} new" + (f", {prediction.beyond:,} behind the last mark" if prediction.beyond else "")
    )
    if prediction.below and prediction.broke and prediction.broke.kind == "layer":
        lines.append(f"placed below what does not change, it would save {prediction.below:,} tokens a turn")
    return lines


def _nothing_before(kept: Kept) -> str:
    if not kept.steps:
        return f"no model was asked ({kept.record.code})"
    return "no turn of this sender with this model and this key came right before it: there is nothing to compare"


def _place(found: Why) -> str:
    if found.byte is None:
        return ""
    where = "" if found.exact else ", where it starts; how far it is the same cannot be told any more"
    return f", at byte {found.byte:,} of the prompt{where}"


def _count(found: Why, name: str) -> str:
    part = sum(getattr(step, name) for step in found.steps)
    return f"{part:,} of {sum(step.input for step in found.steps):,} input tokens from the cache"


def why_dict(kept: Kept, found: Why | None) -> dict[str, Any]:
    if found is None:
        return {"turn": kept.record.id, "previous": None, "reason": _nothing_before(kept)}
    broke = found.prediction.broke
    told = {**asdict(found), "reason": broke_line(broke) if broke else ""}
    told["prediction"] |= {"fresh": found.prediction.fresh, "share": found.prediction.share}
    return told | {"predicted_share": found.predicted, "measured_share": found.measured}
