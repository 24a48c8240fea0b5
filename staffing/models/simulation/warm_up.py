"""How long a simulated queue remembers its start, and so how many calls to leave out."""

import math

import numpy as np
from numpy.typing import NDArray

LEAST_WARM_UP, MOST_WARM_UP = 20, 2_000_000


def relaxation_time(
    rates: NDArray[np.float64],
    arrival_rate: float | NDArray[np.float64],
    abandonment_rate: float,
    *,
    max_calls: int | None = None,
    arrival_scv: float = 1.0,
) -> NDArray[np.float64]:
    r"""About how long a roster's queue remembers its start.

    With capacity :math:`S = \sum_k \mu_k`, mean rate :math:`\bar\mu` and :math:`v = \max\{(1 + c^2) / 2, 1\}`,

    .. math:: \tau = 1/\bar\mu + \min\{1/\theta,\ v (\sqrt S - \sqrt\lambda)^{-2}\}
              \ (S > \lambda), \qquad \tau = 1/\bar\mu + 1/\theta \ (S \le \lambda),

    the agents' own memory, then that of M/M/1 with the roster's capacity, cut off by patience. With K places to wait
    the queue's part is at most

    .. math:: K / (\lambda - S)^+ + v (\sqrt S - \sqrt\lambda)^{-2} \quad\text{and}\quad (K + 1)^2 / \max\{S, \lambda\},

    the time to fill the places and then to forget, and that to wander through all of them. Without agents the agents'
    part is 0. A rule of thumb: above the true one where there is patience or where places end the queue, for agents who
    are alike.

    Parameters
    ----------
    rates : ndarray, shape (..., agents)
        Service rates, > 0; 0 for an absent agent.
    arrival_rate : float or ndarray, shape (...)
        lam > 0.
    abandonment_rate : float
        theta >= 0, infinite if nobody waits.
    max_calls : int, optional
        Calls in the system before one is blocked, >= agents: K more than there are agents present.
    arrival_scv : float
        c^2 >= 0, squared coefficient of variation of the times between calls.

    Returns
    -------
    ndarray, shape (...)
        Infinite for a queue that never settles.
    """
    patience = 1 / abandonment_rate if abandonment_rate > 0 else math.inf
    capacity, present = rates.sum(axis=-1), (rates > 0).sum(axis=-1)
    variability = max((1 + arrival_scv) / 2, 1.0)
    excess = np.maximum(arrival_rate - capacity, 0.0)
    with np.errstate(divide="ignore"):
        forgotten = variability / (np.sqrt(capacity) - np.sqrt(arrival_rate)) ** 2
    queue = np.minimum(patience, np.where(capacity > arrival_rate, forgotten, math.inf))
    if max_calls is not None:
        places = float(max_calls) - present
        filled = np.divide(places, excess, out=np.zeros_like(excess), where=excess > 0)
        wandered = (places + 1) ** 2 / np.maximum(capacity, arrival_rate)
        queue = np.minimum(queue, np.minimum(filled + forgotten, wandered))
    return np.asarray(queue + np.divide(present, capacity, out=np.zeros_like(capacity), where=capacity > 0))


def warm_up_calls(
    rates: NDArray[np.float64],
    arrival_rate: float | NDArray[np.float64],
    abandonment_rate: float,
    *,
    max_calls: int | None = None,
    arrival_scv: float = 1.0,
) -> NDArray[np.int64]:
    """Calls to leave out at the start of each roster: five relaxation times, from 20 to 2,000,000 calls."""
    time = relaxation_time(
        rates, arrival_rate, abandonment_rate, max_calls=max_calls, arrival_scv=arrival_scv
    )
    return np.ceil(np.clip(5 * arrival_rate * time, LEAST_WARM_UP, MOST_WARM_UP)).astype(np.int64)


def settles(
    rates: NDArray[np.float64],
    arrival_rate: float | NDArray[np.float64],
    abandonment_rate: float,
    *,
    max_calls: int | None = None,
    arrival_scv: float = 1.0,
) -> bool:
    """Whether the most calls that are left out are enough for every roster to forget its start."""
    time = relaxation_time(
        rates, arrival_rate, abandonment_rate, max_calls=max_calls, arrival_scv=arrival_scv
    )
    return bool(np.all(5 * arrival_rate * time <= MOST_WARM_UP))
