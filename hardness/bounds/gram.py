"""Correlations of members: certified ones, and samples of one Gram matrix.

A member is a function of a point. A correlation is the mean of the product of two members, each
scaled to mean square 1. As in certificates, members of hidden sets and of LWE-style families are
taken without their mean.
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
Draw = Callable[[int, int], NDArray[Any]]  # start, count -> points, where members differ
Progress = Callable[[int], None]

_BATCH_NUMBERS = 1 << 23  # values of all members in a batch: 64 MiB
_BATCH_POINTS = 1 << 16  # points in a batch
_ENUMERATED_VALUES = 1 << 28  # of all members on all points: more are not enumerated
_DRAWS_PER_MEMBER = 10_000  # draws for each member that is wanted
_DRAWS_PER_CLASS = 40  # draws for each class of secrets, of which there may be fewer
_ROUNDING = 2.0**-53  # relative, of one float64 operation
_INFORMATIVE = "inputs with z_0 = -1"


@dataclass(frozen=True, kw_only=True, eq=False)
class Sample:
    """Members, the points on which they are compared, and their known correlations.

    values: maps points to values (M, points * columns). largest: a bound on the norm of a member at
    a point. unit: whether members have mean 0 and mean square 1. certified: exact correlations
    (M, M), and how they are `known`. bias: the error of a correlation from points that are not
    exactly uniform. stated: whether `largest` is only stated by a file. where: what points are.
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
    where: str = _INFORMATIVE

    def named(self, i: int) -> str:
        """Name member i in a message."""
        return f"member {i} ({str(self.members[i])[:60]})"


@dataclass(frozen=True, kw_only=True, eq=False)
class SampledGram:
    """Sampled correlations of members, with one confidence for all entries.

    With probability at least `confidence` every entry is within `radius` of the true correlation,
    by Hoeffding's inequality and a union bound over the M(M+1)/2 entries. samples: points drawn.
    used: points at which members differ.
    """

    members: tuple[Any, ...]
    gram: Array
    radius: float
    confidence: float
    samples: int
    used: int
    condition: str = ""  # on members, under which the confidence holds
    inequality: str = "Hoeffding, union bound over all entries"


def require_gram(members: int) -> None:
    """Refuse a Gram matrix that does not fit in memory; raises TooLarge."""
    require_memory(48 * members**2, f"a Gram matrix of {members} members")


def sampled(
    sample: Sample, samples: int, confidence: float, progress: Progress = lambda done: None
) -> SampledGram:
    """Estimate the correlations of all pairs of members from points of the sample. [Hoe63]

    Raises UsageError if members differ at no point, if a norm may be 0, and for a value above
    `largest`; TooLarge.
    """
    if not 0 < confidence < 1:
        raise UsageError(f"confidence must be between 0 and 1, got {confidence}")
    size, largest = len(sample.members), sample.largest
    products, norms, used = _sum_products(sample, sample.draw, samples, progress)
    if not used:
        raise UsageError(f"none of {samples} {sample.where} shows anything: raise --samples")
    # With the confidence, all means of numbers in [-b, b] are within b * share; then rounding.
    share = math.sqrt(2 * math.log(size * (size + 1) / (1 - confidence)) / used)
    off = largest**2 * (share + 4 * used * sample.columns * _ROUNDING)
    gram, radius = products / used, off + sample.bias
    if not sample.unit:
        if norms.max() > largest * (1 + 1e-9):
            raise UsageError(
                f"{sample.named(int(norms.argmax()))} has the value {norms.max():g}, above the "
                f"bound {largest:g}: say in the file what they are at most, as bound = ..."
            )
        if (least := np.diagonal(gram).min()) <= off:
            raise UsageError(
                f"{sample.named(int(np.diagonal(gram).argmin()))} has the mean square "
                f"{least:.4g}, known to within {off:.4g}, so it may be 0: raise the samples or "
                "leave it out"
            )
        gram, radius = _normalised(gram), _normalised_radius(gram, off)
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


