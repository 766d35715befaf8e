"""The stages in the form that works best, on ever more examples until the error is small.

Eigenvectors stand where the theorem has a convex body. The test of a single head, the projection,
the polish and the count of heads by held-out examples are outside of the theorem.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hardness.learners.fitting import Data, Fit, StageFailed, repeated
from hardness.learners.levenberg import enough
from hardness.learners.staged.hull import MATRIX_D, affine_hull
from hardness.learners.staged.moment import moment
from hardness.learners.staged.net import net
from hardness.learners.staged.polish import another, left_even, polished, prune
from hardness.learners.staged.progress import PRUNE, Progress
from hardness.learners.staged.projection import project
from hardness.learners.staged.refine import refine
from hardness.learners.staged.single import EXACT, LEAST_ROWS, LIKE_NOISE, single
from hardness.learners.staged.span import Span, span
from instances.errors import TooLarge
from instances.layer import AttentionLayer
from instances.limits import require_memory

# The gap of nice layers with enough examples is 4 or more, among eigenvalues of noise it is 1.3. A
# small one will do where it stands at the same place with four times the examples, or where
# held-out examples count the heads after it.
_GAP, _LAST_GAP = 3.0, 1.5
_POLISHED, _ROUGH = 1e-12, 1e-3  # hold-out errors at which no more examples are asked for
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


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What is fixed: heads and examples (0: to be found), steps of the polish (0: none).

    noisy: whether labels may carry noise: the family states it, nobody does of data of a user. What
    a wrong layer leaves over can look like noise, and is none if there is none. use_all: whether
    all examples are to be used, the given number or those of a user: what looks like noise ends
    nothing then.
    """

    heads: int
    examples: int
    polish: int
    noisy: bool = True
    use_all: bool = False

    @property
    def goal(self) -> float:
        """The error on the hold-out that ends the run."""
        return _POLISHED if self.polish else _ROUGH

    def sizes(self, k: int, d: int) -> Iterator[int]:
        """Numbers of examples to try: 4 d^2 for a single head, then 20 d^2 and fourfold each time.

        At least 640 and 1280 of them. Beyond d = 32 it is 2.5 d^2 and 10 d^2, and beyond d = 128
        a single head alone is tried.

        >>> list(Settings(heads=0, examples=0, polish=1).sizes(2, 16))
        [1024, 5120, 20480, 81920, 327680, 640000]
        >>> list(Settings(heads=0, examples=20000, polish=1).sizes(2, 16))
        [1024, 20000]
        >>> list(Settings(heads=0, examples=0, polish=1).sizes(2, 128))
        [40960, 163840, 524288]
        """
        most = self.examples or min(_MAX_EXAMPLES, _MOST_ENTRIES // (k * d))
        single, first = (_SINGLE, _FIRST) if d <= MATRIX_D else (_SINGLE_BEYOND, _FIRST_BEYOND)
        alone = max(int(single * d * d), _MIN_EXAMPLES)
        if self.heads < 2 and alone < most:
            yield alone
            if d > SEVERAL_D:
                return
        size = most if self.examples else max(first * d * d, 2 * _MIN_EXAMPLES)
        while size < most:
            yield size
            size *= _GROWTH
        yield most


def run_practical(settings: Settings, progress: Progress, rng: np.random.Generator) -> bool:
    """Run the stages on rising numbers of examples; returns whether the examples ran out.

    Raises Spent if a budget is spent before there are examples, TooLarge if the first attempt does
    not fit in memory, and StageFailed if labels leave the range of float64.
    """
    family, stage = progress.family, progress.stage
    perhaps_one, explained, heads_before = settings.heads < 2, False, 0
    sizes = list(settings.sizes(family.k, family.d))
    for size in sizes:
        progress.draw(size)
        data, held_out = progress.data, progress.held_out
        try:
            require_memory(
                _ARRAYS * data.x.nbytes, f"d={data.d} with {len(data) + len(held_out)} examples"
            )
        except TooLarge as error:
            if not progress.best:
                raise
            progress.failed = StageFailed("moment", str(error))
            break
        last = progress.exhausted or size == sizes[-1]
        # Whether held-out examples count the heads: those of labels with noise, if all are in use.
        counting = settings.noisy and (last or not settings.use_all) and data.d <= SEVERAL_D
        counting = counting and bool(settings.polish) and not settings.heads
        progress.failed, one_is_all = None, False
        try:
            crude = stage("moment", moment, data, held_out)
            if perhaps_one:
                head = stage("single", single, crude, data, held_out)
                exact = head.error <= EXACT
                like_noise = settings.noisy and head.recognised
                if not exact and (like_noise or settings.heads == 1):
                    descend(settings, progress, head)
                one_is_all = exact or settings.heads == 1
                # Heavy noise is even whatever it covers: a second head has to be of no use.
                if like_noise and not one_is_all:
                    one_is_all = not (counting and add_head(settings, progress, rng))
                perhaps_one = one_is_all or (settings.noisy and not like_noise)
            if not one_is_all:
                _require_several(progress, last)
                refined = stage("refine", refine, crude.w, data)
                around = stage("hull", affine_hull, refined, data)
                along = stage("span", span, around.constraints, data, settings.heads)
                _require_rank(int(crude.measures["label_rank"]), settings.heads, data.k)
                again, heads_before = along.heads == heads_before, along.heads
                if settings.heads or _gap_tells(along, data, again, last, counting):
                    hull = around.centre, along.directions
                    points = stage("net", net, *hull, data, held_out, rng)
                    layer = stage("projection", project, *hull, points.leaders, data, held_out)
                    descend(settings, progress, layer)
        except StageFailed as failed:
            progress.failed = failed
            if failed.needs is None and not settings.use_all:
                return progress.exhausted  # more examples would not help
        enough_rows = data.k * len(held_out) >= LEAST_ROWS and not progress.failed
        if counting and not one_is_all and (last or enough_rows) and progress.best:
            count_heads(settings, progress, rng)
        explained = one_is_all
        if settings.noisy and (not progress.failed or (last and counting)) and progress.best:
            explained |= left_even(progress.layer, held_out) > LIKE_NOISE
        if explained:
            progress.failed = None
        if last or progress.error <= settings.goal or (explained and not settings.use_all):
            break
    return progress.exhausted and not explained


def _require_several(progress: Progress, last: bool) -> None:
    """Refuse what the stages 2 to 6 cannot do, or could not with the examples there are."""
    d, there = progress.data.d, len(progress.data) + len(progress.held_out)
    if d > SEVERAL_D:
        raise StageFailed("hull", f"several heads at d = {d}: at most d = {SEVERAL_D}")
    if d > MATRIX_D and there < _FIRST_BEYOND * d * d and not last:
        raise StageFailed("hull", f"{there} examples are too few", needs=_FIRST_BEYOND * d * d)


def _require_rank(rank: int, heads: int, k: int) -> None:
    """Refuse to count heads by labels of a rank below k: some pattern fits every row of them."""
    if not heads and rank < k:
        raise StageFailed(
            "agreement",
            f"the labels have rank {rank}: with k = {k} tokens some pattern fits every row unless "
            f"it is at least {k}, so no row shows that heads agree",
        )


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


def descend(
    settings: Settings, progress: Progress, start: Fit | AttentionLayer, minimum: int = 0
) -> None:
    """Polish on few examples, on many if the labels turn out not to be exact; prune after each."""
    data, theta, w = progress.data, start.theta, start.w
    few = min(max(minimum, enough(len(theta), data.k, data.d)), len(data))
    if data.d > MATRIX_D:
        few = few // 2
    many = min(max(few, _NOISY), len(data))
    for name, count in zip(("polish", "second polish"), sorted({few, many}), strict=False):
        if not settings.polish or progress.error <= _POLISHED:
            return
        fixed = data.cut(0, count), progress.held_out, settings.polish
        fitted = progress.stage(name, polished, theta, w, *fixed, examples=count)
        theta, w = fitted.theta, fitted.w
        if len(theta) > 1:
            count = count if settings.noisy else few
            used = data.cut(0, count), progress.held_out, settings.polish, settings.noisy
            pruned = progress.stage(PRUNE, prune, theta, w, *used, examples=count)
            theta, w = pruned.theta, pruned.w


def count_heads(settings: Settings, progress: Progress, rng: np.random.Generator) -> None:
    """Count heads by the hold-out: add them to the best layer while it gains, then prune."""
    data, best = progress.data, progress.best
    assert best is not None
    if best.stage not in _DESCENTS or best.examples < len(data):
        descend(settings, progress, best.layer, _NOISY)
    before = progress.layer.m
    while progress.layer.m < min(_MOST_HEADS, data.d**2):
        if not add_head(settings, progress, rng):
            break
    layer = progress.layer
    if layer.m > before:  # one may have become spare by those after it
        used = data.cut(0, _NOISY), progress.held_out, settings.polish, settings.noisy, _ANY
        progress.stage(PRUNE, prune, layer.theta, layer.w, *used, examples=len(used[0]))


def add_head(settings: Settings, progress: Progress, rng: np.random.Generator) -> bool:
    """Add a head to the best layer if the hold-out gains by it; returns whether it does."""
    used = progress.data.cut(0, _NOISY)
    fixed = used, progress.held_out, settings.polish, rng
    larger = progress.stage("another head", another, progress.layer, *fixed, examples=len(used))
    return larger.offered
