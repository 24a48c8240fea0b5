"""One queue, many agents: from the weights of its states, averaged over capacities, to `Performance`.

Every routing rule and every way in which agents differ enters as rows of `_kernels.join`; this is the one place that
turns them into measures.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from staffing.models import _kernels, _limited_kernels
from staffing.models.arguments import count, non_negative
from staffing.models.bursty_arrivals import (
    BurstyWaits,
    bursty_chain_rows,
    bursty_closure_days,
    bursty_closure_rows,
)
from staffing.models.errors import ScenarioError
from staffing.models.patience import ExponentialPatience, PatienceLaw
from staffing.models.patient_queue import joined, log_reached
from staffing.models.performance import (
    MEASURES,
    MethodError,
    Performance,
    Spread,
    Sums,
    WaitLaw,
    measures,
    performance,
)

Vector = NDArray[np.float64]
Present = int | NDArray[np.int64]

EXACT: Mapping[str, MethodError] = dict.fromkeys(MEASURES, "exact")
COLUMNS = len(Sums._fields) + 1
ENDLESS = [Sums._fields.index("queue"), Sums._fields.index("answered_wait")]
"""Sums that are infinite on average where some queue may grow without end."""
OF_PATIENCE = math.nan
"""The abandonment rate of callers whose law of patience is given."""


@dataclass(frozen=True)
class Callers:
    """What is offered to the agents, whoever they are: Poisson calls, with exponential patience or any other.

    Parameters
    ----------
    arrival_rate : float
        Calls per unit of time, >= 0.
    abandonment_rate : float
        1 / mean patience, >= 0; 0 if nobody gives up, infinite if a caller who finds no agent free is lost. Given
        alone, patience is exponential.
    threshold : float
        The wait that counts as in time for the service level, >= 0.
    time_unit : str
        What the rates are per.
    patience : PatienceLaw, optional
        The law of patience, instead of the abandonment rate, which is then 1 / its mean. An exponential law becomes its
        rate, and leaves nothing here.
    max_calls : int, optional
        The most calls in the system, waiting or being answered, >= 0; a call that finds so many is blocked. No limit if
        omitted. Agents beyond it would never be busy: models refuse them.
    arrival_scv : float
        Squared CV of the times between calls, >= 0, which are independent: 1 for Poisson calls. With any other patience
        is exponential and there is no limit; see `bursty_arrivals`.

    Raises
    ------
    ScenarioError
        If a parameter is out of range, or the abandonment rate is not that of the patience.
    """

    arrival_rate: float
    abandonment_rate: float = OF_PATIENCE
    threshold: float = 0.0
    time_unit: str = "time unit of the rates"
    patience: PatienceLaw | None = None
    max_calls: int | None = None
    arrival_scv: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "arrival_rate", non_negative("arrival_rate", self.arrival_rate))
        if self.max_calls is not None:
            object.__setattr__(self, "max_calls", count("max_calls", self.max_calls))
        if self.patience is not None:
            object.__setattr__(self, "abandonment_rate", _rate_of(self.patience, self.abandonment_rate))
            if isinstance(self.patience, ExponentialPatience):
                object.__setattr__(self, "patience", None)
        object.__setattr__(
            self,
            "abandonment_rate",
            non_negative("abandonment_rate", self.abandonment_rate, infinite=True),
        )
        object.__setattr__(self, "threshold", non_negative("threshold", self.threshold))
        object.__setattr__(self, "arrival_scv", non_negative("arrival_scv", self.arrival_scv))
        if self.bursty and (self.patience is not None or self.max_calls is not None):
            raise ScenarioError(
                f"arrival_scv: {self.arrival_scv:g} goes with exponential patience and any number of calls only; leave "
                "out patience and max_calls"
            )

    def replace_rate(self, arrival_rate: float) -> "Callers":
        """The same callers, calling at another rate."""
        return replace(self, arrival_rate=arrival_rate)

    @property
    def settle(self) -> bool:
        """Whether their queue settles whoever serves it: there are no calls, callers give up, or few can wait."""
        return self.arrival_rate == 0 or self.abandonment_rate > 0 or self.max_calls is not None

    @property
    def mean_patience(self) -> float:
        """Mean time a caller waits before giving up; infinite if nobody does."""
        return 1 / self.abandonment_rate if self.abandonment_rate > 0 else math.inf

    @property
    def exponential_rate(self) -> float:
        """The abandonment rate where patience is exponential and there may be any number of calls.

        Otherwise nan, with which the kernels leave the queue to others.
        """
        return self.abandonment_rate if self.patience is None and not self.limited else OF_PATIENCE

    @property
    def bursty(self) -> bool:
        """Whether their calls are not Poisson."""
        return self.arrival_scv != 1.0

    @property
    def limited(self) -> bool:
        """Whether a limit on calls cuts off their queue; those who never wait have none."""
        return self.max_calls is not None and self.abandonment_rate < math.inf

    @property
    def law(self) -> PatienceLaw:
        """The law of patience, exponential or not; there is none where nobody or everybody gives up at once."""
        return self.patience or ExponentialPatience(self.mean_patience)

    def places(self, agents: Present) -> Vector | None:
        """Places for callers to wait in, beside so many agents; None if there is no limit.

        Raises
        ------
        ScenarioError
            If there may be fewer calls than agents.
        """
        if self.max_calls is None:
            return None
        if (most := int(np.max(agents, initial=0))) > self.max_calls:
            raise ScenarioError(
                f"max_calls: {self.max_calls} is below the {most} agents, some of whom would never get a call; give "
                "more, or fewer agents"
            )
        return np.asarray(self.max_calls - np.asarray(agents), np.float64)


def _rate_of(patience: object, given: object) -> float:
    """1 / mean patience."""
    if not isinstance(patience, PatienceLaw):
        raise ScenarioError(
            f"patience: {patience!r} is not a law of patience; laws are in staffing.models.patience"
        )
    rate = 1 / patience.mean
    if given != rate and not (isinstance(given, float) and math.isnan(given)):
        raise ScenarioError(
            f"abandonment_rate: {given!r} is not that of the patience, {rate:g}; give one of the two"
        )
    return rate


@dataclass(frozen=True)
class QueueWaits:
    """The wait of all calls, averaged over capacities with weights that sum to 1."""

    callers: Callers
    capacities: Vector
    weights: Vector
    log_most: Vector
    """The last of the row of each capacity."""
    agents: Present
    """How many there are, in all or with each capacity."""

    def survival(self, t: float) -> float:
        """P(W > t), t >= 0."""
        if self.callers.arrival_rate == 0:
            return 0.0
        if t == math.inf:
            return 0.0 if self.callers.settle else float(self.weights[np.isneginf(self.log_most)].sum())
        if self.callers.patience is not None or self.callers.limited:
            return math.exp(min(self.log_survival(t), 0.0))
        value: float = _kernels.mixed_survival(
            float(t),
            self.callers.arrival_rate,
            self.callers.abandonment_rate,
            self.capacities,
            self.weights,
            self.log_most,
        )
        return value

    def log_survival(self, t: float) -> float:
        """log P(W > t), t >= 0, where P(W > t) itself may be too small for a number; -inf if it is 0."""
        if t == math.inf or self.callers.abandonment_rate == math.inf:
            survival = self.survival(t)
            return math.log(survival) if survival > 0 else -math.inf
        stay = 1.0
        if self.callers.abandonment_rate > 0:
            stay = self.callers.law.survival(t)
        return self.log_offered(t) + math.log(stay) if stay > 0 else -math.inf

    def log_offered(self, t: float) -> float:
        """log P(V > t), 0 <= t < infinity, for the wait V offered to a call, who might not have the patience for it."""
        lam, theta = self.callers.arrival_rate, self.callers.abandonment_rate
        if lam == 0:
            return -math.inf
        if theta == math.inf:
            logs = self.log_most - self.capacities * t
        elif self.callers.limited and self.callers.patience is None:
            places, logs = self._places, np.empty(self.capacities.size)
            assert places is not None
            _limited_kernels.log_offered(lam, theta, t, self.capacities, places, self.log_most, logs)
        elif theta == 0:
            endless = lam >= self.capacities * (1 - 1e-12)
            spare = np.where(endless, 1.0, self.capacities - lam)
            logs = self.log_most + np.log(np.where(endless, 1.0, self.capacities) / spare) - spare * t
            logs = np.where(endless, 0.0, logs)
        else:
            logs = self.log_most + log_reached(self.callers.law, lam, self.capacities, t, self._places)
        return min(float(logsumexp(logs, b=self.weights)), 0.0)

    @property
    def _places(self) -> Vector | None:
        return self.callers.places(np.broadcast_to(self.agents, self.capacities.shape))


def waits_of(callers: Callers, capacities: Vector, weights: Vector, rows: Vector, agents: Present) -> WaitLaw:
    """The law of the wait of all calls, from the rows of capacities with these weights."""
    log_most = rows[:, -1].copy()
    if callers.bursty and callers.arrival_rate > 0:
        scv, theta, _ = _bursts(callers)
        return BurstyWaits(callers.arrival_rate, scv, theta, capacities, weights, log_most)
    return QueueWaits(callers, capacities, weights, log_most, agents)


def closure_rows(callers: Callers, agents: int, capacities: Vector, c2: float) -> Vector:
    """One row of sums per capacity by the gamma closure, exact where c2 = 0; shape (capacities, COLUMNS)."""
    _refuse_infinite(capacities.max(initial=0.0))
    if callers.arrival_rate > 0 and callers.bursty:
        return bursty_closure_rows(callers.arrival_rate, *_bursts(callers), agents, capacities, c2)
    rows = np.empty((capacities.size, COLUMNS))
    if callers.arrival_rate == 0:
        rows[:] = _NO_CALLS
    else:
        _kernels.closure_rows(
            callers.arrival_rate, capacities, callers.exponential_rate, callers.threshold, agents, c2, rows
        )
    return _finished(callers, rows, agents)


def closure_days(
    callers: Callers, arrival_rates: Vector, agents: NDArray[np.int64], capacities: Vector, c2: float
) -> Vector:
    """`closure_rows` of days that differ in calls, agents and capacity: an element of each; shape (days, COLUMNS)."""
    _refuse_infinite(capacities.max(initial=0.0))
    if callers.arrival_rate > 0 and callers.bursty:
        return bursty_closure_days(arrival_rates, *_bursts(callers), agents, capacities, c2)
    rows = np.empty((capacities.size, COLUMNS))
    if callers.arrival_rate == 0:
        rows[:] = _NO_CALLS
    else:
        _kernels.closure_days(
            arrival_rates, capacities, callers.exponential_rate, callers.threshold, agents, c2, rows
        )
    return _finished(callers, rows, agents, arrival_rates)


def roster_levels(callers: Callers, rates: Vector, levels: range) -> Vector:
    """Rows of sums of the first n agents of each roster, exactly; shape (levels, rosters, COLUMNS).

    `rates` has a row per agent, at least as many as the last level, and a column per roster.
    """
    rows = np.empty((len(levels), rates.shape[1], COLUMNS))
    if callers.arrival_rate == 0:
        rows[:] = _NO_CALLS
    else:
        _kernels.roster_levels(
            callers.arrival_rate, rates, callers.exponential_rate, callers.threshold, levels.start, rows
        )
    return _finished(callers, rows, np.array(levels)[:, np.newaxis])


def roster_row(callers: Callers, rates: Vector) -> Vector:
    """The row of sums of exactly these agents; shape (1, COLUMNS)."""
    rows = np.empty((1, COLUMNS))
    _refuse_infinite(rates.sum())
    if callers.arrival_rate == 0:
        rows[:] = _NO_CALLS
    else:
        _kernels.roster_row(callers.arrival_rate, rates, callers.exponential_rate, callers.threshold, rows[0])
    return _finished(callers, rows, rates.size)


def _finished(callers: Callers, rows: Vector, agents: Present, arrival_rates: Vector | None = None) -> Vector:
    """Rows of so many agents each, joined with the queue here where the kernels have left that undone."""
    places = callers.places(agents)
    if callers.arrival_rate == 0:
        return rows
    rates = callers.arrival_rate if arrival_rates is None else arrival_rates
    if callers.patience is not None:
        return joined(callers.patience, rates, callers.threshold, rows, callers.max_calls)
    if callers.limited:
        each = np.ascontiguousarray(np.broadcast_to(rates, rows.shape[:-1]).ravel())
        most, flat = float(callers.max_calls or 0), rows.reshape(-1, COLUMNS)
        _limited_kernels.join_rows(each, callers.abandonment_rate, callers.threshold, most, flat)
    elif places is not None:
        _let_in_nobody(rows, np.broadcast_to(places == 0, rows.shape[:-1]))
    return rows


def _let_in_nobody(rows: Vector, full: NDArray[np.bool_]) -> None:
    """Where callers would not wait and cannot: those who find nobody free are blocked before they could give up."""
    waits, lost, late, blocked = (
        Sums._fields.index(name) for name in ("waits", "lost", "virtually_late", "blocked")
    )
    rows[full, blocked] = rows[full, late] = rows[full, lost]
    rows[full, waits] = rows[full, lost] = 0.0
    rows[full, -1] = -np.inf


def chain_rows(callers: Callers, death_rates: Vector) -> Vector:
    """A row of sums per row of death rates d_0, ..., d_(n-1), d_i the busy agents' rate when i are idle; n >= 1."""
    _refuse_infinite(death_rates[:, 0].max(initial=0.0))
    if callers.arrival_rate > 0 and callers.bursty:
        return bursty_chain_rows(callers.arrival_rate, *_bursts(callers), death_rates)
    rows = np.empty((death_rates.shape[0], COLUMNS))
    if callers.arrival_rate == 0:
        rows[:] = _NO_CALLS
    else:
        _kernels.chain_rows(
            callers.arrival_rate, death_rates, callers.exponential_rate, callers.threshold, rows
        )
    return _finished(callers, rows, death_rates.shape[1])


