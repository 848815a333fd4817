"""N-07: an operator's Markdown stands verbatim but for what is ours; a project's loses its tricks too."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from charter.core.errors import BadValue
from charter.core.text import Form, Piece, Trust
from charter.sources import AgentDef, World
from charter.stores.memory import MemoryStore

from .characters import hidden_in
from .makers import AGENT, assembled
from .oracle import tokens_in
from .values import CURATED, HIDDEN, TEMPLATES, TOKENS

pytestmark = pytest.mark.requirement("N-07", "S0-16", "S2-01", "S3-03", "S3-04", "S3-07", "S4-02")

# The headings each design writes, as the requirements give them (S0-01, S2-01, S3-01, S4-01) or the templates do.
TITLES: Final = {
    "workspace": (
        "Personality", "Tool Usage Guidelines", "Available Skills", "Memory", "Runtime Context", "Recalled Memories",
    ),
    "gateway": (
        "Soul", "Project Context", "Runtime", "Available Skills", "Workspace Files", "Long-Term Memory",
        "Available Tools", "How to Call Tools", "Guidelines",
    ),
    "assistant": ("Identity", "Soul", "Channel", "Current Time", "Memory", "User Instructions", "Tools"),
    "sovereign": (
        "Layer 0: Interpretation & Precedence", "Layer 1: Constitution — Safety & Non-Harm",
        "Layer 5: Operational Reality", "Layer 8: Memory & Learning", "Layer 10: Dynamic Context", "Current State",
        "Pending Obligations", "Conversation History", "Recent Memory", "Available Tools", "Active Skills",
    ),
}  # fmt: skip
RULED: Final = "sovereign"  # whose sections are parted by ---

# ── where Markdown enters ─────────────────────────────────────────────────────────────────────────────────────────


def _assistant_soul(text: str, folder: Path) -> str:
    return assembled("assistant", World(given={"soul": text})).reveal()


def _agent_definition(text: str, folder: Path) -> str:
    return assembled("workspace", World(workspace=folder, given={"agent": AgentDef("a", text)})).reveal()


def _workspace_page(name: str) -> Callable[[str, Path], str]:
    def make(text: str, folder: Path) -> str:
        (folder / name).write_text(text, newline="")
        return assembled("workspace", World(workspace=folder, given={"agent": AgentDef("a", "You.")})).reveal()

    return make


def _data_page(name: str) -> Callable[[str, Path], str]:
    def make(text: str, folder: Path) -> str:
        (folder / name).write_text(text, newline="")
        return assembled("gateway", World(data_dir=folder, tools=(), given={"no_host": True})).reveal()

    return make


def _project_page(text: str, folder: Path) -> str:
    (folder / "CLAUDE.md").write_text(text, newline="")
    world = World(project_dir=folder, project_root=folder, tools=(), given={"no_host": True})
    return assembled("gateway", world).reveal()


def _amended_layer(text: str, folder: Path) -> str:
    store = MemoryStore()
    store.put_layer(AGENT, "memory", text, by="turn-1")
    return assembled("sovereign", World(store=store), channel="inbox").reveal()


OPERATOR: Final = {
    "assistant.soul": _assistant_soul,
    "workspace.agent": _agent_definition,
    "workspace.SOUL.md": _workspace_page("SOUL.md"),
    "workspace.TOOLS.md": _workspace_page("TOOLS.md"),
    "gateway.SOUL.md": _data_page("SOUL.md"),
    "gateway.AGENTS.md": _data_page("AGENTS.md"),
}
PROJECT: Final = {"gateway.project": _project_page, "sovereign.amended": _amended_layer}
EVERY: Final = {**OPERATOR, **PROJECT}
every_place = pytest.mark.parametrize("place", EVERY)
operator_place = pytest.mark.parametrize("place", OPERATOR)
project_place = pytest.mark.parametrize("place", PROJECT)


def around(place: str, folder: Path) -> tuple[str, str]:
    """What stands before and after the text in the prompt."""
    before, _, after = EVERY[place]("Zqmarker text.", folder).partition("Zqmarker text.")
    return before, after


def inside(place: str, text: str, folder: Path) -> str:
    """What became of the text."""
    before, after = around(place, folder)
    prompt = EVERY[place](text, folder)
    assert prompt.startswith(before)
    assert prompt.endswith(after)
    return prompt[len(before) : len(prompt) - len(after)]


# ── our headings and separators ───────────────────────────────────────────────────────────────────────────────────


def spellings(title: str) -> list[str]:
    """A heading of ours in the ways Markdown allows."""
    patterns = ("## {}", "# {}", "###### {}", "##   {}  ", "## {} ##", "  ## {}", "##\t{}", "##{}")
    return [*(pattern.format(title) for pattern in patterns), f"## {title.upper()}", f"## {title.lower()}"]


@every_place
def test_no_heading_of_ours_can_be_written(place: str, tmp_path: Path) -> None:
    for title in TITLES[place.split(".")[0]]:
        for line in spellings(title):
            shown = inside(place, f"one\n\n{line}\n\ntwo", tmp_path)
            assert shown == f"one\n\n{escaped(line)}\n\ntwo", line


def escaped(line: str) -> str:
    """The line with a backslash before its first #."""
    at = line.index("#")
    return f"{line[:at]}\\{line[at:]}"


