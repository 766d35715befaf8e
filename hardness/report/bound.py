"""The bounds of a family as formulas, in words."""

from typing import TYPE_CHECKING, Any

from hardness.bounds.bound import brief_power
from hardness.bounds.formulas import relation
from hardness.bounds.quantities import shown_number
from hardness.report.text import credit, wrap
from hardness.runs.names import brief_spec
from instances.numbers import brief

if TYPE_CHECKING:
    from hardness.bounds.bound import Bound

DOMAIN = (
    "Each formula holds for all values of its parameters that `certify` takes and that meet the "
    "conditions below it; all else is as in the spec."
)
_LONG = 20  # most digits of a number that is written in full


def bound_words(bound: "Bound") -> str:
    """Write each formula with its domain, value and source, and the meaning of the names.

    If the bound was solved for a parameter, the solution is written instead.
    """
    certificate, names = bound.certificate, dict[str, Any]()
    lines = [brief_spec(certificate.spec)]
    for name, formula in () if bound.solution else bound.formulas.items():
        lines += ["", wrap(f"{name} = {formula.expression}", "", "    ")]
        if formula.domain:
            domain = " and ".join(map(relation, formula.domain))
            lines.append(wrap(f"holds if {domain}", "  ", "    "))
        if formula.condition is not None:
            idle = f"a query eliminates nothing if {formula.condition} == 0"
            lines.append(wrap(f"{idle}: then none is needed, or no number is enough", "  ", "    "))
        lines.append(f"  = {shown_number(formula.claim.value)}   ({credit(formula.claim.source)})")
        names |= formula.symbols
    if names:
        lines += ["", wrap(DOMAIN)]
    lines += [""] * bool(names)
    for name, (value, says) in names.items():
        lines.append(wrap(f"{name} = {shown_number(value)}, {says}", "", "    "))
    if (solved := bound.solution) is None:
        return "\n".join(lines)
    least = ", ".join(f"{name} = {value}" for name, value in solved["least"].items())
    wanted, terms = brief_power(int(solved["wanted"])), solved["terms"]
    tau = f"tau {terms['tau']}, " * ("queries" in solved["quantity"])
    which = "the least" if solved["every"] else "the least found"
    head = f"{least}: {which} with {solved['quantity']} of at least {wanted}, for {tau}relative"
    lines = [wrap(f"{head} risk {terms['risk']}, success {terms['success']}")]
    for certified in solved["certified"]:
        value = certified["value"] or "none enough"
        value = value if len(value) <= _LONG else brief(int(value), 3)
        verdict = "reached" if certified["reached"] else "not reached"
        lines.append(f"  {brief_spec(certified['spec'])}   {value}   (certified: {verdict})")
    return "\n".join(lines)
