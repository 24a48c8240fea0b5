"""The gamma law of rates and of capacity: against scipy and 30 digits, and the rosters drawn from it."""

import math

import mpmath
import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr, ndtri
from scipy.stats import norm

from staffing.models.errors import ScenarioError
from staffing.models.rate_laws import GammaRates


def gamma_tail(shape, x, *, upper):
    """The chance beyond x, in 30 digits; where shape is large from the density over 14 standard deviations."""
    with mpmath.workdps(30):
        shape, x = mpmath.mpf(shape), mpmath.mpf(x)
        if shape < 1e4:
            ends = (x, mpmath.inf) if upper else (0, x)
            return float(mpmath.gammainc(shape, *ends, regularized=True))
        nodes = mpmath.calculus.quadrature.GaussLegendre(mpmath.mp).get_nodes(-1, 1, 4, mpmath.mp.prec)
        scale = -mpmath.loggamma(shape)
        half = mpmath.sqrt(shape) / 2 * (1 if upper else -1)
        return float(
            sum(
                abs(half) * weight * mpmath.exp(scale + (shape - 1) * mpmath.log(u) - u)
                for k in range(14)
                for node, weight in nodes
                for u in [x + half * (2 * k + 1 + node)]
            )
        )


@pytest.mark.parametrize(("n", "cv"), [(1, 0.2), (1, 1.5), (5, 0.5), (60, 0.2), (1000, 0.1), (2000, 1.0)])
def test_capacity_is_gamma_with_the_moments_of_a_sum(n, cv):
    law = GammaRates(0.3, cv)
    z = np.linspace(-8, 8, 3201)
    capacity = law.capacity_at_score(n, z)
    density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * (z[1] - z[0])
    mean = density @ capacity
    assert mean == pytest.approx(0.3 * n, rel=1e-9)
    assert density @ (capacity - mean) ** 2 == pytest.approx(n * (0.3 * cv) ** 2, rel=1e-8)


@pytest.mark.parametrize(("n", "cv"), [(1, 0.2), (1, 2.0), (7, 0.5), (60, 0.2), (400, 1.0), (3000, 0.06)])
@pytest.mark.parametrize("z", [-7.5, -4.0, -1.0, 0.0, 0.3, 2.0, 5.0, 7.5])
def test_quantiles_of_capacity_in_both_tails(n, cv, z):
    """To 1e-11 of the chance in the nearer tail, by 30-digit incomplete gamma functions."""
    law = GammaRates(2.0, cv)
    (capacity,) = law.capacity_at_score(n, np.array([z]))
    tail = gamma_tail(n / cv**2, mpmath.mpf(float(capacity)) / mpmath.mpf(2 * cv**2), upper=z >= 0)
    # What a relative error of 1e-12 in capacity makes of the chance bounds what may be asked of it.
    slack = 1e-12 * float(stats.gamma.pdf(capacity, n / cv**2, scale=2 * cv**2)) * capacity
    assert tail == pytest.approx(ndtr(-abs(z)), rel=1e-11, abs=slack)
    assert law.score(n, float(capacity)) == pytest.approx(z, abs=1e-8)
    assert law.capacity_cdf(n, float(capacity)) == pytest.approx(ndtr(z), rel=1e-8)


@pytest.mark.parametrize("z", [-7.5, -6.0, -2.5, 0.0, 1.0, 4.0])
@pytest.mark.parametrize("shape", [0.999e4, 1.001e4, 1e5, 1e6, 1e8])
def test_the_expansion_for_large_shapes_and_the_inverse_before_it(z, shape):
    """An error of e in capacity is one of e sqrt(shape) in the score, to which the chances answer.

    The expansion keeps e below 1e-11, scipy's inverse below it hardly more.
    """
    cv = math.sqrt(100 / shape)
    (capacity,) = GammaRates(1.0, cv).capacity_at_score(100, np.array([z]))
    chance = gamma_tail(100 / cv**2, mpmath.mpf(float(capacity)) / mpmath.mpf(cv**2), upper=z >= 0)
    error = 1e-11 if shape > 1e4 else 2e-11
    slope = norm.pdf(z) / norm.cdf(-abs(z))
    assert chance / ndtr(-abs(z)) == pytest.approx(1, abs=error * math.sqrt(shape) * slope + 1e-9)


def test_the_expansion_is_monotone_and_does_not_fail_where_agents_hardly_differ():
    z = np.linspace(-8, 8, 161)
    for cv in (1e-3, 1e-5, 1e-8):
        capacity = GammaRates(1.0, cv).capacity_at_score(50, z)
        assert np.all(np.diff(capacity) > 0)
        assert capacity[80] == pytest.approx(50, rel=cv**2 + 1e-15)
        np.testing.assert_allclose((capacity - 50) / (cv * math.sqrt(50)), z, atol=10 * cv + 1e-5)


@pytest.mark.parametrize("agents", [0, 1, 12])
def test_agents_who_do_not_differ(agents):
    law = GammaRates(1.5, 0.0)
    np.testing.assert_array_equal(law.capacity_at_score(agents, np.array([-3.0, 0.0, 9.0])), 1.5 * agents)
    assert law.capacity_cdf(agents, 1.5 * agents) == 1
    assert law.capacity_cdf(agents, 1.5 * agents - 1e-9) == 0
    np.testing.assert_array_equal(law.rosters(agents, 3, np.random.default_rng(0)), np.full((3, agents), 1.5))


