"""Poisson's equation and the comparison of generators: solved two ways, added up, and by their rates."""

import math

import numpy as np
import pytest

from staffing.models.diffusion.chain import BirthDeathChain
from staffing.models.diffusion.convergence import BalancedQueues
from staffing.models.diffusion.death_rates import closure_death_rates
from staffing.models.diffusion.smooth_functions import SMOOTH
from staffing.models.diffusion.stein import poisson_differences, stein_comparison

QUEUES = BalancedQueues(0.5, 0.5, 0.09)


@pytest.mark.parametrize("name", SMOOTH)
def test_the_differences_solve_poissons_equation(name):
    chain, h = QUEUES.chain(100), SMOOTH[name]
    first, p = poisson_differences(chain, h), chain.chances
    there = h(chain.scaled) - p @ h(chain.scaled)
    applied = chain.arrival_rate * first[1:] - chain.deaths[1:-1] * first[:-1]
    likely = p[1:-1] > 1e-60
    np.testing.assert_allclose(applied[likely], there[1:-1][likely], atol=1e-9 * np.abs(there).max())


def test_they_are_those_of_the_linear_equations():
    chain, h = BirthDeathChain(6.0, closure_death_rates(5, 5.0, 0.2), 2.0), SMOOTH["x exp(-x^2 / 2)"]
    size = int(np.flatnonzero(chain.chances > 1e-30)[-1])
    lam, d, p = chain.arrival_rate, chain.deaths[:size], chain.chances[:size]
    q = np.diag(np.full(size - 1, lam), 1) + np.diag(d[1:], -1)
    q -= np.diag(q.sum(axis=1))
    there = h(chain.scaled[:size])
    f = np.linalg.lstsq(q, there - p @ there / p.sum(), rcond=None)[0]
    np.testing.assert_allclose(
        poisson_differences(chain, h)[: size - 1][p[:-1] > 1e-12],
        np.diff(f)[p[:-1] > 1e-12],
        rtol=1e-4,
        atol=1e-9,
    )


def test_nothing_cancels_far_out():
    # h = x and infinite servers: f = -x / sqrt(n) exactly, in states of chance 1e-250 too, but for the last kept
    chain = BirthDeathChain(50.0, closure_death_rates(50, 50.0, 0.0), 1.0)
    first = poisson_differences(chain, SMOOTH["x"])[:-20]
    assert chain.chances[first.size] < 1e-250
    np.testing.assert_allclose(first, -1 / math.sqrt(50), rtol=1e-11)


@pytest.mark.parametrize(
    "queues", [QUEUES, BalancedQueues(-0.3, 0.5, limit=True), BalancedQueues(1.0, 0.0)], ids=str
)
@pytest.mark.parametrize("name", ["x", "tanh x", "exp(-x^2)", "x+"])
def test_the_terms_add_up_to_the_difference_and_the_bound_bounds_it(queues, name):
    for n in (25, 400):
        found = stein_comparison(queues.chain(n), queues.diffusion(n), SMOOTH[name])
        assert sum(found.terms.values()) == pytest.approx(found.difference, abs=1e-12)
        assert abs(found.difference) <= found.bound
        assert found.bound - found.sizes["lattice"] <= 2 * found.factor_bound
        assert all(abs(found.terms[term]) <= found.sizes[term] * (1 + 1e-12) for term in found.terms)


@pytest.mark.parametrize("name", ["x", "tanh x", "exp(-x^2)", "x+"])
def test_each_term_has_its_rate(name):
    small, large = (stein_comparison(QUEUES.chain(n), QUEUES.diffusion(n), SMOOTH[name]) for n in (400, 6400))

    def rate(term):
        return math.log(small.sizes[term] / large.sizes[term], 16)

    assert rate("drift") == pytest.approx(0.5, abs=0.02)
    assert rate("variance") == pytest.approx(0.5, abs=0.02)
    for term in ("third", "kink", "lattice"):
        assert rate(term) > 0.9
    # drift and variance are the error, in the end
    leading = large.terms["drift"] + large.terms["variance"]
    assert leading == pytest.approx(large.difference, rel=0.02)
    # Stein factors do not grow, so the bound by them falls as fast as the error
    for before, after in zip(small.factors, large.factors, strict=True):
        assert after < 1.06 * before
    assert math.log(small.factor_bound / large.factor_bound, 16) == pytest.approx(0.5, abs=0.02)
    assert abs(large.difference) < large.bound < large.factor_bound


def test_linear_death_rates_leave_no_drift_term():
    found = stein_comparison(
        BalancedQueues(0.5, 0.5).chain(100), BalancedQueues(0.5, 0.5).diffusion(100), np.tanh
    )
    assert found.sizes["drift"] < 1e-9
    assert found.sizes["variance"] > 1e-3
