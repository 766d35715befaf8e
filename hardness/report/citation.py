"""A certificate in a paper: what it was found to prove in one sentence, and BibTeX."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any

from hardness import YEAR, __version__
from hardness.check import Checked, check
from hardness.lower.record import Certificate, Claim
from instances.arguments import located
from instances.disk import write_json, write_text
from instances.errors import DamagedFile, Refuted, ToolkitError, UsageError
from instances.result import Result
from instances.strict import CERTIFICATE, loads, one_line, read_bytes

_NOT_BOUNDS = re.compile(r"sda-|.*-(correlation|norm|eigenvalue|predictability|members)$")
_WORST = (
    "answers may be any numbers within the tolerance, and success is averaged over the member, "
    "as the family draws it"
)
_GOAL = " are needed "  # between what is needed and the goal, in a statement of the checker


@dataclass(frozen=True, kw_only=True, repr=False)
class Citation(Result):
    """A sentence for a paper, and the BibTeX entries of the certificate and its sources."""

    sentence: str
    bibtex: str

    def to_dict(self) -> dict[str, Any]:
        """Give both as `hardness cite --json` does."""
        return {"sentence": self.sentence, "bibtex": self.bibtex}

    _words = "hardness.report.citation.citation_words"

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write the BibTeX to FILE.bib, both to FILE.json; raises AlreadyExists, UsageError."""
        where = Path(located("path", path))
        if where.suffix.lower() == ".bib":
            write_text(where, f"{self.bibtex}\n", force=force)
        elif where.suffix.lower() == ".json":
            write_json(where, self.to_dict(), force=force)
        else:
            raise UsageError(f"{where} given: end its name in .bib or .json")


def citation_words(found: Citation) -> str:
    """Write both."""
    return f"{found.sentence}\n\n{found.bibtex}"


def cite(source: Path | Certificate) -> Citation:
    """Check a certificate, or the file of one, and cite what follows from it about learners.

    Raises Refuted where a claim does not follow, DamagedFile for a file that is no certificate.
    """
    if isinstance(source, Certificate):
        content = source.to_json().encode()
        return citation(source.to_dict(), check(source.to_dict()), sha256(content).hexdigest())
    content = read_bytes(source, CERTIFICATE.size)
    try:
        data = loads(content, CERTIFICATE)
        if not isinstance(data, dict):
            raise ValueError("it is JSON, but no object")
        found = check(data)
    except Refuted as error:
        raise Refuted(f"{source}: {error}") from error
    except (ValueError, DamagedFile) as error:
        raise DamagedFile(f"{source}: {one_line(error)}") from error
    try:
        return citation(data, found, sha256(content).hexdigest())
    except ToolkitError as error:
        raise ToolkitError(f"{source}: {error}") from error


def citation(data: dict[str, Any], checked: Checked, digest: str) -> Citation:
    """Write what a file was found to prove; data: of the file; digest: the SHA-256 of its bytes.

    The spec stands in full: a paper outlives defaults. Vacuous claims are left out, and so are
    correlations and SDA, from which the others follow, where others are left.
    """
    claims = Certificate.read(data).claims if "goal" in data else ()
    given = f"given {checked.assumed}" if checked.assumed else ""  # said once, of all statements
    found = [one.removeprefix(f"{given}: ") for one in checked.statements]
    told = list(zip(claims or [None] * len(found), found, strict=True))
    told = [(c, s) for c, s in told if not (c and c.vacuous)]
    if not told:
        raise ToolkitError("every bound in it is vacuous: there is nothing to cite")
    if any(_quantity(c) == "stat-queries" for c, _ in told):  # of every kind
        told = [(c, s) for c, s in told if _quantity(c) != "csq-queries"]
    told = [(c, s) for c, s in told if not _NOT_BOUNDS.match(_quantity(c))] or told
    key = f"hardness_{digest[:10]}"
    sources, every = (
        [key for key in dict.fromkeys(c.source for c in some if c) if key in SOURCES]
        for some in ([c for c, _ in told], claims)
    )
    after = f", after {' and '.join(sources)}" if sources else ""
    spec = re.sub(r"(sha256=\w{10})\w*", r"\1", checked.spec)  # the entry has the whole
    head, statements = _joined(told)
    about = f"{spec}, {given}" if given else spec
    worst = "" if checked.checker != "the kernel" else f"; {_WORST}"
    sentence = f"For {about}{head}: {statements}{worst} [{key}{after}]."
    note = f"Certificate of\n            {_escaped(checked.spec)},\n            SHA-256 {digest}"
    own = f"""@misc{{{key},
  title  = {{hardness {__version__}: lower bounds for learning attention layers}},
  author = {{{{The hardness authors}}}},
  year   = {{{YEAR}}},
  note   = {{{note}}},
}}"""
    return Citation(sentence=sentence, bibtex="\n\n".join([own, *(SOURCES[k] for k in every)]))


def _quantity(claim: Claim | None) -> str:
    """What is claimed; empty of a transcript, which claims nothing."""
    return claim.quantity if claim else ""


