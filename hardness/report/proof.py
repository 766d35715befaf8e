"""The proof of a certificate for people: its steps by their numbers, then what they prove."""

import re
from typing import TYPE_CHECKING, Any

from hardness.check import kernel
from hardness.report.certificate import claim_line
from hardness.report.text import wrap
from hardness.runs.names import brief_spec
from instances.text import shortened

if TYPE_CHECKING:
    from hardness.lower import Certificate

_RULES = (
    "The rules of the steps stand in hardness/check/kernel, which are the files that they speak "
    "of, each with its proof."
)
_MOST, _LONG = 6, 30  # entries of a list that are shown, and characters of one


def proof_words(certificate: "Certificate") -> str:
    """Write each step, its rule, the steps that it cites and its numbers, then the claims.

    What a rule says stands where it is first used.

    >>> from hardness.lower import certify
    >>> from instances import parse
    >>> "subsets" in proof_words(certify(parse("parity:d=8,m=3")))
    True
    """
    lines, seen = [brief_spec(certificate.spec), "", wrap(_RULES), ""], set()
    for number, step in enumerate(certificate.proof["steps"], 1):
        lines.append(_step(number, step))
        if step["rule"] not in seen:
            seen.add(step["rule"])
            lines.append(wrap(_about(step["rule"]), "    "))
    lines.append("")
    for claim in certificate.claims:
        lines += [claim_line(claim), wrap(f"by step {claim.step}: {claim.meaning}", "  ")]
    return "\n".join([*lines, "", wrap(certificate.scope)])


def _step(number: int, step: dict[str, Any]) -> str:
    cited = f" of {', '.join(map(str, step['from']))}" if step["from"] else ""
    given = [f"{name} {_shown(v)}" for name, v in step.items() if name not in ("rule", "from")]
    numbers = f": {', '.join(given)}" if given else ""
    return wrap(f"{step['rule']}{cited}{numbers}", f"{number:2}  ", "    ")


def _about(rule: str) -> str:
    """Return the first sentence of a rule's docstring."""
    text = " ".join((kernel.RULES[rule][3].__doc__ or "").split())
    return re.split(r"(?<=[.])(?=\s|$)", text)[0]


def _shown(value: Any) -> str:
    """Write numbers of a step, long ones and long lists by how they begin."""
    if isinstance(value, list):
        more = [f"... {len(value)} in all"] if len(value) > _MOST else []
        return f"[{', '.join([*map(_shown, value[:_MOST]), *more])}]"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(part)}" for name, part in value.items())
    if isinstance(value, str) and " " in value:
        return value if len(value) <= _LONG else f"{value[:_LONG]}..."
    parts = (int(v, 0) if v.startswith("0x") else v for v in str(value).split("/"))
    return "/".join(shortened(part, _LONG) for part in parts)
