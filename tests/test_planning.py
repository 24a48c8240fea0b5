"""What planners call, on figures known from elsewhere, and what it refuses."""

import dataclasses
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import staffing
from staffing import (
    Infeasible,
    Scenario,
    ScenarioError,
    evaluate_staffing,
    optimize_staffing,
    simulate_staffing,
)
from staffing.curve import Curve
from staffing.level import Level
from staffing.models.performance import MEASURES
from staffing.plan import StaffingPlan

ORDINARY = {"calls_per_hour": 1200, "mean_handle_seconds": 180, "mean_patience_seconds": 120}
ALIKE = ORDINARY | {"rate_cv": 0}


def best(**fields):
    return optimize_staffing(**(ALIKE | fields), check=False)


@pytest.mark.parametrize(
    ("calls", "definition", "agents"),
    [
        (20_000, "offered", 892),
        (20_000, "virtual", 878),
        (20_000, "answered", 876),
        (1200, "offered", 60),
        (1200, "virtual", 59),
        (1200, "answered", 58),
    ],
)
def test_80_in_20_by_each_definition(calls, definition, agents):
    promise = {"min_service_level": 0.8, "service_level_definition": definition}
    assert best(calls_per_hour=calls, **promise).agents == agents


def test_lost_calls_are_weighed_against_agents():
    plan = best(agent_cost_per_hour=30, abandonment_cost=2.5)
    assert plan.agents == 58
    assert plan.cost_per_hour == pytest.approx(1964.90, abs=0.005)
    assert best(agent_cost_per_hour=30, abandonment_cost=1.6).agents == 47


@pytest.mark.parametrize(
    ("load", "cv", "agents"), [(25, 0.5, 31), (100, 0, 110), (100, 0.5, 112), (400, 0.5, 423)]
)
@pytest.mark.parametrize("cause", ["waiting", "abandonment"])
def test_whole_optima_of_agents_who_differ(load, cv, agents, cause):
    # Agents cost 1, a waiting caller 4 a handle time, patience is two handle times; the same cost as a lost call is 8.
    cost = {"waiting": {"waiting_cost_per_hour": 4}, "abandonment": {"abandonment_cost": 8}}[cause]
    plan = optimize_staffing(
        calls_per_hour=load,
        mean_handle_seconds=3600,
        mean_patience_seconds=7200,
        rate_cv=cv,
        agent_cost_per_hour=1,
        **cost,
        check=False,
    )
    assert plan.agents == agents


@given(
    load=st.floats(0.1, 200),
    patience=st.floats(0.01, 10),
    cv=st.floats(0, 1),
    worth=st.floats(0.01, 1),
    share=st.floats(0, 1),
)
def test_nobody_is_staffed_where_a_busy_agent_saves_less_than_it_costs(load, patience, cv, worth, share):
    """kappa mb / theta <= c: `worth` is that of a served call's worth per agent hour, split between the causes."""
    handle = 180
    plan = optimize_staffing(
        calls_per_hour=load * 3600 / handle,
        mean_handle_seconds=handle,
        mean_patience_seconds=handle * patience,
        rate_cv=cv,
        agent_cost_per_hour=30,
        waiting_cost_per_hour=0.999 * 30 * worth * share / patience,
        abandonment_cost=0.999 * 30 * worth * (1 - share) * handle / 3600,
        check=False,
    )
    assert plan.agents == 0


@pytest.mark.parametrize(("load", "patience"), [(5, 3600), (60, 120), (300, 120), (300, 3600)])
def test_nobody_is_staffed_where_a_busy_agent_saves_just_what_it_costs(load, patience):
    # 20 calls an hour at 1.5 each.
    fields = {"calls_per_hour": 20 * load, "mean_patience_seconds": patience, "abandonment_cost": 1.5}
    assert best(agent_cost_per_hour=30, **fields).agents == 0


