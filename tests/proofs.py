"""Certificates that were tampered with: they have to be refused."""

import copy
import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hardness.bounds import certify, checker
from hardness.bounds.certificate import Certificate
from hardness.bounds.check import check
from hardness.bounds.checker.certificate import claim_as_written
from hardness.bounds.learners import Kernel, LowDegree, NoisyDescent
from hardness.bounds.members import Members
from instances import parse
from instances.errors import Refuted

Data = dict[str, Any]


def named(spec: str) -> Certificate:
    """What is claimed of every named learner."""
    unit = Fraction(1)
    asked = (
        Kernel(features=3),
        NoisyDescent(steps=50, clip=unit / 2, std=2 * unit),
        LowDegree(degree=6, examples=9),
    )
    return certify(parse(spec), about=asked)


def plain(made: Certificate) -> Data:
    """A certificate as its file has it."""
    return json.loads(made.to_json())


def claimed(data: Data, quantity: str) -> list[Any]:
    """The claim of a quantity: its name, parameters and value."""
    return next(claim for claim in data["claims"] if claim[0] == quantity)


def proves(data: Data) -> Data:
    """Claim what follows of the problem, terms and witness as they now stand, as a forger would."""
    proved = checker.prove(data["problem"], data["terms"], data["witness"])
    return {
        **data,
        "claims": [claim_as_written(c.quantity, c.parameters, c.value) for c in proved.claims],
    }


def refused(data: Data, change: Callable[[Data], object], words: str = "refused") -> None:
    """What was changed is refused, in one line with these words."""
    forged = copy.deepcopy(data)
    change(forged)
    assert forged != data
    with pytest.raises(Refuted, match=words) as caught:
        check(forged)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 500


def of_functions(evaluate: Any, names: Any, n: int, bound: float = 1.0) -> Members:
    """Functions of points with n signs: evaluate gives the values of all, (members, points)."""
    return Members(
        kind="functions", path="x", sha256="0" * 64, d=n, n=n, outputs=1, bound=bound,
        names=tuple(map(str, names)), evaluate_member=lambda i, x: evaluate(x)[i],
    )  # fmt: skip


def of_tables(table: Any) -> Members:
    """The functions whose values at point i, bit j set where coordinate j is -1, are given."""
    rows = np.array(table)
    n = rows.shape[1].bit_length() - 1
    names = (f"f{i}" for i in range(len(rows)))
    return of_functions(lambda x: rows[:, (x < 0) @ (1 << np.arange(n))], names, n, 9.0)
