import itertools
import json
import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from hardness.check import check, pairs
from hardness.check.cliques import has_clique
from hardness.check.domain import check_floats, check_integers
from hardness.lower import BoundParameters
from hardness.lower.finite import (
    How,
    certificate,
    certify_finite,
    gram,
    read_source,
    read_union,
)
from hardness.lower.finite.certificate import digest_of
from hardness.lower.finite.gram import Gram, Products, enumerate_products
from hardness.lower.finite.known import Spread, of_integers
from hardness.lower.finite.spectrum import UNIT
from hardness.lower.members import Members, norm_bound
from hardness.lower.record import Certificate
from instances import AttentionLayer, parse, save_layer
from instances.errors import Refuted, Undecided
from instances.streams import generator
from tests.conftest import sealed
from tests.hardness.test_graph import rays
from tests.proofs import plain, proves, refused, step

MINE = """
import itertools
import numpy as np

d = 6


def majority(s):
    return lambda x: np.sign(x[:, s].sum(axis=1))


majorities = [majority(list(s)) for s in itertools.combinations(range(6), 3)]
negated = [lambda x, f=f: -f(x) for f in majorities]
whole = [lambda x: x[:, 0], lambda x: x.sum(axis=1), lambda x: 2 * x[:, 3] + 1, lambda x: x[:, 1]]
tripled = [lambda x, f=f: 3 * f(x) for f in whole]
smooth = [lambda x: np.tanh(x.sum(axis=1)), lambda x: np.exp(x[:, 0] / 3.0), lambda x: x[:, 2]]


class Large:
    d = 40
    functions = [majority(list(range(i, i + 3))) for i in range(12)]
    names = [f"window {i}" for i in range(12)]


def called():
    return Large()
"""
SOURCES = ["mine.py:majorities", "mine.py:whole", "mine.py:smooth", "layers", "u.specs"]
SAMPLED = ["mine.py:Large", "mine.py:called", "mine.py:majorities", "layers"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(MINE)
    Path("u.specs").write_text("# two\nparity:d=6,m=2\nprofile:g=majority,d=6,m=3  # odd\n")
    Path("layers").mkdir()
    rng = generator(0, "layers")
    for i in range(4):
        layer = AttentionLayer(
            theta=rng.normal(size=(2, 3, 3)), w=rng.normal(size=(2, 3, 3)), kind="softmax"
        )
        save_layer(Path(f"layers/{i}.{'npz' if i % 2 else 'safetensors'}"), layer)
    save_layer(Path("layers/z.npz"), parse("parity:d=3,m=2").layer((1, 2)))
    return tmp_path


def made(source, terms=None, **how):
    return plain(certify_finite(read_source(source), terms, How(**how)))


def claims(data):
    """Both ends of each quantity, of either format."""
    return {
        one.quantity: (one.value, one.parameters.get("upper", one.value))
        for one in Certificate.read(data).claims
    }


def brute_dimension(correlations):
    """By its definition, over all sets of members."""
    size = len(correlations)
    for k in range(size, 1, -1):
        for chosen in itertools.combinations(range(size), k):
            off = np.abs(correlations[np.ix_(chosen, chosen)] - np.eye(k))
            if off.max() <= 1 / k + 1e-12:
                return k
    return 1


def values_of(source):
    """All members at all points, one by one, and normalised: (M, outputs of all points)."""
    family = read_source(source)
    x = np.array(list(itertools.product((1, -1), repeat=family.n)), np.int8)
    return family.evaluate(x)


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("source", SOURCES)
def test_certificates_are_accepted(here, source, centred):
    found = check(made(source, centred=centred))
    assert len(found.statements) == (9 if source == "mine.py:majorities" else 4)
    proven = source == "mine.py:majorities" and not centred
    assert found.checker == ("the kernel" if proven else "the large checker")
    assert bool(found.assumed) == (proven or source in ("mine.py:smooth", "layers"))
    tables = not proven and source in ("mine.py:majorities", "mine.py:whole")
    assert ("truth tables" in " ".join(found.statements)) == tables


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("source", SAMPLED)
def test_sampled_certificates_are_accepted(here, source, centred):
    method = None if "L" in source or "called" in source else "sampling"
    samples = 200_000 if source == "layers" else 30_000
    data = made(source, method=method, samples=samples, centred=centred, seed=3)
    assert all("(confidence 0.99)" in s for s in check(data).statements)
    assert {c["kind"] for c in data["claims"]} == {"statistical"}
    assert all(c["parameters"]["confidence"] == "0.99" for c in data["claims"])


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("source", SOURCES[:4])
def test_claims_are_those_of_brute_force(here, source, centred):
    values = values_of(source)
    if centred:
        values = values - values.mean(axis=0)
    values = values / np.sqrt((values**2).sum(axis=1, keepdims=True))
    correlations = values @ values.T
    found = claims(made(source, centred=centred))
    if len(values) < 10:
        low = int(found["sq-dimension"][0])
        assert low == brute_dimension(correlations)
    off = np.abs(correlations - np.eye(len(values)))
    for name, true in (
        ("largest-correlation", off.max()),
        ("average-correlation", np.abs(correlations).mean()),
    ):
        low, high = (float(Fraction(v)) for v in found[name])
        assert low - 1e-12 <= true <= high + 1e-12
        assert high - low <= 3e-9


@pytest.mark.parametrize("source", ["mine.py:majorities", "layers"])
def test_sampled_ends_hold_the_true_ones(here, source):
    exact = claims(made(source))
    sampled = claims(made(source, method="sampling", samples=100_000))
    for name in ("sq-dimension", "largest-correlation", "average-correlation"):
        low, high = sampled[name]
        assert Fraction(low) <= Fraction(exact[name][0])
        assert Fraction(exact[name][1]) <= Fraction(high)


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize(
    "specs",
    [
        ["parity:d=6,m=2", "profile:g=majority,d=6,m=3"],
        ["profile:g=threshold(2),d=8,m=4", "profile:g=h**2,d=8,m=2", "parity:d=8,m=1"],
        ["profile:g=majority,d=7,m=3", "profile:g=majority,d=7,m=5"],
        ["profile:g=exactly(1),d=11,m=2"],
    ],
)
def test_unions_are_those_of_enumeration(tmp_path, specs, centred):
    path = tmp_path / "some.specs"
    path.write_text("\n".join(specs))
    union = read_union(path)
    members = list(union.members())
    assert len(members) == union.size

    def evaluate(z):
        rows = []
        for a, subset in members:
            h = (z[:, [j - 1 for j in subset]] < 0).sum(axis=1)
            rows.append(np.array([float(v) for v in union.families[a].values])[h])
        values = np.array(rows)
        return values

    points = np.array(list(itertools.product((1, -1), repeat=union.d - 1)), np.int8)
    values = np.asarray(evaluate(points)).astype(np.int64)
    wanted = of_integers(values @ values.T, tuple(map(str, members)), centred)
    found = union.known(centred)
    assert (found.low == wanted.low).all()
    assert np.abs(found.correlations - wanted.correlations).max() < 1e-12
    for name in ("largest", "average"):
        one, two = getattr(found, name), getattr(wanted, name)
        assert max(one[0], two[0]) <= min(one[1], two[1])
    profiles = [list(f.values) for f in union.families]
    from flint import fmpq

    again = pairs.UnionPairs(
        union.d - 1, [[fmpq(v.numerator, v.denominator) for v in p] for p in profiles], centred
    )
    assert np.abs(again.correlations - wanted.correlations).max() < 1e-12
    for k in (2, 3, 5):
        assert (again.within(k, True) == (wanted.low >= k) | np.eye(union.size, dtype=bool)).all()


def test_specs_at_a_size_that_no_enumeration_reaches(tmp_path):
    path = tmp_path / "large.specs"
    path.write_text("profile:g=majority,d=300,m=1\nparity:d=300,m=1,rho=2\n")
    with pytest.raises(Exception, match="same functions"):
        read_union(path)
    path.write_text("profile:g=threshold(1),d=60,m=2\nparity:d=60,m=1\n")
    data = json.loads(json.dumps(certify_finite(read_union(path)).to_dict()))
    assert "SQ-DIM of 1770 members" in check(data).statements[0]


def shown(data):
    """The sets of members that prove something; others may prove it as well."""
    return data["evidence"]["dimension"]["members"], data["evidence"].get("sda")


def renamed(data):
    """Give changed members the name that they have then."""
    evidence = data["evidence"]
    digest = digest_of(evidence["given"], evidence.get("tables"))
    if evidence["basis"] != "specs":
        data["spec"] = data["spec"].rpartition("=")[0] + "=" + digest
    return data


def given(change):
    """Change what is given, with its hash made to fit."""

    def changed(data):
        change(data["evidence"]["given"])
        renamed(data)

    return changed


FORGED = [
    ("mine.py:whole", given(lambda g: g["names"].__setitem__(0, g["names"][1]))),
    ("mine.py:whole", given(lambda g: g.update(n=7))),
    ("mine.py:whole", given(lambda g: g.update(outputs=2))),
    ("mine.py:whole", lambda d: d["evidence"]["tables"].update(encoding="bits")),
    ("mine.py:whole", lambda d: d["evidence"]["tables"]["rows"].reverse()),
    ("mine.py:whole", given(lambda g: g["names"].__setitem__(0, "two\nlines"))),
    ("mine.py:whole", lambda d: d["evidence"]["origin"].update(path="a\nb")),
    ("mine.py:whole", lambda d: d.update(spec=d["spec"].replace("members=4", "members=5"))),
    ("mine.py:whole", lambda d: d.update(spec=d["spec"].replace("functions", "layers"))),
    ("mine.py:smooth", given(lambda g: g.update(radius=-1.0))),
    ("mine.py:smooth", given(lambda g: g["correlations"][1].__setitem__(0, 1.5))),
    ("mine.py:smooth", given(lambda g: g["correlations"][1].__setitem__(0, math.inf))),
    ("mine.py:called", given(lambda g: g.update(samples=10 * g["samples"]))),
    ("mine.py:called", given(lambda g: g.update(confidence="0.999999"))),
    ("mine.py:called", given(lambda g: g.update(bound=2.0))),
    ("mine.py:called", given(lambda g: g.update(radius=g["radius"] / 2))),
    ("mine.py:called", given(lambda g: g["norms"].__setitem__(0, 0.001))),
    ("u.specs", given(lambda g: g["specs"].reverse())),
    ("u.specs", given(lambda g: g["products"][0]["values"].__setitem__(0, "1/2"))),
    ("u.specs", lambda d: d.update(spec=d["spec"].replace("d=6", "d=7"))),
]


@pytest.mark.parametrize(("source", "change"), FORGED)
def test_a_forged_certificate_is_refused(here, source, change):
    data = made(source, samples=30_000)
    change(data)
    with pytest.raises(Refuted) as found:
        check(sealed(data))
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    "change",
    [
        lambda g: g["gram"][1].__setitem__(0, g["gram"][1][0] + 1),
        lambda g: g["gram"][1].__setitem__(0, g["gram"][1][0] + 2),
        lambda g: g["gram"][1].__setitem__(1, 62),
        lambda g: g["gram"][1].__setitem__(0, 64.0),
        lambda g: g["gram"].pop(),
        lambda g: g.update(signs=1),
        lambda g: g.update(signs=False),
        lambda g: g.pop("signs"),
    ],
)
def test_a_forged_gram_matrix_is_refused(here, monkeypatch, change):
    monkeypatch.setattr(gram, "TABLE_BYTES", 0)
    data = made("mine.py:majorities")
    assert data["evidence"]["basis"] == "integers"
    assert "the Gram matrix in the file and that its members are -1 and +1" in check(data).assumed
    given(change)(data)
    with pytest.raises(Refuted):
        check(sealed(data))


