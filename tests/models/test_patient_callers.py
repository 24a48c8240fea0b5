"""Any law of patience through the doors of every model: given agents, drawn agents, rosters sampled."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from staffing.models.drawn_agents import DrawnAgents
from staffing.models.erlang import erlang_a, erlang_g
from staffing.models.errors import ScenarioError
from staffing.models.given_agents import GivenAgents
from staffing.models.patience import (
    DeterministicPatience,
    ExponentialPatience,
    HyperexponentialPatience,
    LognormalPatience,
)
from staffing.models.patience_curve import CurvePatience
from staffing.models.performance import MEASURES
from staffing.models.rate_laws import GammaRates
from staffing.models.roster import roster_performance
from staffing.models.sampled_agents import SampledAgents
from staffing.models.shared_queue import Callers, averaged_measures, closure_rows

LAWS = (
    DeterministicPatience(0.4),
    LognormalPatience(0.7, 1.3),
    HyperexponentialPatience(1.0, 8.0),
    CurvePatience([(0, 1), (0.05, 0.93), (0.3, 0.9), (0.5, 0.3), (2.0, 0.1)]),
)
each_law = pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
RATES = np.random.default_rng(7).gamma(4.0, 0.25, 30)


def test_exponential_patience_is_its_rate_bit_for_bit():
    given, by_law = Callers(9.0, 0.5, 0.2), Callers(9.0, threshold=0.2, patience=ExponentialPatience(2.0))
    assert given == by_law
    assert by_law.patience is None
    models = [DrawnAgents(callers, GammaRates(1.0, 0.3)) for callers in (given, by_law)]
    assert models[0].values(10) == models[1].values(10)
    assert erlang_g(9.0, 1.0, ExponentialPatience(2.0), 10).values() == erlang_a(9.0, 1.0, 0.5, 10).values()


@each_law
def test_callers_know_the_rate_of_their_law_and_may_be_changed(law):
    callers = Callers(9.0, patience=law)
    assert (callers.abandonment_rate, callers.patience, callers.law) == (1 / law.mean, law, law)
    assert replace(callers, threshold=0.3) == Callers(9.0, threshold=0.3, patience=law)
    assert Callers(9.0, 0.5).law == ExponentialPatience(2.0)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ({}, ["abandonment_rate", "nan"]),
        ({"patience": 3.0}, ["patience", "3.0", "staffing.models.patience"]),
        (
            {"patience": LAWS[0], "abandonment_rate": 0.7},
            ["abandonment_rate", "0.7", "2.5", "one of the two"],
        ),
        ({"patience": LAWS[0], "abandonment_rate": "often"}, ["abandonment_rate", "often"]),
        ({"patience": ExponentialPatience(2.0), "abandonment_rate": 0.7}, ["0.7", "one of the two"]),
    ],
)
def test_callers_without_a_patience_or_with_two_are_refused(arguments, parts):
    with pytest.raises(ScenarioError) as refusal:
        Callers(9.0, **arguments)
    for part in parts:
        assert part in str(refusal.value)
    with pytest.raises(ScenarioError):
        roster_performance([1.0], 0.5, **arguments)


@each_law
def test_equal_given_agents_are_those_of_the_closed_form(law):
    found = roster_performance(np.full(30, 1.7), 50.0, patience=law, threshold=0.05)
    expected = erlang_g(50.0, 1.7, law, 30, threshold=0.05)
    assert found.values() == pytest.approx(expected.values(), rel=1e-11)
    assert found.wait_quantile(0.7) == pytest.approx(expected.wait_quantile(0.7), rel=1e-9)


@each_law
def test_given_agents_at_every_level_are_rosters(law):
    model = GivenAgents(Callers(28.0, threshold=0.05, patience=law), tuple(RATES.tolist()))
    for n in (0, 1, 12, 30):
        found, expected = (
            model.performance(n),
            roster_performance(RATES[:n], 28.0, patience=law, threshold=0.05),
        )
        assert found.values() == pytest.approx(expected.values(), rel=1e-11)
    assert model.unstable_share(3) == 0


@each_law
def test_the_mean_wait_is_the_area_under_the_law_of_the_wait(law):
    found = roster_performance(RATES, 28.0, patience=law)
    ends = np.unique([0.0, *np.geomspace(1e-3, 8.0, 40), *law.bends[law.bends < 8]])
    nodes, weights = np.polynomial.legendre.leggauss(12)
    half = np.diff(ends)[:, np.newaxis] / 2
    t = (ends[:-1, np.newaxis] + half + half * nodes).ravel()
    area = (half * weights).ravel() @ [1 - found.wait_cdf(x) for x in t]
    assert area == pytest.approx(found.mean_wait, rel=1e-8)
    assert 1 - found.wait_cdf(0.0) == pytest.approx(found.wait_probability, rel=1e-12)
    for p in (0.5, 0.9, 0.999):
        t = found.wait_quantile(p)
        below, above = found.wait_cdf(t * (1 - 1e-9)), found.wait_cdf(t * (1 + 1e-9))
        assert below - 1e-9 <= p <= above + 1e-9 or t == 0


@each_law
@pytest.mark.parametrize(
    ("n", "load", "cv", "threshold"), [(60, 1.0, 0.2, 0.1), (8, 0.8, 0.5, 0.02), (2000, 1.05, 0.3, 0.01)]
)
def test_the_average_over_capacity_is_that_of_twenty_times_the_nodes(law, n, load, cv, threshold):
    callers = Callers(load * n, threshold=threshold, patience=law)
    model = DrawnAgents(callers, GammaRates(1.0, cv))
    z = np.linspace(-7.5, 7.5, 3001)
    weights = stats.norm.pdf(z)
    weights /= weights.sum()  # of so smooth a function the plain sum is right to all digits
    capacities = model.law.capacity_at_score(n, z)
    rows = closure_rows(callers, n, capacities, cv**2)
    expected = averaged_measures(callers, n, rows, weights @ capacities, weights)
    assert model.values(n) == pytest.approx(expected, rel=1e-7, abs=1e-9)


@each_law
def test_drawn_agents_tell_the_share_of_rosters_that_fail(law):
    model = DrawnAgents(Callers(60.0, threshold=0.1, patience=law), GammaRates(1.0, 0.2))
    assert model.performance(62).method == "gamma closure"
    assert DrawnAgents(model.callers, GammaRates(1.0, 0.0)).performance(62).method == "M/M/n+G"
    shares, _ = model.shares_failing(62, {"lost": lambda values: values["abandonment_probability"] - 0.05})
    z = np.linspace(-6, 6, 4001)
    lost = model.at_scores(62, z)["abandonment_probability"]
    assert (np.diff(lost) <= 1e-12).all()
    turn = z[np.flatnonzero(lost > 0.05)[-1]]
    assert shares["lost"] == pytest.approx(stats.norm.cdf(turn), abs=2e-3)
    assert model.unstable_share(62) == 0


@each_law
def test_sampled_rosters_agree_with_the_closure(law):
    callers = Callers(20.0, threshold=0.1, patience=law)
    sampled = SampledAgents(callers, GammaRates(1.0, 0.3), rosters=200, workers=2)
    found, closure = sampled.performance(20), sampled.closure.performance(20)
    for measure in MEASURES:
        margin = 1e-9
        for error in (found.method_error[measure], closure.method_error[measure]):
            margin += error if isinstance(error, float) else 0.0
        assert found.value(measure) == pytest.approx(closure.value(measure), abs=margin)
    assert found.wait_quantile(0.8) == pytest.approx(closure.wait_quantile(0.8), rel=0.05, abs=1e-3)


def test_equally_long_patience_differs_where_it_must():
    """Of laws with one mean, those of which more give up at once lose more calls, and leave less of a queue."""
    lost, queue = [], []
    for law in (DeterministicPatience(1.0), ExponentialPatience(1.0), HyperexponentialPatience(1.0, 9.0)):
        found = erlang_g(60.0, 1.0, law, 60)
        lost.append(found.abandonment_probability)
        queue.append(found.mean_queue)
    assert lost == sorted(lost)
    assert queue == sorted(queue, reverse=True)
    assert lost[2] > 1.5 * lost[0]


def test_the_log_of_a_mixture_is_that_of_its_mean():
    model = DrawnAgents(Callers(20.0, patience=LAWS[1]), GammaRates(1.0, 0.3))
    waits = model.performance(20).wait_law
    for t in (0.0, 0.3, 2.0):
        assert waits.log_survival(t) == pytest.approx(math.log(waits.survival(t)), abs=1e-11)
