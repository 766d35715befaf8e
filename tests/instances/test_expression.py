"""Profiles in words: what an expression of h and m is, and that nothing else is evaluated."""

from fractions import Fraction

import pytest

from instances import UsageError
from instances.expression import profile, spelling


@pytest.mark.parametrize(
    ("text", "m", "wanted"),
    [
        ("h", 2, [0, 1, 2]),
        ("(-1)**h", 3, [1, -1, 1, -1]),
        ("majority", 3, [1, 1, -1, -1]),
        ("mod(3)", 4, [1, -1, -1, 1, -1]),
        ("exactly(2)", 3, [1, 1, -1, 1]),
        ("threshold(1)", 2, [1, -1, -1]),
        ("threshold(m/2)", 4, [1, 1, -1, -1, -1]),
        ("[1, -2, 1/2]", 2, [1, -2, Fraction(1, 2)]),
        ("0.1*h", 2, [0, Fraction(1, 10), Fraction(1, 5)]),
        ("min(h,1)-max(h//2,0)", 3, [0, 1, 0, 0]),
        ("abs(h-1)%2", 3, [1, 0, 1, 0]),
        ("2**-h", 2, [1, Fraction(1, 2), Fraction(1, 4)]),
        ("1-2*(h>=2)", 2, [1, 1, -1]),
    ],
)
def test_expressions(text, m, wanted):
    assert list(profile(text, m)) == wanted
    assert list(profile(spelling(text), m)) == wanted
    assert spelling(spelling(text)) == spelling(text)


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "h+",
        "__import__('os').system('true')",
        "h.real",
        "[h for h in range(3)]",
        "lambda: h",
        "open(h)",
        "'h'",
        "h if h else 1",
        "1e3*h",
        "0x10*h",
        "1_000*h",
        "1j*h",
        "True+h",
        "h/(h-1)",
        "mod(0)",
        "mod(1,2)",
        "abs()",
        "max()",
        "h<1<2",
        "h**h**h**h**h**9",
        "9**9**9**h",
        "h**0.5",
        "(" * 500 + "h" + ")" * 500,
        "-" * 1500 + "h",
        "+".join(["h"] * 900),
        "h and m",
        "not h",
        "h@m",
        "[1,2]",
        "threshold(t=1)",
        "max(*[h])",
        "h:=3",
        "",
        "h\n+1\n;2",
        "h" * 3000,
    ],
)
def test_what_is_no_expression_of_h_is_refused_in_one_line(text):
    with pytest.raises(UsageError) as found:
        profile(text, 4)
    assert "\n" not in str(found.value).replace(text, "")
    assert len(str(found.value)) < 400