def _joined(told: Sequence[tuple[Claim | None, str]]) -> tuple[str, str]:
    """Join statements: what all begin with apart, and a goal that several share once."""
    found = [s for _, s in told]
    head = found[0].partition(": ")[0]
    same = all(s.startswith(f"for {head[4:]}: ") for s in found)
    if same:
        found = [s.removeprefix(f"{head}: ") for s in found]
    goals: dict[str, list[str]] = {}
    for (c, _), statement in zip(told, found, strict=True):
        if _quantity(c) == "sq-dimension":  # its reason stands in the file
            statement = re.split(r"[;:] ", statement)[0]
        statement = re.sub(r", as (one|each) .*", "", statement)  # nor why, which stands there too
        what, needed, goal = statement.partition(_GOAL)
        goals.setdefault(needed + goal or what, []).append(what)
    joined = "; ".join(
        " and ".join(whats) + (goal if goal.startswith(_GOAL) else "")
        for goal, whats in goals.items()
    )
    return (f", {head}" if same else ""), joined


def _escaped(text: str) -> str:
    r"""Escape what BibTeX hands to LaTeX.

    >>> _escaped("profile:g=a_b")
    'profile:g=a\\_b'
    """
    return re.sub(r"([_%&#$])", r"\\\1", text)


# The sources of claims as BibTeX, by their keys; docs/references.md lists them with all others.
SOURCES: dict[str, str] = {
    "AKMSS21": r"""@inproceedings{AKMSS21,
  title     = {On the power of differentiable learning versus {PAC} and {SQ}
               learning},
  author    = {Abbe, Emmanuel and Kamath, Pritish and Malach, Eran and
               Sandon, Colin and Srebro, Nathan},
  booktitle = {Advances in Neural Information Processing Systems 34 (NeurIPS)},
  year      = {2021},
  note      = {arXiv:2108.04190},
}""",
    "AS20": r"""@inproceedings{AS20,
  title     = {On the universality of deep learning},
  author    = {Abbe, Emmanuel and Sandon, Colin},
  booktitle = {Advances in Neural Information Processing Systems 33 (NeurIPS)},
  year      = {2020},
  note      = {arXiv:2001.02992},
}""",
    "BBHLS21": r"""@inproceedings{BBHLS21,
  title     = {Statistical query algorithms and low-degree tests are almost
               equivalent},
  author    = {Brennan, Matthew and Bresler, Guy and Hopkins, Samuel B. and
               Li, Jerry and Schramm, Tselil},
  booktitle = {34th Conference on Learning Theory (COLT)},
  year      = {2021},
  note      = {arXiv:2009.06107},
}""",
    "BFJKMR94": r"""@inproceedings{BFJKMR94,
  title     = {Weakly learning {DNF} and characterizing statistical query
               learning using {Fourier} analysis},
  author    = {Blum, Avrim and Furst, Merrick and Jackson, Jeffrey and
               Kearns, Michael and Mansour, Yishay and Rudich, Steven},
  booktitle = {26th ACM Symposium on Theory of Computing (STOC)},
  pages     = {253--262},
  year      = {1994},
}""",
    "CL24": r"""@inproceedings{CL24,
  title     = {Provably learning a multi-head attention layer},
  author    = {Chen, Sitan and Li, Yuanzhi},
  booktitle = {57th ACM Symposium on Theory of Computing (STOC)},
  year      = {2025},
  note      = {arXiv:2402.04084},
}""",
    "DKS17": r"""@inproceedings{DKS17,
  title     = {Statistical query lower bounds for robust estimation of
               high-dimensional {Gaussians} and {Gaussian} mixtures},
  author    = {Diakonikolas, Ilias and Kane, Daniel M. and Stewart, Alistair},
  booktitle = {58th IEEE Symposium on Foundations of Computer Science (FOCS)},
  pages     = {73--84},
  year      = {2017},
  note      = {arXiv:1611.03473},
}""",
    "Del73": r"""@article{Del73,
  title   = {An algebraic approach to the association schemes of coding theory},
  author  = {Delsarte, Philippe},
  journal = {Philips Research Reports Supplements},
  volume  = {10},
  year    = {1973},
}""",
    "Fan49": r"""@article{Fan49,
  title   = {On a theorem of {Weyl} concerning eigenvalues of linear
             transformations {I}},
  author  = {Fan, Ky},
  journal = {Proceedings of the National Academy of Sciences},
  volume  = {35},
  pages   = {652--655},
  year    = {1949},
}""",
    "FGRVX17": r"""@article{FGRVX17,
  title   = {Statistical algorithms and a lower bound for detecting planted
             cliques},
  author  = {Feldman, Vitaly and Grigorescu, Elena and Reyzin, Lev and
             Vempala, Santosh S. and Xiao, Ying},
  journal = {Journal of the ACM},
  volume  = {64},
  number  = {2},
  note    = {Article 8},
  year    = {2017},
}""",
    "Hop18": r"""@phdthesis{Hop18,
  title  = {Statistical inference and the sum of squares method},
  author = {Hopkins, Samuel B.},
  school = {Cornell University},
  year   = {2018},
}""",
    "Regev05": r"""@inproceedings{Regev05,
  title     = {On lattices, learning with errors, random linear codes, and
               cryptography},
  author    = {Regev, Oded},
  booktitle = {37th Annual ACM Symposium on Theory of Computing (STOC)},
  year      = {2005},
}""",
}
