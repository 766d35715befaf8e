"""Sweep files: what is read with its jobs, their keys and the plan; every mistake with its key."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from hardness.bounds import BoundParameters
from hardness.learners import Outcome
from hardness.oracles import Budget
from hardness.report.sweep import plan_words
from hardness.runs.registry import parse_learner
from hardness.runs.run import Run
from hardness.sweep.file import read_sweep, read_text, require_count
from hardness.sweep.jobs import CertificateJob, Finished, RunJob, read_job, run_job
from hardness.sweep.plan import plan
from instances.errors import UsageError

HEAD = 'format = "hardness-sweep/1"\nname = "x"\n'
CLIMB = "[[climbs]]\nladder = 'parity-v1'\nlearners = ['queries']\n"
RUN = '[[runs]]\nspec = "parity:d=8,m=2"\nlearners = ["queries"]\n'
FULL = """\
format = "hardness-sweep/1"
name = "hidden parities"
tau = 0.05
seeds = "3..7..2"
learners = ["queries", "lowdegree:degree=3", "queries"]
[budget]
examples = 100_000
seconds = 9
[limits]
memory = "2GB"
retries = 1
[[runs]]
spec = "parity:m=3"
over = { d = "8..16..4", noise = ["0", "1/10", 0.1] }
learners = ["elimination", {learner = "mlp:steps=9", over = {width = "16..32..*2"}}]
budget = { examples = [1000, 1e4], queries = 7, seconds = "none" }
[[runs]]
spec = ["parity-first", "parity:d=8,m=2", "parity:m=3,d=16"]
oracle = "exact"
certify = false
[[climbs]]
ladder = "parity-v1"
learners = ["elimination"]
seed = 2026
budget = { seconds = 5 }
"""


def test_a_whole_file():
    found = read_text(FULL, "x.toml")
    first, second = found.grids
    assert first.title == "runs 1"
    assert len(first.cells) == 6 * 3 * 2  # d of 8, 12, 16; noise of 0, 0.1; learners; budgets
    assert {(job.spec, job.learner) for job in first.cells[:2]} == {
        ("parity:d=8,m=3,noise=0,rho=3", "elimination:checks=32")
    }
    names = [job.learner for job in first.cells]
    assert {name.split("width=")[1] for name in names if "mlp" in name} == {"16", "32"}
    assert first.seeds == range(3, 8, 2)
    budgets = [job.budget for job in first.cells[:2]]
    assert budgets == [Budget(examples=1000, queries=7), Budget(examples=10_000, queries=7)]
    assert {job.terms.tau for job in first.certificates} == {Fraction(1, 20)}
    assert first.count == 18 * 3 * 2
    assert len(second.cells) == 4  # parity-first and parity:d=16,m=3 are one, queries too
    assert {job.oracle for job in second.cells if job.learner == "queries"} == {"exact"}
    assert second.certificates == ()
    assert {job.budget for job in second.cells} == {Budget(examples=100_000, seconds=9.0)}
    assert found.climbs[0].seeds == 3
    assert found.climbs[0].base_seed == 2026
    assert found.climbs[0].budget == Budget(seconds=5.0)
    assert (found.limits.memory_bytes, found.limits.retries) == (2 * 10**9, 1)
    assert found.limits.seconds == 3600  # a group has no budget of seconds
    assert found.text == FULL


def test_the_hard_limit_follows_from_the_budgets():
    text = HEAD + "[budget]\nseconds = 9\n" + RUN
    assert read_text(text, "x").limits.seconds == 4 * 9 + 60
    assert read_text(text, "x").limits.memory_bytes is None


def test_what_cannot_run_is_left_out_and_counted():
    text = HEAD + '[[runs]]\nspec = ["parity:d=8,m=2", "nice:m=2,k=2,d=4", "nice:m=1,k=2,d=4"]\n'
    found = read_text(text + 'learners = ["elimination", "trivial"]', "x").grids[0]
    assert len(found.cells) == 4
    (one,) = found.left_out
    assert (one.learner, one.specs, one.reasons) == ("elimination:checks=32", 2, 1)
    assert one.why.startswith("nice given: it lacks `noisy_parities`")


def test_a_learner_from_a_file_is_named_and_not_executed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("raise SystemExit('executed')")
    learners = 'learners = ["mine.py:L", {learner = "mine.py:L:a=1", over = {b = [2, 0.5]}}]'
    found = read_text(HEAD + RUN.replace('learners = ["queries"]', learners), "x").grids[0]
    names = [job.learner for job in found.cells]
    assert names == ["mine.py:L", "mine.py:L:a=1,b=2", "mine.py:L:a=1,b=0.5"]
    (tmp_path / "mine.py").write_text("a = 2")
    again = read_text(HEAD + RUN.replace('learners = ["queries"]', learners), "x").grids[0]
    assert again.cells[0].key != found.cells[0].key  # it is known by its text


ASKED, ALONE = "learners = ['queries']\n", "[[runs]]\nspec = 'parity:d=8,m=2'\n"
MISTAKES = [  # what stands after the head (from line 3), the key, words of the message
    ("", "", "there is no group"),
    (RUN + "seeds = [1, 2,, 3]\n", "", "Invalid value (at line 6"),
    (RUN + "a" + ".a" * 300_000 + " = 1", "", "over 100 parts"),
    ('[[climbs]]\nlearner = "trivial"\n', "climbs[1].learner", "did you mean 'learners'?"),
    (RUN + '"a\\u0000b" = 1\n', "runs[1].a?b", "unknown key"),
    ("[runs]\nspec = 'parity:d=8,m=2'\n", "runs", "a list is needed"),
    (RUN + RUN + "seeds = 0\n", "runs[2].seeds", "0 given: Expected `int` >= 1"),
    ('seeds = "7..3"\n' + RUN, "seeds", "the range is empty"),
    (RUN + "tau = 2\n", "runs[1].tau", "at most 1"),
    (RUN + 'oracle = "exakt"\n', "runs[1].oracle", "did you mean 'exact'"),
    (RUN + "budget = {examples = [1,\n0]}\n", "runs[1].budget.examples[2]", "0 given"),
    (ASKED + "[[runs]]\nseeds = 1\n", "runs[1]", 'spec is missing: write spec = "..."'),
    (ASKED + "[[runs]]\nspec = 'mine.py:F'\nover = {d = [1]}", "runs[1].spec", "--family path.py"),
    (ASKED + "[[runs]]\nspec = [\n'parity-first',\n'parity:d=8,m=9']\n", "runs[1].spec[2]", "m=9"),
    (RUN + "over = {m = '1...3'}\n", "runs[1].over.m", "8..20..4"),
    (RUN + "over = {q = '1..3'}\n", "runs[1].over", "unknown parameter of parity 'q'"),
    (RUN + "over.d = '1..1000000000'\nseeds = 3", "runs[1].over", "x 1 budgets, 3000000000 runs"),
    (ALONE + "learners = ['queries',\n'elimniation']\n", "runs[1].learners[2]", "elimination'"),
    (ALONE + "learners = [{learner = 'mlp', over = {wdth = [1]}}]\n", "runs[1].learners[1].over",
     "did you mean 'width'"),
    ("[[runs]]\nspec = 'nice:m=2,k=2,d=4'\nlearners = ['elimination']\n", "runs[1]",
     "nothing can run: elimination: nice given: it lacks `noisy_parities`"),
    ("[limits]\nretries = 101\n" + RUN, "limits.retries", "Expected `int` <= 100"),
    (CLIMB.replace("parity-v1", "parity-v9"), "climbs[1].ladder", "did you mean 'parity-v"),
    ("[[climbs]]\nrungs = [\n'parity-first',\n'parity:d=8']\n" + ASKED, "climbs[1].rungs[2]", "m"),
    ("[[climbs]]\nrungs = ['parity-first', 'parity:m=3,d=16']\n" + ASKED,
     "climbs[1].rungs", "given twice"),
    (CLIMB.replace("parity-v1", "nice-v1"), "climbs[1]", "first rung"),
    (CLIMB + "budget = {seconds = [1, 2]}\n", "climbs[1].budget", "one budget"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "key", "words"), MISTAKES)
def test_a_mistake_is_one_line_with_its_key(text, key, words):
    with pytest.raises(UsageError) as found:
        read_text(HEAD + text, "x.toml")
    said = str(found.value)
    assert said.startswith("x.toml: " + (f"{key}: " if key else "")), said[:300]
    assert words in said
    assert said.isprintable()
    assert len(said) < 1000


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "format: nothing given"),
        (b"name = 'x'\nformat = 'hardness-sweep/2'\n", "'hardness-sweep/2' given: this version"),
        (b"format = 'hardness-sweep/1'\n", 'name is missing: write name = "..."'),
        (HEAD.encode() + b"# \xff\n", "no text in UTF-8"),
        (b"\x00\x01" * 99, "Illegal character|Invalid statement"),
        (b"#" * (2 << 20), "at most 1048576"),
    ],
)
def test_files_that_are_none(tmp_path, data, words):
    path = tmp_path / "s.toml"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=words):
        read_sweep(path)


def test_a_byte_order_mark_and_windows_lines(tmp_path):
    path = tmp_path / "s.toml"
    path.write_bytes(b"\xef\xbb\xbf" + (HEAD + RUN).replace("\n", "\r\n").encode())
    assert read_sweep(path).count == 1


PIECES = ["", "[", "]", "{", "}", "=", ",", "..", '"', "'", "\n", "1e9", "nan", "true", "\x00"]


@given(st.integers(0, len(FULL)), st.sampled_from([0, 1, 5]), st.sampled_from(PIECES))
def test_whatever_is_mangled_is_read_or_refused_in_a_line(start, cut, put):
    text = FULL[:start] + put + FULL[start + cut :]
    try:
        assert read_text(text, "x").count
    except UsageError as error:
        said = str(error)
        assert said.startswith("x: ")
        assert "\n" not in said


def test_over_ten_million_runs_are_for_who_says_yes():
    sweep = read_text(HEAD + RUN + "seeds = 10_000_001\n", "x")
    with pytest.raises(UsageError, match=r"10000001 runs asked for.*--yes"):
        require_count(sweep)
    require_count(sweep, yes=True)
    require_count(read_text(HEAD + RUN + "seeds = 10_000_000\n", "x"))


PARITY = "parity:d=8,m=2"


def job_of(learner, seed=0, budget=None, spec=PARITY, **how):
    return run_job(spec, parse_learner(learner), seed, budget or Budget(), **how)


KEYS = {
    "431b38480c210e9246b3b442b1161e1c": job_of(
        "queries", 2, Budget(queries=200, seconds=60), tau=Fraction(1, 7)
    ),
    "cc4ca78e5696831c2b263b3097681589": job_of(
        "elimination", 1, Budget(examples=2000), "parity:d=16,m=2"
    ),
    "6d0168732a69f718d1f56e99690a2a18": CertificateJob(
        spec="parity:d=8,m=2,noise=0,rho=3", terms=BoundParameters(), revision=1
    ),
}


def test_keys_of_stores_and_what_is_written_stay():
    for key, job in KEYS.items():
        again = read_job(job.payload())
        assert (job.key, again, again.key, again.label) == (key, job, key, job.label)
    budgets = [Budget(seconds=s, cpu_seconds=s) for s in (60, 60.0)]
    assert len({job_of("trivial", budget=budget).key for budget in budgets}) == 1


LIMIT = st.none() | st.integers(1, 10**12)
NASTY = st.sampled_from(["", "\\", "é\n", 'a"', '\\"', " 7"])
JOBS = st.builds(
    RunJob,
    spec=NASTY,
    learner=NASTY,
    seed=st.integers(0, 2**70),
    budget=st.builds(Budget, examples=LIMIT, seconds=st.none() | st.floats(1e-3, 1e6)),
    oracle=st.sampled_from([None, "samples", "exact"]),
    tau=st.none() | st.fractions(0, 1).map(Fraction),
    revisions=st.tuples(st.integers(0, 1), st.integers(0, 1)),
    origin=st.none() | NASTY,
)


@given(JOBS, JOBS)
def test_a_key_is_that_of_what_is_written(job, other):
    assert read_job(job.payload()) == job
    assert job.keys(other.seed) == job.with_seed(other.seed).key
    assert (job.key == other.key) is (job == other)


def test_what_ended_a_learners_own_process_is_no_result_of_the_learner():
    job = job_of("trivial", budget=Budget(examples=9))
    done = job.do()
    for outcome in (Outcome.CRASHED, Outcome.COULD_NOT_RUN):
        found = job.row(Finished(result=done | {"outcome": outcome.value}))
        assert (found.bound, found.reproducible) == ("machine", False)


DIES = """
class Dies:
    name, access = "dies", "either"

    def learn(self, oracle, rng):
        import os
        import signal
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_learner_from_a_file_says_how_queries_are_answered_and_is_marked(tmp_path):
    (tmp_path / "own.py").write_text(DIES)
    job = job_of(f"{tmp_path}/own.py:Dies", tau=Fraction(1, 7), oracle="exact")
    found = job.row(Finished(result=job.do()))
    assert (found.outcome, found.reproducible) == (Outcome.CRASHED, False)
    for one in (found, job.row(Finished(failure="died"))):
        assert (one.details["tau"], one.details["oracle"]) == ("1/7", "exact")


EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "parities.toml"


def test_the_example_is_counted_as_it_is_listed():
    sweep = read_sweep(EXAMPLE)
    made = plan(sweep)
    listed = [cell.with_seed(s) for g in sweep.grids for cell in g.cells for s in g.seeds]
    climbs = sum(c.count for c in sweep.climbs)
    assert made.to_dict()["runs"] == len(listed) + climbs
    assert sum(p.runs for p in made.parts if p.learner != "certificates") == len(listed) + climbs
    assert len({job.key for job in listed}) == len(listed)
    assert made.certificates == len({job.spec for job in listed})
    most = sum(min(60, job.budget.seconds) for job in listed) + 60 * made.certificates + 15 * 5
    assert made.seconds == (0.0, most)
    climb = made.parts[-1]
    assert climb.at_most
    assert climb.seconds == (0.0, 5.0 * climb.runs)


def test_runs_of_a_store_are_taken_where_they_are_of_the_same_cell():
    text = HEAD + "seeds = 10\nlearners = ['queries']\n[budget]\nqueries = 500\n"
    sweep = read_text(text + "[[runs]]\nspec = ['parity:d=8,m=2', 'parity:d=9,m=2']\n", "x")
    one, other = sweep.grids[0].cells
    done = Run.read(one.do())

    def took(seconds, **other):
        usage = structs.replace(done.usage, seconds=seconds)
        return done.updated(usage=usage, **other)

    rows = [
        *map(took, (1.0, 2.0, 30.0)),
        took(99.0, outcome=Outcome.CRASHED),
        took(99.0, spec=other.spec, budget=Budget(queries=501)),
        took(99.0, spec=other.spec, details=done.details | {"oracle": "exact"}),
    ]
    made = plan(sweep, rows)
    part = made.parts[0]
    assert (part.cells, part.measured) == (2, 1)
    assert part.seconds == (20.0, 20.0 + 10 * 3600.0)
    assert "learning alone" in plan_words(made).replace("\n", " ")
