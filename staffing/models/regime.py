"""Quality-driven, balanced or efficiency-driven: the regime of a roster, and its chances before the roster is known."""

import math
from collections.abc import Callable, Mapping
from typing import Literal

Regime = Literal["QD", "QED", "ED"]


def safety(arrival_rate: float, mean_rate: float, capacity: float) -> float:
    """Safety staffing beta_S = (S - lam) / sqrt(lam mean rate) of a roster of capacity S; lam > 0."""
    return (capacity - arrival_rate) / math.sqrt(arrival_rate * mean_rate)


def classify(beta: float, *, bound: float = 2.0) -> Regime:
    """QD above `bound`, ED below minus `bound`, QED between: a convention for one finite system."""
    return "QD" if beta > bound else "ED" if beta < -bound else "QED"


def regime_probabilities(
    arrival_rate: float, mean_rate: float, capacity_cdf: Callable[[float], float], *, bound: float = 2.0
) -> Mapping[Regime, float]:
    """The chances of the three regimes over rosters; arrival_rate > 0.

    Exact for the law of capacity, whose distribution function is given: beta_S is a function of the capacity alone.
    """
    step = bound * math.sqrt(arrival_rate * mean_rate)
    # A capacity on the bound itself, as a certain one may be, is balanced.
    low, high = capacity_cdf((arrival_rate - step) * (1 - 1e-11)), capacity_cdf(arrival_rate + step)
    return {"QD": 1.0 - high, "QED": high - low, "ED": low}
