"""What attacks see: samples (a, <a, s> + e) mod q, how s and e are distributed, how many there are.

A problem is read off a family, or from the same words for parameters that no family takes: moduli
of thousands of bits, errors of any width, rounding to a p that does not divide q.
"""

import math
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import log2

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from instances import numbers
from instances.errors import unknown
from instances.family import Family, require
from instances.lwe import Modular
from instances.parameters import key_values, split_list
from instances.secrets import Integers, Secrets
from instances.text import cut

_TABLE = 1 << 12  # a deviation up to which a Gaussian is tabulated
_REACH = math.sqrt(2 * (64 * math.log(2) - math.log(_TABLE * math.sqrt(2 * math.pi))))
_LEAST_INFORMATION = 1e-20  # bits: float64 knows nothing of less
_MOST_BITS = 1 << 16  # of a modulus
_MOST_N = 1 << 20
_MOST_ROWS = 1 << 62  # that arrays of integers count
_GRID = 1 << 16
_PARTS = 8  # in which samples that are spent count once more
_SMALL_ANGLE = 1e-3
_ROUNDING = 1e-12
_WIDEST_SPARSE = 1e150  # a root mean square whose square is a float64
_MOST_LN = 700.0  # of a float64
_NARROW = 0.05  # of q: a deviation up to which no error wraps around


@dataclass(frozen=True, kw_only=True)
class Law:
    """The distribution of an entry of the secret, or of an error.

    deviation: about the mean. low, high: the least and the largest value; of a Gaussian, where its
    mass falls below 2^-64. zero: the probability of 0. entropy: bits of an entry. guesses: bits of
    the expected guesses of an entry, at most. log_bias: ln |E exp(2 pi i x/q)|. weight: how many
    entries are not 0, exactly; None where they are independent. counts: of each value but 0, where
    it stands exactly so often. some: how many values there are, where not all of low .. high. mode:
    the likeliest value, if it is not 0, and peak its probability.

    >>> ternary = uniform(-1, 1, q=3329)
    >>> round(ternary.deviation, 3), ternary.alphabet
    (0.816, 2)
    """

    kind: str
    mean: float
    deviation: float
    low: int
    high: int
    zero: float
    entropy: float
    guesses: float
    log_bias: float
    weight: int | None = None
    counts: tuple[tuple[int, int], ...] = ()
    some: int | None = None
    mode: int = 0
    peak: float = 0.0

    @property
    def ln_deviation(self) -> float:
        """The logarithm of the standard deviation, beyond what floats hold as well."""
        if math.isfinite(self.deviation):
            return math.log(self.deviation) if self.deviation else -math.inf
        span = 2 * _REACH if self.kind == "gaussian" else math.sqrt(12)
        return math.log(self.high - self.low + 1) - math.log(span)

    def shifted(self, n: int) -> "Law":
        """Subtract the likeliest value from each of n entries.

        >>> law = fixed(((1, 60), (2, 3)), n=64, q=97).shifted(64)
        >>> law.counts, law.weight, law.low, law.high
        (((-1, 1), (1, 3)), 4, -1, 1)
        """
        mode, zero, weight, counts = self.mode, self.peak, self.weight, self.counts
        if weight and not counts and self.alphabet == 1 and n < 2 * weight < 2 * n:
            mode, zero, weight = self.low or self.high, weight / n, n - weight
        elif not mode:
            return self
        elif weight:
            placed = [(0, n - weight)] if weight < n else []
            counts = tuple((v - mode, c) for v, c in sorted([*counts, *placed]) if v != mode)
            weight = sum(c for _, c in counts)
        return replace(
            self,
            mean=self.mean - mode,
            low=self.low - mode,
            high=self.high - mode,
            zero=zero,
            weight=weight,
            counts=counts,
            mode=0,
        )

    @property
    def values(self) -> int:
        """How many values an entry takes."""
        return self.some or self.high - self.low + 1

    @property
    def alphabet(self) -> int:
        """How many values other than 0 an entry takes."""
        return self.values - (self.zero > 0 if self.some else self.low <= 0 <= self.high)

    def log2_signs(self, most: int) -> NDArray[np.float64]:
        """Compute log2 of how many ways w entries other than 0 take values: (w = 0 .. most,).

        >>> (2 ** fixed(((-1, 1), (1, 2)), n=6, q=97).log2_signs(4)).round(6).tolist()
        [1.0, 2.0, 3.0, 3.0, 0.0]
        """
        w = np.arange(most + 1.0)
        if not self.counts:
            return w * log2(max(1, self.alphabet))
        found = np.where(w == 0, 0.0, -math.inf)  # of w!/(a! b! ..), less w!
        for _, count in self.counts:
            taken = np.arange(min(count, most) + 1)
            rest = np.arange(most + 1)[:, None] - taken
            ways = np.where(rest >= 0, found[rest] - gammaln(taken + 1) / math.log(2), -math.inf)
            found = np.logaddexp2.reduce(ways, axis=1)
        return found + gammaln(w + 1) / math.log(2)

    @property
    def rms(self) -> float:
        """The root of the mean square."""
        return math.hypot(self.mean, self.deviation)