def test_members_that_are_said_to_be_signs(here, monkeypatch):
    """Integers of other norms, or odd ones, are no inner products of signs: no general bound."""
    monkeypatch.setattr(gram, "TABLE_BYTES", 0)
    data = made("mine.py:whole")
    assert "stat-queries" not in claims(data)
    given(lambda g: g.update(signs=True))(data)
    with pytest.raises(Refuted, match="do not have this Gram matrix"):
        check(sealed(data))


def test_tables_are_read_by_hand(here):
    data = made("mine.py:majorities")
    x = np.array([[1 - 2 * (i >> j & 1) for j in range(6)] for i in range(64)])
    tables = [int(row, 16) for row in data["problem"]["tables"]]
    for table, subset in zip(tables, itertools.combinations(range(6), 3), strict=True):
        values = np.array([1 - 2 * (table >> i & 1) for i in range(64)])
        assert (values == np.sign(x[:, subset].sum(axis=1))).all()


def flipped(data, bit=7):
    """Flip the first member at a point, by default one at which all steps still hold."""
    tables = data["problem"]["tables"]
    tables[0] = f"{int(tables[0], 16) ^ 1 << bit:x}"


def named(data, names=None):
    """Give members other names, and the certificate the digest of its members."""
    about = data["about"]
    about["names"] = names or about["names"]
    digest = digest_of({"names": about["names"], "problem": data["problem"]}, None)
    about["spec"] = about["spec"].rpartition("=")[0] + "=" + digest


