"""What an instance costs to break, in words."""

import textwrap

from hardness.claims.vacuous import WORD
from hardness.lower.cost import Estimate, Estimates, estimate
from hardness.report.text import table
from hardness.runs.names import brief_spec
from instances.spec import parse_stored

_WIDTH = 80
MEANING = (
    "bits: log2 of the operations, each attack in its own unit (a candidate, a table entry, a step "
    "of linear algebra, a call's worth of a sieve): differences of a few bits mean nothing. An "
    "estimate is no lower bound: it says what these attacks cost under its model. Other known "
    "ones, as dual, hybrid and Meet-LWE attacks, are not in it. samples: labels with z_0 = -1, "
    "which about half of all examples have. memory: log2 of what is stored at once, in the same "
    "units."
)


def estimate_words(found: Estimates) -> str:
    """Write estimates: a table of the attacks that apply, why others do not, what bits mean."""
    given = "any number" if found.samples is None else str(found.samples)
    lines = [brief_spec(found.spec), f"samples an attacker may have: {given}", ""]
    applied = sorted((e for e in found.estimates if e.applies), key=lambda e: (e.rank, e.name))
    if applied:
        header = ["attack", "bits", "quantum", "beta", "d", "samples", "memory", "how known"]
        lines += [table(header, [_row(e) for e in applied]), ""]
    if found.least:
        lines += [_wrap(f"least: {found.least.name}, {_cost(found.least)}"), ""]
    lines += [_item(e.name, f"{e.note} [{e.source}]") for e in applied if e.note]
    lines += [_item(e.name, f"no estimate: {e.reason}") for e in found.estimates if e.reason]
    return "\n".join([*lines, "", _queries(found), "", _wrap(MEANING)])


def _row(e: Estimate) -> list[str]:
    return [
        e.name,
        "-" if e.bits is None else f"{e.bits:.1f}",
        "-" if e.quantum_bits is None else f"{e.quantum_bits:.1f}",
        "<50" if e.bits is None else "-" if e.beta is None else str(e.beta),
        "-" if e.d is None else str(e.d),
        e.sample_words,
        "-" if e.memory_bits is None else f"{e.memory_bits:.1f}",
        e.kind,
    ]


def _cost(e: Estimate) -> str:
    if e.bits is None:
        return "a block size below 50, of which its model claims no bits"
    return f"about 2^{e.bits:.1f} operations ({e.kind})"


def _queries(found: Estimates) -> str:
    """Say what statistical queries need: a bound for those learners alone, and no attack."""
    if not found.queries:
        return _item("statistical queries", f"no bound: {found.no_queries}")
    claims = []
    for claim in found.queries:
        terms = ", ".join(f"{k} {_brief(v)}" for k, v in claim.parameters.items())
        value = WORD if claim.vacuous else _brief(claim.value)
        claims.append(f"{claim.quantity} = {value}" + (f" ({terms})" if terms else ""))
    return _item(
        "statistical queries",
        "; ".join(claims) + ". Proven, but of learners by statistical queries alone, whose success "
        f"is averaged over {found.average}: no attack above is one, and none is bound by it.",
    )


def _brief(value: object) -> str:
    """Write a long integer as a power of ten, about; what else there is as it is."""
    text = str(value)
    return f"about 10^{len(text) - 1}" if text.isdigit() and len(text) >= 20 else text


def _item(name: str, text: str) -> str:
    return textwrap.fill(f"{name}: {text}", _WIDTH, subsequent_indent="  ")


def _wrap(text: str) -> str:
    return textwrap.fill(text, _WIDTH)


def beside_words(spec: str) -> str:
    """Name the attack that stands beside every bound for noisy parities; empty for other specs.

    >>> beside_words("parity:d=100,m=4,noise=0.1")[:60]
    'Beside it stands restricted Gaussian elimination, which is n'
    """
    if not spec.startswith(("parity:", "lpn:")):
        return ""
    family = parse_stored(spec)
    if not family.noise:
        return ""
    found = estimate(family)["restricted-elimination"]
    return (
        "Beside it stands restricted Gaussian elimination, which is no statistical-query "
        f"algorithm: about 2^{found.bits:.1f} operations on this instance [EKM17]. "
        f"`hardness attack {brief_spec(spec)} --learner restricted` runs it."
    )
