"""How long the main jobs take, warm; each checks its answer. Run by `make bench`, never as a test."""

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from staffing import optimize_staffing
from staffing.models.erlang import erlang_a
from staffing.models.roster import roster_performance
from staffing.models.simulation import _kernels as kernels

CENTRE = {
    "mean_handle_seconds": 180,
    "mean_patience_seconds": 120,
    "agent_cost_per_hour": 30,
    "waiting_cost_per_hour": 20,
    "abandonment_cost": 2.5,
    "min_service_level": 0.8,
    "check": False,
}


@pytest.mark.parametrize(("erlangs", "agents"), [(10, 12), (60, 61), (1000, 1003)])
def test_plan_without_check(benchmark: BenchmarkFixture, erlangs: int, agents: int) -> None:
    plan = benchmark(optimize_staffing, calls_per_hour=20 * erlangs, rate_cv=0.2, **CENTRE)
    assert plan.agents == agents


@pytest.mark.parametrize("agents", [60, 1000, 100_000])
def test_erlang_a(benchmark: BenchmarkFixture, agents: int) -> None:
    result = benchmark(erlang_a, agents, 1.0, 0.5, agents)
    assert result.wait_probability == pytest.approx(0.5858, abs=0.02)  # Garnett's function at beta 0, r 1/2


@pytest.mark.parametrize("agents", [100, 2000])
def test_given_roster(benchmark: BenchmarkFixture, agents: int) -> None:
    rates = np.random.default_rng(1).gamma(25, 1 / 25, agents)
    result = benchmark(roster_performance, rates, float(rates.sum()), 0.5)
    assert 0.5 < result.wait_probability < 0.7


@pytest.mark.parametrize("agents", [10, 100, 1000])
def test_simulated_calls(benchmark: BenchmarkFixture, agents: int) -> None:
    """One round is a million calls at load 1 on one core, agents' rates at CV 0.2."""
    rates = np.random.default_rng(1).gamma(25, 1 / 25, agents)
    totals, histogram, stop = np.zeros(kernels.TOTALS), np.zeros(2048, np.int64), np.zeros(1, np.uint8)

    def million() -> None:
        kernels.simulate_roster(
            np.uint64(1), rates, float(rates.sum()), 0.5, 0.1, 1000, 1_000_000, totals, histogram, 1.0, stop
        )

    benchmark.extra_info["calls"] = 1_000_000
    benchmark.pedantic(million, rounds=5, warmup_rounds=1)
    exact = roster_performance(rates, float(rates.sum()), 0.5)
    assert totals[kernels.LOST] / totals[kernels.CALLS] == pytest.approx(
        exact.abandonment_probability, rel=0.2
    )
