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
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from staffing.models.patience import PatienceLaw
from staffing.models.waiting_places import TURNS, log_fits, share_blocked

Vector = NDArray[np.float64]
Index = NDArray[np.intp]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
_EVEN, _EVEN_WEIGHTS = 0.5 * (_NODES + 1), 0.5 * _WEIGHTS
_EVEN_GROWTH, _MOST_GROWTH = 8.0, 1e6
# How far log v has dropped from its peak at the ends of the panels. Beyond 40 nobody waits, but calls may be lost.
_DROPS = np.concatenate([[0.3, 1.2, 3.0, 6.0, 11.0, 18.0, 27.0, 40.0], np.arange(60.0, 750.0, 20.0)])
_NEAR = 8
_BOTH = np.append(_DROPS[:_NEAR], _DROPS)
_NEGLIGIBLE = 45.0
_STEP = 1.25
_TOGETHER = 64


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
        err by 1e-13 of those blocked. What is late by less than e^-45 of all is 0.
    """
    flat = idle.reshape(-1, idle.shape[-1])
    lams = np.broadcast_to(lam, idle.shape[:-1]).ravel()
    rows = np.empty_like(flat)
    for first in range(0, flat.shape[0], _TOGETHER):
        part = slice(first, first + _TOGETHER)
        rows[part] = _joined(law, lams[part], threshold, max_calls, *flat[part, :5].T)
    return rows.reshape(idle.shape)


def log_reached(
    law: PatienceLaw, lam: float, capacities: Vector, t: float, places: Vector | None = None
) -> Vector:
    """Log of S int_t^inf v over the greatest v, per capacity: log P(V > t) less the last of a row of `joined`.

    Where there are only so many `places` to wait, V is that of calls which find one.
    """
    result = np.zeros(capacities.shape)
    able = np.flatnonzero(_works(law, capacities))
    for first in range(0, able.size, _TOGETHER):
        part = able[first : first + _TOGETHER]
        s = capacities[part]
        lams, rooms = np.full(s.size, lam), None if places is None else places[part]
        highest = _OfferedWait.of(law, lams, s, 0.0, rooms)
        peak, level, _, (_, reached, *_) = _integrals(law, lams, s, rooms, t, math.inf)
        with np.errstate(divide="ignore"):
            result[part] = np.log(s * reached) - highest.drop(peak, level, np.arange(s.size))
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
    peak, level, fits, integrals = _integrals(law, lam, s, places, 0.0, threshold)
    reached, admitted, served, waited, queued, lost, late, in_time, blocked = integrals
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


def _integrals(
    law: PatienceLaw, lam: Vector, s: Vector, places: Vector | None, start: float, threshold: float
) -> tuple[Vector, Vector, Vector, Vector]:
    """(Where v peaks from `start` on, H and log P(N <= K) there, integrals from `start` on over that peak), each.

    The integrals are of v; of v of those who find a place, times 1, Gbar, t Gbar, H and 1 - Gbar, then times 1 beyond
    the threshold and Gbar up to it; and of v of those who find none.
    """
    v = _OfferedWait.of(law, lam, s, start, places)
    of, begin, end = v.panels(threshold)
    t, weight = _nodes(begin[:, np.newaxis], end[:, np.newaxis])
    survival, given_up, waited = law.at(t)
    busy = weight * np.exp(-v.drop(t, waited, of[:, np.newaxis]))
    blocked = busy * v.blocked(waited, of[:, np.newaxis])
    density = busy - blocked
    served = density * survival
    late = begin >= threshold
    of_v, of_served = density.sum(axis=1), served.sum(axis=1)
    panels = np.array(
        [
            busy.sum(axis=1),
            of_v,
            of_served,
            (t * served).sum(axis=1),
            (waited * density).sum(axis=1),
            (given_up * density).sum(axis=1),
            of_v * late,
            of_served * ~late,
            blocked.sum(axis=1),
        ]
    )
    sums = np.add.reduceat(panels, np.searchsorted(of, np.arange(s.size)), axis=1)
    return v.peak, v.level, v.fits, sums


@dataclass(frozen=True)
class _OfferedWait:
    """v from `start` on, with its peak there and H at the peak, per capacity."""

    law: PatienceLaw
    lam: Vector
    s: Vector
    start: float
    peak: Vector
    level: Vector
    places: Vector | None
    fits: Vector

    @classmethod
    def of(
        cls, law: PatienceLaw, lam: Vector, s: Vector, start: float, places: Vector | None
    ) -> "_OfferedWait":
        """The peak is where so few still wait that the others can be served, or at the start."""
        peak = np.where(s < lam, np.maximum(law.time_at(np.minimum(s / lam, 1.0)), start), start)
        if places is not None:
            peak = _peak_with_places(
                law, lam, s, start, np.minimum(peak, np.maximum(places / s, start)), places
            )
        level = law.at(peak)[2]
        fits = np.zeros(s.size) if places is None else log_fits(lam * level, places)
        return cls(law, lam, s, start, peak, level, places, fits)

    def drop(self, t: Vector, waited: Vector, of: Index) -> Vector:
        """Log v at the peak less log v at t; convex in t."""
        drop = self.s[of] * (t - self.peak[of]) - self.lam[of] * (waited - self.level[of])
        if self.places is None:
            return drop
        return drop + self.fits[of] - log_fits(self.lam[of] * waited, self.places[of])

    def blocked(self, waited: Vector, of: Index) -> Vector:
        """The share of calls that find no place, of those that find nobody free and are offered this wait."""
        if self.places is None:
            return np.zeros(1)
        x, places = self.lam[of] * waited, self.places[of]
        return share_blocked(x, places, log_fits(x, places))

    def slope(self, survival: Vector, waited: Vector, of: Index) -> Vector:
        """How fast log v falls."""
        return self.s[of] - self.lam[of] * survival * (1 - self.blocked(waited, of))

    def panels(self, threshold: float) -> tuple[Index, Vector, Vector]:
        """Panels in which v and all it is multiplied with are smooth: of which capacity, from where, to where.

        They end where v has dropped so far, at the bends of the law and at the threshold. To the left they stop where
        v, to the right where both v and the loss are negligible.
        """
        rows = np.arange(self.s.size)[:, np.newaxis]
        gap = np.maximum(self.lam - self.s, 0.0)
        before = _steps(float(((self.peak - self.start) * gap).max()))
        after = _steps(float(self.lam.max()) * self.law.mean + _DROPS[-1])
        # The slope of log v is at most lam - s before its peak and s after it.
        rate = np.hstack(
            [-before / np.where(gap > 0, gap, np.inf)[:, np.newaxis], after / self.s[:, np.newaxis]]
        )
        looks = np.maximum(self.peak[:, np.newaxis] + rate, self.start)
        survival, given_up, waited = self.law.at(looks)
        fallen = self.drop(looks, waited, rows)
        counts = fallen < _NEGLIGIBLE
        for share in (given_up,) if self.places is None else (given_up, self.blocked(waited, rows)):
            with np.errstate(divide="ignore", invalid="ignore"):
                gone = np.log(share) - fallen
                counts |= gone > gone.max(axis=1, keepdims=True) - _NEGLIGIBLE
        last = np.minimum(counts.shape[1] - counts[:, ::-1].argmax(axis=1), counts.shape[1] - 1)
        latest = looks[rows[:, 0], last][:, np.newaxis]

        sides = fallen[:, : before.size, np.newaxis], fallen[:, before.size :, np.newaxis]
        beyond_left = np.minimum((sides[0] < _DROPS[:_NEAR]).sum(axis=1), before.size - 1)
        beyond_right = np.minimum((sides[1] < _DROPS).sum(axis=1), after.size - 1) + before.size
        beyond = np.hstack([beyond_left, beyond_right])
        falls = self._falls(
            looks[rows, beyond], fallen[rows, beyond], survival[rows, beyond], waited[rows, beyond]
        )
        # A peak that is hardly above the start needs no end of its own, beside which a law may still be singular.
        peak = np.where(fallen[:, before.size - 1] < _DROPS[0], self.start, self.peak)
        own, turns = np.append([self.start, threshold], self.law.bends), self._turns()
        ends = np.hstack(
            [falls, peak[:, np.newaxis], np.broadcast_to(own, (self.s.size, own.size)), turns],
        )
        ends = np.minimum(np.maximum(ends, falls[:, _NEAR - 1 : _NEAR]), latest)
        ends.sort(axis=1)
        if self.start == 0.0:
            # Next to 0 a law may be singular: a short panel there.
            first = np.where(ends > 0.0, ends, np.inf).min(axis=1)
            ends[:, 1] = np.where(ends[:, 1] == 0.0, first / _EVEN_GROWTH, ends[:, 1])
            ends.sort(axis=1)
        of, panel = np.nonzero(ends[:, 1:] > ends[:, :-1])
        return of, ends[of, panel], ends[of, panel + 1]

    def _turns(self) -> Vector:
        """About when the places fill up, if there is a limit: Newton's method, from the left, on the concave H."""
        if self.places is None:
            return np.empty((self.s.size, 0))
        filled = self.places[:, np.newaxis] + TURNS * np.sqrt(self.places + 1)[:, np.newaxis]
        target = np.maximum(filled, 0.0) / self.lam[:, np.newaxis]
        t = target
        for _ in range(8):
            survival, _, waited = self.law.at(t)
            t = np.minimum(t + np.maximum(target - waited, 0.0) / np.maximum(survival, 1e-9), 1e300)
        return np.asarray(t)

    def _falls(self, t: Vector, fallen: Vector, survival: Vector, waited: Vector) -> Vector:
        """Where v has dropped so far on either side of its peak, by at least as much and about twice at most.

        By Newton's method from times beyond, which never passes the place, since log v is concave; one step will do but
        where the law turns suddenly.
        """
        slope = self.slope(survival, waited, np.arange(self.s.size)[:, np.newaxis])
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(fallen > _BOTH, t - (fallen - _BOTH) / slope, t)
        far = fallen > 6 * _BOTH
        for _ in range(60):
            if not far.any():
                break
            of, drop = far.nonzero()
            least = _BOTH[drop]
            survival, _, waited = self.law.at(t[far])
            fallen = self.drop(t[far], waited, of)
            t[far] -= np.maximum(fallen - least, 0.0) / self.slope(survival, waited, of)
            far[far] = fallen > 2 * least
        return t


