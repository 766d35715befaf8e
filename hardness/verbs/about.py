"""What `certify` says about named learners: a learner by its numbers."""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, TypedDict

from hardness.verbs.ask import Ask, called, rational, whole
from instances.errors import UsageError

_GROUP = "Learners that --about is about"


def _whole(help: str, **more: Any) -> Ask:
    return whole(help, 0, group=_GROUP, **more)


def _rational(help: str, **more: Any) -> Ask:
    return rational(help, group=_GROUP, **more)


class About(TypedDict, total=False):
    """The numbers of learners about which something is certified."""

    features: Annotated[int | None, _whole("Number of functions or inputs: kernel.")]
    degree: Annotated[
        int | None,
        _whole(
            "Degree: low-degree, of polynomials in z and labels.",
            default="with all: 2(m+1) or less",
        ),
    ]
    examples: Annotated[
        int | None,
        _whole("Number of labelled examples: low-degree, lwe.", default="any number"),
    ]
    error_bound: Annotated[
        int | None, _whole("Largest error in size: lwe, which needs it.", default="none")
    ]
    sample_degree: Annotated[
        int | None,
        _whole("Examples in a monomial: low-degree, different ones.", default="any number"),
    ]
    clip: Annotated[
        "Fraction | None",
        _rational("Norm at which gradients are clipped: gd, in l2, of each example.", default="1"),
    ]
    noise_std: Annotated[
        "Fraction | None",
        _rational(
            "Standard deviation of normal noise: gd, on each coordinate.",
            default="with all: clip/100",
        ),
    ]


_APPLY = {
    "kernel": {"features"},
    "gd": {"clip", "noise_std"},
    "low-degree": {"degree", "examples", "sample_degree"},
    "lwe": {"examples", "error_bound"},
}
ABOUT = (*_APPLY, "all")


def asked_about(name: str, said: Mapping[str, Any], steps: int | None, scheme: Any) -> list[Any]:
    """Turn options into what is asked; refuse those that do not apply.

    scheme: of the family, from which `all` takes the degree where none is given; None without.
    """
    given = {one: value for one, value in said.items() if value is not None}
    names = ["kernel", "gd", "low-degree"] if name == "all" else [name]
    wrong = sorted(set(given) - set().union(*(_APPLY[one] for one in names)))
    if steps is not None and "gd" not in names:
        wrong = ["steps"]
    if wrong:
        raise UsageError(f"{called(wrong[0])} does not apply to {called('about')} {name}")
    if name == "all":
        given.setdefault("noise_std", given.get("clip", Fraction(1)) / 100)
        given.setdefault("degree", default_degree(scheme, given.get("examples")))
    made = {"kernel": _kernel, "gd": _descent, "low-degree": _low_degree, "lwe": _chain}
    return [made[one](given, steps) for one in names]


def default_degree(scheme: Any, examples: int | None) -> int:
    """Take 2(m+1), or less: what so many examples have, what a profile of many parts is quick at.

    At twice one more than its least level a profile has products of two examples.

    >>> from instances import parse
    >>> specs = ["parity:d=300,m=60", "profile:g=majority,d=300,m=60"]
    >>> [default_degree(parse(spec), None) for spec in specs]
    [122, 50]
    """
    if scheme is None:
        return 1  # there is no claim about it
    first = next(level for level, part in enumerate(scheme.fourier) if level and part)
    most = examples * (scheme.m + 1) if examples else math.inf
    return int(min(2 * (scheme.m + 1), max(50, 2 * (first + 1)), max(most, 1)))


def _kernel(about: dict[str, Any], steps: int | None) -> Any:
    from hardness.bounds.learners import Kernel

    return Kernel(features=about.get("features"))


def _descent(about: dict[str, Any], steps: int | None) -> Any:
    from hardness.bounds.certificate import NoClaim
    from hardness.bounds.learners import NoisyDescent

    if "noise_std" not in about:
        raise NoClaim(
            "no claim: one exact mean gradient can name the member, and gradient descent on small "
            "batches with fine precision can simulate any PAC learner [AKMSS21]; give --noise-std"
        )
    return NoisyDescent(steps=steps, clip=about.get("clip", Fraction(1)), std=about["noise_std"])


def _low_degree(about: dict[str, Any], steps: int | None) -> Any:
    from hardness.bounds.learners import LowDegree

    if "degree" not in about:
        raise UsageError(
            "--about low-degree needs --degree: without its degree a ratio says nothing"
        )
    return LowDegree(
        degree=about["degree"],
        examples=about.get("examples"),
        sample_degree=about.get("sample_degree"),
    )


def _chain(about: dict[str, Any], steps: int | None) -> Any:
    from hardness.bounds.learners import Chain

    if missing := [called(name) for name in ("examples", "error_bound") if name not in about]:
        raise UsageError(f"--about lwe needs {' and '.join(missing)}: the loss depends on them")
    return Chain(examples=about["examples"], bound=about["error_bound"])
