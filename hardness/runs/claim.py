"""Evidence for a claimed secret from the samples of a folder, if nobody knows the secret."""

import math
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.learners import Hypothesis, Outcome
from instances.coded import Coded, Reduced, as_coded, reduce
from instances.errors import UsageError
from instances.family import Secret
from instances.files import Folder, MemoryFolder
from instances.samples import Samples, samples
from instances.secrets import Integers
from instances.sets import Symmetric
from instances.tokens import mask

COUNTED = "the others follow from them, as copies, multiples or sums"
SURE = 2.0**-30  # attacks claim a secret if random labels would fit with at most this probability
_MOST_EXAMPLES = 1 << 16  # that are compared with a claimed secret
_LIKE_UNIFORM = 0.9  # of the deviation of uniform residuals: above it they show nothing of errors
_LEAST_LOG2 = -1022  # of a probability, since float64 would round smaller ones to 0


@dataclass(frozen=True, kw_only=True, eq=False)
class Weighed:
    """Samples of a folder.

    folder: with the samples that a learner gets. counted: the samples by which a claim is judged.
    lines: the number of all samples.
    """

    folder: Folder
    counted: Samples
    lines: int

    @property
    def notes(self) -> list[str]:
        """Notes for the user on how the file was read, and how many samples count."""
        counted = len(self.counted)
        dropped = [f"{counted} of {self.lines} samples count: {COUNTED}"]
        return [*getattr(self.folder, "notes", ()), *(dropped if counted < self.lines else [])]


@lru_cache(1)  # for several attacks on a folder
def weigh(folder: Folder) -> Weighed | None:
    """Find the samples of a folder without a secret that count; None if its family has none.

    If samples follow from others, a learner gets the examples without them.
    """
    from hardness.attacks.counting import counted_rows

    family = folder.family
    if family.linear_forms is None or not isinstance(family, Coded):
        return None
    examples = as_coded(folder.examples(0, folder.count))
    drawn = samples(examples)
    kept, counted = counted_rows(drawn)
    if len(kept) < len(drawn):
        opened = family.open(examples.words)
        wanted = ~opened
        wanted[np.flatnonzero(opened)[kept]] = True
        reduced = replace(examples, words=examples.words[wanted], codes=examples.codes[wanted])
        notes = getattr(folder, "notes", ())
        folder = MemoryFolder.of_examples(folder.path, reduced, notes=notes)
    return Weighed(
        folder=folder,
        counted=drawn.take(counted),
        lines=len(drawn),
    )


def fit(folder: Folder, secret: Secret) -> dict[str, Any] | None:
    """Compare a claimed secret with stored samples; None for families without samples.

    The result has these keys. samples: how many of the `lines` samples count. evidence: the bits by
    which they favour the secret over random labels. coins: a bound on the probability that random
    labels favour any secret as much. open: the entries that the samples do not determine, only if
    coins is at most 2^-30. residual_std, residual_max: of b - <a, s> mod q, centred. declared_std:
    of the errors by the spec. standard_errors: by how many the variance of residuals exceeds it.

    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from instances import parse, write_folder
    >>> instance = parse("lwe:n=8,q=97,sigma=1").instance(0)
    >>> folder = write_folder(Path(mkdtemp()) / "it", instance, 200)
    >>> facts = fit(folder, instance.hidden.secret)
    >>> facts["coins"] < 1e-99, facts["residual_max"] < 6, facts["open"]
    (True, True, [])
    """
    weighed = weigh(folder)
    if weighed is None:
        sets = folder.family
        if not isinstance(sets, Symmetric) or not sets.two_valued:
            return None
        seen = reduce(folder.examples(0, min(folder.count, _MOST_EXAMPLES)))
        try:
            sets.require_member(secret)
        except (UsageError, TypeError, ValueError):
            return _facts(len(seen), sets.size, -math.inf)
        return _facts(len(seen), sets.size, labels_evidence(seen, sets, secret))
    from hardness.attacks.counting import open_entries

    counted = weighed.counted
    family, lines = counted.family, {"lines": weighed.lines}
    try:
        entries = folder.family.to_linear(secret)
        family.require_member(entries)
    except (UsageError, TypeError, ValueError):
        return _facts(len(counted), family.size, -math.inf) | lines
    facts = _facts(len(counted), family.size, counted.evidence(entries)) | lines
    if facts["coins"] <= SURE:
        facts["open"] = open_entries(counted, entries)
    if len(counted):
        residuals = counted.residuals(entries)
        facts |= {
            "residual_std": round(float(residuals.std()), 4),
            "declared_std": round(counted.error.deviation if counted.error else 0.0, 4),
            "residual_max": int(np.abs(residuals).max()),
            "standard_errors": round(_excess_variance(residuals, counted.error), 1),
        }
        if facts["residual_std"] >= _LIKE_UNIFORM * family.q / math.sqrt(12):
            facts["standard_errors"] = 0.0
    return facts


