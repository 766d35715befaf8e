"""Bounds on gradient descent: each inequality by enumeration, and certificates that are refused."""

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq

from hardness.check import check
from hardness.lower.bounds import BoundParameters
from hardness.lower.named import (
    BatchDescent,
    NoClaim,
    NoisyDescent,
    RoundedDescent,
    Unknown,
    WorstDescent,
    certify_named,
)
from hardness.lower.named.descent import (
    Descent,
    at_most,
    batch_eigenvalue,
    bessel,
    labelled,
    root_up,
)
from instances import parse
from instances.errors import Refuted, UsageError
from instances.symmetric import Symmetric
from tests.conftest import sealed

SMALL = [
    "parity:d=5,m=2",
    "parity:d=5,m=1,noise=0.1",
    "parity:d=4,m=3,noise=1/4",
    "profile:g=majority,d=5,m=2",
    "profile:g=majority,d=6,m=3,noise=0.1",
    "profile:g=exactly(1),d=6,m=2,noise=1/5",
    "profile:g=3*threshold(2)+1,d=5,m=2",
]
ASKED: list[Descent] = [
    NoisyDescent(steps=50, clip=Fraction(1, 2), std=Fraction(2)),
    WorstDescent(steps=3, clip=Fraction(1), within=Fraction(1, 6)),
    RoundedDescent(steps=2, clip=Fraction(1), grid=Fraction(10), parameters=20),
    BatchDescent(steps=4, batch=2, state_bits=1),
]


def number(value: fmpq) -> float:
    """Round a rational."""
    return float(Fraction(str(value)))


def members(family: Symmetric) -> tuple[np.ndarray, np.ndarray]:
    """Signs of all members at all z, (M, 2^n), by loops; and how often each is +1, faded."""
    n = family.d - 1
    points = list(itertools.product((1, -1), repeat=n))
    high = max(family.values)
    rows = [
        [1.0 if family.values[sum(z[j] < 0 for j in chosen)] == high else -1.0 for z in points]
        for chosen in itertools.combinations(range(n), family.m)
    ]
    signs = np.array(rows)
    return signs, (1 + float(1 - 2 * family.noise) * signs) / 2


def known(family: Symmetric, up: np.ndarray) -> np.ndarray:
    """P(+1 | z) in the reference: a fair coin for a parity, the mean over members for a profile."""
    return np.full(up.shape[1], 0.5) if family.name == "parity" else up.mean(axis=0)


@pytest.mark.parametrize("spec", SMALL)
def test_mean_gradients_of_bounded_functions_obey_bessel_and_a_function_attains_it(spec):
    family = parse(spec)
    rng, unknown = np.random.default_rng(0), Unknown.of(family)
    signs, up = members(family)
    base = known(family, up)
    most = number(bessel(unknown, Fraction(2)))

    def spread(plus: np.ndarray, minus: np.ndarray) -> float:
        change = (up - base)[:, :, None] * (plus - minus)[None]  # E v by the law of the sign
        return float(np.sum((change.mean(axis=1) / 2) ** 2))

    for _ in range(50):
        v = rng.standard_normal((2, signs.shape[1], 3))
        v *= 2 * rng.uniform(0, 1) ** 0.1 / np.linalg.norm(v, axis=2, keepdims=True)
        assert spread(v[0], v[1]) <= most * (1 + 1e-12)
    hidden = signs if family.name == "parity" else signs - signs.mean(axis=0)
    gram = hidden @ hidden.T / signs.shape[1]
    assert np.linalg.eigvalsh(gram)[-1] == pytest.approx(number(unknown.sign_eigenvalue))
    if family.name == "parity":
        best = 2 * signs.T / math.sqrt(len(signs))
        assert spread(best, -best) == pytest.approx(most)


@pytest.mark.parametrize("spec", SMALL)
def test_the_batch_eigenvalue_is_that_of_the_matrix_over_all_members(spec):
    family = parse(spec)
    unknown = Unknown.of(family)
    laws = examples(family)
    ratio = laws[1:] / laws[0] - 1
    gram = (ratio * laws[0]) @ ratio.T
    for batch in (1, 2, 5):
        found = number(batch_eigenvalue(unknown, batch))
        assert np.linalg.eigvalsh((1 + gram) ** batch - 1)[-1] == pytest.approx(found)
    assert max(gram.max(axis=0)) == pytest.approx(number(labelled(unknown)[-1]))


