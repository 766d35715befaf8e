"""Mistakes: each is answered by one line with the cure and an exit code; nothing is left.

Numbers are read in one place, of which tests/test_arguments.py has the mistakes.
"""

import contextlib
import json
import os
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest

import cli
from hardness import compare
from hardness.sweep.store import create
from instances import AttentionLayer, save_layer
from instances.spec import VARIABLE


def _of(command, *rows):
    return [(f"{command} {line}", code, *words) for line, code, *words in rows]


# A line, its exit code, and words of what it says.
MISTAKES = [
    ("attack lwr:n=4,q=16,p=2 --learner nothing", 2, "unknown learner"),
    ("attack nice:m=2,k=2,d=8", 2, "nice given: it lacks `linear_forms`"),
    ("attack lwr:n=8,q=16,p=2 --learner modlinear", 2, "modlinear cannot run on"),
    (
        "attack lwe:n=8,q=97,sigma=1 --learner primal,bruteforce",
        2,
        "--learner primal --learner bruteforce",
    ),
    ("attack lpn:n=16,h=3,noise=0 --learner bruteforce --learner primal", 2, "primal cannot run"),
    ("attack lwe:n=8,q=97,sigma=1 --spec lwe:n=8,q=97,sigma=1", 2, "for a file of samples"),
    ("attack primal", 2, "it is a learner"),
    ("attack parity:d=8,m=2 --with primal", 2, "It is --learner now"),
    ("icl train --method adam", 2, "It is --optimizer now"),
    ("certify partiy:d=8,m=2", 2, "did you mean 'parity'"),
    ("certify parity-frist", 2, "did you mean 'parity-first'"),
    ("certify parity d=8 m=2", 2, "arguments (d=8 m=2): see `hardness certify -h`"),
    ("certify parity:d=8,m=2 --tau x", 2, "number"),
    ("certify parity:d=8,m=2 --tua 0.1", 2, "--tau"),
    ("certify profile:g=3,d=8,m=3", 2, "no function of h"),
    ("certify profile:g=" + "-" * 400 + "h,d=8,m=3", 2, "nested too deeply"),
    ("certify profile:g=majority,d=8,m=3 --gamma 0", 2, "gamma"),
    ("certify", 2, "SOURCE"),
    ("certify " + "x" * 5000, 2, "unknown"),
    ("certify parity:d=1" + "0" * 300 + ",m=3", 2, "integer"),
    ("certify nowhere.py:Family", 2, "no such file"),
    ("certify mine.py", 2, "path.py:Name"),
    ("certify mine.py:", 2, "path.py:Name"),
    ("certify mine.py:a-b", 2, "path.py:Name"),
    ("certify mine.py:fs --method sampling", 2, "--method"),
    ("certify mine.py:fs --samples 10", 2, "--samples"),
    ("certify mine.py:fs --confidence 0.9", 2, "--confidence"),
    ("certify mine.py:fs --members 3", 2, "1 to the 2 that there are"),
    ("certify parity:d=8,m=2 --members 3", 2, "--members does not apply"),
    ("certify mine.py:one --centred", 2, "leave --centred"),
    ("certify mine.py:Wide", 2, "`hardness verify` shows sampled correlations"),
    ("certify mine.py:smooth", 2, "`hardness verify` shows sampled correlations"),
    ("certify layers", 2, "`hardness verify` shows sampled correlations"),
    ("certify parity:d=8,m=2 --centred", 2, "--centred does not apply"),
    ("certify empty", 2, "holds neither layers"),
    ("certify parity:d=8,m=2 --output c.json", 2, "Did you mean --out?"),
    ("certify parity:d=8,m=2 --tau 0.1 --tau 0.2", 2, "--tau is given twice"),
    ("certify parity:d=8,m=2 --tau 0,1", 2, "0.1 or 1/10"),
    ("certify parity:d=8,m=2 --features 10", 2, "--features needs --about"),
    ("certify parity:d=8,m=2 --about gd,kernel", 2, "one of kernel, gd"),
    ("certify parity:d=8,m=2 --out c.yaml", 2, ".json, .csv"),
    ("certify parity:d=8,m=2 --json --format csv", 2, "one of the two"),
    ("certify nowhere/", 2, "no such file or folder"),
    ("certify notes.txt", 1, "notes.txt is no LWE challenge"),
    ("challenge create parity:d=8,m=2 --seed 1 --examples 9 --out x --secret y", 2, "--seed"),
    ("challenge create parity:d=8,m=2 --examples 5 --out pub", 2, "--secret"),
    ("challenge submit nowhere --name me --out s.safetensors", 2, "give one of --predictions"),
    ("check nowhere.json", 1, "nowhere.json"),
    ("check /dev/zero", 1, "/dev/zero"),
    ("check parity:d=8,m=2", 1, "`hardness certify ... --out FILE.json`"),
    ("check notes.txt", 1, "notes.txt cannot be read as JSON"),
    ("check other.json", 1, "other.json"),
    ("cite parity:d=8,m=2", 1, "`hardness certify ... --out FILE.json`"),
    ("compare nice:m=2,k=2 --over d=6..8 --learner none", 2, "no bound from below is claimed"),
    ("compare parity:m=2 --over d=9..8", 2, "empty"),
    ("compare nice:k=2,d=6 --over m=1..2 --learner queries", 2, "cannot run on"),
    ("compare nice:m=2,k=2,d=6 --over noise=1/0 --learner trivial", 2, "1/10"),
    ("compare parity:m=2", 2, "--over"),
    ("compare parity:m=2 --over d=6 --seeds 10000000000", 2, "runs"),
    ("compare mine.py:fs --over d=6..8", 2, "a spec cannot name it"),
    ("compare parity:m=2 --over d=6..8 --over m=2..3", 2, "--over is given twice"),
    ("compare parity:m=2 --over x=6..8", 2, "parity has the parameters d, m, noise, rho"),
    ("compare parity:m=2 --over d=6-8", 2, "d=8..20"),
    ("compare parity:d=6,m=2 --over d=6..8 --seeds 0", 2, "at least 1"),
    ("demo out", 2, "`hardness demo -h`"),
    ("distinguish mlp nice:m=2,k=2,d=8", 2, "no coins to replace the labels: nice given"),
    ("distinguish trivial lwr:n=4,q=16,p=2 --trials 1", 2, "trials"),
    ("estimate nosuch", 2, "'nosuch': `hardness families` lists all"),
    ("estimate nice:m=2,k=2,d=8", 2, "nice given: it lacks `linear_samples`"),
    ("estimate lwe:n=30", 2, "lwe needs q"),
    ("estimate lwe:n=30,q=521", 2, "it needs sigma="),
    ("estimate toy-80 --attack primal", 2, "known: arora-gb"),
    ("estimate toy-80 --model foo", 2, "known: abfksw20"),
    ("estimate toy-80 --find n=20..30", 2, "--find and --bits go together"),
    ("families show partiy", 2, "did you mean 'parity'"),
    ("families show", 2, "NAME"),
    ("families parity", 2, "try hardness families show parity"),
    ("figure correlations parity:d=8,m=2", 2, "--out FILE.svg"),
    ("figure histogram parity:d=8,m=2 --json", 2, "correlations"),
    ("figure adversary nowhere.json --json", 1, "does not exist"),
    ("figure stages nowhere.json --out f.svg", 1, "does not exist"),
    ("figure map nowhere --out f.svg", 1, "does not exist"),
    ("figure both-side nowhere --out f.svg", 2, "did you mean 'both-sides'"),
    ("figure both-sides nowhere --out f.svg", 1, "`hardness compare ... --out DIR`"),
    ("figure queries parity:d=8,m=2 --out f.jpg", 2, ".svg, .pdf or .png"),
    ("figure queries --out f.svg", 2, "needs a SOURCE: a SPEC"),
    ("figure both-side notes.txt", 2, "did you mean 'both-sides'"),
    ("generate lwr:n=4,q=16,p=2,beta=1000000000000000000 --out x", 2, "lower beta"),
    ("generate parity:d=8,m=2", 2, "--out"),
    ("generate parity:d=8,m=2 --examples 1000000000000000000 --out x", 1, "disk"),
    ("generate parity:d=8,m=2 --format csv --out x", 2, "safetensors"),
    ("generate parity:d=8,m=3 --out g --examples 1" + "0" * 50, 1, "PiB"),
    ("generate parity:d=8,m=2 --out notes.txt", 1, "exists and was kept"),
    ("generate nice:m=1,k=2,d=4 --samples 5 --out s.npz", 2, "lacks `linear_forms`"),
    ("generate toy-80 --samples 5 --out s.dat", 2, "end its name in .prefix"),
    ("generate toy-80 --samples 5 --out s.npz --weights", 2, "and --samples given: one of the two"),
    ("store shwo x.db", 2, "Did you mean 'show'"),
    ("learn queries parity:d=8,m=2 --budget-exmples 3", 2, "'--budget-examples'"),
    ("learners new none.py", 2, "a name in Python"),
    ("learners check none.py:Mine", 2, "no file"),
    ("learners check elimination", 2, "built in"),
    ("learners list student", 2, "learners show student"),
    ('certify ""', 2, "unknown family"),
    ("help", 2, "see `hardness -h`"),
    ("icl optimum --sigma diag(1,-1,1,1,1)", 2, "not positive definite"),
    ("icl optimum --n 0", 2, "at least 1"),
    ("icl optimum --d 0", 2, "at least 1"),
    ("icl optimum --d 1000", 2, "between 1 and 256"),
    ("icl optimum --sigma diag(1,2)", 2, "d = 5 values are needed"),
    ("icl optimum --sigma nonsense", 2, "identity, diag"),
    ("icl optimum --sigma power(x)", 2, "number"),
    ("icl optimum --sigma nowhere.npy", 2, "no such file"),
    ("icl optimum --noise -1", 2, "at least 0"),
    ("icl optimum --noise nan", 2, "noise"),
    ("icl optimum --samples 1", 2, "--samples"),
    ("icl steps --task identity --sigma power(1)", 2, "--task inverse"),
    ("icl steps --layers 21", 2, "between 1 and 20"),
    ("icl train --layers 65", 2, "between 1 and 64"),
    ("icl train --rate 0 --optimizer adam", 2, "above 0"),
    ("icl train --free p", 2, "--free"),
    ("icl curves --layers 9", 2, "between 1 and 8"),
    ("icl optimizers --rates 0.1,x", 2, "number"),
    ("icl optimizers --rates 0", 2, "rate"),
    ("icl optimizers --clip -1", 2, "clip"),
    ("icl optimum --d 256 --n 1000000", 2, "lower n, d or the samples"),
    ("icl optimum --samples 1000000000", 2, "lower n, d or the samples"),
    ("icl train --d 64 --n 1000000 --samples 100", 2, "lower n, d or the samples"),
    ("icl train --d 256 --n 100 --layers 64", 2, "lower one of them"),
    ("icl softmax --heads 9", 2, "between 1 and 8"),
    ("icl softmax --layers x", 2, "integer"),
    ("icl softmax --n 1", 2, "n >= 2"),
    ("icl softmax --d 33", 2, "up to 32"),
    ("icl optimun", 2, "optimun"),
    ("inspect parity:d=1000000,m=2", 1, "memory"),
    ("inspect mine.py:fs", 2, "no attention layer is known"),
    ("inspect nowhere.npz", 1, "does not exist"),
    ("learn elimination", 2, "a SPEC or --teacher FILE, one of the two"),
    ("learn parity:d=8,m=2 elimination", 2, "'parity' is a family and no learner"),
    ("learn pooled parity:d=9,m=2 --oracle adversary --transcript n --out n", 2, "two names"),
    ("learn queries parity:d=8,m=2 --oracle adversary --tau 0.00000000001", 2, "at least"),
    ("learn elimination parity:d=8,m=2 --oracle adversary", 1, "sees examples"),
    ("learn pooled parity:d=64,m=3", 2, "follows every member"),
    ("learn queries parity:d=8,m=2 --transcript t.json", 2, "--oracle adversary"),
    ("learn linear nowhere.npz", 2, "there is no such file"),
    ("learn linear nice:m=1,k=2,d=4 --save-layer l.npz", 2, "linear finds no layer"),
    ("learn student nice:m=1,k=2,d=4 --save-layer l.npy", 2, ".npz or .safetensors"),
    ("learn elimniation parity:d=8,m=2", 2, "did you mean 'elimination'"),
    ("learn queries parity:d=8,m=2 --oracle magic", 2, "samples"),
    ("learn student:heads=100000 parity:d=1000,m=2", 1, "memory"),
    ("learn lowdegree:degree=9 parity:d=64,m=2", 1, "memory"),
    ("learn staged:mode=fast nice:m=2,k=2,d=8", 2, "practical or paper"),
    ("learn staged:heads=-1 nice:m=2,k=2,d=8", 2, "heads=-1"),
    ("learn trivial parity:d=8,m=2 --budget-examples 1.5", 2, "an integer such as 200 or 2e4"),
    ("learn lowdegree:degree=1000000 parity:d=10000000,m=3", 1, "memory"),
    ("learn nowhere.py:Learner parity:d=8,m=2", 2, "no file"),
    ("learn mine.py parity:d=8,m=2", 2, "path.py:Name"),
    ("learn elimination parity:d=8,m=2 --budget-memory 5XB", 2, "5XB"),
    ("learn elimination mine.py:fs", 2, "lacks `noisy_parities`"),
    ("learn queries,elimination parity:d=8,m=2", 2, "repeat it, as --learner queries"),
    ("learn elimination parity:d=8,m=2 --budget 100", 2, "Did you mean --budget-queries or"),
    ("learn elimination parity:d=8,m=2 --queries 10", 2, "Did you mean --budget-queries?"),
    ("learn elimination parity:8,2", 2, "write key=value"),
    ("learn elimination parity:d=8", 2, "needs m: write parity:d=32,m=3"),
    ("learn elimination Parity:d=8,m=2", 2, "did you mean 'parity'"),
    ("learn elimination parity:d=8,m=20", 2, "between 1 and d - 1 = 7"),
    ("learn elimination parity:d=8,m=2,n=3", 2, "known: d, m, noise, rho"),
    ("learn elimination parity:d=8,d=9,m=2", 2, "given twice"),
    ("learn elimination parity:d=eight,m=2", 2, "an integer such as"),
    ("learn Elimination parity:d=8,m=2", 2, "did you mean 'elimination'"),
    ("learn lowdegree:deg=3 parity:d=8,m=2", 2, "did you mean 'degree'"),
    ("learn lowdegree:3 parity:d=8,m=2", 2, "write key=value"),
    ("learn elimination notes.txt", 1, "notes.txt is no LWE challenge"),
    ("learn queries parity:d=8,m=2 --oracle sample", 2, "did you mean samples?"),
    ("learners show studnt", 2, "did you mean 'student'"),
    ("learners new mine.txt", 2, ".py"),
    ("learners elimination", 2, "try hardness learners show elimination"),
    ("learners shwo elimination", 2, "did you mean show?"),
    ("map parity:d=16,m=3", 2, "give noise=0.1"),
    ("map parity:d=16,m=3,noise=0.4999999", 2, "lower the noise"),
    ("map parity:d=3,m=2,noise=0.1", 2, "at least 3 are needed"),
    ("map lpn:n=16,noise=0", 2, "give noise=0.1"),
    ("map profile:g=majority,d=8,m=3", 2, "lacks `noisy_parities`"),
    ("map lwr:n=4,q=16,p=2", 2, "lacks `noisy_parities`"),
    ("map parity:d=16,m=3,noise=0.1 --learner queries", 2, "counts examples"),
    ("map parity:d=16,m=3,noise=0.1 --learner arora-ge", 2, "arora-ge cannot run on"),
    ("measures nice:m=2,k=2,d=8", 2, "nice given: it lacks `factor`"),
    ("measures lwr:n=32,q=16,p=2", 2, "d=129 is too large, take d - 1 up to 26"),
    ("measures parity:d=8,m=2 --sensitivity 2", 2, "at most 1"),
    ("measures", 2, "SOURCE"),
    ("measures notes.txt", 1, "notes.txt is no LWE challenge"),
    ("reduce lwr-to-attention nowhere.txt --out x", 1, "nowhere.txt"),
    ("reduce lwr-to-attention nowhere.txt", 2, "needs --out"),
    ("reduce attention-to-lwr nowhere --out x.npz", 2, "nowhere"),
    ("reduce sideways x --out y", 2, "lwr-to-attention"),
    ("report nowhere --out r.html", 1, "nowhere"),
    ("report notes.txt", 1, "folder of `hardness compare`"),
    ("store show nowhere.db", 1, "does not exist"),
    ("store show notes.txt", 1, "no store at all"),
    ("stress --learner elimination", 2, "--ladder"),
    ("stress --ladder parity-v1", 2, "--learner"),
    ("stress --learner elimination --ladder parity-v2", 2, "did you mean 'parity-v1'"),
    ("sweep notes.txt", 2, "`hardness sweep -h`"),
    ("sweep run nowhere.toml --store s.db", 2, "a sweep file (TOML) is needed"),
    ("sweep run notes.txt --store s.db", 2, "mend the TOML"),
    ("verify profile:g=10**400*h,d=8,m=3", 2, "multiply g"),
    ("verify parity:d=8,m=2 --confidence 1", 2, "confidence"),
    ("verify parity:d=64,m=8 --members 1000000", 1, "memory"),
    ("verify nice:m=2,k=2,d=8,tokens=gaussian", 2, "take tokens=boolean"),
    ("verify parity:d=1000,m=60 --members 1" + "0" * 50, 1, "PiB"),
    ("verify parity:d=64,m=30,rho=9/8", 1, "raise rho"),
    ("verify parity:d=200000,m=5", 1, "memory"),
    ("verify mine.py:Wide --samples 9", 2, "raise the samples"),
    ("verify notes.txt", 1, "notes.txt is no LWE challenge"),
    *_of(
        "certify parity:d=16,m=3",
        ("--about gd", 1, "no claim: one exact mean gradient can name the member"),
        ("--about gd --steps 10 --clip 1", 1, "no claim"),
        ("--about gd --batch 4", 1, "no claim: --batch is given without --state-bits"),
        ("--about gd --grid 0.1", 1, "no claim: --grid is given without --parameters"),
        ("--about all --batch 4", 1, "no claim: --batch"),
        ("--about gd --noise-std 0", 2, "noise-std=0 given"),
        ("--about gd --noise-std=-1", 2, "noise-std=-1 given"),
        ("--about gd --noise-std x", 2, "x given"),
        ("--about gd --within 0", 2, "within=0 given"),
        ("--about gd --clip 0 --noise-std 1", 2, "clip=0 given"),
        ("--about gd --grid=-1 --parameters 3", 2, "grid=-1 given"),
        ("--about gd --grid 1 --parameters 0", 2, "parameters=0 given"),
        ("--about gd --batch 0 --state-bits 3", 2, "batch=0 given"),
        ("--about gd --batch 3 --state-bits 0", 2, "state-bits=0 given"),
        ("--about gd --batch 3 --state-bits 3 --clip 1", 2, "--clip does not apply"),
        ("--about gd --noise-std 1 --steps 0", 2, "steps=0 given"),
        ("--about gd --noise-std 1 --within 1", 2, "--noise-std and --within given"),
        ("--about gd --noise-std 1 --parameters 9", 2, "--parameters does not apply"),
        ("--about gd --noise-std 1 --features 9", 2, "--features does not apply"),
        ("--about kernel --features 0", 2, "features=0 given"),
        ("--about kernel --features 456", 2, "features=456 given: 1 to 455"),
        ("--about kernel --features 1.5", 2, "1.5"),
        ("--about kernel --steps 5", 2, "--steps does not apply"),
        ("--about kernel --tau 0.2", 2, "--tau does not apply"),
        ("--about kernel --risk 1", 2, "risk=1 given"),
        ("--about low-degree", 2, "needs --degree"),
        ("--about low-degree --degree 0", 2, "degree=0 given"),
        ("--about low-degree --degree 81 --examples 20", 2, "degree=81 given"),
        ("--about low-degree --degree 8 --examples 0", 2, "examples=0 given"),
        (
            "--about low-degree --degree 8 --examples 5 --sample-degree 6",
            2,
            "sample_degree=6 given",
        ),
        ("--about low-degree --degree 8 --sample-degree 0", 2, "sample_degree=0 given"),
        ("--about network", 2, "network"),
        ("--features 5", 2, "--features needs --about"),
        ("--noise-std 1", 2, "--noise-std needs --about"),
    ),
    *_of(
        "challenge",
        ("create parity:d=16,m=3 --out x --secret y --examples 5 --seed 0", 2, "draws its own"),
        ("create parity:d=16,m=3 --secret y --examples 5", 2, "needs --out DIR"),
        ("create parity:d=16,m=3 --out x --secret y --examples 0", 2, "--examples"),
        (
            "create parity:d=16,m=3 --out x --secret x/y --examples 5",
            2,
            "lies in the public folder",
        ),
        ("create parity:d=16,m=3 --out x/z --secret x --examples 5", 2, "or that one in it"),
        ("create parity:d=16,m=3 --out pub --secret y --examples 5", 1, "exists and was kept"),
        (
            "create parity:d=16,m=3 --out x --secret s.json --examples 5 --force",
            1,
            "could never be opened",
        ),
        (
            "create parity:d=16,m=3 --out x --secret y --examples 5 --fresh 999999999999",
            1,
            "memory",
        ),
        ("create parity:d=16,m=3 --out x --secret y --examples 99999999999999", 1, "disk"),
        ("submit nowhere --name a --claim [1,2,3] --out a.safetensors", 2, "challenge create"),
        ("submit pub --name a --out a.safetensors", 2, "give one of"),
        ("submit pub --name a --claim [1,2,3] --learner trivial --out a.safetensors", 2, "one of"),
        ("submit pub --name a --claim [1,2,3]", 2, "--out FILE.safetensors"),
        ("submit pub --name a --claim [1,2,3] --out a.json", 2, "ends in .safetensors"),
        ("submit pub --name a --claim x --out a.safetensors", 2, "write [2,5,7]"),
        ("submit pub --name a --learner queries --out a.safetensors", 1, "statistical queries"),
        ("submit pub --name a --predictions p.txt --out a.safetensors", 2, ".npy, .npz"),
        ("submit pub --name a --predictions p.npy --out a.safetensors", 2, "(50, 2, 16) is wanted"),
        ("score nowhere --secret s.json", 2, "challenge create"),
        ("score pub --secret s.json no.safetensors", 1, "does not exist"),
        ("score pub --secret s.json s.json", 1, "its header claims"),
        ("score pub --secret s.json --out s.json", 2, "give another name to write"),
        ("score pub --secret s.json a.safetensors b.safetensors", 2, "unexpected extra argument"),
        ("score pub --secret pub/challenge.json", 1, "is wanted"),
    ),
    *_of(
        "learn",
        ("trivial", 2, "a SPEC or --teacher FILE, one of the two"),
        ("trivial parity:d=8,m=1 --teacher layer.npz", 2, "one of the two"),
        ("trivial parity:d=8,m=1 --k 3", 2, "--k 3 given: it is of a layer given by --teacher"),
        ("trivial --teacher none.npz", 2, "there is no such file"),
        ("trivial --teacher layer.npz --tokens what", 2, "boolean, gaussian, or a file"),
        ("trivial --teacher layer.npz --tokens no.npz", 2, "there is no such file"),
        ("trivial --teacher layer.npz --tokens layer.npz", 1, "arrays theta, w given"),
        ("trivial --teacher layer.npz --tokens places.npz --k 2", 1, "(2, 4) is needed"),
        ("trivial --teacher layer.npz --k 1", 2, "k, the number of tokens"),
        ("trivial --teacher layer.npz --layer 3", 2, "holds one layer"),
        ("trivial --teacher layer.npz --noise -1", 2, "at least 0"),
        ("queries --teacher layer.npz", 2, "cannot run on teacher"),
        ("queries --teacher layer.npz --oracle adversary", 2, "teacher"),
    ),
    *_of(
        "spectrum --out spectrum.json",
        ("parity:d=28,m=3", 2, "d may be up to 27"),
        ("parity:d=64,m=3 --learner elimination", 2, "2^63"),
        ("parity:d=8,m=3 --learner elimniation", 2, "did you mean 'elimination'"),
        ("profile:g=majority,d=8,m=3 --learner elimination", 2, "cannot run on"),
        ("parity:d=8,m=3 --learner elimination --draws 5000", 2, "between 2 and 4096"),
        ("parity:d=8,m=3 --draws 1", 2, "--draws"),
        ("parity:d=8,m=3 --top 0", 2, "--top"),
        ("nowhere", 2, "unknown"),
        ("", 2, "SOURCE"),
    ),
    *_of(
        "stress",
        ("", 2, "--learner"),
        ("--learner trivial", 2, "--ladder NAME or --on SPEC"),
        ("--learner trivial --on parity:d=8,m=2 --ladder parity-v1", 2, "one of the two"),
        ("--learner trivial --ladder parity-v2", 2, "did you mean 'parity-v1'"),
        ("--learner triviall --on parity:d=8,m=2", 2, "did you mean 'trivial'"),
        ("--learner trivial --on partiy:d=8", 2, "did you mean 'parity'"),
        ("--learner trivial --on parity:d=8,m=2 --on parity:m=2,d=8", 2, "given twice"),
        ("--learner trivial --on nowhere.py:Family", 2, "no such file"),
        ("--learner trivial --on parity:d=8,m=2 --seeds 0", 2, "--seeds"),
        ("--learner trivial --on parity:d=8,m=2 --seeds 5000", 2, "at most 1000 seeds"),
        ("--learner trivial --on parity:d=8,m=2 --budget-memory 0", 2, "500MB, 4GiB or 4096"),
        ("--learner trivial --on parity:d=8,m=2 --budget-cpu 0", 2, "--budget-cpu"),
    ),
    # Formats and endings.
    ("certify parity:d=8,m=3 --out c.xls", 2, "end its name in .json, .csv, .tex, .md, .parquet"),
    ("certify parity:d=8,m=3 --format xls", 2, "'xls' is not one of"),
    ("certify parity:d=8,m=3 --format parquet", 2, "add --out FILE.parquet"),
    ("cite c.json --out c.tex", 2, "in .bib or .json"),
    ("families --out f.html", 2, "end its name in"),
    ("figure sda", 2, "SPEC"),
    ("figure sda parity:d=8,m=3 --out a.svg --format png", 2, "a.svg", "png"),
    ("store query none.db x --format csv --json", 2, "one of the two"),
    # What is there is kept, and what cannot be written is said.
    *(
        (f"{line} --out kept", 1, "kept exists and was kept")
        for line in (
            *("certify parity:d=8,m=3", "check c.json", "compare parity:m=2 --over d=6"),
            *("generate parity:d=8,m=3", "inspect parity:d=8,m=3", "verify parity:d=8,m=3"),
            *("learn elimination parity:d=8,m=3", "map parity:d=8,m=2,noise=0.1", "report both"),
        )
    ),
    ("certify parity:d=8,m=3 --out kept/x.json", 1, "kept/x", "cannot be written"),
    (f"certify parity:d=8,m=2 --out {'x' * 300}.json", 1, "cannot be written"),
    ("compare parity:m=2 --over d=6 --out own --force", 1, "thesis.tex", "not ours"),
    ("demo", 1, "no demo made"),  # ./out holds a certificate of the user's own
    ("demo --out both", 1, "no demo made"),
    ("demo --out kept", 1, "is a file"),
    ("generate parity:d=8,m=3 --out layers --force", 1, "not ours"),
    ("sweep run x.toml --store x.db --out y", 2, "--out y given", "sweep run"),
    # Files of others, and damaged ones.
    ("certify made/secret.json", 2, "secret part"),
    ("check empty", 1, "empty is a folder: give the name of a file"),
    ("check made/secret.json", 1, "no certificate"),
    ("cite list.json", 1, "no object"),
    ("figure binding notes.txt --out b.svg", 2, "it is no store"),
    ("figure binding empty.db --out b.svg", 2, "no runs are in it"),
    ("figure binding empty.db --out b.svg --slice m=3", 2, "all runs"),
    (
        "figure correlations c.json --out d.svg",
        2,
        "not of a file such as a certificate",
        "was given",
    ),
    ("figure stress climb.json --out x.svg", 1, "climb.json is damaged"),
    ("inspect made/secret.json", 2, "secret part"),
    ("learn elimination cut", 1, "examples-00000"),
    ("learn elimination made/secret.json", 2, "secret part"),
    ("learn queries bare", 1, "secret part"),
    ("report c.json --out r.html", 1, "is wanted, which `hardness compare` writes"),
    ("sweep plan no.toml", 2, "does not exist"),
    ("verify cut", 1, "examples-00000"),
    ("verify made/secret.json", 2, "secret part"),
    # Names of learners.
    ("compare parity:m=1 --over d=4 --learner mine.py:fss", 2, "did you mean 'fs'?", "nothing was"),
    ("learn mine.py:fss parity:d=8,m=2", 2, "unknown name 'fss': did you mean 'fs'?"),
    ("learn loop.py:f parity:d=8,m=1", 2, "loop.py"),
    ("learn mlp loop.py", 2, "loop.py"),
    (
        "stress --learner mine.py:fss --on parity:d=8,m=2",
        2,
        "did you mean 'fs'?",
        "nothing was run",
    ),
    *(
        (f"{call} --learner {shlex.quote(name)} --out new", 2, "printable characters")
        for call in ("stress --on parity:d=4,m=1", "compare parity:m=1 --over d=4")
        for name in ("two\nlines.py:L", "byte\udcff.py:L", "x" * 1000 + ".py:L")
    ),
]
MADE = (
    "certify parity:d=8,m=3 --out c.json",
    "generate parity:d=8,m=3 --examples 100 --out made",
    "challenge create parity:d=16,m=3 --examples 100 --fresh 50 --out pub --secret s.json",
)
FOREIGN = (
    *('{"a": ' + "1" * 5000 + "}", "", "{", "[1]", "null", '{"format": "other/1"}', "\0\1"),
    "[" * 100_000,
)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """What lies about where a newcomer works."""
    folder = tmp_path_factory.mktemp("mistakes")
    with contextlib.chdir(folder):
        functions = "import numpy as np\nd = 6\nfs = [lambda x: x[:, 0], lambda x: x[:, 1]]\n"
        wide = "class Wide:\n    d = 30\n    functions = fs\none = [fs[0], fs[0]]\n"
        smooth = "smooth = [lambda x: np.tanh(x.sum(axis=1)), fs[0]]\n"
        Path("mine.py").write_text(functions + wide + smooth)
        for name in ("kept", "notes.txt"):
            Path(name).write_text("to do: read the manual\n")
        Path("other.json").write_text('{"format": "other/1"}')
        Path("list.json").write_text("[1]")
        Path("climb.json").write_text('{"format": "hardness-stress/2", "ladder": 3}')
        Path("loop.py").symlink_to("loop.py")
        for name in ("empty", "layers", "out"):
            Path(name).mkdir()
        layer = AttentionLayer(theta=np.eye(2)[None], w=np.eye(2)[None])
        for name in ("layers/0.npz", "layers/1.npz"):
            save_layer(Path(name), layer)
        deep = np.random.default_rng(0).normal(size=(2, 1, 4, 4))
        save_layer(Path("layer.npz"), AttentionLayer(theta=deep[0], w=deep[1]))
        np.savez("places.npz", embedding=np.ones((7, 4)), positions=np.ones((3, 4)))
        np.save("p.npy", np.zeros((50, 2, 15)))
        create(Path("empty.db")).close()
        for line in MADE:
            with pytest.raises(SystemExit, match="0"):
                cli.main([*shlex.split(line), "--quiet"])
        Path("both").mkdir()
        compare("parity:m=2", "d=6", "elimination", seeds=1, jobs=1).save("both/results.json")
        for copy in ("bare", "cut"):
            shutil.copytree("made", copy)
        Path("bare/secret.json").unlink()
        os.truncate("cut/examples-00000.safetensors", 1000)
        shutil.copytree("both", "own")
        Path("own/thesis.tex").write_text("precious")
        Path("out/results.json").write_text(
            '{"format": "hardness-results/2", "command": "hardness demo"}'
        )
        shutil.copy("c.json", "out/certificate.json")
    return folder


