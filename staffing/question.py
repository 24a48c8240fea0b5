"""A scenario in the models' terms: who calls, who answers, what it costs and what is promised."""

from staffing.models.drawn_agents import DrawnAgents
from staffing.models.rate_laws import GammaRates
from staffing.models.shared_queue import Callers
from staffing.optimize.costs import Costs
from staffing.optimize.level import LevelSearch
from staffing.optimize.promises import Promise
from staffing.scenario import Scenario


def callers_of(scenario: Scenario) -> Callers:
    """What is offered to the agents, per second."""
    return Callers(scenario.arrival_rate, scenario.abandonment_rate, scenario.service_level_seconds, "second")


def agents_of(scenario: Scenario) -> DrawnAgents:
    """The shared queue of the scenario, per second, at any head count."""
    return DrawnAgents(callers_of(scenario), GammaRates(scenario.service_rate, scenario.rate_cv))


def costs_of(scenario: Scenario) -> Costs:
    """Prices per hour."""
    return Costs(
        agent=scenario.agent_cost_per_hour,
        waiting=scenario.waiting_cost_per_hour,
        losing=scenario.abandonment_cost * scenario.calls_per_hour,
    )


def promises_of(scenario: Scenario) -> dict[str, Promise]:
    """The promises made, by the field that makes them."""
    measures = {
        "min_service_level": (f"service_level_{scenario.service_level_definition}", True),
        "max_abandonment": ("abandonment_probability", False),
        "max_mean_wait_seconds": ("mean_wait", False),
        "max_occupancy": ("occupancy", False),
    }
    return {
        name: Promise(measure, float(limit), at_least)
        for name, (measure, at_least) in measures.items()
        if (limit := getattr(scenario, name)) is not None
    }


def search_of(scenario: Scenario, model: DrawnAgents) -> LevelSearch:
    """The search for the scenario's best level, over `agents_of(scenario)`."""
    return LevelSearch(
        values=model.values,
        costs=costs_of(scenario),
        promises=promises_of(scenario),
        offered_load=scenario.offered_load,
        lowest=scenario.min_agents,
        highest=scenario.max_agents,
    )
