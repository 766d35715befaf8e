"""What a user's object may be, each against what it is known to give, and what is wrong with it."""

import hashlib
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from hardness import datasets
from hardness.learners import Outcome, learner_spec
from hardness.learners.plugins import Estimator, Function, adapt, function, load, template
from hardness.learners.plugins.views import flat, gather
from hardness.oracles import Budget, Meter, Spent
from hardness.runs.run import run
from instances import UsageError, parse
from instances.residues import dot
from instances.samples import samples
from instances.userfile import split

DOCS = Path(__file__).parents[4] / "docs"
GOOD = '''
from dataclasses import dataclass
from neighbour import solve
import numpy as np
from hardness.learners import Hypothesis, member
from hardness.learners.plugins import Estimator, function
from hardness.oracles import Character
from instances.coded import reduce

class Best:
    """Looks for the pair of bits whose product is the label's."""
    revision = 3

    def __init__(self, most=200, name=None):
        self.most = most

    def supports(self, family):
        return None if family.name == "parity" else "it looks for parities"

    def learn(self, oracle, rng):
        found = reduce(oracle.draw(self.most))
        return member(oracle.family, solve(found.signs(), found.values), most=self.most)

class Plain:
    def learn(self, oracle, rng):
        family, examples = oracle.family, oracle.draw(200)
        found = reduce(examples)
        secret = solve(found.signs(), found.values)
        return lambda x: family.mean(secret, x)

class Asks:
    access = "queries"

    def learn(self, oracle, rng):
        d = oracle.family.d
        pairs = [(i, j) for i in range(1, d) for j in range(i + 1, d)]
        best = max(pairs, key=lambda pair: abs(oracle.ask(Character(subset=pair))))
        return member(oracle.family, best)

ready = Best(150)

def makes(most: int = 120):
    return Best(most)

def raw(x, y):
    rows = x[:, 0, 0] != x[:, 1, 0]
    z, s = (x[:, 0] * x[:, 1])[rows], (x[:, 0, 0] * y[:, 0, 0])[rows]
    i, j = solve(z[:, 1:], s)
    known = (x[:, 0, 0] * y[:, 0, 0])[~rows][0]

    def predict(new):
        z = new[:, 0] * new[:, 1]
        out = np.zeros(new.shape)
        factor = np.where(z[:, 0] < 0, z[:, i] * z[:, j], known)
        out[:, :, 0] = new[:, :, 0] * factor[:, None]
        return out

    return predict

@function(view="z", examples=300)
def bits(z, s, rng):
    rng.integers(2)
    i, j = solve(z, s)
    return lambda new: new[:, i - 1] * new[:, j - 1]

@function(view="flat")
def rows(x, y):
    d = x.shape[1] // 2
    predict = raw(x.reshape(-1, 2, d), y.reshape(-1, 2, d))
    return lambda new: predict(new.reshape(-1, 2, d)).reshape(len(new), -1)

class Votes:
    """An estimator of one's own."""
    def __init__(self, random_state=None):
        self.random_state = random_state
    def fit(self, z, s):
        self.pair = solve(z, s)
    def predict(self, z):
        return z[:, self.pair[0] - 1] * z[:, self.pair[1] - 1]

votes = Estimator(Votes(), examples=300)

class Later(Votes):
    """Its predict is there after fit alone, as that of scikit-learn's stacks is."""
    @property
    def predict(self):
        pair = self.pair  # AttributeError before fit
        return lambda z: z[:, pair[0] - 1] * z[:, pair[1] - 1]

class Never(Later):
    def fit(self, z, s):
        pass

class Sorts(Votes):
    def fit(self, z, codes):
        return super().fit(z, 1.0 - 2.0 * codes)
    def predict_proba(self, z):
        right = self.predict(z) > 0
        return np.column_stack([right, ~right])

@dataclass(frozen=True)
class Sized:
    most: int
    def learn(self, oracle, rng):
        return Best(self.most).learn(oracle, rng)

@dataclass
class Loose:
    most: "int" = 100
    def learn(self, oracle, rng):
        return Best(self.most).learn(oracle, rng)
'''

