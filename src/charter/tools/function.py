"""A Python function with type hints is a tool: its docstring and hints are what a model is told and held to.

A parameter annotated `Acting` is the turn's own: whoever the tool acts for is in it, and no model can fill it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, overload

from ..core.errors import BadValue, CharterError, Refused
from ..core.policy import ToolClass, ToolPolicy
from ..core.ports import Acting, Tool, ToolSpec
from .hints import Entry, Kind, Unfit, kind_of, object_kind, resolved
from .result import answered

NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
RESERVED: Final = frozenset(
    {
        "update_prompt_layer", "update_instructions", "save_memory", "read_memory", "read_skill", "propose_change",
        "current_time",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Toolmaker:
    """A tool before its turn; called with whom it acts for, it is the tool of that turn."""

    spec: ToolSpec
    policy: ToolPolicy
    function: Callable[..., object] = field(repr=False)
    arguments: Kind = field(repr=False)
    acting: str = ""
    own: bool = False
    foreign: bool = True
    stages: bool = False
    inside: bool = False

    def __call__(self, acting: Acting) -> Tool:
        def call(arguments: Mapping[str, Any]) -> str:
            return self._run(acting, arguments)

        return Tool(self.spec, self.policy, call, self.own, self.foreign, self.stages, self.inside)

    def _run(self, acting: Acting, arguments: Mapping[str, Any]) -> str:
        name = self.spec.name
        try:
            values = self.arguments.read(arguments)
        except Unfit as error:
            raise Refused("TOOL_BAD_ARGUMENTS", f"{name}: {error}; correct the call") from None
        try:
            value = self.function(**values, **({self.acting: acting} if self.acting else {}))
            return answered(value, foreign=self.foreign)
        except CharterError:
            raise
        except Exception as error:  # the edge to code of others: its words may hold anything, so only its kind is told
            raise Refused("TOOL_FAILED", f"{name} failed with {type(error).__name__}; try something else") from None


@overload
def tool(fn: Callable[..., object]) -> Toolmaker: ...
@overload
def tool(
    *, kind: str = "READ", name: str | None = None, max_per_turn: int | None = None, approval: bool | None = None,
    own: bool = False, foreign: bool = True,
) -> Callable[[Callable[..., object]], Toolmaker]: ...  # fmt: skip
def tool(fn: Callable[..., object] | None = None, **rules: Any) -> Any:
    """A function as a tool; `kind` is what it can do to the world, `foreign` that it brings in text of others.

    One that writes or executes waits for a person (S1-08). A name of a built-in tool is refused.
    """
    if fn is None:
        return lambda function: tool(function, **rules)
    made = make(fn, **rules)
    if made.spec.name in RESERVED:
        raise BadValue(made.spec.name, "this is a built-in tool's name; give another")
    check_policy(made.policy)
    return made


def check_policy(policy: ToolPolicy) -> None:
    """Only a built-in tool may write or execute without a person, and only where a charter says so (S1-08)."""
    if policy.approval is False and policy.kind in (ToolClass.WRITE, ToolClass.EXECUTE) and policy.name not in RESERVED:
        raise BadValue(policy.name, f"{policy.kind} without approval is for built-in tools; leave approval out")


def make(
    fn: Callable[..., object], *, kind: str = "READ", name: str | None = None, max_per_turn: int | None = None,
    approval: bool | None = None, own: bool = False, foreign: bool = True,
) -> Toolmaker:  # fmt: skip
    """A function as a tool, whatever its name."""
    called = checked_name(name or fn.__name__)
    if kind not in ToolClass.__members__:
        raise BadValue(called, f"a kind is one of: {', '.join(ToolClass)}")
    described = " ".join((inspect.getdoc(fn) or "").split("\n\n", 1)[0].split())
    if not described:
        raise BadValue(called, "no docstring; its first paragraph is what a model is told")
    arguments, turns_own = _parameters(fn, called)
    policy = ToolPolicy(called, ToolClass(kind), max_per_turn=max_per_turn, approval=approval)
    spec = ToolSpec(called, described, arguments.schema, max_per_turn)
    return Toolmaker(spec, policy, fn, arguments, turns_own, own, foreign)


def checked_name(name: str) -> str:
    """A name that every wire format takes."""
    if not NAME.fullmatch(name):
        raise BadValue("tool", f"a name of {len(name)} characters; use 1 to 64 of a-z, A-Z, 0-9, _ and -")
    return name


def _parameters(fn: Callable[..., object], name: str) -> tuple[Kind, str]:
    """What a model fills in, and the name of the parameter that is the turn's own."""
    if inspect.iscoroutinefunction(fn) or inspect.isasyncgenfunction(fn) or inspect.isgeneratorfunction(fn):
        # A turn has no event loop, and one made for a call would part it from the connections it was written for.
        raise BadValue(name, "an async function or a generator; write a plain function that returns its answer")
    hints = resolved(fn, name)
    entries: dict[str, Entry] = {}
    turns_own = ""
    for parameter in inspect.signature(fn).parameters.values():
        where = f"{name}.{parameter.name}"
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise BadValue(where, "a model fills in names; *args, **kwargs and positional-only have none")
        if parameter.name not in hints:
            raise BadValue(where, "no type hint")
        if hints[parameter.name] is Acting:
            if turns_own:
                raise BadValue(where, "one Acting is enough")
            turns_own = parameter.name
        else:
            required = parameter.default is parameter.empty
            entries[parameter.name] = Entry(kind_of(hints[parameter.name], where), required)
    return object_kind(entries), turns_own
