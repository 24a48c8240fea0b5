"""A plan as text: one screen that says what a planner must know."""

import dataclasses
import math

import numpy as np
import pytest

from staffing import Infeasible, Scenario, optimize_staffing
from staffing.check import Neighbour

SCENARIO = Scenario(
    calls_per_hour=1200,
    mean_handle_seconds=180,
    mean_patience_seconds=120,
    agent_cost_per_hour=30,
)
EVERY_PROMISE = {
    "min_service_level": 0.8,
    "max_abandonment": 0.05,
    "max_mean_wait_seconds": 15,
    "max_occupancy": 0.9,
}


def text_of(**fields):
    return str(optimize_staffing(SCENARIO, **fields, check=False))


def one_line(text):
    """The text without its breaks, which fall where they fall."""
    return " ".join(text.split())


def assert_one_screen(text):
    lines = text.splitlines()
    assert len(lines) <= 45, text
    assert max(map(len, lines)) <= 100, max(lines, key=len)
    assert all(line == line.rstrip() for line in lines)
    assert "nan" not in text.lower().replace("unanswered", "")
    assert "None" not in text


KINDS = [
    {"min_service_level": 0.8},
    {"min_service_level": 0.8, "shrinkage": 0.3, "name": "Monday 10:00"},
    {"min_service_level": 0.8, "rate_cv": 0},
    {"min_service_level": 0.8, "mean_patience_seconds": math.inf},
    {"min_service_level": 0.8, "mean_patience_seconds": math.inf, "rate_cv": 0},
    {"min_service_level": 0.8, "mean_patience_seconds": 0},
    {"min_service_level": 0.8, "calls_per_hour": 0},
    {"min_service_level": 0.8, "calls_per_hour": 0, "min_agents": 3},
    {"min_service_level": 0.8, "calls_per_hour": 3},
    {"min_service_level": 0.8, "calls_per_hour": 40_000},
    {"min_service_level": 0.8, "mean_handle_seconds": 5400},
    {"abandonment_cost": 2.5},
    {"abandonment_cost": 0.5},
    {"waiting_cost_per_hour": 20, "abandonment_cost": 2.5, "min_service_level": 0.8},
    {"abandonment_cost": 20, "max_agents": 60},
    EVERY_PROMISE,
]


@pytest.mark.parametrize("fields", KINDS)
def test_ordinary_plans_fit_one_screen(fields):
    assert_one_screen(text_of(**fields))


def test_random_ordinary_plans_fit_one_screen():
    generator = np.random.default_rng(3)
    for _ in range(100):
        fields = {
            "calls_per_hour": float(np.exp(generator.uniform(0, 10))),
            "mean_handle_seconds": float(generator.uniform(30, 900)),
            "mean_patience_seconds": float(generator.choice([0, 30, 120, 347.25, 1000, math.inf])),
            "rate_cv": float(generator.choice([0, 0.1, 0.2, 0.35])),
            "min_service_level": float(generator.uniform(0.5, 0.95)),
            "service_level_definition": str(generator.choice(["offered", "answered", "virtual"])),
            "service_level_seconds": float(generator.choice([0, 10, 12.5, 120])),
            "max_abandonment": [None, 0.05][generator.integers(2)],
            "abandonment_cost": float(generator.choice([0, 2.5, 20])),
            "shrinkage": float(generator.choice([0, 0.305])),
        }
        try:
            text = text_of(**fields)
        except Infeasible:
            continue
        assert_one_screen(text)


@pytest.fixture(scope="module")
def checked():
    return optimize_staffing(
        SCENARIO,
        min_service_level=0.8,
        max_abandonment=0.05,
        abandonment_cost=2.5,
        waiting_cost_per_hour=20,
        check_seconds=0.05,
    )


def test_the_checked_plan_fits_one_screen(checked):
    text = str(checked)
    assert_one_screen(text)
    assert checked.check.verdict in text
    assert "tests the mathematics, not the data" in one_line(text)


