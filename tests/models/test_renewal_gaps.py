"""Gaps between calls: their moments by quadrature, their ends, and what they are at scv 0, 1 and 1 / k."""

import numpy as np
import pytest
from scipy.special import gammaincinv

from staffing.models.errors import ScenarioError
from staffing.models.renewal_gaps import RenewalGaps


def moments(gaps):
    """E[T], E[T^2], E[T^3] over u = 1 / (1 + exp(-score)); the far tail needs 1 - u, so that scv is kept below 30."""
    score = np.linspace(-36, 36, 20_001)
    u = 1 / (1 + np.exp(-score))
    t = gaps.at(u)
    return [np.trapezoid(t**power * u / (1 + np.exp(score)), score) for power in (1, 2, 3)]


@pytest.mark.parametrize(
    "scv", [0.0, 1e-6, 0.01, 0.05, 0.0725, 0.25, 0.3, 0.5, 0.7, 0.99, 1.0, 1.0001, 1.5, 4.0, 25.0]
)
def test_mean_variance_and_third_moment(scv):
    gaps = RenewalGaps(scv)
    mean, second, third = moments(gaps)
    assert mean == pytest.approx(1.0, abs=1e-8)
    assert second - 1 == pytest.approx(scv, rel=1e-6, abs=1e-9)
    assert third == pytest.approx(gaps.third_moment, rel=1e-5)


@pytest.mark.parametrize("scv", [30.0, 100.0])
def test_moments_of_heavy_bursts(scv):
    share, fast, slow = RenewalGaps(scv).mixture
    assert share / fast + (1 - share) / slow == pytest.approx(1.0, rel=1e-14)
    assert 2 * (share / fast**2 + (1 - share) / slow**2) - 1 == pytest.approx(scv, rel=1e-12)
    assert share / fast == pytest.approx(0.5, rel=1e-14)


@pytest.mark.parametrize("scv", [1e-7, 0.02, 0.4, 1.0, 3.0, 100.0])
def test_gaps_grow_from_nothing_without_end(scv):
    u = np.array([0.0, 1e-300, 1e-12, 1e-3, 0.3, 0.4999999, 0.5, 0.5000001, 0.9, 1 - 1e-9, 1 - 1e-16])
    t = RenewalGaps(scv).at(u)
    assert np.isfinite(t).all()
    assert t[0] == 0.0
    assert (np.diff(t) >= 0).all()
    assert (np.diff(t[3:]) > 0).all()


@pytest.mark.parametrize("scv", [1.5, 20.0, 100.0])
def test_gaps_undo_the_share_of_longer_ones(scv):
    gaps = RenewalGaps(scv)
    share, fast, slow = gaps.mixture
    u = np.array([1e-9, 0.2, 0.7, 1 - 1e-6])
    t = gaps.at(u)
    np.testing.assert_allclose(
        -share * np.expm1(-fast * t) - (1 - share) * np.expm1(-slow * t), u, rtol=1e-12
    )


@pytest.mark.parametrize("k", [2, 5, 20])
def test_one_over_k_is_erlang(k):
    u = np.linspace(0.001, 0.999, 101)
    np.testing.assert_allclose(RenewalGaps(1 / k).at(u), gammaincinv(k, u) / k, rtol=1e-7)


@pytest.mark.parametrize("scv", [-0.1, float("nan"), float("inf"), "1"])
def test_what_is_no_scv_is_refused(scv):
    with pytest.raises(ScenarioError, match="scv"):
        RenewalGaps(scv)
