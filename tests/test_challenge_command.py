"""hardness challenge create, submit and score: what they print, refuse and exit with."""

import json
import re
from pathlib import Path

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
