"""What signs of examples tell about a hidden set, beside the ratio of chances written out."""

import math

import numpy as np
import pytest

from hardness.runs.claim import labels_evidence
from instances import parse
from instances.coded import reduce


@pytest.mark.parametrize(
    ("spec", "mean"),  # of a member's value as a sign
    [
        ("parity:d=12,m=2,noise=0.2", 0),
        ("parity:d=12,m=3", 0),
        ("profile:g=threshold(1),d=9,m=3", -3 / 4),
        ("profile:g=threshold(1),d=9,m=3,noise=0.1", -3 / 4),
    ],
)
def test_evidence_is_the_logarithm_of_a_ratio_of_chances(spec, mean):
    instance = parse(spec).instance(0)
    family, secret = instance.family, instance.hidden.secret
    seen = reduce(instance.examples(0, 60))
    values = np.array([1 if v == max(family.values) else -1 for v in family.values])
    fade, signs = float(1 - 2 * family.noise), np.sign(seen.values)
    value = values[(seen.z()[:, list(secret)] < 0).sum(axis=1)]
    chances = (1 + fade * value * signs) / (1 + fade * mean * signs)
    assert len(seen) > 15
    assert labels_evidence(seen, family, secret) == pytest.approx(np.log2(chances).sum())
    if not family.noise:  # a set that one label contradicts
        others = [s for s in range(1, family.d) if s not in secret][: family.m]
        assert labels_evidence(seen, family, tuple(others)) == -math.inf
