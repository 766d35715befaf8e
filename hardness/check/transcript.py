"""Plays a transcript of the adversary again: did it ever contradict itself?

The means of characters come from averages over coins, those of pools from matrix products over all
points; no transform is used, and none of the oracle's code. Queries that a learner made up stand in
the file by their means, and those are taken as given.
"""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.check import kernel
from hardness.check.certificate import read_spec
from hardness.check.kernel.core import listed, need, read, small
from hardness.check.kernel.core import refuse as stop
from hardness.check.problems import hidden_set
from hardness.check.verdict import Checked, refuse
from instances.capabilities import CHARACTERS, SCHEME
from instances.disk import digest
from instances.errors import DamagedFile, TooLarge, ToolkitError
from instances.strict import one_line, shown

FORMAT = "hardness-transcript/1"
_TOP = {"format", "spec", "tau", "mode", "members", "queries", "secret", "digest"}
_ENTRY = {"query", "answer", "ruled_out", "alive"}
_LEAST = Fraction(1, 10**6)
_MARGIN = 1e-10  # a member fits an answer with this much to spare
_MOST_MEMBERS, _MOST_WORK = 1 << 24, 1 << 40
_CELLS = 1 << 25

Means = NDArray[np.float64]


def check_transcript(data: dict[str, Any]) -> Checked:
    """Play a transcript again; raises Refuted where it contradicts itself, DamagedFile for none."""
    if data.get("format") != FORMAT:
        raise DamagedFile(f"this is no transcript: its format is {shown(data.get('format'))}")
    try:
        same = digest({k: v for k, v in data.items() if k != "digest"}) == data.get("digest")
        need(same, "its content does not match its digest: it was changed after it was made")
        need(set(data) == _TOP, f"its fields must be {', '.join(sorted(_TOP))}")
        game = _Game(data)
        statements = game.play()
    except TooLarge:
        raise  # nothing is refuted: it is too much to play again
    except (kernel.Refused, ToolkitError) as error:
        refuse(str(error).removeprefix("certificate refused: "), "transcript")
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        refuse(f"a field is missing or malformed ({one_line(error)})", "transcript")
    return Checked(spec=data["spec"], statements=tuple(statements), assumed=game.assumed)


