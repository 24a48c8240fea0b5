"""How far the diffusion averaged over rosters and days can be wrong."""

from collections.abc import Mapping

import numpy as np

from staffing.models.closure_error import closure_error
from staffing.models.days import Days
from staffing.models.diffusion.diffusion_error import diffusion_error
from staffing.models.kinds_of_days import Kinds
from staffing.models.performance import MEASURES, MethodError, measures
from staffing.models.rate_laws import RateLaw
from staffing.models.routing import EXACT_ROUTINGS, Rule
from staffing.models.routing_error import routing_error
from staffing.models.shared_queue import Callers, Vector

QUADRATURE_ERROR = 1e-3
"""Of any mean over days, as a share of it: three times what the mean queue was seen to err by."""
_BY_TIME = ("mean_queue", "throughput")


def annealed_error(
    callers: Callers,
    law: RateLaw,
    days: Days,
    rule: Rule,
    agents: int,
    kinds: Kinds,
    rows: Vector,
    values: Mapping[str, float],
) -> dict[str, MethodError]:
    """Bounds per measure: the mean of `diffusion_error`, and what the closure it was held against misses itself.

    Parameters
    ----------
    callers, law, days
        As for `DrawnDiffusion`.
    rule : str
        longest-idle, random or least-occupied.
    agents : int
        n >= 1, those scheduled.
    kinds, rows
        What the mean is over, and the rows of sums of each.
    values : mapping
        The means.
    """
    exact = rule in EXACT_ROUTINGS
    lam, c2 = callers.arrival_rate * kinds.calls, law.cv**2 if exact else 0.0
    by_day = measures(
        list(rows[:, :-1].T),
        arrival_rate=lam,
        agents=kinds.present.astype(np.float64),
        capacity=kinds.capacities,
    )
    bounds = diffusion_error(
        by_day,
        arrival_rate=lam,
        abandonment_rate=callers.abandonment_rate,
        agents=kinds.present,
        capacities=kinds.capacities,
        c2=c2,
    )
    present = max(round(days.mean_present(agents)), 1)
    error = closure_error(law, present, values, given_capacity=exact, patience=callers.mean_patience)
    by_calls = _in_proportion(kinds.weights * kinds.calls)
    # Occupancy is the mean busy over the mean present, utilisation likewise: a day counts by those it has.
    by_present, by_capacity = (
        _in_proportion(kinds.weights * had) for had in (kinds.present, kinds.capacities)
    )
    shares = {
        **dict.fromkeys(MEASURES, by_calls),
        **dict.fromkeys(_BY_TIME, kinds.weights),
        "occupancy": by_present,
        "capacity_utilisation": by_capacity,
    }
    routed = {} if exact or law.alike else _routed(rule, law, callers, present, kinds, by_day)
    result: dict[str, MethodError] = {}
    for measure in MEASURES:
        stated = error[measure]
        weights = shares[measure]
        total = float(weights @ bounds[measure]) + (stated if isinstance(stated, float) else 0.0)
        if measure in routed:
            total += float(weights @ routed[measure])
        if not days.alike and np.isfinite(values[measure]):
            total += QUADRATURE_ERROR * values[measure]
        result[measure] = total if total > 0 and np.isfinite(values[measure]) else "exact"
    return result


def _in_proportion(parts: Vector) -> Vector:
    return np.asarray(parts / parts.sum())


def _routed(
    rule: Rule, law: RateLaw, callers: Callers, agents: int, kinds: Kinds, by_day: Mapping[str, Vector]
) -> dict[str, Vector]:
    """What a rule's own closure misses, on each kind of day."""
    result = {measure: np.zeros(kinds.weights.size) for measure in MEASURES}
    for factor in np.unique(kinds.calls):
        these = kinds.calls == factor
        bounds = routing_error(
            rule,
            agents,
            np.full(int(these.sum()), law.cv),
            {measure: value[these] for measure, value in by_day.items()},
            callers.replace_rate(callers.arrival_rate * float(factor)),
            kinds.capacities[these],
        )
        for measure, bound in bounds.items():
            result[measure][these] = bound
    return result
