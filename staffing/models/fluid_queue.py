"""The fluid limit of any shared queue: whatever the law of patience, with or without a limit on calls."""

import math

import numpy as np

from staffing.models.days import Days
from staffing.models.fluid import Fluid, fluid_limit, fluid_over_days
from staffing.models.kinds_of_days import drawn_kinds
from staffing.models.rate_laws import RateLaw
from staffing.models.score_nodes import score_nodes
from staffing.models.shared_queue import Callers, Vector

_HALVINGS = 60


def fluid_queue(callers: Callers, agents: int, capacity: float) -> Fluid:
    """Fluid limits of one roster of capacity S: callers wait w, where the share S / lam of them still waits.

    The queue is lam H(w), H(w) the mean of the lesser of patience and w; (lam - S) / theta where patience is
    exponential. A limit on calls with fewer places to wait than that keeps the queue at them: so many calls lam' get
    in that lam' H(w) fills the places at S / lam' still waiting, and the others are blocked.

    Parameters
    ----------
    callers : Callers
        What is offered.
    agents : int
        n >= 0, who leave max_calls - n places to wait.
    capacity : float
        S >= 0.
    """
    if callers.exponential_rate == callers.abandonment_rate:
        return fluid_limit(callers.arrival_rate, capacity, callers.abandonment_rate)
    one = np.ones(1)
    return _mean(callers, one, one, *_excess(callers, one, np.full(1, agents), np.array([capacity])))


def fluid_queue_over_days(callers: Callers, law: RateLaw, days: Days, agents: int, *, seed: int = 0) -> Fluid:
    """Fluid limits over rosters and days, weighted by calls.

    Exponential patience and no limit: `fluid_over_days`, to 1e-6 of the load. Otherwise, on days alike, a quadrature
    over the capacity with panels that meet at the load, and on days that differ the mean of 4096 even points, good to
    about 1% of itself.

    Parameters
    ----------
    callers, law, days
        As for `UncertainDays`; days may be alike.
    agents : int
        n >= 0, those scheduled.
    seed : int
        Seed of the points, >= 0.
    """
    if callers.exponential_rate == callers.abandonment_rate:
        return fluid_over_days(callers.arrival_rate, callers.abandonment_rate, law, days, agents)
    if days.alike and (law.alike or agents == 0 or callers.arrival_rate == 0):
        return fluid_queue(callers, agents, agents * law.mean)
    if days.alike:
        scores, weights = score_nodes([law.score(agents, callers.arrival_rate)], 0.5)
        one, capacities = np.ones(scores.size), law.capacity_at_score(agents, scores)
        return _mean(callers, one, weights, *_excess(callers, one, agents * one, capacities))
    kinds = drawn_kinds(law, days, agents, seed)
    return _mean(
        callers,
        kinds.calls,
        kinds.weights,
        *_excess(callers, kinds.calls, kinds.present.astype(np.float64), kinds.capacities),
    )


def _excess(
    callers: Callers, calls: Vector, present: Vector, capacities: Vector
) -> tuple[Vector, Vector, Vector]:
    """What is lost and blocked per unit of time, and the queue."""
    lam = callers.arrival_rate * calls
    gone = np.maximum(1 - capacities / np.where(lam > 0, lam, 1.0), 0.0)
    gone[lam == 0] = 0.0
    if callers.max_calls is None or callers.abandonment_rate == math.inf:
        return lam * gone, np.zeros(lam.size), lam * _waited(callers, gone)
    places = callers.max_calls - present
    full = lam * _waited(callers, gone) > places
    low, high = np.zeros(lam.size), gone.copy()
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        over = capacities * _waited(callers, middle) > places * (1 - middle)
        low, high = np.where(over, low, middle), np.where(over, middle, high)
    let_in = np.where(full, capacities / np.maximum(1 - low, 1e-300), lam)
    # Without capacity those let in are as many as the places hold through their patience.
    idle = full & (capacities == 0)
    let_in[idle] = places[idle] * callers.abandonment_rate
    lost = np.where(full, let_in - capacities, lam * gone)
    return lost, lam - let_in, np.where(full, places, lam * _waited(callers, gone))


def _waited(callers: Callers, gone: Vector) -> Vector:
    """H(w) at the time w by which a share has gone; infinite where nobody ever goes."""
    if callers.abandonment_rate == math.inf:
        return np.zeros(gone.size)
    if callers.abandonment_rate == 0:
        return np.where(gone > 0, np.inf, 0.0)
    some = gone < 1
    waited = np.full(gone.size, callers.mean_patience)
    waited[some] = callers.law.at(callers.law.time_at(1 - gone[some]))[2]
    return np.where(gone > 0, waited, 0.0)


def _mean(
    callers: Callers, calls: Vector, weights: Vector, lost: Vector, blocked: Vector, queue: Vector
) -> Fluid:
    mean_calls = callers.arrival_rate * float(weights @ calls)
    if mean_calls == 0:
        return Fluid(0.0, 0.0, 0.0)
    held = float(weights @ queue)
    return Fluid(
        float(weights @ lost) / mean_calls,
        held,
        held / mean_calls,
        float(weights @ np.maximum(blocked, 0.0)) / mean_calls,
    )
