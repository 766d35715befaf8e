"""Closed forms as texts, with their numbers put in, give the values that are claimed."""

import json
import math
import re
from fractions import Fraction
from pathlib import Path

import pytest

import hardness

GOLDEN = json.loads((Path(__file__).parents[2] / "data/golden.json").read_text())["certificates"]
QUANTITIES = {  # whose closed form is a formula
    "sq-dimension", "largest-correlation", "average-correlation", "operator-norm",
    "second-eigenvalue", "sda-all-subsets", "stat-queries", "csq-queries", "vstat-queries",
    "vstat-success", "stat-success", "information-floor", "gd-noise-steps", "gd-noise-success",
    "lwe-probability",
}  # fmt: skip
WORDS = ("the ", "members ")


def log(base, number):
    """A number whose ceiling is the least n with base^n of at least a number."""
    base, number = int(base), Fraction(number)
    n = math.ceil(math.log(number.numerator, base) - math.log(number.denominator, base)) - 2
    while Fraction(base) ** n < number:
        n += 1
    return n


def tidy(text):
    """Write a form, or a name in one, as Python has it."""
    text = re.sub(r"lambda(?!_)", "spread", text.replace("c(m-1)", "c_near").replace("c(m)", "c_m"))
    text = text.replace("log_L(", "log(L, ").replace("2^-40", "Fraction(1, 2**40)")
    text = re.sub(r"(?<=[\w)]) (?=[A-Za-z(])(?!if|or|down)", " * ", text)
    return text.replace("^", "**")


def value_of(form, numbers):
    """Evaluate a form."""
    form, _, rule = form.partition(", r = ")
    form = form.partition(", or ")[0].removesuffix(" down")
    names = {tidy(n): Fraction(v) for n, v in numbers.items()} | {"Fraction": Fraction}
    names |= {"floor": math.floor, "ceil": math.ceil, "log": log, "max": max, "min": min}
    names |= {"binomial": lambda n, k: math.comb(int(n), int(k)), "sqrt": math.sqrt}
    assert not rule or eval(tidy(rule), names) == names["r"], rule
    return eval(tidy(form), names)


@pytest.mark.parametrize("row", [row for row in GOLDEN if not row.get("slow")][::4])
def test_closed_forms_give_the_values(row):
    certificate = hardness.certify(row["spec"], **row["arguments"])
    for claim in certificate.claims:
        form = claim.closed_form
        if claim.quantity not in QUANTITIES or form.startswith(WORDS):
            continue
        if claim.quantity == "sda-all-subsets" and claim.numbers["s"] == 1:
            continue
        numbers = {n: v for n, v in claim.terms.items() if v != "any"} | claim.numbers
        if claim.quantity == "lwe-probability" and numbers["examples"] > numbers["horizon"]:
            assert claim.value == 0
            continue
        value = value_of(form, numbers)
        if claim.quantity in ("gd-noise-success", "lwe-probability"):
            assert float(claim.value) == pytest.approx(float(value), rel=1e-9)
        else:
            assert claim.value == value, (row["spec"], claim.quantity, form)
