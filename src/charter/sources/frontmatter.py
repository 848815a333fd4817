"""Frontmatter is a small mapping of strings, lists and mappings of strings; the rest of YAML is refused by line."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import yaml

from charter.core.errors import ConfigError

MAX_BYTES: Final = 16_384
MAX_DEPTH: Final = 8
_FIRST_LINE: Final = 2  # the mapping starts on the file's second line
_FENCE: Final = re.compile(r"^---[ \t]*$", re.MULTILINE)
_LEADING_BLANK: Final = re.compile(r"\A(?:[ \t]*\n)+")
_UNUSABLE: Final = re.compile(r"[\x00\ud800-\udfff]")
_FLAGS: Final = {"true": True, "yes": True, "false": False, "no": False}


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """What a file says about itself (`fields`), and the rest (`body`)."""

    fields: dict[str, object] = field(repr=False)
    body: str = field(repr=False)


def split(text: str, where: str) -> Frontmatter:
    """Part the YAML between a first line `---` and the next one from the body; LF line ends are expected."""
    if len(text) > KEPT_CHARS:
        return _split(text, where)
    kept = _known(text, where)
    return Frontmatter(dict(kept.fields), kept.body)


def _split(text: str, where: str) -> Frontmatter:
    opening = _FENCE.match(text)
    if not opening:
        return Frontmatter({}, tidy(text))
    closing = _FENCE.search(text, opening.end())
    if not closing:
        raise ConfigError(f"{where}:1", "the frontmatter opened by '---' is not closed; add a line '---'")
    block = text[opening.end() + 1 : closing.start()]
    size = len(block.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        raise ConfigError(f"{where}:1", f"frontmatter of {size:,} bytes, the limit is {MAX_BYTES:,}")
    return Frontmatter(_load(block, where), tidy(text[closing.end() :]))


# A file is read anew for every prompt; what is the same as before need not be parsed again.
KEPT_CHARS: Final = 65_536
_known = lru_cache(maxsize=256)(_split)


def text_field(fields: dict[str, object], name: str, where: str) -> str | None:
    """A field's text without surrounding white space; None when it is missing or blank."""
    value = fields.get(name, "")
    if not isinstance(value, str):
        raise ConfigError(where, f"'{name}' must be text")
    return value.strip() or None


def bool_field(fields: dict[str, object], name: str, where: str, default: bool = False) -> bool:
    """true, false, yes or no in any case; `default` when the field is missing."""
    if name not in fields:
        return default
    value = fields[name]
    flag = _FLAGS.get(value.strip().lower()) if isinstance(value, str) else None
    if flag is None:
        raise ConfigError(where, f"'{name}' must be true or false")
    return flag


def tidy(text: str) -> str:
    """Text without leading blank lines and trailing white space."""
    return _LEADING_BLANK.sub("", text).rstrip()


class _Refused(Exception):
    """A construct frontmatter may not use, and its line in the block."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line
        self.problem = problem


class _StringLoader(yaml.BaseLoader):
    """YAML with strings only: no anchors, aliases, tags, duplicate or compound keys; a bounded depth."""

    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        line = event.start_mark.line
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise _Refused(line, "anchors and aliases are not allowed")
        if getattr(event, "tag", None) is not None:
            raise _Refused(line, "tags are not allowed")
        self.depth += not isinstance(event, yaml.ScalarEvent)
        if self.depth > MAX_DEPTH:
            raise _Refused(line, f"nested deeper than {MAX_DEPTH} levels")
        node = super().compose_node(parent, index)
        self.depth -= not isinstance(event, yaml.ScalarEvent)
        return node

    def construct_scalar(self, node: Any) -> str:
        value = str(super().construct_scalar(node))
        if _UNUSABLE.search(value):
            raise _Refused(node.start_mark.line, "NUL and surrogate escapes are not allowed")
        return value

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:
        found: dict[Hashable, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise _Refused(key_node.start_mark.line, "a key must be plain text")
            key = self.construct_scalar(key_node)
            if key in found:
                raise _Refused(key_node.start_mark.line, "the same key twice")
            found[key] = self.construct_object(value_node, deep=True)
        return found


def _load(block: str, where: str) -> dict[str, object]:
    value, line, problem = _construct(block)
    if problem:
        raise ConfigError(f"{where}:{line + _FIRST_LINE}", problem)
    if not isinstance(value, dict):
        raise ConfigError(f"{where}:{_FIRST_LINE}", "frontmatter must be a mapping of fields")
    return value


def _construct(block: str) -> tuple[object, int, str]:
    """(value, line, problem); the errors of YAML quote the file, so none of them travels on, not even as a context."""
    try:
        loader = _StringLoader(block)
        try:
            node = loader.get_single_node()
            return {} if node is None else loader.construct_document(node), 0, ""
        finally:
            loader.dispose()
    except _Refused as refused:
        return None, refused.line, refused.problem
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return None, mark.line if mark else 0, "not valid YAML"
    except yaml.reader.ReaderError as error:
        return None, block.count("\n", 0, error.position), "a character YAML does not allow"
    except (yaml.YAMLError, ValueError, OverflowError):  # PyYAML lets the last two escape on absurd numbers
        return None, 0, "not valid YAML"
