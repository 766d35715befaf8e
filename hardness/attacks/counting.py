"""Which given samples count as evidence, and which entries of a secret they determine.

Evidence multiplies the chances of labels, so a sample counts only if it does not follow from
others. The rows below follow from others. "Rare" means a chance below 2^-30 if rows are uniform.

1. a row (a, b) that is 0 mod q, or c (a', b') mod q for another row;
2. rows with at most t coefficients other than 0 in a random basis, if so many are rare. The
   coefficients are uniform (with a noisy b on a hyperplane: a set is at most q times as likely);
3. rows of short integer relations that LLL finds, if so many of such lengths are rare;
4. all rows but a basis, if the span of the columns of A has a vector with too many zeros, or if
   too many sums of up to four signed rows of A are 0 mod q. Both happen if rows are sums of few
   others. Here "rare" is 2^-20 or ten standard deviations of uniform tables;
5. all rows but a basis, if the searches of 2 and 3 keep finding rows, or 3 finds many relations;
6. all rows but a basis, if the rank of the matrix is too low for its columns. Zero columns and
   sparse relations of columns are excepted. The same holds if noisy labels follow from a solution
   without errors.

Dense combinations of as many rows as there are independent columns look like fresh rows, and
nothing here distinguishes them. Sums of few rows can be missed as well, most easily if there are
few rows or if each sum has many. So a claim rests on the assumption that the rows that count were
drawn independently.
"""

import math
from collections.abc import Iterable, Iterator
from itertools import chain, product
from typing import Any

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc, gammaln

from hardness.attacks.core import SPARE_BITS, is_member
from hardness.attacks.elimination import entries, independent, inverse
from instances.family import Secret
from instances.lwe import Modular
from instances.residues import centred, dot, factors
from instances.samples import Samples
from instances.secrets import Secrets
from instances.streams import generator

_CHANCE_LIMIT = 2.0**-SPARE_BITS  # a structure less likely than this is not due to chance
_COLUMN_CHANCE = 2.0**-5  # the same for sparse relations of columns, which are common
_QUIET_LOOKS = 3  # successive searches that find nothing before the search ends
_BUSY_LOOKS = 3  # searches that may find dependent rows; after more the table consists of sums
_ROWS_PER_COLUMN = 2  # rows for each column in a search for short relations
_MIN_ROWS = 48  # rows in such a search, at least
_RELATION_COLUMNS = 48  # columns in such a search, at most
_SHORT_SQUARE = 4  # the square norm for each row of a short relation, at most
_TABLE_CHANCE = 2.0**-20  # the chance that uniform rows are mistaken for a table of sums
_SPARSE_ROWS = 1 << 12  # rows that are searched for sparse vectors
_SUM_ROWS = 700  # rows whose sums are counted
_SPARSE_LOOKS = 32  # searches for sparse vectors
_SMALL_Q = 8  # the largest q whose sums of two columns are searched
_SIMULATED_TABLES = 8  # uniform tables that sums are compared with
_FAR_DEVIATIONS = 10  # standard deviations from the mean of these tables
_ONE_LOOK_WORK = 1 << 30  # multiplications for a basis: above this there is a single search
_MAX_WORK = 1 << 32  # multiplications for a basis: above this only part of the rows is examined
_ALTERNATIVES = 1 << 12  # other secrets of an affine space that are tried
_MOST_VALUES = 33  # values of an entry that are all tried
_BATCH_LABELS = 1 << 26  # labels of those that differ in one or two entries

Rows = NDArray[np.intp]
Residues = NDArray[np.int64]


