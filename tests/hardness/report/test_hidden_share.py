"""The figure of the risk that stays."""

import pytest

from hardness.report.figures import numbers_of
from hardness.runs import compare
from instances import UsageError, parse
from tests.charts import said


def test_risks_stand_against_the_share_of_their_instance():
    found = compare("hidden:d=6,hard=2", "nice=1,4", ("trivial", "linear"), seeds=2)
    data = numbers_of("hidden-share", found)
    rows = data["learners"]["trivial"]
    assert [row["value"] for row in rows] == ["1", "1", "4", "4"]
    assert all(row["share_low"] < row["share"] < row["share_high"] for row in rows)
    assert rows[0]["share"] > 2 * rows[2]["share"]
    assert [row["risk"] for row in rows] == [1.0] * 4
    words = said("hidden-share", data)
    assert "the hidden share" in words
    assert "hidden:d=6,hard=2, over nice, 2 seeds" in words


def test_families_without_other_heads_are_refused():
    found = compare("parity:m=2", "d=6", ("trivial",), seeds=1)
    with pytest.raises(UsageError, match="proved_as"):
        numbers_of("hidden-share", found)
    assert parse("tokens3:d=5,m=1").proved_as
    found = compare("tokens3:m=1", "d=5", ("trivial",), seeds=1)
    with pytest.raises(UsageError, match="no other heads"):
        numbers_of("hidden-share", found)
