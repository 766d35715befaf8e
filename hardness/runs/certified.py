"""Certificates of runs: those that a store has, else made of the specs."""

from collections.abc import Iterable, Sequence
from fractions import Fraction

from hardness.bounds import BoundParameters, Certificate, certify
from hardness.runs.rows import CertificateRow
from instances.disk import shown
from instances.errors import DamagedFile, ToolkitError
from instances.spec import parse_stored


class Certifier:
    """Certificates by spec and terms, each made once."""

    def __init__(self, stored: Iterable[CertificateRow]) -> None:
        """Begin with what a store holds."""
        self._stored: dict[str, list[tuple[BoundParameters, Certificate]]] = {}
        for row in stored:
            self._stored.setdefault(row.spec, []).append(_read(row))
        self._made: dict[tuple[str, BoundParameters], Certificate | str] = {}

    @property
    def stored(self) -> tuple[tuple[BoundParameters, Certificate], ...]:
        """The certificates that the store has, with their terms, by their specs."""
        return tuple(certificate for every in self._stored.values() for certificate in every)

    def terms(self, specs: Iterable[str], wanted: BoundParameters) -> BoundParameters:
        """The terms that the store certified all of the specs for; `wanted` where there are none.

        Those of the same tau come first.
        """
        every = [[terms for terms, _ in self._stored.get(spec, [])] for spec in specs]
        common = [t for t in every[0] if all(t in other for other in every)] if every else []
        if wanted in common:
            return wanted
        return next((t for t in common if t.tau == wanted.tau), wanted)

    def certify(
        self, specs: Sequence[str], wanted: BoundParameters
    ) -> tuple[BoundParameters, tuple[Certificate, ...], str]:
        """Give terms with a certificate of each spec for them, or with none and why."""
        terms = self.terms(specs, wanted)
        found: list[Certificate] = []
        for spec in specs:
            one = self.one(spec, terms)
            if isinstance(one, str):
                return terms, (), one
            found.append(one)
        return terms, tuple(found), ""

    def one(self, spec: str, terms: BoundParameters) -> Certificate | str:
        """Certify a spec, or say why there is no certificate."""
        key = spec, terms
        if key not in self._made:
            self._made[key] = self._make(spec, terms)
        return self._made[key]

    def _make(self, spec: str, terms: BoundParameters) -> Certificate | str:
        for other, stored in self._stored.get(spec, []):
            if other == terms:
                return stored
        try:
            family = parse_stored(spec)
            if family.hardness.evidence != "exact":
                return family.hardness.why
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


def claims(one: Certificate, quantity: str) -> bool:
    """Whether a quantity is claimed, or in place of queries that no number of them is enough."""
    return any(claim.quantity in (quantity, _success(quantity)) for claim in one.claims)


def success(one: Certificate, quantity: str) -> Fraction | None:
    """The success above which no number of queries is enough; None where that is not claimed."""
    found = {claim.quantity: claim.value for claim in one.claims}
    return None if quantity in found else found.get(_success(quantity))


def number(one: Certificate, quantity: str, wanted: Fraction) -> int | None:
    """The certified number; None where no number of queries gives the success that is wanted.

    0 where a guess gives it, which is vacuous. Raises UsageError for what is not claimed.

    >>> from instances import parse
    >>> hard = certify(parse("parity:d=20,m=3,noise=0.45"))
    >>> number(hard, "stat-queries", Fraction(2, 3)), number(hard, "stat-queries", Fraction(1, 969))
    (None, 0)
    """
    most = success(one, quantity)
    if most is None:
        return one.integer(quantity)
    return 0 if most >= wanted else None


def _success(quantity: str) -> str:
    oracle, dash, rest = quantity.rpartition("-")
    return f"{oracle}-success" if dash and rest == "queries" else quantity


def terms_of(tau: str | None) -> BoundParameters:
    """Return the usual terms with the tolerance that runs had; raises DamagedFile for none.

    >>> terms_of("1/20").tau, terms_of(None).tau
    (Fraction(1, 20), Fraction(1, 10))
    """
    try:
        return BoundParameters() if tau is None else BoundParameters(tau=Fraction(tau))
    except (ValueError, ZeroDivisionError, ToolkitError) as error:
        raise DamagedFile(f"a run has the tolerance {shown(tau)}: {error}") from error


def _read(row: CertificateRow) -> tuple[BoundParameters, Certificate]:
    try:
        return BoundParameters.from_json(row.terms), Certificate.read(row.certificate)
    except (LookupError, TypeError, ValueError, AttributeError, ToolkitError) as error:
        raise DamagedFile(f"the certificate of {row.spec[:200]}: {error}") from error
