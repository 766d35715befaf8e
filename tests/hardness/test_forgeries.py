"""Crafted forgeries of every kind of certificate: sealed again, each of them is refused in a line.

Random changes of every place are those of `benchmarks/forge.py`. Here is what a forger would try.
"""

import contextlib
import copy
import itertools
import json
import re
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hardness.check import check, kernel
from hardness.check.kernel.hidden_sets import VIEWS
from hardness.lower import BoundParameters, certify
from hardness.lower.learners import LowDegree, certify_named
from hardness.lower.listed import certify_listed, digest_of
from instances import parse
from instances.errors import Refuted, UsageError
from tests.conftest import sealed
from tests.proofs import named, of_tables, plain, proves, refused, step

Data = dict[str, Any]
Forgery = tuple[Any, ...]  # where, what stands there then (or a function of what did), words


def forged(data: Data, where: str | Callable[[Data], object], new: Any) -> Data:
    """Change a place: of a step by its rule, of a claim by its quantity, of any part by its path.

    Behind ~ all is claimed that is then proved. ... drops what stands there.
    """
    data = copy.deepcopy(data)
    if callable(where):
        where(data)
        return data
    first, *keys = [int(k) if k.lstrip("-").isdigit() else k for k in where.lstrip("~").split("/")]
    named_ones = [one for one in data["steps"] if one["rule"] == first]
    named_ones += [one for one in data["goal"]["claims"] if one["quantity"] == first]
    here = named_ones[0] if named_ones else data
    *keys, last = keys if named_ones else (first, *keys)
    for key in keys:
        here = here[key]
    if new is ...:
        del here[last]
    else:
        here[last] = new(here[last]) if callable(new) else new
    return proves(data) if where[0] == "~" else data


def more(*ones: Any) -> Callable[[list[Any]], list[Any]]:
    """Add to a list."""
    return lambda old: [*old, *ones]


def says(old: str, new: str, words: str = "") -> Forgery:
    """Change the spec."""
    return "about/spec", lambda spec: spec.replace(old, new), words


COMMON: list[Forgery] = [
    ("more", "words", "fields"),
    *(("about", about) for about in ({}, "spec")),
    ("about/more", "words", "other fields"),
    ("about/spec", "majority:d=12,m=4"),
    ("about/spec", "nice:m=1"),
    ("about/spec", lambda spec: spec + "\naccepted: everything"),
    *(("about/spec", what) for what in (None, 7, ["parity"], {}, "", " ", "x" * 9999)),
    *(("about/no_claim", what) for what in ({"gd": 1}, {"gd": "one\nline"}, {"": "none"}, [], 7)),
    ("problem/more", "0", "fields"),
    ("problem/kind", "subsets", "kind"),
    ("problem", None),
    ("goal", ...),
    ("goal/more", "words", "goal"),
    ("goal/conditions", "All learners.", "conditions"),
    *(("goal/claims", claims) for claims in ([], {})),
    ("goal/claims/0", None),
    ("goal/claims", lambda claims: [*claims, claims[0]]),
    ("goal/claims/0/more", "words", "fields"),
    ("goal/claims/0/quantity", "every-dimension"),
    ("goal/claims/0/quantity", "a\nb" * 999),
    ("goal/claims/0/value", "1e9", "as claimed"),
    ("goal/claims/0/value", "1\x1b[2K", "as claimed"),
    ("goal/claims/0/says", "all is hard", "as claimed"),
    ("goal/claims/0/terms/more", "1", "as claimed"),
    *(("goal/claims/0/step", number) for number in (0, 999, "1", True)),
    ("steps", []),
    ("steps", lambda steps: [steps[0], *steps]),
    ("steps", lambda steps: steps[:-1]),
    *(("steps/0/rule", rule) for rule in ("believe", [])),
    ("steps/0/more", "1"),
    ("steps/0", lambda one: {**one, "a\nb" * 999: "\x1b[2K"}),
    *(("steps/-1/from", cited) for cited in (more(1), "1", [1, 99, 99])),
    *(("steps/-1/from/0", number) for number in (0, 99, -1, True)),
]

