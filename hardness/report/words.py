"""Records in words, for the terminal."""

import textwrap
from decimal import Decimal
from typing import Any

from hardness.check import Checked
from hardness.compare import Game, Run
from hardness.lower import Certificate, Claim, Verification
from hardness.report.cost import beside_words
from hardness.report.lifted import lifted_words
from hardness.report.stages import stage_words
from hardness.report.text import big, credit, table

_ROWS, _LONG, _DIGITS = 12, 40, 60


def certificate_words(certificate: Certificate) -> str:
    """Write a certificate claim by claim."""
    lines = [certificate.spec, ""]
    for claim in certificate.claims:
        given = ", ".join(f"{k} {_whole(v)}" for k, v in claim.parameters.items())
        lines += [claim_line(claim)]
        lines += [wrap(claim.meaning, "  "), wrap(given, "  ")]
    beside = beside_words(certificate.spec)
    return "\n".join([*lines, "", wrap(certificate.scope), *(["", wrap(beside)] if beside else [])])


def claim_line(claim: Claim) -> str:
    """Write what is claimed and how it is known, on two lines where one is too long."""
    value, known = shown_value(claim), f"({claim.kind}; {credit(claim.source)})"
    line = f"{claim.quantity} = {value}   {known}"
    return line if len(line) <= 80 else f"{claim.quantity} = {value}\n  {known}"


def shown_value(claim: Claim) -> str:
    """Write a claim's value: both ends of a bracket, and a long rational by its first digits."""
    upper = claim.parameters.get("upper", claim.value)
    if upper != claim.value:
        return f"{_shown(claim.value)}..{_shown(upper)}"
    return _shown(claim.value)


def _shown(value: str) -> str:
    """A short number as it is, a long one by its first digits."""
    top, slash, bottom = value.partition("/")
    if not slash or len(value) <= _LONG:
        return _whole(value)
    shown = Decimal(top) / Decimal(bottom)
    return f"about {shown:.6g}, a fraction of {len(top)} by {len(bottom)} digits in --json"


def _whole(value: str) -> str:
    """A very long integer by its first digits, anything else as it is."""
    if value.isdigit() and len(value) > _DIGITS:
        return f"about {value[0]}.{value[1:6]}e{len(value) - 1} ({len(value)} digits)"
    return value


def checked_words(checked: Checked) -> str:
    """Write what a certificate was found to prove."""
    return "\n".join([f"accepted: {checked.spec}", *(f"  {s}" for s in checked.statements)])


def verification_words(found: Verification) -> str:
    """Write what sampling says."""
    gram, layer = found.gram, found.layer
    lines = [
        found.spec,
        f"correlations  {found.pairs} of {len(gram.members)} members on {gram.used} tokens with "
        f"z_0 = -1 (of {gram.samples})",
        f"              largest deviation {found.worst:.4g}, allowed {gram.radius:.4g} "
        f"({found.confidence:.0%}; {gram.inequality}); {found.disagreements} outside",
        f"layer         {layer.members} members on {layer.tokens} tokens: differs from the formula "
        f"by {layer.error:.2g}, allowed {layer.tolerance:.2g}"
        if layer.members
        else "layer         not checked: it has too many heads to be built",
    ]
    if found.stored:
        lines += [
            f"stored        {found.stored.different} of {found.stored.examples} labels differ from "
            f"the noiseless ones, noise explains {found.stored.allowed:.0f}"
        ]
    elif found.unchecked:
        lines += [f"stored        {found.unchecked} labels not checked: there is no secret part"]
    return "\n".join([*lines, "agrees" if found.agrees else "DISAGREES"])


def run_words(found: Run) -> str:
    """Write one run."""
    usage, risk = found.usage, found.risk
    measured = "not measured"
    if risk:
        measured = (
            f"{_small(risk.value)} in [{risk.low:.4f}, {risk.high:.4f}] at {risk.confidence:.0%} "
            "(1 = nothing learned, 0 = all)"
        )
    recovered = {True: "yes", False: "no", None: "not claimed"}[found.secret_recovered]
    if found.secret_recovered is None and "claimed_secret" in found.details:
        recovered = f"claims {found.details['claimed_secret']}, not checked"
    truth = found.details.get("truth")
    heads = [f"heads    {truth_words(truth)}"] if truth else []
    details = [
        f"{k} {v:.3g}" if isinstance(v, float) else f"{k} {v[:12] if k == 'sha256' else v}"
        for k, v in found.details.items()
        if v is not None and k != "printed" and not isinstance(v, dict) and not _is_long(v)
    ]
    own = ["details  " + ", ".join(details)]
    if "printed" in found.details:
        own += [textwrap.indent(str(found.details["printed"]).rstrip(), "printed  ", bool)]
    if "stages" in found.details:
        own += ["", stage_words(found.details)]
    if "expected_rank" in found.details:
        own = [lifted_words(found.details)]
    return "\n".join(
        [
            f"{found.learner} on {found.spec}, seed {found.seed}",
            f"outcome  {found.outcome.value}: {found.outcome.advice}",
            f"risk     {measured}",
            f"usage    {usage.examples} examples, {usage.queries} queries, {usage.seconds:.2f} s",
            f"secret   {recovered}",
            *heads,
            *own,
        ]
    )


