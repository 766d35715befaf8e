"""Studies of learners in words: attacks, distinguishers, spectra, checks."""

import textwrap
from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from hardness.learners import Outcome
from hardness.lwe.attacks.usvp import SMALL
from hardness.lwe.record import Estimate
from hardness.report.run import claim_words, unbound_words
from hardness.report.text import bad, good, number, table, wrap
from hardness.runs.attack import AttackResult, Attacks, estimate_of
from hardness.runs.claim import is_guess
from hardness.runs.distinguish import WORLDS, Distinction, advantage_interval
from hardness.runs.names import brief_spec, short
from hardness.runs.registry import ATTACKS
from hardness.runs.run import Cost
from instances.errors import ToolkitError
from instances.limits import readable_bytes
from instances.numbers import outward
from instances.spec import parse_stored

if TYPE_CHECKING:
    from hardness.learners.spectra import Spectrum
    from hardness.runs.conformance import Conformance
    from hardness.runs.spectrum import Spectra

_JUDGED_BY_RISK = (Outcome.SOLVED, Outcome.PARTIAL, Outcome.LEARNED_NOTHING)
_ROUNDING = 1e-12


def one_attack_words(result: AttackResult) -> str:
    """Write one attack."""
    return attack_words(Attacks(spec=result.spec, attacks=(result,), not_run={}))


def planned_words(name: str, estimate: Estimate) -> str:
    """Write the estimate of a lattice attack in a line, before the attack starts."""
    fails = ": too small for the secret to stand out" if SMALL in estimate.note else ""
    tries = (
        f", 2^{estimate.repetitions:.1f} tries if no right one fails"
        if estimate.repetitions
        else ""
    )
    return (
        f"{name}: {_estimated(estimate)} block {estimate.beta}{fails}{tries}, dimension "
        f"{estimate.d}, {estimate.sample_words} samples, 2^{estimate.rank:.1f} operations"
    )


def _estimated(estimate: Estimate) -> str:
    """Say whether an estimate is at the learner's parameters, or at the cheapest ones."""
    return "least" if estimate.name == "dual_guess" else "estimate"


def _estimates_table(attacks: Sequence[AttackResult]) -> list[str]:
    """Write a table that compares estimates with medians of runs, for attacks with an estimate."""
    rows = []
    for attack in attacks:
        name = short(attack.learner)
        if name.partition(":")[0] not in ATTACKS:
            continue
        try:
            estimate = estimate_of(attack.learner, parse_stored(attack.spec))
        except ToolkitError:  # the file of its family is missing
            estimate = None
        if estimate is None:
            continue
        tries = f"2^{estimate.repetitions:.1f}" if estimate.repetitions else None
        formula = [estimate.beta, tries, estimate.d if estimate.beta else None, estimate.samples]
        used = [_detail(attack, name) for name in ("block", "tries", "dimension", "samples")]
        used[:3] = [value if by else None for value, by in zip(used[:3], formula, strict=False)]
        operations = "fails" if SMALL in estimate.note else f"2^{estimate.rank:.1f}"
        rows += [
            [name, _estimated(estimate), *_dashed(formula), operations, "-"],
            ["", "runs", *_dashed(used), "-", number(attack.median("seconds"))],
        ]
    header = ["attack", "", "block", "tries", "dimension", "samples", "operations", "seconds"]
    if not rows:
        return []
    note = "samples: what an estimate needs, and what a run used."
    if any(row[0].startswith("bkw") for row in rows):
        note += " The estimate of bkw takes one pair of a block, a run several: it needs fewer."
    return ["", table(header, rows), wrap(note)]


def _detail(attack: AttackResult, name: str) -> float | None:
    values = [run.details[name] for run in attack.runs if name in run.details]
    return median(values) if values else None


def _dashed(values: Sequence[Any]) -> list[str]:
    return ["-" if v is None else v if isinstance(v, str) else number(v) for v in values]


