"""The exact heads of a certificate: do they compute the profile, and nothing else?"""

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import fmpq, fmpz

from hardness.check.reading import rational, refuse
from instances.parameters import fraction, plain


@dataclass(frozen=True, kw_only=True)
class Layers:
    """A family of layers as its spec says it: m-subsets of `ground` places, a noise, a rho."""

    ground: int
    chosen: int
    noise: Fraction
    rho: Fraction
    size: int


def read_layers(spec: str, found: re.Match[str] | None) -> Layers:
    """Read the canonical spec by its own fields; the family's code is not asked."""
    if not found:
        refuse(f"{spec[:80]!r} is no canonical spec of a family that is checked here")
    d, m = int(found["d"]), int(found["m"])
    noise, rho = fraction(found["noise"], "noise"), fraction(found["rho"], "rho")
    if (plain(noise), plain(rho)) != (found["noise"], found["rho"]):
        refuse(f"{spec[:80]!r} is not in its canonical form")
    if not (1 <= m <= d - 1 and 0 <= noise < Fraction(1, 2) and 1 < rho <= 16):
        refuse(f"{spec} is outside of the family's range")
    return Layers(ground=d - 1, chosen=m, noise=noise, rho=rho, size=int(fmpz.bin_uiui(d - 1, m)))


def check_members(family: Layers, members: dict[str, Any]) -> None:
    """The members are all subsets of the size that the spec says."""
    wanted = {"ground": family.ground, "chosen": family.chosen}
    if members != wanted or any(type(value) is not int for value in members.values()):
        refuse(f"the members of the evidence are not the {family.chosen}-subsets of the spec")


def check_heads(family: Layers, evidence: dict[str, Any], values: list[fmpq], what: str) -> None:
    """Evaluate B(h) = sum_i a_i (x_h - u_i)/(x_h + u_i) for every h: it must be values[h] + c0."""
    if fraction(evidence["rho"], "rho") != family.rho:
        refuse("rho of the evidence is not that of the spec")
    if any(set(h) != {"u", "a", "counts"} for h in evidence["heads"]):
        refuse("a head must have u, a and counts")
    if len(evidence["heads"]) > family.chosen + 1:
        refuse(f"there are more heads than the {what} needs")
    heads = [(rational(h["u"]), rational(h["a"]), h["counts"]) for h in evidence["heads"]]
    if any(u <= 0 or not isinstance(counts, bool) for u, _, counts in heads):
        refuse("a threshold u is not positive, or a head does not say whether it counts")
    if sum((a for _, a, _ in heads), fmpq(0)) != rational(evidence["A"]):
        refuse("A is not the sum of the heads' a")
    c0 = rational(evidence["c0"])
    if c0 != 0:
        refuse("c0 is not 0: this family's labels have no offset")
    rho = fmpq(family.rho.numerator, family.rho.denominator)
    for h, value in enumerate(values):
        x = rho ** (2 * h)
        total = fmpq(0)
        for u, a, counts in heads:
            at = x if counts else fmpq(1)
            total += a * (at - u) / (at + u)
        if total != value + c0:
            refuse(f"the heads do not compute the {what}: B({h}) is not {value}")
