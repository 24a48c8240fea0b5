"""The diffusion given the agents: against the exact roster by rate, against Garnett, and in its own balances."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from staffing.models.diffusion.given_capacity import diffusion_rows, given_capacity
from staffing.models.diffusion.piecewise_ou import PiecewiseOU
from staffing.models.diffusion.quenched import capacity_diffusion, roster_diffusion
from staffing.models.errors import ScenarioError
from staffing.models.patience import DeterministicPatience
from staffing.models.performance import MEASURES
from staffing.models.rate_laws import GammaRates
from staffing.models.roster import roster_performance
from staffing.models.routing import WeightedRandom
from staffing.models.shared_queue import Callers, measures_by_roster, roster_levels

RATES = st.lists(st.floats(0.2, 5), min_size=1, max_size=30)


@settings(max_examples=40)
@given(RATES, st.floats(0.3, 2), st.floats(0.05, 5), st.sampled_from([1.0, 0.25, 4.0]), st.booleans())
def test_measures_balance_and_have_no_unit(rates, load, theta, scv, continuity):
    lam = load * sum(rates)
    options = {"arrival_scv": scv, "continuity": continuity}
    found = roster_diffusion(rates, lam, theta, threshold=0.1, **options)
    values = found.values()
    for measure in MEASURES:
        assert math.isfinite(values[measure])
        if "prob" in measure or "level" in measure or measure in ("occupancy", "capacity_utilisation"):
            assert 0 <= values[measure] <= 1
    assert values["mean_queue"] == pytest.approx(lam * values["mean_wait"])
    assert values["abandonment_probability"] == pytest.approx(min(theta * values["mean_wait"], 1))
    assert values["throughput"] == pytest.approx(lam * (1 - values["abandonment_probability"]))
    assert found.wait_cdf(0.0) == pytest.approx(1 - values["wait_probability"], abs=1e-9)
    scaled = roster_diffusion(
        [3 * rate for rate in rates], 3 * lam, 3 * theta, threshold=0.1 / 3, **options
    ).values()
    for measure in MEASURES:
        unit = {"mean_wait": 1 / 3, "mean_wait_answered": 1 / 3, "throughput": 3.0}.get(measure, 1.0)
        assert scaled[measure] == pytest.approx(values[measure] * unit, rel=1e-9, abs=1e-12)


@settings(max_examples=40)
@given(RATES, st.floats(0.5, 1.5), st.floats(0.1, 3))
def test_what_is_served_is_what_idle_agents_leave_of_the_capacity(rates, load, theta):
    n, s, g = len(rates), sum(rates), sum(r * r for r in rates) / sum(rates)
    law = given_capacity(load * s, s, theta, n, g)
    served = load * s - theta * math.sqrt(n) * law.mean_above
    assert served == pytest.approx(s - g * math.sqrt(n) * law.mean_below, rel=1e-9)


def test_the_process_is_the_one_written_down():
    found = given_capacity(110.0, 120.0, 0.5, 100, 1.3, arrival_scv=2.0)
    law = PiecewiseOU(-1.0, 1.3, 0.5, 3.3)
    assert found.drift == law.drift
    assert found.variance == pytest.approx(3.3)
    overload = given_capacity(130.0, 120.0, 0.5, 100, 1.3, arrival_scv=2.0)
    assert overload.variance == pytest.approx((260 + 120) / 100)
    at = roster_diffusion(np.full(100, 1.2), 110.0, 0.5)
    there = given_capacity(110.0, 120.0, 0.5, 100, 1.2)
    assert at.wait_probability == pytest.approx(there.above)
    assert at.mean_queue == pytest.approx(10 * there.mean_above)
    assert at.occupancy == pytest.approx(1 - there.mean_below / 10)
    half_a_call = roster_diffusion(np.full(100, 1.2), 110.0, 0.5, continuity=True)
    assert half_a_call.wait_probability == pytest.approx(there.survival(-0.05))
    assert half_a_call.mean_queue == at.mean_queue


def test_the_error_falls_as_one_over_the_root_of_n():
    # Balanced rosters, each with the same safety; 4 times as many agents, half the error, in the long run
    errors = []
    for n in (400, 1600, 6400):
        u = (np.arange(n) + 0.5) / n
        rates = GammaRates(1.0, 0.3).quantile(u)
        lam = rates.sum() - 0.5 * math.sqrt(n)
        exact, limit = (f(rates, lam, 0.5) for f in (roster_performance, roster_diffusion))
        errors.append(
            [
                limit.wait_probability - exact.wait_probability,
                math.sqrt(n) * (limit.abandonment_probability - exact.abandonment_probability),
            ]
        )
    e1, e2, e3 = np.abs(errors)
    first, second = np.log2(e1 / e2) / 2, np.log2(e2 / e3) / 2
    np.testing.assert_allclose(2 * second - first, 0.5, atol=0.03)


@pytest.mark.parametrize(
    ("n", "load", "printed"),
    [
        (20, 0.9, (0.0255, 0.023, 6e-4)),
        (20, 1.0, (0.0222, 0.012, 3e-4)),
        (100, 0.9, (0.0114, 0.043, 2e-4)),
        (100, 1.0, (0.0099, 0.011, 6e-5)),
        (100, 1.1, (0.0025, 0.017, 8e-5)),
        (500, 0.9, (0.0018, 0.013, 1.5e-5)),
        (500, 1.0, (0.0042, 0.012, 1e-5)),
    ],
)
def test_mean_errors_over_rosters_are_those_of_the_theory(n, load, printed):
    size, theta, lam = 200, 0.5, load * n
    rates = GammaRates(1.0, 0.3).rosters(n, size, np.random.default_rng(7))
    capacity = rates.sum(axis=1)
    callers = Callers(lam, theta)
    exact = measures_by_roster(
        callers, n, roster_levels(callers, np.ascontiguousarray(rates.T), range(n, n + 1))[0], capacity
    )
    rows = diffusion_rows(
        callers, np.full(size, lam), np.full(size, n), capacity, (rates**2).sum(axis=1) / capacity
    )
    found = measures_by_roster(callers, n, rows, capacity)
    for measure, value in zip(
        ("wait_probability", "mean_queue", "abandonment_probability"), printed, strict=True
    ):
        errors = np.abs(found[measure] - exact[measure])
        # 30 to 200 draws stand behind each figure printed
        se = errors.std() / math.sqrt(size) + errors.std() / math.sqrt(30)
        rounding = 0.5 * 10.0 ** math.floor(math.log10(value)) if measure.startswith("a") else 5e-4
        assert errors.mean() == pytest.approx(value, abs=4 * se + rounding)


def test_given_that_one_waits_the_wait_is_the_exact_one():
    rates = GammaRates(1.0, 0.4).rosters(30, 1, np.random.default_rng(2))[0]
    limit, exact = (f(rates, 31.0, 0.5, threshold=0.2) for f in (roster_diffusion, roster_performance))
    ratio = limit.wait_probability / exact.wait_probability
    for t in (0.0, 0.1, 1.0, 3.0):
        assert 1 - limit.wait_cdf(t) == pytest.approx(ratio * (1 - exact.wait_cdf(t)), rel=1e-9)
    late = 1 - limit.service_level.virtual
    assert late == pytest.approx(ratio * (1 - exact.service_level.virtual), rel=1e-9)


def test_it_says_what_it_is():
    rates = [0.7] * 10 + [1.3] * 10
    assert roster_diffusion(rates, 18, 0.5).method == "diffusion"
    assert "rough: fastest-first" in roster_diffusion(rates, 18, 0.5, routing="fastest-first").method
    assert "rough: a list" in roster_diffusion(rates, 18, 0.5, routing=range(20)).method
    waits = [
        roster_diffusion(rates, 18, 0.5, routing=rule).wait_probability
        for rule in ("fastest-first", WeightedRandom(1.0), "random", WeightedRandom(-1.0), "slowest-first")
    ]
    assert waits == sorted(waits)


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (([], 1.0, 0.5), {}, "at least one agent"),
        (([1.0, 0.0], 1.0, 0.5), {}, r"rates\[1\]"),
        (([1.0], 0.0, 0.5), {}, "arrival_rate"),
        (([1.0, 1.0], 2.0, 0.0), {}, "no stationary law"),
        (([1.0, 1.0], 3.0, 0.0), {}, "no stationary law"),
        (([1.0], 1.0, math.inf), {}, "take erlang_b"),
        (([1.0], 1.0, 0.5), {"arrival_scv": -1.0}, "arrival_scv"),
        (([1.0], 1.0, 0.5), {"routing": "fastest"}, "did you mean fastest-first"),
    ],
)
def test_what_has_no_diffusion_is_refused(arguments, options, words):
    with pytest.raises(ScenarioError, match=words):
        roster_diffusion(*arguments, **options)


def test_nobody_and_other_patience_are_refused():
    with pytest.raises(ScenarioError, match="agents: 0 must be at least 1"):
        capacity_diffusion(Callers(1.0, 1.0), 0, 1.0, 1.0)
    with pytest.raises(ScenarioError, match=r"agents: 0\.5 must be at least 1"):
        given_capacity(1.0, 1.0, 1.0, 0.5, 1.0)
    with pytest.raises(ScenarioError, match="is not exponential"):
        capacity_diffusion(Callers(1.0, patience=DeterministicPatience(1.0)), 2, 1.0, 1.0)
    with pytest.raises(ScenarioError, match="arrival_rate: 0 must be above 0"):
        given_capacity(0.0, 1.0, 1.0, 2, 1.0)
