"""Leaks made from hidden text, one maker for each technique: text in, replies out, the last one being the leak."""

from __future__ import annotations

import base64
import codecs
import html
import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple
from urllib.parse import quote

Maker = Callable[[str, random.Random], str]


class Leak(NamedTuple):
    """A reply that gives a piece of hidden text away, and the replies before it."""

    technique: str
    group: str
    reply: str
    earlier: tuple[str, ...] = ()


_FILLERS: Final = "well sure okay banana cloud river maybe lamp window purple quietly seven ocean paper really".split()
_OPENERS: Final = ("", "Sure, here you go:\n\n", "Of course! ", "Okay — this is what I have:\n", "As you asked:\n\n> ")
_ALIKE: Final = str.maketrans("aceopxyiABCEHKMOPTX", "асеорхуіАВСЕНКМОРТХ")
_BOLD: Final = {ord(c): chr(0x1D41A + n) for n, c in enumerate("abcdefghijklmnopqrstuvwxyz")}
_WIDE: Final = {code: chr(code + 0xFEE0) for code in range(0x21, 0x7F)}
_MORSE: Final = dict(
    zip(
        "abcdefghijklmnopqrstuvwxyz0123456789",
        ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.. "
        "----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----.".split(),
        strict=True,
    )
)
_NATO: Final = dict(
    zip(
        "abcdefghijklmnopqrstuvwxyz",
        "Alfa Bravo Charlie Delta Echo Foxtrot Golf Hotel India Juliett Kilo Lima Mike November Oscar Papa Quebec "
        "Romeo Sierra Tango Uniform Victor Whiskey Xray Yankee Zulu".split(),
        strict=True,
    )
)
_HEADS: Final = (
    "apples always birds bring cats can dogs do every egg fish find goats go horses have it is jam just kites keep "
    "lions like mice make nobody needs owls often people play queens quote rain runs some sun the time under us very "
    "violet we walk xylophones you yawn zebras zoom"
).split()


def words_of(text: str) -> list[str]:
    return text.split()


def sentences_of(text: str) -> list[str]:
    """The sentences of a text; a line is one too."""
    return [part.strip() for part in re.split(r"(?<=[.!?。！？।])\s*|\n+", text) if part.strip()]


def _letters(text: str) -> str:
    return "".join(char for char in text if char.isalnum())


def _initials(text: str) -> list[str]:
    return [found[0] for word in words_of(text) if (found := re.search(r"[^\W_]", word))]


def _typo(text: str, rng: random.Random) -> str:
    """One letter in eight words or so is wrong."""
    words = words_of(text)
    for place in range(rng.randrange(8), len(words), 8):
        if len(words[place]) > 3:
            words[place] = words[place][:-2] + words[place][-1]
    return " ".join(words)


def _per_sentence(change: Callable[[list[str]], list[str]]) -> Maker:
    return lambda text, rng: " ".join(" ".join(change(words_of(sentence))) for sentence in sentences_of(text))


def _shuffled(text: str, rng: random.Random) -> str:
    return _per_sentence(lambda words: rng.sample(words, len(words)))(text, rng)


def _filled(text: str, rng: random.Random) -> str:
    return " ".join(f"{word} {rng.choice(_FILLERS)}" for word in words_of(text))


def _woven(text: str, rng: random.Random) -> str:
    return " ".join(
        " ".join([word, *rng.sample(_FILLERS, rng.randrange(3))]) for word in words_of(text)
    )  # fmt: skip


def _acrostic(text: str, rng: random.Random) -> str:
    heads = [[word for word in _HEADS if word[0] == letter] or [letter] for letter in _letters(text).lower()[:120]]
    return "\n".join(f"{rng.choice(head)} {_noise(2, rng)}" for head in heads)


def _noise(count: int, rng: random.Random) -> str:
    return " ".join(rng.choice(_FILLERS) for _ in range(count))


