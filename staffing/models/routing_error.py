"""How far the death rates of a routing rule can be wrong: bounds measured against exact chains."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from staffing.models.performance import MEASURES, MethodError
from staffing.models.routing import EXACT_ROUTINGS, Rule, WeightedRandom
from staffing.models.shared_queue import Callers, Vector, log_queue

RARE = 0.2
"""P(wait) below which the approximations are at their worst, and the method says so."""

_ALIKE = 1e-12
"""A CV that is none but for rounding."""


def routing_method(rule: Rule, wait_probability: float, callers: Callers) -> str:
    """What the answers for one roster under a rule are called."""
    if rule in EXACT_ROUTINGS:
        return "death rates of Poisson calls" if callers.bursty else "exact roster"
    if rule == "least-occupied":
        method = "equal idle shares"
    elif isinstance(rule, WeightedRandom):
        method = "odds of idleness"
    else:
        method = "recursive lumping"
    return f"{method}, least accurate as P(wait) < {RARE:g}" if wait_probability < RARE else method


def is_exact(rule: Rule, agents: int, cv: float) -> bool:
    """Whether a roster whose rates have this CV has its exact law under the rule."""
    priority = not isinstance(rule, WeightedRandom) and rule != "least-occupied"
    return rule in EXACT_ROUTINGS or cv < _ALIKE or agents <= (2 if priority else 1)


def routing_error(
    rule: Rule,
    agents: int,
    cv: Vector,
    values: Mapping[str, Vector],
    callers: Callers,
    capacities: Vector,
) -> dict[str, Vector]:
    """Bounds per measure of rosters of so many agents, whose rates have these CVs; arrays of one roster each.

    All measures but occupancy depend on the idle states only through their sum against "all busy, nobody waits".
    With L = -log P(all busy, had the queue no room), the log of that sum was seen to err by less than

        .02 cv L^2                               priority lists and fastest-first, which has it too large
        .01 cv L^2                               slowest-first, which has it too small
        |a| (.07 + .11 max(a, 0)) cv L           weighted by rate^a; half of it from ten agents on
        .8 cv^2 L / sqrt(n)                      least-occupied

    An error e of that log is one of at most exp((1 - P(wait)) e) - 1 of P(wait), and of all that is
    proportional to it; blocking is, where there is a limit.

    Measured against the exact chain of 2 to 10 agents (gamma and two-point rates, CV .1 to 1, loads .1 to 1.5), against
    exact chains of two and three pools of 20 to 200 agents, and, for least-occupied, against simulations of 2 to 100
    agents. Priorities usually err by a sixth to a half of their bound. Least-occupied errs most where its agents cannot
    be idle for equal shares of time: few, and far from alike.
    """
    waits = values["wait_probability"]
    busy = waits + values["blocking_probability"]
    some_idle = 1.0 - busy
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log_odds = np.log(some_idle / busy) + log_queue(callers, agents, capacities)
        surprise = np.where(busy < 1, np.logaddexp(0.0, log_odds), 0.0)
        drift, idle_share = _drifts(rule, agents, cv, surprise)
        relative = np.expm1(np.minimum(some_idle * drift, 700.0))
        lost = values["abandonment_probability"] + values["blocking_probability"]
        per_answered = relative / np.maximum(1.0 - lost, 1e-9)
        late = 1.0 - values["service_level_offered"]
        idle = (1.0 - values["occupancy"]) * np.minimum(relative * busy / some_idle, 1.0)
        error = {
            "wait_probability": waits * relative,
            "mean_wait": values["mean_wait"] * relative,
            "mean_wait_answered": values["mean_wait_answered"] * per_answered,
            "mean_queue": values["mean_queue"] * relative,
            "abandonment_probability": values["abandonment_probability"] * relative,
            "blocking_probability": values["blocking_probability"] * relative,
            "service_level_offered": late * relative,
            "service_level_answered": (late + lost) * per_answered,
            "service_level_virtual": (1.0 - values["service_level_virtual"]) * relative,
            "occupancy": some_idle * idle_share + idle,
            "capacity_utilisation": values["capacity_utilisation"] * lost * per_answered,
            "throughput": values["throughput"] * lost * per_answered,
        }
    for measure, bound in error.items():
        # A queue that grows without end, or a P(wait) below the least number there is, is known as it is.
        known = np.where(np.isfinite(values[measure]) & (some_idle > 0), np.nan_to_num(bound), 0.0)
        share = "prob" in measure or "level" in measure or measure in ("occupancy", "capacity_utilisation")
        error[measure] = np.minimum(known, 1.0) if share else known
    return error


def rate_cv(rates: Vector) -> float:
    """The CV of the rates of a roster; 0 of nobody's."""
    return float(rates.std() / rates.mean()) if rates.size else 0.0


def roster_error(
    rule: Rule, rates: Vector, values: Mapping[str, float], callers: Callers
) -> dict[str, MethodError]:
    """Bounds per measure for one roster."""
    cv = rate_cv(rates)
    if is_exact(rule, rates.size, cv):
        return dict.fromkeys(MEASURES, "exact")
    callers = replace(callers, arrival_scv=1.0)  # bounds were measured so
    arrays = {measure: np.array([value]) for measure, value in values.items()}
    bounds = routing_error(rule, rates.size, np.array([cv]), arrays, callers, np.array([rates.sum()]))
    error: dict[str, MethodError] = {measure: float(bound[0]) for measure, bound in bounds.items()}
    return error if callers.max_calls is not None else error | {"blocking_probability": "exact"}


def with_routing_error(
    error: Mapping[str, MethodError],
    rule: Rule,
    agents: int,
    cv: Vector,
    values: Mapping[str, Vector],
    callers: Callers,
    capacities: Vector,
    weights: Vector,
) -> dict[str, MethodError]:
    """Stated errors of an average over rosters with these weights, and on top the mean of the rule's bounds."""
    result = dict(error)
    if is_exact(rule, agents, 1.0):
        return result
    callers = replace(callers, arrival_scv=1.0)  # bounds were measured so
    for measure, bound in routing_error(rule, agents, cv, values, callers, capacities).items():
        mean, stated = float(weights @ bound), error[measure]
        if mean > 0:
            result[measure] = mean + (stated if isinstance(stated, float) else 0.0)
    return result


def _drifts(rule: Rule, agents: int, cv: Vector, surprise: Vector) -> tuple[Vector, Vector]:
    """Bounds on the error of the log of the idle states' sum, and of the share of agents idle if any is."""
    if isinstance(rule, WeightedRandom):
        strength = abs(rule.power) * (0.07 + 0.11 * max(rule.power, 0.0)) * cv
        return strength * surprise / (2.0 if agents >= 10 else 1.0), 0.8 * strength
    if rule == "least-occupied":
        strength = 0.8 * cv**2 / math.sqrt(agents)
        return strength * surprise, 0.3 * strength
    share = 0.012 * cv + 0.015 * cv**2
    return (0.01 if rule == "slowest-first" else 0.02) * cv * surprise**2, share