def test_nobody_is_said_in_words():
    plan = best(agent_cost_per_hour=30, abandonment_cost=1.49)
    assert plan.agents == 0
    assert "staff nobody" in str(plan).splitlines()[0]
    assert "costs more than it saves" in str(plan).splitlines()[0]
    assert plan.cost_per_hour == pytest.approx(1200 * 1.49)
    assert plan.performance.abandonment_probability == 1
    assert best(agent_cost_per_hour=30, abandonment_cost=1.6).agents > 0


def test_the_search_has_no_floor_at_the_load():
    assert best(max_abandonment=0.1).agents == 56
    assert best(max_abandonment=0.5).agents < 32


def test_scenario_fields_and_both_are_the_same_question():
    goal = {"min_service_level": 0.8}
    scenario = Scenario(**ORDINARY)
    plans = [
        optimize_staffing(**ORDINARY, **goal, check=False),
        optimize_staffing(scenario.replace(**goal), check=False),
        optimize_staffing(scenario, **goal, check=False),
        optimize_staffing(scenario, min_service_level=0.8, mean_patience_seconds=120, check=False),
    ]
    assert len({plan.agents for plan in plans}) == 1
    assert all(plan.level == plans[0].level for plan in plans)
    assert all(plan.scenario == plans[0].scenario for plan in plans)
    assert scenario.min_service_level is None


def test_the_same_question_has_the_same_plan():
    first, second = (optimize_staffing(**ORDINARY, min_service_level=0.8, check=False) for _ in range(2))
    assert first == second


def test_what_is_overridden_was_given():
    plan = optimize_staffing(Scenario(**ORDINARY), min_service_level=0.8, rate_cv=0.2, check=False)
    assert "rate_cv" not in plan.assumed
    assert "service_level_seconds" in plan.assumed


def test_the_check_takes_its_seed_and_can_be_left_out():
    scenario = Scenario(**ORDINARY, min_service_level=0.8)
    assert optimize_staffing(scenario, check=False).check is None
    plan = optimize_staffing(scenario, seed=5, check_seconds=0.05)
    assert plan.check.seed == plan.provenance["seed"] == 5
    assert plan.check.verdict in ("agrees", "inconclusive")


def test_no_goal_is_refused():
    with pytest.raises(ScenarioError, match="no promise and no cost"):
        optimize_staffing(**ORDINARY)


@pytest.mark.parametrize("promise", ["waiting_cost_per_hour", "max_mean_wait_seconds"])
def test_infinite_means_are_refused_with_the_way_out(promise):
    with pytest.raises(Infeasible) as caught:
        optimize_staffing(**(ORDINARY | {"mean_patience_seconds": math.inf, promise: 5}), check=False)
    for words in (f"{promise} = 5", "rate_cv = 0.2", "infinite", "min_service_level"):
        assert words in str(caught.value)


def test_infinite_means_are_no_obstacle_without_calls_or_without_differences():
    endless = {"mean_patience_seconds": math.inf, "max_mean_wait_seconds": 5}
    assert best(**endless).agents > 60
    assert best(**endless, rate_cv=0.2, calls_per_hour=0).agents == 0


