"""Laws of rates, given rosters and the choice of method, as planners meet them."""

import math
from itertools import pairwise

import pytest

from staffing import (
    Infeasible,
    Scenario,
    ScenarioError,
    evaluate_staffing,
    optimize_staffing,
    simulate_staffing,
)
from staffing.models.drawn_agents import DrawnAgents
from staffing.models.given_agents import GivenAgents
from staffing.models.performance import MEASURES
from staffing.models.rate_laws import (
    GammaRates,
    LognormalRates,
    ObservedRates,
    TwoPointRates,
    UniformRates,
)
from staffing.models.roster import roster_performance
from staffing.models.sampled_agents import SampledAgents
from staffing.question import Averaging, agents_of, law_of

CENTRE = {"calls_per_hour": 240, "mean_patience_seconds": 120}
DRAWN = CENTRE | {"mean_handle_seconds": 180}
# Slow ones first: what an agent adds does not fall from one to the next.
RATES = (9.0, 30.0, 11.0, 25.0, 24.0, 8.0, 31.0, 14.0, 20.0, 22.0, 19.0, 26.0, 17.0, 21.0, 23.0, 16.0)
COSTS = {"agent_cost_per_hour": 30, "waiting_cost_per_hour": 20, "abandonment_cost": 2.5}


@pytest.mark.parametrize(
    ("name", "law"),
    [
        ("gamma", GammaRates),
        ("lognormal", LognormalRates),
        ("uniform", UniformRates),
        ("two-point", TwoPointRates),
    ],
)
def test_a_law_has_the_mean_rate_and_the_spread_of_the_scenario(name, law):
    assert law_of(Scenario(**DRAWN, rate_law=name, rate_cv=0.3)) == law(1 / 180, 0.3)


def test_observed_rates_are_per_hour():
    law = law_of(Scenario(**CENTRE, observed_rates_per_hour=[18, 36]))
    assert law == ObservedRates((18 / 3600, 36 / 3600))
    assert law.cv == pytest.approx(1 / 3)


def test_auto_takes_the_closure_where_it_states_a_small_error():
    def model(**fields):
        return type(agents_of(Scenario(**(DRAWN | fields))))

    assert model() is model(rate_cv=0.6) is DrawnAgents
    assert model(rate_law="lognormal", rate_cv=0.6) is SampledAgents
    assert model(rate_law="two-point", rate_cv=0.5) is SampledAgents
    assert model(rate_law="two-point", rate_cv=0.5, calls_per_hour=100_000) is DrawnAgents
    assert model(rate_law="two-point", rate_cv=0.2, calls_per_hour=2400) is DrawnAgents
    assert model(rate_law="two-point", rate_cv=0.2, calls_per_hour=20) is SampledAgents
    assert model(rate_law="lognormal", rate_cv=0) is DrawnAgents


def test_any_method_can_be_forced():
    for name, model in (("closure", DrawnAgents), ("rosters", SampledAgents)):
        assert type(agents_of(Scenario(**DRAWN), Averaging(method=name))) is model
        law = {"rate_law": "lognormal", "rate_cv": 0.6}
        assert type(agents_of(Scenario(**DRAWN, **law), Averaging(method=name))) is model
    fixed = Scenario(**CENTRE, observed_rates_per_hour=RATES, roster="fixed")
    assert type(agents_of(fixed, Averaging(method="rosters"))) is GivenAgents


def test_both_methods_agree_within_what_they_state():
    levels = [evaluate_staffing(**DRAWN, rate_cv=0.4, agents=13, method=m) for m in ("closure", "rosters")]
    closure, exact = (level.performance for level in levels)
    assert (closure.method, exact.method) == ("gamma closure", "exact law of 1000 rosters")
    for measure in MEASURES:
        stated = [p.method_error[measure] for p in (closure, exact)]
        within = sum(error for error in stated if isinstance(error, float))
        assert closure.value(measure) == pytest.approx(exact.value(measure), abs=within + 1e-12), measure


def test_the_draw_of_rosters_has_a_size_and_a_seed():
    def found(**options):
        return evaluate_staffing(**DRAWN, agents=13, method="rosters", **options).performance

    assert found(rosters=400).method == "exact law of 400 rosters"
    assert found(seed=1).values() == found(seed=1).values() != found(seed=2).values()
    errors = [found(rosters=n).method_error["wait_probability"] for n in (200, 20_000)]
    assert errors[1] < errors[0] / 3


