"""Mistakes: each is answered by one line with the cure and an exit code; nothing is left.

Numbers and specs are read in one place each, of which tests/test_arguments.py and
tests/test_specs.py have the mistakes.
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
from hardness.cli.root import COMMANDS
from hardness.runs.cache import Cache
from instances import AttentionLayer
from instances.spec import USER_FAMILIES

# An exit code, the line, and words of what it says; `world` makes the files.
MISTAKES = """\
2 attack lwr:n=4,q=16,p=2 --learner nothing | unknown learner
2 attack nice:m=2,k=2,d=8 | nice lacks `linear_forms`
2 attack lwr:n=8,q=16,p=2 --learner modlinear | modlinear cannot run on
2 attack lwe:n=8,q=97,sigma=1 --learner primal,bruteforce | --learner primal --learner bruteforce
2 attack lwe:n=8,q=97,sigma=1 --spec lwe:n=8,q=97,sigma=1 | for a file of samples
2 attack primal | primal is a learner
2 attack parity:d=8,m=2 --with primal | It is --learner now
2 certify partiy:d=8,m=2 | did you mean 'parity'
2 certify parity d=8 m=2 | arguments (d=8 m=2): see `hardness certify -h`
2 certify parity:d=8,m=2 --tau x | number
2 certify parity:d=8,m=2 --tua 0.1 | --tau
2 certify profile:g=majority,d=8,m=3 --gamma 0 | gamma
2 certify | SOURCE
2 certify mine.py | path.py:Name
2 certify mine.py:fs --method sampling | --method
2 certify mine.py:fs --members 3 | members must be between 1 and 2, got 3
2 certify parity:d=8,m=2 --members 3 | --members does not apply
2 certify mine.py:one --centred | leave --centred
2 certify mine.py:Wide | `hardness verify` shows sampled correlations
2 certify layers | `hardness verify` shows sampled correlations
2 certify parity:d=8,m=2 --centred | --centred does not apply
2 certify empty | holds neither layers
2 certify parity:d=8,m=2 --output c.json | Did you mean --out?
2 certify parity:d=8,m=2 --tau 0.1 --tau 0.2 | --tau is given twice
2 certify parity:d=8,m=2 --tau 0,1 | 0.1 or 1/10
2 certify parity:d=8,m=2 --features 10 | --features needs --about
2 certify parity:d=8,m=2 --about gd,kernel | one of kernel, gd
2 certify parity:d=8,m=2 --json --format csv | one of the two
2 certify nowhere/ | no such file or folder
1 certify notes.txt | notes.txt is no LWE challenge
2 certify "" | unknown family
2 certify two.py:Many | got 6000; --members 1000
2 certify mixed | 2.npz has d=2 | 3.npz d=3
1 certify torn | 3.npz
1 certify two.py:Real --about kernel | no claim about | -1 and +1 alone
1 certify two.py:Two --about low-degree --degree 2 | no claim: | low-degree polynomials
1 certify two.py:Two --about gd | no claim: | one exact mean gradient
1 certify two.py:Two --about all | no claim: | every bound is vacuous
2 certify two.py:Two --about kernel --features 1 --members 4 | between 1 and 3
1 certify lwe:n=4,q=2,error=cbd,eta=1 --about kernel | no claim about | do not depend on the secret
1 certify nice:m=2,k=2,d=16 --about kernel | no claim about nice: | whose members are independent
1 certify profile:g=[0,1,2,3,4],d=9,m=4 --about gd --noise-std 3 \
  | no claim: labels take more than two values
1 certify lwr:n=8,q=16,p=2,secret=binary,h=4 --about low-degree --degree 3 \
  | no claim: | the bits of residues
1 certify direction:d=100,m=6 --about kernel --features 9 \
  | no claim: eigenvalues of what labels hide
2 certify lwe:n=4,q=17,sigma=1 --about kernel --features 83521 | between 1 and 83520
2 certify parity:d=9,m=4 --about low-degree --degree 51 --examples 10 \
  | at most examples * (m + 1) = 50
