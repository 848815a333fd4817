"""Structured settings as sentences a person can read and a model can follow; never JSON.

Part of revision 0002 and frozen with it: the way back compares a person's text with what this made of the old rows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

BARE = "instructions"
_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|true|false')
_SAID = {"true": "yes", "false": "no"}


def readable(content: object) -> str:
    """The content in words: strings as they are, lists as `- item`, mappings as `Key words: value`.

    `instructions` comes first and needs no key words before it. Booleans are yes and no; what is null or empty says
    nothing. A string that holds a JSON object or list is opened.
    """
    return clean("\n".join(_lines(_opened(content))))


def readable_json(text: str | None) -> str:
    """The same of content as a database gives it; text that is no JSON is a string."""
    if text is None:
        return ""
    try:
        return readable(_decoded(text))
    except ValueError:
        return readable(text)
    except RecursionError:  # nested beyond what any person wrote: its values, one a line
        return clean("\n".join(f"- {_value(found[0])}" for found in _TOKEN.finditer(text) if not found[2]))


def clean(text: str) -> str:
    """Text both databases can hold: no NUL, no half of a surrogate pair."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def words(name: str) -> str:
    """A key as words: `reply_style` is `Reply style`."""
    spoken = " ".join(name.replace("_", " ").split())
    return spoken[:1].upper() + spoken[1:]


def _decoded(text: str) -> object:
    """JSON with its numbers as they were written."""
    return json.loads(text, strict=False, parse_int=str, parse_float=str, parse_constant=str)


def _opened(content: object) -> object:
    if isinstance(content, str) and content.lstrip()[:1] in ("{", "["):
        try:
            return _decoded(content)
        except ValueError:
            return content
    return content


def _lines(content: object) -> list[str]:
    if isinstance(content, Mapping):
        entries = sorted(content.items(), key=lambda entry: entry[0] != BARE)
        return [line for key, value in entries for line in _entry("" if key == BARE else words(str(key)), value)]
    if isinstance(content, list | tuple):
        return [line for item in content for line in _hung("- ", _lines(_opened(item)))]
    if isinstance(content, bool):
        return ["yes" if content else "no"]
    text = "" if content is None else str(content)
    return text.split("\n") if text.strip() else []


def _entry(key: str, value: object) -> list[str]:
    value = _opened(value)
    lines = _lines(value)
    if not lines or not key:
        return lines
    if isinstance(value, list | tuple):
        return [f"{key}:", *lines]
    if isinstance(value, Mapping) or len(lines) > 1:
        return [f"{key}:", *(f"  {line}" if line else "" for line in lines)]
    return [f"{key}: {lines[0]}"]


def _hung(mark: str, lines: list[str]) -> list[str]:
    """Lines under a mark, the later ones indented as far as it."""
    return [f"{mark if index == 0 else ' ' * len(mark) if line else ''}{line}" for index, line in enumerate(lines)]


def _value(leaf: str) -> str:
    return str(json.loads(leaf, strict=False)) if leaf.startswith('"') else _SAID.get(leaf, leaf)
