"""The one form in which JSON is written and hashed."""

import json

import pytest

from hardness.sweep.store.seal import compact, seal

VALUES = [
    "text",
    'é \U0001f600 \x00 "quoted" \\',
    0,
    -(2**70),
    0.1 + 0.2,
    -0.0,
    1e-320,
    True,
    None,
    [],
    {},
    {"b": [1, {"z": None, "a": (1.5, "x")}], "a": {"2": 2, "10": 1}},
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_as_the_standard_library_writes_it(value):
    usual = json.dumps(value, separators=(",", ":"), sort_keys=True, allow_nan=False)
    assert compact(value) == usual


@pytest.mark.parametrize("value", [float("nan"), [float("inf")], {1, 2}, {"a": b"x"}], ids=repr)
def test_what_is_no_json_is_refused(value):
    with pytest.raises((TypeError, ValueError)):
        compact(value)


def test_the_digest_of_stores_that_exist():
    assert seal("figure", ["a", "{}", 0.5]).hex() == "1778897f3a5a0046"
    assert seal("part", [b"ab", 1, bytes(999)]).hex() == "6fdf03f9bf78d347"
