"""Days that differ, from a scenario's fields to a plan's text."""

import math

import pytest

from staffing import Scenario, evaluate_staffing, optimize_staffing, simulate_staffing
from staffing.checking import check_level
from staffing.levels import Levels
from staffing.models.errors import Infeasible, ScenarioError
from staffing.models.uncertain_days import UncertainDays
from staffing.question import Averaging, agents_of

DAYS = {"rate_day_cv": 0.1, "arrival_cv": 0.15, "absence": 0.05}
CENTRE = {
    "calls_per_hour": 300,
    "mean_handle_seconds": 180,
    "mean_patience_seconds": 120,
    "agent_cost_per_hour": 30,
    "waiting_cost_per_hour": 20,
    "abandonment_cost": 2.5,
    "min_service_level": 0.8,
}


@pytest.fixture(scope="module")
def plan():
    return optimize_staffing(**CENTRE, **DAYS, check=False)


@pytest.mark.parametrize("name", DAYS)
def test_any_of_the_three_makes_days_uncertain(name):
    scenario = Scenario(**CENTRE, **{name: DAYS[name]})
    assert scenario.uncertain == (name,)
    model = agents_of(scenario)
    assert isinstance(model, UncertainDays)
    certain = agents_of(Scenario(**CENTRE))
    assert not isinstance(certain, UncertainDays)
    assert model.values(18)["abandonment_probability"] > certain.values(18)["abandonment_probability"]


def test_agents_alike_have_uncertain_days_too():
    found = evaluate_staffing(**CENTRE, rate_cv=0, **DAYS, agents=18).performance
    assert found.method == "Erlang A over days"
    assert found.spread["abandonment_probability"].low < found.spread["abandonment_probability"].high


def test_scheduled_agents_are_paid_absent_or_not(plan):
    assert plan.cost_parts["agents"] == 30 * plan.agents
    assert plan.agents > optimize_staffing(**CENTRE, check=False).agents


def test_the_plan_says_what_it_is_over(plan):
    text = str(plan)
    words = " ".join(text.split())
    assert "all rates vary from day to day by CV 0.1" in words
    assert "calls vary from day to day by CV 0.15" in words
    assert "each agent is absent with chance 0.05" in words
    assert "mean over rosters and days" in words
    assert "of rosters and days miss it" in words
    assert max(map(len, text.splitlines())) <= 100
    assert "and days" not in str(optimize_staffing(**CENTRE, check=False))


def test_lost_calls_are_dearest_on_the_days_of_many_calls():
    levels = Levels(Scenario(**(CENTRE | {"waiting_cost_per_hour": 0}), arrival_cv=0.3))
    model = levels.model
    costs = model.spread_of(18, lambda values: levels.costs.total(18, values))
    lost = model.spread_of(18, lambda values: values["abandonment_probability"] * values["calls"])
    assert costs.high == pytest.approx(30 * 18 + 2.5 * 300 * lost.high)
    mean = float((model._by_day(18)["calls"] * model._by_day(18)["abandonment_probability"]).mean())
    assert mean == pytest.approx(model.values(18)["abandonment_probability"], rel=0.01)


@pytest.mark.parametrize("days", [DAYS, {"absence": 0.2}, {"arrival_cv": 0.3}])
def test_a_simulation_of_days_agrees(days):
    levels = Levels(Scenario(**CENTRE, **days))
    check = check_level(levels, 19, seed=3, seconds=30.0, most_batches=40)
    assert check.verdict in ("agrees", "inconclusive")  # a false alarm once in 10,000
    for row in check.rows:
        assert row.verdict != "disagrees"
        assert row.standard_error < 0.02 * max(row.model, 0.1), row  # so that it could disagree
        assert abs(row.model - row.simulated) < 5 * row.standard_error
    assert ("absences independent" in check.assumes) == ("absence" in days)
    assert ("a gamma factor on calls every day" in check.assumes) == ("arrival_cv" in days)


def test_a_simulation_that_forgets_the_weights_would_be_found_out():
    scenario = Scenario(**CENTRE, arrival_cv=0.5)
    model = agents_of(scenario)
    days = model._by_day(19)
    unweighted = float(days["abandonment_probability"].mean())
    simulated = simulate_staffing(scenario, agents=19, rosters=4096)
    error = simulated.standard_errors["abandonment_probability"]
    assert abs(simulated.abandonment_probability - model.values(19)["abandonment_probability"]) < 5 * error
    assert abs(simulated.abandonment_probability - unweighted) > 20 * error


def test_callers_who_never_give_up_are_not_simulated():
    centre = CENTRE | {"mean_patience_seconds": math.inf, "abandonment_cost": 0, "waiting_cost_per_hour": 0}
    check = optimize_staffing(**centre, arrival_cv=0.1).check
    assert check.verdict == "inconclusive"
    assert "arrival_cv leave some days below the load" in check.reason


@pytest.mark.parametrize("name", DAYS)
def test_what_does_not_go_with_days_is_refused(name):
    given = {name: DAYS[name]}
    for routing in ("fastest-first", "slowest-first"):
        with pytest.raises(ScenarioError, match=f"{name} = .* cannot go with routing"):
            Scenario(**CENTRE, **given, routing=routing)
    rates = {"observed_rates_per_hour": (18.0, 20.0, 22.0)}
    centre = {key: value for key, value in CENTRE.items() if key != "mean_handle_seconds"}
    with pytest.raises(ScenarioError, match=f"{name} = .* cannot go with roster = 'fixed'"):
        Scenario(**centre, **rates, **given, roster="fixed")
    with pytest.raises(ScenarioError, match="'rosters' cannot go with"):
        agents_of(Scenario(**CENTRE, **given), Averaging(method="rosters"))
    assert isinstance(agents_of(Scenario(**centre, **rates, **given)), UncertainDays)


def test_values_out_of_range_are_refused_with_a_hint():
    with pytest.raises(ScenarioError, match="absence = 1 leaves nobody at the phones"):
        Scenario(**CENTRE, absence=1)
    with pytest.raises(ScenarioError, match=r"for 5% write 0\.05"):
        Scenario(**CENTRE, absence=5)
    with pytest.raises(ScenarioError, match="arrival_cv"):
        Scenario(**CENTRE, arrival_cv=-0.1)


@pytest.mark.parametrize("name", DAYS)
def test_waits_of_callers_who_never_give_up_cannot_be_weighed(name):
    centre = CENTRE | {"mean_patience_seconds": math.inf, "abandonment_cost": 0, "rate_cv": 0}
    with pytest.raises(Infeasible, match=f"days differ \\({name} = .*or {name} = 0, or promise"):
        optimize_staffing(**centre, **{name: DAYS[name]})
    plan = optimize_staffing(**(centre | {"waiting_cost_per_hour": 0}), **{name: DAYS[name]}, check=False)
    assert plan.performance.mean_wait == math.inf
    assert "of rosters and days have no more capacity than there is load" in " ".join(str(plan).split())
