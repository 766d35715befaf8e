"""A statement of theory as something to run: predicted, then measured, then judged.

setting -> prediction -> digest -> measurement -> verdict

statements.toml has the words and the settings; the module of the subject has, for each statement,
two functions of a setting, as predict_lucky_rows and measure_lucky_rows. The first is given the
setting alone. All settings of a statement are predicted, and the predictions hashed, before the
first is measured. Run as a script, this module prints the predictions of all statements.
"""

import argparse
import hashlib
import itertools
import json
import math
import re
import sys
import textwrap
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit
from scipy.stats import binomtest

from hardness.runs.growth import power_law
from instances import parse
from instances.numbers import outward
from instances.streams import BitStream, key

Array = NDArray[np.float64]
Setting = dict[str, int | float | str]
SUBJECTS = {
    **dict.fromkeys(("sums", "rows", "bodies", "stages"), "softmax layers"),
    **{"spectra": "spectra", "queries": "hardness", "sources": "in context"},
    "in_context": "in context",
}
_OWNERS = {"paper": "the paper", "summary": "a summary of the paper", "talk": "the talk"}
_LOOSE = 1.5  # a bound within this factor of what is measured is not called loose
_DECISIVE = (  # verdicts of points, inside the conditions or not: what decides a line comes first
    *(("fails", True), ("cannot tell", True), ("fails", False)),
    *(("agrees", True), ("cannot tell", False), ("agrees", False)),
)
_FINE = 0.2  # an interval within this fraction of the prediction tells, however narrow the band
_NUMBER = re.compile(r"[-!*>]*[\d.]*(e[-+]?\d+)?")  # with the marks of a table


@dataclass(frozen=True, kw_only=True)
class Predicted:
    """A number between low and high, None for no end; within: whether the conditions hold."""

    low: float | None = None
    high: float | None = None
    within: bool = True

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends, infinite if there is none."""
        low = -math.inf if self.low is None else self.low
        return low, math.inf if self.high is None else self.high

    def words(self, digits: int = 3) -> str:
        """Write a number, a range or a bound."""
        ends = [short_number(end, digits) for end in (self.low, self.high) if end is not None]
        if self.low is None:
            return f"at most {ends[0]}" if ends else "-"
        return f"at least {ends[0]}" if self.high is None else " to ".join(dict.fromkeys(ends))


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A value within [low, high], and how that is known: "exact", or "95 %, 20 layers".

    high: None if there is no upper end, as when no size up to `low` was enough.
    """

    value: float
    low: float
    high: float | None
    how: str

    @property
    def top(self) -> float:
        """The upper end, infinite if there is none."""
        return math.inf if self.high is None else self.high

    def words(self, digits: int = 3) -> str:
        """Write the value with its interval; alone if the ends read alike."""
        low, value = (short_number(v, digits) for v in (self.low, self.value))
        if self.high is None:
            return f"above {low}" if low == value else f"{value}, above {low}"
        if low == short_number(self.high, digits):
            return value
        whole = self.low == int(self.low) and self.high == int(self.high)
        return f"{value} [{outward(self.low, self.high, '.0f' if whole else f'.{digits}g')}]"


def short_number(value: float, digits: int = 3) -> str:
    """Write a number by some digits, a whole one in full."""
    return str(int(value)) if value == int(value) and abs(value) < 1e7 else f"{value:.{digits}g}"


def equal(value: float, error: float = 0.0) -> Predicted:
    """Predict a number, up to a relative error."""
    return Predicted(low=value * (1 - error), high=value * (1 + error))


def family_of(spec: str) -> Any:
    """Parse the spec of a family, for the parameters that it has."""
    return parse(spec)


def exactly(value: float, error: float = 0.0) -> Measured:
    """Give a number that is computed, not sampled; error: the most by which it may be off."""
    return Measured(value=value, low=value - error, high=value + error, how="exact")


