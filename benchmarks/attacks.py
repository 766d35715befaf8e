"""Tables of attacks, estimates and training, for docs/attack-tables.md: `make attack-tables`.

Every attack runs alone on one core, on the instances of seeds 0 to 4.
"""

import platform
from collections.abc import Iterable, Iterator

from timing import table

from hardness import estimate
from hardness.oracles import Budget
from hardness.runs import attack, run
from hardness.runs.registry import parse_learner
from instances import parse
from instances.limits import readable_bytes
from instances.spec import catalog

SEEDS = 5
ATTACKS = [
    ("lwe:n=256,q=3329,error=none", "modlinear"),
    ("lwr:n=64,q=256,p=2,secret=binary,h=6", "bruteforce"),
    ("lwe:n=80,q=113,sigma=3,secret=binary,h=6", "bruteforce:samples=48"),
    ("lpn:n=64,h=5,noise=0.1", "bruteforce"),
    ("lpn:n=64,h=5,noise=0.1", "restricted"),
    ("lwr:n=40,q=1024,p=4,secret=binary,h=6", "mitm"),
    ("parity:d=100,m=4,noise=0.1", "restricted"),
    ("parity:d=200,m=8,noise=0.02", "restricted"),
    ("parity:d=1000,m=10,noise=0.005", "restricted"),
    ("lpn:n=32,noise=0.1", "bkw"),
    ("lwe:n=30,q=521,sigma=1.5", "primal"),
    ("lwe:n=40,q=1601,alpha=0.005", "primal:block=30"),
]
PLAIN_MLP = "mlp:optimizer=sgd,rate=0.1,batch=32"
TRAINING = [
    ("lwr:n=8,q=8,p=2,secret=binary,h=4", PLAIN_MLP),
    ("lwr:n=16,q=16,p=2,secret=binary,h=4", PLAIN_MLP),
    ("lwr:n=16,q=16,p=2,secret=binary,h=4", "mlp"),
    ("lwr:n=16,q=16,p=2,secret=binary,h=6", "mlp"),
]


def attacks() -> Iterator[Iterable[object]]:
    for spec, name in ATTACKS:
        family = parse(spec)
        attack(name, family, seeds=1, first_seed=100)  # a warm-up that compiles
        found = attack(name, family, seeds=SEEDS, budget=Budget(seconds=600))
        worst = max(r.seconds for r in found.runs)
        yield (
            *(f"`{spec}`", f"`{name}`", f"{found.recovered}/{found.judged}"),
            *(f"{found.median('seconds'):.2f}", f"{worst:.2f}", f"{found.median('examples'):.0f}"),
            readable_bytes(found.peak_bytes),
        )


def training() -> Iterator[Iterable[object]]:
    for spec, name in TRAINING:
        runs = [
            run(parse_learner(name), parse(spec).instance(s), Budget(seconds=600), s)
            for s in range(SEEDS)
        ]
        risks = sorted(r.risk if r.risk is not None else float("nan") for r in runs)
        solved = sum(r.outcome.value == "solved" for r in runs)
        yield (
            *(f"`{spec}`", f"`{name}`", max(r.details["steps"] for r in runs)),
            max(r.examples for r in runs),
            f"{max(r.seconds for r in runs):.0f}",
            ", ".join(f"{v:.2g}" for v in risks),
            f"{solved}/{SEEDS}",
        )


def estimates() -> Iterator[Iterable[object]]:
    for name, entry in catalog().items():
        if entry.spec.startswith(("lwe:", "lwr:")):
            least = estimate(name).least
            primal = estimate(name, attack="usvp", model="rough")["usvp"]
            cells = [least and least.name, least and least.rop, primal.beta, primal.d, primal.rop]
            yield f"`{name}`", *(shown_cell(v) for v in cells)


def shown_cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.1f}"
    return "-" if value is None else str(value)


def main() -> None:
    print(
        "# Tables of attacks\n\n"
        f"Printed by `make attack-tables` on {platform.system()} {platform.machine()}, Python "
        f"{platform.python_version()}: seconds depend on this machine (one core), everything "
        "else on the seeds alone. [Attack LWE samples](lwe.md) explains the columns."
    )
    table(
        f"Attacks\n\nInstances of seeds 0 to {SEEDS - 1}. *found* counts the runs that recovered "
        "the whole secret; seconds count the drawing of examples and the search.",
        "| instance | attack | found | seconds, median | worst | examples | peak memory |",
        attacks(),
    )
    table(
        "A network that is trained\n\n"
        "Two layers of width 100, at most 60,000 steps. Risk 1 means that nothing was learned, "
        "0 everything.",
        "| instance | learner | steps | examples | seconds | risk, seeds 0 to 4 | solved |",
        training(),
    )
    table(
        "What named instances cost\n\n"
        "`hardness estimate NAME`: the minimum of all formulas, in log2 of operations, and the "
        "core-SVP cost of the primal attack; a dash marks instances for which the model is not "
        "meaningful.",
        "| name | least | rop | usvp: β | d | core-SVP |",
        estimates(),
    )


if __name__ == "__main__":
    main()
