"""Values that no command line can give: every function refuses them in a line before any work."""

import functools
import json
import pickle
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import hardness as h
from hardness.api.figures import figure_file
from instances import disk
from instances.errors import AlreadyExists, UsageError

SPEC, NAN, INF = "parity:d=8,m=2", float("nan"), float("inf")


@functools.cache
def estimated():
    return h.estimate("lwe:n=30,q=521,sigma=1.5")


CALLS = {
    "certify": lambda **given: h.certify(SPEC, **given),
    "verify": lambda **given: h.verify(SPEC, **{"members": 3, "samples": 100, **given}),
    "estimate": lambda **given: h.estimate("lwe:n=30,q=521,sigma=1.5", **given),
    "learn": lambda **given: h.learn("elimination", SPEC, **given),
    "attack": lambda **given: h.attack(SPEC, "elimination", **{"jobs": 1, "seeds": 1, **given}),
    "compare": lambda **given: h.compare(
        "parity:m=2", **{"over": "d=6", "learner": "trivial", "jobs": 1, "seeds": 1, **given}
    ),
    "least": lambda **given: h.least(
        SPEC, **{"learner": "trivial", "jobs": 1, "seeds": 6, "budget_examples": 8, **given}
    ),
    "stress": lambda **given: h.stress(
        "trivial", **{"on": SPEC, "reference": [], "jobs": 1, "seeds": 1, "seed": 1, **given}
    ),
    "figure": lambda **given: figure_file(
        **{"name": "sda", "source": SPEC, "out": "a.svg", **given}
    ),
    "sweep": lambda **given: h.sweep(**{"file": "a.toml", "out": "a.db", **given}),
    "check": lambda **given: h.check(**given),
    "load": lambda **given: h.Certificate.load(**given),
    "save": lambda **given: estimated().save(**given),
}
NOT_WHOLE = (1.5, "3", NAN, INF, True, np.float64(2), np.True_, b"3", [1], 1j, -1)
NOT_NUMBERS = (None, NAN, INF, "x", True, 1j, [0.1], np.float64("nan"), 10**5000, np.ones(2))
NOT_PATHS = (None, 5, b"x.csv", "a\0.csv", "x" * 300 + ".csv", "\ud800.csv", "a/" * 3000, "", True)
BUDGETS = ("budget_examples", "budget_queries", "budget_values")
RUN = ("learn", "attack", "compare", "least", "stress")
WHOLE = {
    "certify": ("vstat", "members", "steps"),
    "verify": ("members", "samples", "seed"),
    "estimate": ("samples",),
    "learn": ("seed",),
    **dict.fromkeys(("attack", "compare", "least", "stress"), ("seeds", "seed", "jobs")),
    "sweep": ("jobs",),
}
REQUIRED = {
    "certify": ("vstat",),
    "verify": ("members", "samples", "seed"),
    "attack": ("seeds", "seed"),
    "compare": ("seeds", "seed", "over"),
    "least": ("seeds", "seed", "unit", "total"),
    "stress": ("seeds", "on"),
    "figure": ("name", "source"),
    "sweep": ("backend",),
}
PATHS = {
    **{"sweep": ("file",), "load": ("path",), "save": ("path",)},
}
REFUSED = [
    *(
        (f, n, v)
        for f, names in WHOLE.items()
        for n in names
        for v in NOT_WHOLE
        if (f, v) != ("estimate", "3")
    ),
    *((f, n, v) for f in RUN for n in BUDGETS for v in (*NOT_WHOLE, 0)),
    *((f, "budget_memory", v) for f in RUN for v in (1.5, True, "x", 0, -1)),
    *((f, n, v) for f in RUN for n in ("budget_seconds", "budget_cpu") for v in NOT_NUMBERS[1:]),
    *(("certify", n, v) for n in ("tau", "risk", "success", "gamma") for v in NOT_NUMBERS),
    *((f, n, v) for f, n in (("verify", "confidence"), ("learn", "tau")) for v in NOT_NUMBERS),
    *((f, n, None) for f, names in REQUIRED.items() for n in names),
    *((f, n, v) for f, names in PATHS.items() for n in names for v in NOT_PATHS),
    *((f, "samples", 0) for f in ("verify", "estimate")),
    *((f, n, "no") for f, n in (("certify", "centred"), ("figure", "force"), ("sweep", "fresh"))),
    *(("figure", "out", v) for v in NOT_PATHS[1:]),
    *(("figure", n, v) for n, v in (("width", "x"), ("width", 0), ("where", 5), ("out", "a.txt"))),
    *(("learn", "oracle", v) for v in ("x", None, 5)),
    *(("stress", n, v) for n, v in (("ladder", 5), ("on", 5), ("on", [None]), ("on", {"a": 1}))),
    *(("compare", "over", v) for v in (5, ["d=6"], "", "d=" + 9999 * "x")),
    *(("attack", "spec", v) for v in (5, "x\n" * 9999)),
    *(("check", "source", v) for v in (None, 5, b"x", "a\0b", "x" * 300)),
]