PARITY = "parity:d=12,m=4,noise=0.2"
PARITIES: list[Forgery] = [
    # The family is another one than the problem's.
    *(("about/spec", f"parity:{numbers},rho=3", "not that of its") for numbers in
      ("d=13,m=4,noise=0.2", "d=12,m=4,noise=0.1", "d=12,m=5,noise=0.2")),
    *(("about/spec", f"parity:{numbers},rho=3", "refuse|spec") for numbers in
      ("d=1_2,m=4,noise=0.2", "d=12,m=4,noise=1e-300000000", f"d={10**30},m=4,noise=0.2",
       f"d={10**12},m={10**11},noise=0.2")),
    ("~problem/places", 12, "not that of its spec"),
    ("~problem/noise", "1/10", "not that of its spec"),
    (lambda d: proves(d)["problem"].update(places=12), None, "conditions"),
    # The problem is none, or its labels are not orthogonal, whatever their name.
    ("problem/values", ["1", "-1", "1", "-1"], "values"),
    ("problem/values", ["1"] * 5, "values"),
    ("problem/values", ["1", "-1", "1", "-1", "2/2"], "lowest terms"),
    ("problem/values", ["1", "1", "-1", "-1", "1"], "step 2: "),
    ("problem/values", ["-1", "1", "-1", "1", "-1"], "step 2: "),
    *(("problem/noise", noise, words) for noise, words in (("1/2", "noise"), ("-1/9", "range"))),
    *(("problem/places", n, words) for n, words in
      ((0, "places"), (3, "chosen"), (12, "conditions"), (True, "places"), (11.0, "places"),
       (float("nan"), "places"))),
    ("problem/chosen", 0, "chosen"),
    # Claims that do not follow, and steps that are none.
    ("stat-queries/value", "26", "as claimed"),
    ("stat-queries/says", "at least 25", "as claimed"),
    ("stat-queries/step", 7),
    ("stat-queries/step", 9),
    ("stat-queries/terms/success", "1/9", "as claimed"),
    ("information-floor/value", "9", "as claimed"),
    ("fit/risk", "5/4", "step 5: "),
    ("fit/risk", "1/3", "as claimed"),
    *(("fit/risk", risk) for risk in (["1/4"], 0, "2/8", "1e-9", "1/\u0664", "+1/4", "1/0", "-0")),
    *(("ask/term", term, "step 3: ") for term in ("0", "2")),
    ("steps/2", {"rule": "ask", "from": [2], "oracle": "any", "term": "100"}),
    *((lambda d, t=t: step(d, "ask").update(oracle="vstat", term=t), None, "step 3: ")
      for t in ("0", "1/2", "3/2")),
    ("queries/success", "3/2", "step 6: "),
    *(("queries/from", cited, "step ") for cited in ([1, 5], [1, 3, 5], [1, 5, 6], [1, 5, 0])),
    ("queries/more", "1", "step "),
    ("characters/rule", "laws", "step "),
]  # fmt: skip

PROFILE = "profile:d=8,g=majority,m=3,noise=0.1,rho=3"
TERMS = BoundParameters(gamma=Fraction(2, 5), vstat=3, tau=Fraction(1, 20))
FANO = [[0, 1, 2], [0, 3, 4], [0, 5, 6], [1, 3, 5], [1, 4, 6], [2, 3, 6], [2, 4, 5]]
CLOSE = [[0, 1, 2], [0, 1, 3], [0, 5, 6], [1, 3, 5]]


def numbers(rule: str, words: str, **changed: Any) -> Forgery:
    """Change numbers of the first step of a rule."""
    return lambda d: step(d, rule).update(changed), None, words