PROVEN = [
    (lambda d: (flipped(d), named(d)), "average-correlation is not as claimed"),
    (lambda d: (flipped(d, 0), named(d)), "step 3: not above gamma"),
    (lambda d: (flipped(d), proves(d)), "by their digest"),
    (lambda d: d["problem"].update(signs=7), "by their digest"),
    (lambda d: d["problem"]["tables"].pop(), "by their digest"),
    (lambda d: d["about"]["names"].__setitem__(0, "other"), "by their digest"),
    (lambda d: d["about"]["names"].reverse(), "by their digest"),
    (lambda d: named(d, d["about"]["names"][:1] * 20), "not 20 different ones"),
    (lambda d: named(d, ["two\nlines", *d["about"]["names"][1:]]), "not 20 different ones"),
    (lambda d: named(d, dict.fromkeys(d["about"]["names"])), "not a list"),
    (lambda d: d["about"].update(spec=d["about"]["spec"].replace("s=20", "s=21")), "digest"),
    (lambda d: d["about"].update(spec=d["about"]["spec"].replace("d=6", "d=7")), "6 coordinates"),
    (lambda d: d["about"].update(spec="layers" + d["about"]["spec"][9:]), "digest"),
    (lambda d: d["about"].update(spec=7), "malformed|which family"),
    (lambda d: d["about"]["origin"].update(path="a\nb"), "origin"),
    (lambda d: d["about"]["origin"].update(of="20"), "no larger"),
    (lambda d: d["about"].update(origin=None), "malformed"),
    (lambda d: step(d, "apart")["chosen"].__setitem__(0, 0), "too near"),
    (lambda d: step(d, "apart")["chosen"].append(1), "too near"),
    (
        lambda d: step(d, "apart")["classes"][0].append(step(d, "apart")["classes"][1].pop()),
        "class",
    ),
    (lambda d: step(d, "apart")["classes"].pop(), "every member once"),
    (lambda d: step(d, "apart").update(upper="3"), "class"),
    (lambda d: step(d, "spread").update(top="7/4"), "not below top"),
    (lambda d: step(d, "weighted").update(top="23/8"), "weighted eigenvalue is not below top"),
    (lambda d: step(d, "sums").update(above=[0, 7, 19]), "sda-all-subsets is not as claimed"),
    (lambda d: step(d, "sums").update(above=[*range(20)]), "not above gamma"),
    (lambda d: step(d, "sums")["above"].append(0), "twice"),
    (lambda d: step(d, "sums").update(gamma="1"), "not above gamma"),
    (lambda d: step(d, "fit").update(risk="1/5"), "not as claimed"),
    (lambda d: step(d, "ask").update(term="1/2"), "not as claimed"),
    (lambda d: step(d, "ask").update({"from": [1]}), "must cite"),
]