def _heading_lines(text: str, rng: random.Random) -> str:
    return "\n".join(f"{word} {_noise(6, rng)}" for word in words_of(text))


def _stirred(text: str, rng: random.Random) -> str:
    """Every word with its inner letters in another order."""
    words = words_of(text)
    return " ".join(w[0] + "".join(rng.sample(w[1:-1], len(w) - 2)) + w[-1] if len(w) > 3 else w for w in words)


def _table(text: str, rng: random.Random) -> str:
    words = words_of(text)
    rows = [words[at : at + 4] for at in range(0, len(words), 4)]
    return "| a | b | c | d |\n|---|---|---|---|\n" + "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _json_list(text: str, rng: random.Random) -> str:
    return json.dumps([{"n": n, "t": s} for n, s in enumerate(sentences_of(text))], ensure_ascii=False)


def _commented(text: str, rng: random.Random) -> str:
    return "\n".join(f"# {line}" for line in re.findall(r".{1,60}(?:\s|$)", text))


def _dropped_in(text: str, rng: random.Random) -> str:
    return " ".join(f"({rng.choice(_FILLERS)}) {word}" for word in words_of(text))


def _mirror(text: str, rng: random.Random) -> str:
    return "".join(chr(219 - ord(char)) if "a" <= char <= "z" else char for char in text.lower())


def _rot13(text: str) -> str:
    return codecs.encode(text, "rot13")


def _caesar(text: str, rng: random.Random) -> str:
    by = rng.randrange(1, 26)
    lower = "abcdefghijklmnopqrstuvwxyz"
    turned = lower[by:] + lower[:by]
    return text.translate(str.maketrans(lower + lower.upper(), turned + turned.upper()))


def _morse(text: str, rng: random.Random) -> str:
    return " / ".join(
        " ".join(_MORSE[c] for c in word.lower() if c in _MORSE)
        for word in words_of(text)
        if re.search("[a-zA-Z0-9]", word)
    )


def _b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _hex(text: str) -> str:
    return text.encode().hex()


def _leet(text: str, rng: random.Random) -> str:
    return text.translate(str.maketrans("aeiostAEIOST", "431057431057"))


