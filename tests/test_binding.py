"""Which requirements set the level, and what they cost."""

import numpy as np
import pytest

from staffing import Infeasible, Scenario, optimize_staffing
from staffing.binding import binding_of
from staffing.question import agents_of, search_of

SCENARIO = Scenario(
    calls_per_hour=1200,
    mean_handle_seconds=180,
    mean_patience_seconds=120,
    rate_cv=0.2,
    agent_cost_per_hour=30,
)
WITHOUT = {
    "min_service_level": None,
    "max_abandonment": None,
    "max_mean_wait_seconds": None,
    "max_occupancy": None,
    "min_agents": 0,
    "max_agents": None,
}


def search_for(scenario):
    return search_of(scenario, agents_of(scenario))


def bound(**fields):
    return optimize_staffing(SCENARIO, **fields, check=False)


@pytest.mark.parametrize(
    ("fields", "requirements"),
    [
        ({"min_service_level": 0.8}, ("min_service_level",)),
        ({"min_service_level": 0.8, "max_abandonment": 0.01}, ("max_abandonment",)),
        ({"min_service_level": 0.8, "max_mean_wait_seconds": 1}, ("max_mean_wait_seconds",)),
        ({"min_service_level": 0.8, "max_occupancy": 0.7}, ("max_occupancy",)),
        ({"min_service_level": 0.8, "min_agents": 75}, ("min_agents",)),
        ({"abandonment_cost": 1.7, "min_service_level": 0.8}, ("min_service_level",)),
        ({"abandonment_cost": 100, "max_agents": 62}, ("max_agents",)),
        ({"abandonment_cost": 10, "min_service_level": 0.5}, ()),
        ({"abandonment_cost": 2.5}, ()),
    ],
)
def test_the_requirement_that_binds_is_named(fields, requirements):
    assert bound(**fields).binding.requirements == requirements


def test_requirements_that_bind_together_are_named_together():
    promises = {"min_service_level": 0.8, "max_abandonment": 0.06, "max_occupancy": 0.945}
    alone = bound(min_service_level=0.8)
    both = bound(**promises, min_agents=alone.agents)
    assert both.agents == alone.agents
    assert both.binding.requirements == (*promises, "min_agents")
    assert both.binding.agents_without == 0
    assert both.binding.price_per_hour == pytest.approx(both.cost_per_hour)


def test_what_is_left_still_holds():
    # One agent fewer would break two promises; the third asks for somewhat fewer.
    plan = bound(min_service_level=0.8, max_abandonment=0.06, max_mean_wait_seconds=10)
    assert plan.binding.requirements == ("min_service_level", "max_abandonment")
    assert 0 < plan.binding.agents_without < plan.agents
    assert plan.binding.agents_without == bound(max_mean_wait_seconds=10).agents


def test_free_agents_have_no_best_number_beyond_the_limit():
    plan = bound(agent_cost_per_hour=0, abandonment_cost=1, max_agents=80)
    assert plan.agents == 80
    assert (plan.binding.requirements, plan.binding.agents_without) == (("max_agents",), 81)
    assert plan.binding.price_per_hour > 0


def scenarios():
    generator = np.random.default_rng(7)
    for _ in range(150):
        fields = {
            "calls_per_hour": float(generator.uniform(10, 1500)),
            "rate_cv": float(generator.choice([0, 0.2, 0.5])),
        }
        load = fields["calls_per_hour"] / 20
        if generator.uniform() < 0.7:
            fields["abandonment_cost"] = float(np.exp(generator.uniform(0, 4)))
        if generator.uniform() < 0.5:
            fields["min_service_level"] = float(generator.uniform(0.3, 0.95))
        if generator.uniform() < 0.5:
            fields["max_abandonment"] = float(generator.uniform(0.01, 0.3))
        if generator.uniform() < 0.3:
            fields["min_agents"] = int(load * generator.uniform(0.7, 1.3))
        if generator.uniform() < 0.3:
            fields["max_agents"] = fields.get("min_agents", 0) + int(load * generator.uniform(0.2, 1))
        if {"abandonment_cost", "min_service_level", "max_abandonment"} & set(fields):
            yield SCENARIO.replace(**fields)


def answered():
    """Scenarios, their searches and best levels; each with and without a floor at that level."""
    for scenario in scenarios():
        search = search_for(scenario)
        try:
            agents = search.best()
        except Infeasible:
            continue
        yield scenario, search, agents
        floored = scenario.replace(min_agents=agents)
        yield floored, search_for(floored), agents


def test_the_price_is_what_optimising_without_them_saves():
    seen = set()
    for scenario, search, agents in answered():
        binding = binding_of(search, agents)
        seen.add(binding.requirements)
        if not binding.requirements:
            assert binding.agents_without == agents
            assert binding.price_per_hour == 0
            continue
        relaxed = search_for(scenario.replace(**{name: WITHOUT[name] for name in binding.requirements}))
        assert relaxed.best() == binding.agents_without, scenario
        saved = search.cost(agents) - relaxed.cost(binding.agents_without)
        assert binding.price_per_hour == pytest.approx(saved, abs=1e-9)
        assert binding.price_per_hour >= 0
    assert seen >= {(), ("min_service_level",), ("max_abandonment",), ("min_agents",), ("max_agents",)}
    assert any(len(requirements) > 1 for requirements in seen)


def test_where_nothing_binds_dropping_anything_changes_nothing():
    for scenario, search, agents in answered():
        if binding_of(search, agents).requirements:
            continue
        for name in scenario.given():
            if name in WITHOUT and (scenario.abandonment_cost or name != "min_service_level"):
                relaxed = search_for(scenario.replace(**{name: WITHOUT[name]}))
                assert relaxed.best() == agents, (name, scenario)


def test_nobody_binds_nothing():
    binding = bound(abandonment_cost=0.5).binding
    assert (binding.requirements, binding.agents_without, binding.price_per_hour) == ((), 0, 0)
    assert bound(calls_per_hour=0, min_service_level=0.8).binding.requirements == ()


def test_a_limit_that_costs_nothing_is_not_blamed():
    free = bound(min_service_level=0.8)
    assert free.binding.requirements == ("min_service_level",)
    for limit in ({"min_agents": free.agents - 1}, {"max_agents": free.agents}, {"max_abandonment": 0.5}):
        plan = bound(min_service_level=0.8, **limit)
        assert (plan.agents, plan.binding.requirements) == (free.agents, free.binding.requirements)
