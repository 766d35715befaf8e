"""The page: one self-contained HTML file around the figure, everything escaped."""

import platform
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from hardness.compare.both import Comparison
from hardness.lower import Certificate
from hardness.report.cost import beside_words
from hardness.report.figure import both_sides
from hardness.report.scaling import page_growth
from hardness.report.summary import ASKER, bounds, cells, query_bound, short_name
from hardness.report.text import big, credit, number, shown_risk
from instances import parse
from instances.parameters import plain


def page(comparison: Comparison) -> str:
    """Render the page of a comparison: works offline, no script."""
    import jinja2

    template = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    svg = both_sides(comparison).decode()
    return environment.from_string(template).render(
        comparison=comparison,
        about=_about(comparison),
        svg=svg[svg.index("<svg") :],
        alt=_words(comparison),
        rows=_rows(comparison),
        values=[plain(value) for value in comparison.values],
        largest=comparison.certificates[-1] if comparison.certificates else None,
        no_bound=parse(comparison.specs[-1]).hardness.why,
        claims=[asdict(claim) for c in comparison.certificates[-1:] for claim in c.claims],
        credit=credit,
        sentences=_sentences(comparison),
        **page_growth(comparison),
        version=version("hardness-toolkit"),
        machine=f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
    )


def _rows(comparison: Comparison) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    least, floor = (
        bounds(comparison, query_bound(comparison)),
        bounds(comparison, "information-floor"),
    )
    every = cells(comparison)
    for i, value in enumerate(comparison.values):
        for cell in (c for c in every if c.value == value):
            rows.append(
                {
                    "size": plain(value),
                    "learner": short_name(comparison, cell.learner),
                    "queries": f"{int(cell.queries):,}" if cell.queries else "–",
                    "examples": f"{int(cell.examples):,}",
                    "seconds": f"{cell.seconds:.4f}",
                    "risk": "–" if cell.risk is None else shown_risk(cell.risk),
                    "solved": f"{cell.solved}/{cell.runs}",
                    "outcome": cell.outcome,
                    "bound": False,
                }
            )
        if not least:
            continue
        rows.append(
            {
                "size": plain(value),
                "learner": "certified: at least",
                "queries": big(least[i]),
                "examples": big(floor[i]),
                "seconds": "",
                "risk": "",
                "solved": "",
                "outcome": "",
                "bound": True,
            }
        )
    return rows


def _about(comparison: Comparison) -> str:
    """Say what the family is: its own line, as the start of a sentence."""
    family = parse(comparison.specs[0])
    tokens = "Two-token attention layers" if family.k == 2 else "Attention layers"
    return f"{tokens}: {family.about}"


def _sentences(comparison: Comparison) -> list[dict[str, str]]:
    """Say what the numbers say, at the largest size."""
    value = comparison.values[-1]
    terms, bound = comparison.terms, query_bound(comparison)
    out = [
        {
            "learner": "",
            "words": f"At {comparison.parameter} = {plain(value)} the family has "
            f"SQ dimension {_dimension(certificate)}. "
            f"{ASKER[bound].capitalize()} must be allowed at least "
            f"{big(int(certificate.value(bound)))} queries to reach relative risk "
            f"{terms.risk} with probability {terms.success}, whatever the answers within the "
            f"tolerance {terms.tau}. {beside_words(certificate.spec)}".strip(),
        }
        for certificate in comparison.certificates[-1:]
    ]
    where = "there" if comparison.certificates else f"at {comparison.parameter} = {plain(value)}"
    for cell in (c for c in cells(comparison) if c.value == value):
        asked = f"{int(cell.queries):,} queries, " if cell.queries else ""
        spent = f"{asked}{int(cell.examples):,} examples, {number(cell.seconds)} s"
        words = f"solved all {cell.runs} instances {where} ({spent})."
        if cell.solved < cell.runs:
            risk = "not measured" if cell.risk is None else shown_risk(cell.risk)
            words = (
                f"solved {cell.solved} of {cell.runs} instances {where}: {cell.outcome}, median "
                f"relative risk {risk} ({spent})."
            )
        out.append({"learner": short_name(comparison, cell.learner), "words": words})
    return out


def _dimension(certificate: Certificate) -> str:
    """Write the SQ dimension; only a lower bound of it where the claim is a bracket."""
    found = big(int(certificate.value("sq-dimension")))
    kinds = {claim.quantity: claim.kind for claim in certificate.claims}
    return found if kinds["sq-dimension"] == "exact" else f"at least {found}"


def _words(comparison: Comparison) -> str:
    """Describe the figure for who cannot see it."""
    said = " ".join(f"{s['learner']} {s['words']}".strip() for s in _sentences(comparison))
    return f"Three log-scale panels over {comparison.parameter}. {said}"
