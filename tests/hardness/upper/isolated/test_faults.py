"""Learners that misbehave: each ends with its own outcome, and nothing is left of it."""

import dataclasses
from multiprocessing import resource_tracker

import pytest

from hardness.oracles import Budget
from hardness.runs.processes import execute
from hardness.upper import Outcome
from hardness.upper.isolated import learner as subprocess_learner
from tests.hardness.upper.isolated.driving import (
    BUDGET,
    LEVELS,
    UNTIMED,
    Case,
    at_once,
    bare,
    contained,
    flat,
    nothing_left,
    one,
)

LATE = {"ended": "from outside: it went on beyond its time"}


def case(learner, outcome, budget, says):
    """Who ends by itself has all time for it: only who never ends is given little."""
    own = BUDGET if outcome is Outcome.SECONDS_SPENT else UNTIMED
    return Case(learner=learner, outcome=outcome, says=says, budget=budget or own)


def ends(name, outcome, budget=None, **says):
    return case(f"ends:{name}", outcome, budget, says)


def answers(name, outcome, **says):
    return case(f"answers:{name}", outcome, None, says)


def takes(name, outcome, **says):
    return case(f"takes:{name}", outcome, None, says)


def tampers(name, outcome, **says):
    return case(f"tampers:{name}", outcome, None, says)


def wrong(what):
    return {"reason": f"predict gave {what}: (16384, 2, 8) is needed"}