@every_place
@pytest.mark.parametrize("underline", ["====", "----", "=", "-", "=====   "])
def test_no_heading_of_ours_can_be_written_with_an_underline(place: str, underline: str, tmp_path: Path) -> None:
    for title in TITLES[place.split(".")[0]]:
        shown = inside(place, f"one\n\n{title}\n{underline}\n\ntwo", tmp_path)
        assert not re.search(rf"^{re.escape(title)}\n[=-]+ *$", shown, re.MULTILINE), title


@every_place
@pytest.mark.parametrize("end", ["\r\n", "\r"], ids=ascii)
def test_line_ends_of_other_systems_make_no_way_around(place: str, end: str, tmp_path: Path) -> None:
    for title in TITLES[place.split(".")[0]]:
        shown = inside(place, f"one{end}{end}## {title}{end}{end}two", tmp_path)
        assert not re.search(rf"(?:^|[\r\n])## {re.escape(title)}(?:[\r\n]|$)", shown), title


@every_place
def test_the_first_and_the_last_line_are_lines_too(place: str, tmp_path: Path) -> None:
    for title in TITLES[place.split(".")[0]]:
        assert inside(place, f"## {title}", tmp_path) == f"\\## {title}"
        assert inside(place, f"one\n## {title}", tmp_path) == f"one\n\\## {title}"


@project_place
def test_our_separator_is_escaped_where_sections_are_parted_by_it(place: str, tmp_path: Path) -> None:
    for rule in ("---", "-----", " ---", "--- "):
        shown = inside(place, f"one\n\n{rule}\n\ntwo", tmp_path)
        ours = place.startswith(RULED)
        assert shown == (f"one\n\n{rule.replace('-', chr(92) + '-', 1)}\n\ntwo" if ours else f"one\n\n{rule}\n\ntwo")


@pytest.mark.parametrize("hidden", ["\u200b", "\u00ad", "\u2060", "\ufe0f"], ids=ascii)
@project_place
def test_a_hidden_character_does_not_help_a_heading(place: str, hidden: str, tmp_path: Path) -> None:
    title = TITLES[place.split(".")[0]][0]
    split = f"## {title[0]}{hidden}{title[1:]}"
    for line in (f"## {title}{hidden}", f"{hidden}## {title}", f"##{hidden} {title}", split):
        shown = inside(place, f"one\n\n{line}\n\ntwo", tmp_path)
        assert hidden not in shown
        assert f"\n## {title}\n" not in shown