def claimed(folder: Folder, hypothesis: Hypothesis) -> tuple[Hypothesis, dict[str, Any]]:
    """Restrict a claimed secret to the entries that the samples determine.

    Returns the hypothesis and details of the run. If several secrets fit, the hypothesis claims
    none. The detail `claimed_entries` then has the determined entries, in the order of the linear
    form, and None for the others.
    """
    if hypothesis.secret is None:
        return hypothesis, {}
    facts = fit(folder, hypothesis.secret)
    if not (facts and facts.get("open")):
        return hypothesis, {"fit": facts}
    entries = list[int | None](folder.family.to_linear(hypothesis.secret))
    for index in facts["open"]:
        entries[index] = None
    partial = replace(hypothesis, secret=None, outcome=Outcome.NO_CLAIM)
    return partial, {"fit": facts, "claimed_entries": entries, "reason": "several secrets fit"}


def _excess_variance(residuals: NDArray[np.int64], law: Integers | None) -> float:
    """Return by how many standard errors the variance of residuals exceeds that of their law."""
    if law is None:
        return 0.0
    weights = np.array(law.counts, float) / sum(law.counts)
    centred = np.array(law.values, float) - law.mean
    variance, fourth = float(weights @ centred**2), float(weights @ centred**4)
    error = math.sqrt((fourth - variance**2) / len(residuals))
    excess = float(residuals.var()) - variance
    return excess / error if error else 0.0


def _facts(count: int, secrets: int, evidence: float) -> dict[str, Any]:
    """Return the keys of `fit` for every family; secrets: the number of all secrets."""
    coins = 2.0 ** min(0.0, max(_LEAST_LOG2, math.log2(secrets) - evidence))
    return {"samples": count, "evidence": round(evidence, 2), "coins": coins}


def is_guess(details: dict[str, Any]) -> bool:
    """Whether a run names a secret that the samples do not show; details: of the run.

    >>> is_guess({"claimed_secret": [1, 0], "fit": {"samples": 8, "coins": 2.0**-12}})
    True
    """
    facts = details.get("fit") or {"coins": 0.0}
    return details.get("claimed_secret") is not None and facts["coins"] > SURE


def brief_claim(details: dict[str, Any]) -> str:
    """Describe the evidence for a claimed secret in a few words, for the cell of a table.

    >>> brief_claim({"claimed_secret": [1, 0], "fit": {"samples": 8, "coins": 2.0**-12}})
    'a guess; random labels fit with chance 0.00025'
    """
    entries = details.get("claimed_secret", details.get("claimed_entries"))
    if not entries or set(entries) == {None}:
        return "no secret found"
    facts, claims = details.get("fit"), "claimed in part" if None in entries else "claimed"
    claims = "a guess" if is_guess(details) else claims
    if not facts or facts["coins"] >= 1:
        reason = "the samples do not show it" if facts else "nothing shows it here"
        return f"{claims}; {reason}"
    return f"{claims}; random labels fit with chance {chance_words(facts['coins'])}"


def chance_words(coins: float) -> str:
    """Write an upper bound on a probability, rounded up.

    >>> chance_words(2.0**-12), chance_words(2.0**-40)
    ('0.00025', '2^-40')
    """
    if coins <= SURE:
        return f"2^-{math.floor(-math.log2(coins))}"
    exact = Decimal(coins)
    up = exact.quantize(Decimal(1).scaleb(exact.adjusted() - 1), ROUND_CEILING)
    return f"{float(up):.2g}"


def labels_evidence(reduced: Reduced, family: Symmetric, secret: Secret) -> float:
    """Compute the bits by which labels favour a hidden set over random labels of the same mean.

    The labels have two values. (docs/named-mathematics.md, section 13)

    >>> from instances import parse
    >>> from instances.coded import reduce
    >>> instance = parse("parity:d=20,m=3").instance(0)
    >>> seen = reduce(instance.examples(0, 400))
    >>> labels_evidence(seen, instance.family, instance.hidden.secret) == len(seen)
    True
    """
    high, m = max(family.values), family.m
    profile = np.array([1 if value == high else -1 for value in family.values])
    fade = float(1 - 2 * family.noise)
    mean = fade * sum(value * math.comb(m, h) for h, value in enumerate(profile.tolist())) / 2**m
    inside = np.bitwise_count(reduced.words & mask(secret, family.d)).sum(axis=1, dtype=np.intp)
    expected, total = profile[inside], 0.0
    for value, sign in product((-1, 1), repeat=2):
        count = int(((expected == value) & (reduced.codes == (1 - sign) // 2)).sum())
        if count and (edge := fade * value * sign) == -1:
            return -math.inf
        if count:
            total += count * (math.log1p(edge) - math.log1p(mean * sign)) / math.log(2)
    return total
