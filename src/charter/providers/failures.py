"""Every way a call can fail, in our words: what happened and what to do next, never what the server said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any, Final, Literal

from ..core.errors import (
    ProviderAuth,
    ProviderDown,
    ProviderError,
    ProviderNonsense,
    ProviderOverflow,
    ProviderRate,
    ProviderRefused,
)

Kind = Literal["auth", "rate", "quota", "overflow", "refused", "down", "nonsense"]

# What servers call it, in `code`, `type` or `details.error_code`.
_CODES: Final[Mapping[str, Kind]] = {
    "context_length_exceeded": "overflow",
    "exceed_context_size_error": "overflow",
    "request_too_large": "overflow",
    "insufficient_quota": "quota",
    "billing_error": "quota",
    "billing_hard_limit_reached": "quota",
    "enforced_spend_limit_reached": "quota",
    "invalid_api_key": "auth",
    "authentication_error": "auth",
    "permission_error": "auth",
    "rate_limit_exceeded": "rate",
    "rate_limit_error": "rate",
    "server_error": "down",
    "api_error": "down",
    "overloaded_error": "down",
    "timeout_error": "down",
    "invalid_prompt": "refused",
    "invalid_request_error": "refused",
    "content_filter": "refused",
    "content_policy_violation": "refused",
}
# Some say it only in words.
_PHRASES: Final[tuple[tuple[str, Kind], ...]] = (
    ("prompt is too long", "overflow"),
    ("context length", "overflow"),
    ("context size", "overflow"),
    ("context window", "overflow"),
    ("credit balance", "quota"),
)
_STATUSES: Final[Mapping[int, Kind]] = {
    401: "auth",
    402: "quota",
    403: "auth",
    408: "down",
    413: "overflow",
    429: "rate",
}
_SURE: Final = frozenset({401, 403, 429})  # whatever the words say
_WHATEVER_THE_STATUS: Final[tuple[Kind, ...]] = ("overflow", "quota")


@dataclass(frozen=True, slots=True)
class Told:
    """What a server said of an error; read to know its kind, and never shown."""

    names: tuple[str, ...] = field(default=(), repr=False)
    words: str = field(default="", repr=False)
    code: int | None = None


def told_in(body: object) -> Told:
    """What a body says of an error, in whichever of the usual shapes."""
    error = body.get("error", body) if isinstance(body, Mapping) else body
    if not isinstance(error, Mapping):
        return Told(words=error[:2000].lower() if isinstance(error, str) else "")
    details = error.get("details")
    named = (error.get("code"), error.get("type"), details.get("error_code") if isinstance(details, Mapping) else None)
    message, code = error.get("message"), error.get("code")
    return Told(
        tuple(name for name in named if isinstance(name, str)),
        message[:2000].lower() if isinstance(message, str) else "",
        code if isinstance(code, int) else None,
    )


def kind_of(status: int, told: Told) -> Kind:
    """What kind of failure this is; below 300 only what a server names counts, and the rest is nonsense."""
    if status < 300 and told.code is not None and 400 <= told.code < 600:
        status = told.code
    named = [_CODES[name] for name in told.names if name in _CODES]
    for kind in _WHATEVER_THE_STATUS:
        if kind in named:
            return kind
    if status not in _SURE:
        for phrase, kind in _PHRASES:
            if phrase in told.words:
                return kind
    if status >= 300:
        return _STATUSES.get(status) or ("down" if status >= 500 else "refused")
    return named[0] if named else "nonsense"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """How many seconds to wait, when the provider says: in milliseconds, in seconds, or as a date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if isfinite(seconds) and seconds >= 0:
            return seconds
    try:
        until = parsedate_to_datetime(headers.get("retry-after", ""))
        now = parsedate_to_datetime(headers["date"]) if "date" in headers else datetime.now(UTC)
        return max((until - now).total_seconds(), 0.0)
    except (ValueError, TypeError):
        return None


@dataclass(frozen=True, slots=True)
class About:
    """Whom a message is about: names a person can act on."""

    name: str
    model: str
    place: str
    key: str
    when_down: str

    def overflow(self, problem: str = "") -> ProviderOverflow:
        return ProviderOverflow(
            self.name,
            problem or f"the prompt is longer than the window of {self.model}",
            "shorten the conversation or the layers (charter.toml [budget]), or choose a model with a larger window",
        )

    def no_key(self) -> ProviderAuth:
        return ProviderAuth(self.name, "there is no key", self._set_key)

    @property
    def _set_key(self) -> str:
        return (f"set {self.key}, or " if self.key else "") + "choose another model: 'charter model'"

    def failed(self, status: int, told: Told, headers: Mapping[str, str]) -> ProviderError:
        """The error of an answer that is one."""
        kind, shown = kind_of(status, told), f" ({status})" if status >= 300 else ""
        if kind == "rate":
            wait = retry_after(headers)
            next_step = "wait a little and try again" if wait is None else f"try again in {wait:g} s"
            return ProviderRate(self.name, f"too many requests{shown}", next_step, retry_after=wait)
        if kind == "overflow":
            return self.overflow()
        error, problem, next_step = self._rows(status)[kind]
        return error(self.name, problem + shown, next_step)

    def _rows(self, status: int) -> Mapping[str, tuple[type[ProviderError], str, str]]:
        check_it = f"check the base URL {self.place} and the model {self.model}"
        return {
            "auth": (ProviderAuth, "the key is wrong, or may not use this model", self._set_key),
            "quota": (ProviderRate, "there is no credit left", "add credit to the account, or choose another model"),
            "refused": (
                ProviderRefused,
                "the request was refused",
                check_it if status in (301, 302, 307, 308, 404, 405) else "check the options and tools sent with it",
            ),
            "down": (ProviderDown, "an error on the provider's side", "try again later"),
            "nonsense": (ProviderNonsense, "an error came in place of an answer", check_it),
        }

    def too_slow(self, seconds: float) -> ProviderDown:
        return ProviderDown(self.name, f"no answer within {seconds:g} s", "try again later, or allow more time")

    def unreachable(self) -> ProviderDown:
        return ProviderDown(self.name, f"cannot be reached at {self.place}", self.when_down)

    def cut(self) -> ProviderDown:
        return ProviderDown(self.name, "the connection was cut in the middle of the answer", "try again")

    def unreadable(self, why: str) -> ProviderNonsense:
        return ProviderNonsense(self.name, f"the answer cannot be read: {why}", f"check that {self.place} is right")


def headers_of(error: Any) -> Mapping[str, str]:
    """The headers of an error's response, when it has one."""
    headers: Mapping[str, str] = getattr(getattr(error, "response", None), "headers", {})
    return headers
