"""Portraits: labels by the layer are those by the formula, and heads read what is hidden."""

import json

import numpy as np
import pytest

from hardness.report.charts.portrait import of_portrait
from instances import parse
from instances.capabilities import PROVED_AS, SCHEME
from instances.errors import UsageError
from tests.charts import said
from tests.test_matrix import SPECS as MATRIX


@pytest.mark.parametrize("spec", MATRIX)
def test_labels_by_the_layer_are_those_by_the_formula(spec):
    family = parse(spec)
    data = of_portrait(family)
    assert json.loads(json.dumps(data)) == data
    assert "What each head reads" in said("portrait", data)
    by = {
        name: {(row["place"], row["value"]) for row in data["rows"] if row.get("series") == name}
        for name in ("by the formula", "by the layer")
    }
    first, second = (np.array(sorted(found)) for found in by.values())
    np.testing.assert_allclose(first, second, rtol=0, atol=2e-3 if data["hidden"] else 2e-2)
    reads = {}
    for row in data["rows"]:
        if row["kind"] == "head":
            reads[row["coordinate"]] = max(row["reads"], reads.get(row["coordinate"], 0))
    if SCHEME.of(family) or (PROVED_AS.of(family) and family.name != "hidden"):
        taken = {j for j, size in reads.items() if size} - {0}
        assert taken == set(family.instance(0).hidden.secret)


def test_a_layer_too_large_is_refused():
    with pytest.raises(UsageError, match="too many for a portrait"):
        of_portrait(parse("lwe:n=8,q=17,sigma=1"))