2 certify parity:d=9,m=1 --about low-degree --degree 10000 | too long
1 certify parity:d=16,m=3 --about gd | no claim: one exact mean gradient can name the member
1 certify parity:d=16,m=3 --about gd --steps 10 --clip 1 | no claim
2 certify parity:d=16,m=3 --about gd --within 1 | option '--within' is gone: gradient | --noise-std
2 certify parity:d=16,m=3 --about gd --noise-std 0 | got noise-std=0
2 certify parity:d=16,m=3 --about gd --clip 0 --noise-std 1 | got clip=0
2 certify parity:d=16,m=3 --about gd --noise-std 1 --steps 0 | steps must be an integer of
2 certify parity:d=16,m=3 --about gd --noise-std 1 --features 9 | --features does not apply
2 certify parity:d=16,m=3 --about kernel --features 456 | features must be between 1 and 455,
2 certify parity:d=16,m=3 --about kernel --steps 5 | --steps does not apply
2 certify parity:d=16,m=3 --about kernel --risk 1 | risk must be at least 0 and below 1, got 1
2 certify parity:d=16,m=3 --about low-degree | needs --degree
2 certify parity:d=16,m=3 --about low-degree --degree 81 --examples 20 \
  | degree must be at most examples * (m + 1) = 80, got 81
2 certify parity:d=16,m=3 --about low-degree --degree 8 --examples 5 --sample-degree 6 \
  | sample_degree must be at most the 5 examples, got 6
