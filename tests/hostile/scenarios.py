"""Scenarios from the whole domain, ordinary and absurd, as fields by name."""

import math
from random import Random

NAMES = (
    "",
    "Monday 10:00",
    "=1+1",
    "@SUM(A1:A9)",
    "-2+3",
    "+49 30 1234",
    'the "big" one, a;b',
    "'quoted'",
    " =cmd|' /C calc'!A0",
    "Zürich — 月曜日 🎧",
    "\\u0041 % {} %s",
    "x" * 200,
    "long words " * 18,
)
LAWS = ("gamma", "gamma", "gamma", "lognormal", "uniform", "two-point", "observed", "observed", "fixed")
SLOWEST, FASTEST = 3600 / 1e6, 3600 / 0.001  # calls per busy hour that a rate may be
SCATTERS = (0.0, 1e-12, 1e-6, 0.05, 0.2, 0.2, 0.5, 1.0, 3.0)
"""Standard deviations of the logarithm of observed rates."""


def fields_of(random: Random) -> dict[str, object]:
    """Fields of one scenario.

    Loads from 0.001 to 100,000 erlangs and none; every law of rates, at CVs from 0 to the most it allows; patience from
    1 s to 1e6 s, 0 and infinite, of any law; every rule of routing; prices over six decades and 0; each promise on or
    off, each definition, thresholds from 0 on; limits on agents and on calls near the load and far from it; days that
    differ and calls that are not Poisson. Some contradict themselves and must be refused.
    """
    load = _decades(random, -3, 5)
    handle = _decades(random, 0, 5) if random.random() < 0.9 else _decades(random, -3, 6)
    patience = random.choice([0.0, math.inf]) if random.random() < 0.2 else _decades(random, 0, 6)
    fields: dict[str, object] = {
        "calls_per_hour": 3600 * load / handle if random.random() > 0.02 else 0.0,
        "mean_patience_seconds": patience,
        **_patience(random),
        **_routing(random, load),
        **_agents(random, load, handle),
        **_costs(random),
        **_promises(random, patience),
        **_limits(random, load),
        **_days(random, load),
        **_bursts(random, load),
    }
    if random.random() < 0.3:
        fields["name"] = random.choice(NAMES)
    return fields


def options_of(random: Random, load: float) -> dict[str, object]:
    """Options of a call: any method, few rosters."""
    method = random.choice([*3 * ["auto"], *5 * ["closure"], "rosters" if load < 30 else "auto"])
    return {"method": method, "rosters": random.choice([100, 101, 137]), "seed": random.randint(0, 9)}


def agents_near(random: Random, load: float) -> int:
    """A number of agents: none, one, many too many, or as many as the load plus or minus some roots of it."""
    odd = random.random()
    if odd < 0.1:
        return random.choice([0, 1, 2])
    if odd < 0.2:
        return min(round(load * _decades(random, -1, 2)), 1_000_000)
    return max(round(load + random.uniform(-4, 4) * math.sqrt(load)), 0)


def _decades(random: Random, low: float, high: float) -> float:
    return float(10 ** random.uniform(low, high))


def _price(random: Random, free: float) -> float:
    return 0.0 if random.random() < free else _decades(random, -3, 3)


def _agents(random: Random, load: float, handle: float) -> dict[str, object]:
    law = random.choice(LAWS)
    if law in ("observed", "fixed"):
        count = random.randint(1, 5) if random.random() < 0.5 else random.randint(6, 60)
        if law == "fixed":
            count = min(count + random.choice([0, math.ceil(load)]), 300)
        scatter = random.choice(SCATTERS)
        rates = [
            min(max(3600 / handle * _scattered(random, scatter), SLOWEST), FASTEST) for _ in range(count)
        ]
        return {"observed_rates_per_hour": rates} | ({"roster": "fixed"} if law == "fixed" else {})
    most = {"uniform": 1 / math.sqrt(3), "two-point": 0.999}.get(law, 1.0)
    cv = random.choice([0.0, 0.2, _decades(random, -12, 0) * most, random.uniform(0, most)])
    if random.random() < 0.1:
        cv = random.choice([most, most, most, 1.0])  # which not every law takes
    fields = {"mean_handle_seconds": handle, "rate_law": law}
    return fields if random.random() < 0.1 else {**fields, "rate_cv": cv}


