"""Agents one has yet to get, without approximation: many rosters, each by its exact law."""

import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from staffing.models.agents import Factors, OfRoster
from staffing.models.arguments import count
from staffing.models.arrival_error import with_arrival_error
from staffing.models.drawn_agents import DrawnAgents
from staffing.models.errors import ScenarioError
from staffing.models.latin_hypercube import LatinHypercube
from staffing.models.performance import MEASURES, MethodError, Performance, Spread, performance
from staffing.models.rate_laws import RateLaw
from staffing.models.routed_rows import routed_levels, routed_row
from staffing.models.routing import EXACT_ROUTINGS, Routing, rule_of, without_closure
from staffing.models.routing_error import routing_method, with_routing_error
from staffing.models.shared_queue import (
    COLUMNS,
    ENDLESS,
    Callers,
    Vector,
    closure_rows,
    measures_by_roster,
    waits_of,
)
from staffing.models.stoppable_threads import Flag, in_threads

MOST_EXACT = 2000
"""Above so many agents the closure answers; its error has vanished there, and the exact law takes long."""
FEWEST_ROSTERS, MOST_ROSTERS = 100, 100_000
MOST_RATES = 20_000_000
"""Rates that are drawn at most: above 10,000 rosters the closure answers from fewer agents on."""
GROUPS = 20
ERRORS = 4
"""Standard errors that the stated error of a mean over rosters is."""
_TOGETHER = 64
_MOST_ROWS = 160_000
_KEPT = 8

Bar = Callable[[int], AbstractContextManager[Callable[[float], None]]]


def _no_bar(total: int) -> AbstractContextManager[Callable[[float], None]]:
    return nullcontext(lambda done: None)


