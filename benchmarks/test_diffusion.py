"""The diffusion averaged over rosters that differ, rate CV 0.2, at load 1; no peer has one."""

from collections.abc import Callable

import pytest

from benchmarks.table import OURS
from staffing.models.diffusion.annealed import DrawnDiffusion
from staffing.models.rate_laws import GammaRates
from staffing.models.shared_queue import Callers


@pytest.mark.parametrize("load", [60, 5000])
@pytest.mark.parametrize("what", ["four measures", "every measure"])
def test_ours(timed: Callable, load: int, what: str) -> None:
    model = DrawnDiffusion(Callers(float(load), 0.5, 0.1), GammaRates(1.0, 0.2))
    measures = model.key_measures if what == "four measures" else model.values
    found = timed(f"diffusion over rosters, {load:,} erlangs, {what}", OURS, measures, [(load,)] * 50)[0]
    assert 0.55 < found["wait_probability"] < 0.65