def _patience(random: Random) -> dict[str, object]:
    """Rarely any law but the exponential: its plans take a second."""
    if random.random() > 0.02:
        return {}
    law = random.choice(["deterministic", "gamma", "hyperexponential", "lognormal", "weibull", "curve"])
    if law == "curve":
        points = [(0.0, 1.0)]
        for _ in range(random.randint(1, 5)):
            time, share = points[-1]
            points.append((time + _decades(random, -1, 3), share * random.uniform(0, 0.99)))
        return {"patience_curve": points, "mean_patience_seconds": None}
    scv = {} if law == "deterministic" else {"patience_scv": _decades(random, -3, 2)}
    return {"patience_law": law, **scv}


def _routing(random: Random, load: float) -> dict[str, object]:
    """Rules of priority at small loads only, where they do not take long."""
    if random.random() > 0.1:
        return {}
    rules = ["random", "least-occupied", *(["fastest-first", "slowest-first"] if load < 10 else [])]
    return {"routing": random.choice(rules)}


def _scattered(random: Random, scatter: float) -> float:
    """Not far from the normal's exponential, in two draws."""
    return math.exp(scatter * 2.4 * (random.random() + random.random() - 1))


def _costs(random: Random) -> dict[str, object]:
    fields = {
        "agent_cost_per_hour": _price(random, 0.05),
        "waiting_cost_per_hour": _price(random, 0.4),
        "abandonment_cost": _price(random, 0.4),
    }
    return {name: price for name, price in fields.items() if random.random() > 0.1}


def _promises(random: Random, patience: float) -> dict[str, object]:
    fields: dict[str, object] = {}
    if random.random() < 0.5:
        fields["min_service_level"] = random.choice(
            [0.8, random.uniform(0.01, 0.99), _decades(random, -9, 0), 1 - _decades(random, -9, -1)]
        )
    if random.random() < 0.6:
        fields["service_level_seconds"] = random.choice([0.0, 20.0, 1e6, _decades(random, -3, 6)])
    if random.random() < 0.6:
        fields["service_level_definition"] = random.choice(["offered", "answered", "virtual"])
    if random.random() < 0.3:
        fields["max_abandonment"] = random.choice(
            [0.05, 0.0 if patience == math.inf else 0.1, _decades(random, -9, -0.01)]
        )
    if random.random() < 0.3:
        fields["max_mean_wait_seconds"] = random.choice(
            [15.0, 0.0 if patience == 0 else 1.0, _decades(random, -3, 6)]
        )
    if random.random() < 0.02:
        fields |= {"max_abandonment": 0.0, "max_mean_wait_seconds": 0.0}  # which only some patience allows
    if random.random() < 0.3:
        fields["max_occupancy"] = random.choice(
            [0.85, random.uniform(0.01, 0.999), 1 - _decades(random, -9, -1)]
        )
    return fields


def _limits(random: Random, load: float) -> dict[str, object]:
    fields: dict[str, object] = {}
    if random.random() < 0.15:
        fields["min_agents"] = agents_near(random, load)
    if random.random() < 0.25:
        fields["max_agents"] = agents_near(random, load) + random.randint(0, 9)
    if random.random() < 0.03:
        fields["max_calls"] = agents_near(random, load) + random.choice([0, 1, 9, 1000])
    if random.random() < 0.3:
        fields["shrinkage"] = random.choice([0.3, 0.99, random.uniform(0, 0.99), _decades(random, -12, -1)])
    return fields


def _days(random: Random, load: float) -> dict[str, object]:
    """Rarely, and at moderate loads: their plans take a second."""
    if random.random() > 0.02 or load > 1000:
        return {}
    cvs = {name: random.choice([0.0, 0.1, random.random()]) for name in ("rate_day_cv", "arrival_cv")}
    return {**cvs, "absence": random.choice([0.0, 0.05, random.uniform(0, 0.6)])}


def _bursts(random: Random, load: float) -> dict[str, object]:
    """Rarely, and at moderate loads: their chains have a state for each call there may be."""
    if random.random() > 0.02 or load > 1000:
        return {}
    return {"arrival_scv": random.choice([0.0, 1.0, 0.3, 4.0, _decades(random, -3, 2)])}
