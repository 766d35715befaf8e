"""All attacks on a problem: what they see of it, which of them apply, how it is said."""

import contextlib
import itertools
import json
import math
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from scipy import stats

from hardness import estimate
from hardness.attacks.core import samples_to_confirm
from hardness.lwe.estimate import LATTICE, OTHERS, estimate_attack
from hardness.lwe.grid import grid, search
from hardness.lwe.models import DEFAULT, parse_setting
from hardness.lwe.parameters import parameters_of, parse_parameters
from hardness.lwe.record import Estimate, Estimates
from hardness.lwe.sets import SETS, find_set, resolve_instance
from hardness.lwe.success import log_single
from hardness.report.cost import attack_words, estimate_words, grid_words
from hardness.report.export import text
from instances import ToolkitError, UsageError, parse
from tests.conftest import not_refused

of = cache(estimate)
KYBER = "lwe:n=512,q=3329,error=cbd,eta=3,secret=cbd,spread=3"


# ---- what attacks see


@pytest.mark.weekly
@settings(deadline=None, max_examples=12)
@drawn(
    st.sampled_from(["lwe", "lwr"]),
    st.sampled_from([1, 2, 3, 40, 5000]),
    st.sampled_from([2, 3, 4, 251, 1 << 16, 1 << 48]),
    st.sampled_from(["binary", "ternary", "uniform"]),
    st.sampled_from([0, 1]),
)
def test_parameters_at_the_ends_of_their_ranges_give_finite_numbers(kind, n, q, secret, h):
    rest = "sigma=1" if kind == "lwe" else f"p={2 if q % 2 == 0 else q}"
    try:
        family = parse(f"{kind}:n={n},q={q},secret={secret},h={h},{rest}")
    except ToolkitError:
        return
    found = of(family.spec)
    json.dumps(found.to_dict(), allow_nan=False)
    assert found.least
    assert estimate_words(found)


# ---- words of problems, and named sets


def test_words_and_families_say_the_same():
    compared = 0
    for name, entry in SETS.items():
        if entry.spec.startswith("lpn"):
            continue
        words = parse_parameters(entry.spec, entry.samples)
        with contextlib.suppress(UsageError):  # beyond families
            family = parameters_of(parse(entry.spec), entry.samples)
            compared += 1
            for one, other in ((words.secret, family.secret), (words.error, family.error)):
                assert (one.kind, one.low, one.high) == (other.kind, other.low, other.high), name
                for value in ("mean", "deviation", "zero", "entropy", "log_bias"):
                    found, wanted = getattr(one, value), getattr(other, value)
                    assert found == pytest.approx(wanted, rel=1e-9, abs=1e-12), (name, value)
            assert words.information == pytest.approx(family.information)
            assert words.size_bits == pytest.approx(family.size_bits, rel=1e-6), name
    assert compared > 30


def test_sets_are_found_under_the_names_that_others_use():
    for name, here in (
        *((f"Kyber{n}", f"ml-kem-{n}") for n in (512, 768, 1024)),
        ("FRODO976", "frodokem-976"),
        ("HESv2_32768_128_ternary", "hesv2-32768-128-ternary"),
        ("SEAL20_1024", "seal20-1024"),
        ("Concrete_TFHE586", "concrete-tfhe-586"),
        ("sparse-ternary-512-2^12-11", "sparse-ternary-512-2^12-11"),
        ("darmstadt-40-005", "darmstadt-40-005"),
        ("darmstadt-95-0.02", "darmstadt-95-0.02"),
    ):
        assert find_set(name)[0] == here


# ---- which attacks apply