def lying_about():
    """Every file of the folder, and when it was last written."""
    return sorted((str(path), path.lstat().st_mtime_ns) for path in Path().rglob("*"))


@pytest.mark.parametrize("command", sorted({line.split()[0] for line, *_ in MISTAKES}))
def test_one_line_has_the_cure_and_nothing_is_left_behind(hardness, world, monkeypatch, command):
    monkeypatch.chdir(world)
    files, wrong = lying_about(), []
    for line, code, *words in MISTAKES:
        if line.split()[0] == command:
            monkeypatch.setenv(VARIABLE, "")
            found = hardness(*shlex.split(line))
            one = found.err.startswith("hardness: ") and found.err.count("\n") == 1
            if (found.code, found.out) != (code, "") or not one:
                wrong.append((line, found))
            wrong += [(line, word, found.err) for word in words if word not in found.err]
            assert lying_about() == files, line
    assert not wrong, "\n".join(map(str, wrong))


def test_damaged_and_foreign_files_are_refused(hardness):
    """A certificate that is cut anywhere too."""
    whole = hardness("certify", "parity:d=8,m=3", "--json").out
    cut = [whole[:part] for part in (1, 10, len(whole) // 2, len(whole) - 3)]
    for text in (*FOREIGN, *cut):
        Path("f.json").write_text(text)
        for line in ("check f.json", "report f.json --out r.html", "verify f.json"):
            found = hardness(*line.split())
            assert found.code in (1, 2), (line, text[:20])
            found.one_line("f.json" if "verify" not in line else "hardness: ")
            assert [p.name for p in Path().iterdir()] == ["f.json"]


def test_force_replaces_a_file(hardness):
    Path("f").write_text("old")
    assert hardness("certify", "parity:d=8,m=3", "--out", "f", "--force").code == 0
    assert json.loads(Path("f").read_text())["about"]["spec"] == "parity:d=8,m=3,noise=0,rho=3"


def test_an_output_that_cannot_be_written_is_said_before_the_work(hardness, monkeypatch):
    from hardness.upper.modlinear import Elimination

    Path("file").write_text("x")
    monkeypatch.setattr(Elimination, "learn", lambda *a: pytest.fail("ran"))
    for line in (
        "learn elimination parity:d=8,m=2 --out file/x",
        "compare parity:m=2 --over d=6 --learner elimination --jobs 1 --out file/x/y",
        "demo --jobs 1 --out file/x",
    ):
        found = hardness(*line.split())
        assert found.code == 1
        found.one_line("file/x", "cannot be written")