def _small(risk: float) -> str:
    """A risk in four decimals, or its size where they would be zeros."""
    return f"{risk:.1e}" if 0 < risk < 5e-5 else f"{risk:.4f}"


def _is_long(value: Any) -> bool:
    """Whether a detail is for --json and the figures."""
    return isinstance(value, list) and any(isinstance(part, dict | float | list) for part in value)


def truth_words(truth: dict[str, Any]) -> str:
    """Write how near the heads of a layer are to the true ones.

    >>> truth_words({"heads": [1, None], "theta_errors": [0.5, None], "w_errors": [2.0, None],
    ...     "spare": [0]})
    '1 of 2 paired, 1 to spare; largest relative errors: Theta 0.5, W 2'
    """
    theta, w = ([e for e in truth[f"{name}_errors"] if e is not None] for name in ("theta", "w"))
    spare = f", {len(truth['spare'])} to spare" if truth["spare"] else ""
    return (
        f"{len(theta)} of {len(truth['heads'])} paired{spare}; largest relative errors: "
        f"Theta {max(theta):.2g}, W {max(w):.2g}"
    )


def game_words(game: Game) -> str:
    """Write a game against the adversary: the run, and query by query what was ruled out."""
    script = game.transcript
    rows = [
        [f"{a}" if a == b else f"{a}..{b}", str(each), big(left)]
        for a, b, each, left in script.runs()
    ]
    shown = rows if len(rows) <= _ROWS else [*rows[: _ROWS - 1], ["...", "", ""], rows[-1]]
    bound = "no certified bound: labels have more than two values"
    if game.bound is not None:
        bound = (
            f"certified: {big(game.bound)} queries must be allowed to find the member in every "
            f"game within {script.tau}"
        )
    return "\n".join(
        [
            run_words(game.run),
            "",
            f"{script.mode} adversary, {big(script.members)} members",
            table(["query", "ruled out by each", "left"], shown),
            f"{len(script.entries)} queries were asked; {bound}",
        ]
    )


def inspection_words(facts: dict[str, Any]) -> str:
    """Write what `inspect` says of a family and, where it is known, of its layer."""
    lines = [
        _hang(f"{key:15} ", str(value))
        for key, value in facts.items()
        if key not in ("layer", "fine_print")
    ]
    layer = facts["layer"]
    if "not_shown" in facts:
        return "\n".join(lines)
    if layer is None:
        return "\n".join([*lines, "", "no secret part here: the layer itself is not known"])
    rows = [
        [str(i), *(f"{value:.4g}" for value in head.values())]
        for i, head in enumerate(layer["heads"])
    ]
    coherence = (
        f"coherence of the Theta_i {layer['coherence']:.3f}, of the W_i {layer['w_coherence']:.3f}"
    )
    header = ["head", "|Theta|", "|W|", "stable rank", "|trace|/|Theta|"]
    told = ["", fine_print_words(facts)] if facts["fine_print"] else []
    return "\n".join([*lines, "", table(header, rows), coherence, *told])


def fine_print_words(facts: dict[str, Any]) -> str:
    """Write the conditions of the theorem that layers can be learned, with their lights."""
    lines = ["fine print of the theorem that such layers can be learned (after CL24)"]
    for c in facts["fine_print"]:
        what = f"{'Theta' if c['of'] == 'theta' else 'W'} {c['name']}"
        lines += [_hang(f"  {c['light']:7} {what:18} {c['value']:<8.3g} ", c["asks"])]
    lights = [c["light"] for c in facts["fine_print"]]
    red, yellow = lights.count("red"), lights.count("yellow")
    if red:
        said = (
            f"{red} red: the theorem does not speak of this layer. That is no hardness: most "
            "violations turned out harmless at small size, so try `hardness learn staged`"
        )
    elif yellow:
        said = f"{yellow} yellow: at this size a light says little; the theorem's constants less"
    else:
        said = "all green: as a random layer. The theorem's own constants ask for more at any size"
    return "\n".join([*lines, wrap(said)])


def _hang(start: str, text: str) -> str:
    """Write text after a start, its further lines below its first."""
    return textwrap.fill(
        text,
        80,
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_long_words=False,
        break_on_hyphens=False,
    )


def wrap(text: str, indent: str = "", further: str | None = None) -> str:
    """Fill lines of 80 columns, those after the first indented by `further`."""
    rest = indent if further is None else further
    return textwrap.fill(text, 80, initial_indent=indent, subsequent_indent=rest)
