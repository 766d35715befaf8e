"""Forged certificates: single changes of genuine ones.

`make forge` makes 100,000 of them over all kinds of certificate. What is accepted is derived again
in another way: by closed forms of the tests, and by enumeration of all points and of all sets of
members, for hidden sets, residues and listed functions. It must give the same or more. The checker
judges: claims must hold of the problem in the file, whatever family it is said to be about; and
half of the changes of problems, terms and witnesses are followed by claims of what then follows.
"""

import argparse
import json
import re
import sys
import tempfile
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import timing  # isort: skip  # noqa: F401  # one thread

import numpy as np

from hardness.bounds import BoundParameters, certify, checker
from hardness.bounds.certificate import NoClaim
from hardness.bounds.check import check
from hardness.bounds.checker.certificate import claim_as_written
from hardness.bounds.learners import Kernel, LowDegree, NamedLearner, NoisyDescent
from hardness.bounds.members import Members, digest_of, read_members
from instances import parse
from instances.errors import DamagedFile, Refuted, ToolkitError

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.truth import TooMany, falsehood

Json = Any
Path_ = tuple[Any, ...]

SPECS = [
    "parity:d=6,m=2,noise=0.1",
    "parity:d=8,m=3",
    "profile:g=majority,d=7,m=2",
    "profile:g=[3,-1,-1,3],d=7,m=3,noise=0.2",
    "profile:g=[1.1,-0.9,0.9],d=7,m=2",
    "profile:g=[1,1,-1],d=6,m=2",
    "lwr:n=3,q=8,p=2,secret=binary",
    "lwr:n=3,q=8,p=4,secret=ternary",
    "lwr:n=3,q=8,p=2,secret=cbd,spread=1",
    "lwr:n=2,q=7,p=7",
    "lwe:n=2,q=7,error=cbd,eta=1",
    "lwe:n=2,q=23,sigma=1,secret=gaussian,spread=1",
    "lwe:n=2,q=8,error=uniform,width=2",
    "lwe:n=40,q=5,secret=gaussian,spread=1/4,error=none",
    "lpn:n=5,noise=0.1",
    "hidden:d=7,hard=2,nice=1",
    "direction:m=3,d=32,noise=0.1",
]
# Laws that no family has: of q, n, how labels show it, how many entries are not 0, their law, and
# of the proof base, cut and weights.
LAWS: tuple[tuple[Any, ...], ...] = (
    (7, 3, "residue", 7, 0, [-1, ["1", "6", "3"]], "1/2", 1, [0, 1, 2]),
    (7, 4, "residue", 7, 2, [1, ["40", "20", "0", "1"]], "1/2", 0, [0, 1, 5]),
    (5, 8, "residue", 5, 0, [-1, ["1", "98", "1"]], "1/98", 1, [0, 1, 1]),
    (8, 2, "interval", 2, 0, [-2, ["1", "4", "6", "4", "1"]], "2/3", 1, [0, 1, 4, 4, 1]),
    (8, 4, "residue", 8, 0, [0, ["2", "3", "2"]], "3/4", 1, [0, 1]),
    (8, 3, "interval", 4, 2, None, "1", 0, []),
    (16, 3, "interval", 4, 3, None, "1", 0, []),
    (7, 3, "residue", 7, 2, [1, ["1", "1", "0", "1", "3"]], "1/3", 1, [1, 1, 1, 0]),
    (64, 20, "interval", 8, 0, [-3, ["1", "6", "15", "20", "15", "6", "1"]], "3/4", 31,
     [0, 1, 4, 10, 10, 4, 1]),
)  # fmt: skip
NAMED_LEARNERS: tuple[NamedLearner, ...] = (
    Kernel(features=3),
    NoisyDescent(steps=2, clip=Fraction(1), std=Fraction(3)),
    LowDegree(degree=3, examples=4, sample_degree=2),
)
FUNCTIONS = """
import numpy as np

d = 3
signs = [lambda x: x[:, 0], lambda x: x[:, 1], lambda x: x[:, 0] * x[:, 2],
         lambda x: np.sign(x.sum(axis=1)), lambda x: x[:, 0] * x[:, 1]]
whole = [lambda x: x[:, 0], lambda x: x.sum(axis=1), lambda x: 2 * x[:, 1] + 1, lambda x: x[:, 2]]
pairs = [lambda x: x[:, 0] / 2, lambda x: x[:, 1] * x[:, 2] / 2, lambda x: (x[:, 0] == x[:, 1]) + 1]
"""


