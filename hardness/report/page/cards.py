"""Certificates as cards: what each claims, what that means and what it does not mean."""

import shlex

from hardness.lower import BoundParameters, Certificate, Claim
from hardness.report.certificate import shown_value, unsaid
from hardness.report.cost import beside_words
from hardness.report.members import origin_notes
from hardness.report.page.material import Material
from hardness.report.page.records import Card, Cell, Claimed, Table
from hardness.report.text import bound
from hardness.runs.certified import claims, number
from hardness.runs.table import lines
from instances.spec import parse_stored
from instances.text import exact

MOST = 12  # cards of a report
_LONG = 80  # characters of a condition
_SHOWN = ("sq-dimension", "stat-queries", "csq-queries", "information-floor")
# Brackets of which the lower end certifies hardness.
_FROM_BELOW = ("orthogonal-members", "sq-dimension", "sda-all-subsets", "sda-pair-events")
_QUERIES = ("stat-queries", "vstat-queries", "csq-queries")


def certified(material: Material) -> list[tuple[str, BoundParameters, Certificate]]:
    """List every certificate of the runs' specs and of the store, each once."""
    found: dict[tuple[str, BoundParameters], Certificate] = {}
    for one in material.slices:
        comparison = one.comparison
        for certificate in comparison.certificates:
            found.setdefault((certificate.spec, comparison.terms), certificate)
    for spec, terms in material.certifier.pairs:
        made = material.certifier.one(spec, terms)
        if isinstance(made, Certificate):
            found.setdefault((made.spec, terms), made)
    return [(spec, terms, one) for (spec, terms), one in found.items()]


def cards(material: Material) -> tuple[list[Card], list[str]]:
    """Make a card of each family with its parameters, at its largest size; and say what is left.

    The other sizes stand in its table.
    """
    by_terms: dict[BoundParameters, dict[str, Certificate]] = {}
    for spec, terms, one in certified(material):
        by_terms.setdefault(terms, {})[spec] = one
    found: list[Card] = []
    for terms, every in by_terms.items():
        families: dict[str, list[str]] = {}
        for spec in every:
            families.setdefault(spec.partition(":")[0], []).append(spec)
        for specs in families.values():
            for _, line in lines(specs):
                found.append(card([every[spec] for spec in line], terms))
    return found[:MOST], [
        *(f"{one.spec}: {one.command}" for one in found[MOST:]),
        *_unknown(material),
    ]


def _unknown(material: Material) -> list[str]:
    """Name the certificates of the store that cannot be made again here, and so are not shown."""
    certifier = material.certifier
    pairs = [(spec, certifier.one(spec, terms)) for spec, terms in certifier.pairs]
    return [
        f"a certificate of {spec[:200]} in the store, which is not made again here: {why}"
        for spec, why in pairs
        if isinstance(why, str)
    ]


def card(line: list[Certificate], terms: BoundParameters) -> Card:
    """Make the card of the last of certificates that differ in size; the others are its table."""
    one = line[-1]
    asked = [] if terms.tau == BoundParameters().tau else ["--tau", str(terms.tau)]
    for name in ("vstat", "risk", "success", "gamma"):
        if getattr(terms, name) != getattr(BoundParameters(), name):
            asked += [f"--{name}", str(getattr(terms, name))]
    command = shlex.join(
        ["hardness", "certify", certified_spec(one), *asked, "--out", "certificate.json"]
    )
    assumed = origin_notes(one)
    return Card(
        spec=certified_spec(one),
        about=parse_stored(certified_spec(one)).about,
        claims=tuple(
            Claimed(
                quantity=claim.quantity,
                value=shown_value(claim),
                kind=claim.kind,
                meaning=_meaning(claim),
                source=claim.source,
            )
            for claim in one.claims
        ),
        means=tuple(_means(one, terms)),
        not_means=tuple(_not_means(one)),
        assumptions=tuple(dict.fromkeys(assumed)),
        command=f"{command} && hardness check certificate.json",
        others=_others(line[:-1], terms),
    )


def certified_spec(one: Certificate) -> str:
    """The spec that was certified, which a certificate of tables names as their origin."""
    if not one.spec.startswith("factors:"):
        return one.spec
    return str(one.proof["about"]["origin"]["path"])


def _meaning(claim: Claim) -> str:
    """Add the conditions of a claim to what it means, and which end of a bracket is certified."""
    given = [f"{k} {_cut(v)}" for k, v in unsaid(claim).items() if k != "upper"]
    if claim.upper != claim.value:
        certified = ", which is what is certified" if claim.quantity in _FROM_BELOW else ""
        low, high = (_cut(exact(end)) for end in (claim.value, claim.upper))
        given.append(f"value {low}{certified}; upper {high}")
    return f"{claim.meaning} ({', '.join(given)})" if given else claim.meaning


def _cut(value: str) -> str:
    return value if len(value) <= _LONG else f"{value[:_LONG]}..., in whole in the certificate"


def _means(one: Certificate, terms: BoundParameters) -> list[str]:
    """Say what the bounds are about, in the words of the claims themselves."""
    found = [
        f"{claim.quantity}: {claim.meaning}."
        for claim in one.claims
        if claim.quantity.replace("-success", "-queries") in _QUERIES
        and claim.quantity != "vstat-queries"
        and not claim.vacuous
    ]
    silent = [claim.quantity for claim in one.claims if claim.vacuous]
    if silent:
        found.append(f"Vacuous here, saying nothing: {' and '.join(silent)}.")
    kinds = {claim.kind for claim in one.claims}
    inside = "; where a claim is an interval, the true number lies in it"
    found.append(
        "Every number follows from the proof in the certificate by exact arithmetic"
        f"{inside if 'interval' in kinds else ''}."
    )
    found.append("The command hardness check checks each step of it.")
    if terms.tau:
        found.append(
            f"Terms: tolerance {terms.tau}, relative risk {terms.risk}, success probability "
            f"{terms.success} over the member, as the family draws it, and the learner's coins."
        )
    found.append(
        "It is about worst answers within the tolerance: honest answers, as runs here have, may "
        "let a learner end with fewer queries."
    )
    return [*found, one.scope]


def _not_means(one: Certificate) -> list[str]:
    """Say what nobody may read into it."""
    found = ["It does not mean that nobody can learn such a layer."]
    beside = beside_words(one.spec)
    if beside:
        found.append(beside)
    return [
        *found,
        "It does not bound gradient descent that sees single examples: where such a learner fails "
        "in a picture, that is a measurement.",
    ]


def _others(line: list[Certificate], terms: BoundParameters) -> Table:
    header = [name for name in _SHOWN if all(claims(one, name) for one in line)] if line else []
    rows: list[tuple[Cell, ...]] = [
        (
            certified_spec(one),
            *(bound(name, number(one, name, terms.success)) for name in header),
        )
        for one in line
    ]
    return Table(header=("spec", *header), rows=tuple(rows))
