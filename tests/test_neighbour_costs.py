"""Differences in cost on results made by hand: the interval, what it settles, and when more batches are run."""

import math

import numpy as np
import pytest
from scipy import stats

from staffing import Scenario, looks
from staffing.levels import Levels
from staffing.looks import Budget
from staffing.models.simulation.controlled_mean import controlled_mean
from staffing.models.simulation.shared_queue import CONTROLS
from staffing.neighbour_costs import NeighbourCost, settle
from staffing.simulating import simulation_of

LEVELS = Levels(
    Scenario(
        calls_per_hour=1200,
        mean_handle_seconds=180,
        mean_patience_seconds=120,
        rate_cv=0,
        agent_cost_per_hour=30,
        waiting_cost_per_hour=20,
        abandonment_cost=2.5,
    )
)
AGENTS = 61
BASE = LEVELS.level(AGENTS)
CLOSE = BASE.cost_per_hour / 1000


class ByHand:
    """A simulation whose mean cost is off by so much, and whose batches' costs swing by so much to both sides."""

    def __init__(self, agents, off=0.0, swing=0.0, batches=64, waits=0.4):
        self.agents, self.off, self.swing, self.batches, self.waits = agents, off, swing, batches, waits
        self.settled = True

    @property
    def calls(self):
        return 1000 * self.batches

    def run(self, batches, workers=1, report=None):
        assert batches >= 0
        self.batches += batches

    def batch_values(self):
        values = LEVELS.level(self.agents).performance.values() | {"wait_probability": self.waits}
        return [
            values | {"mean_queue": values["mean_queue"] + (self.off + self.swing * (-1) ** b) / 20}
            for b in range(self.batches)
        ]

    def controls(self):
        return np.zeros((self.batches, CONTROLS))


def pair(agents=62, **changes):
    return NeighbourCost(
        LEVELS.costs, LEVELS.level(agents), BASE, ByHand(agents, **changes), ByHand(AGENTS), 17
    )


def half_width(swing, batches, degrees):
    error = swing * math.sqrt(batches / (batches - 1)) / math.sqrt(batches)
    return stats.t(degrees).isf(1e-4 / 2 / 17 / 4) * error


@pytest.mark.parametrize("batches", [16, 32, 64, 100])
def test_the_interval_is_students_for_all_comparisons_and_looks(batches):
    found = pair(off=0.5, swing=2.0, batches=batches).found
    common = min(batches, 64)
    degrees = common - 1 - (2 * CONTROLS if common > 44 else 0)
    assert found.simulated_difference == pytest.approx(found.model_difference + 0.5)
    assert found.half_width == pytest.approx(half_width(2.0, common, degrees))


def test_few_batches_and_rare_waits_settle_nothing():
    for changes in ({"batches": 15}, {"waits": 1e-9}):
        quiet = NeighbourCost(
            LEVELS.costs, LEVELS.level(90), BASE, ByHand(90, off=100, **changes), ByHand(AGENTS), 17
        )
        assert quiet.found.half_width == math.inf
        assert not quiet.found.resolved
        assert not quiet.found.too_close
        assert quiet.found.verdict == "inconclusive"
    assert quiet.needed() == math.inf