@dataclass(frozen=True, kw_only=True)
class Genuine:
    kind: str
    data: Json


def genuine(kind: str | None = None) -> list[Genuine]:
    made = []
    for name, make in _makers():
        if kind in (None, name):
            with suppress(NoClaim):  # about labels of more than two values there is none
                made += [Genuine(kind=name, data=json.loads(json.dumps(data))) for data in make()]
    return made


def _makers() -> Iterator[tuple[str, Callable[[], Iterable[Json]]]]:
    for spec in SPECS:
        name = spec.partition(":")[0]
        for tau, t in ((Fraction(1, 10), 100), (Fraction(9, 10), 1)):
            terms = BoundParameters(tau=tau, vstat=t)
            yield name, partial(_of, spec, terms)
        for asked in NAMED_LEARNERS:
            yield f"{name} {asked.about}", partial(_of, spec, BoundParameters(), asked)
    yield "laws", _laws
    yield "listed", _listed
    yield "listed named", _listed_named


def _of(spec: str, terms: BoundParameters, *asked: NamedLearner) -> Iterator[Json]:
    family = parse(spec)
    yield certify(family, terms, asked).to_dict()


def _laws() -> Iterator[Json]:
    for q, n, labels, parts, weight, entries, base, cut, weights in LAWS:
        problem = {"kind": "residues", "n": n, "q": q, "bits": 20, "labels": labels, "parts": parts,
                   "secret": {"weight": weight, "entries": entries}, "errors": None}  # fmt: skip
        witness = {"law": {"base": base, "cut": cut, "weights": weights}}
        for tau, t, success in (("1/2", "4", "2/3"), ("1", "1", "1/10")):
            terms = {"tau": tau, "t": t, "risk": "1/4", "success": success, "gamma": "1/20"}
            data = {"format": checker.FORMAT, "spec": "none", "problem": problem, "terms": terms,
                    "witness": witness, "claims": []}  # fmt: skip
            yield claimed(data)


def _functions(name: str) -> Members:
    with tempfile.TemporaryDirectory() as folder:
        mine = Path(folder) / "mine.py"
        mine.write_text(FUNCTIONS)
        source = read_members(f"{mine}:{name}")
    assert source is not None
    return source


def _listed() -> Iterator[Json]:
    """Functions by bits and by values, less their mean, of one norm and of others."""
    for name in ("signs", "whole", "pairs"):
        for centred in (False, True):
            yield certify(_functions(name), centred=centred).to_dict()


def _listed_named() -> Iterator[Json]:
    source = _functions("signs")
    for asked in NAMED_LEARNERS[:2]:
        yield certify(source, about=[asked]).to_dict()


# Changes.


def places(data: Json, at: Path_ = ()) -> Iterator[Path_]:
    """Yield the paths of all parts of the data except the whole."""
    parts = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in parts:
        yield (*at, key)
        if isinstance(value, dict | list):
            yield from places(value, (*at, key))


def general(data: Json, place: Path_) -> str:
    """Name a path: claims by their quantity, other entries of lists by *."""
    words: list[str] = []
    here = data
    for key in place:
        here = here[key]
        if isinstance(key, int):
            key = here[0] if words == ["claims"] else "*"
        words.append(str(key))
    return "/".join(words)


def _swapped(text: str, rng: np.random.Generator) -> str:
    spots = [i for i in range(len(text) - 1) if text[i] != text[i + 1]]
    if not spots:
        return text + text[-1:]
    i = int(rng.choice(spots))
    return text[:i] + text[i + 1] + text[i] + text[i + 2 :]


def _letter(text: str, rng: np.random.Generator) -> str:
    i = int(rng.integers(len(text) + 1))
    new = "0123456789abcxyz=,:/*()+-.\n\x1b \u0663"[int(rng.integers(29))]
    return text[:i] + new + text[i + int(rng.integers(2)) :]


