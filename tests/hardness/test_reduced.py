import numpy as np
import pytest

from hardness.upper.reduced import predictor
from instances import UsageError, parse
from instances.reduced import reduce

SPECS = [
    "parity:d=10,m=3,noise=0.1",
    "profile:g=majority,d=70,m=3",
    "profile:g=parity+0.1*majority,d=9,m=2,noise=0.1",
    "lwr:n=5,q=16,p=4,secret=ternary,h=2",
    "lwr:n=4,q=16,p=2,secret=ternary,h=2,labels=layer",
    "lwe:n=3,q=17,sigma=1",
    "lpn:n=70,h=3,noise=0.1",
    "window:n=3,q=8,parts=4",
]


@pytest.mark.parametrize("spec", SPECS)
def test_the_reduced_view_is_the_dense_one(spec):
    """z and the factor less what is known, recomputed from dense tokens and labels alone."""
    instance = parse(spec).instance(3)
    examples = instance.examples(0, 300)
    found = reduce(examples)
    x, y = examples.x.astype(float), examples.y
    z = x[:, 0] * x[:, 1]
    rows = z[:, 0] < 0
    assert len(found) == rows.sum() > 100
    assert (found.z()[:, 1:] == z[rows, 1:]).all()
    assert (found.z()[:, 0] == 1).all()
    rest = (y - instance.family.known(examples.x))[:, :, 0] * x[:, :, 0]
    assert np.abs(rest[~rows]).max() < 1e-12
    for row in (0, 1):
        np.testing.assert_allclose(found.values, rest[rows, row], rtol=0, atol=1e-12)
    assert (found.codes == examples.codes[rows]).all()


@pytest.mark.parametrize("spec", SPECS)
def test_a_predictor_of_the_true_surprise_is_the_member(spec):
    instance = parse(spec).instance(3)
    family, secret = instance.family, instance.hidden.secret
    x = instance.examples(0, 200).x

    def surprise(z):
        """The member's own factor less the known one, on tokens that z stands for."""
        tokens = np.ones((len(z), 2, family.d), np.int8)
        tokens[:, 1] = z
        tokens[:, 1, 0] = -1
        return (family.mean(secret, tokens) - family.known(tokens))[:, 0, 0]

    np.testing.assert_allclose(
        predictor(family, surprise)(x), family.mean(secret, x), rtol=0, atol=1e-12
    )


def test_families_without_a_factor_are_refused():
    family = parse("nice:m=2,k=2,d=6")
    with pytest.raises(UsageError, match="nice given: examples of packed tokens are needed"):
        reduce(family.instance(0).examples(0, 5))
