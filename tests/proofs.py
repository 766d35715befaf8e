"""Certificates of format 2 that were tampered with: sealed again, they still have to be refused."""

import copy
import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hardness.check import check, kernel
from hardness.lower.learners import (
    Kernel,
    LowDegree,
    NoisyDescent,
    certify_named,
)
from hardness.lower.members import Members
from hardness.lower.record import Certificate
from instances import parse
from instances.errors import Refuted
from tests.conftest import sealed

Data = dict[str, Any]


def named(spec: str) -> Certificate:
    """What is claimed of every named learner."""
    one = Fraction(1)
    asked = (
        Kernel(features=3),
        NoisyDescent(steps=50, clip=one / 2, std=2 * one),
        LowDegree(degree=6, examples=9),
    )
    return certify_named(parse(spec), asked)


def plain(made: Certificate) -> Data:
    """A certificate as its file has it."""
    return json.loads(json.dumps(made.to_dict()))


def step(data: Data, rule: str) -> Data:
    """The first step of a rule."""
    return next(one for one in data["steps"] if one["rule"] == rule)


def claimed(data: Data, quantity: str) -> Data:
    """The claim of a quantity."""
    return next(one for one in data["goal"]["claims"] if one["quantity"] == quantity)


def proves(data: Data) -> Data:
    """Claim what the steps prove of the problem as they now stand, as a forger would."""
    problem = kernel.read_problem(data["problem"])
    facts = kernel.prove(problem, data["steps"])
    data["goal"]["conditions"] = problem.conditions
    for claim in data["goal"]["claims"]:
        value, terms, text = facts[claim["step"] - 1].claims[claim["quantity"]]
        claim.update(value=kernel.written(value), terms=terms, says=text)
    return data


def refused(data: Data, change: Callable[[Data], object], words: str = "refused") -> None:
    """What was changed is refused, in one line with these words."""
    forged = copy.deepcopy(data)
    change(forged)
    assert forged != data
    with pytest.raises(Refuted, match=words) as found:
        check(sealed(forged))
    assert str(found.value).isprintable()
    assert len(str(found.value)) < 500


def of_tables(table: Any, names: Any = None) -> Members:
    """The functions whose values at point i, bit j set where coordinate j is -1, are given."""
    rows = np.array(table)
    n = rows.shape[1].bit_length() - 1
    return Members(
        kind="functions", path="x", sha256="0" * 64, d=n, n=n, outputs=1, bound=9.0,
        names=tuple(names or (f"f{i}" for i in range(len(rows)))),
        one=lambda i, x: rows[i][(x < 0) @ (1 << np.arange(n))],
    )  # fmt: skip
