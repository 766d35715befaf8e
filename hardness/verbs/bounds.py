"""Lower bounds: certified, checked again, and verified by sampling."""

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from hardness.verbs import progress, sources
from hardness.verbs.about import ABOUT, About, asked_about
from hardness.verbs.ask import called, choice, flag, power, rational, text, thing, whole
from hardness.verbs.asks import CONFIDENCE, FILE, SEED, TAU, specs
from hardness.verbs.command import verb
from instances.arguments import located
from instances.errors import DamagedFile, Refuted, ToolkitError, UsageError, unknown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction
    from os import PathLike

    from hardness.bounds import BoundParameters, Certificate, Verification
    from hardness.bounds.bound import Bound
    from hardness.bounds.check import Checked
    from hardness.bounds.members import Members
    from hardness.verbs.sources import Source
    from instances import Family, Folder

    Exact = int | float | str | Fraction

MEMBERS = whole("Number of members")
RISK = rational("Relative risk to reach: 1 is knowing the family alone, 0 all.")
_LISTED = {"members": None, "centred": False}  # what is of listed members alone


@verb(
    "Certify lower bounds of a family.",
    out="Where to write: the certificate, to a file.",
    reads="`hardness check`",
)
def certify(
    source: Annotated["Source", thing("What bounds are about.", specs)],
    *,
    tau: Annotated["Exact", TAU] = "0.1",
    vstat: Annotated[int, whole("t of VSTAT(t); --tau does not change it.")] = 100,
    risk: Annotated["Exact", RISK] = "1/4",
    success: Annotated["Exact", rational("Success probability.")] = "2/3",
    gamma: Annotated[
        "Exact", rational("Average correlation of unit-norm members that SDA is about.")
    ] = "0.05",
    members: Annotated[
        int | None,
        MEMBERS("of functions of a file, those whose names have the least SHA-256.", default="all"),
    ] = None,
    centred: Annotated[bool, flag("Subtract the mean of the members first: of functions.")] = False,
    steps: Annotated[
        int | None,
        whole(
            "Number of steps: gd, gradients seen.",
            0,
            default="any number",
        ),
    ] = None,
    about: Annotated[
        str | None, choice("Certify what is said about named learners.", *ABOUT)
    ] = None,
    **numbers: Unpack[About],
) -> "Certificate":
    """Certify lower bounds; --json prints, --out writes what `hardness check` accepts.

    SOURCE is a SPEC, a folder of `hardness generate`, or functions of a Python file
    (path.py:Name). --about asks about kernels, gradient descent with --noise-std, polynomials of
    low degree, or the solver of LWE that a learner gives. --risk and --success hold for learners.
    Raises NoClaim if nothing is claimed.

    >>> certify("parity:d=1000,m=21").integer("information-floor")
    143
    """
    from hardness.bounds import BoundParameters

    terms = _terms(vstat, tau=tau, risk=risk, success=success, gamma=gamma)
    named = (sources.functions(source) or str(source))[:80]
    if about is None:
        if wrong := next((name for name, value in numbers.items() if value is not None), None):
            raise UsageError(f"{called(wrong)} needs {called('about')}")
        if steps is not None:
            raise UsageError(f"{called('steps')} needs {called('about')} gd")
        listed = {"members": members, "centred": centred}
        return _certified(source, named, terms, listed)
    usual = BoundParameters()
    for name in ("tau", "vstat", "gamma"):
        if (about, name) != ("lwe", "tau") and getattr(terms, name) != getattr(usual, name):
            raise UsageError(f"{called(name)} does not apply to {called('about')} {about}")
    if centred:
        raise UsageError(f"{called('centred')} does not apply to {called('about')} {about}")
    return _of_learners(source, named, terms, about, numbers, members, steps)


def _terms(vstat: int, **given: Any) -> "BoundParameters":
    """Read what a bound is about; raises UsageError."""
    from hardness.bounds import BoundParameters
    from instances.arguments import exact

    return BoundParameters(vstat=vstat, **{n: exact(called(n), v) for n, v in given.items()})


