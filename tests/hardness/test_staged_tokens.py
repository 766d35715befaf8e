"""The provable learner on tokens of other laws: what is whitened, and what is said of the rest."""

from dataclasses import replace

import numpy as np
import pytest

from hardness.oracles import Budget
from hardness.runs import run
from hardness.upper import parse_learner
from hardness.upper.staged import Data, StageReport, agreement, constraints, diagnose, span
from hardness.upper.staged.data import repeated
from hardness.upper.staged.diagnosis import HoldOut
from hardness.upper.staged.whiten import Whitening
from instances import AttentionLayer, parse
from instances.heads import Heads
from instances.teacher import teach
from instances.tokenlaw import given_law, law_of

D = 6
RNG = np.random.default_rng(3)
TURN = np.linalg.qr(RNG.normal(size=(D, D)))[0]
UNEVEN = (TURN * np.geomspace(0.05, 5.0, D)) @ TURN.T  # of condition 100
WORDS = RNG.normal(size=(40, D))
OFTEN = 1 / np.arange(1, 41) / (1 / np.arange(1, 41)).sum()
LAWS = {
    "uneven": given_law({"covariance": UNEVEN}, D),
    "uneven with a mean": given_law({"covariance": UNEVEN, "mean": np.full(D, 0.5)}, D),
    "positions": given_law({"positions": RNG.normal(size=(2, D))}, D),
    "words": given_law({"embedding": WORDS}, D),
    "frequent words": given_law({"embedding": WORDS, "frequencies": OFTEN}, D),
    "thin": given_law({"covariance": TURN[:, :4] @ TURN[:, :4].T}, D),
    "constant": replace(law_of("gaussian", D - 1), constant=True),
}


def layer(seed=0, d=D):
    return parse(f"nice:m=2,k=2,d={d}").instance(seed).layer()


@pytest.mark.parametrize("law", sorted(set(LAWS) - {"uneven with a mean"}))
def test_the_stages_find_the_heads_on_tokens_of_other_laws(law):
    instance = teach(Heads.of(layer()), LAWS[law])
    found = run(parse_learner("staged"), instance, Budget(examples=30_000))
    assert found.passed
    truth = found.details["truth"]
    assert truth["spare"] == []
    assert max(truth["theta_errors"] + truth["w_errors"]) < 1e-6
    assert np.abs(found.layer(instance.examples(0, 9).x) - instance.examples(0, 9).y).max() < 1e-6


@pytest.mark.parametrize("law", ["uneven", "uneven with a mean", "thin"])
def test_whitening_is_an_equivalence_of_layers(law):
    x = teach(Heads.of(layer()), LAWS[law]).examples(0, 2000).x
    found = Whitening.of(x)
    assert found.condition == pytest.approx(100, rel=0.5) or law != "uneven"
    assert found.unseen == (2 if law == "thin" else 0)
    one = AttentionLayer(theta=RNG.normal(size=(3, D, D)), w=RNG.normal(size=(3, D, D)))
    z = found.tokens(x)
    assert np.allclose(found.back(one)(x), one(z), atol=1e-10)
    if found.root is not None:
        assert np.allclose(z @ found.root, x)
        again = Whitening.of(z)  # nothing is left to whiten
        assert again.root is None
        assert again.condition < 1.01


@pytest.mark.parametrize("law", ["boolean", "gaussian"])
@pytest.mark.parametrize("d", [4, 16])
def test_standard_tokens_are_left_as_they_are(law, d):
    for seed in range(5):
        instance = teach(Heads.of(layer(d=d)), law_of(law, d), seed=seed)
        found = Whitening.of(np.asarray(instance.examples(0, 640).x, float))
        assert found.root is None
        assert found.standard or d == 4  # where signs repeat


def test_no_row_whose_tokens_coincide_and_no_example_twice():
    x = WORDS[RNG.integers(0, 6, size=(600, 2))]
    data = Data(x=x, y=layer()(x))
    assert len(x) - repeated(x).sum() == 36
    assert (~repeated(x @ UNEVEN)).sum() == 36
    w = layer().w.sum(axis=0)
    with pytest.raises(Exception, match="attend to all tokens"):
        constraints(agreement(w, data.cut(0, 20)), data.cut(0, 20))
    found = constraints(agreement(w, data), data)
    assert len(found) <= 30  # pairs of different words
    assert (np.abs(found.right).max(axis=1) > 0.01).all()


def test_directions_that_no_token_has_are_none_of_the_span():
    x = RNG.normal(size=(4000, 2, 4)) @ TURN[:, :4].T
    data = Data(x=x, y=layer()(x))
    along = span(constraints(agreement(layer().w.sum(axis=0), data), data), data)
    left = TURN[:, :4] @ TURN[:, :4].T
    assert np.allclose(left @ along.directions[0] @ left, along.directions[0])
    assert along.heads == 2
    assert along.gap > 2


def test_a_mean_is_named_where_nothing_was_found():
    x = RNG.normal(size=(500, 2, D)) + 9 * TURN[0]
    measures = Whitening.of(x).measures
    assert measures["mean"] == pytest.approx(81 / (81 + D), rel=0.02)
    report = StageReport(name="tokens", seconds=0, examples=500, rows=0, measures=measures)
    lost = diagnose([report], HoldOut(error=0.5, upper=0.6), k=2)
    assert {one.name for one in lost if one.flagged} == {"mean of the tokens", "hold-out error"}
    won = diagnose([report], HoldOut(error=1e-9, upper=1e-8), k=2)
    assert [one.name for one in won if one.moot] == ["mean of the tokens"]
    moments = replace(report, name="moment", measures={"mean": 1.0})
    assert "mean of the tokens" not in {one.name for one in diagnose([moments], HoldOut(), k=2)}
