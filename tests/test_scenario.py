import copy
import doctest
import inspect
import json
import math
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from staffing.field_kinds import Number, kind_of
from staffing.models.errors import ScenarioError
from staffing.scenario import Scenario
from staffing.scenario_fields import FIELDS

ORDINARY = {"calls_per_hour": 1200, "mean_handle_seconds": 180, "mean_patience_seconds": 120}


def scenario(**fields):
    return Scenario(**(ORDINARY | fields))


def problems(**fields):
    with pytest.raises(ScenarioError) as caught:
        scenario(**fields)
    return caught.value.problems


@pytest.mark.parametrize(
    ("field", "value", "line"),
    [
        ("min_service_level", 80, "min_service_level = 80 must be between 0 and 1; for 80% write 0.8"),
        ("shrinkage", 30, "shrinkage = 30 must be between 0 and 0.99; for 30% write 0.3"),
        ("rate_cv", 20, "rate_cv = 20 must be between 0 and 1; for 20% write 0.2"),
        ("max_abandonment", 5.5, "max_abandonment = 5.5 must be between 0 and 1; for 5.5% write 0.055"),
        ("max_occupancy", "85%", "max_occupancy = '85%' must be a number; for 85% write 0.85"),
        ("mean_handle_seconds", "180", "mean_handle_seconds = '180' must be a number; leave out the quotes"),
        ("min_agents", 13.5, "min_agents = 13.5 must be a whole number; its neighbours are 13 and 14"),
        (
            "service_level_definition",
            "Answer",
            "service_level_definition = 'Answer' must be offered, answered or virtual; did you mean answered?",
        ),
        ("rate_cv", 1.01, "rate_cv = 1.01 must be between 0 and 1; for 1.01% write 0.0101"),
    ],
)
def test_a_refusal_names_field_value_limit_and_way_out(field, value, line):
    assert problems(**{field: value}) == (line,)


@pytest.mark.parametrize(
    "field", [name for name, item in FIELDS.items() if isinstance(kind_of(item), Number)]
)
@pytest.mark.parametrize(
    "value",
    [
        -1,
        -1e-9,
        math.nan,
        -math.inf,
        "many",
        "",
        True,
        Decimal("0.5"),
        0.5j,
        [1],
        np.array([1.0, 2.0]),
        np.timedelta64(3, "ns"),
        10**400,
        10**5000,
    ],
    ids=lambda value: f"{type(value).__name__} {value!s:.12}" if not isinstance(value, int) else "int",
)
def test_what_is_not_a_number_in_range_is_refused_in_one_line(field, value):
    (line,) = problems(**{field: value})
    assert line.startswith(f"{field} = ")
    assert "\n" not in line
    assert len(line) < 250


@pytest.mark.parametrize("field", [name for name in FIELDS if name != "mean_patience_seconds"])
def test_infinity_is_only_for_patience(field):
    assert any(line.startswith(f"{field} = inf") for line in problems(**{field: math.inf}))
    assert scenario(mean_patience_seconds=math.inf).abandonment_rate == 0


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"min_service_level": 1.0}, "unattainable with finitely many agents; try 0.99"),
        ({"min_service_level": 0}, "promises nothing"),
        ({"max_abandonment": 0}, "unattainable"),
        ({"max_abandonment": 1}, "promises nothing"),
        ({"max_mean_wait_seconds": 0}, "unattainable"),
        ({"max_occupancy": 0}, "unattainable"),
        ({"max_occupancy": 1}, "promises nothing"),
        ({"shrinkage": 1.0}, "leaves nobody"),
        ({"mean_handle_seconds": 0}, "between 0.001"),
        ({"min_agents": 5, "max_agents": 4}, "must be at most max_agents = 4"),
        ({"max_agents": 2_000_001}, "between 0 and 2000000"),
        ({"calls_per_hour": 1e6, "mean_handle_seconds": 10_800}, "3000000 erlangs, must be at most 1000000"),
        ({"name": "a\nb"}, "one line"),
        ({"name": "\x1b[31m"}, "one line"),
        ({"name": "\ud800"}, "one line"),
        ({"name": "x" * 201}, "it has 201"),
        ({"name": 7}, "must be text"),
    ],
)
def test_what_cannot_be_is_refused(fields, words):
    (line,) = problems(**fields)
    assert words in line