NEVER = [
    ends("Loop", Outcome.SECONDS_SPENT, **LATE),
    ends("Sleep", Outcome.SECONDS_SPENT, **LATE),
    ends("SleepBlocked", Outcome.SECONDS_SPENT, **LATE),
    ends("Sort", Outcome.SECONDS_SPENT, **LATE),
    ends("Product", Outcome.SECONDS_SPENT, **LATE),
    ends("Regex", Outcome.SECONDS_SPENT, **LATE),
    ends("Stops", Outcome.SECONDS_SPENT, **LATE),
    ends("IgnoresTerm", Outcome.SECONDS_SPENT, **LATE),
    ends("DaemonThenSleep", Outcome.SECONDS_SPENT, **LATE),
    ends("Loop", Outcome.CPU_SPENT, Budget(cpu_seconds=0.5)),
    answers("StrHangs", Outcome.SECONDS_SPENT, **LATE),
    answers("HangsInPredict", Outcome.SECONDS_SPENT, **LATE),
    tampers("HalfMessage", Outcome.SECONDS_SPENT, **LATE),
    tampers("ForgedLearned", Outcome.SECONDS_SPENT, **LATE),
    tampers("Messages", Outcome.SECONDS_SPENT, **LATE),
]
EARLY = [
    ends("Segfault", Outcome.CRASHED, signal="SIGSEGV"),
    ends("Abort", Outcome.CRASHED, signal="SIGABRT"),
    ends("TermsOwnGroup", Outcome.CRASHED, signal="SIGTERM"),
    ends("Exit", Outcome.EXITED, exit_code=3),
    ends("ExitWell", Outcome.EXITED, exit_code=0),
    ends("SysExit", Outcome.EXITED, exit_code=4),
    ends("SysExitText", Outcome.EXITED, exit_code=1),
    ends("DaemonThenCrash", Outcome.EXITED, exit_code=5),
    answers("StrExits", Outcome.EXITED, exit_code=9),
    answers("ExitsInPredict", Outcome.EXITED, exit_code=6),
]
LEAVES = [
    ends("Daemon", Outcome.LEARNED_NOTHING, processes_left=1),
    ends("Fifty", Outcome.LEARNED_NOTHING, dataclasses.replace(UNTIMED, memory_bytes=None)),
    ends("Zombies", Outcome.LEARNED_NOTHING, processes_left=None),
    ends("Threads", Outcome.LEARNED_NOTHING),
    ends("ForkBomb", Outcome.TOO_MANY_PROCESSES),
    ends("ThreadBomb", Outcome.TOO_MANY_PROCESSES),
]
RAISES = [
    answers("Raises", Outcome.RAISED, stage="learn", type="ValueError", message="no way", line=17),
    answers("RaisesInSupports", Outcome.RAISED, type="LookupError", message="not today", line=22),
    answers("Refuses", Outcome.UNSUPPORTED, reason="it learns nothing of the kind"),
    answers("RaisesBase", Outcome.RAISED, type="OwnBase", message="below"),
    answers("RaisesInterrupt", Outcome.RAISED, type="KeyboardInterrupt"),
    answers("StrRaises", Outcome.RAISED, type="Mute", message=""),
    answers("StrHuge", Outcome.RAISED, message="x" * 500),
    answers("Recursion", Outcome.RAISED, type="RecursionError"),
    answers("RaisesInPredict", Outcome.RAISED, stage="predict", type="KeyError", message="'where'"),
]
WANTED = "a Hypothesis or a function predict(x) is needed"
NONE = "learn gave no hypothesis: "
HUGE = "Expected `array` of length <= 32768 - at `$.secret`"
TEXTS = "invalid literal for int() with base 10: 'a'"
RETURNS = [
    answers("NoHypothesis", Outcome.INVALID, reason=f"learn gave a NoneType: {WANTED}"),
    answers("AnObject", Outcome.INVALID, reason=f"learn gave a object: {WANTED}"),
    answers("NotCallable", Outcome.INVALID),
    answers("NotANumber", Outcome.INVALID, reason="262144 of 262144 not finite"),
    answers("Infinite", Outcome.INVALID, reason="1 of 262144 not finite"),
    answers("TooLarge", Outcome.INVALID, reason="262144 of 262144 not finite"),
    answers("WrongShape", Outcome.INVALID, **wrong("the shape (3,)")),
    answers("OneShort", Outcome.INVALID, **wrong("the shape (16383, 2, 8)")),
    answers("Complex", Outcome.INVALID, **wrong("ndarray of complex128, no real numbers")),
    answers("Strings", Outcome.INVALID, **wrong("ndarray of <U1, no real numbers")),
    answers("Objects", Outcome.INVALID, **wrong("ndarray of object, no real numbers")),
    answers("Iterator", Outcome.INVALID, **wrong("list_iterator of object, no real numbers")),
    answers("Nothing", Outcome.INVALID, **wrong("NoneType of object, no real numbers")),
    answers("ChangesTokens", Outcome.LEARNED_NOTHING),
    answers("HugeDetails", Outcome.LEARNED_NOTHING, dropped="details of over 65536 characters"),
    answers("DeepDetails", Outcome.LEARNED_NOTHING),
    answers("OddDetails", Outcome.LEARNED_NOTHING),
    answers("BadDetails", Outcome.LEARNED_NOTHING),
    answers("HugeSecret", Outcome.INVALID, reason=NONE + HUGE),
    answers("WrongSecret", Outcome.LEARNED_NOTHING),
    answers("SecretOfTexts", Outcome.INVALID, reason=NONE + TEXTS),
    answers("ClaimsSolved", Outcome.LEARNED_NOTHING),
    answers("ClaimsCrashed", Outcome.LEARNED_NOTHING),
    answers("OutcomeOfText", Outcome.INVALID, reason=NONE + "'str' object has no attribute 'name'"),
]
TAKES = [
    takes("AtOnce", Outcome.MEMORY_SPENT),
    takes("BitByBit", Outcome.MEMORY_SPENT),
    takes("ByChildren", Outcome.MEMORY_SPENT),
    takes("Files", Outcome.RAISED, type="OSError"),
    takes("Limits", Outcome.RAISED, type="OSError"),
    takes("AllExamples", Outcome.EXAMPLES_SPENT),
    takes("TooManyExamples", Outcome.LEARNED_NOTHING, got=1000),
    takes("NegativeExamples", Outcome.RAISED, type="UsageError"),
    takes("HalfAnExample", Outcome.RAISED, type="TypeError"),
    takes("Prints", Outcome.LEARNED_NOTHING, printed="hello ?[31mred?[0m ? and this\nalso here\n"),
    takes("Floods", Outcome.LEARNED_NOTHING),
    takes("LocksFolder", Outcome.LEARNED_NOTHING),
]
TAMPERS = [
    tampers("Closes", Outcome.BROKE_OFF),
    tampers("Junk", Outcome.BROKE_OFF),
    tampers("LongMessage", Outcome.BROKE_OFF),
    tampers("DeepMessage", Outcome.BROKE_OFF),
    tampers("OddOperation", Outcome.BROKE_OFF),
    tampers("ForgedExamples", Outcome.BROKE_OFF),
    tampers("ManyNames", Outcome.BROKE_OFF),
    tampers("ManyNumbers", Outcome.BROKE_OFF),
    tampers("MuchBehind", Outcome.BROKE_OFF),
    tampers("TwoOperations", Outcome.BROKE_OFF),
    tampers("OddEnd", Outcome.BROKE_OFF),
    tampers("OddReason", Outcome.RAISED, reason="?]0;x??risk 0", type="A?B"),
    tampers("ForgedDetails", Outcome.LEARNED_NOTHING),
    tampers("ForgedQuery", Outcome.RAISED, type="UsageError"),
    tampers("Evaluates", Outcome.RAISED, type="UsageError"),
    tampers("Globals", Outcome.LEARNED_NOTHING),
    tampers("Patches", Outcome.LEARNED_NOTHING, forged=True),
    tampers("Imposes", Outcome.EXAMPLES_SPENT),
]
REFUSED = {"type": "PermissionError"}
NAMESPACE = [  # process 1 takes no signal from below it
    ends("StopsParent", Outcome.LEARNED_NOTHING),
    ends("TermsParent", Outcome.LEARNED_NOTHING),
    ends("TermsGroup", Outcome.RAISED, type="ProcessLookupError"),
    ends("KillsParent", Outcome.SECONDS_SPENT, **LATE),
    ends("KillsParentWithDaemon", Outcome.SECONDS_SPENT, **LATE),
    ends("KillsGroup", Outcome.RAISED, type="ProcessLookupError"),
    takes("RemovesFolder", Outcome.RAISED, type="OSError"),
    takes(
        "WritesFiles", Outcome.LEARNED_NOTHING, wrote={"own": True, "tmp": True, "beside": False}
    ),
]
FENCED = [
    ends("StopsParent", Outcome.RAISED, **REFUSED),
    ends("TermsParent", Outcome.RAISED, **REFUSED),
    ends("TermsGroup", Outcome.RAISED, **REFUSED),
    ends("KillsParent", Outcome.RAISED, **REFUSED),
    ends("KillsParentWithDaemon", Outcome.RAISED, **REFUSED),
    ends("KillsGroup", Outcome.RAISED, **REFUSED),
    takes("RemovesFolder", Outcome.RAISED, **REFUSED),
    takes(
        "WritesFiles", Outcome.LEARNED_NOTHING, wrote={"own": True, "tmp": False, "beside": False}
    ),
]
KILLED = {"signal": "its first process was killed"}
OPEN = [
    ends("StopsParent", Outcome.LEARNED_NOTHING),
    ends("TermsParent", Outcome.CRASHED, **KILLED),
    ends("KillsParent", Outcome.CRASHED, **KILLED),
    takes("RemovesFolder", Outcome.LEARNED_NOTHING),
]
EVERYWHERE = NEVER + EARLY + LEAVES + RAISES + RETURNS + TAKES + TAMPERS
SOME = [  # one of a kind, at every level
    *("Loop", "HalfMessage", "Segfault", "DaemonThenCrash", "Daemon", "Fifty", "ForkBomb"),
    *("Raises", "ByChildren", "Junk"),
]
MORE = [  # of what learners answer and send, which is judged alike at every level
    *("RaisesInPredict", "NotANumber", "WrongShape", "HugeDetails", "HugeSecret", "ClaimsSolved"),
    *("OutcomeOfText", "TooManyExamples", "NegativeExamples", "Prints", "Floods", "LongMessage"),
    *("ForgedExamples", "ForgedDetails", "ForgedQuery", "OddReason", "Patches"),
]


