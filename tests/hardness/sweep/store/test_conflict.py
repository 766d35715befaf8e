"""Of two results of one key, which stands."""

from dataclasses import replace

import pytest

from hardness.sweep.store.conflict import Conflict, decide
from hardness.upper import Outcome
from tests.hardness.sweep.store.making import made_run

SOLVED = made_run(1)
RAISED = replace(SOLVED, outcome=Outcome.RAISED, risk=None)
CRASHED = replace(SOLVED, outcome=Outcome.CRASHED, risk=None)
LATE = replace(SOLVED, outcome=Outcome.SECONDS_SPENT)


@pytest.mark.parametrize(
    ("old", "new", "takes_its_place"),
    [
        (RAISED, SOLVED, True),
        (RAISED, CRASHED, False),
        (RAISED, LATE, False),
        (SOLVED, RAISED, False),
        (SOLVED, CRASHED, False),
        (SOLVED, LATE, False),
        (SOLVED, SOLVED, False),
        (CRASHED, SOLVED, True),
        (CRASHED, RAISED, True),
        (CRASHED, CRASHED, True),
        (LATE, SOLVED, True),
    ],
)
def test_which_of_two_stands(old, new, takes_its_place):
    assert decide(old, new) is takes_its_place


def test_results_that_contradict_each_other():
    other = replace(SOLVED, secret_recovered=None)
    with pytest.raises(Conflict, match="secret_recovered"):
        decide(SOLVED, other)
