"""What an instance costs to break, in words."""

from fractions import Fraction
from typing import Any

from hardness.bounds.quantities import WORD
from hardness.lwe.grid import Grid, SearchResult
from hardness.lwe.models import SMALL_BLOCK
from hardness.lwe.record import Estimate, Estimates, EstimatesTable, worded
from hardness.lwe.sets import SETS
from hardness.report.text import item, sheet, table, wrap
from hardness.runs.names import brief_spec
from instances.numbers import write

MEANING = (
    "rop and memory are log2. Each attack counts in its own unit, a gate, a candidate or a step of "
    "linear algebra: a few bits mean nothing. The least is that of these attacks under the models "
    "named, no lower bound. --attack NAME prints all of an attack, or why there is no estimate."
)
_CONTESTED = "takes wrong guesses as independent, which [DP23] contests"
_MANY_SAMPLES = 40.0  # log2: who holds a key gives fewer away
_ACROSS = 6  # attacks that stand side by side; more stand one a line, where sets are fewer
_SYMBOLS = (
    "red, svp, guess, |S| and ↻ are log2 too: of lattice reduction, of calls for short vectors, of "
    "guesses, of candidates, of repetitions; prob is of one. samples: labels with z_0 = -1, which "
    "about half of all examples have."
)
_FIELDS = (  # as practitioners write them
    ("rop", "rop"),
    ("red", "red"),
    ("svp", "svp"),
    ("guess", "guess"),
    ("delta", "δ"),
    ("beta", "β"),
    ("eta", "η"),
    ("sieve", "β'"),
    ("zeta", "ζ"),
    ("space", "|S|"),
    ("p", "p"),
    ("t", "t"),
    ("d", "d"),
    ("m", "m"),
    ("mem", "mem"),
    ("prob", "prob"),
    ("repetitions", "↻"),
)
_LOGARITHMS = ("rop", "red", "svp", "guess", "space", "mem", "repetitions")


def estimate_words(found: Estimates) -> str:
    """Write estimates: a table of the attacks that apply, the least of them, and what bits mean.

    All of each attack too, where the attacks were named.
    """
    claimed = [f"claimed for the set: {found.level} bits"] if found.level else []
    lines = [_title(found), *claimed, *settings_words(found), ""]
    applied = [e for e in found.ranked if e.applies]
    if applied:
        header = ["attack", "rop", "β", "d", "samples", "memory", "how known"]
        lines += [table(header, [_row(found, e) for e in applied]), ""]
    for said, e in zip(("least of these", "least of the others"), found.leasts, strict=False):
        lines.append(wrap(f"{said}: {found.label(e)}, {cost_words(e)}"))
    none = [found.label(e) for e in found.ranked if e.reason]
    lines += [item("no estimate", ", ".join(none))] if none else []
    more = ["", attack_words(found)] if found.detailed else []
    return "\n".join([*lines, *_brief_queries(found), wrap(MEANING), *more])


def attack_words(found: Estimates) -> str:
    """Write all fields of each attack or why it has no estimate, and what queries need."""
    said = [item(found.label(e), _said(e) if e.applies else e.reason) for e in found.ranked]
    return "\n".join([*said, "", _queries(found), "", wrap(_SYMBOLS)])


def cost_words(e: Estimate) -> str:
    """Say in a line what an attack costs, with what speaks against taking it at its word."""
    reserves = [e.kind, *[_CONTESTED] * (e.standing == "contested")]
    if e.beta is not None and e.beta < SMALL_BLOCK:
        reserves.append(f"too small for this model: it says little below block {SMALL_BLOCK}")
    if (e.sample_bits or 0.0) > _MANY_SAMPLES:
        reserves.append(f"it needs {e.sample_words} samples")
    return f"about 2^{e.rank:.1f} operations ({'; '.join(reserves)})"


def _title(found: Estimates) -> str:
    """Write the name of a set, and the spec without what is usual, with the samples."""
    named = f"{found.name}: " if found.name != found.spec else ""
    return named + worded(brief_spec(found.spec), found.samples)


def settings_words(*every: Estimates | None) -> list[str]:
    """Say how many samples there are, how often attacks succeed, what reduction is taken to do."""
    some = [found for found in every if found]
    estimates = [e for found in some for e in found.estimates]
    given = dict.fromkeys("any number" if one.samples is None else str(one.samples) for one in some)
    lines = [
        f"samples an attacker may have: {', '.join(given)}",
        f"probability of success: {some[0].success} at least",
    ]
    pairs = dict.fromkeys((e.model, e.shape) for e in estimates if e.model)
    said = ", ".join(f"{model} with {shape}" for model, shape in pairs)
    return [*lines, f"lattice reduction: {said}"] if said else lines


def _row(found: Estimates, e: Estimate) -> list[str]:
    def number(value: object) -> str:
        return "-" if value is None else str(value)

    return [
        found.label(e),
        "-" if e.rop is None else f"{e.rop:.1f}",
        number(e.beta),
        number(e.d),
        e.sample_words,
        "-" if e.mem is None else f"{e.mem:.1f}",
        e.known,
    ]


