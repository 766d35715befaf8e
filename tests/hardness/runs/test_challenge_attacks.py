"""Challenges under attack: forged, altered, replayed, oversized; organisers who cheat."""

import contextlib
import hashlib
import json
import os
import shutil
import struct
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from hardness.runs import challenge as lib
from hardness.runs.challenge.canonical import canonical, digest
from hardness.runs.challenge.record import commitment, file_hash
from instances import parse
from instances.disk import write_json
from instances.errors import DamagedFile, Refuted, ToolkitError, UsageError
from instances.family import Hidden, Instance
from instances.files import secret_json

SPEC = "parity:d=16,m=3,noise=0.1"
SHAPE = (60, 2, 16)


@pytest.fixture(scope="module")
def master(tmp_path_factory):
    """A challenge with two submissions and its scores, made once."""
    folder = tmp_path_factory.mktemp("challenge")
    made = lib.create(folder / "pub", folder / "s.json", parse(SPEC), 100, SHAPE[0], "at noon")
    secret = json.loads((folder / "s.json").read_text())["secret"]
    np.save(folder / "p.npy", np.zeros(SHAPE))
    lib.write_submission(folder / "a.safetensors", lib.by_secret(made, "ann", str(secret)))
    bob = lib.by_predictions(made, "bob", folder / "p.npy")
    lib.write_submission(folder / "b.safetensors", bob)
    found = score(folder, "a", "b")
    write_json(folder / "scores.json", found.to_json())
    return folder


@pytest.fixture
def here(master, tmp_path):
    shutil.copytree(master, tmp_path / "here")
    return tmp_path / "here"


def score(folder: Path, *names: str, registered=None) -> lib.Scores:
    challenge = lib.read_challenge(folder / "pub")
    opened = lib.reveal(challenge, folder / "s.json")
    return lib.score(opened, [folder / f"{n}.safetensors" for n in names], registered)


def rescore(folder: Path) -> None:
    earlier = lib.read_scores(folder / "scores.json")
    found = score(folder, "a", "b", registered=earlier.get("registered"))
    lib.require_same(found, earlier, folder / "scores.json")


def edit(path: Path, change) -> None:
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def leaves(value, place=()):
    """Every place in JSON, containers among them."""
    if place:
        yield place
    if isinstance(value, dict):
        for name in value:
            yield from leaves(value[name], (*place, name))
    elif isinstance(value, list):
        for i in range(len(value)):
            yield from leaves(value[i], (*place, i))


def others(value):
    """Values that a field might be changed to."""
    if isinstance(value, bool):
        return [not value, None, int(value)]
    if isinstance(value, int):
        return [value + 1, -1, str(value), 10**400, None]
    if isinstance(value, float):
        return [value + 1e-3, float("nan"), None]
    if isinstance(value, str):
        changed = value[:-1] + ("0" if value[-1:] != "0" else "1")
        return [changed, value + "0", "", None, ["x"], "x" * 100_000]
    if value is None:
        return [0, "x"]
    return [None, 5, type(value)()] if value else [None, 5]


def mutations(path: Path):
    """Every mutation of every field of a JSON file, written in turn."""
    original = path.read_text()
    for place in leaves(json.loads(original)):
        data = json.loads(original)
        for step in place[:-1]:
            data = data[step]
        for value in [*others(data[place[-1]]), "DELETE"]:
            whole = json.loads(original)
            part = whole
            for step in place[:-1]:
                part = part[step]
            if value == "DELETE":
                del part[place[-1]]
            else:
                part[place[-1]] = value
            path.write_text(json.dumps(whole))
            yield place, value
    whole = json.loads(original)
    path.write_text(json.dumps({**whole, "more": 1}))
    yield ("more",), 1
    path.write_text(original)


@pytest.mark.parametrize("name", ["pub/challenge.json", "pub/instance.json"])
def test_every_field_of_the_public_files_is_held(here, name):
    seen = 0
    for place, value in mutations(here / name):
        with pytest.raises(ToolkitError) as error:
            lib.read_challenge(here / "pub")
        assert "\n" not in str(error.value), (place, value)
        seen += 1
    assert seen > 50
    rescore(here)


