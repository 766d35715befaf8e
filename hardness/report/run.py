"""One run of a learner, and a game against the adversary, in words."""

import math
import textwrap
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from hardness.bounds.quantities import vacuous
from hardness.learners import Outcome
from hardness.report.text import good, table
from hardness.runs.claim import chance_words, is_guess
from hardness.runs.names import brief_spec, short
from instances.numbers import brief, outward
from instances.spec import kind_of

if TYPE_CHECKING:
    from hardness.runs import Game, Run

_ROWS = 12  # most rows of the table of a game
_LARGE_DEVIATION = 5.0  # standard errors beyond which a declared deviation is called wrong
# Details that are printed elsewhere, and details of the process, which are in --json only.
_NOT_LISTED = {
    "printed",
    "notes",
    "reason",
    "sha256",
    "process",
    "startup_seconds",
    "predict_seconds",
}
_TINY = 5e-5  # a smaller number would be 0 with four decimals


def run_words(run: "Run") -> str:
    """Write one run."""
    ran = run.began
    measured = "not measured" if ran else "- (nothing ran)"
    chosen = run.membership_queries
    used = f"{run.examples} examples, {run.queries} queries, "
    used += f"{chosen} values, " if chosen else ""
    used += f"{run.seconds:.2f} s"
    if run.risk is not None and run.risk_low is not None and run.risk_high is not None:
        measured = (
            f"{_small(run.risk)} in [{outward(run.risk_low, run.risk_high, '.4f')}] at "
            f"{run.risk_confidence or 0:.0%} ({_baseline_words(run)}, 0 = the truth)"
        )
    unbound = []
    if chosen:
        unbound = [f"bounds   {line}" for line in unbound_words([run], lambda _: "it")]
    recovered = {True: "yes", False: "no", None: "not claimed"}[run.secret_recovered]
    if run.secret_recovered is None and run.details.keys() & {
        "claimed_secret",
        "claimed_entries",
    }:
        recovered = claim_words(run.details)
    truth = run.details.get("truth")
    heads = [f"heads    {truth_words(truth)}"] if truth else []
    if isinstance(verdict := run.details.get("verdict"), dict):
        heads.append(f"verdict  {verdict_words(verdict)}")
    details_of_teacher = run.details.get("teacher")
    teacher = _teacher_words(details_of_teacher) if isinstance(details_of_teacher, dict) else []
    details = [
        f"{k} {v:.3g}" if isinstance(v, float) else f"{k} {v}"
        for k, v in run.details.items()
        if v is not None and k not in _NOT_LISTED and not isinstance(v, dict) and not _is_long(v)
    ]
    paragraphs = ["details  " + ", ".join(details)] if details else []
    paragraphs += [f"samples  {note}" for note in run.details.get("notes", ())]
    if "reported" in run.details:  # what a learner from a file reports of itself, unchecked
        reported = {k: v for k, v in run.details["reported"].items() if not _is_long(v)}
        paragraphs += ["reported " + ", ".join(f"{k} {_brief(v)}" for k, v in reported.items())]
    if "printed" in run.details:
        paragraphs += [textwrap.indent(str(run.details["printed"]).rstrip(), "printed  ", bool)]
    if "stages" in run.details:
        from hardness.report.stages import stage_words

        paragraphs += ["", stage_words(run.details)]
    if "expected_rank" in run.details:
        paragraphs = [_lifted_words(run.details)]
    judged, secret = [f"risk     {measured}"], [f"secret   {recovered}"]
    advice, ended = run.advice, run.outcome.value
    data = run.details.get("data")
    if isinstance(data, dict) and "held_out" in data:
        judged, secret = data_words(data, run), []
        if run.outcome in (Outcome.LEARNED_NOTHING, Outcome.FITTED, Outcome.UNJUDGED):
            advice = _own_advice(run)
    return "\n".join(
        [
            f"{short(run.learner)} on {brief_spec(run.spec)}, seed {run.seed}",
            f"outcome  {good(ended) if ended == 'solved' else ended}: {advice}",
            *([f"reason   {run.details['reason']}"] if "reason" in run.details else []),
            *_heads_hint(run),
            *judged,
            f"usage    {used if ran else '- (nothing ran)'}",
            *unbound,
            *(teacher or secret),
            *heads,
            *paragraphs,
        ]
    )


def _baseline_words(run: "Run") -> str:
    """Explain the risk 1 of the baseline."""
    kind = kind_of(run.spec.partition(":")[0])
    known = kind.beside_text if kind else ""
    return f"1 = knowing {known} and no more" if known else "1 = the baseline"


def _own_advice(run: "Run") -> str:
    """Advise what to do after a run on a user's data."""
    if run.outcome is Outcome.LEARNED_NOTHING:
        return (
            "nothing better than predicting zero was shown: give more examples or a richer model, "
            "or the labels are noise"
        )
    if run.outcome is Outcome.UNJUDGED:
        return "the held-out error has no interval: give more examples, or labels of lighter tails"
    return run.outcome.advice


