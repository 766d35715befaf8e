"""Draw runs of noisy gradient descent beside the bound: `python descent.py SPEC OUT.svg`.

Left: how often the strongest model succeeds by steps, under what the bound allows any model. Right:
the steps for success 2/3 by the number of members, as d grows to that of SPEC.
"""

import sys
from pathlib import Path

from hardness.report.vega import write
from hardness.runs.descent import descent_sizes
from instances import parse

LOG = {"scale": {"type": "log", "nice": False, "padding": 8}, "axis": {"tickCount": 5}}
SIZE = {"width": 330, "height": 230}


def success(study):
    """Rows of the left panel: runs with their interval, and what the bound allows."""
    for point in study.points:
        low, high = point.interval
        share = point.right / point.runs
        yield {"what": "runs", "steps": point.steps, "share": share, "low": low, "high": high}
    for steps, most in study.curve:
        if most < 1:
            yield {"what": "bound", "steps": steps, "share": most}


def needed(studies):
    """Rows of the right panel: steps that runs took, and that the bound asks for."""
    for study in studies:
        found = {"bound": study.needed, "runs": study.reached, "about enough": study.enough}
        for what, steps in found.items():
            if steps:
                yield {"what": what, "members": study.members, "steps": float(steps)}


if __name__ == "__main__":
    spec, out = sys.argv[1:]
    studies = descent_sizes(parse(spec))
    goal = str(studies[-1].success)
    what = {"field": "what", "type": "nominal", "title": None}
    steps = {"field": "steps", "type": "quantitative", "title": "number of steps", **LOG}
    share = {"field": "share", "type": "quantitative", "title": "probability of success"}
    ends = {"x": steps, "y": {**share, "field": "low"}, "y2": {"field": "high"}}
    left = {
        **SIZE,
        "title": "How often a run succeeds",
        "data": {"values": list(success(studies[-1]))},
        "layer": [
            {"mark": "rule", "encoding": {**ends, "color": what}},
            {"mark": "line", "encoding": {"x": steps, "y": share, "color": what}},
        ],
    }
    members = {"field": "members", "type": "quantitative", "title": "number of members", **LOG}
    right = {
        **SIZE,
        "title": f"Steps for success {goal}",
        "data": {"values": list(needed(studies))},
        "mark": {"type": "line", "point": True},
        "encoding": {"x": members, "y": steps, "color": what},
    }
    Path(out).write_bytes(write({"title": spec, "hconcat": [left, right]}, "svg"))
    print(f"{out}: {len(studies)} sizes up to {studies[-1].members} members")
