"""A proof under way: steps that the kernel takes one after the other, and says what they prove.

Makers find what is hard to find, as codes and multipliers of linear programs; which numbers follow,
and in which words, is the kernel's alone. What it does not take is an error of the maker.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hardness.check import kernel
from hardness.lower.record import Certificate, Claim
from hardness.lower.terms import BoundParameters
from instances.threshold import python_fraction


class Proof:
    """Steps about a problem, and what each proved.

    >>> proof = Proof({"kind": "hidden-set", "places": 7, "chosen": 3,
    ...     "values": ["1", "-1", "1", "-1"], "noise": "0"}, {"spec": "parity:d=8,m=3"})
    >>> proof.fact(proof.step("subsets")).count
    35
    """

    def __init__(self, problem: dict[str, Any], about: Mapping[str, Any]) -> None:
        """Pose a problem; about: the family's `spec`, and what else its maker says of it."""
        self.problem, self.about = problem, dict(about)
        self.steps: list[dict[str, Any]] = []
        self.parsed = kernel.read_problem(problem)
        self._facts: list[Any] = []

    def step(self, rule: str, *cited: int, **numbers: Any) -> int:
        """Take a step, and return its number; raises kernel.Refused where it does not follow."""
        kinds = kernel.RULES[rule][2]
        given = {
            name: value if kinds[name] == "json" else _written(value)
            for name, value in numbers.items()
        }
        step = {"rule": rule, "from": list(cited), **given}
        self._facts.append(kernel.take(self.parsed, step, self._facts))
        self.steps.append(step)
        return len(self.steps)

    def fact(self, step: int) -> Any:
        """What a step proved."""
        return self._facts[step - 1]

    def undo(self, count: int) -> None:
        """Take the last steps back."""
        del self.steps[-count:], self._facts[-count:]

    def certificate(self, *wanted: int) -> Certificate:
        """Claim all that the wanted steps prove, in their order."""
        claims = [
            Claim.read(
                {
                    "quantity": name,
                    "value": kernel.written(value),
                    "terms": at,
                    "says": says,
                    "step": step,
                },
                family=self.about["spec"].partition(":")[0],
            )
            for step in wanted
            for name, (value, at, says) in self.fact(step).claims.items()
        ]
        return Certificate(
            spec=self.about["spec"],
            claims=tuple(claims),
            scope=self.parsed.conditions,
            proof={"about": self.about, "problem": self.problem, "steps": self.steps},
            proved=tuple(self._facts),
        )


def _written(value: Any) -> Any:
    """Write a number, a list of them, or none, as a file has them."""
    if value is None:
        return None
    if isinstance(value, list):
        return [_written(one) for one in value]
    return kernel.written(python_fraction(value) if hasattr(value, "p") else Fraction(value))


@dataclass(frozen=True, kw_only=True)
class Posed:
    """A family's problem, and the steps about its members that every bound cites.

    members: how many there are, and how likely each; gram: their eigenvalues, and what queries move
    on all of them; overlaps: inner products by overlap, of hidden sets that have them.
    """

    proof: Proof
    members: int
    gram: int
    overlaps: int | None = None

    def fact(self, step: int) -> Any:
        """What a step proved."""
        return self.proof.fact(step)

    def fit(self, risk: Fraction) -> int:
        """Take the step to how many members one hypothesis fits."""
        return self.proof.step("fit", self.members, self.gram, risk=risk)

    def ask(self, oracle: str, term: Fraction | int) -> int:
        """Take the step to how many members one query rules out."""
        return self.proof.step("ask", self.gram, oracle=oracle, term=term)

    def bounds(self, asked: Iterable[int], terms: BoundParameters) -> list[int]:
        """Take the steps to the queries of each kind that is asked, and to the examples, needed."""
        step, fit, success = self.proof.step, self.fit(terms.risk), terms.success
        queries = [step("queries", self.members, fit, one, success=success) for one in asked]
        if self.proof.parsed.levels is not None:
            queries.append(step("information", self.members, fit, success=success))
        return queries
