"""The agents one has, staffed in order."""

import math

import numpy as np
import pytest

from staffing.models.errors import ScenarioError
from staffing.models.given_agents import GivenAgents
from staffing.models.performance import Spread
from staffing.models.roster import roster_performance
from staffing.models.shared_queue import Callers

RATES = (1.4, 0.6, 1.0, 1.1, 0.9)
MODEL = GivenAgents(Callers(3.0, 0.5, 0.1), RATES)


@pytest.mark.parametrize("n", range(6))
def test_n_agents_are_the_first_n_exactly(n):
    found = MODEL.performance(n)
    known = roster_performance(RATES[:n], 3.0, 0.5, threshold=0.1)
    assert found.values() == MODEL.values(n)
    assert found.values() == pytest.approx(known.values(), rel=1e-12)
    assert found.method == "exact roster"
    assert set(found.method_error.values()) == {"exact"}
    assert found.spread == {}
    assert MODEL.mean_capacity(n) == pytest.approx(sum(RATES[:n]))


def test_there_are_no_more_than_given():
    assert MODEL.most == 5
    with pytest.raises(ScenarioError, match="6 are more than the 5"):
        MODEL.performance(6)


def test_nothing_is_random():
    wait = MODEL.values(4)["mean_wait"]
    assert MODEL.spread_of(4, lambda v: v["mean_wait"]) == Spread(wait, wait, wait)
    tests = {"kept": lambda v: v["mean_wait"] - wait, "broken": lambda v: v["mean_wait"] - wait / 2}
    assert MODEL.shares_failing(4, tests) == ({"kept": 0.0, "broken": 1.0}, 1.0)
    assert MODEL.shares_failing(4, {}) == ({}, 0.0)
    assert MODEL.capacity_cdf(2, 2.0) == 1
    assert MODEL.capacity_cdf(2, 1.999) == 0


def test_a_queue_without_end_fails_every_test():
    patient = GivenAgents(Callers(3.0, 0.0), RATES)
    assert [patient.unstable_share(n) for n in (2, 3, 4)] == [1, 1, 0]
    assert patient.shares_failing(3, {"never": lambda v: -1.0}) == ({"never": 1.0}, 1.0)
    assert patient.values(3)["mean_wait"] == math.inf
    assert patient.values(4)["mean_wait"] < math.inf


@pytest.mark.parametrize(("around", "agents"), [(2, 3), (5, 5)])
def test_rosters_for_the_simulation_are_the_one_there_is(around, agents):
    drawn = MODEL.rosters(around)(3, np.random.default_rng(0))
    np.testing.assert_array_equal(drawn, np.tile(RATES[:agents], (3, 1)))


@pytest.mark.parametrize("rates", [(), (1.0, -1.0), (0.0,), (math.nan,)])
def test_bad_rates_are_refused(rates):
    with pytest.raises(ScenarioError, match="rates"):
        GivenAgents(Callers(3.0, 0.5), rates)
