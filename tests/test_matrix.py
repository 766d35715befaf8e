"""One matrix: every family, every learner, every certificate through the same properties.

A new family adds its specs to SPECS, a new learner shows up by being registered. Members of
`teacher` are given and not drawn: tests/hardness/test_teacher.py is about them.
"""

import itertools
import json
from functools import cache
from importlib.util import find_spec

import numpy as np
import pytest
from msgspec.structs import replace

from hardness.bounds import certify, verify
from hardness.bounds.check import check
from hardness.learners import Outcome
from hardness.oracles import Budget
from hardness.runs import Run, compare, least, risk, run
from hardness.runs.jobs import Runner
from hardness.runs.registry import LEARNERS, parse_learner
from instances import ToolkitError, parse, write_folder
from instances.errors import UsageError
from instances.spec import FAMILIES
from tests.sweeping import timeless as details_without_time

SPECS = [
    "parity:d=10,m=3",
    "parity:d=9,m=2,noise=0.1",
    "parity:d=70,m=1",
    "profile:g=majority,d=10,m=3",
    "profile:g=[1.1,-0.9,0.9],d=9,m=2,noise=0.1",
    "hidden:d=6,hard=3,nice=1,noise=0.1",
    "nice:m=2,k=2,d=6",
    "nice:m=1,k=3,d=5,tokens=gaussian,noise=0.1",
    "linear:m=2,k=3,d=4",
    "linear:m=5,k=2,d=3,tokens=boolean,noise=0.1",
    "direction:m=3,d=6,noise=0.1",
    "direction:m=2,d=4",
    "lwr:n=3,q=8,p=2,secret=binary",
    "lwr:n=3,q=8,p=4,secret=ternary,h=2",
    "lwe:n=2,q=4,sigma=1",
    "lpn:n=10,h=3,noise=0.1",
    "docs/examples/signed_majority.py:SignedMajority:d=7,m=3",
    "docs/examples/exact_count.py:ExactCount:d=8,m=3,t=1",
]
THERE = {*(parse(spec).name for spec in SPECS), "teacher"}
SPECS += [FAMILIES[name].example for name in FAMILIES if name not in THERE]
CERTIFIED = [s for s in SPECS if parse(s).hardness.evidence == "exact"]
QUICK = {
    "student": "student:steps=30,batch=64",
    "lowdegree": "lowdegree:degree=1",
    "mlp": "mlp:steps=30,width=20,batch=64",
    "levenberg": "levenberg:restarts=1,examples=400,steps=2",
    "staged": "staged:examples=2000,polish=5",
    "lifted": "lifted:oversample=1.2",
    "transformer": "transformer:steps=5,width=8,layers=1,batch=64",
    "attention": "attention:steps=30,batch=64",
}
OF_TORCH = ("transformer", "attention") if find_spec("torch") is None else ()
LEARNER_SPECS = [QUICK.get(name, name) for name in LEARNERS if name not in OF_TORCH]


@cache
def once(learner, spec, again=0, seed=0, **budget):
    """Run once; another run of the same where `again` is another number."""
    return briefly_judged(learner, parse(spec).instance(seed), Budget(**budget), seed)


