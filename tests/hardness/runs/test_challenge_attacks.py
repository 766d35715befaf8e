"""Challenges under attack: forged, altered, replayed, oversized; organisers who cheat.

An attack changes the files of a sound challenge and its two submissions, which lie in the working
folder. Then `check` does what everybody does after the reveal, and must refuse.
"""

import contextlib
import hashlib
import json
import os
import shutil
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from hardness.runs.challenge import commitment, create, read_challenge, read_secret, reveal
from hardness.runs.submission import (
    by_predictions,
    by_secret,
    read_submission,
    scored,
    write_submission,
)
from instances import parse
from instances.disk import digest
from instances.errors import DamagedFile, Refuted, ToolkitError, UsageError
from instances.family import Hidden

SPEC, SHAPE = "parity:d=16,m=3,noise=0.1", (60, 2, 16)
PUB, SECRET = Path("pub"), Path("s.json")
CHALLENGE, INSTANCE = PUB / "challenge.json", PUB / "instance.json"
SHARD, FRESH = PUB / "examples-00000.safetensors", PUB / "fresh.safetensors"
A, B, C = (Path(f"{name}.safetensors") for name in "abc")


@pytest.fixture(scope="module")
def master(tmp_path_factory):
    """A challenge with two submissions, made once."""
    with contextlib.chdir(tmp_path_factory.mktemp("challenge")):
        create(PUB, SECRET, parse(SPEC), 100, SHAPE[0], "at noon")
        np.save("p.npy", np.zeros(SHAPE))
        claim(A, "ann", str(load(SECRET)["secret"]))
        write_submission(B, by_predictions(read_challenge(PUB), "bob", Path("p.npy")))
        yield Path.cwd()


