"""One turn in other frameworks, with a model that answers at once: the prompt is given.

Bare, nothing is kept and nothing was said before. With a database (`kept`) the chat is in it, in the way each project
ships or documents for SQLite: read back before the model is asked, written when it has answered.
"""

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from contenders import peer

REPLY = "Fine. High tide is at six."
ARGUMENTS = {"harbor": "Porto"}
Turn = Callable[[str, int], str]  # a message, and the number of its chat


def tide(harbor: str) -> str:
    """When the tide is high in a harbor."""
    return f"{harbor}: at six"


def durable(path: Path) -> sqlite3.Connection:
    """A connection as safe as ours: who wrote is told so when it is on the disk."""
    connection = sqlite3.connect(path, check_same_thread=False)
    for pragma in ("journal_mode = WAL", "synchronous = FULL"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def make_pydantic_ai(prompt: str, call: bool, kept: Path | None = None) -> Turn:
    """pydantic-ai's agent over its own function model; with `call` the model calls a tool first.

    It ships no store: kept, a row of new messages a turn, as the chat app among its examples has it.
    """
    ai, models = peer("pydantic_ai"), peer("pydantic_ai.models.function")
    messages = peer("pydantic_ai.messages")

    def answer(said: Any, _: Any) -> Any:
        done = any(isinstance(part, messages.ToolReturnPart) for part in said[-1].parts)
        part = messages.TextPart(REPLY) if done or not call else messages.ToolCallPart("tide", ARGUMENTS)
        return messages.ModelResponse(parts=[part])

    agent = ai.Agent(models.FunctionModel(answer), instructions=prompt, tools=[tide] if call else [])
    loop = asyncio.new_event_loop()
    if kept is None:
        return lambda message, _: str(loop.run_until_complete(agent.run(message)).output)
    connection, adapter = durable(kept), messages.ModelMessagesTypeAdapter
    connection.execute("CREATE TABLE messages (id INTEGER PRIMARY KEY, chat INTEGER NOT NULL, message_list TEXT)")
    connection.execute("CREATE INDEX messages_by_chat ON messages (chat, id)")

    def turn(message: str, chat: int) -> str:
        rows = connection.execute("SELECT message_list FROM messages WHERE chat = ? ORDER BY id", (chat,)).fetchall()
        past = [said for row in rows for said in adapter.validate_json(row[0])]
        result = loop.run_until_complete(agent.run(message, message_history=past))
        new = result.new_messages_json().decode()
        connection.execute("INSERT INTO messages (chat, message_list) VALUES (?, ?)", (chat, new))
        connection.commit()
        return str(result.output)

    return turn


def make_langchain(prompt: str, call: bool, kept: Path | None = None) -> Turn:
    """LangChain's agent over a chat model of ours; kept, with LangGraph's own checkpointer for SQLite."""
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

    saver = peer("langgraph.checkpoint.sqlite").SqliteSaver(durable(kept)) if kept is not None else None
    own = [tools.tool(tide)] if call else []
    agent = agents.create_agent(Stub(), tools=own, system_prompt=prompt, checkpointer=saver)

    def turn(message: str, chat: int) -> str:
        which = {"configurable": {"thread_id": str(chat)}} if kept is not None else None
        asked = {"messages": [{"role": "user", "content": message}]}
        return str(agent.invoke(asked, which)["messages"][-1].content)

    return turn


def make_openai_agents(prompt: str, call: bool, kept: Path | None = None) -> Turn:
    """The OpenAI Agents SDK's runner over a model of ours, tracing off; kept, with its own session for SQLite."""
    sdk, items, usage = peer("agents"), peer("agents.items"), peer("agents.usage")
    responses = peer("openai.types.responses")
    sdk.set_tracing_disabled(True)  # on by default, it makes spans and sends them away; here it would send nothing
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
    sessions: dict[int, Any] = {}

    def turn(message: str, chat: int) -> str:
        if kept is not None and chat not in sessions:
            sessions[chat] = sdk.SQLiteSession(str(chat), kept)
        found = loop.run_until_complete(sdk.Runner.run(agent, message, session=sessions.get(chat)))
        return str(found.final_output)

    return turn