def _heads_hint(run: "Run") -> list[str]:
    """Suggest to give `staged` the number of heads, if it had to find it and failed."""
    name, _, parameters = run.learner.partition(":")
    if name != "staged" or "heads=0" not in parameters.split(",") or "stages" not in run.details:
        return []
    spent = run.outcome in (Outcome.SECONDS_SPENT, Outcome.EXAMPLES_SPENT)
    if run.passed or not (spent or "number of heads" in str(run.details.get("failed"))):
        return []
    known = next((p[2:] for p in run.spec.partition(":")[2].split(",") if p[:2] == "m="), "2")
    return [
        f"         the number of heads was to be found; told it, as staged:heads={known}, the "
        "stages need fewer examples"
    ]


def _teacher_words(taught: dict[str, Any]) -> list[str]:
    """Name the layer that was given, and the distribution of its tokens."""
    return [
        f"teacher  {_one_line(taught['source'])} (sha256 {str(taught['sha256'])[:12]})",
        f"tokens   {taught['tokens']}",
    ]


def data_words(data: dict[str, Any], run: "Run") -> list[str]:
    """Describe the user's data of a run, and its error on the held-out part."""
    words = [
        f"data     {_one_line(data['source']) or 'arrays'}: {data['training']} examples to learn "
        f"from, {data['held_out']} held out by seed {data['seed']}",
    ]
    if repeated := data["repeated"]:
        words += [f"         {repeated} of these have tokens that are among those learned from"]
    error = run.held_out_error
    if error is None:
        return [*words, "error    not measured"]
    if error.low is None or error.high is None:
        known = f"no interval: {error.reason}"
    else:
        form = ".1e" if error.high < _TINY else ".4f"
        known = f"in [{outward(error.low, error.high, form)}] at {error.confidence:.0%} (bootstrap)"
    return [
        *words,
        f"error    {_small(error.value)} {known}",
        "         held-out E|Y - F^|^2 / E|Y|^2: 1 is predicting 0, label noise counts",
    ]


def _one_line(name: Any) -> str:
    """Write the name of a file on one line, so that it cannot imitate lines of the output."""
    return str(name).replace("\n", "?")


def _brief(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)[:200]


def _small(risk: float) -> str:
    """Write a risk with four decimals, or its order of magnitude if they would be zeros."""
    return f"{risk:.1e}" if 0 < risk < _TINY else f"{risk:.4f}"


def _is_long(value: Any) -> bool:
    """Whether a detail is too long to print; --json and figures have it."""
    return isinstance(value, list) and any(isinstance(part, dict | float | list) for part in value)


def truth_words(truth: dict[str, Any]) -> str:
    """Write the distance of the heads of a layer from the true ones.

    >>> truth_words({"heads": [1, None], "theta_errors": [0.5, None], "w_errors": [2.0, None],
    ...     "spare": [0]})
    '1 of 2 paired, 1 to spare; largest relative errors: Theta 0.5, W 2'
    """
    theta, w = ([e for e in truth[f"{name}_errors"] if e is not None] for name in ("theta", "w"))
    spare = f", {len(truth['spare'])} to spare" if truth["spare"] else ""
    where = ""
    if seen := truth.get("seen"):
        where = f" in what labels show: tokens span {seen[0]} dimensions, differences {seen[1]}"
    return (
        f"{len(theta)} of {len(truth['heads'])} paired{spare}; largest relative errors: "
        f"Theta {max(theta):.2g}, W {max(w):.2g}{where}"
    )


def verdict_words(verdict: dict[str, Any]) -> str:
    """Write in a line whether a run found the heads of the layer that labelled its examples.

    >>> verdict_words({"found": "neither", "because": "no heads", "tolerance": 0.25})
    'neither: no heads; `hardness inspect` has the conditions of the theorem'
    """
    if verdict["found"] == "heads found":
        return f"heads found: each within {verdict['tolerance']:g} of its norm, up to their order"
    words = f"{verdict['found']}: {verdict['because']}"
    return f"{words}; `hardness inspect` has the conditions of the theorem"


_OF_FUNCTIONS = (
    "The game is about layers of two tokens, with these functions as labels on half of the tokens "
    "(d is one more, tau counts twice), and about finding the member: another target than that of "
    "`certify`, which is about the functions alone, for its --risk and --success."
)


def game_words(game: "Game") -> str:
    """Write a game against the adversary: the run, and the members that queries eliminated."""
    record = game.game_record
    rows = [
        [f"{a}" if a == b else f"{a}..{b}", str(each), brief(left, 3)]
        for a, b, each, left in record.runs()
    ]
    if len(rows) > _ROWS:
        rows = [*rows[: _ROWS - 1], ["...", "", ""], rows[-1]]
    bound = (
        "no certified number beside it: it is given for members of two values, at most 5000 where "
        f"they are listed, if any number of queries is enough within {game.details['tau']}"
    )
    if game.certified is not None and vacuous("stat-queries", game.certified):
        bound = "the certified bound is vacuous"
    elif game.certified is not None:
        bound = (
            f"certified: {brief(game.certified, 3)} queries are needed to find the member in every "
            f"game within {game.details['tau']}"
        )
    seed = "the seed came from the operating system: nothing told the member before the end"
    if not game.drawn:
        seed = (
            f"seed {game.seed} was given, so it is public: a learner that knows it can compute "
            "the member before the game"
        )
    return "\n".join(
        [
            run_words(game),
            "",
            f"{record.mode} adversary, {brief(record.members, 3)} members",
            table(["query", "ruled out by each", "left"], rows),
            f"{len(record.rounds)} queries were asked; {bound}",
            seed,
            *([_OF_FUNCTIONS] if hasattr(kind_of(game.spec.partition(":")[0]), "origin") else []),
        ]
    )