@pytest.mark.parametrize(
    ("spec", "applied"),
    [
        ("parity:d=20,m=3", {"brute-force", "linear-algebra", "meet-in-the-middle"}),
        ("lpn:n=20,noise=0.1", {"brute-force", "bkw", "restricted-elimination"}),
        ("lwr:n=20,q=17,p=17", {"brute-force", "linear-algebra", "meet-in-the-middle"}),
        ("lwe:n=20,q=101,error=none", {"brute-force", "linear-algebra", "meet-in-the-middle"}),
        ("lwe:n=60,q=101,sigma=1", {"arora-ge", "brute-force", "bkw", *LATTICE}),
        ("lwr:n=60,q=64,p=8", {"brute-force", "bkw", "meet-in-the-middle", *LATTICE}),
    ],
)
def test_attacks_apply_where_they_should(spec, applied):
    found = of(spec)
    names = {e.name for e in found.estimates if e.applies}
    assert applied <= names
    if not applied & {*LATTICE}:
        assert not names & {*LATTICE}
    assert all(e.rank >= found.least.rank for e in found.estimates if e.applies)
    assert all(e.rop is None and e.beta is None for e in found.estimates if not e.applies)


def test_few_samples_rule_attacks_out():
    exact = "lwe:n=40,q=1601,error=uniform,width=2"
    assert of(exact, samples=860, attack="arora-ge")["arora-ge"].applies
    less = of(exact, samples=859, attack="arora-ge")["arora-ge"]
    assert less.reason == "not reachable with 859 samples: it needs 860"
    for samples in (13, 14):
        found = of("lwe:n=9,q=61,error=none", samples=samples, attack="linear-algebra")
        assert found["linear-algebra"].applies == (samples == 14)
    words = "lwe:n=20,q=97,sigma=1,samples=30"
    assert of(words, samples=40, attack="usvp").samples == 40


DUAL = ("dual", "dual_guess", "dual_hybrid")
DECODING = ("bdd", "bdd_hybrid", "bdd_mitm_hybrid")
ARORA = ("arora-ge", "arora-gb")
REASONS = [  # attacks, problem, samples, why they do not apply
    ("usvp", "lwe:n=20,q=17,sigma=10", None, "too wide"),
    (("usvp", "coded-bkw"), "lwe:n=20,q=17,error=none", None, "linear algebra"),
    ("usvp", "lwr:n=9,q=16,p=8,secret=binary", 0, "no samples are given out"),
    ((*DUAL, *DECODING), "lwe:n=20,q=97,error=none", None, "no error"),
    (DUAL, "lwe:n=10,q=97,sigma=1", 0, "given out"),
    (DUAL, "lwe:n=40,q=2^5000,sigma=3", 10, "so wide"),
    (DECODING, "lwe:n=64,q=97,sigma=30,secret=ternary", None, "too wide"),
    (DECODING, "lwe:n=64,q=97,sigma=1,secret=ternary", 3, "several secrets"),
    ("coded-bkw", "lpn:n=32,noise=0.1", None, "other"),
    (("coded-bkw", "arora-gb"), "lwe:n=8,q=3,sigma=0.003", None, "linear algebra"),
    ("coded-bkw", "lwe:n=60,q=97,sigma=3,secret=ternary", 6, "leave several secrets"),
    ("arora-gb", "lwe:n=8,q=4096,sigma=1", None, "q = 4096 is no prime"),
    ("arora-gb", "lwe:n=4,q=2^127-1,sigma=397336", None, "no degree up to 2048"),
    (ARORA, "parity:d=64,m=5,noise=0.1", None, "every element of Z_q is an error"),
    (ARORA, "lwe:n=8,q=3,sigma=0.003", None, "linear algebra"),
    ("meet-in-the-middle", "lpn:n=9,noise=0.1", None, "noisy bits"),
    ("restricted-elimination", "parity:d=20,m=3", None, "no error"),
    ("restricted-elimination", "lwe:n=4,q=17,sigma=1", None, "at least half"),
    ("linear-algebra", "parity:d=20,m=3,noise=0.1", None, "errors or are rounded"),
    ("guess+usvp", "lwe:n=20,q=997,sigma=2", None, "too many to guess"),
    (
        "guess+arora-gb",
        "lwe:n=100,q=31,sigma=2,secret=gaussian,spread=0.4",
        None,
        "more than brute-force",
    ),
    ("guess+arora-gb", "ml-kem-512", None, "brute-force"),
]


