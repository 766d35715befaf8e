"""Walsh spectra of the member of an instance and of a learner's hypothesis."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hardness.bounds.leap import leap, least_degree, weights
from hardness.learners import Failed, Learner, learner_spec
from hardness.learners.learner import Predict
from hardness.learners.spectra import (
    Learned,
    Spectrum,
    factor,
    learned,
    member_spectrum,
    require_draws,
    require_table,
    residue_spectrum,
    row_spectra,
    spectrum,
    together,
)
from hardness.oracles import Budget
from hardness.runs.run import Run, answered, judged, learn_once
from instances.coded import Coded, require_coded
from instances.dense import Dense
from instances.errors import ToolkitError
from instances.family import Family, Instance, Secret, require
from instances.files import Folder
from instances.result import Result, TableRow, frame
from instances.sets import Symmetric

if TYPE_CHECKING:
    from pandas import DataFrame

# Of a member: its spectra, those of its known part, its information exponent and its leap.
Target = tuple[list[Spectrum], list[Spectrum], int, int]
# Of a hypothesis: its spectra, then draws, beyond and surplus of its `Factor`.
Measured = tuple[list[Spectrum], int | None, float, float]


@dataclass(frozen=True, kw_only=True, eq=False)
class Attempt:
    """The run of a learner and the spectrum of its hypothesis.

    learned: how much of the member it has, degree by degree. draws, beyond, surplus: as in
    `Factor`.
    """

    run: Run
    spectrum: Spectrum
    learned: Learned
    draws: int | None
    beyond: float
    surplus: float


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Spectra(Result):
    """The spectrum of a member, of its known part, and perhaps of a learner's hypothesis.

    exponent: the information exponent. known: how much of the member the baseline has. top: how
    many of the largest coefficients are listed. rows: whether the spectrum is of the first row of a
    layer, a vector, whose coefficients are norms.
    """

    spec: str
    seed: int
    exponent: int
    leap: int
    target: Spectrum
    known: Learned
    attempt: Attempt | None = None
    top: int = 5
    rows: bool = False

    def _rows(self) -> list[TableRow]:
        columns = {"target": self.target.weights.tolist(), "known": _plain(self.known.part)}
        if self.attempt:
            columns["hypothesis"] = self.attempt.spectrum.weights.tolist()
            compared = _compared(self.attempt.learned)
            columns |= {name: compared[name] for name in ("part", "residual")}
        return [
            {"degree": degree, **dict(zip(columns, row, strict=True))}
            for degree, row in enumerate(zip(*columns.values(), strict=True))
        ]

    def to_frame(self) -> "DataFrame":
        """Make a pandas DataFrame of the weights, with a row for each degree."""
        return frame(self._rows())

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON, with the influences; the key names do not change."""
        target = {
            **_described(self.target, self.top),
            "information_exponent": self.exponent,
            "leap": self.leap,
        }
        data: dict[str, Any] = {
            "spec": self.spec,
            "seed": self.seed,
            "n": self.target.n,
            "target": target,
            "known": _compared(self.known),
            "hypothesis": None,
            "learned": None,
            "run": None,
        }
        if self.attempt:
            data["hypothesis"] = {
                **_described(self.attempt.spectrum, self.top),
                "draws": self.attempt.draws,
                "beyond": self.attempt.beyond,
                "surplus": self.attempt.surplus,
            }
            data["learned"] = _compared(self.attempt.learned)
            data["run"] = self.attempt.run.to_dict()
        return data


