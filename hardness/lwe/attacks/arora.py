"""Arora-Ge: errors with few values give polynomial equations in the secret, solved in two ways.

Idea: prod_v (b - <a, x> - v) = 0 at x = s, over a field. Errors with w values give equations of
degree w in the secret, and an entry of the secret with v values gives one of degree v. Linear
algebra takes each monomial as an unknown of linear equations. The alternative is a Groebner basis.

Success: certain for bounded errors. Otherwise m samples are used, the largest number whose errors
are all within [-t, t] with probability S. For linear algebra, t is the least with which m is at
least the number of monomials.

Cost: the number of monomials to the power omega = 2. It is C(n + w, w) - 1 for linear algebra and
C(n + D, D) for a basis. D is the degree of regularity of a semi-regular system: the index of the
first coefficient of (1 - z^(2t+1))^m (1 - z^v)^n/(1 - z)^n that is not positive [BFS04].

Searched: all t; D never rises with m. The best t is found in floats, and its D in integers.

Heuristics: the equations are independent, the system is semi-regular; omega = 2 is optimistic.

Source: [AG11, ACFP14, BFS04]
"""

import math
from math import lgamma, log2

import numpy as np
from flint import fmpz, fmpz_poly
from scipy.stats import binom

from hardness.lwe.laws import Law
from hardness.lwe.models import Array, Setting
from hardness.lwe.parameters import LweParameters
from hardness.lwe.record import EXACT_BELOW, Fields, NoEstimate, attack
from hardness.lwe.success import SUCCESS

MOST_DEGREE = 2048  # of a Groebner basis
_LN_SMALL = math.log(0.88)  # below ln asinh(1)
_NEAR = 1e-9  # relative: a coefficient that float64 cannot tell from 0
OMEGA = 2.0  # exponent of linear algebra: the least possible
_MOST_BITS = 4096  # of a modulus that is tested for being prime
_LARGE = 40.0  # above it, exp(x) - 1 is taken as exp(x)
_TABLE = 1 << 12  # largest deviation of a Gaussian whose tails are tabulated
_SMALL_TAIL = -20.0  # ln of a probability, below which ln(1 - p) is taken as -p


@attack("arora-ge", "asymptotic formula", "AG11")
def arora_ge(parameters: LweParameters, setting: Setting) -> Fields:
    """Count the monomials and raise them to the power omega = 2, which is optimistic.

    >>> from hardness.lwe.parameters import parse_parameters
    >>> from hardness.lwe.models import ROUGH
    >>> count = arora_ge(parse_parameters("lwe:n=40,q=1601,error=uniform,width=2"), ROUGH)
    >>> count.samples, round(count.rop, 1)
    (860, 19.5)
    """
    reason = no_field(parameters)
    if reason or parameters.error is None:
        raise NoEstimate(reason)
    binary = parameters.secret.values == 2
    degree = parameters.error.values
    if parameters.error.kind == "gaussian":  # t so large that all samples stay within it
        degrees, logs = equations(parameters.error, None, setting.success)
        pairs = zip(degrees.astype(int).tolist(), (logs / math.log(2)).tolist(), strict=True)
        degree = next(
            (w for w, bits in pairs if bits >= monomial_bits(parameters.n, w, binary)), parameters.q
        )
    if degree >= parameters.q:
        raise NoEstimate("every element of Z_q is an error")
    count = monomial_bits(parameters.n, degree, binary)
    return {
        "rop": OMEGA * count,
        "mem": 2 * count,
        "d": degree,
        "sample_bits": count,
        "search": "nothing is free",
        "note": f"2^{count:.1f} monomials of degree up to {degree}, to the power omega = "
        f"{OMEGA:g}, the least possible",
    }


def monomial_bits(n: int, degree: int, binary: bool = False) -> float:
    """Return log2 of the number of monomials of degree 1 .. w in n unknowns, C(n + w, w) - 1.

    binary: count square-free monomials only.

    >>> round(2 ** monomial_bits(3, 2)), round(2 ** monomial_bits(3, 2, binary=True))
    (9, 6)
    """
    few, ln_many = min(n, degree), math.log(max(n, degree))
    ln_j = np.log(np.arange(1, few + 1))
    if binary:
        logs = np.cumsum(np.log(n - np.arange(few)) - ln_j)
        return float(np.logaddexp.reduce(logs)) / math.log(2)
    ln = float(np.sum(np.logaddexp(ln_many, ln_j) - ln_j))
    return (math.log(math.expm1(ln)) if ln < _LARGE else ln) / math.log(2)


