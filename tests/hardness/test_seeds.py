"""A learner that knows the code replays the streams of likely seeds: only a given seed helps it."""

import pytest

from hardness.oracles import Budget
from hardness.runs import play
from hardness.upper import parse_learner
from instances import parse

_REPLAY = '''
import numpy as np
from hardness.upper import Hypothesis, member
from instances.streams import generator

LIKELY = 64


class Replay:
    """Finds the seed by its own coins, and draws the member that the adversary will draw."""

    access = "queries"
    revision = 1

    def learn(self, oracle, rng):
        mine = rng.bit_generator.state["state"]["key"].tolist()
        for seed in range(LIKELY):
            coins = generator(seed, "learner", "SPEC")
            if [int(coins.integers(2**63)), int(coins.integers(2**63))] == mine:
                break
        else:
            seed = 0  # the default of other commands
        secret = oracle.family.draw(generator(seed, "adversary", "SPEC"))
        return member(oracle.family, secret, seed=seed)
'''


@pytest.fixture
def learn(hardness, tmp_path):
    file = tmp_path / "replay.py"
    name = f"{file}:Replay"
    file.write_text(_REPLAY.replace("SPEC", name))

    def run(*more):
        given = ("learn", name, "parity:d=200,m=7", "--oracle", "adversary", "--json", *more)
        return hardness(*given).json

    return run


def test_a_given_seed_tells_the_member_and_the_output_says_so(learn):
    found = learn("--seed", "41")
    assert found["details"]["reported"]["seed"] == 41
    assert found["secret_recovered"] is True
    assert found["adversary"]["seed_source"] == "given"


def test_without_a_seed_the_member_cannot_be_predicted(learn):
    found = [learn() for _ in range(2)]
    assert [one["secret_recovered"] for one in found] == [False, False]
    assert {one["adversary"]["seed_source"] for one in found} == {"operating system"}
    assert found[0]["seed"] != found[1]["seed"]
    assert min(one["seed"] for one in found) > 2**32


def test_a_game_is_repeated_by_the_seed_that_it_was_drawn_with():
    family, pooled = parse("parity:d=12,m=2"), parse_learner("pooled")
    drawn = play(pooled, family, Budget(queries=2))
    again = play(pooled, family, Budget(queries=2), drawn.seed)
    assert (drawn.drawn, again.drawn) == (True, False)
    assert drawn.transcript.to_dict() == again.transcript.to_dict()


@pytest.mark.parametrize(
    ("more", "said"),
    [((), "the seed came from the operating system"), (("--seed", "3"), "seed 3 was given, so it")],
)
def test_the_words_say_where_the_seed_came_from(hardness, more, said):
    assert (
        said in hardness("learn", "queries", "parity:d=8,m=2", "--oracle", "adversary", *more).out
    )
