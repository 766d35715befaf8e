"""Estimates: the cost of one attack, and of all attacks on a problem."""

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
EXACT_BELOW = 53  # bits: larger counts are known by their logarithm only
_ACROSS = 6  # most attacks with a column each; if there are more, each attack may have a row
_FIGURES = 20  # bits: smaller counts are written with all digits


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of one attack, or the reason why it does not apply.

    source: keys in docs/references.md. reason: why the attack does not apply, empty if it does.
    rop: log2 of all operations; red, svp, guess: log2 of those of lattice reduction, of calls for
    short vectors, and of guessing. mem: log2 of what it stores: numbers, samples or vectors.
    sample_bits: log2 of the labels that it needs. repetitions: log2 of them. prob: the probability
    that one repetition succeeds. space: log2 of the candidates |S| that it guesses. beta, eta,
    sieve: block sizes of the reduction, of the last call, and of the sieve that gives many vectors.
    zeta: number of guessed coordinates; weight: most of them that are not 0. d, m: dimension and
    samples of the lattice. delta: root Hermite factor. p, t: modulus and coordinates of a Fourier
    transform, or degree bound. search: how the parameters of least cost were found. standing:
    whether the formula is disputed. model, shape: the assumptions on lattice reduction.

    >>> Estimate(name="x", kind="exact count", source="y", reason="q = 2").applies
    False
    """

    name: str
    kind: Kind
    source: str
    reason: str = ""
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
        """Whether the attack applies to the problem."""
        return not self.reason

    @property
    def samples(self) -> int | None:
        """The number of labels that it needs; None if it is unknown, or above 2^53."""
        bits = self.sample_bits
        return round(2**bits) if bits is not None and bits <= EXACT_BELOW else None

    @property
    def known(self) -> str:
        """A few words on the basis of its cost."""
        if self.beta is not None and self.beta < SMALL_BLOCK:
            return "too small for its model"
        return self.kind if self.standing == "published" else f"{self.standing} model"

    @property
    def sample_words(self) -> str:
        """The number of labels that it needs, as text."""
        if self.sample_bits is None:
            return "-"
        return str(self.samples) if self.sample_bits < _FIGURES else f"2^{self.sample_bits:.1f}"

    @property
    def rank(self) -> float:
        """The order of attacks: log2 of operations, infinity if there is no estimate."""
        return inf if self.rop is None else self.rop

    def at_least(self, bits: float, why: str) -> "Estimate":
        """Return the estimate with its cost raised to a lower bound, and a note with the reason."""
        if self.rop is None or self.rop >= bits:
            return self
        return self.changed(rop=bits).noted(f"2^{bits:.1f} operations at least, since {why}")

    def changed(self, **values: Any) -> "Estimate":
        """Return a copy with other values of some fields."""
        return msgspec.structs.replace(self, **values)

    def noted(self, more: str) -> "Estimate":
        """Return a copy with one more note."""
        return self.changed(note=f"{self.note}; {more}" if self.note else more)

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate as JSON, with null for unknown fields."""
        values = msgspec.structs.asdict(self)
        del values["name"]
        return {"applies": self.applies, "samples": self.samples, **values}


Fields = dict[str, Any]  # fields of an `Estimate` by name


class NoEstimate(Exception):
    """An attack does not apply to a problem; the text says why."""


