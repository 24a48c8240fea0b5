"""Weights of the idle states against exact arithmetic: the gamma closure's recursion, symmetric polynomials."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from staffing.models._kernels import closure_idle_sums, roster_idle_sums
from tests.models.plain_sums import closure_weights, roster_shares_by_integral, roster_weights

LOADS = (1e-6, 0.05, 0.5, 0.9, 1.0, 1.1, 2.0, 50.0)
"""lam / S."""


def shares(full, total, idle):
    """P(all busy), E[idle agents; some idle], had the queue no room."""
    return full / (full + total), idle / (full + total)


def exact_shares(weights):
    total = sum(weights[1:])
    idle = sum(i * a for i, a in enumerate(weights))
    return [
        float(value) if isinstance(value, Decimal) else value.numerator / value.denominator
        for value in shares(weights[0], total, idle)
    ]


def gamma_rates(n, cv, seed):
    """Rates that are multiples of 1/64, so that sums and products of them are exact."""
    shape = 1 / cv**2
    rates = np.random.default_rng(seed).gamma(shape, 1 / shape, n)
    return tuple(Fraction(max(round(64 * rate), 1), 64) for rate in rates)


@pytest.mark.parametrize("n", [1, 2, 7, 60, 900])
@pytest.mark.parametrize("c2", [0.0, 0.04, 1.0, 25.0])
@pytest.mark.parametrize("load", LOADS)
def test_closure_equals_its_recursion(n, c2, load):
    s = 1.3 * n
    lam = load * s
    found = shares(*closure_idle_sums(n, s, c2, lam))
    np.testing.assert_allclose(found, exact_shares(closure_weights(n, s, c2, lam)), rtol=1e-13, atol=1e-290)


@pytest.mark.parametrize(
    ("n", "load", "c2"), [(100_000, 0.99, 0.0), (100_000, 1.0, 0.04), (20_000, 1.2, 0.3)]
)
def test_closure_at_large_loads(n, load, c2):
    found = shares(*closure_idle_sums(n, 0.7 * n, c2, load * 0.7 * n))
    exact = exact_shares(closure_weights(n, 0.7 * n, c2, load * 0.7 * n))
    np.testing.assert_allclose(found, exact, rtol=1e-12)


def test_closure_of_nobody_and_of_agents_who_never_finish():
    assert closure_idle_sums(0, 0.0, 0.04, 3.0) == (1.0, 0.0, 0.0)
    assert closure_idle_sums(5, 0.0, 0.04, 3.0) == (1.0, 0.0, 0.0)


@pytest.mark.parametrize("n", [1, 2, 8, 60, 200])
@pytest.mark.parametrize("cv", [0.2, 1.0])
@pytest.mark.parametrize("load", LOADS)
def test_roster_equals_exact_symmetric_polynomials(n, cv, load):
    rates = gamma_rates(n, cv, seed=n)
    lam = Fraction(round(load * 2**30), 2**30) * sum(rates)
    found = shares(*roster_idle_sums(np.array(rates, dtype=float), float(lam)))
    np.testing.assert_allclose(
        found, exact_shares(roster_weights(rates, Fraction(float(lam)))), rtol=1e-12, atol=1e-290
    )


@pytest.mark.parametrize(
    "rates",
    [
        (Fraction(4096), *[Fraction(1, 64)] * 79),
        tuple([Fraction(1, 64)] * 40 + [Fraction(64)] * 40),
        tuple([Fraction(64)] * 40 + [Fraction(1, 64)] * 40),
        tuple(Fraction(2**k, 64) for k in range(40)),
    ],
    ids=["one very fast", "slow then fast", "fast then slow", "powers of two"],
)
@pytest.mark.parametrize("load", [1e-4, 0.01, 0.5, 0.99, 1.0, 1.5])
def test_rosters_of_very_unequal_agents(rates, load):
    lam = load * float(sum(rates))
    found = shares(*roster_idle_sums(np.array(rates, dtype=float), lam))
    np.testing.assert_allclose(
        found, exact_shares(roster_weights(rates, Fraction(lam))), rtol=1e-12, atol=1e-290
    )


@pytest.mark.parametrize("n", [3, 300, 3000])
@pytest.mark.parametrize("load", [load for load in LOADS if load < 10])
def test_equal_rates_are_the_closure_without_spread(n, load):
    rates = np.full(n, 0.4)
    lam = load * rates.sum()
    np.testing.assert_allclose(
        shares(*roster_idle_sums(rates, lam)),
        shares(*closure_idle_sums(n, rates.sum(), 0.0, lam)),
        rtol=1e-11,
        atol=1e-50,
    )


def test_one_agent_and_nobody():
    assert shares(*roster_idle_sums(np.array([2.0]), 3.0)) == pytest.approx((0.6, 0.4), rel=1e-15)
    assert shares(*closure_idle_sums(1, 2.0, 0.7, 3.0)) == pytest.approx((0.6, 0.4), rel=1e-15)
    assert roster_idle_sums(np.array([]), 3.0) == (1.0, 0.0, 0.0)


@pytest.mark.parametrize("lam", [1e-3, 5.0, 1500.0, 1990.0, 2100.0, 2e4])
def test_two_thousand_agents_in_any_order(lam):
    rates = np.random.default_rng(2).exponential(1.0, 2000)
    expected = roster_shares_by_integral(rates, lam)
    for order in (rates, rates[::-1].copy(), np.sort(rates)):
        np.testing.assert_allclose(shares(*roster_idle_sums(order, lam)), expected, rtol=1e-11, atol=1e-50)


@pytest.mark.parametrize("load", [0.5, 0.95, 1.0, 1.3, 20.0])
def test_the_integral_is_the_sum(load):
    rates = gamma_rates(60, 0.6, seed=1)
    lam = load * float(sum(rates))
    exact = exact_shares(roster_weights(rates, Fraction(lam)))
    np.testing.assert_allclose(
        roster_shares_by_integral(np.array(rates, dtype=float), lam), exact, rtol=1e-12
    )


@pytest.mark.parametrize(("n", "load"), [(20_000, 0.95), (20_000, 1.0), (50_000, 0.98), (50_000, 1.0)])
def test_very_large_rosters(n, load):
    rates = np.ones(n)
    expected = shares(*closure_idle_sums(n, n, 0.0, load * n))
    np.testing.assert_allclose(shares(*roster_idle_sums(rates, load * n)), expected, rtol=1e-9)


@pytest.mark.parametrize(("n", "load"), [(100, 1e4), (300, 100.0), (2000, 30.0), (5000, 12.0)])
def test_rosters_far_below_the_load(n, load):
    rates = np.random.default_rng(n).gamma(4.0, 0.25, n)
    lam = load * rates.sum()
    found = shares(*roster_idle_sums(rates, lam))
    np.testing.assert_allclose(found, roster_shares_by_integral(rates, lam), rtol=1e-9)
