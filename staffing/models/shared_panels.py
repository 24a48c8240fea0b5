"""The integrals of many rows, over panels that those with much the same rates share.

The law of patience is then looked up once for all of them, and a row costs what exp costs at some three hundred nodes:
5 us, 30 where there are so many places, against 30 to 400 over panels of its own. The panels are cut so that they are
narrow enough for the least and greatest lam of the group at some ratios S / lam, the extremes among them.

Every row tells for itself whether they do: in every panel that counts the last Legendre coefficients of v, and of v
times the loss and the blocking, must have all but vanished, and so must what lies beyond the panels. A row for which
they have not is tried once more, over narrower panels, and then gets its own. Over 1,300 centres, from a hundredth of a
call at a time to 10,000, with squared CVs of patience from 1e-6 to 1e4, no measure was off by more than 1e-9 of
itself.
"""

import math
from itertools import pairwise

import numpy as np
from scipy.special import gammaln

from staffing.models import _panel_kernels
from staffing.models.offered_wait import Index, Integrals, OfferedWait, Vector, nodes, own_integrals
from staffing.models.patience import PatienceLaw
from staffing.models.waiting_places import LARGE, log_fits, share_blocked

MANY = 400
"""Fewer rows than these get panels of their own, which keeps all their digits."""
_TOGETHER = 64
"""Rows with panels of their own that are done at a time."""
_FEWEST = 24
"""Rows for which a group pays."""
_ROUNDS = ((2.0, 512), (1.0, 128))
"""Rounds: how wide shared panels may be beside a row's own, whose nodes have room to spare, and rows in a group."""
_LEAST = 1e-6
"""Share of the greatest lam that a row must have to be grouped at all."""
_RANKS = 4
_MOST_PANELS = 500
_STEP = 0.03
"""In the root of the mean number who wait, whose standard deviation is a half."""


def integrals(
    law: PatienceLaw,
    lam: Vector,
    s: Vector,
    places: Vector | None,
    start: float,
    threshold: float,
    many: int = MANY,
) -> Integrals:
    """`own_integrals` of any number of rows: where they are many, by shared panels, to 1e-9 of each."""
    sums = np.full((s.size, _panel_kernels.INTEGRALS), np.nan)
    peak, level, fits = np.empty((3, s.size))
    if s.size >= many:
        v = OfferedWait.of(law, lam, s, start, places)
        peak, level, fits = v.peak, v.level, v.fits
        usual = lam > _LEAST * lam.max()
        for wider, most in _ROUNDS:
            groups = _groups(v, np.flatnonzero(np.isnan(sums[:, 0]) & usual), most)
            for rows, ends in zip(groups, _shared_ends(v, groups, threshold, wider), strict=True):
                sums[rows] = _over(v, rows, ends, threshold)
    left = np.flatnonzero(np.isnan(sums[:, 0]))
    for first in range(0, left.size, _TOGETHER):
        part = left[first : first + _TOGETHER]
        rooms = None if places is None else places[part]
        peak[part], level[part], fits[part], own = own_integrals(
            law, lam[part], s[part], rooms, start, threshold
        )
        sums[part] = own.T
    return peak, level, fits, sums.T


def _groups(v: OfferedWait, rows: Index, most: int) -> list[Index]:
    """Rows much alike: lam within a factor of two, as many places, and S / lam next to each other."""
    if not rows.size:
        return []
    octave = np.floor(np.log2(v.lam[rows].max() / v.lam[rows]))
    rooms = np.zeros(rows.size) if v.places is None else v.places[rows]
    order = np.lexsort((v.s[rows] / v.lam[rows], rooms, octave))
    new = (np.diff(octave[order]) != 0) | (np.diff(rooms[order]) != 0)
    groups = []
    for alike in np.split(rows[order], np.flatnonzero(new) + 1):
        if alike.size >= _FEWEST:
            groups += np.array_split(alike, math.ceil(alike.size / most))
    return groups


