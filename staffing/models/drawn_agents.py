"""Agents one has yet to get: a shared queue averaged over rosters drawn from the law of the rates."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from staffing.models.arguments import count
from staffing.models.performance import MEASURES, MethodError, Performance, Spread, Sums, performance
from staffing.models.rate_laws import GammaRates
from staffing.models.score_nodes import FARTHEST, score_nodes
from staffing.models.shared_queue import (
    EXACT,
    Callers,
    QueueWaits,
    Vector,
    averaged_measures,
    closure_rows,
)

_QUEUE = Sums._fields.index("queue")
_ANSWERED_WAIT = Sums._fields.index("answered_wait")
_BRACKETS = np.array([-FARTHEST, -3.0, -1.5, -0.5, 0.5, 1.5, 3.0, FARTHEST])


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
    law : GammaRates
        The law of one agent's rate, per the same unit of time. With CV 0 the answer is Erlang A, exactly.
    """

    callers: Callers
    law: GammaRates
    _averages: dict[int, tuple[Vector, Vector, Vector]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    _marks: dict[int, list[dict[str, float]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def values(self, agents: int) -> dict[str, float]:
        """Call-weighted mean of every measure over rosters, without the rest of `performance`: for searches."""
        n = count("agents", agents)
        rows, capacities, weights = self._average(n)
        return averaged_measures(self.callers, n, rows, capacities, weights)

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
        values = averaged_measures(self.callers, n, rows, capacities, weights)
        return performance(
            values,
            method=self._classic if alike else "gamma closure",
            method_error=EXACT if alike or n == 1 else self._closure_error(values),
            time_unit=self.callers.time_unit,
            threshold=self.callers.threshold,
            wait_law=QueueWaits(self.callers, capacities, weights, rows[:, -1].copy()),
            spread={} if alike else self.spread(n),
        )

    def at_scores(self, agents: int, scores: Vector) -> list[dict[str, float]]:
        """Every measure for rosters whose capacity has these normal scores."""
        capacities = self.law.capacity_at_score(agents, scores)
        rows = closure_rows(self.callers, agents, capacities, self.law.cv**2)
        one = np.ones(1)
        return [
            averaged_measures(self.callers, agents, rows[j : j + 1], capacities[j : j + 1], one)
            for j in range(capacities.size)
        ]

    def spread(self, agents: int) -> Mapping[str, Spread]:
        """The 5, 50 and 95% points of every measure over rosters."""
        points = self.at_scores(agents, ndtri(np.array([0.05, 0.5, 0.95])))
        return {m: Spread(*sorted(point[m] for point in points)) for m in MEASURES}

    def share_of_rosters(self, agents: int, fails: Callable[[Mapping[str, float]], float]) -> float:
        """The share of rosters for which `fails` is positive; `fails` must fall as capacity grows."""
        n = count("agents", agents)

        # A few scores at once, the same for every measure, bracket the one at which it crosses its limit.
        if n not in self._marks:
            self._marks[n] = self.at_scores(n, _BRACKETS)
        known = {z: fails(values) for z, values in zip(_BRACKETS, self._marks[n], strict=True)}
        low = max((z for z, value in known.items() if value > 0), default=None)
        if low is None:
            return 0.0
        high = min((z for z, value in known.items() if z > low), default=None)
        if high is None:
            return 1.0

        def excess(z: float) -> float:
            return known[z] if z in known else fails(self.at_scores(n, np.array([z]))[0])

        return float(ndtr(brentq(excess, low, high, xtol=1e-6)))

    def unstable_share(self, agents: int) -> float:
        """The share of rosters whose queue grows without end."""
        if self.callers.abandonment_rate > 0:
            return 0.0
        return self.law.capacity_cdf(agents, self.callers.arrival_rate)

    @property
    def _classic(self) -> str:
        return "Erlang C" if self.callers.abandonment_rate == 0 else "Erlang A"

    def _average(self, agents: int) -> tuple[Vector, Vector, Vector]:
        """Rows of sums, capacities and weights of the average over rosters, remembered: searches come back."""
        if agents in self._averages:
            return self._averages[agents]
        capacities, weights = self._nodes(agents)
        rows = closure_rows(self.callers, agents, capacities, self.law.cv**2)
        if self.callers.abandonment_rate == 0 and capacities.size > 1:
            # A roster at or below the load is always possible, if rarely, and its queue grows without end.
            rows[:, [_QUEUE, _ANSWERED_WAIT]] = np.inf
        self._averages[agents] = rows, capacities, weights
        return self._averages[agents]

    def _closure_error(self, values: Mapping[str, float]) -> dict[str, MethodError]:
        """Bounds on the closure's bias, from exact rosters of 1 to 200 agents at CV up to 1, loads .1 to 2.

        Given the capacity, the closure errs in P(wait) alone: the wait of those who wait is exact.
        """
        c2 = self.law.cv**2
        size = c2 * c2 / (1 + 4 * c2)
        waits = min(0.05 * size, values["wait_probability"])
        per_wait = 2 * waits / values["wait_probability"] if waits > 0 else 0.0
        error: dict[str, MethodError] = {
            measure: 0.05 * size for measure in MEASURES if measure.startswith("service_level")
        }
        for measure in ("mean_wait", "mean_wait_answered", "mean_queue"):
            error[measure] = per_wait * values[measure] if math.isfinite(values[measure]) else "exact"
        lost = min(0.03 * size, values["abandonment_probability"])
        return error | {
            "wait_probability": waits,
            "abandonment_probability": lost,
            "blocking_probability": "exact",
            "occupancy": 0.3 * size,
            "capacity_utilisation": lost,
            "throughput": lost * self.callers.arrival_rate,
        }

    def _nodes(self, agents: int) -> tuple[Vector, Vector]:
        """Capacities and weights of the average over rosters."""
        lam, theta, tau = self.callers.arrival_rate, self.callers.abandonment_rate, self.callers.threshold
        mean, cv = self.law.mean, self.law.cv
        if self.law.alike or agents == 0 or lam == 0:
            return np.array([agents * mean]), np.ones(1)
        # Where measures turn: capacity at the load, and where a long queue's wait passes the threshold; how fast.
        turns = [lam, lam * math.exp(-theta * tau)] if theta < math.inf else [lam]
        width = math.sqrt(lam * (min(theta, mean) or mean)) / (mean * cv * math.sqrt(agents))
        if theta == 0 and tau > 0:
            width = min(width, 1 / (tau * mean * cv * math.sqrt(agents)))
        elif theta > 0 and width > 4:
            turns = []  # too gently to be worth nodes of their own
        scores, weights = score_nodes([self.law.score(agents, turn) for turn in turns], width)
        return self.law.capacity_at_score(agents, scores), weights
