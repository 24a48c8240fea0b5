"""The rate at which exact laws tend to the diffusion: exponents over smooth functions, and Erlang C's known errors."""

import math

import numpy as np
import pytest

from staffing.models.diffusion.chain import BirthDeathChain
from staffing.models.diffusion.convergence import SIZES, BalancedQueues, convergence
from staffing.models.diffusion.death_rates import closure_death_rates, roster_death_rates
from staffing.models.diffusion.piecewise_ou import PiecewiseOU
from staffing.models.diffusion.smooth_functions import SMOOTH, WAIT, law_nodes
from staffing.models.erlang import erlang_a, erlang_c
from staffing.models.errors import ScenarioError
from staffing.models.roster import roster_performance

QUEUES = [
    BalancedQueues(0.5, 0.5),
    BalancedQueues(0.5, 0.5, limit=True),
    BalancedQueues(0.5, 0.5, 0.09),
    BalancedQueues(0.0, 0.5, 0.09, limit=True),
    BalancedQueues(-0.5, 0.5, 0.25, limit=True),
    BalancedQueues(1.0, 0.0, 0.25),
]


@pytest.mark.parametrize("queues", QUEUES, ids=str)
def test_the_error_falls_as_one_over_the_root_of_n(queues):
    found = convergence(queues)
    large = [name for name in found.differences if name not in found.small()]
    assert len(large) >= 6
    assert WAIT in large
    for name in large:
        last = found.extrapolated(name)[-2:]  # from 100 to 1600, and from 400 to 6400
        np.testing.assert_allclose(last, 0.5, atol=0.015, err_msg=name)
    # what is small in its leading term stays small, and comes to the same rate later
    for name in found.small():
        constants = found.constants(name)
        assert abs(constants[-1] - constants[-2]) < 0.002


def test_a_plain_exponent_is_not_yet_there():
    found = convergence(BalancedQueues(1.0, 0.5, 0.09))
    plain, better = found.exponents("x^2"), found.extrapolated("x^2")
    assert plain[0] < 0.45
    assert np.all(np.abs(better - 0.5) < np.abs(plain[1:] - 0.5) / 4)


@pytest.mark.parametrize(
    ("n", "load", "exact", "limit", "error"),
    [
        (5, 3, "0.20451", "0.14585", "5.87e-02"),
        (5, 4, "1.10823", "1.00908", "9.92e-02"),
        (5, 4.9, "21.03616", "20.90823", "1.28e-01"),
        (5, 4.95, "43.38595", "43.25666", "1.29e-01"),
        (5, 4.99, "222.26268", "222.13232", "1.30e-01"),
        (500, 490, "1.21011", "1.19941", "1.07e-02"),
        (500, 495, "3.33281", "3.32012", "1.27e-02"),
        (500, 499, "21.12467", "21.11037", "1.43e-02"),
    ],
)
def test_erlang_c_in_the_setting_of_braverman_dai_and_feng(n, load, exact, limit, error):
    # (X - R) / sqrt(R), whose drift bends at (n - R) / sqrt(R)
    zeta = (n - load) / math.sqrt(load)
    found = erlang_c(load, 1.0, n).mean_queue / math.sqrt(load)
    diffusion = float(PiecewiseOU(-zeta, 1.0, 0.0, 2.0).mean) + zeta
    chain = BirthDeathChain(load, closure_death_rates(n, float(n), 0.0), 0.0)
    assert f"{found:.5f}" == exact
    assert float(chain.chances @ (chain.states - load)) / math.sqrt(load) == pytest.approx(found, rel=1e-9)
    assert f"{diffusion:.5f}" == limit
    # printed as the difference of what was printed
    assert found - diffusion == pytest.approx(float(error), abs=0.5 * 10.0 ** (int(error[-3:]) - 2) + 5e-6)


@pytest.mark.parametrize(
    ("lam", "n", "theta"), [(95.0, 100, 0.5), (130.0, 100, 2.0), (8.0, 10, 0.0), (3.0, 10, 0.1)]
)
def test_the_chain_is_erlangs(lam, n, theta):
    chain = BirthDeathChain(lam, closure_death_rates(n, float(n), 0.0), theta)
    exact = erlang_a(lam, 1.0, theta, n)
    x, p = chain.states, chain.chances
    assert p.sum() == pytest.approx(1, abs=1e-13)
    assert p[x >= n].sum() == pytest.approx(exact.wait_probability, rel=1e-11)
    assert p @ np.maximum(x - n, 0) == pytest.approx(exact.mean_queue, rel=1e-10)
    np.testing.assert_allclose(lam * p[:-1], (chain.deaths * p)[1:], rtol=1e-11)
    assert max(p[0] if x[0] > 0 else 0.0, p[-1]) < 1e-250


def test_the_chain_of_a_roster_is_the_roster():
    rates = np.linspace(0.4, 1.7, 30)
    exact = roster_performance(rates, 30.0, 0.5)
    chain = BirthDeathChain(30.0, roster_death_rates(rates, 30.0, "longest-idle"), 0.5)
    assert chain.chances[chain.states >= 30].sum() == pytest.approx(exact.wait_probability, rel=1e-11)
    assert chain.death_rate(31.5) == pytest.approx(rates.sum() + 0.75)


@pytest.mark.parametrize(
    "law",
    [PiecewiseOU(-0.5, 1.0, 0.5, 1.9), PiecewiseOU(-40.0, 1.0, 0.0, 2.0), PiecewiseOU(60.0, 1.0, 2.0, 1.0)],
)
def test_nodes_of_the_law_have_its_moments(law):
    y, w = law_nodes(law)
    assert w.sum() == pytest.approx(1, abs=1e-12)
    assert w @ y == pytest.approx(law.mean, rel=1e-11)
    assert w @ y**2 == pytest.approx(law.second_moment, rel=1e-11)
    assert w[y > 0].sum() == pytest.approx(law.above, abs=1e-12)


def test_functions_have_the_size_that_small_is_measured_by():
    x = np.linspace(-3, 3, 101)
    for name, h in SMOOTH.items():
        assert 0.1 < np.ptp(h(x)) <= 9, name


@pytest.mark.parametrize("sizes", [(), (0, 0), (25, 50), (25, 100, 200), (2.5,)])
def test_sizes_are_each_four_times_the_one_before(sizes):
    with pytest.raises(ScenarioError, match="sizes"):
        convergence(QUEUES[0], sizes)


def test_queues_that_do_not_settle_are_refused():
    with pytest.raises(ScenarioError, match="no stationary law"):
        BalancedQueues(0.0, 0.0)
    with pytest.raises(ScenarioError, match="arrival_rate"):
        convergence(BalancedQueues(6.0, 0.5), SIZES)
    with pytest.raises(ScenarioError, match="no stationary law"):
        BirthDeathChain(2.0, [2.0, 1.0], 0.0)
    with pytest.raises(ScenarioError, match="death_rates"):
        BirthDeathChain(2.0, [2.0, 0.0], 1.0)


@pytest.mark.parametrize("limit", [False, True])
@pytest.mark.parametrize("agents", [0, -1, 1.5, math.nan])
def test_queues_without_agents_are_refused(agents, limit):
    for of in (BalancedQueues(0.5, 0.5, limit=limit).diffusion, BalancedQueues(0.5, 0.5, limit=limit).chain):
        with pytest.raises(ScenarioError, match="agents"):
            of(agents)


def test_queues_without_load_are_refused():
    with pytest.raises(ScenarioError, match="arrival_rate"):
        BalancedQueues(2.0, 0.5).diffusion(4)
