"""Learners that misbehave: each ends with its own outcome, and nothing is left of it."""

import dataclasses
from multiprocessing import resource_tracker

import pytest

from hardness.compare.pool import execute
from hardness.oracles import Budget
from hardness.upper import Outcome
from hardness.upper.isolated import foreign, landlock
from tests.hardness.upper.isolated.driving import BUDGET, Case, at_once, nothing_left, one

O = Outcome
BY_GUARD = {"ended": "by the guard: it went on beyond its time"}
PATIENT = dataclasses.replace(BUDGET, seconds=20.0)


def ends(name, outcome, budget=BUDGET, **says):
    return Case(learner=f"ends:{name}", outcome=outcome, says=says, budget=budget)


def answers(name, outcome, **says):
    return Case(learner=f"answers:{name}", outcome=outcome, says=says)


def takes(name, outcome, budget=BUDGET, **says):
    return Case(learner=f"takes:{name}", outcome=outcome, says=says, budget=budget)


def tampers(name, outcome, **says):
    return Case(learner=f"tampers:{name}", outcome=outcome, says=says)


def wrong(dtype, shape="(16384, 2, 8)"):
    said = f"predict gave {dtype} of shape {shape}: numbers of shape (16384, 2, 8) wanted"
    return {"reason": said}


NEVER = [
    ends("Loop", O.SECONDS_SPENT, **BY_GUARD),
    ends("Sleep", O.SECONDS_SPENT, **BY_GUARD),
    ends("SleepBlocked", O.SECONDS_SPENT, **BY_GUARD),
    ends("Sort", O.SECONDS_SPENT, **BY_GUARD),
    ends("Product", O.SECONDS_SPENT, **BY_GUARD),
    ends("Regex", O.SECONDS_SPENT, **BY_GUARD),
    ends("Stops", O.SECONDS_SPENT, **BY_GUARD),
    ends("IgnoresTerm", O.SECONDS_SPENT, **BY_GUARD),
    ends("DaemonThenSleep", O.SECONDS_SPENT, **BY_GUARD),
    ends("Loop", O.CPU_SPENT, Budget(cpu_seconds=0.5, seconds=20.0)),
    answers("StrHangs", O.SECONDS_SPENT, **BY_GUARD),
    answers("HangsInPredict", O.SECONDS_SPENT, **BY_GUARD),
    tampers("HalfMessage", O.SECONDS_SPENT, **BY_GUARD),
    tampers("Messages", O.SECONDS_SPENT, **BY_GUARD),
]
EARLY = [
    ends("Segfault", O.CRASHED, signal="SIGSEGV"),
    ends("Abort", O.CRASHED, signal="SIGABRT"),
    ends("TermsOwnGroup", O.CRASHED, signal="SIGTERM"),
    ends("Exit", O.EXITED, exit_code=3),
    ends("ExitWell", O.EXITED, exit_code=0),
    ends("SysExit", O.EXITED, exit_code=4),
    ends("SysExitText", O.EXITED, exit_code=1),
    ends("DaemonThenCrash", O.EXITED, exit_code=5),
    answers("StrExits", O.EXITED, exit_code=9),
    answers("ExitsInPredict", O.EXITED, exit_code=6),
]
LEAVES = [
    ends("Daemon", O.LEARNED_NOTHING, processes_left=1),
    ends("Fifty", O.LEARNED_NOTHING, dataclasses.replace(PATIENT, memory_bytes=None)),
    ends("Zombies", O.LEARNED_NOTHING, PATIENT, processes_left=None),
    ends("Threads", O.LEARNED_NOTHING),
    ends("ForkBomb", O.TOO_MANY_PROCESSES, PATIENT),
    ends("ThreadBomb", O.TOO_MANY_PROCESSES, PATIENT),
]
RAISES = [
    answers("Raises", O.RAISED, stage="learn", type="ValueError", message="no way", line=27),
    answers("RaisesInSupports", O.RAISED, type="LookupError", message="not today", line=32),
    answers("Refuses", O.UNSUPPORTED, reason="it learns nothing of the kind"),
    answers("RaisesBase", O.RAISED, type="OwnBase", message="below"),
    answers("RaisesInterrupt", O.RAISED, type="KeyboardInterrupt"),
    answers("StrRaises", O.RAISED, type="Mute", message=""),
    answers("StrHuge", O.RAISED, message="x" * 500),
    answers("Recursion", O.RAISED, type="RecursionError"),
    answers("RaisesInPredict", O.RAISED, stage="predict", type="KeyError", message="'where'"),
]
RETURNS = [
    answers("NoHypothesis", O.INVALID),
    answers("AnObject", O.INVALID),
    answers("NotCallable", O.INVALID),
    answers("NotANumber", O.INVALID, reason="262144 of 262144 not finite"),
    answers("Infinite", O.INVALID, reason="1 of 262144 not finite"),
    answers("TooLarge", O.INVALID, reason="262144 of 262144 not finite"),
    answers("WrongShape", O.INVALID, **wrong("float64", "(3,)")),
    answers("OneShort", O.INVALID, **wrong("float64", "(16383, 2, 8)")),
    answers("Complex", O.INVALID, **wrong("complex128")),
    answers("Strings", O.INVALID, **wrong("<U1")),
    answers("Objects", O.INVALID, **wrong("object")),
    answers("Iterator", O.INVALID, reason="predict gave a list_iterator"),
    answers("Nothing", O.INVALID, reason="predict gave a NoneType"),
    answers("ChangesTokens", O.LEARNED_NOTHING),
    answers("HugeDetails", O.LEARNED_NOTHING, dropped="details of over 65536 characters"),
    answers("DeepDetails", O.LEARNED_NOTHING),
    answers("OddDetails", O.LEARNED_NOTHING, big="an integer of 16610 bits"),
    answers("BadDetails", O.LEARNED_NOTHING),
    answers("HugeSecret", O.INVALID, reason="a secret of too many or too large numbers"),
    answers("WrongSecret", O.LEARNED_NOTHING),
    answers("SecretOfTexts", O.INVALID, reason="a secret of type tuple"),
    answers("ClaimsSolved", O.LEARNED_NOTHING),
    answers("ClaimsCrashed", O.LEARNED_NOTHING),
    answers("OutcomeOfText", O.INVALID, reason="an outcome of type str"),
]
TAKES = [
    takes("AtOnce", O.MEMORY_SPENT, PATIENT),
    takes("BitByBit", O.MEMORY_SPENT, PATIENT),
    takes("ByChildren", O.MEMORY_SPENT, PATIENT),
    takes("MemoryFile", O.MEMORY_SPENT, PATIENT),
    takes("Mapped", O.MEMORY_SPENT, PATIENT),
    takes("Files", O.RAISED, type="OSError"),
    takes("Limits", O.RAISED, type="OSError"),
    takes("AllExamples", O.EXAMPLES_SPENT),
    takes("TooManyExamples", O.LEARNED_NOTHING, got=1000),
    takes("NegativeExamples", O.RAISED, type="UsageError"),
    takes("HalfAnExample", O.RAISED, type="TypeError"),
    takes("Prints", O.LEARNED_NOTHING, printed="hello ?[31mred?[0m ? and this\nalso here\n"),
    takes("Floods", O.LEARNED_NOTHING, PATIENT),
    takes("LocksFolder", O.LEARNED_NOTHING),
]
TAMPERS = [
    tampers("Closes", O.BROKE_OFF),
    tampers("Junk", O.BROKE_OFF),
    tampers("LongMessage", O.BROKE_OFF),
    tampers("DeepMessage", O.BROKE_OFF),
    tampers("OddOperation", O.BROKE_OFF),
    tampers("ForgedExamples", O.BROKE_OFF),
    tampers("ForgedLearned", O.BROKE_OFF),
    tampers("ForgedQuery", O.RAISED, type="UsageError"),
    tampers("Evaluates", O.RAISED, type="UsageError"),
    tampers("Globals", O.LEARNED_NOTHING),
    Case(
        learner="tampers:Patches", outcome=O.LEARNED_NOTHING, says={"forged": True}, budget=PATIENT
    ),
    tampers("Imposes", O.EXAMPLES_SPENT),
]
REFUSED = {"type": "PermissionError"}
CONFINED = [
    ends("StopsParent", O.RAISED, **REFUSED),
    ends("TermsParent", O.RAISED, **REFUSED),
    ends("TermsGroup", O.RAISED, **REFUSED),
    ends("KillsParent", O.RAISED, **REFUSED),
    ends("KillsParentWithDaemon", O.RAISED, **REFUSED),
    ends("KillsGroup", O.RAISED, **REFUSED),
    ends(
        "Signals",
        O.LEARNED_NOTHING,
        may={"guard": False, "driver": False, "group": False, "init": False},
    ),
    takes("SharedMemory", O.MEMORY_SPENT, PATIENT),
    takes("RemovesFolder", O.RAISED, **REFUSED),
    takes("WritesFiles", O.LEARNED_NOTHING, wrote={"own": True, "tmp": False, "beside": False}),
]
KILLED = {"signal": "its guard was killed"}
OPEN = [  # what holds where the system confines nobody
    ends("StopsParent", O.LEARNED_NOTHING),
    ends("TermsParent", O.LEARNED_NOTHING),
    ends("TermsGroup", O.LEARNED_NOTHING),
    ends("KillsParent", O.CRASHED, **KILLED),
    ends("KillsParentWithDaemon", O.CRASHED, **KILLED),
    ends("KillsGroup", O.CRASHED, **KILLED),
    ends("Segfault", O.CRASHED, signal="SIGSEGV"),
    ends("Loop", O.SECONDS_SPENT, **BY_GUARD),
    ends("Daemon", O.LEARNED_NOTHING, processes_left=1),
    ends("ForkBomb", O.TOO_MANY_PROCESSES, PATIENT),
    takes("BitByBit", O.MEMORY_SPENT, PATIENT),
    takes("RemovesFolder", O.LEARNED_NOTHING),
    tampers("Closes", O.BROKE_OFF),
]
EVERYWHERE = NEVER + EARLY + LEAVES + RAISES + RETURNS + TAKES + TAMPERS
needs_landlock = pytest.mark.skipif(landlock.version() < 6, reason="the system confines nobody")


