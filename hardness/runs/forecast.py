"""Attacks run with the parameters that estimates choose: what was estimated, and what it took."""

import math
from collections.abc import Callable, Sequence
from statistics import median
from typing import Annotated, Any, ClassVar

import numpy as np
from msgspec import Meta

from hardness.cost.record import Estimate, Estimates
from hardness.cost.reduction import MODELS
from hardness.oracles import Budget, Meter, clock
from hardness.runs.attack import AttackResult
from hardness.runs.names import brief_spec
from hardness.runs.run import Run
from hardness.upper import learner_spec, parse_learner
from hardness.upper.lattice import LARGEST_BLOCK, LLL_BLOCK, reduce
from hardness.upper.primal import Primal
from instances.capabilities import LINEAR_FORMS
from instances.errors import ToolkitError, UsageError
from instances.result import Record, TableRow
from instances.spec import parse
from instances.streams import generator
from instances.text import outward

WITHIN = 3  # blocks
SPARE = 10  # blocks beyond the estimated one that are tried: what is measured may be larger
LEARNERS = {  # what runs an attack that is estimated, and which of its parameters it takes
    "usvp": "primal:block={block},start=3,step=1,samples={m}",
    "guess+usvp": "primal:block={block},start=3,step=1,samples={m},zeta={zeta}",
    "dual_guess": "dual:block={block},samples={m},zeta={zeta},weight={weight}",
}
_PRIMAL = ("usvp", "guess+usvp")
_CALIBRATED = (20, 100, 1 << 10)  # block, dimension, modulus

Count = Annotated[int, Meta(ge=0)]
Bits = Annotated[float, Meta(ge=0, le=1e6)]
Share = Annotated[float, Meta(ge=0, le=1)]