def tabled(kind: str, values: NDArray[np.float64], shares: NDArray[np.float64], q: int) -> Law:
    """Make a law of its values and their probabilities, (k,) each; q: the modulus, of log_bias."""
    shares = shares / shares.sum()
    mean = float(shares @ values)
    deviation = math.sqrt(max(0.0, float(shares @ (values - mean) ** 2)))
    kept = shares[shares > 0]
    likeliest = np.flatnonzero(shares >= shares.max() * (1 - _ROUNDING))
    mode = likeliest[np.argmin(np.round(abs(values[likeliest] - mean), 9))]
    return Law(
        kind=kind,
        mean=mean,
        deviation=deviation,
        low=int(values[0]),
        high=int(values[-1]),
        zero=float(shares[values == 0].sum()),
        entropy=max(0.0, -float(kept @ np.log2(kept))),
        guesses=2 * log2(float(np.sqrt(kept).sum())),
        some=len(kept) if len(kept) < values[-1] - values[0] + 1 else None,
        log_bias=_log_bias(values - mean, shares, q, deviation),
        mode=int(values[mode]),
        peak=float(shares[mode]),
    )


def _log_bias(
    values: NDArray[np.float64], shares: NDArray[np.float64], q: int, deviation: float
) -> float:
    angles = 2 * math.pi * values * math.exp(-math.log(q))
    missing = 2 * float(shares @ np.sin(angles / 2) ** 2)  # 1 - the cosine's mean, all its digits
    square = (1 - missing) ** 2 + float(shares @ np.sin(angles)) ** 2
    if missing < _SMALL_ANGLE:
        return math.log1p(-missing)
    if square > 1e-20:
        return math.log(square) / 2
    return _wide(math.log(deviation), q)  # the sum is rounding there


def _wide(ln_deviation: float, q: int) -> float:
    """Compute ln |E exp(2 pi i x/q)| of a Gaussian: -2 pi^2 sigma^2/q^2."""
    return -2 * _exp(2 * (math.log(math.pi) + ln_deviation - math.log(q)))


def _exp(ln: float) -> float:
    return math.exp(ln) if ln < _MOST_LN else math.inf


def gaussian(sigma: float | Fraction, q: int) -> Law:
    """Describe the discrete Gaussian, weights exp(-x^2 / (2 sigma^2)).

    >>> round(gaussian(3.2, q=3329).entropy, 3), gaussian(3.2, q=3329).high
    (3.725, 29)
    """
    require(sigma > 0, f"a standard deviation of {cut(str(sigma), 60)} given: it must be above 0")
    if sigma <= _TABLE:
        sigma = float(sigma)
        density = min(1.0, 1 / (sigma * math.sqrt(2 * math.pi))) if sigma else 1.0
        high = max(1, int(sigma * math.sqrt(2 * math.log(density * 2.0**64))))
        values = np.arange(-high, high + 1.0)
        weights = np.exp(-((values / sigma) ** 2) / 2) if sigma else (values == 0) + 0.0
        return tabled("gaussian", values, weights, q)
    sigma = Fraction(sigma)
    high = int(sigma * Fraction(_REACH))
    ln_sigma = math.log(sigma.numerator) - math.log(sigma.denominator)
    return Law(
        kind="gaussian",
        mean=0.0,
        deviation=_exp(ln_sigma),
        low=-high,
        high=high,
        zero=math.exp(-ln_sigma) / math.sqrt(2 * math.pi),
        entropy=(ln_sigma + math.log(2 * math.pi * math.e) / 2) / math.log(2),
        guesses=(ln_sigma + math.log(8 * math.pi) / 2) / math.log(2),
        log_bias=_wide(ln_sigma, q),
    )


