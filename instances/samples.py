"""Samples (a, b) of LWE-style instances: drawn, from and to attention examples, in files.

To attention: an example is z with z_0 and X_1 uniform, X_2 = X_1 * z. Where z_0 = -1 it takes the
next sample: the bits of a go into z, and the label is X_1[0] times the sample's level; elsewhere a
vector of its own is drawn, and the label is 0. For q = 2^L tokens are exactly uniform if the a of
the samples are; for a prime q an a is written as a uniform one of the L-bit numbers that are a mod
q. Back: the examples with z_0 = -1 are the samples, in their order.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from instances import residues, samplefile, tokens
from instances.arguments import located
from instances.coded import CodedExamples, as_coded
from instances.disk import write_json
from instances.family import Examples, Instance, Secret
from instances.integers import Integers
from instances.lazy import require_extra
from instances.limits import require_memory
from instances.modular import Modular
from instances.residues import centred, dot
from instances.streams import BitStream, generator, key

if TYPE_CHECKING:
    from pandas import DataFrame

SOLUTION = "hardness-samples-secret/1"
_NUMBERS = 1 << 24  # bits of z that are made at once


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Samples:
    """Samples of a family: a (N, n) int64 in 0 .. q-1, codes (N,) int64, numbers of levels.

    Of LWE a code is b itself. The secret is not among them. notes: how a file was read, in words.

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
    notes: tuple[str, ...] = ()

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

    def take(self, rows: "NDArray[np.intp] | slice") -> "Samples":
        """Return some of the samples."""
        return replace(self, a=self.a[rows], codes=self.codes[rows])

    def cut(self, start: int, stop: int) -> "Samples":
        """Return samples start .. stop-1."""
        return self.take(slice(start, stop))

    @cached_property
    def b(self) -> NDArray[np.int64]:
        """<a, s> + e mod q, (N,), e distributed as `error`: of what is rounded, the least."""
        return self.codes * self.family.rounding.width

    @property
    def error(self) -> Integers | None:
        """The law of b - <a, s> mod q; None where it is 0."""
        return self.family.rounding.error or self.family.errors

    def residuals(self, secret: Secret) -> NDArray[np.int64]:
        """Compute b - <a, s> mod q, centred: (N,)."""
        return centred(self.b - dot(self.a, np.array(secret, np.int64), self.q), self.q)

    def evidence(self, secret: Secret) -> float:
        """Compute the bits by which the samples favour a secret over labels that are coins.

        log2 of the ratio of the probabilities; minus infinity where a label cannot be. Coins reach
        L bits with a probability of 2^-L at most.
        """
        t = dot(self.a, np.array(secret, np.int64), self.q)
        return float(self.family.log_ratios(t, self.codes).sum())

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
        """Hash them by content, and their spec."""
        return samplefile.digest(self.family, self.a, self.codes)

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write a file by the ending of its name, without the secret.

        .npz, .safetensors: arrays a and b, their codes, and the spec. .csv: a line a sample,
        `a_1,..,a_n,b`. .txt: a Darmstadt challenge, of lwe with alpha alone. Raises UsageError,
        AlreadyExists.
        """
        where = Path(located("path", path))
        samplefile.write(where, self.family, self.a, self.codes, force)


def read_samples(path: Path, family: Modular | None = None, beside: Path | None = None) -> Samples:
    """Read samples as `instances.samplefile.read` does; raises UsageError, DamagedFile."""
    stated, a, codes, notes = samplefile.read(path, family, beside)
    return Samples(family=stated, a=a, codes=codes, notes=notes)


def write_secret(
    path: Path, samples: Samples, secret: Secret, seed: int, force: bool = False
) -> None:
    """Write the secret of samples, and the seed of the instance that they are from, as JSON.

    The file is readable by its owner alone. Raises AlreadyExists.
    """
    samples.family.require_member(secret)
    data = {
        "format": SOLUTION,
        "spec": samples.family.spec,
        "samples_sha256": samples.digest,
        "secret": list(secret),
        "seed": seed,
    }
    write_json(path, data, force=force, mode=0o600)


def draw_samples(instance: Instance, count: int) -> Samples:
    """Draw `count` samples of an instance, a uniform on Z_q^n; the first of more are the same.

    They are others than those of its attention examples. Raises UsageError without `linear_forms`.

    >>> from instances import parse
    >>> draw_samples(parse("lwe:n=256,q=842779,sigma=3,secret=binary,h=20").instance(0), 1000)
    1000 samples of lwe:n=256,q=842779,sigma=3,secret=binary,h=20
    """
    family = instance.family.linear_forms or instance.family.refuse("linear_forms")
    seed = instance.hidden.seed
    require_memory(24 * count * (family.n + 1), f"{count} samples of {family}")
    a = generator(seed, "samples", family.seed_spec).integers(0, family.q, (count, family.n))
    secret = instance.family.to_linear(instance.hidden.secret)
    t = dot(a, np.array(secret, np.int64), family.q)
    if family.errors is not None:
        words = BitStream(key(seed, "errors of samples", family.seed_spec)).words(0, count)
        t = (t + family.errors.draw(words)) % family.q
    return Samples(family=family, a=a, codes=family.rounding.place(t).astype(np.int64))


def samples(examples: Examples) -> Samples:
    """Read the samples off the examples with z_0 = -1; raises UsageError without `linear_forms`."""
    family = examples.family.linear_forms or examples.family.refuse("linear_forms")
    packed = as_coded(examples)
    opened = family.open(packed.words)
    return Samples(
        family=family,
        a=family.vectors(packed.words[opened]),
        codes=packed.codes[opened].astype(np.int64),
    )


def to_attention(drawn: Samples, seed: int) -> CodedExamples:
    """Turn N samples into about 2 N examples, the last of them made of the last sample.

    The label of an example says no more than its sample does. Raises ToolkitError for a large q.

    >>> from instances import parse
    >>> taken = samples(parse("lwr:n=4,q=16,p=4").instance(0).examples(0, 100))
    >>> back = samples(to_attention(taken, seed=1))
    >>> bool((back.a == taken.a).all() and (back.codes == taken.codes).all())
    True
    """
    family, rng = drawn.family, generator(seed, "reduce", drawn.family.seed_spec)
    family.require_table()
    opened = _places(len(drawn), rng)
    require_memory(
        2 * len(opened) * family.bytes_per_example, f"{len(opened)} examples of {family.spec}"
    )
    rows, used = max(1, _NUMBERS // family.d), 0
    words = np.empty((len(opened), 2, tokens.words_per_token(family.d)), np.uint64)
    for start in range(0, len(opened), rows):
        part = opened[start : start + rows]
        a = drawn.a[used : used + int(part.sum())]
        used += len(a)
        z = rng.integers(0, 2, (len(part), family.d), dtype=np.uint8)
        z[:, 0] = part
        z[part, 1:] = residues.write(a, family.length, family.q, rng)
        first = rng.integers(0, 2, z.shape, dtype=np.uint8)
        signs = 1 - 2 * np.stack([first, first ^ z], axis=1).astype(np.int8)
        words[start : start + rows] = tokens.pack(signs)
    codes = np.zeros(len(opened), family.code_type)
    codes[opened] = drawn.codes
    return CodedExamples(family=family, words=words, codes=codes)


def _places(count: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Toss z_0 until `count` of the tosses are -1: True where one is."""
    tosses = np.zeros(0, np.bool_)
    while (missing := count - int(tosses.sum())) > 0:
        tosses = np.concatenate([tosses, rng.integers(0, 2, 2 * missing + 8).astype(np.bool_)])
    ends = np.flatnonzero(tosses)
    return tosses[: ends[count - 1] + 1] if count else tosses
