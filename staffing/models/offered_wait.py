"""The wait offered to a call, under any law of patience: where v is, and its integrals over panels of its own.

v(t) = exp(lam H(t) - S t) as in `patient_queue`; log v is concave, with P(N <= K) for a factor too.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from staffing.models.patience import PatienceLaw
from staffing.models.waiting_places import TURNS, log_fits, share_blocked

Vector = NDArray[np.float64]
Index = NDArray[np.intp]
Integrals = tuple[Vector, Vector, Vector, Vector]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
_EVEN, _EVEN_WEIGHTS = 0.5 * (_NODES + 1), 0.5 * _WEIGHTS
_EVEN_GROWTH, _MOST_GROWTH = 8.0, 1e6
# How far log v has dropped from its peak at the ends of the panels. Beyond 40 nobody waits, but calls may be lost.
_DROPS = np.concatenate([[0.3, 1.2, 3.0, 6.0, 11.0, 18.0, 27.0, 40.0], np.arange(60.0, 750.0, 20.0)])
_NEAR = 8
_BOTH = np.append(_DROPS[:_NEAR], _DROPS)
_NEGLIGIBLE = 45.0
_STEP = 1.25
_FLAT = 1e-15


def own_integrals(
    law: PatienceLaw, lam: Vector, s: Vector, places: Vector | None, start: float, threshold: float
) -> Integrals:
    """(Where v peaks from `start` on, H and log P(N <= K) there, integrals from `start` on over that peak), each.

    The integrals are of v; of v of those who find a place, times 1, Gbar, t Gbar, H and 1 - Gbar, then times 1 beyond
    the threshold and Gbar up to it; and of v of those who find none.
    """
    v = OfferedWait.of(law, lam, s, start, places)
    of, begin, end = v.panels(threshold)
    t, weight = nodes(begin[:, np.newaxis], end[:, np.newaxis])
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
class OfferedWait:
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
    ) -> "OfferedWait":
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
    """Where v turns, between two times: the flow of calls that find a place and have the patience is S.

    The slope of log v falls, so what v may still rise by is below slope times range. Between secants (whose end that
    stays counts half each time) every third step halves the range, for the sake of jumps.
    """

    def slope(t: Vector, of: Index) -> Vector:
        survival, _, waited = law.at(t)
        x = lam[of] * waited
        share = share_blocked(x, places[of], log_fits(x, places[of]))
        return np.asarray(lam[of] * survival * (1 - share) - s[of])

    every = np.arange(s.size)
    low = np.full(s.size, low)
    up, down = slope(low, every), slope(high, every)
    high = np.where(up > 0, high, low)
    of = np.flatnonzero((up > 0) & (down < 0) & (high > low))
    steep = -down
    for step in range(150):
        of = of[steep[of] * (high[of] - low[of]) > _FLAT]
        of = of[high[of] > low[of] * (1 + 1e-15)]
        if not of.size:
            break
        a, b, share = low[of], high[of], up[of] / (up[of] - down[of])
        t = a + (b - a) * (0.5 if step % 3 == 2 else np.minimum(np.maximum(share, 1e-3), 1 - 1e-3))
        found = slope(t, of)
        rises = found > 0
        low[of], high[of] = np.where(rises, t, a), np.where(rises, b, t)
        up[of] = np.where(rises, found, 0.5 * up[of])
        down[of] = np.where(rises, 0.5 * down[of], np.minimum(found, -1e-300))
        steep[of] = np.where(rises, steep[of], -found)
    return high


def nodes(begin: Vector, end: Vector) -> tuple[Vector, Vector]:
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
