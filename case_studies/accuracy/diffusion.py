"""The diffusion limit given the capacity, for comparison with the package's methods, none of which it is.

With X callers in the system of n agents, (X - n) / sqrt(n) tends to a process of drift m + g x^- - theta x^+ and
variance sigma^2 (Atar 2008). Its stationary law is made of two halves of normal laws that meet at 0.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, log_ndtr


def diffusion(
    arrival_rate: float, capacity: ArrayLike, theta: float, agents: int, g: ArrayLike, variance: ArrayLike
) -> dict[str, NDArray[np.float64]]:
    """P(wait), the mean queue and P(abandon) by the limit: `g` pulls idle agents back to work, `theta` the queue."""
    m = (arrival_rate - np.asarray(capacity)) / np.sqrt(agents)
    above, mean_above = _half(m, theta, variance)
    below, _ = _half(-m, g, variance)
    waits = expit(above - below)
    queue = np.sqrt(agents) * waits * mean_above
    return {
        "wait_probability": waits,
        "mean_queue": queue,
        "abandonment_probability": theta * queue / arrival_rate,
    }


def _half(drift: ArrayLike, pull: ArrayLike, variance: ArrayLike) -> tuple[NDArray, NDArray]:
    """Log of the mass, which itself overflows from drifts of 37 scales on, and mean of one half of the law."""
    scale = np.sqrt(np.asarray(variance) / (2 * np.asarray(pull)))
    z = drift / (np.asarray(pull) * scale)
    log_density, log_below = -(z**2 + np.log(2 * np.pi)) / 2, log_ndtr(z)
    return np.log(scale) + log_below - log_density, scale * (z + np.exp(log_density - log_below))
