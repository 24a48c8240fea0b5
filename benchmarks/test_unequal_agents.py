"""The exact law of agents who differ, rate CV 0.2, given or drawn; no peer has one."""

from collections.abc import Callable

import numpy as np
import pytest

from benchmarks.table import OURS
from staffing.models.rate_laws import GammaRates
from staffing.models.roster import roster_performance
from staffing.models.sampled_agents import SampledAgents
from staffing.models.shared_queue import Callers


@pytest.mark.parametrize("agents", [100, 1000, 2000])
def test_ours(timed: Callable, agents: int) -> None:
    rates = np.random.default_rng(1).gamma(25, 1 / 25, agents)
    rounds = [(rates, float(rates.sum()), 0.5)] * 50
    found = timed(f"exact law of {agents:,} given agents", OURS, roster_performance, rounds)[0]
    assert 0.5 < found.wait_probability < 0.7


def test_curve_over_rosters(timed: Callable) -> None:
    """The mean cost at 0 to 150 agents over 1000 rosters, drawn and answered for exactly, on one core."""
    callers = Callers(60.0, 1.5, 1 / 9)

    def curve(seed: int) -> list[float]:
        model = SampledAgents(callers, GammaRates(1.0, 0.2), seed=seed)
        values = [model.values(n) for n in range(151)]
        return [
            30 * n + 20 * v["mean_queue"] + 3000 * v["abandonment_probability"] for n, v in enumerate(values)
        ]

    what = "mean cost of 151 levels over 1,000 exact rosters"
    for costs in timed(what, OURS, curve, [(seed,) for seed in range(10)]):
        assert costs.index(min(costs)) in (60, 61)
        assert np.diff(costs, 2)[18:].min() > -1e-12 * np.ptp(costs)
