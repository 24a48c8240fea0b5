"""Calls that come in bursts, or more evenly than by chance, as planners give them."""

import math

import pytest

from staffing import Scenario, ScenarioError, evaluate_staffing, optimize_staffing
from staffing.levels import Levels
from staffing.models.performance import MEASURES
from staffing.models.simulation.quantile_tables import table_mean, table_scv
from staffing.question import Averaging
from staffing.simulating import _gaps
from tests.statistical.checks import check

CENTRE = {
    "calls_per_hour": 240,
    "mean_handle_seconds": 180,
    "mean_patience_seconds": 120,
    "agent_cost_per_hour": 30,
    "waiting_cost_per_hour": 20,
    "abandonment_cost": 2.5,
}
RATES = [15, 18, 20, 20, 21, 22, 25, 19, 17, 21, 23, 20, 16]


def test_a_squared_cv_of_one_is_poisson_and_next_to_it_is_near():
    poisson = evaluate_staffing(**CENTRE, agents=12).performance
    assert evaluate_staffing(**CENTRE, agents=12, arrival_scv=1).performance == poisson
    for scv in (1 - 1e-9, 1 + 1e-9):
        near = evaluate_staffing(**CENTRE, agents=12, arrival_scv=scv).performance
        for measure in MEASURES:
            assert near.value(measure) == pytest.approx(poisson.value(measure), rel=1e-7)


def test_bursts_cost_agents_and_evenness_saves_them():
    agents = [
        optimize_staffing(**CENTRE, min_service_level=0.8, arrival_scv=scv, check=False).agents
        for scv in (0, 1, 4, 16)
    ]
    assert agents == sorted(agents)
    assert agents[0] < agents[-1]


def test_one_agent_and_no_patience_lost_are_the_root_of_the_gaps():
    """GI/M/1: P(wait) is the root of x = E exp(-mu (1 - x) T)."""
    scv, rho = 4.0, 0.7
    w = math.sqrt((scv - 1) / (scv + 1))
    x = 0.5
    for _ in range(200):
        s = (1 - x) / rho
        x = sum(share * rate / (rate + s) for share, rate in (((1 + w) / 2, 1 + w), ((1 - w) / 2, 1 - w)))
    fields = {"calls_per_hour": rho * 20, "mean_patience_seconds": math.inf, "rate_cv": 0, "arrival_scv": scv}
    found = evaluate_staffing(mean_handle_seconds=180, **fields, agents=1).performance
    assert found.method == "GI/M/n"
    assert found.wait_probability == pytest.approx(x, rel=1e-10)
    assert found.mean_wait == pytest.approx(180 * x / (1 - x), rel=1e-10)
    assert found.wait_cdf(100) == pytest.approx(1 - x * math.exp(-(1 - x) * 100 / 180), rel=1e-10)


@pytest.mark.parametrize(
    "fields",
    [
        {"arrival_scv": 4},
        {"arrival_scv": 0.3},
        {"arrival_scv": 0},
        {"arrival_scv": 9, "rate_cv": 0},
        {"arrival_scv": 3, "routing": "least-occupied"},
        {"arrival_scv": 3, "routing": "fastest-first"},
        {"arrival_scv": 2, "absence": 0.1, "arrival_cv": 0.1},
        {"arrival_scv": 3, "rate_law": "lognormal", "rate_cv": 0.5, "method": "rosters"},
        {
            "arrival_scv": 5,
            "observed_rates_per_hour": [15, 18, 20, 20, 21, 22, 25, 19, 17, 21, 23, 20, 16],
            "roster": "fixed",
        },
    ],
    ids=str,
)
def test_a_simulation_agrees(fields):
    method = fields.get("method", "auto")
    fields = {name: value for name, value in fields.items() if name != "method"}
    centre = CENTRE | fields | ({"mean_handle_seconds": None} if "roster" in fields else {})
    scenario = Scenario(**centre)
    levels = Levels(scenario, Averaging(method=method, rosters=400))
    found = check(levels, 12, seed=4, most_batches=100 if "absence" in fields else 300)
    if fields.get("routing") == "least-occupied":
        assert found.rows == ()
        return
    assert found.verdict != "disagrees", found.reason
    for row in found.rows:
        if row.measure == "wait_probability":
            assert row.half_width < (0.04 if "absence" in fields else 0.012)


def test_a_simulation_of_other_gaps_disagrees():
    levels, other = (Levels(Scenario(**CENTRE, arrival_scv=scv)) for scv in (4, 5))
    levels.level = other.level
    assert check(levels, 12, seed=4, most_batches=300).verdict == "disagrees"


@pytest.mark.parametrize("scv", [0.0, 0.05, 0.5, 1.5, 25.0, 100.0])
def test_simulated_gaps_vary_as_they_should(scv):
    table = _gaps(scv)
    assert table_scv(table / table_mean(table)) == pytest.approx(scv, rel=1e-4, abs=1e-12)
    assert table_mean(table) == pytest.approx(1, rel=2e-4)


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"arrival_scv": -1}, ("arrival_scv",)),
        ({"arrival_scv": 101}, ("arrival_scv",)),
        ({"arrival_scv": math.nan}, ("arrival_scv",)),
        ({"arrival_scv": 2, "patience_law": "deterministic"}, ("arrival_scv = 2", "patience_law")),
        ({"arrival_scv": 2, "max_calls": 20}, ("arrival_scv = 2", "max_calls = 20")),
        (
            {"arrival_scv": 2, "patience_curve": [(0, 1), (60, 0.2)], "mean_patience_seconds": None},
            ("arrival_scv = 2", "patience_curve"),
        ),
    ],
)
def test_what_does_not_go_with_bursts_is_refused_by_name(fields, names):
    with pytest.raises(ScenarioError) as error:
        Scenario(**CENTRE | fields)
    assert all(name in str(error.value) for name in names)


def test_the_plan_says_how_calls_come():
    plan = optimize_staffing(**CENTRE, min_service_level=0.8, arrival_scv=9, check_seconds=0.05)
    assert "times between calls have SCV 9" in " ".join(str(plan).split())
    assert any("times between calls" in line for line in plan.check.assumes)
    assert plan.classic.erlang_a.agents < plan.agents
