"""A model server on loopback that speaks OpenAI's chat and gives back the last message; for tests and benches.

python -m charter.testing.upstream PORT [SECONDS]
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s"
STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


async def serve(port: int, *, seconds: float = 0.0) -> asyncio.Server:
    """Listens; every answer takes this long."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    (int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
                )
                asked = json.loads(await reader.readexactly(length) or b"{}")
                await asyncio.sleep(seconds)
                writer.write(_streamed(asked) if asked.get("stream") else _whole(asked))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    return await asyncio.start_server(talk, "127.0.0.1", port)


def reply_to(asked: dict[str, Any]) -> str:
    """What is said: the last message of the user's, given back."""
    said = [one["content"] for one in asked.get("messages", ()) if one["role"] == "user"]
    return f"You said: {said[-1]}" if said else "Nobody said anything."


USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def _whole(asked: dict[str, Any]) -> bytes:
    message = {"role": "assistant", "content": reply_to(asked)}
    body = json.dumps(
        {
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": asked.get("model", ""),
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": USAGE,
        }
    ).encode()  # fmt: skip
    return ANSWER % (len(body), body)


def _streamed(asked: dict[str, Any]) -> bytes:
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": asked.get("model", "")}
    choices: list[dict[str, Any]] = [
        {"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None},
        {"index": 0, "delta": {"content": reply_to(asked)}, "finish_reason": None},
        {"index": 0, "delta": {}, "finish_reason": "stop"},
    ]
    events = [json.dumps({**base, "choices": [choice]}) for choice in choices]
    events += [json.dumps({**base, "choices": [], "usage": USAGE}), "[DONE]"]
    chunks = [f"data: {event}\n\n".encode() for event in events]
    return STREAM + b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in [*chunks, b""])


async def _run(port: int, seconds: float) -> None:
    server = await serve(port, seconds=seconds)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_run(int(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 0.0))
