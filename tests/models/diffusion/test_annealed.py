"""The random drift averaged: against finer quadratures, draws, and the limit's figures for normal drifts."""

import math

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss
from scipy.stats import gamma, norm

from staffing import optimize_staffing
from staffing.models.days import Days
from staffing.models.diffusion.annealed import DrawnDiffusion
from staffing.models.diffusion.piecewise_ou import PiecewiseOU
from staffing.models.diffusion.quenched import capacity_diffusion, roster_diffusion
from staffing.models.drawn_agents import DrawnAgents
from staffing.models.erlang import erlang_c
from staffing.models.errors import ScenarioError
from staffing.models.performance import MEASURES
from staffing.models.rate_laws import GammaRates, LognormalRates, UniformRates
from staffing.models.score_nodes import score_nodes
from staffing.models.shared_queue import Callers
from staffing.models.uncertain_days import UncertainDays

CALLERS = Callers(100.0, 0.5, 0.1)
LAW = GammaRates(1.0, 0.3)


@pytest.mark.parametrize(
    ("n", "load", "wait", "queue"),
    [
        (100, 0.9, 0.2059, "1.426"),
        (100, 1.0, 0.5930, "7.142"),
        (100, 1.1, 0.9186, "20.99"),
        (500, 0.9, None, ".200"),
    ],
)
def test_the_limit_itself_is_the_theorys(n, load, wait, queue):
    # normal drift of variance Var(mu), g = mb (1 + c2), sigma^2 = 2 mb
    z, weights = score_nodes([(load - 1) * math.sqrt(n) / 0.3], 0.5)
    law = PiecewiseOU((load - 1) * math.sqrt(n) - 0.3 * z, 1.09, 0.5, 2.0)
    if wait:
        assert round(float(weights @ law.above), 4) == wait
    digits = len(queue.split(".")[1])
    assert round(math.sqrt(n) * float(weights @ law.mean_above), digits) == float(queue)


@pytest.mark.parametrize("n", [20, 100, 5000])
@pytest.mark.parametrize("load", [0.9, 1.0, 1.1])
@pytest.mark.parametrize("cv", [0.1, 0.7])
def test_the_quadrature_over_rosters_has_converged(n, load, cv):
    callers = Callers(load * n, 0.5)
    model = DrawnDiffusion(callers, GammaRates(1.0, cv))
    values, few = model.values(n), model.key_measures(n)
    # The plain sum over 100,000 equally spaced scores
    z = np.linspace(-8, 8, 100_001)
    weights = norm.pdf(z) / norm.pdf(z).sum()
    s = GammaRates(1.0, cv).capacity_at_score(n, z)
    lam = callers.arrival_rate
    law = PiecewiseOU((lam - s) / math.sqrt(n), s / n * (1 + cv * cv), 0.5, (lam + np.minimum(lam, s)) / n)
    fine = {
        "wait_probability": weights @ law.above,
        "mean_queue": math.sqrt(n) * (weights @ law.mean_above),
        "abandonment_probability": 0.5 * math.sqrt(n) * (weights @ law.mean_above) / lam,
    }
    for measure, value in fine.items():
        assert values[measure] == pytest.approx(value, rel=1e-8)
        assert few[measure] == pytest.approx(values[measure], rel=1e-9)


def test_gauss_hermite_needs_many_nodes_where_days_are_wider_than_the_turn():
    # Why nodes follow the width of the turn: a common factor of CV .15 at a load of 5000
    callers, days = Callers(5000.0, 0.5), Days(rate_cv=0.15)
    model = DrawnDiffusion(callers, GammaRates(1.0, 0.0), days)

    def by(z, w):
        s = 5000 * days.rate_factor(z)
        law = PiecewiseOU((5000 - s) / math.sqrt(5000), s / 5000, 0.5, 1 + np.minimum(1.0, s / 5000))
        return float(w / w.sum() @ law.above)

    z = np.linspace(-8, 8, 100_001)
    fine, found = by(z, norm.pdf(z)), model.key_measures(5000)["wait_probability"]
    assert abs(by(*hermegauss(24)) - fine) > 1e-3
    assert found == pytest.approx(fine, abs=2e-5)


def test_over_days_it_is_the_mean_of_draws():
    law, days = UniformRates(1.0, 0.3), Days(rate_cv=0.1, arrival_cv=0.08, absence=0.05)
    model = DrawnDiffusion(CALLERS, law, days, arrival_scv=2.0)
    n, size, g = 104, 40_000, np.random.default_rng(11)
    present = g.binomial(n, 0.95, size)
    shape = present / law.cv**2
    s = gamma.rvs(shape, scale=law.cv**2, random_state=g) * days.rate_factor(g.standard_normal(size))
    calls = gamma.rvs(1 / 0.08**2, scale=0.08**2, random_state=g, size=size)
    lam = 100.0 * calls
    process = PiecewiseOU(
        (lam - s) / np.sqrt(present), s / present * 1.09, 0.5, (2 * lam + np.minimum(lam, s)) / present
    )
    queue = np.sqrt(present) * process.mean_above
    values, few = model.values(n), model.key_measures(n)
    for measure, drawn in {"wait_probability": calls * process.above, "mean_queue": queue}.items():
        se = drawn.std() / math.sqrt(size)
        assert se < 0.01 * drawn.mean()
        assert abs(values[measure] - drawn.mean()) < 4 * se  # false alarm 6e-5
        assert few[measure] == pytest.approx(values[measure], rel=1e-6)
    assert values["abandonment_probability"] == pytest.approx(0.5 * values["mean_queue"] / 100, rel=1e-4)