def attack_words(results: Attacks) -> str:
    """Write attacks on one family: a table, a line of outcomes for each, and estimates."""
    attacks = results.attacks
    costs: list[Cost] = ["seconds", "examples"]
    if any(attack.median("values") for attack in attacks):
        costs.append("values")
    samples = not any(attack.judged for attack in attacks)  # on samples of an unknown secret
    rows = []
    for attack in attacks:
        low, high = attack.interval
        used = [_used(attack, cost) for cost in costs]
        if samples:
            used[1:2] = _dashed([attack.samples])
        rate = outward(low, high, ".2f", "..") if attack.judged and not _silent(attack) else "-"
        rows.append(
            [
                short(attack.learner),
                _secrets_recovered(attack),
                rate,
                *used,
                readable_bytes(attack.peak_bytes),
            ]
        )
    names = ["samples" if samples and cost == "examples" else cost for cost in costs]
    header = ["attack", "found", "rate at 95%", *names, "peak memory"]
    lines = [brief_spec(results.spec), "", table(header, rows), ""]
    lines += [f"{short(attack.learner)}: {_ends(attack)}" for attack in attacks]
    lines += _estimates_table(attacks)
    lines += unbound_words((run for attack in attacks for run in attack.runs), short)
    notes = dict.fromkeys(n for attack in attacks for n in attack.runs[0].details.get("notes", ()))
    lines += [*notes, *(f"{name}: did not run: {why}" for name, why in results.not_run.items())]
    return "\n".join(lines)


def _used(result: AttackResult, cost: Cost) -> str:
    """Write the median of a cost; "-" for values of an attack that asks none."""
    used = result.median(cost)
    return number(used) if used or cost != "values" else "-"


def _secrets_recovered(result: AttackResult) -> str:
    """Write how many secrets were found, or whether one is claimed if the secret is unknown."""
    if not result.judged:
        if "claimed_entries" in result.runs[0].details:
            return "in part"
        if any(is_guess(run.details) for run in result.runs):
            return "guess"
        return "claimed" if result.claims else "none" if len(result.runs) == 1 else "not known"
    return "no secret claimed" if _silent(result) else f"{result.recovered}/{result.judged}"


def _silent(result: AttackResult) -> bool:
    """Whether a learner only predicts labels, so that it cannot be said to fail as an attack."""
    return all("claimed_secret" not in run.details for run in result.runs) and any(
        run.outcome in _JUDGED_BY_RISK for run in result.runs
    )


def _ends(result: AttackResult) -> str:
    """Write how the runs ended; for an unknown secret, the evidence for the claimed one."""
    outcomes = Counter(run.outcome.value for run in result.runs)
    counts = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.items())
    if result.judged or len(result.runs) > 1:
        raised = next((run.details for run in result.runs if run.outcome is Outcome.CRASHED), {})
        error = raised.get("learner", raised)  # of `decode`, the error of the inner learner
        return counts + (f"; {error['type']}: {error['message']}" if "message" in error else "")
    details, outcome = result.runs[0].details, result.runs[0].outcome
    claim = claim_words(details)
    if result.claims or outcome is Outcome.UNJUDGED or "claimed_entries" in details:
        return claim
    if outcome is Outcome.NO_CLAIM:
        return f"{claim}: {details['reason']}" if "reason" in details else claim
    wanted = details.get("samples_wanted")
    return f"{claim}: {outcome.value}" + (
        f", {details['samples']} samples of {wanted} that it wants" if wanted else ""
    )


# Distinguishers


def distinction_words(distinction: Distinction) -> str:
    """Write the advantage with its interval, and what the trials show.

    >>> from hardness.runs import distinguish
    >>> from hardness.runs.registry import parse_learner
    >>> from instances import parse
    >>> text = distinction_words(distinguish(parse_learner("trivial"), parse("lpn:n=8,noise=0.1")))
    >>> "contains 0: nothing is shown" in text
    True
    """
    each = len(distinction.plays) // 2
    low, high = distinction.interval
    counts = ", ".join(f"{distinction.accepted(w)} of {each} {w}" for w in WORLDS)
    lines = [
        f"{short(distinction.learner)} on {brief_spec(distinction.spec)}: members or "
        f"random labels?, seed {distinction.seed}",
        f"advantage  {distinction.advantage:+.3f} in [{outward(low, high, '+.3f')}] at "
        f"{distinction.confidence:.0%}",
        f"accepted   {counts}; random labels are accepted with probability "
        f"{distinction.alarm:g} at most",
        f"usage      {distinction.used('examples', *WORLDS)} examples, "
        f"{distinction.used('seconds', *WORLDS):.1f} s in {2 * each} trials",
        *_accuracy(distinction),
    ]
    return "\n".join([*lines, "", textwrap.fill(_verdict(distinction), 80)])


def _accuracy(distinction: Distinction) -> list[str]:
    """Write the accuracy of predicted bits, for labels with two levels."""
    if distinction.accuracy is None or distinction.accuracy_interval is None:
        return ["accuracy   not defined: labels have more than two levels"]
    low, high = distinction.accuracy_interval
    return [
        f"accuracy   {distinction.accuracy:.4f} in [{outward(low, high, '.4f')}] of label bits, by "
        "randomised rounding",
        f"           its squared loss alone implies {distinction.implied_accuracy:.4f} at least",
    ]


