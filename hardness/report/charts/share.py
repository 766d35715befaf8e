"""The risk that stays: relative risks against the hidden share of each instance."""

from hardness.report.charts.chart import Data, named
from hardness.report.charts.style import GREY, styles_of
from hardness.report.charts.trace import Trace, panel
from hardness.report.summary import short_name
from hardness.runs import Comparison
from hardness.runs.share import hidden_share
from instances.capabilities import PROVED_AS
from instances.errors import UsageError
from instances.parameters import plain
from instances.spec import parse_stored

_SIZE = (420, 300)


def of_hidden_share(comparison: Comparison) -> Data:
    """Collect the risk of every run and the hidden share of its instance, with intervals.

    Raises UsageError where a family has no other heads.
    """
    if not comparison.runs:
        raise UsageError("no runs in these results: compare learners on hidden:...")
    shares = {}
    for run in comparison.runs:
        family = parse_stored(run.spec)
        if PROVED_AS.need(family)[1] != "among-others":
            raise UsageError(f"{family.name} given: it has no other heads: compare on hidden:...")
        if (run.spec, run.seed) not in shares:
            shares[run.spec, run.seed] = hidden_share(family.instance(run.seed))
    return {
        "spec": comparison.spec,
        "parameter": comparison.parameter,
        "seeds": comparison.seeds,
        "learners": {
            short_name(comparison, name): [
                {
                    "value": plain(value),
                    "share": shares[run.spec, run.seed].value,
                    "share_low": shares[run.spec, run.seed].low,
                    "share_high": shares[run.spec, run.seed].high,
                    "risk": run.risk.value,
                    "low": run.risk.low,
                    "high": run.risk.high,
                }
                for value in comparison.values
                for run in comparison.of(name, value)
                if run.risk
            ]
            for name in comparison.learner_names
        },
    }


def draw_hidden_share(data: Data) -> Data:
    """Draw the risk of every run, with its interval, and the line where it is the hidden share."""
    rows = [row for found in data["learners"].values() for row in found]
    most = 1.1 * max((row["share"] for row in rows), default=1.0)
    names = list(data["learners"])
    looks = styles_of(map(named, names))
    traces = [
        Trace(
            name="the hidden share",
            x=[0, most],
            y=[0, most],
            marks=("line",),
            colour=GREY,
            dash=(5, 3),
        )
    ]
    for name in names:
        found, look = data["learners"][name], looks[named(name)]
        at = [row["share"] for row in found]
        low, high = ([row[end] for row in found] for end in ("low", "high"))
        traces += [
            Trace(x=at, low=low, high=high, marks=("interval",), colour=look.colour),
            Trace(
                name=named(name),
                x=at,
                y=[row["risk"] for row in found],
                marks=("point",),
                colour=look.colour,
                shape=look.shape,
            ),
        ]
    return panel(
        traces,
        title=f"{named(data['spec'], 60)}, over {named(data['parameter'])}, {data['seeds']} seeds",
        x="hidden share of the variance",
        y="relative risk, 95 % interval",
        domains={"x": (0.0, most), "y": (0.0, 1.05 * max([*(r["high"] for r in rows), most]))},
        size=_SIZE,
    )
