"""The chain from a learner to LWE: its arithmetic by brute force, its conditions, its words."""

import itertools
import math
import re
from collections import Counter
from fractions import Fraction
from functools import cache

import pytest

import hardness as h
from hardness.bounds import checker
from hardness.bounds.certificate import NoClaim
from hardness.bounds.checker.residues import SLACK, guess, power
from hardness.bounds.checker.theorem import first_reaching as least_number
from hardness.report.claims import sentence
from hardness.report.export import text as export


def certified(n=8, q=64, p=2, secret="binary", examples=10, bound=3, risk="1/5", **more):
    spec = f"lwr:n={n},q={q},p={p},secret={secret}"
    return h.certify(spec, about="lwe", examples=examples, error_bound=bound, risk=risk, **more)


def words(made):
    """The sentence of the claim about LWE."""
    return sentence(made, made["lwe-probability"])


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
    assert exact * (1 - Fraction(1, 1 << 100)) < certified()["lwe-probability"].value <= exact
    for base, exponent in ((Fraction(3, 7), 50), (Fraction(999, 1000), 4321), (Fraction(1), 9)):
        found = power(base, exponent)
        assert base**exponent * (1 - Fraction(1, 1 << 100)) <= found <= base**exponent
    assert power(Fraction(1, 2), 300_000) == 0


def test_what_does_not_hold_is_no_claim():
    with pytest.raises(NoClaim, match="risk must be below 1/20"):
        certified(p=4, risk="1/20")
    for spec in ("parity:d=8,m=3", "lwe:n=8,q=17,sigma=1", "lpn:n=8,noise=0.1"):
        with pytest.raises(NoClaim, match=r"about labels of lwr|only labels that round"):
            h.certify(spec, about="lwe", examples=5, error_bound=1, risk="1/5")
    for given in ({"examples": None}, {"bound": None}):
        with pytest.raises(h.ToolkitError, match="about lwe needs"):
            certified(**given)


def test_guessing_makes_it_vacuous_and_what_is_found_depends_on_the_secret():
    assert certified(n=4, examples=200)["lwe-probability"].vacuous
    assert "finds s with" in words(certified())
    assert "finds s mod 2 with" in words(certified(secret="ternary"))
    assert certified()["lwe-probability"].kind == "reduction"


def likeliest(problem):
    """The probability of the likeliest s mod 2: every secret that can be drawn, one by one."""
    n, q, secret = (problem[name] for name in ("n", "q", "secret"))
    law = dict.fromkeys(range(secret["weight"] > 0, q), 1)
    if secret["entries"]:
        least, counts = secret["entries"]
        law = {least + i: int(count) for i, count in enumerate(counts)}
    return likeliest_of(n, secret["weight"] or n, tuple(law.items()))


@cache
def likeliest_of(n, k, weights):
    law, mod2 = dict(weights), Counter()
    for places in itertools.combinations(range(n), k):
        for entries in itertools.product(law, repeat=k):
            s = dict(zip(places, entries, strict=True))
            if any(entry % 2 for entry in entries):
                mod2[tuple(s.get(i, 0) % 2 for i in range(n))] += math.prod(map(law.get, entries))
    return Fraction(max(mod2.values()), mod2.total())


LAWS = [
    *("uniform", "uniform,h=1", "uniform,h=2", "binary", "binary,h=1", "binary,h=2", "ternary"),
    *("ternary,h=2", "ternary,h=3", "gaussian,spread=0.2", "gaussian,spread=0.4", "cbd,spread=1"),
    "cbd,spread=2",
]
COUNTS = [  # of -1, 0 and 1, or with a weight of what is not 0
    *((c, 0) for c in itertools.product((0, 1, 2, 7), (0, 1, 5), (0, 1, 3)) if c[0] or c[2]),
    *(((c, 0, d), h) for c, d in ((1, 0), (1, 3), (0, 2), (2, 2)) for h in (1, 2, 3)),
    ((3, 1, 0), 3),  # of 4 places the likeliest number of odd entries is between 2 and 3
]


def shown(text, exact):
    """Whether a number is shown as it is, or by first digits that are rounded up."""
    about = text.removeprefix("about ")
    if about == text:
        return Fraction(text) == exact
    return exact <= Fraction(about) < exact * (1 + Fraction(1, 10_000))


