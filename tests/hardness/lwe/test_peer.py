import math
import sys
from types import SimpleNamespace

import pytest

from hardness.lwe.models import DEFAULT, MODELS, Setting
from hardness.lwe.parameters import modulus, parse_parameters
from hardness.lwe.peer import run_lattice_estimator, to_estimator_code
from instances.errors import UsageError


@pytest.mark.parametrize(
    ("words", "samples", "secret", "error"),
    [
        ("error=cbd,eta=3,secret=cbd,spread=3", 512, "CenteredBinomial(3)", "CenteredBinomial(3)"),
        (
            "sigma=3,secret=binary,h=10",
            None,
            "SparseTernary(p=10, m=0, n=64)",
            "DiscreteGaussian(3)",
        ),
        ("error=uniform,width=4,secret=range,spread=5", 9, "Uniform(-2, 2)", "Uniform(-1, 2)"),
        (
            "error=ternary,weight=20,secret=ternary",
            128,
            "Uniform(-1, 1)",
            "SparseTernary(p=10, m=10, n=128)",
        ),
    ],
)
def test_each_law_has_the_name_that_the_peer_gives_it(words, samples, secret, error):
    m = "oo" if samples is None else samples
    line = f"LWE.Parameters(n=64, q=3329, Xs=ND.{secret}, Xe=ND.{error}, m={m})"
    assert to_estimator_code(parse_parameters(f"lwe:n=64,q=3329,{words}", samples)) == line


def test_a_law_without_a_name_is_said_to_stand_as_a_gaussian():
    found = to_estimator_code(parse_parameters("lwe:n=64,q=3329,sigma=3,secret=range,spread=5,h=8"))
    assert "Xs=ND.DiscreteGaussian(0.5" in found
    assert found.endswith("# secret: as a Gaussian of that deviation")
    sparse = parse_parameters("lwe:n=64,q=3329,sigma=3,secret=range,spread=5,h=8").secret
    assert f"ND.DiscreteGaussian({sparse.deviation:.10g})" in found


@pytest.mark.parametrize("q", ["2^881", "2^190-1073741823", "2^190+5", "3329", "3^99"])
def test_the_modulus_is_the_same_number_in_python(q):
    problem = parse_parameters(f"lwe:n=1024,q={q},sigma=3.19,secret=ternary")
    written = to_estimator_code(problem).split("q=")[1].split(", Xs")[0]
    assert modulus(written.replace("**", "^").replace(" ", "")) == problem.q


def test_a_problem_without_error_is_refused():
    with pytest.raises(UsageError, match="without error"):
        to_estimator_code(parse_parameters("lwe:n=64,q=3329,error=none"))


# ---- the peer, as a module that answers


def _fake(seen, costs):
    def named(name):
        return lambda *values, **words: (name, values, words)

    def estimate(parameters, **options):
        seen.append((parameters, options))
        return costs

    class Laws:
        def __getattr__(self, name):
            return named(name)

    return SimpleNamespace(
        LWE=SimpleNamespace(Parameters=lambda **words: words, estimate=estimate),
        ND=Laws(),
        RC=SimpleNamespace(MATZOV="its model"),
    )


def test_the_peer_is_asked_for_the_same_problem_and_its_fields_are_read(monkeypatch):
    seen = []
    costs = {
        "usvp": {"rop": 2.0**140, "red": 2.0**140, "beta": 406, "d": 998, "tag": "usvp"},
        "bdd_hybrid": {"rop": 2**2000, "|S|": 8, "beta": 40, "zeta": 3, "prob": 0.5},
        "bkw": {"rop": math.inf},
    }
    monkeypatch.setitem(sys.modules, "estimator", _fake(seen, costs))
    problem = parse_parameters("lwe:n=64,q=3329,sigma=3,secret=ternary,h=11", 100)
    usvp, hybrid, bkw = run_lattice_estimator(problem, DEFAULT)
    (parameters, options), *_ = seen
    assert parameters == {
        "n": 64,
        "q": 3329,
        "m": 100,
        "Xs": ("SparseTernary", (), {"p": 6, "m": 5, "n": 64}),
        "Xe": ("DiscreteGaussian", (3,), {}),
    }
    assert options["red_cost_model"] == "its model"
    assert options["red_shape_model"] == "gsa"
    assert (usvp.name, usvp.rop, usvp.beta, usvp.d) == ("usvp", 140, 406, 998)
    assert (hybrid.rop, hybrid.space, hybrid.zeta, hybrid.prob) == (2000, 3, 3, 0.5)
    assert not bkw.applies


def test_without_the_peer_or_with_another_module_of_its_name_one_line_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "estimator", None)
    with pytest.raises(UsageError, match="--emit"):
        run_lattice_estimator(parse_parameters("lwe:n=64,q=3329,sigma=3"), DEFAULT)
    monkeypatch.setitem(sys.modules, "estimator", SimpleNamespace())
    with pytest.raises(UsageError, match="cannot be imported"):
        run_lattice_estimator(parse_parameters("lwe:n=64,q=3329,sigma=3"), DEFAULT)


def test_a_model_that_the_peer_lacks_is_refused():
    with pytest.raises(UsageError, match="does not have"):
        run_lattice_estimator(
            parse_parameters("lwe:n=64,q=3329,sigma=3"), Setting(model=MODELS["adps16-quantum"])
        )
