"""Texts that try to be more than text: what the property tests of the core draw from."""

from __future__ import annotations

import re
from typing import Final

from hypothesis import strategies as st

# Each is one visible character of more than one code point. Flags of two letters (regional indicators) are not here.
CLUSTERS: Final = (
    "👨\u200d👩\u200d👧\u200d👦",
    "👍🏽",
    "❤\ufe0f",
    "1\ufe0f\u20e3",
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "e\u0301",
)
# Invisible when alone: zero width, bidi, tags, fillers, soft hyphen, byte order mark, separators.
HIDDEN: Final = (
    "\u200b", "\u200c", "\u200d", "\u200e", "\u202e", "\u2060", "\u2066", "\u2069", "\u00ad", "\u034f", "\u061c",
    "\u115f", "\u180e", "\u2800", "\u3164", "\uffa0", "\ufeff", "\ufe0f", "\U000e0041", "\x00", "\x1b", "\x7f", "\x85",
    "\u2028", "\u2029", "\x0b", "\x0c", "\x1c", "\r",
)  # fmt: skip
TRICKS: Final = (
    "\n", "\n\n", "\r\n", "\t", " ", '"', "\\", "`", "```", "~~~", "<", ">", "<|im_start|>", "<system>", "</skill>",
    "＜", "﹤", "＞", "[INST]", "[/INST]", "-->", "<!--", "---", "===", "## Base", "# ", "> ", "- ", "1. ", "system:",
    "{{ x }}", "{% if x %}", "{# x #}", "\ud800", "\udfff", "&lt;", "ok", "Zoë", "日本", "—", ".", "!", ":",
)  # fmt: skip
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def no_pair(text: str) -> bool:
    """Two surrogate halves in a row are one character in JSON; no encoder can keep them two."""
    return _PAIR.search(text) is None


# Any string at all, lone surrogates included.
anything: Final = st.one_of(
    st.text(st.characters()),
    st.lists(st.sampled_from(TRICKS + HIDDEN + CLUSTERS) | st.characters(), max_size=30).map("".join),
).filter(no_pair)

# One line that may stand bare, and the empty one.
plain: Final = st.one_of(
    st.text("abcXYZ019 .,;:'-_/@+()!?%&—ëЖ日", max_size=30),
    st.lists(st.sampled_from((*CLUSTERS, "ok", "Zoë")), max_size=8).map("".join),
).map(str.strip)

json_values: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | anything,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(anything, inner, max_size=4),
    max_leaves=12,
)
