"""Reports made by hand: small ones, and one whose every text is hostile."""

from collections.abc import Callable
from typing import Any

from hardness.report.page.records import (
    Card,
    Chart,
    Claimed,
    Diagnosis,
    Growth,
    LearnerRow,
    Report,
    Reproduction,
    SideBySide,
    Table,
)

HOSTILE = (
    "<script>window.__hacked=1</script>",
    "</script><img src=x onerror=window.__hacked=2>",
    "<!--<script>",
    '"\' onmouseover=window.__hacked=3 x="',
    "]]>&amp;{{7*7}}{% raw %}",
    "שלום.py:רשת",
    "a\u202egnp.exe\u2066b\u200bc\u00ad",
    "nul\x00bell\x07esc\x1b[31m",
    "\udcff lone",
    "=HYPERLINK(1)",
    "__proto__",
    "constructor",
    "$x$ _under_ \\alpha",
    "W" * 10_000,
    "word " * 2000,
)


def risks(learners: tuple[str, ...], values: tuple[int, ...] = (8, 10, 12)) -> dict[str, Any]:
    """The data of the figure `risks`, of learners with these names."""
    return {
        "spec": "parity:m=3",
        "parameter": "d",
        "values": [str(v) for v in values],
        "places": [float(v) for v in values],
        "seeds": 2,
        "rows": [
            {"learner": name, "place": float(v), "runs": 2, "solved": 2, "risk": 0.5**i / v}
            | {"low": 0.5**i / v, "high": 0.5**i / v, "examples": 10.0**i * v, "seconds": 0.1 * v}
            for i, name in enumerate(learners)
            for v in values
        ],
    }


def chart(key: str, choice: str, learners: tuple[str, ...], say: Callable[[str], str]) -> Chart:
    return Chart(
        key=key,
        name="risks",
        section="both-sides",
        title=say("What was learned"),
        caption=say("The median risk with the range over seeds."),
        data=risks(learners) | {"spec": say("parity:m=3"), "parameter": say("d")},
        command=say("hardness figure risks results.json --out risks.svg"),
        choice=say(choice),
    )


LEARNERS = ("queries", "lowdegree:degree=2", "mine.py:Net")


def report(
    say: Callable[[str], str] = lambda text: text,
    names: tuple[str, ...] = LEARNERS,
    runs: int = 250,
) -> Report:
    """A report of made-up numbers; `say` has the last word on every text but names of learners."""
    rows = tuple(
        (
            say(f"parity:d={8 + i % 5},m=2"),
            names[i % len(names)],
            i,
            ("solved", "learned nothing")[i % 2],
            None if i % 7 == 0 else 1 / (i + 1),
            i * 1000,
            i / 1000,
        )
        for i in range(runs)
    )
    return Report(
        title=say("Both sides of parity:m=2"),
        source=say("runs.db"),
        about=say("Two-token attention layers: hidden parities, over d = 8..12."),
        summary=tuple(map(say, ("250 runs.", "SQ dimension 66.", "A bound is not all.", "Fits."))),
        scope=(say("Single runs may lie below the bound."),),
        charts=(
            chart("both-sides-1", "noise = 0", names, say),
            chart("both-sides-2", "noise = 0.1", names[:2], say),
        ),
        learners=tuple(
            LearnerRow(
                learner=name,
                spec=say(f"{family}:d={d},m=2"),
                view="z",
                budget=say("200,000 examples"),
                asked=say("exact answers"),
                runs=5,
                passed=(d + i) % 6,
                low=0.1,
                high=0.9,
                examples=None if d == 9 else 1000.0 * d + i,
                queries=12345.0 * d,
                seconds=0.001 * d,
                risk=10.0**-d,
                outcome="solved",
            )
            for i, name in enumerate(names)
            for family in ("parity", "profile")
            for d in (8, 9, 10, 11, 12)
        ),
        runs=Table(
            header=("spec", "learner", "seed", "outcome", "risk", "examples", "time (s)"),
            rows=rows,
        ),
        cards=(
            Card(
                spec=say("parity:d=12,m=2"),
                about=say("hidden parities on pairs of tokens"),
                claims=(
                    Claimed(
                        quantity=say("sq-dimension"),
                        value=say("66"),
                        kind=say("exact"),
                        meaning=say("So many members are uncorrelated in pairs."),
                        source=say("CL24"),
                    ),
                ),
                means=(say("No learner by statistical queries does it with fewer."),),
                not_means=(say("Learners that see examples are not bound by it."),),
                assumptions=(say("labels without noise"),),
                command=say("hardness certify parity:d=12,m=2"),
            ),
        ),
        diagnoses=(
            Diagnosis(
                spec=say("nice:m=2,k=2,d=16"),
                learner=say("staged"),
                runs=5,
                passed=4,
                signals=Table(
                    header=(say("signal"), "runs", "flagged", "median", "limit", "advice"),
                    rows=((say("gap"), 5, 1, 0.25, 0.1, say("give more examples")),),
                ),
                advice=(say("Give more examples."),),
            ),
        ),
        growth=(
            Growth(
                title=say("parity:m=2 over d"),
                fits=Table(
                    header=("learner", "cost", "power law", "low", "high"),
                    rows=((names[0], "queries", 2.02, 1.9, 2.14),),
                ),
                left_out=(say("student: it passed at two sizes alone"),),
                note=say("Laws are fitted by least squares."),
            ),
        ),
        paired=(
            SideBySide(
                title=say("parity:m=2, d = 8 to 12"),
                table=Table(
                    header=("1st", "2nd", "1st alone", "p"),
                    rows=((names[0], names[1], 6, 0.03125), (names[0], names[2], 0, 1.0)),
                ),
                note=say("p: exact, two-sided, of McNemar."),
            ),
        ),
        reproduce=(
            Reproduction(
                makes=say("the runs"), command=say("hardness sweep run f.toml --store runs.db")
            ),
        ),
        provenance=tuple(
            (say(name), say(value)) for name, value in (("package", "0.1.0"), ("seeds", "0..4"))
        ),
        left_out=(say("3 slices of one size"),),
    )


def hostile() -> Report:
    """A report in which no text is harmless: each is one of HOSTILE, in turn."""
    turn = iter(range(10**9))
    return report(lambda text: HOSTILE[next(turn) % len(HOSTILE)], HOSTILE)
