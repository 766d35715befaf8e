"""Samples (a, b) of LWE-style instances, read off attention examples."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from instances.capabilities import LINEAR_FORMS
from instances.coded import as_coded
from instances.family import Examples, Secret
from instances.integers import Integers
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
    def join(parts: "Sequence[Samples]") -> "Samples":
        """Put samples of one family one after another; raises IndexError for no part."""
        return Samples(
            family=parts[0].family,
            a=np.concatenate([part.a for part in parts]),
            codes=np.concatenate([part.codes for part in parts]),
        )

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
        return self.family.least(self.codes)

    @property
    def error(self) -> Integers | None:
        """The distribution of b - <a, s> mod q; None where it is 0."""
        return self.family.rounding or self.family.errors

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
    """Read the samples off the examples with z_0 = -1; raises UsageError without `linear_forms`."""
    family = LINEAR_FORMS.need(examples.family)
    packed = as_coded(examples)
    opened = family.open(packed.words)
    return Samples(
        family=family,
        a=family.vectors(packed.words[opened]),
        codes=packed.codes[opened].astype(np.int64),
    )


def dot(a: NDArray[np.int64], s: NDArray[np.int64], q: int) -> NDArray[np.int64]:
    """Compute <a, s> mod q: (N, n), (n,) -> (N,), exact for q up to 2^48.

    >>> dot(np.array([[1, 2]]), np.array([-1, 3]), 7).tolist()
    [5]
    """
    s = s % q
    if len(s) * (q - 1) ** 2 < 1 << 53:
        return (a.astype(np.float64) @ s.astype(np.float64)).astype(np.int64) % q
    return np.array([sum(map(int.__mul__, row, s.tolist())) % q for row in a.tolist()], np.int64)
