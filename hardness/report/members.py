"""What the truth tables of listed functions show that its author may not have meant."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hardness.lower import Certificate


def member_notes(certificate: "Certificate") -> list[str]:
    """Say which members are equal, and which value keeps general queries out."""
    about = certificate.proof.get("about", {})
    if "names" not in about:
        return []
    tables, notes = certificate.proof["problem"]["tables"], []
    if again := len(tables) - len(set(map(str, tables))):
        verb = "equals" if again == 1 else "equal"
        notes.append(
            f"{again} of the {len(tables)} members {verb} an earlier one, and counts again"
        )
    values = [(i, *one) for i, one in enumerate(tables) if not isinstance(one, str)]
    if values and all(v in (0, 1) for _, _, row in values for v in row):
        return [*notes, _ZERO_ONE]
    other = ((i, on, at, v) for i, on, row in values for at, v in enumerate(row) if abs(v) != 1)
    if found := next(other, None):
        i, on, at, value = found
        signs = dict(zip(on, ("-" if at >> k & 1 else "+" for k in range(len(on))), strict=True))
        place = "".join(signs.get(j, "+") for j in range(certificate.proof["problem"]["signs"]))
        notes.append(
            f"{about['names'][i]} has the value {value} at the point {place}: claims about general "
            "queries and examples need the values -1 and +1 alone"
        )
    return notes


def origin_notes(certificate: "Certificate") -> list[str]:
    """Say what the members stand for of which the kernel sees the tables alone; empty for others.

    >>> from hardness.lower.listed import certify_listed
    >>> from hardness.lower.members import of_family
    >>> from instances import parse
    >>> print(origin_notes(certify_listed(of_family(parse("parity:d=5,m=2"), 4)))[1])
    The members are the 4 of 6 whose names have the least SHA-256: nothing is claimed of the others.
    """
    about = certificate.proof.get("about", {})
    if "names" not in about:
        return []
    notes = ["That these are the tables of the members that are named is taken as given."]
    origin, names = about["origin"], about["names"]
    if certificate.proof["problem"]["given"]:
        notes.append("The eigenvalues that are given are found by numpy, here and by `check`.")
    if certificate.spec.startswith("factors:"):
        notes[0] += (
            f" The members are the factors of the label of {origin['path']} where z_0 = -1: "
            "functions of z_1 .. z_n of z = X_1 * X_2, without noise, named by their secrets."
        )
    if "of" in origin:
        notes.append(
            f"The members are the {len(names)} of {origin['of']} whose names have the least "
            "SHA-256: nothing is claimed of the others."
        )
    return notes


_ZERO_ONE = (
    "the values are 0 and 1: give 1 - 2 v in place of v, of which there are claims about general "
    "queries and examples too, or subtract the mean with --centred"
)


def why_nothing(certificate: "Certificate") -> str:
    """Say why a certificate has nothing to say, where its members show it; empty else."""
    several = len(certificate.proof.get("about", {}).get("names", ())) > 1
    if several and certificate["average-correlation"].value == 1:
        return (
            "all members are the same function, up to its sign and size: does a lambda in a loop "
            "use the loop's variable?"
        )
    return _ZERO_ONE if _ZERO_ONE in member_notes(certificate) else ""
