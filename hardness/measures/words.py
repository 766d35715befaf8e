"""The words of the measures of a function: what each number is, and whose notion it is."""

from typing import NamedTuple


class Notion(NamedTuple):
    """A measure in one sentence, and its source: a key in docs/references.md."""

    meaning: str
    source: str


SCOPE = (
    "All are of f(z) = g(h), where z_0 = -1 and without label noise: h is the number of -1 among "
    "the m hidden bits of z, which are uniform. Noise below 1/2 changes no degree, exponent, leap "
    "or SQ-leap. None is a bound on a learner: `hardness certify` has those."
)
SCOPE_MEMBER = (
    "All are of the factor f of one member, a function of z_1 .. z_(d-1), where z_0 = -1 and "
    "without label noise. Others may have other measures. None is a bound on a learner: `hardness "
    "certify` has those."
)

# f^(T) = E f chi_T is the Walsh coefficient of f at the set T of bits of z.
NOTIONS: dict[str, Notion] = {
    "members": Notion("their number M", "information"),
    "log2 members": Notion("the bits that name a member", "information"),
    "mean": Notion("E f = f^(empty set)", "ODo14"),
    "variance": Notion("Var f = the sum of f^(T)^2 over the other sets T", "ODo14"),
    "bias": Notion("E f with its larger value written as +1, the other as -1", "ODo14"),
    "degree": Notion("the size of the largest T with f^(T) not 0", "ODo14"),
    "information exponent": Notion(
        "the size of the least T, not empty, with f^(T) not 0: below it the label correlates with "
        "no product of bits",
        "AGJ21",
    ),
    "leap": Notion(
        "the sets of Walsh coefficients that are not 0, in the best order: the most bits that one "
        "has and none before it",
        "ABM23",
    ),
    "SQ-leap": Notion(
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
    "total influence": Notion("the sum of |T| f^(T)^2, in units of f squared", "ODo14"),
    "largest influence": Notion("the largest E Var f(z) over one bit alone", "ODo14"),
    "average sensitivity": Notion(
        "the expected number of bits of which flipping one alone changes f", "ODo14"
    ),
    "noise sensitivity": Notion(
        "the probability that f changes when each bit is flipped with probability delta", "ODo14"
    ),
    "noise stability": Notion(
        "the correlation of f before and after those flips: the sum over sets T, not empty, of "
        "(1 - 2 delta)^|T| f^(T)^2 / Var f",
        "ODo14",
    ),
}
NOTIONS["SQ-leap, exact heads"] = NOTIONS["SQ-leap"]
WEIGHTS = Notion("the part of the variance of f that sets T of k bits have", "ODo14")
