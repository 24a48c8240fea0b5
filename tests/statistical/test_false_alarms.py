"""Whether the check lets a thousand right plans pass, and still catches wrong ones; for the seeds given here."""

import numpy as np
import pytest

from staffing import Scenario, looks, simulating
from staffing.levels import Levels
from tests.statistical.checks import Misstated, check


def varied(number):
    """A small centre, its scenario and a level near its load, all by chance."""
    chance = np.random.default_rng([1999, number])
    load = np.exp(chance.uniform(0, np.log(30)))
    handle = np.exp(chance.uniform(np.log(60), np.log(1200)))
    scenario = Scenario(
        calls_per_hour=load * 3600 / handle,
        mean_handle_seconds=handle,
        mean_patience_seconds=handle * np.exp(chance.uniform(np.log(0.1), np.log(10))),
        rate_cv=chance.uniform(0, 0.5) if number % 4 else 0.0,
        agent_cost_per_hour=30,
        waiting_cost_per_hour=20,
        abandonment_cost=2.5,
    )
    return scenario, max(round(load + chance.uniform(-1, 3) * np.sqrt(load)), 1)


@pytest.fixture
def small_budget(monkeypatch):
    """Batches of a fiftieth of their length: the shorter, the farther from normal, so the harder on the intervals."""
    monkeypatch.setattr(simulating, "_CALLS_PER_BATCH", 3000)
    monkeypatch.setattr(looks, "cores", lambda: 1)  # threads cost more than they bring here


@pytest.mark.slow
@pytest.mark.usefixtures("small_budget")
@pytest.mark.parametrize(
    "part", range(40)
)  # many, so that this file is begun early and both cores end together
def test_of_a_thousand_right_plans_none_is_contradicted(part):
    contradicted = []
    for number in range(25 * part, 25 * (part + 1)):
        scenario, agents = varied(number)
        found = check(Levels(scenario), agents, seed=number)
        if found.verdict == "disagrees":
            contradicted.append((number, found.reason))
    assert contradicted == []


@pytest.mark.slow
@pytest.mark.usefixtures("small_budget")
def test_so_small_a_budget_still_catches_capacity_misstated_by_five_percent():
    caught = 0
    for number in range(50):
        scenario, agents = varied(number)
        caught += check(Misstated(scenario, 1.05), agents, seed=number).verdict == "disagrees"
    assert caught >= 45