def _shared_ends(v: OfferedWait, groups: list[Index], threshold: float, wider: float) -> list[Vector]:
    """Ends of the panels of each group, from those of the least and greatest lam at some ratios S / lam."""
    if not groups:
        return []
    lams, ratios, rooms = [], [], []
    for rows in groups:
        ranks = rows[np.linspace(0, rows.size - 1, _RANKS).round().astype(int)]
        extremes = np.unique([v.lam[rows].min(), v.lam[rows].max()])
        lams.append(np.repeat(extremes, _RANKS))
        ratios.append(np.tile(v.s[ranks] / v.lam[ranks], extremes.size))
        if v.places is not None:
            rooms.append(np.full(lams[-1].size, v.places[rows[0]]))
    lam, ratio = np.concatenate(lams), np.concatenate(ratios)
    places = np.concatenate(rooms) if rooms else None
    lists = []
    for first in range(0, lam.size, _TOGETHER):
        part = slice(first, first + _TOGETHER)
        room = None if places is None else places[part]
        own = OfferedWait.of(v.law, lam[part], lam[part] * ratio[part], v.start, room)
        of, begin, end = own.panels(threshold)
        at = np.searchsorted(of, np.arange(own.s.size + 1))
        lists += [np.append(begin[i:j], end[j - 1]) for i, j in pairwise(at)]
    fixed = np.append(v.law.bends, threshold)
    counts = np.cumsum([0] + [group.size for group in lams])
    return [_cut(lists[i:j], fixed, v.start, wider) for i, j in pairwise(counts)]


def _cut(lists: list[Vector], fixed: Vector, start: float, wider: float) -> Vector:
    """Panels nowhere wider than allowed by any of the lists of ends, and ending at what is fixed."""
    low, high = min(ends[0] for ends in lists), max(ends[-1] for ends in lists)
    if start == 0.0:
        fixed = np.append(fixed, min(ends[ends > 0][0] for ends in lists))
    stops = [*np.unique(fixed[(fixed > low) & (fixed < high)]).tolist(), float(high)]
    free = [ends[~np.isin(ends, fixed) | (ends == ends[0]) | (ends == ends[-1])] for ends in lists]
    cuts = np.empty(_MOST_PANELS)
    cuts[0] = low
    counts = np.array([ends.size for ends in free])
    return cuts[: _panel_kernels.cut(np.concatenate(free), counts, wider, np.array(stops), cuts)]


def _over(v: OfferedWait, rows: Index, ends: Vector, threshold: float) -> Vector:
    """The integrals of each row, nan where these panels do not do."""
    lam, result = v.lam[rows], np.full((rows.size, _panel_kernels.INTEGRALS), np.nan)
    if not ends.size:
        return result
    t, weight = nodes(ends[:-1, np.newaxis], ends[1:, np.newaxis])
    survival, given_up, waited = v.law.at(t)
    at_ends, _, by_ends = v.law.at(ends)
    places, log_factorial, table = -1.0, 0.0, np.zeros((1, 6))
    if v.places is not None:
        places = float(v.places[rows[0]])
        log_factorial = _log_factorial(places)
        table = _fits_table(places, float(lam.max() * by_ends[-1]))
    _panel_kernels.row_integrals(
        lam,
        v.s[rows],
        v.peak[rows],
        v.level[rows],
        v.fits[rows],
        v.start,
        np.column_stack([ends, by_ends, at_ends]),
        np.stack([t, waited, survival, given_up, weight], axis=1),
        int(ends.searchsorted(threshold)),
        places,
        log_factorial,
        _STEP,
        table,
        result,
    )
    return result


def _log_factorial(places: float) -> float:
    """What log P(N = K) has besides x, as the kernel takes it: log K!, or for large K the end of Stirling's series."""
    if places > LARGE:
        return -math.log(2 * math.pi * places) / 2 - (1 - 1 / (30 * places * places)) / (12 * places)
    return float(gammaln(places + 1))


def _fits_table(places: float, most: float) -> Vector:
    """log P(N <= K), N Poisson of mean x from 0 to `most`: polynomials of fifth degree over even steps of root x.

    They have its value and two derivatives at the ends; with B = P(N = K | N <= K) the first in x is -B, and B' =
    B (K / x - 1 + B). In root x the law of N is as wide everywhere, so that the steps are right to 1e-11.
    """
    y = _STEP * np.arange(math.ceil(math.sqrt(most) / _STEP) + 2)
    x = y * y
    fits = log_fits(x, np.full(y.size, places))
    blocked = share_blocked(x, np.full(y.size, places), fits)
    value, first = fits, -2 * _STEP * y * blocked
    second = -(_STEP**2) * blocked * (4 * (places - x + x * blocked) + 2)
    f, d0, d1, s0, s1 = np.diff(value), first[:-1], first[1:], second[:-1], second[1:]
    return np.column_stack(
        [
            value[:-1],
            d0,
            s0 / 2,
            10 * f - 6 * d0 - 4 * d1 - 1.5 * s0 + 0.5 * s1,
            -15 * f + 8 * d0 + 7 * d1 + 1.5 * s0 - s1,
            6 * f - 3 * (d0 + d1) - 0.5 * (s0 - s1),
        ]
    )
