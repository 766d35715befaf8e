"""Challenges: the honest way round on every kind of family, and what the public folder tells."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from hardness.oracles import Budget, Usage
from hardness.runs import challenge as lib
from hardness.runs.challenge import submit
from hardness.runs.challenge.score import Entry, ranked
from hardness.runs.risk import measure
from hardness.runs.risk.given import losses
from hardness.upper import Failed, Hypothesis, Outcome, parse_learner
from instances import parse, read_folder
from instances.arrayfile import read_arrays
from instances.errors import AlreadyExists, ToolkitError, UsageError
from tests.test_matrix import SPECS as MATRIX

SPECS = [
    "parity:d=16,m=3",
    "parity:d=16,m=3,noise=0.1",
    "profile:g=majority,d=12,m=5",
    "lwr:n=8,q=16,p=2,secret=binary,h=4",
    "lwe:n=4,q=97,sigma=1",
    "lpn:n=16,h=3,noise=0.1",
    "window:n=6,q=16,parts=4",
    "nice:m=2,k=2,d=8",
    "nice:m=2,k=3,d=6,tokens=gaussian,noise=0.5",
    "dial:tau=0.3,m=2,k=2,d=8",
    "linear:m=2,k=3,d=4",
    "linear:m=2,k=2,d=5,tokens=boolean,noise=1",
]
SPECS += [one for one in MATRIX if not {parse(one).name} & {parse(spec).name for spec in SPECS}]


def make(folder: Path, spec: str, **more) -> lib.Challenge:
    return lib.create(folder / "pub", folder / "s.json", parse(spec), 200, 150, **more)


def hand_in(folder: Path, submission: lib.Submission) -> Path:
    path = folder / f"{submission.name}.safetensors"
    lib.write_submission(path, submission)
    return path


@pytest.mark.parametrize("tensors", ["safetensors", "npz"])
@pytest.mark.parametrize("spec", SPECS)
def test_the_way_round(tmp_path, spec, tensors):
    made = make(tmp_path, spec, tensors=tensors, deadline="at noon")
    hidden = json.loads((tmp_path / "s.json").read_text())
    opened = lib.reveal(made, tmp_path / "s.json")
    assert opened.exact
    assert list(opened.instance.hidden.secret) == hidden["secret"]
    family, x = made.family, made.fresh.x
    truth = opened.instance.family.mean(opened.instance.hidden.secret, x)
    known = family.known(x)
    for name, values in (("true", truth), ("known", known), ("half", (truth + known) / 2)):
        np.save(tmp_path / f"{name}.npy", values)
    paths = [
        hand_in(tmp_path, lib.by_predictions(made, name, tmp_path / f"{name}.npy"))
        for name in ("true", "known", "half")
    ]
    paths.append(hand_in(tmp_path, lib.by_secret(made, "claim", json.dumps(hidden["secret"]))))
    scores = lib.score(opened, paths)
    found = {entry.name: entry for entry in scores.entries}
    assert found["true"].risk < 1e-20
    assert found["claim"].risk < 1e-20
    assert found["known"].risk == pytest.approx(1)
    assert found["half"].risk == pytest.approx(1 / 4)
    assert [found[n].rank for n in ("true", "claim", "half", "known")] == [1, 1, 3, 4]
    assert [found[n].secret_right for n in ("claim", "true")] == [True, None]
    # The order of the submissions changes nothing, and neither does doing it again.
    assert lib.score(opened, paths[::-1]).to_json() == scores.to_json()


def test_the_risk_is_the_sum_over_the_tokens():
    instance = parse("parity:d=8,m=2,noise=0.1").instance(3)
    drawn = instance.examples(0, 400, axis="fresh")
    given = np.random.default_rng(0).normal(size=drawn.y.shape)
    found = losses(instance, drawn, given)
    target = instance.family.mean(instance.hidden.secret, drawn.x)
    rows = drawn.x[:, 0, 0] != drawn.x[:, 1, 0]
    inside = np.clip(given[rows, :, 0], -0.8, 0.8)  # E[Y|X] is +-(1 - 2/10)
    byhand = ((target[rows, :, 0] - inside) ** 2).sum() / (0.64 * 2 * rows.sum())
    assert found.risk == pytest.approx(byhand)
    assert found.unclipped > found.risk


@pytest.mark.parametrize("spec", ["parity:d=16,m=3", "nice:m=2,k=2,d=8", "linear:m=2,k=3,d=4"])
def test_the_risk_is_near_that_of_the_population(spec):
    """On many tokens of a rule that was fixed before, as `hardness learn` measures it."""
    instance = parse(spec).instance(1)
    other = parse(spec).instance(2).hidden.secret
    drawn = instance.examples(0, 20_000, axis="fresh")

    def rule(x):
        return (
            instance.family.mean(instance.hidden.secret, x) + instance.family.mean(other, x)
        ) / 2

    population = measure(instance, rule)
    assert losses(instance, drawn, rule(drawn.x)).risk == pytest.approx(population.value, rel=0.2)


def test_a_prediction_of_any_size_is_projected(tmp_path):
    for spec in SPECS:
        instance = parse(spec).instance(0)
        drawn = instance.examples(0, 50, axis="fresh")
        found = losses(instance, drawn, np.full(drawn.y.shape, 1e300))
        assert np.isfinite(found.risk)
        assert found.unclipped is None or found.unclipped > 1e10


@pytest.mark.parametrize(
    ("spec", "learner", "right"),
    [
        ("parity:d=16,m=3", "elimination", True),
        ("lpn:n=10,h=2,noise=0.01", "bruteforce", True),
        ("parity:d=16,m=3", "lowdegree:degree=1", None),
        ("nice:m=2,k=2,d=8", "trivial", None),
    ],
)
def test_a_learner_submits(tmp_path, spec, learner, right):
    made = make(tmp_path, spec)
    submission, _, usage = lib.by_learner(made, "ann", parse_learner(learner), Budget())
    assert usage.examples <= 200
    opened = lib.reveal(made, tmp_path / "s.json")
    (entry,) = lib.score(opened, [hand_in(tmp_path, submission)]).entries
    assert entry.secret_right is right
    assert (entry.risk < 1e-12) is bool(right)


def test_a_learner_that_needs_queries_cannot_run(tmp_path):
    made = make(tmp_path, "parity:d=8,m=2")
    with pytest.raises(ToolkitError, match="statistical queries"):
        lib.by_learner(made, "ann", parse_learner("queries"), Budget())


def test_a_learner_that_broke_down_submits_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("HARDNESS_CONTAIN", "off")
    made = make(tmp_path, "parity:d=8,m=2")
    (tmp_path / "ann").mkdir()  # apart from the secret
    (tmp_path / "ann/bad.py").write_text("def bad(x, y):\n    raise KeyError('no such thing')\n")
    for name, words in (("bad", "raised: .*KeyError.*no such thing"), ("bda", "not loaded: .*bda")):
        learner = parse_learner(f"{tmp_path / 'ann/bad.py'}:{name}")
        with pytest.raises(ToolkitError, match=words) as caught:
            lib.by_learner(made, "ann", learner, Budget(seconds=20))
        assert "\n" not in str(caught.value)


def test_a_hypothesis_is_closed_and_its_failure_told(tmp_path, monkeypatch):
    made, closed = make(tmp_path, "parity:d=8,m=2"), []

    def predict(x):
        raise Failed(Outcome.CRASHED, {"signal": "SIGSEGV"})

    def give(values):
        return Hypothesis(predict=values, close=lambda: closed.append(1))

    usage = Usage(examples=1, queries=0, seconds=0.0, peak_bytes=0)
    for values, word in (
        (predict, "crashed"),
        (lambda x: np.full(x.shape, np.nan), "not finite"),
        (lambda x: x[:1].astype(float), "predicts"),
        (lambda x: x + 0j, "complex"),
    ):
        monkeypatch.setattr(submit, "learn_once", lambda *a, v=values: (give(v), usage))
        with pytest.raises(ToolkitError, match=word):
            lib.by_learner(made, "ann", parse_learner("trivial"), Budget())
    assert len(closed) == 4


@pytest.mark.parametrize(
    ("text", "word"),
    [("def M(x, y): pass\n", "not loaded"), ("def L(x, y): raise ValueError('why')\n", "raised")],
)
def test_what_a_broken_learner_of_ones_own_leaves_is_not_packed(tmp_path, monkeypatch, text, word):
    monkeypatch.setenv("HARDNESS_CONTAIN", "off")
    made = make(tmp_path, "parity:d=8,m=2")
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann/mine.py").write_text(text)
    with pytest.raises(ToolkitError, match=word):
        lib.by_learner(made, "ann", parse_learner(f"{tmp_path / 'ann/mine.py'}:L"), Budget())


def test_what_is_drawn_comes_from_the_system(tmp_path):
    """Twice the same call: nothing hidden is the same, nor any token."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        make(tmp_path / name, "parity:d=200,m=20")
    one, two = (json.loads((tmp_path / n / "s.json").read_text()) for n in ("a", "b"))
    for field in ("secret", "seed", "nonce", "challenge"):
        assert one[field] != two[field]
    assert 2**200 < one["seed"] < 2**256
    fresh = [(tmp_path / n / "pub/fresh.safetensors").read_bytes() for n in ("a", "b")]
    assert fresh[0] != fresh[1]


