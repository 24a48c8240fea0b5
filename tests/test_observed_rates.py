"""Scenarios whose agents were observed: what the rates say about the other fields, and what cannot go with them."""

import copy
import dataclasses
import json
import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from staffing.models.errors import ScenarioError
from staffing.scenario import Scenario

CALLERS = {"calls_per_hour": 1200, "mean_patience_seconds": 120}
RATES = (18.5, 21.0, 24.2)

rate = st.floats(0.0036, 3.6e6)


def observed(rates=RATES, **fields):
    return Scenario(**(CALLERS | {"observed_rates_per_hour": rates} | fields))


def problems(make, *arguments, **fields):
    with pytest.raises(ScenarioError) as caught:
        make(*arguments, **fields)
    return caught.value.problems


def test_rates_say_what_their_mean_and_their_spread_are():
    centre = observed([15, 25])
    assert centre.mean_handle_seconds == 180
    assert centre.rate_cv == 0.25
    assert centre.rate_law == "observed"
    assert centre.roster == "drawn"
    assert centre.service_rate == pytest.approx(20 / 3600)
    assert centre.offered_load == 60
    assert list(centre.given()) == ["calls_per_hour", "mean_patience_seconds", "observed_rates_per_hour"]


@given(st.lists(rate, min_size=1, max_size=30))
def test_mean_and_spread_are_those_of_the_population(rates):
    exact = [Fraction(each) for each in rates]
    mean = sum(exact) / len(exact)
    scv = sum((each - mean) ** 2 for each in exact) / len(exact) / mean**2
    centre = Scenario(calls_per_hour=1, mean_patience_seconds=60, observed_rates_per_hour=rates)
    assert centre.mean_handle_seconds == pytest.approx(float(3600 / mean), rel=1e-14)
    assert centre.rate_cv == pytest.approx(math.sqrt(scv), rel=1e-14)
    assert 0.001 <= centre.mean_handle_seconds <= 1e6
    assert Scenario.from_fields(json.loads(json.dumps(centre.to_dict()))) == centre


@given(rate, st.integers(1, 50))
def test_agents_alike_do_not_differ_at_all(value, agents):
    assert (
        Scenario(**(CALLERS | {"calls_per_hour": 0}), observed_rates_per_hour=[value] * agents).rate_cv == 0
    )


@given(st.lists(rate, min_size=2, max_size=9), st.randoms())
def test_the_order_of_agents_is_kept_and_changes_no_mean(rates, random):
    shuffled = random.sample(rates, len(rates))
    one, other = (
        Scenario(calls_per_hour=0, mean_patience_seconds=60, observed_rates_per_hour=each)
        for each in (rates, shuffled)
    )
    assert (one.mean_handle_seconds, one.rate_cv) == (other.mean_handle_seconds, other.rate_cv)
    assert other.observed_rates_per_hour == tuple(shuffled)
    assert (one == other) == (rates == shuffled)


@pytest.mark.parametrize("make", [list, tuple, np.array, pd.Series])
def test_however_the_rates_are_given_the_scenario_is_the_same(make):
    centre = observed(make(RATES))
    assert centre == observed()
    assert hash(centre) == hash(observed())
    assert centre.observed_rates_per_hour == RATES
    assert centre != observed([18.5, 21, 24.3])


@pytest.mark.parametrize(
    "again",
    [
        copy.copy,
        copy.deepcopy,
        dataclasses.replace,
        lambda it: pickle.loads(pickle.dumps(it)),
        lambda it: it.replace(),
        lambda it: eval(repr(it), {"Scenario": Scenario}),
        lambda it: Scenario.from_fields(it.to_dict()),
        lambda it: Scenario.from_fields(dataclasses.asdict(it)),
    ],
)
def test_copies_are_equal_and_what_the_rates_imply_was_not_given(again):
    centre = observed([10, 10, 10, 200], roster="fixed", rate_law="observed")  # a CV above what may be given
    assert centre.rate_cv > 1
    twin = again(centre)
    assert twin == centre
    assert hash(twin) == hash(centre)
    assert not {"mean_handle_seconds", "rate_cv", "rate_law"} & set(twin.given())
    assert (
        twin.replace(observed_rates_per_hour=None, roster=None, mean_handle_seconds=180).rate_law == "gamma"
    )


@pytest.mark.parametrize(
    ("field", "value", "line"),
    [
        (
            "mean_handle_seconds",
            200,
            "mean_handle_seconds = 200 cannot go with observed_rates_per_hour, which make",
        ),
        (
            "rate_cv",
            0.2,
            "rate_cv = 0.2 cannot go with observed_rates_per_hour, which make it 0.109868; leave out one",
        ),
        (
            "rate_law",
            "gamma",
            "rate_law = 'gamma' cannot go with observed_rates_per_hour, which make it 'observed'",
        ),
    ],
)
def test_what_the_rates_say_cannot_be_said_otherwise(field, value, line):
    for given_both in (
        problems(observed, **{field: value}),
        problems(observed().replace, **{field: value}),
    ):
        assert len(given_both) == 1
        assert given_both[0].startswith(line)
        assert given_both[0].endswith("leave out one of the two (None takes it back)")


