"""What an instance costs to break, in words."""

from fractions import Fraction
from typing import Any

from hardness.lwe.grid import Grid, SearchResult
from hardness.lwe.models import MODELS, SMALL_BLOCK
from hardness.lwe.record import Estimate, Estimates, EstimatesTable, spec_and_size
from hardness.lwe.sets import SETS
from hardness.report.text import item, sheet, table, wrap
from hardness.runs.names import brief_spec
from instances.numbers import write

MEANING = (
    "rop, operations, and memory, numbers stored, are base-2 logarithms: estimates under the "
    "models named above, in units that differ from attack to attack, and not lower bounds. "
    "`--attack NAME` prints all of an attack, or why it has no estimate."
)
_DISPUTED = "takes wrong guesses as independent, which [DP23] disputes"
_MANY_SAMPLES = 40.0  # log2: the holder of a key publishes fewer
_SYMBOLS = (
    "Base-2 logarithms: red of lattice reduction, svp of calls for short vectors, guess of "
    "guesses, |S| of candidates, ↻ of repetitions; prob is the probability of one. samples: "
    "informative labels, which about half of all examples have."
)
_FIELDS = (  # fields of an estimate, with their usual symbols
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


def estimate_words(estimates: Estimates) -> str:
    """Write estimates: a table of the attacks that apply, the cheapest, and the meaning of bits.

    If the user named the attacks, all fields of each are written too.
    """
    claimed = [f"claimed for the set: {estimates.level} bits"] if estimates.level else []
    lines = [_title(estimates), *claimed, *settings_words(estimates), ""]
    applied = [e for e in estimates.ranked if e.applies]
    if applied:
        header = ["attack", "rop", "β", "d", "samples", "memory", "how known"]
        lines += [table(header, [_row(estimates, e) for e in applied]), ""]
    models = dict.fromkeys(e.model for e in applied if e.model)
    cheapest = [f"{estimates.label(e)}, {cost_words(e)}" for e in estimates.leasts]
    summary = f"The cheapest of these attacks is {cheapest[0]}" if cheapest else ""
    summary += f"; without disputed heuristics it is {cheapest[1]}" if cheapest[1:] else ""
    if len(models) > 1:  # the units of models differ
        least = (next(e for e in applied if e.model in (model, "")) for model in models)
        each = (f"{e.name}, 2^{e.rank:.1f} ({m})" for m, e in zip(models, least, strict=True))
        summary = f"The cheapest of these attacks under each model: {'; '.join(each)}"
    more = ["", attack_words(estimates)] if estimates.detailed else []
    return "\n".join([*lines, wrap(f"{summary}. {MEANING}" if summary else MEANING), *more])


def attack_words(estimates: Estimates) -> str:
    """Write all fields of each attack, or why it has no estimate, and the bounds on queries."""
    items = [
        item(estimates.label(e), _all_fields(e) if e.applies else e.reason)
        for e in estimates.ranked
    ]
    return "\n".join([*items, "", _queries(estimates), "", wrap(_SYMBOLS)])


def cost_words(e: Estimate) -> str:
    """Write in a line what an attack costs, with reservations about the estimate."""
    reserves = [e.kind, *[_DISPUTED] * (e.standing == "disputed")]
    if e.beta is not None and e.beta < SMALL_BLOCK:
        reserves.append(f"too small for this model: it says little below block {SMALL_BLOCK}")
    if (e.sample_bits or 0.0) > _MANY_SAMPLES:
        reserves.append(f"it needs {e.sample_words} samples")
    return f"about 2^{e.rank:.1f} operations ({'; '.join(reserves)})"


def _title(estimates: Estimates) -> str:
    """Write the name of a set, if there is one, and the spec without defaults, with the samples."""
    named = f"{estimates.name}: " if estimates.name != estimates.spec else ""
    return named + spec_and_size(brief_spec(estimates.spec), estimates.samples)


def settings_words(*problems: Estimates | None) -> list[str]:
    """Write the assumptions of estimates: samples, success probability, models of reduction.

    problems: of one table; None for a problem without estimates.
    """
    estimated = [problem for problem in problems if problem]
    estimates = [e for problem in estimated for e in problem.estimates]
    samples = dict.fromkeys(
        "any number" if problem.samples is None else str(problem.samples) for problem in estimated
    )
    lines = [
        f"samples available to an attacker: {', '.join(samples)}",
        f"probability of success: at least {estimated[0].success}",
    ]
    pairs = dict.fromkeys((e.model, e.shape) for e in estimates if e.model)
    core = {name: " (core-SVP)" for name, model in MODELS.items() if model.source == "ADPS16"}
    models = ", ".join(f"{model}{core.get(model, '')} with {shape}" for model, shape in pairs)
    return [*lines, f"lattice reduction: {models}"] if models else lines


def _row(estimates: Estimates, e: Estimate) -> list[str]:
    def number(value: object) -> str:
        return "-" if value is None else str(value)

    return [
        estimates.label(e),
        "-" if e.rop is None else f"{e.rop:.1f}",
        number(e.beta),
        number(e.d),
        e.sample_words,
        "-" if e.mem is None else f"{e.mem:.1f}",
        e.known,
    ]


def _all_fields(e: Estimate) -> str:
    """Write all fields of an estimate with their usual symbols, the search, and the note."""
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
    more = [part for part in (least, e.note, _DISPUTED * (e.standing == "disputed")) if part]
    return "; ".join([", ".join(parts), *more]) + f" [{e.source}]"


def _queries(estimates: Estimates) -> str:
    """Write the certified bounds on statistical queries, which do not apply to the attacks."""
    if not estimates.queries:
        return item("Statistical queries", f"no bound: {estimates.no_queries}")
    claims = []
    for claim in estimates.queries:
        parameters = {k: v for k, v in claim.parameters.items() if k not in ("upper", "alike")}
        terms = ", ".join(f"{k} {_brief(v)}" for k, v in parameters.items())
        value = claim.value_text(lambda number, up: _brief(number))
        claims.append(f"{claim.quantity} = {value}" + (f" ({terms})" if terms else ""))
    return item(
        "Statistical queries",
        "; ".join(claims) + ". These bounds are proved for learners by statistical queries and "
        f"apply to none of the attacks above. Success is averaged over {estimates.average}.",
    )


def _brief(value: Fraction | str) -> str:
    """Write a long integer as "about 10^n", and other numbers in full."""
    text = value if isinstance(value, str) else write(value, ratio=True)
    return f"about 10^{len(text) - 1}" if text.isdigit() and len(text) >= 20 else text


def peer_words(estimates: Estimates, theirs: tuple[Estimate, ...]) -> str:
    """Write a table of our estimates and those of lattice-estimator, by attack."""
    other = {e.name: e for e in theirs}
    names = list(dict.fromkeys([*(e.name for e in estimates.ranked if e.applies), *other]))
    ours = {e.name: e for e in estimates.estimates}

    def cells(e: Estimate | None) -> list[str]:
        if e is None or e.rop is None:
            return ["-", "-"]
        return [f"{e.rop:.1f}", "-" if e.beta is None else str(e.beta)]

    rows = [[name, *cells(ours.get(name)), *cells(other.get(name))] for name in names]
    head = ["attack", "rop", "β", "its rop", "its β"]
    level = "Success is that of lattice-estimator: 0.99, and 1/2 for dual_hybrid."
    return "\n".join([_title(estimates), "", table(head, rows), "", wrap(f"{level} {MEANING}")])


def grid_words(grid: Grid) -> str:
    """Write a grid: a line for each problem, with the cheapest attack."""
    settings = settings_words(*(cell.estimates for cell in grid.cells))
    below = "Each row is the cheapest attack on one problem: estimates, and not lower bounds."
    return "\n".join(
        [spec_and_size(grid.spec, grid.samples), *settings, "", sheet(grid._rows()), "", below]
    )


def table_words(estimates: EstimatesTable) -> str:
    """Write a table of problems and attacks, and explain its marks."""
    marks = "*: the cheapest of these attacks; †: the cheapest without disputed heuristics"
    below = "; ".join([marks, *disputed_words(*estimates.problems)])
    rows = estimates._rows()
    lines = [[str(v or "-") for v in row.values()] for row in rows]
    parts = [*settings_words(*estimates.problems), "", table(list(rows[0]), lines)]
    return "\n".join([*parts, "", wrap(below), wrap(MEANING)])


def disputed_words(*problems: Estimates) -> list[str]:
    """Name the attacks whose estimates are disputed; an empty list if there are none."""
    applied = [e for problem in problems for e in problem.estimates if e.applies]
    names = dict.fromkeys(e.name for e in applied if e.standing == "disputed")
    return [f"disputed [DP23]: {', '.join(names)}"] if names else []


def search_words(search: SearchResult) -> str:
    """Write the parameter that reaches a level, and its neighbour that does not."""
    kind = (
        "smallest" if search.least else "largest power of two" if search.key == "q" else "largest"
    )
    title = f"{kind} {search.key} with {search.bits:g} bits: {search.value}"
    if search.below is None:
        title += ", where the range begins: others outside may have them too"
    checked = (
        f"The level also holds at {search.key} = {', '.join(search.checked)}. These are "
        "estimates of the attacks asked for, and not lower bounds."
    )
    lines = [
        title,
        *settings_words(search.reached),
        "",
        sheet(search._rows()),
        "",
        wrap(checked),
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
    rows = [
        [name, str(s.level or "-"), spec_and_size(s.spec, s.samples)] for name, s in SETS.items()
    ]
    more = "and darmstadt-N-ALPHA for any n and alpha. Other names are read too: Kyber512, Frodo640"
    return {"sets": listed}, "\n".join([table(["set", "claimed", "spec"], rows), "", wrap(more)])
