"""The agents one has, in the order in which they are staffed."""

from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np

from staffing.models.agents import Factors, OfRoster
from staffing.models.arguments import count
from staffing.models.arrival_error import with_arrival_error
from staffing.models.errors import ScenarioError
from staffing.models.performance import Performance, Spread
from staffing.models.rate_laws import ObservedRates
from staffing.models.routed_rows import routed_levels, routed_row
from staffing.models.routing import EXACT_ROUTINGS, Routing, rule_of
from staffing.models.routing_error import rate_cv, roster_error, routing_method
from staffing.models.shared_queue import (
    Callers,
    Vector,
    averaged_measures,
    shared_queue,
)

MOST_GIVEN = 10_000
"""All levels up to so many agents take half a second; under a priority list, one level does."""


class GivenAgents:
    """A shared queue whose n agents are the first n of those given, with nothing random about them.

    Exact under longest-idle and random routing; otherwise as `roster_performance` approximates them.

    Parameters
    ----------
    callers : Callers
        What is offered.
    rates : tuple of float
        Rates of the agents there are, each > 0, per the same unit of time, in the order in which they are staffed.
    routing : str, sequence of int, Priority or WeightedRandom
        Which idle agent gets the call, as for `roster_performance`. A priority list has all agents there are; those
        not staffed are passed over.

    Raises
    ------
    ScenarioError
        If there is none or there are more than `MOST_GIVEN`, or a rate is not above zero and finite, or as
        `roster_performance` for the routing.
    """

    arrival_factors: Factors | None = None

    def __init__(
        self, callers: Callers, rates: tuple[float, ...], *, routing: Routing = "longest-idle"
    ) -> None:
        if len(rates) > MOST_GIVEN:
            raise ScenarioError(
                f"rates: {len(rates)} are more than {MOST_GIVEN}, the most agents that may be given"
            )
        self.callers, self.mean_rate = callers, ObservedRates(rates).mean
        self._rates = np.array(rates, np.float64)
        self.rule = rule_of(routing, self._rates.size)
        self._alone: dict[int, Vector] = {}

    @property
    def most(self) -> int:
        """As many as were given, and as there may be calls."""
        given = self._rates.size
        return given if self.callers.max_calls is None else min(given, self.callers.max_calls)

    @cached_property
    def _capacities(self) -> Vector:
        return np.concatenate([[0.0], np.cumsum(self._rates)])

    def values(self, agents: int) -> dict[str, float]:
        """Every measure, without the rest of `performance`: for searches."""
        n = self._count(agents)
        return averaged_measures(self.callers, n, self._row(n), self.mean_capacity(n), np.ones(1))

    def performance(self, agents: int) -> Performance:
        """Performance of the first `agents` agents.

        Raises
        ------
        ScenarioError
            If `agents` is not a whole number from 0 to `most`.
        """
        n = self._count(agents)
        row, values = self._row(n), self.values(n)
        return shared_queue(
            self.callers,
            n,
            row,
            self._capacities[n : n + 1],
            np.ones(1),
            method=routing_method(self.rule, values["wait_probability"], self.callers),
            method_error=with_arrival_error(
                roster_error(self.rule, self._rates[:n], values, self.callers),
                self.callers,
                n,
                self.rule,
                rate_cv(self._rates[:n]),
                values,
            ),
        )

    def spread_of(self, agents: int, figure: OfRoster) -> Spread:
        """The one value there is, three times."""
        value = float(figure(self.values(agents)))
        return Spread(value, value, value)

    def shares_failing(self, agents: int, tests: Mapping[str, OfRoster]) -> tuple[dict[str, float], float]:
        """Per test, and for any of them, 1 if it is positive or the queue grows without end, otherwise 0."""
        values, unstable = self.values(agents), self.unstable_share(agents)
        shares = {name: max(float(fails(values) > 0), unstable) for name, fails in tests.items()}
        return shares, max(shares.values(), default=0.0)

    def unstable_share(self, agents: int) -> float:
        """1 if the queue grows without end, otherwise 0."""
        return 0.0 if self.callers.settle else self.capacity_cdf(agents, self.callers.arrival_rate)

    def mean_capacity(self, agents: int) -> float:
        """Sum of the agents' rates."""
        return float(self._capacities[self._count(agents)])

    def capacity_cdf(self, agents: int, capacity: float) -> float:
        """1 if the sum of the agents' rates is at most this, otherwise 0."""
        return float(self.mean_capacity(agents) <= capacity * (1 + 1e-12))

    def rosters(self, around: int) -> Callable[[int, np.random.Generator], Vector]:
        """The one roster of `around` + 1 agents, or of all there are, again and again."""

        def draw(size: int, generator: np.random.Generator) -> Vector:
            return np.tile(self._rates[: around + 1], (size, 1))

        return draw

    @cached_property
    def _rows(self) -> Vector:
        """Rows of every level under an exact rule; all together cost what the last one does."""
        levels = range(self.most + 1)
        return routed_levels(self.callers, self._rates[:, np.newaxis], levels, self.rule)[:, 0]

    def _row(self, agents: int) -> Vector:
        if self.rule in EXACT_ROUTINGS and not self.callers.bursty:
            return self._rows[agents : agents + 1]
        if agents not in self._alone:
            self._alone[agents] = routed_row(self.callers, self._rates[:agents], self.rule)
        return self._alone[agents]

    def _count(self, agents: int) -> int:
        n = count("agents", agents)
        self.callers.places(n)
        if n > self.most:
            raise ScenarioError(
                f"agents: {n} are more than the {self.most} whose rates are given; give fewer agents, or more rates"
            )
        return n