class SampledAgents:
    """A shared queue whose agents are a fresh draw from a law of rates, averaged over rosters drawn evenly.

    Under longest-idle and random routing every roster is answered by its exact law, so only the draw of the rosters
    leaves an error, which their independent groups tell. Under other rules every roster is answered as by
    `roster_performance`, and the mean of what that may err by is added. Quantiles and shares over rosters are those of
    the rosters drawn: a share p is known to sqrt(p (1 - p) / rosters), 0.016 at most for a thousand. Above `most_exact`
    agents the closure answers where the rule has one, and one exact roster tells its error.

    Parameters
    ----------
    callers : Callers
        What is offered.
    law : RateLaw
        The law of one agent's rate, per the same unit of time.
    rosters : int
        Rosters to draw, from `FEWEST_ROSTERS` to `MOST_ROSTERS`; rounded up to a multiple of 20.
    seed : int
        Seed of the draw, >= 0. All levels have the rosters' first agents in common.
    routing : str or WeightedRandom
        Which idle agent gets the call: a rule by its name, or WeightedRandom(power).
    workers : int
        Threads, >= 1. The results do not depend on it.
    bar : callable, optional
        Given the rosters that are to be done, a context whose value is called with the number done, again and again.

    Raises
    ------
    ScenarioError
        If the rule is not known, or is a priority list, which agents drawn at random do not stand in.
    """

    arrival_factors: Factors | None = None

    def __init__(
        self,
        callers: Callers,
        law: RateLaw,
        *,
        rosters: int = 1000,
        seed: int = 0,
        routing: Routing = "longest-idle",
        workers: int = 1,
        bar: Bar | None = None,
    ) -> None:
        self.callers, self.law, self.mean_rate = callers, law, law.mean
        self.rule = rule_of(routing)
        self._even = not without_closure(self.rule)
        """Whether a closure answers where rosters are too many."""
        self.closure = DrawnAgents(callers, law, self.rule if self._even else "longest-idle")
        self._size = -(-rosters // GROUPS)
        self._seed = seed
        self._draw = LatinHypercube(law, groups=GROUPS, size=self._size, seed=self._seed)
        self._workers, self._bar = workers, bar or _no_bar
        # Only an exact rule has other levels nearly for free.
        exact = self.rule in EXACT_ROUTINGS and not callers.bursty
        self._width = self._levels_at_once(callers.arrival_rate / law.mean) if exact else 1
        self._blocks: dict[int, Vector] = {}
        self._seen: dict[int, dict[str, float]] = {}

    @property
    def most(self) -> int | None:
        """As many as there may be calls, and as are answered for by rosters under a rule without a closure."""
        limits = (self.callers.max_calls, None if self._even else self.most_exact)
        return min((limit for limit in limits if limit is not None), default=None)

    @property
    def most_exact(self) -> int:
        """The most agents answered for by rosters."""
        return min(MOST_EXACT, MOST_RATES // self.drawn)

    @property
    def drawn(self) -> int:
        """Rosters drawn."""
        return GROUPS * self._size

    def values(self, agents: int) -> dict[str, float]:
        """Call-weighted mean of every measure over rosters, without the rest of `performance`: for searches."""
        n = self._count(agents)
        if n > self.most_exact:
            return self.closure.values(n)
        means = self._means(n, self._rows(n)[np.newaxis], self.capacities(n)[np.newaxis])
        return {measure: float(value[0]) for measure, value in means.items()}

    def performance(self, agents: int) -> Performance:
        """Call-weighted mean performance over rosters of this many agents, with its spread over rosters.

        `method_error` is four standard errors of the mean over rosters, `standard_errors` has those.

        Raises
        ------
        ScenarioError
            If `agents` is not a whole number of at least 0.
        """
        n = self._count(agents)
        if n > self.most_exact:
            return self._cross_checked(n)
        rows, capacities, by_roster = self._rows(n), self.capacities(n), self.by_roster(n)
        values, even = self.values(n), np.full(self.drawn, 1 / self.drawn)
        groups = self._means(n, rows.reshape(GROUPS, self._size, -1), capacities.reshape(GROUPS, -1))
        errors = {
            measure: float(np.std(value, ddof=1)) / math.sqrt(GROUPS) if np.isfinite(value).all() else 0.0
            for measure, value in groups.items()
        }
        stated: dict[str, MethodError] = {
            measure: "exact"
            if n == 0 or (measure == "blocking_probability" and not error)
            else ERRORS * error
            for measure, error in errors.items()
        }
        law = "exact law"
        if self.callers.bursty:
            law = routing_method(self.rule, values["wait_probability"], self.callers)
            stated = with_arrival_error(stated, self.callers, n, self.rule, self.law.cv, values)
        if self.rule not in EXACT_ROUTINGS:
            law = routing_method(self.rule, values["wait_probability"], self.callers)
            stated = with_routing_error(
                stated, self.rule, n, self._cvs(n), by_roster, self.callers, capacities, even
            )
        return performance(
            values,
            method=f"{law} of {self.drawn} rosters",
            method_error=stated,
            time_unit=self.callers.time_unit,
            threshold=self.callers.threshold,
            wait_law=waits_of(self.callers, capacities, even, rows, n),
            standard_errors=errors,
            spread={} if n == 0 else {m: Spread.of(value) for m, value in by_roster.items()},
        )

    def by_roster(self, agents: int) -> dict[str, Vector]:
        """Every measure of each roster, in the order drawn; at most `most_exact` agents."""
        return measures_by_roster(self.callers, agents, self._rows(agents), self.capacities(agents))

    def spread_of(self, agents: int, figure: OfRoster) -> Spread:
        """The 5, 50 and 95% points of a figure over rosters."""
        n = self._count(agents)
        if n > self.most_exact:
            return self.closure.spread_of(n, figure)
        return Spread.of(figure(self.by_roster(n)))

    def shares_failing(self, agents: int, tests: Mapping[str, OfRoster]) -> tuple[dict[str, float], float]:
        """The share of rosters that fail each test, and that of those which fail any.

        A roster fails if the test is positive, or its queue grows without end.
        """
        n = self._count(agents)
        if n > self.most_exact:
            return self.closure.shares_failing(n, tests)
        values = self.by_roster(n)
        failing = {name: (fails(values) > 0) | self._unstable(n) for name, fails in tests.items()}
        failing_any = np.any([*failing.values(), np.zeros(self.drawn, np.bool_)], axis=0)
        return {name: float(which.mean()) for name, which in failing.items()}, float(failing_any.mean())

    def unstable_share(self, agents: int) -> float:
        """The share of rosters whose queue grows without end; the law's own where none of the rosters drawn does."""
        n = self._count(agents)
        drawn = float(np.mean(self._unstable(n))) if n <= self.most_exact else 0.0
        return drawn or self.closure.unstable_share(n)

    def mean_capacity(self, agents: int) -> float:
        """Agents times their mean rate."""
        return self.closure.mean_capacity(agents)

    def capacity_cdf(self, agents: int, capacity: float) -> float:
        """The share of rosters with at most this capacity."""
        if agents > self.most_exact:
            return self.closure.capacity_cdf(agents, capacity)
        return float(np.mean(self.capacities(agents) <= capacity * (1 + 1e-12)))

    def rosters(self, around: int) -> Callable[[int, np.random.Generator], Vector]:
        """Fresh rosters, none of those averaged over here."""
        return self.closure.rosters(around)

    def _unstable(self, agents: int) -> NDArray[np.bool_]:
        if self.callers.settle:
            return np.zeros(self.drawn, np.bool_)
        unstable: NDArray[np.bool_] = self.capacities(agents) <= self.callers.arrival_rate * (1 + 1e-12)
        return unstable

    def capacities(self, agents: int) -> Vector:
        """The sum of the agents' rates of each roster, in the order drawn."""
        capacities: Vector = self._draw.rates(agents).sum(axis=0)
        return capacities

    def _cvs(self, agents: int) -> Vector:
        """The CV of the rates within each roster."""
        rates = self._draw.rates(max(agents, 1))
        cvs: Vector = rates.std(axis=0) / rates.mean(axis=0)
        return cvs

    def _count(self, agents: int) -> int:
        n = count("agents", agents)
        self.callers.places(n)
        if self.most is not None and n > self.most:
            raise ScenarioError(
                f"agents: {n} are more than {self.most}, the most whose rosters are answered for one by one, as"
                f" {self.rule!r} needs"
            )
        return n

    def _means(self, agents: int, rows: Vector, capacities: Vector) -> dict[str, Vector]:
        """Every measure from sums averaged over the second axis."""
        means = rows.mean(axis=1)
        if self.closure.endless(agents):
            # A roster at or below the load is possible, drawn or not.
            means[:, ENDLESS] = np.inf
        return measures_by_roster(self.callers, agents, means, capacities.mean(axis=1))

    def _levels_at_once(self, load: float) -> int:
        """As many as cost about what it takes to grow rosters up to the load, within bounds of memory."""
        worth_while = int(min(load, MOST_EXACT) ** 2 / 1000)
        return max(min(max(worth_while, 16), 160, _MOST_ROWS // self.drawn), 1)

    def _rows(self, agents: int) -> Vector:
        """Rows of sums of every roster at this level; levels are computed some at a time, and the last kept."""
        block = agents // self._width
        if block not in self._blocks:
            first = block * self._width
            last = self.most_exact if self.most is None else min(self.most, self.most_exact)
            levels = range(first, min(first + self._width, last + 1))
            if len(self._blocks) >= _KEPT:
                del self._blocks[next(iter(self._blocks))]
            self._blocks[block] = self._computed(levels)
        rows: Vector = self._blocks[block][agents - block * self._width]
        return rows

    def _computed(self, levels: range) -> Vector:
        rates = self._draw.rates(levels[-1])
        result = np.empty((len(levels), self.drawn, COLUMNS))

        def compute(start: int, stop: Flag) -> tuple[slice, Vector]:
            part = slice(start, start + _TOGETHER)
            return part, routed_levels(self.callers, np.ascontiguousarray(rates[:, part]), levels, self.rule)

        with self._bar(self.drawn) as advance:

            def take(done: tuple[slice, Vector]) -> None:
                result[:, done[0]] = done[1]
                advance(done[1].shape[1])

            in_threads(compute, range(0, self.drawn, _TOGETHER), self._workers, take)
        return result

    def _cross_checked(self, agents: int) -> Performance:
        """The closure's answer, its error raised to what one exact roster shows if that is more."""
        # A roster of about so many agents will do: it takes long, and a plan asks for a dozen levels side by side.
        about = next((n for n in self._seen if abs(n - agents) <= 10 + 0.01 * n), agents)
        if about not in self._seen:
            self._seen[about] = self._missed_by_closure(about)
        found = self.closure.performance(agents)
        error: dict[str, MethodError] = dict(found.method_error)
        for measure in MEASURES:
            stated, seen = error[measure], self._seen[about][measure]
            if isinstance(stated, float) and seen > stated:
                error[measure] = seen
        return replace(found, method=f"{found.method}, held against an exact roster", method_error=error)

    def _missed_by_closure(self, agents: int) -> dict[str, float]:
        """By how much the closure, given its capacity, misses each measure of one roster."""
        generator = np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(agents,)))
        rates = self.law.rosters(agents, 1, generator)[0]
        capacity = np.array([rates.sum()])
        exact, closure = (
            measures_by_roster(self.callers, agents, rows, capacity)
            for rows in (
                routed_row(self.callers, rates, self.rule),
                closure_rows(self.callers, agents, capacity, self.closure.c2),
            )
        )
        return {measure: abs(float(exact[measure][0] - closure[measure][0])) for measure in MEASURES}
