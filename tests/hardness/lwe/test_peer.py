"""The public tool: its syntax, read and written, and its figures where it is installed."""

import math
import sys
from types import SimpleNamespace

import pytest

from hardness.lwe.models import DEFAULT, MODELS, Setting
from hardness.lwe.parameters import modulus, parse_parameters
from hardness.lwe.peer import run_lattice_estimator, to_estimator_code
from hardness.lwe.sets import SETS, resolve_instance
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
            "error=[-1:10,1:10],secret=ternary",
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
    assert found.endswith(
        "\n# secret: as a Gaussian of that deviation"
    )  # a line apart: lines may wrap
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


def test_every_set_is_read_again_from_what_is_emitted():
    for name in SETS:
        code = to_estimator_code(resolve_instance(name).parameters)
        found = resolve_instance(code)
        assert to_estimator_code(found.parameters) == code
        assert found.parameters.rows == resolve_instance(name).parameters.rows
        again = resolve_instance(found.spec, found.parameters.samples)
        assert (again.parameters, again.spec) == (found.parameters, found.spec)


# ---- read

LAWS = {  # of a secret with n=64 and q=97, in words
    "CenteredBinomial(eta=3, n=64)": "cbd,spread=3",
    "DiscreteGaussian(stddev=2**4/5, mean=0)": "gaussian,spread=3.2",
    "DiscreteGaussianAlpha(q=97, alpha=0.1)": "gaussian,spread=3.869740119893897",
    "TUniform(3)": "tuniform,spread=3",
    "Binary": "binary",
    "Ternary": "ternary",
    "Uniform(b=100 - 95, a=-2)": "range,spread=-2..5",
    "UniformMod(97)": "uniform",
    "UniformMod(4)": "range,spread=-2..1",
    "SparseBinary(8)": "[1:8]",
    "SparseTernary(8)": "[-1:8,1:8]",
    "SparseTernary(8, 4, 64)": "[-1:4,1:8]",
    "SparseTernary(p=8, m=0, n=64)": "[1:8]",
    "SparseTernary(p=8, m=None)": "[-1:8,1:8]",
    "SparseTernary(p=16/2, m=1<<3)": "[-1:8,1:8]",
}


@pytest.mark.parametrize(("secret", "words"), LAWS.items())
def test_the_syntax_of_the_peer_is_read(secret, words):
    read = resolve_instance(f"LWE.Parameters(64, 97, ND.{secret}, ND.TUniform(2), m=90, tag='x')")
    assert read.spec == f"lwe:n=64,q=97,error=tuniform,eta=2,secret={words}"
    assert read.parameters == parse_parameters(read.spec, 90)


TFHE = "lwe:n=630,q=2^32,sigma=131072,secret=range,spread=-1..0"
PUBLISHED = {  # lines as people publish them, and what they mean
    "LWE.Parameters(n=2^12, q=2^80 - 2^20 + 1, Xs=ND.Binary, Xe=ND.DiscreteGaussian(3.2))": (
        f"lwe:n=4096,q={2**80 - 2**20 + 1},sigma=3.2,secret=binary"
    ),
    "LWE.Parameters(n=10, q=2**10, Xs=ND.UniformMod(2**10), Xe=ND.UniformMod(2**10/2**6))": (
        "lwe:n=10,q=1024,error=uniform,width=-8..7,secret=uniform"
    ),
    "LWE.Parameters(n=251, q=251, Xs=ND.Ternary, Xe=ND.SparseTernary(256//2), m=1024)": (
        "lwe:n=251,q=251,error=[-1:128,1:128],secret=ternary,samples=1024"
    ),
    "LWE.Parameters(n=1<<13, q=1<<85, Xs=ND.Uniform(-1,1), "
    "Xe=ND.DiscreteGaussian(3.2, mean=0, n=None))": "lwe:n=8192,q=2^85,sigma=3.2,secret=ternary",
    **{
        f"LWE.Parameters(512, 3329, ND.CenteredBinomial(3), ND.CenteredBinomial(3), m={endless})": (
            "lwe:n=512,q=3329,error=cbd,eta=3,secret=cbd,spread=3"
        )
        for endless in ("+Infinity", "infinity", "oo", "sage.all.oo", "math.inf")
    },
    "LWE.Parameters(n=640, q=2**15, Xs=NoiseDistribution.DiscreteGaussian(2.8), "
    "Xe=nd.NoiseDistribution.DiscreteGaussian(2.8))": (
        "lwe:n=640,q=32768,sigma=2.8,secret=gaussian,spread=2.8"
    ),
    "LWE.Parameters(n=3584, q=549824583172097, Xs=ND.DiscreteGaussian(2730, -4), "
    "Xe=ND.DiscreteGaussian(2730, -4), m=4608)": (
        "lwe:n=3584,q=549824583172097,sigma=2730,secret=gaussian,spread=2730,samples=4608"
    ),
    "schemes.Kyber512 = LWEParameters(\n    n=2 * 256,\n    q=3329,\n"
    "    Xs=NoiseDistribution.CenteredBinomial(3),\n    Xe=NoiseDistribution.CenteredBinomial(3),"
    '\n    m=2 * 256,\n    tag="Kyber 512",\n)  # round 3': "ml-kem-512",
    "TFHE630 = LWEParameters(n=630, q=2 ** 32, Xs=ND.UniformMod(2), "
    "Xe=ND.DiscreteGaussian(stddev=2 ** (-15) * 2 ** 32))": TFHE,
    "estimator.LWE.Parameters(630, 2^32, ND.UniformMod(2), ND.DiscreteGaussian(2^-15*2^32))": TFHE,
    "LWE.Parameters(n=586, q=2**32, Xs=ND.Binary, Xe=ND.DiscreteGaussian(2 ** (-13.4) * 2**32))": (
        f"lwe:n=586,q=2^32,sigma={2**-13.4 * 2**32},secret=binary"
    ),
}