def test_promises_that_patience_makes_attainable_are_accepted():
    assert scenario(max_abandonment=0, mean_patience_seconds=math.inf).max_abandonment == 0
    assert scenario(max_mean_wait_seconds=0, mean_patience_seconds=0).max_mean_wait_seconds == 0


@pytest.mark.parametrize(
    "make", [lambda **given: Scenario(**given), lambda **given: Scenario.from_fields(given)]
)
def test_all_problems_come_at_once(make):
    with pytest.raises(ScenarioError) as caught:
        make(call_per_hour=5, mean_handle_seconds=-3, shrinkage=30, min_agents=9, max_agents=8)
    assert [line.split()[0] for line in caught.value.problems] == [
        "call_per_hour",
        "mean_handle_seconds",
        "shrinkage",
        "mean_patience_seconds",
        "min_agents",
    ]
    assert str(caught.value).count("\n") == 4
    assert "did you mean calls_per_hour?" in caught.value.problems[0]


def test_a_name_like_no_other_is_answered_with_all_of_them():
    (line,) = problems(zzz=1)
    assert all(name in line for name in FIELDS)
    (line,) = problems(**{"z" * 5000: 1})
    assert len(line) < 600


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("max_ab", "max_abandonment"),
        ("service_level", "service_level_seconds"),
        ("shrink", "shrinkage"),
        ("abandonment", "abandonment_cost"),
        ("mean_handle_secs", "mean_handle_seconds"),
    ],
)
def test_a_name_that_begins_like_a_field_means_it(word, meant):
    (line,) = problems(**{word: 0.5})
    assert line.endswith(f"did you mean {meant}?")


def test_later_fields_are_not_pretended():
    assert len(problems(assignment="idle-queue", confidence=0.9)) == 2


def test_numbers_are_stored_plain():
    plain = scenario(
        calls_per_hour=np.int64(1200),
        rate_cv=np.float32(0.25),
        shrinkage=Fraction(1, 4),
        min_agents=np.uint8(3),
        max_agents=60.0,
        abandonment_cost=-0.0,
        name=np.str_("Monday"),
    )
    assert [type(value) for value in plain.given().values()] == [str, *[float] * 6, int, int]
    assert plain.to_dict() == json.loads(json.dumps(plain.to_dict()))
    assert math.copysign(1, plain.abandonment_cost) == 1
    assert problems(calls_per_hour=np.float64(math.nan))[0].startswith("calls_per_hour = nan ")


def test_rates_are_per_second():
    centre = scenario()
    assert centre.arrival_rate == pytest.approx(1 / 3)
    assert centre.service_rate == pytest.approx(1 / 180)
    assert centre.abandonment_rate == pytest.approx(1 / 120)
    assert centre.offered_load == 60


def test_patience_has_two_limits():  # planner case 19
    at_once = scenario(mean_patience_seconds=0)
    assert at_once.abandonment_rate == math.inf
    assert any("Erlang B" in line for line in at_once.warnings())
    assert scenario(mean_patience_seconds=-0.0).abandonment_rate == math.inf
    assert scenario(mean_patience_seconds=math.inf).abandonment_rate == 0


@pytest.mark.parametrize(
    ("agents", "shrinkage", "gross"),
    [
        (100, 0.3, 143),
        (70, 0.3, 100),
        (70, 1 - 0.7, 100),
        (0, 0.3, 0),
        (58, 0, 58),
        (9, 0.1, 10),
        (1, 0.99, 100),
    ],
)
def test_shrinkage_divides_and_rounding_errors_do_not_count(agents, shrinkage, gross):  # planner case 7
    assert scenario(shrinkage=shrinkage).agents_gross(agents) == gross


@given(gross=st.integers(0, 3000), percent=st.integers(0, 99))
def test_gross_agents_are_the_fewest_of_whom_enough_are_present(gross, percent):
    present = gross * (100 - percent) // 100
    answer = scenario(shrinkage=percent / 100).agents_gross(present)
    assert answer * (100 - percent) >= 100 * present > (answer - 1) * (100 - percent)


def test_whole_floats_are_whole_agents():
    assert scenario(shrinkage=0.3).agents_gross(100.0) == 143


