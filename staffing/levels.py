"""What comes of any number of agents in one scenario."""

from collections.abc import Mapping

from staffing.level import Level, Rosters
from staffing.models.performance import Spread
from staffing.optimize.costs import Costs
from staffing.optimize.promises import Promise
from staffing.question import agents_of, costs_of, promises_of
from staffing.scenario import Scenario


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
        """The share of rosters that miss a promise; one whose queue grows without end misses every promise."""
        missing = self.model.share_of_rosters(agents, promise.shortfall)
        return max(missing, self.model.unstable_share(agents))


def _points(spread: Mapping[str, Spread]) -> dict[str, tuple[float, float, float]]:
    return {name: (points.low, points.median, points.high) for name, points in spread.items()}