def mean(samples: ArrayLike, kind: str, among: int = 1) -> Measured:
    """Give the mean of independent samples, at least two, with Student's interval at 95 %.

    among: how many such intervals are to hold together at 95 %, each that much wider.
    """
    values = np.asarray(samples, np.float64)
    error = values.std(ddof=1) / math.sqrt(len(values))
    reach = float(error * stdtrit(len(values) - 1, 1 - (1 - 0.95) / 2 / among))
    value = float(values.mean())
    how = f"95 %{f' of {among} together' if among > 1 else ''}, {len(values)} {kind}"
    return Measured(value=value, low=value - reach, high=value + reach, how=how)


def share(count: int, total: int, kind: str) -> Measured:
    """Give a share of independent trials, with Clopper and Pearson's interval at 95 %. [CP34]"""
    low, high = map(float, binomtest(int(count), total).proportion_ci(0.95, "exact"))
    return Measured(value=count / total, low=low, high=high, how=f"95 %, {total} {kind}")


def exponent(sizes: ArrayLike, samples: ArrayLike, kind: str) -> Measured:
    """Give the exponent of a power law through samples (K, S) at K sizes, four or more, at 95 %."""
    x, y = np.asarray(sizes, np.float64), np.asarray(samples, np.float64)
    law = power_law(x, y, BitStream(key(0, "theory", kind)))
    return Measured(value=round(law.exponent, 12), low=law.low, high=law.high, how=f"95 %, {kind}")


