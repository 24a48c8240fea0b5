"""The answer: how many agents, what comes of it, why, and whether a simulation agrees."""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from staffing.binding import Binding
from staffing.check import Check
from staffing.classic import Classic
from staffing.curve import Curve
from staffing.fluid_limits import FluidLimits
from staffing.level import Level, Rosters
from staffing.models.performance import Performance
from staffing.models.regime import Regime
from staffing.scenario import Scenario

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class StaffingPlan:
    """The cheapest number of agents that keeps every promise, and all that was found on the way.

    `print(plan)` is one screen for a planner. Probabilities are fractions, times are seconds, costs are per hour.
    """

    scenario: Scenario
    level: Level
    """The recommended level."""
    curve: Curve
    """The levels around it."""
    regime: Regime
    """QD, QED or ED at the mean capacity, see `staffing.models.regime`."""
    regime_probabilities: Mapping[Regime, float]
    """The chances of the three over rosters."""
    fluid: FluidLimits
    """What a steady flow would lose and hold: the part of abandonment that does not vanish with size."""
    binding: Binding
    """What keeps the plan from being cheaper, and its price."""
    classic: Classic
    """What Erlang C and Erlang A would have said."""
    check: Check | None
    """The simulation's verdict; None if it was not asked for or there is nothing to simulate."""
    assumed: tuple[str, ...]
    """Fields left at their defaults that matter to the answer."""
    warnings: tuple[str, ...]
    provenance: Mapping[str, Any] = field(compare=False)
    """Version, seed, method, seconds."""

    @property
    def agents(self) -> int:
        """Agents who must be there."""
        return self.level.agents

    @property
    def agents_gross(self) -> int:
        """Agents to schedule, shrinkage included."""
        return self.level.agents_gross

    @property
    def cost_per_hour(self) -> float:
        """Agents, waiting and lost calls, mean over rosters."""
        return self.level.cost_per_hour

    @property
    def cost_parts(self) -> Mapping[str, float]:
        """Cost per hour by cause."""
        return self.level.cost_parts

    @property
    def performance(self) -> Performance:
        """What callers and agents experience at the recommended level."""
        return self.level.performance

    @property
    def rosters(self) -> Rosters:
        """The risk over rosters at the recommended level."""
        return self.level.rosters

    def to_frame(self) -> "pd.DataFrame":
        """One tidy row per level of the curve; the recommended one is marked."""
        frame = self.curve.to_frame()
        frame.insert(2, "recommended", frame["agents"] == self.agents)
        return frame

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write `to_frame` as CSV: UTF-8, `.` decimals, cells a spreadsheet would run made harmless.

        Raises
        ------
        StaffingError
            If the file cannot be written; it appears whole or not at all.
        """
        from staffing.tables import write_csv

        write_csv(self.to_frame(), path)

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain numbers, texts, lists and dictionaries, fit for JSON but for infinities."""
        return {
            "scenario": self.scenario.to_dict(),
            **_plain_level(self.level),
            "regime": self.regime,
            "regime_probabilities": dict(self.regime_probabilities),
            "fluid": asdict(self.fluid),
            "binding": asdict(self.binding),
            "classic": asdict(self.classic),
            "check": asdict(self.check) if self.check else None,
            "curve": [_plain_level(level) for level in self.curve],
            "assumed": list(self.assumed),
            "warnings": list(self.warnings),
            "provenance": dict(self.provenance),
        }

    def __str__(self) -> str:
        from staffing.plan_text import plan_text

        return plan_text(self)


def _plain_level(level: Level) -> dict[str, Any]:
    return {
        "agents": level.agents,
        "agents_gross": level.agents_gross,
        "cost_per_hour": level.cost_per_hour,
        "cost_parts": dict(level.cost_parts),
        "performance": {
            "method": level.performance.method,
            "service_level_seconds": level.performance.service_level.threshold,
            **level.performance.values(),
        },
        "promises": dict(level.promises),
        "rosters": asdict(level.rosters),
    }