def test_nobody_has_no_capacity():
    law = GammaRates(1.5, 0.4)
    np.testing.assert_array_equal(law.capacity_at_score(0, np.array([-1.0, 2.0])), 0)
    assert law.capacity_cdf(0, 0.0) == 1
    assert law.rosters(0, 4, np.random.default_rng(0)).shape == (4, 0)


def test_capacity_below_zero_has_no_chance():
    assert GammaRates(1.0, 0.4).capacity_cdf(5, -3.0) == 0
    assert GammaRates(1.0, 0.4).score(5, -3.0) == -math.inf


@pytest.mark.parametrize("strata", [False, True])
@pytest.mark.parametrize(("n", "cv"), [(1, 0.6), (12, 0.2), (12, 1.2)])
def test_rosters_are_drawn_from_the_law(n, cv, strata):
    """Each agent's rate and the capacity by Kolmogorov and Smirnov, 8000 rosters: false alarm 1e-4 each."""
    rates = GammaRates(0.7, cv).rosters(n, 8000, np.random.default_rng(8), strata=strata)
    assert rates.shape == (8000, n)
    assert np.all(rates > 0)
    one = stats.gamma(1 / cv**2, scale=0.7 * cv**2)
    for k in {0, n - 1}:
        assert stats.kstest(rates[:, k], one.cdf).pvalue > 1e-4
    capacity = stats.gamma(n / cv**2, scale=0.7 * cv**2)
    assert stats.kstest(rates.sum(axis=1), capacity.cdf).pvalue > 1e-4
    if n > 1:
        # Independent agents: correlation 0 with standard error 1 / sqrt(8000); 4 of them.
        assert abs(np.corrcoef(rates[:, 0], rates[:, 1])[0, 1]) < 4 / math.sqrt(8000)


def test_strata_put_one_roster_in_each_range_in_random_order():
    n, cv, size = 9, 0.4, 500
    rates = GammaRates(2.0, cv).rosters(n, size, np.random.default_rng(3), strata=True)
    u = stats.gamma.cdf(rates.sum(axis=1), n / cv**2, scale=2 * cv**2)
    ranges = np.floor(u * size).astype(int)
    np.testing.assert_array_equal(np.sort(ranges), np.arange(size))
    assert abs(np.corrcoef(ranges, np.arange(size))[0, 1]) < 4 / math.sqrt(size)


def test_strata_average_capacity_much_better():
    """The error of a mean over 400 strata is about 1/400 that of plain draws over 20; a tenth is asserted."""
    law = GammaRates(1.0, 0.5)
    means = {
        strata: [
            law.rosters(6, 400, np.random.default_rng(k), strata=strata).sum(axis=1).mean() for k in range(40)
        ]
        for strata in (False, True)
    }
    assert np.std(means[True]) < np.std(means[False]) / 10
    assert np.mean(means[True]) == pytest.approx(6, abs=4 * np.std(means[True]) / math.sqrt(40))


def test_the_same_generator_draws_the_same_rosters():
    law = GammaRates(1.0, 0.5)
    one, two = (law.rosters(3, 5, np.random.default_rng(1), strata=True) for _ in range(2))
    np.testing.assert_array_equal(one, two)


def test_scores_far_out_are_accurate():
    """A capacity with a chance of 1e-12 in either tail has the score of that chance."""
    law = GammaRates(1.0, 0.3)
    shape = 20 / 0.09
    high, low = stats.gamma.isf(1e-12, shape, scale=0.09), stats.gamma.ppf(1e-12, shape, scale=0.09)
    assert law.score(20, high) == pytest.approx(-ndtri(1e-12), rel=1e-9)
    assert law.score(20, low) == pytest.approx(ndtri(1e-12), rel=1e-9)


@pytest.mark.parametrize("cv", [1e-10, 1e-170, 5e-324])
def test_a_spread_too_small_to_tell_is_none(cv):
    law = GammaRates(1.0, cv)
    assert law.alike
    assert (law.capacity_cdf(5, 6.0), law.capacity_cdf(5, 4.0)) == (1, 0)
    assert not GammaRates(1.0, 1e-8).alike


@pytest.mark.parametrize(
    ("mean", "cv", "words"),
    [
        (0.0, 0.2, "mean: 0.0"),
        (-1.0, 0.2, "mean: -1.0"),
        (math.inf, 0.2, "mean: inf"),
        (math.nan, 0.2, "mean: nan"),
        ("fast", 0.2, "mean: 'fast'"),
        (True, 0.2, "mean: True"),
        (1.0, -0.2, "cv: -0.2"),
        (1.0, math.inf, "cv: inf"),
        (1.0, math.nan, "cv: nan"),
        (1.0, None, "cv: None"),
    ],
)
def test_bad_laws_are_refused(mean, cv, words):
    with pytest.raises(ScenarioError, match=words):
        GammaRates(mean, cv)
