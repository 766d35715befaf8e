"""Contours of a grid of costs: what is read from its file, and where its lines lie."""

import json
import math

import pytest

from hardness.lwe.grid import grid as estimated
from hardness.report.charts.contours import draw_contours, of_contours
from hardness.report.figures import numbers
from instances.errors import DamagedFile, UsageError
from tests.charts import rows_of, said

QS = ["2^40", "2^20", "2^30"]  # as a list may have them
NS = ["1024", "512", "768"]
KIND = {"kind": "heuristic model", "model": "matzov", "shape": "gsa"}


def cost(n, bits):
    """A cost that is linear in n, of a modulus of so many bits."""
    return 3.0 * n / bits


def grid(bits=cost, keys=("n", "q"), ys=NS, xs=QS):
    problems = []
    for y in ys:
        for x in xs:
            rop = bits(*(float(v.removeprefix("2^")) for v in (y, x)))
            name = None if rop is None else "usvp" if rop < 100 else "dual_hybrid"
            problems.append(
                {
                    "values": dict(zip(keys, (y, x), strict=True)),
                    "least": name,
                    "rop": rop,
                    "reason": "",
                    "estimates": {name: KIND} if name else {},
                }
            )
    return {"spec": "lwe:sigma=3.2", "samples": None, "over": list(keys), "problems": problems}


def levels(data):
    found = {}
    for row in data["rows"]:
        if row["kind"] == "level":
            found.setdefault(row["bits"], []).append(row)
    return found


def lines(data):
    rows = [row for row in rows_of(draw_contours(data)) if "level" in row]
    found = {}
    for row in rows:
        place = (row["x"], row["place"])
        found.setdefault((row["level"], row["run"]), set()).add(place)
    return found


def test_cells_rise_and_name_their_attack():
    data = of_contours(json.loads(json.dumps(grid())))
    assert (data["ys"], data["xs"]) == (["512", "768", "1024"], ["2^20", "2^30", "2^40"])
    top = [row for row in data["rows"] if row["kind"] == "cell"][-3:]
    assert [round(row["rop"], 1) for row in top] == [153.6, 102.4, 76.8]
    assert [row["attack"] for row in top] == ["dual_hybrid", "dual_hybrid", "usvp"]
    texts = said("contours", data)
    assert "a usvp, b dual_hybrid" in texts
    for text in ("102.4 b", "76.8 a", "matzov with gsa", "linear in n"):
        assert text in texts
    assert "lwe:sigma=3.2: the least of 2 attacks" in texts
    assert "left empty" not in texts
    assert "lwe:sigma=3.2: usvp" in said("contours", of_contours(grid(lambda n, bits: n / 20)))


def test_a_line_of_a_linear_cost_is_where_the_cost_is_exactly_that():
    data = of_contours(grid())
    found = levels(data)
    assert set(found) == {80, 112, 128}  # 192 and 256 lie above all cells
    for bits, points in found.items():
        for point in points:
            n = float(point["value"])
            assert cost(n, int(point["x"][2:])) == pytest.approx(bits, rel=1e-5)
            assert point["place"] == pytest.approx((n - 512) / 256 + 0.5, rel=1e-5)
    assert [point["x"] for point in found[80]] == ["2^20", "2^30"]
    assert [point["x"] for point in found[128]] == ["2^20"]


def test_a_modulus_is_interpolated_by_its_logarithm():
    falling = grid(lambda q, n: 200 - 4 * math.log2(q), ("q", "n"), ["1024", "1048576"], ["8", "9"])
    found = levels(of_contours(falling))
    assert [(bits, [p["value"] for p in found[bits]]) for bits in found] == [(128, ["2^18.00"] * 2)]


def test_lines_end_at_cells_without_an_estimate_and_join_no_double_crossings():
    def gap(n, bits):
        return None if (n, bits) == (768, 30) else 160 - n / 10

    whole, holed = lines(of_contours(grid(lambda n, bits: 160 - n / 10))), of_contours(grid(gap))
    assert [len(points) for points in whole.values()] == [3]
    assert sorted(x for points in lines(holed).values() for x, _ in points) == ["2^20", "2^40"]
    assert [len(points) for points in lines(holed).values()] == [1, 1]
    assert "left empty: no estimate" in said("contours", holed)
    twice = of_contours(grid(lambda n, bits: 120.0 if n == 768 else 100.0))
    assert set(levels(twice)) == {112}
    assert [len(points) for points in lines(twice).values()] == [1] * 6


def test_a_level_that_a_cell_meets_is_crossed_once():
    data = of_contours(grid(lambda n, bits: {512: 100.0, 768: 128.0, 1024: 150.0}[n]))
    found = [(point["value"], point["place"]) for point in levels(data)[128]]
    assert found == [("768", 1.5)] * 3


def test_large_grids_have_letters_and_larger_ones_shades_alone():
    for count, letter in ((40, True), (100, False)):
        data = of_contours(grid(xs=[f"2^{20 + i}" for i in range(count)]))
        says = {row["says"] for row in rows_of(draw_contours(data)) if "says" in row}
        assert says == ({"a", "b"} if letter else {""})
        assert "log2 of operations" in said("contours", data)


def test_what_is_no_grid_of_two_parameters_is_refused(tmp_path):
    with pytest.raises(UsageError, match="n has 1 of 2 to 128 values"):
        of_contours(grid(ys=["512"]))
    words = json.dumps(grid()).replace('"512"', '"binary"')
    with pytest.raises(UsageError, match=r"n=binary given: .* over numbers"):
        of_contours(json.loads(words))
    with pytest.raises(UsageError, match=r"over n, q, h given: .* two parameters"):
        of_contours(grid() | {"over": ["n", "q", "h"]})
    with pytest.raises(UsageError, match="nothing to draw"):
        of_contours(grid(lambda n, q: None))
    for bad in ({}, {"over": 2}, {"problems": [1]}, {"over": ["n", "h"]}, {"problems": None}):
        path = tmp_path / "grid.json"
        path.write_text(json.dumps(grid() | bad if bad else {"spec": "lwe:n=8"}))
        with pytest.raises(DamagedFile, match="this is no grid of costs"):
            numbers("contours", path)


def test_a_file_of_estimate_is_drawn(hardness):
    over = ("--over", "n=64..96..16", "--over", "h=4,6,8", "--attack", "brute-force")
    made = hardness("estimate", "lwe:q=97,sigma=1,secret=binary", *over, "--out", "grid.json")
    assert made.code == 0
    drawn = hardness("figure", "contours", "grid.json", "--out", "grid.svg", "--json")
    (cell,) = (row for row in drawn.json["rows"] if (row["y"], row["x"]) == ("80", "4"))
    assert cell["rop"] == made_of(n=80, h=4)
    assert (drawn.json["y"], drawn.json["xs"]) == ("n", ["4", "6", "8"])
    hardness("estimate", "ml-kem-512", "--attack", "usvp", "--out", "one.json")
    refused = hardness("figure", "contours", "one.json", "--out", "one.svg")
    refused.one_line("no grid of costs", "--over n=..")


def made_of(n, h):
    words = "lwe:q=97,sigma=1,secret=binary"
    one = estimated(words, [f"n={n}", f"h={h}"], only=["brute-force"])
    return one.cells[0].least.rop