def unbound(runs: "Iterable[Run]") -> list[str]:
    """Return the learners that ask membership queries, to which no bound on queries applies."""
    from hardness.runs.registry import CLASSES, class_of  # few runs need them

    learners = dict.fromkeys((run.learner, bool(run.membership_queries)) for run in runs)
    free = (name for name, chose in learners if class_of(name, chose) is CLASSES["membership"])
    return list(dict.fromkeys(free))


def unbound_words(runs: "Iterable[Run]", describe: Callable[[str], str]) -> list[str]:
    """Say which bound applies to learners by membership queries; empty if there are none.

    The information-floor counts labels, whether the learner chose the input or not. describe:
    writes the name of a learner.
    """
    from hardness.runs.registry import CLASSES

    names = [describe(name) for name in unbound(runs)]
    membership = CLASSES["membership"]
    if not names:
        return []
    if len(names) == 1:
        return [f"{names[0]} {membership.does}: only the information floor binds it."]
    several = ", ".join(names)
    return [f"{several} {membership.do}: only the information floor binds them."]


def _lifted_words(details: dict[str, Any]) -> str:
    """Write the number of features, their rank, and the unexplained part of the labels.

    >>> print(_lifted_words({"features": 18, "rank": 12, "expected_rank": 18, "examples_given": 6,
    ...     "examples_needed": 9, "unexplained": None}))
    features 18, their rank 12 of 18: 6 examples given, 9 needed at least
    left     not known: no more rows than the rank, so any labels would be fitted
    """
    rank, expected, count = (details[n] for n in ("rank", "expected_rank", "features"))
    given, needed = details["examples_given"], details["examples_needed"]
    few = f"{given} examples given, {needed} needed at least"
    if rank < expected:
        first = f"{count}, their rank {rank} of {expected}: {few}"
    else:
        first = f"{count}, their rank {rank}: all that the tokens can tell; {few}"
    left = details["unexplained"]
    second = (
        "not known: no more rows than the rank, so any labels would be fitted"
        if left is None
        else f"{left:.2g} of the labels' second moment, per degree of freedom of the rows"
    )
    return f"features {first}\nleft     {second}"


def claim_words(details: dict[str, Any]) -> str:
    """Write which secret a run claims, and the evidence for it; details: of the run.

    >>> claim_words({"claimed_secret": [1, 0], "fit": {"samples": 8, "coins": 2.0**-12}})[:60]
    'guesses [1, 0]: the 8 samples do not show it; if these were '
    >>> claim_words({"claimed_entries": [1, None], "fit": {"samples": 80, "coins": 2.0**-40}})[:59]
    'claims [1, ?] (?: not determined, several secrets fit): fit'
    >>> claim_words({})
    'no secret found'
    """
    entries, facts = details.get("claimed_secret"), details.get("fit")
    if entries is None and (part := details.get("claimed_entries")):
        if set(part) == {None}:
            return "no secret found: several secrets fit, and no entry is determined"
        known = ", ".join("?" if entry is None else str(entry) for entry in part)
        claims = f"claims [{known}] (?: not determined, several secrets fit)"
    elif entries is None:
        return "no secret found"
    else:
        claims = f"{'guesses' if is_guess(details) else 'claims'} {entries}"
    if not facts:
        return f"{claims}: nothing here says how sure it is"
    count = "one sample" if facts["samples"] == 1 else f"{facts['samples']} samples"
    if facts["coins"] >= 1:
        against = facts.get("evidence") in (None, -math.inf)
        verdict = "contradicted by" if against else "not shown by"
        return f"{claims}: {verdict} the {count}{_residuals(facts)}"
    evidence = f"fits the {count}"
    if is_guess(details):
        evidence = f"the {count} do{'es' * (facts['samples'] == 1)} not show it"
    return (
        f"{claims}: {evidence}; if these were drawn independently, random labels would "
        f"fit some secret as well with probability {chance_words(facts['coins'])} at most"
        f"{_residuals(facts)}"
    )


def _residuals(details: dict[str, Any]) -> str:
    if "residual_std" not in details:
        return ""
    return (
        f"; residuals have standard deviation {details['residual_std']:.4g}, "
        f"{details['declared_std']:.3g} is declared, and reach {details['residual_max']}"
    ) + (
        f": the declared one does not hold, by {abs(off):.0f} standard errors"
        if abs(off := details.get("standard_errors", 0.0)) > _LARGE_DEVIATION
        else ""
    )
