"""What is said stays where a call asks for it: no repr and no error ever shows a text or a key."""

from __future__ import annotations

import traceback
from datetime import UTC, datetime

import pytest

from charter.core import errors
from charter.core.assemble import Section, Settings, assemble
from charter.core.budget import Limits, Step
from charter.core.errors import AssemblyError, BadValue, CharterError
from charter.core.incoming import Incoming
from charter.core.layer import Layer, Mode, Owner, Role, Stack
from charter.core.records import ConversationEntry, ConversationLog, Exchange, InboxMessage, Memory, StoredLayer
from charter.core.text import Form, Piece, Trust, Value
from charter.templates import Compiled

pytestmark = pytest.mark.requirement("S1-07")

CANARY = "the canary sings"
TEXT = Compiled(f"{CANARY} {{{{ text }}}}", "text.md")
BASE = Layer("base", "L1", TEXT, "## Base", Owner.SEALED, required=True, accepts=Trust.OPERATOR, summary=TEXT)
SAID = Layer("said", "L2", TEXT, role=Role.USER, required=True)
STACK = Stack((BASE, SAID), {"full": Mode("full", frozenset({"base", "said"}))})
WORDS = Piece(CANARY, "soul.md", Trust.OPERATOR, Form.MARKDOWN)
KEYED = Settings(charter="small", key=CANARY.encode())
SECTIONS = (Section(BASE, {"text": WORDS}), Section(SAID, {"text": CANARY}))
ASSEMBLY = assemble(STACK, SECTIONS, mode="full", settings=KEYED, message=CANARY)
ENTRY = ConversationEntry("m1", CANARY, CANARY, "t1", 1)


@pytest.mark.parametrize(
    ("thing", "shown"),
    [
        (
            Piece(CANARY, "inbox:1", original=20, kept=16),
            "Piece(origin='inbox:1', trust=<Trust.OUTSIDE: 0>, form=<Form.LINE: 'line'>, original=20, kept=16)",
        ),
        (SECTIONS[1], "Section('said', 1 facts)"),
        (ASSEMBLY.parts[1], "Rendered('said', 33 bytes, whole)"),
        (ASSEMBLY, f"Assembly('small', mode='full', layers=2, stack={ASSEMBLY.stack_sha256[:12]})"),
        (TEXT, "Compiled('text.md')"),
        (
            StoredLayer("memory", CANARY, 5, "t1", 2),
            "StoredLayer(layer_id='memory', updated_at_ns=5, updated_by_turn='t1', version=2)",
        ),
        (
            InboxMessage("m1", "zoe", CANARY, 5),
            "InboxMessage(id='m1', sender='zoe', received_at_ns=5, channel='inbox', user='')",
        ),
        (ENTRY, "ConversationEntry(inbox_message_id='m1', turn_id='t1', timestamp_ns=1)"),
        (
            ConversationLog("zoe", (ENTRY,), 1),
            f"ConversationLog(sender='zoe', entries=({ENTRY!r},), last_activity_ns=1)",
        ),
        (Memory("n1", CANARY, "2026-02-26"), "Memory(id='n1', day='2026-02-26')"),
        (Exchange(3, "t1", CANARY, CANARY), "Exchange(seq=3, turn_id='t1')"),
        (
            ASSEMBLY.blocks()[1],
            "Block(id='said', role=<Role.USER: 'user'>, volatility=<Volatility.STATIC: 0>, tokens=9, message=False)",
        ),
    ],
)
def test_a_repr_shows_ids_and_sizes_only(thing: object, shown: str) -> None:
    assert repr(thing) == shown
    assert CANARY not in shown


@pytest.mark.parametrize("thing", [KEYED, BASE, STACK, STACK.structure, ASSEMBLY.manifest, SECTIONS, ASSEMBLY.parts])
def test_no_part_of_a_prompt_shows_a_text_or_a_key_in_its_repr(thing: object) -> None:
    assert CANARY not in repr(thing)
    assert CANARY not in str(thing)


@pytest.mark.requirement("S0-02")
@pytest.mark.parametrize(
    ("thing", "field"),
    [(WORDS, "trust"), (KEYED, "key"), (BASE, "owner"), (STACK, "layers"), (STACK.modes["full"], "whole"),
     (Limits(), "max_chars"), (Step("a", "nothing"), "layer"), (ASSEMBLY.manifest, "stack_sha256"),
     (ASSEMBLY.manifest.stack[0], "sha256"), (ASSEMBLY.blocks()[0], "text"), (Incoming(), "sender"),
     (ENTRY, "turn_id")],
)  # fmt: skip
def test_a_value_cannot_be_changed_after_it_was_checked(thing: object, field: str) -> None:
    before = getattr(thing, field)
    with pytest.raises(AttributeError):  # a dataclass says it with FrozenInstanceError, which is one, a tuple with this
        setattr(thing, field, None)
    assert getattr(thing, field) is before


def test_an_incoming_message_shows_who_and_where_but_neither_text_nor_facts() -> None:
    incoming = Incoming("web", "zoe", CANARY, datetime(2026, 2, 26, tzinfo=UTC), facts={"location": CANARY})
    assert repr(incoming).startswith("Incoming(channel='web', sender='zoe', at=datetime.datetime(2026, 2, 26")
    assert CANARY not in repr(incoming)
    assert (incoming.text, incoming.facts) == (CANARY, {"location": CANARY})


