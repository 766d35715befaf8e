"""Hidden sets: the problem that a spec poses, its layer, and what the kernel finds of members."""

import itertools
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from flint import fmpq, fmpz

from hardness.check import kernel
from hardness.check.kernel.hidden_sets import distances
from hardness.check.reading import refuse
from hardness.check.spec import read_family
from instances.capabilities import SCHEME
from instances.errors import ToolkitError
from instances.symmetric import Symmetric, View
from instances.threshold import python_fraction


@dataclass(frozen=True)
class Scheme:
    """All members of a hidden set's family, by the overlap t or the distance i = m - t of two."""

    family: Symmetric

    @staticmethod
    def read(spec: str) -> "Scheme":
        """Read a canonical spec of a profile or a parity; raises Refuted."""
        return Scheme(read_family(spec, SCHEME))

    @property
    def ground(self) -> int:
        """The places."""
        return self.family.d - 1

    @property
    def chosen(self) -> int:
        """The places of a member."""
        return self.family.m

    @property
    def noise(self) -> Fraction:
        """The probability that a label is reflected."""
        return self.family.noise

    @cached_property
    def problem(self) -> dict[str, Any]:
        """What the spec says, as the kernel reads it."""
        return {
            "kind": "hidden-set",
            "places": self.ground,
            "chosen": self.chosen,
            "values": [kernel.written(python_fraction(v)) for v in self.values],
            "noise": kernel.written(self.noise),
        }

    @cached_property
    def _facts(self) -> list[Any]:
        rules = ({"rule": "subsets", "from": []}, {"rule": "overlaps", "from": []})
        last = {"rule": "johnson", "from": [1, 2]}
        try:
            return kernel.prove(kernel.posed(self.problem), [*rules, last])
        except kernel.Refused as reason:
            refuse(f"its members: {reason}")

    @cached_property
    def size(self) -> int:
        """The number of members."""
        return int(fmpz.bin_uiui(self.ground, self.chosen))

    @cached_property
    def values(self) -> list[fmpq]:
        """The values g(0) .. g(m)."""
        return [fmpq(v.numerator, v.denominator) for v in map(Fraction, self.family.values)]

    @cached_property
    def mean(self) -> fmpq:
        """The mean of g(h) over fair coins."""
        return _flint(self._facts[1].mean)

    @cached_property
    def c(self) -> list[fmpq]:
        """The inner products of members less their mean, by overlap."""
        return [_flint(value) for value in self._facts[1].c]

    @cached_property
    def eigenvalues(self) -> list[fmpq]:
        """Those of the Gram matrix."""
        return [_flint(value) for value in self._facts[2].eigenvalues]

    @property
    def spread(self) -> fmpq:
        """The largest eigenvalue of the members less their mean."""
        return max(self.eigenvalues[1:])

    @property
    def valencies(self) -> list[int]:
        """How many members are at each distance from one."""
        return [row[0] for row in distances(self.ground, self.chosen)]

    @property
    def half(self) -> fmpq:
        """Half the distance of the two values."""
        return (max(self.values) - min(self.values)) / 2

    def check_layer(self) -> None:
        """Evaluate B(h) = sum_i a_i (x_h - u_i)/(x_h + u_i), the family's heads, for every h.

        Of hardmax attention, sum_i a_i sign(h - u_i), h = 0 where a head counts nothing. It must be
        g(h): the layer that the spec builds has these labels. Raises Refuted.
        """
        rho = fmpq(self.family.rho.numerator, self.family.rho.denominator)
        hard = self.family.kind == "hardmax"
        for h, value in enumerate(self.values):
            total = fmpq(0)
            for head in self.family.heads:
                count = h if head.counts else 0
                x = fmpq(count) if hard else rho ** (2 * count)
                total += head.a * (x - head.u) / (abs(x - head.u) if hard else x + head.u)
            if total != value:
                refuse(f"the heads of its spec do not compute its labels: B({h}) is not {value}")


def check_shown(family: Any, twin: Symmetric, view: View) -> None:
    """Evaluate the exact heads of a family that shows hidden sets otherwise; raises Refuted."""
    if view == "one-head":
        _check_one(family, Scheme(twin).values)
    elif view == "three-tokens":
        _check_three(family, twin.m)
    else:
        Scheme(twin if view == "among-others" else family).check_layer()


def _check_one(family: Any, values: list[fmpq]) -> None:
    """The public map is odd, and takes the one head's values, which rise in (0, 1), to the labels.

    They are r(h) = (x_h - u)/(x_h + u), and 1 on closed examples.
    """
    (head,), (start, *nodes, end) = family.heads, family.nodes
    rho = fmpq(family.rho.numerator, family.rho.denominator)
    wanted = [(rho ** (2 * h) - head.u) / (rho ** (2 * h) + head.u) for h in range(len(values))]
    at = [_flint(place) for place, _ in nodes]
    rising = all(a < b for a, b in itertools.pairwise([fmpq(0), *at, fmpq(1)]))
    kept = (start, end[0], head.a, head.counts) == ((0, 0), 1, 1, True)
    if not rising or not kept or at != wanted or [_flint(v) for _, v in nodes] != values:
        refuse("the head of its spec and the map after it do not compute its labels")


def _check_three(family: Any, m: int) -> None:
    """Evaluate sum_i a_i (p - u_i)/(p + u_i) in every case of a row, where the spec builds a layer.

    One other token is odd, at h places, and the next differs at g: p = (1 + x_g)/x_h, the label is
    (-1)^h. The row is odd: p = 1/(x_h + x_g), the label (-1)^(h+g). x_h = rho^(-steps h).
    """
    try:
        heads = family.heads
    except ToolkitError:
        return  # too many digits for float64: that there are such heads is a lemma of the kernel
    rho = fmpq(family.rho.numerator, family.rho.denominator)
    for h, g in itertools.product(range(m + 1), repeat=2):
        sums = [fmpq(0), fmpq(0)]
        for head in heads:
            x, y = rho ** (-head.steps * h), rho ** (-head.steps * g)
            for i, p in enumerate(((1 + y) / x, 1 / (x + y))):
                sums[i] += head.a * (p - head.u) / (p + head.u)
        if sums != [(-1) ** h, (-1) ** (h + g)] or sum(head.a for head in heads):
            refuse(f"the heads of its spec do not compute its labels where h = {h}, {g}")


def over_coins(values: list[fmpq]) -> list[list[fmpq]]:
    """Average over coins one after the other: entry [r][i] is E g(i + heads of r coins)."""
    table = [values]
    while len(table[-1]) > 1:
        table.append([(a + b) / 2 for a, b in itertools.pairwise(table[-1])])
    return table


def _flint(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)
