"""Certificates about named learners in words: the number, the plain sentence, the conditions."""

from collections.abc import Iterable

from hardness.check import check
from hardness.lower import Certificate
from hardness.lower.record import Claim
from hardness.report.certificate import claim_line
from hardness.report.cost import beside_words
from hardness.report.text import wrap
from hardness.runs.names import brief_spec

_ORDER = ("kernel", "gd", "low-degree", "information")  # how the names of quantities begin


def named_words(certificate: Certificate) -> str:
    """Write what was asked about claim by claim, and under which conditions it holds.

    The sentences are those of the checker: nothing is printed that it does not accept.
    """
    statements = check(certificate.to_dict()).statements
    pairs = list(zip(certificate.claims, statements, strict=True))
    common = set.intersection(*(set(one.assumptions) for one in certificate.claims))
    lines = [brief_spec(certificate.spec)]
    for about in _ORDER:
        group = [(one, words) for one, words in pairs if one.quantity.startswith(about)]
        for one, words in group:
            lines += ["", *_claim(one, words)]
        own = dict.fromkeys(text for one, _ in group for text in one.assumptions)
        lines += _conditions(text for text in own if text not in common)
    for about, reason in certificate.evidence["no_claim"].items():
        lines += ["", f"{about}: no claim", wrap(reason, "  ")]
    shared = [text for text in certificate.claims[0].assumptions if text in common]
    lines += ["", "all of these:", *_conditions(shared), "", wrap(certificate.scope)]
    beside = beside_words(certificate.spec)
    return "\n".join([*lines, *(["", wrap(beside)] if beside else [])])


def _claim(one: Claim, statement: str) -> list[str]:
    given = ", ".join(f"{key} {value}" for key, value in one.parameters.items())
    return [
        claim_line(one),
        wrap(f"{statement[:1].upper()}{statement[1:]}.", "  "),
        wrap(given, "  "),
    ]


def _conditions(texts: Iterable[str]) -> list[str]:
    return [wrap(f"- {text}", "  ", "    ") for text in texts]