@pytest.mark.parametrize("agents", [13.5, -1, "5", None])
def test_gross_agents_are_of_whole_agents(agents):
    with pytest.raises(ScenarioError, match="agents"):
        scenario().agents_gross(agents)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (
            {"calls_per_hour": 200, "mean_handle_seconds": 10_800},
            ["load is 600 erlangs", "180 minutes", "steady"],
        ),
        ({"calls_per_hour": 10, "mean_handle_seconds": 2700}, ["longer than a half-hour interval"]),
        ({"mean_handle_seconds": 3}, ["load is 1 erlangs", "if minutes are meant, write 180"]),
        ({"calls_per_hour": 200_000}, ["load is 10000 erlangs", "in seconds?"]),
        ({"mean_patience_seconds": 2}, ["if minutes are meant, write 120"]),
        ({"service_level_seconds": 0.5}, ["if minutes are meant, write 30"]),
        ({"calls_per_hour": 0}, ["nobody is needed"]),
    ],
)
def test_what_looks_like_a_slip_is_asked_about(fields, words):  # planner cases 10 and 11
    lines = scenario(**fields).warnings()
    assert all(word in "\n".join(lines) for word in words)
    assert all("\n" not in line for line in lines)


@given(
    load=st.floats(0.01, 4999),
    handle=st.floats(15, 1800),
    patience=st.one_of(st.just(math.inf), st.floats(3, 1e6)),
    threshold=st.sampled_from([0, 10, 20, 180]),
)
@example(load=4000, handle=360, patience=math.inf, threshold=20)
def test_ordinary_scenarios_raise_no_doubt(load, handle, patience, threshold):
    centre = Scenario(
        calls_per_hour=load / handle * 3600,
        mean_handle_seconds=handle,
        mean_patience_seconds=patience,
        service_level_seconds=threshold,
    )
    assert centre.warnings() == ()


def test_assumed_are_the_fields_not_given_that_matter():
    assert scenario().assumed() == ("rate_cv",)
    assert scenario(rate_cv=0.2).assumed() == ()
    assert scenario(rate_cv=0.2, waiting_cost_per_hour=3).assumed() == ("agent_cost_per_hour",)
    assert scenario(min_service_level=0.8, service_level_seconds=20).assumed() == (
        "rate_cv",
        "service_level_definition",
    )


def test_equality_is_of_values_and_hash_follows():
    assert scenario() == scenario(rate_cv=0.2, max_agents=None)
    assert hash(scenario()) == hash(scenario(rate_cv=0.2))
    assert scenario() != scenario(rate_cv=0.1)
    assert len({scenario(), scenario(rate_cv=0.2), scenario(rate_cv=0.1)}) == 2


def test_replace_keeps_what_was_given():
    changed = scenario(rate_cv=0.2).replace(calls_per_hour=1300)
    assert changed == scenario(calls_per_hour=1300)
    assert changed.assumed() == ()
    assert scenario().replace(calls_per_hour=1300).assumed() == ("rate_cv",)


def test_none_takes_a_field_back():
    assert scenario(max_agents=5).replace(max_agents=None) == scenario()
    taken = scenario(rate_cv=0.4, name="Monday").replace(rate_cv=None, name=None)
    assert taken.given() == scenario().given()
    assert taken.assumed() == ("rate_cv",)
    assert Scenario.from_fields(dict.fromkeys(FIELDS) | ORDINARY) == scenario()
    with pytest.raises(ScenarioError, match=r"^mean_handle_seconds is missing: mean handle time"):
        scenario().replace(mean_handle_seconds=None)
    assert problems(zzz=None)[0].startswith("zzz is not a field")


def test_replace_refuses_and_leaves_the_old_alone():
    centre = scenario()
    with pytest.raises(ScenarioError, match="did you mean rate_cv"):
        centre.replace(rate_vc=0.1)
    with pytest.raises(ScenarioError, match="min_service_level = 80"):
        centre.replace(min_service_level=80)
    assert centre == scenario()
    with pytest.raises(FrozenInstanceError):
        centre.rate_cv = 0.1


@pytest.mark.parametrize(
    "again",
    [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it)), lambda it: it.replace()],
    ids=["copy", "deepcopy", "pickle", "replace"],
)
def test_copies_are_equal_and_know_what_was_given(again):
    centre = scenario(name="Monday", rate_cv=0.2, max_agents=80)
    twin = again(centre)
    assert twin == centre
    assert twin.given() == centre.given()
    assert repr(twin) == repr(centre)


def test_repr_makes_the_scenario_again():
    centre = scenario(name='it\'s "x"', mean_patience_seconds=math.inf, max_agents=80)
    assert eval(repr(centre), {"Scenario": Scenario, "inf": math.inf}) == centre


