"""Reduced samples: rows R of small integers, with A' = R A and b' = R b mod q, whose A' is narrow.

They are samples of the same secret: b' - A' s = R e mod q. Lattice reduction makes most columns of
A' narrow ("cool") and leaves others uniform mod q ("cruel"). [NMWSLCL24]
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from instances import samplefile
from instances.arrayfile import read_arrays
from instances.capabilities import LINEAR_FORMS
from instances.disk import refuse_existing, write_tensors
from instances.errors import DamagedFile, UsageError
from instances.family import Instance
from instances.limits import require_memory
from instances.residues import centred
from instances.samples import Samples, label
from instances.streams import generator

_PROFILE = re.compile(r"([0-9]{1,6}):(q|[0-9]{1,9}(?:\.[0-9]{1,9})?)")
_CONFIDENCE = 1 - 1e-6  # of the interval in which the law of errors has to lie


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReducedSamples:
    """A' (N, n) centred, b' (N,) less the mean of R e, of samples (m,) and rows R (N, m).

    deviation: (N,), of the errors R e: that of e times the lengths of rows. rows: None where the
    samples are reduced ones themselves. seconds: that their reduction took.
    """

    samples: Samples
    a: NDArray[np.int64]
    b: NDArray[np.float64]
    deviation: NDArray[np.float64]
    rows: NDArray[np.int64] | None = None
    seconds: float = 0.0

    def __len__(self) -> int:
        return len(self.b)

    def __repr__(self) -> str:
        return f"{len(self)} reduced samples of {self.samples.family}"

    @staticmethod
    def of(
        found: Samples, rows: NDArray[np.int64] | None = None, seconds: float = 0.0
    ) -> "ReducedSamples":
        """Combine samples by rows, or take them as they are.

        >>> from instances import parse
        >>> from instances.samples import draw_samples
        >>> found = draw_samples(parse("lwe:n=4,q=97,sigma=1").instance(0), 3)
        >>> ReducedSamples.of(found, np.array([[1, 0, -1]])).deviation.round(2).tolist()
        [1.41]
        """
        table, error = np.column_stack([found.a, found.b]), found.error
        sums = lengths = np.ones(len(found))
        if rows is not None:
            most = int(abs(rows).sum(axis=1).max()) * found.q
            if most >= 1 << 63:
                raise UsageError(f"rows whose entries add up to {most // found.q} given: too wide")
            exact = np.float64 if most < 1 << 53 else np.int64  # the first is much faster
            table = (rows.astype(exact) @ table.astype(exact)).astype(np.int64)
            sums, lengths = rows.sum(axis=1), np.sqrt((rows.astype(float) ** 2).sum(axis=1))
        table = centred(table, found.q)
        return ReducedSamples(
            samples=found,
            a=table[:, :-1],
            b=table[:, -1] - (error.mean if error else 0.0) * sums,
            deviation=(error.deviation if error else 0.0) * lengths,
            rows=rows,
            seconds=seconds,
        )

    @staticmethod
    def read(path: Path, found: Samples) -> "ReducedSamples":
        """Read rows R (N, m) of the first m samples, and hold R A mod q against RA (N, n) if there.

        Arrays of .npz or .safetensors; raises DamagedFile, which names the first row that is wrong.
        """
        arrays = read_arrays(path)[0]
        rows, stated = arrays.get("R"), arrays.get("RA")
        if rows is None or rows.ndim != 2 or rows.dtype.kind not in "iu" or not rows.size:
            raise DamagedFile(f"{path}: an array R (N, m) of integers is wanted, a row a vector")
        if rows.shape[1] > len(found):
            raise DamagedFile(
                f"{path}: R {rows.shape} combines {rows.shape[1]} samples: there are {len(found)}"
            )
        rows = centred(_residues(rows, found.q), found.q)
        if not rows.any(axis=1).all():
            row = int(rows.any(axis=1).argmin())
            raise DamagedFile(f"{path}: row {row}: R is 0 mod {found.q}: leave it out")
        made = ReducedSamples.of(found.cut(0, rows.shape[1]), rows)
        if stated is None:
            return made
        if stated.shape != made.a.shape or stated.dtype.kind not in "iu":
            raise DamagedFile(
                f"{path}: RA {stated.shape} given: integers {made.a.shape} are wanted"
            )
        wrong = ((made.a - _residues(stated, found.q)) % found.q).any(axis=1)
        if wrong.any():
            raise DamagedFile(
                f"{path}: row {int(wrong.argmax())}: R A is not RA mod {found.q}, as of "
                f"{int(wrong.sum())} of {len(made)} rows: give R of these samples, in their order"
            )
        return made

    def save(self, path: Path, *, force: bool = False) -> None:
        """Write R, RA, A and b, which are read as samples and by `read`; raises AlreadyExists."""
        if self.rows is None:
            raise UsageError("reduced samples without rows given: save them as samples")
        refuse_existing(path, force)
        of = self.samples
        meta = {"format": samplefile.FORMAT, "spec": of.family.spec, "sha256": of.digest}
        arrays = {"R": self.rows, "RA": self.a % of.q, "a": of.a, "b": of.codes}
        write_tensors(path, arrays, meta | {"seconds": self.seconds})

    @cached_property
    def spread(self) -> NDArray[np.float64]:
        """The root mean square of each column of A', (n,): q/sqrt(12) where it is uniform."""
        return np.sqrt((self.a.astype(float) ** 2).mean(axis=0))

    def cruel(self, count: int) -> NDArray[np.int64]:
        """Return the `count` widest columns, ascending."""
        return np.sort(np.argsort(-self.spread, kind="stable")[:count])

    def noise(self, inside: NDArray[np.int64]) -> NDArray[np.float64]:
        """The deviation of b' less what the other columns make of the secret: (N,)."""
        deviation = self.samples.family.secrets.moments[1]
        return np.hypot(
            self.deviation, deviation * np.sqrt((self.a[:, inside].astype(float) ** 2).sum(axis=1))
        )

    def errors(self, secret: Sequence[int]) -> NDArray[np.float64]:
        """Compute b' - A' s mod q, centred, in units of the deviation that it should have: (N,)."""
        off, q = self.b - self.a @ np.array(secret, float), self.samples.q
        return ((off + q / 2) % q - q / 2) / self.deviation

    def measured(self, secret: Sequence[int]) -> tuple[float, float, float]:
        """Measure the deviation of R e over what it should be, and bounds on it (one in 10^6 errs).

        Rows that are alike count for fewer. [Sat46]
        """
        ratio, count = math.sqrt(float((self.errors(secret) ** 2).mean())), float(len(self))
        if self.rows is not None:
            unit = self.rows / np.sqrt((self.rows.astype(float) ** 2).sum(axis=1))[:, None]
            count = count**2 / float(((unit.T @ unit) ** 2).sum())
        low, high = (float(chi2.ppf((1 + s * _CONFIDENCE) / 2, count)) / count for s in (-1, 1))
        return ratio, ratio / math.sqrt(high), ratio / math.sqrt(low)


