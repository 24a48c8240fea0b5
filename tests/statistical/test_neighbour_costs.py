"""Whether simulated differences in cost are as sure as they say, and catch a wrong price."""

import dataclasses
import math

import numpy as np
import pytest
from scipy import stats

from staffing import Scenario, looks, neighbour_costs, simulating
from staffing.checking import check_level
from staffing.levels import Levels
from staffing.looks import Budget
from staffing.neighbour_costs import NeighbourCost, settle
from staffing.simulating import simulation_of

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
AGENTS = 9


@pytest.fixture
def short_batches(monkeypatch):
    """Batches of a fiftieth of their length: the shorter, the farther from normal, so the harder on the intervals."""
    monkeypatch.setattr(simulating, "_CALLS_PER_BATCH", 3000)
    monkeypatch.setattr(looks, "cores", lambda: 1)


@pytest.mark.slow
@pytest.mark.usefixtures("short_batches")
def test_standard_errors_are_honest():
    """Fails by chance once in 1200; a standard error a third too small would fail nine times in ten.

    At 32 batches without, at 60 with the correction for luck. The formulas may err by 0.02, a fifth of a standard
    error.
    """
    runs, levels = 80, Levels(BANK)
    scores = {(n, batches): [] for n in (8, 10) for batches in (32, 60)}
    for seed in range(runs):
        simulated = {n: simulation_of(levels.model, n, around=AGENTS, seed=seed) for n in (8, 9, 10)}
        for batches, freedom in ((32, 31), (60, 49)):
            for run in simulated.values():
                run.run(batches - run.batches)
            for n in (8, 10):
                levels_and_runs = levels.level(n), levels.level(AGENTS), simulated[n], simulated[AGENTS]
                found = NeighbourCost(levels.costs, *levels_and_runs, comparisons=17).found
                assert 0.1 < found.standard_error < 0.8
                score = (found.simulated_difference - found.model_difference) / found.standard_error
                scores[n, batches].append(stats.norm.ppf(stats.t.cdf(score, freedom)))
    low, high = stats.chi2.ppf([5e-5, 1 - 5e-5], runs)
    assert stats.chi2.cdf(high * (2 / 3) ** 2, runs) < 0.1
    for own in scores.values():
        assert abs(np.mean(own)) < 3.9 / math.sqrt(runs) + 0.2
        assert low < np.sum(np.square(own)) < high


class Normal:
    """Stands for a simulation whose batches' costs are normal about the formulas' cost."""

    def __init__(self, level, chance):
        self.agents, self.batches, self._values, self._chance = level.agents, 0, [], chance
        self._plain = level.performance.values()
        self.settled = True

    @property
    def calls(self):
        return 1000 * self.batches

    def run(self, batches, workers=1, report=None):
        self.batches += batches
        queue = self._plain["mean_queue"] + self._chance.standard_normal(batches) / 20
        self._values += [self._plain | {"mean_queue": q} for q in queue]

    def batch_values(self):
        return self._values

    def controls(self):
        return np.zeros((self.batches, 5))


@pytest.mark.slow
def test_levels_that_cost_the_same_are_rarely_told_apart(monkeypatch):
    """At a false-alarm rate that shows: one in ten for this one comparison at all its looks together.

    An agent costs what it saves, so "resolved" is always wrong. Fails by chance once in 10,000; if the looks did not
    share the rate, one in seven or more would be told apart, which fails nine times in ten.
    """
    monkeypatch.setattr(looks, "FALSE_ALARM", 0.1)
    monkeypatch.setattr(neighbour_costs, "TOO_CLOSE", 0.0)
    free = BANK.replace(rate_cv=0, agent_cost_per_hour=0, min_service_level=None)
    price = Levels(free).level(AGENTS).cost_per_hour - Levels(free).level(AGENTS + 1).cost_per_hour
    levels = Levels(free.replace(agent_cost_per_hour=price))
    level, other = levels.level(AGENTS), levels.level(AGENTS + 1)
    assert other.cost_per_hour == pytest.approx(level.cost_per_hour, rel=1e-12)
    chance = np.random.default_rng(4)
    runs, resolved, looked = 1000, 0, 0
    for _ in range(runs):
        simulated = Normal(other, chance), Normal(level, chance)
        budget = Budget(1e9, 1000, lambda done: None)
        for run in simulated:
            budget.run(run, 32)
        pair = NeighbourCost(levels.costs, other, level, *simulated, comparisons=1)
        settle([pair], budget)
        resolved += pair.found.resolved
        looked += pair.batches > 32
    assert looked > 0.5 * runs
    assert 0.025 * runs < resolved <= stats.binom.isf(1e-4, runs, 0.1)


class Mispriced(Levels):
    """Levels whose formulas take a lost call to cost `factor` times what it costs; every measure is right."""

    def __init__(self, scenario, factor):
        super().__init__(scenario)
        self._extra = (factor - 1) * scenario.abandonment_cost * scenario.calls_per_hour

    def level(self, agents):
        level = super().level(agents)
        extra = self._extra * level.performance.abandonment_probability
        return dataclasses.replace(level, cost_per_hour=level.cost_per_hour + extra)


@pytest.mark.slow
def test_a_misstated_price_of_lost_calls_is_caught():
    """At the first look already, and by the costs alone; that right prices pass is held beside this file."""
    levels = Mispriced(BANK, 1.15)
    checks = [check_level(levels, AGENTS, seed=seed, seconds=1e9, most_batches=32) for seed in range(10)]
    assert not any(row.verdict == "disagrees" for check in checks for row in check.rows)
    caught = [check for check in checks if check.verdict == "disagrees"]
    assert all("cost per hour of" in check.reason for check in caught)
    assert len(caught) >= 9
