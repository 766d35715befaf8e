"""Challenges under attack: forged, altered, replayed, oversized; organisers who cheat.

An attack changes the folder of a sound challenge, its two submissions and its scores. One driver,
`check`, then does what everybody does after the reveal, and must refuse.
"""

import contextlib
import hashlib
import json
import os
import shutil
import struct
import tracemalloc
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from hardness.runs.challenge import commitment, create, digest, file_hash, read_challenge, reveal
from hardness.runs.submission import (
    Scores,
    Submission,
    by_predictions,
    by_secret,
    read_digests,
    read_scores,
    read_submission,
    require_same,
    score,
    write_submission,
)
from instances import parse
from instances.disk import write_json
from instances.errors import DamagedFile, Refuted, ToolkitError, UsageError
from instances.family import Hidden, Instance
from instances.files import secret_json

SPEC = "parity:d=16,m=3,noise=0.1"
SHAPE = (60, 2, 16)
SHARD = "pub/examples-00000.safetensors"


@pytest.fixture(scope="module")
def master(tmp_path_factory):
    """A challenge with two submissions and its scores, made once."""
    folder = tmp_path_factory.mktemp("challenge")
    create(folder / "pub", folder / "s.json", parse(SPEC), 100, SHAPE[0], "at noon")
    np.save(folder / "p.npy", np.zeros(SHAPE))
    claim(folder, "a", "ann", str(load(folder / "s.json")["secret"]))
    bob = by_predictions(read_challenge(folder / "pub"), "bob", folder / "p.npy")
    write_submission(folder / "b.safetensors", bob)
    write_json(folder / "scores.json", scores_of(folder, "a", "b").to_json())
    return folder


@pytest.fixture
def here(master, tmp_path, monkeypatch):
    """A copy of it, and the working folder: messages are then short."""
    shutil.copytree(master, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    return Path()


@contextlib.contextmanager
def little_memory():
    """What is refused was not read, nor any room taken for it."""
    tracemalloc.start()
    yield
    assert tracemalloc.get_traced_memory()[1] < 1 << 24
    tracemalloc.stop()


def scores_of(folder: Path, *names: str, registered=None) -> Scores:
    opened = reveal(read_challenge(folder / "pub"), folder / "s.json")
    return score(opened, [folder / f"{name}.safetensors" for name in names], registered)


def check(folder: Path) -> None:
    """Open the challenge, score all submissions there and hold the scores against earlier ones."""
    earlier = read_scores(folder / "scores.json")
    listed = earlier.registered
    if (folder / "list").exists():
        listed = read_digests([str(folder / "list")])
    names = sorted(path.stem for path in folder.glob("*.safetensors"))
    require_same(scores_of(folder, *names, registered=listed), earlier, folder / "scores.json")


def claim(folder: Path, file: str, name: str, secret: str = "[4,5,6]") -> Submission:
    made = by_secret(read_challenge(folder / "pub"), name, secret)
    write_submission(folder / f"{file}.safetensors", made, force=True)
    return made


def read(folder: Path, name: str) -> Submission:
    return read_submission(folder / f"{name}.safetensors", read_challenge(folder / "pub"))


def load(path: Path) -> dict:
    """JSON, or the metadata of a submission."""
    if path.suffix != ".safetensors":
        return json.loads(path.read_text())
    with safe_open(path, framework="numpy") as file:
        return json.loads(file.metadata()["hardness"])


def store(path: Path, data: dict) -> None:
    if path.suffix == ".safetensors":
        save_file(load_file(path), path, metadata={"hardness": json.dumps(data)})
    else:
        path.write_text(json.dumps(data, indent=1) + "\n")  # as write_json does


def edit(path: Path, change) -> None:
    data = load(path)
    change(data)
    store(path, data)


def rewrite(path: Path, arrays) -> None:
    """Write other arrays with the metadata of before, as a forger would."""
    save_file(arrays, path, metadata={"hardness": json.dumps(load(path))})


def test_what_is_sound_passes(here):
    check(here)
    seal(here)
    check(here)  # so no attack below is refused for its seals
    assert scores_of(here, "b", "a") == scores_of(here, "a", "b")


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


def mutations(original: dict):
    """Every mutation of every field of JSON."""
    for place in leaves(original):
        for i in range(9):
            whole = json.loads(json.dumps(original))
            part = whole
            for step in place[:-1]:
                part = part[step]
            values = others(part.pop(place[-1]))
            if i < len(values):
                (part.insert if isinstance(part, list) else part.__setitem__)(place[-1], values[i])
            yield place, whole
            if i == len(values):  # which leaves it out
                break
    yield ("more",), {**original, "more": 1}


@pytest.mark.parametrize(
    ("name", "refuted"),
    [
        ("pub/challenge.json", ""),
        ("pub/instance.json", ""),
        # Another value of the right kind is no damage but a commitment that does not open.
        ("s.json", "challenge nonce secret seed spec"),
        ("scores.json", "challenge deadline entries fresh known_by scoring spec"),
        ("a.safetensors", ""),
        ("b.safetensors", ""),
    ],
)
def test_every_field_is_held(here, name, refuted):
    original, codes = load(here / name), set()
    for place, data in mutations(original):
        store(here / name, data)
        with pytest.raises(ToolkitError) as error:
            check(here)
        assert "\n" not in str(error.value), place
        assert len(str(error.value)) < 500, place
        codes.add((place[0], error.value.exit_code))
    assert {field for field, _ in codes} >= set(original) | {"more"}
    assert {field for field, code in codes if code == 3} == set(refuted.split())
    assert ("format", 1) in codes
    store(here / name, original)
    check(here)


def test_every_byte_of_a_submission_is_held(here):
    """One flipped bit, wherever it is: refused, or (in blanks of the header) the same said."""
    challenge, path = read_challenge(here / "pub"), here / "a.safetensors"
    whole, before = path.read_bytes(), read(here, "a").digest
    for i in range(len(whole)):
        path.write_bytes(whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1 :])
        with contextlib.suppress(DamagedFile):
            assert read_submission(path, challenge).digest == before
    path.write_bytes(whole[:-1])
    with pytest.raises(DamagedFile):
        read_submission(path, challenge)