def test_every_field_of_the_secret_file_is_held(here):
    challenge = lib.read_challenge(here / "pub")
    codes = set()
    for place, value in mutations(here / "s.json"):
        with pytest.raises(ToolkitError) as error:
            lib.reveal(challenge, here / "s.json")
        assert len(str(error.value)) < 500, (place, value)
        codes.add((place[0], error.value.exit_code))
    # Another value of the right kind is no damage but a commitment that does not open.
    assert codes >= {("secret", 3), ("seed", 3), ("nonce", 3), ("spec", 3), ("challenge", 3)}
    assert ("format", 1) in codes
    rescore(here)


def test_every_field_of_the_scores_is_held(here):
    codes = set()
    for _place, _value in mutations(here / "scores.json"):
        with pytest.raises(ToolkitError) as error:
            rescore(here)
        codes.add(error.value.exit_code)
    assert codes == {1, 3}
    rescore(here)


def repack(path: Path, change, predictions=None) -> None:
    """Write a submission again with other metadata, as a forger would."""
    with path.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        meta = json.loads(json.loads(file.read(length))["__metadata__"]["hardness"])
    arrays = load_file(path) if predictions is None else predictions
    change(meta)
    save_file(arrays, path, metadata={"hardness": json.dumps(meta)})


@pytest.mark.parametrize("which", ["a", "b"])
def test_every_field_of_a_submission_is_held(here, which):
    path = here / f"{which}.safetensors"
    whole = path.read_bytes()
    (length,) = struct.unpack("<Q", whole[:8])
    meta = here / "meta.json"
    meta.write_text(json.loads(whole[8 : 8 + length])["__metadata__"]["hardness"])
    challenge = lib.read_challenge(here / "pub")
    for place, value in mutations(meta):
        repack(path, lambda m: (m.clear(), m.update(json.loads(meta.read_text()))))
        with pytest.raises(ToolkitError) as error:
            lib.read_submission(path, challenge)
        assert "\n" not in str(error.value), (place, value)
        path.write_bytes(whole)
    lib.read_submission(path, challenge)


def test_every_byte_of_a_submission_is_held(here):
    """One flipped bit, wherever it is: refused, or (in blanks of the header) the same said."""
    challenge = lib.read_challenge(here / "pub")
    path = here / "a.safetensors"
    whole, before = path.read_bytes(), lib.read_submission(here / "a.safetensors", challenge)
    for i in range(len(whole)):
        path.write_bytes(whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1 :])
        with contextlib.suppress(DamagedFile):
            assert lib.read_submission(path, challenge).digest == before.digest
    path.write_bytes(whole[:-1])
    with pytest.raises(DamagedFile):
        lib.read_submission(path, challenge)


# An organiser who cheats, and seals everything anew.


def reseal(folder: Path) -> None:
    """Make all hashes of a folder right again, and the secret file's id."""
    with_instance = folder / "pub/challenge.json"
    data = json.loads(with_instance.read_text())
    data["instance"] = file_hash(folder / "pub/instance.json")
    data["fresh"]["sha256"] = _fresh_hash(folder)
    data.pop("id")
    data["id"] = digest(data)
    with_instance.write_text(json.dumps(data))
    edit(folder / "s.json", lambda s: s.update(challenge=data["id"]))


def _fresh_hash(folder: Path) -> str:

    words = load_file(folder / "pub/fresh.safetensors")["words"]
    codes = np.zeros(len(words), np.uint8)
    return hashlib.sha256(words.tobytes() + codes.tobytes()).hexdigest()


def rewrite(path: Path, change) -> None:
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        meta = file.metadata()
    arrays = load_file(path)
    change(arrays)
    save_file(arrays, path, metadata=meta)


def test_sealing_anew_alone_changes_nothing(here):
    before = json.loads((here / "pub/challenge.json").read_text())["id"]
    reseal(here)
    assert json.loads((here / "pub/challenge.json").read_text())["id"] == before


@pytest.mark.parametrize("which", ["codes", "words"])
def test_altered_examples_are_found(here, which):

    shard = here / "pub/examples-00000.safetensors"
    challenge = lib.read_challenge(here / "pub")
    rows = challenge.family.open(challenge.folder.examples(0, 100).words)

    def change(arrays):
        arrays[which][np.flatnonzero(rows)[7]] ^= np.uint8(1) if which == "codes" else np.uint64(2)

    rewrite(shard, change)
    with pytest.raises(DamagedFile, match="has changed"):
        lib.reveal(lib.read_challenge(here / "pub"), here / "s.json")
    arrays = load_file(shard)
    whole = hashlib.sha256(arrays["words"].tobytes() + arrays["codes"].tobytes()).hexdigest()
    edit(
        here / "pub/instance.json",
        lambda d: d["examples"]["shards"][0].update(sha256=whole),
    )
    with pytest.raises(DamagedFile, match=r"instance\.json was altered"):
        lib.read_challenge(here / "pub")
    reseal(here)
    with pytest.raises(Refuted, match="are not those of the revealed secret and seed"):
        lib.reveal(lib.read_challenge(here / "pub"), here / "s.json")


