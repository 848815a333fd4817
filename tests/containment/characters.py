"""Which characters a reader can see, from the standard library and lists of our own: the encoder's tables are not used.

Sources: `unicodedata` for categories; emoji-data.txt (Extended_Pictographic), DerivedCoreProperties.txt
(Default_Ignorable_Code_Point) and DerivedAge.txt for the ranges written out below.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

Ranges = tuple[tuple[int, int], ...]

DEFAULT_IGNORABLE: Final[Ranges] = (
    (0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
# Letters, marks and symbols by category that draw nothing: Braille blank, Khitan filler, Egyptian blanks, null
# notehead, the object replacement character.
BLANK: Final[Ranges] = (
    (0x2800, 0x2800), (0x16FE4, 0x16FE4), (0x13441, 0x13442), (0x1D159, 0x1D159), (0xFFFC, 0xFFFC),
)  # fmt: skip
EMOJI: Final[Ranges] = (
    (0x00A9, 0x00A9), (0x00AE, 0x00AE), (0x203C, 0x203C), (0x2049, 0x2049), (0x2122, 0x2122), (0x2139, 0x2139),
    (0x2194, 0x2199), (0x21A9, 0x21AA), (0x231A, 0x231B), (0x2328, 0x2328), (0x2388, 0x2388), (0x23CF, 0x23CF),
    (0x23E9, 0x23F3), (0x23F8, 0x23FA), (0x24C2, 0x24C2), (0x25AA, 0x25AB), (0x25B6, 0x25B6), (0x25C0, 0x25C0),
    (0x25FB, 0x25FE), (0x2600, 0x2605), (0x2607, 0x2612), (0x2614, 0x2685), (0x2690, 0x2705), (0x2708, 0x2712),
    (0x2714, 0x2714), (0x2716, 0x2716), (0x271D, 0x271D), (0x2721, 0x2721), (0x2728, 0x2728), (0x2733, 0x2734),
    (0x2744, 0x2744), (0x2747, 0x2747), (0x274C, 0x274C), (0x274E, 0x274E), (0x2753, 0x2755), (0x2757, 0x2757),
    (0x2763, 0x2767), (0x2795, 0x2797), (0x27A1, 0x27A1), (0x27B0, 0x27B0), (0x27BF, 0x27BF), (0x2934, 0x2935),
    (0x2B05, 0x2B07), (0x2B1B, 0x2B1C), (0x2B50, 0x2B50), (0x2B55, 0x2B55), (0x3030, 0x3030), (0x303D, 0x303D),
    (0x3297, 0x3297), (0x3299, 0x3299), (0x1F000, 0x1FAFF),
)  # fmt: skip
# Blocks whose symbols may stand bare beside emoji; their brackets may not.
SYMBOL_BLOCKS: Final[Ranges] = (
    (0x2190, 0x21FF), (0x2300, 0x23FF), (0x2460, 0x24FF), (0x25A0, 0x27BF), (0x2900, 0x297F), (0x2B00, 0x2BFF),
)  # fmt: skip
# Scripts whose letters join or stack, so that a joiner between two of them can be seen.
JOINING_BLOCKS: Final[Ranges] = (
    (0x0600, 0x077F), (0x07C0, 0x07FF), (0x0840, 0x08FF), (0x0900, 0x0DFF), (0x0F00, 0x0FFF), (0x1000, 0x109F),
    (0x1780, 0x17FF), (0x1800, 0x18AF), (0xFB50, 0xFDFF), (0xFE70, 0xFEFF),
)  # fmt: skip
# Assigned by Unicode 15.0 to 18.0: a standard library may be older.
LETTERS_SINCE_14: Final[Ranges] = (
    (0x0558, 0x0558), (0x058B, 0x058C), (0x05C8, 0x05C9), (0x088F, 0x088F), (0x0897, 0x0897), (0x0B53, 0x0B54),
    (0x0C5C, 0x0C5C), (0x0CDC, 0x0CDC), (0x0CF3, 0x0CF3), (0x0ECE, 0x0ECE), (0x1ACF, 0x1AF0), (0x1C89, 0x1C8A),
    (0x208F, 0x208F), (0x209D, 0x209F), (0xA7CB, 0xA7CF), (0xA7D2, 0xA7D2), (0xA7D4, 0xA7D4), (0xA7DA, 0xA7DD),
    (0xA7E2, 0xA7E2), (0xA7F1, 0xA7F1), (0xAB6C, 0xAB6D), (0x105C0, 0x105F3), (0x107BB, 0x107BF), (0x10940, 0x10959),
    (0x10D40, 0x10D65), (0x10D69, 0x10D6D), (0x10D6F, 0x10D85), (0x10EC2, 0x10EC7), (0x10ECB, 0x10ECF),
    (0x10ED9, 0x10EEE), (0x10EF0, 0x10EFF), (0x1123F, 0x11241), (0x11380, 0x11389), (0x1138B, 0x1138B),
    (0x1138E, 0x1138E), (0x11390, 0x113B5), (0x113B7, 0x113C0), (0x113C2, 0x113C2), (0x113C5, 0x113C5),
    (0x113C7, 0x113CA), (0x113CC, 0x113D3), (0x113E1, 0x113E2), (0x116D0, 0x116E3), (0x11B0A, 0x11B0A),
    (0x11B60, 0x11B67), (0x11BC0, 0x11BE0), (0x11BF0, 0x11BF9), (0x11DB0, 0x11DDB), (0x11DE0, 0x11DE9),
    (0x11DF0, 0x11DF1), (0x11F00, 0x11F10), (0x11F12, 0x11F3A), (0x11F3E, 0x11F42), (0x11F50, 0x11F5A),
    (0x1246F, 0x1246F), (0x12475, 0x1247F), (0x12550, 0x12686), (0x1342F, 0x1342F), (0x13440, 0x13455),
    (0x13460, 0x143FA), (0x16100, 0x16139), (0x16D40, 0x16D6C), (0x16D70, 0x16D79), (0x16EA0, 0x16EB8),
    (0x16EBB, 0x16ED3), (0x16FF2, 0x16FF6), (0x187F8, 0x187FF), (0x18CD6, 0x18CDA), (0x18CFF, 0x18CFF),
    (0x18D09, 0x18D20), (0x18D80, 0x18DF2), (0x18E00, 0x19191), (0x191A0, 0x191D2), (0x1B123, 0x1B128),
    (0x1B132, 0x1B132), (0x1B155, 0x1B155), (0x1B168, 0x1B168), (0x1CCF0, 0x1CCF9), (0x1D127, 0x1D128),
    (0x1D250, 0x1D252), (0x1D25B, 0x1D25C), (0x1D25F, 0x1D25F), (0x1D280, 0x1D281), (0x1D2C0, 0x1D2D3),
    (0x1D6A6, 0x1D6A6), (0x1DF1F, 0x1DF81), (0x1DF90, 0x1DF96), (0x1DFCD, 0x1DFFF), (0x1E030, 0x1E06D),
    (0x1E08F, 0x1E08F), (0x1E4D0, 0x1E4F9), (0x1E5D0, 0x1E5FA), (0x1E6C0, 0x1E6DE), (0x1E6E0, 0x1E6F5),
    (0x1E6FE, 0x1E6FF), (0x2B739, 0x2B73F), (0x2B81E, 0x2B81E), (0x2CEA2, 0x2CEAD), (0x2EBF0, 0x2EE5D),
    (0x31350, 0x33479), (0x3D000, 0x3FC3F),
)  # fmt: skip
SIGNS_SINCE_14: Final[Ranges] = (
    (0x1B4E, 0x1B4F), (0x1B7F, 0x1B7F), (0x20C1, 0x20C4), (0x2427, 0x2429), (0x2B96, 0x2B96), (0x2E60, 0x2E63),
    (0x2FFC, 0x2FFF), (0x31E4, 0x31E5), (0x31EF, 0x31EF), (0xFBC3, 0xFBD2), (0xFD90, 0xFD91), (0xFDC8, 0xFDCE),
    (0x10D6E, 0x10D6E), (0x10D8E, 0x10D8F), (0x10EC9, 0x10ECA), (0x10ED0, 0x10ED8), (0x113D4, 0x113D5),
    (0x113D7, 0x113D8), (0x11B00, 0x11B09), (0x11BE1, 0x11BE1), (0x11F43, 0x11F4F), (0x16D6D, 0x16D6F),
    (0x1CC00, 0x1CCEF), (0x1CCFA, 0x1CCFC), (0x1CD00, 0x1CEB3), (0x1CEBA, 0x1CED0), (0x1CED2, 0x1CED4),
    (0x1CEDD, 0x1CEFD), (0x1D1EB, 0x1D1FF), (0x1D253, 0x1D25A), (0x1D25D, 0x1D25E), (0x1D260, 0x1D27F),
    (0x1DB00, 0x1DB1C), (0x1E5FF, 0x1E5FF), (0x1FBCB, 0x1FBEF), (0x1FBFA, 0x1FBFA),
)  # fmt: skip
PLAIN_PUNCTUATION: Final = " .,;:'-_/@+()!?%&—"
SUBDIVISION_FLAGS: Final = frozenset(
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in code) + "\U000e007f"
    for code in ("gbeng", "gbsct", "gbwls")
)
_ZWNJ, _ZWJ, _VS15, _VS16, _KEYCAP = "\u200c", "\u200d", "\ufe0e", "\ufe0f", "\u20e3"
_TAGGED = re.compile("\U0001f3f4[\U000e0020-\U000e007f]+")


def _points(ranges: Ranges) -> frozenset[int]:
    return frozenset(point for first, last in ranges for point in range(first, last + 1))


def _of_category(first_letters: str) -> frozenset[int]:
    return frozenset(point for point in range(0x110000) if unicodedata.category(chr(point))[0] in first_letters)


_NOTHING_TO_SEE: Final = _points(DEFAULT_IGNORABLE) | _points(BLANK)
_LETTERS: Final = (_of_category("LMN") | _points(LETTERS_SINCE_14)) - _NOTHING_TO_SEE
_EMOJI: Final = _points(EMOJI)
_SIGNS: Final = (_of_category("PS") | _points(SIGNS_SINCE_14)) - _NOTHING_TO_SEE
_SEEN: Final = _LETTERS | _SIGNS | _EMOJI | frozenset(map(ord, " \u3000"))
_PLAIN: Final = _LETTERS | _EMOJI | frozenset(map(ord, PLAIN_PUNCTUATION))
_JOINING: Final = _LETTERS & _points(JOINING_BLOCKS) - _of_category("N")

_BARE: Final = _PLAIN | (_points(SYMBOL_BLOCKS) & _of_category("S"))


def is_seen(character: str) -> bool:
    """Whether the character draws something by itself, or is a space as wide as it looks."""
    return ord(character) in _SEEN


def is_plain_alone(character: str) -> bool:
    """A letter or mark of any script, a digit, an emoji, or one of the few punctuation marks that N-07 names."""
    return ord(character) in _PLAIN


def is_emoji(character: str) -> bool:
    return ord(character) in _EMOJI


def hidden_in(text: str) -> list[str]:
    """The characters of a text that cannot be seen and are no part of something that can, as `U+XXXX`."""
    if set(map(ord, text)) <= _SEEN:
        return []
    flags = [match.span() for match in _TAGGED.finditer(text) if match.group() in SUBDIVISION_FLAGS]
    in_flags = {at for span in flags for at in range(*span)}
    return [
        f"U+{ord(character):04X}"
        for at, character in enumerate(text)
        if ord(character) not in _SEEN and at not in in_flags and not _has_a_use(text, at)
    ]


def _has_a_use(text: str, at: int) -> bool:
    here, before, after = text[at], text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    if here in (_VS15, _VS16) and before:
        return is_emoji(before) or (here == _VS16 and before in "0123456789#*" and after == _KEYCAP)
    if here not in (_ZWNJ, _ZWJ) or not before or not after:
        return False
    return (ord(before) in _JOINING and ord(after) in _JOINING) or (
        here == _ZWJ and is_emoji(after) and _ends_emoji(text[:at])
    )


def _ends_emoji(text: str) -> bool:
    return is_emoji(text[-1]) or (text[-1] in (_VS15, _VS16) and len(text) > 1 and is_emoji(text[-2]))


def is_plain(text: str) -> bool:
    """N-07's plain one-line value, by these tables; with a joiner or a space at an end it may be quoted as well."""
    return may_stand_bare(text) and text[0] != " " and text[-1] != " " and not has_joiner(text) and _only(text, _PLAIN)


def may_stand_bare(text: str) -> bool:
    """What may be met without quotes: a plain value, or one with symbols of the blocks that emoji live in."""
    return 0 < len(text) <= 200 and _only(text, _BARE) and not hidden_in(text)


def has_joiner(text: str) -> bool:
    """Whether a joiner stands between letters: which scripts keep theirs is for the readable values to say."""
    return any(character in (_ZWNJ, _ZWJ) and not _ends_emoji(text[:at] or " ") for at, character in enumerate(text))


def _only(text: str, allowed: frozenset[int]) -> bool:
    points = set(map(ord, text))
    return points <= allowed or all(point in allowed for point in points & _SEEN)
