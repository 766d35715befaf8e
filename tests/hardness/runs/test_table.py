"""The table of runs, held against the runs, and its groups against a plain grouping."""

import json

import pandas as pd
import pytest
from msgspec.structs import replace

from hardness.learners import Outcome
from hardness.oracles import Budget
from hardness.runs import run
from hardness.runs.columns import COLUMNS, runs_frame
from hardness.runs.groups import comparable, over_one, over_two, where
from hardness.runs.jobs import text_of
from hardness.runs.registry import parse_learner
from hardness.runs.results import sort_texts
from instances import parse
from instances.errors import UsageError
from instances.result import columns

BASE = run(parse_learner("elimination"), parse("parity:d=8,m=2").instance(0), Budget())
SPECS = ("gone:a=1,b=x", "gone:a=1/3", "gone:a=99999999999999999999,b=2", "gone:c=[1,2]", "f.py:F")


def rows():
    """Runs that differ in all that groups are made of."""
    return [
        replace(
            BASE,
            spec=spec,
            learner=learner,
            seed=2**70 + seed,
            budget=Budget(seconds=seconds, queries=seed or None),
            revisions={"family": 1} if seed else {},
            details={"oracle": "exact", "tau": "1/10"} if learner == "queries" else {},
        )
        for spec in SPECS
        for learner in ("queries", "elimination")
        for seed, seconds in ((0, 60), (1, 2.5), (0, 2.5), (1, 60))
    ]


def test_equal_budgets_are_one_whatever_their_text():
    texts = [
        text_of(replace(BASE, seed=seed, budget=Budget(seconds=seconds)))
        for seed, seconds in ((3, 60), (0, 60.0), (2, 60.0), (1, 60))
    ]
    assert [json.loads(text)["seed"] for text in sort_texts(texts)] == [0, 1, 2, 3]


def test_the_table_says_what_the_runs_say():
    made = rows()
    made[3] = replace(made[3], risk=None, outcome=Outcome.CRASHED)
    found = runs_frame(made)
    assert set(COLUMNS) < set(found.columns)
    assert found["limited_by"][3] == "machine"
    assert found["risk"].isna().tolist() == [i == 3 for i in range(len(made))]
    assert str(found["budget_seconds"].dtype) == "Float64"
    assert found["budget_queries"].dtype == "Int64"
    assert found["a"].dropna().unique().tolist() == [1.0, 1 / 3, 1e20]
    assert found["b"].dropna().unique().tolist() == ["x", 2.0]
    assert found["param_spec"].dropna().unique().tolist() == ["f.py:F"]
    assert runs_frame([]).empty


def test_columns_are_those_of_plain_lists_wherever_their_kinds_change():
    """The table is made a few hundred runs at a time: here the kind of many changes later."""
    made, late = rows() * 10, {"risk": None, "risk_examples": None, "secret_recovered": None}
    made[300] = replace(made[300], **late, memory=2**60, outcome=Outcome.CRASHED)
    made[301] = replace(made[301], seconds=3, details={"process": "sandboxed"})
    small = [replace(one, seed=one.seed % 7) for one in made]
    for some in (made, small, made[:1], [made[300]] * 300):
        found = runs_frame(some)
        for name in set(COLUMNS) - {"learner_name"}:
            values = [getattr(one, name) for one in some]
            values = [one.value if isinstance(one, Outcome) else one for one in values]
            pd.testing.assert_series_equal(found[name], columns({name: values})[name])


def test_learners_of_one_file_have_two_names():
    names = ["a/two.py:First:k=1", "a/two.py:Second", "decode:mlp:steps=3", "mlp"]
    found = runs_frame([replace(BASE, learner=name) for name in names])["learner_name"]
    assert found.tolist() == ["a/two.py:First", "a/two.py:Second", "decode:mlp", "mlp"]


def test_a_condition_is_over_the_columns_of_the_frame():
    asks = {"oracle": "samples", "tau": "1/20"}
    made = [at(8, 2, details=asks), at(8, 2, details=asks | {"tau": "1/10"}), at(9, 2)]
    assert runs_frame(made)["tau"].dropna().tolist() == [0.05, 0.1]
    for query in ("tau < 0.07", "d == 9", "learner_name == 'elimination' and tau.isna()"):
        (place,) = runs_frame(made).query(query, engine="python").index
        assert where(made, query) == [made[place]]
    with pytest.raises(UsageError, match=r"--where 'tolerance == 1': .*\btau\b"):
        where(made, "tolerance == 1")
    conditions = [one.where for one in over_one(made)]
    assert "(tau == 0.05 or tau.isna())" in conditions[0]
    assert [len(where(made, one)) for one in conditions] == [2, 2]


def test_groups_are_those_of_a_plain_grouping():
    made, plain = rows(), {}
    for one in made:
        key = (one.spec.partition(":")[0], one.budget, one.revisions.get("family"))
        plain.setdefault(key, []).append(one)
    groups = [(dict(fixed), part) for fixed, part in comparable(made).items()]
    assert [part for _, part in groups] == list(plain.values())
    assert {fixed["oracle"] for fixed, _ in groups} == {"exact"}
    assert {fixed["family_revision"] for fixed, _ in groups} == {1, None}


def test_of_two_files_of_a_learner_that_of_most_runs_stands_with_others():
    files = [
        replace(BASE, learner="a.py:Net", seed=seed, details={"sha256": name})
        for seed, name in enumerate(("old", "new", "new"))
    ]
    (found,) = over_one([*files, BASE])
    assert [run.details.get("sha256") for run in found.rows][:2] == ["new", "new"]
    assert len(found.rows) == 3


def at(d, m, noise=0, **changed):
    spec = parse(f"parity:d={d},m={m},noise={noise}").spec
    return replace(BASE, spec=spec, seed=d * 100 + m, **changed)


def test_runs_of_two_ranges_that_cross_share_what_lies_on_both():
    """Some over m at d=10, others over d and noise at m=3: both have d=10, m=3, noise=0."""
    first = [at(10, m) for m in (2, 3, 4, 5)]
    second = [at(d, 3, noise) for d in (8, 9, 11) for noise in (0, 0.1)]
    found = {one.where: one.comparison for one in over_one([*first, *second])}
    assert {name: one.values for name, one in found.items()} == {
        "d == 10": (2, 3, 4, 5),
        "m == 3 and noise == 0": (8, 9, 10, 11),
        "m == 3 and noise == 0.1": (8, 9, 11),
    }
    (plane,) = over_two([*first, *second])
    assert (plane.x, plane.y, len(plane.xs), len(plane.ys)) == ("d", "m", 4, 4)
    alone = [at(8, 2), at(8, 3), at(12, 3, 0.25)]
    assert [one.comparison.parameter for one in over_one(alone)] == ["m", "d"]
