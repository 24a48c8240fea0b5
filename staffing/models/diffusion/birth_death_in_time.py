"""The law of a birth-death chain at given times, by uniformisation."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from staffing.models.arguments import non_negative
from staffing.models.diffusion import _kernels
from staffing.models.errors import ScenarioError

Vector = NDArray[np.float64]

MOST_STEPS = 20_000_000
"""Steps of the chain; with a thousand states, 20 seconds."""
_FAR = 9.0


def chances_in_time(up: Vector, down: Vector, start: Vector, times: Sequence[float]) -> Vector:
    """Chances of the states at each time; shape (times, states).

    P(t) = sum_k e^(-L t) (L t)^k / k! (I + Q / L)^k, L the greatest rate: sums of positive terms, exact to 1e-13.

    Parameters
    ----------
    up, down : array, shape (states,)
        Rates from each state to the next and to the one before; up[-1] and down[0] are 0.
    start : array, shape (states,)
        Chances at time 0.
    times : sequence of float
        >= 0, in any order.

    Raises
    ------
    ScenarioError
        If a time is negative, or so long that the chain takes more than `MOST_STEPS`, or a rate is not finite.
    """
    at = np.array([non_negative(f"times[{k}]", t) for k, t in enumerate(times)])
    rate = float((up + down).max())
    means = rate * at
    most = float(means.max(initial=0.0))
    if not math.isfinite(most):
        raise ScenarioError(
            "times: the chain's rates are beyond numbers at the ends of the grid; give a finer grid or nearer ends"
        )
    if most > MOST_STEPS:
        raise ScenarioError(
            f"times: up to {at.max():g} takes {most:.2g} steps of the chain, more than {MOST_STEPS:.2g}; give shorter"
            " times or a coarser grid"
        )
    width = math.ceil(2 * _FAR * math.sqrt(most) + 60)
    first = np.maximum(means - _FAR * np.sqrt(means) - 30, 0).astype(np.int64)
    k = first[:, np.newaxis] + np.arange(width)
    weights = _poisson(k, means[:, np.newaxis])
    out = np.zeros((at.size, start.size))
    _kernels.uniformised(up / rate, down / rate, weights, first, start.astype(np.float64), out)
    return out


def _poisson(k: NDArray[np.int64], means: Vector) -> Vector:
    from scipy.special import gammaln, xlogy

    weights = np.exp(xlogy(k, means) - means - gammaln(k + 1.0))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