# Attacks, each with how it is refused.

ATTACKS = []


def attack(error, words, *args):
    def add(change):
        name = "-".join([change.__name__, *(one for one in args if isinstance(one, str))])
        ATTACKS.append(pytest.param(partial(change, *args), error, words, id=name))
        return change

    return add


def seal(folder: Path) -> None:
    """Make every hash of a folder and the secret file's id right again."""
    arrays = load_file(folder / SHARD)
    sha256 = hashlib.sha256(b"".join(arrays[name].tobytes() for name in ("words", "codes")))
    edit(
        folder / "pub/instance.json",
        lambda d: d["examples"]["shards"][0].update(sha256=sha256.hexdigest()),
    )
    seal_challenge(folder)


def seal_challenge(folder: Path) -> None:
    words = load_file(folder / "pub/fresh.safetensors")["words"]
    data = load(folder / "pub/challenge.json")
    data["instance"] = file_hash(folder / "pub/instance.json")
    if parse(data["spec"]).coded:
        blank = words.tobytes() + bytes(len(words))
        data["fresh"]["sha256"] = hashlib.sha256(blank).hexdigest()
    data.pop("id")
    data["id"] = digest(data)
    store(folder / "pub/challenge.json", data)
    edit(folder / "s.json", lambda s: s.update(challenge=data["id"]))


def public(folder: Path, change) -> None:
    edit(folder / "pub/instance.json", change)


for which in ("codes", "words"):

    @attack(DamagedFile, "has changed", which, "")
    @attack(DamagedFile, "instance.json was altered", which, "with its hash")
    @attack(Refuted, "are not those of the revealed secret and seed", which, "with every hash")
    def an_example_is_altered(which, how, folder):
        arrays = load_file(folder / SHARD)
        row = np.flatnonzero(parse(SPEC).open(arrays["words"]))[7]
        arrays[which][row] ^= np.uint8(1) if which == "codes" else np.uint64(2)
        rewrite(folder / SHARD, arrays)
        kept = (folder / "pub/challenge.json").read_bytes()
        if how:
            seal(folder)
        if how == "with its hash":
            (folder / "pub/challenge.json").write_bytes(kept)