def _verdict(distinction: Distinction) -> str:
    (low, high), each = distinction.interval, len(distinction.plays) // 2
    if low > 0:
        return (
            "The interval lies above 0: within this budget the learner tells members from "
            "random labels. A member costs it "
            f"{distinction.used('examples', 'real') / each:.0f} examples and "
            f"{distinction.used('seconds', 'real') / each:.2f} s on average."
        )
    if high < 0:
        return (
            "The interval lies below 0: the learner accepts random labels more often than "
            "members, which happens by chance alone where both are accepted rarely. Nothing is "
            "learned."
        )
    # The best possible result: all members and no random labels are accepted.
    few = advantage_interval(each, 0, each, distinction.confidence)[0] <= 0
    more = f"No result of {2 * each} trials excludes 0: give more." * few
    return (
        "The interval contains 0: nothing is shown, neither that the learner tells members from "
        "random labels within this budget nor that it cannot. "
        f"{more or 'More trials make it shorter.'}"
    )


# Spectra


def spectra_words(spectra: "Spectra") -> str:
    """Write the weights by degree, the learned part of each, and the largest coefficients."""
    target, attempt = spectra.target, spectra.attempt
    lines = [
        f"{brief_spec(spectra.spec)}, seed {spectra.seed}",
        f"target      {_shape(target)}",
        f"            information exponent {spectra.exponent}, leap {spectra.leap}",
    ]
    if spectra.rows:
        lines += ["            of row 1 of the output, a vector: its coefficients are norms"]
    header = ["degree", "target", "known"]
    columns = [target.weights, spectra.known.part]
    present = target.present
    if attempt:
        how = f"{attempt.draws} draws of X_1 for each z" if attempt.draws else "every X_1"
        over = f"averaged over {how}; variance over X_1 {_value(attempt.beyond)}"
        lines += [
            f"hypothesis  {_shape(attempt.spectrum)}",
            f"            of {short(attempt.run.learner)}: {attempt.run.outcome.value}",
            *([] if spectra.rows else [f"            {over}"]),
        ]
        if attempt.surplus > _ROUNDING:
            lines += [f"            the draws add about {_value(attempt.surplus)} to its weight"]
        lines += [
            f"together    E[q f] = {_value(attempt.learned.correlation)}, "
            f"E[(q - f)^2] = {_value(attempt.learned.distance)}"
        ]
        header += ["hypothesis", "learned", "residual"]
        columns += [attempt.spectrum.weights, attempt.learned.part, attempt.learned.residual]
        present = present | attempt.spectrum.present
    rows = [
        [str(k), *(_value(float(column[k])) for column in columns)]
        for k in range(int(np.flatnonzero(present).max(initial=0)) + 1)
    ]
    lines += ["", table(header, rows), "", "largest of the target", _top(target, spectra.top)]
    if attempt:
        lines += ["", "largest of the hypothesis", _top(attempt.spectrum, spectra.top)]
    return "\n".join(line.rstrip() for line in lines)


def _shape(spectrum: "Spectrum") -> str:
    """Write the weight and the degrees of a function."""
    degrees = spectrum.degrees
    if degrees is None:
        return "0"
    return (
        f"weight {_value(spectrum.norm)} on degrees {degrees.least} .. {degrees.highest}, "
        f"mean degree {degrees.mean:.3g}"
    )


def _top(spectrum: "Spectrum", count: int) -> str:
    rows = [
        ["{" + ", ".join(map(str, subset)) + "}", f"{value:.4f}"]
        for subset, value in spectrum.top(count)
    ]
    return table(["set", "coefficient"], rows) if rows else "none"


def _value(value: float) -> str:
    if np.isnan(value):
        return "-"
    if abs(value) < _ROUNDING:
        return "0"
    return f"{value:.4f}" if abs(value) >= 1e-4 else f"{value:.1e}"


# Checks of learners


def conformance_words(conformance: "Conformance") -> str:
    """Write the checks as a table, and whether the learner conforms."""
    rows = [[finding.level, finding.check, finding.message] for finding in conformance.findings]
    verdict = good("conforms") if conformance.conforms else bad("DOES NOT CONFORM")
    return table(["level", "check", "found"], rows) + f"\n{verdict}"
