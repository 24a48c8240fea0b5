"""What is allowed in a scenario and yet looks like a slip, above all of units."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from staffing.field_kinds import written

if TYPE_CHECKING:
    from staffing.scenario import Scenario

LARGE_LOAD = 5000  # erlangs
HALF_HOUR = 1800.0
FEW_RATES = 5
UNLIKE_RATES = 20


def doubts(scenario: "Scenario") -> Iterator[str]:
    """One line for each doubt; none for an ordinary scenario."""
    yield from _calls_and_handle_time(scenario)
    yield from _observed_rates(scenario)
    yield from _patience(scenario.mean_patience_seconds)
    for name in ("service_level_seconds", "max_mean_wait_seconds"):
        seconds = getattr(scenario, name)
        if seconds is not None and 0 < seconds < 1:
            yield f"{name} = {written(seconds)} is under a second: {_if_minutes(seconds)}"


def _calls_and_handle_time(scenario: "Scenario") -> Iterator[str]:
    handle, calls, load = scenario.mean_handle_seconds, scenario.calls_per_hour, scenario.offered_load
    observed = scenario.observed_rates_per_hour is not None
    what = "are the rates calls per busy hour" if observed else "is the handle time in seconds"
    if calls == 0:
        yield "calls_per_hour = 0: nobody is needed; service level 1 and wait 0 are conventions"
    if handle < 15 or handle > 3600 or load > LARGE_LOAD:
        if handle < 15:
            hint = (
                "if they are handle times in seconds, give 3600 / each" if observed else _if_minutes(handle)
            )
            question = f"{what}? {hint}"
        elif handle > 3600:
            question = f"{what}? it means {handle / 60:.4g} minutes a call"
        else:
            question = f"are the calls per hour, and {what}?"
        yield (
            f"the load is {load:.6g} erlangs (agents busy at once): calls_per_hour = {written(calls)}, "
            f"mean_handle_seconds = {handle:.6g}; {question}"
        )
    if handle > HALF_HOUR:
        yield (
            f"mean_handle_seconds = {handle:.6g} is longer than a half-hour interval: the steady state "
            "answered here is hardly reached within one"
        )


def _observed_rates(scenario: "Scenario") -> Iterator[str]:
    rates = scenario.observed_rates_per_hour
    if rates is None:
        return
    if len(rates) < FEW_RATES and scenario.roster == "drawn":
        yield (
            f"observed_rates_per_hour has {len(rates)} only: rosters drawn from so few say little about the agents "
            "one may get; give more, or roster = 'fixed' if these are the agents"
        )
    slowest, fastest = min(rates), max(rates)
    if fastest > UNLIKE_RATES * slowest:
        yield (
            f"observed_rates_per_hour runs from {slowest:.6g} to {fastest:.6g}, {fastest / slowest:.3g} times as "
            "much: are all of them calls per busy hour?"
        )


def _patience(seconds: float) -> Iterator[str]:
    if seconds == 0:
        yield "mean_patience_seconds = 0: callers who find nobody free are lost (Erlang B)"
    elif seconds < 3:
        yield f"mean_patience_seconds = {written(seconds)} is very short: {_if_minutes(seconds)}"


def _if_minutes(seconds: float) -> str:
    return f"if minutes are meant, write {written(seconds * 60)}"
