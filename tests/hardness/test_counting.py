"""Samples of strangers: what follows from others is no evidence, and open entries are not claimed.

Files are made at random: of planted secrets or of coins, with copies, multiples and sums of rows,
with zero columns and relations of columns. Brute force over the law of the secret is the reference.
"""

from dataclasses import dataclass

import numpy as np
import pytest

from hardness import attack
from hardness.api import sources
from hardness.attacks.core import evidence_threshold
from hardness.attacks.counting import counted_rows, distinct, open_entries
from hardness.learners import Outcome
from hardness.oracles import Budget
from hardness.report.run import claim_words
from hardness.runs import run
from hardness.runs.registry import parse_learner
from instances import parse
from instances.errors import DamagedFile, TooLarge
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
    *("elimination", "modlinear", "restricted", "bruteforce", "mitm", "bkw", "primal"),
    *("dual:zeta=2,vectors=100", "decode:lowdegree:degree=1"),
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
        return Samples(family=parse(self.spec).linear_forms, a=self.a, codes=self.b)

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
    family = parse(spec).linear_forms
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
        codes = t // family.interval
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
        if family.interval == 1:
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
    if case.secret and counted.evidence(case.secret) >= evidence_threshold(found.family):
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


@pytest.mark.parametrize("seed", range(len(SPECS)))
def test_no_claim_of_a_random_file_is_false_and_what_is_determined_is_found(seed, tmp_path):
    assert judge(made(seed), tmp_path / "table.csv")["attacks"] >= 3


@pytest.mark.weekly
@pytest.mark.parametrize("seed", range(len(SPECS), 500))
def test_no_claim_of_more_random_files_is_false(seed, tmp_path):
    assert judge(made(seed), tmp_path / "table.csv")["attacks"] >= 3


LWE = "lwe:n=12,q=97,sigma=1,secret=binary"


def coins(count, spec=LWE, seed=0):
    """Draw rows (a, b) that are uniform: samples of no secret."""
    family = parse(spec).linear_forms
    return np.random.default_rng(seed).integers(0, family.q, (count, family.n + 1))


def details_of(rows, learner, path, spec=LWE):
    np.savetxt(path, rows, fmt="%d", delimiter=",")
    return run(parse_learner(learner), sources.target(str(path), spec)[1], Budget()).details


def counted(rows, spec=LWE):
    found = Samples(family=parse(spec).linear_forms, a=rows[:, :-1], codes=rows[:, -1])
    return counted_rows(found)[0]


@pytest.mark.parametrize("learner", ["mitm", "bruteforce", "primal"])
def test_two_rows_are_two_samples_however_often_they_stand_in_a_file(learner, tmp_path):
    once = coins(2)
    mixed = np.random.default_rng(1).integers(-3, 4, (48, 2)) @ once % 97
    for rows in (once, np.tile(once, (60, 1)), np.tile(once * 5 % 97, (60, 1)), mixed):
        details = details_of(rows, learner, tmp_path / "table.csv")
        assert details["samples"] == 2
        assert not details.keys() & {"claimed_secret", "claimed_entries"}
        if len(rows) > 2:
            assert f"2 of {len(rows)} samples count" in details["notes"][0]


@pytest.mark.parametrize(
    ("spec", "base", "width", "count", "factors"),
    [
        (LWE, 13, 4, 120, (-2, -1, 1, 2)),
        ("lwe:n=8,q=97,sigma=1", 11, 3, 120, (-2, -1, 1, 2)),
        ("lpn:n=20,noise=0.1", 21, 6, 1000, (-1, 1)),
        # Their number and the zeros of the columns' span show them, if no relation is rare.
        ("lpn:n=100,noise=0.1", 102, 6, 1000, (-1, 1)),
        pytest.param("lpn:n=200,noise=0.1", 208, 5, 1000, (-1, 1), marks=pytest.mark.weekly),
        ("lwe:n=8,q=3,sigma=0.4", 9, 3, 1000, (-1, 1)),
        ("lwe:n=8,q=4,sigma=0.4", 9, 4, 1000, (-1, 1)),
        ("lwe:n=60,q=7,sigma=0.5", 62, 3, 1000, (-1, 1)),
    ],
)
def test_small_sums_of_few_rows_are_seen(spec, base, width, count, factors):
    """Errors of small sums are small where those of the rows are, so coins would fit secrets."""
    rng, q = np.random.default_rng(4), parse(spec).q
    weights = rng.choice(factors, (count, base)) * (rng.random((count, base)).argsort(1) < width)
    assert len(counted(weights @ coins(base, spec) % q, spec)) <= base
    fresh = coins(base + count, spec, 5)
    assert len(counted(fresh, spec)) == len(distinct(fresh, q))


def test_combinations_of_a_few_rows_among_fresh_rows_do_not_count():
    few, fresh = coins(3), coins(40, seed=1)
    mixed = np.random.default_rng(2).integers(0, 97, (60, 3)) @ few % 97
    kept = counted(np.concatenate([mixed, fresh]))
    assert len(kept) == 43
    assert kept[3:].tolist() == [*range(60, 100)]


