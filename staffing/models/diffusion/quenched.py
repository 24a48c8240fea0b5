"""The agents one has, by the diffusion: the limit beside the exact number."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from staffing.models.arguments import count, non_negative, positive
from staffing.models.diffusion.diffusion_error import MOST_C2, UNKNOWN, diffusion_error, is_bounded
from staffing.models.diffusion.given_capacity import diffusion_rows, refuse_unfit
from staffing.models.diffusion.idleness import roster_idleness, rough_rule
from staffing.models.errors import ScenarioError
from staffing.models.performance import MEASURES, MethodError, Performance
from staffing.models.routing import EXACT_ROUTINGS, Routing, rule_of
from staffing.models.routing_error import roster_error
from staffing.models.shared_queue import Callers, measures_by_roster, shared_queue

_ONE = np.ones(1)


def roster_diffusion(
    rates: Sequence[float] | NDArray[np.float64],
    arrival_rate: float,
    abandonment_rate: float,
    *,
    arrival_scv: float = 1.0,
    routing: Routing = "longest-idle",
    continuity: bool = False,
    threshold: float = 0.0,
    time_unit: str = "time unit of the rates",
) -> Performance:
    """Performance of these agents, who differ, by the diffusion limit given their rates.

    dX = (m + g X^- - theta X^+) dt + sigma dB for X = (callers in the system - n) / sqrt(n), with
    m = (lam - S) / sqrt(n), g the routing rule's `roster_idleness` and sigma^2 = (lam ca^2 + min(lam, S)) / n.

    Parameters
    ----------
    rates : array_like, shape (n,)
        Calls each agent completes per unit of busy time, > 0; n >= 1.
    arrival_rate : float
        lam, calls per unit of time, > 0.
    abandonment_rate : float
        theta = 1 / mean patience, >= 0 and finite.
    arrival_scv : float
        ca^2 >= 0, squared CV of times between calls.
    routing : str, sequence of int, Priority or WeightedRandom
        As for `roster_performance`.
    continuity : bool
        Whether P(wait) is P(X > -1 / (2 sqrt(n))). It helps at loads from 1 on and n <= 100, and hurts at load .9.
    threshold : float
        The wait that counts as in time, >= 0.
    time_unit : str
        What the rates are per.

    Returns
    -------
    Performance
        Approximate: against the exact law, rates of CV .3 and theta half the mean rate, P(wait) is off by .010 at
        n = 100, the mean queue by .01 to .04 calls. `method_error` has the bounds of `diffusion_error`, for Poisson
        calls, longest-idle, random or least-occupied routing and a CV up to .6 within the roster; otherwise "unknown".
        Errors fall as 1 / sqrt(n) where loads come to 1 as fast, and not at any fixed load. The law of the wait is the
        exact one given that one waits, see `diffusion_rows`. `method` says so where the rule's g is rough.

    Raises
    ------
    ScenarioError
        If there is no agent, a parameter is out of range, the rule is not known, or theta = 0 and lam is not below S:
        the queue grows without end, and there is no stationary law.

    References
    ----------
    Atar (2008), Central limit theorem for a many-server queue with random service rates.
    """
    rule = rule_of(routing, len(rates))
    mu = np.array([positive(f"rates[{k}]", rate) for k, rate in enumerate(rates)])
    if mu.size == 0:
        raise ScenarioError("rates: none given; a diffusion needs at least one agent")
    callers = Callers(arrival_rate, abandonment_rate, threshold, time_unit)
    found = capacity_diffusion(
        callers,
        mu.size,
        float(mu.sum()),
        roster_idleness(mu, rule),
        arrival_scv=arrival_scv,
        continuity=continuity,
        note=rough_rule(rule),
    )
    if rule in EXACT_ROUTINGS:
        return found
    error = UNKNOWN
    if is_bounded(rule, arrival_scv, continuity=continuity):
        routed = roster_error(rule, mu, found.values(), callers)
        error = {m: _sum(found.method_error[m], routed[m]) for m in MEASURES}
    return replace(found, method_error=error)


def capacity_diffusion(
    callers: Callers,
    agents: int,
    capacity: float,
    idleness: float,
    *,
    arrival_scv: float = 1.0,
    continuity: bool = False,
    note: str = "",
) -> Performance:
    """Performance of n agents of whom only the capacity S and the idleness coefficient g are known.

    As `roster_diffusion`, which finds the two from the rates; a `note` joins the name of the method. `method_error`
    takes the agents to be idle as g says: c2 = g n / S - 1.

    Raises
    ------
    ScenarioError
        As `roster_diffusion`.
    """
    refuse_unfit(callers)
    n, s = count("agents", agents), non_negative("capacity", capacity)
    g, lam = non_negative("idleness", idleness), positive("arrival_rate", callers.arrival_rate)
    if n == 0:
        raise ScenarioError("agents: 0 must be at least 1 for a diffusion")
    rows = diffusion_rows(
        callers,
        np.array([lam]),
        np.array([n]),
        np.array([s]),
        np.array([g]),
        arrival_scv=arrival_scv,
        continuity=continuity,
    )
    if rows[0, 1] == math.inf:
        raise ScenarioError(
            f"abandonment_rate: 0 with arrivals at {lam:g}, not below the capacity {s:g}, drifts upward without end:"
            " there is no stationary law"
        )
    error: Mapping[str, MethodError] = UNKNOWN
    c2 = g * n / s - 1 if s > 0 else math.inf
    if is_bounded("random", arrival_scv, continuity=continuity) and -1e-9 < c2 <= MOST_C2:
        values = measures_by_roster(callers, n, rows, np.array([s]))
        bounds = diffusion_error(
            values,
            arrival_rate=lam,
            abandonment_rate=callers.abandonment_rate,
            agents=n,
            capacities=np.array([s]),
            c2=max(c2, 0.0),
        )
        error = {m: float(bound[0]) for m, bound in bounds.items()} | {"blocking_probability": "exact"}
    return shared_queue(
        callers,
        n,
        rows,
        np.array([s]),
        _ONE,
        method=f"diffusion, {note}" if note else "diffusion",
        method_error=error,
    )


def _sum(one: MethodError, other: MethodError) -> MethodError:
    """Both errors at once."""
    if "unknown" in (one, other):
        return "unknown"
    return sum(error for error in (one, other) if isinstance(error, float)) or "exact"
