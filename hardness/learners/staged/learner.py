"""The staged learner: Chen and Li's stages, which recover all heads of a layer. [CL24]

The mode practical is the form that works best: it uses more and more examples until the error is
small, and eigenvectors instead of the convex body of the theorem. The test of a single head, the
projection, the polish and the count of heads by held-out examples are not part of the theorem.
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
from hardness.learners.staged.polish import another, polished, prune, residual_evenness
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

# The gap of nice layers with enough examples is 4 or more; among eigenvalues of noise it is 1.3. A
# small gap is enough if it is at the same index with four times the examples, or if held-out
# examples count the heads afterwards.
_GAP, _LAST_GAP = 3.0, 1.5
_SINGLE_EXAMPLES = 4  # examples for a single head, as a multiple of d^2
_FIRST_EXAMPLES = 20  # examples of the first attempt for several heads, as a multiple of d^2
_GROWTH = 4  # factor between the examples of attempts
_MAX_EXAMPLES = 640_000
# The same beyond d = 32, where a product costs d^4.
_SINGLE_EXAMPLES_BEYOND = 2.5
_FIRST_EXAMPLES_BEYOND = 10
SEVERAL_D = 128  # the largest d for several heads: at d = 256 their polish takes hours
# Fewer than 30 held-out examples cannot confirm a layer, and fewer than 1000 rows cannot
# distinguish a single head in noise from several.
_MIN_EXAMPLES = 640
_MOST_ENTRIES = 1 << 27  # entries of all tokens: 1 GiB, and as much for the labels
_ARRAYS = 6  # arrays of the size of the tokens that one attempt makes, at most
_NOISY_EXAMPLES = 1 << 15  # examples of the polish if the labels are not exact
_DESCENTS = ("polish", "second polish", PRUNE, "another head")
# After heads were added, the right removal may have an error of 0.08 before its polish, and wrong
# ones less.
_ROUGH_AFTER_ADDING = 0.25
_MOST_HEADS = 8  # the most heads that held-out examples count, if labels have noise


def sizes(heads: int, examples: int, k: int, d: int) -> Iterator[int]:
    """Yield numbers of examples to try: 4 d^2 for a single head, 20 d^2, then four times as many.

    The first two are at least 640 and 1280. Beyond d = 32 they are 2.5 d^2 and 10 d^2, and beyond
    d = 128 only a single head is tried. heads, examples: 0 if they are unknown.

    >>> list(sizes(0, 0, 2, 16)), list(sizes(0, 20000, 2, 16))
    ([1024, 5120, 20480, 81920, 327680, 640000], [1024, 20000])
    >>> list(sizes(0, 0, 2, 128))
    [40960, 163840, 524288]
    """
    most = examples or min(_MAX_EXAMPLES, _MOST_ENTRIES // (k * d))
    single, first = (
        (_SINGLE_EXAMPLES, _FIRST_EXAMPLES)
        if d <= MATRIX_D
        else (_SINGLE_EXAMPLES_BEYOND, _FIRST_EXAMPLES_BEYOND)
    )
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
    """Run the stages on increasing numbers of examples; return whether these were used up.

    Raises Spent if a budget is spent before any examples, TooLarge if the first attempt does not
    fit into memory, and StageFailed if labels are outside the range of float64.
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
        # Held-out examples count the heads if labels have noise and all examples are in use.
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
                # Strong noise looks even, whatever it hides: check that a second head does not
                # help.
                if like_noise and not one_is_all:
                    one_is_all = not (counting and add_head(progress, rng))
                perhaps_one = one_is_all or (progress.noisy and not like_noise)
            if not one_is_all:
                there, least = len(data) + len(held_out), _FIRST_EXAMPLES_BEYOND * data.d**2
                if data.d > SEVERAL_D:
                    raise StageFailed("hull", f"several heads at d={data.d}: at most {SEVERAL_D}")
                if data.d > MATRIX_D and there < least and not last:
                    raise StageFailed("hull", f"{there} examples are too few", needs=least)
                refined = stage("refine", refine, crude.w, data)
                around = stage("hull", affine_hull, refined, data)
                along = stage("span", span, around.constraints, data, progress.heads)
                rank = int(crude.measures["label_rank"])
                if not progress.heads and rank < data.k:  # then some pattern fits every row
                    why = f"the labels have rank {rank}: with k = {data.k} tokens some pattern "
                    why += f"fits every row below {data.k}, so that no row shows that heads agree"
                    raise StageFailed("agreement", why)
                again, heads_before = along.heads == heads_before, along.heads
                if progress.heads or _gap_determines_heads(along, data, again, last, counting):
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
            explained |= residual_evenness(progress.layer, held_out) > LIKE_NOISE
        if explained:
            progress.failed = None
        if last or progress.error <= progress.goal or (explained and not progress.use_all):
            break
    return progress.exhausted and not explained


def _gap_determines_heads(along: Span, data: Data, again: bool, last: bool, counting: bool) -> bool:
    """Whether the gap determines the number of heads; if not, start with one, or raise StageFailed.

    again: the gap was at the same index with fewer examples. counting: held-out examples count the
    heads afterwards.
    """
    if along.gap >= _GAP:
        return True
    different = int((~repeated(data.x)).sum())
    known = _GROWTH * different < len(data)  # nearly all different examples are known
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
    """Polish on few examples, then on many if labels are not exact; prune after each polish."""
    data, theta, w = progress.data, start.theta, start.w
    few = min(max(minimum, enough(len(theta), data.k, data.d)), len(data))
    if data.d > MATRIX_D:
        few = few // 2
    many = min(max(few, _NOISY_EXAMPLES), len(data))
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
    """Count heads by the hold-out: add heads while its error decreases, then prune."""
    data, best = progress.data, progress.best
    assert best is not None
    if best.stage not in _DESCENTS or best.examples < len(data):
        descend(progress, best.layer, _NOISY_EXAMPLES)
    before = progress.layer.m
    while progress.layer.m < min(_MOST_HEADS, data.d**2):
        if not add_head(progress, rng):
            break
    layer = progress.layer
    if layer.m > before:  # later heads may have made an earlier one superfluous
        used = (
            data.cut(0, _NOISY_EXAMPLES),
            progress.held_out,
            progress.polish,
            progress.noisy,
            _ROUGH_AFTER_ADDING,
        )
        progress.stage(PRUNE, prune, layer.theta, layer.w, *used, examples=len(used[0]))


def add_head(progress: Progress, rng: np.random.Generator) -> bool:
    """Add a head to the best layer if the hold-out error decreases; return whether it does."""
    used = progress.data.cut(0, _NOISY_EXAMPLES)
    fixed = used, progress.held_out, progress.polish, rng
    larger = progress.stage("another head", another, progress.layer, *fixed, examples=len(used))
    return larger.offered


LARGEST_D = 256  # one head: 5 GiB, and six minutes
_SOLVED = 0.05  # upper bounds of held-out errors below this are left to the judge
MODES = {"practical": run_practical, "paper": run_as_published}


@dataclass(frozen=True, kw_only=True)
class Staged(BuiltIn):
    """Runs the stages in a mode; 0 lets it find heads and examples, and polish=0 omits the polish.

    The `error` in the details belongs to the layer that is best on held-out examples, so it is
    slightly too small. The risk of a run is measured on fresh examples.

    mode: practical, the form that works best, with eigenvectors instead of the convex body and with
    a polish that is not part of the theorem; or paper, with the convex body and without a polish.

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
        """Softmax attention: one head up to d=256, several to d=128, mode paper up to d=16."""
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
        """Run the stages until the hold-out error is small or the examples are used up."""
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
