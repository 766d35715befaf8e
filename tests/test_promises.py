"""Promises to users, as commands and Python calls with what they must answer: tests/promises.toml.

`make test-promises` runs them and names every one that is broken, each with all that it answered
otherwise. They know no module of the project but `hardness` and `instances`.
"""

import json
import math
import re
import runpy
import shlex
import shutil
import tomllib
from collections import Counter
from pathlib import Path

import pytest

import cli

HERE = Path(__file__).parent
PROMISES = tomllib.loads((HERE / "promises.toml").read_text(encoding="utf-8"))["promise"]
STEP = {"run", "python", "code", "out", "not_out", "err", "json", "claims", "files", "gone"}


@pytest.mark.promises
@pytest.mark.parametrize("promise", PROMISES, ids=lambda one: f"{one['room']}: {one['says']}")
def test_a_promise_is_kept(promise, tmp_path, monkeypatch, capfd):
    broken = list(broken_by(promise, tmp_path, monkeypatch, capfd))
    assert not broken, "\n".join([f"from {promise['from']}", *broken])


def broken_by(promise, folder, monkeypatch, capfd):
    """What of a promise does not hold, step by step, in a folder of its own."""
    monkeypatch.chdir(folder)
    shutil.copytree(HERE.parent / "docs/examples", "docs/examples")
    for name, text in promise.get("files", {}).items():
        Path(name).write_text(text, encoding="utf-8")
    for step in promise["do"]:
        what = step.get("run") or f"python {step['python'].strip().splitlines()[-1]}"
        for said in differences(step, *answer(step, capfd)):
            yield f"$ {what}\n    {said}"


def answer(step, capfd):
    """Exit code, stdout and stderr of a step."""
    capfd.readouterr()
    code = 0
    try:
        if "run" in step:
            program, *arguments = shlex.split(step["run"])
            assert program == "hardness", step["run"]
            cli.main(arguments)
        else:
            Path("promise.py").write_text(step["python"], encoding="utf-8")
            runpy.run_path("promise.py")
    except SystemExit as left:
        code = left.code or 0
    except Exception as error:
        return -1, capfd.readouterr().out, f"{type(error).__name__}: {error}"
    return code, *capfd.readouterr()


def differences(step, code, out, err):
    """Each thing that a step should have answered, and did not."""
    if code != step.get("code", 0):
        yield f"exit code {code}, not {step.get('code', 0)}: {err.strip()[-300:]}"
    shown, said = words(out), words(err)
    yield from (f"not on stdout: {one}" for one in step.get("out", []) if words(one) not in shown)
    yield from (f"on stdout: {one}" for one in step.get("not_out", []) if words(one) in shown)
    yield from (f"not on stderr: {one}" for one in step.get("err", []) if words(one) not in said)
    if "err" in step and code and not re.fullmatch(r"hardness: .*\n", err):
        yield f"no single line on stderr: {err[:300]!r}"
    yield from (f"no file {name}" for name in step.get("files", []) if not Path(name).exists())
    yield from (f"left behind: {name}" for name in step.get("gone", []) if Path(name).exists())
    if "json" in step or "claims" in step:
        try:
            data = json.loads(out)
        except ValueError:
            yield f"no JSON on stdout: {out[:300]!r}"
            return
        for place, wanted in step.get("json", {}).items():
            found = at(data, place)
            if not alike(found, wanted):
                yield f"{place} is {found!r}, not {wanted!r}"
        every = Counter(claims(data))
        for name, value in step.get("claims", {}).items():
            if not every[name, value]:
                yield f"{name} is {[v for n, v in every if n == name]}, not {value}"


def words(text):
    """Text without the places where lines are folded, and without a learner's notes of time."""
    return " ".join(text.split())


def at(data, place):
    """What stands at names and numbers between slashes."""
    for name in place.split("/"):
        try:
            data = data[int(name)] if isinstance(data, list) else data[name]
        except (KeyError, IndexError, ValueError, TypeError):
            return f"nothing at {name}"
    return data


def alike(found, wanted):
    if isinstance(found, float) and isinstance(wanted, int | float):
        return math.isclose(found, wanted, rel_tol=1e-6, abs_tol=1e-9)
    return found == wanted and isinstance(found, bool) == isinstance(wanted, bool)


def claims(data):
    """All (quantity, value) of a certificate, wherever they stand in it."""
    if isinstance(data, list):
        for one in data:
            yield from claims(one)
    elif isinstance(data, dict) and {"quantity", "value"} <= set(data):
        yield data["quantity"], data["value"]
    elif isinstance(data, dict):
        yield from claims(list(data.values()))


def test_there_are_150_in_all_rooms():
    assert len(PROMISES) == 150
    assert min(Counter(one["room"] for one in PROMISES).values()) >= 7
    for promise in PROMISES:
        assert set(promise) <= {"room", "says", "from", "files", "do"}
        for step in promise["do"]:
            assert set(step) <= STEP
            assert ("run" in step) != ("python" in step)
            assert set(step) & (STEP - {"run", "python"}) or promise["do"][-1] is not step
    assert len({one["says"] for one in PROMISES}) == len(PROMISES)


def test_every_broken_part_of_a_promise_is_named(tmp_path, monkeypatch, capfd):
    false = {
        "files": {"here": ""},
        "do": [
            {
                "run": "hardness certify parity:d=8,m=3 --json",
                "code": 1,
                "out": ["no such words"],
                "not_out": ["sq-dimension"],
                "err": ["no complaint"],
                "json": {"about/spec": "parity", "no/such": 1},
                "claims": {"sq-dimension": "36", "pairwise-correlation": "0"},
                "files": ["nowhere"],
                "gone": ["here"],
            },
            {"run": "hardness check nowhere.json", "err": ["nowhere.json"]},
            {"python": "import hardness\nhardness.certify('parity:d=8')"},
            {"python": "print(1)", "json": {"a": 1}},
            {"python": "raise SystemExit(3)", "code": 3, "out": ["words"]},
        ],
    }
    broken = list(broken_by(false, tmp_path, monkeypatch, capfd))
    said = [one.partition("\n    ")[2] for one in broken]
    assert said.pop(6) == "about/spec is 'parity:d=8,m=3,noise=0,rho=3', not 'parity'"
    assert said[9].endswith("UsageError: parity needs m: write parity:d=32,m=3")
    assert [one.partition(":")[0] for one in said] == [
        "exit code 0, not 1",
        "not on stdout",
        "on stdout",
        "not on stderr",
        "no file nowhere",
        "left behind",
        "no/such is 'nothing at no', not 1",
        "sq-dimension is ['35'], not 36",
        "exit code 1, not 0",
        "exit code -1, not 0",
        "a is 'nothing at a', not 1",
        "not on stdout",
    ]


def test_a_true_promise_is_kept(tmp_path, monkeypatch, capfd):
    true = {
        "do": [
            {"run": "hardness certify parity:d=8,m=3 --out c.json", "files": ["c.json"]},
            {"run": "hardness check nowhere.json", "code": 1, "err": ["nowhere.json"]},
            {"python": "print('{\"a\": [1, 0.1]}')", "json": {"a/0": 1, "a/1": 0.1000000001}},
        ]
    }
    assert list(broken_by(true, tmp_path, monkeypatch, capfd)) == []