@pytest.mark.parametrize(("change", "why"), PROVEN)
def test_a_forged_proof_is_refused(here, change, why):
    data = made("mine.py:majorities", BoundParameters(gamma=Fraction(2, 5)))
    check(data)
    refused(data, change, why)


def test_no_tables_for_large_families():
    places = list(itertools.combinations(range(20), 2))[:40]
    pairs_of = tuple(map(str, places))
    family = Members(
        kind="functions", path="x", sha256="0" * 64, names=pairs_of,
        d=20, n=20, outputs=1, bound=1.0,
        evaluate=lambda x: np.array([x[:, i] * x[:, j] for i, j in places], float),
    )  # fmt: skip
    found = enumerate_products(family)
    assert found.tables is None
    assert found.signs
    assert (found.gram.values == np.eye(40, dtype=int) << 20).all()
    data = certify_finite(family).to_dict()
    assert data["evidence"]["basis"] == "integers"
    assert "given the Gram matrix in the file" in check(data).statements[0]


def linear(vectors):
    """The functions x -> v . x: their Gram matrix is that of the vectors."""
    return Members(
        kind="functions", path="x", sha256="0" * 64, d=vectors.shape[1],
        n=vectors.shape[1], outputs=1, bound=100.0,
        names=tuple(f"f{i}" for i in range(len(vectors))),
        evaluate=lambda x: (vectors @ x.T).astype(float),
    )  # fmt: skip


