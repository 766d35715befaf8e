"""Numbers of the checker at tiny sizes against formulas written out here, and where it refuses."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from hardness.bounds import checker
from hardness.bounds.checker import directions, hidden_sets, named, residues
from hardness.bounds.checker.certificate import KINDS
from hardness.bounds.checker.theorem import read_terms
from hardness.bounds.hidden_sets import Johnson, every_set

HALF = Fraction(1, 2)
TERMS = {"tau": "1/10", "t": "100", "risk": "1/4", "success": "2/3", "gamma": "1/20"}
EVEN = {"law": {"base": "1", "cut": 0, "weights": []}}


def refused(words, call, *arguments):
    with pytest.raises(checker.Refused, match=words):
        call(*arguments)


def sets(values, places, noise="0", **more):
    return {"kind": "hidden-set", "places": places, "chosen": len(values) - 1, "values": values,
            "noise": noise, **more}  # fmt: skip


def modular(n=2, q=7, labels="residue", parts=0, weight=0, entries=None, errors=None, bits=20):
    return {"kind": "residues", "n": n, "q": q, "bits": bits, "labels": labels, "parts": parts or q,
            "secret": {"weight": weight, "entries": entries}, "errors": errors}  # fmt: skip


def tables(*tables, signs=2, centred=False):
    return {"kind": "functions", "signs": signs, "centred": centred, "tables": list(tables)}


def direction(n=1000, low=("0", "0"), noise="0"):
    return {"kind": "direction", "dimension": n, "low": list(low), "noise": noise}


def known(problem, witness=None):
    parsed = checker.read_problem(problem)
    return KINDS[problem["kind"]].know(parsed, {} if witness is None else witness)


def claims(problem, witness, **terms):
    proved = checker.prove(problem, {**TERMS, **terms}, witness)
    return {claim.quantity: claim for claim in proved.claims}


TABLES = tables([[0], [1, 2]], [[0, 1], [1, 2, 3, 4]])
LONG = "1" + "0" * 1000
REFUSED = [
    (sets(["1", "-1"], 10**18), sets(["1", "-1"], 10**18 + 1), "not in 1"),
    (sets(["1", "-1"] * 64 + ["1"], 128), sets(["1", "-1"] * 65, 130), "chosen"),
    (sets(["1", "-1", "1"], 2), sets(["1", "-1", "1"], 1), "more places"),
    (sets(["1", "0", "0"], 3), {**sets(["1", "0", "0"], 3), "chosen": 1}, "not m \\+ 1"),
    (sets(["1", "2"], 3), sets(["2", "2"], 3), "two of them different"),
    (sets(["1", "2"], 3, "49/100"), sets(["1", "2"], 3, "1/2"), "noise"),
    (sets(["0", "9" * 1000], 3), sets(["0", LONG], 3), "long values"),
    (sets(["0", f"-1/{'9' * 999}"], 3), sets(["0", f"-1/{LONG}"], 3), "long values"),
    (direction(2), direction(1), "dimension"),
    (direction(10**9), direction(10**9 + 1), "dimension"),
    (direction(low=["1"] * 64), direction(low=["1"] * 65), "squares"),
    (direction(low=[f"1/{10**100 - 1}"]), direction(low=[f"1/{10**100}", "0"]), "100 digits"),
    (modular(1 << 20, 2, bits=1 << 20), modular((1 << 20) + 1, 2), "n is not"),
    (modular(2, 1 << 48, bits=48), modular(2, 1 << 49, bits=49), "q is not"),
    (modular(8, 5, bits=7), modular(8, 5, bits=6), "few bits"),
    (modular(2, 8, bits=3), modular(2, 8, bits=2), "few bits"),
    (modular(2, 8, "interval", 4), modular(2, 8, "residue", 4), "residue is one"),
    (modular(errors=[0, [str(1 << 64)]]), modular(errors=[0, [str((1 << 64) - 1)]]), "add up"),
    (modular(entries=[0, ["1"] * (1 << 15)]), modular(entries=[0, ["1"] * 32769]), "over 2"),
    (modular(entries=[-(1 << 40), ["1"]]), modular(entries=[-(1 << 40) - 1, ["1"]]), "least"),
    (modular(), modular(q=6), "power of two nor prime"),
    (modular(), modular(q=842779), "power of two nor prime"),  # 7 * 120397
    (modular(2, 8, "interval", 4), modular(2, 8, "interval", 3), "not equal"),
    (modular(), modular(labels="bit"), "not equal"),
    (modular(2, 8, "interval", 2), modular(2, 8, "interval", 1), "parts is not"),
    (modular(entries=[1 << 40, ["1"]]), modular(entries=[(1 << 40) + 1, ["1"]]), "least"),
    (modular(), modular(n=0), "n is not"),
    (modular(2, 8, bits=3), modular(2, 8, bits=0), "bits is not"),
    (modular(weight=2), modular(weight=3), "weight"),
    (modular(), modular(entries=[0, []]), "no value"),
    (modular(), modular(entries=[0, ["1", "0"]]), "last is 0"),
    (modular(), modular(entries=[0, ["1", "-1", "1"]]), "whole"),
    (direction(), direction(low=[]), "squares"),
    (direction(low=["1"]), direction(low=["3/2"]), "squares"),
    (direction(low=["0"]), direction(low=["1", "-1/2"]), "squares"),
    (modular(), modular(entries=[0, ["1"], 1]), "least value and a list"),
    (modular(), modular(entries=[0, ["1", "1/2", "1"]]), "whole"),
    (modular(), modular(weight=-1), "weight"),
    (modular(bits=1 << 20), modular(bits=(1 << 20) + 1), "bits is not"),
    (modular(2, 8, "interval", 4), modular(2, 8, "interval", 4, errors=[0, [str(1 << 64)]]), "add"),
    *((sets(["1", "-1"], 3, view="among-others"), sets(["1", "-1"], 3, view=view), "view")
      for view in ("", "other", 0, None)),
    (tables("6", "a"), tables("6"), "2 to 1000"),
    (tables("6", "f"), tables("6", "10"), "2\\^n points"),
    (tables("6", "a"), tables("6", "0x6"), "hexadecimal"),
    (tables("6", "a"), tables("6", "a", centred=0), "neither true"),
    (TABLES, tables([[0], [1, 2]], [[0], [1]]), "one a point"),
    (TABLES, tables([[0], [1, 2]], [[1, 0], [1, 2, 3, 4]]), "not ascending"),
    (TABLES, tables([[0], [1, 2]], [[2], [1, 2]]), "a sign"),
    (TABLES, tables([[0], [1, 2]], [[0], [1, 2], 3]), "a pair"),
]  # fmt: skip


@pytest.mark.parametrize(("right", "wrong", "words"), REFUSED)
def test_problems_are_read_up_to_their_limits(right, wrong, words):
    checker.read_problem(right)
    refused(words, checker.read_problem, wrong)


@pytest.mark.parametrize("values", [
    ["3", "3", "-1"], ["1", "0", "-1", "5"], ["1", "-1", "1"], ["0", "1"],
    ["11/10", "-9/10", "11/10", "-9/10", "1"], ["25", "9", "1", "1", "9", "25"],
])  # fmt: skip
@pytest.mark.parametrize("noise", ["0", "1/8"])
def test_the_spectrum_of_hidden_sets_is_that_of_their_values_at_all_points(values, noise):
    g, n = list(map(Fraction, values)), 6
    m = len(g) - 1
    points = np.array(list(itertools.product((0, 1), repeat=n)))
    rows = np.array([[float(g[h]) for h in points[:, s].sum(axis=1)]
                     for s in map(list, itertools.combinations(range(n), m))])  # fmt: skip
    problem = checker.read_problem(sets(values, n, noise))
    c, _ = hidden_sets.overlaps(problem)
    gram, made = hidden_sets.johnson(problem, hidden_sets.subsets(problem), c)
    value = {claim.quantity: float(claim.value) for claim in made}
    alone = (rows - rows.mean()) @ (rows - rows.mean()).T / len(points)
    near = alone / alone[0, 0]
    assert value["average-correlation"] == pytest.approx(near.mean())
    assert value["cross-predictability"] == pytest.approx((near**2).mean())
    assert value["operator-norm"] == pytest.approx(np.linalg.eigvalsh(near)[-1])
    less = rows - rows.mean(axis=0)
    spectrum = np.linalg.eigvalsh(less @ less.T / len(points))[::-1]
    told = np.concatenate([np.full(size, float(v)) for v, size in gram.spectrum])
    assert told == pytest.approx(spectrum[:-1], abs=1e-12)
    assert value["second-eigenvalue"] == pytest.approx(spectrum[0] / alone[0, 0])
    assert float(gram.top) == pytest.approx(spectrum[0])
    assert float(gram.least) == float(gram.scale) == pytest.approx((less**2).mean())
    half = (max(g) - min(g)) / 2
    fade = 1 - 2 * Fraction(noise)
    assert gram.moves == fade**2 * gram.top / (2 * half) ** 2
    assert gram.general == (len(set(g)) == 2)


def test_characters_move_by_a_quarter_and_noise_makes_it_less():
    for view in ({}, {"view": "among-others"}):
        gram = known(sets(["1", "-1", "1"], 5, "1/4", **view)).gram
        assert (gram.top, gram.least, gram.scale, gram.moves) == (1, 1, 1, Fraction(1, 16))
        assert (gram.moves01, gram.public) == (gram.moves, int(not view))
        assert gram.spectrum == (None if view else [(1, 10)])


def test_a_code_has_its_limits_and_a_gamma_of_1_asks_nothing():
    problem = checker.read_problem(sets(["1", "-1"], 3000))
    for count in (2048, 2049):
        code = {"overlap": 0, "size": str(count), "sets": [[i] for i in range(count)]}
        if count == 2048:
            assert hidden_sets.code(problem, code) == (2048, 0)
        else:
            refused("over 2048", hidden_sets.code, problem, code)
    for change, words in (
        ({"sets": {"field": 1}}, "field is"),
        ({"overlap": -1}, "overlap is"),
        ({"sets": {"field": 10**6 + 3}}, "field is"),
        ({"overlap": 1}, "overlap"),
    ):
        code = {"overlap": 0, "size": "1", "sets": {"field": 2}, **change}
        refused(words, hidden_sets.code, problem, code)
    small = checker.read_problem(sets(["3", "3", "-1"], 5))
    c, _ = hidden_sets.overlaps(small)
    nothing = {"inner": [], "average": "0", "caps": [], "enough": "1"}
    assert hidden_sets.every_set(small, c, Fraction(1), nothing) == 1
    refused("missing", hidden_sets.every_set, small, c, Fraction(99, 100), nothing)
    assert hidden_sets.every_set(small, c, HALF, {**nothing, "enough": "11"}) == 11
    refused("missing", hidden_sets.every_set, small, c, HALF, {**nothing, "enough": "10"})
    right = every_set(Johnson(problem=small), HALF)
    few = {**nothing, "caps": ["0", "0"]}
    refused("fail at distance", hidden_sets.every_set, small, c, HALF, few)
    many = {**right, "inner": ["0"] * 3}
    refused("too many", hidden_sets.every_set, small, c, HALF, many)


@pytest.mark.parametrize("t", [1, 7])
def test_a_query_to_vstat_rules_out_fewer_than_correlate_by_their_laws(t):
    problem = checker.read_problem(sets(["3", "3", "-1"], 4, "1/8"))
    c, _ = hidden_sets.overlaps(problem)
    members = list(itertools.combinations(range(4), 2))
    points = list(itertools.product((0, 1), repeat=4))
    up = [[Fraction(1, 8) if point[a] and point[b] else Fraction(7, 8) for point in points]
          for a, b in members]  # fmt: skip
    coin = sum(up[0]) / 16
    for (first, f), (second, g) in itertools.product(zip(members, up, strict=True), repeat=2):
        both = sum((x - coin) * (y - coin) for x, y in zip(f, g, strict=True))
        near = both / 16 * (1 / coin + 1 / (1 - coin)) / 2  # half of the examples are open
        overlap = c[len({*first} & {*second})]
        assert near == problem.lift * overlap / 2
        assert near * 3 * t * hidden_sets.vstat_gamma(problem, c, t) == overlap / c[-1]
    witness = every_set(Johnson(problem=problem), hidden_sets.vstat_gamma(problem, c, t))
    claim = hidden_sets.vstat_rules_out_fewer(problem, c, t, witness)
    assert (claim.value, claim.numbers) == (int(witness["enough"]) - 1, {"s": claim.value + 1})


def test_the_fewest_examples_reach_1_exactly():
    """One sign of two: an example adds 1/2 of an open one, 1/4 in all."""
    about = {"low-degree": {"degree": "2", "examples": "3"}}
    made = claims(sets(["1", "-1"], 2), {}, about=about)
    assert made["low-degree-advantage"].value == Fraction(3, 4)
    assert made["low-degree-examples"].value == 4
    assert made["low-degree-examples-open"].value == 2


def test_moments_by_counting_pairs_of_monomials():
    """s_i is a sum over i sets of signs each, within the degree, of which both members hold all."""
    weights = [Fraction(0), Fraction(1, 3), Fraction(0), Fraction(2, 5)]
    pairs = [4, 9, 0, 2]
    for degree, most in itertools.product(range(1, 10), range(1, 4)):
        tops, bottom = hidden_sets.moments(weights, pairs, degree, most)
        wanted = []
        for i in range(1, min(most, degree // 2) + 1):
            total = Fraction(0)
            for t, count in enumerate(pairs):
                for sizes in itertools.product((1, 3), repeat=i):
                    if sum(sizes) + i <= degree:
                        ways = math.prod(weights[a] * math.comb(t, a) for a in sizes)
                        total += count * ways
            wanted.append(total / sum(pairs))
        assert [Fraction(top, bottom) for top in tops] == wanted


@pytest.mark.parametrize(("n", "h", "modulus", "lifts"), [(3, 2, 4, 2), (4, 2, 2, 4), (3, 3, 4, 3)])
def test_uniform_entries_of_a_weight_mod_2_m_by_enumeration(n, h, modulus, lifts):
    seen = Counter()
    for places in itertools.combinations(range(n), h):
        for values in itertools.product(range(1, modulus * lifts), repeat=h):
            vector = [0] * n
            for place, v in zip(places, values, strict=True):
                vector[place] = v % modulus
            seen[tuple(vector)] += any(v % 2 for v in vector)
    tiers, lost, total = residues.lifted_law(n, h, modulus, lifts)
    counts = Counter(count for count in seen.values() if count)
    assert Counter(w for size, w in tiers for _ in range(size)) == counts
    assert (lost, total) == (0, sum(seen.values()))
    assert all(size for size, _ in tiers)
    assert [w for _, w in tiers] == sorted((w for _, w in tiers), reverse=True)


@pytest.mark.parametrize(("problem", "words"), [
    (modular(entries=[0, ["1"]]), "no entry is a unit"),
    (modular(q=8, entries=[0, ["1", "0", "1"]]), "no entry is a unit"),
    (modular(weight=1, entries=[0, ["1", "1"]]), "may be 0 mod M"),
    (modular(2, 2, bits=1, errors=[0, [str(1 << 63)] * 2]), "do not depend on the secret"),
])  # fmt: skip
def test_laws_of_secrets_that_say_nothing_are_refused(problem, words):
    refused(words, known, problem, EVEN)


def test_secrets_are_counted_by_their_vectors_mod_m():
    four = known(modular(2, 8, "interval", 4, bits=3), EVEN).members
    assert (four.count, four.alike, four.upper, four.law) == (4**2 - 2**2, 2, 8**2 - 4**2, None)
    two = known(modular(2, 8, "interval", 2, bits=3), EVEN).members
    assert (two.count, two.alike, two.upper, two.law) == ((8**2 - 4**2) // 4, 1, 48, None)
    rare = known(modular(4, 16, "interval", 4, weight=2, bits=4), EVEN).members
    tiers, _, total = residues.lifted_law(4, 2, 8, 2)
    assert rare.upper == math.comb(4, 2) * (15**2 - 7**2)
    assert (rare.law.tiers, rare.law.total, rare.law.as_one) == (tiers, total, 4)
    assert known(modular(3, 7, weight=1), EVEN).members.upper == 3 * 6
    some = modular(3, 16, "interval", 4, weight=2, entries=[1, ["1", "1"]], bits=4)
    chosen = known(some, EVEN).members
    assert (chosen.count, chosen.upper, chosen.law) == (3 * (2**2 - 1), 9, None)
    # Of 1, with 3/4, and 2, with 1/4, the first is lost; what is left would be even.
    lost = {"law": {"base": "2/3", "cut": 1, "weights": [0, 1]}}
    law = known(modular(1, entries=[1, ["3", "1"]]), lost).members.law
    assert (law.tiers, law.lost, law.total) == ([(2, 6)], 9, 12)
    wrong = {"law": {**EVEN["law"], "cut": -1}}
    refused("cut is not", known, some, wrong)


def test_uniform_entries_have_no_weights():
    weighed = {"law": {**EVEN["law"], "weights": [0] * 7}}
    refused("no weights", known, modular(), weighed)
    seven, few = modular(entries=[0, ["1"] * 7]), {"law": {**EVEN["law"], "weights": [0] * 6}}
    assert known(seven, weighed).members.count == 48
    refused("a weight for each", known, seven, few)
    refused("a weight is", known, seven, {"law": {**EVEN["law"], "weights": [-1] * 7}})


@pytest.mark.parametrize(("problem", "parts"), [
    (modular(2, 2, bits=1), 2), (modular(1, 8, "interval", 2, bits=3), 2),
    (modular(2, 3, bits=4), 3), (modular(1, 8, "interval", 4, bits=3), 4),
    (modular(2, 5, errors=[0, ["9" + "0" * 18, "0", str((1 << 64) - 9 * 10**18)]]), 5),
])  # fmt: skip
def test_the_gram_of_residues_from_the_laws_of_a_label(problem, parts):
    """chi^2 by the law of t + e given t; a code is drawn by the reference at random."""
    gram = known(problem, EVEN).gram
    q, n, whole = problem["q"], problem["n"], 1 << problem["bits"]
    first, counts = problem["errors"] or (0, [1])
    law = [[Fraction(0)] * parts for _ in range(q)]
    for t, (e, count) in itertools.product(range(q), enumerate(counts, first)):
        law[t][(t + e) % q * parts // q] += Fraction(int(count), sum(map(int, counts)))
    square = sum((parts * p - 1) ** 2 for row in law for p in row) / parts / q
    over = Fraction(n * (q - whole % q), whole) if q % 2 else 0
    most = 1 / (1 - over)
    shares = [Fraction(k, parts) for k in range(parts + 1)]
    assert gram.top == most
    assert gram.least == 1 - (Fraction(n * (whole % q), whole) if q % 2 else 0)
    assert gram.moves == most * square / 2 * max(4 * p * (1 - p) for p in shares) / 2
    assert gram.moves01 == most * square / 2 * (1 - shares[1])
    assert gram.drift == most * square / 4
    assert (gram.scale, gram.public, gram.general) == (1, 1, True)


def test_members_of_a_prime_are_as_many_as_the_density_of_a_allows():
    for bits in (5, 6, 30):
        whole = 1 << bits
        most, least = (
            1 / (1 - Fraction(2 * (7 - whole % 7), whole)),
            1 - Fraction(2 * (whole % 7), whole),
        )
        made = claims(modular(bits=bits), EVEN, risk="1/20")
        few = math.floor((most + least) / (most - least))
        assert made["sq-dimension"].value == min(8, few)
        assert made["sq-dimension"].parameters["upper"] == 48
        assert made["pairwise-correlation"].parameters["upper"] == (most - least) / (most + least)
        assert made["orthogonal-members"].source == "this certificate"
    noisy = modular(errors=[0, [str(1 << 63)] * 2])
    assert claims(noisy, EVEN)["orthogonal-members"].source == "Regev05"


def test_random_directions_by_a_union_bound():
    problem = checker.read_problem(direction(1000, ["0", "0"], "1/10"))
    size, cosine = 3, Fraction(1, 2)
    for power, mean in ((1, Fraction(1, 1000)), (2, Fraction(3, 1000 * 1002))):
        witness = {"size": "3", "cosine": "1/2", "power": power}
        claim = directions.random_directions(problem, witness)
        sure = 1 - 3 * mean / cosine ** (2 * power)
        assert claim.parameters["probability"] == Fraction(math.floor(sure * 10**6), 10**6)
        assert claim.value == size
    refused("above 1/size", directions.random_directions, problem, {**witness, "size": "5"})
    assert directions.random_directions(problem, {**witness, "size": "4"}).value == 4
    fine = {**witness, "cosine": "1/1000000"}
    refused("nearer", directions.random_directions, problem, fine)
    refused("denominator", directions.random_directions, problem, {**fine, "cosine": "1/1000001"})
    refused("power is", directions.random_directions, problem, {**witness, "power": 1001})
    long = {**witness, "cosine": "999/1000", "size": "1", "power": 1000}
    assert directions.random_directions(checker.read_problem(direction(1000)), long).value == 1
    even = {"size": "2", "cosine": "1/2", "power": 1}
    refused("nearer", directions.random_directions, checker.read_problem(direction(4)), even)
    gram = directions.sphere(problem)[1]
    assert (gram.scale, gram.general) == (1, True)
    assert gram.moves == Fraction(16, 25) * gram.top
    assert gram.moves01 == Fraction(8, 25) * (1 - gram.least)
    low = checker.read_problem(direction(30, ["1/8", "1/4"]))
    third, rest = Fraction(1, 3), Fraction(1, 4 * 30) + Fraction(3, 30 * 32)
    assert 0 <= directions.sphere(low)[1].top - rest < Fraction(1, 10**6)
    assert directions.correlation(low, third) == Fraction(1, 8) + third / 4 + third**2


def test_polynomials_are_as_many_and_as_near_as_they_say():
    problem = checker.read_problem(direction(30, ["0", "0"]))
    right = {"q": 5, "points": 5, "degree": 1, "size": "25"}
    assert directions.polynomials(problem, right).value == 25
    for change, words in (({"size": "26"}, "many poly"), ({"points": 6}, "not so many places"),
                          ({"q": 6}, "not so many places"), ({"degree": 6}, "above the points"),
                          ({"degree": 2, "size": "7"}, "above 1/size"), ({"q": 7}, "places"),
                          ({"q": 1}, "q is not"), ({"points": 0}, "points is not"),
                          ({"degree": -1}, "degree is not"),
                          ({"q": 10**6 + 1}, "q is not")):  # fmt: skip
        refused(words, directions.polynomials, problem, {**right, **change})
    assert directions.polynomials(problem, {**right, "degree": 2, "size": "6"}).value == 6
    near, alone = checker.read_problem(direction(30, ["1", "1"])), {**right, "degree": 5}
    assert directions.polynomials(near, {**alone, "size": "1"}).value == 1
    assert directions.sphere(near)[2][0].value == 1
    refused("above 1/size", directions.polynomials, near, {**alone, "size": "2"})
    wide = checker.read_problem(direction(10**9, ["0"]))
    for q, points, degree in ((999983, 1, 0), (1009, 900, 61), (2, 2, 0)):
        large = {"q": q, "points": points, "degree": degree, "size": "2"}
        assert directions.polynomials(wide, large).value == 2


@pytest.mark.parametrize("noise", ["0", "1/10"])
def test_all_claims_on_directions_stand_in_their_order(noise):
    problem = direction(1000, ["0", "0"], noise)
    random = {"size": "2", "cosine": "1/2", "power": 2}
    few = {"q": 5, "points": 5, "degree": 1, "size": "25"}
    names = ["operator-norm-at-most", "second-eigenvalue-at-most", "random-members",
             "sq-dimension-at-least", "stat-queries", "vstat-queries",
             "information-floor"]  # fmt: skip
    made = claims(problem, {"polynomials": few, "random": random}, tau="1/2", t="3")
    assert list(made) == names
    assert list(claims(problem, {"polynomials": few})) == [n for n in names if n[:6] != "random"]
    near = made["operator-norm-at-most"].value, made["second-eigenvalue-at-most"].value
    fade = (1 - 2 * Fraction(noise)) ** 2
    r = min(9 * fade * near[1] / 4, 3 * 3 * fade * near[0] / 2)
    fits = near[1] / (1 - near[0] - Fraction(1, 4))
    assert made["vstat-queries"].value == math.ceil((Fraction(2, 3) - fits) / r)


@pytest.mark.parametrize("problem", [sets(["1", "-1", "1"], 4), sets(["1", "1", "-1"], 5, "1/8")])
def test_noisy_steps_are_the_fewest_that_its_bound_allows(problem):
    parsed, members, gram = checker.read_problem(problem), *known(problem)[:2]
    for std, risk, success in itertools.product((3, HALF), (0, HALF), (HALF, 1, Fraction(1, 9))):
        numbers = {"clip": "2", "noise-std": str(std), "steps": "3"}
        terms = {"about": {"gd": numbers}, "risk": str(risk), "success": str(success)}
        fits = min(members.count, math.floor(gram.top / (gram.least - risk * gram.scale)))
        made = claims(problem, {}, **terms)
        pace = 4 * gram.moves / members.count / (4 * Fraction(std) ** 2)
        guess = Fraction(fits, members.count)
        assert made["gd-noise-steps"].numbers == {"guess": guess, "pace": pace}
        reached = float(min(1, guess + math.sqrt(3 * pace)))
        assert float(made["gd-noise-success"].value) == pytest.approx(reached, rel=1e-11)
        steps = made["gd-noise-steps"].value
        assert steps == next(t for t in itertools.count()
                             if success <= guess or (success - guess) ** 2 <= t * pace)  # fmt: skip
    assert parsed.levels == 2


@pytest.mark.parametrize("risk", ["0", "1/4", "99/100"])
def test_features_are_the_fewest_eigenvalues_that_suffice(risk):
    problem = sets(["1", "1", "-1"], 5)
    members, gram = known(problem)[:2]
    largest = [value for value, size in gram.spectrum for _ in range(size)]
    for count, success in itertools.product((1, 4, 10), ("1/2", "9/10", "1")):
        about = {"kernel": {"features": str(count)}}
        made = claims(problem, {}, about=about, risk=risk, success=success)
        error = (gram.least - sum(largest[:count]) / members.count) / gram.scale
        assert made["kernel-error"].value == max(error, 0)
        wanted = members.count * Fraction(success) * (gram.least - Fraction(risk) * gram.scale)
        fewest = next(n for n in range(11) if sum(largest[:n]) >= wanted)
        assert made["kernel-features"].value == fewest
    made = claims(sets(["1", "-1"], 5), {}, about={"kernel": {}}, risk=risk, success="1/5")
    assert made["kernel-features"].value == max(0, math.ceil(1 - Fraction(risk)) - 1)
    assert len(made) == 2  # no number of features is asked about
    with pytest.raises(checker.Refused, match="more features than the 10"):
        claims(problem, {}, about={"kernel": {"features": "11"}})


def test_features_for_secrets_of_a_law_count_what_is_lost():
    witness = {"law": {"base": "1/2", "cut": 3, "weights": [0, 2, 3]}}
    problem = modular(6, entries=[-1, ["1", "8", "2"]])
    members, gram = known(problem, witness)[:2]
    made = claims(problem, witness, about={"kernel": {"features": "1"}}, risk="0")
    lost = named.rounded_up(Fraction(members.law.lost, members.law.total))
    assert 0 < lost < 1
    error = (1 - lost) * gram.least - 2 * members.alike * gram.top * named.heaviest(members)
    assert made["kernel-error"].value == error > HALF
    made = claims(modular(bits=5), EVEN, about={"kernel": {}}, risk="99/100")
    assert made["kernel-features"].value == 0


def test_values_whose_products_need_more_than_64_bits_are_multiplied_exactly():
    large = 1 << 31
    first, second = [[0, 1], [large, 1, -1, large]], [[0, 1], [1, large, large, -1]]
    problem = tables(first, second, centred=True)
    products = checker.functions.products(checker.read_problem(problem))[1]
    assert products.norms == [8 * ((large - 1) ** 2 + (large + 1) ** 2)] * 2
    assert products.rows[0][1] == -products.norms[0]


def test_learners_that_are_not_known_or_have_nothing_to_learn_are_refused():
    problem = sets(["1", "-1", "1"], 4)
    refused("0 everywhere", known, tables([[], [0]], [[0], [1, 2]]))
    with pytest.raises(checker.Refused, match="not known"):
        checker.prove(problem, {**TERMS, "about": {"oracle": {}}}, {})
    same = {"kind": "functions", "signs": 1, "centred": False, "tables": ["2", "2"]}
    with pytest.raises(checker.Refused, match="the same function"):
        checker.prove(same, {**TERMS, "about": {"gd": {}}}, {"eigenvalue": {}})
    about = {"kernel": {}, "gd": {"clip": "1", "noise-std": "1"}, "low-degree": {"degree": "3"},
             "lwe": {"examples": "1", "bound": "1"}}  # fmt: skip
    proved = checker.prove(problem, {**TERMS, "about": about}, {})
    assert list(proved.unproved) == ["lwe"]
    assert "only labels that round residues" in proved.unproved["lwe"]
    three = {**TERMS, "about": {name: about[name] for name in ("gd", "kernel")}}
    proved = checker.prove(sets(["1", "0", "-1"], 4), three, {})
    used = ["subsets", "overlaps", "johnson", "features", "hypothesis_fits", "information_floor"]
    assert [theorem.__name__ for theorem in proved.theorems] == used
    for other, witness, words in ((modular(), EVEN, "the bits of residues"),
                                  (direction(), {}, "overlaps alone")):  # fmt: skip
        asked = {name: about[name] for name in ("gd", "low-degree")}
        unproved = checker.prove(other, {**TERMS, "about": asked}, witness).unproved
        assert words in unproved["low-degree"]
    for wrong in (None, [], {"kind": "none"}):
        refused("kind of problem", checker.read_problem, wrong)
    assert read_terms(TERMS).about == {}


def test_the_first_claim_that_is_not_right_is_named_with_what_is():
    problem = sets(["1", "-1"], 4)
    data = {"format": checker.FORMAT, "spec": "", "problem": problem, "terms": TERMS, "witness": {}}
    right = [["pairwise-correlation", {}, "0"], ["sq-dimension", {}, "4"]]
    refused("5 follow", checker.check, {**data, "claims": right})
    right[1] = ["sq-dimension", {}, "5"]
    words = r"^sq-dimension is not as claimed: it is 4, of \{\}$"
    refused(words, checker.check, {**data, "claims": right})