class Forecast(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An attack on a setting: what was estimated, and its runs over seeds, none before they are.

    setting: as it was named. beta to repetitions: as of an Estimate; bits, reduction: log2 of all
    its operations and of those of lattice reduction, in all tries; prob: of one try.
    """

    setting: str
    attack: str
    spec: str
    learner: str
    beta: Annotated[int, Meta(ge=2)]
    d: Count
    m: Count
    zeta: Count = 0
    bits: Bits
    reduction: Bits
    repetitions: Bits = 0.0
    prob: Share = 1.0
    runs: tuple[Run, ...] = ()

    _parts: ClassVar[dict[str, type[Record]]] = {"runs": Run}

    @property
    def name(self) -> str:
        """The setting and the attack."""
        return f"{self.setting}, {self.attack}"

    @property
    def result(self) -> AttackResult:
        """Its runs as those of an attack: how many found the secret, and what they took."""
        return AttackResult(spec=self.spec, learner=self.learner, runs=self.runs)

    @property
    def tries(self) -> float | None:
        """The median of tries, each right with `prob`; None beyond float64."""
        if not self.zeta or self.prob >= 0.5:
            return 1.0
        return math.log(0.5) / math.log1p(-self.prob) if self.prob else None

    @property
    def grows(self) -> bool:
        """Whether blocks grow till the secret is found: the block measured is no given one."""
        learner = parse_learner(self.learner)
        return isinstance(learner, Primal) and learner.block > LLL_BLOCK and not learner.zeta

    def measured(self, what: str) -> float | None:
        """Return the median of `block`, `tries` or `seconds`; None where half found no secret."""
        told = [{"seconds": r.usage.seconds, **r.details}.get(what, 1) for r in self.runs]
        found = median(
            v if r.secret_recovered else math.inf for v, r in zip(told, self.runs, strict=True)
        )
        return found if math.isfinite(found) else None

    def near(self, block: int | None) -> bool:
        """Whether the median of the blocks is within 3 of one."""
        found = self.measured("block")
        return None not in (found, block) and abs(found - block) <= WITHIN  # type: ignore[operator]

    def seconds(self, operation: dict[str, float]) -> float | None:
        """Return the seconds that are estimated for the median of tries; None where not known."""
        own, other = operation.get("LLL" if self.beta == LLL_BLOCK else "BKZ"), operation.get("BKZ")
        rest, tries = 2.0**self.bits - 2.0**self.reduction, self.tries
        if own is None or tries is None or (rest and other is None):
            return None
        return (2.0**self.reduction * own + rest * (other or 0)) * tries / 2.0**self.repetitions

    def to_dict(self) -> dict[str, Any]:
        """Write it as JSON, with what follows from its runs."""
        measured = ("block", "tries", "seconds")
        follows = {f"measured_{what}": self.measured(what) for what in measured}
        of_runs = self.result.to_dict()
        return {**self.filed(), **follows, "of_runs": {**of_runs, "runs": len(self.runs)}}

    def filed(self) -> dict[str, Any]:
        """Write what its file holds."""
        return super().to_dict()


class Forecasts(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Attacks on settings, estimated and measured; not_run: why others were not.

    operation: the seconds of an operation of LLL, and of BKZ where it is there, on this machine.
    """

    model: str
    operation: dict[str, Annotated[float, Meta(gt=0)]]
    rows: tuple[Forecast, ...]
    not_run: dict[str, str]

    _format: ClassVar[str] = "hardness-forecast/2"
    _parts: ClassVar[dict[str, type[Record]]] = {"rows": Forecast}

    def filed(self) -> dict[str, Any]:
        """Write what its file holds: the estimates and the runs."""
        return {**super().to_dict(), "rows": [row.filed() for row in self.rows]}

    def _rows(self) -> list[TableRow]:
        def brief(value: float | None) -> float | None:
            return None if value is None else float(f"{value:.3g}")

        return [
            {
                "setting": row.setting,
                "attack": row.attack,
                "block": row.beta,
                "measured block": row.measured("block"),
                "tries": brief(row.tries),
                "measured tries": row.measured("tries"),
                "zeta": row.zeta,
                "samples": row.m,
                "seconds": brief(row.seconds(self.operation)),
                "measured seconds": brief(row.measured("seconds")),
                "found": f"{row.result.recovered}/{len(row.runs)}",
                "rate at 95 %": outward(*row.result.interval, ".2f", ".."),
            }
            for row in self.rows
        ]


def planned(settings: Sequence[Estimates]) -> tuple[list[Forecast], dict[str, str]]:
    """Plan attacks with the parameters of their estimates, and say why others do not run.

    Raises UsageError for an attack that no learner runs, or a setting that is of no family.

    >>> from hardness.cost.attacks import estimate
    >>> from hardness.cost.problem import read
    >>> spec = "lwe:n=40,q=1601,alpha=0.005"
    >>> [one], _ = planned([estimate(read(spec), spec, only=["usvp"])])
    >>> one.learner
    'primal:block=25,first=0,samples=63,start=3,step=1,zeta=0'
    """
    rows, not_run = list[Forecast](), dict[str, str]()
    for found in settings:
        family = parse(found.spec)
        for one in found.estimates:
            if one.name not in LEARNERS:
                names = ", ".join(LEARNERS)
                raise UsageError(f"{one.name} given: no learner runs it; take one of {names}")
            row, reason = None, one.reason
            if (one.beta or 0) > LARGEST_BLOCK:
                reason = f"block {one.beta} is estimated, and at most {LARGEST_BLOCK} run here"
            if not reason:
                row = _row(found, one)
                reason = parse_learner(row.learner).supports(family) or ""
            if row and not reason:
                rows.append(row)
            else:
                not_run[f"{brief_spec(found.name)}, {one.name}"] = reason
    return rows, not_run


def _row(found: Estimates, one: Estimate) -> Forecast:
    """Plan one attack. BKZ may go on to larger blocks if nothing is guessed.

    Else `primal` takes as many samples as it does by itself: LLL makes too little of those that the
    estimate takes.
    """
    assert one.beta is not None
    assert one.rop is not None
    family, zeta, repetitions = parse(found.spec), one.zeta or 0, one.repetitions or 0.0
    primal = one.name in _PRIMAL
    grows = primal and not zeta and one.beta > LLL_BLOCK
    block = min(one.beta + SPARE, LARGEST_BLOCK) if grows else one.beta
    m, d, bits = one.m or 0, one.d or 0, one.rop
    if primal and not grows:
        cost = MODELS[one.model].cost
        m = Primal(block=block, zeta=zeta).count(LINEAR_FORMS.need(family))
        d += m - (one.m or 0)
        bits += float(cost(block, d)) - float(cost(block, one.d or 0))
    weight = zeta if one.weight is None else one.weight
    chosen = {"block": block, "m": m, "zeta": zeta, "weight": weight}
    return Forecast(
        setting=brief_spec(found.name),
        attack=one.name,
        spec=family.spec,
        learner=learner_spec(parse_learner(LEARNERS[one.name].format(**chosen))),
        beta=one.beta,
        d=d,
        m=m,
        zeta=zeta,
        bits=bits,
        reduction=bits if primal or one.red is None else one.red,
        repetitions=repetitions,
        prob=-math.expm1(math.log1p(-found.success) * 2.0**-repetitions),
    )


def operations(model: str, now: Callable[[], float] = clock.now) -> dict[str, float]:
    """Measure the seconds of an operation that a model counts: of LLL, and of BKZ if it is there.

    By LLL, then BKZ with block size 20, of one lattice of dimension 100.
    """
    block, d, q = _CALIBRATED
    basis = np.diag([q] * (d // 2) + [1] * (d // 2))
    basis[d // 2 :, : d // 2] = generator(0, "calibration").integers(q, size=(d // 2, d // 2))
    found, start = dict[str, float](), now()
    try:
        for reached, _ in reduce(basis, [block], Meter(Budget()), 0):
            name = "LLL" if reached == LLL_BLOCK else "BKZ"
            found[name] = max(now() - start, 1e-9) / 2 ** float(MODELS[model].cost(reached, d))
            start = start if name == "BKZ" else now()
    except ToolkitError:  # without fpylll
        pass
    return found
