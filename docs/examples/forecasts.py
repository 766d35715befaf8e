"""Attacks on settings named here, beside what was estimated: prints the table of docs/forecast.md.

python docs/examples/forecasts.py KEEP > forecasts.part

KEEP: a folder for the runs that are done, with which a run that was cut goes on. Needs the extra
`lattice`.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import hardness

SEEDS = 10
GROUPS = {  # the file of their runs: the attack or attacks, seconds of a run, settings
    # Those after the first two were chosen, and committed, before any of them was run.
    "usvp": (
        ("usvp",),
        300,
        "darmstadt-40-0.005",
        "darmstadt-45-0.005",
        "darmstadt-35-0.008",
        "lwe:n=38,q=521,sigma=5",
        "lwe:n=44,q=401,sigma=3",
        "lwe:n=48,q=211,sigma=2.5,secret=cbd,spread=3",
        "lwe:n=52,q=257,sigma=3,secret=cbd,spread=2",
        "lwe:n=60,q=401,sigma=3,secret=ternary,h=24",
        "lwe:n=60,q=512,sigma=4,secret=ternary",
        "lwe:n=62,q=353,sigma=3,secret=ternary,h=30",
        "lwe:n=70,q=509,sigma=4,secret=ternary,h=16",
        "lwr:n=56,q=512,p=32,secret=ternary",
    ),
    "guesses": (("guess+usvp",), 120, "toy-128", "toy-80"),
    "dual": (("dual_guess",), 120, "toy-128"),
    "same": (("guess+usvp", "dual_guess"), 120, "lwe:n=256,q=4096,sigma=3,secret=binary,h=3"),
    "larger": (("usvp",), 300, "darmstadt-50-0.005"),
}
COLUMNS = {
    "setting": "setting",
    "attack": "attack",
    "block": "β est.",
    "measured block": "found at",
    "tries": "tries est.",
    "measured tries": "taken",
    "zeta": "ζ",
    "samples": "samples",
    "seconds": "s est.",
    "measured seconds": "taken",
    "found": "found",
    "rate at 95 %": "rate at 95 %",
}


def results(folder: Path) -> Iterator[hardness.Forecasts]:
    """Run what is not done, group by group."""
    for name, (attacks, seconds, *settings) in GROUPS.items():
        out = folder / f"{name}.json"
        if out.exists():
            yield hardness.Forecasts.load(out)
            continue
        yield hardness.forecast(
            settings,
            attack=list(attacks),
            seeds=SEEDS,
            budget_seconds=seconds,
            out=str(out),
            resume=(folder / f"{name}.json.unfinished").exists(),
        )


def main() -> None:
    """Print the table."""
    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    print("|", " | ".join(COLUMNS.values()), "|")
    print("|---|---|" + "--:|" * 8 + "---|---|")
    rows = [row for found in results(folder) for row in found._rows()]
    for row in rows:
        cells = (row[name] for name in COLUMNS)
        said = ("-" if c is None else f"{c:g}" if isinstance(c, float) else f"{c}" for c in cells)
        print("|", " | ".join(s if s[0].isdigit() or s == "-" else f"`{s}`" for s in said), "|")


if __name__ == "__main__":
    main()
