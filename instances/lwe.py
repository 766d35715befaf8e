"""Functions of <a, s> mod q as two-token attention layers: LWR, LWE and LPN.

Tokens are uniform on {-1,+1}^(2 x d), z = X_1 * X_2. A vector a of Z_q^n is written in the bits of
z: coordinate 1 + j L + b is -1 where bit b of a_j is 1, for d = n L + 1. For q = 2^L a is exactly
uniform; for another q the L bits of a number are reduced mod q, and a is uniform up to a
statistical distance of n q / 2^(L+2). Coordinate 0 is public. A family has a distribution of
secrets s in Z_q^n, a distribution of errors e, which are independent of a and of s, and a number of
codes. Z_q is cut into as many equal intervals; the code is the index of one, and has a level:

    Y[l, 0] = X[l, 0] * level of (<a, s> + e) mod q where z_0 = -1, else 0,

and 0 in every other column. With w_{j,b} = 2^b s_j mod q, centred, t = <w, bits> is an integer that
is <a, s> mod q. Any function of t is a sum of steps: a head at c contributes a tanh(beta (t - c)),
c a half-integer, with theta_j = beta w_j and beta = 40. In float64 these are exact steps: tanh(20)
is 1 there. [Regev05, BPR12]
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from instances import residues
from instances.coded import Coded, HiddenSet
from instances.errors import ToolkitError, UsageError
from instances.family import Hardness, Secret, require
from instances.layer import AttentionLayer
from instances.limits import require_memory
from instances.parameters import OneOf, Range
from instances.residues import centred, is_power_of_two, is_prime, next_prime
from instances.secrets import (
    ENTRIES,
    Integers,
    Secrets,
    bernoulli,
    centred_binomial,
    gaussian,
    uniform,
)
from instances.streams import BitStream

BETA = 40.0  # the slope of heads: tanh(BETA/2) is 1 in float64
MOST_LAW_VALUES = 1 << 15  # of a distribution that a certificate lists
_MIN_SPREAD = Fraction(1, 8)  # of a Gaussian secret: above it 1 and -1 have positive probability
_MAX_TABLE = 1 << 20  # largest q of tables over Z_q
_MAX_LAYER = 1 << 16  # largest q of a layer
_SPARE_BITS = 30  # beyond those of n q, for a number that is reduced mod q
_LABEL_TEXT = (  # how labels follow from what is stored
    "bit j of a token is 1 where coordinate j is -1; bits 1 {bits}; Y[l,0] = X[l,0] * {factor} "
    "where z_0 = -1, code = {code}; else 0, as all other columns"
)
_BITS_TEXT = "+ jL .. of X_1 xor X_2 are a_j"
_ERROR_SIZES = {"gaussian": ("sigma", "alpha"), "uniform": ("width",), "cbd": ("eta",), "none": ()}


@dataclass(frozen=True, kw_only=True)
class Modular(Coded):
    """A family of functions of <a, s> mod q; a subclass defines `errors` and `outcomes`.

    n: the dimension of a and s. q: a prime or a power of two; any number if `composite`. secret:
    binary, ternary, uniform, gaussian or cbd. h: the number of entries other than 0; 0 for any.
    spread: the standard deviation of a gaussian secret, or eta of cbd.
    """

    noise = Fraction(0)  # label errors are `errors`, not flips
    former: ClassVar[tuple[str, ...]] = ("beta=40", "bits=0", "heads=saturated", "labels=formula")
    composite: ClassVar[bool] = False
    noisy_parities: ClassVar[bool] = False  # parities of hidden bits, flipped at one rate
    rising: ClassVar[bool] = False  # levels by code: -1, -1 + 2/q, ... if true, else 1, ..., -1
    assumed: ClassVar[str | None] = None  # assumption on all algorithms; None without one
    exact_text: ClassVar[str] = "without error linear algebra learns the labels, linear in s"
    default_learners = ("bruteforce", "mitm", "primal", "modlinear", "lowdegree", "mlp")
    n: Annotated[int, Range(1, 1 << 16)]
    q: Annotated[int, Range(2, 1 << 48)]
    secret: Annotated[str, OneOf(tuple(ENTRIES))] = "uniform"
    h: Annotated[int, Range(0)] = 0
    spread: Annotated[Fraction, Range(0)] = Fraction(0)

    @property
    def linear_forms(self) -> "Modular":
        """The family itself."""
        return self

    def problem(self) -> dict[str, Any]:
        """The modulus, the distributions of secrets and errors, and the labels; raises UsageError.

        >>> from instances import parse
        >>> parse("lwr:n=64,q=256,p=2,secret=binary,h=6").problem()["secret"]
        {'weight': 6, 'entries': [1, ['1']]}
        """
        reason = obstacle(self)
        require(not reason, f"{self}: {reason}")
        errors, law = self.errors, self.secrets.law
        counts = law and [str(law.get(v, 0)) for v in range(min(law), max(law) + 1)]
        return {
            "kind": "residues",
            "n": self.n,
            "q": self.q,
            "bits": self.length,
            "secret": {"weight": self.h, "entries": law and [min(law), counts]},
            "labels": "residue" if self.interval == 1 else "interval",
            "parts": self.outcomes,
            "errors": errors and [errors.values[0], [str(count) for count in errors.counts]],
        }

    def check(self) -> None:
        """Refuse a modulus or a distribution that is not supported; raises UsageError."""
        if not (self.composite or is_power_of_two(self.q) or is_prime(self.q)):
            raise UsageError(
                f"q must be a power of two or a prime for {self.name}, as "
                f"{1 << self.q.bit_length()} or {next_prime(self.q)}, got {self.q}"
            )
        _ = self.secrets  # raises for parameters out of range
        require(
            self.errors is None or self.interval == 1,
            f"{self.name} takes no errors: each residue needs a code of its own",
        )

    # ---- distributions and labels

    @cached_property
    def secrets(self) -> Secrets:
        """The distribution of the secret."""
        return Secrets(kind=self.secret, n=self.n, q=self.q, h=self.h, spread=self.spread)

    @property
    def errors(self) -> Integers | None:
        """The distribution of e; None without errors."""
        return None

    @property
    def outcomes(self) -> int:
        """The number of codes, a divisor of q: by default one for each residue."""
        return self.q

    @property
    def interval(self) -> int:
        """The number of consecutive residues with the same code, t // interval."""
        return self.q // self.outcomes

    @property
    def hardness(self) -> Hardness:
        """Exact for statistical queries if members are independent; else by an assumption."""
        if self.assumed is None:
            return super().hardness
        linear = self.interval == 1 and self.errors is None
        known = {"easy": self.exact_text} if linear else {"assumption": self.assumed}
        proved = "independent members: exact for statistical queries, and lattice attacks ask none"
        if reason := obstacle(self):
            return Hardness(evidence="assumption", proved=f"no certificate: {reason}", **known)
        return Hardness(evidence="exact", proved=proved, **known)

    @property
    def _ratios(self) -> tuple[range, int]:
        """The numerators of the levels, and their denominator."""
        codes = self.outcomes
        if codes > _MAX_TABLE:
            self.require_table()
        if self.rising:
            return range(-codes, codes, 2), codes
        return range(codes - 1, -codes, -2), codes - 1

    @property
    def levels(self) -> tuple[Fraction, ...]:
        """The levels of labels, by code."""
        numerators, denominator = self._ratios
        return tuple(Fraction(v, denominator) for v in numerators)

    @cached_property
    def factors(self) -> NDArray[np.float64]:
        """The levels in float64, by code."""
        numerators, denominator = self._ratios
        return np.array(numerators, np.float64) / denominator

    @cached_property
    def table(self) -> NDArray[np.intp]:
        """The code of each element of Z_q, (q,)."""
        self.require_table()
        return np.arange(self.q) // self.interval

    @cached_property
    def response(self) -> NDArray[np.float64]:
        """The mean of the label's factor, by <a, s> mod q: (q,)."""
        return self.means[self.table]

    @cached_property
    def means(self) -> NDArray[np.float64]:
        """The mean of the label's factor, by the code without error."""
        if self.errors is None:
            return self.factors
        out = np.zeros(self.q)  # with errors, codes are residues
        for e, share in zip(self.errors.values, self.errors.shares, strict=True):
            out += share * np.roll(self.factors, -e)
        return out

    @cached_property
    def shares(self) -> tuple[Fraction, ...]:
        """The probability of each level; errors do not change it."""
        self.require_table()
        return (Fraction(1, self.outcomes),) * self.outcomes

    @cached_property
    def chances(self) -> NDArray[np.float64]:
        """The distribution of the error of a code, mod the number of codes: (outcomes,)."""
        self.require_table()
        law = self.errors or uniform([0])
        codes = np.array(law.values) % self.outcomes
        return np.bincount(codes, law.shares, self.outcomes).astype(np.float64)

    @cached_property
    def channel(self) -> NDArray[np.float64]:
        """The probability of each code (column), by the code without error (row): (L, L)."""
        codes = np.arange(self.outcomes)
        return self.chances[(codes - codes[:, None]) % self.outcomes]

    def log_ratios(self, t: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Compute log2 Pr[code | <a, s> = t] / Pr[code | t uniform]: (n,), (n,) -> (n,)."""
        chances = self.chances[(codes - self.table[t]) % self.outcomes]
        with np.errstate(divide="ignore"):
            return np.log2(chances * self.outcomes)

    @cached_property
    def information(self) -> float:
        """The mutual information of an informative label and a uniform <a, s>, in bits."""
        return self.errors.information(self.q) if self.errors else math.log2(self.outcomes)

    @property
    def error_rate(self) -> float:
        """The probability that an error moves <a, s> mod q."""
        return 1 - self.errors.residues(self.q)[0] / 2**64 if self.errors else 0.0

    def require_table(self, limit: int = _MAX_TABLE) -> None:
        """Refuse to tabulate Z_q for q above a limit; raises ToolkitError."""
        if self.q > limit:
            raise ToolkitError(
                f"{self}: layers need q of at most {_MAX_LAYER}, examples and labels one of "
                f"at most {_MAX_TABLE}; its cost can be estimated at any q"
            )

    # ---- members

    @property
    def size(self) -> int:
        """The number of secrets."""
        return self.secrets.size

    def members(self) -> Iterator[Secret] | None:
        """List the secrets, sparse ones first."""
        return self.secrets.listed()

    def draw(self, rng: np.random.Generator) -> Secret:
        """Draw a secret with at least one entry that is a unit of Z_q."""
        return self.secrets.draw(rng)

    def require_member(self, secret: Secret) -> None:
        """Refuse a vector that is not a secret of this family; raises UsageError."""
        self.secrets.require(secret)

    # ---- tokens and labels

    @cached_property
    def length(self) -> int:
        """L, the number of bits that encode one entry of a."""
        if is_power_of_two(self.q):
            return self.q.bit_length() - 1
        return (self.n * self.q).bit_length() + _SPARE_BITS

    @property
    def d(self) -> int:  # type: ignore[override]
        """The dimension of a token, n L + 1."""
        return self.n * self.length + 1

    def vectors(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Read a from packed tokens (n, 2, words): (n, family.n), in 0 .. q-1."""
        return residues.read(words, self.n, self.length, self.q)

    def inner(self, secret: Secret, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Compute <a, s> mod q of packed tokens (n, 2, words): (n,)."""
        return residues.weigh(words, self.weights(secret)) % self.q

    def disturb(self, stream: BitStream, start: int, count: int) -> NDArray[Any]:
        """Draw the errors e of examples start .. start+count-1: (count,)."""
        if self.errors is None:
            return np.zeros(count, np.int64)
        return self.errors.draw(stream.words(start, count))

    def codes(
        self, secret: Secret, words: NDArray[np.uint64], errors: NDArray[Any]
    ) -> NDArray[np.unsignedinteger[Any]]:
        """Compute the codes table[(<a, s> + e) mod q] where z_0 = -1: (n,)."""
        self.require_table()
        codes = self.table[(self.inner(secret, words) + errors) % self.q]
        return (codes * self.open(words)).astype(self.code_type)

    def computed(self, secret: Secret, x: NDArray[Any]) -> NDArray[np.float64]:
        """Evaluate F, which the layer computes: (n, 2, d) -> (n, 2, d)."""
        return self.mean(secret, x)

    def expected(self, words: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Evaluate the baseline's factor, the mean of the response: (n, 2, words) -> (n,)."""
        return np.full(len(words), self.response.mean())

    @property
    def mean_variance(self) -> float:
        """The variance of the response over a uniform element of Z_q."""
        return float(self.response.var())

    # ---- the layer

    @cached_property
    def reach(self) -> tuple[int, int]:
        """The range low .. high that contains t for every secret."""
        low, high = self.secrets.ends(self.length)
        entries = self.h or self.n
        return entries * low, entries * high

    def weights(self, secret: Secret) -> NDArray[np.int64]:
        """Compute w_{j,b} = 2^b s_j mod q, centred: (d - 1,)."""
        self.require_member(secret)
        w = [centred(np.array(secret, np.int64), self.q)]
        for _ in range(1, self.length):
            w.append(centred(2 * w[-1], self.q))
        return np.stack(w, axis=1).reshape(-1)

    @cached_property
    def layer_heads(self) -> int:
        """An upper bound on the heads of a member: K + 2 for K steps of the response in t."""
        low, high = self.reach
        steps = self.response != np.roll(self.response, 1)  # from t - 1 to t
        periods, rest = divmod(high - low, self.q)
        in_rest = steps[(low + 1 + np.arange(rest)) % self.q]
        return periods * int(steps.sum()) + int(in_rest.sum()) + 2

    def steps(self, secret: Secret) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """Write the mean factor by steps in t: positions c (K,), sizes a (K,), and a constant."""
        self.require_table(_MAX_LAYER)
        weights = self.weights(secret)
        low, high = int(weights[weights < 0].sum()), int(weights[weights > 0].sum())
        values = self.response[np.arange(low, high + 1) % self.q]
        jumps = np.flatnonzero(values[1:] != values[:-1])
        places = (low + 0.5 + jumps).astype(np.float64)
        return places, (values[jumps + 1] - values[jumps]) / 2, float(values[0] + values[-1]) / 2

    def layer(self, secret: Secret) -> AttentionLayer:
        """Build the layer: Theta_i = diag(theta_i), W_i = a_i e_0 e_0^T, padded with zero heads.

        There is a head for each step, one for the constant, and one without logits that makes the
        sum of all a_i zero; without it that sum would differ between secrets.
        """
        places, sizes, constant = self.steps(secret)
        k, d, inner = len(sizes), self.d, np.arange(1, self.d)
        heads = max(self.layer_heads, k + 2)
        require_memory(16 * heads * d**2, f"the layer of {self.spec}, {heads} heads,")
        theta, w = np.zeros((2, heads, d, d))
        theta[:k, inner, inner] = BETA * self.weights(secret)
        theta[:k, 0, 0] = -BETA * places
        w[:k, 0, 0] = sizes
        theta[k, 0, 0] = BETA / 2
        w[k, 0, 0] = constant / math.tanh(BETA / 2)
        w[k + 1, 0, 0] = -w[:, 0, 0].sum()
        return AttentionLayer(theta=theta, w=w)

    def layer_tolerance(self, layer: AttentionLayer) -> float:
        """Add to the rounding error the amount by which heads miss a step, 1 - tanh(beta/2)."""
        slope = 1 - math.tanh(BETA / 2)
        return super().layer_tolerance(layer) + slope * float(np.abs(layer.w[:, 0, 0]).sum())


@dataclass(frozen=True, kw_only=True)
class Lwr(Modular):
    """Members floor((p/q) <a, s>) mod p, written 1 - 2 v/(p - 1) for v = 0 .. p - 1.

    p: a divisor of q. The other parameters are those of Modular. Raises UsageError out of range.
    [BPR12]

    >>> Lwr(n=8, q=16, p=2, secret="binary", h=4).layer_heads
    9
    """

    name: ClassVar[str] = "lwr"
    revision: ClassVar[int] = 2
    example: ClassVar[str] = "lwr:n=8,q=16,p=2,secret=binary,h=4"
    about: ClassVar[str] = "learning with rounding: the top of <a, s> mod q, K + 2 heads"
    label_text: ClassVar[str] = _LABEL_TEXT.format(
        bits=_BITS_TEXT, factor="(1 - 2 code/(p - 1))", code="floor(p <a,s> / q) mod p"
    )
    assumed: ClassVar[str] = "learning with rounding is hard [BPR12]"
    exact_text: ClassVar[str] = "with p = q linear algebra learns the labels, linear in s"

    p: int

    def check(self) -> None:
        """Refuse a p that does not divide q; raises UsageError."""
        require(
            2 <= self.p <= self.q and self.q % self.p == 0,
            f"p must be at least 2 and divide q = {self.q}, got {self.p}: every part of Z_q then "
            "has the same size",
        )
        super().check()

    @property
    def outcomes(self) -> int:
        """The number of intervals."""
        return self.p


@dataclass(frozen=True, kw_only=True)
class Lwe(Modular):
    """Labels 2 ((<a, s> + e) mod q)/q - 1; the layer is their mean, given a.

    error: gaussian, with the standard deviation `sigma`, or `alpha` = sigma/q; uniform, on `width`
    integers around 0 (2: on 0 and 1); cbd, centred binomial with `eta` bits on each side; or none.
    The other parameters are those of Modular. Raises UsageError out of range. [Regev05]

    >>> Lwe(n=8, q=17, sigma=Fraction(1)).errors.values[-1]
    9
    """

    name: ClassVar[str] = "lwe"
    revision: ClassVar[int] = 2
    example: ClassVar[str] = "lwe:n=8,q=17,sigma=1"
    about: ClassVar[str] = "learning with errors: <a, s> + e mod q, the layer is the mean"
    label_text: ClassVar[str] = _LABEL_TEXT.format(
        bits=f"{_BITS_TEXT}, mod q", factor="(2 code/q - 1)", code="<a,s> + e mod q"
    )
    assumed: ClassVar[str] = "learning with errors is hard [Regev05]"
    composite: ClassVar[bool] = True
    rising: ClassVar[bool] = True

    sigma: Fraction = Fraction(0)
    alpha: Fraction = Fraction(0)
    error: Annotated[str, OneOf(tuple(_ERROR_SIZES))] = "gaussian"
    width: Annotated[int, Range(0, 1 << 16)] = 0
    eta: Annotated[int, Range(0, 64)] = 0

    def check(self) -> None:
        """Refuse sizes that do not belong to the kind of error; raises UsageError."""
        given = [n for names in _ERROR_SIZES.values() for n in names if getattr(self, n)]
        sizes = _ERROR_SIZES[self.error]
        lacking = f"none: write {self},{sizes[0]}=2" if sizes else ""
        require(
            len(given) == bool(sizes)
            and all(name in sizes and getattr(self, name) > 0 for name in given),
            f"error={self.error} needs {' or '.join(f'{name}=...' for name in sizes) or 'no size'} "
            f"alone, above 0, got {', '.join(given) or lacking}",
        )
        require(
            self.width <= self.q - 1,
            f"width must be at most q - 1 = {self.q - 1}, got {self.width}",
        )
        super().check()
        deviation = self.errors.deviation if self.errors else 0.0
        require(
            deviation <= 2 * self.q,
            "the standard deviation of errors must be at most "
            f"2q = {2 * self.q}, got {deviation:g}: labels then say nothing",
        )

    @cached_property
    def errors(self) -> Integers | None:
        """The distribution of e."""
        match self.error:
            case "gaussian":
                return gaussian(self.sigma or self.alpha * self.q)
            case "uniform":
                return uniform(range(-((self.width - 1) // 2), self.width // 2 + 1))
            case "cbd":
                return centred_binomial(self.eta)
            case _:
                return None


@dataclass(frozen=True, kw_only=True)
class Lpn(Modular):
    """Members (-1)^<a, s>, s of n bits, h of them 1 (0: any number), flipped with rate `noise`.

    Raises UsageError out of range. [BKW03]

    >>> Lpn(n=64, h=5, noise=Fraction(1, 10)).size
    7624512
    """

    name: ClassVar[str] = "lpn"
    example: ClassVar[str] = "lpn:n=32,noise=0.1"
    about: ClassVar[str] = "learning parity with noise, the secret dense or sparse"
    label_text: ClassVar[str] = _LABEL_TEXT.format(
        bits=".. of X_1 xor X_2 are a", factor="(1 - 2 code)", code="<a,s> + e mod 2"
    )
    assumed: ClassVar[str] = "learning parity with noise is hard [BKW03]"
    exact_text: ClassVar[str] = "without noise linear algebra learns the labels"
    noisy_parities: ClassVar[bool] = True
    former: ClassVar[tuple[str, ...]] = ("beta=40", "heads=saturated", "labels=formula")

    n: Annotated[int, Range(1, 1 << 48)]
    q: int = field(default=2, init=False)
    secret: str = field(default="binary", init=False)
    spread: Fraction = field(default=Fraction(0), init=False)
    noise: Annotated[
        Fraction, Range(0, below=Fraction(1, 2), about="the rate of flips", words="in [0, 1/2)")
    ] = field()  # required

    def check(self) -> None:
        """Refuse a secret of over 2^16 entries if h is 0; raises UsageError."""
        largest = 1 << 16
        small = self.h > 0 or self.n <= largest
        require(small, f"n must be at most {largest} if h is 0, got {self.n}: lower n, or set h")
        super().check()

    @property
    def hides(self) -> HiddenSet:
        """The hidden set of coordinates of s that are 1; of any size if h is 0."""
        return HiddenSet(
            size=self.h or None,
            first_step=True,
            secret=lambda places: tuple(int(j in places) for j in range(self.d - 1)),
        )

    @cached_property
    def errors(self) -> Integers | None:
        """The distribution of e: 1 with probability `noise`, else 0."""
        return bernoulli(self.noise) if self.noise else None


def modulus(family: Modular) -> int:
    """Return the M for which labels of two members are independent unless these agree mod M.

    Two secrets agree if they are equal mod M up to a unit of Z_M. a is uniform on Z_q^n; the
    checker of certificates proves the independence.

    >>> from instances import parse
    >>> [modulus(parse(f"lwr:n=4,q={q},p={p},secret=binary")) for q, p in ((7, 7), (8, 4), (8, 2))]
    [7, 4, 8]
    """
    return family.q if family.q % 2 else 2 * family.interval


def obstacle(family: Modular) -> str | None:
    """Return the reason why no bound is claimed for a family; None if there is a bound."""
    if not (is_power_of_two(family.q) or is_prime(family.q)):
        return f"q={family.q} is neither a power of two nor a prime, and nothing is proved there"
    if family.secret == "gaussian" and family.spread < _MIN_SPREAD:
        return f"secrets with spread={family.spread} are nearly all 0: take at least {_MIN_SPREAD}"
    errors, law = family.errors, family.secrets.law
    if errors and len(errors.values) > MOST_LAW_VALUES:
        return f"errors take more than {MOST_LAW_VALUES} values: lower the error"
    if law and len(law) > MOST_LAW_VALUES:
        return f"entries of the secret take more than {MOST_LAW_VALUES} values: lower the spread"
    if family.h and law and any(v % modulus(family) == 0 for v in law):
        return (
            f"h={family.h} with secret={family.secret}: no bound is known where one of the entries "
            f"that are not 0 is 0 mod {modulus(family)}; leave h out"
        )
    folded = errors.residues(family.q) if errors else {}
    if len(folded) == family.q and len(set(folded.values())) == 1:
        return "labels do not depend on the secret: lower the error"
    return None