def test_altered_fresh_tokens_are_found(here):
    rewrite(
        here / "pub/fresh.safetensors", lambda a: a["words"].__setitem__((3, 0, 0), np.uint64(5))
    )
    with pytest.raises(DamagedFile, match="fresh tokens were altered"):
        lib.read_challenge(here / "pub")
    reseal(here)
    with pytest.raises(Refuted, match="the fresh tokens are not those"):
        lib.reveal(lib.read_challenge(here / "pub"), here / "s.json")


def test_altered_reference_examples_are_found(here):
    edit(here / "pub/instance.json", lambda d: d["reference"]["words"].reverse())
    edit(here / "pub/instance.json", lambda d: d["reference"].update(codes=[0] * 8))
    reseal(here)
    with pytest.raises(Refuted, match="the reference examples"):
        lib.reveal(lib.read_challenge(here / "pub"), here / "s.json")


def test_real_labels_are_held_to_rounding(tmp_path):
    spec = parse("nice:m=2,k=2,d=6")
    lib.create(tmp_path / "pub", tmp_path / "s.json", spec, 50, 30)
    shard = tmp_path / "pub/examples-00000.safetensors"
    whole = shard.read_bytes()
    for size, held in ((1e-13, True), (1e-6, False)):
        shard.write_bytes(whole)
        rewrite(shard, lambda a, s=size: a["y"].__setitem__((9, 1, 2), a["y"][9, 1, 2] + s))

        arrays = load_file(shard)
        sha = hashlib.sha256(arrays["words"].tobytes() + arrays["y"].tobytes()).hexdigest()
        edit(
            tmp_path / "pub/instance.json",
            lambda d, h=sha: d["examples"]["shards"][0].update(sha256=h),
        )
        data = json.loads((tmp_path / "pub/challenge.json").read_text())
        data["instance"] = file_hash(tmp_path / "pub/instance.json")
        data.pop("id")
        data["id"] = digest(data)
        (tmp_path / "pub/challenge.json").write_text(json.dumps(data))
        edit(tmp_path / "s.json", lambda s, i=data["id"]: s.update(challenge=i))
        challenge = lib.read_challenge(tmp_path / "pub")
        if held:
            assert not lib.reveal(challenge, tmp_path / "s.json").exact
        else:
            with pytest.raises(Refuted, match="altered"):
                lib.reveal(challenge, tmp_path / "s.json")


def test_another_secret_file_does_not_open(here, tmp_path):
    (tmp_path / "other").mkdir()
    lib.create(tmp_path / "other/pub", tmp_path / "other/s.json", parse(SPEC), 100, SHAPE[0])
    shutil.copy(tmp_path / "other/s.json", here / "s.json")
    challenge = lib.read_challenge(here / "pub")
    with pytest.raises(Refuted, match="another challenge"):
        lib.reveal(challenge, here / "s.json")
    edit(here / "s.json", lambda s: s.update(challenge=challenge.id))
    with pytest.raises(Refuted, match="does not open the commitment"):
        lib.reveal(challenge, here / "s.json")


@pytest.mark.parametrize("which", ["challenge", "instance"])
def test_each_commitment_is_held_by_itself(here, which):
    """Even where all the others, and every label, are right."""
    if which == "challenge":
        edit(here / "pub/challenge.json", lambda d: d.update(commitment="ab" * 32))
    else:
        edit(here / "pub/instance.json", lambda d: d["commitments"].update(seed="ab" * 32))
    reseal(here)
    with pytest.raises(Refuted, match="does not open the commitment"):
        lib.reveal(lib.read_challenge(here / "pub"), here / "s.json")


