"""What a plan holds, and that its parts say the same."""

import json
import math

import pytest

from staffing import Scenario, evaluate_staffing, optimize_staffing
from staffing.curve import Curve
from staffing.level import Level, Rosters
from staffing.models.performance import Performance
from staffing.plan import StaffingPlan

SCENARIO = Scenario(
    name="Monday",
    calls_per_hour=1200,
    mean_handle_seconds=180,
    mean_patience_seconds=120,
    shrinkage=0.3,
    agent_cost_per_hour=30,
    waiting_cost_per_hour=20,
    abandonment_cost=2.5,
    min_service_level=0.8,
)


@pytest.fixture(scope="module")
def plan():
    return optimize_staffing(SCENARIO, seed=7, check_seconds=0.1)


def test_the_fields_of_the_design(plan):
    assert isinstance(plan, StaffingPlan)
    assert plan.scenario is SCENARIO
    assert isinstance(plan.agents, int)
    assert plan.agents_gross == math.ceil(plan.agents / 0.7)
    assert plan.cost_per_hour == pytest.approx(sum(plan.cost_parts.values()))
    assert set(plan.cost_parts) == {"agents", "waiting", "abandonment", "blocking"}
    assert isinstance(plan.performance, Performance)
    assert isinstance(plan.rosters, Rosters)
    assert plan.regime in ("QD", "QED", "ED")
    assert isinstance(plan.curve, Curve)
    assert plan.check.verdict in ("agrees", "inconclusive")
    assert set(plan.provenance) >= {"version", "seed", "method", "seconds"}
    assert plan.provenance["seed"] == 7
    assert plan.provenance["method"] == plan.performance.method == "gamma closure"
    assert plan.provenance["seconds"] > 0


def test_the_parts_of_the_cost_are_agents_queue_and_lost_calls(plan):
    p = plan.performance
    assert plan.cost_parts["agents"] == 30 * plan.agents
    assert plan.cost_parts["waiting"] == pytest.approx(20 * p.mean_queue)
    assert plan.cost_parts["abandonment"] == pytest.approx(2.5 * 1200 * p.abandonment_probability)


def test_performance_is_in_seconds(plan):
    p = plan.performance
    assert p.time_unit == "second"
    assert p.service_level.threshold == 20
    assert p.mean_queue == pytest.approx(p.mean_wait * 1200 / 3600)
    assert p.throughput * 3600 == pytest.approx(1200 * (1 - p.abandonment_probability))


def test_the_curve_surrounds_the_answer_and_holds_its_level(plan):
    counts = [level.agents for level in plan.curve]
    assert counts == list(range(counts[0], counts[-1] + 1))
    assert {plan.agents - 1, plan.agents, plan.agents + 1} <= set(counts)
    assert plan.curve.at(plan.agents) is plan.level
    kept = [level for level in plan.curve if level.keeps_promises]
    assert min(kept, key=lambda level: level.cost_per_hour).agents == plan.agents


@pytest.mark.parametrize("agents", [0, 1, 2])
def test_the_curve_begins_with_nobody(agents):
    plan = optimize_staffing(SCENARIO, calls_per_hour=0, min_agents=agents, check=False)
    assert plan.agents == agents
    assert plan.curve[0].agents == 0
    assert plan.agents + 1 in [level.agents for level in plan.curve]


def test_the_curve_is_levels_evaluated(plan):
    again = evaluate_staffing(SCENARIO, agents=[level.agents for level in plan.curve])
    assert again == plan.curve


def test_regimes_over_rosters_sum_to_one(plan):
    assert set(plan.regime_probabilities) == {"QD", "QED", "ED"}
    assert sum(plan.regime_probabilities.values()) == pytest.approx(1)
    assert all(0 <= p <= 1 for p in plan.regime_probabilities.values())


