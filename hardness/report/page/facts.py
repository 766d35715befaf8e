"""What the sentences and the cards of a page say, as data: the words stand in words.html."""

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from hardness.bounds import BoundParameters, Certificate, Claim
from hardness.bounds.quantities import chance, vacuous
from hardness.report.certificate import beside_words, origin_notes, shown_value, unsaid
from hardness.report.charts.phase import SHARE, asks
from hardness.report.claims import conditions, sentence
from hardness.report.comparison import ASKER
from hardness.report.page.material import Card, Facts, Material
from hardness.report.page.tables import frame, learner_rows, shown_names
from hardness.report.run import unbound, unbound_words
from hardness.report.stress import NONE_ENOUGH, certified_words, headline
from hardness.report.text import bound
from hardness.runs.certified import claims, number, query_bound, success
from hardness.runs.comparison import Comparison, values_of
from hardness.runs.groups import Line, lines
from hardness.runs.names import Value, brief_spec
from hardness.runs.registry import LEARNERS
from hardness.runs.risk import SOLVED_BELOW
from hardness.runs.stress import TERMS
from instances.errors import UsageError
from instances.numbers import write
from instances.spec import parse_stored

if TYPE_CHECKING:
    from pandas import DataFrame

_FAMILIES = 3  # of which it is said how far learners got


def facts(material: Material, ordered: Sequence[Line]) -> Facts:
    """Collect what was solved, what was not, what is proved, and all else that a page says."""
    stress, runs = material.stress, material.runs
    large = _largest(material)
    every = list(certified(material))
    return {
        "kind": "stress" if stress else "store" if material.store else "comparison",
        "over": "" if stress or material.store else material.lines[0].comparison.parameter,
        "parts": len(material.lines),
        "certificates": len(every),
        "climbs": len(material.climbs),
        "share": SHARE,
        "passes": SOLVED_BELOW,
        "rung_terms": TERMS,
        "climbed": [headline(stress, climb) for climb in stress.climbs] if stress else [],
        "rungs": certified_words(stress) if stress else [],
        "runs": _counts(runs),
        "far": [one for part in large if (one := furthest(part))],
        "never": _never(runs),
        "bound": _bound(every),
        "unbounded": _unbounded(material, every),
        "examples": _examples(material),
        "below": below_floor(material),
        "cut": _cut(material.lines[0].comparison) if material.command else None,
        "growth": [fact for part in ordered if part in large for fact in _grown(part)],
        "ended": sorted(Counter(runs["bound"][~runs["reproducible"].astype(bool)]).items()),
    }


def _counts(runs: "DataFrame") -> Facts:
    """Count runs and those that passed, in all and of each learner."""
    shares = runs.groupby("learner", sort=False)["solved"].agg(["sum", "size"]).itertuples()
    return {
        "runs": len(runs),
        "passed": int(runs["solved"].sum()),
        "problems": runs["spec"].nunique(),
        "families": list(runs["family"].unique()),
        "learners": [{"learner": name, "passed": n, "runs": of} for name, n, of in shares],
    }


def _largest(material: Material) -> list[Line]:
    """The line of most runs of each family, the last of equals: of the largest parameters."""
    by_family: dict[str, Line] = {}
    for line in sorted(material.lines, key=lambda line: len(line.rows)):
        by_family[line.comparison.specs[0].partition(":")[0]] = line
    return sorted(by_family.values(), key=lambda line: -len(line.rows))[:_FAMILIES]


def furthest(line: Line) -> Facts | None:
    """Say at which size learners got furthest: the rows of those that solved it, and of others.

    value: the largest size at which a learner passed `SHARE` of its runs, None where none did.
    """
    comparison = line.comparison
    if not comparison.learners:
        return None
    rows = learner_rows(line.rows)
    solves = rows["solved"] * SHARE.denominator >= rows["runs"] * SHARE.numerator
    sizes = dict(zip(comparison.values, comparison.specs, strict=True))
    solved = set(rows["spec"][solves])
    value = next((value for value in reversed(sizes) if sizes[value] in solved), None)
    there = rows["spec"] == ("" if value is None else sizes[value])
    return {
        "spec": comparison.spec,
        "parameter": comparison.parameter,
        "within": line.beside,
        "sizes": comparison.values,
        "value": value,
        "best": rows[there & solves].sort_values(["examples", "seconds"]).to_dict("records"),
        "others": rows[there & ~solves].to_dict("records"),
    }


