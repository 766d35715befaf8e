"""Tables and texts within a width: nothing is lost, nothing is cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hardness
from hardness.report.text import display_width, laid_out, table

WORDS = st.text("ab1,:=[] 格é", min_size=1, max_size=60).map(lambda t: " ".join(t.split()) or "-")


@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=4), st.integers(20, 90))
def test_a_table_loses_nothing(rows, width):
    header = ["name", "what it is", "n"]
    shown = table(header, [list(row) for row in rows], width=width)
    given_words = sorted("".join(" ".join([*header, *(c for row in rows for c in row)]).split()))
    assert sorted("".join(laid_out(shown, width).split())) == given_words


def test_columns_are_those_that_are_seen():
    shown = table(["name", "n"], [["格子", "1"], ["e\u0301", "22"]])
    assert [display_width(line) for line in shown.split("\n")] == [8, 8, 8]


def test_a_cell_that_is_too_wide_is_filled():
    path = "a/very/long/path/of/somebody/learner.py:Learner"
    made = table(["learner", "runs", "ended"], [[path, "10", "3 solved"]], width=50)
    shown = laid_out(made, 50).split("\n")
    assert max(map(display_width, shown)) <= 50
    assert "".join(line.split()[0] for line in shown[1:]) == path
    assert shown[1].split()[1:] == ["10", "3", "solved"]


def test_a_text_fits_the_width_that_it_is_asked_for():
    shown = hardness.certify("parity:d=8,m=3").text(60)
    assert max(map(display_width, shown.split("\n"))) <= 60


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("details  " + "word " * 8, ["details  word word", "         word word"]),
        ("  FLAG " + "word " * 8, ["  FLAG word word", "    word word word"]),
        ("try `a b c d e f g` or so on", ["try `a b c d e f g`", "  or so on"]),
        ("x" * 40, ["x" * 40]),
    ],
)
def test_long_lines_hang_below_their_label(line, lines):
    assert laid_out(line, 20).split("\n")[: len(lines)] == lines
