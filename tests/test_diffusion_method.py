"""method = "diffusion" as planners meet it: plans, checks, curves, what it refuses, and what it says of its error."""

import csv
import math

import pytest

from staffing import Scenario, ScenarioError, evaluate_staffing, optimize_staffing
from staffing.checking import check_level
from staffing.command_line import main
from staffing.levels import Levels
from staffing.models.diffusion.diffusion_agents import DrawnDiffusionAgents, GivenDiffusionAgents
from staffing.question import Averaging, agents_of

CENTRE = {"calls_per_hour": 1200, "mean_handle_seconds": 180, "mean_patience_seconds": 120}
GOALS = {
    "agent_cost_per_hour": 30,
    "waiting_cost_per_hour": 20,
    "abandonment_cost": 2.5,
    "min_service_level": 0.8,
}
RATES = [18.5, 21, 24.2, 16, 19, 22.5, 20]
TEAM = {
    "calls_per_hour": 100,
    "mean_patience_seconds": 120,
    "observed_rates_per_hour": RATES,
    "roster": "fixed",
}


def test_it_can_be_forced_on_any_agents():
    by = Averaging(method="diffusion")
    assert type(agents_of(Scenario(**CENTRE), by)) is DrawnDiffusionAgents
    assert type(agents_of(Scenario(**CENTRE, rate_cv=0), by)) is DrawnDiffusionAgents
    assert type(agents_of(Scenario(**CENTRE, rate_cv=0.9), by)) is DrawnDiffusionAgents
    assert type(agents_of(Scenario(**CENTRE, absence=0.1), by)) is DrawnDiffusionAgents
    assert type(agents_of(Scenario(**TEAM), by)) is GivenDiffusionAgents
    assert evaluate_staffing(**CENTRE, agents=61).performance.method == "gamma closure"


@pytest.mark.parametrize("more", [{}, {"rate_cv": 0}, {"rate_day_cv": 0.1, "arrival_cv": 0.1}])
def test_its_plan_is_the_plan_within_its_error(more):
    mine, known = (
        optimize_staffing(**CENTRE, **GOALS, **more, method=method, check=False)
        for method in ("diffusion", "auto")
    )
    assert abs(mine.agents - known.agents) <= 1
    other = known.curve.at(mine.agents).performance
    for measure in ("wait_probability", "abandonment_probability", "mean_wait", "service_level_offered"):
        error = mine.performance.method_error[measure]
        assert isinstance(error, float)
        assert mine.performance.value(measure) == pytest.approx(other.value(measure), abs=error + 1e-3)
    assert mine.provenance["method"] == "diffusion"
    assert "method          diffusion; percentages within" in str(mine)


def test_a_check_of_it_agrees_within_its_margin():
    levels = Levels(Scenario(**CENTRE, **GOALS), Averaging(method="diffusion"))
    check = check_level(levels, 61, seed=0, seconds=60, most_batches=100)
    assert check.verdict == "agrees"
    waits = [row for row in check.rows if row.measure == "wait_probability"]
    # wide as the method's error, not so wide that nothing could disagree
    assert all(0.02 < row.margin < 0.05 for row in waits)
    assert all(row.difference > 0.005 for row in waits)


def test_a_rough_rule_is_condemned_and_says_that_it_states_no_error():
    scenario = Scenario(**CENTRE, **GOALS, rate_cv=0.4, routing="fastest-first")
    plan = optimize_staffing(scenario, method="diffusion", check=False)
    assert plan.performance.method_error["wait_probability"] == "unknown"
    said = " ".join(str(plan).split())
    assert "diffusion, rough: fastest-first leaves only the slowest idle" in said
    assert "how far it is off is not known" in said
    assert "percentages within" not in said
    assert set(plan.to_frame()["method_error_of_fractions"]) == {math.inf}
    levels = Levels(scenario, Averaging(method="diffusion"))
    check = check_level(levels, plan.agents, seed=0, seconds=60, most_batches=40)
    assert check.verdict == "disagrees"
    assert check.reason.endswith("this method does not state how far it is off")


def test_given_agents_have_their_own_diffusion():
    plan = optimize_staffing(
        **TEAM, agent_cost_per_hour=30, abandonment_cost=2.5, method="diffusion", check=False
    )
    exact = evaluate_staffing(**TEAM, agents=plan.agents).performance
    error = plan.performance.method_error["wait_probability"]
    assert plan.performance.wait_probability != exact.wait_probability
    assert plan.performance.wait_probability == pytest.approx(exact.wait_probability, abs=error)
    assert len(plan.curve) == 8


@pytest.mark.parametrize("function", [optimize_staffing, evaluate_staffing])
@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"patience_law": "lognormal", "patience_scv": 2}, "patience_law = 'lognormal'.* give exponential"),
        ({"max_calls": 80}, "max_calls = 80: its queue has no end; leave max_calls out"),
        ({"mean_patience_seconds": 0}, "mean_patience_seconds = 0: where nobody waits"),
    ],
)
def test_what_it_has_no_answer_for_is_refused_with_a_way_out(function, fields, words):
    options = GOALS if function is optimize_staffing else {"agents": 60}
    with pytest.raises(ScenarioError, match=f"method: 'diffusion' cannot go with {words}") as refused:
        function(**(CENTRE | options | fields), method="diffusion")
    assert "leave method at 'auto'" in str(refused.value)


def test_nobody_calls():
    assert optimize_staffing(**(CENTRE | GOALS | {"calls_per_hour": 0}), method="diffusion").agents == 0


def test_the_command_line_takes_it(tmp_path, capsys):
    path = tmp_path / "levels.csv"
    Scenario(**CENTRE).to_toml(tmp_path / "s.toml")
    options = ["--agents", "60", "61", "--method", "diffusion", "--csv", str(path)]
    assert main(["evaluate", str(tmp_path / "s.toml"), *options]) == 0
    assert "diffusion; percentages within" in capsys.readouterr().out
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["method"] for row in rows] == ["diffusion", "diffusion"]
    assert 0.01 < float(rows[0]["method_error_of_fractions"]) < 0.05
    assert main(["evaluate", str(tmp_path / "s.toml"), *options, "--set", "max_calls=70"]) == 2
    assert "leave max_calls out" in capsys.readouterr().err
