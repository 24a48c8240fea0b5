"""One staffing level and what comes of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from staffing.models.performance import Performance, Spread


@dataclass(frozen=True, kw_only=True)
class Rosters:
    """What the roster and the day one happens to get do to the promises and the cost of an hour."""

    share_missing: Mapping[str, float]
    """Per promise, the share of rosters that miss it: inferred from capacity by the closure, good to 0.004, or counted
    among exact rosters, each share p good to sqrt(p (1 - p) / rosters)."""
    share_missing_any: float
    """The share of rosters that miss at least one promise."""
    share_unstable: float
    """The share of rosters whose queue grows without end, because callers never give up."""
    cost_per_hour: Spread
    """The 5, 50 and 95% points of the cost over rosters."""
    quantiles: Mapping[str, Spread]
    """Per measure, its 5, 50 and 95% points over rosters; empty if agents are alike."""


@dataclass(frozen=True, kw_only=True)
class Level:
    """What comes of one number of agents. Probabilities are fractions, times seconds, costs per hour."""

    agents: int
    agents_gross: int
    """Agents to schedule so that `agents` are there: ceil(agents / (1 - shrinkage))."""
    cost_per_hour: float
    cost_parts: Mapping[str, float]
    performance: Performance
    promises: Mapping[str, bool]
    """Per promise, whether it is kept on average over rosters."""
    rosters: Rosters

    @property
    def keeps_promises(self) -> bool:
        """Whether every promise is kept on average over rosters."""
        return all(self.promises.values())

    def __str__(self) -> str:
        from staffing.curve_text import curve_text, method_note

        return f"{curve_text((self,))}\n{method_note(self.performance)}"
