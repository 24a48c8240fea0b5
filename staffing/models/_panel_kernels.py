"""Integrals of v over panels that many rows share: the arithmetic of `shared_panels`."""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NODES = 20
INTEGRALS = 9
_DEAD, _FALLEN = 50.0, 36.0
_REST, _MATTERS = 1e-18, 1e-17
_END_REST = 1e-14
_RESOLVED, _ERROR = 1e-3, 1e-11
_LARGE_PLACES = 100.0
_X, _W = np.polynomial.legendre.leggauss(NODES)
_LAST = np.polynomial.legendre.legvander(_X, NODES - 1)[:, -2:]
# The last two coefficients in Legendre's polynomials of a function whose values have the weights of the nodes.
_ONE, _OTHER = (2 * NODES - 3) * _LAST[:, 0], (2 * NODES - 1) * _LAST[:, 1]


@njit(cache=True, error_model="numpy")
def _fits(x: float, step: float, table: Floats) -> float:
    """log P(N <= K) from polynomials in the root of x, each over one step."""
    y = math.sqrt(x) / step
    k = min(int(y), table.shape[0] - 1)
    u = y - k
    c = table[k]
    return float(c[0] + u * (c[1] + u * (c[2] + u * (c[3] + u * (c[4] + u * c[5])))))


@njit(cache=True, error_model="numpy")
def _blocked(x: float, places: float, log_factorial: float, fits: float) -> float:
    """P(N = K | N <= K)."""
    if places == 0.0:
        return 1.0
    if x == 0.0:
        return 0.0
    if places > _LARGE_PLACES:
        above = (x - places) / places
        log_chance = -places * (above - math.log1p(above)) + log_factorial
    else:
        log_chance = places * math.log(x) - x - log_factorial
    return math.exp(min(log_chance - fits, 0.0))


@njit(cache=True, error_model="numpy", nogil=True)
def row_integrals(
    lams: Floats,
    capacities: Floats,
    peaks: Floats,
    levels: Floats,
    peak_fits: Floats,
    start: float,
    ends: Floats,
    nodes: Floats,
    first_late: int,
    places: float,
    log_factorial: float,
    step: float,
    table: Floats,
    out: Floats,
) -> None:
    """Write the nine integrals of each row, nan where the panels do not do for it.

    `ends` has t, H and Gbar at the ends of panels; `nodes` t, H, Gbar, 1 - Gbar and the weight within them. There is
    no limit on those who wait if `places` < 0; otherwise `table` has log P(N <= K).
    """
    panels, limited = ends.shape[0] - 1, places >= 0.0
    falls, sums, misses = np.empty(panels + 1), np.empty((panels, INTEGRALS)), np.empty((panels, 3))
    for r in range(lams.size):
        lam, s, peak, level, top = lams[r], capacities[r], peaks[r], levels[r], peak_fits[r]
        for p in range(panels + 1):
            falls[p] = s * (ends[p, 0] - peak) - lam * (ends[p, 1] - level)
            if limited:
                falls[p] += top - _fits(lam * ends[p, 1], step, table)
        total = np.zeros(INTEGRALS)
        begin, end = 0, panels
        while begin < panels - 1 and falls[begin + 1] > _DEAD and ends[begin + 1, 0] < peak:
            begin += 1
        good = begin > 0 or ends[0, 0] <= start or falls[0] > _FALLEN
        for p in range(begin, panels + 1):
            if ends[p, 0] > peak and falls[p] > _FALLEN:
                chance, blocked = math.exp(-falls[p]), 0.0
                full = rest_full = 0.0
                if limited:
                    x = lam * ends[p, 1]
                    blocked = _blocked(x, places, log_factorial, _fits(x, step, table))
                    full = total[8]
                    # v P(N = K | N <= K) goes as H^K exp(-S t).
                    slope = s - places * ends[p, 2] / ends[p, 1]
                    rest_full = chance * blocked / slope if slope > 0.0 else np.inf
                rest = chance / (s - lam * ends[p, 2] * (1.0 - blocked))
                enough = _END_REST if p == panels else _REST
                done = rest <= enough * total[0] and rest_full <= enough * full
                # The panels reach as far as those of rows that go on for longer.
                ebbs = p == panels and sums[p - 1, 5] <= _END_REST * total[5]
                if done and (rest <= enough * total[5] or ebbs or places == 0.0):
                    end = p
                    break
            if p == panels:
                good = good and falls[p] > 745.0
                break
            q = sums[p]
            q[:] = 0.0
            one_v, other_v, one_lost, other_lost, one_blocked, other_blocked = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for j in range(NODES):
                t, h, stay, gone, weight = nodes[p * NODES + j]
                fall = s * (t - peak) - lam * (h - level)
                if limited:
                    x = lam * h
                    fits = _fits(x, step, table)
                    v = weight * math.exp(fits - top - fall)
                    full = v * _blocked(x, places, log_factorial, fits)
                    q[0] += v
                    q[8] += full
                    one_blocked += full * _ONE[j]
                    other_blocked += full * _OTHER[j]
                    one_v += v * _ONE[j]
                    other_v += v * _OTHER[j]
                    v -= full
                else:
                    v = weight * math.exp(-fall)
                    one_v += v * _ONE[j]
                    other_v += v * _OTHER[j]
                served, lost = v * stay, v * gone
                q[1] += v
                q[2] += served
                q[3] += t * served
                q[4] += h * v
                q[5] += lost
                one_lost += lost * _ONE[j]
                other_lost += lost * _OTHER[j]
            if not limited:
                q[0] = q[1]
            if p >= first_late:
                q[6] = q[1]
            else:
                q[7] = q[2]
            misses[p, 0] = abs(one_v) + abs(other_v)
            misses[p, 1] = abs(one_lost) + abs(other_lost)
            misses[p, 2] = abs(one_blocked) + abs(other_blocked)
            for c in range(INTEGRALS):
                total[c] += q[c]
        for p in range(begin, end):
            q = sums[p]
            for c, miss in ((0, misses[p, 0]), (5, misses[p, 1]), (8, misses[p, 2])):
                # What the quadrature errs by is less than the square of what it hardly resolves.
                rough = miss * miss > _ERROR * q[c] * total[c] or (c == 0 and miss > _RESOLVED * q[c])
                if q[c] > _MATTERS * total[c] and rough or not miss < np.inf:
                    good = False
        out[r] = total
        if not good:
            out[r] = np.nan