def of(names):
    return [case for case in EVERYWHERE if case.name in names]


CASES = {
    "bubblewrap": of(SOME + MORE) + NAMESPACE,
    "landlock": of(SOME) + FENCED,
    "off": of(SOME) + OPEN,
}


def found(level, cases):
    """Run the cases at a level; returns the runs, and what was left of them."""
    with contained(level):
        try:
            with nothing_left():
                runs = ended(cases)
        except AssertionError as error:
            return runs, str(error)
    return runs, ""


def ended(cases):
    """Short graces for those that never end: nobody waits for them."""
    never = [case for case in cases if case.outcome is Outcome.SECONDS_SPENT]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess_learner, "_GRACE", 0.3)
        patch.setattr(subprocess_learner, "_JUDGING", 0.5)
        found = at_once(never)
    return found | at_once([case for case in cases if case not in never])


def agrees(case, run):
    details = flat(run.details)
    assert run.outcome is case.outcome, (run.outcome, run.usage, run.details)
    assert {name: details.get(name) for name in case.says} == case.says
    assert not run.secret_recovered
    assert run.risk is None or run.risk.high >= 0.99
    assert run.usage.examples <= 1000


@pytest.mark.clocks
@pytest.mark.parametrize("level", LEVELS[:-1])
def test_every_case_ends_with_its_outcome_and_nothing_is_left(level):
    """One test a level: several processes of pytest would each run all cases again."""
    held(level, CASES[level])


