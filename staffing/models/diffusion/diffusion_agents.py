"""Agents, yet to be drawn or given, answered for by the diffusion at any head count: for plans that ask for it."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from staffing.models.agents import Factors, OfRoster
from staffing.models.arguments import count
from staffing.models.days import Days
from staffing.models.diffusion.annealed import DrawnDiffusion
from staffing.models.diffusion.quenched import roster_diffusion
from staffing.models.drawn_agents import DrawnAgents
from staffing.models.given_agents import GivenAgents
from staffing.models.kinds_of_days import POINTS
from staffing.models.performance import Performance, Spread
from staffing.models.rate_laws import RateLaw
from staffing.models.routing import Routing, rule_of, without_closure
from staffing.models.shared_queue import Callers, Vector
from staffing.models.uncertain_days import UncertainDays

_ONE_DAY = Days()


class DrawnDiffusionAgents:
    """A shared queue whose agents are a fresh draw, on a day that may be a draw too, by `DrawnDiffusion`.

    Quantiles and shares over rosters and days are those of `POINTS` scrambled Sobol points. What is about capacity
    alone is exact as elsewhere; so are levels without agents, and queues without calls, of which there is no diffusion.

    Parameters
    ----------
    callers, law, days, routing, seed
        As for `DrawnDiffusion`.

    Raises
    ------
    ScenarioError
        As `DrawnDiffusion`, or if there is a limit on calls.
    """

    most: int | None = None

    def __init__(
        self,
        callers: Callers,
        law: RateLaw,
        days: Days = _ONE_DAY,
        *,
        routing: Routing = "longest-idle",
        seed: int = 0,
    ) -> None:
        self.callers, self.law, self.mean_rate, self.rule = callers, law, law.mean, rule_of(routing)
        # It knows of other calls than Poisson's their squared CV, and no more.
        poisson, scv = replace(callers, arrival_scv=1.0), callers.arrival_scv
        self._diffusion = DrawnDiffusion(poisson, law, days, routing=routing, arrival_scv=scv, seed=seed)
        # Capacities and rosters are the same under every rule.
        closed = "longest-idle" if without_closure(self.rule) else self.rule
        self._base: DrawnAgents | UncertainDays = (
            DrawnAgents(callers, law, closed)
            if days.alike
            else UncertainDays(callers, law, days, routing=closed, seed=seed)
        )
        self.arrival_factors: Factors | None = self._base.arrival_factors
        self._drawn: dict[int, dict[str, Vector]] = {}

    def values(self, agents: int) -> Mapping[str, float]:
        """Call-weighted mean of every measure over rosters and days."""
        return self._model(agents).values(agents)

    def performance(self, agents: int) -> Performance:
        """Call-weighted mean performance over rosters and days, with its spread over them.

        Raises
        ------
        ScenarioError
            If `agents` is not a whole number of at least 0.
        """
        return self._model(agents).performance(agents)

    def spread_of(self, agents: int, figure: OfRoster) -> Spread:
        """The 5, 50 and 95% points of a figure over rosters and days."""
        if self._model(agents) is self._base:
            return self._base.spread_of(agents, figure)
        return Spread.of(np.broadcast_to(figure(self._by_day(agents)), POINTS))

    def shares_failing(self, agents: int, tests: Mapping[str, OfRoster]) -> tuple[dict[str, float], float]:
        """The share of rosters and days that fail each test, and that of those which fail any.

        One fails if the test is positive, or its queue grows without end.
        """
        if self._model(agents) is self._base:
            return self._base.shares_failing(agents, tests)
        values = self._by_day(agents)
        endless = np.isinf(values["mean_queue"])
        failing = {name: (fails(values) > 0) | endless for name, fails in tests.items()}
        failing_any = np.any([*failing.values(), np.zeros(POINTS, np.bool_)], axis=0)
        return {name: float(np.mean(which)) for name, which in failing.items()}, float(failing_any.mean())

    def unstable_share(self, agents: int) -> float:
        """The share of rosters and days whose queue grows without end."""
        return self._base.unstable_share(agents)

    def mean_capacity(self, agents: int) -> float:
        """Agents present in the mean times their mean rate."""
        return self._base.mean_capacity(agents)

    def capacity_cdf(self, agents: int, capacity: float) -> float:
        """The share of rosters and days with at most this capacity, against a mean day's calls."""
        return self._base.capacity_cdf(agents, capacity)

    def rosters(self, around: int) -> Callable[[int, np.random.Generator], Vector]:
        """Draws of rosters of `around` + 1 agents on their days."""
        return self._base.rosters(around)

    def _model(self, agents: int) -> DrawnDiffusion | DrawnAgents | UncertainDays:
        empty = count("agents", agents) == 0 or self.callers.arrival_rate == 0
        return self._base if empty else self._diffusion

    def _by_day(self, agents: int) -> dict[str, Vector]:
        if agents not in self._drawn:
            self._drawn[agents] = self._diffusion.by_day(agents)
        return self._drawn[agents]


class GivenDiffusionAgents(GivenAgents):
    """A shared queue whose n agents are the first n of those given, by `roster_diffusion`.

    Levels without a diffusion, with nobody there or nobody calling or a queue without end, are answered exactly.

    Parameters
    ----------
    callers, rates, routing
        As for `GivenAgents`; callers as for `roster_diffusion`.

    Raises
    ------
    ScenarioError
        As `GivenAgents`.
    """

    def __init__(
        self, callers: Callers, rates: tuple[float, ...], *, routing: Routing = "longest-idle"
    ) -> None:
        super().__init__(callers, rates, routing=routing)
        self._exact = GivenAgents(callers, rates, routing=routing)
        self._found: dict[int, Performance] = {}

    def values(self, agents: int) -> dict[str, float]:
        """Every measure, without the rest of `performance`: for searches."""
        return self.performance(agents).values()

    def performance(self, agents: int) -> Performance:
        """Performance of the first `agents` agents.

        Raises
        ------
        ScenarioError
            If `agents` is not a whole number from 0 to `most`.
        """
        n, callers = self._count(agents), self.callers
        if n == 0 or callers.arrival_rate == 0 or self.unstable_share(n) > 0:
            return self._exact.performance(n)
        if n not in self._found:
            self._found[n] = roster_diffusion(
                self._rates[:n],
                callers.arrival_rate,
                callers.abandonment_rate,
                arrival_scv=callers.arrival_scv,
                routing=self.rule,
                threshold=callers.threshold,
                time_unit=callers.time_unit,
            )
        return self._found[n]