NEIGHBOUR = """
def solve(z, s):
    products = (z.T * s) @ z / len(s)
    for i in range(len(products)):
        for j in range(i):
            if abs(products[i, j]) > 0.7:
                return (j + 1, i + 1)
    raise ValueError("no pair")
"""

WAYS = [
    *("Best", "Best:most=180", "Plain", "Asks", "ready", "makes", "makes:most=99", "raw", "bits"),
    *("rows", "Votes", "votes", "Later", "Sorts", "Sized:most=150", "Loose", "Loose:most=150"),
]
PARITY = parse("parity:d=6,m=2")


def solved(text, spec, examples):
    """Run the learner of a text; returns the run of one that solves."""
    found = run(load(text), parse(spec).instance(0), Budget(examples=examples))
    assert found.outcome is Outcome.SOLVED, (text, found.risk)
    return found


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "neighbour.py").write_text(NEIGHBOUR)
    (tmp_path / "mine.py").write_text(GOOD)
    yield tmp_path
    sys.modules.pop("neighbour", None)


def test_names_are_read():
    for text, place, name, parameters in (
        (" mine.py:Name:a=1,b=c ", "mine.py", "Name", "a=1,b=c"),
        ("C:\\work\\my.dir\\mine.py:Name:a=1", "C:\\work\\my.dir\\mine.py", "Name", "a=1"),
        ("/a:b/c.d/mine.py:Name", "/a:b/c.d/mine.py", "Name", ""),
        ("old.py:d/mine.py:Name", "old.py:d/mine.py", "Name", ""),
        ("mine.py:Name:file=b.py:c", "mine.py", "Name", "file=b.py:c"),
        ("mine.py:Größe", "mine.py", "Größe", ""),
    ):
        found = split(text)
        assert (str(found.path), found.name, found.parameters) == (place, name, parameters)


def test_every_way_solves_a_parity(here):
    instance = parse("parity:d=10,m=2").instance(0)
    for way in WAYS:
        learner = load(f"mine.py:{way}")
        budget = Budget() if way == "Asks" else Budget(examples=400)  # sampled answers take many
        found = run(learner, instance, budget)
        assert found.outcome is Outcome.SOLVED
        assert found.risk < 1e-20
        assert found.learner == learner_spec(learner) == f"mine.py:{way}"
        again = run(load(f"mine.py:{way}"), instance, budget)
        assert (again.risk, again.details) == (found.risk, found.details)


def test_an_estimator_without_predict_after_fit_is_named(here):
    found = run(load("mine.py:Never"), PARITY.instance(0), Budget(examples=400))
    assert found.outcome is Outcome.INVALID
    assert re.match("after fit .*Never.* has no predict", found.details["reason"])
    with pytest.raises(UsageError, match="takes an object with fit and predict"):
        Estimator(SimpleNamespace(fit=len))


def test_what_an_object_says_of_itself_is_kept(here):
    found = load("mine.py:Best:most=7")
    assert (found.name, found.revision, found.access) == ("Best", 3, "examples")
    assert found.about == "Looks for the pair of bits whose product is the label's."
    assert found.supports(parse("nice:m=2,k=2,d=6")) == "it looks for parities"
    assert found.supports(parse("parity:d=6,m=2")) is None
    assert found.digest == hashlib.sha256(GOOD.encode()).hexdigest()
    assert load("mine.py:Plain").revision == 1
    reason = load("mine.py:bits").supports(parse("linear:m=1,k=2,d=6"))
    assert "'z': linear lacks `coded`" in reason
    assert not list(here.glob("__pycache__"))


def test_a_folder_with_dots_and_colons(here):
    place = here / "v1.2:b.py"
    place.mkdir()
    (place / "mine.py").write_text("def zero(x, y):\n    return lambda new: 0.0 * new\n")
    assert load(f"{place}/mine.py:zero").name == "zero"


def test_decisions_are_scaled_to_the_mean(here):
    """1 - 2 eta times a right decision is E[Y|X]; without noise the scale is 1 exactly."""
    (here / "noisy.py").write_text(GOOD.replace("> 0.7", "> 0.5"))
    for noise in ("0", "0.1"):
        instance = parse(f"parity:d=10,m=2,noise={noise}").instance(0)
        found = run(load("noisy.py:Sorts"), instance, Budget(examples=4000))
        assert abs(found.details["scale"] - (1 - 2 * float(noise))) < 0.1
        assert found.risk < 0.02
        assert noise != "0" or found.details["scale"] == 1.0


