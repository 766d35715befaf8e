"""Crafted forgeries: certificates of another family than their problem's, and files that are none.

Changes of every place are those of `benchmarks/forge.py`. Here is what those do not see: what
`check` knows beyond the checker alone.
"""

import contextlib
import copy
import itertools
import json
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hardness.bounds import BoundParameters, certify, checker
from hardness.bounds.check import check
from hardness.bounds.learners import LowDegree
from hardness.bounds.members import digest_of
from instances import parse
from instances.errors import Refuted, UsageError
from tests.proofs import of_tables, plain, proves, refused

Data = dict[str, Any]
Forgery = tuple[Any, ...]  # where, what stands there then (or a function of what did), words


def forged(data: Data, where: str | Callable[[Data], object], new: Any) -> Data:
    """Change a place by its path, a claim by its quantity.

    Behind ~ all is claimed that then follows. ... drops what stands there.
    """
    data = copy.deepcopy(data)
    if callable(where):
        return where(data) or data
    keys = [int(k) if k.lstrip("-").isdigit() else k for k in where.lstrip("~").split("/")]
    here = data
    *keys, last = keys
    for key in keys:
        here = here[key]
    if new is ...:
        del here[last]
    else:
        here[last] = new(here[last]) if callable(new) else new
    return proves(data) if where[0] == "~" else data


def says(old: str, new: str, words: str = "") -> Forgery:
    """Change the spec."""
    return "spec", lambda spec: spec.replace(old, new), words


COMMON: list[Forgery] = [
    ("more", "words", "unknown fields"),
    ("spec", "majority:d=12,m=4"),
    ("spec", lambda spec: spec + "\naccepted: everything"),
    *(("spec", what) for what in (None, ["parity"], "", "x" * 9999)),
    ("origin", {"path": "x"}),
    ("terms/about", {}, "name no learner"),
    ("witness/more", {}, "unknown fields|lacks"),
    ("claims", lambda claims: [*claims, claims[0]], "claims are made"),
    ("claims/0/0", "a\nb" * 999),
    ("claims/0/2", "1\x1b[2K", "as claimed"),
    ("claims/0", lambda claim: [*claim, "all is hard"], "as claimed"),
]

PARITY = "parity:d=12,m=4,noise=0.2"
PARITIES: list[Forgery] = [
    *(("spec", f"parity:{numbers},rho=3", "not that of its") for numbers in
      ("d=13,m=4,noise=0.2", "d=12,m=4,noise=0.1", "d=12,m=5,noise=0.2")),
    *(("spec", f"parity:{numbers},rho=3", "refuse|spec") for numbers in
      ("d=1_2,m=4,noise=0.2", "d=12,m=4,noise=1e-300000000", f"d={10**30},m=4,noise=0.2",
       f"d={10**12},m={10**11},noise=0.2")),
    ("~problem/places", 12, "not that of its spec"),
    ("~problem/noise", "1/10", "not that of its spec"),
    ("problem/places", 12, "as claimed"),
    *(("terms/risk", risk) for risk in ("2/8", "1e-9", "1/\u0664", "1/0", "-0")),
]  # fmt: skip

PROFILE = "profile:d=8,g=majority,m=3,noise=0.1,rho=3"
TERMS = BoundParameters(gamma=Fraction(2, 5), vstat=3, tau=Fraction(1, 20))

MAJORITIES: list[Forgery] = [
    says("majority", "mod(3)", "not that of its"),
    *(says(*pair) for pair in (("majority", "Majority"), ("d=8", "d=4"), ("profile", "parity"))),
    ("~problem/values", ["-1", "-1", "1", "1"], "not that of its"),
]  # fmt: skip


VIEW: list[Forgery] = [
    ("~problem/view", ..., "not that of its spec"),
    ("spec", "parity:d=11,m=3,noise=0,rho=3", "not that of its spec"),
]


