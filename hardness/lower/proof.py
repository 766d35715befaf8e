"""A proof under way: steps that the kernel takes one after the other, and says what they prove.

Makers find what is hard to find, as codes and multipliers of linear programs; which numbers follow,
and in which words, is the kernel's alone. What it does not take is an error of the maker.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from hardness.check import kernel
from hardness.lower.record import Certificate, proved
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
        self._posed = kernel.posed(problem)
        self._facts: list[Any] = []

    def step(self, rule: str, *cited: int, **numbers: Any) -> int:
        """Take a step, and return its number; raises kernel.Refused where it does not follow."""
        given = {name: _written(value) for name, value in numbers.items()}
        step = {"rule": rule, "from": list(cited), **given}
        self._facts.append(kernel.take(self._posed, step, self._facts))
        self.steps.append(step)
        return len(self.steps)

    def fact(self, step: int) -> Any:
        """What a step proved."""
        return self._facts[step - 1]

    def bounds(self, members: int, fit: int, asked: Iterable[int], success: Fraction) -> list[int]:
        """Take the steps to the queries of each kind that is asked, and to the examples, needed."""
        queries = [self.step("queries", members, fit, ask, success=success) for ask in asked]
        return [*queries, self.step("information", members, fit, success=success)]

    def certificate(self, *wanted: int) -> Certificate:
        """Claim all that the wanted steps prove, in their order."""
        claims = [
            proved(name, kernel.written(value), at, says, step)
            for step in wanted
            for name, (value, at, says) in self.fact(step).claims.items()
        ]
        return Certificate(
            spec=self.about["spec"],
            claims=tuple(claims),
            scope=self._posed.conditions,
            evidence={"about": self.about, "problem": self.problem, "steps": self.steps},
        )


def _written(value: Any) -> Any:
    """Numbers as the file has them; what is no number, and small integers of JSON, as they are."""
    if isinstance(value, list):
        return [_written(one) for one in value]
    if isinstance(value, Fraction):
        return kernel.written(value)
    if hasattr(value, "p"):
        return kernel.written(python_fraction(value))
    return value