def examples(family: Symmetric) -> np.ndarray:
    """The reference's and each member's law of z_0, z and sign: (1 + M, 1 + 2 2^n).

    Where z_0 = +1 examples tell nothing, so all of these are one.
    """
    _, up = members(family)
    points = up.shape[1]
    coin = np.full((1, points), up[0].mean())
    rows = np.concatenate([coin, up])
    both = np.concatenate([rows, 1 - rows], axis=1) / (2 * points)
    return np.concatenate([np.full((len(rows), 1), 0.5), both], axis=1)


@pytest.mark.parametrize("spec", SMALL[:5])
@pytest.mark.parametrize("batch", [1, 2])
def test_a_state_tells_members_apart_by_no_more_than_the_batch_bound(spec, batch):
    family = parse(spec)
    rng, laws = np.random.default_rng(1), examples(family)
    if batch == 2:
        laws = np.einsum("si,sj->sij", laws, laws).reshape(len(laws), -1)
    pace = BatchDescent(steps=1, batch=batch, state_bits=2).pace(Unknown.of(family))
    updates = [rng.dirichlet(np.full(4, 0.1), laws.shape[1]) for _ in range(20)]
    # States that say how far the examples speak for the members, the worst direction of all.
    ratio = laws[1:] / laws[0] - 1
    _, vectors = np.linalg.eigh((ratio * laws[0]) @ ratio.T)
    for vector in vectors[:, -4:].T:
        score = vector @ ratio
        updates.append(np.eye(4)[np.digitize(score, np.quantile(score, [0.25, 0.5, 0.75]))])
    for update in updates:
        after = laws @ update
        used = after[0] > 0
        chi = ((after[1:] - after[0])[:, used] ** 2 / after[0, used]).sum(axis=1)
        assert chi.mean() <= 4 * number(pace) * (1 + 1e-9) or pace == 1
        assert (abs(after[1:] - after[0]).sum(axis=1) / 2).mean() ** 2 <= chi.mean() / 4 + 1e-12


def test_runs_with_a_small_state_stay_as_near_to_the_reference_as_claimed():
    family = parse("parity:d=5,m=2")
    rng, laws, unknown = np.random.default_rng(2), examples(family), Unknown.of(family)
    informed = laws[1] / laws[0] - 1
    for steps in (1, 3, 8):
        for trial in range(10):
            paths = np.ones((len(laws), 1))
            hellinger = np.zeros(len(laws))
            for _ in range(steps):
                kernels = rng.dirichlet(np.full(2, 0.2), (paths.shape[1], laws.shape[1]))
                if trial == 0:  # remember whether an example spoke for the first member
                    kernels[:] = np.eye(2)[(informed > 0).astype(int)]
                move = np.einsum("sx,pxw->spw", laws, kernels)
                hellinger += paths[0] @ (1 - np.sqrt(move * move[0]).sum(axis=2)).T
                paths = (paths[:, :, None] * move).reshape(len(laws), -1)
            total = abs(paths - paths[0]).sum(axis=1)[1:].mean() / 2
            asked = BatchDescent(steps=steps, batch=1, state_bits=1)
            assert total**2 <= asked.growth(steps) * number(asked.pace(unknown))
            # Jayram's inequality, member by member, with 2/7 for the constant.
            whole = 1 - np.sqrt(paths * paths[0]).sum(axis=1)
            assert (whole * 2 / 7 <= hellinger + 1e-12).all()


def test_dithered_numbers_differ_with_probability_at_most_their_distance():
    rng = np.random.default_rng(3)
    for _ in range(500):
        a, b, grid = rng.normal(), rng.normal(), rng.uniform(0.2, 3)
        total = 0.0
        for k in range(-60, 60):
            law = [max(0.0, 1 - abs(x / grid - k)) for x in (a, b)]  # up or down, unbiased
            total += abs(law[0] - law[1]) / 2
        assert total <= abs(a - b) / grid + 1e-12
        if math.floor(a / grid) == math.floor(b / grid):
            assert total == pytest.approx(abs(a - b) / grid)


