import io
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hardness.lower import verify
from hardness.lower.verify import fresh
from hardness.runs.rows import PartRow
from hardness.sweep.gram import BlockPart, gram_cut, pack, unpack
from hardness.sweep.jobs import read_job
from instances import ToolkitError, UsageError, parse, tokens

SIGNS = ["parity:d=70,m=5", "profile:g=majority,d=40,m=5", "profile:g=[3,3,-1,-1],d=20,m=3"]
FLOATS = ["profile:g=h/3,d=20,m=3", "lwr:n=8,q=16,p=2,secret=binary", "lpn:n=12,noise=0.1"]


def cut_of(spec, members=150, samples=20_000, rows=64, run=7777, **more):
    return replace(gram_cut(spec, members, samples, **more), rows=rows, run=run)


def done(cut, order=None):
    """The parts of a cut, done from their JSON in an order, as a store gives them."""
    found = {}
    for i in range(cut.parts) if order is None else order:
        job = cut.part(i)
        again = read_job(json.loads(json.dumps({"kind": job.kind, **job.to_dict()})))
        assert again == job
        assert again.key == job.key
        result = json.loads(json.dumps(again.do()))
        found[i] = PartRow(artifact=cut.key, number=i, content=cut.content(result))
    return [found[i] for i in range(cut.parts)]


def arrays(whole):
    return {n: np.load(io.BytesIO(b), allow_pickle=False) for n, b in whole.arrays.items()}


@pytest.mark.parametrize("spec", SIGNS + FLOATS)
def test_a_matrix_in_blocks_says_what_verify_says(spec):
    cut = cut_of(spec, seed=3)
    whole, wanted = cut.assemble(iter(done(cut))), verify(parse(spec), 150, 20_000, seed=3)
    assert len(cut.strips) > 1
    assert cut.parts == 1 + len(cut.strips) * 3
    said = {k: v for k, v in wanted.to_dict().items() if not k.startswith("stored")}
    found = {k: whole.content[k] for k in said}
    if spec in FLOATS:  # their sums are rounded in another order
        assert found.pop("largest_deviation") == pytest.approx(wanted.worst, rel=1e-9)
        del said["largest_deviation"]
    assert found == said
    assert found["agrees"]
    # Anyone can read the matrix.
    there, family, wanted = arrays(whole), parse(spec), wanted.gram
    assert [tuple(m) for m in there["members"].tolist()] == list(wanted.members)
    for row in cut.strips:
        products = there[f"products_{row}"].astype(float)
        assert (products == np.triu(products)).all()
        if spec in SIGNS:
            low, high = float(min(family.values)), float(max(family.values))
            middle, half = (high + low) / 2, (high - low) / 2
            sums = there[f"sums_{row}"].astype(float)
            cross = sums[: len(products), None] + sums
            products = middle**2 * wanted.used + middle * half * cross + half**2 * products
        strip = wanted.gram[row : row + len(products), row:]
        np.testing.assert_allclose(np.triu(products / wanted.used), np.triu(strip), atol=1e-12)


@pytest.mark.parametrize("spec", ["parity:d=70,m=5", "profile:g=h/3,d=20,m=3"])
def test_a_block_is_the_sum_over_its_tokens(spec):
    """Against the formula of the labels, token by token."""
    cut = cut_of(spec, members=20)
    part = replace(cut.part(1), row=5, stop=9, start=333, count=1000)
    found = unpack(cut.content(part.do()))
    family = cut.grams.family
    words = fresh(family, 0)(333, 1000)
    x = tokens.unpack(words, family.d)
    opened = x[:, 0, 0] != x[:, 1, 0]
    labels = [(x * family.label(s, x))[opened, 0, 0] for s in cut.chosen[5:]]
    wanted = np.triu(np.array(labels[:4]) @ np.array(labels).T)
    np.testing.assert_allclose(found["products"], wanted, atol=1e-9)
    assert found["used"] == opened.sum()


def test_blocks_do_not_depend_on_their_order():
    cut = cut_of("profile:g=h/3,d=20,m=3", samples=5000, run=2500)
    order = np.random.default_rng(0).permutation(cut.parts).tolist()
    assert done(cut) == done(cut, order)


