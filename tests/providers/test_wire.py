"""S1-03 on the wire: what arrives at a socket is, layer by layer and in order, what the manifest says."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from charter.core import payload as payloads
from charter.core.assemble import Assembly
from charter.core.dialogue import NO_TALK, Reply, Said, Talk, Usage
from charter.core.errors import WireMismatch
from charter.core.manifest import Manifest
from charter.core.ports import Request, ToolSpec
from charter.demo import demo
from charter.folder import BUILT_IN
from charter.providers import guarded
from charter.testing import request_for

from .rigs import MAKERS, SocketRig

pytestmark = pytest.mark.requirement("S1-03")

KEY = b"k" * 32
EARLIER = Talk(before=(Said("user", "Is Zoë there?"), Said("assistant", "潮 She is out.\nBack at six.")))
ANSWER = Reply("fine", usage=Usage(4_000, 1))


def assembled(name: str, key: bytes | None = None) -> Assembly:
    charter, incoming = demo(name)
    return replace(charter, key=key).assemble(incoming)


def told(dialect: str, body: dict[str, Any], assembly: Assembly, before: int) -> bytes:
    """The layers' bytes as a server of this dialect reads them; what was said before stands between."""
    if dialect == "completion":
        whole = len(assembly.reveal().encode())
        prompt: bytes = body["prompt"].encode()
        if not assembly.has_user_layer:
            return prompt[:whole]
        last = assembly.manifest.stack[-1].bytes
        return prompt[: whole - last] + prompt[-last:]
    if dialect == "openai-responses":
        system, messages = body["instructions"], body["input"]
    elif dialect == "anthropic":
        system, messages = "".join(block["text"] for block in body["system"]), body["messages"]
    else:
        assert body["messages"][0]["role"] == "system"
        system, messages = body["messages"][0]["content"], body["messages"][1:]
    assert [message["role"] for message in messages] == ["user", "assistant"] * (before // 2) + ["user"]
    assert "system" not in {message["role"] for message in messages}
    content = messages[-1]["content"]
    user = content if isinstance(content, str) else "".join(block["text"] for block in content)
    return str(system + user if assembly.has_user_layer else system).encode()


def cut(data: bytes, manifest: Manifest, joiner: bytes) -> list[bytes]:
    """The sections of these bytes, at the lengths of the manifest; nothing may be left over."""
    sections, at = [], 0
    for number, entry in enumerate(manifest.stack):
        if number:
            assert data[at : at + len(joiner)] == joiner
            at += len(joiner)
        sections.append(data[at : at + entry.bytes])
        at += entry.bytes
    assert at == len(data)
    return sections


def hashes(sections: Sequence[bytes], manifest: Manifest, key: bytes | None) -> list[str]:
    return [
        hmac.new(key, section, "sha256").hexdigest() if entry.keyed and key else hashlib.sha256(section).hexdigest()
        for section, entry in zip(sections, manifest.stack, strict=True)
    ]


@pytest.mark.requirement("N-01")
@pytest.mark.parametrize("dialect", MAKERS)
@pytest.mark.parametrize("name", BUILT_IN)
def test_every_layer_that_arrives_has_the_hash_of_the_manifest(name: str, dialect: str) -> None:
    rig = SocketRig(dialect)
    try:
        for key, talk, stream in ((None, NO_TALK, False), (KEY, EARLIER, True)):
            assembly, manifest = assembled(name, key), assembled(name, key).manifest
            rig.answer(ANSWER)
            request = request_for(rig.provider, assembly, stream=stream, talk=talk)
            rig.provider.converse(request, lambda part: None)
            arrived = json.loads(rig.stub.bodies[-1])
            assert arrived == request.payload
            data, joiner = told(dialect, arrived, assembly, len(talk.before)), assembly.stack.joiner.encode()
            assert data == assembly.reveal().encode()
            found = hashes(cut(data, manifest, joiner), manifest, key)
            assert found == [entry.sha256 for entry in manifest.stack]
            lines = [f"{e.layer}:{e.id}:{digest}\n" for e, digest in zip(manifest.stack, found, strict=True)]
            assert hashlib.sha256("".join(lines).encode()).hexdigest() == manifest.stack_sha256
        assert rig.stub.paths == [PATHS[dialect]] * 2
        assert {headers["accept-encoding"] for headers in rig.stub.headers} == {"identity"}
    finally:
        rig.close()


PATHS = {
    "openai": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "ollama": "/api/chat",
    "completion": "/v1/completions",
}


def swapping(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An adapter that sends the second layer first."""
    real = payloads.DIALECTS[dialect]

    def swapped(
        blocks: Sequence[payloads.Block], talk: Talk, tools: Sequence[ToolSpec], max_tokens: int
    ) -> dict[str, Any]:
        return real((blocks[1], blocks[0], *blocks[2:]) if len(blocks) > 1 else blocks, talk, tools, max_tokens)

    monkeypatch.setitem(payloads.DIALECTS, dialect, swapped)


@pytest.mark.parametrize("dialect", MAKERS)
@pytest.mark.parametrize("name", ["sovereign", "contract"])
def test_an_adapter_that_swaps_two_layers_is_refused_and_without_the_guard_it_would_have_sent_them(
    name: str, dialect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    swapping(dialect, monkeypatch)
    rig = SocketRig(dialect)
    try:
        rig.answer(ANSWER)
        request = request_for(rig.provider, assembled(name))
        first = assembled(name).manifest.stack[0].id
        with pytest.raises(WireMismatch, match=rf"^{dialect}: the layer {first} is not what was assembled; nothing"):
            rig.provider.converse(request, lambda part: None)
        assert rig.stub.bodies == []
        monkeypatch.setattr(guarded, "check", lambda *given: None)
        assert rig.provider.converse(request, lambda part: None).text == "fine"
        assert len(rig.stub.bodies) == 1
    finally:
        rig.close()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dialect", ["openai", "openai-responses", "anthropic", "completion"])
def test_a_client_that_adds_something_of_its_own_is_refused(
    dialect: str, stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = SocketRig(dialect)

    def prepare(options: Any) -> Any:
        options.json_data = {**options.json_data, "user": "tracked"}
        return options

    try:
        rig.answer(ANSWER)
        request = request_for(rig.provider, assembled("assistant"), stream=stream)
        monkeypatch.setattr(rig.made._client, "_prepare_options", prepare)
        with pytest.raises(WireMismatch, match=r"the body was changed after it was assembled; nothing was sent$"):
            rig.provider.converse(request, lambda part: None)
        assert rig.stub.bodies == []
    finally:
        rig.close()


@pytest.mark.parametrize("dialect", MAKERS)
def test_options_of_ones_own_are_part_of_what_is_hashed_and_sent(dialect: str) -> None:
    rig = SocketRig(dialect, options={"temperature": 0, "seed": 7})
    try:
        rig.answer(ANSWER)
        request = request_for(rig.provider, assembled("contract"))
        rig.provider.converse(request, lambda part: None)
        sent = json.loads(rig.stub.bodies[0])
        given = sent["options"] if dialect == "ollama" else sent
        assert (given["temperature"], given["seed"]) == (0, 7)
        late = Request({**request.payload, "seed": 8}, request.expected)
        with pytest.raises(WireMismatch):
            rig.provider.converse(late, lambda part: None)
    finally:
        rig.close()
