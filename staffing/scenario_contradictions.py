"""Which values of a scenario's fields are in order one by one and impossible together."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from staffing.field_kinds import Problem, written

LARGEST_LOAD = 1e6  # erlangs


def contradictions(values: Mapping[str, Any]) -> Iterator[Problem]:
    """A problem for each set of values that are in order one by one and impossible together."""
    load = values.get("calls_per_hour", 0) * values.get("mean_handle_seconds", 0) / 3600
    if load > LARGEST_LOAD:
        yield Problem(
            ("calls_per_hour", "mean_handle_seconds"),
            f"the load, calls_per_hour * mean_handle_seconds / 3600 = {written(load)} erlangs, must be at "
            f"most {written(LARGEST_LOAD)}; are the calls per hour and the handle time in seconds?",
        )
    most = values.get("max_agents")
    if most is not None and values.get("min_agents", 0) > most:
        yield Problem(
            ("min_agents", "max_agents"),
            f"min_agents = {values['min_agents']} must be at most max_agents = {most}",
        )
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
