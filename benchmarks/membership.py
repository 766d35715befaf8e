"""Values and errors of learners by membership queries, for docs/membership.md."""

from collections.abc import Iterator

from hardness.oracles import Budget
from hardness.runs.run import learn_once
from hardness.upper import parse_learner
from hardness.upper.matching import match
from instances import parse

CASES = (
    ("onehead", "nice:m=1,k=2,d=16"),
    ("onehead", "nice:m=1,k=8,d=32"),
    ("onehead", "nice:m=1,k=8,d=32,tokens=gaussian"),
    ("onehead", "nice:m=1,k=8,d=32,tokens=gaussian,rank=2"),
    ("onehead", "nice:m=1,k=2,d=16,tokens=gaussian,noise=1"),
    ("multihead", "nice:m=1,k=2,d=8,tokens=gaussian"),
    ("multihead", "nice:m=5,k=2,d=16,tokens=gaussian"),
    ("multihead", "nice:m=2,k=4,d=16,tokens=gaussian"),
    ("multihead", "nice:m=12,k=2,d=16,tokens=gaussian"),
    ("multihead", "nice:m=16,k=3,d=64,tokens=gaussian"),
    ("multihead", "nice:m=5,k=2,d=16,tokens=gaussian,noise=1"),
)
HEAD = ("| learner | layer | values | over d² | largest error |", "|---|---|---|---|---|")


def rows() -> Iterator[str]:
    """Run each case once; the error is the largest relative one of a Theta or W, ||.||_F."""
    yield from HEAD
    for learner, spec in CASES:
        instance = parse(spec).instance(0)
        found, usage = learn_once(parse_learner(learner), instance, Budget())
        errors = match(found.layer, instance.layer())
        ratio = usage.values / instance.family.d**2
        error = max(errors.theta + errors.w)
        yield f"| `{learner}` | `{spec}` | {usage.values} | {ratio:.2f} | {error:.0e} |"


if __name__ == "__main__":
    print("\n".join(rows()))