@pytest.fixture(autouse=True)
def here(master, tmp_path, monkeypatch):
    """A copy of it as the working folder: messages are then short."""
    shutil.copytree(master, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")


@contextlib.contextmanager
def little_memory():
    """What is refused was not read, nor any room taken for it."""
    tracemalloc.start()
    yield
    assert tracemalloc.get_traced_memory()[1] < 1 << 24
    tracemalloc.stop()


def opened():
    return reveal(read_challenge(PUB), SECRET)


def check():
    """Open the challenge and score all submissions there."""
    found = opened()
    for path in sorted(Path().glob("*.safetensors")):
        scored(found, read_submission(path, found.challenge))


def claim(path, name, secret="[4,5,6]"):
    made = by_secret(read_challenge(PUB), name, secret)
    write_submission(path, made, force=True)
    return made


def read(path):
    return read_submission(path, read_challenge(PUB))


def load(path):
    """JSON, or the metadata of a submission."""
    if path.suffix != ".safetensors":
        return json.loads(path.read_text())
    with safe_open(path, framework="numpy") as file:
        return json.loads(file.metadata()["hardness"])


def store(path, data):
    if path.suffix == ".safetensors":
        save_file(load_file(path), path, metadata={"hardness": json.dumps(data)})
    else:
        path.write_text(json.dumps(data, indent=1) + "\n")  # as write_json does


def edit(path, change=None, **fields):
    data = load(path) | fields
    if change:
        change(data)
    store(path, data)


def rewrite(path, **arrays):
    """Write other arrays with the metadata of before, as a forger would."""
    save_file(arrays, path, metadata={"hardness": json.dumps(load(path))})


def seal(fresh=True):
    """Make every hash of the folder right again, and the secret file's id."""
    data, sha256 = load(CHALLENGE), hashlib.sha256()
    for array in load_file(FRESH).values():
        sha256.update(array.tobytes() + bytes(len(array)))  # blank codes
    data["instance"] = hashlib.sha256(INSTANCE.read_bytes()).hexdigest()
    if fresh:
        data["fresh"]["sha256"] = sha256.hexdigest()
    data.pop("id", None)
    store(CHALLENGE, data | {"id": digest(data)})
    edit(SECRET, challenge=digest(data))


def seal_shard(labels="codes"):
    arrays = load_file(SHARD)
    sha256 = hashlib.sha256(arrays["words"].tobytes() + arrays[labels].tobytes()).hexdigest()
    edit(INSTANCE, lambda d: d["examples"]["shards"][0].update(sha256=sha256))


def test_what_is_sound_passes():
    check()
    before = load(CHALLENGE)
    seal_shard()
    seal()
    assert load(CHALLENGE) == before  # so no attack below is refused for its seals
    # The digest hides what it commits to.
    assert len({claim(C, "ann", "[1,2,3]").digest for _ in range(20)}) == 20


# Every field, every byte.


def leaves(value, place=()):
    """Every place in JSON, containers among them."""
    if place:
        yield place
    inner = value.items() if isinstance(value, dict) else ()
    for step, one in inner or (enumerate(value) if isinstance(value, list) else ()):
        yield from leaves(one, (*place, step))


def others(value):
    """Values that a field might be changed to."""
    if isinstance(value, int | float):
        return [value + 1e-3, int(value) + 1, -1, 10**400, float("nan"), None]
    if isinstance(value, str):
        changed = value[:-1] + ("0" if value[-1:] != "0" else "1")
        return [changed, value + "0", "", None, ["x"], "x" * 100_000]
    if value is None:
        return [0, "x"]
    return [None, 5, type(value)()] if value else [None, 5]


def mutations(original):
    """Every mutation of every field of JSON: other values, and none."""
    for place in leaves(original):
        for i in range(9):
            whole = part = json.loads(json.dumps(original))
            for step in place[:-1]:
                part = part[step]
            values = others(part.pop(place[-1]))
            if i < len(values):
                (part.insert if isinstance(part, list) else part.__setitem__)(place[-1], values[i])
            yield place, whole
            if i == len(values):  # which leaves it out
                break
    yield ("more",), {**original, "more": 1}


@pytest.mark.parametrize("path", [CHALLENGE, INSTANCE, SECRET, A, B])
def test_every_field_is_held(path):
    # Another value of the right kind is no damage but a commitment that does not open.
    refuted = {"challenge", "nonce", "secret", "seed", "spec"} if path == SECRET else set()
    original, codes = load(path), set()
    for place, data in mutations(original):
        store(path, data)
        with pytest.raises(ToolkitError) as error:
            check()
        assert "\n" not in str(error.value), place
        assert len(str(error.value)) < 500, place
        codes.add((place[0], error.value.exit_code))
    assert {field for field, _ in codes} >= set(original) | {"more"}
    assert {field for field, code in codes if code == 3} == refuted
    assert ("format", 1) in codes


@pytest.mark.parametrize(
    ("path", "free"),
    [(CHALLENGE, "deadline fresh id instance"), (INSTANCE, "examples more reference")],
)
def test_an_organiser_who_seals_all_again_changes_nothing_that_counts(path, free):
    """Only a deadline, and what seals make right again; else 100 written as 100.001."""
    kept, passed = {p: p.read_text() for p in (CHALLENGE, INSTANCE, SECRET)}, set()
    for place, data in list(mutations(load(path)))[::2]:
        store(path, data)
        with contextlib.suppress(LookupError, TypeError, ValueError, AttributeError):
            seal()
        with contextlib.suppress(ToolkitError):
            assert opened().exact
            passed.add(place[0])
        for one, text in kept.items():
            one.write_text(text)
    assert set() < passed <= set(free.split())


def test_every_byte_of_a_submission_is_held():
    """One flipped bit, wherever it is: refused, or (in blanks of the header) the same said."""
    challenge, whole, before = read_challenge(PUB), A.read_bytes(), read(A).digest
    for i in range(len(whole)):
        A.write_bytes(whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1 :])
        with contextlib.suppress(DamagedFile):
            assert read_submission(A, challenge).digest == before


# Attacks: what is done, and how it is refused. First organisers who cheat.


def alter(which, *seals):
    """Alter an example or its label, and then the hashes named."""
    arrays = load_file(SHARD)
    row = np.flatnonzero(parse(SPEC).open(arrays["words"]))[7]
    arrays[which][row] ^= np.uint8(1) if which == "codes" else np.uint64(2)
    rewrite(SHARD, **arrays)
    for one in seals:
        one()