def test_a_plan_by_rosters_is_the_plan_by_the_closure():
    goals = COSTS | {"min_service_level": 0.8}
    plans = [optimize_staffing(**DRAWN, **goals, method=m, check=False) for m in ("closure", "rosters")]
    assert plans[0].agents == plans[1].agents
    assert plans[1].provenance["method"] == "exact law of 1000 rosters"
    one, two = (plan.rosters.share_missing["min_service_level"] for plan in plans)
    assert 0.05 < two < 0.95
    assert one == pytest.approx(two, abs=0.003 + 4 * math.sqrt(two * (1 - two) / 1000))
    assert plans[0].rosters.cost_per_hour.high == pytest.approx(plans[1].rosters.cost_per_hour.high, rel=0.01)


@pytest.mark.parametrize("function", [optimize_staffing, evaluate_staffing])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "magic"}, "method: 'magic' is not known; known are auto, closure, rosters, diffusion"),
        ({"method": None}, "method: None"),
        ({"rosters": 99}, "rosters: 99 must be from 100 to 100000"),
        ({"rosters": 10**9}, "rosters: 1000000000 must be from 100 to 100000"),
        ({"rosters": 100.5}, "rosters: 100.5"),
        ({"rosters": -5, "method": "closure"}, "rosters: -5"),
        ({"seed": -1}, "seed: -1"),
        ({"seed": 0.5}, "seed: 0.5"),
    ],
)
def test_options_out_of_range_are_one_clear_line(function, options, words):
    agents = {} if function is optimize_staffing else {"agents": 10}
    with pytest.raises(ScenarioError) as caught:
        function(**DRAWN, min_service_level=0.8, **agents, **options)
    assert str(caught.value).startswith(words)
    assert "\n" not in str(caught.value)


LAWS = [
    {"rate_law": "lognormal", "rate_cv": 0.6},
    {"rate_law": "uniform", "rate_cv": 0.5},
    {"rate_law": "two-point", "rate_cv": 0.5},
    {"observed_rates_per_hour": RATES, "mean_handle_seconds": None},
    {"observed_rates_per_hour": RATES, "mean_handle_seconds": None, "roster": "fixed"},
]


@pytest.mark.parametrize("fields", LAWS, ids=lambda fields: fields.get("rate_law", "observed"))
def test_the_simulation_agrees_for_every_law(fields):
    """2000 rosters of 13: four standard errors, false alarm 3e-4 a measure, and an error below 2% of the value."""
    scenario = Scenario(**DRAWN).replace(**fields)
    exact = evaluate_staffing(scenario, agents=13, method="rosters", rosters=4000).performance
    simulated = simulate_staffing(scenario, agents=13, seed=3)
    for measure in ("wait_probability", "mean_wait", "abandonment_probability", "service_level_offered"):
        stated = exact.method_error[measure]
        error = math.hypot(simulated.standard_errors[measure], stated / 4 if stated != "exact" else 0)
        assert error < 0.02 * exact.value(measure)
        assert simulated.value(measure) == pytest.approx(exact.value(measure), abs=4 * error), measure


# --- the agents one has ---

FIXED = Scenario(**CENTRE, **COSTS, observed_rates_per_hour=RATES, roster="fixed")


def by_hand(n):
    rates = [rate / 3600 for rate in RATES[:n]]
    return roster_performance(rates, 240 / 3600, 1 / 120, threshold=20.0)


def cost_by_hand(n):
    known = by_hand(n)
    return 30 * n + 20 * known.mean_queue + 2.5 * 240 * known.abandonment_probability


def test_given_agents_are_staffed_in_order_and_exactly():
    for n in (0, 1, 6, 16):
        level = evaluate_staffing(FIXED, agents=n)
        assert level.performance.values() == pytest.approx(by_hand(n).values(), rel=1e-12)
        assert level.cost_per_hour == pytest.approx(cost_by_hand(n))
        assert level.performance.method == "exact roster"


@pytest.mark.parametrize("price", [0.5, 1, 1.5, 2.5, 5, 20])
@pytest.mark.parametrize("order", [RATES, tuple(sorted(RATES)), tuple(sorted(RATES, reverse=True))])
def test_the_best_of_given_agents_by_looking_at_every_level(price, order):
    """Slow agents may come before fast ones, so the cost may turn more than once."""
    scenario = FIXED.replace(observed_rates_per_hour=order, abandonment_cost=price)
    costs = [evaluate_staffing(scenario, agents=n).cost_per_hour for n in range(17)]
    plan = optimize_staffing(scenario, check=False)
    assert plan.agents == costs.index(min(costs))


