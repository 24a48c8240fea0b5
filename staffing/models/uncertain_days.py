"""Agents one has yet to get, on days one does not know: a shared queue averaged over rosters and days."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, ndtr, ndtri

from staffing.models.agents import OfRoster
from staffing.models.arguments import count
from staffing.models.closure_error import closure_error
from staffing.models.days import Days
from staffing.models.drawn_agents import DrawnAgents
from staffing.models.performance import (
    MEASURES,
    MethodError,
    Performance,
    Spread,
    Sums,
    measures,
    performance,
)
from staffing.models.rate_laws import RateLaw
from staffing.models.routing import EXACT_ROUTINGS, Routing, Rule
from staffing.models.routing_error import routing_error
from staffing.models.score_nodes import smooth_nodes
from staffing.models.shared_queue import COLUMNS, Callers, QueueWaits, Vector, closure_days

POINTS = 4096
"""Rosters and days of which quantiles and shares are those of a level, a power of two."""
QUADRATURE_ERROR = 5e-5
"""Of shares, and of other measures as a share of them."""
CALLS = "calls"
"""In the measures of one day: its calls over those of a mean day."""
_BY_TIME = np.array([name in ("queue", "busy") for name in Sums._fields])
_ENDLESS = [Sums._fields.index("queue"), Sums._fields.index("answered_wait")]


class _Kinds(NamedTuple):
    """Kinds of rosters and days, an element each, and their chances."""

    calls: Vector
    """The day's arrival factor A."""
    present: NDArray[np.int64]
    capacities: Vector
    weights: Vector
    rows: Vector
    """Rows of sums."""


