"""Estimates beside measurements in words: a table, and how far the runs came that found nothing."""

from hardness.report.text import duration, item, table, wrap
from hardness.runs.forecast import SPARE, WITHIN, Forecast, Forecasts
from instances.text import outward


def forecast_words(found: Forecasts) -> str:
    """Write a table of all settings and attacks, estimated / measured, and its sum."""
    header = ["setting", "attack", "block", "tries", "samples", "seconds", "found", "rate at 95%"]
    rows = []
    for row in found.rows:
        told = [
            _beside(row.beta, row.measured("block")),
            _beside(row.tries, row.measured("tries")),
            str(row.m),
            _beside(row.seconds(found.operation), row.measured("seconds")),
        ]
        share = f"{row.result.recovered}/{len(row.runs)}"
        low, high = row.result.interval
        rows.append([row.setting, row.attack, *told, share, outward(low, high, ".2f", "..")])
    grown = [row for row in found.rows if row.grows]
    near = sum(row.near(row.beta) for row in grown)
    units = ", ".join(f"{value:.2g} s of {name}" for name, value in found.operation.items())
    return "\n".join(
        [
            table(header, rows),
            "",
            wrap(
                "block, tries, seconds: estimated / measured. Medians over seeds, - where half "
                "the runs found no secret."
            ),
            *(
                [
                    wrap(
                        f"Where blocks grow the one measured is within {WITHIN} of the estimated "
                        f"one in {near} of {len(grown)}; up to {SPARE} more than estimated are "
                        "tried by usvp."
                    )
                ]
                if grown
                else []
            ),
            wrap(f"An operation takes {units} here, as {found.model} counts them."),
            *(_wall(row, found.operation) for row in found.rows if row.measured("block") is None),
            *(item(f"{name}: did not run", why) for name, why in found.not_run.items()),
        ]
    )


def needs(row: Forecast, operation: dict[str, float]) -> str:
    """Say before it starts what one run is estimated to need."""
    seconds, tries = row.seconds(operation), row.tries or 1
    lasts = "" if seconds is None else f"about {duration(seconds)}" if seconds >= 1 else "under 1 s"
    return (
        f"{row.name}: block {row.beta} in dimension {row.d}, {row.m} samples, "
        + (f"{tries:.0f} tries, " if tries > 1 else "")
        + f"2^{row.bits:.1f} operations"
        + (lasts and f", {lasts} here")
    )


def _beside(*values: float | None) -> str:
    return "/".join("-" if v is None else f"{v:.0f}" if v >= 100 else f"{v:.3g}" for v in values)


def _wall(row: Forecast, operation: dict[str, float]) -> str:
    """Say how far runs came that mostly found no secret, and what the estimate asks for."""
    block, tries = (max(r.details.get(what, 0) for r in row.runs) for what in ("block", "tries"))
    ends = ", ".join(dict.fromkeys(run.outcome.value for run in row.runs))
    came = f"{ends}, at block {block}, {tries} tries, {row.result.median('seconds'):.0f} s"
    return item(row.name, f"{came}; estimated: {needs(row, operation).partition(': ')[2]}")
