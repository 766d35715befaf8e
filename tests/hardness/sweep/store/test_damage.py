"""Damaged stores: what is found wrong with them, and that nothing is written on them."""

import contextlib
import random
import shutil
import sqlite3

import pytest

from hardness.sweep.damage import check
from hardness.sweep.store import create, read, reopen
from instances.errors import DamagedFile
from tests.hardness.sweep.store.making import made_run, rows, sweep

PAGE = 4096
RUNS = 300


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    path = tmp_path_factory.mktemp("sound") / "runs.db"
    with create(path) as writer:
        writer.write([*map(made_run, range(RUNS)), *rows(0)], sweep())
    return path


@pytest.fixture
def damaged(sound, tmp_path):
    return shutil.copy(sound, tmp_path / "damaged.db")


def test_a_page_of_rows_that_is_lost_is_seen(sound, tmp_path):
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
        damaged = tmp_path / "damaged.db"
        start = (number - 1) * PAGE
        damaged.write_bytes(content[:start] + b"\xff" * PAGE + content[start + PAGE :])
        with pytest.raises(DamagedFile, match=r"sqlite3 .*\.recover"):
            reopen(damaged)
        assert check(damaged).damage


@pytest.mark.parametrize("seed", range(4))
def test_fuzz(damaged, seed):
    """Random pages overwritten, bytes flipped, the file cut: it is said in one way."""
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
    with contextlib.suppress(DamagedFile):  # where it is no store any more
        check(damaged)


def test_damage_that_sqlite_cannot_say_in_letters_is_one_line(damaged):
    changed = b"CREATE TABLE runs (", b"CREATE \xdf\xfe\xff\xdf\xdf runs ("
    damaged.write_bytes(damaged.read_bytes().replace(*changed, 1))
    for use in (read, reopen, check):
        with pytest.raises(DamagedFile, match="is damaged"):
            use(damaged)