# ── all else ──────────────────────────────────────────────────────────────────────────────────────────────────────

MARKDOWN: Final = """# A title of mine

Some *text* with `code`, a [link](https://example.org) and a <b>tag</b>.

- one
  - two
1. three

> a quote

```python
## Soulful = {"a": [1, 2]}  # a comment
```

~~~
fenced
~~~

| a | b |
|---|---|
| 1 | 2 |

***

Soul food, Memory lane
======================

Tools of the trade
------------------

## My own section

<!-- a remark --> & done: 1 < 2 > 0"""


@every_place
def test_markdown_of_ones_own_stands_verbatim(place: str, tmp_path: Path) -> None:
    """But for a line of dashes where sections are parted by one."""
    wanted = MARKDOWN.replace("\n-----", "\n\\-----") if place.startswith(RULED) else MARKDOWN
    assert inside(place, MARKDOWN, tmp_path) == wanted


@operator_place
def test_an_operators_text_is_verbatim_whatever_it_holds(place: str, tmp_path: Path) -> None:
    """But for line ends, and characters that no file can hold."""
    ours = {line for title in TITLES[place.split(".")[0]] for line in (title, *spellings(title))}
    for value in CURATED:
        text = f"one {value} two"
        unusable = re.search("[\x00\ud800-\udfff\r]", value)
        if not unusable and not any(line.strip() in ours for line in text.split("\n")):
            assert inside(place, text, tmp_path) == text, ascii(value)


@project_place
def test_chat_tokens_in_a_projects_text_are_broken_or_quarantined(place: str, tmp_path: Path) -> None:
    bad = {"chat token", "bracket token", "tag of ours"}
    found = {token: tokens_in(inside(place, f"Read {token} first.", tmp_path)) for token in TOKENS}
    whole = [f"{token!a}: {', '.join(what)}" for token, what in found.items() if bad & set(what)]
    assert not whole, "\n".join(whole)


@project_place
def test_hidden_characters_in_a_projects_text_are_shown_or_quarantined(place: str, tmp_path: Path) -> None:
    usable = [value for value in HIDDEN if not re.search("[\ud800-\udfff\x00]", value)]
    shown = {value: inside(place, f"Read {value} first.", tmp_path) for value in usable}
    found = {value: hidden_in(re.sub(r"[\n\t]", " ", text)) for value, text in shown.items()}
    hidden = [f"{value!a}: {', '.join(what)}" for value, what in found.items() if what]
    assert not hidden, "\n".join(hidden)


@every_place
def test_what_looks_like_a_template_stays_text(place: str, tmp_path: Path) -> None:
    for value in TEMPLATES:
        assert inside(place, f"one {value} two", tmp_path) == f"one {value} two"
    text = "{{ soul }} {% if x %} {# gone #} {% raw %}{{ y }}{% endraw %}"
    assert inside(place, text, tmp_path) == text


@pytest.mark.parametrize("seed", range(60))
def test_any_mix_of_lines_keeps_all_but_ours(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    place = chance.choice(sorted(EVERY))
    titles = TITLES[place.split(".")[0]]
    own = [*MARKDOWN.split("\n"), "#", "##", "## ", "text ## Soul", "\\## Soul", "- ## mine", "#hashtag", ""]
    lines = ["start"]
    ours = {line for title in titles for line in spellings(title)}
    choices = (own, own, sorted(ours))
    lines += [chance.choice(chance.choice(choices)) for _ in range(chance.randint(1, 25))]
    lines.append("end")
    lines = [line for line in lines if not line or not set(line) <= set("=-")]
    wanted = "\n".join(escaped(line) if line in ours else line for line in lines)
    assert inside(place, "\n".join(lines), tmp_path) == wanted


def test_outside_text_has_no_markdown_form() -> None:
    with pytest.raises(BadValue):
        Piece("# x", "somewhere", Trust.OUTSIDE, Form.MARKDOWN)
