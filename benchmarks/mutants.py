"""Mutants of the kernel: each rule and each check weakened in turn, and a certificate that tells.

A mutant is the kernel's text with one piece replaced. Its forger writes a certificate in which
values and words are those that the mutant finds. It is caught where the kernel and the mutant do
not say the same of that file. `make mutants` prints those that survive.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from forge import MALFORMED, claimed, sealed

from hardness.check import kernel

TEXTS = {path.stem: path.read_text() for path in Path(kernel.__file__).parent.glob("*.py")}
CODES = {name: compile(text, f"{name}.py", "exec") for name, text in TEXTS.items()}
Json = Any
Step = tuple[Any, ...]


def hidden(values: str, places: int, noise: str = "0") -> Json:
    """Pose a hidden set; values: those of g, with spaces between."""
    g = values.split()
    return {"kind": "hidden-set", "places": places, "chosen": len(g) - 1, "values": g,
            "noise": noise}  # fmt: skip


def modular(
    n: int, q: int, parts: int = 0, law: str = "", least: int = 0, h: int = 0, **more: Any
) -> Json:
    """Pose residues, as they are if no other parts are given; law: counts, with spaces between."""
    entries = [least, law.split()] if law else None
    return {"kind": "residues", "n": n, "q": q, "bits": 20, "parts": parts or q, "errors": None,
            "secret": {"weight": h, "entries": entries},
            "labels": "interval" if parts else "residue", **more}  # fmt: skip


def listed(signs: int, *tables: Json, **more: Json) -> Json:
    return {"kind": "functions", "signs": signs, "centred": False, "tables": list(tables),
            "given": None, **more}  # fmt: skip


def turned(degree: int, low: str, labels: str = "two", noise: str = "0", n: int = 30) -> Json:
    return {"kind": "direction", "dimension": n, "degree": degree, "low": low.split(),
            "labels": labels, "noise": noise}  # fmt: skip


PARITY = hidden("1 -1 1 -1", 7)
EVEN = {**hidden("1 1 -1", 7), "view": "positions"}  # neither odd nor even: a majority of two
SOLE, THREES = {**PARITY, "view": "positions"}, {**PARITY, "view": "three-tokens"}
SIGNED = turned(4, "0 1/9999 0 0")
MAJORITY = hidden("1 1 -1 -1", 7)
LARGE = hidden(" ".join(["1", "-1"] * 64), 10**18)
MANY = hidden("0 1 3", 5)
THREE = listed(3, "aa", "cc", "e8")  # two signs, and the majority of three
SEVEN = listed(3, "aa", "cc", "f0", "66", "5a", "3c", "fe")
OPPOSITE = listed(2, "5", "a", "6")
HALVES = modular(2, 8, 2, "1 1 1", -1)
PRIME = modular(2, 7)
NEAR = {**PRIME, "bits": 5}  # a is far from uniform

RISK, SUCCESS = {"risk": "1/4"}, {"success": "2/3"}
STAT = {"oracle": "stat", "term": "2/9"}
VSTAT = {"oracle": "vstat", "term": "8"}


def asked(first: list[Step], *, risk: str = "1/4", success: str = "2/3", **ask: str) -> list[Step]:
    """Members by step 1, a gram by the last step given: what queries and examples are needed."""
    n, goal = len(first), {"success": success}
    return [*first, ("fit", 1, n, {"risk": risk}), ("ask", n, {**STAT, **ask}),
            ("queries", 1, n + 1, n + 2, goal), ("information", 1, n + 1, goal)]  # fmt: skip


CHARACTERS: list[Step] = [("subsets",), ("characters", 1)]
JOHNSON: list[Step] = [("subsets",), ("overlaps",), ("johnson", 1, 2)]


def spread(top: str, count: int = 3, proof: Json = None) -> list[Step]:
    return [("products",), ("spread", 1, {"top": top, "proof": proof or {"weights": [1] * count}})]


SPREAD = spread("3")


def factor(scale: int, *rows: str) -> Json:
    return {"factor": list(rows), "scale": scale}


SIDES = """b in zip(row, part, strict=True)]
            for row, part in zip(rows, squares(factor), strict=True))"""
ONCE = {"weights": [1, 1, 1]}
ONE, TWO = factor(9, "5", "-5", "0"), factor(9, "5 -2", "-5 -1", "0 3")


def led(large: Json, top: str, proof: Json, features: str = "2") -> list[Step]:
    numbers = {"large": large, "top": top, "proof": proof}
    return regression([*SPREAD, ("leading", 1, 2, numbers)], features)


def gradual(
    first: list[Step], by: str = "noisy", clip: str = "1", risk: str = "1/4", success: str = "2/3",
    steps: str | None = "3", **numbers: str,
) -> list[Step]:  # fmt: skip
    """Gradient descent, a gram by the last step given; by: how its answers are off."""
    n, goal = len(first), {"success": success, "steps": steps}
    means, numbers = ("gradients", n, {"clip": clip}), numbers or {"std": "3"}
    if by == "nearby":
        fit = ("fit", 1, n, {"risk": risk})
        return [*first, means, fit, ("nearby", 1, n + 2, n + 1, {**goal, **numbers})]
    fit = ("fit", 1, n, {"risk": risk})
    return [*first, means, (by, 1, n + 1, numbers), fit, ("descent", 1, n + 3, n + 2, goal)]


def batched(
    first: list[Step], batch: int = 1, bits: int = 1, risk: str = "1/4", success: str = "2/3",
    steps: str | None = "3",
) -> list[Step]:  # fmt: skip
    n, numbers = len(first), {"batch": str(batch), "bits": str(bits)}
    ends = ("batches", 1, n, numbers), ("fit", 1, n, {"risk": risk})
    goal = {"success": success, "steps": steps}
    return [*first, *ends, ("descent", 1, n + 2, n + 1, goal)]


def regression(
    first: list[Step], features: str | None = "2", risk: str = "1/4", success: str = "2/3"
) -> list[Step]:
    goal = {"features": features, "risk": risk, "success": success}
    return [*first, ("features", 1, len(first), goal)]


def ratio(degree: int, examples: str | None = "9", most: str | None = None) -> list[Step]:
    numbers = {"degree": str(degree), "examples": examples, "most": most}
    return [*JOHNSON[:2], ("low-degree", 1, 2, numbers)]


def secrets(base: str = "1", cut: int = 0, *weights: Json) -> list[Step]:
    return [("secrets", {"base": base, "cut": cut, "weights": [*weights]}), ("laws", 1)]


SECRETS = secrets()


def chained(bound: int, risk: str = "1/5", success: str = "2/3") -> list[Step]:
    numbers = {"bound": str(bound), "examples": "9", "risk": risk, "success": success}
    return [*SECRETS, ("lwe", 1, numbers)]


def law(base: str, cut: int, *weights: Json, **more: str) -> list[Step]:
    """What is needed where members are not all as likely."""
    return asked(secrets(base, cut, *weights), **{"risk": "1/10", "term": "1", **more})


def around(**more: str) -> list[Step]:
    return asked([("directions",), ("sphere",)], **more)


def random(size: int, cosine: str, power: int = 1) -> list[Step]:
    return [("drawn", {"size": str(size), "cosine": cosine, "power": power})]


def fields(size: int, q: int, points: int, degree: int) -> list[Step]:
    return [("polynomials", {"size": str(size), "q": q, "points": points, "degree": degree})]


def packed(size: int, overlap: int, code: str, data: Json = None) -> list[Step]:
    given = {"overlap": overlap, "size": str(size), "code": code, "data": data}
    return [*JOHNSON[:2], ("code", given), ("packing", 1, 2, 3)]


def every(gamma: str, enough: int, caps: str = "", inner: str = "", average: str = "0") -> Step:
    """Multipliers of the sets of so many members."""
    return ("every-set", 1, 2, {"gamma": gamma, "inner": inner.split(), "average": average,
                                "caps": caps.split(), "enough": str(enough)})  # fmt: skip


def some(gamma: str, size: int, *shape: int) -> Step:
    return ("some-set", 1, 2, {"gamma": gamma, "shape": list(shape), "size": str(size)})


def averages(*ends: Step) -> list[Step]:
    return [*JOHNSON[:2], *ends, ("sda", 1, *range(3, 3 + len(ends)))]


def by_sets(t: int, gamma: str, enough: int) -> list[Step]:
    ends = ("fit", 1, 3, RISK), ("vstat-sets", 2, 4, {"t": str(t)})
    return [*JOHNSON, every(gamma, enough), *ends, ("queries", 1, 5, 6, SUCCESS)]


BY_MIXTURE: list[Step] = [*JOHNSON, ("fit", 1, 3, RISK), ("mixture", 1), ("ask", 5, VSTAT),
                          ("queries", 1, 4, 6, SUCCESS)]  # fmt: skip


def edge() -> Json:
    """Pose the majority with noise, to its last bits, above which a query rules out one less."""

    def most(noise: Fraction) -> int:
        problem = kernel.read_problem({**MAJORITY, "noise": kernel.written(noise)})
        return int(kernel.prove(problem, written(BY_MIXTURE))[5].most)

    low, high = Fraction(1, 20), Fraction(1, 5)
    wanted = most(low)
    for _ in range(400):
        middle = (low + high) / 2
        low, high = (middle, high) if most(middle) == wanted else (low, middle)
    return {**MAJORITY, "noise": kernel.written(low)}


def by_weights(top: str, count: int = 3, proof: Json = None) -> list[Step]:
    shown = {"top": top, "proof": proof or {"weights": [1] * count}}
    asks = ("fit", 1, 2, RISK), ("weighted", 1, shown), ("ask", 4, VSTAT)
    return [*spread("3", count), *asks, ("queries", 1, 3, 5, SUCCESS)]


def least(judge: ModuleType, problem: Json, steps: Callable[[str], list[Step]]) -> list[Step]:
    """Steps with the least number that a kernel lets pass, to the last bit."""
    low, high = 0, 1 << 64
    while high - low > 1:
        middle = (low + high) // 2
        try:
            judge.prove(judge.read_problem(problem), written(steps(f"{Fraction(middle, 1 << 60)}")))
            high = middle
        except judge.Refused:
            low = middle
    return steps(f"{Fraction(high, 1 << 60)}")


def by_most_risk(judge: ModuleType) -> list[Step]:
    """A risk that a hypothesis has for fewer than all members; one that is larger, for all."""
    low, high = 0, (1 << 60) - 1
    while high - low > 1:
        middle = (low + high) // 2
        steps = asked(spread("2", 4), oracle="csq", risk=f"{Fraction(middle, 1 << 60)}")[:-1]
        facts = judge.prove(judge.read_problem(FINE), written(steps))
        low, high = (middle, high) if facts[2].most < 4 else (low, middle)
    return asked(spread("2", 4), oracle="csq", risk=f"{Fraction(low, 1 << 60)}")[:-1]


def apart(
    upper: int, chosen: list[int], classes: list[list[int]], order: list[int] | None = None
) -> list[Step]:
    given = {"chosen": chosen, "classes": classes, "order": order, "upper": str(upper)}
    return [("products",), ("apart", 1, given)]


def sums(gamma: str, enough: int, *above: int) -> list[Step]:
    given = {"gamma": gamma, "above": list(above), "enough": str(enough)}
    return [("products",), ("sums", 1, given)]


# Making of files.


def written(steps: list[Step]) -> list[Json]:
    """Write steps as a file has them: a rule, the steps that it cites, its numbers."""
    out = []
    for name, *rest in steps:
        numbers = rest.pop() if rest and isinstance(rest[-1], dict) else {}
        out.append({"rule": name, "from": rest, **numbers})
    return out


def forged(judge: ModuleType, problem: Json, steps: list[Json]) -> Json:
    """Write a certificate of all that a kernel lets steps prove, in its words."""
    data = {"format": judge.FORMAT, "about": {"spec": "none"}, "problem": problem, "steps": steps}
    return sealed(claimed(judge, data))


@dataclass(frozen=True)
class _Texts(MetaPathFinder, Loader):
    codes: dict[str, CodeType]

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name.partition(".")[0] != "mutant":
            return None
        return ModuleSpec(name, self, is_package=name == "mutant")

    def exec_module(self, module: ModuleType) -> None:
        """Run a file: our own kernel, one piece of it replaced."""
        _, inside, name = module.__name__.partition(".")
        exec(self.codes[name if inside else "__init__"], module.__dict__)


def loaded(codes: dict[str, CodeType]) -> ModuleType:
    finder = _Texts(codes)
    sys.meta_path.insert(0, finder)
    try:
        return import_module("mutant")
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if name.partition(".")[0] == "mutant"]:
            del sys.modules[name]


# Mutants, and what tells them from the kernel.
# ruff: noqa: E501

Spoil = Callable[[Json], Json]


@dataclass(frozen=True)
class M:
    """A piece of the kernel's text, what stands there instead, and what tells the two apart.

    new: several, if the same tells each. steps: a proof, or how one is found for a kernel. change: of the certificate of it; text: of its file, as it is written.
    """

    old: str
    new: Any
    problem: Json = field(default_factory=lambda: PARITY)
    steps: list[Step] | Callable[[ModuleType], list[Step]] = field(
        default_factory=lambda: asked(CHARACTERS)
    )
    change: Spoil = lambda data: data
    text: Callable[[str], str] = lambda text: text

    @property
    def name(self) -> str:
        return " ".join(f"{self.old} -> {self.new}".split())

    def load(self) -> ModuleType:
        """Load the kernel with the change; raises ValueError where the piece is not there once."""
        found = [name for name, text in TEXTS.items() for _ in range(text.count(self.old))]
        if len(found) != 1:
            raise ValueError(f"{self.old!r} is {len(found)} times in the kernel")
        changed = TEXTS[found[0]].replace(self.old, self.new)
        return loaded({**CODES, found[0]: compile(changed, f"{found[0]}.py", "exec")})

    def caught(self) -> str | None:
        """Say how the kernel and the mutant differ; None where they do not."""
        mutant = self.load()
        steps = written(self.steps(mutant) if callable(self.steps) else self.steps)
        try:
            data = forged(mutant, self.problem, steps)
        except (mutant.Refused, *MALFORMED):  # of what the kernel accepts, then
            data = forged(kernel, self.problem, steps)
        text = self.text(json.dumps(sealed(self.change(data))))
        wrong, right = _verdict(mutant, text), _verdict(kernel, text)
        if wrong == right or not (wrong + right).count("accepted:"):
            return None
        return f"{wrong[:90]} | {right[:90]}"


def _verdict(judge: ModuleType, text: str) -> str:
    try:
        return "accepted: " + " / ".join(judge.check(judge.load(text)))
    except judge.Refused as reason:
        return f"refused: {reason}"


def at(path: str, new: Any) -> Spoil:
    """Change what stands at a path; ... for the value drops it."""

    def spoil(data: Json) -> Json:
        *keys, last = [int(key) if key.isdigit() else key for key in path.split("/")]
        here = data
        for key in keys:
            here = here[key]
        if new is ...:
            del here[last]
        else:
            here[last] = new(here[last]) if callable(new) else new
        return data

    return spoil


def text(old: str, new: str) -> Callable[[str], str]:
    """Change the text of the file, digest and all."""
    return lambda given: given.replace(old, new, 1)


SMALL = f"{10**41}/{10**42 + 1}"  # a bit below 1/10
CAPS = "12 18 4"  # how many members are at each distance: with no other multiplier, all members
HALF = "13/30"  # the average correlation of the 15 sets that hold a place
EQUAL = listed(2, "5", "3", "6")  # three orthogonal members
LONG = f"1{'0' * 41}1/1{'0' * 42}"  # a bit above 1
BENT = listed(2, [[0], [1, -1]], [[0], [2, -2]])  # one function, by correlations that are rounded
BELOW, ABOVE = f"-1/{1 << 41}", f"1/{1 << 41}"
ONES = [[0], [0, 1]], [[1], [0, 1]]  # values 0 and 1
MIXED = listed(3, [[0], [0, 3]], [[0, 2], [1, 2, -1, 4]])
LOW = listed(2, [[0, 1], [1, 1, 1, -2]], [[0], [-1, 1]])  # a correlation below 0, and no rational
FINE = listed(2, [[0], [1, -1]], [[1], [2, -2]], [[0, 1], [1, -1, -1, 1]], [[], [1]])
PLACES = listed(2, [[0], [1, -1]], [[0, 1], [1, 1, 1, -1]])
PAIR = listed(2, "5", "3")
ERRORS = {**PRIME, "errors": [-1, [str(1 << 62), str(1 << 63), str(1 << 62)]]}
LIFTED = modular(4, 16, 4, h=2)  # vectors mod 8, of which those that have a 0 are rarer
SKEW = modular(4, 7, 0, "1 8 2", -1)
TURNS = {**SKEW, "labels": "window", "parts": 7}  # two secrets may be one member
RARE = modular(5, 8, 2, "16 64 8")  # entries that are no unit
FAINT = modular(3, 3, 0, "1 8 2", -1, labels="window")  # a query rules out none
FEW = modular(4, 7, 0, "1 2", 1, 2)
SKEWED = law("1/2", 3, 0, 2, 3)
EDGE = edge()


def taken(top: str, weighted: str | None = None) -> Json:
    """Pose three functions, with eigenvalues that are taken as given."""
    return {**THREE, "given": [top, weighted]}


GIVEN = taken("1", "1")
OTHER_LAW = [
    *secrets("1/2", 3, 0, 2, 3), ("secrets", {"base": "1/2", "cut": 0, "weights": [0, 2, 3]}), ("fit", 3, 2, {"risk": "1/10"}),
    ("gradients", 2, {"clip": "1/9"}), ("noisy", 1, 5, {"std": "9"}), ("descent", 3, 4, 6, {"success": "2/3", "steps": "9"}),
]  # fmt: skip
RARER = secrets("1/2", 3, 0, 2, 3)  # of SKEW
TWINS = modular(4, 8, 2, "1 8 2", -1)
FAR = hidden("1 -1 1 -1", 40, "1/8")
BY_GRID = {"grid": "20", "parameters": "4"}
DULL = hidden("1 -1 1 -1", 7, "4999999/10000000")
FADED = hidden("1 1 -1", 9, "1/10")
AGAIN: list[Step] = [*SECRETS[:1], *SECRETS, ("fit", 1, 3, RISK)]  # two laws of one problem

MUTANTS: tuple[M, ...] = (
    # Rules of every family.
    M("if room > 0 else members.count", "if room else members.count", NEAR, asked(SECRETS, risk="7/8")[:-1]),
    M("gram.alike * problem.down", "problem.down", PRIME, asked(SECRETS)),
    M("problem.down(gram.top / room)", "problem.down(gram.least / room)", MAJORITY, asked(JOHNSON, oracle="csq")),
    M("room = gram.least - risk * gram.scale", "room = gram.least - 0 * gram.scale", PARITY, asked(CHARACTERS, risk="9/10")),
    M('need(gram.general or oracle == "csq"', '(gram.general or oracle == "csq"', MANY, asked(JOHNSON)),
    M("need(0 < term <= 1 and", "need(0 < term and", steps=asked(CHARACTERS, term="2")),
    M("problem.down(gram.moves / term**2)", "problem.down(gram.moves / term)", steps=asked(CHARACTERS)),
    M("problem.down(3 * term * weight", "problem.down(term * weight", steps=asked(CHARACTERS, **VSTAT)),
    M("term**2 * weight / 4", "term**2 * weight / 8", THREE, asked(SPREAD, oracle="vstat-least", term="2")),
    M("need(term >= 1 and term.denominator == 1", "need(term >= 1", steps=asked(CHARACTERS, oracle="vstat", term="7/2")),
    M("need(term >= 1 and term.denominator == 1", "need(term.denominator == 1", steps=asked(CHARACTERS, oracle="vstat", term="0")),
    M('oracle in ("vstat", "vstat-least"), "the', 'True or oracle in ("vstat", "vstat-least"), "the', steps=asked(CHARACTERS, oracle="all", term="2")),
    M("most=min(most, members.count)", "most=most", steps=asked(CHARACTERS, risk="35/36", term="9/10")[:-1]),
    M("guess = chance(members, fit.most)", "guess = chance(members, fit.most - 1)", steps=asked(CHARACTERS, term="9/10")),
    M("most, wanted = min(cap.most, count)", "most, wanted = cap.most", THREES, asked(CHARACTERS, term="1/10")),
    M("digits += more and up != (value < 0)", "digits += more", LARGE),
    M("(near, near + 1, near - 1)", "(near, near + 1)", turned(2, f"0 {10**50 - 1}/{10**50 + 1}"), [("sphere",)]),
    M("runs = [(written(v),", "runs = [(short(v),", hidden(f"2 {10**50 - 1}/{10**50 + 1}", 7), JOHNSON[:2]),
    M("rules out at most {short(most, up=True)}", "rules out at most {short(most)}", LARGE, asked(CHARACTERS, term=f"1/{10**25 + 1}")),
    M("between {short(low)} and {short(high, up=True)}", "between {short(low)} and {short(high)}", LARGE, packed(1, 0, "disjoint")),
    M("least = max(0, -int((fit.most - wanted) // most))", ("least = max(0, -int(-wanted // most))", "least = max(0, 1 - int(math.ceil((fit.most - wanted) / most)))"), PARITY, asked(CHARACTERS, success="26/35")),
    M("    while fit.most * levels**n < wanted", "    while fit.most * levels**n <= wanted", hidden("1 -1", 8), asked(CHARACTERS, success="1")),
    M("if not cap.most:", "if cap.most <= 25:"),
    M("need(fact.of is members,", "(fact.of is members,", PRIME, [SECRETS[0], SECRETS[0], SECRETS[1], ("fit", 1, 3, RISK), ("information", 2, 4, SUCCESS)]),
    M("    same(fit, members)\n    count, at", "    count, at", PRIME, [SECRETS[0], SECRETS[0], SECRETS[1], ("fit", 1, 3, RISK), ("ask", 3, STAT), ("queries", 2, 4, 5, SUCCESS)]),
    M("    same(fit, members)\n    levels, wanted", "    levels, wanted", PRIME, [SECRETS[0], SECRETS[0], SECRETS[1], ("fit", 1, 3, RISK), ("information", 2, 4, SUCCESS)]),
    M("need(problem.scaled is not None,", "(problem.scaled is not None,", {**MAJORITY, "view": "among-others"}, asked(JOHNSON, oracle="csq")),
    M("short(success, up=True)}", "short(success)}", steps=asked(CHARACTERS, success=f"{10**50 - 1}/{10**50}")),
    M("STAT({short(term, up=True)})", "STAT({short(term)})", LARGE, asked(CHARACTERS, term=f"1/{10**49 + 1}")),
    M("within = short(term, up=True)", "within = short(term)", MAJORITY, asked(JOHNSON, oracle="csq", term=f"1/{10**49 + 1}")),
    # Hidden sets.
    M("need(noise < Fraction(1, 2)", "need(noise < 1", hidden("1 -1", 8, "1/2")),
    M("need(len(g) == m + 1 and", "need(len(g) > m and", {**MAJORITY, "chosen": 2}, [("overlaps",)]),
    M("small(given[\"chosen\"], 1, min(n, 128)", "small(given[\"chosen\"], 1, min(n, 129)", hidden(" ".join(["1", "-1"] * 65), 200)),
    M("small(given[\"chosen\"], 1, min(n, 128)", "small(given[\"chosen\"], 1, 128", hidden("1 -1 1", 1), CHARACTERS),
    M("set(given) == (fields | {\"view\"} if view else fields)", "True", {**PARITY, "more": 1}),
    M("count=math.comb(problem.n, problem.m)", "count=problem.n**problem.m"),
    M("g=g, fade=1 - 2 * noise", "g=g, fade=1 - 4 * noise", hidden("1 -1", 8, "1/10")),
    M("levels = len(set(g)) if", "levels = len(g) if", MAJORITY, asked(JOHNSON, oracle="csq")),
    M("half=(max(g) - min(g)) / 2", "half=max(g) - min(g)", MAJORITY, asked(JOHNSON)),
    M("need(problem.parity,", "(True,", MAJORITY),
    M("part**2 * (3 if two else 1)", "part**2 * (2 if two else 1)", THREES),
    M("part**2 * (3 if two else 1)", "part**2 * (3 if two else Fraction(1, 2))", SOLE),
    M("part**2 * (3 if two", "part * (3 if two"),
    M("part * (3 if two else Fraction(1, 2))", ("part * (2 if two else Fraction(1, 2))", "part**2 * (3 if two else 1)"), THREES, asked(CHARACTERS, oracle="vstat", term="4")),
    M("    moves = problem.fade**2 * part", "    moves = problem.fade**4 * part", {**THREES, "noise": "1/10"}),
    M("moves01 = problem.fade**2 *", "moves01 = problem.fade**4 *", {**THREES, "noise": "1/10"}, asked(CHARACTERS, **VSTAT)),
    M("else 2**bits if parity", "else 2 if parity", THREES),
    M("Fraction(3, 4), 2,", "Fraction(1, 2), 2,", THREES),
    M('need(view in VIEWS, "the', 'view = view if view in VIEWS else ""; need(True, "the', {**PARITY, "view": "none"}),
    M('need(problem.bits == 1, "this', '(True, "this', THREES, JOHNSON),
    M('need(problem.part < 1 or turned, "this', '(True, "this', EVEN, JOHNSON),
    M("turned = all(a == b for a, b in ends) or", "turned = any(a == b for a, b in ends) or", EVEN, JOHNSON),
    M("len({a + b for a, b in ends}) == 1", "len({a + b for a, b in ends}) == 2", EVEN, JOHNSON),
    M('need(problem.part * 2 == 1, "this', '(True, "this', SOLE, [*CHARACTERS, ("fit", 1, 2, RISK), ("mixture", 1), ("ask", 4, VSTAT), ("queries", 1, 3, 5, SUCCESS)]),
    M("moves=moves, moves01=moves01,", "moves=moves, moves01=moves01 / 2,", steps=asked(CHARACTERS, **VSTAT)),
    M("(a + b) / 2 for a, b in pairwise(rows", "(a + 2 * b) / 3 for a, b in pairwise(rows", MAJORITY, JOHNSON),
    M("c = [value / 2**t - mean**2", "c = [value / 2**t", hidden("0 0 1", 5), JOHNSON),
    M("if m == problem.n:", "if m > problem.n:", hidden("1 -1", 1), [("overlaps",)]),
    M("(-1) ** (i - h) * comb(m - h, i - h)", "comb(m - h, i - h)", MAJORITY, JOHNSON),
    M("comb(n - m + h - k, h)", "comb(n - m + h, h)", MAJORITY, JOHNSON),
    M("comb(m - k, h) *", "comb(m, h) *", MAJORITY, JOHNSON),
    M("spread, less = max(values[1:])", "spread, less = min(values[1:])", MAJORITY, JOHNSON),
    M("c[m] - values[0] / count", "c[m]", MAJORITY, asked(JOHNSON, oracle="csq", risk="1/8")),
    M("moves=unit * problem.part * spread", ("moves=unit * spread / 4", "moves=unit * spread * problem.part**2"), MAJORITY, asked(JOHNSON)),
    M("unit, more = problem.part * problem", "unit, more = problem.part**2 * problem", MAJORITY, asked(JOHNSON)),
    M("general=problem.levels == 2, eig", "general=True, eig", MANY, asked(JOHNSON)),
    M("small(overlap, 0, m - 1,", "small(overlap, 0, m,", MAJORITY, packed(1, 3, "disjoint")),
    M("len(one) == m == len(given)", "len(one) <= m == len(given)", MAJORITY, packed(2, 0, "listed", [[0, 0, 0], [1, 1, 1]])),
    M("right and len(sets) == size <= 2048", "right", MAJORITY, packed(3, 0, "listed", [[0, 1, 2], [3, 4, 5]])),
    M("len(one & other) <= t for", "len(one & other) <= t + 1 for", MAJORITY, packed(2, 0, "listed", [[0, 1, 2], [2, 3, 4]])),
    M('small(j, 0, n - 1, "a place")', 'small(j, 0, n, "a place")', MAJORITY, packed(1, 0, "listed", [[0, 1, 7]])),
    M("fits = prime(q) and", "fits = ", hidden("1 1 -1 -1", 12), packed(2, 0, "reed-solomon", 4)),
    M("m <= q and q * m", "q * m", MAJORITY, packed(2, 0, "reed-solomon", 2)),
    M("and q * m <= n and", "and", MAJORITY, packed(3, 0, "reed-solomon", 3)),
    M("and size <= q ** (t + 1)", "", hidden("1 1 -1 -1", 9), packed(4, 0, "reed-solomon", 3)),
    M("size * m <= n if code", "size <= n if code", MAJORITY, packed(3, 0, "disjoint")),
    M("t == m - 1 and size <=", "size <=", MAJORITY, packed(35, 0, "all")),
    M("and size <= math.comb(n, m)", "", hidden("1 -1 1", 3), packed(4, 1, "all")),
    M('code in ("disjoint", "all") and few', "few", MAJORITY, packed(2, 2, "none")),
    M("need(size == 1 or c[code.overlap] * size <= c[m],", "(True,", MAJORITY, packed(9, 2, "all")),
    M("upper = max(upper, min(most,", "upper = min(min(most,", MAJORITY, packed(2, 0, "disjoint")),
    M("upper = max(upper, min(most, meeting(problem.n, m, t)))", "upper = max(upper, most)", MAJORITY, packed(2, 0, "disjoint")),
    M("min(most, meeting(problem.n, m, t))", "meeting(problem.n, m, t)", MAJORITY, packed(2, 0, "disjoint")),
    M("most = c[m] // c[t] if c[t] else members.count", "most = c[m] // c[t] if c[t] else 1", hidden("1 -1", 8), packed(2, 0, "disjoint")),
    M("for t in range(m):\n        most", "for t in range(m - 1):\n        most", hidden("1 -1 1", 7), packed(2, 0, "disjoint")),
    M("for step in range(t, -1, -1)", "for step in range(t, 0, -1)", MAJORITY, packed(2, 0, "disjoint")),
    M("most = ground * most // weight", "most = most // weight", MAJORITY, packed(2, 0, "disjoint")),
    M("ground * (weight - meets) //", "(weight - meets) //", MAJORITY, packed(2, 0, "disjoint")),
    M("if weight**2 > ground * meets:", "if weight**2 != ground * meets:", hidden("1 -1 1 -1", 12), packed(2, 0, "disjoint")),
    M("SDA.format(written(sets.gamma)", "SDA.format(short(sets.gamma)", MAJORITY, averages(every(SMALL, 36))),
    M("PAIRS.format(written(gamma), short(q))", "PAIRS.format(short(gamma), short(q))", MAJORITY, [*JOHNSON[:2], ("closest-pairs", 1, 2, {"gamma": SMALL})]),
    M("SDA.format(written(gamma), between", "SDA.format(short(gamma), between", EQUAL, sums(SMALL, 4)),
    M("PAIRS.format(written(gamma), short(pairs))", "PAIRS.format(short(gamma), short(pairs))", EQUAL, sums(SMALL, 4)),
    M("gamma < 1 and enough <=", "gamma < 1/2 and enough <=", MAJORITY, averages(every("1/2", 2))),
    M("enough <= members.count:", "enough < members.count:", MAJORITY, averages(every("1/20", 35))),
    M("need(len(caps) == m and len(inner)", "need(len(inner)", hidden("1 -1", 5), averages(every("1/2", 3, "0 0", "", "2"))),
    M("and len(inner) < len(table[0]),", ",", hidden("1 -1", 5), averages(every("1/2", 3, "0", "0 0", "2"))),
    M("need(min([average, *inner, *caps]) >= 0", "(min([average, *inner, *caps]) >= 0", MAJORITY, averages(every("1/20", 26, "33/5 72/5 21/5", "", "-1"))),
    M("need(left >= v,", "(left >= v,", MAJORITY, averages(every("1/20", 2, "0 0 0"))),
    M("left -= sum(y * e for", "left -= sum(y * min(e, 0) for", MAJORITY, averages(every("1/20", 31, "12 15 1", "1"))),
    M("average * v * (c[m - i] / c[m] - gamma)", "average * v * (0 - gamma)", MAJORITY, averages(every("1/20", 30, "0 0 0", "", "20"))),
    M("most = 1 + sum(inner)", "most = sum(inner)", MAJORITY, averages(every("1/20", 35, CAPS))),
    M("+ sum(caps) + average * (1 - gamma)", "+ sum(caps)", MAJORITY, averages(every("1/2", 35, "12 18 4", "", "1/100"))),
    M("enough >= most if average else enough > most", "enough >= most", MAJORITY, averages(every("1/20", 35, CAPS))),
    M("size <= members.count and gamma * size < 1", "size <= members.count and gamma * size <= 1", MAJORITY, averages(every("1/20", 36), some("1/20", 20, 0, 0, 0))),
    M("size <= members.count and gamma * size < 1", "gamma * size < 1", MAJORITY, averages(every("1/50", 36), some("1/50", 40, 0, 0, 0))),
    M("total > gamma * c[m] * count**2", "total >= gamma * c[m] * count**2", MAJORITY, averages(every(HALF, 36), some(HALF, 15, 1, 0, 0))),
    M("need(count == size,", "(count == size,", MAJORITY, averages(every("2/5", 36), some("2/5", 35, 1, 0, 0))),
    M("pairs[a + p + r] +=", "pairs[min(m, a + p + r + 1)] +=", MAJORITY, averages(every("1/2", 36), some("1/2", 15, 1, 0, 0))),
    M("math.comb(ground - one, two - p)", "math.comb(ground, two - p)", MAJORITY, averages(every("1/2", 36), some("1/2", 15, 1, 0, 0))),
    M("else (count - 1) // bad", "else count // bad", MAJORITY, averages(every("1", 8))),
    M("bad = members.count, sets.enough - 1", "bad = members.count, sets.enough - 2", MAJORITY, averages(every("1", 8))),
    M("upper = (count - 1) // some.size", "upper = count // some.size - 1", MAJORITY, averages(every("2/5", 36), some("2/5", 15, 1, 0, 0))),
    M("need(some is None or some.gamma == sets.gamma,", "(True,", MAJORITY, averages(every("1", 20), some("1/20", 19, 0, 0, 0))),
    M("bad = pairs + math.ceil(total / -each) - 1", "bad = pairs", MAJORITY, [*JOHNSON[:2], ("closest-pairs", 1, 2, {"gamma": "2/3"})]),
    M("if total + more * each > 0:", "if total + more * each > more:", MAJORITY, [*JOHNSON[:2], ("closest-pairs", 1, 2, {"gamma": "1/4"})]),
    M("math.isqrt((count**2 - 1) // bad)\n    text = PAIRS", "math.isqrt(count**2 // bad)\n    text = PAIRS", hidden("1 -1", 4), [*JOHNSON[:2], ("closest-pairs", 1, 2, {"gamma": "9/10"})]),
    M("need(problem.levels == 2, ", "(True,", MANY, by_sets(100, "7/570", 11)),
    M("need(sets.gamma == vstat_gamma(problem, overlaps, t),", "(1,", MAJORITY, by_sets(100, "1", 2)),
    M("/ (3 * t * unit", "/ (2 * t * unit", MAJORITY, by_sets(1, "1", 2)),
    M("Fraction((1 - mu**2) / (3", "Fraction(1 / (3", hidden("1 1 -1", 7), by_sets(1, "8/9", 22)),
    M("    unit = problem.part * problem.fade**2", "    unit = problem.fade**2", MAJORITY, by_sets(1, "1/3", 36)),
    M('most=sets.enough - 1, name="vstat"', 'most=sets.enough - 2, name="vstat"', MAJORITY, by_sets(100, "1/150", 36)),
    M("need(problem.levels == 2 and m < n", "need(m < n", MANY, BY_MIXTURE),
    M("need(problem.levels == 2 and m < n", "need(problem.levels == 2", hidden("1 -1", 1), [("subsets",), ("mixture", 1), ("characters", 1), ("fit", 1, 3, RISK), ("ask", 2, VSTAT), ("queries", 1, 4, 5, SUCCESS)]),
    M("1 - fade + 2 * fade * fewer", "1 - fade + 4 * fade * fewer", MAJORITY, BY_MIXTURE),
    M("top = max(top, sum(v * e", "top = max(0, sum(v * e", MAJORITY, BY_MIXTURE),
    M("top = max(top, sum(v * e + wrong * abs(e)", "top = max(top, sum(v * e", EDGE, BY_MIXTURE),
    M("* fade * fewer)) if fewer else 0)", "* fade * fewer)))", hidden("1 -1", 4), BY_MIXTURE),
    M("min(counts.values())", "max(counts.values())", MAJORITY, BY_MIXTURE),
    M("moves01=fade**2 * top / 2", "moves01=fade**4 * top / 2", EDGE, BY_MIXTURE),
    M("(n + bits + 2), general", "(n + bits + 3), general", MAJORITY, BY_MIXTURE),
    M("for k in range(1, len(table[0])):\n        at", "for k in range(2, len(table[0])):\n        at", MAJORITY, BY_MIXTURE),
    M("sums, off = {}, 2**free", "sums, off = {}, 0", EDGE, BY_MIXTURE),
    M("[x + y for x, y in pairwise(tails)], 2 * off", "[x + y for x, y in pairwise(tails)], off", EDGE, BY_MIXTURE),
    M("+ wrong * abs(e) for", "+ wrong * e for", EDGE, BY_MIXTURE),
    M("[x + y for x, y in pairwise(tails)]", "[x for x, y in pairwise(tails)]", MAJORITY, BY_MIXTURE),
    M("signs[a + i] * signs[a + j] * one", "signs[a + i] * one", MAJORITY, BY_MIXTURE),
    # Residues.
    M("need(q & (q - 1) == 0 or prime(q),", "(True,", modular(2, 15), asked(SECRETS)),
    M('set(given["secret"]) == {"weight", "entries"},', "True,", {**PRIME, "secret": {"weight": 0, "entries": None, "kind": "wide"}}, SECRETS),
    M('(given["secret"]["weight"], 0, n, "weight")', '(given["secret"]["weight"], 0, 9 * n, "weight")', modular(2, 7, h=3), SECRETS[:1]),
    M('"window") and q % parts == 0', '"window")', modular(2, 8, 3), SECRETS),
    M('need(parts == q or labels != "residue",', "(True,", {**HALVES, "labels": "residue"}, SECRETS),
    M("need(q % 2 == 0 or 2 * n * q <= 1 << bits,", "(True,", {**PRIME, "bits": 4}, SECRETS),
    M('need(labels == "residue" and sum', "need(sum", {**HALVES, "errors": ERRORS["errors"]}, SECRETS),
    M("sum(counts.values()) == 1 << 64,", "True,", {**PRIME, "errors": [0, [str(1 << 63)]]}, SECRETS),
    M("out[value % q] += count", "out[value % q] = count", {**PRIME, "errors": [0, [str(1 << 62), *["1"] * 6, str(3 * (1 << 62) - 6)]]}, asked(SECRETS, term="1")),
    M("2 if labels == \"window\" else parts", "parts", {**HALVES, "labels": "window", "parts": 4}, SECRETS),
    M("range(3, math.isqrt(q) + 1, 2)", "range(3, math.isqrt(q), 2)", modular(2, 9), SECRETS),
    # Laws, as they are read.
    M("need(len(listed(given)) == 2, f", "(0, f", modular(2, 7, 0, "1 2") | {"secret": {"weight": 0, "entries": [0, ["1", "2"], 0]}}, SECRETS),
    M("first, counts = small(given[0], -(1 << 40), 1 << 40,", "first, counts = small(given[0], -(1 << 41), 1 << 41,", modular(2, 7, 0, "1", (1 << 41) - 1), SECRETS),
    M("len(counts) <= 1 << 15,", "len(counts) <= 1 << 16,", modular(2, 7, 0, "1 " * ((1 << 15) + 1)), SECRETS[:1]),
    M("all(c >= 0 and c.denominator", "all(c.denominator", modular(2, 7, 0, "3 -1 3"), SECRETS),
    M("c >= 0 and c.denominator == 1 for", "c >= 0 for", modular(2, 7, 0, "3/2 1"), SECRETS),
    M("and counts[0] and counts[-1]", "and counts[-1]", modular(2, 7, 0, "0 1"), SECRETS),
    M("and counts[0] and counts[-1]", "and counts[0]", modular(2, 7, 0, "1 1 0"), SECRETS),
    M("for i, c in enumerate(counts) if c}", "for i, c in enumerate(counts)}", modular(2, 7, 0, "1 0 1", 1), SECRETS),
    M("{first + i: int(c)", "{first - i: int(c)", modular(2, 7, 0, "1 1 1", 1, 1), SECRETS[:1]),
    M("== 1 and not gaps", "== 1", modular(2, 7, 0, "1 0 1", 1), SECRETS),
    M("({0} if h else set())", "set()", modular(2, 7, 0, "1 0 1", -1, 1), SECRETS),
    M("even = len(set(entries.values())) == 1", "even = True", SKEW, SECRETS),
    # The chain to LWE.
    M('need(problem.levels == p and problem.errors is None and p < q, "labels', '(0, "labels', modular(9, 64, 4, "1 1", labels="window"), chained(1, "1/100")),
    M('need(bound <= q // (2 * p), f"', '(0, f"', modular(9, 64, 2, "1 1"), chained(17)),
    M("risk * (p * p - 1) / 3", "risk", modular(9, 64, 4, "1 1"), chained(1, "1/100")),
    M("need(wrong < Fraction(1, 4), above)", "(0, above)", modular(9, 64, 2, "1 1"), chained(1, "1/3")),
    M('need(success > SLACK, "success', '(0, "success', modular(9, 64, 2, "1 1"), chained(1, success="1/2199023255552")),
    M("(success - SLACK) ** 2,", "success**2,", modular(9, 64, 2, "1 1"), chained(1)),
    M("Fraction(q, q + p * bound), guess", "Fraction(q, q + bound), guess", modular(9, 64, 2, "1 1"), chained(1)),
    M("    if examples > last:\n", "    if False:\n", modular(2, 64, 2, "1 1"), chained(9)),
    M("if 2 * a > b else 1", "", modular(3, 64, 2, "1 8 1", -1), chained(1)),
    M("ones = max(1, -((n * (b - a) - k * a) // (2 * a - b)))", "ones = k", modular(5, 64, 2, h=2), chained(1)),
    M("* (b**k - (b - a) ** k))", "* b**k)", modular(3, 64, 2, "1 1"), chained(1)),
    M("Fraction(ways, math.comb(n, k) *", "Fraction(ways, ", modular(5, 64, 2, "1", 1, 2), chained(1)),
    M("for e, c in law.items() if e % 2)", "for e, c in law.items() if e)", modular(5, 64, 2, "1 1 1"), chained(1)),
    M("problem.q // 2 - bool(problem.h)", "problem.q // 2", modular(5, 64, 2, h=2), chained(1)),
    # Members.
    M("else 2 * (q // parts)", "else q // parts", HALVES, SECRETS),
    M("(q % 2 == 1 or modulus == 4)", "(q % 2 == 1 or modulus <= 8)", HALVES, SECRETS),
    M("differ = levels == parts and (q", "differ = (q", {**PRIME, "labels": "window"}, SECRETS),
    M("modulus // 2), True\n", "modulus // 2), False\n", PRIME, SECRETS),
    M("(modulus - 1 if modulus % 2 else modulus // 2)", "modulus - 1", modular(2, 8, 2), SECRETS),
    M("modulus - units - (h > 0))]", "modulus - units)]", modular(2, 7, h=2), SECRETS),
    M('need(not numbers, "uniform', '(0, "uniform', PRIME, secrets("1", 0, 1)),
    M("residues_of(entries, modulus), len(", "entries, len(", modular(2, 2, 0, "1 2 1"), SECRETS),
    M("modulus), len(residues_of(entries, q))", "modulus), len(entries)", modular(2, 7, 0, "1 " * 9), SECRETS),
    M("need(len(numbers) in (0, len(folded)),", "(0,", SKEW, secrets("1", 0, 0, 0)),
    M("sorted(folded.items()), strict", "folded.items(), strict", SKEW, secrets("1/2", 3, 3, 0, 2)),
    M("math.gcd(v, modulus) == 1, not unit)", "True, False)", modular(2, 7, 0, "1 1"), SECRETS),
    M("sum(group.units for group in groups), any", "len(groups), any", PRIME | {"secret": {"weight": 0, "entries": [0, ["1", "1"]]}}, SECRETS),
    M("none = sum(group.units for group in groups), any(v % q == 0 for v in entries)", "none = sum(group.units for group in groups), False", HALVES, SECRETS),
    M('need(units > 0, "no', '(0, "no', modular(2, 7, 0, "1"), SECRETS[:1]),
    M("need(not h or not folded[0],", "(0,", modular(3, 8, 4, "1 1 1 1", 1, 2), SECRETS),
    M("if entries is None and h and modulus < q:", "if entries is None and h and modulus < 0:", LIFTED, SECRETS),
    M("if entries is None and h and modulus < q:", "if entries is None and modulus < q:", modular(2, 8, 4), SECRETS),
    M("if entries is None and h and modulus < q:", "if h and modulus < q:", modular(3, 16, 4, "1 2 1", 1, 2), asked(SECRETS)),
    M("numbers or [0] * len(folded)", "numbers or range(len(folded))", SKEW, law("1/2", 2)),
    M("math.comb(n, h) if h else 1, h or n", "1, h or n", modular(3, 7, 0, "1 2", 1, 2), SECRETS),
    M("if h else 1, h or n", "if h else 1, n", modular(3, 7, 0, "1 2", 1, 2), SECRETS),
    M("alike, as_one = (units, 1) if differ", "alike, as_one = (1, 1) if differ", PRIME, SECRETS),
    M("else (1, units)\n", "else (1, 1)\n", HALVES, SECRETS),
    M("even = not lost and total", "even = total", modular(2, 7, 0, "1 100 1", -1), asked(secrets("101/20000", 1))),
    M("not lost and total == vectors * tiers[0][1]", "not lost", modular(3, 7, 0, "1 3 1", -1), asked(SECRETS)),
    M("count = vectors // as_one", "count = vectors", HALVES, SECRETS),
    M("upper = math.comb(n, h) * values**h if h", "upper = values**h if h", modular(3, 7, h=2), SECRETS),
    M("values**n - none\n", "values**n\n", PRIME, SECRETS),
    M("q - (h > 0)\n", "q\n", modular(3, 7, h=2), SECRETS),
    # How likely they are: by weights.
    M('small(cut, 0, 1 << 16, "the cut")', 'small(cut, -1, 1 << 16, "the cut")', SKEW, law("1/2", -1, 0, 2, 3)),
    M('[small(w, 0, 1 << 16, "a weight")', '[small(w, -1, 1 << 16, "a weight")', SKEW, law("1/2", 2, 0, -1, 3)),
    M("every[weight] += mass * (units + others)", "every[weight] += mass * units", SKEW, SKEWED),
    M("without[weight] += mass * others", ("without[weight] += 0 * mass * others", "without[weight] += others"), SKEW, SKEWED),
    M("most[weight] = max(most[weight], mass)", "most[weight] = mass", modular(4, 7, 0, "2 8 6", -1), law("1/4", 1, 0, 0, 1)),
    M("likeliest = base.numerator, base.denominator, max(most.values())", "likeliest = base.numerator, base.denominator, min(most.values())", SKEW, law("1", 0, 0, 0, 3)),
    M('need(bounded, "an', '(0, "an', SKEW, law("1/2", 3, 0, 3, 3)),
    M("mass * low**w <= likeliest * top**w", "mass * low**w <= likeliest * top**w * low", SKEW, law("1/2", 3, 0, 3, 4)),
    M("for w, mass in most.items())", "for w, mass in most.items() if w < 3)", SKEW, law("1/2", 3, 0, 2, 4)),
    M("(sum(g.units + g.others for g in groups), sum", "(sum(g.units for g in groups), sum", SKEW, SKEWED),
    M("sum(g.others for g in groups))", "0)", SKEW, SKEWED),
    M("places * (values**many - dull**many), places", "values**many - dull**many, places", FEW, law("1/2", 1, 1, 0)),
    M("places * low**cut\n", ("low**cut\n", "places\n"), FEW, law("1/2", 1, 1, 0)),
    M(" - below(+without, many, cut)", "", SKEW, SKEWED),
    M("lost = below(every, many, cut)", "lost = below(every, many, cut - 1)", SKEW, SKEWED),
    M("** many - sum(without.values()) ** many", "** many", SKEW, SKEWED),
    M("likeliest**many * top**cut)], lost", "likeliest**many)], lost", SKEW, law("2/3", 3, 0, 3, 5)),
    M("lost * scale, total * scale\n", "lost, total * scale\n", SKEW, SKEWED),
    M("    if not counts:\n        return 0\n", "", FEW, law("1/2", 1, 1, 0)),
    M("if cut > many * first else []", "if cut > first else []", RARE, law("1/2", 6, 2, 0, 3, success="1")),
    M("range(1, cut - many * first)", "range(1, cut)", RARE, law("1/2", 12, 2, 0, 3, success="1")),
    M("[(w - first, count)", "[(w, count)", RARE, law("1/2", 12, 2, 0, 3, success="1")),
    M("many * w - (j - w)", "many * w - j", SKEW, law("1/2", 5, 0, 2, 3)),
    M("for w, count in rest if w <= j)", "for w, count in rest)", SKEW, law("1/2", 3, 0, 2, 3)),
    M("(j * counts[first]))", "j)", SKEW, law("1/2", 3, 0, 2, 3)),
    # How likely they are, of entries that are not 0 mod q.
    M("(math.comb(n, j) * ((modulus", "(((modulus", LIFTED, asked(SECRETS)),
    M("(modulus - 1) ** j - (", "modulus**j - (", LIFTED, asked(SECRETS)),
    M(" - (modulus // 2 - 1) ** j)", ")", LIFTED, asked(SECRETS)),
    M("(math.comb(n - j, h - j) * (lifts", "((lifts", LIFTED, asked(SECRETS, success="1/3")),
    M("(lifts - 1) ** (h - j) * lifts", "lifts ** (h - j) * lifts", LIFTED, asked(SECRETS)),
    M("(h - j) * lifts**j for", "(h - j) for", LIFTED, asked(SECRETS)),
    M("key=lambda tier: -tier[1])", "key=lambda tier: tier[1])", LIFTED, asked(SECRETS)),
    # What that says of learners.
    M("    if members.law is None or success == 1:\n        return success * members.count\n", "    if 1:\n        return success * members.count\n", SKEW, SKEWED),
    M("return success * members.count\n", "return members.count\n"),
    M("- success.denominator * lost\n", "\n", SKEW, SKEWED),
    M("here = min(size, max(0,", "here = max(0, max(0,", LIFTED, asked(SECRETS)),
    M("max(0, -(-missing //", "max(-99, -(-missing //", SKEW, law("1/2", 9, 0, 2, 3)),
    M("-(-missing // (success.denominator * weight))", "missing // (success.denominator * weight)", SKEW, SKEWED),
    M("missing - here * success.denominator * weight\n", "missing\n", LIFTED, asked(SECRETS)),
    M("-(-found // as_one)\n", ("found\n", "found // as_one\n"), TURNS, law("1/2", 1, 0, 2, 3, success="1/2")),
    M("return Fraction(count, members.count)\n", "return Fraction(0)\n", steps=asked(CHARACTERS, term="9/10")),
    M("tiers, weighs, total, as_one = members.law\n", "tiers, weighs, total, as_one = members.law\n    weighs = 0\n", FAINT, law("1/2", 3, 0, 2, 3)),
    M("left = count * as_one\n", "left = count\n", FAINT, law("1/2", 0, 0, 2, 3)),
    M("min(left, size) * weight, left", "left * weight, left", LIFTED, asked(SECRETS, term="1", risk="9/10")),
    M(", left - min(left, size)\n", ", left\n", LIFTED, asked(SECRETS, term="1", risk="9/10")),
    M("Fraction(min(weighs, total), total)", "Fraction(weighs, total)", FAINT, law("1/2", 3, 0, 2, 3, risk="3/4")),
    M("most, wanted = min(cap.most, count), likely(members, success)", "most, wanted = min(cap.most, count), success * count", SKEW, law("1/2", 3, 0, 2, 3)),
    M("levels, wanted = problem.levels, likely(members, success)", "levels, wanted = problem.levels, success * members.count", SKEW, law("1/2", 3, 0, 2, 3)),
    M("    if members.law is None:\n        return \"\"\n", "    return \"\"\n", SKEW, SKEWED),
    # What all of them move.
    M("least = 1 - Fraction(n * x, whole)", "least = 1 - Fraction(x, whole)", NEAR, SECRETS),
    M("most = 1 / (1 - Fraction(n * (q - x), whole))", "most = 1 + Fraction(q - x, whole)", NEAR, SECRETS),
    M("square = Fraction(problem.levels - 1)", "square = Fraction(1)", PRIME, asked(SECRETS)),
    M("(c * c for c in problem", "(c * c // 2 for c in problem", ERRORS, asked(SECRETS, term="1/2")),
    M("need(square > 0,", "(square > 0,", modular(2, 4, errors=[0, [str(1 << 62)] * 4]), asked(SECRETS)),
    M("Fraction(problem.levels // 2, problem.levels)", "rarest", PRIME, asked(SECRETS, term="1/3")),
    M("(most - least) / (most + least), -(", "(most - least) / 9 / (most + least), -(", NEAR, SECRETS),
    M("-(-members.count // members.alike)", "members.count", PRIME, SECRETS),
    M("min(unlike, math.floor(1 / apart)) if apart", "unlike if apart", NEAR, SECRETS),
    M("moves=most * square * spread", "moves=square * spread", NEAR, asked(SECRETS, term="1/3")),
    M("spread = part * (1 - part)", "spread = part * (1 - part) / 2", PRIME, asked(SECRETS, term="1/3")),
    M("square * (1 - rarest) / 2", "square * (1 - rarest) / 4", PRIME, asked(SECRETS, **VSTAT)),
    # Directions.
    M("all(0 <= g <= 1 for g in low)", "all(g <= 1 for g in low)", turned(1, "-1/999"), around()),
    M("need(len(low) == m and all(0", "need(all(0", turned(4, "0"), around()),
    M('need(labels in ("two", "real") and noise', "need(noise", turned(1, "0", "none"), [("directions",), ("sphere",)]),
    M('labels in ("two", "real") and noise < Fraction(1, 2)', "True", turned(1, "0", noise="3/4"), around()),
    M('need(labels == "two" or noise == 0', '(labels == "two" or noise == 0', turned(1, "0", "real", "1/10"), around(oracle="csq")[:-1]),
    M('fields = {"kind", "dimension", "degree", "low", "labels", "noise"}', "fields = set(given)", {**SIGNED, "more": 1}, around()),
    M('small(given["dimension"], 2,', 'small(given["dimension"], 1,', turned(1, "0", n=1), around()),
    M('small(given["degree"], 1, 64', 'small(given["degree"], 1, 65', turned(65, " ".join(["0"] * 65)), around()),
    M("range(1, k, 2)), math", "range(1, k - 1, 2)), math", SIGNED, around()),
    M("range(n, n + k, 2)", "range(n, n + k + 2, 2)", SIGNED, around()),
    M("    k += k % 2\n", "", turned(3, "0 0 0"), around()),
    M("for k, g in enumerate(problem.low)), power", "for k, g in enumerate(problem.low[:0])), power", turned(2, "1/2 0"), around()),
    M("math.ceil(value * size) / size", "math.floor(value * size) / size", SIGNED, around()),
    M("return min(Fraction(1), math.ceil", "return max(Fraction(0), math.ceil", turned(2, "1 1"), around()[:2]),
    M("whole = up(sum((", "whole = (sum((", SIGNED, around()),
    M("rest = up(sum(", "rest = (sum(", SIGNED, around()),
    M("enumerate(problem.low)), power_norm(n, m)))", "enumerate(problem.low)), power_norm(n, m + 1)))", SIGNED, around()),
    M("top=rest, least=1 - whole", "top=rest, least=1 - rest", SIGNED, around()),
    M("two, fade = problem.levels == 2, problem.fade**2", "two, fade = problem.levels == 2, problem.fade**4", turned(2, "0 0", noise="1/10"), around()),
    M("power_norm(n, k + 1) for k, g", "power_norm(n, k + 3) for k, g", turned(2, "0 1/2"), around()),
    M("for k, g in enumerate(problem.low) if k]", "for k, g in enumerate(problem.low[:0]) if k]", turned(2, "0 1/2"), around()),
    M("enumerate(problem.low) if k]", "enumerate(problem.low)]", turned(2, "1/2 0"), around()),
    M("parts, power_norm(n, m + 1))", "parts, power_norm(n, m + 3))", SIGNED, around()),
    M("least=1 - whole,", "least=Fraction(1),", SIGNED, around()),
    M("moves=fade * rest,", "moves=fade * rest / 2,", SIGNED, around()),
    M("moves01=fade * whole / 2 if two", ("moves01=fade * rest / 2 if two", "moves01=fade * whole / 4 if two"), SIGNED, around(**VSTAT)),
    M("alike=1, general=two,", "alike=1, general=True,", turned(2, "0 0", "real"), around()[:-1]),
    M('need(levels is not None, "labels', 'levels = levels or 2; (True, "labels', turned(2, "0 0", "real"), around(oracle="csq")),
    M("down=Fraction,", "down=math.floor,", SIGNED, around()),
    M('"all directions" if members.share', '"all directions" if not members.share', SIGNED, around()),
    M("size * (size - 1), 2)", "size, 2)", turned(2, "0 0", n=1000), random(5, "1/3")),
    M("problem.n, 2 * j) / cosine ** (2 * j)", ("problem.n, 2 * j) / cosine ** j", "problem.n, 2 * j) * cosine ** (2 * j)"), turned(2, "0 0", n=1000), random(5, "1/3")),
    M('need(sure > 0, "a pair', '(True, "a pair', turned(2, "0 0"), random(10, "1/4")),
    M('need(correlation(problem, cosine) * size <= 1', '(True', turned(2, "0 0", n=1000), random(5, "1/2")),
    M("for k, g in enumerate(problem.low)) + cosine**problem.m", "for k, g in enumerate(problem.low[:0])) + cosine**problem.m", turned(2, "1/9 0", n=1000), random(9, "1/3", 5)),
    M("prime(q) and points <= q and points * q", "points <= q and points * q", SIGNED, fields(2, 4, 3, 1)),
    M("points <= q and points * q", "points * q", SIGNED, fields(2, 3, 5, 1)),
    M("points * q <= problem.n,", "True,", SIGNED, fields(2, 7, 6, 1)),
    M('need(size <= q ** (t + 1),', "(True,", SIGNED, fields(10, 3, 3, 0)),
    M("need(size == 1 or near * size <= 1,", "(True,", SIGNED, fields(9, 3, 3, 2)),
    M("Fraction(t, points))", "Fraction(0))", SIGNED, fields(25, 5, 3, 2)),
    # Listed functions.
    M("SIGNS if bits else", "21 if bits else", listed(21, "1", "2"), [("products",)]),
    M("need(2 <= len(rows) <= MEMBERS,", "need(len(rows) <= MEMBERS,", listed(2, "5"), [("products",)]),
    M('need(type(centred) is bool,', "(0,", listed(2, "5", "3", centred=1), [("products",)]),
    M("need(max(tables) < 1 << (1 << n),", "(True,", listed(2, "15", "a"), [("products",)]),
    M('"0|[1-9a-f][0-9a-f]*", r', '"[0-9a-f]+", r', listed(2, "05", "a"), [("products",)]),
    M('"centred", "tables", "given"}, "fields', '*given}, "fields', listed(2, "5", "3", more=1), [("products",)]),
    M("len(on) <= SIGNS and on == sorted(set(on)),", "len(on) <= SIGNS,", listed(2, [[0, 0], [1, 2, 3, 4]], [[1], [1, -1]]), [("products",)]),
    M("need(len(values) == 1 << len(on),", "(0,", listed(2, [[0, 1], [1, -1]], [[1], [1, -1]]), [("products",)]),
    M("two = all(v in (-1, 1) for _", "two = all(v in (0, 1) for _", listed(2, *ONES), asked(spread("1", 2))),
    M("levels=2 if two else None", "levels=2", listed(2, *ONES), asked(spread("1", 2), oracle="csq")),
    M("        if top is not None:\n", "        if 0:\n", GIVEN, asked(spread("1", 3, "given"))),
    M("need(top == problem.given[0],", "(0,", GIVEN, asked(spread("3/4", 3, "given"))),
    M("need(top == problem.given[1],", "(0,", GIVEN, by_weights("3/2", 3, "given")),
    M("eigenvalue above {written(top)}", "eigenvalue above {short(top, up=True)}", taken(LONG), asked(spread(LONG, 3, "given"))),
    M("need(top > 0 and (count - 1)", ("(top > 0 and (count - 1)", "need(top > 0 and count"), taken("3/5"), asked(spread("3/5", 3, "given"))),
    M("need(top > 0 and (count - 1)", "need(top and (count - 1)", {**BENT, "given": [BELOW, None]}, asked(spread(BELOW, 2, "given"), oracle="csq")[:-1]),
    M("count * (mean - 2 * off), TRACE", "count * mean, TRACE", {**BENT, "given": [ABOVE, None]}, asked(spread(ABOVE, 2, "given"), oracle="csq")[:-1]),
    M("need((members.count - 1) * top >= trace", ("((members.count - 1) * top >= trace", "need(members.count * top >= trace"), taken("1", "9/10"), by_weights("9/10", 3, "given")),
    M("sum(2 * max(d, count - d) * many", "sum(2 * min(d, count - d) * many", taken("1", "9/10"), by_weights("9/10", 3, "given")),
    M("in downs.items() if 0 < d < count)", "in downs.items())", GIVEN, by_weights("1", 3, "given")),
    M("v << most - len(on)", "v", PLACES, [("products",)]),
    M("values = [a + b for a", "values = [a + 2 * b for a", MIXED, [("products",)]),
    M("1 << 2 * most", "1 << 3 * most", PLACES, asked(spread("1/4", 2))[:-1]),
    M("width = most.bit_length() // 8 + 1", "width = most.bit_length() // 9 + 1", listed(4, *([[0, 1, 2, 3], [0] * 15 + [45]], [[0], [16, -16]])), [("products",)]),
    M("norm - 2 * (a ^ b)", "norm - (a ^ b)", THREE, [("products",)]),
    M("count * (count * g - a - b) + total", "count * (count * g - a - b)", {**THREE, "centred": True}, [("products",)]),
    M("if problem.centred else plain", "if 0 else plain", {**THREE, "centred": True}, [("products",)]),
    M("if exact**2 == square else", "if 1 else", MIXED, [("products",)]),
    M("Fraction(low + 1, GRID))", "Fraction(low, GRID))", MIXED, [("products",)]),
    M("most = max(max(map(abs, row[:i]), default=0)", "most = max(max(row[:i], default=0)", OPPOSITE, [("products",)]),
    M("sum(sum(map(abs, row)) for row in near), count", "sum(sum(row) for row in near), count", OPPOSITE, [("products",)]),
    M("    if not problem.two:\n        plain, unit", "    if not exact:\n        plain, unit", listed(2, *ONES), asked(spread("1/4", 2), oracle="csq")[:-1]),
    M("GRID * (total + many)", "GRID * total", listed(2, [[0], [1, -1]], [[0, 1], [2, 2, 2, -2]]), [("products",)]),
    M("s if v > 0 else -s for", "s for", LOW, asked(spread("3/2", 2), oracle="csq")[:-1]),
    M("map(mul, map(abs, row), weights)", "map(mul, row, weights)", OPPOSITE, asked(spread("1"))),
    M("p * whole * own, ", "p * whole * max(weights), ", THREE, asked(spread("3/2", 3, {"weights": [1, 1, 9]}))),
    M('small(w, 1, 1 << 60, "a weight")', 'small(w, -9, 1 << 60, "a weight")', OPPOSITE, asked(spread("1/10", 3, {"weights": [-1, -1, -1]}))[:-1]),
    M("zip(rows, weights, strict=True)", "zip(rows, weights, strict=False)", THREE, asked(spread("1", 3, {"weights": [1]}))),
    M("need(2 * rest[i] >= sum(map(abs, rest)),", ("need(rest[i] >= 0,", "need(3 * rest[i] >= sum(map(abs, rest)),"), THREE, asked(spread("17/20", 3, factor(9, "0", "0 0", "0 0 0")))),
    M("a - q * whole * c for", "a + q * whole * c for", OPPOSITE, asked(spread("1", 3, factor(1, "2", "0 2", "0 0 2")))),
    M("squares(factor), strict=True)):", "squares(factor), strict=False)):", THREE, asked(spread("1/100", 3, factor(9)))[:-1]),
    M('small(proof["scale"], 1, 1 << 62, "the scale")', 'small(proof["scale"], 0, 1 << 62, "the scale")', THREE, asked(spread("1/100", 3, factor(0, "0", "0 0", "0 0 0")))[:-1]),
    M("square * a - whole * b", "square * a - 2 * whole * b", THREE, led(ONE, "9/20", ONCE)),
    M("bounded(less, whole * square, top", "bounded(less, 2 * whole * square, top", THREE, led(ONE, "9/20", ONCE)),
    M(SIDES, SIDES.replace("True", "False"), THREE, led(factor(9, "7"), "1/2", {"weights": [1]})),
    M("for j in range(max(map(len, factor)))", "for j in range(1)", THREE, led(factor(9, "6 2", "-6 2", "0 -4"), "1/6", ONCE)),
    M("sorted((sum(map(abs, row)) for row in squares(columns)", "sorted((sum(row) for row in squares(columns)", THREE, led(TWO, "1/2", ONCE, "1")),
    M("squares(columns)), reverse=True)", "squares(columns)))", THREE, led(TWO, "1/2", ONCE, "1")),
    M("(top + Fraction(one, square), 1)", "(Fraction(one, square), 1)", THREE, led(ONE, "1/2", ONCE)),
    M("need(problem.two and top > 0,", "need(top > 0,", listed(2, *ONES), [*spread("1", 2), ("leading", 1, 2, {"large": factor(1, "0", "0"), "top": "1", "proof": {"weights": [1, 1]}})]),
    M("need(problem.two and top > 0,", "need(problem.two,", THREE, led(factor(1, "3", "0 3", "0 0 3"), "-1", factor(1, "0", "0 0", "0 0 0"))),
    M("left = members.count * gram.scale", "left = gram.scale", THREE, led(ONE, "1/2", ONCE)),
    M("whole, top - count * off, proof)", "whole, top + count * off, proof)", LOW, lambda judge: least(judge, LOW, lambda top: asked(spread(top, 2), oracle="csq")[:-1])),
    M("top=top, least=least,", "top=top, least=mean,", SEVEN, asked(spread("3", 7))),
    M("scale=mean, mean=mean - 2", "scale=least, mean=mean - 2", SEVEN, asked(spread("2", 7))),
    M("- 3 * off, Fraction(sum", "+ 3 * off, Fraction(sum", FINE, by_most_risk),
    M("count * whole) + off", "count * whole) - off", FINE, by_most_risk),
    M("general=problem.two,", "general=True,", listed(2, *ONES), asked(spread("1", 2))[:-1]),
    M("general=problem.two, moves=top, moves01=None", "general=problem.two, moves=top / 2, moves01=None", THREE, asked(spread("3"), term="1")),
    M("min(down, count - down)", "max(down, count - down)", THREE, by_weights("9/10")),
    M("part *= -(-ROUND // fewer)", "part *= ROUND // fewer", SEVEN, lambda judge: least(judge, SEVEN, lambda top: by_weights(top, 7))),
    M("members.count * ROUND << problem.n - 1", "members.count * ROUND << problem.n", THREE, by_weights("9/10")),
    M("every += down * part", "every += part", THREE, by_weights("8/5")),
    M("moves01=top / 2, general=True)\n\n\ndef together", "moves01=top / 200, general=True)\n\n\ndef together", THREE, by_weights("3")),
    M('need(every == list(range(members.count)), "the classes', '(0, "the classes', THREE, apart(1, [0], [[0]])),
    M("need(near and len(set", "need(len(set", THREE, apart(3, [0, 1, 2], [[0], [1], [2]])),
    M("len(set(few)) == len(few) > 0, \"two", "len(few) > 0, \"two", THREE, apart(3, [0, 0], [[0], [1], [2]])),
    M("len(set(few)) == len(few) > 0, \"two", "len(set(few)) == len(few), \"two", THREE, apart(3, [], [[0], [1], [2]])),
    M("(rows[i][j] * len(few)) ** 2 <= norms[i] * norms[j]", "rows[i][j] * len(few) <= norms[i]", LOW, apart(2, [0, 1], [[0], [1]])),
    M("(upper + 1)) ** 2 > norms", "(upper + 1)) ** 2 >= norms", listed(3, "aa", "e8"), apart(1, [0], [[0, 1]])),
    M("far and len(classes) <= upper", "far", THREE, apart(1, [0], [[0], [1], [2]])),
    M("if classes >= wanted:", "if classes > wanted:", PAIR, apart(1, [0], [], [0, 1])),
    M("free & ~(near[v] | 1 << v)", "free & ~(1 << v)", PAIR, apart(1, [0], [], [0, 1])),
    M('need(not found, "more', '(0, "more', PAIR, apart(1, [0], [], [0, 1])),
    M("(upper + 1)) ** 2 <= norms", "(upper + 1)) ** 2 < norms", listed(3, "aa", "e8"), apart(1, [0], [], [1, 0])),
    M("(rows[i][j] * (upper + 1)) ** 2 <= norms", "(rows[i][j] * (upper + 2)) ** 2 <= norms", listed(3, "aa", "e8"), apart(1, [0], [], [1, 0])),
    M("order if order is not None else (i", "range(members.count) if order is not None else (i", PAIR, apart(1, [0], [], [0, 0])),
    M("members.count) - 1, upper + 1, iter", "members.count) - 1, upper + 2, iter", PAIR, apart(1, [0], [], [0, 1])),
    M("need(most <= gamma * norm * enough**2,", "(0,", THREE, sums("1/2", 2)),
    M("sum(sorted(closest, reverse=True)[:enough])", "sum(sorted(closest)[:enough])", listed(3, "aa", "cc", "f0", "e8"), sums("1/2", 3)),
    M("closest.append(sum(flat[:enough]))", "closest.append(sum(row[:enough]))", OPPOSITE, sums("1/2", 2)),
    M("    if enough <= count:\n", "    if enough < count:\n", THREE, sums("1/10", 3)),
    M("(count - 1) // (enough - 1) if", "count // (enough - 1) if", EQUAL, sums("1/3", 4)),
    M("upper = (count - 1) // len(few)", "upper = count // len(few) - 1", OPPOSITE, sums("1/2", 4, 0, 1)),
    M("- (-spare // -each) - 1", "- (-spare // -each) - 2", listed(3, "aa", "cc", "f0", "66", "5a", "3c", "96"), sums("1/2", 8)),
    M("        if spare + more * each > 0:\n", "        if spare > 0:\n", EQUAL, sums("2/5", 3)),
    M("need(len(set(members.norms)) == 1,", "(0,", MIXED, sums("1/2", 3)),
    M("small(i, 0, count - 1, \"a member\") for i in listed(above)", "small(i, -1, count - 1, \"a member\") for i in listed(above)", EQUAL, sums("1/2", 3, -1)),
    M("need(not few or total > gamma", "need(not few or total >= gamma", listed(3, "a4", "14", "d0"), sums("1/2", 4, 0, 2)),
    M('need(len(set(few)) == len(few), "a member stands', '(0, "a member stands', listed(3, "f", "f0", "16", "9d", "c9", "57"), sums("1/3", 7, 1, 0, 1, 4, 4)),
    # Named learners.
    M("return Fraction(math.ceil(value * 10**places), 10**places)", "return Fraction(math.floor(value * 10**places), 10**places)", SKEW, gradual(RARER, risk="1/10", clip="1/99")),
    M("places = 13 + max", "places = 1 + max", SKEW, gradual(RARER, risk="1/10", clip="1/99")),
    M("return Fraction(1, members.count)", "return Fraction(1, 2 * members.count)", FAR, gradual(CHARACTERS)),
    M("max(weight for _, weight in tiers)", "min(weight for _, weight in tiers)", LIFTED, gradual(SECRETS, clip="1/9")),
    M("for _, weight in tiers) * as_one, total", "for _, weight in tiers), total", TWINS, gradual(RARER, risk="1/10", clip="1/99")),
    M("found = chance(members, min(count, members.count))", "found = chance(members, count)", PARITY, gradual(CHARACTERS, "nearby", within="1/9", steps="99")),
    M("else cut(found)", "else found", SKEW, gradual(RARER, risk="1/10", clip="1/99")),
    M("need(clip > 0,", "need(clip,", PARITY, gradual(CHARACTERS, clip="-1")),
    M("need(gram.general, MANY)", "", MANY, gradual(JOHNSON)),
    M("need(gram.moves is not None, \"there is no bound on means", "need(gram.moves is None, \"there is no bound on means", FAR, gradual(CHARACTERS)),
    M("squares=clip**2 * drift", "squares=clip * drift", FAR, gradual(CHARACTERS, clip="3")),
    M("getattr(gram, \"drift\", gram.moves)", "gram.moves", PRIME, gradual(SECRETS)),
    M("else Fraction(1, 4)),", "else Fraction(1, 5)),", PRIME, gradual(SECRETS)),
    M("drift=most * square", "drift=square", NEAR, gradual(SECRETS)),
    M("need(std > 0,", "need(std,", FAR, gradual(CHARACTERS, std="-1")),
    M("/ (4 * std**2)", ("/ (8 * std**2)", "/ (4 * std)"), FAR, gradual(CHARACTERS)),
    M("means.squares * heaviest(members) / (4", "means.squares * heaviest(members) ** 2 / (4", FAR, gradual(CHARACTERS)),
    M("bend=1, regime", "bend=None, regime", FAR, gradual(CHARACTERS)),
    M("need(grid > 0,", "need(grid,", FAR, gradual(CHARACTERS, "rounded", grid="-9", parameters="4")),
    M("pace = parameters * means.squares", "pace = means.squares", FAR, gradual(CHARACTERS, "rounded", **BY_GRID)),
    M("heaviest(members) / grid**2", "heaviest(members) / grid**3", FAR, gradual(CHARACTERS, "rounded", **BY_GRID)),
    M("means.squares * heaviest(members) / grid", "means.squares / grid", FAR, gradual(CHARACTERS, "rounded", **BY_GRID)),
    M("bend=None, regime", "bend=1, regime", FAR, gradual(CHARACTERS, "rounded", **BY_GRID)),
    M("same = max(c for _, c in row)", "same = max(v for v, _ in row)", DULL, batched(CHARACTERS, 9)),
    M("Fraction(2**turns - 1))", "Fraction(2 ** (turns + 16)))", FAR, batched(CHARACTERS, 2)),
    M("least = max(batch * same,", "least = max(batch * same * 99999,", FAR, batched(CHARACTERS, 2)),
    M("states = (1 << min(bits,", "states = (1 << min(1,", FAR, batched(CHARACTERS, 1, 5)),
    M(".bit_length() + 1)) - 1", (".bit_length() - 15)) - 1", ".bit_length() + 1))"), FAR, batched(CHARACTERS, 1, 7)),
    M("if least * states * often < 4:", "if least * states * often < 0:", FAR, batched(CHARACTERS)),
    M("need(long <= BATCH_BITS,", "(long <= BATCH_BITS,", DULL, batched(CHARACTERS, 6000)),
    M("total = sum(v * ((bottom", "total = sum(((bottom", MAJORITY, batched(JOHNSON)),
    M("** batch - bottom**batch) for v", "** batch) for v", FAR, batched(CHARACTERS)),
    M("(bottom + int(c * bottom)) ** batch", "(bottom + batch * int(c * bottom)) * bottom ** (batch - 1)", FAR, batched(CHARACTERS, 3)),
    M("pace = min(pace, dense**batch *", "pace = min(pace,", {**PRIME, "bits": 6}, batched(SECRETS)),
    M("* states * often / 4)", "* states * often / 8)", FAR, batched(CHARACTERS)),
    M("bend=14, regime", ("bend=7, regime", "bend=28, regime"), FAR, batched(CHARACTERS, steps="20")),
    M("example=[(1, moves / part)]", ("example=[(1, moves)]", "example=[(1, part)]"), FAR, batched(CHARACTERS)),
    M("(row[0], unit * c[m - i] / (1 - mu**2))", ("(row[0], unit * c[m - i])", "(row[0], unit * c[m] / (1 - mu**2))"), hidden("1 1 1 -1", 20), batched(JOHNSON)),
    M("        mu = problem.fade * (overlaps.mean - problem.middle) / problem.half\n        more", "        mu = problem.fade * overlaps.mean / problem.half\n        more", hidden("0 0 0 1", 20), batched(JOHNSON)),
    M("example=[(1, square / 2)]", "example=[(1, square / 4)]", PRIME, batched(SECRETS)),
    M("general=True, dense=most,", "general=True,", {**PRIME, "bits": 6}, batched(SECRETS)),
    M("if exact**2 == square:", "if exact**2:", FAR, gradual(CHARACTERS)),
    M("if exact**2 == square:", "if False:", hidden("1 -1 1", 9), gradual(CHARACTERS, steps="4")),
    M("Fraction(100) ** places) - 1) + 1", "Fraction(100) ** places))", FAR, gradual(CHARACTERS)),
    M("if whole <= 10**12:", ("if whole <= 10**9:", "if whole <= 10**15:"), FAR, gradual(CHARACTERS)),
    M("(bits + 2) * 0.1505149978319906", "(bits + 2) * 0.01505149978319906", FAR, gradual(CHARACTERS, std="99999999")),
    M("sure = after(0)", "sure = after(0) / 2", PARITY, gradual(CHARACTERS, "nearby", within="9")),
    M("if needed is None:", "if not needed:", PARITY, gradual(CHARACTERS, success="1/99")),
    M("most, said = after(steps)", "most, said = after(steps - 1)", FAR, gradual(CHARACTERS)),
    M("    same(pace, members)\n", "", SKEW, OTHER_LAW),
    M("    same(fit, members)\n    sure", "    sure", PRIME, [*AGAIN, ("gradients", 3, {"clip": "1"}), ("noisy", 2, 5, {"std": "3"}), ("descent", 2, 4, 6, {**SUCCESS, "steps": "3"})]),
    M("    same(fit, members)\n    most, wanted", "    most, wanted", PRIME, [*AGAIN, ("gradients", 3, {"clip": "1"}), ("nearby", 2, 4, 5, {**SUCCESS, "within": "1/9", "steps": "3"})]),
    M("sure, bend = most_likely(members, fit.most)", "sure, bend = Fraction(0)", FAR, gradual(CHARACTERS)),
    M("(t if bend is None else min(t, bend))", "(t if bend is None else bend)", FAR, batched(CHARACTERS, steps="2")),
    M("min(sure + root(square), Fraction(1))", "min(root(square), Fraction(1))", FAR, gradual(CHARACTERS)),
    M("min(sure + root(square), Fraction(1))", "sure + root(square)", PARITY, gradual(CHARACTERS, std="1/99")),
    M("ratio = max(success - sure, Fraction(0)) ** 2", ("ratio = success**2", "ratio = (success - sure) ** 2"), PARITY, gradual(CHARACTERS, success="1/99")),
    M("math.isqrt(math.ceil(ratio) - 1) + 1 if ratio", "math.isqrt(math.ceil(ratio)) + 1 if ratio", hidden("1 -1", 4), gradual(CHARACTERS, "rounded", grid="1", parameters="1", success="1")),
    M("math.isqrt(math.ceil(ratio) - 1) + 1 if ratio", "math.isqrt(math.ceil(ratio)) if ratio", FAR, gradual(CHARACTERS, "rounded", **BY_GRID)),
    M("if bend is not None and needed > bend:", "if bend is not None and needed > 2 * bend:", FAR, batched(CHARACTERS, 1, 7)),
    M("needed = math.ceil(ratio / bend)", ("needed = math.ceil(ratio)", "needed = math.floor(ratio / bend)"), FAR, batched(CHARACTERS)),
    M("need(within > 0,", "need(within,", FAR, gradual(CHARACTERS, "nearby", within="-1/9")),
    M("problem.down(means.squares / within**2), likely", ("problem.down(means.squares / within), likely", "(means.squares / within**2), likely"), FAR, gradual(CHARACTERS, "nearby", within="1/9")),
    M("within**2), likely(members, success)", "within**2), success * members.count", SKEW, gradual(RARER, "nearby", within="1", risk="1/10")),
    M("most_likely(members, fit.most + t * most)", ("most_likely(members, t * most)", "most_likely(members, fit.most + most)"), FAR, gradual(CHARACTERS, "nearby", within="1/9")),
    M("needed = max(0, -int((fit.most - wanted) // most))", ("needed = max(0, -int(-wanted // most))", "needed = max(0, int((wanted - fit.most) // most))"), PARITY, gradual(CHARACTERS, "nearby", within="1/2")),
    M("needed = max(0, -int((fit.most - wanted) // most))", "needed = max(1, -int((fit.most - wanted) // most))", FAR, gradual(CHARACTERS, "nearby", within="1/9", success="1/9999")),
    M("if most else None", "if most > 1 else None", FAR, gradual(CHARACTERS, "nearby", within="3/8")),
    M("lost = min(cut(Fraction(members.law[1], members.law[2])), Fraction(1))", "pass", SKEW, regression(RARER, risk="1/10")),
    M("wanted = max(likely(members, success) * (gram", "wanted = max(success * members.count * (gram", SKEW, regression(RARER, risk="1/10")),
    M("likely(members, success) * (gram.least - risk * gram.scale)", ("likely(members, success) * (1 - risk * gram.scale)", "likely(members, success) * (gram.least - risk)"), MAJORITY, regression(JOHNSON)),
    M("* gram.scale), Fraction(0))", "* gram.scale), Fraction(99))", NEAR, regression(SECRETS, risk="99/100")),
    M("found + min(left, many) * value", "found + left * value", MAJORITY, regression(JOHNSON, "9")),
    M("left - min(left, many)", "left", MAJORITY, regression(JOHNSON, "9")),
    M("more = min(many, math.ceil((wanted", "more = min(many, math.floor((wanted", PARITY, regression(CHARACTERS)),
    M("more = min(many, math.ceil((wanted - reached) / value))", "more = math.ceil((wanted - reached) / value)", MAJORITY, regression(JOHNSON, success="1")),
    M('if problem.kind == "functions" else " or not"', 'if not problem else " or not"', SEVEN, regression(spread("2", 7))),
    M("need(features <= members.count,", "(features <= members.count,", PARITY, regression(CHARACTERS, "36")),
    M("getattr(gram, \"mean\", gram.least)", "gram.least", THREE, regression(spread("10/9"), "1")),
    M("mean = (1 - lost) * norm", "mean = norm", SKEW, regression(RARER, risk="1/10")),
    M("- heaviest(members) * found", "- found / members.count", SKEW, regression(RARER, risk="1/10")),
    M("error = max(mean / gram.scale, Fraction(0))", "error = max(mean, Fraction(0))", MAJORITY, regression(JOHNSON)),
    M("error = max(mean / gram.scale, Fraction(0))", "error = mean / gram.scale", NEAR, regression(SECRETS, "40")),
    M('more = {"spectrum": [(Fraction(1), count)],', 'more = {"spectrum": [(Fraction(1, 2), count)],', PARITY, regression(CHARACTERS)),
    M('"public": 1}', '"public": 0}', PARITY, regression(CHARACTERS)),
    M("                public=1)", "                public=0)", PRIME, regression(SECRETS)),
    M("(features or 0) + public, Fraction", "(features or 0), Fraction", PARITY, regression(CHARACTERS)),
    M("used = max(0, used - public)", "", PARITY, regression(CHARACTERS)),
    M("used = max(0, used - public)", "used = used - public", NEAR, regression(SECRETS, risk="99/100")),
    M("if problem.alone else {}", "if True else {}", SOLE, regression(CHARACTERS)),
    M('more["spectrum"] = sorted(zip(values[1:], size, strict=True), reverse=True)', 'more["spectrum"] = sorted(zip(values[1:], size, strict=True))', MAJORITY, regression(JOHNSON)),
    M("math.comb(problem.n, k) - math.comb(problem.n, k - 1) for k", "math.comb(problem.n, k - 1) for k", MAJORITY, regression(JOHNSON, "9")),
    M("    if problem.alone:", "    if True:", {**MAJORITY, "view": "among-others"}, regression(JOHNSON)),
    M("spectrum=[(most * members.alike, unlike)]", ("spectrum=[(most, members.count)]", "spectrum=[(members.alike, unlike)]"), PRIME, regression(SECRETS)),
    M("spectrum=[(top, int(full)), (rest, 1)]", "spectrum=[(top / 2, int(full)), (rest, 1)]", SEVEN, regression(spread("2", 7))),
    M("mean=mean - 2 * off, alike=1", ("alike=1", "mean=mean, alike=1"), FINE, regression(spread("2", 4), "1")),
    M('ALONE = ("", "hardmax", "one-head")', 'ALONE = ("", "hardmax", "one-head", "among-others")', {**PARITY, "view": "among-others"}, regression(CHARACTERS)),
    M("return None if text is None else read(kind[:-1]", "return None if text in (None, '0') else read(kind[:-1]", PARITY, regression(CHARACTERS, "0")),
    # Polynomials of low degree.
    M("problem.levels == 2,\n        \"labels take", "True,\n        \"labels take", MANY, ratio(4)),
    M("need(problem.alone, ", "(problem.alone, ", {**PARITY, "view": "among-others"}, ratio(4)),
    M("scale = problem.fade**2 / problem.half**2", "scale = problem.fade / problem.half**2", FADED, ratio(4)),
    M("/ problem.half**2 / (1 - (problem", "/ (1 - (problem", hidden("3 -3 3", 9), ratio(4)),
    M("(1 - (problem.fade * mean) ** 2)", "1", FADED, ratio(4)),
    M("(overlaps.mean - problem.middle) / problem.half\n    scale", "overlaps.mean / problem.half\n    scale", hidden("1 1 0", 9), ratio(4)),
    M("column = [b - a for a, b in pairwise(column)]", "column = [b for a, b in pairwise(column)]", hidden("1 1 1 -1", 9), ratio(6)),
    M("math.comb(m, t) * math.comb(n - m, m - t)", "math.comb(m, t)", PARITY, ratio(8)),
    M("degree if most is None else most", "degree", PARITY, ratio(8, most="1")),
    M("count = min(most, degree // (used[0] + 1))", "count = min(most, degree // (used[0] + 2))", PARITY, ratio(8)),
    M("terms = [(a + 1, int", ("terms = [(a, int", "terms = [(a + 2, int"), FADED, ratio(2)),
    M("* math.comb(t, a)) for a in used", ") for a in used", FADED, ratio(4)),
    M("for a in used if a <= t]", "for a in used if a < t]", PARITY, ratio(8)),
    M("if have + e <= degree:", ("if have + e < degree:", "if True:"), hidden("1 1 1 -1", 9), ratio(5)),
    M("more[have + e] = more.get(have + e, 0) + v * w", "more[have + e] = v * w", hidden("1 1 1 -1", 9), ratio(6)),
    M("sum(pairs) * unit**i) for i, v", ("unit**i) for i, v", "sum(pairs) * unit) for i, v"), FADED, ratio(6)),
    M("return [v / 2**i for i, v in enumerate(found, 1)]", ("return [v / 2 for i, v in enumerate(found, 1)]", "return list(found)"), PARITY, ratio(8)),
    M("choices = choices * (examples - i) // (i + 1)", "choices = choices * examples // (i + 1)", PARITY, ratio(8)),
    M("few, enough = enough, 2 * enough", "few, enough = 2 * enough, 2 * enough", FAR, ratio(8)),
    M("if total_of(tops, middle) >= bottom else", "if total_of(tops, middle) > bottom else", hidden("1 -1", 6), ratio(2)),
    M("while enough - few > 1:", "while enough - few > 2:", FAR, ratio(8)),
    M("if not any(tops):", "if True:", PARITY, ratio(8)),
    M("need(quick, f", "(quick, f", PARITY, ratio(10**7, most="3")),
    # Reading.
    M('data.get("format") == FORMAT', '"format" in data', change=at("format", "hardness-certificate/3")),
    M("need(set(data) == fields,", "(set(data) == fields,", change=lambda data: {**data, "more": 1}),
    M('need(same, "its content', '(same, "its content', text=text("none", "other")),
    M("need(len(listed(steps)) <= STEPS,", "(len(listed(steps)) <= STEPS,", steps=[("subsets",), *[("characters", 1)] * 1000]),
    M('need(set(step) == {"rule", "from", *takes},', "(0,", change=at("steps/0/more", "1")),
    M('small(i, 1, len(facts), "a step cited")', 'small(i, 0, len(facts), "a step cited")', steps=[("subsets",), ("characters", 0)]),
    M("== {\"conditions\", \"claims\"} and len(listed", "== {\"conditions\", \"claims\"} and 1 + len(listed", change=at("goal/claims", [])),
    M('set(goal) == {"conditions", "claims"} and', "", change=at("goal/more", "1")),
    M('same = goal["conditions"] == problem.conditions', "same = True", change=at("goal/conditions", "none")),
    M('need(set(claim) == {"quantity",', '(set(claim) == {"quantity",', change=at("goal/claims/0/more", "1")),
    M('claim["value"] == written(value) and', "", change=at("goal/claims/0/value", "7")),
    M('and claim["terms"] == terms', "", change=at("goal/claims/0/terms", {"tau": "1"})),
    M('need(claim["says"] == text', "(0", change=at("goal/claims/0/says", "all is hard")),
    M('small(step, 1, len(facts), "the step of', 'small(step, 0, len(facts), "the step of', steps=CHARACTERS, change=at("goal/claims/0/step", 0)),
    M('need(len(names) == len(goal["claims"]),', "(0,", change=at("goal/claims", lambda claims: [*claims, claims[0]])),
    M("need(len({name for name, _ in pairs}) == len(pairs),", "(0,", text=text('"places": 7', '"places": 7, "places": 7')),
    M("need(bool(named),", "(0,", change=at("about/spec", " ")),
    M("need(len(digits) <= 20,", "(0,", change=at("about/size", 10**30)),
    M("need(most <= DEEP,", "(0,", change=at("about/deep", json.loads("[" * 30 + "]" * 30))),
    M('lambda _: refuse("a JSON number is no integer")', "float", change=at("about/size", 0.5)),
    M('lambda _: refuse("a JSON number is none")', "str", change=at("about/size", "NaN"), text=text('"NaN"', "NaN")),
    M("need(written(value) == text,", "(0,", change=at("steps/2/risk", "2/8")),
    M("need(_HOLDS[kind](value),", "(0,", steps=asked(CHARACTERS, success="2")),
    M('"share": lambda v: 0 < v <= 1', '"share": lambda v: 0 < v', steps=asked(CHARACTERS, success="2")),
    M('"share": lambda v: 0 < v <= 1', '"share": lambda v: v <= 1', steps=asked(CHARACTERS, success="0")),
    M('"risk": lambda v: 0 <= v < 1', '"risk": lambda v: v < 1', steps=asked(CHARACTERS, risk="-1")[:-1]),
    M('"positive": lambda v: v >= 1 and', '"positive": lambda v:', MAJORITY, packed(0, 0, "disjoint")),
    M("and v.denominator == 1,\n", ",\n", hidden("1 1 -1 -1", 9), packed(3, 0, "disjoint"), change=at("steps/2/size", "3/2")),
    M("type(value) is int and least", "least", change=at("steps/1/from/0", True)),
    M("least <= value <= most, f", "value <= most, f", MAJORITY, packed(1, -1, "disjoint")),
    M('need(type(value) is list,', "(0,", change=at("steps/0/from", "")),
)  # fmt: skip
MUTANTS = tuple(
    replace(one, new=new)
    for one in MUTANTS
    for new in (one.new if isinstance(one.new, tuple) else [one.new])
)


def main() -> int:
    survived = 0
    for mutant in MUTANTS:
        how = mutant.caught()
        survived += how is None
        print(f"{'caught  ' if how else 'SURVIVES'}  {mutant.name}\n          {how or ''}")
    print(f"{len(MUTANTS)} mutants, {survived} survive")
    return 3 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