def neighbour(**changes):
    fields = {
        "agents": 60,
        "model_difference": 0.384,
        "simulated_difference": 0.38,
        "standard_error": 0.04,
        "half_width": 0.21,
        "margin": 2.0,
        "verdict": "agrees",
        "resolved": True,
        "too_close": False,
    }
    return Neighbour(**{**fields, **changes})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "60 agents: dearer by 0.38 +- 0.21 (model +0.38)"),
        ({"simulated_difference": -0.38}, "60 agents: cheaper by 0.38 +- 0.21 (model +0.38)"),
        ({"too_close": True}, "60 agents: within 0.59, too close to matter (model +0.38)"),
        (
            {"resolved": False, "half_width": 1.52, "model_difference": -1234.5},
            "60 agents: not resolvable, within 1.90 (model -1,234.50)",
        ),
        ({"resolved": False, "half_width": math.inf}, "60 agents: not resolvable (model +0.38)"),
    ],
)
def test_a_neighbour_is_said_in_a_line(checked, changes, said):
    check = dataclasses.replace(checked.check, neighbours=(neighbour(**changes),))
    assert said in one_line(str(dataclasses.replace(checked, check=check)))


def test_what_the_check_assumes_is_said(checked):
    assert f"both assume {', '.join(checked.check.assumes)}." in one_line(str(checked))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"calls_per_hour": 0}, "nothing to simulate: calls_per_hour = 0"),
        (
            {"mean_patience_seconds": math.inf},
            "mean_patience_seconds = inf: callers never give up, and rate_cv",
        ),
    ],
)
def test_where_nothing_can_be_simulated_the_field_is_named(fields, said):
    assert said in one_line(str(optimize_staffing(SCENARIO, **fields, min_service_level=0.8)))


@pytest.mark.parametrize("definition", ["offered", "answered", "virtual"])
def test_every_service_level_names_its_definition_and_its_seconds(definition):
    text = text_of(min_service_level=0.8, service_level_definition=definition, service_level_seconds=12)
    lines = text.splitlines()
    for name in ("offered", "answered", "virtual"):
        assert any(line.startswith(f"service level, {name} (12 s)") for line in lines)
    assert f"80.0% within 12 s ({definition})" in one_line(text)
    assert any(f"SL {definition} 12s" in line for line in lines)


def test_both_mean_waits_are_named():
    text = text_of(min_service_level=0.8)
    assert "mean wait, all calls" in text
    assert "mean wait, answered calls (ASA)" in text


@pytest.mark.parametrize(
    ("fields", "first"),
    [
        ({"min_service_level": 0.8, "rate_cv": 0}, "Staffing plan: 60 agents"),
        ({"min_service_level": 0.8, "rate_cv": 0, "name": "Monday"}, "Monday: 60 agents"),
        (
            {"min_service_level": 0.8, "rate_cv": 0, "shrinkage": 0.3},
            "Staffing plan: 60 agents at work, 86 to schedule with 30.0% shrinkage",
        ),
        (
            {"min_service_level": 0.8, "calls_per_hour": 0},
            "Staffing plan: staff nobody: no calls are expected",
        ),
        (
            {"abandonment_cost": 0.5},
            "Staffing plan: staff nobody: an agent costs more than it saves in waiting and lost calls",
        ),
        (
            {"abandonment_cost": 20, "max_agents": 0},
            "Staffing plan: staff nobody: max_agents = 0 allows nobody",
        ),
        ({"min_service_level": 0.8, "calls_per_hour": 1}, "Staffing plan: 1 agent"),
    ],
)
def test_the_first_line_is_the_answer(fields, first):
    assert text_of(**fields).splitlines()[0] == first