def briefly_judged(learner, source, budget, seed=0):
    """Run, and judge by a quarter of the usual examples: what is held here hangs on none more."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(risk, "_EVALUATE", 4096)
        patch.setattr(risk, "CALLS", 8)
        return run(parse_learner(learner), source, budget, seed)


def timeless(found):
    return replace(found, seconds=0.0, memory=0, details=details_without_time(found.details))


def supported(learner):
    """A spec that a learner can run on, a parity where it can."""
    one = parse_learner(learner)
    return next(s for s in ("parity:d=10,m=3", *SPECS) if one.supports(parse(s)) is None)


@pytest.mark.parametrize("spec", CERTIFIED)
def test_certificates_check_and_sampling_agrees(spec):
    family = parse(spec)
    check(json.loads(json.dumps(certify(family).to_dict())))
    found = verify(family, members=20, samples=20_000)
    found.require()
    assert found.layer.members > 0


@pytest.mark.parametrize("spec", sorted(set(SPECS) - set(CERTIFIED)))
def test_what_claims_no_bound_gets_no_certificate(spec):
    with pytest.raises(UsageError, match=r"no certificate for .*: no bound"):
        certify(parse(spec))


@pytest.mark.parametrize("spec", SPECS)
def test_streams_do_not_depend_on_the_cut(spec):
    instance = parse(spec).instance(5)
    whole = instance.examples(0, 100)
    for start, count in ((0, 1), (3, 50), (99, 1)):
        part = instance.examples(start, count)
        assert (part.x == whole.x[start : start + count]).all()
        assert (part.y == whole.y[start : start + count]).all()
        for name, value in part.tensors.items():
            assert (value == whole.tensors[name][start : start + count]).all()


@pytest.mark.parametrize("spec", SPECS)
def test_tokens_of_the_law_may_be_asked_and_get_their_labels(spec):
    """And what no example varies is fixed for those who ask: nothing else is."""
    family = parse(spec)
    instance = family.instance(5)
    x = instance.examples(0, 100).x
    asked = family.questions(x)
    truth = family.label(instance.hidden.secret, x)
    answers = instance.values(0, asked)
    if not family.noise and "sigma" not in spec:
        assert answers == pytest.approx(truth, abs=1e-10 * (1 + abs(truth).max()))
    for cut in (1, 37):
        parts = [instance.values(0, asked[:cut]), instance.values(cut, asked[cut:])]
        assert (np.concatenate(parts) == answers).all()
    still = {(int(t), int(c)) for t, c in np.argwhere((x == x[0]).all(axis=0))}
    assert still == {(token, coordinate) for token, coordinate, _ in getattr(family, "fixed", ())}


@pytest.mark.parametrize("tensors", ["npz", "safetensors"])
@pytest.mark.parametrize("spec", SPECS)
def test_a_folder_holds_the_stream(spec, tensors, tmp_path):
    instance = parse(spec).instance(3)
    folder = write_folder(tmp_path / "x", instance, 50, tensors)
    assert folder.examples(7, 100).agrees(instance.examples(7, 43))
    assert (folder.examples(0, 50).y == instance.examples(0, 50).y).all()
    assert not folder.examples(0, 10).agrees(instance.examples(1, 10))


@pytest.mark.parametrize("learner", LEARNER_SPECS)
def test_a_run_is_reproducible_honest_and_reads_back(learner):
    """On a third of the specs: each spec meets a third of the learners, another one than before."""
    for spec in thirds(learner)[0]:
        refused_or_honest(learner, spec)
    reproducible(learner, supported(learner))  # streams of families are held to be the same above


@pytest.mark.weekly
@pytest.mark.parametrize("learner", LEARNER_SPECS)
def test_a_run_on_every_other_spec_is_honest_and_reads_back(learner):
    for spec in itertools.chain(*thirds(learner)[1:]):
        refused_or_honest(learner, spec)


def thirds(learner):
    """All specs in three parts, which begin elsewhere for each learner in turn."""
    first = LEARNER_SPECS.index(learner) if learner in LEARNER_SPECS else 0
    return [SPECS[(first + i) % 3 :: 3] for i in range(3)]


def refused_or_honest(learner, spec):
    if parse_learner(learner).supports(parse(spec)):
        with pytest.raises(ToolkitError, match="cannot run on"):
            once(learner, spec)
    else:
        honest(once(learner, spec), spec)


def reproducible(learner, spec):
    assert timeless(once(learner, spec, again=1)) == timeless(once(learner, spec))


def honest(found, spec):
    assert Run.read(json.loads(json.dumps(found.to_dict()))) == found
    assert found.risk_low <= found.risk <= found.risk_high, spec
    if found.secret_recovered:
        assert found.outcome is Outcome.SOLVED or "noise" in spec, spec
    if found.outcome is Outcome.SOLVED:
        assert found.risk_high < 0.1, spec
    if found.outcome is Outcome.LEARNED_NOTHING:
        assert found.risk_high >= 1.0, spec
    assert found.outcome.advice


@pytest.mark.parametrize("learner", LEARNER_SPECS)
def test_a_tiny_budget_is_kept_and_reported(learner):
    found = once(learner, supported(learner), examples=3, values=3)
    assert found.outcome is Outcome.EXAMPLES_SPENT or not found.examples
    assert found.examples <= 3
    assert found.membership_queries <= 3
    if parse_learner(learner).access == "values":
        assert found.outcome is Outcome.VALUES_SPENT


@pytest.mark.parametrize("learner", LEARNER_SPECS)
def test_a_stored_stream_gives_the_same_run(learner, tmp_path):
    spec = supported(learner)
    folder = write_folder(tmp_path / "x", parse(spec).instance(0), 100_000)
    stored = briefly_judged(learner, folder, Budget())
    assert timeless(stored) == timeless(once(learner, spec))


SEVERAL = [pytest.param(spec, LEARNER_SPECS, marks=pytest.mark.weekly) for spec in CERTIFIED]


@pytest.mark.parametrize(("spec", "learners"), [("parity:d=8,m=2", ["elimination"]), *SEVERAL])
def test_no_interval_of_a_median_lies_wholly_below_the_certified_floor(spec, learners, monkeypatch):
    """The search begins at one example, so a learner that needs fewer than the floor is seen."""
    monkeypatch.setattr(risk, "_EVALUATE", 4096)
    monkeypatch.setattr(risk, "CALLS", 8)
    for name in learners:
        try:
            found = least(spec, None, (name,), 6, budget=Budget(examples=512, seconds=0.5))
        except UsageError as error:
            if "cannot run on" in str(error) or "ask for its least" in str(error):
                continue
            if "certified floor" not in str(error):
                raise
            return
        [cell] = found.cells
        high = cell.interval[1]
        assert high is None or cell.floor is None or high >= cell.floor, (spec, name)
        if spec == "parity:d=8,m=2":
            assert (cell.floor, cell.ends) == (4, {"confirmed": 6})


@pytest.mark.slow
def test_results_do_not_depend_on_workers_or_order():
    learners = ("elimination", "lowdegree", "student:steps=50")
    one = compare("parity:m=2", "d=6,8", learners, seeds=2)
    with Runner(n_jobs=2) as runner:
        backwards = compare("parity:m=2", "d=6,8", learners[::-1], seeds=2, executor=runner.run)
    names = [parse_learner(name).name for name in learners]
    found = [(r.spec, names.index(r.learner.partition(":")[0]), r.seed) for r in backwards.runs]
    assert found == sorted(found, key=lambda key: (one.specs.index(key[0]), -key[1], key[2]))
    by_run = {(r.spec, r.learner, r.seed): timeless(r) for r in backwards.runs}
    assert by_run == {(r.spec, r.learner, r.seed): timeless(r) for r in one.runs}
