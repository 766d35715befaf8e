"""What an estimate is: the cost of one attack, and of all of them on one problem."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from math import inf
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from hardness.bounds.certificate import Claim
from hardness.lwe.models import SMALL_BLOCK, Setting
from hardness.lwe.parameters import LweParameters
from instances.numbers import write
from instances.result import Math, Result, TableRow, frame

if TYPE_CHECKING:
    from pandas import DataFrame

Kind = Literal["exact count", "heuristic model", "asymptotic formula"]
Standing = Literal["published", "disputed"]
EXACT_BELOW = 53  # bits from which a count is given by its logarithm alone
_ACROSS = 6  # attacks that stand side by side; more stand one a row, where problems are fewer
_FIGURES = 20  # bits below which a count is written out


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """What one attack costs, or why it does not apply.

    rop, red, svp, guess: log2 of its operations, all of them, those of lattice reduction, of calls
    for short vectors, of guessing. mem: log2 of what it stores. sample_bits: log2 of the labels
    that it needs. repetitions, space: log2 of its repetitions, and of the candidates |S| that it
    guesses. prob: the probability that one repetition succeeds. beta, eta, sieve: block sizes of
    the reduction, of the last call, of the sieve that gives many vectors. zeta: coordinates of the
    secret that are guessed; weight: how many of them are not 0, at most. d, m: dimension and
    samples of the lattice. delta: root Hermite factor. p, t: modulus and coordinates of a Fourier
    transform, or degree bound. search: how its cost is known to be the least. standing: whether the
    formula stands or is disputed. model, shape: what is assumed of lattice reduction.

    >>> Estimate(name="x", kind="exact count", source="y", reason="q = 2").applies
    False
    """

    name: str
    kind: Kind
    source: str  # keys in docs/references.md
    reason: str = ""  # why it does not apply
    rop: float | None = None
    red: float | None = None
    svp: float | None = None
    guess: float | None = None
    mem: float | None = None
    sample_bits: float | None = None
    repetitions: float | None = None
    space: float | None = None
    prob: float | None = None
    delta: float | None = None
    beta: int | None = None
    eta: int | None = None
    sieve: int | None = None
    zeta: int | None = None
    weight: int | None = None
    d: int | None = None
    m: int | None = None
    p: int | None = None
    t: int | None = None
    search: str = ""
    note: str = ""
    standing: Standing = "published"
    model: str = ""
    shape: str = ""

    @property
    def applies(self) -> bool:
        """Whether the attack is one on this problem."""
        return not self.reason

    @property
    def samples(self) -> int | None:
        """The number of labels that it needs; None where unknown, or 2^53 and more."""
        bits = self.sample_bits
        return round(2**bits) if bits is not None and bits <= EXACT_BELOW else None

    @property
    def known(self) -> str:
        """How its cost is known, in a few words."""
        if self.beta is not None and self.beta < SMALL_BLOCK:
            return "too small for its model"
        return self.kind if self.standing == "published" else f"{self.standing} model"

    @property
    def sample_words(self) -> str:
        """The number of labels that it needs, in figures."""
        if self.sample_bits is None:
            return "-"
        return str(self.samples) if self.sample_bits < _FIGURES else f"2^{self.sample_bits:.1f}"

    @property
    def rank(self) -> float:
        """What attacks are ordered by: log2 of operations, infinity if there is no estimate."""
        return inf if self.rop is None else self.rop

    def at_least(self, bits: float, why: str) -> "Estimate":
        """Raise the cost to a lower bound, with a note that says why."""
        if self.rop is None or self.rop >= bits:
            return self
        return self.changed(rop=bits).noted(f"2^{bits:.1f} operations at least, since {why}")

    def changed(self, **values: Any) -> "Estimate":
        """Return it with other values of some fields."""
        return msgspec.structs.replace(self, **values)

    def noted(self, more: str) -> "Estimate":
        """Add a note."""
        return self.changed(note=f"{self.note}; {more}" if self.note else more)

    def to_dict(self) -> dict[str, Any]:
        """Write the estimate as plain data, logarithms as such; what is not known is null."""
        values = msgspec.structs.asdict(self)
        del values["name"]
        return {"applies": self.applies, "samples": self.samples, **values}


Fields = dict[str, Any]  # of an estimate, by name


class NoEstimate(Exception):
    """An attack does not apply to a problem; the text says why."""


def attack(
    name: str, kind: Kind, source: str, reduces: bool = False
) -> Callable[[Callable[..., Fields | Estimate]], Callable[..., Estimate]]:
    """Make an estimate of the fields that a function of parameters and a setting returns.

    reduces: whether it is of lattice reduction, whose model and shape the estimate names. Where the
    function raises NoEstimate, the estimate has the reason alone.
    """

    def decorate(function: Callable[..., Fields | Estimate]) -> Callable[..., Estimate]:
        @wraps(function)
        def estimated(parameters: LweParameters, setting: Setting, *point: int) -> Estimate:
            try:
                fields = function(parameters, setting, *point)
            except NoEstimate as why:
                fields = {"reason": str(why)}
            if isinstance(fields, Estimate):
                return fields
            if reduces:
                fields |= {"model": setting.model.name, "shape": setting.shape}
            return Estimate(name=name, kind=kind, source=source, **fields)

        return estimated

    return decorate


@dataclass(frozen=True, kw_only=True, repr=False)
class Estimates(Result):
    """The attacks on a problem, by name, and apart from them what binds statistical queries.

    spec: of the problem; name: of its set, or the spec. samples: how many labels an attacker may
    have; None for any number. success: the probability that every attack is brought to. queries:
    the claims of the family's certificate, average: the secrets over which their success is
    averaged; without one, no_queries says why. level: the bits of security that are claimed for a
    set, None if none are. detailed: it prints with all fields of each attack.
    """

    spec: str
    name: str
    samples: int | None
    success: float
    estimates: tuple[Estimate, ...]
    queries: tuple[Claim, ...]
    average: str
    no_queries: str
    level: int | None = None
    detailed: bool = field(default=False, compare=False)

    def __getitem__(self, name: str) -> Estimate:
        """Return the estimate of an attack, the first of several models; raises KeyError."""
        for estimate in self.estimates:
            if estimate.name == name:
                return estimate
        raise KeyError(name)

    def label(self, estimate: Estimate) -> str:
        """Name an attack: with its model, where several are asked."""
        models = {e.model for e in self.estimates if e.name == estimate.name}
        return f"{estimate.name}, {estimate.model}" if len(models) > 1 else estimate.name

    @property
    def words(self) -> str:
        """The spec with the number of samples: it is read again as this problem."""
        return worded(self.spec, self.samples)

    @property
    def least(self) -> Estimate | None:
        """The attack of least cost among those that apply, of several the first of `ranked`."""
        return next((e for e in self.ranked if e.applies), None)

    @property
    def undisputed(self) -> Estimate | None:
        """The attack of least cost among those that nobody contests."""
        return next((e for e in self.ranked if e.applies and e.standing == "published"), None)

    @property
    def leasts(self) -> list[Estimate]:
        """The cheapest attack, and the cheapest undisputed attack if the first is disputed."""
        return list(dict.fromkeys(e for e in (self.least, self.undisputed) if e))

    @property
    def ranked(self) -> list[Estimate]:
        """The attacks, the least first, those behind guesses last of equals; then the others."""
        return sorted(
            self.estimates,
            key=lambda e: (not e.applies, e.rank, e.name.startswith("guess+"), e.name, e.model),
        )

    def _rows(self) -> list[TableRow]:
        return [
            {"set": self.name, "attack": e.name, "model": e.model or None}
            | {"rop": _bits(e.rop), "red": _bits(e.red), "beta": e.beta, "zeta": e.zeta, "d": e.d}
            | {"samples": e.sample_words, "mem": _bits(e.mem), "known": e.known}
            for e in self.ranked
            if e.applies
        ]

    def to_frame(self) -> "DataFrame":
        """Make a pandas DataFrame, one row an attack and model, the least first."""
        return frame([{"attack": e.name, **e.to_dict()} for e in self.ranked])

    def to_dict(self) -> dict[str, Any]:
        """Write the estimates as plain data: {"spec", "estimates": {attack: ...}, "least", ...}."""
        least, other = self.least, self.undisputed
        claims = {
            c.quantity: {"value": write(c.value, ratio=True)}
            | {name: getattr(c, name) for name in ("vacuous", "parameters", "source")}
            for c in self.queries
        }
        queries = {"claims": claims, "average": self.average, "reason": self.no_queries}
        return {
            **{key: getattr(self, key) for key in ("spec", "name", "level", "samples", "success")},
            "estimates": {self.label(e): e.to_dict() for e in self.estimates},
            "least": self.label(least) if least else None,
            "least_undisputed": self.label(other) if other else None,
            "statistical_queries": queries,
        }


@dataclass(frozen=True, kw_only=True, repr=False)
class EstimatesTable(Result):
    """Estimates of several problems: a row each and a column an attack, or the other way round."""

    problems: tuple[Estimates, ...]

    def _rows(self) -> list[TableRow]:
        attacks = [{one.label(e): e for e in one.estimates} for one in self.problems]
        applied = {label for every in attacks for label, e in every.items() if e.applies}
        columns = [label for label in attacks[0] if label in applied]
        claimed = any(one.level for one in self.problems)
        rows: list[TableRow] = [
            {"set": one.name}
            | {label: _marked(one, every[label]) for label in columns}
            | ({"claimed": str(one.level) if one.level else None} if claimed else {})
            for one, every in zip(self.problems, attacks, strict=True)
        ]
        names = [name for name in rows[0] if name != "set"]
        unlike = len({row["set"] for row in rows}) == len(rows)
        if len(names) <= max(_ACROSS, len(rows)) or not unlike:
            return rows
        return [{"attack": name} | {str(row["set"]): row[name] for row in rows} for name in names]

    def to_frame(self) -> "DataFrame":
        """Make a pandas DataFrame, one row a problem, attack and model."""
        return frame(
            [
                {"set": one.name, "attack": e.name, "least": e == one.least, **e.to_dict()}
                for one in self.problems
                for e in one.ranked
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Write the estimates of each problem as plain data."""
        return {"problems": [one.to_dict() for one in self.problems]}


def _bits(value: float | None) -> str | None:
    return None if value is None else f"{value:.1f}"


def _marked(problem: Estimates, e: Estimate | None) -> str | None:
    """Write a cost with the mark of the least, or of the least that nobody contests."""
    if e is None or (bits := _bits(e.rop)) is None:
        return None
    if e == problem.least:
        return Math(f"{bits}*", rf"\mathbf{{{bits}}}")
    return Math(f"{bits}†", rf"{bits}^{{\dagger}}") if e == problem.undisputed else bits


def worded(spec: str, samples: int | None) -> str:
    """Write a spec with the number of samples that an attacker has.

    >>> worded("lwe:n=10,q=97,sigma=1", 512)
    'lwe:n=10,q=97,sigma=1,samples=512'
    """
    return spec if samples is None else f"{spec},samples={samples}"
