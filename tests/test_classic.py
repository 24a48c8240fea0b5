"""What Erlang C and Erlang A would have said."""

import math

import pytest

from staffing import Infeasible, Scenario, evaluate_staffing, optimize_staffing

SCENARIO = Scenario(
    calls_per_hour=1200,
    mean_handle_seconds=180,
    mean_patience_seconds=120,
    rate_cv=0.3,
    agent_cost_per_hour=30,
    min_service_level=0.8,
)


def plan(**fields):
    return optimize_staffing(SCENARIO, **fields, check=False)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"abandonment_cost": 2.5},
        {"waiting_cost_per_hour": 20},
        {"max_mean_wait_seconds": 3},
        {"max_occupancy": 0.8},
        {"min_agents": 80},
        {"max_agents": 75},
        {"calls_per_hour": 30},
        {"service_level_definition": "answered", "service_level_seconds": 5},
    ],
)
def test_they_are_the_best_of_the_simplified_scenarios(fields):
    got = plan(**fields)
    alike = optimize_staffing(got.scenario, rate_cv=0, check=False)
    patient = optimize_staffing(
        got.scenario, rate_cv=0, mean_patience_seconds=math.inf, abandonment_cost=0, check=False
    )
    assert got.classic.erlang_a.agents == alike.agents
    assert got.classic.erlang_c.agents == patient.agents
    assert (got.classic.erlang_a.model, got.classic.erlang_c.model) == ("Erlang A", "Erlang C")


def test_they_are_judged_by_the_scenario_as_it_is():
    got = plan(abandonment_cost=2.5)
    for answer in (got.classic.erlang_a, got.classic.erlang_c):
        level = evaluate_staffing(got.scenario, agents=answer.agents)
        assert answer.cost_per_hour == pytest.approx(level.cost_per_hour)
        assert answer.share_missing == pytest.approx(level.rosters.share_missing)
        assert answer.reason == ""


def test_agents_alike_make_erlang_a_right():
    got = plan(rate_cv=0)
    assert got.classic.erlang_a.agents == got.agents
    assert got.classic.erlang_a.cost_per_hour == got.cost_per_hour


def test_known_answers():
    got = plan()
    assert got.classic.erlang_a.agents == 60
    assert got.classic.erlang_c.agents == 66


def test_where_they_have_no_answer_they_say_why():
    lost = plan(min_service_level=None, abandonment_cost=2.5).classic
    assert lost.erlang_c.agents is None
    assert "no abandonment" in lost.erlang_c.reason
    assert lost.erlang_a.agents is not None
    promise = plan(min_service_level=None, max_abandonment=0.05).classic
    assert promise.erlang_c.agents is None
    endless = plan(mean_patience_seconds=math.inf).classic
    assert endless.erlang_a.agents is None
    assert "Erlang C" in endless.erlang_a.reason
    assert endless.erlang_c.agents == 66


def test_a_limit_that_erlang_c_cannot_live_with_is_its_reason():
    got = plan(max_agents=62)
    assert got.classic.erlang_c.agents is None
    assert "min_service_level" in got.classic.erlang_c.reason
    assert "62 agents" in got.classic.erlang_c.reason
    assert "\n" not in got.classic.erlang_c.reason
    assert got.classic.erlang_a.agents == 60


def test_erlang_c_does_not_make_a_scenario_infeasible():
    with pytest.raises(Infeasible):
        plan(max_agents=55)
    assert plan(max_agents=62).agents <= 62


def test_both_answer_without_calls():
    got = plan(calls_per_hour=0)
    assert got.classic.erlang_c.agents == got.classic.erlang_a.agents == 0
