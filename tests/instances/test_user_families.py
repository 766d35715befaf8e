"""Families and listed functions in a user's files: specs, names, what is refused in one line."""

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from hardness.oracles import Budget
from hardness.runs import run
from hardness.runs.registry import parse_learner
from hardness.runs.workers import Local, packed, perform
from instances import ToolkitError, UsageError, files, parse, write_folder
from instances.spec import USER_FAMILIES, file_of, kind_of, parse_stored, spec_of, user_families

SIGNED = Path(__file__).parents[2] / "docs/examples/signed_majority.py"
SPEC = "signed-majority:d=9,m=3,noise=0"


@pytest.fixture
def signed(tmp_path, monkeypatch):
    """The family of the examples, in a folder of its own that is the current one."""
    monkeypatch.chdir(tmp_path)
    Path("signed.py").write_text(SIGNED.read_text())
    return tmp_path / "signed.py"


def test_parameters_are_those_of_a_spec(signed):
    family = parse("signed.py:SignedMajority: m=3 , d=9")
    assert family.spec == SPEC
    assert parse(SPEC) == parse_stored(SPEC) == family
    assert kind_of("signed-majority") is type(family)
    assert spec_of("signed.py:SignedMajority:m=3") == "signed-majority:m=3"


MORE = """

def made(m, d=9):
    return SignedMajority(d=d, m=m)

one = SignedMajority(d=9, m=1)

def functions(d):
    return [lambda x: x[:, 0], lambda x: x[:, 1]]
"""


def test_what_gives_a_family_may_take_parameters(signed):
    signed.write_text(SIGNED.read_text() + MORE)
    assert parse("signed.py:made:m=3").spec == SPEC
    assert parse("signed.py:one").m == 1
    assert parse("signed.py:functions:d=5").d == 6
    assert parse_stored("signed-majority:d=9,m=5").m == 5
    for text, words in (
        ("signed.py:made", "signed.py: made needs m: write signed.py:made:m=..."),
        ("signed.py:made:n=3", "unknown parameter of signed.py: made 'n'"),
        ("signed.py:one:m=3", "takes no parameters"),
    ):
        with pytest.raises(UsageError, match=words):
            parse(text)


def test_an_example_that_lacks_a_parameter_is_completed_too(signed):
    signed.write_text(SIGNED.read_text().replace("signed-majority:d=9,m=3", "signed-majority"))
    with pytest.raises(UsageError, match=r"needs m: write signed-majority:d=7,m=1$"):
        parse("signed.py:SignedMajority:d=7")


def test_annotations_may_be_texts(signed):
    doc, rest = SIGNED.read_text().split("\n", 1)
    signed.write_text(f"{doc}\nfrom __future__ import annotations\n{rest}")
    assert parse("signed.py:SignedMajority:d=9,m=3,noise=0.1").noise == parse("parity-noisy").noise
    with pytest.raises(UsageError, match="at least 0 and below 1/2"):
        parse("signed.py:SignedMajority:d=9,m=3,noise=0.7")


def sizes_in(spec):
    """What a worker process finds under a spec."""
    return parse_stored(spec).size


def test_worker_processes_have_the_text_that_was_executed(signed):
    """By value: also with a module beside it, and where the file is no more."""
    Path("beside.py").write_text("def power(m):\n    return 2**m\n")
    text = SIGNED.read_text().replace("2**self.m\n", "beside.power(self.m)\n")
    text = text.replace("@property", "@functools.cached_property")  # which has a lock in 3.11
    signed.write_text(
        text.replace("import numpy as np\n", "import beside, functools, numpy as np\n")
    )
    family = parse("signed.py:SignedMajority:d=9,m=3")
    signed.unlink()
    with closing(Local(1)) as workers:

        def call(work, given):
            return workers.result(wait_for(workers.submit(packed(work, given))))

        assert call(sizes_in, SPEC) == 448
        assert call(lambda one: one.size, family) == 448
        USER_FAMILIES.clear()
        with pytest.raises(UsageError, match="unknown family 'signed-majority'"):
            call(sizes_in, SPEC)


def wait_for(future):
    future.exception()
    return future


def test_a_worker_of_a_cluster_has_what_the_driver_was_given(signed):
    family = parse("signed.py:SignedMajority:d=5,m=1")
    batch = packed(sizes_in, family.spec)
    USER_FAMILIES.clear()
    assert perform(batch) == family.size