@attack(DamagedFile, "fresh tokens were altered", lambda folder: None)
@attack(Refuted, "the fresh tokens are not those", seal)
def a_fresh_token_is_altered(then, folder):
    arrays = load_file(folder / "pub/fresh.safetensors")
    arrays["words"][3, 0, 0] = 5
    rewrite(folder / "pub/fresh.safetensors", arrays)
    then(folder)


@attack(Refuted, "the reference examples")
def reference_examples_are_altered(folder):
    public(folder, lambda d: d["reference"]["words"].reverse())
    public(folder, lambda d: d["reference"].update(codes=[0] * 8))
    seal(folder)


@attack(Refuted, "another challenge", False)
@attack(Refuted, "does not open the commitment", True)
def the_secret_file_is_of_another_challenge(renamed, folder):
    own = load(folder / "s.json")["challenge"]
    (folder / "s.json").unlink()
    create(folder / "other/pub", folder / "s.json", parse(SPEC), 100, SHAPE[0])
    if renamed:
        edit(folder / "s.json", lambda s: s.update(challenge=own))


@attack(Refuted, "does not open the commitment", "pub/challenge.json")
@attack(Refuted, "does not open the commitment", "pub/instance.json")
def one_commitment_is_altered(name, folder):
    """Even where all the others, and every label, are right."""
    edit(folder / name, lambda d: d.get("commitments", {}).update(seed="ab" * 32))
    if name == "pub/challenge.json":
        edit(folder / name, lambda d: d.update(commitment="ab" * 32))
    seal(folder)


@attack(DamagedFile, "nonce")
def the_nonce_takes_a_digit_of_the_seed(folder):
    """SHA-256(nonce || text): a longer nonce and a shorter text are not taken for them."""
    data = load(folder / "s.json")
    nonce, text = bytes.fromhex(data["nonce"]), str(data["seed"])
    hidden = Hidden(secret=tuple(data["secret"]), seed=data["seed"], nonce=nonce)
    other = Hidden(secret=hidden.secret, seed=int(text[1:]), nonce=hidden.nonce + text[:1].encode())
    if text[1] != "0":
        assert other.commitment("seed") == hidden.commitment("seed")
    edit(folder / "s.json", lambda s: s.update(nonce=other.nonce.hex(), seed=other.seed))


@attack(Refuted, "no member of the family")
def the_secret_is_of_no_member(folder):
    """Committed to by an organiser who wants that nobody finds it."""
    data = load(folder / "s.json")
    hidden = Hidden(secret=(1, 2), seed=data["seed"], nonce=bytes.fromhex(data["nonce"]))
    commitments = {what: hidden.commitment(what) for what in ("secret", "seed")}
    public(folder, lambda d: d.update(commitments=commitments))
    said = commitment(parse(SPEC), hidden)
    edit(folder / "pub/challenge.json", lambda d: d.update(commitment=said))
    instance = Instance(family=parse(SPEC), hidden=hidden)
    write_json(folder / "s.json", secret_json(instance), force=True)
    seal(folder)


@attack(DamagedFile, "was altered", "as it was", False)
@attack(DamagedFile, "made for another challenge", "resealed", True)
@attack(Refuted, "altered after it was made", "as it was", True)
def the_deadline_is_moved_after_submissions(secret, sealed, folder):
    kept = (folder / "s.json").read_bytes()
    edit(folder / "pub/challenge.json", lambda d: d.update(deadline="a week later"))
    if sealed:
        seal(folder)
    if secret == "as it was":
        (folder / "s.json").write_bytes(kept)


@attack(DamagedFile, r"c.safetensors is the submission .*a.safetensors again")
def a_submission_is_given_twice(folder):
    shutil.copy(folder / "a.safetensors", folder / "c.safetensors")


