"""The memory of a run is that of the run."""

import sys

import numpy as np
import pytest

from hardness.oracles import Budget
from hardness.runs import run
from hardness.upper import parse_learner
from instances.spec import parse


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a peak cannot start again")
def test_the_peak_of_a_run_does_not_hold_what_was_freed_before_it():
    instance, learner = parse("parity:d=8,m=2").instance(0), parse_learner("trivial")
    block = np.ones(1 << 25)  # 256 MiB
    with_it = run(learner, instance, Budget(examples=100), seed=0).usage.peak_bytes
    del block
    after = run(learner, instance, Budget(examples=100), seed=0).usage.peak_bytes
    assert after < with_it - (1 << 27)
