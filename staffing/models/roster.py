"""The agents one has: exact law of a shared queue with given, unequal service rates."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from staffing.models.arguments import positive
from staffing.models.errors import ScenarioError
from staffing.models.patience import PatienceLaw
from staffing.models.performance import Performance
from staffing.models.shared_queue import OF_PATIENCE, Callers, roster_row, shared_queue

ROUTINGS = ("longest-idle", "random")


def roster_performance(
    rates: Sequence[float] | NDArray[np.float64],
    arrival_rate: float,
    abandonment_rate: float = OF_PATIENCE,
    *,
    patience: PatienceLaw | None = None,
    routing: Literal["longest-idle", "random"] = "longest-idle",
    threshold: float = 0.0,
    time_unit: str = "time unit of the rates",
) -> Performance:
    """Performance of these agents, who differ, in one queue.

    With e_i the elementary symmetric polynomials of the rates, i idle agents and no queue have weight
    i! e_i / lam^i against "all busy, nobody waits"; k callers waiting have weight prod_{j<=k} lam / (S + j theta).
    Routing to the longest idle agent and to a random idle agent have this one law in common, at every n.

    Parameters
    ----------
    rates : array_like, shape (n,)
        Calls each agent completes per unit of busy time, > 0; n >= 0.
    arrival_rate : float
        lam, calls per unit of time, >= 0.
    abandonment_rate : float
        theta = 1 / mean patience, >= 0, possibly infinite.
    patience : PatienceLaw, optional
        The law of patience, instead of the abandonment rate; see `erlang_g`.
    routing : {"longest-idle", "random"}
        Which idle agent gets the call.
    threshold : float
        The wait that counts as in time, >= 0.
    time_unit : str
        What the rates are per.

    Returns
    -------
    Performance
        Exact, in O(n). Unstable without abandonment if lam >= sum of rates, see `erlang_a`.

    Raises
    ------
    ScenarioError
        If a rate is not above zero, another parameter is out of range, or the routing rule has no exact law here.

    References
    ----------
    Gumbel (1960), Waiting lines with heterogeneous servers; Adan and Weiss (2012) for the longest idle agent.
    """
    callers = Callers(arrival_rate, abandonment_rate, threshold, time_unit, patience)
    if routing not in ROUTINGS:
        raise ScenarioError(f"routing: {routing!r} is not known; known are {', '.join(ROUTINGS)}")
    mu = np.array([positive(f"rates[{k}]", rate) for k, rate in enumerate(rates)])
    capacity = np.array([mu.sum()])
    return shared_queue(
        callers, mu.size, roster_row(callers, mu), capacity, np.ones(1), method="exact roster"
    )
