"""Spectra in words, for the terminal."""

import numpy as np

from hardness.report.text import table
from hardness.runs import Spectra
from hardness.runs.names import brief_spec, short
from hardness.upper.spectra import Spectrum

_ROUNDING = 1e-12


def spectra_words(found: Spectra) -> str:
    """Write the weights by degree, the part of each that was learned, and large coefficients."""
    target, attempt = found.target, found.attempt
    lines = [
        f"{brief_spec(found.spec)}, seed {found.seed}",
        f"target      {_shape(target)}",
        f"            information exponent {found.exponent}, leap {found.leap}",
    ]
    header = ["degree", "target", "known"]
    columns = [target.weights, found.known.part]
    shown = target.present
    if attempt:
        how = f"{attempt.draws} draws of X_1 for each z" if attempt.draws else "every X_1"
        lines += [
            f"hypothesis  {_shape(attempt.spectrum)}",
            f"            of {short(attempt.run.learner)}: {attempt.run.outcome.value}",
            f"            averaged over {how}; variance over X_1 {_value(attempt.beyond)}",
        ]
        if attempt.surplus > _ROUNDING:
            lines += [f"            the draws add about {_value(attempt.surplus)} to its weight"]
        lines += [
            f"together    E[q f] = {_value(attempt.learned.correlation)}, "
            f"E[(q - f)^2] = {_value(attempt.learned.distance)}"
        ]
        header += ["hypothesis", "learned", "residual"]
        columns += [attempt.spectrum.weights, attempt.learned.part, attempt.learned.residual]
        shown = shown | attempt.spectrum.present
    rows = [
        [str(k), *(_value(float(column[k])) for column in columns)]
        for k in range(int(np.flatnonzero(shown).max(initial=0)) + 1)
    ]
    lines += ["", table(header, rows), "", "largest of the target", _top(target, found.top)]
    if attempt:
        lines += ["", "largest of the hypothesis", _top(attempt.spectrum, found.top)]
    return "\n".join(line.rstrip() for line in lines)


def _shape(found: Spectrum) -> str:
    """The weight and the degrees of a function, in words."""
    degrees = found.degrees
    if degrees is None:
        return "0"
    return (
        f"weight {_value(found.norm)} on degrees {degrees.least} .. {degrees.highest}, "
        f"mean degree {degrees.mean:.3g}"
    )


def _top(found: Spectrum, count: int) -> str:
    rows = [
        ["{" + ", ".join(map(str, subset)) + "}", f"{value:.4f}"]
        for subset, value in found.top(count)
    ]
    return table(["set", "coefficient"], rows) if rows else "none"


def _value(value: float) -> str:
    if np.isnan(value):
        return "-"
    if abs(value) < _ROUNDING:
        return "0"
    return f"{value:.4f}" if abs(value) >= 1e-4 else f"{value:.1e}"