def test_alike_agents_on_alike_days_have_one_drift():
    model = DrawnDiffusion(CALLERS, GammaRates(1.0, 0.0), continuity=True)
    one = capacity_diffusion(CALLERS, 103, 103.0, 1.0, continuity=True)
    found = model.performance(103)
    for measure in MEASURES:
        assert found.value(measure) == pytest.approx(one.value(measure), rel=1e-12)
    assert found.spread == {}
    assert found.method == "diffusion"
    for t in (0.0, 0.1, 1.0):
        assert found.wait_cdf(t) == pytest.approx(one.wait_cdf(t), rel=1e-12)


@pytest.mark.parametrize("days", [Days(), Days(0.1, 0.1, 0.1)])
def test_the_record_hangs_together(days):
    found = DrawnDiffusion(CALLERS, LAW, days, routing="fastest-first").performance(100)
    assert "rough: fastest-first" in found.method
    assert found.wait_cdf(0.0) == pytest.approx(1 - found.wait_probability, abs=1e-4)
    assert found.wait_quantile(0.95) > 0
    for measure in MEASURES:
        spread = found.spread[measure]
        assert spread.low <= spread.median <= spread.high
    middle = found.spread["wait_probability"]
    assert middle.low < found.wait_probability < middle.high


def test_rosters_below_the_load_of_callers_who_never_give_up_make_the_mean_wait_infinite():
    callers = Callers(100.0, 0.0)
    model = DrawnDiffusion(callers, LAW)
    values = model.values(110)
    assert values["mean_wait"] == model.key_measures(110)["mean_wait"] == math.inf
    assert values["wait_probability"] == pytest.approx(model.key_measures(110)["wait_probability"], abs=1e-4)
    # without a roster below the load all is finite
    safe = DrawnDiffusion(callers, UniformRates(1.0, 0.1))
    assert safe.values(130)["mean_wait"] < 1
    assert safe.key_measures(130)["mean_wait"] == pytest.approx(safe.values(130)["mean_wait"], rel=1e-4)


def test_nobody_is_refused():
    with pytest.raises(ScenarioError, match="agents: 0"):
        DrawnDiffusion(CALLERS, LAW).performance(0)
    with pytest.raises(ScenarioError, match="arrival_rate: 0"):
        DrawnDiffusion(Callers(0.0, 0.5), LAW).values(3)
    with pytest.raises(ScenarioError, match="take erlang_b"):
        DrawnDiffusion(Callers(1.0, math.inf), LAW)


@pytest.mark.parametrize("law", [GammaRates(1.0, 0.0), LognormalRates(1.0, 0.0)], ids=["gamma", "lognormal"])
def test_the_queue_of_agents_alike_ends_if_their_capacity_is_above_the_load(law):
    callers = Callers(90.0, 0.0)
    model, exact = DrawnDiffusion(callers, law), roster_diffusion([1.0] * 100, 90.0, 0.0).mean_queue
    for found in (model.key_measures(100), model.values(100), model.performance(100).values()):
        assert found["mean_queue"] == pytest.approx(exact, rel=1e-12)
    days = UncertainDays(callers, law, Days())
    assert days.values(100)["mean_queue"] == pytest.approx(erlang_c(90.0, 1.0, 100).mean_queue, rel=1e-9)
    for n, endless in ((91, False), (90, True), (89, True)):
        assert model.endless(n) is DrawnAgents(callers, law).endless(n) is days.endless(n) is endless


def test_a_plan_of_agents_alike_whose_callers_never_give_up_is_made():
    plan = optimize_staffing(
        calls_per_hour=1200,
        mean_handle_seconds=180,
        mean_patience_seconds=math.inf,
        rate_cv=0,
        agent_cost_per_hour=30,
        waiting_cost_per_hour=20,
        method="diffusion",
        check=False,
    )
    assert plan.agents > 60
    expected = roster_diffusion([1.0] * plan.agents, 60.0, 0.0).mean_queue
    assert plan.performance.mean_queue == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("absence", [0.1, 0.5, 0.9])
@pytest.mark.parametrize(("n", "load"), [(1, 0.1), (1, 0.8), (2, 0.3), (5, 0.5)])
def test_stated_errors_of_shares_of_time_hold_where_few_are_present(n, load, absence):
    callers, law, days = Callers(load * n, 0.002), GammaRates(1.0, 0.5), Days(absence=absence)
    found, exact = (
        DrawnDiffusion(callers, law, days).performance(n),
        UncertainDays(callers, law, days).values(n),
    )
    for measure in ("occupancy", "capacity_utilisation", "throughput"):
        assert abs(found.value(measure) - exact[measure]) < found.method_error[measure], measure