MAJORITIES: list[Forgery] = [
    # Codes.
    numbers("code", "step 4: ", overlap=0),
    *(numbers("code", "step 4: ", data=data) for data in
      (CLOSE, *([*FANO[:3], last] for last in (FANO[0], [1, 3, 3], [1, 3, 7], [1, 3])))),
    numbers("code", "step 4: ", size="5"),
    numbers("code", "step 5: ", data=CLOSE, overlap=2),
    numbers("code", "step 5: ", data=FANO, size="7"),
    numbers("code", "step 4: ", overlap=3),
    numbers("code", "step 4: ", code="reed-solomon", data=3, size="10"),
    numbers("code", "step 4: ", code="reed-solomon", data=2),
    numbers("code", "step 4: ", code="disjoint", data=None, overlap=0),
    numbers("code", "step 4: ", code="all", data=None),
    numbers("code", "step 4: ", code="greedy", overlap=2),
    *(("code/size", size, "step 4: ") for size in (" 50", "\u0665\u0660")),
    # Average correlations of all sets of a size, and of one.
    *(("every-set/enough", enough, "step 6: ") for enough in ("2", "18")),
    *(("every-set/inner", inner, "step 6: ") for inner in
      (["0", "20/3", "19/3"], ["0", "20/3"], ["0"] * 4, ["0", "-20/3", "20/3"])),
    *(("every-set/average", average, "step 6: ") for average in ("0", "-1")),
    ("every-set/caps", ["0", "0"], "step 6: "),
    *(("every-set/gamma", gamma, "step 6: ") for gamma in ("1/3", "0", "-1/20")),
    numbers("every-set", "step 8: ", gamma="1", enough="1"),
    ("some-set/size", "16", "step 7: "),
    numbers("some-set", "step 7: ", shape=[0, 2, 1], size="25"),
    *(("some-set/shape", shape, "step 7: ") for shape in ([0, 0, 0], [0, -1, 1], [3, 0, 0])),
    numbers("some-set", "step 7: ", shape=[0, 0, 0], size="3"),
    *(("some-set/gamma", gamma, f"step {at}: ") for gamma, at in (("1/3", 8), ("1/2", 7))),
    *(("closest-pairs/gamma", gamma, "step ") for gamma in ("2", "0")),
    *(("sda/from", cited, "step 8: ") for cited in ([1, 7], [1, 7, 6])),
    # What a query rules out.
    ("mixture/bound", "2", "step 12: "),  # no number of this rule
    ("steps/12/from", [3], "step 13: "),
    (lambda d: d["steps"][12].update(oracle="stat", term="1"), None, "step 13: "),
    ("steps/9/from", [12], "step 10: "),
    *(("ask/term", term, "step ") for term in ("11/10", "2/20", "01/10", "1e-1", "0x1/10", 1)),
    # Claims.
    ("operator-norm/value", "11", "as claimed"),
    ("second-eigenvalue/value", "5/2", "as claimed"),
    ("average-correlation/value", "1/70", "as claimed"),
    ("sq-dimension/terms/upper", "3", "as claimed"),
    ("sda-all-subsets/value", "2", "as claimed"),
    ("sda-all-subsets/terms/upper", "1", "as claimed"),
    ("sda-pair-events/value", "2", "as claimed"),
    ("sda-pair-events/step", 8),
    ("stat-queries/step", 17),
    ("csq-queries/quantity", "stat-queries"),
    # The family.
    says("majority", "mod(3)", "not that of its"),
    says("noise=0.1", "noise=0", "not that of its"),
    says("d=8", "d=9", "not that of its"),
    *(says(*pair) for pair in (("majority", "(majority)"), ("d=8", "d=4"), ("majority", "h+"),
                               ("profile", "parity"))),
    ("~problem/values", ["-1", "-1", "1", "1"], "not that of its"),
]  # fmt: skip
GENERAL: list[Forgery] = [  # nothing is said of general queries where labels have many values
    ("steps", more(one), "step 14: ")
    for one in (
        *({"rule": "ask", "from": [3], "oracle": oracle, "term": "1"}
          for oracle in ("stat", "vstat", "vstat-least")),
        {"rule": "mixture", "from": [1]},
        {"rule": "vstat-sets", "from": [2, 6], "t": "3"},
    )
]  # fmt: skip
CODES: list[Forgery] = [  # of 997 elements
    numbers("code", "step 4: ", **changed)
    for changed in (
        {"data": 999, "size": "999"},  # no prime
        {"data": 1009, "size": "997"},  # 3 * 1009 places
        {"data": 2, "size": "4"},  # below m
        {"size": str(997**2 + 1)},
        {"overlap": 0, "size": str(997**2)},
        {"data": "997"},
    )
]


def views(view: str, *own: Forgery) -> list[Forgery]:
    """What is refused of each view of a parity: d=11, m=3."""
    return [
        *(("problem/view", other) for other in sorted({*VIEWS, "none"} - {"", view})),
        ("problem/view", "", "fields of the problem"),
        ("problem/view", ..., "conditions"),
        ("~problem/view", ..., "not that of its spec"),
        ("problem/places", 11, "conditions"),
        ("about/spec", "parity:d=11,m=3,noise=0.1,rho=3", "not that of its spec"),
        ("~problem/noise", "1/5", "not that of its spec"),
        says("m=3", "m=4"),
        *own,
    ]


