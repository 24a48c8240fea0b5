"""What an hour at a staffing level costs."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Costs:
    """Costs per hour, in any currency.

    Parameters
    ----------
    agent : float
        Per agent at work, >= 0.
    waiting : float
        Per waiting caller, >= 0.
    losing : float
        If every call were lost, >= 0: the cost of a lost call times the calls per hour.
    """

    agent: float
    waiting: float = 0.0
    losing: float = 0.0

    def parts(self, agents: int, values: Mapping[str, float]) -> dict[str, float]:
        """Cost per hour by cause; a cause without a price costs nothing, however long the queue."""
        return {
            "agents": self.agent * agents,
            "waiting": self.waiting * values["mean_queue"] if self.waiting else 0.0,
            "abandonment": self.losing * values["abandonment_probability"] if self.losing else 0.0,
        }

    def total(self, agents: int, values: Mapping[str, float]) -> float:
        """Cost per hour."""
        return sum(self.parts(agents, values).values())

    @property
    def trade_off(self) -> bool:
        """Whether anything but agents has a price."""
        return self.waiting > 0 or self.losing > 0