@pytest.mark.parametrize("function", [optimize_staffing, evaluate_staffing, simulate_staffing])
class TestEveryFunction:
    def call(self, function, *arguments, **fields):
        if function is optimize_staffing:
            return function(*arguments, **fields, check=False)
        return function(*arguments, **fields, agents=60)

    @pytest.mark.parametrize("wrong", ["scenario.toml", 60, dict(ORDINARY), [1], object(), Scenario])
    def test_a_scenario_of_another_type_is_refused(self, function, wrong):
        with pytest.raises(ScenarioError, match="is not a Scenario"):
            self.call(function, wrong)

    @pytest.mark.parametrize(
        ("name", "meant"),
        [
            ("calls_per_hr", "calls_per_hour"),
            ("patience_seconds", "mean_patience_seconds"),
            ("min_service_lvl", "min_service_level"),
            ("shrinkage_percent", "shrinkage"),
        ],
    )
    def test_an_unknown_field_is_answered_with_the_nearest(self, function, name, meant):
        for arguments in ((), (Scenario(**ORDINARY, min_service_level=0.8),)):
            fields = {} if arguments else ORDINARY | {"min_service_level": 0.8}
            with pytest.raises(ScenarioError, match=f"{name} is not a field.*did you mean {meant}") as caught:
                self.call(function, *arguments, **fields, **{name: 1})
            assert len(caught.value.problems) == 1

    def test_every_problem_comes_at_once(self, function):
        with pytest.raises(ScenarioError) as caught:
            self.call(
                function,
                calls_per_hour=-1,
                mean_handle_seconds=math.nan,
                min_service_level=80,
                patience_second=1,
            )
        assert len(caught.value.problems) == 4

    def test_nothing_given_is_answered_with_what_is_needed(self, function):
        with pytest.raises(ScenarioError) as caught:
            self.call(function)
        for name in ORDINARY:
            assert f"{name} is missing" in str(caught.value)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("calls_per_hour", -1, "calls_per_hour = -1 must be between 0 and"),
        ("mean_handle_seconds", 0, "mean_handle_seconds = 0.* must be between"),
        ("mean_handle_seconds", math.nan, "mean_handle_seconds = nan"),
        ("calls_per_hour", math.inf, "calls_per_hour = inf"),
        ("mean_patience_seconds", "120", "must be a number; leave out the quotes"),
        ("min_service_level", 80, "for 80% write 0.8"),
        ("min_service_level", 1.0, "unattainable"),
        ("max_abandonment", 0, "unattainable"),
        ("shrinkage", 30, "for 30% write 0.3"),
        ("calls_per_hour", 1e9, "erlangs, must be at most .*in seconds"),
    ],
)
def test_bad_input_is_one_clear_line(field, value, words):
    fields = ORDINARY | {"min_service_level": 0.8} | {field: value}
    with pytest.raises(ScenarioError, match=words) as caught:
        optimize_staffing(**fields)
    assert len(caught.value.problems) == 1
    assert "\n" not in caught.value.problems[0]


@pytest.mark.parametrize("value", [0, -0.5, math.nan, math.inf, "1", True, None])
def test_check_seconds_must_be_a_time(value):
    with pytest.raises(ScenarioError, match="check_seconds"):
        optimize_staffing(**ORDINARY, min_service_level=0.8, check_seconds=value)


@pytest.mark.parametrize("value", [-1, 1.5, "1", True, None])
def test_seeds_are_whole_numbers(value):
    with pytest.raises(ScenarioError, match="seed"):
        optimize_staffing(**ORDINARY, min_service_level=0.8, seed=value)
    with pytest.raises(ScenarioError, match="seed"):
        simulate_staffing(**ORDINARY, agents=60, seed=value)


