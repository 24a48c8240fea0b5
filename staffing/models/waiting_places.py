"""Room for so many callers to wait: how it cuts off the law of those who do.

While a call is offered the wait t, the number N who wait is Poisson of mean x = lam E[min(patience, t)]. With K places
it is Poisson given N <= K: all integrals over t take the factor P(N <= K), and a call that finds K waiting is blocked.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc, gammaln, xlogy

Vector = NDArray[np.float64]

TURNS = np.array([-6.0, -3.0, -1.0, 1.0, 3.0, 6.0])
"""Where P(N <= K) turns, in standard deviations of N from K."""
_ROOMY = 10.0
_SMALL = 1e-250
LARGE = 100.0
"""Places above which log P(N = K) is by Stirling's series."""


def log_fits(x: Vector, places: Vector) -> Vector:
    """log P(N <= places), N Poisson of mean x >= 0; places >= 0 whole."""
    x, places = np.broadcast_arrays(x, places)
    result = np.zeros(x.shape)
    near = x + _ROOMY * np.sqrt(x) + 2 * _ROOMY**2 > places
    mean, most = x[near], places[near]
    chance = gammaincc(most + 1, mean)
    small = chance < _SMALL
    with np.errstate(divide="ignore"):
        logs = np.log(chance)
    logs[small] = _log_poisson(mean[small], most[small]) + np.log(_against_last(mean[small], most[small]))
    result[near] = logs
    return result


def share_blocked(x: Vector, places: Vector, fits: Vector) -> Vector:
    """P(N = places | N <= places), given log P(N <= places)."""
    share = np.exp(np.minimum(_log_poisson(x, places) - fits, 0.0))
    return np.asarray(np.where(places == 0, 1.0, share))


def _log_poisson(x: Vector, k: Vector) -> Vector:
    """log P(N = k); for large k by Stirling's series, in which nothing large is subtracted."""
    with np.errstate(divide="ignore", invalid="ignore"):
        above = (x - k) / k
        by_series = (
            -k * (above - np.log1p(above)) - np.log(2 * np.pi * k) / 2 - (1 - 1 / (30 * k * k)) / (12 * k)
        )
    return np.asarray(np.where(k > LARGE, by_series, xlogy(k, x) - x - gammaln(k + 1)))


def _against_last(x: Vector, places: Vector) -> Vector:
    """P(N <= places) / P(N = places) where x is far above: 1 + K / x + K (K - 1) / x^2 + ..."""
    total, term, k = np.ones(x.shape), np.ones(x.shape), places.astype(np.float64)
    while term.size and term.max() > 1e-17:
        term = term * k / x
        k = np.maximum(k - 1, 0.0)
        total = total + term
    return total
