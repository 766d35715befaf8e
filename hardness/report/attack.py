"""Attacks in words: how often each found the secret, and what it took."""

from hardness.report.binding import unbound_words
from hardness.report.text import number, table
from hardness.runs.attack import AttackResult, Attacks
from hardness.runs.claim import claim_words
from hardness.runs.names import brief_spec, short
from hardness.upper import Outcome
from instances.limits import readable_bytes

_NAMED = (Outcome.UNJUDGED, Outcome.NOT_FOUND)
_BY_RISK = (Outcome.SOLVED, Outcome.PARTIAL, Outcome.LEARNED_NOTHING)


def one_attack_words(found: AttackResult) -> str:
    """Write one attack."""
    return attack_words(Attacks(spec=found.spec, attacks=(found,), not_run={}))


def attack_words(every: Attacks) -> str:
    """Write attacks on one family as a table, a line of outcomes each."""
    found = every.attacks
    rows = []
    valued = any(one.values for one in found)
    for one in found:
        low, high = one.interval
        counted = one.judged and not _silent(one)
        rate = f"{low:.2f}..{high:.2f}" if counted else "-"
        rows.append(
            [
                short(one.learner),
                _found(one),
                rate,
                number(one.seconds),
                number(one.examples),
                *([number(one.values) if one.values else "-"] if valued else []),
                readable_bytes(one.peak_bytes),
            ]
        )
    header = ["attack", "found", "rate at 95%", "seconds", "examples"]
    header += [*["values"] * valued, "peak memory"]
    lines = [brief_spec(found[0].spec), "", table(header, rows), ""]
    lines += [f"{short(one.learner)}: {_ends(one)}" for one in found]
    lines += unbound_words((run for one in found for run in one.runs), short)
    lines += [f"{name}: did not run: {why}" for name, why in every.not_run.items()]
    return "\n".join(lines)


def _found(one: AttackResult) -> str:
    """How many secrets were found; of a folder without its secret, whether one is claimed."""
    if not one.judged:
        return "claimed" if one.claims else "none" if len(one.runs) == 1 else "not known"
    return "no secret claimed" if _silent(one) else f"{one.recovered}/{one.judged}"


def _silent(one: AttackResult) -> bool:
    """Whether a learner predicts labels and names no secret: it is no attack, and fails at none."""
    return all("claimed_secret" not in run.details for run in one.runs) and any(
        run.outcome in _BY_RISK for run in one.runs
    )


def _ends(one: AttackResult) -> str:
    """What the runs ended with; where no secret is there to compare with, what the samples say."""
    outcomes = [r.outcome.value for r in one.runs]
    counts = ", ".join(f"{outcomes.count(v)} {v}" for v in dict.fromkeys(outcomes))
    if one.judged or len(one.runs) > 1:
        return counts
    details, ended = one.runs[0].details, one.runs[0].outcome
    said = claim_words(details)
    if one.claims or ended in _NAMED:
        return said
    wanted = details.get("samples_wanted")
    return f"{said}: {ended.value}" + (
        f", {details['samples']} samples of {wanted} that it wants" if wanted else ""
    )
