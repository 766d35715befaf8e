"""Certificates of the specs of runs, made when they are first needed."""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from hardness.bounds import BoundParameters, Certificate, certify
from instances.disk import quoted
from instances.errors import DamagedFile, ToolkitError
from instances.spec import kind_of, parse_stored


def certify_all(
    specs: Sequence[str], terms: BoundParameters
) -> tuple[tuple[Certificate, ...], str]:
    """Return the certificate of each spec and "", or no certificates and the first reason."""
    made: list[Certificate] = []
    for spec in specs:
        certificate = certificate_of(spec, terms)
        if isinstance(certificate, str):
            return (), certificate
        made.append(certificate)
    return tuple(made), ""


def certificate_of(spec: str, terms: BoundParameters) -> Certificate | str:
    """Return the certificate of a spec, or the reason why there is none."""
    return _certificate(spec, terms, kind_of(spec.partition(":")[0]))


@lru_cache(1024)
def _certificate(spec: str, terms: BoundParameters, kind: object) -> Certificate | str:
    """Certify a spec.

    kind: the class of its family, only for the cache: a user may define another one of this name.
    """
    try:
        family = parse_stored(spec)
        if family.hardness.evidence != "exact":
            return family.hardness.summary
        return certify(family, terms)
    except ToolkitError as error:
        return f"no bound is claimed: {error}"


def query_bound(certificates: Sequence[Certificate]) -> str:
    """Return the quantity of queries that all certificates claim; empty if there is none.

    It is "stat-queries" if they claim both kinds. A claim that no number of queries suffices counts
    too.
    """
    for name in ("stat-queries", "csq-queries"):
        if certificates and all(claims(one, name) for one in certificates):
            return name
    return ""


def claims(certificate: Certificate, quantity: str) -> bool:
    """Whether a quantity is claimed, or for queries that no finite number of them suffices."""
    return any(claim.quantity in (quantity, _success(quantity)) for claim in certificate.claims)


def success(certificate: Certificate, quantity: str) -> Fraction | None:
    """Return the success probability above which no number of queries suffices.

    None if this is not claimed.
    """
    values = {claim.quantity: claim.value for claim in certificate.claims}
    return None if quantity in values else values.get(_success(quantity))


def number(certificate: Certificate, quantity: str, value: Fraction) -> int | None:
    """Return the certified number for a success probability `value`.

    None means that no number of queries suffices, and 0 that a guess does, which is vacuous. Raises
    UsageError if the quantity is not claimed.

    >>> from instances import parse
    >>> hard = certify(parse("parity:d=20,m=3,noise=0.45"))
    >>> number(hard, "stat-queries", Fraction(2, 3)), number(hard, "stat-queries", Fraction(1, 969))
    (None, 0)
    """
    most = success(certificate, quantity)
    if most is None:
        return certificate.integer(quantity)
    return 0 if most >= value else None


def _success(quantity: str) -> str:
    oracle, dash, rest = quantity.rpartition("-")
    return f"{oracle}-success" if dash and rest == "queries" else quantity


def terms_of(tau: Fraction | int | str | None) -> BoundParameters:
    """Return the default terms with the tolerance of runs; raises DamagedFile for a wrong one.

    >>> terms_of("1/20").tau, terms_of(None).tau
    (Fraction(1, 20), Fraction(1, 10))
    """
    try:
        return BoundParameters() if tau is None else BoundParameters(tau=Fraction(tau))
    except (ValueError, ZeroDivisionError, ToolkitError) as error:
        raise DamagedFile(f"a run has the tolerance {quoted(str(tau))}: {error}") from error