class TestEvaluate:
    def test_a_number_gives_a_level_and_several_a_curve(self):
        level = evaluate_staffing(**ORDINARY, agents=60)
        assert isinstance(level, Level)
        curve = evaluate_staffing(**ORDINARY, agents=[62, 60, 61])
        assert isinstance(curve, Curve)
        assert [level.agents for level in curve] == [62, 60, 61]
        assert curve[1] == level
        for agents in (range(60, 63), (60, 61, 62), np.array([60, 61, 62]), (60 + i for i in range(3))):
            assert [level.agents for level in evaluate_staffing(**ORDINARY, agents=agents)] == [60, 61, 62]

    @pytest.mark.parametrize("agents", [np.int32(60), 60.0, np.float64(60)])
    def test_whole_numbers_of_any_type_are_numbers(self, agents):
        level = evaluate_staffing(**ORDINARY, agents=agents)
        assert level == evaluate_staffing(**ORDINARY, agents=60)
        assert type(level.agents) is int

    def test_nobody_is_a_level(self):
        level = evaluate_staffing(**ORDINARY, agents=0, abandonment_cost=2)
        assert level.performance.abandonment_probability == 1
        assert level.performance.service_level.offered == 0
        assert level.performance.mean_wait == 120
        assert level.cost_per_hour == 2400

    @pytest.mark.parametrize(
        ("agents", "words"),
        [
            (-1, "-1 must be at least 0"),
            (13.5, r"13\.5 must be a whole number.* 13 and 14"),
            (math.nan, "nan must be a whole number"),
            (math.inf, "inf must be a whole number"),
            ("60", "'60' must be a whole number"),
            ("", "must be a whole number"),
            (b"<", "must be a whole number"),
            (True, "True must be a whole number"),
            (None, "None must be a whole number"),
            (10**30, "is more than"),
            ([60, -1], "-1 must be at least 0"),
            ([60, "61"], "'61' must be a whole number"),
            ([60, True], "True must be a whole number"),
            (np.array([60.5]), "must be a whole number"),
        ],
    )
    def test_what_is_no_number_of_agents_is_refused(self, agents, words):
        for function in (evaluate_staffing, simulate_staffing)[
            : 1 if isinstance(agents, list | np.ndarray) else 2
        ]:
            with pytest.raises(ScenarioError, match="agents.*" + words):
                function(**ORDINARY, agents=agents)

    def test_a_goal_is_not_needed(self):
        level = evaluate_staffing(**ORDINARY, agents=60)
        assert level.promises == {}
        assert level.keeps_promises
        assert level.rosters.share_missing_any == 0

    def test_a_broken_promise_is_no_error(self):
        level = evaluate_staffing(**ORDINARY, agents=40, min_service_level=0.8, max_abandonment=0.4)
        assert level.promises == {"min_service_level": False, "max_abandonment": True}
        assert not level.keeps_promises

    def test_overrides(self):
        scenario = Scenario(**ORDINARY)
        level = evaluate_staffing(scenario, agents=60, rate_cv=0, shrinkage=0.3)
        assert level == evaluate_staffing(**ALIKE, shrinkage=0.3, agents=60)
        assert level.agents_gross == 86

    def test_it_is_what_the_plan_says_of_its_level(self):
        plan = optimize_staffing(**ORDINARY, min_service_level=0.8, check=False)
        assert evaluate_staffing(plan.scenario, agents=plan.agents) == plan.level


