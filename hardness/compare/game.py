"""A game: a statistical-query learner against the adversary of the query bound."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, get_args

from hardness.compare.run import Run, attempt, judged, require_support
from hardness.lower import Johnson, Terms, certify
from hardness.oracles import (
    Adversary,
    Budget,
    CertificateAdversary,
    Meter,
    ReferenceAdversary,
    StabbingAdversary,
    Transcript,
)
from hardness.oracles.means import can_follow
from hardness.upper import Learner, learner_spec
from instances.errors import ToolkitError, UsageError
from instances.family import Family
from instances.parity import Parity
from instances.streams import generator
from instances.symmetric import Symmetric

Strategy = Literal["adversary", "stabbing"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Game:
    """A finished game: the run, every query and answer, and the certified bound it stands beside.

    bound: queries that any learner must be allowed to recover the member in every game, at the
    oracle's tolerance; None where there is no bound on the queries that it may ask.
    """

    run: Run
    transcript: Transcript
    bound: int | None

    def to_json(self) -> dict[str, Any]:
        """Write the run, and the game in a few numbers."""
        left = self.transcript.entries[-1].alive if self.transcript.entries else None
        return {
            **self.run.to_json(),
            "adversary": {
                "mode": self.transcript.mode,
                "members": str(self.transcript.members),
                "left": str(self.transcript.members if left is None else left),
                "bound": None if self.bound is None else str(self.bound),
                "ruled_out": [
                    {"first": a, "last": b, "each": each, "left": str(alive)}
                    for a, b, each, alive in self.transcript.runs()
                ],
            },
        }


def play(
    learner: Learner,
    family: Family,
    budget: Budget,
    seed: int = 0,
    strategy: Strategy = "adversary",
    tau: Fraction = Fraction(1, 10),
) -> Game:
    """Run a learner against the adversary; raises ToolkitError where there is no such game.

    The member is drawn when the learner has finished, among those that every answer was right for;
    the hypothesis is measured on it.

    >>> from hardness.upper import parse_learner
    >>> from instances import parse
    >>> game = play(parse_learner("queries"), parse("parity:d=8,m=2"), Budget())
    >>> game.run.usage.queries, game.transcript.entries[-1].alive
    (20, 1)
    """
    if strategy not in get_args(Strategy):
        raise UsageError(f"oracle {strategy!r} given: one of {', '.join(get_args(Strategy))}")
    require_support(learner, family)
    if learner.access == "examples":
        raise ToolkitError(f"{learner.name} sees examples: the adversary answers queries only")
    if not isinstance(family, Symmetric):
        raise ToolkitError(f"{family.spec} given: there is no adversary for this family")
    adversary = _adversary(family, strategy, tau, Meter(budget))
    hypothesis, usage = attempt(learner, _Asked(adversary), seed)
    secret = adversary.draw(generator(seed, "adversary", learner_spec(learner)))
    drawn = family.instance(seed)
    instance = replace(drawn, hidden=replace(drawn.hidden, secret=secret))
    how = {"tau": str(tau), "oracle": strategy}
    return Game(
        run=judged(learner, family, seed, hypothesis, usage, instance, how),
        transcript=adversary.transcript(secret),
        bound=_bound(family, tau),
    )


class _Asked:
    """An adversary as a learner sees it: it answers queries, and draws no member for anybody."""

    def __init__(self, adversary: Adversary) -> None:
        self.family, self.tau, self.meter = adversary.family, adversary.tau, adversary.meter
        self.ask = adversary.ask


def _adversary(family: Symmetric, strategy: Strategy, tau: Fraction, meter: Meter) -> Adversary:
    if not can_follow(family):
        if strategy == "stabbing":
            raise UsageError(
                f"{family.spec} is too large to follow every member: --oracle stabbing needs that, "
                "--oracle adversary does not"
            )
        return CertificateAdversary(family, tau, meter)
    if strategy == "stabbing":
        return StabbingAdversary(family, tau, meter)
    if isinstance(family, Parity):
        return ReferenceAdversary(family, tau, meter, Fraction(1))
    second = Johnson.family(family).spread
    return ReferenceAdversary(family, tau, meter, Fraction(int(second.p), int(second.q)))


def _bound(family: Symmetric, tau: Fraction) -> int | None:
    """The certified bound for success probability 1 and relative risk 0."""
    exact = Terms(tau=tau, risk=Fraction(0), success=Fraction(1))
    if not family.two_valued:
        return None
    return int(certify(family, exact).value("stat-queries"))