def counted_rows(samples: Samples) -> tuple[Rows, Rows]:
    """Find the samples that do not follow from others: those to learn from, those that count.

    Both are the same, except for large sizes: then only some rows are examined, and only these
    count. The rows of rounded labels are the rows of A alone. Which rows count does not depend on
    their order, except that one of a set of copies is kept.

    >>> from instances import parse
    >>> a = np.array([[1, 2], [2, 4], [6, 5], [0, 0], [3, 1]])
    >>> codes = np.array([3, 6, 4, 0, 5])
    >>> drawn = Samples(family=parse("lwe:n=2,q=7,sigma=1"), a=a, codes=codes)
    >>> counted_rows(drawn)[0].tolist()
    [0, 4]
    """
    family, q = samples.family, samples.q
    rng, exact = generator(0, "rows that count", family.seed_spec), family.interval == 1
    rows = np.column_stack([samples.a, samples.b]) if exact else samples.a
    kept = distinct(rows, q)
    columns, rank = _columns(samples.a[kept], q, rng)
    noisy = exact and family.errors is not None
    if noisy and rank == len(columns):  # labels without errors follow from a solution
        whole = _basis(rows[kept][:, np.append(columns, family.n)], q, rng)
        bits = -math.log2(family.chances.max()) * (len(kept) - rank)
        noisy = len(whole) > rank or bits >= SPARE_BITS
    columns = np.append(columns, family.n) if noisy else columns
    basis = _basis(rows[kept][:, columns], q, rng)
    if len(basis) < len(columns):
        return np.sort(kept[basis]), np.sort(kept[basis])
    left, others = np.split(rng.permutation(kept), [max(1, _MAX_WORK // len(columns) ** 2)])
    looks = [_following, _related] if len(columns) <= _RELATION_COLUMNS else [_following]
    quiet, rounds, table = 0, 0, False
    patience = _QUIET_LOOKS if len(left) * len(columns) ** 2 <= _ONE_LOOK_WORK else 1
    while quiet < patience and not table and len(left) > len(columns):
        quiet += 1
        for look in looks:
            follows = look(rows[left], columns, q, q if noisy else 1, rng)
            if follows.any():
                left, quiet, rounds = left[~follows], 0, rounds + 1
                table |= look is _related and 2 * follows.sum() > len(columns)
        table |= rounds > _BUSY_LOOKS
    if table or _rows_are_sums(samples.a[left], q, rng):  # the rows that remain are sums as well
        left, others = left[_basis(rows[left][:, columns], q, rng)], others[:0]
    return np.sort(np.concatenate([left, others])), np.sort(left)


def distinct(rows: Residues, q: int) -> Rows:
    """Find rows (N, D) that are not multiples of one another mod q, nor 0.

    The first of a set of copies is kept. The order of the result does not depend on that of rows.

    >>> distinct(np.array([[4, 6], [6, 1], [2, 3], [4, 2], [0, 0]]), 8).tolist()
    [1]
    """
    if q == 2:
        kept = _first(np.packbits(rows, axis=1))
        return kept[rows[kept].any(axis=1)]
    powers = factors(q)
    parts = [_primitive(rows, p, exponent) for p, exponent in powers]
    shared = np.column_stack([part for part, _ in parts])
    kept = _first(np.column_stack([shared, *(part for _, part in parts)]))
    kept = kept[(shared[kept] < [exponent for _, exponent in powers]).any(axis=1)]
    for level in np.unique(shared[kept], axis=0):
        here = (shared[kept] == level).all(axis=1)
        below = (shared[kept] <= level).all(axis=1) & ~here
        if below.any():
            moduli = [p ** (e - int(power)) for (p, e), power in zip(powers, level, strict=True)]
            reduced = [part[kept] % m for (_, part), m in zip(parts, moduli, strict=True)]
            keys = [row.tobytes() for row in np.column_stack(reduced)]
            seen = {keys[i] for i in np.flatnonzero(below)}
            kept = kept[~(here & [key in seen for key in keys])]
    return kept


def _first(keys: NDArray[np.integer[Any]]) -> Rows:
    """Find the first row of each set of equal rows, in the order of their bytes."""
    whole = np.ascontiguousarray(keys)
    packed = whole.view(np.dtype((np.void, whole.dtype.itemsize * whole.shape[1]))).ravel()
    return np.unique(packed, return_index=True)[1]


def _primitive(rows: Residues, p: int, exponent: int) -> tuple[Rows, Residues]:
    """Divide rows by the power of p they share, and make the first unit 1: exponents (N,), rows."""
    out, shared = rows % p**exponent, np.full(len(rows), exponent)
    for power in reversed(range(exponent)):
        shared[(out % p ** (power + 1)).any(axis=1)] = power
    out //= p ** shared[:, None]
    units = np.take_along_axis(out, (out % p != 0).argmax(axis=1)[:, None], axis=1)[:, 0]
    units[shared == exponent] = 1
    each, places = np.unique(units, return_inverse=True)
    inverses = np.array([pow(int(unit), -1, p**exponent) for unit in each], np.int64)
    return shared, out * inverses[places][:, None] % p ** (exponent - shared)[:, None]


def _basis(rows: Residues, q: int, rng: np.random.Generator) -> Rows:
    """Find random rows of (N, D) that are independent modulo every prime that divides q."""
    order, step = rng.permutation(len(rows)), rows.shape[1] + 64
    picked = order[:0]
    for start in range(0, len(rows), step):
        tried = np.concatenate([picked, order[start : start + step]])
        more = tried[independent(rows[tried], q)]
        if len(more) in (len(picked), rows.shape[1]):  # few rows are outside such a span
            return more
        picked = more
    return picked


def _coefficients(rows: Residues, basis: Residues, q: int) -> Residues:
    """Compute the X with rows = X basis mod q: (N, D), (D, D) -> (N, D)."""
    return _product(rows, entries(inverse(basis, q)), q)


def _product(left: Residues, right: Residues, q: int) -> Residues:
    """Multiply mod q, exactly for q up to 2^20: sums of up to 2^15 products stay below 2^53."""
    product = centred(left, q).astype(np.float64) @ centred(right, q).astype(np.float64)
    return product.astype(np.int64) % q


def _columns(a: Residues, q: int, rng: np.random.Generator) -> tuple[Rows, int]:
    """Find the rank, and the columns of A except those that sparse relations explain."""
    every, (rows, base) = np.arange(a.shape[1]), _pivots(a, q, rng)
    others = np.setdiff1d(every, base)
    if not (len(others) and len(base) == len(rows) > 0):
        return every, len(rows)
    x = _coefficients(a[np.ix_(rows, others)].T, a[np.ix_(rows, base)].T, q)
    everywhere = (_product(a[:, base], x.T, q) == a[:, others]).all()
    for modulus in [*(p for p, _ in factors(q)), *([q] if everywhere else [])]:
        widest = np.count_nonzero(x % modulus, axis=1).max()
        if bdtr(widest, len(rows), 1 - 1 / modulus) ** len(others) < _COLUMN_CHANCE:
            return base, len(rows)
    return every, len(rows)


def _pivots(a: Residues, q: int, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Find random independent rows of A, and independent columns of these."""
    rows = _basis(a, q, rng)
    return rows, np.array(independent(a[rows].T, q) if len(rows) else [], np.intp)


def _following(
    rows: Residues, columns: Rows, q: int, slack: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Return which rows are combinations of fewer rows of a random basis than chance explains.

    slack: a set of coefficients may be so many times as likely as for uniform rows.
    """
    size, basis = len(columns), _basis(rows[:, columns], q, rng)
    if len(basis) < size:
        return np.zeros(len(rows), np.bool_)
    x = _coefficients(rows[:, columns], rows[np.ix_(basis, columns)], q)
    exact = (_product(x, rows[basis], q) == rows).all(axis=1)
    exact[basis] = False
    weight = np.count_nonzero(x, axis=1)
    counts = np.bincount(weight[exact], minlength=size + 1).cumsum()
    chances = np.minimum(1, slack * bdtr(np.arange(size + 1), size, 1 - 1 / q))
    rare = (counts > 0) & (bdtrc(counts - 1, len(rows) - size, chances) < _CHANCE_LIMIT)
    return exact & (weight <= (np.flatnonzero(rare)[-1] if rare.any() else -1))


def _related(
    rows: Residues, columns: Rows, q: int, slack: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Return rows that follow from others by short integer relations, if so many are not chance.

    LLL searches for relations x of some rows: x rows = 0 mod q. If `count` vectors are as short as
    the longest of j relations, at most (count q^-D slack)^j / j! such sets are expected by chance.
    """
    size = len(columns)
    some = rng.permutation(len(rows))[: max(_ROWS_PER_COLUMN * size, _MIN_ROWS)]
    basis = some[_basis(rows[np.ix_(some, columns)], q, rng)]
    follows = np.zeros(len(rows), np.bool_)
    if len(basis) < size:
        return follows
    others = np.setdiff1d(some, basis)
    x = _coefficients(rows[np.ix_(others, columns)], rows[np.ix_(basis, columns)], q)
    some = np.concatenate([others, basis])
    lattice = np.eye(len(some), dtype=np.int64) * np.repeat([1, q], [len(others), size])[:, None]
    lattice[: len(others), len(others) :] = -x
    short = fmpz_mat(lattice.tolist()).lll().tolist()
    vectors = centred(np.array([[int(v) for v in row] for row in short]), q)
    norms, exact = (vectors**2).sum(axis=1), ~_product(vectors, rows[some], q).any(axis=1)
    order = np.argsort(norms, kind="stable")
    vectors = vectors[order[((norms > 0) & (norms <= _SHORT_SQUARE * len(some)) & exact)[order]]]
    vectors = vectors[independent(vectors, q)]
    norms, number = (vectors**2).sum(axis=1), np.arange(1, len(vectors) + 1)
    bits = _counts(len(some), q, int(norms.max(initial=0)))[norms] + math.log2(slack)
    rare = number * (bits - size * math.log2(q)) - gammaln(number + 1) / math.log(2) < -SPARE_BITS
    if rare.any():
        shown = vectors[: np.flatnonzero(rare)[-1] + 1]
        follows[some[independent(shown.T, q)]] = True
    return follows


def _rows_are_sums(a: Residues, q: int, rng: np.random.Generator) -> bool:
    """Return whether rows of A look like sums of few others, beyond what chance explains.

    What chance explains is computed exactly for sparse vectors, and simulated for relations.
    """
    rows, base = _pivots(a, q, rng)
    if len(rows) != len(base):
        return False
    a = a[:, base][distinct(a[:, base], q)]
    a = a[rng.permutation(len(a))]
    return _sparse_vectors(a[:_SPARSE_ROWS], q, rng) or _many_relations(a[:_SUM_ROWS], q, rng)


def _sparse_vectors(a: Residues, q: int, rng: np.random.Generator) -> bool:
    """Return whether the span of the columns of A (N, D) has vectors with too many zeros.

    It has if rows are sums of few rows of a base that is little larger than D. The vectors examined
    are the columns of A over random bases of its rows and, for small q, sums of two of them.
    """
    size = a.shape[1]
    units = [u for u in range(1, q) if math.gcd(u, q) == 1] if q <= _SMALL_Q else []
    looks = _ONE_LOOK_WORK // (size**2 * max(1, len(a)) * (1 + q * len(units)))
    looks = max(1, min(_SPARSE_LOOKS, looks))
    tried, numbers = looks * size * (1 + size * len(units) / 2), np.arange(len(a) - size + 1)
    rare = bdtrc(numbers - 1, len(numbers) - 1, 1 / q) * tried < _TABLE_CHANCE
    for _ in range(looks if rare[1:].any() else 0):
        basis = _basis(a, q, rng)
        if len(basis) < size:
            return False
        x = _coefficients(np.delete(a, basis, axis=0), a[basis], q)
        zeros = [(x == 0).sum(axis=0)]
        hot = [(x == value).astype(np.float32) for value in range(q if units else 0)]
        for unit in units:
            alike = sum(hot[value].T @ hot[unit * value % q] for value in range(q))
            zeros.append((alike - np.diag(np.diag(alike))).astype(int).ravel())
        if rare[max(int(part.max()) for part in zeros)]:
            return True
    return False


def _many_relations(a: Residues, q: int, rng: np.random.Generator) -> bool:
    """Return whether too many sums of up to four rows of A, with signs, are 0 mod q."""

    def count(rows: Residues) -> int:
        digits = int(62 / math.log2(q))
        if digits < rows.shape[1]:  # a linear hash of the rows
            rows = rows @ rng.integers(0, q, (rows.shape[1], digits)) % q
        powers = q ** np.arange(rows.shape[1])
        signs = (1,) if q == 2 else (1, -1)
        pairs = [(rows[:i] + s * rows[i]) % q for i in range(1, len(rows)) for s in signs]
        keys = np.concatenate([np.minimum(v @ powers, -v % q @ powers) for v in pairs] or [[0]])
        alike = np.unique(keys[keys > 0], return_counts=True)[1]
        return int((alike * (alike - 1) // 2).sum())

    some, signs = len(a), 1 if q == 2 else 2
    expected = (signs * math.comb(some, 2)) ** 2 * signs / 2 * 2.0 ** (-math.log2(q) * a.shape[1])
    number = count(a)
    if expected < _TABLE_CHANCE or number < 1.1 * expected + 8:
        return number > 0 and expected < _TABLE_CHANCE
    simulated = []
    for _ in range(_SIMULATED_TABLES):
        rows = rng.integers(0, q, (4 * some, a.shape[1]))
        rows = rows[rng.permutation(distinct(rows, q))[:some]]
        if len(rows) < some:  # q^D is hardly larger than the table
            return False
        simulated.append(count(rows))
    mean = float(np.mean(simulated))
    return number > mean + _FAR_DEVIATIONS * max(float(np.std(simulated)), math.sqrt(mean), 1.0)


def _counts(length: int, q: int, largest: int) -> NDArray[np.float64]:
    """Compute log2 of the number of vectors mod q whose square norm is at most 0, 1, .., largest.

    >>> 2 ** _counts(3, 5, 4)
    array([ 1.,  7., 19., 27., 33.])
    """
    squares = centred(np.arange(q), q) ** 2
    single = np.bincount(squares[squares <= largest], minlength=largest + 1).astype(float)
    counts, scale = np.eye(1, largest + 1)[0], 0.0
    for _ in range(length):
        counts = np.convolve(counts, single)[: largest + 1]
        scale, counts = scale + math.log2(counts.max()), counts / counts.max()
    return scale + np.log2(counts.cumsum())


def open_entries(samples: Samples, secret: Secret) -> list[int]:
    """Find the entries of a secret that samples do not determine: others fit within 30 bits.

    The others differ in one entry or two (in one, if there are too many pairs), or have the same
    A s. If a low rank leaves too many of the latter to list, all entries are open, unless fewer
    than 2^-30 of them are expected.

    >>> from instances import parse
    >>> a = np.arange(20)[:, None] ** [1, 2, 3] % 97 * [1, 1, 0]
    >>> family = parse("lwe:n=3,q=97,sigma=1,secret=binary")
    >>> open_entries(Samples(family=family, a=a, codes=a[:, 1]), (0, 1, 1))
    [2]
    """
    family, q, law = samples.family, samples.q, samples.family.secrets
    least, left = samples.evidence(secret) - SPARE_BITS, set[int]()
    rows, base = _pivots(samples.a, q, generator(0, "columns of samples", family.seed_spec))
    others = np.setdiff1d(np.arange(family.n), base)
    listed = len(law.values) ** len(others) <= _ALTERNATIVES
    unlikely = math.log2(law.size) - len(rows) * math.log2(q) <= -SPARE_BITS
    same: Iterable[Secret | None] = ()
    if len(base) < len(rows):  # columns depend on each other modulo another prime than rows
        listed, unlikely = law.size <= _ALTERNATIVES, False
        same = law.listed() if listed else ()
    elif len(others):
        x = _coefficients(samples.a[np.ix_(rows, others)].T, samples.a[np.ix_(rows, base)].T, q)
        if law.entries is None and not law.h:  # the other entries may have any values
            left.update(others.tolist(), base[x.any(axis=0)].tolist())
        elif listed:
            same = _same(law, np.array(secret), base, others, x)
    if not (listed or unlikely or left):
        return list(range(family.n))
    for other in chain(_near(samples, secret, least), same):
        differ = {j for j in range(family.n) if other and other[j] != secret[j]}
        if other and not differ <= left and is_member(family, other):
            fits = samples.evidence(other) >= least and not family.same(secret, other)
            left |= differ if fits else set()
    return sorted(left)


def _same(
    law: Secrets, entries: Residues, base: Rows, others: Rows, x: Residues
) -> Iterator[Secret | None]:
    """List secrets with the same A s; columns `others` of A are columns `base` times x^T."""
    for values in product(law.values, repeat=len(others)):
        moved = entries.copy()
        moved[others] = values
        moved[base] -= (values - entries[others]) @ x
        yield law.lift((moved % law.q).tolist())


def _near(samples: Samples, secret: Secret, threshold: float) -> Iterator[Secret]:
    """List vectors of at least that evidence that differ from a secret in one entry or two."""
    family, q = samples.family, samples.q
    moves = [(j, v) for j, old in enumerate(secret) for v in _values(family, old) if v != old]
    t = dot(samples.a, np.array(secret, np.int64), q)
    chunk = max(1, _BATCH_LABELS // (16 * len(samples)))

    def steps(some: list[tuple[int, int]]) -> Residues:
        return np.stack([samples.a[:, j] * (v - secret[j]) % q for j, v in some])

    def fits(steps: Residues) -> NDArray[np.bool_]:
        ratios = family.log_ratios((t + steps) % q, samples.codes)
        return np.asarray(ratios.sum(axis=1) >= threshold, np.bool_)

    def moved(*some: tuple[int, int]) -> Secret:
        new = dict(some)
        return tuple(new.get(j, old) for j, old in enumerate(secret))

    for start in range(0, len(moves), chunk):
        some = moves[start : start + chunk]
        yield from (moved(some[i]) for i in np.flatnonzero(fits(steps(some))))
    if len(moves) ** 2 * len(samples) > 2 * _BATCH_LABELS:
        return
    every = steps(moves)
    for i, move in enumerate(moves):
        later = np.array([k for k in range(i + 1, len(moves)) if moves[k][0] != move[0]], np.intp)
        for start in range(0, len(later), chunk):
            part = later[start : start + chunk]
            yield from (moved(move, moves[k]) for k in part[fits(every[i] + every[part])])


def _values(family: Modular, entry: int) -> Iterable[int]:
    """List values for an entry: all of a narrow law, else the nearest and farthest values."""
    values, q = family.secrets.values, family.q
    if len(values) <= _MOST_VALUES:
        return values
    moved = (entry + step for step in (-1, 1, *(q // p for p, _ in factors(q))))
    return [v for v in (centred(value, q) for value in moved) if v in values]
