"""One queue, many agents: from the weights of its states, averaged over capacities, to `Performance`.

Every routing rule and every way in which agents differ enters as rows of `_kernels.join`; this is the one place that
turns them into measures.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from staffing.models import _kernels
from staffing.models.arguments import non_negative
from staffing.models.errors import ScenarioError
from staffing.models.performance import (
    MEASURES,
    MethodError,
    Performance,
    Spread,
    Sums,
    measures,
    performance,
)

Vector = NDArray[np.float64]

EXACT: Mapping[str, MethodError] = dict.fromkeys(MEASURES, "exact")
COLUMNS = len(Sums._fields) + 1


@dataclass(frozen=True)
class Callers:
    """What is offered to the agents, whoever they are: Poisson calls with exponential patience.

    Parameters
    ----------
    arrival_rate : float
        Calls per unit of time, >= 0.
    abandonment_rate : float
        1 / mean patience, >= 0; 0 if nobody gives up, infinite if a caller who finds no agent free is lost.
    threshold : float
        The wait that counts as in time for the service level, >= 0.
    time_unit : str
        What the rates are per.

    Raises
    ------
    ScenarioError
        If a parameter is out of range.
    """

    arrival_rate: float
    abandonment_rate: float
    threshold: float = 0.0
    time_unit: str = "time unit of the rates"

    def __post_init__(self) -> None:
        object.__setattr__(self, "arrival_rate", non_negative("arrival_rate", self.arrival_rate))
        object.__setattr__(
            self,
            "abandonment_rate",
            non_negative("abandonment_rate", self.abandonment_rate, infinite=True),
        )
        object.__setattr__(self, "threshold", non_negative("threshold", self.threshold))

    @property
    def settle(self) -> bool:
        """Whether their queue settles whoever serves it: there are no calls, or callers give up."""
        return self.arrival_rate == 0 or self.abandonment_rate > 0


@dataclass(frozen=True)
class QueueWaits:
    """The wait of all calls, averaged over capacities with weights that sum to 1."""

    callers: Callers
    capacities: Vector
    weights: Vector
    log_most: Vector
    """What `_kernels.offered_wait` goes by, per capacity; minus infinity where the queue grows without end."""

    def survival(self, t: float) -> float:
        """P(W > t), t >= 0."""
        if self.callers.arrival_rate == 0:
            return 0.0
        if t == math.inf:
            return 0.0 if self.callers.settle else float(self.weights[np.isneginf(self.log_most)].sum())
        value: float = _kernels.mixed_survival(
            float(t),
            self.callers.arrival_rate,
            self.callers.abandonment_rate,
            self.capacities,
            self.weights,
            self.log_most,
        )
        return value


def closure_rows(callers: Callers, agents: int, capacities: Vector, c2: float) -> Vector:
    """One row of sums per capacity by the gamma closure, exact where c2 = 0; shape (capacities, COLUMNS)."""
    rows = np.empty((capacities.size, COLUMNS))
    _refuse_infinite(capacities.max(initial=0.0))
    if callers.arrival_rate == 0:
        rows[:] = _NO_CALLS
    else:
        _kernels.closure_rows(
            callers.arrival_rate, capacities, callers.abandonment_rate, callers.threshold, agents, c2, rows
        )
    return rows


def roster_levels(callers: Callers, rates: Vector, levels: range) -> Vector:
    """Rows of sums of the first n agents of each roster, exactly; shape (levels, rosters, COLUMNS).

    `rates` has a row per agent, at least as many as the last level, and a column per roster.
    """
    rows = np.empty((len(levels), rates.shape[1], COLUMNS))
    if callers.arrival_rate == 0:
        rows[:] = _NO_CALLS
    else:
        _kernels.roster_levels(
            callers.arrival_rate, rates, callers.abandonment_rate, callers.threshold, levels.start, rows
        )
    return rows


def roster_row(callers: Callers, rates: Vector) -> Vector:
    """The row of sums of exactly these agents; shape (1, COLUMNS)."""
    rows = np.empty((1, COLUMNS))
    _refuse_infinite(rates.sum())
    if callers.arrival_rate == 0:
        rows[:] = _NO_CALLS
    else:
        _kernels.roster_row(callers.arrival_rate, rates, callers.abandonment_rate, callers.threshold, rows[0])
    return rows


def chain_rows(callers: Callers, death_rates: Vector) -> Vector:
    """A row of sums per row of death rates d_0, ..., d_(n-1), d_i the busy agents' rate when i are idle; n >= 1."""
    rows = np.empty((death_rates.shape[0], COLUMNS))
    _refuse_infinite(death_rates[:, 0].max(initial=0.0))
    if callers.arrival_rate == 0:
        rows[:] = _NO_CALLS
    else:
        _kernels.chain_rows(
            callers.arrival_rate, death_rates, callers.abandonment_rate, callers.threshold, rows
        )
    return rows


def log_queue(callers: Callers, capacities: Vector) -> Vector:
    """log of 1 + p_1 + p_2 + ..., the weight of "all agents busy" against "and nobody waits", per capacity.

    Infinite where the queue grows without end.
    """
    lam, theta = callers.arrival_rate, callers.abandonment_rate
    result = np.full(capacities.size, np.inf)
    for j, capacity in enumerate(capacities):
        if not _kernels.overloaded(lam, capacity, theta):
            log_p0, waiting, _, _ = _kernels.queue_sums(lam, capacity, theta)
            result[j] = np.logaddexp(0.0, math.log(waiting) - log_p0) if waiting > 0 else 0.0
    return result


def averaged_measures(
    callers: Callers, agents: int, rows: Vector, capacity: float, weights: Vector
) -> dict[str, float]:
    """Every measure, call-weighted, from rows of sums averaged with these weights; `capacity` is the mean."""
    return measures(
        (weights @ rows[:, :-1]).tolist(),
        arrival_rate=callers.arrival_rate,
        agents=agents,
        capacity=capacity,
    )


def measures_by_roster(callers: Callers, agents: int, rows: Vector, capacities: Vector) -> dict[str, Vector]:
    """Every measure of each row's roster, as arrays of the capacities' shape."""
    return measures(
        [rows[..., column] for column in range(COLUMNS - 1)],
        arrival_rate=callers.arrival_rate,
        agents=agents,
        capacity=capacities,
    )


def shared_queue(
    callers: Callers,
    agents: int,
    rows: Vector,
    capacities: Vector,
    weights: Vector,
    *,
    method: str,
    method_error: Mapping[str, MethodError] = EXACT,
    spread: Mapping[str, Spread] | None = None,
) -> Performance:
    """`Performance` of the average over rows of sums."""
    return performance(
        averaged_measures(callers, agents, rows, float(weights @ capacities), weights),
        method=method,
        method_error=method_error,
        time_unit=callers.time_unit,
        threshold=callers.threshold,
        wait_law=QueueWaits(callers, capacities, weights, rows[:, -1].copy()),
        spread=spread,
    )


def _refuse_infinite(capacity: float) -> None:
    if not capacity < math.inf:
        raise ScenarioError(f"capacity: agents times their rates = {capacity} is too large to compute with")


_NO_CALLS = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, -np.inf])