@pytest.mark.parametrize("tensors", ["safetensors", "npz"])
@pytest.mark.parametrize("spec", ["parity:d=200,m=20", "nice:m=2,k=2,d=8", "lwe:n=16,q=97,sigma=1"])
def test_the_folder_holds_nothing_hidden(tmp_path, spec, tensors):
    made = make(tmp_path, spec, tensors=tensors)
    hidden = json.loads((tmp_path / "s.json").read_text())
    assert (tmp_path / "s.json").stat().st_mode & 0o777 == 0o600
    assert sorted(p.name for p in tmp_path.iterdir()) == ["pub", "s.json"]
    nonce = bytes.fromhex(hidden["nonce"])
    forbidden = [nonce, hidden["nonce"].encode(), hidden["nonce"].upper().encode()]
    numbers = [hidden["seed"], *(v for v in hidden["secret"] if v > 2**64)]
    for number in numbers:
        raw = number.to_bytes(32, "little")
        forbidden += [str(number).encode(), f"{number:x}".encode(), raw, raw[::-1]]
        forbidden += [f"{number:x}".upper().encode()]
    if len(hidden["secret"]) > 1:
        values = hidden["secret"]
        forbidden += [sep.join(map(str, values)).encode() for sep in (",", ", ", " ", "\n")]
        forbidden += [np.array(values, kind).tobytes() for kind in ("<i8", "<i4", "<i2")]
        if spec.startswith("parity"):
            bits = sum(1 << j for j in values)
            raw = bits.to_bytes(25, "little")
            forbidden += [raw, raw[::-1], f"{bits:x}".encode(), raw.hex().encode()]
    for path in made.folder.path.iterdir():
        content = path.read_bytes()
        assert not [f for f in forbidden if f in content], path
    (fresh,) = made.folder.path.glob("fresh.*")
    arrays, meta = read_arrays(fresh)
    assert list(arrays) == ["words"]  # tokens alone, no labels
    assert meta == {"format": "hardness-fresh/1", "spec": made.family.spec}


