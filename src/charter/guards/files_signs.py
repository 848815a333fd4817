"""Plain signs of a command in a file, as its words stand there; each clause is read for negation first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from .finding import Span
from .reading_cuts import fences_of


class _Sign(NamedTuple):
    code: str
    reason: str
    pattern: re.Pattern[str]
    needs: re.Pattern[str] | None = None  # must be found inside the match as well


def _re(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE | re.MULTILINE)


# ── what is a mention ─────────────────────────────────────────────────────────────────────────────────────────────
_CODE: Final = _re(r"``[^\n]{1,400}?``", r"`[^`\n]{1,400}`")
_PAIRS: Final = (('"', '"'), ("“", "”"), ("„", "“”"), ("«", "»"), ("‘", "’"), (r"(?<!\w)'", "'"))
_QUOTED: Final = _re(*(rf"{opening}(?:[^{end}\n]|\n(?![ \t]*\n)){{1,300}}[{end}](?!\w)" for opening, end in _PAIRS))
_SAYS: Final = r"\b(?:say|ask|tell|claim|order|instruct|urge|demand|want|contain)(?:s|ing)?\b"
_NEGATED: Final = _re(
    r"\b(?:never|cannot|(?:do|does|must|may|should|shall|will|can|did|would)\s+not|\w+n['’]t|instead of|rather than)\b",
    r"\b(?:refus|reject|declin|resist|disobey)\w*|\b(?:attempt|try|trie|request|order)\w* to\b",
    rf"\b(?:if|when|whenever|any|anyone|someone|whoever|text|messages?|content|an?)\b[^.\n]{{0,60}}{_SAYS}",
)
_ITEM: Final = r"\n(?=[ \t]*(?:[-*+#>]|\d{1,3}[.)])[ \t])"  # the next item, heading or quoted line
_CLAUSE: Final = _re(r"[.!?;](?=\s)", r"\n[ \t]*\n", _ITEM, r"\b(?:but|instead)\b(?! of)")
_END: Final = re.compile(rf"[.!?](?=\s|\Z)|\n[ \t]*\n|{_ITEM}|\s*\Z")
_REACH: Final = 400


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found.group())


def _without_fences(text: str) -> str:
    """The text with the inside of closed fences blank; a fence that never closes hides nothing."""
    parts, end = [], 0
    for start, stop in fences_of(text):
        parts += [text[end:start], re.sub(r"[^\n]", " ", text[start:stop])]
        end = stop
    return "".join([*parts, text[end:]])


def _is_mention(text: str, start: int) -> bool:
    """Whether the clause that leads to `start` negates or reports what comes."""
    before = text[max(start - _REACH, 0) : start]
    breaks = [match.end() for match in _CLAUSE.finditer(before)]
    return _NEGATED.search(before, breaks[-1] if breaks else 0) is not None


# ── what commands ─────────────────────────────────────────────────────────────────────────────────────────────────
_DROP: Final = r"\b(?:ignore|disregard|forget)\s+"
_WHICH: Final = r"(?:(?:all|any|every|each|of|the|these|those|your|my|our|other)\s+){0,4}"
_EARLIER: Final = r"(?:(?:previous|prior|preceding|above|earlier|former|existing|original|initial|system)\s+){1,2}"
_RULES: Final = (
    r"(?:(?:instruction|prompt|rule|direction|directive|guideline|command|order|constraint|restriction|safeguard)s?"
    r"|polic(?:y|ies)|training|programming)\b"
)
_FREED: Final = (
    r"(?:unrestricted|jailbroken|uncensored|unfiltered|(?-i:DAN)|(?:developer|god|root)\s+mode"
    r"|(?:without|free\s+of|no)\s+(?:any\s+)?(?:restrictions|rules|filters|limits|guidelines))\b"
)
_NOT, _PERSON = r"\b(?:do\s+not|don['’]t|never)\s+", r"(?:users?|humans?|operators?|owners?)\b"
_SECRET: Final = _re(
    r"\b(?:conversation|chat history|system prompt|your instructions|secrets?|credentials?|passwords?|cookies?)\b",
    r"\b(?:(?:api|private|ssh) keys?|environment variables|contents? of|everything|memor(?:y|ies)|seed phrase)\b",
    r"\b(?:(?:user|customer)['’]?s? (?:data|messages|files)|all (?:the )?(?:files|messages|data|mail))\b|\.env\b",
)
_TOKEN: Final = _re(
    r"<[|｜]\s?[a-z_▁][\w▁ ]{0,40}[|｜]>|</?(?:start_of_turn|end_of_turn|im_start|im_end|system)>|<</?SYS>>",
    r"\[/?(?:INST|TOOL_CALLS|AVAILABLE_TOOLS|SYSTEM_PROMPT)\]",
)
_SIGNS: Final = (
    _Sign("OVERRIDE", "tells its reader to drop earlier instructions", _re(
        rf"{_DROP}{_WHICH}{_EARLIER}{_RULES}", rf"{_DROP}(?:the\s+|{_RULES}\s+)?(?:above|system\s+prompt)\b",
        rf"\b(?:ignore|disregard|forget|override|bypass|violate)\s+(?:all\s+)?(?:of\s+)?your\s+(?:\w+\s+){{0,3}}{_RULES}",
        rf"{_DROP}(?:everything|all|whatever|what)\s+(?:(?:that|was|is|were|said|written)\s+){{0,3}}(?:above|before)\b",
        rf"{_DROP}(?:everything|all|whatever|what)\s+(?:that\s+)?you\s+(?:were|have\s+been|know|learned)\b",
    )),
    _Sign("ROLE_CHANGE", "gives its reader a new, unbound role", _re(
        rf"\byou\s+are\s+now\b[^.\n]{{0,80}}?\b{_FREED}",
        rf"\b(?:act|behave|respond|answer|pretend)\s+(?:as|to\s+be|like)\s+(?:(?:if|you|are|were|an?)\s+){{0,4}}{_FREED}",
    )),
    _Sign("FAKE_ROLE", "poses as a message of the system", _re(
        r"^[ \t>*_#\[(]*(?:system|developer|admin)(?:[ \t]+(?:message|prompt|note|override|instructions?))?"
        r"[*_\])]*[ \t]*:[*_ \t]*(?:you\s+(?:must|are|will|should|have)|ignore|disregard|forget|reveal|do\s+not|never"
        r"|always|from\s+now\s+on|new\s+instructions|override|execute|delete|send|approve|grant|print)\b"
    )),
    _Sign("CONCEAL", "wants something kept from the user", _re(
        rf"{_NOT}(?:tell|inform|notify|alert|warn)\s+(?:the\s+)?{_PERSON}"
        r"(?=\n\n|\s*(?:[.!,;]|\Z|(?:about|of)\s+(?:this|these|it|the\s+above)|that\s+(?:you|this)|this|anything))",
        rf"{_NOT}(?:mention|reveal|disclose)\s+(?:this|these)\s+(?:instruction|comment|note|message|text)s?\b",
        rf"\bwithout\s+(?:telling|informing|notifying)\s+the\s+{_PERSON}",
        rf"\b(?:keep|hide)\s+(?:this|it)\s+(?:secret\s+|hidden\s+)?from\s+the\s+{_PERSON}",
    )),
    _Sign("EXFILTRATE", "asks for private data to be sent to an address", _re(
        r"\b(?:send|post|upload|forward|exfiltrate|transmit|leak|submit|e-?mail|copy)\b[^\n]{0,140}?\bto\s+<?https?://"
    ), _SECRET),
)  # fmt: skip
_ORDER: Final = _re(
    rf"{_DROP}(?:all|any|the|your|previous|prior|above|every)\b|\byou\s+(?:must|are\s+now)\b|\bsystem\s+prompt\b",
    r"\b(?:instructions?|notes?|message)\s+(?:for|to)\s+(?:the\s+|all\s+|any\s+)?(?:ai|assistant|agent|model|llm)s?\b",
    rf"\b(?:ai|assistant|agent|llm)s?\s*[:,]\s|{_NOT}(?:tell|mention|reveal)\b",
)


_CITED: Final = _re(r"\b(?:injections?|hostile|attacks?|quotations?|malicious|jailbreaks?|red[- ]team\w*)\b")


def comments(text: str) -> Iterator[tuple[int, int]]:
    start = text.find("<!--")
    while start >= 0 and (end := text.find("-->", start + 4)) >= 0:
        yield start, end + 3
        start = text.find("<!--", end + 3)


def is_cited(text: str, start: int, end: int) -> bool:
    """Whether a stretch stands in a quoted line of a page that speaks of such things."""
    line = text[text.rfind("\n", 0, start) + 1 : start]
    return line.lstrip().startswith(">") and _CITED.search(text, max(start - _REACH, 0), end + _REACH) is not None


def _sentence_end(text: str, start: int) -> int:
    found = _END.search(text, start, min(start + _REACH, len(text)))
    return start if found is None else found.start() + found.group().startswith((".", "!", "?"))


def plain_signs(text: str) -> Iterator[Span]:
    """Spans in a text as it stands: orders in comments, control tokens, commands."""
    spoken = _CODE.sub(_blank, _without_fences(text))
    for start, end in comments(spoken):
        if _ORDER.search(spoken, start, end) and not is_cited(spoken, start, end):
            yield Span(start, end, "COMMENT_ORDER", "gives orders in a comment that a rendered page does not show")
    plain = _QUOTED.sub(_blank, spoken)
    for match in _TOKEN.finditer(plain):
        yield Span(*match.span(), "CHAT_TOKEN", "writes a control token of a chat format")
    for sign in _SIGNS:
        for match in sign.pattern.finditer(plain):
            if is_cited(plain, *match.span()) or _is_mention(plain, match.start()):
                continue
            if sign.needs is None or sign.needs.search(match.group()):
                yield Span(match.start(), _sentence_end(plain, match.end()), sign.code, sign.reason)
