"""Learners that misbehave: each ends with its own outcome, and nothing is left of it."""

from multiprocessing import resource_tracker

import pytest

from hardness.learners import Outcome, remote
from hardness.oracles import Budget
from hardness.runs.workers import execute
from tests.hardness.learners.boundary.driving import (
    BUDGET,
    PLACES,
    UNTIMED,
    Case,
    at_once,
    bare,
    flat,
    nothing_left,
    one,
    placed,
)

NOTHING, LATE = Outcome.LEARNED_NOTHING, Outcome.SECONDS_SPENT
EVER = {"ended": "from outside: it went on beyond its time"}


def does(how, outcome, budget=None, **says):
    """Who ends by itself has all time for it: only who never ends is given little."""
    return _case(f"misbehaves:Misbehaves:how={how}", outcome, budget, says)


def answers(what, outcome, **says):
    return _case(f"answers:Answers:what={what}", outcome, None, says)


def _case(learner, outcome, budget, says):
    late = outcome is LATE and budget is None
    budget, says = budget or (BUDGET if late else UNTIMED), says | (EVER if late else {})
    return Case(learner=learner, outcome=outcome, says=says, budget=budget)


def raised(what, **says):
    return answers(what, Outcome.CRASHED, **says)


def invalid(what, reason):
    return answers(what, Outcome.INVALID, reason=reason)


def misshapen(what, given):
    return invalid(what, f"predict gave {given}: (16384, 2, 8) is needed")


NO = "learn gave no hypothesis: "
WANTED = "a Hypothesis or a function predict(x) is needed"
ANSWERS = [  # the conversation alone decides
    raised("raises", stage="learn", type="ValueError", message="no way", line=38),
    answers("raises_in_constructor", Outcome.COULD_NOT_RUN),
    raised("raises_in_supports", type="LookupError", message="not today", line=22),
    answers("refuses", Outcome.COULD_NOT_RUN, reason="it learns nothing of the kind"),
    raised("raises_base", type="OwnBase", message="below"),
    raised("raises_interrupt", type="KeyboardInterrupt"),
    raised("text_raises", type="Mute", message=""),
    raised("text_huge", message="x" * 500),
    raised("recursion", type="RecursionError"),
    raised("raises_in_predict", stage="predict", type="KeyError", message="'where'"),
    invalid("nothing", f"learn gave a NoneType: {WANTED}"),
    invalid("an_object", f"learn gave an object: {WANTED}"),
    invalid("not_callable", NO + "predict is an int"),
    invalid("not_a_number", "262144 of 262144 not finite"),
    invalid("infinite", "1 of 262144 not finite"),
    invalid("too_large", "262144 of 262144 not finite"),
    misshapen("wrong_shape", "the shape (3,)"),
    misshapen("one_short", "the shape (16383, 2, 8)"),
    misshapen("complex", "ndarray of complex128, no real numbers"),
    misshapen("strings", "ndarray of <U1, no real numbers"),
    misshapen("objects", "ndarray of object, no real numbers"),
    misshapen("iterator", "list_iterator of object, no real numbers"),
    misshapen("no_array", "NoneType of object, no real numbers"),
    answers("changes_tokens", NOTHING),
    answers("huge_details", NOTHING, dropped="details of over 65536 characters"),
    answers("deep_details", NOTHING),
    answers("odd_details", NOTHING),
    answers("bad_details", NOTHING),
    answers("forged_details", NOTHING),
    invalid("huge_secret", NO + "Expected `array` of length <= 32768 - at `$.secret`"),
    answers("wrong_secret", NOTHING),
    invalid("secret_of_texts", NO + "invalid literal for int() with base 10: 'a'"),
    answers("claims_solved", NOTHING),
    answers("claims_crashed", NOTHING),
    invalid("outcome_of_text", NO + "'str' object has no attribute 'name'"),
    answers("all_examples", Outcome.EXAMPLES_SPENT),
    # It gets what there is, and one more call says that nothing is left.
    answers("too_many_examples", NOTHING, got=1000),
    raised("negative_examples", type="UsageError"),
    raised("many_examples", type="TypeError"),
    raised("far_query", type="UsageError"),
    raised("odd_query", type="UsageError"),
    answers("imposes", Outcome.EXAMPLES_SPENT),
]
EVERYWHERE = [  # one of a kind
    does("loop", LATE),
    does("segfault", Outcome.CRASHED, signal="SIGSEGV"),
    does("child_then_crash", Outcome.CRASHED, exit_code=5),
    does("loop", Outcome.SECONDS_SPENT, Budget(cpu_seconds=1.5)),
    does("at_once", Outcome.MEMORY_SPENT),
    does("bit_by_bit", Outcome.MEMORY_SPENT),
    does("writes_much", Outcome.CRASHED, type="OSError"),
    does("prints", NOTHING, printed="hello ?[31mred?[0m ? and this\nalso here\n"),
    does("stops", LATE),
    does("junk", Outcome.CRASHED),
]
UNCONFINED = [  # what its process says decides, wherever it runs
    does("half_message", LATE),
    raised("raises", stage="learn", type="ValueError", message="no way", line=38),
    does("odd_reason", Outcome.CRASHED, reason="?]0;x??risk 0", type="A?B"),
    *(answers(what, LATE) for what in ("text_hangs", "hangs_in_predict")),
    answers("exits_in_predict", Outcome.CRASHED, exit_code=6),
    does("sys_exit", Outcome.CRASHED, exit_code=4),
    _case("patches:Patches", NOTHING, None, {"forged": True}),
    does("forged_pickle", Outcome.CRASHED),  # which the parent does not read
]
SANDBOX = [  # it ends with all that it started, whatever session these are in
    does("daemon", NOTHING),
    does("fifty", NOTHING),
    does("stops_parent", NOTHING),  # process 1 takes no signal from below it
    does("kills_parent", LATE),
    does("writes_files", NOTHING, wrote={"own": True, "tmp": True, "beside": False}),
]


