"""One turn in other frameworks, with a model that answers at once: the prompt and the message are given, nothing is kept."""

import asyncio
from collections.abc import Callable
from typing import Any

from contenders import peer

REPLY = "Fine. The plan has three steps, each with a deadline."
Turn = Callable[[str], str]


def make_pydantic_ai(prompt: str) -> Turn:
    """pydantic-ai's agent over its own function model."""
    ai, models = peer("pydantic_ai"), peer("pydantic_ai.models.function")
    messages = peer("pydantic_ai.messages")

    def answer(_: Any, __: Any) -> Any:
        return messages.ModelResponse(parts=[messages.TextPart(REPLY)])

    agent = ai.Agent(models.FunctionModel(answer), instructions=prompt)
    loop = asyncio.new_event_loop()

    def turn(message: str) -> str:
        return str(loop.run_until_complete(agent.run(message)).output)

    return turn


def make_langchain(prompt: str) -> Turn:
    """LangChain's agent over a chat model of ours."""
    agents, chat = peer("langchain.agents"), peer("langchain_core.language_models.chat_models")
    messages, outputs = peer("langchain_core.messages"), peer("langchain_core.outputs")

    class Stub(chat.BaseChatModel):  # type: ignore[misc, name-defined]
        @property
        def _llm_type(self) -> str:
            return "stub"

        def _generate(self, given: Any, stop: Any = None, run_manager: Any = None, **_: Any) -> Any:
            return outputs.ChatResult(generations=[outputs.ChatGeneration(message=messages.AIMessage(content=REPLY))])

    agent = agents.create_agent(Stub(), tools=[], system_prompt=prompt)

    def turn(message: str) -> str:
        return str(agent.invoke({"messages": [{"role": "user", "content": message}]})["messages"][-1].content)

    return turn


def make_openai_agents(prompt: str) -> Turn:
    """The OpenAI Agents SDK's runner over a model of ours, tracing off."""
    sdk, items, usage = peer("agents"), peer("agents.items"), peer("agents.usage")
    responses = peer("openai.types.responses")
    sdk.set_tracing_disabled(True)
    text = responses.ResponseOutputText(annotations=[], text=REPLY, type="output_text")
    said = responses.ResponseOutputMessage(id="m", content=[text], role="assistant", status="completed", type="message")

    class Stub(sdk.Model):  # type: ignore[misc, name-defined]
        async def get_response(self, *_: Any, **__: Any) -> Any:
            return items.ModelResponse(output=[said], usage=usage.Usage(), response_id=None)

        def stream_response(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    agent = sdk.Agent(name="main", instructions=prompt, model=Stub())
    loop = asyncio.new_event_loop()

    def turn(message: str) -> str:
        return str(loop.run_until_complete(sdk.Runner.run(agent, message)).final_output)

    return turn
