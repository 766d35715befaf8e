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
from hardness.bounds.johnson import Johnson
from hardness.bounds.members import Members
from hardness.numerics.bit_planes import count_common_ones, mark_counts, to_bit_planes
from hardness.numerics.sign_gram import add_sign_gram
from instances import tokens
from instances.coded import MOST_MEMBERS, Coded, FactorTables
from instances.dense import require_dense
from instances.errors import TooLarge, ToolkitError, UsageError
from instances.family import Family, Secret
from instances.limits import require_memory
from instances.lwe import Modular, modulus, obstacle
from instances.sets import Symmetric
from instances.spec import built_in
from instances.streams import BitStream, generator, key
from instances.symmetric import to_float

Array = NDArray[np.float64]
Draw = Callable[[int, int], NDArray[Any]]  # start, count -> points, those at which members differ
Progress = Callable[[int], None]

_NUMBERS = 1 << 23  # of all members at once: 64 MiB
_MOST = 1 << 16  # points at once
_EVERY = 1 << 28  # values of all members on all points that are enumerated: a minute at most
_TRIES = 10_000  # draws for each different member
_CLASS_TRIES = 40  # the same, where it is not known how many there are
_UNIT = 2.0**-53
_NONE = 1e-9  # a norm that is rounding
_OPEN = "tokens with z_0 = -1"


@dataclass(frozen=True, kw_only=True, eq=False)
class Sample:
    """Members, points on which they are compared, and what is known of them.

    values: points -> numbers (M, columns), as many columns a point, of mean square `norm`^2 less
    `mean`, where that is known; or the packed bits of signs, uint64 (M, words), 1 where -1.
    largest: no member has a larger norm at a point, where norms are known less its mean and over
    its norm. certified: (M, M), and how it is `known`. bias: what points that are not quite uniform
    add to a correlation. shown: members are signs, and 0 where a point shows none: products are
    divided by how many are shown. stated: a file says that no member is larger than `largest`, and
    samples cannot show it.
    """

    spec: str
    members: tuple[Any, ...]
    draw: Draw
    values: Callable[[NDArray[Any]], NDArray[Any]]
    columns: int = 1
    largest: float = 1.0
    mean: float = 0.0
    norm: float | Array | None = None
    certified: Array | None = None
    known: Literal["certified", "enumerated"] = "certified"
    bias: float = 0.0
    shown: bool = False
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
        raise UsageError(f"confidence {confidence} given: it must be between 0 and 1")
    size, largest = len(sample.members), sample.largest
    sums = _sums(sample, sample.draw, samples, progress)
    if not sums.used:
        raise UsageError(f"none of {samples} {sample.where} shows anything: raise --samples")
    # Of means of numbers in [-b, b], all within b times this at once.
    share = math.sqrt(2 * math.log(size * (size + 1) / (1 - confidence)) / sums.used)
    off = largest**2 * (share + 4 * sums.used * sample.columns * _UNIT)  # and rounding
    if sample.shown:
        gram = sums.products / sums.shown
        radius = share * math.sqrt(sums.squares * sums.used) / sums.shown
    elif sample.norm is not None:
        norm = np.broadcast_to(sample.norm, size)
        gram, radius = sums.centred(sample.mean) / np.outer(norm, norm), off + sample.bias
    else:
        means = sums.products / sums.used
        if (most := sums.largest.max()) > largest * (1 + 1e-9):
            raise UsageError(
                f"{sample.named(int(sums.largest.argmax()))} has the value {most:g}, above the "
                f"bound {largest:g}: say in the file what they are at most, as bound = ..."
            )
        if (least := np.diagonal(means).min()) <= off:
            raise UsageError(
                f"{sample.named(int(np.diagonal(means).argmin()))} has the mean square "
                f"{least:.4g}, known to within {off:.4g}, so it may be 0: raise the samples or "
                "leave it out"
            )
        gram, radius = _normalised(means), _spread(means, off)
    return SampledGram(
        members=sample.members,
        gram=gram,
        radius=radius,
        confidence=confidence,
        samples=samples,
        used=sums.used,
        condition=f"if |f(x)| <= {largest:.12g} for every member f and every point x, which "
        "samples cannot show"
        if sample.stated
        else "",
    )


@dataclass(kw_only=True, eq=False)
class _Sums:
    """Sums over points of products of two members (M, M), and of each alone (M,).

    largest: norm of each at a point (M,), where norms are not known. used: points; shown, squares:
    how many signs a point shows, and its square.
    """

    products: Array
    alone: Array
    largest: Array
    used: int = 0
    shown: int = 0
    squares: int = 0

    def centred(self, mean: float | Array) -> Array:
        """The means of products of members less their means."""
        shift = np.broadcast_to(mean, len(self.alone))
        cross = np.outer(self.alone, shift)
        total = self.products - cross - cross.T + self.used * np.outer(shift, shift)
        return np.asarray(total / self.used)


