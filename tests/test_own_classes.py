"""A class of functions of a user over sizes: by every command, from Python, and what is refused."""

import json
import math
from fractions import Fraction
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import hardness as front
from hardness.bounds.checker import check
from instances import ToolkitError, UsageError
from instances.spec import USER_FAMILIES

FILE = Path(__file__).parents[1] / "docs/examples/conjunctions.py"
OF, SPEC = "conj.py:Conjunctions", "conj.py:Conjunctions:w=2,d=6"
LINES = {  # with a word of what they say
    "certify SPEC": "Conjunctions:d=6,w=2\n",
    "certify SPEC --format latex": "largest-correlation & 1/2 & - &  & exact & this certificate",
    "certify SPEC --about gd --noise-std 1 --out g.json; check g.json": "named: Conjunctions:d=6",
    "certify SPEC --out c.json; check c.json": "named: Conjunctions:d=6,w=2",
    "compare OF:w=2 --over d=5..6 --learner lowdegree --seeds 1 --jobs 1": "d=6: at least",
    "compare OF:d=6 --over w=1..2 --learner none": "w=2",
    "compare OF --over d=5..6 --learner none": "d=6",
    "stress --learner lowdegree --on SPEC --seeds 1 --reference none --jobs 1": "lowdegree",
    "learn lowdegree SPEC": "lowdegree on Conjunctions:d=6,w=2",
    "generate SPEC --out x --examples 50; learn lowdegree x --family OF": "50 examples",
    "verify SPEC --samples 5000": "largest deviation from the enumerated ones",
    "verify x --family OF --samples 5000": "labels differ from the noiseless ones",
    "figure correlations SPEC --json": '"correlation"',
    "families show SPEC": "Conjunctions of w of d variables",
}
ELSEWHERE = {  # in other processes, which know the class by its file
    "compare OF:w=2 --over d=5..6 --learner lowdegree --seeds 1 --jobs 2 --out s": "d=6: at least",
    "figure both-sides s --family OF --json": '"quantity": "information-floor"',
    "report s --family OF": "d=6: at least",
    "compare OF --over d=5..6 --learner none --out b; figure both-sides b --out b.svg": "--family",
    "figure both-sides b --family OF --out c.svg": "vacuous at all of these",
    "compare OF:w=2 --over d=5..6 --learner zero.py:zero --seeds 1 --jobs 1": "learned nothing",
}


@pytest.fixture
def conj(hardness):
    """The class of the docs in the current folder, beside a learner."""
    Path("zero.py").write_text("def zero(x, y):\n    return lambda new: 0.0 * new\n")
    Path("conj.py").write_text(FILE.read_text())
    return hardness


def works(conj, every):
    for lines, said in every.items():
        for line in lines.replace("SPEC", SPEC).replace("OF", OF).split("; "):
            USER_FAMILIES.clear()  # as in another process
            found = conj(*line.split())
            assert found.code == 0, (line, found.err)
        assert said in found.out, lines


@pytest.mark.slow
def test_a_class_works_in_other_processes(conj):
    works(conj, ELSEWHERE)
    runs = front.read_runs("s").runs
    assert {len(run.versions["Conjunctions"]) for run in runs} == {64}
    drawn = {run.spec for run in runs}
    assert drawn == {"Conjunctions:d=5,w=2", "Conjunctions:d=6,w=2"}


def test_a_class_works_in_every_command(conj):
    works(conj, LINES)


def test_its_bounds_are_those_of_its_table_by_brute_force(conj):
    """Correlations of conjunctions by counting: E f g = 1 - 2 Pr[f != g]."""
    claims = conj("certify", SPEC, "--json").json["claims"]
    found = {quantity: value for quantity, _, value in claims}
    either = {0: 2 * (1 / 4 - 1 / 16), 1: 2 * (1 / 4 - 1 / 8)}  # by how many variables they share
    sets = [set(one) for one in combinations(range(6), 2)]
    every = [1.0 if a == b else 1 - 2 * either[len(a & b)] for a in sets for b in sets]
    assert found["average-correlation"] == str(Fraction(np.mean(every)).limit_denominator(10**6))
    needed = math.ceil(math.log2(len(sets) * 2 / 3 / 15))
    assert int(found["information-floor"]) >= max(0, needed)
    compared = front.compare(f"{OF}:w=2", "d=6,7", "none")
    assert compared.bounds("information-floor")[0] == int(found["information-floor"])
    assert compared.certificates[0].to_dict() == front.certify(SPEC).to_dict()


