import math

import numpy as np
import pytest

from hardness.report.figures import numbers
from hardness.upper.spectra import residue_spectrum
from instances import UsageError, parse, tokens
from tests.charts import said


@pytest.mark.parametrize("secret", ["binary", "ternary", "uniform", "uniform,h=2", "cbd,spread=3"])
@pytest.mark.parametrize("q", [8, 16])
def test_walsh_coefficients_contain_the_top_bits_of_odd_entries(secret, q):
    family = parse(f"lwr:n=3,q={q},p=2,secret={secret}")
    length = family.length
    for seed in range(5):
        s = family.instance(seed).hidden.secret
        top = sum(1 << (j + 1) * length - 1 for j, v in enumerate(s) if v % 2)
        found = residue_spectrum(family, s)
        assert (found.sets & top == top).all()
        assert len(found.sets) > 0
        assert found.degrees.least >= top.bit_count()
        if secret == "binary":  # and the product of the top bits is there
            assert found.degrees.least == top.bit_count()


def test_a_spectrum_is_that_of_the_formula():
    from instances import tokens

    family = parse("lwe:n=2,q=5,sigma=0.5,bits=4")
    secret = family.instance(3).hidden.secret
    x = np.ones((1 << family.d - 1, 2, family.d), np.int8)
    x[:, 1, 1:] = tokens.unpack(np.arange(len(x), dtype=np.uint64)[:, None], family.d - 1)
    x[:, 1, 0] = -1
    values = family.mean(secret, x)[:, 0, 0]
    found = residue_spectrum(family, secret)
    assert found.norm == pytest.approx((values**2).mean())
    assert found.coefficient((1, 5)) == pytest.approx((values * x[:, 1, 1] * x[:, 1, 5]).mean())


def test_the_figure_draws_its_numbers():
    data = numbers("walsh", parse("lwr:n=4,q=16,p=2,secret=binary,h=3"))
    assert data["odd"] == 3
    assert data["weight"][:3] == [0.0] * 3
    assert sum(data["weight"]) == pytest.approx(1) == sum(data["random"])
    assert "odd entries of the secret" in said("walsh", data)
    with pytest.raises(UsageError, match="given"):
        numbers("walsh", parse("nice:m=2,k=2,d=6"))


@pytest.mark.parametrize("beta", [4, 8, 40])
def test_layers_may_miss_by_what_their_heads_are_not_saturated(beta):
    family = parse(f"lwr:n=2,q=8,p=2,secret=ternary,beta={beta}")
    layer = family.layer((1, -1))
    total = np.abs(layer.w).sum()
    allowed = family.layer_tolerance(layer)
    assert allowed == pytest.approx(1e-12 + (1 - math.tanh(beta / 2)) * total, rel=1e-9, abs=0)
    x = tokens.unpack(family.instance(0).examples(0, 500).words, family.d)
    error = np.abs(layer(x) - family.mean((1, -1), x)).max()
    assert error <= allowed
    assert beta == 40 or error > allowed / (2 * total)
    exact = parse(f"lwr:n=2,q=8,p=2,secret=ternary,beta={beta},heads=exact")
    layer = exact.layer((1, -1))
    assert exact.layer_tolerance(layer) == 1e-12 * max(1.0, np.abs(layer.w).sum() / 200)
