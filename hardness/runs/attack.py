"""An attack on instances of a family: how often it finds the secret, and what that takes."""

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.util import find_spec
from statistics import median
from typing import TYPE_CHECKING, Any, ClassVar, Self

import msgspec
import numpy as np

from hardness.attacks.lattice import LARGEST_BLOCK, LLL_BLOCK
from hardness.attacks.primal import Primal
from hardness.learners import learner_spec
from hardness.lwe.attacks.drop_and_solve import behind, without
from hardness.lwe.attacks.usvp import Embedding, usvp_at
from hardness.lwe.estimate import estimate_all
from hardness.lwe.models import DEFAULT
from hardness.lwe.parameters import parameters_of
from hardness.lwe.record import Estimate
from hardness.oracles import Budget
from hardness.runs.claim import brief_claim
from hardness.runs.columns import runs_frame
from hardness.runs.jobs import Do, Job, here, require_loaded, require_some, warm
from hardness.runs.names import short
from hardness.runs.record import Record
from hardness.runs.registry import ATTACKS, parse_learner
from hardness.runs.risk import CONFIDENCE, interval
from hardness.runs.run import Cost, Run, require_support, run
from instances.errors import ToolkitError, UsageError
from instances.family import Family
from instances.files import Folder
from instances.numbers import outward
from instances.result import TableRow
from instances.spec import require_spec

if TYPE_CHECKING:
    from pandas import DataFrame

_REACH = 50.0  # log2 of operations: above it no attack here ends within days
_OTHERS = ("decode", "trivial")  # learners that are attacks as they are
_BLOCK = 40  # of BKZ, at least where there is one lattice: some seconds
_FORMULAS = {  # what estimates call the attacks
    "elimination": ("linear-algebra",),
    "modlinear": ("linear-algebra",),
    "bruteforce": ("brute-force",),
    "mitm": ("meet-in-the-middle",),
    "restricted": ("restricted-elimination",),
    "bkw": ("bkw",),
    "primal": ("usvp", "guess+usvp"),
    "dual": ("dual_guess",),
}

_ZEROS = ("guess+usvp", "dual_guess", "restricted-elimination")  # estimates of guessed zeros


class AttackResult(Record, frozen=True, kw_only=True):
    """The runs of one attack, on fresh instances of a family or on the instance of a folder."""

    spec: str
    learner: str
    runs: tuple[Run, ...]

    @property
    def judged(self) -> int:
        """How many runs there are of which it is known whether the secret was found."""
        return sum(known(r) for r in self.runs)

    @property
    def recovered(self) -> int:
        """In how many runs the secret was found."""
        return sum(r.secret_recovered is True for r in self.runs)

    @property
    def claims(self) -> tuple[tuple[int, ...], ...]:
        """The secrets that runs claim, found or not, in the order of the runs."""
        claimed = (r.details.get("claimed_secret") for r in self.runs)
        return tuple(tuple(one) for one in claimed if one is not None)

    @property
    def interval(self) -> tuple[float, float]:
        """Bounds on the rate of success at 95 % (Clopper and Pearson)."""
        return interval(self.recovered, self.judged) if self.judged else (0.0, 1.0)

    def median(self, resource: Cost) -> float:
        """Return the median of what its runs took."""
        return median(r.used(resource) for r in self.runs)

    @property
    def samples(self) -> float | None:
        """The median of the samples that its runs used; None where none reports it."""
        used = [run.details["samples"] for run in self.runs if "samples" in run.details]
        return median(used) if used else None

    @property
    def peak_bytes(self) -> int:
        """The largest memory of a process that ran it."""
        return max(r.memory for r in self.runs)

    def _rows(self) -> list[TableRow]:
        low, high = self.interval
        rate = f"rate in [{outward(low, high, '.2f')}], {CONFIDENCE:.0%}"
        sure = brief_claim(self.runs[0].details) if len(self.runs) == 1 else "not judged"
        values = self.median("values")
        row = {
            "attack": short(self.learner),
            "found": f"{self.recovered}/{self.judged}" if self.judged else len(self.claims),
            **({"examples": self.median("examples")} if self.judged else {"samples": self.samples}),
            **({"values": values} if values else {}),
            "seconds": self.median("seconds"),
            "known": rate if self.judged else sure,
        }
        return [row]

    def to_frame(self) -> "DataFrame":
        """Make the tidy pandas DataFrame of its runs: one row a run."""
        return runs_frame(self.runs)

    def to_dict(self) -> dict[str, Any]:
        """Write the attack as JSON, with what follows from its runs."""
        values = self.median("values")
        return {
            **self.filed(),
            "recovered": self.recovered,
            "judged": self.judged,
            "success_interval": list(self.interval) if self.judged else None,
            "confidence": CONFIDENCE,
            "median_seconds": self.median("seconds"),
            "median_examples": self.median("examples"),
            **({"median_values": values} if values else {}),
            "peak_bytes": self.peak_bytes,
        }