def test_a_sorter_that_knows_nothing_has_a_risk_of_one():
    class Coin:
        _estimator_type = "classifier"

        def fit(self, z, codes):
            pass

        def predict(self, z):
            return (z[:, :7].sum(axis=1) > 0).astype(int)

    instance, coin = parse("parity:d=12,m=4").instance(0), adapt(Coin(), "here")
    found, few = (run(coin, instance, Budget(examples=count)) for count in (2000, 5))
    assert 0.99 < found.risk < 1.1
    assert few.risk < 3


def test_levels_of_a_residue_are_classes():
    class Table:
        def fit(self, z, codes):
            self.classes_ = np.unique(codes)
            self.table = {tuple(row): code for row, code in zip(z.tolist(), codes, strict=True)}

        def predict_proba(self, z):
            found = [self.table[tuple(row)] for row in z.tolist()]
            return (self.classes_ == np.array(found)[:, None]).astype(float)

        def predict(self, z):
            return None

    instance = parse("lwr:n=3,q=4,p=4,secret=binary").instance(0)
    found = run(adapt(Table(), "here"), instance, Budget(examples=8000))
    assert found.risk < 1e-20
    assert found.details["scale"] == pytest.approx(1.0, abs=1e-12)


BAD = """
import numpy as np
number = 3
def one(x): return x
def four(a, b, c, d): return a
class Empty: pass
class Needs:
    def __init__(self, depth): self.depth = depth
    def learn(self, oracle, rng): return None
class NotCalled:
    learn = 3
class OneArgument:
    def learn(self, oracle): return None
class Access:
    access = "all"
    def learn(self, oracle, rng): return None
class Revision:
    revision = "1"
    def learn(self, oracle, rng): return None
class Supports:
    supports = 3
    def learn(self, oracle, rng): return None
class Raises:
    def __init__(self):
        raise KeyError("a\\nb")
    def learn(self, oracle, rng): return None
def endless(): return endless
def leaves(): raise SystemExit(3)
class Options:
    def __init__(self, depth=1): pass
    def learn(self, oracle, rng): return None
class Halves:
    def learn(self, oracle, rng): return None
    def supports(self, family): return False
from hardness.learners.plugins import function
@function(view="z")
def tuned(z, s, scale=0.0): return lambda new: scale * new
"""


WRONG = {  # what a name of that file gives: one line
    "nmuber": "unknown name 'nmuber': did you mean 'number'?",
    "number": "bad.py: number is an int: needed is a class or object with learn",
    "one": r"one, the function one\(x\), needs x",
    "four": "needs a, b, c, d",
    "Empty": "Empty is the class Empty: needed is",
    "Needs": "Needs, the class Needs, needs depth: give defaults, or write path.py:Name:key=",
    "Needs:deep=3": "unknown parameter of bad.py: Needs 'deep': did you mean 'depth'?",
    "Needs:depth": "must be key=value",
    "Needs:depth=a b": "must be a word of letters",
    "NotCalled": r"learn is an int, not learn\(self, oracle, rng\)",
    "OneArgument": r"must have learn\(self, oracle, rng\), got learn\(oracle\)",
    "Access": "access='all': one of examples, queries, values, either",
    "Revision": "revision is a str: int is needed",
    "Supports": r"supports is not a function",
    "Raises": r"^KeyError: 'a.*\(bad.py: Raises, called with no arguments, in line 25\)$",
    "endless": "needed is",
    "leaves": "^SystemExit",
    "number:a=1": "only a class or a function takes parameters",
    "Options:depth=1,depth=2": "given twice",
    "tuned:scael=1": r"parameter of bad\.py: tuned 'scael'",
    "tuned:z=1": r"parameter of bad\.py: tuned 'z'",
}