@dataclass(frozen=True)
class DayWaits:
    """The wait of all calls over days that differ in their calls, each weighted by its calls."""

    parts: tuple[QueueWaits, ...]

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

    most: ClassVar[int | None] = None

    callers: Callers
    law: RateLaw
    days: Days
    routing: Routing = "longest-idle"
    seed: int = 0
    _level: DrawnAgents = field(init=False, repr=False, compare=False)
    _nodes: dict[int, _Kinds] = field(default_factory=dict, init=False, repr=False, compare=False)
    _sobol: dict[int, dict[str, Vector]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _shares: dict[tuple[int, float], float] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _scores: list[Vector] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_level", DrawnAgents(self.callers, self.law, self.routing))
        object.__setattr__(self, "routing", self._level.routing)
        count("seed", self.seed)

    @property
    def rule(self) -> Rule:
        """Which idle agent gets a call."""
        return self._level.rule

    @property
    def mean_rate(self) -> float:
        """Mean rate of an agent."""
        return self.law.mean

    def values(self, agents: int) -> dict[str, float]:
        """Mean of every measure over rosters and days, without the rest of `performance`: for searches."""
        n = count("agents", agents)
        kinds = self._average(n)
        by_calls = kinds.weights * kinds.calls
        by_calls /= by_calls.sum()
        finite = kinds.rows[:, :-1].copy()
        endless = self.endless(n)
        if endless:
            finite[:, _ENDLESS] = 0.0
        sums = np.where(_BY_TIME, kinds.weights @ finite, by_calls @ finite)
        if endless:
            sums[_ENDLESS] = math.inf
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
        kinds, values = self._average(n), self.values(n)
        by_day = self._by_day(n)
        return performance(
            values,
            method=f"{self._level.method(n)} over days",
            method_error=self._error(n, kinds, values),
            time_unit=self.callers.time_unit,
            threshold=self.callers.threshold,
            wait_law=self._waits(kinds),
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
            self._shares[agents, capacity] = self._share_below(agents, capacity)
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

    def _average(self, agents: int) -> _Kinds:
        """The kinds of rosters and days that the mean is taken over, remembered: searches come back."""
        if agents not in self._nodes:
            self._nodes[agents] = self._with_rows(*self._grid(agents))
        return self._nodes[agents]

    def _grid(self, agents: int) -> tuple[Vector, NDArray[np.int64], Vector, Vector]:
        """Arrival factor, agents present, capacity and weight of every node."""
        days = self.days
        few = max(days.mean_present(agents), 1.0)
        widths = {
            "roster": self.law.cv / math.sqrt(few),
            "rate": days.rate_log_sd,
            "calls": days.arrival_cv,
            "present": math.sqrt(days.absence / few),
        }
        turning, smooth = {}, self._width()
        for name in sorted(widths, key=widths.__getitem__, reverse=True):
            turning[name] = widths[name] / smooth
            smooth = math.hypot(smooth, widths[name])
        roster, rate, calls = (smooth_nodes(turning[name]) for name in ("roster", "rate", "calls"))
        present, chances = days.present_nodes(agents, turning["present"])
        capacities = np.array([self.law.capacity_at_score(int(m), roster[0]) for m in present])
        factors, arrivals = days.rate_factor(rate[0]), days.arrival_factor(calls[0])
        shape = arrivals.size, present.size, roster[0].size, factors.size
        weights = np.einsum("i,j,k,l->ijkl", calls[1], chances, roster[1], rate[1])
        return (
            np.broadcast_to(arrivals[:, np.newaxis, np.newaxis, np.newaxis], shape).ravel(),
            np.broadcast_to(present[:, np.newaxis, np.newaxis], shape).ravel(),
            np.broadcast_to(capacities[:, :, np.newaxis] * factors, shape).ravel(),
            weights.ravel(),
        )

    def _width(self) -> float:
        """Over how large a share of the load the queue turns."""
        lam = self.callers.arrival_rate
        return self._level.turn_width() / lam if lam > 0 else math.inf

    def _with_rows(
        self, calls: Vector, present: NDArray[np.int64], capacities: Vector, weights: Vector
    ) -> _Kinds:
        rows = closure_days(
            self.callers, self.callers.arrival_rate * calls, present, capacities, self._level.c2
        )
        return _Kinds(calls, present, capacities, weights, rows)

    def _by_day(self, agents: int) -> dict[str, Vector]:
        """Every measure of each Sobol point, and its calls; the same points for all levels."""
        if agents not in self._sobol:
            score, rate, arrivals, u = self._points()
            present = self.days.present(agents, u)
            capacities = np.empty(POINTS)
            for m in np.unique(present):
                these = present == m
                capacities[these] = self.law.capacity_at_score(int(m), score[these])
            calls = self.days.arrival_factor(arrivals)
            kinds = self._with_rows(
                calls, present, capacities * self.days.rate_factor(rate), np.full(POINTS, 1 / POINTS)
            )
            self._sobol[agents] = {
                CALLS: calls,
                **measures(
                    list(kinds.rows[:, :-1].T),
                    arrival_rate=self.callers.arrival_rate * calls,
                    agents=present.astype(np.float64),
                    capacity=kinds.capacities,
                ),
            }
        return self._sobol[agents]

    def _points(self) -> list[Vector]:
        """Normal scores of capacity, rate and calls, and the probability of the number present."""
        if not self._scores:
            from scipy.stats import qmc

            u = qmc.Sobol(4, seed=np.random.default_rng(self.seed)).random(POINTS)
            u = np.clip(u, 1e-12, 1 - 1e-12)
            self._scores.extend([*ndtri(u[:, :3].T), u[:, 3]])
        return self._scores

    def _share_below(self, agents: int, capacity: float) -> float:
        """Exactly in the widest of rate, calls and roster, which smooths the sum over the others."""
        days, law, t = self.days, self.law, self.days.rate_log_sd
        present, chances = days.present_nodes(agents)
        widths = {
            "roster": law.cv / math.sqrt(max(days.mean_present(agents), 1.0)),
            "rate": t,
            "calls": days.arrival_cv,
        }
        widest = max(widths, key=widths.__getitem__)
        turning = {name: width / (widths[widest] or 1.0) for name, width in widths.items()} | {widest: 0.0}
        (score, roster), (rate, by_rate), (calls, by_calls) = (smooth_nodes(turning[name]) for name in widths)
        share, weights = 0.0, by_calls[:, np.newaxis] * by_rate
        factors = np.ones(1) if widest == "rate" else days.rate_factor(rate)
        arrivals = np.ones(1) if widest == "calls" else days.arrival_factor(calls)
        limits = max(capacity, 1e-300) * arrivals[:, np.newaxis] / factors
        for m, chance in zip(present, chances, strict=True):
            if widest == "roster":
                below = np.array([[law.capacity_cdf(int(m), float(x)) for x in row] for row in limits])
                share += float(chance * (below * weights).sum())
                continue
            excess = np.maximum(law.capacity_at_score(int(m), score), 1e-300) / limits[..., np.newaxis]
            by_rate_alone = widest == "rate"
            below = ndtr((t * t / 2 - np.log(excess)) / t) if by_rate_alone else days.arrival_survival(excess)
            share += float(chance * weights.ravel() @ (below @ roster).ravel())
        return min(share, 1.0)

    def _waits(self, kinds: _Kinds) -> DayWaits:
        lam, parts = self.callers.arrival_rate, []
        by_calls = kinds.weights * kinds.calls
        by_calls /= by_calls.sum()
        for factor in np.unique(kinds.calls):
            these = kinds.calls == factor
            parts.append(
                QueueWaits(
                    self.callers.replace_rate(lam * float(factor)),
                    kinds.capacities[these],
                    by_calls[these],
                    kinds.rows[these, COLUMNS - 1],
                )
            )
        return DayWaits(tuple(parts))

    def _error(self, agents: int, kinds: _Kinds, values: Mapping[str, float]) -> dict[str, MethodError]:
        present = max(round(self.days.mean_present(agents)), 1)
        exact = self.routing in EXACT_ROUTINGS
        theta = self.callers.abandonment_rate
        error = closure_error(
            self.law,
            present,
            values,
            given_capacity=exact,
            patience=1 / theta if theta > 0 else math.inf,
        )
        if agents == 0 and self.days.arrival_cv == 0:
            return dict.fromkeys(MEASURES, "exact")
        routed = {} if exact else self._routing_error(present, kinds)
        for measure, value in values.items():
            stated = error[measure]
            if measure == "blocking_probability" or math.isinf(value):
                continue
            share = "prob" in measure or "level" in measure
            error[measure] = (
                (stated if isinstance(stated, float) else 0.0)
                + routed.get(measure, 0.0)
                + QUADRATURE_ERROR * (1.0 if share else value)
            )
        return error

    def _routing_error(self, agents: int, kinds: _Kinds) -> dict[str, float]:
        """The mean of the rule's bounds over rosters and days."""
        lam, total = self.callers.arrival_rate, dict.fromkeys(MEASURES, 0.0)
        for factor in np.unique(kinds.calls):
            these = kinds.calls == factor
            callers = self.callers.replace_rate(lam * float(factor))
            at_nodes = measures(
                list(kinds.rows[these, :-1].T),
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