def attack(
    name: str, kind: Kind, source: str, reduces: bool = False
) -> Callable[[Callable[..., Fields | Estimate]], Callable[..., Estimate]]:
    """Decorate a function of parameters and a setting that returns the fields of an estimate.

    The decorated function returns the `Estimate`. If the function raises NoEstimate, the estimate
    has only the reason. reduces: whether the attack uses lattice reduction; then the estimate names
    model and shape.
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
    """The estimates of all attacks on a problem, and certified bounds on statistical queries.

    name: of the set, or the spec. samples: labels that an attacker may have, None for any number.
    success: the probability with which each attack succeeds. queries: the claims of the family's
    certificate. average: the secrets over which their success is averaged. no_queries: why there
    are no claims. level: the bits of security that are claimed for a set, None if none are.
    detailed: whether all fields of each attack are printed.
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
        """Return the name of an attack, with its cost model if there are several."""
        models = {e.model for e in self.estimates if e.name == estimate.name}
        return f"{estimate.name}, {estimate.model}" if len(models) > 1 else estimate.name

    @property
    def words(self) -> str:
        """The spec with the number of samples, from which this problem can be read again."""
        return spec_and_size(self.spec, self.samples)

    @property
    def least(self) -> Estimate | None:
        """The cheapest attack that applies, the first of `ranked`; None if none applies."""
        return next((e for e in self.ranked if e.applies), None)

    @property
    def undisputed(self) -> Estimate | None:
        """The cheapest attack that applies and whose formula is not disputed."""
        return next((e for e in self.ranked if e.applies and e.standing == "published"), None)

    @property
    def leasts(self) -> list[Estimate]:
        """The cheapest attack, and the cheapest undisputed attack if the first is disputed."""
        return list(dict.fromkeys(e for e in (self.least, self.undisputed) if e))

    @property
    def ranked(self) -> list[Estimate]:
        """The estimates by rising cost, then those that do not apply.

        Of equal costs, attacks "guess+..." are last.
        """
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
        """Make a pandas DataFrame with a row for each attack and model, by rising cost."""
        return frame([{"attack": e.name, **e.to_dict()} for e in self.ranked])

    def to_dict(self) -> dict[str, Any]:
        """Return the estimates as JSON: {"spec", "estimates": {attack: ...}, "least", ...}."""
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
    """Estimates of several problems, in a table of problems by attacks or the transposed one."""

    problems: tuple[Estimates, ...]

    def _rows(self) -> list[TableRow]:
        tables = [{p.label(e): e for e in p.estimates} for p in self.problems]
        applied = {label for attacks in tables for label, e in attacks.items() if e.applies}
        columns = [label for label in tables[0] if label in applied]
        claimed = any(problem.level for problem in self.problems)
        rows: list[TableRow] = [
            {"set": problem.name}
            | {label: _marked(problem, attacks[label]) for label in columns}
            | ({"claimed": str(problem.level) if problem.level else None} if claimed else {})
            for problem, attacks in zip(self.problems, tables, strict=True)
        ]
        names = [name for name in rows[0] if name != "set"]
        different = len({row["set"] for row in rows}) == len(rows)
        if len(names) <= max(_ACROSS, len(rows)) or not different:
            return rows
        return [{"attack": name} | {str(row["set"]): row[name] for row in rows} for name in names]

    def to_frame(self) -> "DataFrame":
        """Make a pandas DataFrame with a row for each problem, attack and model."""
        return frame(
            [
                {"set": p.name, "attack": e.name, "least": e == p.least, **e.to_dict()}
                for p in self.problems
                for e in p.ranked
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the estimates of each problem as JSON."""
        return {"problems": [problem.to_dict() for problem in self.problems]}


def _bits(value: float | None) -> str | None:
    return None if value is None else f"{value:.1f}"


def _marked(problem: Estimates, e: Estimate | None) -> str | None:
    """Write a cost with a mark if it is the least, or the least that is not disputed."""
    if e is None or (bits := _bits(e.rop)) is None:
        return None
    if e == problem.least:
        return Math(f"{bits}*", rf"\mathbf{{{bits}}}")
    return Math(f"{bits}†", rf"{bits}^{{\dagger}}") if e == problem.undisputed else bits


def spec_and_size(spec: str, samples: int | None) -> str:
    """Write a spec with the number of samples that an attacker has.

    >>> spec_and_size("lwe:n=10,q=97,sigma=1", 512)
    'lwe:n=10,q=97,sigma=1,samples=512'
    """
    return spec if samples is None else f"{spec},samples={samples}"
