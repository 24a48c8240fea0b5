"""What the observed rates of agents say about the other fields of a scenario."""

from collections.abc import Mapping
from typing import Any


def implied_by(values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that observed rates determine; none without them.

    The mean handle time is 3600 / m and the coefficient of variation sqrt(mean((rate - m)^2)) / m, where m is the
    mean of the rates. Both come from exact sums, so they do not depend on the order of the agents, and agents alike
    have a coefficient of variation of exactly 0.
    """
    rates = values.get("observed_rates_per_hour")
    if rates is None:
        return {}
    from statistics import mean, pstdev

    average = mean(rates)
    return {
        "mean_handle_seconds": 3600 / average,
        "rate_cv": pstdev(rates) / average,
        "rate_law": "observed",
    }
