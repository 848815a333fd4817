"""A turn under way: who speaks, what was taken, what was said and decided so far; it is gone when the turn ends."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC
from typing import TYPE_CHECKING, Any, Final

from .acting import InTurn
from .agent import Agent, Watch
from .core.dialogue import Said, Usage
from .core.errors import Cancelled, OverLimit, OverSpend, Paused, UnknownChannel
from .core.keyring import key_id
from .core.policy import ChannelPolicy, Verdict
from .core.records import TurnRecord
from .core.state import State, move
from .core.text import spoken
from .sent import Row, Sent, answered, row_of
from .told import as_json, told

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .core.assemble import Assembly
    from .core.dialogue import ToolCall
    from .core.incoming import Incoming
    from .core.ports import Request, Tool
    from .core.records import Control, Exchange, InboxMessage
    from .screening import History, Stream

RECALLED: Final = 8  # exchanges whose words still count for a guard
# A body's own words, and what a caller chose among its tools.
SPOKEN: Final = frozenset({"messages", "input", "instructions", "system", "prompt", "tools", "tool_choice"})
STOPS: Final = frozenset({"stop", "stop_sequences"})  # words too, wherever a dialect has them


class Course:
    """The facts of one turn, in the order they become known."""

    def __init__(self, agent: Agent, incoming: Incoming, turn_id: str, watch: Watch) -> None:
        self.agent = agent
        self.watch = watch
        self.id = turn_id
        self.incoming = incoming
        self.policy: ChannelPolicy = policy_of(agent, incoming.channel)
        self.started_ns = agent.clock()
        self.waited_ns = 0  # for a person; their time is not the turn's
        self.state = State.IDLE
        self.taken: Sequence[InboxMessage] = ()
        self.acting = acting_for(self)
        self.tools: Mapping[str, Tool] = {}
        self.theirs: frozenset[str] = frozenset()  # tools of the caller's, among them
        self.handed: tuple[ToolCall, ...] = ()
        self.mode = ""
        self.assembly: Assembly | None = None
        self.past: Sequence[Exchange] = ()
        self.sent: Sequence[Sent] | None = None  # those, as messages; made once for all calls of the model
        self.before: tuple[Said, ...] = ()
        self.rows_before: tuple[Row, ...] = ()  # of those, where they are known
        self.after: list[Said] = []
        self.texts: list[str] = []
        self.screen: Stream | None = None
        self.spoken = False
        self.usage = Usage()
        self.steps: list[dict[str, Any]] = []
        self.asked_with: dict[str, Any] = {}
        self.verdicts: list[dict[str, str]] = []
        self.calls: defaultdict[str, int] = defaultdict(int)
        self.last_call = ("", 0)
        self.circling = False
        self.outcome = "done"
        self.code = "OK"

    def __repr__(self) -> str:
        return f"Course({self.id!r}, {self.state}, {len(self.steps)} steps)"

    def to(self, state: State) -> None:
        """The next state of the turn (S0-15)."""
        self.state = move(self.state, state)
        self.watch.moved(self.state)

    # ── limits ────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def seconds_left(self) -> float:
        return self.policy.max_seconds - (self.agent.clock() - self.started_ns - self.waited_ns) / 10**9

    def may_stop(self) -> None:
        """Raises when whoever asked no longer wants an answer, or when it comes too late."""
        if self.watch.stopped():
            raise Cancelled("the turn was cancelled; its message waits")
        if self.seconds_left <= 0:
            raise OverLimit(f"{self.policy.max_seconds} s are the limit of a turn on {self.policy.name}")

    def may_go_on(self) -> None:
        """Raises when the turn must stop here: nobody wants it, the agent is paused, or a limit is reached."""
        self.may_stop()
        used = self.usage.input + self.usage.output
        if self.steps:  # the first step was looked at when the turn began
            may_spend(self.agent, self.incoming, used)
        if len(self.steps) >= self.policy.max_steps:
            raise OverLimit(f"{self.policy.max_steps} calls of the model are the limit of a turn on {self.policy.name}")
        if used >= self.policy.max_tokens:
            limit = f"{self.policy.max_tokens:,} tokens"
            raise OverLimit(f"{used:,} tokens were used; {limit} are the limit of a turn on {self.policy.name}")

    @property
    def reply_tokens(self) -> int:
        """How long a reply may be: as long as the agent's, or shorter when the caller says so."""
        carried, most = self.incoming.carried, self.agent.max_reply_tokens
        return most if carried is None or carried.max_tokens is None else min(most, carried.max_tokens)

    def said(self) -> History:
        """The chat so far with the message that is answered, as (role, text)."""
        if (carried := self.incoming.carried) is not None:
            talk = [(said.role, said.text) for said in (*carried.before, *carried.after) if said.text]
            theirs = [pair for pair in talk if pair[0] != "tool"]
            return [*theirs[-2 * RECALLED :], ("user", self.incoming.text)]
        pairs = [
            pair
            for exchange in self.past[-RECALLED:]
            for pair in (("user", exchange.text), ("assistant", exchange.reply))
            if pair[1]
        ]
        return [*pairs, ("user", self.incoming.text)]

    # ── what is kept ──────────────────────────────────────────────────────────────────────────────────────────────

    def judged(self, gate: str, verdict: Verdict, name: str = "") -> Verdict:
        """Every answer of every gate goes into the record."""
        self.verdicts.append({"gate": gate, "name": name, "decision": verdict.decision, "code": verdict.code})
        return verdict

    def stepped(self, request: Request, usage: Usage, stop: str) -> None:
        self.usage = self.usage + usage
        if not self.steps:
            self.asked_with = without_words(request.payload)
        self.steps.append(
            {
                "sha256": request.expected.payload_sha256,
                "input": usage.input,
                "output": usage.output,
                "cached": usage.cached,
                "stop": stop,
                "before": len(self.before),
                "after": len(self.after),
            }
        )

    def beside(self) -> list[Row]:
        """The messages beside the system's layers, in the order they were sent, the one that is answered among them."""
        if self.assembly is None:
            return []
        count, key = self.assembly.settings.counter, self.assembly.settings.key
        known = self.rows_before
        said = (*(() if known else self.before), *answered(self.assembly), *self.after)
        return [*known, *[row_of(one, count, key) for one in said]]

    def reply(self) -> Row | None:
        """What the model said last, as a message: a next turn that sends it so finds it in the engine's cache."""
        if self.assembly is None or not self.texts or self.outcome == "failed":
            return None
        settings = self.assembly.settings
        return row_of(Said("assistant", spoken(self.texts[-1])), settings.counter, settings.key)

    def wrote(self) -> dict[str, Any]:
        """What the turn's tools changed: layers with their new version, how many notes and proposals."""
        if self.outcome == "failed":
            return {}
        acting = self.acting
        layers = {place.layer_id: change.expected_version + 1 for place, change in acting.changes.items()}
        return {"layers": layers, "notes": len(acting.notes), "proposals": len(acting.proposals)}

    def record(self) -> TurnRecord:
        """What is kept of the turn: hashes, codes and counts."""
        agent, incoming, assembly = self.agent, self.incoming, self.assembly
        manifest: dict[str, Any] = {"bytes": 0, "tokens_est": 0} if assembly is None else told(assembly.manifest)
        detail = {
            "provider": agent.provider.name,
            "model": agent.provider.model,
            "dialect": agent.provider.dialect,
            "steps": self.steps,
            "verdicts": self.verdicts,
            "foreign": self.acting.foreign,
            "before": len(self.before),
            "beside": self.beside(),
            "reply": self.reply(),
            "sent": self.asked_with,
            "native": agent.provider.native_tools,
            "tools": list(self.tools),
            "user_layer": assembly is not None and assembly.has_user_layer,
            "key": key_id(key) if assembly is not None and (key := assembly.settings.key) else "",
            "started_ns": self.started_ns,
            "wrote": self.wrote(),
            "past": [exchange.seq for exchange in self.past],
            **({} if incoming.carried is None else {"carried": True}),
            "asked": {
                name: value
                for name in ("tool_policy", "task", "session", "model", "provider")
                if (value := getattr(incoming, name))
            }
            | ({"operator": True} if incoming.operator else {}),
        }
        counts = {
            "input": self.usage.input,
            "output": self.usage.output,
            **({} if self.usage.cached is None else {"cached": self.usage.cached}),
            "steps": len(self.steps),
            "calls": sum(self.calls.values()),
            "messages": len(self.taken),
            "bytes": manifest["bytes"],
            "tokens_est": manifest["tokens_est"],
        }
        return TurnRecord(
            agent=agent.name,
            id=self.id,
            at_ns=self.acting.at_ns,
            channel=incoming.channel,
            sender=incoming.sender,
            user=incoming.user,
            charter=agent.charter.name,
            charter_version=agent.charter.version,
            mode=self.mode,
            outcome=self.outcome,  # type: ignore[arg-type]
            code=self.code,
            stack_sha256=assembly.stack_sha256 if assembly is not None else "",
            payload_sha256=self.steps[0]["sha256"] if self.steps else "",
            tools_sha256=(manifest.get("tools") or {}).get("sha256", ""),
            manifest=as_json(manifest) if assembly is not None else "{}",
            counts=counts,
            detail=as_json(detail),
        )


