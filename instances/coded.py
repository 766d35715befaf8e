"""Two-token families whose labels carry one unknown code each: packed tokens, packed labels.

Tokens are uniform on {-1,+1}^(2 x d). The unknown part of an informative label is one of a few
levels; its index among the levels is the code.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from instances import tokens
from instances.errors import ToolkitError, UsageError
from instances.family import Examples, Family, Hardness, Secret
from instances.layer import AttentionLayer
from instances.limits import require_memory
from instances.streams import BitStream, key

MOST_COORDINATES = 26  # of z: a table over z then has 2^26 entries
MOST_MEMBERS = 5000  # up to which all correlations are computed
_MOST_VALUES = 1 << 28  # of all members over z: their mean then takes seconds


@dataclass(frozen=True, kw_only=True, eq=False)
class CodedExamples(Examples):
    """Labelled examples of a two-token family, packed; x and y are the dense view of the same.

    words: (n, k, words) uint64; a bit is 1 where the token is -1. codes: (n,) uint8, or uint16 for
    more than 256 levels, or uint32 for more than 65536. A code is the index of the level of a
    label's unknown part, and 0 where the label is public. For parities it is one bit, 1 for -1.
    """

    family: "Coded"
    words: NDArray[np.uint64]
    codes: NDArray[np.unsignedinteger[Any]]

    @cached_property
    def x(self) -> NDArray[np.int8]:  # type: ignore[override]
        """The tokens, (n, k, d), -1 or +1."""
        return tokens.unpack(self.words, self.family.d)

    @cached_property
    def y(self) -> NDArray[np.float64]:  # type: ignore[override]
        """The labels, (n, k, d), float64."""
        return self.family.decode(self.x, self.codes)


class Coded(Family):
    """A family of two-token layers, its labels given by codes of public levels.

    z = X_1 * X_2. A label is Y[l, 0] = X[l, 0] times a factor, and 0 in every other column. Where
    z_0 = +1 the factor is public, `known_constant`. Where z_0 = -1 it is one of `levels`, a
    function of z that differs between members. There label noise reflects it in the middle of the
    levels with probability `noise`. A subclass defines the abstract methods, and `code` (or `codes`
    for packed tokens). It should list its `members`. If it cannot, it defines `expected`,
    `unknown_variance` and `hardness` itself.
    """

    k = 2
    label_text: ClassVar[str] = (
        "bit j of a token is 1 where coordinate j is -1; z = X_1 * X_2; Y[l,0] = X[l,0] * "
        "levels[code] where z_0 = -1, else 0; all other columns are 0"
    )

    token_text: ClassVar[str] = "boolean"

    @property
    def factor(self) -> "Coded | None":
        """The family itself, if d - 1 is at most 26: then the factor fits in a table over z."""
        return self if self.d - 1 <= MOST_COORDINATES else None

    @property
    def hardness(self) -> Hardness:
        """Bounds by the correlations of all members, if these can be enumerated."""
        size, listed = self.size or math.inf, self.factor and self.members()
        if listed is None or size > MOST_MEMBERS or size * 2 ** (self.d - 1) > _MOST_VALUES:
            reason = "no bound is claimed: not all members can be listed and enumerated over z"
            return Hardness(evidence="none", proved=reason)
        return Hardness(
            evidence="exact",
            proved="correlations of all members are exact; they bound statistical queries, or "
            "where labels take more than two values correlational ones: see `hardness certify`",
        )

    @property
    def default_learners(self) -> tuple[str, ...]:
        """Learners that support every family with codes."""
        return ("queries", "elimination", "lowdegree", "student")

    @property
    def bytes_per_example(self) -> int:
        """The bytes of the packed words and one code."""
        return self.k * tokens.words_per_token(self.d) * 8 + self.code_type.itemsize

    @cached_property
    def layer_heads(self) -> int:
        """The number of heads of a member's layer, the same for all members."""
        return self.layer(self.draw(np.random.default_rng(0))).m

    @property
    def code_type(self) -> np.dtype[Any]:
        """The integer type of codes: uint8, or wider if there are more levels."""
        wide = np.uint16 if self.outcomes <= 1 << 16 else np.uint32
        return np.dtype(np.uint8 if self.outcomes <= 256 else wide)

    @property
    def outcomes(self) -> int:
        """The number of codes."""
        return len(self.levels)

    @property
    def levels(self) -> tuple[Fraction, ...]:
        """The values of the unknown part of a label, in the order of codes; by default 1 and -1."""
        return Fraction(1), Fraction(-1)

    def code(self, secret: Secret, z: NDArray[np.int8]) -> NDArray[Any]:
        """Compute the indices in `levels` of a member's noiseless factors: (n, d) -> (n,).

        z: entries -1 and +1, with z_0 = -1.
        """
        raise NotImplementedError(f"{type(self).__name__} gives neither `code` nor `codes`")

    def codes(
        self, secret: Secret, words: NDArray[np.uint64], errors: NDArray[Any]
    ) -> NDArray[np.unsignedinteger[Any]]:
        """Compute the codes of the labels of packed tokens (n, k, words): (n,).

        errors: (n,), the effect of label noise as `disturb` draws it; zeros for no noise.
        """
        z = tokens.unpack(words[:, 0] ^ words[:, 1], self.d)
        z[:, 0] = -1
        codes = np.asarray(self.code(secret, z))
        if codes.shape != (len(z),) or codes.dtype.kind not in "bui":
            raise UsageError(
                f"{self.name}: `code` gave {codes.dtype} {codes.shape} for {len(z)} points: an "
                "integer, or a truth value, for each is needed"
            )
        if len(codes) and not 0 <= codes.min() <= codes.max() < len(self.levels):
            raise UsageError(
                f"{self.name}: `code` gave {codes.min()} to {codes.max()}: places in the "
                f"{len(self.levels)} levels are 0 to {len(self.levels) - 1}"
            )
        codes = codes.astype(np.intp)
        codes = np.where(errors.astype(np.bool_), self._reflected[codes], codes)
        return (codes * self.open(words)).astype(self.code_type)

    @cached_property
    def factors(self) -> NDArray[np.float64]:
        """The levels in float64, by code: X[l, 0] times one of them is a label."""
        return np.array([float(v) for v in self.levels])

    @cached_property
    def means(self) -> NDArray[np.float64]:
        """The mean of a label's factor, by its code without noise: (L,)."""
        return self.fade(self.factors)

    @property
    def known_constant(self) -> Fraction:
        """The public factor of labels where z_0 = +1."""
        return Fraction(0)

    @cached_property
    def centre(self) -> Any:
        """The middle of the range of levels; noise reflects a factor in it."""
        return (max(self.levels) + min(self.levels)) / 2

    @cached_property
    def _reflected(self) -> NDArray[np.intp]:
        place = {v: i for i, v in enumerate(self.levels)}
        return np.array([place.get(2 * self.centre - v, 0) for v in self.levels])

    def layer_tolerance(self, layer: AttentionLayer) -> float:
        """Bound how far rounding may take a member's layer from `computed`.

        1e-12 up to sum |a_i| = 200 times the largest level, and in proportion above: rounding grows
        with the sizes that cancel.
        """
        total = float(np.abs(layer.w[:, 0, 0]).sum())
        return 1e-12 * max(float(np.abs(self.factors).max()), total / 200)

    @property
    def error_rate(self) -> float:
        """An upper bound on the probability that noise changes an informative label."""
        return float(self.noise)

    @cached_property
    def channel(self) -> NDArray[np.float64]:
        """The probability of each code (column), by the code without noise (row): (L, L)."""
        codes, rate = np.arange(len(self.levels)), float(self.noise)
        out = np.zeros((len(codes), len(codes)))
        out[codes, codes] = 1 - rate
        out[codes, self._reflected] += rate
        return out

    @property
    def shares(self) -> tuple[Fraction, ...] | None:
        """The probability of each level, by code; None if it depends on the tokens."""
        return None

    def enough(self, opened: int) -> int:
        """Return how many examples have, on average, `opened` informative ones among them."""
        return 2 * opened

    def open(self, words: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Return which packed tokens are informative, z_0 = -1: (n, k, words) -> (n,)."""
        return np.asarray((words[:, 0, 0] ^ words[:, 1, 0]) & np.uint64(1), np.bool_)

    def decode(
        self, x: NDArray[Any], codes: NDArray[np.unsignedinteger[Any]]
    ) -> NDArray[np.float64]:
        """Turn tokens and codes into labels: (n, k, d)."""
        return self.labelled(x, self.factors[codes])

    def label(self, secret: Secret, x: NDArray[Any]) -> NDArray[np.float64]:
        """Evaluate the formula without noise: (n, 2, d) -> (n, 2, d)."""
        return self.labelled(x, self.factors[self._codes_of(secret, x)])

    def mean(self, secret: Secret, x: NDArray[Any]) -> NDArray[np.float64]:
        """Evaluate F = E[Y|X], with the mean of the factor given its noiseless code."""
        return self.labelled(x, self.means[self._codes_of(secret, x)])

    def mean_on(self, secret: Secret, drawn: "CodedExamples") -> NDArray[np.float64]:
        """Evaluate F on examples, whose tokens are already packed: (n, 2, d)."""
        codes = self.codes(secret, drawn.words, np.zeros(len(drawn.words), np.bool_))
        return self.labelled(drawn.x, self.means[codes])

    def _codes_of(self, secret: Secret, x: NDArray[Any]) -> NDArray[Any]:
        return self.codes(secret, tokens.pack(x), np.zeros(len(x), np.bool_))

    def known(self, x: NDArray[Any]) -> NDArray[np.float64]:
        """Evaluate the baseline, by default the mean of F over members: (n, 2, d) -> (n, 2, d)."""
        return self.labelled(x, self.expected(tokens.pack(x)))

    def expected(self, words: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Evaluate the baseline's factor on packed informative tokens: (n, k, words) -> (n,).

        Raises ToolkitError if members cannot be listed, or are too many.
        """
        z = words[:, 0, 0] ^ words[:, 1, 0]
        return self.fade(self._prior[(z >> np.uint64(1)).astype(np.intp)])

    @cached_property
    def _prior(self) -> NDArray[np.float64]:
        """The mean of the factor over all members, by z: (2^(d-1),)."""
        unlisted = self.factor is None or self.members() is None
        if unlisted or (self.size or 0) << self.d - 1 > _MOST_VALUES:
            raise ToolkitError(
                f"{self.spec}: the mean over members is computed for up to 2^28 values of members "
                "over z, where `members` lists them: give the family `expected` and "
                "`unknown_variance`"
            )
        total = np.zeros(1 << self.d - 1)
        for table in self._factor_tables():
            total += table
        return total / (self.size or 1)

    def _factor_tables(self) -> Iterator[NDArray[np.float64]]:
        """Tabulate the noiseless factor of each member over z: (2^(d-1),) each."""
        return map(self.factor_table, self.listed_members(_MOST_VALUES))

    @cached_property
    def unknown_variance(self) -> Any:
        """E (factor - its mean over members)^2 over z and members, without noise."""
        prior = self._prior
        return float(np.mean([float(((t - prior) ** 2).mean()) for t in self._factor_tables()]))

    @property
    def mean_variance(self) -> float:
        """E (E[factor|X] - its mean over members)^2 over z and members: the variance to learn."""
        return float((1 - 2 * self.noise) ** 2 * self.unknown_variance)

    @property
    def trivial_risk(self) -> float:
        """The risk of the baseline: E ||F - known||^2 on informative tokens, over both rows."""
        risk = 2 * self.mean_variance
        if risk < 1e-20:
            raise ToolkitError(
                f"{self.spec}: E[Y|X] is the same for all members, there is nothing to learn"
            )
        return risk

    def clip(self, signs: NDArray[Any], y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Clip predictions of column 0 on informative tokens to the range of E[Y|X]: (n, 2).

        signs: column 0 of the tokens, (n, 2).
        """
        return signs * np.clip(signs * y, self.means.min(), self.means.max())

    @property
    def risk_bound(self) -> float:
        """The largest relative loss of a clipped prediction on one informative example."""
        return 2 * float(np.ptp(self.means)) ** 2 / self.trivial_risk

    def fade(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Shrink factors towards the centre by the factor 1 - 2 noise."""
        centre, rest = self._fading
        return centre + rest * (values - centre)

    @cached_property
    def _fading(self) -> tuple[float, float]:
        """The centre of the levels, and 1 - 2 noise."""
        return float(self.centre), float(1 - 2 * self.noise)

    def labelled(self, x: NDArray[Any], factor: NDArray[Any]) -> NDArray[np.float64]:
        """Make labels: column 0 is X[l,0] factor where z_0 = -1, else X[l,0] known_constant."""
        out = np.zeros(x.shape, np.float64)
        opened = x[:, 0, 0] != x[:, 1, 0]
        out[:, :, 0] = x[:, :, 0] * np.where(opened, factor, float(self.known_constant))[:, None]
        return out

    def inputs(self, seed: int, axis: str, start: int, count: int) -> NDArray[np.uint64]:
        """Draw the packed tokens of examples start .. start+count-1 of a stream."""
        stream = BitStream(key(seed, "tokens", axis))
        return tokens.boolean(stream, start, count, self.k, self.d)

    def stream(
        self, secret: Secret, seed: int, axis: str, start: int, count: int
    ) -> "CodedExamples":
        """Draw examples start .. start+count-1 of a stream: packed tokens and codes with noise."""
        words = self.inputs(seed, axis, start, count)
        errors = self.disturb(BitStream(key(seed, "noise", axis)), start, count)
        return CodedExamples(family=self, words=words, codes=self.codes(secret, words, errors))

    @property
    def hides(self) -> "HiddenSet | None":
        """The hidden set of coordinates of z that determines the factor, if there is one."""
        return None

    def chosen(self, z: NDArray[np.int8]) -> NDArray[np.int8]:
        """Make informative tokens with given z_1 .. z_(d-1): (n, d - 1) -> (n, 2, d)."""
        x = np.ones((len(z), 2, self.d), np.int8)
        x[:, 1, 0], x[:, 1, 1:] = -1, z
        return x

    def nearest_level(self, x: NDArray[Any], y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Round labels of informative tokens to the nearest entry of `factors`: (n,)."""
        levels = np.sort(self.factors)
        between = (levels[1:] + levels[:-1]) / 2
        return levels[np.searchsorted(between, (x[:, :, 0] * y[:, :, 0]).mean(axis=1))]

    def questions(self, x: Any) -> NDArray[Any]:
        """Check tokens that a learner chose: entries must be -1 or +1."""
        return tokens.chosen(x, self, signs=True)

    def answers(
        self, secret: Secret, seed: int, start: int, x: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Label inputs that a learner chose, with fresh label noise."""
        errors = self.disturb(BitStream(key(seed, "noise", "values")), start, len(x))
        return self.decode(x, self.codes(secret, tokens.pack(x), errors))

    def disturb(self, stream: BitStream, start: int, count: int) -> NDArray[Any]:
        """Draw the label noise of examples start .. start+count-1: here, flips (count,)."""
        if not self.noise:
            return np.zeros(count, np.bool_)
        return stream.words(start, count) < np.uint64(math.floor(self.noise * 2**64))

    # ---- tables of the factor over z

    def listed_members(self, limit: int) -> tuple[Secret, ...]:
        """List the secrets of all members; raises UsageError for more than `limit`."""
        members = self.members() if self.size is not None and self.size <= limit else None
        if members is None or self.size is None:
            raise UsageError(
                f"{self.spec[:200]} has too many members: `members` of the family may list up to "
                f"{limit}: take smaller parameters"
            )
        secrets = tuple(islice(members, self.size + 1))
        if len(secrets) != self.size or len(set(secrets)) != self.size:
            more = "more" if len(secrets) > self.size else f"{len(set(secrets))} different ones"
            raise UsageError(
                f"{self.spec[:200]} has the size {self.size}, and its `members` lists {more}: "
                "fix one of them"
            )
        return secrets

    def table_points(self, start: int, stop: int) -> NDArray[np.uint64]:
        """Make packed tokens with z_0 = -1 of table entries start .. stop-1: (count, 2, 1)."""
        require_memory(40 * (stop - start), f"a table over z of {self.spec}")
        words = np.zeros((stop - start, 2, 1), np.uint64)
        words[:, 0, 0] = np.arange(start, stop, dtype=np.uint64) << np.uint64(1) | np.uint64(1)
        return words

    def table_codes(self, secret: Secret) -> NDArray[np.unsignedinteger]:
        """Tabulate a member's codes without noise: (2^(d-1),).

        Bit j - 1 of an index is 1 where z_j = -1. Raises TooLarge if memory cannot hold the table.
        """
        words = self.table_points(0, 1 << self.d - 1)
        return self.codes(secret, words, np.zeros(len(words), np.bool_))

    def factor_table(self, secret: Secret) -> NDArray[np.float64]:
        """Tabulate a member's factor without noise, as `table_codes` does: (2^(d-1),).

        >>> from instances import parse
        >>> parse("parity:d=3,m=2").factor_table((1, 2)).tolist()
        [1.0, -1.0, -1.0, 1.0]
        """
        return self.factors[self.table_codes(secret)]

    def restore(self, tensors: dict[str, NDArray[Any]], count: int) -> "CodedExamples":
        """Make examples from stored words and codes; raises ValueError for invalid ones."""
        words, codes = tokens.stored(
            tensors,
            self.d,
            words=(np.uint64, (count, self.k, tokens.words_per_token(self.d))),
            codes=(self.code_type, (count,)),
        )
        if (codes >= np.where(self.open(words), self.outcomes, 1)).any():
            raise ValueError("has a code of no level, or one where the label is known")
        return CodedExamples(family=self, words=words, codes=codes)


@dataclass(frozen=True, kw_only=True)
class HiddenSet:
    """A hidden set of coordinates of z: the factor depends on how many of them are -1.

    size: of the set; None if it is not public. first_step: whether in all members the factors for
    none and for one coordinate at -1 differ. secret: maps indices into z_1 .. z_(d-1), from 0, to a
    member's secret.
    """

    size: int | None
    first_step: bool
    secret: Callable[[tuple[int, ...]], Secret]


def require_coded(family: Family) -> Coded:
    """Return the family as one with codes; raises UsageError for others."""
    return family if isinstance(family, Coded) else family.refuse("coded")


def as_coded(examples: Examples) -> CodedExamples:
    """Return examples as packed ones; raises UsageError for others."""
    if not isinstance(examples, CodedExamples):
        raise UsageError(f"examples must have packed tokens, got those of {examples.family.name}")
    return examples


@dataclass(frozen=True, kw_only=True, eq=False)
class Reduced:
    """The informative examples: packed z (n, words) with bit 0 cleared, and codes (n,).

    values: (n,) float64, the factor of the label minus the baseline's factor.
    """

    words: NDArray[np.uint64]
    codes: NDArray[np.unsignedinteger[Any]]
    values: NDArray[np.float64]
    d: int

    def __len__(self) -> int:
        return len(self.codes)

    def z(self) -> NDArray[np.float64]:
        """Unpack z to entries +-1: (n, d), with coordinate 0 set to +1."""
        return tokens.unpack(self.words, self.d).astype(np.float64)

    def signs(self) -> NDArray[np.int8]:
        """Unpack z without coordinate 0: entries +-1, (n, d - 1)."""
        return tokens.unpack(self.words, self.d)[:, 1:]


def reduce(examples: Examples) -> Reduced:
    """Keep the informative examples; raises UsageError for families without codes.

    >>> from instances import parse
    >>> reduced = reduce(parse("lwr:n=2,q=4,p=2,secret=binary").instance(0).examples(0, 100))
    >>> reduced.z().shape == (len(reduced), 5), set(reduced.values.tolist())
    (True, {1.0, -1.0})
    """
    packed = as_coded(examples)
    family = packed.family
    unknown = family.open(packed.words)
    words, codes = packed.words[unknown], packed.codes[unknown]
    z = words[:, 0] ^ words[:, 1]
    z[:, 0] &= ~np.uint64(1)
    values = family.factors[codes] - family.expected(words)
    return Reduced(words=z, codes=codes, values=values, d=family.d)
