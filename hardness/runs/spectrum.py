"""The spectrum of an instance's member, and beside it that of what a learner made of it."""

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

Target = tuple[list[Spectrum], list[Spectrum], int, int]  # and what is known, exponent, leap
# Of a hypothesis: its spectra, and draws, beyond and surplus of its Factor.
Measured = tuple[list[Spectrum], int | None, float, float]


@dataclass(frozen=True, kw_only=True, eq=False)
class Attempt:
    """What a learner's hypothesis has of a member; draws, beyond, surplus: those of its Factor."""

    run: Run
    spectrum: Spectrum
    learned: Learned
    draws: int | None
    beyond: float
    surplus: float


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Spectra(Result):
    """The spectrum of a member, what everyone knows of it, and perhaps a learner's attempt.

    exponent: the information exponent. known: what who knows the family alone has of
    the member. top: how many of the largest coefficients are written. rows: whether it is of the
    first row of a layer, a vector, whose coefficients are norms.
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
        """Make a pandas DataFrame of the weights, one row a degree."""
        return frame(self._rows())

    def to_dict(self) -> dict[str, Any]:
        """Write what the terminal shows and the influences; the field names are a contract."""
        target = {
            **_described(self.target, self.top),
            "information_exponent": self.exponent,
            "leap": self.leap,
        }
        out: dict[str, Any] = {
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
            out["hypothesis"] = {
                **_described(self.attempt.spectrum, self.top),
                "draws": self.attempt.draws,
                "beyond": self.attempt.beyond,
                "surplus": self.attempt.surplus,
            }
            out["learned"] = _compared(self.attempt.learned)
            out["run"] = self.attempt.run.to_dict()
        return out


def spectra(
    source: Instance | Folder,
    learner: Learner | None = None,
    budget: Budget | None = None,
    seed: int = 0,
    draws: int | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Spectra:
    """Find the spectrum of an instance's member, and of a learner's hypothesis beside it.

    The learner runs as in `run`. draws and progress: see `factor`. What cannot be done is refused
    before the learner starts; raises ToolkitError.

    >>> from hardness.runs.registry import parse_learner
    >>> from instances import parse
    >>> instance = parse("profile:g=majority,d=8,m=3").instance(0)
    >>> found = spectra(instance, parse_learner("lowdegree:degree=1,oversample=99"))
    >>> found.target.weights[:4].tolist(), bool(found.attempt.learned.part[1] > 0.9)
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
        seen = predict
        one = factor(seen, family.d, draws, seed, progress)
        return [spectrum(one.table)], one.draws, one.beyond, one.surplus

    attempt = None
    if learner:
        budget = budget or Budget()
        hypothesis, usage = learn_once(learner, source, budget, seed)
        try:
            found, taken, beyond, surplus = measured(hypothesis.predict)
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
            spectrum=together(found),
            learned=learned(found, target),
            draws=taken,
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
    """The first row of a layer's outputs: all rows are alike."""
    require(
        family.tokens == "boolean",
        f"tokens={family.tokens}: a Walsh spectrum is of tokens of -1 and +1",
    )
    found = row_spectra(lambda x: family.mean(secret, x), family.k, family.d)
    whole = together(found)
    known = row_spectra(family.known, family.k, family.d)
    return found, known, whole.information_exponent or 0, leap(whole.sets)


def _factor(stated: Family, secret: Secret) -> Target:
    """The factor of a label that is a code."""
    family = require_coded(stated)
    require_table(family.d)
    _ = family.factor or family.refuse("factor")
    target, exponent, leaps = _target(family, secret)
    known = spectrum(family.expected(family.table_points(0, 1 << family.d - 1)))
    return [target], [known], exponent, leaps


def _target(family: Coded, secret: Secret) -> tuple[Spectrum, int, int]:
    """A member's spectrum, its information exponent and its leap."""
    if isinstance(family, Symmetric):
        exponent = least_degree(weights(family.fourier))
        return member_spectrum(family, secret), exponent, exponent
    if forms := family.linear_forms:
        found = residue_spectrum(forms, secret)
    else:
        found = spectrum(family.fade(family.factor_table(secret)))
    return found, found.information_exponent or 0, leap(found.sets)


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
    """JSON has no nan."""
    return [None if np.isnan(v) else float(v) for v in values]
