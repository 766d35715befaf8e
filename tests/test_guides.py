"""The guides' code runs: what a page adds goes through the properties of what is built in."""

import importlib.util
import json
import re
import sys
from pathlib import Path

import pytest

from hardness.bounds import certify
from hardness.bounds.check import check
from hardness.bounds.checker import hidden_sets
from hardness.report import claims
from hardness.runs import registry
from instances import parse
from instances.errors import Refuted
from instances.family import OFFERS
from instances.spec import FAMILIES
from tests import test_matrix as matrix

DOCS = Path(__file__).parent.parent / "docs"
BLOCK = re.compile(r"^```python\n# (\S+\.py)\n(.*?)^```", re.M | re.S)


def code(page: str) -> dict[str, str]:
    """The files that a guide writes, by the name in the first line of each."""
    found = BLOCK.findall((DOCS / "guides" / page).read_text(encoding="utf-8"))
    assert len(found) == len({name for name, _ in found}) > 1
    return dict(found)


def written(files, folder, monkeypatch, *shared):
    """Write and import a guide's files in their order; its tests see what is `shared`."""
    modules, common = {}, {}
    for name, text in files.items():
        called = "guide_" + re.sub(r"\W", "_", name)
        path = folder / f"{called}.py"
        path.write_text(text, encoding="utf-8")
        found = importlib.util.spec_from_file_location(called, path)
        module = importlib.util.module_from_spec(found)
        monkeypatch.setitem(sys.modules, called, module)
        module.__dict__.update(common)
        found.loader.exec_module(module)
        common |= {word: module.__dict__[word] for word in shared if word in module.__dict__}
        modules[name] = module
    return modules


@pytest.fixture
def conjunction(monkeypatch, tmp_path):
    """The family of the guide, registered as its page says."""
    found = written(code("add-a-family.md"), tmp_path, monkeypatch)
    module = found["instances/conjunction.py"]
    monkeypatch.setitem(sys.modules, "instances.conjunction", module)
    monkeypatch.setitem(FAMILIES.data, "conjunction", "instances.conjunction.Conjunction")
    return found


FAMILY_SPECS = ["conjunction:d=9,m=2", "conjunction:d=10,m=3,noise=0.1"]


@pytest.mark.parametrize("spec", FAMILY_SPECS)
def test_the_family_of_the_guide_has_the_properties_of_all(spec, conjunction, tmp_path):
    matrix.test_certificates_check_and_sampling_agrees(spec)
    matrix.test_streams_do_not_depend_on_the_cut(spec)
    for tensors in ("npz", "safetensors"):
        matrix.test_a_folder_holds_the_stream(spec, tensors, tmp_path / tensors)
    for learner in ("lowdegree:degree=1", "student:steps=200,batch=64", "elimination", "trivial"):
        matrix.refused_or_honest(learner, spec)
    matrix.reproducible("lowdegree:degree=1", spec)
    conjunction["tests/instances/test_conjunction.py"].test_the_label_is_the_conjunction()


def test_the_family_of_the_guide_is_that_profile_and_no_other(conjunction):
    made = certify(parse("conjunction:d=9,m=3"))
    assert made.claims == certify(parse("profile:g=[1,1,1,-1],d=9,m=3,noise=0")).claims
    assert made.to_dict() == certify(parse("profile:g=[1,1,1,-1],d=9,m=3")).to_dict()
    data = made.to_dict()
    for spec in (made.spec.replace("d=9", "d=10"), "conjunction:d=9,m=3,noise=0,rho=3"):
        with pytest.raises(Refuted):
            check({**data, "spec": spec})


def test_the_guide_names_all_that_commands_ask_of_a_family():
    page = (DOCS / "guides/add-a-family.md").read_text(encoding="utf-8")
    assert set(OFFERS) <= set(re.findall(r"^\| `(\w+)` \|", page, re.M))


def test_the_learner_of_the_guide_has_the_properties_of_all(monkeypatch, tmp_path):
    found = written(code("add-a-learner.md"), tmp_path, monkeypatch)
    screen = found["hardness/learners/screen.py"].Screen
    monkeypatch.setattr(registry, "LEARNERS", {**registry.LEARNERS, "screen": screen})
    matrix.test_a_run_is_reproducible_honest_and_reads_back("screen:examples=500")
    matrix.test_a_tiny_budget_is_kept_and_reported("screen")
    matrix.test_a_stored_stream_gives_the_same_run("screen", tmp_path)
    test = found["tests/hardness/learners/test_screen.py"]
    test.test_it_finds_products_of_its_degree_and_no_larger_ones()


def added(files, name, module):
    """Run a file of a guide as the end of a module, and give the names that it has then."""
    names = dict(vars(module))
    exec(compile(files.pop(name), name, "exec"), names)
    return names


def test_the_bound_of_the_guide_is_checked_and_a_wrong_one_refused(monkeypatch, tmp_path):
    files = code("add-a-bound.md")
    theorem = added(files, "hardness/bounds/checker/hidden_sets.py", hidden_sets)
    monkeypatch.setattr(hidden_sets, "know", theorem["know"])
    words = added(files, "hardness/report/claims.py", claims)["_fixed_function"]
    monkeypatch.setitem(claims._SENTENCES, "fixed-function", words)
    found = written(files, tmp_path, monkeypatch)
    test = found["tests/hardness/test_fixed_function.py"]
    for spec in test.SPECS:
        test.test_it_is_the_largest_mean_square_over_all_functions(spec)
        test.test_a_wrong_one_is_refused(spec)
    made = certify(parse(test.SPECS[0]))
    assert "fixed without regard" in claims.sentence(made, made["fixed-function"])


def test_the_forged_example_is_true_but_for_one_number():
    forged = json.loads((DOCS / "examples/forged.json").read_text(encoding="utf-8"))
    true = json.loads(json.dumps(certify(parse(forged["spec"])).to_dict()))
    assert forged["claims"][2][::2] == ["stat-queries", "4532"]
    with pytest.raises(Refuted, match="stat-queries is not as claimed"):
        check(forged)
    forged["claims"][2][2] = "4531"
    assert forged == true
