"""Parameters of LWE problems: samples (a, <a, s> + e) mod q, laws of s and e, number of samples.

They are taken from a family, or read from the same words with more general values. These include
moduli of thousands of bits, errors of any width, and rounding to a p that does not divide q.
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
from numpy.typing import ArrayLike
from scipy.special import xlog1py

from hardness.lwe import laws
from hardness.lwe.laws import Law, brief_count
from instances import numbers
from instances.errors import UsageError, unknown
from instances.family import Family, require
from instances.parameters import completed, key_values, split_list
from instances.secrets import Integers
from instances.text import cut

_LEAST_INFORMATION = 1e-20  # bits of a label; smaller numbers are rounding errors
_MOST_BITS = 1 << 16  # of a modulus
_MOST_N = 1 << 20
_MOST_SAMPLES = 1 << 1000
_MOST_ROWS = 1 << 62  # largest number of samples in arrays of integers
_GRID = 1 << 16
_PARTS = 8  # steps in which spent samples are used a second time
_NARROW = 0.05  # deviation over q up to which errors do not wrap around


@dataclass(frozen=True, kw_only=True)
class LweParameters:
    """A problem of samples (a, <a, s> + e) mod q.

    secret, error: laws of an entry of s and of e; error is None if there is no error. size_bits:
    log2 of the number of secrets. information: most bits of information on <a, s> in a label.
    samples: the number of labels, None for any number. spent: samples that were used to replace the
    secret by errors. again: how many of these are used again as samples, whose errors are entries
    of the original secret.

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
        """The natural logarithm of the modulus, which may be beyond float64."""
        return math.log(self.q)

    @property
    def log2_q(self) -> float:
        """log2 of the modulus."""
        return log2(self.q)

    @property
    def unique_bits(self) -> float:
        """The bits that determine a secret: log2 of the number of likely secrets."""
        bits = self.size_bits
        if self.secret.weight is None:
            bits = min(bits, self.n * self.secret.entropy)
        return max(1.0, bits)

    @property
    def unique(self) -> int:
        """The number of labels that leave one candidate on average, which attacks need."""
        return math.ceil(self.unique_bits / self.information)

    def single(self, success: float) -> int:
        """Return the number of labels that leave no other candidate with a probability.

        It follows from the union bound.
        """
        return math.ceil((self.unique_bits - log2(1 - success)) / self.information)

    @property
    def too_few(self) -> str:
        """The reason why there are too few samples for any attack; empty if there are enough."""
        if self.samples is None or self.samples >= self.unique:
            return ""
        leave = "1 sample leaves" if self.samples == 1 else f"{self.samples} samples leave"
        return f"{leave} several secrets: {self.unique} single one out"

    @property
    def rows(self) -> int | None:
        """The number of samples (a, b), at most 2^62; None for any number."""
        return None if self.samples is None else min(self.samples, _MOST_ROWS)

    def label_bits(self, m: ArrayLike) -> Any:
        """Compute log2 of the labels of m samples (a, b), including the spent ones."""
        rows = math.inf if self.rows is None else self.rows - self.again
        return np.log2(np.maximum(np.minimum(m, rows) + self.spent, 1e-300))

    def reading(self, m: ArrayLike) -> Any:
        """Compute log2 of the entries that an attack reads, of m samples or at least `unique`."""
        return log2(self.n) + np.maximum(self.label_bits(m), log2(self.unique))

    @property
    def no_rows(self) -> str:
        """The reason if there are no samples (a, b); empty if there are some."""
        return "no samples are given out" if self.rows == 0 else ""

    @property
    def no_lattice(self) -> str:
        """The reason why no lattice attack applies; empty if they do."""
        if self.q == 2:
            return "q = 2: a flip is as large as the modulus"
        if self.error is None or not self.error.deviation:
            return "no error: linear algebra does it"
        return self.no_rows if self.secret.deviation else "there is one secret only"

    def shifted(self) -> "LweParameters":
        """Return the problem after the likeliest values of secret and error are subtracted.

        >>> parse_parameters("lwe:n=64,q=97,sigma=1,secret=binary,h=60").shifted().secret.weight
        4
        """
        error = self.error and self.error.shifted(self.samples or 0)
        return replace(self, secret=self.secret.shifted(self.n), error=error)

    def normal(self) -> "LweParameters":
        """Return the normal form, whose secret is the errors of n samples. [ACPS09]

        The problem is returned unchanged if its secret is not wider than the error, or if too few
        samples would remain.

        >>> parse_parameters("lwe:n=64,q=3329,sigma=3", samples=200).normal().rows
        136
        """
        narrow = self.error is None or self.error.ln_deviation >= self.secret.ln_deviation
        if narrow or (self.rows is not None and self.rows <= self.n):
            return self
        return self._replaced(0)

    def forms(self) -> list["LweParameters"]:
        """List the equivalent problems that an attack may be applied to.

        n samples with errors e replace the secret s by e. They can also be used as samples of e
        whose errors are entries of s. The forms use different numbers of them a second time. With
        all n and no other samples, s and e are swapped.

        >>> wide = parse_parameters("lwe:n=64,q=97,sigma=1,secret=gaussian,spread=2", 96)
        >>> [(form.rows, form.again) for form in wide.forms()][:4]
        [(96, 0), (32, 0), (40, 8), (48, 16)]
        """
        error, law, rows = self.error, self.secret, self.rows
        if error is None or error.ln_deviation >= law.ln_deviation or (rows or self.n) < self.n:
            return [self]
        if law.log_bias == -math.inf:  # samples with uniform errors tell nothing
            return [self.normal()]
        if rows is None or not math.isfinite(law.deviation):
            return [self, self.normal()]
        again = sorted({-(-self.n * i // _PARTS) for i in range(_PARTS + 1)})
        return [self, *map(self._replaced, again)]

    def _replaced(self, again: int) -> "LweParameters":
        """Replace the secret by n errors, and use `again` of their samples a second time."""
        error, rows = self.error, None if self.rows is None else self.rows - self.n + again
        assert error is not None
        share = again / rows if rows else 0.0
        kept = (1 - share) * self.information
        return replace(
            self,
            secret=replace(error, weight=None),
            error=laws.mixed(error, self.secret, share) if again else error,
            size_bits=self.n * error.entropy,
            information=kept + share * max(0.0, self.log2_q - self.secret.entropy),
            samples=rows,
            spent=self.n,
            again=again,
        )


# ---- from families


def parameters_of(family: Family, samples: int | None = None) -> LweParameters:
    """Return the parameters of a family; raises UsageError for families without LWE samples.

    >>> from instances import parse
    >>> rounded = parameters_of(parse("lwr:n=512,q=8192,p=1024,secret=cbd,spread=5"))
    >>> rounded.error.values, round(rounded.error.deviation, 3)
    (8, 2.291)
    """
    forms = family.linear_forms or family.refuse("linear_forms")
    secrets, q, wide = forms.secrets, forms.secrets.q, forms.interval
    secret = _table(secrets.entries, secrets.kind, q) if secrets.entries else _uniform_mod(q)
    error = None
    if forms.errors is not None and len(forms.errors.values) > 1:
        error = _table(forms.errors, forms.errors.kind, q)
    elif wide > 1:
        error = laws.uniform(-((wide - 1) // 2), wide // 2, q)
    problem = LweParameters(
        n=secrets.n,
        q=q,
        secret=laws.sparse(secret, secrets.n, secrets.h) if secrets.h else secret,
        error=error,
        size_bits=log2(secrets.size),
        information=forms.information,
        samples=samples,
    )
    return _checked(problem, f"{family}")


def _table(entries: Integers, kind: str, q: int) -> Law:
    return laws.tabled(kind, np.array(entries.values, np.float64), entries.shares, q)


def _uniform_mod(q: int) -> Law:
    return laws.uniform(-(q // 2), q - 1 - q // 2, q)


def _checked(problem: LweParameters, text: str) -> LweParameters:
    samples, wrong = problem.samples, "labels do not depend on the secret: lower the error"
    require(
        samples is None or 0 <= samples <= _MOST_SAMPLES,
        f"samples={cut(numbers.write(samples), 60)}: 0 to 2^1000, or none for any number",
    )
    require(problem.information > _LEAST_INFORMATION, f"{cut(text, 200)}: {wrong}")
    return problem


# ---- from words

_SIZES = ("sigma", "alpha", "width", "eta")  # keys of the size of an error
KEYS = ("n", "q", "p", "error", *_SIZES, "secret", "h", "spread")
_POWER = re.compile(r"([0-9]{1,7})\^([0-9]{1,5})(?:([+-])([0-9]{1,18}))?", re.ASCII)
_DIGITS = re.compile(r"[0-9]{1,19729}", re.ASCII)


def parse_parameters(text: str, samples: int | None = None) -> LweParameters:
    """Read "lwe:n=..,q=..,.." or "lwr:..", with more values than families; raises UsageError.

    q: digits, or A^B+C. secret: binary, ternary or uniform; gaussian, cbd and tuniform with
    `spread`; range with `spread` integers around 0, or LOW..HIGH. h: the number of entries that are
    not 0. error, for lwe: gaussian with `sigma`, or `alpha` = sigma/q; cbd and tuniform with `eta`;
    uniform with `width` integers around 0, or LOW..HIGH; ternary, binary or none. Both may be lists
    [value:share,..] of probabilities with sum 1, or of integer counts of the entries that are not
    0. p, for lwr: the modulus after rounding.

    >>> parse_parameters("lwe:n=1024,q=2^25,sigma=3.19,secret=ternary,h=64").log2_q
    25.0
    """
    name, _, rest = text.strip().partition(":")
    if name not in ("lwe", "lwr"):
        raise unknown("family", name[:60], ["lwe", "lwr"])
    words, rounds = key_values(rest, name, list(KEYS)), name == "lwr"
    required = ["n", "q", *["p"] * rounds]
    if missing := [key for key in required if key not in words]:
        example = "lwr:n=512,q=8192,p=1024" if rounds else "lwe:n=512,q=3329,sigma=2"
        more = completed(name, words, required, example, parse_parameters)
        raise UsageError(f"{name} needs {', '.join(missing)}{more}")
    n, q = numbers.parse(words["n"], int, "n"), modulus(words["q"])
    require(1 <= n <= _MOST_N, f"n={n}: between 1 and {_MOST_N}")
    secret, size_bits = _secret(words, n, q)
    if rounds:
        sizes = [key for key in (*_SIZES, "error") if key in words]
        wrong = f"{', '.join(sizes)} with lwr: its error is that of rounding to p"
        require(not sizes, wrong)
        p = modulus(words["p"], "p")
        error, information = laws.rounding(p, q), log2(p)
    else:
        error = _error(words, q, samples)
        information = _information(error, q)
    problem = LweParameters(
        n=n,
        q=q,
        secret=secret,
        error=error,
        size_bits=size_bits,
        information=information,
        samples=samples,
    )
    return _checked(problem, text)


def modulus(text: str, key: str = "q") -> int:
    """Read a modulus, "3329" or "2^881+1"; raises UsageError.

    >>> modulus("2^10-3")
    1021
    """
    integer = 0
    with suppress(UsageError):
        integer = long_integer(text, key)
    wrong = f"{key} must be an integer of 2 to 2^{_MOST_BITS}, such as 3329 or 2^32+1, got "
    require(integer >= 2 and integer.bit_length() <= _MOST_BITS, wrong + cut(text, 60))
    return integer


def long_integer(text: str, subject: str) -> int:
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
        return sign * numbers.parse(digits, int, subject, any_size=True)
    return numbers.parse(text, int, subject)


def _long_fraction(text: str, subject: str) -> Fraction:
    """Read a deviation, "3.2", "1/3", "2^61" or "2^-200"; raises UsageError."""
    base, minus, power = text.strip().partition("^-")
    if minus:
        return Fraction(1, long_integer(f"{base}^{power}", subject))
    return (
        Fraction(long_integer(text, subject))
        if "^" in base
        else numbers.parse(text, Fraction, subject)
    )


def _around(width: str, key: str, q: int) -> Law:
    """Make the uniform law of a number of integers around 0, or of LOW..HIGH."""
    low, dots, high = width.partition("..")
    count = long_integer(low, key)
    ends = (count, long_integer(high, key)) if dots else (-((count - 1) // 2), count // 2)
    require(ends[0] < ends[1], f"{key}={cut(width, 60)}: at least 2 values, that rise")
    return laws.uniform(*ends, q)


def _alpha(text: str, key: str, q: int) -> Law:
    alpha = _long_fraction(text, key)
    require(0 < alpha < 1, f"alpha={text}: sigma/q, between 0 and 1")
    return laws.gaussian(alpha * q, q)


_Sized = Callable[[str, str, int], Law]  # from the text of a size, its key, and q
_LAWS: dict[str, _Sized] = {
    "alpha": _alpha,
    "gaussian": lambda sigma, key, q: laws.gaussian(_long_fraction(sigma, key), q),
    "cbd": lambda eta, key, q: laws.cbd(numbers.parse(eta, int, key), q),
    "tuniform": lambda bits, key, q: laws.tuniform(numbers.parse(bits, int, key), q),
    "range": _around,
}
_UNSIZED: dict[str, Callable[[int], Law | None]] = {
    "binary": lambda q: laws.uniform(0, 1, q),
    "ternary": lambda q: laws.uniform(-1, 1, q),
    "uniform": _uniform_mod,
    "none": lambda q: None,
}
_SECRETS: dict[str, dict[str, _Sized]] = {  # by kind: the key of its size, with the function
    **{"binary": {}, "ternary": {}, "uniform": {}},
    **{name: {"spread": _LAWS[name]} for name in ("gaussian", "cbd", "tuniform", "range")},
}
_ERRORS: dict[str, dict[str, _Sized]] = {
    "gaussian": {"sigma": _LAWS["gaussian"], "alpha": _alpha},
    **{name: {"eta": _LAWS[name]} for name in ("cbd", "tuniform")},
    **{"uniform": {"width": _around}, "binary": {}, "ternary": {}, "none": {}},
}


def _law(key: str, kind: str, words: dict[str, str], q: int, count: int) -> Law | None:
    """Read a law of `count` entries from its words; key: "secret" or "error"."""
    kinds, keys = (_ERRORS, _SIZES) if key == "error" else (_SECRETS, ("spread",))
    if not (listed := kind.startswith("[")) and kind not in kinds:
        raise unknown(key, cut(kind, 60), [*kinds, "[value:share,..]"])
    makes, sizes = {} if listed else kinds[kind], [size for size in keys if size in words]
    needed = " or ".join(f"{size}=..." for size in makes) or "no size"
    needed += f": add {next(iter(makes))}=2" if makes and not sizes else ""
    wrong = f"{key}={cut(kind, 60)} with {', '.join(sizes) or 'no size'}: it needs {needed}"
    require(set(sizes) <= set(makes) and len(sizes) == bool(makes), wrong)
    if sizes:
        return makes[sizes[0]](words[sizes[0]], sizes[0], q)
    return _listed(kind, key, count, q) if listed else _UNSIZED[kind](q)


def _secret(words: dict[str, str], n: int, q: int) -> tuple[Law, float]:
    """Return the law of the secret's entries, and log2 of the number of secrets."""
    kind = words.get("secret", "uniform")
    law = _law("secret", kind, words, q, n)
    assert law is not None
    width, wrong = law.high - law.low + 1, f"q={brief_count(q)} with secret={kind}: "
    require(width <= q, f"{wrong}its entries take {brief_count(width)} values")
    h = numbers.parse(words.get("h", "0"), int, "h")
    wrong = f"h={h} with n={n}: h, the number of entries that are not 0, must be between 1 "
    require(0 <= h <= n, wrong + "and n, or 0 to leave it open")
    if law.weight:
        require(not h, f"h={h} with counts, which have {law.weight} entries that are not 0")
        placed = math.lgamma(law.weight + 1) - sum(math.lgamma(c + 1) for _, c in law.counts)
        return law, log2(math.comb(n, law.weight)) + placed / math.log(2)
    if h:
        return laws.sparse(law, n, h), log2(math.comb(n, h)) + h * log2(law.alphabet)
    return law, n * log2(law.values)


def _error(words: dict[str, str], q: int, samples: int | None) -> Law | None:
    """Return the law of errors; None if it is constant, since a constant can be subtracted."""
    require("p" not in words, "p with lwe: it is of lwr")
    kind = words.get("error", "gaussian")
    law = _law("error", kind, words, q, samples or _MOST_ROWS)
    bare = samples is None and law is not None and law.weight is not None
    require(not bare, f"error={cut(kind, 60)} given, which counts errors: give --samples")
    return law if law and law.deviation else None


def _listed(text: str, key: str, n: int, q: int) -> Law:
    """Read a law of n entries, "[-1:1/4,0:1/2,1:1/4]" or, of counts, "[-1:16,1:48]"."""
    pairs = [part.partition(":") for part in split_list(text.strip()[1:-1])]
    start = f"{key}={cut(text, 60)}: "
    complete = text.endswith("]") and all(share.strip() for _, _, share in pairs)
    wrong = f"{start}write [-1:1/4,0:1/2,1:1/4] for probabilities, [-1:16,1:48] for counts"
    require(complete, wrong)
    shares = {
        numbers.parse(value, int, key): numbers.parse(share, Fraction, key)
        for value, _, share in pairs
    }
    require(len(shares) == len(pairs), f"{start}a value stands there twice")
    wrong = f"{start}values further apart than q={brief_count(q)} allows"
    require(max(shares) - min(shares) < q, wrong)
    listed, total = sorted(shares.items()), sum(shares.values())
    if all(share.denominator == 1 for share in shares.values()):
        wrong = f"{start}counts are of values other than 0, probabilities below 1"
        require(0 not in shares, wrong)
        return laws.fixed(tuple((value, int(count)) for value, count in listed), n, q)
    require(total == 1, f"{start}probabilities with the sum {total}: it has to be 1")
    require(min(shares.values()) > 0, f"{start}probabilities above 0 are needed")
    values, chances = np.array(listed, float).T
    return laws.tabled("law", values, chances, q)


def _information(error: Law | None, q: int) -> float:
    """Compute the bits of information on <a, s> in a label: log2 q less the entropy of e mod q."""
    if error is None:
        return log2(q)
    wide = laws.exp_or_inf(error.ln_deviation - math.log(q))
    if wide < _NARROW or error.kind != "gaussian":
        return max(0.0, log2(q) - error.entropy)
    width = f"2^{error.ln_deviation / math.log(2):.1f}"
    wrong = f"errors of standard deviation {width} with q={brief_count(q)}: labels then "
    require(wide <= 2, wrong + "say nothing, lower it")
    # The Fourier series of the density of the wrapped Gaussian, divided by its mean, less 1.
    turns, k = np.arange(min(q, _GRID)) / min(q, _GRID), np.arange(1, math.ceil(2 / wide) + 2)
    waves = 2 * np.exp(-2 * (math.pi * k * wide) ** 2) @ np.cos(2 * np.pi * np.outer(k, turns))
    x = np.maximum(waves, -1.0)  # rounding may make the density negative
    return float(np.mean(xlog1py(1 + x, x) - x)) / math.log(2)