def test_reasons_why_attacks_do_not_apply():
    for names, spec, samples, word in REASONS:
        for name in (names,) if isinstance(names, str) else names:
            found = estimate_attack(name, resolve_instance(spec, samples).parameters, DEFAULT)
            assert word in found.reason, (name, spec, found.reason)
            assert found.rop is None
            assert found.name == name


TERNARY = "lwe:q=2^18,sigma=3,secret=ternary"
REFUSED = [
    *(
        (lambda level=level: of("toy-80", success=level), "must be a probability from 0.5")
        for level in (0.0, 0.49, 1.0)
    ),
    (lambda: of("toy-80", success=math.nan), "success must be a number"),
    (lambda: of(KYBER, model="sieve"), "unknown cost model 'sieve'"),
    (lambda: of(KYBER, shape="sage"), "unknown shape 'sage': one of gsa, lgsa, zgsa"),
    (lambda: of(KYBER, success=2), "--success must be a probability from 0.5 to 1 - 1e-12, got 2"),
    (lambda: of("/nonexistent.npz"), "no such file or folder: /nonexistent.npz"),
    (lambda: of("lwe:q=97,sigma=3", over="n=64,n=80"), "over n=64,n=80: write n="),
    (
        lambda: of("LWE.Parameters(9,97,ND.Binary,ND.Uniform(3,1))"),
        "uniform law on 3..1: the first",
    ),
    (lambda: of(KYBER, attack="luck"), "unknown attack 'luck'"),
    (lambda: of("lwe:n=9,q=61,error=none", samples=0), "samples"),
    (lambda: of("lwe:n=20,q=97,sigma=1,samples=30,samples=40"), "samples is given twice"),
    (lambda: of("lwe:n=20,q=97,sigma=1,samples=x"), "samples must be an integer"),
    *(
        (
            lambda count=count, errors=errors: count(parse(f"lwe:n=3,secret=binary,{errors}")),
            "do not depend on the secret",
        )
        for count in (parameters_of, samples_to_confirm)
        for errors in ("q=5,sigma=9", "q=2,error=cbd,eta=9")
    ),
    (lambda: grid("lwe:n=16,q=97,sigma=1,secret=binary", ["h=17,18"]), "h=17 with n=16"),
    *(
        (lambda key=key: search(TERNARY, key, 128, only=["usvp"]), line)
        for key, line in (
            ("n=64..70", "widen the range"),
            ("n=70..64", "the range is empty"),
            ("p=2..4", "--find p=2..4"),
            ("q=3329", "--find q=3329"),
        )
    ),
    (lambda: search(TERNARY, "n=64..400", 50, only=["arora-gb"]), "no published attack here"),
]


def test_what_is_no_question_is_refused_in_one_line():
    cases = ((i, call, line) for i, (call, line) in enumerate(REFUSED))
    assert not_refused(UsageError, cases) == []
    found = grid("lwe:n=16,q=97,sigma=1,secret=binary", ["h=8,17"], only=["brute-force"])
    assert found.cells[0].least
    assert "h=17 with n=16" in found.cells[1].reason


def test_statistical_queries_stand_apart():
    found = of("parity:d=64,m=5,noise=0.1")
    assert {c.quantity for c in found.queries} == {"sq-dimension", "stat-queries"}
    words = " ".join(attack_words(found).split())
    assert "sq-dimension = 7028847" in words
    assert "averaged over all secrets" in words
    rounded = of("lwr:n=16,q=64,p=4", attack="brute-force")
    assert rounded.average.endswith("where a is uniform their laws of a label are orthogonal")
    alike = of("lwr:n=16,q=16,p=8", attack="brute-force").average
    assert alike.endswith("but for up to 2 that are multiples of each other by units")
    assert rounded.average in " ".join(attack_words(rounded).split())
    beyond = of("lwe:n=64,q=2^60,sigma=3", attack="brute-force")
    assert not beyond.queries
    assert "of no family here" in " ".join(attack_words(beyond).split())


# ---- what holds of all of them


