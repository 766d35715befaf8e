"""Certificates, the result of the checker, and sampled verification, in words."""

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

from hardness.bounds.checker import short
from hardness.bounds.quantities import VACUOUS
from hardness.report.claims import conditions, sentence
from hardness.report.text import bad, display_width, faint, good, table, wrap
from hardness.runs.names import brief_spec
from instances.coded import Coded
from instances.numbers import brief, write
from instances.spec import kind_of, parse_stored
from instances.text import shortened

if TYPE_CHECKING:
    from hardness.bounds import Certificate, Claim, Verification
    from hardness.bounds.check import Checked

_LONG = 40  # most characters of a fraction that is written in full
_NARROW, _WIDE, _LINE = 12, 26, 82  # most columns of a number, of a formula, and of a row


def certificate_words(certificate: "Certificate") -> str:
    """Write a table of the claims, a sentence for each bound on learners, and the conditions."""
    lines = [brief_spec(certificate.spec), ""]
    if notes := member_notes(certificate):
        lines += [*map(wrap, notes), ""]
    if certificate.claims:
        rows = [["quantity", "value", "formula", "known"], *map(_row, certificate.claims)]
        if sum(max(map(display_width, column)) + 2 for column in zip(*rows, strict=True)) > _LINE:
            rows = [[quantity, value, known] for quantity, value, _, known in rows]
        lines += [claims := table(rows[0], rows[1:]), ""]
        if "~" in claims:
            lines += [
                wrap("~ rounded, lower bounds down and upper bounds up; --json has every digit."),
                "",
            ]
    for claim in certificate.claims:
        text = _note(certificate, claim)
        if of_learners(claim) and not claim.vacuous:
            terms = missing_terms(certificate, claim)
            missing = ", ".join(f"{k} {shortened(v)}" for k, v in terms.items())
            text = sentence(certificate, claim) + (f" ({missing})" if missing else "")
        if text:
            lines.append(wrap(f"{text}.", further="  "))
    for about, reason in certificate.unproved.items():
        lines += ["", wrap(f"{about}: no claim: {reason}", further="  ")]
    below = (
        *origin_notes(certificate),
        "" if certificate.origin else rounding_words(certificate.spec),
        beside_words(certificate.spec),
        *(cheapest_words(certificate) if certificate.reduces else ()),
    )
    lines += ["", *(wrap(text, further="  ") for text in conditions(certificate).split("\n"))]
    return "\n".join([*lines, *(line for text in below if text for line in ("", wrap(text)))])


def of_learners(claim: "Claim") -> bool:
    """Return whether a claim bounds what learners need, and not only correlations."""
    named = ("low-degree", "gd-noise", "kernel", "lwe-probability")
    return "risk" in claim.terms or claim.quantity.startswith(named)


def _row(claim: "Claim") -> list[str]:
    """Write a row of the table of claims; long numbers and formulas are only in --json."""
    value = faint(VACUOUS) if claim.vacuous else claim.value_text(_in_table)
    named = {"information": "counting", "this certificate": "here"}
    method = named.get(claim.source, claim.source)
    gives = f" = {shortened(write(claim.value, ratio=True))}" * claim.vacuous
    formula = f"{claim.formula}{gives}" if claim.formula else ""
    short = formula if len(formula) <= _WIDE else ""
    return [claim.quantity, value, short, f"{claim.kind} [{method}]"]


def _in_table(value: Fraction, up: bool) -> str:
    """Write a number in the width of a column; a long one is rounded in the safe direction."""
    text = write(value, ratio=True)
    return text if len(text) <= _NARROW else f"~{brief(value, up=up)}"


def _note(certificate: "Certificate", claim: "Claim") -> str:
    """Say that a claim is vacuous, and at which terms it is not, or why it is not exact."""
    if claim.vacuous:
        remedy = remedy_words(certificate, claim)
        return f"{claim.quantity} is vacuous at these terms" + (f"; {remedy}" if remedy else "")
    reason = gamma_words(certificate, claim) or interval_words(claim)
    return f"{claim.quantity} is {reason}" if reason else ""


