"""How the agent is doing: balance, runway and tier, from a file, an HTTP address or a chain."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from ..core.errors import BadValue, ConfigError, FileMissing, MissingExtra
from ..core.ports import Vitals
from ..core.text import Value
from .ask import Ask, Gathered
from .files import read_file

_NUMBERS = ("cycles_balance", "burn_per_hour", "turn_number")
LARGEST = 10**30
_TEXTS = ("base_wallet", "eth_balance", "state")


@dataclass(frozen=True, slots=True)
class StaticVitals:
    """Values that do not change."""

    values: Mapping[str, str | int | float]

    def read(self) -> Mapping[str, str | int | float]:
        return self.values


@dataclass(frozen=True, slots=True)
class JsonVitals:
    """Values from a JSON file, read anew each turn."""

    path: Path

    def read(self) -> Mapping[str, str | int | float]:
        found = read_file(self.path.parent, self.path.name, max_bytes=65_536)
        if found is None:
            raise FileMissing(self.path.name, "the vitals source")
        return parsed(found.text, self.path.name)


@dataclass(frozen=True, slots=True)
class HttpVitals:
    """Values from an HTTP address that answers with the same JSON."""

    url: str
    timeout: float = 5.0
    transport: Any = field(default=None, repr=False)

    def read(self) -> Mapping[str, str | int | float]:
        httpx2 = _httpx2("vitals over HTTP")
        with httpx2.Client(timeout=self.timeout, transport=self.transport) as client:
            try:
                answer = client.get(self.url)
                answer.raise_for_status()
            except (httpx2.HTTPError, httpx2.InvalidURL) as error:
                raise BadValue("vitals", f"the address did not answer ({type(error).__name__}); check it") from None
        if len(answer.content) > 65_536:
            raise BadValue("vitals", "the answer is larger than 65,536 bytes")
        return parsed(answer.text, "the vitals address")


@dataclass(frozen=True, slots=True)
class EvmVitals:
    """Another source's values with the wallet's balance read from an EVM node by JSON-RPC."""

    inner: Vitals
    rpc_url: str
    timeout: float = 5.0
    transport: Any = field(default=None, repr=False)

    def read(self) -> Mapping[str, str | int | float]:
        httpx2 = _httpx2("an EVM balance")
        values = dict(self.inner.read())
        call = {"jsonrpc": "2.0", "id": 1, "method": "eth_getBalance", "params": [values.get("base_wallet"), "latest"]}
        with httpx2.Client(timeout=self.timeout, transport=self.transport) as client:
            try:
                answer = client.post(self.rpc_url, json=call)
                answer.raise_for_status()
                wei = _quantity(answer.json()["result"])
            except (httpx2.HTTPError, httpx2.InvalidURL, KeyError, TypeError, ValueError, RecursionError) as error:
                raise BadValue(
                    "vitals", f"the EVM node gave no balance ({type(error).__name__}); check its address"
                ) from None
        values["eth_balance"] = ether(wei)
        return values


def _quantity(text: str) -> int:
    """A JSON-RPC quantity: 0x and hex digits."""
    if not re.fullmatch(r"0x[0-9a-fA-F]{1,64}", text):
        raise ValueError
    return int(text, 16)


def ether(wei: int) -> str:
    """Wei as ether, exact, without trailing zeros."""
    whole, rest = divmod(wei, 10**18)
    return f"{whole}.{rest:018d}".rstrip("0").rstrip(".") if rest else str(whole)


def _httpx2(needed_for: str) -> Any:
    try:
        import httpx2
    except ImportError:
        raise MissingExtra("http", needed_for) from None
    return httpx2


def parsed(text: str, where: str) -> dict[str, str | int | float]:
    """Vitals from JSON text."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        raise ConfigError(where, "not JSON") from None
    return checked(values, where)


def checked(values: object, where: str) -> dict[str, str | int | float]:
    """Vitals of known keys, numbers that are numbers and texts that are texts."""
    if not isinstance(values, Mapping):
        raise ConfigError(where, "vitals are a JSON object")
    for key, value in values.items():
        if key not in _NUMBERS + _TEXTS:
            raise ConfigError(where, f"unknown key; known: {', '.join(_NUMBERS + _TEXTS)}")
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if key in _NUMBERS and not (is_number and 0 <= value <= LARGEST):
            raise ConfigError(where, f"{key} must be a number of 0 or more")
        if key in _TEXTS and not isinstance(value, str):
            raise ConfigError(where, f"{key} must be text")
    return dict(values)


class VitalSigns(msgspec.Struct, tag_field="kind", tag="vitals", forbid_unknown_fields=True, frozen=True):
    """State lines of the situation layer; runway is balance ÷ burn, the tier follows from it (S0-19)."""

    default: str
    low_hours: float = 72
    critical_hours: float = 12

    def gather(self, ask: Ask) -> Gathered:
        vitals = ask.world.vitals
        values = checked(vitals.read(), "vitals") if vitals else parsed(ask.home.text(self.default), self.default)
        balance, burn = values.get("cycles_balance", 0), values.get("burn_per_hour", 0)
        assert not isinstance(balance, str)
        assert not isinstance(burn, str)
        hours = balance / burn if burn else math.inf if balance else 0.0
        facts: dict[str, Value] = {
            "cycles_balance": f"{int(balance)}",
            "cycles_runway_hours": f"{hours:.1f}" if math.isfinite(hours) else "unlimited",
            "survival_tier": self._tier(hours),
            "base_wallet": str(values.get("base_wallet", "")) or "none",
            "eth_balance": values.get("eth_balance"),
            "turn_number": int(values.get("turn_number", 0)),
            "state": str(values.get("state", "")) or "LoadingContext",
        }
        return Gathered(facts, origin="vitals")

    def _tier(self, hours: float) -> str:
        if hours < self.critical_hours:
            return "Critical"
        return "LowCycles" if hours < self.low_hours else "Normal"
