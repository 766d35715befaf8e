"""Of every family: proved lower bounds, the assumption on its hardness, and known attacks.

python docs/examples/evidence.py > docs/evidence.md
"""

import re
from pathlib import Path

import hardness
from hardness.bounds.certificate import NoClaim
from hardness.report.certificate import shown_value
from hardness.report.claims import sentence
from hardness.report.cost import cost_words
from hardness.report.text import credit
from instances.errors import UsageError
from instances.spec import FAMILIES

INTRODUCTION = """# Lower bounds, assumptions, attacks

How hard is a family, and how is this known? For one size of each family there are three answers:

- *Lower bounds*: what a certificate proves about [statistical-query learners](certificates.md) and
  [named learners](named.md), without any assumption.
- *Assumption*: what a fast learner would refute. The reduction
  [from `lwr` to LWE](reductions.md#what-a-learner-would-break) has every number explicit, and the
  cost of its LWE problem is estimated. If this cost is small, as below, the reduction shows little.
- *Attacks*: the attack with the lowest [estimated](estimate.md) cost, and algorithms that are known
  to learn the family. In brackets: whether a cost is an exact count, a formula or a model. "None
  estimated" shows nothing about hardness; [other runs](binding.md) are measured.

The lower bounds count

- `stat-queries`, `csq-queries`: queries to STAT(1/10); `information-floor`: examples;
  `kernel-features`: features chosen without labels. To reach relative risk 1/4 with probability
  2/3, at least this number is needed.
- `gd-noise-steps`: steps for the same risk and probability, if each gradient is clipped to norm 1
  and gets fresh normal noise of standard deviation 1/100 in each coordinate. It says nothing about
  training without this noise.
- `low-degree-examples`: with fewer examples, no polynomial of the printed degree distinguishes the
  labels of a random member from random labels by one standard deviation. It says nothing about a
  risk or about other tests. `low-degree-examples-open` counts informative examples alone.

Each answer names its command: `certify` is `hardness certify SPEC` with the spec of its row.
"After" and square brackets name [sources](references.md). `make evidence` prints this page.
"""
LABELS = "[21](mathematics.md#21-parities-among-random-heads)"
QUERIES = "[24](mathematics.md#24-what-one-query-sees-of-a-label-with-a-code)"
PARITY = "[9](mathematics.md#9-the-bound-for-stat)"
PROFILE = "[18](mathematics.md#18-queries-on-a-profile)"
# Where the bound on queries is proved, and the specs that the page has.
FAMILY = {
    "parity": (PARITY, "parity:d=64,m=5", "parity:d=64,m=5,noise=0.1"),
    "profile": (PROFILE, "profile:g=majority,d=301,m=12"),
    "hidden": (LABELS, "hidden:d=64,hard=5,nice=4"),
    "direction": ("[27](mathematics.md#27-hidden-directions)", "direction:m=6,d=200"),
    "lwr": (QUERIES, "lwr:n=64,q=65536,p=2,secret=binary"),
    "lwe": (
        QUERIES,
        "lwe:n=64,q=113,sigma=3,secret=binary",
        "lwe:n=64,q=143,sigma=3,secret=binary",  # a product of two primes
    ),
    "lpn": (QUERIES, "lpn:n=64,noise=0.1"),
}
CHAIN = {"examples": 5461, "error_bound": 3, "risk": "1/5"}
GIVEN = "--examples 5461 --error-bound 3 --risk 1/5"
HERE = Path(__file__).parent.parent


def rows(name):
    """Write the rows of a family, of its example where no other size is named above."""
    [page] = (p for p in HERE.glob("families/*.md") if f"## `{name}`\n" in p.read_text())
    where, *specs = FAMILY.get(name, ("", FAMILIES[name].example))
    family = f"[`{name}`]({page.relative_to(HERE)}#{name})"
    cells = ((proved(spec, where), assumed(spec), attacks(spec)) for spec in specs)
    kinds = ("Lower bounds", "Assumption", "Attacks")
    return [
        "\n".join(
            [
                f"- {family}, `{spec}`",
                *(f"  - *{kind}*: {cell}" for kind, cell in zip(kinds, said, strict=True)),
            ]
        )
        for spec, said in zip(specs, cells, strict=True)
    ]


def proved(spec, where):
    """Say what is certified of learners by queries and of named ones, and where the proof is."""
    known = hardness.family(spec).hardness
    if known.evidence != "exact":
        return f"nothing; `{teller(known)}`: {known.proved}"
    every = hardness.certify(spec)
    some = [claim for claim in every.claims if claim.quantity in ("stat-queries", "csq-queries")]
    learners = [c for c in hardness.certify(spec, about="all").claims if c.source != "information"]
    said = numbers([*some, every["information-floor"]])
    return f"`certify`: {said}; section {where}. `certify --about all`: {numbers(learners)}"


def teller(known):
    """Name the command that says why: of a family without any bound `certify`, which refuses."""
    return "certify" if known.evidence == "none" else "inspect"


def numbers(claims):
    """Write claims: quantity, value, whose it is, the degree of polynomials."""
    return ", ".join(
        f"`{c.quantity}` {shown_value(c)} ({', '.join([credit(c.source), *degree(c)])})"
        for c in claims
    )


def degree(claim):
    """Name the degree of a claim on polynomials; of others nothing."""
    return [f"degree {claim.parameters[name]}" for name in claim.parameters if name == "degree"]


def assumed(spec):
    """Say which assumption a learner would refute, with the chain if there is one."""
    known = hardness.family(spec).hardness
    if not known.assumption:
        return "none"
    said = f"`inspect`: {known.assumption}"
    try:
        made = hardness.certify(spec, about="lwe", **CHAIN)
    except NoClaim:
        return said
    found = made["lwe-probability"]
    [law] = re.findall(r"The assumption is (LWE\(.*?\))", sentence(made, found))
    forms, width = hardness.family(spec), 2 * CHAIN["error_bound"] + 1
    other = f"lwe:n={forms.n},q={forms.q},error=uniform,width={width},secret={forms.secret}"
    least = hardness.estimate(other).least
    return (
        f"{said}. `certify --about lwe {GIVEN}`: {law} is hard for some distribution of errors "
        "that has 0 as a median. A learner gives a solver for every such distribution, with "
        f"success probability {shown_value(found).partition(',')[0]}; vacuous beyond "
        f"{found.parameters['horizon']} examples ({credit(found.source)}). How hard that LWE is "
        f"for uniform errors: `estimate {other}`: {least.name}, {cost_words(least)}"
    )


def attacks(spec):
    """Say which attack is estimated to cost the least, and what learns the family."""
    known = hardness.family(spec).hardness
    learners = f"`{teller(known)}`: {known.easy}" if known.easy else "none estimated"
    try:
        found = hardness.estimate(spec)
    except UsageError:
        return learners
    least = f"`estimate`: {found.label(found.least)}, {cost_words(found.least)}"
    return f"{least}. {learners}" if known.easy else least


def main():
    """Print the page."""
    print(INTRODUCTION, *(row for name in FAMILIES for row in rows(name)), sep="\n")


if __name__ == "__main__":
    main()
