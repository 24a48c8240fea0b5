"""The fluid limit: what a long queue loses and holds, were calls and agents a steady flow."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, gammaincc, ndtr

from staffing.models.arguments import count, non_negative
from staffing.models.days import Days
from staffing.models.rate_laws import RateLaw
from staffing.models.score_nodes import smooth_nodes

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Fluid:
    """The limits of many agents at a fixed load; all 0 where capacity does for the load."""

    abandonment_probability: float
    """(1 - S / lam)^+, whatever the law of patience."""
    mean_queue: float
    """(lam - S)^+ / theta; infinite under overload where nobody gives up."""
    mean_wait: float
    """Of all calls: the queue over lam."""
    blocking_probability: float = 0.0
    """What finds no place to wait, where there is a limit on calls."""


def fluid_limit(arrival_rate: float, capacity: float, abandonment_rate: float) -> Fluid:
    """Fluid limits of a roster of capacity S, with exponential patience.

    By regime, n agents to infinity at lam / S = rho fixed: quality-driven, rho < 1, abandonment falls to 0
    exponentially; balanced, rho = 1, as 1 / sqrt(n), and the queue over n to 0 with it; efficiency-driven, rho > 1,
    abandonment comes to 1 - 1 / rho and the queue to (lam - S) / theta, both exponentially fast.

    Parameters
    ----------
    arrival_rate : float
        lam >= 0.
    capacity : float
        S >= 0, the sum of the agents' rates.
    abandonment_rate : float
        theta = 1 / mean patience, >= 0, possibly infinite.

    Raises
    ------
    ScenarioError
        If a parameter is out of range.

    References
    ----------
    Garnett, Mandelbaum and Reiman (2002), Designing a call center with impatient customers.
    """
    lam, s = non_negative("arrival_rate", arrival_rate), non_negative("capacity", capacity)
    return _limit(lam, max(lam - s, 0.0), non_negative("abandonment_rate", abandonment_rate, infinite=True))


def fluid_over_days(
    arrival_rate: float,
    abandonment_rate: float,
    law: RateLaw,
    days: Days,
    agents: int,
) -> Fluid:
    """Fluid limits averaged over rosters and days, weighted by calls: E (A lam - Z S_m)^+ over lam, and over theta.

    In closed form over the widest of roster, day factor on the rates and factor on the calls, which smooths the sum
    over the others and over who is absent: to 1e-6 of the load. Where rosters alone differ its share of the load falls
    as 1 / sqrt(n) at load 1; with factors common to all agents or calls it does not vanish, at any load.

    Parameters
    ----------
    arrival_rate, abandonment_rate : float
        As for `fluid_limit`, on a mean day.
    law : RateLaw
        The law of one agent's rate; the capacity of several is taken to be gamma.
    days : Days
        The law of days.
    agents : int
        n >= 0, those scheduled.

    Raises
    ------
    ScenarioError
        If a parameter is out of range.
    """
    lam, n = non_negative("arrival_rate", arrival_rate), count("agents", agents)
    theta = non_negative("abandonment_rate", abandonment_rate, infinite=True)
    if lam == 0:
        return _limit(lam, 0.0, theta)
    few = max(days.mean_present(n), 1.0)
    widths = {
        "roster": 0.0 if law.alike else law.cv / math.sqrt(few),
        "rate": days.rate_log_sd,
        "calls": days.arrival_cv,
    }
    widest = max(widths, key=widths.__getitem__)
    top = widths[widest]
    if top == 0:
        present, chances = days.present_nodes(n)
        return _limit(lam, float(chances @ np.maximum(lam - present * law.mean, 0.0)), theta)
    present, chances = days.present_nodes(n, math.sqrt(days.absence / few) / top)
    nodes = {
        name: (np.zeros(1), np.ones(1)) if name == widest else smooth_nodes(3 * width / top)
        for name, width in widths.items()
    }
    (score, by_roster), (rate, by_rate), (calls, by_calls) = nodes.values()
    factors = np.ones(1) if widest == "rate" else days.rate_factor(rate)
    load = lam * (np.ones(1) if widest == "calls" else days.arrival_factor(calls))
    excess = 0.0
    for m, chance in zip(present, chances, strict=True):
        if widest == "roster":
            over = _over_gamma_capacity(load[:, np.newaxis] / factors, int(m), law) * factors
            excess += float(chance * (by_calls @ over @ by_rate))
            continue
        capacity = law.capacity_at_score(int(m), score)
        if widest == "rate":
            over = _over_lognormal(load[:, np.newaxis], capacity, days.rate_log_sd)
            excess += float(chance * (by_calls @ over @ by_roster))
        else:
            over = _over_gamma_calls(lam, capacity[:, np.newaxis] * factors, days.arrival_cv)
            excess += float(chance * (by_roster @ over @ by_rate))
    return _limit(lam, excess, theta)


def _limit(lam: float, excess: float, theta: float) -> Fluid:
    if excess == 0 or lam == 0:
        return Fluid(0.0, 0.0, 0.0)
    queue = excess / theta if theta > 0 else math.inf
    return Fluid(excess / lam if theta > 0 else 0.0, queue, queue / lam)


def _over_lognormal(load: Vector, capacity: Vector, t: float) -> Vector:
    """E (load - Z capacity)^+, log Z normal with mean -t^2 / 2 and standard deviation t."""
    with np.errstate(divide="ignore"):
        d = (np.log(load) - np.log(capacity)) / t + t / 2
    return load * ndtr(d) - capacity * ndtr(d - t)


def _over_gamma_capacity(load: Vector, agents: int, law: RateLaw) -> Vector:
    """E (load - S)^+ for the gamma capacity S of so many agents."""
    if agents == 0:
        return load
    shape, scale = agents / law.cv**2, law.mean * law.cv**2
    below, weighted = gammainc(shape, load / scale), gammainc(shape + 1, load / scale)
    return np.asarray(load * below - agents * law.mean * weighted)


def _over_gamma_calls(lam: float, capacity: Vector, cv: float) -> Vector:
    """E (A lam - capacity)^+ for a gamma factor A of mean 1."""
    shape = 1 / cv**2
    at = shape * capacity / lam
    return np.asarray(lam * gammaincc(shape + 1, at) - capacity * gammaincc(shape, at))
