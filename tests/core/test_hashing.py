"""Contract 1: the stack hash is the SHA-256 of `{layer}:{id}:{sha256}\\n` lines; the vectors here are its golden ones.

Every literal was made outside Python, for example `printf 'L1:base_system:aa\\n' | sha256sum` and
`printf 'Zoë asks.' | openssl dgst -sha256 -hmac 'a key of this house'`.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter.core.assemble import Assembly, Section, Settings, assemble
from charter.core.layer import Layer, Mode, Owner, Role, Stack
from charter.core.manifest import content_hash, hash_lines, stack_hash
from charter.core.ports import ToolSpec
from charter.core.text import Facts, Form, Piece, Trust, inline
from charter.templates import Compiled

from .texts import anything, plain

pytestmark = pytest.mark.requirement("S1-05")

KEY = b"a key of this house"
BASE_SHA = "9bb337e8e012c2b1ab98ab9f2a0fe6d884c7729ba238ab012e81b760faba5fca"  # '## Base\n\nNever lie.'
SAID_SHA = "afa32034dedb29c9e0fb813d34a9dbcb0c33a303ffc97fcfdfee50b50a36da92"  # 'Zoë asks.'
SAID_HMAC = "e534db7344ff3fdb8c2de882a7382cdedf8cad5fce7e9e261baf1f5725364a99"
ZOE_SHA = "c6a12698582fc1104ea24107a2d7268145ff06ef859707729d01fd060897f067"  # 'Zoë'
ZOE_HMAC = "7d2bb4aea56115fec537666a266184da169b6f47a307b58dbeb3bec50d8fd131"

NEVER_LIE = Compiled("Never lie.", "base.md")
BASE = Layer("base", "L1", NEVER_LIE, "## Base", Owner.SEALED, required=True, accepts=Trust.OPERATOR)
SAID = Layer("said", "L6", Compiled("{{ who }} asks.", "said.md"), role=Role.USER, owner=Owner.TURN, required=True)
STACK = Stack((BASE, SAID), {"full": Mode("full", frozenset({"base", "said"}))})

lines = st.lists(
    st.tuples(
        st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,4}", fullmatch=True),
        st.from_regex(r"[a-z][a-z0-9_]{0,4}", fullmatch=True),
        st.from_regex(r"[0-9a-f]{4}", fullmatch=True),
    ),
    min_size=1,
    max_size=5,
)


class Told:
    """A template of one text that counts how often it is asked."""

    starts: frozenset[str] = frozenset()
    headings: tuple[str, ...] = ()

    def __init__(self, text: str) -> None:
        self.text = text
        self.calls = 0

    def quick(self, facts: Facts) -> None:
        return None

    def render(self, values: Mapping[str, object]) -> str:
        self.calls += 1
        return self.text


def build(who: str = "Zoë", key: bytes | None = None, tools: tuple[ToolSpec, ...] = ()) -> Assembly:
    sections = [Section(BASE, {}), Section(SAID, {"who": who})]
    return assemble(STACK, sections, mode="full", settings=Settings(key=key), tools=tools)


@pytest.mark.parametrize(
    ("triples", "digest"),
    [
        ([], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ([("L1", "base_system", "aa")], "28fff623eb2ed872acabe4edc7a2a4dfa9e4839f4c777f39713ff357e32b6885"),
        (
            [("L1", "base_system", "aa"), ("L2", "agent_role", "bb")],
            "67e3021aac89969d5ff0beef2aaca499c7a677322dd24c9281e1e52182b54109",
        ),
        (
            [("L2", "agent_role", "bb"), ("L1", "base_system", "aa")],
            "769d5ae57e9277dee0e5c7bb57869a45962cbf7ef61a18b075cdb521fd4762f6",
        ),
        (
            [("L1", "base", BASE_SHA), ("L6", "said", SAID_SHA)],
            "3e7f74f04881b688135349f854a68de4cd2e0f61a99e2b6e74b3ab0c5e63cde8",
        ),
    ],
)
def test_the_stack_hash_meets_its_golden_vectors(triples: list[tuple[str, str, str]], digest: str) -> None:
    assert stack_hash(triples) == digest
    assert hash_lines("".join(f"{layer}:{name}:{sha}\n" for layer, name, sha in triples)) == digest


@pytest.mark.requirement("S1-04")
def test_an_assembled_prompt_meets_its_golden_vectors() -> None:
    manifest = build().manifest
    assert [(entry.layer, entry.id, entry.sha256) for entry in manifest.stack] == [
        ("L1", "base", BASE_SHA),
        ("L6", "said", SAID_SHA),
    ]
    assert manifest.stack_sha256 == "3e7f74f04881b688135349f854a68de4cd2e0f61a99e2b6e74b3ab0c5e63cde8"


@pytest.mark.requirement("N-01")
def test_a_keyed_prompt_meets_its_golden_vectors() -> None:
    manifest = build(key=KEY).manifest
    assert [entry.sha256 for entry in manifest.stack] == [BASE_SHA, SAID_HMAC]
    assert [entry.keyed for entry in manifest.stack] == [False, True]
    assert manifest.stack_sha256 == "a96c925bf0322a8679c1c84edd0bd3eb9c62fa4d609c952589416b5f5f316dcc"
    assert manifest.notes == ("tokens: ceil(utf8 bytes / 4)", "hmac-sha256: L6")
    assert build().manifest.notes == ("tokens: ceil(utf8 bytes / 4)",)


@given(lines, st.data())
def test_the_stack_hash_changes_when_any_field_of_any_line_changes(
    triples: list[tuple[str, str, str]], data: st.DataObject
) -> None:
    row = data.draw(st.integers(0, len(triples) - 1))
    column = data.draw(st.integers(0, 2))
    changed = [list(triple) for triple in triples]
    changed[row][column] += "0"
    assert stack_hash([(a, b, c) for a, b, c in changed]) != stack_hash(triples)


@given(lines)
def test_the_stack_hash_changes_with_the_order_and_with_a_line_more_or_less(
    triples: list[tuple[str, str, str]],
) -> None:
    turned = list(reversed(triples))
    assert (stack_hash(turned) == stack_hash(triples)) is (turned == triples)
    assert stack_hash(triples[:-1]) != stack_hash(triples)
    assert stack_hash([*triples, triples[0]]) != stack_hash(triples)


@given(lines, lines)
def test_two_stacks_have_one_hash_only_if_they_are_one(
    one: list[tuple[str, str, str]], other: list[tuple[str, str, str]]
) -> None:
    assert (stack_hash(one) == stack_hash(other)) is (one == other)


@given(st.binary(), st.binary(min_size=1))
def test_a_content_hash_is_plain_without_a_key_and_hmac_with_one(data: bytes, key: bytes) -> None:
    assert content_hash(data, None) == hashlib.sha256(data).hexdigest()
    assert content_hash(data, key) == hmac.digest(key, data, "sha256").hex() != hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(
    ("length", "digest"),
    [
        (63, "67e183fcc19d1ef7a65e92ab51e5d0ba1d0efc42c1982c1771703128b9f07e84"),
        (64, "2ece68b7194947b4b31ebe988d8df7204a47bd7bfe5fd8b1200d6b54e9a84f81"),
        (65, "fc723d90af15d994ba1ee911c3d3ea9d6961bbc8b5accbd94abd4d102a623219"),
    ],
)
def test_a_key_as_long_as_a_block_or_one_byte_off_meets_its_golden_vectors(length: int, digest: str) -> None:
    assert content_hash("Zoë asks.".encode(), b"k" * length) == digest


@pytest.mark.requirement("N-01", "S1-04")
@given(anything, st.sampled_from((None, KEY)))
def test_a_hash_covers_the_sections_bytes_as_sent_heading_in_joiner_out(who: str, key: bytes | None) -> None:
    assembly = build(who, key)
    for part, entry in zip(assembly.parts, assembly.manifest.stack, strict=True):
        data = part.text.encode()
        assert entry.sha256 == (
            hmac.digest(key, data, "sha256").hex() if key and entry.id == "said" else hashlib.sha256(data).hexdigest()
        )
        assert entry.bytes == len(data)
        assert entry.tokens_est == -(-len(data) // 4)
    assert assembly.reveal() == "\n\n".join(part.text for part in assembly.parts)
    assert assembly.parts[0].text == "## Base\n\nNever lie."


@pytest.mark.requirement("N-01", "S1-04")
@given(plain | anything, st.sampled_from((None, KEY)), st.sampled_from(("", "## From")))
def test_the_fast_way_through_a_section_records_what_the_full_way_does(who: str, key: bytes | None, title: str) -> None:
    sender = Layer("from", "L2", Compiled("Mail of {{ who }}.", "from.md"), title)
    stack = Stack((BASE, sender), {"full": Mode("full", frozenset({"base", "from"}))})
    sections = [Section(BASE, {}), Section(sender, {"who": who})]
    part = assemble(stack, sections, mode="full", settings=Settings(key=key)).parts[1]
    text = f"{title}\n\n" * bool(title) + f"Mail of {inline(who)}."
    digest = (hashlib.sha256(text.encode()) if key is None else hmac.new(key, text.encode(), "sha256")).hexdigest()
    size = len(text.encode())
    assert (part.text, part.sha256, part.bytes, part.tokens) == (text, digest, size, -(-size // 4))
    assert part.line == f"L2:from:{digest}\n"
    assert (part.keyed, part.disposition, part.reason) == (key is not None, "whole", "")


@pytest.mark.requirement("N-01")
@pytest.mark.parametrize(
    ("facts", "keyed"),
    [
        ({"who": "Zoë"}, True),
        ({"who": Piece("Zoë", "inbox")}, True),
        ({"who": Piece("Zoë", "skill", Trust.PROJECT)}, False),
        ({"who": Piece("Zoë", "soul.md", Trust.OPERATOR)}, False),
        ({"who": Piece("Zoë", "soul.md", Trust.OPERATOR), "rows": [{"note": "hi"}]}, True),
        ({"who": 7, "on": True}, False),
    ],
)
def test_only_a_section_that_holds_a_persons_text_is_keyed(facts: Facts, keyed: bool) -> None:
    sections = [Section(BASE, {}), Section(SAID, facts)]
    unkeyed, entry = (
        assemble(STACK, sections, mode="full", settings=Settings(key=key)).manifest.stack[1] for key in (None, KEY)
    )
    assert (entry.keyed, unkeyed.keyed) == (keyed, False)
    assert (entry.sha256 != unkeyed.sha256) is keyed


@pytest.mark.requirement("N-01")
def test_a_kept_section_is_rendered_once_for_its_settings_and_any_other_every_time() -> None:
    for keep, calls in ((True, [1, 1, 2, 3]), (False, [1, 2, 3, 4])):
        told = Told("Zoë asks.")
        layer = Layer("said", "L6", told, required=True)
        stack = Stack((layer,), {"full": Mode("full", frozenset({"said"}))})
        section = Section(layer, {"who": "Zoë"}, keep=keep)
        usual, seen, digests = Settings(), [], []
        for settings in (usual, usual, Settings(key=KEY), usual):
            digests.append(assemble(stack, [section], mode="full", settings=settings).manifest.stack[0].sha256)
            seen.append(told.calls)
        assert digests == [SAID_SHA, SAID_SHA, SAID_HMAC, SAID_SHA]
        assert seen == calls


@pytest.mark.requirement("S0-05", "N-01")
def test_a_piece_has_its_origin_and_hash_of_its_own_keyed_when_it_is_a_persons() -> None:
    zoe, ours = Piece("Zoë", "inbox:7"), Piece("Zoë", "soul.md", Trust.OPERATOR, Form.MARKDOWN)
    for key, digest in ((None, ZOE_SHA), (KEY, ZOE_HMAC)):
        sections = [Section(BASE, {"soul": ours}), Section(SAID, {"who": zoe})]
        base, said = assemble(STACK, sections, mode="full", settings=Settings(key=key)).manifest.stack
        assert base.to_dict()["pieces"] == [{"origin": "soul.md", "sha256": ZOE_SHA}]
        assert said.to_dict()["pieces"] == [{"origin": "inbox:7", "sha256": digest}]
        assert base.sha256 == BASE_SHA


@pytest.mark.requirement("N-01")
def test_the_tool_schemas_have_a_hash_of_their_canonical_json() -> None:
    manifest = build(tools=(ToolSpec("send", "Sends a letter.", left=3),)).manifest
    # '[{"description":"Sends a letter.","name":"send","parameters":{"properties":{},"type":"object"}}]', 96 bytes
    assert manifest.tools_sha256 == "9b0874991ad94f9614216832c4f7e1d33e43368c39e59c72f631996e54ad4aef"
    assert manifest.tools_tokens == 24
    assert (build().manifest.tools_sha256, build().manifest.tools_tokens) == (None, 0)