Change = Callable[[Any, np.random.Generator], Any]
_ANY: dict[str, Change] = {
    "null": lambda v, r: None,
    "listed": lambda v, r: [v],
    "true": lambda v, r: True,
}
_TEXT: dict[str, Change] = {
    "letter": _letter,
    "emptied": lambda v, r: "",
    "split": lambda v, r: list(v),
    **_ANY,
}
_RATIONAL: dict[str, Change] = {
    "+1": lambda v, r: str(Fraction(v) + 1),
    "-1": lambda v, r: str(Fraction(v) - 1),
    "*2": lambda v, r: str(Fraction(v) * 2),
    "/2": lambda v, r: str(Fraction(v) / 2),
    "near": lambda v, r: str(Fraction(v) * (1 + Fraction(1, int(r.integers(3, 10**6))))),
    "negated": lambda v, r: str(-Fraction(v)),
    "digits": _swapped,
    "unreduced": lambda v, r: f"{2 * Fraction(v).numerator}/{2 * Fraction(v).denominator}",
    "zeros": lambda v, r: "0" + v,
    "number": lambda v, r: int(v) if v.lstrip("-").isdigit() else float(Fraction(v)),
    "letter": _letter,
    **_ANY,
}
_WHOLE: dict[str, Change] = {
    "+1": lambda v, r: v + 1,
    "-1": lambda v, r: v - 1,
    "*2": lambda v, r: v * 2,
    "*10": lambda v, r: v * 10,
    "negated": lambda v, r: -v,
    "digits": lambda v, r: int(_swapped(str(abs(v)), r)),
    "float": lambda v, r: float(v),
    "text": lambda v, r: str(v),
    **_ANY,
}
_LIST: dict[str, Change] = {
    "removed": lambda v, r: v[: (i := int(r.integers(len(v))))] + v[i + 1 :],
    "doubled": lambda v, r: [*v, v[int(r.integers(len(v)))]],
    "reordered": lambda v, r: [v[i] for i in r.permutation(len(v))],
    "object": lambda v, r: {str(i): x for i, x in enumerate(v)},
    "keys": lambda v, r: {x if isinstance(x, str) else str(x): 0 for x in v},
    **_ANY,
}
_OBJECT: dict[str, Change] = {
    "removed": lambda v, r: {k: x for k, x in v.items() if k != list(v)[int(r.integers(len(v)))]},
    "more": lambda v, r: {**v, "more": next(iter(v.values()))},
    "list": lambda v, r: list(v.values()),
    **_ANY,
}


def changes(value: Any) -> dict[str, Change]:
    if isinstance(value, str):
        return _RATIONAL if re.fullmatch(r"-?\d+(/\d+)?", value) else _TEXT
    if isinstance(value, bool) or value is None:
        return {"turned": lambda v, r: not v, "zero": lambda v, r: 0, **_ANY}
    if isinstance(value, int):
        return _WHOLE
    if not value:
        return _ANY
    return _LIST if isinstance(value, list) else _OBJECT


def renamed(data: Json) -> Json:
    """Update the digest in the name of listed functions, if they have one."""
    with suppress(LookupError, TypeError, AttributeError):
        digest = digest_of(data["origin"]["names"], data["problem"])
        data["spec"] = data["spec"].rpartition("=")[0] + "=" + digest
    return data


@dataclass(frozen=True, kw_only=True)
class Forgery:
    kind: str
    place: str
    change: str
    accepted: bool
    seconds: float
    fault: str | None  # that of an accepted forgery
    left: bool = False  # too large to derive again


def forge(count: int, seed: int, sources: list[Genuine]) -> Iterator[Forgery]:
    """Make so many forgeries: sources in turn, and all paths of a source equally often."""
    rng = np.random.default_rng(seed)
    spots = []
    for one in sources:
        by_name: dict[str, list[Path_]] = {}
        for place in places(one.data):
            by_name.setdefault(general(one.data, place), []).append(place)
        spots.append(list(by_name.items()))
    # Those about named learners are many: all others have three turns for each of theirs.
    turns = [i for i, one in enumerate(sources) for _ in range(1 if " " in one.kind else 3)]
    made = 0
    while made < count:
        for one, there in ((sources[i], spots[i]) for i in turns):
            spot = there[int(rng.integers(len(there)))][1]
            place = spot[int(rng.integers(len(spot)))]
            old = _at(one.data, place)
            ways = changes(old)
            way = list(ways)[int(rng.integers(len(ways)))]
            if repr(new := ways[way](old, rng)) == repr(old):
                continue
            too = place[0] in ("problem", "terms", "witness") and bool(rng.integers(2))
            made += 1
            yield _changed(one, place, way, new, too)
            if made == count:
                return


def _changed(one: Genuine, place: Path_, way: str, new: Any, too: bool) -> Forgery:
    """Try a certificate with another value at a path; too: with the claims this proves."""
    data = copied(one.data)
    _at(data, place[:-1])[place[-1]] = new
    if too:
        data, way = refitted(data), f"{way}, claims too"
    data = data if place == ("spec",) else renamed(data)
    return _tried(one.kind, general(one.data, place), way, data)


