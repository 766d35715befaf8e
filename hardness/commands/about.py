"""What `certify --about` takes: a learner by its numbers."""

import re
from collections.abc import Callable
from functools import wraps
from types import SimpleNamespace
from typing import Any

import click

from hardness.commands.options import rational


class Whole(click.ParamType):
    """An integer of any size, plain or as 1e20."""

    name = "integer"

    def convert(self, value: Any, parameter: Any, context: Any) -> int:
        """Read it exactly."""
        if isinstance(value, int):
            return value
        digits, _, zeros = str(value).strip().partition("e")
        if not re.fullmatch("[0-9]{1,60}(e[0-9]{1,2})?", str(value).strip(), re.ASCII):
            self.fail(f"{value!r} given: an integer such as 200 or 1e20 is needed")
        return int(digits) * 10 ** int(zeros or 0)


WHOLE = Whole()
ABOUT = ("kernel", "gd", "low-degree", "all")
_NUMBERS = {
    "features": "kernel: functions or inputs.",
    "parameters": "gd: that are rounded, with --grid.",
    "batch": "gd: fresh examples a step, with --state-bits.",
    "state_bits": "gd: all that a step hands to the next.",
    "degree": "low-degree: of polynomials in z and labels.  [default with all: 2(m+1)]",
    "examples": "low-degree: of the layer.",
    "sample_degree": "low-degree: different examples in a monomial.  [default: any number]",
}
_RATIONALS = {
    "clip": "gd: l2 norm that an example's gradient has at most.  [default: 1]",
    "noise_std": "gd: of the normal noise on each coordinate.  [default with all: clip/100]",
    "within": "gd: l2 distance within which any answer may lie.",
    "grid": "gd: spacing to which coordinates are rounded with dither.",
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
        made = click.option(option, name, callback=rational, help=text)(made)
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


def asked_about(about: SimpleNamespace, steps: int | None, family: Any) -> list[Any]:
    """Turn options into what is asked; refuse those that do not apply."""
    from hardness.lower.named import Kernel

    given = {name for name, value in vars(about).items() if value is not None} - {"name"}
    allowed = {
        "kernel": {"features"},
    }
    names = list(allowed) if about.name == "all" else [about.name]
    wrong = sorted(given - set().union(*(allowed[name] for name in names)))
    if wrong:
        option = "--" + wrong[0].replace("_", "-")
        raise click.UsageError(f"{option} does not apply to --about {about.name}")
    made: dict[str, Callable[[], Any]] = {"kernel": lambda: Kernel(features=about.features)}
    return [made[name]() for name in names]
