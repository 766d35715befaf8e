"""Problems that are equal, or easier by what they add, cost the same, or no more."""

import itertools
import math

import numpy as np
import pytest

from hardness.lwe.attacks.usvp import usvp
from hardness.lwe.estimate import LATTICE, OTHERS, estimate_all
from hardness.lwe.models import DEFAULT, SMALL_BLOCK, parse_setting
from hardness.lwe.parameters import parse_parameters
from hardness.lwe.sets import resolve_instance

CLOSE = 0.02  # bits: searches end near the least
COARSE = ("dual_guess", "dual_hybrid")  # not all their samples are searched
DECODINGS = ("bdd", "bdd_hybrid", "bdd_mitm_hybrid")
MODELS = ("default", "rough", "bdgl16")
_PARTS = 20  # of 200 sets, some minutes each


def costs(spec, samples=None, model="default", only=()):
    found = estimate_all(parse_parameters(spec, samples), spec, [parse_setting(model)], only)
    return {one.name: one for one in found.estimates}


# ---- more samples


def drawn(rng, most):
    """Draw the words of a problem, with secrets narrower and wider than the errors."""
    n = int(np.exp(rng.uniform(math.log(6), math.log(most))))
    q = rng.choice(["257", "521", "3329", "12289", "2^13", "2^20", "2^32", "2^50"])
    errors = [f"sigma={np.exp(rng.uniform(-2, 2.5)):.3g}", f"error=cbd,eta={rng.integers(1, 5)}"]
    errors += [f"error=uniform,width={rng.integers(2, 12)}", "error=ternary", "error=[0:.97,1:.03]"]
    h = int(rng.integers(1, n))
    secrets = ["binary", "ternary", "uniform", f"ternary,h={h}", f"binary,h={h}"]
    secrets += [f"gaussian,spread={np.exp(rng.uniform(0, 2.6)):.3g}", "[0:.9,30:.1]"]
    secrets += [f"cbd,spread={rng.integers(2, 12)}", f"range,spread={rng.integers(4, 40)}"]
    return n, f"lwe:n={n},q={q},{rng.choice(errors)},secret={rng.choice(secrets)}"