@pytest.mark.parametrize(
    ("spec", "model"),
    [("toy-80", "matzov"), ("chhs-1024-25", "bdgl16"), ("lwe:n=90,q=3329,sigma=3", "ablr21")],
)
def test_the_least_is_none_above_and_a_hybrid_is_none_above_its_special_cases(spec, model):
    found = of(spec, model=model)
    cost = {e.name: e.rank for e in found.estimates}
    assert found.least.rank == min(cost.values())
    disputed = ("dual_hybrid", "dual_guess")
    others = {name: rank for name, rank in cost.items() if name not in disputed}
    assert found.undisputed.rank == min(others.values())
    assert cost["bdd_hybrid"] <= cost["bdd"] + 0.01
    assert cost["guess+usvp"] <= cost["usvp"] or "values" in found["guess+usvp"].reason


# ---- records and words


SOME = ("ml-kem-512", "lightsaber", "toy-80", "darmstadt-40-005", "sparse-binary-32-967-6")
MAY_FAIL = {  # why an attack may have no estimate on a set; the others have one on each
    "arora-gb": "is no prime|no degree up to|of no use beside",
    "arora-ge": "is no prime|every element|not reachable with [0-9]+ samples: it needs 2",
    "bkw": "not reachable with [0-9]+ samples: it needs 2",
    "guess+arora-gb": "is no prime|too many to guess|more than brute-force does|no degree up to",
    "guess+usvp": "too many to guess",
    "linear-algebra": "have errors or are rounded",
    "restricted-elimination": "at least half",
}


KINDS = {re.split("[0-9]", name)[0] + entry.source: name for name, entry in SETS.items()}


@pytest.mark.parametrize(
    "name",
    [
        *SOME,
        *(pytest.param(n, marks=pytest.mark.weekly) for n in sorted({*KINDS.values()} - {*SOME})),
    ],
)
def test_named_sets_have_estimates_and_words(name):
    found = of(name)
    assert isinstance(found, Estimates)
    body = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert set(body["estimates"]) == {*LATTICE, *OTHERS}
    assert body["least"] in body["estimates"]
    assert body["name"] == name
    for one in body["estimates"].values():
        assert set(one) >= {"rop", "red", "beta", "d", "search"}
        assert one["applies"] == (one["reason"] == "")
        assert one["rop"] is None or one["rop"] >= 0
        assert not one["applies"] or one["search"]
    for attack, one in body["estimates"].items():
        if not one["applies"]:
            assert re.search(MAY_FAIL.get(attack, "^$"), one["reason"]), (attack, one["reason"])
        elif body["samples"] is not None:
            assert one["samples"] <= body["samples"], attack
    words = estimate_words(found)
    assert words.rstrip().partition("\n\n")[2].partition("\n\n")[2].count("\n") < 10
    lines = words.splitlines()
    assert all(len(line) <= 100 for line in lines[1:])  # the spec is as long as it is
    assert f"cheapest of these attacks is {found.least.name}" in " ".join(" ".join(lines).split())


def test_models_stand_side_by_side():
    found = of(KYBER, model=("default", "rough"), attack=("usvp", "brute-force"))
    assert {found.label(e) for e in found.estimates} == {
        "usvp, matzov",
        "usvp, adps16",
        "brute-force",
    }
    assert found["usvp"].model == "matzov"
    assert parse_setting("ROUGH").shape == "gsa"
    with pytest.raises(KeyError):
        found["dual"]


def test_the_table_for_a_paper_names_the_set_and_has_no_sentences():
    lines = text("latex", of("ml-kem-512", model="rough")).splitlines()
    rows = [line.split(" & ") for line in lines if line.startswith("ml-kem-512")]
    assert [row[1:4] for row in rows if row[1] == "usvp"] == [["usvp", "adps16", "118.6"]]
    assert [float(row[3]) for row in rows] == sorted(float(row[3]) for row in rows)
    assert "no estimate" not in "".join(lines)
    said = (
        "512; probability of success: at least 0.99; lattice reduction: adps16 (core-SVP) with gsa"
    )
    assert said in "".join(lines)


