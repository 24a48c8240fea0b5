"""A limit on calls at a time, as planners give it: in plans, costs, promises, text, table, check and command line."""

import math
import re

import pytest

from staffing import (
    Infeasible,
    Scenario,
    ScenarioError,
    evaluate_staffing,
    optimize_staffing,
    simulate_staffing,
)
from staffing.levels import Levels
from staffing.models.erlang import erlang_a, erlang_b
from staffing.models.roster import roster_performance
from tests.models.plain_chain import Roster
from tests.statistical.checks import check

CENTRE = {
    "calls_per_hour": 240,
    "mean_handle_seconds": 180,
    "mean_patience_seconds": 120,
    "agent_cost_per_hour": 30,
    "waiting_cost_per_hour": 20,
    "abandonment_cost": 2.5,
    "max_calls": 16,
}


@pytest.fixture(scope="module")
def plan():
    return optimize_staffing(**CENTRE, check=False)


def test_a_limit_is_that_of_the_model():
    level = evaluate_staffing(**CENTRE, rate_cv=0, agents=12)
    exact = erlang_a(240 / 3600, 1 / 180, 1 / 120, 12, threshold=20, max_calls=16)
    assert level.performance.values() == pytest.approx(exact.values(), rel=1e-12)
    assert level.performance.method == "M/M/n/N+M"


def test_as_many_agents_as_calls_are_erlang_b():
    performance = evaluate_staffing(**CENTRE, rate_cv=0, agents=16).performance
    assert performance.method == "Erlang B"
    assert performance.blocking_probability == pytest.approx(
        erlang_b(12, 1, 16).blocking_probability, rel=1e-12
    )


def test_no_level_is_cheaper_and_blocked_calls_cost_as_much_as_those_who_give_up(plan):
    levels = evaluate_staffing(**CENTRE, agents=range(17))
    assert plan.agents == min(levels, key=lambda level: level.cost_per_hour).agents
    for level in levels:
        parts, performance = level.cost_parts, level.performance
        assert parts["blocking"] == pytest.approx(600 * performance.blocking_probability, rel=1e-12)
        assert level.cost_per_hour == pytest.approx(sum(parts.values()), rel=1e-12)


def test_the_plan_shows_what_is_blocked(plan):
    text = str(plan)
    assert "at most 16 calls at a time" in text
    shown = f"{100 * plan.performance.blocking_probability:.1f}%"
    assert re.search(rf"^blocked +{shown} ", text, re.MULTILINE)
    assert "+ blocking" in text
    frame = plan.to_frame()
    assert list(frame["blocking_fraction"]) == [
        level.performance.blocking_probability for level in plan.curve
    ]
    without = str(optimize_staffing(**CENTRE | {"max_calls": None}, check=False))
    assert "block" not in without


def test_a_limit_lets_nobody_wait_without_end():
    """Without it, callers who never give up make every mean over days infinite."""
    centre = CENTRE | {"mean_patience_seconds": math.inf, "rate_day_cv": 0.2}
    plan = optimize_staffing(**centre, check=False)
    assert plan.performance.mean_queue <= 16
    assert plan.rosters.share_unstable == 0
    with pytest.raises(Infeasible, match="max_calls"):
        optimize_staffing(**centre | {"max_calls": None}, check=False)


def test_too_few_lines_for_a_promise_are_named():
    with pytest.raises(
        Infeasible, match=r"16 agents reach.*\n.*max_calls = 16 is not enough: allow more calls"
    ):
        optimize_staffing(**CENTRE, min_service_level=0.95)
    with pytest.raises(Infeasible, match="max_agents = 13 is not enough"):
        optimize_staffing(**CENTRE, min_service_level=0.9, max_agents=13)


def test_lines_may_be_what_decides():
    plan = optimize_staffing(**CENTRE | {"abandonment_cost": 1000}, check=False)
    assert plan.agents == 16
    assert plan.binding.requirements == ("max_calls",)
    assert "max_calls; another agent would have no call to answer" in str(plan)


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"min_agents": 17}, ("min_agents = 17", "max_calls = 16")),
        ({"max_calls": 0}, ("max_calls",)),
        ({"max_calls": 2.5}, ("max_calls",)),
        ({"max_calls": -3}, ("max_calls",)),
        ({"max_calls": "many"}, ("max_calls",)),
        ({"max_calls": 10**9}, ("max_calls",)),
    ],
)
def test_bad_limits_are_refused_by_name(fields, names):
    with pytest.raises(ScenarioError) as error:
        Scenario(**CENTRE | fields)
    assert all(name in str(error.value) for name in names)


