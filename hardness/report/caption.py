"""Captions of tables in papers: what the rows are, and the terms of the bounds."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from hardness import __version__
from hardness.bounds.bound import brief_power
from hardness.bounds.quantities import shown_number
from hardness.report.bound import DOMAIN
from hardness.report.comparison import goal
from hardness.runs.certified import query_bound
from hardness.runs.names import brief_spec
from instances.numbers import write

if TYPE_CHECKING:
    from hardness.bounds import Certificate
    from hardness.bounds.bound import Bound
    from hardness.lwe.record import Estimates, EstimatesTable
    from hardness.runs import Comparison, Stress
    from hardness.runs.least import Least
    from hardness.runs.run import Run

PASSED = "the 95 % interval of the relative risk lies below 0.05"
_TERMS = {  # of claims, but for parameters of oracles
    "risk": "the relative risk to reach",
    "success": "the probability of that",
    "levels": "the number of values of a label",
    "gamma": "the average correlation in SDA",
}
NOTHING = "If a query eliminates nothing, no queries are needed, or no number of them is enough."


def captioned(*sentences: str) -> str:
    """Join sentences to a caption, and add the version; empty sentences are left out.

    >>> captioned("Runs.", "").rpartition(" ")[0]
    'Runs. Made with hardness'
    """
    return " ".join([*filter(None, sentences), f"Made with hardness {__version__}."])


def seeds_words(runs: Iterable["Run"]) -> str:
    """Write the seeds of runs.

    >>> from hardness.runs import compare
    >>> seeds_words(compare("parity:m=2", "d=6", ("trivial",), seeds=2).runs)
    'seeds 0 to 1'
    """
    seeds = sorted({run.seed for run in runs})
    if len(seeds) > 1 and seeds[-1] - seeds[0] == len(seeds) - 1:
        return f"seeds {seeds[0]} to {seeds[-1]}"
    return f"seed {seeds[0]}" if len(seeds) == 1 else f"{len(seeds)} seeds"


def certificate_caption(certificate: "Certificate") -> str:
    """Name the family of certified bounds, and the oracles; the row of a bound has its terms."""
    terms = {name: value for c in certificate.claims for name, value in c.parameters.items()}
    named = "; ".join(f"{name}, {says}" for name, says in _TERMS.items() if name in terms)
    lwe = certificate.problem
    assumed = [
        f"The assumption is LWE(n={lwe['n']}, q={lwe['q']}) for some distribution of errors, of "
        f"absolute value at most {claim.terms['bound']}, that has 0 as a median."
        for claim in certificate.claims
        if claim.kind == "reduction"
    ]
    family = f"Certified bounds for the family {brief_spec(certificate.spec)}."
    terms_words = f"Terms: {named}." if named else ""
    return captioned(family, _origin(certificate), *oracles(terms), terms_words, *assumed)


def oracles(terms: Mapping[str, object]) -> Iterator[str]:
    """Say what the oracles may return whose parameters are among some terms."""
    if "tau" in terms:
        yield f"STAT(tau) may return any value within tau = {terms['tau']} of the expectation."
    if "t" in terms:
        yield (
            "VSTAT(t) may return any value within max(1/t, sqrt(p(1-p)/t)) of an expectation p, "
            "of a query with values in [0, 1]."
        )


def _origin(certificate: "Certificate") -> str:
    """Name the file or folder of listed members, with its SHA-256; empty for other families."""
    origin = certificate.origin
    if origin is None:
        return ""
    path = str(origin["path"]).replace("`", "'")
    chosen = f"{len(origin['names'])}" + (f" of {origin['of']}" if "of" in origin else "")
    if certificate.factors:
        return f"Its members are {chosen} factors of the labels of `{path}`."
    return f"Its members are {chosen} functions of `{path}`, SHA-256 {origin['sha256']}."


def bound_caption(bound: "Bound") -> str:
    """Name the family of the formulas, the solution, and the values of the names in them."""
    at = {name: named for one in bound.formulas.values() for name, named in one.symbols.items()}
    values = "; ".join(
        f"{name} = {shown_number(value)}, {says}" for name, (value, says) in at.items()
    )
    solved = bound.solution
    solution = ""
    if solved is not None:
        values_found = ", ".join(f"{name} = {value}" for name, value in solved["least"].items())
        wanted = brief_power(int(solved["wanted"]))
        which = "the least" if solved["every"] else "the least found"
        solution = f"{values_found}: {which} with {solved['quantity']} of at least {wanted}."
    terms = {name: shown_number(value) for name, (value, _) in at.items()}
    head = f"Bounds of {brief_spec(bound.certificate.spec)} as formulas, certified at {values}."
    return captioned(
        head, DOMAIN.replace("below it", "beside it"), NOTHING, solution, *oracles(terms)
    )


def comparison_caption(comparison: "Comparison") -> str:
    """Describe the runs with sizes and seeds, and the terms of the certified rows."""
    values = ", ".join(map(write, comparison.values))
    ran = f"{comparison.spec}, {comparison.parameter} = {values}"
    medians = f"medians of all runs, {seeds_words(comparison.runs)}; solved: {PASSED}"
    return captioned(
        f"Learners on {ran}: {medians}." if comparison.runs else f"Certified bounds for {ran}.",
        goal(comparison.terms, query_bound(comparison.certificates))
        if comparison.certificates
        else "",
    )


def stress_caption(stress: "Stress") -> str:
    """Name the ladder on which instances were solved, and the seeds."""
    from hardness.runs.stress import TERMS
    from instances.ladders import USER_LADDER

    ladder = "a ladder" if stress.ladder.name == USER_LADDER else stress.ladder.name
    return captioned(
        f"Instances solved on each level of {ladder}, of {stress.seeds}, base seed "
        f"{stress.base_seed} ({stress.seed_source}); solved: {PASSED}.",
        goal(TERMS),
    )


def estimates_caption(estimates: "Estimates") -> str:
    """Name the problem whose attack costs are estimated, and their units."""
    from hardness.report.cost import settings_words

    settings = "; ".join(settings_words(estimates))
    return captioned(
        f"Attacks on {estimates.name}: operations (rop), those of lattice reduction (red) and "
        "memory (mem) as logarithms to base 2. Estimates by formulas, not bounds.",
        f"{settings[0].upper()}{settings[1:]}.",
    )


def estimates_table_caption(table: "EstimatesTable") -> str:
    """Explain the marks, and the assumptions on samples, success and lattice reduction."""
    from hardness.report.cost import disputed_words, settings_words

    settings = "; ".join([*settings_words(*table.problems), *disputed_words(*table.problems)])
    return captioned(
        "Attacks: log2 of operations. Marked by * or in bold: the cheapest for a set; by †: the "
        "cheapest without disputed heuristics. Estimates by formulas, not bounds.",
        f"{settings[0].upper()}{settings[1:]}.",
    )


def least_caption(thresholds: "Least") -> str:
    """Describe the thresholds, the interval of their median, and the terms of the floor."""
    sizes = [thresholds.size_of(cell) for cell in thresholds.cells[:: len(thresholds.learners)]]
    about = [thresholds.spec, *sizes] if thresholds.parameter else sizes
    confidence = float(100 * thresholds.cells[0].confidence)
    bound = "" if thresholds.quantity == "information-floor" else thresholds.quantity
    return captioned(
        f"Least {thresholds.unit} by which learners solve {', '.join(about)}: medians of "
        f"{thresholds.seeds} instances, seeds from {thresholds.seed}, with exact "
        f"{confidence:.3g} % intervals; solved: the relative risk lies below 0.05, known with "
        "95 % confidence.",
        goal(thresholds.terms, bound) if thresholds.quantity else "",
    )