def test_a_wrong_correlation_is_found():
    cut = cut_of("parity:d=70,m=5")
    parts = done(cut)
    second = 1 + len(cut.runs) * 1 + 2  # of the strip that begins at 64, its last run
    given = unpack(parts[second].content)
    given["products"][3, 10] += cut.samples
    parts[second] = replace(parts[second], content=pack(given))
    whole = cut.assemble(iter(parts))
    assert not whole.content["agrees"]
    assert whole.content["disagreements"] == 1
    pair = whole.content["disagreeing_pairs"][0]
    chosen = cut.chosen
    assert (pair["first"], pair["second"]) == (list(chosen[67]), list(chosen[74]))


def test_parts_that_are_missing_or_damaged_are_refused():
    cut = cut_of("parity:d=70,m=5", members=70, samples=1000, run=500)
    parts = done(cut)
    with pytest.raises(ToolkitError, match=r"part 4 .* is missing"):
        cut.assemble(iter(parts[:4]))
    with pytest.raises(ToolkitError, match=r"part 1 .* is missing"):
        cut.assemble(iter([parts[0], *parts[2:]]))
    with pytest.raises(ToolkitError, match=r"part 0 .* is missing"):
        cut.assemble(iter([replace(parts[0], artifact="another")]))
    for place in (0, len(parts[1].content) // 2, len(parts[1].content) - 30):
        content = bytearray(parts[1].content)
        content[place] ^= 255
        with pytest.raises(ToolkitError, match="damaged") as refusal:
            cut.assemble(iter([parts[0], replace(parts[1], content=bytes(content)), *parts[2:]]))
        assert "\n" not in str(refusal.value)
    other = done(cut_of("parity:d=70,m=5", members=70, samples=1000, run=500, seed=1))
    mixed = [*parts[:3], *(replace(p, artifact=cut.key) for p in other[3:])]
    with pytest.raises(ToolkitError, match="do not belong together"):
        cut.assemble(iter(mixed))


def test_what_verify_refuses_is_refused():
    for spec, members, samples, confidence in (
        ("nice:m=2,k=2,d=16", 10, 10, 0.9),
        ("parity:d=8,m=2", 0, 10, 0.9),
        ("parity:d=8,m=2", 5, 0, 0.9),
        ("parity:d=8,m=2", 5, 10, 1.0),
    ):
        with pytest.raises(UsageError):
            gram_cut(spec, members, samples, confidence)
    cut = gram_cut("parity:d=8,m=2", 5, 10)
    other = replace(cut, revision=99)
    with pytest.raises(ToolkitError, match="revision 1 here and 99"):
        other.part(1).do()
    seed = next(s for s in range(99) if not cut_used(s))
    none = gram_cut("parity:d=8,m=2", 5, 1, seed=seed)
    with pytest.raises(UsageError, match="none of 1 tokens"):
        none.assemble(iter(done(none)))


def cut_used(seed):
    family = parse("parity:d=8,m=2")
    return family.open(fresh(family, seed)(0, 1))[0]


def test_cuts():
    cut = gram_cut("parity:m=2,d=6", 500, 1000)  # which has fewer members
    assert (cut.spec, cut.parts, len(cut.chosen)) == ("parity:d=6,m=2,noise=0,rho=3", 2, 10)
    assert cut.assemble(iter(done(cut))).content["members"] == 10
    large = gram_cut("parity:d=64,m=8", 4096, 10**8)
    blocks = [large.part(i) for i in range(1, large.parts)]
    assert sum((b.stop - b.row) * b.count for b in blocks) == 4096 * 10**8


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads VmHWM, Linux only")
def test_memory_of_a_large_block_is_bounded():
    part = replace(gram_cut("parity:d=64,m=8", 4096, 10**8).part(1), count=1 << 17)
    assert isinstance(part, BlockPart)
    code = (
        "import json, sys\n"
        "from hardness.sweep.jobs import read_job\n"
        "read_job(json.loads(sys.stdin.read())).do()\n"
        "print(*(l for l in open('/proc/self/status') if l.startswith('VmHWM')))\n"
    )
    there = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps({"kind": part.kind, **part.to_dict()}),
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(there.stdout.split()[1]) * 1024 < 600e6
