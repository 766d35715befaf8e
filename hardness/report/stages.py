"""The stages of a run of the provable learner `staged`, in words."""

from typing import Any

from hardness.report.text import bad, table

Data = dict[str, Any]
_MEASURES = 3  # most measures of a stage in the table
_SIDES = {  # the side of its threshold on which a signal is good, if not "at most"
    "rank of the labels": "above",
    "gap of the span": "at least",
    "examples": "at least",
}
_MOOT = "moot: beyond its limit, which is no fault where so little is left over, or it is told"


def stage_words(details: Data) -> str:
    """Write the stages of a run with their measures, and the diagnosis with its advice."""
    rows = [
        [
            stage["name"],
            str(stage["examples"]),
            str(stage["rows"] or "-"),
            f"{stage['seconds']:.2f}",
            _measures(stage["measures"]),
        ]
        for stage in details["stages"]
    ]
    lines = [table(["stage", "examples", "rows", "seconds", "measures"], rows)]
    signals = details.get("diagnosis", [])
    if signals:
        flagged = [s for s in signals if s["flagged"]]
        lines += ["", f"diagnosis  {len(flagged)} of {len(signals)} signals flagged"]
        lines += [
            f"  {_verdict(s)}{s['name']}: {number(s['value'])} "
            f"({_side(s)} {number(s['threshold'])})" + (f": {s['advice']}" if s["flagged"] else "")
            for s in signals
        ]
        lines += [f"  {_MOOT}"] if any(s.get("moot") for s in signals) else []
    return "\n".join(lines)


def _side(signal: Data) -> str:
    return _SIDES.get(signal["name"], "at most")


def _verdict(signal: Data) -> str:
    return bad("FLAG") + " " if signal["flagged"] else "moot " if signal.get("moot") else "ok   "


def _measures(data: Data) -> str:
    """Write the first few measures of a stage, beginning with its error."""
    ordered = sorted(data.items(), key=lambda item: item[0] != "error")
    return ", ".join(f"{name} {number(value)}" for name, value in ordered[:_MEASURES])


def number(value: float | None) -> str:
    """Write a measure with three digits, or "-" for None.

    >>> number(0.123456), number(None)
    ('0.123', '-')
    """
    return "-" if value is None else f"{value:.3g}"
