"""The chain from a learner to LWE: its arithmetic by brute force, its conditions, its words."""

import itertools
import json
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import hardness as h
from hardness.check import kernel
from hardness.check.kernel.chain import SLACK, horizon, power
from hardness.lower.record import NoClaim
from tests.conftest import sealed

SPEC = "lwr:n={n},q={q},p={p},secret={secret}"


def certified(n=8, q=64, p=2, secret="binary", examples=10, bound=3, risk="1/5", **more):
    spec = SPEC.format(n=n, q=q, p=p, secret=secret)
    return h.certify(spec, about="lwe", examples=examples, error_bound=bound, risk=risk, **more)


def value(**given):
    return certified(**given)["lwe-probability"].value


def divergence(q, p, errors):
    """The sum of P^2 / Q for t uniform mod q, P the law of (t, label of t), Q of t and t + e."""
    total = Fraction(0)
    for t in range(q):
        same = sum(c for e, c in errors.items() if (t + e) % q * p // q == t * p // q)
        if same == 0:
            return math.inf
        total += 1 / Fraction(same)
    return total / q


def balanced(bound):
    """Laws of errors of at most `bound` in size with each sign or 0 at least as likely."""
    for low, high in itertools.product(range(bound + 1), repeat=2):
        for zero in (Fraction(0), Fraction(1, 3), Fraction(1)):
            side = (1 - zero) / 2
            law = dict.fromkeys((-low, 0, high), Fraction(0))
            law[0] += zero
            law[-low] += side
            law[high] += side
            yield law


def test_the_divergence_of_one_sample_is_at_most_that_of_the_theorem_and_is_reached():
    for q, p, bound in itertools.product((16, 32, 64), (2, 4, 8), (1, 2, 3)):
        laws = [divergence(q, p, law) for law in balanced(bound)]
        if q >= 2 * p * bound:
            assert max(laws) == 1 + Fraction(2 * p * bound, q)  # by errors of -B and B
        elif q // p < bound:
            assert max(laws) == math.inf


def test_the_claim_is_the_square_of_success_over_the_divergence_of_all_examples():
    exact = (Fraction(2, 3) - SLACK) ** 2 / Fraction(64 + 2 * 3, 64) ** 10
    assert exact * (1 - Fraction(1, 1 << 100)) < value() <= exact
    for base, exponent in ((Fraction(3, 7), 50), (Fraction(999, 1000), 4321), (Fraction(1), 9)):
        found = power(base, exponent)
        assert base**exponent * (1 - Fraction(1, 1 << 100)) <= found <= base**exponent
    assert power(Fraction(1, 2), 300_000) == 0


def test_it_falls_with_examples_and_errors_and_rises_with_success():
    over = [value(examples=n) for n in (1, 2, 5, 20)]
    assert over == sorted(over, reverse=True)
    assert value(bound=1) > value(bound=2) > value(bound=16)
    assert value(success="1/2") < value(success="9/10")


def test_what_does_not_hold_is_no_claim():
    with pytest.raises(NoClaim, match=r"errors of 3: at most q/\(2p\) = 2 is allowed"):
        certified(q=16, p=4, bound=3, risk="1/100")
    with pytest.raises(NoClaim, match="risk must be below 1/4 for 2 labels, not 1/4"):
        certified(risk="1/4")
    with pytest.raises(NoClaim, match="risk must be below 1/20"):
        certified(p=4, risk="1/20")
    for spec in ("parity:d=8,m=3", "lwe:n=8,q=17,sigma=1", "lpn:n=8,noise=0.1"):
        with pytest.raises(NoClaim, match=r"not rounded|only labels that round"):
            h.certify(spec, about="lwe", examples=5, error_bound=1, risk="1/5")
    with pytest.raises(NoClaim, match="entries of -1, 0 and 1"):
        certified(secret="cbd,spread=2")
    for given in ({"examples": None}, {"bound": None}):
        with pytest.raises(h.ToolkitError, match="about lwe needs"):
            certified(**given)


def test_guessing_makes_it_vacuous_and_what_is_found_depends_on_the_secret():
    assert certified(n=4, examples=200)["lwe-probability"].vacuous
    assert "finds s with" in certified()["lwe-probability"].meaning
    assert "finds s mod 2 with" in certified(secret="ternary")["lwe-probability"].meaning
    assert certified()["lwe-probability"].kind == "reduction"


@pytest.mark.parametrize("secret", ["uniform", "binary", "binary,h=3", "ternary"])
@pytest.mark.parametrize("p", [2, 4, 8])
def test_the_horizon_is_the_last_number_of_examples_that_beats_the_likeliest_guess(p, secret):
    n, q, bound = 8, 256, 3
    secrets = {"uniform": (0, 1), "binary": (0, 1), "binary,h=3": (0, 1), "ternary": (-1, 0, 1)}
    law = [s for s in itertools.product(secrets[secret], repeat=n) if any(s)]
    law = [s for s in law if sum(s) == 3] if "h" in secret else law
    counts = Counter(tuple(entry % 2 for entry in s) for s in law)
    guess = Fraction(max(counts.values()), len(law))  # of s mod 2
    beats = [
        (Fraction(2, 3) - SLACK) ** 2 * Fraction(q, q + p * bound) ** count > guess
        for count in range(600)
    ]
    last = beats.index(False) - 1
    given = {"n": n, "q": q, "p": p, "bound": bound, "secret": secret, "risk": f"1/{2 * p * p}"}
    claims = [certified(examples=count, **given)["lwe-probability"] for count in (last, last + 1)]
    assert [claim.vacuous for claim in claims] == [False, True]
    for claim in claims:
        assert claim.terms["horizon"] == last
        assert f"vacuous beyond {last}," in claim.meaning


def test_a_horizon_is_found_where_numbers_are_long():
    ratio, least = Fraction(1 << 48, (1 << 48) + 12), Fraction(1, 3**40_000)
    last = horizon(Fraction(4, 9), ratio, least)
    lost = 40_000 * math.log2(3) + math.log2(4 / 9)
    assert last == pytest.approx(lost * math.log(2) * 2**48 / 12, rel=1e-12)


def test_what_is_assumed_is_named():
    meaning = certified(secret="ternary")["lwe-probability"].meaning
    assert "The assumption is LWE(n=8, q=64, |e| <= 3)" in meaning


def test_a_changed_digit_is_refused():
    made = certified().to_dict()
    assert h.check(made).statements[0].startswith("reduction:")
    text = json.dumps(made)
    changed = json.loads(text.replace('"examples": "10"', '"examples": "11"'))
    for data in (changed, {**changed, "goal": made["goal"]}):
        with pytest.raises(kernel.Refused, match="is not as claimed"):
            kernel.check(sealed(data))
        with pytest.raises(h.Refuted, match="is not as claimed"):
            h.check(sealed(data))


@pytest.mark.parametrize("share", [0.2, 0.24])
def test_decoding_reads_the_secret_off_a_hypothesis_whose_errors_are_chosen(share):
    """At a share of errors below 1/4 the majority of pairs tells each entry, wherever they are."""
    n, q, rng = 12, 16, np.random.default_rng(0)
    secret = rng.integers(0, 2, n)
    weights = 1 << np.arange(n)[::-1]

    def hypothesis(a):
        label = (a @ secret) % q < q // 2
        worst = (a @ weights) % 997 < share * 997  # the same points always
        return label ^ worst

    points = math.ceil(45 / (2 * (0.5 - 2 * share) ** 2 * 1.4426))
    a = rng.integers(0, q, (points, n))
    seen = hypothesis(a)
    found = []
    for i in range(n):
        moved = a.copy()
        moved[:, i] = (moved[:, i] + q // 2) % q
        found.append(int(np.mean(seen != hypothesis(moved)) > 0.5))
    assert found == secret.tolist()


@pytest.mark.parametrize("layer", ["p=2,secret=binary", "p=4,secret=ternary", "p=8"])
def test_three_lines_answer_how_hard_a_layer_is(hardness, layer):
    line = f"certify lwr:n=16,q=2^10,{layer} --about lwe --examples 20 --error-bound 2"
    found = hardness(*line.split(), "--risk", "1/100")
    assert found.code == 0
    for said in ("reduction; after BGMRR16", "stat-queries =", "costs the least: about 2^"):
        assert said in found.out, said


def test_more_than_two_labels_are_said_to_be_equally_spaced():
    """As the conditions of residues let labels be any numbers."""
    assert "equally spaced" not in certified()["lwe-probability"].meaning
    assert "equally spaced in their order" in certified(p=4, risk="1/50")["lwe-probability"].meaning