def _sum_products(
    sample: Sample, draw: Draw, count: int, progress: Progress = lambda done: None
) -> tuple[Array, Array, int]:
    """Sum the products of all pairs of members over points: (M, M); signs use packed bits.

    Also returns the largest norm of each member at a point (M,), and the number of points.
    """
    size, columns = len(sample.members), sample.columns
    require_gram(size)
    products, largest, used = np.zeros((size, size)), np.zeros(size), 0
    upper = np.zeros((size, size), np.int64)
    chunk = max(64, min(_BATCH_POINTS, _BATCH_NUMBERS // (size * columns)))
    for start in range(0, count, chunk):
        points = draw(start, min(chunk, count - start))
        progress(min(chunk, count - start))
        if not len(points):
            continue
        used += len(points)
        values = sample.values(points)
        if (np.abs(values) == 1).all():
            add_sign_gram(tokens.pack(values), len(points) * columns, upper)
            np.maximum(largest, math.sqrt(columns), out=largest)
            continue
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            products += values @ values.T
            norms = np.linalg.norm(values.reshape(size, len(points), columns), axis=2)
        np.maximum(largest, norms.max(axis=1), out=largest)
    return products + upper + np.triu(upper, 1).T, largest, used


def enumerated(sample: Sample, all_points: Draw, n: int) -> Sample:
    """Compute correlations and norms over all 2^n points, if these are not too many."""
    if sample.columns * len(sample.members) << n > _ENUMERATED_VALUES:
        return sample
    products, largest, used = _sum_products(sample, all_points, 1 << n)
    squares = np.diagonal(products) / used
    if wrong := [i for i, square in enumerate(squares) if not 0 < square < math.inf]:
        zero = "the norm 0: it correlates with nothing"
        reason = "squares that overflow" if squares[wrong[0]] else zero
        raise UsageError(f"{sample.named(wrong[0])} has {reason}")
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
    """Divide a Gram matrix by the norms, so that its diagonal is 1."""
    norms = np.sqrt(np.diagonal(gram))
    out = gram / np.outer(norms, norms)
    np.fill_diagonal(out, 1.0)
    return np.asarray(out)


def _normalised_radius(gram: Array, radius: float) -> float:
    """Bound the error of normalised correlations if each entry of `gram` is within `radius`.

    Interval arithmetic for entry / (norm * norm): each of the three is taken at its worst end.
    """
    norms = np.diagonal(gram)
    least, most = np.sqrt(norms - radius), np.sqrt(norms + radius)
    smallest, largest = np.outer(least, least), np.outer(most, most)
    correlations, high, low = _normalised(gram), gram + radius, gram - radius
    high = np.minimum(np.where(high > 0, high / smallest, high / largest), 1.0)
    low = np.maximum(np.where(low < 0, low / smallest, low / largest), -1.0)
    off = np.maximum(high - correlations, correlations - low)
    np.fill_diagonal(off, 0.0)  # exactly 1 for any norm
    return float(off.max()) * (1 + 1e-12) + 8 * _ROUNDING


# ---- samples of families and listed members


def of_family(
    family: Family,
    members: int,
    seed: int,
    secret: Secret | None = None,
    stored: Draw | None = None,
) -> Sample:
    """Choose members of a family, `secret` first, and points: stored ones, or drawn by the seed.

    stored: maps start, count to tokens, packed words for families with codes. Raises UsageError for
    real labels on tokens of unbounded length.

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
    """Make a sample of hidden sets; two sets correlate by the number of elements they share.

    >>> from instances import parse
    >>> family = parse("profile:g=majority,d=8,m=3")
    >>> of_sets(family, ((1, 2, 3), (3, 4, 5)), lambda start, count: None).certified.tolist()
    [[1.0, 0.25], [0.25, 1.0]]
    """
    for secret in members:
        family.require_member(secret)
    scheme = Johnson.family(family)
    shares = [math.comb(family.m, h) / 2**family.m for h in range(family.m + 1)]
    table = _standardised(np.array([float(v) for v in family.values]), shares)
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
    """Make a sample of functions E[Y|X] of <a, s> mod q, pairwise independent for uniform a."""
    table = _standardised(np.asarray(family.response), np.full(family.q, 1 / family.q))
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


def _standardised(table: Array, shares: ArrayLike) -> Array:
    """Subtract the mean of a table and divide by the norm; a balanced one becomes exactly +-1."""
    if len(set(table.tolist())) == 2 and np.dot(shares, table == table.min()) == 0.5:
        return np.where(table == table.min(), -1.0, 1.0)
    centred = table - np.dot(shares, table)
    return np.asarray(centred / math.sqrt(np.dot(shares, centred**2)))


def _of_codes(family: Coded, members: tuple[Secret, ...], draw: Draw) -> Sample:
    """Make a sample of the factors of labels, by their formula, without subtracting a mean."""

    def values(words: NDArray[np.uint64]) -> NDArray[Any]:
        clean = np.zeros(len(words), np.bool_)
        return np.stack([family.factors[family.codes(s, words, clean)] for s in members])

    largest = float(np.abs(family.factors).max())
    return Sample(spec=family.spec, members=members, draw=draw, values=values, largest=largest)


def _of_real(family: Family, members: tuple[Secret, ...], seed: int, stored: Draw | None) -> Sample:
    """Make a sample of the hidden signs of members, or of the outputs of their layers.

    Raises UsageError for layers on tokens of unbounded length, as products are then unbounded.
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
        by_member = np.stack([signs(s, x)[:, 0] for s in members])
        if not (np.abs(by_member) == 1).all():
            raise ToolkitError(
                f"{family.spec[:200]}: `hidden_signs` must be -1 or +1, and 0 on the same examples "
                "for every member"
            )
        return by_member

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
    """Make a sample of listed functions or layers on uniform signs, enumerated if these are few.

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


# ---- the choice of members


def different(
    family: Family,
    members: int,
    seed: int,
    first: Secret | None = None,
    forms: Modular | None = None,
) -> tuple[Secret, ...]:
    """Draw `members` different secrets, or all if there are fewer, with `first` in front.

    forms: for LWE-style families; of secrets with the same `representative` only one is taken. The
    number of such classes is unknown, so a bounded number of draws may give fewer members.
    """
    rng = generator(seed, "members", family.seed_spec)
    class_of = partial(representative, forms) if forms else tuple
    wanted = members if forms or family.size is None else min(members, family.size)
    secrets: dict[Secret, Secret] = {class_of(first): first} if first else {}
    for _ in range((_DRAWS_PER_CLASS if forms else _DRAWS_PER_MEMBER) * wanted):
        if len(secrets) >= wanted:
            break
        secret = family.draw(rng)
        secrets.setdefault(class_of(secret), secret)
    if len(secrets) < wanted and not forms:
        raise ToolkitError(
            f"{family.spec[:200]}: draws give {len(secrets)} different members, not {wanted}: fix "
            "`draw` or `size`, or ask for fewer members"
        )
    return tuple(secrets.values())[:wanted]


def representative(family: Modular, secret: Secret) -> Secret:
    """Return the multiple of a secret mod M whose first unit entry is 1.

    Labels of secrets with different representatives are independent for uniform a.

    >>> from instances import parse
    >>> family = parse("lwr:n=3,q=8,p=2,secret=ternary")
    >>> len(different(family, 50, seed=0, forms=family))
    13
    """
    m = modulus(family)
    unit = next(v for v in secret if math.gcd(v, m) == 1)
    return tuple(v * pow(unit, -1, m) % m for v in secret)
