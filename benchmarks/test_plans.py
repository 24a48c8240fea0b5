"""Curves and whole plans, unchecked, of centres of 10 to 5000 erlangs whose agents' rates differ by CV 0.2."""

from collections.abc import Callable

import pytest

from benchmarks.table import OURS
from staffing import Scenario, evaluate_staffing, optimize_staffing

AGENTS = {10: 12, 60: 61, 100: 101, 1000: 1003, 5000: 5007}
"""The best number, by erlangs."""


def centre(erlangs: int) -> Scenario:
    return Scenario(
        calls_per_hour=20 * erlangs,
        mean_handle_seconds=180,
        mean_patience_seconds=120,
        rate_cv=0.2,
        agent_cost_per_hour=30,
        waiting_cost_per_hour=20,
        abandonment_cost=2.5,
        min_service_level=0.8,
    )


@pytest.mark.parametrize("erlangs", AGENTS)
def test_curve(timed: Callable, erlangs: int) -> None:
    levels = range(AGENTS[erlangs] - 6, AGENTS[erlangs] + 7)
    what = f"curve of 13 levels, {erlangs:,} erlangs"
    curve = timed(what, OURS, lambda c: evaluate_staffing(c, agents=levels), [(centre(erlangs),)] * 40)[0]
    kept = [level for level in curve if level.performance.service_level.offered >= 0.8]
    assert min(kept, key=lambda level: level.cost_per_hour).agents == AGENTS[erlangs]


@pytest.mark.parametrize("erlangs", AGENTS)
def test_plan(timed: Callable, erlangs: int) -> None:
    what = f"plan, {erlangs:,} erlangs"
    plan = timed(what, OURS, lambda c: optimize_staffing(c, check=False), [(centre(erlangs),)] * 40)[0]
    assert plan.agents == AGENTS[erlangs]