def _said(e: Estimate) -> str:
    """Write all fields of an estimate, as practitioners do, how it is the least, and its note."""
    parts = []
    for name, symbol in _FIELDS:
        value = getattr(e, name)
        if value is None:
            continue
        if name in _LOGARITHMS:
            text = f"2^{value:.1f}"
        elif name == "delta":
            text = f"{value:.6f}"
        else:
            text = f"{value:.3g}" if name == "prob" else str(value)
        parts.append(f"{symbol} {text}")
    least = e.search and f"least by: {e.search}"
    more = [part for part in (least, e.note, _CONTESTED * (e.standing == "contested")) if part]
    return "; ".join([", ".join(parts), *more]) + f" [{e.source}]"


def _brief_queries(found: Estimates) -> list[str]:
    """Say in a line how many statistical queries are proven to be needed, where that is known."""
    claim = next((c for c in found.queries if c.quantity == "stat-queries"), None)
    if claim is None:
        return []
    said = "the bound is vacuous" if claim.vacuous else f"{_brief(claim.value)} at least, proven"
    return [item("statistical queries", f"{said}; no attack above is one")]


def _queries(found: Estimates) -> str:
    """Say what statistical queries need: a bound for those learners alone, and no attack."""
    if not found.queries:
        return item("statistical queries", f"no bound: {found.no_queries}")
    claims = []
    for claim in found.queries:
        terms = ", ".join(f"{k} {_brief(v)}" for k, v in claim.parameters.items())
        value = WORD if claim.vacuous else _brief(claim.value)
        claims.append(f"{claim.quantity} = {value}" + (f" ({terms})" if terms else ""))
    return item(
        "statistical queries",
        "; ".join(claims) + ". Proven, but of learners by statistical queries alone, whose success "
        f"is averaged over {found.average}: no attack above is one, and none is bound by it.",
    )


def _brief(value: Fraction | str) -> str:
    """Write a long integer as a power of ten, about; what else there is as it is."""
    text = value if isinstance(value, str) else write(value, ratio=True)
    return f"about 10^{len(text) - 1}" if text.isdigit() and len(text) >= 20 else text


def peer_words(found: Estimates, theirs: tuple[Estimate, ...]) -> str:
    """Write our estimates beside those of lattice-estimator, by the names of attacks."""
    other = {e.name: e for e in theirs}
    names = list(dict.fromkeys([*(e.name for e in found.ranked if e.applies), *other]))
    ours = {e.name: e for e in found.estimates}

    def cells(e: Estimate | None) -> list[str]:
        if e is None or e.rop is None:
            return ["-", "-"]
        return [f"{e.rop:.1f}", "-" if e.beta is None else str(e.beta)]

    rows = [[name, *cells(ours.get(name)), *cells(other.get(name))] for name in names]
    head = ["attack", "rop", "β", "its rop", "its β"]
    level = "Success is that of lattice-estimator: 0.99, of dual_hybrid 1/2."
    return "\n".join([_title(found), "", table(head, rows), "", wrap(f"{level} {MEANING}")])


def grid_words(found: Grid) -> str:
    """Write a grid: one line a problem, with the attack of least cost."""
    settings = settings_words(*(cell.estimates for cell in found.cells))
    several = "1 problem" if len(found.cells) == 1 else f"{len(found.cells)} problems"
    below = f"{several}: the least of the attacks"
    return "\n".join(
        [worded(found.spec, found.samples), *settings, "", sheet(found._rows()), "", below]
    )


def table_words(found: EstimatesTable) -> str:
    """Write a table of problems and attacks, and what its marks mean."""
    marks = "*: the least of these attacks; †: the least that nobody contests"
    below = "; ".join([marks, *contested_words(*found.problems)])
    rows = found._rows()
    head, lines = list(rows[0]), [[str(v or "-") for v in row.values()] for row in rows]
    if len(rows) < len(head) - 1 > _ACROSS:
        head, *lines = [list(line) for line in zip(head, *lines, strict=True)]
        head[0] = "attack"
    said = [*settings_words(*found.problems), "", table(head, lines), "", wrap(below)]
    return "\n".join([*said, wrap(MEANING)])


def contested_words(*every: Estimates) -> list[str]:
    """Name the attacks whose estimates are contested; nothing where there are none."""
    applied = [e for found in every for e in found.estimates if e.applies]
    names = dict.fromkeys(e.name for e in applied if e.standing == "contested")
    return [f"contested [DP23]: {', '.join(names)}"] if names else []


def search_words(found: SearchResult) -> str:
    """Write what reaches a level, and its neighbour that does not."""
    kind = "least" if found.least else "largest"
    title = f"{kind} {found.key} of {found.bits:g} bits: {found.value}"
    checked = f"checked to hold at {found.key} = {', '.join(found.checked)}; of the attacks "
    names = ", ".join(sorted({e.name for e in found.found.estimates if e.applies}))
    lines = [
        title,
        *settings_words(found.found),
        "",
        sheet(found._rows()),
        "",
        wrap(checked + names),
    ]
    return "\n".join(lines)


def sets_words() -> tuple[dict[str, Any], str]:
    """List the named sets: as data, and as a table."""
    listed = {
        name: {
            "spec": e.spec,
            "samples": e.samples,
            "level": e.level,
            "about": e.about,
            "source": e.source,
        }
        for name, e in SETS.items()
    }
    rows = [[name, str(e.level or "-"), worded(e.spec, e.samples)] for name, e in SETS.items()]
    more = "and darmstadt-N-ALPHA for any n and alpha. Other names are read too: Kyber512, Frodo640"
    return {"sets": listed}, "\n".join([table(["set", "claimed", "spec"], rows), "", wrap(more)])