def _residues(values: NDArray[Any], q: int) -> NDArray[np.int64]:
    """Reduce integers of any type mod q, also those of uint64 that int64 does not hold."""
    wide = np.uint64 if values.dtype.kind == "u" else np.int64
    return (values.astype(wide) % q).astype(np.int64)


def synthetic(instance: Instance, count: int, profile: str) -> Samples:
    """Draw samples that look reduced: columns of a uniform mod q, or Gaussian and narrow.

    profile: "60:q,196:12.5", so many columns and their deviations. The errors are those of the
    spec: give it those of R e. Raises UsageError where it does not say all n columns.

    >>> from instances import parse
    >>> drawn = synthetic(parse("lwe:n=9,q=997,sigma=40,secret=binary").instance(0), 500, "2:q,7:5")
    >>> ReducedSamples.of(drawn).cruel(2).tolist()
    [0, 1]
    """
    family = LINEAR_FORMS.need(instance.family)
    parts = [_PROFILE.fullmatch(part.strip()) for part in profile.split(",")]
    wide = [p[2] for p in parts if p for _ in range(int(p[1]))]
    if None in parts or len(wide) != family.n:
        raise UsageError(
            f"{profile[:60]} given: COLUMNS:DEVIATION for all n={family.n} columns, q where they "
            "are uniform, as 60:q,196:12.5 for n=256"
        )
    require_memory(24 * count * (family.n + 1), f"{count} samples of {family}")
    rng = generator(instance.hidden.seed, "reduced", family.spec, profile)
    columns = [
        rng.integers(0, family.q, count)
        if one == "q"
        else np.rint(rng.normal(0, float(one), count))
        for one in wide
    ]
    return label(instance, np.stack(columns, axis=1).astype(np.int64) % family.q, "reduced")
