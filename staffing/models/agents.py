"""What every model of one queue's agents can tell at any head count, however the agents come about."""

from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from staffing.models.performance import Performance, Spread, Values
from staffing.models.routing import Rule
from staffing.models.shared_queue import Callers

Factors = Callable[[int, np.random.Generator], NDArray[np.float64]]


class OfRoster(Protocol):
    """A function of every measure of a roster, or, elementwise, of arrays over rosters."""

    def __call__(self, values: Mapping[str, Values], /) -> Values:
        """Its value."""
        ...


class Agents(Protocol):
    """Agents of one shared queue, as many as one likes up to `most`.

    They are drawn at random, so that there is a law of rosters, or given, so that there is one roster.
    """

    @property
    def callers(self) -> Callers:
        """What is offered."""
        ...

    @property
    def mean_rate(self) -> float:
        """Mean rate of an agent."""
        ...

    @property
    def rule(self) -> Rule:
        """Which idle agent gets a call."""
        ...

    @property
    def most(self) -> int | None:
        """The most there are; None for no limit."""
        ...

    @property
    def arrival_factors(self) -> Factors | None:
        """A function of (size, generator) that draws a factor on the calls per roster; None if all days are alike."""
        ...

    def values(self, agents: int) -> Mapping[str, float]:
        """Call-weighted mean of every measure over rosters, without the rest of `performance`: for searches."""
        ...

    def performance(self, agents: int) -> Performance:
        """Call-weighted mean performance over rosters, with its spread over rosters."""
        ...

    def spread_of(self, agents: int, figure: OfRoster) -> Spread:
        """The 5, 50 and 95% points over rosters of a figure that falls, or rises, as capacity grows."""
        ...

    def shares_failing(self, agents: int, tests: Mapping[str, OfRoster]) -> tuple[dict[str, float], float]:
        """The share of rosters that fail each test, and that of those which fail any.

        A roster fails if the test is positive, or its queue grows without end. Tests must fall as capacity grows.
        """
        ...

    def unstable_share(self, agents: int) -> float:
        """The share of rosters whose queue grows without end."""
        ...

    def mean_capacity(self, agents: int) -> float:
        """Mean over rosters of the sum of the agents' rates."""
        ...

    def capacity_cdf(self, agents: int, capacity: float) -> float:
        """The share of rosters with at most this capacity."""
        ...

    def rosters(self, around: int) -> Callable[[int, np.random.Generator], NDArray[np.float64]]:
        """A function of (size, generator) that draws rates of rosters of `around` + 1 agents, shape (size, agents).

        The first `around` - 1, `around` and `around` + 1 of them are rosters each, evenly drawn. Given agents may be
        fewer.
        """
        ...