@pytest.mark.parametrize(("line", "words"), PUBLISHED.items())
def test_lines_as_people_publish_them_are_read(line, words):
    read, expected = (resolve_instance(text).parameters for text in (line, words))
    assert (read.n, read.q, read.secret) == (expected.n, expected.q, expected.secret)
    assert read.error.deviation == pytest.approx(expected.error.deviation, rel=1e-12)
    assert (read.error.kind, read.samples) == (expected.error.kind, expected.samples)


@pytest.mark.parametrize("name", ["NTRUHPS2048509Enc", "schemes.Falcon512_SKR",
    "Dilithium2_MSIS_WkUnf", "NTRU.Parameters(n=200, q=7981, Xs=ND.Ternary, Xe=ND.Ternary)",
    "x = SISParameters(n=113, q=2048, length_bound=512, norm=2)"])  # fmt: skip
def test_ntru_and_sis_are_named_with_what_estimates_them(name):
    with pytest.raises(
        UsageError, match=r"is a problem of NTRU or SIS: .* SIS\.estimate"
    ) as refused:
        resolve_instance(name)
    assert len(str(refused.value)) < 250


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("FHEW", "500, 2**32, ND.Binary, ND.DiscreteGaussian(2**-15 * 2**32)"),
        ("Concrete_TFHE512", "512, 2**32, ND.Binary, ND.DiscreteGaussian(2**(-24.8) * 2**32)"),
        ("TFHE20_1024", "1024, 2**32, ND.Binary, ND.DiscreteGaussian(2**-26 * 2**32)"),
        ("CHHS_4096_82", "4096, 2**82, ND.SparseTernary(32), ND.DiscreteGaussian(3.19)"),
        ("HESv111024128ternary", "1024, 2**27, ND.UniformMod(3), ND.DiscreteGaussian(3), 1024"),
    ],
)
def test_schemes_of_the_peer_are_named_as_it_spells_them(name, code):
    named, written = (
        resolve_instance(name).parameters,
        resolve_instance(f"LWE.Parameters({code})").parameters,
    )
    assert (
        to_estimator_code(named).partition("Xe")[0] == to_estimator_code(written).partition("Xe")[0]
    )
    assert named.error.kind == written.error.kind == "gaussian"
    assert named.error.deviation == pytest.approx(written.error.deviation, rel=1e-6)
    assert named.samples == written.samples
    with pytest.raises(UsageError, match="did you mean 'kyber512'"):
        resolve_instance("Kyber513")


DEEP = (
    "2**2**40",
    "-" * 9000 + "97",
    "*".join(["2**131000"] * 500),
    "+".join(["2**131000"] * 90),
    "9" * 8000,
)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("n=64, q=97, Xs=__import__('os').system('x'), Xe=ND.Binary", "Xs=__import__"),
        ("64, 97, ND.Binary, ND.DiscreteGaussian(x)", "x is not read"),
        ("64, 97, ND.Binary, ND.DiscreteGaussian(1/0)", "1 / 0 is not read"),
        ("64, 97, ND.Binary, ND.DiscreteGaussian(3, 0.5)", "Xe has mean=0.5: it must be an int"),
        ("64, 97, ND.Binary, ND.Uniform(1)", "ND.Uniform(1): missing a required argument"),
        ("64, 97, ND.Binary, ND.Uniform(0.5, 1)", "a=0.5: it must be an integer"),
        ("64, 97, ND.Binary, ND.Binary(3)", "too many positional arguments"),
        ("64, 97, ND.Other(3), ND.Binary", "Xs=ND.Other(3)"),
        ("64, 97, ND.SparseTernary(8, n=63), ND.Binary", "Xs of n=63"),
        ("64, 97, ND.SparseTernary(64, 8), ND.Binary", "counts of 72 entries"),
        ("64, 97, ND.Binary", "missing a required argument: 'Xe'"),
        ("64.5, 97, ND.Binary, ND.Binary", "n, q and m are integers"),
        ("64, 97, ND.Binary, ND.Binary, q=97", "multiple values for argument 'q'"),
        ("64, 97, ND.Binary, ND.Binary).updated(m=3", "updated is not read"),
        ("64, 97, (", "LWE.Parameters(64"),
        *((f"64, {q}, ND.Binary, ND.Binary", "is not read") for q in DEEP),
        *(
            (f"64, 97, ND.Binary, {law}", "is not read")
            for law in ("a." * 900 + "b", "a" + "()" * 450, "ND.DiscreteGaussian(2**130000)")
        ),
        ("64, 7 % 3, ND.Binary, ND.Binary", "% is not read"),
        ("64, next_prime(90), ND.Binary, ND.Binary", "next_prime(90) is not read"),
        ("64, 97, ND.Binary, D(σ=3.00)", "Xe=D(σ=3.0) is not read"),
        ("64, 97, np.Binary, ND.Binary", "Xs=np.Binary is not read"),
        ("0, 97, ND.Binary, ND.Binary", "n=0: between"),
    ],
)
def test_anything_else_is_refused_in_one_line(code, said):
    with pytest.raises(UsageError) as refused:
        resolve_instance(f"LWE.Parameters({code})")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400


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