def alter_fresh(*seals, **labels):
    words = load_file(FRESH)["words"]
    words[3, 0, 0] = 5
    rewrite(FRESH, words=words, **labels)
    for one in seals:
        one()


def give_another_secret(renamed):
    own = load(SECRET)["challenge"]
    SECRET.unlink()
    create(Path("other"), SECRET, parse(SPEC), 100, SHAPE[0])
    if renamed:
        edit(SECRET, challenge=own)


def commit_to(secret):
    """Commit anew to a secret of no member, so that nobody finds it."""
    data = load(SECRET) | {"secret": secret}
    nonce = bytes.fromhex(data["nonce"])
    hidden = Hidden(secret=tuple(secret), seed=data["seed"], nonce=nonce)
    edit(INSTANCE, commitments={what: hidden.commitment(what) for what in ("secret", "seed")})
    edit(CHALLENGE, commitment=commitment(parse(SPEC), hidden))
    store(SECRET, data)
    seal()


def link(path):
    path.rename("moved")
    path.symlink_to(Path("moved").resolve())


def count_fresh(count):
    edit(CHALLENGE, lambda d: d["fresh"].update(count=count))
    seal(fresh=False)


# Then participants.


def take_over():
    """Another's content under a name of one's own has another digest, as registered in time."""
    mine = read(A)
    edit(A, name="cyd")
    assert replace(mine, name="cyd").digest != mine.digest


def submit_elsewhere():
    made = create(Path("other"), Path("o.json"), parse(SPEC), 100, SHAPE[0])
    write_submission(C, by_predictions(made, "cyd", Path("p.npy")))


def predict(changed, **more):
    rewrite(B, predictions=changed, **more)


def truncate(path, size):
    path.touch()
    os.truncate(path, size)


ZEROS = np.zeros(SHAPE)
UNOPENED, OTHERS = "does not open the commitment", "not those of the revealed"
ATTACKS = {
    "labels": (DamagedFile, "has changed", alter, "codes"),
    "labels, sealed": (DamagedFile, "instance.json was altered", alter, "codes", seal_shard),
    "labels, all sealed": (Refuted, OTHERS, alter, "codes", seal_shard, seal),
    "tokens, all sealed": (Refuted, OTHERS, alter, "words", seal_shard, seal),
    "fresh tokens": (DamagedFile, "fresh tokens were altered", alter_fresh),
    "fresh tokens, sealed": (Refuted, "the fresh tokens are not those", alter_fresh, seal),
    "fresh labels": (
        *(DamagedFile, "tokens alone", lambda: alter_fresh(codes=np.zeros(60, np.uint8))),
    ),
    "another secret": (Refuted, "another challenge", give_another_secret, False),
    "another secret, renamed": (Refuted, UNOPENED, give_another_secret, True),
    "a secret of no member": (Refuted, "no member of the family", commit_to, [1, 2]),
    "a link": (DamagedFile, "plain files alone", link, SHARD),
    "a pipe": (DamagedFile, "plain files alone", os.mkfifo, PUB / "more"),
    "more fresh": (DamagedFile, "2 files of fresh", shutil.copy, FRESH, PUB / "fresh.npz"),
    "a huge count": (ToolkitError, "memory|at most", count_fresh, 1 << 39),
    "a wrong count": (DamagedFile, "does not hold 10000 tokens", count_fresh, 10_000),
    "a long file": (DamagedFile, "at most", truncate, CHALLENGE, 1 << 30),
    "a long secret": (DamagedFile, "at most", truncate, SECRET, 1 << 30),
    "taken over": (DamagedFile, "was altered", take_over),
    "of another challenge": (DamagedFile, "another challenge", submit_elsewhere),
    "changed": (DamagedFile, "its digest", predict, np.eye(1, 1920, 5).reshape(SHAPE) * 1e-300),
    "of another shape": (
        *(DamagedFile, r"^b.\w* is damaged: \w* an array \(61[^:]*: .* is wanted$", predict),
        np.zeros((61, 2, 16)),
    ),
    "rounded": (DamagedFile, "numbers in float64", predict, ZEROS.astype(np.float32)),
    "infinite": (DamagedFile, "finite", predict, ZEROS + np.nan),
    "more arrays": (DamagedFile, "holds an array", lambda: predict(ZEROS, more=np.zeros(3))),
    "a terabyte of nothing": (DamagedFile, "at most", truncate, C, 1 << 40),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused(name):
    error, words, change, *given = ATTACKS[name]
    change(*given)
    with little_memory(), pytest.raises(error, match=words) as refused:
        check()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("size", "held"), [(1e-13, True), (1e-6, False)])
