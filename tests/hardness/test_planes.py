import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.kernels.planes import planes, where_counts
from hardness.lower import exact_gram, sampled
from hardness.lower.sums import Signs, Values
from instances import parse, tokens
from instances.streams import BitStream


@given(st.integers(1, 140), st.integers(1, 200), st.data())
@settings(max_examples=40, deadline=None)
def test_counts_on_planes_are_counts(n, d, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    x = rng.choice([-1, 1], (n, d))
    m = data.draw(st.integers(1, min(d, 40)))
    places = np.stack([rng.permutation(d)[:m] for _ in range(3)])
    wanted = rng.random(m + 1) < 0.5
    if data.draw(st.booleans()):
        wanted = wanted[np.arange(m + 1) % min(m + 1, data.draw(st.sampled_from([1, 2, 4])))]
    rows = planes(tokens.pack(x), d)
    assert (rows == tokens.pack(x.T)).all()
    found = where_counts(rows, places, wanted)
    bits = np.unpackbits(found.astype("<u8").view(np.uint8), axis=1, bitorder="little")[:, :n]
    for row, chosen in zip(bits, places, strict=True):
        assert (row == wanted[(x[:, chosen] < 0).sum(axis=1)]).all()


def test_planes_of_many_samples():
    rng = np.random.default_rng(1)
    x = rng.choice([-1, 1], (64 * 1030 - 3, 3))
    rows = planes(tokens.pack(x), 3)
    assert (rows == tokens.pack(x.T)).all()
    found = where_counts(rows, np.array([[0, 2]]), np.array([False, True, True]))
    assert (found[0] == rows[0] | rows[2]).all()


@pytest.mark.parametrize("spec", ["parity:d=70,m=5", "profile:g=majority,d=70,m=7"])
@pytest.mark.parametrize("samples", [1, 63, 64, 1000])
def test_sums_of_bits_are_the_sums_of_values(spec, samples):
    family = parse(spec)
    rng = np.random.default_rng(0)
    members = tuple(family.draw(rng) for _ in range(9))
    z = rng.integers(0, 2**63, (samples, 2), np.uint64)
    z[:, 1] &= np.uint64(63)
    for rows in (9, 4):
        bits = Signs(family, members, rows, 0.0)
        values = Values(family, members, rows, np.array([float(v) for v in family.values]))
        for part in (z[: samples // 3], z[samples // 3 :]):
            if len(part):
                bits.samples(part)
                values.samples(part)
        found, wanted = bits.value(bits.parts(), samples), values.value(values.parts(), samples)
        np.testing.assert_allclose(np.triu(found), wanted, atol=1e-9)


def test_many_values_and_two_agree_with_the_formula():
    stream = BitStream((1, 2))
    for spec in ("profile:g=h/3,d=20,m=3", "profile:g=[3,3,-1,-1],d=20,m=3"):
        family = parse(spec)
        members = ((1, 2, 3), (3, 4, 5), (1, 2, 9))
        found = sampled(
            family, members, lambda s, n: tokens.boolean(stream, s, n, 2, 20), 100_000, 0.99
        )
        wanted = exact_gram(family, members)
        assert np.abs(found.gram - wanted).max() <= found.radius
