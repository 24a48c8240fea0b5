"""What comes of any number of agents in one scenario."""

from staffing.level import Level, Rosters
from staffing.models.performance import Performance
from staffing.optimize.costs import Costs
from staffing.optimize.promises import Promise
from staffing.question import Averaging, agents_of, costs_of, promises_of
from staffing.scenario import Scenario


class Levels:
    """Computes the levels of one scenario."""

    def __init__(self, scenario: Scenario, averaging: Averaging | None = None) -> None:
        self.scenario = scenario
        self.model = agents_of(scenario, averaging)
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
            rosters=self._rosters(agents, performance),
        )

    def shares_missing(self, agents: int) -> tuple[dict[str, float], float]:
        """The share of rosters that miss each promise, and that of those which miss any."""
        tests = {name: promise.shortfall for name, promise in self.promises.items()}
        return self.model.shares_failing(agents, tests)

    def _rosters(self, agents: int, performance: Performance) -> Rosters:
        missing, missing_any = self.shares_missing(agents)
        return Rosters(
            share_missing=missing,
            share_missing_any=missing_any,
            share_unstable=self.model.unstable_share(agents),
            cost_per_hour=self.model.spread_of(agents, lambda values: self.costs.total(agents, values)),
            quantiles=performance.spread,
        )