def _never(runs: "DataFrame") -> list[Facts]:
    """Name the learners of which no run passed, with how most of their runs ended."""
    found = []
    for name, group in runs.groupby("learner", sort=False):
        [(outcome, times)] = Counter(group["outcome"]).most_common(1)
        of = {"learner": name, "runs": len(group), "outcome": outcome}
        found += [] if group["solved"].any() else [of | {"all": times == len(group)}]
    return found


def _bound(every: Sequence[tuple[str, BoundParameters, Certificate]]) -> Facts:
    """Choose the certificate that asks for most queries, and one by which no number is enough."""
    told: Facts = {"least": None, "endless": None}
    for spec, terms, one in every:
        quantity = query_bound([one])
        if not quantity:
            continue
        queries = number(one, quantity, terms.success)
        floors = [c.value for c in one.claims if c.quantity == "information-floor"]
        found = {
            "spec": spec,
            "terms": terms,
            "asker": ASKER[quantity],
            "queries": queries,
            "vacuous": queries is not None and vacuous(quantity, queries),
            "floor": next((int(n) for n in floors if not vacuous("information-floor", n)), None),
        }
        if queries is None:
            most = chance(write(success(one, quantity) or 0, ratio=True))
            told["endless"] = found | {"says": NONE_ENOUGH[quantity].format(terms.tau, most)}
        elif told["least"] is None or queries >= told["least"]["queries"]:
            told["least"] = found
    if told["endless"] and told["least"] and told["least"]["vacuous"]:
        told["least"] = None
    return told


def _unbounded(
    material: Material, every: Sequence[tuple[str, BoundParameters, Certificate]]
) -> list[str]:
    """Name the families that have runs and no certificate at all, where others have one."""
    bounded = {spec.partition(":")[0] for spec, _, _ in every}
    bounded |= {  # a name of the catalog is certified under its canonical spec
        line.comparison.specs[0].partition(":")[0]
        for line in material.lines
        if line.comparison.certificates
    }
    none = [name for name in material.runs["family"].unique() if name not in bounded]
    return none if bounded else []


def _examples(material: Material) -> Facts:
    """Name the learners that passed where bounds are claimed which are about others.

    ours: from examples. others: learners of which it is not known what they ask. free: what binds
    learners by membership queries, in words.
    """
    bounded = {c.spec for line in material.lines for c in line.comparison.certificates}
    runs = material.runs
    passed = runs[runs["spec"].isin(bounded) & runs["solved"].astype(bool)]
    free = unbound(passed["run"])
    found = [name for name in passed["learner"].unique() if not asks(name) and name not in free]
    own = [name for name in found if name.partition(":")[0] in LEARNERS]
    return {
        "ours": own,
        "others": [name for name in found if name not in own],
        "free": unbound_words(passed["run"], shown_names(passed["learner"]).__getitem__),
    }


def below_floor(material: Material) -> list[dict[Any, Any]]:
    """Name the runs that solved with fewer examples than the certified information floor.

    The floor counts labels, drawn or chosen, and holds with a probability of success.
    """
    floors = {
        c.spec: c.integer("information-floor")
        for line in material.lines
        for c in line.comparison.certificates
        if any(claim.quantity == "information-floor" for claim in c.claims)
    }
    runs = material.runs.assign(labels=lambda runs: runs["examples"] + runs["values_asked"])
    runs["floor"] = runs["spec"].map(floors)
    found = runs[runs["solved"] & (runs["labels"] < runs["floor"]) & (runs["queries"] == 0)]
    told = found.groupby(["learner", "spec"], sort=False).agg(
        runs=("labels", "size"), least=("labels", "min"), floor=("floor", "first")
    )
    return told.reset_index().to_dict("records")