@attack(DamagedFile, "one submission a name", "ann")
@attack(DamagedFile, "one submission a name", "Ann")
def a_name_submits_twice(name, folder):
    claim(folder, "c", name)


@attack(DamagedFile, "under another name", False)
@attack(DamagedFile, "was not registered", True)
def content_is_copied_under_another_name(registered, folder):
    mine = read(folder, "a")
    copy = claim(folder, "c", "cyd", str(list(mine.secret)))
    assert copy.content == mine.content
    assert copy.digest != mine.digest
    if registered:
        (folder / "list").write_text(f"{mine.digest} ann\n{read(folder, 'b').digest} bob\n")


@attack(DamagedFile, "was altered", False)
@attack(DamagedFile, "was not registered", True)
def a_registered_digest_is_taken_over(resealed, folder):
    mine, path = read(folder, "a"), folder / "a.safetensors"
    (folder / "list").write_text(f"{mine.digest} ann\n")
    edit(path, lambda m: m.update(name="cyd"))
    if resealed:
        forged = Submission(
            challenge=mine.challenge, name="cyd", salt=mine.salt, secret=mine.secret
        )
        edit(path, lambda m: m.update(digest=forged.digest))


@attack(DamagedFile, "was not registered")
def a_digest_is_registered_by_another(folder):
    (folder / "list").write_text(f"{read(folder, 'a').digest} cyd\n")


@attack(DamagedFile, "another challenge")
def a_submission_is_of_another_challenge(folder):
    made = create(folder / "other/pub", folder / "other/s.json", parse(SPEC), 100, SHAPE[0])
    other = by_predictions(made, "cyd", folder / "p.npy")
    write_submission(folder / "c.safetensors", other)


ODD = {
    "in one number": (np.concatenate([[1e-300], np.zeros(1919)]).reshape(SHAPE), "its digest"),
    "long": (np.zeros((61, 2, 16)), "is wanted"),
    "float32": (np.zeros(SHAPE, np.float32), "numbers in float64"),
    "nan": (np.full(SHAPE, np.nan), "finite"),
    "infinite": (np.full(SHAPE, np.inf), "finite"),
}
for kind, (_, words) in ODD.items():

    @attack(DamagedFile, words, kind)
    def predictions_are_altered(kind, folder):
        rewrite(folder / "b.safetensors", {"predictions": ODD[kind][0]})


@attack(DamagedFile, "holds an array")
def an_array_is_added(folder):
    arrays = {"predictions": np.zeros(SHAPE), "more": np.zeros(3)}
    rewrite(folder / "b.safetensors", arrays)


@attack(DamagedFile, "at most")
def a_submission_of_a_terabyte(folder):
    with (folder / "c.safetensors").open("wb") as file:
        file.truncate(1 << 40)  # sparse


