import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instances import Examples, UsageError, parse, read_folder, tokens, write_folder
from instances.expression import profile, spelling
from instances.krawtchouk import coefficients
from instances.threshold import rational
from tests.conftest import every_token

PROFILES = ["majority", "threshold(2)", "mod(3)", "exactly(1)", "parity+0.1*majority", "h**2/9"]


def members(family):
    return list(itertools.combinations(range(1, family.d), family.m))


@pytest.mark.parametrize("g", PROFILES)
@pytest.mark.parametrize(("d", "m"), [(4, 2), (5, 3), (5, 2)])
def test_layer_formula_and_codes_agree_on_every_token(g, d, m):
    family = parse(f"profile:g={g},d={d},m={m}")
    words = every_token(d)
    x = tokens.unpack(words, d)
    quiet = np.zeros(len(words), bool)
    values = [float(v) for v in family.values]
    for secret in members(family):
        label = family.label(secret, x)
        np.testing.assert_allclose(family.layer(secret)(x), label, atol=1e-12)
        assert (family.decode(x, family.codes(secret, words, quiet)) == label).all()
        z = x[:, 0] * x[:, 1]
        h = (z[:, list(secret)] < 0).sum(axis=1)
        psi = np.where(z[:, 0] > 0, float(family.known_constant), np.array(values)[h])
        assert (label[:, :, 0] == x[:, :, 0] * psi[:, None]).all()
        assert not label[:, :, 1:].any()


@pytest.mark.parametrize("g", PROFILES)
@pytest.mark.parametrize("noise", ["0", "1/5"])
def test_what_is_known_is_the_mean_over_members_and_its_risk_is_exact(g, noise):
    family = parse(f"profile:g={g},d=5,m=2,noise={noise}")
    words = every_token(5)
    x = tokens.unpack(words, 5)
    means = np.array([family.mean(s, x) for s in members(family)])
    np.testing.assert_allclose(family.known(x), means.mean(axis=0), atol=1e-12)
    rows = family.open(words)
    risks = ((means - family.known(x)) ** 2)[:, rows].sum(axis=(2, 3)).mean(axis=1)
    np.testing.assert_allclose(risks, family.trivial_risk, rtol=1e-10)
    np.testing.assert_allclose(family.clip(x, means[0]), means[0], atol=1e-15)
    extreme = np.full(x.shape, 1e9)
    worst = ((family.clip(x, extreme) - family.clip(x, -extreme)) ** 2).sum(axis=(1, 2))
    assert worst.max() <= family.risk_bound * family.trivial_risk * (1 + 1e-12)


@pytest.mark.parametrize("g", PROFILES)
def test_noise_reflects_a_value_in_the_middle_of_the_range(g):
    family = parse(f"profile:g={g},d=6,m=3,noise=1/4")
    instance = family.instance(0)
    examples = instance.examples(0, 40_000)
    clean = family.label(instance.hidden.secret, examples.x)
    rows = family.open(examples.words)
    signs = examples.x[:, 0, 0]
    given_, wanted = (v[:, 0, 0] * signs for v in (examples.y, clean))
    assert (given_[~rows] == wanted[~rows]).all()
    reflected = np.isclose(given_, 2 * float(family.centre) - wanted) & rows
    kept = np.isclose(given_, wanted) & rows
    assert (reflected | kept)[rows].all()
    assert abs((reflected & ~kept)[rows].mean() - 0.25) < 0.03 or (reflected & kept).any()
    mean = family.mean(instance.hidden.secret, examples.x)
    assert np.abs((examples.y - mean)[rows].mean()) < 0.03


@pytest.mark.parametrize("g", PROFILES)
def test_coefficients_by_enumeration(g):
    family = parse(f"profile:g={g},d=5,m=3,noise=1/10")
    words = every_token(5)
    x = tokens.unpack(words, 5)
    z = (x[:, 0] * x[:, 1]).astype(float)
    secret = (1, 3, 4)
    factor = family.mean(secret, x)[:, 0, 0] * x[:, 0, 0] * family.open(words)
    for size in range(6):
        for subset in itertools.combinations(range(5), size):
            wanted = (factor * z[:, list(subset)].prod(axis=1)).mean()
            assert abs(float(family.coefficient(secret, subset)) - wanted) < 1e-12


def test_the_parity_profile_is_the_parity_family():
    one, two = parse("parity:d=12,m=4"), parse("profile:g=parity,d=12,m=4")
    secret, words = (2, 3, 7, 11), every_token(4)
    assert one.values == two.values
    assert one.heads == two.heads
    stream = one.instance(0).examples(0, 500).words
    quiet = np.zeros(500, bool)
    assert (one.codes(secret, stream, quiet) == two.codes(secret, stream, quiet)).all()
    assert len(words)


@pytest.mark.parametrize("tensors", ["npz", "safetensors"])
def test_a_profile_of_many_values_goes_to_disk_and_back(tmp_path, tensors):
    family = parse("profile:g=h**2-h/3,d=70,m=9,noise=0.1")
    instance = family.instance(1)
    write_folder(tmp_path / "x", instance, 500, tensors)
    found, wanted = read_folder(tmp_path / "x").examples(0, 500), instance.examples(0, 500)
    assert isinstance(found, Examples)
    assert (found.y == wanted.y).all()
    assert len(set(found.codes.tolist())) > 5


@given(st.lists(st.fractions(max_denominator=9), min_size=2, max_size=9))
@settings(max_examples=40, deadline=None)
def test_fourier_coefficients_give_the_profile_back(values):
    m = len(values) - 1
    found = coefficients([rational(v) for v in values])
    z = np.array(list(itertools.product((1, -1), repeat=m))).reshape(-1, m)
    for row in z[:: max(1, len(z) // 40)]:
        total = 0
        for k, c in enumerate(found):
            sets = sum(int(row[list(s)].prod()) for s in itertools.combinations(range(m), k))
            total += Fraction(int(c.p), int(c.q)) * sets
        assert total == values[int((row < 0).sum())]


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


@pytest.mark.parametrize("g", ["1", "m", "parity*parity", "h*0", "[2,2,2,2]"])
def test_a_constant_is_no_function_of_h(g):
    with pytest.raises(UsageError, match="no function of h"):
        parse(f"profile:g={g},d=9,m=3")


def test_one_member_alone_hides_nothing():
    with pytest.raises(UsageError, match="one member only"):
        parse("profile:g=majority,d=4,m=3")


def test_the_canonical_spec_is_read_back():
    for g in [*PROFILES, "[1,-1,0.5,2]", "1-2*(h>=2)", "h%2==0", "-h**2", "(h+1)*(h-1)"]:
        family = parse(f"profile:g={g},d=9,m=3")
        assert parse(family.spec) == family
        assert parse(family.spec).values == family.values
