"""Whether the check catches what is wrong and lets pass what is right; figures are for the seeds given here."""

import numpy as np
import pytest

from staffing import Scenario, looks, simulating
from staffing.checking import check_level
from staffing.levels import Levels

FIRST_LOOK = 32
"""Batches of the first look, which every check makes, whatever the machine and its `check_seconds`."""

BANK = Scenario(
    calls_per_hour=123.5,
    mean_handle_seconds=3600 / 19.1,
    mean_patience_seconds=347,
    rate_cv=0.2,
    agent_cost_per_hour=30,
    waiting_cost_per_hour=20,
    abandonment_cost=2.5,
    min_service_level=0.8,
)
RECOMMENDED = 9


class Misstated(Levels):
    """Levels whose formulas take every agent's rate to be `factor` times what the simulation is given."""

    def __init__(self, scenario, factor):
        super().__init__(scenario)
        self._wrong = Levels(scenario.replace(mean_handle_seconds=scenario.mean_handle_seconds / factor))

    def level(self, agents):
        return self._wrong.level(agents)


def check(levels, agents, seed, most_batches=FIRST_LOOK):
    return check_level(levels, agents, seed=seed, seconds=1e9, most_batches=most_batches)


def method_error(levels, neighbour):
    """What the formulas may miss of a difference in cost between two levels."""
    total = 0.0
    for agents in (neighbour.agents, RECOMMENDED):
        errors = levels.level(agents).performance.method_error
        total += 20 * errors["mean_queue"] + 2.5 * 123.5 * errors["abandonment_probability"]
    return total


@pytest.mark.slow
def test_capacity_misstated_by_three_percent_is_caught():
    levels = Misstated(BANK, 1.03)
    caught = sum(check(levels, RECOMMENDED, seed).verdict == "disagrees" for seed in range(100))
    assert caught >= 95


@pytest.mark.slow
def test_the_bank_s_right_plan_is_never_contradicted_and_often_confirmed():
    levels = Levels(BANK)
    checks = [check(levels, RECOMMENDED, seed, most_batches=64) for seed in range(10)]
    assert not any(c.verdict == "disagrees" for c in checks)
    rows = [row for c in checks for row in c.rows]
    assert np.mean([row.verdict == "agrees" for row in rows]) > 0.9
    for neighbour in (n for c in checks for n in c.neighbours):
        assert neighbour.resolved
        apart = abs(neighbour.model_difference - neighbour.simulated_difference)
        assert apart <= neighbour.half_width + method_error(levels, neighbour)


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
def test_of_a_thousand_right_plans_none_is_contradicted():
    contradicted = []
    for number in range(1000):
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
