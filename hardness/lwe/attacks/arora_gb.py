"""Arora-Ge by a Groebner basis of the equations that errors and entries of the secret obey.

Idea: errors within [-t, t] give equations of degree 2 t + 1 in the secret, an entry of the secret
of v values one of degree v; a basis of all of them is computed.

Success: as many of the samples are taken, m, as stay within t together with probability S.

Cost: C(n + D, D)^omega with omega = 2. D is the degree of regularity of a semi-regular system: the
index of the first coefficient that is not positive of (1 - z^(2t+1))^m (1 - z^v)^n/(1 - z)^n
[BFS04].

Searched: all t; D never rises with m. Which t is best is found in floats, its D in integers.

Heuristics: the system is semi-regular; omega = 2 is optimistic.

Source: [AG11, ACFP14, BFS04]
"""

import math
from functools import partial
from math import lgamma, log2

import numpy as np
from flint import fmpz, fmpz_poly
from numpy.typing import NDArray

from hardness.lwe.laws import Law
from hardness.lwe.models import Array, Setting
from hardness.lwe.parameters import LweParameters
from hardness.lwe.record import EXACT_BELOW, Estimate
from hardness.lwe.success import SUCCESS

OMEGA = 2.0  # exponent of linear algebra: what may be hoped for
_MOST_DEGREE = 2048  # of a Groebner basis
_MOST_BITS = 4096  # of a modulus that is tested for being prime
_TABLE = 1 << 12
_SOME = 8
_LN_SMALL = math.log(0.88)  # below ln asinh(1)
_NEAR = 1e-9  # relative: a coefficient that float64 cannot tell from 0
_SMALL_TAIL, _LARGE = -20.0, 40.0


def arora_gb(parameters: LweParameters, setting: Setting) -> Estimate:
    """Estimate a Groebner basis of the equations whose degree of regularity is the least.

    >>> from hardness.lwe.models import ROUGH
    >>> from hardness.lwe.parameters import parse_parameters
    >>> basis = arora_gb(parse_parameters("lwe:n=64,q=1009,sigma=1", samples=256), ROUGH)
    >>> basis.t, basis.m, basis.d, round(basis.rop, 1)
    (4, 256, 93, 298.3)
    """
    estimate = partial(
        Estimate, name="arora-gb", kind="heuristic model", source="AG11, ACFP14, BFS04"
    )
    law, n, q = parameters.error, parameters.n, parameters.q
    if law is None or (reason := no_field(parameters)):
        return estimate(reason=reason if law else "no error: linear algebra does it")
    success = setting.success
    if parameters.secret.kind == "gaussian" and parameters.secret.weight is None:
        success = math.sqrt(success)  # the secret leaves its own range now and then too
    degrees, logs = equations(law, parameters.rows, success)
    below = degrees < min(q, 2.0**64)  # of degree q they hold for every secret
    degrees, logs = degrees[below], logs[below]
    if parameters.rows != 0 and not degrees.size and law.values >= q:
        return estimate(reason="every element of Z_q is an error")
    values = secret_values(parameters, success)
    least = _least(n, values, degrees, logs)
    if least is None:
        few = n * (values - 1) < _MOST_DEGREE
        brute = "equations of samples are of no use beside those of entries: brute-force"
        return estimate(
            reason=brute if few else f"no degree up to {_MOST_DEGREE} ends the computation"
        )
    regular, degree, count = least
    bits, count_bits = basis_bits(n, regular), log2(max(1, count))
    return estimate(
        rop=OMEGA * bits,
        mem=2 * bits,
        d=regular,
        t=degree // 2,
        m=count if count_bits <= EXACT_BELOW else None,
        sample_bits=count_bits,
        prob=success,
        search=f"all t, regularity up to {_MOST_DEGREE}; that of the best is exact",
        note=f"2^{count_bits:.1f} equations of degree {degree}, degree of regularity {regular}, "
        f"linear algebra with omega = {OMEGA:g}, the least possible",
    )


def no_field(parameters: LweParameters) -> str:
    """Return why there are no equations over the field Z_q; empty if there are."""
    q = parameters.q
    if parameters.error is None or not parameters.error.deviation:
        return "no error: linear algebra does it"
    if q % 2 and q.bit_length() > _MOST_BITS:
        return f"q has {q.bit_length()} bits: whether it is a prime is tested up to {_MOST_BITS}"
    if q > 2 and not (q % 2 and fmpz(q).is_probable_prime()):
        shown = str(q) if parameters.log2_q < 64 else f"2^{parameters.log2_q:.1f}"
        return f"q = {shown} is no prime: only polynomials over the field Z_q are counted"
    return ""


