"""Challenges: the honest way round, what the public folder tells, and the commands."""

import json
import os
import shutil
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest

from hardness.oracles import Budget, Usage
from hardness.runs import submission
from hardness.runs.challenge import Challenge, Opened, create, read_challenge, reveal
from hardness.runs.risk import losses
from hardness.runs.submission import (
    Score,
    Submission,
    by_learner,
    by_predictions,
    by_secret,
    read_submission,
    scored,
    write_submission,
)
from hardness.upper import Failed, Hypothesis, Outcome, parse_learner
from hardness.upper.isolated import contain
from hardness.upper.isolated.init import remove
from instances import parse, read_folder
from instances.arrayfile import read_arrays
from instances.errors import ToolkitError, UsageError
from tests.test_matrix import SPECS as MATRIX

PARITY = "parity:d=16,m=3"
SPECS = [
    PARITY,
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


def make(folder: Path, spec: str = PARITY, **more) -> Challenge:
    return create(folder / "pub", folder / "owner/s.json", parse(spec), 200, 150, **more)


def read_secret(folder: Path) -> dict:
    return json.loads((folder / "owner/s.json").read_text())


def hand_in(folder: Path, opened: Opened, made: Submission) -> Score:
    """What a submission reaches that is written, read again and scored."""
    path = folder / f"{made.name}.safetensors"
    write_submission(path, made)
    return scored(opened, read_submission(path, opened.challenge))


@pytest.mark.parametrize(
    ("spec", "tensors"), list(zip(SPECS, cycle(["safetensors", "npz"]), strict=False))
)
def test_the_way_round(tmp_path, spec, tensors):
    made = make(tmp_path, spec, tensors=tensors, deadline="at noon")
    secret = read_secret(tmp_path)["secret"]
    opened = reveal(made, tmp_path / "owner/s.json")
    assert opened.exact
    assert list(opened.instance.hidden.secret) == secret
    family, x = made.family, made.fresh.x
    truth, known = family.mean(tuple(secret), x), family.known(x) + family.beside(tuple(secret), x)
    claimed = secret[::-1] if family.name == "parity" else secret  # a set has no order
    handed = [by_secret(made, "claim", str(claimed))]
    given = {"true": truth, "known": known, "half": (truth + known) / 2, "huge": known + 1e300}
    for name, values in given.items():
        np.save(tmp_path / f"{name}.npy", values)
        handed.append(by_predictions(made, name, tmp_path / f"{name}.npy"))
    found = {one.name: hand_in(tmp_path, opened, one) for one in handed}
    assert max(found["true"].risk, found["claim"].risk) < 1e-20
    assert found["known"].risk == pytest.approx(1)
    assert found["half"].risk == pytest.approx(1 / 4)
    assert 0.5 < found["huge"].risk < 100  # projected, whatever their size
    assert [found[n].secret_right for n in ("claim", "true")] == [True, None]


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


# What the folder tells.


def test_what_is_drawn_comes_from_the_system(tmp_path):
    """Twice the same call: nothing hidden is the same, nor any token."""
    made = [make(tmp_path / name, "parity:d=200,m=20") for name in "ab"]
    one, two = (read_secret(tmp_path / name) for name in "ab")
    for field in ("secret", "seed", "nonce", "challenge"):
        assert one[field] != two[field]
    assert 2**200 < one["seed"] < 2**256
    assert made[0].said.fresh.sha256 != made[1].said.fresh.sha256


@pytest.mark.parametrize("spec", ["parity:d=200,m=20", "nice:m=2,k=2,d=8", "lwe:n=16,q=97,sigma=1"])
def test_the_folder_holds_nothing_hidden(tmp_path, spec):
    made, hidden = make(tmp_path, spec), read_secret(tmp_path)
    assert (tmp_path / "owner/s.json").stat().st_mode & 0o777 == 0o600
    assert len(list(tmp_path.rglob("*"))) == 3 + len(list((tmp_path / "pub").iterdir()))
    values = hidden["secret"]
    texts, raw = [hidden["nonce"]], [bytes.fromhex(hidden["nonce"])]
    for number in [hidden["seed"], *(v for v in values if v > 2**64)]:
        texts += [str(number), f"{number:x}"]
        raw += [number.to_bytes(32, "little"), number.to_bytes(32, "big")]
    if len(values) > 1:
        texts += [sep.join(map(str, values)) for sep in (",", ", ", " ", "\n")]
        raw += [np.array(values, kind).tobytes() for kind in ("<i8", "<i4", "<i2")]
    if spec.startswith("parity"):
        bits = sum(1 << j for j in values)
        raw += [bits.to_bytes(25, "little"), bits.to_bytes(25, "big")]
        texts += [f"{bits:x}", raw[-2].hex()]
    forbidden = raw + [form(text).encode() for text in texts for form in (str, str.upper)]
    for path in made.folder.path.iterdir():
        content = path.read_bytes()
        assert not [f for f in forbidden if f in content], path
    (fresh,) = made.folder.path.glob("fresh.*")
    arrays, meta = read_arrays(fresh)
    assert list(arrays) == ["words"]  # tokens alone, no labels
    assert meta == {"format": "hardness-fresh/1", "spec": made.family.spec}


def test_the_folder_is_one_of_generate(tmp_path):
    made = make(tmp_path)
    folder = read_folder(tmp_path / "pub")
    assert (folder.count, folder.instance) == (200, None)
    # With the revealed file in it, it is the folder of an instance like any other.
    shutil.copy(tmp_path / "owner/s.json", tmp_path / "pub/secret.json")
    assert read_folder(tmp_path / "pub").instance is not None
    opened = reveal(read_challenge(tmp_path / "pub"), tmp_path / "pub/secret.json")
    assert opened.challenge.id == made.id


def test_tokens_without_an_unknown_label_are_no_challenge(tmp_path):
    """Of a single one it is unknown half of the time."""
    family = parse("lpn:n=8,noise=0.1")
    with pytest.raises(UsageError, match="none of them has an unknown label"):
        _ = [create(tmp_path / f"p{i}", tmp_path / f"s{i}", family, 1, 1) for i in range(64)]


def test_both_or_none(tmp_path, monkeypatch):
    real = os.replace

    def fail(source, target):
        if Path(target).name == "pub":
            raise OSError(28, "No space left on device")
        return real(source, target)

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(ToolkitError, match="No space"):
        create(tmp_path / "pub", tmp_path / "s.json", parse(PARITY), 10)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    (tmp_path / "file").write_text("")
    with pytest.raises(ToolkitError):
        create(tmp_path / "pub", tmp_path / "file/s.json", parse(PARITY), 10)
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


# Learners that submit.


@pytest.mark.parametrize(
    ("spec", "learner", "right"),
    [
        (PARITY, "elimination", True),
        (PARITY, "lowdegree:degree=1", None),
        ("nice:m=2,k=2,d=8", "trivial", None),
    ],
)
def test_a_learner_submits(tmp_path, monkeypatch, spec, learner, right):
    made = make(tmp_path, spec)
    monkeypatch.chdir(tmp_path / "owner")  # a learner of the toolkit has no folder
    found, _, usage = by_learner(made, "ann", parse_learner(learner), Budget())
    assert usage.examples <= 200
    score = hand_in(tmp_path, reveal(made, tmp_path / "owner/s.json"), found)
    assert (score.secret_right, score.risk < 1e-12) == (right, bool(right))


def test_a_hypothesis_is_closed_and_its_failure_told(tmp_path, monkeypatch):
    made, closed = make(tmp_path), []

    def crash(x):
        raise Failed(Outcome.CRASHED, {"signal": "SIGSEGV"})

    for predict, word in (
        (crash, "crashed"),
        (lambda x: np.full(x.shape, np.nan), "nothing was packed"),
        (lambda x: x[:1].astype(float), "nothing was packed"),
        (lambda x: x + 0j, "nothing was packed"),
    ):
        given = Hypothesis(predict=predict, close=lambda: closed.append(1))
        usage = Usage(examples=1, queries=0, seconds=0.0, peak_bytes=0)
        monkeypatch.setattr(submission, "learn_once", lambda *_, one=(given, usage): one)
        with pytest.raises(ToolkitError, match=word):
            by_learner(made, "ann", parse_learner("trivial"), Budget())
    assert len(closed) == 4


LEARNER = """
import numpy as np

def zeros(x, y):
    return lambda x: np.zeros(x.shape)

def bad(x, y):
    raise KeyError('no such thing')
"""


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A challenge as docs/challenges.md lays it out: public, owner and learners apart."""
    monkeypatch.setenv(contain.CONTAIN, "off")  # what is asked here does not need bubblewrap
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann/mine.py").write_text(LEARNER)
    return make(tmp_path)


def submit(made: Challenge, file: Path, name: str = "zeros"):
    return by_learner(made, "ann", parse_learner(f"{file}:{name}"), Budget())


def test_a_learner_that_broke_down_submits_nothing(made, tmp_path):
    for name, words in (
        *(("bad", "raised: .*KeyError.*no such thing"), ("bda", "not loaded: .*bda")),
    ):
        with pytest.raises(ToolkitError, match=words) as caught:
            submit(made, tmp_path / "ann/mine.py", name)
        assert "\n" not in str(caught.value)


def linked_there(folder, secret):
    (secret.parent / "mine.py").write_text(LEARNER)
    (folder / "mine.py").unlink()
    (folder / "mine.py").symlink_to(secret.parent / "mine.py")


LAID = {
    "beside": lambda folder, secret: shutil.copy(secret, folder / "secret.json"),
    "below": lambda folder, secret: shutil.copytree(secret.parent, folder / "data/more"),
    "hard link": lambda folder, secret: os.link(secret, folder / "weights.bin"),
    "symbolic link": lambda folder, secret: (folder / "weights.bin").symlink_to(secret),
    "written otherwise": lambda folder, secret: (folder / "all.txt").write_text(
        "Mine:\n" + secret.read_text().replace(", ", ",\n   ")
    ),
    "the learner a link": linked_there,
}


@pytest.mark.parametrize("how", LAID)
def test_a_secret_that_a_learner_could_read_is_refused(made, tmp_path, how):
    LAID[how](tmp_path / "ann", tmp_path / "owner/s.json")
    for learner in (f"{tmp_path}/ann/mine.py:zeros", f"decode:{tmp_path}/ann/mine.py:zeros"):
        with pytest.raises(ToolkitError, match="is the secret of this challenge") as refused:
            by_learner(made, "ann", parse_learner(learner), Budget())
        assert "\n" not in str(refused.value)


def test_what_is_no_secret_of_this_challenge_does_no_harm(made, tmp_path):
    folder = tmp_path / "ann"
    make(folder / "other")
    shutil.copytree(tmp_path / "pub", folder / "pub")
    os.mkfifo(folder / "pipe")
    (folder / "gone").symlink_to(tmp_path / "nowhere")
    (folder / "loop").symlink_to(folder)
    found, outcome, _ = submit(made, folder / "mine.py")
    assert (found.predictions.shape, outcome) == ((150, 2, 16), None)


def test_a_folder_of_too_many_files_or_of_any_depth_is_refused(made, tmp_path, monkeypatch):
    """Without a file in it, deeper than Python calls itself."""
    with monkeypatch.context() as patch:
        patch.setattr(submission, "_MOST_FILES", 3)
        for name in "abc":
            (tmp_path / "ann" / name).touch()
        with pytest.raises(UsageError, match="holds over 3 files"):
            submit(made, tmp_path / "ann/mine.py")
    place = os.open(tmp_path / "ann", os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=place)
        inner = os.open("d", os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = inner
    os.close(place)
    try:
        with pytest.raises(UsageError, match="folders in folders"):
            submit(made, tmp_path / "ann/mine.py")
    finally:
        remove(str(tmp_path / "ann" / "d"))


def test_learners_run_in_bubblewrap_or_as_the_user_says(made, tmp_path, monkeypatch):
    def start(*_):
        raise ToolkitError("it starts")

    monkeypatch.setattr(submission, "learn_once", start)
    for level in ("bubblewrap", "landlock", "off"):
        monkeypatch.setattr(contain, "level", lambda level=level: level)
        words = "bubblewrap alone" if level == "landlock" else "it starts"
        with pytest.raises(ToolkitError, match=words):
            submit(made, tmp_path / "ann/mine.py")


# The commands; docs/challenges.md plays them in words, test_mistakes.py has what they refuse.


def test_commands_go_the_way_round_in_json(hardness):
    def command(line):
        return hardness(*line.split())

    line = f"challenge create {PARITY} --examples 100 --fresh 50 --out pub --secret s.json --json"
    found = hardness(*line.split(), "--deadline", "noon, UTC").json
    said, secret = (json.loads(Path(name).read_text()) for name in ("pub/challenge.json", "s.json"))
    assert (found["challenge"], found["commitment"]) == (said["id"], said["commitment"])
    assert (found["examples"], found["fresh"], found["deadline"]) == (100, 50, "noon, UTC")
    made = [
        command(f"challenge submit pub --out {name}.safetensors --name {name} {what} --json").json
        for name, what in (("ann", "--learner elimination:checks=8"), ("bob", "--claim [1,2,3]"))
    ]
    assert (made[1]["name"], made[1]["secret"]) == ("bob", [1, 2, 3])
    score = "challenge score pub --secret"
    assert command(f"{score} s.json ann.safetensors --out score.json").code == 0
    reached = json.loads(Path("score.json").read_text())
    assert (reached["deadline"], reached["risk"], reached["secret_right"]) == ("noon, UTC", 0, True)
    assert reached["digest"] == made[0]["digest"]
    assert command(f"{score} s.json bob.safetensors --json").json["secret_right"] in (True, False)
    assert "risk" not in command(f"{score} s.json").out  # the challenge alone
    # Learners, attacks and the rest run on the folder.
    assert [command(f"{verb} pub").code for verb in ("learn elimination", "inspect", "verify")] == [
        *(0, 0, 0)
    ]
    assert command("attack pub --learner elimination --json").json["attacks"][0]["judged"] == 0
    assert command(f"generate {PARITY} --out pub --force").code == 1  # it is not one of its own
    for other, code, words in (
        ({k: v for k, v in secret.items() if k != "challenge"}, 2, "an instance, and of no chall"),
        (secret | {"secret": [j % 15 + 1 for j in secret["secret"]]}, 3, "does not open the comm"),
    ):
        Path("other.json").write_text(json.dumps(other))
        refused = command(f"{score} other.json")
        assert refused.code == code
        refused.one_line(words)
