"""The entry points the five designs name; each is one call into the same engine."""

from ..sources import AgentDef
from .assistant import build_agent_prompt
from .gateway import (
    build_system_prompt,
    build_system_prompt_minimal_runtime,
    build_system_prompt_with_session_runtime,
)
from .layers import (
    PromptLayerView,
    get_conversation,
    get_observability_snapshot,
    get_prompt_layers,
    list_conversations,
    update_prompt_layer,
    update_prompt_layer_admin,
)
from .sovereign import (
    DynamicContext,
    assemble_system_prompt,
    assemble_system_prompt_compact,
    build_dynamic_context,
)
from .workspace import PromptBuilder

__all__ = [
    "AgentDef",
    "DynamicContext",
    "PromptBuilder",
    "PromptLayerView",
    "assemble_system_prompt",
    "assemble_system_prompt_compact",
    "build_agent_prompt",
    "build_dynamic_context",
    "build_system_prompt",
    "build_system_prompt_minimal_runtime",
    "build_system_prompt_with_session_runtime",
    "get_conversation",
    "get_observability_snapshot",
    "get_prompt_layers",
    "list_conversations",
    "update_prompt_layer",
    "update_prompt_layer_admin",
]
