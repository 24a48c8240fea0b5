"""The diffusion in time: against the normal law it has where g = theta, exact chains, and simulated days."""

import math

import numpy as np
import pytest
from scipy.linalg import eigh_tridiagonal

from staffing.models.diffusion.birth_death_in_time import chances_in_time
from staffing.models.diffusion.chain import BirthDeathChain
from staffing.models.diffusion.death_rates import closure_death_rates
from staffing.models.diffusion.given_capacity import given_capacity
from staffing.models.diffusion.piecewise_ou import PiecewiseOU
from staffing.models.diffusion.transient import TransientDiffusion
from staffing.models.diffusion.universal import UniversalDiffusion
from staffing.models.errors import ScenarioError

TIMES = [0.1, 0.5, 1.0, 2.0, 5.0]


def test_the_law_is_normal_where_idle_agents_and_callers_leave_alike():
    law, start, t = PiecewiseOU(-0.6, 1.2, 1.2, 2.4), -4.0, np.array(TIMES)
    mean = -0.5 + (start + 0.5) * np.exp(-1.2 * t)
    variance = 1 - np.exp(-2.4 * t)
    errors = []
    for step in (0.2, 0.1, 0.05):
        grid = TransientDiffusion(law, step=step, low=-9, high=7)
        found = grid.law(start, TIMES)
        errors.append(
            np.concatenate([found.mean - mean, found.variance - variance, [grid.spectral_gap - 1.2]])
        )
    ratios = np.array(errors[:-1]) / np.array(errors[1:])
    np.testing.assert_allclose(ratios[-1, :10], 4, atol=0.1)
    assert np.abs(errors[-1][:-1]).max() < 1e-3
    assert abs(errors[-1][-1]) < 1e-6


def test_errors_fall_as_the_square_of_the_step_across_the_kink():
    law = PiecewiseOU(-0.5, 1.1, 0.3, 2.0)
    values = []
    for step in (0.2, 0.1, 0.05, 0.025):
        grid = TransientDiffusion(law, step=step, low=-8, high=14)
        found = grid.law(4.0, TIMES[1:])
        values.append(np.concatenate([found.mean, found.variance, found.mean_above, [grid.relaxation_time]]))
    changes = np.diff(values, axis=0)
    np.testing.assert_allclose(changes[1] / changes[2], 4, atol=0.4)


@pytest.mark.parametrize(
    "law",
    [PiecewiseOU(-0.5, 1.1, 0.3, 2.0), PiecewiseOU(-1.0, 1.0, 0.0, 2.0), PiecewiseOU(0.7, 0.8, 2.0, 1.5)],
)
def test_in_the_end_it_is_the_stationary_law_and_comes_to_it_at_the_gap(law):
    grid = TransientDiffusion(law, step=0.04)
    tau = grid.relaxation_time
    found = grid.law(1.0, [0.0, 4 * tau, 5 * tau, 40 * tau])
    assert found.mean[0] == pytest.approx(1)
    assert found.variance[0] == pytest.approx(0, abs=1e-12)
    assert found.mean[-1] == pytest.approx(law.mean, abs=1e-3)
    assert found.variance[-1] == pytest.approx(law.stationary_variance, rel=1e-3)
    assert found.above[-1] == pytest.approx(law.above, abs=1e-3)
    assert found.mean_above[-1] == pytest.approx(law.mean_above, abs=1e-3)
    left = found.mean[1:3] - found.mean[-1]
    if law.theta > 0:
        assert left[1] / left[0] == pytest.approx(math.exp(-1), rel=0.03)
    else:
        assert grid.spectral_gap == pytest.approx(
            0.25, rel=0.05
        )  # m^2 / (2 sigma^2), where the continuum begins
        assert left[1] < left[0] * math.exp(-1)
    np.testing.assert_allclose(found.chances.sum(axis=1), 1, rtol=1e-11)
    # the grid's law in the long run is the density at its points
    density = law.density(found.points)
    np.testing.assert_allclose(found.chances[-1], density / density.sum(), atol=1e-12)


