"""Learners that misbehave: each ends with its own outcome, and nothing is left of it."""

import dataclasses
from multiprocessing import resource_tracker

import pytest

from hardness.compare.pool import execute
from hardness.oracles import Budget
from hardness.upper import Outcome
from hardness.upper.isolated import foreign, landlock
from tests.hardness.upper.isolated.driving import BUDGET, Case, at_once, bare, nothing_left, one

BY_GUARD = {"ended": "by the guard: it went on beyond its time"}
PATIENT = dataclasses.replace(BUDGET, seconds=20.0)


def case(learner, outcome, budget, says):
    """Who ends by itself has time for it: only who never ends is given little."""
    little = BUDGET if outcome is Outcome.SECONDS_SPENT else PATIENT
    return Case(learner=learner, outcome=outcome, says=says, budget=budget or little)


def ends(name, outcome, budget=None, **says):
    return case(f"ends:{name}", outcome, budget, says)


def answers(name, outcome, **says):
    return case(f"answers:{name}", outcome, None, says)


def takes(name, outcome, **says):
    return case(f"takes:{name}", outcome, None, says)


def tampers(name, outcome, **says):
    return case(f"tampers:{name}", outcome, None, says)


def wrong(dtype, shape="(16384, 2, 8)"):
    said = f"predict gave {dtype} of shape {shape}: numbers of shape (16384, 2, 8) wanted"
    return {"reason": said}


