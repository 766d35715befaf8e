"""Functions of <a, s> mod q as two-token attention layers: what LWR, LWE and LPN share.

Tokens are uniform on {-1,+1}^(2 x d), z = X_1 * X_2. A vector a of Z_q^n is written in the bits of
z: coordinate 1 + j L + b is -1 where bit b of a_j is 1, for d = n L + 1. For q = 2^L a is exactly
uniform; for another q the L bits of a number are reduced mod q, and a is uniform up to a
statistical distance of n q / 2^(L+2). Coordinate 0 is public. A family is a law of secrets s of
Z_q^n, a law of errors e, and a rounding of Z_q to codes, each of which has a level:

    Y[l, 0] = X[l, 0] * level of (<a, s> + e) mod q where z_0 = -1, else 0,

and 0 in every other column. With w_{j,b} = 2^b s_j mod q, centred, t = <w, bits> is an integer that
is <a, s> mod q. So heads with theta_j = 40 w_j are steps in t. In float64 they are exact steps:
tanh(20) is 1 there. [Regev05, BPR12]
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from instances import residues, steps, tokens
from instances.coded import Coded
from instances.errors import ToolkitError
from instances.family import Hardness, Secret, require
from instances.integers import Integers, uniform
from instances.layer import AttentionLayer
from instances.limits import require_memory
from instances.linearsamples import LinearSamples, told
from instances.ranges import OneOf, Range
from instances.residues import centred, is_power_of_two, is_prime, next_prime
from instances.secrets import KINDS, Secrets
from instances.streams import BitStream

MOST_VALUES = 1 << 15  # of a law that a certificate writes down
_LEAST_SPREAD = Fraction(1, 8)  # of a Gaussian secret: 1 and -1 are certainly drawn above
_MAX_TABLE = 1 << 20
_MAX_LAYER = 1 << 16
_SPARE_BITS = 30  # of a number that is reduced mod q


@dataclass(frozen=True, kw_only=True)
class Rounding:
    """What a label shows of t = <a, s> + e mod q: a code, which has a level.

    It is which of `parts` equal intervals of Z_q has t. residue: it is t itself, and `levels` rise.

    >>> found = Rounding(q=8, parts=4)
    >>> found.place(np.arange(8)).tolist(), [str(v) for v in found.levels]
    ([0, 0, 1, 1, 2, 2, 3, 3], ['1', '1/3', '-1/3', '-1'])
    """

    q: int
    parts: int
    residue: bool = False

    @property
    def width(self) -> int:
        """The residues of an interval."""
        return self.q // self.parts

    @cached_property
    def levels(self) -> tuple[Fraction, ...]:
        """-1, -1 + 2/q, .. of residues; 1, .., -1 of intervals."""
        if self.residue:
            return tuple(Fraction(2 * v, self.q) - 1 for v in range(self.q))
        return tuple(1 - Fraction(2 * v, self.parts - 1) for v in range(self.parts))

    @property
    def error(self) -> Integers | None:
        """The law of b - t, where b is the least residue that has a code; None where it is 0."""
        return uniform(range(1 - self.width, 1)) if self.width > 1 else None

    def place(self, t: NDArray[np.int64]) -> NDArray[Any]:
        """Return the code of each residue: (N,) -> (N,)."""
        return t // self.width


@dataclass(frozen=True, kw_only=True)
class Modular(Coded):
    """A family of functions of <a, s> mod q; a subclass gives its `rounding`, and `errors` if any.

    n: the dimension of a and s; q: a prime or a power of two, with `composite` any number. secret:
    binary, ternary, uniform, gaussian or cbd, with h entries that are not 0 (0: any number) and the
    standard deviation or eta in `spread`.
    """

    noise = Fraction(0)  # errors are no flips
    former: ClassVar[tuple[str, ...]] = ("beta=40", "bits=0", "heads=saturated", "labels=formula")
    composite: ClassVar[bool] = False
    noisy_parities: ClassVar[bool] = False  # parities of hidden bits, flipped at one rate
    assumed: ClassVar[str | None] = None  # what is known of all algorithms, not only of SQ
    exact_text: ClassVar[str] = "without error linear algebra learns the labels, linear in s"
    default_learners = ("bruteforce", "mitm", "primal", "modlinear", "lowdegree", "mlp")
    n: Annotated[int, Range(1, 1 << 16)]
    q: Annotated[int, Range(2, 1 << 48)]
    secret: Annotated[str, OneOf(KINDS)] = "uniform"
    h: Annotated[int, Range(0)] = 0
    spread: Annotated[Fraction, Range(0)] = Fraction(0)

    @property
    def rounding(self) -> Rounding:
        """What labels show of <a, s> + e mod q."""
        raise NotImplementedError(f"{type(self).__name__} gives no `rounding`")

    @property
    def errors(self) -> Integers | None:
        """The law of e; None where there is none."""
        return None

    @property
    def hardness(self) -> Hardness:
        """Exact for statistical queries where members are independent; `assumed` for others."""
        if self.assumed is None:
            return super().hardness
        linear = self.rounding.width == 1 and self.errors is None
        known = {"easy": self.exact_text} if linear else {"assumption": self.assumed}
        proved = "independent members: exact for statistical queries, and lattice attacks ask none"
        if reason := obstacle(self):
            return Hardness(evidence="assumption", proved=f"no certificate: {reason}", **known)
        return Hardness(evidence="exact", proved=proved, **known)

    @property
    def levels(self) -> tuple[Fraction, ...]:
        """Those of the codes."""
        if self.outcomes > _MAX_TABLE:
            self.require_table()
        return self.rounding.levels

    @property
    def outcomes(self) -> int:
        """The number of codes."""
        return self.rounding.parts

    @cached_property
    def factors(self) -> NDArray[np.float64]:
        """The levels in float64, by code."""
        if not self.rounding.residue:
            return np.array([float(v) for v in self.levels])
        self.require_table()
        return (2.0 * np.arange(self.q) - self.q) / self.q

    @cached_property
    def table(self) -> NDArray[np.intp]:
        """The code of each element of Z_q, (q,)."""
        self.require_table()
        return self.rounding.place(np.arange(self.q))

    @property
    def linear_forms(self) -> "Modular":
        """The family itself."""
        return self

    def problem(self) -> dict[str, Any]:
        """The moduli, the laws of secrets and errors, and the labels; raises UsageError.

        >>> from instances import parse
        >>> parse("lwr:n=64,q=256,p=2,secret=binary,h=6").problem()["secret"]
        {'weight': 6, 'entries': [1, ['1']]}
        """
        reason = obstacle(self)
        require(not reason, f"{self} given: {reason}")
        drawn, law, shown = self.errors, self.secrets.law, self.rounding
        counts = law and [str(law.get(v, 0)) for v in range(min(law), max(law) + 1)]
        return {
            "kind": "residues",
            "n": self.n,
            "q": self.q,
            "bits": self.length,
            "secret": {"weight": self.h, "entries": law and [min(law), counts]},
            "labels": "residue" if shown.width == 1 else "interval",
            "parts": shown.parts,
            "errors": drawn and [drawn.values[0], [str(count) for count in drawn.counts]],
        }

    @property
    def linear_samples(self) -> LinearSamples:
        """A label is a sample."""
        return LinearSamples(
            secrets=self.secrets,
            errors=self.errors,
            information=self.information,
            width=self.rounding.width,
        )

    def check(self) -> None:
        """Refuse moduli and laws of secrets that no theorem here is about; raises UsageError."""
        require(
            self.composite or is_power_of_two(self.q) or is_prime(self.q),
            f"q={self.q} given with {self.name}: it must be a power of two, whose residues are "
            f"bits, or a prime, as {1 << self.q.bit_length()} or {next_prime(self.q)}",
        )
        _ = self.reach  # which refuses laws of secrets that are out of range
        require(
            self.errors is None or self.rounding.width == 1,
            f"{self.name} given with errors: each residue needs a code of its own",
        )

    @cached_property
    def secrets(self) -> Secrets:
        """The law of the secret."""
        return Secrets(kind=self.secret, n=self.n, q=self.q, h=self.h, spread=self.spread)

    @property
    def size(self) -> int:
        """The number of secrets."""
        return self.secrets.size

    def members(self) -> Iterator[Secret] | None:
        """List the secrets, sparse ones first."""
        return self.secrets.listed()

    @cached_property
    def length(self) -> int:
        """L, the bits that stand for one number."""
        if is_power_of_two(self.q):
            return self.q.bit_length() - 1
        return (self.n * self.q).bit_length() + _SPARE_BITS

    @property
    def d(self) -> int:  # type: ignore[override]
        """n L + 1."""
        return self.n * self.length + 1

    @cached_property
    def reach(self) -> tuple[int, int]:
        """The range low .. high of t that no secret passes."""
        low, high = self.secrets.ends(self.length)
        many = self.h or self.n
        return many * low, many * high

    @cached_property
    def noiseless(self) -> NDArray[np.float64]:
        """The label's factor without error, by <a, s> mod q: (q,)."""
        self.require_table()
        return self.factors[self.table]

    @cached_property
    def response(self) -> NDArray[np.float64]:
        """E of the label's factor, by <a, s> mod q: (q,)."""
        clean = self.noiseless
        if self.errors is None:
            return clean
        out = np.zeros(self.q)
        for e, weight in zip(self.errors.values, self.errors.weights, strict=True):
            out += float(weight) * np.roll(clean, -e)
        return out

    @cached_property
    def shares(self) -> tuple[Fraction, ...]:
        """The part of Z_q that has each level, which errors do not change."""
        self.require_table()
        return (Fraction(1, self.outcomes),) * self.outcomes

    @cached_property
    def chances(self) -> NDArray[np.float64]:
        """The law of e mod q, (q,)."""
        self.require_table()
        found = self.errors or uniform([0])
        return np.bincount(np.array(found.values) % self.q, found.shares, self.q).astype(float)

    @cached_property
    def channel(self) -> NDArray[np.float64]:
        """The chance of each code of a label, by the code that it has without error: (L, L)."""
        codes = np.arange(self.outcomes)
        if self.errors is None:
            return np.eye(len(codes))
        # Every element of Z_q has a level of its own where there are errors.
        return self.chances[(codes - codes[:, None]) % self.q]

    def log_ratios(self, t: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Compute log2 Pr[code | <a, s> = t] / Pr[code | t uniform]: (n,), (n,) -> (n,)."""
        if self.errors is None:
            share = np.bincount(self.table, minlength=self.outcomes) / self.q
            return np.where(self.table[t] == codes, -np.log2(share[codes]), -np.inf)
        return self._bits[(codes - t) % self.q]  # every element of Z_q has a level of its own here

    @cached_property
    def _bits(self) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            return np.log2(self.chances * self.q)

    @cached_property
    def information(self) -> float:
        """The bits that a label with z_0 = -1 tells of <a, s>: mutual information, t uniform."""
        return told(self.errors, self.q) if self.errors else math.log2(self.outcomes)

    def require_table(self) -> None:
        """Refuse to tabulate a large Z_q; raises ToolkitError."""
        self._require_up_to(_MAX_TABLE)

    def _require_up_to(self, most: int) -> None:
        if self.q > most:
            raise ToolkitError(
                f"{self}: layers need q of at most {_MAX_LAYER}, examples and labels one of "
                f"at most {_MAX_TABLE}; its cost can be estimated at any q"
            )

    def draw(self, rng: np.random.Generator) -> Secret:
        """Draw a secret, of which at least one entry is a unit of Z_q."""
        return self.secrets.draw(rng)

    def require_member(self, secret: Secret) -> None:
        """Refuse what is no secret of this family; raises UsageError."""
        self.secrets.require(secret)

    def weights(self, secret: Secret) -> NDArray[np.int64]:
        """Compute w_{j,b} = 2^b s_j mod q, centred: (d - 1,)."""
        return _weights(self.secrets, self.length, self.q, secret)

    def vectors(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Read a from packed tokens (n, 2, words): (n, family.n), in 0 .. q-1."""
        return residues.read(words, self.n, self.length, self.q)

    def inner(self, secret: Secret, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Compute t of packed tokens (n, 2, words): (n,)."""
        return residues.weigh(words, self.weights(secret))

    def steps(self, secret: Secret) -> steps.Steps:
        """Solve for the heads of a member, before padding: t -> E of the label's factor."""
        self._require_up_to(_MAX_LAYER)
        weights = self.weights(secret)
        low, high = int(weights[weights < 0].sum()), int(weights[weights > 0].sum())
        values = self.response[np.arange(low, high + 1) % self.q]
        return steps.solved(values, low)

    @cached_property
    def layer_heads(self) -> int:
        """The most heads that a member needs, or a little more: K + 2, K the steps of t."""
        whole, around, edge = self._jumps
        return whole * int((around > 0).sum()) + int((edge > 0).sum()) + 2

    @property
    def _jumps(self) -> tuple[int, NDArray[np.float64], NDArray[np.float64]]:
        """How far t is from t - 1, over how many periods of Z_q, over one and over the rest."""
        low, high = self.reach
        around = np.abs(self.response - np.roll(self.response, 1)) / 2
        whole, rest = divmod(high - low, self.q)
        return whole, around, around[(low + 1 + np.arange(rest)) % self.q]

    def layer(self, secret: Secret) -> AttentionLayer:
        """Build the layer: Theta_i = diag(theta_i), W_i = a_i e_0 e_0^T, padded with zero heads."""
        found = self.steps(secret)
        heads = max(self.layer_heads, len(found.a) + 2)
        require_memory(16 * heads * self.d**2, f"the layer of {self.spec}, {heads} heads,")
        return steps.attach(found, self.weights(secret), heads)

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
        found = self.table[(self.inner(secret, words) + errors) % self.q]
        return (found * self.open(words)).astype(self.code_type)

    def mean(self, secret: Secret, x: NDArray[Any]) -> NDArray[np.float64]:
        """Evaluate F = E[Y|X]: (n, 2, d) -> (n, 2, d)."""
        return self.labelled(x, self.response[self.inner(secret, tokens.pack(x)) % self.q])

    def computed(self, secret: Secret, x: NDArray[Any]) -> NDArray[np.float64]:
        """Evaluate F, which the layer is: (n, 2, d) -> (n, 2, d)."""
        return self.mean(secret, x)

    def layer_tolerance(self, layer: AttentionLayer) -> float:
        """Add what heads that are steps miss by 1 - tanh(beta/2)."""
        slope = 1 - math.tanh(steps.BETA / 2)
        return super().layer_tolerance(layer) + slope * float(np.abs(layer.w[:, 0, 0]).sum())

    @property
    def error_rate(self) -> float:
        """The probability that an error moves <a, s> mod q."""
        return 1 - self.errors.residues(self.q)[0] / 2**64 if self.errors else 0.0

    def expected(self, words: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Evaluate the factor of `known`, the mean: (n, 2, words) -> (n,). [see Parity on it]"""
        return np.full(len(words), self.response.mean())

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The least and the largest value of the response."""
        return float(self.response.min()), float(self.response.max())

    @property
    def trivial_risk(self) -> float:
        """Two rows, each with an unknown part of the variance of the response over Z_q."""
        found = 2 * float(self.response.var())
        if found < 1e-20:
            raise ToolkitError(
                f"{self.spec}: E[Y|X] is constant, there is nothing to learn: lower the error"
            )
        return found

    @property
    def risk_bound(self) -> float:
        """A clipped prediction is off by at most the range of the response."""
        return 2 * float(np.ptp(self.response)) ** 2 / self.trivial_risk


@lru_cache(maxsize=64)
def _weights(secrets: Secrets, length: int, q: int, secret: Secret) -> NDArray[np.int64]:
    """Compute the weights of a member once; read-only."""
    secrets.require(secret)
    entries = [centred((v << b) % q, q) for v in secret for b in range(length)]
    weights = np.array(entries, np.int64)
    weights.flags.writeable = False
    return weights


def modulus(family: Modular) -> int:
    """Return M: mod M, secrets are alike if they are the same up to a unit of Z_M.

    The labels of secrets that are not alike are independent, for a uniform on Z_q^n; the checker of
    certificates proves it.

    >>> from instances import parse
    >>> [modulus(parse(f"lwr:n=4,q={q},p={p},secret=binary")) for q, p in ((7, 7), (8, 4), (8, 2))]
    [7, 4, 8]
    """
    return family.q if family.q % 2 else 2 * family.rounding.width


def obstacle(family: Modular) -> str | None:
    """Say why no bound is claimed for a family; None where there is one."""
    if not (is_power_of_two(family.q) or is_prime(family.q)):
        return f"q={family.q} is neither a power of two nor a prime, and nothing is proved there"
    if family.secret == "gaussian" and family.spread < _LEAST_SPREAD:
        return (
            f"secrets with spread={family.spread} are nearly all 0: take at least {_LEAST_SPREAD}"
        )
    errors, law = family.errors, family.secrets.law
    if errors and len(errors.values) > MOST_VALUES:
        return f"errors take more than {MOST_VALUES} values: lower the error"
    if law and len(law) > MOST_VALUES:
        return f"entries of the secret take more than {MOST_VALUES} values: lower the spread"
    if family.h and law and any(v % modulus(family) == 0 for v in law):
        return (
            f"h={family.h} with secret={family.secret}: no bound is known where one of the entries "
            f"that are not 0 is 0 mod {modulus(family)}; leave h out"
        )
    found = errors.residues(family.q) if errors else {}
    if len(found) == family.q and len(set(found.values())) == 1:
        return "labels do not depend on the secret: lower the error"
    return None
