"""Prompts and covariances: moments are as stated, cuts leave no trace."""

import numpy as np
import pytest

from hardness.icl.prompts import Prompts, covariance, positive, root
from instances import UsageError

LAW = Prompts.named(2, 3, "rotated(1,4)", "toeplitz(0.5)", 2.0)


def test_named_covariances_by_hand():
    assert covariance("power(1)", 3, "sigma").tolist() == np.diag([1, 1 / 2, 1 / 3]).tolist()
    assert covariance("toeplitz(0.5)", 3, "sigma")[0].tolist() == [1, 0.5, 0.25]
    turned = covariance("rotated(1,4)", 2, "sigma")
    assert np.linalg.eigvalsh(turned) == pytest.approx([1, 4])
    assert abs(turned[0, 1]) > 1e-3
    inverse = Prompts.named(2, 3, "rotated(1,4)", "inverse", 0.0)
    assert inverse.sigma @ inverse.task == pytest.approx(np.eye(2), abs=1e-12)
    assert root(turned, 0.5) @ root(turned, 0.5) == pytest.approx(turned)


@pytest.mark.parametrize("values", [[1, -1], [-2, -1], [0, 1], [1, 1e13]])
def test_what_is_no_covariance_of_full_rank_is_refused(values):
    with pytest.raises(UsageError, match=r"positive definite|condition"):
        positive(np.diag(values), 2, "sigma")


def test_moments_of_prompts():
    """Covariances of x and w, and the part of y that is not <w, x>: noise of deviation 2."""
    part = LAW.draw(0, "moments", 0, 100_000)
    assert np.cov(part.x[:, -1].T) == pytest.approx(LAW.sigma, abs=0.06)
    assert np.cov(part.w.T) == pytest.approx(LAW.task, abs=0.03)
    off = part.y - np.einsum("cij,cj->ci", part.x[:, :-1], part.w)
    assert off.std() == pytest.approx(2.0, rel=0.01)
    assert part.target == pytest.approx(np.einsum("ci,ci->c", part.x[:, -1], part.w))
    one = np.hstack([part.x.reshape(len(part), -1), part.w, off])
    apart = np.corrcoef(one.T)
    blocks = np.zeros((13, 13), bool)
    for start, stop in ((0, 2), (2, 4), (4, 6), (6, 8), (8, 10), (10, 11), (11, 12), (12, 13)):
        blocks[start:stop, start:stop] = True
    assert np.abs(apart[~blocks]).max() < 0.02  # points, tasks and noise are independent
    assert part.gram[7] == pytest.approx(part.x[7, :-1].T @ part.x[7, :-1] / 3)


def test_axes_and_seeds_are_streams_of_their_own_and_cuts_leave_no_trace():
    whole = LAW.draw(0, "train", 0, 10)
    cut = LAW.draw(0, "train", 4, 6)
    for name in ("x", "y", "w", "target"):
        assert (getattr(whole, name)[4:] == getattr(cut, name)).all()
    for other in (LAW.draw(0, "fresh", 0, 10), LAW.draw(1, "train", 0, 10)):
        assert not np.intersect1d(whole.x, other.x).size
        assert not np.intersect1d(whole.w, other.w).size