2 certify parity:d=16,m=3 --about network | network
2 certify parity:d=8,m=3 --out c.xls | end its name in .json, .csv, .tex, .md, .parquet
2 certify parity:d=8,m=3 --format xls | 'xls' is not one of
2 certify parity:d=8,m=3 --format parquet | add --out FILE.parquet
1 certify parity:d=8,m=3 --out kept/x.json | kept/x | cannot be written
2 certify made/secret.json | secret part
2 check parity:d=8,m=2 | `hardness certify ... --out FILE.json`
1 check notes.txt | notes.txt cannot be read as JSON
1 check other.json | other.json
2 check empty | empty is a folder: give the name of a file
1 check made/secret.json | not a certificate
2 compare parity:m=2 --over d=6 --learner trivial --out c.xyz | name a folder without an ending
2 compare nice:m=2,k=2 --over d=6..8 --learner none | no bound from below is claimed
2 compare parity:m=2 --over d=9..8 | empty
2 compare nice:k=2,d=6 --over m=1..2 --learner queries | cannot run on
2 compare nice:m=2,k=2,d=6 --over noise=1/0 --learner trivial | 1/10
2 compare parity:m=2 | --over
2 least parity:m=2,d=8 | --learner
2 least parity:m=2,d=16 --learner trivial --budget-examples 4 | below 6, the certified floor
2 compare parity:m=2 --over d=6 --seeds 10000000000 | runs
2 compare mine.py:fs --over d=6..8 | fs has no parameters
2 compare parity:m=2 --over x=6..8 | parity has the parameters d, m, noise, rho
2 compare parity:m=2 --over d=6-8 | d=8..20
2 compare parity:m=2 --over d=6..8 --seeds 0 | at least 1
1 compare parity:m=2 --over d=6 --out own | own exists and was kept: it holds no runs
2 compare parity:m=1 --over d=4 --learner mine.py:fss | did you mean 'fs'? | nothing was
2 demo out | `hardness demo -h`
1 demo --out both | no demo made
1 demo --out kept | is a file
2 distinguish mlp nice:m=2,k=2,d=8 | no coins to replace the labels: nice lacks
2 distinguish trivial lwr:n=4,q=16,p=2 --trials 1 | trials
2 estimate nosuch | 'nosuch': `hardness estimate` lists all
2 estimate nice:m=2,k=2,d=8 | nice lacks `linear_forms`
2 estimate lwe:n=30 | lwe needs q
2 estimate toy-80 --attack primal | known: arora-gb
2 estimate toy-80 --model foo | known: abfksw20
2 estimate toy-80 --find n=20..30 | --find and --bits go together
2 families show partiy | did you mean 'parity'
2 families parity | try hardness families show parity
2 families --out f.html | end its name in
2 figure correlations parity:d=8,m=2 | --out FILE.svg
2 figure phase empty.db --slice m=3 --out b.svg | It is --where now
2 figure phase empty.db --out b.svg | no runs are left
1 figure both-sides out --where m==3 --out b.svg | has format 'hardness-results/2'
2 figure histogram parity:d=8,m=2 --json | correlations
2 figure stages nowhere.json --out f.svg | no such file: nowhere.json
2 figure both-sides nowhere --out f.svg | `hardness compare ... --out DIR`
2 figure sda parity:d=8,m=2 --out f.jpg | must end in .svg, .pdf or .png, got f.jpg
2 figure sda parity:d=8,m=2 --out f.svg --width 0.2 | must be between 1 and 100 inches, got 0.2
2 figure sda --out f.svg | needs a SOURCE: a SPEC
2 figure both-side notes.txt | did you mean 'both-sides'
2 figure sda two.py:Real --json | SDA is drawn for members with values -1 and +1
2 figure sda two.py:Wide --json | has 2^40 points
2 figure walsh two.py:Real --json | is not -1 or +1
2 figure correlations c.json --out d.svg | not of a file such as a certificate
2 generate lwr:n=4,q=16,p=2,beta=40 --out x | the parameter of lwr 'beta' is gone: leave it out
2 generate parity:d=8,m=2 | --out
1 generate parity:d=8,m=2 --examples 1000000000000000000 --out x | disk
2 generate parity:d=8,m=2 --format csv --out x | safetensors
1 generate parity:d=8,m=2 --out notes.txt | exists and was kept
2 generate nice:m=1,k=2,d=4 --samples 5 --out s.npz | lacks `linear_forms`
2 generate toy-80 --samples 5 --out s.dat | must end in .csv
2 generate toy-80 --samples 5 --ring 16 --out s.npz | No such option '--ring'
2 generate toy-80 --samples 5 --out s.npz --weights | give --weights or --samples, one of the two
1 generate parity:d=8,m=3 --out layers --force | not ours
2 help | see `hardness -h`
2 icl train --optimizer adam | L-BFGS
2 icl optimum --sigma diag(1,-1,1,1,1) | not positive definite
2 icl optimum --n 0 | at least 1
2 icl optimum --d 1000 | between 1 and 256
2 icl optimum --sigma diag(1,2) | takes d = 5 values, got 2
2 icl optimum --sigma nonsense | identity, diag
2 icl optimum --sigma power(x) | number
2 icl optimum --noise -1 | between 0 and 1000, got -1
2 icl optimum --samples 1 | samples must be an integer of at least 2, got 1
2 icl steps --task identity --sigma power(1) | --task inverse
2 icl train --layers 65 | between 1 and 64
2 icl train --free p | free must be one of q, both, got p
2 icl optimum --d 256 --n 1000000 | lower n, d or the samples
2 icl train --d 256 --n 100 --layers 64 | lower one of them
2 icl optimun | optimun
2 icl softmax | docs/studies/softmax.py
1 inspect parity:d=1000000,m=2 | memory
2 inspect mine.py:fs | no attention layer is known
2 learn queries parity:d=8,m=2 --budget-exmples 3 | '--budget-examples'
2 learn elimination | a SPEC or --teacher FILE, one of the two
2 learn parity:d=8,m=2 elimination | 'parity' is a family and no learner
2 learn staged nice:m=1,k=2,d=4 --save-layer n.json --out n.json | two names
2 learn queries parity:d=8,m=2 --oracle adversary --tau 0.00000000001 | at least
2 learn elimination parity:d=8,m=2 --oracle adversary | sees examples
2 learn pooled parity:d=64,m=3 | follows every member
2 learn queries parity:d=8,m=2 --transcript t.json | --transcript | --oracle adversary
2 learn queries parity:d=8,m=2 --oracle stabbing | one of samples, exact, adversary
2 learn linear nice:m=1,k=2,d=4 --save-layer l.npz | linear finds no layer
2 learn student nice:m=1,k=2,d=4 --save-layer l.npy | .npz or .safetensors
2 learn elimniation parity:d=8,m=2 | did you mean 'elimination'
1 learn student:heads=100000 parity:d=1000,m=2 | memory
1 learn lowdegree:degree=9 parity:d=64,m=2 | memory
2 learn trivial parity:d=8,m=2 --budget-examples 1.5 | an integer such as 200 or 2e4
2 learn nowhere.py:Learner parity:d=8,m=2 | no such file: nowhere.py
2 learn mine.py parity:d=8,m=2 | path.py:Name
2 learn elimination parity:d=8,m=2 --budget-memory 5XB | 5XB
2 learn elimination mine.py:fs | lacks `noisy_parities`
2 learn queries,elimination parity:d=8,m=2 | repeat it, as --learner queries
2 learn elimination parity:d=8,m=2 --budget 100 | Did you mean --budget-examples or --budget-queries
2 learn elimination parity:d=8,m=2 --queries 10 | Did you mean --budget-queries?
2 learn elimination parity:d=8 | needs m: write parity:d=8,m=3
2 learn elimination parity:d=1 | needs m, as in parity:d=32,m=3
2 learn elimination parity:d=8,m=2,n=3 | known: d, m, noise, rho
2 learn queries parity:d=8,m=2 --oracle sample | did you mean samples?
2 learn trivial parity:d=8,m=1 --teacher layer.npz | one of the two
2 learn trivial parity:d=8,m=1 --k 3 | --k 3 only applies to --teacher FILE
2 learn trivial --teacher none.npz | no such file: none.npz
2 learn trivial --teacher layer.npz --tokens what | boolean
2 learn staged x.npy --labels y.npy | the option '--labels' is gone: a .npz of x and y
2 attack --a A.npy | --a and --b go together
2 attack | a SPEC, a folder or a file is needed, or --a and --b
2 learn trivial --teacher layer.npz --k 1 | k, the number of tokens
2 learn trivial --teacher layer.npz --layer 3 | AttentionLayer.from_torch
2 learn trivial --teacher layer.npz --noise -1 | at least 0
2 learn queries --teacher layer.npz | cannot run on teacher
1 learn elimination cut | examples-00000
2 learn elimination made/secret.json | secret part
1 learn queries bare | secret part
2 learn mine.py:fss parity:d=8,m=2 | unknown name 'fss': did you mean 'fs'?
2 learn loop.py:f parity:d=8,m=1 | loop.py
2 learn mlp loop.py | loop.py
2 learners new none.py | must be one in Python
2 learners check elimination | built in
2 learners list student | learners show student
2 learners show studnt | did you mean 'student'
2 learners new mine.txt | .py
2 learners shwo elimination | did you mean show?
2 reduce lwr-to-attention nowhere.txt --out x | nowhere.txt
2 reduce lwr-to-attention nowhere.txt | needs --out
2 reduce attention-to-lwr nowhere --out x.npz | nowhere
2 reduce sideways x --out y | lwr-to-attention
2 report nowhere --out r.html | nowhere
1 report notes.txt | a report is of what `hardness compare`
1 report c.json --out r.html | holds no runs
2 spectrum --out spectrum.json parity:d=28,m=3 | d must be at most 27, got 28
2 spectrum --out spectrum.json parity:d=64,m=3 --learner elimination | 2^63
2 spectrum --out spectrum.json profile:g=majority,d=8,m=3 --learner elimination | cannot run on
2 spectrum --out spectrum.json parity:d=8,m=3 --learner elimination --draws 5000 \
  | between 2 and 4096
