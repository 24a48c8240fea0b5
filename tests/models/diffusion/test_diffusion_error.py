"""Stated errors of the diffusion hold against chains over a grid, and are not far above what is met."""

import numpy as np
import pytest

from staffing.models.days import Days
from staffing.models.diffusion.annealed import DrawnDiffusion
from staffing.models.diffusion.diffusion_error import diffusion_error
from staffing.models.diffusion.given_capacity import diffusion_rows
from staffing.models.diffusion.quenched import capacity_diffusion, roster_diffusion
from staffing.models.drawn_agents import DrawnAgents
from staffing.models.performance import MEASURES, measures
from staffing.models.rate_laws import GammaRates, LognormalRates, TwoPointRates
from staffing.models.roster import roster_performance
from staffing.models.routing import WeightedRandom
from staffing.models.shared_queue import Callers, closure_days
from staffing.models.uncertain_days import UncertainDays

ROUNDING = 1e-9


def worst(n, theta, c2, tau):
    """The largest error over the stated one, by measure, over loads from .05 to 2."""
    betas = np.linspace(-6, 6, 25)
    lam = n - betas * np.sqrt(n)
    lam = np.concatenate([lam[lam > 0.05 * n], n * np.array([0.05, 0.1, 0.3, 0.5, 0.8, 0.95, 1.2, 2.0])])
    if theta == 0:
        lam = lam[lam < 0.9999 * n]
    present, s, g = np.full(lam.size, n), np.full(lam.size, float(n)), np.full(lam.size, 1 + c2)
    callers = Callers(1.0, theta, tau)
    found, exact = (
        measures(list(rows[:, :-1].T), arrival_rate=lam, agents=present.astype(float), capacity=s)
        for rows in (diffusion_rows(callers, lam, present, s, g), closure_days(callers, lam, present, s, c2))
    )
    stated = diffusion_error(
        found, arrival_rate=lam, abandonment_rate=theta, agents=present, capacities=s, c2=c2
    )
    return {m: np.max(np.abs(found[m] - exact[m]) / (stated[m] + ROUNDING * n)) for m in MEASURES}


@pytest.mark.parametrize("n", [1, 2, 5, 20, 100, 500, 5000])
def test_stated_errors_hold_over_the_grid(n):
    ratios = [
        worst(n, theta, c2, tau)
        for theta in (0, 0.02, 0.3, 1, 5, 30, 100)
        for c2 in (0, 0.09, 0.36, 1)
        for tau in (0.02, 0.2, 2.0)
    ]
    for measure in MEASURES:
        most = max(ratio[measure] for ratio in ratios)
        assert most <= 1, measure
        if measure in ("wait_probability", "mean_queue", "abandonment_probability"):
            assert most > 0.5, measure


@pytest.mark.parametrize("rule", ["longest-idle", "least-occupied"])
@pytest.mark.parametrize("n", [2, 20, 100])
def test_they_hold_for_rosters_against_the_exact_law(rule, n):
    generator = np.random.default_rng(n)
    for law in (GammaRates(1.0, 0.3), TwoPointRates(1.0, 0.5), LognormalRates(1.0, 0.4)):
        for rates in law.rosters(n, 6, generator):
            if rates.std() / rates.mean() > 0.6:
                continue
            for load, theta in ((0.5, 1.0), (0.9, 0.5), (1.1, 5.0)):
                options = {"routing": rule, "threshold": 0.2}
                found = roster_diffusion(rates, load * n, theta, **options)
                exact = roster_performance(rates, load * n, theta, **options)
                for measure in MEASURES:
                    error = found.method_error[measure]
                    bound = ROUNDING * n if error == "exact" else error + ROUNDING * n
                    assert abs(found.value(measure) - exact.value(measure)) <= bound, measure


@pytest.mark.parametrize("days", [Days(), Days(0.1, 0.1, 0.05)])
@pytest.mark.parametrize("rule", ["random", "least-occupied"])
@pytest.mark.parametrize("law", [GammaRates(1.0, 0.2), LognormalRates(1.0, 0.5), GammaRates(1.0, 0.0)])
def test_they_hold_over_rosters_and_days(law, rule, days):
    for load, n in ((3.0, 4), (60.0, 52), (60.0, 66)):
        callers = Callers(load, 0.5, 0.1)
        found = DrawnDiffusion(callers, law, days, routing=rule).performance(n)
        model = DrawnAgents(callers, law, rule) if days.alike else UncertainDays(callers, law, days, rule)
        other = model.performance(n)
        for measure in MEASURES:
            error = found.method_error[measure]
            bound = 1e-9 if error == "exact" else error
            assert abs(found.value(measure) - other.value(measure)) <= bound, measure
        assert found.method_error["wait_probability"] < 0.5 / np.sqrt(n)


def test_nothing_is_stated_where_nothing_was_measured():
    rates = np.linspace(0.7, 1.3, 20)

    def stated(**options):
        return roster_diffusion(rates, 18.0, 0.5, **options).method_error["wait_probability"]

    assert isinstance(stated(), float)
    assert isinstance(stated(routing="least-occupied"), float)
    assert stated(routing="least-occupied") > stated()
    for options in (
        {"continuity": True},
        {"arrival_scv": 2.0},
        {"routing": "fastest-first"},
        {"routing": "slowest-first"},
        {"routing": range(20)},
        {"routing": WeightedRandom(0.5)},
    ):
        assert stated(**options) == "unknown"
    wild = roster_diffusion([0.1] * 9 + [5.0], 5.0, 0.5).method_error
    assert wild["mean_queue"] == "unknown"
    assert wild["blocking_probability"] == "exact"
    assert capacity_diffusion(Callers(9.0, 0.5), 10, 10.0, 0.5).method_error["mean_queue"] == "unknown"
    drawn = DrawnDiffusion(Callers(18.0, 0.5), GammaRates(1.0, 0.3), routing="fastest-first").performance(20)
    assert drawn.method_error["wait_probability"] == "unknown"
