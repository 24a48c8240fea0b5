"""The laws of rates that are not gamma: their moments, quantiles, draws, and what the capacity's law misses."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from staffing.models.errors import ScenarioError
from staffing.models.rate_laws import (
    GammaRates,
    LognormalRates,
    ObservedRates,
    TwoPointRates,
    UniformRates,
)

OBSERVED = (12.0, 18.5, 21.0, 21.0, 24.2, 30.0, 9.5)
LAWS = [
    GammaRates(2.0, 0.3),
    LognormalRates(2.0, 0.6),
    UniformRates(2.0, 0.4),
    TwoPointRates(2.0, 0.5),
    ObservedRates(OBSERVED),
]
each_law = pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)

# Three million midpoints: the tails of the lognormal law are what limits the moments below.
MIDPOINTS = (np.arange(3_003_000) + 0.5) / 3_003_000


@each_law
def test_moments_are_those_of_the_quantile_function(law):
    rates = law.quantile(MIDPOINTS)
    deviation = (rates - law.mean) / (law.cv * law.mean)
    assert rates.mean() == pytest.approx(law.mean, rel=1e-6)
    assert (deviation**2).mean() == pytest.approx(1, rel=1e-4)
    assert (deviation**3).mean() == pytest.approx(law.skewness, rel=2e-3, abs=1e-9)
    assert (deviation**4).mean() - 3 == pytest.approx(law.excess_kurtosis, rel=2e-2)
    assert rates.min() >= law.lowest
    assert rates.max() <= law.highest


@pytest.mark.parametrize("cv", [0.05, 0.3, 0.57])
def test_quantiles_by_scipy(cv):
    u = np.array([1e-12, 1e-6, 0.01, 0.3, 0.5, 0.77, 0.999, 1 - 1e-9])
    sigma = math.sqrt(math.log1p(cv**2))
    for law, known, error in (
        (GammaRates(3.0, cv), stats.gamma(1 / cv**2, scale=3 * cv**2), 1e-6),
        (LognormalRates(3.0, cv), stats.lognorm(sigma, scale=3 / math.sqrt(1 + cv**2)), 1e-12),
        (UniformRates(3.0, cv), stats.uniform(3 - 3 * math.sqrt(3) * cv, 6 * math.sqrt(3) * cv), 1e-12),
    ):
        np.testing.assert_allclose(law.quantile(u), known.ppf(u), rtol=error)


def test_the_table_of_gamma_quantiles_holds_for_agents_who_differ_widely():
    u = np.random.default_rng(1).random(10_000)
    for cv in (1e-3, 0.2, 1.0, 2.0):
        np.testing.assert_allclose(
            GammaRates(1.0, cv).quantile(u), stats.gamma.ppf(u, 1 / cv**2, scale=cv**2), rtol=2e-6
        )


def test_observed_rates_are_resampled_evenly():
    law = ObservedRates(OBSERVED)
    assert law.mean == pytest.approx(np.mean(OBSERVED))
    assert law.cv == pytest.approx(np.std(OBSERVED) / np.mean(OBSERVED))
    drawn = law.quantile((np.arange(70) + 0.5) / 70)
    assert sorted(drawn) == sorted(10 * OBSERVED)


@each_law
@pytest.mark.parametrize("strata", [False, True])
def test_rosters_have_the_moments_of_the_law_and_no_ties_between_agents(law, strata):
    """40,000 rosters of 3; five standard errors, false alarm 1e-5 in all."""
    size = 40_000
    rates = law.rosters(3, size, np.random.default_rng(7), strata=strata)
    assert rates.shape == (size, 3)
    spread = law.cv * law.mean
    np.testing.assert_allclose(rates.mean(axis=0), law.mean, atol=5 * spread / math.sqrt(size))
    error = spread * math.sqrt((law.excess_kurtosis + 2) / 4 / size)
    np.testing.assert_allclose(rates.std(axis=0), spread, atol=5 * error + 1e-4)
    correlation = np.corrcoef(rates.T)[np.triu_indices(3, 1)]
    np.testing.assert_allclose(correlation, 0, atol=5 / math.sqrt(size))


@pytest.mark.parametrize("law", LAWS[1:], ids=lambda law: type(law).__name__)
def test_strata_put_each_agents_rates_one_in_each_range(law):
    rates = law.rosters(5, 70, np.random.default_rng(3), strata=True)
    edges = law.quantile(np.clip(np.arange(71) / 70, 1e-300, 1 - 1e-16))
    for column in np.sort(rates, axis=0).T:
        assert np.all(column >= edges[:-1] * (1 - 1e-12))
        assert np.all(column <= edges[1:] * (1 + 1e-12))
    orders = np.argsort(rates, axis=0).T
    assert len({tuple(order) for order in orders}) == 5


@each_law
@pytest.mark.parametrize("n", [1, 4, 60])
def test_capacity_has_the_mean_and_variance_of_a_sum_and_its_chances_keep_its_range(law, n):
    z = np.linspace(-8, 8, 6401)
    weights = np.exp(-z * z / 2)
    weights /= weights.sum()
    capacity = law.capacity_at_score(n, z)
    assert np.all(np.diff(capacity) >= 0)
    assert weights @ capacity == pytest.approx(n * law.mean, rel=1e-9)
    spread = math.sqrt(weights @ capacity**2 - (weights @ capacity) ** 2)
    assert spread == pytest.approx(math.sqrt(n) * law.cv * law.mean, rel=1e-6)
    assert law.capacity_cdf(n, n * law.lowest * 0.999 - 1e-9) == 0
    assert law.capacity_cdf(n, min(n * law.highest, 1e9)) == pytest.approx(1)


def irwin_hall(n, x):
    """P(sum of n uniform variables on [0, 1] <= x), exactly."""
    x = Fraction(x)
    total = sum((-1) ** k * math.comb(n, k) * (x - k) ** n for k in range(math.floor(x) + 1))
    return float(total / math.factorial(n))


def test_what_the_law_of_capacity_misses_shrinks_like_the_root_of_the_head_count():
    """Uniform rates, whose sums are known exactly: the third moment is wrong, a term of order 1 / sqrt(n)."""
    law = UniformRates(1.0, 0.4)
    width = law.highest - law.lowest

    def largest_error(n):
        z = np.linspace(-3, 3, 41)
        capacities = n * law.mean + z * math.sqrt(n) * law.cv * law.mean
        known = [irwin_hall(n, (c - n * law.lowest) / width) for c in capacities]
        return max(abs(law.capacity_cdf(n, c) - p) for c, p in zip(capacities, known, strict=True))

    errors = [largest_error(n) for n in (16, 64, 256)]
    exponents = [math.log(a / b) / math.log(4) for a, b in pairwise(errors)]
    assert exponents[-1] == pytest.approx(0.5, abs=0.02)
    assert errors[0] < 0.02


def test_the_capacity_of_agents_at_two_points_is_binomial():
    law = TwoPointRates(1.0, 0.5)
    for n in (1, 2, 7, 30):
        for fast in range(n + 1):
            capacity = 0.5 * (n - fast) + 1.5 * fast
            assert law.capacity_cdf(n, capacity) == pytest.approx(stats.binom.cdf(fast, n, 0.5), rel=1e-12)
            assert law.capacity_cdf(n, capacity - 1e-6) == pytest.approx(
                stats.binom.cdf(fast - 1, n, 0.5), rel=1e-12
            )


@pytest.mark.parametrize(
    "law", [LognormalRates(2.0, 0), UniformRates(2.0, 0), TwoPointRates(2.0, 0), ObservedRates((2.0,))]
)
def test_agents_who_do_not_differ(law):
    assert law.alike
    assert np.all(law.rosters(4, 3, np.random.default_rng(0), strata=True) == 2)
    assert np.all(law.capacity_at_score(4, np.linspace(-3, 3, 7)) == 8)
    assert (law.capacity_cdf(4, 7.99), law.capacity_cdf(4, 8.0)) == (0, 1)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: UniformRates(1.0, 0.578), "0.578.*at most.*0.577"),
        (lambda: TwoPointRates(1.0, 1.0), "1.0.*below 1"),
        (lambda: LognormalRates(0.0, 0.2), "mean: 0.0"),
        (lambda: ObservedRates(()), "at least one"),
        (lambda: ObservedRates((1.0, 0.0)), r"rates\[1\]: 0.0"),
        (lambda: ObservedRates((1.0, math.inf)), r"rates\[1\]: inf"),
        (lambda: ObservedRates((math.nan,)), r"rates\[0\]: nan"),
    ],
)
def test_laws_that_cannot_be_are_refused(make, words):
    with pytest.raises(ScenarioError, match=words):
        make()
