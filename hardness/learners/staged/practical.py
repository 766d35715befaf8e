"""The stages in the form that works best, on ever more examples until the error is small.

Eigenvectors stand where the paper has a convex body; the projection, the polish and the count of
heads by held-out examples are outside of its theorem.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

import numpy as np

from hardness.learners.attention import Array
from hardness.learners.fitting import OneHead, repeated
from hardness.learners.levenberg import enough
from hardness.learners.staged.hull import MATRIX_D, Hull, affine_hull
from hardness.learners.staged.moment import moment
from hardness.learners.staged.net import net
from hardness.learners.staged.polish import another, left_even, polished, prune
from hardness.learners.staged.projection import project
from hardness.learners.staged.refine import refine
from hardness.learners.staged.runner import PRUNE, Judged, Runner, StageFailed
from hardness.learners.staged.single import EXACT, LEAST_ROWS, LIKE_NOISE, single
from hardness.learners.staged.span import Span, span
from hardness.learners.staged.supply import Supply
from instances.errors import TooLarge
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
_DESCENTS = ("polish", "second polish", PRUNE, "another head")
_MOST_HEADS = 8  # that are counted by held-out examples, under noise


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


class Verdict(Enum):
    """What the test of a single head says."""

    ONE = "it explains the data"
    OPEN = "noise may hide that it does: test it again on more examples"
    SEVERAL = "it does not: test it no more"


def practical(plan: StagedPlan, supply: Supply, run: Runner, rng: np.random.Generator) -> bool:
    """Run the stages on rising numbers of examples; returns whether the examples ran out.

    Raises Spent where there are no examples at all, or the time is over, and TooLarge where the
    first attempt does not fit in memory.
    """
    family, verdict, explained = supply.family, Verdict.OPEN, False
    sizes = list(plan.sizes(family.k, family.d))
    for size in sizes:
        run.go_on(*supply.take(size))
        try:
            asked = f"d={family.d} with {len(supply)} examples"
            require_memory(_ARRAYS * run.data.x.nbytes, asked)
        except TooLarge as error:
            if not run.found:
                raise
            run.failed = StageFailed("moment", str(error))
            break
        last = supply.exhausted or size == sizes[-1]
        attempt = Attempt(plan=plan, run=run, rng=rng, last=last, verdict=verdict)
        run.failed = None
        for part in (attempt.stages, attempt.add_heads):
            try:
                part()
            except StageFailed as failed:
                run.failed = failed
                if failed.needs is None and not plan.every:
                    return supply.exhausted  # more examples would not help
                if not last:
                    break
        verdict = attempt.verdict
        sound = run.failed is None or (last and attempt.counts)
        explained = verdict is Verdict.ONE or (plan.noisy and sound and attempt.left_like_noise())
        if explained:
            run.failed = None
        if last or run.error <= plan.goal or (explained and not plan.every):
            break
    return supply.exhausted and not explained


@dataclass(kw_only=True, eq=False)
class Attempt:
    """One pass through the stages on the examples of a run; `last`: there will be no more."""

    plan: StagedPlan
    run: Runner
    rng: np.random.Generator
    last: bool
    verdict: Verdict  # of the attempts so far

    @property
    def best(self) -> Judged:
        """The best layer so far, of which the first stage leaves one."""
        found = self.run.best
        assert found is not None
        return found

    @property
    def counts(self) -> bool:
        """Whether held-out examples tell the number of heads: of labels with noise, no gap need.

        Not before all examples are in use, where they are to be.
        """
        plan = self.plan
        told = plan.heads or not plan.polish or self.run.data.d > SEVERAL_D
        return plan.noisy and not told and (self.last or not plan.every)

    def stages(self) -> None:
        """Test a single head first, then find several; raises StageFailed."""
        run, heads = self.run, self.plan.heads
        data = run.data
        first = run.stage("moment", moment, data, run.validation)
        if heads < 2 and self.verdict is not Verdict.SEVERAL:
            self.verdict = self.alone(first)
            if self.verdict is Verdict.ONE:
                return
        self.require_several()
        before = [r.measures["heads"] for r in run.reports if r.name == "span" and r.rows][-1:]
        refined = run.stage("refine", refine, first.w, data)
        around = run.stage("hull", affine_hull, refined, data)
        along = run.stage("span", span, around.found, data, heads)
        if not heads:
            rank = int(first.measures["label_rank"])
            if rank < data.k:
                raise StageFailed(
                    "agreement",
                    f"labels of rank {rank} given: with k = {data.k} tokens some "
                    f"pattern fits every row unless it is at least {data.k}, so no row shows that "
                    "heads agree",
                )
            if not self.gap_tells(along, before == [along.heads]):
                return
        self.heads(around, along)

    def alone(self, first: OneHead) -> Verdict:
        """Whether one head is all that there is, or all that is to be found of these examples."""
        run, plan = self.run, self.plan
        found = run.stage("single", single, first, run.data, run.validation)
        exact = found.error <= EXACT
        like_noise = plan.noisy and found.recognised
        if not exact and (like_noise or plan.heads == 1):
            self.polish(found.theta, found.w)
        if exact or plan.heads == 1:
            return Verdict.ONE
        if not plan.noisy:
            return Verdict.SEVERAL
        if not like_noise:
            return Verdict.OPEN
        # Heavy noise is even whatever it covers: a second head has to be of no use.
        return Verdict.SEVERAL if self.counts and self.another_head(self.best) else Verdict.ONE

    def require_several(self) -> None:
        """Refuse what the stages 2 to 6 cannot do, or could not with the examples there are."""
        d, given = self.run.data.d, len(self.run.data) + len(self.run.validation)
        if d > SEVERAL_D:
            raise StageFailed("hull", f"several heads at d = {d}: at most d = {SEVERAL_D}")
        if d > MATRIX_D and given < _FIRST_BEYOND * d * d and not self.last:
            raise StageFailed("hull", f"{given} examples given", needs=_FIRST_BEYOND * d * d)

    def gap_tells(self, along: Span, again: bool) -> bool:
        """Whether the gap tells the number of heads; if not, held-out examples may, or it raises.

        again: the gap stood at the same place with fewer examples.
        """
        if along.gap >= _GAP:
            return True
        given = len(self.run.data)
        different = int((~repeated(self.run.data.x)).sum())
        known = _GROWTH * different < given  # nearly all that there are
        if (self.last or known or again) and along.gap >= _LAST_GAP:
            return True
        if self.counts:
            return False
        said = f"no gap among the eigenvalues tells the number of heads ({along.gap:.2f} at most)"
        if known:
            raise StageFailed(
                "span",
                f"{said}, and of {given} examples only {different} are different, so that more "
                "would tell little: give the number of heads",
            )
        raise StageFailed("span", f"{said}, {given} examples given", needs=_GROWTH * given)

    def heads(self, around: Hull, along: Span) -> None:
        """Stage 6 and the polish."""
        run, hull = self.run, (around.centre, along.directions)
        points = run.stage("net", net, *hull, run.data, run.validation, self.rng)
        found = run.stage("projection", project, *hull, points.leaders, run.data, run.validation)
        self.polish(found.theta, found.w)

    def polish(self, theta: Array, w: Array, least: int = 0) -> None:
        """All parameters, on few examples; where the labels turn out not to be exact, on many."""
        run, plan, m = self.run, self.plan, len(theta)
        data = run.data
        few = min(max(least, enough(m, data.k, data.d)), len(data))
        if data.d > MATRIX_D:
            few = few // 2
        many = min(max(few, _NOISY), len(data))
        for name, count in zip(("polish", "second polish"), sorted({few, many}), strict=False):
            if not plan.polish or run.error <= _POLISHED:
                return
            given = (data.cut(0, count), run.validation, plan.polish)
            found = run.stage(name, polished, theta, w, *given, examples=count)
            theta, w = self.prune(found.theta, found.w, count if plan.noisy else few)

    def prune(self, theta: Array, w: Array, count: int) -> tuple[Array, Array]:
        """Take spare heads out, by some examples; returns those that are left."""
        run, plan = self.run, self.plan
        if len(theta) == 1:
            return theta, w
        data = run.data.cut(0, count)
        given = (data, run.validation, plan.polish, plan.noisy)
        found = run.stage(PRUNE, prune, theta, w, *given, examples=len(data))
        return found.theta, found.w

    def add_heads(self) -> None:
        """Count heads by the hold-out: add one at a time to the best layer while it gains."""
        run = self.run
        rows = run.data.k * len(run.validation)
        too_few = rows < LEAST_ROWS and not self.last  # they could not end the run
        if not self.counts or self.verdict is Verdict.ONE or too_few or not run.found:
            return
        best = self.best
        if best.stage not in _DESCENTS or best.examples < len(run.data):
            self.polish(best.layer.theta, best.layer.w, _NOISY)
        least, most = self.best.layer.m, min(_MOST_HEADS, run.data.d**2)
        while self.best.layer.m < most and self.another_head(self.best):
            pass
        if self.best.layer.m > least:  # one may have become spare by those after it
            layer = self.best.layer
            self.prune(layer.theta, layer.w, _NOISY)

    def another_head(self, best: Judged) -> bool:
        """Add a head to a layer where the hold-out gains by it; returns whether it does."""
        run, data = self.run, self.run.data.cut(0, _NOISY)
        given = (data, run.validation, self.plan.polish, self.rng)
        name = "another head"
        return run.stage(name, another, best.layer, *given, examples=len(data)).offered

    def left_like_noise(self) -> bool:
        """Whether what the best layer leaves of the hold-out is even, as noise is."""
        run = self.run
        return bool(run.found) and left_even(self.best.layer, run.validation) > LIKE_NOISE


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
