"""Files of results: read as they were saved; what was changed in one is refused in one line."""

import json

import pytest

from hardness.oracles import Budget
from hardness.runs import AttackResult, attack, compare, run
from hardness.runs.attack import Attacks
from hardness.runs.stress import stress
from hardness.upper import parse_learner
from instances import AlreadyExists, DamagedFile, parse
from instances.ladders import ladder_of

NOISY, LADDER = (
    "parity:d=16,m=2,noise=0.1",
    ["parity:d=8,m=2", "parity:d=9,m=3", "parity:d=400,m=3"],
)


def attacks():
    spec = parse("parity:d=12,m=3").spec
    tried = [attack(name, parse(spec), seeds=2) for name in ("elimination", "mitm")]
    return Attacks(spec=spec, attacks=tuple(tried), not_run={"bkw": "why"})


MADE = {
    "run": lambda: run(parse_learner("mlp:steps=3"), parse(NOISY).instance(0), Budget()),
    "attacks": attacks,
    "comparison": lambda: compare("parity:m=2", "d=6..10..2", ("queries", "elimination"), seeds=2),
    "stress": lambda: stress(
        ["lowdegree", "trivial", "lowdegree:degree=3"],
        ladder_of(LADDER),
        references=["elimination"],
    ),
}


@pytest.fixture(scope="module")
def made():
    return {name: make() for name, make in MADE.items()}


@pytest.mark.parametrize("name", MADE)
def test_results_are_read_as_they_were_saved(made, name, tmp_path):
    """From a file and from the folder of a command, and as --json prints them."""
    found, file = made[name], tmp_path / "results.json"
    found.save(file)
    assert type(found).load(file) == found
    with pytest.raises(AlreadyExists):
        found.save(file)
    if name == "comparison":
        assert type(found).load(tmp_path) == found
    whole = found.to_dict()
    assert name == "run" or json.loads(file.read_text()).keys() <= whole.keys()
    if name != "attacks":
        assert type(found).read({k: v for k, v in whole.items() if k != "format"}) == found
    with pytest.raises(DamagedFile, match=r"results\.json"):
        AttackResult.load(file)


def solve(run):
    run.update(outcome="solved", risk=0.0, risk_interval=[0.0, 0.0])


def put(place, **values):
    """A change of what lies at a place, "runs.0.usage", to other values."""

    def change(data):
        for step in filter(None, place.split(".")):
            data = data[int(step)] if step.isdecimal() else data[step]
        data.update(values)

    return change


CHANGED = {
    "comparison": [
        *(put("", format="hardness-results/2"), put("", more=1), put("", parameter="k")),
        *(
            put("", seeds=10**10),
            put("", command="\ud800"),
            put("", runs={}),
            put("terms", tau="x"),
        ),
        *(put("", learners=["queries", "student"]), put("", specs=[], certificates=[], runs=[])),
        lambda d: d["certificates"][0]["goal"]["claims"][1].update(value="9"),
        lambda d: d["certificates"].pop(),
        lambda d: d["runs"][0].pop("usage"),
        *(put("runs.0", outcome="great"), put("runs.0", learner="zzz"), put("runs.0", seed=1)),
        *(put("runs.0", risk=7.0), put("runs.0", risk=3.9, risk_interval=[3.8, 4.0])),
        put("runs.0", outcome="values spent"),
        put("runs.0", outcome="seconds spent"),
        lambda d: d["runs"].pop(),
        lambda d: d["runs"].append(d["runs"][0]),
        *(put("runs.0.usage", queries=10**400), put("runs.0.usage", examples=-5)),
        put("runs.0.usage", seconds=float("inf")),
        lambda d: d["specs"].__setitem__(1, d["specs"][0]),
        lambda d: d["specs"].reverse(),
        *(put("runs.0", budget={"examples": 7}), put("runs.0", key="a")),
        lambda d: d.update(canonical=d["learners"]),
        put("", canonical=["a", "b", "c"]),
        lambda d: d["learners"].append(d["learners"][0]),
        lambda d: d["learners"].append("nosuch"),
    ],
    "stress": [
        put("learners.0", asked="elimination"),
        put("learners.1", asked="lowdegree:degree=2"),
        lambda d: d["learners"].pop(),
        lambda d: d["learners"][0].update(asked=d["learners"][1]["asked"]),
        lambda d: d["learners"].append(d["learners"][0]),
        lambda d: d["learners"].clear(),
        lambda d: d["runs"].pop(),
        lambda d: d.update(runs=d["runs"][:-5]),  # it stopped on a rung that it passed
        lambda d: d["runs"].append(d["runs"][0]),
        *(put("runs.0", attempts=1), put("runs.0", seed=3), put("runs.0", outcome="great")),
        put("runs.0", spec="parity:d=9,m=2,noise=0,rho=3"),
        put("runs.0", risk=9.0, risk_interval=[9.0, 9.0]),
        lambda d: [solve(run) for run in d["runs"] if run["learner"] == "trivial"],
        lambda d: d["runs"][0].update(risk_examples=d["runs"][0]["risk_examples"] + 10**6),
        lambda d: d["runs"][0].update(risk_interval=[0.0, d["runs"][0]["risk"] + 1e-6]),
        put("runs.0", risk_unclipped="1"),
        lambda d: d["runs"][-1].update(secret_recovered=False),
        lambda d: d["runs"][-1]["details"].update(claimed_secret=[1, 2, 4]),
        lambda d: d["not_run"].pop(),
        lambda d: d.update(base_seed=d["base_seed"] + 1),
        *(put("", seed_source="the moon"), put("", seeds=4), put("", seeds=10**9)),
        *(put("budget", examples=10), put("ladder", name="parity-v1")),
        put("ladder.rungs.0", seconds=1.0),
        lambda d: d["ladder"]["rungs"].pop(),
        put("ladder", name="p\u0430rity-v1"),  # a Cyrillic letter
        put("", format="hardness-stress/1"),
    ],
}


def refused(kind, file):
    """Whether a file is damaged, and said to be in one line that names it."""
    try:
        kind.load(file)
    except DamagedFile as error:
        return "results.json" in str(error) and "\n" not in str(error)
    return False


@pytest.mark.parametrize("name", CHANGED)
def test_what_was_changed_is_refused(made, name, tmp_path):
    file, text, taken = tmp_path / "results.json", json.dumps(made[name].filed()), []
    for i, change in enumerate(CHANGED[name]):
        data = json.loads(text)
        change(data)
        file.write_text(json.dumps(data))
        if not refused(type(made[name]), file):
            taken.append(i)
    assert not taken


def test_names_of_learners_in_a_file_are_text(made, tmp_path):
    """A learner of a file that is not there, and would be executed if anything were."""
    (tmp_path / "bomb.py").write_text("raise SystemExit('executed')")
    data, name = json.loads(json.dumps(made["stress"].filed())), f"{tmp_path}/bomb.py:Learner"
    data["learners"][1].update(asked=name)
    for one in data["runs"]:
        if one["learner"] == "trivial":
            one["learner"] = name
    (tmp_path / "x.json").write_text(json.dumps(data))
    found = type(made["stress"]).load(tmp_path / "x.json")
    assert found.climbs[1].asked == name
    assert name in repr(found).replace("\n", "")
