"""Rosters drawn evenly: what holds exactly in every group, and what a roster depends on."""

import numpy as np
import pytest

from staffing.models.latin_hypercube import LatinHypercube
from staffing.models.rate_laws import GammaRates, LognormalRates, TwoPointRates

GROUPS, SIZE = 4, 50


def hypercube(law=None, seed=0):
    return LatinHypercube(law or GammaRates(2.0, 0.5), groups=GROUPS, size=SIZE, seed=seed)


@pytest.mark.parametrize("law", [GammaRates(2.0, 0.5), LognormalRates(0.1, 0.6), TwoPointRates(1.0, 0.5)])
def test_every_agents_rates_have_the_mean_of_the_law_in_every_group(law):
    rates = hypercube(law).rates(30)
    assert rates.shape == (30, GROUPS * SIZE)
    means = rates.reshape(30, GROUPS, SIZE).mean(axis=2)
    np.testing.assert_allclose(means, law.mean, rtol=1e-13)


def test_each_range_of_the_law_holds_one_rate_of_each_agent_in_each_group():
    law = GammaRates(2.0, 0.5)
    rates = np.sort(hypercube(law).rates(10).reshape(10, GROUPS, SIZE), axis=2)
    edges = law.quantile(np.arange(1, SIZE) / SIZE)
    # Division by the mean moves all rates of an agent by one factor: there is one that takes each to its range.
    least = (edges / rates[..., 1:]).max(axis=2)
    most = (edges / rates[..., :-1]).min(axis=2)
    assert np.all(least <= most)
    assert np.all((least < 1.05) & (most > 0.95))


def test_the_first_agents_do_not_depend_on_how_many_follow():
    at_once, one_by_one = hypercube(), hypercube()
    whole = at_once.rates(40).copy()
    for n in (3, 1, 17, 40):
        np.testing.assert_array_equal(one_by_one.rates(n), whole[:n])


def test_seeds_and_agents_are_independent():
    """Correlations of 200 values within five standard errors: false alarm 5e-5 in all."""
    one, two = hypercube(seed=1).rates(6), hypercube(seed=2).rates(6)
    assert not np.any(one == two)
    between = np.corrcoef(np.vstack([one, two]))[np.triu_indices(12, 1)]
    assert np.all(np.abs(between) < 5 / np.sqrt(GROUPS * SIZE))


def test_mean_capacity_over_rosters_is_exact_and_capacities_vary_as_they_should():
    """A chi-squared variance of 200 capacities: within a third, six standard errors."""
    law = GammaRates(2.0, 0.5)
    capacity = hypercube(law).rates(60).sum(axis=0)
    assert capacity.mean() == pytest.approx(120, rel=1e-13)
    assert capacity.std() == pytest.approx(2 * 0.5 * np.sqrt(60), rel=0.33)
