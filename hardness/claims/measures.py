"""The words of the measures of a family: what each number is, and whose notion it is."""

from typing import NamedTuple


class Notion(NamedTuple):
    """A measure in one sentence, and its source: a key in docs/references.md."""

    meaning: str
    source: str


SCOPE = (
    "All are of g itself, where z_0 = -1 and without label noise: h is the number of -1 among the "
    "m hidden bits of z, which are uniform. Noise below 1/2 changes no degree, exponent, leap or "
    "SQ-leap. None is a bound on a learner: `hardness certify` has those."
)

NOTIONS: dict[str, Notion] = {
    "members": Notion("the number M of hidden sets, C(d-1, m)", "information"),
    "log2 members": Notion("the bits that name a member", "information"),
    "mean": Notion("E g = g^_0", "ODo14"),
    "variance": Notion("Var g = sum over k >= 1 of C(m,k) g^_k^2", "ODo14"),
    "bias": Notion("E g with its larger value written as +1, the other as -1", "ODo14"),
    "degree": Notion("the largest k with g^_k not 0", "ODo14"),
    "information exponent": Notion(
        "the least k >= 1 with g^_k not 0: below it the label correlates with no product of bits",
        "AGJ21",
    ),
    "leap": Notion(
        "the sets of Walsh coefficients that are not 0, in the best order: the most coordinates "
        "that one has and none before it",
        "ABM23",
    ),
    "SQ-leap, exact heads": Notion(
        "the leap of the sets whose products of bits correlate with some function of the label: "
        "what general statistical queries see, as the leap is what correlational ones see",
        "JMS24",
    ),
    "SQ-leap, approximate heads": Notion(
        "the SQ-leap of the same heads, thresholds and steepness rho, with the weights "
        "(g(i)-g(i-1))/2 of infinitely steep heads in place of the exact solve",
        "JMS24",
    ),
    "leap, approximate heads": Notion(
        "the information exponent, which is the leap, of those heads: what correlational queries "
        "see of them",
        "ABM23",
    ),
    "average correlation": Notion(
        "the correlation averaged over all ordered pairs of members, equal ones among them, "
        "centred and of unit norm",
        "FGRVX17",
    ),
    "cross-predictability": Notion(
        "the squared correlation averaged over all ordered pairs of members, equal ones among "
        "them, centred and of unit norm",
        "AS20",
    ),
    "total influence": Notion("the sum over k of k C(m,k) g^_k^2, in units of g squared", "ODo14"),
    "largest influence": Notion(
        "E Var g(z) over one hidden bit alone, the same for all m of them; 0 for other bits",
        "ODo14",
    ),
    "average sensitivity": Notion(
        "the expected number of hidden bits of which flipping one alone changes g", "ODo14"
    ),
    "noise sensitivity": Notion(
        "the probability that g changes when each bit is flipped with probability delta", "ODo14"
    ),
    "noise stability": Notion(
        "the correlation of g before and after those flips: the sum over k >= 1 of "
        "(1 - 2 delta)^k times the weight on degree k",
        "ODo14",
    ),
}

SCOPE_MEMBER = (
    "All are of the factor f of one member, a function of z_1 .. z_(d-1), where z_0 = -1 and "
    "without label noise. Others may have other measures. None is a bound on a learner: `hardness "
    "certify` has those."
)

# f^(T) = E f chi_T is the Walsh coefficient of f at the set T of coordinates of z.
MEMBER_NOTIONS: dict[str, Notion] = {
    "members": Notion("the number M of members of the family", "information"),
    "log2 members": Notion("the bits that name a member", "information"),
    "mean": Notion("E f = f^(empty set)", "ODo14"),
    "variance": Notion("Var f = sum over other sets of f^(T)^2", "ODo14"),
    "bias": Notion("E f with its larger value written as +1, the other as -1", "ODo14"),
    "degree": Notion("the size of the largest T with f^(T) not 0", "ODo14"),
    "information exponent": Notion(
        "the size of the least T, not empty, with f^(T) not 0: below it the label correlates with "
        "no product of coordinates",
        "AGJ21",
    ),
    "leap": NOTIONS["leap"],
    "SQ-leap": Notion(
        "the leap of the sets whose products of coordinates correlate with some function of the "
        "label: what general statistical queries see, as the leap is what correlational ones see",
        "JMS24",
    ),
    "average correlation": NOTIONS["average correlation"],
    "cross-predictability": NOTIONS["cross-predictability"],
    "total influence": Notion("the sum of |T| f^(T)^2, in units of f squared", "ODo14"),
    "largest influence": Notion("the largest E Var f(z) over one coordinate alone", "ODo14"),
    "average sensitivity": Notion(
        "the expected number of coordinates of which flipping one alone changes f", "ODo14"
    ),
    "noise sensitivity": Notion(
        "the probability that f changes when each coordinate is flipped with probability delta",
        "ODo14",
    ),
    "noise stability": Notion(
        "the correlation of f before and after those flips: the sum over sets, not empty, of "
        "(1 - 2 delta)^|T| f^(T)^2 / Var f",
        "ODo14",
    ),
}
WEIGHTS = Notion("the part of the variance of g that degree k has, C(m,k) g^_k^2 / Var g", "ODo14")
