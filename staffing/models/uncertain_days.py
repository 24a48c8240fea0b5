"""Agents one has yet to get, on days one does not know: a shared queue averaged over rosters and days."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.special import logsumexp, ndtr, ndtri

from staffing.models.agents import OfRoster
from staffing.models.arguments import count
from staffing.models.arrival_error import with_arrival_error
from staffing.models.days import Days
from staffing.models.drawn_agents import DrawnAgents
from staffing.models.kinds_of_days import POINTS, Kinds, drawn_kinds, kinds_for_means, share_below
from staffing.models.performance import (
    MEASURES,
    MethodError,
    Performance,
    Spread,
    Sums,
    WaitLaw,
    measures,
    performance,
)
from staffing.models.rate_laws import RateLaw
from staffing.models.routing import EXACT_ROUTINGS, Routing, Rule
from staffing.models.routing_error import routing_error
from staffing.models.shared_queue import ENDLESS, Callers, Vector, closure_days, waits_of

QUADRATURE_ERROR = 5e-5
"""Of shares, and of other measures as a share of them."""
CALLS = "calls"
"""In the measures of one day: its calls over those of a mean day."""
_BY_TIME = np.array([name in ("queue", "busy") for name in Sums._fields])


@dataclass(frozen=True)
class DayWaits:
    """The wait of all calls over days that differ in their calls, each weighted by its calls."""

    parts: tuple[WaitLaw, ...]

    def survival(self, t: float) -> float:
        """P(W > t), t >= 0."""
        return min(sum(part.survival(t) for part in self.parts), 1.0)

    def log_survival(self, t: float) -> float:
        """log P(W > t), t >= 0; -inf if it is 0."""
        return min(float(logsumexp([part.log_survival(t) for part in self.parts])), 0.0)


@dataclass(frozen=True)
class UncertainDays:
    """A shared queue whose agents are a fresh draw from a law of rates, on a day that is a draw too.

    Of n agents scheduled m are present, binomial; their capacity is Z S_m, S_m as in `DrawnAgents`; A lam calls arrive
    per unit of time. Given (S_m, Z, A, m) the idle weights follow the gamma closure. Means weigh each day by its calls,
    which shares are of, or by its time, as the mean queue and the busy agents are: E[A W] / E[A] is the mean wait. They
    are sums over a grid of nodes whose numbers follow from how wide each of the four is beside the width over which
    the queue turns and those that are wider still, which smooth what is left. Quantiles and shares over rosters and
    days jointly are those of `POINTS` scrambled Sobol points of the four.

    Parameters
    ----------
    callers : Callers
        What is offered on a mean day.
    law : RateLaw
        The law of one agent's rate on a mean day, per the same unit of time.
    days : Days
        The law of days.
    routing : str
        "longest-idle", "random" or "least-occupied", as in `DrawnAgents`.
    seed : int
        Seed of the Sobol points, >= 0.

    Raises
    ------
    ScenarioError
        If the routing is another: it has no closure.
    """

    callers: Callers
    law: RateLaw
    days: Days
    routing: Routing = "longest-idle"
    seed: int = 0
    _level: DrawnAgents = field(init=False, repr=False, compare=False)
    _nodes: dict[int, tuple[Kinds, Vector]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _sobol: dict[int, dict[str, Vector]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _shares: dict[tuple[int, float], float] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "_level", DrawnAgents(self.callers, self.law, self.routing))
        object.__setattr__(self, "routing", self._level.routing)
        count("seed", self.seed)

    @property
    def rule(self) -> Rule:
        """Which idle agent gets a call."""
        return self._level.rule

    @property
    def most(self) -> int | None:
        """As many as there may be calls; None for no limit."""
        return self.callers.max_calls

    @property
    def mean_rate(self) -> float:
        """Mean rate of an agent."""
        return self.law.mean

    def values(self, agents: int) -> dict[str, float]:
        """Mean of every measure over rosters and days, without the rest of `performance`: for searches."""
        n = count("agents", agents)
        kinds, rows = self._average(n)
        by_calls = kinds.weights * kinds.calls
        mean_calls = float(by_calls.sum())
        by_calls /= mean_calls
        finite = rows[:, :-1].copy()
        endless = self.endless(n)
        if endless:
            finite[:, ENDLESS] = 0.0
        sums = np.where(_BY_TIME, kinds.weights @ finite, by_calls @ finite)
        # So that those who give up balance those who wait, whatever the quadrature makes of a mean day's calls.
        sums[ENDLESS[0]] /= mean_calls
        if endless:
            sums[ENDLESS] = math.inf
        return measures(
            sums.tolist(),
            arrival_rate=self.callers.arrival_rate,
            agents=self.days.mean_present(n),
            capacity=self.mean_capacity(n),
        )

    def performance(self, agents: int) -> Performance:
        """Mean performance over rosters and days of this many agents scheduled, with its spread over them.

        `method_error` bounds what the closure was measured to miss, at the agents present in the mean, and what the
        quadrature may. Where callers never give up, days below the load are possible and mean waits are infinite.

        Raises
        ------
        ScenarioError
            If `agents` is not a whole number of at least 0.
        """
        n = count("agents", agents)
        (kinds, rows), values, by_day = self._average(n), self.values(n), self._by_day(n)
        return performance(
            values,
            method=f"{self._level.method(n)} over days",
            method_error=self._error(n, kinds, rows, values),
            time_unit=self.callers.time_unit,
            threshold=self.callers.threshold,
            wait_law=self._waits(kinds, rows),
            spread={m: Spread.of(by_day[m]) for m in MEASURES},
        )

    def spread_of(self, agents: int, figure: OfRoster) -> Spread:
        """The 5, 50 and 95% points of a figure over rosters and days."""
        return Spread.of(np.broadcast_to(figure(self._by_day(count("agents", agents))), POINTS))

    def shares_failing(self, agents: int, tests: Mapping[str, OfRoster]) -> tuple[dict[str, float], float]:
        """The share of rosters and days that fail each test, and that of those which fail any.

        A roster fails on a day if the test is positive, or its queue grows without end.
        """
        n = count("agents", agents)
        values = self._by_day(n)
        endless = np.isinf(values["mean_queue"])
        failing = {name: (fails(values) > 0) | endless for name, fails in tests.items()}
        failing_any = np.any([*failing.values(), np.zeros(POINTS, np.bool_)], axis=0)
        return {name: float(np.mean(which)) for name, which in failing.items()}, float(failing_any.mean())

    def unstable_share(self, agents: int) -> float:
        """The share of rosters and days whose queue grows without end."""
        return 0.0 if self.callers.settle else self.capacity_cdf(agents, self.callers.arrival_rate)

    def endless(self, agents: int) -> bool:
        """Whether a day at or below the load is possible, if rarely, so that the mean wait is infinite."""
        return not self.callers.settle and (not self.days.alike or self._level.endless(agents))

    def mean_capacity(self, agents: int) -> float:
        """Agents present in the mean times their mean rate."""
        return self.days.mean_present(agents) * self.law.mean

    def capacity_cdf(self, agents: int, capacity: float) -> float:
        """The share of rosters and days with at most this capacity, measured against the day's calls: Z S_m / A.

        At the arrival rate, the share of those at or below the load.
        """
        if capacity < 0:
            return 0.0
        if (agents, capacity) not in self._shares:
            self._shares[agents, capacity] = share_below(self.law, self.days, agents, capacity)
        return self._shares[agents, capacity]

    def rosters(self, around: int) -> Callable[[int, np.random.Generator], Vector]:
        """Draws of rosters of `around` + 1 agents on their days; an absent agent has the rate 0."""
        draw, days = self._level.rosters(around), self.days

        def on_days(size: int, generator: np.random.Generator) -> Vector:
            rates = draw(size, generator)
            rates *= days.rate_factor(_strata(size, generator))[:, np.newaxis]
            # Of all but the last two an even draw of how many are present, each as likely as the others.
            most = max(around - 1, 0)
            present = days.present(most, ndtr(_strata(size, generator)))
            ranks = generator.permuted(np.tile(np.arange(most), (size, 1)), axis=1)
            last = generator.random((size, rates.shape[1] - most)) >= days.absence
            return np.where(np.hstack([ranks < present[:, np.newaxis], last]), rates, 0.0)

        return on_days

    def arrival_factors(self, size: int, generator: np.random.Generator) -> Vector:
        """Draws of the factor on the calls, one from each of `size` equally likely ranges."""
        return self.days.arrival_factor(_strata(size, generator))

    def _average(self, agents: int) -> tuple[Kinds, Vector]:
        """The kinds of rosters and days that the mean is taken over, and their rows, remembered: searches come back."""
        if agents not in self._nodes:
            self.callers.places(agents)
            lam = self.callers.arrival_rate
            width = self._level.turn_width(agents) / lam if lam > 0 else math.inf
            kinds = kinds_for_means(self.law, self.days, agents, width)
            self._nodes[agents] = kinds, self._rows(kinds)
        return self._nodes[agents]

    def _rows(self, kinds: Kinds) -> Vector:
        """Rows of sums of each kind."""
        lam = self.callers.arrival_rate
        return closure_days(self.callers, lam * kinds.calls, kinds.present, kinds.capacities, self._level.c2)

    def _by_day(self, agents: int) -> dict[str, Vector]:
        """Every measure of each Sobol point, and its calls; the same points for all levels."""
        if agents not in self._sobol:
            kinds = drawn_kinds(self.law, self.days, agents, self.seed)
            self._sobol[agents] = {
                CALLS: kinds.calls,
                **measures(
                    list(self._rows(kinds)[:, :-1].T),
                    arrival_rate=self.callers.arrival_rate * kinds.calls,
                    agents=kinds.present.astype(np.float64),
                    capacity=kinds.capacities,
                ),
            }
        return self._sobol[agents]

    def _waits(self, kinds: Kinds, rows: Vector) -> DayWaits:
        lam, parts = self.callers.arrival_rate, []
        by_calls = kinds.weights * kinds.calls
        by_calls /= by_calls.sum()
        for factor in np.unique(kinds.calls):
            these = kinds.calls == factor
            parts.append(
                waits_of(
                    self.callers.replace_rate(lam * float(factor)),
                    kinds.capacities[these],
                    by_calls[these],
                    rows[these],
                    kinds.present[these],
                )
            )
        return DayWaits(tuple(parts))

    def _error(
        self, agents: int, kinds: Kinds, rows: Vector, values: Mapping[str, float]
    ) -> dict[str, MethodError]:
        present = max(round(self.days.mean_present(agents)), 1)
        error = with_arrival_error(
            self._level.closure_error(present, values), self.callers, present, self.rule, self.law.cv, values
        )
        if agents == 0 and self.days.arrival_cv == 0:
            return dict.fromkeys(MEASURES, "exact")
        routed = {} if self.routing in EXACT_ROUTINGS else self._routing_error(present, kinds, rows)
        for measure, value in values.items():
            stated = error[measure]
            never = measure == "blocking_probability" and self.callers.max_calls is None
            if never or math.isinf(value):
                continue
            share = "prob" in measure or "level" in measure
            error[measure] = (
                (stated if isinstance(stated, float) else 0.0)
                + routed.get(measure, 0.0)
                + QUADRATURE_ERROR * (1.0 if share else value)
            )
        return error

    def _routing_error(self, agents: int, kinds: Kinds, rows: Vector) -> dict[str, float]:
        """The mean of the rule's bounds over rosters and days."""
        lam, total = self.callers.arrival_rate, dict.fromkeys(MEASURES, 0.0)
        for factor in np.unique(kinds.calls):
            these = kinds.calls == factor
            callers = self.callers.replace_rate(lam * float(factor))
            at_nodes = measures(
                list(rows[these, :-1].T),
                arrival_rate=callers.arrival_rate,
                agents=kinds.present[these].astype(np.float64),
                capacity=kinds.capacities[these],
            )
            cv = np.full(int(these.sum()), self.law.cv)
            bounds = routing_error(self.rule, agents, cv, at_nodes, callers, kinds.capacities[these])
            for measure, bound in bounds.items():
                total[measure] += float(kinds.weights[these] @ bound) * (
                    1.0 if measure in ("mean_queue", "occupancy", "throughput") else float(factor)
                )
        return total


def _strata(size: int, generator: np.random.Generator) -> Vector:
    """Normal scores, one from each of `size` equally likely ranges, in random order."""
    u = (generator.permutation(size) + generator.random(size)) / size
    return np.asarray(ndtri(np.maximum(u, 1e-300)))
