"""What no certificate shows of the checker: refusals, laws that are not even, codes."""

import itertools
import json
import math
from collections import Counter
from fractions import Fraction

import pytest

import hardness
from hardness.bounds import checker
from hardness.bounds.checker import hidden_sets, named, residues, theorem
from hardness.bounds.checker.hidden_sets import HiddenSets, prime
from hardness.bounds.checker.reading import DIGITS, fields, read
from hardness.bounds.checker.theorem import Law, Members

HALF = Fraction(1, 2)
TERMS = {"tau": "1/10", "t": "100", "risk": "1/4", "success": "2/3", "gamma": "1/20"}


def refused(call, *arguments):
    """The reason of a refusal."""
    with pytest.raises(checker.Refused) as reason:
        call(*arguments)
    return str(reason.value)


def certificate(spec, **options):
    """What the file of a certificate holds: problem, terms, witness."""
    data = json.loads(hardness.certify(spec, **options).to_json())
    return data["problem"], data["terms"], data["witness"]


def test_numbers_have_one_spelling_and_a_length():
    assert "not a string" in refused(read, "rational", 3)
    assert "too long" in refused(read, "rational", "0x" + "1" * (DIGITS - 1))
    assert read("rational", "0x" + "1" * (DIGITS - 2)) > 0
    for text in ("2/4", "01", "-0", "1/1", "0x10", "1/0", " 1", "1.0"):
        refused(read, "rational", text)
    for kind, wrong in (("share", "0"), ("share", "3/2"), ("risk", "1"), ("risk", "-1"),
                        ("above 0", "0"), ("positive", "0"), ("positive", "3/2")):  # fmt: skip
        assert "out of range" in refused(read, kind, wrong)
    for kind, right in (("share", "1"), ("risk", "0"), ("positive", "1")):
        read(kind, right)


def test_fields_are_an_object_with_what_is_expected():
    assert "not an object" in refused(fields, [], set(), "it")
    assert "lacks a" in refused(fields, {"b": 1}, {"a", "b"}, "it")
    assert "unknown fields: c" in refused(fields, {"a": 1, "c": 1}, {"a"}, "it", {"b"})
    reason = refused(checker.load, '"\n\x07' + "a" * 400)
    assert reason.isprintable()
    assert len(refused(fields, {}, {"a" * 400}, "it")) == 300


@pytest.mark.parametrize("about", [{}, [], {"gd": 1}, {"gd": {}, "lwe": []}])
def test_learners_that_are_asked_about_have_names_and_numbers(about):
    assert "name no learner" in refused(theorem.read_terms, {**TERMS, "about": about})


