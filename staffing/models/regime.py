"""Quality-driven, balanced or efficiency-driven: the regime of a roster, and its chances before the roster is known."""

import math
from collections.abc import Callable, Mapping
from typing import Literal

from staffing.models.arguments import number, positive
from staffing.models.errors import ScenarioError

Regime = Literal["QD", "QED", "ED"]

LOWER, UPPER = -2.0, 2.0
"""Bounds of balance, a convention for one finite system: in the limit every other safety is infinite."""


def safety(arrival_rate: float, mean_rate: float, capacity: float) -> float:
    """Safety staffing beta_S = (S - lam) / sqrt(lam mean rate) of a roster of capacity S.

    Raises
    ------
    ScenarioError
        If the arrival rate or the mean rate is not above 0 and finite, or the capacity is not a number.
    """
    return (number("capacity", capacity) - arrival_rate) / _step(arrival_rate, mean_rate)


def classify(beta: float, *, lower: float = LOWER, upper: float = UPPER) -> Regime:
    """QD above the upper bound, ED below the lower one, QED between and on them.

    Raises
    ------
    ScenarioError
        If the safety or a bound is not a number, or the lower bound is above the upper.
    """
    beta, (low, high) = number("beta", beta), _bounds(lower, upper)
    return "QD" if beta > high else "ED" if beta < low else "QED"


def regime_probabilities(
    arrival_rate: float,
    mean_rate: float,
    capacity_cdf: Callable[[float], float],
    *,
    lower: float = LOWER,
    upper: float = UPPER,
) -> Mapping[Regime, float]:
    """The chances of the three regimes over rosters, and days; arrival_rate > 0.

    Exact for the law of capacity, whose distribution function is given: beta_S is a function of the capacity alone.
    Where days differ, give the law of capacity against a mean day's calls, Z S / A, as `UncertainDays` has it: then
    a day counts as if its calls were a mean day's and its capacity so much more or less.

    Raises
    ------
    ScenarioError
        As `classify`, or if the arrival rate or the mean rate is not above 0 and finite.
    """
    (low, high), step = _bounds(lower, upper), _step(arrival_rate, mean_rate)
    # A capacity on a bound itself, as a certain one may be, is balanced.
    below = capacity_cdf((arrival_rate + low * step) * (1 - 1e-11))
    up_to = max(capacity_cdf(arrival_rate + high * step), below)
    return {"QD": 1.0 - up_to, "QED": up_to - below, "ED": below}


def _step(arrival_rate: float, mean_rate: float) -> float:
    """The capacity that a safety of 1 is."""
    return math.sqrt(positive("arrival_rate", arrival_rate) * positive("mean_rate", mean_rate))


def _bounds(lower: float, upper: float) -> tuple[float, float]:
    low, high = number("lower", lower), number("upper", upper)
    if low > high:
        raise ScenarioError(
            f"lower: {lower!r} is above upper, {upper!r}; balance lies between the two, so give the lesser as lower"
        )
    return low, high
