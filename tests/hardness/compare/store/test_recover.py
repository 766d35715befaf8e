"""What is recovered of damaged stores: all that is on whole pages, and nothing that is not."""

import contextlib
import os
import random
import shutil
import signal
import sqlite3

import pytest

from hardness.compare.store.check import check
from hardness.compare.store.pages import records, varint
from hardness.compare.store.reader import read
from hardness.compare.store.recover import recover
from hardness.compare.store.salvage import survey
from hardness.compare.store.writer import create, reopen
from instances.errors import AlreadyExists, DamagedFile
from tests.hardness.compare.store.child import said
from tests.hardness.compare.store.making import rows, run_row, sweep

PAGE = 4096
RUNS = 300


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    path = tmp_path_factory.mktemp("sound") / "runs.db"
    with create(path) as writer:
        for start in range(0, RUNS, 50):
            writer.write([run_row(i) for i in range(start, start + 50)], sweep())
        writer.write(rows(0))
    return path


@pytest.fixture
def damaged(sound, tmp_path):
    return shutil.copy(sound, tmp_path / "damaged.db")


def overwrite(path, pages, content=None):
    with path.open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * PAGE)
            file.write(content or random.Random(page).randbytes(PAGE))


def recovered(path, out):
    """Recover, and see that every row that is there is what was written."""
    found = recover(path, out)
    given = {row.key: row for row in map(run_row, range(RUNS))}
    with read(out) as store:
        runs = {row.key: row for row in store.runs()}
        assert all(given[k] == row for k, row in runs.items())
        assert all(w == rows(0)[3] for w in store.wholes())
        assert all(p in rows(0) for p in store.parts())
        assert all(c in rows(0) for c in store.certificates())
        assert all(s == sweep() for s in store.sweeps())
    assert check(out) is None
    assert found.kept["runs"] == len(runs)
    return found


def kinds(path):
    """The pages of a store by what they are part of."""
    connection = sqlite3.connect(path)
    try:
        roots = connection.execute("SELECT name, rootpage FROM sqlite_master").fetchall()
    finally:
        connection.close()
    return dict(roots)