def test_several_problems_make_a_table_with_the_least_marked(hardness):
    sets, attacks = ("ml-kem-512", "toy-80"), ("usvp", "bdd", "dual_hybrid", "bkw")
    options = [word for one in attacks for word in ("--attack", one)]
    alone = {name: of(name, attack=attacks) for name in sets}
    latex = hardness("estimate", *sets, *options, "--format", "latex").out
    assert "\\toprule" in latex
    assert "matzov with gsa" in latex
    assert "any number" in latex
    for name, found in alone.items():
        [row] = [line.rstrip("\\ ").split(" & ") for line in latex.splitlines() if name in line][
            -1:
        ]
        assert row[1:4] == [
            rf"$\mathbf{{{e.rop:.1f}}}$"
            if e == found.least
            else rf"${e.rop:.1f}^{{\dagger}}$"
            if e == found.undisputed
            else f"{e.rop:.1f}"
            for e in map(found.__getitem__, attacks[:3])
        ]
    markdown = hardness("estimate", *sets, *options, "--format", "markdown").out
    assert ["ml-kem-512", f"{alone[sets[0]]['usvp'].rop:.1f}"] in [
        [cell.strip() for cell in line.split("|")[1:3]] for line in markdown.splitlines()
    ]
    table = estimate(sets, attack=attacks)
    frame = table.to_frame()
    assert len(frame) == len(sets) * len(attacks)
    marked = frame[frame["least"]]
    assert dict(zip(marked["set"], marked["attack"], strict=True)) == {
        name: found.least.name for name, found in alone.items()
    }
    assert [one["name"] for one in table.to_dict()["problems"]] == list(sets)
    assert "138.7*" in repr(table)
    for one in ("dual", "brute-force", "meet-in-the-middle", "coded-bkw"):
        options += ["--attack", one]
    said = hardness("estimate", *sets, *options).out.splitlines()
    assert ["attack", *sets] in [line.split() for line in said]  # turned, as it is too wide
    assert ["dual_hybrid", "138.7*", f"{alone['toy-80']['dual_hybrid'].rop:.1f}"] in [
        line.split() for line in said
    ]
    hardness("estimate", *sets, "--emit").one_line("--emit", "not for 2")
    hardness("estimate", "toy-80", "nosuch").one_line("nosuch")


# ---- grids and searches


def test_a_grid_is_what_its_problems_are():
    over = ["n=128,160", "q=2^20..2^24..2", "h=8,16"]
    found = grid("lwe:sigma=3,secret=binary", over, only=["usvp", "brute-force"])
    assert len(found.cells) == 12
    for cell in found.cells:
        n, q, h = cell.values.values()
        alone = of(f"lwe:n={n},q={q},sigma=3,secret=binary,h={h}", attack=("usvp", "brute-force"))
        assert cell.least == alone.least
    assert len(found.to_frame()) == 24


@pytest.mark.parametrize("key", ["n=64..400", "sigma=1..400", "q=2^10..2^40"])
def test_what_is_found_holds_and_its_neighbour_does_not(key):
    words = "lwe:n=160,q=2^18,sigma=3,secret=ternary"
    found = search(words, key, 50, only=["usvp", "dual"])
    assert found.reached.least.rank >= 50 > found.below.least.rank


def test_a_search_refuses_costs_that_fall(monkeypatch):
    costs = {"n=8": 9.0, "n=9": 11.0, "n=10": 12.0, "n=11": 9.0, "n=12": 12.0}

    def waves(words, *_):
        one = Estimate(name="x", kind="exact count", source="y", rop=costs[words.split(":")[1]])
        none = {"queries": (), "average": "", "no_queries": "", "success": 0.99}
        return Estimates(spec=words, name=words, samples=None, estimates=(one,), **none)

    monkeypatch.setattr("hardness.lwe.grid._estimated", waves)
    assert search("lwe:n=1", "n=8..10", 10).value == "9"
    with pytest.raises(UsageError, match="costs do not rise"):
        search("lwe:n=1", "n=8..12", 10)


# ---- one level of success