@pytest.mark.parametrize(
    "fields", [{}, {"absence": 0.1}, {"observed_rates_per_hour": [20] * 20, "roster": "fixed"}]
)
def test_more_agents_than_calls_are_refused(fields):
    centre = CENTRE | fields | ({"mean_handle_seconds": None} if "roster" in fields else {})
    for ask in (evaluate_staffing, simulate_staffing):
        with pytest.raises(ScenarioError, match="max_calls: 16 is below the 17 agents"):
            ask(**centre, agents=17)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"mean_patience_seconds": math.inf},
        {"mean_patience_seconds": 0, "max_calls": 13},
        {"patience_law": "gamma", "patience_scv": 0.5},
        {"routing": "fastest-first"},
        {"absence": 0.1, "arrival_cv": 0.1},
        {"observed_rates_per_hour": [15, 18, 20, 20, 21, 22, 25, 19, 17, 21, 23, 20, 16], "roster": "fixed"},
    ],
    ids=str,
)
def test_a_simulation_agrees(fields):
    """At standard errors below a third of what would matter, but for days, whose batches vary more."""
    centre = CENTRE | fields | ({"mean_handle_seconds": None} if "roster" in fields else {})
    levels = Levels(Scenario(**centre))
    most = 130 if "absence" in fields else 400
    found = check(levels, 13 if "roster" in fields else 12, seed=4, most_batches=most)
    assert found.verdict != "disagrees", found.reason
    blocking = [row for row in found.rows if row.measure == "blocking_probability"]
    assert len(blocking) >= 2
    for row in blocking:
        assert row.half_width < (0.02 if "absence" in fields else 0.004)


def test_a_simulation_of_another_limit_disagrees():
    levels, other = (Levels(Scenario(**CENTRE | {"max_calls": most})) for most in (15, 16))
    levels.level = other.level
    found = check(levels, 12, seed=4, most_batches=400)
    assert found.verdict == "disagrees"
    assert any(row.measure == "blocking_probability" and row.verdict == "disagrees" for row in found.rows)


UNLIKE = {
    "calls_per_hour": 800,
    "mean_handle_seconds": 180,
    "mean_patience_seconds": 600,
    "rate_law": "two-point",
    "rate_cv": 0.9,
    "max_calls": 44,
    "service_level_seconds": 120,
}


def test_where_a_slow_agent_takes_a_line_every_level_is_looked_at():
    """The service level is greatest with 42 agents, and falls from there to 44."""
    levels = [
        level.performance.service_level.offered for level in evaluate_staffing(**UNLIKE, agents=range(40, 45))
    ]
    assert max(levels) == levels[2] > levels[4] + 0.005
    promise = (levels[2] + levels[3]) / 2
    assert optimize_staffing(**UNLIKE, min_service_level=promise, check=False).agents == 42
    with pytest.raises(Infeasible, match=r"42 agents reach .*\n.*max_calls = 44 is not enough"):
        optimize_staffing(**UNLIKE, min_service_level=levels[2] + 0.001, check=False)


def test_a_slow_agent_may_cost_calls():
    """A third is blocked by one agent of rate 10; with one of rate .1 beside, half are."""
    one = roster_performance([10.0], 10.0, 0.0, max_calls=2).blocking_probability
    two = roster_performance([10.0, 0.1], 10.0, 0.0, max_calls=2).blocking_probability
    assert one == pytest.approx(1 / 3, rel=1e-12)
    assert two == pytest.approx(
        Roster((10.0, 0.1), 10.0, 0.0, "longest-idle", longest=0).ahead[-1], rel=1e-12
    )
    assert two > 0.49


def test_levels_show_what_is_blocked_and_what_never_settles():
    text = str(evaluate_staffing(**CENTRE, agents=[12, 16]))
    assert "blocked" in text.splitlines()[0]
    endless = {"mean_patience_seconds": math.inf, "max_calls": None, "rate_cv": 0}
    words = " ".join(str(evaluate_staffing(**CENTRE | endless, agents=[11, 12, 13])).split())
    assert "12 agents answer 240 calls per hour at most, 240 come, and the queue grows without end" in words
    with pytest.raises(Infeasible, match="12 agents serve 12 erlangs at most, 12 are offered"):
        optimize_staffing(**CENTRE | endless | {"abandonment_cost": 0}, max_agents=12, min_service_level=0.8)