class Attacks(Record, frozen=True, kw_only=True):
    """Several attacks on one family; not_run: why others could not be.

    names: of the attacks, as they were asked for. seed: the first.
    """

    spec: str
    names: tuple[str, ...] = ()
    seeds: int = 1
    seed: int = 0
    budget: Budget = Budget()
    attacks: tuple[AttackResult, ...] = ()
    not_run: dict[str, str] = msgspec.field(default_factory=dict)

    _format: ClassVar[str] = "hardness-attack/1"

    @property
    def recovered(self) -> int:
        """In how many runs of all attacks the secret was found."""
        return sum(one.recovered for one in self.attacks)

    @property
    def claims(self) -> tuple[tuple[int, ...], ...]:
        """The secrets that runs claim, found or not, attack by attack."""
        return tuple(claim for one in self.attacks for claim in one.claims)

    def on(self, runs: Iterable[Run]) -> Self:
        """Hold those of some runs that are its own, attack by attack."""
        kept, seeds = list[AttackResult](), range(self.seed, self.seed + self.seeds)
        runs = sorted((run for run in runs if run.seed in seeds), key=lambda run: run.seed)
        for name in map(learner_spec, map(parse_learner, self.names)):
            some = tuple(run for run in runs if (run.learner, run.spec) == (name, self.spec))
            kept += [AttackResult(spec=self.spec, learner=name, runs=some)] if some else []
        return self.updated(attacks=tuple(kept))

    def _rows(self) -> list[TableRow]:
        return [row for one in self.attacks for row in one._rows()]

    def to_frame(self) -> "DataFrame":
        """Make the tidy pandas DataFrame of all runs: one row a run."""
        return runs_frame(run for one in self.attacks for run in one.runs)


def known(result: Run) -> bool:
    """Return whether it is known if a run found the secret: not where nobody knows it."""
    return result.secret_recovered is not None or result.risk is not None


def as_attack(name: str, family: Family) -> str:
    """Name the attack that a learner makes: itself, or of one that learns labels its decoder.

    >>> from instances import parse
    >>> [as_attack(name, parse("lwr:n=8,q=8,p=2,secret=binary")) for name in ("mlp", "bkw")]
    ['decode:mlp', 'bkw']
    """
    if name.partition(":")[0] in (*ATTACKS, *_OTHERS):
        return name
    decoded = f"decode:{name}"
    return name if parse_learner(decoded).supports(family) else decoded


def attacks_on(family: Family) -> tuple[str, ...]:
    """Name the attacks that run on a family, those first that are estimated to cost the least.

    They are learners that look for the secret itself, but for `dual`, whose sizes are chosen
    for each problem. `primal` drops as many coordinates as cost the least by estimate, and has the
    block size of that if the extra `lattice` is installed.

    >>> from instances import parse
    >>> attacks_on(parse("parity:d=16,m=3"))[:2]
    ('mitm', 'bruteforce')
    """
    plain = [name for name in ATTACKS if name != "dual"]  # it runs if it is asked for
    least = {n: least_estimate(n, family) for n in plain if not parse_learner(n).supports(family)}
    names = sorted(least, key=lambda name: estimate.rank if (estimate := least[name]) else math.inf)
    return tuple(_sized_primal(least[n]) if n == "primal" else n for n in names)


def _sized_primal(estimate: Estimate | None) -> str:
    """Name the primal attack with the sizes of its estimate, as far as they run here."""
    zeta, block = (estimate.zeta or 0, estimate.beta or LLL_BLOCK) if estimate else (0, LLL_BLOCK)
    block = min(block if zeta else max(_BLOCK, block), LARGEST_BLOCK)
    sizes = [f"block={block}"] if find_spec("fpylll") else []
    sizes += [f"zeta={zeta}"] if zeta else []
    return f"primal:{','.join(sizes)}" if sizes else "primal"


