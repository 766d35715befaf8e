"""BKW: samples that agree in a block of coordinates are subtracted, until few coordinates are left.

Then a Fourier transform over Z_q^m scores all values of those that are left. A label goes in as its
mean character u = E[w^<a,s> | label], w = exp(2 pi i/q), so LPN, LWE, LWR and windows are one case:
the difference of two samples has u u'*. Coordinates that are found are taken out, and the rest is
solved in the same way. [BKW03, LF06, ACFFP15, DTV15]
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hardness.oracles import ExampleOracle
from hardness.upper.attack import (
    SecretSearch,
    believed,
    conclude,
    gather,
    is_member,
    needed,
    out_of_time,
    values_of,
)
from hardness.upper.blocks import Rows, amplify, character, choose, clear, scores
from hardness.upper.learner import Hypothesis, Outcome
from instances.family import Secret
from instances.limits import require_memory
from instances.modular import Modular
from instances.residues import dot
from instances.samples import Samples, samples
from instances.streams import generator

_TRIALS = 8  # orders of the coordinates
_PEAKS = 64  # of the transform that are looked at
_BRANCHES = 3  # of them that are followed: a label may not tell s from -s after a difference


@dataclass(frozen=True, kw_only=True)
class Bkw(SecretSearch):
    """Runs BKW; fewer samples than its plan takes are amplified.

    A step is an order of the coordinates; order i is the same in all runs.
    """

    name: ClassVar[str] = "bkw"
    about: ClassVar[str] = "BKW with a Fourier transform at the end: LPN, LWE and LWR of small size"

    def unfit(self, forms: Modular) -> str | None:
        """Return that samples or transforms are too many, or None."""
        if choose(forms.q, forms.n, character(forms)[1]) is None:
            return "it takes more than 2^22 samples, or labels say nothing of <a, s>"
        return None

    def attack(self, oracle: ExampleOracle, forms: Modular, rng: np.random.Generator) -> Hypothesis:
        """Try some orders of the coordinates until a secret is believed."""
        family, gain = oracle.family, character(forms)[1]
        plan = choose(forms.q, forms.n, gain)
        count = self.samples or max(needed(forms), plan.samples if plan else 0)
        require_memory(8 * count * forms.n * 3, f"{count} samples of {forms.spec}")
        found = gather(oracle, count, samples)
        plan = choose(forms.q, forms.n, gain, len(found))
        if plan is None:
            return conclude(family, found, None, Outcome.EXAMPLES_SPENT, samples_planned=count)
        details: dict[str, Any] = {"rounds": plan.rounds, "block": plan.block}
        details["amplified"] = plan.amplified
        best: Secret | None = None
        for index in range(self.start, _TRIALS):
            order = generator(0, "bkw", "order", index).permutation(forms.n)
            for secret in candidates(oracle, found, gain, order):
                if secret is None:
                    return out_of_time(family, index, _TRIALS, samples=len(found), **details)
                if not is_member(forms, secret):
                    continue
                if believed(found, secret):
                    return conclude(family, found, secret, order=index, **details)
                best = best or secret
        return conclude(family, found, best, orders=_TRIALS, **details)


def candidates(
    oracle: ExampleOracle, found: Samples, gain: float, order: NDArray[np.intp]
) -> Iterator[Secret | None]:
    """Find secrets by the peaks of the transforms, likeliest first; None where the time is over."""
    family = found.family
    q, labels = family.q, character(family)[0][found.codes]
    small = np.uint8 if q <= 128 else np.uint32
    allowed = np.zeros(q, np.bool_)
    allowed[[0, *(v % q for v in values_of(family))]] = True
    known: list[tuple[int, ...]] = [()]  # of the coordinates order[n - len:], to be followed
    while known:
        tail = known.pop()
        missing = family.n - len(tail)
        if not missing:
            out = np.zeros(family.n, np.int64)
            out[order] = tail
            if (secret := family.secrets.lift(out.tolist())) is not None:
                yield secret
            continue
        plan = choose(q, missing, gain, len(found))
        if plan is None:
            continue
        partial = np.zeros(family.n, np.int64)
        partial[order[missing:]] = tail
        turned = labels * np.exp(-2j * np.pi * dot(found.a, partial, q) / q)
        rows = Rows(
            q=q,
            a=found.a[:, order[:missing]].astype(small),
            labels=turned.real if q == 2 else turned,
        )
        if plan.amplified:
            rows = amplify(rows, plan.kept)
        for _ in range(plan.rounds):
            if not oracle.meter.has_time():
                yield None
                return
            rows = clear(rows, min(plan.block, rows.a.shape[1] - plan.last), plan.kept)
        known += [(*peak, *tail) for peak in peaks(rows, allowed)[::-1]]


def peaks(rows: Rows, allowed: NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """Return the few values of the coordinates that score highest, of those that are allowed."""
    found = scores(rows)
    n = rows.a.shape[1]
    top = np.argsort(found)[::-1] if len(found) <= _PEAKS else _largest(found)
    values = np.array(np.unravel_index(top, (rows.q,) * n)).T
    good = values[allowed[values].all(axis=1)]
    return [tuple(map(int, row)) for row in good[:_BRANCHES]]


def _largest(found: NDArray[np.float64]) -> NDArray[np.intp]:
    top = np.argpartition(found, -_PEAKS)[-_PEAKS:]
    return np.asarray(top[np.argsort(found[top])[::-1]])
