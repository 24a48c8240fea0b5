"""Agents one has yet to get, by the diffusion: its random drift averaged over rosters and days."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtri

from staffing.models.arguments import count, non_negative
from staffing.models.days import Days
from staffing.models.diffusion.annealed_error import annealed_error
from staffing.models.diffusion.diffusion_error import UNKNOWN, is_bounded
from staffing.models.diffusion.given_capacity import (
    diffusion_rows,
    given_capacity,
    refuse_unfit,
    waits,
)
from staffing.models.diffusion.idleness import law_idleness, rough_rule
from staffing.models.errors import ScenarioError
from staffing.models.kinds_of_days import Kinds, drawn_kinds, kinds_for_means
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
from staffing.models.routing import Routing, Rule, rule_of
from staffing.models.score_nodes import score_nodes
from staffing.models.shared_queue import ENDLESS, Callers, QueueWaits, Vector, measures_by_roster
from staffing.models.uncertain_days import DayWaits

_BY_TIME = np.array([name in ("queue", "busy") for name in Sums._fields])
_SCORES = np.array([ndtri(0.05), 0.0, ndtri(0.95)])
_ONE_DAY = Days()


@dataclass(frozen=True)
class DrawnDiffusion:
    """A shared queue of agents drawn from a law of rates, by the diffusion whose drift is random.

    Given the roster's capacity S, on a day whose factor on the rates is Z and on the calls A, the process is that of
    `given_capacity`: drift (A lam - Z S) / sqrt(m), pull g Z S / (m mb), m agents present and g the `law_idleness` of
    the routing rule. Without days of their own Var(drift) is the variance of one rate: rosters of n agents differ by
    sqrt(n), as queues do. The mean over S is a quadrature in its normal score with panels that meet at S = lam, around
    which P(wait) turns over a width of 1 / sqrt(load) of it and sigma^2 has its kink: 1e-9 of the mean. Over days it is
    that of `kinds_for_means`: 1e-4 of P(wait) and 3e-4 of the mean queue, as measured against finer grids.

    Parameters
    ----------
    callers : Callers
        What is offered on a mean day; exponential patience, theta finite.
    law : RateLaw
        The law of one agent's rate on a mean day, per the same unit of time.
    days : Days
        The law of days.
    routing : str or WeightedRandom
        As for `roster_diffusion`, but for lists.
    arrival_scv : float
        ca^2 >= 0, squared CV of times between calls.
    continuity : bool
        Whether P(wait) is P(X > -1 / (2 sqrt(n))).
    seed : int
        Seed of the points that quantiles over days are taken from, >= 0.

    Raises
    ------
    ScenarioError
        If a parameter is out of range, or as `diffusion_rows` for the callers.

    References
    ----------
    Atar (2008), Central limit theorem for a many-server queue with random service rates.
    """

    callers: Callers
    law: RateLaw
    days: Days = _ONE_DAY
    routing: Routing = "longest-idle"
    arrival_scv: float = 1.0
    continuity: bool = False
    seed: int = 0
    _rule: Rule = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        refuse_unfit(self.callers)
        object.__setattr__(self, "_rule", rule_of(self.routing))
        non_negative("arrival_scv", self.arrival_scv)
        count("seed", self.seed)

    def key_measures(self, agents: int) -> dict[str, float]:
        """P(wait), mean queue, mean wait and P(abandon) alone, on average over rosters and days: in a millisecond.

        Mean queue and mean wait are infinite where callers never give up and rosters or days at or below the
        load are possible, however rare.

        Raises
        ------
        ScenarioError
            If `agents` is below 1, or nobody calls.
        """
        n = self._count(agents)
        kinds = self._kinds(n)
        lam, theta = self.callers.arrival_rate, self.callers.abandonment_rate
        calls, present, capacities, weights = kinds
        wait, queue = np.ones(weights.size), np.full(weights.size, lam / theta if theta > 0 else math.inf)
        queue *= calls
        fit = (present > 0) & ((theta > 0) | (capacities > lam * calls * (1 + 1e-12)))
        if fit.any():
            some = present[fit]
            process = given_capacity(
                lam * calls[fit],
                capacities[fit],
                theta,
                some,
                self._idleness(kinds, n)[fit],
                arrival_scv=self.arrival_scv,
            )
            wait[fit] = waits(process, some, continuity=self.continuity)
            queue[fit] = np.sqrt(some) * process.mean_above
        mean_calls = float(weights @ calls)
        mean_queue = math.inf if self.endless(n) else float(weights @ queue)
        return {
            "wait_probability": float(weights @ (wait * calls)) / mean_calls,
            "mean_queue": mean_queue,
            "mean_wait": mean_queue / (lam * mean_calls),
            "abandonment_probability": theta * mean_queue / (lam * mean_calls) if theta > 0 else 0.0,
        }

    def values(self, agents: int) -> dict[str, float]:
        """Call-weighted mean of every measure over rosters and days, without the rest of `performance`."""
        n = self._count(agents)
        kinds = self._kinds(n)
        return self._values(n, kinds, self._rows(kinds, n))

    def performance(self, agents: int) -> Performance:
        """Call-weighted mean performance over rosters and days of this many agents, with its spread over them.

        Raises
        ------
        ScenarioError
            If `agents` is not a whole number of at least 1, or nobody calls.
        """
        n = self._count(agents)
        kinds = self._kinds(n)
        rows = self._rows(kinds, n)
        note, values = rough_rule(self._rule), self._values(n, kinds, rows)
        return performance(
            values,
            method=f"diffusion, {note}" if note else "diffusion",
            method_error=self._error(n, kinds, rows, values),
            time_unit=self.callers.time_unit,
            threshold=self.callers.threshold,
            wait_law=self._waits(kinds, rows),
            spread=self._spread(n),
        )

    def by_day(self, agents: int) -> dict[str, Vector]:
        """Every measure of each of `POINTS` rosters and days, equally likely; the same points at every level."""
        n = self._count(agents)
        kinds = drawn_kinds(self.law, self.days, n, self.seed)
        return measures(
            list(self._rows(kinds, n)[:, :-1].T),
            arrival_rate=self.callers.arrival_rate * kinds.calls,
            agents=kinds.present.astype(np.float64),
            capacity=kinds.capacities,
        )

    def endless(self, agents: int) -> bool:
        """Whether a roster or a day at or below the load is possible, if rarely, so that the mean wait is infinite."""
        if self.callers.settle:
            return False
        return not self.days.alike or agents * self.law.lowest <= self.callers.arrival_rate

    def _count(self, agents: int) -> int:
        n = count("agents", agents)
        if n == 0:
            raise ScenarioError("agents: 0 must be at least 1 for a diffusion")
        if self.callers.arrival_rate == 0:
            raise ScenarioError("arrival_rate: 0 must be above 0 for a diffusion")
        return n

    def _values(self, agents: int, kinds: Kinds, rows: Vector) -> dict[str, float]:
        by_calls = kinds.weights * kinds.calls
        mean_calls = float(by_calls.sum())
        by_calls /= mean_calls
        finite = rows[:, :-1].copy()
        if self.endless(agents):
            finite[:, ENDLESS] = 0.0
        sums = np.where(_BY_TIME, kinds.weights @ finite, by_calls @ finite)
        sums[ENDLESS[0]] /= mean_calls
        if self.endless(agents):
            sums[ENDLESS] = math.inf
        present = self.days.mean_present(agents)
        return measures(
            sums.tolist(),
            arrival_rate=self.callers.arrival_rate,
            agents=present,
            capacity=present * self.law.mean,
        )

    def _error(
        self, agents: int, kinds: Kinds, rows: Vector, values: Mapping[str, float]
    ) -> Mapping[str, MethodError]:
        if not is_bounded(self._rule, self.arrival_scv, continuity=self.continuity):
            return UNKNOWN
        return annealed_error(self.callers, self.law, self.days, self._rule, agents, kinds, rows, values)

    def _rows(self, kinds: Kinds, agents: int) -> Vector:
        return diffusion_rows(
            self.callers,
            self.callers.arrival_rate * kinds.calls,
            kinds.present,
            kinds.capacities,
            self._idleness(kinds, agents),
            arrival_scv=self.arrival_scv,
            continuity=self.continuity,
        )

    def _idleness(self, kinds: Kinds, agents: int) -> Vector:
        each = kinds.capacities / np.maximum(kinds.present, 1)
        return each * (law_idleness(self.law, self._rule, agents) / self.law.mean)

    def _turn_width(self) -> float:
        """Over what share of the load P(wait) turns."""
        mean = self.law.mean
        return math.sqrt((min(self.callers.abandonment_rate, mean) or mean) / self.callers.arrival_rate)

    def _kinds(self, agents: int) -> Kinds:
        """The kinds of rosters and days that means are taken over."""
        width = self._turn_width()
        if not self.days.alike:
            return kinds_for_means(self.law, self.days, agents, width)
        lam, theta, tau = (
            self.callers.arrival_rate,
            self.callers.abandonment_rate,
            self.callers.threshold,
        )
        if self.law.alike:
            return self._one_day(agents, np.array([agents * self.law.mean]), np.ones(1))
        # Where measures turn: capacity at the load, and where a long queue's wait passes the threshold.
        turns = [self.law.score(agents, turn) for turn in (lam, lam * math.exp(-theta * tau))]
        spread = self.law.cv * self.law.mean * math.sqrt(agents)
        scores, weights = score_nodes(turns, width * lam / spread)
        return self._one_day(agents, self._capacities(agents, scores), weights)

    def _capacities(self, agents: int, scores: Vector) -> Vector:
        capacities = self.law.capacity_at_score(agents, scores)
        if self.callers.settle:
            return capacities
        return np.clip(capacities, agents * self.law.lowest, agents * self.law.highest)

    def _one_day(self, agents: int, capacities: Vector, weights: Vector) -> Kinds:
        return Kinds(np.ones(weights.size), np.full(weights.size, agents, np.int64), capacities, weights)

    def _spread(self, agents: int) -> dict[str, Spread]:
        if self.days.alike:
            if self.law.alike:
                return {}
            kinds = self._one_day(agents, self._capacities(agents, _SCORES), np.ones(3))
            rows = self._rows(kinds, agents)
            at = measures_by_roster(self.callers, agents, rows, kinds.capacities)
            return {measure: Spread(*sorted(at[measure].tolist())) for measure in MEASURES}
        by_day = self.by_day(agents)
        return {measure: Spread.of(by_day[measure]) for measure in MEASURES}

    def _waits(self, kinds: Kinds, rows: Vector) -> DayWaits:
        by_calls = kinds.weights * kinds.calls
        by_calls /= by_calls.sum()
        parts = []
        for factor in np.unique(kinds.calls):
            these = kinds.calls == factor
            callers = self.callers.replace_rate(self.callers.arrival_rate * float(factor))
            parts.append(
                QueueWaits(
                    callers,
                    kinds.capacities[these],
                    by_calls[these],
                    rows[these, -1].copy(),
                    kinds.present[these],
                )
            )
        return DayWaits(tuple(parts))
