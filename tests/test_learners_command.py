"""The command `learners`: list, show, check, new, with learners of one's own."""

import pytest


@pytest.fixture
def written(hardness, tmp_path):
    answer = hardness("learners", "new", "first_steps.py")
    assert answer.code == 0
    assert "hardness learn first_steps.py:FirstSteps" in answer.out
    return tmp_path


def test_a_new_learner_learns_and_any_plain_name_will_do(hardness, written):
    shown = hardness("learners", "show", "first_steps.py:FirstSteps", "--json").json
    assert (shown["name"], shown["access"]) == ("FirstSteps", "examples")
    run = hardness("learn", "first_steps.py:FirstSteps", "parity:d=8,m=1", "--json").json
    assert (run["learner"], run["outcome"]) == ("first_steps.py:FirstSteps", "solved")
    again = hardness("learners", "new", "first_steps.py")
    assert again.code == 1
    again.one_line("kept")
    plain = hardness("learners", "new", "my learner.py", "--json").json
    assert plain == {"file": "my learner.py", "name": "MyLearner"}
    compile((written / "my learner.py").read_text(), "my learner.py", "exec")
    assert sorted(p.name for p in written.iterdir()) == ["first_steps.py", "my learner.py"]


def test_what_does_not_conform_exits_with_1(hardness, tmp_path):
    (tmp_path / "bad.py").write_text("def bad(x, y):\n    raise ValueError('never')\n")
    answer = hardness("learners", "check", f"{tmp_path}/bad.py:bad")
    assert answer.code == 1
    assert "DOES NOT CONFORM" in answer.out
    assert "ValueError" in answer.out
    answer.one_line("bad.py:bad: parity: crashed")


def test_what_a_learner_says_does_not_steer_the_terminal(hardness, tmp_path):
    (tmp_path / "loud.py").write_text(
        "said = chr(27) + '[2J' + chr(0) + chr(0x202e)\n"
        "class Loud:\n"
        "    about = said\n"
        "    def learn(self, oracle, rng):\n"
        "        raise ValueError(said)\n"
        "class Broken:\n"
        "    def __init__(self):\n"
        "        raise ValueError(said)\n"
    )
    for line in (
        ("learn", "loud.py:Loud", "parity:d=4,m=1"),
        ("learners", "show", "loud.py:Loud"),
        ("learners", "show", "loud.py:Broken"),
    ):
        answer = hardness(*line)
        said = answer.out + answer.err
        assert "[2J??" in said
        assert all(c.isprintable() or c == "\n" for c in said)


def test_a_learner_that_cannot_be_loaded_is_wrong_usage_the_reason_first(hardness, tmp_path):
    (tmp_path / "mine.py").write_text("\nimport what_is_not_there\n")
    for line in (
        "learn LEARNER parity:d=8,m=1 --json --out run.json",
        "learners show LEARNER",
        "compare parity:m=1 --over d=8..9 --learner trivial --learner LEARNER --jobs 1",
        "attack lwe:n=6,q=31,sigma=1 --learner LEARNER --seeds 1 --jobs 1",
        "distinguish LEARNER parity:d=8,m=1 --jobs 1",
    ):
        answer = hardness(*line.replace("LEARNER", "mine.py:Net").split())
        assert (answer.code, answer.out) == (2, ""), line
        reason = "hardness: ModuleNotFoundError: No module named 'what_is_not_there' "
        assert answer.err.startswith(reason)
        answer.one_line("executing it, in line 2", "mine.py:Net was not loaded, and nothing was ru")
    assert not (tmp_path / "run.json").exists()


def test_an_output_below_a_link_that_leads_nowhere_is_refused_before_any_work(hardness, tmp_path):
    (tmp_path / "results").symlink_to("unmounted")
    answer = hardness("learn", "mlp", "parity:d=8,m=1", "--out", "results/run.json")
    assert answer.code == 1
    answer.one_line("results is a link that leads nowhere")


def test_who_learned_all_and_spent_the_budget_is_not_told_to_report_nothing(hardness):
    line = "learn staged nice:m=2,k=2,d=8,noise=0.3 --budget-examples 800 --json"
    found = hardness(*line.split()).json
    assert found["risk_high"] < 0.05
    assert found["outcome"] == "examples spent"
    assert found["advice"].startswith("the budget is spent, and the whole interval of the risk")


def test_every_parameter_of_a_family_and_of_a_learner_has_a_meaning(hardness):
    for command in ("families", "learners"):
        for one in hardness(command, "--json").json[command]:
            shown = hardness(command, "show", one["name"], "--json").json["parameters"]
            assert all(row["meaning"] for row in shown), one["name"]
            assert hardness(command, "show", one["name"]).code == 0, one["name"]
