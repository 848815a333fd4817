"""While a text is judged the collector of garbage waits: what a guard makes is in no cycle and gone when it answers.

Each text makes thousands of small things for a few milliseconds. Counting them, the collector would look through the
word tables once in some fifty texts, which takes longer than any text does.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")


def quietly(judge: Callable[Asked, Answer]) -> Callable[Asked, Answer]:
    """The same function; the collector is as it was when it ends, however it ends."""

    @wraps(judge)
    def judged(*args: Asked.args, **named: Asked.kwargs) -> Answer:
        if not gc.isenabled():
            return judge(*args, **named)
        gc.disable()
        try:
            return judge(*args, **named)
        finally:
            gc.enable()

    return judged