def test_a_file_that_was_edited_is_read_again_where_a_user_names_it(signed):
    first, before = parse("signed.py:SignedMajority:d=9,m=3"), file_of("signed-majority")
    signed.write_text(SIGNED.read_text().replace("2**self.m\n", "2**self.m + 1\n"))
    second = parse("signed.py:SignedMajority:d=9,m=3")
    assert (first.size, second.size) == (448, 449)
    assert parse_stored(SPEC).size == 449
    assert file_of("signed-majority") != before
    assert file_of("parity") is None


def test_a_family_is_known_for_a_while(signed):
    with user_families(["signed.py:SignedMajority"]):
        assert parse_stored(SPEC).size == 448
    with pytest.raises(UsageError, match="or named by --family"):
        parse_stored(SPEC)


def test_no_name_is_taken_twice_in_a_command(signed):
    Path("other.py").write_text(SIGNED.read_text())
    named = ["signed.py:SignedMajority", "other.py:SignedMajority"]
    with pytest.raises(
        UsageError, match=f"'signed-majority' of .*other.py is taken by {signed}: name it"
    ):
        user_families(named).__enter__()
    for text in named:  # one after the other: the name is that of the last
        assert parse(f"{text}:d=9,m=3") == parse_stored(SPEC)
    for name in ("parity", "parity-first"):
        Path("third.py").write_text(SIGNED.read_text().replace("signed-majority", name))
        with pytest.raises(UsageError, match=f"'{name}' of .* is taken: name"):
            parse("third.py:SignedMajority:d=9,m=3")


def test_what_a_family_prints_goes_to_stderr(signed, capsys):
    drawn = "    def draw(self, rng):\n"
    text = SIGNED.read_text().replace(drawn, drawn + '        print("drawn", end="!")\n')
    signed.write_text(text + 'print("executed")\n')
    parse("signed.py:SignedMajority:d=9,m=3").instance(0)
    assert capsys.readouterr() == ("", "executed\ndrawn!")


def test_an_instance_too_large_for_its_folder_is_refused(signed, monkeypatch):
    monkeypatch.setattr(files, "_REFERENCE_BYTES", 1 << 15)
    family = parse("signed.py:SignedMajority:d=20000,m=3")
    with pytest.raises(ToolkitError, match=r"39\.1 KiB, at most 32\.0 KiB"):
        write_folder(Path("large"), family.instance(0))
    assert not Path("large").exists()


def test_a_family_without_a_spec_works_here_and_is_not_stored(signed):
    text = SIGNED.read_text().replace("    noise:", "    at: tuple = ()\n    noise:")
    signed.write_text(text + "\none = SignedMajority(d=9, m=3)\n")
    family = parse("signed.py:one")
    assert len(family.instance(0).examples(0, 5)) == 5
    with pytest.raises(UsageError, match="no spec can name signed-majority"):
        write_folder(Path("x"), family.instance(0), 5)
    with pytest.raises(UsageError, match="a spec is needed"):
        spec_of("signed.py:one")


LISTED = """
import numpy as np
d = 4
signs = np.random.default_rng(3).choice([-1, 1], (4, 16))
def functions_of(rows):
    return [lambda x, r=r: r[(x < 0) @ (1 << np.arange(4))] for r in rows]
fs = functions_of(signs)
"""


def test_factors_of_listed_functions_are_the_functions(signed):
    signed.write_text(LISTED)
    family = parse("signed.py:fs")
    signs = np.random.default_rng(3).choice([-1, 1], (4, 16))
    assert (family.d, family.size, list(family.members())) == (5, 4, [(0,), (1,), (2,), (3,)])
    for i in range(4):
        assert np.array_equal(family.factor_table((i,)), signs[i])


@pytest.mark.parametrize("oracle", ["samples", "exact"])
@pytest.mark.parametrize("learner", ["queries", "pooled"])
def test_query_learners_play_listed_functions(signed, learner, oracle):
    signed.write_text(LISTED)
    family = parse("signed.py:fs")
    played = run(parse_learner(learner), family.instance(1), Budget(), seed=1, oracle=oracle)
    assert played.secret_recovered
    assert played.queries >= 1
