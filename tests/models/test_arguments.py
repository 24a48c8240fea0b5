"""Bad arguments are refused where they enter, by name and value, by every public function of the models."""

import math
from fractions import Fraction

import numpy as np
import pytest

from staffing.models.arguments import count, non_negative, number, positive
from staffing.models.drawn_agents import DrawnAgents
from staffing.models.erlang import erlang_a, erlang_b, erlang_c
from staffing.models.errors import ScenarioError, StaffingError
from staffing.models.rate_laws import GammaRates
from staffing.models.roster import roster_performance
from staffing.models.shared_queue import Callers

NOT_NUMBERS = ["12", "", None, True, False, math.nan, np.float64("nan"), 1 + 2j, [3.0], np.array([1.0, 2.0])]
NEGATIVE = [-1, -1e-300, -math.inf]


def refused(name, value, function, *arguments, **named):
    """The refusal names the argument first and gives the value as it was given."""
    with pytest.raises(ScenarioError) as refusal:
        function(*arguments, **named)
    text = str(refusal.value)
    assert text.startswith(f"{name}: ")
    assert (repr(value) in text) or ("nan" in text and value != value)
    assert "\n" not in text
    assert isinstance(refusal.value, StaffingError)
    assert isinstance(refusal.value, ValueError)


@pytest.mark.parametrize("value", NOT_NUMBERS, ids=repr)
@pytest.mark.parametrize("check", [number, positive, non_negative])
def test_what_is_no_number(check, value):
    refused("speed", value, check, "speed", value)


@pytest.mark.parametrize("value", [0, 1, 2.5, np.float32(0.5), np.int64(7), Fraction(1, 4), 1e300])
def test_real_numbers_of_every_kind_become_floats(value):
    assert type(number("speed", value)) is float
    assert number("speed", value) == float(value)
    assert non_negative("speed", value) == float(value)


@pytest.mark.parametrize("value", [0, 0.0, *NEGATIVE, math.inf], ids=repr)
def test_what_is_not_positive(value):
    refused("speed", value, positive, "speed", value)


def test_infinity_only_where_it_is_allowed():
    refused("speed", math.inf, non_negative, "speed", math.inf)
    assert non_negative("speed", math.inf, infinite=True) == math.inf
    for value in NEGATIVE:
        refused("speed", value, non_negative, "speed", value)
        refused("speed", value, non_negative, "speed", value, infinite=True)


@pytest.mark.parametrize("value", ["3", None, True, 13.5, math.nan, math.inf, -1, np.float64(2.5)], ids=repr)
def test_what_is_no_count(value):
    refused("agents", value, count, "agents", value)


def test_a_fractional_count_is_told_its_neighbours():
    with pytest.raises(ScenarioError, match="13 and 14"):
        count("agents", 13.5)


@pytest.mark.parametrize("value", [0, 7, np.int64(7), np.uint8(3), 13.0, np.float64(2)])
def test_whole_numbers_of_every_kind_are_counts(value):
    assert type(count("agents", value)) is int
    assert count("agents", value) == value


# --- every door ---

GOOD = {
    "erlang_a": (
        erlang_a,
        {
            "arrival_rate": 9.0,
            "service_rate": 1.0,
            "abandonment_rate": 0.5,
            "agents": 10,
            "threshold": 0.2,
        },
    ),
    "erlang_c": (
        erlang_c,
        {"arrival_rate": 9.0, "service_rate": 1.0, "agents": 10, "threshold": 0.2},
    ),
    "erlang_b": (erlang_b, {"arrival_rate": 9.0, "service_rate": 1.0, "agents": 10}),
    "roster": (
        lambda arrival_rate, abandonment_rate, threshold: roster_performance(
            [1.0, 2.0], arrival_rate, abandonment_rate, threshold=threshold
        ),
        {"arrival_rate": 2.0, "abandonment_rate": 0.5, "threshold": 0.2},
    ),
    "Callers": (Callers, {"arrival_rate": 9.0, "abandonment_rate": 0.5, "threshold": 0.2}),
    "GammaRates": (GammaRates, {"mean": 1.0, "cv": 0.2}),
    "performance": (
        lambda agents: DrawnAgents(Callers(9.0, 0.5), GammaRates(1.0, 0.2)).performance(agents),
        {"agents": 10},
    ),
    "values": (
        lambda agents: DrawnAgents(Callers(9.0, 0.5), GammaRates(1.0, 0.2)).values(agents),
        {"agents": 10},
    ),
    "shares_failing": (
        lambda agents: DrawnAgents(Callers(9.0, 0.5), GammaRates(1.0, 0.2)).shares_failing(
            agents, {"mean_wait": lambda values: values["mean_wait"] - 1}
        ),
        {"agents": 10},
    ),
}
BAD = {
    "arrival_rate": [-1.0, math.nan, math.inf, "9", True, None],
    "service_rate": [0, 0.0, -1.0, math.nan, math.inf, "1", True, None],
    "abandonment_rate": [-0.5, math.nan, "never", True, None],
    "agents": [-1, 13.5, math.nan, math.inf, "10", True, None],
    "threshold": [-0.1, math.nan, math.inf, "0.2", True, None],
    "mean": [0, -1.0, math.nan, math.inf, "1", True, None],
    "cv": [-0.1, math.nan, math.inf, "0.2", True, None],
}
DOORS = [
    pytest.param(door, argument, value, id=f"{door}-{argument}-{value!r}")
    for door, (_, arguments) in GOOD.items()
    for argument in arguments
    for value in BAD[argument]
]


@pytest.mark.parametrize("door", GOOD)
def test_good_arguments_pass(door):
    function, arguments = GOOD[door]
    function(**arguments)


@pytest.mark.parametrize(("door", "argument", "value"), DOORS)
def test_every_bad_argument_is_refused(door, argument, value):
    function, arguments = GOOD[door]
    refused(argument, value, function, **arguments | {argument: value})


def test_infinite_abandonment_is_good():
    assert Callers(9.0, math.inf).abandonment_rate == math.inf


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, "1", True, None], ids=repr)
def test_a_bad_rate_is_refused_with_its_place(value):
    refused("rates[1]", value, roster_performance, [1.0, value, 2.0], 2.0, 0.5)


@pytest.mark.parametrize("routing", ["fastest", "Longest-idle", "", None, "shortest-queue"])
def test_an_unknown_routing_rule_is_refused_with_the_known_ones(routing):
    refused("routing", routing, roster_performance, [1.0, 2.0], 2.0, 0.5, routing=routing)
    with pytest.raises(ScenarioError, match="longest-idle, random"):
        roster_performance([1.0, 2.0], 2.0, 0.5, routing=routing)


def test_rates_of_any_sequence_are_taken():
    expected = roster_performance([1.0, 2.0], 2.0, 0.5)
    for rates in ((1, 2), np.array([1.0, 2.0]), [Fraction(1), np.float32(2)]):
        assert roster_performance(rates, 2.0, 0.5) == expected


def test_several_problems_stand_on_lines_of_their_own():
    error = ScenarioError(["one: 1", "two: 2"])
    assert error.problems == ("one: 1", "two: 2")
    assert str(error) == "one: 1\ntwo: 2"
    assert ScenarioError("one: 1").problems == ("one: 1",)
