"""The clock of the package, and the environment variable that lets it run at another pace."""

import subprocess
import sys

import pytest

from hardness.oracles import Budget, Meter, Spent, clock


@pytest.mark.clocks
def test_a_budget_of_seconds_goes_by_the_clock(ticks):
    ticks(1.0)
    meter = Meter(Budget(seconds=2.5))
    meter.require_time()
    assert meter.has_time()
    with pytest.raises(Spent, match="seconds"):
        meter.require_time()


@pytest.mark.clocks
@pytest.mark.parametrize("pace", [0.125, 8.0])
def test_its_pace_holds_for_processes_that_are_started(pace):
    standing = "import time; time.monotonic = lambda: 3.0"
    code = f"{standing}; from hardness.oracles import clock; print(clock.now())"
    found = subprocess.check_output(
        [sys.executable, "-c", code], env={clock.CLOCK: f"{pace}"}, text=True
    )
    assert float(found) == 3 * pace


@pytest.mark.clocks
@pytest.mark.parametrize("given", ["", "fast", "0", "-1", "inf", "1e9"])
def test_a_pace_that_is_none_is_one_line(hardness, monkeypatch, given):
    monkeypatch.setenv(clock.CLOCK, given)
    clock.pace.cache_clear()
    found = hardness("learn", "trivial", "parity:d=8,m=2")
    clock.pace.cache_clear()
    assert (found.code, found.out) == (2, "")
    found.one_line(clock.CLOCK)
