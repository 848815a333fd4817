"""An error of a turn as a vendor's client understands it: a status it knows, a code for machines, never content."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ...core import errors
from ...turn import code_of
from ..problems import UNFORESEEN, retry_after

# The first row that fits decides; what has none is our own fault.
STATUS: Final[tuple[tuple[type[BaseException], int], ...]] = (
    (errors.NotKnown, 401),
    (errors.NotAllowed, 403),
    (errors.TooMany, 429),
    (errors.UnknownAgent, 404),
    (errors.RequestError, 400),
    (errors.BadValue, 400),
    (errors.Refused, 403),
    (errors.Busy, 429),
    (errors.OverSpend, 429),
    (errors.Paused, 503),
    (errors.Answered, 409),
    (errors.Cancelled, 499),
    (errors.OverLimit, 400),
    (errors.AssemblyError, 400),
    (errors.ProviderOverflow, 400),
    (errors.ProviderRefused, 400),
    (errors.ProviderRate, 429),
    (errors.ProviderDown, 503),
    (errors.ProviderError, 502),
    (errors.StoreUnavailable, 503),
)
TOO_LONG: Final = "context_length_exceeded"
CODES: Final[dict[type[BaseException], str]] = {
    errors.NotKnown: "invalid_api_key",
    errors.UnknownAgent: "model_not_found",
    errors.ProviderOverflow: TOO_LONG,
}
AGAIN: Final = frozenset({429, 503, 504})  # where asking again may help
NEVER: Final = (errors.OverSpend, errors.Paused)


class Problem(NamedTuple):
    """An error as it is answered; `param` names the parameter that is wrong, where one is."""

    status: int
    code: str
    message: str
    param: str
    headers: dict[str, str]


def problem_of(error: BaseException, *, late: bool = False) -> Problem:
    """What to answer to an error; `late` says that the time of a turn was over.

    The words of an error name ids and sizes. Those of the house's own troubles are for its operator, so a caller hears
    the code alone.
    """
    status = next((status for kind, status in STATUS if isinstance(error, kind)), 500)
    status = 504 if late and isinstance(error, errors.OverLimit) else status
    code = next((code for kind, code in CODES.items() if isinstance(error, kind)), code_of(error))
    message = str(error) if status < 500 and isinstance(error, errors.CharterError) else _troubles(status, code)
    again = {} if status in AGAIN and not isinstance(error, NEVER) else {"x-should-retry": "false"}
    param = error.field if isinstance(error, errors.BadValue) else "model" if status == 404 else ""
    return Problem(status, code, message, param, {**retry_after(error), **again})


def _troubles(status: int, code: str) -> str:
    return UNFORESEEN if status == 500 else f"the agent cannot answer now ({code})"


# ── the vendors' forms ────────────────────────────────────────────────────────────────────────────────────────────

_OPENAI: Final = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}
_ANTHROPIC: Final = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
}


def openai_error(status: int, code: str, message: str, param: str) -> dict[str, Any]:
    kind = _OPENAI.get(status, "invalid_request_error" if status < 500 else "server_error")
    return {"error": {"message": message, "type": kind, "param": param or None, "code": code}}


def anthropic_error(status: int, code: str, message: str, param: str) -> dict[str, Any]:
    kind = _ANTHROPIC.get(status, "invalid_request_error" if status < 500 else "api_error")
    return {"type": "error", "error": {"type": kind, "message": message, "code": code}}
