"""One staffing level and what comes of it; a curve of several."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, overload

from staffing.models.performance import Performance, Spread
from staffing.optimize.costs import Costs
from staffing.optimize.promises import Promise
from staffing.question import agents_of, costs_of, promises_of
from staffing.scenario import Scenario

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Rosters:
    """What the roster one happens to get does to the promises and the cost of an hour."""

    share_missing: Mapping[str, float]
    """Per promise, the share of rosters that miss it; the closure's error is below 0.003."""
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


class Levels:
    """Computes the levels of one scenario."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.model = agents_of(scenario)
        self.costs: Costs = costs_of(scenario)
        self.promises: dict[str, Promise] = promises_of(scenario)

    def level(self, agents: int) -> Level:
        """What comes of this many agents."""
        performance = self.model.performance(agents)
        values = performance.values()
        parts = self.costs.parts(agents, values)
        return Level(
            agents=agents,
            agents_gross=self.scenario.agents_gross(agents),
            cost_per_hour=sum(parts.values()),
            cost_parts=parts,
            performance=performance,
            promises={name: promise.kept(values) for name, promise in self.promises.items()},
            rosters=self._rosters(agents, performance.spread),
        )

    def _rosters(self, agents: int, spread: Mapping[str, Spread]) -> Rosters:
        missing = {name: self.share_missing(agents, promise) for name, promise in self.promises.items()}
        if spread:
            # Queue and abandonment both fall as capacity grows, so their quantiles come together.
            points = [
                self.costs.total(agents, {name: points[i] for name, points in _points(spread).items()})
                for i in range(3)
            ]
        else:
            points = 3 * [self.costs.total(agents, self.model.values(agents))]
        return Rosters(
            share_missing=missing,
            share_missing_any=max(missing.values(), default=0.0),
            share_unstable=self.model.unstable_share(agents),
            cost_per_hour=Spread(*points),
            quantiles=spread,
        )

    def share_missing(self, agents: int, promise: Promise) -> float:
        """The share of rosters that miss a promise."""
        return self.model.share_of_rosters(agents, promise.shortfall)


def _points(spread: Mapping[str, Spread]) -> dict[str, tuple[float, float, float]]:
    return {name: (points.low, points.median, points.high) for name, points in spread.items()}


class Curve(Sequence[Level]):
    """Levels of one scenario, by number of agents."""

    def __init__(self, scenario: Scenario, levels: Iterable[Level]) -> None:
        self.scenario = scenario
        self._levels = tuple(levels)

    @overload
    def __getitem__(self, index: int) -> Level: ...
    @overload
    def __getitem__(self, index: slice) -> "Curve": ...
    def __getitem__(self, index: int | slice) -> "Level | Curve":
        if isinstance(index, slice):
            return Curve(self.scenario, self._levels[index])
        return self._levels[index]

    def __len__(self) -> int:
        return len(self._levels)

    def __iter__(self) -> Iterator[Level]:
        return iter(self._levels)

    def at(self, agents: int) -> Level:
        """The level with this many agents; KeyError if it is not on the curve."""
        for level in self._levels:
            if level.agents == agents:
                return level
        raise KeyError(agents)

    def to_frame(self) -> "pd.DataFrame":
        """One tidy row per level; units are in the column names."""
        from staffing.tables import frame_of

        return frame_of(self)

    def to_csv(self, path: str | Path) -> None:
        """Write `to_frame` as CSV: UTF-8, `.` decimals, cells a spreadsheet would run made harmless."""
        from staffing.tables import write_csv

        write_csv(self.to_frame(), path)

    def __str__(self) -> str:
        from staffing.summary import curve_text

        return curve_text(self)