def _sums(sample: Sample, draw: Draw, count: int, progress: Progress = lambda done: None) -> _Sums:
    """Add up the products of all pairs: of signs by their bits."""
    size, wide = len(sample.members), sample.columns
    require_gram(size)
    out = _Sums(products=np.zeros((size, size)), alone=np.zeros(size), largest=np.zeros(size))
    upper = np.zeros((size, size), np.int64)
    chunk = max(64, min(_MOST, _NUMBERS // (size * wide)))
    for start in range(0, count, chunk):
        points = draw(start, min(chunk, count - start))
        progress(min(chunk, count - start))
        if not len(points):
            continue
        values, columns = sample.values(points), len(points) * wide
        if values.dtype != np.uint64 and (np.abs(values) == 1).all():
            values = tokens.pack(values)
        out.used += len(points)
        each = np.full(len(points), wide)
        if values.dtype == np.uint64:
            add_sign_gram(values, columns, upper)
            out.alone += columns - 2 * np.bitwise_count(values).sum(axis=1, dtype=np.int64)
            np.maximum(out.largest, math.sqrt(wide), out=out.largest)
        else:
            with np.errstate(over="ignore", invalid="ignore", under="ignore"):
                out.products += values @ values.T
            out.alone += values.sum(axis=1)
            by_point = values.reshape(size, len(points), wide)
            if sample.shown:
                each = np.count_nonzero(by_point[0], axis=1)
            elif sample.norm is None:
                norms = np.linalg.norm(by_point, axis=2) if wide > 1 else np.abs(values)
                np.maximum(out.largest, norms.max(axis=1), out=out.largest)
        out.shown += int(each.sum())
        out.squares += int((each**2).sum())
    out.products += upper + np.triu(upper, 1).T
    return out


def enumerated(sample: Sample, every: Draw, n: int, most: int = _EVERY) -> Sample:
    """Compute correlations and norms over all 2^n points, which `every` lists, if not too many."""
    if sample.columns * len(sample.members) << n > most:
        return sample
    sums = _sums(sample, every, 1 << n)
    gram = sums.centred(sample.mean)
    norms = np.diagonal(gram)
    if wrong := [i for i, norm in enumerate(norms) if not 0 < norm < math.inf]:
        why = (
            "squares that overflow" if norms[wrong[0]] else "the norm 0: it correlates with nothing"
        )
        raise UsageError(f"{sample.named(wrong[0])} has {why}")
    norm, made = np.sqrt(norms), _normalised(gram)
    largest = float((sums.largest.max() / norm).max())
    return replace(
        sample, largest=largest, norm=norm, certified=made, known="enumerated", stated=False
    )


def correlations(tables: FactorTables) -> Array:
    """Correlate all members, less their means and of norm 1: (M, M), 0 for a constant member.

    Raises UsageError where members cannot be listed or are more than 5000, TooLarge.

    >>> from instances import parse
    >>> correlations(parse("profile:g=majority,d=5,m=3").factor)[0].tolist()
    [1.0, 0.5, 0.5, 0.5]
    """
    sample = _of_codes(tables.family, tables.listed(MOST_MEMBERS), _every(tables))
    if (values := len(sample.members) << tables.n) > 4 * _EVERY:
        raise TooLarge(
            f"{sample.spec[:200]}: the exact correlations of {len(sample.members)} members take "
            f"{values} values over z, at most 2^30 are computed: take fewer members"
        )
    sums = _sums(sample, sample.draw, 1 << tables.n)
    gram = sums.centred(sums.alone / sums.used)
    norms = np.sqrt(np.diagonal(gram).clip(0))
    scale = np.where(norms > _NONE, norms, np.inf)
    return np.asarray(gram / np.outer(scale, scale))


def _every(tables: FactorTables) -> Draw:
    return lambda start, count: tables.points(start, start + count)


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
    found, high, low = _normalised(gram), gram + radius, gram - radius
    high = np.minimum(np.where(high > 0, high / smallest, high / largest), 1.0)
    low = np.maximum(np.where(low < 0, low / smallest, low / largest), -1.0)
    off = np.maximum(high - found, found - low)
    np.fill_diagonal(off, 0.0)  # 1, whatever the norm is
    return float(off.max()) * (1 + 1e-12) + 8 * _UNIT


# What is sampled


def of_family(
    family: Family, members: int, seed: int, own: Secret | None = None, stored: Draw | None = None
) -> Sample:
    """Choose members of a family, `own` first, and points: stored ones, or fresh ones of the seed.

    stored: start, count -> tokens as the family draws them: packed words where labels are codes.
    Raises UsageError for real labels on tokens of any length.

    >>> from instances import parse
    >>> sample = of_family(parse("parity:d=8,m=2"), members=4, seed=0)
    >>> sampled(sample, 1000, 0.99).gram.shape, sample.certified[0].tolist()
    ((4, 4), [1.0, 0.0, 0.0, 0.0])
    """
    if members < 1:
        raise UsageError(f"--members {members} given: at least 1 is needed")
    require_gram(members if family.size is None else min(members, family.size))
    if not isinstance(family, Coded) or family.hidden_signs:
        sample = _of_real(family, different(family, members, seed, own), seed, stored)
        return replace(sample, stated=not built_in(family))

    def draw(start: int, count: int) -> NDArray[Any]:
        words = stored(start, count) if stored else family.inputs(seed, "verify", start, count)
        return np.asarray(words[family.open(words)])

    if isinstance(family, Symmetric):
        return of_sets(family, different(family, members, seed, own), draw)
    if (forms := family.linear_forms) and not obstacle(forms):
        return _of_forms(forms, different(family, members, seed, own, forms), draw)
    sample = _of_codes(family, different(family, members, seed, own), draw)
    tables = family.factor
    return enumerated(sample, _every(tables), tables.n) if tables else sample


def of_sets(family: Symmetric, members: tuple[Secret, ...], draw: Draw) -> Sample:
    """Correlate hidden sets: exactly by how many elements two of them share.

    >>> from instances import parse
    >>> family = parse("profile:g=majority,d=8,m=3")
    >>> of_sets(family, ((1, 2, 3), (3, 4, 5)), lambda start, count: None).certified.tolist()
    [[1.0, 0.25], [0.25, 1.0]]
    """
    for secret in members:
        family.require_member(secret)
    scheme, profile = Johnson.family(family), np.array([float(v) for v in family.values])
    masks = np.concatenate([tokens.mask(s, family.d) for s in members]).reshape(len(members), -1)
    places, low = np.array(members, np.int64), profile == profile.min()
    by_overlap = np.array([to_float(c / scheme.norm) for c in scheme.correlations])

    def values(words: NDArray[np.uint64]) -> NDArray[Any]:
        z = words[:, 0] ^ words[:, 1]
        if not family.two_valued:
            return np.asarray(profile[count_common_ones(masks, z)])
        bits = mark_counts(to_bit_planes(z, family.d), places, low)
        if len(z) % 64:
            bits[:, -1] &= np.uint64((1 << len(z) % 64) - 1)
        return bits

    return Sample(
        spec=family.spec,
        members=members,
        draw=draw,
        values=values,
        certified=by_overlap[count_common_ones(masks, masks)],
        **_known(
            np.where(low, -1.0, 1.0) if family.two_valued else profile,
            [math.comb(family.m, h) / 2**family.m for h in range(family.m + 1)],
        ),
    )


def _of_forms(family: Modular, members: tuple[Secret, ...], draw: Draw) -> Sample:
    """Functions E[Y|X] of <a, s> mod q, independent in pairs where a is uniform."""
    table = family.response
    if len(set(table)) == 2:
        table = np.where(table == table.min(), -1.0, 1.0)
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
        **_known(table, np.full(family.q, 1 / family.q)),
    )


def _known(table: Array, shares: ArrayLike) -> dict[str, Any]:
    """What is known of members whose values are those of a table, with known shares."""
    mean = float(np.dot(shares, table))
    norm = math.sqrt(np.dot(shares, (table - mean) ** 2))
    return {"mean": mean, "norm": norm, "largest": float(np.abs(table - mean).max()) / norm}


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
                f"{family} given: labels of {dense.token_text} tokens have no bound, which the "
                "confidence of a sampled mean needs: take tokens=boolean"
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
            where="tokens",
        )

    def values(x: NDArray[Any]) -> NDArray[Any]:
        found = np.stack([signs(s, x).ravel() for s in members]).astype(np.float32)
        if not (np.abs(found) == (found[0] != 0)).all():
            raise ToolkitError(
                f"{family.spec[:200]}: `hidden_signs` must be -1 or +1, and 0 on the same examples "
                "for every member"
            )
        return found

    def draw(start: int, count: int) -> NDArray[Any]:
        x = fresh(start, count)
        return np.asarray(x[(signs(members[0], x) != 0).any(axis=1)])

    return Sample(
        spec=family.spec,
        members=members,
        draw=draw,
        values=values,
        columns=signs(members[0], dense.inputs(seed, "verify", 0, 1)).shape[1],
        certified=family.sign_correlations(members),
        shown=True,
        where="tokens that show a hidden sign",
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
    own: Secret | None = None,
    forms: Modular | None = None,
) -> tuple[Secret, ...]:
    """Draw different secrets, `own` first; all of them where there are no more.

    forms: of whose secrets one of those that are alike is enough; how many of these there are is
    not known, and all that many draws give are taken.
    """
    rng = generator(seed, "members", family.seed_spec)
    alike = partial(representative, forms) if forms else tuple
    wanted = members if forms or family.size is None else min(members, family.size)
    found: dict[Secret, Secret] = {alike(own): own} if own else {}
    for _ in range((_CLASS_TRIES if forms else _TRIES) * wanted):
        if len(found) >= wanted:
            break
        secret = family.draw(rng)
        found.setdefault(alike(secret), secret)
    if len(found) < wanted and not forms:
        raise ToolkitError(
            f"{family.spec[:200]}: draws give {len(found)} different members, not {wanted}: fix "
            "`draw` or `size`, or ask for fewer members"
        )
    return tuple(found.values())[:wanted]


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