def exact_in_time(chain, start, times):
    """Mean, variance and P(wait) of the chain itself, from a number of callers; and the fourth central moment."""
    x = np.arange(start + 1 if start > chain.states[-1] else chain.states[-1] + 1)
    up = np.full(x.size, chain.arrival_rate)
    up[-1] = 0.0
    here = (x == start).astype(float)
    p = chances_in_time(up, chain.death_rate(x), here, times)
    mean = p @ x
    centred = x - mean[:, None]
    return mean, (centred**2 * p).sum(axis=1), p @ (x >= chain.agents), (centred**4 * p).sum(axis=1)


def test_uniformisation_is_the_exponential_of_the_generator():
    from scipy.linalg import expm

    up, down = np.array([3.0, 2.0, 1.0, 0.0]), np.array([0.0, 1.0, 4.0, 2.0])
    q = np.diag(up[:-1], 1) + np.diag(down[1:], -1)
    q -= np.diag(q.sum(axis=1))
    start = np.array([0.1, 0.0, 0.9, 0.0])
    found = chances_in_time(up, down, start, [30.0, 0.0, 0.7])
    for law, t in zip(found, (30.0, 0.0, 0.7), strict=True):
        np.testing.assert_allclose(law, start @ expm(q * t), rtol=1e-12)


@pytest.mark.parametrize("start", [0, 150], ids=["empty", "overload"])
@pytest.mark.parametrize(("c2", "theta"), [(0.0, 0.5), (0.09, 0.5), (0.0, 2.0)])
def test_mean_and_variance_are_within_the_noise_of_ten_thousand_days(start, c2, theta):
    deaths = closure_death_rates(100, 100.0, c2)
    mean, variance, _, fourth = exact_in_time(BirthDeathChain(95.0, deaths, theta), start, TIMES)
    process = UniversalDiffusion(95.0, deaths, theta, lowest=-8.0)
    found = TransientDiffusion(process, step=0.25, low=-7, high=190.0).law(start, TIMES)
    days = 10_000
    assert np.all(np.abs(found.mean - mean) < 4 * np.sqrt(variance / days))
    assert np.all(np.abs(found.variance - variance) < 4 * np.sqrt((fourth - variance**2) / days))


def test_it_agrees_with_ten_thousand_simulated_days():
    lam, theta, n, days = 95.0, 0.5, 100, 10_000
    generator = np.random.default_rng(20)
    rate, x = 250.0, np.zeros(days, np.int64)
    found = TransientDiffusion(
        UniversalDiffusion(lam, closure_death_rates(n, 100.0, 0.0), theta, lowest=-8.0),
        step=0.25,
        low=-7,
        high=190.0,
    ).law(0.0, TIMES)
    for k, span in enumerate(np.diff([0.0, *TIMES])):
        left = generator.poisson(rate * span, days)
        while left.any():
            u = generator.random(days) * rate
            down = np.minimum(x, n) + theta * np.maximum(x - n, 0)
            x += (left > 0) * ((u < lam).astype(np.int64) - ((u >= lam) & (u < lam + down)))
            left = np.maximum(left - 1, 0)
        assert x.max() * theta + n < rate
        mean_se = x.std() / math.sqrt(days)
        variance_se = math.sqrt((((x - x.mean()) ** 2 - x.var()) ** 2).mean() / days)
        assert mean_se < 0.12
        assert abs(found.mean[k] - x.mean()) < 4 * mean_se  # ten comparisons: false alarm 6e-4
        assert abs(found.variance[k] - x.var()) < 4 * variance_se