def test_roots_are_exact_or_the_least_of_twelve_digits():
    rng = np.random.default_rng(4)
    for _ in range(300):
        square = fmpq(int(rng.integers(1, 10**6)), int(rng.integers(1, 10**9))) / 10 ** int(
            rng.integers(3, 60)
        )
        found = at_most(fmpq(0), square)
        if found == 1:
            assert square > 1 - fmpq(1, 10**10)
            continue
        places = math.ceil(-math.log10(Fraction(str(found)))) + 11
        unit = fmpq(1, 10**places)
        assert found**2 >= square
        assert found**2 == square or (found - unit) ** 2 < square
    assert at_most(fmpq(1, 3), fmpq(1, 9)) == fmpq(2, 3)
    assert at_most(fmpq(1, 3), fmpq(4, 9)) == 1
    assert at_most(fmpq(1, 3), fmpq(4, 9) - fmpq(1, 10**20)) == 1  # rounded up it would be more
    assert [root_up(fmpq(v)) for v in (0, 1, 2, 4, 5)] == [0, 1, 2, 2, 3]


@pytest.mark.parametrize("asked", ASKED, ids=lambda a: a.regime)
@pytest.mark.parametrize("spec", ["parity:d=21,m=3,noise=0.1", "profile:g=majority,d=13,m=3"])
def test_steps_are_the_first_after_which_the_bound_allows_the_success(asked, spec):
    family, terms = parse(spec), BoundParameters(success=Fraction(3, 5))
    unknown = Unknown.of(family)
    least = int(asked.claims(unknown, terms)[1].value)
    sure = Fraction(unknown.right_about(terms.risk), unknown.size)
    pace = Fraction(str(asked.pace(unknown)))
    allowed = [sure + Fraction(math.sqrt(asked.growth(t) * pace)) for t in (least - 1, least)]
    assert allowed[0] - Fraction(1, 10**9) < terms.success <= allowed[1] + Fraction(1, 10**9)
    given = {**vars(asked), "steps": max(least - 1, 1)}
    if least > 1:
        assert Fraction(type(asked)(**given).claims(unknown, terms)[0].value) < terms.success


def test_formulas_by_hand():
    """Those of the issue, with label noise, in float64."""
    unknown, m = Unknown.of(parse("parity:d=41,m=4,noise=0.1")), math.comb(40, 4)
    asked = [
        (NoisyDescent(steps=900, clip=Fraction(3), std=Fraction(2)), 0.8 * 3 / 8 * 30 / m**0.5),
        (WorstDescent(steps=9, clip=Fraction(3), within=Fraction(1, 10)), 9 * 144 / m),
        (
            RoundedDescent(steps=9, clip=Fraction(3), grid=Fraction(2), parameters=25),
            9 * 5 * 0.8 * 3 / 4 / m**0.5,
        ),
        (BatchDescent(steps=9, batch=3, state_bits=4), 4.5 * (15 * (1.32**3 - 1) / m) ** 0.5),
        (BatchDescent(steps=90, batch=3, state_bits=4), (315 * 15 * (1.32**3 - 1) / m) ** 0.5),
    ]
    for one, excess in asked:
        value = Fraction(one.claims(unknown, BoundParameters())[0].value)
        assert float(value - Fraction(1, m)) == pytest.approx(excess, rel=1e-11)


def test_answers_so_far_off_that_no_step_rules_out_a_member():
    """Then no number of steps is enough, and what is claimed is the success of a guess."""
    asked = WorstDescent(steps=7, clip=Fraction(1), within=Fraction(2, 3))
    made = certify_named(parse("parity:d=21,m=3"), [asked]).to_dict()
    (found,) = (c for c in made["claims"] if c["quantity"].startswith("gd-"))
    assert (found["quantity"], found["value"]) == ("gd-within-success", "1/1140")
    assert "any number of steps rules out no member" in check(made).statements[0]
    for changed in (
        {"value": "1/1141"},
        {"parameters": {**found["parameters"], "within": "49/100"}},
    ):
        forged = json.loads(json.dumps(made))
        forged["claims"][0].update(changed)
        with pytest.raises(Refuted):
            check(sealed(forged))


@pytest.mark.parametrize(
    "asked",
    [
        NoisyDescent(steps=10**40, clip=Fraction(1), std=Fraction(1, 10**9)),
        WorstDescent(steps=10**40, clip=Fraction(1), within=Fraction(1, 10**9)),
        RoundedDescent(steps=10**9, clip=Fraction(1), grid=Fraction(1, 9), parameters=10**9),
        BatchDescent(steps=10**9, batch=10**12, state_bits=1),
        BatchDescent(steps=1, batch=1, state_bits=10**15),
        BatchDescent(steps=1, batch=60, state_bits=60),
    ],
    ids=lambda a: a.regime,
)
def test_a_bound_that_says_nothing_is_one_and_is_accepted(asked):
    made = certify_named(parse("parity:d=21,m=3,noise=0.1"), [asked])
    assert made.claims[0].value == "1"
    assert "vacuous" in check(made.to_dict()).statements[0]