@attack("arora-gb", "heuristic model", "AG11, ACFP14, BFS04")
def arora_gb(parameters: LweParameters, setting: Setting) -> Fields:
    """Estimate a Groebner basis of the equations with the least degree of regularity.

    >>> from hardness.lwe.models import ROUGH
    >>> from hardness.lwe.parameters import parse_parameters
    >>> basis = arora_gb(parse_parameters("lwe:n=64,q=1009,sigma=1", samples=256), ROUGH)
    >>> basis.t, basis.m, basis.d, round(basis.rop, 1)
    (4, 256, 93, 298.3)
    """
    law, n, q = parameters.error, parameters.n, parameters.q
    if law is None or (reason := no_field(parameters)):
        raise NoEstimate(reason if law else "no error: linear algebra does it")
    success = setting.success
    if parameters.secret.kind == "gaussian" and parameters.secret.weight is None:
        success = math.sqrt(success)  # entries of the secret must stay in a range too
    degrees, logs = equations(law, parameters.rows, success)
    below = degrees < min(q, 2.0**64)  # equations of degree q are true for every secret
    degrees, logs = degrees[below], logs[below]
    if parameters.rows != 0 and not degrees.size and law.values >= q:
        raise NoEstimate("every element of Z_q is an error")
    values = secret_values(parameters, success)
    least = least_regularity(n, values, degrees, logs)
    if least is None:
        few = n * (values - 1) < MOST_DEGREE
        brute = "equations of samples are of no use beside those of entries: brute-force"
        return {"reason": brute if few else f"no degree up to {MOST_DEGREE} ends the computation"}
    regular, degree, count = least
    bits, count_bits = basis_bits(n, regular), log2(max(1, count))
    return {
        "rop": OMEGA * bits,
        "mem": 2 * bits,
        "d": regular,
        "t": degree // 2,
        "m": count if count_bits <= EXACT_BELOW else None,
        "sample_bits": count_bits,
        "prob": success,
        "search": f"all t, regularity up to {MOST_DEGREE}; that of the best is exact",
        "note": f"2^{count_bits:.1f} equations of degree {degree}, degree of regularity {regular}, "
        f"linear algebra with omega = {OMEGA:g}, the least possible",
    }


def no_field(parameters: LweParameters) -> str:
    """Return why there are no equations over the field Z_q; empty if there are."""
    q = parameters.q
    if parameters.error is None or not parameters.error.deviation:
        return "no error: linear algebra does it"
    if q % 2 and q.bit_length() > _MOST_BITS:
        return f"q has {q.bit_length()} bits: whether it is a prime is tested up to {_MOST_BITS}"
    if q > 2 and not (q % 2 and fmpz(q).is_probable_prime()):
        text = str(q) if parameters.log2_q < 64 else f"2^{parameters.log2_q:.1f}"
        return f"q = {text} is no prime: only polynomials over the field Z_q are counted"
    return ""