def test_the_error_against_the_chain_falls_as_one_over_the_root_of_n_at_any_time():
    errors = []
    for n in (100, 400, 1600):
        root = math.sqrt(n)
        lam = n - 0.5 * root
        chain = BirthDeathChain(lam, closure_death_rates(n, float(n), 0.0), 0.5)
        mean, variance, waits, _ = exact_in_time(chain, n - round(0.5 * root), TIMES[2:])
        law = given_capacity(lam, n, 0.5, n, 1.0)
        found = TransientDiffusion(law, step=0.02, low=-7, high=12).law(-0.5, TIMES[2:])
        errors.append([found.mean - (mean - n) / root, found.variance - variance / n, found.above - waits])
    rates = np.log2(np.array(errors[:-1]) / np.array(errors[1:])) / 2
    np.testing.assert_allclose(2 * rates[1] - rates[0], 0.5, atol=0.03)
    assert np.abs(errors[1]).max() < 0.02
    assert np.abs(errors[1][0]).max() < 0.003


def test_the_chain_forgets_its_start_as_fast_as_the_diffusion():
    # relaxation time of the chain of 400 agents, by its own generator
    n, lam = 400, 390.0
    process = UniversalDiffusion(lam, closure_death_rates(n, 400.0, 0.0), 0.3)
    chain = BirthDeathChain(lam, closure_death_rates(n, 400.0, 0.0), 0.3)
    x = chain.states[chain.chances > 1e-18]
    deaths = chain.death_rate(x)
    beside = np.sqrt(lam * deaths[1:])  # of the generator made symmetric
    gap = -eigh_tridiagonal(-(lam + deaths), beside, eigvals_only=True)[-2]
    assert TransientDiffusion(process, step=0.5).spectral_gap == pytest.approx(gap, rel=2e-3)
    limit = given_capacity(lam, 400.0, 0.3, n, 1.0)
    assert TransientDiffusion(limit, step=0.05).spectral_gap == pytest.approx(gap, rel=0.03)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"low": 3.0, "high": 2.0}, "must be below high"),
        ({"step": 0.0}, "step"),
        ({"step": 1e-6}, "points, more than"),
        ({"step": 100.0}, "step: 100 is wider than .* finer grid"),
        ({"low": math.nan}, "low"),
    ],
)
def test_grids_that_make_no_sense_are_refused(options, words):
    with pytest.raises(ScenarioError, match=words):
        TransientDiffusion(PiecewiseOU(0.0, 1.0, 0.5, 2.0), **options)


def test_a_start_outside_the_grid_is_refused():
    grid = TransientDiffusion(PiecewiseOU(0.0, 1.0, 0.5, 2.0))
    with pytest.raises(ScenarioError, match="start: -30 is outside the grid"):
        grid.law(-30.0, [1.0])
    with pytest.raises(ScenarioError, match=r"times\[1\]"):
        grid.law(0.0, [1.0, -1.0])
    with pytest.raises(ScenarioError, match="more than 2e"):
        grid.law(0.0, [1e9])
    with pytest.raises(ScenarioError, match="give one law"):
        TransientDiffusion(PiecewiseOU(np.zeros(2), 1.0, 0.5, 2.0))


@pytest.mark.parametrize("low", [0.0, 0.05, -0.2, -3.0])
def test_the_universal_diffusion_may_start_at_the_low_end_as_given(low):
    law = UniversalDiffusion(100.0, np.arange(100.0, 0.0, -1.0), 0.5)
    grid = TransientDiffusion(law, low=low)
    # Rounded outward, and no half step beyond where it is reflected.
    assert law.lowest + grid.step / 2 - 1e-9 <= grid.points[0] <= max(low, law.lowest + 1.5 * grid.step)
    found = grid.law(max(low, float(grid.points[0])), [1.0])
    assert found.mean[0] == pytest.approx(100 * (1 - math.exp(-1)), rel=0.01)


def test_rates_beyond_numbers_are_refused():
    with pytest.raises(ScenarioError, match="finer grid"):
        chances_in_time(np.array([np.inf, 0.0]), np.array([0.0, 1.0]), np.array([1.0, 0.0]), [1.0])