def test_a_certificate_is_not_taken_for_another(conj):
    data = front.certify(SPEC).to_dict()
    for place, value in (
        (("spec",), "parity:d=6,m=2"),
        (("spec",), "Conjunctions:d=6,w=2 proved"),
        (("spec",), "Other:d=6,w=2"),
        (("origin", "names", 0), data["origin"]["names"][1]),
        (("origin", "sha256"), 7),
    ):
        forged = json.loads(json.dumps(data))
        *path, last = place
        part = forged
        for step in path:
            part = part[step]
        part[last] = value
        if last == "spec" and not value.startswith("Other"):  # with an origin that fits
            forged["origin"]["path"] = f"conj.py:{value}"
        check(forged)  # the checker alone speaks of tables
        with pytest.raises(front.Refuted, match=r"name|digest|origin"):
            front.check(forged)


class Conj:
    """Conjunctions as a notebook has them."""

    def __init__(self, d, w=3):
        self.d, self.w = d, w
        self.functions = [self.one(list(on)) for on in combinations(range(d), w)]

    def one(self, on):
        return lambda x: np.where((x[:, on] < 0).all(axis=1), -1, 1)


class Listing(Conj):
    """One whose parameter no spec writes."""

    def __init__(self, d, sizes=(1,)):
        super().__init__(d, sizes[0])
        self.sizes = sizes


def around(w):
    class Within(Conj):
        def __init__(self, d):
            super().__init__(d, w)

    return Within


class Forgetful(Conj):
    """It keeps no w."""

    def __init__(self, d, w=3):
        super().__init__(d, w)
        del self.w


def test_a_class_without_a_file_works_but_has_no_lasting_key(conj):
    made = front.certify(Conj(d=6, w=2))
    assert (made.spec, made["sq-dimension"].value) == ("Conj:d=6,w=2", 3)
    values = [{one.quantity: one.value for one in c.claims} for c in (made, front.certify(SPEC))]
    assert values[0] == values[1]
    found = front.compare(partial(Conj, w=2), "d=5..6", "lowdegree", seeds=1, jobs=2)
    assert [run.spec for run in found.runs] == ["Conj:d=5,w=2", "Conj:d=6,w=2"]
    same = front.compare(Conj(d=5, w=2), over="d=5..6", learner="lowdegree", seeds=1, jobs=1)
    assert [run.risk for run in same.runs] == [run.risk for run in found.runs]
    assert front.compare(Conj, over="d=5..6", learner="none", jobs=1).certificates
    assert front.verify(Conj(d=6, w=2), samples=5000).agrees
    assert front.least(Conj(d=5, w=2), "lowdegree:degree=1", seeds=6, total=5000, jobs=1).cells
    assert front.learn("lowdegree", Conj(d=6)).spec == "Conj:d=6,w=3"
    assert len(front.figure("correlations", Conj(d=6)).rows) > 1
    assert front.stress(
        "trivial", on=[Conj(d=6)], seeds=1, seed=1, jobs=1, reference="none"
    ).attempts
    with pytest.warns(UserWarning, match="runs of lowdegree are not kept"):
        front.compare(Conj, "d=5..6", "lowdegree", jobs=1, out="z")
    asked = {"specs": [Conj(d=6, w=2)], "learners": ["lowdegree"]}
    assert front.sweep(asked, jobs=1).runs[0].spec == "Conj:d=6,w=2"
    for call, said in (
        (lambda: front.generate(Conj(d=6), out="y"), "stands in no file"),
        (lambda: front.certify(Conj), "Conj needs d: write Conj:d=8"),
        (lambda: front.certify(Forgetful(d=6)), "does not keep w: write self.w"),
        (lambda: front.certify(partial(Conj, 6)), "name its parameters"),
        (lambda: front.certify(int), "is of type int"),
        (
            lambda: front.certify(partial(Listing, d=5, sizes=(2,))),
            "no spec can write sizes of a partial",
        ),
        (lambda: front.certify(Listing(5, (2,))), "has other functions when made again"),
        (
            lambda: front.stress("trivial", on=[around(1)(5), around(2)(6)], seeds=1, jobs=1),
            "two classes have the name",
        ),
        (lambda: front.certify(3), "a SPEC, a Family or a folder of `hardness generate`, got int"),
    ):
        with pytest.raises(ToolkitError, match=said):
            call()
    digests = [front.certify(around(w)(5)).origin["sha256"] for w in (1, 2, 1)]
    assert digests[0] == digests[2] != digests[1]  # they are of the functions' values
    blind = front.compare(Conj(d=5, w=1), "d=5", "zero.py:zero", seeds=1, jobs=1)  # in a process
    assert [run.outcome.value for run in blind.runs] == ["learned nothing"]