@dataclass(frozen=True)
class Point:
    """One setting: what was predicted there, and what was measured."""

    at: Setting
    predicted: Predicted
    measured: Measured

    @property
    def verdict(self) -> str:
        """How the interval measured compares with the prediction; empty if nothing is predicted.

        "cannot tell": the interval lies on both sides of a bound, or it is wider than the predicted
        band and than a fifth of the predicted number.
        """
        low, high, least, most = *self.predicted.ends, self.measured.low, self.measured.top
        if low == -math.inf and high == math.inf:
            return ""
        if most < low or least > high:
            return "fails"
        if math.isinf(high - low):
            return "agrees" if low <= least and most <= high else "cannot tell"
        wide = most - least > max(high - low, _FINE * max(abs(low), abs(high)))
        return "cannot tell" if wide else "agrees"

    @property
    def words(self) -> tuple[str, str]:
        """What was predicted and what was measured, in as many digits as show a difference."""
        pairs = zip(self.predicted.ends, (self.measured.top, self.measured.low), strict=True)
        finite = [pair for pair in pairs if all(map(math.isfinite, pair))]
        apart, digits = finite if self.verdict == "fails" else [], 3
        while digits < 12 and any(len({short_number(v, digits) for v in p}) < 2 for p in apart):
            digits += 1
        return self.predicted.words(digits), self.measured.words(digits)

    @property
    def factor(self) -> float | None:
        """By how much a bound is off what is measured, at least 1; None for what is not a bound."""
        low, high, value = self.predicted.low, self.predicted.high, self.measured.value
        one_sided = (low is None) != (high is None)
        if self.verdict != "agrees" or not one_sided or value <= 0 or not (low or high):
            return None
        ratio = value / low if low is not None else (high or 0.0) / value
        return max(1.0, ratio) if math.isfinite(ratio) and ratio > 0 else None

    @property
    def cells(self) -> tuple[str, ...]:
        """What was predicted and measured, how that is known, and how it compares."""
        loose = self.factor is not None and short_number(self.factor) != "1"
        verdict = f"looser by {short_number(self.factor or 0)}" if loose else self.verdict
        within = "" if self.predicted.within else "outside conditions"
        return *self.words, self.measured.how, ", ".join(filter(None, (verdict, within)))


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A statement of a source, and the functions that predict and measure it at settings.

    says: what is stated, with exponents and conditions. predicts: how numbers follow from that at
    the sizes run. meaning: what the comparison is worth, true whatever is measured. owner: whose it
    is, with the key of docs/references.md. quantity: what is measured. identity: whether it is
    proved for every draw. revised: what of the prediction changed since the first commit.
    """

    name: str
    subject: str
    owner: str
    says: str
    predicts: str
    meaning: str
    quantity: str
    settings: Sequence[Setting]
    predict: Callable[..., Predicted]
    measure: Callable[..., Measured]
    identity: bool = False
    revised: str = ""

    @property
    def source(self) -> str:
        """Whose statement it is, with the key of its source."""
        owner, _, source = self.owner.partition(" ")
        who = _OWNERS.get(owner, "this manual" + " on" * bool(source))
        return f"{who} [{source}]" if source else who

    @cached_property
    def predictions(self) -> tuple[Predicted, ...]:
        """What is predicted at each setting; nothing measured is at hand."""
        return tuple(self.predict(**at) for at in self.settings)

    @property
    def digest(self) -> str:
        """The SHA-256 of what is stated, of settings and their predictions, 16 digits of it."""
        pairs = zip(self.settings, self.predictions, strict=True)
        # The last digits differ between machines.
        made = [
            [at, *(end if end is None else f"{end:.9g}" for end in (p.low, p.high)), p.within]
            for at, p in pairs
        ]
        text = json.dumps([self.name, self.says, self.predicts, made], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def load(subject: str) -> dict[str, Statement]:
    """Read the statements of a subject, the name of its module, in the order of the table."""
    words = tomllib.loads(Path(__file__).with_name("statements.toml").read_text())[subject]
    module, every = import_module(subject), {}
    for name, entry in words.items():
        settings: list[Setting] = []
        for grid in entry.pop("settings"):  # all settings of it, the last name running fastest
            values = itertools.product(*(v if isinstance(v, list) else [v] for v in grid.values()))
            settings += [dict(zip(grid, at, strict=True)) for at in values]
        does: dict[str, Any] = {"predict": partial(_constant, entry.pop("predicted", {}))}
        for verb in ("predict", "measure"):
            function = f"{verb}_{entry.pop(verb, name)}".replace("-", "_")
            does[verb] = getattr(module, function, does.get(verb))
        about = entry.pop("about") | {"name": name, "subject": SUBJECTS[subject]}
        every[name] = Statement(settings=settings, **does, **about, **entry)
    return every


def _constant(ends: dict[str, Any], **at: Any) -> Predicted:
    return Predicted(**ends)


@dataclass(frozen=True)
class Finding:
    """A statement with what was measured at its settings; the digest was made before."""

    statement: Statement
    seed: int
    digest: str
    points: tuple[Point, ...]

    @property
    def verdict(self) -> str:
        """How measurement and prediction compare, in the words of the table."""
        judged = [point for point in self.points if point.verdict]
        inside = [point for point in judged if point.predicted.within]
        if not inside:
            return "outside its conditions" if judged else "not applicable"
        if any(point.verdict == "fails" for point in inside):
            return "fails"
        agreeing = sum(point.verdict == "agrees" for point in inside)
        factors = [point.factor for point in inside if point.factor is not None]
        if len(factors) == len(inside) and min(factors) > _LOOSE:
            least, most = map(_factor, (min(factors), max(factors)))
            words = f"looser by {least}" + (f" to {most}" if most != least else "")
        elif agreeing < len(inside):
            words = f"agrees at {agreeing} of {len(inside)}" if agreeing else "cannot tell"
        else:
            words = "agrees"
        fails = any(point.verdict == "fails" for point in judged)
        return f"{words}, fails outside its conditions" if fails else words

    @property
    def telling(self) -> Point:
        """The point that decides: the first that fails or cannot tell, or the last that agrees."""
        for verdict, within in _DECISIVE:
            same = [p for p in self.points if (p.verdict, p.predicted.within) == (verdict, within)]
            if same:
                return same[-1 if verdict == "agrees" else 0]
        return self.points[-1]

    def row(self) -> str:
        """Write the row of the table."""
        s, p = self.statement, self.telling
        cells = [s.name, s.subject, s.says, s.source, place(p.at), *p.words, p.measured.how]
        cells += [self.verdict, "yes" * s.identity, s.revised, self.digest]
        for mark in "\\_[]<>*`|":
            cells = [cell.replace(mark, "\\" + mark) for cell in cells]
        return f"| {' | '.join(cells)} |"

    def __str__(self) -> str:
        s, names = self.statement, list(dict.fromkeys(name for p in self.points for name in p.at))
        rows = [[*(str(p.at.get(name, "-")) for name in names), *p.cells] for p in self.points]
        notes = [s.meaning]
        notes += ["An identity: it can fail only if the toolkit is wrong."] * s.identity
        notes += [f"Revised since the first commit: {s.revised}."] if s.revised else []
        parts = [f"{s.name}: {self.verdict}", f"{s.says} ({s.source})", f"Predicted: {s.predicts}"]
        parts += [table([*names, "predicted", s.quantity, "known", ""], rows), *notes]
        parts.append(f"Predictions {self.digest}, made before this run; seed {self.seed}.")
        return "\n\n".join(p if "\n" in p else textwrap.fill(p, 100) for p in parts)


def _factor(value: float) -> str:
    return f"{value:.0f}" if 10 <= value < 1e4 else f"{value:.2g}"


def place(at: Setting) -> str:
    """Write a setting, as "d=8,m=2"."""
    return ",".join(f"{name}={value}" for name, value in at.items())


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Align columns, words to the left and numbers to the right."""
    every = [header, *rows]
    widths = [max(len(row[i]) for row in every) for i in range(len(header))]
    right = [all(_NUMBER.fullmatch(row[i]) for row in rows) for i in range(len(header))]
    sides = [str.rjust if numbers else str.ljust for numbers in right]
    lines = (map(lambda put, *to: put(*to), sides, row, widths) for row in every)
    return "\n".join("  ".join(line).rstrip() for line in lines)