def _peak_with_places(
    law: PatienceLaw, lam: Vector, s: Vector, low: float | Vector, high: Vector, places: Vector
) -> Vector:
    """Where v turns, between two times: the flow of calls that find a place and have the patience is S."""
    low = np.full(s.size, low)
    for _ in range(48):
        t = 0.5 * (low + high)
        survival, _, waited = law.at(t)
        x = lam * waited
        rising = lam * survival * (1 - share_blocked(x, places, log_fits(x, places))) > s
        low, high = np.where(rising, t, low), np.where(rising, high, t)
    return high


def _nodes(begin: Vector, end: Vector) -> tuple[Vector, Vector]:
    """Nodes and weights of panels, a row each.

    Evenly; where time grows many times over, evenly in its log; and where it grows beyond measure, as from 0, near
    which a law may go as any power of it, in its fourth root.
    """
    width = end - begin
    t, weight = begin + width * _EVEN, width * _EVEN_WEIGHTS
    long = end[:, 0] > _EVEN_GROWTH * (1 + 1e-9) * begin[:, 0]
    if long.any():
        endless = end[:, 0] > _MOST_GROWTH * begin[:, 0]
        long &= ~endless
        growth = np.log(end[long] / begin[long])
        t[long] = begin[long] * np.exp(growth * _EVEN)
        weight[long] = t[long] * growth * _EVEN_WEIGHTS
        t[endless] = begin[endless] + width[endless] * _EVEN**4
        weight[endless] = width[endless] * (4 * _EVEN**3 * _EVEN_WEIGHTS)
    return t, weight


def _steps(most: float) -> Vector:
    """From the first drop to more than `most`, each wider than the one before."""
    count = math.ceil(math.log(max(most / _DROPS[0], 1.0), _STEP)) + 2
    steps: Vector = _DROPS[0] * _STEP ** np.arange(count)
    return steps