def cbd(eta: int, q: int) -> Law:
    """Describe the centred binomial: eta coins less eta others. [ADPS16]

    >>> cbd(2, q=3329).deviation
    1.0
    """
    require(1 <= eta <= 512, f"eta={eta} given: a centred binomial takes 1 to 512")
    weights = np.array([math.comb(2 * eta, i) / 4**eta for i in range(2 * eta + 1)])
    return tabled("cbd", np.arange(-eta, eta + 1.0), weights, q)


def uniform(low: int, high: int, q: int) -> Law:
    """Describe the uniform distribution on low .. high.

    >>> uniform(0, 1, q=97).mean
    0.5
    """
    count = high - low + 1
    require(
        1 <= count <= q, f"{_brief(count)} values given with q={_brief(q)}: at least 1, at most q"
    )
    ln = math.log(count)
    ln_deviation = (ln * 2 + math.log1p(-(1 / count**2)) - math.log(12)) / 2 if count > 1 else 0.0
    angle = math.exp(math.log(math.pi) + ln - math.log(q))
    if count == q:
        log_bias = -math.inf
    elif angle < _SMALL_ANGLE:  # the quotient loses its digits there
        log_bias = -(angle**2) / 6 * (1 - 1 / count**2)
    else:
        turn = math.exp(math.log(math.pi) - math.log(q))
        log_bias = math.log(math.sin(angle) / angle * (turn / math.sin(turn) if turn else 1))
    return Law(
        kind={(0, 1): "binary", (-1, 1): "ternary"}.get((low, high), "uniform"),
        mean=(low + high) / 2 if count < q and (low + high).bit_length() < 1000 else 0.0,
        deviation=_exp(ln_deviation) if count > 1 else 0.0,
        low=low,
        high=high,
        zero=1 / count if low <= 0 <= high else 0.0,
        entropy=log2(count),
        guesses=log2(count),
        log_bias=log_bias,
        mode=max(low, min(0, high)),
        peak=1 / count,
    )


def tuniform(bits: int, q: int) -> Law:
    """Describe integers of -2^b .. 2^b, both ends half as likely as the others.

    >>> law = tuniform(1, q=97)
    >>> round(law.deviation**2, 6), round(law.entropy, 6), law.values
    (1.5, 2.25, 5)
    """
    require(0 <= bits <= 256, f"{bits} bits given: TUniform takes 0 to 256")
    half, count = 1 << bits, 2.0 ** (bits + 1)
    inner = uniform(1 - half, half, q)  # half of it, the other half is one less
    return replace(
        inner,
        kind="tuniform",
        mean=0.0,
        deviation=math.sqrt((count**2 / 2 + 1) / 6),
        low=-half,
        entropy=log2(count) + 1 / count,
        guesses=2 * log2(count - 1 + math.sqrt(2)) - log2(count),
        log_bias=inner.log_bias + math.log(abs(math.cos(math.pi / q))),
    )


def fixed(counts: tuple[tuple[int, int], ...], n: int, q: int) -> Law:
    """Make each value other than 0 stand so often among n entries, at random places.

    >>> law = fixed(((-1, 16), (1, 48)), n=256, q=3329)
    >>> law.mean, law.weight, round(law.deviation, 4)
    (0.125, 64, 0.4841)
    """
    weight = sum(count for _, count in counts)
    require(
        0 < weight <= n and all(count > 0 for _, count in counts),
        f"counts of {weight} entries given: each at least 1, and {n} together at most",
    )
    zeros = [(0, n - weight)] if weight < n else []
    values, shares = np.array(sorted([*counts, *zeros]), float).T
    return replace(tabled("counts", values, shares, q), weight=weight, counts=counts)


