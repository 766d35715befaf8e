"""An attack on instances of a family: how often it finds the secret, and what that takes."""

from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from statistics import median
from typing import TYPE_CHECKING, Any, ClassVar

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
from hardness.runs.cells import CONFIDENCE, Cost, interval
from hardness.runs.claim import brief_claim
from hardness.runs.columns import runs_frame
from hardness.runs.names import short
from hardness.runs.planned import Do, Planned, here, require_loaded, warm
from hardness.runs.record import Record
from hardness.runs.registry import ATTACKS, parse_learner
from hardness.runs.run import Run, require_support, run
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

    _parts: ClassVar[dict[str, type[Record]]] = {"runs": Run}

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
        said = (r.details.get("claimed_secret") for r in self.runs)
        return tuple(tuple(one) for one in said if one is not None)

    @property
    def interval(self) -> tuple[float, float]:
        """Bounds on the rate of success at 95 % (Clopper and Pearson)."""
        return interval(self.recovered, self.judged) if self.judged else (0.0, 1.0)

    def median(self, what: Cost) -> float:
        """Return the median of what its runs took."""
        return median(getattr(r.usage, what) for r in self.runs)

    @property
    def peak_bytes(self) -> int:
        """The largest memory of a process that ran it."""
        return max(r.usage.peak_bytes for r in self.runs)

    def _rows(self) -> list[TableRow]:
        low, high = self.interval
        rate = f"rate in [{outward(low, high, '.2f')}], {CONFIDENCE:.0%}"
        sure = brief_claim(self.runs[0].details) if len(self.runs) == 1 else "not judged"
        values = self.median("values")
        row = {
            "attack": short(self.learner),
            "found": f"{self.recovered}/{self.judged}" if self.judged else len(self.claims),
            "examples": self.median("examples"),
            **({"values": values} if values else {}),
            "seconds": self.median("seconds"),
            "known": rate if self.judged else sure,
        }
        return [row]

    def to_frame(self) -> "DataFrame":
        """Make the tidy pandas DataFrame of its runs: one row a run."""
        return runs_frame(self.runs)

    def filed(self) -> dict[str, Any]:
        """Write what its file holds: the runs."""
        return super().to_dict()

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
    """Several attacks on one family; not_run: why others could not be."""

    spec: str
    attacks: tuple[AttackResult, ...]
    not_run: dict[str, str]

    _parts: ClassVar[dict[str, type[Record]]] = {"attacks": AttackResult}

    @property
    def recovered(self) -> int:
        """In how many runs of all attacks the secret was found."""
        return sum(one.recovered for one in self.attacks)

    @property
    def claims(self) -> tuple[tuple[int, ...], ...]:
        """The secrets that runs claim, found or not, attack by attack."""
        return tuple(claim for one in self.attacks for claim in one.claims)

    def _rows(self) -> list[TableRow]:
        return [row for one in self.attacks for row in one._rows()]

    def filed(self) -> dict[str, Any]:
        """Write what its file holds: the runs of all of them."""
        return {**super().to_dict(), "attacks": [one.filed() for one in self.attacks]}

    def to_frame(self) -> "DataFrame":
        """Make the tidy pandas DataFrame of all runs: one row a run."""
        return runs_frame(run for one in self.attacks for run in one.runs)


