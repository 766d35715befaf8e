"""Sentences and BibTeX for a paper that quotes a certificate."""

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from hardness.bounds.certificate import NOT_PAPERS
from hardness.report.certificate import of_learners
from hardness.report.claims import sentence
from hardness.report.export import allowing_breaks
from hardness.runs.names import brief_spec

if TYPE_CHECKING:
    from hardness.bounds import Certificate, Claim
    from hardness.bounds.bound import Bound

TOOLKIT = "hardness"  # the BibTeX key of this software
_REASON = re.compile(r": a (?:query|label) .*|; vacuous.*")  # the part of a sentence to leave out
_SCOPE = "Bounds on queries do not apply to learners that use individual examples. "
_MATHS = (  # patterns in escaped sentences, with the formulas that replace them
    (re.compile(r"\\textless\{\}(\w+), (\w+)\\textgreater\{\}"), r"$\\langle \1, \2\\rangle$"),
    (re.compile(r"\\textbar\{\}(\w+)\\textbar\{\}"), r"$|\1|$"),
    (re.compile(r"\\textless\{\}="), r"$\\le$"),
    (re.compile(r"\\textgreater\{\}="), r"$\\ge$"),
)
_TRIVIAL = "certifies no bound that is not trivial, which shows neither that it is easy to learn"


def quotation(certificate: "Certificate") -> str:
    """Write sentences in LaTeX to paste, then as comments BibTeX of the sources and the software.

    >>> import hardness
    >>> print(quotation(hardness.certify("parity:d=8,m=3"))[:56])
    For the family parity:d=8,\\allowbreak m=3: Every learner
    """
    return _quoted(certificate, filter(of_learners, certificate.claims), certificate.claims)


def formulas_quotation(bound: "Bound") -> str:
    """Display formulas with their conditions, and say what the quantities are, with BibTeX."""
    claims, displayed = [formula.claim for formula in bound.formulas.values()], []
    for row in bound._rows():
        holds, nothing = row["holds if"], row["eliminates nothing if"]
        domain = f", if ${holds.latex}$" if holds else ""
        domain += f"; a query eliminates at most ${nothing.latex}$ members" if nothing else ""
        displayed.append(f"\\noindent {row['quantity']}{domain}:\n\\[ {row['formula'].latex} \\]\n")
    return "\n".join([*displayed, _quoted(bound.certificate, claims, claims)])


def _quoted(certificate: "Certificate", about: "Iterable[Claim]", cited: "Iterable[Claim]") -> str:
    """Write a sentence for each claim that is not vacuous, then BibTeX.

    about: the claims to write. cited: the claims of the table, whose sources are in the BibTeX.
    """
    spec, sentences = brief_spec(certificate.spec), []
    about = [claim for claim in about if not claim.vacuous]
    for claim in about:
        text = allowing_breaks(_REASON.sub("", sentence(certificate, claim)))
        for pattern, formula in _MATHS:
            text = pattern.sub(formula, text)
        sentences.append(text.removesuffix(".") + _cite(NOT_PAPERS.get(claim.source, claim.source)))
    if sentences:
        first = f"For the family {allowing_breaks(spec)}: {'. '.join(sentences)}"
    else:
        first = f"For the family {allowing_breaks(spec)}, the method {_TRIVIAL} nor that it is hard"
    scope = _SCOPE if any(c.quantity.endswith(("-queries", "-success")) for c in about) else ""
    keys = {claim.source for claim in cited if claim.source not in NOT_PAPERS}
    comments = "\n\n".join(entries()[key] for key in (*sorted(keys), TOOLKIT))
    comments = "\n".join(f"% {line}".rstrip() for line in comments.splitlines())
    return f"{first}. {scope}Certified with \\cite{{{TOOLKIT}}}.\n\n% BibTeX:\n{comments}\n"


def _cite(source: str) -> str:
    """Cite a paper; empty for our own results, which are cited once at the end."""
    return "" if source in NOT_PAPERS.values() else f" (after \\cite{{{source}}})"


@cache
def entries() -> dict[str, str]:
    """Read the BibTeX entries, by their keys.

    >>> entries()["CL24"].splitlines()[0]
    '@inproceedings{CL24,'
    """
    text = files("hardness.report").joinpath("references.bib").read_text(encoding="utf-8")
    return {re.findall(r"\{(\w+),", entry)[0]: entry for entry in text.strip().split("\n\n")}
