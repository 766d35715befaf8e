"""The theorems on named learners: no learner of a small family beats what they say of it.

Families are written out point by point, under the law of their secrets, from the problem alone.
"""

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from hardness.bounds import checker
from hardness.bounds.checker import named
from hardness.bounds.checker.certificate import KINDS
from hardness.bounds.checker.theorem import Known, Terms
from hardness.bounds.listed import factor
from instances.streams import generator

Array = np.ndarray


@dataclass(kw_only=True)
class Small:
    """A family: each member as a law of an example (S, outcomes), and what is compared with it.

    laws[:, 0]: examples that are closed. functions: what labels hide, with the chances of points.
    """

    problem: dict[str, Any]
    witness: dict[str, Any]
    laws: Array
    reference: Array
    mu: Array
    secrets: list[tuple] | None = None
    functions: Array | None = None
    chances: Array | None = None

    @property
    def known(self) -> Known:
        """What the checker knows of its members."""
        parsed = checker.read_problem(self.problem)
        return KINDS[self.problem["kind"]].know(parsed, self.witness)

    @property
    def alone(self) -> tuple[Any, ...]:
        """Laws, reference, members and gram."""
        return self.laws, self.reference, *self.known[:2]

    def noisy(self, std: Fraction, risk: str = "0", steps: int = 1) -> float:
        """What is claimed that so many steps reach at most."""
        numbers = {"clip": "1", "noise-std": checker.written(std), "steps": str(steps)}
        terms = goal(Fraction(risk), Fraction(1, 2), gd=numbers)
        claims = named.descent(self.known.members, self.known.gram, terms)
        return float(next(c.value for c in claims if c.quantity == "gd-noise-success"))

    def features(self, count: int | None, risk: Fraction, success: Fraction) -> dict[str, Any]:
        """What is claimed of regression on so many features."""
        numbers = {} if count is None else {"features": str(count)}
        terms = goal(risk, success, kernel=numbers)
        claims = named.features(self.known.members, self.known.gram, terms)
        return {claim.quantity: claim.value for claim in claims}

    @property
    def bessel(self) -> float:
        """What means of vectors move in all, and the gram's `alike` members."""
        return float(named.gradients(self.known.gram, Fraction(1)))

    @property
    def lost(self) -> float:
        """How likely those are that a law gives away, and 0 without a law."""
        law = self.known.members.law
        return 0.0 if law is None else float(Fraction(law.lost, law.total))

    def queries(self, rng: np.random.Generator, count: int, parameters: int = 1) -> list[Array]:
        """Functions of an example, of norm 1: at random, and such that members move far."""
        moves = (self.laws - self.reference) * np.sqrt(self.mu)[:, None]
        out = []
        for turns in range(count):
            v = rng.normal(size=(self.laws.shape[1], parameters))
            v /= np.linalg.norm(v, axis=1, keepdims=True)
            for _ in range(10 * turns):
                grown = moves.T @ (moves @ v)
                size = np.linalg.norm(grown, axis=1, keepdims=True)
                v = np.where(size > 0, grown / np.where(size > 0, size, 1), v)
            out.append(v)
        return out


def goal(risk: Fraction, success: Fraction, **about: dict[str, str]) -> Terms:
    """Terms with a goal, and learners by their names."""
    return Terms(tau=Fraction(1, 10), t=100, gamma=Fraction(1, 20), risk=risk, success=success,
                 about=about)  # fmt: skip


def hidden(values: str, places: int, noise: str = "0") -> Small:
    """Hidden sets, by all signs of an example."""
    g = np.array([float(Fraction(v)) for v in values.split()])
    m, fade = len(g) - 1, 1 - 2 * float(Fraction(noise))
    z = np.array(list(itertools.product((1, -1), repeat=places)))
    sets = [list(s) for s in itertools.combinations(range(places), m)]
    f = np.array([g[(z[:, s] < 0).sum(axis=1)] for s in sets])
    up = (1 + fade * (f - (g.max() + g.min()) / 2) / ((g.max() - g.min()) / 2)) / 2
    parity = values == "1 -1 1 -1 1"[: len(values)]
    base = np.full(len(z), 0.5) if parity else up.mean(axis=0)

    def law(rows: Array) -> Array:
        both = np.stack([rows, 1 - rows], axis=-1) / len(z)  # (.., z, label)
        flat = both.reshape(*rows.shape[:-1], -1) / 2
        return np.concatenate([np.full((*rows.shape[:-1], 1), 1 / 2), flat], axis=-1)

    problem = {"kind": "hidden-set", "places": places, "chosen": m, "values": values.split(),
               "noise": noise}  # fmt: skip
    return Small(
        problem=problem,
        witness={},
        laws=law(up),
        reference=law(base),
        mu=np.full(len(sets), 1 / len(sets)),
        functions=f - (0 if parity else f.mean(axis=0)),
        chances=np.full(len(z), 1 / len(z)),
    )


