"""Samples of strangers: what follows from others is no evidence, and open entries are not claimed.

Files are made at random: of planted secrets or of coins, with copies, multiples and sums of rows,
with zero columns and relations of columns. Brute force over the law of the secret is the reference.
"""

from dataclasses import dataclass

import numpy as np
import pytest

from hardness.oracles import Budget
from hardness.runs import run
from hardness.upper import parse_learner
from hardness.upper.attack import wanted
from hardness.upper.counting import counted_rows, open_entries
from hardness.verbs import sources
from instances import parse
from instances.capabilities import LINEAR_FORMS
from instances.errors import TooLarge
from instances.samples import Samples
from instances.streams import BitStream, key

SPECS = [
    "parity:d=13,m=3",
    "parity:d=17,m=2,noise=0.1",
    "lpn:n=10,noise=0.05",
    "lpn:n=16,noise=0.1,h=3",
    "lwe:n=6,q=97,sigma=1,secret=binary",
    "lwe:n=8,q=97,sigma=1,secret=ternary",
    "lwe:n=5,q=31,sigma=1,secret=ternary,h=3",
    "lwe:n=4,q=97,sigma=1",
    "lwe:n=6,q=64,sigma=1,secret=binary",
    "lwe:n=5,q=36,sigma=1,secret=binary",
    "lwe:n=6,q=31,error=uniform,width=2,secret=binary",
    "lwe:n=6,q=17,error=none,secret=ternary",
    "lwe:n=3,q=16,error=none",
    "lwr:n=8,q=32,p=4,secret=binary",
    "lwr:n=5,q=64,p=8,secret=ternary",
]
ATTACKS = (
    "elimination",
    "modlinear",
    "restricted",
    "bruteforce",
    "mitm",
    "bkw",
    "primal",
    "bdd",
    "dual:zeta=2,vectors=100",
    "arora-ge",
    "decode:lowdegree:degree=1",
)
COMPLETE = ("bruteforce", "mitm")
COLUMNS = ("free", "free", "zero", "equal", "opposite", "multiple", "sum", "many")


@dataclass
class Case:
    """A table of A and b, its spec, and the entries of the secret; None for coins.

    wide: whether errors of some rows are wider than those of the spec.
    """

    spec: str
    a: np.ndarray
    b: np.ndarray
    secret: tuple | None
    wide: bool

    @property
    def samples(self):
        return Samples(family=LINEAR_FORMS.need(parse(self.spec)), a=self.a, codes=self.b)

    def write(self, path):
        np.savetxt(path, np.column_stack([self.a, self.b]), fmt="%d", delimiter=",")
        return str(path)


def columns_of(rng, a, q, kind):
    """Make columns of A depend on each other."""
    i, j, k = rng.permutation(a.shape[1])[:3]
    match kind:
        case "zero":
            a[:, i] = 0
        case "equal":
            a[:, i] = a[:, j]
        case "opposite":
            a[:, i] = -a[:, j] % q
        case "multiple":
            a[:, i] = int(rng.integers(q)) * a[:, j] % q
        case "sum":
            a[:, i] = (a[:, j] + a[:, k]) % q
        case "many":
            a[:, i], a[:, j] = 0, a[:, k]
    return a