def sparse(law: Law, n: int, weight: int) -> Law:
    """Make `weight` of n entries other than 0, at random places, each by a law but for its 0.

    >>> law = sparse(uniform(-1, 1, q=3329), n=64, weight=16)
    >>> law.deviation, law.zero
    (0.5, 0.75)
    """
    require(1 <= weight <= n, f"{weight} entries that are not 0 given: between 1 and n = {n}")
    share = weight / n
    kept = 1 - law.zero
    require(kept > 0, "an entry that is always 0 given: no entry can be anything else")
    require(
        law.rms < _WIDEST_SPARSE,
        f"h or weight given with entries of size {law.rms:g}: take less than {_WIDEST_SPARSE:g}, "
        "or leave it out",
    )
    inner = law.mean / kept
    square = share * (law.rms**2 / kept)
    variance = square - (share * inner) ** 2
    surprise = (law.entropy - _coin(law.zero)) / kept  # of an entry that is not 0
    return replace(
        law,
        mean=share * inner,
        deviation=math.sqrt(variance) if variance > _ROUNDING * square else 0.0,
        low=min(law.low, 0),
        high=max(law.high, 0),
        zero=1 - share,
        entropy=_coin(share) + share * max(0.0, surprise),
        guesses=_alike(law.alphabet, 1 - share),
        weight=weight,
        some=law.alphabet + (share < 1) if law.some or not law.low <= 0 <= law.high else None,
        mode=0,
    )


def _mixed(law: Law, other: Law, share: float) -> Law:
    """Mix two laws, `share` of the entries being of the other: means of logarithms, of bits."""

    def mean(name: str) -> float:
        return float((1 - share) * getattr(law, name) + share * getattr(other, name))

    return replace(
        law,
        kind="mixed",
        deviation=_exp(mean("ln_deviation")),
        low=min(law.low, other.low),
        high=max(law.high, other.high),
        zero=mean("zero"),
        entropy=mean("entropy"),
        guesses=mean("guesses"),
        log_bias=mean("log_bias"),
        weight=None,
        counts=(),
        some=None,
    )


def _alike(alphabet: int, zero: float) -> float:
    """Bound the bits of guesses by those of values other than 0 that are all alike. [Arikan96]"""
    kept = math.log2(alphabet) + math.log2(1 - zero) if zero < 1 else -math.inf
    return 2 * float(np.logaddexp2(math.log2(zero) / 2 if zero else -math.inf, kept / 2))