def test_the_text_shows_where_a_call_asks_for_it() -> None:
    assert ASSEMBLY.reveal() == f"## Base\n\n{CANARY} {CANARY}\n\n{CANARY} {CANARY}"
    assert ASSEMBLY.blocks()[1].text == f"{CANARY} {CANARY}"
    assert ASSEMBLY.message == CANARY


def outside(text: str) -> dict[str, Value]:
    return {"text": text, "deep": [{"more": Piece(text, "inbox")}]}


@pytest.mark.parametrize(
    ("sections", "limits"),
    [
        ((Section(BASE, outside(CANARY)), SECTIONS[1]), Limits()),
        ((SECTIONS[1], SECTIONS[0]), Limits()),
        ((SECTIONS[0],), Limits()),
        ((SECTIONS[0], Section(Layer("x", "X", TEXT), outside(CANARY)), SECTIONS[1]), Limits()),
        (SECTIONS, Limits(max_chars=3)),
        (SECTIONS, Limits(max_tokens=3)),
    ],
)
def test_no_refusal_of_a_prompt_shows_what_it_refused(sections: tuple[Section, ...], limits: Limits) -> None:
    with pytest.raises(AssemblyError) as caught:
        assemble(STACK, sections, mode="full", settings=Settings(limits=limits), message=CANARY)
    assert CANARY not in f"{caught.value} {caught.value!r} {vars(caught.value)}"


def test_an_error_while_rendering_shows_neither_values_nor_template() -> None:
    broken = Layer("base", "L1", Compiled(f"{CANARY} {{{{ text }}}} {{{{ gone }}}}", "b.md"), required=True)
    stack = Stack((broken,), {"full": Mode("full", frozenset({"base"}))})
    with pytest.raises(CharterError) as caught:
        assemble(stack, [Section(broken, {"text": f"{CANARY}!"})], mode="full", settings=Settings())
    shown = "".join(traceback.format_exception_only(caught.value))
    assert shown.endswith("b.md:1: no value for gone; add the source that gives it\n")
    assert caught.value.__suppress_context__


@pytest.mark.requirement("N-07")
@pytest.mark.parametrize("trust", list(Trust))
def test_outside_text_has_no_markdown_form(trust: Trust) -> None:
    if trust is not Trust.OUTSIDE:
        assert Piece(CANARY, "inbox:1", trust, Form.MARKDOWN).form is Form.MARKDOWN
        return
    with pytest.raises(BadValue) as caught:
        Piece(CANARY, "inbox:1", trust, Form.MARKDOWN)
    assert str(caught.value) == "inbox:1: outside text has no Markdown form; use LINE, QUOTED or BLOCK"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (errors.ConfigError("charter.toml:3", "no id"), "charter.toml:3: no id"),
        (errors.FileRefused("a.md", "too big"), "a.md: too big"),
        (errors.FileMissing("a.md", "layer 'x'"), "a.md: missing, needed by layer 'x'; create it or name another"),
        (errors.TemplateRefused("a.md:1", "no"), "a.md:1: no"),
        (
            errors.Tampered("small", ("a.md", "b.md")),
            (
                "small: 2 locked file(s) differ from charter.lock: a.md, b.md; "
                "restore them, or bump the version and run 'charter lock' if the change is meant"
            ),
        ),
        (
            errors.BudgetExceeded(needed=12345, limit=8000),
            (
                "the required layers need 12,345 characters, the limit is 8,000; "
                "raise the limit in charter.toml [budget] or shorten a required layer"
            ),
        ),
        (errors.UnknownAgent("agent", "zed", ("ann", "bob")), "unknown agent 'zed'; known: ann, bob"),
        (errors.UnknownCharter("charter", "zed"), "unknown charter 'zed'"),
        (errors.UnknownChannel("channel", "x" * 65), "unknown channel '<65 characters>'"),
        (errors.UnknownChannel("channel", "x" * 64), f"unknown channel '{'x' * 64}'"),
        (errors.UnknownMode("mode", "a\nb"), "unknown mode '<3 characters>'"),
        (errors.BadValue("limit", "too small"), "limit: too small"),
        (errors.MissingExtra("http", "Fetching"), "Fetching needs an optional part: pip install 'charter[http]'"),
    ],
)
def test_an_error_names_places_and_sizes_and_says_what_to_do(error: CharterError, message: str) -> None:
    assert str(error) == message


def test_errors_carry_what_a_program_needs() -> None:
    assert errors.ConfigError("a:1", "p").problem == "p"
    assert errors.FileRefused("a", "r").where == errors.FileMissing("a", "b").where == "a"
    assert errors.Tampered("f", ("a",)).files == ("a",)
    assert errors.UnknownMode("mode", "x", ("a",)).name == "x"
    assert errors.MissingExtra("http", "x").extra == "http"
    late = errors.TooMany("too many requests", retry_after=1.2)
    assert (str(late), late.retry_after) == ("too many requests; try again in 2 s", 1.2)


def test_every_error_is_a_charter_error_and_stands_in_the_tree_of_the_modules_docstring() -> None:
    classes = [thing for thing in vars(errors).values() if isinstance(thing, type)]
    assert all(issubclass(cls, CharterError) for cls in classes)
    assert all(cls.__name__ in (errors.__doc__ or "") for cls in classes)