def test_records_are_read_as_sqlite_reads_them(sound):
    """Every leaf page of every table, parsed here, against SQL."""
    content = sound.read_bytes()

    def fetch(number):
        return content[(number - 1) * PAGE : number * PAGE]

    parsed = []
    for number in range(2, len(content) // PAGE + 1):
        parsed += [v for row, v in records(fetch(number), 0, fetch) if row is not None]
    connection = sqlite3.connect(sound)
    names = ("run", "spec", "learner", "budget", "context", "ending", "certificate", "part")
    stored = [
        row
        for table in (*names, "whole", "array", "figure", "sweep")
        for row in connection.execute(f"SELECT * FROM {table}")
    ]
    connection.close()
    as_text = {repr([None, *row[1:]]) for row in stored}
    assert as_text == {repr(row) for row in parsed if row[0] is None and len(row) > 4}
    assert len(stored) > RUNS


@pytest.mark.parametrize("value", [0, 1, 127, 128, 2**14, 2**35, 2**56 - 1])
def test_varint_is_sqlite_s(value):
    groups = [value & 127]
    while value >> 7 * len(groups):
        groups.append(value >> 7 * len(groups) & 127 | 128)
    written = bytes(reversed(groups))
    assert varint(b"x" + written + b"y", 1) == (value, 1 + len(written))


def test_a_sound_store_is_copied(sound, tmp_path):
    found = recovered(sound, tmp_path / "new.db")
    assert (found.damaged, found.kept["runs"], found.kept["parts"]) == (False, RUNS, 2)
    with pytest.raises(AlreadyExists):
        recover(sound, tmp_path / "new.db")


@pytest.mark.parametrize("lost", ["page 1", "schema and roots", "interior", "header alone"])
def test_pages_that_hold_no_rows_cost_none(damaged, tmp_path, lost):
    if lost == "header alone":
        with damaged.open("r+b") as file:
            file.write(b"garbage" * 14)
    elif lost == "page 1":
        overwrite(damaged, [1])
    else:
        content = damaged.read_bytes()
        inner = [
            n + 1
            for n in range(1, len(content) // PAGE)
            if content[n * PAGE] in ((0x05, 0x02) if lost == "interior" else (0x05, 0x02, 0x0A))
        ]
        assert inner
        overwrite(damaged, [*inner, *([1] if lost != "interior" else [])], b"\xff" * PAGE)
    with pytest.raises(DamagedFile, match="hardness store recover"):
        reopen(damaged)
    found = recovered(damaged, tmp_path / "new.db")
    assert found.damaged
    assert found.kept == dict.fromkeys(found.kept, 1) | {"runs": RUNS, "parts": 2}
    assert survey(damaged) == found.kept


@pytest.mark.parametrize("table", ["spec", "learner", "budget", "context", "ending"])
def test_names_are_kept_twice(damaged, tmp_path, table):
    overwrite(damaged, [kinds(damaged)[table]])
    assert recovered(damaged, tmp_path / "new.db").kept["runs"] == RUNS
    overwrite(damaged, [kinds(damaged)[f"{table}_unique"]])
    found = recover(damaged, tmp_path / "newer.db")
    # With no names left no run says what it is of.
    assert found.kept["runs"] == 0
    assert found.rejected["runs"] == RUNS


def test_edited_cells_are_rejected(damaged, tmp_path):
    connection = sqlite3.connect(damaged)
    connection.execute("UPDATE run SET risk = 0.01 WHERE id % 100 = 1")
    connection.execute("UPDATE part SET content = x'00' WHERE number = 2")
    connection.commit()
    connection.close()
    found = recovered(damaged, tmp_path / "new.db")
    assert (found.kept["runs"], found.kept["parts"]) == (RUNS - 3, 1)
    assert found.rejected["runs"] == 3
    assert found.rejected["parts"] == 1


def test_any_one_page_costs_what_lies_on_it(sound, tmp_path):
    content = sound.read_bytes()
    costs = []
    for page in range(1, len(content) // PAGE + 1):
        damaged = tmp_path / "damaged.db"
        damaged.write_bytes(content)
        overwrite(damaged, [page])
        costs.append(RUNS - survey(damaged)["runs"])
    assert sum(costs) == RUNS  # every run lies on one page, and needs no other
    assert max(costs) < 60


@pytest.mark.parametrize("seed", range(12))
def test_fuzz(damaged, tmp_path, seed):
    """Random pages overwritten, bytes flipped, the file cut: what is found was written."""
    rng = random.Random(seed)
    size = damaged.stat().st_size
    with damaged.open("r+b") as file:
        for _ in range(rng.randint(1, 6)):
            at = rng.randrange(size)
            how = rng.choice(["page", "bytes", "zeros", "cut"])
            if how == "cut":
                file.truncate(max(at, size // 2))
                continue
            file.seek(at // PAGE * PAGE if how in ("page", "zeros") else at)
            file.write(bytes(PAGE) if how == "zeros" else rng.randbytes(rng.choice([1, 90, PAGE])))
    with contextlib.suppress(DamagedFile):  # where nothing is left
        recovered(damaged, tmp_path / "new.db")


def test_what_lies_in_the_log_is_read_too(tmp_path):
    path = tmp_path / "runs.db"

    def work(out):
        writer = create(path)
        for i in range(40):
            writer.write([run_row(i)], sweep())
        os.kill(os.getpid(), signal.SIGKILL)

    said(work)
    assert (tmp_path / "runs.db-wal").stat().st_size > 40 * PAGE
    assert survey(path)["runs"] == 40
    overwrite(path, [1])
    assert recovered(path, tmp_path / "new.db").kept["runs"] == 40
    with (tmp_path / "runs.db-wal").open("r+b") as file:
        file.write(b"\0" * 100)
    assert recovered(path, tmp_path / "newer.db").kept["runs"] == 40


@pytest.mark.parametrize("content", [b"", b"text", bytes(10_000), b"SQLite format 3\0" * 999])
def test_what_is_no_store_at_all(tmp_path, content):
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(DamagedFile, match="nothing of a store"):
        recover(path, tmp_path / "new.db")
    assert os.listdir(tmp_path) == ["other"]


def test_damage_that_sqlite_cannot_say_in_letters_is_one_line(damaged, tmp_path):
    content = damaged.read_bytes()
    damaged.write_bytes(
        content.replace(b"CREATE TABLE spec (", b"CREATE \xdf\xfe\xff\xdf\xdf spec (", 1)
    )
    with pytest.raises(DamagedFile, match="is damaged"):
        read(damaged)
    with pytest.raises(DamagedFile, match="is damaged"):
        reopen(damaged)
    recovered(damaged, tmp_path / "new.db")
