"""Certificates of the specs of runs, made when they are asked for."""

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
    """Give a certificate of each spec, or none and why."""
    found: list[Certificate] = []
    for spec in specs:
        certificate = certificate_of(spec, terms)
        if isinstance(certificate, str):
            return (), certificate
        found.append(certificate)
    return tuple(found), ""


def certificate_of(spec: str, terms: BoundParameters) -> Certificate | str:
    """Certify a spec, or say why there is no certificate."""
    return _certificate(spec, terms, kind_of(spec.partition(":")[0]))


@lru_cache(1024)
def _certificate(spec: str, terms: BoundParameters, kind: object) -> Certificate | str:
    """Certify a spec; kind: the class of its family, for a user may name another one alike."""
    try:
        family = parse_stored(spec)
        if family.hardness.evidence != "exact":
            return family.hardness.summary
        return certify(family, terms)
    except ToolkitError as error:
        return f"no bound is claimed: {error}"


def query_bound(certificates: Sequence[Certificate]) -> str:
    """Name the bound on queries that all of some certificates claim; empty where there is none.

    A claim that no number of queries is enough counts as one. On queries with any statistics where
    they claim both.
    """
    for name in ("stat-queries", "csq-queries"):
        if certificates and all(claims(one, name) for one in certificates):
            return name
    return ""


def claims(certificate: Certificate, quantity: str) -> bool:
    """Whether a quantity is claimed, or in place of queries that no number of them is enough."""
    return any(claim.quantity in (quantity, _success(quantity)) for claim in certificate.claims)


def success(certificate: Certificate, quantity: str) -> Fraction | None:
    """The success above which no number of queries is enough; None where that is not claimed."""
    found = {claim.quantity: claim.value for claim in certificate.claims}
    return None if quantity in found else found.get(_success(quantity))


def number(certificate: Certificate, quantity: str, value: Fraction) -> int | None:
    """The certified number; None where no number of queries gives the success that is wanted.

    0 where a guess gives it, which is vacuous. Raises UsageError for what is not claimed.

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
    """Return the usual terms with the tolerance that runs had; raises DamagedFile for none.

    >>> terms_of("1/20").tau, terms_of(None).tau
    (Fraction(1, 20), Fraction(1, 10))
    """
    try:
        return BoundParameters() if tau is None else BoundParameters(tau=Fraction(tau))
    except (ValueError, ZeroDivisionError, ToolkitError) as error:
        raise DamagedFile(f"a run has the tolerance {quoted(str(tau))}: {error}") from error
