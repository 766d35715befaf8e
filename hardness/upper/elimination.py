"""Gaussian elimination over GF(2): recovers a noiseless parity from about 2d examples.

Where z_0 = -1 the label's sign is one linear bit of z. It is no statistical-query algorithm, and
one wrong label among those it uses spoils it.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hardness.kernels import System
from hardness.oracles import ExampleOracle, Spent
from hardness.upper.attack import Attack
from hardness.upper.learner import SPENT, Hypothesis, Outcome, member, nothing
from hardness.upper.search import is_member
from instances.capabilities import CODED, NOISY_PARITIES, Capability
from instances.family import require
from instances.modular import Modular
from instances.reduced import reduce

_AT_ONCE = 1024  # examples: the clock is looked at between draws


@dataclass(frozen=True, kw_only=True)
class Elimination(Attack):
    """Solves for the hidden set; `checks` more equations confirm it (a false one: 2^-checks)."""

    name: ClassVar[str] = "elimination"
    needs: ClassVar[Capability[Modular]] = NOISY_PARITIES
    about: ClassVar[str] = "Gaussian elimination over GF(2): 2(d + 31) noiseless examples or so"

    checks: int = 32

    def __post_init__(self) -> None:
        require(self.checks >= 0, f"checks={self.checks} given: it must be at least 0")

    def unfit(self, forms: Modular) -> str | None:
        """Return None: it attacks noise too, and says that it is there."""
        return None

    def attack(self, oracle: ExampleOracle, forms: Modular, rng: np.random.Generator) -> Hypothesis:
        """Add equations until the rank is full and the checks are passed, or one contradicts."""
        family, n = CODED.need(oracle.family), forms.n
        system = System(forms.d)
        used = 0
        try:
            while system.rank < n or used < n + self.checks:
                missing = max(n + self.checks - used, n - system.rank)
                equations = reduce(oracle.draw(min(family.enough(missing), _AT_ONCE)))
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
        bits = tuple(int(bit) for bit in system.solution()[1:])
        details: dict[str, Any] = {"rank": system.rank, "equations": used}
        if not is_member(forms, bits):
            return nothing(family, Outcome.NOISY, size_found=sum(bits), **details)
        return member(family, family.from_linear(bits), **details)