@pytest.mark.parametrize(("agents", "regime"), [(30, "ED"), (60, "QED"), (100, "QD")])
def test_the_regime_is_that_of_the_mean_capacity(agents, regime):
    plan = optimize_staffing(
        SCENARIO.replace(rate_cv=0), min_service_level=None, min_agents=agents, max_agents=agents, check=False
    )
    assert plan.regime == regime
    assert plan.regime_probabilities[regime] == 1


def test_rosters_of_60_at_60_erlangs():
    # 27% +- 4% miss 80% within a ninth of a handle time.
    level = evaluate_staffing(SCENARIO, agents=60, rate_cv=0.2)
    assert level.rosters.share_missing["min_service_level"] == pytest.approx(0.27, abs=0.04)
    assert level.rosters.share_missing_any == level.rosters.share_missing["min_service_level"]


def test_quantiles_over_rosters_are_ordered_and_surround_the_mean(plan):
    assert set(plan.rosters.quantiles) == set(plan.performance.values())
    for measure, spread in plan.rosters.quantiles.items():
        assert spread.low <= spread.median <= spread.high
        if spread.low < spread.high:
            assert spread.low < plan.performance.value(measure) < spread.high, measure
    cost = plan.rosters.cost_per_hour
    assert cost.low < cost.median < cost.high
    assert cost.low < plan.cost_per_hour < cost.high


def test_agents_alike_have_no_rosters():
    plan = optimize_staffing(SCENARIO, rate_cv=0, check=False)
    assert plan.rosters.quantiles == {}
    assert plan.rosters.share_missing == {"min_service_level": 0}
    cost = plan.rosters.cost_per_hour
    assert cost.low == cost.median == cost.high == pytest.approx(plan.cost_per_hour)
    assert plan.provenance["method"] == "Erlang A"


def test_assumptions_and_doubts_come_from_the_scenario(plan):
    assert plan.assumed == SCENARIO.assumed()
    assert "rate_cv" in plan.assumed
    assert plan.warnings == ()
    doubtful = optimize_staffing(SCENARIO, mean_handle_seconds=180 * 60, check=False)
    assert any("erlangs" in warning for warning in doubtful.warnings)


def plain(value):
    if isinstance(value, dict):
        return all(type(name) is str and plain(inner) for name, inner in value.items())
    if isinstance(value, list | tuple):
        return all(plain(inner) for inner in value)
    return value is None or type(value) in (bool, int, float, str)


def test_to_dict_is_plain_and_goes_through_json(plan):
    answer = plan.to_dict()
    assert plain(answer)
    # A check on a slow machine may have learned nothing: its intervals are then infinite, which JSON has no word for.
    assert json.dumps(answer | {"check": None}, allow_nan=False)
    again = json.loads(json.dumps(answer))
    assert again["agents"] == plan.agents
    assert again["scenario"] == SCENARIO.to_dict()
    assert again["performance"]["service_level_offered"] == plan.performance.service_level.offered
    assert again["performance"]["service_level_seconds"] == 20
    assert len(again["curve"]) == len(plan.curve)
    assert again["check"]["seed"] == 7
    assert tuple(again["binding"]["requirements"]) == plan.binding.requirements
    assert again["classic"]["erlang_a"]["agents"] == plan.classic.erlang_a.agents
    assert Scenario(**again["scenario"]) == SCENARIO


def test_to_dict_without_a_check_and_without_promises():
    answer = optimize_staffing(SCENARIO, min_service_level=None, check=False).to_dict()
    assert plain(answer)
    assert answer["check"] is None
    assert answer["promises"] == {}


def test_plans_of_the_same_question_are_equal_whatever_they_took():
    first, second = (optimize_staffing(SCENARIO, check=False) for _ in range(2))
    assert first == second
    assert first != optimize_staffing(SCENARIO, name="Tuesday", check=False)


def test_a_plan_cannot_be_changed(plan):
    with pytest.raises(AttributeError):
        plan.level = None
    with pytest.raises(AttributeError):
        plan.agents = 3


def test_the_level_is_a_level(plan):
    assert isinstance(plan.level, Level)
    assert plan.level.promises == {"min_service_level": True}
    assert plan.level.keeps_promises