def equations(law: Law, rows: int | None, success: float = SUCCESS) -> tuple[Array, Array]:
    """List degrees of equations, and ln of how many of each hold together with a probability.

    Errors within [-t, t] give degree 2t + 1. Errors with w values in a bounded range give equations
    of degree w that always hold.

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
    kept = (logs >= 0) & (degrees <= MOST_DEGREE)
    return np.asarray(degrees[kept], float), np.asarray(logs[kept], float)


def _tails(law: Law) -> Array:
    """Compute ln Pr[|e| > t] for t = 0, 1, ..; empty for laws other than gaussian and cbd."""
    half = MOST_DEGREE // 2
    if law.kind == "gaussian" and 0 < law.deviation <= _TABLE:
        x = np.arange(half + 64 + round(8 * law.deviation))
        weights = -((x / law.deviation) ** 2) / 2
        beyond = np.logaddexp.accumulate(weights[::-1])[::-1]  # of t and above
        ln_total = np.logaddexp(0.0, math.log(2) + beyond[1])
        return math.log(2) + beyond[1 : half + 1] - ln_total
    if law.kind == "cbd":
        return math.log(2) + binom.logsf(law.high + np.arange(law.high), 2 * law.high, 0.5)
    return np.zeros(0)


def secret_values(parameters: LweParameters, success: float = SUCCESS) -> int:
    """Return the number of values of an entry of the secret.

    For a Gaussian, it is the number of values that contain all entries with the probability.

    >>> from hardness.lwe.parameters import parse_parameters
    >>> secret_values(parse_parameters("lwe:n=64,q=3329,sigma=3,secret=ternary,h=6"))
    3
    """
    law = parameters.secret
    if law.kind == "gaussian" and law.weight is None:
        degrees, logs = equations(law, None, success)
        return int(degrees[logs >= math.log(parameters.n)].min(initial=law.values))
    return law.values


def regularity(n: int, values: int, degree: int, count: int) -> int | None:
    """Compute the degree of regularity exactly; None if it is above 2048.

    count, degree: of the equations from samples. values: v, since each of n unknowns obeys an
    equation of degree v.

    >>> regularity(41, 2, 17, 1), regularity(63, 3, 29, 833)
    (29, 68)
    """
    return _regularity(n, values, degree, count, min(MOST_DEGREE, n * (values - 1) + 1) + 1)


def _regularity(n: int, values: int, degree: int, count: int, length: int) -> int | None:
    factor = [0] * length
    term = 1
    for j in range(min(count, (length - 1) // degree) + 1):
        factor[j * degree] = term
        term = -term * (count - j) // (j + 1)
    product = fmpz_poly(_unknowns(n, values, length)).mul_low(fmpz_poly(factor), length)
    return next((i for i in range(length) if product[i] <= 0), None)


def _unknowns(n: int, values: int, length: int) -> list[int]:
    """Return the first coefficients of F = ((1 - z^v)/(1 - z))^n.

    The recursion compares coefficients of
    (1 - z)(1 - z^v) F' = n (1 - v z^(v-1) + (v - 1) z^v) F.
    """
    v, series = values, [1]
    for i in range(1, length):
        term = (n + i - 1) * series[i - 1]
        if i >= v:
            term += (i - v - n * v) * series[i - v]
        if i > v:
            term += (n * (v - 1) - i + v + 1) * series[i - v - 1]
        series.append(term // i)
    return series


def basis_bits(n: int, regular: int) -> float:
    """Compute log2 of the C(n + D, D) monomials in n unknowns up to degree D.

    >>> round(basis_bits(41, 30), 2)
    66.38
    """
    return (lgamma(n + regular + 1) - lgamma(regular + 1) - lgamma(n + 1)) / math.log(2)


def least_regularity(n: int, values: int, degrees: Array, logs: Array) -> tuple[int, ...] | None:
    """Find the equations with the least degree of regularity: (regularity, degree, count).

    Among equal ones it takes the least degree. Adding equations never raises the regularity, so as
    many are taken as allowed. None if the samples do not lower the regularity of the unknowns' own
    equations, which amounts to trying all secrets.
    """
    own = n * (values - 1) + 1  # the regularity without samples
    longest = min(MOST_DEGREE, own) + 1
    for length in sorted({min(1 << bits, longest) for bits in range(6, 13)}):
        series = _log_series(n, values, length)
        pairs = zip(degrees.astype(int).tolist(), logs.tolist(), strict=True)
        tried = ((_first(series, w, log), w, log) for w, log in pairs if w < length)
        regular, degree, log = min(tried, default=(length, 0, 0.0))
        if regular < length:
            break
    else:
        return None
    enough = _unknowns(n, values, degree + 1)[degree]  # equations with regularity = degree
    if log <= math.log(max(1, enough)):
        shift = max(0, math.floor(log / math.log(2)) - 60)
        enough = round(math.exp(log - shift * math.log(2))) << shift  # to 53 bits
    exact = _regularity(n, values, degree, enough, regular + 1)
    exact = exact or regularity(n, values, degree, enough)
    return None if exact is None or exact >= own else (exact, degree, enough)


def _log_series(n: int, values: int, length: int) -> Array:
    i = np.arange(1, length)
    with np.errstate(divide="ignore"):
        if values >= length:
            return np.concatenate([[0.0], np.cumsum(np.log((n + i - 1) / i))])
        if values == 2:
            return np.concatenate([[0.0], np.cumsum(np.log(np.maximum(n + 1 - i, 0) / i))])
    series = _unknowns(n, values, length)
    return np.array([math.log(c) if c > 0 else -math.inf for c in series])


def _first(series: Array, degree: int, log: float) -> int:
    """Find the first index at which the coefficient of S(z) (1 - z^w)^m is not positive.

    It is len(S) if there is none. series: ln of the coefficients of S. log: ln m. Coefficients are
    divided by those of S: sum_j (-1)^j C(m, j) S_{i - jw}/S_i. Since S is log-concave, this is at
    least 1 - sinh(m S_{i - w}/S_i), whose quotient grows with i. If this bound is positive at the
    end, the coefficients are not computed.
    """
    first, total, choose, j = len(series), np.ones(len(series)), 0.0, 0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if log + series[-1 - degree] - series[-1] < _LN_SMALL:
            return first
        while (j := j + 1) * degree <= first and j * degree < len(series):  # else nothing changes
            factor = log if log > _LARGE else math.log(max(math.exp(log) - j + 1, 1e-300))
            choose += factor - math.log(j)
            terms = np.exp(choose + series[: -j * degree] - series[j * degree :])
            total[j * degree :] += (-1) ** j * terms
            not_positive = ~(total > _NEAR)
            first = int(not_positive.argmax()) if not_positive.any() else len(series)
    return first
