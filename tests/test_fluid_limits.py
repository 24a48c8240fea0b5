"""The fluid limits in a plan: of the mean roster, and over rosters and days."""

import json

import pytest

from staffing import optimize_staffing

CENTRE = {
    "calls_per_hour": 1200,
    "mean_handle_seconds": 180,
    "mean_patience_seconds": 120,
    "agent_cost_per_hour": 30,
    "waiting_cost_per_hour": 20,
    "check": False,
}


def plan_of(**fields):
    return optimize_staffing(**(CENTRE | fields))


def test_enough_capacity_loses_nothing_but_by_poor_rosters():
    plan = plan_of(abandonment_cost=2.5, rate_cv=0.2)
    assert plan.regime == "QED"
    assert plan.fluid.mean_roster.abandonment_probability == plan.fluid.mean_roster.mean_queue == 0
    over = plan.fluid.over_rosters
    assert 0 < over.abandonment_probability < 0.1 * plan.performance.abandonment_probability
    assert over.mean_queue == pytest.approx(over.abandonment_probability * 1200 / 3600 * 120)
    assert "fluid" not in str(plan)
    kept = json.loads(json.dumps(plan.to_dict()))["fluid"]
    assert kept["over_rosters"]["abandonment_probability"] == over.abandonment_probability
    assert kept["mean_roster"]["mean_queue"] == 0


def test_in_overload_it_is_most_of_what_is_lost():
    plan = plan_of(abandonment_cost=2.5, max_agents=40)
    assert plan.regime == "ED"
    assert plan.fluid.mean_roster.abandonment_probability == pytest.approx(1 / 3)
    assert plan.fluid.mean_roster.mean_queue == pytest.approx(40 / 3)
    assert plan.performance.abandonment_probability == pytest.approx(1 / 3, abs=0.002)
    said = " ".join(str(plan).split())
    assert "33.3% abandon for want of capacity alone (fluid limit)" in said


def test_days_lose_calls_that_no_size_gives_back():
    small, large = (
        plan_of(calls_per_hour=calls, abandonment_cost=2.5, rate_day_cv=0.1, arrival_cv=0.1)
        for calls in (1200, 12_000)
    )
    for plan, share in ((small, 0.6), (large, 0.9)):
        lost = plan.performance.abandonment_probability
        assert share * lost < plan.fluid.over_rosters.abandonment_probability < lost
        assert "for want of capacity alone" in " ".join(str(plan).split())


def test_given_agents_are_one_roster():
    plan = plan_of(
        mean_handle_seconds=None,
        observed_rates_per_hour=[20.0] * 30,
        roster="fixed",
        abandonment_cost=2.5,
    )
    assert plan.fluid.over_rosters == plan.fluid.mean_roster
    assert plan.fluid.mean_roster.abandonment_probability == pytest.approx(0.5)


def test_nobody_calls_and_other_patience():
    assert plan_of(calls_per_hour=0).fluid.over_rosters.abandonment_probability == 0
    one, other = (
        plan_of(abandonment_cost=2.5, max_agents=40, patience_law=law, patience_scv=scv, rate_cv=0)
        for law, scv in (("gamma", 0.25), ("gamma", 4))
    )
    assert one.fluid.mean_roster.abandonment_probability == pytest.approx(1 / 3)
    # those who all wait long wait longer before a third have gone
    assert one.fluid.mean_roster.mean_queue > 2 * other.fluid.mean_roster.mean_queue
    limited = plan_of(abandonment_cost=2.5, max_agents=40, max_calls=45).fluid.mean_roster
    assert limited.mean_queue == pytest.approx(5)
    assert limited.blocking_probability > 0.2