2 spectrum --out spectrum.json parity:d=8,m=3 --top 0 | top must be an integer of at least 1, got 0
2 spectrum --out spectrum.json | SOURCE
2 store show x.db | `hardness report FILE` prints the table of runs
2 stress --ladder parity-v1 | --learner
2 stress --learner elimination --ladder parity-v2 | did you mean 'parity-v1'
2 stress --learner trivial | --ladder NAME or --on SPEC
2 stress --learner trivial --on parity:d=8,m=2 --ladder parity-v1 | one of the two
2 stress --learner trivial --on parity:d=8,m=2 --on parity:m=2,d=8 | given twice
2 stress --learner trivial --on parity:d=8,m=2 --seeds 5000 | at most 1000 seeds
2 stress --learner trivial --on parity:d=8,m=2 --budget-memory 0 | 500MB, 4GiB or 4096
2 stress --learner trivial --on parity:d=8,m=2 --budget-cpu 0 | budget_cpu must be a number above 0
2 sweep nowhere.toml --out s.db | a sweep file (TOML) is needed
2 sweep notes.txt --out s.db | mend the TOML
2 sweep few.toml --fresh | --fresh needs --out
2 sweep few.toml --backend dask | --scheduler tcp://HOST:PORT
1 sweep few.toml --out notes.txt | notes.txt holds no runs
2 verify parity:d=8,m=2 --confidence 1 | confidence
1 verify parity:d=64,m=8 --members 1000000 | memory
2 verify nice:m=2,k=2,d=8,tokens=gaussian | take tokens=boolean
2 verify mine.py:Wide --samples 9 | raise the samples
1 verify odd | 3.npz | must have the shape (m, d, r)
"""
FEW = '[[grid]]\nspecs = "parity:d=8,m=2"\nlearners = ["trivial"]\n'
# Functions of a file, and what is vacuous of them.
TWO = """
d = 4
Two = [lambda z: z[:, 0], lambda z: z[:, 1], lambda z: z[:, 0] * z[:, 1]]
Real = [lambda z: z[:, 0] + z[:, 1], lambda z: z[:, 1]]
Many = Two * 2000