def residues(
    n: int, q: int, parts: int = 0, law: str = "", least: int = 0, h: int = 0, bits: int = 20,
    errors: Any = None, weighed: tuple = ("1", 0, []),
) -> Small:  # fmt: skip
    """Secrets of Z_q^n under their law, by all vectors a; weighed: base, cut and weights."""
    labels, parts = "interval" if parts else "residue", parts or q
    entries = {least + i: int(c) for i, c in enumerate(law.split())} or dict.fromkeys(range(q), 1)
    if h and not law:
        entries.pop(0)
    modulus, drawn = q if q % 2 else 2 * q // parts, {}
    for places in itertools.combinations(range(n), h or n):
        for values in itertools.product(entries, repeat=h or n):
            if any(math.gcd(v, modulus) == 1 for v in values):
                secret = [0] * n
                for place, v in zip(places, values, strict=True):
                    secret[place] = v % q
                weight = math.prod(entries[v] for v in values)
                drawn[tuple(secret)] = drawn.get(tuple(secret), 0) + weight
    mu = np.array(list(drawn.values())) / sum(drawn.values())
    one = np.bincount(np.arange(1 << bits) % q, minlength=q) / (1 << bits)
    vectors = np.array(list(itertools.product(range(q), repeat=n)))
    p = (one if q % 2 else np.full(q, 1 / q))[vectors].prod(axis=1)
    t = vectors @ np.array(list(drawn)).T % q
    codes = np.zeros((q, parts))
    for r in range(q):
        if labels == "residue":
            first, counts = errors or (0, ["1"])
            for e, count in enumerate(counts, first):
                codes[r, (r + e) % q] += int(count) / sum(map(int, counts))
        else:
            codes[r, r * parts // q] = 1
    share = codes.mean(axis=0)
    mean = codes @ np.arange(codes.shape[1])
    mean = (mean - mean.mean()) / mean.std()
    opened = p[:, None, None] * codes[t] / 2  # (a, secret, code)
    laws = np.moveaxis(opened, 1, 0).reshape(len(mu), -1)
    closed = np.full((len(mu), 1), 0.5)
    problem = {
        "kind": "residues", "n": n, "q": q, "bits": bits, "labels": labels, "parts": parts,
        "secret": {"weight": h, "entries": [least, law.split()] if law else None},
        "errors": errors and [errors[0], list(errors[1])],
    }  # fmt: skip
    base, cut, weights = weighed
    return Small(
        problem=problem,
        witness={"law": {"base": base, "cut": cut, "weights": weights}},
        laws=np.concatenate([closed, laws], axis=1),
        reference=np.concatenate([[0.5], (p[:, None] * share / 2).reshape(-1)]),
        mu=mu,
        secrets=list(drawn),
        functions=mean[t].T,
        chances=p,
    )


def listed(signs: int, top: str, *tables: str) -> Small:
    """Functions of values -1 and +1."""
    f = np.array([[1 - 2 * (int(t, 16) >> i & 1) for i in range(1 << signs)] for t in tables])
    up = np.stack([(1 + f) / 2, (1 - f) / 2], axis=-1).reshape(len(f), -1) / (1 << signs)
    laws = np.concatenate([np.zeros((len(f), 1)), up], axis=1)
    less = f - f.mean(axis=0)
    gram = less @ less.T / (1 << signs)
    proof = factor(gram, np.linalg.eigvalsh(gram)[-1], float(Fraction(top)))
    return Small(
        problem={"kind": "functions", "signs": signs, "centred": False, "tables": list(tables)},
        witness={"eigenvalue": {"top": top, **proof}},
        laws=laws,
        reference=laws.mean(axis=0),
        mu=np.full(len(f), 1 / len(f)),
        functions=less,
        chances=np.full(1 << signs, 1 / (1 << signs)),
    )


def direction(noise: str = "0") -> Small:
    """The sign of a normal number in the plane: 240 directions for all, 240 angles of points."""
    at = np.arange(240) * 2 * np.pi / 240
    f = np.sign(np.cos(at[:, None] - at[None] + 1e-3))
    up = (1 + (1 - 2 * float(Fraction(noise))) * f) / 2
    laws = np.stack([up, 1 - up], axis=-1).reshape(240, -1) / 240
    return Small(
        problem={"kind": "direction", "dimension": 2, "low": ["0"], "noise": noise},
        witness={},
        laws=np.concatenate([np.zeros((240, 1)), laws], axis=1),
        reference=np.concatenate([[0], laws.mean(axis=0)]),
        mu=np.full(240, 1 / 240),
    )  # fmt: skip


QUARTERS = (-1, [str(1 << 62), str(1 << 63), str(1 << 62)])
EVEN = {
    "parity": hidden("1 -1 1", 4),
    "noisy parity": hidden("1 -1 1 -1", 5, "1/8"),
    "majority": hidden("1 1 -1 -1", 5, "1/10"),
    "exactly one": hidden("1 -1 1", 5, "1/5"),
    "shifted": hidden("4 4 1", 4),
    "lwr": residues(3, 4, 2, "1 1"),
    "lwe": residues(2, 5, errors=QUARTERS),
    "dense": residues(2, 5, bits=6),
    "alike": residues(2, 8, 4, "1 1"),
}
UNEVEN = {
    "ternary": residues(2, 7, 0, "1 8 2", -1, weighed=("1/2", 3, [0, 2, 3])),
    "all counted": residues(2, 7, 0, "1 8 2", -1, weighed=("1/2", 0, [0, 2, 3])),
    "twins": residues(3, 8, 2, "1 8 2", -1, weighed=("1/2", 3, [0, 2, 3])),
    "sparse": residues(3, 5, 0, "1 3", 1, 2, weighed=("1/3", 1, [1, 0])),
    "lifted": residues(3, 8, 8, h=2),
}  # fmt: skip
OTHERS = {
    "functions": listed(3, "101/100", "aa", "cc", "e8"),
    "more functions": listed(3, "9/5", "aa", "cc", "c8", "1", "96"),
    "direction": direction("1/10"),
}
ALL = {**EVEN, **UNEVEN, **OTHERS}
every = pytest.mark.parametrize("name", ALL)


def guessed(laws: Array, mu: Array) -> float:
    """The best chance of naming the member from an outcome."""
    return float((laws * mu[:, None]).max(axis=0).sum())


@every
def test_a_mean_with_noise_names_no_member_more_often_than_claimed(name):
    """The same query T times: the mean of the answers is normal; Bayes' rule is integrated."""
    small, rng = ALL[name], generator(1, "noisy", name)
    near = 0.0
    for steps, std in ((1, Fraction(1, 2)), (9, Fraction(1, 4)), (4, Fraction(3))):
        claimed = small.noisy(std, steps=steps)
        sure = small.noisy(std * 10**9, steps=steps)
        for v in small.queries(rng, 4):
            means, wide = (small.laws @ v)[:, 0], float(std) / math.sqrt(steps)
            ends = np.linspace(means.min() - 8 * wide, means.max() + 8 * wide, 2001)
            cells = np.diff(ndtr((ends[None] - means[:, None]) / wide), axis=1)
            found = guessed(cells, small.mu)
            assert found <= claimed + 1e-12
            near = max(near, (found - sure) / (claimed - sure)) if 0 < claimed < 1 else near
    assert near > 0.05 or small.problem["kind"] != "hidden-set"


@pytest.mark.parametrize("name", [*EVEN, "functions", "more functions"])
def test_what_vectors_move_in_all_is_bounded_and_nearly_reached(name):
    """Members that are one have the mean of their squares."""
    small, rng = ALL[name], generator(5, "bessel", name)
    members = small.known.members
    moves = (small.laws - small.reference) * np.sqrt(members.count * small.mu)[:, None]
    best = max(float(((moves @ v) ** 2).sum()) for k in (1, 2, 5) for v in small.queries(rng, 5, k))
    assert 0.3 * small.bessel < best <= small.bessel * (1 + 1e-12)


@pytest.mark.parametrize(
    "name", [name for name, small in EVEN.items() if small.known.gram.moves01 is not None]
)
def test_a_query_moves_members_no_further_than_its_mean_allows(name):
    """Of values 0 and 1, which an answer of VSTAT is about: at random, and climbing."""
    small, rng, best = ALL[name], generator(7, "vstat", name), 0.0
    members, gram = small.known.members, small.known.gram
    most, weight = float(gram.moves01), np.sqrt(members.count * small.mu)[:, None]
    moves = (small.laws - small.reference) * weight
    for trial in range(60):
        part = rng.random(moves.shape[1]) < (0.02, 0.1, 0.5)[trial % 3]
        for _ in range(8):
            at = float(small.reference @ part)
            seen, rare = float(((moves @ part) ** 2).sum()), min(at, 1 - at)
            assert seen <= most * rare * (1 + 1e-9) + 1e-15
            if rare < 1e-12:
                break
            best = max(best, seen / (most * rare))
            part = 2 * moves.T @ (moves @ part) > seen / rare * small.reference
    assert best > 0.2


@pytest.mark.parametrize("name", UNEVEN)
def test_members_that_are_not_lost_are_as_rare_as_the_checker_says(name):
    """Vectors are secrets mod M; heavier ones, all together, are no more than what is lost."""
    small = ALL[name]
    members = small.known.members
    mass: dict[tuple, float] = {}
    q, parts = small.problem["q"], small.problem["parts"]
    for secret, chance in zip(small.secrets, small.mu, strict=True):
        vector = tuple(v % (q if q % 2 else 2 * q // parts) for v in secret)
        mass[vector] = mass.get(vector, 0.0) + chance
    most = float(named.heaviest(members)) / members.law.as_one
    heavier = sum(v for v in mass.values() if v > most * (1 + 1e-9))
    assert heavier <= small.lost * (1 + 1e-9)
    assert len(mass) == members.count * members.law.as_one


def errors(functions: Array, features: Array, chances: Array) -> Array:
    """The squared distance of each function to the span of features."""
    root = np.sqrt(chances)
    basis, sizes, _ = np.linalg.svd((features * root).T, full_matrices=False)
    basis = basis[:, sizes > 1e-9 * sizes[0]]
    left = (functions * root).T
    return ((left - basis @ (basis.T @ left)) ** 2).sum(axis=0)


FITTING = [name for name in [*EVEN, *UNEVEN, "functions", "more functions"]
           if "view" not in ALL[name].problem]  # fmt: skip


@pytest.mark.parametrize("name", FITTING)
def test_no_features_fit_members_better_than_claimed(name):
    small, rng = ALL[name], generator(6, "features", name)
    f, p, mu = small.functions, small.chances, small.mu
    count = small.known.members.count
    scale = 1.0 if small.problem["kind"] == "residues" else float(mu @ (f**2 @ p))
    _, _, best = np.linalg.svd(f * np.sqrt(mu)[:, None] * np.sqrt(p), full_matrices=False)
    best = best / np.sqrt(p)
    ones = np.ones((1, len(p)))
    for features in sorted({1, 2, count // 2, count - 1, count} - {0}):
        least = float(small.features(features, Fraction(0), Fraction(1))["kernel-error"])
        tried = [errors(f, one, p) for one in (best[:features], f[:features])]
        tried += [errors(f, rng.normal(size=(features, len(p))), p) for _ in range(3)]
        if small.problem["kind"] != "functions":  # what is known is not added
            tried.append(errors(f + 3, np.vstack([ones, best[: features - 1]]), p))
            less = f - mu @ f  # the mean member is known, and added
            _, _, rest = np.linalg.svd(less * np.sqrt(mu)[:, None] * np.sqrt(p))
            tried.append(errors(less, (rest / np.sqrt(p))[:features], p))
        for found in tried:
            assert mu @ found / scale >= least - 1e-10
            for risk in (Fraction(0), Fraction(1, 10), Fraction(1, 2)):
                right = found / scale <= float(risk) + 1e-10
                share = Fraction(float(mu[right].sum()) * (1 - 1e-9))
                if share > 0:
                    claims = small.features(None, risk, min(share, Fraction(1)))
                    assert claims["kernel-features"] <= features
        if small.problem["kind"] == "hidden-set":  # attained
            assert mu @ tried[-1] / scale == pytest.approx(least, abs=1e-10)
            if least > 0.1:
                risk = Fraction(1 - least).limit_denominator(10**6)
                needed = small.features(None, risk, Fraction(1))
                assert needed["kernel-features"] >= 1
