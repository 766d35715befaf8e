"""Files of results: read as they were saved, whatever their words; other types are refused."""

import json
import re

import pytest

from hardness.oracles import Budget
from hardness.runs import AttackResult, attack, compare, run
from hardness.runs.attack import Attacks
from hardness.runs.registry import parse_learner
from hardness.runs.stress import stress
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


def put(place, **values):
    """A change of what lies at a place, "runs.0.budget", to other values."""

    def change(data):
        for step in filter(None, place.split(".")):
            data = data[int(step)] if step.isdecimal() else data[step]
        data.update(values)

    return change


CHANGED = {  # what has other fields or types, or another format
    "comparison": [
        *(put("", format="hardness-results/2"), put("", command="\ud800")),
        lambda d: d["runs"][0].pop("examples"),
        *(
            put("runs.0", outcome="great"),
            put("runs.0", risk_low="much"),
            put("runs.0", risk_confidence=-0.5),
            put("runs.0", risk_examples=-1),
        ),
        put("runs.0", seconds=float("inf")),
        lambda d: d.update(canonical=d["learners"]),
        *(put("terms", risk="many"), put("", seeds=0), put("", specs=[])),
    ],
    "stress": [
        put("runs.0", outcome="great"),
        *(put("", seed_source="the moon"), put("", seeds=10**9)),
        put("", format="hardness-stress/1"),
    ],
}


def refused(kind, file):
    """Whether a file is damaged, and said to be in one line that names it."""
    try:
        kind.load(file)
    except DamagedFile as error:
        words = re.search("Error|`(int|float|str|bool|array|object|null)`|Expected `", str(error))
        return "results.json" in str(error) and "\n" not in str(error) and not words
    return False


@pytest.mark.parametrize("name", CHANGED)
def test_what_is_of_another_type_or_format_is_refused(made, name, tmp_path):
    file, text, taken = tmp_path / "results.json", json.dumps(made[name].filed()), []
    for i, change in enumerate(CHANGED[name]):
        data = json.loads(text)
        change(data)
        file.write_text(json.dumps(data))
        if not refused(type(made[name]), file):
            taken.append(i)
    assert not taken


def test_results_in_the_words_of_another_version_are_read_and_reported(made, tmp_path, hardness):
    """Of all that is said in runs, with fields that are not known here; no number is another."""
    data = json.loads(json.dumps(made["comparison"].filed())) | {"more": 1}
    for one in data["runs"]:
        one["advice"], one["versions"] = "older words", {"hardness": "0.1.0"}
    (tmp_path / "results.json").write_text(json.dumps(data))
    found = type(made["comparison"]).load(tmp_path)
    assert found.certificates == made["comparison"].certificates
    assert found.scaling == made["comparison"].scaling
    assert "12 runs" in hardness("report", "results.json", "--out", "page.html").out


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
    assert found.attempts[1].name == name
    assert name in repr(found).replace("\n", "")
