"""Rates at which busy agents come free, given how many are idle."""

import numpy as np
from numpy.typing import NDArray

from staffing.models import _kernels
from staffing.models.diffusion.idleness import roster_idleness
from staffing.models.routing import EXACT_ROUTINGS, Rule, WeightedRandom, priority_order

Vector = NDArray[np.float64]


def roster_death_rates(rates: Vector, lam: float, rule: Rule) -> Vector:
    """d_i, the mean rate of the busy agents given that i are idle, i = 0, ..., n - 1.

    Exact for longest-idle and random routing, (i + 1) e_(i+1) / e_i with the elementary symmetric polynomials of the
    rates. Approximate for the others, as in `roster_performance`; for WeightedRandom S - g i, from below by 0.
    """
    if rule == "least-occupied":
        return closure_death_rates(rates.size, float(rates.sum()), 0.0)
    out = np.empty_like(rates)
    if rule in EXACT_ROUTINGS:
        _kernels.weighted_death_rates(rates, rates, out)
    elif isinstance(rule, WeightedRandom):
        out = linear_death_rates(rates.size, float(rates.sum()), roster_idleness(rates, rule))
    else:
        _kernels.priority_death_rates(rates[priority_order(rule, rates)], lam, out)
    return out


def closure_death_rates(agents: int, capacity: float, c2: float) -> Vector:
    """The gamma closure d_i = S (n - i) / (n + i c2); exact for c2 = 0 and identical agents."""
    i = np.arange(agents)
    return np.asarray(capacity * (agents - i) / (agents + i * c2))


def linear_death_rates(agents: int, capacity: float, idleness: float) -> Vector:
    """d_i = S - g i, at least 0: the drift of the diffusion itself."""
    return np.asarray(np.maximum(capacity - idleness * np.arange(agents), 0.0))
