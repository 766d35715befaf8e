"""`hardness spectrum` is a contract: field names, exit codes, one line where it cannot."""

import json

import pytest

from instances import parse, write_folder

FIELDS = {"spec", "seed", "n", "target", "known", "hypothesis", "learned", "run"}
SPECTRUM = {"weight", "weights", "degrees", "influences", "top"}
COMPARED = {"correlation", "distance", "part", "residual"}


def test_a_member_alone(hardness):
    found = hardness("spectrum", "profile:g=majority,d=8,m=3", "--json", "--top", 2, "--seed", 4)
    assert found.code == 0
    assert found.err == ""
    assert set(found.json) == FIELDS
    target = found.json["target"]
    assert set(target) == SPECTRUM | {"information_exponent", "leap"}
    assert target["weights"] == [0.0, 0.75, 0.0, 0.25, 0.0, 0.0, 0.0, 0.0]
    assert target["degrees"] == {"least": 1, "highest": 3, "mean": 1.5}
    assert (target["information_exponent"], target["leap"]) == (1, 1)
    secret = parse("profile:g=majority,d=8,m=3").instance(4).hidden.secret
    assert [one["subset"] for one in target["top"]] == [[j] for j in secret[:2]]
    assert [v > 0 for v in target["influences"]] == [j in secret for j in range(1, 8)]
    assert set(found.json["known"]) == COMPARED
    assert found.json["hypothesis"] is found.json["learned"] is found.json["run"] is None


def test_a_learner_beside_it(hardness):
    arguments = ["spectrum", "parity:d=8,m=3", "--learner", "lowdegree:degree=3", "--top", "1"]
    found = hardness(*arguments, "--json", "--out", "s.json")
    assert found.code == 0
    with open("s.json") as file:
        assert json.load(file) == found.json
    assert set(found.json["hypothesis"]) == SPECTRUM | {"draws", "beyond", "surplus"}
    assert set(found.json["learned"]) == COMPARED
    part = found.json["learned"]["part"]
    assert part[3] == pytest.approx(1)
    assert part[:3] == [None] * 3
    learned = hardness("learn", "lowdegree:degree=3", "parity:d=8,m=3", "--json").json
    untimed = [{k: v for k, v in r.items() if k != "usage"} for r in (learned, found.json["run"])]
    assert untimed[0] == untimed[1]
    text = hardness(*arguments)
    assert text.code == 0
    assert "of lowdegree:degree=3: solved" in text.out
    assert hardness(*arguments, "--out", "s.json").code == 1  # kept
    assert hardness(*arguments, "--out", "s.json", "--force").code == 0


def test_draws_and_budgets(hardness):
    found = hardness(
        "spectrum", "parity:d=6,m=2", "--learner", "student:steps=20", "--draws", 3,
        "--budget-examples", 512, "--json",
    ).json  # fmt: skip
    assert found["hypothesis"]["draws"] == 3
    assert found["hypothesis"]["surplus"] == pytest.approx(found["hypothesis"]["beyond"] / 3)
    assert found["run"]["usage"]["examples"] == 512
    assert found["run"]["outcome"] == "examples spent"


def test_a_folder_with_its_secret_and_without(hardness, tmp_path):
    instance = parse("parity:d=10,m=3").instance(5)
    folder = write_folder(tmp_path / "x", instance, 500)
    found = hardness("spectrum", "x", "--learner", "elimination", "--json").json
    assert found["target"]["top"][0] == {"subset": list(instance.hidden.secret), "value": 1.0}
    assert found["learned"]["part"][3] == pytest.approx(1)
    (folder.path / "secret.json").unlink()
    for arguments in (["x"], ["x", "--learner", "elimination"]):
        refused = hardness("spectrum", *arguments)
        assert refused.code == 1
        refused.one_line("no secret part", "secret.json")


@pytest.mark.parametrize(
    ("line", "code", "word"),
    [
        ("parity:d=28,m=3", 2, "d may be up to 27"),
        ("parity:d=64,m=3 --learner elimination", 2, "2^63"),
        ("parity:d=8,m=3 --learner elimniation", 2, "did you mean 'elimination'"),
        ("profile:g=majority,d=8,m=3 --learner elimination", 2, "cannot run on"),
        ("parity:d=8,m=3 --learner elimination --draws 5000", 2, "between 2 and 4096"),
        ("parity:d=8,m=3 --draws 1", 2, "--draws"),
        ("parity:d=8,m=3 --top 0", 2, "--top"),
        ("nowhere", 2, "unknown"),
        ("", 2, "SPEC"),
    ],
)
def test_bad_input_is_one_line(hardness, line, code, word):
    found = hardness("spectrum", *line.split(), "--out", "s.json")
    found.one_line(word)
    assert found.code == code
    assert found.out == ""
    assert hardness("check", "s.json").code == 1  # nothing was written


def test_a_family_without_a_factor_is_refused(hardness):
    found = hardness("spectrum", "nice:m=2,k=2,d=8")
    assert found.code == 2
    found.one_line("nice given: it lacks `coded`")


def test_a_diverging_hypothesis_has_no_half_answer(hardness, monkeypatch):
    from hardness.upper import Hypothesis
    from hardness.upper.elimination import Elimination

    bad = Hypothesis(predict=lambda x: x * float("nan"))
    monkeypatch.setattr(Elimination, "learn", lambda *_: bad)
    found = hardness("spectrum", "parity:d=8,m=3", "--learner", "elimination", "--out", "s.json")
    assert found.code == 1
    found.one_line("not finite", "no spectrum")