def test_real_labels_are_held_to_rounding(size, held):
    shutil.rmtree(PUB)
    SECRET.unlink()
    create(PUB, SECRET, parse("nice:m=2,k=2,d=6"), 50, 30)
    arrays = load_file(SHARD)
    arrays["y"][9, 1, 2] += size
    rewrite(SHARD, **arrays)
    seal_shard("y")
    seal(fresh=False)
    with contextlib.nullcontext() if held else pytest.raises(Refuted, match="altered"):
        assert not opened().exact


# What a participant gives to be packed.

NAMES = ["", "a  b", "a\n", "\x1b[31mann", "a\u202eb", "a/b", "аnn", "x" * 10_000_000]
SECRETS = [
    *("", "[]", "[1,2]", "[1,2,2]", "[1,2,99]", "[1,2,true]", "[1,2,3.0]", "[1,2,NaN]"),
    *("[" * 5000, "[1,2,1" + "0" * 90 + "]", "[" + "1," * 70_000 + "1]", '{"secret":[1,2,3]}'),
]
FILES = [
    *(np.zeros((60, 2, 15)), np.zeros(SHAPE, complex), np.full(SHAPE, "1.0"), np.full(SHAPE, None)),
    *(np.full(SHAPE, np.nan), np.full(SHAPE, np.finfo(np.longdouble).max, np.longdouble)),
]


def test_odd_names_and_secrets_are_refused():
    challenge = read_challenge(PUB)
    for name, secret in [(n, "[1,2,3]") for n in NAMES] + [("ann", s) for s in SECRETS]:
        with pytest.raises(UsageError) as error:
            by_secret(challenge, name, secret)
        said = str(error.value)
        assert (said.isascii(), said.isprintable(), len(said) < 600) == (True, True, True)
    with pytest.raises(ValueError, match="at most 256 bits"):
        read_secret([2**256])


def test_predictions_are_read_from_all_three_and_odd_files_are_refused():
    challenge, values = read_challenge(PUB), np.random.default_rng(0).normal(size=SHAPE)
    np.save("x.npy", np.asfortranarray(values))
    np.savez_compressed("x.npz", predictions=values, other=np.zeros(3))
    save_file({"any": values}, Path("x.safetensors"))
    for suffix in ("npy", "npz", "safetensors"):
        found = by_predictions(challenge, "ann", Path(f"x.{suffix}"))
        assert (found.predictions == values).all()
    np.savez("x.npz", a=values, b=values)
    with pytest.raises(UsageError, match="one is wanted"):
        by_predictions(challenge, "ann", Path("x.npz"))
    for given in FILES:
        np.save("x.npy", given, allow_pickle=True)
        np.savez("x.npz", given, allow_pickle=True)
        for name in ("x.npy", "x.npz"):
            with pytest.raises(ToolkitError, match=r"^x\.") as error:
                by_predictions(challenge, "ann", Path(name))
            assert "\n" not in str(error.value)


def test_archives_are_not_unpacked_beyond_what_belongs_there():
    """64 megabytes of zeros in 64 kilobytes."""
    np.savez_compressed("x.npz", predictions=np.zeros(1 << 23))
    with little_memory(), pytest.raises(DamagedFile, match="unpacks to"):
        by_predictions(read_challenge(PUB), "ann", Path("x.npz"))
    FRESH.unlink()
    shutil.copy("x.npz", PUB / "fresh.npz")
    with little_memory(), pytest.raises(DamagedFile, match="unpacks to"):
        read_challenge(PUB)