class TestSimulate:
    @pytest.mark.parametrize("fields", [{}, {"rate_cv": 0.5}, {"rate_cv": 0}, {"mean_patience_seconds": 0}])
    def test_it_agrees_with_the_model(self, fields):
        # Eight measures of which perhaps three are independent, four cases: false alarms below 1e-4.
        simulated = simulate_staffing(**(ORDINARY | fields), agents=58, seed=1, rosters=2048)
        model = evaluate_staffing(**(ORDINARY | fields), agents=58).performance
        for measure in (
            "wait_probability",
            "mean_wait",
            "mean_wait_answered",
            "abandonment_probability",
            "service_level_offered",
            "service_level_answered",
            "service_level_virtual",
            "occupancy",
        ):
            error = simulated.standard_errors[measure]
            stated = model.method_error[measure]
            allowed = 4.5 * error + (stated if isinstance(stated, float) else 0)
            assert abs(simulated.value(measure) - model.value(measure)) <= allowed + 1e-12, measure
            assert error <= 0.02 * model.value(measure) + 1e-4, measure

    def test_the_seed_decides(self):
        runs = [simulate_staffing(**ORDINARY, agents=60, seed=seed, rosters=128) for seed in (3, 3, 4)]
        assert runs[0].values() == runs[1].values()
        assert runs[0].values() != runs[2].values()

    def test_it_names_itself_and_its_errors(self):
        simulated = simulate_staffing(**ORDINARY, agents=60, rosters=128)
        assert "simulation" in simulated.method
        assert set(simulated.standard_errors) <= set(MEASURES)
        assert all(math.isfinite(error) for error in simulated.standard_errors.values())
        assert simulated.service_level.threshold == 20
        assert simulated.time_unit == "second"

    def test_more_rosters_know_more(self):
        few, many = (simulate_staffing(**ORDINARY, agents=60, rosters=n) for n in (128, 4096))
        assert many.standard_errors["mean_wait"] < 0.5 * few.standard_errors["mean_wait"]

    def test_nobody_answers_nobody(self):
        simulated = simulate_staffing(**ORDINARY, agents=0, rosters=128)
        assert simulated.abandonment_probability == 1
        assert simulated.mean_wait == pytest.approx(120, abs=5 * simulated.standard_errors["mean_wait"])
        assert simulated.mean_wait_answered == math.inf

    def test_whole_floats_are_whole_numbers(self):
        runs = [
            simulate_staffing(**ORDINARY, **given)
            for given in (
                {"agents": 60, "seed": 3, "rosters": 128},
                {"agents": 60.0, "seed": 3.0, "rosters": 128.0},
            )
        ]
        assert runs[0].values() == runs[1].values()

    @pytest.mark.parametrize("rosters", [0, 127, -5, 1000.5, "1000", True])
    def test_too_few_rosters_are_refused(self, rosters):
        with pytest.raises(ScenarioError, match="rosters"):
            simulate_staffing(**ORDINARY, agents=60, rosters=rosters)

    def test_there_must_be_calls(self):
        with pytest.raises(ScenarioError, match="nothing to simulate"):
            simulate_staffing(**(ORDINARY | {"calls_per_hour": 0}), agents=60)

    def test_a_queue_that_grows_without_end_is_refused(self):
        with pytest.raises(Infeasible, match="grow for ever"):
            simulate_staffing(**(ALIKE | {"mean_patience_seconds": math.inf}), agents=59)