def without_words(body: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a body that say how it was asked, without a word of what."""
    fields = {name: value for name, value in body.items() if name not in SPOKEN and name not in STOPS}
    if isinstance(inner := fields.get("options"), dict) and not STOPS.isdisjoint(inner):
        fields["options"] = {name: value for name, value in inner.items() if name not in STOPS}
    return fields


def acting_for(course: Course) -> InTurn:
    """In whose name the tools of this turn act."""
    agent = course.agent
    return InTurn(
        agent.charter, agent.store, course.incoming,
        agent=agent.name, turn=course.id, guard=agent.guards.update, skills=agent.skills,
    )  # fmt: skip


def policy_of(agent: Agent, channel: str) -> ChannelPolicy:
    """How this channel speaks; one the charter does not know is an error."""
    known = agent.charter.channels
    if channel not in known:
        raise UnknownChannel("channel", channel, tuple(known))
    return known[channel]


def may_spend(agent: Agent, incoming: Incoming, now: int = 0) -> None:
    """Raises when the agent is paused or its day is spent, the tokens of the turn under way among it (N-19)."""
    refuse_spent(agent.name, agent.store.control(agent.name, day_of(incoming)), now)


def day_of(incoming: Incoming) -> str:
    """The day a message counts to, in UTC."""
    return incoming.time.astimezone(UTC).date().isoformat()


def refuse_spent(agent: str, control: Control, now: int = 0) -> None:
    """Raises when this control says so."""
    if control.paused:
        raise Paused(f"{agent} is paused; start it again with: charter resume {agent}")
    for unit, used, limit in (
        ("tokens", control.tokens_today + now, control.tokens_per_day),
        ("turns", control.turns_today, control.turns_per_day),
    ):
        if limit is not None and used >= limit:
            raise OverSpend(f"{agent} used {used:,} of {limit:,} {unit} today; see: charter limit {agent}")
