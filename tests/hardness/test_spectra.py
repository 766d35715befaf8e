import itertools
import json

import numpy as np
import pytest

from hardness.bounds.leap import leap, least_degree, weights
from hardness.learners.reduced import predictor
from hardness.learners.spectra import factor, learned, member_spectrum, spectrum
from hardness.oracles import Budget
from hardness.runs import learn_once, spectra
from hardness.runs.registry import parse_learner
from instances import TooLarge, UsageError, parse, tokens, write_folder
from instances.symmetric import to_float
from tests.conftest import every_token

SPECS = [
    "parity:d=7,m=1",
    "parity:d=9,m=4",
    "parity:d=8,m=3,noise=0.1",
    "profile:g=majority,d=9,m=3",
    "profile:g=mod(3),d=8,m=5",
    "profile:g=[0,1,4,9,16],d=8,m=4,noise=0.2",
    "profile:g=[1.1,-0.9,1.1,-1.1,0.9,-1.1],d=9,m=5",
]


def subsets(n):
    return [s for k in range(n + 1) for s in itertools.combinations(range(1, n + 1), k)]


def signs(d):
    """All z with z_0 = -1, in the order of a table: (2^(d-1), d)."""
    z = tokens.unpack(np.arange(2 ** (d - 1), dtype=np.uint64)[:, None] << np.uint64(1), d)
    z[:, 0] = -1
    return z


@pytest.mark.parametrize("spec", SPECS)
def test_a_members_spectrum_is_its_closed_form(spec):
    family = parse(spec)
    secret = family.instance(3).hidden.secret
    closed = member_spectrum(family, secret)
    table = factor(lambda x: family.mean(secret, x), family.d).table
    walsh = spectrum(table)
    assert np.abs(walsh.coefficients - closed.coefficients).max() < 1e-12
    assert abs(closed.norm - (table**2).mean()) < 1e-12  # Parseval
    for subset in subsets(family.d - 1):
        if not family.noise:
            inside = set(subset) <= set(secret)
            value = to_float(family.fourier[len(subset)]) if inside else 0.0
            assert closed.coefficient(subset) == value
        coefficient = float(2 * family.coefficient(secret, subset))
        assert closed.coefficient(subset) == pytest.approx(coefficient, abs=1e-15)
    support = np.array([sum(1 << j for j in s) for s, _ in closed.top(1 << family.d)])
    exponent = least_degree(weights(family.fourier))
    assert leap(support) == exponent == closed.information_exponent


@pytest.mark.parametrize("spec", SPECS)
def test_the_layer_has_the_spectrum_of_the_formula(spec):
    family = parse(spec)
    secret = family.instance(0).hidden.secret
    made = factor(family.layer(secret), family.d)
    assert made.draws is None
    assert made.beyond < 1e-20  # a member's factor is a function of z
    label = factor(lambda x: family.label(secret, x), family.d).table
    assert np.abs(made.table - label).max() < 1e-11


def test_a_spectrum_is_its_definition():
    values = np.random.default_rng(0).normal(size=32)
    found = spectrum(values)
    z = signs(6)
    every = {s: float((values * z[:, list(s)].prod(axis=1)).mean()) for s in subsets(5)}
    for subset, value in every.items():
        assert found.coefficient(subset) == pytest.approx(value, abs=1e-14)
    weights = [sum(v**2 for s, v in every.items() if len(s) == k) for k in range(6)]
    assert found.weights == pytest.approx(weights)
    assert found.norm == pytest.approx((values**2).mean())
    assert found.degrees.mean == pytest.approx(
        sum(k * w for k, w in enumerate(weights)) / sum(weights)
    )
    influences = [sum(v**2 for s, v in every.items() if j in s) for j in range(1, 6)]
    assert found.influences == pytest.approx(influences)
    # Influence is half the mean square of the change when one coordinate is flipped, halved again.
    flipped = values.reshape(2, 16)[::-1].reshape(32)
    assert found.influences[4] == pytest.approx(((values - flipped) ** 2).mean() / 4)
    top = sorted(every.items(), key=lambda item: -abs(item[1]))[:7]
    assert [s for s, _ in found.top(7)] == [s for s, _ in top]
    assert len(found.top(1000)) == 32


def test_zero_and_constants_have_no_degrees_to_speak_of():
    zero = spectrum(np.zeros(8))
    assert (zero.degrees, zero.information_exponent, zero.top(3)) == (None, None, [])
    constant = spectrum(np.full(8, 2.0))
    assert constant.degrees.highest == 0
    assert constant.information_exponent is None
    assert constant.top(3) == [((), 2.0)]