def law_of(*weights, lost=0, as_one=1):
    """Members of these weights, the heaviest first, by their tiers."""
    tiers = [(len(list(same)), weight) for weight, same in itertools.groupby(weights)]
    law = Law(tiers, lost, sum(weights) + lost, as_one)
    return Members(count=len(weights) // as_one, law=law)


@pytest.mark.parametrize("lost", [0, 3])
@pytest.mark.parametrize("as_one", [1, 2])
@pytest.mark.parametrize("weights", [(5, 5, 2, 2, 2, 1), (4, 3, 3, 1), (2, 2)])
def test_the_likeliest_members_are_counted_by_their_weights(weights, as_one, lost):
    members, total = law_of(*weights, lost=lost, as_one=as_one), sum(weights) + lost
    for count in range(len(weights) // as_one + 2):
        most = Fraction(min(lost + sum(weights[: count * as_one]), total), total)
        assert theorem.probability_of_members(members, count) == most
    for step in range(1, 24):
        success = Fraction(step, 24)
        fewest = next(n for n in range(len(weights) + 1)
                      if lost + sum(weights[:n]) >= success * total)  # fmt: skip
        assert theorem.members_of_probability(members, success) == -(-fewest // as_one)
    assert theorem.members_of_probability(members, Fraction(1)) == members.count


def test_closed_forms_at_small_numbers():
    of = theorem.EXACT
    assert theorem.least_queries(of, 5, 7, Fraction(2)) == 0
    assert theorem.least_queries(of, 9, 2, Fraction(2)) == 4
    for levels, needed in itertools.product((2, 3, 10), (*range(1, 30), 10**40, 10**40 + 1)):
        least = next(n for n in range(200) if levels**n >= needed)
        assert of.examples(levels, needed) == of.examples(levels, Fraction(2 * needed, 2)) == least
    assert of.examples(2, Fraction(1, 3)) == 0


def test_what_is_not_bounded_is_refused():
    gram = theorem.Gram(
        top=HALF, least=Fraction(1), scale=1, moves=HALF, moves01=None, general=True
    )
    members, terms = Members(count=9), theorem.read_terms(TERMS)
    assert "queries in [0,1]" in refused(theorem.vstat_rules_out, members, gram, 5)
    assert theorem.hypothesis_fits(members, gram, Fraction(0)) == 0
    assert "fits no member" in refused(theorem.information_floor, 2, members, 0, terms)
    assert theorem.hypothesis_fits(members, gram._replace(least=HALF), HALF) == 9
    majority = HiddenSets(n=5, m=3, g=tuple(map(Fraction, (1, 1, -1, -1))), noise=Fraction(0))
    assert "not (-1)^h" in refused(hidden_sets.characters, majority, members)
    everyone = majority._replace(n=3)
    three = majority._replace(g=tuple(map(Fraction, (1, 0, -1, -1))))
    reason = refused(hidden_sets.vstat_rules_out_fewer, three, [Fraction(1)], 5, {})
    assert "more than two values" in reason
    known = hidden_sets.overlaps(everyone)[0]
    assert "one member" in refused(hidden_sets.johnson, everyone, members, known)


def test_primes():
    assert [q for q in range(130) if prime(q)] == [
        q for q in range(2, 130) if all(q % p for p in range(2, q))
    ]


def test_codes_are_what_they_claim():
    problem = HiddenSets(n=9, m=3, g=tuple(map(Fraction, (1, -1, 1, -1))), noise=Fraction(0))

    def size_of(sets, overlap, size):
        return hidden_sets.code(problem, {"sets": sets, "overlap": overlap, "size": str(size)})

    pair = [[0, 1, 2], [2, 3, 4]]
    for sets, overlap, size in (("disjoint", 0, 3), ("all", 2, 84), ({"field": 3}, 0, 3),
                                ({"field": 3}, 1, 9), (pair, 1, 2), (pair, 2, 2)):  # fmt: skip
        assert size_of(sets, overlap, size) == (size, overlap)
    for sets, overlap, size in (("disjoint", 0, 4), ("all", 2, 85), ("all", 1, 84), ("few", 2, 1),
                                ({"field": 3}, 0, 4), ({"field": 2}, 1, 2), ({"field": 5}, 1, 2),
                                ({"field": 4}, 1, 2), (pair, 0, 2), (pair, 1, 3), (pair, 1, 1),
                                ([[0, 1]], 1, 1), ([[0, 1, 1]], 1, 1), ([[0, 1, 9]], 1, 1),
                                (pair, 3, 2), ([[0, 1, 2], [3, 4]], 0, 2),
                                ([[0, 1, 2], [0, 1, 3], [4, 5, 6]], 1, 3)):  # fmt: skip
        refused(size_of, sets, overlap, size)
    known, members = hidden_sets.overlaps(problem)[0], hidden_sets.subsets(problem)
    near = {"sets": pair, "overlap": 1, "size": "2"}
    assert hidden_sets.packing(problem, members, known, near).value == 2
    flat = [Fraction(0), *[Fraction(9, 10)] * 2, Fraction(1)]
    assert "above 1/size" in refused(hidden_sets.packing, problem, members, flat, near)


def test_multipliers_are_not_negative_and_suffice():
    problem, terms, witness = certificate("profile:g=majority,d=9,m=3", gamma="1/3")
    checker.prove(problem, terms, witness)
    sda = witness["sda"]
    for change in ({"average": "-1"}, {"caps": ["-1", *sda["caps"][1:]]}, {"caps": sda["caps"][1:]},
                   {"enough": "2"}, {"inner": [*sda["inner"], *["0"] * 9]}):  # fmt: skip
        refused(checker.prove, problem, terms, {**witness, "sda": {**sda, **change}})


def test_low_degree_refuses_what_takes_too_long_or_is_not_known():
    problem, terms, witness = certificate("parity:d=24,m=3")

    def ask(problem, degree):
        return checker.prove(
            problem, {**terms, "about": {"low-degree": {"degree": degree}}}, witness
        )

    assert ask(problem, "8").claims
    assert "takes too long" in refused(ask, problem, "8" + "0" * 9)
    assert "labels show more than g" in refused(ask, {**problem, "view": "among-others"}, "8")
    wide = {**problem, "values": ["1", "0", "-1", "0"]}
    assert "more than two values" in refused(ask, wide, "8")


def test_one_member_is_enough_where_no_two_correlate_above_gamma():
    claim = theorem.sda(Members(count=10), HALF, 1)
    assert (claim.value, claim.parameters["upper"], claim.closed_form) == (10, 10, "N")
    assert [theorem.sda(Members(count=10), HALF, s).value for s in (2, 3, 4, 10)] == [9, 4, 3, 1]


def test_coefficients_of_a_power_and_the_law_of_vectors_by_enumeration():
    counts = Counter({1: 3, 2: 5, 4: 2})
    for many, cut in itertools.product(range(1, 4), range(14)):
        vectors = itertools.product(counts.items(), repeat=many)
        sums = [(sum(w for w, _ in v), math.prod(c for _, c in v)) for v in vectors]
        assert residues.below(counts, many, cut) == sum(c for w, c in sums if w < cut)
    assert residues.below(Counter(), 2, 3) == 0
    groups = [(0, 8, 1, 1), (0, 3, 1, 0), (1, 4, 2, 0), (2, 1, 0, 1)]  # weight, mass, units, others
    entries = [(w, m, unit) for w, m, a, b in groups for unit in [True] * a + [False] * b]
    for many, cut in itertools.product((1, 2, 3), range(6)):
        drawn = [v for v in itertools.product(entries, repeat=many) if any(u for *_, u in v)]
        masses = [(sum(w for w, *_ in v), math.prod(m for _, m, _ in v)) for v in drawn]
        tiers, lost, total = residues.power_law(groups, 1, many, HALF, cut)
        whole = sum(m for _, m in masses)
        assert tiers[0][0] == len(drawn)
        assert Fraction(lost, total) == Fraction(sum(m for w, m in masses if w < cut), whole)
        heaviest = max((m for w, m in masses if w >= cut), default=0)
        assert Fraction(tiers[0][1], total) == Fraction(8**many, whole * 2**cut)
        assert Fraction(tiers[0][1], total) >= Fraction(heaviest, whole)
    assert "likelier" in refused(residues.power_law, [(0, 8, 1, 0), (4, 1, 1, 0)], 1, 1, HALF, 0)
    assert "too long" in refused(residues.power_law, groups, 1, 1 << 24, HALF, 0)
    assert "too long" in refused(residues.lifted_law, 1 << 12, 1 << 12, 4, 2)


ROUNDED = {"kind": "residues", "n": 3, "q": 64, "bits": 6, "labels": "interval", "parts": 2,
           "secret": {"weight": 0, "entries": None}, "errors": None}  # fmt: skip
EVEN = {"base": "1", "cut": 0, "weights": []}


def chain_of(examples, bound="3", terms=None, **problem):
    """The claim of the chain from a learner to a solver of LWE."""
    about = {"lwe": {"examples": str(examples), "bound": bound}}
    goal = {**TERMS, "risk": "1/5", **(terms or {}), "about": about}
    return checker.prove({**ROUNDED, **problem}, goal, {"law": EVEN}).claims[0]


def test_the_chain_to_lwe_reads_the_hypothesis_at_enough_points():
    assert math.e > 2**1.4426
    for p in (2, 4):
        near = Fraction(3, 4 * (p**2 - 1)) - Fraction(1, 10**6)
        claim = chain_of(4, parts=p, terms={"risk": str(near)})
        apart = 2 * (HALF - 2 * near * (p**2 - 1) / 3) ** 2 * Fraction(14426, 10_000)
        assert claim.numbers["points"] == math.ceil(Fraction(42) / apart) * 4
    claim = chain_of(4)
    assert claim.numbers["guess"] == Fraction(1, 7)  # of s mod 2 that are not 0, all as likely
    last = claim.parameters["horizon"]
    assert chain_of(last).value > 0 == chain_of(last + 1).value
    assert chain_of(last + 1).numbers["shown"] > 0


def test_the_chain_to_lwe_refuses_what_its_theorem_leaves_out():
    assert chain_of(1, bound="16").value > 0
    assert "at most q/(2p) = 16" in refused(chain_of, 1, "17")
    assert "at most q/(2p) = 8" in refused(lambda: chain_of(1, "9", {"risk": "1/100"}, parts=4))
    assert "below 1/4 for 2 labels" in refused(chain_of, 1, "3", {"risk": "1/4"})
    assert "2^-40" in refused(chain_of, 1, "3", {"success": checker.written(residues.SLACK)})
    assert "so long a secret" in refused(lambda: chain_of(1, n=1 << 18))
    noisy = {"labels": "residue", "parts": 64, "errors": [0, [str(1 << 64)]]}
    with pytest.raises(checker.Refused, match="not rounded"):
        chain_of(1, **noisy)
    with pytest.raises(checker.Refused, match="not rounded"):
        chain_of(1, labels="residue", parts=64)


def test_vectors_move_by_their_own_bound_and_a_file_has_its_format():
    gram = theorem.Gram(top=HALF, least=HALF, scale=1, moves=HALF, moves01=None, general=True)
    assert named.gradients(gram, Fraction(2)) == 2
    assert named.gradients(gram._replace(drift=Fraction(1)), Fraction(2)) == 4
    assert refused(named.gradients, gram._replace(general=False), HALF)
    data = json.loads(hardness.certify("parity:d=7,m=2").to_json())
    checker.check(data)
    for change in ({"format": "hardness-certificate/2"}, {"witness": []}, {"claims": []},
                   {"claims": [*data["claims"], data["claims"][0]]}, {"problem": []}):  # fmt: skip
        refused(checker.check, {**data, **change})
    refused(checker.check, [])


@pytest.mark.parametrize("exponent", [-400, -30, -13, -1, 0, 1, 12, 13, 50, 400])
def test_numbers_of_laws_and_roots_are_rounded_up_in_the_twelfth_digit_or_later(exponent):
    square = (10**11 + 3) ** 2
    for value in (Fraction(2, 3), 1 - HALF**27, square - HALF, square + HALF):
        scaled = value * Fraction(10) ** exponent
        near = named.rounded_up(scaled)
        assert scaled <= near <= scaled * (1 + Fraction(1, 10**12))
        assert named.rounded_up(near) == near
        assert scaled > 1 or len(str(near.numerator)) <= 15
        top = named.root(scaled)
        digits = next(k for k in range(-230, 230) if Fraction(10) ** (k + 1) > top)
        assert (top - Fraction(10) ** (digits - 11)) ** 2 < scaled
        assert scaled <= top**2 <= scaled * (1 + Fraction(21, 10**12))
        assert len(str(top.numerator).strip("0")) <= 12 or top.denominator == 1
        assert named.root(scaled**2) == scaled


def test_the_heaviest_member_is_the_heaviest_tier_times_what_is_one():
    law = theorem.Law([(3, 5), (4, 2)], lost=1, total=24, as_one=2)
    assert named.heaviest(Members(count=3, law=law)) == named.rounded_up(Fraction(10, 24))
    assert named.heaviest(Members(count=7)) == Fraction(1, 7)
    none = theorem.Law([], lost=1, total=1, as_one=1)
    assert "has no members" in refused(named.heaviest, Members(count=3, law=none))


def test_features_are_counted_from_none():
    gram = theorem.Gram(
        top=HALF, least=HALF * 2, scale=2, moves=HALF, moves01=None, general=True,
        spectrum=[(Fraction(1, 4), 2), (Fraction(1, 8), 9)],
    )  # fmt: skip
    for risk, few in (("3/4", 0), ("1/2", 0), ("15/32", 1), ("7/16", 2), ("27/64", 3)):
        goal = {**TERMS, "success": "1/2", "risk": risk, "about": {"kernel": {}}}
        [claim] = named.features(Members(count=8), gram, theorem.read_terms(goal))
        assert claim.value == few
    goal = theorem.read_terms({**TERMS, "about": {"kernel": {"features": "3"}}})
    error, _ = named.features(Members(count=8), gram._replace(mean=Fraction(3, 2)), goal)
    assert error.value == (Fraction(3, 2) - (HALF + Fraction(1, 8)) / 8) / 2


def test_steps_that_see_nothing_are_not_bounded():
    about = {"gd": {"clip": "1", "noise-std": "1"}}
    gram = theorem.Gram(
        top=HALF, least=HALF, scale=1, moves=Fraction(0), moves01=None, general=True
    )
    reason = refused(
        named.descent, Members(count=9), gram, theorem.read_terms({**TERMS, "about": about})
    )
    assert "no mean depends on the member" in reason
