"""Rows for the tests of stores, and child processes by fork, which need not import all again."""

import ctypes
import dataclasses
import os
import sqlite3
import warnings
from contextlib import closing
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from hardness.lower import BoundParameters, certify
from hardness.oracles import Budget
from hardness.runs.rows import CertificateRow, SweepRow
from hardness.runs.run import run
from hardness.sweep.jobs import run_job
from hardness.upper import Outcome, parse_learner
from instances import parse

BUDGET = Budget(examples=100, seconds=2.5)
NAMES = ("trivial", "elimination", "lowdegree")
SPEC = "parity:d=10,m=2,noise=0,rho=2"
TERMS = BoundParameters()
CERTIFICATE = certify(parse(SPEC), TERMS).to_dict()
_NEW_USER, _NEW_MOUNTS, _BIND, _REMOUNT, _READ_ONLY = 0x10000000, 0x20000, 4096, 32, 1


def _job(i):
    """The spec, the learner and the seed of a run by its number."""
    return SPEC.replace("d=10", f"d={9 + i % 2}"), NAMES[i % 3], i // 6


def key(i):
    """Of the job that `made_run(i)` was."""
    spec, name, seed = _job(i)
    return run_job(spec, parse_learner(name), seed, BUDGET).key


@cache
def _base(learner):
    return run(parse_learner(learner), parse(SPEC).instance(0), BUDGET)


def made_run(i, **changed):
    """A run as a sweep stores it; every tenth has crashed."""
    spec, name, seed = _job(i)
    one = replace(_base(name), seed=seed, spec=spec, key=key(i))
    if i % 10 == 9:
        changed = {"risk": None, "secret_recovered": None, "details": {"why": "signal 9"}} | changed
        changed.setdefault("outcome", Outcome.CRASHED)
    return replace(one, **changed)


def rows(count):
    """Runs and a certificate."""
    terms = TERMS.to_dict()
    row = CertificateRow(key="c" * 32, spec=SPEC, terms=terms, certificate=CERTIFICATE)
    return [*map(made_run, range(count)), row]


def sweep(**changed):
    one = SweepRow(
        name="small", text="[sweep]", engine="local", slots=2, planned={"trivial": 3},
        done={"trivial": 1}, started=1.0, updated=2.0,
        climbs={"climbs 1": {"base_seed": 2**63 + 1}},
    )  # fmt: skip
    return dataclasses.replace(one, **changed)


def edit(path, change):
    """Change a store behind its back, by one statement or several: how many rows the last hit."""
    with closing(sqlite3.connect(path)) as connection:
        for one in change.split("; "):
            hit = connection.execute(one).rowcount
        connection.commit()
        return hit


def forked(work):
    """Start a child that writes lines to a pipe: its process id, and where to read them."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of fork beside threads
        pid = os.fork()
    if pid:
        os.close(writing)
        return pid, os.fdopen(reading)
    try:
        os.close(reading)
        with os.fdopen(writing, "w", buffering=1) as out:
            try:
                work(out)
            except BaseException as error:
                out.write(f"{type(error).__name__}: {error}\n")
    finally:
        os._exit(0)


def said(work):
    """Return the lines that a child writes until it ends."""
    pid, lines = forked(work)
    with lines:
        found = lines.read().splitlines()
    os.waitpid(pid, 0)
    if found and "namespaces" in found[0]:
        pytest.skip(found[0])
    return found


def mount(folder, megabytes):
    """In a child: mount a small disk on a folder, or with None the folder itself read-only."""
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()

    def call(name, *arguments):
        if getattr(libc, name)(*arguments):
            raise OSError(ctypes.get_errno(), f"namespaces are not allowed here: {name}")

    call("unshare", _NEW_USER | _NEW_MOUNTS)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"0 {user} 1"),
        ("gid_map", f"0 {group} 1"),
    ):
        Path(f"/proc/self/{name}").write_text(text)
    place = os.fsencode(folder)
    if megabytes is not None:
        call("mount", b"tmpfs", place, b"tmpfs", 0, f"size={megabytes}m".encode())
        return
    call("mount", place, place, None, _BIND, None)
    call("mount", None, place, None, _BIND | _REMOUNT | _READ_ONLY, None)
