"""Lower bounds: certified, checked again, and verified by sampling."""

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.api import progress, sources
from hardness.api.about import named_learners
from instances.arguments import (
    exact,
    integral,
    located,
    number_between,
    one_of,
    switch,
    text_argument,
)
from instances.errors import DamagedFile, Refuted, UsageError, unknown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction
    from os import PathLike

    from hardness.api.sources import Source
    from hardness.bounds import BoundParameters, Certificate, Verification
    from hardness.bounds.bound import Bound
    from hardness.bounds.check import Checked
    from hardness.bounds.members import Members
    from instances import Family, Folder

    Number = int | float | str | Fraction

ABOUT = ("kernel", "gd", "low-degree", "lwe", "all")  # values of `about`: kinds of learners


def certify(
    source: "Source",
    *,
    tau: "Number" = "0.1",
    vstat: int = 100,
    risk: "Number" = "1/4",
    success: "Number" = "2/3",
    gamma: "Number" = "0.05",
    members: int | None = None,
    centred: bool = False,
    steps: int | None = None,
    about: str | None = None,
    features: int | None = None,
    degree: int | None = None,
    examples: int | None = None,
    error_bound: int | None = None,
    sample_degree: int | None = None,
    clip: "Number | None" = None,
    noise_std: "Number | None" = None,
) -> "Certificate":
    """Certify lower bounds of a family.

    Parameters
    ----------
    source : str, Family or class of functions
        A SPEC, a folder of `hardness generate`, or functions of a Python file ("path.py:Name").
    tau : number
        Tolerance of the oracle STAT(tau), 0 < tau <= 1.
    vstat : int
        Parameter t of the oracle VSTAT(t), at least 1.
    risk : number
        The relative risk to reach. 0 is the member, 1 the baseline that knows only the family.
    success : number
        The probability with which it is to be reached.
    gamma : number
        The average correlation that SDA is about.
    members : int, optional
        Of listed functions: how many count, those whose names have the least SHA-256.
    centred : bool
        Of listed functions: subtract their mean first.
    about : {"kernel", "gd", "low-degree", "lwe", "all"}, optional
        Certify named learners in place of queries: kernel methods, noisy gradient descent,
        low-degree tests, or the solver of LWE that a learner gives.
    features : int, optional
        Of "kernel": the number of features.
    steps : int, optional
        Of "gd": the number of steps.
    clip : number, optional
        Of "gd": the norm to which gradients are clipped.
    noise_std : number, optional
        Of "gd": the standard deviation of the noise that is added to a gradient.
    degree : int, optional
        Of "low-degree": the degree of the tests.
    examples : int, optional
        Of "low-degree" and "lwe": the number of examples.
    sample_degree : int, optional
        Of "low-degree": the most examples that a monomial may be of.
    error_bound : int, optional
        Of "lwe": the largest absolute error of a sample.

    Returns
    -------
    Certificate
        Problem, terms, witness and claims; `save` writes it, `check` computes it again.

    Raises
    ------
    NoClaim
        If nothing can be claimed.
    UsageError
        For a value out of range, or an option that does not apply.

    Examples
    --------
    >>> certify("parity:d=1000,m=21").integer("information-floor")
    143
    """
    from hardness.bounds import BoundParameters

    terms = _terms(vstat, tau=tau, risk=risk, success=success, gamma=gamma)
    title = (sources.functions(source) or str(source))[:80]
    members = None if members is None else integral("members", members, 1)
    steps = None if steps is None else integral("steps", steps, 0)
    switch("centred", centred)
    numbers: dict[str, Any] = {
        "features": features,
        "degree": degree,
        "examples": examples,
        "error_bound": error_bound,
        "sample_degree": sample_degree,
        "clip": clip,
        "noise_std": noise_std,
    }
    if about is None:
        if wrong := next((name for name, value in numbers.items() if value is not None), None):
            raise UsageError(f"{_flag(wrong)} needs --about")
        if steps is not None:
            raise UsageError("--steps needs --about gd")
        return _certified(source, title, terms, members, centred)
    usual = BoundParameters()
    one_of("about", about, ABOUT)
    for name in ("tau", "vstat", "gamma"):
        if (about, name) != ("lwe", "tau") and getattr(terms, name) != getattr(usual, name):
            raise UsageError(f"--{name} does not apply to --about {about}")
    if centred:
        raise UsageError(f"--centred does not apply to --about {about}")
    return _certified_about(source, title, terms, about, numbers, members, steps)


def _flag(name: str) -> str:
    """Return the option of the command line for a parameter."""
    return f"--{name.replace('_', '-')}"