def cheapest_words(certificate: "Certificate") -> list[str]:
    """Name the cheapest estimated attacks on a family, and on the LWE that a reduction assumes.

    >>> import hardness
    >>> certificate = hardness.certify("lwr:n=16,q=64,p=2,secret=binary", about="lwe",
    ...     error_bound=1, examples=20, risk="1/5")
    >>> for line in cheapest_words(certificate):
    ...     print(line[:60])
    Cheapest attack on this family, by estimates: usvp, about 2^
    Cheapest attack on the LWE assumed, if its errors are unifor
    """
    from hardness.lwe.estimate import estimate_all  # other certificates do not need it
    from hardness.lwe.parameters import parameters_of, parse_parameters
    from hardness.report.cost import cost_words

    spec, terms = brief_spec(certificate.spec), certificate["lwe-probability"].terms
    most, samples = int(Fraction(terms["bound"])), int(Fraction(terms["examples"]))
    law = f"error=uniform,width={2 * most + 1}"
    assumed = f"lwe:{re.sub(r'p=[0-9]+', law, spec.removeprefix('lwr:'))}"
    problems = (
        (
            "this family",
            spec,
            parameters_of(parse_stored(certificate.spec)),
            f"`hardness estimate {spec}`",
        ),
        (
            "the LWE assumed, if its errors are uniform",
            assumed,
            parse_parameters(assumed, samples),
            f"`hardness estimate {assumed}` with `--samples {samples}`",
        ),
    )
    lines = []
    assumes = not certificate["lwe-probability"].vacuous
    for about, name, parameters, command in problems if assumes else problems[:1]:
        estimates, cost = estimate_all(parameters, name), "none applies"
        if (least := estimates.least) is not None:
            cost = f"{estimates.label(least)}, {cost_words(least)}"
        lines.append(f"Cheapest attack on {about}, by estimates: {cost} ({command}).")
    return lines


def beside_words(spec: str) -> str:
    """Name the best attack on noisy parities, to compare with the bounds; empty for other specs.

    >>> beside_words("parity:d=100,m=4,noise=0.1")[:60]
    'Restricted Gaussian elimination is not a statistical-query a'
    """
    if not spec.startswith(("parity:", "lpn:")):
        return ""
    family = parse_stored(spec)
    if not family.noise:
        return ""
    from hardness.lwe.estimate import estimate_all
    from hardness.lwe.parameters import parameters_of

    elimination = estimate_all(parameters_of(family), spec, only=("restricted-elimination",))[
        "restricted-elimination"
    ]
    return (
        "Restricted Gaussian elimination is not a statistical-query "
        f"algorithm: about 2^{elimination.rank:.1f} operations on this instance [EKM17]. "
        f"`hardness attack {brief_spec(spec)} --learner restricted` runs it."
    )


def missing_terms(certificate: "Certificate", claim: "Claim") -> dict[str, str]:
    """Return the terms of a claim that its sentence does not mention; for most claims none.

    >>> from hardness.bounds import certify
    >>> from instances import parse
    >>> certificate = certify(parse("parity:d=8,m=3"))
    >>> [missing_terms(certificate, claim) for claim in certificate.claims]
    [{}, {}, {}, {}, {}]
    """
    text = sentence(certificate, claim)
    return {
        name: value
        for name, value in claim.parameters.items()
        if name != "upper" and value != "any" and not re.search(rf"\b{value}\b", text)
    }


def remedy_words(certificate: "Certificate", claim: "Claim") -> str:
    """Say with which option a vacuous claim is not vacuous; empty if none is known.

    >>> from hardness.bounds import certify
    >>> from instances import parse
    >>> certificate = certify(parse("parity:d=8,m=3"))
    >>> print(remedy_words(certificate, certificate["stat-queries"]))
    it says something with --tau 0.15 or more
    >>> print(remedy_words(certificate, certificate["vstat-queries"]))
    it says something with --vstat 15 or less
    """
    if claim.quantity in ("stat-queries", "csq-queries"):
        least = certificate.first_tolerance(claim.quantity)
        if least is None:
            return "so it is with every --tau"
        return f"it says something with --tau {write(least)} or more"
    if claim.quantity == "vstat-queries":
        most = certificate.last_vstat()
        if most is None:
            return "a smaller --vstat may say something"
        if most < 2:
            return "it says something with --vstat 1" if most else "so it is with every --vstat"
        return f"it says something with --vstat {most} or less"
    if claim.quantity == "lwe-probability":
        last = Fraction(claim.terms["horizon"])
        return f"it says something with --examples {write(last)} or less" if last else ""
    return ""


