"""What the kernel takes for true of sets of members, against all sets of small families."""

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardness.check import kernel
from hardness.check.kernel.hidden_sets import distances
from hardness.lower.proof import Proof

FAMILIES = [(5, 2, (1, 1, -1)), (5, 2, (0, 1, 4)), (5, 3, (1, -1, -1, 1)), (4, 2, (1, -1, 1))]


class Listed:
    """All members of a small family, and c of every pair, by all points."""

    def __init__(self, n, m, g):
        self.n, self.m = n, m
        self.sets = list(itertools.combinations(range(n), m))
        self.values = [
            [Fraction(g[sum(point[i] for i in s)]) for point in itertools.product((0, 1), repeat=n)]
            for s in self.sets
        ]
        mean = sum(self.values[0]) / 2**n
        less = [[v - mean for v in row] for row in self.values]
        norm = sum(v * v for v in less[0])
        self.gram = [
            [sum(map(Fraction.__mul__, a, b), Fraction(0)) / norm for b in less] for a in less
        ]
        numbers = {"places": n, "chosen": m, "values": [str(v) for v in g], "noise": "0"}
        self.proof = Proof({"kind": "hidden-set", **numbers}, {})
        self.cited = self.proof.step("subsets"), self.proof.step("overlaps")

    def average(self, chosen):
        """The average over all ordered pairs of some members."""
        return sum(self.gram[i][j] for i in chosen for j in chosen) / len(chosen) ** 2

    def takes(self, rule, **numbers):
        """Whether the kernel takes a step."""
        try:
            self.proof.step(rule, *self.cited, **numbers)
        except kernel.Refused:
            return False
        return True


FOUND = [Listed(*family) for family in FAMILIES]
AVERAGES = [  # of every set of members, by its size
    [
        {case.average(some) for some in itertools.combinations(range(len(case.sets)), size)}
        for size in range(1, len(case.sets) + 1)
    ]
    for case in FOUND
]


@pytest.mark.parametrize("index", range(len(FOUND)))
@given(data=st.data())
def test_no_multipliers_prove_what_is_not_so(index, data):
    case, averages = FOUND[index], AVERAGES[index]
    weight = st.fractions(0, 9, max_denominator=4)
    gamma = data.draw(st.sampled_from([Fraction(1, 20), Fraction(1, 4), Fraction(2, 5)]))
    inner = data.draw(st.lists(weight, max_size=min(case.m, case.n - case.m)))
    average = data.draw(weight)
    n, m = case.n, case.m
    table, c = distances(n, m), case.proof.fact(case.cited[1]).c

    def caps(inner, average):
        return [
            table[i][0] * (1 + average * (c[m - i] / c[m] - gamma))
            + sum(y * e for y, e in zip(inner, table[i][1:], strict=False))
            for i in range(1, m + 1)
        ]

    least = [max(Fraction(0), cap) for cap in caps(inner, average)]
    given = {"gamma": gamma, "inner": inner, "average": average}
    largest = max((k for k, row in enumerate(averages, 1) if max(row) > gamma), default=0)
    taken = [
        k
        for k in range(1, len(case.sets) + 2)
        if case.takes("every-set", **given, caps=least, enough=Fraction(k))
    ]
    assert min(taken) > largest
    # What would do if multipliers could be negative.
    every = {"gamma": gamma, "enough": Fraction(len(case.sets))}
    wrong = [(inner, -1 - average), *(([*inner[:k], -y - 1], average) for k, y in enumerate(inner))]
    for y, u in wrong:
        enough = [max(Fraction(0), cap) for cap in caps(y, u)]
        assert not case.takes("every-set", inner=y, average=u, caps=enough, **every)
    if min(caps(inner, average)) < 0:
        assert not case.takes(
            "every-set", **given, caps=caps(inner, average), enough=every["enough"]
        )
    for i, cap in enumerate(least):
        if cap:
            less = [*least[:i], cap * Fraction(99, 100), *least[i + 1 :]]
            assert not case.takes("every-set", **given, caps=less, enough=Fraction(len(case.sets)))