LWE = "lwe:n=3,q=17,sigma=1"
COUNTS = plain(certify(parse(LWE)))["problem"]["errors"][1]
BENT = [str(int(COUNTS[9]) - 2**20), *COUNTS[10:-1], str(int(COUNTS[-1]) + 2**20)]
RESIDUES: list[Forgery] = [
    *(says(*pair) for pair in (
        ("n=3", "n=4"), ("q=17", "q=19"), ("q=17", "q=15"), ("sigma=1", "sigma=1.1"),
        ("alpha=0", "alpha=1"), ("error=gaussian", "error=none"),
        ("secret=uniform", "secret=ternary"), ("h=0", "h=2"), ("lwe:", "lwr:"),
    )),
    # Numbers of another family, and errors that are not those of the spec, though they add up.
    ("~problem/n", 2),
    ("~problem/bits", 9),
    *(("~problem/secret", {"weight": weight, "entries": entries}) for weight, entries in
      ((0, [-1, ["1", "1", "1"]]), (0, [-8, ["1"] * 17]), (2, None))),
    (lambda d: d["problem"].update(labels="interval", errors=None) or proves(d), None),
    *(("~problem/errors", errors) for errors in (
        None, [-8, COUNTS], [0, [str(2**64)]], [-9, [*COUNTS[:9], *BENT]],
        [-9, [COUNTS[9], *COUNTS[1:9], COUNTS[0], *COUNTS[10:]]],
    )),
    # One bit of a mod 8: 1 and 3 agree more often than independent labels, a is 0 or 1.
    (lambda d: d["problem"].update(q=8, n=1, bits=2, parts=4, labels="interval", errors=None), None,
     "few bits"),
]  # fmt: skip


def drawn_by(entries: Any) -> list[Forgery]:
    """The checker accepts what follows of another law of the secret; the spec draws its own."""

    def pose(data: Data) -> Data:
        data["problem"]["secret"]["entries"] = entries
        data["witness"]["law"] = {"base": "1", "cut": 0, "weights": []}
        checker.check(proved := proves(data))
        return proved

    return [(pose, None, "entries")]


DIRECTION = "direction:d=32,kappa=100,m=4,noise=0.1"
DIRECTIONS: list[Forgery] = [
    says("m=4", "m=5", "not that of its spec"),
    says("kappa=100", "kappa=100,labels=raw"),
    says("m=4", "m=0"),
    *(("~problem/low", ["0"] * count, "not that of its spec") for count in (4, 5)),
    ("witness/random/power", 7, ""),
]  # fmt: skip

POLYNOMIAL: list[Forgery] = [
    *(("terms/about/low-degree/degree", degree) for degree in ("06", 6, None)),
    (
        lambda d: d["terms"]["about"]["low-degree"].update(degree=str(10**7), sample_degree="3"),
        None,
        "long",
    ),
    ("~problem/values", ["1", "-1", "1", "-1"], "not that of its spec"),
    says("majority", "parity"),
]


def majorities() -> list[Any]:
    """The 20 majorities of three of six signs, by their tables."""
    points = 1 - 2 * (np.arange(64)[:, None] >> np.arange(6) & 1)
    return [np.sign(points[:, s].sum(axis=1)) for s in itertools.combinations(range(6), 3)]


def flipped(data: Data, bit: int = 7) -> None:
    """Flip the first member at a point, by default one at which all else still holds."""
    tables = data["problem"]["tables"]
    tables[0] = f"{int(tables[0], 16) ^ 1 << bit:x}"


def renamed(data: Data, names: Any = None) -> None:
    """Give members other names, and the certificate the digest of its members."""
    data["origin"]["names"] = names or data["origin"]["names"]
    digest = digest_of(data["origin"]["names"], data["problem"])
    data["spec"] = data["spec"].rpartition("=")[0] + "=" + digest


LISTED: list[Forgery] = [
    (lambda d: flipped(d) or renamed(d), None, "may be above top|as claimed"),
    (lambda d: flipped(d, 0) or renamed(d), None, "above gamma|above top|as claimed"),
    (flipped, None, "by their digest|above top|as claimed"),
    (
        "~problem/tables",
        lambda rows: [f"{int(row, 16) ^ (1 << 64) - 1:x}" for row in rows],
        "digest",
    ),
    ("origin/names/0", "other", "by their digest"),
    ("origin/names", lambda names: names[::-1], "by their digest"),
    (lambda d: renamed(d, d["origin"]["names"][:1] * 20), None, "not 20 different ones"),
    (
        lambda d: renamed(d, ["two\nlines", *d["origin"]["names"][1:]]),
        None,
        "not 20 different ones",
    ),
    (lambda d: renamed(d, dict.fromkeys(d["origin"]["names"])), None, "not as many"),
    says("s=20", "s=21", "digest"),
    says("d=6", "d=7", "6 coordinates"),
    says("functions", "layers", "not a name"),
    ("origin/path", "a\nb", "origin"),
    ("origin/of", "20", "no larger"),
    ("origin", None, "origin|lacks"),
]


def certified(spec: str, **terms: Any) -> Callable[[], Data]:
    """Make the certificate of a spec."""
    return lambda: plain(certify(parse(spec), BoundParameters(**terms)))


def listed() -> Data:
    """Make that of majorities."""
    terms = BoundParameters(gamma=Fraction(2, 5), tau=Fraction(3, 5))
    return plain(certify(of_tables(majorities()), terms))