class Wide:
    d = 40
    functions = Two


f = Two[2]
Same = [f, f]
Opposite = [f, lambda x: -f(x)]
Doubled = [f, lambda x: 2 * f(x)]
Sole = [f]
Halves = [lambda x: f(x) / 2, lambda x: -f(x) / 2]
"""
ABOUT = ("", " --about kernel", " --about gd --noise-std 1 --steps 10")
PLAIN = "import numpy as np\nd = 6\nfs = [lambda x: x[:, 0], lambda x: x[:, 1]]\n"
# Text of a file, the name in it that is given, and what is said; the file is named too.
FILES = [
    ("x = (1,\n", "fs", "line 1"),
    ("import nosuchmodule\n", "fs", "hardness: ModuleNotFoundError: No module named"),
    (
        "1 / 0\n",
        "fs",
        "hardness: ZeroDivisionError: division by zero (mine.py: executing it, in line 1)",
    ),
    ("raise SystemExit(4)\n", "fs", "SystemExit"),
    ("\x00", "fs", "mine.py"),
    (PLAIN, "gs", "unknown name 'gs'"),
    ("d = 6\nfs = 3\n", "fs", "fs is of type int"),
    ("d = 6\nfs = []\n", "fs", "no functions"),
    ("d = 6\ndef fs(): return None\n", "fs", "NoneType"),
    ("d = 6\ndef fs(): return 1 / 0\n", "fs", "(mine.py: fs, called without arguments, in line 2)"),
    ("d = 6\ndef fs(x): return x\n", "fs", "needs x"),
    ("d = 6\nfs = [3]\n", "fs", "member 0 is of type int"),
    ("fs = [lambda x: x[:, 0]]\n", "fs", "no d"),
    ("d = 0\nfs = [lambda x: x[:, 0]]\n", "fs", "d=0"),
    ("d = 6\nbound = -1\nfs = [lambda x: x[:, 0]]\n", "fs", "bound=-1"),
    ("d = 6\ndef f(x): return x[:, 9]\nfs = [f]\n", "fs", "IndexError"),
    ("d = 6\ndef f(x): return 1\nfs = [f]\n", "fs", "of shape () on points of shape"),
    ("d = 6\ndef f(x): return x[:, 0] * 1j\nfs = [f]\n", "fs", "complex"),
    ("d = 6\ndef f(x): return x[:, 0] / (x[:, 1] - 1)\nfs = [f]\n", "fs", "function 0 (f) gives"),
    ("d = 6\ndef f(x): return 0 * x[:, 0]\nfs = [f, f]\n", "fs", "member 0 (f0) has the norm 0"),
    ("d = 6\ndef f(x):\n  x[:] = 1\n  return x[:, 0]\nfs = [f]\n", "fs", "read-only"),
    ("d = 6\ndef f(x): return x[:, 0] - x[0, 0]\nfs = [f]\n", "fs", "in another order"),
    (PLAIN + "class C: d, functions, names = 6, fs, ['a', 'a']\n", "C", "'a' is given twice"),
    (PLAIN + "class C: d, functions, names = 6, fs, ['a']\n", "C", "one for each of 2"),
    ("class C: d, functions = 6, 3\n", "C", "an int"),
    ("def f(x): return x[:, 0] * 1e200\nd = 6\nfs = [f, f]\n", "fs", "neither integers nor"),
]
LONG = "x" * 1000
ODD = [
    *(
        (
            f"certify f{i}.py:{name} --out new.json",
            2,
            word.replace("mine.py", f"f{i}.py"),
            "" if word.startswith("member 0 (f0)") else f"f{i}.py",
        )
        for i, (_, name, word) in enumerate(FILES)
    ),
    *(
        (f"certify two.py:{name}{about}", 1, "no claim")
        for name in ("Same", "Opposite", "Doubled", "Sole", "Halves")
        for about in ABOUT
    ),
    (f"certify profile:g={'-' * 400}h,d=8,m=3", 2, "g must be majority"),
    (f"certify {LONG * 5}", 2, "unknown"),
    (f"certify parity:d=1{'0' * 300},m=3", 2, "integer"),
    (f"certify parity:d=8,m=2 --out {'x' * 300}.json", 1, "cannot be written"),
    *(
        (f"{line} --out kept", 1, "kept exists and was kept")
        for line in (
            *("certify parity:d=8,m=3", "check c.json", "compare parity:m=2 --over d=6"),
            *("generate parity:d=8,m=3", "inspect parity:d=8,m=3", "verify parity:d=8,m=3"),
            *("learn elimination parity:d=8,m=3", "report both"),
            *("learners list", "learners show mlp", "stress --list"),
        )
    ),
    *(
        (f"{call} --learner {shlex.quote(name)} --out new", 2, "printable characters")
        for call in ("stress --on parity:d=4,m=1", "compare parity:m=1 --over d=4")
        for name in ("two\nlines.py:L", "byte\udcff.py:L", f"{LONG}.py:L")
    ),
]


def rows():
    """Each line with its exit code and its words, by its command."""
    found = {}
    for row in MISTAKES.splitlines():
        asked, *words = row.split(" | ")
        code, _, line = asked.partition(" ")
        found.setdefault(line.split()[0], []).append((line, int(code), *words))
    for line, code, *words in ODD:
        found.setdefault(line.split()[0], []).append((line, code, *words))
    return found


ROWS = rows()
MADE = (
    "certify parity:d=8,m=3 --out c.json",
    "generate parity:d=8,m=3 --examples 100 --out made",
)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """What lies about where a newcomer works."""
    folder = tmp_path_factory.mktemp("mistakes")
    with contextlib.chdir(folder):
        wide = "class Wide:\n    d = 30\n    functions = fs\none = [fs[0], fs[0]]\n"
        Path("mine.py").write_text(PLAIN + wide)
        Path("two.py").write_text(TWO)
        for i, (text, _, _) in enumerate(FILES):
            Path(f"f{i}.py").write_text(text)
        for name in ("kept", "notes.txt"):
            Path(name).write_text("to do: read the manual\n")
        Path("other.json").write_text('{"format": "other/1"}')
        Path("loop.py").symlink_to("loop.py")
        for name in ("empty", "layers", "mixed", "odd", "out", "torn"):
            Path(name).mkdir()
        layer = AttentionLayer(theta=np.eye(2)[None], w=np.eye(2)[None])
        for name in ("layers/0", "layers/1", "mixed/2", "odd/2", "torn/2"):
            layer.save(f"{name}.npz")
        other = AttentionLayer(theta=np.zeros((1, 3, 3)), w=np.eye(3)[None])
        other.save("mixed/3.npz")
        Path("torn/3.npz").write_bytes(b"no layer")
        np.savez("odd/3.npz", **dict.fromkeys("qkvo", np.eye(2)))
        deep = np.random.default_rng(0).normal(size=(2, 1, 4, 4))
        AttentionLayer(theta=deep[0], w=deep[1]).save("layer.npz")
        Cache(Path("empty.db")).close()
        Path("few.toml").write_text(FEW)
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


# A line of every command with a file in it, and the code where that file is damaged.
WITH_A_FILE = """\
2 attack --learner gone.py:f lpn:n=8,noise=0.1
1 attack gone.npz --spec lpn:n=8,noise=0.1
1 attack --a gone.npy --b gone.npy --spec lpn:n=8,noise=0.1
2 bound gone.py:f
2 certify gone.py:f
1 certify gone.npz
1 check gone.json
2 compare parity:m=2 --over d=6 --learner gone.py:f
2 distinguish gone.py:f parity:d=8,m=2
1 estimate gone.csv --spec lpn:n=8,noise=0.1
2 families show gone.py:f
1 figure least gone.json --out x.pdf
1 figure stages gone.json --out x.pdf
1 figure phase gone.db --out x.pdf
2 generate gone.py:f --out new
1 icl optimum --sigma gone.npy
1 icl optimum --sigma gone.csv
1 inspect gone.npz
1 learn mlp gone.npz
1 learn trivial --teacher gone.safetensors
1 learners check gone.py:f
2 learners show gone.py:f
2 least parity:d=8,m=2 --learner gone.py:f
1 reduce lwr-to-attention gone.csv --spec lpn:n=8,noise=0.1 --out new
1 report gone.json
2 spectrum gone.py:f
2 stress --learner trivial --ladder gone.toml
2 sweep gone.toml
1 verify gone.npz
"""
ENDINGS = ("csv", "db", "json", "npy", "npz", "py", "safetensors", "toml")


@pytest.mark.parametrize("place", ["missing", "folder", "damaged"])
def test_the_exit_code_is_2_for_a_wrong_path_or_text_and_1_for_damaged_data(hardness, place):
    for name in ENDINGS if place != "missing" else ():
        path = Path(f"gone.{name}")
        path.mkdir() if place == "folder" else path.write_bytes(b"(1,\n\xff")
    rows = [row.partition(" ") for row in WITH_A_FILE.splitlines()]
    assert {line.split()[0] for _, _, line in rows} == {*COMMANDS} - {"demo"}
    wrong = []
    for damaged, _, line in rows:
        found = hardness(*shlex.split(line))
        code = int(damaged) if place == "damaged" else 2
        good = found.code == code and found.err.count("\n") == 1 and "gone" in found.err
        if not good or (place == "missing" and "no such file" not in found.err):
            wrong.append((line, found))
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.parametrize("command", ROWS)
def test_one_line_has_the_cure_and_nothing_is_left_behind(hardness, world, monkeypatch, command):
    monkeypatch.chdir(world)
    files, wrong = lying_about(), []
    for line, code, *words in ROWS[command]:
        USER_FAMILIES.clear()
        found = hardness(*shlex.split(line))
        one = found.err.startswith("hardness: ") and found.err.count("\n") == 1
        if (found.code, found.out) != (code, "") or not one:
            wrong.append((line, found))
        wrong += [(line, word, found.err) for word in words if word not in found.err]
        assert lying_about() == files, line
    assert not wrong, "\n".join(map(str, wrong))


def test_force_replaces_a_file(hardness):
    Path("f").write_text("old")
    assert hardness("certify", "parity:d=8,m=3", "--out", "f", "--force").code == 0
    assert json.loads(Path("f").read_text())["spec"] == "parity:d=8,m=3,noise=0,rho=3"


def test_an_output_that_cannot_be_written_is_said_before_the_work(hardness, monkeypatch):
    from hardness.attacks.elimination import Elimination

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