LWE = "lwe:n=3,q=17,sigma=1,bits=7"
COUNTS = plain(certify(parse(LWE)))["problem"]["errors"][1]
BENT = [str(int(COUNTS[9]) - 2**20), *COUNTS[10:-1], str(int(COUNTS[-1]) + 2**20)]
RESIDUES: list[Forgery] = [
    *(says(*pair) for pair in (
        ("n=3", "n=4"), ("q=17", "q=19"), ("q=17", "q=15"), ("bits=7", "bits=0"),
        ("bits=7", "bits=6"), ("bits=7", "bits=007"), ("sigma=1", "sigma=1.1"),
        ("alpha=0", "alpha=1"), ("error=gaussian", "error=none"),
        ("secret=uniform", "secret=ternary"), ("h=0", "h=2"), ("lwe:", "lwr:"),
    )),
    # Numbers of another family, and errors that are not those of the spec, though they add up.
    ("~problem/n", 2),
    ("~problem/bits", 9),
    *(("~problem/secret", {"weight": weight, "entries": entries}) for weight, entries in
      ((0, [-1, ["1", "1", "1"]]), (0, [-8, ["1"] * 17]), (2, None))),
    *((lambda d, name=name: (d["problem"].update(labels=name, errors=None), proves(d)), None)
      for name in ("interval", "window")),
    *(("~problem/errors", errors) for errors in (
        None, [-8, COUNTS], [0, [str(2**64)]], [-9, [*COUNTS[:9], *BENT]],
        [-9, [COUNTS[9], *COUNTS[1:9], COUNTS[0], *COUNTS[10:]]],
    )),
    # Problems that are none.
    *((lambda d, changed=changed: d["problem"].update(changed), None, words) for changed, words in (
        ({"q": 15, "parts": 15}, "prime"),
        ({"q": 289, "parts": 289}, "prime"),  # 17^2
        ({"q": 2**48 + 21, "parts": 2**48 + 21}, "not in 2"),
        ({"parts": 16}, "equal"),
        ({"parts": 1}, "not in 2"),
        ({"bits": 6}, "uniform"),  # 2 n q is above 2^6
        ({"labels": "codes"}, "parts"),
        ({"labels": "interval"}, "errors"),
        ({"secret": {"weight": 4, "entries": None}}, "weight"),
        ({"secret": {"kind": "uniform", "weight": 0, "most": 17}}, "no law"),
        ({"secret": {"weight": 0, "entries": [0, []]}}, "no value"),
        ({"secret": {"weight": 0, "entries": [0, ["1", "1/2"]]}}, "whole"),
        ({"secret": {"weight": 0, "entries": [0, ["0", "1"]]}}, "whole"),
        ({"secret": {"weight": 0, "entries": [0, ["1"]]}}, "unit"),
        ({"secret": {"weight": 2, "entries": [17, ["1", "1"]]}}, "0 mod M"),
        ({"errors": [-9, COUNTS[1:]]}, "add up"),
        ({"errors": [-9, ["0", *COUNTS[1:]]]}, "whole"),
        ({"errors": [-9, COUNTS, "more"]}, ""),
        ({"errors": [0, [str(2**64)] + ["0"] * 16]}, "whole"),
        ({"errors": [0, [str(2**60)] * 16]}, "conditions"),
        ({"n": 0}, "n is"),
    )),
    # Claims.
    *((f"{where}", value, "as claimed") for where, value in (
        ("orthogonal-members/value", "4913"), ("orthogonal-members/terms/alike", "1"),
        ("orthogonal-members/terms/upper", "4911"), ("pairwise-correlation/terms/upper", "0"),
        ("sq-dimension/value", "5"), ("stat-queries/value", "29"), ("vstat-queries/value", "6"),
        ("information-floor/value", "3"), ("information-floor/terms/levels", "2"),
    )),
]  # fmt: skip
KEM: list[Forgery] = [  # numbers that bound a law
    numbers("secrets", words, **changed)
    for changed, words in (
        ({"cut": 4133}, "as claimed"),
        ({"cut": 100}, "as claimed"),
        ({"base": "1/2"}, "likelier"),
        ({"weights": [52, 21, 5, 0, 5, 21, 53]}, "likelier"),
        ({"weights": [52, 21, 5]}, "each residue"),
        ({"cut": 1 << 20}, "cut"),
        ({"base": "1", "cut": 0, "weights": []}, "as claimed"),
    )
]


def drawn_by(entries: Any) -> list[Forgery]:
    """The kernel accepts what it proves of another law of the secret; the spec draws its own."""

    def pose(data: Data) -> None:
        data["problem"]["secret"]["entries"] = entries
        step(data, "secrets").update(base="1", cut=0, weights=[])
        kernel.check(sealed(proves(data)))

    return [(pose, None, "entries")]


DIRECTION = "direction:d=32,kappa=100,labels=rounded,m=4,noise=0.1"
LOW = plain(certify(parse(DIRECTION)))["problem"]["low"]
DIRECTIONS: list[Forgery] = [
    says("m=4", "m=5", "not that of its spec"),
    says("d=32", "d=33", "not that of its spec"),
    says("noise=0.1", "noise=0", "not that of its spec"),
    says("rounded", "raw", "not that of its spec"),
    says("m=4", "m=0"),
    ("~problem/dimension", 29, "not that of its spec"),
    ("~problem/low", ["0"] * 4, "not that of its spec"),
    (lambda d: (d["problem"].update(degree=5, low=["0"] * 5), proves(d)), None, "not that of its"),
    ("~problem/noise", "1/8", "not that of its spec"),
    ("problem/degree", 5, "low|degree|squares"),
    ("problem/degree", 0),
    ("problem/dimension", 1),
    ("problem/dimension", "30"),
    ("problem/low", ["3/2", *LOW[1:]], "squares"),
    ("problem/low", ["-1/9", *LOW[1:]]),
    ("problem/low", ["1/1" + 100 * "0", *LOW[1:]], "100 digits"),
    ("problem/low", [0, *LOW[1:]]),
    ("problem/low", LOW[1:]),
    ("problem/noise", "1/2"),
    ("problem/labels", "three"),
    ("problem/labels", "real"),
    ("sphere/from", [1]),
    ("drawn/size", "12"),
    *(("drawn/power", power, words) for power, words in ((7, ""), (0, ""), (1001, "power"))),
    *(("drawn/cosine", share) for share in ("1", "0", "1/9", "500001/1000001")),
    *(("polynomials/size", size) for size in ("50", "0", "343")),
    *(("polynomials/q", q) for q in (8, 5, 11)),
    *(("polynomials/points", points) for points in (1, 2, 5)),
    *(("polynomials/degree", degree) for degree in (0, 2, -1)),
    *(("ask/term", term) for term in ("1/11", "2", "0")),
    ("ask/oracle", "any"),
    ("fit/risk", "1/5", "as claimed"),
    ("fit/risk", "1"),
    ("queries/success", "3/2"),
    ("queries/from", [1, 5, 7]),
    *((f"{name}/value", value, "as claimed") for name, value in (
        ("operator-norm-at-most", "1/400"), ("second-eigenvalue-at-most", "1/4000"),
        ("random-members", "12"), ("sq-dimension-at-least", "50"), ("stat-queries", "24"),
        ("vstat-queries", "4"), ("information-floor", "12"),
    )),
    ("random-members/terms/probability", "1", "as claimed"),
    ("information-floor/terms/levels", "4", "as claimed"),
    ("random-members/step", 4),
]  # fmt: skip

