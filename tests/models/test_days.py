"""The law of a day: factors of mean 1 with the CV given, and numbers present that are binomial."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from staffing.models.days import Days
from staffing.models.errors import ScenarioError
from staffing.models.score_nodes import smooth_nodes


@pytest.mark.parametrize("cv", [1e-6, 0.05, 0.3, 1.0])
def test_factors_have_mean_one_and_their_cv(cv):
    z, weights = smooth_nodes(6.0)
    days = Days(rate_cv=cv, arrival_cv=cv)
    for factor in (days.rate_factor(z), days.arrival_factor(z)):
        assert weights @ factor == pytest.approx(1, abs=3e-5)
        assert weights @ (factor - 1) ** 2 == pytest.approx(cv**2, rel=3e-3)


@pytest.mark.parametrize("turning", [0.0, 0.1, 0.5, 2.0, math.inf])
@pytest.mark.parametrize(("agents", "absence"), [(1, 0.3), (7, 0.02), (66, 0.05), (300, 0.4), (2000, 0.01)])
def test_numbers_present_are_binomial(agents, absence, turning):
    m, weights = Days(absence=absence).present_nodes(agents, turning)
    law = binom(agents, 1 - absence)
    assert m.min() >= 0
    assert m.max() <= agents
    assert weights.min() > 0
    assert weights.sum() == pytest.approx(1, abs=1e-9)
    assert weights @ m == pytest.approx(law.mean(), rel=1e-5)
    assert weights @ (m - law.mean()) ** 2 == pytest.approx(law.var(), rel=1e-3)
    assert turning > 1 or weights.size <= 40


def test_present_at_a_probability_is_the_quantile():
    u = np.linspace(0.001, 0.999, 997)
    assert np.array_equal(Days(absence=0.1).present(20, u), binom(20, 0.9).ppf(u).astype(int))
    assert np.array_equal(Days().present(20, u), np.full(997, 20))
    assert np.array_equal(Days(absence=0.1).present(0, u), np.zeros(997))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"absence": 1}, "absence: 1.0 must be below 1"),
        ({"absence": -0.1}, "absence: -0.1 must be at least 0"),
        ({"rate_cv": math.inf}, "rate_cv: inf"),
        ({"arrival_cv": math.nan}, "arrival_cv: nan"),
    ],
)
def test_what_is_no_law_of_a_day_is_refused(given, words):
    with pytest.raises(ScenarioError, match=words):
        Days(**given)


@pytest.mark.parametrize("absence", [0.01, 0.05, 0.2, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("turning", [0.05, 0.2, 0.4, 0.7, 1.5])
def test_nodes_of_the_number_present_are_numbers_with_weights_that_keep_the_mean(absence, turning):
    for agents in (*range(1, 60), 77, 200, 999, 5000):
        present, weights = Days(absence=absence).present_nodes(agents, turning)
        assert 0 <= present.min() <= present.max() <= agents
        assert weights.min() >= 0
        assert weights.sum() == pytest.approx(1, abs=1e-9)
        assert weights @ present == pytest.approx(agents * (1 - absence), abs=1e-5 * agents)
