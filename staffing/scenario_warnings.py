"""What is allowed in a scenario and yet looks like a slip, above all of units."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from staffing.field_kinds import written

if TYPE_CHECKING:
    from staffing.scenario import Scenario

LARGE_LOAD = 5000  # erlangs
HALF_HOUR = 1800.0


def doubts(scenario: "Scenario") -> Iterator[str]:
    """One line for each doubt; none for an ordinary scenario."""
    yield from _calls_and_handle_time(scenario)
    yield from _patience(scenario.mean_patience_seconds)
    for name in ("service_level_seconds", "max_mean_wait_seconds"):
        seconds = getattr(scenario, name)
        if seconds is not None and 0 < seconds < 1:
            yield f"{name} = {written(seconds)} is under a second: {_if_minutes(seconds)}"


def _calls_and_handle_time(scenario: "Scenario") -> Iterator[str]:
    handle, calls, load = scenario.mean_handle_seconds, scenario.calls_per_hour, scenario.offered_load
    if calls == 0:
        yield "calls_per_hour = 0: nobody is needed; service level 1 and wait 0 are conventions"
    if handle < 15 or handle > 3600 or load > LARGE_LOAD:
        if handle < 15:
            question = f"is the handle time in seconds? {_if_minutes(handle)}"
        elif handle > 3600:
            question = f"is the handle time in seconds? it means {handle / 60:.4g} minutes a call"
        else:
            question = "are the calls per hour, and the handle time in seconds?"
        yield (
            f"the load is {load:.6g} erlangs (agents busy at once): calls_per_hour = {written(calls)}, "
            f"mean_handle_seconds = {written(handle)}; {question}"
        )
    if handle > HALF_HOUR:
        yield (
            f"mean_handle_seconds = {written(handle)} is longer than a half-hour interval: the steady state "
            "answered here is hardly reached within one"
        )


def _patience(seconds: float) -> Iterator[str]:
    if seconds == 0:
        yield "mean_patience_seconds = 0: callers who find nobody free are lost (Erlang B)"
    elif seconds < 3:
        yield f"mean_patience_seconds = {written(seconds)} is very short: {_if_minutes(seconds)}"


def _if_minutes(seconds: float) -> str:
    return f"if minutes are meant, write {written(seconds * 60)}"