def test_the_nonce_takes_no_digit_of_what_it_hides(here):
    """SHA-256(nonce || text): a longer nonce and a shorter text are not taken for them."""
    data = json.loads((here / "s.json").read_text())
    hidden = Hidden(
        secret=tuple(data["secret"]), seed=data["seed"], nonce=bytes.fromhex(data["nonce"])
    )
    text = str(hidden.seed)
    other = Hidden(secret=hidden.secret, seed=int(text[1:]), nonce=hidden.nonce + text[:1].encode())
    if text[1] != "0":
        assert other.commitment("seed") == hidden.commitment("seed")
    edit(here / "s.json", lambda s: s.update(nonce=other.nonce.hex(), seed=other.seed))
    with pytest.raises(DamagedFile, match="32 bytes"):
        lib.reveal(lib.read_challenge(here / "pub"), here / "s.json")


def test_a_secret_of_no_member_is_found(here):
    """Committed to by an organiser who wants that nobody finds it."""
    data = json.loads((here / "s.json").read_text())
    family = parse(SPEC)
    hidden = Hidden(secret=(1, 2), seed=data["seed"], nonce=bytes.fromhex(data["nonce"]))
    instance = Instance(family=family, hidden=hidden)
    edit(
        here / "pub/instance.json",
        lambda d: d.update(commitments={w: hidden.commitment(w) for w in ("secret", "seed")}),
    )
    edit(
        here / "pub/challenge.json",
        lambda d: d.update(commitment=commitment(family, hidden)),
    )
    write_json(here / "s.json", secret_json(instance), force=True)
    reseal(here)
    with pytest.raises(Refuted, match="no member of the family"):
        lib.reveal(lib.read_challenge(here / "pub"), here / "s.json")


def test_a_challenge_edited_after_submissions_refuses_them(here):
    edit(here / "pub/challenge.json", lambda d: d.update(deadline="a week later"))
    with pytest.raises(DamagedFile, match="was altered"):
        lib.read_challenge(here / "pub")
    secret = (here / "s.json").read_bytes()
    reseal(here)
    with pytest.raises(DamagedFile, match="another challenge"):
        score(here, "a")
    (here / "s.json").write_bytes(secret)
    with pytest.raises(Refuted, match="altered after it was made"):
        score(here)


# Participants who cheat.


def test_a_submission_counts_once(here):
    shutil.copy(here / "a.safetensors", here / "c.safetensors")
    with pytest.raises(DamagedFile, match=r"c.safetensors is the submission .*a.safetensors again"):
        score(here, "a", "b", "c")


def test_a_name_counts_once(here):
    challenge = lib.read_challenge(here / "pub")
    for name in ("ann", "Ann"):
        again = lib.by_secret(challenge, name, "[4,5,6]")
        lib.write_submission(here / "c.safetensors", again, force=True)
        with pytest.raises(DamagedFile, match="one submission a name"):
            score(here, "a", "c")


def test_a_copy_needs_to_be_registered(here):
    challenge = lib.read_challenge(here / "pub")
    mine = lib.read_submission(here / "a.safetensors", challenge)
    lib.write_submission(
        here / "c.safetensors", lib.by_secret(challenge, "cyd", str(list(mine.secret)))
    )
    copy = lib.read_submission(here / "c.safetensors", challenge)
    assert copy.content == mine.content
    assert copy.digest != mine.digest
    with pytest.raises(DamagedFile, match="under another name"):
        score(here, "a", "c")
    with pytest.raises(DamagedFile, match="was not registered"):
        score(here, "a", "c", registered={mine.digest: "ann"})
    # Both have found it: both had published their digests.
    both = score(here, "a", "c", registered={copy.digest: "cyd", mine.digest: "ann"})
    assert [(e.rank, e.risk) for e in both.entries] == [(1, 0.0), (1, 0.0)]


def test_a_registered_digest_cannot_be_taken_over(here):
    """Whoever registers another's digest has no submission of a name of theirs that has it."""
    challenge = lib.read_challenge(here / "pub")
    mine = lib.read_submission(here / "a.safetensors", challenge)
    repack(here / "a.safetensors", lambda m: m.update(name="cyd"))
    with pytest.raises(DamagedFile, match="was altered"):
        score(here, "a", registered={mine.digest: "ann"})

    def forge(meta):
        meta.update(digest=forged.digest)

    forged = lib.Submission(
        challenge=mine.challenge,
        name="cyd",
        salt=mine.salt,
        secret=mine.secret,
        predictions=None,
    )
    repack(here / "a.safetensors", forge)
    with pytest.raises(DamagedFile, match="was not registered"):
        score(here, "a", registered={mine.digest: "ann"})


