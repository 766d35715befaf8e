"""Certificates as cards: what each claims, with its conditions, how it is known and its source."""

import shlex
from collections.abc import Iterator, Sequence

from hardness.lower import BoundParameters, Certificate, Claim
from hardness.report.certificate import origin_notes, shown_value, unsaid
from hardness.report.cost import beside_words
from hardness.report.page.material import Material
from hardness.report.page.records import Card
from hardness.report.page.tables import frame
from hardness.report.text import bound
from hardness.runs.certified import claims, number
from hardness.runs.names import brief_spec
from hardness.runs.slices import lines
from instances.spec import parse_stored
from instances.text import exact

MOST = 12  # cards of a page
_LONG = 80  # characters of a condition
_SHOWN = ("sq-dimension", "stat-queries", "csq-queries", "information-floor")
# Brackets of which the lower end certifies hardness.
_FROM_BELOW = ("orthogonal-members", "sq-dimension", "sda-all-subsets", "sda-pair-events")
_BOUNDING = ("stat-queries", "stat-success", "csq-queries", "csq-success")
_TERMS = ("tau", "vstat", "risk", "success", "gamma")


def certified(material: Material) -> Iterator[tuple[str, BoundParameters, Certificate]]:
    """List every certificate of the runs' specs and of the store, each once."""
    found: dict[tuple[str, BoundParameters], Certificate] = {}
    for part in material.slices:
        for made in part.comparison.certificates:
            found.setdefault((made.spec, part.comparison.terms), made)
    for spec, terms in material.certifier.pairs:
        if isinstance(one := material.certifier.one(spec, terms), Certificate):
            found.setdefault((one.spec, terms), one)
    yield from ((spec, terms, one) for (spec, terms), one in found.items())


def cards(material: Material) -> tuple[list[Card], list[tuple[str, str]]]:
    """Make a card of each family with its parameters, at its largest size; and say what is left.

    The other sizes stand in its table. What cannot be made again here is left out, too.
    """
    groups: dict[tuple[BoundParameters, str], dict[str, Certificate]] = {}
    for spec, terms, one in certified(material):
        groups.setdefault((terms, spec.partition(":")[0]), {})[spec] = one
    found = [
        card([every[spec] for spec in line], terms)
        for (terms, _), every in groups.items()
        for _, line in lines(list(every))
    ]
    unknown = [
        (f"a certificate of {spec[:200]} in the store, which is not made again here", why)
        for spec, terms in material.certifier.pairs
        if isinstance(why := material.certifier.one(spec, terms), str)
    ]
    return found[:MOST], [*((one.spec, one.command) for one in found[MOST:]), *unknown]


def card(line: Sequence[Certificate], terms: BoundParameters) -> Card:
    """Make the card of the last of certificates that differ in size alone."""
    one, usual = line[-1], BoundParameters()
    given = [(name, str(getattr(terms, name))) for name in _TERMS]
    asked = [
        word
        for name, value in given
        if value != str(getattr(usual, name))
        for word in (f"--{name}", value)
    ]
    spec = _asked(one)
    command = shlex.join(["hardness", "certify", spec, *asked, "--out", "certificate.json"])
    names = [name for name in _SHOWN if all(claims(each, name) for each in line)]
    return Card(
        spec=spec,
        about=parse_stored(spec).about,
        claims=frame(
            ("quantity", "value", "kind", "meaning", "source"),
            ((c.quantity, shown_value(c), c.kind, _meaning(c), c.source) for c in one.claims),
        ),
        terms=terms,
        bounding=tuple(
            f"{c.quantity}: {c.meaning}"
            for c in one.claims
            if c.quantity in _BOUNDING and not c.vacuous
        ),
        vacuous=tuple(c.quantity for c in one.claims if c.vacuous),
        scope=one.scope,
        beside=beside_words(one.spec),
        assumptions=tuple(dict.fromkeys(origin_notes(one))),
        sizes=frame(
            ("problem", *names),
            (
                (brief_spec(each.spec), *(bound(n, number(each, n, terms.success)) for n in names))
                for each in line
            ),
        ),
        command=f"{command} && hardness check certificate.json",
    )


def _asked(one: Certificate) -> str:
    """The spec that was certified: tables of a family's factors name it as their origin."""
    if not one.spec.startswith("factors:"):
        return one.spec
    return str(one.proof["about"]["origin"]["path"])


def _meaning(claim: Claim) -> str:
    """Add the conditions of a claim to what it means, and which end of a bracket is certified."""
    given = [f"{k} {_cut(v)}" for k, v in unsaid(claim).items() if k != "upper"]
    if claim.upper != claim.value:
        end = ", which is what is certified" if claim.quantity in _FROM_BELOW else ""
        low, high = (_cut(exact(value)) for value in (claim.value, claim.upper))
        given.append(f"value {low}{end}; upper {high}")
    return f"{claim.meaning} ({', '.join(given)})" if given else claim.meaning


def _cut(value: str) -> str:
    return value if len(value) <= _LONG else f"{value[:_LONG]}..., in whole in the certificate"