def _terms(vstat: int, **options: Any) -> "BoundParameters":
    """Read the terms of a bound: tolerance, risk, success and others; raises UsageError."""
    from hardness.bounds import BoundParameters

    exactly = {name: exact(name, value) for name, value in options.items()}
    return BoundParameters(vstat=integral("vstat", vstat, 1), **exactly)


def bound(
    source: "Source",
    *,
    solve: str | None = None,
    queries: "int | str | None" = None,
    examples: int | None = None,
    tau: "Number" = "0.1",
    vstat: int = 100,
    risk: "Number" = "1/4",
    success: "Number" = "2/3",
) -> "Bound":
    """Give a family's bounds as formulas in its parameters, or solve one for a parameter.

    Parameters
    ----------
    source : str or Family
        A family by its name, or a SPEC.
    solve : str, optional
        The parameters to find, which the SPEC leaves out, as "m" or "d,m". The first is minimised.
    queries : int or str, optional
        With `solve`: the bound on queries that is to be reached, as 1000 or "2^128".
    examples : int, optional
        With `solve`, in place of `queries`: the bound on examples that is to be reached.
    tau : number
        Tolerance of the oracle STAT(tau).
    vstat : int
        Parameter t of the oracle VSTAT(t).
    risk : number
        The relative risk to reach.
    success : number
        The probability with which it is to be reached.

    Returns
    -------
    Bound
        Formulas as SymPy expressions, each with its domain. What no formula in the parameters
        gives, as a spectrum, is a symbol with its value. A solution is certified, and so is that
        the next lower value does not suffice.

    Raises
    ------
    UsageError
        For a family that has no formulas, or parameters that cannot be solved for.
    NoClaim
        If nothing can be claimed.

    Examples
    --------
    >>> bound("parity:d=24,m=3").expression("sq-dimension")
    binomial(d - 1, m)
    >>> bound("parity:d=512", solve="m", queries="2^128", tau="1/100").solution["least"]
    {'m': 25}
    """
    from hardness.bounds import bound as lower
    from hardness.runs.columns import parameters_of
    from instances.parameters import plain_type
    from instances.spec import kind_of

    terms = _terms(tau=tau, vstat=vstat, risk=risk, success=success)
    goals = {} if queries is None else {"stat-queries": power("queries", queries)}
    goals |= {} if examples is None else {"information-floor": integral("examples", examples, 1)}
    solve, text = None if solve is None else text_argument("solve", solve), str(source)
    if (solve is None and goals) or (solve is not None and len(goals) != 1):
        raise UsageError(
            "--solve needs exactly one of --queries and --examples, which need --solve"
        )
    kind: Any = kind_of(text.partition(":")[0])
    if solve is None:
        named = isinstance(source, str) and kind and ":" not in text
        source = kind.example if named else source
        return lower.Bound(certificate=_certified(source, text[:80], terms))
    if kind is None:
        raise UsageError(
            f"{text[:80]}: --solve takes a built-in family, as parity:d=9; of a class of your own, "
            "print `bound` at several sizes"
        )
    integers = [field for field in fields(kind) if plain_type(field.type) in ("int", int)]
    allowed = [field.name for field in integers if field.init]
    names = [name.strip() for name in solve.split(",")]
    for name in names:
        if name not in allowed:
            raise unknown("parameter", name, allowed)
        if names.count(name) > 1 or name in parameters_of(text):
            raise UsageError(f"{name} is to be found: give it once, in --solve, and not in {text}")
    [(quantity, least)] = goals.items()
    return lower.solve(sources.spec_of(source, "bound"), tuple(names), quantity, least, terms)


def power(name: str, value: Any) -> int:
    """Read an integer of at least 1, as 200, 2e4 or 2^128; raises UsageError."""
    base, hat, exponent = str(value).strip().partition("^")
    if hat and base.isdecimal() and exponent.isdecimal() and len(base) + len(exponent) < 8:
        return integral(name, int(base) ** int(exponent), 1)
    number = exact(name, value) if isinstance(value, str) else value
    if isinstance(value, str) and number.denominator == 1:
        number = int(number)
    return integral(name, number, 1)


def _certified(
    source: "Source",
    title: str,
    terms: "BoundParameters",
    members: int | None = None,
    centred: bool = False,
) -> "Certificate":
    """Certify a family by its formulas, or listed members by their tables if there are none.

    title: the source in messages.
    """
    from hardness.bounds import certify as make_certificate
    from hardness.bounds.certificate import NoClaim
    from hardness.bounds.certify import certified_problem, enumerated
    from hardness.bounds.members import read_members
    from hardness.report.certificate import why_nothing

    listed = read_members(sources.functions(source), members)
    if listed is None:
        family = sources.target(source)[0]
        if certified_problem(family):
            if members is not None or centred:
                name = "centred" if members is None else "members"
                raise UsageError(f"--{name} does not apply to {title}: it is a spec or an instance")
            return make_certificate(family, terms)
        listed = enumerated(family, members)
    size = len(listed.names) << listed.n
    with progress.counted(size, "evaluating members") as bar:
        certificate = make_certificate(listed, terms, centred=centred, progress=bar)
    if certificate.vacuous:
        reason = why_nothing(certificate) or (
            "no two members are known to have a correlation of at most 1/2, and no bound on "
            "queries or examples says anything for these options"
        )
        raise NoClaim(f"no claim: {title}: {reason}")
    return certificate


