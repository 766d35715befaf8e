import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from hardness.compare import play
from hardness.lower import Johnson
from hardness.oracles import Budget
from hardness.report.figures import draw
from hardness.report.lower_figures import adversary, correlations, eigenvalues, sda
from hardness.upper import parse_learner
from instances import DamagedFile, parse

SPEC = "profile:g=majority,d=9,m=3"


def numbers(name):
    if name == "adversary":
        game = play(parse_learner("pooled"), parse("parity:d=9,m=2"), Budget())
        return adversary(game.transcript.to_json())
    return {"correlations": correlations, "eigenvalues": eigenvalues, "sda": sda}[name](parse(SPEC))


@pytest.mark.parametrize("name", ["correlations", "eigenvalues", "sda", "adversary"])
@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_the_same_numbers_give_the_same_bytes(name, kind):
    data = numbers(name)
    assert draw(name, data, kind) == draw(name, data, kind)
    assert len(draw(name, data, kind)) > 2000


def test_the_numbers_are_those_of_the_family():
    scheme = Johnson.family(parse(SPEC))
    found = numbers("correlations")
    assert found["correlation"][-1] == 1.0
    assert abs(sum(found["share_of_pairs"]) - 1) < 1e-12
    members = list(itertools.combinations(range(8), 3))
    gram = np.array(
        [[found["correlation"][len(set(a) & set(b))] for b in members] for a in members]
    )
    found = np.linalg.eigvalsh(gram)
    drawn = numbers("eigenvalues")
    wanted = [
        10**v
        for v, count in zip(drawn["log10_eigenvalue"], drawn["log10_multiplicity"], strict=True)
        for _ in range(round(10**count))
    ]
    np.testing.assert_allclose(sorted(wanted), found, rtol=1e-9)
    assert math.comb(8, 3) == scheme.size == len(wanted)


def test_a_bracket_of_sda_grows_with_gamma():
    found = numbers("sda")
    lower, upper = ([int(v) for v in found[key]] for key in ("lower", "upper"))
    assert all(a <= b for a, b in zip(lower, upper, strict=True))
    assert sorted(lower) == lower
    assert sorted(found["gamma"], key=Fraction) == found["gamma"]


def test_what_is_no_game_or_has_no_scheme_is_refused():
    with pytest.raises(DamagedFile, match="no transcript"):
        adversary({"format": "hardness-certificate/1"})


def test_the_command_writes_the_picture_and_prints_the_numbers(hardness):
    made = hardness("figure", "sda", SPEC, "--out", "a.svg", "--json")
    assert made.code == 0
    assert {"spec", "gamma", "lower", "upper", "pair_events"} == set(made.json)
    kept = hardness("figure", "sda", SPEC, "--out", "a.svg")
    assert kept.code == 1
    kept.one_line("a.svg", "exists")
    for arguments, words in (
        (("figure", "sda", SPEC), "--out FILE.svg"),
        (("figure", "sda", SPEC, "--out", "a.txt"), ".svg, .png or .pdf"),
        (("figure", "tree", SPEC, "--json"), "tree"),
    ):
        found = hardness(*arguments)
        assert found.code == 2
        found.one_line(words)


def test_a_game_is_written_checked_and_drawn(hardness):
    line = ("learn", "pooled", "parity:d=9,m=2", "--oracle", "adversary", "--transcript", "t.json")
    made = hardness(*line, "--json")
    assert made.code == 0
    assert {"mode", "members", "left", "bound", "ruled_out"} == set(made.json["adversary"])
    assert hardness("check", "t.json", "--json").json["accepted"] is True
    assert hardness("figure", "adversary", "t.json", "--out", "t.svg").code == 0
    assert hardness(*line).code == 1  # the transcript was kept
    found = hardness("learn", "pooled", "parity:d=9,m=2", "--transcript", "u.json")
    assert found.code == 2
    found.one_line("--oracle adversary")
    for arguments in (("learn", "student", "parity:d=9,m=2", "--oracle", "adversary"),):
        found = hardness(*arguments)
        assert found.code == 1
        found.one_line("sees examples")
