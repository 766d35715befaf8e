"""What `certify --about` takes: a learner by its numbers."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import wraps
from types import SimpleNamespace
from typing import Any

import click

from hardness.commands.options import EXAMPLES, RATIONAL, WHOLE

ABOUT = ("kernel", "gd", "low-degree", "all")
_NUMBERS = {
    "features": "Number of functions or inputs: kernel.",
    "parameters": "Number of parameters: gd, that are rounded, with --grid.",
    "batch": "Examples a step: gd, fresh ones, with --state-bits.",
    "state_bits": "Bits that a step hands to the next: gd, all of them.",
    "degree": "Degree: low-degree, of polynomials in z and labels.  [default with all: 2(m+1) or "
    "less]",
    "examples": f"{EXAMPLES}: low-degree.  [default: any number]",
    "sample_degree": "Examples in a monomial: low-degree, different ones.  [default: any number]",
}
_RATIONALS = {
    "clip": "Norm at which gradients are clipped: gd, in l2, of each example.  [default: 1]",
    "noise_std": "Standard deviation of normal noise: gd, on each coordinate.  [default with all: "
    "clip/100]",
    "within": "Distance within which any answer may lie: gd, in l2.",
    "grid": "Spacing to which coordinates are rounded: gd, with dither.",
}


_REGIMES = ("noise_std", "within", "grid", "batch")
_APPLY = {
    "kernel": {"features"},
    "gd": {"clip", "parameters", "state_bits", *_REGIMES},
    "low-degree": {"degree", "examples", "sample_degree"},
}


def about_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command --about and what it takes, as one argument `about`."""

    @wraps(command)
    def wrapped(about: str | None, **given: Any) -> Any:
        names = [*_NUMBERS, *_RATIONALS]
        numbers = {name: given.pop(name) for name in names}
        return command(about=SimpleNamespace(name=about, **numbers), **given)

    made: Any = wrapped
    for name, text in reversed(_RATIONALS.items()):
        option = "--" + name.replace("_", "-")
        made = click.option(option, name, type=RATIONAL, help=text)(made)
    for name, text in reversed(_NUMBERS.items()):
        made = click.option("--" + name.replace("_", "-"), name, type=WHOLE, help=text)(made)
    return click.option(
        "--about", type=click.Choice(ABOUT), help="Certify what is said about named learners."
    )(made)


def refuse_unasked(about: SimpleNamespace) -> None:
    """Refuse numbers of a learner where no learner is asked about."""
    for name in (*_NUMBERS, *_RATIONALS):
        if getattr(about, name) is not None:
            raise click.UsageError(f"--{name.replace('_', '-')} needs --about")


def asked_about(about: SimpleNamespace, steps: int | None, scheme: Any) -> list[Any]:
    """Turn options into what is asked; refuse those that do not apply.

    scheme: of the family, from which `all` takes the degree where none is given; None without.
    """
    given = {name for name, value in vars(about).items() if value is not None} - {"name"}
    names = list(_APPLY) if about.name == "all" else [about.name]
    wrong = sorted(given - set().union(*(_APPLY[name] for name in names)))
    if steps is not None and "gd" not in names:
        wrong = ["steps"]
    if wrong:
        option = "--" + wrong[0].replace("_", "-")
        raise click.UsageError(f"{option} does not apply to --about {about.name}")
    if about.name == "all":
        if not any(getattr(about, name) is not None for name in _REGIMES):
            about.noise_std = (about.clip if about.clip is not None else 1) / Fraction(100)
        if about.degree is None:
            about.degree = default_degree(scheme, about.examples)
    made = {"kernel": _kernel, "gd": _descent, "low-degree": _low_degree}
    return [made[name](about, steps) for name in names]


def default_degree(scheme: Any, examples: int | None) -> int:
    """Take 2(m+1), or less: what so many examples have, what a profile of many parts is quick at.

    At twice one more than its least level a profile has products of two examples.

    >>> from instances import parse
    >>> specs = ["parity:d=300,m=60", "profile:g=majority,d=300,m=60"]
    >>> [default_degree(parse(spec).scheme, None) for spec in specs]
    [122, 50]
    """
    if scheme is None:
        return 1  # there is no claim about it
    first = next(level for level, part in enumerate(scheme.fourier) if level and part)
    most = examples * (scheme.m + 1) if examples else math.inf
    return int(min(2 * (scheme.m + 1), max(50, 2 * (first + 1)), max(most, 1)))


def _kernel(about: SimpleNamespace, steps: int | None) -> Any:
    from hardness.lower.learners import Kernel

    return Kernel(features=about.features)


def _descent(about: SimpleNamespace, steps: int | None) -> Any:
    from hardness.lower.learners import (
        BatchDescent,
        NoisyDescent,
        RoundedDescent,
        WorstDescent,
    )
    from hardness.lower.record import NoClaim

    chosen = [name for name in _REGIMES if getattr(about, name) is not None]
    if not chosen:
        raise NoClaim(
            "no claim: one exact mean gradient can name the member, and gradient descent on small "
            "batches with fine precision can simulate any PAC learner [AKMSS21]; give --noise-std, "
            "--within, --grid with --parameters, or --batch with --state-bits"
        )
    if len(chosen) > 1:
        options = " and ".join("--" + name.replace("_", "-") for name in chosen)
        raise click.UsageError(f"{options} given: one of them at a time")
    regime = chosen[0]
    partner = {"grid": "parameters", "batch": "state_bits"}.get(regime)
    for name in ("parameters", "state_bits"):
        if name != partner and getattr(about, name) is not None:
            option = "--" + name.replace("_", "-")
            raise click.UsageError(f"{option} does not apply with --{regime.replace('_', '-')}")
    if partner and getattr(about, partner) is None:
        raise NoClaim(
            f"no claim: --{regime} is given without --{partner.replace('_', '-')}, and the bound "
            "depends on it; with a state of any size there is none"
        )
    clip = about.clip if about.clip is not None else Fraction(1)
    if regime == "batch":
        if about.clip is not None:
            raise click.UsageError("--clip does not apply with --batch: any update is covered")
        return BatchDescent(steps=steps, batch=about.batch, state_bits=about.state_bits)
    if regime == "grid":
        return RoundedDescent(steps=steps, clip=clip, grid=about.grid, parameters=about.parameters)
    if regime == "within":
        return WorstDescent(steps=steps, clip=clip, within=about.within)
    return NoisyDescent(steps=steps, clip=clip, std=about.noise_std)


def _low_degree(about: SimpleNamespace, steps: int | None) -> Any:
    from hardness.lower.learners import LowDegree

    if about.degree is None:
        raise click.UsageError(
            "--about low-degree needs --degree: without its degree a ratio says nothing"
        )
    return LowDegree(
        degree=about.degree, examples=about.examples, sample_degree=about.sample_degree
    )
