"""The callers' side of a shared queue under any law of patience: one integral over the wait offered to a call.

With all agents busy only their capacity S matters. If a share Gbar(t) of callers still waits at t, and H(t) is the
integral of Gbar over [0, t], the wait V that is offered to a call has, at t > 0, a density in proportion to

    v(t) = exp(lam H(t) - S t)

(level crossing), and S int v joins the idle weights in the place of a_0 = 1. v rises where Gbar > S / lam and falls
after, so it has one peak. The share lost is the integral of v (1 - Gbar), whose peak may be far out, where v is tiny.

Where only K callers can wait, v has the factor P(N <= K), N Poisson of mean lam H(t), and a share P(N = K | N <= K) of
those calls is blocked (`waiting_places`). log P(N <= K) + lam H(t) is concave too: there is still one peak.
"""

import math

import numpy as np
from numpy.typing import NDArray

from staffing.models.offered_wait import OfferedWait
from staffing.models.patience import PatienceLaw
from staffing.models.shared_panels import integrals
from staffing.models.waiting_places import log_fits, share_blocked

Vector = NDArray[np.float64]

_MANY_TAILS = 100
"""So many tails share their panels, of which a search for a quantile asks again and again."""


def joined(
    law: PatienceLaw, lam: float | Vector, threshold: float, idle: Vector, max_calls: int | None = None
) -> Vector:
    """Rows as `_kernels.join` writes them, from the idle weights that it leaves where patience is not exponential.

    Parameters
    ----------
    law : PatienceLaw
        Patience, in the unit of time of the rates.
    lam : float or array, shape (...)
        Arrival rate, > 0; one for all rows, or one each.
    threshold : float
        The wait that counts as in time, >= 0.
    idle : array, shape (..., 10)
        a_0, sum a_i, sum i a_i over i >= 1 (in one scale), the capacity S and the number of agents; then anything.
    max_calls : int, optional
        The most calls in the system, at least as many as agents.

    Returns
    -------
    array, shape (..., 10)
        The nine `Sums` and log(P(all agents busy, nobody waits) v) for the greatest v. Exact but for rounding and
        quadrature: 1e-13 of each measure, and 1e-16 lam mean(patience) if that is more; with a limit, calls answered
        err by 1e-13 of those blocked. What is late by less than e^-45 of all is 0. Where rows are many, 1e-9 of each
        measure: see `shared_panels`.
    """
    flat = idle.reshape(-1, idle.shape[-1])
    lams = np.broadcast_to(lam, idle.shape[:-1]).ravel()
    return _joined(law, lams, threshold, max_calls, *flat[:, :5].T).reshape(idle.shape)


def log_reached(
    law: PatienceLaw, lam: float, capacities: Vector, t: float, places: Vector | None = None
) -> Vector:
    """Log of S int_t^inf v over the greatest v, per capacity: log P(V > t) less the last of a row of `joined`.

    Where there are only so many `places` to wait, V is that of calls which find one.
    """
    result = np.zeros(capacities.shape)
    able = np.flatnonzero(_works(law, capacities))
    s, lams, rooms = capacities[able], np.full(able.size, lam), None if places is None else places[able]
    highest = OfferedWait.of(law, lams, s, 0.0, rooms)
    peak, level, _, (_, reached, *_) = integrals(law, lams, s, rooms, t, math.inf, _MANY_TAILS)
    with np.errstate(divide="ignore"):
        result[able] = np.log(s * reached) - highest.drop(peak, level, np.arange(s.size))
    return result


def reach_without_excess(law: PatienceLaw, lam: float) -> float:
    """The wait that a queue whose capacity equals its load ranges over: lam (t - H(t)) = 1 there."""
    low, high = 0.5 / lam, 2.0 * (1 / lam + law.mean)
    for _ in range(40):
        middle = math.sqrt(low * high)
        waited = float(law.at(np.array([middle]))[2][0])
        low, high = (low, middle) if lam * (middle - waited) > 1 else (middle, high)
    return high


def _works(law: PatienceLaw, s: Vector) -> NDArray[np.bool_]:
    """Whether there is any capacity; otherwise every caller waits until giving up."""
    works: NDArray[np.bool_] = s * law.mean > 1e-200
    return works


def _joined(
    law: PatienceLaw,
    lam: Vector,
    threshold: float,
    max_calls: int | None,
    full: Vector,
    total: Vector,
    idle: Vector,
    s: Vector,
    agents: Vector,
) -> Vector:
    rows = np.empty((s.size, 10))
    works, places = _works(law, s), None if max_calls is None else max_calls - agents
    if not works.all():
        rest = None if places is None else places[~works]
        rows[~works] = _nobody_answers(law, lam[~works], agents[~works], rest)
        if works.any():
            arguments = (a[works] for a in (full, total, idle, s, agents))
            rows[works] = _joined(law, lam[works], threshold, max_calls, *arguments)
        return rows
    peak, level, fits, sums = integrals(law, lam, s, places, 0.0, threshold)
    reached, admitted, served, waited, queued, lost, late, in_time, blocked = sums
    top = lam * level - s * peak + fits
    with np.errstate(divide="ignore"):
        log_full, log_total = np.log(full), np.log(total)
    scale = np.maximum(log_full + top, log_total)
    busy = np.exp(log_full + top - scale) * s
    at_once = np.exp(log_total - scale)
    norm = at_once + busy * reached
    busy, at_once = busy / norm, at_once / norm
    answered = np.minimum(at_once + busy * served, 1.0)
    rows[:, 0] = busy * admitted
    rows[:, 1] = lam * busy * queued
    rows[:, 2] = busy * lost
    rows[:, 3] = busy * waited
    rows[:, 4] = np.minimum(at_once + busy * in_time, answered)
    rows[:, 5] = busy * (late + blocked)
    rows[:, 6] = agents - at_once * np.divide(idle, total, out=np.zeros_like(idle), where=total > 0)
    rows[:, 7] = answered
    rows[:, 8] = busy * blocked
    rows[:, 9] = log_full + top - scale - np.log(norm)
    return rows


def _nobody_answers(law: PatienceLaw, lam: Vector, agents: Vector, places: Vector | None) -> Vector:
    """Rows where there is no capacity: every caller waits until giving up, or finds every place taken."""
    none, every = np.zeros(lam.size), np.ones(lam.size)
    waiting, blocked = lam * law.mean, none
    if places is not None:
        blocked = share_blocked(waiting, places, log_fits(waiting, places))
    admitted = 1 - blocked
    with np.errstate(divide="ignore"):
        log_most = np.log(admitted)
    return np.column_stack(
        [admitted, waiting * admitted, admitted, none, none, every, agents, none, blocked, log_most]
    )