def test_the_digest_hides_what_it_commits_to(here):
    challenge = lib.read_challenge(here / "pub")
    digests = {lib.by_secret(challenge, "ann", "[1,2,3]").digest for _ in range(20)}
    assert len(digests) == 20


def test_predictions_of_another_challenge_are_refused(here, tmp_path):
    (tmp_path / "other").mkdir()
    made = lib.create(tmp_path / "other/pub", tmp_path / "other/s.json", parse(SPEC), 100, SHAPE[0])
    other = lib.by_predictions(made, "cyd", here / "p.npy")
    lib.write_submission(here / "c.safetensors", other)
    with pytest.raises(DamagedFile, match="another challenge"):
        score(here, "c")


def test_altered_predictions_are_refused(here, monkeypatch):
    monkeypatch.chdir(here)  # short names: a message ends after 200 characters
    path = Path("b.safetensors")
    changed = np.zeros(SHAPE)
    changed[0, 0, 0] = 1e-300
    repack(path, lambda m: None, {"predictions": changed})
    with pytest.raises(DamagedFile, match="does not have its digest"):
        score(Path(), "b")
    for array in (
        np.zeros((61, 2, 16)),
        np.zeros(SHAPE, np.float32),
        np.full(SHAPE, np.nan),
        np.full(SHAPE, np.inf),
    ):
        repack(path, lambda m: None, {"predictions": array})
        with pytest.raises(ToolkitError, match=r"finite|numbers in float64"):
            score(Path(), "b")
    repack(path, lambda m: None, {"predictions": np.zeros(SHAPE), "more": np.zeros(3)})
    with pytest.raises(DamagedFile, match="holds an array"):
        score(Path(), "b")


def test_oversized_submissions_are_refused_unread(here):
    path = here / "c.safetensors"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # sparse: a terabyte of nothing
    tracemalloc.start()
    with pytest.raises(DamagedFile, match="at most"):
        score(here, "c")
    path.write_bytes(struct.pack("<Q", 1 << 60) + b"{}")
    with pytest.raises(DamagedFile, match="its header claims"):
        score(here, "c")
    assert tracemalloc.get_traced_memory()[1] < 1 << 24
    tracemalloc.stop()


HEADERS = {
    "repeated": '{"predictions":{"dtype":"F64","shape":[60,2,16],"data_offsets":[0,15360]},'
    '"predictions":{"dtype":"F64","shape":[60,2,16],"data_offsets":[0,15360]}}',
    "huge": '{"predictions":{"dtype":"F64","shape":[1000000000000],"data_offsets":[0,15360]}}',
    "list": "[]",
    "nested": "[" * 100_000,
    "nan": '{"predictions":NaN}',
    "empty": "",
    "meta": '{"__metadata__":{"hardness":"{}","hardness":"{}"}}',
    "more": '{"__metadata__":{"hardness":"{}","else":"{}"}}',
    "typed": '{"__metadata__":5}',
}


