"""Laws of patience and routing rules as planners meet them: reached, compared, simulated, worded."""

import math

import pytest

from staffing import (
    Scenario,
    ScenarioError,
    evaluate_staffing,
    optimize_staffing,
    read_scenario,
    simulate_staffing,
)
from staffing.models.given_agents import GivenAgents
from staffing.models.patience import (
    GammaPatience,
    HyperexponentialPatience,
    LognormalPatience,
    WeibullPatience,
)
from staffing.models.roster import roster_performance
from staffing.question import agents_of, callers_of

CENTRE = Scenario(
    calls_per_hour=240,
    mean_handle_seconds=180,
    mean_patience_seconds=120,
    rate_cv=0.3,
    agent_cost_per_hour=30,
    abandonment_cost=2.5,
)
CURVE = ((0, 1), (10, 0.9), (60, 0.7), (300, 0.2), (900, 0.02))
PATIENCE = [
    {"patience_law": "deterministic"},
    {"patience_law": "gamma", "patience_scv": 0.4},
    {"patience_law": "hyperexponential", "patience_scv": 3},
    {"patience_law": "lognormal", "patience_scv": 2},
    {"patience_law": "weibull", "patience_scv": 2},
    {"patience_curve": CURVE, "mean_patience_seconds": None},
]
each_patience = pytest.mark.parametrize("fields", PATIENCE, ids=lambda f: f.get("patience_law", "curve"))
SIMULATED = ["wait_probability", "mean_wait", "abandonment_probability", "service_level_offered"]


def compare(scenario, agents, *, rosters=4000):
    """The formulas against simulated rosters: four standard errors, below 2% of the value, and the stated error."""
    model = evaluate_staffing(scenario, agents=agents).performance
    simulated = simulate_staffing(scenario, agents=agents, seed=5, rosters=rosters)
    for measure in SIMULATED:
        error, stated = simulated.standard_errors[measure], model.method_error[measure]
        assert error < 0.02 * model.value(measure)
        within = 4 * error + (stated if isinstance(stated, float) else 0.0)
        assert simulated.value(measure) == pytest.approx(model.value(measure), abs=within), measure


@each_patience
def test_the_simulation_agrees_for_every_law_of_patience(fields):
    compare(CENTRE.replace(**fields), 12)


@pytest.mark.parametrize("routing", ["random", "fastest-first", "slowest-first"])
def test_the_simulation_agrees_for_every_rule_it_knows(routing):
    compare(CENTRE.replace(routing=routing), 12)


@pytest.mark.parametrize(
    ("name", "law"),
    [
        ("gamma", GammaPatience),
        ("hyperexponential", HyperexponentialPatience),
        ("lognormal", LognormalPatience),
        ("weibull", WeibullPatience),
    ],
)
def test_a_law_of_patience_has_the_mean_and_the_scv_of_the_scenario(name, law):
    callers = callers_of(CENTRE.replace(patience_law=name, patience_scv=1.5))
    assert callers.patience == law(120, 1.5)
    assert callers.abandonment_rate == pytest.approx(1 / 120)


def test_exponential_patience_is_what_it_was():
    assert callers_of(CENTRE).patience is None
    plainly = evaluate_staffing(CENTRE, agents=12).performance
    for name in ("gamma", "weibull"):
        same = evaluate_staffing(CENTRE, agents=12, patience_law=name, patience_scv=1).performance
        assert same.values() == pytest.approx(plainly.values(), rel=1e-9, abs=1e-12)


def test_a_curve_says_what_the_mean_patience_is():
    scenario = CENTRE.replace(patience_curve=CURVE, mean_patience_seconds=None)
    assert 150 < scenario.mean_patience_seconds < 250
    assert scenario.patience_law == "curve"
    assert "mean_patience_seconds" not in scenario.given()
    assert Scenario.from_fields(scenario.to_dict()) == scenario


def test_a_curve_in_a_file(tmp_path):
    scenario = CENTRE.replace(patience_curve=CURVE, mean_patience_seconds=None)
    scenario.to_toml(tmp_path / "curve.toml")
    assert read_scenario(tmp_path / "curve.toml") == scenario


