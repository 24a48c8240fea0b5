"""Integrals of v over panels that many rows share: the arithmetic of `shared_panels`."""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NODES = 20
INTEGRALS = 9
# How far log v has fallen where v is left out, and where it may be, by what there is beyond.
_DEAD, _FALLEN = 50.0, 36.0
# Shares beyond a panel that end the sum at once, and that are let pass where there are no more panels.
_REST, _END_REST = 1e-18, 1e-14
# How far log v may have fallen at an end of a panel that must be resolved, and may fall over one to the right.
_SEEN, _STEEP = 30.0, 120.0
# Shares of a panel and of the whole that may be unresolved; the share of the whole from which on a panel counts.
_RESOLVED, _ERROR, _MATTERS = 1e-3, 1e-11, 1e-17
_LARGE_PLACES = 100.0
# Such blocking has its digits, as far as compared, but turns so steeply that the test would send all rows away.
_RARE = 1e-30
_TESTED = np.array([0, 5, 8])
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
    high = table[k, 3] + u * (table[k, 4] + u * table[k, 5])
    return float(table[k, 0] + u * (table[k, 1] + u * (table[k, 2] + u * high)))


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


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _miss(values: Floats) -> float:
    """What twenty nodes hardly resolve, of an integral."""
    one, other = 0.0, 0.0
    for j in range(NODES):
        one += values[j] * _ONE[j]
        other += values[j] * _OTHER[j]
    return abs(one) + abs(other)


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _add(density: Floats, node: Floats, lost: Floats, q: Floats) -> None:
    """Write the sums of the density times 1, Gbar, t Gbar, H and 1 - Gbar; the last, node by node, too."""
    one, served, waited, queued, left = 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(NODES):
        lost[j] = density[j] * node[3, j]
        one += density[j]
        served += density[j] * node[2, j]
        waited += density[j] * node[2, j] * node[0, j]
        queued += density[j] * node[1, j]
        left += lost[j]
    q[1], q[2], q[3], q[4], q[5] = one, served, waited, queued, left


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

    `ends` has t, H and Gbar at the ends of panels; `nodes` per panel t, H, Gbar, 1 - Gbar and the
    weight of those within. There is
    no limit on those who wait if `places` < 0; otherwise `table` has log P(N <= K).
    """
    panels, limited = ends.shape[0] - 1, places >= 0.0
    falls, sums, misses = np.empty(panels + 1), np.empty((panels, INTEGRALS)), np.zeros((panels, 3))
    v, full, lost = np.empty(NODES), np.empty(NODES), np.empty(NODES)
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
        good = begin > 0 or ends[0, 0] <= start or (ends[0, 0] < peak and falls[0] > _FALLEN)
        for p in range(begin, panels + 1):
            if ends[p, 0] > peak and falls[p] > _FALLEN:
                chance, blocked = math.exp(-falls[p]), 0.0
                all_full = rest_full = 0.0
                if limited:
                    x = lam * ends[p, 1]
                    blocked = _blocked(x, places, log_factorial, _fits(x, step, table))
                    all_full = total[8]
                    # v P(N = K | N <= K) goes as H^K exp(-S t).
                    slope = s - places * ends[p, 2] / ends[p, 1]
                    rest_full = chance * blocked / slope if slope > 0.0 else np.inf
                rest = chance / (s - lam * ends[p, 2] * (1.0 - blocked))
                enough = _END_REST if p == panels else _REST
                done = rest <= enough * total[0] and rest_full <= enough * all_full
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
            node = nodes[p]
            for j in range(NODES):
                v[j] = lam * (node[1, j] - level) - s * (node[0, j] - peak)
            if limited:
                for j in range(NODES):
                    x = lam * node[1, j]
                    fits = _fits(x, step, table)
                    v[j] = node[4, j] * math.exp(fits - top + v[j])
                    full[j] = v[j] * _blocked(x, places, log_factorial, fits)
                misses[p, 0] = _miss(v)
                misses[p, 2] = _miss(full)
                for j in range(NODES):
                    q[0] += v[j]
                    q[8] += full[j]
                    v[j] -= full[j]
            else:
                for j in range(NODES):
                    v[j] = node[4, j] * math.exp(v[j])
                misses[p, 0] = _miss(v)
            _add(v, node, lost, q)
            misses[p, 1] = _miss(lost)
            if not limited:
                q[0] = q[1]
            if p >= first_late:
                q[6] = q[1]
            else:
                q[7] = q[2]
            for c in range(INTEGRALS):
                total[c] += q[c]
        for p in range(begin, end):
            q, size = sums[p], sums[p, 0]
            # Nodes may all lie beside what is narrow, so size does not tell whether the panel counts: its ends do.
            seen = min(falls[p], falls[p + 1]) < _SEEN or ends[p, 0] <= peak <= ends[p + 1, 0]
            if (seen or size > _MATTERS * total[0]) and not misses[p, 0] < _RESOLVED * size:
                good = False
            if ends[p, 0] >= peak and falls[p + 1] - falls[p] > _STEEP:
                good = False
            for k in range(3):
                c, miss = _TESTED[k], misses[p, k]
                if c == 8 and total[c] < _RARE * total[0]:
                    continue
                # What the quadrature errs by is less than the square of what it hardly resolves.
                rough = q[c] > _MATTERS * total[c] and miss * miss > _ERROR * q[c] * total[c]
                if rough or not miss < np.inf:
                    good = False
        out[r] = total
        if not good:
            out[r] = np.nan


@njit(cache=True, error_model="numpy")
def cut(ends: Floats, counts: NDArray[np.int64], wider: float, stops: Floats, cuts: Floats) -> int:
    """Write ends of panels from cuts[0] to the last of the stops, and return how many; 0 if there is no room.

    They are at every stop, and nowhere further apart than `wider` times the ends of any list; counts[k] of `ends` are
    in list k.
    """
    size, stop = 1, 0
    at = np.zeros(counts.size, np.int64)
    while cuts[size - 1] < stops[-1]:
        a = cuts[size - 1]
        while stops[stop] <= a:
            stop += 1
        b, first = stops[stop], 0
        for r in range(counts.size):
            last = first + counts[r] - 1
            k = first + at[r]
            while k < last - 1 and ends[k + 1] <= a:
                k += 1
            at[r] = k - first
            while k < last and ends[k] < b:
                if ends[k + 1] > a:
                    b = min(b, max(a, ends[k]) + wider * (ends[k + 1] - ends[k]))
                k += 1
            first = last + 1
        if size == cuts.size or not b > a:
            return 0
        cuts[size] = b
        size += 1
    return size
