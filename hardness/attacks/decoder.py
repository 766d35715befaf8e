"""Any learner as an attack: its hypothesis is evaluated at chosen points to find the secret.

Let h be the hypothesis minus its mean, and f(<a, s> mod q) the mean label minus its mean. If h is
c f plus an uncorrelated part, then for uniform a

    E h(a) h(a + x e_i)  is  c^2 E f(t) f(t + x s_i),

whose shape in x determines |s_i|. Moving two entries at once shows whether s_i and s_j have the
same sign. For labels of two halves of Z_q and x = q/2 it is +-1. Its sign determines s_i mod 2 if h
is right at more than 3/4 of all points, or at more than 1/2 if its errors are random. The points
are made here; further examples only verify a candidate. The threshold of evidence counts all
secrets, so the examples may have had other uses too. Uniform labels pass it with probability at
most 2^-30.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hardness.attacks.core import better_candidate, conclude, gather, samples_to_confirm
from hardness.learners.learner import SPENT, Access, Hypothesis, Learner, View, learner_spec
from hardness.oracles import Meter, Spent
from instances.coded import Coded
from instances.family import Family, Secret
from instances.lwe import Modular
from instances.residues import centred
from instances.samples import Samples
from instances.streams import generator

Array = NDArray[np.float64]
PREFIX = "decode"
_POINTS = (128, 1024, 8192)  # numbers of points per entry, until a secret is confirmed
_SHIFTS, _LARGEST_ENTRY = 8, 32  # shifts of an entry; the largest absolute entry
_SCALES = [j / 50 for j in range(1, 51)]
_BATCH_NUMBERS = 1 << 22  # numbers in the tokens of a batch
_CONSTANT = 1e-12  # variance of predictions below which nothing was learned


@dataclass(frozen=True, kw_only=True)
class Decoder:
    """The attack "decode:LEARNER": the secret is read from the learner's hypothesis."""

    name: ClassVar[str] = PREFIX
    revision: ClassVar[int] = 2
    about: ClassVar[str] = "another learner's hypothesis, asked at chosen points for the secret"

    learner: Learner

    @property
    def access(self) -> Access:
        """The kind of oracle of the learner."""
        return self.learner.access

    @property
    def view(self) -> View:
        """What the learner sees."""
        view: View = getattr(self.learner, "view", "examples")
        return view

    @property
    def computes_long(self) -> bool:
        """Whether the learner computes for long between draws."""
        return getattr(self.learner, "computes_long", False)

    @property
    def spec(self) -> str:
        """The spec: its name and the learner's spec."""
        return f"{PREFIX}:{learner_spec(self.learner)}"

    def supports(self, family: Family) -> str | None:
        """Return None for linear forms with small secrets that the learner supports, else why."""
        if self.access not in ("examples", "either"):
            name = self.learner.name
            return f"{name} learns from {self.access}: only learners from examples are read"
        forms = family.linear_forms
        if forms is None or not isinstance(family, Coded):
            return family.lacks("coded" if forms else "linear_forms")
        if max(map(abs, forms.secrets.values)) > _LARGEST_ENTRY:
            return f"entries of a secret of up to {_LARGEST_ENTRY} are read off, not of any size"
        return self.learner.supports(family)

    def learn(self, oracle: Any, rng: np.random.Generator) -> Hypothesis:
        """Run the learner; conclude on its claimed secret, or read one from its hypothesis."""
        family = oracle.family
        forms = family.linear_forms or family.refuse("linear_forms")
        fresh = gather(oracle, samples_to_confirm(forms))
        try:
            learned = self.learner.learn(oracle, rng)
        except Spent as spent:  # its last offer is used
            if oracle.meter.offered is None:
                raise
            learned = replace(oracle.meter.offered, outcome=SPENT[spent.resource])
        try:
            return _read(learned, family, fresh, oracle.meter)
        except BaseException:  # `close` ends the process that predicts
            learned.close()
            raise


def _read(learned: Hypothesis, family: Family, fresh: Samples, meter: Meter) -> Hypothesis:
    """Find the best candidate by increasing numbers of points, while time is left; conclude."""
    reader, best, outcome = _Reader(learned, fresh.family, meter), None, learned.outcome
    if learned.secret is not None:
        best = better_candidate(None, fresh, family.to_linear(learned.secret))
    claim = conclude(family, fresh, best)
    try:
        for points in _POINTS:
            if (claim.secret is not None and claim.outcome is None) or reader.flat:
                break
            for secret in reader.read(points):
                best = better_candidate(best, fresh, secret)
            claim = conclude(family, fresh, best)
    except Spent as spent:
        outcome = outcome or SPENT[spent.resource]
    details = claim.details | {"points": reader.points_asked, "learner": learned.details}
    if learned.outcome:
        details["learner_outcome"] = learned.outcome.value
    if claim.secret is not None:
        return replace(claim, close=learned.close, details=details)
    outcome = outcome or claim.outcome
    return replace(learned, secret=None, outcome=outcome, details=details)


