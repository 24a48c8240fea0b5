"""Laws of service rates and the spreads that they cannot have."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from staffing.models.errors import ScenarioError
from staffing.scenario import Scenario


def centre(**fields):
    return Scenario(calls_per_hour=1200, mean_handle_seconds=180, mean_patience_seconds=120, **fields)


@pytest.mark.parametrize(
    ("law", "cv", "words"),
    [
        ("uniform", 0.6, ["rate_cv = 0.6", "at most 0.577", "'uniform'", "negative", "give less"]),
        ("uniform", np.nextafter(1 / math.sqrt(3), 1), ["rate_cv = 0.57735", "'uniform'"]),
        ("two-point", 1, ["rate_cv = 1 ", "below 1", "'two-point'", "never finish", "give less"]),
    ],
)
def test_a_spread_that_its_law_cannot_have_is_refused(law, cv, words):
    with pytest.raises(ScenarioError) as caught:
        centre(rate_law=law, rate_cv=cv)
    (line,) = caught.value.problems
    assert all(word in line for word in words)
    assert centre(rate_law="gamma", rate_cv=cv).rate_cv == cv


@pytest.mark.parametrize(
    ("law", "largest"),
    [("gamma", 1), ("lognormal", 1), ("uniform", 1 / math.sqrt(3)), ("two-point", math.nextafter(1, 0))],
)
@given(share=st.floats(0, 1))
def test_every_law_takes_every_spread_that_it_can_have(law, largest, share):
    assert centre(rate_law=law, rate_cv=share * largest).rate_law == law


@pytest.mark.parametrize("law", ["gamma", "lognormal", "uniform", "two-point"])
def test_agents_alike_have_any_law(law):
    assert centre(rate_law=law, rate_cv=0).rate_cv == 0
    assert centre(rate_law=law).assumed() == ("rate_cv",)


def test_a_misspelt_law_is_answered_with_the_nearest():
    with pytest.raises(ScenarioError, match="did you mean lognormal"):
        centre(rate_law="log-normal")