def test_success_of_the_formulas_by_integration():
    """The right score is above the largest of M - 1 wrong ones as often as asked, and not rarely.

    Scores are normal, the right one by sqrt(2 N) to the right of the others: N as they have it.
    """
    x = np.linspace(-9, 9, 40_001)
    density = stats.norm.pdf(x) * (x[1] - x[0])
    for bits, success in itertools.product((1, 4, 10, 40, 100, 300), (0.5, 0.75, 0.9, 0.99)):
        above = x + math.sqrt(2 * 2 ** float(log_single(bits, success)))
        wrong = np.exp(math.log(2) * bits + stats.norm.logsf(above))
        found = density @ np.exp(-wrong)
        assert success - 1e-4 <= found
        assert bits < 300 or found <= 1 - (1 - success) / 4


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param("ml-kem-512", marks=pytest.mark.weekly),
        *("toy-80", "lwe:n=64,q=257,sigma=1", "lpn:n=32,noise=0.1"),
    ],
)
def test_a_higher_level_of_success_never_costs_less(spec):
    levels = (0.5, 0.9, 0.99, 0.9999)
    every = [of(spec, success=level) for level in levels]
    for one in every[0].estimates:
        costs = [found[one.name].rank for found in every if found[one.name].applies]
        assert all(b >= a - 2 * 0.01 for a, b in itertools.pairwise(costs)), one.name
        reached = [found[one.name].applies for found in every]
        assert reached == sorted(reached, reverse=True), one.name
    assert every[0]["dual_hybrid"].rank < every[-1]["dual_hybrid"].rank or spec.startswith("lpn")


# ---- what counts as the least


def test_beside_a_disputed_least_stands_that_of_the_others():
    found = of("ml-kem-512")
    words = " ".join(estimate_words(found).split())
    assert (found.least.name, found.undisputed.name) == ("dual_hybrid", "bdd")
    cost = f"about 2^{found.undisputed.rank:.1f} operations"
    assert f"without disputed heuristics it is bdd, {cost}" in words
    assert found.to_dict()["least_undisputed"] == "bdd"
    listed = grid(KYBER, ["n=512"], samples=512, only=["dual_hybrid"])
    assert "disputed model" in grid_words(listed)
    assert of("chhs-1024-25", attack="dual_guess").undisputed is None
    both = of("ml-kem-512", attack=("dual_hybrid", "bdd"))
    assert [row["known"] for row in both._rows()] == ["disputed model", "heuristic model"]
    small = of("toy-80", attack=("guess+usvp",))
    assert [row["known"] for row in small._rows()] == ["too small for its model"]
    plain = of("toy-128")
    assert plain.least == plain.undisputed
    assert "of the others" not in estimate_words(plain)


def test_a_least_that_takes_many_samples_says_so():
    found = of("lwe:n=256,q=65537,error=ternary", attack=("bkw", "brute-force"))
    assert found.least.sample_bits > 40
    assert f"it needs {found.least.sample_words} samples" in " ".join(estimate_words(found).split())
    few = of("lwe:n=256,q=65537,error=ternary", attack="usvp")
    assert "it needs" not in estimate_words(few)


# ---- samples are part of a problem


@pytest.mark.parametrize("name", ["toy-80", "lightsaber", "darmstadt-40-005"])
def test_the_printed_spec_of_a_set_is_the_set(name):
    found = of(name)
    again = of(found.words)
    assert again.samples == found.samples
    assert again.estimates == found.estimates
    printed = estimate_words(found).partition("\n")[0].partition(": ")[2]
    assert of(printed, attack="usvp")["usvp"] == found["usvp"]


def test_the_page_says_what_published_questions_come_out_as():
    page = (Path(__file__).parents[3] / "docs" / "estimate.md").read_text(encoding="utf-8")
    sparse = "lwe:n=65536,q=2^1059,sigma=3.19,secret=ternary,h=64"
    for source, attack, model in (
        ("hes-32768-128-ternary", "bdd", "default"),
        ("hesv2-32768-128-ternary", "bdd", "default"),
        ("hesv2-65536-128-ternary", "bdd", "default"),
        (sparse, "usvp", "rough"),
        (sparse, "bdd_mitm_hybrid", "rough"),
    ):
        cost = of(source, attack=attack, model=model)[attack].rop
        assert f"$2^{{{cost:.1f}}}$" in page, (source, attack, cost)
