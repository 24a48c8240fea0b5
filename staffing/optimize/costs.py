"""What an hour at a staffing level costs."""

from collections.abc import Mapping
from dataclasses import dataclass

from staffing.models.performance import Values


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
        If every call were lost, >= 0: the cost of a lost call, abandoned or blocked, times the calls per hour.
    """

    agent: float
    waiting: float = 0.0
    losing: float = 0.0

    def parts(self, agents: int, values: Mapping[str, Values]) -> dict[str, Values]:
        """Cost per hour by cause, of one roster or day or of arrays of them; a cause without a price costs nothing."""
        lost = values["abandonment_probability"]
        # Of one day, which may have more calls than another: its calls over those of a mean day.
        calls = values.get("calls", 1.0)
        return {
            "agents": self.agent * agents + 0.0 * lost,
            "waiting": self.waiting * values["mean_queue"] if self.waiting else 0.0 * lost,
            "abandonment": self.losing * calls * lost,
            "blocking": self.losing * calls * values["blocking_probability"],
        }

    def total(self, agents: int, values: Mapping[str, Values]) -> Values:
        """Cost per hour."""
        parts = self.parts(agents, values)
        return parts["agents"] + parts["waiting"] + parts["abandonment"] + parts["blocking"]

    @property
    def trade_off(self) -> bool:
        """Whether anything but agents has a price."""
        return self.waiting > 0 or self.losing > 0
