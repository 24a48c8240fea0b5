"""A shared queue whose calls come in bursts, or more evenly than by chance: renewal arrivals, by an exact chain.

Gaps between calls are independent, of mean 1 / lam and squared CV ca2, and of one family: a mixture of two exponential
laws with balanced means from ca2 = 1 on, of two Erlang laws (k - 1 and k phases, 1 / k <= ca2) below. They pass through
phases that ignore the queue, so the number x in system is a birth-death chain with birth rates

    b_x = E[chance of a call per unit of time | x in system]

of which the highest is that of a chain whose death rates grow no more, and the others follow from the top down: for two
exponential phases with rates r_1 > r_2, of which a share g of the gaps takes the first, b_x = r_2 + (r_1 - r_2) z_x,

    z_x = (g d_x + r_2 z_(x+1)) / (d_x + r_1 (1 - z_(x+1)) + r_2 z_(x+1)),

d_x being the rate at which x in system become fewer. A call sees x with chance p_x b_x / lam, which is not p_x: calls
do not see time averages.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from staffing.models import _bursty_kernels
from staffing.models.performance import Sums

Vector = NDArray[np.float64]

_COLUMNS = len(Sums._fields) + 1


@dataclass(frozen=True)
class BurstyWaits:
    """The wait of all calls of renewal arrivals, averaged over capacities with weights that sum to 1.

    Patience is exponential. While all agents are busy only their capacity matters, so this holds for agents of any
    kind and any routing.
    """

    arrival_rate: float
    """Calls per unit of time, > 0."""
    arrival_scv: float
    abandonment_rate: float
    capacities: Vector
    weights: Vector
    log_most: Vector
    """The last of the rows, per capacity; minus infinity where the queue grows without end, or nobody ever waits."""

    def survival(self, t: float) -> float:
        """P(W > t), t >= 0."""
        return math.exp(self.log_survival(t))

    def log_survival(self, t: float) -> float:
        """log P(W > t), t >= 0, where P(W > t) itself may be too small for a number; -inf if it is 0."""
        if self.abandonment_rate == math.inf or (t == math.inf and self.abandonment_rate > 0):
            return -math.inf
        return self.log_offered(t) - (self.abandonment_rate * t if self.abandonment_rate > 0 else 0.0)

    def log_offered(self, t: float) -> float:
        """log P(V > t), t >= 0, for the wait V offered to a call, who might not have the patience for it."""
        logs = np.empty(self.capacities.size)
        _bursty_kernels.log_late(
            self.arrival_rate,
            self.arrival_scv,
            self.capacities,
            self.abandonment_rate,
            float(t),
            self.log_most,
            logs,
        )
        return min(float(logsumexp(logs, b=self.weights)), 0.0)


def bursty_closure_rows(
    lam: float, ca2: float, theta: float, threshold: float, agents: int, capacities: Vector, c2: float
) -> Vector:
    """One row of sums per capacity by the gamma closure: d_i = S (n - i) / (n + i c2) with i of n agents idle.

    Parameters
    ----------
    lam : float
        Arrival rate, > 0.
    ca2 : float
        Squared CV of the times between calls, >= 0; below .01 taken for .01.
    theta : float
        Abandonment rate, >= 0; 0 if nobody gives up, infinite if whoever finds no agent free is lost.
    threshold : float
        The wait that counts as in time, >= 0.
    agents : int
        n >= 0.
    capacities : array, shape (capacities,)
        S, the sums of the agents' rates, >= 0.
    c2 : float
        Squared CV of the agents' rates, >= 0.

    Returns
    -------
    array, shape (capacities, 10)
        The nine `Sums` and what `BurstyWaits` goes by. Exact for the stated law of gaps where c2 = 0. With unlike
        agents, d_i is that of Poisson calls: see `arrival_error`.
    """
    lams = np.full(capacities.size, float(lam))
    return bursty_closure_days(
        lams, ca2, theta, threshold, np.full(capacities.size, agents, dtype=np.int64), capacities, c2
    )


def bursty_closure_days(
    lams: Vector,
    ca2: float,
    theta: float,
    threshold: float,
    agents: NDArray[np.int64],
    capacities: Vector,
    c2: float,
) -> Vector:
    """`bursty_closure_rows` of days that differ in calls, agents and capacity: an element of each; shape (days, 10)."""
    rows = np.empty((capacities.size, _COLUMNS))
    _bursty_kernels.closure_days(lams, ca2, capacities, theta, threshold, agents, c2, rows)
    return rows


def bursty_chain_rows(lam: float, ca2: float, theta: float, threshold: float, death_rates: Vector) -> Vector:
    """A row of sums per row of death rates d_0, ..., d_(n-1), d_i the busy agents' rate when i are idle; n >= 1.

    Shape (rosters, n) gives (rosters, 10). Exact for the stated law of gaps if these are the d_i under such calls.
    """
    rows = np.empty((death_rates.shape[0], _COLUMNS))
    _bursty_kernels.chain_rows(lam, ca2, death_rates, theta, threshold, rows)
    return rows
