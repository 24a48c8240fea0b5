"""Agents one has yet to get: a shared queue averaged over rosters drawn from the law of the rates."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtri

from staffing.models.agents import Factors, OfRoster
from staffing.models.arguments import count
from staffing.models.arrival_error import with_arrival_error
from staffing.models.closure_error import closure_error
from staffing.models.erlang import kendall
from staffing.models.errors import ScenarioError
from staffing.models.patient_queue import reach_without_excess
from staffing.models.performance import MEASURES, MethodError, Performance, Spread, performance
from staffing.models.rate_laws import RateLaw
from staffing.models.routing import EXACT_ROUTINGS, Routing, Rule, rule_of, without_closure
from staffing.models.routing_error import with_routing_error
from staffing.models.score_nodes import FARTHEST, score_nodes
from staffing.models.shared_queue import (
    ENDLESS,
    EXACT,
    Callers,
    Vector,
    averaged_measures,
    closure_rows,
    measures_by_roster,
    waits_of,
)

_ONE = np.ones(1)
_SCORES = np.array([-FARTHEST, -3.0, ndtri(0.05), -0.7, 0.0, 0.7, ndtri(0.95), 3.0, FARTHEST])
_POINTS = [2, 4, 6]
"""Where among the scores the 5, 50 and 95% points are."""


@dataclass(frozen=True)
class DrawnAgents:
    """A shared queue whose agents are a fresh draw from a law of rates.

    Given the capacity S of the roster, its idle weights follow the gamma closure
    a_(i+1) / a_i = S (n - i) / ((n + i c2) lam), c2 the squared CV of rates; the average over S is a quadrature in
    its normal score, with panels that meet where the queue or the service level turns. One more unit of capacity
    never hurts a caller, so quantiles over rosters are the measures at quantiles of S.

    Parameters
    ----------
    callers : Callers
        What is offered.
    law : RateLaw
        The law of one agent's rate, per the same unit of time. With CV 0 the answer is Erlang A, exactly.
    routing : str
        Which idle agent gets the call: "longest-idle" or "random", which come to the same, or "least-occupied", which
        makes all agents idle for equal shares of the time, as if c2 were 0 given the capacity.

    Raises
    ------
    ScenarioError
        If the routing is another: it has no closure.
    """

    callers: Callers
    law: RateLaw
    routing: Routing = "longest-idle"
    _averages: dict[int, tuple[Vector, Vector, Vector]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    _grids: dict[int, tuple[Vector, dict[str, Vector]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        rule = rule_of(self.routing)
        object.__setattr__(self, "routing", rule)
        if without_closure(rule):
            raise ScenarioError(
                f"routing: {self.routing!r} has no closure; SampledAgents averages over rosters under it"
            )

    @property
    def c2(self) -> float:
        """The squared CV of rates that the idle states see, given the capacity."""
        return self.law.cv**2 if self.routing in EXACT_ROUTINGS else 0.0

    @property
    def rule(self) -> Rule:
        """Which idle agent gets a call."""
        return rule_of(self.routing)

    @property
    def most(self) -> int | None:
        """As many as there may be calls; None for no limit."""
        return self.callers.max_calls

    @property
    def arrival_factors(self) -> Factors | None:
        """None: all days are alike."""
        return None

    @property
    def mean_rate(self) -> float:
        """Mean rate of an agent."""
        return self.law.mean

    def values(self, agents: int) -> dict[str, float]:
        """Call-weighted mean of every measure over rosters, without the rest of `performance`: for searches."""
        n = count("agents", agents)
        rows, _, weights = self._average(n)
        return averaged_measures(self.callers, n, rows, self.mean_capacity(n), weights)

    def performance(self, agents: int) -> Performance:
        """Call-weighted mean performance over rosters of this many agents, with its spread over rosters.

        Exact for CV 0, for one agent and for none; otherwise `method_error` bounds what the closure was measured to
        miss. Where callers never give up and agents differ, mean waits are infinite.

        Raises
        ------
        ScenarioError
            If `agents` is not a whole number of at least 0.
        """
        n = count("agents", agents)
        rows, capacities, weights = self._average(n)
        alike = self.law.alike or n == 0
        values = averaged_measures(self.callers, n, rows, self.mean_capacity(n), weights)
        return performance(
            values,
            method=self.method(n),
            method_error=with_arrival_error(
                EXACT if alike else self._error(n, rows, capacities, weights, values),
                self.callers,
                n,
                self.rule,
                self.law.cv,
                values,
            ),
            time_unit=self.callers.time_unit,
            threshold=self.callers.threshold,
            wait_law=waits_of(self.callers, capacities, weights, rows, n),
            spread={} if alike else self._spread(n),
        )

    def at_scores(self, agents: int, scores: Vector) -> dict[str, Vector]:
        """Every measure for rosters whose capacity has these normal scores, as arrays."""
        return self._at(agents, self._capacity_at(agents, scores))

    def spread_of(self, agents: int, figure: OfRoster) -> Spread:
        """The 5, 50 and 95% points over rosters of a figure that falls, or rises, as capacity grows."""
        figures = np.broadcast_to(figure(self._grid(agents)[1]), _SCORES.shape)
        return Spread(*sorted(figures[_POINTS].tolist()))

    def shares_failing(self, agents: int, tests: Mapping[str, OfRoster]) -> tuple[dict[str, float], float]:
        """The share of rosters that fail each test, and that of those which fail any.

        A roster fails if the test is positive, or its queue grows without end. Tests must fall as capacity grows: then
        one capacity decides them all, and the worst test is failed by all that fail any.
        """
        n = count("agents", agents)
        unstable = self.unstable_share(n)
        shares = {name: max(self._share_failing(n, fails), unstable) for name, fails in tests.items()}
        return shares, max(shares.values(), default=0.0)

    def unstable_share(self, agents: int) -> float:
        """The share of rosters whose queue grows without end."""
        if self.callers.settle:
            return 0.0
        return self.law.capacity_cdf(agents, self.callers.arrival_rate)

    def endless(self, agents: int) -> bool:
        """Whether a roster at or below the load is possible, if rarely, so that the mean wait is infinite."""
        return not self.callers.settle and agents * self.law.lowest <= self.callers.arrival_rate

    def mean_capacity(self, agents: int) -> float:
        """Agents times their mean rate."""
        return agents * self.law.mean

    def capacity_cdf(self, agents: int, capacity: float) -> float:
        """The share of rosters with at most this capacity."""
        return self.law.capacity_cdf(agents, capacity)

    def rosters(self, around: int) -> Callable[[int, np.random.Generator], Vector]:
        """Draws of rosters of `around` + 1 agents, the last two drawn apart: even at each of the last three sizes."""

        def draw(size: int, generator: np.random.Generator) -> NDArray[np.float64]:
            sizes = (max(around - 1, 0), 1, 1)
            return np.hstack([self.law.rosters(n, size, generator, strata=True) for n in sizes])

        return draw

    def _capacity_at(self, agents: int, scores: Vector) -> Vector:
        capacities = self.law.capacity_at_score(agents, scores)
        if self.callers.settle or agents == 0:
            return capacities
        # Where callers never give up, a capacity that cannot be must not decide whether the queue settles.
        return np.clip(capacities, agents * self.law.lowest, agents * self.law.highest)

    def _spread(self, agents: int) -> Mapping[str, Spread]:
        values = self._grid(agents)[1]
        return {m: Spread(*sorted(values[m][_POINTS].tolist())) for m in MEASURES}

    def _share_failing(self, agents: int, fails: OfRoster) -> float:
        """The chance of a capacity below the one at which `fails` turns, which the grid brackets."""
        capacities, values = self._grid(agents)
        failing = np.flatnonzero(np.broadcast_to(fails(values), _SCORES.shape) > 0)
        if failing.size == 0:
            return 0.0
        last = failing[-1]
        if last == _SCORES.size - 1:
            return 1.0

        def excess(capacity: float) -> float:
            rows = closure_rows(self.callers, agents, np.array([capacity]), self.c2)
            # Many times as fast in plain numbers as in arrays of one.
            return fails(averaged_measures(self.callers, agents, rows, capacity, _ONE))

        turn = brentq(excess, capacities[last], capacities[last + 1], rtol=1e-12)
        return self.law.capacity_cdf(agents, float(turn))

    def _grid(self, agents: int) -> tuple[Vector, dict[str, Vector]]:
        """Capacities at a few scores and every measure there, the same for all that is asked of a level."""
        if agents not in self._grids:
            capacities = self._capacity_at(agents, _SCORES)
            self._grids[agents] = capacities, self._at(agents, capacities)
        return self._grids[agents]

    def _at(self, agents: int, capacities: Vector) -> dict[str, Vector]:
        rows = closure_rows(self.callers, agents, capacities, self.c2)
        return measures_by_roster(self.callers, agents, rows, capacities)

    def _error(
        self, agents: int, rows: Vector, capacities: Vector, weights: Vector, values: Mapping[str, float]
    ) -> Mapping[str, MethodError]:
        error = self.closure_error(agents, values)
        if self.routing in EXACT_ROUTINGS:
            return error
        at_nodes = measures_by_roster(self.callers, agents, rows, capacities)
        cv = np.full(capacities.size, self.law.cv)
        return with_routing_error(error, self.rule, agents, cv, at_nodes, self.callers, capacities, weights)

    def closure_error(self, agents: int, values: Mapping[str, float]) -> dict[str, MethodError]:
        """Bounds on what the closure may miss of these values, but for those of the routing rule itself."""
        exact = self.routing in EXACT_ROUTINGS
        return closure_error(
            self.law, agents, values, given_capacity=exact, patience=self.callers.mean_patience
        )

    def method(self, agents: int) -> str:
        """How this many agents are answered for."""
        if not (self.law.alike or agents == 0):
            closure = "gamma closure" if self.routing in EXACT_ROUTINGS else "closure of equal idle shares"
            return f"{closure}, renewal calls" if self.callers.bursty else closure
        return kendall(self.callers, agents)

    def _average(self, agents: int) -> tuple[Vector, Vector, Vector]:
        """Rows of sums, capacities and weights of the average over rosters, remembered: searches come back."""
        if agents in self._averages:
            return self._averages[agents]
        self.callers.places(agents)
        capacities, weights = self.nodes(agents)
        rows = closure_rows(self.callers, agents, capacities, self.c2)
        if self.endless(agents) and capacities.size > 1:
            rows[:, ENDLESS] = np.inf
        self._averages[agents] = rows, capacities, weights
        return self._averages[agents]

    def turn_width(self, agents: int) -> float:
        """How much capacity it takes the queue to turn from a short to a long one."""
        lam, theta, tau = self.callers.arrival_rate, self.callers.abandonment_rate, self.callers.threshold
        if (patience := self.callers.patience) is not None:
            width = min(1 / reach_without_excess(patience, lam), math.sqrt(lam * self.law.mean))
        else:
            width = math.sqrt(lam * (min(theta, self.law.mean) or self.law.mean))
            width = min(width, 1 / tau) if theta == 0 and tau > 0 else width
        if self.callers.max_calls is None:
            return width
        return max(width, min(lam / (self.callers.max_calls - agents + 1), math.sqrt(lam * self.law.mean)))

    def nodes(self, agents: int) -> tuple[Vector, Vector]:
        """Capacities and weights of the average over rosters."""
        lam, theta, tau = self.callers.arrival_rate, self.callers.abandonment_rate, self.callers.threshold
        mean, cv = self.law.mean, self.law.cv
        if self.law.alike or agents == 0 or lam == 0:
            return np.array([agents * mean]), np.ones(1)
        # Where measures turn: capacity at the load, and where a long queue's wait passes the threshold; how fast.
        turns = [lam, lam * math.exp(-theta * tau)] if theta < math.inf else [lam]
        if (patience := self.callers.patience) is not None:
            turns[-1] = lam * patience.survival(tau)
        width = self.turn_width(agents) / (mean * cv * math.sqrt(agents))
        if self.callers.settle and width > 4:
            turns = []  # too gently to be worth nodes of their own
        scores, weights = score_nodes([self.law.score(agents, turn) for turn in turns], width)
        return self._capacity_at(agents, scores), weights
