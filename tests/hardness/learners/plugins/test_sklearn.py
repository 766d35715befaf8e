"""Estimators of scikit-learn; each test needs the extra."""

import importlib

import numpy as np
import pytest

from hardness.api import sources
from hardness.learners import Outcome
from hardness.learners.plugins import Estimator, adapt, load
from hardness.learners.plugins.estimator import fitted_scale, seeded
from hardness.oracles import Budget
from hardness.runs.run import run
from instances import UsageError, parse

pytestmark = pytest.mark.plugins


@pytest.fixture(autouse=True)
def needs_extra():
    pytest.importorskip("sklearn", reason="the extra `sklearn` is not installed")


def make(path, **given):
    """An estimator by its module and name, so that nothing is imported where it is not there."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(f"sklearn.{module}"), name)(**given)


def learned(learner, spec, examples):
    return run(adapt(learner, "here"), parse(spec).instance(0), Budget(examples=examples))


LOGISTIC, RIDGE = "linear_model.LogisticRegression", "linear_model.Ridge"
TREE, NETWORK = "tree.DecisionTreeClassifier", "neural_network.MLPRegressor"
POLYNOMIAL = {"kernel": "poly", "coef0": 1.0}
SOLVE = [
    (LOGISTIC, {}, "parity:d=16,m=1", 2000),
    (RIDGE, {}, "parity:d=16,m=1", 2000),
    ("svm.SVC", POLYNOMIAL, "parity:d=10,m=2", 2000),
    ("svm.SVR", POLYNOMIAL | {"C": 10.0}, "parity:d=10,m=2", 2000),
    ("ensemble.HistGradientBoostingClassifier", {}, "parity:d=8,m=2", 2000),
    ("ensemble.HistGradientBoostingRegressor", {}, "parity:d=8,m=2", 2000),
    (TREE, {}, "parity:d=8,m=2", 2000),
    (NETWORK, {"max_iter": 100}, "parity:d=8,m=2", 4000),
    (TREE, {}, "lwr:n=3,q=4,p=4,secret=binary", 8000),
    (LOGISTIC, {}, "parity:d=8,m=1,noise=0.1", 4000),
]


# What does not converge in so few steps says so.
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_estimators_solve_what_their_kind_can():
    for path, given, spec, examples in SOLVE:
        found = learned(make(path, **given), spec, examples)
        assert found.outcome is Outcome.SOLVED, (path, spec, found.risk)
        assert found.details["view"] == "z"


def test_the_scale():
    for n in (1, 2, 5, 200):
        rng = np.random.default_rng(n)
        s = rng.choice([-1.0, 1.0], n)
        assert fitted_scale(s, s) == 1.0
        assert fitted_scale(0.3 * s * np.pi, 0.3 * s * np.pi) == 1.0
        assert 0.99 < fitted_scale(1e-9 * s, s) < 1.01 or n == 200
        assert 0 <= fitted_scale(rng.choice([-1.0, 1.0], n), s) <= 1
        assert fitted_scale(np.zeros(n), np.zeros(n)) == 1.0
    assert abs(fitted_scale(2 * s, s) - 0.5) < 0.01


def test_flat_labels_have_many_columns():
    """Constant columns are as they are, others take a copy each where they must."""
    for path in (RIDGE, "ensemble.HistGradientBoostingRegressor"):
        found = learned(make(path), "linear:m=1,k=2,d=2", 2000)
        assert found.details["view"] == "flat"
        assert found.risk < 0.9
    coded = adapt(Estimator(make("tree.DecisionTreeRegressor"), view="flat"), "here")
    found = run(coded, parse("parity:d=3,m=1").instance(0), Budget(examples=2000))
    assert found.risk < 1e-20


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_a_network_learns_a_layer_on_flat_tokens():
    network = make("neural_network.MLPRegressor", max_iter=100, learning_rate_init=0.01)
    found = learned(network, "nice:m=2,k=2,d=4", 4000)
    assert found.risk < 0.5


def test_random_states_are_set_and_the_object_is_left_alone():
    forest = make("ensemble.RandomForestClassifier", n_estimators=5)
    estimator = Estimator(make("pipeline.Pipeline", steps=[("forest", forest)]))
    instance = parse("parity:d=10,m=3").instance(0)
    first, again, other = (
        run(adapt(estimator, "here"), instance, Budget(examples=500), seed).risk
        for seed in (0, 0, 1)
    )
    assert first == again != other
    assert forest.random_state is None
    assert not hasattr(forest, "estimators_")


FILE = """
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor, VotingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

