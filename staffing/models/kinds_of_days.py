"""Kinds of rosters and days: those that stand for all in a mean, those drawn for quantiles, and the law of capacity."""

import math
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from staffing.models.days import Days
from staffing.models.rate_laws import RateLaw
from staffing.models.score_nodes import smooth_nodes

Vector = NDArray[np.float64]

Nodes = tuple[Vector, Vector]
PresentNodes = tuple[NDArray[np.int64], Vector]

MOST_NODES = 100_000
"""Nodes of a mean; only patience of a thousand services or so asks for more, which change P(wait) by 2e-6."""
POINTS = 4096
"""Rosters and days drawn for quantiles and shares, a power of two."""


class Kinds(NamedTuple):
    """Kinds of rosters and days, an element each, and their chances."""

    calls: Vector
    """The day's arrival factor A."""
    present: NDArray[np.int64]
    capacities: Vector
    weights: Vector


def kinds_for_means(law: RateLaw, days: Days, agents: int, width: float) -> Kinds:
    """Kinds whose weighted mean is the mean over rosters and days of what turns over a `width` of the load.

    A grid of the four: each has nodes according to its own width beside that of the turn and of those wider still,
    which smooth what is left.
    """
    few = max(days.mean_present(agents), 1.0)
    widths = {
        "roster": law.cv / math.sqrt(few),
        "rate": days.rate_log_sd,
        "calls": days.arrival_cv,
        "present": math.sqrt(days.absence / few),
    }
    turning, smooth = {}, width
    widest, *_ = order = sorted(widths, key=widths.__getitem__, reverse=True)
    for name in order:
        turning[name] = widths[name] / smooth
        smooth = math.hypot(smooth, widths[name])
    roster, rate, calls, (present, chances) = _nodes(days, agents, turning)
    if (size := roster[0].size * rate[0].size * calls[0].size * present.size) > MOST_NODES:
        # The others smooth the widest too, the more, the more nodes they have.
        turning[widest] *= MOST_NODES / size
        roster, rate, calls, (present, chances) = _nodes(days, agents, turning)
    capacities = np.array([law.capacity_at_score(int(m), roster[0]) for m in present])
    factors, arrivals = days.rate_factor(rate[0]), days.arrival_factor(calls[0])
    shape = arrivals.size, present.size, roster[0].size, factors.size
    weights = np.einsum("i,j,k,l->ijkl", calls[1], chances, roster[1], rate[1])
    return Kinds(
        calls=np.broadcast_to(arrivals[:, np.newaxis, np.newaxis, np.newaxis], shape).ravel(),
        present=np.broadcast_to(present[:, np.newaxis, np.newaxis], shape).ravel(),
        capacities=np.broadcast_to(capacities[:, :, np.newaxis] * factors, shape).ravel(),
        weights=weights.ravel(),
    )


def _nodes(days: Days, agents: int, turning: Mapping[str, float]) -> tuple[Nodes, Nodes, Nodes, PresentNodes]:
    roster, rate, calls = (smooth_nodes(turning[name]) for name in ("roster", "rate", "calls"))
    return roster, rate, calls, days.present_nodes(agents, turning["present"])


def drawn_kinds(law: RateLaw, days: Days, agents: int, seed: int) -> Kinds:
    """Equally likely kinds, `POINTS` scrambled Sobol points of the four; the same points at every level."""
    score, rate, arrivals, u = _points(seed)
    present = days.present(agents, u)
    capacities = np.empty(POINTS)
    for m in np.unique(present):
        these = present == m
        capacities[these] = law.capacity_at_score(int(m), score[these])
    return Kinds(
        calls=days.arrival_factor(arrivals),
        present=present,
        capacities=capacities * days.rate_factor(rate),
        weights=np.full(POINTS, 1 / POINTS),
    )


@cache
def _points(seed: int) -> tuple[Vector, Vector, Vector, Vector]:
    """Normal scores of capacity, rate and calls, and the probability of the number present."""
    from scipy.stats import qmc

    u = qmc.Sobol(4, seed=np.random.default_rng(seed)).random(POINTS)
    u = np.clip(u, 1e-12, 1 - 1e-12)
    score, rate, arrivals = ndtri(u[:, :3].T)
    return score, rate, arrivals, u[:, 3]


def share_below(law: RateLaw, days: Days, agents: int, capacity: float) -> float:
    """P(Z S_m / A <= capacity), exactly in the widest of the three, which smooths the sum over the others."""
    t = days.rate_log_sd
    present, chances = days.present_nodes(agents)
    widths = {
        "roster": law.cv / math.sqrt(max(days.mean_present(agents), 1.0)),
        "rate": t,
        "calls": days.arrival_cv,
    }
    widest = max(widths, key=widths.__getitem__)
    turning = {name: width / (widths[widest] or 1.0) for name, width in widths.items()} | {widest: 0.0}
    (score, roster), (rate, by_rate), (calls, by_calls) = (smooth_nodes(turning[name]) for name in widths)
    share, weights = 0.0, by_calls[:, np.newaxis] * by_rate
    factors = np.ones(1) if widest == "rate" else days.rate_factor(rate)
    arrivals = np.ones(1) if widest == "calls" else days.arrival_factor(calls)
    limits = max(capacity, 1e-300) * arrivals[:, np.newaxis] / factors
    for m, chance in zip(present, chances, strict=True):
        if widest == "roster":
            below = np.array([[law.capacity_cdf(int(m), float(x)) for x in row] for row in limits])
            share += float(chance * (below * weights).sum())
            continue
        excess = np.maximum(law.capacity_at_score(int(m), score), 1e-300) / limits[..., np.newaxis]
        by_rate_alone = widest == "rate"
        below = ndtr((t * t / 2 - np.log(excess)) / t) if by_rate_alone else days.arrival_survival(excess)
        share += float(chance * weights.ravel() @ (below @ roster).ravel())
    return min(share, 1.0)
