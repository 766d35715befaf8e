"""Learners on a ladder: each climbs rung by rung until it passes on none of the seeds of one.

Every learner gets the same instances. Their seeds come from one base seed, drawn from the operating
system unless it is given: who knows it can compute every secret, so a learner must not.
"""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction

from hardness.claims import vacuous
from hardness.lower import Terms, certify
from hardness.oracles import Budget
from hardness.runs.climb import Climb, Refusal, Trial, Trials, confidence
from hardness.runs.processes import Round, workers
from hardness.runs.run import Run, run
from hardness.upper import learner_spec, parse_learner
from instances.errors import ToolkitError, UsageError
from instances.ladders import Ladder, Rung
from instances.spec import parse_stored
from instances.streams import generator

BITS = 63  # of a seed: such a number is kept exactly by every store of results
TERMS = Terms(tau=Fraction(1, 10))
_MOST_SEEDS = 1000


@dataclass(frozen=True, kw_only=True)
class Certified:
    """What is certified of a rung: None where no bound is claimed, and why.

    queries: that a learner by `asked` must be allowed, worst answers within TERMS.tau; floor: the
    examples that any learner must be; both to reach TERMS.risk with chance TERMS.success over a
    uniform member.
    """

    spec: str
    evidence: str
    why: str
    asked: str | None = None
    queries: int | None = None
    floor: int | None = None

    @property
    def vacuous(self) -> bool:
        """Whether the bound on queries says nothing."""
        if self.asked is None or self.queries is None:
            return False
        return vacuous(self.asked, self.queries)


@dataclass(frozen=True, kw_only=True)
class Stress:
    """The climbs of several learners on one ladder, and what is certified of its rungs.

    budget: what overrides the rungs' own. drawn: whether the base seed came from the operating
    system. finished: whether no climb was cut.
    """

    ladder: Ladder
    climbs: tuple[Climb, ...]
    certified: tuple[Certified, ...]
    seeds: int
    base_seed: int
    drawn: bool
    budget: Budget
    finished: bool

    @property
    def confidence(self) -> Fraction | None:
        """With which confidence all rungs are held that a learner is said to hold."""
        return confidence(self.seeds)

    @property
    def runs(self) -> tuple[Run, ...]:
        """Every run: learner by learner, rung by rung, seed by seed."""
        return tuple(r for climb in self.climbs for trials in climb.rungs for r in trials.runs)

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """Every trial that could not be run."""
        trials = (t for climb in self.climbs for rung in climb.rungs for t in rung.trials)
        return tuple(t for t in trials if isinstance(t, Refusal))


class Interrupted(Exception):
    """A climb was cut, by Ctrl-C or by what could not be done: its cause says which.

    `stress` holds the rungs of which every seed was finished.
    """

    def __init__(self, found: Stress) -> None:
        super().__init__(f"{len(found.runs)} runs were finished")
        self.stress = found


def stress(
    learners: Sequence[str],
    ladder: Ladder,
    seeds: int = 5,
    base_seed: int | None = None,
    budget: Budget | None = None,
    jobs: int = 1,
    progress: Callable[[int], None] = lambda done: None,
    references: Sequence[str] = (),
) -> Stress:
    """Let learners climb a ladder; a budget's limits stand in place of those of every rung.

    The result does not depend on `jobs` or on the order of learners, seconds and memory apart.
    Raises UsageError before anything runs, and Interrupted with what was finished.

    >>> from instances.ladders import ladder_of
    >>> found = stress(["lowdegree"], ladder_of(["parity:d=8,m=2", "parity:d=8,m=3"]), base_seed=1)
    >>> found.climbs[0].held, found.climbs[0].touched, found.confidence
    (1, 1, Fraction(31, 32))
    """
    budget = budget or Budget()
    if not learners or jobs < 1 or not 1 <= seeds <= _MOST_SEEDS:
        raise UsageError(
            f"{len(learners)} learners, {seeds} seeds, {jobs} jobs given: at least one of each is "
            f"needed, and at most {_MOST_SEEDS} seeds"
        )
    if base_seed is not None and (type(base_seed) is not int or base_seed < 0):
        raise UsageError(f"base_seed={base_seed!r} given: an integer of at least 0 is needed")
    climbs = _starts(learners, references)
    certified = tuple(certified_of(spec) for spec in ladder.specs)
    base = secrets.randbits(BITS) if base_seed is None else base_seed

    def found(finished: bool) -> Stress:
        return Stress(
            ladder=ladder,
            climbs=tuple(climbs),
            certified=certified,
            seeds=seeds,
            base_seed=base,
            drawn=base_seed is None,
            budget=budget,
            finished=finished,
        )

    try:
        with workers(min(jobs, seeds * len(climbs))) as each:
            for rung, spec in zip(ladder.rungs, ladder.specs, strict=True):
                drawn = instance_seeds(base, spec, seeds)
                _climb(climbs, spec, drawn, rung_budget(rung, budget), each, progress)
    except (KeyboardInterrupt, ToolkitError) as error:
        raise Interrupted(found(finished=False)) from error
    return found(finished=True)


