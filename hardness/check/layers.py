"""The exact heads of a certificate: do they compute the profile, and nothing else?"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import fmpq, fmpz

from hardness.check.reading import fraction, listed, rational, refuse
from instances.symmetric import Symmetric


@dataclass(frozen=True, kw_only=True)
class Layers:
    """A family of layers: m-subsets of `ground` places, a noise, a rho."""

    ground: int
    chosen: int
    noise: Fraction
    rho: Fraction
    size: int


def layers_of(family: Symmetric) -> Layers:
    """Take what a spec says, and count the members."""
    ground, chosen = family.d - 1, family.m
    size = int(fmpz.bin_uiui(ground, chosen))
    return Layers(ground=ground, chosen=chosen, noise=family.noise, rho=family.rho, size=size)


def check_members(family: Layers, members: dict[str, Any]) -> None:
    """The members are all subsets of the size that the spec says."""
    wanted = {"ground": family.ground, "chosen": family.chosen}
    if members != wanted or any(type(value) is not int for value in members.values()):
        refuse(f"the members of the evidence are not the {family.chosen}-subsets of the spec")


def check_heads(family: Layers, evidence: dict[str, Any], values: list[fmpq], what: str) -> None:
    """Evaluate B(h) = sum_i a_i (x_h - u_i)/(x_h + u_i) for every h: it must be values[h] + c0."""
    if fraction(evidence["rho"]) != family.rho:
        refuse("rho of the evidence is not that of the spec")
    given = listed(evidence["heads"])
    if any(set(h) != {"u", "a", "counts"} for h in given):
        refuse("a head must have u, a and counts")
    if len(given) > family.chosen + 1:
        refuse(f"there are more heads than the {what} needs")
    heads = [(rational(h["u"]), rational(h["a"]), h["counts"]) for h in given]
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