def limits(rng, n, count):
    """List numbers of samples that rise, to any number."""
    every = [n // 2, n, n + 1, n + n // 4, 3 * n // 2, 2 * n - 1, 2 * n, 3 * n, 8 * n, n**3]
    some = rng.choice([*every, 2**40, 2**80], size=count, replace=False)
    return [*sorted(max(1, int(m)) for m in some), None]


def rises(spec, counts, model):
    """List attacks that cost more with more samples, and by how much."""
    every = [costs(spec, m, model) for m in counts]
    return [
        (name, fewer, more, every[i + 1][name].rank - every[i][name].rank)
        for i, (fewer, more) in enumerate(itertools.pairwise(counts))
        for name in (*LATTICE, *OTHERS)
        if every[i + 1][name].rank > every[i][name].rank + close(every[i + 1][name])
    ]


def close(one):
    """Bound what a search may leave: only those of duals end near the least and not at it."""
    if one.name not in COARSE:
        return CLOSE
    return 1.0 if one.beta is not None and one.beta < SMALL_BLOCK else 0.1


@pytest.mark.parametrize(
    ("part", "count", "most", "few"),
    [
        pytest.param(0, 1, 8, 2, marks=pytest.mark.slow),
        *(pytest.param(i, 200, 1024, 5, marks=pytest.mark.weekly) for i in range(_PARTS)),
    ],
)
def test_more_samples_never_cost_more(part, count, most, few):
    rng = np.random.default_rng(52)
    for i in range(count):
        n, spec = drawn(rng, most)
        counts = limits(rng, n, few if n < 200 else 3)
        if i % _PARTS == part or count < _PARTS:
            assert not rises(spec, counts, MODELS[i % len(MODELS)]), (spec, counts)


@pytest.mark.parametrize(
    ("spec", "model", "fewer", "more"),
    [
        ("n=120,q=2^13,error=uniform,width=3,secret=ternary", "default", 121, 150),
        ("n=81,q=257,sigma=5.3,secret=gaussian,spread=1.33", "bdgl16", 100, 120),
        *(
            pytest.param(*one, marks=pytest.mark.weekly)
            for one in (
                ("n=127,q=12289,error=[0:.97,1:.03],secret=binary", "bdgl16", 381, 2048383),
                ("n=138,q=2^13,error=[0:.97,1:.03],secret=cbd,spread=7", "bdgl16", 172, 207),
                ("n=243,q=12289,error=[0:.97,1:.03],secret=range,spread=38", "default", 303, 364),
            )
        ),
    ],
)
def test_decoding_costs_no_more_with_more_samples_where_blocks_are_small(spec, model, fewer, more):
    """Its costs are stairs there, on which steps downhill end early: by 0.2 to 1.2 bits."""
    few, many = (costs(f"lwe:{spec}", m, model, DECODINGS) for m in (fewer, more))
    assert all(many[name].rank <= few[name].rank + CLOSE for name in DECODINGS)


@pytest.mark.parametrize("samples", [80, 96, 128, 150])
def test_forms_have_the_lattices_of_the_embedding_that_keeps_the_fewest_entries(samples):
    """`usvp` replaces exactly as many entries of the secret as pays, for each dimension."""
    for spread in (1.2, 2, 6):
        problem = parse_parameters(
            f"lwe:n=64,q=3329,sigma=1,secret=gaussian,spread={spread}", samples
        )
        whole = usvp(problem, DEFAULT).rop
        forms = [usvp(form, DEFAULT).rank for form in problem.forms()]
        assert whole - 1e-9 <= min(forms) <= whole + 0.5
        assert min(forms[0], forms[1]) >= min(forms)


# ---- public shifts


def shifted(rng, n):
    """Draw a law of secrets or errors, and the same law after a public shift."""
    values = np.sort(rng.choice(np.arange(-6, 7), size=rng.integers(2, 5), replace=False))
    shift = int(rng.integers(-9, 10))
    if rng.random() < 0.5:  # probabilities
        weights = rng.permutation([1, *rng.integers(1, 60, size=len(values) - 1)])
        shares = [f"{w}/{weights.sum()}" for w in weights]
        laws = [zip(values + by, shares, strict=True) for by in (0, shift)]
        return [",".join(f"{v}:{p}" for v, p in law) for law in laws]
    counts = rng.multinomial(n - len(values), rng.dirichlet(np.ones(len(values)))) + 1
    ends = [-values[rng.integers(len(values))], -values[rng.integers(len(values))]]
    laws = [[(v + by, c) for v, c in zip(values, counts, strict=True)] for by in ends]
    return [",".join(f"{v}:{c}" for v, c in law if v) for law in laws]


@pytest.mark.parametrize(
    ("seed", "n", "count"),
    [
        pytest.param(1, 12, 1, marks=pytest.mark.slow),
        pytest.param(2, 40, 60, marks=pytest.mark.weekly),
    ],
)
def test_a_public_shift_changes_no_cost(seed, n, count):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        one, other = (f"lwe:n={n},q=3329,sigma=2,secret=[{law}]" for law in shifted(rng, n))
        found, again = costs(one, 5 * n), costs(other, 5 * n)
        for name in found:
            assert found[name].rank == pytest.approx(again[name].rank, abs=1e-6), (one, other, name)


def test_a_shift_of_errors_and_dense_secrets():
    one = "lwe:n=60,q=3329,error=[0:0.9,1:0.06,3:0.04],secret=binary,h={}"
    other = "lwe:n=60,q=3329,error=[-7:0.9,-6:0.06,-4:0.04],secret=binary,h={}"
    every = [costs(spec.format(h), 300) for spec in (one, other) for h in (8, 52)]
    for name in every[0]:
        assert len({round(found[name].rank, 6) for found in every}) == 1, name
    sparse, dense = (
        costs(f"lwe:n=512,q=2^16,sigma=3,secret=[0:{zero},1:{rest}]")
        for zero, rest in (("0.97", "0.03"), ("0.03", "0.97"))
    )
    assert min(e.rank for e in sparse.values()) == min(e.rank for e in dense.values())
    assert min(e.rank for e in sparse.values()) == pytest.approx(51.0, abs=0.1)


# ---- what is read at least


@pytest.mark.parametrize(
    ("spec", "low", "high"),
    [
        ("lwe:n=1024,q=2^32,sigma=0.2,secret=binary", 29.9, 31),
        ("lwe:n=512,q=3329,error=[-1:1/2000,0:999/1000,1:1/2000],secret=uniform", 26.9, 29),
        ("lwe:n=512,q=3329,error=[7:0.9995,8:0.0005],secret=uniform", 26.9, 29),
    ],
)
def test_errors_that_are_nearly_always_0_cost_linear_algebra(spec, low, high):
    names = ("bdd_hybrid", "bdd_mitm_hybrid", "dual_guess", "restricted-elimination")
    found = costs(spec, only=names)
    assert min(e.rank for e in found.values()) >= low
    assert low <= found["restricted-elimination"].rank <= high + 1
    assert found["restricted-elimination"].d == resolve_instance(spec).parameters.n


@pytest.mark.parametrize(
    ("model", "count"),
    [("default", 1), *(pytest.param(m, 3, marks=pytest.mark.weekly) for m in MODELS)],
)
def test_no_attack_costs_less_than_to_read_its_samples(model, count):
    rng = np.random.default_rng(3)
    for _ in range(count):
        n, spec = drawn(rng, 40)
        for samples in (2 * n, None):
            for one in costs(spec, samples, model).values():
                if one.applies:
                    assert one.rank >= math.log2(n) + one.sample_bits - 1e-9, (spec, one.name)


def test_a_cost_that_is_raised_says_so():
    found = costs("lwe:n=512,q=3329,error=[0:0.9999,1:0.0001],secret=uniform", only=["bdd_hybrid"])
    assert "2^27.0 operations at least, since it replaces the secret by errors" in (
        found["bdd_hybrid"].note
    )


# ---- numbers of any size


@pytest.mark.parametrize(
    "spec",
    [
        "lwe:n=256,q=2^64,sigma=2^61,secret=binary",
        "lwe:n=630,q=2^128,alpha=2^-15,secret=binary",
        "lwe:n=800,q=2^128,error=uniform,width=2^60,secret=binary",
        "lwe:n=256,q=2^3000,sigma=2^2980,secret=gaussian,spread=2^2979",
        "lwe:n=256,q=2^3000,error=uniform,width=-2^2970..2^2970,secret=uniform",
        "lwe:n=64,q=3329,sigma=2,secret=binary,samples=2^80",
    ],
)
def test_sizes_beyond_floats_have_estimates(spec, recwarn):
    found = resolve_instance(spec)
    every = estimate_all(found.parameters, spec, only=[n for n in LATTICE if n != "bdd_hybrid"])
    assert every["usvp"].applies
    assert all(math.isfinite(one.rop) for one in every.estimates if one.applies)
    assert not recwarn.list


@pytest.mark.parametrize("error", ["sigma={}", "error=uniform,width={}"])
def test_costs_do_not_jump_where_floats_end(error):
    """2^1023 is the last power of 2 that is a float: q and the errors pass it together."""
    every = [
        costs(f"lwe:n=128,q=2^{bits},{error.format(f'2^{bits - 12}')},secret=ternary")
        for bits in (1018, 1030, 1042)
    ]
    for name in every[0]:
        low, middle, high = (found[name].rank for found in every)
        if math.isfinite(low):
            assert middle == pytest.approx((low + high) / 2, rel=1e-2), name


def test_wide_gaussians_are_those_of_a_table():
    for sigma in (4000, 4096.5, 2**20):
        law, scaled = (
            parse_parameters(f"lwe:n=9,q=2^60,sigma={sigma}").error,
            sigma * math.sqrt(2 * math.pi),
        )
        assert law.ln_deviation == pytest.approx(math.log(sigma))
        assert law.entropy == pytest.approx(math.log2(scaled * math.sqrt(math.e)), abs=1e-6)
        assert 8.3 * sigma < law.high < 8.5 * sigma
