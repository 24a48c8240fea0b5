"""How far the chain of renewal arrivals can be wrong: for unlike agents, and for gaps of another law."""

import math
from collections.abc import Mapping

from staffing.models.performance import MEASURES, MethodError
from staffing.models.renewal_gaps import RenewalGaps
from staffing.models.routing import EXACT_ROUTINGS, Rule
from staffing.models.shared_queue import Callers

_LEAST_SCV = 0.01


def arrival_error(
    agents: int,
    ca2: float,
    values: Mapping[str, float],
    *,
    rate_cv: float = 0.0,
    by_rate: bool = False,
) -> dict[str, MethodError]:
    """Bounds per measure for gaps of the stated law: nothing for agents who are alike, from ca2 = .01 on.

    With unlike agents the death rates are those of Poisson calls, which bursts change a little. While all agents are
    busy only their capacity matters: the wait of those who wait stays exact, and all follows from the error of
    P(wait). Measured against exact chains of two kinds of agents, 2 to 200 of them (rates .2 to 1.3 times the mean of
    the many, CV up to .6), loads .5 to 1.3, mean patience .5 to 10 services, ca2 .1 to 25: P(wait) errs by at most
    .02 rate_cv^2, and at fixed (n - load) / sqrt(n) by 1 / n in the limit; the bound is .03 rate_cv^2
    min(1, |ca2 - 1| / sqrt(max(ca2, 1) n)). Longest-idle-first errs by less than random routing, in which that was
    measured. With fixed priorities, 2 to 60 agents, by .3 rate_cv^2, their own error under Poisson calls included.

    Parameters
    ----------
    agents : int
        n, >= 0.
    ca2 : float
        Squared CV of the times between calls, >= 0; the chain takes what is below .01 for .01.
    values : mapping
        Every measure by its name.
    rate_cv : float
        CV of the agents' rates, >= 0.
    by_rate : bool
        Whether routing looks at the agents' rates, as it does neither for the longest idle nor at random.
    """
    uneven = abs(ca2 - 1.0)
    capped = max(_LEAST_SCV - ca2, 0.0)
    c2 = rate_cv**2 if agents > 1 else 0.0
    shrinking = min(1.0, uneven / math.sqrt(max(ca2, 1.0) * max(agents, 1)))
    if by_rate:
        waits = busy = 0.4 * c2 * uneven / (1 + ca2)
    else:
        waits, busy = 0.03 * c2 * shrinking, 0.1 * c2 * shrinking
    waits, busy = min(waits + 0.5 * capped, 1.0), min(busy + 0.2 * capped, 1.0)
    if waits == 0.0:
        return dict.fromkeys(MEASURES, "exact")
    return _following(waits, 1.2 * capped, busy, values)


def with_arrival_error(
    error: Mapping[str, MethodError],
    callers: Callers,
    agents: int,
    rule: Rule,
    cv: float,
    values: Mapping[str, float],
) -> dict[str, MethodError]:
    """Stated errors of agents whose rates have this CV, and on top those of calls that are not Poisson."""
    result = dict(error)
    if not callers.bursty or callers.arrival_rate == 0:
        return result
    by_rate = rule not in (*EXACT_ROUTINGS, "least-occupied")
    more = arrival_error(agents, callers.arrival_scv, values, rate_cv=cv, by_rate=by_rate)
    for measure, added in more.items():
        stated = result[measure]
        if isinstance(added, float) and stated != "unknown":
            result[measure] = added + (stated if isinstance(stated, float) else 0.0)
    return result


def gap_law_error(
    agents: int,
    ca2: float,
    third_moment: float,
    values: Mapping[str, float],
    abandonment_rate: float,
) -> dict[str, MethodError]:
    """By how much measures may change if gaps follow another law of the same mean and squared CV.

    With D = |change of E[T^3] / E[T]^3| / (1 + ca2), the mean queue changes by at most .12 D callers however many
    agents there are, P(wait) by .09 D / sqrt(max(ca2, 1) n): the limit of many agents knows ca2 alone. Measured with
    exact chains of 5 to 300 agents, loads .7 to 1.3, mean patience .5 to 10 services: gaps with the third moment
    of the gamma and of the lognormal law, ca2 2 to 25, and mixtures of an exponential and an Erlang law, ca2 .25 to .5.

    Parameters
    ----------
    agents : int
        n, >= 0.
    ca2 : float
        Squared CV of the times between calls, >= 0.
    third_moment : float
        E[T^3] / E[T]^3 of the other law.
    values : mapping
        Every measure by its name.
    abandonment_rate : float
        1 / mean patience, >= 0.
    """
    lam = values["throughput"] / max(1.0 - values["abandonment_probability"], 1e-9)
    change = abs(third_moment - RenewalGaps(ca2).third_moment) / (1.0 + ca2)
    waits = 0.09 * change / math.sqrt(max(ca2, 1.0) * max(agents, 1))
    queue = 0.12 * change
    wait = queue / lam if lam > 0 else 0.0
    lost = min(abandonment_rate * wait if abandonment_rate < math.inf else waits, 1.0)
    in_time = min(1.7 * waits, 1.0)
    return {
        "wait_probability": min(waits, 1.0),
        "mean_wait": wait,
        "mean_wait_answered": "unknown",
        "mean_queue": queue,
        "abandonment_probability": lost,
        "blocking_probability": "exact",
        "service_level_offered": in_time,
        "service_level_answered": "unknown",
        "service_level_virtual": in_time,
        "occupancy": lost,
        "capacity_utilisation": lost,
        "throughput": lost * lam,
    }


def _following(
    waits: float, share: float, busy: float, values: Mapping[str, float]
) -> dict[str, MethodError]:
    """Bounds of all measures from those of P(wait), of the wait of those who wait (as a share) and of occupancy."""
    chance = values["wait_probability"]
    relative = waits / chance + share if chance > 0 else 0.0
    lost = min(values["abandonment_probability"] * relative, waits + share, 1.0)
    answered = max(1.0 - values["abandonment_probability"], 1e-9)
    errors: dict[str, MethodError] = {
        "wait_probability": waits,
        "abandonment_probability": lost,
        "blocking_probability": "exact",
        "service_level_offered": waits,
        "service_level_answered": min(waits / answered, 1.0),
        "service_level_virtual": waits,
        "occupancy": busy,
        "capacity_utilisation": lost * values["capacity_utilisation"] / answered,
        "throughput": lost * values["throughput"] / answered,
    }
    for measure in ("mean_wait", "mean_queue", "mean_wait_answered"):
        more = lost / answered if measure == "mean_wait_answered" else 0.0
        errors[measure] = values[measure] * (relative + more) if math.isfinite(values[measure]) else "exact"
    return errors
