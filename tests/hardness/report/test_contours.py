"""Contours of a grid of costs: what is read from its file, and where its lines lie."""

import json

import pytest

from hardness.lwe.grid import grid as estimated
from hardness.report.charts.contours import contours, contours_rows
from hardness.report.figures import rows_of
from instances.errors import DamagedFile, UsageError
from tests.charts import legend

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


def lines(data):
    """Give the points of the line of each level, in cells from the lower left."""
    drawn = contours(data)
    sets = [c for ax in drawn.axes for c in ax.collections if hasattr(c, "levels")]
    return {
        float(level): path.vertices
        for one in sets
        for level, path in zip(one.levels, one.get_paths(), strict=True)
    }


def test_cells_rise_and_name_their_attack():
    data = contours_rows(json.loads(json.dumps(grid())))
    assert (data["ys"], data["xs"]) == (["512", "768", "1024"], ["2^20", "2^30", "2^40"])
    top = [row for row in data["rows"] if row["kind"] == "cell"][-3:]
    assert [round(row["rop"], 1) for row in top] == [153.6, 102.4, 76.8]
    assert [row["attack"] for row in top] == ["dual_hybrid", "dual_hybrid", "usvp"]
    drawn = contours(data)
    texts = [text.get_text() for text in drawn.axes[0].texts]
    assert {"102 a", "77 b"} <= {*texts} or {"102 b", "77 a"} <= {*texts}
    assert "Cheapest attack: a usvp, b dual_hybrid." in drawn.caption
    assert "matzov with gsa" in drawn.caption
    assert "cheapest of 2 attacks on lwe:sigma=3.2" in drawn.caption
    assert "Left empty" not in drawn.caption
    assert legend(drawn) == ["80 bits", "112 bits", "128 bits"]
    image = drawn.axes[0].get_images()[0].get_array()
    assert image.tolist() == [[cost(int(n), int(q[2:])) for q in data["xs"]] for n in data["ys"]]
    alone = contours(contours_rows(grid(lambda n, bits: n / 20)))
    assert "Cost of usvp on lwe:sigma=3.2" in alone.caption


def test_a_line_is_where_the_cost_between_two_cells_is_exactly_that():
    for level, points in lines(contours_rows(grid())).items():
        assert len(points)
        for x, y in points:
            n = 512 + 256 * y
            q = [20, 30, 40]
            if x == round(x):
                assert cost(n, q[round(x)]) == pytest.approx(level, rel=1e-5)
            else:  # between two columns, in which the cost is taken to be linear
                left, right = cost(n, q[int(x)]), cost(n, q[int(x) + 1])
                assert left + (x - int(x)) * (right - left) == pytest.approx(level, rel=1e-5)


def test_lines_end_at_cells_without_an_estimate():
    def gap(n, bits):
        return None if (n, bits) == (768, 30) else 160 - n / 10

    whole, holed = contours_rows(grid(lambda n, bits: 160 - n / 10)), contours_rows(grid(gap))
    [(level, points)] = lines(whole).items()
    assert (level, points[:, 0].min(), points[:, 0].max()) == (80.0, 0, 2)
    assert any(x == 1 for points in lines(whole).values() for x, _ in points)
    assert not any(x == 1 for points in lines(holed).values() for x, _ in points)
    assert "Left empty: no estimate." in contours(holed).caption


def test_numbers_stand_in_cells_where_there_is_room():
    for count, numbered in ((12, 36), (40, 0)):
        data = contours_rows(grid(xs=[f"2^{20 + i}" for i in range(count)]))
        drawn = contours(data)
        assert len(drawn.axes[0].texts) == numbered
        assert len(drawn.axes[0].get_xticks()) <= 20


def test_what_is_no_grid_of_two_parameters_is_refused(tmp_path):
    with pytest.raises(UsageError, match="n has 1 of 2 to 128 values"):
        contours_rows(grid(ys=["512"]))
    words = json.dumps(grid()).replace('"512"', '"binary"')
    with pytest.raises(UsageError, match="got binary; figure contours is over numbers"):
        contours_rows(json.loads(words))
    with pytest.raises(UsageError, match="over two parameters, got n, q, h"):
        contours_rows(grid() | {"over": ["n", "q", "h"]})
    with pytest.raises(UsageError, match="nothing to draw"):
        contours_rows(grid(lambda n, q: None))
    for bad in ({}, {"over": 2}, {"problems": [1]}, {"over": ["n", "h"]}, {"problems": None}):
        path = tmp_path / "grid.json"
        path.write_text(json.dumps(grid() | bad if bad else {"spec": "lwe:n=8"}))
        with pytest.raises(DamagedFile, match=r"no grid of costs \(it(s parts| lacks) "):
            rows_of("contours", path)


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
