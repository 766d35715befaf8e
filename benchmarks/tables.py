"""Small tables of single pages of the docs: `python benchmarks/tables.py NAME` prints one.

lattice: the effect of W_i on a lattice on learners; some minutes. blocks: predicted and actual
block sizes of the primal attack. Each instance takes two minutes, with block sizes 10, 14, .. and
two tours each; the table has the size that found the secret. directions: bounds of the family
`direction` for d and m. transformer: the number of examples that networks on tokens need.
"""

import math
import sys
from collections.abc import Iterator
from statistics import median

from timing import table  # isort: skip

from hardness.bounds import certify
from hardness.lwe.attacks.usvp import usvp
from hardness.lwe.models import DEFAULT
from hardness.lwe.parameters import parameters_of
from hardness.oracles import Budget
from hardness.runs import attack, run
from hardness.runs.registry import parse_learner
from instances import parse
from instances.inspect import off_lattice

SEEDS, SECONDS = 3, 60
LATTICES = (0, 0.5, 0.9, 1)
LARGEST = 50  # the largest block size
ATTACKED_SPECS = (
    "lwe:n=40,q=1601,alpha=0.005",
    "lwe:n=45,q=2027,alpha=0.004",
    "lwe:n=90,q=3329,sigma=3,secret=ternary",
    "lwe:n=90,q=1009,sigma=1",
    "lwe:n=45,q=2027,alpha=0.005",
    "lwe:n=40,q=1601,alpha=0.007",
)
DIMENSIONS, DEGREES = (30, 100, 300, 1000, 3000), (2, 4, 8, 12)
NETWORKS = (
    "transformer:steps=1000,batch=128",
    "attention:steps=2000",
    "levenberg:restarts=2",
    "staged",
    "mlp:view=tokens,steps=5000",
)
TOKEN_SPECS = [f"parity:d={d},m={m}" for m in (1, 2, 3) for d in (8, 12, 16)]
TOKEN_SPECS += [f"nice:m={m},k=2,d=8" for m in (1, 2, 4)] + ["linear:m=2,k=2,d=8"]
EXAMPLES = (16_384, 2048, 256)
Row = tuple[object, ...]


def risks(spec: str, *learners: str) -> Iterator[str]:
    """Yield the median risk of each learner, and the stage that failed in most runs."""
    for learner in map(parse_learner, learners):
        instances = map(parse(spec).instance, range(SEEDS))
        found = [run(learner, one, Budget(seconds=SECONDS), s) for s, one in enumerate(instances)]
        flags = [str((one.details.get("failed") or "").partition(":")[0]) for one in found]
        flag = max(set(flags), key=flags.count)
        value = median(one.risk for one in found if one.risk is not None)
        yield ("< 1e-20" if value < 1e-20 else f"{value:.2g}") + (f", {flag}" if flag else "")


def lattice() -> Iterator[Row]:
    names = ("staged", "staged:mode=paper", "levenberg")
    yield "lattice", "off lattice", *(f"`{name}`" for name in names)
    for share in LATTICES:
        spec = f"nice:m=2,k=2,d=8,lattice={share}"
        apart = min(off_lattice(w) for w in parse(spec).instance(0).layer().w)
        yield share, f"{apart:.2g}", *risks(spec, *names)


def blocks() -> Iterator[Row]:
    yield "instance", "predicted", "taken, each seed", "found", "seconds, median"
    for spec in ATTACKED_SPECS:
        family = parse(spec)
        predicted = usvp(parameters_of(family), DEFAULT).beta
        found = attack(f"primal:block={LARGEST}", family, seeds=SEEDS, budget=Budget(seconds=120))
        taken = sorted(run.details["block"] for run in found.runs if run.outcome.value == "solved")
        seconds = median(run.seconds for run in found.runs)
        shown = ", ".join(map(str, taken)) or "-"
        yield f"`{spec}`", predicted, shown, f"{found.recovered}/{found.judged}", f"{seconds:.0f}"


def directions() -> Iterator[Row]:
    """Yield rows of powers of ten.

    random: the number of directions of pairwise correlation at most one over their number, which
    exist by a union bound. listed: the number in an explicit code. queries: to STAT(1/10), for
    relative risk 1/4 with probability 2/3.
    """
    yield "m", "d", "norm", "random", "listed", "queries"
    for m in DEGREES:
        for d in DIMENSIONS:
            made = certify(parse(f"direction:m={m},d={d}"))
            found = {one.quantity: one.value for one in made.claims}
            names = ("random-members", "sq-dimension-at-least", "stat-queries")
            counts = [int(found.get(name, 0)) for name in names]
            shown = (f"{math.log10(count):.1f}" if count > 2 else "-" for count in counts)
            yield m, d, f"{math.log10(found['operator-norm-at-most']):.1f}", *shown


def fewest(learner: str, spec: str, seconds: list[float]) -> str:
    """Return the fewest examples that solve seed 0, from the most down by factors of 8.

    seconds: those of the run with the most examples are appended.
    """
    solved, instance = "", parse(spec).instance(0)
    for count in EXAMPLES:
        tried = run(parse_learner(learner), instance, Budget(examples=count))
        if count == EXAMPLES[0]:
            seconds.append(tried.seconds)
        if not tried.passed:
            risk = f"risk {tried.risk:.2f}" if tried.risk is not None else tried.outcome.value
            return solved or f"not with {count:,} ({risk})"
        solved = f"{count:,}"
    return solved


def transformer() -> Iterator[Row]:
    """Yield rows of examples; only the last row, of seconds, depends on the machine."""
    yield "instance", "floor", *(f"`{name}`" for name in NETWORKS)
    seconds: dict[str, list[float]] = {name: [] for name in NETWORKS}
    for spec in TOKEN_SPECS:
        claims = certify(parse(spec)).claims if parse(spec).hardness.evidence == "exact" else ()
        floor = [str(claim.value) for claim in claims if claim.quantity == "information-floor"]
        shown = (
            "-" if parse_learner(name).supports(parse(spec)) else fewest(name, spec, seconds[name])
            for name in NETWORKS
        )
        yield f"`{spec}`", *(floor[:1] or ["-"]), *shown
    most = (f"{median(seconds[name]):.1f}" for name in NETWORKS)
    yield f"seconds with {EXAMPLES[0]:,}, median", "", *most


TABLES = {made.__name__: made for made in (lattice, blocks, directions, transformer)}

if __name__ == "__main__":
    rows = TABLES[sys.argv[1]]()
    table("", f"| {' | '.join(map(str, next(rows)))} |", rows)
