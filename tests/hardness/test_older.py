"""Certificates of format 1, as version 0.2 wrote them: made again, and refused where changed."""

import json
from pathlib import Path

import pytest

from hardness.check import check, kernel
from hardness.lower import BoundParameters
from hardness.lower.older import converted, numbers
from hardness.lower.record import Certificate
from hardness.runs import compare, read_comparison
from hardness.runs.certified import Certifier
from hardness.runs.rows import CertificateRow
from instances.errors import DamagedFile, Refuted
from instances.spec import parse_stored

DATA = Path(__file__).parent.parent / "data"
TERMS = {
    "parity": BoundParameters.from_json(
        {"tau": "1/20", "vstat": 50, "risk": "1/3", "success": "1/2", "gamma": "1/20"}
    ),
    "lwr": BoundParameters(),
}


def old(kind):
    return json.loads((DATA / f"{kind}-format-1.json").read_text())


@pytest.mark.parametrize("kind", TERMS)
def test_a_file_is_made_again_with_its_terms_and_numbers(hardness, kind):
    path = DATA / f"{kind}-format-1.json"
    refused = hardness("check", path)
    assert refused.code == 1
    refused.one_line("format 1", "hardness certify FILE.json")
    assert hardness("certify", path, "--out", "new.json").code == 0
    data = json.loads(Path("new.json").read_text())
    assert data == converted(old(kind)).to_dict()
    assert data["format"] == kernel.FORMAT
    assert check(data).spec == old(kind)["spec"]
    claims = {one["quantity"]: one for one in data["goal"]["claims"]}
    assert len(claims) == len(old(kind)["claims"])
    for before in old(kind)["claims"]:
        now = claims[before["quantity"]]
        assert now["value"] == before["value"]
        shared = set(now["terms"]) & set(before["parameters"])
        assert {k: now["terms"][k] for k in shared} == {k: before["parameters"][k] for k in shared}


@pytest.mark.parametrize("kind", TERMS)
def test_a_changed_number_is_refused(kind):
    for index in range(len(old(kind)["claims"])):
        data = old(kind)
        data["claims"][index]["value"] += "1"
        with pytest.raises(Refuted, match=data["claims"][index]["quantity"]):
            converted(data)
    data = old(kind)
    data["claims"].pop()
    with pytest.raises(Refuted, match="information-floor"):
        converted(data)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.pop("spec"),
        lambda d: d.pop("evidence"),
        lambda d: d.update(claims=3),
        lambda d: d["claims"][0].pop("kind"),
        lambda d: d["claims"][2].update(parameters=3),
        lambda d: d["claims"][2]["parameters"].update(tau=[1]),
    ],
)
def test_a_damaged_file_gets_one_line(hardness, change):
    data = old("parity")
    change(data)
    Path("old.json").write_text(json.dumps(data))
    found = hardness("certify", "old.json")
    assert found.code == 1
    found.one_line("old.json is damaged")


@pytest.mark.parametrize("kind", TERMS)
def test_a_store_may_hold_them(kind):
    data = old(kind)

    def made(stored):
        terms = TERMS[kind]
        row = CertificateRow(key="", spec=data["spec"], terms=terms.to_dict(), certificate=stored)
        return Certifier([row]).one(data["spec"], terms)

    assert numbers(made(data)) == numbers(Certificate.read(data))
    assert made(data).to_dict() == made(made(data).to_dict()).to_dict()
    data["claims"][1]["value"] += "1"
    with pytest.raises(DamagedFile, match="not that of its spec"):
        made(data)


def test_results_may_hold_them(tmp_path):
    """Those of a comparison that version 0.2 wrote, with other words: their numbers count."""
    data = old("parity")
    spec = parse_stored(data["spec"])
    found = compare("parity:m=4,noise=0.2", "d=12", ("trivial",), seeds=1, terms=TERMS["parity"])
    assert found.specs == (spec.spec,)
    written = json.loads(json.dumps(found.to_dict()))
    for certificate in (data, {**data, "scope": "others"}):
        (tmp_path / "results.json").write_text(
            json.dumps(written | {"certificates": [certificate]})
        )
        assert read_comparison(tmp_path).certificates == found.certificates
    data["claims"][1]["value"] += "1"
    (tmp_path / "results.json").write_text(json.dumps(written | {"certificates": [data]}))
    with pytest.raises(DamagedFile, match="its certificates"):
        read_comparison(tmp_path)
