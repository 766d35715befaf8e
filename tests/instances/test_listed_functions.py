"""Two-valued functions of a user's file as a family that query learners play."""

from pathlib import Path

import numpy as np
import pytest

from hardness.oracles import Budget
from hardness.runs import run
from hardness.runs.registry import parse_learner
from instances import parse

FILE = """
import numpy as np
d = 4
signs = np.random.default_rng(3).choice([-1, 1], (4, 16))
def functions_of(rows):
    return [lambda x, r=r: r[(x < 0) @ (1 << np.arange(4))] for r in rows]
fs = functions_of(signs)
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(FILE)


def test_factors_are_the_functions(file):
    family = parse("mine.py:fs")
    signs = np.random.default_rng(3).choice([-1, 1], (4, 16))
    assert (family.d, family.size, list(family.members())) == (5, 4, [(0,), (1,), (2,), (3,)])
    for i in range(4):
        assert np.array_equal(family.factor_table((i,)), signs[i])


@pytest.mark.parametrize("oracle", ["samples", "exact"])
@pytest.mark.parametrize("learner", ["queries", "pooled"])
def test_query_learners_play_them(file, learner, oracle):
    family = parse("mine.py:fs")
    found = run(parse_learner(learner), family.instance(1), Budget(), seed=1, oracle=oracle)
    assert found.secret_recovered
    assert found.queries >= 1