def polynomials() -> Data:
    """Make that of polynomials of low degree."""
    family = parse("profile:g=majority,d=9,m=3,noise=1/10")
    return plain(certify(family, about=[LowDegree(degree=6, examples=9)]))


NINE = "lwe:n=9,q=3329,sigma=1,secret=cbd,spread"
KINDS: list[tuple[str, Callable[[], Data], list[Forgery]]] = [
    ("hidden set", certified(PARITY), PARITIES),
    ("hidden set", lambda: plain(certify(parse(PROFILE), TERMS)), MAJORITIES),
    ("view", certified("hidden:d=11,hard=3,nice=1"), VIEW),
    ("residues", certified(LWE), RESIDUES),
    ("residues", certified(f"{NINE}=3"), drawn_by([-3, ["1"] * 7])),
    ("residues", certified("lwr:n=12,q=64,p=8,secret=cbd,spread=3,h=3"),
     drawn_by([-3, ["1", "6", "15", "0", "15", "7", "1"]])),
    ("listed", listed, LISTED),
    ("direction", certified(DIRECTION), DIRECTIONS),
    ("low degree", polynomials, POLYNOMIAL),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(KINDS)), ids=lambda i: f"{KINDS[i][0]} {i}")
def test_a_forged_certificate_is_refused(number):
    """By the checker alone with these words, or if that accepts it by what knows the family."""
    kind, make, own = KINDS[number]
    data, wrong = make(), []
    assert check(data).certificate.claims
    first = next(i for i, one in enumerate(KINDS) if one[0] == kind)
    for where, new, *words in own + COMMON * (number == first):
        bad = forged(data, where, new)
        if json.dumps(bad) == json.dumps(data):
            wrong.append((where, new, "the same"))
        try:
            said = f"accepted: {check(bad).spec}"
        except Refuted as reason:
            said = str(reason)
        try:
            checker.check(bad)
            alone = ""
        except checker.Refused as reason:
            alone = str(reason)
        fits = said.startswith("certificate refused: ") and said.isprintable() and len(said) < 500
        if not fits or not re.search(words[0] if words else "", alone or said):
            wrong.append((where, new, said, alone))
    assert wrong == []


LWR, LWE_17, LPN = "lwr:n=8,q=16,p=2,secret=binary,h=4", "lwe:n=3,q=17,sigma=1", "lpn:n=8,noise=0.1"
MAJORITY_3, PARITY_3 = "profile:g=majority,d=8,m=3", "parity:d=8,m=3"
REFUSED = {  # of a spec: what it says, and what is said in its place
    LWE_17: [
        "width=0 width=2", "sigma=1 sigma=1000", "q=17 q=17,bits=0", "q=17 q=17,labels=formula",
        "error=gaussian error=laplace", "secret=uniform secret=zero", "spread=0 spread=1",
    ],
    LWR: [
        *("h=4 h=4,heads=saturated", "h=4 h=4,beta=40", "h=4 h=9"),
        *("p=2 p=3", "p=2 p=1", "q=16 q=15"),
        # Strings that reached the verdict as they stood in the file.
        "secret=binary secret=binary\naccepted: everything",
        *("secret=binary secret=binary\x1b[2K", "secret=binary secret= binary"),
    ],
    LPN: ["noise=0.1 noise=0.5", "noise=0.1 noise=-0.1"],
    PARITY_3: [
        *("rho=3 rho=49/17", "rho=3 rho=1", "noise=0 noise=1/2", "m=3 m=129", "rho=3 rho=3\n"),
        *("rho=3 rho=\u0663", "rho=3 rho=6/2", "rho=3 rho=03"),
    ],
    MAJORITY_3: ["d=8 d=4", "g=majority g=exactly(2)", "g=majority g=1",
                 "g=majority g=Majority"],
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
        refused(data, lambda d, other=other: d.update(spec=other))


@pytest.mark.parametrize(
    "spec",
    [
        "lwe:n=2,q=65537,error=uniform,width=40000",  # errors of too many values
        "lwe:n=3,q=15,sigma=1",  # residues are no field
        "lwr:n=4,q=17,p=17,secret=gaussian,spread=1/9",  # secrets are nearly all 0
    ],
)
def test_a_family_of_which_nothing_is_certified_is_refused_for_the_same_reason(spec):
    with pytest.raises(UsageError) as said:
        certify(parse(spec))
    reason = re.escape(str(said.value).partition(": ")[2])
    refused(
        certified(LWR)(),
        lambda d: d.update(spec=parse(spec).spec),
        f"refuses its family: .*: {reason}$",
    )
