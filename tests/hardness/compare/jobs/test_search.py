import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

from hardness.compare.jobs import cut_search, read_job, run_job, settled
from hardness.compare.store.rows import PartRow
from hardness.oracles import Budget, ExampleOracle, Meter
from hardness.upper import bruteforce, parse_learner
from hardness.upper.bruteforce import End, Search
from instances import ToolkitError, parse
from instances.samples import Samples

SPECS = [
    "parity:d=14,m=3",
    "parity:d=14,m=3,noise=0.2",
    "lpn:n=10,noise=0.1",
    "lpn:n=12,noise=0.2,h=3",
    "lwr:n=5,q=16,p=4,secret=ternary",
    "lwe:n=8,q=17,sigma=1,secret=binary",
]


@pytest.fixture(autouse=True)
def tiny_steps(monkeypatch):
    monkeypatch.setattr(bruteforce, "_STEP", 12)


def job_of(spec, seed=0, learner="bruteforce", **budget):
    return run_job(spec, parse_learner(learner), seed, Budget(**budget))


def timeless(run):
    usage = {k: v for k, v in run["usage"].items() if k not in ("seconds", "peak_bytes")}
    return {**run, "usage": usage}


def done(cut, rng):
    """Do parts in a random order until they are enough: what a store then gives, in order."""
    results = {}
    for i in rng.permutation(cut.parts).tolist():
        if cut.settled(results):
            break
        job = cut.part(i)
        again = read_job(json.loads(json.dumps({"kind": job.kind, **job.to_json()})))
        assert (again, again.key) == (job, job.key)
        results[i] = json.loads(json.dumps(again.do(), allow_nan=False))
    assert cut.settled(results)
    return [
        PartRow(whole=cut.key, index=i, content=cut.content(results[i])) for i in sorted(results)
    ]


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("steps", [2, 9])
def test_a_search_in_ranges_is_the_search_in_one_piece(spec, steps):
    rng = np.random.default_rng(steps)
    early = 0
    for seed in range(3):
        job = job_of(spec, seed)
        cut = cut_search(job, whole=1, steps=steps)
        assert cut.parts > 2
        parts = done(cut, rng)
        whole = cut.assemble(iter(parts))
        assert timeless(whole) == timeless(json.loads(json.dumps(job.do())))
        assert whole["secret_recovered"]
        early += whole["details"]["tried"] < whole["details"]["candidates"]
    assert early


@pytest.mark.parametrize(
    ("spec", "learner", "examples"),
    [
        ("lpn:n=10,noise=0.3", "bruteforce", 40),
        ("lpn:n=10,noise=0.3", "bruteforce:samples=12", None),
        ("parity:d=14,m=3,noise=0.2", "bruteforce", 20),
        ("lwr:n=5,q=16,p=4,secret=ternary", "bruteforce", 8),
    ],
)
def test_searches_on_too_few_samples(spec, learner, examples):
    rng = np.random.default_rng(0)
    outcomes = set()
    for seed in range(3):
        job = job_of(spec, seed, learner, examples=examples)
        cut = cut_search(job, whole=1, steps=2)
        found = cut.assemble(iter(done(cut, rng)))
        assert timeless(found) == timeless(job.do())
        outcomes.add(found["outcome"])
    assert "examples spent" in outcomes


@pytest.mark.parametrize("spec", ["lpn:n=10,noise=0.1", "lwr:n=5,q=16,p=4,secret=ternary"])
def test_labels_of_no_secret(spec, monkeypatch):
    """Coins in place of labels: nothing is believed, all parts count."""
    job = job_of(spec)
    real = bruteforce.gather

    def coins(oracle, count):
        found = real(oracle, count)
        codes = np.random.default_rng(7).integers(0, len(found.family.levels), len(found))
        return Samples(family=found.family, a=found.a, codes=codes)

    monkeypatch.setattr(bruteforce, "gather", coins)
    cut = cut_search(job, whole=1, steps=3)
    parts = done(cut, np.random.default_rng(0))
    assert len(parts) == cut.parts
    found = cut.assemble(iter(parts))
    assert timeless(found) == timeless(job.do())
    assert found["outcome"] == "answers fit no member"
    assert found["details"]["tried"] >= found["details"]["candidates"]


def test_ends_of_heads_add_up_as_they_would_in_turn():
    """Also where no evidence is enough and the best of many counts, the first of equals."""
    family = parse("lpn:n=9,noise=0.4")
    oracle = ExampleOracle(family.instance(0), Meter(Budget(examples=60)))
    search = Search.prepare(oracle, 24)
    whole = search.run(0, search.heads)
    for size in (1, 2, 7, 1000):
        ranges = list(search.parts(size))
        assert [a for a, _ in ranges] == [0, *(b for _, b in ranges[:-1])]
        assert ranges[-1][1] == search.heads
        end = End()
        for start, stop in ranges:
            part = search.run(start, stop)
            end = search.add(end, part.tried, part.best and part.best[1])
        assert end == whole
    # Equal evidence: the first stays.
    best = whole.best
    assert search.add(whole, 0, best[1]).best is best


def test_parts_are_whole_steps():
    for spec, values in (("lpn:n=10,noise=0.1", 1), ("lwr:n=5,q=16,p=4,secret=ternary", 2)):
        family = parse(spec)
        for slow, size in itertools.product((1, 3), (1, 4, 5)):
            steps = [(i, i + n) for i, _, _, n in bruteforce.steps(family, values, 0, slow)]
            wanted = [
                (steps[k][0], steps[min(k + size, len(steps)) - 1][1])
                for k in range(0, len(steps), size)
            ]
            assert list(bruteforce.parts(family, values, slow, size)) == wanted
            # A step that starts where a part does is the same step.
            for start, stop in wanted:
                again = bruteforce.steps(family, values, start, slow)
                inside = [s for s in again if s[0] < stop]
                assert {(s[0], s[0] + s[3]) for s in inside} <= set(steps)


def test_only_what_can_be_cut_is_cut():
    spec = "lpn:n=10,noise=0.1"
    assert cut_search(job_of(spec)) is None  # small
    assert cut_search(job_of(spec), whole=1023) is None
    assert cut_search(job_of(spec), whole=1022, steps=1)
    for job in (
        job_of(spec, seconds=5),
        job_of(spec, cpu_seconds=5),
        job_of(spec, memory_bytes=10**9),
        job_of(spec, learner="bruteforce:start=1"),
        job_of(spec, learner="trivial"),
        job_of(spec, learner="mitm"),
        job_of("nice:m=2,k=2,d=16"),
        job_of("lpn:n=60,noise=0.1"),
        replace(job_of(spec), revisions=(1, 99)),
    ):
        assert cut_search(job, whole=1, steps=1) is None
    assert cut_search(job_of(spec, queries=5, examples=500), whole=1, steps=1)
    keys = {cut_search(job_of(spec), whole=1, steps=s).key for s in (1, 2)}
    assert len(keys | {job_of(spec).key}) == 3


def test_missing_parts_are_refused():
    cut = cut_search(job_of("lpn:n=10,noise=0.1", seed=1), whole=1, steps=1)
    parts = done(cut, np.random.default_rng(0))
    last = next(i for i, p in enumerate(parts) if cut.ends(p.content))
    cut.assemble(iter(parts[: last + 1]))
    with pytest.raises(ToolkitError, match=f"part {last} of"):
        cut.assemble(iter(parts[:last]))
    assert not settled(3, {0: False, 2: True})
    assert not cut.settled({})
