"""Whether the check catches what is wrong and lets pass what is right; figures are for the seeds given here."""

import numpy as np
import pytest

from staffing import Scenario
from staffing.levels import Levels
from tests.statistical.checks import Misstated, check

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