@pytest.fixture(scope="module")
def impatient():
    """Short graces: nobody waits for what never ends."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(foreign, "_GRACE", 0.3)
        patch.setattr(foreign, "_JUDGING", 2.0)
        yield patch


@pytest.fixture(scope="module")
def confined(impatient):
    with nothing_left():
        return at_once(EVERYWHERE + (CONFINED if landlock.version() >= 6 else []))


@pytest.fixture(scope="module")
def unconfined(impatient):
    with pytest.MonkeyPatch.context() as patch, nothing_left():
        patch.setattr(foreign, "CONFINE", False)
        return at_once(OPEN)


def agrees(case, found):
    assert found.outcome is case.outcome, (found.outcome, found.details)
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
    Case(learner="well:Eliminates", outcome=O.SOLVED),
    ends("Segfault", O.CRASHED),
    Case(learner="well:Eliminates", outcome=O.SOLVED, budget=PATIENT),
    tampers("Junk", O.BROKE_OFF),
    ends("Daemon", O.LEARNED_NOTHING),
    Case(learner="well:Guesses", outcome=O.LEARNED_NOTHING),
]


def bare(found):
    """What must not depend on who else runs: all but times and memory."""
    data = found.to_json()
    del data["usage"]["seconds"], data["usage"]["peak_bytes"]
    kept = {"cpu_seconds", "startup_seconds"}
    return data | {"details": {k: v for k, v in data["details"].items() if k not in kept}}


def test_neighbours_in_a_pool_are_unharmed():
    resource_tracker.ensure_running()  # it stays, as it does for every pool
    with nothing_left():
        beside = dict(execute(one, NEIGHBOURS, jobs=2))
    for number, case in enumerate(NEIGHBOURS):
        assert beside[number].outcome is case.outcome
        if case.learner.startswith("well"):
            assert bare(beside[number]) == bare(one(case))
