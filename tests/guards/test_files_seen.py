"""N-08: which stretches of a file command its reader, and which only look so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from charter.guards.files import find_spans

from .sights import sights

pytestmark = pytest.mark.requirement("N-08", "N-07")


def seen(text: str) -> Iterator[str]:
    """Each span: its code, and the text that would be quarantined."""
    for span in find_spans(text):
        yield f"{span.code}: {text[span.start : span.end]}"


def test_the_spans_of_each_file_are_those_written_below_it() -> None:
    written, found = sights("files", seen)
    assert found == written