NEVER = [
    ends("Loop", Outcome.SECONDS_SPENT, **BY_GUARD),
    ends("Sleep", Outcome.SECONDS_SPENT, **BY_GUARD),
    ends("SleepBlocked", Outcome.SECONDS_SPENT, **BY_GUARD),
    ends("Sort", Outcome.SECONDS_SPENT, **BY_GUARD),
    ends("Product", Outcome.SECONDS_SPENT, **BY_GUARD),
    ends("Regex", Outcome.SECONDS_SPENT, **BY_GUARD),
    ends("Stops", Outcome.SECONDS_SPENT, **BY_GUARD),
    ends("IgnoresTerm", Outcome.SECONDS_SPENT, **BY_GUARD),
    ends("DaemonThenSleep", Outcome.SECONDS_SPENT, **BY_GUARD),
    ends("Loop", Outcome.CPU_SPENT, Budget(cpu_seconds=0.5, seconds=20.0)),
    answers("StrHangs", Outcome.SECONDS_SPENT, **BY_GUARD),
    answers("HangsInPredict", Outcome.SECONDS_SPENT, **BY_GUARD),
    tampers("HalfMessage", Outcome.SECONDS_SPENT, **BY_GUARD),
    tampers("Messages", Outcome.SECONDS_SPENT, **BY_GUARD),
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
    ends("Fifty", Outcome.LEARNED_NOTHING, dataclasses.replace(PATIENT, memory_bytes=None)),
    ends("Zombies", Outcome.LEARNED_NOTHING, processes_left=None),
    ends("Threads", Outcome.LEARNED_NOTHING),
    ends("ForkBomb", Outcome.TOO_MANY_PROCESSES),
    ends("ThreadBomb", Outcome.TOO_MANY_PROCESSES),
]
RAISES = [
    answers("Raises", Outcome.RAISED, stage="learn", type="ValueError", message="no way", line=27),
    answers("RaisesInSupports", Outcome.RAISED, type="LookupError", message="not today", line=32),
    answers("Refuses", Outcome.UNSUPPORTED, reason="it learns nothing of the kind"),
    answers("RaisesBase", Outcome.RAISED, type="OwnBase", message="below"),
    answers("RaisesInterrupt", Outcome.RAISED, type="KeyboardInterrupt"),
    answers("StrRaises", Outcome.RAISED, type="Mute", message=""),
    answers("StrHuge", Outcome.RAISED, message="x" * 500),
    answers("Recursion", Outcome.RAISED, type="RecursionError"),
    answers("RaisesInPredict", Outcome.RAISED, stage="predict", type="KeyError", message="'where'"),
]
WANTED = "a Hypothesis or a function predict(x) is needed"
RETURNS = [
    answers("NoHypothesis", Outcome.INVALID, reason=f"learn gave a NoneType: {WANTED}"),
    answers("AnObject", Outcome.INVALID, reason=f"learn gave a object: {WANTED}"),
    answers("NotCallable", Outcome.INVALID),
    answers("NotANumber", Outcome.INVALID, reason="262144 of 262144 not finite"),
    answers("Infinite", Outcome.INVALID, reason="1 of 262144 not finite"),
    answers("TooLarge", Outcome.INVALID, reason="262144 of 262144 not finite"),
    answers("WrongShape", Outcome.INVALID, **wrong("float64", "(3,)")),
    answers("OneShort", Outcome.INVALID, **wrong("float64", "(16383, 2, 8)")),
    answers("Complex", Outcome.INVALID, **wrong("complex128")),
    answers("Strings", Outcome.INVALID, **wrong("<U1")),
    answers("Objects", Outcome.INVALID, **wrong("object")),
    answers("Iterator", Outcome.INVALID, reason="predict gave a list_iterator"),
    answers("Nothing", Outcome.INVALID, reason="predict gave a NoneType"),
    answers("ChangesTokens", Outcome.LEARNED_NOTHING),
    answers("HugeDetails", Outcome.LEARNED_NOTHING, dropped="details of over 65536 characters"),
    answers("DeepDetails", Outcome.LEARNED_NOTHING),
    answers("OddDetails", Outcome.LEARNED_NOTHING, big="an integer of 16610 bits"),
    answers("BadDetails", Outcome.LEARNED_NOTHING),
    answers("HugeSecret", Outcome.INVALID, reason="a secret of too many or too large numbers"),
    answers("WrongSecret", Outcome.LEARNED_NOTHING),
    answers("SecretOfTexts", Outcome.INVALID, reason="a secret of type tuple"),
    answers("ClaimsSolved", Outcome.LEARNED_NOTHING),
    answers("ClaimsCrashed", Outcome.LEARNED_NOTHING),
    answers("OutcomeOfText", Outcome.INVALID, reason="an outcome of type str"),
]
TAKES = [
    takes("AtOnce", Outcome.MEMORY_SPENT),
    takes("BitByBit", Outcome.MEMORY_SPENT),
    takes("ByChildren", Outcome.MEMORY_SPENT),
    takes("MemoryFile", Outcome.MEMORY_SPENT),
    takes("Mapped", Outcome.MEMORY_SPENT),
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
    tampers("ForgedLearned", Outcome.BROKE_OFF),
    tampers("ForgedQuery", Outcome.RAISED, type="UsageError"),
    tampers("Evaluates", Outcome.RAISED, type="UsageError"),
    tampers("Globals", Outcome.LEARNED_NOTHING),
    tampers("Patches", Outcome.LEARNED_NOTHING, forged=True),
    tampers("Imposes", Outcome.EXAMPLES_SPENT),
]
REFUSED = {"type": "PermissionError"}
CONFINED = [
    ends("StopsParent", Outcome.RAISED, **REFUSED),
    ends("TermsParent", Outcome.RAISED, **REFUSED),
    ends("TermsGroup", Outcome.RAISED, **REFUSED),
    ends("KillsParent", Outcome.RAISED, **REFUSED),
    ends("KillsParentWithDaemon", Outcome.RAISED, **REFUSED),
    ends("KillsGroup", Outcome.RAISED, **REFUSED),
    ends(
        "Signals",
        Outcome.LEARNED_NOTHING,
        may={"guard": False, "driver": False, "group": False, "init": False},
    ),
    takes("SharedMemory", Outcome.MEMORY_SPENT),
    takes("RemovesFolder", Outcome.RAISED, **REFUSED),
    takes(
        "WritesFiles", Outcome.LEARNED_NOTHING, wrote={"own": True, "tmp": False, "beside": False}
    ),
]
KILLED = {"signal": "its guard was killed"}
OPEN = [  # what holds where the system confines nobody
    ends("StopsParent", Outcome.LEARNED_NOTHING),
    ends("TermsParent", Outcome.LEARNED_NOTHING),
    ends("TermsGroup", Outcome.LEARNED_NOTHING),
    ends("KillsParent", Outcome.CRASHED, **KILLED),
    ends("KillsParentWithDaemon", Outcome.CRASHED, **KILLED),
    ends("KillsGroup", Outcome.CRASHED, **KILLED),
    ends("Segfault", Outcome.CRASHED, signal="SIGSEGV"),
    ends("Loop", Outcome.SECONDS_SPENT, **BY_GUARD),
    ends("Daemon", Outcome.LEARNED_NOTHING, processes_left=1),
    ends("ForkBomb", Outcome.TOO_MANY_PROCESSES),
    takes("BitByBit", Outcome.MEMORY_SPENT),
    takes("RemovesFolder", Outcome.LEARNED_NOTHING),
    tampers("Closes", Outcome.BROKE_OFF),
]
EVERYWHERE = NEVER + EARLY + LEAVES + RAISES + RETURNS + TAKES + TAMPERS
NO_LANDLOCK = "needs a Linux with Landlock 6: elsewhere learners are not confined"
needs_landlock = pytest.mark.skipif(landlock.version() < 6, reason=NO_LANDLOCK)


