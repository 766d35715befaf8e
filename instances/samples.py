"""Samples (a, b) of LWE-style instances: read off attention examples, as arrays, on disk."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from instances.capabilities import LINEAR_FORMS
from instances.coded import as_coded
from instances.errors import UsageError
from instances.extras import require_extra
from instances.family import Examples, Instance, Secret
from instances.integers import Integers
from instances.limits import require_memory
from instances.modular import Modular
from instances.residues import centred, dot
from instances.streams import BitStream, generator, key

if TYPE_CHECKING:
    from pandas import DataFrame

FORMAT = "hardness-samples/1"
ENDINGS = (".prefix", ".txt", ".npz", ".safetensors")  # of the files that `save` writes
MOST_TEXT = 1 << 26  # bytes of a file of text that is read


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Samples:
    """Samples of a family: a (N, n) int64 in 0 .. q-1, codes (N,) int64, numbers of levels.

    Of LWE a code is b itself. The secret is not among them.

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

    def __repr__(self) -> str:
        return f"{len(self)} samples of {self.family}"

    @property
    def q(self) -> int:
        """The modulus."""
        return self.family.q

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
        step = self.family.rounding.step
        if step is None:
            raise UsageError(
                f"{self.family.name} given: its labels do not say where <a, s> mod q is"
            )
        return self.codes * step

    @property
    def error(self) -> Integers | None:
        """The distribution of b - <a, s> mod q; None where it is 0."""
        return self.family.rounding.error or self.family.errors

    def residuals(self, secret: Secret) -> NDArray[np.int64]:
        """Compute b - <a, s> mod q, centred: (N,)."""
        q = self.family.q
        return centred(self.b - dot(self.a, np.array(secret, np.int64), q), q)

    def evidence(self, secret: Secret) -> float:
        """Compute the bits by which the samples favour a secret over labels that are coins.

        log2 of the ratio of the probabilities; minus infinity where a label cannot be. Coins reach
        L bits with a probability of 2^-L at most.
        """
        t = dot(self.a, np.array(secret, np.int64), self.family.q)
        return float(self.family.log_ratios(t, self.codes).sum())

    def tokens(self, base: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Write a and the codes as digits in a base, the most significant first: (N, n L), (N, L).

        L is the least number of digits that writes all below q. `instances.digits.numbers` reads
        them back. Raises UsageError for a base below 2.
        """
        from instances.digits import digits

        return digits(self.a, base, self.q), digits(self.codes[:, None], base, self.q)

    def torch(self) -> Any:
        """Make a torch TensorDataset of rows (a, code), int64.

        Raises ToolkitError where the extra `torch` is not installed.
        """
        data = require_extra("torch.utils.data", "a torch Dataset")
        torch = require_extra("torch", "a torch Dataset")
        return data.TensorDataset(*(torch.tensor(part) for part in (self.a, self.codes)))

    def to_frame(self) -> "DataFrame":
        """Make a pandas DataFrame: columns a0, a1, .. and b, the codes; one row a sample."""
        import pandas as pd

        frame = pd.DataFrame(self.a, columns=[f"a{j}" for j in range(self.family.n)])
        return frame.assign(b=self.codes)

    @property
    def digest(self) -> str:
        """Hash them by content: SHA-256 of spec, a and codes, as 64-bit little-endian integers."""
        found = hashlib.sha256(self.family.spec.encode() + b"\0")
        for value in (self.a, self.codes):
            found.update(np.ascontiguousarray(value, "<i8").tobytes())
        return found.hexdigest()

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write a file by the ending of its name, without the secret.

        .npz, .safetensors: arrays a and b, their codes, and the spec. .prefix: lines
        `a_1 .. a_n ; b`, as VERDE writes them. .txt: a Darmstadt challenge where it can say the
        family, lwe with alpha alone; else the same lines. Raises UsageError, AlreadyExists.
        """
        from instances.arguments import located
        from instances.darmstadt import challenge, states
        from instances.disk import refuse_existing, write_tensors, write_text
        from instances.spec import require_stored

        where = Path(located("path", path))
        if where.suffix not in ENDINGS:
            raise UsageError(f"{path} given: end its name in {', '.join(ENDINGS)}")
        refuse_existing(where, force)
        if where.suffix in (".npz", ".safetensors"):
            require_stored(self.family, "samples of it cannot be stored")
            meta = {"format": FORMAT, "spec": self.family.spec, "sha256": self.digest}
            return write_tensors(where, {"a": self.a, "b": self.codes}, meta)
        if not len(self):
            raise UsageError(f"{path}: no samples given, a text holds at least one")
        if where.suffix == ".txt" and states(self.family):
            text = challenge(self.family, self.a, self.codes)
        else:
            rows = zip(self.a.tolist(), self.codes.tolist(), strict=True)
            text = "".join(f"{' '.join(map(str, a))} ; {b}\n" for a, b in rows)
        if len(text) > MOST_TEXT:
            raise UsageError(
                f"{path}: {len(text)} bytes of text, of which at most {MOST_TEXT} are read again: "
                "write .npz"
            )
        return write_text(where, text, force=force)


def draw_samples(instance: Instance, count: int) -> Samples:
    """Draw `count` samples of an instance, a uniform on Z_q^n; the first of more are the same.

    They are others than those of its attention examples. Raises UsageError without `linear_forms`,
    ToolkitError where labels are tabulated and q is large.

    >>> from instances import parse
    >>> draw_samples(parse("lwe:n=256,q=842791,sigma=3,secret=binary,h=20").instance(0), 1000)
    1000 samples of lwe:n=256,q=842791,sigma=3,secret=binary,h=20
    """
    family, seed = LINEAR_FORMS.need(instance.family), instance.hidden.seed
    require_memory(24 * count * (family.n + 1), f"{count} samples of {family}")
    a = generator(seed, "samples", family.spec).integers(0, family.q, (count, family.n))
    secret = instance.family.to_linear(instance.hidden.secret)
    t = dot(a, np.array(secret, np.int64), family.q)
    if family.errors is not None:
        words = BitStream(key(seed, "errors of samples", family.spec)).words(0, count)
        t = (t + family.errors.draw(words)) % family.q
    return Samples(family=family, a=a, codes=family.rounding.place(t).astype(np.int64))


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