Classifier = make_pipeline(PCA(svd_solver="randomized"), RandomForestClassifier(n_estimators=5))
Regressor = make_pipeline(PCA(svd_solver="randomized"), RandomForestRegressor(n_estimators=5))
Vote = VotingClassifier([(n, DecisionTreeClassifier(max_features=1)) for n in "ab"], voting="soft")
"""


@pytest.mark.parametrize("name", ["Classifier", "Regressor", "Vote"])
def test_pipelines_follow_the_seed_as_objects_and_files(tmp_path, name):
    """Every step that tosses coins has its own from the run's seed; the object stays as it was."""
    (tmp_path / "mine.py").write_text(FILE)
    defined: dict[str, object] = {}
    exec(FILE, defined)
    instance = parse("parity:d=8,m=3").instance(0)
    for learner in (defined[name], f"{tmp_path}/mine.py:{name}"):
        first, again, other = (
            run(sources.learner(learner), instance, Budget(examples=300), seed).risk
            for seed in (0, 0, 1)
        )
        assert first == again != other
    states = [v for n, v in defined[name].get_params().items() if n.endswith("random_state")]
    assert states == [None] * len(states) != []


def test_a_random_state_that_is_given_stays():
    forest = make("ensemble.RandomForestClassifier", random_state=3)
    scaled = make("pipeline.Pipeline", steps=[("a", make("decomposition.PCA")), ("b", forest)])
    seeded(scaled, np.random.default_rng(0))
    states = scaled.get_params()
    assert states["b__random_state"] == 3
    assert isinstance(states["a__random_state"], int)


def test_estimators_whose_predict_appears_after_fit():
    for inner, outer in (("svm.SVC", "StackingClassifier"), ("svm.SVR", "StackingRegressor")):
        stack = make(f"ensemble.{outer}", estimators=[("one", make(inner, **POLYNOMIAL))], cv=2)
        assert not hasattr(stack, "predict")
        assert learned(stack, "parity:d=8,m=2", 2000).outcome is Outcome.SOLVED


def test_a_regressor_of_samples_predicts_b():
    ridge = Estimator(make(RIDGE), view="samples")
    instance = parse("lpn:n=6,h=1,noise=0.1").instance(0)
    assert run(adapt(ridge, "here"), instance, Budget(examples=2000)).outcome is Outcome.SOLVED


def test_views_and_kinds_that_do_not_fit():
    logistic = make(LOGISTIC)
    nice = parse("nice:m=2,k=2,d=6")
    assert "nice lacks `coded`" in adapt(logistic, "here").supports(nice)
    ridge = make(RIDGE)
    assert adapt(ridge, "here").supports(nice) is None
    assert "z" in adapt(Estimator(ridge, view="z"), "here").supports(nice)
    for wrong, words in [
        (lambda: Estimator(logistic, view="flat"), "view of a classifier must be"),
        (lambda: Estimator(logistic, view="samples"), "view of a classifier must be"),
        (lambda: Estimator(ridge, view="tokens"), "fit takes rows"),
        (lambda: Estimator(3), "with fit and predict"),
        (lambda: Estimator(ridge, examples=-1), "at least 1"),
    ]:
        with pytest.raises(UsageError, match=words):
            wrong()


def test_few_examples_are_no_error():
    for examples in range(1, 8):
        for path in (LOGISTIC, RIDGE):
            found = learned(make(path), "parity:d=6,m=2", examples)
            assert found.risk is not None


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.filterwarnings("ignore:Solver terminated early")
def test_the_examples_of_the_docs_climb():
    for name, spec in (
        ("LogisticRegression", "parity:d=16,m=1"),
        ("MLPRegressor", "parity:d=8,m=2"),
        ("HistGradientBoosting", "parity:d=8,m=2"),
        ("SVC", "parity:d=8,m=3"),
    ):
        learner = load(f"docs/examples/sklearn_learners.py:{name}")
        assert learned(learner, spec, 4000).outcome is Outcome.SOLVED, name


def test_factories_classes_and_parameters(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from sklearn.linear_model import Ridge\n"
        "def tuned(alpha=1.0):\n    return Ridge(alpha=alpha)\n"
    )
    for text in ("Ridge", "Ridge:alpha=0.5,fit_intercept=false", "tuned", "tuned:alpha=2"):
        found = learned(load(f"{tmp_path}/mine.py:{text}"), "parity:d=8,m=1", 500)
        assert found.outcome is Outcome.SOLVED
    with pytest.raises(UsageError, match="did you mean 'alpha'"):
        load(f"{tmp_path}/mine.py:Ridge:alhpa=3")
