"""A statement of theory as something to run: predicted, then measured, then judged.

setting -> prediction -> digest -> measurement -> verdict

What predicts is given a setting and nothing else. All settings of a statement are predicted, and
the predictions hashed, before the first is measured.
"""

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Annotated, Any, ClassVar, Literal

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from hardness.oracles import clock
from hardness.runs.cells import interval
from hardness.runs.growth import CONFIDENCE, power_law
from hardness.runs.processes import execute
from instances.errors import ToolkitError
from instances.result import Record, Result, TableRow
from instances.streams import BitStream, key
from instances.text import outward

Setting = Mapping[str, int | float | str]
Owner = Literal["paper", "summary", "talk", "docs"]
_OWNERS = {
    "paper": "the paper",
    "summary": "a summary of the paper",
    "talk": "the talk",
    "docs": "this manual",
}
_LOOSE = 1.5  # a bound within this factor of what is measured is not called loose
_DECISIVE = (  # verdicts of points, inside the conditions or not: what decides a line comes first
    *(("fails", True), ("cannot tell", True), ("fails", False)),
    *(("agrees", True), ("cannot tell", False), ("agrees", False)),
)
_FINE = 0.2  # an interval within this fraction of the prediction tells, however narrow the band


class Predicted(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What theory says of one setting: a number between low and high; None is no end.

    within: whether the conditions of the statement hold there.
    """

    low: float | None = None
    high: float | None = None
    within: bool = True

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends, infinite where there is none."""
        low = -math.inf if self.low is None else self.low
        return low, math.inf if self.high is None else self.high

    def said(self, digits: int = 3) -> str:
        """Write a number, a range or a bound in words.

        >>> Predicted(high=2.0).said(), Predicted(low=0.5, high=0.5).said()
        ('at most 2', '0.5')
        """
        ends = [short_number(end, digits) for end in (self.low, self.high) if end is not None]
        if self.low is None:
            return f"at most {ends[0]}" if ends else "-"
        return f"at least {ends[0]}" if self.high is None else " to ".join(dict.fromkeys(ends))


class Measured(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was measured: a value within [low, high], and how that interval is known.

    high: None where there is no upper end, as of what was not found below `low`. how: "exact", or
    the confidence with what it is of, as "95 %, 20 layers".
    """

    value: float
    low: float
    high: float | None
    how: str

    @property
    def top(self) -> float:
        """The upper end, infinite where there is none."""
        return math.inf if self.high is None else self.high

    def said(self, digits: int = 3) -> str:
        """Write the value with its interval; alone where the ends read alike.

        >>> Measured(value=0.5, low=0.4129, high=0.6, how="95 %, 9 rows").said()
        '0.5 [0.412, 0.6]'
        >>> Measured(value=64.0, low=64.0, high=None, how="96.9 %, 6 layers").said()
        'above 64'
        """
        low, value = (short_number(v, digits) for v in (self.low, self.value))
        if self.high is None:
            return f"above {low}" if low == value else f"{value}, above {low}"
        if low == short_number(self.high, digits):
            return value
        whole = self.low == int(self.low) and self.high == int(self.high)
        return f"{value} [{outward(self.low, self.high, '.0f' if whole else f'.{digits}g')}]"


def short_number(value: float, digits: int = 3) -> str:
    """Write a number by some digits, a whole one in full.

    >>> short_number(3.0), short_number(0.01234), short_number(1234567.8)
    ('3', '0.0123', '1.23e+06')
    """
    return str(int(value)) if value == int(value) and abs(value) < 1e7 else f"{value:.{digits}g}"


def exactly(value: float, error: float = 0.0) -> Measured:
    """Give a number that is computed, not sampled; error: the most by which it may be off."""
    return Measured(value=value, low=value - error, high=value + error, how="exact")


def mean(samples: ArrayLike, of: str, among: int = 1) -> Measured:
    """Give the mean of independent samples, at least two, with Student's interval at 95 %.

    among: how many such intervals are to hold together at 95 %, each that much wider.

    >>> mean([1.0, 2.0, 3.0], "layers").how, mean([1.0, 2.0, 3.0], "layers", among=20).how
    ('95 %, 3 layers', '95 % of 20 together, 3 layers')
    """
    from scipy.special import stdtrit

    values = np.asarray(samples, np.float64)
    error = values.std(ddof=1) / math.sqrt(len(values))
    reach = float(error * stdtrit(len(values) - 1, 1 - (1 - CONFIDENCE) / 2 / among))
    value = float(values.mean())
    how = f"95 %{f' of {among} together' if among > 1 else ''}, {len(values)} {of}"
    return Measured(value=value, low=value - reach, high=value + reach, how=how)


def share(count: int, total: int, of: str) -> Measured:
    """Give a share of independent trials, with Clopper and Pearson's interval at 95 %. [CP34]

    >>> found = share(5, 10, "rows")
    >>> round(found.low, 2), round(found.high, 2)
    (0.19, 0.81)
    """
    low, high = interval(count, total)
    return Measured(value=count / total, low=low, high=high, how=f"95 %, {total} {of}")


def exponent(sizes: ArrayLike, samples: ArrayLike, of: str) -> Measured:
    """Give the exponent of a power law through samples at four sizes or more, at 95 %.

    sizes: (K,); samples: (K, S), above 0: docs/growth.md has the method.

    >>> exponent([4, 8, 16, 32], [[16.0], [64.0], [256.0], [1024.0]], "sizes").value
    2.0
    """
    x, y = np.asarray(sizes, np.float64), np.asarray(samples, np.float64)
    law = power_law(x, y, BitStream(key(0, "theory", of)))
    return Measured(value=round(law.exponent, 12), low=law.low, high=law.high, how=f"95 %, {of}")


class Point(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One setting: what was predicted there, and what was measured."""

    at: dict[str, int | float | str]
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
    def said(self) -> tuple[str, str]:
        """What was predicted and what was measured, in as many digits as show a difference.

        >>> off = exactly(1.43548, 1e-6)
        >>> Point(at={}, predicted=Predicted(low=1.43553, high=1.43553), measured=off).said
        ('1.436', '1.435')
        """
        pairs = zip(self.predicted.ends, (self.measured.top, self.measured.low), strict=True)
        finite = [pair for pair in pairs if all(map(math.isfinite, pair))]
        apart = finite if self.verdict == "fails" else []
        digits = 3
        while digits < 12 and any(
            short_number(a, digits) == short_number(b, digits) for a, b in apart
        ):
            digits += 1
        return self.predicted.said(digits), self.measured.said(digits)

    def row(self) -> TableRow:
        """Give its columns of a table."""
        return {
            "predicted_low": self.predicted.low,
            "predicted_high": self.predicted.high,
            "within_conditions": self.predicted.within,
            "measured": self.measured.value,
            "low": self.measured.low,
            "high": self.measured.high,
            "known": self.measured.how,
            "verdict": self.verdict,
        }

    @property
    def factor(self) -> float | None:
        """By how much a bound is off what is measured, at least 1; None for what is no bound."""
        low, high, value = self.predicted.low, self.predicted.high, self.measured.value
        one_sided = (low is None) != (high is None)
        if self.verdict != "agrees" or not one_sided or value <= 0 or not (low or high):
            return None
        found = value / low if low is not None else (high or 0.0) / value
        return max(1.0, found) if math.isfinite(found) and found > 0 else None


def owned(owner: Owner, source: str) -> str:
    """Say whose a statement is.

    >>> owned("summary", "CL24"), owned("docs", "CL24"), owned("docs", "")
    ('a summary of the paper [CL24]', 'this manual on [CL24]', 'this manual')
    """
    on = " on" if owner == "docs" and source else ""
    return f"{_OWNERS[owner]}{on}" + (f" [{source}]" if source else "")


class Told(Record, frozen=True, kw_only=True):
    """What a source states, and how it is drawn.

    owner: whose statement it is; source: its key in docs/references.md. says: what is stated, with
    exponents and conditions. predicts: how numbers follow from that at the sizes run. meaning: what
    the comparison is worth, true whatever is measured. along: the part of a setting that lies along
    x; by: the part that tells series apart, if any. x, y: the titles of axes, with units. log: the
    axes that are logarithmic. identity: whether it is proved for every draw. revised: what of the
    prediction was changed after a measurement.
    """

    name: str
    subject: str
    owner: Owner
    source: str = ""
    says: str
    predicts: str
    meaning: str
    x: str = ""
    y: str
    along: str
    by: str = ""
    log: str = ""
    identity: bool = False
    revised: str = ""

    @property
    def of(self) -> str:
        """Whose statement it is, with the key of its source."""
        return owned(self.owner, self.source)


class Statement(Told, frozen=True, kw_only=True):
    """A statement of a source, and the functions that predict and measure it at settings.

    Both are given a setting by name, measure the seed as well; they are functions of modules, for
    they run in other processes.
    """

    settings: Sequence[Setting]
    predict: Callable[..., Predicted]
    measure: Callable[..., Measured]

    def __repr__(self) -> str:
        return f"<statement {self.name}>"

    @property
    def words(self) -> dict[str, Any]:
        """What a finding repeats of it."""
        every = {name: getattr(self, name) for name in Told.__struct_fields__}
        return every | {"x": self.x or self.along}

    @cached_property
    def predictions(self) -> tuple[Predicted, ...]:
        """What is predicted at each setting; nothing measured is at hand."""
        return tuple(self.predict(**one) for one in self.settings)

    @property
    def digest(self) -> str:
        """The SHA-256 of all settings with their predictions, 16 digits of it."""
        return digest_of(self, list(zip(self.settings, self.predictions, strict=True)))


def digest_of(named: Told, predicted: Sequence[tuple[Setting, Predicted]]) -> str:
    """The SHA-256 of what is stated and of settings with their predictions, 16 digits of it."""
    made = [[dict(at), _short(p.low), _short(p.high), p.within] for at, p in predicted]
    text = json.dumps([named.name, named.says, named.predicts, made], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, kw_only=True, repr=False)
class Statements(Result):
    """Statements that are listed; as JSON with all that they predict, which takes some seconds."""

    every: tuple[Statement, ...]

    def to_dict(self) -> dict[str, Any]:
        """Give each by its name, with its predictions by setting, and their digest."""
        names = ("subject", "owner", "source", "says", "predicts")
        return {
            "statements": {
                one.name: {
                    **{name: getattr(one, name) for name in names},
                    "digest": one.digest,
                    "predictions": {
                        place(at): said.to_dict()
                        for at, said in zip(one.settings, one.predictions, strict=True)
                    },
                }
                for one in self.every
            }
        }

    def _rows(self) -> list[TableRow]:
        return [
            {"statement": one.name, "subject": one.subject, "of": one.of, "says": one.says}
            for one in self.every
        ]


def _factor(value: float) -> str:
    """Write a factor by two digits, a whole one up to 9999."""
    return f"{value:.0f}" if 10 <= value < 1e4 else f"{value:.2g}"


def _short(value: float | None) -> str | None:
    return None if value is None else f"{value:.9g}"  # the last digits differ between machines


class Finding(Told, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A statement with what was predicted and measured at its settings.

    digest: of the predictions, made before this run measured anything.
    """

    seed: int
    digest: str
    seconds: Annotated[float, msgspec.Meta(ge=0)]
    points: Annotated[tuple[Point, ...], msgspec.Meta(min_length=1)]

    _format: ClassVar[str] = "hardness-theory/1"

    @property
    def verdict(self) -> str:
        """How measurement and prediction compare, in the words of the table."""
        judged = [one for one in self.points if one.verdict]
        inside = [one for one in judged if one.predicted.within]
        if not inside:
            return "outside its conditions" if judged else "not applicable"
        if any(one.verdict == "fails" for one in inside):
            return "fails"
        agreeing = sum(one.verdict == "agrees" for one in inside)
        factors = [one.factor for one in inside if one.factor is not None]
        if len(factors) == len(inside) and min(factors) > _LOOSE:
            least, most = map(_factor, (min(factors), max(factors)))
            words = f"looser by {least}" + (f" to {most}" if most != least else "")
        elif agreeing < len(inside):
            words = f"agrees at {agreeing} of {len(inside)}" if agreeing else "cannot tell"
        else:
            words = "agrees"
        fails = any(one.verdict == "fails" for one in judged)
        return f"{words}, fails outside its conditions" if fails else words

    @property
    def telling(self) -> Point:
        """The point that decides: the first that fails or cannot tell, or the last that agrees."""
        for verdict, within in _DECISIVE:
            same = [p for p in self.points if (p.verdict, p.predicted.within) == (verdict, within)]
            if same:
                return same[-1 if verdict == "agrees" else 0]
        return self.points[-1]

    def _rows(self) -> list[TableRow]:
        return [{"statement": self.name, **one.at, **one.row()} for one in self.points]


class Theory(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Statements beside what was measured, in the order of the table."""

    findings: tuple[Finding, ...]

    def _rows(self) -> list[TableRow]:
        return [
            {
                "statement": one.name,
                "subject": one.subject,
                "says": one.says,
                "of": one.of,
                "at": place(one.telling.at),
                "predicted": one.telling.said[0],
                "measured": one.telling.said[1],
                "known": one.telling.measured.how,
                "verdict": one.verdict,
                "identity": "yes" if one.identity else "",
                "revised": one.revised,
                "digest": one.digest,
            }
            for one in self.findings
        ]


def place(at: Setting) -> str:
    """Write a setting.

    >>> place({"d": 8, "m": 2})
    'd=8,m=2'
    """
    return ",".join(f"{name}={value}" for name, value in at.items())


def _measured(task: tuple[Callable[..., Measured], dict[str, Any]], seed: int) -> Measured:
    measure, at = task
    return measure(seed=seed, **at)


def find(
    statement: Statement,
    seed: int = 0,
    jobs: int = 1,
    progress: Callable[[int], None] | None = None,
) -> Finding:
    """Predict a statement at all of its settings, then measure them, on `jobs` processes."""
    digest, predicted = statement.digest, statement.predictions
    start = clock.now()
    tasks = [(statement.measure, dict(one)) for one in statement.settings]
    measured: dict[int, Measured] = {}
    for i, one in execute(partial(_measured, seed=seed), tasks, jobs):
        if not all(map(math.isfinite, (one.value, one.low, one.high or 0.0))):
            at = place(statement.settings[i])
            raise ToolkitError(f"{statement.name} at {at}, seed {seed}: no number was measured")
        measured[i] = one
        if progress:
            progress(1)
    points = [
        Point(at=dict(at), predicted=p, measured=measured[i])
        for i, (at, p) in enumerate(zip(statement.settings, predicted, strict=True))
    ]
    return Finding(
        **statement.words,
        seed=seed,
        digest=digest,
        seconds=clock.now() - start,
        points=tuple(points),
    )
