"""Every error Charter raises, one tree; an error names ids, places and sizes, never content, and says what to do next.

CharterError
├── FolderError              something in a charter folder or a workspace cannot be used
│   ├── ConfigError          charter.toml, frontmatter or a case file is malformed (file and line)
│   ├── FileRefused          a file was found but may not be read (outside the root, not regular, too big, not UTF-8)
│   ├── FileMissing          a file that is needed is not there
│   ├── TemplateRefused      a template does not compile or uses what prompts may not use
│   └── Tampered             a locked file differs from charter.lock: no prompt is made
├── StackError               the layers themselves are not a valid stack
│   ├── DuplicateLayer
│   ├── NoBase
│   ├── UserLayerNotLast
│   └── ModeDropsLayer
├── AssemblyError            this prompt may not be assembled; nothing is sent
│   ├── UnknownLayer
│   ├── LayerOrder
│   ├── LayerMissing
│   ├── LayerEmpty
│   ├── MisplacedContent     text of too little trust in a layer that does not take it
│   └── BudgetExceeded
├── RequestError             what was asked for does not exist
│   ├── UnknownCharter
│   ├── UnknownChannel
│   ├── UnknownMode
│   ├── UnknownAgent
│   └── UnknownDialect
├── StoreError               the store cannot do it now; nothing was half done
│   ├── StoreUnavailable     locked, full, read-only or out of reach (says which, and what to do)
│   ├── StoreDamaged         the database is not what it should be; it is never made anew by itself
│   ├── StoreOutdated        the database is older than the code: charter db upgrade
│   ├── StoreTooNew          the database was written by a newer Charter
│   ├── Conflict             someone else changed it first (names the version that is there)
│   ├── NotStored            no such version, label, proposal or turn
│   └── Busy                 another turn has the agent or the sender
├── Refused                  a change is not allowed; carries the verdict
├── SealError                a signature cannot be made
│   ├── KeyRefused           a key cannot be made, found, read or used
│   └── ApprovalRefused      there is nothing to approve here, or not by this key
├── ProviderError            the model did not answer; says what to do next
│   ├── ProviderAuth         the key is missing, wrong or not allowed
│   ├── ProviderRate         too many requests, or no credit left; says how long to wait when it is known
│   ├── ProviderOverflow     the prompt is longer than the model's window
│   ├── ProviderRefused      the provider would not answer this
│   ├── ProviderDown         out of reach, too slow, or an error of its own
│   ├── ProviderNonsense     an answer that cannot be read, or half of one
│   └── WireMismatch         what was about to leave is not what was assembled; nothing was sent
├── TurnError                a turn did not come to its end; its messages wait again
│   ├── BadMove              a state that cannot follow the state before
│   ├── Paused               the agent was stopped by a person
│   ├── OverSpend            the agent's limit for the day is reached
│   ├── OverLimit            too many steps, too much time, too many tokens in one turn
│   ├── Cancelled            whoever asked no longer wants it
│   └── Answered             this message was answered before; nothing was done again
├── AccessError              someone at the door of a server
│   ├── NotKnown             no token, or one that is unknown, late or revoked
│   ├── NotAllowed           known, but this is not theirs to see or do
│   └── TooMany              too many requests, or too many tries; says how long to wait
├── BadValue                 a value of the request is out of its range (time zone, time, soul, limit)
└── MissingExtra             an optional part is not installed (says the command)
"""

from __future__ import annotations


class CharterError(Exception):
    """The root: catch this to catch everything Charter raises on purpose."""


class FolderError(CharterError):
    """Something in a charter folder or a workspace cannot be used."""

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(f"{where}: {problem}")
        self.where = where
        self.problem = problem


class ConfigError(FolderError):
    """A file people write is malformed; `where` is `file:line` when a line is known."""


class FileRefused(FolderError):
    """A file exists but may not be read; `reason` is one of a few fixed phrases."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.reason = reason


class FileMissing(FolderError):
    """A file that is needed is not there."""

    def __init__(self, path: str, needed_by: str) -> None:
        super().__init__(path, f"missing, needed by {needed_by}; create it or name another")


class TemplateRefused(FolderError):
    """A template does not compile, or uses what prompts may not use."""


class Tampered(FolderError):
    """Locked files differ from charter.lock; no prompt is made."""

    def __init__(self, folder: str, files: tuple[str, ...]) -> None:
        super().__init__(
            folder,
            f"{len(files)} locked file(s) differ from charter.lock: {', '.join(files)}; "
            "restore them, or bump the version and run 'charter lock' if the change is meant",
        )
        self.files = files


class StackError(CharterError):
    """The layers themselves are not a valid stack."""


class DuplicateLayer(StackError):
    """Two layers share an id."""


class NoBase(StackError):
    """The first required layer is not a system layer owned by sealed or operator."""


class UserLayerNotLast(StackError):
    """A user-role layer stands above another layer."""


class ModeDropsLayer(StackError):
    """A mode or condition would drop the base or a required layer."""


class AssemblyError(CharterError):
    """This prompt may not be assembled; nothing is sent."""


class UnknownLayer(AssemblyError):
    """A section or an amendment names a layer the stack does not have."""


class LayerOrder(AssemblyError):
    """Sections came in another order than the stack's."""


class LayerMissing(AssemblyError):
    """A required layer has no section."""


class LayerEmpty(AssemblyError):
    """A required layer has nothing to say."""


class MisplacedContent(AssemblyError):
    """Text of too little trust stands in a layer that does not take it."""


