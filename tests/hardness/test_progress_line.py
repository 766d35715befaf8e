"""The progress of a sweep in a line that fits the terminal."""

import pytest

from hardness.report.progress import progress_line
from hardness.runs.rows import Progress
from hardness.sweep.drive import Tally

MANY = {f"learner-{i}:degree={i}": 1000 for i in range(9)}
AT = Progress(planned=MANY, done={}, failed={"learner-1": 7}, elapsed=7200.0, remaining=99999.0)


@pytest.mark.parametrize("width", [20, 60, 79, 100, 120])
def test_it_never_wraps(width):
    line = progress_line(AT, width)
    assert len(line) <= width
    assert line.startswith("0 of 9000 (0 %)")


def test_it_names_what_there_is_room_for():
    assert "learner-3 0/1000, 5 more; 2 h 0 min so far" in progress_line(AT)
    assert "learner-" not in progress_line(AT, 70)


def test_an_estimate_that_is_late_is_not_shown():
    tally = Tally(slots=1)
    tally.count("gram", 2, 0)
    tally.add("gram", 0.01)  # the check of layers, which says nothing of blocks
    assert "left" in progress_line(tally.at(1.0, quiet=0.5))
    assert "left" not in progress_line(tally.at(9.0, quiet=8.5))
    tally.add("gram", 9.0)
    assert "about 0 s left" in progress_line(tally.at(20.0, quiet=10.0))
