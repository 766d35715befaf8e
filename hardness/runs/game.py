"""A game of a statistical-query learner against the adversary of the query bound."""

import math
import secrets
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple, Self

from msgspec import structs

from hardness.bounds import BoundParameters, Johnson, certify
from hardness.bounds.checker import read_problem
from hardness.bounds.checker.functions import MEMBERS, know
from hardness.bounds.checker.theorem import hypothesis_fits
from hardness.bounds.listed import MOST_BITS, bits, eigenvalue
from hardness.learners import Learner, learner_spec
from hardness.oracles import (
    Adversary,
    Budget,
    CertificateAdversary,
    GameRecord,
    Meter,
    ReferenceAdversary,
)
from hardness.oracles.means import can_follow, listed, unlisted_reason
from hardness.oracles.statistical import two_levels
from hardness.runs.run import Run, attempt, judged, require_support
from instances.coded import Coded, require_coded
from instances.errors import ToolkitError, UsageError
from instances.family import Family
from instances.sets import Symmetric
from instances.streams import generator

_SEED_BITS = 63  # of a seed that the operating system draws


class Spread(NamedTuple):
    """Limits on one query and one hypothesis, for members given as a list, with two values.

    moves: a bound on the sum over members of the squared change of a query's expectation from its
    mean over members. right: how many members one hypothesis can be exactly right for.
    """

    moves: Fraction
    right: int


class Game(Run, frozen=True, kw_only=True, eq=False):
    """A run against the adversary: what each query eliminated, and the certified bound.

    certified: the queries that any learner needs to recover the member in every game, at the
    tolerance of the oracle. It is known for families with two values only. It is None also for more
    than 5000 listed members, and if no number of queries suffices. drawn: whether the operating
    system drew the seed. A public seed determines which member is drawn at the end.
    """

    game_record: GameRecord
    certified: int | None
    drawn: bool

    @classmethod
    def read(cls, data: Any) -> Self:
        """Raise ValueError, since the JSON of a game is a summary of its rounds."""
        raise ValueError("a game is not read from its JSON: play it again with its seed")

    def to_dict(self) -> dict[str, Any]:
        """Return the run as JSON, with a summary of the game."""
        return {
            **super().to_dict(),
            "adversary": {
                "mode": self.game_record.mode,
                "members": str(self.game_record.members),
                "left": str(self.game_record.left),
                "bound": None if self.certified is None else str(self.certified),
                "seed_source": "operating system" if self.drawn else "given",
                "ruled_out": [
                    {"first": a, "last": b, "each": each, "left": str(left)}
                    for a, b, each, left in self.game_record.runs()
                ],
            },
        }


def play(
    learner: Learner,
    family: Family,
    budget: Budget,
    seed: int | None = None,
    tau: Fraction = Fraction(1, 10),
) -> Game:
    """Run a learner against the adversary; raises ToolkitError if no such game can be played.

    When the learner has finished, a member is drawn among those that agree with all answers. The
    hypothesis is measured on this member. seed: of the learner and of this draw; if it is None, the
    operating system draws it. A learner that knows the seed can compute the draw before the game.

    >>> from hardness.runs.registry import parse_learner
    >>> from instances import parse
    >>> game = play(parse_learner("queries"), parse("parity:d=8,m=2"), Budget())
    >>> game.queries, game.game_record.left
    (20, 1)
    """
    require_support(learner, family)
    if learner.access == "examples":
        raise UsageError(f"{learner.name} sees examples: the adversary answers queries only")
    if learner.access == "values":
        raise ToolkitError(
            f"{learner.name} asks membership queries: the adversary answers statistical queries "
            "only"
        )
    coded = require_coded(family)
    spread = listed_spread(coded)
    adversary = _adversary(coded, tau, Meter(budget), spread)
    drawn, seed = seed is None, secrets.randbits(_SEED_BITS) if seed is None else seed
    hypothesis, usage = attempt(learner, _QueriesOnly(adversary), seed)
    secret = adversary.draw(generator(seed, "adversary", learner_spec(learner)))
    instance = family.instance(seed)
    instance = replace(instance, hidden=replace(instance.hidden, secret=secret))
    details = {"tau": str(tau), "oracle": "adversary"}
    run = judged(learner, family, seed, budget, hypothesis, usage, instance, details)
    return Game(
        **structs.asdict(run),
        game_record=adversary.record(),
        certified=_bound(coded, tau, spread),
        drawn=drawn,
    )


class _QueriesOnly:
    """An adversary as a learner sees it: it answers queries, but its other methods are hidden."""

    def __init__(self, adversary: Adversary) -> None:
        self.family, self.tau, self.meter = adversary.family, adversary.tau, adversary.meter
        self.ask = adversary.ask


def listed_spread(family: Coded) -> Spread | None:
    """Compute the limits on a query for listed members with two values, from their Gram matrix.

    None for families of hidden sets, whose limits are known by formula. None also if members are
    not listed, are more than 5000, have more than two values, or are all equal.

    >>> from instances import parse
    >>> listed_spread(parse("parity:d=8,m=2")) is None
    True
    """
    if family.hidden_sets or unlisted_reason(family) is not None or not two_levels(family):
        return None
    codes = listed(family).codes
    if len(codes) < 2 or codes.size > MOST_BITS or len(codes) > MEMBERS:
        return None
    tables = [bits(row.astype(bool)) for row in codes]
    problem = {"kind": "functions", "signs": (codes.shape[1] - 1).bit_length(), "centred": False,
               "tables": tables}  # fmt: skip
    known = know(read_problem(problem), eigenvalue(problem))
    if known.gram is None:
        return None
    return Spread(moves=known.gram.moves,
                  right=int(hypothesis_fits(known.members, known.gram, Fraction(0))))  # fmt: skip


def _adversary(family: Coded, tau: Fraction, meter: Meter, spread: Spread | None) -> Adversary:
    if not family.hidden_sets and (reason := unlisted_reason(family)) is not None:
        raise UsageError(f"the adversary follows every member: {reason}")
    if not can_follow(family):
        return CertificateAdversary(family, tau, meter)
    if not isinstance(family, Symmetric):
        half = (max(family.levels) - min(family.levels)) / 2
        second = spread.moves * half**2 if spread else None
        return ReferenceAdversary(family, tau, meter, second)
    if family.characters:
        return ReferenceAdversary(family, tau, meter, Fraction(1))
    return ReferenceAdversary(family, tau, meter, Johnson.family(family).spread)


def _bound(family: Coded, tau: Fraction, spread: Spread | None) -> int | None:
    """Return the certified queries for success probability 1 and relative risk 0."""
    if spread is not None:
        # The bound is about functions of z. A mean over examples changes only (1 - 2 noise) / 2
        # times as much, since half of the examples are not informative.
        within = 2 * tau / (1 - 2 * family.noise)
        missing = len(listed(family).secrets) - spread.right
        ruled_out = math.floor(spread.moves / within**2)
        if missing <= 0:
            return 0
        return math.ceil(Fraction(missing, ruled_out)) if ruled_out else None
    if not isinstance(family, Symmetric) or not family.two_valued:
        return None
    terms = BoundParameters(tau=tau, risk=Fraction(0), success=Fraction(1))
    certificate = certify(family, terms)
    claimed = "stat-queries" in {claim.quantity for claim in certificate.claims}
    return certificate.integer("stat-queries") if claimed else None