def _bursts(callers: Callers) -> tuple[float, float, float]:
    return callers.arrival_scv, callers.abandonment_rate, callers.threshold


def log_queue(callers: Callers, agents: int, capacities: Vector) -> Vector:
    """log of 1 + p_1 + p_2 + ..., the weight of "all agents busy" against "and nobody waits", per capacity.

    Infinite where the queue grows without end.
    """
    lam, theta = callers.arrival_rate, callers.abandonment_rate
    if callers.patience is not None or callers.limited:
        # Against one idle state of weight 1, what is busy is 1 / P(busy) - 1.
        rows = np.zeros((capacities.size, COLUMNS))
        rows[:, 0], rows[:, 1], rows[:, 3], rows[:, 4] = 1.0, 1.0, capacities, agents
        sums = Sums(*_finished(callers, rows, agents)[:, :-1].T)
        with np.errstate(divide="ignore"):
            return np.asarray(-np.log(np.maximum(1 / (sums.waits + sums.blocked) - 1, 1e-15)))
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
        wait_law=waits_of(callers, capacities, weights, rows, agents),
        spread=spread,
    )


def _refuse_infinite(capacity: float) -> None:
    if not capacity < math.inf:
        raise ScenarioError(f"capacity: agents times their rates = {capacity} is too large to compute with")


_NO_CALLS = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, -np.inf])
