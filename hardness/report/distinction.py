"""A distinguisher's trials in words, for the terminal."""

import textwrap

from hardness.runs.distinguish import WORLDS, Distinction
from hardness.runs.names import brief_spec, short


def distinction_words(found: Distinction) -> str:
    """Write what the trials show, and what they do not.

    >>> from hardness.runs import distinguish
    >>> from hardness.upper import parse_learner
    >>> from instances import parse
    >>> said = distinction_words(distinguish(parse_learner("trivial"), parse("lpn:n=8,noise=0.1")))
    >>> "contains 0: nothing is shown" in said
    True
    """
    each = len(found.plays) // 2
    low, high = found.interval
    counts = ", ".join(f"{found.accepted(w)} of {each} {w}" for w in WORLDS)
    lines = [
        f"{short(found.learner)} on {brief_spec(found.spec)}: members or coins?, seed {found.seed}",
        f"advantage  {found.advantage:+.3f} in [{low:+.3f}, {high:+.3f}] at {found.confidence:.0%}",
        f"accepted   {counts}; coins pass with probability {found.alarm:g} at most",
        f"usage      {_usage(found)}",
        *_accuracy(found),
    ]
    return "\n".join([*lines, "", textwrap.fill(_verdict(found), 80)])


def _usage(found: Distinction) -> str:
    used = [play.usage for play in found.plays]
    examples, seconds = (sum(getattr(u, n) for u in used) for n in ("examples", "seconds"))
    return f"{examples} examples, {seconds:.1f} s in {len(used)} trials"


def _accuracy(found: Distinction) -> list[str]:
    """How well a bit is predicted, for labels that are bits."""
    if found.accuracy is None or found.accuracy_interval is None:
        return ["accuracy   not defined: labels have more than two levels"]
    low, high = found.accuracy_interval
    return [
        f"accuracy   {found.accuracy:.4f} in [{low:.4f}, {high:.4f}] of label bits, by randomised "
        "rounding",
        f"           its squared loss alone implies {found.implied_accuracy:.4f} at least",
    ]


def _verdict(found: Distinction) -> str:
    low, high = found.interval
    if low > 0:
        return (
            "The interval lies above 0: within this budget the learner tells members from coins. "
            f"A member costs it {_costs(found)}."
        )
    if high < 0:
        return (
            "The interval lies below 0: the learner accepts coins more often than members, which "
            "happens by chance alone where both are accepted rarely. Nothing is learned."
        )
    return (
        "The interval contains 0: nothing is shown, neither that the learner tells members from "
        "coins within this budget nor that it cannot. More trials make it shorter."
    )


def _costs(found: Distinction) -> str:
    used = [play.usage for play in found.of("real")]
    return (
        f"{sum(u.examples for u in used) / len(used):.0f} examples and "
        f"{sum(u.seconds for u in used) / len(used):.2f} s on average"
    )