LEARNED: list[Forgery] = [  # steps: features 4, noisy 5..8, nearby 9..11, rounded 12..15, batches
    *(("features/features", count) for count in ("4", "57", "-1", 3)),
    *((f"features/{name}", share) for name, share in (("risk", "1/5"), ("success", "3/4"))),
    *(("features/from", cited) for cited in ([1, 2], [1], [3, 1])),
    *(("gradients/clip", clip) for clip in ("1", "0", "-1/2")),
    ("gradients/from", [1]),
    *(("noisy/std", std) for std in ("3", "0", "-2")),
    ("noisy/from", [1, 3]),
    *(("descent/from", cited) for cited in ([1, 6, 7], [1, 7, 13], [1, 7, 10])),
    *((f"descent/{name}", value) for name, value in
      (("steps", "49"), ("steps", "0"), ("success", "1"), ("success", "0"))),
    *(("nearby/within", within) for within in ("1/5", "0", "-1/6")),
    *(("nearby/steps", steps) for steps in (None, "2", 3)),
    ("nearby/from", [1, 10, 9]),
    *(("rounded/grid", grid) for grid in ("11", "0", "-10")),
    *(("rounded/parameters", count) for count in ("19", "0", "1/2")),
    *(("batches/batch", size) for size in ("1", "0")),
    *(("batches/bits", bits) for bits in ("2", "0")),
    *(("batches/from", cited) for cited in ([1, 2], [1, 5])),
    *((f"{name}/value", value, "as claimed") for name, value in (
        ("kernel-error", "3/4"), ("kernel-features", "6"), ("gd-noise-success", "1/5"),
        ("gd-noise-steps", "1645"), ("gd-within-success", "1/2"), ("gd-within-steps", "3"),
        ("gd-grid-success", "1/5"), ("gd-grid-steps", "13"), ("gd-batch-success", "1/2"),
        ("gd-batch-steps", "4"),
    )),
    *((f"{name}", value, "as claimed") for name, value in (
        ("kernel-error/terms/features", "4"), ("gd-noise-steps/terms/noise-std", "1"),
        ("gd-noise-steps/terms/clip", "1"), ("gd-within-steps/terms/within", "1"),
        ("gd-grid-success/terms/steps", "20"), ("gd-batch-steps/terms/state-bits", "9"),
    )),
    ("gd-noise-steps/quantity", "gd-grid-steps"),
    ("gd-grid-steps/step", 8),
    ("~problem/noise", "0", "not that of its spec"),
    says("m=3", "m=2"),
]  # fmt: skip
LEARNED_RESIDUES: list[Forgery] = [
    says("sigma=1", "sigma=2"),
    ("~problem/n", 7, "not that of its spec"),
    ("~problem/errors", None, "errors"),
    ("problem/bits", 8, "uniform"),
    ("batches/bits", "2"),
    ("kernel-error/value", "1", "as claimed"),
]

