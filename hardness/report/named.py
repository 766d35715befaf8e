"""Certificates about named learners in words: the number, the plain sentence, the conditions."""

from hardness.check import check
from hardness.lower import Certificate
from hardness.lower.record import Claim
from hardness.report.cost import beside_words
from hardness.report.text import credit
from hardness.report.words import shown_value, wrap


def named_words(certificate: Certificate) -> str:
    """Write what was asked about claim by claim; the sentences are those of the checker.

    So nothing is printed that `hardness check` would not accept.
    """
    statements = check(certificate.to_json()).statements
    lines = [certificate.spec, ""]
    for one, statement in zip(certificate.claims, statements, strict=True):
        given = ", ".join(f"{k} {v}" for k, v in one.parameters.items())
        lines += [
            f"{one.quantity} = {shown_value(one)}   ({one.kind}; {credit(one.source)})",
            wrap(_plain(one, statement), "  "),
            wrap(given, "  "),
        ]
    for name, reason in certificate.evidence["no_claim"].items():
        lines += [f"{name}: no claim", wrap(reason, "  ")]
    lines += ["", "conditions:"]
    conditions = dict.fromkeys(text for one in certificate.claims for text in one.assumptions)
    lines += [wrap(f"- {text}", "  ") for text in conditions]
    beside = beside_words(certificate.spec)
    lines += ["", wrap(certificate.scope), *(["", wrap(beside)] if beside else [])]
    return "\n".join(lines)


def _plain(one: Claim, statement: str) -> str:
    return statement[:1].upper() + statement[1:] + "."
