"""The shared queue of a scenario, simulated on rosters that different levels have in common."""

import math
import os
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from staffing.models.agents import Agents
from staffing.models.patience import PatienceLaw
from staffing.models.renewal_gaps import RenewalGaps
from staffing.models.simulation.quantile_tables import table_mean, table_scv
from staffing.models.simulation.shared_queue import SharedQueueSimulation
from staffing.models.simulation.warm_up import warm_up_calls

_CALLS_PER_BATCH = 100_000
_STEPS = 2**16
_ORDERS = {"slowest-first": 1, "fastest-first": -1}
SIMULATED = ("longest-idle", "random", *_ORDERS)
"""Routing rules that the simulation can follow; random has the law of longest-idle, and is simulated as that."""
_AGENTS_PER_BATCH = 1_000_000
"""Rates drawn at a time, above one roster's: while they are, for 30 ms or so, a thread does not stop."""


def cores() -> int:
    """Processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def simulation_of(model: Agents, agents: int, *, around: int, seed: int) -> SharedQueueSimulation:
    """A simulation of the queue with `agents` agents, at most one more than `around`.

    Simulations with the same `around` and seed serve the same callers, and their rosters share their agents, so
    their costs can be compared pair by pair.
    """
    callers, draw = model.callers, model.rosters(around)
    order = _ORDERS.get(str(model.rule))

    def rosters(size: int, generator: np.random.Generator) -> NDArray[np.float64]:
        rates = draw(size, generator)[:, :agents]
        return rates if order is None else np.sort(rates, axis=1)[:, ::order]

    typical = np.full(around, model.mean_rate)
    lam, theta, limit = callers.arrival_rate, callers.abandonment_rate, callers.max_calls
    scv = callers.arrival_scv
    warm_up = int(warm_up_calls(typical, lam, theta, max_calls=limit, arrival_scv=scv))
    size, stretch = _batch(warm_up, around)
    return SharedQueueSimulation(
        arrival_rate=lam,
        rosters=rosters,
        agents=agents,
        abandonment_rate=theta,
        patience_quantiles=None if callers.patience is None else _quantiles(callers.patience),
        arrival_factors=model.arrival_factors,
        gap_quantiles=None if scv == 1 else _gaps(scv),
        max_calls=limit,
        in_order=order is not None,
        threshold=callers.threshold,
        seed=seed,
        time_unit=callers.time_unit,
        rosters_per_batch=size,
        calls_per_roster=stretch * warm_up,
    )


def _quantiles(patience: PatienceLaw) -> NDArray[np.float64]:
    """Patience at even steps of the share who have given up; the last stands for the most patient step of callers."""
    shares = 1 - np.arange(_STEPS + 1) / _STEPS
    shares[-1] = 0.5 / _STEPS
    return np.maximum.accumulate(patience.time_at(shares))


@cache
def _gaps(scv: float) -> NDArray[np.float64]:
    """Times between calls at even steps; the last step's, which has no end, ends so that the squared CV is right."""
    table = RenewalGaps(scv).at(np.minimum(np.arange(_STEPS + 1) / _STEPS, 1 - 0.5 / _STEPS))

    def excess(last: float) -> float:
        table[-1] = last
        return table_scv(table / table_mean(table)) - scv

    if excess(table[-2]) < 0:
        table[-1] = brentq(excess, table[-2], 1e3 * table[-2])
    return table


def _batch(warm_up: int, agents: int) -> tuple[int, int]:
    """Rosters in a batch, and the length of each in warm-ups: a short batch that wastes little and has many strata."""
    stretches = _CALLS_PER_BATCH / warm_up
    most = min(max(_AGENTS_PER_BATCH // max(agents, 1), 1), 64)
    rosters = min(max(round(1.8 * math.sqrt(stretches)), 1), most)
    return rosters, min(max(round(stretches / rosters), 1), 12)
