"""One level."""

import dataclasses

import pytest

from staffing import evaluate_staffing

ORDINARY = {"calls_per_hour": 1200, "mean_handle_seconds": 180, "mean_patience_seconds": 120}


@pytest.mark.parametrize(
    ("promises", "kept"),
    [
        ({}, True),
        ({"min_service_level": 0.5}, True),
        ({"min_service_level": 0.5, "max_abandonment": 0.2}, True),
        ({"min_service_level": 0.99, "max_abandonment": 0.2}, False),
        ({"min_service_level": 0.99, "max_abandonment": 0.001}, False),
    ],
)
def test_a_level_keeps_its_promises_if_it_keeps_each(promises, kept):
    level = evaluate_staffing(**ORDINARY, **promises, agents=60)
    assert set(level.promises) == set(promises)
    assert level.keeps_promises is kept


def test_the_cost_is_the_sum_of_its_parts():
    prices = {"agent_cost_per_hour": 30, "waiting_cost_per_hour": 20, "abandonment_cost": 2.5}
    level = evaluate_staffing(**ORDINARY, **prices, agents=60)
    assert level.cost_per_hour == pytest.approx(sum(level.cost_parts.values()))
    assert all(cost > 0 for name, cost in level.cost_parts.items() if name != "blocking")
    assert level.cost_parts["blocking"] == 0


def test_levels_are_equal_if_all_they_hold_is_and_cannot_be_changed():
    level, again = (evaluate_staffing(**ORDINARY, agents=60) for _ in range(2))
    assert level == again
    assert level != evaluate_staffing(**ORDINARY, agents=61)
    for part, name in ((level, "agents"), (level.rosters, "share_missing")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(part, name, None)