@pytest.mark.parametrize("kind", sorted(HEADERS))
def test_odd_headers_are_refused(here, kind):
    text = HEADERS[kind].encode()
    (here / "c.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + bytes(15360))
    with pytest.raises(DamagedFile, match=r"c.safetensors"):
        score(here, "c")


NAMES = [
    "",
    " ",
    "a  b",
    " a",
    "a\n",
    "a\x00b",
    "\x1b[31mann",
    "аnn",  # its first letter is Cyrillic
    "ａｎｎ",
    "a\u202eb",
    "../ann",
    "a/b",
    "x" * 65,
    "x" * 10_000_000,
]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_odd_names_are_refused(here, name):
    with pytest.raises(UsageError) as error:
        lib.by_secret(lib.read_challenge(here / "pub"), name, "[1,2,3]")
    assert str(error.value).isascii()
    assert str(error.value).isprintable()
    assert len(str(error.value)) < 600


SECRETS = [
    "",
    "5",
    "[]",
    "[1,2]",
    "[1,2,2]",
    "[1,2,99]",
    "[1,2,true]",
    "[1,2,3.0]",
    '[1,2,"3"]',
    "[1,2,NaN]",
    "[1,2,[3]]",
    "[" * 5000,
    "[1,2,3" + "0" * 5000 + "]",
    "[" + "1," * 70_000 + "1]",
    "x" * 10_000_000,
    '{"secret":[1,2,3]}',
]


@pytest.mark.parametrize("text", SECRETS, ids=range(len(SECRETS)))
def test_odd_secrets_are_refused(here, text):
    with pytest.raises(UsageError) as error:
        lib.by_secret(lib.read_challenge(here / "pub"), "ann", text)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 600


# Files of predictions.


def npy(shape: str, kind: str = "<f8", data: bytes = b"") -> bytes:
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + data


GOOD = np.zeros(SHAPE)
ARRAYS = {
    "shape": np.zeros((60, 2, 15)),
    "flat": np.zeros(1920),
    "complex": np.zeros(SHAPE, complex),
    "bool": np.zeros(SHAPE, bool),
    "text": np.full(SHAPE, "1.0"),
    "objects": np.full(SHAPE, None),
    "nan": np.full(SHAPE, np.nan),
    "infinite": np.full(SHAPE, -np.inf),
    "long": np.full(SHAPE, np.finfo(np.longdouble).max, np.longdouble),
    "dates": np.zeros(SHAPE, "M8[s]"),
    "records": np.zeros(SHAPE, [("a", float)]),
}
FILES = {
    "huge": npy("(1000000000000,)"),
    "cut": npy(str(SHAPE)),
    "negative": npy("(-60, -2, 16)"),
    "code": npy("__import__('os').system('touch pwned')"),
    "pickle": b"\x80\x04cos\nsystem\n(S'touch pwned'\ntR.",
    "version": b"\x93NUMPY\x09\x00" + bytes(100),
    "nothing": b"",
}


@pytest.mark.parametrize("kind", sorted(ARRAYS))
@pytest.mark.parametrize("suffix", ["npy", "npz"])
def test_arrays_of_the_wrong_kind_are_refused(here, kind, suffix):
    path = here / f"x.{suffix}"
    if suffix == "npy":
        np.save(path, ARRAYS[kind], allow_pickle=True)
    else:
        np.savez(path, ARRAYS[kind])
    with pytest.raises(ToolkitError) as error:
        lib.by_predictions(lib.read_challenge(here / "pub"), "ann", path)
    assert "\n" not in str(error.value)
    assert "x." in str(error.value)


@pytest.mark.parametrize("kind", sorted(FILES))
@pytest.mark.parametrize("suffix", ["npy", "npz", "safetensors", "raw npz"])
def test_files_that_are_none_are_refused(here, kind, suffix, monkeypatch):
    monkeypatch.chdir(here)
    path = here / f"x.{suffix.split()[-1]}"
    if suffix == "npz":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("predictions.npy", FILES[kind])
    else:
        path.write_bytes(FILES[kind])
    with pytest.raises(ToolkitError, match="x"):
        lib.by_predictions(lib.read_challenge(here / "pub"), "ann", path)
    assert not Path("pwned").exists()


def test_what_is_right_is_read_from_all_three(here):
    challenge = lib.read_challenge(here / "pub")
    values = np.random.default_rng(0).normal(size=SHAPE)
    np.save(here / "x.npy", np.asfortranarray(values))
    np.savez_compressed(here / "x.npz", predictions=values, other=np.zeros(3))
    save_file({"any": values}, here / "x.safetensors")
    for suffix in ("npy", "npz", "safetensors"):
        found = lib.by_predictions(challenge, "ann", here / f"x.{suffix}")
        assert (found.predictions == values).all()
    np.save(here / "x.npy", np.ones(SHAPE, np.int8))
    assert lib.by_predictions(challenge, "ann", here / "x.npy").predictions.dtype == np.float64


def test_an_archive_of_two_arrays_says_which(here):
    np.savez(here / "x.npz", a=GOOD, b=GOOD)
    with pytest.raises(UsageError, match="one is wanted"):
        lib.by_predictions(lib.read_challenge(here / "pub"), "ann", here / "x.npz")


@pytest.mark.parametrize("lie", [False, True])
def test_bombs_are_not_unpacked(here, lie):
    """A gigabyte of zeros in a megabyte; and the same with a size of its own invention."""
    path = here / "x.npz"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive,
        archive.open("predictions.npy", "w") as member,
    ):
        member.write(npy(str(SHAPE)))
        for _ in range(64):
            member.write(bytes(1 << 20))
    if lie:
        whole = bytearray(path.read_bytes())
        size = struct.pack("<I", (1 << 26) + 128)
        assert whole.count(size) >= 1
        path.write_bytes(bytes(whole).replace(size, struct.pack("<I", 128 + GOOD.nbytes)))
    tracemalloc.start()
    with pytest.raises(DamagedFile):
        lib.by_predictions(lib.read_challenge(here / "pub"), "ann", path)
    assert tracemalloc.get_traced_memory()[1] < 1 << 24
    tracemalloc.stop()


