"""Attacks on instances of a family: how often each finds the secret, and at what cost."""

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
from hardness.lwe.attacks.drop_and_solve import with_guesses, without_zeros
from hardness.lwe.attacks.usvp import Embedding, usvp_at
from hardness.lwe.estimate import estimate_all
from hardness.lwe.models import DEFAULT
from hardness.lwe.parameters import parameters_of
from hardness.lwe.record import Estimate
from hardness.oracles import Budget
from hardness.runs.claim import brief_claim
from hardness.runs.columns import runs_frame
from hardness.runs.jobs import (
    Executor,
    Job,
    in_this_process,
    require_loaded,
    require_some,
    warm,
)
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

_FEASIBLE_BITS = 50.0  # log2 of operations: above it no attack here ends within days
_NOT_DECODED = ("decode", "trivial")  # other learners that may be named as attacks themselves
_LEAST_BLOCK = 40  # block size of BKZ on a single lattice, which takes some seconds
_FORMULAS = {  # names of the estimates that apply to each attack
    "elimination": ("linear-algebra",),
    "modlinear": ("linear-algebra",),
    "bruteforce": ("brute-force",),
    "mitm": ("meet-in-the-middle",),
    "restricted": ("restricted-elimination",),
    "bkw": ("bkw",),
    "primal": ("usvp", "guess+usvp"),
    "dual": ("dual_guess",),
}

_GUESS_ZEROS = ("guess+usvp", "dual_guess", "restricted-elimination")  # these guess zero entries