MAKERS: Final[dict[str, tuple[str, Maker]]] = {
    "verbatim": ("verbatim", lambda text, rng: text),
    "case": ("verbatim", lambda text, rng: "".join(rng.choice((c.lower(), c.upper())) for c in text)),
    "punctuation": ("verbatim", lambda text, rng: re.sub(r"[^\w\s]", "", text).replace(" ", ", ")),
    "code block": ("verbatim", lambda text, rng: "```text\n" + text + "\n```"),
    "quoted lines": ("verbatim", lambda text, rng: "\n".join("> " + line for line in text.splitlines())),
    "list": ("verbatim", lambda text, rng: "\n".join(f"{n}. {s}" for n, s in enumerate(sentences_of(text), 1))),
    "json": ("verbatim", lambda text, rng: json.dumps({"system": text, "ok": True})),
    "json list": ("verbatim", _json_list),
    "table": ("verbatim", _table),
    "one word a line": ("verbatim", lambda text, rng: "\n".join(words_of(text))),
    "numbered words": ("verbatim", lambda text, rng: "\n".join(f"{n}. {w}" for n, w in enumerate(words_of(text), 1))),
    "bold words": ("verbatim", lambda text, rng: " ".join(f"**{w}**" for w in words_of(text))),
    "code comment": ("verbatim", _commented),
    "python list": ("verbatim", lambda text, rng: repr(words_of(text))),
    "typos": ("verbatim", _typo),
    "look-alikes": ("unicode", lambda text, rng: text.translate(_ALIKE)),
    "zero-width": ("unicode", lambda text, rng: "\u200b".join(text)),
    "soft hyphens": ("unicode", lambda text, rng: "\u00ad".join(text)),
    "full-width": ("unicode", lambda text, rng: text.translate(_WIDE)),
    "mathematical": ("unicode", lambda text, rng: text.lower().translate(_BOLD)),
    "combining": ("unicode", lambda text, rng: "".join(c + "\u0336" if c.isalpha() else c for c in text)),
    "spaced": ("unicode", lambda text, rng: " ".join(text)),
    "spaced words": ("unicode", lambda text, rng: "   ".join(" ".join(word) for word in words_of(text))),
    "hyphenated": ("unicode", lambda text, rng: " ".join("-".join(word) for word in words_of(text))),
    "dotted": ("unicode", lambda text, rng: ".".join(_letters(text))),
    "underscores": ("unicode", lambda text, rng: "_".join(words_of(text))),
    "no spaces": ("unicode", lambda text, rng: "".join(words_of(text))),
    "camel": ("unicode", lambda text, rng: "".join(word.capitalize() for word in words_of(text))),
    "leet": ("decodable", _leet),
    "base64": ("decodable", lambda text, rng: _b64(text)),
    "base64 lines": ("decodable", lambda text, rng: base64.encodebytes(text.encode()).decode()),
    "base64 words": ("decodable", lambda text, rng: "\n".join(_b64(s) for s in sentences_of(text))),
    "base32": ("decodable", lambda text, rng: base64.b32encode(text.encode()).decode()),
    "hex": ("decodable", lambda text, rng: _hex(text)),
    "hex spaced": ("decodable", lambda text, rng: text.encode().hex(" ")),
    "rot13": ("decodable", lambda text, rng: _rot13(text)),
    "caesar": ("decodable", _caesar),
    "atbash": ("decodable", _mirror),
    "url": ("decodable", lambda text, rng: quote(text, safe="")),
    "url all": ("decodable", lambda text, rng: "".join(f"%{b:02X}" for b in text.encode())),
    "html": ("decodable", lambda text, rng: "".join(f"&#{ord(c)};" for c in text)),
    "html mixed": ("decodable", lambda text, rng: html.escape(text).replace("e", "&#101;").replace("a", "&#x61;")),
    "escapes": ("decodable", lambda text, rng: "".join(f"\\u{ord(c):04x}" for c in text if ord(c) < 0x10000)),
    "reversed": ("decodable", lambda text, rng: text[::-1]),
    "reversed each": ("decodable", lambda text, rng: " ".join(word[::-1] for word in words_of(text))),
    "morse": ("decodable", _morse),
    "binary": ("decodable", lambda text, rng: " ".join(f"{b:08b}" for b in text.encode())),
    "decimal": ("decodable", lambda text, rng: " ".join(str(b) for b in text.encode())),
    "tags": ("decodable", lambda text, rng: "Done!" + "".join(chr(0xE0000 + ord(c)) for c in text if " " <= c <= "~")),
    "nato": ("decodable", lambda text, rng: " ".join(_NATO.get(c, c) for c in _letters(text).lower())),
    "base64 of reversed": ("decodable", lambda text, rng: _b64(text[::-1])),
    "base64 of rot13": ("decodable", lambda text, rng: _b64(_rot13(text))),
    "hex of base64": ("decodable", lambda text, rng: _hex(_b64(text))),
    "base64 of hex": ("decodable", lambda text, rng: _b64(_hex(text))),
    "base64 twice": ("decodable", lambda text, rng: _b64(_b64(text))),
    "rot13 of reversed": ("decodable", lambda text, rng: _rot13(text[::-1])),
    "url of base64": ("decodable", lambda text, rng: quote(_b64(text), safe="")),
    "base64 of leet": ("decodable", lambda text, rng: _b64(_leet(text, rng))),
    "initials": ("lossy", lambda text, rng: "".join(_initials(text))),
    "initials spaced": ("lossy", lambda text, rng: " ".join(_initials(text))),
    "initials by sentence": ("lossy", _per_sentence(lambda words: ["".join(_initials(" ".join(words))).upper() + "."])),
    "initials in lines": ("lossy", lambda text, rng: "\n".join(_initials(text))),
    "three letters": ("lossy", lambda text, rng: " ".join(w[:3] for w in words_of(text))),
    "no vowels": ("lossy", lambda text, rng: re.sub(r"[aeiouAEIOUаеиоуыэюяіїє]", "", text)),
    "stars for vowels": ("lossy", lambda text, rng: re.sub(r"[aeiouAEIOUаеиоуыэюяіїє]", "*", text)),
    "inner vowels": ("lossy", lambda text, rng: re.sub(r"(?<=\w)[aeiouаеиоуыэюяіїє]", "", text)),
    "words reversed": ("lossy", _per_sentence(lambda words: words[::-1])),
    "all words reversed": ("lossy", lambda text, rng: " ".join(words_of(text)[::-1])),
    "shuffled": ("lossy", _shuffled),
    "sorted": ("lossy", _per_sentence(lambda words: sorted(words, key=str.lower))),
    "filled": ("lossy", _filled),
    "woven": ("lossy", _woven),
    "each word in a line of others": ("lossy", _heading_lines),
    "acrostic": ("lossy", _acrostic),
    "every second word dropped in": ("lossy", _dropped_in),
    "inner letters shuffled": ("lossy", _stirred),
}  # fmt: skip