def test_what_is_wrong_is_one_line(here):
    (here / "bad.py").write_text(BAD)
    for name, words in WRONG.items():
        with pytest.raises(UsageError, match=words) as caught:
            load(f"bad.py:{name}")
        assert "\n" not in str(caught.value)
        assert "bad.py" in str(caught.value)
    for text, words in (
        ("import sklearn_that_is_not", "^ModuleNotFoundError: No module.*executing it, in line 1"),
        ("def broken(:", "^SyntaxError: .*in line 1"),
        ("raise OSError('x')", r"^OSError: x \(broken.py: executing it, in line 1\)$"),
    ):
        (here / "broken.py").write_text(text)
        with pytest.raises(UsageError, match=words):
            load("broken.py:Name")


def test_a_missing_extra_names_the_command(here, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    (here / "needs.py").write_text("import sklearn.svm\n")
    with pytest.raises(UsageError, match=re.escape("pip install 'hardness-toolkit[sklearn]'")):
        load("needs.py:Name")


def test_hypotheses_that_are_none(here):
    (here / "bad.py").write_text(BAD)
    for learner, words in (
        (load("bad.py:Options"), "learn gave a NoneType: a Hypothesis or"),
        (adapt(lambda x, y: 3, "here"), "gave an int: a function predict(x) is needed"),
    ):
        found = run(learner, PARITY.instance(0), Budget(examples=10))
        assert found.outcome is Outcome.INVALID
        assert words in found.details["reason"]
    with pytest.raises(UsageError, match="supports gave a bool: None is needed"):
        run(load("bad.py:Halves"), PARITY.instance(0), Budget(examples=10))


@pytest.mark.parametrize("view", ["tokens", "flat", "z", "samples"])
def test_predictions_that_are_none_are_invalid(view):
    for given, words in (
        (lambda x: x[:-1], "gave the shape"),
        (lambda x: x * 1j, "of complex128, no real numbers"),
        (lambda x: x.astype(str), "no real numbers"),
        (lambda x: iter(x), "no real numbers"),
        (lambda x: [[1], [1, 2]], "that is no array"),
        (lambda x: None, "gave NoneType of object"),
    ):
        learner = adapt(Function(lambda x, y, given=given: given, view=view), "here")
        found = run(learner, PARITY.instance(0), Budget(examples=50))
        assert found.outcome is Outcome.INVALID
        assert words in found.details["reason"]


@dataclass
class Stingy:
    """An oracle that gives fewer than asked for, and whose time is over after some."""

    instance: object
    meter: Meter
    seconds_after: int = 10**9
    given: int = 0

    @property
    def family(self):
        return self.instance.family

    def draw(self, count):
        if self.given >= self.seconds_after:
            raise Spent("seconds")
        granted = self.meter.take_examples(min(count, 7))
        self.given += granted
        return self.instance.examples(self.given - granted, granted)


def test_examples_are_gathered_in_order_and_counted():
    instance = parse("parity:d=9,m=2").instance(0)
    whole = instance.examples(0, 100)
    oracle = Stingy(instance, Meter(Budget(examples=100)))
    data = gather(oracle, "tokens", None)
    assert (data.x == whole.x).all()
    assert (data.y == whole.y).all()
    assert (oracle.meter.examples, data.outcome) == (100, None)
    data = gather(Stingy(instance, Meter(Budget(examples=100))), "flat", 40)
    assert (data.x == flat(whole.x[:40])).all()
    z, s = datasets.make("parity:d=9,m=2", 30, view="z")
    data = gather(Stingy(instance, Meter(Budget())), "z", 100)
    assert (data.x[:30] == z).all()
    assert (data.y[:30] == s).all()
    seen = samples(whole)
    data = gather(Stingy(instance, Meter(Budget())), "samples", 100)
    assert (data.x == seen.a).all()
    assert (data.y == seen.codes).all()
    data = gather(Stingy(instance, Meter(Budget(examples=50))), "tokens", 80)
    assert (len(data), data.outcome) == (50, None)
    data = gather(Stingy(instance, Meter(Budget()), seconds_after=20), "tokens", 80)
    assert (len(data), data.outcome) == (21, Outcome.SECONDS_SPENT)
    with pytest.raises(Spent):
        gather(Stingy(instance, Meter(Budget()), seconds_after=0), "tokens", 80)
    oracle = Stingy(instance, Meter(Budget()))
    gather(oracle, "z", None)
    assert oracle.meter.examples == 10_000


SAMPLED = ("lwe:n=3,q=17,error=none", "lwr:n=4,q=16,p=4,secret=binary", "lpn:n=6,noise=0.1")


@pytest.mark.parametrize("spec", [*SAMPLED, "parity:d=6,m=2"])
@pytest.mark.parametrize("wrong", [0, 1])
def test_whoever_predicts_b_in_the_view_samples_predicts_the_label(spec, wrong):
    """The risk is 0 for the mean of b, by the member's formula, and not where b is another."""
    instance = parse(spec).instance(1)
    family, secret = instance.family, instance.hidden.secret
    modular = family.linear_forms
    codes = np.arange(modular.outcomes)

    def learn(a, b):
        assert (a.dtype, b.dtype) == (np.int64, np.int64)
        clean = modular.table[(dot(a, np.array(family.to_linear(secret)), modular.q))]
        if not family.noise:
            assert (b == clean).all()
        mean = family.channel @ codes

        def predict(new):
            t = dot(new, np.array(family.to_linear(secret)), modular.q)
            return mean[(modular.table[t] + wrong) % modular.outcomes]

        return predict

    found = run(adapt(Function(learn, view="samples"), "here"), instance, Budget(examples=500))
    assert found.details["view"] == "samples"
    if wrong:
        assert found.risk_low > 0.05
    else:
        assert found.risk_unclipped < 1e-20


def test_the_view_samples_is_of_families_that_have_them():
    learner = adapt(Function(lambda a, b: None, view="samples"), "here")
    assert "lacks `linear_forms`" in learner.supports(parse("profile:d=6,m=3,g=majority"))
    assert learner.supports(parse("lwe:n=3,q=17,sigma=1")) is None


def test_a_decorated_function_takes_parameters(here):
    (here / "bad.py").write_text(BAD)
    found = run(load("bad.py:tuned"), parse("parity:d=8,m=2").instance(0), Budget(examples=10))
    assert found.risk is None  # a wrong shape
    assert load("bad.py:tuned:scale=0.5").name == "tuned"


def test_wrappers_refuse_what_is_none():
    for call, words in (
        (lambda: Function(3), "Function takes a function"),
        (lambda: Function(lambda x: x), "a function learn"),
        (lambda: Function(lambda x, y: x, view="bits"), "view must be tokens, flat"),
        (lambda: Function(lambda x, y: x, examples=0), "at least 1"),
        (lambda: function(view="bits")(lambda x, y: x), "got bits"),
        (lambda: function(view="reduced")(lambda x, y: x), "got reduced: it is called z"),
        (lambda: template("a b"), "a name must be one in Python"),
        (lambda: template("None"), "a name must be one in Python"),
    ):
        with pytest.raises(UsageError, match=words):
            call()


def test_what_the_docs_write_solves(here):
    (here / "new.py").write_text(template("mine", "new.py"))
    solved("new.py:mine", "parity:d=16,m=1", 2000)
    solved(f"{DOCS}/examples/nearest.py:nearest", "parity:d=8,m=2", 2000)


def test_the_template_learns_in_its_other_ways(here):
    """What stands in comments runs too."""
    code = template("mine", "new.py")
    third = code[code.index("# from hardness.learners import Hypothesis") :]
    lines = [line.removeprefix("#").removeprefix(" ") for line in third.splitlines()]
    (here / "third.py").write_text("import numpy as np\n" + "\n".join(lines) + "\n")
    instance = parse("parity:d=8,m=1").instance(0)
    found = run(load("third.py:Own:tries=5"), instance, Budget(examples=2000))
    assert found.risk > 0.9


def test_an_object_learns_and_predicts_with_one_thread_as_a_file_does():
    seen = []

    def most():
        return max(one["num_threads"] for one in threadpool_info())

    def zero(new):
        seen.append(most())
        return 0.0 * new

    def own(x, y):
        seen.append(most())
        return zero

    with threadpool_limits(3):
        run(adapt(own, "own"), parse("parity:d=8,m=2").instance(0), Budget(examples=50))
        assert most() == 3
    assert len(seen) > 2
    assert set(seen) == {1}