def test_a_goal_that_guessing_reaches_needs_no_step():
    terms = BoundParameters(success=Fraction(1, 1000))
    made = certify_named(parse("parity:d=5,m=2"), [ASKED[0]], terms)
    assert made.value("gd-noise-steps") == "0"
    assert "vacuous" in check(made.to_dict()).statements[1]


def test_without_steps_only_those_that_are_needed_are_claimed():
    made = certify_named(
        parse("parity:d=21,m=3"), [NoisyDescent(clip=Fraction(1), std=Fraction(1))]
    )
    assert [c.quantity for c in made.claims] == ["gd-noise-steps", "information-floor"]
    assert check(made.to_dict()).statements


@pytest.mark.parametrize("noise", ["0", "0.4999", "0.4999999999999"])
@pytest.mark.parametrize("spec", ["parity:d=9,m=3", "profile:g=majority,d=12,m=4"])
def test_batches_and_states_around_the_first_vacuous_ones_are_accepted(spec, noise):
    family = parse(f"{spec},noise={noise}")
    vacuous = set()
    for batch in (1, 3, 10**25, 10**27, 10**29):
        for bits in (*range(1, 24), 70, 10**40):
            try:
                made = certify_named(family, [BatchDescent(steps=1, batch=batch, state_bits=bits)])
            except UsageError:  # too many digits
                continue
            assert check(made.to_dict()).statements
            vacuous.add(made.claims[0].value == "1")
    assert vacuous == {True, False}


def test_large_families_and_batches_take_a_certificate_of_few_digits():
    made = certify_named(
        parse("profile:g=threshold(3),d=1001,m=20,noise=0.49"),
        [BatchDescent(steps=10, batch=1000, state_bits=16)],
    ).to_dict()
    assert len(json.dumps(made)) < 40_000
    assert check(made).statements
    faint = BatchDescent(steps=10, batch=1, state_bits=1)  # correlations below 2^-64
    assert check(certify_named(parse("parity:d=21,m=3,noise=0.49999999999"), [faint]).to_dict())
    with pytest.raises(UsageError, match=r"batch=10000000 given: .* a batch up to \d+ can be"):
        certify_named(
            parse("parity:d=1001,m=20,noise=0.4999"),
            [BatchDescent(steps=10, batch=10**7, state_bits=16)],
        )


@pytest.mark.parametrize("asked", ASKED, ids=lambda a: a.regime)
def test_more_than_two_values_there_is_no_claim_about(asked):
    with pytest.raises(NoClaim, match="no claim: labels take more than two values"):
        certify_named(parse("profile:g=h,d=9,m=4"), [asked])


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda: NoisyDescent(steps=0, clip=Fraction(1), std=Fraction(1)), "steps=0 given"),
        (lambda: NoisyDescent(steps=1, clip=Fraction(0), std=Fraction(1)), "clip=0 given"),
        (
            lambda: NoisyDescent(steps=1, clip=Fraction(1), std=Fraction(0)),
            "noise-std=0 given: a rational above 0 is needed; some noise is needed: one exact "
            "mean of a function of its choice can name the member",
        ),
        (lambda: NoisyDescent(steps=1, clip=Fraction(1), std=Fraction(-1)), "noise-std=-1 given"),
        (lambda: NoisyDescent(steps=1, clip=Fraction(1), std=0.5), "a rational above 0"),
        (lambda: WorstDescent(steps=1, clip=Fraction(1), within=Fraction(0)), "within=0 given"),
        (
            lambda: RoundedDescent(steps=1, clip=Fraction(1), grid=Fraction(0), parameters=1),
            "grid=0 given",
        ),
        (
            lambda: RoundedDescent(steps=1, clip=Fraction(1), grid=Fraction(1), parameters=0),
            "parameters=0 given",
        ),
        (lambda: BatchDescent(steps=1, batch=0, state_bits=1), "batch=0 given"),
        (lambda: BatchDescent(steps=1, batch=1, state_bits=0), "state-bits=0 given: .* PAC"),
    ],
)
def test_numbers_out_of_range_are_refused_with_a_line(make, line):
    with pytest.raises(UsageError, match=line):
        make()
