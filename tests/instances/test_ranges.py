"""Declared ranges: what they refuse, and that the manual's tables say them."""

import re
from dataclasses import MISSING, dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import pytest

from instances import parse
from instances.errors import UsageError
from instances.numbers import write
from instances.parameters import OneOf, Range, declared
from instances.sets import Parity
from instances.spec import FAMILIES, kind_of

DOCS = Path(__file__).parents[2] / "docs" / "families"
TABLES = [("random-layers.md", "nice"), ("teacher.md", "teacher")]
TABLES += [("lwe-style.md", name) for name in ("lwr", "lwe")]
RANGES = [
    (name, parameter, allowed)
    for name in FAMILIES
    for parameter, allowed in declared(kind_of(name)).items()
    if isinstance(allowed, Range)
]


@pytest.mark.parametrize(("name", "parameter", "allowed"), RANGES)
def test_values_outside_of_a_range_are_refused_by_it_and_its_ends_are_not(name, parameter, allowed):
    family = parse(kind_of(name).example)
    if parameter not in [field.name for field in fields(family) if field.init]:
        return  # q of lpn is no parameter of its spec
    kind = type(getattr(family, parameter))
    step = Fraction(1) if kind is int else Fraction(1, 10**6)
    ends = [(allowed.least, 0, -step), (allowed.most, 0, step)]
    ends += [(allowed.above, step, 0), (allowed.below, -step, 0)]
    for end, inside, outside in ends:
        if end is None:
            continue
        assert _refusal(family, parameter, kind(end + outside)) == allowed.refusal(
            parameter, kind(end + outside)
        )
        value = kind(end + inside)  # it may be refused for another parameter, as m of a small d
        assert _refusal(family, parameter, value) != allowed.refusal(parameter, value)


def _refusal(family, parameter, value):
    try:
        replace(family, **{parameter: value})
    except UsageError as error:
        return str(error)
    return None


def test_words_that_are_not_declared_are_refused():
    for name in FAMILIES:
        for parameter, allowed in declared(kind_of(name)).items():
            if isinstance(allowed, OneOf) and parameter != "secret":
                odd = 7 if isinstance(allowed.values[0], int) else "odd"
                with pytest.raises(
                    UsageError, match=f"{parameter} must be {allowed.allowed}, got {odd}"
                ):
                    replace(parse(kind_of(name).example), **{parameter: odd})


def test_a_class_keeps_the_ranges_that_it_does_not_declare_anew():
    @dataclass(frozen=True, kw_only=True)
    class Wide(Parity):
        d: Annotated[int, Range(9)]
        m: int

    assert Wide(d=9, m=2).noise == 0
    for given, said in (({"d": 8}, "d must be at least 9"), ({"m": 0}, "m must be between 1")):
        with pytest.raises(UsageError, match=said):
            Wide(**{"d": 9, "m": 2, **given})
    with pytest.raises(UsageError, match="noise must be at least 0 and below 1/2"):
        Wide(d=9, m=2, noise=Fraction(1, 2))


@pytest.mark.parametrize(("page", "name"), TABLES)
def test_the_tables_of_the_manual_say_what_is_declared(page, name):
    lines = (DOCS / page).read_text().partition("| parameter | default | allowed |")[2]
    rows = [line.split("|")[1:4] for line in lines.split("\n\n")[0].splitlines()[2:]]
    shown = {
        parameter: (default.strip(" `"), re.sub("[$`{}]", "", allowed).strip())
        for names, default, allowed in rows
        for parameter in re.findall("`([a-z]+)`", names)
    }
    kind = kind_of(name)
    assert shown.keys() <= {field.name for field in fields(kind)}
    if page != "lwe-style.md":  # what these families share
        assert shown.keys() == {field.name for field in fields(kind) if field.init}
    defaults = {field.name: field.default for field in fields(kind)}
    for parameter, (default, allowed) in shown.items():
        value = defaults[parameter]
        assert default == ("required" if value is MISSING else write(value)), parameter
        assert allowed.startswith(declared(kind)[parameter].allowed), parameter
