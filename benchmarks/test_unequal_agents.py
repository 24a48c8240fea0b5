"""The exact law of given agents who differ, rate CV 0.2, load 1; no peer has one."""

from collections.abc import Callable

import numpy as np
import pytest

from benchmarks.table import OURS
from staffing.models.roster import roster_performance


@pytest.mark.parametrize("agents", [100, 1000, 2000])
def test_ours(timed: Callable, agents: int) -> None:
    rates = np.random.default_rng(1).gamma(25, 1 / 25, agents)
    rounds = [(rates, float(rates.sum()), 0.5)] * 50
    found = timed(f"exact law of {agents:,} given agents", OURS, roster_performance, rounds)[0]
    assert 0.5 < found.wait_probability < 0.7
