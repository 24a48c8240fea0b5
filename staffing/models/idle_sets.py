"""Which agents are idle, exactly: the chain with a state for every set of idle agents, for few agents."""

import math
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lu_factor, lu_solve

from staffing.models.arguments import positive
from staffing.models.errors import ScenarioError
from staffing.models.performance import Performance
from staffing.models.routing import EXACT_ROUTINGS, Routing, Rule, WeightedRandom, priority_order, rule_of
from staffing.models.shared_queue import Callers, Vector, chain_rows, roster_row, shared_queue

Sets = NDArray[np.intp]
Chances = Callable[[Sets], Vector]
"""Given sets of idle agents, a row each, the chance of each member to get the next call."""

MOST_AGENTS = 12
"""2^12 sets take a second or two and 60 MB; each agent more, six times the time and four times the room."""


def exact_roster_performance(
    rates: Sequence[float] | NDArray[np.float64],
    arrival_rate: float,
    abandonment_rate: float,
    *,
    routing: Routing,
    threshold: float = 0.0,
    time_unit: str = "time unit of the rates",
) -> Performance:
    """Performance of up to twelve agents in one queue, exactly: by the chain of all 2^n sets of idle agents.

    The reference for `roster_performance`, for every rule that looks at no more than who is idle.

    Parameters
    ----------
    rates : array_like, shape (n,)
        Calls each agent completes per unit of busy time, > 0; n from 0 to 12.
    arrival_rate, abandonment_rate, routing, threshold, time_unit
        As for `roster_performance`.

    Returns
    -------
    Performance
        Exact; the queue in closed form.

    Raises
    ------
    ScenarioError
        As `roster_performance` does; also for more than twelve agents, and for "least-occupied", which looks back.
    """
    callers = Callers(arrival_rate, abandonment_rate, threshold, time_unit)
    mu = np.array([positive(f"rates[{k}]", rate) for k, rate in enumerate(rates)])
    rule = rule_of(routing, mu.size)
    if mu.size > MOST_AGENTS:
        raise ScenarioError(
            f"rates: {mu.size} agents are more than {MOST_AGENTS}, the most whose sets are counted;"
            " roster_performance takes any number"
        )
    if rule == "least-occupied":
        raise ScenarioError(
            "routing: least-occupied depends on how long agents have been idle so far, not only on who is idle;"
            " roster_performance approximates it"
        )
    if mu.size == 0 or callers.arrival_rate == 0:
        row = roster_row(callers, mu)
    else:
        row = chain_rows(
            callers,
            exact_death_rates(mu, callers.arrival_rate, next_chances(rule, mu))[np.newaxis],
        )
    return shared_queue(callers, mu.size, row, np.array([mu.sum()]), np.ones(1), method="exact chain")


def exact_death_rates(rates: Vector, lam: float, chances: Chances) -> Vector:
    """d_i = E[sum of the busy agents' rates | i idle], i = 0, ..., n - 1, without approximation.

    Calls take one agent from the idle set and completions add one, so the chain moves between neighbouring numbers
    of idle agents. A queue begins and ends at "none idle", so that the law within each number is that of the chain
    without queue. With U_i the rates from i to i + 1, D_i those back and A_i the diagonal of all rates out of i,

        G_i = (A_i - U_i G_(i+1))^-1 D_i          the set that is found when i - 1 are first idle,
        c_i ~ c_(i-1) U_(i-1) (A_i - U_i G_(i+1))^-1     the law of the set given i idle,

    in which nothing over- or underflows at any load, since each c_i is scaled to sum to 1.
    """
    n = rates.size
    sets = [
        np.array(list(combinations(range(n), i)), dtype=np.intp).reshape(math.comb(n, i), i)
        for i in range(n + 1)
    ]
    masks = [(1 << members).sum(axis=1) for members in sets]
    position = np.empty(1 << n, dtype=np.intp)
    for mask in masks:
        position[mask] = np.arange(mask.size)
    ups = [_ups(rates, masks[i], position, masks[i + 1].size) for i in range(n)]

    factors = []
    returns = np.empty((1, 0))
    for i in range(n, 0, -1):
        around = ups[i] @ returns if i < n else np.zeros((1, 1))
        # Rows sum to lam: said so, rather than found as what is left of larger numbers.
        np.fill_diagonal(around, 0.0)
        out = np.diag(lam + around.sum(axis=1)) - around
        factors.append(lu_factor(out, overwrite_a=True, check_finite=False))
        downs = _downs(lam * chances(sets[i]), sets[i], masks[i], position, masks[i - 1].size)
        returns = lu_solve(factors[-1], downs, check_finite=False)
        returns /= returns.sum(axis=1, keepdims=True)

    law, result = np.ones(1), np.empty(n)
    for i in range(n):
        flow = law @ ups[i]
        result[i] = flow.sum()
        law = lu_solve(factors.pop(), flow, trans=1, check_finite=False)
        law /= law.sum()
    return result


def next_chances(rule: Rule, rates: Vector) -> Chances:
    """The chances under a rule that looks at no more than who is idle."""
    if isinstance(rule, WeightedRandom) or rule in EXACT_ROUTINGS:
        weights = rates**rule.power if isinstance(rule, WeightedRandom) else np.ones(rates.size)

        def weighted(sets: Sets) -> Vector:
            of_each: Vector = weights[sets]
            chances: Vector = of_each / of_each.sum(axis=1, keepdims=True)
            return chances

        return weighted
    rank = np.argsort(priority_order(rule, rates))

    def first(sets: Sets) -> Vector:
        chances: Vector = (rank[sets] == rank[sets].min(axis=1, keepdims=True)).astype(np.float64)
        return chances

    return first


def _ups(rates: Vector, masks: Sets, position: Sets, after: int) -> Vector:
    """Rates at which busy agents join each set."""
    result = np.zeros((masks.size, after))
    for agent, rate in enumerate(rates):
        without = np.flatnonzero(masks & (1 << agent) == 0)
        result[without, position[masks[without] | (1 << agent)]] = rate
    return result


def _downs(speeds: Vector, sets: Sets, masks: Sets, position: Sets, after: int) -> Vector:
    """Rates at which members are taken from each set."""
    size, idle = sets.shape
    result = np.zeros((size, after))
    for k in range(idle):
        result[np.arange(size), position[masks - (1 << sets[:, k])]] = speeds[:, k]
    return result