def regularity(n: int, values: int, degree: int, count: int) -> int | None:
    """Compute the degree of regularity of m equations of degree w in n unknowns, exactly.

    values: v, of the n equations of degree v that the unknowns obey. None above degree 2048.

    >>> regularity(41, 2, 17, 1), regularity(63, 3, 29, 833)
    (29, 68)
    """
    return _regularity(n, values, degree, count, min(_MOST_DEGREE, n * (values - 1) + 1) + 1)


def _regularity(n: int, values: int, degree: int, count: int, length: int) -> int | None:
    factor = [0] * length
    term = 1
    for j in range(min(count, (length - 1) // degree) + 1):
        factor[j * degree] = term
        term = -term * (count - j) // (j + 1)
    product = fmpz_poly(_unknowns(n, values, length)).mul_low(fmpz_poly(factor), length)
    return next((i for i in range(length) if product[i] <= 0), None)


def _unknowns(n: int, values: int, length: int) -> list[int]:
    """Expand F = ((1 - z^v)/(1 - z))^n up to a length.

    Coefficients of (1 - z)(1 - z^v) F' = n (1 - v z^(v-1) + (v - 1) z^v) F are compared.
    """
    v, found = values, [1]
    for i in range(1, length):
        term = (n + i - 1) * found[i - 1]
        if i >= v:
            term += (i - v - n * v) * found[i - v]
        if i > v:
            term += (n * (v - 1) - i + v + 1) * found[i - v - 1]
        found.append(term // i)
    return found


def basis_bits(n: int, regular: int) -> float:
    """Compute log2 of the C(n + D, D) monomials in n unknowns up to degree D.

    >>> round(basis_bits(41, 30), 2)
    66.38
    """
    return (lgamma(n + regular + 1) - lgamma(regular + 1) - lgamma(n + 1)) / math.log(2)


def equations(law: Law, rows: int | None, success: float = SUCCESS) -> tuple[Array, Array]:
    """List degrees w of equations, and ln of how many of them hold together as often as asked.

    Errors within [-t, t] give degree 2t + 1; errors of a bounded range of w values always hold.

    >>> from hardness.lwe.laws import gaussian
    >>> degrees, logs = equations(gaussian(3.0, q=3329), None)
    >>> int(degrees[1]), round(math.exp(logs[1]))
    (19, 6)
    """
    tail = _tails(law)
    with np.errstate(divide="ignore", over="ignore"):
        logs = np.where(
            tail > _SMALL_TAIL,
            np.log(np.floor(math.log(success) / np.log1p(-np.exp(tail)))),
            math.log(-math.log(success)) - tail,
        )
    degrees = 2.0 * np.arange(len(tail)) + 1
    if law.kind != "gaussian":
        degrees, logs = np.append(degrees, law.values), np.append(logs, np.inf)
    if rows is not None:
        logs = np.minimum(logs, math.log(rows) if rows else -math.inf)
    kept = (logs >= 0) & (degrees <= _MOST_DEGREE)
    return np.asarray(degrees[kept], float), np.asarray(logs[kept], float)


def _tails(law: Law) -> Array:
    """Compute ln Pr[|e| > t] for t = 0, 1, .. below the whole range; none but for bell curves."""
    half = _MOST_DEGREE // 2
    if law.kind == "gaussian" and 0 < law.deviation <= _TABLE:
        x = np.arange(half + 64 + round(8 * law.deviation))
        weights = -((x / law.deviation) ** 2) / 2
        beyond = np.logaddexp.accumulate(weights[::-1])[::-1]  # of t and above
        whole = np.logaddexp(0.0, math.log(2) + beyond[1])
        return math.log(2) + beyond[1 : half + 1] - whole
    if law.kind == "cbd":
        eta = law.high
        shares = np.array([math.comb(2 * eta, eta + i) / 4**eta for i in range(eta + 1)])
        return np.log(2 * np.cumsum(shares[::-1])[::-1][1:])
    return np.zeros(0)


def secret_values(parameters: LweParameters, success: float = SUCCESS) -> int:
    """Count the values of an entry of the secret: v; of a Gaussian, of all entries as often.

    >>> from hardness.lwe.parameters import parse_parameters
    >>> secret_values(parse_parameters("lwe:n=64,q=3329,sigma=3,secret=ternary,h=6"))
    3
    """
    law = parameters.secret
    if law.kind == "gaussian" and law.weight is None:
        degrees, logs = equations(law, None, success)
        return int(degrees[logs >= math.log(parameters.n)].min(initial=law.values))
    return law.values


def _least(n: int, values: int, degrees: Array, logs: Array) -> tuple[int, int, int] | None:
    """Find the equations of the least degree of regularity, of the least degree if several.

    None where samples do not lower what the unknowns' own equations have: that tries all values.
    The degree never rises as equations are added, so that as many are taken as allowed. Some t show
    up to where all have to be looked at.
    """
    own = n * (values - 1) + 1  # where the unknowns' equations end it
    most = min(_MOST_DEGREE, own)
    length = 32
    while length <= most:
        length = min(2 * length, most + 1)
        some = np.flatnonzero(degrees < length)[::_SOME]
        regular = _first(_log_series(n, values, length), degrees[some], logs[some])
        if regular.min(initial=length) < length:
            length = int(regular.min()) + 1
            break
    near = degrees < length
    regular = _first(_log_series(n, values, length), degrees[near], logs[near])
    if regular.min(initial=length) == length:
        return None
    place = int(np.argmin(regular))
    best, degree, log = int(regular[place]), int(degrees[near][place]), float(logs[near][place])
    enough = _unknowns(n, values, degree + 1)[degree]  # ends it at its own degree
    count = enough if log > math.log(max(1, enough)) else _integer(log)
    exact = _regularity(n, values, degree, count, best + 1)
    exact = exact or regularity(n, values, degree, count)
    return None if exact is None or exact >= own else (exact, degree, count)


def _integer(log: float) -> int:
    """Return exp(log) as an integer of any size, to 53 bits."""
    shift = max(0, math.floor(log / math.log(2)) - 60)
    return round(math.exp(log - shift * math.log(2))) << shift


def _log_series(n: int, values: int, length: int) -> Array:
    i = np.arange(1, length)
    with np.errstate(divide="ignore"):
        if values >= length:
            return np.concatenate([[0.0], np.cumsum(np.log((n + i - 1) / i))])
        if values == 2:
            return np.concatenate([[0.0], np.cumsum(np.log(np.maximum(n + 1 - i, 0) / i))])
    found = _unknowns(n, values, length)
    return np.array([math.log(c) if c > 0 else -math.inf for c in found])


def _first(series: Array, degrees: Array, logs: Array) -> NDArray[np.int64]:
    """Find the first index whose coefficient of S(z) (1 - z^w)^m is not positive; len(S) if none.

    Coefficients are taken over those of S: sum_j (-1)^j C(m, j) S_{i - jw}/S_i. S is log-concave:
    that is at least 1 - sinh(m S_{i - w}/S_i), whose quotient grows with i. Equations for which
    this is positive at the end are passed over.
    """
    length, found = len(series), np.full(len(degrees), len(series))
    with np.errstate(invalid="ignore"):
        last = logs + series[length - 1 - degrees.astype(np.int64)] - series[-1]
    open_ = np.flatnonzero(~(last < _LN_SMALL))
    degrees, logs = degrees[open_], logs[open_]
    index = np.arange(length)[None, :]
    total = np.ones((len(degrees), length))
    rows = np.arange(len(degrees))
    w, log = degrees[:, None].astype(np.int64), logs[:, None]
    choose = np.zeros((len(degrees), 1))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for j in range(1, length):
            left = np.where(log > _LARGE, log, np.log(np.maximum(np.exp(log) - j + 1, 0)))
            choose = choose + left - math.log(j)
            kept = ((j * w < length) & (choose > -np.inf))[:, 0]
            kept &= _first_of(~(total[rows] > _NEAR)) >= j * w[:, 0]  # else nothing changes it
            if not kept.any():
                break
            rows, w, log, choose = rows[kept], w[kept], log[kept], choose[kept]
            start = j * int(w.min())
            source = index[:, start:] - j * w
            terms = np.exp(choose + series[np.maximum(source, 0)] - series[None, start:])
            total[rows, start:] += (-1) ** j * np.where(source >= 0, terms, 0.0)
        found[open_] = _first_of(~(total > _NEAR))
    return found


def _first_of(ended: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.where(ended.any(1), ended.argmax(1), ended.shape[1])
