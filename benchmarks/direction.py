"""Bounds of the family `direction` over d and m: the table of docs/families/beyond.md.

Powers of ten. Random: directions of pairwise correlation at most one over their number, which exist
by a union bound; listed: those of an explicit code; queries: to STAT(1/10) on rounded labels, for
relative risk 1/4 with probability 2/3.
"""

import math
from collections.abc import Iterator

from hardness.lower import certify
from instances import parse

DIMENSIONS = (30, 100, 300, 1000, 3000)
DEGREES = (2, 4, 8, 12)


def shown(value: int) -> str:
    return f"{math.log10(value):.1f}" if value > 2 else "-"


def rows() -> Iterator[str]:
    yield "| m | d | norm | random | listed | queries |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for m in DEGREES:
        for d in DIMENSIONS:
            made = certify(parse(f"direction:m={m},d={d}"))
            found = {one.quantity: one.value for one in made.claims}
            names = ("random-members", "sq-dimension-at-least", "stat-queries")
            counts = [shown(int(found.get(name, 0))) for name in names]
            norm = math.log10(found["operator-norm-at-most"])
            yield f"| {m} | {d} | {norm:.1f} | {' | '.join(counts)} |"


if __name__ == "__main__":
    print("\n".join(rows()))
