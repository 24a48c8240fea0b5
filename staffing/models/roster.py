"""The agents one has: a shared queue with given, unequal service rates, under any routing rule."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from staffing.models.arguments import positive
from staffing.models.patience import PatienceLaw
from staffing.models.performance import Performance
from staffing.models.routed_rows import routed_row
from staffing.models.routing import EXACT_ROUTINGS as ROUTINGS
from staffing.models.routing import Routing, rule_of
from staffing.models.routing_error import roster_error, routing_method
from staffing.models.shared_queue import OF_PATIENCE, Callers, averaged_measures, shared_queue

__all__ = ["ROUTINGS", "roster_performance"]


def roster_performance(
    rates: Sequence[float] | NDArray[np.float64],
    arrival_rate: float,
    abandonment_rate: float = OF_PATIENCE,
    *,
    patience: PatienceLaw | None = None,
    routing: Routing = "longest-idle",
    threshold: float = 0.0,
    time_unit: str = "time unit of the rates",
    max_calls: int | None = None,
) -> Performance:
    """Performance of these agents, who differ, in one queue.

    k callers waiting have weight prod_{j<=k} lam / (S + j theta) against "all busy, nobody waits", and i idle agents
    have weight a_i with a_(i+1) / a_i = d_i / lam, d_i the mean rate of the busy agents given that i are idle.

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
    routing : str, sequence of int, Priority or WeightedRandom
        Which idle agent gets the call.

        * "longest-idle", "random": exact, in O(n); both have a_i = i! e_i / lam^i, e_i the elementary symmetric
          polynomials of the rates.
        * "fastest-first", "slowest-first", or a list of agents' positions from 0, who stands first gets calls first:
          agents are added to the chain one by one, from the first, and those added so far stand as one birth-death
          chain; O(n^2). Exact for two agents. Fastest-first is too low in P(wait), by .1 to 1% at loads from 1 on at
          a CV of .3 and by up to 6% where P(wait) < .2, more where rates differ more; slowest-first is too high, by
          less.
        * "least-occupied", the agent idle for least of the time so far keeps idle: d_i = S (n - i) / n, O(n).
          Within 1% in P(wait) while all agents can be idle for equal shares of the time.
        * WeightedRandom(power): given i idle, sets of agents are idle as the product of their odds; O(n^2).
    threshold : float
        The wait that counts as in time, >= 0.
    time_unit : str
        What the rates are per.
    max_calls : int, optional
        The most calls in the system, at least as many as agents; a call that finds so many is blocked.

    Returns
    -------
    Performance
        `method_error` is "exact" or a measured bound, see `routing_error`; the wait of those who wait is always
        exact. `method` says so where P(wait) < 0.2, where the approximate rules err most: take
        `exact_roster_performance` for up to twelve agents. Unstable without abandonment if lam >= sum of rates, see
        `erlang_a`.

    Raises
    ------
    ScenarioError
        If a rate is not above zero, another parameter is out of range, the rule is not known, or a priority list
        misses or repeats an agent.

    References
    ----------
    Gumbel (1960), Waiting lines with heterogeneous servers; Adan and Weiss (2012) for the longest idle agent.
    """
    callers = Callers(arrival_rate, abandonment_rate, threshold, time_unit, patience, max_calls)
    mu = np.array([positive(f"rates[{k}]", rate) for k, rate in enumerate(rates)])
    rule = rule_of(routing, mu.size)
    row = routed_row(callers, mu, rule)
    capacity = float(mu.sum())
    values = averaged_measures(callers, mu.size, row, capacity, np.ones(1))
    return shared_queue(
        callers,
        mu.size,
        row,
        np.array([capacity]),
        np.ones(1),
        method=routing_method(rule, values["wait_probability"], callers),
        method_error=roster_error(rule, mu, values, callers),
    )
