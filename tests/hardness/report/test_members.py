"""What `certify` says of members that their author may not have meant."""

from pathlib import Path

import pytest

HEAD = """import itertools
import numpy as np
d = 6
def both(x, i, j): return (x[:, i] > 0) & (x[:, j] > 0)
pairs = list(itertools.combinations(range(d), 2))
"""
SIGNS = "np.where(both(x, i, j), 1, -1)"


def certified(hardness, functions, *more):
    Path("mine.py").write_text(f"{HEAD}fs = {functions}\n")
    return hardness("certify", "mine.py:fs", *more)


def test_a_loop_variable_that_all_functions_share_is_named(hardness):
    found = certified(hardness, f"[lambda x: {SIGNS} for i, j in pairs]")
    found.one_line("all members are the same function, up to its sign and size: does a lambda")
    assert "lambda" not in certified(hardness, "[lambda x: x[:, 0]]").err


def test_equal_members_are_counted(hardness):
    ordered = f"[lambda x, i=i, j=j: {SIGNS} for i, j in pairs + [(b, a) for a, b in pairs]]"
    found = certified(hardness, ordered, "--gamma", "1/2")
    assert "15 of the 30 members equal an earlier one" in found.out
    assert "equal an earlier" not in certified(hardness, ordered.replace(" + [(b", " or [(b")).out


@pytest.mark.parametrize("centred", [False, True])
def test_values_of_0_and_1_are_told(hardness, centred):
    bits = "[lambda x, i=i, j=j: 1 - both(x, i, j) for i, j in pairs]"
    more = ("--centred",) if centred else ()
    found = certified(hardness, bits, *more)
    said = " ".join((found.out + found.err).split())
    assert found.code == (0 if centred else 1)
    assert "the values are 0 and 1: give 1 - 2 v in place of v" in said


def test_a_tie_is_shown_at_its_point(hardness):
    found = certified(hardness, "[lambda x, i=i: np.sign(x[:, i] - x[:, i - 1]) for i in range(d)]")
    assert "f0 has the value 0 at the point ++++++" in found.out
    assert (
        "has the value" not in certified(hardness, "[lambda x, i=i: x[:, i] for i in (0, 1)]").out
    )


def test_a_gamma_below_the_average_is_told(hardness):
    signs = f"[lambda x, i=i, j=j: {SIGNS} for i, j in pairs]"
    said = " ".join(certified(hardness, signs).out.split())
    assert "0 since gamma = 1/20 is below the average correlation of all members" in said
    assert "since gamma" not in certified(hardness, signs, "--gamma", "1").out


def test_what_out_holds_is_told(hardness):
    lines = [
        hardness("certify", "parity:d=8,m=3", "--out", f"c.{end}").out.splitlines()[-1]
        for end in ("json", "tex")
    ]
    assert lines == [
        "written: c.json, which `hardness check` reads",
        "written: c.tex, a table; `hardness check` reads what --out FILE.json writes",
    ]


def test_a_game_with_functions_says_that_its_target_is_another(hardness):
    Path("mine.py").write_text(f"{HEAD}fs = [lambda x, i=i, j=j: {SIGNS} for i, j in pairs]\n")
    game = ("--oracle", "adversary", "--tau", "0.1")
    told = "another target than that of `certify`"
    assert told in " ".join(hardness("learn", "pooled", "mine.py:fs", *game).out.split())
    parity = hardness("learn", "pooled", "parity:d=8,m=2", *game).out
    assert told not in " ".join(parity.split())
