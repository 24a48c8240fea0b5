"""Fluid limits: reached by exact queues as they grow, by regime; and averaged over rosters and days."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from staffing.models.days import Days
from staffing.models.drawn_agents import DrawnAgents
from staffing.models.erlang import erlang_a
from staffing.models.errors import ScenarioError
from staffing.models.fluid import Fluid, fluid_limit, fluid_over_days
from staffing.models.rate_laws import GammaRates
from staffing.models.shared_queue import Callers
from staffing.models.uncertain_days import UncertainDays

SIZES = [100, 400, 1600]


def test_it_is_what_capacity_does_not_do():
    assert fluid_limit(120.0, 100.0, 0.5) == Fluid(pytest.approx(1 / 6), 40.0, pytest.approx(1 / 3))
    assert fluid_limit(80.0, 100.0, 0.5) == fluid_limit(100.0, 100.0, 0.0) == Fluid(0.0, 0.0, 0.0)
    assert fluid_limit(5.0, 0.0, 2.0) == Fluid(1.0, 2.5, 0.5)
    assert fluid_limit(0.0, 0.0, 2.0) == Fluid(0.0, 0.0, 0.0)
    assert fluid_limit(2.0, 1.0, 0.0) == Fluid(0.0, math.inf, math.inf)
    assert fluid_limit(2.0, 1.0, math.inf) == Fluid(0.5, 0.0, 0.0)


def test_quality_driven_abandonment_vanishes_exponentially():
    lost = np.array([erlang_a(0.8 * n, 1.0, 0.5, n).abandonment_probability for n in SIZES])
    assert np.all(lost > 0)
    # P(Ab) is of order exp(-(rho - 1 - log rho) n) / n^(3/2)
    rate = -np.diff(np.log(lost * np.array(SIZES) ** 1.5)) / np.diff(SIZES)
    assert rate[-1] == pytest.approx(0.8 - 1 - math.log(0.8), rel=0.01)
    assert fluid_limit(0.8, 1.0, 0.5).abandonment_probability == 0


def test_balanced_abandonment_vanishes_as_one_over_the_root_of_n():
    scaled = [math.sqrt(n) * erlang_a(n, 1.0, 0.5, n).abandonment_probability for n in SIZES]
    assert scaled[-1] == pytest.approx(0.3305, abs=2e-3)  # Garnett's function
    queue = [erlang_a(n, 1.0, 0.5, n).mean_queue / n for n in SIZES]
    np.testing.assert_allclose(np.array(queue[:-1]) / queue[1:], 2, atol=0.1)


def test_efficiency_driven_abandonment_comes_to_the_fluids_exponentially_fast():
    off = []
    for n in (25, 100, 400):
        exact, limit = erlang_a(1.2 * n, 1.0, 0.5, n), fluid_limit(1.2 * n, n, 0.5)
        off.append(
            [
                exact.abandonment_probability - limit.abandonment_probability,
                (exact.mean_queue - limit.mean_queue) / n,
                exact.mean_wait - limit.mean_wait,
            ]
        )
    off = np.abs(off)
    assert np.all(off[1] < off[0] / 10)
    assert np.all(off[2] < off[1] / 100)


@pytest.mark.parametrize(("load", "least"), [(0.8, 3.0), (1.0, 1.95), (1.2, 3.0)])
def test_rosters_of_drawn_agents_come_to_it_too(load, least):
    law, off = GammaRates(1.0, 0.3), []
    for n in SIZES:
        exact = DrawnAgents(Callers(load * n, 0.5), law).values(n)
        fluid = fluid_over_days(load * n, 0.5, law, Days(), n)
        off.append(abs(exact["abandonment_probability"] - fluid.abandonment_probability))
        assert exact["mean_queue"] >= fluid.mean_queue * (1 - 1e-6)
    assert off[0] > least * off[1] > least**2 * off[2]


@pytest.mark.parametrize("tau", [0.0, 0.05, 0.1, 0.2])
def test_common_factors_on_the_rates_lose_calls_at_any_size(tau):
    days = Days(rate_cv=math.sqrt(math.expm1(tau**2)))
    limit = quad(
        lambda z: max(1 - math.exp(tau * z - tau * tau / 2) / 0.9, 0) * norm.pdf(z),
        -10,
        (math.log(0.9) + 1e-9) / (tau or 1) + tau / 2,
    )[0]
    off = []
    for n in (1000, 4000):
        found = fluid_over_days(0.9 * n, 0.5, GammaRates(1.0, 0.0), days, n)
        assert found.abandonment_probability == pytest.approx(limit if tau else 0.0, rel=1e-6)
        assert found.mean_queue == pytest.approx(found.abandonment_probability * 0.9 * n / 0.5)
        exact = UncertainDays(Callers(0.9 * n, 0.5), GammaRates(1.0, 0.0), days).values(n)
        off.append(exact["abandonment_probability"] - found.abandonment_probability)
    if tau:
        # what balance adds near Z = lam / n: of order 1 / n, in a share 1 / sqrt(n) of days
        assert off[0] / off[1] == pytest.approx(4, rel=0.25)


@pytest.mark.parametrize(
    ("cv", "days"),
    [
        (0.3, Days()),
        (0.3, Days(rate_cv=0.1)),
        (0.3, Days(arrival_cv=0.1)),
        (0.8, Days(rate_cv=0.05, arrival_cv=0.05, absence=0.05)),
        (0.3, Days(rate_cv=0.15, arrival_cv=0.1, absence=0.1)),
        (0.3, Days(rate_cv=0.05, arrival_cv=0.2, absence=0.1)),
        (0.0, Days(absence=0.1)),
        (0.0, Days(arrival_cv=0.2)),
    ],
)
@pytest.mark.parametrize("n", [40, 110])
def test_means_over_days_are_those_of_draws(cv, days, n):
    size, generator = 400_000, np.random.default_rng(9)
    present = generator.binomial(n, 1 - days.absence, size)
    s = generator.gamma(present / cv**2) * cv**2 if cv else present.astype(float)
    s = s * days.rate_factor(generator.standard_normal(size))
    a = generator.gamma(1 / days.arrival_cv**2, days.arrival_cv**2, size) if days.arrival_cv else 1.0
    lost = np.maximum(100.0 * a - s, 0) / 100.0
    found = fluid_over_days(100.0, 0.5, GammaRates(1.0, cv), days, n)
    se = lost.std() / math.sqrt(size)
    assert se < 4e-4
    assert abs(found.abandonment_probability - lost.mean()) < 4 * se + 1e-12  # 16 cases: false alarm 1e-3
    assert found.mean_queue == pytest.approx(found.abandonment_probability * 200)


def test_nobody_and_nothing_to_do():
    law, days = GammaRates(1.0, 0.3), Days(0.1, 0.2, 0.1)
    assert fluid_over_days(10.0, 0.5, law, days, 0).abandonment_probability == pytest.approx(1)
    assert fluid_over_days(10.0, 0.5, law, Days(), 0).abandonment_probability == 1
    assert fluid_over_days(0.0, 0.5, law, days, 5) == Fluid(0.0, 0.0, 0.0)
    assert fluid_over_days(0.0, 0.5, law, Days(rate_cv=0.5), 0) == Fluid(0.0, 0.0, 0.0)
    with pytest.raises(ScenarioError, match="capacity"):
        fluid_limit(1.0, -1.0, 1.0)
    with pytest.raises(ScenarioError, match="agents"):
        fluid_over_days(1.0, 1.0, law, days, -1)