def uneven(x):
    """A prediction whose factor depends on X_1: mean z_1 over X_1, variance 1/4."""
    out = np.zeros(x.shape)
    out[:, 0, 0] = x[:, 0, 0] * (x[:, 0, 1] * x[:, 1, 1] + x[:, 0, 2] / 2.0)
    return out


def test_draws_are_unbiased_and_say_what_they_add():
    whole = factor(uneven, 7)
    assert np.abs(whole.table - signs(7)[:, 1]).max() < 1e-15
    assert (whole.beyond, whole.surplus, whole.draws) == (pytest.approx(0.25), 0.0, None)
    found = [factor(uneven, 7, draws=4, seed=seed) for seed in range(40)]
    assert np.mean([f.beyond for f in found]) == pytest.approx(0.25, rel=0.05)
    added = np.mean([(f.table**2).mean() for f in found]) - 1
    assert added == pytest.approx(np.mean([f.surplus for f in found]), abs=0.02)
    assert np.abs(np.mean([f.table for f in found], axis=0) - whole.table).max() < 0.2


def test_a_hypothesis_distance_is_its_mean_square_error():
    """On open tokens the error splits into that of the table and what no table shows."""
    family = parse("profile:g=majority,d=5,m=3")
    instance = family.instance(0)
    hypothesis, _ = learn_once(parse_learner("student:steps=30,batch=32"), instance, Budget())
    made = factor(hypothesis.predict, 5)
    found = learned([spectrum(made.table)], [member_spectrum(family, instance.hidden.secret)])
    words = every_token(5)
    x = tokens.unpack(words[family.open(words)], 5)
    errors = hypothesis.predict(x)[:, 0, 0] - family.label(instance.hidden.secret, x)[:, 0, 0]
    assert found.distance + made.beyond == pytest.approx((errors**2).mean(), rel=1e-9)
    assert made.beyond > 1e-6
    by_weights = spectrum(made.table).norm + 1 - 2 * found.correlation
    assert found.distance == pytest.approx(by_weights, rel=1e-9)


def test_lowdegree_learns_the_low_degrees_and_nothing_above():
    instance = parse("profile:g=majority,d=10,m=3").instance(1)
    found = spectra(instance, parse_learner("lowdegree:degree=1,oversample=200"))
    part, residual = found.attempt.learned.part, found.attempt.learned.residual
    assert part[1] == pytest.approx(1, abs=0.05)
    assert abs(part[3] - found.known.part[3]) < 1e-12  # what everyone knows, and no more
    assert residual[3] == pytest.approx(0.25 * (1 - found.known.part[3]))
    assert np.isnan(part[[0, 2, 4]]).all()
    assert found.attempt.beyond < 1e-20


def test_what_everyone_knows_is_the_share_of_members():
    family = parse("profile:g=majority,d=10,m=3")
    found = spectra(family.instance(0))
    assert found.known.part[1] == pytest.approx(3 / 9)
    assert found.known.part[3] == pytest.approx(1 / 84)
    assert found.attempt is None
    parity = spectra(parse("parity:d=10,m=3").instance(0))
    assert parity.known.correlation == 0


def test_out_of_range_is_refused():
    family = parse("parity:d=28,m=3")
    for refused in (
        lambda: factor(family.known, 28),
        lambda: member_spectrum(family, (1, 2, 3)),
        lambda: spectra(family.instance(0)),
        lambda: spectra(family.instance(0), parse_learner("student")),
    ):
        with pytest.raises(UsageError, match=r"2\^27 Walsh coefficients, and at most 2\^26"):
            refused()
    for draws in (1, 5000):
        with pytest.raises(UsageError, match=f"draws={draws}"):
            factor(uneven, 5, draws=draws)
    with pytest.raises(UsageError, match="at least 2"):
        factor(uneven, 1)
    with pytest.raises(UsageError, match="rows, 2"):
        spectrum(np.zeros(6))
    for bad in (np.zeros((2, 2)), np.zeros(0), np.array([np.inf, 0])):
        with pytest.raises(UsageError):
            spectrum(bad)
    with pytest.raises(UsageError, match=r"1 \.\. 3"):
        spectrum(np.zeros(8)).coefficient((4,))
    with pytest.raises(UsageError, match="must agree"):
        learned([spectrum(np.zeros(8))], [spectrum(np.zeros(4))])


def test_what_does_not_fit_is_refused_before_anything_is_done(monkeypatch):
    monkeypatch.setattr("instances.limits.available_memory", lambda: 1 << 28)
    learner = parse_learner("student")
    monkeypatch.setattr(type(learner), "learn", lambda *_: pytest.fail("it started"))
    with pytest.raises(TooLarge, match=r"26 coordinates needs 2\.5 GiB"):
        spectra(parse("parity:d=27,m=3").instance(0), learner)


# The command is a contract: field names, exit codes, one line where it cannot.