POLYNOMIAL: list[Forgery] = [
    *(("low-degree/degree", degree) for degree in ("7", "5", "0", "-1", "06", 6, None)),
    *(("low-degree/examples", count) for count in ("10", "8", "0", None, "9/2")),
    *(("low-degree/most", most) for most in ("1", "0", "10", 2)),
    *(("low-degree/from", cited) for cited in ([2, 1], [1, 1], [1], [1, 2, 2])),
    ("low-degree/rule", "features"),
    (lambda d: step(d, "low-degree").update(degree=str(10**7), most="3"), None, "long"),
    *((f"low-degree-{name}", value, "as claimed") for name, value in (
        ("advantage/value", "1"), ("examples/value", "9"), ("advantage-open/value", "4"),
        ("examples-open/value", "5"), ("advantage/terms/degree", "9"),
        ("advantage/terms/examples", "99"), ("examples/terms/sample_degree", "1"),
        ("examples-open/terms/degree", "8"), ("advantage-open/says", "all is hard"),
    )),
    ("low-degree-advantage/quantity", "low-degree-success"),
    ("low-degree-examples/step", 3),
    (lambda d: d["goal"]["claims"][0].update(quantity="low-degree-advantage-open"), None),
    ("problem/values", ["0", "1", "2", "3"], "more than two values"),
    ("problem/view", "among-others"),
    ("problem/noise", "1/2", "noise"),
    *(("~problem/noise", noise, "not that of its spec") for noise in ("0", "1/5")),
    ("~problem/places", 9, "not that of its spec"),
    ("~problem/values", ["1", "-1", "1", "-1"], "not that of its spec"),
    says("majority", "parity"),
    says("d=9", "d=10"),
]  # fmt: skip


def majorities() -> list[Any]:
    """The 20 majorities of three of six signs, by their tables."""
    points = 1 - 2 * (np.arange(64)[:, None] >> np.arange(6) & 1)
    return [np.sign(points[:, s].sum(axis=1)) for s in itertools.combinations(range(6), 3)]


def flipped(data: Data, bit: int = 7) -> None:
    """Flip the first member at a point, by default one at which all steps still hold."""
    tables = data["problem"]["tables"]
    tables[0] = f"{int(tables[0], 16) ^ 1 << bit:x}"


def renamed(data: Data, names: Any = None) -> None:
    """Give members other names, and the certificate the digest of its members."""
    about = data["about"]
    about["names"] = names or about["names"]
    digest = digest_of(about["names"], data["problem"])
    about["spec"] = about["spec"].rpartition("=")[0] + "=" + digest


def line(row: int, at: int, new: str) -> Callable[[Data], None]:
    """Change a number of the factor."""

    def changed(data: Data) -> None:
        rows = step(data, "spread")["proof"]["factor"]
        rows[row] = " ".join([*rows[row].split()[:at], new, *rows[row].split()[at + 1 :]])

    return changed


def moved(data: Data) -> None:
    """Move a member to a class of others."""
    classes = step(data, "apart")["classes"]
    classes[0].append(classes[1].pop())


LISTED: list[Forgery] = [
    (lambda d: (flipped(d), renamed(d)), None, "may be above top"),
    (lambda d: (flipped(d, 0), renamed(d)), None, "above gamma|above top"),
    (flipped, None, "by their digest|above top"),
    (
        "~problem/tables",
        lambda rows: [f"{int(row, 16) ^ (1 << 64) - 1:x}" for row in rows],
        "digest",
    ),
    ("problem/signs", 7, "too near"),
    ("problem/tables/19", ..., "every member once"),
    ("problem/centred", True, "two members of a class"),
    ("problem/given", ["1", None], "conditions"),
    ("problem/given", ["9", None], "conditions"),
    ("about/names/0", "other", "by their digest"),
    ("about/names", lambda names: names[::-1], "by their digest"),
    (lambda d: renamed(d, d["about"]["names"][:1] * 20), None, "not 20 different ones"),
    (lambda d: renamed(d, ["two\nlines", *d["about"]["names"][1:]]), None, "not 20 different ones"),
    (lambda d: renamed(d, dict.fromkeys(d["about"]["names"])), None, "a list is missing"),
    says("s=20", "s=21", "digest"),
    says("d=6", "d=7", "6 coordinates"),
    says("functions", "layers", "digest"),
    ("about/origin/path", "a\nb", "origin"),
    ("about/origin/of", "20", "no larger"),
    ("about/origin", None, "malformed"),
    ("apart/chosen/0", 0, "too near"),
    ("apart/chosen", more(1), "too near"),
    (moved, None, "class"),
    ("apart/classes/-1", ..., "every member once"),
    ("apart/upper", "3", "class"),
    numbers("apart", "more members are apart", upper="3", order=[*range(20)]),
    ("apart/order", [*range(19)], "every member once"),
    ("apart/order", [0, *range(19)], "every member once"),
    ("spread/top", "7/4", "may be above top"),
    ("spread/proof", "given", "another eigenvalue is given"),
    ("spread/proof/scale", 1, "may be above top"),
    ("spread/proof/factor/19", ..., "above top|malformed"),
    (line(5, 5, "0"), None, "may be above top"),
    (line(5, 5, "-7"), None, "may be above top"),
    (line(19, 0, "1" + "0" * 20), None, "too large"),
    (line(3, 1, "x"), None, "malformed"),
    ("weighted/top", "23/8", "may be above top"),
    ("weighted/proof", {"weights": [1] * 20}, "may be above top"),
    ("weighted/proof", {"weights": [0] * 20}, "a weight"),
    ("sums/above", [0, 7, 19], "sda-all-subsets is not as claimed"),
    ("sums/above", [*range(20)], "not above gamma"),
    ("sums/above", more(0), "twice"),
    ("sums/gamma", "1", "not above gamma"),
    ("sums/enough", "2", "may be above gamma"),
    ("fit/risk", "1/5", "not as claimed"),
    ("ask/term", "1/2", "not as claimed"),
    ("ask/from", [1], "must cite"),
]


