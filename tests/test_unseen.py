"""Rosters too rare to be simulated, on which a mean may hang all the same."""

import pytest
from scipy import stats

from staffing import Scenario, optimize_staffing
from staffing.levels import Levels
from staffing.unseen import Unseen

# A million handle times of patience: what a roster below the load costs is a million times what others do.
PATIENT = Scenario(
    calls_per_hour=600,
    mean_handle_seconds=180,
    mean_patience_seconds=180_000_000 / 1000,
    rate_cv=0.2,
    agent_cost_per_hour=11,
    waiting_cost_per_hour=2,
)


def unseen_of(scenario):
    levels = Levels(scenario)
    return Unseen(levels.model, levels.costs)


def test_a_share_counts_until_enough_rosters_are_likely_to_show_it():
    unseen = unseen_of(PATIENT)
    share = stats.gamma.cdf(30, 36 / 0.04, scale=0.04)
    assert 0 < share < 1e-6
    assert unseen.share(36, 10_000) == pytest.approx(share)
    # At 31 agents 0.185 of the rosters are below the load: three of them are to be expected among 17, not among 16.
    often = stats.gamma.cdf(30, 31 / 0.04, scale=0.04)
    assert 3 / 17 < often < 3 / 16
    assert unseen.share(31, 16) == pytest.approx(often)
    assert unseen.share(31, 17) == 0


def test_what_they_may_add_is_what_callers_suffer_who_all_wait_out_their_patience():
    unseen = unseen_of(PATIENT)
    share = unseen.share(36, 1000)
    assert unseen.most("wait_probability", 36, 1000) == share
    assert unseen.most("mean_wait", 36, 1000) == pytest.approx(share * 180_000)
    assert unseen.most_cost(36, 1000) == pytest.approx(share * 2 * 600 / 3600 * 180_000)


def test_rosters_that_are_certain_hide_nothing():
    """Agents alike or given are below the load or not; sixteen batches, the fewest that decide, show which."""
    given = PATIENT.replace(
        mean_handle_seconds=None, rate_cv=None, observed_rates_per_hour=[20] * 9 + [21], roster="fixed"
    )
    for scenario in (PATIENT.replace(rate_cv=0), given):
        for agents in (5, 10):
            assert unseen_of(scenario).share(agents, 16) == 0


def test_a_mean_that_hangs_on_one_roster_in_ten_million_is_not_contradicted():
    plan = optimize_staffing(
        calls_per_hour=89776315.14082758,
        mean_handle_seconds=0.001192355094895419,
        mean_patience_seconds=15875.370763549046,
        rate_cv=0.20538023412168938,
        agent_cost_per_hour=11.068284432487804,
        waiting_cost_per_hour=1.9428890369133651,
        check_seconds=0.1,
        seed=50182,
    )
    assert plan.check.verdict != "disagrees"
    assert not any(neighbour.resolved for neighbour in plan.check.neighbours)
