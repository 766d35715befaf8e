"""Each rule and each check of the kernel is weakened in turn: `benchmarks/mutants.py` sees it."""

import importlib.util
import sys
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "benchmarks" / "mutants.py"


@pytest.fixture(scope="module")
def mutants():
    spec = importlib.util.spec_from_file_location("mutants_made", PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_every_mutant_is_caught(mutants):
    assert len(mutants.MUTANTS) > 400
    assert not [mutant.name for mutant in mutants.MUTANTS if mutant.caught() is None]


def test_no_rule_is_without_a_mutant(mutants):
    used = {name for m in mutants.MUTANTS if isinstance(m.steps, list) for name, *_ in m.steps}
    assert used == set(mutants.kernel.RULES)


def test_what_is_no_weakening_is_not_caught(mutants):
    same = mutants.M("problem.down(gram.top / room)", "math.floor(gram.top / room)")
    assert same.caught() is None
    with pytest.raises(ValueError, match="0 times"):
        mutants.M("nothing of this is there", "").load()
