"""The cheapest number of agents that keeps every promise, by exact search over whole numbers."""

import functools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from staffing.models.errors import Infeasible
from staffing.optimize.costs import Costs
from staffing.optimize.first_true import first_true
from staffing.optimize.promises import Promise

MOST = 2_000_000
"""More agents than any centre has; searches go no further."""

Values = Mapping[str, float]


@dataclass
class LevelSearch:
    """A search for the best level of one shared queue.

    In one shared queue another agent never hurts a caller, so promises are kept from some level on, which bisection
    finds. The cost is convex from the fourth agent on, as far as measured; below that every level is looked at. Neither
    holds where agents are given, since slow ones may come before fast ones, nor where unlike agents share lines, since
    a slow one may take the place of a caller who would be answered sooner: there every level is looked at.

    Parameters
    ----------
    values : callable
        The measures at a level, by name.
    costs : Costs
        Prices.
    promises : mapping of str to Promise
        Limits that must hold, by the name under which they were made.
    offered_load : float
        Erlangs; where the search starts.
    lowest, highest : int
        Levels allowed; `highest` None for no limit.
    most : int, optional
        The most agents that `values` answers for.
    lines : int, optional
        Calls there may be at a time, if that is why there are not more.
    given : bool
        Whether the agents are given one by one.
    every : bool
        Whether every level is looked at.
    uneven : int
        Levels on each side of the best to look at one by one, where values are averages over samples: these scatter a
        little, so that a bisection may stop beside a cheaper level.
    """

    values: Callable[[int], Values]
    costs: Costs
    promises: Mapping[str, Promise]
    offered_load: float
    lowest: int = 0
    highest: int | None = None
    most: int | None = None
    lines: int | None = None
    given: bool = False
    every: bool = False
    uneven: int = 0
    _seen: dict[int, Values] = field(default_factory=dict, init=False)

    def at(self, agents: int) -> Values:
        """The measures at a level, remembered."""
        if agents not in self._seen:
            self._seen[agents] = self.values(agents)
        return self._seen[agents]

    def cost(self, agents: int) -> float:
        """Cost per hour at a level."""
        return self.costs.total(agents, self.at(agents))

    def least_keeping(self) -> int:
        """The fewest agents within the limits that keep the promises.

        Raises
        ------
        Infeasible
            If none do; the text names the promises broken at the most agents allowed, and by how much.
        """
        if self.every:
            least = next(filter(self._keeps, range(self.lowest, self._most + 1)), None)
        else:
            least = first_true(
                self._keeps,
                lowest=self.lowest,
                highest=self._most,
                start=math.ceil(self.offered_load),
                step=self._step,
            )
        if least is None:
            raise Infeasible(self._why_not(self._nearest()))
        return least

    def best(self) -> int:
        """The cheapest level that keeps the promises; the fewest agents among equals.

        Raises
        ------
        Infeasible
            If none keeps them, or the cost is infinite at every level allowed.
        """
        least = self.least_keeping()
        if not self.costs.trade_off:
            return self._cheapest_near(least)
        first = first_true(
            lambda n: math.isfinite(self.cost(n)),
            lowest=least,
            highest=self._most,
            start=least,
            step=self._step,
        )
        if first is None:
            limit = f"{self.limit} = {self._most}" if self.limit else f"{self._most:,} agents"
            raise Infeasible(
                f"{limit}: at that level the queue grows without end, since "
                f"{self.offered_load:.6g} erlangs are offered and callers never give up"
            )
        if self.every:
            return self._cheapest(n for n in range(first, self._most + 1) if self._keeps(n))
        most = self._dearest(first)
        few = range(first, min(first + 4, most + 1))
        turn = first_true(
            lambda n: n == most or not self._cheaper(n + 1, n),
            lowest=few[-1],
            highest=most,
            start=math.ceil(self.offered_load),
            step=self._step,
        )
        return self._cheapest_near(self._cheapest((*few, few[-1] if turn is None else turn)))

    @property
    def limit(self) -> str:
        """The field that limits the agents; "" if none does."""
        return {self.highest: "max_agents", self.lines: "max_calls"}.get(self._most, "")

    @property
    def _most(self) -> int:
        return min(limit for limit in (self.highest, self.most, MOST) if limit is not None)

    def _keeps(self, n: int) -> bool:
        return all(promise.kept(self.at(n)) for promise in self.promises.values())

    def _cheapest(self, levels: Iterable[int]) -> int:
        """The cheapest of some levels in ascending order, the first of those that are equal."""
        return functools.reduce(lambda best, n: n if self._cheaper(n, best) else best, levels)

    def _cheapest_near(self, best: int) -> int:
        """The cheapest of the levels around a level, and around that one, until there is none cheaper."""
        while self.uneven:
            near = range(max(best - self.uneven, self.lowest), min(best + self.uneven, self._most) + 1)
            found = self._cheapest(n for n in near if n == best or self._keeps(n))
            if found == best:
                break
            best = found
        return best

    def _cheaper(self, n: int, than: int) -> bool:
        """Whether a level costs less than another by more than rounding."""
        return self.cost(n) < self.cost(than) * (1 - 1e-12)

    def _dearest(self, first: int) -> int:
        """A level beyond which agents alone cost more than everything does at `first`."""
        limits = [self._most]
        if self.costs.agent > 0:
            limits.append(first + math.ceil(min(self.cost(first) / self.costs.agent, MOST)))
        return min(limits)

    @property
    def _step(self) -> int:
        return max(1, round(0.5 * math.sqrt(self.offered_load)))

    def _nearest(self) -> int:
        """The level that comes nearest to keeping the promises; the most agents, if another never hurts."""
        if not self.every:
            return self._most

        def worst(n: int) -> float:
            return max(p.shortfall(self.at(n)) / max(p.limit, 1e-9) for p in self.promises.values())

        return min(range(self._most, self.lowest - 1, -1), key=worst)

    def _why_not(self, most: int) -> str:
        values, agents = self.at(most), f"{most} agent reaches" if most == 1 else f"{most} agents reach"
        lines = [
            f"{name} = {p.limit:.12g}: {'at least' if p.at_least else 'at most'} that is promised, {agents} "
            f"{_figure(values[p.measure])}"
            for name, p in self.promises.items()
            if not p.kept(values)
        ]
        endless = self.values(most)["mean_queue"] == math.inf
        if endless and most <= self.offered_load:
            lines.append(
                f"{most} agents serve {most} erlangs at most, {self.offered_load:.6g} are offered and callers never "
                "give up, so that the queue grows without end"
            )
        if most == MOST:
            return "\n".join([*lines, f"more than {MOST:,} agents would be needed: promise less"])
        if self.limit:
            last = f"{self.limit} = {self._most} is not enough: allow more {self.limit[4:]} or promise less"
        elif not self.given:
            last = f"{most} agents, the most that can be answered for, are not enough: promise less"
        elif self._most == 1:
            last = "the one agent given is not enough: give more or promise less"
        else:
            last = f"all {self._most} agents given are not enough: give more or promise less"
        return "\n".join([*lines, last])


def _figure(value: float) -> str:
    return f"{value:.12g}" if math.isfinite(value) else "infinity"