def test_every_answer_ends_with_its_outcome():
    with placed(False):
        held(False, {case: one(case) for case in ANSWERS})


@pytest.mark.parametrize("sandboxed", PLACES)
def test_every_case_ends_with_its_outcome_and_nothing_is_left(sandboxed):
    """One test a place: several processes of pytest would each run all cases again."""
    with placed(sandboxed), nothing_left():
        held(sandboxed, ended(EVERYWHERE + (SANDBOX if sandboxed else UNCONFINED)))


def ended(cases):
    """Run cases at once, with short graces for those that never end: nobody waits for them."""
    never = [case for case in cases if case.outcome is LATE]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remote, "_GRACE_SECONDS", 0.1)
        patch.setattr(remote, "_PREDICT_SECONDS", 0.3)
        found = at_once(never)
    return found | at_once([case for case in cases if case not in never])


def held(sandboxed, runs):
    wrong = [disagreement(sandboxed, case, run) for case, run in runs.items()]
    assert [said for said in wrong if said] == []


def disagreement(sandboxed, case, run):
    """Return what is wrong with a run, or nothing."""
    details = flat(run.details)
    printed = str(run.details.get("printed", ""))
    try:
        assert run.outcome is case.outcome, (run.outcome, run.details)
        assert {name: details.get(name) for name in case.says} == case.says
        assert not run.secret_recovered
        assert run.risk is None or run.risk_high >= 0.99
        assert run.examples <= 1000
        assert run.details["process"] == ("in bubblewrap" if sandboxed else "not sandboxed")
        assert len(printed) <= 2000
        assert all(c.isprintable() or c == "\n" for c in printed)  # what no terminal obeys
    except AssertionError as error:
        return f"{case.learner}: {error}"
    return ""


def test_neighbours_in_a_pool_are_unharmed():
    well = [
        Case(learner="well:Eliminates", outcome=Outcome.SOLVED),
        Case(learner="well:Guesses", outcome=NOTHING),
    ]
    harmful = [case for case in EVERYWHERE if case.name in ("segfault", "junk", "daemon")]
    cases = [well[0], *harmful, well[1]]
    resource_tracker.ensure_running()  # it stays, as it does for every pool
    with nothing_left():
        beside = dict(execute(one, cases, jobs=2))
    for number, case in enumerate(cases):
        assert beside[number].outcome is case.outcome
        if case in well:
            assert bare(beside[number]) == bare(one(case))
