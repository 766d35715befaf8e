"""hardness challenge create, submit and score: what they print, refuse and exit with."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

SPEC = "parity:d=16,m=3"
CREATE = ["challenge", "create", SPEC, "--examples", 100, "--fresh", 50]


@pytest.fixture
def made(hardness):
    line = ("--out", "pub", "--secret", "s.json", "--deadline", "noon, UTC", "--json")
    found, said = hardness(*CREATE, *line).json, json.loads(Path("pub/challenge.json").read_text())
    assert (found["challenge"], found["commitment"]) == (said["id"], said["commitment"])
    assert (found["examples"], found["fresh"], found["deadline"]) == (100, 50, "noon, UTC")
    return hardness


def test_the_way_round(made):
    asked = "challenge submit pub --name ann --learner elimination:checks=8"
    first = made(*asked.split(), *out("a"))
    assert first.code == 0, first.err
    assert "ran to its end" in first.out
    digest = re.search(r"digest +([0-9a-f]{64})", first.out).group(1)
    second = made(
        "challenge", "submit", "pub", "--name", "bob", "--claim", "[1,2,3]", *out("b"), "--json"
    )
    assert (second.json["name"], second.json["secret"]) == ("bob", [1, 2, 3])
    line = ["challenge", "score", "pub", "--secret", "s.json"]
    found = made(*line, "a.safetensors", "--out", "score.json")
    assert found.code == 0, found.err
    assert "bit for bit" in found.out
    assert re.search(rf"risk +0\.00\nsecret +right\ndigest +{digest} ann", found.out)
    score = json.loads(Path("score.json").read_text())
    assert (score["deadline"], score["digest"], score["risk"]) == ("noon, UTC", digest, 0.0)
    assert made(*line, "b.safetensors", "--json").json["secret_right"] in (True, False)
    assert "risk" not in made(*line).out  # the challenge alone


def out(name: str) -> list[str]:
    return ["--out", f"{name}.safetensors"]


def test_learners_attacks_and_the_rest_run_on_the_folder(made):
    for line in (["learn", "elimination"], ["inspect"], ["verify"]):
        found = made(*line, "pub")
        assert found.code == 0, found.err
    found = made("attack", "pub", "--learner", "elimination", "--json")
    assert found.json["attacks"][0]["judged"] == 0
    assert made("generate", SPEC, "--out", "pub", "--force").code == 1  # it is not one of its own


LINES = [
    ("create {spec} --out x --secret y --examples 5 --seed 0", 2, "draws its own"),
    ("create {spec} --secret y --examples 5", 2, "needs --out DIR"),
    ("create {spec} --out x --secret y --examples 0", 2, "--examples"),
    ("create {spec} --out x --secret x/y --examples 5", 2, "lies in the public folder"),
    ("create {spec} --out x/z --secret x --examples 5", 2, "or that one in it"),
    ("create {spec} --out pub --secret y --examples 5", 1, "exists and was kept"),
    ("create {spec} --out x --secret s.json --examples 5 --force", 1, "could never be opened"),
    ("create {spec} --out x --secret y --examples 5 --fresh 999999999999", 1, "memory"),
    ("create {spec} --out x --secret y --examples 99999999999999", 1, "disk"),
    ("submit nowhere --name a --claim [1,2,3] --out a.safetensors", 2, "challenge create"),
    ("submit pub --name a --out a.safetensors", 2, "give one of"),
    ("submit pub --name a --claim [1,2,3] --learner trivial --out a.safetensors", 2, "one of"),
    ("submit pub --name a --claim [1,2,3]", 2, "--out FILE.safetensors"),
    ("submit pub --name a --claim [1,2,3] --out a.json", 2, "ends in .safetensors"),
    ("submit pub --name a --claim x --out a.safetensors", 2, "write [2,5,7]"),
    ("submit pub --name a --learner queries --out a.safetensors", 1, "statistical queries"),
    ("submit pub --name a --predictions p.txt --out a.safetensors", 2, ".npy, .npz"),
    ("submit pub --name a --predictions p.npy --out a.safetensors", 2, "(50, 2, 16) is wanted"),
    ("score nowhere --secret s.json", 2, "challenge create"),
    ("score pub --secret s.json no.safetensors", 1, "does not exist"),
    ("score pub --secret s.json s.json", 1, "its header claims"),
    ("score pub --secret s.json --out s.json", 2, "give another name to write"),
    ("score pub --secret s.json a.safetensors b.safetensors", 2, "unexpected extra argument"),
    ("score pub --secret pub/challenge.json", 1, "is wanted"),
]


@pytest.mark.parametrize(("line", "code", "word"), LINES, ids=[line for line, _, _ in LINES])
def test_what_is_refused_is_one_line(made, line, code, word):
    np.save("p.npy", np.zeros((50, 2, 15)))
    before = sorted(Path().rglob("*"))
    found = made("challenge", *line.format(spec=SPEC).split())
    assert found.code == code, found.err
    assert word in " ".join(found.err.split()), found.err
    found.one_line()
    assert sorted(Path().rglob("*")) == before


def test_other_secrets_and_those_that_do_not_open_are_refused(made):
    secret = json.loads(Path("s.json").read_text())
    line = ("challenge", "score", "pub", "--secret", "other.json")
    Path("other.json").write_text(json.dumps({k: v for k, v in secret.items() if k != "challenge"}))
    found = made(*line)
    assert found.code == 2
    found.one_line("the secret of an instance, and of no challenge")
    secret["secret"] = [j % 15 + 1 for j in secret["secret"]]
    Path("other.json").write_text(json.dumps(secret))
    found = made(*line)
    assert found.code == 3
    found.one_line("does not open the commitment")