WRONG = {  # a class in a file, and what `compare` and `certify` say of it
    "class C:\n    def __init__(self, d): self.d = 6; self.functions = [F(i) for i in range(5)]":
        "called with d=7, gives functions of d=6",
    "class C:\n    def __init__(self, d): self.d, self.functions = d, [F(i) for i in range(5)]":
        "C has the same functions at d=7 and 8: it does not use it",
    "from itertools import count\nN = count()\nclass C:\n    def __init__(self, d):\n"
    "        self.d, self.functions = d, [F(i) for i in range(5)][next(N) % 3:]":
        "gives other functions when it is called again",
    "class C:\n    def __init__(self, n): self.d, self.functions = n, [F(i) for i in range(n)]":
        "unknown parameter of conj.py: C 'd'|--over d: C has the parameters n",
    "class C:\n    def __init__(self, d): raise ValueError('no such size')":
        "ValueError: no such size",
    "class C:\n    def __init__(self, d): self.d, self.functions = d, [F(0), F(0)]":
        "is the function f0 again|one member|same function",
    "raise OSError('no data')": "OSError: no data",
}  # fmt: skip


def test_a_class_that_is_of_no_use_is_one_line(conj):
    head = "import numpy as np\n\n\ndef F(i):\n    return lambda x: x[:, i % 5]\n\n\n"
    for text, said in WRONG.items():
        Path("conj.py").write_text(head + text + "\n")
        USER_FAMILIES.clear()
        found = conj("compare", "conj.py:C", "--over", "d=7..8", "--learner", "lowdegree")
        assert found.code in (1, 2), text
        assert any(part in found.err for part in said.split("|")), (text, found.err)
        found.one_line("")
    found = conj("compare", "gone.py:C", "--over", "d=7..8")
    assert found.code == 2
    found.one_line("no such file:")


class Counting:
    """Predicts how often it has learned."""

    learned = 0

    def learn(self, oracle, rng):
        self.learned += 1
        size = self.learned / 10
        return lambda x: np.full(x.shape, size)


def test_runs_of_an_object_do_not_change_each_other_however_many_processes_do_them():
    risks = [
        [run.risk for run in front.stress(
            Counting(), on=["parity:d=8,m=1"], seeds=3, seed=1, jobs=jobs, reference="none",
            budget_examples=50,
        ).attempts[0].levels[0].trials]
        for jobs in (1, 2)
    ]  # fmt: skip
    assert risks[0] + risks[1] == pytest.approx([1.01] * 6)


def test_an_object_with_a_name_and_no_fields_is_a_learner_everywhere():
    named = type("Named", (Counting,), {"name": "mine"})()
    found = front.compare("parity:m=1", "d=6..7", named, seeds=1, jobs=1)
    assert "--learner mine" in found.command
    with pytest.raises(UsageError, match="two learners are called mine"):
        front.stress(named, on=["parity:d=8,m=1"], reference=named, seeds=1, jobs=1)


CACHED = """
from functools import lru_cache
from threading import Lock

import numpy as np

lock, d = Lock(), 5


@lru_cache
def sign(i):
    return lambda x: x[:, i]


def first(x):
    with lock:
        return sign(0)(x)


functions = [first, lambda x: sign(1)(x)]
"""


def test_workers_execute_a_file_whose_objects_cannot_be_handed_over(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cached.py").write_text(CACHED)
    on = ["cached.py:functions"]
    found = front.stress("lowdegree", on=on, seeds=2, seed=1, jobs=2, reference="none")
    assert found.attempts[0].levels[0].passes == 2
