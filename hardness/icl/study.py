"""What a study of in-context regression gives back: a record, whose fields are its results.json."""

from collections.abc import Iterable
from typing import Annotated, Any

import msgspec

from hardness.icl.prompts import Prompts
from instances.result import Result, TableRow, flat

Count = Annotated[int, msgspec.Meta(ge=1)]
Matrix = list[list[float]]


class Study(Result, msgspec.Struct, frozen=True, kw_only=True, dict=True, tag_field="kind"):
    """A study of prompts of n points in dimension d; its kind, `icl optimum`, is its command."""

    d: Count
    n: Count
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """Write the fields as JSON."""
        return {"format": 1, **msgspec.to_builtins(self)}

    def _listed(self) -> Iterable[dict[str, Any]]:
        """What the study is of, where that is several things."""
        return ()

    def _rows(self) -> list[TableRow]:
        every = [flat(msgspec.to_builtins(one)) for one in self._listed()] or [flat(self.to_dict())]
        names = dict.fromkeys(name for one in every for name in one)
        return [{name: one.get(name) for name in names} for one in every]


class OfLaw(Study, frozen=True, kw_only=True):
    """A study of a law of prompts; power: the loss of predicting 0."""

    noise: float
    sigma: Matrix
    task: Matrix
    power: float


def of_law(law: Prompts) -> dict[str, Any]:
    """Give what `OfLaw` says of a law."""
    found = {"d": law.d, "n": law.n, "noise": law.noise, "power": law.power}
    return {**found, "sigma": law.sigma.tolist(), "task": law.task.tolist()}