def test_assumptions_are_said():
    assumed = one_line(text_of(min_service_level=0.8)).partition("assumed ")[2]
    assert "rate_cv = 0.2" in assumed
    assert "service_level_seconds = 20" in assumed
    assert "(not given)" in assumed
    everything = {"rate_cv": 0.2, "service_level_seconds": 20, "service_level_definition": "offered"}
    assert "assumed" not in text_of(min_service_level=0.8, **everything)


def test_warnings_are_said():
    text = one_line(text_of(min_service_level=0.8, mean_handle_seconds=5400))
    assert "warning" in text
    assert "1800 erlangs" in text
    assert "in seconds?" in text
    assert "warning" not in text_of(min_service_level=0.8)


def test_the_risk_over_rosters_is_said_where_there_is_one():
    risky = text_of(min_service_level=0.8)
    assert "% of rosters miss it" in one_line(risky)
    assert "5% .. 95% of rosters" in risky
    sure = text_of(min_service_level=0.8, rate_cv=0)
    assert "of rosters miss" not in sure
    assert "every roster" in sure


def test_endless_waits_are_words():
    text = text_of(min_service_level=0.8, mean_patience_seconds=math.inf)
    assert "endless" in text
    assert "inf" not in text
    assert "callers never give up" in one_line(text)


def test_the_promise_that_binds_has_its_price():
    plan = optimize_staffing(SCENARIO, abandonment_cost=1.7, min_service_level=0.8, check=False)
    text = one_line(str(plan))
    assert f"min_service_level; without it {plan.binding.agents_without} agents would do" in text
    assert f"{plan.binding.price_per_hour:,.2f} per hour cheaper" in text


def test_costs_that_decide_alone_are_said_to():
    assert "trade-off of costs; no promise binds" in text_of(abandonment_cost=20, min_service_level=0.5)


@pytest.mark.parametrize("fields", [{"min_agents": 60}, {"max_abandonment": 0.06}, {"max_occupancy": 0.945}])
def test_two_requirements_at_one_level_are_named_together(fields):
    plan = optimize_staffing(SCENARIO, min_service_level=0.8, **fields, check=False)
    alone = optimize_staffing(SCENARIO, min_service_level=0.8, check=False)
    assert plan.agents == alone.agents == 60
    text = one_line(str(plan))
    assert f"min_service_level and {next(iter(fields))}; without them nobody would be needed" in text
    assert "trade-off" not in text


def test_a_limit_that_forbids_the_best_level_is_said_to():
    plan = optimize_staffing(SCENARIO, abandonment_cost=100, max_agents=62, check=False)
    text = one_line(str(plan))
    assert f"max_agents; without it {plan.binding.agents_without} agents would be best" in text
    assert plan.binding.agents_without > 62


def test_free_agents_are_said_to_have_no_best_number():
    text = one_line(text_of(agent_cost_per_hour=0, abandonment_cost=1, max_agents=80))
    assert "max_agents; agents cost nothing, so more are always better" in text


def test_without_calls_nothing_decides():
    assert "decided by there being no calls" in one_line(text_of(min_service_level=0.8, calls_per_hour=0))


def test_the_calculators_in_use_are_compared_with():
    text = one_line(text_of(min_service_level=0.8, rate_cv=0.3))
    assert "Erlang C 66 agents" in text
    assert "Erlang A 60 agents" in text
    assert "agents alike" in text
    assert "unseen by it" in text


def test_levels_around_the_answer_are_listed_and_the_answer_marked():
    plan = optimize_staffing(SCENARIO, min_service_level=0.8, check=False)
    marked = [line for line in str(plan).splitlines() if line.endswith("<")]
    assert len(marked) == 1
    assert marked[0].split()[0] == str(plan.agents)


def test_a_long_name_is_wrapped():
    name = " ".join(40 * ["long"])
    text = text_of(min_service_level=0.8, name=name)
    assert max(map(len, text.splitlines())) <= 100
    assert one_line(text).startswith(f"{name}: 60 agents ")
