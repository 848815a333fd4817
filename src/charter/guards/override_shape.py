"""What a writable text may not be made of: forged structure, machine contracts, text that no page shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from .override_things import ASK, DENY, Mark


class _Pattern(NamedTuple):
    """Ways to look, of which some begin where a line does: where no line begins so, only the others are tried.

    Without its sign in a text none of the others is found; where they stay in a line, without it in their line.
    """

    all: re.Pattern[str]
    heads: re.Pattern[str] | None  # in a text with a line break before it
    others: re.Pattern[str] | None
    sign: re.Pattern[str]
    in_line: bool

    def find(self, text: str) -> Iterator[re.Match[str]]:
        if self.heads is not None and self.heads.search(f"\n{text}"):
            yield from self.all.finditer(text)
        elif self.others is not None:
            signed = self.sign.search(text)
            while signed is not None:
                end = text.find("\n", signed.end()) if self.in_line else -1
                end = len(text) if end < 0 else end
                start = text.rfind("\n", 0, signed.start()) + 1 if self.in_line else 0
                yield from self.others.finditer(text, start, end)
                signed = self.sign.search(text, end) if end < len(text) else None


class _Shape(NamedTuple):
    code: str
    weight: int
    name: str
    pattern: _Pattern
    hints: tuple[str, ...] = ()  # without one of these it is not looked for
    needs: tuple[str, ...] = ("",)  # nor without one of these


def _re(*patterns: str, sign: str = "", in_line: bool = False) -> _Pattern:
    heads = "|".join(pattern[1:] for pattern in patterns if pattern.startswith("^"))
    others = "|".join(pattern for pattern in patterns if not pattern.startswith("^"))
    return _Pattern(
        re.compile("|".join(patterns), re.MULTILINE),
        re.compile(rf"\n(?:{heads})", re.MULTILINE) if heads else None,
        re.compile(others, re.MULTILINE) if others else None,
        re.compile(sign),
        in_line,
    )


TOKEN: Final = _re(
    r"<[|｜]\s?[a-z_▁][\w▁ ]{0,40}[|｜]>",
    r"</?(?:start_of_turn|end_of_turn|im_start|im_end|begin_of_text|eot_id)>",
    r"<</?sys>>", r"<\|?/?endoftext\|?>", r"</?(?:tool_call|tool_calls|function_calls|tool_use)>",
    r"\[/?(?:inst|tool_calls|available_tools|system_prompt|sys)\]",
    r"^[ \t]*#{2,3}[ \t]*(?:system|instruction|human|assistant|response):[ \t]*$",
)  # fmt: skip
_PLACE: Final = (
    r"(?:constitution|system (?:prompt|message|instructions?)|sealed (?:layers?|text|section)|"
    r"layers?(?: \d+)?|(?:new|previous|old) (?:instructions|rules|constitution|prompt|layers?)"
    r"|(?:user|operator|developer|admin|system|untrusted|writable|agent|safety|trusted)(?:'s)? (?:input|"
    r"instructions?|messages?|layers?|section|text|block|content|override|rules|data|turn|prompt|update|"
    r"directives?)|prompt|instructions|conversation|transcript|policy|rules|safety)"
)  # fmt: skip
_ROLE: Final = r"(?:system|developer|admin(?:istrator)?|operator|root|sudo|platform|anthropic|openai)"
_ORDERING: Final = (
    r"(?:you\b|your\b|the agent\b|agent\b|all\b|any\b|this agent|ignore|disregard|forget|reveal|do not|"
    r"don't|never|always|from now|new\b|override|execute|delete|send|approve|grant|print"
    r"|the following|layers?\b|constitution|safety|rules?\b|treat|accept|obey|authori[sz]|access|user is|"
    r"transfer|disable|unlock|enter|activate|set\b|mode|effective|replace|update|permission|guard|remove|"
    r"suspend)"
)  # fmt: skip
_SHAPES: Final = (
    _Shape("FAKE_STRUCTURE", DENY, "chat token", TOKEN, ("<", "[", "#")),
    _Shape("FAKE_STRUCTURE", DENY, "layer heading", _re(
        r"^[ \t>]*(?:#{1,6}|={2,}|-{2,}|\*\*|\[|<)[ \t]*(?:layer|level|section)[ \t]*#?(?:[0-5]|10|zero|-1|null)\b",
        r"^[ \t]*layer[ \t]*#?(?:[0-5]|10|zero|-1)[ \t]*(?:[:(–—-]|\bis\b)",
        r"^[ \t>]*(?:#{1,6}|={2,}|\*\*)[ \t]*(?:(?:the|new|updated|revised|amended|true|real|final|"
        r"latest)[ \t]+)*(?:constitution|system prompt|system message|system instructions?|sealed layers?|"
        r"(?:operator|developer|system|admin) (?:message|override|instructions?|notice|update|directive|"
        r"note))\b",
    ), ("layer", "level", "section", "constitution", "system", "operator", "developer", "sealed", "admin")),
    _Shape("FAKE_STRUCTURE", DENY, "forged boundary", _re(
        rf"^[ \t]*[-=*#<\[|_~/(>]{{2,}}[ \t]*(?:end|begin|start|close|finish|stop)(?:[ \t]+(?:of|the|"
        rf"new))*[ \t_-]+(?:(?:all|the|this|these|any)[ \t]+)?{_PLACE}",
        rf"^[ \t]*[-=*#<\[|_~/(>]{{1,}}[ \t]*(?:end|begin|"
        rf"start)[ \t_-]+(?:of[ \t_-]+)?(?:the[ \t_-]+)?{_PLACE}[ \t]*[-=*#>\]|_~)]",
        rf"^[ \t]*\[?(?:end|begin)(?: of)?(?: the)? {_PLACE}[\].:!]?[ \t]*$",
        rf"^[ \t]*{_PLACE} (?:ends?|stops|begins|starts) here\b",
        rf"^[^\w\n]{{1,8}}{_PLACE} (?:ends?|begins?|starts?|closed|opens?)[^\w\n]",
        r"^[ \t]*[«‹【〔{(\[<|]{1,3}[ \t]*layer[ \t]*\d",
        r"<!--[ \t]*/?(?:begin|end|start)?[ \t]*(?:layer|constitution|system|sealed|prompt|policy|rules)"
        r"[ \t]*(?:[:=_/-][^>\n]{0,60})?-->",
        r"^[^\w\n]{0,12}(?:begin|end|start)[ \t]+(?:\w+[ \t]+){0,2}"
        r"(?:patch|amendment|override|directive|hotfix|decree)\b",
        r"</?(?:function_results?|tool_results?|tool_response|system_reminder|policy|amendment|magna_carta|charter)\b",
        r"^[^\w\n]{2,}[ \t]*(?:segment|section|context|frame|trust|message|zone|prompt)[ \t]+"
        r"(?:boundary|reset|break|switch|"
        r"restart|end|start)\b",
        r"</(?:system|layers?|constitution|instructions?|prompt|operator|developer|sealed|context|user|"
        r"assistant|override|rules|policy|admin|root|untrusted|data|document|content|memory|message|"
        r"input)\b[^>\n]{0,60}>",
        r"<(?:system|layer|constitution|override|operator|developer|admin|sealed|assistant|"
        r"system[-_](?:prompt|message|reminder|instructions?))\b[^>\n]{0,60}>",
    ), ("end", "begin", "start", "close", "finish", "stop", "</", "<", "layer", "opens")),
    _Shape("FAKE_STRUCTURE", DENY, "forged role", _re(
        rf"^[ \t>*_#\[(<{{-]*{_ROLE}(?:[ \t_-]+(?:message|prompt|note|override|instructions?|update|notice|"
        rf"command|directive|mode|says|alert|announcement))?[*_\])>}}]*[ \t]*[:>|][*_ \t]*{_ORDERING}",
        rf"^[ \t>*_#]*[\[(<{{]+[ \t]*{_ROLE}(?:[ \t_-]+(?:message|prompt|note|override|instructions?|"
        rf"update|notice|command|directive|mode))?[ \t]*[\])>}}]+[ \t:]*\S",
        r"\bsystem override\b|\boverride (?:code|accepted|authori[sz]ed|protocol|sequence)\b",
        r"^[ \t]*(?:assistant|user|human|ai)[ \t]*:[ \t]*\S[^\n]{0,400}\n+[ \t]*(?:assistant|user|human|ai)[ \t]*:",
        sign="override",
    ), ("system", "developer", "admin", "operator", "root", "sudo", "platform", "openai", "anthropic", "override",
        "assistant", "user", "human", "ai:")),
    _Shape("CONTRACT", DENY, "message with a role", _re(
        r"[\"']role[\"'][ \t]*:[ \t]*[\"'](?:system|developer|assistant|tool|user|operator|admin)[\"']",
        r"^[ \t-]*role:[ \t]*[\"']?(?:system|developer|assistant|tool|operator|admin|root)\b",
    ), ("role",)),
    _Shape("CONTRACT", DENY, "tool call", _re(
        r"[\"'](?:tool|tool_name|tool_call|tool_calls|function|function_call|action|method|call|"
        r"recipient_name)[\"'][ \t]*:[ \t]*(?:[\"'{\[])",
        r"[\"'](?:name|type)[\"'][ \t]*:[ \t]*[\"'][^\"'\n]{1,60}[\"'][ \t]*,\s*[\"'](?:arguments|args|"
        r"parameters|input|params|function|input_schema)[\"'][ \t]*:",
        r"</?(?:tool_call|tool_use|function_calls?|invoke|tool|tool_code|function|antml[\w:]*)\b[^>\n]{0,80}>",
        r"^[ \t-]*(?:tool|function|tool_call|action|call):[ \t]*[\"']?[a-z]+_[a-z_]+\b",
        r"\b(?:transfer|withdraw|approve|execute|update_prompt_layer|update_instructions|run_shell|"
        r"sign_transaction|send_[a-z]+|exec|eval|os\.system|subprocess\.\w+|set_layer|disable_[a-z]+|"
        r"delete_[a-z]+)\([^)\n]{0,200}\)",
        sign=r"[\"'<(](?:(?<=(?:ool|ame|all|lls|ion|hod|ype)[\"'])[ \t]*:|(?<=<)/?(?:tool|func|invoke|antml)"
        r"|(?<=\w\())",
    ), ("tool", "function", "action", "method", "call", "name", "type", "<", "(")),
    _Shape("CONTRACT", ASK, "output contract", _re(
        r"\b(?:output|respond|reply|answer|return|emit|print|begin|start|end)\b[^.\n]{0,40}\b(?:exactly|"
        r"only|nothing but|verbatim|always|every|each)\b[^.\n]{0,80}\{[^}\n]{0,200}(?:[\"']|:)",
        r"^[ \t]*[a-z_]+:[ \t]*\n[ \t]+-?[ \t]*(?:when|if|on|trigger|match|"
        r"pattern)[a-z_]*:[^\n]{1,200}\n[ \t]+(?:then|do|run|action|call|execute|tool)[a-z_]*:",
        r"^[ \t`-]*(?:(?:\*|\d{1,2}|\*/\d{1,2}|\d{1,2}-\d{1,2}|\d{1,2}(?:,\d{1,2})+)[ \t]+){4}(?:\*|\d|"
        r"\*/\d{1,2}|mon|tue|wed|thu|fri|sat|sun|1-5|0-6)[ \t]+\S",
        r"^[ \t-]*(?:on_?[a-z]+|trigger|when|match|"
        r"if)[ \t]*[:=][ \t]*[/\"'`][^\n]{1,120}[/\"'`][^\n]{0,40}(?:->|=>|→|then|:)[ \t]*\S",
        r"(?:/[^/\n]{2,80}/[a-z]{0,3}|regex[^\n]{0,80})[ \t]*(?:->|=>|→)[ \t]*\S",
        r"\b(?:privileges?|permissions?|access[_ ]level|clearance|trust[_ ]level|auth(?:ority)?|priority|"
        r"precedence|rights|master|owner)[\"']?[ \t]*[:=][ \t]*[\"']?(?:root|admin|unrestricted|full|all|"
        r"maximum|max|highest|anyone|everyone|system|superuser|elevated|above[_ ]\w+|"
        r"unlimited|absolute|supreme|override)\b",
        r"\b(?:safety|guard(?:s|rails)?|filters?|logging|approvals?|confirmation|restrictions|"
        r"constitution|taint|moderation|audit|require_approval|safe_mode|oversight|"
        r"sealed|protection|protections|review|deny)[\"']?[ \t]*[:=][ \t]*[\"']?(?:off|"
        r"false|none|disabled|null|0|no|never|inactive|skip|"
        r"ignored?|bypass(?:ed)?|void|suspended|optional|dormant|\[\])(?!\w)",
        sign=r"[{>→:=](?:(?<=[{→])|(?<=[-=]>)|(?<=[:=])[ \t]*[\"']?(?:(?:root|admin|unrestricted|full|all|maximum|max|"
        r"highest|anyone|everyone|system|superuser|elevated|unlimited|absolute|supreme|override|off|false|none|no|"
        r"disabled|null|0|never|inactive|skip|ignored?|bypass(?:ed)?|void|suspended|optional|dormant)(?!\w)|above[_ ]"
        r"|\[\]))",
        in_line=True,
    ), ("{", "->", "=>", "→", "*", "trigger", "when", "if", ":", "=")),
    _Shape("AUTHORITY", DENY, "greater than", _re(
        r"(?<![a-z])(?:my|these|this|our|user|customer|profit|"
        r"revenue)(?![a-z])[^.\n>]{0,40}>{1,3}[ \t]*(?:your|the|all|any|system|constitution|operator|"
        r"safety|guidelines?|rules?|polic|developer)",
        sign=r">[ \t]*(?:your|the|all|any|system|constitution|operator|safety|guideline|rule|polic|developer)",
        in_line=True,
    ), (">",)),
    _Shape("OVERRIDE", ASK, "rules as settings", _re(
        r"\b(?:rules?|limits?|ethics(?: module| layer)?|refusals?|restrictions?|policies|policy|laws?|"
        r"constraints|guidelines|filters?|scruples|guardrails|"
        r"conscience)\b(?! (?:for|of|about|on|in)\b)[^.\n:=]{0,30}[:=][ \t]*(?:none|0|absent|off|n/?a|"
        r"disabled|null|zero|nil|removed|"
        r"ignored?)\b",
        r"\|[ \t]*(?:constitution|polic(?:y|ies)|safety|guards?|rules?|sealed layers?|ethics|approvals?|"
        r"oversight|layer \d)[ \t]*\|[ \t]*(?:disabled|off|none|void|inactive|suspended|ignored?|false|0|"
        r"lifted|optional)\b",
        r"\bset[ \t]+[\w.]*(?:polic|approv|guard|safety|constitution|filter|limit|rule|audit|"
        r"log)[\w.]*[ \t=]+(?:false|0|off|none|null|disabled)\b", r"\bexec[ \t]+\$\w+",
        sign=r"[:=|$s](?:(?<=[:=])[ \t]*(?:none|0|absent|off|n/?a|disabled|null|zero|nil|removed|ignored?)(?!\w)"
        r"|(?<=\|)[ \t]*[a-z]|(?<=[ \t]\$)\w"
        r"|(?<=s)et[ \t]+[\w.]*(?:polic|approv|guard|safety|constitution|filter|limit|rule|audit|log))",
        in_line=True,
    ), (":", "=", "|", "set", "exec")),
    _Shape("EXFILTRATE", DENY, "picture that carries data", _re(
        r"!\[[^\]\n]{0,200}\]\((?:https?:)?//[^)\n]{0,300}(?:\{|\$|<|\[|%7b|%s|=\)|=$|(?:data|q|d|c|msg|"
        r"text|payload|leak|info|conversation|prompt|secret|key|history|memory)=)[^)\n]{0,300}\)?",
        r"<img\b[^>\n]{0,300}src[^>\n]{0,300}\?[^>\n]{0,300}>",
        r"https?://[^\s)]{3,200}[?&/=](?:\{|<|\[|\$\{?|%7b)[a-z_ ]{3,40}",
    ), ("![", "<img", "://")),
    _Shape("EXFILTRATE", DENY, "command that carries secrets out", _re(
        r"(?:~/\.ssh|\bid_rsa|\bid_\*|\.env\b|\.netrc|\.npmrc|\.aws/|\.gnupg|/etc/shadow|wallet\.dat|"
        r"\.git-?credentials|\bprintenv|shell history|keystore)[^\n]{0,160}(?:\bcurl\b|\bwget\b|\bnc \b|"
        r"netcat|https?://|\bput them to|\bpost them to)",
        r"(?:\bcurl\b|\bwget\b)[^\n]{0,120}(?:@?~/\.ssh|\bid_rsa|@?\.env\b|\.netrc|\.aws/|\$\(env\)|`env`|\$\(cat )",
        r"base64[ \t]+(?:-d|-D|--decode)\b[^\n|]{0,40}\|[ \t]*(?:sudo[ \t]+)?(?:ba|z|da)?sh\b",
    ), ("curl", "wget", "base64", "nc ", "netcat", "http", "put them", "post them"), (
        "~/.ssh", "id_rsa", "id_*", ".env", ".netrc", ".npmrc", ".aws/", ".gnupg", "/etc/shadow", "wallet.dat",
        "credentials", "printenv", "shell history", "keystore", "$(env)", "`env`", "$(cat ", "base64")),
    _Shape("HIDDEN_TEXT", DENY, "style that hides", _re(
        r"style[ \t]*=[ \t]*[\"'][^\"'\n]{0,200}(?:display[ \t]*:[ \t]*none|"
        r"font-size[ \t]*:[ \t]*[01](?:px|pt|em|%)?[ \t]*[;\"']|(?<!-)color[ \t]*:[ \t]*(?:white|#fff|"
        r"transparent|rgba\([^)]*,[ \t]*0\))|opacity[ \t]*:[ \t]*0(?![.\d])|visibility[ \t]*:[ \t]*hidden)",
        r"<(?:div|span|p|font|section|details|template)\b[^>\n]{0,100}\bhidden\b",
        r"<font\b[^>\n]{0,60}color[ \t]*=[ \t]*[\"']?(?:white|#fff)",
        r"\\(?:color|textcolor)\{white\}",
    ), ("style", "hidden", "<font", "color{")),
)  # fmt: skip
_MARKUP: Final = re.compile(
    r"\]\([^)\s]{0,300}[ \t]+\"(?P<b>[^\"\n]{3,300})\"\)|\]\([^)\s]{0,300}[ \t]+'(?P<c>[^'\n]{3,300})'\)"
    r"|^[ \t]*\[[^\]\n]{1,40}\]:[ \t]*(?:<>|#|\S{1,200})[ \t]*[(\"'](?P<d>[^)\"'\n]{3,400})[)\"']|"
    r"\b(?:alt|title|aria-label|data-[a-z]+|content)=\"(?P<e>[^\"\n]{3,300})\"|"
    r"!\[(?P<f>[^\]\n]{12,300})\]\("
    r"|<(?:details|template|noscript|script)\b[^>]{0,80}>(?P<i>[^<]{3,2000})</",
    re.MULTILINE,
)  # fmt: skip


def shapes_of(text: str) -> Iterator[Mark]:
    """What the form of a folded text gives away."""
    for shape in _SHAPES:
        if not any(hint in text for hint in shape.hints) or not any(need in text for need in shape.needs):
            continue
        for found in shape.pattern.find(text):
            yield Mark(shape.code, shape.weight, *found.span(), (shape.name,))


def unseen(text: str) -> Iterator[tuple[int, int]]:
    """Stretches of a text that a rendered page does not show: comments, titles of links, alternative texts."""
    yield from _closed(text, "<!--", "-->")
    yield from _closed(text, "/*", "*/")
    yield from _closed(text, "{#", "#}")
    if any(sign in text for sign in ("](", "]:", '="', "<")):
        for found in _MARKUP.finditer(text):
            if found.lastgroup:
                yield found.span(found.lastgroup)


def _closed(text: str, opening: str, closing: str) -> Iterator[tuple[int, int]]:
    start = text.find(opening)
    while start >= 0 and (end := text.find(closing, start + len(opening))) >= 0:
        yield start + len(opening), end
        start = text.find(opening, end + len(closing))
