"""What signs of examples tell about a hidden set, beside the ratio of chances written out."""

import numpy as np
import pytest

from hardness.upper.signs import signs
from instances import parse, tokens


@pytest.mark.parametrize(
    ("spec", "mean"),  # of a member's value as a sign
    [
        ("parity:d=12,m=2,noise=0.2", 0),
        ("parity:d=12,m=3", 0),
        ("profile:g=threshold(1),d=9,m=3", -3 / 4),
    ],
)
def test_evidence_is_the_logarithm_of_a_ratio_of_chances(spec, mean):
    """Its mean over coins of 2^evidence is 1, which is what makes belief rare among them."""
    instance = parse(spec).instance(0)
    family, secret = instance.family, instance.hidden.secret
    seen = signs(instance.examples(0, 40))
    values = np.array([1 if v == max(family.values) else -1 for v in family.values])
    fade = float(1 - 2 * family.noise)
    z = tokens.unpack(seen.words, family.d)
    value = values[(z[:, list(secret)] < 0).sum(axis=1)]
    chances = (1 + fade * value * seen.signs) / (1 + fade * mean * seen.signs)
    assert seen.evidence(secret) == pytest.approx(np.log2(chances).sum())
    assert len(seen) > 10
