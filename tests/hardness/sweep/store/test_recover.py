"""What is recovered of damaged stores: all that can be read, and nothing that is not a row."""

import contextlib
import os
import random
import shutil
import sqlite3

import pytest

from hardness.sweep.recover import check, recover
from hardness.sweep.store import create, read, reopen
from instances.errors import AlreadyExists, DamagedFile
from tests.hardness.sweep.store.making import made_run, rows, sweep

PAGE = 4096
RUNS = 300
OTHERS = {"certificates": 1, "figures": 1, "sweeps": 1}


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    path = tmp_path_factory.mktemp("sound") / "runs.db"
    with create(path) as writer:
        writer.write([*map(made_run, range(RUNS)), *rows(0)], sweep())
    return path


@pytest.fixture
def damaged(sound, tmp_path):
    return shutil.copy(sound, tmp_path / "damaged.db")


def recovered(path, out):
    """Recover to a store without damage: how many runs, how many rows of others, and the runs."""
    found = recover(path, out)
    assert check(out) is None
    with read(out) as store:
        runs = {row.key: row for row in store.runs()}
    others = dict(found.kept)
    assert others.pop("runs") == len(runs)
    return found, others, runs


def test_a_sound_store_is_copied_and_rows_that_cannot_be_rows_are_rejected(damaged, tmp_path):
    found, others, runs = recovered(damaged, tmp_path / "new.db")
    assert (found.rejected, others) == ({}, OTHERS)
    assert runs == {row.key: row for row in map(made_run, range(RUNS))}
    with pytest.raises(AlreadyExists):
        recover(damaged, tmp_path / "new.db")
    connection = sqlite3.connect(damaged)
    connection.execute("UPDATE runs SET risk = -1 WHERE rowid % 100 = 1")
    connection.execute("UPDATE figures SET data = 7")
    connection.commit()
    connection.close()
    found, others, runs = recovered(damaged, tmp_path / "other.db")
    assert (len(runs), others["figures"]) == (RUNS - 3, 0)
    assert found.rejected == {"runs": 3, "figures": 1}


def test_a_sweep_of_a_recovered_store_is_marked(damaged, tmp_path):
    """Its file goes where the text is not that of its SHA-256."""
    for sql, states in (
        ("SELECT 1", ["running"]),
        ("UPDATE runs SET risk = -1 WHERE rowid = 1", ["recovered"]),
        ("UPDATE sweeps SET text = 'hello'", []),
    ):
        connection = sqlite3.connect(damaged)
        connection.execute(sql)
        connection.commit()
        connection.close()
        recover(damaged, tmp_path / f"{len(states)}{sql[:3]}.db")
        with read(tmp_path / f"{len(states)}{sql[:3]}.db") as store:
            assert [one.state for one in store.sweeps()] == states
    assert check(damaged).rows["sweeps"] == (sweep().sha256[:40],)


def test_a_page_of_rows_costs_the_rows_on_it(sound, tmp_path):
    """The first, a middle and the last leaf of the table of runs."""
    connection = sqlite3.connect(sound)
    sql = "SELECT rootpage FROM sqlite_master WHERE name = 'runs'"
    (root,) = connection.execute(sql).fetchone()
    connection.close()
    content = sound.read_bytes()
    page = content[(root - 1) * PAGE : root * PAGE]
    assert page[0] == 5  # an interior page: its cells begin with the numbers of leaves
    cells = int.from_bytes(page[3:5], "big")
    starts = [int.from_bytes(page[12 + 2 * i : 14 + 2 * i], "big") for i in range(cells)]
    leaves = [int.from_bytes(page[at : at + 4], "big") for at in starts]
    last = int.from_bytes(page[8:12], "big")
    for number in (leaves[0], leaves[len(leaves) // 2], last):
        damaged, new = tmp_path / "damaged.db", tmp_path / f"{number}.db"
        start = (number - 1) * PAGE
        damaged.write_bytes(content[:start] + b"\xff" * PAGE + content[start + PAGE :])
        with pytest.raises(DamagedFile, match="hardness store recover"):
            reopen(damaged)
        _, others, runs = recovered(damaged, new)
        assert RUNS - 20 < len(runs) < RUNS
        assert others == OTHERS


@pytest.mark.parametrize("seed", range(4))
def test_fuzz(damaged, tmp_path, seed):
    """Random pages overwritten, bytes flipped, the file cut: what is recovered is sound."""
    rng = random.Random(seed)
    size = damaged.stat().st_size
    with damaged.open("r+b") as file:
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(PAGE, size)
            how = rng.choice(["page", "bytes", "zeros", "cut"])
            if how == "cut":
                file.truncate(max(at, size // 2))
                continue
            file.seek(at // PAGE * PAGE if how in ("page", "zeros") else at)
            file.write(bytes(PAGE) if how == "zeros" else rng.randbytes(rng.choice([1, 90, PAGE])))
    with contextlib.suppress(DamagedFile):  # where nothing is left
        recovered(damaged, tmp_path / "new.db")
    assert set(os.listdir(tmp_path)) <= {"damaged.db", "new.db"}


def test_damage_that_sqlite_cannot_say_in_letters_is_one_line(damaged, tmp_path):
    changed = b"CREATE TABLE runs (", b"CREATE \xdf\xfe\xff\xdf\xdf runs ("
    damaged.write_bytes(damaged.read_bytes().replace(*changed, 1))
    for use in (read, reopen, lambda path: recover(path, tmp_path / "new.db")):
        with pytest.raises(DamagedFile, match="is damaged"):
            use(damaged)
