"""What a routing rule may be, and how others are refused."""

import numpy as np
import pytest

from staffing.models.errors import ScenarioError
from staffing.models.routing import NAMED_ROUTINGS, Priority, WeightedRandom, priority_order, rule_of

RATES = np.array([1.0, 3.0, 2.0])


def test_names_are_rules_and_lists_are_priorities():
    assert [rule_of(name) for name in NAMED_ROUTINGS] == list(NAMED_ROUTINGS)
    for order in ([2, 0, 1], (2, 0, 1), np.array([2, 0, 1]), Priority([2, 0, 1])):
        assert rule_of(order, 3) == Priority((2, 0, 1))


def test_no_weight_is_random():
    assert rule_of(WeightedRandom(0)) == "random"
    assert rule_of(WeightedRandom(0.5)) == WeightedRandom(0.5)


def test_orders():
    assert priority_order("fastest-first", RATES).tolist() == [1, 2, 0]
    assert priority_order("slowest-first", RATES).tolist() == [0, 2, 1]
    assert priority_order(Priority((2, 0, 1)), RATES).tolist() == [2, 0, 1]
    assert priority_order(Priority((2, 0, 1)), RATES[:2]).tolist() == [0, 1], "agent 2 is not staffed"


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ([0, 1], r"misses agent 2$"),
        ([], r"misses agents 0, 1, 2$"),
        ([0, 1, 2, 2, 1], r"repeats agents 1, 2$"),
        ([0, 1, 2, 3], r"has agent 3, and there are 3, counted from 0"),
        ([0, 1, -1], r"routing\[2\]: -1"),
        ([0, 1, 1.5], r"routing\[2\]: 1.5"),
        ([0, 1, "2"], r"routing\[2\]: '2'"),
    ],
    ids=str,
)
def test_a_list_that_misses_or_repeats_an_agent_is_refused(order, said):
    with pytest.raises(ScenarioError, match=said):
        rule_of(order, 3)


def test_many_agents_are_not_all_named():
    with pytest.raises(ScenarioError, match="misses agents 0, 1, 2, 3, 4 and 95 more"):
        rule_of([], 100)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("fastest", "fastest-first"),
        ("Longest-Idle", "longest-idle"),
        ("least occupied", "least-occupied"),
        ("slow-first", "slowest-first"),
    ],
)
def test_a_name_that_is_not_known_is_refused_with_the_nearest(name, meant):
    with pytest.raises(ScenarioError, match=f"did you mean {meant}"):
        rule_of(name)


@pytest.mark.parametrize("routing", ["", "skills", None, 3, 0.5])
def test_what_is_like_no_rule_is_refused_with_all(routing):
    with pytest.raises(ScenarioError, match="known are longest-idle, random, fastest-first") as refusal:
        rule_of(routing)
    assert "did you mean" not in str(refusal.value)


def test_agents_without_names_stand_in_no_list():
    with pytest.raises(ScenarioError, match="for agents who are given"):
        rule_of([0, 1])


@pytest.mark.parametrize("power", [-1.01, 2, float("nan"), float("inf"), "1", None])
def test_a_power_beyond_what_is_known_is_refused(power):
    with pytest.raises(ScenarioError, match="power"):
        WeightedRandom(power)
