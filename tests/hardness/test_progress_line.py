"""The progress of a sweep in a line that fits the terminal."""

import pytest

from hardness.report.sweep import outcomes_table, progress_line
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


def test_no_time_left_is_shown_of_climbs_and_of_specs_that_nothing_is_known_of():
    counts = JobCounts()
    for spec in ("small", "large"):
        counts.count("a", 5, 0, spec)
    for _ in range(3):
        counts.add("a", 1.0, spec="small")
        assert counts.at(3.0).remaining is None
    for _ in range(3):
        counts.add("a", 9.0, spec="large")
    assert counts.at(30.0).remaining == 20
    counts.open_ended.add(("climb", "a"))
    assert counts.at(10.0).remaining is None


def test_a_name_with_line_breaks_takes_one_line():
    """A learner from a file may be called anything: its name is data."""
    name = "mine.py" + chr(10) + "trivial" + chr(27)
    shown = outcomes_table({name: {"solved": 1}})
    assert len(shown.splitlines()) == 2
    assert "mine.py\\ntrivial" in shown
    line = progress_line(Progress(planned={name: 2}, done={}, failed={}, elapsed=1, remaining=None))
    assert len(line.splitlines()) == 1