def numbers(value, path=()):
    """Every number in nested dictionaries and lists, with the names that lead to it."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from numbers(inner, (*path, name))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from numbers(inner, path)
    elif isinstance(value, int | float):
        yield path, value


@st.composite
def scenarios(draw):
    """Any scenario that can be meant, and many that cannot, with or without a goal."""
    handle = draw(st.floats(0.01, 1e5) | st.just(180.0))
    load = 10 ** draw(st.floats(-3, 2.5))
    fields = {
        "calls_per_hour": draw(st.sampled_from([0] + 9 * [load * 3600 / handle])),
        "mean_handle_seconds": handle,
        "mean_patience_seconds": draw(
            st.sampled_from([0, math.inf])
            | st.floats(-2, 2).map(lambda x: min(max(handle * 10**x, 1e-3), 1e6))
        ),
    }
    optional = {
        "rate_cv": st.just(0) | st.floats(1e-9, 1),
        "shrinkage": st.floats(0, 0.9),
        "agent_cost_per_hour": st.floats(0.01, 1e4),
        "waiting_cost_per_hour": st.just(0) | st.floats(-3, 5).map(lambda x: 10**x),
        "abandonment_cost": st.just(0) | st.floats(-3, 5).map(lambda x: 10**x),
        "min_service_level": st.floats(0.01, 0.999),
        "service_level_seconds": st.just(0) | st.floats(0, 3600),
        "service_level_definition": st.sampled_from(["offered", "virtual"]),
        "max_abandonment": st.floats(1e-4, 0.99),
        "max_mean_wait_seconds": st.floats(1e-3, 1e4),
        "min_agents": st.integers(0, 40),
        "max_agents": st.integers(40, 500),
    }
    return fields | draw(st.fixed_dictionaries({}, optional=optional))


@settings(max_examples=120)
@given(fields=scenarios())
def test_any_scenario_is_answered_or_refused_and_answers_hold(fields):
    try:
        plan = optimize_staffing(**fields, check=False)
    except (ScenarioError, Infeasible) as error:
        refusal = str(error)
    else:
        refusal = ""
    if refusal:
        assert "nan" not in refusal
        return
    answer = plan.to_dict()
    json.dumps(answer)
    endless = math.isinf(plan.scenario.mean_patience_seconds)
    for path, number in numbers(answer):
        assert not math.isnan(number), path
        # Those who are answered do not exist where nobody answers.
        assert not math.isinf(number) or endless or "mean_wait_answered" in path, path
    assert plan.level.keeps_promises
    assert plan.agents >= plan.scenario.min_agents
    assert plan.scenario.max_agents is None or plan.agents <= plan.scenario.max_agents
    if plan.agents > plan.scenario.min_agents:
        below = plan.curve.at(plan.agents - 1)
        assert not below.keeps_promises or below.cost_per_hour > plan.cost_per_hour
    assert "nan" not in str(plan)


def test_free_agents_with_a_limit_are_answered():
    plan = best(agent_cost_per_hour=0, abandonment_cost=1, max_agents=80)
    assert plan.agents == 80
    assert plan.binding.requirements == ("max_agents",)
    assert plan.binding.agents_without == 81


@pytest.mark.parametrize("cv", [5e-324, 1e-200, 1e-160, 1e-100, 1e-20, 9e-10, 1.1e-9, 1e-7])
def test_agents_who_hardly_differ_are_alike(cv):
    level = evaluate_staffing(**(ORDINARY | {"rate_cv": cv}), agents=60)
    alike = evaluate_staffing(**ALIKE, agents=60)
    assert level.performance.values() == pytest.approx(alike.performance.values(), rel=1e-9)


def test_the_share_of_answered_calls_is_found_for_rosters_that_hardly_answer():
    level = evaluate_staffing(
        calls_per_hour=18.595965122309323,
        mean_handle_seconds=180,
        mean_patience_seconds=45286.44539745865,
        rate_cv=1,
        min_service_level=0.05,
        service_level_definition="answered",
        agents=1,
    )
    assert 0.5 < level.rosters.share_missing["min_service_level"] < 0.8


@pytest.mark.parametrize(
    "goal",
    [
        {"max_abandonment": 0.05},
        {"max_abandonment": 0},
        {"abandonment_cost": 5},
        {"max_abandonment": 0.05, "abandonment_cost": 5},
    ],
)
def test_a_goal_that_patient_callers_make_void_is_no_goal(goal):
    with pytest.raises(ScenarioError, match="give min_service_level") as caught:
        best(mean_patience_seconds=math.inf, **goal)
    for name, limit in goal.items():
        # A promise of no loss at all is kept by patient callers, whoever staffs what.
        assert not limit or ("callers never give up" in str(caught.value) and name in str(caught.value))
    assert best(mean_patience_seconds=math.inf, **goal, min_service_level=0.8).agents == 66


def test_public_names_and_results_are_documented():
    for name in staffing.__all__:
        assert getattr(staffing, name).__doc__
    assert {item.name for item in dataclasses.fields(StaffingPlan)} >= {"scenario", "curve", "check"}


def test_idle_agents_by_the_hundred_thousand_are_found():
    """At an occupancy of at most .0005 it takes 2000 agents an erlang, and so it says."""
    plan = optimize_staffing(
        calls_per_hour=1200,
        mean_handle_seconds=180,
        mean_patience_seconds=120,
        rate_cv=0,
        max_occupancy=0.0005,
        check=False,
    )
    assert plan.agents == 120_000
    with pytest.raises(Infeasible, match="2,000,000"):
        optimize_staffing(
            calls_per_hour=1200,
            mean_handle_seconds=180,
            mean_patience_seconds=120,
            max_occupancy=1e-5,
            check=False,
        )
