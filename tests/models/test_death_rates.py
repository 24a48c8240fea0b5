"""Death rates of routing rules, the sums made of them, and the chain of all sets of idle agents, by other routes."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from staffing.models._kernels import (
    chain_idle_sums,
    closure_idle_sums,
    priority_death_rates,
    roster_idle_sums,
    weighted_death_rates,
)
from staffing.models.idle_sets import exact_death_rates, next_chances
from staffing.models.routing import Priority, WeightedRandom
from tests.models.plain_routing import counted_death_rates, lumped_death_rates, lumped_in_digits

LOADS = (1e-3, 0.3, 0.9, 1.2, 10.0)


def rates_of(n, seed=0):
    """Over four decades."""
    return 10 ** np.random.default_rng([n, seed]).uniform(-2, 2, n)


def lumped(rates, lam):
    out = np.empty(rates.size)
    priority_death_rates(rates, lam, out)
    return out


def by_odds(rates, odds):
    out = np.empty(rates.size)
    weighted_death_rates(rates, odds, out)
    return out


def exact(rates, lam, rule):
    return exact_death_rates(rates, lam, next_chances(rule, rates))


@pytest.mark.parametrize("n", [1, 2, 3, 8, 30])
@pytest.mark.parametrize("load", LOADS)
def test_lumping_equals_its_chains_solved_whole(n, load):
    rates = rates_of(n)
    lam = load * rates.sum()
    np.testing.assert_allclose(lumped(rates, lam), lumped_death_rates(rates, lam), rtol=1e-12)


@pytest.mark.parametrize("order", ["as they come", "fastest", "slowest"])
@pytest.mark.parametrize("load", LOADS)
def test_lumping_loses_no_digits(order, load):
    rates = rates_of(120)
    rates = {"as they come": rates, "fastest": -np.sort(-rates), "slowest": np.sort(rates)}[order]
    lam = load * rates.sum()
    with localcontext() as context:
        context.prec = 60
        known = lumped_in_digits([Decimal(float(rate)) for rate in rates], Decimal(float(lam)))
    np.testing.assert_allclose(lumped(rates, lam), [float(d) for d in known], rtol=2e-13)


@pytest.mark.parametrize("n", [1, 2, 7, 10])
@pytest.mark.parametrize("power", [-1.0, 0.0, 0.5, 1.0])
def test_odds_of_idleness_equal_the_count_of_sets(n, power):
    rates = rates_of(n)
    odds = rates ** (1 - power)
    np.testing.assert_allclose(by_odds(rates, odds), counted_death_rates(rates, odds), rtol=1e-12)


@pytest.mark.parametrize("n", [2, 40, 2000])
@pytest.mark.parametrize("load", LOADS)
def test_odds_equal_to_the_rates_are_the_exact_roster(n, load):
    rates = np.random.default_rng(n).exponential(1.0, n) + 1e-3
    lam = load * rates.sum()
    full, total, idle = chain_idle_sums(by_odds(rates, rates), lam)
    known = roster_idle_sums(rates, lam)
    np.testing.assert_allclose(idle / total, known[2] / known[1], rtol=1e-10)
    if load > 0.1:
        np.testing.assert_allclose(full / total, known[0] / known[1], rtol=1e-9, atol=1e-290)


@pytest.mark.parametrize("n", [1, 5, 2000])
@pytest.mark.parametrize("load", LOADS)
def test_equal_rates_are_as_good_as_one_another(n, load):
    """Whatever the rule: S (n - i) / n."""
    rates = np.full(n, 0.7)
    plain = rates.sum() * (n - np.arange(n)) / n
    np.testing.assert_allclose(lumped(rates, load * rates.sum()), plain, rtol=1e-11)
    np.testing.assert_allclose(by_odds(rates, rates**0.3), plain, rtol=1e-11)


@pytest.mark.parametrize("load", [1e-3, 0.5, 1.0, 10.0])
@pytest.mark.parametrize("sign", [-1, 1])
def test_two_thousand_agents_over_four_decades(load, sign):
    rates = sign * np.sort(sign * rates_of(2000))
    deaths = lumped(rates, load * rates.sum())
    assert deaths[0] == pytest.approx(rates.sum(), rel=1e-12)
    assert (np.diff(deaths) <= 1e-12 * deaths[:-1]).all()
    assert rates.min() * (1 - 1e-9) <= deaths[-1] <= rates.max() * (1 + 1e-9)
    # The busy are at least as slow as the slowest, at most as fast as the fastest.
    ascending = np.sort(rates)
    assert (deaths >= ascending.cumsum()[::-1] * (1 - 1e-9)).all()
    assert (deaths <= ascending[::-1].cumsum()[::-1] * (1 + 1e-9)).all()


@pytest.mark.parametrize("n", [1, 3, 50, 900])
@pytest.mark.parametrize("load", [1e-6, *LOADS, 50.0])
def test_sums_of_a_chain_are_those_of_the_closure(n, load):
    s, c2 = 1.3 * n, 0.3
    i = np.arange(n)
    found = chain_idle_sums(s * (n - i) / (n + i * c2), load * s)
    known = closure_idle_sums(n, s, c2, load * s)
    np.testing.assert_allclose(found[2] / found[1], known[2] / known[1], rtol=1e-12)
    np.testing.assert_allclose(found[0] / found[1], known[0] / known[1], rtol=1e-12, atol=1e-290)


def test_sums_term_by_term():
    deaths, lam = [Fraction(9, 2), Fraction(3), Fraction(1, 4)], Fraction(2)
    weights = [Fraction(1)]
    for death in deaths:
        weights.append(weights[-1] * death / lam)
    found = chain_idle_sums(np.array(deaths, float), 2.0)
    known = (1.0, float(sum(weights[1:])), float(sum(i * a for i, a in enumerate(weights))))
    assert found == pytest.approx(known, rel=1e-15)


# --- the chain of all sets ---


@pytest.mark.parametrize("load", LOADS)
def test_two_agents_are_lumped_exactly(load):
    rates = np.array([3.0, 0.01])
    for order in ((0, 1), (1, 0)):
        lam = load * rates.sum()
        known = exact(rates, lam, Priority(order))
        np.testing.assert_allclose(lumped(rates[list(order)], lam), known, rtol=1e-13)


@pytest.mark.parametrize("n", [1, 2, 5, 9])
@pytest.mark.parametrize("load", LOADS)
def test_random_routing_by_sets_is_the_exact_roster(n, load):
    rates = rates_of(n)
    found = exact(rates, load * rates.sum(), "random")
    np.testing.assert_allclose(found, by_odds(rates, rates), rtol=1e-11)


@pytest.mark.parametrize("load", LOADS)
def test_weights_that_do_not_differ_are_random(load):
    rates = rates_of(6)
    one = exact(rates, load * rates.sum(), WeightedRandom(1e-9))
    two = exact(rates, load * rates.sum(), "random")
    np.testing.assert_allclose(one, two, rtol=1e-7)


@pytest.mark.slow
def test_twelve_agents_take_their_4096_sets():
    rates = np.random.default_rng(12).gamma(10, 0.1, 12)
    fast = exact(rates, rates.sum(), "fastest-first")
    slow = exact(rates, rates.sum(), "slowest-first")
    assert (fast >= slow * (1 - 1e-12)).all(), "where slow agents are idle, fast ones are busy"
    # Far from "all busy" death rates are off by a tenth; few calls find so many idle, and the sums are off by little.
    for order, known in ((-np.sort(-rates), fast), (np.sort(rates), slow)):
        full, total, _ = chain_idle_sums(known, rates.sum())
        found = chain_idle_sums(lumped(order, rates.sum()), rates.sum())
        assert found[1] / found[0] == pytest.approx(total / full, rel=0.01)