class _Reader:
    """Evaluates a hypothesis at chosen points, and reads secrets from the values."""

    def __init__(self, learned: Hypothesis, forms: Modular, meter: Meter) -> None:
        self.learned, self.forms, self.meter = learned, forms, meter
        self.points_asked, self.points, self.flat = 0, 0, False
        power = np.abs(np.fft.rfft(forms.response - forms.response.mean())) ** 2
        self.overlaps = np.fft.irfft(power, forms.q)
        self.overlaps /= self.overlaps[0]

    def read(self, points: int) -> list[Secret]:
        """Read centred candidates from so many uniform points: one, or two of opposite signs."""
        forms, self.points = self.forms, points
        self.there = self._ask()
        self.there -= self.there.mean()
        self.flat = not self.there.var() > _CONSTANT
        if self.flat:
            return []
        sizes = np.array(sorted({abs(v) for v in forms.secrets.values}))
        shifts = self._shifts(int(sizes[-1]))
        shapes = np.array([self._shape(int(size), shifts) for size in sizes])
        curves = np.array([self._moved([i], shifts) for i in range(forms.n)])
        which, scale = _nearest(curves, shapes)
        entries = sizes[which]
        places = np.flatnonzero(entries)
        if min(forms.secrets.values) >= 0 or not len(places):
            return [tuple(entries.tolist())]
        shifts = self._shifts(2 * int(sizes[-1]))
        first = next((int(i) for i in places if 2 * entries[i] % forms.q), int(places[0]))
        for other in places[places != first]:
            seen = self._moved([first, int(other)], shifts)
            sums = (int(entries[first] + entries[other]), int(entries[first] - abs(entries[other])))
            off = [((seen - scale * self._shape(u, shifts)) ** 2).sum() for u in sums]
            entries[other] *= -1 if off[1] < off[0] else 1
        return [tuple(centred(signed, forms.q).tolist()) for signed in (entries, -entries)]

    def _shifts(self, wide: int) -> list[int]:
        """Return shifts that distinguish entries up to `wide`; for 0 and 1 it is q/2."""
        halves = 1 << max(wide - 1, 0).bit_length()
        steps = np.unique(np.linspace(1, halves, min(halves, _SHIFTS)).astype(int))
        return [max(1, round(self.forms.q * int(j) / (2 * halves))) for j in steps]

    def _shape(self, value: int, shifts: list[int]) -> Array:
        """Return the expected product after <a, s> moves by value times each shift, 1 for 0."""
        return self.overlaps[[value * x % self.forms.q for x in shifts]]

    def _moved(self, places: list[int], shifts: list[int]) -> Array:
        """Return the measured products for moved entries of a, divided by the mean square."""
        out = [float((self.there * self._ask(places, x)).mean()) for x in shifts]
        return np.array(out) / float((self.there**2).mean())

    def _ask(self, places: Sequence[int] = (), x: int = 0) -> Array:
        """Predict the factor at informative tokens, a moved by x at places: (N,). Raises Spent."""
        rows, points = max(1, _BATCH_NUMBERS // (2 * self.forms.d)), self.points
        starts = range(0, points, rows)
        parts = [self._ask_some(s, min(rows, points - s), list(places), x) for s in starts]
        return np.concatenate(parts)

    def _ask_some(self, start: int, count: int, places: list[int], x: int) -> Array:
        self.meter.require_time()
        self.points_asked += count
        forms = self.forms
        rng = generator(
            self.points, "decode", forms.seed_spec, str(start)
        )  # the same points for every move
        a = rng.integers(0, forms.q, (count, forms.n))
        lifted = rng.integers(0, 1 << 62, a.shape)
        first = rng.integers(0, 2, (count, forms.d), dtype=np.uint8)
        a[:, places] = (a[:, places] + x) % forms.q
        multiples = ((1 << forms.length) - 1 - a) // forms.q + 1
        numbers = a + forms.q * (lifted % multiples)  # a random number that is a mod q
        z = np.ones((len(a), forms.d), np.uint8)
        z[:, 1:] = ((numbers[:, :, None] >> np.arange(forms.length)) & 1).reshape(len(a), -1)
        tokens = 1 - 2 * np.stack([first, first ^ z], axis=1).astype(np.int8)
        return np.asarray(self.learned.predict(tokens)[:, 0, 0] * tokens[:, 0, 0], np.float64)


def _nearest(curves: Array, shapes: Array) -> tuple[NDArray[np.intp], float]:
    """Find the shapes nearest to curves, and the common scale by which errors shrink them."""

    def off(scale: float) -> Array:
        return np.asarray(((curves[:, None] - scale * shapes) ** 2).sum(axis=2))

    scale = min(_SCALES, key=lambda s: float(off(s).min(axis=1).sum()))
    return off(scale).argmin(axis=1), scale