def _cut(comparison: Comparison) -> tuple[int, int] | None:
    """Count the sizes of a comparison that was cut, and those of its command."""
    try:
        words = shlex.split(comparison.command)
        asked = {value for word in words for value in _sizes(word, comparison.parameter)}
    except (UsageError, ValueError):
        return None
    kept = set(comparison.values)
    return (len(kept), len(asked)) if asked > kept else None


def _sizes(word: str, parameter: str) -> tuple[Value, ...]:
    """The sizes that a word of a command asks for, as "d=8..20" or "--over=d=8..20"."""
    text = word.removeprefix("--over=")
    return values_of(text)[1] if text.startswith(f"{parameter}=") else ()


def _grown(line: Line) -> Iterator[Facts]:
    """Give the laws of examples and queries, each with the certified exponent beside it."""
    rates: set[tuple[str, float]] = set()  # examples may follow from queries
    for fit in line.comparison.scaling.fits:
        law = fit.law
        if law is None or fit.cost == "seconds":
            continue
        if (key := (fit.learner, round(law.exponent, 9))) in rates:
            continue
        rates.add(key)
        yield {
            "learner": fit.learner,
            "spec": line.comparison.spec,
            "within": line.beside,
            "cost": fit.cost,
            "parameter": line.comparison.parameter,
            "law": law,
            "sizes": fit.values,
            "beside": fit.beside,
            "certified": fit.certified_exponent,
        }


MOST = 12  # cards of a page
_LONG = 80  # characters of a condition
_SHOWN = ("sq-dimension", "stat-queries", "csq-queries", "information-floor")
# Brackets of which the lower end certifies hardness.
_FROM_BELOW = ("orthogonal-members", "sq-dimension", "sda-all-subsets")
_BOUNDING = ("stat-queries", "stat-success", "csq-queries", "csq-success")
_TERMS = ("tau", "vstat", "risk", "success", "gamma")


def certified(material: Material) -> Iterator[tuple[str, BoundParameters, Certificate]]:
    """List every certificate of the runs' specs and of the store, each once."""
    certificates: dict[tuple[str, BoundParameters], Certificate] = {}
    for part in material.lines:
        for made in part.comparison.certificates:
            certificates.setdefault((made.spec, part.comparison.terms), made)
    yield from ((spec, terms, certificate) for (spec, terms), certificate in certificates.items())


def cards(material: Material) -> tuple[list[Card], list[tuple[str, str]]]:
    """Make a card of each family with its parameters, at its largest size; and say what is left.

    The other sizes stand in its table.
    """
    groups: dict[tuple[BoundParameters, str], dict[str, Certificate]] = {}
    for spec, terms, one in certified(material):
        groups.setdefault((terms, spec.partition(":")[0]), {})[spec] = one
    every_card = [
        card([every[spec] for spec in line], terms)
        for (terms, _), every in groups.items()
        for _, line in lines(list(every))
    ]
    return every_card[:MOST], [(each.spec, each.command) for each in every_card[MOST:]]


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
            ((c.quantity, shown_value(c), c.kind, _meaning(one, c), c.source) for c in one.claims),
        ),
        terms=terms,
        bounding=tuple(
            f"{c.quantity}: {sentence(one, c)}"
            for c in one.claims
            if c.quantity in _BOUNDING and not c.vacuous
        ),
        vacuous=tuple(c.quantity for c in one.claims if c.vacuous),
        scope=conditions(one),
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
    if not one.factors:
        return one.spec
    return str((one.origin or {})["path"])


def _meaning(made: Certificate, claim: Claim) -> str:
    """Add the conditions of a claim to what it means, and which end of a bracket is certified."""
    given = [f"{k} {_shortened(v)}" for k, v in unsaid(made, claim).items() if k != "upper"]
    if claim.upper != claim.value:
        end = ", which is what is certified" if claim.quantity in _FROM_BELOW else ""
        low, high = (_shortened(write(value, ratio=True)) for value in (claim.value, claim.upper))
        given.append(f"value {low}{end}; upper {high}")
    text = sentence(made, claim)
    return f"{text} ({', '.join(given)})" if given else text


def _shortened(value: str) -> str:
    return value if len(value) <= _LONG else f"{value[:_LONG]}..., in whole in the certificate"
