"""One turn in other frameworks, with a model that answers at once: the prompt is given, and nothing is kept."""

import asyncio
from collections.abc import Callable
from typing import Any

from contenders import peer

REPLY = "Fine. High tide is at six."
ARGUMENTS = {"harbor": "Porto"}
Turn = Callable[[str], str]


def tide(harbor: str) -> str:
    """When the tide is high in a harbor."""
    return f"{harbor}: at six"


def make_pydantic_ai(prompt: str, call: bool) -> Turn:
    """pydantic-ai's agent over its own function model; with `call` the model calls a tool first."""
    ai, models = peer("pydantic_ai"), peer("pydantic_ai.models.function")
    messages = peer("pydantic_ai.messages")

    def answer(said: Any, _: Any) -> Any:
        done = any(isinstance(part, messages.ToolReturnPart) for part in said[-1].parts)
        part = messages.TextPart(REPLY) if done or not call else messages.ToolCallPart("tide", ARGUMENTS)
        return messages.ModelResponse(parts=[part])

    agent = ai.Agent(models.FunctionModel(answer), instructions=prompt, tools=[tide] if call else [])
    loop = asyncio.new_event_loop()
    return lambda message: str(loop.run_until_complete(agent.run(message)).output)


def make_langchain(prompt: str, call: bool) -> Turn:
    """LangChain's agent over a chat model of ours."""
    agents, chat = peer("langchain.agents"), peer("langchain_core.language_models.chat_models")
    messages, outputs, tools = (peer(f"langchain_core.{name}") for name in ("messages", "outputs", "tools"))
    wanted = [{"name": "tide", "args": ARGUMENTS, "id": "c1", "type": "tool_call"}]

    class Stub(chat.BaseChatModel):  # type: ignore[misc, name-defined]
        @property
        def _llm_type(self) -> str:
            return "stub"

        def bind_tools(self, *_: Any, **__: Any) -> Any:
            return self

        def _generate(self, given: Any, stop: Any = None, run_manager: Any = None, **_: Any) -> Any:
            ready = not call or given[-1].type == "tool"
            said = messages.AIMessage(content=REPLY) if ready else messages.AIMessage(content="", tool_calls=wanted)
            return outputs.ChatResult(generations=[outputs.ChatGeneration(message=said)])

    agent = agents.create_agent(Stub(), tools=[tools.tool(tide)] if call else [], system_prompt=prompt)
    return lambda message: str(
        agent.invoke({"messages": [{"role": "user", "content": message}]})["messages"][-1].content
    )


def make_openai_agents(prompt: str, call: bool) -> Turn:
    """The OpenAI Agents SDK's runner over a model of ours, tracing off."""
    sdk, items, usage = peer("agents"), peer("agents.items"), peer("agents.usage")
    responses = peer("openai.types.responses")
    sdk.set_tracing_disabled(True)
    text = responses.ResponseOutputText(annotations=[], text=REPLY, type="output_text")
    said = responses.ResponseOutputMessage(id="m", content=[text], role="assistant", status="completed", type="message")
    wanted = responses.ResponseFunctionToolCall(
        arguments='{"harbor": "Porto"}', call_id="c1", name="tide", type="function_call"
    )

    class Stub(sdk.Model):  # type: ignore[misc, name-defined]
        async def get_response(self, *_: Any, **asked: Any) -> Any:
            given = asked["input"]
            last = given[-1] if isinstance(given, list) else {}
            ready = not call or last.get("type") == "function_call_output"
            output = [said if ready else wanted]
            return items.ModelResponse(output=output, usage=usage.Usage(), response_id=None)

        def stream_response(self, *_: Any, **__: Any) -> Any:
            raise AssertionError("a turn that does not stream was asked for")

    tools = [sdk.function_tool(tide)] if call else []
    agent = sdk.Agent(name="main", instructions=prompt, model=Stub(), tools=tools)
    loop = asyncio.new_event_loop()
    return lambda message: str(loop.run_until_complete(sdk.Runner.run(agent, message)).final_output)
