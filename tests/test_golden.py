"""Numbers that outlive a change of the code that makes them: certificates, estimates, runs.

tests/data/golden.json has them as an earlier version printed them. Claims must be equal; an
estimate may not be more than 0.1 bits higher, and a lower one needs its reason in LOWER; a run must
end at least as well, with the same secret. What a change mends is entered in the file anew, with a
line in the changelog.
"""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import hardness

GOLDEN: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parent / "data/golden.json").read_text()
)
ENDS = ("upper", "alike")  # what a claim says beyond its value
SLACK = 0.1  # bits that an estimate may rise by
SMALL_BLOCK = 60  # below it root Hermite factors were others before: see estimator-table.md
NOISE = 1e-3  # relative: a descent in noise ends where its steps gain next to nothing
LOWER = {  # attacks that a row may name as `lower`: why its estimate fell
    "dual_guess": "the number of samples is searched with the other parameters",
    "dual_hybrid": "a better point of the same formula",
    "coded-bkw": "a secret wider than the errors, some entries of which errors replace",
}
GONE = ("dual_mitm",)


def cases(kind: str) -> list[Any]:
    return [
        pytest.param(
            row,
            id=f"{number}-{row.get('learner', '')}-{row['spec']}",
            marks=[pytest.mark.slow] if row.get("slow") else [],
        )
        for number, row in enumerate(GOLDEN[kind])
    ]


def test_the_stored_values_are_all_there() -> None:
    assert {kind: len(rows) for kind, rows in GOLDEN.items()} == {
        "certificates": 207,
        "estimates": 72,
        "runs": 59,
        "bounds": 6,
        "verifications": 3,
        "noisy": 19,
    }
    assert sum(len(row["claims"]) for row in GOLDEN["certificates"]) == 1244


@pytest.mark.parametrize("row", cases("certificates"))
def test_a_certificate_claims_what_it_did(row: dict[str, Any]) -> None:
    certificate = hardness.certify(row["spec"], **row["arguments"])
    claims = {}
    for claim in certificate.claims:
        terms = {n: str(v) for n, v in claim.terms.items() if n not in ENDS}
        claims[f"{claim.quantity}|{json.dumps(terms, sort_keys=True)}"] = str(claim.value)
    assert {key: claims.get(key) for key in row["claims"]} == row["claims"]


@pytest.mark.parametrize("row", cases("estimates"))
def test_an_estimate_is_no_higher_than_it_was(row: dict[str, Any]) -> None:
    estimates = {e.name: e for e in hardness.estimate(row["spec"]).estimates}
    assert set(row.get("lower", ())) <= set(LOWER)
    for attack, bits in row["rop"].items():
        if attack in GONE:
            continue
        estimate, before = estimates[attack], row["beta"].get(attack)
        assert estimate.rop is not None, attack
        if min(before or SMALL_BLOCK, estimate.beta or SMALL_BLOCK) < SMALL_BLOCK:
            continue
        assert estimate.rop <= bits + SLACK, attack
        assert (estimate.rop < bits - SLACK) == (attack in row.get("lower", ())), attack


@pytest.mark.parametrize("row", cases("runs"))
def test_a_run_ends_at_least_as_well(row: dict[str, Any]) -> None:
    run = hardness.learn(row["learner"], row["spec"], seed=row["seed"])
    assert run.solved or run.outcome.value == row["outcome"]
    assert run.risk is not None
    assert run.risk <= max(10 * row["risk"], 1e-20)
    assert run.secret_recovered == row["secret_recovered"]
    if row["secret"] is not None:
        assert json.loads(json.dumps(run.details["claimed_secret"])) == row["secret"]
    for spent in ("examples", "queries"):
        assert run.used(spent) == row[spent]


@pytest.mark.parametrize("row", cases("noisy"))
def test_staged_finds_the_heads_under_noise_as_well_as_before(row: dict[str, Any]) -> None:
    """`heads` is the true number, `error` and `risk` are of an earlier version."""
    budget = {"budget_examples": row["examples"]} if "examples" in row else {}
    run = hardness.learn("staged", row["spec"], seed=row["seed"], **budget)
    assert run.details["heads"] == row["heads"]
    assert run.outcome.value == "solved"
    assert run.details["error"] <= row["error"] * (1 + NOISE)


@pytest.mark.parametrize("row", cases("bounds"))
def test_a_bound_is_solved_for_the_same_parameter(row: dict[str, Any]) -> None:
    wanted = {
        name: int(value) if name == "queries" else value for name, value in row["arguments"].items()
    }
    solution = json.loads(hardness.bound(row["spec"], **wanted).to_json())["solution"]
    assert solution["least"] == row["least"]
    assert [[at["value"], at["reached"]] for at in solution["certified"]] == row["certified"]


@pytest.mark.parametrize("row", cases("verifications"))
def test_sampled_correlations_are_the_same(row: dict[str, Any]) -> None:
    verified = json.loads(hardness.verify(row["spec"], seed=row["seed"]).to_json())
    assert verified["largest"] == pytest.approx(row["largest"])
    assert verified["radius"] == pytest.approx(row["radius"])
    assert verified["largest_deviation"] == pytest.approx(row["largest_deviation"])
    assert verified["sq_dimension"]["empirical"] == row["empirical"]


def test_a_claim_that_differs_is_seen() -> None:
    row = GOLDEN["certificates"][0]
    key = next(iter(row["claims"]))
    wrong = {**row, "claims": row["claims"] | {key: str(Fraction(row["claims"][key]) + 1)}}
    with pytest.raises(AssertionError):
        test_a_certificate_claims_what_it_did(wrong)
