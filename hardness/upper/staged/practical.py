"""The stages in the form that works best, on ever more examples until the error is small."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hardness.upper.staged.constraints import MATRIX_D, constraints
from hardness.upper.staged.data import Array, Data, gain, repeated
from hardness.upper.staged.diagnosis import moment_measures
from hardness.upper.staged.hull import Hull, hull
from hardness.upper.staged.journal import Found, Journal
from hardness.upper.staged.moment import Moment, moment
from hardness.upper.staged.net import net
from hardness.upper.staged.noise import LEAST_ROWS, LIKE_NOISE, evenness
from hardness.upper.staged.polish import enough, polish
from hardness.upper.staged.projection import project
from hardness.upper.staged.prune import prune
from hardness.upper.staged.refine import refine
from hardness.upper.staged.single import EXACT, Single, single
from hardness.upper.staged.span import Span, span
from hardness.upper.staged.stage import Clock, StageFailed
from hardness.upper.staged.supply import Supply
from instances.errors import TooLarge
from instances.layer import AttentionLayer
from instances.limits import readable_bytes, require_memory

# The gap of nice layers with enough examples is 4 or more, among eigenvalues of noise it is 1.3. A
# small one will do where it stands at the same place with four times the examples.
_GAP, _LAST_GAP = 3.0, 1.5
_POLISHED, _ROUGH = 1e-12, 1e-3  # hold-out errors at which no more examples are asked for
_SINGLE, _FIRST, _GROWTH, _MOST = 4, 20, 4, 640_000  # the first two times d^2
_SINGLE_BEYOND, _FIRST_BEYOND = 2.5, 10  # the same beyond d = 32, where a product costs d^4
SEVERAL_D = 128  # at most for several heads: at d = 256 their polish would take hours
# By fewer than 30 held-out examples no layer is known to be right, and by fewer than 1000 rows a
# single head in noise is not told from several.
_LEAST = 640
_MOST_ENTRIES = 1 << 27  # of the tokens: 1 GiB, and as much for the labels
_ONE_SECONDS, _TWO_SECONDS = 30, 640  # one head, and two, on one core at d = 128, k = 2
_ARRAYS = 6  # of the size of the tokens, that an attempt makes at most
_NOISY = 1 << 15  # examples of the polish where the labels are not exact
_DESCENTS = ("polish", "second polish", "prune", "another head")
# Under noise held-out examples count the heads: at most so many, each starting at a part of the
# size of the others, and each gaining so many standard errors on the hold-out.
_MOST_HEADS, _NEW_HEAD, _GAIN = 8, 0.1, 2.0


@dataclass(frozen=True, kw_only=True)
class StagedPlan:
    """What the user fixed: heads and examples (0: find out), steps of the polish (0: none).

    noisy: whether labels may carry noise: the family states it, nobody does of data of a user. What
    a wrong layer leaves over can look like noise, and is none where there is none. every: whether
    all examples are to be used, the given number or those of a user: what looks like noise ends
    nothing then.
    """

    heads: int
    examples: int
    polish: int
    noisy: bool = True
    every: bool = False

    @property
    def goal(self) -> float:
        """The error on the hold-out that ends the run."""
        return _POLISHED if self.polish else _ROUGH

    def sizes(self, k: int, d: int) -> Iterator[int]:
        """Numbers of examples to try: 4 d^2 for a single head, then 20 d^2 and fourfold each time.

        At least 640 and 1280 of them. Beyond d = 32 it is 2.5 d^2 and 10 d^2, and beyond d = 128
        a single head alone is tried.

        >>> list(StagedPlan(heads=0, examples=0, polish=1).sizes(2, 16))
        [1024, 5120, 20480, 81920, 327680, 640000]
        >>> list(StagedPlan(heads=0, examples=20000, polish=1).sizes(2, 16))
        [1024, 20000]
        >>> list(StagedPlan(heads=0, examples=0, polish=1).sizes(2, 128))
        [40960, 163840, 524288]
        """
        most = self.examples or min(_MOST, _MOST_ENTRIES // (k * d))
        single, first = (_SINGLE, _FIRST) if d <= MATRIX_D else (_SINGLE_BEYOND, _FIRST_BEYOND)
        alone = max(int(single * d * d), _LEAST)
        if self.heads < 2 and alone < most:
            yield alone
            if d > SEVERAL_D:
                return
        size = most if self.examples else max(first * d * d, 2 * _LEAST)
        while size < most:
            yield size
            size *= _GROWTH
        yield most


def practical(plan: StagedPlan, supply: Supply, journal: Journal, rng: np.random.Generator) -> bool:
    """Run the stages on rising numbers of examples; returns whether the examples ran out.

    Raises Spent where there are no examples at all, or the time is over, and TooLarge where the
    first attempt does not fit in memory.
    """
    family = supply.family
    sizes = list(plan.sizes(family.k, family.d))
    for size in sizes:
        data, validation = supply.take(size)
        journal.measure(validation)
        try:
            require_memory(_ARRAYS * data.x.nbytes, f"d={family.d} with {len(supply)} examples")
        except TooLarge as error:
            if not journal.found:
                raise
            journal.failed = StageFailed("moment", str(error))
            break
        last = supply.exhausted or size == sizes[-1]
        attempt = Attempt(
            plan=plan,
            data=data,
            validation=validation,
            journal=journal,
            rng=rng,
            last=last,
        )
        journal.failed = None
        for part in (attempt.run, attempt.add_heads):
            try:
                part()
            except StageFailed as failed:
                journal.failed = failed
                if failed.needs is None and not plan.every:
                    return supply.exhausted  # more examples would not help
                if not last:
                    break
        sound = journal.failed is None or (last and attempt.counts)
        explained = journal.single or (plan.noisy and sound and attempt.left_like_noise())
        if explained:
            journal.failed = None
        if last or journal.error <= plan.goal or (explained and not plan.every):
            break
    return supply.exhausted and not explained


def forecast(k: int, d: int) -> str | None:
    """Say what one head and two take, measured on one core, where it is over a minute.

    >>> forecast(2, 64)
    >>> forecast(2, 128)
    'about 1 min and 640.0 MiB for one head, 11 min and 2.5 GiB for two, on one core'
    """
    if d <= MATRIX_D:
        return None
    kinds = [("one head", _SINGLE_BEYOND, _ONE_SECONDS)]
    if d <= SEVERAL_D:
        kinds.append(("two", _FIRST_BEYOND, _TWO_SECONDS))
    seconds = [at_128 * (d / 128) ** 4 * k / 2 for _, _, at_128 in kinds]
    if seconds[-1] < 60:
        return None
    said = (
        f"{max(took / 60, 1):.0f} min and "
        f"{readable_bytes((_ARRAYS + 2) * 8 * times * d**3 * k)} for {what}"
        for took, (what, times, _) in zip(seconds, kinds, strict=True)
    )
    return f"about {', '.join(said)}, on one core"


@dataclass(frozen=True, kw_only=True, eq=False)
class Attempt:
    """One pass through the stages on some examples; every stage writes to the journal."""

    plan: StagedPlan
    data: Data
    validation: Data
    journal: Journal
    rng: np.random.Generator
    last: bool

    @property
    def clock(self) -> Clock:
        """What every stage asks for the time."""
        return self.journal.meter.left

    @property
    def best(self) -> Found:
        """The best layer so far, of which the first stage leaves one."""
        found = self.journal.best
        assert found is not None
        return found

    @property
    def counts(self) -> bool:
        """Whether held-out examples tell the number of heads: of labels with noise, no gap need."""
        plan, d = self.plan, self.data.d
        told = plan.heads or not plan.polish or d > SEVERAL_D
        return plan.noisy and not told and (self.last or not plan.every)

    def run(self) -> None:
        """Test a single head first, then find several; raises StageFailed."""
        first = self.moment()
        if self.plan.heads < 2 and self.journal.single is not False and self.alone(first):
            return
        self.require_several()
        around, along = self.affine_hull(first)
        if not self.plan.heads and first.label_rank < self.data.k:
            raise StageFailed(
                "agreement",
                f"labels of rank {first.label_rank} given: with k = {self.data.k} tokens some "
                f"pattern fits every row unless it is at least {self.data.k}, so no row shows that "
                "heads agree",
            )
        before, self.journal.heads = self.journal.heads, along.heads
        if not self.plan.heads and along.gap < _GAP:
            different = int((~repeated(self.data.x)).sum())
            known = _GROWTH * different < len(self.data)  # nearly all that there are
            last = self.last or known or before == along.heads
            if last and along.gap >= _LAST_GAP:
                return self.heads(around, along)
            if self.counts:
                return
            said = (
                f"no gap among the eigenvalues tells the number of heads ({along.gap:.2f} at most)"
            )
            if known:
                raise StageFailed(
                    "span",
                    f"{said}, and of {len(self.data)} examples only {different} are different, so "
                    "that more would tell little: give the number of heads",
                )
            needs = _GROWTH * len(self.data)
            raise StageFailed("span", f"{said}, {len(self.data)} examples given", needs=needs)
        return self.heads(around, along)

    def alone(self, first: Moment) -> bool:
        """Whether one head is all that there is, or all that is to be found of these examples."""
        found = self.single(first)
        exact = found.error <= EXACT
        like_noise = self.plan.noisy and found.recognised
        if not exact and (like_noise or self.plan.heads == 1):
            self.polish(found.theta, found.w)
        if exact or self.plan.heads == 1:
            self.journal.single = True
        elif not self.plan.noisy:
            self.journal.single = False
        elif like_noise and (self.last or not self.plan.every):
            # Heavy noise is even whatever it covers: a second head has to be of no use.
            self.journal.single = not (self.counts and self.another_head(self.best))
        return like_noise if self.journal.single is None else self.journal.single

    def add_heads(self) -> None:
        """Count heads by the hold-out: add one at a time to the best layer while it gains."""
        rows = self.data.k * len(self.validation)
        too_few = rows < LEAST_ROWS and not self.last  # they could not end the run
        if not self.counts or self.journal.single or too_few or not self.journal.found:
            return
        best = self.best
        if best.stage not in _DESCENTS or best.examples < len(self.data):
            self.polish(best.layer.theta, best.layer.w, _NOISY)
        least, most = self.best.layer.m, min(_MOST_HEADS, self.data.d**2)
        while self.best.layer.m < most and self.another_head(self.best):
            pass
        if self.best.layer.m > least:  # one may have become spare by those after it
            layer = self.best.layer
            self.prune(layer.theta, layer.w, self.data.cut(0, _NOISY))

    def another_head(self, best: Found) -> bool:
        """Add a head to a layer, from a random start; keep it where the hold-out gains by it."""
        layer, d = best.layer, self.data.d
        theta = self.rng.normal(0.0, float(layer.theta.std()) or 1 / d, (1, d, d))
        w = self.rng.normal(0.0, _NEW_HEAD * float(layer.w.std()), (1, d, d))
        theta, w = np.concatenate([layer.theta, theta]), np.concatenate([layer.w, w])
        data, validation = self.data.cut(0, _NOISY), self.validation
        with self.journal.stage("another head", len(data)) as entry:
            found = polish(theta, w, data, validation, self.plan.polish, self.clock)
            more = AttentionLayer(theta=found.theta, w=found.w)
            gained = gain(layer(validation.x), more(validation.x), validation.y)
            entry.measures |= {"heads": more.m, "gain": gained}
            if gained > _GAIN:
                entry.measures["error"] = self.offer("another head", more.theta, more.w)
        return gained > _GAIN

    def left_like_noise(self) -> bool:
        """Whether what the best layer leaves of the hold-out is even, as noise is."""
        return bool(self.journal.found) and self.evenness(self.best.layer) > LIKE_NOISE

    def evenness(self, layer: AttentionLayer) -> float:
        """How even a layer's residuals on the hold-out are: about 1 for noise."""
        left = self.validation.y - layer(self.validation.x)
        return evenness(np.linalg.norm(left, axis=-1), self.data.d)

    def require_several(self) -> None:
        """Refuse what the stages 2 to 6 cannot do, or could not with the examples there are."""
        d, given = self.data.d, len(self.data) + len(self.validation)
        if d > SEVERAL_D:
            raise StageFailed("hull", f"several heads at d = {d}: at most d = {SEVERAL_D}")
        if d > MATRIX_D and given < _FIRST_BEYOND * d * d and not self.last:
            raise StageFailed("hull", f"{given} examples given", needs=_FIRST_BEYOND * d * d)

    def moment(self) -> Moment:
        """Stage 1; its layer attends uniformly."""
        with self.journal.stage("moment", len(self.data)) as entry:
            found = moment(self.data, self.clock)
            entry.rows = self.data.k * len(self.data)
            error = self.offer("moment", np.zeros_like(found.w), found.w)
            self.clock()
            entry.measures |= moment_measures(found, self.data, self.validation)
            entry.measures["error"] = error
        return found

    def single(self, first: Moment) -> Single:
        """The case of one head."""
        with self.journal.stage("single", len(self.data)) as entry:
            found = single(first.w, self.data, self.validation, self.clock)
            entry.rows = self.data.k * len(self.data)
            entry.measures |= {"steps": found.steps, "r2": found.r2}
            entry.measures |= {"evenness": found.evenness, "noise": found.noise}
            entry.measures["error"] = self.offer("single", found.theta, found.w)
            if found.error > EXACT and first.label_rank >= self.data.k:
                entry.measures["beyond"] = found.noise / found.error
        return found

    def affine_hull(self, first: Moment) -> tuple[Hull, Span]:
        """Stages 2 to 5; the layer of the hull has one head, at its centre."""
        examples = len(self.data)
        with self.journal.stage("refine", examples) as entry:
            refined = refine(first.w, self.data, clock=self.clock)
            entry.rows = refined.rows
            entry.measures |= {"halves": refined.halves, "outside": refined.agreement.outside}
        with self.journal.stage("hull", examples) as entry:
            found = constraints(refined.agreement, self.data, clock=self.clock)
            around = hull(found, clock=self.clock)
            entry.rows = found.rows
            accepted = float(found.residuals.max())
            entry.measures |= {"constraints": len(found), "residual": accepted, "r2": around.r2}
            entry.measures["error"] = self.offer("hull", around.centre, refined.w)
        self.journal.draw_residuals(refined.agreement, accepted)
        with self.journal.stage("span", examples) as entry:
            along = span(found, self.data, self.plan.heads, self.clock)
            entry.rows = found.rows
            entry.measures |= {"heads": along.heads, "gap": along.gap}
        self.journal.figures["eigenvalues"] = along.eigenvalues.tolist()
        return around, along

    def heads(self, around: Hull, along: Span) -> None:
        """Stage 6 and the polish."""
        centre, directions = around.centre, along.directions
        with self.journal.stage("net", len(self.data)) as entry:
            points = net(centre, directions, self.data, self.validation, self.rng, self.clock)
            entry.measures |= {"points": points.points, "tuples": points.tuples}
            entry.measures["error"] = self.offer("net", points.theta, points.w)
        with self.journal.stage("projection", len(self.data)) as entry:
            found = project(
                centre, directions, points.leaders, self.data, self.validation, self.clock
            )
            entry.measures["steps"] = found.steps
            entry.measures["error"] = self.offer("projection", found.theta, found.w)
        self.polish(found.theta, found.w)

    def polish(self, theta: Array, w: Array, least: int = 0) -> None:
        """All parameters, on few examples; where the labels turn out not to be exact, on many."""
        m = len(theta)
        few = min(max(least, enough(m, self.data.k, self.data.d)), len(self.data))
        if self.data.d > MATRIX_D:
            few = few // 2
        many = min(max(few, _NOISY), len(self.data))
        for name, count in zip(("polish", "second polish"), sorted({few, many}), strict=False):
            if not self.plan.polish or self.journal.error <= _POLISHED:
                return
            data = self.data.cut(0, count)
            with self.journal.stage(name, len(data)) as entry:
                found = polish(theta, w, data, self.validation, self.plan.polish, self.clock)
                entry.measures |= {"steps": found.steps, "heads": m}
                entry.measures["error"] = self.offer(name, found.theta, found.w)
                layer = AttentionLayer(theta=found.theta, w=found.w)
                entry.measures["evenness"] = self.evenness(layer)
            used = data.cut(0, count if self.plan.noisy else few)
            theta, w = self.prune(found.theta, found.w, used)

    def prune(self, theta: Array, w: Array, data: Data) -> tuple[Array, Array]:
        """Take spare heads out; returns those that are left."""
        if len(theta) == 1:
            return theta, w
        with self.journal.stage("prune", len(data)) as entry:
            steps, noisy = self.plan.polish, self.plan.noisy
            found = prune(theta, w, data, self.validation, steps, noisy, self.clock)
            entry.measures |= {"heads": len(found.theta), "spare": len(theta) - len(found.theta)}
            if len(found.theta) < len(theta):
                self.journal.replaced.append(self.journal.found[-1])
                entry.measures["error"] = self.offer("prune", found.theta, found.w)
        return found.theta, found.w

    def offer(self, stage: str, theta: Array, w: Array) -> float:
        """Give a stage's layer to the journal; returns its error on the hold-out."""
        theta, w = (a if a.ndim == 3 else a[None] for a in (theta, w))
        return self.journal.offer(stage, theta, w, len(self.data), self.validation)