def spectra(
    source: Instance | Folder,
    learner: Learner | None = None,
    budget: Budget | None = None,
    seed: int = 0,
    draws: int | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Spectra:
    """Compute the spectrum of the member of an instance, and that of a learner's hypothesis.

    The learner runs as in `run`. draws, progress: as in `factor`. Raises ToolkitError, before the
    learner starts, if the member has no spectrum.

    >>> from hardness.runs.registry import parse_learner
    >>> from instances import parse
    >>> instance = parse("profile:g=majority,d=8,m=3").instance(0)
    >>> both = spectra(instance, parse_learner("lowdegree:degree=1,oversample=99"))
    >>> both.target.weights[:4].tolist(), bool(both.attempt.learned.part[1] > 0.9)
    ([0.0, 0.75, 0.0, 0.25], True)
    """
    family = source.family
    real = family if isinstance(family, Dense) else None
    if not real:
        require_coded(family)
    instance = source.instance if isinstance(source, Folder) else source
    if instance is None:
        raise ToolkitError(
            "the folder has no secret part, and a spectrum is that of the member: run it where "
            "secret.json is"
        )
    require_draws(draws)
    secret = instance.hidden.secret
    target, base, exponent, leaps = _rows(real, secret) if real else _factor(family, secret)

    def measured(predict: Predict) -> Measured:
        if real:
            return row_spectra(predict, real.k, real.d), None, 0.0, 0.0
        estimate = factor(predict, family.d, draws, seed, progress)
        return [spectrum(estimate.table)], estimate.draws, estimate.beyond, estimate.surplus

    attempt = None
    if learner:
        budget = budget or Budget()
        hypothesis, usage = learn_once(learner, source, budget, seed)
        try:
            rows, drawn, beyond, surplus = measured(hypothesis.predict)
        except Failed as failed:
            hypothesis.close()
            raise ToolkitError(
                f"{learner_spec(learner)} has no spectrum, {failed.outcome.value}: "
                f"{failed.outcome.advice}"
            ) from failed
        attempt = Attempt(
            run=judged(
                learner, family, seed, budget, hypothesis, usage, instance, answered(learner)
            ),
            spectrum=together(rows),
            learned=learned(rows, target),
            draws=drawn,
            beyond=beyond,
            surplus=surplus,
        )
    return Spectra(
        spec=family.spec,
        seed=seed,
        exponent=exponent,
        leap=leaps,
        target=together(target),
        known=learned(base, target),
        attempt=attempt,
        rows=real is not None,
    )


def _rows(family: Dense, secret: Secret) -> Target:
    """Compute the spectra of the first row of a layer's outputs; all rows have the same."""
    require(
        family.tokens == "boolean",
        f"tokens={family.tokens}: a Walsh spectrum is of tokens of -1 and +1",
    )
    target = row_spectra(lambda x: family.mean(secret, x), family.k, family.d)
    joint = together(target)
    known = row_spectra(family.known, family.k, family.d)
    return target, known, joint.information_exponent or 0, leap(joint.sets)


def _factor(stated: Family, secret: Secret) -> Target:
    """Compute the spectrum of the factor of a label that is a code."""
    family = require_coded(stated)
    require_table(family.d)
    _ = family.factor or family.refuse("factor")
    target, exponent, leaps = _target(family, secret)
    known = spectrum(family.expected(family.table_points(0, 1 << family.d - 1)))
    return [target], [known], exponent, leaps


def _target(family: Coded, secret: Secret) -> tuple[Spectrum, int, int]:
    """Compute the spectrum of a member, its information exponent and its leap."""
    if isinstance(family, Symmetric):
        exponent = least_degree(weights(family.fourier))
        return member_spectrum(family, secret), exponent, exponent
    if forms := family.linear_forms:
        target = residue_spectrum(forms, secret)
    else:
        target = spectrum(family.fade(family.factor_table(secret)))
    return target, target.information_exponent or 0, leap(target.sets)


def _described(spectrum: Spectrum, top: int) -> dict[str, Any]:
    degrees = spectrum.degrees
    return {
        "weight": spectrum.norm,
        "weights": spectrum.weights.tolist(),
        "degrees": degrees
        and {"least": degrees.least, "highest": degrees.highest, "mean": degrees.mean},
        "influences": spectrum.influences.tolist(),
        "top": [{"subset": list(s), "value": value} for s, value in spectrum.top(top)],
    }


def _compared(learned: Learned) -> dict[str, Any]:
    return {
        "correlation": learned.correlation,
        "distance": learned.distance,
        "part": _plain(learned.part),
        "residual": learned.residual.tolist(),
    }


def _plain(values: NDArray[np.float64]) -> list[float | None]:
    """Replace NaN by None, since JSON has no NaN."""
    return [None if np.isnan(v) else float(v) for v in values]
