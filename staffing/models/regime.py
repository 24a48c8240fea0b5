"""Quality-driven, balanced or efficiency-driven: the regime of a roster, and its chances before the roster is known."""

import math
from collections.abc import Mapping
from typing import Literal

from staffing.models.rate_laws import GammaRates

Regime = Literal["QD", "QED", "ED"]


def safety(arrival_rate: float, mean_rate: float, capacity: float) -> float:
    """Safety staffing beta_S = (S - lam) / sqrt(lam mean rate) of a roster of capacity S; lam > 0."""
    return (capacity - arrival_rate) / math.sqrt(arrival_rate * mean_rate)


def classify(beta: float, *, bound: float = 2.0) -> Regime:
    """QD above `bound`, ED below minus `bound`, QED between: a convention for one finite system."""
    return "QD" if beta > bound else "ED" if beta < -bound else "QED"


def regime_probabilities(
    arrival_rate: float, law: GammaRates, agents: int, *, bound: float = 2.0
) -> Mapping[Regime, float]:
    """The chances of the three regimes over rosters of `agents` agents; arrival_rate > 0.

    Exact for the law of capacity: beta_S is a function of the capacity alone.
    """
    if law.alike:
        certain = classify(safety(arrival_rate, law.mean, agents * law.mean), bound=bound)
        return {"QD": float(certain == "QD"), "QED": float(certain == "QED"), "ED": float(certain == "ED")}
    step = bound * math.sqrt(arrival_rate * law.mean)
    low = law.capacity_cdf(agents, arrival_rate - step)
    high = law.capacity_cdf(agents, arrival_rate + step)
    return {"QD": 1.0 - high, "QED": high - low, "ED": low}
