"""What other attention, and W_i on a lattice, do to learners: prints two tables of the docs.

`python benchmarks/attention.py` takes some minutes; those of docs/families/random-layers.md.
"""

from statistics import median

from hardness.oracles import Budget
from hardness.runs import Run, run
from hardness.upper import parse_learner
from instances import parse
from instances.fineprint import off_lattice

_KINDS = ("softmax", "hardmax", "power2", "power4", "power8")
_LEARNERS = ("staged", "levenberg", "student")
_LATTICES = (0, 0.5, 0.9, 1)
_SEEDS, _SECONDS = 3, 60


def runs(learner: str, spec: str) -> list[Run]:
    """Run a learner on instances of seeds 0, 1, 2."""
    found = parse_learner(learner)
    return [run(found, parse(spec).instance(s), Budget(seconds=_SECONDS), s) for s in range(_SEEDS)]


def said(found: list[Run]) -> str:
    """The median risk, and the stage that gave up in most runs."""
    flags = [str((one.details.get("failed") or "").partition(":")[0]) for one in found]
    flag = max(set(flags), key=flags.count)
    value = median(one.risk.value for one in found if one.risk)
    return ("< 1e-20" if value < 1e-20 else f"{value:.2g}") + (f", {flag}" if flag else "")


def main() -> None:
    """Print both tables."""
    print("| attention |", *(f"`{name}` |" for name in _LEARNERS))
    print("|---" * (1 + len(_LEARNERS)) + "|")
    for kind in _KINDS:
        spec = f"nice:m=2,k=2,d=8,attention={kind}"
        print(f"| `{kind}` |", *(f"{said(runs(name, spec))} |" for name in _LEARNERS), flush=True)
    print()
    learners = ("staged", "staged:mode=paper", "levenberg")
    print("| lattice | off lattice |", *(f"`{name}` |" for name in learners))
    print("|---" * (2 + len(learners)) + "|")
    for lattice in _LATTICES:
        spec = f"nice:m=2,k=2,d=8,lattice={lattice}"
        apart = min(off_lattice(w) for w in parse(spec).instance(0).layer().w)
        found = (f"{said(runs(name, spec))} |" for name in learners)
        print(f"| {lattice} | {apart:.2g} |", *found, flush=True)


if __name__ == "__main__":
    main()