def _certified_about(
    source: "Source",
    title: str,
    terms: "BoundParameters",
    about: str,
    numbers: dict[str, Any],
    members: int | None,
    steps: int | None,
) -> "Certificate":
    """Certify bounds about named learners; raises NoClaim if all are vacuous for listed members."""
    from hardness.bounds import certify as make_certificate
    from hardness.bounds.certificate import NoClaim
    from hardness.bounds.members import read_members
    from instances.family import Family
    from instances.sets import Symmetric

    listed = read_members(sources.functions(source), members)
    if members is not None and not (listed and listed.kind == "functions"):
        raise UsageError(f"--members does not apply to {title}: it is not a list of functions")
    subject: Family | Members
    if listed:
        subject, sets = listed, None
    else:
        subject = family = sources.target(source)[0]
        sets = family if isinstance(family, Symmetric) else None
    learners = named_learners(about, numbers, steps, sets)
    certificate = make_certificate(subject, terms, learners)
    if listed and certificate.vacuous:
        raise NoClaim(f"no claim: {title}: every bound is vacuous at these options")
    return certificate


def check(source: "str | PathLike[str] | Mapping[str, Any] | Certificate") -> "Checked":
    """Compute the claims of a certificate again, by the checker that trusts nobody.

    Parameters
    ----------
    source : path, Certificate or dict
        A certificate, its file, or what its file holds.

    Returns
    -------
    Checked
        The certificate, the theorems that were used, and what remains to be trusted.

    Raises
    ------
    Refuted
        If a claim does not follow.
    DamagedFile
        For a file that is no certificate.
    UsageError
        If there is no such file.

    Examples
    --------
    >>> check(certify("parity:d=8,m=3")).certificate.value("sq-dimension")
    '35'
    """
    from collections.abc import Mapping
    from dataclasses import replace

    from hardness.bounds import Certificate
    from hardness.bounds.certificate import read_file
    from hardness.bounds.check import check as derive

    if isinstance(source, Certificate):
        return derive(source.to_dict())
    if isinstance(source, Mapping):
        return derive(dict(source))
    data = read_file(_certificate(source))
    try:
        return replace(derive(data), file=str(source))
    except (Refuted, DamagedFile) as error:
        raise type(error)(f"{source}: {error}") from error


def _certificate(source: "str | PathLike[str]") -> Path:
    """Return the path of an existing file; raises UsageError if there is none."""
    path = Path(located("source", source))
    if not sources.exists(str(path)):
        raise UsageError(
            f"no such file: {path}: check needs the file of a certificate, which `hardness "
            "certify ... --out FILE.json` writes"
        )
    return path


def verify(
    source: "Source",
    *,
    members: int = 500,
    samples: int = 200_000,
    confidence: "Number" = 0.99,
    seed: int = 0,
) -> "Verification":
    """Compare sampled correlations with the certified ones, and the real layer with its formula.

    Parameters
    ----------
    source : str, Family or class of functions
        A SPEC, a folder of `hardness generate` or of layers, or functions of a file
        ("path.py:Name").
    members : int
        How many members are drawn at random.
    samples : int
        On how many points their correlations are computed.
    confidence : number
        With which probability all intervals hold together.
    seed : int
        Of members and points.

    Returns
    -------
    Verification
        Sampled correlations with intervals, beside what is certified, and the empirical SQ
        dimension, which bounds no number of queries.

    Raises
    ------
    UsageError
        For a value out of range.
    DamagedFile
        For a folder that is damaged.
    TooLarge
        For what memory does not hold.

    Examples
    --------
    >>> verify("parity:d=20,m=3", members=20, samples=20_000).agrees
    True
    """
    from hardness.bounds import verify as sampled
    from hardness.bounds.members import read_members

    members, samples = integral("members", members, 1), integral("samples", samples, 1)
    confidence, seed = number_between("confidence", confidence, 0, 1), integral("seed", seed, 0)
    listed = read_members(sources.functions(source), count=members)
    subject: Family | Members
    folder: Folder | None = None
    if listed:
        subject = listed
    else:
        subject, folder = sources.target(source)
    with progress.counted(samples, "sampling") as bar:
        return sampled(subject, members, samples, confidence, seed, folder, bar)