def certified(spec: str, **terms: Any) -> Callable[[], Data]:
    """Make the certificate of a spec."""
    return lambda: plain(certify(parse(spec), BoundParameters(**terms)))


def listed() -> Data:
    """Make that of majorities."""
    terms = BoundParameters(gamma=Fraction(2, 5), tau=Fraction(3, 5))
    return plain(certify_listed(of_tables(majorities()), terms))


def polynomials() -> Data:
    """Make that of polynomials of low degree."""
    family = parse("profile:g=majority,d=9,m=3,noise=1/10")
    return plain(certify_named(family, [LowDegree(degree=6, examples=9)]))


NINE = "lwe:n=9,q=3329,sigma=1,secret=cbd,spread"
KINDS: list[tuple[str, Callable[[], Data], list[Forgery]]] = [
    ("hidden set", certified(PARITY), PARITIES),
    ("hidden set", lambda: plain(certify(parse(PROFILE), TERMS)), MAJORITIES),
    ("hidden set", lambda: plain(certify(parse("profile:g=h**2,d=9,m=3,noise=1/5"), TERMS)),
     GENERAL),
    ("hidden set", certified("profile:g=[100,-100,101,-99],d=3001,m=3"), CODES),
    ("hidden set", certified("profile:g=majority,d=5001,m=2"),
     [("code/size", lambda size: str(int(size) + 1), "step 4: ")]),
    ("hidden set", certified("profile:g=majority,d=8,m=3", gamma=Fraction(1, 4)),
     [("every-set/enough", "35", "step ")]),  # all members are such a set
    ("hidden set", certified("profile:g=mod(3),d=101,m=6", vstat=20),
     [("vstat-sets/from", [2, 6], "step "), ("vstat-sets/t", "21", "step ")]),
    ("view", certified("parity_position:d=11,m=3,noise=0.1"), views("positions")),
    ("view", certified("composed:d=11,m=3,noise=0.1"), views("one-head")),
    ("view", certified("hardmax:d=11,m=3,noise=0.1"), views("hardmax")),
    ("view", certified("tokens3:d=11,m=3,noise=0.1"),
     views("three-tokens", ("steps/1", {"rule": "overlaps", "from": []}, "one"))),
    ("residues", certified(LWE), RESIDUES),
    ("residues", certified("ml-kem-512"), KEM),
    ("residues", certified(f"{NINE}=3"), drawn_by([-3, ["1"] * 7])),
    ("residues", certified(f"{NINE}=2"), drawn_by(None)),
    ("residues", certified("lwe:n=40,q=5,error=none,secret=gaussian,spread=0.25"),
     drawn_by([-2, ["1"] * 5])),
    ("residues", certified("lwr:n=12,q=64,p=8,secret=cbd,spread=3,h=3"),
     drawn_by([-3, ["1", "6", "15", "0", "15", "7", "1"]])),
    ("residues", certified("lwr:n=12,q=64,p=8,secret=ternary"), drawn_by([-1, ["1", "2", "1"]])),
    ("listed", listed, LISTED),
    ("direction", certified(DIRECTION), DIRECTIONS),
    ("direction", certified("direction:m=3,d=12,labels=raw,noise=0.1,kappa=9"),
     [("~problem/labels", "two", "not that of its spec"),
      ("~problem/low", ["0", "1/1000000", "0"], "not that of its spec")]),
    ("named learners", lambda: plain(named("profile:g=majority,d=9,m=3,noise=1/10")), LEARNED),
    ("named learners", lambda: plain(named("lwe:n=8,q=17,sigma=1")), LEARNED_RESIDUES),
    ("low degree", polynomials, POLYNOMIAL),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(KINDS)), ids=lambda i: f"{KINDS[i][0]} {i}")
