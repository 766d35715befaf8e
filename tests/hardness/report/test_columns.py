"""Tables and texts within a width: nothing is lost, nothing is cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardness.report.columns import folded, taken
from hardness.report.text import laid_out, table

WORDS = st.text("ab1,:=[] 格é", min_size=1, max_size=60).map(lambda t: " ".join(t.split()) or "-")


@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=4), st.integers(20, 90))
def test_a_table_loses_nothing(rows, width):
    header = ["name", "what it is", "n"]
    shown = table(header, [list(row) for row in rows], width=width)
    given_words = sorted("".join(" ".join([*header, *(c for row in rows for c in row)]).split()))
    assert sorted("".join(laid_out(shown, width).split())) == given_words


def test_columns_are_those_that_are_seen():
    shown = table(["name", "n"], [["格子", "1"], ["e\u0301", "22"]])
    assert [taken(line) for line in shown.split("\n")] == [8, 8, 8]


def test_a_first_cell_that_is_too_wide_stands_alone():
    path = "a/very/long/path/of/somebody/learner.py:Learner"
    made = table(["learner", "runs", "ended"], [[path, "10", "3 solved"]], width=50)
    shown = laid_out(made, 50).split("\n")
    assert shown[1] == path
    assert shown[2].split() == ["10", "3", "solved"]
    assert max(map(taken, shown)) <= 50


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("details  " + "word " * 8, ["details  word word", "         word word"]),
        ("  FLAG " + "word " * 8, ["  FLAG word word", "    word word word"]),
        ("try `a b c d e f g` or so on", ["try `a b c d e f g`", "  or so on"]),
        ("\x1fa         1  2  3  4  5  6", ["\x1fa         1  2  3  4  5  6"]),
        ("x" * 40, ["x" * 40]),
    ],
)
def test_long_lines_hang_below_their_label(line, lines):
    assert folded(line, 20).split("\n")[: len(lines)] == lines