@pytest.mark.parametrize("d", [3, 4])
def test_a_spectrum_as_evidence(d):
    """Rays of few dimensions: more colours than dimensions, so the eigenvalues are needed."""
    data = json.loads(json.dumps(certify_finite(linear(rays(d)), how=How(steps=0)).to_dict()))
    assert "no more, by the eigenvalues" in check(data).statements[0]
    text = json.dumps(data["evidence"]["dimension"]["upper"])
    for place in [m.start() for m in re.finditer(r"\d", text)]:
        other = json.loads(json.dumps(data))
        new = text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :]
        try:
            other["evidence"]["dimension"]["upper"] = json.loads(new)
        except ValueError:
            continue
        with pytest.raises(Refuted):
            check(sealed(other))


def test_a_search_as_evidence():
    table = np.random.default_rng(2).choice([-1.0, 1.0], (20, 32))
    family = Members(
        kind="functions", path="x", sha256="0" * 64, d=5, n=5, outputs=1, bound=1.0,
        names=tuple(f"f{i}" for i in range(20)),
        evaluate=lambda x: table[:, ((x < 0) @ (1 << np.arange(5)))],
    )  # fmt: skip
    data = json.loads(json.dumps(certify_finite(family).to_dict()))
    assert "no more, by a search" in check(data).statements[0]
    data["evidence"]["dimension"]["upper"]["at"] -= 1
    data["claims"][0]["parameters"]["upper"] = str(data["evidence"]["dimension"]["upper"]["at"] - 1)
    with pytest.raises(Refuted):
        check(sealed(data))


def test_the_clique_search_of_the_checker():
    rng = np.random.default_rng(0)
    for size, density in itertools.product((6, 9, 12), (0.3, 0.6, 0.9)):
        upper = np.triu(rng.random((size, size)) < density, k=1)
        graph = upper | upper.T
        largest = max(
            k
            for k in range(1, size + 1)
            for c in itertools.combinations(range(size), k)
            if all(graph[a, b] for a, b in itertools.combinations(c, 2))
        )
        for k in range(1, size + 2):
            assert has_clique(graph, k) == (k <= largest)
    upper = np.triu(rng.random((60, 60)) < 0.9, k=1)
    with pytest.raises(Undecided, match="did not end"):
        has_clique(upper | upper.T, 20, most_nodes=3)