def test_a_forged_certificate_is_refused(number):
    """By the kernel alone with these words, or where that accepts it by what knows the family."""
    kind, make, own = KINDS[number]
    data, wrong = make(), []
    assert check(data).statements
    first = next(i for i, one in enumerate(KINDS) if one[0] == kind)
    for where, new, *words in own + COMMON * (number == first):
        bad = sealed(forged(data, where, new))
        if json.dumps(bad) == json.dumps(data):
            wrong.append((where, new, "the same"))
        with pytest.raises(Refuted):  # which has the digest of another
            check({**bad, "digest": "0" * 64})
        try:
            said = f"accepted: {check(bad).statements}"
        except Refuted as reason:
            said = str(reason)
        try:
            kernel.check(bad)
            alone = ""
        except kernel.Refused as reason:
            alone = str(reason)
        fits = said.startswith("certificate refused: ") and said.isprintable() and len(said) < 500
        if not fits or not re.search(words[0] if words else "", alone or said):
            wrong.append((where, new, said, alone))
    assert wrong == []


LWR, LWE_17, LPN = "lwr:n=8,q=16,p=2,secret=binary,h=4", "lwe:n=3,q=17,sigma=1", "lpn:n=8,noise=0.1"
WINDOW = "window:n=4,q=16,parts=4,secret=ternary"
MAJORITY_3, PARITY_3 = "profile:g=majority,d=8,m=3", "parity:d=8,m=3"
REFUSED = {  # of a spec: what it says, and what is said in its place
    LWE_17: [
        "labels=formula labels=layer", "width=0 width=2", "sigma=1 sigma=1000", "bits=0 bits=63",
        "error=gaussian error=laplace", "secret=uniform secret=zero", "spread=0 spread=1",
    ],
    LWR: [
        *("heads=saturated heads=rubbish", "heads=saturated heads=", "labels=formula labels=none"),
        *("beta=40 beta=0", "beta=40 beta=1/2", f"beta=40, beta={1 << 53},", "h=4 h=9", "p=2 p=3"),
        *("p=2 p=1", "q=16 q=15", "bits=0 bits=3"),
        # Strings that reached the verdict as they stood in the file.
        "labels=formula labels=formula\naccepted: everything",
        *("heads=saturated heads=saturated\x1b[2K", "heads=saturated heads= saturated"),
    ],
    WINDOW: ["beta=40 beta=0", "parts=4 parts=5"],
    LPN: ["heads=saturated heads=soft", "beta=40 beta=0.5", "noise=0.1 noise=0.5",
          "noise=0.1 noise=-0.1"],
    PARITY_3: [
        *("rho=3 rho=49/17", "rho=3 rho=1", "noise=0 noise=1/2", "m=3 m=129", "rho=3 rho=3\n"),
        *("rho=3 rho=\u0663", "rho=3 rho=6/2", "rho=3 rho=03"),
    ],
    MAJORITY_3: ["d=8 d=4", "g=majority g=majority*10**101", "g=majority g=1",
                 "g=majority g=(majority)"],
}  # fmt: skip


@pytest.mark.parametrize("spec", REFUSED)
def test_a_spec_that_certify_refuses_is_refused(spec):
    data, said = certified(spec)(), parse(spec).spec
    for pair in REFUSED[spec]:
        old, _, new = pair.partition(" ")
        other = said.replace(old, new)
        assert other != said
        with contextlib.suppress(UsageError):
            assert certify(parse(other)).spec != other
        refused(data, lambda d, other=other: d["about"].update(spec=other))


@pytest.mark.parametrize(
    "spec",
    [
        "lwe:n=2,q=65537,error=uniform,width=40000",  # errors of too many values
        "lwr:n=4,q=7,p=7,bits=4",  # a is far from uniform
        "lwr:n=4,q=17,p=17,secret=gaussian,spread=1/9",  # secrets are nearly all 0
    ],
)
def test_a_family_of_which_nothing_is_certified_is_refused_for_the_same_reason(spec):
    with pytest.raises(UsageError) as said:
        certify(parse(spec))
    reason = re.escape(str(said.value).partition("given: ")[2])
    refused(
        certified(LWR)(),
        lambda d: d["about"].update(spec=parse(spec).spec),
        f"refuses its family: .* given: {reason}$",
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"value": "35"', '"value": "35", "value": "36"'),
        ('"value": "35"', '"value": "36", "val\\u0075e": "35"'),
        ('"claims": [', '"claims": [{}], "claims": ['),
        ('"conditions": "', '"conditions": "\\n'),
        ('"places": 7', '"places": NaN'),
    ],
)
def test_a_file_that_could_be_read_in_two_ways_is_not_checked(hardness, old, new):
    text = json.dumps(certified(PARITY_3)())
    Path("c.json").write_text(text)
    shown = hardness("check", "c.json", "--json")
    assert (shown.code, shown.json["accepted"], shown.json["assumed"]) == (0, True, None)
    assert old in text
    Path("c.json").write_text(text.replace(old, new, 1))
    found = hardness("check", "c.json")
    assert (found.code, found.out) == (1, "")
    found.one_line("c.json")


def test_there_are_thirty_of_each_kind():
    counts = Counter()
    for kind, _, own in KINDS:
        counts[kind] += len(own)
    print(counts, len(COMMON))
    assert min(counts.values()) >= 30