@pytest.fixture(scope="module")
def confined():
    with nothing_left():
        return ended(EVERYWHERE + (CONFINED if landlock.version() >= 6 else []))


@pytest.fixture(scope="module")
def unconfined():
    with pytest.MonkeyPatch.context() as patch, nothing_left():
        patch.setattr(foreign, "CONFINE", False)
        return ended(OPEN)


def ended(cases):
    """Short graces for those that never end: nobody waits for them."""
    never = [case for case in cases if case.outcome is Outcome.SECONDS_SPENT]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(foreign, "_GRACE", 0.3)
        patch.setattr(foreign, "_JUDGING", 2.0)
        found = at_once(never)
    return found | at_once([case for case in cases if case not in never])


def agrees(case, found):
    assert found.outcome is case.outcome, (found.outcome, found.usage, found.details)
    assert {name: found.details.get(name) for name in case.says} == case.says
    assert not found.secret_recovered
    assert found.risk is None or found.risk.high >= 0.99
    assert found.usage.examples <= 1000


@pytest.mark.parametrize("case", EVERYWHERE, ids=str)
def test_ends_with_its_outcome(case, confined):
    agrees(case, confined[case])


@needs_landlock
@pytest.mark.parametrize("case", CONFINED, ids=str)
def test_confined_it_touches_nothing_of_others(case, confined):
    assert confined[case].details.get("confined", True)
    agrees(case, confined[case])


@pytest.mark.parametrize("case", OPEN, ids=str)
def test_unconfined_it_ends_all_the_same(case, unconfined):
    assert "confined" not in unconfined[case].details
    agrees(case, unconfined[case])


def test_what_is_printed_holds_nothing_that_a_terminal_obeys(confined):
    for found in confined.values():
        said = str(found.details.get("printed", ""))
        assert len(said) <= 2000
        assert all(c.isprintable() or c == "\n" for c in said)


def test_a_flood_keeps_its_end(confined):
    found = next(run for case, run in confined.items() if case.name == "Floods")
    assert found.details["printed"].endswith("the end")


def test_who_leaves_processes_is_told_how_many(confined):
    found = next(run for case, run in confined.items() if case.name == "Fifty")
    assert 50 <= found.details["processes_left"] <= 75


NEIGHBOURS = [
    Case(learner="well:Eliminates", outcome=Outcome.SOLVED),
    ends("Segfault", Outcome.CRASHED),
    Case(learner="well:Eliminates", outcome=Outcome.SOLVED, budget=PATIENT),
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
