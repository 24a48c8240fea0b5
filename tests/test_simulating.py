"""Rosters that levels have in common. Tests of chance fail with probability 1e-4 or less, for a random seed."""

import math
import os

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammainc

from staffing.models.drawn_agents import DrawnAgents
from staffing.models.rate_laws import GammaRates
from staffing.models.shared_queue import Callers
from staffing.simulating import cores, simulation_of

AROUND = 6


def model(cv=0.4, lam=4.0, theta=0.5):
    return DrawnAgents(Callers(lam, theta, 0.1, "minute"), GammaRates(2.0, cv))


def simulation(agents=AROUND, around=AROUND, seed=5, **changes):
    return simulation_of(model(**changes), agents, around=around, seed=seed)


@pytest.fixture(scope="module")
def drawn():
    """Rosters of 600 batches at the largest level: shape (600, rosters in a batch, agents)."""
    largest = simulation(AROUND + 1)
    return np.array([largest._rosters_of(batch) for batch in range(600)])


@pytest.mark.parametrize("agents", range(AROUND + 1))
@pytest.mark.parametrize("batch", [0, 1, 17])
def test_a_level_s_rosters_are_the_first_agents_of_the_largest_level_s(drawn, agents, batch):
    own = simulation(agents)._rosters_of(batch)
    assert own.shape == (drawn.shape[1], agents)
    np.testing.assert_array_equal(own, drawn[batch, :, :agents])


def test_levels_serve_the_same_callers_for_equally_long():
    runs = [simulation(agents) for agents in (AROUND - 1, AROUND, AROUND + 1)]
    assert len({(run.rosters_per_batch, run.calls_per_roster) for run in runs}) == 1
    assert len({run._seeds(3)[1] for run in runs}) == 1


def test_batches_and_seeds_have_rosters_of_their_own(drawn):
    assert np.unique(drawn).size == drawn.size
    assert not np.isin(simulation(AROUND + 1, seed=6)._rosters_of(0), drawn).any()


@pytest.mark.parametrize("agents", range(1, AROUND + 2))
def test_each_roster_is_an_exact_draw(drawn, agents):
    # One roster of each batch, so that they are independent: the rate of the last agent, and the capacity.
    rows = drawn[np.arange(600), np.arange(600) % drawn.shape[1]]
    limit = 1e-4 / 2 / (AROUND + 1)
    one = stats.gamma(1 / 0.16, scale=2 * 0.16)
    assert stats.kstest(rows[:, agents - 1], one.cdf).pvalue > limit
    several = stats.gamma(agents / 0.16, scale=2 * 0.16)
    assert stats.kstest(rows[:, :agents].sum(axis=1), several.cdf).pvalue > limit


def test_agents_of_a_roster_are_independent(drawn):
    rows = drawn[np.arange(600), np.arange(600) % drawn.shape[1]]
    correlations = np.corrcoef(rows.T)[np.triu_indices(AROUND + 1, 1)]
    limit = stats.norm.isf(1e-4 / 2 / correlations.size) / math.sqrt(600 - 3)
    assert limit < 0.2
    assert np.abs(correlations).max() < limit


@pytest.mark.parametrize(
    "columns", [slice(0, AROUND - 1), slice(AROUND - 1, AROUND), slice(AROUND, AROUND + 1)]
)
def test_one_roster_comes_from_each_of_equally_likely_ranges(drawn, columns):
    size = drawn.shape[1]
    part = drawn[:, :, columns]
    ranks = gammainc(part.shape[2] / 0.16, part.sum(axis=2) / (2 * 0.16)) * size
    np.testing.assert_array_equal(np.sort(np.floor(ranks), axis=1), np.tile(np.arange(size), (600, 1)))


@pytest.mark.parametrize("agents", [AROUND - 1, AROUND, AROUND + 1])
def test_strata_keep_every_level_s_mean_capacity_even(drawn, agents):
    capacities = drawn[:, :, :agents].sum(axis=2)
    independent = agents * (0.4 * 2) ** 2 / capacities.shape[1]
    assert capacities.mean(axis=1).var(ddof=1) < 0.05 * independent
    assert capacities.mean() == pytest.approx(2 * agents, rel=0.001)
    # What is even on average still differs from roster to roster as it should.
    assert capacities.var() == pytest.approx(agents * 0.64, rel=0.05)


@pytest.mark.parametrize("around", [0, 1, 2])
def test_few_agents(around):
    for agents in range(around + 2):
        run = simulation(agents, around=around)
        assert run._rosters_of(0).shape == (run.rosters_per_batch, agents)
        np.testing.assert_array_equal(
            run._rosters_of(0), simulation(around + 1, around=around)._rosters_of(0)[:, :agents]
        )


def test_agents_who_do_not_differ():
    assert np.all(simulation(7, cv=0)._rosters_of(0) == 2.0)


@pytest.mark.parametrize(
    ("lam", "theta", "around"), [(0.01, 5.0, 1), (4.0, 0.5, 6), (100.0, 0.5, 60), (2000.0, 0.1, 1000)]
)
def test_batches_are_of_a_bounded_size(lam, theta, around):
    run = simulation(around, around=around, lam=lam, theta=theta)
    warm_up = run._warm_up_of(np.full((1, around), 2.0))[0]
    assert 1 <= run.rosters_per_batch <= 64
    assert 1 <= run.calls_per_roster / warm_up <= 12
    assert run.rosters_per_batch * (run.calls_per_roster + warm_up) <= max(250_000, 4 * warm_up)


def test_the_same_results_on_one_worker_and_on_two():
    one, two = simulation(), simulation()
    one.run(4, workers=1)
    two.run(2, workers=2)
    two.run(2, workers=2)
    assert one.batch_values() == two.batch_values()
    assert one.performance() == two.performance()


def test_cores(monkeypatch):
    assert cores() >= 1
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert cores() == 3
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores() == 1