@pytest.mark.parametrize(
    "secret",
    [pytest.param(law, marks=pytest.mark.weekly if i % 3 else ()) for i, law in enumerate(LAWS)],
)
def test_every_probability_and_horizon_is_that_of_all_secrets_one_by_one(secret):
    """For laws on -1, 0 and 1, and others, with and without a weight, at n <= 6."""
    for n, p in itertools.product((1, 2, 3, 4, 5, 6), (2, 4)):
        sizes = {"n": n, "q": 32 if n < 4 else 8, "p": p, "bound": 1, "risk": f"1/{2 * p * p}"}
        weight = int(secret.partition("h=")[2] or 0)
        if n < weight or ("uniform" in secret and n > 4):
            continue
        made = certified(examples=1, secret=secret, **sizes)
        likely, ratio = likeliest(made.problem), Fraction(sizes["q"], sizes["q"] + p)
        found = made["lwe-probability"]
        powers = ((Fraction(2, 3) - SLACK) ** 2 * ratio**count for count in itertools.count())
        last = next(count for count, power in enumerate(powers) if power <= likely) - 1
        last = max(0, last)
        assert found.terms["horizon"] == last, (secret, sizes)
        assert f"vacuous beyond {last} examples" in words(made)
        [text] = re.findall(r"right with probability (about \S+|[\d/]+)", words(made))
        assert shown(text, likely)
        assert 0 < likely <= 1
        for count in {1, last, last + 1} - {0}:
            claim = certified(examples=count, secret=secret, **sizes)["lwe-probability"]
            exact = (Fraction(2, 3) - SLACK) ** 2 * ratio**count
            assert claim.vacuous == (count > last)
            if not claim.vacuous:
                assert likely < exact
                assert exact * (1 - Fraction(1, 1 << 90)) < claim.value <= exact


@pytest.mark.parametrize(("counts", "weight"), COUNTS)
def test_the_likeliest_guess_of_every_law_is_that_of_all_secrets(counts, weight):
    """Of laws on 1, 2, 3 and 4 as well, of which an even entry of a weight is 0 mod 2."""
    for n, shift in itertools.product(range(max(weight, 1), 7), (-1, 1)):
        law = [(shift + i, count) for i, count in enumerate(counts) if count]
        if not any(entry % 2 for entry, _ in law):
            continue
        filled = [str(dict(law).get(i, 0)) for i in range(law[0][0], law[-1][0] + 1)]
        entries = [law[0][0], filled]
        problem = {"n": n, "q": 64, "secret": {"weight": weight, "entries": entries}}
        whole = {"kind": "residues", "labels": "interval", "parts": 2, "bits": 20, "errors": None}
        exact = likeliest(problem)
        assert guess(checker.read_problem(whole | problem)) == exact
        assert 0 < exact <= 1


def test_the_chain_of_a_gaussian_secret_that_is_nearly_always_0():
    made = certified(n=64, q=65536, secret="gaussian,spread=0.2")
    found = made["lwe-probability"]
    assert (found.vacuous, found.terms["horizon"]) == (False, 36_572)
    assert "right with probability about 1.56214e-2" in words(made)


def test_a_horizon_is_found_where_numbers_are_long():
    ratio, least = Fraction(1 << 48, (1 << 48) + 12), Fraction(1, 3**40_000)
    last = least_number(lambda count: -Fraction(4, 9) * power(ratio, count), -least) - 1
    lost = 40_000 * math.log2(3) + math.log2(4 / 9)
    assert last == pytest.approx(lost * math.log(2) * 2**48 / 12, rel=1e-12)


@pytest.mark.parametrize("sizes", [(4, 2, 1), (64, 2, 3), (2**16, 4, 5), (2**48, 2, 1)])
def test_the_printed_number_of_examples_halves_the_probability(sizes):
    """At q = 2pB it is 1.7: ln 2 / ln(1 + p B / q), to the tenth that is printed."""
    q, p, bound = sizes
    found = words(certified(q=q, p=p, bound=bound, risk="1/100"))
    [shown] = re.findall(r"halves about every (\d+\.\d) examples", found)
    exact = math.log(2) / math.log1p(p * bound / q)
    assert float(shown) == pytest.approx(exact, abs=0.0501, rel=1e-6)


def test_what_is_assumed_is_named_in_text_and_latex():
    made = certified(secret="ternary")
    text = " ".join(made.text().split())
    assert "The assumption is LWE(n=8, q=64, |e| <= 3) for some such distribution" in text
    every = "holds for every distribution of integers e, independent of a, with |e| <= 3 and with 0"
    assert f"{every} as a median" in text
    caption = export("latex", made)
    assert "LWE(n=8, q=64" in caption
    assert "some distribution of errors, of absolute value at most 3, that has 0 as" in caption
    assert "textless" not in caption
    assert "LWE" not in export("latex", h.certify("parity:d=8,m=3"))


MORE = [pytest.param(one, marks=pytest.mark.weekly) for one in ("p=4,secret=ternary", "p=8")]


@pytest.mark.parametrize("layer", ["p=2,secret=binary", *MORE])
def test_three_lines_answer_how_hard_a_layer_is(hardness, layer):
    line = f"certify lwr:n=16,q=2^10,{layer} --about lwe --examples 20 --error-bound 2"
    found = hardness(*line.split(), "--risk", "1/100")
    assert found.code == 0
    for said in (
        "reduction [BGMRR16]",
        "stat-queries ",
        "Cheapest attack on this family",
        "on the LWE assumed",
    ):
        assert said in found.out, said


def test_more_than_two_labels_are_said_to_be_equally_spaced():
    """As the conditions of residues let labels be any numbers."""
    assert "equally spaced" not in words(certified())
    assert "equally spaced in their order" in words(certified(p=4, risk="1/50"))