def made(seed):
    """Make a case: base rows of a planted secret or of coins, and rows that follow from them.

    Mod 2, sums of n coins or more look like fresh rows, and are left out.
    """
    rng = np.random.default_rng([52, seed])
    spec = SPECS[seed % len(SPECS)]
    family = LINEAR_FORMS.need(parse(spec))
    q, n = family.q, family.n
    planted, secret = bool(rng.integers(2)), None
    sizes = [2, n, n + 1, 2 * n, 40, 100, 200] if planted else [1, 2, n // 2, n, n + 1, 2 * n, 40]
    count = int(rng.choice(sizes if planted or q > 2 else [1, 2, n // 2]))
    a = columns_of(rng, rng.integers(0, q, (count, n)), q, rng.choice(COLUMNS))
    codes = rng.integers(0, family.outcomes, count)
    if planted:
        secret = family.secrets.draw(rng)
        t = a @ np.array(secret) % q
        if family.errors is not None:
            t = (t + family.errors.draw(BitStream(key(seed, "e")).words(0, count))) % q
        codes = family.rounding.place(t).astype(np.int64)
    parts, wide = [(a, codes)], False
    for _ in range(int(rng.integers(3))):
        kind, more = rng.choice(["copies", "signs", "multiples", "sums"]), int(rng.integers(1, 120))
        width = int(rng.integers(2, 6)) if kind == "sums" and count > 1 else 1
        wide |= kind in ("multiples", "sums") and family.errors is not None
        rows = np.array([rng.choice(count, width, replace=width > count) for _ in range(more)])
        factors = {
            "copies": np.ones((more, width), int),
            "signs": rng.choice([-1, 1], (more, width)),
            "multiples": rng.integers(0, q, (more, width)),
            "sums": rng.choice([-2, -1, 1, 2], (more, width)),
        }[kind]
        if family.rounding.step == 1:
            whole = (factors[:, :, None] * np.column_stack([a, codes])[rows]).sum(axis=1) % q
            parts.append((whole[:, :-1], whole[:, -1]))
        else:  # labels that are rounded: those of copies, and of -a the part opposite
            sign = factors[:, 0] if kind == "signs" else np.ones(more, int)
            turned = np.where(sign < 0, family.outcomes - 1 - codes[rows[:, 0]], codes[rows[:, 0]])
            parts.append((sign[:, None] * a[rows[:, 0]] % q, turned))
    a, b = (np.concatenate([part[i] for part in parts]) for i in range(2))
    order = rng.permutation(len(a))
    return Case(spec=spec, a=a[order], b=b[order], secret=secret, wide=wide)


def fitting(found, least):
    """List all secrets of the law with so much evidence, by brute force."""
    return [s for s in found.family.secrets.listed() if found.evidence(s) >= least]


def judge(case, path):
    """Run all attacks on a file, whose claims have to be right, and count attacks and claims."""
    family, folder = sources.target(case.write(path), case.spec)
    found = case.samples
    counted = found.take(counted_rows(found)[1])
    counts = {"attacks": 0, "claims": 0, "in part": 0, "determined": 0}
    truth, left = None, set()
    if case.secret and counted.evidence(case.secret) >= wanted(found.family):
        truth = case.secret
        if found.family.secrets.size <= 1 << 13:
            others = fitting(counted, counted.evidence(truth) - 30)
            left = {j for s in others for j in range(len(s)) if s[j] != truth[j]}
            assert set(open_entries(counted, truth)) == left, case
        else:
            left = set(open_entries(counted, truth))
        counts["determined"] = 1
    for name in ATTACKS:
        learner = parse_learner(name)
        if learner.supports(family):
            continue
        try:
            details = run(learner, folder, Budget()).details
        except TooLarge:
            continue
        counts["attacks"] += 1
        claim = details.get("claimed_secret")
        if claim is not None and details["fit"]["coins"] > 2.0**-30:
            claim = None  # a guess, and called one
        entries = details.get("claimed_entries")
        if claim is not None:
            counts["claims"] += 1
            entries = family.to_linear(tuple(claim))
        elif entries:
            counts["in part"] += 1
        shown = {j: v for j, v in enumerate(entries or ()) if v is not None}
        assert not shown or case.secret, (name, case.spec, shown)
        assert all(case.secret[j] == v for j, v in shown.items()), (name, case.spec, shown)
        if truth and name in COMPLETE and not case.wide:
            assert set(shown) == set(range(found.family.n)) - left, (name, case.spec, shown, left)
    return counts


@pytest.mark.parametrize("seed", range(45))
def test_no_claim_of_a_random_file_is_false_and_what_is_determined_is_found(seed, tmp_path):
    assert judge(made(seed), tmp_path / "table.csv")["attacks"] >= 3


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(45, 500))
def test_no_claim_of_more_random_files_is_false(seed, tmp_path):
    assert judge(made(seed), tmp_path / "table.csv")["attacks"] >= 3
