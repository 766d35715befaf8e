"""Correlations of members: as certificates have them, and sampled by one Gram matrix.

A member is a function of a point. A correlation is the mean of the product of two members, each of
mean square 1; members of hidden sets and of LWE-style families less their mean, as certificates
take them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardness.bounds.certify import pose
from hardness.bounds.hidden_sets import Johnson
from hardness.bounds.members import Members
from hardness.numerics.sign_gram import add_sign_gram
from instances import tokens
from instances.coded import Coded
from instances.dense import require_dense
from instances.errors import ToolkitError, UsageError
from instances.family import Family, Secret
from instances.limits import require_memory
from instances.lwe import Modular, modulus, obstacle
from instances.sets import Symmetric
from instances.spec import built_in
from instances.streams import BitStream, generator, key

Array = NDArray[np.float64]
Draw = Callable[[int, int], NDArray[Any]]  # start, count -> points, those at which members differ
Progress = Callable[[int], None]

_NUMBERS = 1 << 23  # of all members at once: 64 MiB
_POINTS = 1 << 16  # points at once
_EVERY = 1 << 28  # values of all members on all points that are enumerated: a minute at most
_TRIES = 10_000  # draws for each different member
_CLASS_TRIES = 40  # the same, where it is not known how many there are
_UNIT = 2.0**-53
_NONE = 1e-9  # a norm that is rounding
_OPEN = "inputs with z_0 = -1"


@dataclass(frozen=True, kw_only=True, eq=False)
class Sample:
    """Members, points on which they are compared, and what is known of them.

    values: points -> numbers (M, columns), as many columns a point. largest: no member has a larger
    norm at a point. unit: their mean is 0 and their mean square 1. certified: (M, M), and how it is
    `known`. bias: what points that are not quite uniform add to a correlation. stated: a file says
    that no member is larger than `largest`, and samples cannot show it.
    """

    spec: str
    members: tuple[Any, ...]
    draw: Draw
    values: Callable[[NDArray[Any]], NDArray[Any]]
    columns: int = 1
    largest: float = 1.0
    unit: bool = False
    certified: Array | None = None
    known: Literal["certified", "enumerated"] = "certified"
    bias: float = 0.0
    stated: bool = False
    where: str = _OPEN

    def named(self, i: int) -> str:
        """Name a member in a message."""
        return f"member {i} ({str(self.members[i])[:60]})"


@dataclass(frozen=True, kw_only=True, eq=False)
class SampledGram:
    """Sampled correlations of some members, all known to within `radius` at once.

    With probability at least `confidence` every entry is within `radius` of the correlation:
    Hoeffding's inequality and a union bound over the M(M+1)/2 entries.
    """

    members: tuple[Any, ...]
    gram: Array
    radius: float
    confidence: float
    samples: int  # drawn
    used: int  # at which members differ
    condition: str = ""  # of members, under which the confidence holds
    inequality: str = "Hoeffding, union bound over all entries"


def require_gram(members: int) -> None:
    """Refuse a Gram matrix that does not fit in memory; raises TooLarge."""
    require_memory(48 * members**2, f"a Gram matrix of {members} members")


def sampled(
    sample: Sample, samples: int, confidence: float, progress: Progress = lambda done: None
) -> SampledGram:
    """Estimate the correlations of all pairs of members from points of the sample. [Hoe63]

    Raises UsageError where no point shows anything, where a norm may be 0, and for a value above
    the bound; TooLarge.
    """
    if not 0 < confidence < 1:
        raise UsageError(f"confidence must be between 0 and 1, got {confidence}")
    size, largest = len(sample.members), sample.largest
    products, most, used = _products(sample, sample.draw, samples, progress)
    if not used:
        raise UsageError(f"none of {samples} {sample.where} shows anything: raise --samples")
    # Of means of numbers in [-b, b], all within b times this at once; and rounding.
    share = math.sqrt(2 * math.log(size * (size + 1) / (1 - confidence)) / used)
    off = largest**2 * (share + 4 * used * sample.columns * _UNIT)
    gram, radius = products / used, off + sample.bias
    if not sample.unit:
        if most.max() > largest * (1 + 1e-9):
            raise UsageError(
                f"{sample.named(int(most.argmax()))} has the value {most.max():g}, above the "
                f"bound {largest:g}: say in the file what they are at most, as bound = ..."
            )
        if (least := np.diagonal(gram).min()) <= off:
            raise UsageError(
                f"{sample.named(int(np.diagonal(gram).argmin()))} has the mean square "
                f"{least:.4g}, known to within {off:.4g}, so it may be 0: raise the samples or "
                "leave it out"
            )
        gram, radius = _normalised(gram), _spread(gram, off)
    return SampledGram(
        members=sample.members,
        gram=gram,
        radius=radius,
        confidence=confidence,
        samples=samples,
        used=used,
        condition=f"if |f(x)| <= {largest:.12g} for every member f and every point x, which "
        "samples cannot show"
        if sample.stated
        else "",
    )


def _products(
    sample: Sample, draw: Draw, count: int, progress: Progress = lambda done: None
) -> tuple[Array, Array, int]:
    """Add up the products of all pairs (M, M), of signs by their bits.

    Returns the largest norm of each member at a point (M,) too, and how many points there were.
    """
    size, wide = len(sample.members), sample.columns
    require_gram(size)
    products, largest, used = np.zeros((size, size)), np.zeros(size), 0
    upper = np.zeros((size, size), np.int64)
    chunk = max(64, min(_POINTS, _NUMBERS // (size * wide)))
    for start in range(0, count, chunk):
        points = draw(start, min(chunk, count - start))
        progress(min(chunk, count - start))
        if not len(points):
            continue
        used += len(points)
        values = sample.values(points)
        if (np.abs(values) == 1).all():
            add_sign_gram(tokens.pack(values), len(points) * wide, upper)
            np.maximum(largest, math.sqrt(wide), out=largest)
            continue
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            products += values @ values.T
            norms = np.linalg.norm(values.reshape(size, len(points), wide), axis=2)
        np.maximum(largest, norms.max(axis=1), out=largest)
    return products + upper + np.triu(upper, 1).T, largest, used


def enumerated(sample: Sample, every: Draw, n: int) -> Sample:
    """Compute correlations and norms over all 2^n points, which `every` lists, if not too many."""
    if sample.columns * len(sample.members) << n > _EVERY:
        return sample
    products, largest, used = _products(sample, every, 1 << n)
    squares = np.diagonal(products) / used
    if wrong := [i for i, square in enumerate(squares) if not 0 < square < math.inf]:
        none = "the norm 0: it correlates with nothing"
        why = "squares that overflow" if squares[wrong[0]] else none
        raise UsageError(f"{sample.named(wrong[0])} has {why}")
    norms, raw = np.sqrt(squares), sample.values
    return replace(
        sample,
        values=lambda points: np.asarray(raw(points) / norms[:, None]),
        largest=float((largest / norms).max()),
        unit=True,
        certified=_normalised(products),
        known="enumerated",
        stated=False,
    )


def _normalised(gram: Array) -> Array:
    """Divide by the norms: 1 on the diagonal."""
    norms = np.sqrt(np.diagonal(gram))
    out = gram / np.outer(norms, norms)
    np.fill_diagonal(out, 1.0)
    return np.asarray(out)


def _spread(gram: Array, radius: float) -> float:
    """How far the true correlations may be from those of `gram`, each entry within a radius.

    Interval arithmetic: entry / (norm norm), each of the three at the end that is worst.
    """
    norms = np.diagonal(gram)
    least, most = np.sqrt(norms - radius), np.sqrt(norms + radius)
    smallest, largest = np.outer(least, least), np.outer(most, most)
    correlations, high, low = _normalised(gram), gram + radius, gram - radius
    high = np.minimum(np.where(high > 0, high / smallest, high / largest), 1.0)
    low = np.maximum(np.where(low < 0, low / smallest, low / largest), -1.0)
    off = np.maximum(high - correlations, correlations - low)
    np.fill_diagonal(off, 0.0)  # 1, whatever the norm is
    return float(off.max()) * (1 + 1e-12) + 8 * _UNIT


# What is sampled


def of_family(
    family: Family,
    members: int,
    seed: int,
    secret: Secret | None = None,
    stored: Draw | None = None,
) -> Sample:
    """Choose members of a family, `secret` first, and points: stored ones, or fresh by the seed.

    stored: start, count -> tokens as the family draws them: packed words where labels are codes.
    Raises UsageError for real labels on tokens of any length.

    >>> from instances import parse
    >>> sample = of_family(parse("parity:d=8,m=2"), members=4, seed=0)
    >>> sampled(sample, 1000, 0.99).gram.shape, sample.certified[0].tolist()
    ((4, 4), [1.0, 0.0, 0.0, 0.0])
    """
    if members < 1:
        raise UsageError(f"--members must be at least 1, got {members}")
    require_gram(members if family.size is None else min(members, family.size))
    if not isinstance(family, Coded) or family.hidden_signs:
        sample = _of_real(family, different(family, members, seed, secret), seed, stored)
        return replace(sample, stated=not built_in(family))

    def draw(start: int, count: int) -> NDArray[Any]:
        words = stored(start, count) if stored else family.inputs(seed, "verify", start, count)
        return np.asarray(words[family.open(words)])

    if isinstance(family, Symmetric):
        return of_sets(family, different(family, members, seed, secret), draw)
    if (forms := family.linear_forms) and not obstacle(forms):
        return _of_forms(forms, different(family, members, seed, secret, forms), draw)
    sample = _of_codes(family, different(family, members, seed, secret), draw)
    if family.factor is None:
        return sample
    return enumerated(
        sample, lambda start, many: family.table_points(start, start + many), family.d - 1
    )


def of_sets(family: Symmetric, members: tuple[Secret, ...], draw: Draw) -> Sample:
    """Correlate hidden sets: exactly by how many elements two of them share.

    >>> from instances import parse
    >>> family = parse("profile:g=majority,d=8,m=3")
    >>> of_sets(family, ((1, 2, 3), (3, 4, 5)), lambda start, count: None).certified.tolist()
    [[1.0, 0.25], [0.25, 1.0]]
    """
    for secret in members:
        family.require_member(secret)
    scheme = Johnson.family(family)
    shares = [math.comb(family.m, h) / 2**family.m for h in range(family.m + 1)]
    table = _unit(np.array([float(v) for v in family.values]), shares)
    masks = np.concatenate([tokens.mask(s, family.d) for s in members]).reshape(len(members), -1)
    by_overlap = np.array([float(c / scheme.norm) for c in scheme.correlations])

    def values(words: NDArray[np.uint64]) -> NDArray[Any]:
        return np.asarray(table[count_common_ones(masks, words[:, 0] ^ words[:, 1])])

    return Sample(
        spec=family.spec,
        members=members,
        draw=draw,
        values=values,
        certified=by_overlap[count_common_ones(masks, masks)],
        largest=float(np.abs(table).max()),
        unit=True,
    )


def count_common_ones(masks: NDArray[np.uint64], words: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """Count the ones of each packed vector under each mask: (M, words), (n, words) -> (M, n).

    >>> count_common_ones(np.array([[3], [4]], np.uint64), np.array([[1], [7]], np.uint64)).tolist()
    [[1, 2], [0, 1]]
    """
    columns = np.ascontiguousarray(words.T)
    out = np.zeros((len(masks), len(words)), np.uint16)
    for row, mask in zip(out, masks, strict=True):
        for bits, column in zip(mask, columns, strict=True):
            if bits:
                row += np.bitwise_count(column & bits)
    return out


def _of_forms(family: Modular, members: tuple[Secret, ...], draw: Draw) -> Sample:
    """Functions E[Y|X] of <a, s> mod q, independent in pairs where a is uniform."""
    table = _unit(np.asarray(family.response), np.full(family.q, 1 / family.q))
    weights = np.stack([family.weights(s) for s in members]).astype(np.float64)
    density = pose(family, Fraction(1)).known.gram

    def values(words: NDArray[np.uint64]) -> NDArray[Any]:
        bits = tokens.unpack(words[:, 0] ^ words[:, 1], family.d)[:, 1:] < 0
        t = (weights @ bits.T.astype(np.float64)).astype(np.int64)  # sums stay below 2^53
        return np.asarray(table[t % family.q])

    return Sample(
        spec=family.spec,
        members=members,
        draw=draw,
        values=values,
        certified=np.eye(len(members)),
        bias=float(max(density.top - 1, 1 - density.least)) if density else 0.0,
        largest=float(np.abs(table).max()),
        unit=True,
    )


def _unit(table: Array, shares: ArrayLike) -> Array:
    """The values of a table less their mean, over their norm: exactly -1 and +1 if so many are."""
    if len(set(table.tolist())) == 2 and np.dot(shares, table == table.min()) == 0.5:
        return np.where(table == table.min(), -1.0, 1.0)
    less = table - np.dot(shares, table)
    return np.asarray(less / math.sqrt(np.dot(shares, less**2)))


def _of_codes(family: Coded, members: tuple[Secret, ...], draw: Draw) -> Sample:
    """Correlate the factors of labels by their formula, as they are."""

    def values(words: NDArray[np.uint64]) -> NDArray[Any]:
        clean = np.zeros(len(words), np.bool_)
        return np.stack([family.factors[family.codes(s, words, clean)] for s in members])

    largest = float(np.abs(family.factors).max())
    return Sample(spec=family.spec, members=members, draw=draw, values=values, largest=largest)


def _of_real(family: Family, members: tuple[Secret, ...], seed: int, stored: Draw | None) -> Sample:
    """Correlate the signs that examples show of members, or the outputs of layers.

    Given which signs are shown products are bounded. Raises UsageError for outputs of which tokens
    have no largest length.
    """
    dense, signs = require_dense(family), family.hidden_signs
    fresh = stored or (lambda start, count: dense.inputs(seed, "verify", start, count))
    if signs is None:
        longest = dense.reached[1].longest
        if longest is None:
            raise UsageError(
                f"labels of {family} have no bound, which the confidence of a sampled mean "
                f"needs, on {dense.token_text} tokens: take tokens=boolean"
            )
        return Sample(
            spec=family.spec,
            members=members,
            draw=fresh,
            values=lambda x: np.stack(
                [(dense.label(s, x) - dense.beside(s, x)).ravel() for s in members]
            ),
            largest=math.sqrt(dense.k) * longest * max(map(dense.reach, members)),
            columns=dense.k * dense.d,
            where="inputs",
        )

    def values(x: NDArray[Any]) -> NDArray[Any]:
        shown = np.stack([signs(s, x)[:, 0] for s in members])
        if not (np.abs(shown) == 1).all():
            raise ToolkitError(
                f"{family.spec[:200]}: `hidden_signs` must be -1 or +1, and 0 on the same examples "
                "for every member"
            )
        return shown

    def draw(start: int, count: int) -> NDArray[Any]:
        x = fresh(start, count)
        return np.asarray(x[signs(members[0], x)[:, 0] != 0])

    return Sample(
        spec=family.spec,
        members=members,
        draw=draw,
        values=values,
        unit=True,
        certified=family.sign_correlations(members),
        where="inputs that show a hidden sign",
    )


def of_members(family: Members, seed: int = 0) -> Sample:
    """Correlate functions or layers on uniform signs; over all of these where they are few.

    Raises UsageError for a norm of 0.
    """
    stream = BitStream(key(seed, "points", family.label))
    sample = Sample(
        spec=family.spec or family.label,
        members=family.names,
        draw=lambda start, count: tokens.boolean(stream, start, count, 1, family.n)[:, 0],
        values=lambda words: family.evaluate(tokens.unpack(words, family.n)),
        largest=family.bound,
        columns=family.outputs,
        stated=family.kind == "functions",
        where="points",
    )
    return enumerated(
        sample,
        lambda start, count: np.arange(start, start + count, dtype=np.uint64)[:, None],
        family.n,
    )


# Which members


def different(
    family: Family,
    members: int,
    seed: int,
    first: Secret | None = None,
    forms: Modular | None = None,
) -> tuple[Secret, ...]:
    """Draw different secrets, `first` first; all of them where there are no more.

    forms: of whose secrets one of those that are alike is enough; how many of these there are is
    not known, and all that many draws give are taken.
    """
    rng = generator(seed, "members", family.seed_spec)
    alike = partial(representative, forms) if forms else tuple
    wanted = members if forms or family.size is None else min(members, family.size)
    secrets: dict[Secret, Secret] = {alike(first): first} if first else {}
    for _ in range((_CLASS_TRIES if forms else _TRIES) * wanted):
        if len(secrets) >= wanted:
            break
        secret = family.draw(rng)
        secrets.setdefault(alike(secret), secret)
    if len(secrets) < wanted and not forms:
        raise ToolkitError(
            f"{family.spec[:200]}: draws give {len(secrets)} different members, not {wanted}: fix "
            "`draw` or `size`, or ask for fewer members"
        )
    return tuple(secrets.values())[:wanted]


def representative(family: Modular, secret: Secret) -> Secret:
    """Return what alike secrets have in common, and no others: a multiple with an entry of 1.

    The labels of secrets that are not alike are independent where a is uniform.

    >>> from instances import parse
    >>> family = parse("lwr:n=3,q=8,p=2,secret=ternary")
    >>> len(different(family, 50, seed=0, forms=family))
    13
    """
    m = modulus(family)
    unit = next(v for v in secret if math.gcd(v, m) == 1)
    return tuple(v * pow(unit, -1, m) % m for v in secret)