class AttackResult(Record, frozen=True, kw_only=True):
    """The runs of one attack, on fresh instances of a family or on the instance of a folder."""

    spec: str
    learner: str
    runs: tuple[Run, ...]

    @property
    def judged(self) -> int:
        """The number of runs for which it is known whether the secret was found."""
        return sum(is_judged(r) for r in self.runs)

    @property
    def recovered(self) -> int:
        """The number of runs that found the secret."""
        return sum(r.secret_recovered is True for r in self.runs)

    @property
    def claims(self) -> tuple[tuple[int, ...], ...]:
        """The secrets that runs claim, right or wrong, in the order of the runs."""
        secrets = (r.details.get("claimed_secret") for r in self.runs)
        return tuple(tuple(secret) for secret in secrets if secret is not None)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval for the success rate (Clopper and Pearson)."""
        return interval(self.recovered, self.judged) if self.judged else (0.0, 1.0)

    def median(self, resource: Cost) -> float:
        """Return the median use of a resource by its runs."""
        return median(r.used(resource) for r in self.runs)

    @property
    def samples(self) -> float | None:
        """The median number of samples that its runs used; None if no run reports it."""
        used = [run.details["samples"] for run in self.runs if "samples" in run.details]
        return median(used) if used else None

    @property
    def peak_bytes(self) -> int:
        """The largest memory of its runs, in bytes."""
        return max(r.memory for r in self.runs)

    def _rows(self) -> list[TableRow]:
        low, high = self.interval
        rate = f"rate in [{outward(low, high, '.2f')}], {CONFIDENCE:.0%}"
        claim = brief_claim(self.runs[0].details) if len(self.runs) == 1 else "not judged"
        values = self.median("values")
        row = {
            "attack": short(self.learner),
            "found": f"{self.recovered}/{self.judged}" if self.judged else len(self.claims),
            **({"examples": self.median("examples")} if self.judged else {"samples": self.samples}),
            **({"values": values} if values else {}),
            "seconds": self.median("seconds"),
            "known": rate if self.judged else claim,
        }
        return [row]

    def to_frame(self) -> "DataFrame":
        """Make the tidy pandas DataFrame of its runs: one row a run."""
        return runs_frame(self.runs)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON, with success rate and medians of its runs."""
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
    """Several attacks on one family.

    names: of the attacks, as the user wrote them. seed: the first one. not_run: the reason why some
    attacks were not run, by name.
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
        """The number of runs of all attacks that found the secret."""
        return sum(result.recovered for result in self.attacks)

    @property
    def claims(self) -> tuple[tuple[int, ...], ...]:
        """The secrets that runs claim, right or wrong, attack by attack."""
        return tuple(claim for result in self.attacks for claim in result.claims)

    def on(self, runs: Iterable[Run]) -> Self:
        """Return a copy with the given runs that belong to it, attack by attack."""
        kept, seeds = list[AttackResult](), range(self.seed, self.seed + self.seeds)
        runs = sorted((run for run in runs if run.seed in seeds), key=lambda run: run.seed)
        for name in map(learner_spec, map(parse_learner, self.names)):
            some = tuple(run for run in runs if (run.learner, run.spec) == (name, self.spec))
            kept += [AttackResult(spec=self.spec, learner=name, runs=some)] if some else []
        return self.updated(attacks=tuple(kept))

    def _rows(self) -> list[TableRow]:
        return [row for result in self.attacks for row in result._rows()]

    def to_frame(self) -> "DataFrame":
        """Make the tidy pandas DataFrame of all runs: one row a run."""
        return runs_frame(run for result in self.attacks for run in result.runs)


def is_judged(result: Run) -> bool:
    """Whether it is known if a run found the secret; it is not for samples of an unknown secret."""
    return result.secret_recovered is not None or result.risk is not None


def as_attack(name: str, family: Family) -> str:
    """Name the attack that a learner makes: itself, or "decode:NAME" for one that learns labels.

    >>> from instances import parse
    >>> [as_attack(name, parse("lwr:n=8,q=8,p=2,secret=binary")) for name in ("mlp", "bkw")]
    ['decode:mlp', 'bkw']
    """
    if name.partition(":")[0] in (*ATTACKS, *_NOT_DECODED):
        return name
    decoded = f"decode:{name}"
    return name if parse_learner(decoded).supports(family) else decoded


def attacks_on(family: Family) -> tuple[str, ...]:
    """Name the attacks that run on a family, in the order of their estimated cost.

    They are all learners that look for the secret itself except `dual`, whose parameters the user
    chooses for each problem. `primal` gets the number of dropped coordinates of its cheapest
    estimate, and also the block size if the extra `lattice` is installed.

    >>> from instances import parse
    >>> attacks_on(parse("parity:d=16,m=3"))[:2]
    ('mitm', 'bruteforce')
    """
    plain = [name for name in ATTACKS if name != "dual"]  # it runs if it is asked for
    least = {n: least_estimate(n, family) for n in plain if not parse_learner(n).supports(family)}
    names = sorted(least, key=lambda name: cost.rank if (cost := least[name]) else math.inf)
    return tuple(_sized_primal(least[n]) if n == "primal" else n for n in names)


def _sized_primal(estimate: Estimate | None) -> str:
    """Name the primal attack with the parameters of its estimate that can run here."""
    zeta, block = (estimate.zeta or 0, estimate.beta or LLL_BLOCK) if estimate else (0, LLL_BLOCK)
    block = min(block if zeta else max(_LEAST_BLOCK, block), LARGEST_BLOCK)
    sizes = [f"block={block}"] if find_spec("fpylll") else []
    sizes += [f"zeta={zeta}"] if zeta else []
    return f"primal:{','.join(sizes)}" if sizes else "primal"


def out_of_reach(family: Family, names: Sequence[str]) -> dict[str, str]:
    """Return a sentence for each attack that is estimated too costly to run, by name.

    Attacks are estimated at their cheapest parameters.

    >>> from instances import parse
    >>> out_of_reach(parse("toy-80"), ("mitm", "bkw"))
    {'bkw': 'about 2^65 operations are estimated; --learner bkw runs it'}
    """
    least = {name: least_estimate(name.partition(":")[0], family) for name in names}
    bits = {name: cost.rop for name, cost in least.items() if cost and cost.rop}
    return {
        name: f"about 2^{cost:.0f} operations are estimated; --learner {name} runs it"
        for name, cost in bits.items()
        if cost > _FEASIBLE_BITS
    }


def estimate_of(name: str, family: Family) -> Estimate | None:
    """Estimate the cost of a learner by a formula; None if no formula applies.

    `primal` is estimated at its own parameters, other attacks at their cheapest ones.

    >>> from instances import parse
    >>> estimate = estimate_of("primal:zeta=70", parse("toy-128"))
    >>> estimate.name, estimate.beta, estimate.zeta, round(estimate.repetitions, 1)
    ('guess+usvp', 2, 70, 6.8)
    """
    learner, forms = parse_learner(name), family.linear_forms
    if not isinstance(learner, Primal):
        return least_estimate(name.partition(":")[0], family)
    if forms is None or learner.supports(family):
        return None
    problem = parameters_of(family)
    zeta, m, block = learner.zeta, learner.lattice_samples(forms), learner.block
    if zeta:
        if problem.secret.weight is None:  # the formula guesses any values, the attack only zeros
            return None
        reduced = usvp_at(without_zeros(problem, zeta), DEFAULT, block, m)
        return with_guesses(reduced, problem, zeta, DEFAULT)
    if block > LLL_BLOCK:  # the attack increases the block size until it finds the secret
        sizes = np.arange(LLL_BLOCK, block + 1)
        succeeds = Embedding(problem).margin(sizes, m) >= 0
        block = int(sizes[succeeds.argmax() if succeeds.any() else -1])
    return usvp_at(problem, DEFAULT, block, m)


@lru_cache(64)
def least_estimate(kind: str, family: Family) -> Estimate | None:
    """Estimate the cost of an attack at its cheapest parameters; None if no formula applies."""
    only = _FORMULAS.get(kind, ())
    try:
        problem = parameters_of(family)
        if problem.shifted() != problem:  # attacks guess zeros, but here another value is likelier
            only = tuple(name for name in only if name not in _GUESS_ZEROS)
        estimates = estimate_all(problem, family.spec, only=only).estimates if only else ()
    except ToolkitError:  # no formula is about this family
        return None
    # With `space`, guess+usvp guesses other values than zeros too, which no attack here does.
    same = (e for e in estimates if e.applies and not (e.name == "guess+usvp" and e.space))
    return min(same, key=lambda estimate: estimate.rank, default=None)


def planned(
    family: Family, names: Sequence[str], seeds: int, first_seed: int, budget: Budget
) -> Attacks:
    """Plan several attacks on a family, without runs yet; raises UsageError for no seeds."""
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
    executor: Executor = in_this_process,
) -> AttackResult:
    """Run one attack on instances of several seeds, or on the one of a folder.

    executor: does the jobs; the result does not depend on it, except for seconds and memory. Raises
    ToolkitError if the attack cannot run on the family, or if no run could be done.

    >>> from instances import parse
    >>> attack("elimination", parse("parity:d=16,m=3"), seeds=2).recovered
    2
    """
    learner, budget = parse_learner(name), budget or Budget()
    require_loaded((name,), (target.family if isinstance(target, Folder) else target).spec)
    if isinstance(target, Folder):
        warm(target.family.spec, (name,))
        only = run(learner, target, budget, first_seed)
        return AttackResult(spec=target.family.spec, learner=learner_spec(learner), runs=(only,))
    if seeds < 1:
        raise UsageError(f"{seeds} seeds: at least one is needed")
    require_spec(target, "its instances cannot be attacked in other processes")
    require_support(learner, target)
    works = [
        Job(spec=target.spec, learner=name, seed=seed, budget=budget)
        for seed in range(first_seed, first_seed + seeds)
    ]
    runs = executor(works)
    require_some(runs)
    return AttackResult(spec=target.spec, learner=learner_spec(learner), runs=tuple(runs))