FIELDS = {"spec", "seed", "n", "target", "known", "hypothesis", "learned", "run"}
SPECTRUM = {"weight", "weights", "degrees", "influences", "top"}
COMPARED = {"correlation", "distance", "part", "residual"}


def test_a_member_alone(hardness):
    found = hardness("spectrum", "profile:g=majority,d=8,m=3", "--json", "--top", 2, "--seed", 4)
    assert (found.code, found.err) == (0, "")
    assert set(found.json) == FIELDS
    target = found.json["target"]
    assert set(target) == SPECTRUM | {"information_exponent", "leap"}
    assert target["weights"] == [0.0, 0.75, 0.0, 0.25, 0.0, 0.0, 0.0, 0.0]
    assert target["degrees"] == {"least": 1, "highest": 3, "mean": 1.5}
    assert (target["information_exponent"], target["leap"]) == (1, 1)
    secret = parse("profile:g=majority,d=8,m=3").instance(4).hidden.secret
    assert [one["subset"] for one in target["top"]] == [[j] for j in secret[:2]]
    assert [v > 0 for v in target["influences"]] == [j in secret for j in range(1, 8)]
    assert set(found.json["known"]) == COMPARED
    assert found.json["hypothesis"] is found.json["learned"] is found.json["run"] is None


def test_a_learner_beside_it_and_a_folder_with_its_secret_and_without(hardness, tmp_path):
    arguments = ["spectrum", "parity:d=8,m=3", "--learner", "lowdegree:degree=3", "--top", "1"]
    found = hardness(*arguments, "--json", "--out", "s.json")
    assert found.code == 0
    assert json.loads((tmp_path / "s.json").read_text()) == found.json
    assert set(found.json["hypothesis"]) == SPECTRUM | {"draws", "beyond", "surplus"}
    assert set(found.json["learned"]) == COMPARED
    part = found.json["learned"]["part"]
    assert part[3] == pytest.approx(1)
    assert part[:3] == [None] * 3
    learned = hardness("learn", "lowdegree:degree=3", "parity:d=8,m=3", "--json").json
    untimed = [
        {k: v for k, v in r.items() if k not in ("key", "seconds", "memory")}
        for r in (learned, found.json["run"])
    ]
    assert untimed[0] == untimed[1]
    assert hardness(*arguments, "--out", "s.json").code == 1  # kept
    text = hardness(*arguments, "--out", "s.json", "--force")
    assert text.code == 0
    assert "of lowdegree:degree=3: solved" in text.out
    instance = parse("parity:d=10,m=3").instance(5)
    folder = write_folder(tmp_path / "x", instance, 500)
    found = hardness("spectrum", "x", "--learner", "elimination", "--json").json
    assert found["target"]["top"][0] == {"subset": list(instance.hidden.secret), "value": 1.0}
    assert found["learned"]["part"][3] == pytest.approx(1)
    (folder.path / "secret.json").unlink()
    for arguments in (["x"], ["x", "--learner", "elimination"]):
        refused = hardness("spectrum", *arguments)
        assert refused.code == 1
        refused.one_line("no secret part", "secret.json")


# The reduced view of examples, and predictions from it.


VIEWED = [
    "parity:d=10,m=3,noise=0.1",
    "profile:g=majority,d=70,m=3",
    "profile:g=[1.1,-0.9,0.9],d=9,m=2,noise=0.1",
    "lwr:n=5,q=16,p=4,secret=ternary,h=2",
    "lwe:n=3,q=17,sigma=1",
    "lpn:n=70,h=3,noise=0.1",
]


@pytest.mark.parametrize("spec", VIEWED)
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


def test_the_spectrum_of_a_layer_is_that_of_its_first_row_by_enumeration():
    layer = parse("nice:m=2,k=3,d=2").instance(5)
    points = np.array(list(itertools.product([1, -1], repeat=6)))
    rows = layer.layer()(points.reshape(-1, 3, 2))[:, 0]
    found = spectra(layer)
    for size in range(7):
        total = 0.0
        for subset in itertools.combinations(range(6), size):
            vector = (rows * points[:, subset].prod(axis=1)[:, None]).mean(axis=0)
            place = tuple(j + 1 for j in subset)
            assert abs(found.target.coefficient(place) - np.linalg.norm(vector)) < 1e-12
            total += vector @ vector
        assert abs(found.target.weights[size] - total) < 1e-12
        assert size % 2 or total < 1e-24
    assert (found.leap, found.exponent) == (1, 1)
    refused = parse("nice:m=2,k=3,d=2,tokens=gaussian").instance(5)
    with pytest.raises(UsageError, match="tokens=gaussian"):
        spectra(refused)
    with pytest.raises(UsageError, match="kd must be at most 26"):
        spectra(parse("nice:m=2,k=3,d=9").instance(5))