def interval_words(claim: "Claim") -> str:
    """Say why an SQ dimension is not exact; empty if it is, and for other claims."""
    if claim.quantity != "sq-dimension" or claim.kind != "interval":
        return ""
    low, above = short(claim.value), short(claim.upper + 1)
    return (
        f"not exact: some {low} members have pairwise |correlation| at most 1/{low}, no {above} "
        f"have at most 1/{above}, and what lies between is not decided"
    )


def gamma_words(certificate: "Certificate", claim: "Claim") -> str:
    """Say that SDA is 0 because gamma is below the average correlation; empty if it is not."""
    if not claim.quantity.startswith("sda-") or claim.value:
        return ""
    gamma, average = claim.terms["gamma"], certificate["average-correlation"].value
    if average <= Fraction(gamma):
        return ""
    return (
        f"0 since gamma = {gamma} is below the average correlation of all members, "
        f"{_brief_fraction(average, True)}: choose a larger --gamma"
    )


def rounding_words(spec: str) -> str:
    """Say which output of a float layer the claims are about; empty if they are about none.

    >>> rounding_words("nice:m=2,k=2,d=16")
    ''
    >>> rounding_words("hidden:d=8,hard=2,nice=1")[:37]
    'All claims are about the formula of t'
    """
    family = None if kind_of(spec.partition(":")[0]) is None else parse_stored(spec)
    if family and family.name == "direction":
        misread = cast(Any, family).response.misread
        return (
            "All claims are about labels of two values, which the layer followed by rounding gives "
            f"on all but at most a fraction {misread:.1e} of the examples."
        )
    if not (isinstance(family, Coded) or (family and family.hidden_sets)):
        return ""
    return (
        "All claims are about the formula of the labels, not about the raw output of a float layer."
    )


def shown_value(claim: "Claim") -> str:
    """Write the value of a claim, a long fraction by its first digits."""
    return claim.value_text(_brief_fraction)


def _brief_fraction(value: Fraction, up: bool) -> str:
    """Write a short number in full, and a long one by its first digits, rounded up or down."""
    text = write(value, ratio=True)
    top, slash, bottom = text.partition("/")
    if not slash or len(text) <= _LONG:
        return shortened(text)
    return (
        f"about {brief(value, up=up)}, a fraction of {len(top)} by {len(bottom)} digits in --json"
    )


def checked_words(checked: "Checked") -> str:
    """Write the claims of a certificate that the checker accepted."""
    given = f", given {checked.assumed}" if checked.assumed else ""
    head = f"{good('accepted')} by the checker{given}: {brief_spec(checked.spec)}"
    certificate = checked.certificate
    text = [wrap(f"{sentence(certificate, claim)}.", "  ") for claim in certificate.claims]
    below = [wrap(line, further="  ") for line in conditions(certificate).split("\n")]
    return "\n".join([head, *text, "", *below])