# Folders of strangers.


def test_links_and_folders_in_a_challenge_are_refused(here):
    for place in ("fresh.safetensors", "examples-00000.safetensors", "instance.json"):
        target = here / "pub" / place
        target.rename(here / place)
        target.symlink_to(here / place)
        with pytest.raises(DamagedFile, match="plain files alone"):
            lib.read_challenge(here / "pub")
        target.unlink()
        (here / place).rename(target)
    (here / "pub/more").mkdir()
    with pytest.raises(DamagedFile, match="plain files alone"):
        lib.read_challenge(here / "pub")
    (here / "pub/more").rmdir()
    os.mkfifo(here / "pub/pipe")
    with pytest.raises(DamagedFile, match="plain files alone"):
        lib.read_challenge(here / "pub")


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "examples-0/../x.npz", "x"])
def test_shards_outside_of_the_folder_are_refused(here, name):
    edit(here / "pub/instance.json", lambda d: d["examples"]["shards"][0].update(file=name))
    reseal(here)
    with pytest.raises(DamagedFile, match="a shard is named"):
        lib.read_challenge(here / "pub")


def test_two_files_of_fresh_tokens_are_refused(here):
    shutil.copy(here / "pub/fresh.safetensors", here / "pub/fresh.npz")
    with pytest.raises(DamagedFile, match="2 files of fresh tokens"):
        lib.read_challenge(here / "pub")