def known(found: Run) -> bool:
    """Return whether it is known if a run found the secret: not where nobody knows it."""
    return found.secret_recovered is not None or found.risk is not None


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
    for each problem. `primal` leaves out as many coordinates as cost the least by estimate,
    and has the block size of that where the extra `lattice` is there.

    >>> from instances import parse
    >>> attacks_on(parse("parity:d=16,m=3"))[:2]
    ('mitm', 'bruteforce')
    """
    plain = [name for name in ATTACKS if name != "dual"]  # it runs if it is asked for
    names = [name for name in plain if not parse_learner(name).supports(family)]
    known = _estimates(family, names)
    last = max((one.rank for one in known.values()), default=0.0) + 1
    names.sort(key=lambda name: known[name].rank if name in known else last)
    return tuple(_chosen(name, known.get(name)) for name in names)


def estimate_of(name: str, family: Family) -> Estimate | None:
    """Estimate what a learner takes by a formula; None where none speaks of it.

    Of `primal` that is at its own parameters, of others the least of any.

    >>> from instances import parse
    >>> found = estimate_of("primal:zeta=70", parse("toy-128"))
    >>> found.name, found.beta, found.zeta, round(found.repetitions, 1)
    ('guess+usvp', 2, 70, 6.8)
    """
    kind = name.partition(":")[0]
    learner, result = parse_learner(name), _estimates(family, (kind,)).get(kind)
    if not isinstance(learner, Primal) or result is None:
        return result
    asked = parameters_of(family)
    zeta, m = learner.zeta, learner.count(family.linear_forms or family.refuse("linear_forms"))
    if zeta:
        result = usvp_at(without(asked, zeta), DEFAULT, learner.block, m)
        return behind(result, asked, zeta, DEFAULT)
    sizes = np.arange(2, learner.block + 1)  # blocks grow until it is found
    able = Embedding(asked).margin(sizes, m) >= 0
    return usvp_at(asked, DEFAULT, int(sizes[able.argmax() if able.any() else -1]), m)


def _chosen(name: str, found: Estimate | None) -> str:
    if name != "primal":
        return name
    zeta = (found and found.zeta) or 0
    block = (found and found.beta) or LLL_BLOCK
    block = min(block if zeta else max(_BLOCK, block), LARGEST_BLOCK)
    chosen = [f"block={block}"] if find_spec("fpylll") else []
    chosen += [f"zeta={zeta}"] if zeta else []
    return f"primal:{','.join(chosen)}" if chosen else name


def out_of_reach(family: Family, names: Sequence[str]) -> dict[str, str]:
    """Say of attacks by their default settings which are hopeless, and by which estimate.

    >>> from instances import parse
    >>> out_of_reach(parse("toy-80"), ("mitm", "bkw"))
    {'bkw': 'about 2^65 operations are estimated; --learner bkw runs it'}
    """
    kinds = [name.partition(":")[0] for name in names]
    bits = {kind: result.rop for kind, result in _estimates(family, kinds).items()}
    return {
        name: f"about 2^{cost:.0f} operations are estimated; --learner {name} runs it"
        for name in names
        if (cost := bits.get(name.partition(":")[0])) and cost > _REACH
    }


def _estimates(family: Family, learners: Iterable[str]) -> dict[str, Estimate]:
    """The least that attacks of learners cost by formulas, by learner; those that apply."""
    formulas = {name: _FORMULAS[name] for name in learners if name in _FORMULAS}
    only = tuple(dict.fromkeys(attack for names in formulas.values() for attack in names))
    try:
        asked = parameters_of(family)
        if asked.shifted() != asked:  # learners guess zeros, and no other likely value
            only = tuple(name for name in only if name not in _ZEROS)
        estimates = estimate_all(asked, family.spec, only=only).estimates if only else ()
        by_name = {attack.name: attack for attack in estimates if attack.applies}
        if "guess+usvp" in by_name and by_name["guess+usvp"].space:  # no zeros, but all values
            del by_name["guess+usvp"]
    except ToolkitError:  # of a family that formulas do not speak of
        return {}
    each = {
        learner: [by_name[n] for n in names if n in by_name] for learner, names in formulas.items()
    }
    return {
        learner: min(ones, key=lambda attack: attack.rank) for learner, ones in each.items() if ones
    }


def attack(
    name: str,
    target: Family | Folder,
    seeds: int = 3,
    first_seed: int = 0,
    budget: Budget | None = None,
    do: Do = here,
    progress: Callable[[int], None] = lambda done: None,
) -> AttackResult:
    """Run one attack on instances of several seeds, or on the one of a folder.

    do: who does the runs; the result does not depend on it, seconds and memory apart. Raises
    ToolkitError where the attack cannot run on the family, or a run cannot be done.

    >>> from instances import parse
    >>> attack("elimination", parse("parity:d=16,m=3"), seeds=2).recovered
    2
    """
    learner, budget = parse_learner(name), budget or Budget()
    require_loaded((name,), (target.family if isinstance(target, Folder) else target).spec)
    if isinstance(target, Folder):
        warm(target.family.spec, (name,))
        found = run(learner, target, budget, first_seed)
        progress(1)
        return AttackResult(spec=target.family.spec, learner=learner_spec(learner), runs=(found,))
    if seeds < 1:
        raise UsageError(f"{seeds} seeds given: at least one is needed")
    require_spec(target, "its instances cannot be attacked in other processes")
    require_support(learner, target)
    planned = [
        Planned(spec=target.spec, learner=name, seed=seed, budget=budget)
        for seed in range(first_seed, first_seed + seeds)
    ]
    runs: dict[int, Run] = {}
    for index, done in do(planned):
        if isinstance(done, ToolkitError):
            raise done
        runs[index] = done
        progress(1)
    return AttackResult(
        spec=target.spec,
        learner=learner_spec(learner),
        runs=tuple(runs[i] for i in range(seeds)),
    )