def refusal(call, **given):
    """What a call says that refuses these, or what is wrong with how it ended."""
    try:
        call(**given)
    except UsageError as error:
        said = str(error)
        return said if "\n" not in said and len(said) <= 1000 else f"not one line: {said!r}"
    except Exception as error:
        return f"not refused but raised: {error!r}"
    return "not refused"


@pytest.mark.parametrize("name", CALLS)
def test_what_cannot_be_meant_is_refused_in_a_line(name):
    asked = [(argument, value) for function, argument, value in REFUSED if function == name]
    said = [
        (argument, value, refusal(CALLS[name], **{argument: value})) for argument, value in asked
    ]
    assert [one for one in said if one[2].startswith("not ")] == []


TAKEN = [
    ("certify", {"tau": np.float64(0.1), "vstat": np.int64(100), "risk": np.float32(0.25)}),
    ("verify", {"members": np.int64(5), "samples": np.int32(1000), "confidence": "99/100"}),
    ("estimate", {"samples": np.int64(100)}),
    ("learn", {"budget_examples": np.int64(1000), "budget_seconds": Fraction(5), "tau": 0.1}),
    ("learn", {"seed": np.uint8(3), "budget_seconds": "1e1", "budget_cpu": np.float32(2.5)}),
    ("attack", {"seeds": np.int64(2), "budget_examples": np.int16(2000)}),
    ("compare", {"seeds": np.int64(2), "seed": np.int64(2), "budget_memory": np.int64(10**9)}),
    ("stress", {"seeds": np.int64(2), "budget_queries": np.int64(100)}),
]


@pytest.mark.parametrize(("name", "given"), TAKEN)
def test_numbers_of_other_libraries_are_those_of_python(name, given, tmp_path):
    plain = {k: v.item() if hasattr(v, "item") else v for k, v in given.items()}
    ours, theirs = (CALLS[name](**one) for one in (plain, given))
    for form in ("json", "csv", "md", "tex"):
        theirs.save(tmp_path / f"it.{form}")
    filed = json.loads((tmp_path / "it.json").read_text())
    assert set(filed) <= set(ours.to_dict())  # what follows from it is left out
    assert kinds(ours.to_dict()) == kinds(theirs.to_dict())


def kinds(data):
    """Types of a dictionary's values, which json tells apart."""
    return {name: type(value) for name, value in data.items()}


def test_an_object_is_not_taken_for_what_is_built_in():
    def elimination(x, y):
        return lambda x: 0.0 * x

    class Own:
        name, access, revision, about = "lowdegree:degree=3", "examples", 1, "mine"

        def supports(self, family):
            return None

        def learn(self, oracle, rng):
            return lambda x: 0.0 * x

    assert h.learner(elimination).name == "object elimination"
    assert "object elimination on" in repr(h.learn(elimination, SPEC))
    assert h.learn(Own(), SPEC).learner == "object lowdegree:degree=3"
    for built_in in ("lowdegree:degree=3", "mine.py:Own"):
        assert h.learner(h.learner(built_in)) == h.learner(built_in)


@pytest.mark.parametrize("call", [h.family, h.learner, h.certify], ids=lambda f: f.__name__)
def test_what_is_not_known_is_quoted_in_part(call):
    for text in ("x" * 100_000, "a\nb", "parity:" + "d" * 9999 + "=8", "(" * 999):
        with pytest.raises(UsageError) as error:
            call(text)
        assert "\n" not in str(error.value)
        assert len(str(error.value)) < 700
        again = pickle.loads(pickle.dumps(error.value))
        assert (type(again), str(again)) == (type(error.value), str(error.value))


def test_a_name_too_long_is_no_name_that_exists():
    for refuse in (disk.refuse_existing, lambda p: disk.refuse_foreign(p, False, ("a",))):
        with pytest.raises(h.ToolkitError, match="too long") as error:
            refuse(Path("x" * 300))
        assert not isinstance(error.value, AlreadyExists)


WORK = [
    f"learn slow.py:f {SPEC} --out r.parquet",
    f"stress --learner slow.py:f --on {SPEC} --out s.parquet",
    f"certify {SPEC} --out c.any --format parquet",
]


@pytest.mark.parametrize("line", WORK, ids=[line.split()[0] for line in WORK])
def test_parquet_without_pyarrow_is_refused_before_any_run(line, hardness, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slow.py").write_text("open('started', 'w')\n")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    hardness(*line.split()).one_line("needs pyarrow, which is not installed")
    assert [path.name for path in tmp_path.iterdir()] == ["slow.py"]
