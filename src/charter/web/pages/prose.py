"""Words of others become HTML that can be read and do nothing: no script, no picture, no link that hides its host."""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

if TYPE_CHECKING:
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token
    from markdown_it.utils import OptionsDict

MOST_CHARS: Final = 20_000  # of Markdown; what is longer is shown as it was written
SCHEMES: Final = frozenset({"http", "https", "mailto"})
TAGS: Final = frozenset(
    "p br hr strong em s code pre blockquote ul ol li a span h3 h4 h5 h6 table thead tbody tr th td".split()
)
ATTRIBUTES: Final = {"a": {"href"}, "span": {"class"}, "ol": {"start"}}
REL: Final = "noopener noreferrer nofollow"
# What moves a cursor, reorders a line, hides between letters, or is no character. Marks that only say which way a
# letter runs, and joiners that scripts and emoji need, are left: a message stands in a box of its own direction.
_UNRULY: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u180e\u200b\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def calm(text: str) -> str:
    """The text with every character that could trick the eye shown by its number."""
    return _UNRULY.sub(lambda found: _mark(found[0]), text.replace("\r\n", "\n"))


def exact(text: str) -> str:
    """The text as someone sees it who is to say yes to it: whatever is not drawn is shown by its number."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in "\n\t" else _mark(one) for one in text)


def _mark(one: str) -> str:
    code = ord(one)
    return chr(0x2400 + code) if code < 0x20 else f"⟨U+{code:04X}⟩"


def markdown(text: str) -> Markup:
    """A model's words as HTML, by an allow-list of elements; pictures are named, never loaded."""
    text = calm(text)
    if len(text) > MOST_CHARS:
        return Markup('<p><span class="as-written">{}</span></p>').format(text)
    html = _parser().render(text)
    return Markup(
        nh3.clean(
            html, tags=set(TAGS), attributes={tag: set(names) for tag, names in ATTRIBUTES.items()},
            url_schemes=set(SCHEMES), link_rel=REL, strip_comments=True,
        )
    )  # fmt: skip


# ── the parser ────────────────────────────────────────────────────────────────────────────────────────────────────


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 20}).enable(["table", "strikethrough"])
    for name, rule in {"image": _image, "link_open": _link_open, "link_close": _link_close}.items():
        parser.add_render_rule(name, rule)
    parser.add_render_rule("heading_open", _heading)
    parser.add_render_rule("heading_close", _heading)
    return parser


Env = MutableMapping[str, Any]


def _image(self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: Env) -> str:
    name = self.renderInlineAsText(tokens[at].children, options, env) or "without a name"
    return f'<span class="picture">[picture: {escape(name)}]</span>'


def _link_open(self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: Env) -> str:
    """A link to a place in the world; one to anywhere else is only its words."""
    href = str(tokens[at].attrGet("href") or "")
    host = _host(href)
    said = "".join(token.content for token in tokens[at + 1 : _closing(tokens, at)])
    env.setdefault("links", []).append("" if not host else "</a>" if said in (href, host) else f"</a>{_told(host)}")
    return f'<a href="{escape(href)}">' if host else ""


def _link_close(self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: Env) -> str:
    return str(env["links"].pop())


def _closing(tokens: Sequence[Token], at: int) -> int:
    return next(number for number in range(at, len(tokens)) if tokens[number].type == "link_close")


def _told(host: str) -> str:
    return f' <span class="host">({escape(host)})</span>'


def _host(href: str) -> str:
    """Where a link goes; empty when that is nowhere a link may go."""
    try:
        parts = urlsplit(href)
    except ValueError:
        return ""
    if parts.scheme.lower() == "mailto":
        return exact(parts.path)
    return exact(parts.hostname or "") if parts.scheme.lower() in SCHEMES else ""


def _heading(self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: Env) -> str:
    """A message is inside a page, so its headings stand below the page's own."""
    token = tokens[at]
    level = min(int(token.tag[1]) + 2, 6)
    return f"<h{level}>" if token.nesting == 1 else f"</h{level}>\n"