CONTRADICTIONS = [
    ({"patience_law": "gamma"}, "patience_law = 'gamma' needs patience_scv"),
    ({"patience_scv": 2}, "patience_scv = 2 cannot go with patience_law = 'exponential'"),
    ({"patience_law": "deterministic", "patience_scv": 2}, "patience_scv = 2 cannot go with"),
    ({"patience_law": "hyperexponential", "patience_scv": 1}, "patience_scv = 1 must be above 1"),
    ({"patience_law": "gamma", "patience_scv": 0}, "patience_scv = 0"),
    ({"patience_law": "gamma", "patience_scv": 1e5}, "patience_scv = 100000.0 must be between"),
    ({"patience_law": "curve"}, "patience_law = 'curve' needs patience_curve"),
    ({"patience_law": "wiebull", "patience_scv": 2}, "did you mean weibull?"),
    ({"mean_patience_seconds": 0, "patience_law": "deterministic"}, "mean_patience_seconds = 0 cannot go"),
    ({"mean_patience_seconds": math.inf, "patience_law": "gamma", "patience_scv": 2}, "inf cannot go"),
    ({"patience_curve": CURVE}, "mean_patience_seconds = 120 cannot go with patience_curve"),
    ({"patience_curve": CURVE, "patience_scv": 2, "mean_patience_seconds": None}, "patience_scv = 2 cannot"),
    ({"patience_curve": [(0, 1), (30, 0.9), (20, 0.5)]}, "point 3 time: 20 must be above the one before, 30"),
    (
        {"patience_curve": [(0, 1), (30, 0.5), (60, 0.6)]},
        "point 3 share: 0.6 must not be above the one before",
    ),
    ({"patience_curve": [(0, 0.9), (30, 0.5)]}, "must be (0, 1)"),
    ({"patience_curve": [(0, 1), (30, 0.5), (60, 0.5)]}, "never gives up"),
    (
        {"patience_curve": [(0, 1), (30, 90)]},
        "point 2 is (30, 90): must be between 0 and 1; for 90% write 0.9",
    ),
    ({"patience_curve": [(0, 1)]}, "from 2 to 1000 of them"),
    ({"patience_curve": []}, "from 2 to 1000 of them"),
    ({"patience_curve": [(0, 1), (30,)]}, "point 2 is (30,): must be a pair of numbers"),
    ({"patience_curve": "fast"}, "must be a list of pairs"),
    ({"patience_curve": [(0, 1), (30, math.nan)]}, "point 2 is (30, nan)"),
    ({"routing": "fastest"}, "did you mean fastest-first?"),
    ({"routing": 3}, "routing = 3 must be longest-idle"),
]


@pytest.mark.parametrize(("fields", "words"), CONTRADICTIONS)
def test_what_cannot_be_is_refused_with_the_way_out(fields, words):
    with pytest.raises(ScenarioError) as caught:
        CENTRE.replace(**fields)
    assert words in str(caught.value)
    assert max(map(len, str(caught.value).splitlines())) < 400


def test_agents_alike_are_routed_alike():
    plainly = evaluate_staffing(CENTRE, agents=12, rate_cv=0).performance
    for rule in ("random", "fastest-first", "slowest-first", "least-occupied"):
        routed = evaluate_staffing(CENTRE, agents=12, rate_cv=0, routing=rule).performance
        assert routed.values() == plainly.values()
        assert routed.method == plainly.method


def test_the_faster_the_agents_who_are_preferred_the_fewer_calls_wait():
    waits = {
        rule: evaluate_staffing(
            CENTRE, agents=12, routing=rule, method="rosters"
        ).performance.wait_probability
        for rule in ("fastest-first", "least-occupied", "longest-idle", "random", "slowest-first")
    }
    assert list(waits.values()) == sorted(waits.values())
    assert waits["random"] == waits["longest-idle"]
    assert waits["slowest-first"] > 1.05 * waits["fastest-first"]


def test_every_rule_says_how_it_was_answered_and_how_well():
    for rule, method in (
        ("random", "gamma closure"),
        ("least-occupied", "closure of equal idle shares"),
        ("fastest-first", "recursive lumping of 1000 rosters"),
    ):
        found = evaluate_staffing(CENTRE, agents=12, routing=rule).performance
        assert found.method == method
        assert 0 < found.method_error["wait_probability"] < 0.05


def test_given_agents_are_routed_too():
    rates = (25.0, 15.0, 20.0, 30.0, 10.0)
    scenario = Scenario(
        calls_per_hour=90,
        mean_patience_seconds=120,
        observed_rates_per_hour=rates,
        roster="fixed",
        routing="fastest-first",
    )
    assert isinstance(agents_of(scenario), GivenAgents)
    known = roster_performance(
        [r / 3600 for r in rates[:4]], 0.025, 1 / 120, routing="fastest-first", threshold=20
    )
    found = evaluate_staffing(scenario, agents=4).performance
    assert found.values() == pytest.approx(known.values(), rel=1e-12)
    compare(scenario, 4)


def test_a_plan_says_who_gets_calls_and_how_long_callers_have_patience():
    fields = {"patience_law": "lognormal", "patience_scv": 2, "routing": "fastest-first"}
    plan = optimize_staffing(CENTRE, **fields, check_seconds=0.1)
    text = " ".join(str(plan).split())
    assert "patience 120 s (lognormal, SCV 2); agents' rates differ by CV 0.3; fastest-first" in text
    assert "patience lognormal" in text
    assert "fastest idle agent first" in text
    assert plan.check.verdict != "disagrees"
    # Erlang A knows neither.
    plainly = optimize_staffing(CENTRE, check=False)
    assert plan.classic.erlang_a.agents == plainly.classic.erlang_a.agents


def test_a_rule_that_the_simulation_does_not_know_is_not_checked_and_says_so():
    plan = optimize_staffing(CENTRE, routing="least-occupied")
    assert plan.check.verdict == "inconclusive"
    assert plan.check.reason.startswith("routing = least-occupied: the simulation routes calls by")
    with pytest.raises(ScenarioError, match="routing = least-occupied cannot be simulated"):
        simulate_staffing(CENTRE, agents=12, routing="least-occupied")


def test_steady_patience_costs_calls_where_many_wait_and_restless_patience_saves_them():
    """Of two laws with one mean, the one under which some leave at once shortens the queue of the others."""
    waits = [
        evaluate_staffing(CENTRE, agents=11, **fields).performance.wait_probability
        for fields in (
            {"patience_law": "hyperexponential", "patience_scv": 4},
            {},
            {"patience_law": "gamma", "patience_scv": 0.25},
            {"patience_law": "deterministic"},
        )
    ]
    assert waits == sorted(waits)