@pytest.mark.parametrize("off", [-3.5, -2.0, -0.7, 0.0, 1.0, 4.0])
@pytest.mark.parametrize("swing", [0.0, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("agents", [60, 62])
def test_what_it_settles(agents, off, swing):
    """Margin: nothing but the threshold, for the formulas are exact here, and not even that for contrary signs."""
    found = pair(agents, off=off, swing=swing).found
    model = LEVELS.level(agents).cost_per_hour - BASE.cost_per_hour
    simulated, width = model + off, half_width(swing, 64, 53)
    assert found.resolved == (abs(simulated) > width)
    assert found.too_close == (abs(simulated) + width <= CLOSE)
    assert found.within == pytest.approx(abs(simulated) + width)
    contrary = found.resolved and simulated * model < 0
    assert found.margin == pytest.approx(0.0 if contrary else CLOSE)
    assert (found.verdict == "disagrees") == (abs(off) - width > found.margin)
    assert (found.verdict == "agrees") == (abs(off) + width <= found.margin)


def test_what_the_method_may_err_by_widens_the_margin():
    levels = Levels(LEVELS.scenario.replace(rate_cv=0.5))
    level, base = levels.level(62), levels.level(61)
    found = NeighbourCost(levels.costs, level, base, ByHand(62), ByHand(61), 17).found
    stated = sum(
        20 * errors["mean_queue"] + 2.5 * 1200 * errors["abandonment_probability"]
        for errors in (level.performance.method_error, base.performance.method_error)
    )
    assert stated > 1
    assert found.margin == pytest.approx(stated + base.cost_per_hour / 1000)


def test_the_difference_is_corrected_for_the_luck_of_both_runs():
    runs = {n: simulation_of(LEVELS.model, n, around=AGENTS, seed=2) for n in (60, 61)}
    for n, run in runs.items():
        run.run(n)  # so that batches in common are 60
    found = NeighbourCost(LEVELS.costs, LEVELS.level(60), BASE, runs[60], runs[61], 17).found
    cost = {n: [LEVELS.costs.total(n, v) for v in run.batch_values()[:60]] for n, run in runs.items()}
    difference = np.subtract(cost[60], cost[61])
    # The gaps are those of the same callers and count once.
    luck = np.column_stack([np.ones(60), runs[60].controls(), runs[61].controls()[:60, 1:]])
    fitted, [squares], _, _ = np.linalg.lstsq(luck / luck.std(axis=0).clip(1e-9), difference)
    fitted = fitted / luck.std(axis=0).clip(1e-9)
    assert found.simulated_difference == pytest.approx(fitted[0], rel=1e-6)
    plain = controlled_mean(difference, np.empty((60, 0)))[1]
    assert found.standard_error < 0.75 * plain
    assert found.standard_error > math.sqrt(squares / 49 / 60)


class Clock:
    """Time that passes by a hundredth of a second for every batch, and by nothing else."""

    def __init__(self, monkeypatch):
        self.now = 1.0
        monkeypatch.setattr(looks.time, "perf_counter", lambda: self.now)

    def tick(self, run):
        plain = run.run

        def timed(batches, workers=1, report=None):
            plain(batches)
            self.now += 0.01 * batches

        run.run = timed
        return run


@pytest.fixture
def settled(monkeypatch):
    """Settle two neighbours by hand, within so many seconds, of which 192 batches have taken 1.92."""

    def run(below, above, seconds=1e6, most_batches=None):
        clock = Clock(monkeypatch)
        runs = {
            n: clock.tick(ByHand(n, batches=0, **changes))
            for n, changes in ((60, below), (61, {}), (62, above))
        }
        budget = Budget(seconds, most_batches, lambda done: None)
        for r in runs.values():
            budget.run(r, 64)
        pairs = [NeighbourCost(LEVELS.costs, LEVELS.level(n), BASE, runs[n], runs[61], 17) for n in (60, 62)]
        settle(pairs, budget)
        return {n: r.batches for n, r in runs.items()}, [p.found for p in pairs]

    return run


def test_what_is_settled_gets_no_more(settled):
    batches, found = settled({}, {})
    assert batches == {60: 64, 61: 64, 62: 64}
    assert all(n.resolved or n.too_close for n in found)


def test_what_is_open_goes_on_until_it_is_settled_and_no_longer(settled):
    batches, [_, above] = settled({}, {"swing": 20.0})
    assert above.resolved
    assert batches[60] == 64
    assert batches[61] == batches[62] > 64
    # The slack of the first step beyond what the whole difference of 2.5 needs at that swing, and no more.
    expected = 1.1 * 64 * (half_width(20, 64, 53) / above.model_difference) ** 2
    assert batches[62] == pytest.approx(expected, rel=0.01)


def test_what_the_budget_will_not_do_is_given_up_at_once(settled):
    batches, [_, above] = settled({}, {"swing": 2000.0}, seconds=60)
    assert batches == {60: 64, 61: 64, 62: 64}
    assert not above.resolved
    assert above.within > 1000


def test_the_cheaper_one_to_settle_goes_first(settled):
    batches, [_, above] = settled({"swing": 2000.0}, {"swing": 20.0}, seconds=60)
    assert above.resolved
    assert batches[60] == 64


def test_the_time_is_kept(settled):
    for seconds in (3.0, 10.0, 30.0):
        batches, _ = settled({"swing": 6.0}, {"swing": 60.0}, seconds=seconds)
        assert sum(batches.values()) <= 100 * seconds


@pytest.mark.parametrize("most", [64, 65, 80, 200])
def test_the_most_batches(settled, most):
    batches, _ = settled({"swing": 7.0}, {"swing": 30.0}, most_batches=most)
    assert max(batches.values()) <= most


def test_runs_of_unlike_length_are_brought_together():
    runs = ByHand(62, swing=20.0, batches=40), ByHand(61, batches=64)
    neighbour = NeighbourCost(LEVELS.costs, LEVELS.level(62), BASE, *runs, 17)
    assert neighbour.batches == 40
    budget = Budget(1e6, None, lambda done: None)
    budget.run(ByHand(60, batches=0), 100)
    settle([neighbour], budget)
    assert runs[0].batches == runs[1].batches == neighbour.batches
    assert neighbour.found.resolved
