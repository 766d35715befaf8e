"""Blum-Kalai-Wasserman: samples that agree on a block of coordinates are subtracted."""

import math
from math import log2

import numpy as np

from hardness.lwe.models import Array, Integers, Setting
from hardness.lwe.parameters import LweParameters
from hardness.lwe.record import Fields, NoEstimate, attack
from hardness.lwe.scan import scan, spread, window
from hardness.lwe.success import SUCCESS

_MOST_TERMS = 1 << 16
_BATCH_CELLS = 40_000  # steps times choices that are computed at a time
_CLOSE = 1e-9
_FEWEST_BELOW = 12  # l is searched as b - 12 plus a number of `fewer`
_MOST_BLOCKS = 1000  # more would add up over 2^1000 errors, which is beyond float64


@attack("bkw", "asymptotic formula", "BKW03, LF06, ACFFP15, DTV15")
def bkw(parameters: LweParameters, setting: Setting) -> Fields:
    """Blum-Kalai-Wasserman: samples that agree on a block of coordinates are subtracted.

    Idea: n coordinates fall into t blocks of b or less. Each of t - 1 tables cancels one block:
    it holds a sample for each value of the block, up to sign. 2^(t-1) errors have added up in
    what is left.

    Success: a Fourier transform over the last r coordinates finds their secret with probability
    S from 8 ln(q^r/(1 - S))/bias^2 samples, bias = |E exp(2 pi i e/q)|^(2^(t-1)) (Hoeffding,
    union bound).

    Cost: the entries of the tables that pass others, of the samples that pass all, and the
    transform.

    Searched: all b.

    Heuristics: errors are taken as independent of each other and of a. It does not use that a
    secret is small or sparse.

    Source: [BKW03, LF06, ACFFP15, DTV15]

    >>> from hardness.lwe.parameters import parameters_of
    >>> from hardness.lwe.models import ROUGH
    >>> from instances import parse
    >>> round(bkw(parameters_of(parse("lpn:n=32,noise=0.1")), ROUGH).rop)
    17
    """
    reason = no_bias(parameters)
    if reason or parameters.error is None:
        raise NoEstimate(reason)
    n = parameters.n
    sizes = sorted({-(-n // count) for count in range(1, min(n, _MOST_BLOCKS) + 1)})
    (bits, samples, stored), block = min(
        (costs(n, parameters.q, parameters.error.log_bias, size, setting.success), size)
        for size in sizes
    )
    return {
        "rop": bits,
        "mem": stored,
        "sample_bits": samples,
        "t": -(-n // block) - 1,
        "search": "exhaustive over block sizes",
        "note": f"blocks of {block} coordinates, {-(-n // block) - 1} tables; memory counts "
        "samples of n + 1 numbers; secrets that are small or sparse are not made use of",
    }


def costs(
    n: int, q: int, log_bias: float, block: int, success: float = SUCCESS
) -> tuple[float, float, float]:
    """Compute log2 of operations, samples and stored samples of plain steps of b coordinates each.

    >>> [round(v, 1) for v in costs(16, 2, math.log(0.8), 16)]
    [20.0, 7.6, 16.0]
    """
    count = -(-n // block)
    last = n - (count - 1) * block
    if count > _MOST_BLOCKS:
        return math.inf, math.inf, math.inf
    table = block * log2(q) - (q > 2)
    spread = log2(8 * (last * math.log(q) - math.log1p(-success)))
    fresh = spread - 2 ** (count - 1) * 2 * log_bias / math.log(2)
    transform = last * log2(q) + log2(max(1.0, last * log2(q)))
    if count == 1:
        return add(fresh, transform), fresh, last * log2(q)
    # A sample for table i passes i tables, and a final sample passes all, at n + 1 numbers each.
    filling = table + log2(max(1.0, (count - 1) * (count - 2) / 2)) + log2(n + 1)
    passing = fresh + log2((count - 1) * (n + 1))
    stored = table + log2(count - 1)
    return (add(filling, passing, transform), add(stored, fresh), add(stored, last * log2(q)))


def add(*bits: float) -> float:
    """Return log2 of the sum of numbers given by their log2.

    >>> add(3.0, 3.0)
    4.0
    """
    return float(np.logaddexp2.reduce(bits))


def no_bias(parameters: LweParameters) -> str:
    """Return why the attack cannot use the errors; empty if they have a bias."""
    if parameters.error is None or not parameters.error.deviation:
        return "no error: linear algebra does it"
    return "errors are uniform mod q" if parameters.error.log_bias == -math.inf else ""


@attack("coded-bkw", "heuristic model", "GJS15, Lyu05, DTV15, BKW03")
def coded_bkw(parameters: LweParameters, setting: Setting) -> Fields:
    """Blum-Kalai-Wasserman with lattice codes: small secrets need no exact cancelling.

    Idea: the i-th step from the end maps N_i coordinates to the q^b words of a lattice code, and
    samples of one word are subtracted; the last n_test go to a code of q^l words, where a Fourier
    transform finds the secret. What is left of a coordinate has variance 2^i q^(2 (1 - b/N_i))/12
    in the end; lengths are the largest that keep it below that of the test:

        N_i = b/(l/n_test + (i/2) log_q 2),    b if that is less: a plain step without a remainder.

    A sum of k signed samples is a sample too: m of them give C(m, k) 2^(k-1), of k times the
    variance.

    Success: S, with M = 8 ln(q^l/(1 - S)) exp(4 pi^2 sigma^2/q^2) samples that pass all t steps,
    of variance sigma^2 = k 2^t sigma_e^2 + sigma_s^2 q^2/12 (n_test q^(-2 l/n_test) + sum N_i 2^i
    q^(-2b/N_i)).

    Cost: tables of h = (q^b - 1)/2 samples: a plain step subtracts the coordinates that are left
    and the label; step i from the end decodes N_i coordinates of M + i h samples, 4 operations
    each, and subtracts those of M + (i - 1) h; the transform takes q^(l+1) ((l + 1) log2 q + 1);
    one more for an entry of a table.

    Searched: b, l, n_test, and k from the least that gives enough sums; t is the least that
    cancels all.

    Heuristics: samples and sums count as independent.

    Source: [GJS15, Lyu05, DTV15, BKW03]

    >>> from hardness.lwe.models import ROUGH
    >>> from hardness.lwe.sets import resolve_instance
    >>> round(coded_bkw(resolve_instance("ml-kem-512").parameters, ROUGH).rop, 1)
    178.6
    """
    reason = no_bias(parameters) or parameters.too_few or parameters.no_rows
    reason = reason or ("q = 2: codes over bits are others" if parameters.q == 2 else "")
    if reason:
        raise NoEstimate(reason)
    n, bits, spent = parameters.n, parameters.log2_q, parameters.spent
    sums = np.array([math.inf])  # log2 of the sums of 1, 2, .. signed samples, while these grow
    if (rows := parameters.rows) is not None:
        k = np.arange(1, max(1, min(_MOST_TERMS, 2 * rows // 3)) + 1)
        sums = np.cumsum(np.log2((rows - k + 1) / k) + 1) - 1

    def priced(limit: int, b: Integers, words: Integers, test: Integers, more: Integers) -> Array:
        """Return rop, log2 of the samples, k, steps and plain steps, (5, choices), of choices."""
        steps, plain, *sizes = code_sizes(n, bits, b, words, test, limit)
        terms = np.ones(len(b), np.int64)
        able = (steps <= limit) & (words <= test)
        for _ in range(64):  # increase k, with which noise and samples grow, until it suffices
            rop, samples = coded_costs(parameters, b, words, steps, sizes, terms, setting.success)
            enough = np.maximum(terms, np.searchsorted(sums, samples - _CLOSE) + 1)
            able &= enough <= len(sums)
            enough = np.minimum(enough, len(sums))
            if (enough == terms)[able].all():
                break
            terms = enough
        terms = terms + more
        able &= terms <= (_MOST_TERMS if rows is None else len(sums))
        terms = np.where(able, terms, 1)
        rop, samples = coded_costs(parameters, b, words, steps, sizes, terms, setting.success)
        used = np.where(terms == 1, samples, np.log2(terms) + (samples - terms + 1) / terms)
        used = used if rows is None else np.minimum(used, log2(rows))
        if spent:  # the normal form costs n + 1 numbers of each sample, n/(b - 1) times
            rounds = np.ceil(n / np.maximum(1, b - 1))
            rop = np.logaddexp2(rop, used + log2(n + 1) + np.log2(rounds))
        return np.stack([np.where(able, rop, np.inf), used, terms, steps, plain])

    def cost(words: Integers, test: Integers, more: Integers, b: Integers) -> Array:
        choices = np.stack([b, np.maximum(1, b + words - _FEWEST_BELOW), test, more])
        parts = np.array_split(choices, max(1, len(b) * (most + 1) // _BATCH_CELLS), axis=1)
        return np.concatenate([priced(most, *part)[0] for part in parts])

    bound, more = n * bits + 64, [0, 1, 2, 4, 8] if spent else [0]
    choice: tuple[int, ...] = ()
    for dense, fewer in ((4, (8, 11)), (100, (10, 11, 12)), (0, (10, 11, 12, 13))):
        doubled = log2(bound * math.log(2)) - _ln_loss(parameters) / math.log(2)
        most = min(n, max(0, math.floor(doubled)))  # steps whose errors need 2^bound samples
        b = spread(1, min(n, (bound + 1) / bits), 12, dense)
        if choice and not dense:  # in a finer grid
            b, more = window(choice[3], 2, 1, n), window(choice[2], 1, 0, more[-1]).tolist()
        cells = len(b) * len(fewer) * len(more) * (most + 1)
        tests = spread(1, n, max(16, min(200, 10 * _BATCH_CELLS // cells)))
        best = scan(cost, fewer, tests, more, b, few=max(2, min(8, 300 // (most + 1))))
        choice, bound = min(((choice, bound), best), key=lambda point: point[1])
    if not choice:
        reason = f"not reachable with {parameters.samples} samples, nor with sums of them"
        raise NoEstimate(reason)
    less, test, more_terms, block = choice
    words = max(1, block + less - _FEWEST_BELOW)
    point = (np.array([v]) for v in (block, words, test, more_terms))
    _, used, terms, steps, plain = map(float, priced(most, *point)[:, 0])
    table = block * bits - 1
    notes = [
        f"b = {block}, {plain:.0f} plain and {steps - plain:.0f} coded steps, l = {words}, "
        f"n_test = {test}; memory counts samples and cells of the transform"
    ]
    if terms > 1:
        notes.append(f"samples are sums of {terms:.0f}, which count as independent")
    if spent:
        notes.append(f"{spent} samples make the secret as small as the error")
    needed = add(used, log2(spent)) if spent else float(used)
    if rows is not None:
        needed = min(needed, float(parameters.label_bits(rows)))
    return {
        "rop": bound,
        "mem": add(table + log2(steps), (words + 1) * bits) if steps else table,
        "sample_bits": needed,
        "t": int(steps),
        "search": "scan of b, l, n_test and k",
        "note": "; ".join(notes),
    }


def code_sizes(
    n: int, log2_q: float, b: Integers, words: Integers, test: Integers, limit: int
) -> tuple[Array, ...]:
    """Count the steps that cancel all coordinates, and the plain steps among them.

    Choices with more than `limit` steps are not counted. Then it returns the operations for each of
    the h samples of a table, those for each of the M samples that pass all tables, and the variance
    that codes add, in units of sigma_s^2 q^2/12.

    >>> b, words, test = np.array([14]), np.array([13]), np.array([64])
    >>> steps, plain, *_, noise = code_sizes(512, math.log2(3329), b, words, test, 30)
    >>> int(steps[0]), int(plain[0]), round(float(noise[0] * 3329**2 / 1e6))
    (16, 0, 180)
    """
    i, ln_q = np.arange(1.0, limit + 1)[:, None], log2_q * math.log(2)
    ratio = np.minimum(1.0, words / test) + i / (2 * log2_q)
    size = np.maximum(b, np.floor(b / ratio + _CLOSE))
    length = np.cumsum(np.vstack([test[None] + 0.0, size]), axis=0)
    steps = (length < n).sum(axis=0)
    largest = int(steps[steps <= limit].max(initial=0))  # no choice has more steps
    i, size, length = i[:largest], size[:largest], length[: largest + 1]
    coded = (size > b) & (i <= steps)  # the first steps; those after them are plain
    plain = steps - coded.sum(axis=0)
    left, codes = np.where(i <= steps, length[1:], 0.0), np.where(coded, size, 0.0)
    some = coded.any(axis=1)
    with np.errstate(over="ignore"):
        bits = i[some] * math.log(2) - 2 * b / size[some] * ln_q
        added = (codes[some] * np.exp(np.where(coded[some], bits, 0.0))).sum(axis=0)
    noise = np.where(words < test, test * np.exp(-2 * words / test * ln_q), 0.0)
    # The last code is shortened by the excess of coordinates over n.
    excess = np.take_along_axis(length, np.minimum(steps, largest)[None], 0)[0] - n
    shorter = 4 * excess * (plain < steps)
    per_table = steps + 4 * (i.T @ codes)[0] + ((i - 1).T @ left)[0] - shorter
    per_table -= (b - 1) * plain * (2 * steps - plain - 1) / 2 + excess * steps * (steps - 1) / 2
    per_sample = 4 * test + 4 * codes.sum(axis=0) + left.sum(axis=0) - (b - 1) * plain - shorter
    per_sample -= excess * np.maximum(0, steps - (plain == steps))
    return steps, plain, per_table, per_sample, noise + added


def coded_costs(
    parameters: LweParameters,
    b: Integers,
    words: Integers,
    steps: Array,
    sizes: list[Array],
    terms: Integers,
    success: float = SUCCESS,
) -> tuple[Array, Array]:
    """Compute log2 of operations and of samples, each a sum of `terms` available samples.

    sizes: the last three results of `code_sizes`. The cost of the normal form is not included.
    """
    per_table, per_sample, noise = sizes
    bits = parameters.log2_q
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # of steps not counted
        rounding = math.pi**2 / 3 * np.exp(2 * parameters.secret.ln_deviation + np.log(noise))
        ln_fresh = np.log(8 * (words * parameters.ln_q - math.log1p(-success))) + rounding
        ln_fresh += np.exp(_ln_loss(parameters) + np.log(terms) + steps * math.log(2))
        fresh = ln_fresh / math.log(2)
        table = b * bits - (parameters.q > 2)
        transform = (words + 1) * bits
        transform = transform + np.log2(transform + 1)
        passed = np.logaddexp2(table + np.log2(per_table), fresh + np.log2(per_sample))
        return np.logaddexp2(passed, transform), np.logaddexp2(table + np.log2(steps), fresh)


def _ln_loss(parameters: LweParameters) -> float:
    """Compute ln of -2 ln |E exp(2 pi i e/q)|; if float64 rounds it to 0, of 4 pi^2 sigma^2/q^2."""
    assert parameters.error is not None
    if parameters.error.log_bias:
        return math.log(-2 * parameters.error.log_bias)
    return 2 * (math.log(2 * math.pi) + parameters.error.ln_deviation - parameters.ln_q)
