"""The groups of a sweep file: runs, climbs and Gram matrices, with what they share."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any, get_args

from hardness.lower import Terms
from hardness.lower.grams import grams_of
from hardness.oracles import Budget
from hardness.runs.ranges import numbers
from hardness.runs.run import OracleName
from hardness.sweep.node import Node
from hardness.sweep.ranges import Axes, axes, families, learners
from hardness.sweep.record import Climb, Gram, Runs
from hardness.upper import parse_learner
from instances.errors import UsageError, unknown
from instances.ladders import Ladder, ladder, ladder_of
from instances.spec import parse_stored

SHARED = ("tau", "oracle", "seeds", "learners", "certify", "budget")
GROUPS = ("runs", "climbs", "grams")
MOST_PAIRS = 10**6  # of a spec and a learner: they are listed
_MOST_BUDGETS = 1000
_MOST_TRIALS = 1000  # of a rung
_MOST_MEMBERS = 1 << 16  # the half of a matrix that is put together takes 9 GB then
_RUNS = ("spec", "over", *SHARED)
_CLIMB = ("ladder", "rungs", "learners", "seeds", "seed", "budget")
_GRAM = ("spec", "members", "samples", "confidence", "seed")
_BUDGET = ("examples", "queries", "seconds", "cpu_seconds", "memory")
_LONGEST = 1e9  # seconds, as of a Budget

Fields = Mapping[str, Node]


@dataclass(frozen=True, kw_only=True)
class Shared:
    """What stands at the top for all groups of runs, and in any of them for it alone."""

    tau: Fraction
    oracle: OracleName
    seeds: range | tuple[int, ...]
    certify: bool
    budgets: tuple[Budget, ...]


def shared(given: Fields, budget: Node | None = None) -> Shared:
    """Read what groups share; budget: a table whose limits stand where `given` has none."""
    tau = given["tau"].exact("a number such as 0.1 or 1/10") if "tau" in given else Fraction(1, 10)
    try:
        Terms(tau=tau)
    except UsageError as error:
        raise given["tau"].about(error) from error
    oracle = given["oracle"].text("an oracle") if "oracle" in given else "samples"
    if oracle not in get_args(OracleName):
        raise given["oracle"].about(unknown("oracle", oracle[:40], get_args(OracleName)))
    return Shared(
        tau=tau,
        oracle="exact" if oracle == "exact" else "samples",
        seeds=_seeds(given["seeds"]) if "seeds" in given else range(1),
        certify=given["certify"].flag() if "certify" in given else True,
        budgets=_budgets(budget, given.get("budget")),
    )


def runs(group: Node, defaults: Fields) -> Runs:
    """Read [[runs]]; raises UsageError where nothing can run."""
    own = group.fields(_RUNS, "[[runs]]")
    given = {**defaults, **own}
    said = shared(given, defaults.get("budget"))
    specs = [axes(one, one.text("a spec"), own.get("over")) for one in _listed(own, "spec", group)]
    named = _learners(given, group)
    wide, long = sum(a.count for a in specs), sum(a.count for a in named)
    each = len(said.seeds) * len(said.budgets)
    if wide * long > MOST_PAIRS:
        raise own.get("over", group).complaint(
            f"{wide} specs x {long} learners, {wide * long * each} runs, given: at most "
            f"{MOST_PAIRS} pairs of a spec and a learner stand in a group"
        )
    pairs, refused = _pairs(specs, named)
    if not pairs:
        raise group.complaint(f"nothing can run: {'; '.join(_reasons(refused))}")
    return Runs(
        title=f"runs {_number(group)}",
        pairs=pairs,
        seeds=said.seeds,
        budgets=said.budgets,
        oracle=said.oracle,
        tau=said.tau,
        certify=said.certify,
        left_out=tuple((name, why, count) for (name, why), count in refused.items()),
    )


def climb(group: Node, defaults: Fields) -> Climb:
    """Read [[climbs]]: rungs have budgets of their own, so that the default one is not theirs."""
    own = group.fields(_CLIMB, "[[climbs]]")
    given = {**{k: defaults[k] for k in ("learners", "seeds") if k in defaults}, **own}
    budgets = _budgets(None, own.get("budget"))
    if len(budgets) > 1:
        raise own["budget"].complaint("a climb has one budget: write [[climbs]] for each of them")
    seeds = given.get("seeds")
    count = _trials(seeds) if seeds else 5
    chosen = _ladder(own, group)
    names = tuple(dict.fromkeys(name for one in _learners(given, group) for name in learners(one)))
    first = parse_stored(chosen.specs[0])
    reasons = {name: parse_learner(name).supports(first) for name in names}
    if all(reasons.values()):
        said = next(f"{name}: {why}" for name, why in reasons.items())
        raise group.complaint(f"no learner can run on the first rung, {first.spec}: {said}")
    return Climb(
        title=f"climbs {_number(group)}",
        ladder=chosen,
        learners=names,
        seeds=count,
        base_seed=own["seed"].whole(0) if "seed" in own else None,
        budget=budgets[0],
    )


def gram(group: Node) -> Gram:
    """Read [[grams]]: families of parities, profiles and LWE-style ones."""
    own = group.fields(_GRAM, "[[grams]]")
    for key in ("spec", "members", "samples"):
        _required(own, key, group)
    found = next(families(axes(own["spec"], own["spec"].text("a spec"), None)))
    try:
        grams_of(found)
    except UsageError as error:
        raise own["spec"].complaint(str(error)) from error
    members = own["members"].whole(2, _MOST_MEMBERS)
    if found.size is not None and members > found.size:
        raise own["members"].refuse(f"at most the {found.size} members of {found.spec[:80]}")
    confidence = float(own["confidence"].exact("a number")) if "confidence" in own else 0.99
    if not 0 < confidence < 1:
        raise own["confidence"].refuse("a number between 0 and 1")
    return Gram(
        title=f"grams {_number(group)}",
        spec=found.spec,
        members=members,
        samples=own["samples"].whole(1),
        confidence=confidence,
        seed=own["seed"].whole(0) if "seed" in own else 0,
    )


def _pairs(
    specs: list[Axes], named: list[Axes]
) -> tuple[tuple[tuple[str, str], ...], Counter[tuple[str, str]]]:
    """List the pairs that can run, and count the specs of those that cannot, by learner and why."""
    chosen = {name: parse_learner(name) for one in named for name in learners(one)}
    pairs: list[tuple[str, str]] = []
    refused: Counter[tuple[str, str]] = Counter()
    seen = set[str]()
    for one in specs:
        for family in families(one):
            spec = family.spec
            if spec in seen:
                continue
            seen.add(spec)
            for name, learner in chosen.items():
                reason = learner.supports(family)
                if reason:
                    refused[name, reason] += 1
                else:
                    pairs.append((spec, name))
    return tuple(pairs), refused


def _reasons(refused: Counter[tuple[str, str]]) -> list[str]:
    """One reason a learner, of at most three of them."""
    first: dict[str, str] = {}
    for name, why in refused:
        first.setdefault(name, f"{name.partition(':')[0]}: {why}")
    return list(first.values())[:3]


def _learners(given: Fields, group: Node) -> list[Axes]:
    """Read the learners of a group: names, or tables of one with what it is varied over."""
    found = []
    for one in _listed(given, "learners", group):
        if isinstance(one.value, dict):
            own = one.fields(("learner", "over"), "a learner")
            name = _required(own, "learner", one)
            found.append(axes(name, name.text("a learner"), own.get("over")))
        else:
            found.append(axes(one, one.text("a learner, or { learner = ..., over = ... },"), None))
    return found


def _listed(given: Fields, key: str, group: Node) -> tuple[Node, ...]:
    single = (str,) if key == "spec" else (str, dict)
    return _required(given, key, group).items("texts", single)


def _required(own: Fields, key: str, group: Node) -> Node:
    if key not in own:
        raise group.complaint(f"{key} is missing: write {key} = ...")
    return own[key]


def _seeds(node: Node) -> range | tuple[int, ...]:
    """Read seeds: 5 for 0..4, "3..7", or a list."""
    if isinstance(node.value, str):
        try:
            found = numbers(node.text("a range such as 3..7"), "seeds")
        except UsageError as error:
            raise node.about(error) from error
        if isinstance(found, range):
            return found
        whole = tuple(v for v in found or () if isinstance(v, int))
        if not whole or whole != found:
            raise node.refuse("a range such as 3..7")
        return whole
    if isinstance(node.value, list):
        return tuple(dict.fromkeys(one.whole(0) for one in node.items("seeds")))
    return range(node.whole(1))


def _trials(node: Node) -> int:
    """Read how many instances of a rung there are; of a list of seeds its length."""
    count = len(_seeds(node))
    if count > _MOST_TRIALS:
        raise node.complaint(f"{count} seeds of a rung given: at most {_MOST_TRIALS}")
    return count


def _budgets(default: Node | None, own: Node | None) -> tuple[Budget, ...]:
    """Read a table of limits, each one or a list of them: every combination."""
    lists: dict[str, tuple[Any, ...]] = {}
    for node in (default, own):
        if node is None:
            continue
        for key, one in node.fields(_BUDGET, "a budget").items():
            given = one.items("limits", (int, str, Decimal, float))
            name = "memory_bytes" if key == "memory" else key
            lists[name] = tuple(dict.fromkeys(_limit(key, value) for value in given))
    count = prod(map(len, lists.values()))
    if count > _MOST_BUDGETS:
        raise (own or default).complaint(  # type: ignore[union-attr]
            f"{count} budgets given: at most {_MOST_BUDGETS} of a group"
        )
    return tuple(
        Budget(**dict(zip(lists, chosen, strict=True))) for chosen in product(*lists.values())
    )


def _limit(key: str, node: Node) -> Any:
    """Read one limit; "none" is no limit."""
    if node.value == "none":
        return None
    if key == "memory":
        return node.size()
    return node.number(0, _LONGEST) if "seconds" in key else node.whole(1)


def _ladder(own: Fields, group: Node) -> Ladder:
    if ("ladder" in own) == ("rungs" in own):
        raise group.complaint("a climb needs `ladder` or `rungs`, one of the two")
    node = own["ladder"] if "ladder" in own else own["rungs"]
    try:
        if "ladder" in own:
            return ladder(node.text("the name of a ladder"))
        specs = node.items("specs")
        for spec in specs:  # each with its own key in the message
            list(families(axes(spec, spec.text("a spec"), None)))
        return ladder_of(spec.text("a spec") for spec in specs)
    except UsageError as error:
        known = str(error).startswith(node.file)
        raise error if known else node.about(error) from error


def _number(group: Node) -> int:
    return int(group.path[-1]) + 1
