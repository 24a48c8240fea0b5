"""Queues that have no stationary law."""

from staffing.models.errors import ScenarioError


def refuse_upward_drift(name: str, theta: float, arrival_rate: float, capacity: float) -> None:
    """Refuse callers who never give up, at an abandonment rate of this name, where no fewer come than can be served.

    Raises
    ------
    ScenarioError
        If `theta` is 0 and the arrival rate not below the capacity.
    """
    if theta == 0 and arrival_rate >= capacity:
        raise ScenarioError(
            f"{name}: 0 with arrivals at {arrival_rate:g}, not below the capacity {capacity:g}, drifts upward without"
            " end: there is no stationary law"
        )