class BudgetExceeded(AssemblyError):
    """What may never be cut is alone bigger than the limit."""

    def __init__(self, *, needed: int, limit: int, unit: str = "characters") -> None:
        super().__init__(
            f"the required layers need {needed:,} {unit}, the limit is {limit:,}; "
            "raise the limit in charter.toml [budget] or shorten a required layer"
        )
        self.needed = needed
        self.limit = limit


class RequestError(CharterError):
    """What was asked for does not exist."""

    def __init__(self, kind: str, name: str, known: tuple[str, ...] = ()) -> None:
        shown = name if name.isprintable() and len(name) <= 64 else f"<{len(name)} characters>"
        choices = f"; known: {', '.join(known)}" if known else ""
        super().__init__(f"unknown {kind} {shown!r}{choices}")
        self.name = name
        self.known = known


class UnknownCharter(RequestError):
    """Neither a built-in charter nor a folder with a charter.toml."""


class UnknownChannel(RequestError):
    """A channel the charter does not accept."""


class UnknownMode(RequestError):
    """A mode the charter does not have."""


class UnknownAgent(RequestError):
    """An agent, task or tool policy the charter or workspace does not have."""


class UnknownDialect(RequestError):
    """A provider format Charter does not speak."""


class StoreError(CharterError):
    """The store cannot do what was asked; nothing was half done."""


class StoreUnavailable(StoreError):
    """Locked, full, read-only or out of reach."""


class StoreDamaged(StoreError):
    """The database is not what it should be; it is never made anew by itself."""


class StoreOutdated(StoreError):
    """The database is older than the code."""


class StoreTooNew(StoreError):
    """The database was written by a newer Charter."""


class Conflict(StoreError):
    """The text changed since it was read."""

    def __init__(self, what: str, *, expected: int, current: int) -> None:
        super().__init__(
            f"{what} is at version {current}, not {expected}: someone changed it first; read it again, then decide"
        )
        self.expected = expected
        self.current = current


class NotStored(StoreError):
    """No such version, label, proposal, message or turn."""

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(f"there is no {what}" + (f"; {hint}" if hint else ""))


class Busy(StoreError):
    """Another turn has the agent or the sender."""


class Refused(CharterError):
    """A change is not allowed; `code` says why to machines."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(f"{code}: {reason}")
        self.code = code


class SealError(CharterError):
    """A signature cannot be made."""


class KeyRefused(SealError):
    """A key cannot be made, found, read or used."""


class ApprovalRefused(SealError):
    """There is nothing to approve here, or not by this key."""


class ProviderError(CharterError):
    """The model did not answer; `code` goes into the record, `what_next` is for a person."""

    code = "PROVIDER_ERROR"

    def __init__(self, provider: str, problem: str, what_next: str = "") -> None:
        super().__init__(f"{provider}: {problem}" + (f"; {what_next}" if what_next else ""))
        self.provider = provider


class ProviderAuth(ProviderError):
    """The key is missing, wrong or not allowed."""

    code = "PROVIDER_AUTH"


class ProviderRate(ProviderError):
    """Too many requests, or no credit left; `retry_after` is in seconds when the provider says."""

    code = "PROVIDER_RATE"

    def __init__(self, provider: str, problem: str, what_next: str = "", *, retry_after: float | None = None) -> None:
        super().__init__(provider, problem, what_next)
        self.retry_after = retry_after


class ProviderOverflow(ProviderError):
    """The prompt is longer than the model's window."""

    code = "PROVIDER_OVERFLOW"


class ProviderRefused(ProviderError):
    """The provider would not answer this."""

    code = "PROVIDER_REFUSED"


class ProviderDown(ProviderError):
    """Out of reach, too slow, or an error of its own."""

    code = "PROVIDER_DOWN"


class ProviderNonsense(ProviderError):
    """An answer that cannot be read, or half of one."""

    code = "PROVIDER_NONSENSE"


class WireMismatch(ProviderError):
    """What was about to leave is not what was assembled; nothing was sent."""

    code = "WIRE_MISMATCH"


class TurnError(CharterError):
    """A turn did not come to its end; its messages wait again."""

    code = "TURN_ERROR"


class BadMove(TurnError):
    """A state that cannot follow the state before."""

    code = "TURN_BAD_MOVE"


class Paused(TurnError):
    """The agent was stopped by a person."""

    code = "AGENT_PAUSED"


class OverSpend(TurnError):
    """The agent's limit for the day is reached."""

    code = "AGENT_OVER_SPEND"


class OverLimit(TurnError):
    """Too many steps, too much time, too many tokens in one turn."""

    code = "TURN_OVER_LIMIT"


class Cancelled(TurnError):
    """Whoever asked no longer wants it."""

    code = "TURN_CANCELLED"


class Answered(TurnError):
    """This message was answered before; nothing was done again."""

    code = "TURN_ALREADY_ANSWERED"


class AccessError(CharterError):
    """Someone at the door of a server may not come in, or not there, or not so often."""


class NotKnown(AccessError):
    """No token, or one that is unknown, late or revoked."""

    code = "ACCESS_UNKNOWN"


class NotAllowed(AccessError):
    """Known, but this is not theirs to see or do."""

    code = "ACCESS_DENIED"


class TooMany(AccessError):
    """Too many requests, or too many tries; `retry_after` is in seconds."""

    code = "ACCESS_TOO_MANY"

    def __init__(self, reason: str, *, retry_after: float) -> None:
        super().__init__(f"{reason}; try again in {-int(-retry_after // 1)} s")
        self.retry_after = retry_after


class BadValue(CharterError):
    """A value of the request is out of its range."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field


class MissingExtra(CharterError):
    """An optional part is not installed."""

    def __init__(self, extra: str, needed_for: str) -> None:
        super().__init__(f"{needed_for} needs an optional part: pip install 'charter[{extra}]'")
        self.extra = extra