class _Game:
    """A transcript and the family that it was played on; raises kernel.Refused where it is none."""

    assumed = ""

    def __init__(self, data: dict[str, Any]) -> None:
        scheme = SCHEME.of(read_spec(data["spec"]))
        if scheme is None:
            stop(f"{shown(data['spec'])} is not a family whose games are played again")
        self.family = scheme
        self.places, self.chosen, self.size = scheme.d - 1, scheme.m, scheme.size
        self.fade, self.values = 1 - 2 * scheme.noise, [Fraction(v) for v in scheme.values]
        self.parity = CHARACTERS.of(scheme) is not None
        self.tau = read("share", data["tau"])
        need(self.tau >= _LEAST, f"tau is not in [{_LEAST}, 1]")
        need(read("positive", data["members"]) == self.size, f"the family has {self.size} members")
        self.mode, self.entries = data["mode"], listed(data["queries"])
        self.secret = tuple(
            small(j, 1, self.places, "a place of the secret") for j in listed(data["secret"])
        )
        ordered = len(self.secret) == self.chosen and sorted({*self.secret}) == [*self.secret]
        need(ordered, f"the secret must be {self.chosen} different places in ascending order")
        for entry in self.entries:
            number = set(entry) == _ENTRY and type(entry["answer"]) in (int, float)
            need(number, f"a query must have {', '.join(sorted(_ENTRY))}")
            inside = abs(entry["answer"]) <= 1 + 1e-9
            need(inside, f"an answer of {shown(entry['answer'])} is outside of [-1, 1]")

    def play(self) -> list[str]:
        """Play every query again and say what happened."""
        modes = ("certificate", "reference", "stabbing")
        need(self.mode in modes, f"{shown(self.mode)} is not a mode of the adversary")
        left, given = (self._by_name(), 0) if self.mode == modes[0] else self._by_means()
        size, count = self.size, len(self.entries)
        if given:
            queries = "query" if given == 1 else "queries"
            self.assumed = f"the means of {given} {queries} in the file"
        taken = f"given {self.assumed}: " if given else ""
        out = [
            f"{taken}{self.mode} adversary: {count} queries within {self.tau} ruled out "
            f"{size - left} of {size} members",
            f"{taken}the member {list(self.secret)}, drawn at the end, fits every answer",
        ]
        if self.parity and self.mode != "stabbing":
            out.append(self._cap())
        return out

    def _cap(self) -> str:
        # A member is ruled out from a little less than tau on: that margin counts here too.
        near = self.tau - Fraction(_MARGIN)
        cap = math.floor(self.fade**2 / (4 * near**2))
        if not cap:
            return "a query can rule out no member at all: no number of queries is enough"
        least = -(-(self.size - 1) // cap)
        return (
            f"a query can rule out {cap} members at most, so it takes {least} or more to leave one "
            "alone"
        )

    def _by_name(self) -> int:
        """Parities of any size: a character of m places moves one member, and no other does."""
        need(self.parity, "only parities are played without following every member")
        out: set[tuple[int, ...]] = set()
        size, signal = self.size, self.fade / 2
        for entry in self.entries:
            named = entry["query"].get("kind") == "character"
            need(named, "without following every member only characters can be answered")
            subset, sign = self._places(entry["query"])
            places, answer = tuple(sorted(subset)), Fraction(0)
            ruled = len(places) == self.chosen and signal > self.tau and places not in out
            if ruled and size - len(out) == 1:
                ruled, answer = False, sign * signal
            if ruled:
                out.add(places)
            self._compare(entry, int(ruled), size - len(out))
            near = abs(float(answer) - entry["answer"]) <= _MARGIN
            need(near, f"an answer of {shown(entry['answer'])} is not the adversary's, {answer}")
        need(self.secret not in out, "the member drawn at the end was ruled out by an answer")
        return size - len(out)

    def _by_means(self) -> tuple[int, int]:
        """Follow every member through every query."""
        size, m = self.size, self.chosen
        if size > _MOST_MEMBERS:
            raise TooLarge(f"{size} members are too many to follow one by one here")
        flat = itertools.chain.from_iterable(itertools.combinations(range(1, self.places + 1), m))
        members = np.fromiter(flat, np.int64, size * m).reshape(size, m)
        alive = np.ones(size, np.bool_)
        given = 0
        pools = self._pools(members)
        for entry in self.entries:
            query, answer = entry["query"], entry["answer"]
            kind = query["kind"]
            known = kind in ("character", "pool", "given")
            need(known, f"{shown(kind)} is not a kind of query that is played again")
            if kind == "character":
                means = self._character(members, query)
            elif kind == "pool":
                means = next(pools)
            else:
                means, given = self._given(query), given + 1
            # With a fair coin in place of a parity, the means of characters and pools are 0.
            alone = 0.0 if self.parity else float(means.mean())
            alone = float(query["reference"]) if kind == "given" else alone
            near = float(self.tau) - _MARGIN
            fits = alive & (np.abs(means - answer) <= near)
            need(bool(fits.any()), "no member fits all answers: the adversary contradicted itself")
            # In this mode it does not depend on members alive, unless it must.
            free = self.mode == "reference" and (alive & (np.abs(means - alone) <= near)).any()
            need(
                not free or abs(answer - alone) <= 1e-9,
                f"an answer of {answer} is not that of the family alone, {alone}",
            )
            left = int(fits.sum())
            self._compare(entry, int(alive.sum()) - left, left)
            alive = fits
        row = int(np.flatnonzero((members == self.secret).all(axis=1))[0])
        need(bool(alive[row]), "the member drawn at the end was ruled out by an answer")
        return int(alive.sum()), given

    def _given(self, query: dict[str, Any]) -> Means:
        """Means that stand in the file: they must be those of some query at least, by Bessel."""
        fields = set(query) == {"kind", "means", "reference"}
        need(fields, "a query that is given must have means and a reference")
        numbers = [*listed(query["means"]), query["reference"]]
        need(
            all(type(v) in (int, float) and abs(v) <= 1 + 1e-9 for v in numbers),
            "the means of a query must be numbers in [-1, 1]",
        )
        means = np.array(query["means"], np.float64)
        need(means.shape == (self.size,), f"the means of a query must be {self.size} numbers")
        if len(set(self.values)) == 2:
            moved = float(((means - query["reference"]) ** 2).sum())
            room = float(self.fade**2 * self._second() / 4)
            least = moved <= room * (1 + 1e-9) + 1e-9
            need(least, f"no query moves members by {moved:.6g} in squares, {room:.6g} is the most")
        return means

    def _second(self) -> Fraction:
        """The second eigenvalue with the two values written as +-1: 1 for parities."""
        if self.parity:
            return Fraction(1)
        rules = [("subsets", []), ("overlaps", []), ("johnson", [1, 2])]
        steps = [{"rule": name, "from": cited} for name, cited in rules]
        problem = kernel.read_problem(hidden_set(self.family))
        return Fraction(kernel.prove(problem, steps)[-1].top) / problem.half**2

    def _compare(self, entry: dict[str, Any], ruled_out: int, alive: int) -> None:
        said, left = entry["ruled_out"], entry["alive"]
        same = type(said) is int and said == ruled_out
        need(same, f"a query is said to rule out {shown(said)} members, it is {ruled_out}")
        same = read("positive", left) == alive
        need(same, f"{shown(left)} members are said to be left, it is {alive}")

    def _places(self, query: dict[str, Any]) -> tuple[set[int], int]:
        """The places of a character and its sign, that of z_0 = -1 where 0 is among them."""
        need(set(query) == {"kind", "subset"}, "a character must have a subset")
        return self._signed(query["subset"])

    def _signed(self, places: Any) -> tuple[set[int], int]:
        raw = {small(j, 0, self.places, "a place") for j in listed(places)}
        return raw - {0}, -1 if 0 in raw else 1

    def _character(self, members: NDArray[np.int64], query: dict[str, Any]) -> Means:
        """E phi = +-1/2 E[faded factor chi_T]: not 0 only for members that contain T."""
        places, sign = self._places(query)
        if len(places) > self.chosen:
            return np.zeros(len(members))
        inner, k = self._faded(), len(places)
        while len(inner) > k + 1:  # the other places of S are coins
            inner = [(a + b) / 2 for a, b in itertools.pairwise(inner)]
        value = sum((-1) ** i * math.comb(k, i) * inner[i] for i in range(k + 1)) / 2 ** (k + 1)
        inside = np.isin(members, sorted(places)).sum(axis=1) == k
        return np.where(inside, sign * float(value), 0.0)

    def _faded(self) -> list[Fraction]:
        """The mean factor for each h, with the noise."""
        middle = (max(self.values) + min(self.values)) / 2
        return [middle + self.fade * (v - middle) for v in self.values]

    def _pools(self, members: NDArray[np.int64]) -> Any:
        """The means of all pools, in order: matrix products over all points of z."""
        n = self.places
        pools = [e["query"] for e in self.entries if e["query"]["kind"] == "pool"]
        if not pools:
            return iter(())
        if len(members) * len(pools) << n > _MOST_WORK:
            raise TooLarge(
                f"{len(pools)} pools over 2^{n} points and {len(members)} members are too much to "
                "play again here"
            )
        masks = []
        for pool in pools:
            some = set(pool) == {"kind", "sets"} and bool(listed(pool["sets"]))
            need(some, "a pool must have sets")
            signed = map(self._signed, pool["sets"])
            masks.append([(sum(1 << (j - 1) for j in places), sign) for places, sign in signed])
        own = np.array([sum(1 << (int(j) - 1) for j in row) for row in members])
        faded = np.array([float(v) for v in self._faded()])
        out = np.zeros((len(pools), len(members)))
        step = max(1, min(1 << n, _CELLS // max(len(members), len(pools))))
        for start in range(0, 1 << n, step):
            points = np.arange(start, min(start + step, 1 << n))
            signs = np.array(
                [np.sign(sum(s * _signs(points & mask) for mask, s in pool)) for pool in masks]
            )
            factor = faded[np.bitwise_count(points[None, :] & own[:, None])]
            out += signs @ factor.T
        return iter(out / 2.0 ** (n + 1))


def _signs(points: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(1.0 - 2.0 * (np.bitwise_count(points) & 1))
