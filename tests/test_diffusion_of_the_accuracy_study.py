"""The diffusion that the accuracy study holds the package's methods against."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr

from case_studies.accuracy.diffusion import diffusion


@pytest.mark.parametrize("capacity", [80.0, 97.0, 100.0, 112.0])
def test_it_is_the_integral_of_its_density(capacity: float) -> None:
    lam, theta, n, g, variance = 100.0, 0.5, 100, 1.1, 1.9
    m = (lam - capacity) / math.sqrt(n)

    def density(x: float) -> float:
        return math.exp(2 / variance * (m * x - (theta if x > 0 else g) * x * x / 2))

    above, below = quad(density, 0, np.inf)[0], quad(density, -np.inf, 0)[0]
    mean = quad(lambda x: x * density(x), 0, np.inf)[0]
    found = diffusion(lam, capacity, theta, n, g, variance)
    assert found["wait_probability"] == pytest.approx(above / (above + below), rel=1e-7)
    assert found["mean_queue"] == pytest.approx(10 * mean / (above + below), rel=1e-7)
    assert found["abandonment_probability"] == pytest.approx(theta * found["mean_queue"] / lam)


def test_it_is_normal_where_idle_agents_and_callers_leave_alike() -> None:
    found = diffusion(50.0, 53.0, 1.0, 50, 1.0, 2.0)
    assert found["wait_probability"] == pytest.approx(ndtr(-3 / math.sqrt(50)), rel=1e-12)


def test_it_stands_a_drift_whose_masses_are_beyond_numbers() -> None:
    found = diffusion(1e4, np.array([2e3, 5e4]), 0.5, 1600, 1.0, 2.0)
    np.testing.assert_allclose(found["wait_probability"], [1.0, 0.0], atol=1e-300)
    assert found["mean_queue"][0] == pytest.approx((1e4 - 2e3) / 0.5, rel=1e-9)