@pytest.mark.parametrize("case", FOUND)
def test_every_shape_has_its_size_and_its_average(case):
    n, m = case.n, case.m
    for a, k in itertools.product(range(m), range(n + 1)):
        if k > n - a:
            assert not case.takes("some-set", gamma=Fraction(0), shape=[a, k, 0], size=Fraction(1))
            continue
        for j in range(m - a + 1):
            block = set(range(a, a + k))
            fits = [
                i
                for i, s in enumerate(case.sets)
                if set(range(a)) <= set(s) and len(block & set(s)) >= j
            ]
            if not fits or a == k == j == 0:
                continue
            shape, average = [a, k, j], case.average(fits)
            below = average - Fraction(1, 10**6)
            size = Fraction(len(fits))
            assert case.takes("some-set", gamma=below, shape=shape, size=size)
            assert not case.takes("some-set", gamma=average, shape=shape, size=size)
            assert not case.takes("some-set", gamma=below, shape=shape, size=size + 1)
    assert case.takes("some-set", gamma=Fraction(1, 4), shape=[0, 0, 0], size=Fraction(3))
    assert not case.takes("some-set", gamma=Fraction(1, 4), shape=[0, 0, 0], size=Fraction(4))
    every = Fraction(len(case.sets))
    assert case.takes("some-set", gamma=Fraction(1, 20), shape=[0, 0, 0], size=every)
    assert not case.takes("some-set", gamma=Fraction(1, 20), shape=[0, 0, 0], size=every + 1)


@pytest.mark.parametrize(
    ("g", "gamma", "enough"), [((1, 1, -1), Fraction(2, 3), 11), ((0, 1, 4), Fraction(10, 9), 1)]
)
def test_sets_bound_general_queries_where_labels_have_two_values(g, gamma, enough):
    """gamma is 2 (1 - mu^2) half^2 / (3 c(m)), of VSTAT(1), for both: mu = 1/2 and -1/4."""
    case, none = Listed(5, 2, g), {"inner": [], "average": Fraction(0)}
    caps = [Fraction(9)] * 2
    sets = case.proof.step(
        "every-set", *case.cited, gamma=gamma, caps=caps, enough=Fraction(enough), **none
    )
    if len(set(g)) == 2:
        cap = case.proof.step("vstat-sets", case.cited[1], sets, t=Fraction(1))
        assert case.proof.fact(cap).most == enough - 1
    else:
        with pytest.raises(kernel.Refused):
            case.proof.step("vstat-sets", case.cited[1], sets, t=Fraction(1))


def test_there_is_nothing_to_compare_where_there_is_one_member():
    numbers = {"places": 2, "chosen": 2, "values": ["1", "1", "-1"], "noise": "0"}
    proof = Proof({"kind": "hidden-set", **numbers}, {})
    members, overlaps = proof.step("subsets"), proof.step("overlaps")
    assert not proof.fact(overlaps).claims
    with pytest.raises(kernel.Refused, match="one member"):
        proof.step("johnson", members, overlaps)


@pytest.mark.parametrize("case", FOUND)
@pytest.mark.parametrize("gamma", [Fraction(1, 20), Fraction(1, 4), Fraction(2, 5), Fraction(1)])
def test_pair_events_are_those_of_all_pairs_in_order(case, gamma):
    every = sorted(itertools.chain(*case.gram), reverse=True)
    sums = list(itertools.accumulate(every))
    bad = [k for k, total in enumerate(sums, 1) if total > gamma * k]
    count = len(case.sets)
    wanted = max(
        (q for q in range(1, count + 1) if not bad or math.ceil(count**2 / q**2) > bad[-1]),
        default=0,
    )
    step = case.proof.step("closest-pairs", *case.cited, gamma=gamma)
    assert case.proof.fact(step).claims["sda-pair-events"][0] == wanted


@pytest.mark.parametrize("case", FOUND)
def test_eigenvalues_and_averages_are_those_of_the_matrix(case):
    """By traces of powers, exactly: those of the Gram matrix and of its eigenvalues."""
    facts = case.proof.fact(case.proof.step("johnson", *case.cited))
    counts = [
        math.comb(case.n, k) - (math.comb(case.n, k - 1) if k else 0)
        for k in range(len(facts.eigenvalues))
    ]
    norm, power = facts.eigenvalues, case.gram
    c = case.proof.fact(case.cited[1]).c[-1]
    for exponent in range(1, len(norm) + 1):
        trace = sum(power[i][i] for i in range(len(power)))
        assert trace == sum(k * (v / c) ** exponent for k, v in zip(counts, norm, strict=True))
        power = [
            [sum(map(Fraction.__mul__, row, other), Fraction(0)) for other in case.gram]
            for row in power
        ]
    whole = [value for row in case.gram for value in row]
    found = facts.claims
    assert found["average-correlation"][0] == sum(whole) / len(whole)
    assert found["cross-predictability"][0] == sum(v * v for v in whole) / len(whole)