def test_the_size_of_the_public_part_does_not_depend_on_the_secret(tmp_path):
    sizes = set()
    for i in range(4):
        (tmp_path / str(i)).mkdir()
        made = make(tmp_path / str(i), "lwe:n=8,q=4093,sigma=1")
        files = [p for p in made.folder.path.iterdir() if p.name != "instance.json"]
        # That one prints eight public labels in decimals, and the commitments have one length.
        sizes.add(tuple(sorted((p.name, p.stat().st_size) for p in files)))
        assert {len(c) for c in made.folder.public.commitments.values()} == {64}
    assert len(sizes) == 1


def test_the_folder_is_one_of_generate(tmp_path):
    made = make(tmp_path, "parity:d=16,m=3")
    folder = read_folder(tmp_path / "pub")
    assert (folder.count, folder.instance) == (200, None)
    # With the revealed file in it, it is the folder of an instance like any other.
    shutil.copy(tmp_path / "s.json", tmp_path / "pub/secret.json")
    assert read_folder(tmp_path / "pub").instance is not None
    opened = lib.reveal(lib.read_challenge(tmp_path / "pub"), tmp_path / "pub/secret.json")
    assert opened.challenge.id == made.id


@pytest.mark.parametrize("place", ["pub/s.json", "pub", "pub/../pub/deep/s.json", "link/s.json"])
def test_a_secret_inside_of_the_folder_is_refused(tmp_path, place):
    (tmp_path / "link").symlink_to(tmp_path / "pub")
    with pytest.raises(UsageError, match="lies in the public folder"):
        lib.create(tmp_path / "pub", tmp_path / place, parse("parity:d=8,m=2"), 10)
    assert not (tmp_path / "pub").exists()


def test_a_secret_file_is_never_overwritten(tmp_path):
    make(tmp_path, "parity:d=8,m=2")
    before = (tmp_path / "s.json").read_bytes()
    with pytest.raises(AlreadyExists, match="could never be opened"):
        make(tmp_path, "parity:d=8,m=2", force=True)
    assert (tmp_path / "s.json").read_bytes() == before
    lib.create(tmp_path / "pub", tmp_path / "t.json", parse("parity:d=8,m=2"), 10, force=True)
    assert lib.read_challenge(tmp_path / "pub").folder.count == 10


def test_both_or_none(tmp_path, monkeypatch):
    real = os.replace

    def fail(source, target):
        if Path(target).name == "pub":
            raise OSError(28, "No space left on device")
        return real(source, target)

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(ToolkitError, match="No space"):
        make(tmp_path, "parity:d=8,m=2")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    (tmp_path / "file").write_text("")
    with pytest.raises(ToolkitError):
        lib.create(tmp_path / "pub", tmp_path / "file/s.json", parse("parity:d=8,m=2"), 10)
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_parity_is_a_set(tmp_path):
    """The order of a claimed set of coordinates does not matter."""
    made = make(tmp_path, "parity:d=16,m=3")
    secret = json.loads((tmp_path / "s.json").read_text())["secret"]
    path = hand_in(tmp_path, lib.by_secret(made, "ann", str(secret[::-1])))
    (entry,) = lib.score(lib.reveal(made, tmp_path / "s.json"), [path]).entries
    assert (entry.secret_right, entry.risk) == (True, 0.0)


def test_ranks_are_shared_in_nine_decimals():
    def entry(name, risk):
        return Entry(
            rank=0, name=name, risk=risk, unclipped=None, secret_right=None, digest="", content=""
        )

    found = ranked([entry("c", 0.5), entry("b", 1e-13), entry("a", 0.0), entry("d", 0.7)])
    assert [(e.rank, e.name) for e in found] == [(1, "a"), (1, "b"), (3, "c"), (4, "d")]
