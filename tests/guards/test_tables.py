"""A word table says the same whichever way it is read."""

from __future__ import annotations

import tomllib
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter.guards import tables

WORDS = files("charter.guards").joinpath("words")
PIECES = ["a = [", "b_2 = [", "]", "\n", '"x"', '"#y"', ",", " ", "# z\n", '"', "'q'", '"""', "\\", '""', "[t]", "1"]


@pytest.mark.parametrize("folder", ["disclosure", "override", "stance", "leak"])
def test_every_table_is_read_as_the_toml_reader_reads_it(folder: str) -> None:
    for file in WORDS.joinpath(folder).iterdir():
        text = file.read_text(encoding="utf-8")
        assert tables._LISTS.fullmatch(text), f"{file.name} is read the slow way"
        assert [*tables.parsed(text).items()] == [*tomllib.loads(text).items()]


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_what_is_no_list_of_words_is_left_to_the_toml_reader(text: str) -> None:
    try:
        wanted = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        with pytest.raises(tomllib.TOMLDecodeError):
            tables.parsed(text)
    else:
        assert tables.parsed(text) == wanted


@pytest.mark.parametrize("text", ['a = ["x"]\na = ["y"]\n', 'a = ["x" "y"]\n', 'a = ["x"', "a = [1]]"])
def test_what_is_wrong_is_an_error(text: str) -> None:
    with pytest.raises(tomllib.TOMLDecodeError):
        tables.parsed(text)