def instance_seeds(base: int, spec: str, seeds: int) -> tuple[int, ...]:
    """Derive the seeds of a rung's instances from the base seed: numbers below 2^63.

    >>> instance_seeds(1, "parity:d=8,m=3", 2)[:1] == instance_seeds(1, "parity:d=8,m=3", 1)
    True
    """
    return tuple(
        int(generator(base, "stress", spec, trial).integers(1 << BITS)) for trial in range(seeds)
    )


def rung_budget(rung: Rung, over: Budget) -> Budget:
    """Give a rung's budget, its limits replaced by those that are given.

    >>> rung_budget(Rung(spec="parity:d=8,m=3", examples=99, seconds=5.0), Budget(seconds=1.0))
    Budget(examples=99, queries=None, seconds=1.0, cpu_seconds=None, memory_bytes=None)
    """
    given = {f.name: getattr(over, f.name) for f in fields(over)}
    own = Budget(examples=rung.examples, seconds=rung.seconds)
    return replace(own, **{name: value for name, value in given.items() if value is not None})


def certified_of(spec: str) -> Certified:
    """Certify a rung as far as its family can be; raises UsageError for a spec that is none."""
    family = parse_stored(spec)
    known = family.hardness
    if known.evidence != "exact":
        return Certified(spec=family.spec, evidence=known.evidence, why=known.why)
    certificate = certify(family, TERMS)
    there = {claim.quantity for claim in certificate.claims}
    asked = next((q for q in ("stat-queries", "csq-queries") if q in there), None)
    return Certified(
        spec=family.spec,
        evidence=known.evidence,
        why=known.why,
        asked=asked,
        queries=certificate.integer(asked) if asked else None,
        floor=certificate.integer("information-floor"),
    )


def _starts(learners: Sequence[str], references: Sequence[str]) -> list[Climb]:
    """Name every learner once, those asked for before references."""
    climbs: dict[str, Climb] = {}
    for reference, names in ((False, learners), (True, references)):
        for text in names:
            name = learner_spec(parse_learner(text))
            one = Climb(learner=name, asked=text.strip(), reference=reference, rungs=())
            climbs.setdefault(name, one)
    return list(climbs.values())


def _climb(
    climbs: list[Climb],
    spec: str,
    seeds: tuple[int, ...],
    budget: Budget,
    each: Round,
    progress: Callable[[int], None],
) -> None:
    """Do one rung for all who still climb; who has all its trials has them noted in its place."""
    for i, climb in enumerate(climbs):
        reason = parse_learner(climb.asked).supports(parse_stored(spec)) if climb.climbing else None
        climbs[i] = replace(climb, unsupported=reason or climb.unsupported)
    going = [i for i, climb in enumerate(climbs) if climb.climbing]
    progress((len(climbs) - len(going)) * len(seeds))
    tasks = [(spec, climbs[i].asked, seed, budget) for i in going for seed in seeds]
    done: dict[int, dict[int, Trial]] = {i: {} for i in going}
    for index, trial in each(_one, tasks):
        place, turn = divmod(index, len(seeds))
        i = going[place]
        done[i][turn] = trial
        if len(done[i]) == len(seeds):
            trials = tuple(done[i][turn] for turn in range(len(seeds)))
            found = Trials(spec=spec, budget=budget, trials=trials)
            climbs[i] = replace(climbs[i], rungs=(*climbs[i].rungs, found))
        progress(1)


Task = tuple[str, str, int, Budget]


def _one(task: Task) -> Trial:
    spec, name, seed, budget = task
    learner = parse_learner(name)
    try:
        return run(learner, parse_stored(spec).instance(seed), budget, seed, tau=TERMS.tau)
    except (ToolkitError, MemoryError) as error:
        why = " ".join(str(error).split()) or "out of memory"
        return Refusal(spec=spec, learner=learner_spec(learner), seed=seed, why=why)