def test_one_query_rules_out_no_more_than_the_bound():
    """sum_i <f_i - mean, h>^2 <= lambda for every h of norm 1, and for the worst it is lambda."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=(12, 64))
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    spread = Spread.of(values @ values.T, 0.0)
    less = values - values.mean(axis=0)
    worst = np.linalg.svd(less)[2][0]
    assert ((less @ worst) ** 2).sum() <= spread.eigenvalue / UNIT
    assert ((less @ worst) ** 2).sum() >= spread.eigenvalue / UNIT - 1e-6
    # No hypothesis fits more members than K, tried on means of subsets.
    for risk in (Fraction(1, 4), Fraction(3, 4), Fraction(9, 10)):
        most = spread.right_about(risk, 12)
        scale = (less**2).sum(axis=1).mean()
        for k in range(1, 13):
            for chosen in itertools.islice(itertools.combinations(range(12), k), 60):
                for shrink in (0.3, 0.6, 1.0):
                    g = shrink * less[list(chosen)].mean(axis=0)
                    fits = (((less - g) ** 2).sum(axis=1) <= float(risk) * scale).sum()
                    assert fits <= most


@pytest.mark.parametrize("kind", ["softmax", "linear"])
def test_norm_bound_of_layers(kind):
    rng = np.random.default_rng(2)
    layer = AttentionLayer(
        theta=rng.normal(size=(2, 3, 3)), w=rng.normal(size=(2, 3, 3)), kind=kind
    )
    x = np.array(list(itertools.product((-1, 1), repeat=6))).reshape(-1, 2, 3)
    assert np.sqrt((layer(x) ** 2).sum(axis=(1, 2))).max() <= norm_bound(layer)


def test_a_certificate_does_not_depend_on_the_folder_or_the_run(here, monkeypatch):
    one = made("mine.py:majorities")
    Path("deeper").mkdir()
    Path("deeper/mine.py").write_text(MINE)
    assert made("deeper/mine.py:majorities") == one
    assert made("mine.py:Large", seed=1) != made("mine.py:Large", seed=2)


def test_tables_cannot_be_swapped_under_a_name(here):
    """Both certificates are genuine: the members of one do not go under the other's name."""
    one, two = made("mine.py:majorities"), made("mine.py:negated")
    assert check(one).spec != check(two).spec
    refused(one, lambda d: d.update(problem=two["problem"]), "by their digest")
    one, two = made("mine.py:whole"), made("mine.py:tripled")
    assert check(one).spec != check(two).spec
    with pytest.raises(Refuted, match="name stands for"):
        check(sealed({**two, "spec": one["spec"]}))
    swapped = {**two, "evidence": {**two["evidence"], "tables": one["evidence"]["tables"]}}
    with pytest.raises(Refuted, match="name stands for"):
        check(sealed(swapped))
    assert check(sealed(renamed(swapped))).spec == one["spec"]  # the correlations are the same


def test_the_same_functions_have_one_encoding(here):
    refused(
        made("mine.py:majorities"),
        lambda d: (
            d["problem"]["tables"].__setitem__(0, "0" + d["problem"]["tables"][0]),
            named(d),
        ),
        "no hexadecimal",
    )
    data = made("mine.py:whole")
    rows = [np.frombuffer(bytes.fromhex(r), "<i1") for r in data["evidence"]["tables"]["rows"]]
    long = [row.astype("<i2").tobytes().hex() for row in rows]
    data["evidence"]["tables"] = {"encoding": "int16", "rows": long}
    with pytest.raises(Refuted, match="encoding that such values have"):
        check(sealed(renamed(data)))


@pytest.fixture
def by_products(monkeypatch):
    """Make certificates of functions on d coordinates with a Gram matrix that somebody made up."""

    def made_up(gram, d):
        made_up = Products(gram=Gram(values=np.array(gram)), tables=None, signs=False)
        monkeypatch.setattr(certificate, "enumerate_products", lambda *_: made_up)
        family = Members(
            kind="functions", path="x", sha256="0" * 64, d=d, n=d, outputs=1, bound=1.0,
            names=tuple(f"f{i}" for i in range(len(gram))), evaluate=lambda x: x,
        )  # fmt: skip
        return json.loads(json.dumps(certify_finite(family).to_dict()))

    return made_up


def test_a_gram_matrix_has_at_most_the_rank_of_its_points(by_products):
    eye = (4 * np.eye(40, dtype=int)).tolist()
    found = check(by_products(eye, 6))  # 64 points: nothing speaks against it
    assert found.assumed == "the Gram matrix in the file"
    assert "SQ-DIM of 40 members is exactly 40" in found.statements[0]
    with pytest.raises(Refuted, match="no functions on 4 points have a matrix of rank 40"):
        check(by_products(eye, 2))
    check(by_products((4 * np.eye(4, dtype=int)).tolist(), 2))
    with pytest.raises(Refuted, match="rank 5"):
        check(by_products((4 * np.eye(5, dtype=int)).tolist(), 2))


def test_a_gram_matrix_has_no_eigenvalue_below_0(by_products):
    """Three members of pairwise correlation -51/100 sum up to less than nothing."""
    for entry, right in ((-50, True), (-51, False)):
        gram = np.full((3, 3), entry)
        np.fill_diagonal(gram, 100)
        if right:
            check(by_products(gram.tolist(), 3))
        else:
            with pytest.raises(Refuted, match="eigenvalue below 0"):
                check(by_products(gram.tolist(), 3))


