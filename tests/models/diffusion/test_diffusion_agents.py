"""The diffusion as plans meet it: at any head count, nobody and nobody calling included."""

import math

import numpy as np
import pytest

from staffing.models.agents import Agents
from staffing.models.days import Days
from staffing.models.diffusion.annealed import DrawnDiffusion
from staffing.models.diffusion.diffusion_agents import DrawnDiffusionAgents, GivenDiffusionAgents
from staffing.models.diffusion.quenched import roster_diffusion
from staffing.models.drawn_agents import DrawnAgents
from staffing.models.errors import ScenarioError
from staffing.models.given_agents import GivenAgents
from staffing.models.performance import MEASURES
from staffing.models.rate_laws import GammaRates, UniformRates
from staffing.models.shared_queue import Callers

CALLERS = Callers(20.0, 0.5, 0.1)
LAW = GammaRates(1.0, 0.3)


def test_its_figures_are_the_diffusions():
    model: Agents = DrawnDiffusionAgents(CALLERS, LAW, routing="random")
    other = DrawnDiffusion(CALLERS, LAW, routing="random")
    assert model.values(22) == other.values(22)
    assert model.performance(22).values() == other.performance(22).values()
    rates = (1.2, 0.8, 1.0, 0.9)
    given: Agents = GivenDiffusionAgents(Callers(3.0, 0.5), rates, routing="least-occupied")
    alone = roster_diffusion(rates[:3], 3.0, 0.5, routing="least-occupied")
    assert given.values(3) == alone.values()
    assert given.performance(3).method == "diffusion"
    assert given.most == 4
    assert given.shares_failing(3, {"any": lambda v: v["mean_wait"]})[1] == 1


@pytest.mark.parametrize("days", [Days(), Days(0.1, 0.1, 0.1)])
def test_shares_and_spreads_are_those_of_its_rosters(days):
    model = DrawnDiffusionAgents(CALLERS, LAW, days, seed=3)
    spread = model.spread_of(22, lambda values: values["mean_wait"])
    known = model.performance(22).spread["mean_wait"]
    for mine, other in zip(
        (spread.low, spread.median, spread.high), (known.low, known.median, known.high), strict=True
    ):
        assert mine == pytest.approx(other, rel=5e-3)
    shares, most = model.shares_failing(
        22, {"median": lambda v: v["mean_wait"] - spread.median, "never": lambda v: v["mean_wait"] - 1e9}
    )
    assert shares["median"] == pytest.approx(0.5, abs=1e-3)
    assert (shares["never"], most) == (0, shares["median"])
    base = DrawnAgents(CALLERS, LAW)
    if days.alike:
        assert model.capacity_cdf(22, 20.0) == base.capacity_cdf(22, 20.0)
        assert model.arrival_factors is None
    assert model.rosters(22)(4, np.random.default_rng(0)).shape == (4, 23)


@pytest.mark.parametrize("days", [Days(), Days(0.1, 0.1, 0.1)])
def test_nobody_and_nothing_to_do_are_answered_exactly(days):
    model = DrawnDiffusionAgents(CALLERS, LAW, days)
    nobody = model.performance(0)
    assert nobody.abandonment_probability == pytest.approx(1)
    assert model.values(0)["wait_probability"] == 1
    assert model.shares_failing(0, {"any": lambda v: v["mean_wait"]})[1] == 1
    assert model.spread_of(0, lambda v: v["wait_probability"]).low == 1
    quiet = DrawnDiffusionAgents(Callers(0.0, 0.5), LAW, days)
    assert quiet.values(3)["wait_probability"] == 0
    given = GivenDiffusionAgents(CALLERS, (1.0, 1.0))
    assert given.values(0)["wait_probability"] == 1
    assert GivenDiffusionAgents(Callers(0.0, 0.5), (1.0, 1.0)).values(2)["mean_wait"] == 0
    with pytest.raises(ScenarioError, match="agents: 3 are more than the 2"):
        given.values(3)
    with pytest.raises(ScenarioError, match="agents: -1"):
        model.values(-1)


def test_callers_who_never_give_up():
    callers = Callers(20.0, 0.0)
    model = DrawnDiffusionAgents(callers, LAW)
    assert model.values(25)["mean_wait"] == math.inf
    shares, _ = model.shares_failing(25, {"never": lambda v: v["wait_probability"] - 2})
    assert shares["never"] == pytest.approx(model.unstable_share(25), abs=1e-3)
    assert 0.0 < model.unstable_share(25) < 0.01
    safe = DrawnDiffusionAgents(callers, UniformRates(1.0, 0.1))
    assert safe.values(30)["mean_wait"] < 1
    rates = (1.0,) * 25
    given, exact = GivenDiffusionAgents(callers, rates), GivenAgents(callers, rates)
    assert given.values(20) == exact.values(20)
    assert given.values(20)["mean_queue"] == math.inf
    assert given.values(21)["mean_queue"] == pytest.approx(exact.values(21)["mean_queue"], rel=0.02)


@pytest.mark.parametrize("rule", ["longest-idle", "fastest-first", "slowest-first", "least-occupied"])
def test_another_agent_never_hurts(rule):
    """What searches for the best level take for granted."""
    model = DrawnDiffusionAgents(CALLERS, LAW, routing=rule)
    waits, costs = zip(
        *((v["wait_probability"], v["mean_queue"]) for v in map(model.values, range(41))), strict=True
    )
    assert np.all(np.diff(waits) < 1e-12)
    assert np.all(np.diff(costs) < 1e-9)
    assert np.all(np.diff(costs[4:], 2) > -1e-6)
    assert set(model.values(20)) == set(MEASURES)
