"""Samples (a, b) of LWE-style instances, read off attention examples."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from instances.coded import CodedExamples
from instances.errors import UsageError
from instances.family import Examples, Family, Secret
from instances.integers import Integers, uniform
from instances.lwr import Lwr
from instances.modular import Modular


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """Samples of a family: a (N, n) int64 in 0 .. q-1, codes (N,) int64, numbers of levels.

    >>> from instances import parse
    >>> instance = parse("lwe:n=8,q=17,sigma=1").instance(0)
    >>> found = samples(instance.examples(0, 100))
    >>> found.a.shape == (len(found), 8)
    True
    >>> int(abs(found.residuals(instance.hidden.secret)).max()) < 8
    True
    """

    family: Modular
    a: NDArray[np.int64]
    codes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.codes)

    @staticmethod
    def none(family: Modular) -> "Samples":
        """Make no samples of a family."""
        a = np.zeros((0, family.n), np.int64)
        return Samples(family=family, a=a, codes=a[:, 0])

    def cut(self, start: int, stop: int) -> "Samples":
        """Return samples start .. stop-1."""
        return Samples(family=self.family, a=self.a[start:stop], codes=self.codes[start:stop])

    @cached_property
    def b(self) -> NDArray[np.int64]:
        """<a, s> + e mod q, (N,), e distributed as `error`: of rounded labels, their least value.

        Raises UsageError for labels that do not place <a, s>, as those of a window.
        """
        family = self.family
        if isinstance(family, Lwr):
            return self.codes * (family.q // family.p)
        if len(family.levels) != family.q:
            raise UsageError(f"{family.name} given: its labels do not say where <a, s> mod q is")
        return self.codes

    @property
    def error(self) -> Integers | None:
        """The distribution of b - <a, s> mod q; None where it is 0."""
        family = self.family
        if isinstance(family, Lwr) and family.p < family.q:
            return uniform(range(1 - family.q // family.p, 1))
        return family.errors

    def residuals(self, secret: Secret) -> NDArray[np.int64]:
        """Compute b - <a, s> mod q, centred: (N,)."""
        q = self.family.q
        found = self.b - dot(self.a, np.array(secret, np.int64), q)
        return np.asarray((found + q // 2) % q - q // 2)

    def evidence(self, secret: Secret) -> float:
        """Compute the bits by which the samples favour a secret over labels that are coins.

        log2 of the ratio of the probabilities; minus infinity where a label cannot be. Coins reach
        L bits with a probability of 2^-L at most.
        """
        t = dot(self.a, np.array(secret, np.int64), self.family.q)
        return float(self.family.log_ratios(t, self.codes).sum())


def samples(examples: Examples) -> Samples:
    """Read the samples off the examples with z_0 = -1; raises UsageError for other families."""
    if not isinstance(examples, CodedExamples):
        raise UsageError(f"{examples.family.spec} given: only LWE-style families have samples")
    family = as_modular(examples.family)
    opened = family.open(examples.words)
    return Samples(
        family=family,
        a=family.vectors(examples.words[opened]),
        codes=examples.codes[opened].astype(np.int64),
    )


def as_modular(family: Family) -> Modular:
    """Narrow a family to an LWE-style one; raises UsageError for another."""
    if not isinstance(family, Modular):
        raise UsageError(
            f"{family.spec} given: an LWE-style family is needed (lwr, lwe, lpn, window)"
        )
    return family


def dot(a: NDArray[np.int64], s: NDArray[np.int64], q: int) -> NDArray[np.int64]:
    """Compute <a, s> mod q: (N, n), (n,) -> (N,), exact for q up to 2^48.

    >>> dot(np.array([[1, 2]]), np.array([-1, 3]), 7).tolist()
    [5]
    """
    s = s % q
    if len(s) * (q - 1) ** 2 < 1 << 53:
        return (a.astype(np.float64) @ s.astype(np.float64)).astype(np.int64) % q
    return np.array([sum(map(int.__mul__, row, s.tolist())) % q for row in a.tolist()], np.int64)