@pytest.mark.parametrize("place", ["pub/examples-00000.npz", "pub/fresh.npz"])
def test_bombs_in_a_challenge_are_not_unpacked(tmp_path, place):
    family = parse(SPEC)
    lib.create(tmp_path / "pub", tmp_path / "s.json", family, 50, 40, tensors="npz")
    with (
        zipfile.ZipFile(tmp_path / place, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("words.npy", "w") as member,
    ):
        for _ in range(64):
            member.write(bytes(1 << 20))
    tracemalloc.start()
    with pytest.raises(DamagedFile, match="unpacks to"):
        lib.reveal(lib.read_challenge(tmp_path / "pub"), tmp_path / "s.json")
    assert tracemalloc.get_traced_memory()[1] < 1 << 24
    tracemalloc.stop()


@pytest.mark.parametrize("name", ["pub/challenge.json", "s.json", "scores.json"])
@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{", b"\xff\xfe", b'{"format": NaN}', b"[" * 200_000, None],
    ids=["empty", "list", "cut", "bytes", "nan", "nested", "gigabyte"],
)
def test_odd_json_is_refused(here, name, content):
    path = here / name
    if content is None:
        with path.open("wb") as file:
            file.truncate(1 << 30)
    else:
        path.write_bytes(content)
    with pytest.raises(DamagedFile) as error:
        rescore(here)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["pub/challenge.json", "s.json", "scores.json"])
def test_a_key_that_stands_twice_is_refused(here, name):
    text = (here / name).read_text().rstrip().removesuffix("}")
    first = next(iter(json.loads((here / name).read_text()).items()))
    (here / name).write_text(f"{text}, {json.dumps(first[0])}: {json.dumps(first[1])}}}")
    with pytest.raises(DamagedFile, match="stands twice"):
        rescore(here)


# Scores, and lists of digests.


def test_scores_need_the_same_submissions(here):
    earlier = lib.read_scores(here / "scores.json")
    for names in (["a"], ["b"], []):
        with pytest.raises(Refuted, match="entries has"):
            lib.require_same(score(here, *names), earlier, here / "scores.json")
    lib.require_same(score(here, "b", "a"), earlier, here / "scores.json")


def test_scores_of_another_machine_differ_by_rounding_only(here):
    edit(here / "scores.json", lambda d: d["entries"][1].update(risk=1.0 + 1e-12))
    rescore(here)
    edit(here / "scores.json", lambda d: d["entries"][1].update(risk=1.0 + 1e-8))
    with pytest.raises(Refuted, match=r"entries\[1\].risk is 1.0"):
        rescore(here)


def test_scores_tell_what_was_registered(here):
    """Whoever has the list of digests gives it, and sees whether it was the list."""
    challenge = lib.read_challenge(here / "pub")
    names = [here / f"{n}.safetensors" for n in ("a", "b")]
    ann, bob = (lib.read_submission(path, challenge).digest for path in names)
    listed = {ann: "ann", bob: "bob"}
    found = score(here, "a", "b", registered=listed)
    write_json(here / "scores.json", found.to_json(), force=True)
    rescore(here)
    earlier = lib.read_scores(here / "scores.json")
    for other in (None, {**listed, "0" * 64: "cyd"}):
        with pytest.raises(Refuted, match="registered"):
            lib.require_same(score(here, "a", "b", registered=other), earlier, here)
    edit(here / "scores.json", lambda d: d["registered"].pop(ann))
    with pytest.raises(DamagedFile, match="was not registered"):
        rescore(here)
    for odd in ([ann, bob], {"xyz": "ann"}, {ann: 5}, "ann"):
        edit(here / "scores.json", lambda d, v=odd: d.update(registered=v))
        with pytest.raises(DamagedFile, match=r"scores\.json is damaged"):
            rescore(here)


def test_a_digest_counts_for_its_name_alone(here):
    challenge = lib.read_challenge(here / "pub")
    mine = lib.read_submission(here / "a.safetensors", challenge).digest
    assert score(here, "a", registered={mine: "Ann"}).entries[0].name == "ann"
    with pytest.raises(DamagedFile, match="was not registered"):
        score(here, "a", registered={mine: "cyd"})


def test_nobody_opens_the_best_of_many(tmp_path):
    """Who registers a digest for each member of a family has the secret among them."""
    many = [f"{i:064x} ann" for i in range(10)]
    with pytest.raises(UsageError, match="ann has two digests"):
        lib.read_digests(many)
    (tmp_path / "list").write_text("\n".join(many[:1] * 3))
    assert len(lib.read_digests([str(tmp_path / "list")])) == 1
    with pytest.raises(UsageError, match="Ann has two digests"):
        lib.read_digests([str(tmp_path / "list"), many[1].replace("ann", "Ann")])
    with pytest.raises(UsageError, match="is registered by ann and by bob"):
        lib.read_digests([many[0], many[0].replace("ann", "bob")])


def test_digests_are_read_from_files(tmp_path):
    one, two = "ab" * 32, "0f" * 32
    path = tmp_path / "digests"
    path.write_text(f"# published\n{one}  ann\n\n{two} Bob B.\n")
    assert lib.read_digests([str(path), f"{one} ann"]) == {one: "ann", two: "Bob B."}
    for text in ("xyz\n", f"{one}\n", f"{one.upper()} ann\n"):
        path.write_text(text)
        with pytest.raises(DamagedFile, match="which is no digest"):
            lib.read_digests([str(path)])
    path.write_text(f"{one} аnn\n")  # its first letter is Cyrillic
    with pytest.raises(UsageError, match="the name"):
        lib.read_digests([str(path)])
    for given in ("nowhere", "AB" * 32, "ab" * 32, "ab" * 31, "x" * 100_000):
        with pytest.raises(UsageError, match="64 hexadecimal"):
            lib.read_digests([given])
    with path.open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(DamagedFile, match="at most"):
        lib.read_digests([str(path)])


def test_counts_that_nothing_could_hold_are_refused(here):
    """Before anything of their size is made."""
    tracemalloc.start()
    for count in (1 << 39, 10_000):
        edit(here / "pub/challenge.json", lambda d, c=count: d["fresh"].update(count=c))
        data = json.loads((here / "pub/challenge.json").read_text())
        data.pop("id")
        sealed = data | {"id": digest(data)}
        (here / "pub/challenge.json").write_text(json.dumps(sealed))
        with pytest.raises(ToolkitError, match=r"memory|tokens it should"):
            lib.read_challenge(here / "pub")
    assert tracemalloc.get_traced_memory()[1] < 1 << 24
    tracemalloc.stop()


def test_canonical_json_has_one_text():
    assert canonical({"b": [1, "é"], "a": None}) == b'{"a":null,"b":[1,"\\u00e9"]}'
    with pytest.raises(ValueError, match=r"not JSON compliant|Out of range"):
        canonical(float("nan"))
