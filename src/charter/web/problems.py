"""An error as the API says it: a status, a code for machines, and a sentence that names ids, never content."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from starlette.responses import Response

from ..core import errors
from ..turn import code_of
from ..written import ascii_json

# The first row that fits decides; what has none is our own fault.
STATUS: Final[tuple[tuple[type[BaseException], int], ...]] = (
    (errors.NotKnown, 401),
    (errors.NotAllowed, 403),
    (errors.TooMany, 429),
    (errors.RequestError, 404),
    (errors.NotStored, 404),
    (errors.UnknownLayer, 404),
    (errors.Conflict, 409),
    (errors.Busy, 409),
    (errors.Answered, 409),
    (errors.Refused, 403),
    (errors.BadValue, 400),
    (errors.OverSpend, 429),
    (errors.Paused, 503),
    (errors.Cancelled, 499),
    (errors.OverLimit, 422),
    (errors.AssemblyError, 422),
    (errors.ProviderOverflow, 422),
    (errors.ProviderRefused, 422),
    (errors.ProviderRate, 503),
    (errors.ProviderError, 502),
    (errors.StoreUnavailable, 503),
    (errors.MissingExtra, 501),
)
# Of what a gate refused: it was decided, used or changed before, so it is a conflict and not a question of rights.
DECIDED: Final = frozenset(
    f"{what}_{state}"
    for what in ("APPROVAL", "PROPOSAL")
    for state in ("APPROVED", "DENIED", "USED", "EXPIRED", "SWAPPED", "APPLIED", "REJECTED", "STALE")
)
# The body of an error from its status, code and words, as whoever is asked writes it.
Form = Callable[[int, str, str], bytes]
UNFORESEEN: Final = "something failed that should not; the log names where"


def status_of(error: BaseException) -> int:
    if isinstance(error, errors.Refused) and error.code in DECIDED:
        return 409
    return next((status for kind, status in STATUS if isinstance(error, kind)), 500)


def words_of(error: BaseException) -> str:
    """What may be said of an error: Charter's own say ids and sizes; a stranger's may carry text, and stays out."""
    return str(error) if isinstance(error, errors.CharterError) else UNFORESEEN


def retry_after(error: BaseException) -> dict[str, str]:
    """The header that says how long to wait, where it is known."""
    seconds = getattr(error, "retry_after", None)
    return {} if seconds is None else {"retry-after": str(math.ceil(seconds))}


def body_of(status: int, code: str, message: str) -> bytes:
    """The API's own form; the status stands in the answer itself."""
    return ascii_json({"error": {"code": code, "message": message}})


def problem(
    status: int, code: str, message: str, headers: dict[str, str] | None = None, *, form: Form = body_of
) -> Response:
    return Response(form(status, code, message), status, headers, "application/json")


def answer_to(error: BaseException, form: Form = body_of) -> Response:
    """The answer to an error, in the API's form or another."""
    headers = retry_after(error)
    if isinstance(error, errors.NotKnown):
        headers["www-authenticate"] = 'Bearer realm="charter"'
    return problem(status_of(error), code_of(error), words_of(error), headers, form=form)