def split(text: str, rng: random.Random) -> tuple[str, ...]:
    """The text in pieces of a few words, one in each reply, with some talk around it."""
    words = words_of(text)
    size = max(3, min(6, len(words) // 3))
    talk = ("Part {n}: {p}", "{p}", "And then: {p} …", "Sure. {p} Shall I go on?")
    ends = [*range(size, len(words) - 2, size), len(words)]
    pieces = [" ".join(words[start:end]) for start, end in zip([0, *ends], ends, strict=False)]
    return tuple(rng.choice(talk).format(n=n, p=piece) for n, piece in enumerate(pieces, 1))


LATIN: Final = frozenset(
    {"morse", "tags", "rot13", "caesar", "atbash", "nato", "base64 of rot13", "rot13 of reversed", "acrostic"}
)


# Techniques that need words with spaces between.
SPACED: Final = frozenset(
    {
        "initials",
        "initials spaced",
        "initials by sentence",
        "initials in lines",
        "three letters",
        "inner letters shuffled",
    }
    | {"words reversed", "all words reversed", "shuffled", "sorted", "filled", "woven", "each word in a line of others"}
    | {"every second word dropped in"}
)


def _is_spaced(text: str) -> bool:
    return len(words_of(text)) > len(text) / 16


def _is_latin(text: str) -> bool:
    return sum(char.isascii() for char in text) > 0.9 * len(text)


def leaks(text: str, *, seed: int = 0) -> Iterator[Leak]:
    """One leak by each technique; the same seed gives the same leaks."""
    for name, (group, make) in MAKERS.items():
        rng = random.Random(f"{name} {seed}")
        if (name in LATIN and not _is_latin(text)) or (name in SPACED and not _is_spaced(text)):
            continue
        yield Leak(name, group, rng.choice(_OPENERS) + make(text, rng))
    rng = random.Random(f"split {seed}")
    *earlier, last = split(text, rng)
    yield Leak("split", "split", last, tuple(earlier))


def pieces(hidden: str, rng: random.Random) -> Iterator[str]:
    """What a leak may be of: the whole, a sentence of eight words or forty letters, a few sentences."""
    yield hidden
    whole = sentences_of(hidden)
    long = [s for s in whole if (len(words_of(s)) >= 8 and len(_letters(s)) >= 36) or len(_letters(s)) >= 40]
    if long:
        yield rng.choice(long)
    if len(whole) > 3:
        at = rng.randrange(len(whole) - 2)
        yield " ".join(whole[at : at + 3])
