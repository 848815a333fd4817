"""What contracts are made of: a comparison that tells what it found, a refusal, work done by many at once.

They raise by themselves instead of by `assert`, so that a store is held to its contracts under `python -O` too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Barrier, Thread
from typing import Any, TypeVar

from ..core.errors import CharterError
from ..core.ports import Store

Contract = Callable[[Store], None]
T = TypeVar("T")
E = TypeVar("E", bound=CharterError)


def sentence(contract: Contract) -> str:
    """A contract as people read it."""
    return contract.__name__.replace("_", " ")


def same(found: object, wanted: object, what: str = "what was found") -> None:
    """Holds two values to be equal."""
    if found != wanted:
        raise AssertionError(f"{what}: {_short(found)}, should be {_short(wanted)}")


def alike(found: Sequence[Any], wanted: Sequence[Any], what: str = "what was found") -> None:
    """Holds two sequences to have equal members in the same order, whatever kind of sequence they are."""
    same(list(found), list(wanted), what)


def must(condition: object, what: str) -> None:
    """Holds something to be so."""
    if not condition:
        raise AssertionError(what)


def there(value: T | None, what: str = "it") -> T:
    """The value, which must be there."""
    if value is None:
        raise AssertionError(f"{what} is not there")
    return value


def refused(error: type[E], call: Callable[..., object], *values: object, **named: object) -> E:
    """The error a call with these values must end with."""
    name = getattr(call, "__name__", "the call")
    try:
        call(*values, **named)
    except error as told:
        return told
    except Exception as other:
        raise AssertionError(f"{name}: ended with {type(other).__name__}, should be {error.__name__}") from other
    raise AssertionError(f"{name}: was not refused with {error.__name__}")


def at_once(count: int, work: Callable[[int], T]) -> list[T | CharterError]:
    """What each of several threads that begin together came to: a value, or an error of ours."""
    start = Barrier(count)
    ends: list[Any] = [None] * count

    def run(number: int) -> None:
        start.wait()
        try:
            ends[number] = work(number)
        except BaseException as error:
            ends[number] = error

    threads = [Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for end in ends:
        if isinstance(end, AssertionError):
            raise end
        if isinstance(end, BaseException) and not isinstance(end, CharterError):
            raise AssertionError(f"a thread ended with {type(end).__name__}") from end
    return ends


def of(kind: type[T], ends: Sequence[object]) -> list[T]:
    """Those of them that are of this kind."""
    return [end for end in ends if isinstance(end, kind)]


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 600 else f"{text[:400]} … {text[-180:]}"
