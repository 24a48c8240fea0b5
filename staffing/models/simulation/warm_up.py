"""How long a simulated queue remembers its start, and so how many calls to leave out."""

import math

import numpy as np
from numpy.typing import NDArray

LEAST_WARM_UP, MOST_WARM_UP = 20, 2_000_000


def relaxation_time(
    rates: NDArray[np.float64], arrival_rate: float | NDArray[np.float64], abandonment_rate: float
) -> NDArray[np.float64]:
    r"""About how long a roster's queue remembers its start.

    With capacity :math:`S = \sum_k \mu_k` and mean rate :math:`\bar\mu`,

    .. math:: \tau = 1/\bar\mu + \min\{1/\theta,\ (\sqrt S - \sqrt\lambda)^{-2}\}
              \ (S > \lambda), \qquad \tau = 1/\bar\mu + 1/\theta \ (S \le \lambda),

    the agents' own memory, then that of M/M/1 with the roster's capacity, cut off by patience. Without
    agents it is the mean patience. A rule of thumb, above the true one where
    there is patience.

    Parameters
    ----------
    rates : ndarray, shape (..., agents)
        Service rates, > 0; 0 for an absent agent.
    arrival_rate : float or ndarray, shape (...)
        lam > 0.
    abandonment_rate : float
        theta >= 0, infinite if nobody waits.

    Returns
    -------
    ndarray, shape (...)
        Infinite for a queue that never settles.
    """
    patience = 1 / abandonment_rate if abandonment_rate > 0 else math.inf
    capacity = rates.sum(axis=-1)
    spare = np.maximum(np.sqrt(capacity) - np.sqrt(arrival_rate), 0.0)
    with np.errstate(divide="ignore"):
        queue = np.minimum(patience, 1 / spare**2)
    present = (rates > 0).sum(axis=-1)
    return np.asarray(queue + np.divide(present, capacity, out=np.zeros_like(capacity), where=capacity > 0))


def warm_up_calls(
    rates: NDArray[np.float64], arrival_rate: float | NDArray[np.float64], abandonment_rate: float
) -> NDArray[np.int64]:
    """Calls to leave out at the start of each roster: five relaxation times, from 20 to 2,000,000 calls."""
    calls = 5 * arrival_rate * relaxation_time(rates, arrival_rate, abandonment_rate)
    return np.ceil(np.clip(calls, LEAST_WARM_UP, MOST_WARM_UP)).astype(np.int64)


def settles(
    rates: NDArray[np.float64], arrival_rate: float | NDArray[np.float64], abandonment_rate: float
) -> bool:
    """Whether the most calls that are left out are enough for every roster to forget its start."""
    time = relaxation_time(rates, arrival_rate, abandonment_rate)
    return bool(np.all(5 * arrival_rate * time <= MOST_WARM_UP))
