"""What an estimate is: the cost of one attack, and of all of them on one family."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from hardness.lower.record import Claim
from instances.catalog import CATALOG
from instances.export import frame
from instances.parameters import brief
from instances.result import Result, TableRow
from instances.spec import parse_stored

if TYPE_CHECKING:
    from pandas import DataFrame

Kind = Literal["exact count", "heuristic model", "asymptotic formula"]
EXACT_BELOW = 53  # bits from which a count is given by its logarithm alone
SMALLEST_BLOCK = 50
_FIGURES = 20  # bits below which a count is written out
CLASSICAL, QUANTUM = 0.292, 0.265  # log2 of a sieve's cost per dimension [BDGL16, Laarhoven15]


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What one attack costs, or why it does not apply.

    bits, quantum_bits: log2 of its operations; None where the model claims none. beta, d, m: block
    size, dimension and samples of the lattice. sample_bits, memory_bits: log2 of the labels with
    z_0 = -1 that it needs, and of what it stores at once; samples: their number, below 2^53.

    >>> Estimate(name="x", kind="exact count", source="y", reason="q = 2").applies
    False
    """

    name: str
    kind: Kind
    source: str  # keys in docs/references.md
    reason: str = ""  # why it does not apply
    bits: float | None = None
    quantum_bits: float | None = None
    beta: int | None = None
    d: int | None = None
    m: int | None = None
    sample_bits: float | None = None
    memory_bits: float | None = None
    note: str = ""

    @property
    def applies(self) -> bool:
        """Whether the attack is one on this family."""
        return not self.reason

    @property
    def samples(self) -> int | None:
        """The number of labels that it needs; None where unknown, or 2^53 and more."""
        known = self.sample_bits is not None and self.sample_bits <= EXACT_BELOW
        return round(2**self.sample_bits) if known and self.sample_bits is not None else None

    @property
    def sample_words(self) -> str:
        """The number of labels that it needs, in figures."""
        if self.sample_bits is None:
            return "-"
        return str(self.samples) if self.sample_bits < _FIGURES else f"2^{self.sample_bits:.1f}"

    @property
    def rank(self) -> float:
        """What attacks are ordered by: bits; where the model is too small, those that it ends at.

        The only attack without bits is the one by lattices of a block size below 50.
        """
        return CLASSICAL * SMALLEST_BLOCK if self.bits is None else self.bits

    def to_dict(self) -> dict[str, Any]:
        """Write the estimate as plain data; what is not known is null."""
        return {
            "applies": self.applies,
            "reason": self.reason,
            "bits": self.bits,
            "quantum_bits": self.quantum_bits,
            "beta": self.beta,
            "d": self.d,
            "m": self.m,
            "samples": self.samples,
            "sample_bits": self.sample_bits,
            "memory_bits": self.memory_bits,
            "kind": self.kind,
            "source": self.source,
            "note": self.note,
        }


@dataclass(frozen=True, kw_only=True, repr=False)
class Estimates(Result):
    """The attacks on a family, by name, and apart from them what binds statistical queries.

    samples: how many labels with z_0 = -1 an attacker may have; None for any number. queries: the
    claims of the family's certificate, average: the secrets over which their success is averaged;
    without one, no_queries says why.
    """

    spec: str
    samples: int | None
    estimates: tuple[Estimate, ...]
    queries: tuple[Claim, ...]
    average: str
    no_queries: str

    def __getitem__(self, name: str) -> Estimate:
        """Return the estimate of an attack; raises KeyError."""
        return {e.name: e for e in self.estimates}[name]

    @property
    def least(self) -> Estimate | None:
        """The attack of least cost among those that apply, the first by name of several."""
        found = [e for e in self.estimates if e.applies]
        return min(found, key=lambda e: (e.rank, e.name), default=None)

    @property
    def ranked(self) -> list[Estimate]:
        """The attacks, the least first, then those that do not apply."""
        return sorted(self.estimates, key=lambda e: (not e.applies, e.rank, e.name))

    @property
    def _brief(self) -> str:
        return brief(parse_stored(self.spec), self.spec.partition(":")[0])

    def _summary(self) -> tuple[str, list[TableRow]]:
        least = self.least
        bits = f", 2^{least.bits:.1f}" if least and least.bits is not None else ""
        title = f"least: {least.name}{bits} ({least.kind})" if least else "no attack here applies"
        return f"{title}; {self._brief}", [
            {
                "attack": e.name,
                "bits": None if e.bits is None else f"{e.bits:.1f}",
                "beta": e.beta,
                "samples": e.sample_words,
                "known": e.kind if e.applies else "no estimate",
            }
            for e in self.ranked
        ]

    def _rows(self) -> list[TableRow]:
        named = {parse_stored(entry.spec).spec: name for name, entry in CATALOG.items()}
        return [
            {
                "set": named.get(self.spec, self._brief),
                "attack": e.name,
                "bits": None if e.bits is None else f"{e.bits:.1f}",
                "quantum": None if e.quantum_bits is None else f"{e.quantum_bits:.1f}",
                "beta": "<50" if e.bits is None else e.beta,
                "d": e.d,
                "samples": e.sample_words,
                "memory": None if e.memory_bits is None else f"{e.memory_bits:.1f}",
                "known": e.kind,
            }
            for e in self.ranked
            if e.applies
        ]

    def to_frame(self) -> "DataFrame":
        """Make a pandas DataFrame, one row an attack, the least first."""
        return frame([{"attack": e.name, **e.to_dict()} for e in self.ranked])

    def to_dict(self) -> dict[str, Any]:
        """Write the estimates as plain data: {"spec", "estimates": {name: ...}, "least", ...}."""
        least = self.least
        return {
            "spec": self.spec,
            "samples": self.samples,
            "estimates": {e.name: e.to_dict() for e in self.estimates},
            "least": least.name if least else None,
            "statistical_queries": {
                "claims": {
                    c.quantity: {
                        "value": c.value,
                        "vacuous": c.vacuous,
                        "parameters": c.parameters,
                        "source": c.source,
                    }
                    for c in self.queries
                },
                "average": self.average,
                "reason": self.no_queries,
            },
        }