def verification_words(verification: "Verification") -> str:
    """Write the result of sampled verification."""
    gram, layer, size = verification.gram, verification.layer, len(verification.dimension)
    known = f"({verification.confidence:.0%}; {gram.inequality})"
    same = ", under the same condition" if gram.condition else ""
    sampled, exact = verification.largest
    lines = [
        brief_spec(verification.spec),
        f"correlations  {verification.pairs} of {len(gram.members)} members on {gram.used} "
        f"{verification.where} (of {gram.samples})",
        f"              each within {gram.radius:.4g} {known}",
        *(f"              {line}" for line in [gram.condition] if line),
        f"              largest of two members {sampled:.4g}"
        + ("" if exact is None else f", {verification.known} {exact:.4g}"),
    ]
    if verification.worst is not None:
        lines += [
            f"              largest deviation from the {verification.known} ones "
            f"{verification.worst:.4g}; {verification.disagreements} outside"
        ]
    lines += [
        f"SQ dimension  at least {size} empirically: any two of {size} members that were found "
        f"have a correlation of at most 1/{size}"
        if size > 1
        else "SQ dimension  no two members are known to have a correlation of at most 1/2",
        f"              statistical ({verification.confidence:.0%}{same}): no bound on queries",
    ]
    if layer:
        lines += [
            f"layer         {layer.members} members on {layer.inputs} inputs: differs from the "
            f"formula by {layer.error:.2g}, allowed {layer.tolerance:.2g}"
            if layer.members
            else "layer         not checked: it has too many heads to be built"
        ]
    if verification.stored:
        lines += [
            f"stored        {verification.stored.different} of {verification.stored.examples} "
            "labels differ from "
            f"the noiseless ones, noise explains {verification.stored.allowed:.0f}"
        ]
    elif verification.unchecked:
        lines += [
            f"stored        {verification.unchecked} labels not checked: there is no secret part"
        ]
    return "\n".join([*lines, good("agrees") if verification.agrees else bad("DISAGREES")])


# Notes on listed functions: properties that their author may not have intended


def member_notes(certificate: "Certificate") -> list[str]:
    """Say how many members are equal, and which value excludes claims on general queries."""
    origin = certificate.origin
    if origin is None:
        return []
    tables, notes = certificate.problem["tables"], []
    if repeated := len(tables) - len(set(map(str, tables))):
        verb = "equals" if repeated == 1 else "equal"
        notes.append(
            f"{repeated} of the {len(tables)} members {verb} an earlier one, and counts again"
        )
    values = [(i, *table) for i, table in enumerate(tables) if not isinstance(table, str)]
    if values and all(v in (0, 1) for _, _, row in values for v in row):
        return [*notes, _ZERO_ONE]
    other = ((i, on, at, v) for i, on, row in values for at, v in enumerate(row) if abs(v) != 1)
    if first := next(other, None):
        i, on, at, value = first
        signs = dict(zip(on, ("-" if at >> k & 1 else "+" for k in range(len(on))), strict=True))
        point = "".join(signs.get(j, "+") for j in range(certificate.problem["signs"]))
        notes.append(
            f"{origin['names'][i]} has the value {value} at the point {point}: claims about "
            "general queries and examples need the values -1 and +1 alone"
        )
    return notes


def origin_notes(certificate: "Certificate") -> list[str]:
    """Say which functions the listed members are, since the checker sees only their tables.

    The list is empty for families whose members are not listed.

    >>> from hardness.bounds import certify
    >>> from hardness.bounds.members import of_family
    >>> from instances import parse
    >>> print(origin_notes(certify(of_family(parse("parity:d=5,m=2"), 4)))[1])
    The members are the 4 of 6 whose names have the least SHA-256: nothing is claimed of the others.
    """
    origin = certificate.origin
    if origin is None:
        return []
    notes = ["That these are the tables of the members that are named is taken as given."]
    names = origin["names"]
    if certificate.factors:
        notes[0] += (
            f" The members are the factors of the label of {origin['path']} where z_0 = -1: "
            "functions of z_1 .. z_n of z = X_1 * X_2, without noise, named by their secrets."
        )
    if "of" in origin:
        notes.append(
            f"The members are the {len(names)} of {origin['of']} whose names have the least "
            "SHA-256: nothing is claimed of the others."
        )
    return notes


_ZERO_ONE = (
    "the values are 0 and 1: give 1 - 2 v in place of v, of which there are claims about general "
    "queries and examples too, or subtract the mean with --centred"
)


def why_nothing(certificate: "Certificate") -> str:
    """Say why a certificate has no useful claim, if its members show the reason; else empty."""
    several = len((certificate.origin or {}).get("names", ())) > 1
    if several and certificate["average-correlation"].value == 1:
        return (
            "all members are the same function, up to its sign and size: does a lambda in a loop "
            "use the loop's variable?"
        )
    return _ZERO_ONE if _ZERO_ONE in member_notes(certificate) else ""
