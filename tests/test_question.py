"""A scenario in the models' terms."""

import math

import pytest

from staffing import Scenario
from staffing.question import agents_of, callers_of, costs_of, promises_of, search_of

SCENARIO = Scenario(calls_per_hour=1200, mean_handle_seconds=180, mean_patience_seconds=120, rate_cv=0.25)


def test_callers_are_per_second():
    callers = callers_of(SCENARIO.replace(service_level_seconds=30))
    assert callers.arrival_rate == pytest.approx(1 / 3)
    assert callers.abandonment_rate == pytest.approx(1 / 120)
    assert callers.threshold == 30
    assert callers.time_unit == "second"


def test_patience_has_two_ends():
    assert callers_of(SCENARIO.replace(mean_patience_seconds=math.inf)).abandonment_rate == 0
    assert callers_of(SCENARIO.replace(mean_patience_seconds=0)).abandonment_rate == math.inf


def test_agents_have_the_mean_rate_and_the_spread():
    model = agents_of(SCENARIO)
    assert model.law.mean == pytest.approx(1 / 180)
    assert model.law.cv == 0.25


def test_costs_are_per_hour():
    costs = costs_of(SCENARIO.replace(agent_cost_per_hour=30, waiting_cost_per_hour=20, abandonment_cost=2.5))
    assert (costs.agent, costs.waiting, costs.losing) == (30, 20, 3000)
    assert costs_of(SCENARIO).agent == 1
    assert not costs_of(SCENARIO).trade_off


@pytest.mark.parametrize("definition", ["offered", "answered", "virtual"])
def test_promises_name_the_field_that_makes_them(definition):
    promises = promises_of(
        SCENARIO.replace(
            min_service_level=0.8,
            service_level_definition=definition,
            max_abandonment=0.05,
            max_mean_wait_seconds=15,
            max_occupancy=0.9,
        )
    )
    assert {name: (p.measure, p.limit, p.at_least) for name, p in promises.items()} == {
        "min_service_level": (f"service_level_{definition}", 0.8, True),
        "max_abandonment": ("abandonment_probability", 0.05, False),
        "max_mean_wait_seconds": ("mean_wait", 15, False),
        "max_occupancy": ("occupancy", 0.9, False),
    }


def test_no_promise_is_made_by_default():
    assert promises_of(SCENARIO) == {}


def test_a_promise_of_no_abandonment_is_a_promise():
    patient = SCENARIO.replace(mean_patience_seconds=math.inf, max_abandonment=0)
    assert promises_of(patient)["max_abandonment"].limit == 0


def test_the_search_has_the_limits_of_the_scenario():
    scenario = SCENARIO.replace(min_agents=5, max_agents=80, min_service_level=0.8)
    search = search_of(scenario, agents_of(scenario))
    assert (search.lowest, search.highest) == (5, 80)
    assert search.offered_load == 60
    assert search.at(60) == agents_of(scenario).values(60)
