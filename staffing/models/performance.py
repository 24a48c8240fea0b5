"""What callers and agents experience: one record for every method, exact, approximate or simulated."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from staffing.models.arguments import number
from staffing.models.errors import ScenarioError

Values = TypeVar("Values", float, NDArray[np.float64])
MethodError = float | Literal["exact", "unknown"]

MEASURES = (
    "wait_probability",
    "mean_wait",
    "mean_wait_answered",
    "mean_queue",
    "abandonment_probability",
    "blocking_probability",
    "service_level_offered",
    "service_level_answered",
    "service_level_virtual",
    "occupancy",
    "capacity_utilisation",
    "throughput",
)


class Sums(NamedTuple):
    """The averages everything else is made of; they may be averaged again over rosters, weighted by calls.

    The kernels write these nine in this order.
    """

    waits: float
    """Share of calls that find no agent free."""
    queue: float
    """Mean number of callers waiting."""
    lost: float
    """Share of calls that abandon."""
    answered_wait: float
    """E[wait; answered]: waiting time of answered calls per offered call."""
    answered_in_time: float
    """Share of calls answered within the threshold."""
    virtually_late: float
    """Share of calls whose wait, had they the patience, exceeds the threshold."""
    busy: float
    """Mean number of busy agents."""
    answered: float
    """Share of calls answered; where a queue grows without end, neither they nor the lost are all."""
    blocked: float = 0.0
    """Share of calls that find no place to wait."""


class WaitLaw(Protocol):
    """The distribution of the wait W of all calls, abandoning ones included."""

    def survival(self, t: float) -> float:
        """P(W > t), t >= 0."""
        ...

    def log_survival(self, t: float) -> float:
        """log P(W > t), t >= 0; -inf if it is 0."""
        ...


@dataclass(frozen=True)
class ServiceLevel:
    """Share of calls answered in time, by the three definitions in use.

    offered: answered within `threshold` / all calls.  answered: answered within it / answered calls.
    virtual: calls whose wait would be within it if they did not give up / all calls.
    """

    threshold: float
    offered: float
    answered: float
    virtual: float


@dataclass(frozen=True)
class Spread:
    """The 5, 50 and 95% points of a measure over rosters (and days)."""

    low: float
    median: float
    high: float

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> "Spread":
        """That of equally likely values, each point being one of them."""
        low, median, high = np.quantile(values, [0.05, 0.5, 0.95], method="inverted_cdf")
        return cls(float(low), float(median), float(high))


@dataclass(frozen=True, kw_only=True)
class Performance:
    """What callers and agents experience at one staffing level, whatever the method that found it.

    Times are in `time_unit`, the unit of the rates the model was given. Under random rates every mean is
    call-weighted: E[abandoned] / E[offered].
    """

    method: str
    method_error: Mapping[str, MethodError]
    """Per measure: "exact" for the stated model, an absolute bound, or "unknown"."""
    time_unit: str
    wait_probability: float
    mean_wait: float
    """Over all calls, those who give up included."""
    mean_wait_answered: float
    """Over answered calls; planners call it ASA. Infinite if nobody is ever answered."""
    mean_queue: float
    abandonment_probability: float
    blocking_probability: float
    service_level: ServiceLevel
    occupancy: float
    """Busy agents / agents present; 1 if there are calls and no agents."""
    capacity_utilisation: float
    """Throughput / capacity (the sum of the agents' rates); 1 if there are calls and no capacity."""
    throughput: float
    """Answered calls per unit of time."""
    wait_law: WaitLaw = field(repr=False, compare=False)
    standard_errors: Mapping[str, float] = field(default_factory=dict)
    """Per measure; empty unless simulated."""
    spread: Mapping[str, Spread] = field(default_factory=dict)
    """Per measure, over rosters; empty where nothing is random."""

    def value(self, measure: str) -> float:
        """A measure by its name in `MEASURES`."""
        if measure not in MEASURES:
            raise ScenarioError(f"measure: {measure!r} is not known; known are {', '.join(MEASURES)}")
        if measure.startswith("service_level_"):
            value: float = getattr(self.service_level, measure.removeprefix("service_level_"))
        else:
            value = getattr(self, measure)
        return value

    def values(self) -> dict[str, float]:
        """Every measure by its name."""
        return {measure: self.value(measure) for measure in MEASURES}

    def wait_cdf(self, t: float) -> float:
        """P(W <= t) for the wait W of all calls, t in `time_unit`; 0 for t < 0."""
        t = number("t", t)
        return 0.0 if t < 0 else min(max(1.0 - self.wait_law.survival(t), 0.0), 1.0)

    def log_wait_survival(self, t: float) -> float:
        """log P(W > t), which formulas know where the chance itself is too small for a number."""
        t = number("t", t)
        return self.wait_law.log_survival(t) if t >= 0 else 0.0

    def wait_quantile(self, p: float) -> float:
        """The least t with P(W <= t) >= p, 0 <= p < 1; infinite if the queue outgrows every bound."""
        if not 0 <= number("p", p) < 1:
            raise ScenarioError(f"p: {p!r} must lie in [0, 1)")

        def excess(t: float) -> float:
            return self.wait_law.survival(t) - (1.0 - p)

        if excess(0.0) <= 0:
            return 0.0
        high = max(self.service_level.threshold, 1.0)
        while excess(high) > 0:
            high *= 4.0
            if high > 1e18:
                return float("inf")
        while excess(high / 4.0) <= 0 and high > 1e-18:
            high /= 4.0
        return float(brentq(excess, high / 4.0, high, xtol=1e-14 * high, rtol=1e-13))


def measures(
    sums: Sequence[Values],
    *,
    arrival_rate: float | Values,
    agents: float | Values,
    capacity: Values,
) -> dict[str, Values]:
    """Every measure in `MEASURES` from the averages in `Sums`, with the conventions for empty systems.

    Without calls nobody waits and the service level is 1. Without agents, calls find none of them free:
    occupancy and utilisation are 1, their limit for ever fewer agents.
    `capacity` is the (mean) sum of the agents' rates, `agents` how many are present (in the mean).
    Sums and capacity may be arrays, of one roster each; of one day each, arrival rates and agents too.
    """
    waits, queue, lost, answered_wait, in_time, late, busy, answered, blocked = sums
    throughput = arrival_rate * answered
    # Fewer and fewer agents get busier and busier; nobody is their limit, unless there is nothing to do.
    nobody = 1.0 if np.any(arrival_rate > 0) else 0.0
    return {
        "wait_probability": _share(waits),
        "mean_wait": _ratio(queue, arrival_rate, 0.0),
        "mean_wait_answered": _ratio(answered_wait, answered, math.inf),
        "mean_queue": queue,
        "abandonment_probability": _share(lost),
        "blocking_probability": _share(blocked),
        "service_level_offered": _share(in_time),
        "service_level_answered": _share(_ratio(in_time, answered, 0.0)),
        "service_level_virtual": _share(1.0 - late),
        "occupancy": _share(_ratio(busy, agents, nobody)),
        "capacity_utilisation": _share(_ratio(throughput, capacity, nobody)),
        "throughput": throughput,
    }


def _ratio(part: Values, whole: float | Values, otherwise: float) -> Values:
    """part / whole where whole is above 0."""
    if isinstance(part, np.ndarray):
        result = np.full(part.shape, otherwise)
        np.divide(part, whole, out=result, where=np.asarray(whole) > 0)
        return result
    return part / whole if whole > 0 else otherwise


def _share(value: Values) -> Values:
    """A share that rounding may have carried past its ends."""
    if isinstance(value, np.ndarray):
        return np.minimum(np.maximum(value, 0.0), 1.0)
    return min(max(value, 0.0), 1.0)


def performance(
    values: Mapping[str, float],
    *,
    method: str,
    method_error: Mapping[str, MethodError],
    time_unit: str,
    threshold: float,
    wait_law: WaitLaw,
    standard_errors: Mapping[str, float] | None = None,
    spread: Mapping[str, Spread] | None = None,
) -> Performance:
    """A `Performance` from every measure's value by name."""
    level = ServiceLevel(
        threshold,
        values["service_level_offered"],
        values["service_level_answered"],
        values["service_level_virtual"],
    )
    return Performance(
        method=method,
        method_error=method_error,
        time_unit=time_unit,
        service_level=level,
        wait_law=wait_law,
        standard_errors=standard_errors or {},
        spread=spread or {},
        **{name: value for name, value in values.items() if not name.startswith("service_level_")},
    )