def test_from_a_handle_time_to_rates_and_back():
    planned = Scenario(**CALLERS, mean_handle_seconds=180, rate_cv=0.3)
    assert len(problems(planned.replace, observed_rates_per_hour=RATES)) == 2
    measured = planned.replace(observed_rates_per_hour=RATES, mean_handle_seconds=None, rate_cv=None)
    assert measured == observed()
    again = measured.replace(observed_rates_per_hour=None, mean_handle_seconds=180, rate_cv=0.3)
    assert again == planned
    assert again.given() == planned.given()
    assert measured.replace(observed_rates_per_hour=[20, 30]) == observed([20, 30])


def test_neither_a_handle_time_nor_rates_is_a_missing_handle_time():
    (line,) = problems(Scenario, **CALLERS)
    assert line.startswith("mean_handle_seconds is missing: ")


def test_unusable_rates_are_the_only_problem():
    (line,) = problems(observed, [18.5, 0], rate_law="observed", roster="fixed", min_agents=9)
    assert line == (
        "observed_rates_per_hour = [18.5, 0] must be a list of numbers between 0.0036 and 3600000; number 2 is 0"
    )


@pytest.mark.parametrize("field", [{"rate_law": "observed"}, {"roster": "fixed"}])
def test_an_observed_law_and_a_fixed_roster_need_rates(field):
    (line,) = problems(Scenario, **CALLERS, mean_handle_seconds=180, **field)
    assert "needs observed_rates_per_hour" in line
    assert line.startswith(f"{next(iter(field))} = ")


def test_a_fixed_roster_has_no_more_agents_than_rates():
    assert observed(roster="fixed", min_agents=3).min_agents == 3
    (line,) = problems(observed, roster="fixed", min_agents=4)
    assert line.startswith("min_agents = 4 must be at most 3, ")
    assert observed(min_agents=4).min_agents == 4


def test_the_most_agents_are_those_of_the_fixed_roster_or_the_most_allowed():
    assert observed().most_agents is None
    assert observed(max_agents=9).most_agents == 9
    assert observed(roster="fixed").most_agents == 3
    assert observed(roster="fixed", max_agents=9).most_agents == 3
    assert observed(roster="fixed", max_agents=2).most_agents == 2
    assert observed(roster="fixed", max_agents=0).most_agents == 0


def test_too_great_a_load_asks_about_the_units_of_the_rates():
    (line,) = problems(observed, [0.5], calls_per_hour=1e6)
    assert "2000000 erlangs" in line
    assert line.endswith("are the calls and the rates per hour?")


@pytest.mark.parametrize(
    "centre",
    [
        observed(roster="fixed", max_agents=7, name="Monday"),
        observed([10, 10, 10, 200]),
        Scenario(**CALLERS, mean_handle_seconds=180, rate_cv=0.5, rate_law="uniform"),
        Scenario(**CALLERS, mean_handle_seconds=180),
    ],
)
def test_the_same_centre_with_agents_alike(centre):
    alike = centre.alike()
    plain = {
        "mean_handle_seconds": centre.mean_handle_seconds,
        "rate_cv": 0.0,
        "rate_law": "gamma",
        "observed_rates_per_hour": None,
        "roster": "drawn",
    }
    assert alike.to_dict() == centre.to_dict() | plain
    assert alike.offered_load == centre.offered_load
    assert alike.alike() == alike
    assert alike.assumed() == ()


def test_how_much_agents_differ_is_not_assumed_if_it_was_observed():
    assert observed().assumed() == ()
    assert observed(min_service_level=0.8).assumed() == ("service_level_seconds", "service_level_definition")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "has 3 only: rosters drawn from so few say little"),
        ({"rates": [20, 21, 22, 23, 401]}, "runs from 20 to 401, 20.1 times as much: are all of them calls"),
        ({"rates": [0.3] * 5}, "are the rates calls per busy hour? it means 200 minutes a call"),
        ({"rates": [300] * 5}, "if they are handle times in seconds, give 3600 / each"),
    ],
)
def test_rates_that_look_like_a_slip_are_asked_about(fields, words):
    assert words in "\n".join(observed(**fields).warnings())


def test_ordinary_rates_raise_no_doubt():
    assert observed([20, 21, 22, 23, 400]).warnings() == ()
    assert observed(roster="fixed").warnings() == ()
