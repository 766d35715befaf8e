import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.kernels.planes import planes, where_counts
from instances import tokens


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