def _coin(rate: float) -> float:
    return 0.0 if not 0 < rate < 1 else -rate * log2(rate) - (1 - rate) * log2(1 - rate)


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Samples (a, <a, s> + e) mod q as attacks see them.

    samples: how many labels there are, None for any number. size_bits: log2 of the number of
    secrets. information: the bits that a label tells of <a, s> at most. labels: how many labels
    make a sample, on average. spent: how many samples made the secret as narrow as the error, and
    again: how many of them count as samples once more, with the secret's entries for errors.

    >>> kyber = read("lwe:n=512,q=3329,error=cbd,eta=3,secret=cbd,spread=3", samples=512)
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
        return f"{self.samples} samples leave several secrets: {self.unique} single one out"

    @property
    def rows(self) -> int | None:
        """How many samples (a, b) there are, 2^62 at most; None for any number."""
        return None if self.samples is None else min(self.samples, _MOST_ROWS)

    def label_bits(self, m: int) -> float:
        """Compute log2 of the labels that m samples (a, b) take, with those that are spent."""
        fresh = m if self.rows is None else min(m, self.rows - self.again)
        return log2(fresh + self.spent)

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
        return "" if self.secret.deviation else "there is one secret only"

    def shifted(self) -> "Problem":
        """Subtract the likeliest values of secrets and errors, which is public.

        >>> read("lwe:n=64,q=97,sigma=1,secret=binary,h=60").shifted().secret.weight
        4
        """
        error = self.error and self.error.shifted(self.samples or 0)
        return replace(self, secret=self.secret.shifted(self.n), error=error)

    def normal(self) -> "Problem":
        """Take the secret distributed as the error, for n of the samples, where it is narrower.

        The problem itself where the secret is narrow already, or too few samples are left. [ACPS09]

        >>> read("lwe:n=64,q=3329,sigma=3", samples=200).normal().rows
        136
        """
        narrow = self.error is None or self.error.ln_deviation >= self.secret.ln_deviation
        if narrow or (self.rows is not None and self.rows <= self.n):
            return self
        return self._replaced(0)

    def forms(self) -> list["Problem"]:
        """List the forms that attacks may take: some, all or none of the secret are errors.

        n samples turn the secret s into their errors e, and are samples of e with the errors s
        after that, of which j count. With all n and no others s and e are swapped.

        >>> wide = read("lwe:n=64,q=97,sigma=1,secret=gaussian,spread=2", 96)
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

    def _replaced(self, again: int) -> "Problem":
        """Make the secret of n errors, and count `again` of their samples once more."""
        error, rows = self.error, None if self.rows is None else self.rows - self.n + again
        assert error is not None
        share = again / rows if rows else 0.0
        kept = (1 - share) * self.information
        return replace(
            self,
            secret=replace(error, weight=None),
            error=_mixed(error, self.secret, share) if again else error,
            size_bits=self.n * error.entropy,
            information=kept + share * max(0.0, self.log2_q - self.secret.entropy),
            samples=rows,
            spent=self.n,
            again=again,
        )


# ---- of families


def problem(family: Family, samples: int | None = None) -> Problem:
    """Read off a family what attacks need; raises UsageError for families without samples.

    >>> from instances import parse
    >>> found = problem(parse("lwr:n=512,q=8192,p=1024,secret=cbd,spread=5"))
    >>> found.error.alphabet + 1, round(found.error.deviation, 3)
    (8, 2.291)
    """
    found = family.linear_forms or family.refuse("linear_forms")
    require(samples is None or samples >= 0, f"samples={samples} given: 0 or more are needed")
    secrets = found.secrets
    return _told(
        f"{family}",
        Problem(
            n=secrets.n,
            q=secrets.q,
            secret=_secret(secrets),
            error=_error(found, secrets.q),
            size_bits=log2(found.secrets.size),
            information=found.information,
            samples=samples,
        ),
    )


def _secret(secrets: Secrets) -> Law:
    half = secrets.q // 2
    entries, q = secrets.entries, secrets.q
    law = uniform(-half, q - 1 - half, q) if entries is None else _law(secrets.kind, entries, q)
    return sparse(law, secrets.n, secrets.h) if secrets.h else law


def _law(kind: str, entries: Integers, q: int) -> Law:
    values = np.array(entries.values, np.float64)
    return tabled(kind, values, entries.shares, q)


def _error(family: Modular, q: int) -> Law | None:
    if family.errors is not None and len(family.errors.values) > 1:
        return _law(family.errors.kind, family.errors, q)
    wide = family.interval
    return uniform(-((wide - 1) // 2), wide // 2, q) if wide > 1 else None


def _told(given: str, found: Problem) -> Problem:
    require(
        found.information > _LEAST_INFORMATION,
        f"{cut(given, 200)} given: labels do not depend on the secret: lower the error",
    )
    return found


# ---- of words

_SIZES = ("sigma", "alpha", "width", "eta", "weight")  # of an error
KEYS = ("n", "q", "p", "error", *_SIZES, "secret", "h", "spread")
_SECRETS = ("binary", "ternary", "uniform", "gaussian", "cbd", "range", "tuniform")
_POWER = re.compile(r"([0-9]{1,7})\^([0-9]{1,5})(?:([+-])([0-9]{1,18}))?", re.ASCII)
_DIGITS = re.compile(r"[0-9]{1,19729}", re.ASCII)


def read(text: str, samples: int | None = None) -> Problem:
    """Read "lwe:n=..,q=..,.." or "lwr:..", beyond what families take; raises UsageError.

    q: digits, or A^B+C. secret: binary, ternary, uniform, gaussian, cbd and tuniform (with
    `spread`), range (`spread` integers around 0, or LOW..HIGH); h: how many entries are not 0.
    error, of lwe: gaussian (`sigma`, or `alpha` = sigma/q), cbd and tuniform (`eta`), uniform
    (`width` integers around 0, or LOW..HIGH), ternary or binary, of which `weight` among all
    samples are not 0. Both may be a list [value:share,..]: of probabilities with sum 1, or of
    integers, which count the entries that are not 0. p, of lwr: what q is rounded to.

    >>> read("lwe:n=1024,q=2^25,sigma=3.19,secret=ternary,h=64").log2_q
    25.0
    >>> round(read("lwr:n=512,q=3329,p=1000,secret=cbd,spread=2").error.deviation, 2)
    0.92
    """
    require(samples is None or samples >= 0, f"samples={samples} given: 0 or more are needed")
    name, _, rest = text.strip().partition(":")
    if name not in ("lwe", "lwr"):
        raise unknown("family", name[:60], ["lwe", "lwr"])
    given = key_values(rest, name, list(KEYS))
    for key in ("n", "q", *(["p"] if name == "lwr" else [])):
        require(key in given, f"{name} needs {key}: write {name}:n=512,q=3329,..")
    n, q = numbers.parse(given["n"], int, "n"), modulus(given["q"])
    require(1 <= n <= _MOST_N, f"n={n} given: between 1 and {_MOST_N}")
    secret, size_bits = _secret_of(given, n, q)
    error = _rounding(given, q) if name == "lwr" else _error_of(given, q, samples)
    if error and not error.deviation:  # all errors are the same: one takes it off
        error = None
    found = Problem(
        n=n,
        q=q,
        secret=secret,
        error=error,
        size_bits=size_bits,
        information=log2(modulus(given["p"])) if name == "lwr" else _information(error, q),
        samples=samples,
    )
    return _told(text, found)


def modulus(text: str) -> int:
    """Read a modulus, "3329" or "2^881+1"; raises UsageError.

    >>> modulus("2^10-3")
    1021
    """
    integer = long_integer(text, "q")
    require(
        integer >= 2 and integer.bit_length() <= _MOST_BITS,
        f"q={cut(text, 60)} given: an integer of 2 to 2^{_MOST_BITS}, such as 3329 or 2^32+1",
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


def _brief(q: int) -> str:
    return str(q) if q < 10**18 else f"2^{log2(q):.2f}"


def _secret_of(given: dict[str, str], n: int, q: int) -> tuple[Law, float]:
    """Return the law of the secret's entries, and log2 of the number of secrets."""
    kind = given.get("secret", "uniform")
    if kind not in _SECRETS and not kind.startswith("["):
        raise unknown("secret", cut(kind, 60), [*_SECRETS, "[value:share,..]"])
    wide = kind in ("gaussian", "cbd", "range", "tuniform")
    require(
        ("spread" in given) == wide,
        f"secret={cut(kind, 60)} given {'without' if wide else 'with'} spread: it is the standard "
        "deviation of gaussian, eta of cbd and tuniform, the values of range, and of no other",
    )
    half = q // 2
    if kind.startswith("["):
        law = _listed(kind, "secret", n, q)
    elif kind == "tuniform":
        law = tuniform(numbers.parse(given["spread"], int, "spread"), q)
    elif kind == "gaussian":
        law = gaussian(_long_fraction(given["spread"], "spread"), q)
    elif kind == "cbd":
        law = cbd(numbers.parse(given["spread"], int, "spread"), q)
    elif kind == "range":
        law = _around(given["spread"], "spread", q)
    elif kind == "uniform":
        law = uniform(-half, q - 1 - half, q)
    else:
        law = uniform(0 if kind == "binary" else -1, 1, q)
    width = law.high - law.low + 1
    require(
        width <= q,
        f"q={_brief(q)} given with secret={kind}: its entries take {_brief(width)} values",
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


def _around(width: str | int, key: str, q: int) -> Law:
    """Read a number of integers around 0, or LOW..HIGH."""
    low, dots, high = str(width).partition("..")
    if dots:
        ends = long_integer(low, key), long_integer(high, key)
    else:
        count = width if isinstance(width, int) else long_integer(width, key)
        ends = -((count - 1) // 2), count // 2
    require(ends[0] < ends[1], f"{key}={cut(str(width), 60)} given: at least 2 values, that rise")
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
    require(max(read) - min(read) < q, said + f"values further apart than q={_brief(q)} allows")
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
    kind = given.get("error", "gaussian")
    sizes = {
        "gaussian": ("sigma", "alpha"),
        "cbd": ("eta",),
        "tuniform": ("eta",),
        "uniform": ("width",),
        "binary": ("weight",),
        "ternary": ("weight",),
        "none": (),
    }
    named = [k for k in _SIZES if k in given]
    if kind.startswith("["):
        require(not named, f"{', '.join(named)} given with error={cut(kind, 60)}: it has all")
        law = _listed(kind, "error", samples or _MOST_ROWS, q)
        require(
            samples is not None or law.weight is None,
            f"error={cut(kind, 60)} given without a number of samples, of which it counts: "
            "--samples",
        )
        return law
    if kind not in sizes:
        raise unknown("error", cut(kind, 60), [*sizes, "[value:share,..]"])
    free = kind in ("none", "binary", "ternary")
    allowed = not named if kind == "none" else len(named) == 1 or (free and not named)
    require(
        allowed and all(k in sizes[kind] for k in named),
        f"error={kind} given with {', '.join(named) or 'no size'}: it needs "
        f"{' or '.join(f'{k}=...' for k in sizes[kind]) or 'no size'}"
        f"{' or nothing' if free and sizes[kind] else ''}",
    )
    if kind == "none":
        return None
    if kind in ("binary", "ternary"):
        law = uniform(0 if kind == "binary" else -1, 1, q)
        if not named:
            return law
        require(
            samples is not None,
            f"weight={given['weight']} given without a number of samples: it counts the errors "
            "that are not 0 among all of them: --samples",
        )
        assert samples is not None
        return sparse(law, samples, numbers.parse(given["weight"], int, "weight"))
    if kind == "cbd":
        return cbd(numbers.parse(given["eta"], int, "eta"), q)
    if kind == "tuniform":
        return tuniform(numbers.parse(given["eta"], int, "eta"), q)
    if kind == "uniform":
        return _around(given["width"], "width", q)
    if "sigma" in given:
        return gaussian(_long_fraction(given["sigma"], "sigma"), q)
    alpha = _long_fraction(given["alpha"], "alpha")
    require(0 < alpha < 1, f"alpha={given['alpha']} given: sigma/q, between 0 and 1")
    return gaussian(alpha * q, q)


def _rounding(given: dict[str, str], q: int) -> Law | None:
    """Make the error of rounding to p: uniform on about q/p values."""
    named = [k for k in (*_SIZES, "error") if k in given]
    require(not named, f"{', '.join(named)} given with lwr: its error is that of rounding to p")
    p = modulus(given["p"])
    require(2 <= p <= q, f"p={given['p']} given with q={_brief(q)}: between 2 and q")
    if p == q:
        return None
    if q % p == 0:
        return _around(q // p, "width", q)
    high = min(q // p // 2 + 1, (q - 1) // 2)  # the parts have floor(q/p) or one more values
    ln_width = math.log(q) - math.log(p)
    require(ln_width < _MOST_LN / 2, f"p={given['p']} given with q={_brief(q)}: a p that divides q")
    width = math.exp(ln_width)
    return replace(
        uniform(-high, high, q),
        deviation=math.sqrt((width**2 - 1) / 12),
        entropy=log2(q) - log2(p),
        log_bias=math.log(math.sin(math.pi / p) / (width * math.sin(math.pi / p / width))),
        zero=1 / width,
        guesses=_alike(2 * high, 1 / width),
    )


def _information(error: Law | None, q: int) -> float:
    """Compute the bits that a label tells of <a, s>: log2 q less the entropy of e mod q."""
    if error is None:
        return log2(q)
    wide = _exp(error.ln_deviation - math.log(q))
    if wide < _NARROW or error.kind != "gaussian":
        return max(0.0, log2(q) - error.entropy)
    width = f"2^{error.ln_deviation / math.log(2):.1f}"
    require(
        wide <= 2,
        f"errors of standard deviation {width} given with q={_brief(q)}: labels then "
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
