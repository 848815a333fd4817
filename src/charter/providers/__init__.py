"""Providers: a model behind one wire format each; `open_provider` gives one, and all pass the same suite."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, cast

from ..core.errors import UnknownDialect

if TYPE_CHECKING:
    from ..core.ports import Provider

__all__ = ["KINDS", "open_provider"]

KINDS: Final = {
    "openai": ("openai_chat", "OpenAIChat"),
    "openai-responses": ("openai_responses", "OpenAIResponses"),
    "anthropic": ("anthropic", "AnthropicMessages"),
    "ollama": ("ollama", "Ollama"),
    "completion": ("completion", "Completion"),
}


def open_provider(
    kind: str,
    *,
    model: str = "",
    base_url: str = "",
    api_key: str = "",
    window: int | None = None,
    options: Mapping[str, Any] | None = None,
) -> Provider:
    """The provider of this kind; what is not given is the kind's own, as far as it has one (`facts.toml`).

    `options` go into every request as they are: temperature, seed and the like.
    """
    if kind not in KINDS:
        raise UnknownDialect("provider", kind, tuple(KINDS))
    module, name = KINDS[kind]
    make = getattr(import_module(f".{module}", __name__), name)
    made = make(model, base_url=base_url, api_key=api_key, window=window, options=options)
    return cast("Provider", made)
