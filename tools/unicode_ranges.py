"""Writes src/charter/core/unicode.py: which characters are letters, which can be seen (needs `unicodedata2`)."""

from __future__ import annotations

import textwrap
from pathlib import Path

import unicodedata2 as ucd  # type: ignore[import-not-found,unused-ignore]

TARGET = Path(__file__).parent.parent / "src/charter/core/unicode.py"

# Default_Ignorable_Code_Point, and blanks that are letters or symbols by category.
IGNORABLE = [
    (0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x2800, 0x2800), (0x3164, 0x3164), (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFC), (0x13441, 0x13442), (0x1BCA0, 0x1BCA3), (0x1D159, 0x1D159),
    (0x1D173, 0x1D17A), (0x16FE4, 0x16FE4), (0xE0000, 0xE0FFF),
]  # fmt: skip
EMOJI = [
    (0x00A9, 0x00A9), (0x00AE, 0x00AE), (0x203C, 0x203C), (0x2049, 0x2049), (0x2122, 0x2122), (0x2139, 0x2139),
    (0x2194, 0x2199), (0x21A9, 0x21AA), (0x231A, 0x231B), (0x2328, 0x2328), (0x23CF, 0x23CF), (0x23E9, 0x23F3),
    (0x23F8, 0x23FA), (0x24C2, 0x24C2), (0x25AA, 0x25AB), (0x25B6, 0x25B6), (0x25C0, 0x25C0), (0x25FB, 0x25FE),
    (0x2388, 0x2388), (0x2600, 0x2605), (0x2607, 0x2612), (0x2614, 0x2685), (0x2690, 0x2705), (0x2708, 0x2712),
    (0x2714, 0x2714), (0x2716, 0x2716), (0x271D, 0x271D), (0x2721, 0x2721), (0x2728, 0x2728), (0x2733, 0x2734),
    (0x2744, 0x2744), (0x2747, 0x2747), (0x274C, 0x274C), (0x274E, 0x274E), (0x2753, 0x2755), (0x2757, 0x2757),
    (0x2763, 0x2767), (0x2795, 0x2797), (0x27A1, 0x27A1), (0x27B0, 0x27B0), (0x27BF, 0x27BF),
    (0x2934, 0x2935), (0x2B05, 0x2B07), (0x2B1B, 0x2B1C), (0x2B50, 0x2B50), (0x2B55, 0x2B55), (0x3030, 0x3030),
    (0x303D, 0x303D), (0x3297, 0x3297), (0x3299, 0x3299), (0x1F000, 0x1FAFF),
]  # fmt: skip
# Scripts whose letters need joiners: Arabic, Syriac, N'Ko, Mongolian, those of India and its neighbours.
JOINING = [
    (0x0620, 0x077F), (0x07CA, 0x07FF), (0x08A0, 0x08FF), (0x0900, 0x0DFF), (0x0F40, 0x0FBC), (0x1000, 0x109F),
    (0x1780, 0x17DD), (0x1820, 0x18AA), (0xFB50, 0xFDFF), (0xFE70, 0xFEFC),
]  # fmt: skip


def inside(point: int, ranges: list[tuple[int, int]]) -> bool:
    return any(first <= point <= last for first, last in ranges)


def ranges_of(wanted: str, within: list[tuple[int, int]] | None = None) -> list[tuple[int, int]]:
    """The runs of code points whose category starts with one of the letters of `wanted`, ignorables left out."""
    runs: list[tuple[int, int]] = []
    for point in range(0x110000):
        if ucd.category(chr(point))[0] not in wanted or inside(point, IGNORABLE):
            continue
        if within is not None and not inside(point, within):
            continue
        if runs and runs[-1][1] == point - 1:
            runs[-1] = (runs[-1][0], point)
        else:
            runs.append((point, point))
    return runs


def written(ranges: list[tuple[int, int]]) -> str:
    def one(point: int) -> str:
        return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"

    return "".join(one(a) if a == b else f"{one(a)}-{one(b)}" for a, b in ranges)


def literal(name: str, about: str, text: str) -> str:
    # Lines are cut between ranges, so a reader can find a block; the pieces join to one class.
    lines = textwrap.wrap(text.replace("\\", " \\").replace("- ", "-"), 104, break_long_words=False)
    body = "\n".join(f'    r"{line.replace(" ", "")}"' for line in lines)
    return f"# {about}\n{name} = (\n{body}\n)\n"


def main() -> None:
    TARGET.write_text(
        f'"""Character classes for regular expressions, from Unicode {ucd.unidata_version}: '
        'the same on every Python (made by tools/unicode_ranges.py)."""\n\n'
        + literal(
            "WORD", "letters, marks and numbers of every script, without invisible ones", written(ranges_of("LMN"))
        )
        + literal("SEEN", "punctuation and symbols, without invisible ones", written(ranges_of("PS")))
        + literal("EMOJI", "pictographs, reserved ones included", written(EMOJI))
        + literal("JOINING", "letters and marks of scripts that need joiners", written(ranges_of("LM", JOINING)))
    )


if __name__ == "__main__":
    main()
