"""Which values of a scenario's fields are in order one by one and impossible together."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from staffing.field_kinds import Problem, written
from staffing.patience_fields import NEED_SCV

UNCERTAINTIES = ("rate_day_cv", "arrival_cv", "absence")
"""Fields by which one day differs from another."""
LARGEST_LOAD = 1e6  # erlangs
MOST_GIVEN = 10_000  # agents, as in `staffing.models.given_agents`
LONGEST_CHAIN = 5e5
LONGEST_CHAIN_OF_DAYS = 1e4
"""States, of calls and of the phases of their gaps, that a chain may have: a level then takes a second."""
LARGEST_UNIFORM_CV = 1 / math.sqrt(3)


def contradictions(
    given: Mapping[str, Any], implied: Mapping[str, Any], by_curve: Mapping[str, Any]
) -> Iterator[Problem]:
    """A problem for each set of values that are in order one by one and impossible together.

    Parameters
    ----------
    given : mapping
        Names and values of the fields given.
    implied, by_curve : mapping
        Names and values of the fields that observed rates and a curve of patience determine.
    """
    yield from _load({**given, **implied}, rates_observed=bool(implied))
    yield from _both(given, implied, "observed_rates_per_hour")
    yield from _rates(given, implied)
    yield from _both(given, by_curve, "patience_curve")
    yield from _patience(given, by_curve)
    yield from _roster(given)
    yield from _days(given)
    yield from _arrivals({**given, **implied, **by_curve})
    yield from _promises(given)


def _load(values: Mapping[str, Any], *, rates_observed: bool) -> Iterator[Problem]:
    load = values.get("calls_per_hour", 0) * values.get("mean_handle_seconds", 0) / 3600
    if load > LARGEST_LOAD:
        units = "and the rates per hour" if rates_observed else "per hour and the handle time in seconds"
        yield Problem(
            ("calls_per_hour", "mean_handle_seconds"),
            f"the load, calls_per_hour * mean_handle_seconds / 3600 = {written(load)} erlangs, must be at "
            f"most {written(LARGEST_LOAD)}; are the calls {units}?",
        )


def _both(given: Mapping[str, Any], implied: Mapping[str, Any], source: str) -> Iterator[Problem]:
    verb = "make" if source.startswith("observed") else "makes"
    for name, value in implied.items():
        if name in given:
            yield Problem(
                (name, source),
                f"{name} = {_shown(given[name])} cannot go with {source}, which {verb} it {_shown(value)}; leave "
                "out one of the two (None takes it back)",
            )


def _patience(given: Mapping[str, Any], by_curve: Mapping[str, Any]) -> Iterator[Problem]:
    law, scv = given.get("patience_law", "exponential"), given.get("patience_scv")
    mean = given.get("mean_patience_seconds")
    if law == "curve" and not by_curve:
        yield Problem(
            ("patience_law", "patience_curve"),
            "patience_law = 'curve' needs patience_curve, a list of (seconds, share of callers who still wait); "
            "give it, or another law",
        )
    elif by_curve and scv is not None:
        yield Problem(
            ("patience_scv", "patience_curve"),
            f"patience_scv = {written(scv)} cannot go with patience_curve; leave out one of the two",
        )
    elif law in NEED_SCV and scv is None:
        yield Problem(
            ("patience_law", "patience_scv"),
            f"patience_law = '{law}' needs patience_scv, the variance of patience over the square of its mean; "
            "give it, or patience_law = 'exponential'",
        )
    elif law not in NEED_SCV and scv is not None and not by_curve:
        yield Problem(
            ("patience_scv", "patience_law"),
            f"patience_scv = {written(scv)} cannot go with patience_law = '{law}', which has one of its own; leave it "
            f"out, or give a patience_law of {', '.join(NEED_SCV[:-1])} or {NEED_SCV[-1]}",
        )
    elif law == "hyperexponential" and scv is not None and scv <= 1:
        yield Problem(
            ("patience_scv", "patience_law"),
            f"patience_scv = {written(scv)} must be above 1 with patience_law = 'hyperexponential'; for less give "
            "patience_law = 'gamma'",
        )
    if mean in (0, math.inf) and law not in ("exponential", "curve"):
        yield Problem(
            ("mean_patience_seconds", "patience_law"),
            f"mean_patience_seconds = {written(mean)} cannot go with patience_law = '{law}': all callers are alike "
            "then; leave out patience_law",
        )


def _rates(given: Mapping[str, Any], implied: Mapping[str, Any]) -> Iterator[Problem]:
    law, cv = given.get("rate_law"), given.get("rate_cv", 0)
    if law == "observed" and not implied:
        yield Problem(
            ("rate_law", "observed_rates_per_hour"),
            "rate_law = 'observed' needs observed_rates_per_hour, a list of the agents' calls per busy hour; "
            "give it, or another law",
        )
    if law == "uniform" and cv > LARGEST_UNIFORM_CV:
        yield Problem(
            ("rate_cv", "rate_law"),
            f"rate_cv = {written(cv)} must be at most {LARGEST_UNIFORM_CV:.3f} with rate_law = 'uniform', beyond "
            "which some rates are negative; give less, or rate_law = 'gamma'",
        )
    if law == "two-point" and cv == 1:
        yield Problem(
            ("rate_cv", "rate_law"),
            "rate_cv = 1 must be below 1 with rate_law = 'two-point', or half the agents never finish a call; "
            "give less, or rate_law = 'gamma'",
        )


def _roster(values: Mapping[str, Any]) -> Iterator[Problem]:
    rates = values.get("observed_rates_per_hour")
    fixed, fewest = values.get("roster") == "fixed", values.get("min_agents", 0)
    if fixed and rates is None:
        yield Problem(
            ("roster", "observed_rates_per_hour"),
            "roster = 'fixed' needs observed_rates_per_hour, the calls per busy hour of each agent; give it, or "
            "leave out roster",
        )
    if fixed and rates is not None and fewest > len(rates):
        yield Problem(
            ("min_agents", "roster"),
            f"min_agents = {fewest} must be at most {len(rates)}, the agents of the fixed roster in "
            "observed_rates_per_hour; give less, or more rates",
        )
    if fixed and rates is not None and len(rates) > MOST_GIVEN:
        yield Problem(
            ("observed_rates_per_hour", "roster"),
            f"observed_rates_per_hour has {len(rates)} rates; with roster = 'fixed' at most {MOST_GIVEN} can be "
            "answered for; leave out roster, to take them as a sample of agents",
        )
    for limit in ("max_agents", "max_calls"):
        most = values.get(limit)
        if most is not None and fewest > most:
            yield Problem(("min_agents", limit), f"min_agents = {fewest} must be at most {limit} = {most}")


def _days(values: Mapping[str, Any]) -> Iterator[Problem]:
    routing = values.get("routing")
    for name in UNCERTAINTIES:
        if not values.get(name):
            continue
        given = f"{name} = {written(values[name])}"
        if values.get("roster") == "fixed":
            yield Problem(
                (name, "roster"),
                f"{given} cannot go with roster = 'fixed': days that differ are answered for agents drawn at random "
                "only; leave out roster, to take the observed rates as a sample of agents",
            )
        if routing in ("fastest-first", "slowest-first"):
            yield Problem(
                (name, "routing"),
                f"{given} cannot go with routing = '{routing}': days that differ are answered by a closure, and it has "
                "none; give longest-idle, random or least-occupied",
            )


def _arrivals(values: Mapping[str, Any]) -> Iterator[Problem]:
    scv = values.get("arrival_scv", 1)
    if scv == 1:
        return
    law, most = values.get("patience_law", "exponential"), values.get("max_calls")
    if law != "exponential":
        field = "patience_curve" if law == "curve" else "patience_law"
        yield Problem(
            ("arrival_scv", field),
            f"arrival_scv = {written(scv)} cannot go with {field}: calls that are not Poisson are answered for "
            "exponential patience only; leave out one of the two",
        )
    if most is not None:
        yield Problem(
            ("arrival_scv", "max_calls"),
            f"arrival_scv = {written(scv)} cannot go with max_calls = {most}: calls that are not Poisson are answered "
            "where any number may wait; leave out one of the two",
        )
    yield from _long_chain(values, scv)


def _long_chain(values: Mapping[str, Any], scv: float) -> Iterator[Problem]:
    """A state for each call that there may be, times the phases of a gap, must be few enough to be summed."""
    rate, handle = values.get("calls_per_hour", 0) / 3600, values.get("mean_handle_seconds", 0)
    patience = values.get("mean_patience_seconds", 0)
    waiting = rate * patience if patience < math.inf else 0.0
    days = any(values.get(name, 0) > 0 for name in UNCERTAINTIES)
    phases = 2 if scv >= 1 else min(max(1 / max(scv, 1e-9), 2), 100)
    most = (LONGEST_CHAIN_OF_DAYS if days else LONGEST_CHAIN) / phases
    if rate * handle + waiting > most:
        yield Problem(
            ("arrival_scv", "calls_per_hour", "mean_patience_seconds"),
            f"arrival_scv = {written(scv)} is answered where at most {most:,.0f} calls come in a mean handle time and "
            f"a mean patience together{', as days differ,' if days else ','} not {_shown(rate * handle + waiting)}; "
            f"give shorter mean_patience_seconds{', a larger arrival_scv' if scv < 1 else ''} or leave out arrival_scv",
        )


def _promises(values: Mapping[str, Any]) -> Iterator[Problem]:
    patience = values.get("mean_patience_seconds")
    if values.get("max_abandonment") == 0 and patience != math.inf:
        yield Problem(
            ("max_abandonment",),
            "max_abandonment = 0 is unattainable with finitely many agents while callers lose patience; "
            "try 0.01",
        )
    if values.get("max_mean_wait_seconds") == 0 and patience != 0:
        yield Problem(
            ("max_mean_wait_seconds",),
            "max_mean_wait_seconds = 0 is unattainable with finitely many agents; try 1",
        )


def _shown(value: float | str) -> str:
    return repr(value) if isinstance(value, str) else f"{value:.6g}"
