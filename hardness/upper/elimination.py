"""Gaussian elimination over GF(2): recovers a noiseless parity from about 2d examples.

Where z_0 = -1 the label's sign is one linear bit of z. It is no statistical-query algorithm, and
one wrong label among those it uses spoils it.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from hardness.kernels import System
from hardness.oracles import ExampleOracle, Spent
from hardness.upper.learner import (
    SPENT,
    Hypothesis,
    Outcome,
    as_parity,
    member,
    nothing,
    only_parity,
)
from instances.family import Family, require
from instances.reduced import reduce

_AT_ONCE = 1024  # examples: the clock is looked at between draws


@dataclass(frozen=True, kw_only=True)
class Elimination:
    """Solves for the hidden set; `checks` more equations confirm it (a false one: 2^-checks)."""

    name: ClassVar[str] = "elimination"
    revision: ClassVar[int] = 1
    access: ClassVar[Literal["examples", "queries"]] = "examples"
    about: ClassVar[str] = "Gaussian elimination over GF(2): 2(d + 31) noiseless examples or so"

    checks: int = 32

    def __post_init__(self) -> None:
        require(self.checks >= 0, f"checks={self.checks} given: it must be at least 0")

    def supports(self, family: Family) -> str | None:
        """Hidden parities only."""
        return only_parity(family)

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Add equations until the rank is full and the checks are passed, or one contradicts."""
        family = as_parity(oracle.family)
        system = System(family.d)
        used = 0
        try:
            while system.rank < family.d - 1 or used < family.d - 1 + self.checks:
                missing = max(family.d - 1 + self.checks - used, family.d - 1 - system.rank)
                equations = reduce(oracle.draw(min(2 * missing, _AT_ONCE)))
                used += len(equations)
                conflicts = system.add(equations.words, equations.codes)
                if conflicts:
                    return nothing(
                        family,
                        Outcome.NOISY,
                        rank=system.rank,
                        equations=used,
                        contradictions=conflicts,
                    )
        except Spent as spent:
            return nothing(family, SPENT[spent.resource], rank=system.rank, equations=used)
        found = tuple(int(j) for j in np.flatnonzero(system.solution()))
        details: dict[str, Any] = {"rank": system.rank, "equations": used}
        if len(found) != family.m:
            return nothing(family, Outcome.NOISY, size_found=len(found), **details)
        return member(family, found, **details)
