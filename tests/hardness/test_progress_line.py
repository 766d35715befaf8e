"""The progress of a sweep in a line that fits the terminal."""

import pytest

from hardness.report.progress import progress_line
from hardness.runs.rows import Progress
from hardness.sweep.drive import JobCounts

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


def test_what_is_left_takes_as_long_a_job_as_what_was_done():
    counts = JobCounts()
    counts.count("gram", 3, 0)
    assert "left" not in progress_line(counts.at(1.0))
    counts.add("gram", 0.01)
    assert "about 18 s left" in progress_line(counts.at(9.0))