def test_which_rows_count_does_not_depend_on_their_order():
    rows = coins(40)
    rows = np.concatenate([rows, rows[:20], -rows[20:] % 97, (rows[:20] + rows[20:]) % 97])
    order = np.random.default_rng(1).permutation(len(rows))
    first, second = rows[counted(rows)], rows[order][counted(rows[order])]
    up_to_sign = [{min(r.tobytes(), (-r % 97).tobytes()) for r in part} for part in (first, second)]
    assert up_to_sign[0] == up_to_sign[1]


def test_labels_of_an_exact_solution_are_no_more_than_the_rank():
    """With errors of deviation 1 none of 60 labels has an error with a chance of 2^-79."""
    rows = coins(60)
    rows[:, -1] = rows[:, :-1] @ np.arange(12) % 97
    assert len(counted(rows)) == 12


def test_rows_that_are_multiples_of_non_units_follow():
    rows = np.array([[2, 3, 1], [4, 6, 2], [0, 4, 0], [5, 3, 7]])
    assert counted(rows, "lwe:n=2,q=8,sigma=1").tolist()[:2] == [0, 2]
    assert counted(np.array([[2, 4, 6], [1, 2, 3]]), "lwe:n=2,q=8,sigma=1").tolist() == [1]


@pytest.mark.parametrize(("column", "left"), [("zero", {0}), ("equal", {0, 1})])
def test_entries_that_samples_leave_open_are_named_and_not_claimed(column, left, tmp_path):
    family, rng = parse(LWE), np.random.default_rng(4)
    secret, a = (1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 1), rng.integers(0, 97, (60, 12))
    a[:, 0] = 0 if column == "zero" else a[:, 1]
    b = (a @ secret + family.errors.draw(rng.integers(0, 2**64, 60, dtype=np.uint64))) % 97
    np.savetxt(tmp_path / "table.csv", np.column_stack([a, b]), fmt="%d")
    for learner in ("mitm", "bruteforce"):
        found = attack(tmp_path / "table.csv", learner, spec=LWE, jobs=1)
        run_ = found.attacks[0].runs[0]
        shown = [None if j in left else v for j, v in enumerate(secret)]
        assert run_.outcome is Outcome.NO_CLAIM
        assert run_.details["claimed_entries"] == shown
        assert "claimed_secret" not in run_.details
        assert run_.details["fit"]["open"] == sorted(left)
        assert found.claims == ()
        said = " ".join(str(found).split())
        assert f"claims [{', '.join('?' if v is None else str(v) for v in shown)}]" in said
        assert "in part" in said


def test_a_claim_says_what_was_counted_and_what_is_assumed(tmp_path):
    family, rng = parse(LWE), np.random.default_rng(5)
    a = rng.integers(0, 97, (50, 12))
    b = (a[:, 0] + family.errors.draw(rng.integers(0, 2**64, 50, dtype=np.uint64))) % 97
    rows = np.tile(np.column_stack([a, b]), (2, 1))
    details = details_of(rows, "mitm", tmp_path / "table.csv")
    assert details["fit"]["samples"] == 50
    assert details["fit"]["lines"] == 100
    assert "fits the 50 samples; if these were drawn independently" in claim_words(details)


def signs(a, b):
    return np.column_stack([1 - 2 * a, 1 - 2 * b])


def test_signs_mod_2_are_bits(tmp_path):
    """0 is 1 and 1 is -1: what `% 2` would make of both is 1."""
    rng = np.random.default_rng(6)
    a = rng.integers(0, 2, (200, 20))
    b = a[:, [8, 9, 15]].sum(axis=1) % 2
    for rows in (np.column_stack([a, b]), signs(a, b), np.column_stack([1 - 2 * a, b])):
        details = details_of(rows, "mitm", tmp_path / "table.csv", "parity:d=21,m=3")
        assert np.flatnonzero(details["claimed_secret"]).tolist() == [8, 9, 15]
        assert ("notes" in details) == (rows.min() < 0)
    assert details["notes"] == ["entries 1 and -1 are signs: they are read as bits 0 and 1"]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (signs(np.eye(3, dtype=int), np.zeros(3, int)), "b has 1 alone"),
        (np.array([[1, 0, -1, 0], [1, 1, 0, 1]]), "a has -1 among bits"),
        (np.array([[1, 1, -1, 0], [1, 1, 1, -1]]), "b has -1 among bits"),
        (np.array([[1, 1, -3, 0], [1, 1, 1, 1]]), "a has -3: lpn with q=2 has 0 .. 1$"),
    ],
)
def test_mixtures_of_signs_and_bits_are_refused_in_one_line(rows, said, tmp_path):
    np.savetxt(tmp_path / "table.csv", rows, fmt="%d", delimiter=",")
    with pytest.raises(DamagedFile, match=said) as raised:
        sources.read_file(tmp_path / "table.csv", "lpn:n=3,noise=0")
    assert "%" not in str(raised.value)
    assert "\n" not in str(raised.value)
