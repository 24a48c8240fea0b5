"""Paths: their law where it is known, their drift alone where the noise is common, and the error of a step."""

import math

import numpy as np
import pytest

from staffing.models.diffusion.piecewise_ou import PiecewiseOU
from staffing.models.diffusion.sample_paths import sample_paths
from staffing.models.diffusion.transient import TransientDiffusion
from staffing.models.errors import ScenarioError


def test_they_are_exact_where_idle_agents_and_callers_leave_alike():
    size = 40_000
    law = PiecewiseOU(np.full(size, 0.6), 1.5, 1.5, 3.0)
    times, paths = sample_paths(law, 2.0, 1.0, steps=4)
    assert paths.shape == (size, 5)
    np.testing.assert_allclose(times, [0, 0.25, 0.5, 0.75, 1])
    assert np.all(paths[:, 0] == 2)
    for t, x in zip(times[1:], paths[:, 1:].T, strict=True):
        mean, variance = 0.4 + 1.6 * math.exp(-1.5 * t), 1 - math.exp(-3 * t)
        assert abs(x.mean() - mean) < 4 * math.sqrt(variance / size)
        assert abs(x.var() - variance) < 4 * variance * math.sqrt(2 / size)  # 8 comparisons: false alarm 5e-4


def test_the_error_of_a_step_is_of_its_first_order():
    law, size = PiecewiseOU(0.0, 1.0, 3.0, 2.0), 100_000
    exact = TransientDiffusion(law, step=0.02).law(0.0, [2.0]).mean[0]
    many = PiecewiseOU(np.zeros(size), 1.0, 3.0, 2.0)
    errors = [sample_paths(many, 0.0, 2.0, steps=steps)[1][:, -1].mean() - exact for steps in (10, 40)]
    se = 0.8 / math.sqrt(size)
    assert errors[0] == pytest.approx(0.055, abs=4 * se + 0.004)
    assert errors[1] == pytest.approx(errors[0] / 4, abs=8 * se)


def test_with_common_noise_paths_differ_by_their_drifts_alone():
    drifts = np.array([-1.0, 0.0, 0.0, 1.0])
    law = PiecewiseOU(drifts, 1.0, 0.5, 2.0)
    _, paths = sample_paths(law, 0.0, 10.0, steps=500, common=True)
    np.testing.assert_array_equal(paths[1], paths[2])
    assert np.all(np.diff(paths[[0, 1, 3], 1:], axis=0) > 0)
    _, apart = sample_paths(law, 0.0, 10.0, steps=500)
    assert np.any(apart[1] != apart[2])


def test_the_seed_decides_and_a_generator_will_do():
    law = PiecewiseOU(-1.0, 1.0, 0.0, 2.0)
    one, two = (
        sample_paths(law, [0.0, 1.0], 3.0, steps=50, seed=seed)[1] for seed in (7, np.random.default_rng(7))
    )
    np.testing.assert_array_equal(one, two)
    assert one.shape == (2, 51)
    assert np.any(one != sample_paths(law, [0.0, 1.0], 3.0, steps=50, seed=8)[1])


@pytest.mark.parametrize(
    ("start", "horizon", "options", "words"),
    [
        (math.nan, 1.0, {}, "start"),
        (0.0, 0.0, {}, "horizon"),
        (0.0, 1.0, {"steps": 0}, "steps"),
        (0.0, 1.0, {"seed": -1}, "seed"),
    ],
)
def test_bad_input_is_refused(start, horizon, options, words):
    with pytest.raises(ScenarioError, match=words):
        sample_paths(PiecewiseOU(0.0, 1.0, 0.5, 2.0), start, horizon, **options)