@attack(DamagedFile, "stands twice")
def a_header_describes_an_array_twice(folder):
    one = b'"predictions":{"dtype":"F64","shape":[60,2,16],"data_offsets":[0,15360]}'
    text = b"{" + one + b"," + one + b"}"
    (folder / "c.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + bytes(15360))


@attack(DamagedFile, "its header claims")
def the_header_claims_an_exabyte(folder):
    (folder / "c.safetensors").write_bytes(struct.pack("<Q", 1 << 60) + b"{}")


for name in ("fresh.safetensors", "examples-00000.safetensors", "instance.json"):

    @attack(DamagedFile, "plain files alone", name)
    def a_public_file_is_a_link(name, folder):
        (folder / "pub" / name).rename(folder / "moved")
        (folder / "pub" / name).symlink_to(folder.resolve() / "moved")


@attack(DamagedFile, "plain files alone", os.mkdir)
@attack(DamagedFile, "plain files alone", os.mkfifo)
def the_folder_holds_more(make, folder):
    make(folder / "pub/more")


for name in ("../../etc/passwd", "/etc/passwd", "examples-0/../x.npz", "x"):

    @attack(DamagedFile, "a shard is named", name)
    def a_shard_lies_outside_of_the_folder(name, folder):
        public(folder, lambda d: d["examples"]["shards"][0].update(file=name))
        seal_challenge(folder)


@attack(DamagedFile, "2 files of fresh tokens")
def there_are_two_files_of_fresh_tokens(folder):
    shutil.copy(folder / "pub/fresh.safetensors", folder / "pub/fresh.npz")


@attack(ToolkitError, "memory|at most", 1 << 39)
@attack(ToolkitError, "tokens it should", 10_000)
def fresh_tokens_are_counted_wrongly(count, folder):
    data = load(folder / "pub/challenge.json")
    del data["id"]
    data["fresh"]["count"] = count
    store(folder / "pub/challenge.json", data | {"id": digest(data)})


for name in ("pub/challenge.json", "s.json", "scores.json"):

    @attack(DamagedFile, "at most", name)
    def json_of_a_gigabyte(name, folder):
        os.truncate(folder / name, 1 << 30)

    @attack(DamagedFile, "stands twice", name)
    def a_key_stands_twice(name, folder):
        text = (folder / name).read_text().rstrip().removesuffix("}")
        key, value = next(iter(load(folder / name).items()))
        (folder / name).write_text(f"{text}, {json.dumps(key)}: {json.dumps(value)}}}")


for names in ("a", "b", ""):

    @attack(Refuted, "entries has", names)
    def scores_are_of_other_submissions(names, folder):
        for name in set("ab") - set(names):
            (folder / f"{name}.safetensors").unlink()


@attack(Refuted, r"entries\[1\].risk is 1.0")
def a_risk_is_forged(folder):
    edit(folder / "scores.json", lambda d: d["entries"][1].update(risk=1.0 + 1e-8))


@attack(Refuted, "registered", "")
@attack(Refuted, "registered", f"{'0' * 64} cyd\n")
def scores_are_of_another_list(more, folder):
    """A list of digests is part of the scores: whoever has it sees whether it was that one."""
    listed = {read(folder, name).digest: owner for name, owner in (("a", "ann"), ("b", "bob"))}
    if more:
        found = scores_of(folder, "a", "b", registered=listed)
        write_json(folder / "scores.json", found.to_json(), force=True)
    lines = "".join(f"{one} {name}\n" for one, name in listed.items())
    (folder / "list").write_text(lines + more)


@attack(DamagedFile, "was not registered", lambda one, two: {one: "bob"})
@attack(DamagedFile, "scores.json is damaged", lambda one, two: [one, two])
@attack(DamagedFile, "scores.json is damaged", lambda one, two: {"xyz": "ann"})
@attack(DamagedFile, "scores.json is damaged", lambda one, two: {one: 5})
@attack(DamagedFile, "scores.json is damaged", lambda one, two: {one: "ann", two: "Ann"})
@attack(DamagedFile, "scores.json is damaged", lambda one, two: "ann")
def the_list_in_the_scores_is_odd(value, folder):
    digests = (read(folder, name).digest for name in "ab")
    edit(folder / "scores.json", lambda d: d.update(registered=value(*digests)))


@pytest.mark.parametrize(("change", "error", "words"), ATTACKS)
def test_an_attack_is_refused(here, change, error, words):
    change(here)
    with little_memory(), pytest.raises(error, match=words) as refused:
        check(here)
    assert "\n" not in str(refused.value)


# What must pass beside them.


def test_two_who_registered_the_same_secret_both_count(here):
    one, two = read(here, "a"), claim(here, "c", "cyd", str(list(read(here, "a").secret)))
    both = scores_of(here, "a", "c", registered={one.digest: "Ann", two.digest: "cyd"})
    assert [(e.name, e.rank, e.risk) for e in both.entries] == [("ann", 1, 0.0), ("cyd", 1, 0.0)]


def test_the_digest_hides_what_it_commits_to(here):
    challenge = read_challenge(here / "pub")
    assert len({by_secret(challenge, "ann", "[1,2,3]").digest for _ in range(20)}) == 20


def test_scores_of_another_machine_differ_by_rounding_only(here):
    edit(here / "scores.json", lambda d: d["entries"][1].update(risk=1.0 + 1e-12))
    check(here)


@pytest.mark.parametrize(("size", "held"), [(1e-13, True), (1e-6, False)])
def test_real_labels_are_held_to_rounding(here, size, held):
    shutil.rmtree(here / "pub")
    (here / "s.json").unlink()
    create(here / "pub", here / "s.json", parse("nice:m=2,k=2,d=6"), 50, 30)
    arrays = load_file(here / SHARD)
    arrays["y"][9, 1, 2] += size
    rewrite(here / SHARD, arrays)
    sha256 = hashlib.sha256(arrays["words"].tobytes() + arrays["y"].tobytes()).hexdigest()
    public(here, lambda d: d["examples"]["shards"][0].update(sha256=sha256))
    seal_challenge(here)
    if held:
        assert not reveal(read_challenge(here / "pub"), here / "s.json").exact
    else:
        with pytest.raises(Refuted, match="altered"):
            reveal(read_challenge(here / "pub"), here / "s.json")


# What a participant gives to be packed.

NAMES = [
    *("", " ", "a  b", " a", "a\n", "a\x00b", "\x1b[31mann", "a\u202eb", "../ann", "a/b"),
    *("аnn", "ａｎｎ", "x" * 65, "x" * 10_000_000),  # two first letters of other alphabets
]
SECRETS = [
    *("", "5", "[]", "[1,2]", "[1,2,2]", "[1,2,99]", "[1,2,true]", "[1,2,3.0]", '[1,2,"3"]'),
    *("[1,2,NaN]", "[1,2,[3]]", "[" * 5000, "[1,2,3" + "0" * 5000 + "]", '{"secret":[1,2,3]}'),
    *("[1,2,1" + "0" * 90 + "]", "[" + "1," * 70_000 + "1]", "x" * 10_000_000),
]
GIVEN = [(name, "[1,2,3]") for name in NAMES] + [("ann", secret) for secret in SECRETS]


@pytest.mark.parametrize(("name", "secret"), GIVEN, ids=range(len(GIVEN)))
def test_odd_names_and_secrets_are_refused(here, name, secret):
    with pytest.raises(UsageError) as error:
        by_secret(read_challenge(here / "pub"), name, secret)
    assert str(error.value).isascii()
    assert str(error.value).isprintable()
    assert len(str(error.value)) < 600


def npy(shape: str, data: bytes = b"") -> bytes:
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + data


FILES = {
    "shape": np.zeros((60, 2, 15)),
    "flat": np.zeros(1920),
    "complex": np.zeros(SHAPE, complex),
    "bool": np.zeros(SHAPE, bool),
    "text": np.full(SHAPE, "1.0"),
    "objects": np.full(SHAPE, None),
    "nan": np.full(SHAPE, np.nan),
    "infinite": np.full(SHAPE, -np.inf),
    "long": np.full(SHAPE, np.finfo(np.longdouble).max, np.longdouble),
    "negative": npy("(-60, -2, 16)"),
    "code": npy("__import__('os').system('touch pwned')"),
    "pickle": b"\x80\x04cos\nsystem\n(S'touch pwned'\ntR.",
}


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("suffix", ["npy", "npz", "safetensors", "raw.npz"])
def test_odd_files_of_predictions_are_refused(here, kind, suffix):
    path, content = here / f"x.{suffix}", FILES[kind]
    if isinstance(content, np.ndarray):
        np.save(here / "array.npy", content, allow_pickle=True)
        content = (here / "array.npy").read_bytes()
    if suffix == "npz":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("predictions.npy", content)
    else:
        path.write_bytes(content)
    with pytest.raises(ToolkitError, match="x") as error:
        by_predictions(read_challenge(here / "pub"), "ann", path)
    assert "\n" not in str(error.value)
    assert not (here / "pwned").exists()


def test_what_is_right_is_read_from_all_three(here):
    challenge = read_challenge(here / "pub")
    values = np.random.default_rng(0).normal(size=SHAPE)
    np.save(here / "x.npy", np.asfortranarray(values))
    np.savez_compressed(here / "x.npz", predictions=values, other=np.zeros(3))
    save_file({"any": values}, here / "x.safetensors")
    for suffix in ("npy", "npz", "safetensors"):
        found = by_predictions(challenge, "ann", here / f"x.{suffix}")
        assert (found.predictions == values).all()
    np.save(here / "x.npy", np.ones(SHAPE, np.int8))
    assert by_predictions(challenge, "ann", here / "x.npy").predictions.dtype == np.float64
    np.savez(here / "x.npz", a=values, b=values)
    with pytest.raises(UsageError, match="one is wanted"):
        by_predictions(challenge, "ann", here / "x.npz")


def bomb(path: Path, member: str, start: bytes = b"") -> None:
    """Write 64 megabytes of zeros in 64 kilobytes."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open(member, "w") as file,
    ):
        file.write(start)
        for _ in range(64):
            file.write(bytes(1 << 20))


@pytest.mark.parametrize("lie", [False, True])
def test_predictions_are_not_unpacked_beyond_their_size(here, lie):
    bomb(here / "x.npz", "predictions.npy", npy(str(SHAPE)))
    if lie:  # about its size
        whole, size = (here / "x.npz").read_bytes(), struct.pack("<I", (1 << 26) + 128)
        assert size in whole
        small = struct.pack("<I", 128 + 8 * 1920)
        (here / "x.npz").write_bytes(whole.replace(size, small))
    with little_memory(), pytest.raises(DamagedFile):
        by_predictions(read_challenge(here / "pub"), "ann", here / "x.npz")


@pytest.mark.parametrize("place", ["pub/examples-00000.npz", "pub/fresh.npz"])
def test_a_challenge_is_not_unpacked_beyond_its_size(tmp_path, place):
    create(tmp_path / "pub", tmp_path / "s.json", parse(SPEC), 50, 40, tensors="npz")
    bomb(tmp_path / place, "words.npy")
    with little_memory(), pytest.raises(DamagedFile, match="unpacks to"):
        reveal(read_challenge(tmp_path / "pub"), tmp_path / "s.json")


# Lists of digests.

ONE, TWO = "ab" * 32, "0f" * 32


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        # Whoever registers a digest for each member of a family has the secret among them.
        ([f"{i:064x} ann" for i in range(10)], UsageError, "ann has two digests"),
        (["list", f"{TWO} Ann"], UsageError, "Ann has two digests"),
        ([f"{ONE} ann", f"{ONE} bob"], UsageError, "is registered by ann and by bob"),
        ([f"{ONE} аnn"], UsageError, "the name"),  # its first letter is Cyrillic
        *([[text], UsageError, "64 hexadecimal"] for text in ("nowhere", ONE, ONE.upper())),
        *([[text], UsageError, "64 hexadecimal"] for text in (ONE[2:], "x" * 100_000)),
        *([[f], DamagedFile, "is no digest"] for f in ("words", "nameless", "upper")),
        (["gigabyte"], DamagedFile, "at most"),
    ],
)
def test_odd_lists_of_digests_are_refused(here, given, error, words):
    (here / "list").write_text(f"{ONE}  ann\n" * 3)
    (here / "words").write_text("xyz\n")
    (here / "nameless").write_text(f"{ONE}\n")
    (here / "upper").write_text(f"{ONE.upper()} ann\n")
    (here / "gigabyte").touch()
    os.truncate(here / "gigabyte", 1 << 30)
    with pytest.raises(error, match=words):
        read_digests(given)


def test_digests_are_read_from_files(here):
    (here / "digests").write_text(f"# published\n{ONE}  ann\n\n{TWO} Bob B.\n{ONE} ann\n")
    assert read_digests([str(here / "digests"), f"{ONE} ann"]) == {ONE: "ann", TWO: "Bob B."}