def test_from_fields_takes_to_dict_back():
    centre = scenario(max_abandonment=0.05, service_level_definition="virtual")
    assert Scenario.from_fields(centre.to_dict()) == centre
    assert list(centre.to_dict()) == list(FIELDS)


@pytest.mark.parametrize(
    "fields",
    [
        {"min_service_level": 0.8},
        {"max_abandonment": 0.05},
        {"max_mean_wait_seconds": 10},
        {"max_occupancy": 0.9},
        {"waiting_cost_per_hour": 1},
        {"abandonment_cost": 1},
        {"abandonment_cost": 1, "agent_cost_per_hour": 0, "max_agents": 9},
        {
            "abandonment_cost": 1,
            "agent_cost_per_hour": 0,
            "observed_rates_per_hour": [20, 21],
            "roster": "fixed",
            "mean_handle_seconds": None,
        },
    ],
)
def test_a_promise_or_a_cost_is_a_goal(fields):
    scenario(**fields).require_goal()


def test_no_goal_is_refused_only_when_one_is_needed():
    centre = scenario(min_agents=4)
    with pytest.raises(ScenarioError, match=r"no promise and no cost .* give min_service_level"):
        centre.require_goal()
    with pytest.raises(ScenarioError, match="agent_cost_per_hour = 0"):
        scenario(abandonment_cost=1, agent_cost_per_hour=0).require_goal()


@pytest.mark.parametrize("fields", [{"max_abandonment": 0.05}, {"abandonment_cost": 1}])
def test_to_lose_few_is_no_goal_if_nobody_gives_up(fields):
    patient = scenario(**fields, mean_patience_seconds=math.inf)
    with pytest.raises(ScenarioError, match="callers never give up"):
        patient.require_goal()
    for goal in ({"min_service_level": 0.8}, {"waiting_cost_per_hour": 1}, {"max_occupancy": 0.9}):
        patient.replace(**goal).require_goal()


def test_every_field_is_in_the_docstring_and_the_signature_is_known():
    assert all(f"    {name} : " in Scenario.__doc__ for name in FIELDS)
    assert list(inspect.signature(Scenario).parameters) == list(FIELDS)


def test_doctest():
    assert doctest.testmod(sys.modules["staffing.scenario"]).failed == 0


class _Hostile:
    def __repr__(self):
        raise RuntimeError("no")


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.floats(0, 1),
    st.decimals(),
    st.fractions(),
    st.complex_numbers(),
    st.text(),
    st.binary(),
    st.dates(),
    st.lists(st.integers()),
    st.lists(st.one_of(st.floats(), st.integers(1, 100), st.text(), st.none(), st.booleans()), max_size=6),
    st.lists(st.floats(0.0036, 3.6e6), min_size=1, max_size=6),
    st.sets(st.integers()),
    st.dictionaries(st.text(), st.integers()),
    st.sampled_from(
        [
            1,
            0.5,
            1200,
            math.inf,
            _Hostile(),
            np.float16(0.5),
            np.longdouble("1e4000"),
            np.array(3.0),
            np.array([[1.0], [2.0]]),
            np.array([1, 2], "m8[ns]"),
            range(10**30),
            range(10**9),
            iter([1.0]),
            object(),
            1 << 20000,
        ]
    ),
    st.sampled_from([word for item in FIELDS.values() for word in getattr(kind_of(item), "words", ())]),
)


@given(
    st.dictionaries(st.one_of(st.sampled_from(list(FIELDS)), st.text(), st.integers()), JUNK), st.booleans()
)
def test_junk_is_refused_and_nothing_else_happens(fields, complete):
    lines = ()
    try:
        centre = Scenario.from_fields(ORDINARY | fields if complete else fields)
    except ScenarioError as error:
        lines = error.problems
    assert all(line and "\n" not in line and len(line) < 600 for line in lines)
    if not lines:
        assert centre.offered_load <= 1e6
        assert Scenario.from_fields(centre.to_dict()) == centre
        centre.warnings()
        centre.agents_gross(100)


def test_scenarios_load_nothing_heavy():
    code = (
        "import sys; import staffing.scenario, staffing.scenario_file, staffing.scenario_template\n"
        "print({'numba', 'pandas', 'scipy', 'cvxpy', 'matplotlib', 'numpy'} & set(sys.modules))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "set()"