def test_rank_and_sign_are_exact_where_floats_cannot_tell():
    rng = np.random.default_rng(0)
    half = rng.integers(-(10**6), 10**6, (20, 4))
    gram = half @ half.T
    check_integers(gram, 4)
    one = gram.copy()
    one[0, 0] += 1  # an eigenvalue of about 1e-13 of the largest one more
    with pytest.raises(Refuted, match="rank 5"):
        check_integers(one, 4)
    check_integers(one, 5)
    one[0, 0] -= 2
    with pytest.raises(Refuted, match="eigenvalue below 0"):
        check_integers(one, 5)
    half = rng.integers(-(10**6), 10**6, (150, 16))
    large = half @ half.T
    check_integers(large, 16)
    large[0, 0] += 1
    with pytest.raises(Refuted, match="rank 17"):
        check_integers(large, 16)


def test_correlations_of_floats_have_that_rank_too():
    with pytest.raises(Refuted, match="rank 40"):
        check_floats(np.eye(40), 4, 1e-3)
    with pytest.raises(Refuted, match="eigenvalue below 0"):
        check_floats(np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]]), 4, 1e-3)


def test_the_first_line_says_what_is_taken_as_given(here):
    from hardness.report.certificate import checked_words

    for source, how, said in (
        ("mine.py:majorities", {}, "accepted by the kernel, given the tables are those of the"),
        ("mine.py:whole", {}, "accepted by the large checker: functions:d=6,members="),
        ("u.specs", {}, "accepted by the large checker: specs:d=6,members="),
        ("mine.py:smooth", {}, "accepted by the large checker, given the correlations in the"),
        (
            "mine.py:called",
            {"samples": 30_000},
            "accepted by the large checker, given the sampled correlations in the file "
            "(confidence 0.99): f",
        ),
    ):
        assert " ".join(checked_words(check(made(source, **how))).split()).startswith(said)


def test_what_is_taken_as_given_is_cited_once(here, tmp_path):
    from hardness import cite

    for source, how, given in (
        ("mine.py:smooth", {}, "given the correlations in the file"),
        ("mine.py:called", {"samples": 30_000}, "given the sampled correlations in the file ("),
    ):
        (tmp_path / "c.json").write_text(json.dumps(made(source, **how)))
        said = cite(tmp_path / "c.json").sentence
        assert said.count("given") == said.count(given) == 1


def test_a_sample_proves_nothing_about_queries(here):
    """A file that claims a bound on queries from sampled correlations is refused, and says why."""
    data, exact = made("mine.py:called", samples=30_000), made("mine.py:smooth")
    assert "sampled" in data["scope"]
    assert "no claim about queries" in data["scope"]
    assert not {name for name in claims(data) if "queries" in name or "success" in name}
    for spread in ({}, {"spread": exact["evidence"]["spread"]}):
        other = json.loads(json.dumps(data))
        other["claims"].append(claims(exact)["csq-queries"])
        other["evidence"] |= spread
        with pytest.raises(Refuted):
            check(sealed(other))
        other["scope"] = exact["scope"]
        with pytest.raises(Refuted):
            check(sealed(other))


@pytest.mark.parametrize("about", ["", "--about kernel", "--about gd --noise-std 1 --steps 10"])
@pytest.mark.parametrize(
    "rows",
    [
        "[f, lambda x: -f(x)]",
        "[f, f]",
        "[f, lambda x: 2 * f(x)]",
        "[f]",
        "[lambda x: f(x) / 2, lambda x: -f(x) / 2]",
    ],
)
def test_nothing_but_vacuous_bounds_is_no_claim(hardness, tmp_path, rows, about):
    path = tmp_path / "mine.py"
    path.write_text(f"f = lambda x: x[:, 0] * x[:, 1]\nd = 3\nrows = {rows}\n")
    found = hardness("certify", f"{path}:rows", *about.split(), "--out", "none.json")
    assert (found.code, found.out) == (1, "")
    found.one_line("no claim: ")
    assert not Path("none.json").exists()
