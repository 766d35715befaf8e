"""The staged learner: Chen and Li's stages, which recover all heads of a layer. [CL24]

The mode practical is the form that works best, on ever more examples until the error is small:
eigenvectors stand where the theorem has a convex body. The test of a single head, the projection,
the polish and the count of heads by held-out examples are outside of the theorem.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hardness.learners.fitting import Data, Fit, StageFailed, repeated
from hardness.learners.learner import BuiltIn, Hypothesis, Outcome, View
from hardness.learners.levenberg import enough
from hardness.learners.staged.hull import MATRIX_D, affine_hull
from hardness.learners.staged.moment import moment
from hardness.learners.staged.net import net
from hardness.learners.staged.paper import refusal, run_as_published
from hardness.learners.staged.polish import another, left_even, polished, prune
from hardness.learners.staged.progress import POLISHED, PRUNE, Progress
from hardness.learners.staged.projection import project
from hardness.learners.staged.refine import refine
from hardness.learners.staged.single import EXACT, LEAST_ROWS, LIKE_NOISE, single
from hardness.learners.staged.span import Span, span
from hardness.oracles import ExampleOracle
from instances.errors import TooLarge
from instances.family import Family
from instances.layer import AttentionLayer
from instances.limits import require_memory
from instances.parameters import OneOf, Range

# The gap of nice layers with enough examples is 4 or more, among eigenvalues of noise it is 1.3. A
# small one will do where it stands at the same place with four times the examples, or where
# held-out examples count the heads after it.
_GAP, _LAST_GAP = 3.0, 1.5
_SINGLE, _FIRST, _GROWTH, _MAX_EXAMPLES = 4, 20, 4, 640_000  # the first two times d^2
_SINGLE_BEYOND, _FIRST_BEYOND = 2.5, 10  # the same beyond d = 32, where a product costs d^4
SEVERAL_D = 128  # at most for several heads: at d = 256 their polish would take hours
# By fewer than 30 held-out examples no layer is known to be right, and by fewer than 1000 rows a
# single head in noise is not told from several.
_MIN_EXAMPLES = 640
_MOST_ENTRIES = 1 << 27  # of the tokens: 1 GiB, and as much for the labels
_ARRAYS = 6  # of the size of the tokens, that an attempt makes at most
_NOISY = 1 << 15  # examples of the polish if the labels are not exact
_DESCENTS = ("polish", "second polish", PRUNE, "another head")
# Once heads were added, the removal that ends at the noise may cost 0.08 before its polish, and
# cheaper ones not end there.
_ANY = 0.25
_MOST_HEADS = 8  # that are counted by held-out examples, under noise


def sizes(heads: int, examples: int, k: int, d: int) -> Iterator[int]:
    """Numbers of examples to try: 4 d^2 for a single head, then 20 d^2 and fourfold each time.

    At least 640 and 1280 of them. Beyond d = 32 it is 2.5 d^2 and 10 d^2, and beyond d = 128 a
    single head alone is tried. heads, examples: 0 where they are to be found.

    >>> list(sizes(0, 0, 2, 16)), list(sizes(0, 20000, 2, 16))
    ([1024, 5120, 20480, 81920, 327680, 640000], [1024, 20000])
    >>> list(sizes(0, 0, 2, 128))
    [40960, 163840, 524288]
    """
    most = examples or min(_MAX_EXAMPLES, _MOST_ENTRIES // (k * d))
    single, first = (_SINGLE, _FIRST) if d <= MATRIX_D else (_SINGLE_BEYOND, _FIRST_BEYOND)
    alone = max(int(single * d * d), _MIN_EXAMPLES)
    if heads < 2 and alone < most:
        yield alone
        if d > SEVERAL_D:
            return
    size = most if examples else max(first * d * d, 2 * _MIN_EXAMPLES)
    while size < most:
        yield size
        size *= _GROWTH
    yield most


def run_practical(progress: Progress, rng: np.random.Generator) -> bool:
    """Run the stages on rising numbers of examples; returns whether the examples ran out.

    Raises Spent if a budget is spent before there are examples, TooLarge if the first attempt does
    not fit in memory, and StageFailed if labels leave the range of float64.
    """
    family, stage = progress.family, progress.stage
    perhaps_one, explained, heads_before = progress.heads < 2, False, 0
    counts = list(sizes(progress.heads, progress.examples, family.k, family.d))
    for count in counts:
        progress.draw(count)
        data, held_out = progress.data, progress.held_out
        try:
            many = f"d={data.d} with {len(data) + len(held_out)} examples"
            require_memory(_ARRAYS * data.x.nbytes, many)
        except TooLarge as error:
            if not progress.best:
                raise
            progress.failed = StageFailed("moment", str(error))
            break
        last = progress.exhausted or count == counts[-1]
        # Whether held-out examples count the heads: those of labels with noise, if all are in use.
        counting = progress.noisy and (last or not progress.use_all) and data.d <= SEVERAL_D
        counting = counting and bool(progress.polish) and not progress.heads
        progress.failed, one_is_all = None, False
        try:
            crude = stage("moment", moment, data, held_out)
            if perhaps_one:
                head = stage("single", single, crude, data, held_out)
                exact = head.error <= EXACT
                like_noise = progress.noisy and head.recognised
                if not exact and (like_noise or progress.heads == 1):
                    descend(progress, head)
                one_is_all = exact or progress.heads == 1
                # Heavy noise is even whatever it covers: a second head has to be of no use.
                if like_noise and not one_is_all:
                    one_is_all = not (counting and add_head(progress, rng))
                perhaps_one = one_is_all or (progress.noisy and not like_noise)
            if not one_is_all:
                there, least = len(data) + len(held_out), _FIRST_BEYOND * data.d**2
                if data.d > SEVERAL_D:
                    raise StageFailed("hull", f"several heads at d={data.d}: at most {SEVERAL_D}")
                if data.d > MATRIX_D and there < least and not last:
                    raise StageFailed("hull", f"{there} examples are too few", needs=least)
                refined = stage("refine", refine, crude.w, data)
                around = stage("hull", affine_hull, refined, data)
                along = stage("span", span, around.constraints, data, progress.heads)
                rank = int(crude.measures["label_rank"])
                if not progress.heads and rank < data.k:  # some pattern fits every row
                    why = f"the labels have rank {rank}: with k = {data.k} tokens some pattern "
                    why += f"fits every row below {data.k}, so that no row shows that heads agree"
                    raise StageFailed("agreement", why)
                again, heads_before = along.heads == heads_before, along.heads
                if progress.heads or _gap_tells(along, data, again, last, counting):
                    hull = around.centre, along.directions
                    points = stage("net", net, *hull, data, held_out, rng)
                    layer = stage("projection", project, *hull, points.leaders, data, held_out)
                    descend(progress, layer)
        except StageFailed as failed:
            progress.failed = failed
            if failed.needs is None and not progress.use_all:
                return progress.exhausted  # more examples would not help
        enough_rows = data.k * len(held_out) >= LEAST_ROWS and not progress.failed
        if counting and not one_is_all and (last or enough_rows) and progress.best:
            count_heads(progress, rng)
        explained = one_is_all
        if progress.noisy and (not progress.failed or (last and counting)) and progress.best:
            explained |= left_even(progress.layer, held_out) > LIKE_NOISE
        if explained:
            progress.failed = None
        if last or progress.error <= progress.goal or (explained and not progress.use_all):
            break
    return progress.exhausted and not explained


def _gap_tells(along: Span, data: Data, again: bool, last: bool, counting: bool) -> bool:
    """Whether the gap shows how many heads to start from; if not, one is the start, or it raises.

    again: the gap stood at the same place with fewer examples. counting: held-out examples count
    the heads afterwards.
    """
    if along.gap >= _GAP:
        return True
    different = int((~repeated(data.x)).sum())
    known = _GROWTH * different < len(data)  # nearly all that there are
    if (last or known or again or counting) and along.gap >= _LAST_GAP:
        return True
    if counting:
        return False
    reason = f"no gap among the eigenvalues tells the number of heads ({along.gap:.2f} at most)"
    if known:
        raise StageFailed(
            "span",
            f"{reason}, and of {len(data)} examples only {different} are different, so that more "
            "would tell little: give the number of heads",
        )
    raise StageFailed("span", f"{reason}, with {len(data)} examples", needs=_GROWTH * len(data))


def descend(progress: Progress, start: Fit | AttentionLayer, minimum: int = 0) -> None:
    """Polish on few examples, on many if the labels turn out not to be exact; prune after each."""
    data, theta, w = progress.data, start.theta, start.w
    few = min(max(minimum, enough(len(theta), data.k, data.d)), len(data))
    if data.d > MATRIX_D:
        few = few // 2
    many = min(max(few, _NOISY), len(data))
    for name, count in zip(("polish", "second polish"), sorted({few, many}), strict=False):
        if not progress.polish or progress.error <= POLISHED:
            return
        fixed = data.cut(0, count), progress.held_out, progress.polish
        fitted = progress.stage(name, polished, theta, w, *fixed, examples=count)
        theta, w = fitted.theta, fitted.w
        if len(theta) > 1:
            count = count if progress.noisy else few
            used = data.cut(0, count), progress.held_out, progress.polish, progress.noisy
            pruned = progress.stage(PRUNE, prune, theta, w, *used, examples=count)
            theta, w = pruned.theta, pruned.w


def count_heads(progress: Progress, rng: np.random.Generator) -> None:
    """Count heads by the hold-out: add them to the best layer while it gains, then prune."""
    data, best = progress.data, progress.best
    assert best is not None
    if best.stage not in _DESCENTS or best.examples < len(data):
        descend(progress, best.layer, _NOISY)
    before = progress.layer.m
    while progress.layer.m < min(_MOST_HEADS, data.d**2):
        if not add_head(progress, rng):
            break
    layer = progress.layer
    if layer.m > before:  # one may have become spare by those after it
        used = data.cut(0, _NOISY), progress.held_out, progress.polish, progress.noisy, _ANY
        progress.stage(PRUNE, prune, layer.theta, layer.w, *used, examples=len(used[0]))


def add_head(progress: Progress, rng: np.random.Generator) -> bool:
    """Add a head to the best layer if the hold-out gains by it; returns whether it does."""
    used = progress.data.cut(0, _NOISY)
    fixed = used, progress.held_out, progress.polish, rng
    larger = progress.stage("another head", another, progress.layer, *fixed, examples=len(used))
    return larger.offered


LARGEST_D = 256  # one head: 5 GiB, and six minutes
_SOLVED = 0.05  # held-out errors below it, with their uncertainty, are for the judge
MODES = {"practical": run_practical, "paper": run_as_published}


@dataclass(frozen=True, kw_only=True)
class Staged(BuiltIn):
    """Runs the stages in a mode; heads=0 and examples=0 are found out, polish=0 does without.

    The `error` in the details is that of the layer that does best on held-out examples, so it is a
    little too small; the risk of a run is measured on fresh ones.

    mode: practical, the form that works best, with eigenvectors in place of the convex body and a
    polish that is no part of the theorem; or paper, the body itself (no polish at all).

    >>> from hardness.oracles import Budget, Meter
    >>> from instances import parse
    >>> oracle = ExampleOracle(parse("nice:m=1,k=2,d=8").instance(0), Meter(Budget()))
    >>> hypothesis = Staged().learn(oracle, np.random.default_rng(0))
    >>> hypothesis.details["heads"], hypothesis.details["error"] < 1e-15
    (1, True)
    """

    name: ClassVar[str] = "staged"
    revision: ClassVar[int] = 6
    view: ClassVar[View] = "tokens"
    about: ClassVar[str] = "Chen and Li's stages with eigenvectors and a polish"
    computes_long: ClassVar[bool] = True

    mode: Annotated[str, OneOf((*MODES,))] = "practical"
    heads: Annotated[int, Range(0)] = 0
    examples: Annotated[int, Range(0)] = 0
    polish: Annotated[int, Range(0)] = 100

    def supports(self, family: Family) -> str | None:
        """All but linear attention: one head up to d=256, several to d=128; mode paper to d=16."""
        if family.kind == "linear":
            return "its stages are for softmax attention; `lifted` learns linear attention"
        if family.rows:
            return (
                "its stages read the labels of all tokens, and these are of the first alone: "
                "levenberg:heads=2 fits a layer to such"
            )
        if self.mode == "paper":
            return refusal(family.d, self.heads)
        most = SEVERAL_D if self.heads > 1 else LARGEST_D
        if family.d > most:
            return (
                f"d={family.d} is too large: examples grow as d^2 and seconds as d^4, so d is at "
                f"most {LARGEST_D} for one head and {SEVERAL_D} for several; `student` goes further"
            )
        return None

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Run the stages until the hold-out error or the examples are at their end."""
        progress, ran_out = Progress(oracle, self.heads, self.examples, self.polish), False
        try:
            ran_out = MODES[self.mode](progress, rng)
        except StageFailed as failed:
            progress.failed, ran_out = failed, progress.exhausted
        best, outcome = progress.best, None
        if not best or (best.error > progress.goal and best.upper > _SOLVED):
            spent = Outcome.STAGE_FAILED if progress.failed else None
            outcome = Outcome.EXAMPLES_SPENT if ran_out else spent
        return progress.hypothesis(outcome)