def _measured(task: tuple[str, str, Setting, int]) -> Measured:
    """Measure a statement at a setting; in a process of its own it is loaded by name."""
    subject, name, at, seed = task
    return load(subject)[name].measure(seed=seed, **at)


def find(statement: Statement, seed: int = 0, pool: Any = None) -> Finding:
    """Predict a statement at all of its settings, then measure them, in a pool if one is given."""
    digest, predicted, at = statement.digest, statement.predictions, statement.settings
    if pool:
        subject = statement.measure.__module__
        tasks = [(subject, statement.name, setting, seed) for setting in at]
        measured = list(pool.map(_measured, tasks))
    else:
        measured = [statement.measure(seed=seed, **setting) for setting in at]
    for setting, m in zip(at, measured, strict=True):
        if not all(map(math.isfinite, (m.value, m.low, m.high or 0.0))):
            raise ValueError(f"{statement.name} at {place(setting)}, seed {seed}: not a number")
    return Finding(statement, seed, digest, tuple(map(Point, at, predicted, measured)))


def main(subject: str) -> None:
    """Measure the statements of a subject that the command line names, or all of them."""
    every = load(subject)
    parser = argparse.ArgumentParser(description=f"Statements: {', '.join(every)}.")
    parser.add_argument("names", nargs="*", metavar="STATEMENT", help="all, unless some are named")
    parser.add_argument("--seed", type=int, default=0, help="of all that is drawn (default: 0)")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes (default: 1)")
    parser.add_argument("--table", action="store_true", help="print a row of a table for each")
    asked = parser.parse_args()
    if unknown := [name for name in asked.names if name not in every]:
        parser.error(f"no statement is named {unknown[0]}: choose from {', '.join(every)}")
    with ProcessPoolExecutor(asked.jobs, get_context("spawn")) as pool:
        for name in asked.names or every:
            finding = find(load(subject)[name], asked.seed, pool if asked.jobs > 1 else None)
            print(finding.row() if asked.table else f"{finding}\n", flush=True)
            print(f"{name}: {finding.verdict}", file=sys.stderr)


def predictions() -> dict[str, Any]:
    """All statements with what they predict, and the digests: docs/theory-predictions.json."""
    every = {}
    for subject in SUBJECTS:
        for s in load(subject).values():
            pairs = zip(s.settings, s.predictions, strict=True)
            words = {name: getattr(s, name) for name in ("subject", "says", "predicts", "digest")}
            every[s.name] = {**words, "predictions": {place(at): asdict(p) for at, p in pairs}}
    return {"statements": every}


if __name__ == "__main__":
    json.dump(predictions(), sys.stdout, indent=1, ensure_ascii=False)
    print()
