"""A shared queue given its capacity, by the diffusion: the law of the process, and rows of sums from it."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from staffing.models.arguments import non_negative
from staffing.models.diffusion.piecewise_ou import PiecewiseOU
from staffing.models.diffusion.rows import rows_given_wait, with_queue
from staffing.models.errors import ScenarioError
from staffing.models.shared_queue import Callers, Vector


def given_capacity(
    arrival_rate: ArrayLike,
    capacity: ArrayLike,
    theta: ArrayLike,
    agents: ArrayLike,
    idleness: ArrayLike,
    *,
    arrival_scv: float = 1.0,
) -> PiecewiseOU:
    """The law of X = (callers in the system - n) / sqrt(n), given the capacity S.

    m = (lam - S) / sqrt(n), pull g, sigma^2 = (lam ca^2 + min(lam, S)) / n: of the variances with the same limit,
    mb (1 + ca^2), the one that halves the error in the mean queue at a load of .9. Given S there is no other
    randomness in the drift: over rosters Var(m) = Var(mu).

    Parameters
    ----------
    arrival_rate, capacity, theta, agents, idleness : array_like
        lam > 0, S >= 0, theta >= 0, n >= 1 and g >= 0, in the same unit of time; arrays that broadcast.
    arrival_scv : float
        ca^2 >= 0, squared CV of times between calls. A call then meets another law than one who looks in at any time:
        P(wait) of bursty calls (ca^2 = 4) comes out .03 to .045 too low at n = 100, queue and abandonment within 6%.

    Raises
    ------
    ScenarioError
        If n is below 1, or as `PiecewiseOU`.
    """
    lam, s, n = (np.asarray(x, np.float64) for x in (arrival_rate, capacity, agents))
    if np.any(n < 1):
        raise ScenarioError(f"agents: {float(n.min()):g} must be at least 1 for a diffusion")
    if np.any(lam <= 0):
        raise ScenarioError(f"arrival_rate: {float(lam.min()):g} must be above 0 for a diffusion")
    scv = non_negative("arrival_scv", arrival_scv)
    return PiecewiseOU((lam - s) / np.sqrt(n), idleness, theta, (lam * scv + np.minimum(lam, s)) / n)


def waits(law: PiecewiseOU, agents: ArrayLike, *, continuity: bool) -> Vector:
    """P(wait): P(X > 0), or P(X > -1 / (2 sqrt(n))) with the continuity correction."""
    return law.survival(-0.5 / np.sqrt(np.asarray(agents, np.float64))) if continuity else law.above


def diffusion_rows(
    callers: Callers,
    arrival_rates: Vector,
    agents: NDArray[np.int64],
    capacities: Vector,
    idleness: Vector,
    *,
    arrival_scv: float = 1.0,
    continuity: bool = False,
) -> Vector:
    """Rows of sums as `closure_days` has them, by the diffusion; shape (days, COLUMNS), an element of each a day.

    P(wait), the mean queue sqrt(n) E X^+, what is lost, theta times it over lam, and the idle agents sqrt(n) E X^- are
    the diffusion's. The law of the wait is not: its tail would be wrong by any factor. It is that of `Performance`
    given that one waits, which depends on the capacity alone and is exact for Poisson calls, times the diffusion's
    P(wait). So limits of the two meet with an error of the diffusion's own size, as between P(abandon) and the share
    not served.

    Raises
    ------
    ScenarioError
        If patience is not exponential (a diffusion knows of a law of patience its density at 0 alone), or nobody waits
        (theta infinite), or as `given_capacity`.
    """
    refuse_unfit(callers)
    rows = rows_given_wait(callers, arrival_rates, agents, capacities)
    if callers.arrival_rate == 0:
        return rows
    fit = (agents > 0) & ~((callers.abandonment_rate == 0) & np.isneginf(rows[:, -1]))
    if not fit.any():
        return rows
    lam, n = arrival_rates[fit], agents[fit]
    law = given_capacity(
        lam, capacities[fit], callers.abandonment_rate, n, idleness[fit], arrival_scv=arrival_scv
    )
    rows[fit] = with_queue(
        rows[fit],
        lam,
        n,
        callers.abandonment_rate,
        wait=waits(law, n, continuity=continuity),
        queue=np.sqrt(n) * law.mean_above,
        idle=np.sqrt(n) * law.mean_below,
    )
    return rows


def refuse_unfit(callers: Callers) -> None:
    """Refuse callers for whom the diffusion is another, or none."""
    if callers.patience is not None:
        raise ScenarioError(
            f"patience: {callers.patience!r} is not exponential, and the diffusion knows of patience its rate at 0"
            " alone; give an abandonment_rate"
        )
    if callers.abandonment_rate == math.inf:
        raise ScenarioError("abandonment_rate: inf leaves no queue to be diffused; take erlang_b")