def out_of_reach(family: Family, names: Sequence[str]) -> dict[str, str]:
    """Say of attacks by their default settings which are hopeless, and by which estimate.

    >>> from instances import parse
    >>> out_of_reach(parse("toy-80"), ("mitm", "bkw"))
    {'bkw': 'about 2^65 operations are estimated; --learner bkw runs it'}
    """
    least = {name: least_estimate(name.partition(":")[0], family) for name in names}
    bits = {name: estimate.rop for name, estimate in least.items() if estimate and estimate.rop}
    return {
        name: f"about 2^{cost:.0f} operations are estimated; --learner {name} runs it"
        for name, cost in bits.items()
        if cost > _REACH
    }


def estimate_of(name: str, family: Family) -> Estimate | None:
    """Estimate what a learner takes by a formula; None if no formula is about it.

    Of `primal` that is at its own parameters, of others the least of any.

    >>> from instances import parse
    >>> found = estimate_of("primal:zeta=70", parse("toy-128"))
    >>> found.name, found.beta, found.zeta, round(found.repetitions, 1)
    ('guess+usvp', 2, 70, 6.8)
    """
    learner, forms = parse_learner(name), family.linear_forms
    if not isinstance(learner, Primal):
        return least_estimate(name.partition(":")[0], family)
    if forms is None or learner.supports(family):
        return None
    asked = parameters_of(family)
    zeta, m, block = learner.zeta, learner.lattice_samples(forms), learner.block
    if zeta:
        if asked.secret.weight is None:  # all values are guessed by the formula, zeros here
            return None
        estimate = usvp_at(without(asked, zeta), DEFAULT, block, m)
        return behind(estimate, asked, zeta, DEFAULT)
    if block > LLL_BLOCK:  # blocks grow until the secret is found
        sizes = np.arange(LLL_BLOCK, block + 1)
        able = Embedding(asked).margin(sizes, m) >= 0
        block = int(sizes[able.argmax() if able.any() else -1])
    return usvp_at(asked, DEFAULT, block, m)


@lru_cache(64)
def least_estimate(kind: str, family: Family) -> Estimate | None:
    """Estimate the least that an attack costs with any parameters; None if no formula applies."""
    only = _FORMULAS.get(kind, ())
    try:
        asked = parameters_of(family)
        if asked.shifted() != asked:  # learners guess zeros, and no other likely value
            only = tuple(name for name in only if name not in _ZEROS)
        estimates = estimate_all(asked, family.spec, only=only).estimates if only else ()
    except ToolkitError:  # of a family that formulas do not speak of
        return None
    zeros = (e for e in estimates if e.applies and not (e.name == "guess+usvp" and e.space))
    return min(zeros, key=lambda found: found.rank, default=None)


def planned(
    family: Family, names: Sequence[str], seeds: int, first_seed: int, budget: Budget
) -> Attacks:
    """Plan several attacks on a family, without runs; raises UsageError for fewer than one seed."""
    if seeds < 1:
        raise UsageError(f"{seeds} seeds: at least one is needed")
    return Attacks(
        spec=family.spec, names=tuple(names), seeds=seeds, seed=first_seed, budget=budget
    )


def attack(
    name: str,
    target: Family | Folder,
    seeds: int = 3,
    first_seed: int = 0,
    budget: Budget | None = None,
    do: Do = here,
) -> AttackResult:
    """Run one attack on instances of several seeds, or on the one of a folder.

    do: who does the jobs; the result does not depend on it, seconds and memory apart. Raises
    ToolkitError where the attack cannot run on the family, or no run could be done.

    >>> from instances import parse
    >>> attack("elimination", parse("parity:d=16,m=3"), seeds=2).recovered
    2
    """
    learner, budget = parse_learner(name), budget or Budget()
    require_loaded((name,), (target.family if isinstance(target, Folder) else target).spec)
    if isinstance(target, Folder):
        warm(target.family.spec, (name,))
        made = run(learner, target, budget, first_seed)
        return AttackResult(spec=target.family.spec, learner=learner_spec(learner), runs=(made,))
    if seeds < 1:
        raise UsageError(f"{seeds} seeds: at least one is needed")
    require_spec(target, "its instances cannot be attacked in other processes")
    require_support(learner, target)
    works = [
        Job(spec=target.spec, learner=name, seed=seed, budget=budget)
        for seed in range(first_seed, first_seed + seeds)
    ]
    runs = do(works)
    require_some(runs)
    return AttackResult(spec=target.spec, learner=learner_spec(learner), runs=tuple(runs))
