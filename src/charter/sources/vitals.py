"""How the agent is doing: balance, runway and tier, from a file, an HTTP address or a chain."""

from __future__ import annotations

import json
import math
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
        return checked(found.text, self.path.name)


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
            except httpx2.HTTPError as error:
                raise BadValue("vitals", f"the address did not answer ({type(error).__name__}); check it") from None
        if len(answer.content) > 65_536:
            raise BadValue("vitals", "the answer is larger than 65,536 bytes")
        return checked(answer.text, "the vitals address")


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
                wei = int(answer.json()["result"], 16)
            except (httpx2.HTTPError, KeyError, TypeError, ValueError) as error:
                raise BadValue(
                    "vitals", f"the EVM node gave no balance ({type(error).__name__}); check its address"
                ) from None
        values["eth_balance"] = ether(wei)
        return values


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


def checked(text: str, where: str) -> dict[str, str | int | float]:
    """Vitals from JSON text: known keys, numbers that are numbers."""
    try:
        values = json.loads(text)
    except ValueError:
        raise ConfigError(where, "not JSON") from None
    if not isinstance(values, dict):
        raise ConfigError(where, "vitals are a JSON object")
    for key, value in values.items():
        number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
        if key in _NUMBERS and not number:
            raise ConfigError(where, f"{key} must be a number of 0 or more")
        if key in _TEXTS and not isinstance(value, str):
            raise ConfigError(where, f"{key} must be text")
        if key not in _NUMBERS + _TEXTS:
            raise ConfigError(where, f"unknown key; known: {', '.join(_NUMBERS + _TEXTS)}")
    return values


class VitalSigns(msgspec.Struct, tag_field="kind", tag="vitals", forbid_unknown_fields=True, frozen=True):
    """State lines of the situation layer; runway is balance ÷ burn, the tier follows from it (S0-19)."""

    default: str
    low_hours: float = 72
    critical_hours: float = 12

    def gather(self, ask: Ask) -> Gathered:
        vitals = ask.world.vitals
        values = vitals.read() if vitals else checked(ask.home.text(self.default), self.default)
        balance, burn = float(values.get("cycles_balance", 0)), float(values.get("burn_per_hour", 0))
        hours = balance / burn if burn else math.inf
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
