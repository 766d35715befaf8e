"""What digests see, and what a spreadsheet must not."""

import sqlite3

import pytest

from hardness.runs.rows import FigureRow
from hardness.sweep.store.check import check
from hardness.sweep.store.export import cell
from hardness.sweep.store.merge import merge
from hardness.sweep.store.reader import read
from hardness.sweep.store.seal import seal
from hardness.sweep.store.writer import create, reopen
from instances.errors import DamagedFile


@pytest.mark.parametrize("place", [0, 63, 64, 1000, 99_999])
def test_a_digest_is_of_every_byte(place):
    content = bytearray(100_000)
    before = seal("part", ["ab", 0, bytes(content)])
    content[place] = 1
    assert seal("part", ["ab", 0, bytes(content)]) != before


@pytest.mark.parametrize("start", "=+-@\t\r")
def test_a_text_is_no_formula(start):
    assert cell(f"{start}1") == f"'{start}1"


def test_the_latest_figure_stands_whatever_the_order(tmp_path):
    a, b = tmp_path / "a.db", tmp_path / "b.db"
    for path, value, written in ((a, "new", 2.0), (b, "old", 1.0)):
        with create(path) as writer, writer.tables.transaction():
            writer.write_figure(FigureRow(name="phase", data={"is": value}), written)
    for i, (first, other) in enumerate(((a, b), (b, a))):
        out = tmp_path / f"{i}.db"
        merge(first, [other], out)
        with read(out) as found:
            assert [f.data for f in found.figures()] == [{"is": "new"}]


@pytest.mark.parametrize(
    "change",
    [
        "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run; END",
        "DROP VIEW runs; CREATE VIEW runs AS SELECT 1 AS passed",
        "DROP VIEW figures",
        "DROP INDEX run_status",
        "CREATE TABLE mine (x)",
    ],
)
def test_a_store_with_other_tables_or_views_is_not_opened_to_be_written(tmp_path, change):
    store = tmp_path / "a.db"
    create(store).close()
    assert check(store) is None
    connection = sqlite3.connect(store)
    connection.executescript(change)
    connection.close()
    with pytest.raises(DamagedFile, match="not as a store's"):
        reopen(store)
