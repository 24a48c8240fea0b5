"""Given rosters answered by each method: the exact law, and what stands in for it."""

import numpy as np
from diffusion import diffusion
from numpy.typing import NDArray

from staffing.models.rate_laws import RateLaw
from staffing.models.shared_queue import Callers, chain_rows, closure_rows, measures_by_roster, roster_levels

MEASURES = ("wait_probability", "mean_queue", "abandonment_probability")
METHODS = (
    "Erlang A, n and the mean rate",
    "Erlang A, the roster's S / n",
    "diffusion, limit g",
    "diffusion, g = S2 / S",
    "chain, linear in idle agents",
    "gamma closure, c2 of the law",
    "gamma closure, c2 of the roster",
    "gamma closure, c2 by two idle",
)

Vector = NDArray[np.float64]


def answers(
    law: RateLaw, rosters: Vector, callers: Callers
) -> tuple[dict[str, Vector], dict[str, dict[str, Vector]]]:
    """Every measure of each roster (a row of rates each), exactly and by every method in `METHODS`."""
    size, n = rosters.shape
    lam, theta = callers.arrival_rate, callers.abandonment_rate
    capacity, squares = rosters.sum(axis=1), (rosters**2).sum(axis=1)
    c2 = law.cv**2
    own_c2 = n * squares / capacity**2 - 1
    idle = np.arange(n)

    def closure(capacities: Vector, c2: float) -> Vector:
        return closure_rows(callers, n, capacities, c2)

    def closure_each(c2: Vector) -> Vector:
        return np.concatenate([closure(np.array([s]), c) for s, c in zip(capacity, c2, strict=True)])

    rows = {
        METHODS[0]: np.repeat(closure(np.array([n * law.mean]), 0.0), size, axis=0),
        METHODS[1]: closure(capacity, 0.0),
        METHODS[4]: chain_rows(
            callers, np.maximum(capacity[:, np.newaxis] - np.outer(squares / capacity, idle), 0.0)
        ),
        METHODS[5]: closure(capacity, c2),
        METHODS[6]: closure_each(own_c2),
        METHODS[7]: closure_each(own_c2 * n / (n - 1 - own_c2)),  # d_1 = S - S2 / S, which is exact
    }
    found = {method: measures_by_roster(callers, n, row, capacity) for method, row in rows.items()}
    busy = np.minimum(lam, capacity)
    found[METHODS[2]] = diffusion(lam, capacity, theta, n, law.mean * (1 + c2), 2 * law.mean)
    found[METHODS[3]] = diffusion(lam, capacity, theta, n, squares / capacity, (lam + busy) / n)
    exact = roster_levels(callers, np.ascontiguousarray(rosters.T), range(n, n + 1))[0]
    return measures_by_roster(callers, n, exact, capacity), found