@pytest.mark.slow
def test_every_case_ends_with_its_outcome_where_nothing_contains_it():
    held("off", CASES["off"])


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS[:1])
def test_all_other_cases_end_with_their_outcome(level):
    held(level, [case for case in EVERYWHERE if case not in CASES["bubblewrap"]])


def held(level, cases):
    runs, left = found(level, cases)
    wrong = [said for case, run in runs.items() if (said := disagreement(level, case, run))]
    assert wrong == []
    assert left == ""
    named = {case.name: run.details for case, run in runs.items()}
    if "Fifty" in named:
        assert 50 <= named["Fifty"]["processes_left"] <= 75
    if "Floods" in named:
        assert named["Floods"]["printed"].endswith("the end")


def disagreement(level, case, run):
    """Return what is wrong with a run, or nothing."""
    try:
        agrees(case, run)
        assert run.details["contained"] == level
        printed = str(run.details.get("printed", ""))
        assert len(printed) <= 2000
        assert all(c.isprintable() or c == "\n" for c in printed)  # what no terminal obeys
    except AssertionError as error:
        return f"{case.learner}: {error}"
    return ""


NEIGHBOURS = [
    Case(learner="well:Eliminates", outcome=Outcome.SOLVED),
    ends("Segfault", Outcome.CRASHED),
    Case(learner="well:Eliminates", outcome=Outcome.SOLVED, budget=UNTIMED),
    tampers("Junk", Outcome.BROKE_OFF),
    ends("Daemon", Outcome.LEARNED_NOTHING),
    Case(learner="well:Guesses", outcome=Outcome.LEARNED_NOTHING),
]


def test_neighbours_in_a_pool_are_unharmed():
    resource_tracker.ensure_running()  # it stays, as it does for every pool
    with nothing_left():
        beside = dict(execute(one, NEIGHBOURS, jobs=2))
    for number, case in enumerate(NEIGHBOURS):
        assert beside[number].outcome is case.outcome
        if case.learner.startswith("well"):
            assert bare(beside[number]) == bare(one(case))