def every(sources: list[Genuine], share: int = 1) -> Iterator[Forgery]:
    """Make every change of every place, once for all places of a name, and leave out every key.

    share: of so many one is tried, drawn at random.
    """
    rng, kept, done = np.random.default_rng(0), np.random.default_rng(1), set()
    for one in sources:
        for place in places(one.data):
            if (key := (one.kind, general(one.data, place))) in done:
                continue
            done.add(key)
            for way, new in _every_change(_at(one.data, place), rng):
                plain = kept.integers(share) == 0
                both = place[0] in ("problem", "terms", "witness") and kept.integers(share) == 0
                tried = [False] * int(plain) + [True] * int(both)
                yield from (_changed(one, place, way, new, too) for too in tried)


def copied(data: Json) -> Json:
    """Copy the contents of a file, five times as fast as `copy.deepcopy`."""
    return json.loads(json.dumps(data))


def _at(data: Json, place: Path_) -> Any:
    for key in place:
        data = data[key]
    return data


def _every_change(old: Any, rng: np.random.Generator) -> Iterator[tuple[str, Any]]:
    for way, change in changes(old).items():
        if isinstance(old, dict) and way == "removed":
            yield from ((way, {k: v for k, v in old.items() if k != key}) for key in old)
        elif repr(new := change(old, rng)) != repr(old):
            yield way, new


def claimed(data: Json) -> Json:
    """Claim all that follows of a problem, terms and a witness; raises checker.Refused."""
    proved = checker.prove(data["problem"], data["terms"], data["witness"])
    return {
        **data,
        "claims": [claim_as_written(c.quantity, c.parameters, c.value) for c in proved.claims],
    }


def refitted(data: Json) -> Json:
    """Claim all that follows from the changed data, if anything does."""
    try:
        return claimed(data)
    except (checker.Refused, *MALFORMED):
        return data


MALFORMED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)


def _tried(kind: str, place: str, change: str, data: Json) -> Forgery:
    """What the checker alone accepts is true of its problem, whatever its name.

    `check` is asked about what the checker accepts, and one in eight of the others.
    """
    start, proved, fault, left = time.perf_counter(), None, None, False
    with suppress(checker.Refused):
        proved = checker.check(data)
    seconds = time.perf_counter() - start
    if proved is not None:
        try:
            fault = falsehood(data)
        except TooMany:
            left = True
        except (AssertionError, ToolkitError, *MALFORMED) as error:
            fault = f"it cannot be derived again: {error!r}"
    if proved is not None or zlib.crc32(repr(data).encode()) % 8 == 0:
        with suppress(Refuted, DamagedFile):
            check(data)
            fault = fault if proved is not None else "`check` accepts what the checker refuses"
            rounded = place.endswith("/*/*")  # a law with a slightly different number is the same
            free = rounded or kind.startswith(("listed", "laws"))
            if place.startswith("problem") and not free:
                fault = "`check` accepts another problem than that of its spec"
    return Forgery(
        kind=kind, place=place, change=change, accepted=proved is not None, seconds=seconds,
        fault=fault, left=left,
    )  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Print how many were refused and accepted of each kind; 3 where one was accepted wrongly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    tried, accepted, why, faults = (Counter[str]() for _ in range(4))
    seconds: dict[str, float] = defaultdict(float)
    for one in forge(asked.count, asked.seed, genuine()):
        tried[one.kind] += 1
        accepted[one.kind] += one.accepted
        seconds[one.kind] += one.seconds
        if one.fault:
            faults[f"{one.kind}: {one.place} {one.change}: {one.fault}"] += 1
        elif one.accepted:
            again = "what a certificate says of its problem, derived again"
            why["not derived again: too many vectors" if one.left else again] += 1
    for kind, count in sorted(tried.items()):
        each = 1000 * seconds[kind] / count
        print(f"{kind:<22} {count:>7} forged {accepted[kind]:>6} accepted {each:8.2f} ms each")
    print(f"{'all':<22} {tried.total():>7} forged {accepted.total():>6} accepted")
    for reason, count in why.most_common():
        print(f"{count:>7}  {reason}")
    for fault, count in faults.most_common():
        print(f"{count:>7}  WRONG  {fault}")
    return 3 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
