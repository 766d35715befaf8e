"""Comparisons on disk: one JSON file with runs and certificates."""

from pathlib import Path
from typing import Any

from hardness.compare.both import Comparison
from hardness.compare.run import Run
from hardness.lower import Terms, certify
from instances import parse
from instances.disk import read_json, require_format, write_json
from instances.errors import DamagedFile, ToolkitError
from instances.parameters import fraction

FORMAT = "hardness-results/1"


def to_json(comparison: Comparison) -> dict[str, Any]:
    """Write a comparison as JSON."""
    terms = comparison.terms
    return {
        "format": FORMAT,
        "spec": comparison.spec,
        "parameter": comparison.parameter,
        "values": list(comparison.values),
        "learners": list(comparison.learners),
        "seeds": comparison.seeds,
        "terms": {
            "tau": str(terms.tau),
            "vstat": terms.vstat,
            "risk": str(terms.risk),
            "success": str(terms.success),
        },
        "command": comparison.command,
        "certificates": [c.to_json() for c in comparison.certificates],
        "runs": [r.to_json() for r in comparison.runs],
    }


def write_comparison(path: Path, comparison: Comparison, force: bool = False) -> None:
    """Write a comparison; raises AlreadyExists."""
    write_json(path, to_json(comparison), force=force)


def read_comparison(path: Path) -> Comparison:
    """Read a comparison, or results.json in a folder; raises DamagedFile.

    The certificates are made again from their specs and must equal the stored ones.
    """
    if path.is_dir():
        path = path / "results.json"
    data = read_json(path)
    require_format(data, FORMAT, path)
    try:
        terms = Terms(
            tau=fraction(data["terms"]["tau"], "tau"),
            vstat=int(data["terms"]["vstat"]),
            risk=fraction(data["terms"]["risk"], "risk"),
            success=fraction(data["terms"]["success"], "success"),
        )
        certificates = tuple(certify(parse(c["spec"]), terms) for c in data["certificates"])
        if [c.to_json() for c in certificates] != data["certificates"]:
            raise DamagedFile(f"{path} is damaged: its certificates are not those of its specs")
        values = tuple(int(v) for v in data["values"])
        if len(values) != len(certificates):
            raise DamagedFile(f"{path} is damaged: it has a certificate too many or too few")
        return Comparison(
            spec=str(data["spec"]),
            parameter=str(data["parameter"]),
            values=values,
            learners=tuple(str(name) for name in data["learners"]),
            seeds=int(data["seeds"]),
            terms=terms,
            runs=tuple(Run.from_json(r) for r in data["runs"]),
            certificates=certificates,
            command=str(data["command"]),
        )
    except DamagedFile:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, ToolkitError) as error:
        reason = " ".join(str(error).split())[:120]
        raise DamagedFile(f"{path} is damaged: {type(error).__name__} {reason}") from error