def test_a_cost_that_turns_twice_occurs():
    scenario = FIXED.replace(observed_rates_per_hour=[2, 2, 40, 40, 2, 2, 2, 40], calls_per_hour=60)
    costs = [evaluate_staffing(scenario, agents=n).cost_per_hour for n in range(9)]
    turns = [n for n in range(1, 8) if costs[n - 1] > costs[n] < costs[n + 1]]
    peaks = [n for n in range(1, 8) if costs[n - 1] < costs[n] > costs[n + 1]]
    assert turns
    assert peaks
    assert optimize_staffing(scenario, check=False).agents == costs.index(min(costs))


def test_there_are_no_more_agents_than_given():
    with pytest.raises(ScenarioError, match="agents: 17 are more than the 16"):
        evaluate_staffing(FIXED, agents=17)
    plan = optimize_staffing(FIXED, abandonment_cost=1000, check=False)
    assert plan.agents == 16
    assert plan.binding.requirements == ()
    assert max(level.agents for level in plan.curve) == 16
    with pytest.raises(Infeasible, match="all 16 agents given are not enough"):
        optimize_staffing(FIXED, min_service_level=0.999999, check=False)
    with pytest.raises(Infeasible, match="max_agents = 12 is not enough"):
        optimize_staffing(FIXED, min_service_level=0.99, max_agents=12, check=False)
    assert optimize_staffing(
        FIXED, abandonment_cost=1000, max_agents=12, check=False
    ).binding.requirements == ("max_agents",)


def test_a_promise_that_an_agent_breaks_again_is_looked_for_everywhere():
    """Occupancy over agents is not falling where slow agents, always busy, follow fast ones."""
    scenario = Scenario(
        calls_per_hour=40,
        mean_patience_seconds=600,
        observed_rates_per_hour=[100, 1, 1, 1, 100, 100],
        roster="fixed",
        max_occupancy=0.4,
        min_agents=1,
    )
    occupancy = [evaluate_staffing(scenario, agents=n).performance.occupancy for n in range(7)]
    assert any(a < b for a, b in pairwise(occupancy[1:]))
    kept = [n for n in range(1, 7) if occupancy[n] <= 0.4]
    assert optimize_staffing(scenario, check=False).agents == kept[0]


def test_a_given_roster_has_no_risk_over_rosters_and_the_plan_says_so():
    plan = optimize_staffing(FIXED, min_service_level=0.8, check_seconds=0.05)
    text = " ".join(str(plan).split())
    assert "the agents are those given, 16 at most" in text
    assert "these agents" in text
    assert "over rosters" not in text
    assert "of rosters would miss" not in text
    assert "exact roster, exact" in text
    assert set(plan.rosters.share_missing.values()) <= {0.0, 1.0}
    assert sorted(plan.regime_probabilities.values()) == [0, 0, 1]
    spread = plan.rosters.cost_per_hour
    assert spread.low == spread.median == spread.high == pytest.approx(plan.cost_per_hour)


def test_the_last_of_given_agents_is_checked_without_a_neighbour_above():
    plan = optimize_staffing(FIXED, abandonment_cost=1000, check_seconds=0.05)
    assert plan.agents == 16
    assert {row.agents for row in plan.check.rows} == {15, 16}
    assert plan.check.verdict != "disagrees"


def test_erlang_a_takes_observed_agents_for_the_average_one():
    drawn = Scenario(**CENTRE, **COSTS, observed_rates_per_hour=RATES, min_service_level=0.8)
    alike = Scenario(
        **CENTRE, **COSTS, min_service_level=0.8, rate_cv=0, mean_handle_seconds=drawn.mean_handle_seconds
    )
    plan = optimize_staffing(drawn, check=False)
    assert plan.classic.erlang_a.agents == optimize_staffing(alike, check=False).agents
    assert "agents like the 16 observed, whose rates differ by CV 0.3" in " ".join(str(plan).split())
    fixed = optimize_staffing(drawn, roster="fixed", check=False)
    assert fixed.classic.erlang_a.agents <= 16


def test_patience_without_end_is_no_obstacle_where_no_agent_is_too_slow():
    """With a slowest rate there is a head count at which every roster keeps up with the calls."""
    scenario = Scenario(
        calls_per_hour=240,
        mean_patience_seconds=math.inf,
        mean_handle_seconds=180,
        rate_law="uniform",
        rate_cv=0.2,
        max_mean_wait_seconds=60,
    )
    plan = optimize_staffing(scenario, check=False)
    slowest = 20 * (1 - math.sqrt(3) * 0.2)
    assert plan.agents == math.floor(240 / slowest) + 1
    assert plan.performance.mean_wait < 60
    with pytest.raises(Infeasible, match="never give up and agents differ"):
        optimize_staffing(scenario, rate_law="gamma", check=False)
