"""Every command on small things: what it prints fits 80 columns, specs are as short as given.

The commands run once, in this order, in one folder: each may read what those before it wrote.
"""

import contextlib
import io
import shlex
from pathlib import Path

import pytest

import cli
from hardness.runs.names import brief_spec
from instances.spec import known
from tests.test_commands import COMMANDS

LWE = "lwe:n=6,q=31,sigma=1"
LONG = "lwr:n=64,q=256,p=2,secret=binary,h=6"
SWEEP = """\
format = "hardness-sweep/1"
name = "a sweep with a long name, which is cut where it has to be"
seeds = 1
[budget]
examples = 2000
[[runs]]
spec = "parity:m=2"
over = { d = [8, 10], noise = [0, 0.1] }
learners = ["elimination:checks=20", "lowdegree:degree=2,oversample=9", "student:steps=20,rate=0.1"]
"""
EXAMPLES = (
    "families --out families.json",
    *("families show lwr", "families show darmstadt-40-005", "families show ml-kem-1024"),
    *(
        "learners --out learners.json",
        "learners show student",
        "learners check nearest.py:nearest --out nearest.json",
    ),
    "learners new own.py",
    "generate parity:d=8,m=2 --examples 60 --out folder",
    f"generate {LWE},secret=gaussian,spread=1,heads=exact --examples 90 --out lwe",
    *("inspect nice:m=2,k=2,d=16 --seed 1", "inspect folder --out i.json", "inspect lightsaber"),
    "inspect parity:d=8,m=4 --rewrite matched --save-layer matched.npz",
    *("measures parity:d=12,m=3 --out measures.json", "measures profile:g=majority,d=12,m=3"),
    *(
        "reduce attention-to-lwr lwe --out samples.npz",
        "reduce lwr-to-attention samples.npz --out x",
    ),
    *("certify parity:d=16,m=3 --out c.json", f"certify {LONG}", "certify parity-tilted"),
    "certify parity:d=1001,m=20,noise=0.1 --about all --steps 1e9",
    "certify majorities.py:threes",
    *("check c.json --out checked.json", "cite c.json --out cited.json"),
    "verify parity:d=12,m=2 --members 20 --samples 2000 --out v.json",
    *("estimate darmstadt-60-020 --out e.json", "estimate toy-80", f"estimate {LONG}"),
    *("learn staged parity:d=16,m=3", "learn lifted linear:m=20,k=3,d=6 --out l.json"),
    f"learn linear:oversample=40 {LWE},error=gaussian",
    "learn pooled parity:d=16,m=3 --oracle adversary --transcript game.json",
    "check game.json",
    f"attack {LWE} --learner bruteforce --learner mlp:steps=2 --seeds 1 --jobs 1 --out attack.json",
    "attack lwe:n=6,q=31,error=cbd,eta=1 --learner trivial --learner mlp:steps=2 --seeds 1",
    "distinguish student:steps=20,rate=0.05 parity:d=8,m=2 --trials 2 --jobs 1 --out dist.json",
    "spectrum parity:d=8,m=2 --learner student:steps=20,rate=0.05 --out spectrum.json",
    "compare parity:m=2 --over d=6..10..2 --learner queries --learner elimination --seeds 2 "
    "--jobs 1 --out both",
    "compare lwr:q=16,p=2,secret=binary,h=3 --over n=5,6 --learner student:steps=20,rate=0.05 "
    "--learner mlp:steps=2,width=20 --learner bruteforce:samples=300 --seeds 1 --jobs 1",
    "compare profile:g=majority,m=3 --over d=8,1001 --learner none",
    "map parity:d=20,m=3,noise=0.1 --learner restricted --seeds 1 --out map",
    "stress --list",
    *("stress --list --ladder lwr-v1", "stress --list --ladder nice-v1"),
    "stress --learner lowdegree:degree=2,oversample=9 --learner student:steps=20,rate=0.05 "
    "--reference elimination:checks=20 --on parity:d=8,m=2 --on parity:d=9,m=2,noise=0.1 --seed 1 "
    "--jobs 1 --out climb.json",
    f"stress --learner trivial --learner elimination --on {LWE} --on {LONG} --seeds 2 --jobs 1",
    "challenge create parity:d=16,m=3 --examples 60 --secret secret.json --out public",
    "challenge submit public --name ann --learner elimination --out ann.safetensors",
    "challenge submit public --name bob --claim [2,5,7] --out bob.safetensors",
    "challenge score public --secret secret.json ann.safetensors --out score.json",
    "sweep plan s.toml --out plan.json",
    "sweep run s.toml --store s.db --jobs 1",
    "sweep status s.db --out status.json",
    "store show s.db --out show.json",
    "store export s.db --out s.csv",
    'store query s.db "SELECT * FROM runs LIMIT 2" --out query.json',
    'store query s.db "SELECT spec, learner, seed FROM runs LIMIT 2"',
    "store merge s.db --out merged.db",
    "store check s.db --out check.json",
    "icl optimum --d 3 --n 6 --samples 200 --out optimum",
    "icl steps --d 3 --n 6 --layers 2 --out steps",
    "icl train --d 2 --n 4 --layers 1 --steps 3 --samples 16 --out train",
    "icl curves --d 2 --n 4 --layers 1 --steps 3 --samples 16 --out curves",
    "icl optimizers --d 2 --n 4 --layers 1 --steps 5 --batch 8 --rates 0.05 --seeds 1 --tuning 1 "
    "--out optimizers",
    "icl softmax --d 2 --n 4 --layers 1 --heads 1 --prompts 20 --steps 3 --out softmax",
    "figure",
    "figure walsh parity:d=8,m=2 --out walsh.svg",
    "figure both-sides both --out both.svg",
    "report both --jobs 1 --out report.html",
)
# Half a minute; what it prints is held by the README.
NOT_HERE = {"demo"}


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What each command prints, by its line."""
    folder, examples = tmp_path_factory.mktemp("all"), Path(cli.__file__).parent / "docs/examples"
    for name in ("nearest.py", "majorities.py"):
        (folder / name).write_text((examples / name).read_text())
    (folder / "s.toml").write_text(SWEEP)
    found = {}
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        for line in EXAMPLES:
            out, err = io.StringIO(), io.StringIO()
            with (
                contextlib.redirect_stdout(out),
                contextlib.redirect_stderr(err),
                pytest.raises(SystemExit) as left,
            ):
                cli.main(shlex.split(line))
            found[line] = (left.value.code, out.getvalue(), err.getvalue())
    return found


def test_lines_fit_80_columns(printed):
    """All lines in one test, as in the next: each process of tests would run all commands."""
    assert {line: err for line, (code, _, err) in printed.items() if code} == {}
    shown = {line: out for line, (_, out, _) in printed.items()}
    wide = {line: [one for one in out.splitlines() if len(one) > 80] for line, out in shown.items()}
    assert {line: found for line, found in wide.items() if found} == {}
    assert [line for line, out in shown.items() if "\x1b" in out] == []


def test_specs_are_as_short_as_they_were_given(printed):
    starts = tuple(f"{name}:" for name in known())
    long = set()
    for line, (_, out, _) in printed.items():
        if line.startswith(("cite", "store query")):  # a paper outlives defaults; a cell is data
            continue
        words = [word.strip("`;,.:()") for word in out.split()]
        specs = {word for word in words if word.startswith(starts) and "=" in word}
        long |= {(line, spec) for spec in specs if len(brief_spec(spec)) < len(spec)}
    assert long == set()


def test_every_command_is_among_them():
    done = {p for p in COMMANDS if any(f"{line} ".startswith(f"{p} ") for line in EXAMPLES)}
    assert set(COMMANDS) - done == NOT_HERE
