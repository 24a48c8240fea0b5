"""How far the diffusion can be wrong at one size: bounds measured against chains."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from staffing.models.performance import MEASURES, MethodError
from staffing.models.routing import EXACT_ROUTINGS, Rule

Vector = NDArray[np.float64]

UNKNOWN: dict[str, MethodError] = {**dict.fromkeys(MEASURES, "unknown"), "blocking_probability": "exact"}
"""Where nobody has bounded what a diffusion misses at one size; see `convergence` for how it vanishes."""
MOST_C2 = 0.36
"""Squared CV of one roster's rates up to which the closure, told of it, is close enough to stand for the exact law."""


def is_bounded(rule: Rule, arrival_scv: float, *, continuity: bool) -> bool:
    """Whether `diffusion_error` speaks of these: Poisson calls, no correction, and a rule whose g is no bare limit."""
    return arrival_scv == 1 and not continuity and (rule in EXACT_ROUTINGS or rule == "least-occupied")


def diffusion_error(
    values: Mapping[str, Vector],
    *,
    arrival_rate: ArrayLike,
    abandonment_rate: float,
    agents: ArrayLike,
    capacities: Vector,
    c2: ArrayLike,
) -> dict[str, Vector]:
    """Bounds per measure on what `diffusion_rows` miss of the gamma closure, an element of each a roster or a day.

    With r = theta n / S, patience against the mean rate, and all of it in calls and shares,

        P(wait), service levels    .175 sqrt((1 + .3 r) / n)
        mean queue                 .3 / (1 + 1.2 sqrt(r) + .3 r)
        P(abandon)                 theta times that over lam
        occupancy                  the idle share times c2 / (1 + c2), and what P(abandon) adds

    Measured against the closure, which is the exact law of agents alike: 1 to 5000 agents, loads .05 to 2, r from
    0 to 100, c2 up to 1; the worst errors come to 95% of these. And against the exact law of rosters, told their own c2
    up to `MOST_C2`, under every law of rates. So P(wait) is off by 1 / sqrt(n) of a constant, the queue by a constant
    number of calls at every size: both what the limit theorem says. Many errors are far smaller: see the case studies.

    Parameters
    ----------
    values : mapping
        Every measure, as the diffusion has it.
    arrival_rate, agents, capacities : array_like
        lam > 0, n >= 0 and S >= 0. Without agents there is nothing to be wrong about.
    abandonment_rate : float
        theta >= 0.
    c2 : array_like
        Squared CV of the rates as the rule's idle agents show it: 0 where all idle for equal shares of the time.
    """
    lam, present, spread = (np.asarray(x, np.float64) for x in (arrival_rate, agents, c2))
    n, capacity = np.maximum(present, 1.0), np.maximum(capacities, 1e-100)
    patience = abandonment_rate * n / capacity
    late = np.minimum(0.175 * np.sqrt((1 + 0.3 * patience) / n), 1.0)
    queue = 0.3 / (1 + 1.2 * np.sqrt(patience) + 0.3 * patience)
    lost = np.minimum(abandonment_rate * queue / lam, 1.0)
    answered = np.maximum(1.0 - values["abandonment_probability"] - lost, 1e-9)
    idle_share = np.maximum(1.0 - values["capacity_utilisation"], 0.0) * spread / (1 + spread)
    throughput = lam * lost
    finite_wait = np.where(np.isfinite(values["mean_wait_answered"]), values["mean_wait_answered"], 0.0)
    late_too = np.maximum(late, lost)
    error = {
        "wait_probability": late,
        "mean_wait": queue / lam,
        "mean_wait_answered": (queue / lam + lost * finite_wait) / answered,
        "mean_queue": queue,
        "abandonment_probability": lost,
        "blocking_probability": np.zeros(late.shape),
        "service_level_offered": late_too,
        "service_level_answered": np.minimum((late_too + lost) / answered, 1.0),
        "service_level_virtual": late,
        "occupancy": np.minimum(idle_share + throughput / capacity, 1.0),
        "capacity_utilisation": np.minimum(throughput / capacity, 1.0),
        "throughput": throughput,
    }
    return {
        measure: np.where(np.isfinite(values[measure]) & (present > 0), bound, 0.0)
        for measure, bound in error.items()
    }