@verb("Bounds as formulas, solved for a parameter.", out=FILE)
def bound(
    source: Annotated["Source", thing("A family by its name, or a SPEC.", specs)],
    *,
    solve: Annotated[
        str | None,
        text(
            "Parameters to find that SPEC leaves out, as m or d,m: the first least.", default="none"
        ),
    ] = None,
    queries: Annotated[
        "int | str | None",
        power("Queries to STAT(tau) that are to be needed, as 2^128: of --solve.", default="none"),
    ] = None,
    examples: Annotated[
        int | None,
        whole("Number of labelled examples: that are to be needed, of --solve.", default="none"),
    ] = None,
    tau: Annotated["Exact", TAU] = "0.1",
    vstat: Annotated[int, whole("t of VSTAT(t); --tau does not change it.")] = 100,
    risk: Annotated["Exact", RISK] = "1/4",
    success: Annotated["Exact", rational("Success probability.")] = "2/3",
) -> "Bound":
    """Print a family's bounds as formulas in its parameters, or solve one for a parameter.

    What no parameter determines, as a spectrum, stands as a name with its value. With --solve the
    answer is certified, and that the next lower value does not reach what is wanted.

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
    text, wanted = str(source), {"stat-queries": queries, "information-floor": examples}
    said = {name: int(value) for name, value in wanted.items() if value is not None}
    if (solve is None and said) or (solve is not None and len(said) != 1):
        raise UsageError("--solve needs one of --queries and --examples, and they need --solve")
    kind: Any = kind_of(text.partition(":")[0])
    if solve is None:
        named = isinstance(source, str) and kind and ":" not in text
        source = kind.example if named else source
        return lower.Bound(certificate=_certified(source, text[:80], terms, dict(_LISTED)))
    if kind is None:
        raise UsageError(
            f"{text[:80]} given: --solve takes a family with parameters, as parity:d=9"
        )
    whole = [one for one in fields(kind) if plain_type(one.type) in ("int", int)]
    allowed = [one.name for one in whole if one.init]
    names = [name.strip() for name in solve.split(",")]
    for name in names:
        if name not in allowed:
            raise unknown("parameter", name, allowed)
        if names.count(name) > 1 or name in parameters_of(text):
            raise UsageError(f"{name} is to be found: give it once, in --solve, and not in {text}")
    [(quantity, least)] = said.items()
    return lower.solve(sources.spec_of(source, "bound"), tuple(names), quantity, least, terms)


def _certified(
    source: "Source", named: str, terms: "BoundParameters", listed: dict[str, Any]
) -> "Certificate":
    """Certify a family by its formulas where it has them, else listed members by their tables."""
    from hardness.bounds import certify as made_of
    from hardness.bounds.certificate import NoClaim
    from hardness.bounds.certify import enumerated
    from hardness.bounds.members import read_members
    from hardness.report.certificate import why_nothing

    functions = read_members(sources.functions(source), listed["members"])
    what: Members | None = functions
    if what is None:
        family = sources.target(source)[0]
        what = enumerated(family, listed["members"])
        if what is None:
            for name, usual in _LISTED.items():
                if listed[name] != usual:
                    raise UsageError(
                        f"{called(name)} does not apply to {named}: it is a spec or an instance"
                    )
            return made_of(family, terms)
    size = len(what.names) << what.n
    with progress.counted(size, "evaluating members") as bar:
        made = made_of(what, terms, centred=listed["centred"], progress=bar)
    if made.vacuous:
        why = why_nothing(made) or (
            "no two members are known to have a correlation of at most 1/2, and no bound on "
            "queries or examples says anything for these options"
        )
        raise NoClaim(f"no claim: {named} given: {why}")
    return made


def _of_learners(
    source: "Source",
    named: str,
    terms: "BoundParameters",
    about: str,
    numbers: "About",
    members: int | None,
    steps: int | None,
) -> "Certificate":
    """Certify what is said about named learners."""
    from hardness.bounds import certify as made_of
    from hardness.bounds.certificate import NoClaim
    from hardness.bounds.members import read_members
    from instances.family import Family
    from instances.sets import Symmetric

    listed = read_members(sources.functions(source), members)
    if members is not None and not (listed and listed.kind == "functions"):
        raise UsageError(f"{called('members')} does not apply to {named}: it is no functions")
    what: Family | Members
    if listed:
        what, sets = listed, None
    else:
        what = family = sources.target(source)[0]
        sets = family if isinstance(family, Symmetric) else None
    asked = asked_about(about, numbers, steps, sets)
    made = made_of(what, terms, asked)
    if listed and made.vacuous:
        raise NoClaim(f"no claim: {named} given: every bound is vacuous at these options")
    return made


@verb("Check a certificate again.", out=FILE)
def check(
    source: Annotated[
        "str | PathLike[str] | Mapping[str, Any] | Certificate",
        thing("The file of a certificate."),
    ],
) -> "Checked":
    """Compute the claims of a certificate again; exit 3 if one does not follow.

    From Python SOURCE is a Certificate too, or the dictionary of one. Raises Refuted if a claim
    does not follow, DamagedFile for a file that is not a certificate.

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
    """Return the path of a certificate's file that is there; raises ToolkitError."""
    path = Path(located("source", source))
    if not sources.exists(str(path)):
        raise ToolkitError(
            f"{path} does not exist: check needs the file of a certificate, which `hardness "
            "certify ... --out FILE.json` writes"
        )
    return path


@verb("Sampled correlations beside certified ones.", out=FILE)
def verify(
    source: Annotated["Source", thing("What is sampled.", specs)],
    *,
    members: Annotated[int, MEMBERS("drawn at random.")] = 500,
    samples: Annotated[int, whole("Number of samples.")] = 200_000,
    confidence: Annotated["Exact", CONFIDENCE] = 0.99,
    seed: Annotated[int, SEED] = 0,
) -> "Verification":
    """Sample correlations beside the certified ones, and the real layer against the formula.

    SOURCE: a SPEC, a folder of `hardness generate`, functions of a file, path.py:Name, or a folder
    of layers. Prints as well the empirical SQ dimension, which bounds no number of queries.

    >>> verify("parity:d=20,m=3", members=20, samples=20_000).agrees
    True
    """
    from hardness.bounds import verify as sampled
    from hardness.bounds.members import read_members

    found = read_members(sources.functions(source), most=members)
    what: Family | Members
    folder: Folder | None = None
    if found:
        what = found
    else:
        what, folder = sources.target(source)
    with progress.counted(samples, "sampling") as bar:
        return sampled(what, members, samples, float(confidence), seed, folder, bar)
