"""What attacks see: samples (a, <a, s> + e) mod q, how s and e are distributed, how many there are.

Parameters are read off a family, or from the same words for those that no family takes: moduli of
thousands of bits, errors of any width, rounding to a p that does not divide q.
"""

import math
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import log2
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardness.lwe.laws import (
    MOST_LN,
    Law,
    box_log_bias,
    brief_count,
    cbd,
    exp_or_inf,
    fixed,
    gaussian,
    guess_bits,
    mixed,
    sparse,
    tabled,
    tuniform,
    uniform,
)
from instances import numbers
from instances.errors import UsageError, unknown
from instances.family import Family, require
from instances.lwe import Modular
from instances.parameters import key_values, split_list
from instances.secrets import Integers, Secrets
from instances.text import cut

_LEAST_INFORMATION = 1e-20  # bits: float64 knows nothing of less
_MOST_BITS = 1 << 16  # of a modulus
_MOST_N = 1 << 20
_MOST_SAMPLES = 1 << 1000
_MOST_ROWS = 1 << 62  # that arrays of integers count
_GRID = 1 << 16
_PARTS = 8  # in which samples that are spent count once more
_NARROW = 0.05  # of q: a deviation up to which no error wraps around


@dataclass(frozen=True, kw_only=True)
class LweParameters:
    """Samples (a, <a, s> + e) mod q as attacks see them.

    samples: how many labels there are, None for any number. size_bits: log2 of the number of
    secrets. information: the bits that a label tells of <a, s> at most. labels: how many labels
    make a sample, on average. spent: how many samples made the secret as narrow as the error, and
    again: how many of them count as samples once more, with the secret's entries for errors.

    >>> spec = "lwe:n=512,q=3329,error=cbd,eta=3,secret=cbd,spread=3"
    >>> kyber = parse_parameters(spec, samples=512)
    >>> round(kyber.size_bits), kyber.secret.deviation == kyber.error.deviation
    (1437, True)
    """

    n: int
    q: int
    secret: Law
    error: Law | None
    size_bits: float
    information: float
    samples: int | None = None
    spent: int = 0
    again: int = 0

    @cached_property
    def ln_q(self) -> float:
        """The natural logarithm of the modulus, of any size."""
        return math.log(self.q)

    @property
    def log2_q(self) -> float:
        """Bits of the modulus, as a real number."""
        return log2(self.q)

    @property
    def unique_bits(self) -> float:
        """The bits that single a secret out: log2 of how many there are but for unlikely ones."""
        bits = self.size_bits
        if self.secret.weight is None:
            bits = min(bits, self.n * self.secret.entropy)
        return max(1.0, bits)

    @property
    def unique(self) -> int:
        """The labels that leave one candidate secret on average; no attack does with fewer."""
        return math.ceil(self.unique_bits / self.information)

    def single(self, success: float) -> int:
        """The labels that leave no other candidate with some probability: by the union bound."""
        return math.ceil((self.unique_bits - log2(1 - success)) / self.information)

    @property
    def too_few(self) -> str:
        """Why no attack applies to so few samples; empty where one may."""
        if self.samples is None or self.samples >= self.unique:
            return ""
        given = "1 sample leaves" if self.samples == 1 else f"{self.samples} samples leave"
        return f"{given} several secrets: {self.unique} single one out"

    @property
    def rows(self) -> int | None:
        """How many samples (a, b) there are, 2^62 at most; None for any number."""
        return None if self.samples is None else min(self.samples, _MOST_ROWS)

    def label_bits(self, m: ArrayLike) -> Any:
        """Compute log2 of the labels that m samples (a, b) take, with those that are spent."""
        rows = math.inf if self.rows is None else self.rows - self.again
        return np.log2(np.maximum(np.minimum(m, rows) + self.spent, 1e-300))

    def reading(self, m: ArrayLike) -> Any:
        """Compute log2 of the entries of m samples, and of those that single a secret out."""
        return log2(self.n) + np.maximum(self.label_bits(m), log2(self.unique))

    @property
    def no_rows(self) -> str:
        """Why there is not one sample (a, b); empty where there are some."""
        return "no samples are given out" if self.rows == 0 else ""

    @property
    def no_lattice(self) -> str:
        """Why no attack by lattices applies; empty where they do."""
        if self.q == 2:
            return "q = 2: a flip is as large as the modulus"
        if self.error is None or not self.error.deviation:
            return "no error: linear algebra does it"
        return self.no_rows if self.secret.deviation else "there is one secret only"

    def shifted(self) -> "LweParameters":
        """Subtract the likeliest values of secrets and errors, which is public.

        >>> parse_parameters("lwe:n=64,q=97,sigma=1,secret=binary,h=60").shifted().secret.weight
        4
        """
        error = self.error and self.error.shifted(self.samples or 0)
        return replace(self, secret=self.secret.shifted(self.n), error=error)

    def normal(self) -> "LweParameters":
        """Take the secret distributed as the error, for n of the samples, where it is narrower.

        The problem itself where the secret is narrow already, or too few samples are left. [ACPS09]

        >>> parse_parameters("lwe:n=64,q=3329,sigma=3", samples=200).normal().rows
        136
        """
        narrow = self.error is None or self.error.ln_deviation >= self.secret.ln_deviation
        if narrow or (self.rows is not None and self.rows <= self.n):
            return self
        return self._replaced(0)

    def forms(self) -> list["LweParameters"]:
        """List the forms that attacks may take: some, all or none of the secret are errors.

        n samples turn the secret s into their errors e, and are samples of e with the errors s
        after that, of which j count. With all n and no others s and e are swapped.

        >>> wide = parse_parameters("lwe:n=64,q=97,sigma=1,secret=gaussian,spread=2", 96)
        >>> [(form.rows, form.again) for form in wide.forms()][:4]
        [(96, 0), (32, 0), (40, 8), (48, 16)]
        """
        error, law, rows = self.error, self.secret, self.rows
        if error is None or error.ln_deviation >= law.ln_deviation or (rows or self.n) < self.n:
            return [self]
        if law.log_bias == -math.inf:  # as samples they say nothing, and as secrets no less
            return [self.normal()]
        if rows is None or not math.isfinite(law.deviation):
            return [self, self.normal()]
        again = sorted({-(-self.n * i // _PARTS) for i in range(_PARTS + 1)})
        return [self, *map(self._replaced, again)]

    def _replaced(self, again: int) -> "LweParameters":
        """Make the secret of n errors, and count `again` of their samples once more."""
        error, rows = self.error, None if self.rows is None else self.rows - self.n + again
        assert error is not None
        share = again / rows if rows else 0.0
        kept = (1 - share) * self.information
        return replace(
            self,
            secret=replace(error, weight=None),
            error=mixed(error, self.secret, share) if again else error,
            size_bits=self.n * error.entropy,
            information=kept + share * max(0.0, self.log2_q - self.secret.entropy),
            samples=rows,
            spent=self.n,
            again=again,
        )


# ---- of families


def parameters_of(family: Family, samples: int | None = None) -> LweParameters:
    """Read off a family what attacks need; raises UsageError for families without samples.

    >>> from instances import parse
    >>> found = parameters_of(parse("lwr:n=512,q=8192,p=1024,secret=cbd,spread=5"))
    >>> found.error.alphabet + 1, round(found.error.deviation, 3)
    (8, 2.291)
    """
    found = family.linear_forms or family.refuse("linear_forms")
    _check_samples(samples)
    secrets = found.secrets
    return _with_information(
        f"{family}",
        LweParameters(
            n=secrets.n,
            q=secrets.q,
            secret=_secret(secrets),
            error=_error(found, secrets.q),
            size_bits=log2(found.secrets.size),
            information=found.information,
            samples=samples,
        ),
    )


def _check_samples(samples: int | None) -> None:
    require(
        samples is None or 0 <= samples <= _MOST_SAMPLES,
        f"samples={cut(numbers.write(samples), 60)} given: 0 to 2^1000, or none for any number",
    )


def _secret(secrets: Secrets) -> Law:
    entries, q = secrets.entries, secrets.q
    law = _uniform_on_all(q) if entries is None else _law(secrets.kind, entries, q)
    return sparse(law, secrets.n, secrets.h) if secrets.h else law


def _law(kind: str, entries: Integers, q: int) -> Law:
    values = np.array(entries.values, np.float64)
    return tabled(kind, values, entries.shares, q)


def _error(family: Modular, q: int) -> Law | None:
    if family.errors is not None and len(family.errors.values) > 1:
        return _law(family.errors.kind, family.errors, q)
    wide = family.interval
    return uniform(-((wide - 1) // 2), wide // 2, q) if wide > 1 else None


def _with_information(text: str, found: LweParameters) -> LweParameters:
    require(
        found.information > _LEAST_INFORMATION,
        f"{cut(text, 200)} given: labels do not depend on the secret: lower the error",
    )
    return found


# ---- of words

_SIZES = ("sigma", "alpha", "width", "eta")  # of an error
KEYS = ("n", "q", "p", "error", *_SIZES, "secret", "h", "spread")
_POWER = re.compile(r"([0-9]{1,7})\^([0-9]{1,5})(?:([+-])([0-9]{1,18}))?", re.ASCII)
_DIGITS = re.compile(r"[0-9]{1,19729}", re.ASCII)


def parse_parameters(text: str, samples: int | None = None) -> LweParameters:
    """Read "lwe:n=..,q=..,.." or "lwr:..", beyond what families take; raises UsageError.

    q: digits, or A^B+C. secret: binary, ternary, uniform, gaussian, cbd and tuniform (with
    `spread`), range (`spread` integers around 0, or LOW..HIGH); h: how many entries are not 0.
    error, of lwe: gaussian (`sigma`, or `alpha` = sigma/q), cbd and tuniform (`eta`), uniform
    (`width` integers around 0, or LOW..HIGH), ternary, binary or none. Both may be a list
    [value:share,..]: of probabilities with sum 1, or of integers, which count the entries that are
    not 0. p, of lwr: what q is rounded to.

    >>> parse_parameters("lwe:n=1024,q=2^25,sigma=3.19,secret=ternary,h=64").log2_q
    25.0
    >>> round(parse_parameters("lwr:n=512,q=3329,p=1000,secret=cbd,spread=2").error.deviation, 2)
    0.92
    """
    _check_samples(samples)
    name, _, rest = text.strip().partition(":")
    if name not in ("lwe", "lwr"):
        raise unknown("family", name[:60], ["lwe", "lwr"])
    given = key_values(rest, name, list(KEYS))
    for key in ("n", "q", *(["p"] if name == "lwr" else [])):
        example = "lwr:n=512,q=8192,p=1024,.." if name == "lwr" else "lwe:n=512,q=3329,.."
        require(key in given, f"{name} needs {key}: write {example}")
    n, q = numbers.parse(given["n"], int, "n"), modulus(given["q"])
    require(1 <= n <= _MOST_N, f"n={n} given: between 1 and {_MOST_N}")
    secret, size_bits = _secret_of(given, n, q)
    error = _rounding(given, q) if name == "lwr" else _error_of(given, q, samples)
    if error and not error.deviation:  # all errors are the same: one takes it off
        error = None
    found = LweParameters(
        n=n,
        q=q,
        secret=secret,
        error=error,
        size_bits=size_bits,
        information=log2(modulus(given["p"], "p")) if name == "lwr" else _information(error, q),
        samples=samples,
    )
    return _with_information(text, found)


def modulus(text: str, key: str = "q") -> int:
    """Read a modulus, "3329" or "2^881+1"; raises UsageError.

    >>> modulus("2^10-3")
    1021
    """
    integer = 0
    with suppress(UsageError):
        integer = long_integer(text, key)
    require(
        integer >= 2 and integer.bit_length() <= _MOST_BITS,
        f"{key} must be an integer of 2 to 2^{_MOST_BITS}, such as 3329 or 2^32+1, got "
        f"{cut(text, 60)}",
    )
    return integer


def long_integer(text: str, what: str) -> int:
    """Read an integer of up to 19729 digits, "-3329", "2e4" or "2^881+1"; raises UsageError.

    >>> long_integer("-2^80", "width") == -(2**80)
    True
    """
    sign, digits = (-1, text.strip()[1:]) if text.strip()[:1] == "-" else (1, text.strip())
    power = _POWER.fullmatch(digits)
    if power and int(power[2]) * max(1, int(power[1]).bit_length()) <= 2 * _MOST_BITS:
        added = int(power[4] or 0)
        return sign * int(power[1]) ** int(power[2]) + (-added if power[3] == "-" else added)
    if _DIGITS.fullmatch(digits):
        return sign * numbers.parse(digits, int, what, any_size=True)
    return numbers.parse(text, int, what)


def _long_fraction(text: str, what: str) -> Fraction:
    """Read a number of a deviation, "3.2", "1/3", "2^61" or "2^-200"; raises UsageError."""
    base, minus, power = text.strip().partition("^-")
    if minus:
        return Fraction(1, long_integer(f"{base}^{power}", what))
    if base.count("^"):
        return Fraction(long_integer(text, what))
    return numbers.parse(text, Fraction, what)


def _uniform_on_all(q: int) -> Law:
    return uniform(-(q // 2), q - 1 - q // 2, q)


_SIZED: dict[str, Callable[[str, str, int], Law]] = {  # laws by a size, its key, and q
    "gaussian": lambda size, key, q: gaussian(_long_fraction(size, key), q),
    "cbd": lambda size, key, q: cbd(numbers.parse(size, int, key), q),
    "tuniform": lambda size, key, q: tuniform(numbers.parse(size, int, key), q),
    "range": lambda size, key, q: _around(size, key, q),
}
_SMALL = {"binary": (0, 1), "ternary": (-1, 1)}
_SECRETS = (*_SMALL, "uniform", *_SIZED)
_ERRORS = {  # the keys of their sizes
    **{"gaussian": ("sigma", "alpha"), "cbd": ("eta",), "tuniform": ("eta",)},
    **{"uniform": ("width",), "binary": (), "ternary": (), "none": ()},
}


def _secret_of(given: dict[str, str], n: int, q: int) -> tuple[Law, float]:
    """Return the law of the secret's entries, and log2 of the number of secrets."""
    kind = given.get("secret", "uniform")
    if kind not in _SECRETS and not kind.startswith("["):
        raise unknown("secret", cut(kind, 60), [*_SECRETS, "[value:share,..]"])
    require(
        ("spread" in given) == (kind in _SIZED),
        f"secret={cut(kind, 60)} given {'without' if kind in _SIZED else 'with'} spread: it is the "
        "standard deviation of gaussian, eta of cbd and tuniform, the values of range, and of no "
        "other",
    )
    if kind.startswith("["):
        law = _listed(kind, "secret", n, q)
    elif kind in _SIZED:
        law = _SIZED[kind](given["spread"], "spread", q)
    else:
        law = uniform(*_SMALL[kind], q) if kind in _SMALL else _uniform_on_all(q)
    width = law.high - law.low + 1
    require(
        width <= q,
        f"q={brief_count(q)} given with secret={kind}: its entries take {brief_count(width)} "
        "values",
    )
    h = numbers.parse(given.get("h", "0"), int, "h")
    require(
        0 <= h <= n,
        f"h={h} given with n={n}: h, the number of entries that are not 0, must be between 1 and "
        "n, or 0 to leave it open",
    )
    if law.weight:
        require(not h, f"h={h} given with counts, which have {law.weight} entries that are not 0")
        placed = math.lgamma(law.weight + 1) - sum(math.lgamma(c + 1) for _, c in law.counts)
        return law, log2(math.comb(n, law.weight)) + placed / math.log(2)
    if h:
        return sparse(law, n, h), log2(math.comb(n, h)) + h * log2(law.alphabet)
    return law, n * log2(law.values)


def _around(width: str, key: str, q: int) -> Law:
    """Read a number of integers around 0, or LOW..HIGH."""
    low, dots, high = width.partition("..")
    count = long_integer(low, key)
    ends = (count, long_integer(high, key)) if dots else (-((count - 1) // 2), count // 2)
    require(ends[0] < ends[1], f"{key}={cut(width, 60)} given: at least 2 values, that rise")
    return uniform(*ends, q)


def _listed(text: str, key: str, n: int, q: int) -> Law:
    """Read a law of n entries, "[-1:1/4,0:1/2,1:1/4]" or, of counts, "[-1:16,1:48]"."""
    pairs = [part.partition(":") for part in split_list(text.strip()[1:-1])]
    said = f"{key}={cut(text, 60)} given: "
    require(
        text.endswith("]") and all(share.strip() for _, _, share in pairs),
        said + "write [-1:1/4,0:1/2,1:1/4] for probabilities, [-1:16,1:48] for counts",
    )
    read = {
        numbers.parse(value, int, key): numbers.parse(share, Fraction, key)
        for value, _, share in pairs
    }
    require(len(read) == len(pairs), said + "a value stands there twice")
    require(
        max(read) - min(read) < q, said + f"values further apart than q={brief_count(q)} allows"
    )
    listed = sorted(read.items())
    if all(share.denominator == 1 for share in read.values()):
        require(0 not in read, said + "counts are of values other than 0, probabilities below 1")
        return fixed(tuple((value, int(count)) for value, count in listed), n, q)
    total = sum(read.values())
    require(total == 1, said + f"probabilities with the sum {total}: it has to be 1")
    require(min(read.values()) > 0, said + "probabilities above 0 are needed")
    values, shares = np.array(listed, float).T
    return tabled("law", values, shares, q)


def _error_of(given: dict[str, str], q: int, samples: int | None) -> Law | None:
    require("p" not in given, "p given with lwe: it is of lwr")
    kind, named = given.get("error", "gaussian"), [key for key in _SIZES if key in given]
    if kind.startswith("["):
        require(not named, f"{', '.join(named)} given with error={cut(kind, 60)}: it has all")
        law = _listed(kind, "error", samples or _MOST_ROWS, q)
        bare = samples is None and law.weight is not None
        require(not bare, f"error={cut(kind, 60)} given, which counts errors: give --samples")
        return law
    if kind not in _ERRORS:
        raise unknown("error", cut(kind, 60), [*_ERRORS, "[value:share,..]"])
    keys = _ERRORS[kind]
    require(
        set(named) <= set(keys) and len(named) == bool(keys),
        f"error={kind} given with {', '.join(named) or 'no size'}: it needs "
        f"{' or '.join(f'{key}=...' for key in keys) or 'no size'}",
    )
    if kind in _SMALL:
        return uniform(*_SMALL[kind], q)
    if kind == "none":
        return None
    [key] = named
    if key == "alpha":
        alpha = _long_fraction(given[key], key)
        require(0 < alpha < 1, f"alpha={given[key]} given: sigma/q, between 0 and 1")
        return gaussian(alpha * q, q)
    return _SIZED["range" if kind == "uniform" else kind](given[key], key, q)


def _rounding(given: dict[str, str], q: int) -> Law | None:
    """Make the error of rounding to p: uniform on about q/p values."""
    named = [k for k in (*_SIZES, "error") if k in given]
    require(not named, f"{', '.join(named)} given with lwr: its error is that of rounding to p")
    p = modulus(given["p"], "p")
    require(2 <= p <= q, f"p={given['p']} given with q={brief_count(q)}: between 2 and q")
    if p == q:
        return None
    if q % p == 0:
        count = q // p
        return uniform(-((count - 1) // 2), count // 2, q)
    high = min(q // p // 2 + 1, (q - 1) // 2)  # the parts have floor(q/p) or one more values
    ln_width = math.log(q) - math.log(p)
    require(
        ln_width < MOST_LN / 2,
        f"p={given['p']} given with q={brief_count(q)}: a p that divides q",
    )
    width = math.exp(ln_width)
    return replace(
        uniform(-high, high, q),
        ln_deviation=(math.log((q - p) * (q + p)) - math.log(12)) / 2 - math.log(p),
        entropy=log2(q) - log2(p),
        log_bias=box_log_bias(math.exp(math.log(math.pi) - math.log(p)), width),
        zero=1 / width,
        guesses=guess_bits(2 * high, 1 / width),
    )


def _information(error: Law | None, q: int) -> float:
    """Compute the bits that a label tells of <a, s>: log2 q less the entropy of e mod q."""
    if error is None:
        return log2(q)
    wide = exp_or_inf(error.ln_deviation - math.log(q))
    if wide < _NARROW or error.kind != "gaussian":
        return max(0.0, log2(q) - error.entropy)
    width = f"2^{error.ln_deviation / math.log(2):.1f}"
    require(
        wide <= 2,
        f"errors of standard deviation {width} given with q={brief_count(q)}: labels then "
        "say nothing, lower it",
    )
    from scipy.special import xlog1py

    # The density of the wrapped Gaussian over its mean, less 1, by its Fourier series.
    count = min(q, _GRID)
    turns = np.arange(count) / count
    x: NDArray[np.float64] = np.zeros(count)
    for k in range(1, math.ceil(2 / wide) + 2):
        x += 2 * math.exp(-2 * (math.pi * k * wide) ** 2) * np.cos(2 * np.pi * k * turns)
    x = np.maximum(x, -1.0)  # a density that rounds to less than 0
    terms = xlog1py(1 + x, x) - x
    return float(np.mean(terms)) / math.log(2)
